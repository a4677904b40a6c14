/* Conversion between types, and quantized element-wise operators. cost-semantics 4.5, 4.10. */
#include <math.h>
#include <string.h>

#include "ops/shared_rules.h"
#include "ops/op.h"

/* ---- Cast --------------------------------------------------------------------------------------------- */

/* Version 1 gives the type as text. */
static unsigned cast_target(const struct oc_op_ctx *c)
{
    const char *name = oc_attr_s(c, "to", NULL);
    if (strcmp(c->op->name, "CastLike") == 0)
        return oc_in_dtype(c, 1);
    if (name)
        return oc_dtype_by_name(name, strlen(name));
    int64_t v = oc_attr_i(c, "to", OC_DT_UNDEFINED);
    return v > 0 && v < OC_DT_COUNT ? (unsigned)v : OC_DT_UNDEFINED;
}

static int shape_cast(struct oc_op_ctx *c)
{
    unsigned to = cast_target(c);
    if (to == OC_DT_UNDEFINED && strcmp(c->op->name, "CastLike") != 0)
        return oc_op_fail(c, "attribute 'to' is not an element type");
    oc_set_out(c, 0, to, *oc_in_shape(c, 0));
    return 0;
}

static const struct oc_elem no_elem = {.kind = OC_E_UNKNOWN};

/* Unknown sizes are assumed to fit; known integers must. */
static struct oc_elem quantize_fit(struct oc_op_ctx *c, struct oc_dim d, const struct oc_dtype_info *to,
                                   bool is_signed)
{
    unsigned bits = to->bits < 64 ? to->bits : 63;
    int64_t hi = is_signed && to->bits < 64 ? (INT64_C(1) << (bits - 1)) - 1
                 : bits < 63                ? (INT64_C(1) << bits) - 1
                                            : INT64_MAX;
    int64_t lo = !is_signed ? 0 : to->bits < 64 ? -hi - 1 : INT64_MIN;
    int64_t max = oc_dim_max_value(c->exprs, d);
    bool out = oc_is_known(d) ? d.v < lo || d.v > hi : max > hi;
    return out ? no_elem : oc_elem_dim(d);
}

/* Converts a real to an integer: truncated if known, floored if non-negative, exact otherwise. */
static struct oc_elem quantize_to_integer(struct oc_op_ctx *c, const struct oc_elem *e)
{
    double v;
    if (oc_elem_known_real(e, &v))
        return fabs(v) < 9e18 ? oc_elem_int((int64_t)v) : no_elem;
    if (e->kind != OC_E_RATIO)
        return no_elem;
    struct oc_elem lo = oc_elem_fn(c->exprs, OC_EL_FLOOR, OC_DT_DOUBLE, e);
    struct oc_elem hi = oc_elem_fn(c->exprs, OC_EL_CEIL, OC_DT_DOUBLE, e);
    bool positive = oc_dim_min_value(c->exprs, e->i) >= 0 && e->r >= 0 && e->add >= 0;
    if (lo.kind != OC_E_RATIO || lo.r != 1 || lo.add != 0 || (!positive && !oc_elem_same(&lo, &hi)))
        return no_elem;
    return oc_elem_dim(lo.i);
}

static struct oc_elem to_real(const struct oc_elem *e, unsigned to)
{
    double v;
    if (oc_elem_known_real(e, &v))
        return oc_elem_real(to == OC_DT_DOUBLE ? v : (double)(float)v);
    if (e->kind == OC_E_INT)
        return (struct oc_elem){.kind = OC_E_RATIO, .i = e->i, .r = 1};
    return e->kind == OC_E_RATIO ? *e : no_elem;
}

static struct oc_elem to_bool(struct oc_op_ctx *c, const struct oc_elem *e)
{
    double v;
    if (oc_elem_known_real(e, &v))
        return oc_elem_int(v != 0);
    return e->kind == OC_E_INT && oc_dim_min_value(c->exprs, e->i) > 0 ? oc_elem_int(1) : no_elem;
}

