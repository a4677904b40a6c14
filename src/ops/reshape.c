/* Operators that only change the shape of data, and those that read shapes. cost-semantics 4.9 and 5.3: no
 * arithmetic, no bytes. */
#include "ops/shared_rules.h"

/* ---- Reshape ------------------------------------------------------------------------------------------ */

/* The free size of a target shape: an explicit -1, or the only unknown element. */
static int find_free(const struct oc_list *l)
{
    int free_at = -1, unknown = 0, n_unknown = 0;
    for (uint32_t i = 0; i < l->n; i++) {
        if (l->e[i].kind != OC_E_INT) {
            unknown = (int)i;
            n_unknown++;
        } else if (oc_is(l->e[i].i, -1)) {
            free_at = (int)i;
        }
    }
    return free_at < 0 && n_unknown == 1 ? unknown : free_at;
}

/* Sizes of the target except the free one. Returns -1 for an invalid target. */
static int target_dims(struct oc_op_ctx *c, const struct oc_list *l, int free_at, struct oc_dim *dim)
{
    const struct oc_shape *in = oc_in_shape(c, 0);
    bool allow_zero = oc_attr_i(c, "allowzero", 0) != 0;
    for (unsigned i = 0; i < l->n; i++) {
        const struct oc_elem *e = &l->e[i];
        bool copy = e->kind == OC_E_INT && oc_is(e->i, 0) && !allow_zero;
        if ((int)i == free_at)
            continue;
        if (e->kind == OC_E_INT && oc_is_known(e->i) && e->i.v < 0)
            return oc_op_fail(c,
                              e->i.v == -1 ? "the target shape has more than one -1"
                                           : "the target shape has invalid size %lld",
                              (long long)e->i.v);
        if (copy && in->ranked && i >= in->rank)
            return oc_op_fail(c, "the target shape copies axis %u of a shape of rank %u", i,
                              (unsigned)in->rank);
        if (copy)
            dim[i] = in->ranked ? in->dim[i] : oc_fresh_axis(c, i, -1);
        else
            dim[i] = oc_elem_to_dim(c, e, i, -1);
    }
    return 0;
}

/* Products of the sizes left on both sides after cancelling equal ones. */
static void remainders(struct oc_op_ctx *c, const struct oc_shape *in, const struct oc_dim *dim, unsigned n,
                       int free_at, struct oc_dim *num, struct oc_dim *den)
{
    bool used[OC_MAX_RANK] = {false};
    *num = *den = oc_known(1);
    for (unsigned i = 0; i < n; i++) {
        bool found = (int)i == free_at;
        for (unsigned k = 0; !found && k < in->rank; k++)
            if (!used[k] && !oc_is(dim[i], 0) && oc_same_dim(dim[i], in->dim[k]))
                found = used[k] = true;
        if (!found)
            *den = oc_is(dim[i], 0) ? dim[i] : oc_dim_mul(c->exprs, *den, dim[i]);
    }
    for (unsigned k = 0; k < in->rank; k++)
        if (!used[k])
            *num = oc_is(in->dim[k], 0) ? in->dim[k] : oc_dim_mul(c->exprs, *num, in->dim[k]);
}

static int free_dim(struct oc_op_ctx *c, const struct oc_list *l, int free_at, struct oc_dim *dim)
{
    const struct oc_shape *in = oc_in_shape(c, 0);
    bool is_minus_one = l->e[free_at].kind == OC_E_INT;
    struct oc_dim num, den;
    dim[free_at] = oc_known(0);
    if (!in->ranked) {
        dim[free_at] = oc_fresh_axis(c, (unsigned)free_at, -1);
        return 0;
    }
    remainders(c, in, dim, l->n, free_at, &num, &den);
    if (oc_is(den, 0) && is_minus_one)
        return oc_op_fail(c, "the size for -1 is ambiguous: the other sizes have no elements");
    if (oc_dim_divides(c->exprs, num, den, &dim[free_at]))
        return 0;
    if (oc_is_known(num) && oc_is_known(den) && den.v)
        return oc_op_fail(c, "{%s} cannot be reshaped: %lld elements are not divisible by %lld",
                          oc_text_of(c, in), (long long)num.v, (long long)den.v);
    /* The division is exact in a valid model, but that cannot be proved here. */
    dim[free_at] =
        oc_is(den, 0) ? oc_fresh_axis(c, (unsigned)free_at, -1) : oc_dim_floordiv(c->exprs, num, den);
    return 0;
}

