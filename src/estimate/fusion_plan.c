/* The fusion plan: groups of nodes become kernels. The rules are in fusion_rules.c. */
#include "estimate/fusion_plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ck.h"
#include "base/map.h"
#include "model/model.h"

static const char *const rule_names[OC_FUSE_COUNT] = {[OC_FUSE_ORT_CPU] = "onnxruntime",
                                                      [OC_FUSE_GENERIC] = "generic",
                                                      [OC_FUSE_NONE] = "none",
                                                      [OC_FUSE_ORT_BASIC] = "onnxruntime-basic",
                                                      [OC_FUSE_ORT_EXTENDED] = "onnxruntime-extended",
                                                      [OC_FUSE_ORT_AVX2] = "onnxruntime",
                                                      [OC_FUSE_ORT_NEON] = "onnxruntime"};

const char *oc_fusion_rules_name(unsigned rules)
{
    return rules < OC_FUSE_COUNT ? rule_names[rules] : "?";
}

unsigned oc_fusion_rules_by_name(const char *name)
{
    unsigned i = 0;
    while (i < OC_FUSE_COUNT && strcmp(rule_names[i], name) != 0)
        i++;
    return i;
}

static const struct {
    const char *simd;
    unsigned block;
} layouts[OC_FUSE_COUNT] = {
    [OC_FUSE_ORT_CPU] = {"avx512", 16}, [OC_FUSE_ORT_AVX2] = {"avx2", 8}, [OC_FUSE_ORT_NEON] = {"neon", 1}};

unsigned oc_fusion_block(unsigned rules)
{
    return rules < OC_FUSE_COUNT && layouts[rules].block ? layouts[rules].block : 1;
}

const char *oc_fusion_simd(unsigned rules)
{
    return rules < OC_FUSE_COUNT ? layouts[rules].simd : NULL;
}

unsigned oc_fusion_rules_by_simd(const char *simd)
{
    unsigned i = 0;
    while (i < OC_FUSE_COUNT && !(layouts[i].simd && !strcmp(layouts[i].simd, simd)))
        i++;
    return i;
}

/* ---- queries for rules ------------------------------------------------------------------------------ */

bool oc_fuse_is(const struct oc_fuse *f, uint32_t node, const char *types)
{
    return oc_set_has(types, f->m->node[node].op_type, strlen(f->m->node[node].op_type));
}

bool oc_fuse_group_is(const struct oc_fuse_group *g, const char *types)
{
    return oc_set_has(types, g->type, strlen(g->type));
}

uint32_t oc_fuse_source(const struct oc_fuse *f, uint32_t value)
{
    for (unsigned steps = 0; value != OC_NONE && steps < 1000; steps++) {
        value = f->twin_of[value];
        uint32_t from = f->m->value[value].producer;
        if (from == OC_NONE || !f->dropped[from] || !f->m->node[from].n_in)
            break;
        const struct oc_node *n = &f->m->node[from];
        value = n->in[n->n_in == 2 && f->constant[n->in[0]]]; /* of "1 * x": x */
    }
    return value;
}

uint32_t oc_fuse_input(const struct oc_fuse *f, uint32_t node, uint32_t slot)
{
    const struct oc_node *n = &f->m->node[node];
    return slot < n->n_in && n->in[slot] != OC_NONE ? oc_fuse_source(f, n->in[slot]) : OC_NONE;
}

bool oc_fuse_has_numbers(const struct oc_fuse *f, uint32_t value)
{
    const struct oc_shape *s = value == OC_NONE ? NULL : &f->m->value[value].declared->shape;
    bool all = s && s->ranked;
    for (unsigned i = 0; all && i < s->rank; i++)
        all = s->dim[i].v >= 0 && !s->dim[i].expr;
    return f->static_shapes || all;
}

/* Reads of a value, including those through dropped nodes and of its duplicates; reads by one group count
 * once. */
struct users {
    const struct oc_fuse *f;
    uint32_t n, last, last_owner;
};

static void count_users(struct users *u, uint32_t value, unsigned depth);

