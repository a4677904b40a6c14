/* Sizes, classes and signatures of kernels, from small graphs. */
#include "estimate/kernels.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/build.h"
#include "onnxcost.h"

struct made {
    uint8_t *bytes;
    struct oc_model *m;
    struct oc_analysis *a;
    struct oc_arena arena;
    struct oc_kernel_maker maker;
};

static void load_model(struct made *x, struct oc_builder *b)
{
    size_t n;
    struct oc_err e;
    *x = (struct made){0};
    x->bytes = oc_b_pack(b, &n);
    oc_b_free(b);
    const struct oc_analyze_opts opts = {0};
    if (oc_model_load_mem(x->bytes, n, NULL, &x->m, &e) || oc_analyze(x->m, &opts, &x->a, &e))
        fail_msg("%s", e.msg);
    oc_kernel_maker_open(&x->maker, x->m, x->a, &x->arena);
}

static void made_free(struct made *x)
{
    oc_kernel_maker_close(&x->maker);
    oc_arena_free(&x->arena);
    oc_analysis_free(x->a);
    oc_model_free(x->m);
    free(x->bytes);
}

/* Nodes 0 .. n - 1 as one kernel. */
static struct oc_kernel_use kernel(struct made *x, uint32_t n, const char *type)
{
    static const uint32_t node[] = {0, 1, 2, 3, 4, 5};
    struct oc_kernel_use u;
    oc_kernel_make(&x->maker, node, n, type, &u);
    assert_true(u.known);
    return u;
}

struct sizes {
    unsigned cls;
    double m, n, k, batch;
};

static void check_sizes(const struct oc_kernel *k, struct sizes want)
{
    if (k->cls != want.cls || k->m != want.m || k->n != want.n || k->k != want.k || k->batch != want.batch)
        fail_msg("%s %g %g %g %g", oc_kernel_class_name(k->cls), k->m, k->n, k->k, k->batch);
}

static void check_op(const char *op, const char *in, const char *w, const char *attrs, struct sizes want)
{
    struct oc_builder *b = oc_b_new(17);
    struct made x;
    oc_b_input(b, "x", in);
    oc_b_init(b, "w", w);
    oc_b_node(b, op, "n", "x,w", "y", attrs);
    oc_b_output(b, "y", NULL);
    load_model(&x, b);
    struct oc_kernel_use u = kernel(&x, 1, NULL);
    check_sizes(&u.kernel, want);
    /* the contraction has as many MACs as the operator */
    uint64_t macs = u.kernel.work.macs[OC_CLASS_F32];
    assert_true((double)macs == want.m * want.n * want.k * want.batch);
    assert_int_equal(u.kernel.dtype, OC_CLASS_F32);
    assert_true(u.kernel.signature != 0);
    made_free(&x);
}

/* M: output channels of a group, N: positions of all images, K: taps times channels of a group, batch: groups
 */
static void sizes_of_convolutions(void **state)
{
    (void)state;
    check_op("Conv", "float[2,16,10,12]", "float[32,16,1,1]", "",
             (struct sizes){OC_KC_CONV_1X1, 32, 240, 16, 1});
    check_op("Conv", "float[1,16,10,12]", "float[32,16,3,3]", "pads=1,1,1,1 strides=2,2",
             (struct sizes){OC_KC_CONV_KXK, 32, 30, 144, 1});
    check_op("Conv", "float[1,16,10,12]", "float[16,1,3,3]", "pads=1,1,1,1 group=16",
             (struct sizes){OC_KC_CONV_DEPTHWISE, 1, 120, 9, 16});
    check_op("Conv", "float[1,16,10,12]", "float[32,4,3,3]", "pads=1,1,1,1 group=4",
             (struct sizes){OC_KC_CONV_GROUPED, 8, 120, 36, 4});
    /* no blocks: channels not in multiples of 4, one or three spatial dimensions */
    check_op("Conv", "float[2,18,10,12]", "float[32,18,1,1]", "",
             (struct sizes){OC_KC_CONV_PLAIN, 32, 240, 18, 1});
    check_op("Conv", "float[1,16,10]", "float[32,16,3]", "pads=1,1",
             (struct sizes){OC_KC_CONV_PLAIN, 32, 10, 48, 1});
    check_op("Conv", "float[1,16,4,4,4]", "float[32,16,1,1,1]", "",
             (struct sizes){OC_KC_CONV_PLAIN, 32, 64, 16, 1});
    check_op("Conv", "float[1,12,10,12]", "float[12,1,3,3]", "pads=1,1,1,1 group=12",
             (struct sizes){OC_KC_CONV_DEPTHWISE, 1, 120, 9, 12});
    check_op("Conv", "float[1,10,10,12]", "float[10,1,3,3]", "pads=1,1,1,1 group=10",
             (struct sizes){OC_KC_CONV_GROUPED, 1, 120, 9, 10});
    /* 16 channels to 8, 2x2: 8*4 numbers of 16 for each of 120 inputs */
    check_op("ConvTranspose", "float[1,16,10,12]", "float[16,8,2,2]", "strides=2,2",
             (struct sizes){OC_KC_CONV_TRANSPOSED, 32, 120, 16, 1});
}

