/* Layout operators of ONNX Runtime's blocked graphs (com.microsoft.nchwc). Shapes are written as NCHW with
 * the channels rounded up to the block. Conv and pools of that domain: conv.c, pool_resize.c. */
#include <string.h>

#include "ops/op.h"

/* The block size depends on the processor, 8 or 16 channels, and is not stored in the node. */
#define SMALL_BLOCK 8
#define LARGE_BLOCK 16
#define LOOK_AHEAD  64

static int64_t nchwc_round_up(int64_t v, int64_t block)
{
    return (v + block - 1) / block * block;
}

/* Channels required by the weight of the next convolution that reads this output (one group), or 0. */
static int64_t consumer_channels(const struct oc_op_ctx *c)
{
    const struct oc_model *m = c->model;
    if (!m || c->node < m->node || c->node >= m->node + m->n_node || c->n_out == 0)
        return 0;
    uint32_t first = (uint32_t)(c->node - m->node) + 1;
    for (uint32_t i = first; i < m->n_node && i < first + LOOK_AHEAD; i++) {
        const struct oc_node *n = &m->node[i];
        if (strcmp(n->op_type, "Conv") != 0 || strcmp(n->domain, "com.microsoft.nchwc") != 0 || n->n_in < 2 ||
            n->in[0] != c->node->out[0] || n->in[1] == OC_NONE)
            continue;
        const struct oc_tensor *w = m->value[n->in[1]].constant;
        const struct oc_attr *group = oc_node_attr(n, "group");
        if (w && w->rank >= 2 && (!group || group->i == 1))
            return w->dim[1];
        if (w && w->rank >= 2 && w->dim[1] == 1)
            return w->dim[0]; /* depthwise */
    }
    return 0;
}

static struct oc_dim blocked_channels(struct oc_op_ctx *c, struct oc_dim channels)
{
    if (!oc_is_known(channels) || channels.v < 0 || channels.v > INT64_MAX - LARGE_BLOCK)
        return oc_op_fresh_dim(c, "1", -1);
    int64_t small = nchwc_round_up(channels.v, SMALL_BLOCK), large = nchwc_round_up(channels.v, LARGE_BLOCK);
    int64_t seen = consumer_channels(c);
    if (small == large || seen == small || seen == large)
        return oc_known(seen == small ? small : large);
    return oc_op_fresh_dim(c, "1", large);
}

static int nchwc_check_rank(struct oc_op_ctx *c, const struct oc_shape *x)
{
    return x->ranked && x->rank < 3 ? oc_op_fail(c, "invalid input rank %u", x->rank) : 0;
}

static int shape_reorder_input(struct oc_op_ctx *c)
{
    const struct oc_shape *x = oc_in_shape(c, 0);
    struct oc_shape out = oc_shape_unranked();
    if (nchwc_check_rank(c, x))
        return -1;
    if (x->ranked) {
        struct oc_dim dim[OC_MAX_RANK];
        bool last = oc_attr_i(c, "channels_last", 0) != 0;
        dim[0] = x->dim[0];
        dim[1] = blocked_channels(c, x->dim[last ? x->rank - 1 : 1]);
        for (unsigned i = 2; i < x->rank; i++)
            dim[i] = x->dim[last ? i - 1 : i];
        out = oc_shape_of(c->arena, x->rank, dim);
    }
    oc_set_out(c, 0, oc_in_dtype(c, 0), out);
    return 0;
}

static int shape_reorder_output(struct oc_op_ctx *c)
{
    const struct oc_shape *x = oc_in_shape(c, 0);
    struct oc_shape out = oc_shape_unranked();
    int64_t channels = oc_attr_i(c, "channels", 0);
    if (nchwc_check_rank(c, x))
        return -1;
    if (channels < 1)
        return oc_op_fail(c, "invalid channels %lld", (long long)channels);
    if (x->ranked) {
        struct oc_dim dim[OC_MAX_RANK];
        bool last = oc_attr_i(c, "channels_last", 0) != 0;
        dim[0] = x->dim[0];
        dim[last ? x->rank - 1 : 1] = oc_known(channels);
        for (unsigned i = 2; i < x->rank; i++)
            dim[last ? i - 1 : i] = x->dim[i];
        out = oc_shape_of(c->arena, x->rank, dim);
    }
    oc_set_out(c, 0, oc_in_dtype(c, 0), out);
    return 0;
}

/* ---- Upsample ----------------------------------------------------------------------------------------- */

