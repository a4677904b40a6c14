/* Runtimes without node names: types of other frameworks, alignment by order, groups, parts. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "join/join.h"
#include "join/expansion.h"
#include "support/build.h"
#include "support/profiles.h"
#include "zoo.h"
#include "onnxcost.h"
#include "onnxcost/profile.h"

/* ---- a model and a profile built from lines ---- */

struct joined {
    uint8_t *bytes;
    struct oc_model *m;
    struct oc_analysis *a;
    struct oc_profile p;
    struct oc_join *j;
};

static void load(struct joined *x, struct oc_builder *b)
{
    size_t n;
    struct oc_err e;
    x->bytes = oc_b_pack(b, &n);
    if (oc_model_load_mem(x->bytes, n, NULL, &x->m, &e) != 0)
        fail_msg("%s", e.msg);
}

static struct oc_prof_rec *add_record(struct joined *x, const char *name, const char *type)
{
    double none = (double)NAN;
    struct oc_profile *p = &x->p;
    p->rec[p->n_rec] = (struct oc_prof_rec){.name = name,
                                            .op_type = type,
                                            .provider = "",
                                            .precision = "",
                                            .index = -1,
                                            .parent = OC_NONE,
                                            .time_ns = 1000,
                                            .self_ns = 1000,
                                            .kernel_ns = none,
                                            .host_ns = none,
                                            .wait_ns = none,
                                            .start_ns = 1000.0 * p->n_rec,
                                            .calls = 1,
                                            .calls_per_run = 1,
                                            .runs = 1,
                                            .total_ns = 1000,
                                            .total_kernel_ns = none,
                                            .flop = none,
                                            .bytes = none};
    return &p->rec[p->n_rec++];
}

static void begin_profile(struct joined *x, const char *format, size_t room)
{
    x->p = (struct oc_profile){.format = format,
                               .producer = "",
                               .device = "",
                               .path = "",
                               .imported_ns = NAN,
                               .imported_kernel_ns = NAN};
    x->p.rec = OC_NEW_ARRAY(&x->p.arena, room, struct oc_prof_rec);
    x->p.exprs = oc_exprs_new(&x->p.arena);
}

static void join(struct joined *x)
{
    struct oc_err e;
    if (oc_analyze(x->m, NULL, &x->a, &e) != 0 || oc_join_make(x->m, x->a, &x->p, NULL, &x->j, &e) != 0)
        fail_msg("%s", e.msg);
}

static void joined_free(struct joined *x)
{
    oc_join_free(x->j);
    oc_analysis_free(x->a);
    oc_exprs_free(x->p.exprs);
    oc_arena_free(&x->p.arena);
    oc_model_free(x->m);
    free(x->bytes);
}

static const struct oc_type *shape(struct joined *x, int n, const int *dim)
{
    struct oc_dim d[8];
    struct oc_type *t = OC_NEW(&x->p.arena, struct oc_type);
    for (int i = 0; i < n; i++)
        d[i] = oc_known(dim[i]);
    *t = oc_tensor_type(OC_DT_FLOAT, oc_shape_of(&x->p.arena, (unsigned)n, d));
    return t;
}

static void assert_nodes(const struct joined *x, uint32_t rec, const char *want, const char *rule,
                         double confidence)
{
    const struct oc_join_rec *r = &x->j->rec[rec];
    char text[500] = "", label[100];
    for (uint32_t i = 0; i < r->n_node; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", i ? " " : "",
                 oc_node_label(x->m, &x->m->node[r->node[i]], label, sizeof(label)));
    assert_string_equal(text, want);
    assert_string_equal(r->rule, rule);
    if (fabs(r->confidence - confidence) > 1e-9)
        fail_msg("%s: confidence %g", want, r->confidence);
}