static void sizes_of_matrix_products(void **state)
{
    (void)state;
    check_op("MatMul", "float[2,50,64]", "float[64,96]", "", (struct sizes){OC_KC_GEMM, 100, 96, 64, 1});
    check_op("MatMul", "float[4,64]", "float[64,96]", "", (struct sizes){OC_KC_GEMV, 4, 96, 64, 1});
    check_op("MatMul", "float[5,64]", "float[64,96]", "", (struct sizes){OC_KC_GEMM, 5, 96, 64, 1});
    check_op("MatMul", "float[2,12,50,64]", "float[2,12,64,50]", "",
             (struct sizes){OC_KC_BATCHED_GEMM, 50, 50, 64, 24});
    check_op("Gemm", "float[64,8]", "float[96,64]", "transA=1 transB=1",
             (struct sizes){OC_KC_GEMM, 8, 96, 64, 1});
}

/* Conv, BatchNormalization, Relu in the model, and the operator into which ONNX Runtime fuses them. */
static uint64_t signature_of_original(const char *act)
{
    struct oc_builder *b = oc_b_new(17);
    struct made x;
    oc_b_input(b, "x", "float[1,16,10,12]");
    oc_b_init(b, "w", "float[32,16,3,3]");
    for (const char *const *v = (const char *const[]){"s", "b", "mean", "var", NULL}; *v; v++)
        oc_b_init(b, *v, "float[32]");
    oc_b_node(b, "Conv", "conv", "x,w", "c", "pads=1,1,1,1");
    oc_b_node(b, "BatchNormalization", "bn", "c,s,b,mean,var", "d", "");
    oc_b_node(b, act, "act", "d", "y", "");
    oc_b_output(b, "y", NULL);
    load_model(&x, b);
    struct oc_kernel_use u = kernel(&x, 3, "Conv");
    assert_int_equal(u.kernel.members, 3);
    /* only the tensors that cross the border: x and the weights in, y out */
    assert_true(u.kernel.rd_act == 4 * 16 * 120 && u.kernel.wr == 4 * 32 * 120);
    assert_true(u.kernel.work.bytes == u.kernel.rd_act + u.kernel.rd_wt + u.kernel.wr);
    assert_int_equal(u.kernel.work.launches, 1);
    uint64_t signature = u.kernel.signature;
    made_free(&x);
    return signature;
}

static uint64_t signature_of_fused(const char *attrs)
{
    struct oc_builder *b = oc_b_new(17);
    struct made x;
    oc_b_opset(b, "com.microsoft", 1);
    oc_b_input(b, "x", "float[1,16,10,12]");
    oc_b_init(b, "w", "float[32,16,3,3]");
    oc_b_init(b, "bias", "float[32]");
    oc_b_node(b, "com.microsoft::FusedConv", "conv", "x,w,bias", "y", attrs);
    oc_b_output(b, "y", NULL);
    load_model(&x, b);
    struct oc_kernel_use u = kernel(&x, 1, NULL);
    uint64_t signature = u.kernel.signature;
    made_free(&x);
    return signature;
}

static void fused_kernels_keep_their_signature(void **state)
{
    (void)state;
    uint64_t relu = signature_of_original("Relu"), tanh = signature_of_original("Tanh");
    assert_true(relu == signature_of_original("Relu"));
    assert_true(relu != tanh);
    assert_true(relu == signature_of_fused("pads=1,1,1,1 activation='Relu'"));
    assert_true(tanh == signature_of_fused("pads=1,1,1,1 activation='Tanh'"));
    assert_true(relu != signature_of_fused("pads=1,1,1,1"));
    assert_true(relu != signature_of_fused("pads=0,0,2,2 strides=2,2 activation='Relu'"));
}

/* Without a contraction, shapes and attributes distinguish kernels. */
static uint64_t signature_of_transpose(const char *type, const char *attrs)
{
    struct oc_builder *b = oc_b_new(17);
    struct made x;
    oc_b_input(b, "x", type);
    oc_b_node(b, "Transpose", "t", "x", "y", attrs);
    oc_b_output(b, "y", NULL);
    load_model(&x, b);
    struct oc_kernel_use u = kernel(&x, 1, NULL);
    assert_int_equal(u.kernel.cls, OC_KC_TRANSPOSE);
    uint64_t signature = u.kernel.signature;
    made_free(&x);
    return signature;
}

static void signatures_of_data_movement_depend_on_shape_and_attributes(void **state)
{
    (void)state;
    uint64_t s = signature_of_transpose("float[4,6,8]", "perm=0,2,1");
    assert_true(s == signature_of_transpose("float[4,6,8]", "perm=0,2,1"));
    assert_true(s != signature_of_transpose("float[4,6,8]", "perm=2,1,0"));
    assert_true(s != signature_of_transpose("float[4,8,6]", "perm=0,2,1"));
    assert_true(s != signature_of_transpose("int32[4,6,8]", "perm=0,2,1"));
}