static int shape_upsample(struct oc_op_ctx *c)
{
    const struct oc_shape *x = oc_in_shape(c, 0);
    struct oc_shape out = oc_shape_unranked();
    uint32_t n;
    const int64_t *scales = oc_attr_ints(c, "scales", &n);
    if (x->ranked) {
        struct oc_dim dim[OC_MAX_RANK];
        if (n && n != x->rank)
            return oc_op_fail(c, "scales has %u elements, expected %u", n, x->rank);
        for (unsigned i = 0; i < x->rank; i++) {
            if (n && scales[i] < 1)
                return oc_op_fail(c, "invalid scale %lld", (long long)scales[i]);
            dim[i] = oc_dim_mul(c->exprs, x->dim[i], oc_known(n ? scales[i] : 1));
        }
        out = oc_shape_of(c->arena, x->rank, dim);
    }
    oc_set_out(c, 0, oc_in_dtype(c, 0), out);
    return 0;
}

/* linear over n axes: T = 2^n MUL and T-1 ADD per output element; nearest: none */
static int cost_upsample(struct oc_op_ctx *c, struct oc_cost *k)
{
    uint32_t n;
    const int64_t *scales = oc_attr_ints(c, "scales", &n);
    unsigned axes = 0;
    for (uint32_t i = 0; i < n; i++)
        axes += scales[i] != 1;
    if (axes == 0) {
        k->alias = true;
        return 0;
    }
    if (strcmp(oc_attr_s(c, "mode", "nearest"), "linear") != 0 || axes > 8)
        return 0;
    uint64_t out = oc_c_out(c, 0), taps = UINT64_C(1) << axes;
    oc_add_formula_value(c, "T", taps);
    oc_add(c, k, OC_MUL, oc_c_mul(c, taps, out));
    oc_add(c, k, OC_ADD, oc_c_mul(c, taps - 1, out));
    return 0;
}
static const char cost_upsample_formula[] = "MUL = T*N(o); ADD = (max(T, 1) - 1)*N(o); T := 0";

#define NCHWC(n, cls, sh, co)                                                                                \
    .domain = "com.microsoft.nchwc", .name = (n), .since = 1, .op_class = (cls), .shape = (sh), OC_COST(co)

static const struct oc_op nchwc_rows[] = {
    {NCHWC("ReorderInput", OC_OP_LAYOUT, shape_reorder_input, oc_cost_none), .kernel = OC_KC_REORDER},
    {NCHWC("ReorderOutput", OC_OP_LAYOUT, shape_reorder_output, oc_cost_none), .kernel = OC_KC_REORDER},
    {NCHWC("Upsample", OC_OP_RESIZE, shape_upsample, cost_upsample)},
};
OC_FAMILY(nchwc, nchwc_rows);

/* ---- channels last ------------------------------------------------------------------------------------ */

/* com.ms.internal.nhwc: operators after the layout transformation of ONNX Runtime
 * (internal_nhwc_onnx_schemas.cc, 1.13 and newer). Input 0 and output 0 have the channels last; everything
 * else, weights too, is as in the operator of the same name, whose rules run on the transposed types. Resize
 * alone keeps its types: its sizes and scales are in the order of the data. */

struct layout {
    const char *domain; /* of the operator */
    bool as_is;
};
static const struct layout onnx = {.domain = ""}, ms = {.domain = "com.microsoft"},
                           unchanged = {.domain = "", .as_is = true};

/* {N, spatial..., C} to {N, C, spatial...}, or back. */
static struct oc_type nhwc_transposed(struct oc_op_ctx *c, const struct oc_type *t, bool to_last)
{
    struct oc_type out = *t;
    struct oc_dim dim[OC_MAX_RANK];
    unsigned rank = t->shape.rank, n = rank - 2U;
    if (t->kind != OC_T_TENSOR || !t->shape.ranked || rank < 3)
        return out;
    dim[0] = t->shape.dim[0];
    dim[to_last ? rank - 1 : 1] = t->shape.dim[to_last ? 1 : rank - 1];
    for (unsigned i = 0; i < n; i++)
        dim[to_last ? 1 + i : 2 + i] = t->shape.dim[to_last ? 2 + i : 1 + i];
    out.shape = oc_shape_of(c->arena, rank, dim);
    return out;
}

