/* Operators rewritten by ONNX Runtime: normalizations as convolutions, inlined functions. The names are from
 * recordings of DenseNet-121 and MobileNetV3 with version 1.30. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "join/join.h"
#include "support/profiles.h"
#include "support/run_model.h"
#include "onnxcost.h"

#define F(shape) "{\"float\":[" shape "]}"
#define RUN      "{\"cat\":\"Session\",\"tid\":1,\"dur\":1000,\"ts\":0,\"name\":\"model_run\",\"args\":{}}"
#define EVENT(ts, name, type, index, in, out)                                                                \
    ",{\"cat\":\"Node\",\"tid\":1,\"dur\":10,\"ts\":" #ts ",\"name\":\"" name                                \
    "_kernel_time\",\"args\":{\"op_name\":\"" type "\",\"node_index\":\"" #index                             \
    "\",\"input_type_shape\":[" in "],\"output_type_shape\":[" out "]}}"

struct joined {
    struct oc_run r;
    struct oc_profile *p;
    struct oc_join *j;
    struct oc_model *optimized;
    uint8_t *optimized_bytes;
    uint32_t removed, unmatched; /* nodes without time, records without nodes */
};

static void join(struct joined *x, struct oc_builder *b, struct oc_builder *optimized, const char *trace)
{
    struct oc_err e;
    size_t n;
    x->r = oc_run_model(b, NULL);
    x->p = t_profile_text(trace, NULL, &e);
    assert_non_null(x->p);
    if (optimized) {
        x->optimized_bytes = oc_b_pack(optimized, &n);
        oc_b_free(optimized);
        assert_int_equal(oc_model_load_mem(x->optimized_bytes, n, NULL, &x->optimized, &e), 0);
    }
    assert_int_equal(oc_join_make(x->r.m, x->r.a, x->p, x->optimized, &x->j, &e), 0);
    assert_int_equal(x->j->n_unmatched, x->unmatched);
    assert_int_equal(x->j->nodes_without_time, x->removed);
    assert_int_equal(x->j->diags.n, x->unmatched);
}

static void joined_free(struct joined *x)
{
    oc_join_free(x->j);
    oc_profile_close(x->p);
    oc_model_free(x->optimized);
    oc_run_free(&x->r);
    free(x->optimized_bytes);
}

static const struct oc_join_rec *find_record(const struct joined *x, const char *name)
{
    const struct oc_prof_rec *r = t_rec(x->p, name);
    assert_non_null(r);
    return &x->j->rec[r - x->p->rec];
}

static void assert_nodes(const struct joined *x, const char *name, const char *want)
{
    const struct oc_join_rec *r = find_record(x, name);
    char text[200] = "";
    for (uint32_t i = 0; i < r->n_node; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", i ? " " : "",
                 x->r.m->node[r->node[i]].name);
    assert_string_equal(text, want);
}

/* ---- a normalization as a convolution ------------------------------------------------------------------ */

static struct oc_builder *dense(void)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[1,16,8,8]");
    oc_b_init(b, "s", "float[32]");
    oc_b_node(b, "MaxPool", "pool", "x", "p", "kernel_shape=1,1");
    oc_b_node(b, "Concat", "join", "p,x", "c", "axis=1");
    oc_b_node(b, "BatchNormalization", "norm", "c,s,s,s,s", "n", "");
    oc_b_node(b, "Relu", "relu", "n", "r", "");
    oc_b_node(b, "Tanh", "tanh", "r", "y", "");
    oc_b_output(b, "y", NULL);
    return b;
}

static const char dense_trace[] = "[" RUN EVENT(10, "p_nchwc", "MaxPool", 20, F("1,16,8,8"), F("1,16,8,8"))
    EVENT(30, "join", "Concat", 21, F("1,16,8,8") "," F("1,16,8,8"), F("1,32,8,8"))
        EVENT(50, "n_bn_nchwc", "Conv", 22, F("1,32,8,8") "," F("32,1,1,1") "," F("32"), F("1,32,8,8"))
            EVENT(70, "tanh", "Tanh", 4, F("1,32,8,8"), F("1,32,8,8")) "]";

