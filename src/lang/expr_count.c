/* Evaluator of the formula language in checked 64-bit integers, for counts. A result that cannot be had sets `unknown`,
 * one that is too large `overflow`; the number is then of no use. */
#include "lang/expr.h"

#include "base/ck.h"

static uint64_t mark_unknown(struct oc_count_env *env)
{
    env->unknown = true;
    return 0;
}

static uint64_t mark_overflow(struct oc_count_env *env)
{
    env->overflow = true;
    return 0;
}

unsigned oc_clog2(uint64_t n)
{
    unsigned k = 0;
    while (k < 63 && (UINT64_C(1) << k) < n)
        k++;
    return k;
}

static uint64_t count_name(struct oc_count_env *env, size_t i)
{
    const struct oc_expr_name *name = &env->name[i];
    if (env->state[i] == OC_COUNT_OPEN && env->given(env, name->name, &env->value[i])) {
        env->state[i] = OC_COUNT_GIVEN;
    } else if (env->state[i] == OC_COUNT_OPEN) {
        bool before = env->unknown;
        env->unknown = !name->expr;
        env->value[i] = name->expr ? oc_expr_count(env, name->expr) : 0;
        env->state[i] = env->unknown || env->overflow ? OC_COUNT_UNKNOWN : OC_COUNT_DEFINED;
        env->unknown |= before;
    }
    env->unknown |= env->state[i] == OC_COUNT_UNKNOWN;
    return env->value[i];
}

static uint64_t count_product(struct oc_count_env *env, const struct oc_expr *e)
{
    uint64_t a = oc_expr_count(env, e->a), v = 0;
    if (!a && !env->unknown && !env->overflow)
        return 0;
    return oc_mul_u64(a, oc_expr_count(env, e->b), &v) ? v : mark_overflow(env);
}

static uint64_t count_two(struct oc_count_env *env, const struct oc_expr *e)
{
    uint64_t a = oc_expr_count(env, e->a), b = oc_expr_count(env, e->b), v = 0;
    switch (e->kind) {
    case OC_X_ADD:
        return oc_add_u64(a, b, &v) ? v : mark_overflow(env);
    case OC_X_SUB:
        return a >= b ? a - b : mark_unknown(env);
    case OC_X_DIV:
        return b ? a / b : mark_unknown(env);
    case OC_X_CEIL:
        return b ? a / b + (a % b ? 1 : 0) : mark_unknown(env);
    case OC_X_MOD:
        return b ? a % b : mark_unknown(env);
    case OC_X_MIN:
        return a < b ? a : b;
    case OC_X_MAX:
        return a > b ? a : b;
    case OC_X_EQ:
        return a == b;
    case OC_X_NE:
        return a != b;
    case OC_X_LT:
        return a < b;
    case OC_X_LE:
        return a <= b;
    case OC_X_GT:
        return a > b;
    default: /* OC_X_GE */
        return a >= b;
    }
}

uint64_t oc_expr_count(struct oc_count_env *env, const struct oc_expr *e)
{
    switch (e->kind) {
    case OC_X_NUMBER:
        return e->number >= 0 ? (uint64_t)e->number : mark_unknown(env);
    case OC_X_NAME:
        return count_name(env, (size_t)e->number);
    case OC_X_MUL:
        return count_product(env, e);
    case OC_X_NEG:
        return oc_expr_count(env, e->a) ? mark_unknown(env) : 0;
    case OC_X_CLOG2:
        return oc_clog2(oc_expr_count(env, e->a));
    case OC_X_IF:
        return oc_expr_count(env, oc_expr_count(env, e->a) ? e->b : e->c);
    default:
        return e->kind < OC_X_ADD ? env->leaf(env, e) : count_two(env, e);
    }
}