static int check_count(struct oc_op_ctx *c, const struct oc_shape *out)
{
    const struct oc_shape *in = oc_in_shape(c, 0);
    if (!oc_shape_known(in) || !oc_shape_known(out))
        return 0;
    struct oc_dim a = oc_shape_count(c->exprs, in), b = oc_shape_count(c->exprs, out);
    if (oc_is_known(a) && oc_is_known(b) && a.v != b.v)
        return oc_op_fail(c, "{%s} cannot be reshaped to {%s}", oc_text_of(c, in), oc_text_of(c, out));
    return 0;
}

static int shape_reshape(struct oc_op_ctx *c)
{
    struct oc_list l = oc_list_of(c, "shape", 1);
    struct oc_dim dim[OC_MAX_RANK];
    if (!l.sized)
        return oc_out_unranked(c, oc_in_dtype(c, 0));
    if (l.n > OC_MAX_RANK)
        return oc_op_fail(c, "the target shape has %u axes", (unsigned)l.n);
    int free_at = find_free(&l);
    if (target_dims(c, &l, free_at, dim) || (free_at >= 0 && free_dim(c, &l, free_at, dim)))
        return -1;
    struct oc_shape out = oc_shape_of(c->arena, l.n, dim);
    if (check_count(c, &out))
        return -1;
    oc_set_out(c, 0, oc_in_dtype(c, 0), out);
    return 0;
}

/* ---- Flatten, Squeeze, Unsqueeze ---------------------------------------------------------------------- */

static int shape_flatten(struct oc_op_ctx *c)
{
    const struct oc_shape *in = oc_in_shape(c, 0);
    int64_t axis = oc_attr_i(c, "axis", 1);
    if (!in->ranked) {
        oc_set_out(c, 0, oc_in_dtype(c, 0), oc_fresh_shape(c, 2));
        return 0;
    }
    axis += axis < 0 ? in->rank : 0;
    if (axis < 0 || axis > in->rank)
        return oc_op_fail(c, "axis %lld is out of range for rank %u", (long long)axis, (unsigned)in->rank);
    struct oc_dim d[2] = {oc_shape_count_range(c->exprs, in, 0, (unsigned)axis),
                          oc_shape_count_range(c->exprs, in, (unsigned)axis, in->rank)};
    oc_set_out(c, 0, oc_in_dtype(c, 0), oc_shape_of(c->arena, 2, d));
    return 0;
}

/* Without axes every axis of size 1 is removed; an unknown size is assumed not to be 1. */
static int squeeze_ones(struct oc_op_ctx *c, const struct oc_shape *in)
{
    struct oc_dim dim[OC_MAX_RANK];
    unsigned n = 0;
    for (unsigned i = 0; i < in->rank; i++) {
        if (!oc_is_known(in->dim[i]))
            c->assumption = "unknown sizes are assumed not to be 1";
        if (!oc_is(in->dim[i], 1))
            dim[n++] = in->dim[i];
    }
    oc_set_out(c, 0, oc_in_dtype(c, 0), oc_shape_of(c->arena, n, dim));
    return 0;
}

static int shape_squeeze(struct oc_op_ctx *c)
{
    const struct oc_shape *in = oc_in_shape(c, 0);
    struct oc_list l = oc_list_of(c, "axes", 1);
    unsigned axis[OC_MAX_RANK], n = 0;
    struct oc_dim dim[OC_MAX_RANK];
    if (!in->ranked || (l.present && !oc_list_known(&l))) {
        bool counts = in->ranked && l.sized && l.n <= in->rank;
        oc_set_out(c, 0, oc_in_dtype(c, 0), counts ? oc_fresh_shape(c, in->rank - l.n) : oc_shape_unranked());
        return 0;
    }
    if (!l.present)
        return squeeze_ones(c, in);
    if (oc_list_axes(c, &l, in->rank, axis))
        return -1;
    for (unsigned i = 0; i < in->rank; i++) {
        bool drop = false;
        for (unsigned k = 0; k < l.n; k++)
            drop = drop || axis[k] == i;
        if (drop && oc_is_known(in->dim[i]) && in->dim[i].v != 1)
            return oc_op_fail(c, "axis %u of {%s} cannot be squeezed", i, oc_text_of(c, in));
        if (!drop)
            dim[n++] = in->dim[i];
    }
    oc_set_out(c, 0, oc_in_dtype(c, 0), oc_shape_of(c->arena, n, dim));
    return 0;
}

