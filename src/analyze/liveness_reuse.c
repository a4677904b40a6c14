/* Buffer reuse: outputs that take over an input buffer that dies (caches, element-wise operators in place).
 */
#include "analyze/liveness.h"
#include "onnxcost.h"

/* ---- caches ----------------------------------------------------------------------------------------- */

static bool asks_to_share(const struct oc_op_kv *kv, const struct oc_node *n)
{
    const struct oc_attr *a = oc_node_attr(n, "past_present_share_buffer");
    return (a && a->i) || (kv->length && kv->length < n->n_in && n->in[kv->length] != OC_NONE);
}

static bool cache_is_shared(const struct oc_op_kv *kv, const struct oc_node *n, unsigned share)
{
    if (kv->shared == OC_KV_SHARED_IN_PLACE)
        return true;
    if (share != OC_KV_AUTO)
        return share == OC_KV_ON;
    return kv->shared == OC_KV_SHARED_ALWAYS || (kv->shared == OC_KV_SHARED_IF_ASKED && asks_to_share(kv, n));
}

uint32_t oc_cache_slot(const struct oc_op *op, const struct oc_node *n, uint32_t output, unsigned share)
{
    const struct oc_op_kv *kv = op ? op->kv : NULL;
    for (unsigned k = 0; kv && k < 2; k++)
        if (kv->pair[k].out == output && kv->pair[k].in < n->n_in && n->in[kv->pair[k].in] != OC_NONE)
            return cache_is_shared(kv, n, share) ? kv->pair[k].in : OC_NONE;
    return OC_NONE;
}

bool oc_cache_slots(const struct oc_node *n, unsigned k, uint32_t *in, uint32_t *out)
{
    const struct oc_op *op = oc_op_find(n->domain, n->op_type, n->opset);
    const struct oc_op_kv *kv = op ? op->kv : NULL;
    if (!kv || kv->pair[0].in == kv->pair[1].in)
        return false;
    *in = kv->pair[k].in;
    *out = kv->pair[k].out;
    return *in < n->n_in && *out < n->n_out;
}

/* ---- operators in place ----------------------------------------------------------------------------- */

static bool writes_in_place(const struct oc_op *op)
{
    return oc_op_is(op, OC_F_UPDATES) || (op && op->op_class == OC_OP_ELEMENTWISE);
}

bool oc_live_may_reuse(const struct oc_live_walk *w, uint32_t step, uint32_t value)
{
    const struct oc_node *n = &w->b->m->node[w->step[step]];
    if (!w->b->o.inplace || !n->n_out || !writes_in_place(w->b->a->op[w->step[step]]))
        return false;
    uint32_t in = oc_live_own(w, value), out = oc_live_own(w, n->out[0]);
    if (in >= OC_LIFE_CALLER || out >= OC_LIFE_CALLER || in == out)
        return false;
    const struct oc_live_slot *x = &w->b->slot[in], *y = &w->b->slot[out];
    return x->l.bytes == y->l.bytes && x->l.quality != OC_UNKNOWN && y->l.quality != OC_UNKNOWN &&
           !x->fixed && !x->l.output && !x->tied && !y->tied && !(x->l.input && w->b->o.keep_inputs);
}

static void move_into(struct oc_live_builder *b, uint32_t from, uint32_t to)
{
    struct oc_life *x = &b->slot[to].l;
    const struct oc_life *y = &b->slot[from].l;
    x->last = y->last > x->last ? y->last : x->last;
    x->bytes = y->bytes > x->bytes ? y->bytes : x->bytes;
    x->quality = oc_worse_quality(x->quality, y->quality);
    x->output |= y->output;
    b->slot[from].into = to;
}

/* An output that updates its input in place, unless the input is still needed. */
static void keep_cache(struct oc_live_walk *w, const struct oc_node *n, uint32_t k, uint32_t step)
{
    uint32_t slot = oc_cache_slot(w->b->a->op[w->step[step]], n, k, w->b->o.kv_share);
    uint32_t out = oc_live_own(w, n->out[k]),
             in = slot == OC_NONE ? OC_LIFE_NONE : oc_live_own(w, n->in[slot]);
    if (out >= OC_LIFE_CALLER || in == OC_LIFE_NONE || in == out)
        return;
    if (in == OC_LIFE_CALLER) {
        w->b->slot[out].into = OC_LIFE_CALLER;
        return;
    }
    const struct oc_live_slot *x = &w->b->slot[in];
    if (x->l.last == step && !x->l.output && !x->tied && !x->fixed && !w->b->slot[out].tied)
        move_into(w->b, out, in);
}

static void work_in_place(struct oc_live_walk *w, const struct oc_node *n, uint32_t step)
{
    for (uint32_t k = 0; k < n->n_in; k++) {
        uint32_t in = oc_live_own(w, n->in[k]);
        if (oc_live_may_reuse(w, step, n->in[k]) && w->b->slot[in].l.last == step) {
            move_into(w->b, oc_live_own(w, n->out[0]), in);
            return;
        }
    }
}

void oc_live_reuse(struct oc_live_walk *w)
{
    for (uint32_t i = 0; i < w->n; i++) {
        const struct oc_node *n = &w->b->m->node[w->step[i]];
        for (uint32_t k = 0; k < n->n_out; k++)
            if (n->out[k] != OC_NONE)
                keep_cache(w, n, k, i);
        work_in_place(w, n, i);
    }
}
