/* Live bytes by step, the peak and the lower bound. */
#include <stdlib.h>
#include <string.h>

#include "analyze/liveness.h"
#include "base/ck.h"

/* Loop-carried inputs of a body, live from the first one. */
static void liveness_sum_carried(const struct oc_live_walk *w, uint32_t *from, uint32_t *to)
{
    const struct oc_node *n = &w->b->m->node[w->g->parent_node];
    const struct oc_attr *a = oc_node_attr(n, "num_scan_inputs");
    *from = *to = 0;
    const struct oc_op *op = w->b->a->op[w->g->parent_node];
    unsigned body = op ? op->body : OC_BODY_NONE;
    if (body == OC_BODY_LOOP) {
        *from = 2;
        *to = w->g->n_input;
    } else if (body == OC_BODY_SCAN && a && a->i >= 0 && (uint64_t)a->i <= w->g->n_input) {
        *to = w->g->n_input - (uint32_t)a->i;
    }
}

static void extend_life(struct oc_live_walk *w, uint32_t value)
{
    if (w->n && value != OC_NONE)
        oc_live_used(w, value, w->n - 1);
}

/* Extends live ranges beyond the uses, and excludes buffers of the outer graph. */
static void borders(struct oc_live_walk *w, bool main_graph)
{
    uint32_t from = 0, to = main_graph && w->b->o.keep_inputs ? w->g->n_input : 0;
    if (!main_graph)
        liveness_sum_carried(w, &from, &to);
    for (uint32_t i = from; i < to; i++)
        extend_life(w, w->g->input[i]);
    for (uint32_t i = 0; i < w->g->n_output && !main_graph; i++) {
        uint32_t s = oc_live_own(w, w->g->output[i]);
        if (s < OC_LIFE_CALLER && !w->b->slot[s].l.input)
            w->b->slot[s].l.bytes = 0; /* it is the output buffer of the control-flow node */
    }
}

/* The largest peak among the node's bodies. */
static void liveness_sum_bodies(struct oc_live_walk *w, uint32_t step, uint64_t *peak, uint64_t *lower)
{
    const struct oc_node *n = &w->b->m->node[w->step[step]];
    *peak = *lower = 0;
    for (uint32_t a = 0; a < n->n_attr; a++)
        for (uint32_t i = 0; n->attr[a].graph && i < n->attr[a].n; i++) {
            if (w->b->a->graph_use[n->attr[a].graph[i]] != OC_G_RUN)
                continue;
            struct oc_live_walk body;
            oc_live_walk(w->b, n->attr[a].graph[i], false, &body);
            *peak = body.peak > *peak ? body.peak : *peak;
            *lower = body.lower > *lower ? body.lower : *lower;
            w->quality = oc_worse_quality(w->quality, body.quality);
            oc_live_walk_end(&body, false);
        }
}

static void sum_liveness(struct oc_live_walk *w)
{
    uint64_t all = 0;
    for (uint32_t i = w->base; i < w->b->n; i++) {
        struct oc_life *l = &w->b->slot[i].l;
        if (w->b->slot[i].into != i)
            continue;
        l->last = w->b->slot[oc_live_tie_root(w->b, i)].l.last;
        w->quality = oc_worse_quality(w->quality, l->quality);
        if (!w->n)
            continue;
        if (!oc_add_u64(all, l->bytes, &all))
            w->quality = OC_UNKNOWN;
        w->live[l->first] += l->bytes;
        w->live[l->last + 1] -= l->bytes; /* modulo 2^64: the running sum is exact nevertheless */
    }
    for (uint32_t i = 1; i < w->n; i++)
        w->live[i] += w->live[i - 1];
}

static uint64_t count_once(const struct oc_live_walk *w, uint32_t value, uint32_t step)
{
    uint32_t i = oc_live_own(w, value);
    if (i >= OC_LIFE_CALLER || w->b->slot[i].counted == step + 1)
        return 0;
    w->b->slot[i].counted = step + 1;
    return w->b->slot[i].l.bytes;
}

/* Lower bound: any order needs the distinct inputs and outputs of each single node. An output that could
 * reuse an input in some order counts 0. */
static uint64_t node_needs(const struct oc_live_walk *w, uint32_t step)
{
    const struct oc_model *m = w->b->m;
    const struct oc_node *n = &m->node[w->step[step]];
    uint64_t sum = 0;
    for (uint32_t k = 0; k < n->n_in; k++)
        sum += count_once(w, n->in[k], step);
    uint32_t c = oc_first_capture(m->capture, m->n_capture, w->step[step]);
    for (; c < m->n_capture && m->capture[c].node == w->step[step]; c++)
        sum += count_once(w, m->capture[c].value, step);
    for (uint32_t k = 0; k < n->n_in; k++)
        if (oc_live_may_reuse(w, step, n->in[k]))
            count_once(w, n->out[0], step);
    for (uint32_t k = 0; k < n->n_out; k++)
        sum += count_once(w, n->out[k], step);
    return sum;
}

static void find_peak(struct oc_live_walk *w)
{
    for (uint32_t i = 0; i < w->n; i++) {
        uint64_t inner = 0, lower = 0, needs = node_needs(w, i);
        if (w->b->m->node[w->step[i]].n_attr)
            liveness_sum_bodies(w, i, &inner, &lower);
        if (inner)
            w->inner[i] = inner;
        if (!oc_add_u64(w->live[i], inner, &w->live[i]) || !oc_add_u64(needs, lower, &needs))
            w->quality = OC_UNKNOWN;
        w->lower = needs > w->lower ? needs : w->lower;
        if (w->peak_step == OC_NONE || w->live[i] > w->peak) {
            w->peak = w->live[i];
            w->peak_step = i;
        }
    }
}

void oc_live_sum(struct oc_live_walk *w, bool main_graph)
{
    borders(w, main_graph);
    sum_liveness(w);
    find_peak(w);
}
