/* Sequences and optionals. shape-inference 4.10, cost-semantics 4.9.
 *
 * The shape of a sequence type is [its length] when that is known (an expression counts), of an optional type
 * [0] or [1]. Up to MAX_ITEMS element types that differ are listed in `item`. */
#include "ops/op.h"
#include "ops/shared_rules.h"

#include <string.h>

#define MAX_ITEMS 64

/* ---- types -------------------------------------------------------------------------------------------- */

static struct oc_dim common_dim(struct oc_op_ctx *c, struct oc_dim a, struct oc_dim b, unsigned axis)
{
    if (oc_same_dim(a, b))
        return a;
    int64_t ma = oc_dim_max_value(c->exprs, a), mb = oc_dim_max_value(c->exprs, b);
    return oc_fresh_axis(c, axis, ma < 0 || mb < 0 ? -1 : ma > mb ? ma : mb);
}

/* The common part of two types. */
static struct oc_type common_type(struct oc_op_ctx *c, const struct oc_type *a, const struct oc_type *b)
{
    struct oc_type t = *a;
    struct oc_dim dim[OC_MAX_RANK];
    t.item = NULL;
    if (a->kind != b->kind)
        return (struct oc_type){.kind = OC_T_NONE};
    if (a->dtype != b->dtype)
        t.dtype = OC_DT_UNDEFINED;
    if (!a->shape.ranked || !b->shape.ranked || a->shape.rank != b->shape.rank) {
        t.shape = oc_shape_unranked();
        return t;
    }
    for (unsigned i = 0; i < a->shape.rank; i++)
        dim[i] = common_dim(c, a->shape.dim[i], b->shape.dim[i], i);
    t.shape = oc_shape_of(c->arena, a->shape.rank, dim);
    return t;
}

static bool sequence_same_type(const struct oc_type *a, const struct oc_type *b)
{
    return a->kind == b->kind && a->dtype == b->dtype && a->elem == b->elem &&
           a->shape.ranked == b->shape.ranked && (!a->shape.ranked || oc_shape_equal(&a->shape, &b->shape));
}

/* The type of a sequence of these elements. */
static struct oc_type sequence_of(struct oc_op_ctx *c, const struct oc_type *item, unsigned n)
{
    struct oc_type *elem = OC_NEW(c->arena, struct oc_type);
    struct oc_type *keep = n <= MAX_ITEMS ? OC_NEW_ARRAY(c->arena, n, struct oc_type) : NULL;
    bool differ = false;
    if (n)
        *elem = item[0];
    for (unsigned i = 0; i < n; i++) {
        if (i && !sequence_same_type(&item[0], &item[i])) {
            differ = true;
            *elem = common_type(c, elem, &item[i]);
        }
        if (keep)
            keep[i] = item[i];
    }
    return (struct oc_type){.kind = OC_T_SEQUENCE,
                            .elem = elem,
                            .item = differ ? keep : NULL,
                            .shape = oc_shape_1d(c->arena, oc_known(n))};
}

/* A sequence whose elements share one, perhaps partly known, type. */
static struct oc_type sequence_alike(struct oc_op_ctx *c, struct oc_type elem, struct oc_dim length)
{
    struct oc_type *e = OC_NEW(c->arena, struct oc_type);
    *e = elem;
    return (struct oc_type){.kind = OC_T_SEQUENCE, .elem = e, .shape = oc_shape_1d(c->arena, length)};
}

/* The sequence at a slot; NULL if it is not known to be a sequence. */
static const struct oc_type *sequence_in_sequence(struct oc_op_ctx *c, unsigned slot)
{
    const struct oc_type *t = oc_in(c, slot);
    return t && t->kind == OC_T_SEQUENCE && t->elem ? t : NULL;
}

static bool sequence_length_of(const struct oc_type *t, struct oc_dim *n)
{
    if (!t->shape.ranked || t->shape.rank != 1)
        return false;
    *n = t->shape.dim[0];
    return true;
}

/* The types of all elements, at most MAX_ITEMS. Returns their number, or -1. */
static int items_of(const struct oc_type *t, struct oc_type *item)
{
    struct oc_dim n;
    if (!sequence_length_of(t, &n) || !oc_is_known(n) || n.v < 0 || n.v > MAX_ITEMS)
        return -1;
    for (int64_t i = 0; i < n.v; i++)
        item[i] = t->item ? t->item[i] : *t->elem;
    return (int)n.v;
}

