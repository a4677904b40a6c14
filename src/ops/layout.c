/* Operators that rearrange whole tensors, and the helpers of all that move data (shared_rules.h). */
#include <string.h>

#include "ops/shared_rules.h"

static struct oc_list from_attr(struct oc_op_ctx *c, const int64_t *v, uint32_t n)
{
    struct oc_elem *e = oc_new_elems(c, n);
    for (uint32_t i = 0; i < n; i++)
        e[i] = oc_elem_int(v[i]);
    return (struct oc_list){.e = e, .n = n, .present = true, .sized = true};
}

/* Old operators give sizes in the type of their data: integral reals are treated as integers. */
static struct oc_list from_data(struct oc_op_ctx *c, const struct oc_data *d)
{
    struct oc_list l = {.e = d->e, .n = d->n, .present = true, .sized = true};
    if (d->n == 0 || d->e[0].kind != OC_E_REAL)
        return l;
    struct oc_elem *e = oc_new_elems(c, d->n);
    for (uint32_t i = 0; i < d->n; i++) {
        double r;
        if (oc_elem_known_real(&d->e[i], &r) && r > -1e15 && r < 1e15 && r == (double)(int64_t)r)
            e[i] = oc_elem_int((int64_t)r);
    }
    l.e = e;
    return l;
}

/* As many as a list may have, one array for all: the body of a loop may read lists of thousands in every trip. */
static const struct oc_elem *unknown_elems(struct oc_op_ctx *c, uint32_t n)
{
    if (!c->unknown_elems)
        return oc_new_elems(c, n);
    if (!*c->unknown_elems)
        *c->unknown_elems = oc_new_elems(c, OC_MAX_DATA);
    return *c->unknown_elems;
}

struct oc_list oc_list_of(struct oc_op_ctx *c, const char *attr, unsigned slot)
{
    uint32_t n = 0;
    const int64_t *v = attr ? oc_attr_ints(c, attr, &n) : NULL;
    if (v)
        return from_attr(c, v, n);
    if (!oc_in(c, slot))
        return (struct oc_list){0};
    const struct oc_data *d = oc_in_value(c, slot);
    if (d)
        return from_data(c, d);
    if (!oc_fold_count(oc_in_shape(c, slot), &n))
        return (struct oc_list){.present = true};
    return (struct oc_list){.e = unknown_elems(c, n), .n = n, .present = true, .sized = true};
}

bool oc_list_known(const struct oc_list *l)
{
    int64_t v;
    for (uint32_t i = 0; i < l->n; i++)
        if (!oc_elem_known_int(&l->e[i], &v))
            return false;
    return l->sized;
}

int oc_list_axes(struct oc_op_ctx *c, const struct oc_list *l, unsigned rank, unsigned *axis)
{
    bool seen[OC_MAX_RANK] = {false};
    if (rank > OC_MAX_RANK || l->n > OC_MAX_RANK)
        return oc_op_fail(c, "%u axes for rank %u", (unsigned)l->n, rank);
    for (uint32_t i = 0; i < l->n; i++) {
        int64_t v = 0;
        if (!oc_elem_known_int(&l->e[i], &v) || !oc_axis(v, rank, &axis[i]))
            return oc_op_fail(c, "axis %lld is out of range for rank %u", (long long)v, rank);
        if (seen[axis[i]])
            return oc_op_fail(c, "axis %lld is listed twice", (long long)v);
        seen[axis[i]] = true;
    }
    return 0;
}

int oc_attr_axis(struct oc_op_ctx *c, int64_t otherwise, unsigned rank, unsigned *axis)
{
    int64_t v = oc_attr_i(c, "axis", otherwise);
    if (oc_axis(v, rank, axis))
        return 0;
    return oc_op_fail(c, "axis %lld is out of range for rank %u", (long long)v, rank);
}

struct oc_dim oc_fresh_axis(struct oc_op_ctx *c, unsigned axis, int64_t max)
{
    char text[16];
    snprintf(text, sizeof(text), "%u", axis);
    return oc_op_fresh_dim(c, text, max);
}

struct oc_shape oc_fresh_shape(struct oc_op_ctx *c, unsigned rank)
{
    struct oc_dim d[OC_MAX_RANK];
    if (rank > OC_MAX_RANK)
        return oc_shape_unranked();
    for (unsigned i = 0; i < rank; i++)
        d[i] = oc_fresh_axis(c, i, -1);
    return oc_shape_of(c->arena, rank, d);
}

struct oc_dim oc_elem_to_dim(struct oc_op_ctx *c, const struct oc_elem *e, unsigned axis, int64_t max)
{
    return e->kind == OC_E_INT ? e->i : oc_fresh_axis(c, axis, max);
}

