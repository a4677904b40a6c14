/* Functions that ONNX Runtime expands, and names that its graph transformers generate; names and indices as
 * version 1.30 records them (tests/check_functions.sh compares with the runtime itself). */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/arena.h"
#include "join/join.h"
#include "support/profiles.h"
#include "support/run_model.h"
#include "onnxcost.h"

struct joined {
    struct oc_run r;
    struct oc_profile *p;
    struct oc_join *j;
};

/* events: "name|type|index|shape of the output|shape of the input (without: the same)", NULL at the end. */
static void join(struct joined *x, struct oc_builder *b, const char *const *event)
{
    struct oc_buf t = {0};
    struct oc_err e;
    oc_buf_str(&t,
               "[{\"cat\":\"Session\",\"tid\":1,\"dur\":9000,\"ts\":0,\"name\":\"model_run\",\"args\":{}}");
    for (int i = 0; event[i]; i++) {
        char name[100], type[40], index[10], shape[40], in[40];
        int n = sscanf(event[i], "%99[^|]|%39[^|]|%9[^|]|%39[^|]|%39s", name, type, index, shape, in);
        assert_true(n == 4 || n == 5);
        oc_buf_printf(
            &t,
            ",\n{\"cat\":\"Node\",\"tid\":1,\"dur\":10,\"ts\":%d,\"name\":\"%s_kernel_time\",\"args\":{"
            "\"op_name\":\"%s\",\"node_index\":\"%s\",\"input_type_shape\":[{\"float\":[%s]}],"
            "\"output_type_shape\":[{\"float\":[%s]}]}}",
            20 * i + 10, name, type, index, n == 5 ? in : shape, shape);
    }
    oc_buf_str(&t, "\n]");
    x->r = oc_run_model(b, NULL);
    x->p = t_profile_text(t.data, NULL, &e);
    assert_non_null(x->p);
    assert_int_equal(oc_join_make(x->r.m, x->r.a, x->p, NULL, &x->j, &e), 0);
    oc_buf_free(&t);
}

static void joined_free(struct joined *x)
{
    oc_join_free(x->j);
    oc_profile_close(x->p);
    oc_run_free(&x->r);
}

/* Labels of the record's nodes, separated by blanks, with scopes of functions. */
static void expect_nodes(const struct joined *x, const char *name, const char *want)
{
    const struct oc_prof_rec *p = t_rec(x->p, name);
    assert_non_null(p);
    const struct oc_join_rec *r = &x->j->rec[p - x->p->rec];
    struct oc_buf b = {0};
    for (uint32_t i = 0; i < r->n_node; i++) {
        char label[100];
        const struct oc_node *n = &x->r.m->node[r->node[i]];
        const char *scope = n->name[0] ? "" : x->r.m->graph[n->graph].scope;
        oc_buf_printf(&b, "%s%s%s%s", i ? " " : "", scope, *scope ? "/" : "",
                      oc_node_label(x->r.m, n, label, sizeof(label)));
    }
    print_message("%s\n", name);
    assert_string_equal(b.n ? b.data : "", want);
    oc_buf_free(&b);
}

static const char *rule_of(const struct joined *x, const char *name)
{
    return x->j->rec[t_rec(x->p, name) - x->p->rec].rule;
}

/* ---- function operators ---------------------------------------------------------------------------------
 */

/* A graph of 4 nodes: the bodies are numbered from 4, in the order of the calls. */
static struct oc_builder *activations(void)
{
    struct oc_builder *b = oc_b_new(18);
    oc_b_input(b, "x", "float[2,8]");
    oc_b_node(b, "Mish", "m1", "x", "a", "");
    oc_b_node(b, "HardSwish", "h1", "a", "b", "");
    oc_b_node(b, "Mish", NULL, "b", "c", "");
    oc_b_node(b, "Tanh", "t", "c", "y", "");
    oc_b_output(b, "y", NULL);
    return b;
}

static void bodies_are_numbered_in_the_order_of_the_calls(void **state)
{
    (void)state;
    static const char *const event[] = {"Softplus_4|Softplus|4|2,8",
                                        "Tanh_5|Tanh|5|2,8",
                                        "Mul_6|Mul|6|2,8",
                                        "HardSigmoid_7|HardSigmoid|7|2,8",
                                        "Mul_8|Mul|8|2,8",
                                        "Softplus_9|Softplus|9|2,8",
                                        "Tanh_10|Tanh|10|2,8",
                                        "Mul_11|Mul|11|2,8",
                                        "t|Tanh|3|2,8",
                                        NULL};
    struct joined x = {0};
    join(&x, activations(), event);
    expect_nodes(&x, "Mul_6", "m1");
    expect_nodes(&x, "HardSigmoid_7", "h1");
    expect_nodes(&x, "Mul_8", "h1");
    expect_nodes(&x, "Tanh_10", "Mish_2");
    expect_nodes(&x, "t", "t");
    assert_string_equal(rule_of(&x, "Mul_11"), "function body");
    assert_int_equal(x.j->n_unmatched, 0);
    joined_free(&x);
}

/* Fused bodies leave no records, and the others keep their numbers. */
static void bodies_without_records_do_not_shift_the_others(void **state)
{
    (void)state;
    static const char *const event[] = {"Softplus_9|Softplus|9|2,8", "Tanh_10|Tanh|10|2,8",
                                        "Mul_11|Mul|11|2,8", "t|Tanh|3|2,8", NULL};
    struct joined x = {0};
    join(&x, activations(), event);
    expect_nodes(&x, "Softplus_9", "Mish_2");
    expect_nodes(&x, "Mul_11", "Mish_2");
    joined_free(&x);
}

