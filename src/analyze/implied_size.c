/* Sizes of a model's inputs that its own constants and attributes imply. */
#include <string.h>

#include "analyze/engine.h"
#include "base/ck.h"
#include "base/str.h"
#include "base/wire.h"
#include "ops/op.h"

/* Dimension `axis` (from the end if negative) of the input equals that of the weight. */
static const struct rule {
    const char *op_type;
    int8_t axis, weight_axis;
} rules[] = {
    {"ConvTranspose", 1, 0},
    {"MatMul", -1, -2},
    {"MatMulInteger", -1, -2},
    {"QLinearMatMul", -1, -2},
    {"LSTM", 2, 2},
    {"GRU", 2, 2},
    {"RNN", 2, 2},
    {"BatchNormalization", 1, 0},
    {"InstanceNormalization", 1, 0},
    {"LayerNormalization", -1, -1},
};

static const struct oc_op *row_of(const struct oc_node *n)
{
    return oc_op_find(n->domain, n->op_type, n->opset);
}

static int64_t dim_of(const struct oc_model *m, const struct oc_node *n, unsigned slot, int axis)
{
    const struct oc_tensor *t = slot < n->n_in ? oc_value_constant(m, n->in[slot]) : NULL;
    axis += t && axis < 0 ? (int)t->rank : 0;
    return t && axis >= 0 && axis < (int)t->rank ? t->dim[axis] : 0;
}

static int64_t by_conv(const struct oc_model *m, const struct oc_node *n, unsigned axis)
{
    if (axis != 1 || !oc_set_has(" Conv ConvInteger QLinearConv ", n->op_type, strlen(n->op_type)))
        return 0;
    int64_t channels = dim_of(m, n, oc_op_weight_slot(row_of(n)), 1), groups = oc_node_int(n, "group", 1);
    return groups > 0 && groups < 1 << 20 && channels < (int64_t)1 << 40 ? channels * groups : 0;
}

static int64_t by_gemm(const struct oc_model *m, const struct oc_node *n, unsigned axis)
{
    if (strcmp(n->op_type, "Gemm") != 0 || axis != (oc_node_int(n, "transA", 0) ? 0 : 1))
        return 0;
    return dim_of(m, n, 1, oc_node_int(n, "transB", 0) ? 1 : 0);
}

/* The product of all but the first size of the shape, less the other known dimensions of the input: the first
 * axis stays for the batch. */
static int64_t by_reshape(const struct oc_model *m, const struct oc_node *n, const struct oc_shape *in,
                          unsigned axis)
{
    if (strcmp(n->op_type, "Reshape") != 0 || n->n_in < 2 || n->in[1] == OC_NONE || axis == 0)
        return 0;
    const struct oc_tensor *t = oc_value_constant(m, n->in[1]);
    struct oc_tensor_bytes b;
    uint64_t product = 1;
    if (!t || t->dtype != OC_DT_INT64 || t->elements < 2 || t->elements > 16 ||
        !oc_tensor_bytes_open(m, t, &b))
        return 0;
    bool known = b.size_bytes == t->elements * sizeof(int64_t);
    for (uint64_t i = 1; known && i < t->elements; i++) {
        int64_t v = (int64_t)oc_load_le(b.data + i * sizeof(v), sizeof(v));
        known = v > 0 && oc_mul_u64(product, (uint64_t)v, &product);
    }
    oc_tensor_bytes_close(&b);
    for (unsigned i = 1; known && i < in->rank; i++) {
        if (i == axis)
            continue;
        known = in->dim[i].expr == 0 && in->dim[i].v > 0 && product % (uint64_t)in->dim[i].v == 0;
        product /= known ? (uint64_t)in->dim[i].v : 1;
    }
    return known && product <= INT64_MAX ? (int64_t)product : 0;
}

static int64_t by_rule(const struct oc_model *m, const struct oc_node *n, unsigned axis, unsigned rank)
{
    for (size_t i = 0; i < OC_COUNT(rules); i++) {
        unsigned at = rules[i].axis < 0 ? rank - 1 : (unsigned)rules[i].axis;
        if (at == axis && !strcmp(rules[i].op_type, n->op_type))
            return dim_of(m, n, oc_op_weight_slot(row_of(n)), rules[i].weight_axis);
    }
    return 0;
}

static bool is_leaf(struct oc_bytes mode)
{
    return mode.n == 4 && memcmp(mode.s, "LEAF", 4) == 0;
}

/* Decision trees read the features up to the largest that one of their nodes compares. */
static int64_t by_trees(const struct oc_node *n, unsigned axis, unsigned rank)
{
    const struct oc_attr *feature = oc_node_attr(n, "nodes_featureids"),
                         *mode = oc_node_attr(n, "nodes_modes");
    int64_t largest = -1;
    if (axis + 1 != rank || strcmp(n->domain, "ai.onnx.ml") != 0 || !feature ||
        feature->type != OC_ATTR_INTS || strncmp(n->op_type, "TreeEnsemble", 12) != 0)
        return 0;
    bool leaves = mode && mode->type == OC_ATTR_STRINGS && mode->n == feature->n;
    for (uint32_t i = 0; i < feature->n; i++)
        if (feature->ints[i] > largest && !(leaves && is_leaf(mode->strings[i])))
            largest = feature->ints[i];
    return largest < INT32_MAX ? largest + 1 : 0;
}

static int64_t size_by(const struct oc_model *m, const struct oc_node *n, const struct oc_shape *in,
                       unsigned axis, bool *least)
{
    int64_t size = by_trees(n, axis, in->rank);
    *least = size > 0;
    size = size ? size : by_conv(m, n, axis);
    size = size ? size : by_gemm(m, n, axis);
    size = size ? size : by_rule(m, n, axis, in->rank);
    return size ? size : by_reshape(m, n, in, axis);
}

void oc_first_readers_make(struct oc_first_readers *r, const struct oc_model *m, struct oc_arena *a)
{
    const struct oc_graph *g = &m->graph[0];
    r->first = OC_NEW_ARRAY(a, m->n_value, uint32_t);
    r->next = OC_NEW_ARRAY(a, (size_t)g->n_node + 1, uint32_t);
    r->stack = OC_NEW_ARRAY(a, (size_t)g->n_node + 1, uint32_t);
    memset(r->first, 0xff, m->n_value * sizeof(*r->first));
    for (uint32_t i = 0; i < g->n_node; i++) {
        const struct oc_node *n = &m->node[g->node[i]];
        if (!n->n_in || n->in[0] == OC_NONE)
            continue;
        r->next[i] = r->first[n->in[0]];
        r->first[n->in[0]] = i;
    }
}

int64_t oc_implied_size(const struct oc_model *m, const struct oc_first_readers *r, uint32_t value,
                        unsigned axis, const char **by, bool *least)
{
    const struct oc_shape *in = &m->value[value].declared->shape;
    const struct oc_graph *g = &m->graph[0];
    uint32_t best = OC_NONE, depth = 0;
    int64_t size = 0, s;
    bool bound;
    for (uint32_t v = value;;) {
        for (uint32_t i = r->first[v]; i != OC_NONE; i = r->next[i]) {
            const struct oc_node *n = &m->node[g->node[i]];
            if (i < best && (s = size_by(m, n, in, axis, &bound)) > 0) {
                best = i;
                size = s;
                *least = bound;
                *by = n->op_type;
            } else if (oc_op_keeps_shape(row_of(n)) && n->n_out && n->out[0] != OC_NONE) {
                r->stack[depth++] = n->out[0];
            }
        }
        if (!depth)
            return size;
        v = r->stack[--depth];
    }
}
