/* ops/: Operators, related families in one file: shape rule, folding rule, cost rule and what runtimes do with
 * it in a row of the family's table (struct oc_op). A row may be added or changed without touching another
 * file. Rules are normative: the specification decides, and tests state the arithmetic. */

/* Attention and RotaryEmbedding of the standard; sizes and costs that all attention operators share. */
#include "ops/shared_rules.h"

#include "onnxcost.h"

/* Sum over j < m of min(j, keys), j from 0. */
static uint64_t ramp(struct oc_op_ctx *c, int64_t m, uint64_t keys)
{
    if (m <= 0)
        return 0;
    uint64_t n = (uint64_t)m, below = n < keys ? n : keys;
    /* below*(below-1)/2 without losing the half */
    uint64_t triangle =
        below % 2 ? oc_c_mul(c, below, below / 2) : oc_c_mul(c, below / 2, below ? below - 1 : 0);
    return oc_c_add(c, triangle, oc_c_mul(c, n - below, keys));
}

/* Sum over i < queries of clamp(i + first, 0, keys) */
static uint64_t clamped_sum(struct oc_op_ctx *c, uint64_t queries, int64_t first, uint64_t keys)
{
    int64_t end;
    if (queries > INT64_MAX || __builtin_add_overflow(first, (int64_t)queries, &end)) {
        c->overflow = true;
        return 0;
    }
    uint64_t high = ramp(c, end, keys), low = ramp(c, first, keys);
    return high > low ? high - low : 0;
}

uint64_t oc_visible_pairs(struct oc_op_ctx *c, uint64_t queries, uint64_t keys, int64_t offset, int64_t left,
                          int64_t right, bool causal)
{
    int64_t ahead = causal ? 0 : right, first_end, first_begin;
    if (__builtin_add_overflow(offset, ahead < 0 ? 0 : ahead, &first_end) ||
        __builtin_add_overflow(first_end, 1, &first_end) ||
        __builtin_sub_overflow(offset, left < 0 ? 0 : left, &first_begin)) {
        c->overflow = true;
        return 0;
    }
    uint64_t ends =
        causal || right >= 0 ? clamped_sum(c, queries, first_end, keys) : oc_c_mul(c, queries, keys);
    uint64_t begins = left >= 0 ? clamped_sum(c, queries, first_begin, keys) : 0;
    return ends > begins ? ends - begins : 0;
}

void oc_report_pairs(struct oc_op_ctx *c, const struct oc_attention *a, uint64_t pairs)
{
    oc_add_formula_value(c, "V", oc_c_mul(c, a->heads, pairs));
    oc_add_formula_value(c, "dk", a->dk);
    oc_add_formula_value(c, "dv", a->dv);
    oc_add_formula_value(c, "masked", a->masked);
    oc_add_formula_value(c, "softcap", a->softcap);
    if (a->sink)
        oc_add_formula_value(c, "sinks", oc_c_mul(c, oc_c_mul(c, a->batch, a->heads), a->queries));
}

void oc_report_attention(struct oc_op_ctx *c, const struct oc_attention *a)
{
    uint64_t pairs = c->opt.attention_full
                         ? oc_c_mul(c, a->queries, a->keys)
                         : oc_visible_pairs(c, a->queries, a->keys, a->offset, a->left, a->right, a->causal);
    oc_report_pairs(c, a, oc_c_mul(c, a->batch, pairs));
}

struct oc_attention oc_attention_of(struct oc_op_ctx *c, const struct oc_heads *d)
{
    uint64_t past = oc_c_dim(c, d->past);
    return (struct oc_attention){.batch = oc_c_dim(c, d->batch),
                                 .heads = (uint64_t)d->hq,
                                 .queries = oc_c_dim(c, d->sq),
                                 .keys = oc_c_dim(c, d->total),
                                 .dk = oc_c_dim(c, d->dk),
                                 .dv = oc_c_dim(c, d->dv),
                                 .offset = past > INT64_MAX ? 0 : (int64_t)past,
                                 .left = -1,
                                 .right = -1};
}