static void count_user(struct users *u, uint32_t node, uint32_t value, unsigned depth)
{
    const struct oc_fuse *f = u->f;
    const struct oc_node *n = &f->m->node[node];
    if (f->dead[node] || (f->constant_shape[node] && n->in[0] != value))
        return;
    if (f->dropped[node] && depth < 20 && n->n_out) {
        count_users(u, n->out[0], depth + 1);
        return;
    }
    uint32_t owner = f->owner[node];
    bool same = u->n && (u->last == node || (owner != OC_NONE && owner == u->last_owner));
    u->n += !same;
    u->last = node;
    u->last_owner = owner;
}

static void count_users(struct users *u, uint32_t value, unsigned depth)
{
    const struct oc_fuse *f = u->f;
    const struct oc_graph_index *x = &f->maker.x;
    for (uint32_t v = value; v != OC_NONE; v = f->next_twin[v]) {
        u->n += f->m->value[v].graph_output;
        for (uint32_t i = x->use_first[v]; i < x->use_first[v + 1]; i++)
            count_user(u, x->use[i], v, depth);
    }
}

uint32_t oc_fuse_users(const struct oc_fuse *f, uint32_t value)
{
    struct users u = {f, 0, OC_NONE, OC_NONE};
    if (value != OC_NONE)
        count_users(&u, value, 0);
    return u.n;
}

uint32_t oc_fuse_user(const struct oc_fuse *f, uint32_t value)
{
    struct users u = {f, 0, OC_NONE, OC_NONE};
    if (value != OC_NONE)
        count_users(&u, value, 0);
    return u.n == 1 && u.last != OC_NONE && u.last_owner != OC_NONE ? u.last : OC_NONE;
}

bool oc_fuse_const(const struct oc_fuse *f, uint32_t value)
{
    return value != OC_NONE && f->constant[value];
}

bool oc_fuse_number(const struct oc_fuse *f, uint32_t value, double *v)
{
    const struct oc_tensor *t = oc_fuse_const(f, value) ? f->m->value[value].constant : NULL;
    const struct oc_data *d = oc_fuse_const(f, value) ? f->a->data[value] : NULL;
    struct oc_elem e;
    if (t)
        return t->elements == 1 && oc_tensor_elems(f->m, t, 1, &e, f->arena) && oc_elem_known_real(&e, v);
    return d && d->n == 1 && oc_elem_known_real(&d->e[0], v);
}

const struct oc_shape *oc_fuse_shape(const struct oc_fuse *f, uint32_t value)
{
    const struct oc_type *t = value == OC_NONE ? NULL : &f->a->type[value];
    return t && t->kind == OC_T_TENSOR && oc_shape_known(&t->shape) ? &t->shape : NULL;
}

double oc_fuse_elements(const struct oc_fuse *f, uint32_t value)
{
    const struct oc_shape *s = oc_fuse_shape(f, value);
    double n = s ? 1 : -1;
    for (unsigned i = 0; s && i < s->rank; i++)
        n *= (double)s->dim[i].v;
    return n;
}

void oc_fuse_add_node(struct oc_fuse *f, struct oc_fuse_group *g, uint32_t node)
{
    if (g->n_node == g->cap) {
        uint32_t cap = g->cap ? 2 * g->cap : 2;
        uint32_t *more = OC_NEW_ARRAY(f->arena, cap, uint32_t);
        if (g->n_node)
            memcpy(more, g->node, g->n_node * sizeof(*more));
        g->node = more;
        g->cap = cap;
    }
    g->node[g->n_node++] = node;
}

void oc_fuse_merge(struct oc_fuse *f, uint32_t into, uint32_t from, uint32_t out, const char *rule,
                   const char *type)
{
    struct oc_fuse_group *a = &f->group[into], *b = &f->group[from];
    if (into == from)
        return;
    for (uint32_t i = 0; i < b->n_node; i++) {
        oc_fuse_add_node(f, a, b->node[i]);
        f->owner[b->node[i]] = into;
    }
    a->activated |= b->activated;
    a->summed |= b->summed;
    a->out = out;
    a->rule = rule;
    a->type = type ? type : a->type;
    b->gone = true;
    b->n_node = 0;
}

/* ---- launched nodes --------------------------------------------------------------------------------- */

/* Of all inputs, from a dimension on. */
static bool sizes_declared(const struct oc_model *m, unsigned first)
{
    const struct oc_graph *g = &m->graph[0];
    for (uint32_t i = 0; i < g->n_input; i++) {
        const struct oc_value *v = &m->value[g->input[i]];
        const struct oc_type *t = v->declared;
        if (v->constant)
            continue;
        if (t->kind != OC_T_TENSOR || !t->shape.ranked)
            return false;
        for (unsigned d = first; d < t->shape.rank; d++)
            if (t->shape.dim[d].v < 0)
                return false;
    }
    return true;
}

