/* Topological order. The ONNX specification requires node lists to be in such an order; lists that are not
 * are sorted stably (lowest file position first), with a warning. */
#include <stdlib.h>

#include "model/loader.h"

/* The node of graph `g` that produces the value (bodies and calls count as their owner), or OC_NONE. */
static uint32_t producer_in(const struct oc_model *m, uint32_t value, uint32_t g)
{
    uint32_t node = m->value[value].producer;
    while (node != OC_NONE && m->node[node].graph != g)
        node = m->graph[m->node[node].graph].parent_node;
    return node;
}

struct edges { /* (producer, consumer) pairs inside one graph, as positions in its node list */
    uint32_t *from, *to;
    uint32_t n, cap_from, cap_to;
};

static void add_edge(struct edges *e, uint32_t from, uint32_t to)
{
    uint32_t n = e->n;
    OC_GROW(e->from, n, e->cap_from);
    OC_GROW(e->to, n, e->cap_to);
    e->from[n] = from;
    e->to[n] = to;
    e->n++;
}

/* Whether every node comes after the producers of its inputs. */
static bool is_ordered(const struct oc_model *m, const struct oc_graph *g, uint32_t graph)
{
    for (uint32_t i = 0; i < g->n_node; i++) {
        const struct oc_node *n = &m->node[g->node[i]];
        for (uint32_t k = 0; k < n->n_in; k++) {
            if (n->in[k] == OC_NONE)
                continue;
            uint32_t p = m->value[n->in[k]].producer;
            if (p != OC_NONE && m->node[p].graph != graph)
                p = producer_in(m, n->in[k], graph);
            if (p != OC_NONE && p >= g->node[i])
                return false;
        }
    }
    return true;
}

/* A binary min-heap of positions. */
static void heap_push(uint32_t *heap, uint32_t *n, uint32_t v)
{
    uint32_t i = (*n)++;
    for (; i && heap[(i - 1) / 2] > v; i = (i - 1) / 2)
        heap[i] = heap[(i - 1) / 2];
    heap[i] = v;
}

static uint32_t heap_pop(uint32_t *heap, uint32_t *n)
{
    uint32_t top = heap[0], last = heap[--*n], i = 0;
    for (;;) {
        uint32_t child = 2 * i + 1;
        if (child >= *n)
            break;
        if (child + 1 < *n && heap[child + 1] < heap[child])
            child++;
        if (heap[child] >= last)
            break;
        heap[i] = heap[child];
        i = child;
    }
    if (*n)
        heap[i] = last;
    return top;
}

static int by_node(const void *a, const void *b)
{
    const struct oc_capture *x = a, *y = b;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value);
}

/* Edges of the inputs of each node, and of the outer values that its bodies read. */
static void collect_edges(const struct oc_loader *l, uint32_t graph, struct edges *e)
{
    const struct oc_model *m = l->m;
    const struct oc_graph *g = &m->graph[graph];
    uint32_t first = g->n_node ? g->node[0] : 0; /* node ids of a graph are consecutive */
    for (uint32_t i = 0; i < g->n_node; i++) {
        const struct oc_node *n = &m->node[g->node[i]];
        for (uint32_t k = 0; k < n->n_in; k++) {
            uint32_t p = n->in[k] == OC_NONE ? OC_NONE : producer_in(m, n->in[k], graph);
            if (p != OC_NONE)
                add_edge(e, p - first, i);
        }
    }
    for (uint32_t i = oc_first_capture(l->capture, l->n_capture, first); i < l->n_capture; i++) {
        uint32_t owner = l->capture[i].node;
        if (owner - first >= g->n_node)
            break;
        uint32_t p = producer_in(m, l->capture[i].value, graph);
        if (p != OC_NONE)
            add_edge(e, p - first, owner - first);
    }
}

/* Kahn's algorithm; order[] receives positions. Returns the number of nodes ordered; fewer than all mean a
 * cycle. */