/* One multiplication for each of 32 x 8 x 8 numbers, which the model does not count as MACs: not padding. */
static void check_norm(const struct joined *x)
{
    assert_nodes(x, "n_bn_nchwc", "norm relu");
    assert_nodes(x, "tanh", "tanh");
    assert_int_equal(find_record(x, "n_bn_nchwc")->macs, 0);
    assert_int_equal(find_record(x, "n_bn_nchwc")->executed_macs, 2048);
    assert_int_equal(x->j->executed.more, 1);
    assert_int_equal(x->j->executed.padded, 0);
    assert_int_equal(x->j->executed.padding_macs, 0);
}

static void normalization_as_convolution_matches_by_name(void **state)
{
    (void)state;
    struct joined x = {0};
    join(&x, dense(), NULL, dense_trace);
    assert_string_equal(find_record(&x, "n_bn_nchwc")->rule, "fused name");
    check_norm(&x);
    joined_free(&x);
}

static void normalization_as_convolution_matches_through_the_optimized_model(void **state)
{
    (void)state;
    struct joined x = {0};
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[1,16,8,8]");
    oc_b_init(b, "bn_scale", "float[32,1,1,1]");
    oc_b_node(b, "com.microsoft.nchwc::MaxPool", "p_nchwc", "x", "t0", "kernel_shape=1,1");
    oc_b_node(b, "Concat", "join", "t0,x", "t1", "axis=1");
    oc_b_node(b, "com.microsoft.nchwc::Conv", "n_bn_nchwc", "t1,bn_scale", "t2", "activation='Relu'");
    oc_b_node(b, "Tanh", "tanh", "t2", "y", "");
    oc_b_output(b, "y", NULL);
    join(&x, dense(), b, dense_trace);
    assert_string_equal(find_record(&x, "n_bn_nchwc")->rule, "fused name");
    check_norm(&x);
    joined_free(&x);
}

/* ---- an inlined function ------------------------------------------------------------------------------- */

/* The first HardSwish is fused into the convolution, the one after the product is inlined. */
static struct oc_builder *swish(void)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[1,8,1,1]");
    oc_b_init(b, "w", "float[8,8,1,1]");
    oc_b_init(b, "m", "float[8,8]");
    oc_b_node(b, "Conv", "conv", "x,w", "c", "");
    oc_b_node(b, "HardSwish", "act1", "c", "h", "");
    oc_b_node(b, "Flatten", "flat", "h", "f", "");
    oc_b_node(b, "Gemm", "gemm", "f,m", "g", "");
    oc_b_node(b, "HardSwish", "act2", "g", "y", "");
    oc_b_output(b, "y", NULL);
    return b;
}

static const char swish_trace[] =
    "[" RUN EVENT(10, "h_nchwc", "Conv", 20, F("1,8,1,1") "," F("8,8,1,1"), F("1,8,1,1"))
        EVENT(30, "flat", "Flatten", 21, F("1,8,1,1"), F("1,8"))
            EVENT(50, "gemm", "Gemm", 22, F("1,8") "," F("8,8"), F("1,8"))
                EVENT(70, "HardSigmoid_226", "HardSigmoid", 226, F("1,8"), F("1,8"))
                    EVENT(90, "Mul_227", "Mul", 227, F("1,8") "," F("1,8"), F("1,8")) "]";

/* The operations are counted once, in the record `whole`. */
static void check_swish(const struct joined *x, const char *whole, const char *part)
{
    assert_nodes(x, "h_nchwc", "conv act1");
    assert_nodes(x, "gemm", "gemm");
    assert_nodes(x, whole, "act2");
    assert_nodes(x, part, "act2");
    assert_true(find_record(x, whole)->flops > 0);
    assert_int_equal(find_record(x, part)->flops, 0);
    assert_int_equal(find_record(x, whole)->part_of, OC_NONE);
    assert_int_equal(find_record(x, part)->part_of, t_rec(x->p, whole) - x->p->rec);
}

static void inlined_function_matches_its_node(void **state)
{
    (void)state;
    struct joined x = {0};
    join(&x, swish(), NULL, swish_trace);
    assert_string_equal(find_record(&x, "Mul_227")->rule, "function body");
    check_swish(&x, "HardSigmoid_226", "Mul_227");
    joined_free(&x);
}

