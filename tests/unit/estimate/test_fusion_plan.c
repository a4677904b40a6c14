/* Fusion plans of small graphs. Each expectation is what ONNX Runtime 1.30 (CPU, all optimizations) made of
 * such a graph in saved models. */
#include "estimate/fusion_plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "support/build.h"
#include "onnxcost.h"

static struct oc_buf text;

static void append_kernel(const struct oc_model *m, const struct oc_kernel_use *u)
{
    oc_buf_str(&text, text.n ? " | " : "");
    if (!u->n_node)
        oc_buf_printf(&text, "reorder %llu", (unsigned long long)u->kernel.work.bytes);
    for (uint32_t i = 0; i < u->n_node; i++)
        oc_buf_printf(&text, "%s%s", i ? "+" : "", m->node[u->node[i]].name);
}

/* "conv+bn+relu | pool | reorder 1234" */
struct seen {
    const struct oc_kernel_list *plan;
    size_t at; /* the next kernel of the plan */
};

/* Each group is the next kernel of several nodes; a function has one group for all its kernels. */
static void expect_group(void *ctx, const uint32_t *node, uint32_t n_node, const char *rule)
{
    struct seen *s = ctx;
    const struct oc_kernel_use *k = s->plan->item;
    while (s->at < s->plan->n && k[s->at].n_node < 2)
        s->at++;
    assert_true(s->at < s->plan->n && k[s->at].n_node == n_node);
    assert_memory_equal(k[s->at].node, node, n_node * sizeof(*node));
    assert_string_equal(k[s->at].rule ? k[s->at].rule : "", rule ? rule : "");
    const char *own = k[s->at++].rule;
    while (own && !strcmp(own, "function") && s->at < s->plan->n && k[s->at].n_node == n_node &&
           !memcmp(k[s->at].node, node, n_node * sizeof(*node)))
        s->at++;
}

static void expect_groups(const struct oc_model *m, const struct oc_analysis *a, enum oc_fusion_rules rules,
                          const struct oc_kernel_list *plan)
{
    struct oc_arena arena = {0};
    struct seen s = {.plan = plan};
    oc_fusion_groups(m, a, rules, &arena, expect_group, &s);
    for (; s.at < plan->n; s.at++)
        assert_true(plan->item[s.at].n_node < 2);
    oc_arena_free(&arena);
}

static const char *plan_of(struct oc_builder *b, enum oc_fusion_rules rules)
{
    struct oc_model *m;
    struct oc_analysis *a;
    struct oc_arena arena = {0};
    struct oc_kernel_list list;
    struct oc_err e;
    size_t n;
    uint8_t *bytes = oc_b_pack(b, &n);
    oc_b_free(b);
    const struct oc_analyze_opts opts = {0};
    if (oc_model_load_mem(bytes, n, NULL, &m, &e) || oc_analyze(m, &opts, &a, &e))
        fail_msg("%s", e.msg);
    oc_buf_clear(&text);
    oc_fusion_plan(m, a, rules, &arena, &list);
    for (size_t i = 0; i < list.n; i++)
        append_kernel(m, &list.item[i]);
    expect_groups(m, a, rules, &list);
    oc_arena_free(&arena);
    oc_analysis_free(a);
    oc_model_free(m);
    free(bytes);
    return text.n ? text.data : "";
}

static void norm(struct oc_builder *b, const char *name, const char *in, const char *out, const char *size)
{
    char init[32], inputs[64];
    for (const char *const *v = (const char *const[]){"s", "t", "m", "v", NULL}; *v; v++) {
        snprintf(init, sizeof(init), "%s_%s", name, *v);
        oc_b_init(b, init, size);
    }
    snprintf(inputs, sizeof(inputs), "%s,%s_s,%s_t,%s_m,%s_v", in, name, name, name, name);
    oc_b_node(b, "BatchNormalization", name, inputs, out, "");
}

/* Bottleneck of a ResNet: normalizations are fused into convolutions, the residual and its Relu into the last
 * one. */
