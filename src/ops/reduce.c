/* Reductions over axes, ArgMax, ArgMin, TopK, cumulative sums and products, pairwise distances.
 * cost-semantics 4.7, shape-inference 4.5. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ck.h"
#include "ops/op.h"
#include "ops/shared_rules.h"

/* The steps of a reduction: map an element, combine two, finish a result. Combining n elements counts n. */
struct reduction {
    uint8_t map, combine, finish; /* enum oc_prim */
    bool has_map, has_finish;
    bool finish_alone; /* the finish also applies when nothing is reduced */
    uint8_t fold;      /* enum oc_elem_op, with has_fold */
    bool has_fold, mean;
};

static const struct reduction sum = {.combine = OC_ADD, .fold = OC_EL_ADD, .has_fold = true};
static const struct reduction mean = {.combine = OC_ADD,
                                      .finish = OC_DIV,
                                      .has_finish = true,
                                      .fold = OC_EL_ADD,
                                      .has_fold = true,
                                      .mean = true};
static const struct reduction max = {.combine = OC_CMP, .fold = OC_EL_MAX, .has_fold = true};
static const struct reduction min = {.combine = OC_CMP, .fold = OC_EL_MIN, .has_fold = true};
static const struct reduction prod = {.combine = OC_MUL, .fold = OC_EL_MUL, .has_fold = true};
static const struct reduction l1 = {.map = OC_CMP, .has_map = true, .combine = OC_ADD};
static const struct reduction l2 = {.map = OC_MUL,
                                    .has_map = true,
                                    .combine = OC_ADD,
                                    .finish = OC_SQRT,
                                    .has_finish = true,
                                    .finish_alone = true};
static const struct reduction sum_square = {.map = OC_MUL, .has_map = true, .combine = OC_ADD};
static const struct reduction log_sum = {
    .combine = OC_ADD, .finish = OC_LOG, .has_finish = true, .finish_alone = true};
static const struct reduction log_sum_exp = {.map = OC_EXP,
                                             .has_map = true,
                                             .combine = OC_ADD,
                                             .finish = OC_LOG,
                                             .has_finish = true,
                                             .finish_alone = true};

/* ---- axes --------------------------------------------------------------------------------------------- */

struct axes {
    bool known;   /* else only their number may be known: n */
    bool nothing; /* noop_with_empty_axes */
    bool reduced[OC_MAX_RANK];
    unsigned n;
    bool n_known;
};

static int mark_axes(struct oc_op_ctx *c, const struct oc_shape *x, const int64_t *list, uint32_t n,
                     struct axes *a)
{
    for (uint32_t i = 0; i < n; i++) {
        unsigned axis;
        if (!oc_axis(list[i], x->rank, &axis))
            return oc_op_fail(c, "axis %lld is out of range for rank %u", (long long)list[i], x->rank);
        a->n += !a->reduced[axis];
        a->reduced[axis] = true;
    }
    return 0;
}

/* x has a known rank. */
static int read_axes(struct oc_op_ctx *c, const struct oc_shape *x, struct axes *a)
{
    const int64_t *list;
    uint32_t n;
    *a = (struct axes){.known = true, .n_known = true};
    int found = oc_attr_or_input_ints(c, "axes", 1, &list, &n);
    if (found > 0 && n)
        return mark_axes(c, x, list, n, a);
    if (found < 0) {
        const struct oc_shape *s = oc_in_shape(c, 1);
        bool counted =
            s->ranked && s->rank == 1 && oc_is_known(s->dim[0]) && s->dim[0].v > 0 && s->dim[0].v <= x->rank;
        *a = (struct axes){.n = counted ? (unsigned)s->dim[0].v : 0, .n_known = counted};
        return 0;
    }
    a->nothing = oc_attr_i(c, "noop_with_empty_axes", 0) != 0;
    a->n = a->nothing ? 0 : x->rank;
    for (unsigned i = 0; i < x->rank; i++)
        a->reduced[i] = !a->nothing;
    return 0;
}

/* ---- shape -------------------------------------------------------------------------------------------- */

static struct oc_shape reduced_shape(struct oc_op_ctx *c, const struct oc_shape *x, const struct axes *a,
                                     bool keep)
{
    struct oc_dim dim[OC_MAX_RANK];
    unsigned n = 0;
    if (!a->known && !keep && !a->n_known)
        return oc_shape_unranked();
    if (!a->known) {
        n = keep ? x->rank : x->rank - a->n;
        for (unsigned i = 0; i < n; i++)
            dim[i] = oc_fresh_axis(c, i, keep ? oc_dim_max_value(c->exprs, x->dim[i]) : -1);
        return oc_shape_of(c->arena, n, dim);
    }
    for (unsigned i = 0; i < x->rank; i++) {
        if (!a->reduced[i])
            dim[n++] = x->dim[i];
        else if (keep)
            dim[n++] = oc_known(1);
    }
    return oc_shape_of(c->arena, n, dim);
}

