/* shape/: Element types and dimensions, known or symbolic: polynomials, broadcasting, windows. Exact
 * arithmetic: an overflow is an unknown, never a wrapped number.
 * Private to the folder: dim.h dim_poly.h. */
#include "shape/dim_poly.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/ck.h"

static const struct range anything = {INT64_MIN, INT64_MAX};

struct oc_exprs *oc_exprs_new(struct oc_arena *a)
{
    struct oc_exprs *x = OC_NEW(a, struct oc_exprs);
    x->arena = x->names.arena = x->forms.arena = a;
    return x;
}

void oc_exprs_free(struct oc_exprs *x)
{
    if (!x)
        return;
    oc_map_free(&x->names);
    oc_map_free(&x->forms);
    free(x->expr);
    free(x->atom);
    x->expr = NULL;
    x->atom = NULL;
    x->n_expr = x->cap_expr = x->n_atom = x->cap_atom = 0;
}

bool oc_exprs_overflowed(const struct oc_exprs *x)
{
    return x->overflowed;
}

void oc_exprs_clear_overflow(struct oc_exprs *x)
{
    x->overflowed = false;
}

/* ---- the table -------------------------------------------------------------------------------------- */

/* An unknown beyond the limit of the table: it has an id, but no expression and no text. */
static bool is_beyond(struct oc_dim d)
{
    return d.expr >= OC_MAX_EXPRS;
}

static struct oc_dim table_full(struct oc_exprs *x)
{
    if (x->n_beyond < UINT32_MAX - OC_MAX_EXPRS)
        x->n_beyond++;
    return (struct oc_dim){.expr = OC_MAX_EXPRS + x->n_beyond};
}

/* The polynomial of a dim. False for an unknown beyond the limit of the table. */
static bool poly_of(const struct oc_exprs *x, struct oc_dim d, struct poly *p)
{
    p->n = 0;
    if (oc_is_known(d)) {
        if (d.v == INT64_MIN)
            return false;
        if (d.v)
            p->t[p->n++] = (struct term){.coef = d.v};
        return true;
    }
    if (is_beyond(d))
        return false;
    const struct expr *e = &x->expr[d.expr];
    memcpy(p->t, e->t, e->n * sizeof(*p->t));
    p->n = e->n;
    return true;
}

/* Finds or creates the expression of a polynomial (hash consing: equal polynomials have equal ids). */
static struct oc_dim poly_dim(struct oc_exprs *x, const struct poly *p)
{
    if (p->n == 0)
        return oc_known(0);
    if (p->n == 1 && p->t[0].degree == 0)
        return oc_known(p->t[0].coef);
    uint32_t id = x->n_expr ? x->n_expr : 1;
    const char *key;
    if (id >= OC_MAX_EXPRS || x->n_term > OC_MAX_STORED_TERMS) {
        id = oc_map_get(&x->forms, (const char *)p->t, p->n * sizeof(*p->t));
        return id == OC_NONE ? table_full(x) : (struct oc_dim){.expr = id};
    }
    if (!oc_map_add(&x->forms, (const char *)p->t, p->n * sizeof(*p->t), &id, &key))
        return (struct oc_dim){.expr = id};
    while (x->n_expr <= id) {
        OC_GROW(x->expr, x->n_expr, x->cap_expr);
        x->expr[x->n_expr++] = (struct expr){0};
    }
    const struct term *t = (const struct term *)(const void *)key; /* arena memory is aligned */
    x->n_term += p->n;
    x->expr[id] = (struct expr){.t = t, .n = p->n, .range = oc_poly_range(x, t, p->n)};
    return (struct oc_dim){.expr = id};
}

static struct oc_dim atom_dim(struct oc_exprs *x, uint32_t atom)
{
    struct poly p = {.n = 1};
    p.t[0] = (struct term){.coef = 1, .degree = 1, .atom = {atom}};
    return poly_dim(x, &p);
}

static bool is_full(const struct oc_exprs *x)
{
    return x->n_expr >= OC_MAX_EXPRS || x->n_atom >= OC_MAX_EXPRS;
}

