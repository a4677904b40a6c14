/* PagedAttention (tokens of many sequences, cache in blocks) and LongformerAttention of ONNX Runtime.
 * cost-semantics 4.12. */
#include "ops/attention_cost.h"
#include "ops/norm_cost.h"

/* ---- PagedAttention --------------------------------------------------------------------------------- */

enum { QUERY, KEY, VALUE, KEY_CACHE, VALUE_CACHE, ENDS, PAST, BLOCKS, COS, SIN, SLOT_MAP, SINK, Q_NORM };

struct paged_dims {
    struct oc_dim tokens, head, width;
    int64_t hq, hkv, v_head;
};

static int read_paged(struct oc_op_ctx *c, struct paged_dims *d)
{
    const struct oc_shape *q = oc_in_shape(c, QUERY);
    *d = (struct paged_dims){.hq = oc_attr_i(c, "num_heads", 0),
                             .hkv = oc_attr_i(c, "kv_num_heads", 0),
                             .v_head = oc_attr_i(c, "v_head_size", 0)};
    if (d->hq < 1 || d->hkv < 1 || d->hq > 1 << 20 || d->hkv > 1 << 20)
        return oc_op_fail(c, "num_heads %lld, kv_num_heads %lld", (long long)d->hq, (long long)d->hkv);
    if (!q->ranked)
        return 0;
    if (q->rank != 2)
        return oc_op_fail(c, "a query of rank %u", q->rank);
    d->tokens = q->dim[0];
    if (!oc_split_dim(c, q->dim[1], oc_in(c, KEY) ? d->hq : d->hq + 2 * d->hkv, &d->head))
        return oc_op_fail(c, "a query of width %s does not part into its heads",
                          oc_dim_text(c->exprs, q->dim[1]));
    d->width = oc_dim_mul(c->exprs, d->v_head > 0 ? oc_known(d->v_head) : d->head, oc_known(d->hq));
    return 1;
}

static int shape_paged(struct oc_op_ctx *c)
{
    struct paged_dims d;
    int known = read_paged(c, &d);
    struct oc_dim out[2] = {d.tokens, d.width};
    if (known < 0)
        return -1;
    oc_set_out(c, 0, oc_in_dtype(c, QUERY), known ? oc_shape_of(c->arena, 2, out) : oc_shape_unranked());
    oc_set_out_type(c, 1, oc_in(c, KEY_CACHE));
    oc_set_out_type(c, 2, oc_in(c, VALUE_CACHE));
    return 0;
}

/* Pairs and keys over all sequences: from the lengths when their values are known, else every sequence is
 * taken to fill its blocks. */
static void paged_pairs(struct oc_op_ctx *c, const struct oc_attention *a, uint64_t tokens, uint64_t *pairs,
                        uint64_t *keys)
{
    uint32_t n, m;
    const int64_t *ends = oc_in_ints(c, ENDS, &n), *past = oc_in_ints(c, PAST, &m);
    const struct oc_shape *blocks = oc_in_shape(c, BLOCKS), *cache = oc_in_shape(c, KEY_CACHE);
    *pairs = *keys = 0;
    for (uint32_t i = 0; ends && past && i < m && i + 1 < n; i++) {
        int64_t queries = ends[i + 1] - ends[i];
        if (queries < 0 || past[i] < 0 || past[i] > INT64_MAX - queries)
            continue;
        uint64_t total = (uint64_t)(past[i] + queries);
        *pairs = oc_c_add(c, *pairs,
                          oc_visible_pairs(c, (uint64_t)queries, total, past[i], a->left, -1, a->causal));
        *keys = oc_c_add(c, *keys, oc_window_keys((uint64_t)past[i], past[i], a->left));
    }
    if (ends && past)
        return;
    if (!blocks->ranked || blocks->rank != 2 || !cache->ranked || cache->rank != 4) {
        c->unknown = true;
        return;
    }
    c->upper = true;
    uint64_t room = oc_c_mul(c, oc_c_dim(c, blocks->dim[1]), oc_c_dim(c, cache->dim[1]));
    uint64_t seen = a->left >= 0 && (uint64_t)a->left + 1 < room ? (uint64_t)a->left + 1 : room;
    *pairs = oc_c_mul(c, tokens, seen);
    *keys = oc_c_mul(c, oc_c_dim(c, blocks->dim[0]), seen);
}

