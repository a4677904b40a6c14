/* Sparse and run-time selected attention of ONNX Runtime:
 * LongformerAttention, DecoderAttention; and gated biases of positions. cost-semantics 4.12. */
#include "ops/attention.h"
#include "ops/move.h"
#include "ops/norm_cost.h"

#include <string.h>

static int sparse_attention_heads_of(struct oc_op_ctx *c, const char *attr, int64_t *heads)
{
    *heads = oc_attr_i(c, attr, 0);
    if (*heads < 1 || *heads > 1 << 20)
        return oc_op_fail(c, "invalid %s %lld", attr, (long long)*heads);
    return 0;
}

/* A projection of `tokens` rows: MAC rows*in*out, bias, and for quantized operands a scale. */
static void sparse_attention_add_projection(struct oc_op_ctx *c, struct oc_cost *k, uint64_t tokens,
                                            uint64_t in, uint64_t out, bool bias, bool quantized)
{
    uint64_t n = oc_c_mul(c, tokens, out);
    oc_tell(c, "macs", oc_c_mul(c, n, in));
    oc_tell(c, "biases", bias ? n : 0);
    oc_tell(c, "scaled", quantized ? n : 0);
    oc_add(c, k, OC_MAC, oc_c_mul(c, n, in));
    if (bias)
        oc_add(c, k, OC_ADD, n);
    if (quantized)
        oc_add(c, k, OC_MUL, n);
}

/* ---- LongformerAttention ---------------------------------------------------------------------------- */

struct longformer {
    uint8_t bias, mask, global_bias, flags; /* slots */
    bool quantized;
};
static const struct longformer longformer = {.bias = 2, .mask = 3, .global_bias = 5, .flags = 6};
static const struct longformer qordered_longformer = {
    .bias = 4, .mask = 7, .global_bias = 10, .flags = 12, .quantized = true};

/* Global tokens over the batch; false if the flags are unknown. */
static bool global_tokens(struct oc_op_ctx *c, unsigned slot, uint64_t *sum)
{
    uint32_t n;
    const int64_t *flag = oc_in_ints(c, slot, &n);
    *sum = 0;
    for (uint32_t i = 0; flag && i < n; i++)
        *sum += flag[i] != 0;
    return flag != NULL;
}

/* Each token sees 2W + 1 keys; a global token sees all and is seen by all. With global tokens the kernels
 * project all tokens again, with the global weights. */
static int cost_longformer(struct oc_op_ctx *c, struct oc_cost *k)
{
    const struct longformer *kind = c->op->param;
    const struct oc_shape *x = oc_in_shape(c, 0);
    int64_t heads, window = oc_attr_i(c, "window", 0);
    if (sparse_attention_heads_of(c, "num_heads", &heads))
        return -1;
    if (window < 1 || window > 1 << 30)
        return oc_op_fail(c, "invalid window %lld", (long long)window);
    if (!x->ranked || x->rank != 3) {
        c->unknown = true;
        return 0;
    }
    uint64_t batch = oc_c_dim(c, x->dim[0]), seq = oc_c_dim(c, x->dim[1]), width = oc_c_dim(c, x->dim[2]),
             global;
    uint64_t tokens = oc_c_mul(c, batch, seq), head = width / (uint64_t)heads;
    bool known = global_tokens(c, kind->flags, &global);
    uint64_t pairs =
        oc_c_add(c, oc_c_mul(c, tokens, 2 * (uint64_t)window + 1), oc_c_mul(c, 2, oc_c_mul(c, global, seq)));
    struct oc_attention a = {.batch = batch,
                             .heads = (uint64_t)heads,
                             .queries = seq,
                             .keys = seq,
                             .dk = head,
                             .dv = head,
                             .masked = oc_in(c, kind->mask) != NULL};
    sparse_attention_add_projection(c, k, tokens, width, oc_c_mul(c, 3, width), oc_in(c, kind->bias),
                                    kind->quantized);
    if (!known || global)
        sparse_attention_add_projection(c, k, tokens, width, oc_c_mul(c, 3, width),
                                        oc_in(c, kind->global_bias), kind->quantized);
    oc_add_attention_pairs(c, k, &a, pairs);
    c->assumption = known ? "a window of 2W + 1 keys for every token" : "global attention is not counted";
    return 0;
}
static const char cost_longformer_formula[] =
    "MAC = macs; ADD = biases; MUL = scaled; macs := 0; biases := 0; scaled := 0; " OC_ATTENTION_FORMULA;

