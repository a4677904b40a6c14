#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "join/function_bodies.h"
#include "join/join.h"

/* ONNX Runtime expands calls of local functions, and operators without a kernel that the standard defines as
 * functions, before it runs a graph: the nodes of a body are appended to the graph in the order of the calls,
 * those of nested calls after all of them. So the index of a record determines its node; unnamed nodes are
 * recorded as <OpType>_<index>. Names of nodes and tensors in a body get the prefix _inlfunc_<Function>, made
 * unique by _token_<n> with one counter per graph.
 *
 * The expansion is repeated here for every graph. Which operators have no kernel is not recorded: of the
 * assumptions, the one that explains most records and contradicts none is used. */

#define MAX_ITEMS  ((size_t)1 << 22)
#define MAX_TYPES  64
#define MAX_SHIFTS 32
#define MAX_STEPS  ((size_t)1 << 20) /* in the search for a shift */

struct item {
    uint32_t node;    /* of the model */
    const char *type; /* of the node that runs: of the body if `part` */
    bool part;        /* belongs to the body of the function operator `node` */
    bool expanded;
};

struct oc_expansion { /* one graph; index: node index in ONNX Runtime */
    struct item *item;
    size_t n, cap, own; /* own: nodes of the graph itself */
    int64_t shift;      /* added to the index of nodes of bodies: nodes created before the expansion */
};

struct form {
    const char *type;
    const struct oc_function_body *body;
    size_t n, chosen; /* chosen: form of the body, n: the operator has a kernel */
    bool has_kernel;  /* a record shows it */
};

struct expanding {
    struct oc_matcher *x;
    uint32_t *rec; /* unnamed records of the graph, heap */
    size_t n_rec, rec_cap;
    struct form form[MAX_TYPES];
    size_t n_form;
    struct oc_map types; /* function types to `form` */
    struct oc_map parts; /* op types of bodies, interned: bodies are static texts separated by blanks */
};

/* ---- the expansion of one graph ------------------------------------------------------------------------ */

static void add_item(struct oc_expansion *e, uint32_t node, const char *type, bool part)
{
    OC_GROW(e->item, e->n, e->cap);
    e->item[e->n++] = (struct item){node, type, part, false};
}

static void add_nodes(const struct oc_matcher *x, struct oc_expansion *e, uint32_t graph)
{
    uint32_t node;
    for (int64_t k = 0; (node = oc_index_nth(&x->x, graph, k)) != OC_NONE; k++)
        add_item(e, node, x->m->node[node].op_type, false);
}

static const char *intern(struct oc_map *map, const char *s, size_t n)
{
    const char *stored;
    uint32_t id = 0;
    oc_map_add(map, s, n, &id, &stored);
    return stored;
}

static void add_body(struct expanding *g, struct oc_expansion *e, uint32_t node, const char *ops)
{
    for (const char *at = ops; *at;) {
        size_t n = strcspn(at, " ");
        add_item(e, node, intern(&g->parts, at, n), true);
        at += n + (at[n] == ' ');
    }
}

static const struct form *form_of(const struct expanding *g, const char *type)
{
    uint32_t i = oc_map_get(&g->types, type, strlen(type));
    return i == OC_NONE ? NULL : &g->form[i];
}

static bool is_call(const struct oc_matcher *x, const struct item *i)
{
    const struct oc_node *n = &x->m->node[i->node];
    return !i->part && n->kind == OC_NODE_CALL && n->body != OC_NONE;
}

/* Appends the bodies in the order of the calls: breadth first. */
static void expand(struct expanding *g, struct oc_expansion *e, uint32_t graph)
{
    e->n = 0;
    add_nodes(g->x, e, graph);
    e->own = e->n;
    for (size_t i = 0; i < e->n && e->n < MAX_ITEMS; i++) {
        struct item it = e->item[i];
        const struct form *f = is_call(g->x, &it) ? NULL : form_of(g, it.type);
        if (is_call(g->x, &it))
            add_nodes(g->x, e, g->x->m->node[it.node].body);
        else if (f && f->chosen < f->n)
            add_body(g, e, it.node, f->body[f->chosen].ops);
        else
            continue;
        e->item[i].expanded = true;
    }
}

static const struct item *item_at(const struct oc_expansion *e, int64_t index)
{
    if (index >= 0 && (uint64_t)index < e->own)
        return &e->item[index];
    index -= e->shift;
    return index >= (int64_t)e->own && (uint64_t)index < e->n ? &e->item[index] : NULL;
}

/* ---- how well the records agree ------------------------------------------------------------------------ */