static int shape_reduce_to(struct oc_op_ctx *c, unsigned dtype)
{
    const struct oc_shape *x = oc_in_shape(c, 0);
    struct oc_shape out = oc_shape_unranked();
    if (x->ranked) {
        struct axes a;
        if (read_axes(c, x, &a))
            return -1;
        out = reduced_shape(c, x, &a, oc_attr_i(c, "keepdims", 1) != 0);
    } else if (!oc_attr_i(c, "keepdims", 1) && !oc_has_attr(c, "axes") && !oc_in(c, 1) &&
               !oc_attr_i(c, "noop_with_empty_axes", 0)) {
        out = oc_shape_scalar();
    }
    oc_set_out(c, 0, dtype, out);
    return 0;
}

static int shape_reduce(struct oc_op_ctx *c)
{
    return shape_reduce_to(c, oc_in_dtype(c, 0));
}

static int shape_reduce_integer(struct oc_op_ctx *c)
{
    return shape_reduce_to(c, OC_DT_INT32);
}

static int shape_qlinear_mean(struct oc_op_ctx *c)
{
    const struct oc_shape *x = oc_in_shape(c, 0);
    uint32_t n;
    const int64_t *list = oc_attr_ints(c, "axes", &n);
    struct axes a = {.known = true, .n_known = true};
    struct oc_shape out = oc_shape_unranked();
    if (x->ranked) {
        if (mark_axes(c, x, list, n, &a))
            return -1;
        for (unsigned i = 0; n == 0 && i < x->rank; i++)
            a.reduced[i] = true;
        out = reduced_shape(c, x, &a, oc_attr_i(c, "keepdims", 1) != 0);
    }
    oc_set_out(c, 0, oc_in(c, 4) ? oc_in_dtype(c, 4) : oc_in_dtype(c, 0), out);
    return 0;
}

/* ---- small values ------------------------------------------------------------------------------------- */

/* Reduces a vector to one number. */
static int fold_reduce(struct oc_op_ctx *c)
{
    const struct reduction *r = c->op->param;
    const struct oc_shape *x = oc_in_shape(c, 0);
    const struct oc_data *d = oc_in_value(c, 0);
    const struct oc_type *o = oc_out(c, 0);
    struct axes a;
    unsigned dtype = oc_in_dtype(c, 0);
    if (!d || !o || !x->ranked || x->rank > 1 || read_axes(c, x, &a) || !a.known)
        return 0;
    if (x->rank == 0 || a.nothing) {
        if (r->has_fold)
            oc_set_data(c, 0, d->e, d->n);
        return 0;
    }
    if (!r->has_fold || d->n == 0 || (r->mean && oc_dtype_info(dtype)->kind != OC_KIND_FLOAT))
        return 0;
    struct oc_elem *e = oc_new_elems(c, 1);
    *e = d->e[0];
    for (uint32_t i = 1; i < d->n; i++)
        *e = oc_elem_op(c->exprs, r->fold, dtype, e, &d->e[i]);
    struct oc_elem count = oc_elem_real(d->n);
    if (r->mean)
        *e = oc_elem_op(c->exprs, OC_EL_DIV, dtype, e, &count);
    oc_set_data(c, 0, e, 1);
    return 0;
}

/* ---- cost --------------------------------------------------------------------------------------------- */

/* Without axes to reduce (noop_with_empty_axes) nothing is combined; the map and the finish are per element. */
static int reduce_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    const struct reduction *r = c->op->param;
    const struct oc_shape *x = oc_in_shape(c, 0);
    struct axes a = {.known = true};
    if (x->ranked && read_axes(c, x, &a))
        return -1;
    if (a.known && a.nothing) {
        oc_add_formula_value(c, "combined", 0);
        oc_add_formula_value(c, "results", r->finish_alone ? oc_c_in(c, 0) : 0);
        k->alias = !r->has_map && !r->finish_alone;
    }
    return 0;
}

static const char qlinear_mean_formula[] = "ADD:int = N(x); requantize = N(o)";

#define REDUCED "; combined := N(x) - [strict]*N(o); results := N(o)"
static const char l1_formula[] = "CMP = N(x); ADD = combined" REDUCED;
static const char l2_formula[] = "MUL = N(x); ADD = combined; SQRT = results" REDUCED;
static const char log_sum_formula[] = "ADD = combined; LOG = results" REDUCED;
static const char log_sum_exp_formula[] = "EXP = N(x); ADD = combined; LOG = results" REDUCED;
static const char max_formula[] = "CMP = combined" REDUCED;
static const char min_formula[] = "CMP = combined" REDUCED;
static const char mean_formula[] = "ADD = combined; DIV = results" REDUCED;
static const char prod_formula[] = "MUL = combined" REDUCED;
static const char sum_formula[] = "ADD = combined" REDUCED;
static const char sum_square_formula[] = "MUL = N(x); ADD = combined" REDUCED;

