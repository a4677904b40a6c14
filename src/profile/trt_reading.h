/* Contents of the files of one TensorRT measurement before conversion to records: imp_tensorrt.c reads
 * them, trt_records.c creates the records. Times are milliseconds as written, NAN if absent. */
#ifndef OC_TRT_READING_H
#define OC_TRT_READING_H

#include "profile/trt_layers.h"

#define TRT_MAX_MS 1e15 /* larger numbers are invalid */

struct trt_time { /* a layer of --exportProfile */
    const char *name;
    double total_ms, average_ms, median_ms; /* over all iterations; per iteration */
    uint64_t where;
};

struct trt_run { /* an iteration of --exportTimes */
    double compute_ms, in_ms, out_ms, enqueue_ms;
};

struct trt_reading {
    bool has_count, has_times, has_runs, has_extras; /* which files were read */
    int64_t count;                                   /* iterations of the profile */
    struct trt_time *time;                           /* on the heap */
    size_t n_time, cap_time;
    struct trt_run *run; /* on the heap */
    size_t n_run, cap_run;
    struct trt_engine engine;
    const char *device;   /* "NVIDIA A100 80GB PCIe", "" if unknown */
    double device_run_ms; /* median "GPU Compute Time" of the summary, NAN */
};

/* Reads the log of trtexec --dumpProfile. Truncated layers are dropped. Returns 0, or -1 with *err. */
int trt_read_log(struct oc_stream *s, struct oc_profile *p, struct trt_reading *r, struct oc_err *err);

/* Creates records, runs and sums of the profile. The option `warmup` has no effect: a TensorRT profile
 * holds only sums over all iterations. */
void trt_fill(const struct trt_reading *r, const struct oc_profile_opts *opts, struct oc_profile *p);

#endif
