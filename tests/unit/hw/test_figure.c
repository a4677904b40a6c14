#include "hw/hwdb.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void accepts_only_plain_decimal_numbers(void **state)
{
    (void)state;
    static const char *const bad[] = {"",
                                      "-1",
                                      "+1",
                                      "0",
                                      "0.0",
                                      "1e3",
                                      "1.",
                                      ".5",
                                      "1.2.3",
                                      "nan",
                                      "inf",
                                      "0x10",
                                      "1,5",
                                      " 1",
                                      "1 ",
                                      "1_0",
                                      "1T",
                                      "٣",
                                      "111111111111111111111111111111111"};
    double v;
    assert_true(oc_figure_value("19.5", &v) && v == 19.5);
    assert_true(oc_figure_value("108", &v) && v == 108);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (oc_figure_value(bad[i], &v))
            fail_msg("'%s' was read as %g", bad[i], v);
}

static void units_are_strict(void **state)
{
    (void)state;
    double v;
    assert_true(oc_figure_scale(OC_Q_FLOP_PER_S, "TFLOP/s", &v) && v == 1e12);
    assert_true(oc_figure_scale(OC_Q_BYTES, "MiB", &v) && v == 1048576);
    assert_true(oc_figure_scale(OC_Q_BYTES, "MB", &v) && v == 1e6);
    assert_true(oc_figure_scale(OC_Q_SECONDS, "us", &v) && v == 1e-6);
    assert_true(oc_figure_scale(OC_Q_COUNT, "", &v) && v == 1);
    assert_false(oc_figure_scale(OC_Q_FLOP_PER_S, "TFLOPS", &v));
    assert_false(oc_figure_scale(OC_Q_FLOP_PER_S, "TOP/s", &v));
    assert_false(oc_figure_scale(OC_Q_BYTES_PER_S, "Gb/s", &v));
    assert_false(oc_figure_scale(OC_Q_HZ, "ghz", &v));
    assert_false(oc_figure_scale(OC_Q_SECONDS, "PFLOP/s", &v));
    assert_false(oc_figure_scale(OC_Q_COUNT, "core", &v));
    for (unsigned q = 0; q < OC_Q_QUANTITIES; q++)
        assert_true(*oc_quantity_choices((enum oc_quantity)q));
}

static void evaluates_formulas(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } good[] = {
        {"7", 7},
        {"6912 core * 2 FLOP/cycle * 1.41 GHz", 6912 * 2 * 1.41e9},
        {"256 bit * 10 Gbit/s / 8", 320e9},
        {"8 core * 2 GHz + 16 core * 1 GHz / 2", 16e9 + 8e9},
        {"2 die * 8 MiB", 16777216},
        {"1979 TFLOP/s / 2 sparse", 989.5e12},
        {"2*3", 6},
    };
    static const char *const bad[] = {"",     " ",   "*",     "2 *",    "2 * * 3", "core * 2",
                                      "2 + ", "/ 2", "2 ^ 3", "2 * -1", "-2",      "1 / 0"};
    double v;
    const char *place = NULL;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        if (!oc_formula_value(good[i].text, &v, &place))
            fail_msg("'%s' fails at '%s'", good[i].text, place);
        if (fabs(v - good[i].value) > 1e-12 * good[i].value)
            fail_msg("'%s' is %.17g, not %.17g", good[i].text, v, good[i].value);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (oc_formula_value(bad[i], &v, &place))
            fail_msg("'%s' was read as %g", bad[i], v);
    assert_false(oc_formula_value("12 core * x", &v, &place));
    assert_string_equal(place, "x");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepts_only_plain_decimal_numbers),
        cmocka_unit_test(units_are_strict),
        cmocka_unit_test(evaluates_formulas),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
