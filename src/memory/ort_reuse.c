#include "memory/ort_reuse.h"

#include <stdlib.h>
#include <string.h>

#define MOST_LOOKS 4096 /* number of dead buffers of other shapes examined; real graphs have fewer */

/* Kernels that may write over an input of the same size, by input slot; convolutions over the added input. */
static const struct {
    const char *domain, *name;
    uint8_t first, last;
} in_place[] = {
    {"", "Add", 0, 1},
    {"", "Sub", 0, 1},
    {"", "Mul", 0, 1},
    {"", "Div", 0, 1},
    {"", "Sum", 0, 1},
    {"", "Relu", 0, 0},
    {"", "Sigmoid", 0, 0},
    {"", "Tanh", 0, 0},
    {"", "LeakyRelu", 0, 0},
    {"", "Elu", 0, 0},
    {"", "Selu", 0, 0},
    {"", "Celu", 0, 0},
    {"", "HardSigmoid", 0, 0},
    {"", "Softplus", 0, 0},
    {"", "Softsign", 0, 0},
    {"", "Clip", 0, 0},
    {"", "Cast", 0, 0},
    {"", "Sqrt", 0, 0},
    {"", "Exp", 0, 0},
    {"", "Log", 0, 0},
    {"", "Abs", 0, 0},
    {"", "Neg", 0, 0},
    {"", "Floor", 0, 0},
    {"", "Ceil", 0, 0},
    {"", "Reciprocal", 0, 0},
    {"", "Dropout", 0, 0},
    {"", "ThresholdedRelu", 0, 0},
    {"com.microsoft", "FusedConv", 3, 3},
    {"com.microsoft.nchwc", "Conv", 3, 3},
};

static bool overwritable(const struct oc_node *n, unsigned slot)
{
    for (size_t i = 0; i < OC_COUNT(in_place); i++)
        if (strcmp(n->op_type, in_place[i].name) == 0 && strcmp(n->domain, in_place[i].domain) == 0)
            return slot >= in_place[i].first && slot <= in_place[i].last;
    return false;
}

/* ---- shapes ------------------------------------------------------------------------------------------ */

void oc_ort_shapes_init(struct oc_ort_shapes *s, const struct oc_analysis *open)
{
    const struct oc_model *m = open->model;
    *s = (struct oc_ort_shapes){.open = open};
    for (uint32_t i = 0; i < m->n_symbol; i++) {
        struct oc_dim d = oc_dim_symbol(open->exprs, m->symbol[i], -1);
        s->n_named = d.expr >= s->n_named ? d.expr + 1 : s->n_named;
    }
    s->inferred = calloc((size_t)m->n_value + 1, sizeof(*s->inferred));
    s->named = calloc((size_t)s->n_named + 1, sizeof(*s->named));
    if (!s->inferred || !s->named)
        oc_out_of_memory(m->n_value);
    for (uint32_t i = 0; i < m->n_symbol; i++)
        s->named[oc_dim_symbol(open->exprs, m->symbol[i], -1).expr] = true;
}

void oc_ort_shapes_free(struct oc_ort_shapes *s)
{
    free(s->inferred);
    free(s->named);
}

/* Accepts only numbers and names, nothing computed. */
static bool has_sizes(const struct oc_ort_shapes *s, uint32_t value)
{
    const struct oc_type *t = &s->open->type[value];
    if (!s->inferred[value] || t->kind != OC_T_TENSOR || !t->shape.ranked || t->dtype == OC_DT_STRING)
        return false;
    for (unsigned i = 0; i < t->shape.rank; i++) {
        struct oc_dim d = t->shape.dim[i];
        if (!oc_is_known(d) && (d.expr >= s->n_named || !s->named[d.expr]))
            return false;
    }
    return true;
}

static bool is_constant(const struct oc_model *m, uint32_t value)
{
    const struct oc_value *v = &m->value[value];
    return v->constant || (v->producer != OC_NONE && strcmp(m->node[v->producer].op_type, "Constant") == 0);
}

static void learn_node(struct oc_ort_shapes *s, uint32_t node)
{
    const struct oc_model *m = s->open->model;
    const struct oc_node *n = &m->node[node];
    bool known = strcmp(n->op_type, "If") != 0 && strcmp(n->op_type, "Loop") != 0;
    for (uint32_t k = 0; k < n->n_in && known; k++)
        known = n->in[k] == OC_NONE || is_constant(m, n->in[k]) ||
                (s->inferred[n->in[k]] && (oc_op_slot(s->open->op[node], k) != 'm' || k == 0));
    for (uint32_t k = 0; k < n->n_out; k++)
        if (n->out[k] != OC_NONE)
            s->inferred[n->out[k]] = known;
}

static void infer_shapes(const struct oc_lives *l, struct oc_ort_shapes *s)
{
    const struct oc_graph *g = &s->open->model->graph[0];
    for (uint32_t i = 0; i < g->n_input; i++)
        if (g->input[i] != OC_NONE)
            s->inferred[g->input[i]] = true;
    for (uint32_t i = 0; i < l->n_step; i++)
        learn_node(s, l->step[i]);
}