static struct oc_builder *bottleneck(void)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[1,64,8,8]");
    oc_b_init(b, "w1", "float[16,64,1,1]");
    oc_b_init(b, "w2", "float[64,16,3,3]");
    oc_b_node(b, "Conv", "conv1", "x,w1", "a", "");
    norm(b, "bn1", "a", "b", "float[16]");
    oc_b_node(b, "Relu", "relu1", "b", "c", "");
    oc_b_node(b, "Conv", "conv2", "c,w2", "d", "pads=1,1,1,1");
    norm(b, "bn2", "d", "e", "float[64]");
    oc_b_node(b, "Relu", "relu0", "x", "r", "");
    oc_b_node(b, "Conv", "conv0", "r,w3", "f", "");
    oc_b_init(b, "w3", "float[64,64,1,1]");
    oc_b_node(b, "Add", "add", "e,f", "g", "");
    oc_b_node(b, "Relu", "relu2", "g", "y", "");
    oc_b_output(b, "y", NULL);
    return b;
}

/* x to blocks, the result of relu0 to blocks, y back: 2 * 4 * 64 * 64 = 32768 bytes each */
static void fuses_residual_blocks(void **state)
{
    (void)state;
    assert_string_equal(plan_of(bottleneck(), OC_FUSE_ORT_CPU),
                        "conv1+bn1+relu1 | conv2+bn2+add+relu2 | relu0 | conv0 | reorder 32768 | reorder "
                        "32768 | reorder 32768");
    assert_string_equal(plan_of(bottleneck(), OC_FUSE_NONE),
                        "conv1 | bn1 | relu1 | conv2 | bn2 | relu0 | conv0 | add | relu2");
}

/* 6 channels are not a multiple of 4: plain convolutions with their activation; the bounds of the clip are
 * constants. */
static void odd_channel_counts_are_not_blocked(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[1,18,8,8]");
    oc_b_init(b, "w", "float[6,18,3,3]");
    oc_b_init(b, "low", "float[]{0}");
    oc_b_init(b, "high", "float[]{6}");
    oc_b_node(b, "Conv", "conv", "x,w", "a", "");
    oc_b_node(b, "Clip", "clip", "a,low,high", "y", "");
    oc_b_output(b, "y", NULL);
    assert_string_equal(plan_of(b, OC_FUSE_ORT_CPU), "conv+clip");
}

/* 32 channels in and out: 2 groups of 16 are whole blocks, 8 groups of 4 are not. */
static void groups_of_whole_blocks_are_blocked(void **state)
{
    (void)state;
    for (int groups = 2; groups <= 8; groups += 6) {
        char weight[32], attributes[32];
        struct oc_builder *b = oc_b_new(17);
        snprintf(weight, sizeof(weight), "float[32,%d,3,3]", 32 / groups);
        snprintf(attributes, sizeof(attributes), "group=%d", groups);
        oc_b_input(b, "x", "float[1,32,8,8]");
        oc_b_init(b, "w", weight);
        oc_b_node(b, "Conv", "conv", "x,w", "y", attributes);
        oc_b_output(b, "y", NULL);
        assert_string_equal(plan_of(b, OC_FUSE_ORT_CPU),
                            groups == 2 ? "conv | reorder 16384 | reorder 9216" : "conv");
    }
}

/* x * sigmoid(x) between two convolutions is one kernel that keeps the blocks: 2 * 4096 bytes are reordered
 * at each end. ONNX Runtime 1.30: three networks with 189 of these have at most 12 reorders each. */
static void silu_keeps_the_blocked_layout(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[1,16,8,8]");
    oc_b_init(b, "w", "float[16,16,1,1]");
    oc_b_node(b, "Conv", "conv1", "x,w", "a", "");
    oc_b_node(b, "Sigmoid", "sigmoid", "a", "s", "");
    oc_b_node(b, "Mul", "mul", "a,s", "c", "");
    oc_b_node(b, "Conv", "conv2", "c,w", "y", "");
    oc_b_output(b, "y", NULL);
    assert_string_equal(plan_of(b, OC_FUSE_ORT_CPU),
                        "conv1 | sigmoid+mul | conv2 | reorder 8192 | reorder 8192");
}

