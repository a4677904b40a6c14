/* Bounds over ranges of dimensions, and check with them. Random models against every size:
 * tests/check_bounds.sh. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/handles.h"
#include "onnxcost.h"
#include "onnxcost/bounds.h"
#include "onnxcost/gate.h"
#include "support/build.h"

static uint8_t *model_bytes; /* of the last model, which refers to them */

static struct oc_model *load(struct oc_builder *b)
{
    struct oc_model *m = NULL;
    struct oc_err err = {0};
    size_t n;
    free(model_bytes);
    uint8_t *bytes = model_bytes = oc_b_pack(b, &n);
    oc_b_free(b);
    if (oc_model_load_mem(bytes, n, NULL, &m, &err))
        fail_msg("%s", err.msg);
    return m;
}

/* A convolution with stride 2 over N: floor((N - 1)/2) + 1 outputs of 8 channels, 3*3*4 MACs each, 5 wide:
 * 1440 MACs a row. */
static struct oc_model *strided(void)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[1,4,N,9]");
    oc_b_init(b, "w", "float[8,4,3,3]");
    oc_b_node(b, "Conv", "c", "x,w", "y", "strides=2,2 pads=1,1,1,1");
    oc_b_output(b, "y", NULL);
    return load(b);
}

static void expect_figure(const struct oc_bounds *b, enum oc_range_figure f, uint64_t low, uint64_t high)
{
    const struct oc_range_bound *x = oc_bounds_figure(b, f);
    if (!x->proven || x->low != low || x->high != high)
        fail_msg("%s: %d, %llu to %llu", x->key, x->proven, (unsigned long long)x->low,
                 (unsigned long long)x->high);
}

static void rounded_sizes_have_the_bounds_of_their_ends(void **state)
{
    (void)state;
    struct oc_model *m = strided();
    struct oc_bounds *b;
    struct oc_err err;
    const struct oc_range_bind range = {"N", 1, 1000001};
    assert_int_equal(oc_bounds_make(m, NULL, &range, 1, &b, &err), 0);
    expect_figure(b, OC_RANGE_MACS, UINT64_C(1440), UINT64_C(500001) * 1440);
    assert_true(oc_bounds_figure(b, OC_RANGE_MACS)->has_low);
    assert_false(oc_bounds_figure(b, OC_RANGE_BYTES)->has_low); /* most sizes were not evaluated */
    expect_figure(b, OC_RANGE_PARAMS, 288, 288);
    assert_string_equal(oc_bounds_sizes(b, oc_bounds_figure(b, OC_RANGE_MACS)->at_most), "N = 1000001");
    oc_bounds_free(b);
    oc_model_free(m);
}

/* y = x x^T over N and M: 7*M*N^2 MACs, 7*3*4 and 7*5*900. */
static void several_ranges_multiply(void **state)
{
    (void)state;
    struct oc_builder *builder = oc_b_new(17);
    oc_b_input(builder, "x", "float[M,N,7]");
    oc_b_node(builder, "Transpose", "t", "x", "xt", "perm=0,2,1");
    oc_b_node(builder, "MatMul", "m", "x,xt", "y", "");
    oc_b_output(builder, "y", NULL);
    struct oc_model *m = load(builder);
    struct oc_bounds *b;
    struct oc_err err;
    const struct oc_range_bind range[] = {{"N", 2, 30}, {"M", 3, 5}};
    assert_int_equal(oc_bounds_make(m, NULL, range, 2, &b, &err), 0);
    expect_figure(b, OC_RANGE_MACS, UINT64_C(84), UINT64_C(31500));
    assert_string_equal(oc_bounds_sizes(b, oc_bounds_figure(b, OC_RANGE_MACS)->at_most), "N = 30, M = 5");
    oc_bounds_free(b);
    oc_model_free(m);
}

/* A loop gives no bounds by intervals: 3 trips of N*16 MACs. */
static void loops_are_evaluated_at_every_size(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[N,4]");
    oc_b_init(b, "w", "float[4,4]");
    oc_b_init(b, "trips", "int64[]{3}");
    oc_b_node(b, "Loop", "l", "trips,,x", "y", "");
    oc_b_open(b, "body");
    oc_b_input(b, "i", "int64[]");
    oc_b_input(b, "c", "bool[]");
    oc_b_input(b, "s", "float[N,4]");
    oc_b_node(b, "Identity", "same", "c", "c2", "");
    oc_b_node(b, "MatMul", "m", "s,w", "s2", "");
    oc_b_output(b, "c2", "bool[]");
    oc_b_output(b, "s2", "float[N,4]");
    oc_b_close(b);
    oc_b_output(b, "y", NULL);
    struct oc_model *m = load(b);
    struct oc_bounds *x;
    struct oc_err err;
    const struct oc_range_bind range = {"N", 1, 20};
    assert_int_equal(oc_bounds_make(m, NULL, &range, 1, &x, &err), 0);
    expect_figure(x, OC_RANGE_MACS, UINT64_C(48), UINT64_C(960));
    assert_true(x->analyses >= 20);
    oc_bounds_free(x);
    oc_model_free(m);
}

