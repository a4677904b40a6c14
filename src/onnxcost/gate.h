/* Limits for the figures of a model, baselines, and differences of two reports.
 * Conventions: onnxcost.h. */
#ifndef ONNXCOST_GATE_H
#define ONNXCOST_GATE_H

#include "onnxcost_types.h"

OC_API_BEGIN

/* ---- limits ----------------------------------------------------------------------------------------- */

/* Limits for figures of a model. Metrics: macs, flops, ops, params, weight-bytes, bytes, peak-memory, memory,
 * nodes, unknown (nodes without a cost), forbid (nodes of a type, in any graph), opset, latency, efficiency
 * (roofline time / measured time). A limit is a maximum, that of efficiency a minimum. */
struct oc_budget;
int oc_budget_make(struct oc_budget **out, struct oc_err *err);
void oc_budget_free(struct oc_budget *b);
/* Adds one: "4.1G", "80MiB", "12ms", "30%". type: an operator type, '*' matches any text, optionally with its
 * domain before a ':'; module: prefix of names, up to a '/' or '.'; NULL: the whole model. */
int oc_budget_limit(struct oc_budget *b, const char *metric, const char *limit, const char *type,
                    const char *module, struct oc_err *err);
/* Adds the limits of a budget file (hwdb/budget/example.xml). */
int oc_budget_read(struct oc_budget *b, const char *path, struct oc_err *err);
/* Those of a baseline (oc_baseline_write): no figure may be worse than it was by more than its tolerance.
 * Tolerances: "2%" for all metrics, "METRIC=VALUE" with a share ("latency=5%") or an amount ("macs=1000"), or
 * a list of these parted by commas. They override those of the file; without any it is 0 for counts and 10%
 * for latency and efficiency. */
int oc_baseline_read(struct oc_budget *b, const char *path, const char *const *tolerance, size_t n_tolerance,
                     struct oc_err *err);
size_t oc_budget_limits(const struct oc_budget *b);
bool oc_budget_has(const struct oc_budget *b, const char *metric);

enum oc_check_result {
    OC_CHECK_PASSED,
    OC_CHECK_FAILED,
    OC_CHECK_INCONCLUSIVE /* the interval of the figure holds the limit */
};
struct oc_check_counts {
    size_t limits, failed, unclear;
    size_t
        undecided; /* latencies of which two recordings show neither that they are within the limit nor beyond it */
};
/* Compares a model (with an analysis) with the limits. Latency: measured if `in` has a profile and its join,
 * else the interval of `estimate` (may be NULL). Efficiency needs a profile and a device. An upper bound
 * within the limit passes, a lower bound beyond it fails. Everything must outlive the check. */
struct oc_check;
int oc_check_make(const struct oc_report_in *in, const struct oc_estimate *estimate,
                  const struct oc_budget *budget, struct oc_check **out, struct oc_err *err);
struct oc_bounds;
/* The same over ranges of dimensions: the analysis has the ranges, so that its figures are upper bounds, and
 * `bounds` those of the whole model. Passed: within the limit at every size; failed: beyond it at a size,
 * which is named. */
int oc_check_make_over(const struct oc_report_in *in, const struct oc_estimate *estimate,
                       const struct oc_budget *budget, const struct oc_bounds *bounds, struct oc_check **out,
                       struct oc_err *err);
void oc_check_free(struct oc_check *c);
const struct oc_check_counts *oc_check_counts(const struct oc_check *c);
struct oc_baseline_kept { /* figures of an older baseline that are unknown now */
    size_t n;
    char names[160]; /* "latency, efficiency" */
};
/* The present figures as a baseline, except those that are unknown. old_path: a baseline whose figures are
 * updated; its tolerances, limits and comments stay, and so do figures that are unknown now (*kept, may be
 * NULL). NULL, or no such file: a new one. OC_EFORMAT: that file is not a baseline. */
int oc_baseline_write(const struct oc_report_in *in, const struct oc_estimate *estimate, const char *old_path,
                      struct oc_baseline_kept *kept, FILE *f, struct oc_err *err);
/* One line for the i-th limit, in the order of the budget; NULL past the end. */
const char *oc_check_reason(const struct oc_check *c, size_t index, enum oc_check_result *result);
/* "table" (NULL), "csv", "json", "markdown", "junit", "sarif", "github" (annotations of GitHub Actions);
 * width_chars: of the table, 0: no limit */