/* Its nodes have no names and no indices: still attributed. */
static void inlined_function_matches_through_the_optimized_model(void **state)
{
    (void)state;
    struct joined x = {0};
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[1,8,1,1]");
    oc_b_init(b, "w", "float[8,8,1,1]");
    oc_b_init(b, "m", "float[8,8]");
    oc_b_node(b, "com.microsoft.nchwc::Conv", "h_nchwc", "x,w", "t", "activation='HardSwish'");
    oc_b_node(b, "Flatten", "flat", "t", "f", "");
    oc_b_node(b, "Gemm", "gemm", "f,m", "g", "");
    oc_b_node(b, "HardSigmoid", NULL, "g", "_inlfunc_HardSwish_token_19_HS_X", "");
    oc_b_node(b, "Mul", NULL, "g,_inlfunc_HardSwish_token_19_HS_X", "y", "");
    oc_b_output(b, "y", NULL);
    join(&x, swish(), b, swish_trace);
    check_swish(&x, "HardSigmoid_226", "Mul_227");
    joined_free(&x);
}

/* ---- quantized, in another layout ---- */

/* Integers x to convolution, pool and sum with DequantizeLinear before and QuantizeLinear after each. One
 * scale for all. */
static struct oc_builder *qdq(void)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "uint8[1,16,8,8]");
    oc_b_init(b, "s", "float[]{0.1}");
    oc_b_init(b, "z", "uint8[]{0}");
    oc_b_init(b, "w", "int8[16,16,3,3]");
    oc_b_init(b, "ws", "float[16]");
    oc_b_init(b, "wz", "int8[16]");
    oc_b_node(b, "DequantizeLinear", "dx", "x,s,z", "fx", "");
    oc_b_node(b, "DequantizeLinear", "dw", "w,ws,wz", "fw", "axis=0");
    oc_b_node(b, "Conv", "conv", "fx,fw", "c", "pads=1,1,1,1");
    oc_b_node(b, "Relu", "relu", "c", "r", "");
    oc_b_node(b, "QuantizeLinear", "qr", "r,s,z", "ir", "");
    oc_b_node(b, "DequantizeLinear", "dr", "ir,s,z", "fr", "");
    oc_b_node(b, "MaxPool", "pool", "fr", "p", "kernel_shape=1,1");
    oc_b_node(b, "QuantizeLinear", "qp", "p,s,z", "ip", "");
    oc_b_node(b, "DequantizeLinear", "dp", "ip,s,z", "fp", "");
    oc_b_node(b, "Add", "sum", "fp,fr", "t", "");
    oc_b_node(b, "QuantizeLinear", "qt", "t,s,z", "y", "");
    oc_b_output(b, "y", NULL);
    return b;
}

#define U8(shape) "{\"uint8\":[" shape "]}"
static const char qdq_trace[] =
    "[" RUN EVENT(10, "Transpose", "Transpose", 20, U8("1,16,8,8"), U8("1,8,8,16"))
        EVENT(30, "conv_token_1", "QLinearConv", 21, U8("1,8,8,16"), U8("1,8,8,16"))
            EVENT(50, "pool_token_4", "NhwcMaxPool", 22, U8("1,8,8,16"), U8("1,8,8,16"))
                EVENT(70, "sum", "QLinearAdd", 23, U8("1,8,8,16") "," U8("1,8,8,16"), U8("1,8,8,16"))
                    EVENT(90, "Transpose_token_7", "Transpose", 24, U8("1,8,8,16"), U8("1,16,8,8")) "]";

/* The nodes that produce the integers read by an operator, whoever else reads them. The weight of 16 x 16 x 9
 * bytes is read with its 16 scales and zero points as stored: 2304 + 64 + 16. */
static void quantized_layout_matches_through_the_optimized_model(void **state)
{
    (void)state;
    struct joined x = {0};
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "uint8[1,16,8,8]");
    oc_b_node(b, "Transpose", "Transpose", "x", "Transpose_out0", "perm=0,2,3,1");
    oc_b_node(b, "com.microsoft::QLinearConv", "conv_token_1", "Transpose_out0", "conv", "");
    oc_b_node(b, "com.microsoft::NhwcMaxPool", "pool_token_4", "conv", "pool_token_4", "");
    oc_b_node(b, "com.microsoft::QLinearAdd", "sum", "pool_token_4,,,conv", "sum", "");
    oc_b_node(b, "Transpose", "Transpose_token_7", "sum", "y", "perm=0,3,1,2");
    oc_b_output(b, "y", NULL);
    join(&x, qdq(), b, qdq_trace);
    assert_string_equal(find_record(&x, "conv_token_1")->rule, "fused name");
    assert_nodes(&x, "conv_token_1", "dx conv relu qr");
    assert_int_equal(find_record(&x, "conv_token_1")->rd_wt, 2304 + 64 + 16 + 4 + 1);
    assert_int_equal(find_record(&x, "conv_token_1")->rd_act, 1024);
    assert_int_equal(find_record(&x, "conv_token_1")->wr, 1024);
    assert_nodes(&x, "pool_token_4", "dr pool qp");
    assert_nodes(&x, "sum", "dp sum qt"); /* dr is in one record */
    joined_free(&x);
}

