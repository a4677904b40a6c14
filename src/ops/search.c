/* ArgMax, ArgMin, TopK, cumulative sums and products, pairwise distances. cost-semantics 4.7. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ops/elem.h"
#include "ops/op.h"
#include "ops/shared_rules.h"

/* ---- ArgMax, ArgMin ----------------------------------------------------------------------------------- */

static int shape_arg(struct oc_op_ctx *c)
{
    const struct oc_shape *x = oc_in_shape(c, 0);
    int64_t a = oc_attr_i(c, "axis", 0);
    bool keep = oc_attr_i(c, "keepdims", 1) != 0;
    struct oc_dim dim[OC_MAX_RANK];
    unsigned axis, n = 0;
    if (!x->ranked) {
        oc_set_out(c, 0, OC_DT_INT64, oc_shape_unranked());
        return 0;
    }
    if (!oc_axis(a, x->rank, &axis))
        return oc_op_fail(c, "axis %lld is out of range for rank %u", (long long)a, x->rank);
    for (unsigned i = 0; i < x->rank; i++) {
        if (i != axis)
            dim[n++] = x->dim[i];
        else if (keep)
            dim[n++] = oc_known(1);
    }
    oc_set_out(c, 0, OC_DT_INT64, oc_shape_of(c->arena, n, dim));
    return 0;
}

/* The elements as doubles, or NULL. */
static double *search_known_reals(struct oc_op_ctx *c, const struct oc_data *d)
{
    double *v = OC_NEW_ARRAY(c->arena, d->n ? d->n : 1, double);
    for (uint32_t i = 0; i < d->n; i++)
        if (!oc_elem_known_real(&d->e[i], &v[i]))
            return NULL;
    return v;
}

static int fold_arg(struct oc_op_ctx *c)
{
    const struct oc_data *d = oc_in_value(c, 0);
    const struct oc_shape *x = oc_in_shape(c, 0);
    double *v = d && d->n && x->ranked && x->rank == 1 ? search_known_reals(c, d) : NULL;
    bool largest = strcmp(c->op->name, "ArgMax") == 0, last = oc_attr_i(c, "select_last_index", 0) != 0;
    uint32_t best = 0;
    if (!v)
        return 0;
    for (uint32_t i = 1; i < d->n; i++) {
        bool better = largest ? v[i] > v[best] : v[i] < v[best];
        if (better || (last && v[i] == v[best]))
            best = i;
    }
    struct oc_elem *e = oc_new_elems(c, 1);
    *e = oc_elem_int(best);
    oc_set_data(c, 0, e, 1);
    return 0;
}

/* ---- TopK --------------------------------------------------------------------------------------------- */

static struct oc_elem top_k(const struct oc_op_ctx *c)
{
    const struct oc_data *d = oc_in_value(c, 1);
    if (oc_has_attr(c, "k"))
        return oc_elem_int(oc_attr_i(c, "k", 0));
    return d && d->n == 1 ? d->e[0] : (struct oc_elem){.kind = OC_E_UNKNOWN};
}

static int shape_topk(struct oc_op_ctx *c)
{
    const struct oc_shape *x = oc_in_shape(c, 0);
    struct oc_shape out = oc_shape_unranked();
    struct oc_elem k = top_k(c);
    int64_t a = oc_attr_i(c, "axis", -1);
    if (x->ranked) {
        struct oc_dim dim[OC_MAX_RANK];
        unsigned axis;
        if (!oc_axis(a, x->rank, &axis))
            return oc_op_fail(c, "axis %lld is out of range for rank %u", (long long)a, x->rank);
        memcpy(dim, x->dim, x->rank * sizeof(dim[0]));
        if (k.kind == OC_E_INT)
            dim[axis] = k.i;
        else
            dim[axis] = oc_fresh_axis(c, axis, oc_dim_max_value(c->exprs, x->dim[axis]));
        if (oc_is_known(dim[axis]) &&
            (dim[axis].v < 0 || (oc_is_known(x->dim[axis]) && dim[axis].v > x->dim[axis].v)))
            return oc_op_fail(c, "k is %lld but the axis has %s elements", (long long)dim[axis].v,
                              oc_dim_text(c->exprs, x->dim[axis]));
        out = oc_shape_of(c->arena, x->rank, dim);
    }
    oc_set_out(c, 0, oc_in_dtype(c, 0), out);
    oc_set_out(c, 1, OC_DT_INT64, out);
    return 0;
}

