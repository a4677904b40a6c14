/* Per-kernel cost curves of a device and a runtime, fitted from recorded profiles: a curve for each class and
 * type, with its error bars, and the measured kernels by signature. Made by calibrate.c, stored by
 * cal_file.c and cal_read.c, evaluated by predict.c. The formulas are those of curve.h. */
#ifndef OC_CALIBRATE_H
#define OC_CALIBRATE_H

#include "base/arena.h"
#include "estimate/samples.h"

/* T = t0 + (Tc^p + Tm^p)^(1/p); Tc = sum over units of F / (P ec), Tm = B / (W em);
 * activations of a processor that fit the caches of its cores count less, by the rates of the file (curve.h);
 * ec = Ec S(F; w_half) q_align q_wave, em = Em S(B; b_half), S(x; h) = x / (x + h). */
struct oc_cal_curve {
    double t0_s, ec, w_half_flop, em, b_half_bytes;
    double p;     /* 1, 2, 4, INFINITY */
    double wc;    /* bandwidth of the cache over that of DRAM */
    double alpha; /* the part of a working set that fits alpha * last cache is served by the cache */
    uint32_t tile_m, tile_n; /* 0: no wave quantisation */
    uint32_t align;          /* 1: none */
};

enum oc_cal_kind {
    OC_CAL_CURVE,  /* fitted */
    OC_CAL_PARENT, /* too few samples: the parent's curve, widened */
    OC_CAL_PRIOR,  /* no measurement: the shipped prior */
    OC_CAL_KIND_COUNT
};

#define OC_CAL_BINS 3
struct oc_cal_errors {                         /* of held-out predictions: |ln(T / prediction)| */
    double bound_s[OC_CAL_BINS - 1];           /* bin edges, in predicted time */
    double d80[OC_CAL_BINS], d95[OC_CAL_BINS]; /* half-widths in ln */
    double sd, bias;
    uint32_t n;
};

/* Of a group, the curve is that of its reference class (curve.h: oc_curve_reference); for another class of
 * the group it is scaled by the ratio of the shipped priors (oc_curve_rebase). */
struct oc_cal_key {
    uint8_t cls, dtype; /* dtype OC_CLASS_NONE: any type. cls OC_KC_COUNT + group: any class of the group */
    uint8_t kind;       /* enum oc_cal_kind */
    int32_t parent;     /* index of the parent key for shrinkage; -1: the shipped prior */
    struct oc_cal_curve curve;
    double peak_flop_per_s; /* reference of w_half_flop: other hardware keeps the ratio */
    uint32_t n, n_model;    /* distinct signatures, recordings */
    double flop_min, flop_max, bytes_min, bytes_max;
    bool ec_known, em_known; /* false: no sample is bound by it, the value is the prior's */
    double lomo_error;       /* median |ln ratio| of held-out predictions */
    double lambda;           /* selected weight of the prior */
    struct oc_cal_errors errors;
    const uint16_t *op; /* operator types of its samples (oc_kernel.op), ascending */
    uint32_t n_op;
};

/* ONNX Runtime's profiler takes about 4 us of every kernel, whatever its length: with a profile, kernels of
 * 161 networks took 0.3 to 1,500 us, and their sum minus 4 us each is 2 % from the time without a profile in
 * the median. The gap after a kernel that took t is gap * min(1, t / OC_CAL_GAP_FULL_S). */
#define OC_CAL_GAP_FULL_S 4.5e-6
static inline double oc_cal_gap_part(double kernel_s)
{
    return kernel_s < OC_CAL_GAP_FULL_S ? kernel_s / OC_CAL_GAP_FULL_S : 1;
}

struct oc_cal_signature {
    uint64_t signature;
    double t_s, sd; /* sd of ln t */
    uint32_t n;
};