static bool values_known(const struct oc_fuse *f, const struct oc_node *n)
{
    for (uint32_t i = 0; i < n->n_out; i++) {
        const struct oc_data *d = n->out[i] == OC_NONE ? NULL : f->a->data[n->out[i]];
        for (uint32_t k = 0; d && k < d->n; k++)
            if (d->e[k].kind == OC_E_UNKNOWN || (d->e[k].kind == OC_E_INT && !oc_is_known(d->e[k].i)))
                return false;
        if (!d)
            return false;
    }
    return n->n_out > 0;
}

static bool same_type(const struct oc_fuse *f, uint32_t a, uint32_t b)
{
    const struct oc_type *x = &f->a->type[a], *y = &f->a->type[b];
    return x->kind == OC_T_TENSOR && y->kind == OC_T_TENSOR && x->dtype == y->dtype &&
           oc_shape_known(&x->shape) && oc_shape_known(&y->shape) && oc_shape_equal(&x->shape, &y->shape);
}

static bool is_identity(const struct oc_fuse *f, uint32_t node)
{
    const struct oc_node *n = &f->m->node[node];
    return oc_op_is(f->a->op[node], OC_F_NO_EFFECT) ||
           (same_type(f, n->in[0], n->out[0]) &&
            (oc_fuse_is(f, node, " Cast ") ||
             (f->static_shapes && oc_fuse_is(f, node, " Expand Slice Reshape Pad Tile "))));
}

/* The whole of the axis, written as [0, INT64_MAX). */
static bool is_whole_slice(const struct oc_fuse *f, uint32_t node)
{
    const struct oc_node *n = &f->m->node[node];
    int64_t from, to;
    const struct oc_data *starts = n->n_in > 2 && n->in[1] != OC_NONE ? f->a->data[n->in[1]] : NULL;
    const struct oc_data *ends = starts && n->in[2] != OC_NONE ? f->a->data[n->in[2]] : NULL;
    return ends && starts->n == 1 && ends->n == 1 && oc_elem_known_int(&starts->e[0], &from) &&
           oc_elem_known_int(&ends->e[0], &to) && from == 0 && to == INT64_MAX;
}

static bool holds(const struct oc_fuse *f, uint32_t narrow, uint32_t wide)
{
    const struct oc_dtype_info *a = oc_dtype_info(f->a->type[narrow].dtype),
                               *b = oc_dtype_info(f->a->type[wide].dtype);
    return (oc_class_is_int(a->cls) || !oc_class_is_int(b->cls)) && a->bits <= b->bits;
}

/* x, cast to a type that holds it, cast again: one Cast, or none if the type is that of x. At every level. */
static bool is_cast_twice(const struct oc_fuse *f, uint32_t node)
{
    const struct oc_node *n = &f->m->node[node];
    const struct oc_graph_index *x = &f->maker.x;
    uint32_t from = n->in[0], to = n->out[0], before = f->m->value[from].producer;
    if (!oc_fuse_is(f, node, " Cast ") || f->m->value[to].graph_output)
        return false;
    if (x->use_first[to + 1] - x->use_first[to] == 1 && oc_fuse_is(f, x->use[x->use_first[to]], " Cast ") &&
        holds(f, from, to))
        return true;
    return before != OC_NONE && f->dropped[before] && oc_fuse_is(f, before, " Cast ") &&
           f->a->type[f->m->node[before].in[0]].dtype == f->a->type[to].dtype;
}

bool oc_fuse_permute(const struct oc_fuse *f, uint32_t node, int64_t *perm, unsigned *n)
{
    const struct oc_attr *p = oc_node_attr(&f->m->node[node], "perm");
    const struct oc_shape *s = oc_fuse_shape(f, oc_fuse_input(f, node, 0));
    int64_t before[OC_FUSE_RANK];
    if (!s || !s->rank || s->rank > OC_FUSE_RANK || (*n && *n != s->rank) ||
        (p && (p->type != OC_ATTR_INTS || p->n != s->rank)))
        return false;
    for (unsigned i = 0; i < s->rank; i++)
        before[i] = *n ? perm[i] : (int64_t)i;
    for (unsigned i = 0; i < s->rank; i++) {
        int64_t from = p ? p->ints[i] : (int64_t)(s->rank - 1 - i);
        if (from < 0 || from >= (int64_t)s->rank)
            return false;
        perm[i] = before[from];
    }
    *n = s->rank;
    return true;
}