struct ranked {
    double v;
    uint32_t at;
};

static int search_by_value(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->v != y->v)
        return x->v < y->v ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

static int fold_topk(struct oc_op_ctx *c)
{
    const struct oc_data *d = oc_in_value(c, 0);
    const struct oc_shape *x = oc_in_shape(c, 0);
    struct oc_elem wanted = top_k(c);
    int64_t k;
    double *v = d && x->ranked && x->rank == 1 ? search_known_reals(c, d) : NULL;
    if (!v || !oc_elem_known_int(&wanted, &k) || k < 0 || k > d->n)
        return 0;
    double sign = oc_attr_i(c, "largest", 1) ? -1 : 1;
    struct ranked *r = OC_NEW_ARRAY(c->arena, d->n ? d->n : 1, struct ranked);
    for (uint32_t i = 0; i < d->n; i++)
        r[i] = (struct ranked){.v = sign * v[i], .at = i};
    qsort(r, d->n, sizeof(r[0]), search_by_value);
    struct oc_elem *values = oc_new_elems(c, (uint32_t)k), *at = oc_new_elems(c, (uint32_t)k);
    for (uint32_t i = 0; i < (uint32_t)k; i++) {
        values[i] = d->e[r[i].at];
        at[i] = oc_elem_int(r[i].at);
    }
    oc_set_data(c, 0, values, (uint32_t)k);
    oc_set_data(c, 1, at, (uint32_t)k);
    return 0;
}

static uint64_t ceil_log2(uint64_t n)
{
    uint64_t bits = 0;
    while (bits < 63 && (UINT64_C(1) << bits) < n)
        bits++;
    return bits;
}

/* CMP rows * L * max(1, clog2(k)) */
static int cost_topk(struct oc_op_ctx *c, struct oc_cost *k)
{
    const struct oc_type *o = oc_out(c, 0) ? oc_out(c, 0) : oc_out(c, 1);
    unsigned axis;
    if (!o || !o->shape.ranked || !oc_axis(oc_attr_i(c, "axis", -1), o->shape.rank, &axis)) {
        c->unknown = true;
        return 0;
    }
    uint64_t steps = ceil_log2(oc_c_dim(c, o->shape.dim[axis]));
    oc_add_formula_value(c, "k", oc_c_dim(c, o->shape.dim[axis]));
    oc_add(c, k, OC_CMP, oc_c_mul(c, oc_c_in(c, 0), steps ? steps : 1));
    return 0;
}
static const char cost_topk_formula[] = "CMP = N(x)*max(clog2(k), 1)";

/* ---- CumSum, CumProd ---------------------------------------------------------------------------------- */

static int fold_cumulate(struct oc_op_ctx *c)
{
    const struct oc_data *d = oc_in_value(c, 0);
    const struct oc_shape *x = oc_in_shape(c, 0);
    bool product = c->op->prim == OC_MUL, exclusive = oc_attr_i(c, "exclusive", 0) != 0,
         reverse = oc_attr_i(c, "reverse", 0) != 0;
    unsigned dtype = oc_in_dtype(c, 0);
    bool real = oc_dtype_info(dtype)->kind == OC_KIND_FLOAT;
    if (!d || !x->ranked || x->rank != 1)
        return 0;
    struct oc_elem *e = oc_new_elems(c, d->n);
    struct oc_elem run = real ? oc_elem_real(product) : oc_elem_int(product);
    for (uint32_t i = 0; i < d->n; i++) {
        uint32_t at = reverse ? d->n - 1 - i : i;
        struct oc_elem next = oc_elem_op(c->exprs, product ? OC_EL_MUL : OC_EL_ADD, dtype, &run, &d->e[at]);
        e[at] = exclusive ? run : next;
        run = next;
    }
    oc_set_data(c, 0, e, d->n);
    return 0;
}

