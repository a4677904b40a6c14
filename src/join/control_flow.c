#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "join/join.h"

/* Control flow as shown by a profile: the branch of an If whose nodes have times, and the number of
 * iterations per loop execution. */

/* Calls of the body's nodes that have a record: their number, and the maximum calls per run of one node. */
struct seen {
    uint32_t nodes;
    double calls;
};

static void collect_calls(const struct oc_matcher *x, uint32_t graph, struct seen *s)
{
    const struct oc_graph *g = &x->m->graph[graph];
    for (uint32_t i = 0; i < g->n_node; i++) {
        const struct oc_node *n = &x->m->node[g->node[i]];
        uint32_t rec = x->owner[g->node[i]];
        if (rec != OC_NONE) {
            s->nodes++;
            if (x->p->rec[rec].calls_per_run > s->calls)
                s->calls = x->p->rec[rec].calls_per_run;
        }
        for (uint32_t a = 0; a < n->n_attr; a++)
            for (uint32_t k = 0; n->attr[a].graph && k < n->attr[a].n; k++) {
                struct seen inner = {0};
                collect_calls(x, n->attr[a].graph[k], &inner);
                s->nodes += inner.nodes;
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

static bool branch_taken(const struct oc_matcher *x, const struct oc_node *n, int64_t *value)
{
    uint32_t g[2];
    struct seen s[2] = {{0}, {0}};
    if (!body(n, "else_branch", &g[0]) || !body(n, "then_branch", &g[1]))
        return false;
    for (int i = 0; i < 2; i++)
        collect_calls(x, g[i], &s[i]);
    *value = s[1].nodes > 0;
    return (s[0].nodes > 0) != (s[1].nodes > 0);
}

static bool observed_trips(const struct oc_matcher *x, const struct oc_node *n, uint32_t id, int64_t *value)
{
    uint32_t g, rec = x->owner[id];
    struct seen s = {0};
    if (!body(n, "body", &g) || rec == OC_NONE || !(x->p->rec[rec].calls_per_run > 0))
        return false;
    collect_calls(x, g, &s);
    double trips = s.calls / x->p->rec[rec].calls_per_run;
    if (!(trips >= 1) || trips > 1e9 || trips != floor(trips))
        return false;
    *value = (int64_t)trips;
    return true;
}

size_t oc_profile_control(const struct oc_model *model, const struct oc_profile *p,
                          struct oc_control_bind **out)
{
    struct oc_arena arena = {0};
    struct oc_matcher x = {.m = model, .p = p, .arena = &arena};
    size_t n = 0, cap = 0;
    *out = NULL;
    if (model->n_graph < 2)
        return 0;
    oc_match_all(&x, NULL);
    for (uint32_t i = 0; i < model->n_node; i++) {
        const struct oc_node *node = &model->node[i];
        int64_t value;
        bool found = strcmp(node->op_type, "If") == 0 ? branch_taken(&x, node, &value)
                                                      : observed_trips(&x, node, i, &value);
        if (!found)
            continue;
        OC_GROW(*out, n, cap);
        (*out)[n++] = (struct oc_control_bind){.node = i, .value = value};
    }
    oc_match_free(&x);
    oc_arena_free(&arena);
    return n;
}
