/* Slice in all its forms, Split, Pad, Crop. cost-semantics 4.9, 5.3, 5.4. */
#include "base/ck.h"
#include "ops/shared_rules.h"

/* ---- one axis of a Slice ------------------------------------------------------------------------------ */

#define TO_THE_END ((int64_t)INT32_MAX) /* exporters write this or larger for "no end" */

struct cut {
    struct oc_elem start, end;
    int64_t step;
    bool set;
};

/* Normalises a bound to count from the front. False: its sign is unknown. */
static bool from_front(struct oc_exprs *x, const struct oc_elem *e, struct oc_dim d, struct oc_dim *out)
{
    if (e->kind != OC_E_INT)
        return false;
    *out = e->i;
    if (oc_is_known(e->i)) {
        if (e->i.v < 0)
            *out = e->i.v <= -TO_THE_END ? oc_known(-TO_THE_END) : oc_dim_add(x, d, e->i);
        return true;
    }
    if (oc_dim_min_value(x, e->i) >= 0)
        return true;
    if (oc_dim_max_value(x, oc_dim_add(x, e->i, oc_known(1))) != 0)
        return false;
    *out = oc_dim_add(x, d, e->i); /* always negative */
    return true;
}

static struct oc_dim clamp(struct oc_exprs *x, struct oc_dim v, struct oc_dim lo, struct oc_dim hi)
{
    return oc_dim_min(x, oc_dim_max(x, v, lo), hi);
}

/* The first index read from an axis and their number. False: unknown. */
static bool cut_axis(struct oc_exprs *x, struct oc_dim d, const struct cut *cut, struct oc_dim *first,
                     struct oc_dim *n)
{
    struct oc_dim a, b, zero = oc_known(0), top = oc_dim_add(x, d, oc_known(-1));
    if (!from_front(x, &cut->start, d, &a) || !from_front(x, &cut->end, d, &b))
        return false;
    if (cut->step > 0) {
        a = oc_is_known(a) && a.v >= TO_THE_END ? d : oc_dim_max(x, a, zero);
        b = oc_is_known(b) && b.v >= TO_THE_END ? d : oc_dim_min(x, b, d);
        *first = oc_dim_min(x, a, d);
        struct oc_dim span = oc_dim_sub(x, b, a);
        int64_t from = oc_is_known(cut->start.i) ? cut->start.i.v : 0;
        if (from < 0 && from > -TO_THE_END && oc_same_dim(b, d)) /* the last few */
            span = oc_dim_min(x, d, oc_known(-from));
        *n = oc_dim_ceildiv(x, span, oc_known(cut->step));
    } else {
        bool whole = oc_is_known(cut->end.i) && cut->end.i.v <= -TO_THE_END;
        a = oc_is_known(a) && a.v >= TO_THE_END ? top : clamp(x, a, zero, top);
        b = whole ? oc_known(-1) : clamp(x, b, oc_known(-1), top);
        *first = a;
        *n = oc_dim_ceildiv(x, oc_dim_sub(x, a, b), oc_known(-cut->step));
    }
    /* d >= 0, so a length of d - k - 1 and the like may be below 0 for small d: stay exact */
    *n = oc_dim_max(x, *n, zero);
    return true;
}

/* ---- Slice -------------------------------------------------------------------------------------------- */

struct slice_args {
    struct oc_list starts, ends, axes, steps;
};

static struct slice_args slice_args(struct oc_op_ctx *c)
{
    bool old = c->op->until != 0;
    struct slice_args a = {.starts = oc_list_of(c, old ? "starts" : NULL, 1),
                           .ends = oc_list_of(c, old ? "ends" : NULL, 2),
                           .axes = oc_list_of(c, old ? "axes" : NULL, 3)};
    if (!old)
        a.steps = oc_list_of(c, NULL, 4);
    return a;
}

