/* Contents of the files of one TensorRT measurement before conversion to records: imp_tensorrt.c reads
 * them (trt_layers.c: layer information), trt_records.c creates the records. Times are milliseconds as written, NAN if
 * absent. */
#ifndef OC_TRT_READING_H
#define OC_TRT_READING_H

#include "base/arena.h"
#include "base/json_read.h"
#include "onnxcost_types.h"
#include "profile/profile.h"

/* ---- trt layers --------------------------------------------------------------------------------------- */

/* Layer information of a TensorRT engine (trtexec --exportLayerInfo, IEngineInspector): type, tensors and
 * cost of each layer. Layers are objects with --profilingVerbosity=detailed, otherwise only names. Written
 * by TensorRT 8.2 to 11; up to 10 with "Bindings" (names), from 11 on with "I/O Tensors" (objects).
 * Dimensions are logical: they exclude the padding of vectorised formats. */

#define TRT_MAX_AXES 8

struct trt_ints {
    int64_t v[TRT_MAX_AXES];
    uint8_t n; /* TRT_MAX_AXES + 1: too many */
};

/* Parameters of a fused layer (ConvActPool) have the prefixes Conv and Pooling. */
struct trt_layer {
    const char *name, *type, *param_type, *origin, *tactic, *activation, *pooling; /* "" when absent */
    const char *weights_type, *bias_type;
    const char *const *marker; /* ONNX nodes that Metadata lists */
    uint32_t n_marker;
    struct trt_ints kernel, stride, pre_pad, post_pad, dilation, window;
    int64_t out_maps, groups, weights, bias; /* -1: absent */
    int64_t stream;                          /* on auxiliary streams layers run concurrently */
    const struct oc_type *in, *out;
    const char *const *in_name, *const *out_name; /* tensors */
    uint32_t n_in, n_out;
    bool detailed; /* an object: inputs and outputs are known */
};

struct trt_engine {
    struct trt_layer *layer; /* on the heap */
    size_t n, cap;
    struct oc_prof_input *io; /* inputs and outputs of the engine, up to TensorRT 10 without types; heap */
    size_t n_io, cap_io;
    bool found; /* the member "Layers" is present */
};

/* Reads the value of a member of the object if it belongs to the layer information. False: it does not,
 * and the value is not consumed. Texts and types are allocated in the profile's arena; truncated layers
 * are dropped. */
bool oc_trt_read_engine(struct oc_json *j, struct oc_str key, struct oc_profile *p, struct trt_engine *out);

/* Cost of one execution of a layer. */
struct trt_cost {
    bool known;           /* macs and flop */
    uint64_t macs;        /* multiply-adds of convolutions and matrix products */
    double flop;          /* 2 per MAC, plus what the parameters specify: bias, sum, activation, window */
    double bytes;         /* inputs, outputs, weights; NAN if unknown */
    uint64_t param_bytes; /* of weights and bias, UINT64_MAX if unknown */
    uint8_t quality;      /* enum oc_quality of flop */
};

/* ---- trt reading -------------------------------------------------------------------------------------- */

#define TRT_MAX_MS 1e15 /* larger numbers are invalid */

struct trt_time { /* a layer of --exportProfile */
    const char *name;
    double total_ms, average_ms, median_ms; /* over all iterations; per iteration */
    double share;                           /* in percent */
    uint64_t where;
};

/* What the times of an iteration are of. */
enum trt_times { TRT_COMPUTE, TRT_COPY_IN, TRT_COPY_OUT, TRT_ENQUEUE, TRT_TIMES };

extern const char *const oc_trt_times_name[TRT_TIMES]; /* in the summary */

struct trt_run { /* an iteration of --exportTimes */
    double ms[TRT_TIMES];
};

struct trt_summary { /* of the times of all iterations, NAN if absent */
    double min_ms, max_ms, mean_ms, median_ms;
};

struct trt_reading {
    bool has_count, has_times, has_runs, has_extras; /* which files were read */
    bool by_ratio;                                   /* count: total / average, 0 if rows differ */
    int64_t count;                                   /* iterations of the profile */
    struct trt_time *time;                           /* on the heap */
    size_t n_time, cap_time;
    double stated_ms;    /* the total of the table; 0: none */
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

void oc_trt_free_reading(struct trt_reading *r);

/* Adds an input with dimensions as trtexec prints them: "1x3x224x224". Ignores other texts. */
void oc_trt_add_input(struct trt_reading *r, struct oc_profile *p, struct oc_str name, struct oc_str dims);
/* The same for all of "images=1x3x640x640+mask=1x77". */
void oc_trt_add_inputs(struct trt_reading *r, struct oc_profile *p, struct oc_str list);
/* The inputs of the profile: those that the log or the summary reports, and tensors of the engine that layers read but
 * do not write. */
void oc_trt_set_inputs(const struct trt_reading *r, struct oc_profile *p);

/* Appends a line of --dumpLayerInfo, or of a verbose builder, to a list of layers in the JSON of
 * --exportLayerInfo. False: the line is not a layer; the list is unchanged. */
bool oc_trt_layer_line(struct oc_str line, struct oc_buf *json);

/* Reads the log of trtexec --dumpProfile. Truncated layers are dropped. Returns 0, or -1 with *err. */
int oc_trt_read_log(struct oc_stream *s, struct oc_profile *p, struct trt_reading *r, struct oc_err *err);

static inline bool trt_has_summary(const struct trt_reading *r)
{
    return r->summary[TRT_COMPUTE].mean_ms > 0;
}

/* Creates records, runs and sums of the profile. The option `warmup` has no effect: a TensorRT profile
 * holds only sums over all iterations. */
void oc_trt_fill(const struct trt_reading *r, const struct oc_profile_opts *opts, struct oc_profile *p);

#endif
