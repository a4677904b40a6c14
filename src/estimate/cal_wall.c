#include "estimate/cal_wall.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "estimate/conformal.h"

#define ROUNDS       10
#define HUBER        0.05   /* share of the wall time */
#define GAP_LOWEST   (-0.9) /* of a short kernel: maximum profiling overhead per kernel */
#define SPREAD_LEAST 0.01
#define SPREAD_USUAL 0.05

static int by_double(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* ---- wall = kernels + t_fix + gap * n --------------------------------------------------------------------
 */

struct wall {
    double n, rest, scale, weight; /* kernel time, wall time minus kernel time, wall time */
};

static size_t collect_walls(const struct oc_cal_data *d, struct wall *out)
{
    size_t n = 0;
    for (size_t i = 0; i < d->n_model; i++) {
        const struct oc_cal_model *m = &d->model[i];
        double wall = m->model->plain_s > 0 ? m->model->plain_s : m->model->run_s;
        double sum = m->model->kernels_s > 0 ? m->model->kernels_s : m->kernels_s;
        double count = m->model->kernels ? m->model->kernels : m->kernels;
        if (wall > 0 && isfinite(wall) && sum > 0 && count > 0)
            out[n++] = (struct wall){count, wall - sum, wall, 1};
    }
    return n;
}

/* Weighted least squares of rest / scale; t_fix >= 0. A small ridge regularises the gap when all models have
 * one size. */
static void solve(const struct wall *w, size_t n, double lowest_gap, double *fix, double *gap)
{
    double s11 = 0, s12 = 0, s22 = 0, b1 = 0, b2 = 0;
    for (size_t i = 0; i < n; i++) {
        double q = w[i].weight / (w[i].scale * w[i].scale);
        s11 += q;
        s12 += q * w[i].n;
        s22 += q * w[i].n * w[i].n;
        b1 += q * w[i].rest;
        b2 += q * w[i].rest * w[i].n;
    }
    double det = s11 * s22 - s12 * s12;
    *fix = det > 1e-9 * s11 * s22 ? (b1 * s22 - b2 * s12) / det : 0;
    *fix = fmax(*fix, 0);
    *gap = (b2 - *fix * s12) / s22;
    if (*gap < lowest_gap) {
        *gap = lowest_gap;
        *fix = fmax(0, (b1 - *gap * s12) / s11);
    }
}

static double short_kernel(const struct oc_cal_data *d)
{
    double *t = oc_xmalloc((d->n + 1) * sizeof(*t));
    for (size_t i = 0; i < d->n; i++)
        t[i] = d->item[i].t_s;
    qsort(t, d->n, sizeof(*t), by_double);
    double v = d->n ? t[d->n / 20] : 0;
    free(t);
    return v;
}

void oc_cal_fit_wall(const struct oc_cal_data *d, struct oc_calibration *out)
{
    struct wall *w = oc_xmalloc((d->n_model + 1) * sizeof(*w));
    size_t n = collect_walls(d, w);
    out->t_fix_s = out->gap_s = 0;
    for (int round = 0; n && round < ROUNDS; round++) {
        solve(w, n, GAP_LOWEST * short_kernel(d), &out->t_fix_s, &out->gap_s);
        for (size_t i = 0; i < n; i++) {
            double r = fabs(w[i].rest - out->t_fix_s - out->gap_s * w[i].n) / w[i].scale;
            w[i].weight = r > HUBER ? HUBER / r : 1;
        }
    }
    free(w);
}

/* ---- signatures ------------------------------------------------------------------------------------------
 */

struct seen {
    uint64_t signature;
    double ln_t, spread;
    uint32_t fold, runs;
};

static int by_signature(const void *a, const void *b)
{
    const struct seen *x = a, *y = b;
    if (x->signature != y->signature)
        return x->signature < y->signature ? -1 : 1;
    if (x->ln_t != y->ln_t)
        return x->ln_t < y->ln_t ? -1 : 1;
    if (x->fold != y->fold)
        return x->fold < y->fold ? -1 : 1;
    return by_double(&x->spread, &y->spread);
}

static double median_ln(const struct seen *s, size_t n)
{
    return (s[(n - 1) / 2].ln_t + s[n / 2].ln_t) / 2;
}

/* Compares each recording of the signature with the median of those of other networks. */
static size_t held_against(const struct seen *s, size_t n, struct seen *others, double *r, double *t)
{
    size_t out = 0;
    for (size_t i = 0; i < n; i++) {
        size_t m = 0;
        for (size_t j = 0; j < n; j++)
            if (s[j].fold != s[i].fold)
                others[m++] = s[j];
        if (!m)
            continue;
        double known = median_ln(others, m);
        r[out] = s[i].ln_t - known;
        t[out++] = exp(known);
    }
    return out;
}

static double spread_of(const struct seen *s, size_t n, double between)
{
    double sum = 0;
    size_t k = 0;
    for (size_t i = 0; i < n; i++)
        if (isfinite(s[i].spread)) {
            sum += s[i].spread * s[i].spread;
            k++;
        }
    double within = k ? sqrt(sum / (double)k) : SPREAD_USUAL;
    return fmax(SPREAD_LEAST, between > 0 ? between : within);
}

static size_t next_signature(const struct seen *s, size_t i, size_t n)
{
    size_t end = i;
    while (end < n && s[end].signature == s[i].signature)
        end++;
    return end;
}

static void fill(const struct seen *s, size_t n, struct oc_calibration *out)
{
    double between = out->again.n >= OC_CONFORMAL_MIN ? out->again.sd : 0;
    for (size_t i = 0, end; i < n; i = end) {
        end = next_signature(s, i, n);
        uint32_t runs = 0;
        for (size_t j = i; j < end; j++)
            runs += s[j].runs;
        out->signature[out->n_signature++] = (struct oc_cal_signature){
            s[i].signature, exp(median_ln(s + i, end - i)), spread_of(s + i, end - i, between), runs};
    }
}

void oc_cal_fit_signatures(const struct oc_cal_data *d, struct oc_calibration *out)
{
    struct seen *s = oc_xmalloc((d->n + 1) * sizeof(*s)), *others = oc_xmalloc((d->n + 1) * sizeof(*s));
    double *r = oc_xmalloc((d->n + 1) * sizeof(*r)), *t = oc_xmalloc((d->n + 1) * sizeof(*t));
    size_t n = 0, k = 0;
    for (size_t i = 0; i < d->n; i++)
        if (d->item[i].signature)
            s[n++] = (struct seen){d->item[i].signature, d->item[i].ln_t, d->item[i].spread, d->item[i].fold,
                                   d->item[i].runs};
    qsort(s, n, sizeof(*s), by_signature);
    for (size_t i = 0, end; i < n; i = end) {
        end = next_signature(s, i, n);
        k += held_against(s + i, end - i, others, r + k, t + k);
    }
    oc_conformal_make(r, t, k, NULL, &out->again);
    out->signature = OC_NEW_ARRAY(&out->arena, n + 1, struct oc_cal_signature);
    fill(s, n, out);
    free(s);
    free(others);
    free(r);
    free(t);
}