/* The slice of every axis of the input. 0, 1: some axis is sliced in an unknown way, -1: error. */
static int read_cuts(struct oc_op_ctx *c, const struct oc_shape *in, struct cut *cut)
{
    struct slice_args a = slice_args(c);
    unsigned axis[OC_MAX_RANK];
    for (unsigned i = 0; i < in->rank; i++)
        cut[i].set = false;
    if (!a.starts.sized || !a.ends.sized || (a.axes.present && !oc_list_known(&a.axes)))
        return 1;
    if (a.starts.n != a.ends.n || (a.axes.present && a.axes.n != a.starts.n) ||
        (a.steps.sized && a.steps.n != a.starts.n))
        return oc_op_fail(c, "starts, ends and axes differ in length: %u, %u, %u", (unsigned)a.starts.n,
                          (unsigned)a.ends.n, (unsigned)(a.axes.present ? a.axes.n : a.starts.n));
    if (!a.axes.present && a.starts.n > in->rank)
        return oc_op_fail(c, "%u starts for rank %u", (unsigned)a.starts.n, (unsigned)in->rank);
    if (a.axes.present && oc_list_axes(c, &a.axes, in->rank, axis))
        return -1;
    for (unsigned i = 0; i < a.starts.n; i++) {
        struct cut *k = &cut[a.axes.present ? axis[i] : i];
        *k = (struct cut){.start = a.starts.e[i], .end = a.ends.e[i], .step = 1, .set = true};
        if (a.steps.present && (!a.steps.sized || !oc_elem_known_int(&a.steps.e[i], &k->step)))
            k->start.kind = OC_E_UNKNOWN;
        else if (k->step == 0 || k->step == INT64_MIN)
            return oc_op_fail(c, "invalid step %lld", (long long)k->step);
    }
    return 0;
}

static int shape_slice(struct oc_op_ctx *c)
{
    const struct oc_shape *in = oc_in_shape(c, 0);
    struct cut cut[OC_MAX_RANK];
    struct oc_dim dim[OC_MAX_RANK], first;
    if (!in->ranked)
        return oc_out_unranked(c, oc_in_dtype(c, 0));
    int rc = read_cuts(c, in, cut);
    if (rc < 0)
        return -1;
    for (unsigned i = 0; i < in->rank; i++) {
        dim[i] = in->dim[i];
        if (rc == 1 || (cut[i].set && !cut_axis(c->exprs, in->dim[i], &cut[i], &first, &dim[i])))
            dim[i] = oc_fresh_axis(c, i, oc_bound(c, in->dim[i]));
    }
    oc_set_out(c, 0, oc_in_dtype(c, 0), oc_shape_of(c->arena, in->rank, dim));
    return 0;
}

static int fold_slice(struct oc_op_ctx *c)
{
    const struct oc_shape *in = oc_in_shape(c, 0);
    struct cut cut[OC_MAX_RANK];
    struct oc_walk w;
    struct oc_dim first, n;
    if (!oc_in_value(c, 0) || !oc_walk_of(in, &w) || read_cuts(c, in, cut) != 0)
        return 0;
    for (unsigned i = 0; i < in->rank; i++) {
        if (!cut[i].set)
            continue;
        if (!cut_axis(c->exprs, in->dim[i], &cut[i], &first, &n) || !oc_is_known(first) || !oc_is_known(n))
            return 0;
        w.size[i] = n.v;
        w.start[i] = first.v;
        w.step[i] = n.v > 1 ? cut[i].step : 0;
    }
    oc_walk_data(c, 0, oc_in_value(c, 0), &w);
    return 0;
}

/* A slice of the whole tensor is not a copy; else the selected part is read. */
static int slice_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    const struct oc_shape *in = oc_in_shape(c, 0);
    const struct oc_type *out = oc_out(c, 0);
    struct cut cut[OC_MAX_RANK];
    bool same = out && in->ranked && oc_shape_equal(in, &out->shape) && read_cuts(c, in, cut) == 0;
    for (unsigned i = 0; same && i < in->rank; i++)
        same = !cut[i].set || cut[i].step > 0 || oc_is(in->dim[i], 1);
    k->alias = same;
    k->rd[0] = oc_c_part(c, 0, oc_c_out(c, 0));
    return 0;
}

