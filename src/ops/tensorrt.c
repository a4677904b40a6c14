/* Plug-ins of TensorRT (NVIDIA/TensorRT 10.x: plugin/, README and getOutputDimensions of each; quantizers of
 * onnx/onnx-tensorrt: onnxOpImporters.cpp) whose shapes follow from their inputs and attributes. The parser
 * finds plug-ins by name whatever the domain: oc_op_find maps the domains in use to "trt". */
#include "ops/op.h"
#include "ops/shared_rules.h"

/* ---- quantizers --------------------------------------------------------------------------------------- */

static const uint8_t fp8 = OC_DT_FLOAT8E4M3FN, int4 = OC_DT_INT4;

static int tensorrt_shape_quantize(struct oc_op_ctx *c)
{
    const uint8_t *dtype = c->op->param;
    oc_set_out(c, 0, *dtype, *oc_in_shape(c, 0));
    return 0;
}

static int tensorrt_shape_dequantize(struct oc_op_ctx *c)
{
    oc_set_out(c, 0, oc_in_dtype(c, 1), *oc_in_shape(c, 0));
    return 0;
}

static const char tensorrt_quantize_formula[] = "DIV = N(o); RND = N(o); CMP = 2*N(o)";

static const char tensorrt_dequantize_formula[] = "MUL = N(o)";

/* ---- transformers ------------------------------------------------------------------------------------- */

static const char disentangled_formula[] = "ADD = 2*N(o); MUL = N(o)";

/* {S, B, E, 1, 1}: a row per token. */
static int tensorrt_skip_norm_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    (void)k;
    oc_add_formula_value(c, "bias", oc_has_attr(c, "bias"));
    return 0;
}
static const char tensorrt_skip_norm_formula[] =
    "ADD = (5 + bias)*n + R; MUL = 3*n; DIV = 3*R; SQRT = R; n := N(x); "
    "R := x[0]*x[1]; bias := 0";

/* Replaces the third dimension of {S, B, n, 1, 1}. */
static int replace_third(struct oc_op_ctx *c, struct oc_dim d)
{
    const struct oc_shape *x = oc_in_shape(c, 0);
    if (!x->ranked)
        return oc_out_unranked(c, oc_in_dtype(c, 0));
    if (x->rank < 3)
        return oc_op_fail(c, "the input has rank %u, not 5", (unsigned)x->rank);
    oc_set_out(c, 0, oc_in_dtype(c, 0), oc_shape_with(c, x, 2, d));
    return 0;
}

static int shape_fc(struct oc_op_ctx *c)
{
    int64_t n = oc_attr_i(c, "out_dims", 0);
    return n > 0 ? replace_third(c, oc_known(n)) : oc_op_fail(c, "out_dims is %lld", (long long)n);
}

/* The weights {K, out_dims} are an attribute. */
static int fc_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    const struct oc_shape *x = oc_in_shape(c, 0);
    uint64_t n = (uint64_t)oc_attr_i(c, "out_dims", 0);
    if (!x->ranked)
        return oc_cost_unknown(c);
    k->attr_params = oc_c_mul(c, oc_c_dim(c, x->dim[2]), n);
    oc_add_formula_value(c, "n", n);
    return 0;
}
static const char fc_formula[] = "MAC = N(x)*n; n := 0";

static int shape_context(struct oc_op_ctx *c)
{
    const struct oc_shape *x = oc_in_shape(c, 0);
    bool known = x->ranked && x->rank > 2 && oc_is_known(x->dim[2]);
    if (known && x->dim[2].v % 3)
        return oc_op_fail(c, "%lld is not three times the hidden size", (long long)x->dim[2].v);
    return replace_third(c, known ? oc_known(x->dim[2].v / 3) : oc_op_fresh_dim(c, "2", -1));
}

/* Self-attention of {S, B, 3E, 1, 1}, heads h: 2*B*S*S*E MACs, scale and softmax of B*h*S*S scores. */
static int context_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    const struct oc_shape *x = oc_in_shape(c, 0);
    int64_t heads = oc_attr_i(c, "num_heads", 0);
    (void)k;
    if (!x->ranked || heads < 1)
        return oc_cost_unknown(c);
    uint64_t S = oc_c_dim(c, x->dim[0]);
    oc_add_formula_value(
        c, "pairs", oc_c_mul(c, oc_c_mul(c, S, S), oc_c_mul(c, oc_c_dim(c, x->dim[1]), (uint64_t)heads)));
    return 0;
}
static const char context_formula[] =
    "MAC = 2*N(o)*x[0]; MUL = pairs; CMP = pairs; ADD = 2*pairs; EXP = pairs; DIV = pairs; pairs := 0";

