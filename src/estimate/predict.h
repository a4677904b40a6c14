/* Predictions for kernels and models, from a calibration; without one, from priors and the roofline. Times
 * are seconds, intervals are of one execution. */
#ifndef OC_PREDICT_H
#define OC_PREDICT_H

#include "analyze/analysis.h"
#include "estimate/calibrate.h"
#include "estimate/fusion_plan.h"
#include "estimate/recast.h"
#include "estimate/roofline.h"

/* Basis of a prediction, best first. */
enum oc_evidence {
    OC_EVIDENCE_EXACT,      /* this kernel was measured on this device and runtime */
    OC_EVIDENCE_CALIBRATED, /* kernels of its class were measured */
    OC_EVIDENCE_RELATED,    /* kernels of related classes were measured */
    OC_EVIDENCE_SISTER,     /* kernels of its class, with the same runtime on other hardware */
    OC_EVIDENCE_PRIOR,      /* the shipped prior for this kind of hardware; of GPUs published latencies */
    OC_EVIDENCE_BAND,       /* the roofline at 0.3 to 0.9 efficiency: no point estimate, an interval */
    OC_EVIDENCE_NONE,       /* counts are unknown */
    OC_EVIDENCE_COUNT
};
const char *oc_evidence_name(unsigned evidence); /* "calibrated" */

struct oc_prediction {
    double t_s; /* NAN: no point estimate */
    double lo80_s, hi80_s, lo95_s, hi95_s;
    double sd;        /* of ln t */
    uint8_t evidence; /* enum oc_evidence */
    uint8_t bound;    /* enum oc_bound */
    bool in_cache;    /* its activations are served by the last cache */
    bool extrapolated;
    double decades;                  /* distance from the measured sizes */
    double widening;                 /* added to half-widths in ln for that */
    int32_t key;                     /* of the calibration; -1: none */
    double roof_s, t0_s, tc_s, tm_s; /* roofline time: 0 if unknown */
    double assists_s,
        most_assists_s; /* what subnormal weights add: to t_s, to the upper ends (subnormal.c) */
    uint64_t signature;
};

struct oc_predict_opts {
    uint64_t const_bytes; /* of the model */
    bool no_exact;        /* ignore the measurement of the kernel itself */
    bool band_only;       /* no point estimates: only roofline intervals */
};

/* cal may be NULL. A calibration of another device is transferred. */
void oc_predict_kernel(const struct oc_calibration *cal, const struct oc_device *device,
                       const struct oc_kernel *kernel, const struct oc_predict_opts *opts,
                       struct oc_prediction *out);

/* A kernel in a model: its prediction, and its executions per run. */
struct oc_model_part {
    const struct oc_prediction *prediction;
    double repeats;
};

struct oc_replay { /* an asynchronous device: the host launches, the device executes later */
    bool on;
    double issue_s, sync_s; /* NAN: from the calibration, or assumed */
};

struct oc_model_prediction {
    double t_s; /* of a run; NAN: no kernel has a point estimate */
    double lo80_s, hi80_s, lo95_s, hi95_s, sd;
    double kernels_s, gaps_s, fix_s;  /* t_s = their sum on serial devices */
    double share[OC_EVIDENCE_COUNT];  /* share of kernels_s; intervals count with their centre */
    double t0_s, compute_s, memory_s; /* share of kernels_s, by bound */
    size_t n_unknown;                 /* kernels without point estimate and interval: not in the sum */
    double extrapolated;              /* share of kernels_s */
    double variance; /* of ln t, from the kernels alone: without the error common to a model */
    double tau, z80, z95;
};
/* parts in execution order. gpu-like devices: replay->on. */
void oc_predict_model(const struct oc_calibration *cal, const struct oc_model_part *part, size_t n,
                      const struct oc_replay *replay, struct oc_model_prediction *out);

/* Sets sd and interval for another common error and other quantiles. */
void oc_predict_interval(double tau, double z80, double z95, struct oc_model_prediction *m);

