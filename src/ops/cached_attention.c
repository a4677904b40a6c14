/* CachedAttention: the attention of decoders that are described by a config.json, where no operator of ONNX Runtime
 * has it: latent keys and values (DeepSeek-V2), values narrower than keys, chunks, selected keys (DeepSeek-V3.2),
 * compressed keys (DeepSeek-V4). cost-semantics 4.12 and its last section. Domain com.onnxcost. */
#include "ops/shared_rules.h"

/* Slots. With latent_rank: KEY is the latent with the rotated part, VALUE the keys and values of the new tokens
 * expanded from it, PAST_KEY the cached latent. With shared_key_value: values are keys, PAST_KEY has compressed ones, a
 * share of each token's elements, and PAST_VALUE those of the window, of a fixed size. INDEX_*: of the indexer that
 * selects keys. TOTAL: tokens with those of the cache. */
enum { QUERY, KEY, VALUE, PAST_KEY, PAST_VALUE, SINKS, INDEX_QUERY, INDEX_KEY, PAST_INDEX, TOTAL };

struct cached {
    struct oc_heads h;
    int64_t rank, ratio, selected; /* 0: none */
    bool shared;
};

/* Tokens of all and of the cache. */
static void read_tokens(struct oc_op_ctx *c, struct oc_heads *h)
{
    const struct oc_shape *past = oc_in_shape(c, PAST_KEY);
    int64_t total = 0;
    if (oc_in(c, TOTAL) && oc_in_int(c, TOTAL, &total)) {
        h->total = oc_known(total);
        h->past = oc_dim_sub(c->exprs, h->total, h->sq);
        return;
    }
    h->past = past->ranked && past->rank >= 3 ? past->dim[past->rank - 2] : oc_op_fresh_dim(c, "past", -1);
    h->total = oc_dim_add(c->exprs, h->past, h->sq);
}

/* 1: known, 0: a rank is missing, -1: error */
static int read_cached(struct oc_op_ctx *c, struct cached *d)
{
    const struct oc_shape *q = oc_in_shape(c, QUERY);
    struct oc_heads *h = &d->h;
    *d = (struct cached){.shared = oc_attr_i(c, "shared_key_value", 0) != 0,
                         .rank = oc_attr_i(c, "latent_rank", 0),
                         .ratio = oc_attr_i(c, "compress_ratio", 0),
                         .selected = oc_attr_i(c, "selected_keys", 0)};
    h->hq = oc_attr_i(c, "num_heads", 0);
    h->hkv = oc_attr_i(c, "kv_num_heads", 0);
    int64_t dv = oc_attr_i(c, "v_head_size", 0);
    if (h->hq < 1 || h->hkv < 1 || dv < 1 || d->rank < 0 || d->ratio < 0)
        return oc_op_fail(c, "invalid num_heads %lld, kv_num_heads %lld, v_head_size %lld", (long long)h->hq,
                          (long long)h->hkv, (long long)dv);
    if (!q->ranked)
        return 0;
    if (q->rank != 3)
        return oc_op_fail(c, "invalid query rank %u", q->rank);
    if (!oc_split_dim(c, q->dim[2], h->hq, &h->dk))
        return oc_op_fail(c, "query width %s is not divisible by %lld heads",
                          oc_dim_text(c->exprs, q->dim[2]), (long long)h->hq);
    h->batch = q->dim[0];
    h->sq = q->dim[1];
    h->dv = oc_known(dv);
    read_tokens(c, h);
    if (oc_is_known(h->past) && h->past.v < 0)
        h->past = oc_known(0);
    return 1;
}

/* The past with the new tokens. */
static void set_present(struct oc_op_ctx *c, unsigned slot, unsigned past, const struct oc_heads *h,
                        bool fixed)
{
    const struct oc_shape *s = oc_in_shape(c, past);
    oc_set_out(c, slot, oc_in_dtype(c, past),
               fixed                       ? *s
               : s->ranked && s->rank >= 2 ? oc_shape_with(c, s, s->rank - 2U, h->total)
                                           : oc_shape_unranked());
}

