/* Operators of ONNX Runtime's own domains: fused elementwise operators (com.microsoft), layouts of its blocked
 * graphs (com.microsoft.nchwc). A fused operator has the cost of the graph it replaces. cost-semantics 4.5.
 * Fused norms: norm.c; fused products: contrib_gemm.c; Conv and pools of that domain: conv.c, pool_resize.c. */
#include <string.h>

#include "ops/op.h"

/* The last axis is split in halves: one half gates the other. */
static int shape_bias_split_gelu(struct oc_op_ctx *c)
{
    const struct oc_shape *x = oc_in_shape(c, 0);
    if (!x->ranked || x->rank == 0)
        return oc_out_unranked(c, oc_in_dtype(c, 0));
    unsigned last = x->rank - 1U;
    struct oc_dim half = oc_dim_floordiv(c->exprs, x->dim[last], oc_known(2));
    oc_set_out(c, 0, oc_in_dtype(c, 0), oc_shape_with(c, x, last, half));
    return 0;
}

static const char bias_split_gelu_formula[] = "ADD = N(x); Gelu = N(o); MUL = N(o)";

/* ---- Dropout with a bias or a packed mask ----------------------------------------------------------- */

/* BiasDropout(data, bias, residual, ratio, training_mode) -> output, mask */
static int contrib_shape_dropout(struct oc_op_ctx *c)
{
    const struct oc_shape *x = oc_in_shape(c, 0);
    oc_set_out_type(c, 0, oc_in(c, 0));
    if (strncmp(c->op->name, "Bitmask", 7) != 0) {
        oc_set_out(c, 1, OC_DT_BOOL, *x);
    } else { /* one bit per element in 32-bit words */
        struct oc_dim words = x->ranked ? oc_dim_ceildiv(c->exprs, oc_shape_count(c->exprs, x), oc_known(32))
                                        : oc_op_fresh_dim(c, "0", -1);
        oc_set_out(c, 1, OC_DT_UINT32, oc_shape_1d(c->arena, words));
    }
    return 0;
}

static int contrib_dropout_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    bool biased = strcmp(c->op->name, "BitmaskDropout") != 0;
    unsigned mode_slot = biased ? 4 : 2;
    int64_t mode = 0;
    if (oc_in(c, mode_slot) && !oc_in_int(c, mode_slot, &mode))
        c->assumption = "training_mode is unknown: assumed inference";
    oc_add_formula_value(c, "trains", mode != 0);
    oc_add_formula_value(c, "biases", !biased ? 0 : oc_in(c, 2) ? 2 : 1);
    if (biased || mode)
        return 0;
    k->alias = !oc_out_wanted(c, 1);
    if (!k->alias) { /* only the mask of ones is written */
        k->view = true;
        k->rd[0] = 0;
        k->wr[0] = 0;
    }
    return 0;
}
static const char contrib_dropout_formula[] =
    "RNG = trains*N(o); CMP = trains*N(o); MUL = trains*N(o); ADD = biases*N(o)";

/* ---- others ------------------------------------------------------------------------------------------- */

static const char complex_mul_formula[] = "MUL = 4*pairs; ADD = 2*pairs; pairs := N(o)/2";

static int shape_all_finite(struct oc_op_ctx *c)
{
    oc_set_out(c, 0, OC_DT_BOOL, oc_shape_scalar());
    return 0;
}

/* Every input is compared. */
static int all_finite_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    (void)k;
    for (unsigned i = 0; i < c->n_in; i++)
        oc_add_formula_value(c, "n", oc_c_in(c, i));
    return 0;
}
static const char all_finite_formula[] = "CMP = n";

/* MulInteger(A, A_zero_point, B, B_zero_point) */
static int shape_mul_integer(struct oc_op_ctx *c)
{
    const struct oc_shape *a = oc_in_shape(c, 0), *b = oc_in_shape(c, 2);
    struct oc_shape out = oc_shape_unranked();
    bool assumed = false;
    if (a->ranked && b->ranked && oc_broadcast(c->arena, c->exprs, a, b, &out, &assumed))
        return oc_op_fail(c, "shapes {%s} and {%s} do not broadcast",
                          oc_shape_text(c->arena, c->exprs, a, ","),
                          oc_shape_text(c->arena, c->exprs, b, ","));
    oc_set_out(c, 0, OC_DT_INT32, out);
    return 0;
}