/* A position input as an index: 1 known and in range, 0 unknown, -1 out of range. `last`: the largest index.
 */
static int sequence_position(struct oc_op_ctx *c, unsigned slot, int64_t n, int64_t last, int64_t absent,
                             unsigned *at)
{
    int64_t v = absent;
    if (oc_in(c, slot) && !oc_in_int(c, slot, &v))
        return 0;
    if (v < 0)
        v += n;
    if (v < 0 || v > last)
        return oc_op_fail(c, "position %lld is out of range for a sequence of %lld",
                          (long long)(v < 0 ? v - n : v), (long long)n);
    *at = (unsigned)v;
    return 1;
}

/* Elements of a sequence are tensors, an optional contains a tensor or a sequence: others would grow with every trip of
 * a loop. False, with the error: another type. */
static bool may_contain(struct oc_op_ctx *c, const struct oc_type *t, bool sequences)
{
    static const char *const name[] = {
        [OC_T_SEQUENCE] = "a sequence", [OC_T_OPTIONAL] = "an optional", [OC_T_MAP] = "a map"};
    if (!t || t->kind >= OC_COUNT(name) || !name[t->kind] || (sequences && t->kind == OC_T_SEQUENCE))
        return true;
    oc_op_fail(c, "a tensor%s is expected, not %s", sequences ? " or a sequence" : "", name[t->kind]);
    return false;
}

/* ---- making and changing sequences -------------------------------------------------------------------- */

static int shape_construct(struct oc_op_ctx *c)
{
    struct oc_type *item = OC_NEW_ARRAY(c->arena, c->n_in, struct oc_type);
    unsigned n = 0;
    for (unsigned i = 0; i < c->n_in; i++) {
        if (!may_contain(c, oc_in(c, i), false))
            return -1;
        if (oc_in(c, i))
            item[n++] = *oc_in(c, i);
    }
    struct oc_type t = sequence_of(c, item, n);
    oc_set_out_type(c, 0, &t);
    return 0;
}

static int shape_empty(struct oc_op_ctx *c)
{
    int64_t dtype = oc_attr_i(c, "dtype", OC_DT_FLOAT);
    if (dtype <= OC_DT_UNDEFINED || dtype >= OC_DT_COUNT)
        return oc_op_fail(c, "invalid dtype %lld", (long long)dtype);
    struct oc_type t = sequence_alike(c, oc_tensor_type((unsigned)dtype, oc_shape_unranked()), oc_known(0));
    oc_set_out_type(c, 0, &t);
    return 0;
}

/* The sequence `t` after one element was inserted (by 1) or erased (by -1) at any position. */
static struct oc_type resized(struct oc_op_ctx *c, const struct oc_type *t, const struct oc_type *added,
                              int by)
{
    struct oc_type out = *t, *elem = OC_NEW(c->arena, struct oc_type);
    struct oc_dim n;
    *elem = *t->elem;
    out.item = NULL;
    out.elem = elem;
    bool known = sequence_length_of(t, &n);
    if (added)
        *elem = known && oc_is(n, 0)              ? *added
                : sequence_same_type(elem, added) ? *elem
                                                  : common_type(c, elem, added);
    if (known)
        out.shape = oc_shape_1d(c->arena, oc_dim_add(c->exprs, n, oc_known(by)));
    return out;
}

/* SequenceInsert(sequence, tensor, position) */
static int shape_insert(struct oc_op_ctx *c)
{
    const struct oc_type *t = sequence_in_sequence(c, 0), *added = oc_in(c, 1);
    struct oc_type item[MAX_ITEMS + 1], out;
    unsigned at;
    if (!t || !added)
        return 0;
    if (!may_contain(c, added, false))
        return -1;
    int n = items_of(t, item), known = 0;
    if (n >= 0)
        known = sequence_position(c, 2, n, n, n, &at);
    if (known < 0)
        return -1;
    if (known) {
        memmove(&item[at + 1], &item[at], ((unsigned)n - at) * sizeof(item[0]));
        item[at] = *added;
        out = sequence_of(c, item, (unsigned)n + 1);
    } else {
        out = resized(c, t, added, 1);
    }
    oc_set_out_type(c, 0, &out);
    return 0;
}