static bool is_numbered(const struct oc_prof_rec *r)
{
    char want[32];
    size_t n = strlen(r->op_type);
    snprintf(want, sizeof(want), "_%lld", (long long)r->index);
    return r->index >= 0 && strncmp(r->name, r->op_type, n) == 0 && strcmp(r->name + n, want) == 0;
}

/* A part of an elementwise function has the shape of its result, or is computed from constants. */
static bool part_shape_fits(const struct oc_matcher *x, const struct oc_prof_rec *r, uint32_t node)
{
    const struct oc_op *op = oc_op_find("", x->m->node[node].op_type, 0);
    const struct oc_shape *out = r->n_out ? &r->out[0].shape : NULL, *s = oc_match_output_shape(x, node);
    if (!op || op->op_class != OC_OP_ELEMENTWISE || !out || !s || !oc_shape_known(out) || !oc_shape_known(s))
        return true;
    return out->rank == 0 || (out->rank == 1 && out->dim[0].v == 1) ||
           (out->rank == s->rank && oc_match_same_shape(out, s));
}

static bool fits(const struct oc_matcher *x, const struct oc_prof_rec *r, const struct item *i)
{
    if (i->expanded || !oc_match_made_of(r->op_type, i->type))
        return false;
    return i->part ? part_shape_fits(x, r, i->node)
                   : !x->m->node[i->node].name[0] && oc_match_output_fits(x, r, i->node);
}

static void collect_records(struct expanding *g, uint32_t graph)
{
    g->n_rec = 0;
    for (uint32_t rec = 0; rec < g->x->p->n_rec; rec++) {
        const struct oc_prof_rec *r = &g->x->p->rec[rec];
        if (r->bucket || !is_numbered(r) || !oc_match_in_scope(g->x, rec, graph))
            continue;
        OC_GROW(g->rec, g->n_rec, g->rec_cap);
        g->rec[g->n_rec++] = rec;
    }
}

/* Explained records minus contradictions, which weigh more than any gain. */
static double score_of(const struct expanding *g, const struct oc_expansion *e)
{
    double score = 0;
    for (size_t k = 0; k < g->n_rec; k++) {
        const struct oc_prof_rec *r = &g->x->p->rec[g->rec[k]];
        const struct item *i = item_at(e, r->index);
        if (i)
            score += fits(g->x, r, i) ? 1 : -4;
    }
    return score;
}

/* ---- the assumptions ----------------------------------------------------------------------------------- */

static bool is_recorded(const struct oc_matcher *x, const char *type)
{
    for (uint32_t i = 0; i < x->p->n_rec; i++)
        if (!x->p->rec[i].bucket && strcmp(x->p->rec[i].op_type, type) == 0)
            return true;
    return false;
}

static int64_t opset_of(const struct oc_model *m)
{
    for (uint32_t i = 0; i < m->n_opset; i++)
        if (!m->opset[i].domain[0])
            return m->opset[i].version;
    return INT64_MAX;
}

static void add_type(struct expanding *g, const char *type)
{
    uint32_t id = (uint32_t)g->n_form;
    size_t n;
    const struct oc_function_body *b = oc_function_bodies(type, &n);
    if (!b || g->n_form == MAX_TYPES || !oc_map_add(&g->types, type, strlen(type), &id, NULL))
        return;
    struct form *f = &g->form[g->n_form++];
    *f = (struct form){.type = type, .body = b, .n = n, .chosen = n};
    f->has_kernel = is_recorded(g->x, type);
    for (size_t i = n; i-- > 0 && !f->has_kernel && b->expanded;)
        if (b[i].since <= opset_of(g->x->m))
            f->chosen = i;
    for (size_t i = 0; i < n; i++) /* functions in its body */
        for (const char *at = b[i].ops; *at;) {
            size_t len = strcspn(at, " ");
            add_type(g, intern(&g->parts, at, len));
            at += len + (at[len] == ' ');
        }
}

/* Positions at which the bodies may begin: where a record fits a node of a body. */
static void choose_shift(const struct expanding *g, struct oc_expansion *e, double *best)
{
    int64_t found = e->shift;
    unsigned tries = 0;
    size_t steps = 0;
    for (size_t k = 0; k < g->n_rec && steps < MAX_STEPS; k++) {
        const struct oc_prof_rec *r = &g->x->p->rec[g->rec[k]];
        for (size_t i = e->own; i < e->n && r->index >= (int64_t)i && tries < MAX_SHIFTS; i++, steps++) {
            if (!fits(g->x, r, &e->item[i]))
                continue;
            tries++;
            e->shift = r->index - (int64_t)i;
            double score = score_of(g, e);
            if (score > *best) {
                *best = score;
                found = e->shift;
            }
        }
    }
    e->shift = found;
}