static int mul_integer_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    (void)k;
    for (unsigned i = 0; i < 4; i += 2)
        if (oc_zero_point_counts(c, i + 1))
            oc_add_formula_value(c, "zp", oc_c_in(c, i));
    return 0;
}
static const char mul_integer_formula[] = "MUL:int = N(o); ADD:int = zp; zp := 0";

/* decay = scale * Softplus(a + bias), beta = Sigmoid(b) */
static int shape_gate(struct oc_op_ctx *c)
{
    oc_set_out_type(c, 0, oc_in(c, 0));
    oc_set_out_type(c, 1, oc_in(c, 3));
    return 0;
}

static int gate_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    (void)c;
    k->rest_class = OC_CLASS_F32;
    return 0;
}
static const char gate_formula[] = "ADD = 2*N(x); EXP = N(x); LOG = N(x); MUL = N(x); SIG = N(in3)";

static const char inverse_formula[] = "ADD = N(x)*m; MUL = N(x)*m; m := x[-1]";

static const struct oc_prims bias_add[] = {{OC_ADD, 2}, {0, 0}};
static const struct oc_prims gated_add[] = {{OC_SIG, 1}, {OC_MUL, 1}, {OC_ADD, 1}, {0, 0}};

#define MS(n, s, sh, co)                                                                                     \
    .domain = "com.microsoft", .name = (n), .since = 1, .op_class = OC_OP_ELEMENTWISE, .slots = (s),         \
    .shape = (sh), co
#define MS_LIST(n, s, list)                                                                                  \
    {                                                                                                        \
        .domain = "com.microsoft", .name = (n), .since = 1, .op_class = OC_OP_ELEMENTWISE, .slots = (s),     \
        .shape = oc_shape_same, OC_COST_THIS, .param = (list)                                                \
    }

static const struct oc_op contrib_rows[] = {
    MS_LIST("BiasAdd", ".b.", bias_add),
    {MS("BiasDropout", ".b.mm", contrib_shape_dropout, OC_COST(contrib_dropout))},
    {MS("BiasGelu", ".b", oc_shape_same, OC_COST_TEXT("ADD = N(o); Gelu = N(o)")), .kernel = OC_KC_ACTIVATION,
     .flags = OC_F_FUNCTION | OC_F_COUNT_BY_TYPES, .n_required = 2},
    {MS("BiasSplitGelu", ".b", shape_bias_split_gelu, OC_COST_TEXT(bias_split_gelu_formula)),
     .kernel = OC_KC_ACTIVATION},
    {MS("BitmaskBiasDropout", ".b.mm", contrib_shape_dropout, OC_COST(contrib_dropout))},
    {MS("BitmaskDropout", ".mm", contrib_shape_dropout, OC_COST(contrib_dropout))},
    {MS("ComplexMul", NULL, oc_shape_broadcast, OC_COST_TEXT(complex_mul_formula))},
    {MS("ComplexMulConj", NULL, oc_shape_broadcast, OC_COST_TEXT(complex_mul_formula))},
    {MS("FastGelu", ".b", oc_shape_same, OC_COST_TEXT("ADD = [in1]*N(o); this = N(o)")),
     .kernel = OC_KC_ACTIVATION, .flags = OC_F_FUNCTION},
    MS_LIST("GatedAdd", NULL, gated_add),
    {MS("Gelu", NULL, oc_shape_same, OC_COST_THIS), .kernel = OC_KC_ACTIVATION,
     .flags = OC_F_FUNCTION | OC_F_COUNT_BY_DEFAULTS},
    {MS("Inverse", NULL, oc_shape_same, OC_COST_TEXT(inverse_formula))},
    {MS("IsAllFinite", NULL, shape_all_finite, OC_COST(all_finite))},
    {MS("LinearAttentionGate", ".b..", shape_gate, OC_COST(gate))},
    {MS("MulInteger", ".q.q", shape_mul_integer, OC_COST(mul_integer))},
    {MS("QuickGelu", NULL, oc_shape_same, OC_COST_THIS), .kernel = OC_KC_ACTIVATION, .flags = OC_F_FUNCTION},
};
OC_FAMILY(contrib, contrib_rows);