/* A provider with a kernel for one of the types: the numbers are those without its bodies. */
static void operators_with_a_kernel_are_not_expanded(void **state)
{
    (void)state;
    static const char *const event[] = {"m1|Mish|0|2,8",   "HardSigmoid_4|HardSigmoid|4|2,8",
                                        "Mul_5|Mul|5|2,8", "Mish_2|Mish|2|2,8",
                                        "t|Tanh|3|2,8",    NULL};
    struct joined x = {0};
    join(&x, activations(), event);
    expect_nodes(&x, "m1", "m1");
    expect_nodes(&x, "Mul_5", "h1");
    expect_nodes(&x, "Mish_2", "Mish_2");
    assert_string_equal(rule_of(&x, "Mish_2"), "index");
    joined_free(&x);
}

/* Records that ran after the end of the graph have no nodes rather than wrong ones; the costs are
 * those of the recorded shapes. */
static void numbers_that_contradict_the_times_match_nothing(void **state)
{
    (void)state;
    static const char *const event[] = {"t|Tanh|3|2,8", "Exp_7|Exp|7|3,5", "Mul_6|Mul|6|3,5",
                                        "Sqrt_5|Sqrt|5|3,5", NULL};
    struct joined x = {0};
    join(&x, activations(), event);
    for (int i = 1; event[i]; i++) {
        const struct oc_join_rec *r = &x.j->rec[i];
        assert_int_equal(r->n_node, 0);
        assert_string_equal(r->bucket, "unmatched");
    }
    assert_int_equal(x.j->rec[1].quality, OC_EXACT);
    assert_int_equal(x.j->rec[1].flops, 15);
    joined_free(&x);
}

/* Bodies that are in no table: calls of one form have equal bodies, and run between the nodes around them.
 * The function in the body (no record 7 and 11) has its own body after both. */
static void unknown_bodies_are_found_by_their_repetition(void **state)
{
    (void)state;
    static const char *const event[] = {"a|Sin|0|2,8",
                                        "Exp_6|Exp|6|2,8",
                                        "Cast_14|Cast|14|2,8",
                                        "Log_8|Log|8|2,8",
                                        "Abs_9|Abs|9|2,8",
                                        "b|Sin|2|2,8",
                                        "Exp_10|Exp|10|2,8",
                                        "Cast_15|Cast|15|2,8",
                                        "Log_12|Log|12|2,8",
                                        "Abs_13|Abs|13|2,8",
                                        "c|Sin|4|2,8",
                                        "s|Sum|5|2,8",
                                        NULL};
    struct joined x = {0};
    struct oc_builder *b = oc_b_new(18);
    oc_b_input(b, "x", "float[2,8]");
    oc_b_node(b, "Sin", "a", "x", "v0", "");
    oc_b_node(b, "Selu", "f1", "v0", "v1", "");
    oc_b_node(b, "Sin", "b", "v1", "v2", "");
    oc_b_node(b, "Selu", "f2", "v2", "v3", "");
    oc_b_node(b, "Sin", "c", "v3", "v4", "");
    oc_b_node(b, "Sum", "s", "v4,v4", "y", "");
    oc_b_output(b, "y", NULL);
    join(&x, b, event);
    expect_nodes(&x, "Exp_6", "f1");
    expect_nodes(&x, "Abs_9", "f1");
    expect_nodes(&x, "Exp_10", "f2");
    expect_nodes(&x, "Cast_14", "f1");
    expect_nodes(&x, "Cast_15", "f2");
    joined_free(&x);
}

/* Nothing shows where the first body ends: what both may have run is on neither. */
static void bodies_without_a_known_end_match_nothing(void **state)
{
    (void)state;
    static const char *const event[] = {"Exp_2|Exp|2|2,8", "Log_3|Log|3|2,8", "Abs_4|Abs|4|2,8", NULL};
    struct joined x = {0};
    struct oc_builder *b = oc_b_new(18);
    oc_b_input(b, "x", "float[2,8]");
    oc_b_node(b, "Selu", "f1", "x", "v", "");
    oc_b_node(b, "Elu", "f2", "v", "y", "");
    oc_b_output(b, "y", NULL);
    join(&x, b, event);
    assert_int_equal(x.j->n_unmatched, 3);
    joined_free(&x);
}

/* ---- local functions ------------------------------------------------------------------------------------
 */

/* Two blocks, each of two linear layers and an activation between them. */
static struct oc_builder *blocks(void)
{
    struct oc_builder *b = oc_b_new(18);
    oc_b_opset(b, "my", 1);
    oc_b_function(b, "my", "Linear", "x,w", "y", "");
    oc_b_opset(b, "", 18);
    oc_b_node(b, "MatMul", "mm", "x,w", "t", "");
    oc_b_node(b, "Relu", NULL, "t", "y", "");
    oc_b_close(b);
    oc_b_function(b, "my", "Block", "x,w,v", "y", "");
    oc_b_opset(b, "", 18);
    oc_b_opset(b, "my", 1);
    oc_b_node(b, "my::Linear", "up", "x,w", "h", "");
    oc_b_node(b, "Mish", "act", "h", "a", "");
    oc_b_node(b, "my::Linear", NULL, "a,v", "y", "");
    oc_b_close(b);
    oc_b_input(b, "x", "float[2,8]");
    oc_b_init(b, "w", "float[8,8]");
    oc_b_init(b, "v", "float[8,8]");
    oc_b_node(b, "my::Block", "b1", "x,w,v", "p", "");
    oc_b_node(b, "my::Block", "b2", "p,w,v", "y", "");
    oc_b_output(b, "y", NULL);
    return b;
}

