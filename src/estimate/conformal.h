/* Error bars from errors of predictions that had not seen what they predict: split-conformal quantiles, which
 * hold for samples of any distribution, and what whole models have in common. */
#ifndef OC_CONFORMAL_H
#define OC_CONFORMAL_H

#include "estimate/calibration.h"

#define OC_CONFORMAL_MIN     20 /* fewer errors than this: the parent's, inflated */
#define OC_CONFORMAL_INFLATE 1.5

/* The smallest value that at least ceil((n + 1) * level) of n values do not exceed; of fewer values than that
 * takes, the largest. NAN for n 0. Sorts v. */
double oc_conformal_quantile(double *v, size_t n, double level);

/* r: ln(T / prediction), t: predictions. Bins hold a third of the errors each; fewer than 3 *
 * OC_CONFORMAL_MIN errors are one bin. parent: for n < OC_CONFORMAL_MIN; NULL: r's own quantiles, inflated.
 */
void oc_conformal_make(const double *r, const double *t_s, size_t n, const struct oc_cal_errors *parent,
                       struct oc_cal_errors *out);
unsigned oc_conformal_bin(const struct oc_cal_errors *e, double t_s);
/* The sd that goes with the 80 % interval of a prediction: failures far out do not widen it. */
double oc_conformal_sd(const struct oc_cal_errors *e, double t_s);
/* What is assumed where nothing was measured: a normal distribution of this sd. */
void oc_conformal_assume(double sd, struct oc_cal_errors *out);

/* Of one model with known times: u = ln(measured / predicted), v = variance that its kernels explain. */
struct oc_model_error {
    double u, v;
};
#define OC_CONFORMAL_RHO 0.8
/* Kernels of one model: share of its time, sd of its error, how often it is in the model. */
double oc_conformal_variance(double share, double sd, double repeats, double rho);
/* tau, z80, z95 (of |u| / sqrt(tau^2 + v), 10 models or more; else those of a normal distribution). */
void oc_conformal_models(const struct oc_model_error *e, size_t n, struct oc_calibration *out);

#endif
