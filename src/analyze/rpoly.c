/* Newton's form: f = sum c_i * product of binomial((x - start) / step, i). On equidistant points the c_i are
 * forward differences, integers when the values are; fractions appear only when the binomials are expanded.
 */
#include "analyze/fit.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

/* Formats a polynomial in Horner form: powers of the first variable are factored out, then the next variable
 * inside. */

struct writer {
    const struct oc_rpoly *p;
    const char *const *name;
    struct oc_buf *out;
};

/* Highest exponent of `var` below `limit` among the terms; -1: none. */
static int next_power(const struct writer *w, const uint32_t *term, uint32_t n, unsigned var, int limit)
{
    int best = -1;
    for (uint32_t i = 0; i < n; i++) {
        int power = w->p->term[term[i]].pow.of[var];
        best = power < limit && power > best ? power : best;
    }
    return best;
}

static void put_power(const struct writer *w, unsigned var, int power)
{
    oc_buf_str(w->out, w->name[var]);
    if (power > 1)
        oc_buf_printf(w->out, "^%d", power);
}

/* The factors of one term from `var` on: "12*batch^2*sequence". */
static void put_term(const struct writer *w, uint32_t term, unsigned var)
{
    int64_t num = w->p->term[term].num;
    uint64_t size = num < 0 ? (uint64_t)-num : (uint64_t)num;
    bool written = false;
    for (unsigned k = var; k < w->p->n_var; k++)
        written = written || w->p->term[term].pow.of[k];
    if (size != 1 || !written)
        oc_buf_printf(w->out, "%llu%s", (unsigned long long)size, written ? "*" : "");
    bool first = true;
    for (unsigned k = var; k < w->p->n_var; k++) {
        int power = w->p->term[term].pow.of[k];
        if (!power)
            continue;
        oc_buf_str(w->out, first ? "" : "*");
        put_power(w, k, power);
        first = false;
    }
}

static uint32_t with_power(const struct writer *w, const uint32_t *term, uint32_t n, unsigned var, int power,
                           uint32_t *out)
{
    uint32_t m = 0;
    for (uint32_t i = 0; i < n; i++)
        if (w->p->term[term[i]].pow.of[var] == power)
            out[m++] = term[i];
    return m;
}

/* A sum in which every sign precedes its term; a leading minus only where the first term has one. */
static void put_sum(const struct writer *w, const uint32_t *term, uint32_t n, unsigned var, bool *first);

static void put_group(const struct writer *w, const uint32_t *term, uint32_t n, unsigned var, int power,
                      bool *first)
{
    if (power == 0) {
        put_sum(w, term, n, var + 1, first);
        return;
    }
    bool minus = n == 1 && w->p->term[term[0]].num < 0;
    oc_buf_str(w->out, *first ? minus ? "-" : "" : minus ? " - " : " + ");
    *first = false;
    if (n == 1) {
        put_term(w, term[0], var);
        return;
    }
    bool inner = true;
    put_power(w, var, power);
    oc_buf_str(w->out, "*(");
    put_sum(w, term, n, var + 1, &inner);
    oc_buf_char(w->out, ')');
}

static void put_sum(const struct writer *w, const uint32_t *term, uint32_t n, unsigned var, bool *first)
{
    if (var == w->p->n_var) { /* one term is left: its coefficient */
        bool minus = w->p->term[term[0]].num < 0;
        oc_buf_str(w->out, *first ? minus ? "-" : "" : minus ? " - " : " + ");
        *first = false;
        put_term(w, term[0], var);
        return;
    }
    uint32_t *part = oc_xmalloc(n * sizeof(*part));
    for (int power = OC_RPOLY_DEGREE + 1; (power = next_power(w, term, n, var, power)) >= 0;) {
        uint32_t m = with_power(w, term, n, var, power, part);
        put_group(w, part, m, var, power, first);
    }
    free(part);
}

void oc_rpoly_text(const struct oc_rpoly *p, const char *const *name, struct oc_buf *out)
{
    const struct writer w = {.p = p, .name = name, .out = out};
    if (!p->n_term) {
        oc_buf_char(out, '0');
        return;
    }
    uint32_t *all = oc_xmalloc(p->n_term * sizeof(*all));
    for (uint32_t i = 0; i < p->n_term; i++)
        all[i] = i;
    bool first = true, fraction = p->den != 1;
    oc_buf_str(out, fraction && p->n_term > 1 ? "(" : "");
    put_sum(&w, all, p->n_term, 0, &first);
    if (fraction)
        oc_buf_printf(out, "%s/%lld", p->n_term > 1 ? ")" : "", (long long)p->den);
    free(all);
}

