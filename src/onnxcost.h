/* Public interface of onnxcost: cost, memory and measured time of neural networks. Conventions:
 *  - Functions that can fail return 0 on success and -1 on failure with *err filled (err is caller-owned and
 *    needs no clean-up). Nothing is printed by the library.
 *  - Handles are freed by the matching _free function (NULL is fine). Values returned by accessors are
 * borrowed and valid as long as the handle. Inputs must outlive results (a model its analyses).
 *  - Counts are exact uint64_t. Time is double nanoseconds. Sizes are bytes.
 *  - Running out of memory calls the handler of oc_set_oom_handler, by default abort(). That handler and the
 * one of oc_set_map_watch are the only global state: threads with separate handles need no locks, and may
 * share models and profiles.
 */
#ifndef ONNXCOST_H
#define ONNXCOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "onnxcost_types.h"

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__ /* only the declarations below are visible in the shared library */
#pragma GCC visibility push(default)
#endif

#define ONNXCOST_VERSION "0.1.0"

/* ---- model ------------------------------------------------------------------------------------------ */

struct oc_model;
struct oc_analysis;

int oc_model_load(const char *path, const struct oc_caps *caps, struct oc_model **out, struct oc_err *err);
int oc_model_load_mem(const void *data, size_t size_bytes, const struct oc_caps *caps, struct oc_model **out,
                      struct oc_err *err); /* data must outlive the model */
void oc_model_free(struct oc_model *model);

/* ---- analysis: shapes, small values, costs ---------------------------------------------------------- */

struct oc_bind { /* binds a symbolic dimension: --dim batch=8 */
    const char *symbol;
    int64_t value;
};

struct oc_shape_bind { /* the shape of a graph input: --shape x=1x3x224x224; rank 0: a scalar */
    const char *input;
    uint32_t rank;
    const int64_t *dim;
    bool from_profile; /* from a profile: listed as an assumption; ignored if it does not match; a negative
                          number is an open dimension */
    const char *from;  /* how a shape from a profile is known; NULL: recorded */
};

struct oc_value_bind { /* the value of a graph input that determines shapes: --value k=5 */
    const char *input;
    const char *text; /* "1,3,8", or "@file.pb" (a TensorProto) */
};

struct oc_control_bind { /* control flow recorded in a profile; trips win over those of the model */
    uint32_t node;       /* index of an If, Loop, Scan or SequenceMap */
    int64_t value;       /* If: 1 then, 0 else; others: mean trips of an execution; -1: not a whole number */
    uint64_t calls;      /* executions of the node in one run of the model, or in all; 0: not recorded */
    uint64_t body[2];    /* executions of its body, or of else_branch and then_branch in the same runs */
    bool mean;           /* runs of the model differ: the numbers are those of all runs */
};

/* Shapes and costs of operators, defined in a file (hwdb/op-rules/op-rules.rng). */
struct oc_op_rules;
int oc_op_rules_load(const char *path, struct oc_op_rules **out, struct oc_err *err);
void oc_op_rules_free(struct oc_op_rules *rules);

enum oc_if_mode { OC_IF_MAX, OC_IF_THEN, OC_IF_ELSE, OC_IF_AVG };
enum oc_kv_share { OC_KV_AUTO, OC_KV_ON, OC_KV_OFF };

struct oc_analyze_opts {
    const struct oc_bind *bind;
    size_t n_bind;
    const struct oc_shape_bind *shape;
    size_t n_shape;
    const struct oc_control_bind *control;
    size_t n_control;
    const struct oc_value_bind *value;
    size_t n_value;
    const struct oc_bind *trip; /* trip counts of loops, by node name */
    size_t n_trip;
    bool force_shapes;      /* overrides of declared numbers are allowed */
    bool skip_unused;       /* ignore entries of the lists above that match nothing in this model */
    bool no_defaults;       /* unbound symbols stay unknown */
    int64_t default_dim;    /* > 0: for every unbound symbol instead of the documented defaults */
    bool strict;            /* shape conflicts have severity OC_ERROR */
    bool taps_valid;        /* count only taps inside the input */
    bool strict_reduce;     /* n - 1 for reductions */
    bool no_fold;           /* constant nodes have their full cost */
    bool keep_qdq;          /* dequantization of constants counts as a normal node */
    bool alias_off;         /* views count in + out bytes */
    bool naive_bytes;       /* all input slots and outputs of every node */
    bool literal_ceil_mode; /* pooling's ceil_mode as specified before opset 22 */
    bool attention_full;    /* count attention in full, ignoring causal masks and windows */
    bool einsum_optimal;    /* Einsum of three to six operands in the order with the fewest MACs, not left to
                               right */
    bool trees_max;         /* tree ensembles: depth of the deepest leaf, not the mean */
    bool moe_expected;      /* experts' weights: those that a uniform selection touches on average */
    bool lut;               /* quantized activations are table look-ups */
    bool inplace; /* scatter operators update their data in place; for the peak also element-wise operators,
                     if it dies */
    bool keep_inputs;      /* graph inputs stay live to the end */
    uint64_t align_bytes;  /* for the peak, every buffer is rounded up to a multiple; 0: not */
    bool rnn_reload;       /* recurrent weights are read in every step */
    bool loop_cached;      /* constants in bodies of loops are read once, not in every iteration */
    bool graph_bytes;      /* total bytes: constants, graph inputs and outputs once, a lower bound */
    bool dedup_content;    /* count constants with identical bits once; the only option that reads weights */
    bool prefer_functions; /* a local function takes precedence over an operator of the same name */
    enum oc_kv_share kv_share; /* past and present share one buffer; OC_KV_AUTO: by operator */
    enum oc_if_mode if_mode;
    const char *weights;    /* "unit" (NULL), "hw", "mac", or a file of lines "KEY value" over "unit" */
    const char *convention; /* count as another tool does ("fvcore"); NULL: the default counting */
    const struct oc_op_rules *rules; /* user-defined operators; NULL: none; must outlive the analysis */
};

int oc_analyze(const struct oc_model *model, const struct oc_analyze_opts *opts, struct oc_analysis **out,
               struct oc_err *err);
void oc_analysis_free(struct oc_analysis *a);

struct oc_totals {
    uint64_t nodes, unknown_nodes; /* executed nodes; those without a cost */
    uint64_t estimated_nodes;      /* those whose cost is based on an assumption, or is a lower bound */
    uint64_t macs, flops, ops;     /* flops: float classes; ops: integer and boolean classes. With nodes of
                                      unknown cost, and where upper and lower bounds meet, these and the bytes
                                      are those of `least` */
    uint64_t params, params_all, const_bytes;
    uint64_t
        params_computed; /* elements of weights that follow from small constants when the model is loaded */
    uint64_t const_bytes_computed; /* their size, not in const_bytes */
    uint64_t bytes_read_act, bytes_read_weight, bytes_written;
    bool bytes_bound; /* the bytes are those of the whole model (graph_bytes), a lower bound */
    enum oc_quality quality;
    struct { /* quality of the sums, and nodes missing from them */
        uint64_t nodes, macs, flops, ops, bytes;
    } not_exact;
    struct { /* sums of the nodes that are exact or lower bounds: what one run needs at least */
        uint64_t macs, flops, ops, bytes;
    } least;
};
void oc_analysis_total(const struct oc_analysis *a, struct oc_totals *out);

struct oc_node_info {
    const char *name; /* NULL: unnamed */
    const char *op_type, *domain, *scope;
    uint64_t trips, macs, flops, ops, bytes_read_act, bytes_read_weight, bytes_written, params;
    enum oc_quality quality; /* OC_UNKNOWN: the counts are invalid */
    bool folded, alias;
};
size_t oc_analysis_nodes(const struct oc_analysis *a);
int oc_analysis_node(const struct oc_analysis *a, size_t index, struct oc_node_info *out);
size_t oc_analysis_diags(const struct oc_analysis *a, const struct oc_diag **out);
size_t oc_analysis_assumptions(const struct oc_analysis *a); /* number of assumptions; reports list them */
size_t oc_model_diags(const struct oc_model *m, const struct oc_diag **out);