static struct oc_dim add_atom(struct oc_exprs *x, const struct atom *a)
{
    if (is_full(x))
        return table_full(x);
    if (x->n_atom == 0) {
        OC_GROW(x->atom, x->n_atom, x->cap_atom);
        x->atom[x->n_atom++] = (struct atom){0};
    }
    OC_GROW(x->atom, x->n_atom, x->cap_atom);
    x->atom[x->n_atom] = *a;
    return atom_dim(x, x->n_atom++);
}

struct oc_dim oc_dim_fresh(struct oc_exprs *x, const char *origin, int64_t max)
{
    if (is_full(x))
        return table_full(x);
    struct atom a = {.kind = ATOM_NAMED, .text = oc_cut_text(x->arena, origin, strlen(origin))};
    a.range = (struct range){0, max < 0 ? INT64_MAX : max};
    return add_atom(x, &a);
}

struct oc_dim oc_dim_symbol(struct oc_exprs *x, const char *name, int64_t max)
{
    uint32_t id = oc_map_get(&x->names, name, strlen(name));
    if (id != OC_NONE)
        return (struct oc_dim){.expr = id};
    struct oc_dim d = oc_dim_fresh(x, name, max);
    oc_map_set(&x->names, name, strlen(name), d.expr);
    return d;
}

static struct oc_dim arithmetic_overflow(struct oc_exprs *x)
{
    x->overflowed = true;
    return oc_dim_fresh(x, "overflow", -1);
}

static struct range dim_range(const struct oc_exprs *x, struct oc_dim d)
{
    if (oc_is_known(d))
        return (struct range){d.v, d.v};
    return is_beyond(d) ? anything : x->expr[d.expr].range;
}

int64_t oc_dim_max_value(const struct oc_exprs *x, struct oc_dim d)
{
    if (oc_is_known(d))
        return d.v;
    struct range r = dim_range(x, d);
    if (x->least)
        return r.lo < 0 ? 0 : r.lo;
    if (r.hi == INT64_MAX)
        return -1;
    return r.hi < 0 ? 0 : r.hi;
}

void oc_exprs_set_least(struct oc_exprs *x, bool least)
{
    x->least = least;
}

int64_t oc_dim_min_value(const struct oc_exprs *x, struct oc_dim d)
{
    return dim_range(x, d).lo;
}

/* ---- composite atoms -------------------------------------------------------------------------------- */

static int64_t div_end(int64_t v, int64_t by)
{
    return v == INT64_MIN || v == INT64_MAX ? v : oc_floor_div(v, by);
}

/* Interval arithmetic of floor(a/b) and ceil(a/b); unbounded when a sign is unknown. */
static struct range quotient_range(struct range a, struct range b, bool ceil)
{
    if (b.lo < 0 || a.lo < 0) {
        if (b.lo != b.hi || b.lo <= 0)
            return anything;
        return (struct range){div_end(a.lo, b.lo), ceil ? a.hi : div_end(a.hi, b.lo)};
    }
    int64_t least = b.lo > 1 ? b.lo : 1;
    int64_t hi = a.hi == INT64_MAX ? a.hi : ceil ? oc_ceil_div(a.hi, least) : a.hi / least;
    return (struct range){b.hi == INT64_MAX || b.hi == 0 ? 0 : a.lo / b.hi, hi};
}

static int64_t decrement_bound(int64_t hi)
{
    return hi == INT64_MAX ? hi : hi - 1;
}

static struct range atom_range(const struct oc_exprs *x, unsigned kind, struct oc_dim da, struct oc_dim db)
{
    struct range a = dim_range(x, da), b = dim_range(x, db);
    switch (kind) {
    case ATOM_FLOOR:
    case ATOM_CEIL:
        return quotient_range(a, b, kind == ATOM_CEIL);
    case ATOM_MOD:
        return b.lo < 0 ? anything
                        : (struct range){0, a.lo >= 0 && a.hi < b.hi ? a.hi : decrement_bound(b.hi)};
    case ATOM_MIN:
        return (struct range){a.lo < b.lo ? a.lo : b.lo, a.hi < b.hi ? a.hi : b.hi};
    case ATOM_MAX:
        return (struct range){a.lo > b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi};
    case ATOM_SUM:
        return oc_range_add(a, b);
    default:
        return oc_range_mul(a, b);
    }
}

