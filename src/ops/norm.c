/* Softmax and normalisations. cost-semantics 4.3, 4.4, shape-inference 4.4. */
#include <string.h>

#include "ops/shared_rules.h"

/* ---- softmax ------------------------------------------------------------------------------------------ */

/* Related operators and the losses based on it, too. cost-semantics 4.4. */

/* Before version 13 the axes from `axis` (1 by default) on are flattened to one; since then one axis (-1). */
static bool is_flat(const struct oc_op_ctx *c)
{
    return c->node->domain[0] == '\0' && c->opset >= 1 && c->opset < 13;
}

static int softmax_axis(struct oc_op_ctx *c, unsigned *axis)
{
    unsigned rank = oc_in_shape(c, 0)->rank;
    int64_t a = oc_attr_i(c, "axis", is_flat(c) ? 1 : -1);
    *axis = is_flat(c) ? rank : 0;
    if (rank == 0 || (is_flat(c) && a == rank) || oc_axis(a, rank, axis))
        return 0;
    return oc_op_fail(c, "axis %lld is out of range for rank %u", (long long)a, rank);
}

static int shape_softmax(struct oc_op_ctx *c)
{
    unsigned axis;
    return softmax_axis(c, &axis) ? -1 : oc_shape_same(c);
}

static int softmax_rows(struct oc_op_ctx *c, uint64_t *rows)
{
    const struct oc_shape *x = oc_in_shape(c, 0);
    unsigned axis;
    if (softmax_axis(c, &axis))
        return -1;
    *rows = oc_c_range(c, x, 0, axis);
    if (!is_flat(c) && x->rank)
        *rows = oc_c_mul(c, *rows, oc_c_range(c, x, axis + 1, x->rank));
    return 0;
}

static const char softmax_formula[] = "CMP = N(o); ADD = 2*N(o); EXP = N(o); DIV = N(o)";

static const char bias_softmax_formula[] = "CMP = N(o); ADD = 3*N(o); EXP = N(o); DIV = N(o)";

static const char qlinear_softmax_formula[] =
    "dequantize = N(o); CMP = N(o); ADD = 2*N(o); EXP = N(o); DIV = N(o); requantize = N(o)";

static int log_softmax_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    uint64_t rows;
    (void)k;
    if (softmax_rows(c, &rows))
        return -1;
    oc_add_formula_value(c, "R", rows);
    return 0;
}
static const char log_softmax_formula[] = "CMP = n; ADD = 3*n; EXP = n; LOG = R; n := N(o)";

static const char hardmax_formula[] = "CMP = N(o)";

/* ---- losses ------------------------------------------------------------------------------------------- */

static int shape_loss(struct oc_op_ctx *c)
{
    bool each = strcmp(oc_attr_s(c, "reduction", "mean"), "none") == 0;
    oc_set_out(c, 0, oc_in_dtype(c, 0), each ? *oc_in_shape(c, 1) : oc_shape_scalar());
    oc_set_out_type(c, 1, oc_in(c, 0)); /* log_prob */
    return 0;
}

static const char cross_entropy_formula[] =
    "CMP = n + r; ADD = 3*n + [reduction:mean != none]*r; EXP = n; LOG = r; MUL = 2*[in2]*r; "
    "DIV = [reduction:mean == mean]; n := N(x); r := N(w)";

static const char nll_formula[] =
    "CMP = r; MUL = [in2]*r; ADD = [reduction:mean != none]*r + [in2]*[reduction:mean == mean]*r; "
    "DIV = [reduction:mean == mean]; r := N(w)";

#define SOFTMAX(d, n, s, co)                                                                                 \
    .domain = (d), .name = (n), .since = 1, .op_class = OC_OP_SOFTMAX, .slots = (s), .shape = shape_softmax, \
    co

