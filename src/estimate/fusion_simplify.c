/* Simplifications before fusion: common subexpressions are merged, shapes computed from sizes of their own
 * data become constants, and dead nodes are removed. Then operators that ONNX Runtime moves or adds to change
 * shapes: Transposes, Reshapes, Splits. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/ck.h"
#include "estimate/fusion_plan.h"
#include "model/model.h"

static bool is_plain_op(const struct oc_fuse *f, uint32_t node)
{
    const struct oc_op *op = f->a->op[node];
    return op && !(op->flags & (OC_F_NO_FOLD | OC_F_CONTROL)) && op->op_class != OC_OP_GENERATE;
}

static uint32_t source_of(const void *f, uint32_t value)
{
    return oc_fuse_source(f, value);
}

static bool leaves_graph(const struct oc_fuse *f, uint32_t node)
{
    const struct oc_node *n = &f->m->node[node];
    for (uint32_t i = 0; i < n->n_out; i++)
        if (n->out[i] != OC_NONE && f->m->value[n->out[i]].graph_output)
            return true;
    return false;
}

static void make_twins(struct oc_fuse *f, uint32_t first, uint32_t second)
{
    const struct oc_node *a = &f->m->node[first], *b = &f->m->node[second];
    for (uint32_t i = 0; i < a->n_out; i++) {
        uint32_t v = a->out[i], w = b->out[i];
        if (v == OC_NONE || w == OC_NONE)
            continue;
        f->twin_of[w] = v;
        f->next_twin[w] = f->next_twin[v];
        f->next_twin[v] = w;
    }
    f->dead[second] = true;
    f->same_node[second] = first;
}

static void merge_equal(struct oc_fuse *f)
{
    struct oc_arena a = {0};
    struct oc_map seen = {.arena = &a};
    struct oc_buf key = {.max = 1 << 16};
    for (uint32_t g = 0; g < f->m->n_graph; g++)
        for (uint32_t k = 0; k < f->m->graph[g].n_node; k++) {
            uint32_t node = f->m->graph[g].node[k], first = node;
            key.overflowed = false;
            if (!oc_fuse_launched(f, node) || f->dropped[node] || !is_plain_op(f, node) ||
                leaves_graph(f, node) || !oc_index_key(f->m, node, source_of, f, f->arena, &key) ||
                key.overflowed)
                continue;
            if (!oc_map_add(&seen, key.data, key.n, &first, NULL))
                make_twins(f, first, node);
        }
    oc_buf_free(&key);
    oc_map_free(&seen);
    oc_arena_free(&a);
}

/* ---- shapes from sizes ------------------------------------------------------------------------------ */

static uint32_t made_by(const struct oc_fuse *f, uint32_t value, const char *types)
{
    uint32_t node = value == OC_NONE ? OC_NONE : f->m->value[value].producer;
    return node != OC_NONE && oc_fuse_is(f, node, types) ? node : OC_NONE;
}

/* The tensor from which the value has its size of dimension `axis`, by operators that keep it. */
static uint32_t fuse_size_root(const struct oc_fuse *f, uint32_t value, unsigned axis)
{
    for (unsigned steps = 0; steps < 64; steps++) {
        uint32_t node =
            made_by(f, value, " MatMul Add Mul Sub Div LayerNormalization Softmax Relu Gelu Erf Gather ");
        const struct oc_shape *y = oc_fuse_shape(f, value);
        if (node == OC_NONE || !y)
            return value;
        uint32_t a = oc_fuse_input(f, node, 0), b = oc_fuse_input(f, node, 1);
        if (oc_fuse_is(f, node, " Gather ")) { /* an embedding */
            const struct oc_shape *i = oc_fuse_shape(f, b);
            if (!oc_fuse_const(f, a) || oc_node_int(&f->m->node[node], "axis", 0) || !i || axis >= i->rank)
                return value;
            value = b;
            continue;
        }
        uint32_t from = oc_fuse_const(f, a) ? b : a, other = from == a ? b : a;
        const struct oc_shape *x = oc_fuse_shape(f, from);
        bool product = oc_fuse_is(f, node, " MatMul ");
        if ((other != OC_NONE && !oc_fuse_const(f, other)) || !x || x->rank != y->rank ||
            (product && (from != a || axis + 1u >= y->rank)))
            return value;
        value = from;
    }
    return value;
}

