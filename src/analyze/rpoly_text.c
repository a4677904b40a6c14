/* Formats a polynomial in Horner form: powers of the first variable are factored out, then the next variable
 * inside. */
#include <stdlib.h>

#include "analyze/rpoly.h"
#include "base/arena.h"

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

static void rpoly_text_put_group(const struct writer *w, const uint32_t *term, uint32_t n, unsigned var,
                                 int power, bool *first)
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
        rpoly_text_put_group(w, part, m, var, power, first);
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
