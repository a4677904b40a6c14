/* Operators that ONNX Runtime moves or adds to change shapes. A Transpose goes after operators whose result has
 * fewer dimensions, Gathers of one index and reductions: there it has less work, or none; and toward another
 * Transpose. */
#include "estimate/fusion_plan.h"

#include <stdlib.h>

static uint32_t axis_bit(int64_t axis, unsigned rank)
{
    axis += axis < 0 ? rank : 0;
    return axis >= 0 && axis < (int64_t)rank ? 1u << axis : 0;
}

/* The dimensions of its input that the node removes, as bits; 0: it keeps all of them. */
static uint32_t removed_axes(const struct oc_fuse *f, uint32_t node)
{
    const struct oc_node *n = &f->m->node[node];
    const struct oc_attr *axis = oc_node_attr(n, "axis"), *axes = oc_node_attr(n, "axes"),
                         *keep = oc_node_attr(n, "keepdims");
    const struct oc_shape *s = oc_fuse_shape(f, n->in[0]);
    uint32_t index = oc_fuse_input(f, node, 1), bits = 0;
    if (!s || s->rank > OC_FUSE_RANK || !n->n_out || n->out[0] == OC_NONE)
        return 0;
    if (oc_fuse_is(f, node, " Gather ") && index != OC_NONE && !f->a->type[index].shape.rank)
        return axis_bit(axis ? axis->i : 0, s->rank);
    if (!oc_fuse_is(f, node, " ReduceMean ReduceMax ReduceMin ReduceSum ") || !keep || keep->i)
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

static bool fusion_moves_is_moved(const struct oc_fuse *f, uint32_t transpose)
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
    if (turn == OC_NONE || !fusion_moves_is_moved(f, turn) || !oc_fuse_permute(f, turn, all, &rank) ||
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
        if (oc_fuse_any_order(f, node) || oc_fuse_is(f, node, " MaxPool "))
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
    if (node == OC_NONE || (!splits && !oc_fuse_any_order(f, node)) || !f->m->node[node].n_out ||
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
        if (fusion_moves_is_moved(f, i))
            insert_transposes(f, i);
        else if (!move_toward_transpose(f, i))
            continue;
        f->dropped[i] = g->gone = true;
        g->n_node = 0;
    }
}

/* ---- Reshapes -------------------------------------------------------------------------------------------- */

bool oc_fuse_takes_zeros(const struct oc_fuse *f, uint32_t node)
{
    const struct oc_attr *a = oc_node_attr(&f->m->node[node], "allowzero");
    return a && a->i;
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

/* ---- fusion slices ------------------------------------------------------------------------------------ */

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
    uint32_t root = oc_fuse_size_root(f, value, axis);
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
    const struct oc_attr *at = oc_node_attr(&f->m->node[node], "axis");
    int64_t step = 1;
    bool slice = oc_fuse_is(f, node, " Slice ");
    *p = (struct part){.node = node, .axis = at ? at->i : 0};
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

static int by_start(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    return (x->from > y->from) - (x->from < y->from);
}

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
