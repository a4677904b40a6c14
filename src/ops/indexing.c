/* Reading, writing and selecting by index: Gather, Scatter, NonZero, Unique ... cost-semantics 4.7, 4.9, 5.4 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ops/op.h"
#include "ops/shared_rules.h"

/* ---- reading by index --------------------------------------------------------------------------------- */

/* cost-semantics 4.9 and 5.4: the bytes read from the table equal the bytes of the output. */

/* Converts an index to a position in [0, size); false if unknown or out of range. */
static bool gather_position(const struct oc_elem *e, int64_t size, int64_t *at)
{
    if (!oc_elem_known_int(e, at))
        return false;
    if (*at < 0)
        *at += size;
    return *at >= 0 && *at < size;
}

static const struct oc_elem no_elem = {.kind = OC_E_UNKNOWN};

/* ---- Gather ------------------------------------------------------------------------------------------- */

static int gather_shape(struct oc_op_ctx *c, const struct oc_shape *data, const struct oc_shape *index)
{
    struct oc_dim dim[2 * OC_MAX_RANK];
    unsigned axis, n = 0;
    if (!data->ranked || !index->ranked)
        return oc_out_unranked(c, oc_in_dtype(c, 0));
    if (oc_attr_axis(c, 0, data->rank, &axis))
        return -1;
    if (data->rank - 1U + index->rank > OC_MAX_RANK)
        return oc_op_fail(c, "the result has too many axes");
    for (unsigned i = 0; i < axis; i++)
        dim[n++] = data->dim[i];
    for (unsigned i = 0; i < index->rank; i++)
        dim[n++] = index->dim[i];
    for (unsigned i = axis + 1; i < data->rank; i++)
        dim[n++] = data->dim[i];
    oc_set_out(c, 0, oc_in_dtype(c, 0), oc_shape_of(c->arena, n, dim));
    return 0;
}

static int shape_gather(struct oc_op_ctx *c)
{
    return gather_shape(c, oc_in_shape(c, 0), oc_in_shape(c, 1));
}

static int fold_gather(struct oc_op_ctx *c)
{
    const struct oc_shape *in = oc_in_shape(c, 0);
    const struct oc_data *d = oc_in_value(c, 0), *index = oc_in_value(c, 1);
    const struct oc_type *out = oc_out(c, 0);
    uint32_t n, n_in, n_index, inner = 1;
    unsigned axis;
    if (!d || !out || !oc_fold_count(&out->shape, &n) || !oc_fold_count(in, &n_in) || n_in != d->n ||
        !oc_fold_count(oc_in_shape(c, 1), &n_index) || !oc_axis(oc_attr_i(c, "axis", 0), in->rank, &axis))
        return 0;
    for (unsigned i = axis + 1; i < in->rank; i++)
        inner *= (uint32_t)in->dim[i].v;
    uint32_t size = (uint32_t)in->dim[axis].v;
    struct oc_elem *e = oc_new_elems(c, n);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = i / inner % n_index, outer = i / inner / n_index;
        int64_t at;
        bool known = index && k < index->n && gather_position(&index->e[k], size, &at);
        e[i] = known ? d->e[(outer * size + (uint32_t)at) * inner + i % inner] : no_elem;
    }
    oc_set_data(c, 0, e, n);
    return 0;
}

/* N(o) elements of the table, and the indices */
static int gather_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    k->rd[0] = oc_c_part(c, 0, oc_c_out(c, 0));
    return 0;
}
static const char gather_formula[] = "";

/* com.microsoft TorchEmbedding: weight [V, D], any indices */
static int shape_embedding(struct oc_op_ctx *c)
{
    const struct oc_shape *w = oc_in_shape(c, 0);
    if (w->ranked && w->rank != 2)
        return oc_op_fail(c, "the table {%s} must have rank 2", oc_text_of(c, w));
    return gather_shape(c, w, oc_in_shape(c, 1));
}

/* ---- GatherElements ----------------------------------------------------------------------------------- */