struct oc_dim oc_past_tokens(struct oc_op_ctx *c, unsigned slot, unsigned rank)
{
    const struct oc_shape *past = oc_in_shape(c, slot);
    if (!oc_in(c, slot))
        return oc_known(0);
    return past->ranked && past->rank == rank ? past->dim[rank - 2] : oc_op_fresh_dim(c, "past", -1);
}

void oc_report_rope(struct oc_op_ctx *c, uint64_t n)
{
    oc_add_formula_value(c, "rotated", n);
}

uint64_t oc_window_keys(uint64_t past, int64_t offset, int64_t left)
{
    if (left < 0 || offset <= left)
        return past;
    uint64_t hidden = (uint64_t)(offset - left);
    return hidden < past ? past - hidden : 0;
}

bool oc_kv_shared(const struct oc_op_ctx *c, bool by_itself)
{
    return c->opt.kv_share == OC_KV_AUTO ? by_itself : c->opt.kv_share == OC_KV_ON;
}

void oc_count_kv_cache(struct oc_op_ctx *c, struct oc_cost *k, const struct oc_kv_cache *v)
{
    bool written = oc_out_wanted(c, v->present_slot), copied = written && !v->shared;
    uint64_t whole = oc_in(c, v->past_slot) && v->past_slot < k->n_in ? k->rd[v->past_slot] : 0;
    if (whole) {
        oc_limit_read(c, k, v->past_slot, oc_c_mul(c, v->token, v->seen));
        uint64_t attended = k->rd[v->past_slot];
        k->rd[v->past_slot] = whole;
        oc_limit_read(c, k, v->past_slot, copied ? oc_c_mul(c, v->token, v->past) : 0);
        k->rd[v->past_slot] = oc_c_add(c, k->rd[v->past_slot], attended);
    }
    if (written)
        k->wr[v->present_slot] =
            oc_c_bytes(c, oc_out(c, v->present_slot)->dtype,
                       oc_c_mul(c, v->token, oc_c_add(c, v->fresh, copied ? v->past : 0)));
}

bool oc_split_dim(struct oc_op_ctx *c, struct oc_dim total, int64_t parts, struct oc_dim *out)
{
    if (parts < 1 || (oc_is_known(total) && total.v % parts != 0))
        return false;
    if (!oc_dim_divides(c->exprs, total, oc_known(parts), out))
        *out = oc_dim_floordiv(c->exprs, total, oc_known(parts));
    return true;
}

void oc_limit_read(struct oc_op_ctx *c, struct oc_cost *k, unsigned slot, uint64_t elements)
{
    if (slot >= k->n_in || !oc_in(c, slot))
        return;
    uint64_t bytes = oc_c_bytes(c, oc_in_dtype(c, slot), elements);
    if (bytes < k->rd[slot])
        k->rd[slot] = bytes;
}

/* ---- attention ---------------------------------------------------------------------------------------- */

/* Attention of ai.onnx (versions 23 to 25), and FlexAttention without its bodies. cost-semantics 4.12,
 * shape-inference 4.11. The operators of ONNX Runtime: ms_attention.c. */

enum { Q, K, V, MASK, PAST_K, PAST_V, NONPAD };

static int head_error(struct oc_op_ctx *c, const char *what, struct oc_dim width, int64_t heads)
{
    return oc_op_fail(c, "%s width %s is not divisible by %lld heads", what, oc_dim_text(c->exprs, width),
                      (long long)heads);
}

static int flat_dims(struct oc_op_ctx *c, const struct oc_shape *q, const struct oc_shape *k,
                     const struct oc_shape *v, struct oc_heads *d)
{
    d->hq = oc_attr_i(c, "q_num_heads", 0);
    d->hkv = oc_attr_i(c, "kv_num_heads", 0);
    d->sq = q->dim[1];
    d->skv = k->dim[1];
    if (d->hq < 1 || d->hkv < 1)
        return oc_op_fail(c, "invalid q_num_heads %lld, kv_num_heads %lld", (long long)d->hq,
                          (long long)d->hkv);
    if (!oc_split_dim(c, q->dim[2], d->hq, &d->dk))
        return head_error(c, "Q", q->dim[2], d->hq);
    if (!oc_split_dim(c, v->dim[2], d->hkv, &d->dv))
        return head_error(c, "V", v->dim[2], d->hkv);
    return 0;
}