struct oc_calibration {
    struct oc_arena arena;
    const char *device, *runtime, *runtime_version, *tool_version, *created; /* created: ISO date, "" */
    const char
        *from; /* "DEVICE, 2 threads": where its curves were fitted before they were moved here; "" or NULL */
    uint32_t threads;
    uint64_t checksum; /* of the samples */
    uint32_t n_sample, n_model, n_rejected;
    struct oc_cal_key *key;
    size_t n_key;
    struct oc_cal_signature *signature; /* by signature */
    size_t n_signature;
    struct oc_cal_errors again; /* of a signature measured in one model, predicted from other models */
    double dram_bytes_per_s, llc_bytes; /* of the measured device; 0: unknown */
    double t_fix_s;                     /* fixed time of a run, in addition to its kernels */
    double gap_s;    /* time after a long kernel; negative where profiling slows down kernels: oc_cal_gap */
    double tau, rho; /* sd of the error common to a model; correlation of equal kernels */
    double z80, z95; /* quantiles of standardised errors of whole models */
};

/* ---- calibrate -------------------------------------------------------------------------------------- */

/* Fits a calibration to measured kernels: a curve for each class and type, with shrinkage towards related
 * curves, and error bars from cross-validation by model. The result is bit-identical for any order of samples
 * and models. */

struct oc_calibrate_opts {
    uint32_t
        folds; /* number of folds for errors and choices; 0: one per group of related networks, at most 16 */
    const char *created; /* stored in the calibration; NULL: "" */
};

/* -1: no sample has both a known time and known counts. *out is freed by oc_calibration_free. */
int oc_calibrate(const struct oc_sample_set *set, const struct oc_device *device,
                 const struct oc_calibrate_opts *opts, struct oc_calibration **out, struct oc_err *err);

/* Of the last cache, bytes; 0: unknown. */
double oc_cal_llc_bytes(const struct oc_device *device);

/* Names of the device, the runtime and the tool, threads, size of the cache. created: NULL: none. */
void oc_cal_set_origin(struct oc_calibration *cal, const struct oc_sample_set *set,
                       const struct oc_device *device, const char *created);

/* NULL: the calibration has none. dtype OC_CLASS_NONE: any type; cls OC_KC_COUNT + group: a group. */
const struct oc_cal_key *oc_cal_find_key(const struct oc_calibration *cal, unsigned cls, unsigned dtype);
double oc_cal_gap(const struct oc_calibration *cal, double kernel_s); /* after a kernel that took that long */
const struct oc_cal_signature *oc_cal_find_signature(const struct oc_calibration *cal, uint64_t signature);

/* ---- conformal ----------------------------------------------------------------------------------- */

/* Conformal prediction: error bars from held-out predictions as split-conformal quantiles, valid for any
 * distribution, and the error common to whole models. */

#define OC_CONFORMAL_MIN     20 /* with fewer errors: the parent's quantiles, inflated */
#define OC_CONFORMAL_INFLATE 1.5

/* The smallest value not exceeded by at least ceil((n + 1) * level) of n values; with too few values, the
 * largest. NAN for n 0. Sorts v. */
double oc_conformal_quantile(double *v, size_t n, double level);

/* r: ln(T / prediction), t: predictions. Each bin has a third of the errors; fewer than 3 * OC_CONFORMAL_MIN
 * errors form one bin. parent: for n < OC_CONFORMAL_MIN; NULL: r's own quantiles, inflated. */
void oc_conformal_make(const double *r, const double *t_s, size_t n, const struct oc_cal_errors *parent,
                       struct oc_cal_errors *out);
unsigned oc_conformal_bin(const struct oc_cal_errors *e, double t_s);
/* Default without measurements: a normal distribution of this sd. */
void oc_conformal_assume(double sd, struct oc_cal_errors *out);

/* Of a held-out model: u = ln(measured / predicted), v = variance explained by its kernels; exact: part of
 * its time that was predicted from measurements of the same kernels, which do not share the common error. */