/* The fusion rules of a runtime on a device. */
enum oc_fusion_rules oc_fusion_rules_of(const char *runtime, const struct oc_device *device);
/* The rules `name` (NULL: as fits); those of ONNX Runtime with all optimizations for the instruction set
 * `simd`, NULL: that of the device. */
int oc_fusion_choose(const char *runtime, const struct oc_device *device, const char *name, const char *simd,
                     enum oc_fusion_rules *out, struct oc_err *err);

/* ---- estimate --------------------------------------------------------------------------------------- */

/* Latency estimate of a model on a device: its kernels, from a profile or from a fusion plan, each with its
 * prediction, and the total. */

struct oc_estimate {
    struct oc_estimate_info *info;
    struct oc_arena arena;
    const struct oc_analysis *analysis;
    const struct oc_device *device;
    const struct oc_calibration *cal; /* NULL: intervals only */
    const struct oc_join *join;       /* NULL: the kernels come from the fusion plan */
    const struct oc_recast *as;       /* NULL: the types of the model */
    enum oc_fusion_rules rules;       /* rules of the fusion plan */
    struct oc_kernel_list list;
    struct oc_prediction *prediction; /* of one execution, by kernel */
    double *measured_s;               /* of one execution; NULL: not measured */
    bool pooled;                      /* without a calibration: from published latencies (pooled.h) */
    struct oc_model_prediction total;
    double band_lo_s, band_hi_s;               /* of a run: the sum of the intervals; without a calibration */
    double measured_kernels_s, measured_run_s; /* NAN: not measured */
    uint32_t n_unknown;                        /* kernels without a prediction */
    uint32_t n_subnormal;                      /* kernels with subnormal weights (subnormal.c) */
    /* their time in a run with other weights, and what these add: as predicted, at most */
    double subnormal_s, subnormal_added_s, subnormal_most_s;
    unsigned width_chars;         /* of the text for people; 0: no limit */
    const char *made;             /* of HTML, as in the options */
    const char *asynchronous;     /* NULL: kernels run sequentially; else the execution mode */
    struct oc_fusion_match match; /* of the plan with what was recorded; recorded 0: nothing was */
};

/* oc_estimate_make, oc_estimate_free: see onnxcost/estimate.h. */

/* Seconds of a run for the kernel: the centre of the interval if there is no point estimate; NAN. */
double oc_estimate_kernel_s(const struct oc_estimate *e, size_t i);

/* ---- subnormal ---------------------------------------------------------------------------------------- */

/* Weights that are subnormal floats (below 2^-126). Intel processors multiply with them in microcode: a vector
 * multiply-add with one in it takes 150 cycles. In kernels of 14 public networks, ONNX Runtime 1.30 on AVX-512, the time
 * above that of the same kernel with other weights was 134 to 187 cycles per such instruction where the input has both
 * signs, and less after Relu, since products with zero are exact. */

/* Share of subnormal numbers in the f32 constants that the nodes read, 0 to 1: of a sample of at most 16384
 * elements of each constant, at 16 places. */
double oc_subnormal_share(const struct oc_model *m, const uint32_t *node, uint32_t n_node);

/* A convolution with 0.3 % of such weights took nine times as long. */
#define OC_SUBNORMAL_LEAST 0.001
/* A kernel with such weights takes at most so many times its time: the largest measured ratio, 32, rounded
 * up. */
#define OC_SUBNORMAL_MOST 40

/* Sets `assisted` and `rectified` of kernels that multiply such weights on such a processor. */
void oc_subnormal_mark(const struct oc_model *m, const struct oc_device *d, struct oc_kernel_list *list);

/* Seconds that they add to one execution of a marked kernel: as expected, 0 on processors of AMD, which were not
 * measured; and if no input is zero. */
struct oc_assists {
    double usual_s, most_s;
};
struct oc_assists oc_subnormal_assists(const struct oc_kernel *k, const struct oc_device *d);

#endif
