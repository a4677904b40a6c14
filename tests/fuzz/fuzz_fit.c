/* Any bytes as a function of up to four sizes: sums of products of sizes, some rounded, with limits. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/fit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

struct function {
    const uint8_t *data;
    size_t n;
    unsigned n_var;
};

static uint8_t byte(const struct function *f, size_t i)
{
    return f->n ? f->data[i % f->n] : 0;
}

static bool value(void *ctx, const int64_t *x, uint64_t *out)
{
    const struct function *f = ctx;
    uint64_t sum = byte(f, 0);
    for (size_t t = 1; t < 6; t++) { /* terms: coefficient, then for each variable power and divisor */
        uint64_t term = byte(f, t * 16) * (byte(f, t * 16 + 1) > 250 ? UINT64_MAX / 300 : 1);
        for (unsigned k = 0; k < f->n_var; k++) {
            uint8_t how = byte(f, t * 16 + 2 + k);
            int64_t size = how & 8 ? x[k] / (1 + (how >> 4)) : x[k];
            for (unsigned p = 0; p < (how & 3u); p++)
                if (__builtin_mul_overflow(term, (uint64_t)size, &term))
                    return false;
        }
        if (__builtin_add_overflow(sum, term, &sum))
            return false;
    }
    for (unsigned k = 0; k < f->n_var; k++) /* sizes without a value, and sizes that must be equal */
        if ((byte(f, 100 + k) > 200 && x[k] > byte(f, 104 + k)) ||
            (byte(f, 108 + k) > 220 && x[k] != x[byte(f, 112 + k) % f->n_var]))
            return false;
    *out = sum;
    return true;
}

/* A formula must be valid at the point where the search started. */
static void check(struct oc_fit *fit, unsigned n_var, const struct oc_fit_result *r)
{
    const struct oc_fit_var *var = oc_fit_vars(fit);
    int64_t at[OC_RPOLY_VARS];
    uint64_t actual, expected;
    for (unsigned k = 0; k < n_var; k++)
        if (var[k].role == OC_FIT_FREE)
            at[var[k].slot] = var[k].centre;
    if (r->state != OC_FIT_FOUND)
        return;
    if (!oc_fit_covers(r, oc_fit_slots(fit), at) || !oc_fit_value(fit, at, &actual) ||
        !oc_rpoly_eval(&r->poly, at, &expected) || expected != actual)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const char *const name[] = {"a", "b", "c", "d"};
    struct function f = {.data = data, .n = n};
    f.n_var = byte(&f, 7) % 5;
    const int64_t base[] = {1 + byte(&f, 8), 1 + byte(&f, 9) % 2, 1 + byte(&f, 10), byte(&f, 11) % 4};
    const struct oc_fit_in in = {
        .eval = value, .ctx = &f, .n_var = f.n_var, .n_out = 1, .base = base, .max_evals = 1500};
    struct oc_fit *fit = oc_fit_new(&in);
    if (!fit)
        return 0;
    struct oc_fit_result r;
    struct oc_buf b = {0};
    oc_fit_output(fit, 0, &r);
    if (r.state == OC_FIT_FOUND)
        oc_rpoly_text(&r.poly, name, &b);
    check(fit, f.n_var, &r);
    oc_buf_free(&b);
    oc_rpoly_free(&r.poly);
    oc_fit_free(fit);
    return 0;
}