static bool same_size(const struct oc_ort_shapes *s, uint32_t x, uint32_t y)
{
    const struct oc_type *a = &s->open->type[x], *b = &s->open->type[y];
    return has_sizes(s, x) && has_sizes(s, y) &&
           oc_dtype_info(a->dtype)->bits == oc_dtype_info(b->dtype)->bits &&
           oc_shape_equal(&a->shape, &b->shape);
}

/* ---- the plan ---------------------------------------------------------------------------------------- */

struct reuse {
    const struct oc_lives *l;
    const struct oc_model *m;
    struct oc_ort_shapes *s;
    uint32_t *into;
    uint32_t *uses;          /* by buffer with its own memory: remaining reads, plus one for graph outputs */
    uint32_t *freed, n, cap; /* stack of dead buffers, the last one on top */
};

static uint32_t buffer_of(const struct reuse *r, uint32_t value)
{
    uint32_t i = value == OC_NONE ? OC_LIFE_NONE : r->l->of_value[value];
    return i < OC_LIFE_CALLER ? r->into[i] : OC_LIFE_NONE;
}

static void count(struct reuse *r, uint32_t value)
{
    uint32_t i = buffer_of(r, value);
    if (i != OC_LIFE_NONE)
        r->uses[i]++;
}

/* Calls `use` for each read of the step, including those of bodies. */
static void each_read(struct reuse *r, uint32_t step, void (*use)(struct reuse *, uint32_t))
{
    const struct oc_node *n = &r->m->node[r->l->step[step]];
    for (uint32_t k = 0; k < n->n_in; k++)
        use(r, n->in[k]);
    uint32_t c = oc_first_capture(r->m->capture, r->m->n_capture, r->l->step[step]);
    for (; c < r->m->n_capture && r->m->capture[c].node == r->l->step[step]; c++)
        use(r, r->m->capture[c].value);
}

static void put_free(struct reuse *r, uint32_t i)
{
    if (!has_sizes(r->s, r->l->life[i].value))
        return; /* matches no other buffer */
    OC_GROW(r->freed, r->n, r->cap);
    r->freed[r->n++] = i;
}

static void done_with(struct reuse *r, uint32_t value)
{
    uint32_t i = buffer_of(r, value);
    if (i != OC_LIFE_NONE && r->uses[i] && --r->uses[i] == 0 && !r->l->life[i].output)
        put_free(r, i);
}

static uint32_t input_to_overwrite(const struct reuse *r, const struct oc_node *n, uint32_t value)
{
    for (unsigned k = 0; k < n->n_in && k < 4; k++) {
        uint32_t i = buffer_of(r, n->in[k]);
        if (i != OC_LIFE_NONE && overwritable(n, k) && r->uses[i] == 1 && !r->l->life[i].output &&
            !r->l->life[i].input && same_size(r->s, n->in[k], value))
            return i;
    }
    return OC_LIFE_NONE;
}

static uint32_t dead_one(struct reuse *r, uint32_t value)
{
    if (r->s->open->type[value].shape.rank == 0)
        return OC_LIFE_NONE;
    for (uint32_t k = r->n; k-- > 0 && r->n - k <= MOST_LOOKS;) {
        uint32_t i = r->freed[k];
        if (!same_size(r->s, r->l->life[i].value, value))
            continue;
        memmove(r->freed + k, r->freed + k + 1, (r->n - k - 1) * sizeof(*r->freed));
        r->n--;
        return i;
    }
    return OC_LIFE_NONE;
}

static void place(struct reuse *r, uint32_t step, const struct oc_node *n, uint32_t value)
{
    uint32_t i = value == OC_NONE ? OC_LIFE_NONE : r->l->of_value[value];
    if (i >= OC_LIFE_CALLER || r->l->life[i].value != value || r->l->life[i].first != step ||
        r->l->life[i].output)
        return;
    uint32_t other = input_to_overwrite(r, n, value);
    if (other == OC_LIFE_NONE && has_sizes(r->s, value))
        other = dead_one(r, value);
    if (other != OC_LIFE_NONE) {
        r->into[i] = other;
        r->uses[other] += r->uses[i];
    }
}

static void plan_step(struct reuse *r, uint32_t step)
{
    const struct oc_node *n = &r->m->node[r->l->step[step]];
    for (uint32_t k = 0; k < n->n_out; k++)
        place(r, step, n, n->out[k]);
    each_read(r, step, done_with);
    for (uint32_t k = 0; k < n->n_out; k++) {
        uint32_t i = buffer_of(r, n->out[k]);
        if (i != OC_LIFE_NONE && r->uses[i] == 0 && !r->l->life[i].output && r->l->life[i].first == step)
            put_free(r, i);
    }
}

void oc_ort_reuse(const struct oc_lives *l, struct oc_ort_shapes *s, uint32_t *into)
{
    struct reuse r = {.l = l, .m = l->a->model, .s = s, .into = into};
    r.uses = calloc((size_t)l->n_life + 1, sizeof(*r.uses));
    if (!r.uses)
        oc_out_of_memory(l->n_life);
    for (uint32_t i = 0; i < l->n_life; i++)
        into[i] = i;
    infer_shapes(l, s);
    for (uint32_t i = 0; i < l->n_step; i++)
        each_read(&r, i, count);
    for (uint32_t i = 0; i < l->n_step; i++)
        plan_step(&r, i);
    free(r.uses);
    free(r.freed);
}