/* conv1 bn1 relu1 conv2 add2 relu2 pool flat dense soft */
static struct oc_builder *net(void)
{
    struct oc_builder *b = oc_b_new(13);
    oc_b_input(b, "x", "float[1,4,8,8]");
    oc_b_init(b, "w1", "float[4,4,3,3]");
    oc_b_init(b, "w2", "float[4,4,1,1]");
    oc_b_init(b, "s", "float[4]");
    oc_b_init(b, "w", "float[4,5]");
    oc_b_node(b, "Conv", "conv1", "x,w1", "c1", "pads=1,1,1,1");
    oc_b_node(b, "BatchNormalization", "bn1", "c1,s,s,s,s", "b1", "");
    oc_b_node(b, "Relu", "relu1", "b1", "r1", "");
    oc_b_node(b, "Conv", "conv2", "r1,w2", "c2", "");
    oc_b_node(b, "Add", "add2", "c2,r1", "a2", "");
    oc_b_node(b, "Relu", "relu2", "a2", "r2", "");
    oc_b_node(b, "GlobalAveragePool", "pool", "r2", "g", "");
    oc_b_node(b, "Flatten", "flat", "g", "f", "");
    oc_b_node(b, "Gemm", "dense", "f,w", "l", "");
    oc_b_node(b, "Softmax", "soft", "l", "y", "");
    oc_b_output(b, "y", NULL);
    return b;
}

/* ---- types --------------------------------------------------------------------------------------------- */

static void types_of_frameworks_map_to_onnx(void **state)
{
    (void)state;
    static const struct {
        const char *type, *name, *core;
    } row[] = {
        {"conv2d", "conv2d", "Conv"},
        {"", "depthwise_conv2d dygraph", "Conv"},
        {"Conv2D", "Default/network-Net/Conv2D-op12", "Conv"},
        {"", "Default/network-Net/Conv2D-op12", "Conv"},
        {"", "aten::convolution", "Conv"},
        {"", "aten::relu_", "Relu"},
        {"", "aten::addmm", "Gemm"},
        {"MatMul", "MatMul-op3", "MatMul"},
        {"MatMulV3", "aclnnMatmul_MatMulV3Common_MatMulV5", "MatMul"},
        {"SoftmaxV2", "aclnnSoftmax_SoftmaxV2_SoftmaxV2", "Softmax"},
        {"StridedSliceV3", "", "Slice"},
        {"LayerNormV4", "", "LayerNormalization"},
        {"SplitV", "", "Split"},
        {"TransDataV2", "", NULL},
        {"elementwise_add", "elementwise_add", "Add"},
        {"", "tvmgen_default_fused_nn_conv2d_add_nn_relu_3", "Conv"},
        {"", "fused_nn_contrib_conv2d_NCHWc_add", "Conv"},
        {"", "fused_nn_max_pool2d", "MaxPool"},
        {"fused_conv2d_add", "fused_conv2d2_add2", "Conv"},
        {"fused_conv2d_transpose_add", "fused_conv2d_transpose1_add9", "ConvTranspose"},
        {"max_pool2d", "max_pool2d1", "MaxPool"},
        {"", "triton_poi_fused_mul_transpose_view_1", "Mul"}, /* Paddle's mul is a product */
        {"", "triton_per_fused_add_native_layer_norm_6", "LayerNormalization"},
        {"", "triton_poi_fused__native_batch_norm_legit_no_training_convolution_relu_5", "Relu"},
        {"", "triton_poi_fused__native_batch_norm_legit_no_training_add_relu_7", "Add"},
        {"", "triton_poi_fused__native_batch_norm_legit_no_training_0", "BatchNormalization"},
        {"", "triton_poi_fused__native_batch_norm_legit_no_training_max_pool2d_with_indices_relu_3",
         "BatchNormalization"},
        {"", "triton_poi_fused_convolution_relu_3", "Relu"},
        {"", "triton_poi_fused_convolution_0", NULL}, /* its layout */
        {"", "conv2d_grad", NULL},
        {"", "cudaLaunchKernel", NULL},
        {"", "", NULL},
        {"Conv2DFoo", "-op1", NULL},
    };
    struct oc_arena a = {0};
    for (size_t i = 0; i < OC_COUNT(row); i++) {
        struct oc_source_type t;
        bool found = oc_source_type(row[i].type, row[i].name, &a, &t);
        print_message("%s %s\n", row[i].type, row[i].name);
        assert_int_equal(found, row[i].core != NULL);
        if (found)
            assert_true(oc_type_set_has(t.core, row[i].core) && !oc_type_set_has(t.core, "LSTM"));
        bool product = found && (oc_type_set_has(t.core, "MatMul") || oc_type_set_has(t.core, "Conv"));
        assert_false(product && strncmp(row[i].name, "triton", 6) == 0);
    }
    /* after a convolution, multiply and add can be what is left of a normalization */
    struct oc_source_type t;
    assert_true(oc_source_type("", "tvmgen_default_fused_nn_conv2d_multiply_add_nn_relu_3", &a, &t) &&
                t.member);
    assert_true(oc_type_set_has(t.member, "BatchNormalization") && oc_type_set_has(t.member, "Relu"));
    assert_true(oc_source_type("", "tvmgen_default_fused_nn_dense_add_nn_relu_3", &a, &t) && t.member);
    assert_false(oc_type_set_has(t.member, "BatchNormalization"));
    oc_arena_free(&a);
}

