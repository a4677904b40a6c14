/* The copies of DequantizeLinear that ONNX Runtime adds to a graph. Names and numbers as in recordings of 1.30. */
#include "memory/memory_report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "onnxcost.h"
#include "onnxcost/memory.h"
#include "support/run_model.h"

/* d = DequantizeLinear(q) is read by Relu and twice by Add; e has one reader. */
static struct oc_builder *shared(bool as_output)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "q", "uint8[1,256]");
    oc_b_init(b, "s", "float[]{0.5}");
    oc_b_init(b, "z", "uint8[]{0}");
    oc_b_node(b, "DequantizeLinear", "dq", "q,s,z", "d", "");
    oc_b_node(b, "DequantizeLinear", "other", "q,s,z", "e", "");
    oc_b_node(b, "Relu", "relu", "d", "r", "");
    oc_b_node(b, "Add", "add", "d,d", "a", "");
    oc_b_node(b, "Mul", "mul", "a,e", "m", "");
    oc_b_node(b, "Add", "last", "r,m", "y", "");
    oc_b_output(b, "y", NULL);
    if (as_output)
        oc_b_output(b, "d", NULL);
    return b;
}

struct made {
    struct oc_run r;
    struct oc_liveness *l;
    struct oc_ort_graph *graph;
};

static struct made make(struct oc_builder *b)
{
    struct made c = {.r = oc_run_model(b, NULL)};
    const struct oc_liveness_opts o = {.all = true, .without_inputs = true, .order = OC_ORDER_ORT};
    assert_non_null(c.r.a);
    c.l = oc_liveness_make(c.r.a, 0, &o);
    c.graph = oc_ort_graph_make(c.r.m, c.l->step, c.l->n_step);
    return c;
}

static void made_free(struct made *c)
{
    oc_ort_graph_free(c->graph);
    oc_liveness_free(c->l);
    oc_run_free(&c->r);
}

static const struct oc_node *node_named(const struct oc_model *m, const char *name)
{
    for (uint32_t i = 0; i < m->graph[0].n_node; i++)
        if (strcmp(m->node[m->graph[0].node[i]].name, name) == 0)
            return &m->node[m->graph[0].node[i]];
    fail_msg("no node '%s'", name);
    return NULL;
}

static void each_reader_has_its_own_node(void **state)
{
    (void)state;
    struct made c = make(shared(false));
    assert_non_null(c.graph);
    const struct oc_model *m = &c.graph->model;
    assert_int_equal(m->graph[0].n_node, 8);
    const struct oc_node *add = node_named(m, "add"), *first = node_named(m, "dq/duplicated"),
                         *second = node_named(m, "dq/duplicated_token_1");
    assert_int_equal(node_named(m, "relu")->in[0], node_named(m, "dq")->out[0]);
    assert_int_equal(add->in[0], first->out[0]);
    assert_int_equal(add->in[1], second->out[0]);
    assert_int_equal(m->value[add->in[1]].n_use, 1);
    assert_int_equal(m->value[node_named(m, "dq")->out[0]].n_use, 1);
    assert_int_equal(m->value[second->out[0]].producer, second - m->node);
    assert_int_equal(c.r.m->graph[0].n_node, 6); /* the model itself is as it was */
    assert_int_equal(c.r.m->value[node_named(c.r.m, "dq")->out[0]].n_use, 3);
    made_free(&c);
}

static void output_keeps_the_original(void **state)
{
    (void)state;
    struct made c = make(shared(true));
    assert_non_null(c.graph);
    const struct oc_model *m = &c.graph->model;
    assert_int_equal(m->graph[0].n_node, 9);
    assert_int_equal(node_named(m, "relu")->in[0], node_named(m, "dq/duplicated")->out[0]);
    assert_int_equal(node_named(m, "add")->in[1], node_named(m, "dq/duplicated_token_3")->out[0]);
    assert_true(m->value[node_named(m, "dq")->out[0]].graph_output);
    assert_false(m->value[node_named(m, "relu")->in[0]].graph_output);
    made_free(&c);
}

static void single_readers_are_not_copied(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "q", "uint8[1,256]");
    oc_b_init(b, "s", "float[]{0.5}");
    oc_b_node(b, "DequantizeLinear", "dq", "q,s", "d", "");
    oc_b_node(b, "Relu", "relu", "d", "y", "");
    oc_b_output(b, "y", NULL);
    struct made c = make(b);
    assert_null(c.graph);
    made_free(&c);
}

/* Tensors of 1024 bytes. The runtime goes from the last input of `last` on: without copies d is live while Mul runs, with a,
 * e and m; with copies Add has d twice, and its result. */
static void copies_live_shorter(void **state)
{
    (void)state;
    struct oc_run r = oc_run_model(shared(false), NULL);
    const struct oc_analyze_opts analyze = {.size = sizeof(analyze)};
    struct oc_memory_opts o = {.size = sizeof(o), .as_onnxruntime = true, .analyze = &analyze};
    struct oc_memory *with, *without;
    struct oc_err err;
    assert_int_equal(oc_memory_make(r.a, &o, &with, &err), 0);
    o.analyze = NULL;
    assert_int_equal(oc_memory_make(r.a, &o, &without, &err), 0);
    assert_int_equal(oc_memory_info(without)->peak_bytes, 4096);
    assert_int_equal(oc_memory_info(with)->peak_bytes, 3072);
    oc_memory_free(with);
    oc_memory_free(without);
    oc_run_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_reader_has_its_own_node),
        cmocka_unit_test(output_keeps_the_original),
        cmocka_unit_test(single_readers_are_not_copied),
        cmocka_unit_test(copies_live_shorter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
