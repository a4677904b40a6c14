/* Contents of the files of one TensorRT measurement before conversion to records: imp_tensorrt.c reads
 * them, trt_records.c creates the records. Times are milliseconds as written, NAN if absent. */
#ifndef OC_TRT_READING_H
#define OC_TRT_READING_H

#include "base/buf.h"
#include "profile/formats/trt_layers.h"
#include "onnxcost_types.h"

#define TRT_MAX_MS 1e15 /* larger numbers are invalid */

struct trt_time { /* a layer of --exportProfile */
    const char *name;
    double total_ms, average_ms, median_ms; /* over all iterations; per iteration */
    uint64_t where;
};

/* What the times of an iteration are of. */
enum trt_times { TRT_COMPUTE, TRT_COPY_IN, TRT_COPY_OUT, TRT_ENQUEUE, TRT_TIMES };

extern const char *const trt_times_name[TRT_TIMES]; /* in the summary */

struct trt_run { /* an iteration of --exportTimes */
    double ms[TRT_TIMES];
};

struct trt_summary { /* of the times of all iterations, NAN if absent */
    double min_ms, max_ms, mean_ms, median_ms;
};

struct trt_reading {
    bool has_count, has_times, has_runs, has_extras; /* which files were read */
    int64_t count;                                   /* iterations of the profile */
    struct trt_time *time;                           /* on the heap */
    size_t n_time, cap_time;
    struct trt_run *run; /* on the heap */
    size_t n_run, cap_run;
    struct trt_engine engine;
    struct oc_prof_input *input; /* from the log or the summary; on the heap */
    size_t n_input, cap_input;
    const char *device;                    /* "NVIDIA A100 80GB PCIe", "" if unknown */
    struct trt_summary summary[TRT_TIMES]; /* in the log or the summary */
    int64_t n_query;                       /* iterations of the summary, 0 if unknown */
    unsigned block;                        /* 1 + enum trt_times whose figures follow; 0: none */
};

void trt_free_reading(struct trt_reading *r);

/* Adds an input with dimensions as trtexec prints them: "1x3x224x224". Ignores other texts. */
void trt_add_input(struct trt_reading *r, struct oc_profile *p, struct oc_str name, struct oc_str dims);
/* The same for all of "images=1x3x640x640+mask=1x77". */
void trt_add_inputs(struct trt_reading *r, struct oc_profile *p, struct oc_str list);

/* Appends a line of --dumpLayerInfo, or of a verbose builder, to a list of layers in the JSON of
 * --exportLayerInfo. False: the line is not a layer; the list is unchanged. */
bool trt_layer_line(struct oc_str line, struct oc_buf *json);

/* Reads the log of trtexec --dumpProfile. Truncated layers are dropped. Returns 0, or -1 with *err. */
int trt_read_log(struct oc_stream *s, struct oc_profile *p, struct trt_reading *r, struct oc_err *err);

static inline bool trt_has_summary(const struct trt_reading *r)
{
    return r->summary[TRT_COMPUTE].mean_ms > 0;
}

/* Creates records, runs and sums of the profile. The option `warmup` has no effect: a TensorRT profile
 * holds only sums over all iterations. */
void trt_fill(const struct trt_reading *r, const struct oc_profile_opts *opts, struct oc_profile *p);

#endif
