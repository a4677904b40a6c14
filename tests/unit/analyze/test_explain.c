/* Differences between conventions: they add up, and their reasons are correct. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/convention.h"
#include "analyze/receipt.h"
#include "support/build.h"
#include "zoo.h"
#include "onnxcost.h"
#include "onnxcost/report.h"

struct pair {
    uint8_t *bytes;
    struct oc_model *m;
    struct oc_analysis *a[2];
    struct oc_explanation x;
};

static void explain(struct pair *p, struct oc_builder *b, const char *first, const char *second)
{
    const char *const name[2] = {first, second};
    struct oc_err err = {0};
    size_t n;
    *p = (struct pair){.bytes = oc_b_pack(b, &n)};
    if (oc_model_load_mem(p->bytes, n, NULL, &p->m, &err))
        fail_msg("%s", err.msg);
    for (int i = 0; i < 2; i++) {
        const struct oc_analyze_opts o = {.convention = name[i]};
        if (oc_analyze(p->m, &o, &p->a[i], &err))
            fail_msg("%s", err.msg);
    }
    const struct oc_analysis *const both[2] = {p->a[0], p->a[1]};
    if (oc_explain(both, &p->x, &err))
        fail_msg("%s", err.msg);
}

static void pair_free(struct pair *p)
{
    oc_explanation_free(&p->x);
    oc_analysis_free(p->a[0]);
    oc_analysis_free(p->a[1]);
    oc_model_free(p->m);
    free(p->bytes);
}

/* Terms add up to types, types to totals, and totals equal those of the analyses. */
static void check_sums(const struct pair *p)
{
    uint64_t count[2] = {0};
    for (uint32_t i = 0; i < p->x.n_type; i++) {
        const struct oc_explain_type *t = &p->x.type[i];
        int64_t sum = 0;
        for (uint32_t k = 0; k < t->n_term; k++)
            sum += t->term[k].difference;
        assert_int_equal(sum, (int64_t)(t->count[1] - t->count[0]));
        count[0] += t->count[0];
        count[1] += t->count[1];
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(count[i], p->x.count[i]);
        assert_int_equal(count[i], p->a[i]->total->flops + p->a[i]->total->ops);
    }
}

static int64_t reason_delta(const struct pair *p, const char *type, const char *text)
{
    for (uint32_t i = 0; i < p->x.n_type; i++)
        for (uint32_t k = 0; k < p->x.type[i].n_term; k++)
            if (!strcmp(p->x.type[i].op_type, type) && strstr(p->x.type[i].term[k].reason, text))
                return p->x.type[i].term[k].difference;
    fail_msg("%s: no reason '%s'", type, text);
    return 0;
}

static struct oc_builder *small(void)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[1,4,8,8]");
    oc_b_init(b, "w", "float[4,4,3,3]");
    oc_b_init(b, "b", "float[4]");
    oc_b_init(b, "u", "float[4,4,2,2]");
    oc_b_node(b, "Conv", "c", "x,w,b", "y", "pads=1,1,1,1");
    oc_b_node(b, "ConvTranspose", "t", "y,u", "z", "strides=2,2");
    oc_b_node(b, "Relu", "r", "z", "o", "");
    oc_b_output(b, "o", NULL);
    return b;
}

/* Conv: MAC 4*64*36 = 9216 with 9*64 taps per plane; of 8x3 taps per axis 22 are on data: 4*4*22*22 = 7744.
 * ConvTranspose {1,4,8,8} -> {1,4,16,16}: MAC 4*64*16 = 4096; by output positions 4*256*16 = 16,384. */
static void differences_have_the_correct_reasons(void **state)
{
    struct pair p;
    (void)state;
    struct oc_builder *b = small();
    explain(&p, b, NULL, "fvcore");
    check_sums(&p);
    assert_int_equal(reason_delta(&p, "Conv", "one MAC counts 2 -> 1"), -9216);
    assert_int_equal(reason_delta(&p, "Conv", "bias"), -256);
    assert_int_equal(reason_delta(&p, "Relu", "element-wise work"), -1024);
    pair_free(&p);
    explain(&p, b, NULL, "xla");
    check_sums(&p);
    assert_int_equal(reason_delta(&p, "Conv", "taps on padding"), 2 * (7744 - 9216));
    pair_free(&p);
    explain(&p, b, "fvcore", "onnx-tool");
    check_sums(&p);
    assert_int_equal(reason_delta(&p, "ConvTranspose", "every output element uses a whole window"),
                     16384 - 4096);
    pair_free(&p);
    oc_b_free(b);
}

#define MOST_CONVENTIONS 32

/* The analyses of one model under every convention; the default counting first. Returns their number. */
static size_t analyze_all(const struct oc_model *m, struct oc_analysis **a)
{
    struct oc_err err = {0};
    size_t n = 0;
    for (; n == 0 || oc_convention_name(n - 1); n++) {
        const struct oc_analyze_opts o = {.convention = n ? oc_convention_name(n - 1) : NULL};
        assert_true(n < MOST_CONVENTIONS);
        if (oc_analyze(m, &o, &a[n], &err))
            fail_msg("%s", err.msg);
    }
    return n;
}