bool oc_fuse_same_size(const struct oc_fuse *f, uint32_t a, uint32_t b, unsigned axis)
{
    uint32_t r = fuse_size_root(f, a, axis), q = fuse_size_root(f, b, axis);
    const struct oc_shape *s = &f->m->value[r].declared->shape, *t = &f->m->value[q].declared->shape;
    bool listed = s->ranked && t->ranked && axis < s->rank && axis < t->rank;
    return f->static_shapes ||
           (listed && oc_same_dim(s->dim[axis], t->dim[axis]) && (s->dim[axis].expr || s->dim[axis].v >= 0));
}

/* Whether the value is the size of dimension `axis` of a tensor with the same size there as `data`. */
static bool is_size_of(const struct oc_fuse *f, uint32_t value, uint32_t data, unsigned axis)
{
    uint32_t unsqueeze = made_by(f, value, " Unsqueeze ");
    uint32_t gather = unsqueeze == OC_NONE ? OC_NONE : made_by(f, oc_fuse_input(f, unsqueeze, 0), " Gather ");
    uint32_t shape = gather == OC_NONE ? OC_NONE : made_by(f, oc_fuse_input(f, gather, 0), " Shape ");
    if (shape == OC_NONE)
        return false;
    uint32_t index = oc_fuse_input(f, gather, 1), of = oc_fuse_input(f, shape, 0);
    const struct oc_data *d = index == OC_NONE ? NULL : f->a->data[index];
    int64_t i;
    if (!d || d->n != 1 || !oc_elem_known_int(&d->e[0], &i) || i != (int64_t)axis)
        return false;
    return of == data || fuse_size_root(f, of, axis) == fuse_size_root(f, data, axis);
}

/* Sizes of -1 in a constant. */
static unsigned free_sizes(const struct oc_fuse *f, uint32_t value)
{
    const struct oc_data *d = f->a->data[value];
    unsigned n = 0;
    int64_t v;
    for (uint32_t i = 0; d && i < d->n; i++)
        n += oc_elem_known_int(&d->e[i], &v) && v == -1;
    return n;
}

/* One other size at most: it becomes -1. */
static bool is_foldable_shape(const struct oc_fuse *f, uint32_t concat, uint32_t data)
{
    const struct oc_node *n = &f->m->node[concat];
    unsigned others = 0, axis = 0;
    for (uint32_t i = 0; i < n->n_in; i++, axis++) {
        uint32_t v = oc_fuse_input(f, concat, i);
        double elements = oc_fuse_elements(f, v);
        if (elements < 1)
            return false;
        if (oc_fuse_const(f, v)) {
            axis += (unsigned)elements - 1;
            others += free_sizes(f, v);
        } else if (!is_size_of(f, v, data, axis) && (elements != 1 || ++others > 1)) {
            return false;
        }
    }
    return n->n_in > 0 && others < 2;
}

static void fold_shapes(struct oc_fuse *f)
{
    for (uint32_t i = 0; i < f->m->n_node; i++) {
        const struct oc_node *n = &f->m->node[i];
        uint32_t concat = n->n_in == 2 && oc_fuse_is(f, i, " Reshape ") && oc_fuse_launched(f, i) &&
                                  !oc_fuse_takes_zeros(f, i)
                              ? made_by(f, oc_fuse_input(f, i, 1), " Concat ")
                              : OC_NONE;
        if (concat != OC_NONE && !f->dead[i] && oc_fuse_users(f, oc_fuse_input(f, i, 1)) == 1 &&
            is_foldable_shape(f, concat, oc_fuse_input(f, i, 0)))
            f->constant_shape[i] = true;
    }
}

/* ---- Transposes that cancel ------------------------------------------------------------------------- */