static int shape_gather_elements(struct oc_op_ctx *c)
{
    const struct oc_shape *in = oc_in_shape(c, 0), *index = oc_in_shape(c, 1);
    unsigned axis;
    if (in->ranked && oc_attr_axis(c, 0, in->rank, &axis))
        return -1;
    if (in->ranked && index->ranked && in->rank != index->rank)
        return oc_op_fail(c, "data {%s} and indices {%s} differ in rank", oc_text_of(c, in),
                          oc_text_of(c, index));
    oc_set_out(c, 0, oc_in_dtype(c, 0), *index);
    return 0;
}

static int fold_gather_elements(struct oc_op_ctx *c)
{
    const struct oc_data *d = oc_in_value(c, 0), *index = oc_in_value(c, 1);
    const struct oc_shape *in = oc_in_shape(c, 0);
    if (!d || !index || !in->ranked || in->rank != 1)
        return 0;
    struct oc_elem *e = oc_new_elems(c, index->n);
    for (uint32_t i = 0; i < index->n; i++) {
        int64_t at;
        e[i] = gather_position(&index->e[i], d->n, &at) ? d->e[at] : no_elem;
    }
    oc_set_data(c, 0, e, index->n);
    return 0;
}

/* ---- GatherND ----------------------------------------------------------------------------------------- */

static int shape_gather_nd(struct oc_op_ctx *c)
{
    const struct oc_shape *in = oc_in_shape(c, 0), *index = oc_in_shape(c, 1);
    int64_t b = oc_attr_i(c, "batch_dims", 0);
    struct oc_dim dim[2 * OC_MAX_RANK];
    unsigned n = 0;
    if (!in->ranked || !index->ranked || (index->rank && !oc_is_known(index->dim[index->rank - 1])))
        return oc_out_unranked(c, oc_in_dtype(c, 0));
    if (index->rank == 0 || in->rank == 0)
        return oc_op_fail(c, "the data is a scalar");
    int64_t last = index->dim[index->rank - 1].v;
    if (b < 0 || b >= index->rank || b >= in->rank || last < 0 || last > in->rank - b)
        return oc_op_fail(c, "indices {%s} do not match data {%s} with batch_dims %lld", oc_text_of(c, index),
                          oc_text_of(c, in), (long long)b);
    for (unsigned i = 0; i + 1 < index->rank; i++)
        dim[n++] = i < b && oc_is_known(in->dim[i]) ? in->dim[i] : index->dim[i];
    for (unsigned i = (unsigned)(b + last); i < in->rank; i++)
        dim[n++] = in->dim[i];
    if (n > OC_MAX_RANK)
        return oc_op_fail(c, "the result has too many axes");
    oc_set_out(c, 0, oc_in_dtype(c, 0), oc_shape_of(c->arena, n, dim));
    return 0;
}

/* Vectors only: indices [.., 1] */
static int fold_gather_nd(struct oc_op_ctx *c)
{
    const struct oc_shape *index = oc_in_shape(c, 1);
    bool vector = index->ranked && index->rank && oc_is(index->dim[index->rank - 1], 1);
    return vector && oc_attr_i(c, "batch_dims", 0) == 0 ? fold_gather_elements(c) : 0;
}

/* ---- OneHot ------------------------------------------------------------------------------------------- */

static int shape_one_hot(struct oc_op_ctx *c)
{
    const struct oc_shape *in = oc_in_shape(c, 0);
    struct oc_list depth = oc_list_of(c, NULL, 1);
    struct oc_dim dim[OC_MAX_RANK];
    unsigned axis;
    if (!in->ranked)
        return oc_out_unranked(c, oc_in_dtype(c, 2));
    if (in->rank + 1U > OC_MAX_RANK)
        return oc_op_fail(c, "the result has too many axes");
    if (oc_attr_axis(c, -1, in->rank + 1U, &axis))
        return -1;
    for (unsigned i = 0; i < in->rank; i++)
        dim[i + (i >= axis)] = in->dim[i];
    dim[axis] = oc_fresh_axis(c, axis, -1);
    if (depth.sized && depth.n == 1 && depth.e[0].kind == OC_E_INT)
        dim[axis] = depth.e[0].i;
    if (oc_is_known(dim[axis]) && dim[axis].v < 0)
        return oc_op_fail(c, "invalid depth %lld", (long long)dim[axis].v);
    oc_set_out(c, 0, oc_in_dtype(c, 2), oc_shape_of(c->arena, in->rank + 1U, dim));
    return 0;
}

