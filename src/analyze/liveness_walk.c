/* Walks a graph: creates buffers, records their uses, sums live bytes by step. */
#include "analyze/liveness.h"

#include <stdlib.h>
#include <string.h>

#include "base/ck.h"

static bool liveness_walk_runs(const struct oc_live_walk *w, const struct oc_node_cost *k)
{
    return k->state != OC_NODE_NOT_TAKEN &&
           (w->b->o.all || (k->state != OC_NODE_FOLDED && k->state != OC_NODE_ABSORBED));
}

static void flatten(struct oc_live_walk *w, uint32_t graph)
{
    const struct oc_model *m = w->b->m;
    const struct oc_graph *g = &m->graph[graph];
    for (uint32_t i = 0; i < g->n_node; i++) {
        uint32_t node = g->node[i];
        const struct oc_node_cost *k = &w->b->a->cost[node];
        if (m->node[node].kind == OC_NODE_CALL && k->state == OC_NODE_CONTAINER) {
            flatten(w, m->node[node].body);
        } else if (liveness_walk_runs(w, k) && !oc_node_is_constant(&m->node[node])) {
            OC_GROW(w->step, w->n, w->cap);
            w->step[w->n++] = node;
        }
    }
}

uint32_t oc_live_resolve(struct oc_live_builder *b, uint32_t i)
{
    while (i < OC_LIFE_CALLER && b->slot[i].into != i) {
        uint32_t next = b->slot[i].into;
        if (next < OC_LIFE_CALLER)
            b->slot[i].into = b->slot[next].into;
        i = next;
    }
    return i;
}

static uint32_t live_tie_root(struct oc_live_builder *b, uint32_t i)
{
    while (b->slot[i].tie != i)
        i = b->slot[i].tie = b->slot[b->slot[i].tie].tie;
    return i;
}

/* The value's buffer in this graph; OC_LIFE_NONE also for one of an outer graph. */
uint32_t oc_live_own(const struct oc_live_walk *w, uint32_t value)
{
    uint32_t i = value == OC_NONE ? OC_LIFE_NONE : oc_live_resolve(w->b, w->b->of[value]);
    return i < OC_LIFE_CALLER && i < w->base ? OC_LIFE_NONE : i;
}

/* Read by something other than the host. */
static bool liveness_walk_on_device(const struct oc_live_builder *b, uint32_t value)
{
    const struct oc_value *v = &b->m->value[value];
    return !v->n_use || v->graph_output || v->n_use > b->host_reads[value];
}

static bool needs_memory(const struct oc_live_builder *b, uint32_t value)
{
    uint32_t producer = b->m->value[value].producer;
    bool constant = b->a->is_const[value];
    if (b->o.all)
        return !constant || (producer != OC_NONE && !oc_node_is_constant(&b->m->node[producer]));
    return !constant && liveness_walk_on_device(b, value);
}

static void create_buffer(struct oc_live_walk *w, uint32_t value, uint32_t step)
{
    struct oc_live_builder *b = w->b;
    if (value == OC_NONE || b->of[value] != OC_LIFE_NONE || !needs_memory(b, value))
        return;
    OC_GROW(b->slot, b->n, b->cap);
    struct oc_live_slot *s = &b->slot[b->n];
    *s = (struct oc_live_slot){.l = {.value = value, .first = step, .last = step}, .into = b->n, .tie = b->n};
    s->l.bytes = oc_live_bytes(b, value, &s->l.quality);
    b->of[value] = b->n++;
}

static void live_used(struct oc_live_walk *w, uint32_t value, uint32_t step)
{
    uint32_t i = oc_live_own(w, value);
    if (i >= OC_LIFE_CALLER)
        return;
    struct oc_life *root = &w->b->slot[live_tie_root(w->b, i)].l;
    root->last = step > root->last ? step : root->last;
}

static void tie(struct oc_live_builder *b, uint32_t i, uint32_t k)
{
    i = live_tie_root(b, i);
    k = live_tie_root(b, k);
    if (i == k)
        return;
    b->slot[i].tied = b->slot[k].tied = true;
    b->slot[k].tie = i;
    if (b->slot[k].l.last > b->slot[i].l.last)
        b->slot[i].l.last = b->slot[k].l.last;
}

