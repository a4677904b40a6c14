/* Nodes and tensors of a graph by name and by index: those of the model, and the names and indexes that ONNX
 * Runtime gives to nodes of bodies that it expands. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "join/expansion.h"
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
            if (!oc_node_is_constant(&m->node[m->graph[g].node[k]]))
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
            uint32_t to = from == OC_NONE || oc_node_is_constant(&m->node[from])
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

void oc_index_edges(struct oc_graph_index *x, const struct oc_model *m, struct oc_arena *a)
{
    *x = (struct oc_graph_index){.m = m,
                                 .arena = a,
                                 .nodes.arena = a,
                                 .values.arena = a,
                                 .inlined_nodes.arena = a,
                                 .inlined_values.arena = a};
    index_uses(x);
    index_places(x);
}

void oc_index_make(struct oc_graph_index *x, const struct oc_model *m, struct oc_arena *a)
{
    oc_index_edges(x, m, a);
    x->next_node = OC_NEW_ARRAY(a, (size_t)m->n_node + 1, uint32_t);
    x->next_value = OC_NEW_ARRAY(a, (size_t)m->n_value + 1, uint32_t);
    for (uint32_t i = m->n_node; i-- > 0;)
        link_name(&x->nodes, x->next_node, m->node[i].name, i);
    for (uint32_t i = m->n_value; i-- > 0;)
        link_name(&x->values, x->next_value, m->value[i].name, i);
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

/* ---- equal nodes ------------------------------------------------------------------------------------- */

/* Equal constants of up to 8 elements are one for ONNX Runtime. */
static bool add_constant(const struct oc_model *m, const struct oc_tensor *t, struct oc_arena *a,
                         struct oc_buf *key)
{
    enum { SHARED = 8 };
    struct oc_elem e[SHARED];
    double v;
    if (!t || !t->elements || t->elements > SHARED || t->dtype == OC_DT_STRING ||
        !oc_tensor_elems(m, t, (uint32_t)t->elements, e, a))
        return false;
    oc_buf_printf(key, " =%d", t->dtype);
    for (unsigned i = 0; i < t->rank; i++)
        oc_buf_printf(key, "/%lld", (long long)t->dim[i]);
    for (size_t i = 0; i < t->elements; i++)
        if (!oc_elem_known_real(&e[i], &v))
            return false;
        else
            oc_buf_printf(key, ":%a", v);
    return true;
}

bool oc_index_key(const struct oc_model *m, uint32_t node, uint32_t (*source)(const void *, uint32_t),
                  const void *arg, struct oc_arena *a, struct oc_buf *key)
{
    const struct oc_node *n = &m->node[node];
    oc_buf_clear(key);
    oc_buf_printf(key, "%s %s %u %u", n->op_type, n->domain, n->graph, n->n_out);
    for (uint32_t i = 0; i < n->n_in; i++) {
        uint32_t v = n->in[i];
        if (v == OC_NONE || !add_constant(m, m->value[v].constant, a, key))
            oc_buf_printf(key, " %u", v == OC_NONE ? OC_NONE : source(arg, v));
    }
    for (uint32_t i = 0; i < n->n_attr; i++) {
        const struct oc_attr *t = &n->attr[i];
        oc_buf_printf(key, " %s", t->name);
        if (t->type == OC_ATTR_INT)
            oc_buf_add(key, &t->i, sizeof(t->i));
        else if (t->type == OC_ATTR_FLOAT)
            oc_buf_add(key, &t->f, sizeof(t->f));
        else if (t->type == OC_ATTR_STRING)
            oc_buf_add(key, t->s.s, t->s.n);
        else if (t->type == OC_ATTR_INTS)
            oc_buf_add(key, t->ints, t->n * sizeof(*t->ints));
        else if (t->type == OC_ATTR_TENSOR && add_constant(m, oc_attr_tensor_at(t, 0), a, key))
            continue;
        else
            return false;
    }
    return true;
}

static uint32_t equal_value(const void *equal, uint32_t value)
{
    return ((const uint32_t *)equal)[value];
}