/* The context of the operator of the same name: its own lists of types. */
static int nhwc_enter(struct oc_op_ctx *c, struct oc_op_ctx *inner)
{
    const struct layout *l = c->op->param;
    const struct oc_type **in = OC_NEW_ARRAY(c->arena, c->n_in + 1, const struct oc_type *);
    *inner = *c;
    inner->op = oc_op_find(l->domain, c->op->name, l->domain[0] ? 0 : c->opset);
    if (!inner->op)
        return oc_op_fail(c, "no rule for version %d of the operator", (int)c->opset);
    inner->out = OC_NEW_ARRAY(c->arena, c->n_out + 1, struct oc_type);
    for (uint32_t i = 0; i < c->n_in; i++)
        in[i] = c->in[i];
    for (uint32_t i = 0; i < c->n_out; i++)
        inner->out[i] = c->out[i];
    if (c->n_in && in[0] && !l->as_is) {
        struct oc_type *first = OC_NEW(c->arena, struct oc_type);
        *first = nhwc_transposed(c, in[0], false);
        in[0] = first;
    }
    inner->in = in;
    inner->values = NULL;
    return 0;
}

static int shape_nhwc(struct oc_op_ctx *c)
{
    const struct layout *l = c->op->param;
    struct oc_op_ctx inner;
    if (nhwc_enter(c, &inner) || inner.op->shape(&inner))
        return -1;
    for (uint32_t i = 0; i < c->n_out; i++) {
        struct oc_type t = i || l->as_is ? inner.out[i] : nhwc_transposed(c, &inner.out[i], true);
        oc_set_out_type(c, i, &t);
    }
    return 0;
}

/* The operator's rule, and the activation that the transformation may have merged into it. */
static int cost_nhwc(struct oc_op_ctx *c, struct oc_cost *k)
{
    const struct layout *l = c->op->param;
    struct oc_op_ctx inner;
    if (nhwc_enter(c, &inner))
        return -1;
    if (c->n_out && !l->as_is)
        inner.out[0] = nhwc_transposed(c, &c->out[0], false);
    if (inner.op->cost && inner.op->cost(&inner, k))
        return -1;
    c->overflow |= inner.overflow;
    c->unknown |= inner.unknown;
    c->upper |= inner.upper;
    c->assumption = inner.assumption;
    oc_add_activation(c, k, "activation", oc_c_out(c, 0));
    for (unsigned p = 0; p < OC_PRIM_COUNT; p++)
        if (k->hist_f[p] || k->hist_i[p])
            oc_add_formula_value(c, oc_prim_name(p), oc_c_add(c, k->hist_f[p], k->hist_i[p]));
    return 0;
}
static const char cost_nhwc_formula[] = "functions = 1";

#define NHWC(n, cl, s, l)                                                                                    \
    .domain = "com.ms.internal.nhwc", .name = (n), .since = 1, .op_class = (cl), .slots = (s),               \
    .shape = shape_nhwc, OC_COST(cost_nhwc), .param = &(l)

/* Conv and the other pools have rows in their own families. */
static const struct oc_op nhwc_rows[] = {
    {NHWC("BatchNormalization", OC_OP_NORM, ".nnss", onnx), .flags = OC_F_CHANNELS | OC_F_COUNT_BY_TYPES,
     .n_required = 5},
    {NHWC("ConvTranspose", OC_OP_CONV, "..b", onnx), .kernel = OC_KC_CONV_TRANSPOSED},
    {NHWC("DepthToSpace", OC_OP_LAYOUT, NULL, onnx), .flags = OC_F_CHANNELS},
    {NHWC("GlobalLpPool", OC_OP_POOL, NULL, onnx)},
    {NHWC("GridSample", OC_OP_RESIZE, NULL, onnx)},
    {NHWC("InstanceNormalization", OC_OP_NORM, ".nn", onnx), .flags = OC_F_CHANNELS | OC_F_COUNT_BY_TYPES,
     .n_required = 3},
    {NHWC("LRN", OC_OP_NORM, NULL, onnx)},
    {NHWC("LpPool", OC_OP_POOL, NULL, onnx)},
    {NHWC("MaxUnpool", OC_OP_POOL, "..m", onnx), .kernel = OC_KC_GATHER},
    {NHWC("QLinearAveragePool", OC_OP_POOL, ".q", ms)},
    {NHWC("QLinearConv", OC_OP_CONV, ".qq.qqqqb", onnx)},
    {NHWC("QLinearConvTranspose", OC_OP_CONV, ".qq.qqqqb", ms), .kernel = OC_KC_CONV_TRANSPOSED},
    {NHWC("Resize", OC_OP_RESIZE, ".mmm", unchanged)},
    {NHWC("SpaceToDepth", OC_OP_LAYOUT, NULL, onnx), .flags = OC_F_CHANNELS},
};
OC_FAMILY(nhwc, nhwc_rows);