__extension__ typedef __int128 wide;

static bool rpoly_add(wide a, wide b, wide *out)
{
    return !__builtin_add_overflow(a, b, out);
}

static bool mul(wide a, wide b, wide *out)
{
    return !__builtin_mul_overflow(a, b, out);
}

static wide gcd(wide a, wide b)
{
    a = a < 0 ? -a : a;
    b = b < 0 ? -b : b;
    while (b) {
        wide r = a % b;
        a = b;
        b = r;
    }
    return a;
}

void oc_rpoly_free(struct oc_rpoly *p)
{
    free(p->term);
    *p = (struct oc_rpoly){0};
}

/* ---- points ----------------------------------------------------------------------------------------- */

static unsigned rpoly_sum_of(const struct oc_pow *p, unsigned n_var)
{
    unsigned sum = 0;
    for (unsigned k = 0; k < n_var; k++)
        sum += p->of[k];
    return sum;
}

/* Next multi-index in counting order, the last variable fastest. */
static bool next_point(struct oc_pow *p, const struct oc_rpoly_axis *axis, unsigned n_var, unsigned total)
{
    for (unsigned k = n_var; k-- > 0;) {
        p->of[k]++;
        if (p->of[k] <= axis[k].degree && rpoly_sum_of(p, n_var) <= total)
            return true;
        p->of[k] = 0;
    }
    return false;
}

size_t oc_rpoly_points(const struct oc_rpoly_axis *axis, unsigned n_var, unsigned total,
                       struct oc_pow out[OC_RPOLY_TERMS])
{
    struct oc_pow p = {{0}};
    size_t n = 0;
    do {
        if (n == OC_RPOLY_TERMS)
            return 0;
        out[n++] = p;
    } while (next_point(&p, axis, n_var, total));
    return n;
}

static bool is_below(const struct oc_pow *a, const struct oc_pow *b, unsigned n_var)
{
    for (unsigned k = 0; k < n_var; k++)
        if (a->of[k] > b->of[k])
            return false;
    return true;
}

/* ---- interpolation ---------------------------------------------------------------------------------- */

static wide rpoly_choose(unsigned n, unsigned k)
{
    wide c = 1;
    for (unsigned i = 1; i <= k; i++)
        c = c * (n - k + i) / i;
    return c;
}

/* c_i = f(i) - sum over j below i of c_j * product of binomial(i, j). Every point comes after all points
 * below it. */
static bool differences(const struct oc_pow *point, const uint64_t *value, size_t n, unsigned n_var, wide *c)
{
    for (size_t i = 0; i < n; i++) {
        c[i] = (wide)value[i];
        for (size_t j = 0; j < i; j++) {
            wide t = -c[j];
            if (!t || !is_below(&point[j], &point[i], n_var))
                continue;
            for (unsigned k = 0; k < n_var; k++)
                if (!mul(t, rpoly_choose(point[i].of[k], point[j].of[k]), &t))
                    return false;
            if (!rpoly_add(c[i], t, &c[i]))
                return false;
        }
    }
    return true;
}

/* i! * step^i: the divisor of the product (x - start)(x - start - step)... of i factors. */
static bool divisor(const struct oc_rpoly_axis *axis, const struct oc_pow *p, unsigned n_var, wide *out)
{
    *out = 1;
    for (unsigned k = 0; k < n_var; k++)
        for (unsigned i = 1; i <= p->of[k]; i++)
            if (!mul(*out, (wide)i * axis[k].step, out))
                return false;
    return true;
}

static bool common_divisor(const struct oc_rpoly_axis *axis, const struct oc_pow *point, const wide *c,
                           size_t n, unsigned n_var, wide *out)
{
    *out = 1;
    for (size_t i = 0; i < n; i++) {
        wide d;
        if (!c[i])
            continue;
        if (!divisor(axis, &point[i], n_var, &d) || !mul(*out / gcd(*out, d), d, out))
            return false;
    }
    return true;
}

/* factor[i][j]: coefficient of x^j in the product of the first i factors of the axis. */
typedef wide factors[OC_RPOLY_DEGREE + 1][OC_RPOLY_DEGREE + 1];

