/* GroupQueryAttention and related operators of ONNX Runtime: causal attention on a cache shared by past and
 * present. cost-semantics 4.12, 5.6. */
#include <string.h>

#include "ops/shared_rules.h"

/* Slots. GroupQueryAttention: query, key, value, past_key, past_value, seqlens_k, total_sequence_length, cos,
 * sin, position_ids, attention_bias, head_sink, k_scale, v_scale, q_norm_weight, k_norm_weight. */
struct grouped {
    uint16_t past, total, cos, bias, sink, q_norm;
    bool sparse;
};
static const struct grouped grouped = {.past = 3, .total = 6, .cos = 7, .bias = 10, .sink = 11, .q_norm = 14};
/* SparseAttention: ..., past_value, block_row_indices, block_col_indices, total_sequence_length,
 * key_total_sequence_lengths, cos, sin */
static const struct grouped sparse = {
    .past = 3, .total = 7, .cos = 9, .bias = 1000, .sink = 1000, .q_norm = 1000, .sparse = true};

struct grouped_dims {
    struct oc_heads h;
    struct oc_dim buffer; /* length of the cache's buffer */
};

/* Heads and their size, from the query [.., width] of this rank. 1: known, 0: a rank is missing, -1: error */
static int read_query(struct oc_op_ctx *c, unsigned rank, struct oc_heads *h)
{
    const struct oc_shape *q = oc_in_shape(c, 0);
    *h = (struct oc_heads){.hq = oc_attr_i(c, "num_heads", 0), .hkv = oc_attr_i(c, "kv_num_heads", 0)};
    if (h->hq < 1 || h->hkv < 1 || h->hq > 1 << 20 || h->hkv > 1 << 20)
        return oc_op_fail(c, "invalid num_heads %lld, kv_num_heads %lld", (long long)h->hq,
                          (long long)h->hkv);
    if (!q->ranked)
        return 0;
    if (q->rank != rank)
        return oc_op_fail(c, "invalid query rank %u", q->rank);
    int64_t parts = oc_in(c, 1) ? h->hq : h->hq + 2 * h->hkv; /* without a key Q, K and V are packed */
    if (!oc_split_dim(c, q->dim[rank - 1], parts, &h->dk))
        return oc_op_fail(c, "query width %s is not divisible by %lld heads",
                          oc_dim_text(c->exprs, q->dim[rank - 1]), (long long)parts);
    h->batch = rank == 3 ? q->dim[0] : oc_known(1);
    h->sq = q->dim[rank - 2];
    h->dv = h->dk;
    return 1;
}

/* Total length: the value of total_sequence_length; else at most that of a full cache and the new tokens,
 * with an empty cache that of the first step. */
static void read_lengths(struct oc_op_ctx *c, const struct grouped *kind, struct grouped_dims *d)
{
    const struct oc_data *total = oc_in_value(c, kind->total);
    struct oc_heads *h = &d->h;
    d->buffer = oc_past_tokens(c, kind->past, 4);
    if (total && total->n == 1 && total->e[0].kind == OC_E_INT) {
        h->total = total->e[0].i;
    } else if (oc_in(c, kind->past) && !oc_is(d->buffer, 0)) {
        int64_t most = oc_dim_max_value(c->exprs, oc_dim_add(c->exprs, d->buffer, h->sq));
        h->total = oc_op_fresh_dim(c, "total_sequence_length", most);
    } else {
        h->total = h->sq;
    }
    h->past = oc_dim_sub(c->exprs, h->total, h->sq);
    if (oc_is_known(h->past) && h->past.v < 0)
        h->past = oc_known(0);
}

static int gqa_read_dims(struct oc_op_ctx *c, struct grouped_dims *d)
{
    int known = read_query(c, 3, &d->h);
    if (known > 0)
        read_lengths(c, c->op->param, d);
    return known;
}

/* A cache keeps its type and width: of a quantized one they are not those of the query. */
static unsigned cache_type(struct oc_op_ctx *c, unsigned past)
{
    return oc_in_dtype(c, oc_in(c, past) ? past : 0);
}

