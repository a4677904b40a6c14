/* Conformal prediction: error bars from held-out predictions as split-conformal quantiles, valid for any
 * distribution, and the error common to whole models. */
#ifndef OC_CONFORMAL_H
#define OC_CONFORMAL_H

#include "estimate/calibrate.h"

#define OC_CONFORMAL_MIN     20 /* with fewer errors: the parent's quantiles, inflated */
#define OC_CONFORMAL_INFLATE 1.5

/* The smallest value not exceeded by at least ceil((n + 1) * level) of n values; with too few values, the
 * largest. NAN for n 0. Sorts v. */
double oc_conformal_quantile(double *v, size_t n, double level);

/* r: ln(T / prediction), t: predictions. Each bin has a third of the errors; fewer than 3 * OC_CONFORMAL_MIN
 * errors form one bin. parent: for n < OC_CONFORMAL_MIN; NULL: r's own quantiles, inflated. */
void oc_conformal_make(const double *r, const double *t_s, size_t n, const struct oc_cal_errors *parent,
                       struct oc_cal_errors *out);
unsigned oc_conformal_bin(const struct oc_cal_errors *e, double t_s);
/* The sd that corresponds to the 80 % interval of a prediction: robust against outliers. */
double oc_conformal_sd(const struct oc_cal_errors *e, double t_s);
/* Default without measurements: a normal distribution of this sd. */
void oc_conformal_assume(double sd, struct oc_cal_errors *out);

/* Of a held-out model: u = ln(measured / predicted), v = variance explained by its kernels; exact: part of
 * its time that was predicted from measurements of the same kernels, which do not share the common error. */
struct oc_model_error {
    double u, v, exact;
    uint32_t group; /* of related models */
};
#define OC_CONFORMAL_RHO 0.8
#define OC_Z80           1.2815515655446004 /* quantiles of the normal distribution */
#define OC_Z95           1.9599639845400545
/* Kernels of one model: share of its time, sd of the error, number per run. */
double oc_conformal_variance(double share, double sd, double repeats, double rho);
/* sd of a prediction, with the common error tau. Kernels measured in other models do not share all of it, but
 * their time depends on what the caches hold: at least a quarter. */
#define OC_CONFORMAL_EXACT 0.25
double oc_conformal_model_sd(double tau, double exact, double variance);
/* tau, z80, z95 from the models outside of the group `skip` (OC_CONFORMAL_ALL: from all): quantiles of |u| /
 * sd in which every group has the same weight; for fewer than 10 groups those of a normal distribution. */
#define OC_CONFORMAL_ALL UINT32_MAX
void oc_conformal_models(const struct oc_model_error *e, size_t n, uint32_t skip, struct oc_calibration *out);

#endif