/* ---- order --------------------------------------------------------------------------------------------- */

/* Paddle: an extra scale and a fetch without a node; bn1 was folded. Every type has as many records as nodes
 * except batch normalization (none) and relu (2 of 2), so that all have confidence 0.4 + 0.2. */
static void paddle_records_match_by_order(void **state)
{
    (void)state;
    static const char *const op[] = {
        "feed", "conv2d",  "relu", "conv2d", "elementwise_add", "relu", "pool2d", "flatten_contiguous_range",
        "fc",   "softmax", "fetch"};
    struct joined x = {0};
    struct oc_builder *b = net();
    load(&x, b);
    oc_b_free(b);
    begin_profile(&x, "paddle", OC_COUNT(op));
    for (size_t i = 0; i < OC_COUNT(op); i++)
        add_record(&x, op[i], op[i]);
    join(&x);
    assert_nodes(&x, 1, "conv1 bn1", "by order", 0.6); /* extended group: no other record names bn1 */
    assert_nodes(&x, 2, "relu1", "by order", 0.6);
    assert_nodes(&x, 3, "conv2", "by order", 0.6);
    assert_nodes(&x, 4, "add2", "by order", 0.6);
    assert_nodes(&x, 5, "relu2", "by order", 0.6);
    assert_nodes(&x, 6, "pool", "by order", 0.6);
    assert_nodes(&x, 7, "flat", "by order", 0.6);
    assert_nodes(&x, 8, "dense", "by order", 0.6);
    assert_nodes(&x, 9, "soft", "by order", 0.6);
    assert_string_equal(x.j->rec[0].bucket, "unmatched");
    assert_string_equal(x.j->rec[10].bucket, "unmatched");
    joined_free(&x);
}

/* One relu is missing: only the shape decides which. 0.7: the shape supports it, the counts differ. */
static void shapes_resolve_ambiguous_order(void **state)
{
    (void)state;
    static const int big[] = {1, 4, 8, 8}, small[] = {1, 4, 4, 4};
    for (int which = 0; which < 2; which++) {
        struct joined x = {0};
        struct oc_builder *b = oc_b_new(13);
        oc_b_input(b, "x", "float[1,4,8,8]");
        oc_b_node(b, "Relu", "first", "x", "a", "");
        oc_b_node(b, "MaxPool", "pool", "a", "p", "kernel_shape=2,2 strides=2,2");
        oc_b_node(b, "Relu", "second", "p", "y", "");
        oc_b_output(b, "y", NULL);
        load(&x, b);
        oc_b_free(b);
        begin_profile(&x, "pytorch", 1);
        struct oc_prof_rec *r = add_record(&x, "aten::relu", "");
        r->in = shape(&x, 4, which ? small : big);
        r->n_in = 1;
        r->has_in = true;
        join(&x);
        assert_nodes(&x, 0, which ? "second" : "first", "by order", 0.7);
        joined_free(&x);
    }
}