void oc_index_equal(struct oc_graph_index *x)
{
    const struct oc_model *m = x->m;
    struct oc_arena a = {0};
    struct oc_map seen = {.arena = &a};
    struct oc_buf key = {.max = 1 << 16};
    x->equal = OC_NEW_ARRAY(x->arena, (size_t)m->n_node + 1, uint32_t);
    x->equal_value = OC_NEW_ARRAY(x->arena, (size_t)m->n_value + 1, uint32_t);
    for (uint32_t v = 0; v < m->n_value; v++)
        x->equal_value[v] = v;
    for (uint32_t i = 0; i < m->n_node; i++)
        x->equal[i] = i;
    for (uint32_t g = 0; g < m->n_graph; g++)
        for (uint32_t k = 0; k < m->graph[g].n_node; k++) {
            uint32_t node = m->graph[g].node[k], first = node;
            const struct oc_node *n = &m->node[node];
            const struct oc_op *op = oc_op_find(n->domain, n->op_type, n->opset);
            key.overflowed = false;
            if (!op || (op->flags & (OC_F_NO_FOLD | OC_F_CONTROL)) || !n->n_in ||
                !oc_index_key(m, node, equal_value, x->equal_value, &a, &key) || key.overflowed ||
                oc_map_add(&seen, key.data, key.n, &first, NULL))
                continue;
            x->equal[node] = first;
            for (uint32_t i = 0; i < n->n_out; i++)
                if (n->out[i] != OC_NONE && m->node[first].out[i] != OC_NONE)
                    x->equal_value[n->out[i]] = m->node[first].out[i];
        }
    oc_buf_free(&key);
    oc_map_free(&seen);
    oc_arena_free(&a);
}

uint32_t oc_index_nth(const struct oc_graph_index *x, uint32_t graph, int64_t index)
{
    uint32_t from = x->counted_first[graph], n = x->counted_first[graph + 1] - from;
    return index >= 0 && index < n ? x->counted[from + (uint32_t)index] : OC_NONE;
}

/* ---- names in expanded functions -------------------------------------------------------------------- */

/* Names of nodes and tensors in bodies that ONNX Runtime expands (expansion.c) get the prefix
 * _inlfunc_<Function>_, made unique by _token_<n> with one counter per graph. Unnamed nodes are recorded as
 * <OpType>_<index>. Up to 1.16 the prefix is _inline_<Function>, and no underscore follows it. */
static bool has_older_names(const struct oc_profile *p)
{
    for (uint32_t i = 0; i < p->n_rec; i++)
        if (strncmp(p->rec[i].name, "_inline_", 8) == 0)
            return true;
    return false;
}

bool oc_match_numbered(const struct oc_prof_rec *r)
{
    char want[32];
    size_t n = strlen(r->op_type);
    snprintf(want, sizeof(want), "_%lld", (long long)r->index);
    return r->index >= 0 && strncmp(r->name, r->op_type, n) == 0 && strcmp(r->name + n, want) == 0;
}

/* ---- names in bodies -------------------------------------------------------------------------------- */

/* The body of the call that the graph is in, directly or in a branch; OC_NONE: not in a call. */
static uint32_t body_around(const struct oc_model *m, uint32_t graph)
{
    uint32_t parent;
    while ((parent = m->graph[graph].parent_node) != OC_NONE) {
        if (m->node[parent].kind == OC_NODE_CALL)
            return graph;
        graph = m->node[parent].graph;
    }
    return OC_NONE;
}

static void add_alias(struct oc_matcher *x, struct oc_map *map, const char *prefix, const char *name,
                      uint32_t id)
{
    const char *alias = oc_printf(x->arena, "%s%s", prefix, name);
    if (name[0])
        oc_map_add(map, alias, strlen(alias), &id, NULL);
}

/* Names as in the runtime for the nodes and values of a graph in a body; in the model, names of nodes begin
 * with the label of the call and a slash. */
static void add_aliases(struct oc_matcher *x, uint32_t graph, uint32_t body, const char *prefix)
{
    const struct oc_model *m = x->m;
    const struct oc_graph *g = &m->graph[graph];
    char label[256];
    const struct oc_node *call = &m->node[m->graph[body].parent_node];
    size_t cut = strlen(oc_node_label(m, call, label, sizeof(label))) + 1;
    for (uint32_t k = 0; k < g->n_node; k++) {
        const struct oc_node *n = &m->node[g->node[k]];
        if (strlen(n->name) > cut)
            add_alias(x, &x->x.inlined_nodes, prefix, n->name + cut, g->node[k]);
        for (uint32_t o = 0; o < n->n_out; o++)
            if (n->out[o] != OC_NONE && m->value[n->out[o]].graph == graph)
                add_alias(x, &x->x.inlined_values, prefix, m->value[n->out[o]].name, n->out[o]);
    }
}

