/* Latency estimate of a model on a device: its kernels, from a profile or from a fusion plan, each with its
 * prediction, and the total. */
#ifndef OC_ESTIMATE_H
#define OC_ESTIMATE_H

#include "estimate/fusion_plan.h"
#include "estimate/predict.h"

struct oc_estimate {
    struct oc_arena arena;
    const struct oc_analysis *analysis;
    const struct oc_device *device;
    const struct oc_calibration *cal; /* NULL: intervals only */
    const struct oc_join *join;       /* NULL: the kernels come from the fusion plan */
    enum oc_fusion_rules rules;       /* rules of the fusion plan */
    struct oc_kernel_list list;
    struct oc_prediction *prediction; /* of one execution, by kernel */
    double *measured_s;               /* of one execution; NULL: not measured */
    struct oc_model_prediction total;
    double band_lo_s, band_hi_s;               /* of a run: the sum of the intervals; without a calibration */
    double measured_kernels_s, measured_run_s; /* NAN: not measured */
    uint32_t n_unknown;                        /* kernels without a prediction */
    unsigned width_chars;                      /* of the text for people; 0: no limit */
    const char *asynchronous;                  /* NULL: kernels run sequentially; else the execution mode */
    struct oc_fusion_match match; /* of the plan with what was recorded; recorded 0: nothing was */
};

/* oc_estimate_make, oc_estimate_free: see onnxcost.h. */

/* Seconds of a run for the kernel: the centre of the interval if there is no point estimate; NAN. */
double oc_estimate_kernel_s(const struct oc_estimate *e, size_t i);

#endif