static bool second_is_read(const struct oc_fuse *f, uint32_t node)
{
    const struct oc_node *n = &f->m->node[node];
    uint32_t v = n->n_out > 1 ? n->out[1] : OC_NONE;
    return v != OC_NONE && oc_fuse_users(f, v) > 0;
}

/* x + 0, x - 0, x * 1, x / 1, with a computed x. */
static bool computes_nothing(const struct oc_fuse *f, uint32_t node)
{
    const struct oc_node *n = &f->m->node[node];
    bool sum = oc_fuse_is(f, node, " Add Sub "), first = f->constant[n->in[0]];
    double v;
    if ((!sum && !oc_fuse_is(f, node, " Mul Div ")) || n->n_in != 2 || n->in[1] == OC_NONE ||
        (first && !oc_fuse_is(f, node, " Add Mul ")))
        return false;
    uint32_t c = n->in[!first], x = n->in[first];
    return oc_fuse_number(f, c, &v) && v == !sum && f->m->value[x].producer != OC_NONE && !f->constant[x] &&
           f->a->type[c].shape.rank <= f->a->type[x].shape.rank;
}

/* ONNX Runtime keeps a graph output and its name: an operator before it is removed only if it is an Identity
 * whose input has no other reader. */
static bool ort_removes(const struct oc_fuse *f, uint32_t node)
{
    const struct oc_node *n = &f->m->node[node];
    const struct oc_graph_index *x = &f->maker.x;
    uint32_t from = n->in[0], root = oc_fuse_source(f, from);
    bool identity = oc_fuse_is(f, node, " Identity ");
    if (f->m->value[n->out[0]].graph_output)
        return identity && f->m->value[root].producer != OC_NONE && f->m->value[from].producer != OC_NONE &&
               !f->m->value[from].graph_output && x->use_first[from + 1] - x->use_first[from] == 1;
    return identity || computes_nothing(f, node) ||
           (oc_fuse_is(f, node, " Dropout ") && !second_is_read(f, node)) ||
           (same_type(f, from, n->out[0]) &&
            (oc_fuse_is(f, node, " Cast ") || (oc_fuse_is(f, node, " Slice ") && is_whole_slice(f, node))));
}

/* Operators without effect: removed by an optimizer, or views in the analysis. */
static bool changes_nothing(const struct oc_fuse *f, uint32_t node)
{
    const struct oc_node *n = &f->m->node[node];
    if (!n->n_in || !n->n_out || n->in[0] == OC_NONE || n->out[0] == OC_NONE)
        return false;
    if (f->rules == OC_FUSE_GENERIC)
        return is_identity(f, node);
    return is_cast_twice(f, node) || (f->rules != OC_FUSE_NONE && ort_removes(f, node));
}

static bool fusion_plan_never_runs(const struct oc_fuse *f, uint32_t node)
{
    const struct oc_node_cost *c = &f->a->cost[node];
    const struct oc_node *n = &f->m->node[node];
    return c->state == OC_NODE_NOT_TAKEN || f->a->graph_use[n->graph] != OC_G_RUN ||
           n->kind == OC_NODE_CALL || !c->trips;
}

/* Values that the runtime computes when it loads the model. The analysis also has sizes that depend on the
 * run's inputs; the runtime has them only if the model declares all of them. */
static bool fusion_plan_is_folded(const struct oc_fuse *f, uint32_t node)
{
    const struct oc_node *n = &f->m->node[node];
    const struct oc_node_cost *c = &f->a->cost[node];
    if (f->rules != OC_FUSE_GENERIC && oc_fuse_is(f, node, " DequantizeLinear "))
        return false; /* an integer kernel may take it */
    if (c->state == OC_NODE_ABSORBED || oc_node_is_constant(n) || f->rules == OC_FUSE_NONE)
        return c->state == OC_NODE_ABSORBED || oc_node_is_constant(n);
    if (f->static_shapes && values_known(f, n))
        return true;
    for (uint32_t i = 0; i < n->n_in; i++)
        if (n->in[i] != OC_NONE && !f->constant[n->in[i]])
            return false;
    return c->state == OC_NODE_FOLDED && n->n_in > 0;
}

