/* Recordings: runs of a model with ONNX Runtime; libraries that are loaded on demand.
 * Conventions: onnxcost.h. */
#ifndef ONNXCOST_RECORD_H
#define ONNXCOST_RECORD_H

#include "onnxcost_types.h"

OC_API_BEGIN

struct oc_record_opts {
    size_t size;         /* sizeof(struct oc_record_opts) */
    const char *library; /* file of libonnxruntime; NULL: $ONNXRUNTIME_LIB, else the usual places */
    const char *output;  /* prefix of the output files, or a folder (with '/' at its end, or existing); NULL:
                            the model's name, in the current folder */
    const char *tag;     /* end of the prefix; NULL: none */
    bool no_optimized;   /* the optimized model is not kept */
    const char *level;   /* optimization level: "disabled", "basic", "extended", "all" (NULL) */
    const struct oc_value_bind *value; /* contents of inputs; a single number fills one. Others are random */
    size_t n_value;
    uint32_t threads;        /* 0: ONNX Runtime's choice */
    uint32_t runs;           /* measured in each of the two sessions; 0: at least 12 and 3 s, until the 95 %
                                confidence interval of the median is within 2 % of it; with profiling also until
                                the profile has 20000 events */
    uint32_t warmup;         /* runs before them */
    const char *time_budget; /* of both sessions, "60s" (NULL), "5min": no run begins that would exceed it,
                                but one run is measured in each session; with `runs` and NULL: none */
    uint64_t seed;           /* of random contents */
    void (*progress)(void *arg, const char *what); /* "loading the model"; NULL: not reported */
    void *progress_arg;
    const char *const
        *session_config; /* "KEY=VALUE": configuration entries of ONNX Runtime's session (with a dot), or
                                        execution_mode, inter_op_num_threads, enable_cpu_mem_arena, enable_mem_pattern */
    size_t n_session_config;
    const volatile int *stop; /* set to non-zero by a signal handler: ends the recording; NULL: none */
    /* Whether a file must not be replaced, for example an input of the caller; NULL: the model alone. */
    bool (*keeps)(const char *path);
    /* Execution providers in order of priority, "NAME[:KEY=VALUE,...][+NAME...]", by their names in ONNX Runtime,
     * in any case, with or without "ExecutionProvider"; NULL: the CPU. */
    const char *provider;
    /* The fastest probe of the vector units in earlier recordings of this machine (oc_record_info), by which it is known whether
     * this one was disturbed from its beginning on; 0: none. */
    double fastest_probe_ns;
    bool plain; /* only the session without profiling, 12 runs and 1 s; no files are written */
    const char *
        rewritten; /* file of a model with the same inputs and outputs that is run instead, such as oc_apply_write has
                              written; NULL: none */
};

struct oc_record_input {
    const char *name, *dtype, *content; /* content: "-1 to 1", "0 to 30521" */
    uint32_t rank;
    const int64_t *dim;
    const char
        *assumed; /* oc_input_info.assumed, in a form that names the option: "input.1 = 256 (reason); set
                     with --shape input=..."; for contents with --value; NULL: nothing is assumed */
};

/* Wall times of the runs of one session. */
struct oc_record_time {
    uint32_t runs, outliers;
    bool over_budget;  /* the time budget ended it before 12 runs, or before the fixed number */
    bool noisy;        /* spread is more than 8 % */
    double typical_ns; /* mean of the central half of the runs (OC_STAT_TYPICAL) */
    double min_ns, max_ns;
    double
        error; /* half of the 95 % confidence interval of the median of these runs / median: another process may
                    * differ by more; NAN: one run */
    double spread; /* width of the central half of the runs / median; likewise */
    double session_ns,
        first_run_ns;    /* creation of the session; its first run, a warm-up run if there is one */
    double started_s;    /* since 1970 */
    uint64_t peak_bytes; /* most resident memory of the process until the end of the session; 0: unknown */
};

