/* The simple predictors that a calibration must beat. */
#ifndef OC_BASELINES_H
#define OC_BASELINES_H

#include "estimate/curve.h"

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