/* ---- vision ------------------------------------------------------------------------------------------- */

/* value {N, S, M, D}, locations {N, Lq, M, L, P, 2}: {N, Lq, M, D} */
static int shape_msda(struct oc_op_ctx *c)
{
    const struct oc_shape *v = oc_in_shape(c, 0), *at = oc_in_shape(c, 3);
    if (!v->ranked || !at->ranked)
        return oc_out_unranked(c, oc_in_dtype(c, 0));
    if (v->rank != 4 || at->rank != 6)
        return oc_op_fail(c, "value and sampling_locations have ranks %u and %u, not 4 and 6",
                          (unsigned)v->rank, (unsigned)at->rank);
    const struct oc_dim dim[] = {v->dim[0], at->dim[1], v->dim[2], v->dim[3]};
    oc_set_out(c, 0, oc_in_dtype(c, 0), oc_shape_of(c->arena, 4, dim));
    return 0;
}

static const char msda_formula[] = "MUL = 5*s + 4*l; ADD = 4*s + 6*l; RND = 2*l; s := l*x[3]; l := N(in4)";

static const char tensorrt_instance_norm_formula[] =
    "ADD = 4*N(x) + R; MUL = 3*N(x); DIV = 3*R; SQRT = R; R := x[0]*x[1]";

static int tensorrt_group_norm_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    const struct oc_shape *x = oc_in_shape(c, 0);
    int64_t groups = oc_attr_i(c, "num_groups", 0);
    (void)k;
    if (!x->ranked || !x->rank || groups < 1)
        return oc_cost_unknown(c);
    oc_add_formula_value(c, "R", oc_c_mul(c, oc_c_dim(c, x->dim[0]), (uint64_t)groups));
    return 0;
}
static const char tensorrt_group_norm_formula[] =
    "ADD = 4*N(x) + R; MUL = 3*N(x); DIV = 3*R; SQRT = R; R := 0";

/* {N, P, C} to {N, C, H, W} */
static int shape_pillars(struct oc_op_ctx *c)
{
    const struct oc_shape *x = oc_in_shape(c, 0);
    uint32_t n;
    const int64_t *size = oc_attr_ints(c, "dense_shape", &n);
    if (!size || n != 2 || size[0] < 1 || size[1] < 1)
        return oc_op_fail(c, "dense_shape is not two sizes");
    struct oc_dim channels = x->ranked && x->rank == 3 ? x->dim[2] : oc_op_fresh_dim(c, "1", -1);
    const struct oc_dim dim[] = {x->ranked && x->rank ? x->dim[0] : oc_op_fresh_dim(c, "0", -1), channels,
                                 oc_known(size[0]), oc_known(size[1])};
    oc_set_out(c, 0, oc_in_dtype(c, 0), oc_shape_of(c->arena, 4, dim));
    return 0;
}

struct nms {
    const char *most; /* attribute with the boxes kept per image */
    bool float_classes;
};
static const struct nms efficient = {"max_output_boxes", false}, batched = {"keepTopK", true};

/* boxes, scores: the number of detections {B, 1}, boxes {B, most, 4}, scores and classes {B, most} */
static int tensorrt_shape_nms(struct oc_op_ctx *c)
{
    const struct nms *kind = c->op->param;
    const struct oc_shape *x = oc_in_shape(c, 0);
    int64_t most = oc_attr_i(c, kind->most, 0);
    if (most < 1)
        return oc_op_fail(c, "%s is %lld", kind->most, (long long)most);
    unsigned dtype = oc_in_dtype(c, 0);
    const struct oc_dim dim[] = {x->ranked && x->rank ? x->dim[0] : oc_op_fresh_dim(c, "0", -1),
                                 oc_known(most), oc_known(4)},
                        one[] = {dim[0], oc_known(1)};
    oc_set_out(c, 0, OC_DT_INT32, oc_shape_of(c->arena, 2, one));
    oc_set_out(c, 1, dtype, oc_shape_of(c->arena, 3, dim));
    oc_set_out(c, 2, dtype, oc_shape_of(c->arena, 2, dim));
    oc_set_out(c, 3, kind->float_classes ? dtype : OC_DT_INT32, oc_shape_of(c->arena, 2, dim));
    return 0;
}