/* The form of one type with the best score. */
static bool choose_form(struct expanding *g, struct oc_expansion *e, uint32_t graph, struct form *f,
                        double *best)
{
    size_t found = f->chosen;
    bool better = false;
    for (size_t c = 0; c <= f->n && !f->has_kernel; c++) {
        f->chosen = c;
        expand(g, e, graph);
        double score = score_of(g, e);
        if (score > *best) {
            *best = score;
            found = c;
            better = true;
        }
    }
    f->chosen = found;
    return better;
}

/* Coordinate ascent over the types: every form of the body, and no expansion. */
static void choose_forms(struct expanding *g, struct oc_expansion *e, uint32_t graph)
{
    expand(g, e, graph);
    double best = score_of(g, e);
    for (bool better = best < (double)g->n_rec; better;) {
        better = false;
        for (size_t k = 0; k < g->n_form; k++)
            better |= choose_form(g, e, graph, &g->form[k], &best);
    }
    expand(g, e, graph);
    if (best <= 0)
        choose_shift(g, e, &best);
    if (best < 0) /* nothing explains the records: only names are used */
        e->n = e->own;
}

/* ---- names in bodies ----------------------------------------------------------------------------------- */

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
        if (!e->item[i].expanded)
            continue;
        const char *prefix = oc_printf(x->arena, "_inlfunc_%s", e->item[i].type);
        uint32_t id = (uint32_t)i;
        while (!oc_map_add(&taken, prefix, strlen(prefix), &id, NULL))
            prefix = oc_printf(x->arena, "_inlfunc_%s_token_%u", e->item[i].type, token++);
        if (is_call(x, &e->item[i]))
            prefix_of[x->m->node[e->item[i].node].body] = prefix;
        else
            oc_map_set(&x->bodies, prefix, strlen(prefix), e->item[i].node);
    }
    oc_map_free(&taken);
}

/* ---- public -------------------------------------------------------------------------------------------- */

static bool is_runtime_graph(const struct oc_model *m, uint32_t graph)
{
    uint32_t parent = m->graph[graph].parent_node;
    return parent == OC_NONE || m->node[parent].kind != OC_NODE_CALL;
}

void oc_match_expand(struct oc_matcher *x)
{
    struct expanding g = {.x = x, .types.arena = x->arena, .parts.arena = x->arena};
    const char **prefix_of = OC_NEW_ARRAY(x->arena, (size_t)x->m->n_graph + 1, const char *);
    x->bodies.arena = x->arena;
    x->expansion = OC_NEW_ARRAY(x->arena, (size_t)x->m->n_graph + 1, struct oc_expansion);
    for (uint32_t i = 0; i < x->m->n_node; i++)
        add_type(&g, x->m->node[i].op_type);
    for (uint32_t graph = 0; graph < x->m->n_graph; graph++) {
        if (!is_runtime_graph(x->m, graph))
            continue;
        collect_records(&g, graph);
        choose_forms(&g, &x->expansion[graph], graph);
        name_bodies(x, &x->expansion[graph], prefix_of);
    }
    for (uint32_t graph = 0; graph < x->m->n_graph; graph++) {
        uint32_t body = body_around(x->m, graph);
        if (body != OC_NONE && prefix_of[body])
            add_aliases(x, graph, body, prefix_of[body]);
    }
    free(g.rec);
    oc_map_free(&g.types);
    oc_map_free(&g.parts);
}

void oc_match_expand_free(struct oc_matcher *x)
{
    for (uint32_t i = 0; x->expansion && i < x->m->n_graph; i++)
        free(x->expansion[i].item);
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

bool oc_match_by_index(struct oc_matcher *x, uint32_t rec)
{
    const struct oc_prof_rec *r = &x->p->rec[rec];
    const struct item *found = NULL;
    bool several = false;
    for (uint32_t g = 0; x->expansion && is_numbered(r) && g < x->m->n_graph; g++) {
        const struct item *i = oc_match_in_scope(x, rec, g) ? item_at(&x->expansion[g], r->index) : NULL;
        if (!i || !fits(x, r, i) || (found && !oc_match_runs(x, i->node)))
            continue;
        several = found && oc_match_runs(x, found->node);
        found = i;
    }
    if (!found || several)
        return false;
    if (found->part)
        take_part(x, rec, found->node, 0.9);
    else
        oc_match_core(x, rec, found->node, "index", r->parent != OC_NONE ? 0.8 : 0.9);
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