struct oc_input_info { /* an input of the main graph without an initializer */
    const char *name;
    const char *dtype;  /* element type: "float", "int64" ... */
    bool tensor, known; /* not a sequence, map or optional; every dimension is known */
    uint32_t rank;
    const int64_t *dim;  /* as analysed; -1: not known */
    const char *assumed; /* "input.1 = 256 (reason)", several by commas: sizes that neither the model nor the
                            options give; NULL: none */
};
/* False past the end. The dimensions are copied into `dim`, which has room for 64. */
bool oc_analysis_input(const struct oc_analysis *a, size_t index, int64_t dim[64], struct oc_input_info *out);

/* ---- cost as a function of the open dimensions ------------------------------------------------------ */

enum oc_metric {
    OC_METRIC_MACS,
    OC_METRIC_FLOPS,
    OC_METRIC_OPS,
    OC_METRIC_BYTES_READ_ACT,
    OC_METRIC_BYTES_READ_WEIGHT,
    OC_METRIC_BYTES_WRITTEN,
    OC_METRIC_PEAK, /* peak activation memory in bytes */
    OC_METRIC_PARAMS,
    OC_METRIC_COUNT
};

/* Closed forms of the totals in the dimensions that the model leaves open and `opts` does not bind. They are
 * interpolated from many analyses in exact arithmetic and verified at further points. Where a total is not a
 * polynomial, the formula holds for multiples of a step, for a range, or there is none. */
struct oc_closed_form;
int oc_closed_form_make(const struct oc_model *model, const struct oc_analyze_opts *opts,
                        struct oc_closed_form **out, struct oc_err *err);
void oc_closed_form_free(struct oc_closed_form *f);
size_t oc_closed_form_symbols(const struct oc_closed_form *f); /* dimensions in the formulas */
const char *oc_closed_form_symbol(const struct oc_closed_form *f, size_t index);
/* "batch*(18432*sequence^2 + 85054464*sequence)"; NULL: no closed form was found. */
const char *oc_closed_form_text(const struct oc_closed_form *f, enum oc_metric m);
/* The formula at a point, one number per symbol. False where the formula does not apply. */
bool oc_closed_form_at(const struct oc_closed_form *f, enum oc_metric m, const int64_t *at, uint64_t *out);
/* Number of formulas that are missing, hold only for some sizes, or are not exact. */
size_t oc_closed_form_findings(const struct oc_closed_form *f);
/* format: table (NULL), csv or json; width_chars: of the table, 0: no limit */
int oc_closed_form_write(const struct oc_closed_form *formula, const char *format, unsigned width_chars,
                         FILE *f, struct oc_err *err);

struct oc_sweep_axis {
    const char *symbol;
    const int64_t *value;
    size_t n;
};
struct oc_sweep_row {
    const int64_t *at;   /* by axis */
    const char *failure; /* reason why there are no numbers, NULL: there are */
    uint64_t value[OC_METRIC_COUNT];
    uint64_t nodes, unknown_nodes;
    enum oc_quality quality;      /* quality of the sums, as in struct oc_totals */
    enum oc_quality peak_quality; /* OC_UNKNOWN: value[OC_METRIC_PEAK] is invalid */
};
#define OC_SWEEP_MAX_ROWS 100000

/* One analysis for each combination, the last axis fastest. Fails when no row has totals. */
struct oc_sweep;
int oc_sweep_make(const struct oc_model *model, const struct oc_analyze_opts *opts,
                  const struct oc_sweep_axis *axis, size_t n_axis, struct oc_sweep **out, struct oc_err *err);
void oc_sweep_free(struct oc_sweep *s);
size_t oc_sweep_rows(const struct oc_sweep *s, const struct oc_sweep_row **out);
size_t oc_sweep_findings(const struct oc_sweep *s); /* number of rows without totals or with inexact ones */
int oc_sweep_write(const struct oc_sweep *s, const char *format, unsigned width_chars, FILE *out,
                   struct oc_err *err);

/* ---- language models with a KV cache ---------------------------------------------------------------- */

struct oc_llm_opts {
    const struct oc_analyze_opts *analyze; /* how to count, and sizes that the cache has no say in; NULL */
    int64_t batch, prompt, generate;       /* sequences; tokens of each prompt, of each answer; all >= 1 */
    const struct oc_device *const *device; /* to compare it with */
    size_t n_device;
    unsigned width_chars; /* of the text for people; 0: no limit */
};

struct oc_llm_facts {          /* -1: unknown */
    uint32_t layers, kv_pairs; /* number of growing caches: inputs with their outputs */
    uint32_t cross_pairs;      /* inputs with keys or values of an encoder */
    int64_t heads, kv_heads, head_size, vocabulary;
    int64_t window; /* smallest of the attention operators; -1: none has one */
    uint32_t windowed_layers;
    bool uneven; /* layers differ in heads or sizes: the first layer is reported */
    bool kv_bytes_known;
    uint64_t kv_bytes_per_token, cross_bytes_per_token; /* per sequence */
    uint64_t params, const_bytes;
    const char *kv_dtype; /* "float16" */
    const char *naming;   /* exporter with these names */
};

/* A run of the graph, or the sum of the decode steps. Bytes of the cache are included in those read and
 * written. */
struct oc_llm_counts {
    uint64_t macs, flops, ops, bytes_read_act, bytes_read_weight, bytes_written, kv_read, kv_written;
    uint64_t peak; /* peak activation memory in bytes; of the last step */
    uint64_t unknown_nodes;
    enum oc_quality quality, peak_quality;
};
enum oc_llm_part {
    OC_LLM_PART_PREFILL, /* prefill: the whole prompt; produces the first token */
    OC_LLM_PART_FIRST,   /* one decode step after the prompt */
    OC_LLM_PART_LAST,    /* the last decode step */
    OC_LLM_PART_STEPS,   /* all decode steps: generate - 1 */
    OC_LLM_PART_WHOLE    /* end to end: prefill and decode */
};

/* Identifies the cache among the inputs and outputs and analyses the graph with the sizes of the prefill and
 * of each decode step. OC_EUNSUPPORTED: no cache, or the roles of the dimensions are ambiguous. The devices,
 * the lists in `analyze` and the model must outlive the result. */
struct oc_llm;
int oc_llm_make(const struct oc_model *model, const struct oc_llm_opts *opts, struct oc_llm **out,
                struct oc_err *err);
void oc_llm_free(struct oc_llm *l);
const struct oc_llm_facts *oc_llm_facts(const struct oc_llm *l);
bool oc_llm_run(const struct oc_llm *l, enum oc_llm_part part, struct oc_llm_counts *out); /* false: none */
size_t oc_llm_diags(const struct oc_llm *l, const struct oc_diag **out);
/* format: "table" (NULL), "csv" or "json". */
int oc_llm_write(const struct oc_llm *l, const char *format, FILE *out, struct oc_err *err);

/* ---- memory plans: arena offsets and node orders ---------------------------------------------------- */

struct oc_plan_opts {
    bool reorder;        /* search for an order of the nodes with a lower peak, and plan that order */
    bool without_inputs; /* graph inputs are in the caller's memory */
    bool all;            /* folded nodes, scalars and shapes have buffers too */
};

struct oc_plan_info {
    uint64_t size;            /* bytes of the block */
    uint64_t live;            /* peak live bytes of the planned order: no plan of it needs less */
    uint64_t file_order_live; /* the same for the file order */
    uint64_t any_order_live;  /* lower bound for any order; may not be attainable */
    size_t buffers;
    bool optimal;            /* proven: no plan for this order is smaller */
    bool reordered;          /* the order differs from the file order */
    bool order_optimal;      /* proven: no order has a lower peak */
    const char *method;      /* strategy that found the plan */
    enum oc_quality quality; /* OC_UPPER: some sizes are upper bounds */
};