/* Prefixes of the names in the bodies of one graph's calls, by body, and of its function operators. */
static void name_bodies(struct oc_matcher *x, const struct oc_expansion *e, bool older,
                        const char **prefix_of)
{
    const char *mark = older ? "_inline_" : "_inlfunc_";
    struct oc_map taken = {.arena = x->arena};
    unsigned token = 0;
    for (size_t i = 0; i < e->n; i++) {
        if (!e->block[i].expanded)
            continue;
        const struct oc_node *n = &x->m->node[e->block[i].node];
        const char *prefix = oc_printf(x->arena, "%s%s", mark, n->op_type);
        uint32_t id = (uint32_t)i;
        while (!oc_map_add(&taken, prefix, strlen(prefix), &id, NULL))
            prefix = oc_printf(x->arena, "%s%s_token_%u", mark, n->op_type, token++);
        if (n->kind == OC_NODE_CALL && n->body != OC_NONE)
            prefix_of[n->body] = older ? prefix : oc_printf(x->arena, "%s_", prefix);
        else
            oc_map_set(&x->bodies, prefix, strlen(prefix), e->block[i].node);
    }
    oc_map_free(&taken);
}

/* ---- nodes at an index ------------------------------------------------------------------------------ */

static bool is_runtime_graph(const struct oc_model *m, uint32_t graph)
{
    uint32_t parent = m->graph[graph].parent_node;
    return parent == OC_NONE || m->node[parent].kind != OC_NODE_CALL;
}

/* What is known before the expansion: the nodes whose names are recorded, or their indexes in the main graph.
 */
struct known {
    uint32_t *node;   /* by record, OC_NONE */
    double *start_ns; /* by node, NAN: not recorded */
};

static struct known find_known(struct oc_matcher *x)
{
    struct known k = {OC_NEW_ARRAY(x->arena, (size_t)x->p->n_rec + 1, uint32_t),
                      OC_NEW_ARRAY(x->arena, (size_t)x->m->n_node + 1, double)};
    for (uint32_t i = 0; i < x->m->n_node; i++)
        k.start_ns[i] = (double)NAN;
    for (uint32_t i = 0; i < x->p->n_rec; i++) {
        const struct oc_prof_rec *r = &x->p->rec[i];
        uint32_t node =
            oc_match_numbered(r) && r->parent == OC_NONE ? oc_index_nth(&x->x, 0, r->index) : OC_NONE;
        k.node[i] = OC_NONE;
        if (r->bucket)
            continue;
        if (node == OC_NONE || x->m->node[node].name[0] ||
            !oc_match_made_of(r->op_type, x->m->node[node].op_type))
            node = oc_match_by_plain_name(x, i);
        k.node[i] = node;
        if (node != OC_NONE)
            k.start_ns[node] = fmin(r->start_ns, k.start_ns[node]);
    }
    return k;
}

/* Whether the record may be of a node in the graph, by the record around it. */
static bool may_be_in(const struct oc_matcher *x, const struct known *k, uint32_t rec, uint32_t graph)
{
    uint32_t outer = x->p->rec[rec].parent, parent = x->m->graph[graph].parent_node;
    if (outer == OC_NONE || parent == OC_NONE)
        return outer == parent;
    return k->node[outer] != OC_NONE ? k->node[outer] == parent
                                     : strcmp(x->p->rec[outer].op_type, x->m->node[parent].op_type) == 0;
}

static void expand_graph(struct oc_matcher *x, uint32_t graph, const struct known *k)
{
    uint32_t *rec = oc_xmalloc(((size_t)x->p->n_rec + 1) * sizeof(*rec));
    size_t n = 0;
    for (uint32_t i = 0; i < x->p->n_rec; i++)
        if (!x->p->rec[i].bucket && oc_match_numbered(&x->p->rec[i]) && may_be_in(x, k, i, graph))
            rec[n++] = i;
    oc_expand_graph(x, graph, rec, n, k->start_ns, &x->expansion[graph]);
    free(rec);
}

