#include "shape/dim_poly.h"

#include <string.h>

#include "base/ck.h"

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