static struct oc_elem cast_elem(struct oc_op_ctx *c, const struct oc_elem *e, unsigned to)
{
    const struct oc_dtype_info *info = oc_dtype_info(to);
    if (info->kind == OC_KIND_FLOAT)
        return to_real(e, to);
    if (info->kind == OC_KIND_BOOL)
        return to_bool(c, e);
    if (info->kind != OC_KIND_INT)
        return no_elem;
    struct oc_elem i = e->kind == OC_E_INT ? *e : quantize_to_integer(c, e);
    return i.kind == OC_E_INT ? quantize_fit(c, i.i, info, info->name[0] != 'u') : no_elem;
}

static int fold_cast(struct oc_op_ctx *c)
{
    const struct oc_data *d = oc_in_value(c, 0);
    unsigned to = cast_target(c);
    if (!d)
        return 0;
    struct oc_elem *e = oc_new_elems(c, d->n);
    for (uint32_t i = 0; i < d->n; i++)
        e[i] = to == oc_in_dtype(c, 0) ? d->e[i] : cast_elem(c, &d->e[i], to);
    oc_set_data(c, 0, e, d->n);
    return 0;
}

/* float8 and float4 also saturate: with the weights in use, a compare is a conversion there (0 or 1). */
static int cast_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    unsigned from = oc_in_dtype(c, 0), to = cast_target(c);
    const struct oc_dtype_info *a = oc_dtype_info(from), *b = oc_dtype_info(to);
    bool saturates = a->kind == OC_KIND_FLOAT && b->kind == OC_KIND_FLOAT && b->bits <= 8;
    k->alias = from == to && to != OC_DT_UNDEFINED;
    oc_add_formula_value(c, "c", k->alias ? 0 : saturates ? 3 : 1);
    return 0;
}
static const char cast_formula[] = "CVT = c*N(o); c := 0";

/* ---- QuantizeLinear, DequantizeLinear ----------------------------------------------------------------- */

/* The elements of a block along the axis share one scale. */
static int check_blocks(struct oc_op_ctx *c)
{
    const struct oc_shape *x = oc_in_shape(c, 0), *s = oc_in_shape(c, 1);
    int64_t block = oc_attr_i(c, "block_size", 0);
    unsigned axis;
    if (block < 0)
        return oc_op_fail(c, "invalid block_size %lld", (long long)block);
    if (block == 0 || !x->ranked || !s->ranked || x->rank != s->rank ||
        !oc_axis(oc_attr_i(c, "axis", 1), x->rank, &axis))
        return 0;
    struct oc_dim want = oc_dim_ceildiv(c->exprs, x->dim[axis], oc_known(block));
    if (oc_is_known(want) && oc_is_known(s->dim[axis]) && s->dim[axis].v != want.v)
        return oc_op_fail(c, "%lld scales along axis %u instead of %lld", (long long)s->dim[axis].v, axis,
                          (long long)want.v);
    return 0;
}

static unsigned type_attr(const struct oc_op_ctx *c, const char *name, unsigned otherwise)
{
    int64_t v = oc_attr_i(c, name, 0);
    return v > 0 && v < OC_DT_COUNT ? (unsigned)v : otherwise;
}

static int shape_quantize_linear(struct oc_op_ctx *c)
{
    unsigned dtype = oc_in(c, 2) ? oc_in_dtype(c, 2) : type_attr(c, "output_dtype", OC_DT_UINT8);
    if (check_blocks(c))
        return -1;
    oc_set_out(c, 0, dtype, *oc_in_shape(c, 0));
    return 0;
}

/* DIV, RND, ADD for the zero point, 2 CMP; small floats have no zero point, and no CMP unless they saturate.
 */
