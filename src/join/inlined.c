#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "join/expansion.h"

/* Names of nodes and tensors in bodies that ONNX Runtime expands (expansion.c) get the prefix
 * _inlfunc_<Function>, made unique by _token_<n> with one counter per graph. Unnamed nodes are recorded as
 * <OpType>_<index>. */

static bool is_numbered(const struct oc_prof_rec *r)
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
    const char *alias = oc_printf(x->arena, "%s_%s", prefix, name);
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
static void name_bodies(struct oc_matcher *x, const struct oc_expansion *e, const char **prefix_of)
{
    struct oc_map taken = {.arena = x->arena};
    unsigned token = 0;
    for (size_t i = 0; i < e->n; i++) {
        if (!e->block[i].expanded)
            continue;
        const struct oc_node *n = &x->m->node[e->block[i].node];
        const char *prefix = oc_printf(x->arena, "_inlfunc_%s", n->op_type);
        uint32_t id = (uint32_t)i;
        while (!oc_map_add(&taken, prefix, strlen(prefix), &id, NULL))
            prefix = oc_printf(x->arena, "_inlfunc_%s_token_%u", n->op_type, token++);
        if (n->kind == OC_NODE_CALL && n->body != OC_NONE)
            prefix_of[n->body] = prefix;
        else
            oc_map_set(&x->bodies, prefix, strlen(prefix), e->block[i].node);
    }
    oc_map_free(&taken);
}

/* ---- public ----------------------------------------------------------------------------------------- */

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
        uint32_t node = is_numbered(r) && r->parent == OC_NONE ? oc_index_nth(&x->x, 0, r->index) : OC_NONE;
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
        if (!x->p->rec[i].bucket && is_numbered(&x->p->rec[i]) && may_be_in(x, k, i, graph))
            rec[n++] = i;
    oc_expand_graph(x, graph, rec, n, k->start_ns, &x->expansion[graph]);
    free(rec);
}

void oc_match_expand(struct oc_matcher *x)
{
    const char **prefix_of = OC_NEW_ARRAY(x->arena, (size_t)x->m->n_graph + 1, const char *);
    struct known known = find_known(x);
    x->bodies.arena = x->arena;
    x->expansion = OC_NEW_ARRAY(x->arena, (size_t)x->m->n_graph + 1, struct oc_expansion);
    for (uint32_t graph = 0; graph < x->m->n_graph; graph++)
        if (is_runtime_graph(x->m, graph)) {
            expand_graph(x, graph, &known);
            name_bodies(x, &x->expansion[graph], prefix_of);
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
    return !b->expanded && !n->name[0] && oc_match_made_of(r->op_type, n->op_type) &&
           oc_match_output_fits(x, r, b->node);
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
    for (uint32_t g = 0; !*part && x->expansion && is_numbered(r) && g < x->m->n_graph; g++) {
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
