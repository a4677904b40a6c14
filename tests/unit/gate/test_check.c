#include "gate/limits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/run_model.h"
#include "onnxcost.h"

/* A convolution of 4 x 3 x 3 x 3 weights over 8 x 8: 4*8*8 * 27 = 6912 MACs, 108 parameters, and a node that
 * of unknown type if `strange`. */
static struct oc_run make_run(bool strange)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[1,3,8,8]");
    oc_b_init(b, "w", "float[4,3,3,3]");
    oc_b_node(b, "Conv", "/layer1/conv", "x,w", "y", "pads=1,1,1,1");
    oc_b_node(b, strange ? "acme::Strange" : "Relu", "/layer2/act", "y", "z", "");
    oc_b_output(b, "z", "float[1,4,8,8]");
    return oc_run_model(b, NULL);
}

static enum oc_check_result check_one(const struct oc_run *r, const char *metric, const char *limit,
                                      const char *type, const char *module, const char *reason)
{
    struct oc_report_in in = {.model = r->m, .analysis = r->a};
    struct oc_budget *budget;
    struct oc_check *check;
    struct oc_err err;
    enum oc_check_result result;
    assert_int_equal(oc_budget_make(&budget, &err), 0);
    assert_int_equal(oc_budget_limit(budget, metric, limit, type, module, &err), 0);
    assert_int_equal(oc_check_make(&in, NULL, budget, &check, &err), 0);
    const char *text = oc_check_reason(check, 0, &result);
    if (!strstr(text, reason))
        fail_msg("%s", text);
    assert_null(oc_check_reason(check, 1, &result));
    oc_check_free(check);
    oc_budget_free(budget);
    return result;
}

static void one_mac_over_the_limit_fails(void **state)
{
    (void)state;
    struct oc_run r = make_run(false);
    assert_int_equal(check_one(&r, "macs", "6912", NULL, NULL, "macs: 6,912 is within the limit of 6912"),
                     OC_CHECK_PASSED);
    assert_int_equal(check_one(&r, "macs", "6911", NULL, NULL,
                               "macs: 6,912 exceeds the limit of 6911 by 1 (the largest: /layer1/conv)"),
                     OC_CHECK_FAILED);
    assert_int_equal(check_one(&r, "params", "107", NULL, NULL, "by 1"), OC_CHECK_FAILED);
    assert_int_equal(check_one(&r, "params", "108", NULL, NULL, ""), OC_CHECK_PASSED);
    /* 108 floats */
    assert_int_equal(check_one(&r, "weight-bytes", "432", NULL, NULL, ""), OC_CHECK_PASSED);
    assert_int_equal(check_one(&r, "weight-bytes", "431", NULL, NULL, "exceeds the limit of 431 by 1 B"),
                     OC_CHECK_FAILED);
    oc_run_free(&r);
}

static void limits_of_types_and_modules(void **state)
{
    (void)state;
    struct oc_run r = make_run(false);
    assert_int_equal(check_one(&r, "macs", "6911", "Conv", NULL, "macs of type Conv: 6,912 exceeds"),
                     OC_CHECK_FAILED);
    assert_int_equal(check_one(&r, "macs", "0", "Relu", NULL, "macs of type Relu: 0 is within"),
                     OC_CHECK_PASSED);
    assert_int_equal(check_one(&r, "macs", "0", NULL, "layer1", "macs in layer1: 6,912 exceeds"),
                     OC_CHECK_FAILED);
    assert_int_equal(check_one(&r, "macs", "0", NULL, "layer2", ""), OC_CHECK_PASSED);
    assert_int_equal(check_one(&r, "macs", "0", "Conv", "layer2", "macs of type Conv in layer2"),
                     OC_CHECK_PASSED);
    assert_int_equal(check_one(&r, "nodes", "1", NULL, NULL, "nodes: 2 exceeds the limit of 1 by 1"),
                     OC_CHECK_FAILED);
    oc_run_free(&r);
}

/* A node whose bound or assumption does not concern the count: the bytes of maps and strings, the FLOPs of a
 * RoiAlign or of a suppression. One that may concern it is inconclusive: a Dropout that may train. */