/* ---- token batches without padding -------------------------------------------------------------------- */

/* [B, S, H] -> [tokens, H], token_offset [B, S], ends [B + 1], longest [1] */
static int shape_remove_padding(struct oc_op_ctx *c)
{
    const struct oc_shape *x = oc_in_shape(c, 0);
    struct oc_shape out = oc_shape_unranked(), offset = oc_shape_unranked(), ends = oc_shape_unranked();
    if (x->ranked && x->rank != 3)
        return oc_op_fail(c, "invalid input rank %u", x->rank);
    if (x->ranked) {
        int64_t most = oc_dim_max_value(c->exprs, oc_dim_mul(c->exprs, x->dim[0], x->dim[1]));
        struct oc_dim dim[2] = {oc_op_fresh_dim(c, "0", most), x->dim[2]};
        out = oc_shape_of(c->arena, 2, dim);
        offset = oc_shape_of(c->arena, 2, x->dim);
        ends = oc_shape_1d(c->arena, oc_dim_add(c->exprs, x->dim[0], oc_known(1)));
    }
    oc_set_out(c, 0, oc_in_dtype(c, 0), out);
    oc_set_out(c, 1, OC_DT_INT32, offset);
    oc_set_out(c, 2, OC_DT_INT32, ends);
    oc_set_out(c, 3, OC_DT_INT32, oc_shape_1d(c->arena, oc_known(1)));
    return 0;
}

/* [tokens, H], token_offset [B, S] -> [B, S, H] */
static int shape_restore_padding(struct oc_op_ctx *c)
{
    const struct oc_shape *x = oc_in_shape(c, 0), *offset = oc_in_shape(c, 1);
    struct oc_shape out = oc_shape_unranked();
    if ((x->ranked && x->rank != 2) || (offset->ranked && offset->rank != 2))
        return oc_op_fail(c, "invalid input rank %u and offsets rank %u", x->rank, offset->rank);
    if (x->ranked && offset->ranked) {
        struct oc_dim dim[3] = {offset->dim[0], offset->dim[1], x->dim[1]};
        out = oc_shape_of(c->arena, 3, dim);
    }
    oc_set_out(c, 0, oc_in_dtype(c, 0), out);
    return 0;
}

/* ---- position bias ------------------------------------------------------------------------------------ */

static struct oc_dim scalar_dim(struct oc_op_ctx *c, unsigned slot, const char *axis)
{
    const struct oc_data *d = oc_in_value(c, slot);
    return d && d->n == 1 && d->e[0].kind == OC_E_INT ? d->e[0].i : oc_op_fresh_dim(c, axis, -1);
}

/* table [buckets, heads], query_length, key_length -> [1, heads, query, key]: a gather */
static int shape_position_bias(struct oc_op_ctx *c)
{
    const struct oc_shape *table = oc_in_shape(c, 0);
    if (table->ranked && table->rank != 2)
        return oc_op_fail(c, "invalid table rank %u", table->rank);
    struct oc_dim dim[4] = {oc_known(1), table->ranked ? table->dim[1] : oc_op_fresh_dim(c, "1", -1),
                            scalar_dim(c, 1, "2"), scalar_dim(c, 2, "3")};
    for (unsigned i = 2; i < 4; i++)
        if (oc_is_known(dim[i]) && dim[i].v < 0)
            return oc_op_fail(c, "invalid length %lld", (long long)dim[i].v);
    oc_set_out(c, 0, oc_in_dtype(c, 0), oc_shape_of(c->arena, 4, dim));
    return 0;
}

/* ---- others ------------------------------------------------------------------------------------------- */

static int shape_hash(struct oc_op_ctx *c)
{
    oc_set_out(c, 0, oc_attr_i(c, "positive", 1) ? OC_DT_UINT32 : OC_DT_INT32, *oc_in_shape(c, 0));
    return 0;
}

