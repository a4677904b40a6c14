#include "estimate/kernels.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "estimate/recast.h"
#include "ops/op.h"
#include "support/build.h"
#include "onnxcost.h"

/* The kernel of the node "n", and of "fused" if there is one; as the runtime's operator `type`, NULL: that of the
 * nodes; with its work in the type `as`, unless that is NULL. */
static struct oc_kernel kernel_made(struct oc_builder *b, const char *type, const char *as)
{
    size_t n;
    struct oc_err err;
    struct oc_model *m;
    struct oc_analysis *a;
    struct oc_kernel_maker maker;
    struct oc_kernel_use use;
    struct oc_arena arena = {0};
    uint8_t *bytes = oc_b_pack(b, &n);
    oc_b_free(b);
    assert_int_equal(oc_model_load_mem(bytes, n, NULL, &m, &err), 0);
    assert_int_equal(oc_analyze(m, NULL, &a, &err), 0);
    oc_kernel_maker_open(&maker, m, a, &arena);
    uint32_t node[2], n_node = 0;
    for (uint32_t i = 0; i < m->n_node; i++)
        if (strcmp(m->node[i].name, "n") == 0 || strcmp(m->node[i].name, "fused") == 0)
            node[n_node++] = i;
    oc_kernel_make(&maker, node, n_node, type, &use);
    assert_true(use.known);
    if (as)
        oc_recast_kernel(oc_recast_by_name(as), a, &use, &use.kernel.work);
    oc_kernel_maker_close(&maker);
    oc_arena_free(&arena);
    oc_analysis_free(a);
    oc_model_free(m);
    free(bytes);
    use.kernel.label = NULL;
    return use.kernel;
}

static struct oc_kernel kernel_as(struct oc_builder *b, const char *as)
{
    return kernel_made(b, NULL, as);
}

static struct oc_kernel kernel_of(struct oc_builder *b)
{
    return kernel_as(b, NULL);
}

static struct oc_kernel kernel_of_op(const char *type, const char *x, const char *y, const char *attributes)
{
    struct oc_builder *b = oc_b_new(13);
    oc_b_input(b, "x", x);
    if (y)
        oc_b_input(b, "y", y);
    oc_b_node(b, type, "n", y ? "x,y" : "x", "z", attributes);
    oc_b_output(b, "z", NULL);
    return kernel_of(b);
}

/* Moves only dimensions of one element: a view by the rules, a copy where it is launched. 4 * 6 floats. */
static void launched_views_are_copies(void **state)
{
    (void)state;
    struct oc_kernel k = kernel_of_op("Transpose", "float[1,4,6]", NULL, "perm=1,0,2");
    assert_int_equal(k.rd_act, 96);
    assert_int_equal(k.wr, 96);
    assert_int_equal(k.work.bytes, 192);
}

/* 7 steps, 2 directions; the recurrent weights, 2 * 4 * 5 * 5 floats, are read 6 more times. */
static void recurrent_layers_read_weights_every_step(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(13);
    oc_b_input(b, "x", "float[7,1,3]");
    oc_b_init(b, "w", "float[2,20,3]");
    oc_b_init(b, "r", "float[2,20,5]");
    oc_b_node(b, "LSTM", "n", "x,w,r", "y", "hidden_size=5 direction='bidirectional'");
    oc_b_output(b, "y", NULL);
    struct oc_kernel k = kernel_of(b);
    assert_int_equal(k.cls, OC_KC_RNN);
    assert_true(k.steps == 14);
    assert_int_equal(k.reload_bytes, 6 * 200 * 4);
}

/* s -> Loop of `trips`: s = op(s, w) */
static struct oc_kernel kernel_in_loop(const char *type, unsigned trips, const char *as)
{
    char count[32];
    snprintf(count, sizeof(count), "int64[]{%u}", trips);
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[8,8]");
    oc_b_init(b, "w", "float[8,8]");
    oc_b_init(b, "trips", count);
    oc_b_node(b, "Loop", "loop", "trips,,x", "y", "");
    oc_b_open(b, "body");
    oc_b_input(b, "i", "int64[]");
    oc_b_input(b, "go", "bool[]");
    oc_b_input(b, "s", "float[8,8]");
    oc_b_node(b, "Identity", "pass", "go", "go_on", "");
    oc_b_node(b, type, "n", "s,w", "t", "");
    oc_b_output(b, "go_on", NULL);
    oc_b_output(b, "t", NULL);
    oc_b_close(b);
    oc_b_output(b, "y", NULL);
    return kernel_as(b, as);
}