/* The padding is an attribute before operator set 11, an input since then. */
static void zero_padding_is_part_of_the_convolution(void **state)
{
    static const struct {
        int opset;
        const char *inputs, *attributes, *plan;
    } c[] = {{9, "x", "mode='constant' pads=[0,0,1,1,0,0,1,1] value=0.0", "pad+conv"},
             {9, "x", "pads=[0,0,1,1,0,0,1,1]", "pad+conv"},
             {9, "x", "pads=[0,0,1,1,0,0,1,1] value=1.0", "pad | conv"},
             {9, "x", "mode='edge' pads=[0,0,1,1,0,0,1,1]", "pad | conv"},
             {17, "x,p", "", "pad+conv"},
             {17, "x,p", "mode='reflect'", "pad | conv"}};
    (void)state;
    for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
        struct oc_builder *b = oc_b_new(c[i].opset);
        oc_b_input(b, "x", "float[1,18,8,8]");
        oc_b_init(b, "w", "float[6,18,3,3]");
        oc_b_init(b, "p", "int64[8]{0,0,1,1,0,0,1,1}");
        oc_b_node(b, "Pad", "pad", c[i].inputs, "a", c[i].attributes);
        oc_b_node(b, "Conv", "conv", "a,w", "y", "");
        oc_b_output(b, "y", NULL);
        assert_string_equal(plan_of(b, OC_FUSE_ORT_CPU), c[i].plan);
    }
}

/* A result with two readers is not fused; the two equal Relus are merged. */
static void results_with_two_readers_are_not_fused(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[4,32]");
    oc_b_init(b, "w", "float[32,32]");
    oc_b_init(b, "c", "float[32]");
    oc_b_node(b, "Gemm", "gemm", "x,w,c", "a", "");
    oc_b_node(b, "Relu", "relu1", "a", "b", "");
    oc_b_node(b, "Relu", "relu2", "a", "d", "");
    oc_b_node(b, "Softmax", "soft", "b", "y", "");
    oc_b_node(b, "Tanh", "tanh", "d", "z", "");
    oc_b_output(b, "y", NULL);
    oc_b_output(b, "z", NULL);
    assert_string_equal(plan_of(b, OC_FUSE_ORT_CPU), "gemm+relu1 | soft | tanh");
}

/* x * (1 + erf(x / sqrt 2)) / 2. The bias before it is taken by the product, which is a Gemm between two
 * Reshapes because all sizes are declared. */
static void fuses_gelu_with_bias(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[2,5,32]");
    oc_b_init(b, "w", "float[32,32]");
    oc_b_init(b, "bias", "float[32]");
    oc_b_init(b, "root", "float[]{1.4142135}");
    oc_b_init(b, "one", "float[]{1}");
    oc_b_init(b, "half", "float[]{0.5}");
    oc_b_node(b, "MatMul", "mm", "x,w", "a", "");
    oc_b_node(b, "Add", "add", "bias,a", "b", "");
    oc_b_node(b, "Div", "div", "b,root", "c", "");
    oc_b_node(b, "Erf", "erf", "c", "d", "");
    oc_b_node(b, "Add", "plus", "d,one", "e", "");
    oc_b_node(b, "Mul", "mul", "b,e", "f", "");
    oc_b_node(b, "Mul", "mul2", "f,half", "y", "");
    oc_b_output(b, "y", NULL);
    assert_string_equal(plan_of(b, OC_FUSE_ORT_CPU),
                        "mm+add | div+erf+plus+mul+mul2 | reorder 0 | reorder 0");
}