/* Finds or creates the atom for this operation on these operands. */
static struct oc_dim composite(struct oc_exprs *x, unsigned kind, struct oc_dim a, struct oc_dim b)
{
    if (is_beyond(a) || is_beyond(b))
        return table_full(x);
    struct {
        int64_t a, b;
        uint32_t a_expr, b_expr;
        uint64_t kind;
    } key = {a.v, b.v, a.expr, b.expr,
             UINT64_MAX - kind}; /* shorter than any term, so there is no collision */
    key.a = a.expr ? 0 : a.v;
    key.b = b.expr ? 0 : b.v;
    uint32_t id = oc_map_get(&x->forms, (const char *)&key, sizeof(key));
    if (id != OC_NONE)
        return (struct oc_dim){.expr = id};
    struct atom atom = {.kind = (uint8_t)kind, .a = a, .b = b, .range = atom_range(x, kind, a, b)};
    atom.text = oc_atom_text(x, kind, a, b);
    struct oc_dim d = add_atom(x, &atom);
    if (!is_beyond(d))
        oc_map_set(&x->forms, (const char *)&key, sizeof(key), d.expr);
    return d;
}

static bool sorts_before(struct oc_dim a, struct oc_dim b)
{
    return a.expr != b.expr ? a.expr < b.expr : a.v <= b.v;
}

/* For commutative operations. */
static struct oc_dim symmetric(struct oc_exprs *x, unsigned kind, struct oc_dim a, struct oc_dim b)
{
    return sorts_before(a, b) ? composite(x, kind, a, b) : composite(x, kind, b, a);
}

/* ---- arithmetic ------------------------------------------------------------------------------------- */

struct oc_dim oc_dim_add(struct oc_exprs *x, struct oc_dim a, struct oc_dim b)
{
    int64_t v;
    if (oc_is_known(a) && oc_is_known(b))
        return oc_add_i64(a.v, b.v, &v) ? oc_known(v) : arithmetic_overflow(x);
    if (oc_is(a, 0) || oc_is(b, 0))
        return oc_is(a, 0) ? b : a;
    struct poly p, q;
    if (poly_of(x, a, &p) && poly_of(x, b, &q) && oc_poly_add(&p, &q, 1, &p))
        return poly_dim(x, &p);
    return symmetric(x, ATOM_SUM, a, b);
}

struct oc_dim oc_dim_sub(struct oc_exprs *x, struct oc_dim a, struct oc_dim b)
{
    int64_t v;
    if (oc_is_known(a) && oc_is_known(b))
        return oc_sub_i64(a.v, b.v, &v) ? oc_known(v) : arithmetic_overflow(x);
    if (oc_is(b, 0))
        return a;
    if (oc_same_dim(a, b))
        return oc_known(0);
    struct poly p, q;
    if (poly_of(x, a, &p) && poly_of(x, b, &q) && oc_poly_add(&p, &q, -1, &p))
        return poly_dim(x, &p);
    return composite(x, ATOM_SUM, a, composite(x, ATOM_PRODUCT, oc_known(-1), b));
}

struct oc_dim oc_dim_mul(struct oc_exprs *x, struct oc_dim a, struct oc_dim b)
{
    int64_t v;
    if (oc_is_known(a) && oc_is_known(b))
        return oc_mul_i64(a.v, b.v, &v) ? oc_known(v) : arithmetic_overflow(x);
    if (oc_is(a, 0) || oc_is(b, 0))
        return oc_known(0);
    if (oc_is(a, 1) || oc_is(b, 1))
        return oc_is(a, 1) ? b : a;
    struct poly p, q;
    if (poly_of(x, a, &p) && poly_of(x, b, &q) && oc_poly_mul(&p, &q, &p))
        return poly_dim(x, &p);
    return symmetric(x, ATOM_PRODUCT, a, b);
}

