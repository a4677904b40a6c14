/* Measured kernels: what the estimator is calibrated with, and what it is held against. */
#ifndef OC_SAMPLES_H
#define OC_SAMPLES_H

#include "base/arena.h"
#include "estimate/kernel.h"

struct oc_sample {
    struct oc_kernel kernel;
    uint32_t model;         /* index */
    double t_s;             /* of one execution: the median over the runs */
    double p10_s, p90_s;    /* NAN: not known */
    uint32_t runs, repeats; /* runs it was seen in; kernels with this signature in a run, merged here */
};

/* A recording. Those of one model_id are the same network (other sizes of input too), those of one family_id
 * relatives: what is left out together. */
struct oc_sample_model {
    const char *name, *model_id, *family_id;
    double run_s;     /* wall time of a run of the profile; NAN */
    double plain_s;   /* the same without a profiler; NAN: not known */
    double kernels_s; /* of all its kernels, those without a sample too */
    uint32_t kernels; /* how many these are in a run; 0: not known */
    uint64_t const_bytes;
};

struct oc_sample_set {
    const char *device, *runtime, *runtime_version; /* device: id of the hardware file */
    uint32_t threads;                               /* 0: not known */
    struct oc_sample *item;                         /* grouped by model */
    size_t n;
    struct oc_sample_model *model;
    size_t n_model;
};

#endif