/* Arena offsets of every buffer of a run, in one block. Options for sizes, alignment and in-place updates are
 * those of the analysis, which must outlive the plan. Fails with the name of the value when a size is
 * unknown. The plan is verified: no two buffers that are live in the same step share a byte. */
struct oc_memory_plan;
int oc_memory_plan_make(const struct oc_analysis *a, const struct oc_plan_opts *opts,
                        struct oc_memory_plan **out, struct oc_err *err);
void oc_memory_plan_free(struct oc_memory_plan *p);
void oc_memory_plan_info(const struct oc_memory_plan *p, struct oc_plan_info *out);
/* Every buffer with its offset: "json" (NULL) or "csv". */
int oc_memory_plan_write(const struct oc_memory_plan *p, const char *format, FILE *out, struct oc_err *err);
/* The order: "table" (NULL, a summary), "csv" or "json" (every node). */
int oc_memory_order_write(const struct oc_memory_plan *p, const char *format, FILE *out, struct oc_err *err);

/* ---- supported operators ---------------------------------------------------------------------------- */

struct oc_op_info {
    const char *domain, *name, *family, *op_class;
    int since, until;    /* opset versions of this definition; until 0: open */
    const char *formula; /* formula of the cost, NULL: no arithmetic */
    /* Tests of the name, all versions together: input sets with their types, those with exact costs, programs
     * that build models with it, models of the ONNX backend test set. */
    unsigned cases, costs, models, node_tests;
};
size_t oc_op_count(void);
void oc_op_get(size_t index, struct oc_op_info *out); /* index < oc_op_count(); sorted by family */
/* The list of all as "table" (NULL), "csv" or "json"; domain "" is printed as "ai.onnx". */
int oc_ops_write(const char *format, unsigned width_chars, FILE *f, struct oc_err *err);

/* ---- profiles: measurements of a runtime ------------------------------------------------------------ */

struct oc_profile;

enum oc_stat {
    OC_STAT_MEDIAN,
    OC_STAT_MEAN,
    OC_STAT_MIN,
    OC_STAT_MAX,
    OC_STAT_SUM,
    OC_STAT_AUTO /* the median, or the minimum where the runs are noisy: where the interquartile range of
                    their times is more than 10 % of the median (warning W-noisy-runs) */
};

/* Rules that derive precision, unit, class and library from kernel names: rows of a file
 * (hwdb/kernel-names/kernel-names.rng), applied before the built-in ones. */
struct oc_kernel_names;
int oc_kernel_names_load(const char *path, struct oc_kernel_names **out, struct oc_err *err);
void oc_kernel_names_free(struct oc_kernel_names *names);

struct oc_profile_opts {
    const char *format;  /* importer name, NULL: probe */
    int32_t warmup;      /* runs to drop; -1: the importer's default (the first of two or more) */
    uint32_t iterations; /* number of runs in files that do not mark them; 0: detect it */
    enum oc_stat stat;
    bool by_node; /* runs with different shapes: one record for each node instead of one for each of its sets
                     of shapes. Requires oc_sizes_make after oc_join_make */
    bool keep_events; /* keep single events, for summaries over time: 48 bytes each */
    const char *map;  /* columns of a table: "name=Function,time='CPU Time'"; NULL: by their headers. Files of
                         unknown format are then read as "generic_csv" */
    const struct oc_kernel_names *kernel_names; /* NULL: none; must outlive the profile */
    /* NULL, or a flag that a signal handler or another thread sets to non-zero while a file is read: reading
     * stops, and the profile contains the data so far, with the warning W-partial that states how much.
     * Without any data the call fails with OC_ESTOPPED. */
    const volatile int *stop;
    const struct oc_caps *caps; /* NULL: the defaults */
};

/* Reads one measurement: the file, and its companions by name (TensorRT's x.graph.json next to
 * x.profile.json). Errors name the file and the position; for an unknown format they list the importers
 * tried. */
int oc_profile_open(const char *path, const struct oc_profile_opts *opts, struct oc_profile **out,
                    struct oc_err *err);
/* Reads many files. Parts of one measurement (each part at most once, in the order given) become one profile,
 * every other file its own. *out: array of *n_out handles; each is closed with oc_profile_close, the array
 * freed with free(). On failure nothing is left open. */
int oc_profile_open_all(const char *const *path, size_t n, const struct oc_profile_opts *opts,
                        struct oc_profile ***out, size_t *n_out, struct oc_err *err);
void oc_profile_close(struct oc_profile *p);
size_t oc_profile_diags(const struct oc_profile *p, const struct oc_diag **out);
/* OC_EARG: not a name for oc_profile_opts.format. */
int oc_profile_format_check(const char *name, struct oc_err *err);
const char *oc_profile_importer(const struct oc_profile *p); /* "onnxruntime", "megengine" ... */
/* The device as the profile names it, for oc_hwdb_find: "NVIDIA A100-SXM4-80GB"; NULL: it names none. */
const char *oc_profile_device(const struct oc_profile *p);
/* Name and type of a record, "" if not recorded; false past the end. */
bool oc_profile_operator(const struct oc_profile *p, size_t index, const char **name, const char **type);

/* The source's own type of the record if it is not the ONNX type (CaskConvolution for Conv); NULL otherwise.
 */
const char *oc_profile_operator_source_type(const struct oc_profile *p, size_t index);

enum oc_file_kind { OC_FILE_MODEL, OC_FILE_PROFILE };
/* Classifies by content. Fails for a file that is recognized as something else (an archive, a model of
 * another framework, a web page). Any other file counts as the more similar kind, so that its reader can
 * report the error. */
int oc_file_kind(const char *path, enum oc_file_kind *out, struct oc_err *err);

/* Name of the format in which the file is a profile; NULL: none, or several. */
const char *oc_profile_recognize(const char *path);

/* Names and titles of the importers; false past the end. */
bool oc_profile_format(size_t index, const char **name, const char **title);
/* Versions that were read from real files, and what a report leaves out; false past the end. */
bool oc_profile_format_facts(size_t index, const char **seen, const char **lost);

/* ---- summaries: tables of a profile over time ------------------------------------------------------- */

/* Names of the tables; false past the end. */
bool oc_summary_view(size_t index, const char **name, const char **title);

struct oc_summary_opts {
    const char *format;      /* "table" (NULL), "csv", "json" */
    const char *const *view; /* tables to write; none: all with data in the source, in their order */
    size_t n_view;
    const char *sort;      /* of operators: CPUTotal, CPUAvg, CPUMax, CPUMin, GPUTotal ...; "time" as NULL */
    const char *search;    /* only rows whose name or type contains it, case-insensitive */
    const char *time_unit; /* of tables: "s", "ms" (NULL), "us", "ns" */
    bool op_detail;        /* children and kernels below each operator */
    bool per_thread;       /* separate operators and annotations per thread */
    bool has_top;
    int64_t top;             /* rows per table; 0: all. Default 20, kernels 15; all in CSV and JSON */
    double samples_per_step; /* for samples per second; 0: unknown */
    unsigned width_chars;    /* 0: no limit */
    const struct oc_kernel_names *kernel_names; /* NULL: none */
};
/* Profiles should be opened with keep_events; without events there are fewer tables. */
int oc_summary_write(const struct oc_profile *const *profile, size_t n, const struct oc_summary_opts *opts,
                     FILE *f, struct oc_err *err);

/* ---- hardware --------------------------------------------------------------------------------------- */

struct oc_hwdb;
struct oc_device;

enum oc_basis { OC_BASIS_VENDOR, OC_BASIS_DERIVED, OC_BASIS_MEASURED, OC_BASIS_ASSUMED };
const char *oc_basis_name(enum oc_basis basis); /* "vendor" */

