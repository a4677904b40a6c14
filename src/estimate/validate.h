/* Cross-validation of calibrations: each group of related networks (oc_cal_groups) is left out in turn, a
 * calibration is fitted without it, and the times of runs that it predicts are compared with the measured ones.
 * Networks of single operators are in every training set. */
#ifndef OC_VALIDATE_H
#define OC_VALIDATE_H

#include "estimate/predict.h"
#include "estimate/samples.h"

/* A recording, predicted from its planned kernels as `estimate` does, by a calibration without its group. */
struct oc_held_out {
    uint32_t group;                 /* OC_NO_GROUP: it was never left out */
    struct oc_model_prediction run; /* its interval comes from the errors of the other groups */
    double measured_s;              /* of a run, without the profiler if that is known; NAN: unknown */
};
#define OC_NO_GROUP UINT32_MAX

struct oc_validation {
    struct oc_arena arena;
    uint32_t n_group;
    struct oc_held_out *model; /* [n_model], in the order of the sample set */
    size_t n_model;
};

/* -1: fewer than two groups. *out is freed by oc_validation_free. */
int oc_validate(const struct oc_sample_set *set, const struct oc_device *device, struct oc_validation **out,
                struct oc_err *err);
void oc_validation_free(struct oc_validation *v);

/* Sets the errors common to a model and their quantiles from a validation; with fewer than two groups they
 * stay. */
void oc_validation_model_errors(const struct oc_sample_set *set, const struct oc_device *device,
                                struct oc_calibration *cal);

/* ---- errors ----------------------------------------------------------------------------------------- */

/* Of the predicted runs of a group, or of all groups. */
struct oc_run_errors {
    size_t n;              /* recordings with a measured and a predicted run */
    double median, most90; /* |predicted / measured - 1|: the median, the 90th percentile; NAN for n 0 */
    double inside;         /* share of the measured runs in their 80 % interval */
};
#define OC_ALL_GROUPS OC_NO_GROUP
struct oc_run_errors oc_validation_errors(const struct oc_validation *v, uint32_t group);

#endif