static void rejects_ranges_that_do_not_apply(void **state)
{
    (void)state;
    struct oc_model *m = strided();
    struct oc_bounds *b;
    struct oc_err err;
    const struct oc_range_bind unknown = {"Q", 1, 4}, empty = {"N", 4, 1},
                               twice[] = {{"N", 1, 2}, {"N", 1, 2}};
    assert_int_equal(oc_bounds_make(m, NULL, &unknown, 1, &b, &err), -1);
    assert_non_null(strstr(err.msg, "no dimension is named 'Q'; open dimensions: 'N'"));
    assert_int_equal(oc_bounds_make(m, NULL, &empty, 1, &b, &err), -1);
    assert_string_equal(err.msg, "the range of 'N' is empty");
    assert_int_equal(oc_bounds_make(m, NULL, twice, 2, &b, &err), -1);
    assert_string_equal(err.msg, "dimension 'N' is given twice");
    oc_model_free(m);
}

static void expect_verdict(const char *metric, const char *limit, enum oc_check_result want, const char *text)
{
    struct oc_model *m = strided();
    struct oc_analysis *a;
    struct oc_bounds *b;
    struct oc_budget *budget;
    struct oc_check *c;
    struct oc_err err;
    enum oc_check_result result;
    const struct oc_range_bind range = {"N", 1, 101};
    const struct oc_analyze_opts o = {.range = &range, .n_range = 1};
    assert_int_equal(oc_analyze(m, &o, &a, &err), 0);
    assert_int_equal(oc_bounds_make(m, NULL, &range, 1, &b, &err), 0);
    assert_int_equal(oc_budget_make(&budget, &err), 0);
    assert_int_equal(oc_budget_limit(budget, metric, limit, NULL, NULL, &err), 0);
    const struct oc_report_in in = {.model = m, .analysis = a};
    assert_int_equal(oc_check_make_over(&in, NULL, budget, b, &c, &err), 0);
    const char *reason = oc_check_reason(c, 0, &result);
    assert_int_equal(result, want);
    assert_string_equal(reason, text);
    oc_check_free(c);
    oc_budget_free(budget);
    oc_bounds_free(b);
    oc_analysis_free(a);
    oc_model_free(m);
}

/* N = 101: 51*5*8*36 = 73,440 MACs. */
static void check_decides_for_every_size(void **state)
{
    (void)state;
    expect_verdict("macs", "73440", OC_CHECK_PASSED,
                   "macs: 73,440 is within the limit of 73440 at every size");
    expect_verdict("macs", "73439", OC_CHECK_FAILED,
                   "macs: 73,440 exceeds the limit of 73439 by 1 at N = 101");
}

/* No size has exact figures: the search ends after a few parts of the ranges, and says which name is unknown. */
static void vain_searches_end(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[N,4,H,9]");
    oc_b_init(b, "w", "float[4,4,3,3]");
    oc_b_node(b, "Conv", "c0", "x,w", "y0", "pads=1,1,1,1");
    oc_b_node(b, "Conv", "c1", "y0,w", "y1", "pads=1,1,1,8842307490482935993");
    oc_b_output(b, "y1", NULL);
    struct oc_model *m = load(b);
    const struct oc_range_bind range[] = {{"N", 1, 1000}, {"H", 1, 1000}}, other = {"K", 1, 1000};
    struct oc_bounds *bounds;
    struct oc_err err;
    assert_int_equal(oc_bounds_make(m, NULL, range, 2, &bounds, &err), -1);
    assert_string_equal(err.msg,
                        "the figures are exact at no size that was tried, in 128 parts of the ranges: give "
                        "smaller ranges"); /* without an end, 20000 parts */
    assert_int_equal(oc_bounds_make(m, NULL, &other, 1, &bounds, &err), -1);
    assert_non_null(strstr(err.msg, "no dimension is named 'K'"));
    oc_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounded_sizes_have_the_bounds_of_their_ends),
        cmocka_unit_test(several_ranges_multiply),
        cmocka_unit_test(loops_are_evaluated_at_every_size),
        cmocka_unit_test(rejects_ranges_that_do_not_apply),
        cmocka_unit_test(check_decides_for_every_size),
        cmocka_unit_test(vain_searches_end),
    };
    return cmocka_run_group_tests_name("analyze/bounds", tests, NULL, NULL);
}