/* 0-1 the calls; 2-4, 5-7 the blocks; 8-9 Linear, 10-12 Mish, 13-14 Linear of b1; the same of b2. */
static void calls_are_expanded_level_by_level(void **state)
{
    (void)state;
    static const char *const event[] = {"_inlfunc_Linear_mm|MatMul|8|2,8",
                                        "Relu_9|Relu|9|2,8",
                                        "Softplus_10|Softplus|10|2,8",
                                        "Mul_12|Mul|12|2,8",
                                        "Relu_14|Relu|14|2,8",
                                        "_inlfunc_Linear_token_1_mm|MatMul|13|2,8",
                                        "_inlfunc_Linear_token_2_mm|MatMul|15|2,8",
                                        "Relu_16|Relu|16|2,8",
                                        "Tanh_18|Tanh|18|2,8",
                                        "_inlfunc_Linear_token_4_mm/MatMulAddFusion|Gemm|20|2,8",
                                        NULL};
    struct joined x = {0};
    join(&x, blocks(), event);
    expect_nodes(&x, "_inlfunc_Linear_mm", "b1/up/mm");
    expect_nodes(&x, "Relu_9", "b1/b1/up/Relu_1");
    expect_nodes(&x, "Softplus_10", "b1/act");
    expect_nodes(&x, "Mul_12", "b1/act");
    expect_nodes(&x, "_inlfunc_Linear_token_1_mm", "Linear_2/mm");
    expect_nodes(&x, "Relu_14", "b1/Linear_2/Relu_1");
    expect_nodes(&x, "_inlfunc_Linear_token_2_mm", "b2/up/mm");
    expect_nodes(&x, "Relu_16", "b2/b2/up/Relu_1");
    expect_nodes(&x, "Tanh_18", "b2/act");
    joined_free(&x);
}

/* The analysis folds a CastLike of a constant, but the runtime expands it after it has folded constants. */
static void calls_of_constants_run_when_they_are_expanded_late(void **state)
{
    (void)state;
    static const char *const event[] = {"Cast_2|Cast|2|1", "Greater_1|Greater|1|2,8", NULL};
    struct joined x = {0};
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[2,8]");
    oc_b_init(b, "k", "int64[1]{0}");
    oc_b_node(b, "CastLike", NULL, "k,x", "z", "");
    oc_b_node(b, "Greater", NULL, "x,z", "y", "");
    oc_b_output(b, "y", NULL);
    join(&x, b, event);
    expect_nodes(&x, "Cast_2", "CastLike_0");
    joined_free(&x);
}

/* Up to ONNX Runtime 1.16 the prefix is _inline_<Function>, and no underscore follows it. */
static void bodies_have_other_names_up_to_1_16(void **state)
{
    (void)state;
    static const char *const event[] = {"_inline_Linearmm|MatMul|8|2,8",
                                        "_inline_Linear_token_1mm|MatMul|13|2,8",
                                        "_inline_Linear_token_2mm|MatMul|15|2,8", NULL};
    struct joined x = {0};
    join(&x, blocks(), event);
    expect_nodes(&x, "_inline_Linearmm", "b1/up/mm");
    expect_nodes(&x, "_inline_Linear_token_1mm", "Linear_2/mm");
    expect_nodes(&x, "_inline_Linear_token_2mm", "b2/up/mm");
    joined_free(&x);
}

/* ---- generated names ------------------------------------------------------------------------------------
 */

static struct oc_builder *layers(void)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[2,8]");
    oc_b_init(b, "w", "float[8,8]");
    oc_b_init(b, "v", "float[8,4]");
    oc_b_init(b, "c", "float[8]");
    oc_b_init(b, "d", "float[4]");
    oc_b_node(b, "MatMul", "dense", "x,w", "a", "");
    oc_b_node(b, "Add", "bias", "a,c", "b", "");
    oc_b_node(b, "Relu", "relu", "b", "e", "");
    oc_b_node(b, "MatMul", NULL, "e,v", "f", "");
    oc_b_node(b, "Add", NULL, "f,d", "g", "");
    oc_b_node(b, "Tanh", NULL, "g", "y", "");
    oc_b_output(b, "y", NULL);
    return b;
}

static void fusions_of_fusions_match_by_the_inner_name(void **state)
{
    (void)state;
    static const char *const second[] = {
        "fused /MatMulAddFusion|FusedGemm|9|2,4|2,8",   "fused |FusedGemm|9|2,4|2,8",
        "fused _token_3|FusedGemm|9|2,4|2,8",           "MatMulBnFusion_Gemm_token_1|FusedGemm|9|2,4|2,8",
        "/MatMulAddFusion_token_0|FusedGemm|9|2,4|2,8", "gemm|FusedGemm|9|2,4|2,8"};
    for (size_t i = 0; i < OC_COUNT(second); i++) {
        const char *const event[] = {"fused dense/MatMulAddFusion|FusedGemm|8|2,8", second[i], NULL};
        char name[60];
        struct joined x = {0};
        snprintf(name, sizeof(name), "%.*s", (int)strcspn(second[i], "|"), second[i]);
        join(&x, layers(), event);
        expect_nodes(&x, "fused dense/MatMulAddFusion", "dense bias relu");
        expect_nodes(&x, name, "MatMul_3 Add_4 Tanh_5");
        assert_string_equal(rule_of(&x, name), "order");
        joined_free(&x);
    }
}

/* Order alone needs the recorded shape of the output. */
static void order_does_not_match_another_shape(void **state)
{
    (void)state;
    static const char *const event[] = {"fused dense/MatMulAddFusion|FusedGemm|8|2,8",
                                        "fused /MatMulAddFusion|FusedGemm|9|2,5", NULL};
    struct joined x = {0};
    join(&x, layers(), event);
    expect_nodes(&x, "fused /MatMulAddFusion", "");
    assert_int_equal(x.j->n_unmatched, 1);
    joined_free(&x);
}