static void find_constants(struct oc_fuse *f)
{
    const struct oc_model *m = f->m;
    for (uint32_t v = 0; v < m->n_value; v++)
        f->constant[v] = m->value[v].constant != NULL;
    /* an initializer that is also an input can be replaced in a run, from IR version 4 on */
    bool replaceable = m->ir_version >= 4 && f->rules != OC_FUSE_GENERIC;
    for (uint32_t i = 0; i < m->graph[0].n_input && replaceable; i++)
        if (m->graph[0].input[i] != OC_NONE)
            f->constant[m->graph[0].input[i]] = false;
    for (uint32_t g = 0; g < m->n_graph; g++)
        for (uint32_t k = 0; k < m->graph[g].n_node; k++) {
            const struct oc_node *n = &m->node[m->graph[g].node[k]];
            bool folded = fusion_plan_is_folded(f, m->graph[g].node[k]);
            for (uint32_t i = 0; folded && i < n->n_out; i++)
                if (n->out[i] != OC_NONE)
                    f->constant[n->out[i]] = true;
        }
}

bool oc_fuse_launched(const struct oc_fuse *f, uint32_t node)
{
    return !fusion_plan_never_runs(f, node) && !fusion_plan_is_folded(f, node);
}

static void make_groups(struct oc_fuse *f)
{
    const struct oc_model *m = f->m;
    f->group = OC_NEW_ARRAY(f->arena, (size_t)m->n_node + 1, struct oc_fuse_group);
    for (uint32_t g = 0; g < m->n_graph; g++)
        for (uint32_t k = 0; k < m->graph[g].n_node; k++) {
            uint32_t i = m->graph[g].node[k];
            if (f->dropped[i] || f->dead[i] || !oc_fuse_launched(f, i))
                continue;
            struct oc_fuse_group *group = &f->group[f->n_group];
            *group = (struct oc_fuse_group){
                .core = i, .type = m->node[i].op_type, .out = m->node[i].n_out ? m->node[i].out[0] : OC_NONE};
            oc_fuse_add_node(f, group, i);
            f->owner[i] = f->n_group++;
        }
}

/* ---- groups to kernels ------------------------------------------------------------------------------ */

/* The runtime's name of the operator. */
static const char *type_of(const struct oc_fuse *f, const struct oc_fuse_group *g)
{
    if (!g->blocked)
        return g->type;
    const char *type = oc_fuse_group_is(g, " FusedConv BatchNormalization Mul ") ? "Conv"
                       : oc_fuse_group_is(g, " Resize ")                         ? "Upsample"
                                                                                 : g->type;
    return oc_printf(f->arena, "nchwc.%s", type);
}

static void emit(struct oc_fuse *f, struct oc_kernel_list *out)
{
    for (uint32_t i = 0; i < f->n_group; i++) {
        struct oc_fuse_group *g = &f->group[i];
        struct oc_kernel_use *u = &out->item[out->n];
        if (g->gone || !g->n_node || oc_fuse_function(f, g, out))
            continue;
        oc_kernel_make(&f->maker, g->node, g->n_node, g->type, u);
        u->rule = g->rule;
        u->type = type_of(f, g);
        if (oc_fuse_in_float(f, i))
            oc_kernel_in_float(&u->kernel);
        out->n++;
    }
}

void oc_fuse_insert(const struct oc_fuse *f, const char *type, uint32_t value, double read_bytes,
                    double written_bytes, struct oc_kernel_list *out)
{
    bool known = read_bytes >= 0 && read_bytes < 1e18 && written_bytes >= 0 && written_bytes < 1e18;
    bool reorder = !strncmp(type, "nchwc.", 6), turned = !strcmp(type, "Transpose");
    bool cast = !strcmp(type, "Cast");
    struct oc_kernel_use *u = &OC_PUSH(out->item, out->n, out->cap);
    *u =
        (struct oc_kernel_use){.record = OC_NONE, .calls = 1, .rule = "layout", .type = type, .known = known};
    struct oc_kernel *k = &u->kernel;
    *k = (struct oc_kernel){.cls = reorder  ? OC_KC_REORDER
                                   : turned ? OC_KC_TRANSPOSE
                                   : cast   ? OC_KC_ELEMENTWISE
                                            : OC_KC_COPY,
                            .dtype = turned ? oc_dtype_info(f->a->type[value].dtype)->cls : OC_CLASS_F32,
                            .node = OC_NONE,
                            .label = f->m->value[value].name,
                            .rd_act = known ? (uint64_t)read_bytes : 0,
                            .wr = known ? (uint64_t)written_bytes : 0};
    k->work.bytes = k->rd_act + k->wr;
    k->work.launches = 1;
    k->work.unknown = !known;
    u->why = known ? NULL : "its shape is unknown";
    if (known)
        oc_kernel_sign_inserted(k, reorder ? type + 6 : type);
}