/* ---- DecoderAttention ------------------------------------------------------------------------------- */

enum {
    QUERY,
    KEY,
    Q_WEIGHT,
    KV_WEIGHT,
    BIAS,
    PADDING,
    K_CACHE,
    V_CACHE,
    STATIC_KV,
    USE_PAST,
    LAYER_STATE,
    HAS_MASK
};

struct decoder {
    struct oc_dim seq, batch, width, head, fresh, keys; /* fresh: keys projected in this step */
    int64_t heads;
    bool masked;
};

/* A flag given at run time. */
static bool flag(struct oc_op_ctx *c, unsigned slot, bool otherwise)
{
    int64_t v;
    return oc_in_int(c, slot, &v) ? v != 0 : otherwise;
}

static int read_decoder(struct oc_op_ctx *c, struct decoder *d)
{
    const struct oc_shape *q = oc_in_shape(c, QUERY), *key = oc_in_shape(c, KEY),
                          *cache = oc_in_shape(c, K_CACHE);
    if (sparse_attention_heads_of(c, "num_heads", &d->heads))
        return -1;
    if (!q->ranked || !key->ranked)
        return 0;
    if (q->rank != 3 || key->rank != 3)
        return oc_op_fail(c, "invalid query rank %u and key rank %u", q->rank, key->rank);
    d->seq = q->dim[0];
    d->batch = q->dim[1];
    d->width = q->dim[2];
    if (!oc_split_dim(c, d->width, d->heads, &d->head))
        return oc_op_fail(c, "width %s is not divisible by %lld heads", oc_dim_text(c->exprs, d->width),
                          (long long)d->heads);
    bool cross = flag(c, STATIC_KV, false), past = flag(c, USE_PAST, oc_in(c, K_CACHE)) && oc_in(c, K_CACHE);
    struct oc_dim cached =
        cache->ranked && cache->rank == 4 ? cache->dim[2] : oc_op_fresh_dim(c, "cache", -1);
    d->fresh = cross && past ? oc_known(0) : cross ? key->dim[0] : d->seq;
    d->keys = past ? oc_dim_add(c->exprs, cached, d->fresh) : d->fresh;
    d->masked = oc_in(c, PADDING) && flag(c, HAS_MASK, true);
    return 1;
}

static int shape_decoder(struct oc_op_ctx *c)
{
    struct decoder d = {0};
    int known = read_decoder(c, &d);
    oc_set_out_type(c, 0, oc_in(c, QUERY));
    if (known <= 0) {
        oc_set_out(c, 1, oc_in_dtype(c, 0), oc_fresh_shape(c, 4));
        oc_set_out(c, 2, oc_in_dtype(c, 0), oc_fresh_shape(c, 4));
        return known;
    }
    struct oc_dim cache[4] = {d.batch, oc_known(d.heads), d.keys, d.head};
    oc_set_out(c, 1, oc_in_dtype(c, 0), oc_shape_of(c->arena, 4, cache));
    oc_set_out(c, 2, oc_in_dtype(c, 0), oc_shape_of(c->arena, 4, cache));
    return 0;
}

static int cost_decoder(struct oc_op_ctx *c, struct oc_cost *k)
{
    struct decoder d = {0};
    int64_t v;
    int known = read_decoder(c, &d);
    if (known <= 0) {
        c->unknown = true;
        return known;
    }
    if (!oc_in_int(c, STATIC_KV, &v) || !oc_in_int(c, USE_PAST, &v))
        c->assumption = "static_kv and use_past are unknown: assumed self-attention on the given cache";
    uint64_t batch = oc_c_dim(c, d.batch), seq = oc_c_dim(c, d.seq), width = oc_c_dim(c, d.width);
    uint64_t head = oc_c_dim(c, d.head), fresh = oc_c_dim(c, d.fresh);
    struct oc_attention a = {.batch = batch,
                             .heads = (uint64_t)d.heads,
                             .queries = seq,
                             .dk = head,
                             .dv = head,
                             .keys = oc_c_dim(c, d.keys),
                             .left = -1,
                             .right = -1,
                             .masked = d.masked};
    sparse_attention_add_projection(c, k, oc_c_mul(c, batch, seq), width, width, oc_in(c, BIAS), false);
    sparse_attention_add_projection(c, k, oc_c_mul(c, batch, fresh), width, oc_c_mul(c, 2, width),
                                    oc_in(c, BIAS), false);
    oc_add_attention(c, k, &a);
    if (fresh == 0) /* all keys are in the cache */
        k->rd[KEY] = k->rd[KV_WEIGHT] = 0;
    return 0;
}
static const char cost_decoder_formula[] =
    "MAC = macs; ADD = biases; macs := 0; biases := 0; " OC_ATTENTION_FORMULA;