/* Each user of a DequantizeLinear gets its own copy: the second is not in the model. */
static void duplicated_dequantizer_is_inserted(void **state)
{
    (void)state;
    struct joined x = {0};
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "uint8[64]");
    oc_b_init(b, "s", "float[]{0.1}");
    oc_b_init(b, "z", "uint8[]{0}");
    oc_b_node(b, "DequantizeLinear", "d", "x,s,z", "f", "");
    oc_b_node(b, "Relu", "relu", "f", "y", "");
    oc_b_node(b, "Tanh", "tanh", "f", "v", "");
    oc_b_output(b, "y", NULL);
    oc_b_output(b, "v", NULL);
    join(&x, b, NULL,
         "[" RUN EVENT(10, "d", "DequantizeLinear", 0, U8("64"), F("64"))
             EVENT(30, "d/duplicated", "DequantizeLinear", 3, U8("64"), F("64"))
                 EVENT(50, "relu", "Relu", 1, F("64"), F("64"))
                     EVENT(70, "tanh", "Tanh", 2, F("64"), F("64")) "]");
    assert_nodes(&x, "d", "d");
    assert_nodes(&x, "d/duplicated", "");
    joined_free(&x);
}

/* Without node names: results named "_token_<n>" have no original tensor, and what is before them does not
 * belong to the record that reads them. */
static void results_of_unnamed_nodes_in_another_layout_end_a_group(void **state)
{
    (void)state;
    static const char trace[] = "[" RUN EVENT(10, "Transpose", "Transpose", 20, U8("1,4,8,8"), U8("1,8,8,4"))
        EVENT(30, "_token_2", "QLinearConv", 21, U8("1,8,8,4"), U8("1,8,8,4"))
            EVENT(50, "_token_5", "QLinearConv", 22, U8("1,8,8,4"), U8("1,8,8,4"))
                EVENT(70, "QLinearSigmoid_23", "QLinearSigmoid", 23, U8("1,8,8,4"), U8("1,8,8,4"))
                    EVENT(90, "Transpose_token_0", "Transpose", 24, U8("1,8,8,4"), U8("1,4,8,8")) "]";
    struct joined x = {0};
    struct oc_builder *b = oc_b_new(17), *o = oc_b_new(17);
    oc_b_input(b, "x", "uint8[1,4,8,8]");
    oc_b_init(b, "s", "float[]{0.1}");
    oc_b_init(b, "z", "uint8[]{0}");
    oc_b_init(b, "w", "float[4,4,1,1]");
    oc_b_node(b, "DequantizeLinear", NULL, "x,s,z", "a", "");
    oc_b_node(b, "Conv", NULL, "a,w", "b", "");
    oc_b_node(b, "QuantizeLinear", NULL, "b,s,z", "c", "");
    oc_b_node(b, "DequantizeLinear", NULL, "c,s,z", "d", "");
    oc_b_node(b, "Conv", NULL, "d,w", "e", "");
    oc_b_node(b, "QuantizeLinear", NULL, "e,s,z", "f", "");
    oc_b_node(b, "DequantizeLinear", NULL, "f,s,z", "g", "");
    oc_b_node(b, "Sigmoid", NULL, "g", "h", "");
    oc_b_node(b, "QuantizeLinear", NULL, "h,s,z", "y", "");
    oc_b_output(b, "y", NULL);
    oc_b_input(o, "x", "uint8[1,4,8,8]");
    oc_b_node(o, "Transpose", "Transpose", "x", "Transpose_out0", "perm=0,2,3,1");
    oc_b_node(o, "com.microsoft::QLinearConv", "_token_2", "Transpose_out0", "_token_1", "");
    oc_b_node(o, "com.microsoft::QLinearConv", "_token_5", "_token_1", "_token_4", "");
    oc_b_node(o, "com.microsoft::QLinearSigmoid", NULL, "_token_4", "_token_7", "");
    oc_b_node(o, "Transpose", "Transpose_token_0", "_token_7", "y", "perm=0,3,1,2");
    oc_b_output(o, "y", NULL);
    join(&x, b, o, trace);
    assert_int_equal(find_record(&x, "_token_2")->n_node, 3);
    assert_int_equal(find_record(&x, "_token_2")->node[1], 1);
    assert_int_equal(find_record(&x, "_token_5")->n_node, 3);
    assert_int_equal(find_record(&x, "_token_5")->node[1], 4);
    assert_int_equal(find_record(&x, "QLinearSigmoid_23")->n_node, 3);
    assert_int_equal(find_record(&x, "QLinearSigmoid_23")->node[1], 7);
    joined_free(&x);
}

