#include "estimate/conformal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MIN_MODELS 10

static int conformal_by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double oc_conformal_quantile(double *v, size_t n, double level)
{
    if (!n)
        return NAN;
    qsort(v, n, sizeof(*v), conformal_by_value);
    double rank = ceil(((double)n + 1) * level - 1e-9);
    size_t i = rank < 1 ? 0 : (size_t)rank - 1;
    return v[i < n ? i : n - 1];
}

unsigned oc_conformal_bin(const struct oc_cal_errors *e, double t_s)
{
    unsigned bin = 0;
    while (bin < OC_CAL_BINS - 1 && t_s > e->bound_s[bin])
        bin++;
    return bin;
}

double oc_conformal_sd(const struct oc_cal_errors *e, double t_s)
{
    return e->d80[oc_conformal_bin(e, t_s)] / OC_Z80;
}

static void set_moments(const double *r, size_t n, struct oc_cal_errors *out)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++)
        sum += r[i];
    out->bias = n ? sum / (double)n : 0;
    for (size_t i = 0; i < n; i++)
        squares += r[i] * r[i];
    out->sd = n ? sqrt(squares / (double)n) : 0; /* centred at 0: predictions are not corrected for bias */
}

static void conformal_set_bounds(const double *t_s, size_t n, double *copy, struct oc_cal_errors *out)
{
    memcpy(copy, t_s, n * sizeof(*copy));
    qsort(copy, n, sizeof(*copy), conformal_by_value);
    for (size_t b = 0; b + 1 < OC_CAL_BINS; b++)
        out->bound_s[b] =
            n < (size_t)OC_CAL_BINS * OC_CONFORMAL_MIN ? INFINITY : copy[(b + 1) * n / OC_CAL_BINS - 1];
}

static void set_quantiles(const double *r, const double *t_s, size_t n, double *copy,
                          struct oc_cal_errors *out)
{
    for (unsigned b = 0; b < OC_CAL_BINS; b++) {
        size_t in = 0;
        for (size_t i = 0; i < n; i++)
            if (oc_conformal_bin(out, t_s[i]) == b)
                copy[in++] = fabs(r[i]);
        if (in) {
            out->d80[b] = oc_conformal_quantile(copy, in, 0.80);
            out->d95[b] = oc_conformal_quantile(copy, in, 0.95);
        } else {
            out->d80[b] = b ? out->d80[b - 1] : 0;
            out->d95[b] = b ? out->d95[b - 1] : 0;
        }
    }
}

static void inflate(struct oc_cal_errors *e, double by)
{
    for (unsigned b = 0; b < OC_CAL_BINS; b++) {
        e->d80[b] *= by;
        e->d95[b] *= by;
    }
    e->sd *= by;
}

void oc_conformal_assume(double sd, struct oc_cal_errors *out)
{
    *out = (struct oc_cal_errors){.sd = sd, .bound_s = {INFINITY, INFINITY}};
    for (unsigned b = 0; b < OC_CAL_BINS; b++) {
        out->d80[b] = OC_Z80 * sd;
        out->d95[b] = OC_Z95 * sd;
    }
}

void oc_conformal_make(const double *r, const double *t_s, size_t n, const struct oc_cal_errors *parent,
                       struct oc_cal_errors *out)
{
    if (n < OC_CONFORMAL_MIN && parent) {
        *out = *parent;
        inflate(out, OC_CONFORMAL_INFLATE);
        out->n = (uint32_t)n;
        out->bias = 0;
        return;
    }
    double *copy = oc_xmalloc((n ? n : 1) * sizeof(*copy));
    *out = (struct oc_cal_errors){.n = (uint32_t)n};
    set_moments(r, n, out);
    conformal_set_bounds(t_s, n, copy, out);
    set_quantiles(r, t_s, n, copy, out);
    if (n < OC_CONFORMAL_MIN)
        inflate(out, OC_CONFORMAL_INFLATE);
    free(copy);
}

double oc_conformal_variance(double share, double sd, double repeats, double rho)
{
    /* `repeats` equal kernels, each with share / repeats of the time */
    double each = repeats > 0 ? share / repeats : 0;
    return repeats * each * each * sd * sd * (1 + (fmax(repeats, 1) - 1) * rho);
}

/* Variance of a model's random effect (mean 0): its second moment minus the variance explained by its
 * kernels. */
static double tau_squared(const struct oc_model_error *e, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += e[i].u * e[i].u - e[i].v;
    return n ? fmax(0, sum / (double)n) : 0;
}

void oc_conformal_models(const struct oc_model_error *e, size_t n, struct oc_calibration *out)
{
    double tau2 = tau_squared(e, n);
    out->tau = sqrt(tau2);
    out->rho = OC_CONFORMAL_RHO;
    out->z80 = OC_Z80;
    out->z95 = OC_Z95;
    if (n < MIN_MODELS)
        return;
    double *z = oc_xmalloc(n * sizeof(*z));
    for (size_t i = 0; i < n; i++) {
        double var = tau2 + e[i].v;
        z[i] = var > 0 ? fabs(e[i].u) / sqrt(var) : 0;
    }
    out->z80 = oc_conformal_quantile(z, n, 0.80);
    out->z95 = oc_conformal_quantile(z, n, 0.95);
    free(z);
}
