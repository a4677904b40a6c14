/* The graph that ONNX Runtime runs without optimizations, and the sizes that it infers. Every reader of a
 * DequantizeLinear has its own copy of the node (core/optimizer/ensure_unique_dq_for_node_unit.cc, a required
 * transformer). */
#include <stdlib.h>
#include <string.h>

#include "memory/memory_report.h"
#include "onnxcost.h"

struct read {              /* an input of a node, connected to a DequantizeLinear of its graph */
    uint32_t place, value; /* of that node in the runtime's order; its output */
    uint32_t node, slot;
};

struct copying {
    const struct oc_model *m;
    struct oc_ort_graph *out;
    uint32_t *place; /* by node */
    bool *kept;      /* by value: a graph output, or read by a body: the original node stays for these */
    struct read *read;
    uint32_t n, cap;
    uint32_t **in;    /* by node: its inputs, if they differ from the model's */
    uint32_t n_token; /* numbers in names so far */
};

static bool is_dequantized(const struct oc_model *m, uint32_t value)
{
    uint32_t maker = value == OC_NONE ? OC_NONE : m->value[value].producer;
    const struct oc_node *n = maker == OC_NONE ? NULL : &m->node[maker];
    return n && n->n_out && n->out[0] == value && strcmp(n->op_type, "DequantizeLinear") == 0 &&
           (!*n->domain || strcmp(n->domain, "com.microsoft") == 0);
}

static int by_maker(const void *a, const void *b)
{
    const struct read *x = a, *y = b;
    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    return (x->slot > y->slot) - (x->slot < y->slot);
}

static void find_reads(struct copying *c)
{
    const struct oc_model *m = c->m;
    for (uint32_t i = 0; i < m->n_node; i++)
        for (uint32_t k = 0; k < m->node[i].n_in; k++) {
            uint32_t v = m->node[i].in[k];
            if (!is_dequantized(m, v))
                continue;
            if (m->node[i].graph != m->value[v].graph) {
                c->kept[v] = true;
                continue;
            }
            OC_GROW(c->read, c->n, c->cap);
            c->read[c->n++] = (struct read){c->place[m->value[v].producer], v, i, k};
        }
    for (uint32_t v = 0; v < m->n_value; v++)
        c->kept[v] |= m->value[v].graph_output;
    if (c->n)
        qsort(c->read, c->n, sizeof(*c->read), by_maker);
}

/* Whether the original node serves this read: the first one, unless it is kept for others. */
static bool has_original(const struct copying *c, uint32_t i)
{
    return !c->kept[c->read[i].value] && (i == 0 || c->read[i - 1].value != c->read[i].value);
}

/* Whether it is the first copy: later ones have names with a number, which the runtime counts up in the graph, by one
 * for the tensor and by one for the node. */
static bool is_first_copy(const struct copying *c, uint32_t i)
{
    uint32_t v = c->read[i].value;
    return i == 0 || c->read[i - 1].value != v || has_original(c, i - 1);
}

static const char *name_of_copy(struct copying *c, uint32_t i, const char *name)
{
    struct oc_arena *a = &c->out->arena;
    return is_first_copy(c, i) ? oc_printf(a, "%s/duplicated", name)
                               : oc_printf(a, "%s/duplicated_token_%u", name, 2 * c->n_token++ + 1);
}

/* The node and the value have ids after those of the model. */
static void copy_node(struct copying *c, uint32_t i)
{
    struct oc_model *to = &c->out->model;
    const struct read *r = &c->read[i];
    uint32_t maker = c->m->value[r->value].producer, value = to->n_value++, node = to->n_node++;
    struct oc_node *n = &to->node[node], *reader = &to->node[r->node];
    *n = c->m->node[maker];
    n->name = *n->name ? name_of_copy(c, i, n->name) : n->name;
    uint32_t *out = OC_NEW_ARRAY(&c->out->arena, n->n_out, uint32_t), *in = c->in[r->node];
    for (uint32_t k = 1; k < n->n_out; k++)
        out[k] = OC_NONE;
    out[0] = value;
    n->out = out;
    to->value[value] = to->value[r->value];
    to->value[value].producer = node;
    to->value[value].n_use = 1;
    to->value[value].graph_output = false;
    to->value[r->value].n_use--;
    if (!in) {
        in = c->in[r->node] = OC_NEW_ARRAY(&c->out->arena, reader->n_in, uint32_t);
        memcpy(in, reader->in, reader->n_in * sizeof(*in));
        reader->in = in;
    }
    in[r->slot] = value;
}