/* ---- CDist -------------------------------------------------------------------------------------------- */

static int shape_cdist(struct oc_op_ctx *c)
{
    const struct oc_shape *a = oc_in_shape(c, 0), *b = oc_in_shape(c, 1);
    if ((a->ranked && a->rank != 2) || (b->ranked && b->rank != 2))
        return oc_op_fail(c, "operands must be matrices, got rank %u and %u", a->rank, b->rank);
    struct oc_dim dim[2] = {a->ranked ? a->dim[0] : oc_op_fresh_dim(c, "0", -1),
                            b->ranked ? b->dim[0] : oc_op_fresh_dim(c, "1", -1)};
    oc_set_out(c, 0, oc_in_dtype(c, 0), oc_shape_of(c->arena, 2, dim));
    return 0;
}

/* MAC a*b*d, and one root per pair for the euclidean metric */
static int cost_cdist(struct oc_op_ctx *c, struct oc_cost *k)
{
    uint64_t pairs = oc_c_out(c, 0);
    oc_add(c, k, OC_MAC, oc_c_mul(c, pairs, oc_c_range(c, oc_in_shape(c, 0), 1, 2)));
    if (strcmp(oc_attr_s(c, "metric", "sqeuclidean"), "euclidean") == 0)
        oc_add(c, k, OC_SQRT, pairs);
    return 0;
}
static const char cost_cdist_formula[] =
    "MAC = N(o)*d; SQRT = [metric:sqeuclidean == euclidean]*N(o); d := x[1]";

static int cost_arg(struct oc_op_ctx *c, struct oc_cost *k)
{
    uint64_t n = oc_c_in(c, 0), results = oc_c_out(c, 0);
    oc_add(c, k, OC_CMP, c->opt.strict_reduce && n >= results ? n - results : n);
    return 0;
}
static const char cost_arg_formula[] = "CMP = N(x) - [strict]*N(o)";

static const struct oc_op search_rows[] = {
    {OC_OP_ROW("", "ArgMax", 1, REDUCE, NULL, shape_arg), .fold = fold_arg, OC_COST(cost_arg),
     .flags = OC_F_COUNT_BY_TYPES},
    {OC_OP_ROW("", "ArgMin", 1, REDUCE, NULL, shape_arg), .fold = fold_arg, OC_COST(cost_arg),
     .flags = OC_F_COUNT_BY_TYPES},
    {OC_OP_ROW("com.microsoft", "CDist", 1, GEMM, NULL, shape_cdist), OC_COST(cost_cdist)},
    {OC_OP_ROW("", "CumProd", 26, REDUCE, ".m", oc_shape_same), .prim = OC_MUL, .fold = fold_cumulate,
     .cost = oc_cost_elementwise},
    {OC_OP_ROW("", "CumSum", 11, REDUCE, ".m", oc_shape_same), .prim = OC_ADD, .fold = fold_cumulate,
     .cost = oc_cost_elementwise},
    {OC_OP_ROW("", "TopK", 1, SORT, ".m", shape_topk), .fold = fold_topk, OC_COST(cost_topk)},
};
OC_FAMILY(search, search_rows);

/* ---- data-dependent sizes ----------------------------------------------------------------------------- */

/* Operators with a data-dependent output size: an unknown with an upper bound; equal sizes of one node are
 * one unknown. cost-semantics 4.7. */

/* ---- NonZero ------------------------------------------------------------------------------------------ */

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

static int cost_non_zero(struct oc_op_ctx *c, struct oc_cost *k)
{
    oc_add(c, k, OC_CMP, oc_c_in(c, 0));
    return 0;
}
static const char cost_non_zero_formula[] = "CMP = N(x)";

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