/* Unnamed layers of vectors: each Gemm is between Reshapes, the first of them fused with one of the model. */
static void vectors_become_rows_of_a_gemm(void **state)
{
    (void)state;
    static const char *const event[] = {"_new_reshape|Reshape|17|1,8|2,4",
                                        "/MatMulAddFusion|Gemm|13|1,6|1,8",
                                        "gemm_output_reshape|Reshape|12|6|1,6",
                                        "Relu_4|Relu|4|6",
                                        "gemm_input_reshape_token_2|Reshape|14|1,6|6",
                                        "/MatMulAddFusion_token_6|Gemm|16|1,5|1,6",
                                        NULL};
    static const char *const wrong[] = {"/MatMulAddFusion|Gemm|13|1,7|1,8", NULL};
    struct joined x = {0};
    for (int i = 0; i < 2; i++) {
        struct oc_builder *b = oc_b_new(17);
        oc_b_input(b, "x", "float[2,4]");
        oc_b_init(b, "to", "int64[1]{8}");
        oc_b_init(b, "w", "float[8,6]");
        oc_b_init(b, "v", "float[6,5]");
        oc_b_init(b, "c", "float[6]");
        oc_b_init(b, "d", "float[5]");
        oc_b_node(b, "Reshape", NULL, "x,to", "p", "");
        oc_b_node(b, "MatMul", NULL, "p,w", "q", "");
        oc_b_node(b, "Add", NULL, "q,c", "r", "");
        oc_b_node(b, "Relu", NULL, "r", "s", "");
        oc_b_node(b, "MatMul", NULL, "s,v", "t", "");
        oc_b_node(b, "Add", NULL, "t,d", "y", "");
        oc_b_output(b, "y", NULL);
        join(&x, b, i ? wrong : event);
        expect_nodes(&x, "/MatMulAddFusion", i ? "" : "MatMul_1 Add_2");
        if (!i) {
            expect_nodes(&x, "_new_reshape", "Reshape_0");
            expect_nodes(&x, "/MatMulAddFusion_token_6", "MatMul_4 Add_5");
        }
        joined_free(&x);
    }
}

static void products_become_blocked_convolutions(void **state)
{
    (void)state;
    static const char *const event[] = {"p_nchwc|MaxPool|9|1,8,4,4", "m_mul_nchwc|Conv|10|1,8,4,4",
                                        "add|Add|2|1,8,4,4", NULL};
    struct joined x = {0};
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[1,8,4,4]");
    oc_b_init(b, "s", "float[8,1,1]");
    oc_b_node(b, "MaxPool", "pool", "x", "p", "kernel_shape=1,1");
    oc_b_node(b, "Mul", "scale", "p,s", "m", "");
    oc_b_node(b, "Add", "add", "m,s", "y", "");
    oc_b_output(b, "y", NULL);
    join(&x, b, event);
    expect_nodes(&x, "m_mul_nchwc", "scale");
    joined_free(&x);
}

/* ONNX Runtime visits the branch of the last result first, so its convolution is created first. */
static void order_is_that_in_which_the_runtime_visits_nodes(void **state)
{
    (void)state;
    static const char *const event[] = {"FusedConv_5|FusedConv|5|1,4,6,6|1,4,8,8",
                                        "FusedConv_4|FusedConv|4|1,4,6,6|1,4,8,8", NULL};
    struct joined x = {0};
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[1,4,8,8]");
    oc_b_init(b, "w", "float[4,4,3,3]");
    for (unsigned i = 0; i < 2; i++) {
        oc_b_node(b, "Conv", NULL, "x,w", i ? "a" : "c", "");
        oc_b_node(b, "Relu", NULL, i ? "a" : "c", i ? "y" : "z", "");
        oc_b_output(b, i ? "y" : "z", NULL);
    }
    join(&x, b, event);
    expect_nodes(&x, "FusedConv_4", "Conv_2 Relu_3");
    expect_nodes(&x, "FusedConv_5", "Conv_0 Relu_1");
    joined_free(&x);
}

/* A plain product has no activation, neither its own nor that of the node before it. */
static void plain_products_take_no_activation(void **state)
{
    (void)state;
    static const char *const event[] = {"conv|Conv|2|1,4,6,6|1,4,8,8", "gemm|Gemm|5|1,3|1,144", NULL};
    struct joined x = {0};
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[1,4,8,8]");
    oc_b_init(b, "w", "float[4,4,3,3]");
    oc_b_init(b, "v", "float[144,3]");
    oc_b_node(b, "Relu", "before", "x", "p", "");
    oc_b_node(b, "Conv", "conv", "p,w", "q", "");
    oc_b_node(b, "Relu", "after", "q", "r", "");
    oc_b_node(b, "Flatten", "flat", "r", "s", "");
    oc_b_node(b, "Gemm", "gemm", "s,v", "t", "");
    oc_b_node(b, "Tanh", "end", "t", "y", "");
    oc_b_output(b, "y", NULL);
    join(&x, b, event);
    expect_nodes(&x, "conv", "conv");
    expect_nodes(&x, "gemm", "gemm");
    joined_free(&x);
}

/* 1 / s * x became x / s, under the name of the first node. */
static void records_extend_to_their_recorded_output(void **state)
{
    (void)state;
    static const char *const event[] = {"div|Div|0|2,8", "exp|Exp|2|2,8", NULL};
    struct joined x = {0};
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[2,8]");
    oc_b_input(b, "s", "float[2,1]");
    oc_b_init(b, "one", "float[]{1}");
    oc_b_node(b, "Div", "div", "one,s", "i", "");
    oc_b_node(b, "Mul", "mul", "x,i", "m", "");
    oc_b_node(b, "Exp", "exp", "m", "y", "");
    oc_b_output(b, "y", NULL);
    join(&x, b, event);
    expect_nodes(&x, "div", "div mul");
    expect_nodes(&x, "exp", "exp");
    joined_free(&x);
}

static void names_of_reshapes_and_inserted_quantizers(void **state)
{
    (void)state;
    static const char *const event[] = {"first_new_reshape|Reshape|9|16|2,8", "r_q|QuantizeLinear|10|16",
                                        "r_dq_token_1|DequantizeLinear|11|16", "exp|Exp|2|16", NULL};
    struct joined x = {0};
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[2,8]");
    oc_b_init(b, "to", "int64[2]{4,4}");
    oc_b_init(b, "flat", "int64[1]{16}");
    oc_b_node(b, "Reshape", "first", "x,to", "p", "");
    oc_b_node(b, "Reshape", "second", "p,flat", "r", "");
    oc_b_node(b, "Exp", "exp", "r", "y", "");
    oc_b_output(b, "y", NULL);
    join(&x, b, event);
    expect_nodes(&x, "first_new_reshape", "first second");
    for (size_t i = 1; i < 3; i++)
        assert_string_equal(x.j->rec[i].bucket, "inserted");
    expect_nodes(&x, "exp", "exp");
    joined_free(&x);
}