/* Lists of nodes with the copies after their originals. */
static void list_nodes(struct copying *c, const uint32_t *first, const uint32_t *count)
{
    struct oc_model *to = &c->out->model;
    for (uint32_t g = 0; g < to->n_graph; g++) {
        struct oc_graph *graph = &to->graph[g];
        uint32_t more = 0, n = 0;
        for (uint32_t i = 0; i < graph->n_node; i++)
            more += count[graph->node[i]];
        uint32_t *node = OC_NEW_ARRAY(&c->out->arena, graph->n_node + more, uint32_t);
        for (uint32_t i = 0; i < graph->n_node; i++) {
            uint32_t id = graph->node[i];
            node[n++] = id;
            for (uint32_t k = 0; k < count[id]; k++)
                node[n++] = first[id] + k;
        }
        graph->node = node;
        graph->n_node = n;
    }
}

static void copy_model(struct copying *c, uint32_t n_copy)
{
    const struct oc_model *m = c->m;
    struct oc_arena *a = &c->out->arena;
    struct oc_model *to = &c->out->model;
    *to = *m;
    to->node = OC_NEW_ARRAY(a, (size_t)m->n_node + n_copy, struct oc_node);
    to->value = OC_NEW_ARRAY(a, (size_t)m->n_value + n_copy, struct oc_value);
    to->graph = OC_NEW_ARRAY(a, m->n_graph, struct oc_graph);
    memcpy(to->node, m->node, m->n_node * sizeof(*to->node));
    memcpy(to->value, m->value, m->n_value * sizeof(*to->value));
    memcpy(to->graph, m->graph, m->n_graph * sizeof(*to->graph));
    uint32_t *first = oc_xcalloc((size_t)m->n_node + 1, sizeof(*first)),
             *count = oc_xcalloc((size_t)m->n_node + 1, sizeof(*count));
    for (uint32_t i = 0; i < c->n; i++) {
        uint32_t maker = m->value[c->read[i].value].producer;
        if (has_original(c, i))
            continue;
        first[maker] = count[maker]++ ? first[maker] : to->n_node;
        copy_node(c, i);
    }
    list_nodes(c, first, count);
    free(first);
    free(count);
}

/* Places in the runtime's order; nodes of bodies are not in it and follow, in the order of the file. */
static void set_places(struct copying *c, const uint32_t *step, uint32_t n_step)
{
    for (uint32_t i = 0; i < c->m->n_node; i++)
        c->place[i] = n_step + i;
    for (uint32_t i = 0; i < n_step; i++)
        c->place[step[i]] = i;
}

struct oc_ort_graph *oc_ort_graph_make(const struct oc_model *m, const uint32_t *step, uint32_t n_step)
{
    struct copying c = {.m = m,
                        .place = oc_xcalloc((size_t)m->n_node + 1, sizeof(*c.place)),
                        .kept = oc_xcalloc((size_t)m->n_value + 1, sizeof(*c.kept))};
    uint32_t n_copy = 0;
    set_places(&c, step, n_step);
    find_reads(&c);
    for (uint32_t i = 0; i < c.n; i++)
        n_copy += !has_original(&c, i);
    if (n_copy) {
        c.out = oc_xcalloc(1, sizeof(*c.out));
        c.in = oc_xcalloc((size_t)m->n_node + 1, sizeof(*c.in));
        copy_model(&c, n_copy);
    }
    free(c.in);
    free(c.place);
    free(c.kept);
    free(c.read);
    return c.out;
}

void oc_ort_graph_free(struct oc_ort_graph *g)
{
    if (!g)
        return;
    oc_arena_free(&g->arena);
    free(g);
}

/* ---- sizes that it infers ------------------------------------------------------------------------ */

/* When it loads a model (1.30; core/graph/graph.cc with the shape rules of ONNX): an analysis of the model in
 * which later nodes see no more than the runtime does. */

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
