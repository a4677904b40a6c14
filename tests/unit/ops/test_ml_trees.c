#include "support/op_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define ML "ai.onnx.ml:"

/* Tree 0: node 0 {1, 2}, 1 and 2 leaves: depths 1, 1. Tree 1: 0 {1, 2}, 2 {3, 4}: depths 1, 2, 2. */
#define TWO_TREES                                                                                            \
    "nodes_treeids=[0,0,0,1,1,1,1,1] nodes_nodeids=[0,1,2,0,1,2,3,4] nodes_truenodeids=[1,0,0,1,0,3,0,0] "   \
    "nodes_falsenodeids=[2,0,0,2,0,4,0,0] "                                                                  \
    "nodes_modes=[\"BRANCH_LEQ\",\"LEAF\",\"LEAF\",\"BRANCH_LT\",\"LEAF\",\"BRANCH_EQ\",\"LEAF\",\"LEAF\"] "

static const struct op_shape_row shapes[] = {
    {ML "TreeEnsembleClassifier", 1, "classlabels_int64s=[0,1,2]", "float[N,4]", "yy", "int64[N] float[N,3]"},
    {ML "TreeEnsembleClassifier", 3, "classlabels_strings=[\"a\",\"b\"]", "double[N,4]", "yy",
     "string[N] float[N,2]"},
    {ML "TreeEnsembleClassifier", 3, "", "double[N,4]", "yy", "error: class labels are missing"},
    {ML "TreeEnsembleRegressor", 1, "n_targets=2", "int64[N,4]", "y", "float[N,2]"},
    {ML "TreeEnsemble", 5, "n_targets=2", "double[N,4]", "y", "double[N,2]"},
    {ML "TreeEnsemble", 5, "", "float", "y", "float[rows,1]"},
};

static const struct op_cost_row costs[] = {
    /* mean depths 1 and 5/3 on 9 samples: round(9 * 8/3) = 24 comparisons; 5 votes of 5 leaves: 9*2*1
       additions */
    {ML "TreeEnsembleRegressor", 1, TWO_TREES "target_ids=[0,0,0,0,0]", "float[9,4]", "y", 0, 24 + 18, 144, 0,
     36},
    /* the same nodes, last first: children are found by tree and number, whatever the order of the file */
    {ML "TreeEnsembleRegressor", 1,
     "nodes_treeids=[1,1,1,1,1,0,0,0] nodes_nodeids=[4,3,2,1,0,2,1,0] nodes_truenodeids=[0,0,3,0,1,0,0,1] "
     "nodes_falsenodeids=[0,0,4,0,2,0,0,2] "
     "nodes_modes=[\"LEAF\",\"LEAF\",\"BRANCH_EQ\",\"LEAF\",\"BRANCH_LT\",\"LEAF\",\"LEAF\",\"BRANCH_LEQ\"] "
     "target_ids=[0,0,0,0,0]",
     "float[9,4]", "y", 0, 24 + 18, 144, 0, 36},
    /* two votes per leaf, and the logistic of 9 scores */
    {ML "TreeEnsembleRegressor", 1, TWO_TREES "target_ids=[0,0,0,0,0,0,0,0,0,0] post_transform=LOGISTIC",
     "float[9,4]", "y", 0, 24 + 36 + 9, 144, 0, 36},
    /* softmax of 9 * 3 scores, 5 operations each */
    {ML "TreeEnsembleClassifier", 3,
     TWO_TREES "class_ids=[0,1,0,2,1] classlabels_int64s=[5,6,7] post_transform=SOFTMAX", "float[9,4]", "yy",
     0, 24 + 18 + 135, 144, 0, 72 + 108},
    /* the same trees in the newer form: interior nodes 0 | 1 {leaf, 2}, 2 */
    {ML "TreeEnsemble", 5,
     "nodes_featureids=[0,0,1] nodes_splits=float[3]{1,2,3} nodes_truenodeids=[0,2,3] "
     "nodes_trueleafs=[1,1,1] "
     "nodes_falsenodeids=[1,2,4] nodes_falseleafs=[1,0,1] tree_roots=[0,1] "
     "leaf_weights=float[5]{1,2,3,4,5} leaf_targetids=[0,0,0,0,0] n_targets=1 post_transform=2",
     "float[9,4]", "y", 0, 24 + 18 + 9, 144, 0, 36},
    /* a tree of one leaf: no comparison */
    {ML "TreeEnsembleRegressor", 1,
     "nodes_treeids=[0] nodes_nodeids=[0] nodes_truenodeids=[0] nodes_falsenodeids=[0] "
     "nodes_modes=[\"LEAF\"] "
     "target_ids=[0]",
     "float[9,4]", "y", 0, 9, 144, 0, 36},
};

