/* What a calibration says of kernels that were not measured, and of models made of them; without one, what
 * priors and the roofline say. Times are seconds, intervals are of one execution. */
#ifndef OC_PREDICT_H
#define OC_PREDICT_H

#include "estimate/calibration.h"

/* What a prediction rests on, best first. */
enum oc_evidence {
    OC_EVIDENCE_EXACT,      /* this kernel was measured on this device and runtime */
    OC_EVIDENCE_CALIBRATED, /* kernels of its class were */
    OC_EVIDENCE_RELATED,    /* kernels of related classes were */
    OC_EVIDENCE_SISTER,     /* of its class, with the same runtime on other hardware */
    OC_EVIDENCE_PRIOR,      /* the shipped prior of the kind of hardware */
    OC_EVIDENCE_BAND,       /* the roofline at 0.3 to 0.9 efficiency: no point, a band */
    OC_EVIDENCE_NONE,       /* counts are not known */
    OC_EVIDENCE_COUNT
};
const char *oc_evidence_name(unsigned evidence); /* "calibrated" */

struct oc_prediction {
    double t_s; /* NAN: no point */
    double lo80_s, hi80_s, lo95_s, hi95_s;
    double sd;        /* of ln t */
    uint8_t evidence; /* enum oc_evidence */
    uint8_t bound;    /* enum oc_bound */
    bool in_cache;    /* its activations count as served by the last cache */
    bool extrapolated;
    double decades;                  /* how far outside the sizes that were measured */
    double widening;                 /* added to half-widths in ln for that */
    int32_t key;                     /* of the calibration; -1: none */
    double roof_s, t0_s, tc_s, tm_s; /* roof: 0 if not known */
    uint64_t signature;
};

struct oc_predict_opts {
    uint64_t const_bytes; /* of the model */
    bool no_exact;        /* pretend that no kernel was measured itself */
    bool band_only;       /* no point: nothing but the band of the roofline */
};

/* cal may be NULL. A calibration of another device is a sister's. */
void oc_predict_kernel(const struct oc_calibration *cal, const struct oc_device *device,
                       const struct oc_kernel *kernel, const struct oc_predict_opts *opts,
                       struct oc_prediction *out);

/* A kernel in a model: what was predicted, and how often a run has it. */
struct oc_model_part {
    const struct oc_prediction *prediction;
    double repeats;
};

struct oc_replay { /* an asynchronous device: the host issues, the device works behind it */
    bool on;
    double issue_s, sync_s; /* NAN: what the calibration says, or an assumption */
};

struct oc_model_prediction {
    double t_s; /* of a run; NAN: no kernel has a point */
    double lo80_s, hi80_s, lo95_s, hi95_s, sd;
    double kernels_s, gaps_s, fix_s;  /* t_s = their sum on serial devices */
    double share[OC_EVIDENCE_COUNT];  /* of kernels_s; bands count with the middle of theirs */
    double t0_s, compute_s, memory_s; /* of kernels_s: what bounds it */
    size_t n_unknown;                 /* kernels without point and band: not in the sum */
    double extrapolated;              /* share of kernels_s */
    double tau, z80, z95;
};
/* parts in order of execution. gpu-like devices: replay->on. */
void oc_predict_model(const struct oc_calibration *cal, const struct oc_model_part *part, size_t n,
                      const struct oc_replay *replay, struct oc_model_prediction *out);

#endif
