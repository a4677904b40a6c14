/* What everything else is built on: errors and warnings, qualities of numbers, resource limits. Included by
 * onnxcost.h. */
#ifndef ONNXCOST_TYPES_H
#define ONNXCOST_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Number of rows of a table for people: as many as fit 25 lines together with the rest of the report. */
#define OC_TOP_SCREEN SIZE_MAX
#include <stdio.h>

#ifdef __GNUC__ /* only what the public headers declare is visible in the shared library */
#define OC_VISIBLE _Pragma("GCC visibility push(default)")
#define OC_HIDDEN  _Pragma("GCC visibility pop")
#else
#define OC_VISIBLE
#define OC_HIDDEN
#endif
#ifdef __cplusplus
/* clang-format off */
#define OC_API_BEGIN extern "C" { OC_VISIBLE
#define OC_API_END   OC_HIDDEN }
/* clang-format on */
#else
#define OC_API_BEGIN OC_VISIBLE
#define OC_API_END   OC_HIDDEN
#endif

OC_API_BEGIN

/* ---- objects of the library, and options that several headers name ----------------------------------- */

struct oc_model;
struct oc_op_rules;
struct oc_analysis;
struct oc_profile;
struct oc_kernel_names;
struct oc_join;
struct oc_hwdb;
struct oc_device;
struct oc_hw_set;
struct oc_estimate;
struct oc_calibration;
struct oc_bind;
struct oc_shape_bind;
struct oc_value_bind;
struct oc_control_bind;
struct oc_analyze_opts;
struct oc_profile_opts;
struct oc_report_opts;
struct oc_report_in;

/* ---- errors and warnings ---------------------------------------------------------------------------- */

enum oc_code {
    OC_OK,
    OC_EIO,
    OC_EFORMAT,
    OC_ELIMIT,
    OC_EUNSUPPORTED,
    OC_EARG,
    OC_ENOTFOUND,
    OC_EOUTPUT,
    OC_ELIBRARY, /* a library loaded on demand, or a data file of the program, is missing */
    OC_ESTOPPED, /* stopped by a flag of the caller (oc_profile_opts.stop) */
    OC_EMEMORY   /* memory (see oc_set_oom_handler) or descriptors of files ran out */
};

/* A short stable name: "io", "format", "limit", "unsupported", "argument" ...; NULL: OC_OK, or no such code.
 */
const char *oc_code_text(enum oc_code code);

/* An error with its position. `line` and `offset_bytes` are 0 when they do not apply. */
struct oc_err {
    enum oc_code code;
    uint32_t line;
    uint64_t offset_bytes;
    char file[256];
    char msg[768];
};

/* A name that is not among the valid ones. */
struct oc_unknown {
    const char *what;         /* "device", "column" */
    const char *where;        /* "for --order-by", "in 'my.xml'"; NULL: nowhere else */
    const char *given;        /* the name ... */
    size_t given_n;           /* ... and its length, 0: up to its end */
    const char *const *valid; /* `n` names */
    size_t n;
    const char *more; /* what else is valid, or where the list is when it is too long for a message; NULL */
};
/* Fails with "unknown WHAT 'GIVEN' WHERE; did you mean 'NAME'? Valid: A, B, C". Returns -1. */
int oc_fail_unknown(struct oc_err *err, enum oc_code code, const struct oc_unknown *u);
/* The name that `given` is probably a misspelling of (edit distance, letter case ignored); NULL: none. */
const char *oc_nearest_name(const char *given, const char *const *valid, size_t n);

enum oc_severity { OC_INFO, OC_WARNING, OC_ERROR };

/* A warning or note; the work continued. `code` is a short stable tag such as "W-shape-conflict". */
struct oc_diag {
    enum oc_severity severity;
    const char *code, *where, *text;
};

/* Warnings that a program shows before anything else. */
#define OC_DIAG_WRONG_MODEL  "E-wrong-model"  /* no operator of the profile is in the model */
#define OC_DIAG_OTHER_MODEL  "W-other-model"  /* only some are, or with other shapes */
#define OC_DIAG_OTHER_DEVICE "W-other-device" /* a CPU profile with a GPU, or the reverse */

/* Called when memory cannot be allocated, here or in a library used: bytes requested, 0 if unknown. Must not
 * return; nothing was printed, and every handle of the thread is unusable. NULL (the default): the function that the
 * program has called fails with OC_EMEMORY; memory that it had allocated is lost, and the handles that it was making
 * or changing can only be left alone. Where a function has no *err, abort(). */
void oc_set_oom_handler(void (*handler)(size_t bytes));

/* Files are mapped. When a file is truncated while it is read, the system sends SIGBUS; the library installs
 * no signal handlers. A program that handles SIGBUS can find the file by its address: `watch` is called with
 * the path after a file was mapped, and with a NULL path before the range is unmapped. It may be called from
 * any thread that reads, and must not call the library. NULL: none. */
void oc_set_map_watch(void (*watch)(const char *path, const void *data, size_t size_bytes));

/* Called with the path of every file that is opened to be read, or that a model refers to, by whatever thread reads;
 * it must not call the library. NULL: none. */
void oc_set_read_watch(void (*watch)(const char *path));

