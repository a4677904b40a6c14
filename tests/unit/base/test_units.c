#include "base/units.h"

#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/arena.h"

static void parses_integers(void **state)
{
    (void)state;
    int64_t i;
    uint64_t u;
    assert_true(oc_parse_i64("-9223372036854775808", 20, &i) && i == INT64_MIN);
    assert_true(oc_parse_i64("+42", 3, &i) && i == 42);
    assert_false(oc_parse_i64("9223372036854775808", 19, &i));
    assert_true(oc_parse_u64("18446744073709551615", 20, &u) && u == UINT64_MAX);
    assert_false(oc_parse_u64("18446744073709551616", 20, &u));
    static const char *const bad[] = {"", "-", "+", " 1", "1 ", "1x", "0x1", "--1", "1.0"};
    for (size_t k = 0; k < OC_COUNT(bad); k++) {
        assert_false(oc_parse_i64(bad[k], strlen(bad[k]), &i));
        assert_false(oc_parse_u64(bad[k], strlen(bad[k]), &u));
    }
}

/* Compared with the C library, for numbers of all lengths and exponents (fixed seed). */
static void doubles_are_correctly_rounded(void **state)
{
    (void)state;
    uint64_t r = 88172645463325252u;
    char text[64];
    for (int k = 0; k < 20000; k++) {
        r ^= r << 13, r ^= r >> 7, r ^= r << 17;
        int digits = 1 + (int)(r % 22), e = (int)(r / 64 % 660) - 330;
        int n =
            snprintf(text, sizeof(text), "%s%0*llu.%llue%d", r & 32 ? "-" : "", digits,
                     (unsigned long long)(r % 1000003), (unsigned long long)(r >> 20), k % 3 ? e % 25 : e);
        double v;
        assert_true(oc_parse_double(text, (size_t)n, &v));
        assert_true(v == strtod(text, NULL));
    }
}

static void rejects_malformed_doubles(void **state)
{
    (void)state;
    static const char *const bad[] = {"",      ".",   "-",  "e5",   "1e",    "1e+",  "1.5x",
                                      "0x1p3", "1,5", " 1", "nanx", "1.2.3", "infin"};
    double v;
    for (size_t k = 0; k < OC_COUNT(bad); k++)
        assert_false(oc_parse_double(bad[k], strlen(bad[k]), &v));
    assert_true(oc_parse_double("5.", 2, &v) && v == 5);
    assert_true(oc_parse_double(".5e1", 4, &v) && v == 5);
    assert_true(oc_parse_double("-0", 2, &v) && v == 0 && signbit(v));
    assert_true(oc_parse_double("1e400", 5, &v) && isinf(v));
    assert_true(oc_parse_double("1e-99999999999", 14, &v) && v == 0);
    assert_true(oc_parse_double("-INF", 4, &v) && isinf(v) && v < 0);
    assert_true(oc_parse_double("NaN", 3, &v) && isnan(v));
    assert_true(oc_parse_double("0.000000000000000000000000001", 29, &v) && v == 1e-27);
    assert_true(oc_parse_double("9007199254740993", 16, &v) && v == 9007199254740992.0); /* tie to even */
}

static void parses_numbers_with_units(void **state)
{
    (void)state;
    static const struct {
        const char *text, *unit;
        double want; /* NAN: rejected */
    } row[] = {
        {"1.5T", "FLOP/s", 1.5e12},
        {"1.5 TFLOP/s", "FLOP/s", 1.5e12},
        {"80G", "B", 80e9},
        {"80GiB", "B", 85899345920},
        {"48Ki", "B", 49152},
        {"48 KiB", "B", 49152},
        {"12k", NULL, 12000},
        {"7", "B", 7},
        {"7B", "B", 7},
        {"5us", "s", 5e-6},
        {"5 m", "s", 5e-3},
        {"5s", "s", 5},
        {"1e3 MHz", "Hz", 1e9},
        {"2E", "B", 2e18},
        {"2e3", "B", 2000},
        {"5m", "B", (double)NAN},
        {"5X", "B", (double)NAN},
        {"", "B", (double)NAN},
        {"G", "B", (double)NAN},
        {"5 GB/s", "B", (double)NAN},
        {"5GBB", "B", (double)NAN},
        {"5Gii", NULL, (double)NAN},
        {"inf", "B", (double)NAN},
    };
    for (size_t k = 0; k < OC_COUNT(row); k++) {
        double v = 0;
        bool ok = oc_parse_scaled(row[k].text, row[k].unit, &v);
        assert_int_equal(ok, !isnan(row[k].want));
        if (ok)
            assert_true(v == row[k].want);
    }
}

