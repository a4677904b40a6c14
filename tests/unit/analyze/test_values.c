/* Types and shapes of values through the public interface. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "support/run_model.h"
#include "onnxcost.h"

static struct oc_value_info value_of(const struct oc_run *r, const char *name)
{
    struct oc_value_info v;
    for (size_t i = 0; oc_analysis_value(r->a, i, &v) == 0; i++)
        if (!strcmp(v.name, name))
            return v;
    fail_msg("no value '%s'", name);
    return v;
}

static struct oc_run conv_clip(void)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[N,3,8,W]");
    oc_b_init(b, "w", "float[4,3,3,3]");
    oc_b_init(b, "most", "float[]");
    oc_b_node(b, "Conv", "/conv", "x,w", "y", "pads=1,1,1,1 strides=2,2");
    oc_b_node(b, "Clip", "/clip", "y,,most", "z", "");
    oc_b_output(b, "z", NULL);
    return oc_run_model(b, &(struct oc_analyze_opts){.no_defaults = true});
}

static void values_have_type_shape_kind_and_origin(void **state)
{
    struct oc_run r = conv_clip();
    struct oc_value_info x = value_of(&r, "x"), w = value_of(&r, "w"), y = value_of(&r, "y"),
                         z = value_of(&r, "z");
    (void)state;
    assert_int_equal(x.kind, OC_VALUE_INPUT);
    assert_int_equal(x.producer, OC_NO_INDEX);
    assert_string_equal(x.origin[0], "N");
    assert_int_equal(x.dim[0], -1);
    assert_int_equal(x.dim[1], 3);
    assert_null(x.origin[1]);
    assert_int_equal(w.kind, OC_VALUE_INITIALIZER);
    assert_true(w.constant && w.tensor && w.ranked);
    assert_int_equal(w.rank, 4);
    assert_int_equal(y.kind, OC_VALUE_INTERMEDIATE);
    assert_false(y.constant);
    assert_string_equal(y.dtype, "float");
    assert_int_equal(y.dim[1], 4);
    assert_int_equal(y.dim[2], 4);
    assert_int_equal(y.dim[3], -1);
    assert_non_null(strstr(y.origin[3], "W"));
    assert_int_equal(z.kind, OC_VALUE_OUTPUT);
    oc_run_free(&r);
}

static void nodes_name_their_values_and_values_their_producer(void **state)
{
    struct oc_run r = conv_clip();
    struct oc_node_info n;
    struct oc_value_info v;
    (void)state;
    assert_int_equal(oc_analysis_node(r.a, oc_run_node(&r, "/clip"), &n), 0);
    assert_int_equal(n.n_in, 3);
    assert_int_equal(n.n_out, 1);
    assert_int_equal(oc_analysis_value(r.a, n.in[0], &v), 0);
    assert_string_equal(v.name, "y");
    assert_int_equal(v.producer, oc_run_node(&r, "/conv"));
    assert_int_equal(n.in[1], OC_NO_INDEX);
    assert_int_equal(oc_analysis_value(r.a, n.in[2], &v), 0);
    assert_string_equal(v.name, "most");
    assert_true(v.ranked && v.rank == 0);
    assert_int_equal(oc_analysis_value(r.a, oc_analysis_values(r.a), &v), -1);
    assert_int_equal(oc_analysis_node(r.a, oc_analysis_nodes(r.a) - 1, &n), 0);
    assert_int_equal(oc_analysis_node(r.a, oc_analysis_nodes(r.a), &n), -1);
    assert_int_equal(oc_analysis_value(r.a, OC_NO_INDEX, &v), -1);
    oc_run_free(&r);
}

static void what_is_unknown_is_not_a_number(void **state)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[2,3]");
    oc_b_opset(b, "com.other", 1);
    oc_b_node(b, "com.other::Mystery", "/m", "x", "u", "");
    oc_b_node(b, "SequenceConstruct", "/s", "x,x", "seq", "");
    oc_b_output(b, "u", NULL);
    struct oc_run r = oc_run_model(b, NULL);
    struct oc_value_info u = value_of(&r, "u"), seq = value_of(&r, "seq");
    (void)state;
    assert_false(u.ranked || u.tensor);
    assert_null(u.dtype);
    assert_false(seq.tensor || seq.ranked);
    assert_null(seq.dtype);
    oc_run_free(&r);
}

/* The value of an input decides shapes and branches; the input stays an input, and its work stays work. */
static void values_of_inputs_do_not_fold_nodes(void **state)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "ids", "int64[4]");
    oc_b_input(b, "to", "int64[2]");
    oc_b_init(b, "table", "float[8,4]");
    oc_b_init(b, "w", "float[4,4]");
    oc_b_node(b, "Gather", "gather", "table,ids", "e", "");
    oc_b_node(b, "MatMul", "product", "e,w", "p", "");
    oc_b_node(b, "Reshape", "reshape", "p,to", "y", "");
    oc_b_node(b, "Add", "twice", "ids,ids", "t", "");
    oc_b_node(b, "Add", "again", "t,t", "u", "");
    oc_b_node(b, "Shape", "shape", "ids", "s", "");
    oc_b_node(b, "Cast", "cast", "s", "z", "to=1");
    oc_b_output(b, "y", NULL);
    oc_b_output(b, "z", NULL);
    oc_b_output(b, "u", NULL);
    struct oc_value_bind value[] = {{"ids", "1,2,3,1"}, {"to", "2,8"}};
    struct oc_run r = oc_run_model(b, &(struct oc_analyze_opts){.value = value, .n_value = 2});
    (void)state;
    assert_int_equal(r.a->total->macs, 64);
    assert_int_equal(r.a->cost[0].state, OC_NODE_NORMAL);
    assert_int_equal(r.a->cost[oc_run_node(&r, "again")].state,
                     OC_NODE_NORMAL); /* through what is computed from it */
    assert_int_equal(r.a->cost[oc_run_node(&r, "shape")].state,
                     OC_NODE_FOLDED); /* the shape does not depend on the value */
    struct oc_value_info y = value_of(&r, "y");
    assert_int_equal(y.rank, 2);
    assert_int_equal(y.dim[1], 8);
    oc_run_free(&r);
}