/* The elements of a sequence are live as long as the sequence. */
static uint32_t liveness_walk_elements(struct oc_live_walk *w, const struct oc_node *n)
{
    uint32_t first = OC_LIFE_NONE;
    for (uint32_t k = 0; k < n->n_in; k++) {
        uint32_t i = n->in[k] == OC_NONE ? OC_LIFE_NONE : oc_live_resolve(w->b, w->b->of[n->in[k]]);
        if (i >= OC_LIFE_CALLER || i < w->base)
            continue;
        if (first == OC_LIFE_NONE)
            first = i;
        else
            tie(w->b, first, i);
    }
    return first;
}

static bool may_be_same_bytes(const struct oc_live_builder *b, uint32_t x, uint32_t y)
{
    uint8_t qx, qy;
    return oc_live_bytes(b, x, &qx) == oc_live_bytes(b, y, &qy) || qx != OC_EXACT || qy != OC_EXACT;
}

/* The value whose memory a view shares: the first input of its size, or the container it comes from. */
static uint32_t view_source(const struct oc_live_builder *b, uint32_t node)
{
    const struct oc_node *n = &b->m->node[node];
    if (oc_op_is(b->a->op[node], OC_F_TYPE_ONLY))
        return OC_LIFE_NONE; /* these move no data either */
    for (uint32_t k = 0; k < n->n_in; k++) {
        uint32_t v = n->in[k];
        if (v != OC_NONE && b->of[v] != OC_LIFE_NONE && oc_op_slot(b->a->op[node], k) != 'm' &&
            (b->a->type[v].kind != OC_T_TENSOR || may_be_same_bytes(b, v, n->out[0])))
            return b->of[v];
    }
    return OC_LIFE_NONE;
}

/* ONNX Runtime shares memory only where the kernel declares an alias, and never with a graph output. */
static bool shares_memory(const struct oc_live_walk *w, uint32_t step, uint32_t value)
{
    const struct oc_live_builder *b = w->b;
    uint32_t node = w->step[step];
    if (!b->a->cost[node].view || b->o.order != OC_ORDER_ORT || b->a->type[value].kind != OC_T_TENSOR)
        return b->a->cost[node].view;
    return oc_op_is(b->a->op[node], OC_F_VIEW) && !b->m->value[value].graph_output;
}

static void outputs_born(struct oc_live_walk *w, uint32_t step)
{
    const struct oc_node *n = &w->b->m->node[w->step[step]];
    for (uint32_t i = 0; i < n->n_out; i++) {
        uint32_t v = n->out[i], source = OC_LIFE_NONE;
        if (v == OC_NONE || w->b->of[v] != OC_LIFE_NONE)
            continue;
        if (i == 0 && shares_memory(w, step, v)) {
            uint8_t kind = w->b->a->type[v].kind;
            bool container = kind == OC_T_SEQUENCE || kind == OC_T_OPTIONAL;
            w->b->of[v] = source =
                container ? liveness_walk_elements(w, n) : view_source(w->b, w->step[step]);
            if (container)
                continue;
        }
        if (source == OC_LIFE_NONE)
            create_buffer(w, v, step);
    }
}

static void inputs_born(struct oc_live_walk *w, bool main_graph)
{
    struct oc_live_builder *b = w->b;
    for (uint32_t i = 0; i < w->g->n_input; i++) {
        uint32_t v = w->g->input[i], at = b->n;
        if (v != OC_NONE && main_graph && b->o.without_inputs && !b->a->is_const[v]) {
            b->of[v] = OC_LIFE_CALLER;
            continue;
        }
        create_buffer(w, v, 0);
        if (b->n > at) {
            b->slot[at].l.input = true;
            b->slot[at].fixed = !main_graph;
        }
    }
}

static void walk_steps(struct oc_live_walk *w)
{
    const struct oc_model *m = w->b->m;
    for (uint32_t i = 0; i < w->n; i++) {
        const struct oc_node *n = &m->node[w->step[i]];
        for (uint32_t k = 0; k < n->n_in; k++)
            live_used(w, n->in[k], i);
        uint32_t c = oc_first_capture(m->capture, m->n_capture, w->step[i]);
        for (; c < m->n_capture && m->capture[c].node == w->step[i]; c++)
            live_used(w, m->capture[c].value, i);
        outputs_born(w, i);
    }
    for (uint32_t i = 0; i < w->g->n_output; i++) {
        uint32_t s = oc_live_own(w, w->g->output[i]);
        if (s < OC_LIFE_CALLER) {
            w->b->slot[s].l.output = true;
            live_used(w, w->g->output[i], w->n ? w->n - 1 : 0);
        }
    }
}

