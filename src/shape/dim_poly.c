/* Polynomials over atoms: normal form, ranges, and equations over the named unknowns. */
#include "shape/dim_poly.h"

#include <string.h>

#include "base/ck.h"

/* ---- normal form -------------------------------------------------------------------------------------- */

/* > 0: a sorts before b (higher degree, then smaller atoms) */
static int dim_poly_order(const struct term *a, const struct term *b)
{
    if (a->degree != b->degree)
        return a->degree > b->degree ? 1 : -1;
    for (uint32_t i = 0; i < a->degree; i++)
        if (a->atom[i] != b->atom[i])
            return a->atom[i] < b->atom[i] ? 1 : -1;
    return 0;
}

static bool dim_poly_push(struct poly *p, const struct term *t, int64_t coef)
{
    if (coef == 0)
        return true;
    if (p->n == OC_MAX_TERMS || coef == INT64_MIN)
        return false;
    p->t[p->n] = *t;
    p->t[p->n++].coef = coef;
    return true;
}

bool oc_poly_add(const struct poly *a, const struct poly *b, int64_t factor, struct poly *out)
{
    struct poly sum = {0};
    uint32_t i = 0, j = 0;
    while (i < a->n || j < b->n) {
        int o = i == a->n ? -1 : j == b->n ? 1 : dim_poly_order(&a->t[i], &b->t[j]);
        int64_t coef = 0;
        if (o <= 0 && !oc_mul_i64(b->t[j].coef, factor, &coef))
            return false;
        if (o >= 0 && !oc_add_i64(coef, a->t[i].coef, &coef))
            return false;
        if (!dim_poly_push(&sum, o >= 0 ? &a->t[i] : &b->t[j], coef))
            return false;
        i += o >= 0;
        j += o <= 0;
    }
    *out = sum;
    return true;
}

static bool term_mul(const struct term *a, const struct term *b, struct term *out)
{
    struct term t = {.degree = a->degree + b->degree};
    if (t.degree > OC_MAX_DEGREE || !oc_mul_i64(a->coef, b->coef, &t.coef))
        return false;
    uint32_t i = 0, j = 0;
    for (uint32_t k = 0; k < t.degree; k++)
        t.atom[k] =
            j == b->degree || (i < a->degree && a->atom[i] <= b->atom[j]) ? a->atom[i++] : b->atom[j++];
    *out = t;
    return true;
}

static bool mul_term(const struct poly *a, const struct term *t, struct poly *out)
{
    struct poly p = {.n = a->n};
    for (uint32_t i = 0; i < a->n; i++) /* multiplying by one term preserves the order */
        if (!term_mul(&a->t[i], t, &p.t[i]))
            return false;
    *out = p;
    return true;
}

bool oc_poly_mul(const struct poly *a, const struct poly *b, struct poly *out)
{
    struct poly sum = {0}, part;
    for (uint32_t i = 0; i < b->n; i++)
        if (!mul_term(a, &b->t[i], &part) || !oc_poly_add(&sum, &part, 1, &sum))
            return false;
    *out = sum;
    return true;
}

static bool term_div(const struct term *a, const struct term *b, struct term *out)
{
    if (a->degree < b->degree || a->coef % b->coef != 0)
        return false;
    struct term t = {.coef = a->coef / b->coef};
    uint32_t j = 0;
    for (uint32_t i = 0; i < a->degree; i++) {
        if (j < b->degree && a->atom[i] == b->atom[j])
            j++;
        else if (t.degree < a->degree - b->degree)
            t.atom[t.degree++] = a->atom[i];
        else
            return false;
    }
    *out = t;
    return j == b->degree;
}

