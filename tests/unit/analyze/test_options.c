/* Options of an analysis that concern more than one operator's rule. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/receipt.h"
#include "support/run_model.h"
#include "onnxcost.h"

/* ---- --count loop-cached ---- */

/* 10 trips of a product with a constant of 16384 bytes (worked case 67); optionally 3 inner trips of the
 * same. */
static struct oc_builder *loop_model(bool nested)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "s", "float[64,64]");
    oc_b_init(b, "M", "int64[]{10}");
    oc_b_init(b, "K", "int64[]{3}");
    oc_b_init(b, "w", "float[64,64]");
    oc_b_node(b, "Loop", "loop", "M,,s", "t", "");
    oc_b_open(b, "body");
    oc_b_input(b, "i", "int64[]");
    oc_b_input(b, "go", "bool[]");
    oc_b_input(b, "a", "float[64,64]");
    oc_b_node(b, "Identity", "same", "go", "go_on", "");
    oc_b_node(b, "MatMul", "mul", "a,w", "m", "");
    if (nested) {
        oc_b_node(b, "Loop", "inner", "K,,m", "p", "");
        oc_b_open(b, "body");
        oc_b_input(b, "j", "int64[]");
        oc_b_input(b, "go2", "bool[]");
        oc_b_input(b, "c", "float[64,64]");
        oc_b_node(b, "Identity", "same2", "go2", "go_on2", "");
        oc_b_node(b, "MatMul", "mul2", "c,w", "d", "");
        oc_b_output(b, "go_on2", "bool[]");
        oc_b_output(b, "d", "float[64,64]");
        oc_b_close(b);
    } else {
        oc_b_node(b, "Relu", "act", "m", "p", "");
    }
    oc_b_output(b, "go_on", "bool[]");
    oc_b_output(b, "p", "float[64,64]");
    oc_b_close(b);
    oc_b_node(b, "MatMul", "after", "t,w", "y", "");
    oc_b_output(b, "y", NULL);
    return b;
}

static void loop_cached_option_reads_constants_once(void **state)
{
    (void)state;
    static const struct {
        bool nested, cached;
        uint64_t inside, deeper;
    } row[] = {
        {false, false, 10 * 16384, 0},
        {false, true, 16384, 0},
        {true, false, 10 * 16384, 30 * 16384},
        {true, true, 16384, 16384},
    };
    for (size_t i = 0; i < OC_COUNT(row); i++) {
        const struct oc_analyze_opts o = {.loop_cached = row[i].cached};
        struct oc_run r = oc_run_model(loop_model(row[i].nested), &o);
        assert_int_equal(r.a->cost[oc_run_node(&r, "mul")].rd_wt, row[i].inside);
        assert_int_equal(r.a->cost[oc_run_node(&r, "mul")].rd_act, 10 * 16384);
        if (row[i].nested)
            assert_int_equal(r.a->cost[oc_run_node(&r, "mul2")].rd_wt, row[i].deeper);
        assert_int_equal(r.a->cost[oc_run_node(&r, "after")].rd_wt, 16384); /* outside the loop */
        oc_run_free(&r);
    }
}

/* ---- --count if=avg ---- */

/* then: MatMul {2,3}x{3,5} and Relu; else: Relu of {1,3} twice and an If of two more branches */
static struct oc_builder *if_model(void)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[2,3]");
    oc_b_input(b, "w", "float[3,5]");
    oc_b_input(b, "v", "float[1,3]");
    oc_b_input(b, "c", "bool[]");
    oc_b_node(b, "If", "if", "c", "y", "");
    oc_b_open(b, "then_branch");
    oc_b_node(b, "MatMul", "product", "x,w", "p", "");
    oc_b_node(b, "Softmax", "soft", "p", "t", "");
    oc_b_output(b, "t", NULL);
    oc_b_close(b);
    oc_b_open(b, "else_branch");
    oc_b_node(b, "Relu", "one", "v", "e1", "");
    oc_b_node(b, "If", "deeper", "c", "e", "");
    oc_b_open(b, "then_branch");
    oc_b_node(b, "Relu", "two", "e1", "f", "");
    oc_b_output(b, "f", NULL);
    oc_b_close(b);
    oc_b_open(b, "else_branch");
    oc_b_node(b, "Sigmoid", "three", "x", "g", "");
    oc_b_output(b, "g", NULL);
    oc_b_close(b);
    oc_b_output(b, "e", NULL);
    oc_b_close(b);
    oc_b_output(b, "y", NULL);
    return b;
}

/* then: 60 + 50 FLOPs, 30 MACs, bytes 24 + 60 + 40 and 40 + 40. else: 3 + half of (3 + 6) = 4, the bytes 12 +
 * 12 and half of (12 + 12) + (24 + 24) = 36. Mean of 110 and 3 + 4 = 117/2; of 204 and 24 + 36. */
