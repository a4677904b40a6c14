/* Activation memory (cost-semantics section 7): which buffers live while a node runs. A buffer lives from the
 * step of its producer to that of its last consumer; views share the buffer of their source; constants,
 * folded nodes, scalars and values that only the host reads take none. The body of a control-flow node adds
 * its own peak to the step of that node. */
#include <stdlib.h>
#include <string.h>

#include "analyze/engine.h"

struct plan { /* of one graph */
    struct oc_engine *e;
    uint32_t *step; /* node ids in order, function bodies in place of their calls */
    uint32_t n, cap;
    uint64_t *live;  /* by step, and one behind: differences, then bytes */
    uint8_t quality; /* enum oc_quality */
};

struct lives {              /* by value, shared by all graphs */
    uint32_t *buffer;       /* value whose memory it uses, OC_NONE: none */
    uint32_t *first, *last; /* steps, by buffer */
    bool *device;           /* read by something else than the host */
    uint64_t *bytes;        /* by buffer */
};

static void flatten(struct plan *p, uint32_t graph)
{
    const struct oc_model *m = p->e->m;
    const struct oc_graph *g = &m->graph[graph];
    for (uint32_t i = 0; i < g->n_node; i++) {
        uint32_t node = g->node[i];
        const struct oc_node_cost *k = &p->e->a->cost[node];
        if (m->node[node].kind == OC_NODE_CALL && k->state == OC_NODE_CONTAINER) {
            flatten(p, m->node[node].body);
        } else if (k->state != OC_NODE_FOLDED && k->state != OC_NODE_ABSORBED &&
                   k->state != OC_NODE_NOT_TAKEN) {
            OC_GROW(p->step, p->n, p->cap);
            p->step[p->n++] = node;
        }
    }
}

static uint64_t value_bytes(struct plan *p, uint32_t value)
{
    const struct oc_type *t = &p->e->a->type[value];
    uint64_t bytes = 0, count = 1;
    if (t->kind != OC_T_TENSOR || (t->shape.ranked && t->shape.rank == 0))
        return 0;
    if (!t->shape.ranked || t->dtype == OC_DT_UNDEFINED) {
        p->quality = OC_UNKNOWN;
        return 0;
    }
    for (unsigned i = 0; i < t->shape.rank; i++) {
        int64_t d = oc_dim_max_value(p->e->a->exprs, t->shape.dim[i]);
        if (d < 0 || __builtin_mul_overflow(count, (uint64_t)d, &count)) {
            p->quality = OC_UNKNOWN;
            return 0;
        }
        if (!oc_is_known(t->shape.dim[i]) && p->quality == OC_EXACT)
            p->quality = OC_UPPER;
    }
    if (!oc_bytes_of(t->dtype, count, &bytes))
        p->quality = OC_UNKNOWN;
    return bytes;
}

/* Gives the value memory from this step on, unless it needs none. */
static void born(struct plan *p, struct lives *l, uint32_t value, uint32_t step)
{
    if (value == OC_NONE || p->e->a->is_const[value] || l->buffer[value] != OC_NONE || !l->device[value])
        return;
    l->buffer[value] = value;
    l->first[value] = l->last[value] = step;
    l->bytes[value] = value_bytes(p, value);
}

static void used(struct lives *l, uint32_t value, uint32_t step)
{
    uint32_t b = value == OC_NONE ? OC_NONE : l->buffer[value];
    if (b != OC_NONE && step > l->last[b])
        l->last[b] = step;
}

static void outputs_born(struct plan *p, struct lives *l, uint32_t step)
{
    const struct oc_node *n = &p->e->m->node[p->step[step]];
    for (uint32_t i = 0; i < n->n_out; i++) {
        uint32_t v = n->out[i];
        bool view = p->e->a->cost[p->step[step]].alias && i == 0 && n->n_in && n->in[0] != OC_NONE;
        if (v != OC_NONE && view && l->buffer[n->in[0]] != OC_NONE) {
            l->buffer[v] = l->buffer[n->in[0]];
            used(l, v, step);
        } else {
            born(p, l, v, step);
        }
    }
}

/* Values that something else than the host's metadata slots reads. */
static void mark_device(const struct oc_engine *e, struct lives *l)
{
    for (uint32_t i = 0; i < e->m->n_node; i++) {
        const struct oc_node *n = &e->m->node[i];
        for (uint32_t k = 0; k < n->n_in; k++)
            if (n->in[k] != OC_NONE && oc_op_slot(e->a->op[i], k) != 'm')
                l->device[n->in[k]] = true;
    }
    for (uint32_t v = 0; v < e->m->n_value; v++)
        if (!e->m->value[v].n_use || e->m->value[v].graph_output)
            l->device[v] = true;
}

static uint64_t graph_peak(struct oc_engine *e, struct lives *l, uint32_t graph, uint8_t *quality,
                           uint32_t *node);

/* The largest need of the node's bodies; their values are apart from those of this graph. */
static uint64_t bodies_peak(struct plan *p, struct lives *l, uint32_t node)
{
    const struct oc_node *n = &p->e->m->node[node];
    uint64_t peak = 0;
    for (uint32_t a = 0; a < n->n_attr; a++)
        for (uint32_t i = 0; n->attr[a].graph && i < n->attr[a].n; i++) {
            uint32_t unused, body = n->attr[a].graph[i];
            if (p->e->graph_use[body] != OC_G_RUN)
                continue;
            uint64_t own = graph_peak(p->e, l, body, &p->quality, &unused);
            peak = own > peak ? own : peak;
        }
    return peak;
}