bool oc_poly_exact(const struct poly *a, const struct poly *b, struct poly *quotient)
{
    struct poly rest = *a, q = {0}, part;
    struct term t;
    if (b->n == 0)
        return false;
    for (unsigned round = 0; rest.n; round++) {
        if (round == 2 * OC_MAX_TERMS || !term_div(&rest.t[0], &b->t[0], &t) ||
            !dim_poly_push(&q, &t, t.coef))
            return false;
        if (!mul_term(b, &t, &part) || !oc_poly_add(&rest, &part, -1, &rest))
            return false;
    }
    *quotient = q;
    return true;
}

/* ---- ranges ----------------------------------------------------------------------------------------- */

static int64_t add_end(int64_t a, int64_t b, int64_t infinite)
{
    int64_t v;
    if (a == infinite || b == infinite)
        return infinite;
    return oc_add_i64(a, b, &v) ? v : infinite;
}

struct range oc_range_add(struct range a, struct range b)
{
    return (struct range){add_end(a.lo, b.lo, INT64_MIN), add_end(a.hi, b.hi, INT64_MAX)};
}

static int64_t mul_end(int64_t a, int64_t b)
{
    int64_t v;
    if (a == 0 || b == 0)
        return 0;
    bool infinite = a == INT64_MIN || a == INT64_MAX || b == INT64_MIN || b == INT64_MAX;
    if (infinite || !oc_mul_i64(a, b, &v))
        return (a < 0) == (b < 0) ? INT64_MAX : INT64_MIN;
    return v;
}

struct range oc_range_mul(struct range a, struct range b)
{
    int64_t end[4] = {mul_end(a.lo, b.lo), mul_end(a.lo, b.hi), mul_end(a.hi, b.lo), mul_end(a.hi, b.hi)};
    struct range r = {end[0], end[0]};
    for (unsigned i = 1; i < 4; i++) {
        r.lo = end[i] < r.lo ? end[i] : r.lo;
        r.hi = end[i] > r.hi ? end[i] : r.hi;
    }
    return r;
}

struct range oc_poly_range(const struct oc_exprs *x, const struct term *t, uint32_t n)
{
    struct range sum = {0, 0};
    for (uint32_t i = 0; i < n; i++) {
        struct range r = {t[i].coef, t[i].coef};
        for (uint32_t k = 0; k < t[i].degree; k++)
            r = oc_range_mul(r, x->atom[t[i].atom[k]].range);
        sum = oc_range_add(sum, r);
    }
    return sum;
}

/* ---- equations ---------------------------------------------------------------------------------------- */

/* Interval narrowing by bisection, see dim.h. */

enum {
    MAX_PASSES = 64,
    MAX_DEPTH = 256, /* of nested quotients */
};
#define MAX_SIZE ((int64_t)1 << 31)

struct unknown {
    int64_t lo, hi; /* the values that fit; one: it is known */
    bool narrowed, chosen;
};

struct equation {
    struct oc_dim d;
    int64_t v;
    bool done;
};

struct memo {
    uint32_t stamp;
    bool ok, chosen;
    int64_t v;
};

struct oc_solver {
    const struct oc_exprs *x;
    struct oc_arena *arena;
    struct unknown *unknown; /* by atom */
    struct memo *memo;       /* by atom: of the evaluation `stamp` */
    uint32_t stamp;
    uint32_t open[2]; /* atoms without a value that the last evaluation met; a second one ends it */
    unsigned n_open;
    uint32_t tried; /* an unknown that has the value `trial`, OC_NONE */
    int64_t trial;
    struct equation *eq;
    uint32_t n, cap;
};

struct oc_solver *oc_solver_new(const struct oc_exprs *x, struct oc_arena *a)
{
    struct oc_solver *s = OC_NEW(a, struct oc_solver);
    size_t n = (size_t)x->n_atom + 1;
    *s = (struct oc_solver){.x = x, .arena = a, .tried = OC_NONE};
    s->unknown = OC_NEW_ARRAY(a, n, struct unknown);
    s->memo = OC_NEW_ARRAY(a, n, struct memo);
    for (uint32_t i = 0; i < x->n_atom; i++)
        s->unknown[i].hi = MAX_SIZE;
    return s;
}

