/* Fits one curve to the data of one key: continuous parameters by least squares, discrete ones by
 * enumeration. */
#ifndef OC_CAL_FIT_H
#define OC_CAL_FIT_H

#include "estimate/cal_data.h"

/* Logarithms, so that all have a similar scale: t0, Ec, w_half / P, Em, b_half / W (times in s), Wc. */
enum oc_cfit_param { OC_CFIT_T0, OC_CFIT_EC, OC_CFIT_TW, OC_CFIT_EM, OC_CFIT_TB, OC_CFIT_WC, OC_CFIT_PARAMS };
struct oc_cfit_theta {
    double x[OC_CFIT_PARAMS];
};

struct oc_cfit_choice {
    double p, alpha;
    uint32_t align, tile_m, tile_n;
};

/* A datum in the form of the fit. ec_off and em_off: of its class over the reference class (groups), else 1.
 */
struct oc_cfit_row {
    const struct oc_cal_datum *datum;
    double q, ec_off, em_off, peak;
};

struct oc_cfit_set {
    const struct oc_cfit_row *row;
    size_t n;
};

struct oc_cfit_prior {
    struct oc_cfit_theta mean, sd; /* sd 0: fixed */
    double lambda;
};

struct oc_cal_curve oc_cfit_curve(const struct oc_cfit_theta *theta, const struct oc_cfit_choice *choice,
                                  double peak_flop_per_s, double dram_bytes_per_s);
double oc_cfit_ln_time(const struct oc_cfit_theta *theta, const struct oc_cfit_choice *choice,
                       const struct oc_cfit_row *row, struct oc_curve_parts *parts);
void oc_cfit_align_rows(struct oc_cfit_row *row, size_t n, const struct oc_cfit_choice *choice); /* sets q */

/* From theta, with the current discrete choice; q must be set. Returns the loss. */
double oc_cfit_refine(const struct oc_cfit_set *set, const struct oc_cfit_choice *choice,
                      const struct oc_cfit_prior *prior, unsigned iterations, struct oc_cfit_theta *theta);

#define OC_CFIT_ALPHAS 4
struct oc_cfit_space { /* number of choices tried */
    double alpha[OC_CFIT_ALPHAS];
    unsigned n_alpha;
    bool align, tiles;
};
/* From the prior: the best choice and its parameters; sets q of the rows. */
double oc_cfit_search(struct oc_cfit_row *row, size_t n, const struct oc_cfit_space *space,
                      const struct oc_cfit_prior *prior, struct oc_cfit_choice *choice,
                      struct oc_cfit_theta *theta);

/* Which efficiencies the rows constrain: some rows are clearly bound by it. */
void oc_cfit_known(const struct oc_cfit_set *set, const struct oc_cfit_choice *choice,
                   const struct oc_cfit_theta *theta, bool *ec_known, bool *em_known);

/* ---- cal wall --------------------------------------------------------------------------------------- */

/* From kernels to whole runs: fixed time and gaps of a run, errors common to a model, and errors of
 * signatures. */

void oc_cal_fit_wall(const struct oc_cal_data *data, struct oc_calibration *out); /* t_fix_s, gap_s */
void oc_cal_fit_signatures(const struct oc_cal_data *data,
                           struct oc_calibration *out); /* of measured signatures */

#endif
