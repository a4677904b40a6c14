/* Attention of ONNX Runtime, with projections (Attention, QAttention, PackedAttention) and on projected
 * operands (MultiHeadAttention and related operators). cost-semantics 4.12, 5.6. Grouped queries: gqa.c. */

#include "ops/shared_rules.h"

#define NO_SLOT 1000

/* ---- with projections --------------------------------------------------------------------------------- */

struct operands {
    uint16_t bias, mask, attention_bias, past, past_length,
        lengths;            /* slots; with several pasts: of the first */
    bool quantized, packed; /* packed: [tokens, hidden] */
};
static const struct operands attention = {
    .bias = 2, .mask = 3, .past = 4, .attention_bias = 5, .past_length = 6, .lengths = NO_SLOT};
static const struct operands qattention = {.bias = 2,
                                           .mask = 5,
                                           .past = 8,
                                           .attention_bias = NO_SLOT,
                                           .past_length = NO_SLOT,
                                           .lengths = NO_SLOT,
                                           .quantized = true};
static const struct operands packed_attention = {.bias = 2,
                                                 .mask = NO_SLOT,
                                                 .attention_bias = 5,
                                                 .past = NO_SLOT,
                                                 .past_length = NO_SLOT,
                                                 .lengths = 4,
                                                 .packed = true};

struct ms_dims {
    struct oc_heads h;
    struct oc_dim hidden, dq, dv; /* with projections: widths of the input, of Q and of K, of V */
    bool projected_kv;            /* K and V are [B, H, S, d] */
    bool shared;                  /* past and present share one buffer */
};

static int head_fail(struct oc_op_ctx *c, struct oc_dim width, int64_t heads)
{
    return oc_op_fail(c, "width %s is not divisible by %lld heads", oc_dim_text(c->exprs, width),
                      (long long)heads);
}

/* `asked`: past and present share a buffer. rank: of the past. */
static void read_past(struct oc_op_ctx *c, const struct operands *kind, bool asked, unsigned rank,
                      struct ms_dims *d)
{
    const struct oc_data *length = oc_in_value(c, kind->past_length);
    d->shared = oc_in(c, kind->past) && asked;
    if (d->shared && length && length->n == 1 && length->e[0].kind == OC_E_INT)
        d->h.past = length->e[0].i;
    else
        d->h.past = oc_past_tokens(c, kind->past, rank);
    d->h.total = oc_dim_add(c->exprs, d->h.past, d->h.skv);
}

/* Of V's width dv. */
static void set_result(struct oc_op_ctx *c, const struct operands *kind, unsigned dtype,
                       const struct oc_heads *h, struct oc_dim dv)
{
    struct oc_dim dim[3] = {h->batch, h->sq, dv};
    oc_set_out(c, 0, dtype, kind->packed ? oc_shape_of(c->arena, 2, dim + 1) : oc_shape_of(c->arena, 3, dim));
}

static int read_widths(struct oc_op_ctx *c, const struct oc_shape *w, struct ms_dims *d)
{
    uint32_t n;
    const int64_t *sizes = oc_attr_ints(c, "qkv_hidden_sizes", &n);
    d->h.hq = oc_attr_i(c, "num_heads", 0);
    if (d->h.hq < 1)
        return oc_op_fail(c, "invalid num_heads %lld", (long long)d->h.hq);
    if (n == 3) {
        d->dq = oc_known(sizes[0]);
        d->dv = oc_known(sizes[2]);
    } else if (!oc_split_dim(c, w->dim[1], 3, &d->dq)) {
        return oc_op_fail(c, "weight width %s does not match Q, K and V", oc_dim_text(c->exprs, w->dim[1]));
    } else {
        d->dv = d->dq;
    }
    if (!oc_split_dim(c, d->dq, d->h.hq, &d->h.dk))
        return head_fail(c, d->dq, d->h.hq);
    d->h.dv = d->h.dk;
    return 0;
}

/* 1: known, 0: a rank is missing, -1: error */
static int read_self(struct oc_op_ctx *c, struct ms_dims *d)
{
    const struct operands *kind = c->op->param;
    const struct oc_shape *x = oc_in_shape(c, 0), *w = oc_in_shape(c, 1);
    unsigned rank = kind->packed ? 2 : 3;
    if (!x->ranked || !w->ranked)
        return 0;
    if (x->rank != rank || w->rank != 2)
        return oc_op_fail(c, "invalid input rank %u and weight rank %u", x->rank, w->rank);
    d->h.batch = kind->packed ? oc_known(1) : x->dim[0];
    d->h.sq = d->h.skv = x->dim[rank - 2];
    d->hidden = x->dim[rank - 1];
    if (read_widths(c, w, d))
        return -1;
    read_past(c, kind, oc_attr_i(c, "past_present_share_buffer", 0) != 0, 5, d);
    return 1;
}