struct oc_hw_source { /* a document; section and url may be NULL */
    const char *title, *section, *url;
};
#define OC_HW_SOURCES 3

/* One figure of a device with its source. Texts are NULL where they do not apply. */
struct oc_hw_figure {
    /* "count", "clock", "power", "vector", "matrix", "special", "overhead", "latency", or a memory level */
    const char *group;
    const char *what; /* class of a peak ("f16"), kind of a clock, "size", "bandwidth", runtime ... */
    double value;     /* in `unit` */
    const char *unit; /* FLOP/s, OP/s, B, B/s, Hz, s, W; "" for a count */
    const char *text; /* as written: "312 TFLOP/s" */
    enum oc_basis basis;
    const struct oc_hw_source *source[OC_HW_SOURCES]; /* NULL after the last; none for assumed figures */
    const char *section;    /* section in the first source, if different from the source's own */
    const char *formula;    /* formula of a derived figure */
    const char *clock;      /* clock at which a peak applies: base, boost ... */
    const char *accumulate; /* class of the accumulator of a matrix peak */
    const char *isa;        /* instruction set of a peak: "avx2" */
    const char *mode;       /* access pattern of a bandwidth: "triad" */
    const char *cores;      /* "1": of so many cores, NULL: of the device; with it, or a mode, the figure is
                               informative only */
    const char *note;
    const char *base; /* id of the device that it is inherited from */
    bool sparse;      /* applies to structured sparsity only: never used as a peak */
    uint32_t line;
};

struct oc_device_info {
    const char *id, *name, *vendor, *kind; /* kind: cpu, gpu, npu */
    const char *file;
    const char *const *alias;
    size_t n_alias;
    const char *sku, *base;      /* product variant of the figures; base device; may be NULL */
    const struct oc_hw_set *set; /* changes made by oc_device_override */
    size_t n_set;
};

/* One change by the user: "dram.bandwidth", "400 GB/s", the value in the file ("1555 GB/s"; NULL: none). */
struct oc_hw_set {
    const char *key, *value, *before;
};

/* dir NULL: the folders of $ONNXCOST_HWDB (separated by ':'), then one default folder, the first that exists
 * of: above the program, above the shared library (hwdb in a checkout, share/onnxcost/hwdb in an
 * installation), the folder set at build time. Only lists the files; each file is read on demand. */
int oc_hwdb_open(const char *dir, struct oc_hwdb **out, struct oc_err *err);
void oc_hwdb_free(struct oc_hwdb *db);
const char *oc_hwdb_folder(const struct oc_hwdb *db, size_t index); /* in search order; NULL past the end */

/* By id or alias; ignores case, '-', '_' and blanks; earlier folders take precedence. Not found: the error
 * lists similar names. The device is valid as long as the database. */
int oc_hwdb_find(struct oc_hwdb *db, const char *name, const struct oc_device **out, struct oc_err *err);

/* A user's own file. id NULL: the only device in it. */
int oc_device_load(struct oc_hwdb *db, const char *file, const char *id, const struct oc_device **out,
                   struct oc_err *err);

/* The argument of --hw: a name, or FILE, or FILE#ID (a file contains a '/' or ends in ".xml"). */
int oc_hwdb_get(struct oc_hwdb *db, const char *name_or_file, const struct oc_device **out,
                struct oc_err *err);

/* A copy of the device with other figures (the option --hw-set): "KEY=VALUE", where KEY is
 *   vector.CLASS matrix.CLASS special.CLASS   a peak; replaces all peaks of that class and unit
 *   MEMORY.size MEMORY.bandwidth              of a level of the device: "dram.bandwidth=400 GB/s"
 *   clock.KIND                                scales the peaks at that clock
 *   overhead, overhead.RUNTIME, power.TDP
 * and VALUE has a unit of hardware files. Errors are OC_EARG. The new device is valid as long as the
 * database; its info lists the changes, and the figures have basis "assumed". */
int oc_device_override(struct oc_hwdb *db, const struct oc_device *device, const char *const *set, size_t n,
                       const struct oc_device **out, struct oc_err *err);

/* Selects devices: "all", or "kind=gpu", "vendor=NVIDIA", joined with '+' to combine conditions,
 * case-insensitive. As in oc_hwdb_list. OC_EARG: invalid filter; OC_ENOTFOUND: no device matches. */
int oc_hwdb_select(struct oc_hwdb *db, const char *filter, const struct oc_device *const **out, size_t *n,
                   struct oc_err *err);
bool oc_hwdb_is_filter(
    const char *name); /* whether the text is a filter for oc_hwdb_select, not a name for oc_hwdb_get */

/* Every device, ordered by vendor and id. The list is valid until the next call on the database. */
int oc_hwdb_list(struct oc_hwdb *db, const struct oc_device *const **out, size_t *n, struct oc_err *err);

struct oc_device_info oc_device_info(const struct oc_device *device);
size_t oc_device_figures(const struct oc_device *device, const struct oc_hw_figure **out);

/* What `onnxcost hw` prints. format: table (NULL), csv or json; numbers of CSV and JSON are in base units.
 * The list has one line per device, one device one line per figure; two devices are shown with the ratio
 * second / first of the peaks as they are used (the dense one of each unit and class), memories, counts,
 * clocks, power, overhead. */
int oc_hwdb_write_list(struct oc_hwdb *db, const char *format, unsigned width_chars, FILE *out,
                       struct oc_err *err);
int oc_device_write(const struct oc_device *device, const char *format, unsigned width_chars, FILE *out,
                    struct oc_err *err);
int oc_device_write_diff(const struct oc_device *a, const struct oc_device *b, const char *format,
                         unsigned width_chars, FILE *out, struct oc_err *err);

/* Checks hardware files: reports every error of the reader, and whether formulas use the device's own counts
 * and clocks, whether a sparse rate is declared dense, ranges, and names across files. path: files to check,
 * whose bases may be in the database; n 0: all files of the database. An unreadable file is a problem, too.
 * -1 only if there is no file at all. */
struct oc_hw_lint;
struct oc_hw_finding {
    const char *file, *text; /* text names the device: "device 'a100': matrix f16: ..." */
    uint32_t line;           /* 0: the file as a whole */
};
int oc_hwdb_lint(struct oc_hwdb *db, const char *const *path, size_t n, struct oc_hw_lint **out,
                 struct oc_err *err);
size_t oc_hw_lint_findings(const struct oc_hw_lint *lint,
                           const struct oc_hw_finding **out); /* sorted by file and line */
int oc_hw_lint_write(const struct oc_hw_lint *lint, const char *format, FILE *out, struct oc_err *err);
void oc_hw_lint_free(struct oc_hw_lint *lint);

/* All about a device as text: one line per figure with value, basis and source. */
int oc_device_describe(const struct oc_device *device, unsigned width_chars, FILE *out, struct oc_err *err);

/* Measures this machine: peaks of every class and instruction set, clocks, bandwidths of caches and memory,
 * on one core and on all, the time of a parallel region and of a clock reading. Rates are the best of many
 * samples. Takes about 20 s and at most a third of the free memory; quick: under a second, for trials only,
 * its memory figures are those of a cache. Each thread is pinned to one processor. */
struct oc_hw_measure_opts {
    uint32_t threads; /* 0: one per available processor; more than those is OC_EARG */
    bool quick;
    void (*progress)(void *user, const char *what); /* progress: the current part; may be NULL */
    void *user;
};
struct oc_hw_measurement;
int oc_hw_measure(const struct oc_hw_measure_opts *opts, struct oc_hw_measurement **out, struct oc_err *err);
void oc_hw_measurement_free(struct oc_hw_measurement *m);
const struct oc_device *oc_hw_measurement_device(const struct oc_hw_measurement *m);
size_t oc_hw_measurement_diags(const struct oc_hw_measurement *m,
                               const struct oc_diag **out); /* warnings about the figures */