/* ---- gated biases of relative positions ------------------------------------------------------------- */

/* query [B, S, H*d] or [tokens, H*d] with offsets [B, S] (slot 6); rel_pos [1, H, S, S] */
static int shape_gated_bias(struct oc_op_ctx *c)
{
    const struct oc_shape *q = oc_in_shape(c, 0), *offset = oc_in_shape(c, 6);
    const struct oc_shape *from = q->ranked && q->rank == 3             ? q
                                  : offset->ranked && offset->rank == 2 ? offset
                                                                        : NULL;
    int64_t heads;
    if (sparse_attention_heads_of(c, "num_heads", &heads))
        return -1;
    struct oc_dim dim[4] = {from ? from->dim[0] : oc_fresh_axis(c, 0, -1), oc_known(heads),
                            from ? from->dim[1] : oc_fresh_axis(c, 2, -1), oc_known(0)};
    dim[3] = dim[2];
    oc_set_out(c, 0, oc_in_dtype(c, 0), oc_shape_of(c->arena, 4, dim));
    return 0;
}

/* Per query and head: a product with [d, D], summed to two gates u and r that give the factor u*(r*a - 1) +
 * 2; then a product for each score. */
static int cost_gated_bias(struct oc_op_ctx *c, struct oc_cost *k)
{
    static const struct oc_prims gate[] = {{OC_SIG, 2}, {OC_MUL, 2}, {OC_ADD, 2}, {0, 0}};
    const struct oc_shape *w = oc_in_shape(c, 3);
    uint64_t elements = oc_c_in(c, 0); /* rows * d */
    if (!w->ranked || w->rank != 2) {
        c->unknown = true;
        return 0;
    }
    uint64_t head = oc_c_dim(c, w->dim[0]), wide = oc_c_dim(c, w->dim[1]), rows = head ? elements / head : 0;
    oc_add(c, k, OC_MAC, oc_c_mul(c, elements, wide));
    oc_add(c, k, OC_ADD, oc_c_add(c, elements, oc_c_mul(c, 2, oc_c_mul(c, rows, wide)))); /* biases, sums */
    oc_add_prims(c, k, gate, rows);
    oc_add(c, k, OC_MUL, oc_c_out(c, 0));
    return 0;
}
static const char cost_gated_bias_formula[] =
    "MAC = N(x)*D; ADD = N(x) + 2*rows*D + 2*rows; SIG = 2*rows; MUL = 2*rows + N(o); D := in3[1]; "
    "rows := N(x)/in3[0]";

#define MS(n, s, sh, co, p)                                                                                  \
    .domain = "com.microsoft", .name = (n), .since = 1, .op_class = OC_OP_ATTENTION, .slots = (s),           \
    .shape = (sh), OC_COST(co), .param = (p)

static const struct oc_op rows[] = {
    {MS("DecoderAttention", "....b...m", shape_decoder, cost_decoder, NULL)},
    {MS("GatedRelativePositionBias", ".b..b..", shape_gated_bias, cost_gated_bias, NULL),
     .kernel = OC_KC_ELEMENTWISE},
    {MS("LongformerAttention", "..b..b.", oc_shape_same, cost_longformer, &longformer)},
    {MS("QOrderedLongformerAttention", ".q.qbqq..qbq.q", oc_shape_same, cost_longformer,
        &qordered_longformer)},
};
extern const struct oc_op_family oc_ops_sparse_attention;
const struct oc_op_family oc_ops_sparse_attention = OC_FAMILY("sparse_attention", rows);