static struct oc_dim cache_width(struct oc_op_ctx *c, unsigned past, struct oc_dim head)
{
    const struct oc_shape *s = oc_in_shape(c, past);
    if (s->ranked && s->rank == 4)
        return s->dim[3]; /* two 4-bit values per byte halve it */
    bool same = !oc_in(c, past) || oc_in_dtype(c, past) == oc_in_dtype(c, 0);
    return same ? head : oc_op_fresh_dim(c, "cache_width", -1);
}

static int shape_grouped(struct oc_op_ctx *c)
{
    const struct grouped *kind = c->op->param;
    struct grouped_dims d;
    int known = gqa_read_dims(c, &d);
    if (known <= 0) {
        oc_set_out(c, 0, oc_in_dtype(c, 0), oc_shape_unranked());
        for (unsigned i = 0; i < 2; i++)
            oc_set_out(c, 1 + i, cache_type(c, kind->past + i), oc_shape_unranked());
        oc_set_out(c, 3, oc_in_dtype(c, 0), oc_shape_unranked());
        return known;
    }
    const struct oc_heads *h = &d.h;
    struct oc_dim out[3] = {h->batch, h->sq, oc_dim_mul(c->exprs, h->dk, oc_known(h->hq))};
    struct oc_dim present[4] = {h->batch, oc_known(h->hkv), oc_dim_max(c->exprs, d.buffer, h->total)};
    struct oc_dim scores[4] = {h->batch, oc_known(h->hq), h->sq, h->total};
    oc_set_out(c, 0, oc_in_dtype(c, 0), oc_shape_of(c->arena, 3, out));
    for (unsigned i = 0; i < 2; i++) {
        unsigned past = kind->past + i;
        present[3] = cache_width(c, past, h->dk);
        oc_set_out(c, 1 + i, cache_type(c, past), oc_shape_of(c->arena, 4, present));
    }
    oc_set_out(c, 3, oc_in_dtype(c, 0), oc_shape_of(c->arena, 4, scores));
    return 0;
}

/* Rotation of the new queries and keys, which counts the rows in use of both tables; their normalisation. */
static void add_query_work(struct oc_op_ctx *c, struct oc_cost *k, unsigned table, unsigned norm,
                           const struct oc_heads *h, const struct oc_attention *a)
{
    const struct oc_shape *cos = oc_in_shape(c, table);
    uint64_t tokens = oc_c_mul(c, a->batch, a->queries), heads = (uint64_t)(h->hq + h->hkv);
    if (oc_attr_i(c, "do_rotary", 0)) {
        uint64_t half = cos->ranked && cos->rank == 2 ? oc_c_dim(c, cos->dim[1]) : a->dk / 2;
        uint64_t turned = oc_c_mul(c, 2, half) < a->dk ? oc_c_mul(c, 2, half) : a->dk;
        oc_report_rope(c, oc_c_mul(c, tokens, oc_c_mul(c, heads, turned)));
        oc_limit_read(c, k, table, oc_c_mul(c, tokens, half));
        oc_limit_read(c, k, table + 1, oc_c_mul(c, tokens, half));
    }
    if (oc_in(c, norm)) {
        uint64_t rows = oc_c_mul(c, tokens, heads);
        oc_report_norm(c, oc_c_mul(c, rows, a->dk), rows, false);
    }
}

/* The visible keys and values of the cache are read, dequantized if they are stored in another type, and the new
 * ones written. */
static void count_cache(struct oc_op_ctx *c, struct oc_cost *k, unsigned slot, const struct oc_attention *a,
                        int64_t heads, uint64_t past_tokens, uint64_t seen)
{
    uint64_t rows = oc_c_mul(c, a->batch, (uint64_t)heads);
    for (unsigned i = 0; i < 2; i++) {
        const struct oc_type *past = oc_in(c, slot + i), *like = past ? past : oc_out(c, 1 + i);
        if (!like || !like->shape.ranked || like->shape.rank != 4)
            continue;
        const struct oc_kv_cache v = {.past_slot = slot + i,
                                      .present_slot = 1 + i,
                                      .token = oc_c_mul(c, rows, oc_c_dim(c, like->shape.dim[3])),
                                      .past = past_tokens,
                                      .seen = seen,
                                      .fresh = a->queries,
                                      .shared = oc_kv_shared(c, true)};
        oc_count_kv_cache(c, k, &v);
        if (past && oc_dtype_info(past->dtype)->kind != OC_KIND_NONE && past->dtype != oc_in_dtype(c, 0)) {
            oc_add_formula_value(c, "cached", oc_c_mul(c, rows, oc_c_mul(c, a->dk, seen)));
        }
    }
}