void oc_solver_add(struct oc_solver *s, struct oc_dim d, int64_t v)
{
    if (oc_is_known(d) || d.expr >= OC_MAX_EXPRS || v == INT64_MAX || v == INT64_MIN)
        return;
    if (s->n == s->cap) {
        uint32_t cap = s->cap ? 2 * s->cap : 64;
        struct equation *more = OC_NEW_ARRAY(s->arena, cap, struct equation);
        for (uint32_t i = 0; i < s->n; i++)
            more[i] = s->eq[i];
        s->eq = more;
        s->cap = cap;
    }
    s->eq[s->n++] = (struct equation){.d = d, .v = v};
}

/* ---- evaluation ------------------------------------------------------------------------------------- */

static bool eval(struct oc_solver *s, struct oc_dim d, unsigned depth, struct memo *out);

static bool eval_named(struct oc_solver *s, uint32_t atom, struct memo *out)
{
    const struct unknown *u = &s->unknown[atom];
    if (atom == s->tried)
        out->v = s->trial;
    else if (u->lo == u->hi) {
        out->v = u->lo;
        out->chosen = u->chosen;
    } else {
        if (s->n_open < OC_COUNT(s->open))
            s->open[s->n_open++] = atom;
        return false;
    }
    return true;
}

static bool combine_values(unsigned kind, int64_t a, int64_t b, int64_t *v)
{
    switch (kind) {
    case ATOM_FLOOR:
    case ATOM_CEIL:
    case ATOM_MOD:
        if (b <= 0 || a == INT64_MIN)
            return false;
        *v = kind == ATOM_CEIL ? oc_ceil_div(a, b) : oc_floor_div(a, b);
        *v = kind == ATOM_MOD ? a - *v * b : *v;
        return true;
    case ATOM_MIN:
        *v = a < b ? a : b;
        return true;
    case ATOM_MAX:
        *v = a > b ? a : b;
        return true;
    default:
        return kind == ATOM_SUM ? oc_add_i64(a, b, v) : oc_mul_i64(a, b, v);
    }
}

/* Both operands are visited, so that `open` has all unknowns of a small expression. */
static bool eval_atom(struct oc_solver *s, uint32_t id, unsigned depth, struct memo *out)
{
    const struct atom *t = &s->x->atom[id];
    struct memo *m = &s->memo[id], a = {0}, b = {0};
    if (m->stamp != s->stamp) {
        *m = (struct memo){.stamp = s->stamp};
        if (t->kind == ATOM_NAMED) {
            m->ok = eval_named(s, id, m);
        } else {
            bool left = eval(s, t->a, depth + 1, &a), right = s->n_open < 2 && eval(s, t->b, depth + 1, &b);
            m->ok = left && right && combine_values(t->kind, a.v, b.v, &m->v);
            m->chosen = a.chosen || b.chosen;
        }
    }
    out->v = m->v;
    out->chosen |= m->chosen;
    return m->ok;
}

static bool eval(struct oc_solver *s, struct oc_dim d, unsigned depth, struct memo *out)
{
    int64_t sum = d.v, product;
    bool ok = true;
    if (oc_is_known(d)) {
        out->v = sum;
        return true;
    }
    if (d.expr >= OC_MAX_EXPRS || depth > MAX_DEPTH)
        return false;
    const struct expr *e = &s->x->expr[d.expr];
    sum = 0;
    for (uint32_t i = 0; i < e->n && s->n_open < 2; i++) {
        product = e->t[i].coef;
        for (uint32_t k = 0; k < e->t[i].degree; k++) {
            struct memo m = {0};
            ok &= eval_atom(s, e->t[i].atom[k], depth, &m) && oc_mul_i64(product, m.v, &product);
            out->chosen |= m.chosen;
        }
        ok = ok && oc_add_i64(sum, product, &sum);
    }
    out->v = sum;
    return ok;
}