static bool data_sized_all_known(const struct oc_data *d)
{
    double v;
    for (uint32_t i = 0; d && i < d->n; i++)
        if (!oc_elem_known_real(&d->e[i], &v))
            return false;
    return d != NULL;
}

static double data_sized_number(const struct oc_data *d, uint32_t i)
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
    while (data_sized_number(d, i) != data_sized_number(d, at))
        i++;
    return i;
}

static bool comparable(const struct oc_data *d)
{
    if (!data_sized_all_known(d) || d->n > OC_MAX_DATA)
        return false;
    for (uint32_t i = 0; i < d->n; i++)
        if (isnan(data_sized_number(d, i)))
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
            if (data_sized_number(d, from + a * inner + i) != data_sized_number(d, from + b * inner + i))
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
static uint32_t data_sized_place_of(const struct oc_data *d, uint32_t at, bool sorted)
{
    uint32_t place = 0, first = first_equal(d, at);
    for (uint32_t i = 0; i < d->n; i++)
        if (first_equal(d, i) == i)
            place += sorted ? data_sized_number(d, i) < data_sized_number(d, at) : i < first;
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
        uint32_t k = data_sized_place_of(d, i, sorted), first = first_equal(d, i);
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

/* Sorting: n*clog2(n) */
static int cost_unique(struct oc_op_ctx *c, struct oc_cost *k)
{
    uint64_t n = oc_c_in(c, 0);
    oc_add(c, k, OC_CMP, oc_c_mul(c, n, oc_clog2(n)));
    return 0;
}
static const char cost_unique_formula[] = "CMP = N(x)*clog2(N(x))";

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

static int data_sized_shape_nms(struct oc_op_ctx *c)
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
static int data_sized_cost_nms(struct oc_op_ctx *c, struct oc_cost *k)
{
    static const struct oc_prims overlap[] = {{OC_CMP, 5}, {OC_ADD, 5}, {OC_MUL, 2}, {OC_DIV, 1}, {0, 0}};
    struct nms r = nms_of(c);
    c->upper = true;
    if (!r.known) {
        c->unknown = true;
        return 0;
    }
    uint64_t lists = oc_c_mul(c, oc_c_dim(c, r.batches), oc_c_dim(c, r.classes)), s = oc_c_dim(c, r.boxes);
    oc_add_formula_value(c, "lists", lists);
    oc_add_formula_value(c, "s", s);
    oc_add_formula_value(c, "m", oc_c_dim(c, r.most));
    oc_add(c, k, OC_CMP, oc_c_mul(c, oc_c_mul(c, lists, s), 1 + oc_clog2(s)));
    oc_add_prims(c, k, overlap, oc_c_mul(c, oc_c_mul(c, lists, oc_c_dim(c, r.most)), s));
    return 0;
}
static const char data_sized_cost_nms_formula[] =
    "CMP = lists*s*(1 + clog2(s)) + 5*pairs; ADD = 5*pairs; MUL = 2*pairs; DIV = pairs; pairs := lists*m*s";

static const struct oc_op select_rows[] = {
    {OC_OP_ROW("", "Compress", 9, GATHER, NULL, shape_compress)},
    {OC_OP_ROW("", "NonMaxSuppression", 10, SORT, "..m", data_sized_shape_nms), OC_COST(data_sized_cost_nms)},
    {OC_OP_ROW("", "NonZero", 9, GATHER, NULL, shape_non_zero), .fold = fold_non_zero,
     OC_COST(cost_non_zero)},
    {OC_OP_ROW("", "Unique", 11, SORT, NULL, shape_unique), .fold = fold_unique, OC_COST(cost_unique)},
    {OC_OP_ROW("com.microsoft", "Unique", 1, SORT, NULL, shape_unique), OC_COST(cost_unique)},
};
OC_FAMILY(select, select_rows);