static const struct oc_join_rec *record_of(const struct joined *x, const char *name)
{
    const struct oc_prof_rec *p = t_rec(x->p, name);
    assert_non_null(p);
    return &x->j->rec[p - x->p->rec];
}

/* x -> Exp -> MatMul h -> Sin */
static struct oc_builder *dense(void)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[2,8]");
    oc_b_init(b, "w", "float[8,8]");
    oc_b_node(b, "Exp", "exp", "x", "e", "");
    oc_b_node(b, "MatMul", "dense", "e,w", "h", "");
    oc_b_node(b, "Sin", "sin", "h", "y", "");
    oc_b_output(b, "y", NULL);
    return b;
}

/* One record "<name>|<type>"; `unique`: with "_token_4". */
static void join_one(struct joined *x, struct oc_builder *b, const char *form, bool unique, char *name)
{
    char event[200];
    const char *const events[] = {event, NULL};
    int n = (int)strcspn(form, "|");
    snprintf(name, 100, "%.*s%s", n, form, unique ? "_token_4" : "");
    snprintf(event, sizeof(event), "%s%s|8|2,8", name, form + n);
    join(x, b, events);
}

/* Suffixes and prefixes around the name of a node or tensor; with a type that has no fusion of its own. */
static void generated_names_contain_the_name_of_a_node(void **state)
{
    (void)state;
    static const char *const form[] = {"fused dense",
                                       "dense/MatMulAddFusion",
                                       "dense/MatMulScaleFusion",
                                       "dense/MatmulTransposeFusion",
                                       "dense/GemmSumFusion",
                                       "dense/GemmTransposeFusion",
                                       "dense/LayerNormFusion",
                                       "dense/SimplifiedLayerNormFusion",
                                       "dense/QuickGeluFusion",
                                       "dense/GatherSliceToSplitFusion",
                                       "dense/MobileClipProjectionGemm",
                                       "dense/OfALaterVersionFusion",
                                       "dense/MatmulTransposeFusion//MatMulScaleFusion",
                                       "fused dense/MatMulAddFusion",
                                       "dense_qknorm",
                                       "dense_replace",
                                       "dense_FusedMatMulAndScale",
                                       "dense_FusedActivation",
                                       "dense_transformed",
                                       "dense_sum_transformed",
                                       "dense_new_reshape",
                                       "h_nhwc",
                                       "h_pre_q_nchwc",
                                       "h_nchwc"};
    for (size_t i = 0; i < OC_COUNT(form); i++)
        for (int variant = 0; variant < 4; variant++) {
            char text[100], name[100];
            bool tensor = form[i][0] == 'h', slash = variant & 2;
            struct joined x = {0};
            if (slash && !strchr(form[i], '/'))
                continue;
            snprintf(text, sizeof(text), "%s%s|FusedMatMul", form[i], slash ? "/" : "");
            join_one(&x, dense(), text, variant & 1, name);
            expect_nodes(&x, name, "dense");
            assert_string_equal(rule_of(&x, name), tensor ? "output tensor" : "fused name");
            joined_free(&x);
        }
}

/* CUDA, versions 1.6 to 1.10. */
static void names_of_a_convolution_and_its_activation(void **state)
{
    (void)state;
    static const char *const form[] = {"conv_1_relu", "conv_1_add_relu"};
    for (size_t i = 0; i < OC_COUNT(form); i++) {
        char event[100];
        const char *const events[] = {"conv|Conv|0|1,4,8,8", event, NULL};
        struct joined x = {0};
        snprintf(event, sizeof(event), "%s|FusedConv|8|1,4,8,8", form[i]);
        struct oc_builder *b = oc_b_new(17);
        oc_b_input(b, "x", "float[1,4,8,8]");
        oc_b_init(b, "w", "float[4,4,1,1]");
        oc_b_node(b, "Conv", "conv", "x,w", "c", "");
        oc_b_node(b, "Conv", "conv_1", "c,w", "d", "");
        oc_b_node(b, "Relu", "relu", "d", "y", "");
        oc_b_output(b, "y", NULL);
        join(&x, b, events);
        expect_nodes(&x, form[i], "conv_1 relu");
        joined_free(&x);
    }
}

/* Names without the name of a node: order decides. */
static void generated_names_without_a_node_match_by_order(void **state)
{
    (void)state;
    static const char *const form[] = {"gemm|FusedGemm",
                                       "MatMulBnFusion_Gemm|FusedGemm",
                                       "MatMul_With_Transpose|TransposeMatMul",
                                       "MatMul|MatMul",
                                       "MatMulNBits|MatMulNBits",
                                       "DQFusedMatMulNBits|MatMulNBits",
                                       "DirectDQFusedMatMulNBits|MatMulNBits"};
    for (size_t i = 0; i < OC_COUNT(form); i++)
        for (int unique = 0; unique < 2; unique++) {
            char event[100], name[60];
            const char *const events[] = {"fused dense/MatMulAddFusion|FusedGemm|8|2,8", event, NULL};
            int n = (int)strcspn(form[i], "|");
            struct joined x = {0};
            snprintf(name, sizeof(name), "%.*s%s", n, form[i], unique ? "_token_2" : "");
            snprintf(event, sizeof(event), "%s%s|9|2,4|2,8", name, form[i] + n);
            join(&x, layers(), events);
            expect_nodes(&x, name, strstr(form[i], "|FusedGemm") ? "MatMul_3 Add_4 Tanh_5" : "MatMul_3");
            joined_free(&x);
        }
}