/* A vector of indices along the last axis. */
static int fold_one_hot(struct oc_op_ctx *c)
{
    const struct oc_type *out = oc_out(c, 0);
    const struct oc_data *index = oc_in_value(c, 0), *v = oc_in_value(c, 2);
    uint32_t n;
    unsigned axis;
    if (!out || !index || !v || v->n != 2 || !oc_fold_count(&out->shape, &n) ||
        !oc_axis(oc_attr_i(c, "axis", -1), out->shape.rank, &axis) || axis + 1U != out->shape.rank)
        return 0;
    int64_t depth = out->shape.dim[axis].v, at;
    if (n != index->n * (uint64_t)depth)
        return 0;
    struct oc_elem *e = oc_new_elems(c, n);
    for (uint32_t i = 0; i < n; i++) {
        const struct oc_elem *k = &index->e[i / depth];
        if (!oc_elem_known_int(k, &at))
            e[i] = no_elem;
        else
            e[i] = v->e[at + (at < 0 ? depth : 0) == i % depth];
    }
    oc_set_data(c, 0, e, n);
    return 0;
}

#define GATHER(d, n, v, sl, s, f)                                                                            \
    {                                                                                                        \
        .domain = (d), .name = (n), .since = (v), .op_class = OC_OP_GATHER, .slots = (sl), .shape = (s),     \
        .fold = (f), OC_COST(gather)                                                                         \
    }

static const struct oc_op gather_rows[] = {
    GATHER("", "Gather", 1, "e.", shape_gather, fold_gather),
    GATHER("", "GatherElements", 11, NULL, shape_gather_elements, fold_gather_elements),
    GATHER("", "GatherND", 11, NULL, shape_gather_nd, fold_gather_nd),
    GATHER("com.microsoft", "GatherND", 1, NULL, shape_gather_nd, fold_gather_nd),
    {OC_OP_ROW("", "OneHot", 9, GENERATE, ".mm", shape_one_hot), .fold = fold_one_hot},
    GATHER("com.microsoft", "TorchEmbedding", 1, "e.", shape_embedding, NULL),
};
OC_FAMILY(gather, gather_rows);

/* ---- writing by index --------------------------------------------------------------------------------- */

/* cost-semantics 4.9 and 5.4: data, indices and updates are read and the whole output is
 * written, unless the operator updates a buffer shared with its output. */

static int shape_scatter(struct oc_op_ctx *c)
{
    const struct oc_shape *in = oc_in_shape(c, 0), *index = oc_in_shape(c, 1), *updates = oc_in_shape(c, 2);
    unsigned axis;
    if (in->ranked && oc_attr_axis(c, 0, in->rank, &axis))
        return -1;
    if (index->ranked && updates->ranked && index->rank != updates->rank)
        return oc_op_fail(c, "indices {%s} and updates {%s} differ in rank", oc_text_of(c, index),
                          oc_text_of(c, updates));
    return oc_shape_same(c);
}

static int shape_scatter_nd(struct oc_op_ctx *c)
{
    const struct oc_shape *in = oc_in_shape(c, 0), *index = oc_in_shape(c, 1);
    if (in->ranked && index->ranked && index->rank && oc_is_known(index->dim[index->rank - 1]) &&
        index->dim[index->rank - 1].v > in->rank)
        return oc_op_fail(c, "indices {%s} have more index components than data {%s} has axes",
                          oc_text_of(c, index), oc_text_of(c, in));
    return oc_shape_same(c);
}

