/* Quantized operators of ONNX Runtime with special data layouts: QOrdered*, block floating point, and
 * QEmbedLayerNormalization. cost-semantics 4.2, 4.3, 4.10. */
#include "ops/gemm.h"
#include "ops/move.h"
#include "ops/norm_cost.h"

#include <string.h>

/* ---- types ------------------------------------------------------------------------------------------ */

static int shape_int8(struct oc_op_ctx *c)
{
    oc_set_out(c, 0, OC_DT_INT8, *oc_in_shape(c, 0));
    return 0;
}

static int set_float(struct oc_op_ctx *c, const char *attr, struct oc_shape shape)
{
    int64_t dtype = oc_attr_i(c, attr, OC_DT_FLOAT);
    if (dtype <= OC_DT_UNDEFINED || dtype >= OC_DT_COUNT)
        return oc_op_fail(c, "invalid %s %lld", attr, (long long)dtype);
    oc_set_out(c, 0, (unsigned)dtype, shape);
    return 0;
}

/* ---- block floating point --------------------------------------------------------------------------- */

/* Raw bytes, at most those of the original tensor; its shape and strides. */
static int shape_quantize_bfp(struct oc_op_ctx *c)
{
    const struct oc_shape *x = oc_in_shape(c, 0);
    int64_t max = x->ranked ? oc_dim_max_value(c->exprs, oc_shape_count(c->exprs, x)) : -1;
    uint64_t bytes;
    if (max >= 0 && (!oc_bytes_of(oc_in_dtype(c, 0), (uint64_t)max, &bytes) || bytes > INT64_MAX))
        max = -1;
    else if (max >= 0)
        max = (int64_t)bytes;
    struct oc_dim rank = x->ranked ? oc_known(x->rank) : oc_op_fresh_dim(c, "rank", OC_MAX_RANK);
    oc_set_out(c, 0, OC_DT_UINT8, oc_shape_1d(c->arena, oc_op_fresh_dim(c, "bytes", max)));
    oc_set_out(c, 1, OC_DT_INT64, oc_shape_1d(c->arena, rank));
    oc_set_out(c, 2, OC_DT_INT64, oc_shape_1d(c->arena, rank));
    return 0;
}

static const struct oc_prims bfp[] = {{OC_CVT, 1}, {OC_MUL, 1}, {0, 0}};

static int cost_quantize_bfp(struct oc_op_ctx *c, struct oc_cost *k)
{
    oc_add_prims(c, k, bfp, oc_c_in(c, 0));
    return 0;
}
static const char cost_quantize_bfp_formula[] = "CVT = N(x); MUL = N(x)";

static int shape_dequantize_bfp(struct oc_op_ctx *c)
{
    struct oc_list size = oc_list_of(c, NULL, 1);
    struct oc_dim dim[OC_MAX_RANK];
    if (!size.sized || size.n > OC_MAX_RANK)
        return set_float(c, "dtype", oc_shape_unranked());
    for (uint32_t i = 0; i < size.n; i++) {
        dim[i] = oc_elem_to_dim(c, &size.e[i], i, -1);
        if (oc_is_known(dim[i]) && dim[i].v < 0)
            return oc_op_fail(c, "axis %u has invalid size %lld", i, (long long)dim[i].v);
    }
    return set_float(c, "dtype", oc_shape_of(c->arena, size.n, dim));
}

/* ---- QOrderedMatMul --------------------------------------------------------------------------------- */

/* A, scale_A, B, scale_B, scale_Y, bias, C, scale_C */
static int ordered_matmul(struct oc_op_ctx *c, struct oc_shape *out, struct oc_dim *depth)
{
    return oc_matmul_shape(c, oc_in_shape(c, 0), oc_in_shape(c, 2), out, depth);
}

static int shape_ordered_matmul(struct oc_op_ctx *c)
{
    struct oc_shape out;
    struct oc_dim depth;
    if (ordered_matmul(c, &out, &depth))
        return -1;
    oc_set_out(c, 0, OC_DT_INT8, out);
    return 0;
}

static int cost_ordered_matmul(struct oc_op_ctx *c, struct oc_cost *k)
{
    struct oc_shape out;
    struct oc_dim depth;
    uint64_t n = oc_c_out(c, 0);
    if (ordered_matmul(c, &out, &depth))
        return -1;
    oc_tell(c, "K", oc_c_dim(c, depth));
    oc_add(c, k, OC_MAC, oc_c_mul(c, n, oc_c_dim(c, depth)));
    oc_add_prims(c, k, oc_prims_requantize, n);
    if (oc_in(c, 5))
        oc_add(c, k, OC_ADD, n);
    if (oc_in(c, 6)) { /* beta * C */
        oc_add(c, k, OC_MUL, n);
        oc_add(c, k, OC_ADD, n);
    }
    return 0;
}
static const char cost_ordered_matmul_formula[] =
    "MAC = N(o)*K; requantize = N(o); ADD = ([in5] + [in6])*N(o); MUL = [in6]*N(o)";