/* Two Transposes, the second of which undoes the first. */
static bool undoes(const struct oc_fuse *f, uint32_t first, uint32_t second)
{
    int64_t perm[OC_FUSE_RANK];
    unsigned n = 0, same = 0;
    if (!oc_fuse_is(f, first, " Transpose ") || !oc_fuse_is(f, second, " Transpose ") ||
        !oc_node_attr(&f->m->node[first], "perm") || !oc_node_attr(&f->m->node[second], "perm") ||
        !oc_fuse_permute(f, first, perm, &n) || !oc_fuse_permute(f, second, perm, &n))
        return false;
    for (unsigned i = 0; i < n; i++)
        same += perm[i] == (int64_t)i;
    return same == n;
}

/* Nodes that compute the same in any order of dimensions, between Transposes. */
struct regions {
    struct oc_fuse *f;
    uint32_t *of;     /* by value: a Transpose at which its region begins, OC_NONE */
    uint32_t *parent; /* by node: union-find of these Transposes; OC_NONE: none */
    bool *open;       /* by node: leaves the region otherwise than by the inverse Transpose */
};

static void join_regions(struct regions *r, uint32_t a, uint32_t b)
{
    const struct oc_attr *p = oc_node_attr(&r->f->m->node[a], "perm"),
                         *q = oc_node_attr(&r->f->m->node[b], "perm");
    bool differ = p->n != q->n || memcmp(p->ints, q->ints, p->n * sizeof(*p->ints)) != 0;
    a = oc_set_root(r->parent, a);
    b = oc_set_root(r->parent, b);
    r->open[a] |= r->open[b] || differ;
    r->parent[b] = a;
}

/* computes the same in any order of dimensions */
static bool fuse_any_order(const struct oc_fuse *f, uint32_t node)
{
    if (oc_fuse_is(f, node, " ReduceMean ReduceMax ReduceSum ReduceMin "))
        return oc_node_int(&f->m->node[node], "keepdims", 1);
    return oc_fuse_is(f, node,
                      " Relu Sigmoid Tanh LeakyRelu Clip HardSigmoid HardSwish Elu Abs Exp Sqrt Neg Erf "
                      "Softplus Cast Add Mul Sub Div Pow Max Min Sum Concat Softmax Pad QuantizeLinear "
                      "DequantizeLinear ");
}

/* The region of the inputs that are not constant, which is marked as open unless the node stays in it. */
static uint32_t region_of_inputs(struct regions *r, uint32_t node)
{
    const struct oc_node *n = &r->f->m->node[node];
    uint32_t region = OC_NONE;
    bool stays = fuse_any_order(r->f, node);
    for (uint32_t i = 0; i < n->n_in; i++) {
        uint32_t v = n->in[i], at = v == OC_NONE ? OC_NONE : r->of[v];
        stays &=
            v == OC_NONE || oc_fuse_const(r->f, v) || (at != OC_NONE && r->f->m->value[v].graph == n->graph);
        if (at != OC_NONE && region != OC_NONE)
            join_regions(r, region, at);
        region = at == OC_NONE ? region : at;
    }
    if (region != OC_NONE && !stays &&
        !oc_fuse_is(r->f, node, " Shape ")) /* whose sizes the runtime reorders */
        r->open[oc_set_root(r->parent, region)] = true;
    return stays ? region : OC_NONE;
}

static void follow_region(struct regions *r, uint32_t node)
{
    const struct oc_fuse *f = r->f;
    const struct oc_node *n = &f->m->node[node];
    bool transpose = oc_fuse_is(f, node, " Transpose ") && n->n_in == 1;
    uint32_t from = transpose ? r->of[n->in[0]] : OC_NONE;
    if (from != OC_NONE && undoes(f, from, node))
        return;
    uint32_t region = region_of_inputs(r, node);
    int64_t perm[OC_FUSE_RANK];
    unsigned rank = 0;
    if (transpose && oc_node_attr(n, "perm") && oc_fuse_permute(f, node, perm, &rank))
        region = r->parent[node] = node;
    for (uint32_t i = 0; i < n->n_out && region != OC_NONE; i++) {
        if (n->out[i] == OC_NONE)
            continue;
        r->of[n->out[i]] = region;
        r->open[oc_set_root(r->parent, region)] |= f->m->value[n->out[i]].graph_output;
    }
}