/* ---- removed nodes ------------------------------------------------------------------------------------- */

/* The sum with 0 is removed, and does not belong to the product before it. */
static void sum_with_zero_is_removed(void **state)
{
    (void)state;
    struct joined x = {.removed = 1};
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[1,64]");
    oc_b_init(b, "w", "float[64,64]");
    oc_b_init(b, "bias", "float[64]");
    oc_b_init(b, "zero", "float[1]{0}");
    oc_b_node(b, "Gemm", "first", "x,w,bias", "f", "");
    oc_b_node(b, "Add", "noop", "f,zero", "n", "");
    oc_b_node(b, "Gemm", "second", "n,w,bias", "s", "");
    oc_b_node(b, "Elu", "elu", "s", "y", "");
    oc_b_output(b, "y", NULL);
    join(&x, b, NULL,
         "[" RUN EVENT(10, "first", "Gemm", 0, F("1,64") "," F("64"), F("1,64"))
             EVENT(30, "fused second", "FusedGemm", 4, F("1,64") "," F("64"), F("1,64")) "]");
    assert_nodes(&x, "first", "first");
    assert_nodes(&x, "fused second", "second elu");
    joined_free(&x);
}

/* A removed Identity does not separate a convolution from its activation. */
static void activation_after_identity_is_fused(void **state)
{
    (void)state;
    struct joined x = {0};
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[1,8,8,8]");
    oc_b_init(b, "w", "float[8,8,1,1]");
    oc_b_init(b, "bias", "float[1,8,1,1]");
    oc_b_node(b, "Conv", "conv", "x,w", "c", "");
    oc_b_node(b, "Add", "add", "c,bias", "a", "");
    oc_b_node(b, "Identity", "same", "a", "i", "");
    oc_b_node(b, "Relu", "relu", "i", "y", "");
    oc_b_output(b, "y", NULL);
    join(&x, b, NULL,
         "[" RUN EVENT(10, "conv", "FusedConv", 4, F("1,8,8,8") "," F("8,8,1,1") "," F("8"),
                       F("1,8,8,8")) "]");
    assert_nodes(&x, "conv", "conv add same relu");
    joined_free(&x);
}

/* ---- where groups end ---------------------------------------------------------------------------------- */

/* Gemm has two dimensions: the Transpose after it belongs to the product that reads it. */
static void transpose_belongs_to_the_product_that_reads_it(void **state)
{
    (void)state;
    struct joined x = {0};
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[2,4,8]");
    oc_b_init(b, "w", "float[8,8]");
    oc_b_init(b, "bias", "float[8]");
    oc_b_node(b, "MatMul", "m", "x,w", "p", "");
    oc_b_node(b, "Add", "a", "p,bias", "s", "");
    oc_b_node(b, "Transpose", "t", "s", "k", "perm=0,2,1");
    oc_b_node(b, "MatMul", "qk", "x,k", "y", "");
    oc_b_output(b, "y", NULL);
    join(&x, b, NULL,
         "[" RUN EVENT(10, "m/MatMulAddFusion", "Gemm", 5, F("8,8") "," F("8"), F("8,8")) EVENT(
             30, "qk/MatmulTransposeFusion/", "FusedMatMul", 6, F("2,4,8") "," F("2,4,8"), F("2,4,4")) "]");
    assert_nodes(&x, "m/MatMulAddFusion", "m a");
    assert_nodes(&x, "qk/MatmulTransposeFusion/", "t qk");
    joined_free(&x);
}

