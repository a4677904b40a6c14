/* The fit of a calibration: its data, the curve of one key (continuous parameters by least squares, discrete
 * ones by enumeration), the tree of keys. */
#ifndef OC_CAL_FIT_H
#define OC_CAL_FIT_H

#include "estimate/curve.h"

/* ---- cal data ------------------------------------------------------------------------------------ */

/* Training data: samples evaluated for a device, merged by signature, in an order independent of the input
 * order, weighted, and assigned to folds (cross-validation). */

struct oc_cal_datum {
    struct oc_cal_point point;
    const struct oc_kernel *kernel;
    uint64_t signature;
    uint32_t model, fold; /* model: index in oc_cal_data.model */
    uint32_t runs, repeats;
    double t_s, ln_t;
    double spread; /* sd of ln t within the recording; NAN: unknown */
    double weight; /* square root of its share of its model's time; sums to 1 per model */
};

struct oc_cal_model {
    const struct oc_sample_model *model;
    uint32_t index; /* index in the sample set */
    uint32_t fold;
    double kernels_s; /* total weight of its data */
    double gap_sum;   /* as in struct oc_sample_model */
};

struct oc_cal_data {
    struct oc_cal_datum *item; /* sorted by model and kernel */
    size_t n;
    struct oc_cal_model *model; /* sorted by name */
    size_t n_model;
    uint32_t n_fold, n_rejected;
    enum oc_cal_device kind;
    uint64_t checksum;
};

/* folds 0: one per group. Everything is in the arena, which may be shared; the set and the device must
 * outlive it. */
void oc_cal_data_make(struct oc_arena *a, const struct oc_sample_set *set, const struct oc_device *device,
                      uint32_t folds, struct oc_cal_data *out);

/* Whether its time and counts are known. */
bool oc_cal_usable(const struct oc_sample *s, const struct oc_sample_set *set);
/* Faster than twice the roofline: the kernel (or the device) is misidentified. */
bool oc_cal_too_fast(const struct oc_sample *s, const struct oc_cal_point *point);

/* Networks that are left out together, because one would help to predict the other: those of one network or
 * family, and those that share kernels of a part of the time of either. group: of each model of the set,
 * [n_model], numbered by the first name in it. Returns the number of groups. */
uint32_t oc_cal_groups(const struct oc_sample_set *set, uint32_t *group);

/* ---- cal fit ------------------------------------------------------------------------------------- */

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

/* ---- cal keys ------------------------------------------------------------------------------------ */

/* The tree of keys (group, class, class and type) and their fits: one on all data, and one per fold without
 * the fold's data. */

struct oc_key_fit {
    uint8_t cls, dtype, kind; /* as in struct oc_cal_key */
    int32_t parent;
    double ec_shift, em_shift; /* ln, offset from the parent's parameters */
    double peak;
    struct oc_cfit_row *row;
    size_t n;
    struct oc_cfit_choice choice;
    struct oc_cfit_theta *theta; /* [n_fold + 1]: the last one is fitted to all data */
    double lambda;
    bool ec_known, em_known;
    double curve_error; /* weighted mean |ln ratio| of held-out rows */
    int32_t same_as;    /* its only type has all data of the class: copied from there; -1 */
};

struct oc_key_tree {
    struct oc_arena *arena;
    const struct oc_cal_data *data;
    double alpha[OC_CFIT_ALPHAS];
    unsigned n_alpha;
    struct oc_key_fit *key;
    size_t n_key;
    struct oc_leaf { /* key of each datum */
        int32_t key;
        size_t row;
    } * leaf;
};

void oc_key_tree_fit(struct oc_arena *a, const struct oc_cal_data *data, const struct oc_device *device,
                     struct oc_key_tree *out);

/* ln of the predictions, by the fits without a fold (n_fold: all data), for a row of the key. */
double oc_key_ln_time(const struct oc_key_fit *key, uint32_t fold, size_t row);
/* The same for a datum by its index, by the fit of its own key without its fold. */
double oc_key_held_out(const struct oc_key_tree *tree, size_t datum);
size_t
oc_key_distinct(const struct oc_key_fit *key); /* number of signatures; kernels without one count each */
struct oc_cal_curve oc_key_curve(const struct oc_key_fit *key, uint32_t fold, double dram_bytes_per_s);

#endif
