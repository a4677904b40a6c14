/* Cost of attention (cost-semantics 4.12): visible pairs and their work. */
#ifndef OC_ATTENTION_H
#define OC_ATTENTION_H

#include "ops/op.h"

struct oc_attention {
    uint64_t batch, heads;  /* sequences, query heads */
    uint64_t queries, keys; /* per sequence; keys include those of the cache */
    uint64_t dk, dv;        /* per head */
    int64_t offset;         /* keys before the first query */
    int64_t left, right;    /* window, -1: none */
    bool causal, masked, softcap, sink;
};

/* Sum over the queries i of the keys within [p - left, p + right], p = i + offset, causal: right = 0. Closed
 * form, in constant time. */
uint64_t oc_visible_pairs(struct oc_op_ctx *c, uint64_t queries, uint64_t keys, int64_t offset, int64_t left,
                          int64_t right, bool causal);

/* Formulas of the two functions below, and of oc_add_rope. V: visible pairs of all heads. */
#define OC_ATTENTION_FORMULA                                                                                 \
    "MAC = V*(dk + dv); MUL = V + softcap*V; ADD = masked*V + 2*V + sinks; CMP = V; EXP = V + sinks; "       \
    "DIV = V + softcap*V; TANH = softcap*V; sinks := 0"
#define OC_ROPE_FORMULA "MUL = 2*rotated; ADD = rotated; rotated := 0"

/* MAC, scale, mask, softcap and softmax of the pairs. */
void oc_add_attention(struct oc_op_ctx *c, struct oc_cost *k, const struct oc_attention *a);

/* The same for pairs counted by the caller (per head, over all sequences). */
void oc_add_attention_pairs(struct oc_op_ctx *c, struct oc_cost *k, const struct oc_attention *a,
                            uint64_t pairs);

/* Rotation of n elements: 2 MUL + ADD each. */
void oc_add_rope(struct oc_op_ctx *c, struct oc_cost *k, uint64_t n);

/* Keys of the cache that are visible to any query through the window. */
uint64_t oc_window_keys(uint64_t past, int64_t offset, int64_t left);

/* Whether past and present share one buffer: --kv-share, else the operator's default. */
bool oc_kv_shared(const struct oc_op_ctx *c, bool by_itself);

/* Bytes of one cache (cost-semantics 5.6). Slots of the past among the inputs and of the present among the
 * outputs; sizes in elements: per token, over all sequences and heads; tokens in the past, visible tokens,
 * and new ones. A separate buffer for the present is written in full, for which the past is read once more.
 */
struct oc_kv_cache {
    unsigned past_slot, present_slot;
    uint64_t token, past, seen, fresh;
    bool shared;
};
void oc_count_kv_cache(struct oc_op_ctx *c, struct oc_cost *k, const struct oc_kv_cache *v);

/* Exact total / parts: false when known and not divisible, or parts < 1. */
bool oc_split_dim(struct oc_op_ctx *c, struct oc_dim total, int64_t parts, struct oc_dim *out);

/* Lowers (never raises) the bytes read from a slot. */
void oc_limit_read(struct oc_op_ctx *c, struct oc_cost *k, unsigned slot, uint64_t elements);

#endif
