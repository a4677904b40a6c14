/* Ensembles of decision trees (ai.onnx.ml). cost-semantics 4.16: comparisons per sample and tree equal the
 * mean depth of the tree's leaves. Both forms of the attributes are converted to one: interior nodes with two
 * children, each child an interior node or a leaf. In the old form children are node ids inside a tree, in
 * the new one indices. */
#include "ops/shared_rules.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ck.h"

#define LEAF UINT32_MAX

struct forest {
    uint32_t n;         /* interior nodes */
    uint32_t *child[2]; /* index of an interior node, or LEAF */
    uint32_t *root;     /* encoded like a child */
    uint32_t n_root;
    uint64_t leaves; /* number of leaf entries in the file */
    uint64_t votes;  /* weights of all leaves */
};

/* ---- depth -------------------------------------------------------------------------------------------- */

struct visit {
    uint32_t node, depth;
};

struct leaves {         /* statistics of one tree */
    uint64_t n, depths; /* sum of the depths */
    uint32_t deepest;
};

/* Collects the leaves below a root. False: a node is reached twice. */
static bool ml_trees_measure(const struct forest *f, uint32_t root, struct visit *stack, bool *seen,
                             struct leaves *l)
{
    uint32_t top = 0;
    *l = (struct leaves){0};
    stack[top++] = (struct visit){root, 0};
    while (top) {
        struct visit v = stack[--top];
        if (v.node == LEAF) {
            l->depths += v.depth;
            l->deepest = v.depth > l->deepest ? v.depth : l->deepest;
            l->n++;
            continue;
        }
        if (seen[v.node])
            return false;
        seen[v.node] = true;
        for (int side = 0; side < 2; side++)
            stack[top++] = (struct visit){f->child[side][v.node], v.depth + 1};
    }
    return true;
}

/* Sum over the trees of the mean (or largest) depth of their leaves. */
static int sum_depths(struct oc_op_ctx *c, const struct forest *f, long double *sum)
{
    bool *seen = OC_NEW_ARRAY(c->arena, (size_t)f->n + 1, bool);
    struct visit *stack = OC_NEW_ARRAY(c->arena, (size_t)f->n + 2, struct visit);
    *sum = 0;
    if (f->n && !f->n_root)
        return oc_op_fail(c, "the nodes do not form trees: there is no root");
    for (uint32_t i = 0; i < f->n_root; i++) {
        struct leaves l;
        if (!ml_trees_measure(f, f->root[i], stack, seen, &l))
            return oc_op_fail(c, "the nodes do not form trees: a node is reached twice");
        *sum += c->opt.trees_max ? (long double)l.deepest : (long double)l.depths / (long double)l.n;
    }
    return 0;
}

/* ---- the old form: TreeEnsembleClassifier, TreeEnsembleRegressor ------------------------------------ */

struct key {
    int64_t tree, id;
    uint32_t index; /* index in the file */
};

OC_BY_TWO(ml_trees_by_key, struct key, tree, id)

struct old_nodes {
    const int64_t *tree, *id, *yes, *no;
    const struct oc_bytes *mode;
    uint32_t n;
};

static int ml_trees_read_old(struct oc_op_ctx *c, struct old_nodes *o)
{
    const struct oc_attr *mode = oc_node_attr(c->node, "nodes_modes");
    uint32_t n[4];
    o->tree = oc_attr_ints(c, "nodes_treeids", &n[0]);
    o->id = oc_attr_ints(c, "nodes_nodeids", &n[1]);
    o->yes = oc_attr_ints(c, "nodes_truenodeids", &n[2]);
    o->no = oc_attr_ints(c, "nodes_falsenodeids", &n[3]);
    o->n = n[0];
    if (!mode || mode->type != OC_ATTR_STRINGS)
        return oc_op_fail(c, "nodes_modes is missing");
    o->mode = mode->strings;
    for (int i = 0; i < 4; i++)
        if (n[i] != mode->n)
            return oc_op_fail(c, "the lists of nodes have different lengths");
    return 0;
}

static bool ml_trees_is_leaf(const struct old_nodes *o, uint32_t i)
{
    return o->mode[i].n == 4 && memcmp(o->mode[i].s, "LEAF", 4) == 0;
}