int64_t oc_bound(struct oc_op_ctx *c, struct oc_dim d)
{
    return oc_is_known(d) && d.v < 0 ? -1 : oc_dim_max_value(c->exprs, d);
}

bool oc_walk_of(const struct oc_shape *s, struct oc_walk *w)
{
    uint32_t n;
    if (!oc_fold_count(s, &n) || s->rank > OC_MAX_RANK)
        return false;
    int64_t stride = 1;
    w->rank = s->rank;
    for (unsigned i = s->rank; i-- > 0;) {
        w->size[i] = s->dim[i].v;
        w->start[i] = 0;
        w->step[i] = 1;
        w->wrap[i] = s->dim[i].v > 0 ? s->dim[i].v : 1;
        w->stride[i] = stride;
        stride *= n ? w->wrap[i] : 1; /* of an empty tensor the product of the others may be too large */
    }
    return true;
}

static bool walk_count(const struct oc_walk *w, uint32_t *n)
{
    uint64_t count = 1;
    for (unsigned i = 0; i < w->rank; i++) {
        if (w->size[i] < 0 || w->size[i] > OC_MAX_DATA || count > OC_MAX_DATA)
            return false;
        count *= (uint64_t)w->size[i];
    }
    *n = (uint32_t)count;
    return count <= OC_MAX_DATA;
}

void oc_walk_data(struct oc_op_ctx *c, unsigned out_slot, const struct oc_data *d, const struct oc_walk *w)
{
    uint32_t n;
    if (!d || !walk_count(w, &n))
        return;
    struct oc_elem *e = oc_new_elems(c, n);
    for (uint32_t at = 0; at < n; at++) {
        int64_t from = 0;
        uint32_t rest = at;
        for (unsigned i = w->rank; i-- > 0;) {
            int64_t k = rest % (uint32_t)w->size[i];
            rest /= (uint32_t)w->size[i];
            from += (w->start[i] + k * w->step[i]) % w->wrap[i] * w->stride[i];
        }
        if (from < 0 || from >= (int64_t)d->n)
            return;
        e[at] = d->e[from];
    }
    oc_set_data(c, out_slot, e, n);
}

uint64_t oc_c_part(struct oc_op_ctx *c, unsigned slot, uint64_t elements)
{
    return oc_c_bytes(c, oc_in_dtype(c, slot), elements);
}

const char *oc_text_of(struct oc_op_ctx *c, const struct oc_shape *s)
{
    return oc_shape_text(c->arena, c->exprs, s, ",");
}

/* ---- Concat ------------------------------------------------------------------------------------------- */

/* The first input of known rank; NULL: none. */
static const struct oc_shape *any_ranked(const struct oc_op_ctx *c)
{
    for (unsigned i = 0; i < c->n_in; i++)
        if (oc_in_shape(c, i)->ranked)
            return oc_in_shape(c, i);
    return NULL;
}

static int join_axis(struct oc_op_ctx *c, unsigned i, unsigned axis, const struct oc_shape *s,
                     struct oc_dim *dim)
{
    for (unsigned k = 0; k < s->rank; k++) {
        if (k == axis)
            dim[k] = oc_dim_add(c->exprs, dim[k], s->dim[k]);
        else if (!oc_is_known(dim[k]))
            dim[k] = oc_is_known(s->dim[k]) ? s->dim[k] : dim[k];
        else if (oc_is_known(s->dim[k]) && s->dim[k].v != dim[k].v)
            return oc_op_fail(c,
                              "input %u is {%s}: axis %u differs from the %lld elements of the other inputs",
                              i, oc_text_of(c, s), k, (long long)dim[k].v);
    }
    return 0;
}

static int layout_shape_concat(struct oc_op_ctx *c)
{
    const struct oc_shape *first = any_ranked(c);
    struct oc_dim dim[OC_MAX_RANK];
    unsigned axis, dtype = OC_DT_UNDEFINED;
    bool open = false; /* the length along the axis is unknown */
    for (unsigned i = 0; i < c->n_in && dtype == OC_DT_UNDEFINED; i++)
        dtype = oc_in_dtype(c, i);
    if (!first)
        return oc_out_unranked(c, dtype);
    if (!oc_has_attr(c, "axis") && c->opset >= 4)
        return oc_op_fail(c, "attribute 'axis' is missing");
    if (oc_attr_axis(c, 1, first->rank, &axis))
        return -1;
    for (unsigned k = 0; k < first->rank; k++)
        dim[k] = k == axis ? oc_known(0) : first->dim[k];
    for (unsigned i = 0; i < c->n_in; i++) {
        const struct oc_shape *s = oc_in_shape(c, i);
        open = open || (oc_in(c, i) && !s->ranked);
        if (s->ranked && s->rank != first->rank)
            return oc_op_fail(c, "inputs {%s} and {%s} differ in rank", oc_text_of(c, first),
                              oc_text_of(c, s));
        if (s->ranked && join_axis(c, i, axis, s, dim))
            return -1;
    }
    if (open)
        dim[axis] = oc_fresh_axis(c, axis, -1);
    oc_set_out(c, 0, dtype, oc_shape_of(c->arena, first->rank, dim));
    return 0;
}

