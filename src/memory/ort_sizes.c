/* The sizes that ONNX Runtime infers when it loads a model (1.30; core/graph/graph.cc with the shape rules of
 * ONNX): an analysis of the model in which later nodes see no more than the runtime does. */
#include "memory/ort_run.h"

#include <stdlib.h>
#include <string.h>

#include "onnxcost.h"

/* What it remembers of the contents of a value: only numbers, and those of constants just where an operator
 * reads them as sizes. */
enum seen { SEEN_NOTHING, SEEN_LIST, SEEN_SCALAR };

struct view {
    const struct oc_model *m;
    uint8_t *seen; /* by value: enum seen */
    struct oc_ort_shapes names;
};

/* Operators whose results it computes from such values; probed with opsets 9 to 21. */
static const struct propagates {
    const char *op;
    uint8_t lists_since; /* opset; 0: no lists */
    bool scalars;
} propagated[] = {
    {"Add", 14, true}, {"Cast", 13, false}, {"Concat", 13, false},
    {"Div", 0, true},  {"Mul", 14, true},   {"Sub", 14, true},
};

/* Operators that it runs without a rule for their shapes. */
static const char *const without_rule[] = {"Affine", "Crop", "ParametricSoftplus", "Scale", "ScaledTanh"};

static uint8_t seen_of(const struct view *w, const struct oc_node *n, uint32_t slot)
{
    return slot < n->n_in && n->in[slot] != OC_NONE ? w->seen[n->in[slot]] : SEEN_NOTHING;
}

static bool all_seen(const struct view *w, const struct oc_node *n, uint8_t as)
{
    bool all = n->n_in > 0;
    for (uint32_t k = 0; k < n->n_in && all; k++)
        all = seen_of(w, n, k) == as;
    return all;
}

static bool are_numbers(const struct oc_data *d)
{
    bool all = d && d->n > 0;
    for (uint32_t i = 0; all && i < d->n; i++)
        all = d->e[i].kind == OC_E_INT && oc_is_known(d->e[i].i);
    return all;
}

/* The runtime stores it as an initializer. */
static bool ort_is_initializer(const struct oc_model *m, uint32_t value)
{
    const struct oc_value *v = &m->value[value];
    return v->constant || (v->producer != OC_NONE && oc_node_is_constant(&m->node[v->producer]));
}

static uint8_t propagate(const struct view *w, const struct oc_node *n)
{
    for (size_t i = 0; i < OC_COUNT(propagated); i++) {
        const struct propagates *p = &propagated[i];
        if (strcmp(n->op_type, p->op) != 0)
            continue;
        if (p->scalars && all_seen(w, n, SEEN_SCALAR))
            return SEEN_SCALAR;
        return p->lists_since && n->opset >= p->lists_since && all_seen(w, n, SEEN_LIST) ? SEEN_LIST
                                                                                         : SEEN_NOTHING;
    }
    return SEEN_NOTHING;
}

static uint8_t seen_after(const struct view *w, const struct oc_node *n, const struct oc_data *result)
{
    uint8_t x = seen_of(w, n, 0);
    if (*n->domain || !are_numbers(result))
        return SEEN_NOTHING;
    if (strcmp(n->op_type, "Shape") == 0)
        return SEEN_LIST;
    if (strcmp(n->op_type, "Gather") == 0)
        return x == SEEN_LIST && result->n == 1 && n->n_in > 1 && n->in[1] != OC_NONE &&
                       ort_is_initializer(w->m, n->in[1])
                   ? SEEN_SCALAR
                   : SEEN_NOTHING;
    if (strcmp(n->op_type, "Unsqueeze") == 0)
        return x != SEEN_NOTHING ? SEEN_LIST : SEEN_NOTHING;
    if (strcmp(n->op_type, "Squeeze") == 0)
        return x != SEEN_LIST ? SEEN_NOTHING : result->n == 1 ? SEEN_SCALAR : SEEN_LIST;
    return propagate(w, n);
}

static bool has_rule(const struct oc_node *n)
{
    bool found = false;
    for (size_t i = 0; i < OC_COUNT(without_rule) && !*n->domain; i++)
        found |= strcmp(n->op_type, without_rule[i]) == 0;
    return !found;
}

/* Its shape rules compute with numbers only: whether this output size would be computed from a named one. */
static bool is_computed(const struct oc_analysis *a, uint32_t node, unsigned dim)
{
    const struct oc_node *n = &a->model->node[node];
    const struct oc_op *op = a->op[node];
    if (!op || *n->domain)
        return false;
    if (op->op_class == OC_OP_RESIZE)
        return true;
    if (op->op_class == OC_OP_CONV || op->op_class == OC_OP_POOL)
        return dim >= 2;
    if (strcmp(n->op_type, "Reshape") != 0 || n->n_in < 2 || n->in[1] == OC_NONE)
        return false;
    const struct oc_data *sizes = a->data[n->in[1]];
    const struct oc_elem *e = sizes && dim < sizes->n ? &sizes->e[dim] : NULL;
    return e && e->kind == OC_E_INT && oc_is_known(e->i) && e->i.v == -1;
}