static int grouped_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    const struct grouped *kind = c->op->param;
    struct grouped_dims d;
    int known = gqa_read_dims(c, &d);
    if (known <= 0)
        return known ? known : oc_cost_unknown(c);
    int64_t window = oc_attr_i(c, "local_window_size", -1);
    uint64_t past = oc_c_dim(c, d.h.past);
    struct oc_attention a = oc_attention_of(c, &d.h);
    a.left = window > 0 ? window - 1 : -1; /* the window includes the query's own key */
    a.causal = oc_attr_i(c, "causal", 1) != 0;
    a.masked = oc_in(c, kind->bias) != NULL;
    a.softcap = oc_attr_f(c, "softcap", 0.0F) != 0.0F;
    a.sink = oc_in(c, kind->sink) || oc_attr_i(c, "smooth_softmax", 0) > 0;
    if (kind->sparse)
        c->upper = true; /* the block layout is not in the types: counted as dense */
    oc_report_attention(c, &a);
    add_query_work(c, k, kind->cos, kind->q_norm, &d.h, &a);
    count_cache(c, k, kind->past, &a, d.h.hkv, past, oc_window_keys(past, a.offset, a.left));
    return 0;
}
static const char grouped_formula[] = OC_ATTENTION_FORMULA "; " OC_ROPE_FORMULA "; " OC_RMS_NORM_FORMULA "; "
                                                           "n := 0; R := 0; DEQ:float = cached; cached := 0";

#define MS(n, s, p)                                                                                          \
    .domain = "com.microsoft", .name = (n), .since = 1, .op_class = OC_OP_ATTENTION, .slots = (s),           \
    .shape = shape_grouped, OC_COST(grouped), .param = &(p)

static const struct oc_op gqa_rows[] = {
    {MS("GroupQueryAttention", ".....mmtt...qqnn", grouped),
     .kv = &(const struct oc_op_kv){.pair = {{3, 1}, {4, 2}}, .shared = OC_KV_SHARED_ALWAYS}},
    {MS("SparseAttention", ".....mmmmtt", sparse),
     .kv = &(const struct oc_op_kv){.pair = {{3, 1}, {4, 2}}, .shared = OC_KV_SHARED_ALWAYS}},
};
OC_FAMILY(gqa, gqa_rows);

/* ---- paged caches ------------------------------------------------------------------------------------- */

/* PagedAttention: packed sequences of different lengths on a block-structured cache; QOrderedAttention: int8
 * throughout. cost-semantics 4.12, 5.6. */

enum {
    QUERY,
    KEY,
    VALUE,
    K_CACHE,
    V_CACHE,
    CUMULATIVE,
    PAST,
    BLOCKS,
    COS,
    SIN,
    SLOT_MAPPING,
    SINK,
    Q_NORM,
    K_NORM
};

/* One cache row may serve K and V: then the values are a part of it. 1: known, 0: a rank is missing, -1: error */
static int read_paged(struct oc_op_ctx *c, struct oc_heads *h)
{
    int known = read_query(c, 2, h);
    int64_t narrow = oc_attr_i(c, "v_head_size", 0);
    bool latent = strcmp(oc_attr_s(c, "kv_cache_layout", "SEPARATE"), "LATENT") == 0;
    if (known > 0 && latent && narrow > 0)
        h->dv = oc_known(narrow);
    return known;
}