/* SequenceErase(sequence, position) */
static int shape_erase(struct oc_op_ctx *c)
{
    const struct oc_type *t = sequence_in_sequence(c, 0);
    struct oc_type item[MAX_ITEMS + 1], out;
    unsigned at;
    if (!t)
        return 0;
    int n = items_of(t, item), known = 0;
    if (n == 0)
        return oc_op_fail(c, "the sequence is empty");
    if (n > 0)
        known = sequence_position(c, 1, n, n - 1, n - 1, &at);
    if (known < 0)
        return -1;
    if (known && n > 1) {
        memmove(&item[at], &item[at + 1], ((unsigned)n - at - 1) * sizeof(item[0]));
        out = sequence_of(c, item, (unsigned)n - 1);
    } else {
        out = resized(c, t, NULL, -1);
    }
    oc_set_out_type(c, 0, &out);
    return 0;
}

/* SequenceAt(sequence, position) */
static int sequence_shape_at(struct oc_op_ctx *c)
{
    const struct oc_type *t = sequence_in_sequence(c, 0);
    struct oc_dim n;
    unsigned at;
    if (!t)
        return 0;
    int known =
        sequence_length_of(t, &n) && oc_is_known(n) ? sequence_position(c, 1, n.v, n.v - 1, 0, &at) : 0;
    if (known < 0)
        return -1;
    oc_set_out_type(c, 0, known && t->item ? &t->item[at] : t->elem);
    return 0;
}

static int shape_length(struct oc_op_ctx *c)
{
    oc_set_out(c, 0, OC_DT_INT64, oc_shape_scalar());
    return 0;
}

static int fold_length(struct oc_op_ctx *c)
{
    const struct oc_type *t = sequence_in_sequence(c, 0);
    struct oc_elem *e = oc_new_elems(c, 1);
    struct oc_dim n;
    if (!t || !sequence_length_of(t, &n))
        return 0;
    e[0] = oc_elem_dim(n);
    oc_set_data(c, 0, e, 1);
    return 0;
}

/* ---- tensors to sequences and back -------------------------------------------------------------------- */

/* The type of the tensor with one axis changed or removed. */
static struct oc_type sequence_with_axis(struct oc_op_ctx *c, const struct oc_type *x, unsigned axis,
                                         struct oc_dim d, bool keep)
{
    struct oc_dim dim[OC_MAX_RANK];
    unsigned n = 0;
    for (unsigned i = 0; i < x->shape.rank; i++)
        if (i != axis || keep)
            dim[n++] = i == axis ? d : x->shape.dim[i];
    return oc_tensor_type(x->dtype, oc_shape_of(c->arena, n, dim));
}

/* Parts of the given sizes along the axis. */
static int split_by_list(struct oc_op_ctx *c, const struct oc_type *x, unsigned axis, struct oc_type *out)
{
    const struct oc_shape *s = oc_in_shape(c, 1);
    uint32_t n;
    const int64_t *size = oc_in_ints(c, 1, &n);
    if (!size || n == 0) {
        struct oc_dim part = oc_op_fresh_dim(c, "part", oc_dim_max_value(c->exprs, x->shape.dim[axis]));
        *out = sequence_alike(c, sequence_with_axis(c, x, axis, part, true), s->dim[0]);
        return 0;
    }
    struct oc_type *item = OC_NEW_ARRAY(c->arena, n, struct oc_type);
    for (uint32_t i = 0; i < n; i++) {
        if (size[i] < 0)
            return oc_op_fail(c, "invalid part size %lld", (long long)size[i]);
        item[i] = sequence_with_axis(c, x, axis, oc_known(size[i]), true);
    }
    *out = sequence_of(c, item, n);
    return 0;
}

/* Parts of equal size; the last may be smaller. */
static int split_by_size(struct oc_op_ctx *c, const struct oc_type *x, unsigned axis, int64_t size, bool keep,
                         struct oc_type *out)
{
    struct oc_dim d = x->shape.dim[axis], part = oc_known(size), length, whole;
    struct oc_type item[MAX_ITEMS];
    if (size < 1)
        return oc_op_fail(c, "invalid part size %lld", (long long)size);
    length = oc_dim_ceildiv(c->exprs, d, part);
    if (oc_is_known(d) && length.v > 0 && length.v <= MAX_ITEMS) {
        for (int64_t i = 0; i < length.v; i++)
            item[i] =
                sequence_with_axis(c, x, axis, oc_known(size < d.v - i * size ? size : d.v - i * size), keep);
        *out = sequence_of(c, item, (unsigned)length.v);
        return 0;
    }
    if (!oc_dim_divides(c->exprs, d, part, &whole))
        part = oc_op_fresh_dim(c, "part", size);
    *out = sequence_alike(c, sequence_with_axis(c, x, axis, part, keep), length);
    return 0;
}