/* 1: all known, 0: a rank is missing, -1: error */
static int attention_read_dims(struct oc_op_ctx *c, struct oc_heads *d)
{
    const struct oc_shape *q = oc_in_shape(c, Q), *k = oc_in_shape(c, K), *v = oc_in_shape(c, V);
    if (!q->ranked || !k->ranked || !v->ranked)
        return 0;
    if (q->rank != k->rank || q->rank != v->rank || (q->rank != 3 && q->rank != 4))
        return oc_op_fail(c, "invalid operand ranks %u, %u, %u", q->rank, k->rank, v->rank);
    *d = (struct oc_heads){.batch = q->dim[0]};
    if (q->rank == 3) {
        if (flat_dims(c, q, k, v, d))
            return -1;
    } else {
        d->hq = oc_is_known(q->dim[1]) ? q->dim[1].v : 0;
        d->hkv = oc_is_known(k->dim[1]) ? k->dim[1].v : 0;
        d->sq = q->dim[2];
        d->skv = k->dim[2];
        d->dk = q->dim[3];
        d->dv = v->dim[3];
    }
    d->past = oc_past_tokens(c, PAST_K, 4);
    d->total = oc_dim_add(c->exprs, d->past, d->skv);
    return 1;
}

static int shape_attention(struct oc_op_ctx *c)
{
    struct oc_heads d = {.hq = 0};
    int known = attention_read_dims(c, &d);
    if (known <= 0) {
        for (unsigned i = 0; i < 4; i++)
            oc_set_out(c, i, oc_in_dtype(c, 0), oc_shape_unranked());
        return known;
    }
    const struct oc_shape *q = oc_in_shape(c, Q), *k = oc_in_shape(c, K);
    bool is_flat = q->rank == 3;
    struct oc_dim hq = is_flat ? oc_known(d.hq) : q->dim[1], hkv = is_flat ? oc_known(d.hkv) : k->dim[1];
    struct oc_dim flat[3] = {d.batch, d.sq, oc_dim_mul(c->exprs, hq, d.dv)};
    struct oc_dim y[4] = {d.batch, hq, d.sq, d.dv};
    struct oc_dim key[4] = {d.batch, hkv, d.total, d.dk}, value[4] = {d.batch, hkv, d.total, d.dv};
    struct oc_dim scores[4] = {d.batch, hq, d.sq, d.total};
    unsigned kt = oc_in_dtype(c, oc_in(c, PAST_K) ? PAST_K : K),
             vt = oc_in_dtype(c, oc_in(c, PAST_V) ? PAST_V : V);
    oc_set_out(c, 0, oc_in_dtype(c, 0),
               is_flat ? oc_shape_of(c->arena, 3, flat) : oc_shape_of(c->arena, 4, y));
    oc_set_out(c, 1, kt, oc_shape_of(c->arena, 4, key));
    oc_set_out(c, 2, vt, oc_shape_of(c->arena, 4, value));
    oc_set_out(c, 3, oc_in_dtype(c, 0), oc_shape_of(c->arena, 4, scores));
    return 0;
}

