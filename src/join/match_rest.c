/* Nodes with work that no record has after all rules: the record that must have computed what it reads. */
#include <string.h>

#include "base/arena.h"
#include "base/str.h"
#include "join/expansion.h"
#include "join/join.h"

struct rest {
    struct oc_matcher *x;
    uint32_t *into; /* by open node: the only record that needs its results, OC_NONE */
    uint32_t tries;
};

static bool has_work(const struct oc_matcher *x, uint32_t node)
{
    const struct oc_node_cost *c = &x->a->cost[node];
    return c->quality == OC_UNKNOWN || c->macs || c->flops || c->ops;
}

#define MAX_TRIES (1u << 24)

/* Another record without nodes may be that node; so may it after too many tries. */
static bool may_have_own(struct rest *s, uint32_t node)
{
    const struct oc_matcher *x = s->x;
    s->tries += x->p->n_rec;
    for (uint32_t i = 0; i < x->p->n_rec && s->tries < MAX_TRIES; i++)
        if (!x->p->rec[i].bucket && !x->match[i].n_node && !x->match[i].bucket &&
            x->match[i].inner_of == OC_NONE &&
            oc_match_may_stand_for(x->p->rec[i].op_type, x->m->node[node].op_type))
            return true;
    return s->tries >= MAX_TRIES;
}

/* A record that runs nothing but its own node computes no other one. */
static bool is_group(const struct oc_matcher *x, uint32_t rec)
{
    return !oc_match_unfused(x, rec) && !oc_equal(x->match[rec].rule, "function body");
}

uint32_t oc_match_reading_record(const struct oc_matcher *x, uint32_t node, const uint32_t *into)
{
    const struct oc_node *n = &x->m->node[node];
    uint32_t found = OC_NONE;
    for (uint32_t k = 0; k < n->n_out; k++) {
        uint32_t v = n->out[k];
        if (v != OC_NONE && x->m->value[v].graph_output)
            return OC_NONE;
        for (uint32_t i = v == OC_NONE ? 0 : x->x.use_first[v]; v != OC_NONE && i < x->x.use_first[v + 1];
             i++) {
            uint32_t user = x->x.use[i];
            uint32_t rec = x->owner[user] != OC_NONE || !into ? x->owner[user] : into[user];
            if (!oc_match_runs(x, user))
                continue;
            if (rec == OC_NONE || (found != OC_NONE && rec != found))
                return OC_NONE;
            found = rec;
        }
    }
    return found;
}

static void find_records(struct rest *s)
{
    const struct oc_model *m = s->x->m;
    for (uint32_t g = m->n_graph; g-- > 0;)
        for (uint32_t k = m->graph[g].n_node; k-- > 0;) {
            uint32_t node = m->graph[g].node[k];
            uint32_t rec = oc_match_open(s->x, node) ? oc_match_reading_record(s->x, node, s->into) : OC_NONE;
            s->into[node] = rec != OC_NONE && is_group(s->x, rec) ? rec : OC_NONE;
        }
}

/* A node before it is already in the same record. */
static bool is_between(const struct rest *s, uint32_t node)
{
    const struct oc_node *n = &s->x->m->node[node];
    for (uint32_t k = 0; k < n->n_in; k++) {
        uint32_t from = n->in[k] == OC_NONE ? OC_NONE : s->x->m->value[n->in[k]].producer;
        if (from != OC_NONE && s->x->owner[from] == s->into[node])
            return true;
    }
    return false;
}

void oc_match_rest(struct oc_matcher *x)
{
    struct rest s = {.x = x, .into = OC_NEW_ARRAY(x->arena, (size_t)x->m->n_node + 1, uint32_t)};
    if (!x->a || !oc_equal(x->p->format, "onnxruntime"))
        return;
    memset(s.into, 0xff, x->m->n_node * sizeof(*s.into));
    find_records(&s);
    for (uint32_t g = 0; g < x->m->n_graph; g++)
        for (uint32_t k = 0; k < x->m->graph[g].n_node; k++) {
            uint32_t node = x->m->graph[g].node[k], rec = s.into[node];
            if (rec == OC_NONE || !oc_match_open(x, node) || oc_match_removed(x, node) ||
                oc_match_ran_as_equal(x, node))
                continue;
            if (oc_match_may_contain(x, rec, node) &&
                (has_work(x, node) ? !may_have_own(&s, node) : is_between(&s, node)))
                oc_match_add(x, rec, node);
        }
}