static int shape_self(struct oc_op_ctx *c)
{
    const struct operands *kind = c->op->param;
    struct ms_dims d;
    unsigned dtype = kind->quantized ? oc_in_dtype(c, 3) : oc_in_dtype(c, 0);
    int known = read_self(c, &d);
    if (known <= 0) {
        oc_set_out(c, 0, dtype, oc_shape_unranked());
        return known;
    }
    struct oc_dim present[5] = {oc_known(2), d.h.batch, oc_known(d.h.hq), d.h.total, d.h.dk};
    set_result(c, kind, dtype, &d.h, d.dv);
    if (d.shared)
        oc_set_out_type(c, 1, oc_in(c, kind->past));
    else
        oc_set_out(c, 1, dtype, oc_shape_of(c->arena, 5, present));
    return 0;
}

/* MAC B*S*hidden*(Dq+Dk+Dv), bias; a quantized projection is scaled to float */
static void ms_attention_report_projection(struct oc_op_ctx *c, const struct operands *kind,
                                           const struct ms_dims *d)
{
    uint64_t tokens = oc_c_mul(c, oc_c_dim(c, d->h.batch), oc_c_dim(c, d->h.sq));
    uint64_t width = oc_c_add(c, oc_c_mul(c, 2, oc_c_dim(c, d->dq)), oc_c_dim(c, d->dv));
    uint64_t n = oc_c_mul(c, tokens, width);
    oc_add_formula_value(c, "P", n);
    oc_add_formula_value(c, "D", oc_c_dim(c, d->hidden));
    oc_add_formula_value(c, "scaled", kind->quantized);
    oc_add_formula_value(c, "bias", oc_in(c, kind->bias) != NULL);
    if (oc_attr_i(c, "do_rotary", 0))
        oc_report_rope(c, oc_c_mul(c, tokens, oc_c_mul(c, 2, oc_c_dim(c, d->dq))));
}

/* Pairs of packed sequences: the sum of the squared lengths; unknown lengths are assumed equal. */
static uint64_t packed_pairs(struct oc_op_ctx *c, unsigned lengths_slot, uint64_t tokens)
{
    uint32_t n;
    const int64_t *ends = oc_in_ints(c, lengths_slot, &n);
    const struct oc_shape *s = oc_in_shape(c, lengths_slot);
    uint64_t pairs = 0;
    for (uint32_t i = 1; ends && i < n; i++) {
        uint64_t length = ends[i] > ends[i - 1] ? (uint64_t)(ends[i] - ends[i - 1]) : 0;
        pairs = oc_c_add(c, pairs, oc_c_mul(c, length, length));
    }
    if (ends)
        return pairs;
    uint64_t batch = s->ranked && s->rank == 1 ? oc_c_dim(c, s->dim[0]) : 0;
    batch = batch > 1 ? batch - 1 : 1;
    c->assumption = "packed sequences are assumed to have equal lengths";
    return oc_c_mul(c, batch, oc_c_mul(c, tokens / batch, tokens / batch));
}

/* The scores and sums, after the projections. */
static void report_scores(struct oc_op_ctx *c, const struct operands *kind, struct oc_attention a)
{
    a.causal = oc_attr_i(c, "unidirectional", 0) != 0;
    a.masked = oc_in(c, kind->mask) || oc_in(c, kind->attention_bias);
    if (kind->packed)
        oc_report_pairs(c, &a, packed_pairs(c, kind->lengths, a.queries));
    else
        oc_report_attention(c, &a);
}

static void count_self_cache(struct oc_op_ctx *c, struct oc_cost *k, const struct operands *kind,
                             const struct ms_dims *d)
{
    if (!oc_in(c, kind->past))
        return;
    uint64_t past = oc_c_dim(c, d->h.past);
    const struct oc_kv_cache v = {.past_slot = kind->past,
                                  .present_slot = 1,
                                  .token = oc_c_mul(c, oc_c_mul(c, 2, oc_c_dim(c, d->h.batch)),
                                                    oc_c_mul(c, (uint64_t)d->h.hq, oc_c_dim(c, d->h.dk))),
                                  .past = past,
                                  .seen = past,
                                  .fresh = oc_c_dim(c, d->h.sq),
                                  .shared = oc_kv_shared(c, d->shared)};
    oc_count_kv_cache(c, k, &v);
}