static void tvm_functions_match_groups(void **state)
{
    (void)state;
    static const char *const op[] = {"tvmgen_default_fused_nn_conv2d_multiply_add_nn_relu",
                                     "tvmgen_default_fused_nn_conv2d_add_nn_relu_1",
                                     "tvmgen_default_fused_nn_global_avg_pool2d",
                                     "tvmgen_default_fused_nn_batch_flatten",
                                     "tvmgen_default_fused_nn_dense",
                                     "tvmgen_default_fused_nn_softmax"};
    struct joined x = {0};
    struct oc_builder *b = net();
    load(&x, b);
    oc_b_free(b);
    begin_profile(&x, "generic", OC_COUNT(op));
    for (size_t i = 0; i < OC_COUNT(op); i++)
        add_record(&x, op[i], "");
    join(&x);
    assert_int_equal(x.j->n_unmatched, 0);
    assert_nodes(&x, 1, "conv2 add2 relu2", "by order", 0.6);
    assert_nodes(&x, 4, "dense", "by order", 0.6);
    joined_free(&x);
}

/* ---- products ---- */

/* scores = x wq (6,4) by 4,6; their product with x wv; 96, 96, 144, 144 and 96 multiply-adds. */
static struct oc_builder *attention(void)
{
    struct oc_builder *b = oc_b_new(13);
    oc_b_input(b, "x", "float[6,4]");
    oc_b_init(b, "wq", "float[4,4]");
    oc_b_init(b, "wv", "float[4,4]");
    oc_b_init(b, "k", "float[4,6]");
    oc_b_init(b, "wo", "float[4,4]");
    oc_b_node(b, "MatMul", "q", "x,wq", "q_", "");
    oc_b_node(b, "MatMul", "v", "x,wv", "v_", "");
    oc_b_node(b, "MatMul", "qk", "q_,k", "s", "");
    oc_b_node(b, "MatMul", "pv", "s,v_", "c", "");
    oc_b_node(b, "MatMul", "o", "c,wo", "y", "");
    oc_b_output(b, "y", NULL);
    return b;
}

/* m by k times k by n, in the order of `text`: "6x4x4 6x4x6" */
static void add_products(struct joined *x, const char *text)
{
    int m, k, n, used;
    for (; sscanf(text, "%dx%dx%d%n", &m, &k, &n, &used) == 3; text += used) {
        struct oc_prof_rec *r = add_record(x, "aten::mm", "aten::mm");
        struct oc_type *in = OC_NEW_ARRAY(&x->p.arena, 2, struct oc_type);
        in[0] = *shape(x, 2, (int[]){m, k});
        in[1] = *shape(x, 2, (int[]){k, n});
        r->in = in;
        r->n_in = 2;
        r->has_in = true;
    }
}

static struct joined join_products(const char *text)
{
    struct joined x = {0};
    struct oc_builder *b = attention();
    load(&x, b);
    oc_b_free(b);
    begin_profile(&x, "kineto", 8);
    add_products(&x, text);
    join(&x);
    return x;
}

/* A compiler computes v when it is needed. */
static void products_of_one_size_match_in_any_order_of_sizes(void **state)
{
    (void)state;
    static const char *const want[] = {"q", "qk", "v", "pv", "o"};
    struct joined x = join_products("6x4x4 6x4x6 6x4x4 6x6x4 6x4x4");
    for (uint32_t i = 0; i < OC_COUNT(want); i++)
        assert_nodes(&x, i, want[i], "by size", 0.8);
    joined_free(&x);
}