static int quantize_linear_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    const struct oc_type *out = oc_out(c, 0);
    bool is_float = out && oc_dtype_info(out->dtype)->kind == OC_KIND_FLOAT;
    (void)k;
    oc_add_formula_value(c, "zp", oc_in(c, 2) && !is_float);
    oc_add_formula_value(c, "saturates", !is_float || oc_attr_i(c, "saturate", 1));
    return 0;
}
static const char quantize_linear_formula[] = "DIV = N(o); RND = N(o); ADD = zp*N(o); CMP = 2*saturates*N(o)";

static int quantize_shape_dequantize(struct oc_op_ctx *c)
{
    bool old = c->node->domain[0] == '\0' && c->opset >= 1 && c->opset < 19;
    if (check_blocks(c))
        return -1;
    oc_set_out(c, 0, old ? OC_DT_FLOAT : type_attr(c, "output_dtype", oc_in_dtype(c, 1)), *oc_in_shape(c, 0));
    return 0;
}

static const char quantize_dequantize_formula[] = "MUL = N(o); ADD = [in2]*N(o)";

/* com.microsoft, for tiled int8 layouts: the order changes, the shape does not. */
static int shape_quantize_order(struct oc_op_ctx *c)
{
    oc_set_out(c, 0, OC_DT_INT8, *oc_in_shape(c, 0));
    return 0;
}

static int shape_dequantize_order(struct oc_op_ctx *c)
{
    oc_set_out(c, 0, type_attr(c, "to", oc_in_dtype(c, 1)), *oc_in_shape(c, 0));
    return 0;
}

static int shape_dynamic_quantize(struct oc_op_ctx *c)
{
    oc_set_out(c, 0, OC_DT_UINT8, *oc_in_shape(c, 0));
    oc_set_out(c, 1, OC_DT_FLOAT, oc_shape_scalar());
    oc_set_out(c, 2, OC_DT_UINT8, oc_shape_scalar());
    return 0;
}

static const char dynamic_quantize_formula[] = "dynamic_quantize = N(x)";

/* ---- QLinear operators of com.microsoft ------------------------------------------------------------- */

/* Broadcast of the data inputs; dtype of `typed`. */
static int shape_of_slots(struct oc_op_ctx *c, const unsigned *slot, unsigned n, unsigned typed)
{
    struct oc_shape out = *oc_in_shape(c, slot[0]), both;
    for (unsigned i = 1; i < n; i++) {
        if (oc_broadcast(c->arena, c->exprs, &out, oc_in_shape(c, slot[i]), &both, NULL))
            return oc_op_fail(c, "shapes {%s} and {%s} do not broadcast", oc_text_of(c, &out),
                              oc_text_of(c, oc_in_shape(c, slot[i])));
        out = both;
    }
    oc_set_out(c, 0, oc_in_dtype(c, typed), out);
    return 0;
}

static int shape_qlinear_binary(struct oc_op_ctx *c)
{
    return shape_of_slots(c, (const unsigned[]){0, 3}, 2, 0);
}

static int shape_qlinear_where(struct oc_op_ctx *c)
{
    return shape_of_slots(c, (const unsigned[]){0, 1, 4}, 3, 1);
}

/* op->prim: the operation; op->n_prim: number of data inputs that are dequantized; param: an activation
 * instead */
static int qlinear_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    (void)k;
    oc_add_formula_value(c, "inputs_used", c->op->n_prim);
    /* a lookup table contains the result */
    oc_add_formula_value(c, "n", c->op->param && c->opt.lut ? 0 : oc_c_out(c, 0));
    return 0;
}