/* Vectors without a reduction: element by element, in order. */
static int fold_scatter(struct oc_op_ctx *c)
{
    const struct oc_data *d = oc_in_value(c, 0), *index = oc_in_value(c, 1), *updates = oc_in_value(c, 2);
    const struct oc_shape *in = oc_in_shape(c, 0), *at_shape = oc_in_shape(c, 1);
    bool nd = strcmp(c->op->name, "ScatterND") == 0;
    if (!d || !index || !updates || !in->ranked || in->rank != 1 || index->n != updates->n ||
        strcmp(oc_attr_s(c, "reduction", "none"), "none") != 0)
        return 0;
    if (nd && (!at_shape->ranked || at_shape->rank == 0 || !oc_is(at_shape->dim[at_shape->rank - 1], 1)))
        return 0;
    struct oc_elem *e = oc_new_elems(c, d->n);
    memcpy(e, d->e, d->n * sizeof(*e));
    for (uint32_t i = 0; i < index->n; i++) {
        int64_t at;
        if (!oc_elem_known_int(&index->e[i], &at))
            return 0;
        at += at < 0 ? d->n : 0;
        if (at < 0 || at >= d->n)
            return 0;
        e[at] = updates->e[i];
    }
    oc_set_data(c, 0, e, d->n);
    return 0;
}

/* In place, only the updates move. */
static void write_updates(struct oc_op_ctx *c, struct oc_cost *k, unsigned updates)
{
    k->rd[0] = 0;
    k->wr[0] = oc_c_part(c, updates, oc_c_in(c, updates));
}

/* With a reduction: one operation per element of the updates. */
static int scatter_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    if (c->opt.inplace)
        write_updates(c, k, 2);
    return 0;
}
static const char scatter_formula[] =
    "ADD = [reduction:none == add]*n; MUL = [reduction:none == mul]*n; "
    "CMP = ([reduction:none == max] + [reduction:none == min])*n; n := N(in2)";

/* Past and present share one buffer. */
static int tensor_scatter_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    write_updates(c, k, 1);
    return 0;
}
static const char tensor_scatter_formula[] = "";

#define SCATTER(n, v, s)                                                                                     \
    .domain = "", .name = (n), .since = (v), .op_class = OC_OP_GATHER, .shape = (s), .fold = fold_scatter,   \
    OC_COST(scatter)

static const struct oc_op scatter_rows[] = {
    {SCATTER("Scatter", 9, shape_scatter), .flags = OC_F_UPDATES, .in_place = OC_SLOT_0},
    {SCATTER("ScatterElements", 11, shape_scatter), .flags = OC_F_UPDATES, .in_place = OC_SLOT_0},
    {SCATTER("ScatterND", 11, shape_scatter_nd), .flags = OC_F_UPDATES},
    {OC_OP_ROW("", "TensorScatter", 24, GATHER, NULL, oc_shape_same), OC_COST(tensor_scatter),
     .kv = &(const struct oc_op_kv){.pair = {{0, 0}, {0, 0}}, .shared = OC_KV_SHARED_IN_PLACE}},
};
OC_FAMILY(scatter, scatter_rows);

/* ---- data-dependent sizes: NonZero -------------------------------------------------------------------- */

/* Operators with a data-dependent output size: an unknown with an upper bound; equal sizes of one node are
 * one unknown. cost-semantics 4.7. */

/* 1 yes, 0 no, -1 unknown */
static int is_set(const struct oc_elem *e)
{
    double v;
    return oc_elem_known_real(e, &v) ? v != 0 : -1;
}

/* Number of non-zero elements; false unless all are known. */
static bool count_set(const struct oc_data *d, uint32_t limit, int64_t *n)
{
    *n = 0;
    for (uint32_t i = 0; d && i < d->n && i < limit; i++) {
        if (is_set(&d->e[i]) < 0)
            return false;
        *n += is_set(&d->e[i]);
    }
    return d != NULL;
}

static int shape_non_zero(struct oc_op_ctx *c)
{
    const struct oc_shape *in = oc_in_shape(c, 0);
    struct oc_dim d[2] = {oc_known(in->rank), oc_known(0)};
    int64_t n;
    if (!in->ranked)
        d[0] = oc_fresh_axis(c, 0, OC_MAX_RANK);
    if (count_set(oc_in_value(c, 0), UINT32_MAX, &n))
        d[1] = oc_known(n);
    else
        d[1] = oc_fresh_axis(c, 1, in->ranked ? oc_bound(c, oc_shape_count(c->exprs, in)) : -1);
    oc_set_out(c, 0, OC_DT_INT64, oc_shape_of(c->arena, 2, d));
    return 0;
}

