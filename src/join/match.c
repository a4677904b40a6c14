/* Shared by all rules of the join: assigns nodes to a record. */
#include <math.h>
#include <string.h>

#include "join/join.h"
#include "join/type_sets.h"

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
        return !oc_node_is_constant(n);
    for (uint32_t k = 0; k < n->n_in; k++)
        if (n->in[k] != OC_NONE && !x->m->value[n->in[k]].constant)
            return true;
    return false;
}

static bool is_number(const struct oc_matcher *x, uint32_t value, int number)
{
    const struct oc_tensor *t = value == OC_NONE || !x->a ? NULL : oc_analysis_constant(x->a, value);
    struct oc_elem e;
    if (!t || t->elements != 1 || t->storage == OC_STORE_EXTERNAL ||
        !oc_tensor_elems(x->m, t, 1, &e, x->arena))
        return false;
    return e.kind == OC_E_REAL ? fabs(e.r - number) == 0
                               : e.kind == OC_E_INT && oc_is_known(e.i) && e.i.v == number;
}

/* The sum with 0, the product with 1. */
static bool is_neutral(const struct oc_matcher *x, const struct oc_node *n)
{
    bool sum = oc_type_set_has(" Add Sub ", n->op_type), product = oc_type_set_has(" Mul Div ", n->op_type);
    bool ordered = oc_type_set_has(" Sub Div ", n->op_type);
    return (sum || product) && n->n_in == 2 &&
           (is_number(x, n->in[1], product) || (!ordered && is_number(x, n->in[0], product)));
}

bool oc_match_removed(const struct oc_matcher *x, uint32_t node)
{
    const struct oc_node *n = &x->m->node[node];
    return x->owner[node] == OC_NONE && oc_match_runs(x, node) && oc_equal(x->p->format, "onnxruntime") &&
           (strcmp(n->op_type, "Identity") == 0 || (strcmp(n->op_type, "Dropout") == 0 && n->n_in < 3) ||
            is_neutral(x, n));
}

const struct oc_type *oc_match_main_input(const struct oc_prof_rec *r)
{
    const struct oc_type *best = r->n_in ? &r->in[0] : NULL;
    for (uint32_t i = 1; i < r->n_in; i++)
        if (r->in[i].kind == OC_T_TENSOR && r->in[i].shape.ranked && r->in[i].shape.rank > best->shape.rank)
            best = &r->in[i];
    return best;
}

/* ---- recorded shapes -------------------------------------------------------------------------------- */

static bool same_dims(const struct oc_shape *a, const struct oc_shape *b)
{
    bool taken[OC_MAX_RANK] = {false};
    for (unsigned i = 0; i < a->rank; i++) {
        unsigned k = 0;
        while (k < b->rank && (taken[k] || b->dim[k].v != a->dim[i].v))
            k++;
        if (k == b->rank)
            return false;
        taken[k] = true;
    }
    return true;
}

/* Blocked layouts pad the channels. */
static bool is_padded(const struct oc_shape *recorded, const struct oc_shape *model)
{
    for (unsigned i = 0; i < model->rank; i++)
        if (i != 1 && recorded->dim[i].v != model->dim[i].v)
            return false;
    int64_t more = model->rank == 4 ? recorded->dim[1].v - model->dim[1].v : -1; /* images only */
    return more >= 0 && more < OC_MATCH_MAX_BLOCK && recorded->dim[1].v % 4 == 0;
}

static int64_t elements(const struct oc_shape *s)
{
    int64_t n = 1;
    for (unsigned i = 0; i < s->rank; i++)
        if (__builtin_mul_overflow(n, s->dim[i].v, &n))
            return -1;
    return n;
}

/* [N, C / block, H, W, block] as [N, C, H, W]. */
static struct oc_shape unblocked(const struct oc_shape *s, struct oc_dim *dim)
{
    struct oc_shape plain = {.dim = dim, .rank = 4, .ranked = true};
    memcpy(dim, s->dim, 4 * sizeof(*dim));
    if (__builtin_mul_overflow(dim[1].v, s->dim[4].v, &dim[1].v))
        dim[1].v = -1;
    return plain;
}

bool oc_match_same_shape(const struct oc_shape *recorded, const struct oc_shape *model)
{
    struct oc_dim dim[4];
    if (!oc_shape_known(recorded) || !oc_shape_known(model))
        return true;
    if (recorded->rank == model->rank)
        return same_dims(recorded, model) || is_padded(recorded, model);
    if (elements(recorded) == elements(model))
        return true;
    if (recorded->rank != 5 || model->rank != 4)
        return false;
    struct oc_shape plain = unblocked(recorded, dim);
    return is_padded(&plain, model);
}

const struct oc_shape *oc_match_output_shape(const struct oc_matcher *x, uint32_t node)
{
    const struct oc_node *n = &x->m->node[node];
    uint32_t v = n->n_out ? n->out[0] : OC_NONE;
    return x->a && v != OC_NONE && x->a->type[v].kind == OC_T_TENSOR ? &x->a->type[v].shape : NULL;
}

bool oc_match_output_fits(const struct oc_matcher *x, const struct oc_prof_rec *r, uint32_t node)
{
    const struct oc_shape *s = oc_match_output_shape(x, node);
    return !s || !r->n_out || oc_match_same_shape(&r->out[0].shape, s);
}