/* Products, additions and a transcendental function, with a weight: what one trip does, in any type. */
static void kernels_of_loops_are_one_execution(void **state)
{
    (void)state;
    static const char *const type[] = {"MatMul", "Add", "Pow"}, *const as[] = {NULL, "fp16", "int8"};
    for (size_t i = 0; i < OC_COUNT(type) * OC_COUNT(as); i++) {
        struct oc_kernel once = kernel_in_loop(type[i / 3], 1, as[i % 3]);
        struct oc_kernel k = kernel_in_loop(type[i / 3], 10, as[i % 3]);
        assert_memory_equal(k.work.macs, once.work.macs, sizeof(k.work.macs));
        assert_memory_equal(k.work.flops, once.work.flops, sizeof(k.work.flops));
        assert_memory_equal(k.work.special, once.work.special, sizeof(k.work.special));
        assert_memory_equal(k.work.special_flops, once.work.special_flops, sizeof(k.work.special_flops));
        assert_int_equal(k.work.bytes, once.work.bytes);
        assert_int_equal(k.work.weight_bytes, once.work.weight_bytes);
        assert_int_equal(k.work.written, once.work.written);
        assert_int_equal(k.rd_act, 256);
        assert_int_equal(k.rd_wt, 256);
        assert_int_equal(k.wr, 256);
    }
    assert_int_equal(kernel_in_loop("MatMul", 10, NULL).work.macs[OC_CLASS_F32], 512);
    assert_int_equal(kernel_in_loop("MatMul", 10, "fp16").work.macs[OC_CLASS_F16], 512);
    assert_int_equal(kernel_in_loop("MatMul", 10, NULL).work.bytes, 3 * 256);
    assert_int_equal(kernel_in_loop("MatMul", 10, NULL).work.weight_bytes, 256);
    assert_int_equal(kernel_in_loop("MatMul", 10, NULL).work.written, 256);
    assert_int_equal(kernel_in_loop("Add", 10, NULL).work.flops[OC_CLASS_F32], 64);
    assert_int_equal(kernel_in_loop("Pow", 10, NULL).work.special[OC_CLASS_F32], 64);
}

/* What the product writes and the Relu reads stays inside: 3 tensors of 8 x 8 cross the border. */
static void fused_kernels_write_their_result_alone(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(13);
    oc_b_input(b, "x", "float[8,8]");
    oc_b_init(b, "w", "float[8,8]");
    oc_b_node(b, "MatMul", "n", "x,w", "y", "");
    oc_b_node(b, "Relu", "fused", "y", "z", "");
    oc_b_output(b, "z", NULL);
    struct oc_kernel k = kernel_of(b);
    assert_int_equal(k.members, 2);
    assert_int_equal(k.work.bytes, 3 * 256);
    assert_int_equal(k.work.weight_bytes, 256);
    assert_int_equal(k.work.written, 256);
}

/* Integers that are moved or looked up need no arithmetic but that of a maximum of 4; one operation for each of 64 elements
 * dequantizes others, one and two transcendental ones are a Softplus. */
static void moved_integers_are_not_dequantized(void **state)
{
    (void)state;
    static const struct {
        const char *op, *type;
        uint64_t flops, special;
    } row[] = {{"Transpose", "Transpose", 0, 0},    {"Transpose", NULL, 64, 0},
               {"Sigmoid", "QLinearSigmoid", 0, 0}, {"Softplus", "Softplus", 128, 128},
               {"MaxPool", "MaxPool", 64, 0},       {"Reshape", "Reshape", 0, 0}};
    for (size_t i = 0; i < OC_COUNT(row); i++) {
        struct oc_builder *b = oc_b_new(13);
        oc_b_input(b, "x", "uint8[1,1,8,8]");
        oc_b_init(b, "scale", "float[]{0.5}");
        oc_b_init(b, "sizes", "int64[1]{64}");
        oc_b_node(b, "DequantizeLinear", "fused", "x,scale", "y", "");
        oc_b_node(b, row[i].op, "n", strcmp(row[i].op, "Reshape") == 0 ? "y,sizes" : "y", "z",
                  strcmp(row[i].op, "MaxPool") == 0 ? "kernel_shape=[2,2] strides=[2,2]" : "");
        oc_b_output(b, "z", NULL);
        struct oc_kernel k = kernel_made(b, row[i].type, NULL);
        print_message("%s %s\n", row[i].op, row[i].type ? row[i].type : "");
        assert_int_equal(k.work.flops[OC_CLASS_F32], row[i].flops);
        assert_int_equal(k.work.special[OC_CLASS_F32], row[i].special);
    }
}

