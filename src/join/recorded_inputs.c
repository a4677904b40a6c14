/* What the analysis of a model takes from a profile: shapes of the graph inputs, and how often branches and loops
 * ran. In the other direction, names of nodes for the readers of profiles. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "join/join.h"
#include "model/model.h"
#include "onnxcost.h"
#include "onnxcost/profile.h"
#include "profile/core/timeline.h"

/* ---- shapes of inputs ------------------------------------------------------------------------------- */

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

/* ---- control flow ----------------------------------------------------------------------------------- */

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

static bool has_unnamed_branch(const struct oc_model *m)
{
    for (uint32_t i = 0; i < m->n_node; i++) {
        uint32_t parent = m->graph[m->node[i].graph].parent_node;
        if (parent != OC_NONE && oc_equal(m->node[parent].op_type, "If") && !m->node[i].name[0] &&
            !oc_node_is_constant(&m->node[i]))
            return true;
    }
    return false;
}

/* The shapes of both branches of every If, with the recorded inputs: where nodes have no names, they alone show which
 * branch ran. NULL: names show it, or there are no shapes. */
static struct oc_analysis *branch_shapes(const struct oc_model *m, const struct oc_profile *p)
{
    struct oc_shape_bind *shape;
    struct oc_analysis *a = NULL;
    struct oc_err err;
    if (!oc_equal(p->format, "onnxruntime") || !has_unnamed_branch(m))
        return NULL;
    size_t n = oc_profile_input_shapes(m, p, &shape);
    const struct oc_analyze_opts opts = {.shape = shape, .n_shape = n, .if_mode = OC_IF_AVG};
    if (oc_analyze(m, &opts, &a, &err))
        a = NULL;
    oc_profile_input_shapes_free(shape, n);
    return a;
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
    struct oc_analysis *shapes = branch_shapes(model, p);
    f.x.shapes = shapes;
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
    oc_analysis_free(shapes);
    oc_arena_free(&arena);
    return n;
}

/* ---- names of nodes --------------------------------------------------------------------------------- */

/* Names of the nodes of a model for the readers of profiles (profile/core/timeline.h). */

/* Nodes of the main graph, each of which runs once per run. Constants do not run. */
struct oc_operator_names *oc_operator_names_make(const struct oc_model *m)
{
    const struct oc_graph *g = &m->graph[0];
    struct oc_operator_names *x = oc_xcalloc(1, sizeof(*x));
    x->of.arena = &x->arena;
    x->type = OC_NEW_ARRAY(&x->arena, (size_t)g->n_node + 1, const char *);
    oc_map_reserve(&x->of, g->n_node);
    for (uint32_t i = 0; i < g->n_node; i++) {
        const struct oc_node *n = &m->node[g->node[i]];
        size_t length = strlen(n->name);
        uint32_t at = i;
        x->n_product += oc_set_has(OC_PRODUCT_TYPES, n->op_type, strlen(n->op_type));
        if (!length || oc_node_is_constant(n))
            continue;
        x->type[i] = n->op_type;
        if (!oc_map_add_kept(&x->of, n->name, length, &at))
            x->type[at] = NULL;
    }
    return x;
}

void oc_operator_names_free(struct oc_operator_names *x)
{
    if (!x)
        return;
    oc_map_free(&x->of);
    oc_arena_free(&x->arena);
    free(x);
}