static int unsqueeze(struct oc_op_ctx *c, const struct oc_list *l)
{
    const struct oc_shape *in = oc_in_shape(c, 0);
    unsigned axis[OC_MAX_RANK], from = 0;
    struct oc_dim dim[OC_MAX_RANK];
    if (!in->ranked || !l->sized)
        return oc_out_unranked(c, oc_in_dtype(c, 0));
    unsigned rank = in->rank + l->n;
    if (rank <= OC_MAX_RANK && !oc_list_known(l)) {
        oc_set_out(c, 0, oc_in_dtype(c, 0), oc_fresh_shape(c, rank));
        return 0;
    }
    if (oc_list_axes(c, l, rank, axis))
        return -1;
    for (unsigned i = 0; i < rank; i++) {
        bool is_new = false;
        for (unsigned k = 0; k < l->n; k++)
            is_new = is_new || axis[k] == i;
        dim[i] = is_new ? oc_known(1) : in->dim[from++];
    }
    oc_set_out(c, 0, oc_in_dtype(c, 0), oc_shape_of(c->arena, rank, dim));
    return 0;
}

static int shape_unsqueeze(struct oc_op_ctx *c)
{
    struct oc_list l = oc_list_of(c, "axes", 1);
    return unsqueeze(c, &l);
}

/* ---- Shape, Size -------------------------------------------------------------------------------------- */

static void reshape_shape_range(struct oc_op_ctx *c, unsigned *from, unsigned *to)
{
    int64_t rank = oc_in_shape(c, 0)->rank;
    int64_t start = oc_attr_i(c, "start", 0), end = oc_attr_i(c, "end", rank);
    start += start < 0 ? rank : 0;
    end += end < 0 ? rank : 0;
    start = start < 0 ? 0 : start > rank ? rank : start;
    end = end < start ? start : end > rank ? rank : end;
    *from = (unsigned)start;
    *to = (unsigned)end;
}

static int shape_shape(struct oc_op_ctx *c)
{
    unsigned from, to;
    reshape_shape_range(c, &from, &to);
    struct oc_dim n = oc_in_shape(c, 0)->ranked ? oc_known(to - from) : oc_fresh_axis(c, 0, OC_MAX_RANK);
    oc_set_out(c, 0, OC_DT_INT64, oc_shape_1d(c->arena, n));
    return 0;
}

static int fold_shape(struct oc_op_ctx *c)
{
    const struct oc_shape *in = oc_in_shape(c, 0);
    unsigned from, to;
    if (!in->ranked)
        return 0;
    reshape_shape_range(c, &from, &to);
    struct oc_elem *e = oc_new_elems(c, to - from);
    for (unsigned i = from; i < to; i++)
        e[i - from] = oc_elem_dim(in->dim[i]);
    oc_set_data(c, 0, e, to - from);
    return 0;
}

static int shape_size(struct oc_op_ctx *c)
{
    oc_set_out(c, 0, OC_DT_INT64, oc_shape_scalar());
    return 0;
}

static int fold_size(struct oc_op_ctx *c)
{
    const struct oc_shape *in = oc_in_shape(c, 0);
    if (!in->ranked)
        return 0;
    struct oc_elem *e = oc_new_elems(c, 1);
    *e = oc_elem_dim(oc_shape_count(c->exprs, in));
    oc_set_data(c, 0, e, 1);
    return 0;
}

/* ---- Expand, BitCast ---------------------------------------------------------------------------------- */

static struct oc_dim expand_dim(struct oc_op_ctx *c, unsigned axis, struct oc_dim d, const struct oc_elem *e)
{
    struct oc_shape a = {.dim = &d, .rank = 1, .ranked = true}, b = a, out;
    if (e->kind != OC_E_INT) /* the size itself, or 1 only where the size is 1 */
        return oc_is_known(d) && d.v != 1 ? d : oc_fresh_axis(c, axis, -1);
    b.dim = &e->i;
    return oc_broadcast(c->arena, c->exprs, &a, &b, &out, NULL) ? oc_known(-1) : out.dim[0];
}