static void if_avg_option_averages_branches(void **state)
{
    (void)state;
    const struct oc_analyze_opts o = {.if_mode = OC_IF_AVG};
    struct oc_run r = oc_run_model(if_model(), &o);
    const struct oc_totals *t = r.a->total;
    assert_int_equal(t->macs, 15);
    assert_int_equal(t->flops, 58);
    assert_int_equal(t->bytes_read_act + t->bytes_written, (204 + 60) / 2);
    assert_int_equal(t->quality, OC_EST);
    assert_int_equal(r.a->cost[oc_run_node(&r, "product")].flops, 30);
    assert_int_equal(r.a->cost[oc_run_node(&r, "product")].hist[0].n, 15);
    assert_int_equal(r.a->n_assumption, 2);
    assert_string_equal(r.a->assumption[1].name, "if");
    assert_string_equal(r.a->assumption[1].value, "half of each");
    oc_run_free(&r);
}

/* Terms add up although only half of the executed operations count. */
static void if_avg_differences_add_up(void **state)
{
    (void)state;
    const struct oc_analyze_opts o = {.if_mode = OC_IF_AVG},
                                 other = {.if_mode = OC_IF_AVG, .convention = "onnx-tool"};
    struct oc_run r = oc_run_model(if_model(), &o);
    struct oc_analysis *b;
    struct oc_explanation x;
    struct oc_err err;
    assert_int_equal(oc_analyze(r.m, &other, &b, &err), 0);
    const struct oc_analysis *const both[2] = {r.a, b};
    assert_int_equal(oc_explain(both, &x, &err), 0);
    assert_true(x.n_type >= 4);
    for (uint32_t i = 0; i < x.n_type; i++) {
        int64_t sum = 0;
        for (uint32_t k = 0; k < x.type[i].n_term; k++)
            sum += x.type[i].term[k].difference;
        assert_int_equal(sum, (int64_t)x.type[i].count[1] - (int64_t)x.type[i].count[0]);
    }
    oc_explanation_free(&x);
    oc_analysis_free(b);
    oc_run_free(&r);
}

/* ---- --count weights ---- */

static struct oc_builder *softmax_model(void)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[1,12,128,128]");
    oc_b_node(b, "Softmax", "n", "x", "y", "axis=-1");
    oc_b_output(b, "y", NULL);
    return b;
}

static void named_weights_scale_primitives(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint64_t flops;
    } row[] = {{NULL, 983040}, {"unit", 983040}, {"hw", 5308416}, {"mac", 0}}; /* worked case 26 */
    for (size_t i = 0; i < OC_COUNT(row); i++) {
        const struct oc_analyze_opts o = {.weights = row[i].name};
        struct oc_run r = oc_run_model(softmax_model(), &o);
        assert_int_equal(r.a->total->flops, row[i].flops);
        oc_run_free(&r);
    }
    const struct oc_analyze_opts o = {.weights = "/nowhere/flop"};
    struct oc_run r = oc_run_model(softmax_model(), &o);
    assert_null(r.a);
    assert_non_null(strstr(r.err.msg, "--count weights takes unit, hw, mac or a file: "));
    oc_run_free(&r);
}

/* ---- --count bytes ---- */

/* A table of which 2 of 100 rows of 16 bytes are read, twice; a view; a constant for the host; a constant
 * without a reader */
static struct oc_builder *bytes_model(void)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "i", "int64[2]");
    oc_b_input(b, "idle", "float[1000]");
    oc_b_init(b, "table", "float[100,4]");
    oc_b_init(b, "shape", "int64[1]{8}");
    oc_b_init(b, "unused", "float[7]");
    oc_b_node(b, "Gather", "rows", "table,i", "r", "");
    oc_b_node(b, "Reshape", "flat", "r,shape", "f", "");
    oc_b_node(b, "Add", "twice", "f,f", "y", "");
    oc_b_output(b, "y", NULL);
    return b;
}

static void bytes_option_selects_the_byte_model(void **state)
{
    (void)state;
    static const struct {
        bool naive, graph;
        uint64_t act, weight, written;
    } row[] = {
        /* indices 16, then 32 once; rows 32; Gather 32 and Add 32 */
        {false, false, 16 + 32, 32, 32 + 32},
        /* indices, the view's input, both inputs of Add; table and shape; all three outputs */
        {true, false, 16 + 32 + 64, 1600 + 8, 96},
        /* the bytes read of the inputs, the table, the output */
        {false, true, 16, 1600, 32},
    };
    for (size_t i = 0; i < OC_COUNT(row); i++) {
        const struct oc_analyze_opts o = {.naive_bytes = row[i].naive, .graph_bytes = row[i].graph};
        struct oc_run r = oc_run_model(bytes_model(), &o);
        const struct oc_totals *t = r.a->total;
        assert_int_equal(t->bytes_read_act, row[i].act);
        assert_int_equal(t->bytes_read_weight, row[i].weight);
        assert_int_equal(t->bytes_written, row[i].written);
        assert_int_equal(t->bytes_bound, row[i].graph);
        oc_run_free(&r);
    }
}

