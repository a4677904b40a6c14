/* Matching through the model that the runtime saved after optimization: every event has a node there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ck.h"
#include "base/str.h"
#include "join/expansion.h"
#include "join/join.h"

#define MAX_SET  4096
#define MAX_SAME 64 /* parts of a tensor, values and nodes of one name: more are not looked at */

/* Uses the model that the runtime saved after optimization. Every event matches a node there by name. That
 * node corresponds to the original nodes between its input tensors and its output tensors: tensor names
 * are preserved except around inserted layout conversions. */
struct companion {
    struct oc_matcher *x;
    const struct oc_model *o;
    struct oc_graph_index oi;
    uint32_t *origin;      /* by value of the optimized model: original value, OC_NONE */
    bool *border;          /* by original value: also present in the optimized model */
    uint32_t *graph;       /* by graph of the optimized model: the original graph, OC_NONE */
    bool *skipped;         /* by graph of the optimized model: a branch that did not run */
    struct oc_map unnamed; /* types of its unnamed nodes */
    uint32_t *anchored;    /* by node: the record with that node, OC_NONE */
    uint32_t *equal;       /* by the first of equal nodes: a record with one of them, OC_NONE */
};

/* Inserted by the optimizer to convert the representation of the same numbers. */
static bool is_layout(const struct companion *c, const struct oc_node *n)
{
    static const char *const type[] = {"Reshape", "Transpose",      "Cast",        "Identity",
                                       "Squeeze", "MemcpyFromHost", "MemcpyToHost"};
    if (oc_equal(n->op_type, "ReorderInput") || oc_equal(n->op_type, "ReorderOutput"))
        return true;
    for (size_t i = 0; i < OC_COUNT(type); i++)
        if (oc_equal(n->op_type, type[i]))
            return oc_match_inserted(n->name, n->op_type) &&
                   oc_map_get(&c->x->x.nodes, n->name, strlen(n->name)) == OC_NONE;
    return false;
}

/* An If and its branches may have outputs of the same name. */
static uint32_t original_value(const struct companion *c, const char *name, size_t n, uint32_t graph)
{
    const uint32_t *next;
    uint32_t found = oc_index_value(&c->x->x, name, n, &next), best = found;
    const char *bare = found == OC_NONE ? oc_match_without_cast(name) : NULL;
    if (bare && n > (size_t)(bare - name))
        return original_value(c, bare, n - (size_t)(bare - name), graph);
    uint32_t v = next ? found : OC_NONE;
    for (unsigned n_same = 0; v != OC_NONE && n_same < MAX_SAME; v = next[v], n_same++) {
        uint32_t in = c->x->m->value[v].graph, was = c->x->m->value[best].graph;
        if (in != was && (in == graph || (in == 0 && was != graph)))
            best = v;
    }
    return best;
}

/* The original tensor that a node's output of another name corresponds to, in any layout. */
static uint32_t origin_of_output(const struct companion *c, const struct oc_node *n)
{
    return is_layout(c, n) && n->n_in && n->in[0] != OC_NONE ? c->origin[n->in[0]] : OC_NONE;
}

/* The body of an original node with the name, type and attribute of this body's node. */
static uint32_t original_graph(const struct companion *c, uint32_t graph)
{
    const struct oc_node *n = &c->o->node[c->o->graph[graph].parent_node];
    const uint32_t *next;
    uint32_t i = n->name[0] ? oc_index_node(&c->x->x, n->name, strlen(n->name), &next) : OC_NONE;
    for (unsigned n_same = 0; i != OC_NONE && n_same < MAX_SAME; i = next ? next[i] : OC_NONE, n_same++) {
        const struct oc_node *own = &c->x->m->node[i];
        for (uint32_t k = 0; k < n->n_attr && own->graph == c->graph[n->graph]; k++) {
            const struct oc_attr *a = oc_node_attr(own, n->attr[k].name);
            if (n->attr[k].graph && n->attr[k].n && n->attr[k].graph[0] == graph &&
                oc_equal(own->op_type, n->op_type) && a && a->graph && a->n)
                return a->graph[0];
        }
    }
    return OC_NONE;
}

static void find_graphs(struct companion *c)
{
    const struct oc_analysis *a = c->x->a;
    c->graph[0] = 0;
    for (uint32_t g = 1; g < c->o->n_graph; g++) {
        uint32_t own = c->graph[g] = c->o->graph[g].parent_node == OC_NONE ? OC_NONE : original_graph(c, g);
        const struct oc_graph *body = own == OC_NONE ? NULL : &c->x->m->graph[own];
        for (uint32_t i = 0; a && body && i < body->n_node; i++)
            c->skipped[g] |= a->cost[body->node[i]].state == OC_NODE_NOT_TAKEN;
    }
}