static int self_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    const struct operands *kind = c->op->param;
    struct ms_dims d;
    int known = read_self(c, &d);
    if (known <= 0)
        return known ? known : oc_cost_unknown(c);
    struct oc_attention a = oc_attention_of(c, &d.h);
    a.dv = oc_c_dim(c, d.dv) / (uint64_t)d.h.hq;
    ms_attention_report_projection(c, kind, &d);
    report_scores(c, kind, a);
    if (kind->quantized)
        k->mac_class = OC_CLASS_I8; /* class of most of the work */
    count_self_cache(c, k, kind, &d);
    return 0;
}
static const char self_formula[] =
    "MAC = P*D; MUL = scaled*P; ADD = bias*P; " OC_ATTENTION_FORMULA "; " OC_ROPE_FORMULA;
/* The attention itself is float. */
static const char quantized_self_formula[] =
    "MAC:int = P*D; MUL = scaled*P; ADD = bias*P; "
    "MAC:float = V*(dk + dv); " OC_SCORES_FORMULA "; " OC_ROPE_FORMULA;

/* ---- on projected operands ---------------------------------------------------------------------------- */

static const struct operands multi_head = {
    .bias = 3, .mask = 4, .attention_bias = 5, .past = 6, .past_length = 8, .lengths = NO_SLOT};
static const struct operands decoder_masked = {
    .bias = 10, .mask = 3, .attention_bias = 4, .past = 5, .past_length = 7, .lengths = NO_SLOT};
static const struct operands packed_multi_head = {.bias = 3,
                                                  .mask = NO_SLOT,
                                                  .attention_bias = 6,
                                                  .past = NO_SLOT,
                                                  .past_length = NO_SLOT,
                                                  .lengths = 5,
                                                  .packed = true};

static int read_kv(struct oc_op_ctx *c, const struct oc_shape *k, const struct oc_shape *v, unsigned seq_axis,
                   struct ms_dims *d)
{
    if (k->rank == 5) { /* [B, L, H, 2, d] */
        d->h.skv = k->dim[1];
        d->h.dv = k->dim[4];
        return 0;
    }
    if (!v->ranked)
        return -2;
    d->projected_kv = k->rank == 4;
    d->h.skv = d->projected_kv ? k->dim[2] : k->dim[seq_axis];
    if (d->projected_kv) {
        d->h.dv = v->rank == 4 ? v->dim[3] : d->h.dk;
        return 0;
    }
    if (v->rank == 0 || !oc_split_dim(c, v->dim[v->rank - 1], d->h.hq, &d->h.dv))
        return v->rank ? head_fail(c, v->dim[v->rank - 1], d->h.hq) : oc_op_fail(c, "the value is a scalar");
    return 0;
}

static int ms_attention_read_heads(struct oc_op_ctx *c, struct ms_dims *d)
{
    const struct operands *kind = c->op->param;
    const struct oc_shape *q = oc_in_shape(c, 0), *k = oc_in_shape(c, 1), *v = oc_in_shape(c, 2);
    unsigned flat = kind->packed ? 2 : 3; /* rank of [.., S, H*d] */
    *d = (struct ms_dims){.h.hq = oc_attr_i(c, "num_heads", 0)};
    if (!q->ranked || (oc_in(c, 1) && !k->ranked))
        return 0;
    if (d->h.hq < 1 || (q->rank != flat && q->rank != flat + 2))
        return oc_op_fail(c, "invalid num_heads %lld or query rank %u", (long long)d->h.hq, q->rank);
    d->h.batch = kind->packed ? oc_known(1) : q->dim[0];
    d->h.sq = q->dim[flat - 2];
    if (q->rank == flat + 2) { /* packed Q, K and V: [B, S, H, 3, d] or [tokens, H, 3, d] */
        d->h.dk = d->h.dv = q->dim[q->rank - 1U];
        d->h.skv = d->h.sq;
    } else {
        if (!oc_split_dim(c, q->dim[flat - 1], d->h.hq, &d->h.dk))
            return head_fail(c, q->dim[flat - 1], d->h.hq);
        if (!oc_in(c, 1) || k->rank < flat)
            return oc_op_fail(c, "invalid key rank %u", k->rank);
        int kv = read_kv(c, k, v, flat - 2, d);
        if (kv)
            return kv == -2 ? 0 : -1;
    }
    bool asked = oc_attr_i(c, "past_present_share_buffer", 0) != 0 || oc_in(c, kind->past_length);
    read_past(c, kind, asked, 4, d);
    return 1;
}

