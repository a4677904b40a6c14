/* Predictions for kernels and models, from a calibration; without one, from priors and the roofline. Times
 * are seconds, intervals are of one execution. */
#ifndef OC_PREDICT_H
#define OC_PREDICT_H

#include "analyze/analysis.h"
#include "estimate/calibrate.h"
#include "estimate/fusion_plan.h"
#include "estimate/recast.h"
#include "estimate/roofline.h"

/* ---- GPUs without a calibration ------------------------------------------------------------------- */

/* Time of a model on a GPU without a calibration: its kernels by the fusion plan, each with the efficiency
 * that published latencies of other devices have (hwdb/published.tsv), and the interval by their held-out
 * errors. Times are in seconds. */

/* Whether published latencies apply to the device: GPUs. */
bool oc_pooled_covers(const struct oc_device *device);

/* Sets the kernels and the total of an estimate without a calibration: the run is the sum of the kernels,
 * with the interval of models. The kernels are already in the requested type. */
struct oc_estimate;
void oc_pooled_predict(struct oc_estimate *e);

/* ---- predictions --------------------------------------------------------------------------------- */

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
    double decades;                   /* distance from the measured sizes */
    double widening;                  /* added to half-widths in ln for that */
    int32_t key;                      /* of the calibration; -1: none */
    double roof_s, t0_s, tc_s, tm_s;  /* roofline time: 0 if unknown */
    double assists_s, most_assists_s; /* what subnormal weights add: to t_s, to the upper ends */
    uint64_t signature;
};

struct oc_predict_opts {
    uint64_t const_bytes; /* of the model */
    bool band_only;       /* no point estimates: only roofline intervals */
};

/* Whether the calibration was made on the device: of the same name, or without one, and with the same last cache. */
bool oc_cal_is_of(const struct oc_calibration *cal, const struct oc_device *device);

/* cal may be NULL. A calibration of another device is transferred. */
void oc_predict_kernel(const struct oc_calibration *cal, const struct oc_device *device,
                       const struct oc_kernel *kernel, const struct oc_predict_opts *opts,
                       struct oc_prediction *out);

/* A kernel in a model: its prediction, and its executions per run. */
struct oc_model_part {
    const struct oc_prediction *prediction;
    double repeats;
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
/* parts in execution order. asynchronous: the host launches, the device executes later. */
void oc_predict_model(const struct oc_calibration *cal, const struct oc_model_part *part, size_t n,
                      bool asynchronous, struct oc_model_prediction *out);

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

/* Arithmetic whose peak the device file lacks is left out if it is at most this share of a model's operations (indices in
 * 64-bit integers); with more, the time is unknown. */
#define OC_MOST_LEFT_OUT 0.01

/* What differs between the device and the one that the calibration was made on; MOVED: nothing any more (cal_move.c). */
enum oc_cal_transfer { OC_TRANSFER_NONE, OC_TRANSFER_DEVICE, OC_TRANSFER_THREADS, OC_TRANSFER_MOVED };

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
    uint8_t transfer;                 /* enum oc_cal_transfer; of the calibration, whose interval it widens */
    bool pooled;                      /* without a calibration: from published latencies (pooled.c) */
    struct oc_model_prediction total;
    double band_lo_s, band_hi_s;               /* of a run, without a calibration; hi NAN: unknown */
    double measured_kernels_s, measured_run_s; /* NAN: not measured */
    uint32_t n_unknown;                        /* kernels without a prediction */
    const char
        *missing; /* "no DRAM bandwidth": of the device file, without which more than OC_MOST_LEFT_OUT of the
                          * operations have no time, and the run none; NULL */
    double left_out; /* operations of a run without a peak on the device, at most OC_MOST_LEFT_OUT of all */
    uint8_t left_out_class; /* enum oc_class of the first of them */
    uint32_t n_subnormal;   /* kernels with subnormal weights */
    /* their time in a run with other weights, and what these add: as predicted, at most */
    double subnormal_s, subnormal_added_s, subnormal_most_s;
    unsigned width_chars;         /* of the text for people; 0: no limit */
    const char *made;             /* of HTML, as in the options */
    const char *asynchronous;     /* NULL: kernels run sequentially; else the execution mode */
    struct oc_fusion_match match; /* of the plan with what was recorded; recorded 0: nothing was */
};

/* oc_estimate_make, oc_estimate_free: see onnxcost/estimate.h. */

/* Operations of a run for the kernel. */
double oc_kernel_operations(const struct oc_kernel_use *u);
/* Seconds of a run for the kernel: the centre of the interval if there is no point estimate; NAN. */
double oc_estimate_kernel_s(const struct oc_estimate *e, size_t i);

#endif