/* SplitToSequence(input, split) */
static int sequence_shape_split(struct oc_op_ctx *c)
{
    const struct oc_type *x = oc_in(c, 0);
    const struct oc_shape *split = oc_in_shape(c, 1);
    int64_t axis = oc_attr_i(c, "axis", 0), size = 1;
    struct oc_type out;
    unsigned at;
    if (!x || x->kind != OC_T_TENSOR || !x->shape.ranked || (oc_in(c, 1) && !split->ranked)) {
        struct oc_type *elem = OC_NEW(c->arena, struct oc_type);
        *elem = oc_tensor_type(oc_in_dtype(c, 0), oc_shape_unranked());
        out = (struct oc_type){.kind = OC_T_SEQUENCE, .elem = elem};
        oc_set_out_type(c, 0, &out);
        return 0;
    }
    if (!oc_axis(axis, x->shape.rank, &at))
        return oc_op_fail(c, "axis %lld is out of range for rank %u", (long long)axis, x->shape.rank);
    if (oc_in(c, 1) && split->rank == 1) {
        if (split_by_list(c, x, at, &out))
            return -1;
    } else if (oc_in(c, 1) && !oc_in_int(c, 1, &size)) {
        int64_t max = oc_dim_max_value(c->exprs, x->shape.dim[at]);
        out = sequence_alike(c, sequence_with_axis(c, x, at, oc_op_fresh_dim(c, "part", max), true),
                             oc_op_fresh_dim(c, "length", max));
    } else if (split_by_size(c, x, at, size, oc_in(c, 1) || oc_attr_i(c, "keepdims", 1), &out)) {
        return -1;
    }
    oc_set_out_type(c, 0, &out);
    return 0;
}

/* The elements are copied: as many bytes as the tensor has. */
static int sequence_split_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    if (oc_out_wanted(c, 0))
        k->wr[0] = oc_c_bytes(c, oc_in_dtype(c, 0), oc_c_in(c, 0));
    return 0;
}
static const char sequence_split_formula[] = "";

/* Sum of one axis over all elements. */
static struct oc_dim sum_axis(struct oc_op_ctx *c, const struct oc_type *t, unsigned axis)
{
    struct oc_dim n = oc_known(0), one = t->elem->shape.dim[axis], sum = oc_known(0);
    bool counted = sequence_length_of(t, &n);
    if (t->item) {
        for (int64_t i = 0; i < n.v; i++) {
            if (!t->item[i].shape.ranked || t->item[i].shape.rank <= axis)
                return oc_fresh_axis(c, axis, -1);
            sum = oc_dim_add(c->exprs, sum, t->item[i].shape.dim[axis]);
        }
        return sum;
    }
    /* an unknown size may differ between the elements */
    if (counted && (oc_is_known(one) || oc_is(n, 1)))
        return oc_dim_mul(c->exprs, n, one);
    int64_t a = counted ? oc_dim_max_value(c->exprs, n) : -1, b = oc_dim_max_value(c->exprs, one), max = -1;
    if (a < 0 || b < 0 || __builtin_mul_overflow(a, b, &max))
        max = -1;
    return oc_fresh_axis(c, axis, max);
}

static int sequence_shape_concat(struct oc_op_ctx *c)
{
    const struct oc_type *t = sequence_in_sequence(c, 0);
    bool fresh_axis = oc_attr_i(c, "new_axis", 0) != 0;
    int64_t axis = oc_attr_i(c, "axis", 0);
    struct oc_dim dim[OC_MAX_RANK + 1], n;
    unsigned at, rank;
    if (!t || t->elem->kind != OC_T_TENSOR || !t->elem->shape.ranked || t->elem->shape.rank >= OC_MAX_RANK)
        return oc_out_unranked(c, t ? t->elem->dtype : OC_DT_UNDEFINED);
    const struct oc_shape *e = &t->elem->shape;
    rank = e->rank + (fresh_axis ? 1U : 0U);
    if (!oc_axis(axis, rank, &at))
        return oc_op_fail(c, "axis %lld is out of range for rank %u", (long long)axis, rank);
    for (unsigned i = 0, from = 0; i < rank; i++)
        dim[i] = fresh_axis && i == at ? oc_known(0) : e->dim[from++];
    if (!fresh_axis)
        dim[at] = sum_axis(c, t, at);
    else
        dim[at] = sequence_length_of(t, &n) ? n : oc_fresh_axis(c, at, -1);
    oc_set_out(c, 0, t->elem->dtype, oc_shape_of(c->arena, rank, dim));
    return 0;
}

