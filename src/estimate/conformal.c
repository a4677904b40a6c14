/* Conformal prediction: half-widths of intervals from errors of held-out predictions, of kernels and of whole
 * models. Nothing is assumed of their distribution. */
#include "estimate/calibrate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ck.h"

#define MIN_GROUPS 10

double oc_conformal_quantile(double *v, size_t n, double level)
{
    if (!n)
        return NAN;
    qsort(v, n, sizeof(*v), oc_by_double);
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
    qsort(copy, n, sizeof(*copy), oc_by_double);
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

double oc_conformal_model_sd(double tau, double exact, double variance)
{
    double common = tau * fmax(1 - exact, OC_CONFORMAL_EXACT);
    return sqrt(common * common + variance);
}

struct weighted_error {
    double z, weight;
    const struct oc_model_error *e;
};

OC_BY_TWO(conformal_by_z, struct weighted_error, z, weight)

OC_BY_TWO(conformal_by_group, struct weighted_error, e->group, e->u)

/* Errors outside of the group, with weights that sum to 1 in each group; returns the number of groups. */
static size_t weigh_groups(const struct oc_model_error *e, size_t n, uint32_t skip, struct weighted_error *w,
                           size_t *n_used)
{
    size_t used = 0, groups = 0;
    for (size_t i = 0; i < n; i++)
        if (e[i].group != skip)
            w[used++].e = &e[i];
    qsort(w, used, sizeof(*w), conformal_by_group);
    for (size_t i = 0, end; i < used; i = end, groups++) {
        for (end = i; end < used && w[end].e->group == w[i].e->group;)
            end++;
        for (size_t k = i; k < end; k++)
            w[k].weight = 1 / (double)(end - i);
    }
    *n_used = used;
    return groups;
}

/* Variance of a model's random effect (mean 0): its second moment minus the variance explained by its
 * kernels. */
static double common_sd(const struct weighted_error *w, size_t n)
{
    double sum = 0, share = 0;
    for (size_t i = 0; i < n; i++) {
        double part = fmax(1 - w[i].e->exact, OC_CONFORMAL_EXACT);
        sum += w[i].weight * (w[i].e->u * w[i].e->u - w[i].e->v);
        share += w[i].weight * part * part;
    }
    return share > 1e-9 ? sqrt(fmax(0, sum / share)) : 0;
}

/* The smallest z with at least the level of all weight below it, of `groups` groups and one more. */
static double quantile_of_groups(const struct weighted_error *w, size_t n, size_t groups, double level)
{
    double need = ((double)groups + 1) * level - 1e-9, sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += w[i].weight;
        if (sum >= need)
            return w[i].z;
    }
    return n ? w[n - 1].z : NAN;
}

void oc_conformal_models(const struct oc_model_error *e, size_t n, uint32_t skip, struct oc_calibration *out)
{
    struct weighted_error *w = oc_xmalloc((n + 1) * sizeof(*w));
    size_t used = 0, groups = weigh_groups(e, n, skip, w, &used);
    out->tau = common_sd(w, used);
    out->rho = OC_CONFORMAL_RHO;
    out->z80 = OC_Z80;
    out->z95 = OC_Z95;
    if (groups >= MIN_GROUPS) {
        for (size_t i = 0; i < used; i++) {
            double sd = oc_conformal_model_sd(out->tau, w[i].e->exact, w[i].e->v);
            w[i].z = sd > 0 ? fabs(w[i].e->u) / sd : 0;
        }
        qsort(w, used, sizeof(*w), conformal_by_z);
        out->z80 = quantile_of_groups(w, used, groups, 0.80);
        out->z95 = quantile_of_groups(w, used, groups, 0.95);
    }
    free(w);
}