static void open_plan(struct oc_fuse *f)
{
    const struct oc_model *m = f->m;
    size_t nodes = (size_t)m->n_node + 1, values = (size_t)m->n_value + 1;
    oc_kernel_maker_open(&f->maker, m, f->a, f->arena);
    f->owner = OC_NEW_ARRAY(f->arena, nodes, uint32_t);
    f->same_node = OC_NEW_ARRAY(f->arena, nodes, uint32_t);
    f->dropped = OC_NEW_ARRAY(f->arena, nodes, bool);
    f->dead = OC_NEW_ARRAY(f->arena, nodes, bool);
    f->constant_shape = OC_NEW_ARRAY(f->arena, nodes, bool);
    f->plain = OC_NEW_ARRAY(f->arena, values, bool);
    f->blocked = OC_NEW_ARRAY(f->arena, values, bool);
    f->reordered = OC_NEW_ARRAY(f->arena, values, bool);
    f->constant = OC_NEW_ARRAY(f->arena, values, bool);
    f->twin_of = OC_NEW_ARRAY(f->arena, values, uint32_t);
    f->next_twin = OC_NEW_ARRAY(f->arena, values, uint32_t);
    for (uint32_t v = 0; v < m->n_value; v++) {
        f->twin_of[v] = v;
        f->next_twin[v] = OC_NONE;
    }
    f->static_shapes = sizes_declared(m, 0);
    f->static_images = sizes_declared(m, 1);
    find_constants(f);
    for (uint32_t i = 0; i < m->n_node; i++) {
        f->owner[i] = OC_NONE;
        f->same_node[i] = i;
        f->dropped[i] = oc_fuse_launched(f, i) && changes_nothing(f, i);
    }
}

/* The groups; what the runtime inserts is appended to `inserted`. */
static void fuse(struct oc_fuse *f, struct oc_kernel_list *inserted)
{
    f->inserted = inserted;
    open_plan(f);
    if (f->rules != OC_FUSE_NONE)
        oc_fuse_simplify(f);
    make_groups(f);
    if (f->rules != OC_FUSE_GENERIC)
        oc_fuse_qdq(f);
    if (f->rules != OC_FUSE_NONE) {
        oc_fuse_patterns(f);
        oc_fuse_chains(f);
        oc_fuse_move(f);
    }
    if (oc_fusion_simd(f->rules)) {
        oc_fuse_layout(f, inserted);
        oc_fuse_qdq_layout(f, inserted);
    }
    oc_fuse_casts(f, inserted);
    for (uint32_t i = 0; i < f->n_group; i++)
        if (!f->group[i].gone && f->group[i].n_node)
            qsort(f->group[i].node, f->group[i].n_node, sizeof(uint32_t), oc_by_u32);
}

void oc_fusion_plan(const struct oc_model *m, const struct oc_analysis *a, enum oc_fusion_rules rules,
                    struct oc_arena *arena, struct oc_kernel_list *out)
{
    struct oc_fuse f = {.m = m, .a = a, .arena = arena, .rules = rules};
    size_t kernels = 0;
    struct oc_kernel_list inserted = {0};
    fuse(&f, &inserted);
    for (uint32_t i = 0; i < f.n_group; i++)
        kernels += oc_fuse_function_size(&f, &f.group[i]);
    *out =
        (struct oc_kernel_list){.item = OC_NEW_ARRAY(arena, kernels + inserted.n + 1, struct oc_kernel_use)};
    emit(&f, out);
    if (inserted.n)
        memcpy(out->item + out->n, inserted.item, inserted.n * sizeof(*inserted.item));
    out->n += inserted.n;
    free(inserted.item);
    for (uint32_t i = 0; i < m->n_node; i++)
        f.same_node[i] = f.dropped[i] ? OC_NONE : f.same_node[i];
    out->same = f.same_node;
    oc_kernel_maker_close(&f.maker);
}