/* ---- live bytes, peak and lower bound ----------------------------------------------------------------- */

/* Loop-carried inputs of a body, live from the first one. */
static void add_carried(const struct oc_live_walk *w, uint32_t *from, uint32_t *to)
{
    const struct oc_node *n = &w->b->m->node[w->g->parent_node];
    int64_t scanned = oc_node_int(n, "num_scan_inputs", -1);
    *from = *to = 0;
    const struct oc_op *op = w->b->a->op[w->g->parent_node];
    unsigned body = op ? op->body : OC_BODY_NONE;
    if (body == OC_BODY_LOOP) {
        *from = 2;
        *to = w->g->n_input;
    } else if (body == OC_BODY_SCAN && scanned >= 0 && scanned <= w->g->n_input) {
        *to = w->g->n_input - (uint32_t)scanned;
    }
}

static void extend_life(struct oc_live_walk *w, uint32_t value)
{
    if (w->n && value != OC_NONE)
        live_used(w, value, w->n - 1);
}

/* Extends live ranges beyond the uses, and excludes buffers of the outer graph. */
static void borders(struct oc_live_walk *w, bool main_graph)
{
    uint32_t from = 0, to = main_graph && w->b->o.keep_inputs ? w->g->n_input : 0;
    if (!main_graph)
        add_carried(w, &from, &to);
    for (uint32_t i = from; i < to; i++)
        extend_life(w, w->g->input[i]);
    for (uint32_t i = 0; i < w->g->n_output && !main_graph; i++) {
        uint32_t s = oc_live_own(w, w->g->output[i]);
        if (s < OC_LIFE_CALLER && !w->b->slot[s].l.input)
            w->b->slot[s].l.bytes = 0; /* it is the output buffer of the control-flow node */
    }
}

/* The largest peak among the node's bodies. */
static void add_bodies(struct oc_live_walk *w, uint32_t step, uint64_t *peak, uint64_t *lower)
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
        l->last = w->b->slot[live_tie_root(w->b, i)].l.last;
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
    for (uint32_t k = 0; w->b->o.inplace && k < n->n_in; k++)
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
            add_bodies(w, i, &inner, &lower);
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

static void live_sum(struct oc_live_walk *w, bool main_graph)
{
    borders(w, main_graph);
    sum_liveness(w);
    find_peak(w);
}

/* ---- walk of a graph ---------------------------------------------------------------------------------- */

void oc_live_walk(struct oc_live_builder *b, uint32_t graph, bool main_graph, struct oc_live_walk *w)
{
    *w = (struct oc_live_walk){
        .b = b, .g = &b->m->graph[graph], .base = b->n, .peak_step = OC_NONE, .quality = OC_EXACT};
    if (main_graph) {
        w->cap = b->m->n_node + 1;
        w->step = oc_xmalloc(w->cap * sizeof(*w->step));
    }
    flatten(w, graph);
    if (b->made_by)
        oc_live_order(w, main_graph);
    w->live = oc_xcalloc((size_t)w->n + 2, sizeof(*w->live));
    w->inner = oc_xcalloc((size_t)w->n + 1, sizeof(*w->inner));
    inputs_born(w, main_graph);
    walk_steps(w);
    oc_live_reuse(w);
    live_sum(w, main_graph);
}

/* A report may walk the same body again. */
static void reset_values(struct oc_live_walk *w)
{
    struct oc_live_builder *b = w->b;
    for (uint32_t i = 0; i < w->g->n_input; i++)
        if (w->g->input[i] != OC_NONE)
            b->of[w->g->input[i]] = OC_LIFE_NONE;
    for (uint32_t i = 0; i < w->n; i++) {
        const struct oc_node *n = &b->m->node[w->step[i]];
        for (uint32_t k = 0; k < n->n_out; k++)
            if (n->out[k] != OC_NONE)
                b->of[n->out[k]] = OC_LIFE_NONE;
    }
    b->n = w->base;
}

void oc_live_walk_end(struct oc_live_walk *w, bool main_graph)
{
    if (!main_graph)
        reset_values(w);
    free(w->step);
    free(w->live);
    free(w->inner);
}