struct oc_record_info {
    const char *library, *version; /* the library's file and version "1.30.0" */
    const char *profile,
        *optimized; /* the files: X.profile.json (with the warm-up runs), X.optimized.onnx; NULL: none */
    struct oc_record_time plain, profiled; /* without and with profiling; .runs 0: no such session */
    bool loaded; /* other processes or machines used processors, or vector units, that the recording needed */
    double probe_ns,
        fastest_probe_ns; /* multiply-adds between the runs: mean, fastest that is known; 0: not known */
    size_t n_input;
    const struct oc_record_input *input;
    double turns_id; /* equal in recordings whose processes took turns (microseconds since 1970); 0: none */
    const double
        *turn_ns; /* mean of the runs of each turn, 1000 at most: those of such recordings belong together */
    uint32_t n_turn;
    const char *provider;  /* oc_record_opts.provider; NULL: none */
    const char *placement; /* "40 of 44 operators by WebGpuExecutionProvider; ..."; NULL: not known */
};

/* Runs the model with inputs of the analysed shapes: in one session to measure its time, in another one with
 * profiling. ONNX Runtime is loaded in a forked process, so a crash of it is an error; its output is not
 * shown. The files are complete or absent. Errors: OC_ELIBRARY library missing, unsuitable, or crashed;
 * OC_EFORMAT and OC_EUNSUPPORTED with ONNX Runtime's message: it cannot load or run the model; OC_EARG,
 * OC_ELIMIT: shapes and values. The recording does not need the model and the analysis afterwards. */
struct oc_recording;
int oc_record(const struct oc_model *model, const struct oc_analysis *analysis,
              const struct oc_record_opts *opts, struct oc_recording **out, struct oc_err *err);
/* Several recordings for a comparison, each as oc_record makes it, whose processes take turns: all sessions exist, one runs for 2 to
 * 20 ms while the others wait, and each goes on until all have enough runs. With fewer threads than processors, they run on the
 * same processors. So what drifts on a machine, and what differs between its processors, reaches all of them. All sessions
 * are in memory. out: n recordings; all NULL on failure. *failed: the side that failed, n: none. Errors: those of oc_record. */
struct oc_record_side {
    const struct oc_model *model;
    const struct oc_analysis *analysis;
    const struct oc_record_opts *opts;
};
int oc_record_in_turns(const struct oc_record_side *side, size_t n, struct oc_recording **out, size_t *failed,
                       struct oc_err *err);
void oc_recording_free(struct oc_recording *r);
/* Runs the model and opts->rewritten once with the same random inputs: *difference is the largest one between elements of their
 * outputs, relative to the largest magnitude of the output; INFINITY: other types or sizes. Errors: those of oc_record. */
int oc_record_compare(const struct oc_model *model, const struct oc_analysis *analysis,
                      const struct oc_record_opts *opts, double *difference, struct oc_err *err);
const struct oc_record_info *oc_recording_info(const struct oc_recording *r);
void oc_recording_write(const struct oc_recording *r, FILE *f); /* a short summary as text */
/* The execution providers and the operators that each ran; nothing without oc_record_opts.provider. */
void oc_recording_write_providers(const struct oc_recording *r, const char *label, FILE *f);
/* The time with profiling and the load of other processes: one of several recordings. */
void oc_recording_write_line(const struct oc_recording *r, const char *label, FILE *f);

/* ---- other libraries -------------------------------------------------------------------------------- */

struct oc_library_info {
    const char *name, *use; /* "libxml2", "hardware files ..." */
    bool on_demand;         /* loaded on demand, may be missing */
    bool found;
    char version[32], file[512]; /* "": unknown, or not found */
    char providers[512];         /* of ONNX Runtime: execution providers, separated by blanks; "": unknown */
};
/* Required and optional libraries. False past the end. ONNX Runtime is loaded in a separate process. */
bool oc_library(size_t index, struct oc_library_info *out);
/* The ONNX Runtime that a recording with this oc_record_opts.library would use (NULL: the usual places). Sets
 * version and file. */
int oc_onnxruntime_find(const char *library, struct oc_library_info *out, struct oc_err *err);
/* The libraries of ONNX Runtime that files, and folders with what is in them, name: one of each version, the oldest first.
 * *out is freed with free(). A file that is named must be one; of those in folders the ones that cannot be loaded are left
 * out. OC_ELIBRARY: there is none. */
int oc_onnxruntime_list(const char *const *path, size_t n_path, struct oc_library_info **out, size_t *n_out,
                        struct oc_err *err);

OC_API_END

#endif