static uint32_t kahn(const struct edges *e, uint32_t n, uint32_t *order)
{
    uint32_t *start = oc_xcalloc((size_t)n + 2, sizeof(*start)), *missing = oc_xcalloc(n, sizeof(*missing));
    uint32_t *next = oc_xmalloc((size_t)e->n * sizeof(*next)), *heap = oc_xmalloc((size_t)n * sizeof(*heap));
    for (uint32_t i = 0; i < e->n; i++) {
        start[e->from[i] + 2]++;
        missing[e->to[i]]++;
    }
    for (uint32_t i = 2; i < n + 2; i++)
        start[i] += start[i - 1];
    for (uint32_t i = 0; i < e->n; i++)
        next[start[e->from[i] + 1]++] = e->to[i];
    uint32_t n_heap = 0, done = 0;
    for (uint32_t i = 0; i < n; i++)
        if (!missing[i])
            heap_push(heap, &n_heap, i);
    while (n_heap) {
        uint32_t i = heap_pop(heap, &n_heap);
        order[done++] = i;
        for (uint32_t k = start[i]; k < start[i + 1]; k++)
            if (--missing[next[k]] == 0)
                heap_push(heap, &n_heap, next[k]);
    }
    free(start);
    free(missing);
    free(next);
    free(heap);
    return done;
}

/* The first node that Kahn's algorithm did not reach: it is in a cycle or after one. */
static uint32_t first_left_out(const uint32_t *order, uint32_t done, uint32_t n)
{
    bool *seen = oc_xcalloc(n, 1);
    for (uint32_t i = 0; i < done; i++)
        seen[order[i]] = true;
    uint32_t i = 0;
    while (i < n && seen[i])
        i++;
    free(seen);
    return i;
}

static int order_graph(struct oc_loader *l, uint32_t graph)
{
    struct oc_model *m = l->m;
    struct oc_graph *g = &m->graph[graph];
    struct edges e = {0};
    collect_edges(l, graph, &e);
    uint32_t *order = OC_NEW_ARRAY(&m->arena, g->n_node, uint32_t);
    uint32_t done = kahn(&e, g->n_node, order), first = g->n_node ? g->node[0] : 0;
    free(e.from);
    free(e.to);
    if (done < g->n_node) {
        char label[256];
        const struct oc_node *n = &m->node[first + first_left_out(order, done, g->n_node)];
        return oc_load_fail(l, OC_EFORMAT, l->base + n->where, "the graph has a cycle through node '%s'",
                            oc_node_label(m, n, label, sizeof(label)));
    }
    bool moved = false;
    for (uint32_t i = 0; i < g->n_node; i++) {
        moved |= order[i] != i;
        order[i] += first;
    }
    if (moved)
        oc_diag_add(&m->diags, OC_WARNING, "W-order", g->scope, "nodes are not in topological order: sorted");
    g->node = order;
    return 0;
}

/* Finds graphs with bodies whose captures are produced too late, in one pass over all captures. */
static void mark_late_captures(const struct oc_loader *l, bool *sort)
{
    const struct oc_model *m = l->m;
    for (uint32_t i = 0; i < l->n_capture; i++) {
        uint32_t owner = l->capture[i].node, graph = m->node[owner].graph;
        uint32_t p = producer_in(m, l->capture[i].value, graph);
        if (p != OC_NONE && p >= owner)
            sort[graph] = true;
    }
}

int oc_order_graphs(struct oc_loader *l)
{
    if (l->n_capture)
        qsort(l->capture, l->n_capture, sizeof(*l->capture), by_node);
    bool *sort = oc_xcalloc(l->m->n_graph, 1);
    mark_late_captures(l, sort);
    int rc = 0;
    for (uint32_t i = 0; i < l->m->n_graph && !rc; i++)
        if (sort[i] || (l->m->graph[i].unsure_order && !is_ordered(l->m, &l->m->graph[i], i)))
            rc = order_graph(l, i);
    free(sort);
    return rc;
}