/* 8 heads, 5 queries, 7 keys of size 64. Without past the keys of the com.microsoft operator are its queries:
 * it projects 8 values to Q, K and V of 64 in 4 heads of 16, with more MACs than the attention. */
static void sizes_of_attention(void **state)
{
    (void)state;
    struct made x;
    struct oc_builder *b = oc_b_new(23);
    oc_b_input(b, "q", "float[2,8,5,64]");
    oc_b_input(b, "k", "float[2,8,7,64]");
    oc_b_input(b, "v", "float[2,8,7,64]");
    oc_b_node(b, "Attention", "n", "q,k,v", "y", "");
    oc_b_output(b, "y", NULL);
    load_model(&x, b);
    struct oc_kernel_use u = kernel(&x, 1, NULL);
    check_sizes(&u.kernel, (struct sizes){OC_KC_ATTENTION_PREFILL, 5, 7, 64, 16});
    made_free(&x);
    b = oc_b_new(17);
    oc_b_input(b, "x", "float[3,5,8]");
    oc_b_init(b, "w", "float[8,192]");
    oc_b_node(b, "com.microsoft::Attention", "n", "x,w", "y", "num_heads=4");
    oc_b_output(b, "y", NULL);
    load_model(&x, b);
    u = kernel(&x, 1, NULL);
    check_sizes(&u.kernel, (struct sizes){OC_KC_ATTENTION_PREFILL, 5, 5, 16, 12});
    made_free(&x);
}

static double scalar_of(int opset, const char *op, const char *in, const char *w, const char *attrs)
{
    struct oc_builder *b = oc_b_new(opset);
    struct made x;
    oc_b_input(b, "x", in);
    if (w)
        oc_b_init(b, "w", w);
    oc_b_node(b, op, "n", w ? strcmp(op, "Resize") != 0 ? "x,w" : "x,,w" : "x", "y", attrs);
    oc_b_output(b, "y", NULL);
    load_model(&x, b);
    double scalar = kernel(&x, 1, NULL).kernel.scalar;
    made_free(&x);
    return scalar;
}

/* A row of 16 costs as much as 16 + 48 elements; rows across the last axis four times that; before opset 13 all
 * dimensions from the axis on are one row. */
static void short_rows_of_softmax_are_slow(void **state)
{
    (void)state;
    assert_true(scalar_of(17, "Softmax", "float[2,8400,16]", NULL, "") == 4);
    assert_true(scalar_of(17, "LogSoftmax", "float[2,16,8400]", NULL, "axis=1") == 16);
    assert_true(scalar_of(17, "Softmax", "float[2,16,1]", NULL, "axis=-2") == 4);
    assert_true(scalar_of(12, "Softmax", "float[2,4,12]", NULL, "") == 2);
    assert_true(scalar_of(12, "Softmax", "float[2,4,12]", NULL, "axis=2") == 5);
}

static void interpolation_of_more_points_is_slow(void **state)
{
    (void)state;
    static const char *const scales = "float[4]{1,1,2,2}";
    assert_true(scalar_of(17, "Resize", "float[1,3,8,8]", scales, "mode=linear") == 1);
    assert_true(scalar_of(17, "Resize", "float[1,3,8,8]", scales, "mode=cubic") == 12);
    assert_true(scalar_of(17, "GridSample", "float[1,3,8,8]", "float[1,4,4,2]", "") == 3.5);
    assert_true(scalar_of(17, "GridSample", "float[1,3,8,8]", "float[1,4,4,2]", "mode=bicubic") == 12);
}

/* 2 lists of 1,024 scores: 2,048 * (1 + 10) comparisons; at most 100 boxes of each list meet 1,024 others, 13 operations
 * for each pair. */
static void suppression_counts_what_it_always_does(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    struct made x;
    oc_b_input(b, "boxes", "float[1,1024,4]");
    oc_b_input(b, "scores", "float[1,2,1024]");
    oc_b_init(b, "most", "int64[1]{100}");
    oc_b_node(b, "NonMaxSuppression", "n", "boxes,scores,most", "y", "");
    oc_b_output(b, "y", NULL);
    load_model(&x, b);
    double most = 2048 * 11 + 13.0 * 2 * 100 * 1024, scalar = kernel(&x, 1, NULL).kernel.scalar;
    if (scalar != 2048 * 11 / most)
        fail_msg("%.17g", scalar);
    made_free(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_of_convolutions),
        cmocka_unit_test(sizes_of_matrix_products),
        cmocka_unit_test(sizes_of_attention),
        cmocka_unit_test(fused_kernels_keep_their_signature),
        cmocka_unit_test(signatures_of_data_movement_depend_on_shape_and_attributes),
        cmocka_unit_test(short_rows_of_softmax_are_slow),
        cmocka_unit_test(interpolation_of_more_points_is_slow),
        cmocka_unit_test(suppression_counts_what_it_always_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