/* The type of the record, and that of the node that only this fusion contains. */
static void fusions_named_after_their_type_match_by_their_core(void **state)
{
    (void)state;
    static const struct {
        const char *form, *type, *in, *attributes;
    } row[] = {
        {"Attention|Attention", "Softmax", "e", ""},
        {"MobileClipMultiHeadAttention|MultiHeadAttention", "Softmax", "e", ""},
        {"EmbedLayerNormalization|EmbedLayerNormalization", "Sqrt", "e", ""},
        {"SkipLayerNormalization|SkipLayerNormalization", "Sqrt", "e", ""},
        {"LayerNormalization|LayerNormalization", "Sqrt", "e", ""},
        {"SimplifiedLayerNormalization|SimplifiedLayerNormalization", "Sqrt", "e", ""},
        {"Gelu|Gelu", "Erf", "e", ""},
        {"BiasGelu|BiasGelu", "Erf", "e", ""},
        {"FastGelu|FastGelu", "Tanh", "e", ""},
        {"GPT2Gelu|FastGelu", "Tanh", "e", ""},
        {"QuickGelu|QuickGelu", "Sigmoid", "e", ""},
        {"BiasSoftmax|BiasSoftmax", "Softmax", "e", ""},
        {"BiasDropout|BiasDropout", "Dropout", "e", ""},
        {"SpaceToDepth|SpaceToDepth", "Concat", "e", "axis=0"},
        {"Slice|Slice", "Gather", "e,i", ""},
        {"DynamicQuantizeMatMul|DynamicQuantizeMatMul", "MatMulInteger", "u,wu", ""},
        {"MatMulNBitsQkv|MatMulNBitsQkv", "com.microsoft::MatMulNBits", "e,nb,ns",
         "K=8 N=8 bits=4 block_size=16"},
        {"MatMulNBitsMlp|MatMulNBitsMlp", "com.microsoft::MatMulNBits", "e,nb,ns",
         "K=8 N=8 bits=4 block_size=16"},
    };
    for (size_t i = 0; i < OC_COUNT(row); i++)
        for (int unique = 0; unique < 2; unique++) {
            char name[100];
            struct joined x = {0};
            struct oc_builder *b = oc_b_new(17);
            oc_b_opset(b, "com.microsoft", 1);
            oc_b_input(b, "x", "float[2,8]");
            oc_b_input(b, "u", "uint8[2,8]");
            oc_b_init(b, "wu", "uint8[8,8]");
            oc_b_init(b, "i", "int64[2]{1,0}");
            oc_b_init(b, "nb", "uint8[8,1,8]");
            oc_b_init(b, "ns", "float[8]");
            oc_b_node(b, "Exp", "exp", "x", "e", "");
            oc_b_node(b, row[i].type, "core", row[i].in, "h", row[i].attributes);
            oc_b_node(b, "Abs", "end", "h", "y", "");
            oc_b_output(b, "y", NULL);
            join_one(&x, b, row[i].form, unique, name);
            expect_nodes(&x, name, "core");
            joined_free(&x);
        }
}

/* Three projections of one normalized tensor. */
static void packed_projections_match_all_three(void **state)
{
    (void)state;
    static const char *const event[] = {"MatMulNBitsQkv|MatMulNBitsQkv|8|2,8", "sum|Sum|5|2,8", NULL};
    struct joined x = {0};
    struct oc_builder *b = oc_b_new(17);
    oc_b_opset(b, "com.microsoft", 1);
    oc_b_input(b, "x", "float[2,8]");
    oc_b_init(b, "g", "float[8]");
    oc_b_init(b, "nb", "uint8[8,1,8]");
    oc_b_init(b, "ns", "float[8]");
    oc_b_node(b, "SimplifiedLayerNormalization", "norm", "x,g", "n", "");
    for (int i = 0; i < 3; i++)
        oc_b_node(b, "com.microsoft::MatMulNBits", (const char *const[]){"q", "k", "v"}[i], "n,nb,ns",
                  (const char *const[]){"a", "b", "c"}[i], "K=8 N=8 bits=4 block_size=16");
    oc_b_node(b, "Sum", "sum", "a,b,c", "y", "");
    oc_b_output(b, "y", NULL);
    join(&x, b, event);
    expect_nodes(&x, "MatMulNBitsQkv", "norm q k v");
    joined_free(&x);
}

/* An If with a constant condition: x -> Exp -> If -> Sin, branches of a product and an activation. */
static struct oc_builder *branches(const char *condition)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[2,8]");
    oc_b_init(b, "w", "float[8,8]");
    oc_b_init(b, "c", condition);
    oc_b_node(b, "Exp", "exp", "x", "e", "");
    oc_b_node(b, "If", "if", "c", "z", "");
    for (int i = 0; i < 2; i++) {
        oc_b_open(b, i ? "else_branch" : "then_branch");
        oc_b_node(b, "MatMul", i ? "mm2" : "mm1", "e,w", i ? "o" : "t", "");
        oc_b_node(b, "Relu", i ? "relu2" : "relu1", i ? "o" : "t", i ? "o2" : "t2", "");
        oc_b_node(b, "MatMul", NULL, i ? "o2,w" : "t2,w", i ? "o3" : "t3", "");
        oc_b_output(b, i ? "o3" : "t3", NULL);
        oc_b_close(b);
    }
    oc_b_node(b, "Sin", "sin", "z", "y", "");
    oc_b_output(b, "y", NULL);
    return b;
}

static void inlined_branches_match_by_type_and_order(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        const char *const then[] = {"exp|Exp|0|2,8",
                                    "_if_then_branch_MatMul|MatMul|3|2,8",
                                    "_if_then_branch_Relu|Relu|4|2,8",
                                    "_if_then_branch_MatMul_token_0/MatMulAddFusion|Gemm|6|2,8",
                                    "sin|Sin|2|2,8",
                                    NULL},
                          *const other[] = {"exp|Exp|0|2,8",
                                            "_if_else_branch_token_3_MatMul|MatMul|3|2,8",
                                            "_if_else_branch_o2_nchwc|Relu|7|2,8",
                                            "z_nchwc|MatMul|8|2,8",
                                            "sin|Sin|2|2,8",
                                            NULL};
        struct joined x = {0};
        join(&x, branches(i ? "bool[]{0}" : "bool[]{1}"), i ? other : then);
        expect_nodes(&x, i ? "_if_else_branch_token_3_MatMul" : "_if_then_branch_MatMul", i ? "mm2" : "mm1");
        expect_nodes(&x, i ? "_if_else_branch_o2_nchwc" : "_if_then_branch_Relu", i ? "relu2" : "relu1");
        for (uint32_t k = 0; k < x.j->profile->n_rec; k++)
            assert_int_equal(x.j->rec[k].n_node, x.p->rec[k].bucket ? 0 : 1);
        joined_free(&x);
    }
}

