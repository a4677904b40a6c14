#include "estimate/recast.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "estimate/predict.h"
#include "support/build.h"
#include "onnxcost.h"

struct made {
    uint8_t *bytes;
    struct oc_model *model;
    struct oc_analysis *analysis;
};

/* Gemm with a bias -> Softmax -> Add of a constant -> Gather of 2 of 7 columns; and an integer Add. */
static struct made make(void)
{
    size_t n;
    struct oc_err err;
    struct made x = {0};
    struct oc_analyze_opts o = {0};
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[3,5]");
    oc_b_input(b, "i", "int32[10]");
    oc_b_init(b, "w", "float[5,7]");
    oc_b_init(b, "c", "float[7]");
    oc_b_init(b, "idx", "int64[2]{0,1}");
    oc_b_node(b, "Gemm", "fc", "x,w,c", "y", "");
    oc_b_node(b, "Softmax", "soft", "y", "s", "");
    oc_b_node(b, "Add", "add", "s,c", "z", "");
    oc_b_node(b, "Gather", "pick", "z,idx", "g", "axis=1");
    oc_b_node(b, "Add", "int", "i,i", "k", "");
    oc_b_output(b, "g", "float[3,2]");
    oc_b_output(b, "k", "int32[10]");
    x.bytes = oc_b_pack(b, &n);
    oc_b_free(b);
    if (oc_model_load_mem(x.bytes, n, NULL, &x.model, &err) || oc_analyze(x.model, &o, &x.analysis, &err))
        fail_msg("%s", err.msg);
    return x;
}

static void free_made(struct made *x)
{
    oc_analysis_free(x->analysis);
    oc_model_free(x->model);
    free(x->bytes);
}

static struct oc_work recast(const struct made *x, const char *to, uint32_t first, uint32_t n)
{
    struct oc_recasting sum = {0};
    struct oc_work w = {0};
    uint32_t node[8];
    for (uint32_t i = 0; i < n; i++) {
        node[i] = first + i;
        oc_work_add(&w, &x->analysis->cost[node[i]]);
    }
    oc_recast_add(oc_recast_by_name(to), x->analysis, node, n, &sum);
    oc_recast_finish(&sum, &w);
    return w;
}

enum { FC, SOFT, ADD, PICK, INT };

/* Gemm 3x5 . 5x7: 105 MACs, 21 adds of the bias. f32: x 60 B, w 140 B + c 28 B, y 84 B. fp16: everything is
 * halved, the adds are f16 too. int8: x 15, w 35 + c 28, y 21; the adds stay f32. int4: x 15 elements in 8 B,
 * w 35 in 18 B, y 21 in 11 B. Weights only: x and y are unchanged. */
static void recast_of_a_product(void **state)
{
    (void)state;
    struct made x = make();
    struct oc_work w = recast(&x, "fp16", FC, 1);
    assert_int_equal(w.macs[OC_CLASS_F16], 105);
    assert_int_equal(w.macs[OC_CLASS_F32], 0);
    assert_int_equal(w.flops[OC_CLASS_F16], 21);
    assert_int_equal(w.bytes, 30 + 70 + 14 + 42);
    assert_int_equal(w.weight_bytes, 84);
    assert_int_equal(w.written, 42);
    assert_int_equal(w.launches, 1);
    w = recast(&x, "int8", FC, 1);
    assert_int_equal(w.macs[OC_CLASS_I8], 105);
    assert_int_equal(w.flops[OC_CLASS_F32], 21);
    assert_int_equal(w.bytes, 15 + 35 + 28 + 21);
    w = recast(&x, "fp8", FC, 1);
    assert_int_equal(w.macs[OC_CLASS_F8], 105);
    assert_int_equal(w.bytes, 15 + 35 + 28 + 21);
    w = recast(&x, "int4", FC, 1);
    assert_int_equal(w.macs[OC_CLASS_I4], 105);
    assert_int_equal(w.bytes, 8 + 18 + 28 + 11);
    w = recast(&x, "int4-weights", FC, 1);
    assert_int_equal(w.macs[OC_CLASS_F32], 105);
    assert_int_equal(w.bytes, 60 + 18 + 28 + 84);
    assert_int_equal(w.weight_bytes, 18 + 28);
    free_made(&x);
}

/* Softmax of 21: 84 B in, 84 B out; CMP, ADD, ADD 63 in total, EXP and DIV 42 special. fp16: bytes are
 * halved, the arithmetic stays f32; int8: unchanged. */
static void recast_leaves_softmax_arithmetic_in_f32(void **state)
{
    (void)state;
    struct made x = make();
    struct oc_work w = recast(&x, "bf16", SOFT, 1);
    assert_int_equal(w.bytes, 84);
    assert_int_equal(w.flops[OC_CLASS_F32], 63);
    assert_int_equal(w.special[OC_CLASS_F32], 42);
    assert_int_equal(recast(&x, "int8", SOFT, 1).bytes, 168);
    w = recast(&x, "int8", INT, 1); /* 40 B in, 40 B out of integers */
    assert_int_equal(w.bytes, 80);
    assert_int_equal(w.flops[OC_CLASS_I32], 10);
    free_made(&x);
}

/* Add 84 + 28 B in, 84 B out: int8 21 + 7 + 21, adds stay f32. Gather reads 6 of 21 elements, 24 B, 16 B of
 * indices and writes 24 B: int8 6 + 16 + 6. Its total read, 24 B, shrinks in proportion to its tensor, 84 B
 * to 21. */
static void recast_of_data_movement(void **state)
{
    (void)state;
    struct made x = make();
    struct oc_work w = recast(&x, "int8", ADD, 1);
    assert_int_equal(w.bytes, 21 + 7 + 21);
    assert_int_equal(w.flops[OC_CLASS_F32], 21);
    w = recast(&x, "int8", PICK, 1);
    assert_int_equal(w.bytes, x.analysis->cost[PICK].rd_wt + 6 + 6);
    assert_int_equal(recast(&x, "int8-weights", PICK, 1).bytes, x.analysis->cost[PICK].rd_wt + 48);
    free_made(&x);
}

/* One launch: with the product all tensors are narrow; without it the Softmax keeps those of the Add. */
static void recast_of_fused_launches(void **state)
{
    (void)state;
    struct made x = make();
    uint64_t gemm = 15 + 35 + 28 + 21, soft = 21 + 21;
    assert_int_equal(recast(&x, "int8", FC, 2).bytes, gemm + soft);
    assert_int_equal(recast(&x, "int8", SOFT, 2).bytes, 168 + 84 + 28 + 84);
    free_made(&x);
}

static void recast_names_are_unique(void **state)
{
    (void)state;
    size_t n = 0;
    for (; oc_recast_name(n); n++)
        assert_string_equal(oc_recast_by_name(oc_recast_name(n))->name, oc_recast_name(n));
    assert_int_equal(n, 8);
    assert_null(oc_recast_by_name("f32"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recast_of_a_product),     cmocka_unit_test(recast_leaves_softmax_arithmetic_in_f32),
        cmocka_unit_test(recast_of_data_movement), cmocka_unit_test(recast_of_fused_launches),
        cmocka_unit_test(recast_names_are_unique),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