static int shape_paged(struct oc_op_ctx *c)
{
    struct oc_heads h;
    int known = read_paged(c, &h);
    oc_set_out_type(c, 1, oc_in(c, K_CACHE));
    oc_set_out_type(c, 2, oc_in(c, V_CACHE));
    if (known <= 0) {
        oc_set_out(c, 0, oc_in_dtype(c, 0), oc_fresh_shape(c, 2));
        return known;
    }
    struct oc_dim dim[2] = {h.sq, oc_dim_mul(c->exprs, h.dv, oc_known(h.hq))};
    oc_set_out(c, 0, oc_in_dtype(c, 0), oc_shape_of(c->arena, 2, dim));
    return 0;
}

struct reach {
    uint64_t pairs, cached,
        past; /* totals over all sequences: visible pairs, keys read from the cache, keys in it */
};

static void add_sequence(struct oc_op_ctx *c, struct reach *r, uint64_t queries, uint64_t past,
                         uint64_t times)
{
    int64_t window = oc_attr_i(c, "local_window_size", -1), left = window > 0 ? window - 1 : -1;
    int64_t offset = past > INT64_MAX ? 0 : (int64_t)past;
    uint64_t keys = oc_c_add(c, past, queries);
    bool causal = oc_attr_i(c, "is_causal", 1) != 0;
    uint64_t pairs = c->opt.attention_full ? oc_c_mul(c, queries, keys)
                                           : oc_visible_pairs(c, queries, keys, offset, left, -1, causal);
    r->pairs = oc_c_add(c, r->pairs, oc_c_mul(c, times, pairs));
    r->cached = oc_c_add(c, r->cached, oc_c_mul(c, times, oc_window_keys(past, offset, left)));
    r->past = oc_c_add(c, r->past, oc_c_mul(c, times, past));
}

/* Unknown lengths are bounded by the blocks: every token sees as many keys as a sequence can have. */
static int bound_reach(struct oc_op_ctx *c, uint64_t tokens, struct reach *r)
{
    const struct oc_shape *table = oc_in_shape(c, BLOCKS), *cache = oc_in_shape(c, K_CACHE);
    int64_t window = oc_attr_i(c, "local_window_size", -1);
    if (!table->ranked || table->rank != 2 || !cache->ranked || cache->rank != 4)
        return oc_cost_unknown(c);
    uint64_t room = oc_c_mul(c, oc_c_dim(c, table->dim[1]), oc_c_dim(c, cache->dim[1]));
    uint64_t seen = window > 0 && (uint64_t)window < room && !c->opt.attention_full ? (uint64_t)window : room;
    r->pairs = oc_c_mul(c, tokens, seen);
    r->cached = oc_c_mul(c, oc_c_dim(c, table->dim[0]), seen);
    r->past = oc_c_mul(c, oc_c_dim(c, table->dim[0]), room);
    c->upper = true;
    return 0;
}

static int read_reach(struct oc_op_ctx *c, uint64_t tokens, struct reach *r)
{
    uint32_t n, n_past;
    const int64_t *end = oc_in_ints(c, CUMULATIVE, &n), *past = oc_in_ints(c, PAST, &n_past);
    *r = (struct reach){0};
    if (!end || !past || n != n_past + 1)
        return bound_reach(c, tokens, r);
    for (uint32_t i = 0; i < n_past; i++) {
        if (end[i + 1] < end[i] || past[i] < 0)
            return oc_op_fail(c, "sequence %u has negative length", i);
        add_sequence(c, r, (uint64_t)(end[i + 1] - end[i]), (uint64_t)past[i], 1);
    }
    return 0;
}

static int paged_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    struct oc_heads h;
    struct reach r;
    int known = read_paged(c, &h);
    if (known <= 0)
        return known ? known : oc_cost_unknown(c);
    struct oc_attention a = oc_attention_of(c, &h);
    a.softcap = oc_attr_f(c, "softcap", 0.0F) != 0.0F;
    a.sink = oc_in(c, SINK) != NULL;
    if (read_reach(c, a.queries, &r))
        return -1;
    oc_report_pairs(c, &a, r.pairs);
    add_query_work(c, k, COS, Q_NORM, &h, &a);
    count_cache(c, k, K_CACHE, &a, h.hkv, r.past, r.cached);
    return 0;
}
static const char paged_formula[] = OC_ATTENTION_FORMULA "; " OC_ROPE_FORMULA "; " OC_RMS_NORM_FORMULA "; "
                                                         "n := 0; R := 0; DEQ:float = cached; cached := 0";