static int fold_non_zero(struct oc_op_ctx *c)
{
    const struct oc_data *d = oc_in_value(c, 0);
    struct oc_walk w;
    int64_t n;
    uint32_t k = 0;
    if (!count_set(d, UINT32_MAX, &n) || !oc_walk_of(oc_in_shape(c, 0), &w) || n * w.rank > OC_MAX_DATA)
        return 0;
    struct oc_elem *e = oc_new_elems(c, (uint32_t)n * w.rank);
    for (uint32_t i = 0; i < d->n; i++) {
        if (!is_set(&d->e[i]))
            continue;
        for (unsigned a = 0; a < w.rank; a++)
            e[a * n + k] = oc_elem_int(i / w.stride[a] % w.wrap[a]);
        k++;
    }
    oc_set_data(c, 0, e, (uint32_t)n * w.rank);
    return 0;
}

static const char non_zero_formula[] = "CMP = N(x)";

/* ---- Compress ----------------------------------------------------------------------------------------- */

static int shape_compress(struct oc_op_ctx *c)
{
    const struct oc_shape *in = oc_in_shape(c, 0), *mask = oc_in_shape(c, 1);
    bool whole = !oc_has_attr(c, "axis");
    struct oc_dim dim[OC_MAX_RANK], length;
    unsigned axis = 0;
    int64_t n;
    if (!in->ranked) {
        oc_set_out(c, 0, oc_in_dtype(c, 0), whole ? oc_fresh_shape(c, 1) : oc_shape_unranked());
        return 0;
    }
    if (!whole && oc_attr_axis(c, 0, in->rank, &axis))
        return -1;
    length = whole ? oc_shape_count(c->exprs, in) : in->dim[axis];
    if (mask->ranked && mask->rank == 1)
        length = oc_dim_min(c->exprs, length, mask->dim[0]);
    for (unsigned i = 0; i < in->rank; i++)
        dim[i] = in->dim[i];
    uint32_t limit = oc_is_known(length) && length.v < UINT32_MAX ? (uint32_t)length.v : UINT32_MAX;
    dim[axis] =
        count_set(oc_in_value(c, 1), limit, &n) ? oc_known(n) : oc_fresh_axis(c, axis, oc_bound(c, length));
    oc_set_out(c, 0, oc_in_dtype(c, 0), oc_shape_of(c->arena, whole ? 1 : in->rank, dim));
    return 0;
}

/* ---- Unique ------------------------------------------------------------------------------------------- */

static bool all_known(const struct oc_data *d)
{
    double v;
    for (uint32_t i = 0; d && i < d->n; i++)
        if (!oc_elem_known_real(&d->e[i], &v))
            return false;
    return d != NULL;
}

static double number_at(const struct oc_data *d, uint32_t i)
{
    double v = 0;
    oc_elem_known_real(&d->e[i], &v);
    return v;
}

#define MAX_UNIQUE 64 /* limit for pairwise comparison of elements */

/* Position of the first element equal to element `at`. */
static uint32_t first_equal(const struct oc_data *d, uint32_t at)
{
    uint32_t i = 0;
    while (number_at(d, i) != number_at(d, at))
        i++;
    return i;
}

static bool comparable(const struct oc_data *d)
{
    if (!all_known(d) || d->n > OC_MAX_DATA)
        return false;
    for (uint32_t i = 0; i < d->n; i++)
        if (isnan(number_at(d, i)))
            return false;
    return true;
}

/* Whether the node treats all elements as one vector of known values. */
static bool known_vector(struct oc_op_ctx *c)
{
    const struct oc_shape *in = oc_in_shape(c, 0);
    const struct oc_data *d = oc_in_value(c, 0);
    bool whole = !oc_has_attr(c, "axis") || (in->ranked && in->rank == 1);
    return whole && d && d->n <= MAX_UNIQUE && comparable(d);
}

/* Whether slices a and b are equal. The elements of a slice, in groups of `inner`, are `slices` times `inner`
 * apart. */