/* What Python's repr() prints for these doubles. */
static void prints_doubles_like_python_repr(void **state)
{
    (void)state;
    static const struct {
        double v;
        const char *want;
    } row[] = {
        {0.1, "0.1"},
        {1, "1.0"},
        {-1.5, "-1.5"},
        {1e-5, "1e-05"},
        {0.0001, "0.0001"},
        {0.00012345, "0.00012345"},
        {1e16, "1e+16"},
        {1e15, "1000000000000000.0"},
        {123456789012345680.0, "1.2345678901234568e+17"},
        {1.0 / 3, "0.3333333333333333"},
        {0.1 + 0.2, "0.30000000000000004"},
        {5e-324, "5e-324"},
        {2.2250738585072014e-308, "2.2250738585072014e-308"},
        {1.7976931348623157e308, "1.7976931348623157e+308"},
        {0x1p-44, "5.684341886080802e-14"}, /* 16 digits do not read back, 17 do */
        {9007199254740993.0, "9007199254740992.0"},
        {0.01959297011404281, "0.01959297011404281"},
        {1e22, "1e+22"},
        {1.5e300, "1.5e+300"},
        {100, "100.0"},
        {0, "0.0"},
        {-0.0, "-0.0"},
        {4e-320, "4e-320"},
    };
    char text[32];
    for (size_t k = 0; k < OC_COUNT(row); k++) {
        assert_int_equal(oc_format_repr(row[k].v, text, sizeof(text)), strlen(row[k].want));
        assert_string_equal(text, row[k].want);
    }
    oc_format_repr((double)NAN, text, sizeof(text));
    assert_string_equal(text, "nan");
    oc_format_repr(-(double)INFINITY, text, sizeof(text));
    assert_string_equal(text, "-inf");
    uint64_t r = 88172645463325252u;
    for (int k = 0; k < 20000; k++) {
        r ^= r << 13, r ^= r >> 7, r ^= r << 17;
        double v, back;
        memcpy(&v, &r, sizeof(v));
        if (!isfinite(v))
            continue;
        size_t n = oc_format_repr(v, text, sizeof(text));
        assert_true(n < sizeof(text));
        assert_true(oc_parse_double(text, n, &back) && back == v);
    }
}

static void formats_numbers_with_si_prefixes(void **state)
{
    (void)state;
    char b[32];
    assert_string_equal(oc_format_si(236.03e6, "FLOP", b, 32), "236.03 MFLOP");
    assert_string_equal(oc_format_si(5, "FLOP", b, 32), "5 FLOP");
    assert_string_equal(oc_format_si(999.999, "", b, 32), "1.00 k");
    assert_string_equal(oc_format_si(999999, "B/s", b, 32), "1.00 MB/s");
    assert_string_equal(oc_format_si((double)NAN, "FLOP", b, 32), "N/A");
    assert_string_equal(oc_format_si(1e300, "FLOP", b, 32) ? "no crash" : "", "no crash");
    assert_string_equal(oc_format_bytes(9 << 20, b, 32), "9.00 MiB");
    assert_string_equal(oc_format_bytes(1023, b, 32), "1023 B");
    assert_string_equal(oc_format_time_ns(12345, b, 32), "12.3 us");
    assert_string_equal(oc_format_time_ns(1250000, b, 32), "1.25 ms");
    assert_string_equal(oc_format_time_ns(999.7, b, 32), "1.00 us");
    assert_string_equal(oc_format_time_ns(99.96, b, 32), "100 ns");
    assert_string_equal(oc_format_time_ns(9.996e9, b, 32), "10.0 s");
    assert_string_equal(oc_format_time_ns(7, b, 32), "7 ns");
    assert_string_equal(oc_format_time_ns(0, b, 32), "0 ns");
    assert_string_equal(oc_format_count(118013952, b, 32), "118,013,952");
    assert_string_equal(oc_format_count(999, b, 32), "999");
    assert_string_equal(oc_format_count(UINT64_MAX, b, 32), "18,446,744,073,709,551,615");
}

static void large_numbers_have_no_exponent(void **state)
{
    (void)state;
    static const struct {
        double v;
        int digits;
        const char *text;
    } row[] = {
        {12.3456, 4, "12.35"},    {9999.4, 4, "9999"},          {9999.5, 4, "10,000"}, {45781.6, 4, "45,782"},
        {205899.2, 5, "205,899"}, {0.00001234, 4, "1.234e-05"}, {0, 4, "0"},           {1e20, 4, "1e+20"}};
    struct oc_arena a = {0};
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
        assert_string_equal(oc_number_text(&a, row[i].v, row[i].digits), row[i].text);
    oc_arena_free(&a);
}

