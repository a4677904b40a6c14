/* Estimated times: cost curves fitted to measured kernels, their errors, estimates, ranks of devices.
 * Conventions: onnxcost.h. */
#ifndef ONNXCOST_ESTIMATE_H
#define ONNXCOST_ESTIMATE_H

#include "onnxcost_types.h"
#include "onnxcost/memory.h"

OC_API_BEGIN

struct oc_samples_opts {
    size_t size;                    /* sizeof(struct oc_samples_opts) */
    const struct oc_device *device; /* the measured device, must outlive the samples; NULL: not given */
    const char *profile_format;     /* importer name, NULL: probe */
    const char *runtime, *runtime_version; /* NULL: the profile's format; unknown */
    uint32_t threads;                      /* threads of the runtime, 0: unknown */
    int32_t warmup; /* runs to leave out of each profile, as in struct oc_profile_opts */
    const struct oc_input_limits *limits; /* NULL: the defaults */
    /* Called before each of `all` recordings; NULL: not given. */
    void (*progress)(void *arg, const char *recording, size_t done, size_t all);
    void *progress_arg;
};

/* Measured kernels of recordings. path: profiles (X.profile.json with the model X.onnx and X.optimized.onnx
 * next to it, as written by `onnxcost record`), each model before its profiles if it has another name, and
 * lists (.csv, .tsv) with the columns profile, model, optimized, name, id, family, dims, plain_ms, warmup.
 * Recordings with one id are the same network, with one family related ones. */
struct oc_samples;
int oc_samples_read(const char *const *path, size_t n, const struct oc_samples_opts *opts,
                    struct oc_samples **out, struct oc_err *err);
/* Samples of this machine: records small networks, which have every common class of kernels, with ONNX Runtime in a
 * temporary folder, and reads them. opts: library, level, threads, session_config, progress and stop; NULL: the
 * defaults. Takes about 15 s. Errors: those of oc_record. */
struct oc_record_opts;
int oc_samples_record(const struct oc_device *device, const struct oc_record_opts *opts,
                      struct oc_samples **out, struct oc_err *err);
void oc_samples_free(struct oc_samples *samples);
size_t oc_samples_diags(const struct oc_samples *samples, const struct oc_diag **out);
/* Cost curves of a device and a runtime: for each class of kernels and type of arithmetic a curve of time
 * over work with its error bars, and the measured kernels. */
struct oc_calibration_opts {
    size_t size;         /* sizeof(struct oc_calibration_opts) */
    const char *created; /* date stored in the file; NULL: none */
};
/* The samples must have been read with a device. They are not needed afterwards. */
int oc_calibration_make(const struct oc_samples *samples, const struct oc_calibration_opts *opts,
                        struct oc_calibration **out, struct oc_err *err);
/* Another machine's (or number of threads') calibration, moved to the one of the samples, of the same runtime: what
 * the profiler adds to a kernel, a factor for launches, and one for the rest of the time of each curve, from as few recordings as
 * there are. */
int oc_calibration_move(const struct oc_calibration *base, const struct oc_samples *samples,
                        const struct oc_calibration_opts *opts, struct oc_calibration **out,
                        struct oc_err *err);
void oc_calibration_free(struct oc_calibration *cal);
/* The calibration file (hwdb/calibration.rng). It round-trips exactly. */
int oc_calibration_load(const char *path, struct oc_calibration **out, struct oc_err *err);
void oc_calibration_write(const struct oc_calibration *cal, FILE *out); /* check failures with ferror */
/* The calibration as text ("table", NULL), "csv" (one row per curve), or "json". samples: its training data,
 * to report rejected kernels; NULL: not reported. */
int oc_calibration_report(const struct oc_calibration *cal, const struct oc_samples *samples,
                          const char *format, FILE *out, struct oc_err *err);

/* How wrong predictions of runs are: each group of related networks is left out in turn, and its runs are predicted
 * from the others. "table" (NULL), "csv" or "json": a row per group with its median error, its 90th percentile and
 * the share of the runs in their 80 % interval. The samples must have been read with a device. Fails with fewer than
 * two groups. */
int oc_calibration_check(const struct oc_samples *samples, const char *format, FILE *out, struct oc_err *err);

struct oc_estimate_opts {
    size_t size;                              /* sizeof(struct oc_estimate_opts) */
    const struct oc_calibration *calibration; /* NULL: only an interval, from the roofline */
    const struct oc_join *join; /* kernels as recorded, shown with their times; NULL: from the fusion plan */
    const char *fusion;   /* rules of the plan: "onnxruntime", "onnxruntime-extended" and "-basic" (its lower
                             optimization levels), "generic", "none"; NULL: as fits */
    unsigned width_chars; /* of the text for people; 0: no limit */
    const char *as; /* time of the model in this data type: "fp16", "int8-weights" ...; NULL: its own types */
    const char *simd; /* instruction set of the plan: "avx512", "avx2", "neon"; NULL: the device's */
    const char *made; /* of HTML: how and when it was made; must outlive the result; may be NULL */
};
struct oc_estimate_info {
    size_t kernels, unknown_kernels;  /* the latter have no prediction */
    double time_ns, low_ns, high_ns;  /* of a run; time NAN: no calibration, low and high are the interval */
    uint32_t recorded, planned_equal; /* kernels of the join, and those of them that are in the plan */
    double planned_equal_time;        /* their share of its time, NAN without a join */
    double bound_ns; /* no runtime is faster: perfect fusion, caches at their best; NAN: unknown */
};
/* Time of a run of the model. The analysis (and what is in the options) must outlive the result. */
int oc_estimate_make(const struct oc_analysis *analysis, const struct oc_device *device,
                     const struct oc_estimate_opts *opts, struct oc_estimate **out, struct oc_err *err);