static void add_lives(struct plan *p, const struct lives *l, uint32_t value)
{
    if (l->buffer[value] != value)
        return;
    p->live[l->first[value]] += l->bytes[value];
    p->live[l->last[value] + 1] -= l->bytes[value]; /* modulo 2^64: the running sum comes out right */
}

/* Sums what begins and ends; the values of this graph's steps and inputs. */
static void collect(struct plan *p, const struct lives *l, const struct oc_graph *g)
{
    for (uint32_t i = 0; i < g->n_input; i++)
        if (g->input[i] != OC_NONE)
            add_lives(p, l, g->input[i]);
    for (uint32_t i = 0; i < p->n; i++) {
        const struct oc_node *n = &p->e->m->node[p->step[i]];
        for (uint32_t k = 0; k < n->n_out; k++)
            if (n->out[k] != OC_NONE)
                add_lives(p, l, n->out[k]);
    }
    for (uint32_t i = 1; i < p->n; i++)
        p->live[i] += p->live[i - 1];
}

static void follow_lives(struct plan *p, struct lives *l, const struct oc_graph *g, bool main_graph)
{
    const struct oc_model *m = p->e->m;
    for (uint32_t i = 0; i < g->n_input; i++)
        born(p, l, g->input[i], 0);
    for (uint32_t i = 0; i < p->n; i++) {
        const struct oc_node *n = &m->node[p->step[i]];
        for (uint32_t k = 0; k < n->n_in; k++)
            used(l, n->in[k], i);
        uint32_t c = oc_first_capture(m->capture, m->n_capture, p->step[i]);
        for (; c < m->n_capture && m->capture[c].node == p->step[i]; c++)
            used(l, m->capture[c].value, i);
        outputs_born(p, l, i);
    }
    for (uint32_t i = 0; i < g->n_output; i++) {
        uint32_t b = g->output[i] == OC_NONE ? OC_NONE : l->buffer[g->output[i]];
        if (b == OC_NONE)
            continue;
        l->last[b] = p->n ? p->n - 1 : 0;
        if (!main_graph && b == g->output[i] && m->value[b].producer != OC_NONE)
            l->bytes[b] = 0; /* it is the buffer of the control-flow node's output */
    }
}

static uint64_t graph_peak(struct oc_engine *e, struct lives *l, uint32_t graph, uint8_t *quality,
                           uint32_t *node)
{
    struct plan p = {.e = e, .quality = *quality};
    const struct oc_graph *g = &e->m->graph[graph];
    uint64_t peak = 0;
    flatten(&p, graph);
    *node = OC_NONE;
    if (p.n) {
        p.live = oc_xmalloc(((size_t)p.n + 1) * sizeof(*p.live));
        memset(p.live, 0, ((size_t)p.n + 1) * sizeof(*p.live));
        follow_lives(&p, l, g, graph == 0);
        collect(&p, l, g);
        for (uint32_t i = 0; i < p.n; i++) {
            uint64_t live = p.live[i] + bodies_peak(&p, l, p.step[i]);
            if (*node == OC_NONE || live > peak) {
                peak = live;
                *node = p.step[i];
            }
        }
    }
    *quality = p.quality;
    free(p.step);
    free(p.live);
    return peak;
}

/* Bytes of a value's buffer unless this node counted it already. */
static uint64_t once(const struct lives *l, uint32_t value, uint32_t node, uint32_t *counted_by)
{
    uint32_t b = value == OC_NONE ? OC_NONE : l->buffer[value];
    if (b == OC_NONE || counted_by[b] == node)
        return 0;
    counted_by[b] = node;
    return l->bytes[b];
}

/* No order needs less than the distinct inputs and outputs of any one node. */
static uint64_t lower_bound(const struct oc_engine *e, const struct lives *l)
{
    uint64_t best = 0;
    uint32_t *counted_by = l->last; /* no longer needed */
    memset(counted_by, 0xff, e->m->n_value * sizeof(*counted_by));
    for (uint32_t i = 0; i < e->m->n_node; i++) {
        const struct oc_node *n = &e->m->node[i];
        uint64_t sum = 0;
        for (uint32_t k = 0; k < n->n_in; k++)
            sum += once(l, n->in[k], i, counted_by);
        for (uint32_t k = 0; k < n->n_out; k++)
            sum += once(l, n->out[k], i, counted_by);
        best = sum > best ? sum : best;
    }
    return best;
}

void oc_find_peak(struct oc_engine *e)
{
    uint32_t n = e->m->n_value;
    struct lives l = {.buffer = oc_xmalloc(n * sizeof(*l.buffer)),
                      .first = oc_xmalloc(n * sizeof(*l.first)),
                      .last = oc_xmalloc(n * sizeof(*l.last)),
                      .device = oc_xmalloc(n * sizeof(*l.device)),
                      .bytes = oc_xmalloc(n * sizeof(*l.bytes))};
    memset(l.buffer, 0xff, n * sizeof(*l.buffer));
    memset(l.device, 0, n * sizeof(*l.device));
    memset(l.bytes, 0, n * sizeof(*l.bytes));
    mark_device(e, &l);
    struct oc_peak *p = &e->a->peak;
    p->quality = OC_EXACT;
    p->bytes = graph_peak(e, &l, 0, &p->quality, &p->node);
    p->lower_bytes = lower_bound(e, &l);
    free(l.buffer);
    free(l.first);
    free(l.last);
    free(l.device);
    free(l.bytes);
}
