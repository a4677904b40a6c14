/* Measured kernels: training and validation data of the estimator. */
#ifndef OC_SAMPLES_H
#define OC_SAMPLES_H

#include "base/arena.h"
#include "estimate/kernel.h"

struct oc_sample {
    struct oc_kernel kernel;
    uint32_t model;         /* index */
    double t_s;             /* of one execution: the median over the runs */
    double p10_s, p90_s;    /* NAN: unknown */
    uint32_t runs, repeats; /* number of runs; kernels with this signature per run, merged here */
};

/* A recording. Recordings with one model_id are of the same network (possibly other input sizes), those with
 * one family_id of related ones: left out together. */
struct oc_sample_model {
    const char *name, *model_id, *family_id;
    double run_s;     /* wall time of a run of the profile; NAN: unknown */
    double plain_s;   /* the same without a profiler; NAN: unknown */
    double kernels_s; /* of all its kernels, including those without a sample */
    uint32_t kernels; /* number of these in a run; 0: unknown */
    uint64_t const_bytes;
};

struct oc_sample_set {
    const char *device, *runtime, *runtime_version; /* device: id of the hardware file */
    uint32_t threads;                               /* 0: unknown */
    struct oc_sample *item;                         /* grouped by model */
    size_t n;
    struct oc_sample_model *model;
    size_t n_model;
};

#endif