/* As in a recording: one number is that of every element, whatever their number. */
static void one_number_fills_an_input(void **state)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "ids", "int64[2,3]");
    oc_b_input(b, "to", "int64[2]");
    oc_b_node(b, "Expand", "expand", "ids,to", "y", "");
    oc_b_input(b, "large", "int64[1000,1000]");
    oc_b_node(b, "Cast", "cast", "large", "z", "to=1");
    oc_b_output(b, "y", NULL);
    oc_b_output(b, "z", NULL);
    struct oc_value_bind value[] = {{"ids", "7"}, {"to", "1"}, {"large", "1"}};
    struct oc_run r = oc_run_model(b, &(struct oc_analyze_opts){.value = value, .n_value = 3});
    (void)state;
    assert_non_null(r.a);
    assert_int_equal(value_of(&r, "y").dim[1], 3);
    uint32_t ids = r.m->graph[0].input[0], to = r.m->graph[0].input[1], large = r.m->graph[0].input[2];
    assert_int_equal(r.a->data[ids]->n, 6);
    assert_int_equal(r.a->data[ids]->e[5].i.v, 7);
    assert_int_equal(r.a->data[to]->n, 2);
    assert_null(r.a->data[large]);
    oc_run_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_have_type_shape_kind_and_origin),
        cmocka_unit_test(nodes_name_their_values_and_values_their_producer),
        cmocka_unit_test(what_is_unknown_is_not_a_number),
        cmocka_unit_test(values_of_inputs_do_not_fold_nodes),
        cmocka_unit_test(one_number_fills_an_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
