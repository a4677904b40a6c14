/* Arithmetic on small values, for fold rules. */
#include "ops/shared_rules.h"
#include "base/ck.h"

#include <math.h>
#include <string.h>

static struct oc_elem unknown_elem(void)
{
    return (struct oc_elem){.kind = OC_E_UNKNOWN};
}

static struct oc_elem elem_integer(struct oc_dim d)
{
    return (struct oc_elem){.kind = OC_E_INT, .i = d};
}

static bool elem_is_float(unsigned dtype)
{
    return oc_dtype_info(dtype)->kind == OC_KIND_FLOAT;
}

static struct oc_elem elem_real(unsigned dtype, double v)
{
    return (struct oc_elem){.kind = OC_E_REAL, .r = dtype == OC_DT_DOUBLE ? v : (double)(float)v};
}

/* a*r + add; a plain real when the integer is known. */
static struct oc_elem elem_ratio(unsigned dtype, struct oc_dim i, double r, double add)
{
    if (oc_is_known(i) || r == 0)
        return elem_real(dtype, oc_is_known(i) ? (double)i.v * r + add : add);
    return (struct oc_elem){.kind = OC_E_RATIO, .i = i, .r = r, .add = add};
}

/* Converts any numeric element to i*r + add. */
struct linear {
    struct oc_dim i;
    double r, add;
};

static bool as_linear(const struct oc_elem *e, struct linear *l)
{
    if (e->kind == OC_E_REAL)
        *l = (struct linear){.i = oc_known(0), .r = 0, .add = e->r};
    else if (e->kind == OC_E_INT && oc_is_known(e->i))
        *l = (struct linear){.i = oc_known(0), .r = 0, .add = (double)e->i.v};
    else if (e->kind == OC_E_INT)
        *l = (struct linear){.i = e->i, .r = 1, .add = 0};
    else if (e->kind == OC_E_RATIO)
        *l = (struct linear){.i = e->i, .r = e->r, .add = e->add};
    else
        return false;
    return true;
}

bool oc_elem_same(const struct oc_elem *a, const struct oc_elem *b)
{
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case OC_E_INT:
        return oc_same_dim(a->i, b->i);
    case OC_E_REAL:
        return a->r == b->r;
    case OC_E_RATIO:
        return oc_same_dim(a->i, b->i) && a->r == b->r && a->add == b->add;
    case OC_E_STRING:
        return a->str && b->str && strcmp(a->str, b->str) == 0;
    default:
        return false;
    }
}

/* ---- integers ----------------------------------------------------------------------------------------- */

static struct oc_elem checked(bool ok, const int64_t *v)
{
    return ok ? elem_integer(oc_known(*v)) : unknown_elem();
}

static struct oc_elem int_pow(int64_t a, int64_t b)
{
    if (b < 0 || b > 63)
        return a == 1 || (b > 63 && a == 0) ? elem_integer(oc_known(a)) : unknown_elem();
    int64_t r = 1;
    for (int64_t i = 0; i < b; i++)
        if (!oc_mul_i64(r, a, &r))
            return unknown_elem();
    return elem_integer(oc_known(r));
}

static struct oc_elem known_ints(unsigned op, int64_t a, int64_t b)
{
    int64_t r = 0;
    bool divides = b != 0 && !(a == INT64_MIN && b == -1);
    switch (op) {
    case OC_EL_ADD:
        return checked(oc_add_i64(a, b, &r), &r);
    case OC_EL_SUB:
        return checked(oc_sub_i64(a, b, &r), &r);
    case OC_EL_MUL:
        return checked(oc_mul_i64(a, b, &r), &r);
    case OC_EL_DIV:
        r = divides ? a / b : 0;
        return checked(divides, &r);
    case OC_EL_FMOD:
        r = divides ? a % b : 0;
        return checked(divides, &r);
    case OC_EL_MOD:
        r = divides ? a % b : 0;
        r += r != 0 && (r < 0) != (b < 0) ? b : 0;
        return checked(divides, &r);
    case OC_EL_POW:
        return int_pow(a, b);
    case OC_EL_MIN:
        return elem_integer(oc_known(a < b ? a : b));
    case OC_EL_MAX:
        return elem_integer(oc_known(a > b ? a : b));
    default:
        return unknown_elem();
    }
}

