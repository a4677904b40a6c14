/* Shared by all rules of the join: assigns nodes to a record. */
#include <string.h>

#include "join/join.h"

void oc_match_add(struct oc_matcher *x, uint32_t rec, uint32_t node)
{
    struct oc_match *m = &x->match[rec];
    for (uint32_t i = 0; i < m->n_node; i++)
        if (m->node[i] == node)
            return;
    if (m->n_node == m->cap) {
        uint32_t cap = m->cap ? m->cap * 2 : 2;
        uint32_t *more = OC_NEW_ARRAY(x->arena, cap, uint32_t);
        if (m->n_node)
            memcpy(more, m->node, m->n_node * sizeof(*more));
        m->node = more;
        m->cap = cap;
    }
    m->node[m->n_node++] = node;
    if (x->owner[node] == OC_NONE)
        x->owner[node] = rec;
}

void oc_match_core(struct oc_matcher *x, uint32_t rec, uint32_t node, const char *rule, double confidence)
{
    struct oc_match *m = &x->match[rec];
    m->core = node;
    m->rule = rule;
    m->confidence = confidence;
    oc_match_add(x, rec, node);
}

bool oc_match_runs(const struct oc_matcher *x, uint32_t node)
{
    const struct oc_node *n = &x->m->node[node];
    if (x->a) {
        uint8_t state = x->a->cost[node].state;
        return state != OC_NODE_FOLDED && state != OC_NODE_NOT_TAKEN && state != OC_NODE_ABSORBED;
    }
    if (n->n_in == 0) /* without an analysis: constants, and nodes that read only initializers */
        return strcmp(n->op_type, "Constant") != 0;
    for (uint32_t k = 0; k < n->n_in; k++)
        if (n->in[k] != OC_NONE && !x->m->value[n->in[k]].constant)
            return true;
    return false;
}

const struct oc_type *oc_match_main_input(const struct oc_prof_rec *r)
{
    const struct oc_type *best = r->n_in ? &r->in[0] : NULL;
    for (uint32_t i = 1; i < r->n_in; i++)
        if (r->in[i].kind == OC_T_TENSOR && r->in[i].shape.ranked && r->in[i].shape.rank > best->shape.rank)
            best = &r->in[i];
    return best;
}