void oc_match_expand(struct oc_matcher *x)
{
    const char **prefix_of = OC_NEW_ARRAY(x->arena, (size_t)x->m->n_graph + 1, const char *);
    struct known known = find_known(x);
    bool older = has_older_names(x->p);
    x->bodies.arena = x->arena;
    x->expansion = OC_NEW_ARRAY(x->arena, (size_t)x->m->n_graph + 1, struct oc_expansion);
    for (uint32_t graph = 0; graph < x->m->n_graph; graph++)
        if (is_runtime_graph(x->m, graph)) {
            expand_graph(x, graph, &known);
            name_bodies(x, &x->expansion[graph], older, prefix_of);
        }
    for (uint32_t graph = 0; graph < x->m->n_graph; graph++) {
        uint32_t body = body_around(x->m, graph);
        if (body != OC_NONE && prefix_of[body])
            add_aliases(x, graph, body, prefix_of[body]);
    }
}

void oc_match_expand_free(struct oc_matcher *x)
{
    for (uint32_t i = 0; x->expansion && i < x->m->n_graph; i++)
        free(x->expansion[i].block);
    oc_map_free(&x->bodies);
}

/* ---- branches of an If -------------------------------------------------------------------------------- */

/* The recorded inputs have the shapes of the node's constants. */
static bool constants_fit(const struct oc_matcher *x, const struct oc_prof_rec *r, const struct oc_node *n)
{
    for (uint32_t k = 0; k < n->n_in && k < r->n_in; k++) {
        const struct oc_tensor *t = oc_value_constant(x->m, n->in[k]);
        const struct oc_shape *s = &r->in[k].shape;
        bool same = !t || !oc_shape_known(s) || s->rank == t->rank;
        for (unsigned i = 0; t && same && oc_shape_known(s) && i < s->rank; i++)
            same = s->dim[i].v == t->dim[i];
        if (!same)
            return false;
        if (n->in[k] == OC_NONE) /* absent: the others are recorded at other positions */
            return true;
    }
    return true;
}

static bool branch_output_fits(const struct oc_matcher *x, const struct oc_prof_rec *r,
                               const struct oc_node *n)
{
    const struct oc_analysis *a = x->shapes ? x->shapes : x->a;
    const struct oc_type *t = a && n->n_out && n->out[0] != OC_NONE ? &a->type[n->out[0]] : NULL;
    return !t || t->kind != OC_T_TENSOR || !r->n_out || oc_match_same_shape(&r->out[0].shape, &t->shape);
}

/* Every unnamed record within the outer one can be the node of the graph at its index. */
static bool explains(const struct oc_matcher *x, uint32_t outer, uint32_t graph)
{
    for (uint32_t i = 0; i < x->p->n_rec; i++) {
        const struct oc_prof_rec *r = &x->p->rec[i];
        uint32_t node =
            r->parent == outer && oc_match_numbered(r) ? oc_index_nth(&x->x, graph, r->index) : OC_NONE;
        if (node != OC_NONE &&
            (!oc_match_made_of(r->op_type, x->m->node[node].op_type) ||
             !branch_output_fits(x, r, &x->m->node[node]) || !constants_fit(x, r, &x->m->node[node])))
            return false;
    }
    return true;
}

static bool is_taken(const struct oc_matcher *x, uint32_t graph)
{
    const struct oc_graph *g = &x->m->graph[graph];
    return x->a && g->n_node && x->a->cost[g->node[0]].state != OC_NODE_NOT_TAKEN;
}

/* The only branch of the node that explains what ran within the record, of several the one that the analysis takes, so
 * that all records within it are of one branch. OC_NONE: no branch explains them, or the node has no branches. */
static uint32_t branch_of(const struct oc_matcher *x, uint32_t outer, const struct oc_node *n)
{
    uint32_t found = OC_NONE, graphs = 0, taken = OC_NONE, n_taken = 0;
    for (uint32_t i = 0; i < n->n_attr && oc_equal(n->op_type, "If"); i++) {
        if (!n->attr[i].graph || !n->attr[i].n || !explains(x, outer, n->attr[i].graph[0]))
            continue;
        graphs++;
        found = n->attr[i].graph[0];
        if (is_taken(x, found)) {
            taken = found;
            n_taken++;
        }
    }
    return graphs == 1 ? found : n_taken == 1 ? taken : OC_NONE;
}