/* Inputs: scale and zero point of the result, then data, scale, zero point of each part. */
static int shape_qlinear_concat(struct oc_op_ctx *c)
{
    struct oc_dim sum = oc_known(0);
    const struct oc_shape *first = oc_in_shape(c, 2);
    unsigned axis;
    if (!first->ranked)
        return oc_out_unranked(c, oc_in_dtype(c, 2));
    if (oc_attr_axis(c, 0, first->rank, &axis))
        return -1;
    for (unsigned i = 2; i < c->n_in; i += 3) {
        const struct oc_shape *s = oc_in_shape(c, i);
        if (s->ranked && s->rank != first->rank)
            return oc_op_fail(c, "inputs {%s} and {%s} differ in rank", oc_text_of(c, first),
                              oc_text_of(c, s));
        sum = oc_dim_add(c->exprs, sum, s->ranked ? s->dim[axis] : oc_fresh_axis(c, axis, -1));
    }
    oc_set_out(c, 0, oc_in_dtype(c, 2), oc_shape_with(c, first, axis, sum));
    return 0;
}

/* Provably the same number, or both absent. */
static bool same_scalar(struct oc_op_ctx *c, unsigned a, unsigned b)
{
    const struct oc_data *d = oc_in_value(c, a), *e = oc_in_value(c, b);
    if (!oc_in(c, a) && !oc_in(c, b))
        return true;
    return d && e && d->n == 1 && e->n == 1 && oc_elem_same(&d->e[0], &e->e[0]);
}

static const char qlinear_formula[] = "dequantize = inputs_used*n; function = n; requantize = n";

static int qlinear_concat_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    (void)k;
    for (unsigned i = 2; i < c->n_in; i += 3)
        if (!same_scalar(c, 0, i + 1) || !same_scalar(c, 1, i + 2))
            oc_add_formula_value(c, "n", oc_c_in(c, i));
    return 0;
}
static const char qlinear_concat_formula[] = "dequantize = n; requantize = n; n := 0";

/* ---- GatherBlockQuantized ----------------------------------------------------------------------------- */

/* uint8 data holds 8/bits elements a byte along the last axis */
static int64_t packing(const struct oc_op_ctx *c)
{
    int64_t bits = oc_attr_i(c, "bits", 4);
    return oc_in_dtype(c, 0) == OC_DT_UINT8 && bits > 0 && bits <= 8 ? 8 / bits : 1;
}

static int shape_gather_blocks(struct oc_op_ctx *c)
{
    const struct oc_shape *data = oc_in_shape(c, 0), *index = oc_in_shape(c, 1);
    struct oc_dim dim[2 * OC_MAX_RANK];
    unsigned axis, n = 0;
    if (!data->ranked || !index->ranked)
        return oc_out_unranked(c, oc_in_dtype(c, 2));
    if (!oc_axis(oc_attr_i(c, "gather_axis", 0), data->rank, &axis) ||
        data->rank - 1U + index->rank > OC_MAX_RANK)
        return oc_op_fail(c, "gather_axis is out of range for rank %u", (unsigned)data->rank);
    for (unsigned i = 0; i < data->rank; i++) {
        if (i != axis)
            dim[n++] = i + 1U == data->rank ? oc_dim_mul(c->exprs, data->dim[i], oc_known(packing(c)))
                                            : data->dim[i];
        for (unsigned j = 0; i == axis && j < index->rank; j++)
            dim[n++] = index->dim[j];
    }
    oc_set_out(c, 0, oc_in_dtype(c, 2), oc_shape_of(c->arena, n, dim));
    return 0;
}

/* The gathered elements are read in packed form, with the scales and zero points of their blocks. Zero points
 * are packed like the elements, or numbers of the scales' type. */
static int gather_blocks_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    int64_t block = oc_attr_i(c, "block_size", 128);
    uint64_t n = oc_c_out(c, 0), per_byte = (uint64_t)packing(c);
    uint64_t blocks = block > 0 ? (n + (uint64_t)block - 1) / (uint64_t)block : 0;
    k->rd[0] = oc_c_part(c, 0, n / per_byte + (n % per_byte ? 1 : 0));
    k->rd[2] = oc_c_part(c, 2, blocks);
    if (oc_in_dtype(c, 3) == oc_in_dtype(c, 2))
        per_byte = 1;
    if (oc_in(c, 3))
        k->rd[3] = oc_c_part(c, 3, blocks / per_byte + (blocks % per_byte ? 1 : 0));
    return 0;
}
static const char gather_blocks_formula[] = "DEQ = N(o)";