/* format "xml": the device file (hwdb/hwdb.rng) that --hw reads; else as oc_device_write. */
int oc_hw_measurement_write(const struct oc_hw_measurement *m, const char *format, unsigned width_chars,
                            FILE *out, struct oc_err *err);

/* ---- joins: records of a profile and nodes of a model ----------------------------------------------- */

struct oc_join;

/* `optimized` (the optimized model saved by the runtime) and `analysis` may be NULL; without an analysis
 * there are no costs. All must outlive the join. */
int oc_join_make(const struct oc_model *model, const struct oc_analysis *analysis,
                 const struct oc_profile *profile, const struct oc_model *optimized, struct oc_join **out,
                 struct oc_err *err);
void oc_join_free(struct oc_join *join);
size_t oc_join_diags(const struct oc_join *join, const struct oc_diag **out);

/* A record of the runtime, and its nodes. */
struct oc_join_record {
    const char *name, *op_type; /* as recorded; op_type "": unknown */
    const uint32_t *node;       /* nodes it covers, for oc_analysis_node; several if the runtime fused them */
    size_t n_node;              /* 0: none, see the bucket */
    const char *rule;           /* join rule; NULL without nodes */
    double confidence;          /* confidence of the rule, 0..1 */
    const char
        *bucket; /* "layout", "reformat", "copies", "framework", "load", "unmatched" ...; NULL: has nodes */
    double time_ns;            /* per run, without nested records; NAN: unknown */
    uint64_t macs, flops, ops; /* counts of its nodes, for one execution */
    enum oc_quality quality;   /* OC_UNKNOWN: these counts are invalid */
};
struct oc_join_totals {
    double nodes_ns, added_ns, unmatched_ns; /* per run: attributed, runtime-inserted, unattributed */
    double time_share,
        flops_share; /* share of the time that is attributed; share of FLOPs whose nodes have time; NAN */
};
void oc_join_totals(const struct oc_join *join, struct oc_join_totals *out);
size_t oc_join_records(const struct oc_join *join);
int oc_join_record(const struct oc_join *join, size_t index,
                   struct oc_join_record *out); /* -1: past the end */
/* The record that covers a node (the longest of several); -1: none. */
int oc_join_node(const struct oc_join *join, size_t node, struct oc_join_record *out);

/* Shapes of graph inputs without a fixed shape, for oc_analyze_opts.shape: recorded in the profile, or
 * implied by other recorded shapes and in contradiction to none. Names belong to the model. Returns their
 * number; free the list with oc_profile_input_shapes_free. */
size_t oc_profile_input_shapes(const struct oc_model *model, const struct oc_profile *profile,
                               struct oc_shape_bind **out);
void oc_profile_input_shapes_free(struct oc_shape_bind *shape, size_t n);

/* For a profile read with oc_profile_opts.by_node whose runs have different shapes: analyses the model for
 * the sizes of each run, and replaces the counts of the analysis and of the join by their means over the
 * runs. Reports show the sizes. opts: those of the analysis. Nothing to do for other profiles. */
int oc_join_sizes(struct oc_analysis *analysis, const struct oc_analyze_opts *opts,
                  const struct oc_model *optimized, struct oc_join *join, struct oc_err *err);

/* Executed branches and trip counts of loops, derived from the nodes of their bodies. Free with free(). */
size_t oc_profile_control(const struct oc_model *model, const struct oc_profile *profile,
                          struct oc_control_bind **out);

/* ---- recordings: run a model with ONNX Runtime ------------------------------------------------------ */

struct oc_record_opts {
    const char *library; /* file of libonnxruntime; NULL: $ONNXRUNTIME_LIB, else the usual places */
    const char *output;  /* prefix of the output files, or a folder (with '/' at its end, or existing); NULL:
                            the model's name, in the current folder */
    const char *level;   /* optimization level: "disabled", "basic", "extended", "all" (NULL) */
    const struct oc_value_bind *value; /* contents of inputs; a single number fills one. Others are random */
    size_t n_value;
    uint32_t threads;        /* 0: ONNX Runtime's choice */
    uint32_t runs;           /* measured in each of the two sessions; 0: at least 5 and 3 s, until the 95 %
                                confidence interval of the median is within 2 % of it; with profiling also until
                                the profile has 20000 events */
    uint32_t warmup;         /* runs before them */
    const char *time_budget; /* of both sessions, "60s" (NULL), "5min": no run begins that would exceed it,
                                but one run is measured in each session; with `runs` and NULL: none */
    uint64_t seed;           /* of random contents */
    void (*progress)(void *arg, const char *what); /* "loading the model"; NULL: not reported */
    void *progress_arg;
    const volatile int *stop; /* set to non-zero by a signal handler: ends the recording; NULL: none */
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
    bool over_budget; /* the time budget ended it before 5 runs, or before the fixed number */
    bool noisy;       /* the interquartile range is more than 10 % of the median: use the minimum */
    double median_ns, min_ns, max_ns;
    double error;  /* half of the 95 % confidence interval of the median / median; NAN: one run */
    double spread; /* interquartile range / median; likewise */
};

struct oc_record_info {
    const char *library, *version;   /* the library's file and version "1.30.0" */
    const char *profile, *optimized; /* the files: X.profile.json (with the warm-up runs), X.optimized.onnx */
    struct oc_record_time plain, profiled; /* without and with profiling */
    size_t n_input;
    const struct oc_record_input *input;
};

/* Runs the model with inputs of the analysed shapes: in one session to measure its time, in another one with
 * profiling. ONNX Runtime is loaded in a forked process, so a crash of it is an error; its output is not
 * shown. The files are complete or absent. Errors: OC_ELIBRARY library missing, unsuitable, or crashed;
 * OC_EFORMAT and OC_EUNSUPPORTED with ONNX Runtime's message: it cannot load or run the model; OC_EARG,
 * OC_ELIMIT: shapes and values. The recording does not need the model and the analysis afterwards. */
struct oc_recording;
int oc_record(const struct oc_model *model, const struct oc_analysis *analysis,
              const struct oc_record_opts *opts, struct oc_recording **out, struct oc_err *err);
void oc_recording_free(struct oc_recording *r);
struct oc_record_info oc_recording_info(const struct oc_recording *r);
void oc_recording_write(const struct oc_recording *r, FILE *f); /* a short summary as text */

/* ---- other libraries -------------------------------------------------------------------------------- */

struct oc_library_info {
    const char *name, *use; /* "libxml2", "hardware files ..." */
    bool on_demand;         /* loaded on demand, may be missing */
    bool found;
    char version[32], file[512]; /* "": unknown, or not found */
};
/* Required and optional libraries. False past the end. ONNX Runtime is loaded in a separate process. */
bool oc_library(size_t index, struct oc_library_info *out);
/* The ONNX Runtime that a recording with this oc_record_opts.library would use (NULL: the usual places). Sets
 * version and file. */
int oc_onnxruntime_find(const char *library, struct oc_library_info *out, struct oc_err *err);

/* ---- estimates: cost curves fitted to measured kernels ---------------------------------------------- */

struct oc_samples_opts {
    const struct oc_device *device; /* the measured device, must outlive the samples; NULL: not given */
    const char *profile_format;     /* importer name, NULL: probe */
    const char *runtime, *runtime_version; /* NULL: the profile's format; unknown */
    uint32_t threads;                      /* threads of the runtime, 0: unknown */
    int32_t warmup; /* runs to leave out of each profile; -1: the importer's default (the first) */
    const struct oc_caps *caps;                         /* NULL: the defaults */
    void (*progress)(void *arg, const char *recording); /* NULL: not given */
    void *progress_arg;
};

/* Measured kernels of recordings. path: profiles (X.profile.json with the model X.onnx and X.optimized.onnx
 * next to it, as written by `onnxcost record`), each model before its profiles if it has another name, and
 * lists (.csv, .tsv) with the columns profile, model, optimized, name, id, family, dims, plain_ms, warmup.
 * Recordings with one id are the same network, with one family related ones. */