static const struct oc_op softmax_loss_rows[] = {
    {OC_OP_ROW("com.microsoft", "BiasSoftmax", 1, SOFTMAX, NULL, oc_shape_same),
     OC_COST_TEXT(bias_softmax_formula)},
    {SOFTMAX("", "Hardmax", NULL, OC_COST_TEXT(hardmax_formula))},
    {SOFTMAX("", "LogSoftmax", NULL, OC_COST(log_softmax)), .flags = OC_F_FUNCTION | OC_F_COUNT_BY_DEFAULTS,
     .in_place = OC_SLOT_0},
    {OC_OP_ROW("", "NegativeLogLikelihoodLoss", 12, REDUCE, NULL, shape_loss), OC_COST_TEXT(nll_formula),
     .flags = OC_F_FUNCTION},
    {OC_OP_ROW("com.microsoft", "QLinearSoftmax", 1, SOFTMAX, ".q", oc_shape_same),
     OC_COST_TEXT(qlinear_softmax_formula)},
    {SOFTMAX("", "Softmax", NULL, OC_COST_TEXT(softmax_formula)),
     .flags = OC_F_FUNCTION | OC_F_KEEPS_SHAPE | OC_F_COUNT_BY_TYPES, .in_place = OC_SLOT_0},
    {OC_OP_ROW("", "SoftmaxCrossEntropyLoss", 12, SOFTMAX, NULL, shape_loss),
     OC_COST_TEXT(cross_entropy_formula), .flags = OC_F_FUNCTION},
    {OC_OP_ROW("com.microsoft", "SoftmaxCrossEntropyLossInternal", 1, SOFTMAX, "...m", shape_loss),
     OC_COST_TEXT(cross_entropy_formula)},
};
OC_FAMILY(softmax, softmax_loss_rows);

/* ---- histograms of normalisations --------------------------------------------------------------------- */

/* The type in which statistics are computed (attribute stash_type, float by default) is the class of the
 * work. */
static void use_stash_type(const struct oc_op_ctx *c, struct oc_cost *k)
{
    int64_t type = oc_attr_i(c, "stash_type", OC_DT_FLOAT);
    if (type > 0 && type < OC_DT_COUNT && oc_dtype_info((unsigned)type)->kind == OC_KIND_FLOAT)
        k->rest_class = oc_dtype_info((unsigned)type)->cls;
}

struct oc_shape oc_row_shape(struct oc_op_ctx *c, const struct oc_shape *x, unsigned axis)
{
    struct oc_dim dim[OC_MAX_RANK];
    if (!x->ranked)
        return oc_shape_unranked();
    for (unsigned i = 0; i < x->rank; i++)
        dim[i] = i < axis ? x->dim[i] : oc_known(1);
    return oc_shape_of(c->arena, x->rank, dim);
}

/* ---- BatchNormalization ------------------------------------------------------------------------------- */

static bool batch_norm_trains(const struct oc_op_ctx *c)
{
    if (c->opset >= 1 && c->opset < 14)
        return oc_out(c, 1) != NULL;
    return oc_attr_i(c, "training_mode", 0) != 0;
}

/* Outputs after Y are per channel: up to 4 until version 13, running mean and variance from 14. */
static int shape_batch_norm(struct oc_op_ctx *c)
{
    const struct oc_shape *x = oc_in_shape(c, 0), *scale = oc_in_shape(c, 1);
    struct oc_shape channels = *scale;
    if (!scale->ranked && x->ranked && x->rank >= 2)
        channels = oc_shape_1d(c->arena, x->dim[1]);
    oc_set_out_type(c, 0, oc_in(c, 0));
    for (unsigned i = 1; i < 5; i++)
        oc_set_out(c, i, oc_in_dtype(c, i % 2 ? 3 : 4), channels);
    return 0;
}

static int batch_norm_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    (void)k;
    oc_add_formula_value(c, "t", batch_norm_trains(c));
    return 0;
}
static const char batch_norm_formula[] =
    "MUL = (1 + t)*N(x) + (1 + 4*t)*C; ADD = (1 + 3*t)*N(x) + (2 + 2*t)*C; SQRT = C; DIV = (1 + 2*t)*C; "
    "C := N(w)";

/* ---- over the last axes ------------------------------------------------------------------------------- */

static int norm_axis(struct oc_op_ctx *c, const struct oc_shape *x, unsigned *axis)
{
    int64_t a = oc_attr_i(c, "axis", -1);
    *axis = 0;
    if (x->ranked && !oc_axis(a, x->rank, axis))
        return oc_op_fail(c, "axis %lld is out of range for rank %u", (long long)a, x->rank);
    return 0;
}

/* Y, and statistics (Mean, InvStdDev) of one element per row. Y has the dtype of scale, except that of the standard's
 * LayerNormalization. */
static int shape_layer_norm(struct oc_op_ctx *c)
{
    const struct oc_shape *x = oc_in_shape(c, 0);
    unsigned axis, dtype = oc_in_dtype(c, 0);
    if (norm_axis(c, x, &axis))
        return -1;
    bool standard =
        strcmp(c->op->name, "LayerNormalization") == 0 && !c->op->domain[0] && c->node->opset >= 17;
    if (!standard && oc_in_dtype(c, 1))
        dtype = oc_in_dtype(c, 1);
    oc_set_out(c, 0, dtype, *x);
    int64_t stash = oc_attr_i(c, "stash_type", OC_DT_FLOAT);
    struct oc_shape rows = oc_row_shape(c, x, axis);
    for (unsigned i = 1; i < 3; i++)
        oc_set_out(c, i, stash > 0 && stash < OC_DT_COUNT ? (unsigned)stash : OC_DT_FLOAT, rows);
    return 0;
}