#define MS "com.microsoft"
#define ROW(d, n, v, u, fl, sl, s, f, k)                                                                     \
    .domain = (d), .name = (n), .since = (v), .until = (u), .op_class = OC_OP_QUANTIZE, .flags = (fl),       \
    .slots = (sl), .shape = (s), .fold = (f), k
#define QLINEAR(n, sl, s, p, np, act)                                                                        \
    .domain = MS, .name = (n), .since = 1, .op_class = OC_OP_ELEMENTWISE, .slots = (sl), .shape = (s),       \
    OC_COST(qlinear), .prim = (p), .n_prim = (np), .param = (act)

static const struct oc_op quantize_rows[] = {
    {ROW("", "Cast", 1, 0, OC_F_KEEPS_SHAPE | OC_F_SELECTS, NULL, shape_cast, fold_cast, OC_COST(cast)),
     .in_place = OC_SLOT_0},
    {ROW("", "CastLike", 15, 0, OC_F_FUNCTION | OC_F_SELECTS, ".m", shape_cast, fold_cast, OC_COST(cast))},
    {ROW("", "DequantizeLinear", 10, 0, OC_F_NO_FOLD | OC_F_KEEPS_SHAPE | OC_F_COUNT_BY_DEFAULTS, ".q",
         quantize_shape_dequantize, NULL, OC_COST_TEXT(quantize_dequantize_formula)),
     .n_required = 2},
    {ROW(MS, "DequantizeLinear", 1, 0, OC_F_NO_FOLD | OC_F_KEEPS_SHAPE | OC_F_COUNT_BY_DEFAULTS, ".q",
         quantize_shape_dequantize, NULL, OC_COST_TEXT(quantize_dequantize_formula)),
     .n_required = 2},
    {ROW(MS, "DequantizeWithOrder", 1, 0, OC_F_NO_FOLD, ".q", shape_dequantize_order, NULL,
         OC_COST_TEXT(quantize_dequantize_formula))},
    {ROW("", "DynamicQuantizeLinear", 11, 0, OC_F_FUNCTION, NULL, shape_dynamic_quantize, NULL,
         OC_COST_TEXT(dynamic_quantize_formula)),
     .kernel = OC_KC_REDUCE},
    {OC_OP_ROW(MS, "GatherBlockQuantized", 1, GATHER, "e.qq", shape_gather_blocks), OC_COST(gather_blocks)},
    {QLINEAR("QLinearAdd", ".qq.qqqq", shape_qlinear_binary, OC_ADD, 2, NULL)},
    {OC_OP_ROW(MS, "QLinearConcat", 1, COPY, "qq.qq.qq.qq.qq.qq.qq.qq.qq.qq.qq.qq.qq.qq.qq.qq.qq",
               shape_qlinear_concat),
     OC_COST(qlinear_concat)},
    {QLINEAR("QLinearLeakyRelu", ".q", oc_shape_same, 0, 1, "LeakyRelu")},
    {QLINEAR("QLinearMul", ".qq.qqqq", shape_qlinear_binary, OC_MUL, 2, NULL)},
    {QLINEAR("QLinearSigmoid", ".q", oc_shape_same, 0, 1, "Sigmoid"), .kernel = OC_KC_ACTIVATION},
    {QLINEAR("QLinearWhere", "..qq.qqqq", shape_qlinear_where, OC_CMP, 1, NULL)},
    {QLINEAR("QOrderedGelu", ".q", oc_shape_same, 0, 1, "Gelu"), .kernel = OC_KC_ACTIVATION},
    {ROW("", "QuantizeLinear", 10, 0, OC_F_KEEPS_SHAPE | OC_F_COUNT_BY_DEFAULTS, ".q", shape_quantize_linear,
         NULL, OC_COST(quantize_linear)),
     .n_required = 2},
    {ROW(MS, "QuantizeLinear", 1, 0, OC_F_KEEPS_SHAPE | OC_F_COUNT_BY_DEFAULTS, ".q", shape_quantize_linear,
         NULL, OC_COST(quantize_linear)),
     .n_required = 2},
    {ROW(MS, "QuantizeWithOrder", 1, 0, 0, ".q", shape_quantize_order, NULL, OC_COST(quantize_linear))},
};
OC_FAMILY(quantize, quantize_rows);