bool oc_dim_divides(struct oc_exprs *x, struct oc_dim a, struct oc_dim b, struct oc_dim *quotient)
{
    if (oc_is(b, 0))
        return false;
    if (oc_is_known(a) && oc_is_known(b)) {
        if (b.v == -1 ? a.v == INT64_MIN : a.v % b.v != 0)
            return false;
        *quotient = oc_known(a.v / b.v);
        return true;
    }
    if (oc_same_dim(a, b)) {
        *quotient = oc_known(1);
        return true;
    }
    struct poly p, q;
    if (!poly_of(x, a, &p) || !poly_of(x, b, &q) || !oc_poly_exact(&p, &q, &p))
        return false;
    *quotient = poly_dim(x, &p);
    return true;
}

/* a - q*c when it fits although q*c may not */
static int64_t left_over(int64_t a, int64_t q, int64_t c)
{
    return (int64_t)((uint64_t)a - (uint64_t)q * (uint64_t)c);
}

/* p = c*whole + rest: the constant of rest in (-c, 0]; its other coefficients do not divide by c, or lie in
 * [0, c) when `fully`. */
static bool dim_split(const struct poly *p, int64_t c, bool fully, struct poly *whole, struct poly *rest)
{
    whole->n = rest->n = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        const struct term *t = &p->t[i];
        int64_t q = t->degree ? oc_floor_div(t->coef, c) : oc_ceil_div(t->coef, c);
        if (t->degree && !fully && t->coef % c != 0)
            q = 0;
        int64_t r = left_over(t->coef, q, c);
        if (q) {
            whole->t[whole->n] = *t;
            whole->t[whole->n++].coef = q;
        }
        if (r) {
            rest->t[rest->n] = *t;
            rest->t[rest->n++].coef = r;
        }
    }
    return rest->n > 0;
}

/* floor((g*e + k)/(g*c)) = floor((e + floor(k/g))/c) */
static void dim_reduce(struct poly *p, int64_t *c)
{
    int64_t g = *c;
    for (uint32_t i = 0; i < p->n; i++) {
        int64_t a = p->t[i].coef < 0 ? -p->t[i].coef : p->t[i].coef, b = g;
        while (p->t[i].degree && a) {
            int64_t r = b % a;
            b = a;
            a = r;
        }
        if (p->t[i].degree)
            g = b;
    }
    if (g <= 1)
        return;
    for (uint32_t i = 0; i < p->n; i++)
        p->t[i].coef = oc_floor_div(p->t[i].coef, g);
    if (p->n && p->t[p->n - 1].coef == 0)
        p->n--;
    *c /= g;
}

/* floor((floor(e/d) + k)/c) = floor((e + k*d)/(c*d)) */
static bool unnest(const struct oc_exprs *x, struct poly *p, int64_t *c)
{
    if (p->n == 0 || p->n > 2 || p->t[0].coef != 1 || p->t[0].degree != 1 || (p->n == 2 && p->t[1].degree))
        return false;
    const struct atom *a = &x->atom[p->t[0].atom[0]];
    struct poly inner, k = {0};
    int64_t by = a->b.v, cd;
    if (a->kind != ATOM_FLOOR || !oc_is_known(a->b) || !oc_mul_i64(*c, by, &cd) || !poly_of(x, a->a, &inner))
        return false;
    if (p->n == 2)
        k.t[k.n++] = p->t[1];
    if (!oc_poly_add(&inner, &k, by, p))
        return false;
    *c = cd;
    return true;
}