static void cancel_transposes(struct oc_fuse *f)
{
    size_t nodes = (size_t)f->m->n_node + 1, values = (size_t)f->m->n_value + 1;
    struct regions r = {f, OC_NEW_ARRAY(f->arena, values, uint32_t), OC_NEW_ARRAY(f->arena, nodes, uint32_t),
                        OC_NEW_ARRAY(f->arena, nodes, bool)};
    memset(r.of, 0xff, values * sizeof(*r.of));
    memset(r.parent, 0xff, nodes * sizeof(*r.parent));
    for (uint32_t g = 0; g < f->m->n_graph; g++)
        for (uint32_t k = 0; k < f->m->graph[g].n_node; k++)
            follow_region(&r, f->m->graph[g].node[k]);
    for (uint32_t i = 0; i < f->m->n_node; i++) {
        if (!oc_fuse_is(f, i, " Transpose ") || f->m->node[i].n_in != 1)
            continue;
        uint32_t from = r.of[f->m->node[i].in[0]];
        if (from != OC_NONE && !r.open[oc_set_root(r.parent, from)] && undoes(f, from, i) &&
            !f->m->value[f->m->node[i].out[0]].graph_output)
            f->dropped[i] = true;
        if (r.parent[i] != OC_NONE && !r.open[oc_set_root(r.parent, i)])
            f->dropped[i] = true;
    }
}

/* ---- dead nodes ------------------------------------------------------------------------------------- */

static bool is_read(const struct oc_fuse *f, uint32_t node)
{
    const struct oc_node *n = &f->m->node[node];
    for (uint32_t i = 0; i < n->n_out; i++)
        if (n->out[i] != OC_NONE && oc_fuse_users(f, n->out[i]))
            return true;
    return n->n_out == 0;
}

void oc_fuse_simplify(struct oc_fuse *f)
{
    if (f->rules != OC_FUSE_GENERIC)
        cancel_transposes(f);
    merge_equal(f);
    fold_shapes(f);
    for (uint32_t g = 0; g < f->m->n_graph; g++)
        for (uint32_t k = f->m->graph[g].n_node; k-- > 0;) {
            uint32_t node = f->m->graph[g].node[k];
            if (!f->dead[node] && oc_fuse_launched(f, node) && !is_read(f, node))
                f->dead[node] = true;
        }
}

/* ---- Transposes that move ------------------------------------------------------------------------ */

/* A Transpose goes after operators whose result has fewer dimensions, Gathers of one index and reductions: there
 * it has less work, or none; and toward another Transpose. */

static uint32_t axis_bit(int64_t axis, unsigned rank)
{
    axis += axis < 0 ? rank : 0;
    return axis >= 0 && axis < (int64_t)rank ? 1u << axis : 0;
}

/* The dimensions of its input that the node removes, as bits; 0: it keeps all of them. */
static uint32_t removed_axes(const struct oc_fuse *f, uint32_t node)
{
    const struct oc_node *n = &f->m->node[node];
    const struct oc_attr *axes = oc_node_attr(n, "axes");
    const struct oc_shape *s = oc_fuse_shape(f, n->in[0]);
    uint32_t index = oc_fuse_input(f, node, 1), bits = 0;
    if (!s || s->rank > OC_FUSE_RANK || !n->n_out || n->out[0] == OC_NONE)
        return 0;
    if (oc_fuse_is(f, node, " Gather ") && index != OC_NONE && !f->a->type[index].shape.rank)
        return axis_bit(oc_node_int(n, "axis", 0), s->rank);
    if (!oc_fuse_is(f, node, " ReduceMean ReduceMax ReduceMin ReduceSum ") || oc_node_int(n, "keepdims", 1))
        return 0;
    const struct oc_data *d = index == OC_NONE ? NULL : f->a->data[index];
    for (uint32_t i = 0; i < (axes ? axes->n : d ? d->n : 0); i++) {
        int64_t at = 0;
        if (axes ? axes->type != OC_ATTR_INTS : !oc_elem_known_int(&d->e[i], &at))
            return 0;
        bits |= axis_bit(axes ? axes->ints[i] : at, s->rank);
    }
    return bits;
}