struct oc_samples;
int oc_samples_read(const char *const *path, size_t n, const struct oc_samples_opts *opts,
                    struct oc_samples **out, struct oc_err *err);
void oc_samples_free(struct oc_samples *samples);
size_t oc_samples_diags(const struct oc_samples *samples, const struct oc_diag **out);
/* Every sample with the features used by a calibration: "csv" (NULL) or "json". */
int oc_samples_write(const struct oc_samples *samples, const char *format, FILE *out, struct oc_err *err);

/* Cost curves of a device and a runtime: for each class of kernels and type of arithmetic a curve of time
 * over work with its error bars, and the measured kernels. */
struct oc_calibration_opts {
    bool by_family;      /* cross-validation leaves out families, not only networks */
    bool no_forest;      /* no residual forests */
    const char *created; /* date stored in the file; NULL: none */
};
struct oc_calibration;
/* The samples must have been read with a device. They are not needed afterwards. */
int oc_calibration_make(const struct oc_samples *samples, const struct oc_calibration_opts *opts,
                        struct oc_calibration **out, struct oc_err *err);
void oc_calibration_free(struct oc_calibration *cal);
/* The calibration file (hwdb/calibration.rng). It round-trips exactly. */
int oc_calibration_load(const char *path, struct oc_calibration **out, struct oc_err *err);
void oc_calibration_write(const struct oc_calibration *cal, FILE *out); /* check failures with ferror */
/* The calibration as text ("table", NULL), "csv" (one row per curve), or "json". samples: its training data,
 * to report rejected kernels; NULL: not reported. */
int oc_calibration_report(const struct oc_calibration *cal, const struct oc_samples *samples,
                          const char *format, FILE *out, struct oc_err *err);

struct oc_validation_opts {
    bool by_family; /* leave out families instead of networks */
    bool no_forest;
};
/* Cross-validation: each network (family) is left out in turn and predicted from the others; simple
 * predictors are included for comparison. Fails with fewer than two. The samples must outlive the result. */
struct oc_validation_result;
int oc_validation_make(const struct oc_samples *samples, const struct oc_validation_opts *opts,
                       struct oc_validation_result **out, struct oc_err *err);
void oc_validation_result_free(struct oc_validation_result *validation);
/* "table" (NULL), "csv" (one row per recording) or "json". */
int oc_validation_write(const struct oc_validation_result *validation, const char *format, FILE *out,
                        struct oc_err *err);

struct oc_estimate_opts {
    const struct oc_calibration *calibration; /* NULL: only an interval, from the roofline */
    const struct oc_join *join; /* kernels as recorded, shown with their times; NULL: from the fusion plan */
    const char *fusion;         /* rules of the plan: "onnxruntime", "generic", "none"; NULL: as fits */
    unsigned width_chars;       /* of the text for people; 0: no limit */
};
struct oc_estimate_info {
    size_t kernels, unknown_kernels;  /* the latter have no prediction */
    double time_ns, low_ns, high_ns;  /* of a run; time NAN: no calibration, low and high are the interval */
    uint32_t recorded, planned_equal; /* kernels of the join, and those of them that are in the plan */
    double planned_equal_time;        /* their share of its time, NAN without a join */
};
/* Time of a run of the model. The analysis (and what is in the options) must outlive the result. */
struct oc_estimate;
int oc_estimate_make(const struct oc_analysis *analysis, const struct oc_device *device,
                     const struct oc_estimate_opts *opts, struct oc_estimate **out, struct oc_err *err);
void oc_estimate_free(struct oc_estimate *e);
struct oc_estimate_info oc_estimate_info(const struct oc_estimate *e);
/* "table" (NULL; the `top` longest kernels, 0: all), "csv" or "json" (all, in execution order). */
int oc_estimate_write(const struct oc_estimate *e, const char *format, size_t top, FILE *out,
                      struct oc_err *err);

/* ---- reports ---------------------------------------------------------------------------------------- */

/* Selection, grouping, order and format of rows. Zero means the default, except where stated. */
struct oc_report_opts {
    const char *format; /* "table" (NULL), "csv", "json" */
    const char
        *style; /* of tables: "grid", "ascii" (a grid of ASCII characters), "compact"; NULL: automatic */
    unsigned width_chars; /* 0: no limit */
    bool color;
    bool verbose; /* the table's summary has all lines, not only the main ones */
    bool has_top;
    int64_t top; /* rows; 0: all; negative: drop the last ones. Default 3 for MegEngine files, 10 below a
                    table of operator types by default, else 20 */
    const char *const
        *name_pattern; /* regular expressions matched from the start of the name, combined with or */
    size_t n_name_pattern;
    const char *const *type; /* exact operator types, combined with or */
    size_t n_type;
    const char *const *input_dtype;
    size_t n_input_dtype;
    const char *order_by;     /* "[+]column,..": the first is the primary key, later ones break ties */
    const char *aggregate;    /* "max", "min", "sum", "mean", "median", "count", "p90" ... */
    const char *aggregate_by; /* "type,module:2,..", see group_by; needs aggregate */
    const char *group_by;     /* the same, as sums unless `aggregate` is given. Keys: type, module[:depth],
                                 signature, provider, precision, kernel, bound, rule */
    const char *top_end_key;  /* "end" (NULL), "kern" */
    const char *min_time, *max_time; /* seconds, as text; NULL: no bound */
    const char *print_only;          /* "summary", "device", "host" */
    bool show_host, copy_time, confluence, dump_only_opr;
    /* Nodes (name, "<OpType>_<index>", or index) whose cost breakdown is reported. A table then contains
     * nothing else; JSON gets a member "receipts"; there is no CSV of that. */
    const char *const *why;
    size_t n_why;
    /* Names of a joined profile's records, "" for all: reports the join rule, its confidence, and why a
     * record has no nodes. A table then contains nothing else; in JSON each row gets "explanation". */
    const char *const *explain_match;
    size_t n_explain_match;
    /* Rooflines: each byte counts at the nearest memory level that can contain it, not at DRAM; the time
     * stays a lower bound for repeated runs. */
    bool cache;
    /* What-if steps, applied in sequence: element-wise operators fused into
     * their producers ("elementwise"), another data type ("fp16", "int8-weights" ...), then
     * "KEY=80%" (of the roofline), "KEY=2x" (faster), where KEY is an operator type, class or pattern
     * of names, and "hw=NAME". what_if_device[i] is the device of a step of the last kind; else NULL. */
    const char *fuse, *as;
    const char *const *what_if;
    const struct oc_device *const *what_if_device; /* NULL: none has one */
    size_t n_what_if;
    /* A table also has the times of each unit and memory level, which are always in CSV with hardware and in
     * "limits" of JSON. */
    bool roofline;
    /* Optimization suggestions with the rows that support them; not in CSV. Gaps and waiting for data need
     * profiles opened with keep_events. */
    bool advise;
    const char *recorded_hw; /* the device of the profile in the hardware files, proposed where the report has
                              * no device; may be NULL */
    struct oc_report_outcome *outcome; /* set by oc_report_write; may be NULL */
};

struct oc_report_outcome {
    size_t unordered; /* rows without a value of order_by: they are last in either direction */
};

/* The sources of a report; parts that do not apply are NULL. An analysis needs its model, a join both its
 * analysis and its profile. */
struct oc_report_in {
    const struct oc_model *model;
    const struct oc_analysis *analysis;
    const struct oc_profile *profile;
    const struct oc_join *join;
    const struct oc_device *device;
};

/* The warnings that profile, model and device do not belong together (OC_DIAG_...), most serious
 * first; texts live as long as the parts of `in`. A program shows them before the report, which has them
 * among its warnings. Returns how many, at most `max`. */