/* Copies one input into its part of the result; unknown elements for an input without a value. */
static void layout_place(const struct oc_data *d, const struct oc_shape *s, unsigned axis, uint32_t row,
                         uint32_t at, struct oc_elem *e)
{
    uint32_t inner = 1, outer = 1;
    for (unsigned k = 0; k < s->rank; k++) {
        if (k >= axis)
            inner *= (uint32_t)s->dim[k].v;
        else
            outer *= (uint32_t)s->dim[k].v;
    }
    for (uint32_t o = 0; d && inner && o < outer; o++)
        memcpy(&e[(size_t)o * row + at], &d->e[(size_t)o * inner], inner * sizeof(*e));
}

static int fold_concat(struct oc_op_ctx *c)
{
    const struct oc_type *out = oc_out(c, 0);
    uint32_t n, row = 1, at = 0, n_part;
    unsigned axis;
    bool any = false;
    for (unsigned i = 0; i < c->n_in; i++)
        any = any || oc_in_value(c, i);
    if (!any || !out || !oc_fold_count(&out->shape, &n) ||
        !oc_axis(oc_attr_i(c, "axis", 1), out->shape.rank, &axis))
        return 0;
    for (unsigned k = axis; k < out->shape.rank; k++)
        row *= (uint32_t)out->shape.dim[k].v;
    struct oc_elem *e = oc_new_elems(c, n);
    for (unsigned i = 0; i < c->n_in; i++) {
        const struct oc_shape *s = oc_in_shape(c, i);
        const struct oc_data *d = oc_in_value(c, i);
        if (!oc_in(c, i))
            continue;
        if (!oc_fold_count(s, &n_part) || (d && d->n != n_part))
            return 0;
        layout_place(d, s, axis, row, at, e);
        uint32_t inner = 1;
        for (unsigned k = axis; k < s->rank; k++)
            inner *= (uint32_t)s->dim[k].v;
        at += inner;
    }
    oc_set_data(c, 0, e, n);
    return 0;
}

static int layout_concat_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    unsigned n = 0;
    for (unsigned i = 0; i < c->n_in; i++)
        n += oc_in(c, i) != NULL;
    k->alias = n == 1;
    return 0;
}

/* ---- Tile --------------------------------------------------------------------------------------------- */

/* Opset 1: number of repeats and axis. */
static int tile_old(struct oc_op_ctx *c, const struct oc_shape *in, struct oc_dim *dim)
{
    struct oc_list tiles = oc_list_of(c, NULL, 1), where = oc_list_of(c, NULL, 2);
    unsigned axis;
    int64_t at;
    bool known =
        tiles.sized && tiles.n == 1 && where.sized && where.n == 1 && oc_elem_known_int(&where.e[0], &at);
    if (known && !oc_axis(at, in->rank, &axis))
        return oc_op_fail(c, "axis %lld is out of range for rank %u", (long long)at, (unsigned)in->rank);
    for (unsigned i = 0; i < in->rank; i++)
        dim[i] = known ? in->dim[i] : oc_fresh_axis(c, i, -1);
    if (known)
        dim[axis] = oc_dim_mul(c->exprs, dim[axis], oc_elem_to_dim(c, &tiles.e[0], axis, -1));
    return 0;
}

static int shape_tile(struct oc_op_ctx *c)
{
    const struct oc_shape *in = oc_in_shape(c, 0);
    struct oc_list l = oc_list_of(c, NULL, 1);
    struct oc_dim dim[OC_MAX_RANK];
    bool old = c->op->until != 0;
    if (!in->ranked) {
        bool ranked = l.sized && !old;
        oc_set_out(c, 0, oc_in_dtype(c, 0), ranked ? oc_fresh_shape(c, l.n) : oc_shape_unranked());
        return 0;
    }
    if (old && tile_old(c, in, dim))
        return -1;
    if (!old && l.sized && l.n != in->rank)
        return oc_op_fail(c, "%u repeats for rank %u", (unsigned)l.n, (unsigned)in->rank);
    for (unsigned i = 0; !old && i < in->rank; i++) {
        bool known = l.sized && l.e[i].kind == OC_E_INT;
        dim[i] = known ? oc_dim_mul(c->exprs, in->dim[i], l.e[i].i) : oc_fresh_axis(c, i, -1);
    }
    for (unsigned i = 0; i < in->rank; i++)
        if (oc_is_known(dim[i]) && dim[i].v < 0)
            return oc_op_fail(c, "axis %u has a negative number of repeats", i);
    oc_set_out(c, 0, oc_in_dtype(c, 0), oc_shape_of(c->arena, in->rank, dim));
    return 0;
}