static void find_origins(struct companion *c)
{
    const struct oc_model *o = c->o;
    for (uint32_t v = 0; v < o->n_value; v++) {
        const char *name = o->value[v].name;
        uint32_t graph = c->graph[o->value[v].graph];
        c->origin[v] = name[0] ? original_value(c, name, strlen(name), graph) : OC_NONE;
    }
    for (uint32_t g = 0; g < o->n_graph; g++)
        for (uint32_t i = 0; i < o->graph[g].n_node; i++) {
            const struct oc_node *n = &o->node[o->graph[g].node[i]];
            for (uint32_t k = 0; k < n->n_out; k++)
                if (n->out[k] != OC_NONE && c->origin[n->out[k]] == OC_NONE)
                    c->origin[n->out[k]] = origin_of_output(c, n);
        }
    for (uint32_t v = 0; v < o->n_value; v++) /* forward: a later ReorderOutput may have the original name */
        for (uint32_t i = c->oi.use_first[v]; c->origin[v] == OC_NONE && i < c->oi.use_first[v + 1]; i++) {
            const struct oc_node *user = &o->node[c->oi.use[i]];
            if (is_layout(c, user) && user->n_out && user->out[0] != OC_NONE)
                c->origin[v] = c->origin[user->out[0]];
        }
    for (uint32_t v = 0; v < o->n_value; v++)
        if (c->origin[v] != OC_NONE)
            c->border[c->origin[v]] = true;
    for (uint32_t v = 0; v < c->x->m->n_value; v++) /* whichever of equal values the runtime kept */
        c->border[c->x->x.equal_value[v]] |= c->border[v];
    for (uint32_t v = 0; v < c->x->m->n_value; v++)
        c->border[v] |= c->border[c->x->x.equal_value[v]];
}

/* Whether the node that computes the value may be part of the record: no other record is known to have run it. */
static bool may_collect(const struct companion *c, uint32_t rec, uint32_t node)
{
    uint32_t owner = c->x->owner[node], anchor = c->anchored[node];
    if (anchor == OC_NONE)
        anchor = c->equal[c->x->x.equal[node]];
    return oc_match_runs(c->x, node) && !oc_match_ran_as_equal(c->x, node) &&
           (anchor == OC_NONE || anchor == rec) &&
           (owner == OC_NONE || owner == rec ||
            oc_type_set_has(OC_MATCH_COPIED, c->x->m->node[node].op_type)) &&
           c->x->match[rec].n_node < MAX_SET;
}

static void collect_one(struct companion *c, uint32_t rec, uint32_t value)
{
    uint32_t from = oc_match_producer(c->x, value);
    if (from != OC_NONE && may_collect(c, rec, from))
        oc_match_add(c->x, rec, from);
}

/* All nodes upstream of the value, up to tensors that are in the optimized model. */
static void collect(struct companion *c, uint32_t rec, uint32_t value)
{
    const struct oc_match *m = &c->x->match[rec];
    uint32_t i = m->n_node;
    collect_one(c, rec, value);
    for (; i < m->n_node; i++) {
        const struct oc_node *n = &c->x->m->node[m->node[i]];
        for (uint32_t k = 0; k < n->n_in; k++)
            if (n->in[k] != OC_NONE && !c->border[n->in[k]])
                collect_one(c, rec, n->in[k]);
    }
}

/* Of a branch that ran, if both have such a node. */
static const struct oc_node *named_node(const struct companion *c, const struct oc_prof_rec *r)
{
    const struct oc_node *found = NULL;
    for (uint32_t i = oc_map_get(&c->oi.nodes, r->name, strlen(r->name)); i != OC_NONE && r->name[0];
         i = c->oi.next_node[i])
        if (oc_equal(c->o->node[i].op_type, r->op_type) && (!found || c->skipped[found->graph]))
            found = &c->o->node[i];
    return found;
}

/* Whether the optimized model cannot have run that record. */
static bool is_foreign(const struct companion *c, const struct oc_prof_rec *r)
{
    return !named_node(c, r) &&
           (!oc_match_numbered(r) || oc_map_get(&c->unnamed, r->op_type, strlen(r->op_type)) == OC_NONE);
}

static void list_unnamed(struct companion *c)
{
    for (uint32_t i = 0; i < c->o->n_node; i++)
        if (!c->o->node[i].name[0])
            oc_map_set(&c->unnamed, c->o->node[i].op_type, strlen(c->o->node[i].op_type), i);
}