/* One of three products of 96 multiply-adds: by order. The product of 1,000 is none of the model's. */
static void product_of_another_size_matches_no_node(void **state)
{
    (void)state;
    struct joined x = join_products("6x4x4 6x4x6 6x6x4 10x10x10");
    assert_string_equal(x.j->rec[0].rule, "by order");
    assert_nodes(&x, 1, "qk", "by size", 0.8);
    assert_nodes(&x, 2, "pv", "by size", 0.8);
    assert_int_equal(x.j->rec[3].n_node, 0);
    joined_free(&x);
}

/* A product in a loop of three iterations has the size of one. */
static void product_of_a_loop_has_the_size_of_an_iteration(void **state)
{
    (void)state;
    static const char *const want[] = {"step", "next", "last"};
    struct joined x = {0};
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[6,4]");
    oc_b_init(b, "trips", "int64[]{3}");
    oc_b_init(b, "w", "float[4,4]");
    oc_b_init(b, "w1", "float[4,5]");
    oc_b_init(b, "w2", "float[5,7]");
    oc_b_node(b, "Loop", "loop", "trips,,x", "a", "");
    oc_b_open(b, "body");
    oc_b_input(b, "i", "int64[]");
    oc_b_input(b, "go", "bool[]");
    oc_b_input(b, "v", "float[6,4]");
    oc_b_node(b, "Identity", "pass", "go", "go_on", "");
    oc_b_node(b, "MatMul", "step", "v,w", "v_out", "");
    oc_b_output(b, "go_on", NULL);
    oc_b_output(b, "v_out", NULL);
    oc_b_close(b);
    oc_b_node(b, "MatMul", "next", "a,w1", "c", "");
    oc_b_node(b, "MatMul", "last", "c,w2", "y", "");
    oc_b_output(b, "y", NULL);
    load(&x, b);
    oc_b_free(b);
    begin_profile(&x, "kineto", 8);
    add_products(&x, "6x4x4 6x4x5 6x5x7");
    join(&x);
    for (uint32_t i = 0; i < OC_COUNT(want); i++)
        assert_nodes(&x, i, want[i], "by size", 0.8);
    joined_free(&x);
}

/* All sizes are four times the model's: the profile ran with another batch, and order decides as before. */
static void products_of_another_batch_match_by_order(void **state)
{
    (void)state;
    static const char *const want[] = {"q", "v", "qk", "pv", "o"};
    struct joined x = join_products("24x4x4 24x4x4 24x4x6 24x6x4 24x4x4");
    for (uint32_t i = 0; i < OC_COUNT(want); i++) {
        assert_int_equal(x.j->rec[i].n_node, 1);
        assert_string_equal(x.m->node[x.j->rec[i].node[0]].name, want[i]);
        assert_string_equal(x.j->rec[i].rule, "by order");
    }
    joined_free(&x);
}

/* Of a table the 6 rows of 8 floats that are gathered: 192 bytes, and 32 of the bias. */
static void group_reads_the_gathered_rows_only(void **state)
{
    (void)state;
    struct joined x = {0};
    struct oc_builder *b = oc_b_new(13);
    oc_b_input(b, "ids", "int64[2,3]");
    oc_b_init(b, "table", "float[1000,8]");
    oc_b_init(b, "bias", "float[8]");
    oc_b_node(b, "Gather", "rows", "table,ids", "r", "");
    oc_b_node(b, "Add", "sum", "r,bias", "y", "");
    oc_b_output(b, "y", NULL);
    load(&x, b);
    oc_b_free(b);
    begin_profile(&x, "kineto", 1);
    add_record(&x, "triton_poi_fused_add_embedding_0", "triton_poi_fused_add_embedding");
    join(&x);
    assert_int_equal(x.j->rec[0].n_node, 2);
    assert_true(x.j->rec[0].bytes_known);
    assert_int_equal(x.j->rec[0].rd_act, 48);
    assert_int_equal(x.j->rec[0].rd_wt, 192 + 32);
    assert_int_equal(x.j->rec[0].wr, 192);
    joined_free(&x);
}