/* floor(a/c), c > 0: takes the multiples of c out of the polynomial, then simplifies the rest. */
static struct oc_dim floor_by(struct oc_exprs *x, struct oc_dim a, int64_t c)
{
    struct poly p, whole, rest;
    if (!poly_of(x, a, &p))
        return composite(x, ATOM_FLOOR, a, oc_known(c));
    if (!dim_split(&p, c, false, &whole, &rest))
        return poly_dim(x, &whole);
    struct oc_dim q = poly_dim(x, &whole);
    int64_t c_before = c;
    dim_reduce(&rest, &c);
    if (unnest(x, &rest, &c) || c != c_before)
        return oc_dim_add(x, q, c == 1 ? poly_dim(x, &rest) : floor_by(x, poly_dim(x, &rest), c));
    struct oc_dim r = poly_dim(x, &rest);
    struct range range = dim_range(x, r);
    if (range.lo != INT64_MIN && range.hi != INT64_MAX &&
        oc_floor_div(range.lo, c) == oc_floor_div(range.hi, c))
        return oc_dim_add(x, q, oc_known(oc_floor_div(range.lo, c)));
    return oc_dim_add(x, q, composite(x, ATOM_FLOOR, r, oc_known(c)));
}

static struct oc_dim negate(struct oc_exprs *x, struct oc_dim a)
{
    return oc_dim_mul(x, a, oc_known(-1));
}

struct oc_dim oc_dim_floordiv(struct oc_exprs *x, struct oc_dim a, struct oc_dim b)
{
    struct oc_dim q;
    if (oc_is(b, 0) || oc_is(a, INT64_MIN) || oc_is(b, INT64_MIN))
        return arithmetic_overflow(x);
    if (oc_is_known(b) && b.v < 0)
        return oc_dim_floordiv(x, negate(x, a), oc_known(-b.v));
    if (oc_is_known(a) && oc_is_known(b))
        return oc_known(oc_floor_div(a.v, b.v));
    if (oc_dim_divides(x, a, b, &q))
        return q;
    return oc_is_known(b) ? floor_by(x, a, b.v) : composite(x, ATOM_FLOOR, a, b);
}

struct oc_dim oc_dim_ceildiv(struct oc_exprs *x, struct oc_dim a, struct oc_dim b)
{
    struct oc_dim q;
    if (oc_is(b, 0) || oc_is(a, INT64_MIN) || oc_is(b, INT64_MIN))
        return arithmetic_overflow(x);
    if (oc_is_known(b) && b.v < 0)
        return oc_dim_ceildiv(x, negate(x, a), oc_known(-b.v));
    if (oc_is_known(a) && oc_is_known(b))
        return oc_known(oc_ceil_div(a.v, b.v));
    if (oc_dim_divides(x, a, b, &q))
        return q;
    if (oc_is_known(b)) /* ceil(a/c) = floor((a - 1)/c) + 1 */
        return oc_dim_add(x, oc_dim_floordiv(x, oc_dim_add(x, a, oc_known(-1)), b), oc_known(1));
    return composite(x, ATOM_CEIL, a, b);
}

struct oc_dim oc_dim_mod(struct oc_exprs *x, struct oc_dim a, struct oc_dim b)
{
    struct oc_dim q;
    if (oc_is(b, 0) || oc_is(a, INT64_MIN) || oc_is(b, INT64_MIN))
        return arithmetic_overflow(x);
    if (oc_is_known(b) && b.v < 0)
        return negate(x, oc_dim_mod(x, negate(x, a), oc_known(-b.v)));
    if (oc_is_known(a) && oc_is_known(b))
        return oc_known(left_over(a.v, oc_floor_div(a.v, b.v), b.v));
    if (oc_dim_divides(x, a, b, &q))
        return oc_known(0);
    struct poly p, whole, rest;
    if (oc_is_known(b) && poly_of(x, a, &p)) {
        dim_split(&p, b.v, true, &whole, &rest);
        a = poly_dim(x, &rest);
        if (oc_is_known(a))
            return oc_dim_mod(x, a, b);
    }
    struct range r = dim_range(x, a), s = dim_range(x, b);
    return r.lo >= 0 && r.hi < s.lo ? a : composite(x, ATOM_MOD, a, b);
}