size_t oc_headlines(const struct oc_report_in *in, struct oc_diag *out, size_t max);

/* Counts the names that an expression of name_pattern matches; anywhere: not only at the start of the name,
 * any_case: letter case does not count. */
int oc_pattern_count(const char *expression, bool anywhere, bool any_case, const char *const *name, size_t n,
                     size_t *count, struct oc_err *err);

/* Writes the report. OC_EARG: the options do not apply. Check failed writes with ferror(f). */
int oc_report_write(const struct oc_report_in *in, const struct oc_report_opts *opts, FILE *f,
                    struct oc_err *err);

/* Writes the model with its costs: decimal numbers in the metadata_props of every node, including nodes of
 * bodies and local functions, and totals in those of the model, with keys that begin with "onnxcost." (older
 * ones are replaced). All other bytes are copied unchanged. in: model and analysis; a join and a device add
 * times and limits; opts: --cache. path: the output file, which must be in the folder of external weights,
 * and must not be the model itself (OC_EARG); NULL: unknown. OC_ELIMIT: the result would be too large for
 * protobuf. */
int oc_annotate_write(const struct oc_report_in *in, const struct oc_report_opts *opts, const char *path,
                      FILE *f, struct oc_err *err);

/* The JSON Schema (draft 2020-12) of an output: "report" (NULL), that is oc_report_write as "json", or
 * "compare", oc_compare_write. OC_ENOTFOUND: unknown name. */
int oc_schema_write(const char *name, FILE *f, struct oc_err *err);

/* ---- memory: live bytes over a run ------------------------------------------------------------------ */

struct oc_memory;

struct oc_memory_opts {
    /* Simulates the first run by ONNX Runtime's CPU provider without optimizations: its node order, no
     * constant folding, including scalars and shapes, without graph inputs (owned by the caller); in addition
     * to the peak, the most that its arena has in use, with its reuse of dead tensors. Otherwise file order
     * and the rules of the analysis' options (inplace, keep_inputs, align_bytes). */
    bool as_onnxruntime;
    const struct oc_profile *profile; /* a profile with memory statistics, for comparison; NULL: none */
    const struct oc_device *device;   /* device whose memory it should fit; NULL: not requested */
    /* Options of the analysis, to search for the largest batch that fits; NULL: no search. */
    const struct oc_analyze_opts *analyze;
    size_t top;           /* rows of each table for people; 0: all */
    unsigned width_chars; /* of these tables; 0: no limit */
};

enum oc_fits { OC_FITS_NOT_ASKED, OC_FITS_YES, OC_FITS_NO, OC_FITS_UNKNOWN };

struct oc_memory_info {
    uint64_t const_bytes;
    uint64_t peak_bytes, lower_bytes; /* activations: peak, and lower bound for any order of the nodes */
    const char *peak_node;            /* NULL: unnamed, or no nodes */
    uint64_t footprint_bytes;         /* constants and activations; without workspace of kernels */
    enum oc_quality quality;          /* quality of peak, lower bound and footprint */
    enum oc_fits fits;
    uint64_t capacity_bytes; /* memory of the device, 0: not requested */
    const char *batch;       /* dimension whose largest size was searched, NULL: none */
    int64_t largest_batch;   /* 0: not even 1 fits */
    bool batch_bounded;      /* largest_batch is the end of the search: larger ones may fit */
};

/* Fails (OC_ENOTFOUND) if the device file has no memory size. The analysis, profile and device must outlive
 * the result. */
int oc_memory_make(const struct oc_analysis *analysis, const struct oc_memory_opts *opts,
                   struct oc_memory **out, struct oc_err *err);
void oc_memory_free(struct oc_memory *m);
struct oc_memory_info oc_memory_info(const struct oc_memory *m);
/* "table" (NULL), "csv" (one row per step), "json" (everything). */
int oc_memory_write(const struct oc_memory *m, const char *format, FILE *out, struct oc_err *err);
/* Only the result for the device, as a short text. */
void oc_memory_write_fit(const struct oc_memory *m, FILE *out);

/* Compares several profiles of one model: one row for each smallest set of nodes that no record splits, its
 * costs, and a group of columns for each profile with the ratio to the first. combine: each row also has the
 * most accurate time (kernels of Nsight Systems, TensorRT's profile, device times, host times) and the
 * counters of Nsight Compute. Only the options for selecting and ordering rows apply. */
struct oc_compare_source {
    const struct oc_profile *profile;
    const struct oc_join *join; /* of the profile with the model and analysis given below */
};
int oc_compare_write(const struct oc_model *model, const struct oc_analysis *analysis,
                     const struct oc_device *device, const struct oc_compare_source *source, size_t n,
                     bool combine, const struct oc_report_opts *opts, FILE *f, struct oc_err *err);

/* ---- scan: one row per model ------------------------------------------------------------------------ */

#define OC_SCAN_UNKNOWN UINT64_MAX

/* Unknown: NULL, OC_SCAN_UNKNOWN, INT64_MIN, NAN. */
struct oc_scan_row {
    const char *path;
    uint64_t size_bytes;
    int64_t mtime_ns;          /* since 1970 */
    const char *hash;          /* XXH64 of the file, 16 hexadecimal digits; without external weights */
    const char *duplicate_of;  /* the first path in the scan whose file is identical */
    int64_t ir_version, opset; /* opset: of the default domain */
    const char *domains;       /* other domains: "com.microsoft 1, ai.onnx.ml 3" */
    const char *producer;
    /* As in struct oc_totals; bytes: read and written. Figures are unknown where all contributing nodes are
     * unknown. */
    uint64_t nodes, unknown_nodes, params, const_bytes, macs, flops, ops, bytes;
    uint64_t peak_activation_bytes;
    const char *quality, *peak_quality; /* "exact", "upper", "lower", "est", "unknown" */
    uint64_t assumptions;
    double seconds;
    const char *settings; /* fingerprint of the options that affect the row */
    /* NULL: none. Codes: "io", "format", "limit", "unsupported", "argument", "memory", "crash" ... */
    const char *error, *error_code, *error_file;
    uint64_t error_line, error_offset;
    bool kept; /* reused from earlier rows */
};

enum oc_scan_hash {
    OC_SCAN_HASH_SIZE, /* hash files of equal size, to find duplicates */
    OC_SCAN_HASH_ALL,
    OC_SCAN_HASH_OFF
};

struct oc_scan_opts {
    const struct oc_analyze_opts *analyze; /* for each model; bindings that match nothing in it are ignored */
    const struct oc_caps *caps;            /* NULL: the defaults */
    unsigned jobs;                         /* processes; 0: one per available processor */
    enum oc_scan_hash hash;
    const char *settings; /* fingerprint: must differ when options would change rows; NULL: "" */
    bool kept_only;       /* only rows of oc_scan_keep */
    const volatile int
        *stop; /* non-zero, set by a signal handler: the scan ends after the started rows; NULL */
};

/* Files, and folders, in which every file that ends in ".onnx" is included, at any depth; see
 * oc_scan_row.path. Explicit names keep their order, those of a folder are sorted by bytes, without
 * duplicates. Examines the files but does not read them. `opts` and its members must outlive the scan. */
struct oc_scan;
void oc_scan_open(const char *const *path, size_t n, const struct oc_scan_opts *opts, struct oc_scan **out);
void oc_scan_free(struct oc_scan *s);
size_t oc_scan_files(const struct oc_scan *s);

/* Reuses the rows of an earlier scan (NDJSON or CSV written by oc_scan_writer; the last line may be
 * truncated) whose file has the same path, size and modification time, made with the same settings by this
 * version of the program; the last one if there are several. Errors that may be temporary (a file that could
 * not be opened, a crash) are not reused. OC_EFORMAT: the file contains something else. */
int oc_scan_keep(struct oc_scan *s, const char *rows_path, size_t *n_kept, struct oc_err *err);

