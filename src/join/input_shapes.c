#include <stdlib.h>
#include <string.h>

#include "join/join.h"
#include "onnxcost.h"
#include "onnxcost/profile.h"

/* Derives shapes of graph inputs from a profile: recorded by name, else at the nodes that read them, else at
 * any node, by equations with the symbolic shapes of the model. Recorded lists omit absent inputs and
 * pre-packed weights: a position is used only if it is unambiguous. */

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

struct shapes { /* by input of the main graph */
    const struct oc_model *m;
    const struct oc_profile *p;
    struct oc_arena arena;
    struct oc_shape_bind *bind;
    uint32_t n;
};

static void add_shape(struct shapes *s, uint32_t value, unsigned rank, const int64_t *size, const char *from)
{
    int64_t *dim = oc_xmalloc((rank + 1) * sizeof(*dim));
    for (unsigned k = 0; k < rank; k++)
        dim[k] = size[k];
    s->bind[s->n++] = (struct oc_shape_bind){
        .input = s->m->value[value].name, .rank = rank, .dim = dim, .from_profile = true, .from = from};
}

static bool has_shape(const struct shapes *s, uint32_t value)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (s->bind[i].input == s->m->value[value].name)
            return true;
    return false;
}

/* Those that the readers of an input recorded. */
static void take_recorded(struct shapes *s)
{
    const struct oc_graph *g = &s->m->graph[0];
    struct oc_matcher x = {.m = s->m, .p = s->p, .arena = &s->arena};
    oc_match_all(&x, NULL);
    for (uint32_t i = 0; i < g->n_input; i++) {
        const struct oc_shape *shape = needs_shape(s->m, g->input[i]) ? find_shape(&x, g->input[i]) : NULL;
        int64_t size[OC_MAX_RANK];
        for (unsigned k = 0; shape && k < shape->rank; k++)
            size[k] = shape->dim[k].v;
        if (shape)
            add_shape(s, g->input[i], shape->rank, size, "from the profile");
    }
    oc_match_free(&x);
}

/* ---- equations: recorded shapes of any node, with symbolic shapes of the model ---------------------- */

struct equations {
    const struct oc_matcher *x;
    const struct oc_analysis *a;
    struct oc_solver *solver;
    enum layout { AS_IN_MODEL, CHANNELS_LAST, NO_LAYOUT } layout; /* that of the records to add */
};

/* Axis of the recorded shape for one of the model's. */
static unsigned recorded_axis(enum layout l, unsigned rank, unsigned axis)
{
    return l == AS_IN_MODEL || axis == 0 ? axis : axis == 1 ? rank - 1 : axis - 1;
}

/* How the recorded shape can be that of the value. The runtime moves the channels of quantized images. */
static enum layout layout_of(const struct oc_type *model, const struct oc_type *recorded)
{
    const struct oc_shape *s = &model->shape, *r = &recorded->shape;
    if (model->kind != OC_T_TENSOR || recorded->kind != OC_T_TENSOR || !s->ranked || !oc_shape_known(r) ||
        s->rank != r->rank)
        return NO_LAYOUT;
    bool image = s->rank >= 3 && oc_is_known(s->dim[1]);
    for (enum layout l = AS_IN_MODEL; l <= (image ? CHANNELS_LAST : AS_IN_MODEL); l++) {
        unsigned i = 0;
        while (i < s->rank &&
               (!oc_is_known(s->dim[i]) || s->dim[i].v == r->dim[recorded_axis(l, s->rank, i)].v))
            i++;
        if (i == s->rank)
            return l;
    }
    return NO_LAYOUT;
}

static void add_equations(struct equations *e, uint32_t value, const struct oc_type *recorded)
{
    const struct oc_shape *s = &e->a->type[value].shape;
    if (layout_of(&e->a->type[value], recorded) == e->layout)
        for (unsigned i = 0; i < s->rank; i++)
            oc_solver_add(e->solver, s->dim[i], recorded->shape.dim[recorded_axis(e->layout, s->rank, i)].v);
}

/* Whether a value is used after the fused nodes of a record. */
static bool leaves_group(const struct oc_matcher *x, const struct oc_match *m, uint32_t value)
{
    if (x->m->value[value].graph_output)
        return true;
    for (uint32_t i = x->x.use_first[value]; i < x->x.use_first[value + 1]; i++) {
        uint32_t k = 0;
        while (k < m->n_node && m->node[k] != x->x.use[i])
            k++;
        if (k == m->n_node)
            return true;
    }
    return false;
}

static bool same_symbols(const struct oc_shape *a, const struct oc_shape *b)
{
    for (unsigned i = 0; i < a->rank; i++)
        if (!oc_same_dim(a->dim[i], b->dim[i]))
            return false;
    return a->rank == b->rank;
}

/* The value that a recorded output is: all that can be it must have the same shape. */
static uint32_t find_output(const struct equations *e, const struct oc_match *m,
                            const struct oc_type *recorded)
{
    uint32_t found = OC_NONE;
    for (uint32_t i = 0; i < m->n_node; i++) {
        const struct oc_node *n = &e->x->m->node[m->node[i]];
        for (uint32_t k = 0; k < n->n_out; k++) {
            uint32_t v = n->out[k];
            if (v == OC_NONE || layout_of(&e->a->type[v], recorded) != e->layout || !leaves_group(e->x, m, v))
                continue;
            if (found != OC_NONE && !same_symbols(&e->a->type[v].shape, &e->a->type[found].shape))
                return OC_NONE;
            found = v;
        }
    }
    return found;
}

enum { MAX_GROUP = 256 }; /* nodes of a record whose outputs are searched */

