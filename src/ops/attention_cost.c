#include "ops/attention_cost.h"
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

void oc_add_attention_pairs(struct oc_op_ctx *c, struct oc_cost *k, const struct oc_attention *a,
                            uint64_t pairs)
{
    static const struct oc_prims softcap[] = {{OC_DIV, 1}, {OC_TANH, 1}, {OC_MUL, 1}, {0, 0}};
    static const struct oc_prims softmax[] = {{OC_CMP, 1}, {OC_ADD, 2}, {OC_EXP, 1}, {OC_DIV, 1}, {0, 0}};
    uint64_t v = oc_c_mul(c, a->heads, pairs);
    oc_tell(c, "V", v);
    oc_tell(c, "dk", a->dk);
    oc_tell(c, "dv", a->dv);
    oc_tell(c, "masked", a->masked);
    oc_tell(c, "softcap", a->softcap);
    oc_add(c, k, OC_MAC, oc_c_mul(c, v, oc_c_add(c, a->dk, a->dv)));
    oc_add(c, k, OC_MUL, v);
    if (a->masked)
        oc_add(c, k, OC_ADD, v);
    if (a->softcap)
        oc_add_prims(c, k, softcap, v);
    oc_add_prims(c, k, softmax, v);
    if (a->sink) {
        uint64_t rows = oc_c_mul(c, oc_c_mul(c, a->batch, a->heads), a->queries);
        oc_tell(c, "sinks", rows);
        oc_add(c, k, OC_ADD, rows);
        oc_add(c, k, OC_EXP, rows);
    }
}

void oc_add_attention(struct oc_op_ctx *c, struct oc_cost *k, const struct oc_attention *a)
{
    uint64_t pairs = c->opt.attention_full
                         ? oc_c_mul(c, a->queries, a->keys)
                         : oc_visible_pairs(c, a->queries, a->keys, a->offset, a->left, a->right, a->causal);
    oc_add_attention_pairs(c, k, a, oc_c_mul(c, a->batch, pairs));
}

void oc_add_rope(struct oc_op_ctx *c, struct oc_cost *k, uint64_t n)
{
    oc_tell(c, "rotated", n);
    oc_add(c, k, OC_MUL, oc_c_mul(c, 2, n));
    oc_add(c, k, OC_ADD, n);
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