static const struct key *ml_trees_find(const struct key *keys, uint32_t n, int64_t tree, int64_t id)
{
    struct key wanted = {tree, id, 0};
    return bsearch(&wanted, keys, n, sizeof(*keys), ml_trees_by_key);
}

static struct key *sorted_keys(struct oc_op_ctx *c, const struct old_nodes *o)
{
    struct key *keys = OC_NEW_ARRAY(c->arena, (size_t)o->n + 1, struct key);
    bool sorted = true;
    for (uint32_t i = 0; i < o->n; i++) {
        keys[i] = (struct key){o->tree[i], o->id[i], i};
        sorted = sorted && (i == 0 || ml_trees_by_key(&keys[i - 1], &keys[i]) < 0);
    }
    if (!sorted)
        qsort(keys, o->n, sizeof(*keys), ml_trees_by_key);
    return keys;
}

/* Sets the children of all interior nodes; a node without a parent is a root. Interior nodes keep the order
 * of the file. */
static int link_old(struct oc_op_ctx *c, const struct old_nodes *o, const struct key *keys, struct forest *f)
{
    bool *is_child = OC_NEW_ARRAY(c->arena, (size_t)o->n + 1, bool);
    for (uint32_t i = 0; i < o->n; i++) {
        if (ml_trees_is_leaf(o, i)) {
            f->leaves++;
            continue;
        }
        const int64_t ids[2] = {o->yes[i], o->no[i]};
        for (int side = 0; side < 2; side++) {
            const struct key *k = ml_trees_find(keys, o->n, o->tree[i], ids[side]);
            if (!k)
                return oc_op_fail(c, "tree %lld: node %lld does not exist", (long long)o->tree[i],
                                  (long long)ids[side]);
            is_child[k->index] = true;
            f->child[side][i] = ml_trees_is_leaf(o, k->index) ? LEAF : k->index;
        }
    }
    for (uint32_t i = 0; i < o->n; i++)
        if (!is_child[i])
            f->root[f->n_root++] = ml_trees_is_leaf(o, i) ? LEAF : i;
    return 0;
}

static void allocate(struct oc_op_ctx *c, struct forest *f, uint32_t n, uint32_t roots)
{
    *f = (struct forest){.n = n};
    f->child[0] = OC_NEW_ARRAY(c->arena, (size_t)n + 1, uint32_t);
    f->child[1] = OC_NEW_ARRAY(c->arena, (size_t)n + 1, uint32_t);
    f->root = OC_NEW_ARRAY(c->arena, (size_t)roots + 1, uint32_t);
}

static int read_old_forest(struct oc_op_ctx *c, struct forest *f)
{
    struct old_nodes o = {0};
    if (ml_trees_read_old(c, &o))
        return -1;
    allocate(c, f, o.n, o.n);
    f->votes = (uint64_t)oc_ml_count(c, "class_ids") + oc_ml_count(c, "target_ids");
    return link_old(c, &o, sorted_keys(c, &o), f);
}

/* ---- the new form: TreeEnsemble --------------------------------------------------------------------- */

static int link_new(struct oc_op_ctx *c, struct forest *f, int side, const char *ids, const char *flags)
{
    uint32_t n_id, n_flag;
    const int64_t *id = oc_attr_ints(c, ids, &n_id), *leaf = oc_attr_ints(c, flags, &n_flag);
    if (n_id != f->n || n_flag != f->n)
        return oc_op_fail(c, "%s and %s have %u and %u elements, expected %u", ids, flags, n_id, n_flag,
                          f->n);
    for (uint32_t i = 0; i < f->n; i++) {
        if (!leaf[i] && (id[i] < 0 || id[i] >= f->n))
            return oc_op_fail(c, "node %lld does not exist", (long long)id[i]);
        f->child[side][i] = leaf[i] ? LEAF : (uint32_t)id[i];
    }
    return 0;
}

static int read_new_forest(struct oc_op_ctx *c, struct forest *f)
{
    uint32_t n_root, n_node = oc_ml_count(c, "nodes_featureids");
    const int64_t *root = oc_attr_ints(c, "tree_roots", &n_root);
    allocate(c, f, n_node, n_root);
    if (link_new(c, f, 0, "nodes_truenodeids", "nodes_trueleafs") ||
        link_new(c, f, 1, "nodes_falsenodeids", "nodes_falseleafs"))
        return -1;
    for (uint32_t i = 0; i < n_root; i++) {
        if (root[i] < 0 || root[i] >= n_node)
            return oc_op_fail(c, "root node %lld does not exist", (long long)root[i]);
        f->root[f->n_root++] = (uint32_t)root[i];
    }
    f->leaves = f->votes = oc_ml_count(c, "leaf_weights");
    return 0;
}

