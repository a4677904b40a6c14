/* com.ms.internal.nhwc: operators after the layout transformation of ONNX Runtime
 * (internal_nhwc_onnx_schemas.cc, 1.13 and newer). Input 0 and output 0 have the channels last; everything
 * else, weights too, is as in the operator of the same name, whose rules run on the transposed types. Resize
 * alone keeps its types: its sizes and scales are in the order of the data. */
#include "ops/op.h"

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
    inner->told = NULL;
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
            oc_tell(c, oc_prim_name(p), oc_c_add(c, k->hist_f[p], k->hist_i[p]));
    return 0;
}
static const char cost_nhwc_formula[] = "functions = 1";

#define NHWC(n, cl, s, l)                                                                                    \
    .domain = "com.ms.internal.nhwc", .name = (n), .since = 1, .op_class = (cl), .slots = (s),               \
    .shape = shape_nhwc, OC_COST(cost_nhwc), .param = &(l)

/* Conv and the other pools have rows in their own families. */
static const struct oc_op rows[] = {
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
extern const struct oc_op_family oc_ops_nhwc;
const struct oc_op_family oc_ops_nhwc = OC_FAMILY("nhwc", rows);