#define REDUCE(n, r)                                                                                         \
    .domain = "", .name = (n), .since = 1, .op_class = OC_OP_REDUCE, .slots = ".m", .shape = shape_reduce,   \
    .fold = fold_reduce, .param = &(r), OC_COST_TEXT_WITH(r##_formula, reduce_values)

static const struct oc_op reduce_rows[] = {
    {OC_OP_ROW("com.microsoft", "QLinearReduceMean", 1, REDUCE, ".q", shape_qlinear_mean),
     OC_COST_TEXT(qlinear_mean_formula)},
    {REDUCE("ReduceL1", l1), .flags = OC_F_FUNCTION | OC_F_COUNT_BY_TYPES},
    {REDUCE("ReduceL2", l2), .flags = OC_F_FUNCTION | OC_F_COUNT_BY_TYPES},
    {REDUCE("ReduceLogSum", log_sum), .flags = OC_F_FUNCTION | OC_F_COUNT_BY_TYPES},
    {REDUCE("ReduceLogSumExp", log_sum_exp), .flags = OC_F_FUNCTION | OC_F_COUNT_BY_TYPES},
    {REDUCE("ReduceMax", max), .flags = OC_F_COUNT_BY_TYPES},
    {REDUCE("ReduceMean", mean), .flags = OC_F_COUNT_BY_TYPES},
    {REDUCE("ReduceMin", min), .flags = OC_F_COUNT_BY_TYPES},
    {REDUCE("ReduceProd", prod), .flags = OC_F_COUNT_BY_TYPES},
    {REDUCE("ReduceSum", sum), .flags = OC_F_COUNT_BY_TYPES},
    {OC_OP_ROW("com.microsoft", "ReduceSumInteger", 1, REDUCE, NULL, shape_reduce_integer),
     OC_COST_TEXT_WITH(sum_formula, reduce_values), .param = &sum},
    {REDUCE("ReduceSumSquare", sum_square), .flags = OC_F_FUNCTION | OC_F_COUNT_BY_TYPES},
    {OC_OP_ROW("com.microsoft", "ReduceSumTraining", 1, REDUCE, ".m", shape_reduce), .fold = fold_reduce,
     OC_COST_TEXT_WITH(sum_formula, reduce_values), .param = &sum},
};
OC_FAMILY(reduce, reduce_rows);

/* ---- ArgMax, ArgMin ----------------------------------------------------------------------------------- */

static int shape_arg(struct oc_op_ctx *c)
{
    const struct oc_shape *x = oc_in_shape(c, 0);
    int64_t a = oc_attr_i(c, "axis", 0);
    bool keep = oc_attr_i(c, "keepdims", 1) != 0;
    struct oc_dim dim[OC_MAX_RANK];
    unsigned axis, n = 0;
    if (!x->ranked)
        return oc_out_unranked(c, OC_DT_INT64);
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
        unsigned axis;
        if (!oc_axis(a, x->rank, &axis))
            return oc_op_fail(c, "axis %lld is out of range for rank %u", (long long)a, x->rank);
        struct oc_dim size = x->dim[axis],
                      top =
                          k.kind == OC_E_INT ? k.i : oc_fresh_axis(c, axis, oc_dim_max_value(c->exprs, size));
        if (oc_is_known(top) && (top.v < 0 || (oc_is_known(size) && top.v > size.v)))
            return oc_op_fail(c, "k is %lld but the axis has %s elements", (long long)top.v,
                              oc_dim_text(c->exprs, size));
        out = oc_shape_with(c, x, axis, top);
    }
    oc_set_out(c, 0, oc_in_dtype(c, 0), out);
    oc_set_out(c, 1, OC_DT_INT64, out);
    return 0;
}

struct ranked {
    double v;
    uint32_t at;
};

OC_BY_TWO(search_by_value, struct ranked, v, at)

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

static const char topk_formula[] =
    "CMP = N(x)*max(clog2(k), 1); k := if([out0], out0[attr.axis|-1], out1[attr.axis|-1])";

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

static const char cdist_formula[] = "MAC = N(o)*d; SQRT = [metric:sqeuclidean == euclidean]*N(o); d := x[1]";

static const char arg_formula[] = "CMP = N(x) - [strict]*N(o)";

static const struct oc_op search_rows[] = {
    {OC_OP_ROW("", "ArgMax", 1, REDUCE, NULL, shape_arg), .fold = fold_arg, OC_COST_TEXT(arg_formula),
     .flags = OC_F_COUNT_BY_TYPES},
    {OC_OP_ROW("", "ArgMin", 1, REDUCE, NULL, shape_arg), .fold = fold_arg, OC_COST_TEXT(arg_formula),
     .flags = OC_F_COUNT_BY_TYPES},
    {OC_OP_ROW("com.microsoft", "CDist", 1, GEMM, NULL, shape_cdist), OC_COST_TEXT(cdist_formula)},
    {OC_OP_ROW("", "CumProd", 26, REDUCE, ".m", oc_shape_same), .prim = OC_MUL, .fold = fold_cumulate,
     OC_COST_THIS},
    {OC_OP_ROW("", "CumSum", 11, REDUCE, ".m", oc_shape_same), .prim = OC_ADD, .fold = fold_cumulate,
     OC_COST_THIS},
    {OC_OP_ROW("", "TopK", 1, SORT, ".m", shape_topk), .fold = fold_topk, OC_COST_TEXT(topk_formula)},
};
OC_FAMILY(search, search_rows);