/* ---- rules -------------------------------------------------------------------------------------------- */

static bool new_form(const struct oc_op_ctx *c)
{
    return strcmp(c->op->name, "TreeEnsemble") == 0;
}

static int shape_classifier(struct oc_op_ctx *c)
{
    unsigned dtype;
    struct oc_dim dim[2], features;
    uint32_t classes = oc_ml_labels(c, &dtype);
    if (oc_ml_rows(c, &dim[0], &features))
        return -1;
    if (classes == 0)
        return oc_op_fail(c, "class labels are missing");
    dim[1] = oc_known(classes);
    oc_set_out(c, 0, dtype, oc_shape_1d(c->arena, dim[0]));
    oc_set_out(c, 1, OC_DT_FLOAT, oc_shape_of(c->arena, 2, dim));
    return 0;
}

static int shape_targets(struct oc_op_ctx *c)
{
    struct oc_dim dim[2], features;
    int64_t targets = oc_attr_i(c, "n_targets", 1);
    if (targets < 1)
        return oc_op_fail(c, "invalid number of targets %lld", (long long)targets);
    if (oc_ml_rows(c, &dim[0], &features))
        return -1;
    dim[1] = oc_known(targets);
    oc_set_out(c, 0, new_form(c) ? oc_in_dtype(c, 0) : OC_DT_FLOAT, oc_shape_of(c->arena, 2, dim));
    return 0;
}

static const char *ml_trees_post_transform(struct oc_op_ctx *c)
{
    static const char *const names[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};
    int64_t i = oc_attr_i(c, "post_transform", 0);
    if (new_form(c))
        return i >= 0 && i < (int64_t)OC_COUNT(names) ? names[i] : "NONE";
    return oc_attr_s(c, "post_transform", "NONE");
}

static uint64_t round_count(struct oc_op_ctx *c, long double v)
{
    if (v < 9.0e18L)
        return (uint64_t)llroundl(v);
    c->overflow = true;
    return 0;
}

/* CMP s * sum of mean (or largest) depths; ADD s * trees * votes per leaf */
static int trees_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    struct oc_dim rows, features;
    struct forest f;
    long double depths;
    if (oc_ml_rows(c, &rows, &features) || (new_form(c) ? read_new_forest(c, &f) : read_old_forest(c, &f)) ||
        sum_depths(c, &f, &depths))
        return -1;
    uint64_t s = oc_c_dim(c, rows);
    oc_ml_float(c, k);
    oc_add_formula_value(c, "depths", round_count(c, (long double)s * depths));
    if (f.leaves)
        oc_add_formula_value(
            c, "votes",
            round_count(c, (long double)s * f.n_root * (long double)f.votes / (long double)f.leaves));
    bool classifier = strcmp(c->op->name, "TreeEnsembleClassifier") == 0;
    oc_ml_post_transform(c, ml_trees_post_transform(c), oc_c_out(c, classifier));
    /* thresholds and leaf weights */
    uint64_t splits = new_form(c) ? oc_ml_count(c, "nodes_splits") : f.n - f.leaves;
    k->attr_params = oc_c_add(c, splits, f.votes);
    return 0;
}
static const char trees_formula[] = "CMP = depths; ADD = votes; votes := 0"
                                    "; " OC_ML_POST_FORMULA;

#define TREES(n, v, sh)                                                                                      \
    {                                                                                                        \
        .domain = "ai.onnx.ml", .name = (n), .since = (v), .op_class = OC_OP_OTHER, .shape = (sh),           \
        OC_COST(trees)                                                                                       \
    }

static const struct oc_op rows[] = {
    TREES("TreeEnsemble", 5, shape_targets),
    TREES("TreeEnsembleClassifier", 1, shape_classifier),
    TREES("TreeEnsembleRegressor", 1, shape_targets),
};
OC_FAMILY(ml_trees, rows);