/* 64 bytes and a scale are read, 256 written. */
static void dequantization_of_weights_moves_them(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(13);
    oc_b_input(b, "x", "float[8,8]");
    oc_b_init(b, "w", "int8[8,8]");
    oc_b_init(b, "scale", "float[]{0.5}");
    oc_b_node(b, "DequantizeLinear", "n", "w,scale", "f", "");
    oc_b_node(b, "MatMul", "product", "x,f", "y", "");
    oc_b_output(b, "y", NULL);
    struct oc_kernel k = kernel_of(b);
    assert_int_equal(k.work.weight_bytes, 68);
    assert_int_equal(k.work.written, 256);
    assert_int_equal(k.work.bytes, 68 + 256);
}

static void float16_kernels_can_be_recast_to_float(void **state)
{
    (void)state;
    struct oc_kernel k = kernel_of_op("MatMul", "float16[8,8]", "float16[8,8]", "");
    assert_int_equal(k.dtype, OC_CLASS_F16);
    oc_kernel_in_float(&k);
    assert_int_equal(k.dtype, OC_CLASS_F32);
    assert_int_equal(k.work.macs[OC_CLASS_F32], 512);
    assert_int_equal(k.work.macs[OC_CLASS_F16], 0);
    assert_int_equal(k.work.bytes, 3 * 64 * 4);
}

/* Weights that a caller may replace, or that the run computes from integers, keep their layout. */
static void variable_weights_are_not_blocked(void **state)
{
    static const struct {
        const char *weight, *integers, *attributes;
        unsigned constant, variable;
    } c[] = {{"float[32,16,3,3]", "int8[32,16,3,3]", "", OC_KC_CONV_KXK, OC_KC_CONV_PLAIN},
             {"float[16,1,3,3]", "int8[16,1,3,3]", "group=16", OC_KC_CONV_DEPTHWISE, OC_KC_CONV_GROUPED}};
    enum { CONSTANT, INPUT, DEQUANTIZED, WEIGHTS };
    (void)state;
    for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++)
        for (unsigned weights = CONSTANT; weights < WEIGHTS; weights++) {
            struct oc_builder *b = oc_b_new(13);
            oc_b_input(b, "x", "float[1,16,8,8]");
            if (weights == INPUT)
                oc_b_input(b, "w", c[i].weight);
            else
                oc_b_init(b, weights == CONSTANT ? "w" : "q",
                          weights == CONSTANT ? c[i].weight : c[i].integers);
            oc_b_init(b, "scale", "float[]{0.5}");
            if (weights == DEQUANTIZED)
                oc_b_node(b, "DequantizeLinear", "dq", "q,scale", "w", "");
            oc_b_node(b, "Conv", "n", "x,w", "z", c[i].attributes);
            oc_b_output(b, "z", NULL);
            assert_int_equal(kernel_of(b).cls, weights == CONSTANT ? c[i].constant : c[i].variable);
        }
}

/* Products of integers: unsigned and signed weights are different kernels. */
static void sign_of_integer_weights_is_a_variant(void **state)
{
    (void)state;
    struct oc_kernel is_unsigned = kernel_of_op("MatMulInteger", "uint8[8,64]", "uint8[64,32]", ""),
                     is_signed = kernel_of_op("MatMulInteger", "uint8[8,64]", "int8[64,32]", ""),
                     is_float = kernel_of_op("MatMul", "float[8,64]", "float[64,32]", "");
    assert_int_equal(is_unsigned.weight_sign, 1);
    assert_int_equal(is_signed.weight_sign, 2);
    assert_int_equal(is_float.weight_sign, 0);
    assert_true(is_unsigned.signature != is_signed.signature);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sign_of_integer_weights_is_a_variant),
        cmocka_unit_test(variable_weights_are_not_blocked),
        cmocka_unit_test(launched_views_are_copies),
        cmocka_unit_test(recurrent_layers_read_weights_every_step),
        cmocka_unit_test(kernels_of_loops_are_one_execution),
        cmocka_unit_test(fused_kernels_write_their_result_alone),
        cmocka_unit_test(moved_integers_are_not_dequantized),
        cmocka_unit_test(dequantization_of_weights_moves_them),
        cmocka_unit_test(float16_kernels_can_be_recast_to_float),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