static bool expand_axis(const struct oc_rpoly_axis *axis, factors f)
{
    f[0][0] = 1;
    for (unsigned i = 1; i <= axis->degree; i++) {
        wide root = (wide)axis->start + (wide)(i - 1) * axis->step;
        for (unsigned j = 0; j <= i; j++) {
            wide shifted = 0;
            if (j < i && !mul(-root, f[i - 1][j], &shifted))
                return false;
            if (!rpoly_add(shifted, j ? f[i - 1][j - 1] : 0, &f[i][j]))
                return false;
        }
    }
    return true;
}

static bool multiply_out(factors *f, const struct oc_pow *point, const wide *c, size_t n, unsigned n_var,
                         const struct oc_rpoly_axis *axis, wide den, wide *coef)
{
    memset(coef, 0, n * sizeof(*coef));
    for (size_t i = 0; i < n; i++) {
        wide d, scaled;
        if (!c[i])
            continue;
        if (!divisor(axis, &point[i], n_var, &d) || !mul(c[i], den / d, &scaled))
            return false;
        for (size_t j = 0; j <= i; j++) {
            wide t = scaled;
            if (!is_below(&point[j], &point[i], n_var))
                continue;
            for (unsigned k = 0; k < n_var; k++)
                if (!mul(t, f[k][point[i].of[k]][point[j].of[k]], &t))
                    return false;
            if (!rpoly_add(coef[j], t, &coef[j]))
                return false;
        }
    }
    return true;
}

/* The non-zero terms, in lowest terms. */
static bool rpoly_reduce(const wide *coef, const struct oc_pow *point, size_t n, wide den,
                         struct oc_rpoly *out)
{
    wide common = den;
    for (size_t i = 0; i < n; i++)
        common = gcd(common, coef[i]);
    if (den / common > INT64_MAX)
        return false;
    out->den = (int64_t)(den / common);
    out->term = oc_xmalloc((n ? n : 1) * sizeof(*out->term));
    for (size_t i = 0; i < n; i++) {
        wide v = coef[i] / common;
        if (!v)
            continue;
        if (v > INT64_MAX || v < -INT64_MAX)
            return false;
        out->term[out->n_term].num = (int64_t)v;
        out->term[out->n_term++].pow = point[i];
    }
    return true;
}

bool oc_rpoly_fit(const struct oc_rpoly_axis *axis, unsigned n_var, const struct oc_pow *point,
                  const uint64_t *value, size_t n, struct oc_rpoly *out)
{
    wide *c = oc_xmalloc(2 * (n ? n : 1) * sizeof(*c)), *coef = c + n, den;
    factors f[OC_RPOLY_VARS] = {{{0}}};
    *out = (struct oc_rpoly){.n_var = n_var};
    bool ok = true;
    for (unsigned k = 0; k < n_var && ok; k++)
        ok = expand_axis(&axis[k], f[k]);
    ok = ok && differences(point, value, n, n_var, c) && common_divisor(axis, point, c, n, n_var, &den) &&
         multiply_out(f, point, c, n, n_var, axis, den, coef) && rpoly_reduce(coef, point, n, den, out);
    free(c);
    if (!ok)
        oc_rpoly_free(out);
    return ok;
}

int oc_rpoly_degree(const uint64_t *value, size_t n, unsigned checks)
{
    wide d[64];
    if (n > sizeof(d) / sizeof(d[0]))
        return -1;
    for (size_t i = 0; i < n; i++)
        d[i] = (wide)value[i];
    for (size_t degree = 0; degree + checks + 1 <= n; degree++) {
        bool zero = true;
        for (size_t i = 0; i + degree + 1 < n; i++) { /* d becomes the differences of order degree + 1 */
            d[i] = d[i + 1] - d[i];
            zero = zero && !d[i];
        }
        if (zero)
            return (int)degree;
    }
    return -1;
}

bool oc_rpoly_eval(const struct oc_rpoly *p, const int64_t *x, uint64_t *out)
{
    wide sum = 0;
    for (uint32_t i = 0; i < p->n_term; i++) {
        wide t = p->term[i].num;
        for (unsigned k = 0; k < p->n_var; k++)
            for (unsigned j = 0; j < p->term[i].pow.of[k]; j++)
                if (!mul(t, x[k], &t))
                    return false;
        if (!rpoly_add(sum, t, &sum))
            return false;
    }
    if (!p->den || sum < 0 || sum % p->den || sum / p->den > UINT64_MAX)
        return false;
    *out = (uint64_t)(sum / p->den);
    return true;
}
