/* Evaluator of the formula language over dimensions: a result that the known sizes do not decide is a symbolic
 * expression, or a new unknown with the text of the expression and an upper bound. */
#include "lang/expr.h"

#include "base/diag.h"

struct oc_dim oc_expr_fresh(struct oc_dim_env *env, const struct oc_expr *e, int64_t max)
{
    struct oc_buf text = {.max = 4096};
    oc_expr_print(e, &text);
    const char *origin = text.data ? text.data : "?";
    struct oc_dim d = env->fresh ? env->fresh(env, origin, max) : oc_dim_fresh(env->exprs, origin, max);
    oc_buf_free(&text);
    return d;
}

static int dim_of_name(struct oc_dim_env *env, const struct oc_expr *e, struct oc_dim *out)
{
    size_t i = (size_t)e->number;
    if (!env->done[i] && oc_expr_dim(env, env->name[i].expr, &env->value[i]))
        return -1;
    env->done[i] = true;
    *out = env->value[i];
    return 0;
}

static int logarithm(struct oc_dim_env *env, const struct oc_expr *e, struct oc_dim *out)
{
    struct oc_dim a;
    if (oc_expr_dim(env, e->a, &a))
        return -1;
    int64_t max = oc_dim_max_value(env->exprs, a);
    if (oc_is_known(a))
        *out = oc_known(oc_clog2(a.v > 0 ? (uint64_t)a.v : 0));
    else
        *out = oc_expr_fresh(env, e, max < 0 ? 63 : (int64_t)oc_clog2((uint64_t)max));
    return 0;
}

typedef struct oc_dim operation(struct oc_exprs *, struct oc_dim, struct oc_dim);

static operation *const operations[] = {
    [OC_X_ADD] = oc_dim_add,      [OC_X_SUB] = oc_dim_sub,      [OC_X_MUL] = oc_dim_mul,
    [OC_X_DIV] = oc_dim_floordiv, [OC_X_CEIL] = oc_dim_ceildiv, [OC_X_MOD] = oc_dim_mod,
    [OC_X_MIN] = oc_dim_min,      [OC_X_MAX] = oc_dim_max,
};

static int dim_of_two(struct oc_dim_env *env, const struct oc_expr *e, struct oc_dim *out)
{
    struct oc_dim a, b;
    if (oc_expr_dim(env, e->a, &a) || oc_expr_dim(env, e->b, &b))
        return -1;
    bool divides = e->kind == OC_X_DIV || e->kind == OC_X_CEIL || e->kind == OC_X_MOD;
    if (divides && oc_is_known(b) && b.v <= 0)
        return oc_fail(env->err, OC_EFORMAT, "division by %lld", (long long)b.v);
    *out = operations[e->kind](env->exprs, a, b);
    return 0;
}

/* 1, 0, or -1 where the ranges do not decide. */
static int compare_less(struct oc_exprs *x, struct oc_dim a, struct oc_dim b)
{
    struct oc_dim d = oc_dim_sub(x, a, b);
    if (oc_is_known(d))
        return d.v < 0;
    int64_t max = oc_dim_max_value(x, a);
    if (oc_dim_min_value(x, d) >= 0)
        return 0;
    return max >= 0 && max < oc_dim_min_value(x, b) ? 1 : -1;
}

static int dims_equal(struct oc_exprs *x, struct oc_dim a, struct oc_dim b)
{
    struct oc_dim d = oc_dim_sub(x, a, b);
    if (oc_is_known(d))
        return d.v == 0;
    return compare_less(x, a, b) == 1 || compare_less(x, b, a) == 1 ? 0 : -1;
}

static int opposite(int answer)
{
    return answer < 0 ? answer : !answer;
}

static int dim_of_comparison(struct oc_dim_env *env, const struct oc_expr *e, struct oc_dim *out)
{
    struct oc_exprs *x = env->exprs;
    struct oc_dim a, b;
    if (oc_expr_dim(env, e->a, &a) || oc_expr_dim(env, e->b, &b))
        return -1;
    int answer = e->kind == OC_X_EQ   ? dims_equal(x, a, b)
                 : e->kind == OC_X_NE ? opposite(dims_equal(x, a, b))
                 : e->kind == OC_X_LT ? compare_less(x, a, b)
                 : e->kind == OC_X_GT ? compare_less(x, b, a)
                 : e->kind == OC_X_LE ? opposite(compare_less(x, b, a))
                                      : opposite(compare_less(x, a, b));
    *out = answer < 0 ? oc_expr_fresh(env, e, 1) : oc_known(answer);
    return 0;
}

static int dim_of_choice(struct oc_dim_env *env, const struct oc_expr *e, struct oc_dim *out)
{
    struct oc_dim when, b, c;
    if (oc_expr_dim(env, e->a, &when))
        return -1;
    if (oc_is_known(when))
        return oc_expr_dim(env, when.v ? e->b : e->c, out);
    if (oc_expr_dim(env, e->b, &b) || oc_expr_dim(env, e->c, &c))
        return -1;
    int64_t max_b = oc_dim_max_value(env->exprs, b), max_c = oc_dim_max_value(env->exprs, c);
    int64_t max = max_b < 0 || max_c < 0 ? -1 : max_b > max_c ? max_b : max_c;
    *out = oc_same_dim(b, c) ? b : oc_expr_fresh(env, e, max);
    return 0;
}

static int negative(struct oc_dim_env *env, const struct oc_expr *e, struct oc_dim *out)
{
    struct oc_dim a;
    if (oc_expr_dim(env, e->a, &a))
        return -1;
    *out = oc_dim_sub(env->exprs, oc_known(0), a);
    return 0;
}

int oc_expr_dim(struct oc_dim_env *env, const struct oc_expr *e, struct oc_dim *out)
{
    *out = oc_known(0);
    switch (e->kind) {
    case OC_X_NUMBER:
        *out = oc_known(e->number);
        return 0;
    case OC_X_NAME:
        return dim_of_name(env, e, out);
    case OC_X_NEG:
        return negative(env, e, out);
    case OC_X_CLOG2:
        return logarithm(env, e, out);
    case OC_X_IF:
        return dim_of_choice(env, e, out);
    default:
        return e->kind >= OC_X_EQ    ? dim_of_comparison(env, e, out)
               : e->kind >= OC_X_ADD ? dim_of_two(env, e, out)
                                     : env->leaf(env, e, out);
    }
}