static bool eval_now(struct oc_solver *s, struct oc_dim d, struct memo *out)
{
    s->stamp++;
    s->n_open = 0;
    *out = (struct memo){0};
    return eval(s, d, 0, out);
}

/* ---- one unknown ------------------------------------------------------------------------------------ */

/* sign x the left side of the equation where the unknown is `trial`; INT64_MAX if it overflows. */
static int64_t value_at_trial(struct oc_solver *s, const struct equation *q, int64_t trial, int sign)
{
    struct memo m;
    s->trial = trial;
    return !eval_now(s, q->d, &m) || m.v == INT64_MIN ? INT64_MAX : sign * m.v;
}

/* The first of lo ... hi whose value is at least v; hi + 1: none. */
static int64_t first_at_least(struct oc_solver *s, const struct equation *q, struct unknown u, int64_t v,
                              int sign)
{
    int64_t lo = u.lo, hi = u.hi + 1;
    while (lo < hi) {
        int64_t mid = lo + (hi - lo) / 2;
        if (value_at_trial(s, q, mid, sign) >= v)
            hi = mid;
        else
            lo = mid + 1;
    }
    return lo;
}

/* Narrows the interval of the only unknown of an equation. False: the equation has no effect. */
static bool narrow_range(struct oc_solver *s, const struct equation *q, uint32_t atom)
{
    struct unknown *u = &s->unknown[atom];
    struct unknown next = *u;
    s->tried = atom;
    int64_t low = value_at_trial(s, q, u->lo, 1), high = value_at_trial(s, q, u->hi, 1);
    int sign = high < low ? -1 : 1;
    if (low != high) {
        next.lo = first_at_least(s, q, *u, sign * q->v, sign);
        next.hi = first_at_least(s, q, *u, sign * q->v + 1, sign) - 1;
    }
    bool solved = low != high && next.lo <= next.hi && value_at_trial(s, q, next.lo, 1) == q->v;
    s->tried = OC_NONE;
    if (!solved || (next.lo == u->lo && next.hi == u->hi))
        return false;
    u->lo = next.lo;
    u->hi = next.hi;
    u->narrowed = true;
    return true;
}

/* Narrows with every equation that has one unknown left. */
static bool pass(struct oc_solver *s)
{
    bool changed = false;
    for (uint32_t i = 0; i < s->n; i++) {
        struct equation *q = &s->eq[i];
        struct memo m;
        if (q->done)
            continue;
        q->done = eval_now(s, q->d, &m);
        if (q->done || s->n_open != 1)
            continue;
        q->done = true;
        changed |= narrow_range(s, q, s->open[0]);
    }
    return changed;
}

/* The multiple of the largest power of two in lo ... hi. */
static int64_t roundest(int64_t lo, int64_t hi)
{
    int64_t step = 1;
    while (step <= hi / 2 && (lo + 2 * step - 1) / (2 * step) * (2 * step) <= hi)
        step *= 2;
    return (lo + step - 1) / step * step;
}

/* Gives the first unknown whose interval has several values the roundest of them. */
static bool choose_value(struct oc_solver *s)
{
    for (uint32_t i = 0; i < s->x->n_atom; i++) {
        struct unknown *u = &s->unknown[i];
        if (!u->narrowed || u->lo == u->hi)
            continue;
        u->lo = u->hi = roundest(u->lo, u->hi);
        u->chosen = true;
        return true;
    }
    return false;
}

void oc_solver_run(struct oc_solver *s)
{
    for (unsigned i = 0; i < MAX_PASSES && (pass(s) || choose_value(s)); i++)
        continue;
}

enum oc_solved oc_solver_get(struct oc_solver *s, struct oc_dim d, int64_t *v)
{
    struct memo m;
    if (!eval_now(s, d, &m))
        return OC_SOLVED_NOT;
    *v = m.v;
    return m.chosen ? OC_SOLVED_CHOSEN : OC_SOLVED_ONLY;
}