static bool is_moved_transpose(const struct oc_fuse *f, uint32_t transpose)
{
    const struct oc_graph_index *x = &f->maker.x;
    uint32_t v = f->m->node[transpose].out[0];
    if (!oc_fuse_is(f, transpose, " Transpose ") || f->owner[transpose] == OC_NONE ||
        !oc_fuse_has_few_readers(f, v) || f->rules == OC_FUSE_GENERIC || f->m->value[v].graph_output ||
        !oc_node_attr(&f->m->node[transpose], "perm"))
        return false;
    for (uint32_t i = x->use_first[v]; i < x->use_first[v + 1]; i++)
        if (f->owner[x->use[i]] == OC_NONE || f->m->node[x->use[i]].in[0] != v || !removed_axes(f, x->use[i]))
            return false;
    return x->use_first[v] < x->use_first[v + 1];
}

void oc_fuse_moved(const struct oc_fuse *f, uint32_t value, int64_t *perm, unsigned *n)
{
    uint32_t node = value == OC_NONE ? OC_NONE : f->m->value[value].producer, removed = 0;
    uint32_t in = node == OC_NONE || !f->m->node[node].n_in ? OC_NONE : oc_fuse_input(f, node, 0);
    uint32_t turn = in == OC_NONE ? OC_NONE : f->m->value[in].producer;
    int64_t all[OC_FUSE_RANK];
    unsigned rank = 0;
    *n = 0;
    if (turn == OC_NONE || !is_moved_transpose(f, turn) || !oc_fuse_permute(f, turn, all, &rank) ||
        !(removed = removed_axes(f, node)))
        return;
    for (unsigned i = 0; i < rank; i++) {
        int64_t at = 0;
        for (unsigned k = 0; k < rank; k++) /* its place among the dimensions that stay */
            at += !(removed >> k & 1) && all[k] < all[i];
        if (!(removed >> i & 1))
            perm[(*n)++] = at;
    }
}

static bool is_turned(const int64_t *perm, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (perm[i] != (int64_t)i)
            return true;
    return false;
}

/* The Transpose of each reader, unless the next one includes it. */
static void insert_transposes(struct oc_fuse *f, uint32_t transpose)
{
    const struct oc_graph_index *x = &f->maker.x;
    uint32_t v = f->m->node[transpose].out[0];
    for (uint32_t i = x->use_first[v]; i < x->use_first[v + 1]; i++) {
        uint32_t out = f->m->node[x->use[i]].out[0], next = oc_fuse_user(f, out);
        int64_t perm[OC_FUSE_RANK];
        unsigned n;
        double bytes = oc_fuse_elements(f, out) * oc_dtype_info(f->a->type[out].dtype)->bits / 8;
        oc_fuse_moved(f, out, perm, &n);
        if (is_turned(perm, n) && (next == OC_NONE || !oc_fuse_is(f, next, " Transpose ")))
            oc_fuse_insert(f, "Transpose", out, bytes, bytes, f->inserted);
    }
}

/* Operators that work in any order of dimensions lead from the value to a Transpose. */
static bool leads_to_transpose(const struct oc_fuse *f, uint32_t value, unsigned depth)
{
    const struct oc_graph_index *x = &f->maker.x;
    if (!oc_fuse_has_few_readers(f, value))
        return false;
    for (uint32_t i = x->use_first[value]; i < x->use_first[value + 1] && depth < 64; i++) {
        uint32_t node = x->use[i];
        if (f->owner[node] == OC_NONE || !f->m->node[node].n_out || f->m->node[node].out[0] == OC_NONE)
            continue;
        if (oc_fuse_is(f, node, " Transpose "))
            return true;
        if (fuse_any_order(f, node) || oc_fuse_is(f, node, " MaxPool "))
            return leads_to_transpose(f, f->m->node[node].out[0], depth + 1);
    }
    return false;
}