/* ---- Split -------------------------------------------------------------------------------------------- */

/* Equal parts of an axis; with num_outputs the last one may be smaller. */
static int equal_parts(struct oc_op_ctx *c, struct oc_dim d, unsigned n, struct oc_dim *part)
{
    int64_t wanted = oc_attr_i(c, "num_outputs", 0);
    struct oc_exprs *x = c->exprs;
    if (wanted > 0) {
        if ((uint64_t)wanted != n)
            return oc_op_fail(c, "num_outputs is %lld but the node has %u outputs", (long long)wanted, n);
        struct oc_dim size = oc_dim_ceildiv(x, d, oc_known(n)), rest = d;
        for (unsigned i = 0; i < n; i++) {
            part[i] = i + 1 < n ? size : rest;
            if (oc_is_known(d)) /* parts at the end may be empty */
                part[i] = oc_dim_max(x, oc_dim_min(x, part[i], rest), oc_known(0));
            rest = oc_dim_sub(x, rest, part[i]);
        }
        return 0;
    }
    if (oc_is_known(d) && d.v % n != 0)
        return oc_op_fail(c, "an axis of %lld cannot be split into %u equal parts", (long long)d.v, n);
    for (unsigned i = 0; i < n; i++)
        part[i] = oc_dim_floordiv(x, d, oc_known(n));
    return 0;
}

static int split_sizes(struct oc_op_ctx *c, unsigned axis, struct oc_dim d, struct oc_dim *part)
{
    struct oc_list l = oc_list_of(c, "split", 1);
    int64_t sum = 0, v;
    if (!c->n_out)
        return oc_op_fail(c, "no outputs");
    if (!l.present || (l.sized && l.n == 0))
        return equal_parts(c, d, c->n_out, part);
    for (unsigned i = 0; i < c->n_out; i++)
        part[i] = l.sized && i < l.n ? oc_elem_to_dim(c, &l.e[i], axis, oc_bound(c, d))
                                     : oc_fresh_axis(c, axis, oc_bound(c, d));
    if (l.sized && l.n != c->n_out)
        return oc_op_fail(c, "%u sizes for %u outputs", (unsigned)l.n, (unsigned)c->n_out);
    if (!oc_list_known(&l))
        return 0;
    for (unsigned i = 0; i < l.n; i++)
        if (!oc_elem_known_int(&l.e[i], &v) || v < 0 || !oc_add_i64(sum, v, &sum))
            return oc_op_fail(c, "invalid part size %lld", (long long)v);
    if (oc_is_known(d) && d.v != sum)
        return oc_op_fail(c, "the parts have %lld elements in total, the axis has %lld", (long long)sum,
                          (long long)d.v);
    return 0;
}

static int slice_shape_split(struct oc_op_ctx *c)
{
    const struct oc_shape *in = oc_in_shape(c, 0);
    struct oc_dim dim[OC_MAX_RANK];
    unsigned axis;
    for (unsigned i = 0; i < c->n_out; i++)
        oc_set_out(c, i, oc_in_dtype(c, 0), oc_shape_unranked());
    if (!in->ranked)
        return 0;
    struct oc_dim *part = OC_NEW_ARRAY(c->arena, c->n_out + 1, struct oc_dim);
    if (oc_attr_axis(c, 0, in->rank, &axis) || split_sizes(c, axis, in->dim[axis], part))
        return -1;
    for (unsigned i = 0; i < in->rank; i++)
        dim[i] = in->dim[i];
    for (unsigned i = 0; i < c->n_out; i++) {
        dim[axis] = part[i];
        oc_set_out(c, i, oc_in_dtype(c, 0), oc_shape_of(c->arena, in->rank, dim));
    }
    return 0;
}