void oc_fusion_groups(const struct oc_model *m, const struct oc_analysis *a, enum oc_fusion_rules rules,
                      struct oc_arena *arena, oc_see_fused *see, void *ctx)
{
    struct oc_fuse f = {.m = m, .a = a, .arena = arena, .rules = rules};
    struct oc_kernel_list inserted = {0};
    fuse(&f, &inserted);
    for (uint32_t i = 0; i < f.n_group; i++) {
        const struct oc_fuse_group *g = &f.group[i];
        if (!g->gone && g->n_node > 1)
            see(ctx, g->node, g->n_node, oc_fuse_function_size(&f, g) > 1 ? "function" : g->rule);
    }
    free(inserted.item);
    oc_kernel_maker_close(&f.maker);
}

/* ---- agreement with recorded kernels ---------------------------------------------------------------- */

/* Identifies a kernel by its launched nodes: folded nodes, those without effect and those that the plan removes
 * or moves are ignored, equal nodes are one. */
struct set {
    uint64_t id;
    size_t item;
};

struct comparison {
    const struct oc_model *m;
    const struct oc_analysis *a;
    const uint32_t *same; /* by node */
    uint64_t *seen;       /* by node: the last kernel that has it */
    uint64_t kernel;
};

static bool is_compare_of_counts(const struct oc_model *m, const struct oc_analysis *a, uint32_t node)
{
    const struct oc_node_cost *c = &a->cost[node];
    const struct oc_node *n = &m->node[node];
    return c->state != OC_NODE_FOLDED && c->state != OC_NODE_ABSORBED &&
           !oc_op_is(a->op[node], OC_F_NO_EFFECT) && !oc_node_is_constant(n) &&
           strcmp(n->op_type, "Cast") != 0;
}

static uint64_t id_of(struct comparison *c, const struct oc_kernel_use *u)
{
    uint64_t id = 0;
    c->kernel++;
    if (!u->n_node)
        return oc_hash_scatter(oc_hash_scatter(u->kernel.work.bytes) + u->kernel.op);
    for (uint32_t i = 0; i < u->n_node; i++) {
        bool gone = c->same[u->node[i]] == OC_NONE;
        uint32_t node = gone ? u->node[i] : c->same[u->node[i]];
        if (c->seen[node] != c->kernel &&
            ((!gone && is_compare_of_counts(c->m, c->a, node)) || u->n_node == 1))
            id += oc_hash_scatter((uint64_t)node + 1);
        c->seen[node] = c->kernel;
    }
    return id;
}

OC_BY_TWO(fusion_compare_by_id, struct set, id, item)

static struct set *sets_of(struct comparison *c, const struct oc_kernel_list *list)
{
    struct set *s = oc_xmalloc((list->n + 1) * sizeof(*s));
    for (size_t i = 0; i < list->n; i++)
        s[i] = (struct set){.id = id_of(c, &list->item[i]), .item = i};
    if (list->n)
        qsort(s, list->n, sizeof(*s), fusion_compare_by_id);
    return s;
}

void oc_fusion_compare(const struct oc_model *m, const struct oc_analysis *a,
                       const struct oc_kernel_list *plan, struct oc_kernel_list *recorded,
                       const double *time_s, struct oc_fusion_match *out)
{
    struct comparison c = {m, a, plan->same, oc_xcalloc(m->n_node + 1, sizeof(*c.seen)), 0};
    struct set *p = sets_of(&c, plan), *r = sets_of(&c, recorded);
    double all = 0, equal = 0;
    *out = (struct oc_fusion_match){.recorded = (uint32_t)recorded->n, .planned = (uint32_t)plan->n};
    for (size_t i = 0, k = 0; i < recorded->n; i++) {
        double t = time_s[r[i].item];
        all += t > 0 ? t : 0;
        while (k < plan->n && p[k].id < r[i].id)
            k++;
        if (k == plan->n || p[k].id != r[i].id)
            continue;
        k++; /* each planned kernel matches once */
        recorded->item[r[i].item].planned = true;
        out->equal++;
        equal += t > 0 ? t : 0;
    }
    out->equal_time = all > 0 ? equal / all : (double)NAN;
    free(c.seen);
    free(p);
    free(r);
}