/* [M, N] (or [1, M, N]) -> the path [2, length], at most M + N steps */
static int shape_warping(struct oc_op_ctx *c)
{
    const struct oc_shape *x = oc_in_shape(c, 0);
    int64_t most = -1;
    if (x->ranked && x->rank < 2)
        return oc_op_fail(c, "invalid input rank %u", x->rank);
    if (x->ranked)
        most = oc_dim_max_value(c->exprs, oc_dim_add(c->exprs, x->dim[x->rank - 2], x->dim[x->rank - 1]));
    struct oc_dim dim[2] = {oc_known(2), oc_op_fresh_dim(c, "1", most)};
    oc_set_out(c, 0, OC_DT_INT32, oc_shape_of(c->arena, 2, dim));
    return 0;
}

static const char warping_formula[] = "CMP = 3*N(x); ADD = N(x)";

#define CONTRIB_MISC_MS(n, cls, s, sh, co)                                                                   \
    {                                                                                                        \
        .domain = "com.microsoft", .name = (n), .since = 1, .op_class = (cls), .slots = (s), .shape = (sh),  \
        co                                                                                                   \
    }

static const struct oc_op contrib_misc_rows[] = {
    CONTRIB_MISC_MS("DynamicTimeWarping", OC_OP_OTHER, NULL, shape_warping, OC_COST_TEXT(warping_formula)),
    CONTRIB_MISC_MS("MurmurHash3", OC_OP_OTHER, NULL, shape_hash,
                    OC_COST_ASSUMED("BIT:int = 10*N(x)", "a hash counts 10 operations per element")),
    CONTRIB_MISC_MS("RelativePositionBias", OC_OP_GATHER, "emm", shape_position_bias, OC_COST_TEXT("")),
    CONTRIB_MISC_MS("RemovePadding", OC_OP_COPY, NULL, shape_remove_padding, OC_COST_TEXT("")),
    CONTRIB_MISC_MS("RestorePadding", OC_OP_COPY, NULL, shape_restore_padding, OC_COST_TEXT("")),
};
OC_FAMILY(contrib_misc, contrib_misc_rows);

/* ---- blocked layouts ---------------------------------------------------------------------------------- */

/* Shapes are written as NCHW with the channels rounded up to the block. */

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
static int upsample_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    uint32_t n;
    const int64_t *scales = oc_attr_ints(c, "scales", &n);
    unsigned axes = 0;
    for (uint32_t i = 0; i < n; i++)
        axes += scales[i] != 1;
    k->alias = axes == 0;
    if (axes && axes <= 8 && strcmp(oc_attr_s(c, "mode", "nearest"), "linear") == 0)
        oc_add_formula_value(c, "T", UINT64_C(1) << axes);
    return 0;
}
static const char upsample_formula[] = "MUL = T*N(o); ADD = (max(T, 1) - 1)*N(o); T := 0";

#define NCHWC(n, cls, sh, co)                                                                                \
    .domain = "com.microsoft.nchwc", .name = (n), .since = 1, .op_class = (cls), .shape = (sh), co

static const struct oc_op nchwc_rows[] = {
    {NCHWC("ReorderInput", OC_OP_LAYOUT, shape_reorder_input, OC_COST_TEXT("")), .kernel = OC_KC_REORDER},
    {NCHWC("ReorderOutput", OC_OP_LAYOUT, shape_reorder_output, OC_COST_TEXT("")), .kernel = OC_KC_REORDER},
    {NCHWC("Upsample", OC_OP_RESIZE, shape_upsample, OC_COST(upsample))},
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

/* In C: the rule is the one of another row, on other shapes. The activation that the transformation may have merged is added. */
static int count_nhwc(struct oc_op_ctx *c, struct oc_cost *k)
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
static const char nhwc_formula[] = "functions = 1";

#define NHWC(n, cl, s, l)                                                                                    \
    .domain = "com.ms.internal.nhwc", .name = (n), .since = 1, .op_class = (cl), .slots = (s),               \
    .shape = shape_nhwc, .cost = count_nhwc, .formula = nhwc_formula, .param = &(l)

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