static void ml_trees_infers_shapes(void **state)
{
    (void)state;
    op_check_shapes(shapes, OC_COUNT(shapes));
}

static void ml_trees_counts_operations(void **state)
{
    (void)state;
    op_check_costs(costs, OC_COUNT(costs));
}

static void trees_count_thresholds_and_leaf_weights_as_parameters(void **state)
{
    (void)state;
    struct op_case t;
    op_case_run(&t, costs[0].op, 1, costs[0].attrs, costs[0].in, "y");
    assert_int_equal(t.cost.attr_params, 3 + 5);
    op_case_free(&t);
    op_case_run(&t, costs[3].op, 5, costs[3].attrs, costs[3].in, "y");
    assert_int_equal(t.cost.attr_params, 3 + 5);
    op_case_free(&t);
}

struct broken {
    const char *op, *attrs, *error;
};

static const struct broken broken[] = {
    {ML "TreeEnsembleRegressor", "nodes_treeids=[0] nodes_nodeids=[0]", "nodes_modes is missing"},
    {ML "TreeEnsembleRegressor", "nodes_treeids=[0] nodes_nodeids=[0,1] nodes_modes=[\"LEAF\"]",
     "the lists of nodes have different lengths"},
    {ML "TreeEnsembleRegressor",
     "nodes_treeids=[3] nodes_nodeids=[0] nodes_truenodeids=[7] nodes_falsenodeids=[0] "
     "nodes_modes=[\"BRANCH_LT\"]",
     "tree 3: node 7 does not exist"},
    /* a node that is its own child, and one with the same child twice */
    {ML "TreeEnsembleRegressor",
     "nodes_treeids=[0] nodes_nodeids=[0] nodes_truenodeids=[0] nodes_falsenodeids=[0] "
     "nodes_modes=[\"BRANCH_LT\"]",
     "the nodes do not form trees: there is no root"},
    {ML "TreeEnsemble",
     "nodes_featureids=[0,0] nodes_truenodeids=[1,0] nodes_trueleafs=[0,1] nodes_falsenodeids=[1,0] "
     "nodes_falseleafs=[0,1] tree_roots=[0]",
     "the nodes do not form trees: a node is reached twice"},
    {ML "TreeEnsemble",
     "nodes_featureids=[0] nodes_truenodeids=[5] nodes_trueleafs=[0] nodes_falsenodeids=[0] "
     "nodes_falseleafs=[1] "
     "tree_roots=[0]",
     "node 5 does not exist"},
    {ML "TreeEnsemble",
     "nodes_featureids=[0] nodes_truenodeids=[0] nodes_trueleafs=[1] nodes_falsenodeids=[0] "
     "nodes_falseleafs=[1] "
     "tree_roots=[-1]",
     "root node -1 does not exist"},
    {ML "TreeEnsemble", "nodes_featureids=[0,1] nodes_truenodeids=[0] nodes_trueleafs=[1]",
     "nodes_truenodeids and nodes_trueleafs have 1 and 1 elements, expected 2"},
};

