/* Fused normalisations of ONNX Runtime (com.microsoft). cost-semantics 4.3. */
#include "ops/norm_cost.h"

#include <string.h>

/* ---- Skip(Simplified)LayerNormalization ------------------------------------------------------------- */

static bool simplified(const struct oc_op_ctx *c)
{
    return strcmp(c->op->name, "SkipSimplifiedLayerNormalization") == 0;
}

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

/* input, skip, gamma, [beta,] bias */
static int contrib_norm_cost_skip_norm(struct oc_op_ctx *c, struct oc_cost *k)
{
    const struct oc_shape *x = oc_in_shape(c, 0);
    uint64_t n = oc_c_in(c, 0);
    uint64_t rows = x->ranked && x->rank ? oc_c_range(c, x, 0, x->rank - 1U) : 0;
    bool bias = oc_in(c, simplified(c) ? 3 : 4) != NULL;
    oc_add(c, k, OC_ADD, oc_c_mul(c, bias ? 2 : 1, n));
    if (simplified(c))
        oc_add_rms_norm(c, k, n, rows);
    else
        oc_add_layer_norm(c, k, n, rows, oc_in(c, 3) != NULL);
    return 0;
}
static int cost_skip_rms(struct oc_op_ctx *c, struct oc_cost *k)
{
    return contrib_norm_cost_skip_norm(c, k);
}
static const char cost_skip_rms_formula[] = "ADD = (1 + [in3])*N(x); " OC_RMS_NORM_FORMULA;
static const char contrib_norm_cost_skip_norm_formula[] = "ADD = (1 + [in4])*N(x)"
                                                          "; " OC_LAYER_NORM_FORMULA;

/* ---- EmbedLayerNormalization ------------------------------------------------------------------------ */

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

static void contrib_norm_limit_rows(struct oc_op_ctx *c, struct oc_cost *k, unsigned slot, uint64_t elements)
{
    uint64_t bytes = oc_c_bytes(c, oc_in_dtype(c, slot), elements);
    if (slot < k->n_in && bytes < k->rd[slot])
        k->rd[slot] = bytes;
}

static int cost_embed_norm(struct oc_op_ctx *c, struct oc_cost *k)
{
    const struct oc_shape *ids = oc_in_shape(c, 0), *word = oc_in_shape(c, 2);
    uint64_t n = oc_c_out(c, 0), rows = oc_c_in(c, 0);
    if (!ids->ranked || !word->ranked || !oc_out(c, 0)) {
        c->unknown = true;
        return 0;
    }
    uint64_t one_sentence = oc_c_mul(c, oc_c_dim(c, ids->dim[1]), oc_c_dim(c, word->dim[1]));
    oc_add(c, k, OC_ADD, oc_c_mul(c, oc_in(c, 4) ? 2 : 1, n));
    oc_add_layer_norm(c, k, n, rows, oc_in(c, 6) != NULL);
    contrib_norm_limit_rows(c, k, 2, n);
    contrib_norm_limit_rows(c, k, 3,
                            oc_in(c, 8) ? n : one_sentence); /* all sentences use the same positions */
    contrib_norm_limit_rows(c, k, 4, n);
    return 0;
}
static const char cost_embed_norm_formula[] = "ADD = (1 + [in4])*N(o)"
                                              "; " OC_LAYER_NORM_FORMULA;

/* ---- groups ----------------------------------------------------------------------------------------- */

/* GroupNorm(X, gamma, beta), SkipGroupNorm(X, gamma, beta, skip, bias) -> Y, sum */
static int shape_group_norm(struct oc_op_ctx *c)
{
    oc_set_out_type(c, 0, oc_in(c, 0));
    oc_set_out_type(c, 1, oc_in(c, 0));
    return 0;
}

static int contrib_norm_cost_group_norm(struct oc_op_ctx *c, struct oc_cost *k)
{
    int64_t groups = oc_attr_i(c, "groups", 0);
    uint64_t n = oc_c_in(c, 0);
    if (groups < 1)
        return oc_op_fail(c, "invalid groups %lld", (long long)groups);
    oc_add_layer_norm(c, k, n, oc_c_mul(c, oc_c_range(c, oc_in_shape(c, 0), 0, 1), (uint64_t)groups), true);
    oc_add(c, k, OC_ADD, oc_c_mul(c, (oc_in(c, 3) ? 1U : 0U) + (oc_in(c, 4) ? 1U : 0U), n));
    if (oc_attr_i(c, "activation", 0))
        oc_add_prims(c, k, oc_activation_prims("Silu"), n);
    return 0;
}
static const char contrib_norm_cost_group_norm_formula[] =
    "ADD = ([in3] + [in4])*N(x); Silu = [activation:0 != 0]*N(x)"
    "; " OC_LAYER_NORM_FORMULA;

/* Rows as long as the scale; SiLU of the gate and a product; all in float. */
static int cost_gated_rms(struct oc_op_ctx *c, struct oc_cost *k)
{
    uint64_t n = oc_c_in(c, 0), length = oc_c_in(c, 1);
    k->rest_class = OC_CLASS_F32;
    oc_add_rms_norm(c, k, n, length ? n / length : 0);
    oc_add(c, k, OC_SIG, n);
    oc_add(c, k, OC_MUL, oc_c_mul(c, 2, n));
    return 0;
}
static const char cost_gated_rms_formula[] = "SIG = n; MUL = 2*n"
                                             "; " OC_RMS_NORM_FORMULA;

#define MS(n, s, sh, co)                                                                                     \
    .domain = "com.microsoft", .name = (n), .since = 1, .op_class = OC_OP_NORM, .slots = (s), .shape = (sh), \
    OC_COST(co)

static const struct oc_op rows[] = {
    {MS("EmbedLayerNormalization", "..eeenn..", shape_embed_norm, cost_embed_norm), .kernel = OC_KC_GATHER},
    {MS("GatedRMSNorm", ".n.", oc_shape_same, cost_gated_rms)},
    {MS("GroupNorm", ".nn", shape_group_norm, contrib_norm_cost_group_norm)},
    {MS("SkipGroupNorm", ".nn.b", shape_group_norm, contrib_norm_cost_group_norm)},
    {MS("SkipLayerNormalization", "..nnb", shape_skip_norm, contrib_norm_cost_skip_norm)},
    {MS("SkipSimplifiedLayerNormalization", "..nb", shape_skip_norm, cost_skip_rms)},
};
extern const struct oc_op_family oc_ops_contrib_norm;
const struct oc_op_family oc_ops_contrib_norm = OC_FAMILY("contrib_norm", rows);
