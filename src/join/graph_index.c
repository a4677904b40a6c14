#include <stdlib.h>
#include <string.h>

#include "join/join.h"

/* Prepends item i to the list of its name. Names are added in reverse, so that lists are in order. */
static void link_name(struct oc_map *map, uint32_t *next, const char *name, uint32_t i)
{
    uint32_t old = i;
    next[i] = OC_NONE;
    if (oc_map_add(map, name, strlen(name), &old, NULL))
        return;
    next[i] = old;
    oc_map_set(map, name, strlen(name), i);
}

static void index_uses(struct oc_graph_index *x)
{
    const struct oc_model *m = x->m;
    uint32_t *first = OC_NEW_ARRAY(x->arena, (size_t)m->n_value + 2, uint32_t);
    for (uint32_t i = 0; i < m->n_node; i++)
        for (uint32_t k = 0; k < m->node[i].n_in; k++)
            if (m->node[i].in[k] != OC_NONE)
                first[m->node[i].in[k] + 2]++;
    for (uint32_t v = 0; v < m->n_value; v++)
        first[v + 2] += first[v + 1];
    x->use = OC_NEW_ARRAY(x->arena, (size_t)first[m->n_value + 1] + 1, uint32_t);
    for (uint32_t i = 0; i < m->n_node; i++)
        for (uint32_t k = 0; k < m->node[i].n_in; k++)
            if (m->node[i].in[k] != OC_NONE)
                x->use[first[m->node[i].in[k] + 1]++] = i;
    x->use_first = first;
}

static bool is_constant(const struct oc_node *n)
{
    return oc_node_is_constant(n);
}

static int by_place(const void *a, const void *b)
{
    const struct oc_node *x = *(const struct oc_node *const *)a, *y = *(const struct oc_node *const *)b;
    return (x->file_index > y->file_index) - (x->file_index < y->file_index);
}

static void index_places(struct oc_graph_index *x)
{
    const struct oc_model *m = x->m;
    const struct oc_node **in_file = oc_xmalloc(((size_t)m->n_node + 1) * sizeof(*in_file));
    uint32_t at = 0;
    x->counted = OC_NEW_ARRAY(x->arena, (size_t)m->n_node + 1, uint32_t);
    x->counted_first = OC_NEW_ARRAY(x->arena, (size_t)m->n_graph + 1, uint32_t);
    for (uint32_t g = 0; g < m->n_graph; g++) {
        uint32_t n = 0;
        x->counted_first[g] = at;
        for (uint32_t k = 0; k < m->graph[g].n_node; k++)
            if (!is_constant(&m->node[m->graph[g].node[k]]))
                in_file[n++] = &m->node[m->graph[g].node[k]];
        if (n)
            qsort(in_file, n, sizeof(*in_file), by_place);
        for (uint32_t k = 0; k < n; k++)
            x->counted[at++] = (uint32_t)(in_file[k] - m->node);
    }
    x->counted_first[m->n_graph] = at;
    free(in_file);
}

/* ---- ONNX Runtime's order of execution -------------------------------------------------------------- */

struct edges {
    uint32_t *first, *from; /* inputs of node n: from[first[n] .. first[n + 1]] */
    bool *read;             /* by node: another node of its graph reads a result */
};

/* The node of `graph` that is or contains the node; OC_NONE: the graph does not contain it. */
static uint32_t ancestor_in(const struct oc_model *m, uint32_t node, uint32_t graph)
{
    while (node != OC_NONE && m->node[node].graph != graph)
        node = m->graph[m->node[node].graph].parent_node;
    return node;
}

/* Calls `first[n]++`, or stores the edge, for every input that a node of the same graph computes; the inputs
 * of a nested graph from outside are those of the node that contains it. */
static void each_edge(const struct oc_graph_index *x, struct edges *e, uint32_t *at)
{
    const struct oc_model *m = x->m;
    for (uint32_t i = 0; i < m->n_node; i++)
        for (uint32_t k = 0; k < m->node[i].n_in; k++) {
            uint32_t v = m->node[i].in[k], from = v == OC_NONE ? OC_NONE : m->value[v].producer;
            uint32_t to = from == OC_NONE || is_constant(&m->node[from])
                              ? OC_NONE
                              : ancestor_in(m, i, m->node[from].graph);
            if (to == OC_NONE || to == from)
                continue;
            if (at)
                e->from[at[to]++] = from;
            else
                e->first[to + 1]++;
            e->read[from] = true;
        }
}

static int by_file_place(const void *a, const void *b, void *place)
{
    const uint32_t *of = place;
    uint32_t i = of[*(const uint32_t *)a], k = of[*(const uint32_t *)b];
    return (i > k) - (i < k);
}