/* The unnamed node of that type that produces the output of the original node. */
static const struct oc_node *same_output(const struct companion *c, uint32_t own)
{
    const struct oc_node *n = &c->x->m->node[own], *saved;
    const char *name = n->n_out && n->out[0] != OC_NONE ? c->x->m->value[n->out[0]].name : "";
    uint32_t v = name[0] ? oc_map_get(&c->oi.values, name, strlen(name)) : OC_NONE;
    if (v == OC_NONE || c->o->value[v].producer == OC_NONE)
        return NULL;
    saved = &c->o->node[c->o->value[v].producer];
    return !saved->name[0] && oc_equal(saved->op_type, n->op_type) ? saved : NULL;
}

/* Nodes that do not contain the one that the index determines (`own`, or OC_NONE) were paired wrongly. */
static bool drop_contradiction(struct companion *c, uint32_t rec, uint32_t own)
{
    struct oc_match *m = &c->x->match[rec];
    bool has_own = own == OC_NONE || oc_ids_have(m->node, m->n_node, own);
    if (!has_own)
        oc_match_drop(c->x, rec);
    return !has_own;
}

/* Where the origin of an input is not known, the nodes before it are not all of the record. */
static bool reads_unknown(const struct companion *c, const struct oc_node *n)
{
    for (uint32_t k = 0; k < n->n_in; k++)
        if (n->in[k] != OC_NONE && c->origin[n->in[k]] == OC_NONE &&
            c->o->value[n->in[k]].producer != OC_NONE)
            return true;
    return false;
}

static void match_one(struct companion *c, uint32_t rec)
{
    bool part;
    uint32_t own = oc_match_node_at_index(c->x, rec, &part);
    if (part) {
        oc_match_by_index(c->x, rec);
        return;
    }
    const struct oc_node *n = own == OC_NONE ? NULL : same_output(c, own);
    const struct oc_node *named = named_node(c, &c->x->p->rec[rec]);
    n = named ? named : n;
    if (!n || is_layout(c, n) || reads_unknown(c, n))
        return;
    bool passes = true; /* only a conversion of its input: inserted */
    for (uint32_t k = 0; k < n->n_out; k++) {
        uint32_t v = n->out[k] == OC_NONE ? OC_NONE : c->origin[n->out[k]];
        bool same = false;
        for (uint32_t i = 0; i < n->n_in; i++)
            same |= n->in[i] != OC_NONE && v != OC_NONE && c->origin[n->in[i]] == v;
        if (v == OC_NONE || same)
            continue;
        passes = false;
        collect(c, rec, v);
    }
    struct oc_match *m = &c->x->match[rec];
    if (passes || !m->n_node || drop_contradiction(c, rec, own))
        return;
    m->rule = "optimized model";
    m->confidence = 1;
    m->whole = true;
    m->core = m->node[0];
}

/* What names and indexes say without the optimized model. */
static void find_own(struct companion *c)
{
    const struct oc_profile *p = c->x->p;
    c->anchored = OC_NEW_ARRAY(c->x->arena, (size_t)c->x->m->n_node + 1, uint32_t);
    c->equal = OC_NEW_ARRAY(c->x->arena, (size_t)c->x->m->n_node + 1, uint32_t);
    memset(c->anchored, 0xff, c->x->m->n_node * sizeof(*c->anchored));
    memset(c->equal, 0xff, c->x->m->n_node * sizeof(*c->equal));
    for (uint32_t i = 0; i < p->n_rec; i++) {
        bool part;
        if (p->rec[i].bucket)
            continue;
        uint32_t own = oc_match_node_at_index(c->x, i, &part);
        if (own == OC_NONE)
            own = oc_match_by_plain_name(c->x, i);
        if (own != OC_NONE && c->anchored[own] == OC_NONE)
            c->anchored[own] = c->equal[c->x->x.equal[own]] = i;
    }
}

void oc_match_companion(struct oc_matcher *x, const struct oc_model *optimized)
{
    struct companion c = {.x = x, .o = optimized, .unnamed = {.arena = x->arena}};
    oc_index_make(&c.oi, optimized, x->arena);
    c.origin = OC_NEW_ARRAY(x->arena, (size_t)optimized->n_value + 1, uint32_t);
    c.border = OC_NEW_ARRAY(x->arena, (size_t)x->m->n_value + 1, bool);
    c.graph = OC_NEW_ARRAY(x->arena, (size_t)optimized->n_graph + 1, uint32_t);
    c.skipped = OC_NEW_ARRAY(x->arena, (size_t)optimized->n_graph + 1, bool);
    find_graphs(&c);
    find_origins(&c);
    list_unnamed(&c);
    find_own(&c);
    for (uint32_t rec = 0; rec < x->p->n_rec; rec++) {
        if (x->p->rec[rec].bucket)
            continue;
        x->n_strange += is_foreign(&c, &x->p->rec[rec]);
        match_one(&c, rec);
    }
    oc_map_free(&c.unnamed);
    oc_index_free(&c.oi);
}