/* ---- QOrderedAttention -------------------------------------------------------------------------------- */

enum { ORDERED_W = 5, ORDERED_BIAS = 11, ORDERED_MASK = 17, ORDERED_ATTENTION_BIAS = 19 };

static int shape_ordered(struct oc_op_ctx *c)
{
    const struct oc_shape *x = oc_in_shape(c, 0), *wv = oc_in_shape(c, ORDERED_W + 2);
    if ((x->ranked && x->rank != 3) || (wv->ranked && wv->rank != 2))
        return oc_op_fail(c, "invalid input rank %u and weight rank %u", x->rank, wv->rank);
    struct oc_dim dim[3] = {x->ranked ? x->dim[0] : oc_fresh_axis(c, 0, -1),
                            x->ranked ? x->dim[1] : oc_fresh_axis(c, 1, -1),
                            wv->ranked ? wv->dim[1] : oc_fresh_axis(c, 2, -1)};
    oc_set_out(c, 0, OC_DT_INT8, oc_shape_of(c->arena, 3, dim));
    return 0;
}

/* Three projections, each scaled and biased, then attention on 8-bit operands. */
static int ordered_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    (void)k;
    const struct oc_shape *x = oc_in_shape(c, 0);
    int64_t heads = oc_attr_i(c, "num_heads", 0);
    uint64_t width[3];
    if (heads < 1)
        return oc_op_fail(c, "invalid num_heads %lld", (long long)heads);
    if (!x->ranked)
        return oc_cost_unknown(c);
    uint64_t batch = oc_c_dim(c, x->dim[0]), seq = oc_c_dim(c, x->dim[1]), hidden = oc_c_dim(c, x->dim[2]);
    for (unsigned i = 0; i < 3; i++) {
        const struct oc_shape *w = oc_in_shape(c, ORDERED_W + i);
        width[i] = w->ranked && w->rank == 2 ? oc_c_dim(c, w->dim[1]) : hidden;
        uint64_t n = oc_c_mul(c, oc_c_mul(c, batch, seq), width[i]);
        oc_add_formula_value(c, "P", n);
        oc_add_formula_value(c, "biases", oc_in(c, ORDERED_BIAS + i) ? n : 0);
    }
    struct oc_attention a = {.batch = batch,
                             .heads = (uint64_t)heads,
                             .queries = seq,
                             .keys = seq,
                             .dk = width[0] / (uint64_t)heads,
                             .dv = width[2] / (uint64_t)heads,
                             .left = -1,
                             .right = -1,
                             .causal = oc_attr_i(c, "unidirectional", 0) != 0,
                             .masked = oc_in(c, ORDERED_MASK) || oc_in(c, ORDERED_ATTENTION_BIAS)};
    oc_report_attention(c, &a);
    return 0;
}
static const char ordered_formula[] =
    "MAC = P*D; MUL = P; ADD = biases; D := x[2]; biases := 0; " OC_ATTENTION_FORMULA;

#define PAGED_ATTENTION_MS(n, s, sh, co)                                                                     \
    .domain = "com.microsoft", .name = (n), .since = 1, .op_class = OC_OP_ATTENTION, .slots = (s),           \
    .shape = (sh), OC_COST(co)

static const struct oc_op paged_attention_rows[] = {
    {PAGED_ATTENTION_MS("PagedAttention", ".....mmmttm.nnqqm", shape_paged, paged),
     .kernel = OC_KC_ATTENTION_DECODE,
     .kv = &(const struct oc_op_kv){.pair = {{3, 1}, {4, 2}}, .shared = OC_KV_SHARED_ALWAYS}},
    {PAGED_ATTENTION_MS("QOrderedAttention", ".qqqq...qqqbbbqqq.", shape_ordered, ordered)},
};
OC_FAMILY(paged_attention, paged_attention_rows);
