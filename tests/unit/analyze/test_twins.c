/* Nodes that repeat: they have the cost of the first one, and only if all that a rule sees is equal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/analysis.h"
#include "support/run_model.h"
#include "onnxcost.h"

static void repeated_nodes_have_the_cost_of_the_first(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[5,4]");
    oc_b_init(b, "v", "float[4,4]");
    oc_b_init(b, "w", "float[4,4]");
    oc_b_node(b, "MatMul", "first", "x,v", "a", "");
    oc_b_node(b, "Relu", "relu", "a", "c", "");
    oc_b_node(b, "MatMul", "second", "c,w", "d", "");
    oc_b_node(b, "MatMul", "again", "d,w", "y", "");
    oc_b_output(b, "y", NULL);
    struct oc_run r = oc_run_model(b, NULL);
    uint32_t first = oc_run_node(&r, "first"), second = oc_run_node(&r, "second"),
             again = oc_run_node(&r, "again");
    assert_int_equal(r.a->twin[first], first);
    assert_int_equal(r.a->twin[second], first);
    assert_int_equal(r.a->twin[again], first);
    assert_int_equal(r.a->cost[second].macs, 5 * 4 * 4);
    assert_int_equal(r.a->cost[second].rd_wt, 16 * 4);
    assert_int_equal(r.a->cost[second].rd_act, 20 * 4);
    assert_int_equal(r.a->cost[first].params, 16); /* parameters are those of the first reader */
    assert_int_equal(r.a->cost[second].params, 16);
    assert_int_equal(r.a->cost[again].params, 0);
    assert_int_equal(r.a->total->macs, 3 * 5 * 4 * 4);
    oc_run_free(&r);
}

static void means_of_costs_have_no_twins(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[5,4]");
    oc_b_node(b, "Relu", "first", "x", "a", "");
    oc_b_node(b, "Relu", "second", "a", "y", "");
    oc_b_output(b, "y", NULL);
    struct oc_run r = oc_run_model(b, NULL);
    uint32_t second = oc_run_node(&r, "second");
    assert_int_not_equal(r.a->twin[second], second);
    struct oc_cost_sums *s = oc_cost_sums_new(r.m);
    oc_cost_sums_add(s, r.a, 1);
    oc_cost_sums_apply(s, r.a);
    oc_cost_sums_free(s);
    assert_int_equal(r.a->twin[second], second);
    oc_run_free(&r);
}

/* Two nodes that differ in one thing only, and a count in which it shows. */
static void nodes_that_differ_have_their_own_cost(void **state)
{
    (void)state;
    static const struct {
        const char *op, *in[2], *out[2], *attr[2];
        uint64_t act[2], weights[2], written[2];
    } row[] = {
        {"Gemm", {"x,v", "x,v"}, {"a", "b"}, {"", "transB=1"}, {64, 64}, {64, 64}, {64, 64}}, /* attribute */
        {"MatMul", {"x,v", "x,z"}, {"a", "b"}, {"", ""}, {64, 128}, {64, 0}, {64, 64}},       /* a constant */
        {"Add", {"x,z", "x,x"}, {"a", "b"}, {"", ""}, {128, 64}, {0, 0}, {64, 64}},           /* read twice */
        {"Add", {"x,z", "x,row"}, {"a", "b"}, {"", ""}, {128, 80}, {0, 0}, {64, 64}},         /* a shape */
        {"Relu", {"x", "half"}, {"a", "b"}, {"", ""}, {64, 32}, {0, 0}, {64, 32}},            /* a type */
        {"Split", {"x", "x"}, {"a,c", "b,"}, {"", ""}, {64, 64}, {0, 0}, {64, 32}},           /* an output */
    };
    for (size_t i = 0; i < OC_COUNT(row); i++) {
        struct oc_builder *b = oc_b_new(17);
        oc_b_input(b, "x", "float[4,4]");
        oc_b_input(b, "z", "float[4,4]");
        oc_b_input(b, "row", "float[4]");
        oc_b_input(b, "half", "float16[4,4]");
        oc_b_init(b, "v", "float[4,4]");
        oc_b_node(b, row[i].op, "first", row[i].in[0], row[i].out[0], row[i].attr[0]);
        oc_b_node(b, row[i].op, "second", row[i].in[1], row[i].out[1], row[i].attr[1]);
        oc_b_output(b, "a", NULL);
        oc_b_output(b, "b", NULL);
        if (strchr(row[i].out[0], 'c'))
            oc_b_output(b, "c", NULL);
        struct oc_run r = oc_run_model(b, NULL);
        const uint32_t node[] = {oc_run_node(&r, "first"), oc_run_node(&r, "second")};
        for (unsigned k = 0; k < 2; k++) {
            assert_int_equal(r.a->twin[node[k]], node[k]);
            assert_int_equal(r.a->cost[node[k]].rd_act, row[i].act[k]);
            assert_int_equal(r.a->cost[node[k]].rd_wt, row[i].weights[k]);
            assert_int_equal(r.a->cost[node[k]].wr, row[i].written[k]);
        }
        oc_run_free(&r);
    }
}

/* A weight that is stored in 8 bits is read so: of two equal products, one reads a quarter of the bytes. */
static void products_of_dequantized_weights_have_their_own_cost(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[4,4]");
    oc_b_init(b, "v", "float[4,4]");
    oc_b_init(b, "stored", "int8[4,4]");
    oc_b_init(b, "scale", "float{0.5}");
    oc_b_node(b, "MatMul", "first", "x,v", "a", "");
    oc_b_node(b, "DequantizeLinear", "restore", "stored,scale", "w", "");
    oc_b_node(b, "MatMul", "second", "a,w", "y", "");
    oc_b_output(b, "y", NULL);
    struct oc_run r = oc_run_model(b, NULL);
    uint32_t second = oc_run_node(&r, "second");
    assert_int_equal(r.a->twin[second], second);
    assert_int_equal(r.a->cost[oc_run_node(&r, "first")].rd_wt, 64);
    assert_int_equal(r.a->cost[second].rd_wt, 16 + 4); /* and the scale */
    oc_run_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(repeated_nodes_have_the_cost_of_the_first),
                                       cmocka_unit_test(means_of_costs_have_no_twins),
                                       cmocka_unit_test(nodes_that_differ_have_their_own_cost),
                                       cmocka_unit_test(products_of_dequantized_weights_have_their_own_cost)};
    return cmocka_run_group_tests_name("analyze/twins", tests, NULL, NULL);
}
