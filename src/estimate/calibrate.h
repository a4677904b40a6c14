/* Fits a calibration to measured kernels: a curve for each class and type, with shrinkage towards related
 * curves, and error bars from cross-validation by model. The result is bit-identical for any order of samples
 * and models. */
#ifndef OC_CALIBRATE_H
#define OC_CALIBRATE_H

#include "estimate/calibration.h"

struct oc_calibrate_opts {
    uint32_t folds; /* number of folds for errors and choices; 0: one per model_id, at most 40 */
    bool by_family; /* keep families in one fold */
    bool no_forest; /* no residual forests */
    const char *tool_version, *created; /* stored in the calibration; NULL: "" */
};

/* -1: no sample has both a known time and known counts. *out is freed by oc_calibration_free. */
int oc_calibrate(const struct oc_sample_set *set, const struct oc_device *device,
                 const struct oc_calibrate_opts *opts, struct oc_calibration **out, struct oc_err *err);

/* NULL: the calibration has none. dtype OC_CLASS_NONE: any type; cls OC_KC_COUNT + group: a group. */
const struct oc_cal_key *oc_cal_find_key(const struct oc_calibration *cal, unsigned cls, unsigned dtype);
const struct oc_cal_signature *oc_cal_find_signature(const struct oc_calibration *cal, uint64_t signature);

#endif