static void fuses_decomposed_layer_norm(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(13);
    oc_b_input(b, "x", "float[2,5,32]");
    oc_b_init(b, "two", "float[]{2}");
    oc_b_init(b, "eps", "float[]{0.00001}");
    oc_b_init(b, "scale", "float[32]");
    oc_b_init(b, "bias", "float[32]");
    oc_b_node(b, "ReduceMean", "mean", "x", "a", "axes=[-1]");
    oc_b_node(b, "Sub", "sub", "x,a", "b", "");
    oc_b_node(b, "Pow", "pow", "b,two", "c", "");
    oc_b_node(b, "ReduceMean", "var", "c", "d", "axes=[-1]");
    oc_b_node(b, "Add", "plus", "d,eps", "e", "");
    oc_b_node(b, "Sqrt", "sqrt", "e", "f", "");
    oc_b_node(b, "Div", "div", "b,f", "g", "");
    oc_b_node(b, "Mul", "mul", "g,scale", "h", "");
    oc_b_node(b, "Add", "add", "h,bias", "y", "");
    oc_b_output(b, "y", NULL);
    assert_string_equal(plan_of(b, OC_FUSE_ORT_CPU), "mean+sub+pow+var+plus+sqrt+div+mul+add");
}

/* Attention scores: scaled, with transposed keys. The shape is built from the input's symbolic sizes: a
 * constant with zeros is equivalent. */
static void fuses_attention_scores(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(13);
    oc_b_input(b, "q", "float[batch,12,seq,16]");
    oc_b_input(b, "k", "float[batch,12,seq,16]");
    oc_b_init(b, "root", "float[]{4}");
    oc_b_node(b, "Transpose", "turn", "k", "a", "perm=0,1,3,2");
    oc_b_node(b, "MatMul", "mm", "q,a", "s", "");
    oc_b_node(b, "Div", "div", "s,root", "d", "");
    oc_b_node(b, "Softmax", "soft", "d", "p", "axis=-1");
    oc_b_init(b, "zero", "int64[]{0}");
    oc_b_init(b, "axes", "int64[1]{0}");
    oc_b_init(b, "rest", "int64[1]{-1}");
    oc_b_node(b, "Shape", "shape", "p", "n", "");
    oc_b_node(b, "Gather", "pick", "n,zero", "n0", "axis=0");
    oc_b_node(b, "Unsqueeze", "wrap", "n0,axes", "n1", "");
    oc_b_node(b, "Concat", "join", "n1,rest", "to", "axis=0");
    oc_b_node(b, "Reshape", "flat", "p,to", "y", "");
    oc_b_output(b, "y", NULL);
    assert_string_equal(plan_of(b, OC_FUSE_ORT_CPU), "turn+mm+div | soft | flat");
}

static void nodes_without_effect_have_no_kernel(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[4,32]");
    oc_b_init(b, "w", "float[32,32]");
    oc_b_init(b, "v", "float[32,32]");
    oc_b_node(b, "Identity", "same", "w", "w2", "");
    oc_b_node(b, "Add", "sum", "w2,v", "w3", "");
    oc_b_node(b, "MatMul", "mm", "x,w3", "a", "");
    oc_b_node(b, "Identity", "pass", "a", "b", "");
    oc_b_node(b, "Relu", "unread", "b", "c", "");
    oc_b_node(b, "Tanh", "tanh", "b", "y", "");
    oc_b_output(b, "y", NULL);
    assert_string_equal(plan_of(b, OC_FUSE_ORT_CPU), "mm | tanh");
}

/* Nodes that compute the same are one kernel; every kind of attribute distinguishes them. */
static void equal_nodes_are_one_kernel(void **state)
{
    (void)state;
    static const struct {
        const char *type, *a, *b;
    } pair[] = {{"LeakyRelu", "alpha=0.25", "alpha=0.5"},
                {"Softmax", "axis=1", "axis=2"},
                {"Transpose", "perm=0,2,1", "perm=1,0,2"},
                {"Gelu", "approximate=none", "approximate=tanh"}};
    for (size_t i = 0; i < OC_COUNT(pair); i++) {
        for (int same = 0; same < 2; same++) {
            struct oc_builder *b = oc_b_new(20);
            oc_b_input(b, "x", "float[4,4,4]");
            oc_b_node(b, pair[i].type, "one", "x", "p", pair[i].a);
            oc_b_node(b, pair[i].type, "two", "x", "q", same ? pair[i].a : pair[i].b);
            oc_b_node(b, "Concat", "cat", "p,q", "y", "axis=0");
            oc_b_output(b, "y", NULL);
            assert_string_equal(plan_of(b, OC_FUSE_ORT_CPU), same ? "one | cat" : "one | two | cat");
        }
    }
}