/* Returns one of the operands if their order can be proved. */
static bool ordered(struct oc_exprs *x, struct oc_dim a, struct oc_dim b, bool want_max, struct oc_dim *out)
{
    struct range r = dim_range(x, a), s = dim_range(x, b);
    struct range gap = {0, 0};
    if (r.lo < s.hi && s.lo < r.hi) /* the ranges overlap: compare the difference */
        gap = dim_range(x, oc_dim_sub(x, a, b));
    bool a_large = oc_same_dim(a, b) || r.lo >= s.hi || (r.lo < s.hi && s.lo < r.hi && gap.lo >= 0);
    bool b_large = s.lo >= r.hi || (r.lo < s.hi && s.lo < r.hi && gap.hi <= 0);
    if (!a_large && !b_large)
        return false;
    *out = a_large == want_max ? a : b;
    return true;
}

/* min(min(a, b), b) = min(a, b), min(max(a, b), b) = b */
static bool absorbed(const struct oc_exprs *x, unsigned kind, struct oc_dim a, struct oc_dim b,
                     struct oc_dim *out)
{
    struct poly p;
    if (oc_is_known(a) || !poly_of(x, a, &p) || p.n != 1 || p.t[0].coef != 1 || p.t[0].degree != 1)
        return false;
    const struct atom *t = &x->atom[p.t[0].atom[0]];
    bool lattice = t->kind == ATOM_MIN || t->kind == ATOM_MAX;
    if (!lattice || (!oc_same_dim(t->a, b) && !oc_same_dim(t->b, b)))
        return false;
    *out = t->kind == kind ? a : b;
    return true;
}

/* The minimum or maximum. */
static struct oc_dim extreme(struct oc_exprs *x, unsigned kind, struct oc_dim a, struct oc_dim b)
{
    struct oc_dim d;
    if (oc_same_dim(a, b))
        return a;
    if (is_beyond(a) || is_beyond(b))
        return table_full(x);
    if (ordered(x, a, b, kind == ATOM_MAX, &d) || absorbed(x, kind, a, b, &d) || absorbed(x, kind, b, a, &d))
        return d;
    return sorts_before(a, b) ? composite(x, kind, b, a) : composite(x, kind, a, b); /* a number comes last */
}

struct oc_dim oc_dim_min(struct oc_exprs *x, struct oc_dim a, struct oc_dim b)
{
    if (oc_is_known(a) && oc_is_known(b))
        return a.v < b.v ? a : b;
    return extreme(x, ATOM_MIN, a, b);
}

struct oc_dim oc_dim_max(struct oc_exprs *x, struct oc_dim a, struct oc_dim b)
{
    if (oc_is_known(a) && oc_is_known(b))
        return a.v > b.v ? a : b;
    return extreme(x, ATOM_MAX, a, b);
}

/* ---- dim text ----------------------------------------------------------------------------------------- */

const char *oc_cut_text(struct oc_arena *a, const char *s, size_t n)
{
    if (n <= OC_MAX_TEXT)
        return oc_strndup(a, s, n);
    size_t head = OC_MAX_TEXT - 3;
    while (head && ((unsigned char)s[head] & 0xc0) == 0x80) /* never inside a UTF-8 character */
        head--;
    return oc_printf(a, "%.*s...", (int)head, s);
}

static const char *finish_dim_text(struct oc_exprs *x, struct oc_buf *b)
{
    const char *s = oc_cut_text(x->arena, b->data ? b->data : "", b->n);
    oc_buf_free(b);
    return s;
}

static bool is_plain(const char *s)
{
    if (strpbrk(s, " +-*/,") == NULL)
        return true;
    /* a single call such as floor(...) needs no brackets */
    static const char *const call[] = {"floor(", "ceil(", "min(", "max(", "mod("};
    bool starts = false;
    for (unsigned i = 0; i < OC_COUNT(call); i++)
        starts = starts || strncmp(s, call[i], strlen(call[i])) == 0;
    int depth = 0;
    const char *p = strchr(s, '(');
    for (; starts && p && *p; p++) {
        depth += (*p == '(') - (*p == ')');
        if (depth == 0)
            return p[1] == '\0';
    }
    return false;
}