static int fold_split(struct oc_op_ctx *c)
{
    const struct oc_shape *in = oc_in_shape(c, 0);
    struct oc_walk w;
    unsigned axis;
    if (!oc_in_value(c, 0) || !oc_walk_of(in, &w) || !oc_axis(oc_attr_i(c, "axis", 0), in->rank, &axis))
        return 0;
    for (unsigned i = 0; i < c->n_out; i++) {
        const struct oc_type *out = oc_out(c, i);
        if (!out || !oc_shape_known(&out->shape) || out->shape.rank != in->rank)
            return 0;
        w.size[axis] = out->shape.dim[axis].v;
        oc_walk_data(c, i, oc_in_value(c, 0), &w);
        w.start[axis] += w.size[axis];
    }
    return 0;
}

static int slice_split_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    k->alias = c->n_out == 1;
    return 0;
}

/* ---- Pad, CenterCropPad, Crop ------------------------------------------------------------------------- */

/* d + begin + end; begin and end are small values */
static struct oc_dim padded(struct oc_op_ctx *c, unsigned axis, struct oc_dim d, const struct oc_elem *begin,
                            const struct oc_elem *end)
{
    if (begin->kind != OC_E_INT || end->kind != OC_E_INT)
        return oc_fresh_axis(c, axis, -1);
    return oc_dim_add(c->exprs, oc_dim_add(c->exprs, d, begin->i), end->i);
}

static int shape_pad(struct oc_op_ctx *c)
{
    const struct oc_shape *in = oc_in_shape(c, 0);
    struct oc_list pads = oc_list_of(c, oc_has_attr(c, "paddings") ? "paddings" : "pads", 1);
    struct oc_list axes = c->opset >= 18 || c->op->domain[0] ? oc_list_of(c, NULL, 3) : (struct oc_list){0};
    struct oc_dim dim[OC_MAX_RANK];
    unsigned axis[OC_MAX_RANK], n = axes.present ? axes.n : in->rank;
    if (!in->ranked || !pads.sized || (axes.present && !oc_list_known(&axes))) {
        oc_set_out(c, 0, oc_in_dtype(c, 0), in->ranked ? oc_fresh_shape(c, in->rank) : *in);
        return 0;
    }
    if (pads.n != 2 * n)
        return oc_op_fail(c, "%u pads for %u axes", (unsigned)pads.n, n);
    if (axes.present && oc_list_axes(c, &axes, in->rank, axis))
        return -1;
    for (unsigned i = 0; i < in->rank; i++)
        dim[i] = in->dim[i];
    for (unsigned i = 0; i < n; i++) {
        unsigned k = axes.present ? axis[i] : i;
        dim[k] = padded(c, k, in->dim[k], &pads.e[i], &pads.e[n + i]);
        if (oc_is_known(dim[k]) && dim[k].v < 0)
            return oc_op_fail(c, "axis %u of {%s} is padded to invalid size %lld", k, oc_text_of(c, in),
                              (long long)dim[k].v);
    }
    oc_set_out(c, 0, oc_in_dtype(c, 0), oc_shape_of(c->arena, in->rank, dim));
    return 0;
}

static int shape_center_crop_pad(struct oc_op_ctx *c)
{
    const struct oc_shape *in = oc_in_shape(c, 0);
    struct oc_list size = oc_list_of(c, NULL, 1), axes = oc_list_of(c, "axes", UINT32_MAX);
    struct oc_dim dim[OC_MAX_RANK];
    unsigned axis[OC_MAX_RANK];
    if (!in->ranked || (!size.sized && !axes.present)) {
        oc_set_out(c, 0, oc_in_dtype(c, 0), in->ranked ? oc_fresh_shape(c, in->rank) : *in);
        return 0;
    }
    unsigned n = axes.present ? axes.n : in->rank;
    if (size.sized && size.n != n)
        return oc_op_fail(c, "%u sizes for %u axes", (unsigned)size.n, n);
    if (axes.present && oc_list_axes(c, &axes, in->rank, axis))
        return -1;
    for (unsigned i = 0; i < in->rank; i++)
        dim[i] = in->dim[i];
    for (unsigned i = 0; i < n; i++) {
        unsigned k = axes.present ? axis[i] : i;
        dim[k] = size.sized ? oc_elem_to_dim(c, &size.e[i], k, -1) : oc_fresh_axis(c, k, -1);
    }
    oc_set_out(c, 0, oc_in_dtype(c, 0), oc_shape_of(c->arena, in->rank, dim));
    return 0;
}