struct oc_model_error {
    double u, v, exact;
    uint32_t group; /* of related models */
};
#define OC_CONFORMAL_RHO 0.8
#define OC_Z80           1.2815515655446004 /* quantiles of the normal distribution */
#define OC_Z95           1.9599639845400545
/* Kernels of one model: share of its time, sd of the error, number per run. */
double oc_conformal_variance(double share, double sd, double repeats, double rho);
/* sd of a prediction, with the common error tau. Kernels measured in other models do not share all of it, but
 * their time depends on what the caches hold: at least a quarter. */
#define OC_CONFORMAL_EXACT 0.25
double oc_conformal_model_sd(double tau, double exact, double variance);
/* tau, z80, z95 from the models outside of the group `skip` (OC_CONFORMAL_ALL: from all): quantiles of |u| /
 * sd in which every group has the same weight; for fewer than 10 groups those of a normal distribution. */
#define OC_CONFORMAL_ALL UINT32_MAX
void oc_conformal_models(const struct oc_model_error *e, size_t n, uint32_t skip, struct oc_calibration *out);

/* ---- calibration files --------------------------------------------------------------------------- */

/* Layout (hwdb/calibration.rng is the schema):
 *
 *   calibration version="5" device runtime [runtime-version] [threads] [tool] [created] [from]
 *               checksum samples models rejected
 *     run       dram llc fix gap tau rho z80 z95     rates and sizes of the device, whole runs
 *     again     ERRORS                               of a signature, from model to model
 *     key       class [dtype] kind [parent] n models flop-min flop-max bytes-min bytes-max
 *               ec-known em-known lomo-error lambda peak [ops]
 *               ops: codes of its operator types, ascending
 *               class: a class of kernels, or "group:compute" ...
 *       curve   t0 ec w-half em b-half p wc alpha tile-m tile-n align
 *       errors  ERRORS
 *     kernel    id t sd n                            a measured signature
 *
 *   ERRORS: n sd bias bounds d80 d95 (lists, separated by blanks)
 *
 * Times are seconds, sizes FLOPs and bytes, rates per second; numbers are written so that they round-trip
 * exactly. parent is the index of a key, from 0. Unknown elements, values out of range, and cycles are errors
 * with their line. */

#define OC_CAL_MAX_FILE_BYTES (64u << 20)
#define OC_CAL_MAX_KEYS       4096u
#define OC_CAL_MAX_SIGNATURES 1000000u
#define OC_CAL_MAX_TEXT       100u /* limit of a name in bytes */

/* oc_calibration_load, oc_calibration_write: see onnxcost/estimate.h. */

/* name: for messages. *out is freed by oc_calibration_free. */
int oc_cal_read_mem(const char *name, const void *data, size_t n, struct oc_calibration **out,
                    struct oc_err *err);

/* Whether the text may be written to the file: short, UTF-8, no control characters. */
bool oc_cal_text_ok(const char *s);

/* ---- private to cal_read.c and cal_file.c: attributes that are plain numbers ------------------------ */

enum oc_cal_attr_kind { OC_CAL_A_DOUBLE, OC_CAL_A_U32, OC_CAL_A_FLAG };
struct oc_cal_attr {
    const char *name;
    uint8_t kind; /* enum oc_cal_attr_kind */
    size_t offset;
    double lo, hi; /* of a double; NAN is allowed where `nan` says so */
    bool nan;
};
struct oc_cal_attrs {
    const struct oc_cal_attr *attr;
    size_t n;
};
extern const struct oc_cal_attrs oc_cal_run_attrs, oc_cal_key_attrs, oc_cal_curve_attrs;
extern const char *const oc_cal_kind_names[OC_CAL_KIND_COUNT];

/* The elements of ERRORS, in order. */
struct oc_cal_error_list {
    const char *name;
    size_t offset, n; /* in struct oc_cal_errors */
};
extern const struct oc_cal_error_list oc_cal_error_lists[3];

#endif