static int shape_heads(struct oc_op_ctx *c)
{
    const struct operands *kind = c->op->param;
    struct ms_dims d;
    unsigned dtype = oc_in_dtype(c, 0);
    int known = ms_attention_read_heads(c, &d);
    if (known <= 0) {
        for (unsigned i = 0; i < 4; i++)
            oc_set_out(c, i, dtype, oc_shape_unranked());
        return known;
    }
    const struct oc_heads *h = &d.h;
    struct oc_dim heads = oc_known(h->hq);
    struct oc_dim key[4] = {h->batch, heads, h->total, h->dk}, value[4] = {h->batch, heads, h->total, h->dv};
    struct oc_dim scores[4] = {h->batch, heads, h->sq, h->total};
    set_result(c, kind, dtype, h, oc_dim_mul(c->exprs, heads, h->dv));
    if (d.shared) {
        oc_set_out_type(c, 1, oc_in(c, kind->past));
        oc_set_out_type(c, 2, oc_in(c, kind->past + 1U));
    } else {
        oc_set_out(c, 1, dtype, oc_shape_of(c->arena, 4, key));
        oc_set_out(c, 2, dtype, oc_shape_of(c->arena, 4, value));
    }
    oc_set_out(c, 3, dtype, oc_shape_of(c->arena, 4, scores));
    return 0;
}

/* One addition per element of Q, K and V that is not already projected. */
static void report_head_bias(struct oc_op_ctx *c, const struct oc_attention *a, uint64_t skv,
                             bool projected_kv)
{
    uint64_t rows = oc_c_mul(c, a->batch, a->heads);
    uint64_t n = oc_c_mul(c, a->queries, a->dk);
    if (!projected_kv)
        n = oc_c_add(c, n, oc_c_mul(c, skv, oc_c_add(c, a->dk, a->dv)));
    oc_add_formula_value(c, "bias", oc_c_mul(c, rows, n));
}

static void count_head_cache(struct oc_op_ctx *c, struct oc_cost *k, const struct operands *kind,
                             const struct oc_attention *a, const struct ms_dims *d)
{
    uint64_t rows = oc_c_mul(c, a->batch, a->heads), past = oc_c_dim(c, d->h.past);
    struct oc_kv_cache v = {
        .past = past, .seen = past, .fresh = oc_c_dim(c, d->h.skv), .shared = oc_kv_shared(c, d->shared)};
    for (unsigned i = 0; i < 2 && oc_in(c, kind->past + i); i++) {
        v.past_slot = kind->past + i;
        v.present_slot = 1 + i;
        v.token = oc_c_mul(c, rows, i ? a->dv : a->dk);
        oc_count_kv_cache(c, k, &v);
    }
}

static int heads_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    const struct operands *kind = c->op->param;
    struct ms_dims d;
    int known = ms_attention_read_heads(c, &d);
    if (known <= 0)
        return known ? known : oc_cost_unknown(c);
    struct oc_attention a = oc_attention_of(c, &d.h);
    if (oc_in(c, kind->bias))
        report_head_bias(c, &a, oc_c_dim(c, d.h.skv), d.projected_kv);
    report_scores(c, kind, a);
    count_head_cache(c, k, kind, &a, &d);
    return 0;
}
static const char heads_formula[] = "ADD = bias; bias := 0"
                                    "; " OC_ATTENTION_FORMULA;

#define MS(n, s, sh, co, p)                                                                                  \
    .domain = "com.microsoft", .name = (n), .since = 1, .op_class = OC_OP_ATTENTION, .slots = (s),           \
    .shape = (sh), co, .param = &(p)