static struct oc_elem expr_ints(struct oc_exprs *x, unsigned op, struct oc_dim a, struct oc_dim b)
{
    bool natural = oc_dim_min_value(x, a) >= 0 && oc_dim_min_value(x, b) >= 1;
    switch (op) {
    case OC_EL_ADD:
        return elem_integer(oc_dim_add(x, a, b));
    case OC_EL_SUB:
        return elem_integer(oc_dim_sub(x, a, b));
    case OC_EL_MUL:
        return elem_integer(oc_dim_mul(x, a, b));
    case OC_EL_DIV: {
        struct oc_dim q;
        if (!oc_is(b, 0) && oc_dim_divides(x, a, b, &q))
            return elem_integer(q);
        return natural ? elem_integer(oc_dim_floordiv(x, a, b)) : unknown_elem();
    }
    case OC_EL_MOD:
    case OC_EL_FMOD:
        return natural ? elem_integer(oc_dim_mod(x, a, b)) : unknown_elem();
    case OC_EL_MIN:
        return elem_integer(oc_dim_min(x, a, b));
    case OC_EL_MAX:
        return elem_integer(oc_dim_max(x, a, b));
    default:
        return unknown_elem();
    }
}

/* ---- reals -------------------------------------------------------------------------------------------- */

static struct oc_elem elem_known_reals(unsigned op, unsigned dtype, double a, double b)
{
    double m;
    switch (op) {
    case OC_EL_ADD:
        return elem_real(dtype, a + b);
    case OC_EL_SUB:
        return elem_real(dtype, a - b);
    case OC_EL_MUL:
        return elem_real(dtype, a * b);
    case OC_EL_DIV:
        return b == 0 ? unknown_elem() : elem_real(dtype, a / b);
    case OC_EL_FMOD:
        return b == 0 ? unknown_elem() : elem_real(dtype, fmod(a, b));
    case OC_EL_MOD:
        m = b == 0 ? 0 : fmod(a, b);
        return b == 0 ? unknown_elem() : elem_real(dtype, m != 0 && (m < 0) != (b < 0) ? m + b : m);
    case OC_EL_POW:
        return elem_real(dtype, pow(a, b));
    case OC_EL_MIN:
        return elem_real(dtype, a < b ? a : b);
    case OC_EL_MAX:
        return elem_real(dtype, a > b ? a : b);
    default:
        return unknown_elem();
    }
}

/* Sum of two linear forms, with factor s for the second. */
static struct oc_elem linear_sum(struct oc_exprs *x, unsigned dtype, const struct linear *a,
                                 const struct linear *b, double s)
{
    double add = a->add + s * b->add;
    if (b->r == 0)
        return elem_ratio(dtype, a->i, a->r, add);
    if (a->r == 0)
        return elem_ratio(dtype, b->i, s * b->r, add);
    if (oc_same_dim(a->i, b->i))
        return elem_ratio(dtype, a->i, a->r + s * b->r, add);
    if (a->r == b->r)
        return elem_ratio(dtype, s > 0 ? oc_dim_add(x, a->i, b->i) : oc_dim_sub(x, a->i, b->i), a->r, add);
    return unknown_elem();
}

static struct oc_elem linear_reals(struct oc_exprs *x, unsigned op, unsigned dtype, const struct linear *a,
                                   const struct linear *b)
{
    switch (op) {
    case OC_EL_ADD:
        return linear_sum(x, dtype, a, b, 1);
    case OC_EL_SUB:
        return linear_sum(x, dtype, a, b, -1);
    case OC_EL_MUL:
        if (b->r == 0)
            return elem_ratio(dtype, a->i, a->r * b->add, a->add * b->add);
        if (a->r == 0)
            return elem_ratio(dtype, b->i, b->r * a->add, b->add * a->add);
        if (a->add == 0 && b->add == 0)
            return elem_ratio(dtype, oc_dim_mul(x, a->i, b->i), a->r * b->r, 0);
        return unknown_elem();
    case OC_EL_DIV:
        if (b->r == 0 && b->add != 0)
            return elem_ratio(dtype, a->i, a->r / b->add, a->add / b->add);
        /* (i*r)/(i*s) = r/s where i cannot be 0 */
        if (b->r != 0 && a->r != 0 && a->add == 0 && b->add == 0 && oc_same_dim(a->i, b->i) &&
            oc_dim_min_value(x, a->i) > 0)
            return elem_real(dtype, a->r / b->r);
        return unknown_elem();
    default:
        return unknown_elem();
    }
}

/* ---- comparisons -------------------------------------------------------------------------------------- */