void oc_ort_shapes_init(struct oc_ort_shapes *s, const struct oc_analysis *open)
{
    const struct oc_model *m = open->model;
    *s = (struct oc_ort_shapes){.open = open};
    for (uint32_t i = 0; i < m->n_symbol; i++) {
        struct oc_dim d = oc_dim_symbol(open->exprs, m->symbol[i], -1);
        s->n_named = d.expr >= s->n_named ? d.expr + 1 : s->n_named;
    }
    s->named = oc_xcalloc((size_t)s->n_named + 1, sizeof(*s->named));
    for (uint32_t i = 0; i < m->n_symbol; i++)
        s->named[oc_dim_symbol(open->exprs, m->symbol[i], -1).expr] = true;
}

void oc_ort_shapes_free(struct oc_ort_shapes *s)
{
    free(s->named);
}

/* Whether it is a name of the model. */
static bool is_named(const struct oc_ort_shapes *s, struct oc_dim d)
{
    return !oc_is_known(d) && d.expr < s->n_named && s->named[d.expr];
}

/* Inputs of Concat have equal sizes: one without a number or name is that of another input. */
static struct oc_dim size_of_parts(const struct view *w, const struct oc_analysis *a, const struct oc_node *n,
                                   unsigned dim, struct oc_dim size)
{
    const struct oc_attr *axis = oc_node_attr(n, "axis");
    for (uint32_t k = 0; k < n->n_in && strcmp(n->op_type, "Concat") == 0; k++) {
        const struct oc_shape *s = n->in[k] == OC_NONE ? NULL : &a->type[n->in[k]].shape;
        unsigned along;
        if (s && s->ranked && axis && oc_axis(axis->i, s->rank, &along) && dim != along && dim < s->rank &&
            (oc_is_known(s->dim[dim]) || is_named(&w->names, s->dim[dim])))
            return s->dim[dim];
    }
    return size;
}

/* A name of the declaration replaces a size without one. */
static struct oc_dim size_seen(const struct view *w, const struct oc_analysis *a, uint32_t node, unsigned dim,
                               struct oc_dim size, struct oc_dim declared)
{
    const struct oc_model *m = a->model;
    if (oc_is_known(size))
        return size;
    if (declared.expr)
        return oc_dim_symbol(a->exprs, m->symbol[declared.expr - 1], -1);
    if (declared.v >= 0)
        return declared;
    size = size_of_parts(w, a, &m->node[node], dim, size);
    return oc_is_known(size) || (!is_computed(a, node, dim) && is_named(&w->names, size))
               ? size
               : oc_dim_fresh(a->exprs, "?", -1);
}

static void see_outputs(void *ctx, struct oc_analysis *a, uint32_t node, struct oc_type *type,
                        const struct oc_data **data)
{
    struct view *w = ctx;
    const struct oc_node *n = &w->m->node[node];
    struct oc_dim dim[OC_MAX_RANK];
    if (!w->names.named)
        oc_ort_shapes_init(&w->names, a);
    uint8_t seen = n->n_out ? seen_after(w, n, data[0]) : SEEN_NOTHING;
    for (uint32_t k = 0; k < n->n_out; k++) {
        struct oc_shape *s = &type[k].shape;
        if (n->out[k] == OC_NONE)
            continue;
        const struct oc_shape *declared = &w->m->value[n->out[k]].declared->shape;
        bool same_rank = declared->ranked && declared->rank == s->rank;
        w->seen[n->out[k]] = k ? SEEN_NOTHING : seen;
        if ((k || seen == SEEN_NOTHING) && !oc_node_is_constant(n))
            data[k] = NULL;
        if (!has_rule(n))
            *s = oc_shape_unranked();
        for (unsigned i = 0; s->ranked && i < s->rank; i++)
            dim[i] = size_seen(w, a, node, i, s->dim[i], same_rank ? declared->dim[i] : oc_known(-1));
        if (s->ranked && !oc_shape_known(s))
            *s = oc_shape_of(&a->arena, s->rank, dim);
    }
}

struct oc_analysis *oc_ort_analyze(const struct oc_model *m, const struct oc_op_rules *rules)
{
    const struct oc_analyze_opts o = {.no_defaults = true, .no_fold = true, .rules = rules};
    struct view w = {.m = m, .seen = oc_xcalloc((size_t)m->n_value + 1, sizeof(*w.seen))};
    struct oc_analysis *a = NULL;
    struct oc_err err;
    int rc = oc_analyze_seen(m, &o, see_outputs, &w, &a, &err);
    free(w.seen);
    oc_ort_shapes_free(&w.names);
    return rc ? NULL : a;
}

bool oc_ort_has_sizes(const struct oc_ort_shapes *s, uint32_t value)
{
    const struct oc_type *t = &s->open->type[value];
    if (t->kind != OC_T_TENSOR || !t->shape.ranked || t->dtype == OC_DT_STRING)
        return false;
    for (unsigned i = 0; i < t->shape.rank; i++) {
        if (!oc_is_known(t->shape.dim[i]) && !is_named(s, t->shape.dim[i]))
            return false;
    }
    return true;
}

bool oc_ort_same_size(const struct oc_ort_shapes *s, uint32_t x, uint32_t y)
{
    const struct oc_type *a = &s->open->type[x], *b = &s->open->type[y];
    return oc_ort_has_sizes(s, x) && oc_ort_has_sizes(s, y) &&
           oc_dtype_info(a->dtype)->bits == oc_dtype_info(b->dtype)->bits &&
           oc_shape_equal(&a->shape, &b->shape);
}