static int fold_tile(struct oc_op_ctx *c)
{
    const struct oc_type *out = oc_out(c, 0);
    struct oc_walk w;
    if (!out || !oc_shape_known(&out->shape) || !oc_walk_of(oc_in_shape(c, 0), &w) ||
        w.rank != out->shape.rank)
        return 0;
    for (unsigned i = 0; i < w.rank; i++)
        w.size[i] = out->shape.dim[i].v; /* the index wraps at the input's size */
    oc_walk_data(c, 0, oc_in_value(c, 0), &w);
    return 0;
}

/* ---- Transpose ---------------------------------------------------------------------------------------- */

static int read_perm(struct oc_op_ctx *c, unsigned rank, unsigned *perm)
{
    uint32_t n;
    const int64_t *v = oc_attr_ints(c, "perm", &n);
    bool seen[OC_MAX_RANK] = {false};
    for (unsigned i = 0; i < rank; i++)
        perm[i] = rank - 1 - i;
    if (!v || (n == 0 && rank))
        return 0;
    if (n != rank)
        return oc_op_fail(c, "perm has %u axes, the input has rank %u", (unsigned)n, rank);
    for (unsigned i = 0; i < rank; i++) {
        if (!oc_axis(v[i], rank, &perm[i]) || seen[perm[i]])
            return oc_op_fail(c, "perm is not a permutation");
        seen[perm[i]] = true;
    }
    return 0;
}

static int shape_transpose(struct oc_op_ctx *c)
{
    const struct oc_shape *in = oc_in_shape(c, 0);
    unsigned perm[OC_MAX_RANK];
    struct oc_dim dim[OC_MAX_RANK];
    uint32_t n;
    if (!in->ranked) {
        bool ranked = oc_attr_ints(c, "perm", &n) && n;
        oc_set_out(c, 0, oc_in_dtype(c, 0), ranked ? oc_fresh_shape(c, n) : oc_shape_unranked());
        return 0;
    }
    if (read_perm(c, in->rank, perm))
        return -1;
    for (unsigned i = 0; i < in->rank; i++)
        dim[i] = in->dim[perm[i]];
    oc_set_out(c, 0, oc_in_dtype(c, 0), oc_shape_of(c->arena, in->rank, dim));
    return 0;
}

static int fold_transpose(struct oc_op_ctx *c)
{
    struct oc_walk from, w;
    unsigned perm[OC_MAX_RANK];
    if (!oc_in_value(c, 0) || !oc_walk_of(oc_in_shape(c, 0), &from) || read_perm(c, from.rank, perm))
        return 0;
    w = from;
    for (unsigned i = 0; i < w.rank; i++) {
        w.size[i] = from.size[perm[i]];
        w.wrap[i] = from.wrap[perm[i]];
        w.stride[i] = from.stride[perm[i]];
    }
    oc_walk_data(c, 0, oc_in_value(c, 0), &w);
    return 0;
}

/* When only axes of size 1 move, the data layout is unchanged. */
static int transpose_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    const struct oc_shape *in = oc_in_shape(c, 0);
    unsigned perm[OC_MAX_RANK];
    int last = -1;
    if (!in->ranked || read_perm(c, in->rank, perm))
        return 0;
    k->alias = true;
    for (unsigned i = 0; i < in->rank; i++) {
        if (oc_is(in->dim[perm[i]], 1))
            continue;
        k->alias = k->alias && (int)perm[i] > last;
        last = (int)perm[i];
    }
    return 0;
}

/* ---- blocks ------------------------------------------------------------------------------------------- */