/* With an external cache (nonpad_kv_seqlen) every sequence has its own offset: length - Sq. */
static void report_external(struct oc_op_ctx *c, struct oc_attention *a)
{
    uint32_t n;
    const int64_t *length = oc_in_ints(c, NONPAD, &n);
    if (a->queries > INT64_MAX || a->keys > INT64_MAX) {
        c->overflow = true;
        return;
    }
    if (!length || n != a->batch || c->opt.attention_full) {
        if (!length && a->causal)
            c->assumption = "nonpad_kv_seqlen is unknown: assumed a full cache";
        a->offset = (int64_t)a->keys - (int64_t)a->queries;
        oc_report_attention(c, a);
        return;
    }
    uint64_t pairs = 0;
    for (uint32_t i = 0; i < n; i++)
        pairs = oc_c_add(c, pairs,
                         oc_visible_pairs(c, a->queries, a->keys, length[i] - (int64_t)a->queries, a->left,
                                          a->right, a->causal));
    oc_report_pairs(c, a, pairs);
}

/* Separate buffers of past and present unless --count kv-share says otherwise: the past is read in full, once to
 * attend. */
static void count_past(struct oc_op_ctx *c, struct oc_cost *k, const struct oc_heads *d,
                       const struct oc_attention *a)
{
    const struct oc_shape *key = oc_in_shape(c, K);
    struct oc_dim heads = key->rank == 3 ? oc_known(d->hkv) : key->dim[1];
    uint64_t past = oc_c_dim(c, d->past), rows = oc_c_mul(c, a->batch, oc_c_dim(c, heads));
    bool shared = oc_kv_shared(c, false);
    struct oc_kv_cache v = {.past = past,
                            .seen = shared ? oc_window_keys(past, a->offset, a->left) : past,
                            .fresh = oc_c_dim(c, d->skv),
                            .shared = shared};
    for (unsigned i = 0; i < 2; i++) {
        v.past_slot = PAST_K + i;
        v.present_slot = 1 + i;
        v.token = oc_c_mul(c, rows, i ? a->dv : a->dk);
        oc_count_kv_cache(c, k, &v);
    }
}

static void use_softmax_precision(const struct oc_op_ctx *c, struct oc_cost *k)
{
    int64_t dtype = oc_attr_i(c, "softmax_precision", 0);
    if (dtype > 0 && dtype < OC_DT_COUNT && oc_dtype_info((unsigned)dtype)->kind == OC_KIND_FLOAT)
        k->rest_class = oc_dtype_info((unsigned)dtype)->cls;
}

static int attention_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    struct oc_heads d = {.hq = 0};
    int known = attention_read_dims(c, &d);
    if (known <= 0 || d.hq < 1)
        return known < 0 ? -1 : oc_cost_unknown(c);
    struct oc_attention a = oc_attention_of(c, &d);
    a.left = oc_attr_i(c, "left_window_size", -1);
    a.right = oc_attr_i(c, "right_window_size", -1);
    a.causal = oc_attr_i(c, "is_causal", 0) != 0;
    a.masked = oc_in(c, MASK) != NULL;
    a.softcap = oc_attr_f(c, "softcap", 0.0F) != 0.0F;
    if (oc_has_attr(c, "score_mod") || oc_has_attr(c, "prob_mod"))
        c->assumption = "the score modification bodies are not counted";
    use_softmax_precision(c, k);
    if (oc_in(c, NONPAD))
        report_external(c, &a);
    else
        oc_report_attention(c, &a);
    count_past(c, k, &d, &a);
    return 0;
}
static const char attention_formula[] = OC_ATTENTION_FORMULA;

static const struct oc_op attention_rows[] = {
    {OC_OP_ROW("", "Attention", 23, ATTENTION, NULL, shape_attention), OC_COST(attention),
     .flags = OC_F_FUNCTION,
     .kv = &(const struct oc_op_kv){.pair = {{4, 1}, {5, 2}}, .shared = OC_KV_SHARED_NEVER}},
    {OC_OP_ROW("ai.onnx.preview", "FlexAttention", 1, ATTENTION, NULL, shape_attention),
     .flags = OC_F_LOW_CONFIDENCE | OC_F_FUNCTION, OC_COST(attention)},
};
OC_FAMILY(attention, attention_rows);

/* ---- rotary embeddings -------------------------------------------------------------------------------- */

/* Rotary position embeddings. cost-semantics 4.12, 5.6: only the rows of the caches in use are read. */