/* ---- several calls, parts ---- */

/* Both convolutions in one record; both relus in a record of twice as many calls: two executions. */
static void one_record_matches_several_nodes(void **state)
{
    (void)state;
    struct joined x = {0};
    struct oc_builder *b = net();
    load(&x, b);
    oc_b_free(b);
    begin_profile(&x, "pytorch", 3);
    add_record(&x, "aten::conv2d", "")->calls_per_run = 2;
    add_record(&x, "aten::relu", "")->calls_per_run = 4;
    add_record(&x, "aten::addmm", "");
    join(&x);
    assert_true(x.j->rec[0].n_node >= 2);
    assert_string_equal(x.j->rec[0].rule, "by type");
    assert_int_equal(x.j->rec[0].macs, 64 * 4 * (36 + 4)); /* H*W * M * (C*9 + C) */
    assert_nodes(&x, 1, "relu1 relu2", "by type", 0.3);
    assert_int_equal(x.j->rec[1].flops, 2 * 2 * 256);
    assert_nodes(&x, 2, "dense", "by order", 0.6);
    joined_free(&x);
}

/* The second product reads what the first one writes, the third what the first one reads. */
static void calls_do_not_share_what_they_read(void **state)
{
    (void)state;
    struct joined x = {0};
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[4,8]");
    oc_b_init(b, "w", "float[8,8]");
    oc_b_node(b, "MatMul", "first", "x,w", "y", "");
    oc_b_node(b, "MatMul", "second", "y,w", "z", "");
    oc_b_node(b, "MatMul", "third", "x,w", "v", "");
    oc_b_output(b, "z", NULL);
    oc_b_output(b, "v", NULL);
    load(&x, b);
    oc_b_free(b);
    begin_profile(&x, "pytorch", 1);
    add_record(&x, "aten::matmul", "")->calls_per_run = 3;
    join(&x);
    assert_nodes(&x, 0, "first second third", "by type", 0.6);
    assert_true(x.j->rec[0].bytes_known);
    assert_int_equal(x.j->rec[0].rd_act, 3 * 4 * 8 * 4);
    assert_int_equal(x.j->rec[0].rd_wt, 3 * 8 * 8 * 4);
    assert_int_equal(x.j->rec[0].wr, 3 * 4 * 8 * 4);
    joined_free(&x);
}

/* aten::conv2d works through aten::convolution: one row, its cost once. */
static void parts_belong_to_the_row_of_the_whole(void **state)
{
    (void)state;
    struct joined x = {0};
    struct oc_builder *b = net();
    load(&x, b);
    oc_b_free(b);
    begin_profile(&x, "pytorch", 4);
    add_record(&x, "aten::conv2d", "");
    add_record(&x, "aten::convolution", "")->parent = 0;
    add_record(&x, "aten::cudnn_convolution", "")->parent = 1;
    add_record(&x, "aten::conv2d", "");
    join(&x);
    assert_int_equal(x.j->rec[0].part_of, OC_NONE);
    assert_int_equal(x.j->rec[1].part_of, 0);
    assert_int_equal(x.j->rec[2].part_of, 0);
    assert_string_equal(x.j->rec[2].rule, "part of");
    assert_int_equal(x.j->rec[0].macs, 64 * 4 * 36);
    assert_int_equal(x.j->rec[2].macs, 0);
    assert_true(x.j->mapped_ns == 4000);
    assert_int_equal(x.j->rec[3].node[0], 3);
    joined_free(&x);
}

/* ---- whole models -------------------------------------------------------------------------------------- */