static int shape_blocks(struct oc_op_ctx *c, bool to_depth)
{
    const struct oc_shape *in = oc_in_shape(c, 0);
    struct oc_dim b = oc_known(oc_attr_i(c, "blocksize", 0)), dim[4];
    if (b.v < 1 || b.v > INT32_MAX)
        return oc_op_fail(c, "invalid blocksize %lld", (long long)b.v);
    if (!in->ranked) {
        oc_set_out(c, 0, oc_in_dtype(c, 0), oc_fresh_shape(c, 4));
        return 0;
    }
    if (in->rank != 4)
        return oc_op_fail(c, "input {%s} must have rank 4", oc_text_of(c, in));
    struct oc_dim bb = oc_known(b.v * b.v);
    dim[0] = in->dim[0];
    for (unsigned i = 1; i < 4; i++) {
        bool grows = (i == 1) == to_depth;
        struct oc_dim by = i == 1 ? bb : b;
        if (grows)
            dim[i] = oc_dim_mul(c->exprs, in->dim[i], by);
        else if (!oc_dim_divides(c->exprs, in->dim[i], by, &dim[i])) {
            if (oc_is_known(in->dim[i]))
                return oc_op_fail(c, "axis %u of {%s} is not divisible by %lld", i, oc_text_of(c, in),
                                  (long long)by.v);
            dim[i] = oc_dim_floordiv(c->exprs, in->dim[i], by);
        }
    }
    oc_set_out(c, 0, oc_in_dtype(c, 0), oc_shape_of(c->arena, 4, dim));
    return 0;
}

static int shape_depth_to_space(struct oc_op_ctx *c)
{
    return shape_blocks(c, false);
}

static int shape_space_to_depth(struct oc_op_ctx *c)
{
    return shape_blocks(c, true);
}

/* ---- Trilu -------------------------------------------------------------------------------------------- */

static int fold_trilu(struct oc_op_ctx *c)
{
    const struct oc_shape *in = oc_in_shape(c, 0);
    const struct oc_data *d = oc_in_value(c, 0);
    bool upper = oc_attr_i(c, "upper", 1) != 0;
    bool real = oc_dtype_info(oc_in_dtype(c, 0))->kind == OC_KIND_FLOAT;
    int64_t diagonal = 0;
    uint32_t n;
    if (!d || !oc_fold_count(in, &n) || n != d->n || in->rank < 2 ||
        (oc_in(c, 1) && !oc_in_int(c, 1, &diagonal)))
        return 0;
    int64_t cols = in->dim[in->rank - 1].v, rows = in->dim[in->rank - 2].v;
    struct oc_elem *e = oc_new_elems(c, n);
    for (uint32_t i = 0; i < n; i++) {
        int64_t col = i % cols, row = i / cols % rows;
        bool keep = upper ? diagonal <= col - row : diagonal >= col - row;
        e[i] = keep ? d->e[i] : real ? oc_elem_real(0) : oc_elem_int(0);
    }
    oc_set_data(c, 0, e, n);
    return 0;
}

#define COPY(n, v, u, cls, sl, s, f, k)                                                                      \
    .domain = "", .name = (n), .since = (v), .until = (u), .op_class = (cls), .slots = (sl), .shape = (s),   \
    .fold = (f), OC_COST_TEXT_WITH("", k)

static const struct oc_op layout_rows[] = {
    {COPY("Concat", 1, 0, OC_OP_COPY, NULL, layout_shape_concat, fold_concat, layout_concat_values)},
    {COPY("DepthToSpace", 1, 0, OC_OP_LAYOUT, NULL, shape_depth_to_space, NULL, NULL),
     .flags = OC_F_CHANNELS},
    {COPY("MemcpyFromHost", 1, 0, OC_OP_COPY, NULL, oc_shape_same, oc_fold_same, NULL)},
    {COPY("MemcpyToHost", 1, 0, OC_OP_COPY, NULL, oc_shape_same, oc_fold_same, NULL)},
    {COPY("ReverseSequence", 10, 0, OC_OP_COPY, NULL, oc_shape_same, NULL, NULL), .kernel = OC_KC_GATHER},
    {COPY("SpaceToDepth", 1, 0, OC_OP_LAYOUT, NULL, shape_space_to_depth, NULL, NULL),
     .flags = OC_F_CHANNELS},
    {COPY("Tile", 1, 5, OC_OP_COPY, ".m", shape_tile, NULL, NULL)},
    {COPY("Tile", 6, 0, OC_OP_COPY, ".m", shape_tile, fold_tile, NULL)},
    {COPY("Transpose", 1, 0, OC_OP_LAYOUT, NULL, shape_transpose, fold_transpose, transpose_values)},
    {COPY("Trilu", 14, 0, OC_OP_COPY, ".m", oc_shape_same, fold_trilu, NULL), .in_place = OC_SLOT_0},
    {OC_OP_ROW("com.microsoft", "Trilu", 1, COPY, ".m", oc_shape_same), .fold = fold_trilu},
};
OC_FAMILY(layout, layout_rows);
