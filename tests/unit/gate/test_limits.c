#include "gate/limits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void counts_are_parsed_exactly(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum oc_gate_metric metric;
        uint64_t n;
    } good[] = {
        {"4.1G", OC_GATE_MACS, 4100000000u}, /* in doubles 4.1 * 1e9 is slightly less: 4099999999 */
        {"4089184256", OC_GATE_MACS, 4089184256u},
        {"9007199254740993", OC_GATE_MACS, 9007199254740993u}, /* 2^53 + 1: not a double */
        {"1.8 GMACs", OC_GATE_MACS, 1800000000u},
        {"80MiB", OC_GATE_PEAK, 80u << 20},
        {"80 MB", OC_GATE_PEAK, 80000000u},
        {"0.1KiB", OC_GATE_PEAK, 102}, /* 102.4 */
        {"18446744073709551615", OC_GATE_FLOPS, UINT64_MAX},
        {"15.99Ei", OC_GATE_BYTES, 18435214858663483146u}, /* 15.99 * 2^60, rounded down */
        {"25M", OC_GATE_PARAMS, 25000000u},
        {"17", OC_GATE_OPSET, 17},
    };
    static const char *const bad[] = {"",    "x",   "-1", "1.8GB", "16Ei", "18446744073709551616",
                                      "1 2", "1e3", "G"};
    struct oc_gate_number v;
    for (size_t i = 0; i < OC_COUNT(good); i++) {
        assert_true(oc_gate_parse(good[i].metric, good[i].text, &v));
        assert_true(v.n == good[i].n);
    }
    for (size_t i = 0; i < OC_COUNT(bad); i++)
        assert_false(oc_gate_parse(OC_GATE_MACS, bad[i], &v));
}

static void times_and_shares_need_their_units(void **state)
{
    (void)state;
    struct oc_gate_number v;
    assert_true(oc_gate_parse(OC_GATE_LATENCY, "12ms", &v) && v.v == 12e6);
    assert_true(oc_gate_parse(OC_GATE_LATENCY, "3.668 ms", &v) && v.v == 3668000);
    assert_true(oc_gate_parse(OC_GATE_LATENCY, "1s", &v) && v.v == 1e9);
    assert_false(oc_gate_parse(OC_GATE_LATENCY, "12", &v)); /* percent of what? */
    assert_false(oc_gate_parse(OC_GATE_LATENCY, "-1ms", &v));
    assert_true(oc_gate_parse(OC_GATE_EFFICIENCY, "30%", &v) && v.v == 0.3);
    assert_true(oc_gate_parse(OC_GATE_EFFICIENCY, "0.3", &v) && v.v == 0.3);
    assert_false(oc_gate_parse(OC_GATE_EFFICIENCY, "%", &v));
    assert_false(oc_gate_parse(OC_GATE_EFFICIENCY, "nan", &v));
}

static void numbers_are_printed_with_units(void **state)
{
    (void)state;
    struct oc_arena a = {0};
    assert_string_equal(oc_gate_text(&a, OC_GATE_MACS, (struct oc_gate_number){.n = 4089184257u}),
                        "4,089,184,257");
    assert_string_equal(oc_gate_text(&a, OC_GATE_PEAK, (struct oc_gate_number){.n = 485376}),
                        "485,376 B (474.00 KiB)");
    assert_string_equal(oc_gate_text(&a, OC_GATE_PEAK, (struct oc_gate_number){.n = 12}), "12 B");
    assert_string_equal(oc_gate_text(&a, OC_GATE_LATENCY, (struct oc_gate_number){.v = 3668000}), "3.668 ms");
    assert_string_equal(oc_gate_text(&a, OC_GATE_LATENCY, (struct oc_gate_number){.v = 12e6}), "12 ms");
    assert_string_equal(oc_gate_text(&a, OC_GATE_EFFICIENCY, (struct oc_gate_number){.v = 0.041}), "4.1 %");
    oc_arena_free(&a);
}