static const char *paddle_type(const char *onnx)
{
    static const char *const name[][2] = {
        {"Conv", "conv2d"},
        {"Relu", "relu"},
        {"Add", "elementwise_add"},
        {"MaxPool", "pool2d"},
        {"AveragePool", "pool2d"},
        {"Gemm", "fc"},
        {"GlobalAveragePool", "pool2d"},
        {"Flatten", "flatten2"},
        {"Clip", "relu6"},
        {"BatchNormalization", "batch_norm"},
        {"MatMul", "matmul_v2"},
        {"Softmax", "softmax"},
        {"LayerNormalization", "layer_norm"},
    };
    for (size_t i = 0; i < OC_COUNT(name); i++)
        if (strcmp(name[i][0], onnx) == 0)
            return name[i][1];
    return NULL;
}

/* Every operator of a zoo model that Paddle has under such a name, between others that the model lacks: each
 * matches its own node without using names. */
static void whole_models_match_by_order(void **state)
{
    (void)state;
    static const char *const model[] = {"resnet18", "resnet50", "mobilenetv2", "vgg16", "bert_base"};
    for (size_t k = 0; k < OC_COUNT(model); k++) {
        struct joined x = {0};
        struct zoo z;
        const struct zoo_model *made = zoo_find(model[k]);
        zoo_init(&z, 17);
        made->build(&z);
        load(&x, z.b);
        uint32_t *node = calloc(x.m->n_node * 2, sizeof(*node)), n = 0;
        begin_profile(&x, "paddle", (size_t)x.m->n_node * 2);
        for (uint32_t i = 0; i < x.m->n_node; i++) {
            const char *type = paddle_type(x.m->node[i].op_type);
            if (i % 7 == 3) {
                node[n++] = OC_NONE;
                add_record(&x, "memcpy_h2d", "memcpy_h2d");
            }
            if (type) {
                node[n++] = i;
                add_record(&x, type, type);
            }
        }
        join(&x);
        uint32_t right = 0, all = 0;
        for (uint32_t i = 0; i < n; i++) {
            bool in = false;
            for (uint32_t j = 0; j < x.j->rec[i].n_node; j++)
                in |= x.j->rec[i].node[j] == node[i];
            right += in;
            if (!in && node[i] != OC_NONE)
                print_message("  %s\n", x.p.rec[i].name);
            all += node[i] != OC_NONE;
        }
        print_message("%s: %u of %u\n", model[k], right, all);
        assert_int_equal(right, all);
        free(node);
        joined_free(&x);
        zoo_free(&z);
    }
}

/* A recorded training step of torchvision's ResNet-50 on a V100: all 175 nodes of the forward pass are found
 * by type, order and shape among 1622 records; the backward pass is distinguished. */
static void recorded_forward_pass_is_found_in_a_training_step(void **state)
{
    (void)state;
    const char *path = t_sample("pytorch/resnet50_train_v100.pt.trace.json.gz");
    struct oc_profile *p;
    struct oc_err e;
    struct zoo z;
    struct joined x = {0};
    struct oc_shape_bind *shape;
    if (!path)
        skip();
    zoo_init(&z, 17);
    zoo_find("resnet50")->build(&z);
    load(&x, z.b);
    assert_int_equal(oc_profile_open(path, NULL, &p, &e), 0);
    struct oc_analyze_opts opts = {.n_shape = oc_profile_input_shapes(x.m, p, &shape)};
    opts.shape = shape;
    assert_int_equal(oc_analyze(x.m, &opts, &x.a, &e), 0);
    assert_int_equal(oc_join_make(x.m, x.a, p, NULL, &x.j, &e), 0);
    uint32_t n = 0, last = 0;
    for (uint32_t i = 0; i < p->n_rec; i++) {
        const struct oc_join_rec *r = &x.j->rec[i];
        if (!r->n_node || r->part_of != OC_NONE)
            continue;
        assert_string_equal(r->rule, "by order");
        assert_int_equal(r->n_node, 1);
        assert_true(n == 0 || r->node[0] > last);
        assert_true(r->confidence >= 0.4);
        last = r->node[0];
        n++;
    }
    assert_int_equal(n, 175);
    assert_int_equal(x.a->total->macs, 32 * UINT64_C(4089184256)); /* batch 32, as recorded */
    assert_true(x.j->flops_matched_fraction == 1);
    double training_ns = 0;
    for (uint32_t i = 0; i < x.j->n_bucket; i++)
        if (strcmp(x.j->bucket[i].name, "training") == 0)
            training_ns = x.j->bucket[i].time_ns;
    assert_true(training_ns > 0.9 * (x.j->overhead_ns + x.j->unmatched_ns));
    oc_join_free(x.j);
    oc_analysis_free(x.a);
    oc_profile_close(p);
    oc_profile_input_shapes_free(shape, opts.n_shape);
    oc_model_free(x.m);
    free(x.bytes);
    zoo_free(&z);
}

