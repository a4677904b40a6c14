/* ArgMax, ArgMin, TopK, cumulative sums and products, pairwise distances. cost-semantics 4.7. */
#include "ops/elem.h"
#include "ops/op.h"

#include <stdlib.h>
#include <string.h>

/* ---- ArgMax, ArgMin --------------------------------------------------------------------------------- */

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

/* ---- TopK ------------------------------------------------------------------------------------------- */

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
            dim[axis] =
                oc_op_fresh_dim(c, oc_printf(c->arena, "%u", axis), oc_dim_max_value(c->exprs, x->dim[axis]));
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
    oc_tell(c, "k", oc_c_dim(c, o->shape.dim[axis]));
    oc_add(c, k, OC_CMP, oc_c_mul(c, oc_c_in(c, 0), steps ? steps : 1));
    return 0;
}
static const char cost_topk_formula[] = "CMP = N(x)*max(clog2(k), 1)";

/* ---- CumSum, CumProd -------------------------------------------------------------------------------- */

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

/* ---- CDist ------------------------------------------------------------------------------------------ */

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

static const struct oc_op rows[] = {
    {.domain = "",
     .name = "ArgMax",
     .since = 1,
     .op_class = OC_OP_REDUCE,
     .shape = shape_arg,
     .fold = fold_arg,
     OC_COST(cost_arg),
     .flags = OC_F_COUNT_BY_TYPES},
    {.domain = "",
     .name = "ArgMin",
     .since = 1,
     .op_class = OC_OP_REDUCE,
     .shape = shape_arg,
     .fold = fold_arg,
     OC_COST(cost_arg),
     .flags = OC_F_COUNT_BY_TYPES},
    {.domain = "com.microsoft",
     .name = "CDist",
     .since = 1,
     .op_class = OC_OP_GEMM,
     .shape = shape_cdist,
     OC_COST(cost_cdist)},
    {.domain = "",
     .name = "CumProd",
     .since = 26,
     .op_class = OC_OP_REDUCE,
     .slots = ".m",
     .prim = OC_MUL,
     .shape = oc_shape_same,
     .fold = fold_cumulate,
     .cost = oc_cost_elementwise},
    {.domain = "",
     .name = "CumSum",
     .since = 11,
     .op_class = OC_OP_REDUCE,
     .slots = ".m",
     .prim = OC_ADD,
     .shape = oc_shape_same,
     .fold = fold_cumulate,
     .cost = oc_cost_elementwise},
    {.domain = "",
     .name = "TopK",
     .since = 1,
     .op_class = OC_OP_SORT,
     .slots = ".m",
     .shape = shape_topk,
     .fold = fold_topk,
     OC_COST(cost_topk)},
};
extern const struct oc_op_family oc_ops_search;
const struct oc_op_family oc_ops_search = OC_FAMILY("search", rows);