static int shape_cached(struct oc_op_ctx *c)
{
    static const uint8_t past[] = {PAST_KEY, PAST_VALUE, PAST_INDEX};
    struct cached d;
    int known = read_cached(c, &d);
    struct oc_dim out[3] = {d.h.batch, d.h.sq,
                            known > 0 ? oc_dim_mul(c->exprs, d.h.dv, oc_known(d.h.hq)) : oc_known(0)};
    oc_set_out(c, 0, oc_in_dtype(c, QUERY), known > 0 ? oc_shape_of(c->arena, 3, out) : oc_shape_unranked());
    for (unsigned i = 0; i < 3; i++)
        set_present(c, 1 + i, past[i], &d.h, known <= 0 || (d.shared && past[i] == PAST_VALUE));
    return known < 0 ? -1 : 0;
}

/* Pairs of a query and a visible key: all before it, those of a window, of its chunk, or as many as are selected. */
static uint64_t pairs_of(struct oc_op_ctx *c, const struct oc_attention *a, int64_t left)
{
    int64_t chunk = oc_attr_i(c, "chunk_size", 0);
    if (c->opt.attention_full)
        return oc_c_mul(c, a->queries, a->keys);
    uint64_t all = oc_visible_pairs(c, a->queries, a->keys, a->offset, left, -1, true);
    if (chunk <= 0)
        return all;
    /* the first query of a chunk sees itself: of the queries before it, whole chunks see chunk * (chunk + 1) / 2 */
    uint64_t size = (uint64_t)chunk, whole = oc_c_mul(c, size, size + 1) / 2, seen[2];
    for (int i = 0; i < 2; i++) {
        uint64_t n = (uint64_t)a->offset + (i ? a->queries : 0), rest = n % size;
        seen[i] = oc_c_add(c, oc_c_mul(c, n / size, whole), oc_c_mul(c, rest, rest + 1) / 2);
    }
    return seen[1] - seen[0];
}

/* Expanded: keys and values of the heads, which those of the cache have to be expanded to. Absorbed: the latent is
 * both, for queries and outputs that were projected to it. That of the new tokens is a product before this
 * operator, with the same multiplications in both. The form with fewer multiplications counts. */
static void report_latent(struct oc_op_ctx *c, const struct cached *d, struct oc_attention *a, uint64_t pairs)
{
    const struct oc_shape *cache = oc_in_shape(c, PAST_KEY);
    uint64_t rank = (uint64_t)d->rank,
             width = cache->ranked && cache->rank == 3 ? oc_c_dim(c, cache->dim[2]) : rank,
             rope = width > rank ? width - rank : 0, nope = a->dk > rope ? a->dk - rope : 0;
    uint64_t past = oc_c_mul(c, oc_c_mul(c, a->batch, (uint64_t)a->offset),
                             oc_c_mul(c, rank, oc_c_mul(c, a->heads, nope + a->dv)));
    uint64_t v = oc_c_mul(c, a->heads, pairs), expanded = oc_c_add(c, past, oc_c_mul(c, v, a->dk + a->dv)),
             absorbed = oc_c_mul(c, v, 2 * rank + rope);
    bool absorbs = absorbed < expanded;
    a->dk = absorbs ? rank + rope : a->dk;
    a->dv = absorbs ? rank : a->dv;
    oc_add_formula_value(c, "expanded", absorbs ? 0 : past);
}

/* Compressed keys: one for `ratio` tokens. Their scores are counted with a share of the elements, which is exact. */
static void report_compressed(struct oc_op_ctx *c, const struct cached *d, const struct oc_attention *a)
{
    int64_t most = d->selected > 0 && d->selected < INT64_MAX / d->ratio ? d->selected * d->ratio - 1 : -1;
    uint64_t pairs =
        oc_c_mul(c, a->batch, oc_visible_pairs(c, a->queries, a->keys, a->offset, most, -1, true));
    struct oc_attention share = *a;
    share.dk /= (uint64_t)d->ratio;
    share.dv /= (uint64_t)d->ratio;
    oc_add_formula_value(c, "compressed", oc_c_mul(c, a->heads, oc_c_mul(c, pairs, share.dk + share.dv)));
}

