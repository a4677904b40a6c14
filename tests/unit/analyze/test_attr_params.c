/* The whole analysis of models whose weights are attributes, and of operators without a cost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/analysis.h"
#include "support/build.h"
#include "onnxcost.h"

struct result {
    struct oc_model *m;
    struct oc_analysis *a;
    uint8_t *bytes;
    struct oc_totals total;
};

static struct result run(struct oc_builder *b)
{
    struct result r;
    struct oc_err err = {0};
    size_t n;
    oc_b_output(b, "y", NULL);
    r.bytes = oc_b_pack(b, &n);
    oc_b_free(b);
    if (oc_model_load_mem(r.bytes, n, NULL, &r.m, &err) || oc_analyze(r.m, NULL, &r.a, &err))
        fail_msg("%s", err.msg);
    oc_analysis_total(r.a, &r.total);
    return r;
}

static void result_free(struct result *r)
{
    oc_analysis_free(r->a);
    oc_model_free(r->m);
    free(r->bytes);
}

static struct oc_builder *begin_model(void)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_opset(b, "ai.onnx.ml", 3);
    oc_b_opset(b, "com.microsoft", 1);
    oc_b_input(b, "x", "float[9,4]");
    return b;
}

/* 8 coefficients and 2 intercepts; 9 samples of 4 features, 2 targets */
static void linear_model_counts_attribute_parameters(void **state)
{
    (void)state;
    struct oc_builder *b = begin_model();
    oc_b_node(b, "ai.onnx.ml::LinearRegressor", NULL, "x", "y",
              "targets=2 coefficients:floats=[1,2,3,4,5,6,7,8] intercepts:floats=[1,2]");
    struct result r = run(b);
    assert_int_equal(r.total.params, 10);
    assert_int_equal(r.total.macs, 72);
    assert_int_equal(r.total.flops, 144 + 18);
    assert_int_equal(r.total.bytes_read_weight, 0); /* attributes are not tensors */
    assert_int_equal(r.a->cost[0].params, 10);
    result_free(&r);
}

static const char two_trees[] =
    "nodes_treeids=0,0,0,1,1,1,1,1 nodes_nodeids=0,1,2,0,1,2,3,4 nodes_truenodeids=1,0,0,1,0,3,0,0 "
    "nodes_falsenodeids=2,0,0,2,0,4,0,0 target_ids=0,0,0,0,0 "
    "nodes_modes='BRANCH_LEQ','LEAF','LEAF','BRANCH_LT','LEAF','BRANCH_EQ','LEAF','LEAF'";

/* 3 thresholds and 5 leaves; mean depths 1 and 5/3 */
static void tree_ensemble_counts_attribute_parameters(void **state)
{
    (void)state;
    struct oc_builder *b = begin_model();
    oc_b_node(b, "ai.onnx.ml::TreeEnsembleRegressor", NULL, "x", "y", two_trees);
    struct result r = run(b);
    assert_int_equal(r.total.params, 8);
    assert_int_equal(r.total.flops, 24 + 18);
    assert_int_equal(r.total.quality, OC_EXACT);
    result_free(&r);
}

/* The shape is still known, and the reason is reported. */
static void broken_trees_have_unknown_cost_and_known_shape(void **state)
{
    (void)state;
    struct oc_builder *b = begin_model();
    oc_b_node(b, "ai.onnx.ml::TreeEnsembleRegressor", NULL, "x", "y",
              "nodes_treeids=3,3 nodes_nodeids=[0] nodes_truenodeids=[7] nodes_falsenodeids=[0] "
              "nodes_modes:strings=['LEAF']");
    struct result r = run(b);
    assert_int_equal(r.total.unknown_nodes, 1);
    assert_string_equal(r.a->cost[0].note, "the lists of nodes have different lengths");
    result_free(&r);
}

static void opaque_operators_have_unknown_cost(void **state)
{
    (void)state;
    struct oc_builder *b = begin_model();
    oc_b_value(b, "y", "float[9,2]");
    oc_b_node(b, "com.microsoft::EPContext", NULL, "x", "y", "");
    struct result r = run(b);
    assert_int_equal(r.total.unknown_nodes, 1);
    assert_string_equal(r.a->cost[0].note, "the model does not define what the operator computes");
    assert_string_equal(oc_type_text(&r.a->arena, r.a->exprs, &r.a->type[r.m->node[0].out[0]]), "float[9,2]");
    result_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(linear_model_counts_attribute_parameters),
        cmocka_unit_test(tree_ensemble_counts_attribute_parameters),
        cmocka_unit_test(broken_trees_have_unknown_cost_and_known_shape),
        cmocka_unit_test(opaque_operators_have_unknown_cost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