static void add_node(struct oc_builder *b, const char *op, int layer, const char *name, const char *in,
                     const char *attrs)
{
    char label[32], inputs[64], out[32];
    snprintf(label, sizeof(label), "%s%d", name, layer);
    snprintf(out, sizeof(out), "%s%d_out", name, layer);
    snprintf(inputs, sizeof(inputs), in, layer, layer, layer);
    oc_b_node(b, op, label, inputs, out, attrs);
}

/* Attention of one head, a residual sum, and a normalization in its parts. */
static void add_layer(struct oc_builder *b, int layer, const char *input)
{
    char in[64];
    snprintf(in, sizeof(in), "%s,w", input);
    add_node(b, "MatMul", layer, "q", in, "");
    add_node(b, "MatMul", layer, "k", in, "");
    add_node(b, "MatMul", layer, "v", in, "");
    add_node(b, "Transpose", layer, "t", "k%d_out", "perm=0,2,1");
    add_node(b, "MatMul", layer, "qk", "q%d_out,t%d_out", "");
    add_node(b, "Softmax", layer, "soft", "qk%d_out", "axis=-1");
    add_node(b, "MatMul", layer, "o", "soft%d_out,v%d_out", "");
    snprintf(in, sizeof(in), "o%d_out,%s", layer, input);
    oc_b_node(b, "Add", layer == 1 ? "sum1" : "sum2", in, layer == 1 ? "sum1_out" : "sum2_out", "");
    add_node(b, "ReduceMean", layer, "mean", "sum%d_out", "axes=-1");
    add_node(b, "Sub", layer, "sub", "sum%d_out,mean%d_out", "");
    add_node(b, "Pow", layer, "pow", "sub%d_out,two", "");
    add_node(b, "ReduceMean", layer, "var", "pow%d_out", "axes=-1");
    add_node(b, "Add", layer, "eps", "var%d_out,tiny", "");
    add_node(b, "Sqrt", layer, "sqrt", "eps%d_out", "");
    add_node(b, "Div", layer, "div", "sub%d_out,sqrt%d_out", "");
    add_node(b, "Mul", layer, "scale", "div%d_out,g", "");
    add_node(b, "Add", layer, "shift", "scale%d_out,g", "");
}

#define X                          "1,4,8"
#define ATTENTION(ts, name, index) EVENT(ts, name, "Attention", index, F(X) "," F("8,24") "," F("24"), F(X))
#define NORMALIZATION(ts, name, index)                                                                       \
    EVENT(ts, name, "SkipLayerNormalization", index, F(X) "," F(X) "," F("8") "," F("8"), F(X))

/* Two layers whose records have no names of nodes: each group ends at its recorded output. */
static void unnamed_layers_keep_to_their_nodes(void **state)
{
    (void)state;
    static const char norm[] = "sum%d mean%d sub%d pow%d var%d eps%d sqrt%d div%d scale%d shift%d";
    struct joined x = {0};
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[1,4,8]");
    oc_b_init(b, "w", "float[8,8]");
    oc_b_init(b, "g", "float[8]");
    oc_b_init(b, "two", "float[]{2}");
    oc_b_init(b, "tiny", "float[]{0.001}");
    add_layer(b, 1, "x");
    add_layer(b, 2, "shift1_out");
    oc_b_output(b, "shift2_out", NULL);
    join(&x, b, NULL,
         "[" RUN ATTENTION(10, "Attention", 40) NORMALIZATION(30, "SkipLayerNormalization", 41)
             ATTENTION(50, "Attention_token_3", 42)
                 NORMALIZATION(70, "SkipLayerNormalization_token_1", 43) "]");
    assert_nodes(&x, "Attention", "q1 k1 v1 t1 qk1 soft1 o1");
    assert_nodes(&x, "Attention_token_3", "q2 k2 v2 t2 qk2 soft2 o2");
    for (int layer = 1; layer <= 2; layer++) {
        char want[128];
        snprintf(want, sizeof(want), norm, layer, layer, layer, layer, layer, layer, layer, layer, layer,
                 layer);
        assert_nodes(&x, layer == 1 ? "SkipLayerNormalization" : "SkipLayerNormalization_token_1", want);
    }
    joined_free(&x);
}