/* Rows of their own, without nodes of the model. */
static void inserted_nodes_match_nothing(void **state)
{
    (void)state;
    static const char *const form[] = {"Memcpy|MemcpyFromHost",
                                       "Memcpy|MemcpyToHost",
                                       "ReorderInput|ReorderInput",
                                       "ReorderOutput|ReorderOutput",
                                       "InsertedPrecisionFreeCast_h|Cast",
                                       "InsertedCast_h|Cast",
                                       "Inserted_Cast|Cast",
                                       "CastDef_12|Cast",
                                       "h_cast|Cast",
                                       "h_Cast|Cast",
                                       "MaskCast|Cast",
                                       "Cast_Scale|Cast",
                                       "dense_identity|Identity",
                                       "QDQFinalCleanupTransformer|Identity",
                                       "gemm_input_reshape|Reshape",
                                       "gemm_output_reshape|Reshape",
                                       "MobileClipProjGemmInputReshape|Reshape",
                                       "MobileClipProjGemmOutputReshape|Reshape",
                                       "MobileClipSplitForMHA|Split",
                                       "Split|Split",
                                       "Squeeze|Squeeze",
                                       "Squeeze1|Squeeze",
                                       "Unsqueeze_0|Unsqueeze",
                                       "dense_weight_q|QuantizeLinear",
                                       "dense_weight_dq|DequantizeLinear",
                                       "dense_bias_dq|DequantizeLinear",
                                       "dense_dummy_dq|DequantizeLinear",
                                       "dense_scale|Mul",
                                       "dense_bias_div|Div",
                                       "dense_bias_div_round|Round",
                                       "dense_bias_int32|Cast",
                                       "h_q|QuantizeLinear",
                                       "h_dq|DequantizeLinear",
                                       "h_dq1|DequantizeLinear",
                                       "exp/duplicated|DequantizeLinear",
                                       "Transpose|Transpose"};
    for (size_t i = 0; i < OC_COUNT(form); i++)
        for (int unique = 0; unique < 2; unique++) {
            char name[100];
            struct joined x = {0};
            join_one(&x, dense(), form[i], unique, name);
            expect_nodes(&x, name, "");
            assert_non_null(record_of(&x, name)->bucket);
            assert_string_not_equal(record_of(&x, name)->bucket, "unmatched");
            joined_free(&x);
        }
}

/* The texts alone are not enough. */
static void names_of_users_are_not_inserted_nodes(void **state)
{
    (void)state;
    static const char *const form[] = {"attention_scale|Div", "to_q|MatMul",         "spotcast|Cast",
                                       "Splitter|Split",      "a_dq|QuantizeLinear", "MemcpyOfMine|Mul"};
    for (size_t i = 0; i < OC_COUNT(form); i++) {
        char name[100];
        struct joined x = {0};
        join_one(&x, dense(), form[i], false, name);
        expect_nodes(&x, name, "");
        assert_string_equal(record_of(&x, name)->bucket, "unmatched");
        joined_free(&x);
    }
}

/* ---- unnamed nodes --------------------------------------------------------------------------------------
 */

/* MatMul with more than two dimensions becomes a Gemm between two Reshapes. */
static void unnamed_products_of_three_dimensions_match_by_order(void **state)
{
    (void)state;
    static const char *const event[] = {
        "gemm_input_reshape|Reshape|5|8,8|2,4,8",  "/MatMulAddFusion|Gemm|6|8,8",
        "gemm_output_reshape|Reshape|7|2,4,8|8,8", "Relu_2|Relu|2|2,4,8",
        "/MatMulAddFusion_token_6|Gemm|9|8,4|8,8", NULL};
    struct joined x = {0};
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[2,4,8]");
    oc_b_init(b, "w", "float[8,8]");
    oc_b_init(b, "v", "float[8,4]");
    oc_b_init(b, "c", "float[8]");
    oc_b_init(b, "d", "float[4]");
    oc_b_node(b, "MatMul", NULL, "x,w", "p", "");
    oc_b_node(b, "Add", NULL, "p,c", "q", "");
    oc_b_node(b, "Relu", NULL, "q", "r", "");
    oc_b_node(b, "MatMul", NULL, "r,v", "s", "");
    oc_b_node(b, "Add", NULL, "s,d", "y", "");
    oc_b_output(b, "y", NULL);
    join(&x, b, event);
    expect_nodes(&x, "/MatMulAddFusion", "MatMul_0 Add_1");
    expect_nodes(&x, "/MatMulAddFusion_token_6", "MatMul_3 Add_4");
    joined_free(&x);
}

/* Equal shapes: only one of the two products has an activation. */
static void fused_products_match_those_with_an_activation(void **state)
{
    (void)state;
    static const char *const event[] = {"fused /MatMulAddFusion|FusedGemm|9|2,8",
                                        "/MatMulAddFusion_token_0|Gemm|7|2,8", "Softmax_5|Softmax|5|2,8",
                                        NULL};
    struct joined x = {0};
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[2,8]");
    oc_b_init(b, "w", "float[8,8]");
    oc_b_init(b, "c", "float[8]");
    oc_b_node(b, "MatMul", NULL, "x,w", "p", "");
    oc_b_node(b, "Add", NULL, "p,c", "q", "");
    oc_b_node(b, "Relu", NULL, "q", "r", "");
    oc_b_node(b, "MatMul", NULL, "r,w", "s", "");
    oc_b_node(b, "Add", NULL, "s,c", "t", "");
    oc_b_node(b, "Softmax", NULL, "t", "y", "");
    oc_b_output(b, "y", NULL);
    join(&x, b, event);
    expect_nodes(&x, "fused /MatMulAddFusion", "MatMul_0 Add_1 Relu_2");
    expect_nodes(&x, "/MatMulAddFusion_token_0", "MatMul_3 Add_4");
    joined_free(&x);
}