/* ---- quantizers of QONNX ------------------------------------------------------------------------------ */

/* Quantizers of QONNX (qonnx.custom_op.general, fastmachinelearning/qonnx 1.0 at cc2ec17): floats in, floats
 * with the values of integers out. The exporter of Brevitas writes them in the domain onnx.brevitas. */

/* The zero point is a float: absent, or known to be zero, it costs nothing. */
static bool has_zero_point(const struct oc_op_ctx *c)
{
    const struct oc_data *d = oc_in_value(c, 2);
    double v;
    for (uint32_t i = 0; d && i < d->n; i++)
        if (!oc_elem_known_real(&d->e[i], &v) || v != 0)
            return true;
    return oc_in(c, 2) && !d;
}

/* x / scale + zero point, clamped, rounded, and back */
/* The zero point is added, and subtracted. */
static int quant_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    (void)k;
    if (has_zero_point(c))
        oc_add_formula_value(c, "zp", oc_c_mul(c, 2, oc_c_in(c, 0)));
    return 0;
}
static const char quant_formula[] = "DIV = N(x); CMP = 2*N(x); RND = N(x); MUL = N(x); ADD = zp; zp := 0";

static const char bipolar_formula[] = "CMP = N(x); MUL = N(x)";

static const char trunc_formula[] =
    "DIV = 2*N(x); RND = 2*N(x); MUL = N(x); CMP = 2*[in5]*N(x); ADD = zp; zp := 0";

static const char thresholds_formula[] = "CMP = N(x)*w[1]; ADD = N(x)*w[1]";

#define QUANT(n, s, co)                                                                                      \
    {                                                                                                        \
        .domain = "qonnx.custom_op.general", .name = (n), .since = 1, .op_class = OC_OP_QUANTIZE,            \
        .slots = (s), .shape = oc_shape_same, co                                                             \
    }

static const struct oc_op qonnx_rows[] = {
    QUANT("BipolarQuant", ".q", OC_COST_TEXT(bipolar_formula)),
    QUANT("IntQuant", ".qqq", OC_COST(quant)),
    QUANT("MultiThreshold", "..", OC_COST_TEXT(thresholds_formula)),
    QUANT("Quant", ".qqq", OC_COST(quant)),
    QUANT("Trunc", ".qqqqq", OC_COST_TEXT_WITH(trunc_formula, quant_values)),
};
OC_FAMILY(qonnx, qonnx_rows);

/* ---- special layouts ---------------------------------------------------------------------------------- */

/* Quantized operators of ONNX Runtime with special data layouts: QOrdered*, block floating point, and
 * QEmbedLayerNormalization. cost-semantics 4.2, 4.3, 4.10. */

static int set_float(struct oc_op_ctx *c, const char *attr, struct oc_shape shape)
{
    int64_t dtype = oc_attr_i(c, attr, OC_DT_FLOAT);
    if (dtype <= OC_DT_UNDEFINED || dtype >= OC_DT_COUNT)
        return oc_op_fail(c, "invalid %s %lld", attr, (long long)dtype);
    oc_set_out(c, 0, (unsigned)dtype, shape);
    return 0;
}

/* ---- block floating point ----------------------------------------------------------------------------- */

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

static const char quantize_bfp_formula[] = "CVT = N(x); MUL = N(x)";

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