static void result_is_independent_of_the_locale(void **state)
{
    (void)state;
    static const char *const name[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "ps_AF.UTF-8"};
    bool any = false;
    for (size_t k = 0; k < OC_COUNT(name); k++) {
        if (!setlocale(LC_ALL, name[k]))
            continue;
        any = true;
        char b[32];
        double v;
        assert_true(oc_parse_double("1.2345678901234567891234", 24, &v) && v == 1.2345678901234567891234);
        oc_format_repr(0.25, b, sizeof(b));
        assert_string_equal(b, "0.25");
        assert_string_equal(oc_format_time_ns(1250000, b, 32), "1.25 ms");
    }
    setlocale(LC_ALL, "C");
    if (!any)
        skip();
}

/* Formatted numbers are rounded as printf rounds the exact value: also at ties, next to ties, and below zero.
 */
static void rounding_equals_printf(void **state)
{
    (void)state;
    uint64_t seed = 42;
    for (int i = 0; i < 200000; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        double v = (double)(seed >> 40) / 16777.216; /* 0 to 1000 */
        if (i % 4 == 1)
            v = (double)(seed >> 47) / 200 + 0.005; /* near to x.xx5 */
        else if (i % 4 == 2)
            v = nextafter((double)(seed >> 47) / 8, i % 8 == 2 ? 0 : 1000); /* near to x.125, x.375 ... */
        else if (i % 4 == 3)
            v = (double)(seed >> 47) / 8;
        if (i % 3 == 0)
            v = -v;
        if (fabs(v) >= 999 || v == floor(v))
            continue;
        char got[32], wanted[32];
        snprintf(wanted, sizeof(wanted), "%.2f x", v);
        assert_string_equal(oc_format_si(v, "x", got, sizeof(got)), wanted);
    }
    char tiny[5];
    assert_string_equal(oc_format_si(12.3456, "FLOP", tiny, sizeof(tiny)), "12.3");
    assert_string_equal(oc_format_si(1.5, "FLOP", tiny, sizeof(tiny)), "1.50");
}

/* Bounds of both sides, and estimates, leave an estimate; unknown parts a lower bound. The order does not
 * matter. */
static void sums_have_the_quality_of_their_parts(void **state)
{
    (void)state;
    static const unsigned want[5][5] = {{OC_EXACT, OC_UPPER, OC_LOWER, OC_EST, OC_LOWER},
                                        {OC_UPPER, OC_UPPER, OC_EST, OC_EST, OC_EST},
                                        {OC_LOWER, OC_EST, OC_LOWER, OC_EST, OC_LOWER},
                                        {OC_EST, OC_EST, OC_EST, OC_EST, OC_EST},
                                        {OC_LOWER, OC_EST, OC_LOWER, OC_EST, OC_LOWER}};
    for (unsigned a = OC_EXACT; a <= OC_UNKNOWN; a++)
        for (unsigned b = OC_EXACT; b <= OC_UNKNOWN; b++) {
            assert_int_equal(oc_quality_add(oc_quality_add(OC_EXACT, a), b), want[a][b]);
            assert_int_equal(oc_quality_add(a, b), want[a][b]);
        }
    assert_string_equal(oc_quality_mark(OC_UPPER), "<=");
    assert_string_equal(oc_quality_mark(OC_UNKNOWN), "");
    assert_string_equal(oc_sum_mark(OC_UNKNOWN), ">=");
    assert_string_equal(oc_quality_name(OC_EST), "est");
}

static void positive_numbers_have_their_unit(void **state)
{
    (void)state;
    static const struct {
        const char *text, *unit;
        double value; /* 0: refused */
    } table[] = {{"180", "", 180},   {"2.5/h", "/h", 2.5}, {"1e-3/h", "/h", 1e-3}, {"2.5", "/h", 0},
                 {"/h", "/h", 0},    {"", "", 0},          {"0/h", "/h", 0},       {"-1", "", 0},
                 {"nan/h", "/h", 0}, {"inf", "", 0},       {"2,5/h", "/h", 0},     {"2.5/h ", "/h", 0},
                 {"2.5/h", "", 0}};
    for (size_t i = 0; i < OC_COUNT(table); i++) {
        double v;
        bool ok = oc_parse_positive(table[i].text, table[i].unit, &v);
        assert_int_equal(ok, table[i].value > 0);
        if (ok)
            assert_true(v == table[i].value);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parses_integers),
        cmocka_unit_test(doubles_are_correctly_rounded),
        cmocka_unit_test(rejects_malformed_doubles),
        cmocka_unit_test(parses_numbers_with_units),
        cmocka_unit_test(prints_doubles_like_python_repr),
        cmocka_unit_test(formats_numbers_with_si_prefixes),
        cmocka_unit_test(large_numbers_have_no_exponent),
        cmocka_unit_test(rounding_equals_printf),
        cmocka_unit_test(result_is_independent_of_the_locale),
        cmocka_unit_test(sums_have_the_quality_of_their_parts),
        cmocka_unit_test(positive_numbers_have_their_unit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
