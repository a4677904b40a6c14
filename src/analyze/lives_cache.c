/* Operators with a cache: the output is the input after an update in place. */
#include <string.h>

#include "base/str.h"
#include "analyze/lives.h"

struct cache_op {
    const char *domain, *name;
    struct {
        uint8_t in, out;
    } pair[2];      /* in 0 and out 0 twice: one pair */
    uint8_t shared; /* default sharing of the operator */
    uint8_t length; /* IF_ASKED: slot of the past's length, 0: none */
};

enum { NEVER, IF_ASKED, ALWAYS, IN_PLACE /* independent of --kv-share */ };

#define MS "com.microsoft"
static const struct cache_op cache_ops[] = {
    {"", "Attention", {{4, 1}, {5, 2}}, NEVER, 0},
    {"", "TensorScatter", {{0, 0}, {0, 0}}, IN_PLACE, 0},
    {MS, "Attention", {{4, 1}, {4, 1}}, IF_ASKED, 0},
    {MS, "DecoderMaskedSelfAttention", {{4, 1}, {4, 1}}, IF_ASKED, 0},
    {MS, "MultiHeadAttention", {{6, 1}, {7, 2}}, IF_ASKED, 8},
    {MS, "DecoderMaskedMultiHeadAttention", {{5, 1}, {6, 2}}, IF_ASKED, 7},
    {MS, "GroupQueryAttention", {{3, 1}, {4, 2}}, ALWAYS, 0},
    {MS, "SparseAttention", {{3, 1}, {4, 2}}, ALWAYS, 0},
    {MS, "PagedAttention", {{3, 1}, {4, 2}}, ALWAYS, 0},
};

static bool is_requested(const struct cache_op *op, const struct oc_node *n)
{
    const struct oc_attr *a = oc_node_attr(n, "past_present_share_buffer");
    return (a && a->i) || (op->length && op->length < n->n_in && n->in[op->length] != OC_NONE);
}

static bool lives_cache_shares(const struct cache_op *op, const struct oc_node *n, enum oc_kv_share share)
{
    if (op->shared == IN_PLACE)
        return true;
    if (share != OC_KV_AUTO)
        return share == OC_KV_ON;
    return op->shared == ALWAYS || (op->shared == IF_ASKED && is_requested(op, n));
}

uint32_t oc_cache_slot(const struct oc_node *n, uint32_t output, enum oc_kv_share share)
{
    for (size_t i = 0; i < OC_COUNT(cache_ops); i++) {
        const struct cache_op *op = &cache_ops[i];
        if (!oc_equal(op->name, n->op_type) || !oc_equal(op->domain, n->domain))
            continue;
        for (unsigned k = 0; k < 2; k++)
            if (op->pair[k].out == output && op->pair[k].in < n->n_in && n->in[op->pair[k].in] != OC_NONE)
                return lives_cache_shares(op, n, share) ? op->pair[k].in : OC_NONE;
    }
    return OC_NONE;
}