static int shape_expand(struct oc_op_ctx *c)
{
    static const struct oc_elem one = {.kind = OC_E_INT, .i = {.v = 1}};
    const struct oc_shape *in = oc_in_shape(c, 0);
    struct oc_list l = oc_list_of(c, NULL, 1);
    struct oc_dim dim[OC_MAX_RANK];
    if (!in->ranked || !l.sized)
        return oc_out_unranked(c, oc_in_dtype(c, 0));
    unsigned rank = in->rank > l.n ? in->rank : l.n;
    if (rank > OC_MAX_RANK)
        return oc_op_fail(c, "the target shape has %u axes", (unsigned)l.n);
    for (unsigned i = 0; i < rank; i++) {
        struct oc_dim d = i + in->rank >= rank ? in->dim[i + in->rank - rank] : oc_known(1);
        dim[i] = expand_dim(c, i, d, i + l.n >= rank ? &l.e[i + l.n - rank] : &one);
        if (oc_is_known(dim[i]) && dim[i].v < 0)
            return oc_op_fail(c, "{%s} does not expand to the given shape at axis %u", oc_text_of(c, in), i);
    }
    oc_set_out(c, 0, oc_in_dtype(c, 0), oc_shape_of(c->arena, rank, dim));
    return 0;
}

static int fold_expand(struct oc_op_ctx *c)
{
    const struct oc_type *out = oc_out(c, 0);
    const struct oc_shape *in = oc_in_shape(c, 0);
    struct oc_walk w, from;
    if (!out || !oc_walk_of(&out->shape, &w) || !oc_walk_of(in, &from) || in->rank > w.rank)
        return 0;
    for (unsigned i = 0; i < w.rank; i++) {
        unsigned k = i + in->rank - w.rank;
        bool inside = i + in->rank >= w.rank;
        w.stride[i] = inside && in->dim[k].v != 1 ? from.stride[k] : 0;
    }
    oc_walk_data(c, 0, oc_in_value(c, 0), &w);
    return 0;
}

static int expand_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    const struct oc_type *out = oc_out(c, 0);
    k->alias = out && out->shape.ranked && oc_shape_equal(oc_in_shape(c, 0), &out->shape);
    return 0;
}
static const char expand_formula[] = "";

static int shape_bit_cast(struct oc_op_ctx *c)
{
    unsigned to = (unsigned)oc_attr_i(c, "to", OC_DT_UNDEFINED), from = oc_in_dtype(c, 0);
    if (oc_dtype_info(to)->bits == 0)
        return oc_op_fail(c, "attribute 'to' is not an element type of fixed size");
    if (from != OC_DT_UNDEFINED && oc_dtype_info(from)->bits != oc_dtype_info(to)->bits)
        return oc_op_fail(c, "%s and %s differ in width", oc_dtype_info(from)->name, oc_dtype_info(to)->name);
    oc_set_out(c, 0, to, *oc_in_shape(c, 0));
    return 0;
}

#define VIEW(n, v, fl, sl, s, f)                                                                             \
    .domain = "", .name = (n), .since = (v), .op_class = OC_OP_VIEW, .flags = OC_F_VIEW | (fl),              \
    .slots = (sl), .shape = (s), .fold = (f)

static const struct oc_op rows[] = {
    {VIEW("BitCast", 26, 0, NULL, shape_bit_cast, NULL)},
    {OC_OP_ROW("", "Expand", 8, COPY, ".m", shape_expand), .fold = fold_expand, OC_COST(expand)},
    {OC_OP_ROW("com.microsoft", "ExpandDims", 1, VIEW, ".m", shape_unsqueeze), .flags = OC_F_VIEW,
     .fold = oc_fold_same},
    {VIEW("Flatten", 1, 0, NULL, shape_flatten, oc_fold_same)},
    {VIEW("Identity", 1, OC_F_NO_EFFECT, NULL, oc_shape_same, oc_fold_same)},
    {VIEW("Reshape", 1, 0, ".m", shape_reshape, oc_fold_same)},
    {VIEW("Shape", 1, OC_F_TYPE_ONLY, NULL, shape_shape, fold_shape)},
    {VIEW("Size", 1, OC_F_TYPE_ONLY, NULL, shape_size, fold_size)},
    {VIEW("Squeeze", 1, 0, ".m", shape_squeeze, oc_fold_same)},
    {VIEW("Unsqueeze", 1, 0, ".m", shape_unsqueeze, oc_fold_same)},
};
OC_FAMILY(reshape, rows);
