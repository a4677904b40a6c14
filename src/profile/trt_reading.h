/* What the files of one TensorRT measurement said, before it becomes records: imp_tensorrt.c reads it,
 * trt_records.c makes the records. Times are milliseconds as written, NAN when absent. */
#ifndef OC_TRT_READING_H
#define OC_TRT_READING_H

#include "profile/trt_layers.h"

#define TRT_MAX_MS 1e15 /* a number beyond is none */

struct trt_time { /* a layer of --exportProfile */
    const char *name;
    double total_ms, average_ms, median_ms; /* over all iterations; of one */
    uint64_t where;
};

struct trt_run { /* an iteration of --exportTimes */
    double compute_ms, in_ms, out_ms, enqueue_ms;
};

struct trt_reading {
    bool has_count, has_times, has_runs, has_extras; /* which files were there */
    int64_t count;                                   /* iterations of the profile */
    struct trt_time *time;                           /* heap */
    size_t n_time, cap_time;
    struct trt_run *run; /* heap */
    size_t n_run, cap_run;
    struct trt_engine engine;
    const char *device;   /* "NVIDIA A100 80GB PCIe", "" if not told */
    double device_run_ms; /* median "GPU Compute Time" of the summary, NAN */
};

/* The log of trtexec --dumpProfile. Layers that are cut off are dropped. Returns 0, or -1 with *err. */
int trt_read_log(struct oc_stream *s, struct oc_profile *p, struct trt_reading *r, struct oc_err *err);

/* Records, runs and sums of the profile. `warmup` of the options has no effect: the sums of a TensorRT
 * profile cannot be taken apart. */
void trt_fill(const struct trt_reading *r, const struct oc_profile_opts *opts, struct oc_profile *p);

#endif