static int cost_paged(struct oc_op_ctx *c, struct oc_cost *k)
{
    struct paged_dims d;
    int known = read_paged(c, &d);
    int64_t window = oc_attr_i(c, "local_window_size", -1);
    if (known <= 0) {
        c->unknown = true;
        return known;
    }
    uint64_t tokens = oc_c_dim(c, d.tokens), head = oc_c_dim(c, d.head), pairs, keys;
    struct oc_attention a = {.batch = 1,
                             .heads = (uint64_t)d.hq,
                             .queries = tokens,
                             .dk = head,
                             .dv = d.v_head > 0 ? (uint64_t)d.v_head : head,
                             .left = window > 0 ? window - 1 : -1,
                             .causal = oc_attr_i(c, "is_causal", 1) != 0,
                             .softcap = oc_attr_f(c, "softcap", 0.0F) != 0.0F,
                             .sink = oc_in(c, SINK) != NULL};
    paged_pairs(c, &a, tokens, &pairs, &keys);
    oc_add_attention_pairs(c, k, &a, pairs);
    uint64_t rows = oc_c_mul(c, tokens, (uint64_t)(d.hq + d.hkv));
    if (oc_attr_i(c, "do_rotary", 0)) {
        oc_add_rope(c, k, oc_c_mul(c, rows, head));
        oc_limit_read(c, k, COS, oc_c_mul(c, tokens, head / 2));
        oc_limit_read(c, k, SIN, oc_c_mul(c, tokens, head / 2));
    }
    if (oc_in(c, Q_NORM))
        oc_add_rms_norm(c, k, oc_c_mul(c, rows, head), rows);
    /* of the caches what is seen, and the new tokens in place */
    for (unsigned i = 0; i < 2; i++) {
        uint64_t token = oc_c_mul(c, (uint64_t)d.hkv, head);
        oc_limit_read(c, k, KEY_CACHE + i, oc_c_mul(c, keys, token));
        if (oc_out_wanted(c, 1 + i))
            k->wr[1 + i] = oc_c_bytes(c, oc_in_dtype(c, KEY_CACHE + i), oc_c_mul(c, tokens, token));
    }
    return 0;
}

/* ---- LongformerAttention ---------------------------------------------------------------------------- */

/* input, weight, bias, mask, global_weight, global_bias, global: every token sees W tokens to each side, the
 * projections are made once more with the weights for tokens that see all. */
static int cost_longformer(struct oc_op_ctx *c, struct oc_cost *k)
{
    const struct oc_shape *x = oc_in_shape(c, 0);
    int64_t window = oc_attr_i(c, "window", 0), heads = oc_attr_i(c, "num_heads", 0);
    if (window < 1 || heads < 1 || window > 1 << 30)
        return oc_op_fail(c, "window %lld, num_heads %lld", (long long)window, (long long)heads);
    if (!x->ranked || x->rank != 3) {
        c->unknown = true;
        return 0;
    }
    uint64_t batch = oc_c_dim(c, x->dim[0]), seq = oc_c_dim(c, x->dim[1]), hidden = oc_c_dim(c, x->dim[2]);
    uint64_t tokens = oc_c_mul(c, batch, seq), projected = oc_c_mul(c, 6, oc_c_mul(c, tokens, hidden));
    struct oc_attention a = {.batch = batch,
                             .heads = (uint64_t)heads,
                             .queries = seq,
                             .keys = seq,
                             .dk = hidden / (uint64_t)heads,
                             .dv = hidden / (uint64_t)heads,
                             .left = window,
                             .right = window,
                             .masked = oc_in(c, 3) != NULL};
    oc_add(c, k, OC_MAC, oc_c_mul(c, projected, hidden));
    oc_add(c, k, OC_ADD, projected);
    oc_add_attention_pairs(c, k, &a, oc_c_mul(c, tokens, 2 * (uint64_t)window + 1));
    c->assumption = "tokens with global attention are not counted apart";
    return 0;
}

static const struct oc_op rows[] = {
    {.domain = "com.microsoft",
     .name = "LongformerAttention",
     .since = 1,
     .op_class = OC_OP_ATTENTION,
     .slots = "..b..b.",
     .shape = oc_shape_same,
     .cost = cost_longformer},
    {.domain = "com.microsoft",
     .name = "PagedAttention",
     .since = 1,
     .op_class = OC_OP_ATTENTION,
     .slots = "........tt..nnqqm",
     .shape = shape_paged,
     .cost = cost_paged},
};
extern const struct oc_op_family oc_ops_paged;
const struct oc_op_family oc_ops_paged = OC_FAMILY("paged", rows);