static bool same_slice(const struct oc_data *d, uint32_t slices, uint32_t inner, uint32_t a, uint32_t b)
{
    for (uint32_t from = 0; from < d->n; from += slices * inner)
        for (uint32_t i = 0; i < inner; i++)
            if (number_at(d, from + a * inner + i) != number_at(d, from + b * inner + i))
                return false;
    return true;
}

/* Number of distinct slices along the axis. */
static bool count_slices(struct oc_op_ctx *c, unsigned axis, struct oc_dim *out)
{
    const struct oc_shape *in = oc_in_shape(c, 0);
    const struct oc_data *d = oc_in_value(c, 0);
    struct oc_dim inner = oc_shape_count_range(c->exprs, in, axis + 1, in->rank);
    if (!d || !d->n || !oc_shape_known(in) || in->dim[axis].v <= 0 || in->dim[axis].v > MAX_UNIQUE ||
        inner.v <= 0 || inner.v > d->n || d->n % (in->dim[axis].v * inner.v) || !comparable(d))
        return false;
    uint32_t slices = (uint32_t)in->dim[axis].v, n = 0;
    for (uint32_t a = 0; a < slices; a++) {
        uint32_t b = 0;
        while (b < a && !same_slice(d, slices, (uint32_t)inner.v, a, b))
            b++;
        n += a == b;
    }
    *out = oc_known(n);
    return true;
}

static int shape_unique(struct oc_op_ctx *c)
{
    const struct oc_shape *in = oc_in_shape(c, 0);
    const struct oc_data *d = oc_in_value(c, 0);
    bool whole = !oc_has_attr(c, "axis");
    struct oc_dim dim[OC_MAX_RANK], length, u;
    unsigned axis = 0;
    if (!in->ranked) {
        u = oc_fresh_axis(c, 0, -1);
        length = oc_op_fresh_dim(c, NULL, -1);
        oc_set_out(c, 0, oc_in_dtype(c, 0), whole ? oc_shape_1d(c->arena, u) : oc_shape_unranked());
    } else {
        if (!whole && oc_attr_axis(c, 0, in->rank, &axis))
            return -1;
        length = whole ? oc_shape_count(c->exprs, in) : in->dim[axis];
        u = oc_fresh_axis(c, axis, oc_bound(c, length));
        if (known_vector(c)) {
            u = oc_known(0);
            for (uint32_t i = 0; i < d->n; i++)
                u.v += first_equal(d, i) == i;
        } else if (!whole) {
            count_slices(c, axis, &u);
        }
        for (unsigned i = 0; i < in->rank; i++)
            dim[i] = in->dim[i];
        dim[axis] = u;
        oc_set_out(c, 0, oc_in_dtype(c, 0), oc_shape_of(c->arena, whole ? 1 : in->rank, dim));
    }
    for (unsigned i = 1; i < 4; i++)
        oc_set_out(c, i, OC_DT_INT64, oc_shape_1d(c->arena, i == 2 ? length : u));
    return 0;
}

/* Index of the value of element `at` among the distinct values, in sorted order or in order of appearance. */
static uint32_t place_of(const struct oc_data *d, uint32_t at, bool sorted)
{
    uint32_t place = 0, first = first_equal(d, at);
    for (uint32_t i = 0; i < d->n; i++)
        if (first_equal(d, i) == i)
            place += sorted ? number_at(d, i) < number_at(d, at) : i < first;
    return place;
}

/* Outputs: the values, their first positions, the inverse indices, the counts. */
static int fold_unique(struct oc_op_ctx *c)
{
    const struct oc_data *d = oc_in_value(c, 0);
    bool sorted = oc_attr_i(c, "sorted", 1) != 0;
    uint32_t n = 0;
    if (!known_vector(c))
        return 0;
    struct oc_elem *y = oc_new_elems(c, d->n), *at = oc_new_elems(c, d->n);
    struct oc_elem *which = oc_new_elems(c, d->n), *many = oc_new_elems(c, d->n);
    for (uint32_t i = 0; i < d->n; i++) {
        uint32_t k = place_of(d, i, sorted), first = first_equal(d, i);
        n += first == i;
        y[k] = d->e[first];
        at[k] = oc_elem_int(first);
        which[i] = oc_elem_int(k);
        many[k] = oc_elem_int(first == i ? 1 : many[k].i.v + 1);
    }
    oc_set_data(c, 0, y, n);
    oc_set_data(c, 1, at, n);
    oc_set_data(c, 2, which, d->n);
    oc_set_data(c, 3, many, n);
    return 0;
}