static void add_record(struct equations *e, uint32_t rec)
{
    const struct oc_prof_rec *r = &e->x->p->rec[rec];
    const struct oc_match *m = &e->x->match[rec];
    if (!m->n_node || m->n_node > MAX_GROUP || m->inner_of != OC_NONE || !m->rule ||
        !strcmp(m->rule, "range") || !strcmp(m->rule, "function body"))
        return;
    for (uint32_t i = 0; i < r->n_out; i++) {
        uint32_t v = find_output(e, m, &r->out[i]);
        if (v != OC_NONE)
            add_equations(e, v, &r->out[i]);
    }
    const struct oc_node *n = m->core == OC_NONE ? NULL : &e->x->m->node[m->core];
    for (uint32_t k = 0; n && k < n->n_in && r->has_in; k++) {
        uint32_t at;
        if (n->in[k] != OC_NONE && position_of(e->x->m, n, k, r->n_in, &at))
            add_equations(e, n->in[k], &r->in[at]);
    }
}

static int by_calls(const void *a, const void *b, void *profile)
{
    const struct oc_profile *p = profile;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    if (p->rec[i].calls != p->rec[k].calls)
        return p->rec[i].calls < p->rec[k].calls ? 1 : -1;
    return (i > k) - (i < k);
}

/* Equations of the model's own layout win, then those of the records that ran most often. */
static void solve(struct shapes *s, const struct oc_analysis *a, struct oc_solver *solver)
{
    struct oc_matcher x = {.m = s->m, .p = s->p, .a = a, .arena = &s->arena};
    struct equations e = {&x, a, solver, AS_IN_MODEL};
    uint32_t *order = OC_NEW_ARRAY(&s->arena, (size_t)s->p->n_rec + 1, uint32_t);
    oc_match_all(&x, NULL);
    for (uint32_t i = 0; i < s->p->n_rec; i++)
        order[i] = i;
    qsort_r(order, s->p->n_rec, sizeof(*order), by_calls, (void *)(uintptr_t)s->p);
    for (; e.layout < NO_LAYOUT; e.layout++) /* padded channels can look like a size at the end */
        for (uint32_t i = 0; i < s->p->n_rec; i++)
            add_record(&e, order[i]);
    oc_solver_run(solver);
    oc_match_free(&x);
}

static void take_solved(struct shapes *s, const struct oc_analysis *a, struct oc_solver *solver,
                        uint32_t value)
{
    const struct oc_shape *shape = &a->type[value].shape;
    int64_t size[OC_MAX_RANK];
    bool any = false, chosen = false;
    for (unsigned k = 0; shape->ranked && k < shape->rank; k++) {
        enum oc_solved how = oc_solver_get(solver, shape->dim[k], &size[k]);
        any |= how != OC_SOLVED_NOT && !oc_is_known(shape->dim[k]);
        chosen |= how == OC_SOLVED_CHOSEN;
        size[k] = how == OC_SOLVED_NOT ? -1 : size[k];
    }
    if (any)
        add_shape(s, value, shape->rank, size,
                  chosen ? "one of several that fit the recorded shapes"
                         : "follows from the recorded shapes");
}

/* Whether the analysis with these shapes contradicts a recorded one. */
static bool contradict(const struct shapes *s)
{
    struct oc_analyze_opts o = {.shape = s->bind, .n_shape = s->n, .skip_unused = true};
    struct oc_analysis *a;
    struct oc_join *j;
    struct oc_err err;
    bool found = true;
    if (oc_analyze(s->m, &o, &a, &err))
        return true;
    if (!oc_join_make(s->m, a, s->p, NULL, &j, &err)) {
        found = false;
        for (uint32_t i = 0; i < s->p->n_rec; i++)
            found |= j->rec[i].other_shapes;
        oc_join_free(j);
    }
    oc_analysis_free(a);
    return found;
}

static void drop_shapes(struct shapes *s, uint32_t keep)
{
    while (s->n > keep)
        free((void *)(uintptr_t)s->bind[--s->n].dim);
}

/* Those that follow from other recorded shapes, if they contradict none. */
static void take_implied(struct shapes *s)
{
    const struct oc_graph *g = &s->m->graph[0];
    struct oc_analyze_opts o = {.shape = s->bind, .n_shape = s->n, .skip_unused = true, .no_defaults = true};
    struct oc_analysis *a;
    struct oc_err err;
    uint32_t recorded = s->n, open = 0;
    for (uint32_t i = 0; i < g->n_input; i++)
        open += needs_shape(s->m, g->input[i]) && !has_shape(s, g->input[i]);
    if (!open || oc_analyze(s->m, &o, &a, &err))
        return;
    struct oc_solver *solver = oc_solver_new(a->exprs, &s->arena);
    solve(s, a, solver);
    for (uint32_t i = 0; i < g->n_input; i++)
        if (needs_shape(s->m, g->input[i]) && !has_shape(s, g->input[i]))
            take_solved(s, a, solver, g->input[i]);
    oc_analysis_free(a);
    if (s->n > recorded && contradict(s))
        drop_shapes(s, recorded);
}

size_t oc_profile_input_shapes(const struct oc_model *model, const struct oc_profile *p,
                               struct oc_shape_bind **out)
{
    struct shapes s = {.m = model, .p = p};
    s.bind = oc_xmalloc((model->graph[0].n_input + 1) * sizeof(*s.bind));
    take_recorded(&s);
    take_implied(&s);
    oc_arena_free(&s.arena);
    *out = s.bind;
    return s.n;
}

void oc_profile_input_shapes_free(struct oc_shape_bind *shape, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free((void *)(uintptr_t)shape[i].dim);
    free(shape);
}