static uint64_t rows_before_axis(struct oc_op_ctx *c)
{
    const struct oc_shape *x = oc_in_shape(c, 0);
    unsigned axis;
    if (norm_axis(c, x, &axis))
        return 0;
    return oc_c_range(c, x, 0, axis);
}

void oc_report_norm(struct oc_op_ctx *c, uint64_t n, uint64_t rows, bool bias)
{
    oc_add_formula_value(c, "n", n);
    oc_add_formula_value(c, "R", rows);
    oc_add_formula_value(c, "b", bias);
}

static int layer_norm_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    use_stash_type(c, k);
    oc_report_norm(c, oc_c_in(c, 0), rows_before_axis(c), oc_in(c, 2) != NULL);
    return 0;
}
static const char layer_norm_formula[] = OC_LAYER_NORM_FORMULA;

static const char rms_norm_formula[] = OC_RMS_NORM_FORMULA;

/* ---- by instances and groups -------------------------------------------------------------------------- */

static const char instance_norm_formula[] = OC_LAYER_NORM_FORMULA "; n := N(x); R := x[:2]; b := 1";

static int group_norm_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    int64_t groups = oc_attr_i(c, "num_groups", 0);
    if (groups < 1)
        return oc_op_fail(c, "invalid num_groups %lld", (long long)groups);
    if (c->opset <= 0 || c->opset >= 21)
        use_stash_type(c, k);
    uint64_t rows = oc_c_mul(c, oc_c_range(c, oc_in_shape(c, 0), 0, 1), (uint64_t)groups);
    oc_report_norm(c, oc_c_in(c, 0), rows, true);
    return 0;
}
static const char group_norm_formula[] = OC_LAYER_NORM_FORMULA;

/* As its function body: ADD 3n + R, MUL n + R, DIV n + 2R, SQRT R, ADD R */
static int mean_variance_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    static const int64_t usual[] = {0, 2, 3};
    const struct oc_shape *x = oc_in_shape(c, 0);
    uint32_t n_axes;
    (void)k;
    const int64_t *axes = oc_attr_ints(c, "axes", &n_axes);
    if (!axes) {
        axes = usual;
        n_axes = OC_COUNT(usual);
    }
    bool reduced[OC_MAX_RANK] = {false};
    for (uint32_t i = 0; i < n_axes; i++) {
        unsigned a;
        if (x->ranked && !oc_axis(axes[i], x->rank, &a))
            return oc_op_fail(c, "axis %lld is out of range for rank %u", (long long)axes[i], x->rank);
        if (x->ranked)
            reduced[a] = true;
    }
    uint64_t rows = 1;
    for (unsigned i = 0; x->ranked && i < x->rank; i++)
        if (!reduced[i])
            rows = oc_c_mul(c, rows, oc_c_dim(c, x->dim[i]));
    oc_add_formula_value(c, "R", rows);
    return 0;
}
static const char mean_variance_formula[] =
    "ADD = 3*n + 2*R; MUL = n + R; DIV = n + 2*R; SQRT = R; n := N(x)";

/* ---- LpNormalization, LRN ----------------------------------------------------------------------------- */

static int lp_norm_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    const struct oc_shape *x = oc_in_shape(c, 0);
    uint64_t rows = 1;
    unsigned axis;
    (void)k;
    if (norm_axis(c, x, &axis))
        return -1;
    for (unsigned i = 0; x->ranked && i < x->rank; i++)
        if (i != axis)
            rows = oc_c_mul(c, rows, oc_c_dim(c, x->dim[i]));
    oc_add_formula_value(c, "R", rows);
    return 0;
}
static const char lp_norm_formula[] =
    "MUL = [p:2 == 2]*n; CMP = [p:2 != 2]*n; ADD = n; DIV = n; SQRT = [p:2 == 2]*R; n := N(x)";

static int lrn_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    int64_t size = oc_attr_i(c, "size", 0);
    (void)k;
    if (size < 1)
        return oc_op_fail(c, "invalid size %lld", (long long)size);
    oc_add_formula_value(c, "size", (uint64_t)size);
    return 0;
}
static const char lrn_formula[] = "MUL = 2*n; ADD = (size + 1)*n; POW = n; DIV = n; n := N(x)";