/* 10,000 records on 10,000 nodes, every tenth of each side missing on the other one. */
static void long_sequences_match_in_bounded_time(void **state)
{
    (void)state;
    enum { N = 10000 };
    struct joined x = {0};
    struct oc_builder *b = oc_b_new(13);
    static const char *const onnx[] = {"Relu", "Sigmoid", "Tanh", "Sqrt", "Exp"};
    static const char *const aten[] = {"aten::relu", "aten::sigmoid", "aten::tanh", "aten::sqrt",
                                       "aten::exp"};
    static unsigned kind[N];
    uint32_t seed = 1;
    char in[16] = "x", out[16], name[16];
    oc_b_input(b, "x", "float[4]");
    for (int i = 0; i < N; i++) {
        seed = seed * 1664525u + 1013904223u;
        kind[i] = seed >> 16 & 0xffff;
        snprintf(out, sizeof(out), "t%d", i);
        snprintf(name, sizeof(name), "n%d", i);
        oc_b_node(b, onnx[kind[i] % 5], name, in, out, "");
        snprintf(in, sizeof(in), "%s", out);
    }
    oc_b_output(b, in, NULL);
    load(&x, b);
    oc_b_free(b);
    begin_profile(&x, "pytorch", N);
    uint32_t given = 0, right = 0;
    static int want[N];
    for (int i = 0; i < N; i++) {
        if (kind[i] / 5 % 10 == 0)
            continue;
        want[given++] = i;
        add_record(&x, aten[kind[i] % 5], "");
    }
    clock_t t = clock();
    join(&x);
    print_message("%u records on %d nodes: %.2f s\n", given, N, (double)(clock() - t) / CLOCKS_PER_SEC);
    for (uint32_t i = 0; i < given;
         i++) /* a longest common subsequence contains all; short runs of one type are ambiguous */
        right += x.j->rec[i].n_node == 1 && x.j->rec[i].node[0] == (uint32_t)want[i];
    assert_int_equal(x.j->n_unmatched, 0);
    assert_true(right > given / 10 * 7);
    joined_free(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_of_frameworks_map_to_onnx),
        cmocka_unit_test(paddle_records_match_by_order),
        cmocka_unit_test(shapes_resolve_ambiguous_order),
        cmocka_unit_test(tvm_functions_match_groups),
        cmocka_unit_test(products_of_one_size_match_in_any_order_of_sizes),
        cmocka_unit_test(product_of_another_size_matches_no_node),
        cmocka_unit_test(product_of_a_loop_has_the_size_of_an_iteration),
        cmocka_unit_test(products_of_another_batch_match_by_order),
        cmocka_unit_test(group_reads_the_gathered_rows_only),
        cmocka_unit_test(one_record_matches_several_nodes),
        cmocka_unit_test(calls_do_not_share_what_they_read),
        cmocka_unit_test(parts_belong_to_the_row_of_the_whole),
        cmocka_unit_test(whole_models_match_by_order),
        cmocka_unit_test(recorded_forward_pass_is_found_in_a_training_step),
        cmocka_unit_test(long_sequences_match_in_bounded_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