/* From now on the library reads files only inside these folders, after all links are followed, and URLs only if
 * `urls`: for servers whose clients name files. Data that is installed with the library must be inside one of
 * them too (oc_hwdb_folder). Call it before other threads read. n 0: everywhere, as at the start. OC_ENOTFOUND:
 * a folder does not exist, and nothing changed. */
int oc_set_read_roots(const char *const *folder, size_t n, bool urls, struct oc_err *err);

/* Replaces characters that a terminal interprets instead of showing by '?', in place: control characters
 * including line ends, bidirectional controls, and bytes that are not UTF-8. Returns `text`. */
char *oc_make_visible(char *text);

/* "180" (unit ""), "2.5/h" (unit "/h"): a number above 0 with exactly this unit, in every locale. */
bool oc_parse_positive(const char *text, const char *unit, double *out);

/* Seconds on a clock that is never set; only differences mean something. */
double oc_now_s(void);
/* ", about 40 s left" when this part of the work (0 to 1) is done since from_s; "": not known. Returns buf. */
char *oc_left_text(double part, double from_s, char *buf, size_t cap);
/* "recording 5 of 12, about 40 s left" for long work: `done` parts of `all` since from_s (of oc_now_s). Returns buf. */
char *oc_part_text(const char *part, size_t done, size_t all, double from_s, char *buf, size_t cap);

/* How far a file has been read, for another thread to show: bytes as stored, and when it began (of oc_now_s). The reader
 * stores all_bytes last; 0: no file is being read. */
struct oc_reading {
    double from_s;
    uint64_t read_bytes, all_bytes;
};

/* Quality of a number. Sums take the worst; upper and lower bounds together are a lower
 * bound: that of the exact and lower parts; within one node they are an estimate. */
enum oc_quality { OC_EXACT, OC_UPPER, OC_LOWER, OC_EST, OC_UNKNOWN };

/* Which runs of a recording its times stand for. Every time is the mean over these runs of a time taken per
 * run, so times add up; the runs are chosen once, by the times of whole runs. */
enum oc_stat {
    OC_STAT_TYPICAL, /* the central half of the runs: the 25 % trimmed mean; below 4 runs all */
    OC_STAT_MEAN,    /* all runs */
    OC_STAT_MEDIAN,  /* the median run, or both around it */
    OC_STAT_MIN,     /* the fastest run */
    OC_STAT_MAX,     /* the slowest run */
    OC_STAT_SUM      /* all runs, added instead of averaged */
};

/* ---- resource limits for untrusted input ------------------------------------------------------------ */

/* Models and profiles may be crafted to exhaust memory and time. Exceeding one of these limits is OC_ELIMIT,
 * and the message names the limit. */
enum oc_input_limit {
    OC_LIMIT_FILE_BYTES,
    OC_LIMIT_DEPTH,
    OC_LIMIT_NODES,
    OC_LIMIT_FUNCTION_NODES,
    OC_LIMIT_REPEATS,
    OC_LIMIT_MODEL_MEMORY,
    OC_LIMIT_ANALYSIS_MEMORY,
    OC_LIMIT_FOLDED_BYTES,
    OC_LIMIT_TENSOR_ELEMENTS,
    OC_LIMIT_LIST_ELEMENTS,
    OC_LIMIT_EINSUM_OPERANDS,
    OC_LIMIT_STRING_BYTES,
    OC_LIMIT_EVENTS,
    OC_LIMIT_TABLE_ROWS,
    OC_LIMIT_CSV_COLUMNS,
    OC_LIMIT_CSV_ROW_BYTES,
    OC_LIMIT_GZ_RATIO,
    OC_LIMIT_GZ_BYTES,
    OC_LIMIT_GZ_VALUE_BYTES,
    OC_LIMIT_SQLITE_STEPS,
    OC_LIMIT_SQLITE_SECONDS,
    OC_LIMIT_REMOTE_BYTES,
    OC_LIMIT_REMOTE_SECONDS,
    OC_LIMIT_INPUT_BYTES,
    OC_LIMIT_COUNT
};
struct oc_input_limits {    /* a NULL pointer to it means all defaults, as do zeros */
    size_t size;            /* sizeof(struct oc_input_limits), see struct oc_analyze_opts */
    bool external_anywhere; /* read weights in files outside of the model's folder; otherwise they count as
                               absent, and the file is not opened */
    uint64_t most[OC_LIMIT_COUNT]; /* 0: the default */
    const char
        *decoder; /* XML file with names of fields and families for a config.json, which come first; NULL:
                            none. Used while a model is loaded */
};

struct oc_input_limit_info {
    const char *name, *text;         /* "csv-columns", "columns of a table" */
    const char *unit;                /* "B", "s", "" */
    uint64_t otherwise, least, most; /* the default and the allowed range; all equal: it is fixed */
};
/* By enum oc_input_limit, then the fixed ones; false past the end. */
bool oc_input_limit_info(size_t index, struct oc_input_limit_info *out);
/* Parses "nodes=8M", "file-bytes=2GiB" and sets it in *limits, which begins as zeros. OC_EARG: unknown limit,
 * not a number, or out of range. */
int oc_input_limits_set(struct oc_input_limits *limits, const char *text, struct oc_err *err);

OC_API_END

#endif