/* A Reshape that makes several dimensions of single ones. */
static bool splits_sizes(const struct oc_fuse *f, uint32_t node)
{
    const struct oc_shape *s = oc_fuse_shape(f, f->m->node[node].in[0]),
                          *y = oc_fuse_shape(f, f->m->node[node].out[0]);
    unsigned k = 0;
    if (!f->static_shapes || !s || !y || y->rank <= s->rank)
        return false;
    for (unsigned i = 0; i < s->rank; i++) {
        double n = k < y->rank ? (double)y->dim[k++].v : 0;
        while (n > 0 && n < (double)s->dim[i].v && k < y->rank)
            n *= (double)y->dim[k++].v;
        if (n != (double)s->dim[i].v)
            return false;
    }
    return k == y->rank;
}

/* The only reader, if it can come before the Transpose that makes the value. */
static uint32_t reader_before(const struct oc_fuse *f, uint32_t value)
{
    uint32_t node = oc_fuse_user(f, value);
    bool splits = node != OC_NONE && oc_fuse_is(f, node, " Reshape ");
    if (node == OC_NONE || (!splits && !fuse_any_order(f, node)) || !f->m->node[node].n_out ||
        f->m->node[node].out[0] == OC_NONE || f->group[f->owner[node]].n_node != 1)
        return OC_NONE;
    if (splits)
        return splits_sizes(f, node) ? node : OC_NONE;
    for (uint32_t i = 0; i < f->m->node[node].n_in; i++) {
        uint32_t v = oc_fuse_input(f, node, i);
        if (v != OC_NONE && v != value && !oc_fuse_const(f, v))
            return OC_NONE;
    }
    return leads_to_transpose(f, f->m->node[node].out[0], 0) ? node : OC_NONE;
}

static bool move_toward_transpose(struct oc_fuse *f, uint32_t transpose)
{
    uint32_t start = f->m->node[transpose].out[0], value = start, node;
    while ((node = reader_before(f, value)) != OC_NONE)
        value = f->m->node[node].out[0];
    double bytes = oc_fuse_elements(f, value) * oc_dtype_info(f->a->type[value].dtype)->bits / 8;
    node = oc_fuse_user(f, value);
    if (value != start && (node == OC_NONE || !oc_fuse_is(f, node, " Transpose ")))
        oc_fuse_insert(f, "Transpose", value, bytes, bytes, f->inserted);
    return value != start;
}

void oc_fuse_move(struct oc_fuse *f)
{
    for (uint32_t i = 0; i < f->m->n_node; i++) {
        struct oc_fuse_group *g = f->owner[i] == OC_NONE ? NULL : &f->group[f->owner[i]];
        if (!g || g->gone || g->n_node != 1 || g->out == OC_NONE || !oc_fuse_is(f, i, " Transpose ") ||
            !oc_node_attr(&f->m->node[i], "perm") || f->rules == OC_FUSE_GENERIC)
            continue;
        if (is_moved_transpose(f, i))
            insert_transposes(f, i);
        else if (!move_toward_transpose(f, i))
            continue;
        f->dropped[i] = g->gone = true;
        g->n_node = 0;
    }
}

/* ---- Reshapes ------------------------------------------------------------------------------------ */

bool oc_fuse_takes_zeros(const struct oc_fuse *f, uint32_t node)
{
    return oc_node_int(&f->m->node[node], "allowzero", 0);
}

void oc_fuse_insert_views(struct oc_fuse *f, const struct oc_fuse_group *g)
{
    uint32_t x = oc_fuse_input(f, g->core, 0), from = f->m->value[x].producer, next = oc_fuse_user(f, g->out);
    uint32_t owner = from == OC_NONE || oc_fuse_user(f, x) == OC_NONE ? OC_NONE : f->owner[from];
    bool views = owner != OC_NONE && f->group[owner].views;
    bool before = owner != OC_NONE && oc_fuse_is(f, from, " Reshape ") && !oc_fuse_takes_zeros(f, from);
    if (!views && !before)
        oc_fuse_insert(f, "Reshape", x, 0, 0, f->inserted);
    if (next == OC_NONE || !oc_fuse_is(f, next, " Reshape ") || oc_fuse_takes_zeros(f, next))
        oc_fuse_insert(f, "Reshape", g->out, 0, 0, f->inserted);
}

/* ---- Splits ------------------------------------------------------------------------------------ */