static const struct oc_op ms_attention_rows[] = {
    {MS("Attention", "..b...m", shape_self, OC_COST(self), attention),
     .kv = &(const struct oc_op_kv){.pair = {{4, 1}, {4, 1}}, .shared = OC_KV_SHARED_IF_ASKED}},
    {MS("DecoderMaskedMultiHeadAttention", ".......mm.b", shape_heads, OC_COST(heads), decoder_masked),
     .kernel = OC_KC_ATTENTION_DECODE,
     .kv = &(const struct oc_op_kv){.pair = {{5, 1}, {6, 2}}, .shared = OC_KV_SHARED_IF_ASKED, .length = 7}},
    {MS("DecoderMaskedSelfAttention", "..b...mm.", shape_self, OC_COST(self), attention),
     .kernel = OC_KC_ATTENTION_DECODE,
     .kv = &(const struct oc_op_kv){.pair = {{4, 1}, {4, 1}}, .shared = OC_KV_SHARED_IF_ASKED}},
    {MS("MultiHeadAttention", "...b....m.", shape_heads, OC_COST(heads), multi_head),
     .kv = &(const struct oc_op_kv){.pair = {{6, 1}, {7, 2}}, .shared = OC_KV_SHARED_IF_ASKED, .length = 8}},
    {MS("PackedAttention", "..b...", shape_self, OC_COST(self), packed_attention)},
    {MS("PackedMultiHeadAttention", "...b...", shape_heads, OC_COST(heads), packed_multi_head)},
    {MS("QAttention", "..bqq.qq.", shape_self, OC_COST_TEXT_WITH(quantized_self_formula, self_values),
        qattention)},
};
OC_FAMILY(ms_attention, ms_attention_rows);

/* ---- sparse attention --------------------------------------------------------------------------------- */

/* Sparse and run-time selected attention of ONNX Runtime:
 * LongformerAttention, DecoderAttention; and gated biases of positions. cost-semantics 4.12. */

static int heads_of(struct oc_op_ctx *c, int64_t *heads)
{
    *heads = oc_attr_i(c, "num_heads", 0);
    if (*heads < 1 || *heads > 1 << 20)
        return oc_op_fail(c, "invalid num_heads %lld", (long long)*heads);
    return 0;
}

/* A projection of `tokens` rows: MAC rows*in*out, bias, and for quantized
 * operands a scale. */
static void report_projection(struct oc_op_ctx *c, uint64_t tokens, uint64_t in, uint64_t out, bool bias,
                              bool quantized)
{
    uint64_t n = oc_c_mul(c, tokens, out);
    oc_add_formula_value(c, "macs", oc_c_mul(c, n, in));
    oc_add_formula_value(c, "biases", bias ? n : 0);
    oc_add_formula_value(c, "scaled", quantized ? n : 0);
}

/* ---- LongformerAttention ------------------------------------------------------------------------------ */

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
static int longformer_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    (void)k;
    const struct longformer *kind = c->op->param;
    const struct oc_shape *x = oc_in_shape(c, 0);
    int64_t heads, window = oc_attr_i(c, "window", 0);
    if (heads_of(c, &heads))
        return -1;
    if (window < 1 || window > 1 << 30)
        return oc_op_fail(c, "invalid window %lld", (long long)window);
    if (!x->ranked || x->rank != 3)
        return oc_cost_unknown(c);
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
    report_projection(c, tokens, width, oc_c_mul(c, 3, width), oc_in(c, kind->bias), kind->quantized);
    if (!known || global)
        report_projection(c, tokens, width, oc_c_mul(c, 3, width), oc_in(c, kind->global_bias),
                          kind->quantized);
    oc_report_pairs(c, &a, pairs);
    c->assumption = known ? "a window of 2W + 1 keys for every token" : "global attention is not counted";
    return 0;
}
static const char longformer_formula[] =
    "MAC = macs; ADD = biases; MUL = scaled; macs := 0; biases := 0; scaled := 0; " OC_ATTENTION_FORMULA;

/* ---- DecoderAttention --------------------------------------------------------------------------------- */

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
    struct oc_heads h; /* skv: keys projected in this step */
    struct oc_dim width;
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
    if (heads_of(c, &d->h.hq))
        return -1;
    if (!q->ranked || !key->ranked)
        return 0;
    if (q->rank != 3 || key->rank != 3)
        return oc_op_fail(c, "invalid query rank %u and key rank %u", q->rank, key->rank);
    d->h.sq = q->dim[0];
    d->h.batch = q->dim[1];
    d->width = q->dim[2];
    if (!oc_split_dim(c, d->width, d->h.hq, &d->h.dk))
        return head_fail(c, d->width, d->h.hq);
    d->h.dv = d->h.dk;
    bool cross = flag(c, STATIC_KV, false), past = flag(c, USE_PAST, oc_in(c, K_CACHE)) && oc_in(c, K_CACHE);
    struct oc_dim cached =
        cache->ranked && cache->rank == 4 ? cache->dim[2] : oc_op_fresh_dim(c, "cache", -1);
    d->h.past = oc_known(0);
    d->h.skv = cross && past ? oc_known(0) : cross ? key->dim[0] : d->h.sq;
    d->h.total = past ? oc_dim_add(c->exprs, cached, d->h.skv) : d->h.skv;
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
    struct oc_dim cache[4] = {d.h.batch, oc_known(d.h.hq), d.h.total, d.h.dk};
    oc_set_out(c, 1, oc_in_dtype(c, 0), oc_shape_of(c->arena, 4, cache));
    oc_set_out(c, 2, oc_in_dtype(c, 0), oc_shape_of(c->arena, 4, cache));
    return 0;
}

