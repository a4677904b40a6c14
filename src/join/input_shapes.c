#include <stdlib.h>
#include <string.h>

#include "join/join.h"

/* Derives shapes of graph inputs from a profile: recorded by name, otherwise at the nodes that read them.
 * There, recorded lists omit absent inputs and pre-packed weights: a position is used only if it is
 * unambiguous. */

static bool position_of(const struct oc_model *m, const struct oc_node *n, uint32_t slot, uint32_t recorded,
                        uint32_t *at)
{
    uint32_t present = 0, before = 0;
    bool constants = false;
    for (uint32_t k = 0; k < n->n_in; k++) {
        if (n->in[k] == OC_NONE)
            continue;
        present++;
        before += k < slot;
        constants |= k < slot && m->value[n->in[k]].constant;
    }
    *at = before;
    return before < recorded && (!constants || present == recorded);
}

static uint32_t only_input(const struct oc_model *m)
{
    uint32_t found = OC_NONE;
    for (uint32_t i = 0; i < m->graph[0].n_input; i++)
        if (!m->value[m->graph[0].input[i]].constant) {
            if (found != OC_NONE)
                return OC_NONE;
            found = m->graph[0].input[i];
        }
    return found;
}

const struct oc_prof_input *oc_join_input(const struct oc_model *m, const struct oc_profile *p, uint32_t v)
{
    for (uint32_t i = 0; i < p->n_input; i++)
        if (strcmp(p->input[i].name, m->value[v].name) == 0)
            return &p->input[i];
    return p->n_input == 1 && only_input(m) == v ? p->input : NULL;
}

/* Declared rank and numbers must match; types too where both are known. */
static bool types_agree(const struct oc_type *declared, const struct oc_type *t)
{
    if (!oc_shape_known(&t->shape))
        return false;
    if (declared->kind != OC_T_TENSOR)
        return declared->kind == OC_T_NONE;
    if (declared->dtype && t->dtype && declared->dtype != t->dtype)
        return false;
    if (!declared->shape.ranked)
        return true;
    if (declared->shape.rank != t->shape.rank)
        return false;
    for (unsigned i = 0; i < t->shape.rank; i++) {
        struct oc_dim d = declared->shape.dim[i];
        if (oc_is_known(d) && d.v >= 0 && d.v != t->shape.dim[i].v)
            return false;
    }
    return true;
}

static bool needs_shape(const struct oc_model *m, uint32_t v)
{
    const struct oc_type *t = m->value[v].declared;
    if (m->value[v].constant || (t->kind != OC_T_TENSOR && t->kind != OC_T_NONE))
        return false;
    if (t->kind == OC_T_NONE || !t->shape.ranked)
        return true;
    for (unsigned i = 0; i < t->shape.rank; i++)
        if (!oc_is_known(t->shape.dim[i]) || t->shape.dim[i].v < 0)
            return true;
    return false;
}

/* The shape of input v in the record that ran most often. */
static const struct oc_shape *find_shape(const struct oc_matcher *x, uint32_t v)
{
    const struct oc_prof_input *named = oc_join_input(x->m, x->p, v);
    const struct oc_shape *best = NULL;
    uint64_t best_calls = 0;
    if (named && types_agree(x->m->value[v].declared, &named->type))
        return &named->type.shape;
    for (uint32_t i = 0; i < x->p->n_rec; i++) {
        const struct oc_prof_rec *r = &x->p->rec[i];
        const struct oc_match *m = &x->match[i];
        if (m->core == OC_NONE || !r->has_in || r->calls <= best_calls)
            continue;
        const struct oc_node *n = &x->m->node[m->core];
        for (uint32_t k = 0; k < n->n_in; k++) {
            uint32_t at;
            if (n->in[k] != v || !position_of(x->m, n, k, r->n_in, &at) ||
                !types_agree(x->m->value[v].declared, &r->in[at]))
                continue;
            best = &r->in[at].shape;
            best_calls = r->calls;
            break;
        }
    }
    return best;
}

size_t oc_profile_input_shapes(const struct oc_model *model, const struct oc_profile *p,
                               struct oc_shape_bind **out)
{
    struct oc_arena arena = {0};
    struct oc_matcher x = {.m = model, .p = p, .arena = &arena};
    const struct oc_graph *g = &model->graph[0];
    size_t n = 0;
    *out = NULL;
    oc_match_all(&x, NULL);
    for (uint32_t i = 0; i < g->n_input; i++) {
        uint32_t v = g->input[i];
        const struct oc_shape *s = needs_shape(model, v) ? find_shape(&x, v) : NULL;
        if (!s)
            continue;
        if (!*out)
            *out = oc_xmalloc(g->n_input * sizeof(**out));
        int64_t *dim = oc_xmalloc(s->rank * sizeof(*dim));
        for (unsigned k = 0; k < s->rank; k++)
            dim[k] = s->dim[k].v;
        (*out)[n++] = (struct oc_shape_bind){
            .input = model->value[v].name, .rank = s->rank, .dim = dim, .from_profile = true};
    }
    oc_match_free(&x);
    oc_arena_free(&arena);
    return n;
}

void oc_profile_input_shapes_free(struct oc_shape_bind *shape, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free((void *)(uintptr_t)shape[i].dim);
    free(shape);
}