/* Slots: ai.onnx (X, cos, sin, position_ids), com.microsoft (input, position_ids, cos, sin). */
struct rotary_kind {
    uint8_t cos, positions;
};
static const struct rotary_kind onnx = {.cos = 1, .positions = 3};
static const struct rotary_kind ms = {.cos = 2, .positions = 1};

/* Axes of x: [B, H, S, d] or [B, S, H*d]. */
static bool head_size(struct oc_op_ctx *c, const struct oc_shape *x, struct oc_dim *size)
{
    int64_t heads = oc_attr_i(c, "num_heads", 0);
    if (x->rank == 4) {
        *size = x->dim[3];
        return true;
    }
    return x->rank == 3 && heads > 0 && oc_split_dim(c, x->dim[2], heads, size);
}

/* Rotated elements: all, or rotary_embedding_dim of every head. */
static uint64_t rotated_elements(struct oc_op_ctx *c, const struct oc_shape *x)
{
    int64_t part = oc_attr_i(c, "rotary_embedding_dim", 0);
    uint64_t n = oc_c_in(c, 0);
    struct oc_dim head;
    if (part <= 0 || !head_size(c, x, &head))
        return n;
    uint64_t size = oc_c_dim(c, head);
    return size && (uint64_t)part < size ? oc_c_mul(c, n / size, (uint64_t)part) : n;
}

static int rotary_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    const struct rotary_kind *kind = c->op->param;
    const struct oc_shape *x = oc_in_shape(c, 0), *cache = oc_in_shape(c, kind->cos);
    if (!x->ranked || (x->rank != 3 && x->rank != 4))
        return oc_cost_unknown(c);
    oc_report_rope(c, rotated_elements(c, x));
    if (!oc_in(c, kind->positions) || !cache->ranked || cache->rank == 0)
        return 0;
    uint64_t rows = oc_c_mul(c, oc_c_dim(c, x->dim[0]), oc_c_dim(c, x->dim[x->rank == 4 ? 2 : 1]));
    uint64_t n = oc_c_mul(c, rows, oc_c_dim(c, cache->dim[cache->rank - 1]));
    oc_limit_read(c, k, kind->cos, n);
    oc_limit_read(c, k, kind->cos + 1U, n);
    return 0;
}
static const char rotary_formula[] = OC_ROPE_FORMULA;

/* GemmaRotaryEmbedding(emb, q, q_rot, k, k_rot): sin and cos of emb, then the rotation of q and k. */
static int shape_gemma(struct oc_op_ctx *c)
{
    oc_set_out_type(c, 0, oc_in(c, 1));
    oc_set_out_type(c, 1, oc_in(c, 3));
    return 0;
}

static int gemma_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    (void)k;
    oc_report_rope(c, oc_c_add(c, oc_c_in(c, 1), oc_c_in(c, 3)));
    return 0;
}
static const char gemma_formula[] = "SIN = 2*N(x)"
                                    "; " OC_ROPE_FORMULA;

static const struct oc_op rotary_rows[] = {
    {OC_OP_ROW("com.microsoft", "GemmaRotaryEmbedding", 1, ATTENTION, NULL, shape_gemma), OC_COST(gemma),
     .kernel = OC_KC_ELEMENTWISE},
    {OC_OP_ROW("com.microsoft", "MRotaryEmbedding", 1, ATTENTION, "..t", oc_shape_same), OC_COST(rotary),
     .param = &ms, .kernel = OC_KC_ELEMENTWISE},
    {OC_OP_ROW("", "RotaryEmbedding", 23, ATTENTION, ".tt.", oc_shape_same), OC_COST(rotary), .param = &onnx,
     .kernel = OC_KC_ELEMENTWISE, .flags = OC_F_FUNCTION},
    {OC_OP_ROW("com.microsoft", "RotaryEmbedding", 1, ATTENTION, "..t", oc_shape_same), OC_COST(rotary),
     .param = &ms, .kernel = OC_KC_ELEMENTWISE},
};
OC_FAMILY(rotary, rotary_rows);
