/* Expected texts are the output of CPython 3.11 and numpy 1.24. */
#include "report/python.h"

#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void three_digit_format_equals_python(void **state)
{
    (void)state;
    static const struct {
        double v;
        const char *text;
    } cases[] = {
        {0, "0.0"},
        {-0.0, "-0.0"},
        {1, "1.0"},
        {12, "12.0"},
        {99.4, "99.4"},
        {99.95, "1e+02"},
        {123.4, "1.23e+02"},
        {1e-5, "1e-05"},
        {0.0001, "0.0001"},
        {0.000999949, "0.001"},
        {1e300, "1e+300"},
        {5e-324, "4.94e-324"},
        {-12.345, "-12.3"},
        {INFINITY, "inf"},
        {-INFINITY, "-inf"},
        {NAN, "nan"},
        {-NAN, "nan"},
        {9.995, "9.99"},
        {100, "1e+02"},
        {0.00009999, "0.0001"},
        {0.000099949, "9.99e-05"},
    };
    char buf[OC_PY_NUM];
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_string_equal(oc_py_general3(cases[i].v, buf), cases[i].text);
}

static void other_formats_equal_python(void **state)
{
    (void)state;
    char buf[OC_PY_NUM];
    assert_string_equal(oc_py_fixed(0.125, 2, buf), "0.12"); /* a tie: to even */
    assert_string_equal(oc_py_fixed(-0.0, 1, buf), "-0.0");
    assert_string_equal(oc_py_fixed(NAN, 1, buf), "nan");
    assert_int_equal(strlen(oc_py_fixed(-1.7976931348623157e308, 4, buf)), 315);
    assert_string_equal(oc_py_g(2357350.5, buf), "2.35735e+06");
    assert_string_equal(oc_py_g(1.0, buf), "1");
    assert_string_equal(oc_py_g(-NAN, buf), "nan");
    assert_string_equal(oc_py_repr(0.01959297011404281, buf), "0.01959297011404281");
    assert_string_equal(oc_py_repr(1, buf), "1.0");
    assert_string_equal(oc_py_repr(1e16, buf), "1e+16");
}

static void unit_prefixes_are_selected(void **state)
{
    (void)state;
    const char *p;
    assert_true(oc_py_scaled(999, 1000, &p) == 999 && !*p);
    assert_true(oc_py_scaled(1000, 1000, &p) == 1 && *p == 'K');
    assert_true(oc_py_scaled(1024.0 * 1024, 1024, &p) == 1 && *p == 'M');
    assert_true(oc_py_scaled(5e18, 1000, &p) == 5000 && *p == 'P'); /* there is no prefix above P */
    assert_true(oc_py_scaled(-5e6, 1000, &p) == -5e6 && !*p);
    assert_true(isinf(oc_py_scaled(INFINITY, 1000, &p)) && !*p);
    assert_true(isnan(oc_py_scaled(NAN, 1000, &p)) && !*p);
}

enum { NONE, INT, NUM };

static void detects_text_that_python_reads_as_a_number(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int kind;
    } cases[] = {
        {"12", INT},
        {"-7", INT},
        {"+4", INT},
        {"0012", INT},
        {"1_000", INT},
        {" 5 ", INT},
        {"１２", INT},
        {"\xc2\xa0"
         "3",
         INT},
        {"5\n", INT},
        {"1__0", NONE},
        {"_1", NONE},
        {"1_", NONE},
        {"", NONE},
        {" ", NONE},
        {"-", NONE},
        {"0x10", NONE},
        {"²", NONE},
        {"1 2", NONE},
        {"1.5", NUM},
        {".5", NUM},
        {"5.", NUM},
        {"1e5", NUM},
        {"1E-5", NUM},
        {"1_0.0_1", NUM},
        {".", NONE},
        {"1e", NONE},
        {"e5", NONE},
        {"1._5", NONE},
        {"nan", NUM},
        {"NaN", NUM},
        {"inf", NUM},
        {"-INF", NUM},
        {"+inf", NONE},
        {"-nan", NONE},
        {" inf", NONE},
        {"infinity", NONE},
        {"1e400", NONE},
        {"1e-400", NUM},
        {"29.6%", NONE},
        {"中", NONE},
        {"1\x1c", NONE},
        {"\xff", NONE},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *s = cases[i].text;
        if (oc_py_is_int(s, strlen(s)) != (cases[i].kind == INT) ||
            oc_py_is_number(s, strlen(s)) != (cases[i].kind != NONE))
            fail_msg("'%s' is read wrongly", s);
    }
    double v;
    assert_true(oc_py_float(" 1_0.5e1 ", 9, &v) && v == 105);
    assert_true(oc_py_float("Infinity", 8, &v) && isinf(v));
    assert_true(oc_py_float("-1e999", 6, &v) && v == -INFINITY);
    char digits[4301];
    memset(digits, '1', sizeof(digits));
    assert_true(oc_py_is_int(digits, 4300));
    assert_false(oc_py_is_int(digits, 4301));
}

/* 0.1 added 129 times: numpy splits at 64 and adds in eight lanes. */
static void sums_equal_numpy(void **state)
{
    (void)state;
    double v[129], plain = 0;
    for (size_t i = 0; i < 129; i++) {
        v[i] = 0.1;
        plain += v[i];
    }
    assert_true(oc_np_sum(v, 7) == 0.1 + 0.1 + 0.1 + 0.1 + 0.1 + 0.1 + 0.1);
    assert_true(oc_np_sum(v, 8) == 0.8);
    assert_true(oc_np_sum(v, 129) == 12.899999999999999);
    assert_true(plain == 12.89999999999997);
    assert_true(oc_np_mean(v, 129) == 12.899999999999999 / 129);
    assert_true(oc_np_sum(v, 0) == 0);
    double w[] = {2, NAN, 5, -1};
    assert_true(isnan(oc_np_max(w, 4)) && isnan(oc_np_min(w, 4)));
    assert_true(oc_np_max(w + 2, 2) == 5 && oc_np_min(w + 2, 2) == -1);
}

static void formats_are_independent_of_the_locale(void **state)
{
    (void)state;
    char buf[OC_PY_NUM];
    if (!setlocale(LC_NUMERIC, "de_DE.UTF-8")) {
        print_message("SKIPPED: no de_DE locale\n");
        skip();
    }
    assert_string_equal(oc_py_general3(1.5, buf), "1.5");
    assert_string_equal(oc_py_general3(1, buf), "1.0");
    assert_string_equal(oc_py_fixed(1.5, 2, buf), "1.50");
    assert_string_equal(oc_py_g(1.5, buf), "1.5");
    setlocale(LC_NUMERIC, "C");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_digit_format_equals_python),
        cmocka_unit_test(other_formats_equal_python),
        cmocka_unit_test(unit_prefixes_are_selected),
        cmocka_unit_test(detects_text_that_python_reads_as_a_number),
        cmocka_unit_test(sums_equal_numpy),
        cmocka_unit_test(formats_are_independent_of_the_locale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