static void check_all_pairs(struct oc_builder *b)
{
    struct oc_analysis *a[MOST_CONVENTIONS];
    struct pair p = {0};
    struct oc_err err = {0};
    size_t size;
    p.bytes = oc_b_pack(b, &size);
    if (oc_model_load_mem(p.bytes, size, NULL, &p.m, &err))
        fail_msg("%s", err.msg);
    size_t n = analyze_all(p.m, a);
    for (size_t i = 0; i < n * n; i++) {
        const struct oc_analysis *const both[2] = {p.a[0] = a[i / n], p.a[1] = a[i % n]};
        if (oc_explain(both, &p.x, &err))
            fail_msg("%s", err.msg);
        check_sums(&p);
        oc_explanation_free(&p.x);
    }
    for (size_t i = 0; i < n; i++)
        oc_analysis_free(a[i]);
    oc_model_free(p.m);
    free(p.bytes);
}

static void differences_of_all_pairs_add_up(void **state)
{
    (void)state;
    for (size_t i = 0; i < zoo_model_count; i++) {
        struct zoo z;
        zoo_init(&z, 17);
        zoo_models[i].build(&z);
        check_all_pairs(z.b);
        zoo_free(&z);
    }
    struct oc_builder *b = small();
    check_all_pairs(b);
    oc_b_free(b);
}

/* onnx-tool counts what others fold: 2 per dequantized weight. */
static void nodes_of_constants_are_a_reason(void **state)
{
    struct pair p;
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[3,16]");
    oc_b_init(b, "q", "uint8[16,8]");
    oc_b_init(b, "s", "float[]");
    oc_b_node(b, "DequantizeLinear", "dq", "q,s", "w", "");
    oc_b_node(b, "MatMul", "m", "x,w", "y", "");
    oc_b_output(b, "y", NULL);
    explain(&p, b, "torch", "onnx-tool");
    check_sums(&p);
    assert_int_equal(reason_delta(&p, "DequantizeLinear", "nodes of constants"), 256);
    pair_free(&p);
    check_all_pairs(b);
    oc_b_free(b);
}

/* Only one branch of an If counts, and which one can depend on the convention. */
static void difference_of_another_branch_is_explained(void **state)
{
    struct pair p;
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "c", "bool[]");
    oc_b_input(b, "x", "float[1,8,8,8]");
    oc_b_node(b, "If", "if", "c", "y", "");
    oc_b_open(b, "then_branch"); /* 2 * 8*8 * 8*8 = 8192 with MACs, 4096 without weight 2; */
    oc_b_init(b, "w", "float[8,8,1,1]");
    oc_b_node(b, "Conv", "conv", "x,w", "t", "");
    oc_b_output(b, "t", NULL);
    oc_b_close(b);
    oc_b_open(b, "else_branch"); /* 5 * 512 = 2560; 36 * 512 = 18,432 for onnx-tool */
    oc_b_node(b, "Softmax", "soft", "x", "e", "");
    oc_b_output(b, "e", NULL);
    oc_b_close(b);
    oc_b_output(b, "y", NULL);
    explain(&p, b, NULL, "onnx-tool");
    check_sums(&p);
    assert_int_equal(reason_delta(&p, "Conv", "another branch"), -8192);
    assert_int_equal(reason_delta(&p, "Softmax", "another branch"), 18432);
    pair_free(&p);
    oc_b_free(b);
}

/* The body of a loop without iterations: a node there costs nothing, even without a shape. */
static void node_that_never_runs_needs_no_shape(void **state)
{
    struct pair p;
    (void)state;
    struct oc_builder *b = small();
    oc_b_init(b, "none", "int64[]{0}");
    oc_b_init(b, "rois", "float[2,5]");
    oc_b_node(b, "Loop", "loop", "none,,x", "last", "");
    oc_b_open(b, "body");
    oc_b_input(b, "i", "int64[]");
    oc_b_input(b, "go", "bool[]");
    oc_b_input(b, "state", "float[1,4,8,8]");
    oc_b_node(b, "MaxRoiPool", "regions", "state,rois", "pooled", ""); /* no pooled_shape */
    oc_b_output(b, "go", NULL);
    oc_b_output(b, "state", NULL);
    oc_b_close(b);
    oc_b_output(b, "last", NULL);
    explain(&p, b, "thop", "fvcore");
    check_sums(&p);
    pair_free(&p);
    oc_b_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(differences_have_the_correct_reasons),
        cmocka_unit_test(differences_of_all_pairs_add_up),
        cmocka_unit_test(nodes_of_constants_are_a_reason),
        cmocka_unit_test(difference_of_another_branch_is_explained),
        cmocka_unit_test(node_that_never_runs_needs_no_shape),
    };
    return cmocka_run_group_tests_name("analyze/explain", tests, NULL, NULL);
}