/* Gathers of single indices and Slices that together are the whole of an axis: one Split, with a Squeeze for
 * each scalar index. */

enum { MAX_PARTS = 16 };

struct part {
    uint32_t node;
    int64_t axis, from, to;
};

static bool constant_int(const struct oc_fuse *f, uint32_t node, uint32_t slot, int64_t *v)
{
    uint32_t i = oc_fuse_input(f, node, slot);
    const struct oc_data *d = i == OC_NONE ? NULL : f->a->data[i];
    return d && oc_fuse_const(f, i) && f->a->type[i].dtype == OC_DT_INT64 && d->n == 1 &&
           oc_elem_known_int(&d->e[0], v);
}

/* The runtime has the size: that of an input is declared. */
static bool size_is_known(const struct oc_fuse *f, uint32_t value, unsigned axis)
{
    uint32_t root = fuse_size_root(f, value, axis);
    const struct oc_type *t = f->m->value[root].declared;
    return f->static_shapes || f->m->value[root].producer != OC_NONE || !t || !t->shape.ranked ||
           axis >= t->shape.rank || t->shape.dim[axis].v >= 0;
}

static int64_t within(int64_t v, int64_t size)
{
    v = v < 0 ? v + size : v;
    return v < 0 ? 0 : v > size ? size : v;
}

/* What the node takes of the tensor with this shape. */
static bool part_of(const struct oc_fuse *f, uint32_t node, const struct oc_shape *s, struct part *p)
{
    int64_t step = 1;
    bool slice = oc_fuse_is(f, node, " Slice ");
    *p = (struct part){.node = node, .axis = oc_node_int(&f->m->node[node], "axis", 0)};
    if (slice ? !constant_int(f, node, 1, &p->from) || !constant_int(f, node, 2, &p->to) ||
                    !constant_int(f, node, 3, &p->axis)
              : !constant_int(f, node, 1, &p->from))
        return false;
    p->axis += p->axis < 0 ? s->rank : 0;
    if (p->axis < 0 || p->axis >= s->rank ||
        (slice && f->m->node[node].n_in > 4 && !constant_int(f, node, 4, &step)))
        return false;
    int64_t size = s->dim[p->axis].v;
    p->from = within(p->from, size);
    p->to = slice ? within(p->to, size) : p->from + 1;
    return step == 1 && size_is_known(f, oc_fuse_input(f, node, 0), (unsigned)p->axis);
}

OC_BY(by_start, struct part, from)

void oc_fuse_split(struct oc_fuse *f, uint32_t node)
{
    const struct oc_graph_index *x = &f->maker.x;
    uint32_t from = oc_fuse_input(f, node, 0), n = 0;
    const struct oc_shape *s = oc_fuse_shape(f, from);
    const char *types = f->rules == OC_FUSE_GENERIC ? " Gather " : " Gather Slice ";
    struct part first, part[MAX_PARTS];
    if (!s || !oc_fuse_has_few_readers(f, from) || f->group[f->owner[node]].rule ||
        !part_of(f, node, s, &first))
        return;
    for (uint32_t u = x->use_first[from]; u < x->use_first[from + 1] && n < MAX_PARTS; u++)
        n += f->owner[x->use[u]] != OC_NONE && oc_fuse_is(f, x->use[u], types) &&
             oc_fuse_input(f, x->use[u], 0) == from && part_of(f, x->use[u], s, &part[n]) &&
             part[n].axis == first.axis;
    qsort(part, n, sizeof(*part), by_start);
    for (uint32_t k = 0; k < n; k++)
        if (part[k].from != (k ? part[k - 1].to : 0) || part[k].to <= part[k].from)
            return;
    if (n < 2 || part[n - 1].to != s->dim[first.axis].v)
        return;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t i = part[k].node, index = oc_fuse_input(f, i, 1);
        oc_fuse_merge(f, f->owner[part[0].node], f->owner[i], OC_NONE, "slices", "Split");
        if (oc_fuse_is(f, i, " Gather ") && !f->a->type[index].shape.rank)
            oc_fuse_insert(f, "Squeeze", f->m->node[i].out[0], 0, 0, f->inserted);
    }
}