#define NORM(n, v, s, sh, co)                                                                                \
    .domain = "", .name = (n), .since = (v), .op_class = OC_OP_NORM, .slots = (s), .shape = (sh), co

static const struct oc_op norm_rows[] = {
    {NORM("BatchNormalization", 1, ".nnss", shape_batch_norm, OC_COST(batch_norm)),
     .flags = OC_F_CHANNELS | OC_F_COUNT_BY_TYPES, .n_required = 5},
    {NORM("GroupNormalization", 18, ".nn", oc_shape_same, OC_COST(group_norm)), .flags = OC_F_FUNCTION},
    {NORM("InstanceNormalization", 1, ".nn", oc_shape_same, OC_COST_TEXT(instance_norm_formula)),
     .flags = OC_F_CHANNELS | OC_F_COUNT_BY_TYPES, .n_required = 3},
    {NORM("LRN", 1, NULL, oc_shape_same, OC_COST(lrn))},
    /* ONNX Runtime has it in the default domain from version 1 on, the standard from 17. */
    {NORM("LayerNormalization", 1, ".nn", shape_layer_norm, OC_COST(layer_norm)),
     .flags = OC_F_FUNCTION | OC_F_COUNT_BY_TYPES, .n_required = 2},
    {OC_OP_ROW("com.microsoft", "LayerNormalization", 1, NORM, ".nn", shape_layer_norm), OC_COST(layer_norm),
     .flags = OC_F_COUNT_BY_TYPES, .n_required = 2},
    {NORM("LpNormalization", 1, NULL, oc_shape_same, OC_COST(lp_norm))},
    {NORM("MeanVarianceNormalization", 1, NULL, oc_shape_same, OC_COST(mean_variance)),
     .flags = OC_F_FUNCTION},
    {NORM("RMSNormalization", 23, ".n", shape_layer_norm,
          OC_COST_TEXT_WITH(rms_norm_formula, layer_norm_values)),
     .flags = OC_F_FUNCTION | OC_F_COUNT_BY_DEFAULTS},
    {NORM("SimplifiedLayerNormalization", 1, ".n", shape_layer_norm,
          OC_COST_TEXT_WITH(rms_norm_formula, layer_norm_values)),
     .flags = OC_F_COUNT_BY_DEFAULTS},
    {OC_OP_ROW("com.microsoft", "SimplifiedLayerNormalization", 1, NORM, ".n", shape_layer_norm),
     OC_COST_TEXT_WITH(rms_norm_formula, layer_norm_values), .flags = OC_F_COUNT_BY_DEFAULTS},
};
OC_FAMILY(norm, norm_rows);

/* ---- fused normalisations: Skip(Simplified)LayerNormalization ----------------------------------------- */

/* Fused normalisations of ONNX Runtime (com.microsoft). cost-semantics 4.3. */

/* Y, mean, inv_std_var, input_skip_bias_sum */
static int shape_skip_norm(struct oc_op_ctx *c)
{
    const struct oc_shape *x = oc_in_shape(c, 0);
    if (x->ranked && x->rank < 1)
        return oc_op_fail(c, "the input has rank 0");
    struct oc_shape rows = oc_row_shape(c, x, x->rank ? x->rank - 1U : 0);
    oc_set_out_type(c, 0, oc_in(c, 0));
    oc_set_out(c, 1, OC_DT_FLOAT, rows);
    oc_set_out(c, 2, OC_DT_FLOAT, rows);
    oc_set_out_type(c, 3, oc_in(c, 0));
    return 0;
}

static const char skip_rms_formula[] =
    "ADD = (1 + [in3])*N(x); " OC_RMS_NORM_FORMULA "; n := N(x); R := x[:-1]";
static const char skip_norm_formula[] = "ADD = (1 + [in4])*N(x)"
                                        "; " OC_LAYER_NORM_FORMULA "; n := N(x); R := x[:-1]; b := [in3]";

/* ---- EmbedLayerNormalization -------------------------------------------------------------------------- */

/* input_ids, segment_ids, word, position, segment, gamma, beta, mask, position_ids
 * -> output [B,S,H], mask_index [B], embedding_sum */