static void unnamed_nodes_in_another_layout_match_by_order(void **state)
{
    (void)state;
    static const char *const event[] = {"Transpose|Transpose|9|1,8,8,4|1,4,8,8",
                                        "_token_2|QLinearConv|10|1,6,6,5|1,8,8,4",
                                        "QLinearSigmoid_12|QLinearSigmoid|12|1,6,6,5",
                                        "Transpose_token_0|Transpose|11|1,5,6,6|1,6,6,5", NULL};
    struct joined x = {0};
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "uint8[1,4,8,8]");
    oc_b_init(b, "s", "float[]{0.1}");
    oc_b_init(b, "z", "uint8[]{0}");
    oc_b_init(b, "w", "float[5,4,3,3]");
    oc_b_node(b, "DequantizeLinear", NULL, "x,s,z", "d", "");
    oc_b_node(b, "Conv", NULL, "d,w", "c", "");
    oc_b_node(b, "QuantizeLinear", NULL, "c,s,z", "q", "");
    oc_b_node(b, "DequantizeLinear", NULL, "q,s,z", "e", "");
    oc_b_node(b, "Sigmoid", NULL, "e", "f", "");
    oc_b_node(b, "QuantizeLinear", NULL, "f,s,z", "y", "");
    oc_b_output(b, "y", NULL);
    join(&x, b, event);
    expect_nodes(&x, "_token_2", "DequantizeLinear_0 Conv_1 QuantizeLinear_2");
    expect_nodes(&x, "QLinearSigmoid_12", "DequantizeLinear_3 Sigmoid_4 QuantizeLinear_5");
    joined_free(&x);
}

/* The quantizer belongs to the product that reads its result. */
static void dynamic_products_do_not_take_the_next_quantizer(void **state)
{
    (void)state;
    static const char *const event[] = {"DynamicQuantizeMatMul_13|DynamicQuantizeMatMul|13|2,8",
                                        "DynamicQuantizeMatMul_14|DynamicQuantizeMatMul|14|2,8", NULL};
    struct joined x = {0};
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x0", "float[2,8]");
    oc_b_init(b, "w", "uint8[8,8]");
    oc_b_init(b, "wz", "uint8[]{1}");
    oc_b_init(b, "ws", "float[]{0.1}");
    for (int i = 0; i < 2; i++) {
        oc_b_node(b, "DynamicQuantizeLinear", NULL, i ? "x1" : "x0", i ? "q1,s1,z1" : "q0,s0,z0", "");
        oc_b_node(b, "MatMulInteger", NULL, i ? "q1,w,z1,wz" : "q0,w,z0,wz", i ? "i1" : "i0", "");
        oc_b_node(b, "Cast", NULL, i ? "i1" : "i0", i ? "c1" : "c0", "to=1");
        oc_b_node(b, "Mul", NULL, i ? "s1,ws" : "s0,ws", i ? "t1" : "t0", "");
        oc_b_node(b, "Mul", NULL, i ? "c1,t1" : "c0,t0", i ? "y" : "x1", "");
    }
    oc_b_output(b, "y", NULL);
    join(&x, b, event);
    expect_nodes(&x, "DynamicQuantizeMatMul_13",
                 "DynamicQuantizeLinear_0 MatMulInteger_1 Cast_2 Mul_3 Mul_4");
    expect_nodes(&x, "DynamicQuantizeMatMul_14",
                 "DynamicQuantizeLinear_5 MatMulInteger_6 Cast_7 Mul_8 Mul_9");
    joined_free(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_are_numbered_in_the_order_of_the_calls),
        cmocka_unit_test(bodies_without_records_do_not_shift_the_others),
        cmocka_unit_test(operators_with_a_kernel_are_not_expanded),
        cmocka_unit_test(numbers_that_contradict_the_times_match_nothing),
        cmocka_unit_test(unknown_bodies_are_found_by_their_repetition),
        cmocka_unit_test(bodies_without_a_known_end_match_nothing),
        cmocka_unit_test(calls_are_expanded_level_by_level),
        cmocka_unit_test(calls_of_constants_run_when_they_are_expanded_late),
        cmocka_unit_test(bodies_have_other_names_up_to_1_16),
        cmocka_unit_test(fusions_of_fusions_match_by_the_inner_name),
        cmocka_unit_test(order_does_not_match_another_shape),
        cmocka_unit_test(vectors_become_rows_of_a_gemm),
        cmocka_unit_test(products_become_blocked_convolutions),
        cmocka_unit_test(order_is_that_in_which_the_runtime_visits_nodes),
        cmocka_unit_test(plain_products_take_no_activation),
        cmocka_unit_test(records_extend_to_their_recorded_output),
        cmocka_unit_test(names_of_reshapes_and_inserted_quantizers),
        cmocka_unit_test(generated_names_contain_the_name_of_a_node),
        cmocka_unit_test(names_of_a_convolution_and_its_activation),
        cmocka_unit_test(generated_names_without_a_node_match_by_order),
        cmocka_unit_test(fusions_named_after_their_type_match_by_their_core),
        cmocka_unit_test(packed_projections_match_all_three),
        cmocka_unit_test(inlined_branches_match_by_type_and_order),
        cmocka_unit_test(inserted_nodes_match_nothing),
        cmocka_unit_test(names_of_users_are_not_inserted_nodes),
        cmocka_unit_test(unnamed_products_of_three_dimensions_match_by_order),
        cmocka_unit_test(fused_products_match_those_with_an_activation),
        cmocka_unit_test(unnamed_nodes_in_another_layout_match_by_order),
        cmocka_unit_test(dynamic_products_do_not_take_the_next_quantizer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