static struct oc_gate_number apply_tolerance(enum oc_gate_metric m, struct oc_gate_number base,
                                             const char *text)
{
    struct oc_tolerance t;
    assert_true(oc_tolerance_parse(m, text, &t));
    return oc_tolerance_limit(m, base, &t);
}

static void tolerances_are_shares_or_amounts(void **state)
{
    (void)state;
    struct oc_gate_number macs = {.n = 4089184256u}, ms = {.v = 10e6}, half = {.v = 0.5};
    struct oc_tolerance t;
    assert_true(apply_tolerance(OC_GATE_MACS, macs, "0").n == 4089184256u);
    assert_true(apply_tolerance(OC_GATE_MACS, macs, "1000").n == 4089185256u);
    /* 5 % of 4089184256 is 204459212.8 */
    assert_true(apply_tolerance(OC_GATE_MACS, macs, "5%").n == 4089184256u + 204459212u);
    /* 0.0000001 % of it is 4.089 */
    assert_true(apply_tolerance(OC_GATE_MACS, macs, "0.0000001%").n == 4089184260u);
    assert_true(apply_tolerance(OC_GATE_MACS, (struct oc_gate_number){.n = UINT64_MAX}, "5%").n ==
                UINT64_MAX);
    assert_true(apply_tolerance(OC_GATE_LATENCY, ms, "2 ms").v == 12e6);
    assert_true(apply_tolerance(OC_GATE_LATENCY, ms, "0").v == 10e6);
    assert_true(apply_tolerance(OC_GATE_LATENCY, ms, "50%").v == 15e6);
    assert_true(apply_tolerance(OC_GATE_EFFICIENCY, half, "50%").v == 0.25);
    assert_false(oc_tolerance_parse(OC_GATE_MACS, "some", &t));
    assert_false(oc_tolerance_parse(OC_GATE_MACS, "-5%", &t));
    assert_false(oc_tolerance_parse(OC_GATE_LATENCY, "5", &t));
}

static void patterns_match_types(void **state)
{
    (void)state;
    assert_true(oc_type_matches("Conv", "", "Conv"));
    assert_true(oc_type_matches("Conv", "com.microsoft", "Conv"));
    assert_false(oc_type_matches("Conv", "", "ConvTranspose"));
    assert_true(oc_type_matches("Conv*", "", "ConvTranspose"));
    assert_true(oc_type_matches("com.microsoft:*", "com.microsoft", "FusedConv"));
    assert_true(oc_type_matches("com.*:*Conv", "com.microsoft", "FusedConv"));
    assert_false(oc_type_matches("com.microsoft:*", "", "Conv"));
    assert_true(oc_type_matches("ai.onnx:Conv", "", "Conv"));
    assert_true(oc_type_matches("*a*a*b", "", "aaaab"));
    assert_false(oc_type_matches("*a*a*b", "", "aaaa"));
    assert_false(
        oc_type_matches("*ab", "", "acb")); /* what follows a star is matched from its beginning again */
    assert_false(oc_type_matches("", "", "Conv"));
}

static void modules_match_by_path(void **state)
{
    (void)state;
    assert_true(oc_module_has("layer1", "/layer1/conv"));
    assert_true(oc_module_has("/layer1/", "layer1/conv"));
    assert_true(oc_module_has("layer1", "layer1.conv"));
    assert_true(oc_module_has("layer1", "layer1"));
    assert_false(oc_module_has("layer1", "/layer10/conv"));
    assert_false(oc_module_has("layer1", "/model/layer1/conv"));
    assert_true(oc_module_has("layer1/layer1.0", "/layer1/layer1.0/conv1/Conv"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_parsed_exactly),      cmocka_unit_test(times_and_shares_need_their_units),
        cmocka_unit_test(numbers_are_printed_with_units), cmocka_unit_test(tolerances_are_shares_or_amounts),
        cmocka_unit_test(patterns_match_types),           cmocka_unit_test(modules_match_by_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
