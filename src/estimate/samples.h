/* Measured kernels: training and validation data of the estimator. */
#ifndef OC_SAMPLES_H
#define OC_SAMPLES_H

#include "base/arena.h"
#include "base/diag.h"
#include "estimate/kernels.h"

/* ---- recordings ---------------------------------------------------------------------------------- */

/* Finds the files of a recording: those written by `onnxcost record` (X.profile.json, X.optimized.onnx, next
 * to the model X.onnx), or those in a list. Only file names are examined.
 *
 * A list is a table as CSV or TSV (its name ends so) with a header. Columns, in any order, all but the first
 * optional: profile; model; optimized; name (of the recording); id (of the network); family; dims
 * ("batch=4;sequence=128"); plain_ms (wall time of a run without profiling); warmup (runs to leave out).
 * Paths are relative to the list. */

#define OC_MAX_RECORDINGS 10000u

struct oc_recording_files {
    const char *profile, *model, *optimized; /* optimized: NULL, none */
    const char *name, *id, *family;
    const char *dims; /* "" */
    double plain_s;   /* NAN: unknown */
    int32_t warmup;   /* -1: not given */
};

struct oc_recordings {
    struct oc_arena arena;
    struct oc_recording_files *item; /* heap */
    size_t n, cap;
};

/* Profiles, models (for the profiles after them) and lists in any order. Without a model before it, that of
 * X.profile.json is X.onnx, or Y.onnx where X is "Y@..." or "Y.<anything>", in the folder or its parent; the
 * id is that model's name up to '@', the family the letters at the start of the id. */
int oc_recordings_find(const char *const *path, size_t n, struct oc_recordings *out, struct oc_err *err);
void oc_recordings_free(struct oc_recordings *r);

/* ---- samples ------------------------------------------------------------------------------------- */

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
    double gap_sum;   /* of oc_cal_gap_part over these */
    uint64_t const_bytes;
    const struct oc_planned_kernels *plan; /* kernels predicted by the fusion plan; NULL: none */
    size_t n_plan;
};

struct oc_planned_kernels {
    struct oc_kernel kernel;
    double calls;
    bool known;
};

/* Recordings of this family are networks of single operators: they train the curves of kernels, and
 * their run time is not scored. They are not related to each other. */
#define OC_MICRO_FAMILY "micro"
bool oc_sample_is_micro(const struct oc_sample_model *m);

struct oc_sample_set {
    const char *device, *runtime, *runtime_version; /* device: id of the hardware file */
    uint32_t threads;                               /* 0: unknown */
    struct oc_sample *item;                         /* grouped by model */
    size_t n;
    struct oc_sample_model *model;
    size_t n_model;
};

/* ---- samples read ----------------------------------------------------------------------------------- */

/* Reads measured kernels from recordings: model, profile and, if available, the optimized model saved by the
 * runtime. Kernels of the same signature in one recording are one sample; rejected kernels are counted. */

enum oc_reject_reason {
    OC_REJECT_UNMATCHED, /* on no node, and not a layout change with recorded shapes */
    OC_REJECT_UNKNOWN,   /* its counts are unknown, or contradict the profile */
    OC_REJECT_PART,      /* one of several kernels of the same nodes */
    OC_REJECT_CONTROL,   /* contains other kernels */
    OC_REJECT_TIMER,     /* shorter than two ticks of the timer */
    OC_REJECT_SPREAD,    /* (p90 - p10) / median over one half, but for a tick */
    OC_REJECT_TIMELESS,  /* no time, or no time of its own */
    OC_REJECT_SUBNORMAL, /* it multiplies with subnormal weights (kernels.h) */
    OC_REJECT_COUNT
};
const char *oc_reject_reason_name(unsigned reason);

struct oc_reject {
    uint32_t n;
    double time_s; /* per run of each recording, summed */
};

struct oc_samples {
    struct oc_arena arena;
    struct oc_sample_set set;
    const struct oc_device *device; /* NULL: not given */
    struct oc_reject reject[OC_REJECT_COUNT];
    double kernels_s; /* of all kernels of all recordings, per run */
    uint32_t n_kernel;
    struct oc_diags diags;
};

/* oc_samples_read, oc_samples_free, struct oc_samples_opts: see onnxcost/estimate.h. */

/* -1: the device is not known, its names do not fit into a file, or there is no sample. */
int oc_samples_need_device(const struct oc_samples *samples, struct oc_err *err);

/* ---- sample dims ------------------------------------------------------------------------------------ */

/* "batch=4;sequence=128": numbers for symbolic dimensions, the format in lists of recordings. */

struct oc_sample_dims {
    struct oc_bind *bind; /* arena */
    size_t n;
};
int oc_sample_dims_parse(const char *text, struct oc_arena *a, struct oc_sample_dims *out,
                         struct oc_err *err);

#endif