/* Constants are compared by their elements, in whatever form the file has them. */
static void equal_constants_are_one_input(void **state)
{
    (void)state;
    for (int same = 0; same < 2; same++) {
        struct oc_builder *b = oc_b_new(20);
        oc_b_input(b, "x", "float[4,4,4]");
        oc_b_init_sparse(b, "p", "float[1]{5}", "int64[1]{3}", "4");
        oc_b_init_sparse(b, "q", same ? "float[1]{5}" : "float[1]{6}", "int64[1]{3}", "4");
        oc_b_node(b, "Pow", "one", "x,p", "u", "");
        oc_b_node(b, "Pow", "two", "x,q", "v", "");
        oc_b_node(b, "Concat", "cat", "u,v", "y", "axis=0");
        oc_b_output(b, "y", NULL);
        assert_string_equal(plan_of(b, OC_FUSE_ORT_CPU), same ? "one | cat" : "one | two | cat");
    }
}

/* Any optimizing runtime: residual and activation fused after the convolution, element-wise operators in one
 * kernel. */
static void generic_rules_fuse_element_wise_operators(void **state)
{
    (void)state;
    assert_string_equal(plan_of(bottleneck(), OC_FUSE_GENERIC),
                        "conv1+bn1+relu1 | conv2+bn2+add+relu2 | relu0 | conv0");
    assert_int_equal(oc_fusion_rules_by_name("generic"), OC_FUSE_GENERIC);
    assert_int_equal(oc_fusion_rules_by_name("tensorrt"), OC_FUSE_COUNT);
    assert_string_equal(oc_fusion_rules_name(OC_FUSE_ORT_CPU), "onnxruntime");
}

static void quantize(struct oc_builder *b, const char *type, const char *name, const char *in,
                     const char *out)
{
    char inputs[64];
    snprintf(inputs, sizeof(inputs), "%s,scale,zero", in);
    oc_b_node(b, type, name, inputs, out, "");
}

/* In QDQ form: a convolution with its Relu and a residual Add, both reading q1 through one DequantizeLinear,
 * which is copied; a pool on integers; a product without QuantizeLinear after it. Integer kernels with
 * channels last: x enters, the pool's result leaves: 2 * 64 * 8 * 8 and 2 * 64 * 4 * 4 bytes. */
static void quantized_operators_are_integer_kernels(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[1,64,8,8]");
    oc_b_init(b, "w", "uint8[64,64,3,3]");
    oc_b_init(b, "u", "uint8[4,10]");
    oc_b_init(b, "scale", "float[]{0.1}");
    oc_b_node(b, "Constant", NULL, "", "zero", "value=uint8[]{0}");
    quantize(b, "QuantizeLinear", "q1", "x", "a");
    quantize(b, "DequantizeLinear", "d1", "a", "b");
    quantize(b, "DequantizeLinear", "dw", "w", "wf");
    oc_b_node(b, "Conv", "conv", "b,wf", "c", "pads=1,1,1,1");
    oc_b_node(b, "Relu", "relu", "c", "d", "");
    quantize(b, "QuantizeLinear", "q2", "d", "e");
    quantize(b, "DequantizeLinear", "d2", "e", "f");
    oc_b_node(b, "Add", "add", "f,b", "g", "");
    quantize(b, "QuantizeLinear", "q3", "g", "h");
    quantize(b, "DequantizeLinear", "d3", "h", "i");
    oc_b_node(b, "MaxPool", "pool", "i", "j", "kernel_shape=2,2 strides=2,2");
    quantize(b, "QuantizeLinear", "q4", "j", "k");
    quantize(b, "DequantizeLinear", "d4", "k", "l");
    quantize(b, "DequantizeLinear", "du", "u", "uf");
    oc_b_node(b, "MatMul", "matmul", "l,uf", "y", "");
    oc_b_output(b, "y", NULL);
    assert_string_equal(plan_of(b, OC_FUSE_ORT_CPU), "q1 | d1+dw+conv+relu+q2 | d1+d2+add+q3 | d3+pool+q4 | "
                                                     "d4+du+matmul | reorder 8192 | reorder 2048");
}