static void assumptions_about_other_counts_do_not_matter(void **state)
{
    (void)state;
    static const struct {
        const char *op, *inputs, *attrs, *output;
        enum oc_check_result macs, flops;
    } row[] = {
        {"ai.onnx.ml::ZipMap", "y", "classlabels_int64s=1,2", NULL, OC_CHECK_PASSED, OC_CHECK_PASSED},
        {"StringNormalizer", "s", "", NULL, OC_CHECK_PASSED, OC_CHECK_PASSED},
        {"NonMaxSuppression", "boxes,scores,most", "", "int64[1,3]", OC_CHECK_PASSED, OC_CHECK_PASSED},
        {"RoiAlign", "maps,rois,at", "", NULL, OC_CHECK_PASSED, OC_CHECK_INCONCLUSIVE},
        {"Dropout", "y,,train", "", NULL, OC_CHECK_PASSED, OC_CHECK_INCONCLUSIVE},
        {"acme::Strange", "y", "", "float[3,2]", OC_CHECK_INCONCLUSIVE, OC_CHECK_INCONCLUSIVE},
    };
    for (size_t i = 0; i < OC_COUNT(row); i++) {
        struct oc_builder *b = oc_b_new(17);
        oc_b_opset(b, "ai.onnx.ml", 1);
        oc_b_input(b, "x", "float[3,4]");
        oc_b_input(b, "s", "string[3]");
        oc_b_input(b, "boxes", "float[1,9,4]");
        oc_b_input(b, "scores", "float[1,1,9]");
        oc_b_init(b, "most", "int64[1]{2}");
        oc_b_input(b, "maps", "float[1,2,8,8]");
        oc_b_input(b, "rois", "float[5,4]");
        oc_b_input(b, "at", "int64[5]");
        oc_b_input(b, "train", "bool[]");
        oc_b_init(b, "w", "float[4,2]");
        oc_b_node(b, "MatMul", "product", "x,w", "y", "");
        oc_b_node(b, row[i].op, "last", row[i].inputs, "z", row[i].attrs);
        oc_b_output(b, "y", NULL);
        oc_b_output(b, "z", row[i].output);
        struct oc_run r = oc_run_model(b, NULL);
        assert_int_not_equal(r.a->total->quality, OC_EXACT);
        assert_int_equal(r.a->total->macs_exact, row[i].macs == OC_CHECK_PASSED);
        assert_int_equal(check_one(&r, "macs", "1G", NULL, NULL, ""), row[i].macs);
        assert_int_equal(check_one(&r, "flops", "1G", NULL, NULL, ""), row[i].flops);
        assert_int_equal(check_one(&r, "macs", "23", NULL, NULL, ""), OC_CHECK_FAILED);
        oc_run_free(&r);
    }
}

/* Unknown costs can have any value: a limit that the known part exceeds fails, every other limit is
 * inconclusive. */
static void unknown_costs_do_not_pass(void **state)
{
    (void)state;
    struct oc_run r = make_run(true);
    assert_int_equal(check_one(&r, "macs", "6911", NULL, NULL, "at least 6,912 exceeds"), OC_CHECK_FAILED);
    assert_int_equal(
        check_one(&r, "macs", "1G", NULL, NULL,
                  "macs: at least 6,912 cannot be compared with the limit of 1G: 1 node without a cost"),
        OC_CHECK_INCONCLUSIVE);
    assert_int_equal(check_one(&r, "macs", "6912", NULL, "layer1", ""), OC_CHECK_PASSED);
    assert_int_equal(
        check_one(&r, "unknown", "0", NULL, NULL, "unknown: 1 exceeds the limit of 0 by 1: /layer2/act"),
        OC_CHECK_FAILED);
    assert_int_equal(check_one(&r, "unknown", "1", NULL, NULL, ""), OC_CHECK_PASSED);
    oc_run_free(&r);
}

static void forbidden_operators_fail(void **state)
{
    (void)state;
    struct oc_run r = make_run(true);
    assert_int_equal(check_one(&r, "forbid", "0", "acme:*", NULL, "type acme:* is forbidden: /layer2/act"),
                     OC_CHECK_FAILED);
    assert_int_equal(check_one(&r, "forbid", "0", "Loop", NULL, ""), OC_CHECK_PASSED);
    assert_int_equal(check_one(&r, "opset", "16", NULL, NULL, "opset: 17 exceeds the limit of 16 by 1"),
                     OC_CHECK_FAILED);
    assert_int_equal(check_one(&r, "opset", "17", NULL, NULL, ""), OC_CHECK_PASSED);
    oc_run_free(&r);
}

static void times_need_a_profile_or_a_device(void **state)
{
    (void)state;
    struct oc_run r = make_run(false);
    assert_int_equal(check_one(&r, "latency", "1s", NULL, NULL, "needs a profile (--profile) or a device"),
                     OC_CHECK_INCONCLUSIVE);
    assert_int_equal(check_one(&r, "efficiency", "30%", NULL, NULL, "needs a device (--hw)"),
                     OC_CHECK_INCONCLUSIVE);
    oc_run_free(&r);
}

static void rejects_invalid_limits(void **state)
{
    (void)state;
    struct oc_budget *b;
    struct oc_err err;
    assert_int_equal(oc_budget_make(&b, &err), 0);
    static const struct {
        const char *metric, *limit, *type, *message;
    } bad[] = {{"speed", "1", NULL, "unknown metric 'speed'"},
               {"macs", "many", NULL, "'many' is not a limit for macs (such as 4.1G)"},
               {"latency", "12", NULL, "'12' is not a limit for latency (such as 12ms)"},
               {"peak-memory", "1", "Conv", "peak-memory is a figure of the whole model"},
               {"forbid", "0", NULL, "forbid needs an operator type"}};
    for (size_t i = 0; i < OC_COUNT(bad); i++) {
        assert_int_equal(oc_budget_limit(b, bad[i].metric, bad[i].limit, bad[i].type, NULL, &err), -1);
        assert_int_equal(err.code, OC_EARG);
        assert_non_null(strstr(err.msg, bad[i].message));
    }
    assert_int_equal(oc_budget_limits(b), 0);
    oc_budget_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_mac_over_the_limit_fails),
        cmocka_unit_test(limits_of_types_and_modules),
        cmocka_unit_test(assumptions_about_other_counts_do_not_matter),
        cmocka_unit_test(unknown_costs_do_not_pass),
        cmocka_unit_test(forbidden_operators_fail),
        cmocka_unit_test(times_need_a_profile_or_a_device),
        cmocka_unit_test(rejects_invalid_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