static void trees_with_cycles_or_shared_children_are_rejected(void **state)
{
    (void)state;
    for (size_t i = 0; i < OC_COUNT(broken); i++) {
        struct op_case t;
        op_case_run(&t, broken[i].op, 5, broken[i].attrs, "float[9,4]", "y");
        assert_int_equal(t.rc, -1);
        assert_string_equal(t.err.msg, broken[i].error);
        op_case_free(&t);
    }
}

/* ---- worked case 68 ---- */

struct lists {
    int64_t feature[9500], yes[9500], no[9500], yes_leaf[9500], no_leaf[9500], root[100];
    uint32_t n, leaves, trees;
};

static void set_child(struct lists *l, int64_t *child, int64_t *leaf, int64_t index, bool bottom)
{
    *leaf = bottom;
    *child = bottom ? (int64_t)l->leaves++ : index;
}

/* A complete tree, level by level. */
static void add_tree(struct lists *l, unsigned depth)
{
    uint32_t first = l->n, inner = (1U << depth) - 1;
    l->root[l->trees++] = first;
    for (uint32_t i = 0; i < inner; i++) {
        bool bottom = 2 * i + 1 >= inner;
        set_child(l, &l->yes[first + i], &l->yes_leaf[first + i], first + 2 * i + 1, bottom);
        set_child(l, &l->no[first + i], &l->no_leaf[first + i], first + 2 * i + 2, bottom);
    }
    l->n += inner;
}

/* 50 trees of depth 6 and 50 of depth 7: 6.5 comparisons on average; 32 samples: 32*650 + 32*100 = 24,000 */
static void trees_match_worked_case_68(void **state)
{
    (void)state;
    static struct lists l;
    for (int i = 0; i < 100; i++)
        add_tree(&l, i % 2 ? 7 : 6);
    assert_int_equal(l.n, OC_COUNT(l.feature));
    const struct oc_tensor weights = {.dtype = OC_DT_FLOAT, .elements = l.leaves};
    const struct oc_attr attrs[] = {
        {.name = "nodes_featureids", .type = OC_ATTR_INTS, .n = l.n, .ints = l.feature},
        {.name = "nodes_truenodeids", .type = OC_ATTR_INTS, .n = l.n, .ints = l.yes},
        {.name = "nodes_trueleafs", .type = OC_ATTR_INTS, .n = l.n, .ints = l.yes_leaf},
        {.name = "nodes_falsenodeids", .type = OC_ATTR_INTS, .n = l.n, .ints = l.no},
        {.name = "nodes_falseleafs", .type = OC_ATTR_INTS, .n = l.n, .ints = l.no_leaf},
        {.name = "tree_roots", .type = OC_ATTR_INTS, .n = 100, .ints = l.root},
        {.name = "leaf_weights", .type = OC_ATTR_TENSOR, .n = 1, .tensors_or_null = &weights},
    };
    struct op_case t;
    op_case_init(&t, ML "TreeEnsemble", 5, "", "float[32,20]", "y");
    t.node.attr = attrs;
    t.node.n_attr = OC_COUNT(attrs);
    assert_int_equal(op_case_shape(&t), 0);
    assert_string_equal(op_case_types(&t), "float[32,1]");
    assert_int_equal(op_case_cost(&t), 0);
    assert_int_equal(t.macs, 0);
    assert_int_equal(t.total, 24000);
    assert_int_equal(t.hw, 24000);
    assert_int_equal(t.rd_act, 2560);
    assert_int_equal(t.rd_const, 0);
    assert_int_equal(t.wr, 128);
    op_case_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ml_trees_infers_shapes),
        cmocka_unit_test(ml_trees_counts_operations),
        cmocka_unit_test(trees_count_thresholds_and_leaf_weights_as_parameters),
        cmocka_unit_test(trees_with_cycles_or_shared_children_are_rejected),
        cmocka_unit_test(trees_match_worked_case_68),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