/* Between blocked layouts tensors have no names: Gelu is found from its input. */
static void gelu_in_another_layout_matches_through_the_optimized_model(void **state)
{
    (void)state;
    struct joined x = {0};
    struct oc_builder *b = oc_b_new(17), *o = oc_b_new(17);
    oc_b_input(b, "x", "float[1,8,8,8]");
    oc_b_init(b, "w", "float[8,8,1,1]");
    oc_b_init(b, "k", "float[]{0.5}");
    oc_b_node(b, "Conv", "c1", "x,w", "a", "");
    oc_b_node(b, "Identity", "same", "a", "i", "");
    oc_b_node(b, "Div", "div", "i,k", "d", "");
    oc_b_node(b, "Erf", "erf", "d", "e", "");
    oc_b_node(b, "Add", "one", "e,k", "s", "");
    oc_b_node(b, "Mul", "m1", "i,s", "m", "");
    oc_b_node(b, "Mul", "m2", "m,k", "g", "");
    oc_b_node(b, "Conv", "c2", "g,w", "y", "");
    oc_b_output(b, "y", NULL);
    oc_b_input(o, "x", "float[1,8,8,8]");
    oc_b_init(o, "w", "float[8,8,1,1]");
    oc_b_node(o, "com.microsoft.nchwc::Conv", "a_nchwc", "x,w", "reorder", "");
    oc_b_node(o, "com.microsoft::Gelu", "Gelu", "reorder", "reorder_token_1", "");
    oc_b_node(o, "com.microsoft.nchwc::Conv", "y_nchwc", "reorder_token_1,w", "reorder_token_2", "");
    oc_b_node(o, "com.microsoft.nchwc::ReorderOutput", "ReorderOutput", "reorder_token_2", "y", "");
    oc_b_output(o, "y", NULL);
    join(&x, b, o,
         "[" RUN EVENT(10, "a_nchwc", "Conv", 20, F("1,8,8,8") "," F("8,8,1,1"), F("1,8,8,8"))
             EVENT(30, "Gelu", "Gelu", 21, F("1,8,8,8"), F("1,8,8,8"))
                 EVENT(50, "y_nchwc", "Conv", 22, F("1,8,8,8") "," F("8,8,1,1"), F("1,8,8,8"))
                     EVENT(70, "ReorderOutput", "ReorderOutput", 23, F("1,8,8,8"), F("1,8,8,8")) "]");
    assert_nodes(&x, "Gelu", "div erf one m1 m2");
    assert_nodes(&x, "y_nchwc", "c2");
    joined_free(&x);
}

/* What a record of a computing type stands for is not known: it is not a conversion that was inserted. */
static void computing_record_is_not_inserted(void **state)
{
    (void)state;
    struct joined x = {.unmatched = 1};
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[64]");
    oc_b_node(b, "Relu", "relu", "x", "y", "");
    oc_b_output(b, "y", NULL);
    join(&x, b, NULL,
         "[" RUN EVENT(10, "relu", "Relu", 0, F("64"), F("64"))
             EVENT(30, "Gelu_token_1", "Gelu", 1, F("64"), F("64"))
                 EVENT(50, "Transpose_token_2", "Transpose", 2, F("64"), F("64")) "]");
    assert_string_equal(find_record(&x, "Gelu_token_1")->bucket, "unmatched");
    assert_string_equal(find_record(&x, "Transpose_token_2")->bucket, "layout");
    joined_free(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(normalization_as_convolution_matches_by_name),
        cmocka_unit_test(normalization_as_convolution_matches_through_the_optimized_model),
        cmocka_unit_test(inlined_function_matches_its_node),
        cmocka_unit_test(inlined_function_matches_through_the_optimized_model),
        cmocka_unit_test(quantized_layout_matches_through_the_optimized_model),
        cmocka_unit_test(results_of_unnamed_nodes_in_another_layout_end_a_group),
        cmocka_unit_test(duplicated_dequantizer_is_inserted),
        cmocka_unit_test(sum_with_zero_is_removed),
        cmocka_unit_test(activation_after_identity_is_fused),
        cmocka_unit_test(transpose_belongs_to_the_product_that_reads_it),
        cmocka_unit_test(unnamed_layers_keep_to_their_nodes),
        cmocka_unit_test(gelu_in_another_layout_matches_through_the_optimized_model),
        cmocka_unit_test(computing_record_is_not_inserted),
    };
    return cmocka_run_group_tests_name("join/ort_forms", tests, NULL, NULL);
}