void oc_estimate_free(struct oc_estimate *e);
const struct oc_estimate_info *oc_estimate_info(const struct oc_estimate *e);
/* "table" (NULL; the `top` longest kernels, 0: all, or OC_TOP_SCREEN), "csv", "json", "html" or "fragment" (all, in execution
 * order).
 */
int oc_estimate_write(const struct oc_estimate *e, const char *format, size_t top, FILE *out,
                      struct oc_err *err);

/* ---- several devices and batches -------------------------------------------------------------------- */

struct oc_rank_opts {
    size_t size;                           /* sizeof(struct oc_rank_opts) */
    const struct oc_analyze_opts *analyze; /* counting options, and the sizes; NULL: the defaults */
    const struct oc_device *const *device; /* at least one, without duplicates */
    size_t n_device;
    const char *batch_dim; /* the batch dimension; NULL: the first one of the first input */
    const int64_t *batch;  /* batches to estimate; n_batch 0: the one of the analysis */
    size_t n_batch;
    const char *sort; /* "time" of a run (NULL), "throughput", "energy" or "price" of an inference */
    const char *as, *fusion, *simd;           /* as in struct oc_estimate_opts */
    const struct oc_calibration *calibration; /* of one of the devices; NULL: none; not with `as` */
    const double *price_per_hour; /* of each device, in one currency; 0: unknown. NULL: no prices */
};

/* The estimate of a device at a batch. Without a calibration or published latencies the interval is that of the
 * roofline at 90 % to 30 % efficiency. Ranks are by the centres of the intervals, from 1. The true rank is between
 * first and last, the ranks of rows whose intervals overlap its own. place 0: the time, or the sort key, is unknown,
 * or the model does not fit into the memory. */
struct oc_rank_row {
    const struct oc_device *device;
    int64_t batch;     /* size of the batch dimension; 0: the model has none */
    double inferences; /* of a run */
    unsigned place, first, last;
    const char *basis;                    /* "calibration", "published latencies", "roofline range" */
    double lo_ns, mid_ns, hi_ns;          /* time of a run; NAN: unknown */
    double lo_joule, mid_joule, hi_joule; /* of one inference, at the design power; NAN: unknown */
    const char *missing; /* reason why the time is unknown: "no vector f32 peak"; NULL: it is known */
    const char *limit;   /* the part with the most time: "compute", "memory", "launches" or "unknown" */
    double limit_share;  /* its share of the time of the kernels, NAN: unknown */
    enum oc_fits fits;
    uint64_t need_bytes, capacity_bytes; /* constants and activations; 0: unknown */
    double bound_ns;        /* no runtime is faster: perfect fusion, caches at their best; NAN: unknown */
    size_t unknown_kernels; /* not in the time */
    double price_per_hour;  /* of the device, as given; NAN: unknown */
    double lo_price, mid_price, hi_price; /* of 1,000 inferences one after another; NAN: unknown */
};

/* An estimate for each device at each batch, ranked. A device without a peak for the model's products, or without a
 * bandwidth, has no time; other arithmetic without a peak is left out if it is at most 1 % of the work. Energy
 * assumes that the device always draws its design power. The model, the devices and the lists in `opts` must outlive
 * the result. OC_EARG: a device twice, no such order or dimension, a batch below 1 or for a model that fixes it. */
struct oc_rank;
int oc_rank_make(const struct oc_model *model, const struct oc_rank_opts *opts, struct oc_rank **out,
                 struct oc_err *err);
void oc_rank_free(struct oc_rank *r);
size_t oc_rank_rows(const struct oc_rank *r, const struct oc_rank_row **out); /* in order */

struct oc_rank_write_opts {
    size_t size;          /* sizeof(struct oc_rank_write_opts) */
    const char *format;   /* "table" (NULL), "csv", "json", "html", "fragment" (of a page) */
    unsigned width_chars; /* of tables; 0: no limit */
    bool color;
    size_t top;       /* rows of the table, 0: all, or OC_TOP_SCREEN; CSV, JSON and pages have all */
    const char *made; /* of HTML: how and when it was made, such as its command line; may be NULL */
};
int oc_rank_write(const struct oc_rank *r, const struct oc_rank_write_opts *opts, FILE *f,
                  struct oc_err *err);

OC_API_END

#endif