int oc_check_write(const struct oc_check *c, const char *format, unsigned width_chars, FILE *out,
                   struct oc_err *err);

/* ---- diff: compare two reports ---------------------------------------------------------------------- */

enum oc_diff_metric { /* additive metrics first */
                      OC_DIFF_MACS,
                      OC_DIFF_FLOPS,
                      OC_DIFF_OPS,
                      OC_DIFF_BYTES, /* read and written */
                      OC_DIFF_PARAMS,
                      OC_DIFF_TIME,     /* measured, per run */
                      OC_DIFF_ROOFLINE, /* sum of the operators' roofline times */
                      OC_DIFF_PEAK,     /* peak activation memory, not additive */
                      OC_DIFF_WEIGHT_BYTES,
                      OC_DIFF_LATENCY, /* measured, of a run as a whole, not additive */
                      OC_DIFF_METRICS
};

/* Both sides of a total. Times are in v (ns), counts in n. The sum over all rows of b minus a is the
 * difference of the totals: rows known on both sides add up to `rows_delta`, the others have unknown_a and
 * unknown_b. */
struct oc_diff_total {
    bool known[2]; /* false: unknown (no profile, no device, a peak of unknown size) */
    bool is_time;
    uint64_t n[2];
    double v[2];
    uint32_t unknown_rows; /* with an unknown difference */
    bool rows_negative;    /* rows_delta is negative */
    uint64_t rows_delta;
    double rows_delta_v;
    uint64_t unknown_n[2]; /* in those rows */
    double unknown_v[2];
};
struct oc_diff_info {
    size_t same, renamed, changed, added, removed; /* rows */
    bool different; /* a row is changed, added or removed, or a total other than a time has changed */
};
struct oc_diff_opts {
    size_t size; /* sizeof(struct oc_diff_opts) */
    bool cache;  /* rooflines, as in struct oc_report_opts */
    /* further recordings of a side: the same model or none, another profile and its join */
    const struct oc_report_in *more_a, *more_b;
    size_t n_more_a, n_more_b;
};

/* Compares two models, or one with other profiles, devices or shapes, or profiles alone (model NULL on both sides).
 * Nodes are matched by name, else by structure; rows of profiles by name and shapes, else by work. A side with a model
 * has an analysis, and a join if it has a profile. Times are means over the recordings of a side. Everything but the
 * structs themselves must outlive the result. OC_EARG: something is missing, the totals are not additive
 * (graph_bytes), or without a model one side has times of a run, the other of an unknown number of runs. */
struct oc_diff;
int oc_diff_make(const struct oc_report_in *a, const struct oc_report_in *b, const struct oc_diff_opts *opts,
                 struct oc_diff **out, struct oc_err *err);
void oc_diff_free(struct oc_diff *d);
const struct oc_diff_info *oc_diff_info(const struct oc_diff *d);
void oc_diff_total(const struct oc_diff *d, enum oc_diff_metric m, struct oc_diff_total *out);
/* What the latencies of the recordings show: "slower by 8.1 % (6.0 to 10.2)", and a sentence on the recordings;
 * NULL: a side has none. They live as long as the diff. */
const char *oc_diff_verdict(const struct oc_diff *d, const char **note);
/* "97.1 ms to 96.0 ms: no difference shown (-3.1 to +0.9 %)" of the creation of the session or of its first run, which
 * recordings of `record` have; NULL: a recording has none. */
const char *oc_diff_start(const struct oc_diff *d, bool first_run);

struct oc_diff_write_opts {
    size_t size;        /* sizeof(struct oc_diff_write_opts) */
    const char *format; /* "table" (NULL), "csv", "json", "markdown", "html", "fragment", "github" */
    const char
        *sort; /* largest difference first: "macs", "flops", "bytes", "params", "time", "roofline"; "order":
                  in execution order; NULL: in tables the first of time, roofline, macs, bytes that differs */
    bool
        has_top; /* rows; 0: all. Default what fits 25 lines in tables, 20 in Markdown, all elsewhere; identical rows
                   * are omitted in tables and HTML */
    int64_t top;
    unsigned width_chars; /* of tables; 0: no limit */
    bool color;
    const char *made; /* of HTML: how and when it was made, such as its command line; may be NULL */
};
int oc_diff_write(const struct oc_diff *d, const struct oc_diff_write_opts *opts, FILE *f,
                  struct oc_err *err);

OC_API_END

#endif