static int decoder_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    struct decoder d = {0};
    int64_t v;
    int known = read_decoder(c, &d);
    if (known <= 0)
        return known ? known : oc_cost_unknown(c);
    if (!oc_in_int(c, STATIC_KV, &v) || !oc_in_int(c, USE_PAST, &v))
        c->assumption = "static_kv and use_past are unknown: assumed self-attention on the given cache";
    struct oc_attention a = oc_attention_of(c, &d.h);
    uint64_t width = oc_c_dim(c, d.width), fresh = oc_c_dim(c, d.h.skv);
    a.masked = d.masked;
    report_projection(c, oc_c_mul(c, a.batch, a.queries), width, width, oc_in(c, BIAS), false);
    report_projection(c, oc_c_mul(c, a.batch, fresh), width, oc_c_mul(c, 2, width), oc_in(c, BIAS), false);
    oc_report_attention(c, &a);
    if (fresh == 0) /* all keys are in the cache */
        k->rd[KEY] = k->rd[KV_WEIGHT] = 0;
    return 0;
}
static const char decoder_formula[] =
    "MAC = macs; ADD = biases; macs := 0; biases := 0; " OC_ATTENTION_FORMULA;

/* ---- gated biases of relative positions --------------------------------------------------------------- */

/* query [B, S, H*d] or [tokens, H*d] with offsets [B, S] (slot 6); rel_pos [1, H, S, S] */
static int shape_gated_bias(struct oc_op_ctx *c)
{
    const struct oc_shape *q = oc_in_shape(c, 0), *offset = oc_in_shape(c, 6);
    const struct oc_shape *from = q->ranked && q->rank == 3             ? q
                                  : offset->ranked && offset->rank == 2 ? offset
                                                                        : NULL;
    int64_t heads;
    if (heads_of(c, &heads))
        return -1;
    struct oc_dim dim[4] = {from ? from->dim[0] : oc_fresh_axis(c, 0, -1), oc_known(heads),
                            from ? from->dim[1] : oc_fresh_axis(c, 2, -1), oc_known(0)};
    dim[3] = dim[2];
    oc_set_out(c, 0, oc_in_dtype(c, 0), oc_shape_of(c->arena, 4, dim));
    return 0;
}

static const char gated_bias_formula[] = "MAC = N(x)*D; ADD = N(x) + 2*rows*D + 2*rows; SIG = "
                                         "2*rows; MUL = 2*rows + N(o); D := in3[1]; "
                                         "rows := N(x)/in3[0]";

#define SPARSE_ATTENTION_MS(n, s, sh, co, p)                                                                 \
    .domain = "com.microsoft", .name = (n), .since = 1, .op_class = OC_OP_ATTENTION, .slots = (s),           \
    .shape = (sh), co, .param = (p)

static const struct oc_op sparse_attention_rows[] = {
    {SPARSE_ATTENTION_MS("DecoderAttention", "....b...m", shape_decoder, OC_COST(decoder), NULL)},
    {SPARSE_ATTENTION_MS("GatedRelativePositionBias", ".b..b..", shape_gated_bias,
                         OC_COST_TEXT(gated_bias_formula), NULL),
     .kernel = OC_KC_ELEMENTWISE},
    {SPARSE_ATTENTION_MS("LongformerAttention", "..b..b.", oc_shape_same, OC_COST(longformer), &longformer)},
    {SPARSE_ATTENTION_MS("QOrderedLongformerAttention", ".q.qbqq..qbq.q", oc_shape_same, OC_COST(longformer),
                         &qordered_longformer)},
};
OC_FAMILY(sparse_attention, sparse_attention_rows);
