/* Cross-validation of predictions: each group of related networks (oc_cal_groups) is left out in turn, a
 * calibration is fitted without it, and its predictions are compared with the measurements. Simple predictors
 * are included for comparison. Networks of single operators are in every training set. */
#ifndef OC_VALIDATE_H
#define OC_VALIDATE_H

#include "estimate/curve.h"
#include "estimate/predict.h"
#include "estimate/samples.h"

enum oc_predictor {
    OC_PREDICTOR_CURVES, /* the calibration, exact signatures not used */
    OC_PREDICTOR_FULL,   /* the calibration as used: measured signatures of other models first */
    OC_PREDICTOR_ROOFLINE,
    OC_PREDICTOR_GLOBAL,  /* roofline times one factor */
    OC_PREDICTOR_CLASS,   /* roofline times a factor for each class */
    OC_PREDICTOR_NEAREST, /* time of the kernel of the same class nearest in log size */
    OC_PREDICTOR_COUNT
};
const char *oc_predictor_name(unsigned predictor);

struct oc_kernel_scores {
    size_t n;             /* kernels (model and signature) */
    double wmape;         /* sum |predicted - measured| / sum measured */
    double median_abs_ln; /* median |ln(predicted / measured)| */
    double bias;          /* mean ln(predicted / measured) */
    double spearman;
    double cover80, cover95; /* share of kernels inside their intervals; NAN: the predictor has none */
};

struct oc_model_scores {
    size_t n;
    double ape_mean, ape_median, ape_p90, within10, within20, spearman, bias, cover80, cover95;
};

struct oc_predictor_scores {
    struct oc_kernel_scores all, seen, unseen; /* by whether other models contain the signature */
    struct oc_model_scores models;             /* sums over all kernels of a recording */
    struct oc_model_scores models_unseen;      /* over its kernels with unseen signatures */
    struct oc_model_scores runs;      /* wall time (plain_s, else run_s) of recordings that have one */
    struct oc_model_scores long_runs; /* those that take 1 ms and more */
};

/* A held-out recording. *_unseen_s: over its kernels with unseen signatures; NAN: none. */
struct oc_validated_model {
    uint32_t model; /* index in the sample set */
    uint32_t fold;
    size_t kernels, unseen;
    double measured_s, measured_unseen_s;
    double predicted_s[OC_PREDICTOR_COUNT], predicted_unseen_s[OC_PREDICTOR_COUNT];
    struct oc_model_prediction
        run;               /* wall time, from the planned kernels if there is a plan, as `estimate` does */
    double run_measured_s; /* NAN: not measured */
};

struct oc_validated_class {
    uint8_t cls;
    size_t n;
    double time_share;              /* share of all measured kernel time */
    struct oc_kernel_scores unseen; /* of OC_PREDICTOR_CURVES */
};

struct oc_validation {
    struct oc_arena arena;
    size_t n_fold; /* groups */
    struct oc_predictor_scores score[OC_PREDICTOR_COUNT];
    struct oc_validated_model *model; /* as in the sample set */
    size_t n_model;
    struct oc_validated_class *cls; /* those that occur */
    size_t n_cls;
};

struct oc_validate_opts {
    bool no_forest;
    uint32_t inner_folds; /* 0: 5 */
};

/* -1: fewer than two groups. *out is freed by oc_validation_free. */
int oc_validate(const struct oc_sample_set *set, const struct oc_device *device,
                const struct oc_validate_opts *opts, struct oc_validation **out, struct oc_err *err);
void oc_validation_free(struct oc_validation *v);

/* Sets the errors common to a model and their quantiles from a validation; with fewer than two groups they
 * stay. */
void oc_validation_model_errors(const struct oc_sample_set *set, const struct oc_device *device,
                                bool no_forest, struct oc_calibration *cal);

/* ---- scores ----------------------------------------------------------------------------------------- */

/* Error measures of predictions. */

struct oc_score_item {
    double measured, predicted;    /* items without a positive prediction are skipped */
    double lo80, hi80, lo95, hi95; /* NAN: the predictor has no intervals */
};
void oc_score_kernels(const struct oc_score_item *item, const double *repeats, size_t n,
                      struct oc_kernel_scores *out);
void oc_score_models(const struct oc_score_item *item, size_t n, struct oc_model_scores *out);

/* Spearman rank correlation, ties at their mean rank; NAN for fewer than 2. */
double oc_spearman(const double *a, const double *b, size_t n);

/* ---- validation ------------------------------------------------------------------------------------- */

/* A validation with its samples, for reports. */

struct oc_validation_result {
    const struct oc_samples *samples;
    struct oc_validation *v;
};

/* ---- baselines ----------------------------------------------------------------------------------- */

/* The simple predictors that a calibration must beat. */

struct oc_baseline_row {
    struct oc_cal_point point;
    double t_s, weight;
};

struct oc_baselines {
    /* ln of time over roofline: the median of all kernels; by class and type (the last: any type) the factor
     * that makes sums equal. NAN: no such kernel. */
    double global, cls[OC_KC_COUNT][OC_CLASS_COUNT + 1];
};
/* train: pointers to rows; they are reordered. */
void oc_baselines_fit(const struct oc_baseline_row **train, size_t n, struct oc_baselines *out);
/* predictor: OC_PREDICTOR_ROOFLINE .. OC_PREDICTOR_NEAREST of validate.h; NAN: no prediction. */
double oc_baseline_time(const struct oc_baselines *b, const struct oc_baseline_row *const *train, size_t n,
                        unsigned predictor, const struct oc_cal_point *point);

#endif