/* All elements are read: the bytes read equal the bytes written. */
static int sequence_concat_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    const struct oc_type *o = oc_out(c, 0);
    if (o)
        k->rd[0] = oc_c_bytes(c, o->dtype, oc_c_out(c, 0));
    return 0;
}
static const char sequence_concat_formula[] = "";

/* ---- optionals ---------------------------------------------------------------------------------------- */

static int shape_optional(struct oc_op_ctx *c)
{
    const struct oc_type *x = oc_in(c, 0);
    struct oc_type *elem =
        x ? OC_NEW(c->arena, struct oc_type) : NULL; /* loops change the type of the value */
    struct oc_type out = {
        .kind = OC_T_OPTIONAL, .elem = elem, .shape = oc_shape_1d(c->arena, oc_known(x ? 1 : 0))};
    if (!may_contain(c, x, true))
        return -1;
    if (x)
        *elem = *x;
    oc_set_out_type(c, 0, &out);
    return 0;
}

/* The type of the optional's element. */
static int fold_optional(struct oc_op_ctx *c)
{
    const struct oc_data *d = oc_in_value(c, 0);
    if (d)
        oc_set_data(c, 0, d->e, d->n);
    return 0;
}

static int shape_get_element(struct oc_op_ctx *c)
{
    const struct oc_type *x = oc_in(c, 0);
    if (x && x->kind == OC_T_OPTIONAL && x->shape.ranked && oc_is(x->shape.dim[0], 0))
        return oc_op_fail(c, "the optional is empty");
    oc_set_out_type(c, 0, x && x->kind == OC_T_OPTIONAL ? x->elem : x);
    return 0;
}

static int shape_has_element(struct oc_op_ctx *c)
{
    oc_set_out(c, 0, OC_DT_BOOL, oc_shape_scalar());
    return 0;
}

static int fold_has_element(struct oc_op_ctx *c)
{
    const struct oc_type *x = oc_in(c, 0);
    struct oc_elem *e = oc_new_elems(c, 1);
    if (x && (x->kind == OC_T_NONE || (x->kind == OC_T_OPTIONAL && !x->shape.ranked)))
        return 0;
    e[0] = x && x->kind == OC_T_OPTIONAL ? oc_elem_dim(x->shape.dim[0]) : oc_elem_int(x != NULL);
    oc_set_data(c, 0, e, 1);
    return 0;
}

#define VIEW(n, v, fl, s, sh, fo)                                                                            \
    .domain = "", .name = (n), .since = (v), .op_class = OC_OP_VIEW, .flags = OC_F_VIEW | (fl),              \
    .slots = (s), .shape = (sh), .fold = (fo)

static const struct oc_op rows[] = {
    {OC_OP_ROW("", "ConcatFromSequence", 11, COPY, NULL, sequence_shape_concat), OC_COST(sequence_concat)},
    {VIEW("Optional", 15, 0, NULL, shape_optional, fold_optional)},
    {VIEW("OptionalGetElement", 15, 0, NULL, shape_get_element, oc_fold_same)},
    {VIEW("OptionalHasElement", 15, 0, NULL, shape_has_element, fold_has_element)},
    {VIEW("SequenceAt", 11, 0, ".m", sequence_shape_at, NULL)},
    {VIEW("SequenceConstruct", 11, 0, NULL, shape_construct, NULL)},
    {VIEW("SequenceEmpty", 11, 0, NULL, shape_empty, NULL)},
    {VIEW("SequenceErase", 11, 0, ".m", shape_erase, NULL)},
    {VIEW("SequenceInsert", 11, 0, "..m", shape_insert, NULL)},
    {VIEW("SequenceLength", 11, OC_F_TYPE_ONLY, NULL, shape_length, fold_length)},
    {OC_OP_ROW("", "SplitToSequence", 11, COPY, ".m", sequence_shape_split), OC_COST(sequence_split)},
};
OC_FAMILY(sequence, rows);