/* A float operator keeps its DequantizeLinear, each its own copy (64 + 256 bytes, scale and zero
 * point 5); so does an Add with a bias
 * of 32 bits. */
static void float_operators_keep_their_dequantizers(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "a", "int8[1,64]");
    oc_b_input(b, "t", "int32[64]");
    oc_b_init(b, "scale", "float[]{0.1}");
    oc_b_init(b, "zero", "int8[]{0}");
    quantize(b, "DequantizeLinear", "d1", "a", "b");
    oc_b_node(b, "Erf", "erf", "b", "c", "");
    quantize(b, "QuantizeLinear", "q1", "c", "y");
    oc_b_node(b, "DequantizeLinear", "d2", "t,scale", "u", "");
    oc_b_node(b, "Add", "add", "b,u", "v", "");
    quantize(b, "QuantizeLinear", "q2", "v", "z");
    oc_b_output(b, "y", NULL);
    oc_b_output(b, "z", NULL);
    assert_string_equal(plan_of(b, OC_FUSE_ORT_CPU), "d1 | erf | q1 | d2 | add | q2 | reorder 325");
}

/* A Transpose goes after the product, toward the other one: 2 x 1024 floats. */
static void a_transpose_moves_toward_another(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[1,8,8,16]");
    oc_b_input(b, "y", "float[1,16,8,8]");
    oc_b_init(b, "c", "float[16,1,1]");
    oc_b_node(b, "Exp", "exp", "x", "a", "");
    oc_b_node(b, "Transpose", "t1", "a", "b", "perm=0,3,1,2");
    oc_b_node(b, "Mul", "mul", "b,c", "d", "");
    oc_b_node(b, "Add", "add", "d,y", "e", "");
    oc_b_node(b, "Transpose", "t2", "e", "f", "perm=0,2,3,1");
    oc_b_node(b, "Softmax", "softmax", "f", "z", "");
    oc_b_output(b, "z", NULL);
    assert_string_equal(plan_of(b, OC_FUSE_ORT_BASIC), "exp | mul | add | t2 | softmax | reorder 8192");
}

/* A Transpose goes after a Reshape that only splits sizes (8192 bytes), not after one that joins them. */
static void a_transpose_moves_after_split_sizes(void **state)
{
    (void)state;
    for (int joins = 0; joins < 2; joins++) {
        struct oc_builder *b = oc_b_new(17);
        oc_b_input(b, "x", "float[4,16,16]");
        oc_b_init(b, "to", joins ? "int64[2]{16,64}" : "int64[4]{4,4,4,16}");
        oc_b_node(b, "Exp", "exp", "x", "a", "");
        oc_b_node(b, "Transpose", "turn", "a", "b", "perm=1,0,2");
        oc_b_node(b, "Reshape", "view", "b,to", "c", "");
        oc_b_node(b, "Softmax", "softmax", "c", "y", "");
        oc_b_output(b, "y", NULL);
        assert_string_equal(plan_of(b, OC_FUSE_ORT_BASIC),
                            joins ? "exp | turn | view | softmax" : "exp | view | softmax | reorder 8192");
    }
}

/* Views around a Gemm: its input has one dimension, or three whose sizes only the graph's declarations give. */
static void products_of_vectors_and_rows_become_gemms(void **state)
{
    (void)state;
    for (int rows = 0; rows < 2; rows++) {
        struct oc_builder *b = oc_b_new(17);
        oc_b_input(b, "x", rows ? "float[n,1,54]" : "float[54]");
        oc_b_init(b, "w", "float[54,32]{*0.5}");
        oc_b_init(b, "bias", "float[32]{*0.5}");
        oc_b_init(b, "to", "int64[3]{1,1,54}");
        oc_b_node(b, rows ? "Reshape" : "Exp", "first", rows ? "x,to" : "x", "a", "");
        oc_b_node(b, "Exp", "exp", "a", "b", "");
        oc_b_node(b, "MatMul", "product", "b,w", "c", "");
        oc_b_node(b, "Add", "sum", "bias,c", "d", "");
        oc_b_node(b, "Elu", "elu", "d", "y", "");
        oc_b_output(b, "y", NULL);
        if (rows)
            oc_b_value(b, "b", "float[1,1,54]");
        assert_string_equal(plan_of(b, OC_FUSE_ORT_CPU),
                            "first | exp | product+sum | elu | reorder 0 | reorder 0");
    }
}