static const char unique_formula[] = "CMP = N(x)*clog2(N(x))";

/* ---- NonMaxSuppression -------------------------------------------------------------------------------- */

struct nms {
    struct oc_dim batches, classes, boxes, most; /* most: maximum number of boxes kept per class */
    bool known;
};

static struct nms nms_of(struct oc_op_ctx *c)
{
    const struct oc_shape *boxes = oc_in_shape(c, 0), *scores = oc_in_shape(c, 1);
    struct oc_list max = oc_list_of(c, NULL, 2);
    struct nms r = {.known = false};
    if (!scores->ranked || scores->rank != 3)
        return r;
    r.known = true;
    r.batches = scores->dim[0];
    r.classes = scores->dim[1];
    r.boxes =
        oc_is_known(scores->dim[2]) || !boxes->ranked || boxes->rank != 3 ? scores->dim[2] : boxes->dim[1];
    r.most = r.boxes;
    if (!max.present) /* "the default 0 means no output" */
        r.most = oc_known(0);
    else if (max.sized && max.n == 1 && max.e[0].kind == OC_E_INT)
        r.most = oc_dim_min(c->exprs, oc_dim_max(c->exprs, max.e[0].i, oc_known(0)), r.boxes);
    return r;
}

static int shape_nms(struct oc_op_ctx *c)
{
    struct nms r = nms_of(c);
    struct oc_dim d[2] = {oc_known(0), oc_known(3)};
    if (!r.known) {
        d[0] = oc_fresh_axis(c, 0, -1);
    } else {
        struct oc_dim n = oc_dim_mul(c->exprs, oc_dim_mul(c->exprs, r.batches, r.classes), r.most);
        d[0] = oc_is(n, 0) ? n : oc_fresh_axis(c, 0, oc_bound(c, n));
    }
    oc_set_out(c, 0, OC_DT_INT64, oc_shape_of(c->arena, 2, d));
    return 0;
}

/* b*c*(s + s*clog2(s)) CMP for scores and sorting; b*c*m*s overlaps of 5 CMP, 5 ADD, 2 MUL, 1 DIV */
static int nms_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    struct nms r = nms_of(c);
    (void)k;
    c->upper = true;
    if (!r.known)
        return oc_cost_unknown(c);
    oc_add_formula_value(c, "lists", oc_c_mul(c, oc_c_dim(c, r.batches), oc_c_dim(c, r.classes)));
    oc_add_formula_value(c, "s", oc_c_dim(c, r.boxes));
    oc_add_formula_value(c, "m", oc_c_dim(c, r.most));
    return 0;
}
static const char nms_formula[] =
    "CMP = lists*s*(1 + clog2(s)) + 5*pairs; ADD = 5*pairs; MUL = 2*pairs; DIV = pairs; pairs := lists*m*s";

static const struct oc_op select_rows[] = {
    {OC_OP_ROW("", "Compress", 9, GATHER, NULL, shape_compress)},
    {OC_OP_ROW("", "NonMaxSuppression", 10, SORT, "..m", shape_nms), OC_COST(nms)},
    {OC_OP_ROW("", "NonZero", 9, GATHER, NULL, shape_non_zero), .fold = fold_non_zero,
     OC_COST_TEXT(non_zero_formula)},
    {OC_OP_ROW("", "Unique", 11, SORT, NULL, shape_unique), .fold = fold_unique,
     OC_COST_TEXT(unique_formula)},
    {OC_OP_ROW("com.microsoft", "Unique", 1, SORT, NULL, shape_unique), OC_COST_TEXT(unique_formula)},
};
OC_FAMILY(select, select_rows);
