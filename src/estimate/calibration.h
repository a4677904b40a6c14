/* What was learnt of a device and a runtime from measured kernels: a curve for each class and type, with its
 * error bars, and the kernels themselves by signature. calibrate.c makes it, cal_file.c stores it, predict.c
 * asks it. The formulas are those of curve.h. */
#ifndef OC_CALIBRATION_H
#define OC_CALIBRATION_H

#include "estimate/samples.h"

/* T = t0 + (Tc^p + Tm^p)^(1/p); Tc = sum over units of F / (P ec), Tm = B / (W em);
 * activations of a processor that fit the caches of its cores count less, by the rates of the file (curve.h);
 * ec = Ec S(F; w_half) q_align q_wave, em = Em S(B; b_half), S(x; h) = x / (x + h). */
struct oc_cal_curve {
    double t0_s, ec, w_half_flop, em, b_half_bytes;
    double p;                /* 1, 2, 4, INFINITY */
    double wc;               /* bandwidth of the cache over that of DRAM */
    double alpha;            /* what of a working set fits alpha * last cache is served by the cache */
    uint32_t tile_m, tile_n; /* 0: no wave quantisation */
    uint32_t align;          /* 1: none */
};

enum oc_cal_kind {
    OC_CAL_CURVE,    /* fitted */
    OC_CAL_CONSTANT, /* roofline times a constant (ec = em, t0 = 0, p = inf): the curve was not better enough
                      */
    OC_CAL_PARENT,   /* too few samples: the parent's curve, widened */
    OC_CAL_PRIOR,    /* nothing measured: the shipped prior */
    OC_CAL_KIND_COUNT
};

#define OC_CAL_BINS 3
struct oc_cal_errors {               /* of predictions that had not seen the model: |ln(T / prediction)| */
    double bound_s[OC_CAL_BINS - 1]; /* predicted time between the bins */
    double d80[OC_CAL_BINS], d95[OC_CAL_BINS]; /* half-widths in ln */
    double sd, bias;
    uint32_t n;
};

struct oc_forest; /* forest.h */

/* Of a group, the curve is that of its reference class (curve.h: oc_curve_reference); for another class of
 * the group it is moved by how the shipped priors of the two differ (oc_curve_rebase). */
struct oc_cal_key {
    uint8_t cls, dtype; /* dtype OC_CLASS_NONE: any type. cls OC_KC_COUNT + group: any class of the group */
    uint8_t kind;       /* enum oc_cal_kind */
    int32_t parent;     /* index of the key it shrinks to; -1: the shipped prior */
    struct oc_cal_curve curve;
    double peak_flop_per_s; /* that w_half_flop goes with: its ratio to it is what other hardware has too */
    uint32_t n, n_model;    /* distinct signatures, recordings */
    double flop_min, flop_max, bytes_min, bytes_max;
    bool ec_known, em_known; /* false: no sample is bound by it, the prior stands */
    double lomo_error;       /* median |ln ratio| of predictions that had not seen the model */
    double lambda;           /* weight of the prior that was chosen */
    struct oc_cal_errors errors;
    int32_t residual; /* index of the forest that corrects it; -1: none */
};

struct oc_cal_signature {
    uint64_t signature;
    double t_s, sd; /* sd of ln t */
    uint32_t n;
};

struct oc_calibration {
    struct oc_arena arena;
    const char *device, *runtime, *runtime_version, *tool_version, *created; /* created: ISO date, "" */
    uint32_t threads;
    uint64_t checksum; /* of the samples */
    uint32_t n_sample, n_model, n_rejected;
    struct oc_cal_key *key;
    size_t n_key;
    struct oc_cal_signature *signature; /* by signature */
    size_t n_signature;
    struct oc_cal_errors again; /* of a signature measured in one model, held against it in others */
    const struct oc_forest *const *forest;
    size_t n_forest;
    double dram_bytes_per_s, llc_bytes; /* of the device it was measured on; 0: not known */
    double t_fix_s;                     /* of a run, beside its kernels */
    double gap_s;                       /* between kernels: of each; negative where profiling slows kernels */
    double tau, rho;                    /* sd of a model's common error; correlation of equal kernels */
    double z80, z95;                    /* of standardised errors of whole models */
};

#endif