/* ---- --count prefer-functions ---- */

/* A function that has the name of an operator but twice its operations. */
static struct oc_builder *function_model(void)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_function(b, "", "Relu", "X", "Y", "");
    oc_b_opset(b, "", 17);
    oc_b_node(b, "Abs", "abs", "X", "A", "");
    oc_b_node(b, "Neg", "neg", "A", "Y", "");
    oc_b_close(b);
    oc_b_input(b, "x", "float[2,3]");
    oc_b_node(b, "Relu", "call", "x", "y", "");
    oc_b_output(b, "y", NULL);
    return b;
}

static void prefer_functions_option_uses_the_function_body(void **state)
{
    (void)state;
    struct oc_run r = oc_run_model(function_model(), NULL);
    assert_int_equal(r.a->total->flops, 6);
    assert_int_equal(r.a->cost[oc_run_node(&r, "call")].flops, 6);
    assert_int_equal(r.a->total->nodes, 1);
    oc_run_free(&r);
    const struct oc_analyze_opts o = {.prefer_functions = true};
    r = oc_run_model(function_model(), &o);
    assert_string_equal(oc_run_type(&r, "y"), "float[2,3]");
    assert_int_equal(r.a->total->flops, 12);
    assert_int_equal(r.a->cost[oc_run_node(&r, "call")].state, OC_NODE_CONTAINER);
    assert_int_equal(r.a->cost[oc_run_node(&r, "call/neg")].flops, 6);
    oc_run_free(&r);
}

/* ---- options that reach a rule ---- */

static void counting_options_reach_the_rules(void **state)
{
    (void)state;
    const struct oc_analyze_opts o = {.einsum_optimal = true, .inplace = true};
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "a", "float[8,16]");
    oc_b_input(b, "b", "float[16,32]");
    oc_b_input(b, "c", "float[32,4]");
    oc_b_input(b, "i", "int64[10,1]");
    oc_b_input(b, "d", "float[1000,64]");
    oc_b_input(b, "u", "float[10,64]");
    oc_b_node(b, "Einsum", "chain", "a,b,c", "e", "equation='ab,bc,cd->ad'");
    oc_b_node(b, "ScatterND", "scatter", "d,i,u", "s", "");
    oc_b_output(b, "e", NULL);
    oc_b_output(b, "s", NULL);
    struct oc_run r = oc_run_model(b, &o);
    assert_int_equal(r.a->cost[oc_run_node(&r, "chain")].macs, 2560);
    assert_int_equal(r.a->cost[oc_run_node(&r, "scatter")].wr, 2560);
    oc_run_free(&r);
}

static void numbers_out_of_range_are_errors(void **state)
{
    (void)state;
    static const int64_t negative[] = {64, -1};
    static const struct oc_bind trip = {.symbol = "loop", .value = -1};
    static const struct oc_shape_bind shape = {.input = "s", .rank = 2, .dim = negative};
    const struct {
        struct oc_analyze_opts o;
        const char *msg;
    } row[] = {
        {{.default_dim = -1}, "option default_dim is -1"},
        {{.if_mode = (enum oc_if_mode)(OC_IF_AVG + 1)}, "option if_mode is 4: from 0 to 3"},
        {{.if_mode = (enum oc_if_mode) - 1}, "option if_mode is "},
        {{.kv_share = (enum oc_kv_share)(OC_KV_OFF + 1)}, "option kv_share is 3: from 0 to 2"},
        {{.align_bytes = UINT64_MAX}, "option align_bytes is -1"},
        {{.trip = &trip, .n_trip = 1}, "loop 'loop' cannot have -1 iterations"},
        {{.shape = &shape, .n_shape = 1}, "dimension 1 of input 's' cannot be -1"},
    };
    const struct oc_analyze_opts last = {.if_mode = OC_IF_AVG, .kv_share = OC_KV_OFF};
    struct oc_run r = oc_run_model(loop_model(false), &last);
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        struct oc_analysis *a;
        struct oc_err err = {0};
        assert_int_equal(oc_analyze(r.m, &row[i].o, &a, &err), -1);
        assert_int_equal(err.code, OC_EARG);
        if (!strstr(err.msg, row[i].msg))
            fail_msg("'%s' without '%s'", err.msg, row[i].msg);
    }
    oc_run_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loop_cached_option_reads_constants_once),
        cmocka_unit_test(if_avg_option_averages_branches),
        cmocka_unit_test(if_avg_differences_add_up),
        cmocka_unit_test(named_weights_scale_primitives),
        cmocka_unit_test(bytes_option_selects_the_byte_model),
        cmocka_unit_test(prefer_functions_option_uses_the_function_body),
        cmocka_unit_test(counting_options_reach_the_rules),
        cmocka_unit_test(numbers_out_of_range_are_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