static void add_factor(struct oc_buf *b, const char *text, uint32_t power, bool alone)
{
    bool bare = (alone && power == 1) || is_plain(text);
    oc_buf_printf(b, bare ? "%s" : "(%s)", text);
    if (power > 1)
        oc_buf_printf(b, "^%" PRIu32, power);
}

static void add_term(struct oc_buf *b, const struct oc_exprs *x, const struct term *t, bool only)
{
    int64_t size = t->coef < 0 ? -t->coef : t->coef; /* never INT64_MIN */
    if (b->n)
        oc_buf_str(b, t->coef < 0 ? " - " : " + ");
    else if (t->coef < 0)
        oc_buf_char(b, '-');
    if (size != 1 || t->degree == 0)
        oc_buf_printf(b, "%" PRId64 "%s", size, t->degree ? "*" : "");
    for (uint32_t i = 0, power; i < t->degree; i += power) {
        power = 1;
        while (i + power < t->degree && t->atom[i + power] == t->atom[i])
            power++;
        if (i)
            oc_buf_char(b, '*');
        add_factor(b, x->atom[t->atom[i]].text, power, only && t->coef == 1 && t->degree == 1);
    }
}

/* Positive terms first; a positive constant goes before negative terms if no other term is positive. */
static const char *poly_text(struct oc_exprs *x, const struct term *t, uint32_t n)
{
    struct oc_buf b = {0};
    for (uint32_t i = 0; i < n; i++)
        if (t[i].coef > 0 && t[i].degree)
            add_term(&b, x, &t[i], n == 1);
    bool lead = b.n == 0 && n && t[n - 1].degree == 0 && t[n - 1].coef > 0;
    if (lead)
        add_term(&b, x, &t[n - 1], false);
    for (uint32_t i = 0; i < n; i++)
        if (t[i].coef < 0 && t[i].degree)
            add_term(&b, x, &t[i], false);
    if (!lead && n && t[n - 1].degree == 0)
        add_term(&b, x, &t[n - 1], false);
    return finish_dim_text(x, &b);
}

static void add_operand(struct oc_buf *b, const char *text)
{
    oc_buf_printf(b, is_plain(text) ? "%s" : "(%s)", text);
}

const char *oc_atom_text(struct oc_exprs *x, unsigned kind, struct oc_dim da, struct oc_dim db)
{
    static const char *const head[] = {
        [ATOM_FLOOR] = "floor(", [ATOM_CEIL] = "ceil(", [ATOM_MOD] = "mod(", [ATOM_MIN] = "min(",
        [ATOM_MAX] = "max(",     [ATOM_SUM] = "",       [ATOM_PRODUCT] = ""};
    struct oc_buf b = {0};
    const char *s = oc_dim_text(x, da), *t = oc_dim_text(x, db);
    bool infix = kind == ATOM_FLOOR || kind == ATOM_CEIL || kind == ATOM_PRODUCT;
    oc_buf_str(&b, head[kind]);
    if (infix) {
        add_operand(&b, s);
        oc_buf_char(&b, kind == ATOM_PRODUCT ? '*' : '/');
        add_operand(&b, t);
    } else {
        oc_buf_printf(&b, kind == ATOM_SUM ? "%s + %s" : "%s, %s", s, t);
    }
    if (kind != ATOM_SUM && kind != ATOM_PRODUCT)
        oc_buf_char(&b, ')');
    return finish_dim_text(x, &b);
}

const char *oc_dim_text(struct oc_exprs *x, struct oc_dim d)
{
    if (oc_is_known(d))
        return oc_printf(x->arena, "%" PRId64, d.v);
    if (d.expr >= OC_MAX_EXPRS)
        return "?";
    struct expr *e = &x->expr[d.expr];
    if (!e->text) {
        const char *text = poly_text(x, e->t, e->n);
        x->expr[d.expr].text = text;
    }
    return x->expr[d.expr].text;
}
