#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "join/join.h"
#include "onnxcost.h"
#include "onnxcost/profile.h"

/* Control flow as shown by a profile: how often the branches of an If and the bodies of loops ran. */

struct flow {
    struct oc_matcher x;
    double *calls; /* by node: executions in all recorded runs, NAN: no record */
    uint64_t runs;
    bool all_matched; /* no record is without nodes */
};

/* The executions of a body: the calls of the node called most often. Nodes of nested bodies are called less
 * or more often; those of local functions once per call. */
struct seen {
    uint32_t nodes; /* with a record */
    double calls;
};

static void collect_calls(const struct flow *f, uint32_t graph, struct seen *s)
{
    const struct oc_graph *g = &f->x.m->graph[graph];
    for (uint32_t i = 0; i < g->n_node; i++) {
        const struct oc_node *n = &f->x.m->node[g->node[i]];
        double calls = f->calls[g->node[i]];
        s->nodes += isnan(calls) ? 0 : 1;
        if (calls > s->calls)
            s->calls = calls;
        if (n->body != OC_NONE)
            collect_calls(f, n->body, s);
    }
}

/* A node has one record for each of its shapes: they have one name. */
static void count_calls(struct flow *f)
{
    const struct oc_matcher *x = &f->x;
    f->calls = OC_NEW_ARRAY(x->arena, (size_t)x->m->n_node + 1, double);
    f->runs = x->p->runs_used ? x->p->runs_used : 1;
    f->all_matched = true;
    for (uint32_t i = 0; i < x->m->n_node; i++)
        f->calls[i] = NAN;
    for (uint32_t i = 0; i < x->p->n_rec; i++) {
        const struct oc_prof_rec *r = &x->p->rec[i];
        const struct oc_match *match = &x->match[i];
        f->all_matched &= r->bucket || match->bucket || match->n_node || match->inner_of != OC_NONE;
        for (uint32_t k = 0; k < match->n_node && match->inner_of == OC_NONE; k++) {
            uint32_t node = match->node[k], owner = x->owner[node];
            double *calls = &f->calls[node];
            if (owner == OC_NONE || strcmp(x->p->rec[owner].name, r->name) != 0)
                continue;
            *calls = (isnan(*calls) ? 0 : *calls) + r->calls_per_run * (r->runs ? (double)r->runs : 1);
        }
    }
}

static bool body(const struct oc_node *n, const char *attr, uint32_t *graph)
{
    const struct oc_attr *a = oc_node_attr(n, attr);
    if (!a || !a->graph || !a->n)
        return false;
    *graph = a->graph[0];
    return true;
}

/* Whether the runtime executes a node of this body that cannot vanish in optimizations. */
static bool has_work(const struct oc_model *m, uint32_t graph)
{
    const struct oc_graph *g = &m->graph[graph];
    for (uint32_t i = 0; i < g->n_node; i++) {
        const struct oc_node *n = &m->node[g->node[i]];
        for (uint32_t k = 0; k < n->n_in; k++)
            if (n->in[k] != OC_NONE && !m->value[n->in[k]].constant && strcmp(n->op_type, "Identity") != 0 &&
                strcmp(n->op_type, "Cast") != 0)
                return true;
    }
    return false;
}

/* False: not whole numbers of executions. */
static bool set_counts(const struct flow *f, struct oc_control_bind *b, const double *body)
{
    const double calls[3] = {f->calls[b->node], body[0], body[1]};
    uint64_t *to[3] = {&b->calls, &b->body[0], &b->body[1]};
    for (unsigned i = 0; i < 3; i++) {
        if (!(calls[i] >= 0) || calls[i] > 1e15 || fabs(calls[i] - round(calls[i])) > 1e-6)
            return false;
        *to[i] = (uint64_t)llround(calls[i]);
        b->mean |= *to[i] % f->runs != 0;
    }
    for (unsigned i = 0; i < 3 && !b->mean; i++)
        *to[i] /= f->runs;
    return b->calls > 0;
}

static bool branch_taken(const struct flow *f, const struct oc_node *n, struct oc_control_bind *b)
{
    uint32_t g[2];
    struct seen s[2] = {{0}, {0}};
    if (!body(n, "else_branch", &g[0]) || !body(n, "then_branch", &g[1]))
        return false;
    for (int i = 0; i < 2; i++)
        collect_calls(f, g[i], &s[i]);
    if (!s[0].nodes && !s[1].nodes) { /* a branch without work, if any */
        b->value = has_work(f->x.m, g[0]);
        return f->all_matched && !isnan(f->calls[b->node]) && has_work(f->x.m, g[1]) != (b->value != 0);
    }
    const double all = f->calls[b->node], then = s[1].nodes ? s[1].calls : all - s[0].calls;
    const double calls[2] = {all - then, then};
    b->value = s[1].nodes > 0;
    if (!isnan(all) && s[0].nodes && s[0].calls != calls[0])
        return false; /* not all executions were recorded */
    if (isnan(all) || (s[b->value].calls >= all && !s[!b->value].nodes))
        return (s[0].nodes > 0) != (s[1].nodes > 0);
    b->value = -1;
    return set_counts(f, b, calls);
}

static bool observed_trips(const struct flow *f, const struct oc_node *n, struct oc_control_bind *b)
{
    uint32_t g;
    struct seen s = {0};
    if (!body(n, "body", &g) || isnan(f->calls[b->node]))
        return false;
    collect_calls(f, g, &s);
    if (s.nodes == 0 && (!f->all_matched || !has_work(f->x.m, g)))
        return false; /* perhaps the names are not known */
    const double calls[2] = {s.calls, 0};
    if (!set_counts(f, b, calls))
        return false;
    b->value = b->mean || b->body[0] % b->calls ? -1 : (int64_t)(b->body[0] / b->calls);
    return true;
}

size_t oc_profile_control(const struct oc_model *model, const struct oc_profile *p,
                          struct oc_control_bind **out)
{
    struct oc_arena arena = {0};
    struct flow f = {.x = {.m = model, .p = p, .arena = &arena}};
    size_t n = 0, cap = 0;
    *out = NULL;
    if (model->n_graph < 2)
        return 0;
    oc_match_all(&f.x, NULL);
    count_calls(&f);
    for (uint32_t i = 0; i < model->n_node; i++) {
        const struct oc_node *node = &model->node[i];
        struct oc_control_bind b = {.node = i};
        const struct oc_op *op = oc_op_find(node->domain, node->op_type, node->opset);
        if (op && op->body == OC_BODY_IF ? !branch_taken(&f, node, &b) : !observed_trips(&f, node, &b))
            continue;
        OC_GROW(*out, n, cap);
        (*out)[n++] = b;
    }
    oc_match_free(&f.x);
    oc_arena_free(&arena);
    return n;
}