/* Stacked recurrent layers of Keras: the runtime reorders the sizes that Shape reads. */
static void transposes_cancel_although_their_sizes_are_read(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[n,16,8]");
    oc_b_node(b, "Exp", "exp", "x", "a", "");
    oc_b_node(b, "Transpose", "there", "a", "b", "perm=1,0,2");
    oc_b_node(b, "Shape", "shape", "b", "s", "");
    oc_b_node(b, "Transpose", "back", "b", "c", "perm=1,0,2");
    oc_b_node(b, "Softmax", "softmax", "c", "y", "");
    oc_b_output(b, "y", NULL);
    oc_b_output(b, "s", NULL);
    assert_string_equal(plan_of(b, OC_FUSE_ORT_CPU), "exp | shape | softmax");
}

/* A recording names the moved Transpose with the operator that reads its input. */
static void a_moved_node_is_ignored_in_recorded_kernels(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    struct oc_model *m;
    struct oc_analysis *a;
    struct oc_arena arena = {0};
    struct oc_kernel_list plan;
    struct oc_fusion_match match;
    struct oc_err e;
    size_t n;
    oc_b_input(b, "x", "float[2,4,3,16]");
    oc_b_init(b, "zero", "int64[]{0}");
    oc_b_node(b, "Transpose", "turn", "x", "a", "perm=2,0,3,1");
    oc_b_node(b, "Gather", "take", "a,zero", "y", "");
    oc_b_output(b, "y", NULL);
    uint8_t *bytes = oc_b_pack(b, &n);
    oc_b_free(b);
    if (oc_model_load_mem(bytes, n, NULL, &m, &e) || oc_analyze(m, &(struct oc_analyze_opts){0}, &a, &e))
        fail_msg("%s", e.msg);
    oc_fusion_plan(m, a, OC_FUSE_ORT_BASIC, &arena, &plan);
    uint32_t node[] = {0, 1};
    struct oc_kernel_use use = {.node = node, .n_node = 2};
    struct oc_kernel_list recorded = {.item = &use, .n = 1};
    oc_fusion_compare(m, a, &plan, &recorded, &(double){1}, &match);
    assert_int_equal(match.equal, 1);
    /* a planned kernel that was recorded twice is one of them */
    struct oc_kernel_use twice[] = {use, use};
    recorded = (struct oc_kernel_list){.item = twice, .n = 2};
    oc_fusion_compare(m, a, &plan, &recorded, (double[]){3, 1}, &match);
    assert_int_equal(match.recorded, 2);
    assert_int_equal(match.equal, 1);
    assert_true(match.equal_time == 0.75 || match.equal_time == 0.25);
    oc_arena_free(&arena);
    oc_analysis_free(a);
    oc_model_free(m);
    free(bytes);
}

/* Dynamic quantization of a product, as onnxruntime.quantization writes it. */
static void dynamic_quantization_is_one_kernel(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[2,64]");
    oc_b_init(b, "w", "int8[64,32]");
    oc_b_init(b, "ws", "float[]{0.1}");
    oc_b_init(b, "wz", "int8[]{0}");
    oc_b_init(b, "bias", "float[32]");
    oc_b_node(b, "DynamicQuantizeLinear", "quant", "x", "a,as,az", "");
    oc_b_node(b, "Mul", "scales", "as,ws", "s", "");
    oc_b_node(b, "MatMulInteger", "matmul", "a,w,az,wz", "c", "");
    oc_b_node(b, "Cast", "cast", "c", "d", "to=1");
    oc_b_node(b, "Mul", "scaled", "d,s", "e", "");
    oc_b_node(b, "Add", "add", "e,bias", "y", "");
    oc_b_output(b, "y", NULL);
    assert_string_equal(plan_of(b, OC_FUSE_ORT_CPU), "quant+scales+matmul+cast+scaled+add");
}

