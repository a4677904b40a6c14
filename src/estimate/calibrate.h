/* From measured kernels to a calibration: a curve for each class and type, shrunk to its relatives', error
 * bars from folds that leave models out. The order of samples and models does not matter, to the bit. */
#ifndef OC_CALIBRATE_H
#define OC_CALIBRATE_H

#include "estimate/calibration.h"

struct oc_calibrate_opts {
    uint32_t folds; /* that models are dealt to for errors and choices; 0: one a model_id, 40 at most */
    bool by_family; /* folds never part a family */
    bool no_forest; /* curves only */
    const char *tool_version, *created; /* go into the calibration; NULL: "" */
};

/* -1: no sample with a known time and known counts. *out is freed by oc_calibration_free. */
int oc_calibrate(const struct oc_sample_set *set, const struct oc_device *device,
                 const struct oc_calibrate_opts *opts, struct oc_calibration **out, struct oc_err *err);

/* NULL: the calibration has none. dtype OC_CLASS_NONE: any type; cls OC_KC_COUNT + group: a group. */
const struct oc_cal_key *oc_cal_find_key(const struct oc_calibration *cal, unsigned cls, unsigned dtype);
const struct oc_cal_signature *oc_cal_find_signature(const struct oc_calibration *cal, uint64_t signature);

#endif