/* Calls `row` for every file in order, in the caller's process; a row is borrowed for the call. The models
 * are analysed in processes made by fork(): one that crashes or runs out of memory is an error row. Fails if
 * `row` does not return 0, or if no process can be started. *n_done (may be NULL): number of rows delivered.
 */
int oc_scan_run(struct oc_scan *s, int (*row)(void *arg, const struct oc_scan_row *row), void *arg,
                size_t *n_done, struct oc_err *err);

/* Rows as "table" (NULL), "csv", "ndjson" (one JSON object per line), or "json". `more`: appends to existing
 * rows. The table is written at the end, the others row by row. OC_EARG: no such format. */
struct oc_scan_writer;
int oc_scan_writer_open(const char *format, bool more, unsigned width_chars, FILE *f,
                        struct oc_scan_writer **out, struct oc_err *err);
void oc_scan_writer_row(struct oc_scan_writer *w, const struct oc_scan_row *row);
void oc_scan_writer_close(struct oc_scan_writer *w); /* check failures with ferror */

/* ---- compare: rank devices for a model -------------------------------------------------------------- */

struct oc_rank_opts {
    const struct oc_analyze_opts *analyze; /* counting options, and the sizes; NULL: the defaults */
    const struct oc_device *const *device; /* at least one, without duplicates */
    size_t n_device;
    const char *batch_dim; /* the batch dimension; NULL: the first one of the first input */
    const int64_t *batch;  /* batches to rank the devices for; n_batch 0: the one of the analysis */
    size_t n_batch;
    const char *sort; /* "time" (NULL), "throughput", "energy" */
    const char *as;   /* assumed type of the work: "fp16", "int8-weights" ...; NULL: the model's own */
    bool cache;       /* bytes count at the nearest memory level that can contain them, not at DRAM */
    const struct oc_calibration *calibration; /* of one of the devices, which then has an estimate with its 80
                                                 % interval; NULL: none; not with `as` */
};

/* Ranks are by the centres of the intervals, from 1. The true rank of a device is between first and last, the
 * ranks of devices whose intervals overlap its own. place 0: the time, or the sort key, is unknown, or the
 * model does not fit into its memory. */
struct oc_rank_row {
    const struct oc_device *device;
    unsigned place, first, last;
    bool calibrated;
    double lo_ns, mid_ns, hi_ns;          /* time of a run; NAN: unknown */
    double lo_joule, mid_joule, hi_joule; /* of one inference, at the design power; NAN: unknown */
    const char *missing; /* reason why the time is unknown: "no vector f32 peak"; NULL: it is known */
    const char *limit;   /* the part with the most time: "DRAM", "overhead" ... or "unknown" */
    enum oc_fits fits;
    uint64_t need_bytes, capacity_bytes; /* constants and activations; 0: unknown */
};

/* A change of a property as the batch grows. */
struct oc_rank_phase {
    int64_t from; /* the first batch; applies up to that of the next phase, the last one to the end */
    int what;     /* see below; -1: unknown */
};
enum oc_rank_faster { /* of two devices */
                      OC_RANK_SAME,
                      OC_RANK_FIRST,
                      OC_RANK_FIRST_SURELY, /* the intervals do not overlap */
                      OC_RANK_SECOND,
                      OC_RANK_SECOND_SURELY
};

/* Uncalibrated times are intervals: every operator runs at 30 % to 90 % of its roofline speed, plus the
 * overhead of every launched operator. A device without a peak for the model's products, without a bandwidth
 * or an overhead has no time; other arithmetic without a peak is left out, and reported, if it is at most 1 %
 * of the work. Energy assumes that the device always draws its design power. The model, the devices and the
 * lists in `opts` must outlive the result. OC_EARG: a device twice, no such order or dimension, a batch below
 * 1 or for a model that fixes it. */
struct oc_rank;
int oc_rank_make(const struct oc_model *model, const struct oc_rank_opts *opts, struct oc_rank **out,
                 struct oc_err *err);
void oc_rank_free(struct oc_rank *r);

/* Rows in order, one per device, for the i-th requested batch; 0 past the end. */
size_t oc_rank_rows(const struct oc_rank *r, size_t index, int64_t *batch, const struct oc_rank_row **out);

/* At other batches. The largest one examined; 0: the model has a fixed batch, or a size is unknown, and none
 * of the following is available. */
int64_t oc_rank_max_batch(const struct oc_rank *r);
/* The fastest of the devices whose memory is large enough: what is the index of the device. */
size_t oc_rank_fastest(const struct oc_rank *r, const struct oc_rank_phase **out);
/* The faster of two devices, by index: what is an enum oc_rank_faster. 0: not computed, for more than 16
 * devices. */
size_t oc_rank_faster(const struct oc_rank *r, size_t first, size_t second, const struct oc_rank_phase **out);
/* The limit of a device: what is an index for oc_rank_limit_name. */
size_t oc_rank_limits(const struct oc_rank *r, size_t device, const struct oc_rank_phase **out);
const char *oc_rank_limit_name(int what);

struct oc_rank_write_opts {
    const char *format;   /* "table" (NULL), "csv", "json" */
    unsigned width_chars; /* of tables; 0: no limit */
    bool color;
    bool has_top; /* rows per table; 0: all. Default 20; all in CSV and JSON */
    int64_t top;
};
int oc_rank_write(const struct oc_rank *r, const struct oc_rank_write_opts *opts, FILE *f,
                  struct oc_err *err);

const char *oc_convention_name(size_t index); /* for oc_analyze_opts.convention; NULL past the end */

/* Compares two analyses of the model with different conventions: the difference of their FLOPs and OPs by
 * operator type and reason. format: "table" (NULL) or "json". */
int oc_explain_write(const struct oc_model *model, const struct oc_analysis *first,
                     const struct oc_analysis *second, const char *format, unsigned width_chars, FILE *f,
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
    bool cache; /* rooflines, as in struct oc_report_opts */
};

/* Compares two models, or one with two profiles, devices or shapes. Nodes are matched by name, else by
 * structure. Each side has an analysis, and a join if it has a profile. Everything but the structs themselves
 * must outlive the result. OC_EARG: something is missing, or the totals are not additive (graph_bytes). */
struct oc_diff;
int oc_diff_make(const struct oc_report_in *a, const struct oc_report_in *b, const struct oc_diff_opts *opts,
                 struct oc_diff **out, struct oc_err *err);
void oc_diff_free(struct oc_diff *d);
struct oc_diff_info oc_diff_info(const struct oc_diff *d);
void oc_diff_total(const struct oc_diff *d, enum oc_diff_metric m, struct oc_diff_total *out);

struct oc_diff_write_opts {
    const char *format; /* "table" (NULL), "csv", "json", "markdown", "html", "github" */
    const char
        *sort; /* largest difference first: "macs", "flops", "bytes", "params", "time", "roofline"; "order":
                  in execution order; NULL: in tables the first of time, roofline, macs, bytes that differs */
    bool has_top; /* rows; 0: all. Default 20 in tables, all elsewhere; tables omit identical rows */
    int64_t top;
    unsigned width_chars; /* of tables; 0: no limit */
    bool color;
};
int oc_diff_write(const struct oc_diff *d, const struct oc_diff_write_opts *opts, FILE *f,
                  struct oc_err *err);

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
};
/* Compares a model (with an analysis) with the limits. Latency: measured if `in` has a profile and its join,
 * else the interval of `estimate` (may be NULL). Efficiency needs a profile and a device. An upper bound
 * within the limit passes, a lower bound beyond it fails. Everything must outlive the check. */
struct oc_check;
int oc_check_make(const struct oc_report_in *in, const struct oc_estimate *estimate,
                  const struct oc_budget *budget, struct oc_check **out, struct oc_err *err);
void oc_check_free(struct oc_check *c);
struct oc_check_counts oc_check_counts(const struct oc_check *c);
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

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