/* The same bottleneck at the lower optimization levels: scales folded, then activations fused; no blocked
 * layout. */
static void optimization_levels_fuse_more(void **state)
{
    (void)state;
    assert_string_equal(plan_of(bottleneck(), OC_FUSE_ORT_BASIC),
                        "conv1+bn1 | relu1 | conv2+bn2 | relu0 | conv0 | add | relu2");
    assert_string_equal(plan_of(bottleneck(), OC_FUSE_ORT_EXTENDED),
                        "conv1+bn1+relu1 | conv2+bn2 | relu0 | conv0 | add | relu2");
    assert_int_equal(oc_fusion_rules_by_name("onnxruntime-basic"), OC_FUSE_ORT_BASIC);
}

/* Initializers that are inputs of the model too: scales cannot be folded, weights cannot be reordered. */
static void replaceable_weights_are_not_folded(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[1,64,8,8]");
    oc_b_input(b, "w", "float[64,64,3,3]");
    oc_b_init(b, "w", "float[64,64,3,3]");
    oc_b_node(b, "Conv", "conv", "x,w", "a", "");
    norm(b, "bn", "a", "b", "float[64]");
    oc_b_node(b, "Relu", "relu", "b", "y", "");
    oc_b_output(b, "y", NULL);
    assert_string_equal(plan_of(b, OC_FUSE_ORT_CPU), "conv | bn | relu");
    assert_string_equal(plan_of(bottleneck(), OC_FUSE_ORT_BASIC),
                        "conv1+bn1 | relu1 | conv2+bn2 | relu0 | conv0 | add | relu2");
}

/* Activations that FusedGemm and the convolutions of this runtime have. */
static void products_take_more_activations(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[2,64]");
    oc_b_init(b, "w", "float[64,32]");
    oc_b_node(b, "Gemm", "gemm", "x,w", "a", "");
    oc_b_node(b, "Elu", "elu", "a", "y", "");
    oc_b_output(b, "y", NULL);
    assert_string_equal(plan_of(b, OC_FUSE_ORT_CPU), "gemm+elu");
}

static int drop_text(void **state)
{
    (void)state;
    oc_buf_free(&text);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_transpose_moves_toward_another),
        cmocka_unit_test(a_transpose_moves_after_split_sizes),
        cmocka_unit_test(products_of_vectors_and_rows_become_gemms),
        cmocka_unit_test(transposes_cancel_although_their_sizes_are_read),
        cmocka_unit_test(a_moved_node_is_ignored_in_recorded_kernels),
        cmocka_unit_test(zero_padding_is_part_of_the_convolution),
        cmocka_unit_test(silu_keeps_the_blocked_layout),
        cmocka_unit_test(fuses_residual_blocks),
        cmocka_unit_test(odd_channel_counts_are_not_blocked),
        cmocka_unit_test(groups_of_whole_blocks_are_blocked),
        cmocka_unit_test(results_with_two_readers_are_not_fused),
        cmocka_unit_test(fuses_gelu_with_bias),
        cmocka_unit_test(fuses_decomposed_layer_norm),
        cmocka_unit_test(fuses_attention_scores),
        cmocka_unit_test(nodes_without_effect_have_no_kernel),
        cmocka_unit_test(equal_nodes_are_one_kernel),
        cmocka_unit_test(equal_constants_are_one_input),
        cmocka_unit_test(generic_rules_fuse_element_wise_operators),
        cmocka_unit_test(quantized_operators_are_integer_kernels),
        cmocka_unit_test(float_operators_keep_their_dequantizers),
        cmocka_unit_test(dynamic_quantization_is_one_kernel),
        cmocka_unit_test(products_take_more_activations),
        cmocka_unit_test(optimization_levels_fuse_more),
        cmocka_unit_test(replaceable_weights_are_not_folded),
    };
    return cmocka_run_group_tests(tests, NULL, drop_text);
}