/* ---- QOrderedMatMul ----------------------------------------------------------------------------------- */

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

static int ordered_matmul_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    struct oc_shape out;
    struct oc_dim depth;
    (void)k;
    if (ordered_matmul(c, &out, &depth))
        return -1;
    oc_add_formula_value(c, "K", oc_c_dim(c, depth));
    return 0;
}
static const char ordered_matmul_formula[] =
    "MAC = N(o)*K; requantize = N(o); ADD = ([in5] + [in6])*N(o); MUL = [in6]*N(o)";

/* ---- normalisations ----------------------------------------------------------------------------------- */

/* X, scale_X, scale, B, scale_Y */
static int ordered_norm_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    (void)k;
    const struct oc_shape *x = oc_in_shape(c, 0);
    int64_t axis = oc_attr_i(c, "axis", -1);
    unsigned at;
    if (!x->ranked)
        return oc_cost_unknown(c);
    if (!oc_axis(axis, x->rank, &at))
        return oc_op_fail(c, "axis %lld is out of range for rank %u", (long long)axis, x->rank);
    oc_report_norm(c, oc_c_in(c, 0), oc_c_range(c, x, 0, at), oc_in(c, 3) != NULL);
    return 0;
}
static const char ordered_norm_formula[] = "dequantize = n; requantize = n; " OC_LAYER_NORM_FORMULA;

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

static void limit_rows(struct oc_op_ctx *c, struct oc_cost *k, unsigned slot, uint64_t elements)
{
    uint64_t bytes = oc_in(c, slot) ? oc_c_part(c, slot, elements) : 0;
    if (slot < k->n_in && bytes < k->rd[slot])
        k->rd[slot] = bytes;
}

/* Sum of 2 or 3 dequantized rows per token, then LayerNormalization */
static int embed_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    const struct oc_type *o = oc_out(c, 0);
    uint64_t n = oc_c_out(c, 0);
    k->rest_class = OC_CLASS_F32;
    oc_report_norm(c, n, o ? oc_c_in(c, 0) : 0, oc_in(c, 6) != NULL);
    if (!o)
        return 0;
    limit_rows(c, k, 2, n);
    limit_rows(c, k, 3, oc_c_range(c, &o->shape, 1, 3)); /* all sentences use the same positions */
    limit_rows(c, k, 4, n);
    return 0;
}
static const char embed_formula[] = "dequantize = (2 + [in4])*n; ADD = (1 + [in4])*n; " OC_LAYER_NORM_FORMULA;

#define QUANT_ORDER_MS(n, cl, s, sh, co, p)                                                                  \
    .domain = "com.microsoft", .name = (n), .since = 1, .op_class = (cl), .slots = (s), .shape = (sh), co,   \
    .param = (p)

static const struct oc_op quant_order_rows[] = {
    {QUANT_ORDER_MS("DequantizeBFP", OC_OP_QUANTIZE, ".m", shape_dequantize_bfp, OC_COST_THIS, bfp)},
    {QUANT_ORDER_MS("QEmbedLayerNormalization", OC_OP_NORM, "..eeenn.q", shape_embed, OC_COST(embed), NULL),
     .kernel = OC_KC_GATHER},
    {QUANT_ORDER_MS("QOrderedLayerNormalization", OC_OP_NORM, ".qnnq", shape_quantize_order,
                    OC_COST(ordered_norm), NULL)},
    {QUANT_ORDER_MS("QOrderedMatMul", OC_OP_GEMM, ".q.qqb.q", shape_ordered_matmul, OC_COST(ordered_matmul),
                    NULL)},
    {QUANT_ORDER_MS("QuantizeBFP", OC_OP_QUANTIZE, NULL, shape_quantize_bfp,
                    OC_COST_TEXT(quantize_bfp_formula), NULL)},
};
OC_FAMILY(quant_order, quant_order_rows);