/* Possible orderings of two elements: a set. */
enum { BELOW = 1, SAME = 2, ABOVE = 4, ANY = 7 };

static unsigned sign_of(double d)
{
    return d < 0 ? BELOW : d > 0 ? ABOVE : SAME;
}

static unsigned order_ints(struct oc_exprs *x, struct oc_dim a, struct oc_dim b)
{
    if (oc_same_dim(a, b))
        return SAME;
    if (oc_is_known(a) && oc_is_known(b))
        return a.v < b.v ? BELOW : ABOVE;
    struct oc_dim d = oc_dim_sub(x, a, b);
    if (oc_is_known(d))
        return sign_of((double)d.v);
    unsigned can = ANY;
    int64_t min_a = oc_dim_min_value(x, a), max_a = oc_dim_max_value(x, a);
    int64_t min_b = oc_dim_min_value(x, b), max_b = oc_dim_max_value(x, b);
    if (oc_is_known(b) || max_b >= 0) /* -1 means that there is no bound */
        can &= min_a > max_b ? ABOVE : min_a == max_b ? SAME | ABOVE : ANY;
    if (oc_is_known(a) || max_a >= 0)
        can &= max_a < min_b ? BELOW : max_a == min_b ? BELOW | SAME : ANY;
    int64_t min_d = oc_dim_min_value(x, d);
    return min_d > 0 ? can & ABOVE : min_d == 0 ? can & (SAME | ABOVE) : can;
}

static unsigned elem_order(struct oc_exprs *x, const struct oc_elem *a, const struct oc_elem *b)
{
    struct linear l, m;
    if (a->kind == OC_E_INT && b->kind == OC_E_INT)
        return order_ints(x, a->i, b->i);
    if (a->kind == OC_E_STRING && b->kind == OC_E_STRING)
        return oc_elem_same(a, b) ? SAME : BELOW | ABOVE;
    if (!as_linear(a, &l) || !as_linear(b, &m) || isnan(l.add) || isnan(m.add))
        return ANY;
    if ((l.r == 0 && m.r == 0) || (l.r == m.r && oc_same_dim(l.i, m.i)))
        return sign_of(l.add - m.add);
    return ANY;
}

static struct oc_elem elem_compare(struct oc_exprs *x, unsigned op, const struct oc_elem *a,
                                   const struct oc_elem *b)
{
    unsigned can = elem_order(x, a, b);
    unsigned yes = op == OC_EL_EQ   ? SAME
                   : op == OC_EL_LT ? BELOW
                   : op == OC_EL_LE ? BELOW | SAME
                   : op == OC_EL_GT ? ABOVE
                                    : ABOVE | SAME;
    if ((can & yes) && (can & ~yes))
        return unknown_elem();
    return elem_integer(oc_known((can & yes) != 0));
}

/* One known operand may decide: false AND ?, true OR ?. */
static struct oc_elem logic(unsigned op, const struct oc_elem *a, const struct oc_elem *b)
{
    bool ka = a->kind == OC_E_INT && oc_is_known(a->i), kb = b->kind == OC_E_INT && oc_is_known(b->i);
    bool va = ka && a->i.v != 0, vb = kb && b->i.v != 0;
    if (op == OC_EL_AND && ((ka && !va) || (kb && !vb)))
        return elem_integer(oc_known(0));
    if (op == OC_EL_OR && (va || vb))
        return elem_integer(oc_known(1));
    if (!ka || !kb)
        return unknown_elem();
    return elem_integer(oc_known(op == OC_EL_AND ? va && vb : op == OC_EL_OR ? va || vb : va != vb));
}

struct oc_elem oc_elem_op(struct oc_exprs *x, unsigned op, unsigned dtype, const struct oc_elem *a,
                          const struct oc_elem *b)
{
    if (op >= OC_EL_AND)
        return logic(op, a, b);
    if (op >= OC_EL_EQ)
        return elem_compare(x, op, a, b);
    if (!elem_is_float(dtype)) {
        if (a->kind != OC_E_INT || b->kind != OC_E_INT)
            return unknown_elem();
        bool known = oc_is_known(a->i) && oc_is_known(b->i);
        return known ? known_ints(op, a->i.v, b->i.v) : expr_ints(x, op, a->i, b->i);
    }
    struct linear l, m;
    if (!as_linear(a, &l) || !as_linear(b, &m))
        return unknown_elem();
    if (l.r == 0 && m.r == 0)
        return elem_known_reals(op, dtype, l.add, m.add);
    if (op == OC_EL_MIN || op == OC_EL_MAX) {
        unsigned can = elem_order(x, a, b);
        bool not_above = !(can & ABOVE), not_below = !(can & BELOW);
        if (!not_above && !not_below)
            return unknown_elem();
        return not_above == (op == OC_EL_MIN) ? *a : *b;
    }
    return linear_reals(x, op, dtype, &l, &m);
}