bool oc_match_in_branch(const struct oc_matcher *x, uint32_t outer, uint32_t node, uint32_t graph)
{
    uint32_t *branch = &x->branch[outer];
    if (!*branch)
        *branch = branch_of(x, outer, &x->m->node[node]);
    return *branch == OC_NONE || *branch == graph;
}

/* ---- records at an index ------------------------------------------------------------------------------ */

/* A record of the body: the first one has the node, the others are parts of it. */
static void take_part(struct oc_matcher *x, uint32_t rec, uint32_t node, double confidence)
{
    if (x->owner[node] == OC_NONE) {
        oc_match_core(x, rec, node, "function body", confidence);
        return;
    }
    x->match[rec].inner_of = x->owner[node];
    x->match[rec].rule = "function body";
}

/* The node itself: unnamed, with the same type and a shape that fits. */
static bool is_itself(const struct oc_matcher *x, const struct oc_prof_rec *r, const struct oc_block *b)
{
    const struct oc_node *n = &x->m->node[b->node];
    if (b->expanded || n->name[0] || !oc_match_made_of(r->op_type, n->op_type))
        return false;
    if (oc_type_set_has(" If Loop Scan ", n->op_type))
        return true;         /* the shapes of its results depend on what runs in it */
    uint32_t node = b->node; /* or that of a node after it whose work it took over: 1 / a * b as b / a */
    for (unsigned i = 0; i < 2 && node != OC_NONE && !oc_match_output_fits(x, r, node); i++)
        node = oc_match_only_user(x, node);
    return node != OC_NONE && oc_match_output_fits(x, r, node);
}

/* The operator of whose body the outer record is a part, OC_NONE: of none. */
static uint32_t operator_around(const struct oc_matcher *x, uint32_t rec)
{
    uint32_t outer = x->p->rec[rec].parent;
    const struct oc_match *m = outer == OC_NONE ? NULL : &x->match[outer];
    if (m && m->inner_of != OC_NONE)
        m = &x->match[m->inner_of];
    return m && m->rule && strcmp(m->rule, "function body") == 0 && m->n_node ? m->node[0] : OC_NONE;
}

/* The node that the index of an unnamed record determines, OC_NONE: none. *part: a part of its body. */
uint32_t oc_match_node_at_index(const struct oc_matcher *x, uint32_t rec, bool *part)
{
    const struct oc_prof_rec *r = &x->p->rec[rec];
    const struct oc_block *found = NULL;
    uint32_t around = operator_around(x, rec); /* in a graph in its body */
    *part = around != OC_NONE;
    for (uint32_t g = 0; !*part && x->expansion && oc_match_numbered(r) && g < x->m->n_graph; g++) {
        const struct oc_block *b =
            oc_match_in_scope(x, rec, g) ? oc_expansion_at(&x->expansion[g], r->index) : NULL;
        if (!b || (!b->depth && !is_itself(x, r, b)) || (found && !oc_match_runs(x, b->node)))
            continue;
        if (found && oc_match_runs(x, found->node))
            return OC_NONE;
        found = b;
    }
    *part |= found && found->depth;
    return found ? found->node : around;
}

bool oc_match_by_index(struct oc_matcher *x, uint32_t rec)
{
    bool part;
    uint32_t node = oc_match_node_at_index(x, rec, &part);
    if (node == OC_NONE)
        return false;
    if (part)
        take_part(x, rec, node, 0.9);
    else
        oc_match_core(x, rec, node, "index", x->p->rec[rec].parent != OC_NONE ? 0.8 : 0.9);
    return true;
}

/* "_inlfunc_Mish_token_7_Softplus_X...": a tensor inside a function operator. */
bool oc_match_by_body(struct oc_matcher *x, uint32_t rec)
{
    const char *name = x->p->rec[rec].name, *start = strstr(name, "_inlfunc_");
    for (size_t n = start ? strlen(start) : 0; n > 0; n--) {
        uint32_t node = start[n - 1] == '_' ? oc_map_get(&x->bodies, start, n - 1) : OC_NONE;
        if (node == OC_NONE || !oc_match_in_scope(x, rec, x->m->node[node].graph))
            continue;
        take_part(x, rec, node, 0.8);
        return true;
    }
    return false;
}