/* ---- normalisations --------------------------------------------------------------------------------- */

/* X, scale_X, scale, B, scale_Y */
static int cost_ordered_norm(struct oc_op_ctx *c, struct oc_cost *k)
{
    const struct oc_shape *x = oc_in_shape(c, 0);
    int64_t axis = oc_attr_i(c, "axis", -1);
    unsigned at;
    if (!x->ranked) {
        c->unknown = true;
        return 0;
    }
    if (!oc_axis(axis, x->rank, &at))
        return oc_op_fail(c, "axis %lld is out of range for rank %u", (long long)axis, x->rank);
    uint64_t n = oc_c_in(c, 0);
    oc_add_prims(c, k, oc_prims_dequantize, n);
    oc_add_layer_norm(c, k, n, oc_c_range(c, x, 0, at), oc_in(c, 3) != NULL);
    oc_add_prims(c, k, oc_prims_requantize, n);
    return 0;
}
static const char cost_ordered_norm_formula[] = "dequantize = n; requantize = n; " OC_LAYER_NORM_FORMULA;

/* input_ids, segment_ids, word, position, segment, gamma, beta, mask, then their scales and zero points
 * -> output [B,S,H] float, mask_index [B] */
static int shape_embed(struct oc_op_ctx *c)
{
    const struct oc_shape *ids = oc_in_shape(c, 0), *word = oc_in_shape(c, 2);
    if ((ids->ranked && ids->rank != 2) || (word->ranked && word->rank != 2))
        return oc_op_fail(c, "invalid ids rank %u and table rank %u", ids->rank, word->rank);
    struct oc_dim dim[3];
    for (unsigned i = 0; i < 2; i++)
        dim[i] = ids->ranked ? ids->dim[i] : oc_fresh_axis(c, i, -1);
    dim[2] = word->ranked ? word->dim[1] : oc_fresh_axis(c, 2, -1);
    oc_set_out(c, 0, OC_DT_FLOAT, oc_shape_of(c->arena, 3, dim));
    oc_set_out(c, 1, OC_DT_INT32, oc_shape_1d(c->arena, dim[0]));
    return 0;
}

static void quant_order_limit_rows(struct oc_op_ctx *c, struct oc_cost *k, unsigned slot, uint64_t elements)
{
    uint64_t bytes = oc_in(c, slot) ? oc_c_part(c, slot, elements) : 0;
    if (slot < k->n_in && bytes < k->rd[slot])
        k->rd[slot] = bytes;
}

/* Sum of 2 or 3 dequantized rows per token, then LayerNormalization */
static int cost_embed(struct oc_op_ctx *c, struct oc_cost *k)
{
    const struct oc_type *o = oc_out(c, 0);
    uint64_t terms = oc_in(c, 4) ? 3 : 2, n = oc_c_out(c, 0), rows = oc_c_in(c, 0);
    if (!o)
        return 0;
    k->rest_class = OC_CLASS_F32;
    oc_add_prims(c, k, oc_prims_dequantize, oc_c_mul(c, terms, n));
    oc_add(c, k, OC_ADD, oc_c_mul(c, terms - 1, n));
    oc_add_layer_norm(c, k, n, rows, oc_in(c, 6) != NULL);
    quant_order_limit_rows(c, k, 2, n);
    quant_order_limit_rows(c, k, 3,
                           oc_c_range(c, &o->shape, 1, 3)); /* all sentences use the same positions */
    quant_order_limit_rows(c, k, 4, n);
    return 0;
}
static const char cost_embed_formula[] =
    "dequantize = (2 + [in4])*n; ADD = (1 + [in4])*n; " OC_LAYER_NORM_FORMULA;

#define MS(n, cl, s, sh, co, p)                                                                              \
    .domain = "com.microsoft", .name = (n), .since = 1, .op_class = (cl), .slots = (s), .shape = (sh),       \
    OC_COST(co), .param = (p)

static const struct oc_op rows[] = {
    {MS("DequantizeBFP", OC_OP_QUANTIZE, ".m", shape_dequantize_bfp, oc_cost_elementwise, bfp)},
    {MS("QEmbedLayerNormalization", OC_OP_NORM, "..eeenn.q", shape_embed, cost_embed, NULL),
     .kernel = OC_KC_GATHER},
    {MS("QOrderedLayerNormalization", OC_OP_NORM, ".qnnq", shape_int8, cost_ordered_norm, NULL)},
    {MS("QOrderedMatMul", OC_OP_GEMM, ".q.qqb.q", shape_ordered_matmul, cost_ordered_matmul, NULL)},
    {MS("QuantizeBFP", OC_OP_QUANTIZE, NULL, shape_quantize_bfp, cost_quantize_bfp, NULL)},
};
extern const struct oc_op_family oc_ops_quant_order;
const struct oc_op_family oc_ops_quant_order = OC_FAMILY("quant_order", rows);