static struct edges list_edges(const struct oc_graph_index *x, uint32_t *place)
{
    const struct oc_model *m = x->m;
    struct edges e = {.first = OC_NEW_ARRAY(x->arena, (size_t)m->n_node + 2, uint32_t),
                      .read = OC_NEW_ARRAY(x->arena, (size_t)m->n_node + 1, bool)};
    uint32_t *at = OC_NEW_ARRAY(x->arena, (size_t)m->n_node + 1, uint32_t);
    each_edge(x, &e, NULL);
    for (uint32_t i = 0; i < m->n_node; i++)
        e.first[i + 1] += e.first[i];
    memcpy(at, e.first, m->n_node * sizeof(*at));
    e.from = OC_NEW_ARRAY(x->arena, (size_t)e.first[m->n_node] + 1, uint32_t);
    each_edge(x, &e, at);
    for (uint32_t i = 0; i < m->n_node; i++)
        if (e.first[i + 1] - e.first[i] > 1)
            qsort_r(e.from + e.first[i], e.first[i + 1] - e.first[i], sizeof(uint32_t), by_file_place, place);
    return e;
}

/* Reverse depth-first search from the nodes whose results no node reads, the last one first; of several
 * inputs, that of the node with the highest index first. */
uint32_t *oc_index_run_order(const struct oc_graph_index *x)
{
    uint32_t n = x->counted_first[x->m->n_graph], next = 0, depth = 0;
    uint32_t *order = OC_NEW_ARRAY(x->arena, (size_t)x->m->n_node + 1, uint32_t);
    uint32_t *place = OC_NEW_ARRAY(x->arena, (size_t)x->m->n_node + 1, uint32_t);
    bool *seen = OC_NEW_ARRAY(x->arena, (size_t)x->m->n_node + 1, bool);
    for (uint32_t k = 0; k < n; k++)
        place[x->counted[k]] = k;
    struct edges e = list_edges(x, place);
    struct {
        uint32_t node;
        bool leave;
    } *stack = oc_xmalloc(((size_t)x->m->n_node * 2 + e.first[x->m->n_node] + 1) * sizeof(*stack));
    for (uint32_t g = 0; g < x->m->n_graph; g++) {
        for (uint32_t k = x->counted_first[g]; k < x->counted_first[g + 1]; k++)
            if (!e.read[x->counted[k]]) {
                stack[depth].node = x->counted[k];
                stack[depth++].leave = false;
            }
        while (depth) {
            uint32_t node = stack[--depth].node;
            if (stack[depth].leave) {
                order[node] = next++;
                continue;
            }
            if (seen[node])
                continue;
            seen[node] = true;
            stack[depth++].leave = true;
            for (uint32_t k = e.first[node]; k < e.first[node + 1]; k++)
                if (!seen[e.from[k]]) {
                    stack[depth].node = e.from[k];
                    stack[depth++].leave = false;
                }
        }
    }
    free(stack);
    return order;
}

void oc_index_make(struct oc_graph_index *x, const struct oc_model *m, struct oc_arena *a)
{
    *x = (struct oc_graph_index){.m = m,
                                 .arena = a,
                                 .nodes.arena = a,
                                 .values.arena = a,
                                 .inlined_nodes.arena = a,
                                 .inlined_values.arena = a};
    x->next_node = OC_NEW_ARRAY(a, (size_t)m->n_node + 1, uint32_t);
    x->next_value = OC_NEW_ARRAY(a, (size_t)m->n_value + 1, uint32_t);
    for (uint32_t i = m->n_node; i-- > 0;)
        link_name(&x->nodes, x->next_node, m->node[i].name, i);
    for (uint32_t i = m->n_value; i-- > 0;)
        link_name(&x->values, x->next_value, m->value[i].name, i);
    index_uses(x);
    index_places(x);
}

void oc_index_free(struct oc_graph_index *x)
{
    oc_map_free(&x->nodes);
    oc_map_free(&x->values);
    oc_map_free(&x->inlined_nodes);
    oc_map_free(&x->inlined_values);
}

static uint32_t look_up(const struct oc_map *inlined, const struct oc_map *all, const char *name, size_t n)
{
    uint32_t found = oc_map_get(inlined, name, n);
    return found == OC_NONE ? oc_map_get(all, name, n) : found;
}

uint32_t oc_index_node(const struct oc_graph_index *x, const char *name, size_t n, const uint32_t **next)
{
    *next = oc_map_get(&x->inlined_nodes, name, n) == OC_NONE ? x->next_node : NULL;
    return look_up(&x->inlined_nodes, &x->nodes, name, n);
}

uint32_t oc_index_value(const struct oc_graph_index *x, const char *name, size_t n, const uint32_t **next)
{
    *next = oc_map_get(&x->inlined_values, name, n) == OC_NONE ? x->next_value : NULL;
    return look_up(&x->inlined_values, &x->values, name, n);
}

uint32_t oc_index_nth(const struct oc_graph_index *x, uint32_t graph, int64_t index)
{
    uint32_t from = x->counted_first[graph], n = x->counted_first[graph + 1] - from;
    return index >= 0 && index < n ? x->counted[from + (uint32_t)index] : OC_NONE;
}
