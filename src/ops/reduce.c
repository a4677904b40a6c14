/* Reductions over axes. cost-semantics 4.7, shape-inference 4.5. */
#include "ops/elem.h"
#include "ops/op.h"
#include "ops/shared_rules.h"

#include <string.h>

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

static int reduce_cost_reduce(struct oc_op_ctx *c, struct oc_cost *k)
{
    const struct reduction *r = c->op->param;
    const struct oc_shape *x = oc_in_shape(c, 0);
    uint64_t n = oc_c_in(c, 0), results = oc_c_out(c, 0);
    struct axes a = {.known = true};
    if (x->ranked && read_axes(c, x, &a))
        return -1;
    if (r->has_map)
        oc_add(c, k, (enum oc_prim)r->map, n);
    if (a.known && a.nothing) {
        oc_add_formula_value(c, "combined", 0);
        oc_add_formula_value(c, "results", r->finish_alone ? n : 0);
        k->alias = !r->has_map && !r->finish_alone;
        if (r->finish_alone)
            oc_add(c, k, (enum oc_prim)r->finish, n);
        return 0;
    }
    oc_add(c, k, (enum oc_prim)r->combine, c->opt.strict_reduce && n >= results ? n - results : n);
    if (r->has_finish)
        oc_add(c, k, (enum oc_prim)r->finish, results);
    return 0;
}

static int cost_qlinear_mean(struct oc_op_ctx *c, struct oc_cost *k)
{
    oc_add_int(c, k, OC_ADD, oc_c_in(c, 0));
    oc_add_prims(c, k, oc_prims_requantize, oc_c_out(c, 0));
    return 0;
}
static const char cost_qlinear_mean_formula[] = "ADD = N(x); requantize = N(o)";

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
    .fold = fold_reduce, .cost = reduce_cost_reduce, .param = &(r), .formula = r##_formula

static const struct oc_op rows[] = {
    {OC_OP_ROW("com.microsoft", "QLinearReduceMean", 1, REDUCE, ".q", shape_qlinear_mean),
     OC_COST(cost_qlinear_mean)},
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
     .cost = reduce_cost_reduce, .formula = sum_formula, .param = &sum},
    {REDUCE("ReduceSumSquare", sum_square), .flags = OC_F_FUNCTION | OC_F_COUNT_BY_TYPES},
    {OC_OP_ROW("com.microsoft", "ReduceSumTraining", 1, REDUCE, ".m", shape_reduce), .fold = fold_reduce,
     .cost = reduce_cost_reduce, .formula = sum_formula, .param = &sum},
};
OC_FAMILY(reduce, rows);