/* As NonMaxSuppression: a threshold and a sort of each of B*C lists of s boxes, and overlaps of the kept
 * boxes with the others: an upper bound. */
static int tensorrt_nms_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    const struct nms *kind = c->op->param;
    const struct oc_shape *scores = oc_in_shape(c, 1);
    (void)k;
    c->upper = true;
    if (!scores->ranked || scores->rank < 3)
        return oc_cost_unknown(c);
    uint64_t lists = oc_c_mul(c, oc_c_dim(c, scores->dim[0]), oc_c_dim(c, scores->dim[2]));
    uint64_t s = oc_c_dim(c, scores->dim[1]), most = (uint64_t)oc_attr_i(c, kind->most, 0);
    oc_add_formula_value(c, "m", oc_c_mul(c, lists, oc_c_mul(c, most < s ? most : s, s)));
    return 0;
}
static const char tensorrt_nms_formula[] =
    "CMP = N(w)*(1 + clog2(w[1])) + 5*m; ADD = 5*m; MUL = 2*m; DIV = m; m := 0";

#define TRT(n, cl, s, sh, co, p)                                                                             \
    {                                                                                                        \
        .domain = "trt", .name = (n), .since = 1, .op_class = (cl), .slots = (s), .shape = (sh), co,         \
        .param = (p)                                                                                         \
    }

static const struct oc_op rows[] = {
    TRT("BatchedNMSDynamic_TRT", OC_OP_SORT, NULL, tensorrt_shape_nms, OC_COST(tensorrt_nms), &batched),
    TRT("BatchedNMS_TRT", OC_OP_SORT, NULL, tensorrt_shape_nms, OC_COST(tensorrt_nms), &batched),
    TRT("CustomFCPluginDynamic", OC_OP_GEMM, NULL, shape_fc, OC_COST(fc), NULL),
    TRT("CustomQKVToContextPluginDynamic", OC_OP_ATTENTION, ".m", shape_context, OC_COST(context), NULL),
    TRT("CustomSkipLayerNormPluginDynamic", OC_OP_NORM, NULL, oc_shape_same, OC_COST(tensorrt_skip_norm),
        NULL),
    TRT("DisentangledAttention_TRT", OC_OP_ATTENTION, NULL, oc_shape_same, OC_COST_TEXT(disentangled_formula),
        NULL),
    TRT("EfficientNMS_TRT", OC_OP_SORT, NULL, tensorrt_shape_nms, OC_COST(tensorrt_nms), &efficient),
    TRT("GroupNormalizationPlugin", OC_OP_NORM, ".nn", oc_shape_same, OC_COST(tensorrt_group_norm), NULL),
    TRT("InstanceNormalization_TRT", OC_OP_NORM, NULL, oc_shape_same,
        OC_COST_TEXT(tensorrt_instance_norm_formula), NULL),
    TRT("MultiscaleDeformableAttnPlugin_TRT", OC_OP_ATTENTION, ".mm..", shape_msda,
        OC_COST_TEXT(msda_formula), NULL),
    {OC_OP_ROW("trt", "PillarScatterPlugin", 1, GATHER, NULL, shape_pillars)},
    TRT("TRT_FP8DequantizeLinear", OC_OP_QUANTIZE, ".q", tensorrt_shape_dequantize,
        OC_COST_TEXT(tensorrt_dequantize_formula), NULL),
    TRT("TRT_FP8QuantizeLinear", OC_OP_QUANTIZE, ".q", tensorrt_shape_quantize,
        OC_COST_TEXT(tensorrt_quantize_formula), &fp8),
    TRT("TRT_INT4DequantizeLinear", OC_OP_QUANTIZE, ".q", tensorrt_shape_dequantize,
        OC_COST_TEXT(tensorrt_dequantize_formula), NULL),
    TRT("TRT_INT4QuantizeLinear", OC_OP_QUANTIZE, ".q", tensorrt_shape_quantize,
        OC_COST_TEXT(tensorrt_quantize_formula), &int4),
};
OC_FAMILY(tensorrt, rows);