static void count_one(struct oc_op_ctx *c, struct oc_cost *k, unsigned past, unsigned present,
                      const struct oc_attention *a, uint64_t seen)
{
    const struct oc_type *t = oc_in(c, past);
    if (!t || !t->shape.ranked || t->shape.rank < 3)
        return;
    uint64_t token = oc_c_dim(c, t->shape.dim[t->shape.rank - 1]);
    token = t->shape.rank == 4 ? oc_c_mul(c, token, oc_c_dim(c, t->shape.dim[1])) : token;
    const struct oc_kv_cache v = {.past_slot = past,
                                  .present_slot = present,
                                  .token = oc_c_mul(c, a->batch, token),
                                  .past = (uint64_t)a->offset,
                                  .seen = seen,
                                  .fresh = a->queries,
                                  .shared = oc_kv_shared(c, true)};
    oc_count_kv_cache(c, k, &v);
}

/* Keys of the cache that are read: those of the window, of the chunk, or the selected ones. */
static uint64_t seen_of(struct oc_op_ctx *c, const struct cached *d, const struct oc_attention *a,
                        int64_t left)
{
    int64_t chunk = oc_attr_i(c, "chunk_size", 0),
            most = d->ratio > 0 && d->selected > 0 ? d->selected * d->ratio : 0;
    uint64_t past = (uint64_t)a->offset;
    if (d->ratio > 0)
        return most > 0 && a->queries == 1 && (uint64_t)most < past ? (uint64_t)most : past;
    if (chunk > 0)
        return past % (uint64_t)chunk;
    return oc_window_keys(past, a->offset, d->selected > 0 && a->queries > 1 ? -1 : left);
}

static int cached_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    struct cached d;
    int known = read_cached(c, &d);
    if (known <= 0)
        return known ? known : oc_cost_unknown(c);
    int64_t window = oc_attr_i(c, "local_window_size", 0), rotary = oc_attr_i(c, "rotary_embedding_dim", 0),
            index = oc_attr_i(c, "index_heads", 0);
    struct oc_attention a = oc_attention_of(c, &d.h);
    a.sink = oc_in(c, SINKS) != NULL;
    int64_t left = window > 0 ? window - 1 : d.selected > 0 && !d.ratio ? d.selected - 1 : -1;
    uint64_t pairs = oc_c_mul(c, a.batch, pairs_of(c, &a, left)), tokens = oc_c_mul(c, a.batch, a.queries);
    if (d.rank > 0)
        report_latent(c, &d, &a, pairs);
    if (d.ratio > 0)
        report_compressed(c, &d, &a);
    oc_report_pairs(c, &a, pairs);
    oc_report_rope(c, oc_c_mul(c, tokens, oc_c_mul(c, (uint64_t)(d.h.hq + d.h.hkv), (uint64_t)rotary)));
    const struct oc_shape *indexed = oc_in_shape(c, PAST_INDEX);
    if (index > 0 && indexed->ranked && indexed->rank == 3) { /* scores of all keys, added over the heads */
        uint64_t every = oc_c_mul(c, a.batch, oc_visible_pairs(c, a.queries, a.keys, a.offset, -1, -1, true));
        uint64_t width = oc_c_dim(c, indexed->dim[2]),
                 scores = oc_c_mul(c, every, oc_c_mul(c, (uint64_t)index, width));
        oc_add_formula_value(c, "indexed", scores);
        count_one(c, k, PAST_INDEX, 3, &a, (uint64_t)a.offset);
    }
    uint64_t seen = seen_of(c, &d, &a, left);
    count_one(c, k, PAST_KEY, 1, &a, seen);
    if (!d.shared)
        count_one(c, k, PAST_VALUE, 2, &a, seen);
    return 0;
}
static const char cached_formula[] =
    OC_ATTENTION_FORMULA "; " OC_ROPE_FORMULA "; MAC = expanded + compressed + indexed; "
                         "expanded := 0; compressed := 0; indexed := 0";

static const struct oc_op cached_attention_rows[] = {
    {OC_OP_ROW("com.onnxcost", "CachedAttention", 1, ATTENTION, ".........m", shape_cached), OC_COST(cached),
     .kv = &(const struct oc_op_kv){.pair = {{PAST_KEY, 1}, {PAST_VALUE, 2}}, .shared = OC_KV_SHARED_ALWAYS}},
};
OC_FAMILY(cached_attention, cached_attention_rows);