static int shape_embed_norm(struct oc_op_ctx *c)
{
    const struct oc_shape *ids = oc_in_shape(c, 0), *word = oc_in_shape(c, 2);
    struct oc_shape out = oc_shape_unranked(), batch = oc_shape_unranked();
    if ((ids->ranked && ids->rank != 2) || (word->ranked && word->rank != 2))
        return oc_op_fail(c, "invalid ids rank %u and table rank %u", ids->rank, word->rank);
    if (ids->ranked && word->ranked) {
        struct oc_dim dim[3] = {ids->dim[0], ids->dim[1], word->dim[1]};
        out = oc_shape_of(c->arena, 3, dim);
    }
    if (ids->ranked)
        batch = oc_shape_1d(c->arena, ids->dim[0]);
    oc_set_out(c, 0, oc_in_dtype(c, 2), out);
    oc_set_out(c, 1, OC_DT_INT32, batch);
    oc_set_out(c, 2, oc_in_dtype(c, 2), out);
    return 0;
}

static void limit_rows(struct oc_op_ctx *c, struct oc_cost *k, unsigned slot, uint64_t elements)
{
    uint64_t bytes = oc_c_bytes(c, oc_in_dtype(c, slot), elements);
    if (slot < k->n_in && bytes < k->rd[slot])
        k->rd[slot] = bytes;
}

static int embed_norm_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    const struct oc_shape *ids = oc_in_shape(c, 0), *word = oc_in_shape(c, 2);
    uint64_t n = oc_c_out(c, 0), rows = oc_c_in(c, 0);
    if (!ids->ranked || !word->ranked || !oc_out(c, 0))
        return oc_cost_unknown(c);
    uint64_t one_sentence = oc_c_mul(c, oc_c_dim(c, ids->dim[1]), oc_c_dim(c, word->dim[1]));
    oc_report_norm(c, n, rows, oc_in(c, 6) != NULL);
    limit_rows(c, k, 2, n);
    limit_rows(c, k, 3, oc_in(c, 8) ? n : one_sentence); /* all sentences use the same positions */
    limit_rows(c, k, 4, n);
    return 0;
}
static const char embed_norm_formula[] = "ADD = (1 + [in4])*N(o)"
                                         "; " OC_LAYER_NORM_FORMULA "; n := N(x); R := x[:-1]; b := [in3]";

/* ---- groups ------------------------------------------------------------------------------------------- */

/* GroupNorm(X, gamma, beta), SkipGroupNorm(X, gamma, beta, skip, bias) -> Y, sum */
static int shape_group_norm(struct oc_op_ctx *c)
{
    oc_set_out_type(c, 0, oc_in(c, 0));
    oc_set_out_type(c, 1, oc_in(c, 0));
    return 0;
}

static int contrib_group_norm_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    int64_t groups = oc_attr_i(c, "groups", 0);
    (void)k;
    if (groups < 1)
        return oc_op_fail(c, "invalid groups %lld", (long long)groups);
    oc_report_norm(c, oc_c_in(c, 0), oc_c_mul(c, oc_c_range(c, oc_in_shape(c, 0), 0, 1), (uint64_t)groups),
                   true);
    return 0;
}
static const char contrib_group_norm_formula[] =
    "ADD = ([in3] + [in4])*N(x); Silu = [activation:0 != 0]*N(x)"
    "; " OC_LAYER_NORM_FORMULA "; n := N(x); R := x[:-1]; b := [in3]";

/* Rows as long as the scale; SiLU of the gate and a product; all in float. */
static int gated_rms_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    uint64_t n = oc_c_in(c, 0), length = oc_c_in(c, 1);
    k->rest_class = OC_CLASS_F32;
    oc_report_norm(c, n, length ? n / length : 0, false);
    return 0;
}
static const char gated_rms_formula[] = "SIG = n; MUL = 2*n"
                                        "; " OC_RMS_NORM_FORMULA;

#define MS(n, s, sh, co)                                                                                     \
    .domain = "com.microsoft", .name = (n), .since = 1, .op_class = OC_OP_NORM, .slots = (s), .shape = (sh), \
    co

static const struct oc_op contrib_norm_rows[] = {
    {MS("EmbedLayerNormalization", "..eeenn..", shape_embed_norm, OC_COST(embed_norm)),
     .kernel = OC_KC_GATHER},
    {MS("GatedRMSNorm", ".n.", oc_shape_same, OC_COST(gated_rms))},
    {MS("GroupNorm", ".nn", shape_group_norm, OC_COST(contrib_group_norm))},
    {MS("SkipGroupNorm", ".nn.b", shape_group_norm, OC_COST(contrib_group_norm))},
    {MS("SkipLayerNormalization", "..nnb", shape_skip_norm, OC_COST_TEXT(skip_norm_formula))},
    {MS("SkipSimplifiedLayerNormalization", "..nb", shape_skip_norm, OC_COST_TEXT(skip_rms_formula))},
};
OC_FAMILY(contrib_norm, contrib_norm_rows);