/* Crop (removed from the standard): border left, top, right, bottom; scale: the remaining size. */
static int shape_crop(struct oc_op_ctx *c)
{
    const struct oc_shape *in = oc_in_shape(c, 0);
    uint32_t n_border, n_scale;
    const int64_t *border = oc_attr_ints(c, "border", &n_border), *scale = oc_attr_ints(c, "scale", &n_scale);
    if (!in->ranked || in->rank != 4 || (n_border != 4 && n_scale != 2)) {
        oc_set_out(c, 0, oc_in_dtype(c, 0), in->ranked ? oc_fresh_shape(c, in->rank) : *in);
        return 0;
    }
    struct oc_dim dim[4] = {in->dim[0], in->dim[1], in->dim[2], in->dim[3]};
    for (unsigned i = 0; i < 2; i++) {
        if (n_scale == 2)
            dim[2 + i] = oc_known(scale[i]);
        else
            dim[2 + i] = oc_dim_sub(c->exprs, oc_dim_sub(c->exprs, dim[2 + i], oc_known(border[1 - i])),
                                    oc_known(border[3 - i]));
        if (oc_is_known(dim[2 + i]) && dim[2 + i].v < 0)
            return oc_op_fail(c, "axis %u of {%s} is cropped below size 0", 2 + i, oc_text_of(c, in));
    }
    oc_set_out(c, 0, oc_in_dtype(c, 0), oc_shape_of(c->arena, 4, dim));
    return 0;
}

/* The remaining part of the input is read. */
static int crop_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    const struct oc_shape *in = oc_in_shape(c, 0);
    const struct oc_type *out = oc_out(c, 0);
    uint64_t n = 1;
    if (!in->ranked || !out || out->shape.rank != in->rank)
        return oc_cost_unknown(c);
    for (unsigned i = 0; i < in->rank; i++)
        n = oc_c_mul(c, n, oc_c_dim(c, oc_dim_min(c->exprs, in->dim[i], out->shape.dim[i])));
    k->rd[0] = oc_c_part(c, 0, n);
    return 0;
}

#define COPY(n, v, u, sl, s, f, k)                                                                           \
    .domain = "", .name = (n), .since = (v), .until = (u), .op_class = OC_OP_COPY, .slots = (sl),            \
    .shape = (s), .fold = (f), OC_COST_TEXT_WITH("", k)

static const struct oc_op rows[] = {
    {COPY("CenterCropPad", 18, 0, ".m", shape_center_crop_pad, NULL, crop_values), .flags = OC_F_FUNCTION},
    {COPY("Crop", 1, 0, NULL, shape_crop, NULL, crop_values)},
    {COPY("DynamicSlice", 1, 0, ".m", shape_slice, fold_slice, slice_values)},
    {COPY("Pad", 1, 0, ".m", shape_pad, NULL, NULL)},
    {OC_OP_ROW("com.microsoft", "Pad", 1, COPY, ".m", shape_pad)},
    {COPY("Slice", 1, 9, NULL, shape_slice, fold_slice, slice_values)},
    {COPY("Slice", 10, 0, ".m", shape_slice, fold_slice, slice_values)},
    {COPY("Split", 1, 0, ".m", slice_shape_split, fold_split, slice_split_values)},
    {OC_OP_ROW("com.microsoft", "SplitTraining", 1, COPY, ".m", slice_shape_split), .fold = fold_split,
     OC_COST_TEXT_WITH("", slice_split_values)},
};
OC_FAMILY(slice, rows);