/* ---- functions of one element ------------------------------------------------------------------------- */

#define MAX_DENOMINATOR 4096

/* r = p/q exactly (within double precision), add*q an integer. */
static bool rational(double r, double add, int64_t *p, int64_t *q, int64_t *add_q)
{
    for (int64_t d = 1; d <= MAX_DENOMINATOR; d++) {
        double n = r * (double)d, s = add * (double)d;
        if (fabs(n) < 1e15 && fabs(s) < 1e15 && n == floor(n) && s == floor(s) && n / (double)d == r) {
            *p = (int64_t)n;
            *q = d;
            *add_q = (int64_t)s;
            return true;
        }
    }
    return false;
}

static struct oc_elem round_ratio(struct oc_exprs *x, unsigned fn, unsigned dtype, const struct oc_elem *a)
{
    int64_t p, q, s;
    if (!rational(a->r, a->add, &p, &q, &s))
        return unknown_elem();
    struct oc_dim n = oc_dim_add(x, oc_dim_mul(x, a->i, oc_known(p)), oc_known(s));
    if (q == 1)
        return elem_ratio(dtype, n, 1, 0);
    if (fn == OC_EL_FLOOR)
        return elem_ratio(dtype, oc_dim_floordiv(x, n, oc_known(q)), 1, 0);
    return fn == OC_EL_CEIL ? elem_ratio(dtype, oc_dim_ceildiv(x, n, oc_known(q)), 1, 0) : unknown_elem();
}

static double real_fn(unsigned fn, double v)
{
    switch (fn) {
    case OC_EL_NEG:
        return -v;
    case OC_EL_ABS:
        return fabs(v);
    case OC_EL_FLOOR:
        return floor(v);
    case OC_EL_CEIL:
        return ceil(v);
    case OC_EL_ROUND:
        return rint(v); /* half to even in the default rounding mode, as ONNX requires */
    case OC_EL_SQRT:
        return sqrt(v);
    case OC_EL_RECIPROCAL:
        return v == 0 ? NAN : 1 / v;
    case OC_EL_EXP:
        return exp(v);
    default:
        return v > 0 ? log(v) : NAN;
    }
}

static struct oc_elem int_fn(struct oc_exprs *x, unsigned fn, struct oc_dim d)
{
    if (fn == OC_EL_NOT)
        return oc_is_known(d) ? elem_integer(oc_known(d.v == 0)) : unknown_elem();
    bool negative = oc_is_known(d) && d.v < 0;
    if (fn == OC_EL_NEG || (fn == OC_EL_ABS && negative))
        return oc_is(d, INT64_MIN) ? unknown_elem() : elem_integer(oc_dim_sub(x, oc_known(0), d));
    return fn == OC_EL_ABS && oc_dim_min_value(x, d) >= 0 ? elem_integer(d) : unknown_elem();
}

struct oc_elem oc_elem_fn(struct oc_exprs *x, unsigned fn, unsigned dtype, const struct oc_elem *a)
{
    if (!elem_is_float(dtype))
        return a->kind == OC_E_INT ? int_fn(x, fn, a->i) : unknown_elem();
    struct linear l;
    if (!as_linear(a, &l))
        return unknown_elem();
    if (l.r == 0) {
        double v = real_fn(fn, l.add);
        return isnan(v) ? unknown_elem() : elem_real(dtype, v);
    }
    struct oc_elem e = {.kind = OC_E_RATIO, .i = l.i, .r = l.r, .add = l.add};
    if (fn == OC_EL_NEG)
        return elem_ratio(dtype, l.i, -l.r, -l.add);
    if (fn == OC_EL_ABS)
        return l.r > 0 && l.add >= 0 && oc_dim_min_value(x, l.i) >= 0 ? e : unknown_elem();
    return fn == OC_EL_FLOOR || fn == OC_EL_CEIL || fn == OC_EL_ROUND ? round_ratio(x, fn, dtype, &e)
                                                                      : unknown_elem();
}
