/* onnxcost: where the time and memory of a neural network go.
 *
 * The whole public interface. Conventions:
 *  - Functions that can fail return 0 on success and -1 on failure with *err filled (err is caller-owned and
 *    needs no clean-up). Nothing is printed by the library.
 *  - Handles are freed by the matching _free function (NULL is fine). What accessors return is borrowed and
 *    lives as long as the handle. Inputs must outlive results (a model outlives its analyses).
 *  - Counts are exact uint64_t. Time is double nanoseconds. Sizes are bytes.
 *  - Running out of memory calls the handler of oc_set_oom_handler, by default abort(). That handler and the
 *    one of oc_set_map_watch are the only state that is not in a handle: threads with handles of their own
 *    need no locks, and they may share models and profiles.
 */
#ifndef ONNXCOST_H
#define ONNXCOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__ /* what is declared here is all that the shared library shows */
#pragma GCC visibility push(default)
#endif

#define ONNXCOST_VERSION "0.1.0"

/* ---- errors and findings --------------------------------------------------------------------------- */

enum oc_code {
    OC_OK,
    OC_EIO,
    OC_EFORMAT,
    OC_ELIMIT,
    OC_EUNSUPPORTED,
    OC_EARG,
    OC_ENOTFOUND,
    OC_EOUTPUT,
    OC_ELIBRARY, /* a library that is loaded on demand is missing */
    OC_ESTOPPED  /* by a flag of the caller (oc_profile_opts.stop) */
};

/* A failure with its place. `line` and `offset_bytes` are 0 when they do not apply. */
struct oc_err {
    enum oc_code code;
    uint32_t line;
    uint64_t offset_bytes;
    char file[256];
    char msg[768];
};

enum oc_severity { OC_INFO, OC_WARNING, OC_ERROR };

/* A finding that did not stop the work. `code` is a short stable tag such as "W-shape-conflict". */
struct oc_diag {
    enum oc_severity severity;
    const char *code, *where, *text;
};

/* Called when memory cannot be had, here or in a library that is used: bytes asked for, 0 where nobody knows.
 * Must not return; nothing was printed, and every handle of the thread is in no state to be used. NULL:
 * abort(). */
void oc_set_oom_handler(void (*handler)(size_t bytes));

/* Files are mapped. When one is cut while it is read, the system sends SIGBUS; the library leaves signals to
 * the program. A program that handles it can learn here which file lies where: `watch` is called with the
 * path after a file was mapped, and with NULL for the path before the range goes. It may be called from any
 * thread that reads, and must not call the library. NULL: none. */
void oc_set_map_watch(void (*watch)(const char *path, const void *data, size_t size_bytes));

/* What a terminal would obey and not show becomes '?', in place: control characters, among them the end of a
 * line, what turns the direction of text, and bytes that are not UTF-8. Returns `text`. */
char *oc_make_visible(char *text);

/* How far a number can be trusted. Sums take the worst; an upper and a lower bound together are an estimate.
 */
enum oc_quality { OC_EXACT, OC_UPPER, OC_LOWER, OC_EST, OC_UNKNOWN };

/* ---- how much a file may ask for ------------------------------------------------------------------------
 */

/* Models and profiles may be made to eat memory and time. What goes beyond one of these is OC_ELIMIT, and the
 * message names the limit. */
enum oc_cap {
    OC_CAP_FILE_BYTES,
    OC_CAP_DEPTH,
    OC_CAP_NODES,
    OC_CAP_FUNCTION_NODES,
    OC_CAP_REPEATS,
    OC_CAP_MODEL_MEMORY,
    OC_CAP_ANALYSIS_MEMORY,
    OC_CAP_FOLDED_BYTES,
    OC_CAP_TENSOR_ELEMENTS,
    OC_CAP_LIST_ELEMENTS,
    OC_CAP_EINSUM_OPERANDS,
    OC_CAP_STRING_BYTES,
    OC_CAP_EVENTS,
    OC_CAP_TABLE_ROWS,
    OC_CAP_CSV_COLUMNS,
    OC_CAP_CSV_ROW_BYTES,
    OC_CAP_GZ_RATIO,
    OC_CAP_GZ_BYTES,
    OC_CAP_GZ_VALUE_BYTES,
    OC_CAP_SQLITE_STEPS,
    OC_CAP_SQLITE_SECONDS,
    OC_CAP_COUNT
};
struct oc_caps {                 /* NULL in the place of a pointer to one: all defaults */
    uint64_t most[OC_CAP_COUNT]; /* 0: the default */
    bool external_anywhere;      /* weights in files outside of the model's folder are read; otherwise they
                                    count as absent, and the file is not opened */
};

struct oc_cap_info {
    const char *name, *text;         /* "csv-columns", "columns of a table" */
    const char *unit;                /* "B", "s", "" */
    uint64_t otherwise, least, most; /* the default, and what it may be set to; all equal: it is fixed */
};
/* By enum oc_cap, then those that are fixed; false past the end. */
bool oc_cap_info(size_t index, struct oc_cap_info *out);
/* "nodes=8M", "file-bytes=2GiB". OC_EARG: no such limit, or not a number that it can be set to. */
int oc_caps_set(struct oc_caps *caps, const char *text, struct oc_err *err);

/* ---- model ------------------------------------------------------------------------------------------ */

struct oc_model;
struct oc_analysis;

int oc_model_load(const char *path, const struct oc_caps *caps, struct oc_model **out, struct oc_err *err);
int oc_model_load_mem(const void *data, size_t size_bytes, const struct oc_caps *caps, struct oc_model **out,
                      struct oc_err *err); /* data must outlive the model */
void oc_model_free(struct oc_model *model);

/* ---- analysis: shapes, small values, costs ---------------------------------------------------------------
 */

struct oc_bind { /* a symbolic dimension and its number: --dim batch=8 */
    const char *symbol;
    int64_t value;
};

struct oc_shape_bind { /* the shape of a graph input: --shape x=1x3x224x224; rank 0: a scalar */
    const char *input;
    uint32_t rank;
    const int64_t *dim;
    bool from_profile; /* taken from a profile: listed as an assumption; ignored if it does not fit */
};

struct oc_value_bind { /* the value of a graph input that decides shapes: --value k=5 */
    const char *input;
    const char *text; /* "1,3,8", or "@file.pb" (a TensorProto) */
};

struct oc_control_bind { /* what a profile shows of control flow; used where the model itself does not tell */
    uint32_t node;       /* index of an If: value 1 then, 0 else; of a Loop or SequenceMap: trips */
    int64_t value;
};

/* Shapes and costs of operators, written down in a file (hwdb/op-rules/op-rules.rng). */
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
    bool force_shapes;      /* declared numbers may be overridden */
    bool skip_unused;       /* of the lists above, what names nothing in this model is passed over */
    bool no_defaults;       /* unbound symbols stay unknown */
    int64_t default_dim;    /* > 0: for every unbound symbol instead of the documented defaults */
    bool strict;            /* shape conflicts are findings of severity OC_ERROR */
    bool taps_valid;        /* count only taps inside the input */
    bool strict_reduce;     /* n - 1 for reductions */
    bool no_fold;           /* constant nodes cost what they cost */
    bool keep_qdq;          /* dequantization of constants is an ordinary node */
    bool alias_off;         /* views count in + out bytes */
    bool naive_bytes;       /* all input slots and outputs of every node */
    bool literal_ceil_mode; /* pooling's ceil_mode as the old text says */
    bool attention_full;    /* causal masks and windows of attention operators hide nothing */
    bool einsum_optimal;    /* three to six operands in the order with the fewest MACs, not left to right */
    bool trees_max;         /* tree ensembles: depth of the deepest leaf, not the mean */
    bool moe_expected;      /* experts' weights: those that a uniform choice touches on average */
    bool lut;               /* quantized activations are table look-ups */
    bool inplace;           /* scatter operators work in the buffer of their data; the peak: element-wise
                               operators too, where it dies */
    bool keep_inputs;       /* graph inputs stay in memory to the end */
    uint64_t align_bytes;   /* the peak: every buffer is rounded up to a multiple; 0: not */
    bool rnn_reload;        /* recurrent weights are read again in every step */
    bool loop_cached;       /* constants in bodies of loops are read once, not in every trip */
    bool graph_bytes;       /* the totals' bytes: constants, graph inputs and outputs once, a lower bound */
    bool dedup_content;     /* constants with the same bits are one; the only option that reads weights */
    bool prefer_functions;  /* a local function wins over an operator of the same name */
    enum oc_kv_share kv_share; /* past and present are one buffer; OC_KV_AUTO: as the operator says */
    enum oc_if_mode if_mode;
    const char *weights;    /* "unit" (NULL), "hw", "mac", or a file of lines "KEY value" over "unit" */
    const char *convention; /* count as another tool does ("fvcore"); NULL: our own way */
    const struct oc_op_rules *rules; /* of the user's operators; NULL: none; must outlive the analysis */
};

int oc_analyze(const struct oc_model *model, const struct oc_analyze_opts *opts, struct oc_analysis **out,
               struct oc_err *err);
void oc_analysis_free(struct oc_analysis *a);

struct oc_totals {
    uint64_t nodes, unknown_nodes; /* executed nodes; those without a cost */
    uint64_t estimated_nodes;      /* those whose cost rests on an assumption, or is a lower bound */
    uint64_t macs, flops, ops;     /* flops: float classes; ops: integer and boolean ones */
    uint64_t params, params_all, const_bytes;
    uint64_t bytes_read_act, bytes_read_weight, bytes_written;
    bool bytes_bound; /* the bytes are those of the whole model (graph_bytes) and a lower bound */
    enum oc_quality quality;
    struct { /* how much of the sums is not exact, and nodes missing from them */
        uint64_t nodes, macs, flops, ops, bytes;
    } not_exact;
};
void oc_analysis_total(const struct oc_analysis *a, struct oc_totals *out);

struct oc_node_info {
    const char *name; /* NULL: unnamed */
    const char *op_type, *domain, *scope;
    uint64_t trips, macs, flops, ops, bytes_read_act, bytes_read_weight, bytes_written, params;
    enum oc_quality quality; /* OC_UNKNOWN: the counts are meaningless */
    bool folded, alias;
};
size_t oc_analysis_nodes(const struct oc_analysis *a);
int oc_analysis_node(const struct oc_analysis *a, size_t index, struct oc_node_info *out);
size_t oc_analysis_diags(const struct oc_analysis *a, const struct oc_diag **out);
size_t oc_analysis_assumptions(const struct oc_analysis *a); /* how many; reports list them */
size_t oc_model_diags(const struct oc_model *m, const struct oc_diag **out);

struct oc_input_info { /* an input of the main graph that has no initializer */
    const char *name;
    const char *dtype;  /* of its elements: "float", "int64" ... */
    bool tensor, known; /* not a sequence, map or optional; every dimension is known */
    uint32_t rank;
    const int64_t *dim;  /* as analysed; -1: not known */
    const char *assumed; /* "input.1 = 256 (reason)", several by commas: sizes that neither the model nor the
                            options give; NULL: none */
};
/* False past the end. The dimensions are copied into `dim`, which has room for 64. */
bool oc_analysis_input(const struct oc_analysis *a, size_t index, int64_t dim[64], struct oc_input_info *out);

/* ---- cost as a function of the open dimensions ------------------------------------------------------------
 */

enum oc_metric {
    OC_METRIC_MACS,
    OC_METRIC_FLOPS,
    OC_METRIC_OPS,
    OC_METRIC_BYTES_READ_ACT,
    OC_METRIC_BYTES_READ_WEIGHT,
    OC_METRIC_BYTES_WRITTEN,
    OC_METRIC_PEAK, /* bytes of activations in use at once */
    OC_METRIC_PARAMS,
    OC_METRIC_COUNT
};

/* Closed forms of the totals in the dimensions that the model leaves open and `opts` does not bind. They are
 * found by interpolation of many analyses, in exact arithmetic, and compared with further ones. Where a total
 * is not a polynomial, the formula holds for every so-many-th size, for a range, or there is none. */
struct oc_closed_form;
int oc_closed_form_make(const struct oc_model *model, const struct oc_analyze_opts *opts,
                        struct oc_closed_form **out, struct oc_err *err);
void oc_closed_form_free(struct oc_closed_form *f);
size_t oc_closed_form_symbols(const struct oc_closed_form *f); /* dimensions in the formulas */
const char *oc_closed_form_symbol(const struct oc_closed_form *f, size_t index);
/* "batch*(18432*sequence^2 + 85054464*sequence)"; NULL: no closed form was found. */
const char *oc_closed_form_text(const struct oc_closed_form *f, enum oc_metric m);
/* The formula at a point, one number a symbol. False where it does not speak of the point. */
bool oc_closed_form_at(const struct oc_closed_form *f, enum oc_metric m, const int64_t *at, uint64_t *out);
/* Formulas that are missing, hold only for some sizes, or are not exact. */
size_t oc_closed_form_findings(const struct oc_closed_form *f);
int oc_closed_form_write(const struct oc_closed_form *formula, const char *format, FILE *f,
                         struct oc_err *err);

struct oc_sweep_axis {
    const char *symbol;
    const int64_t *value;
    size_t n;
};
struct oc_sweep_row {
    const int64_t *at;   /* by axis */
    const char *failure; /* why there are no numbers, NULL: there are */
    uint64_t value[OC_METRIC_COUNT];
    uint64_t nodes, unknown_nodes;
    enum oc_quality quality;      /* of the sums, as in struct oc_totals */
    enum oc_quality peak_quality; /* OC_UNKNOWN: value[OC_METRIC_PEAK] is meaningless */
};
#define OC_SWEEP_MAX_ROWS 100000

/* One analysis for each combination, the last axis fastest. Fails when no row has totals. */
struct oc_sweep;
int oc_sweep_make(const struct oc_model *model, const struct oc_analyze_opts *opts,
                  const struct oc_sweep_axis *axis, size_t n_axis, struct oc_sweep **out, struct oc_err *err);
void oc_sweep_free(struct oc_sweep *s);
size_t oc_sweep_rows(const struct oc_sweep *s, const struct oc_sweep_row **out);
size_t oc_sweep_findings(const struct oc_sweep *s); /* rows without totals or with inexact ones */
int oc_sweep_write(const struct oc_sweep *s, const char *format, FILE *out, struct oc_err *err);

/* ---- language models with a key-value cache
 * ------------------------------------------------------------------
 */

struct oc_llm_opts {
    const struct oc_analyze_opts *analyze; /* how to count, and sizes that the cache has no say in; NULL */
    int64_t batch, prompt, generate;       /* sequences; tokens of each prompt, of each answer; all >= 1 */
    const struct oc_device *const *device; /* to compare it with */
    size_t n_device;
    unsigned width_chars; /* of the text for people; 0: no limit */
};

struct oc_llm_facts {          /* -1: not known */
    uint32_t layers, kv_pairs; /* with a cache that grows; its inputs with their outputs */
    uint32_t cross_pairs;      /* inputs with keys or values of an encoder */
    int64_t heads, kv_heads, head_size, vocabulary;
    int64_t window; /* the shortest of the attention operators; -1: none has one */
    uint32_t windowed_layers;
    bool uneven; /* not all layers have the same heads and sizes: those of the first are told */
    bool kv_bytes_known;
    uint64_t kv_bytes_per_token, cross_bytes_per_token; /* of one sequence */
    uint64_t params, const_bytes;
    const char *kv_dtype; /* "float16" */
    const char *naming;   /* who writes such names */
};

/* A run of the graph, or the sum of the decode steps of the answer. Bytes of the cache are among those read
 * and written. */
struct oc_llm_counts {
    uint64_t macs, flops, ops, bytes_read_act, bytes_read_weight, bytes_written, kv_read, kv_written;
    uint64_t peak; /* bytes of activations in use at once; of the last step */
    uint64_t unknown_nodes;
    enum oc_quality quality, peak_quality;
};
enum oc_llm_part {
    OC_LLM_PART_PREFILL, /* the prompt at once; gives the first token of the answer */
    OC_LLM_PART_FIRST,   /* one token after the prompt */
    OC_LLM_PART_LAST,    /* the last token of the answer */
    OC_LLM_PART_STEPS,   /* all of them: generate - 1 */
    OC_LLM_PART_WHOLE    /* with the prompt */
};

/* Finds the cache among the inputs and outputs and analyses the graph with the sizes of the prompt and of
 * each step. OC_EUNSUPPORTED: no cache, or no telling which dimension counts what. The devices, the lists in
 * `analyze` and the model must outlive the result. */
struct oc_llm;
int oc_llm_make(const struct oc_model *model, const struct oc_llm_opts *opts, struct oc_llm **out,
                struct oc_err *err);
void oc_llm_free(struct oc_llm *l);
const struct oc_llm_facts *oc_llm_facts(const struct oc_llm *l);
bool oc_llm_run(const struct oc_llm *l, enum oc_llm_part part, struct oc_llm_counts *out); /* false: none */
size_t oc_llm_diags(const struct oc_llm *l, const struct oc_diag **out);
/* format: "table" (NULL), "csv" or "json". */
int oc_llm_write(const struct oc_llm *l, const char *format, FILE *out, struct oc_err *err);

/* ---- memory: places for buffers, orders that need less ---------------------------------------------- */

struct oc_plan_opts {
    bool reorder;        /* look for an order of the nodes with fewer live bytes, plan that */
    bool without_inputs; /* graph inputs are in the caller's memory */
    bool all;            /* folded nodes, scalars and shapes have buffers too */
};

struct oc_plan_info {
    uint64_t size; /* bytes of the block */
    uint64_t live; /* most bytes that live at once in the planned order: no plan of it needs less */
    uint64_t file_order_live; /* the same in the order of the file */
    uint64_t any_order_live;  /* no order needs less than this; maybe none reaches it */
    size_t buffers;
    bool optimal;            /* shown: no plan for this order is smaller */
    bool reordered;          /* the order is not that of the file */
    bool order_optimal;      /* shown: no order has fewer live bytes */
    const char *method;      /* what found the plan */
    enum oc_quality quality; /* OC_UPPER: some sizes are upper bounds */
};

/* A place in one block for every buffer of a run. Options about sizes, alignment and writing in place are
 * those of the analysis, which must outlive the plan. Fails with the name of the value when a size is not
 * known. The plan has been checked: no two buffers that live in the same step share a byte. */
struct oc_memory_plan;
int oc_memory_plan_make(const struct oc_analysis *a, const struct oc_plan_opts *opts,
                        struct oc_memory_plan **out, struct oc_err *err);
void oc_memory_plan_free(struct oc_memory_plan *p);
void oc_memory_plan_info(const struct oc_memory_plan *p, struct oc_plan_info *out);
/* Every buffer with its place: "json" (NULL) or "csv". */
int oc_memory_plan_write(const struct oc_memory_plan *p, const char *format, FILE *out, struct oc_err *err);
/* The order: "table" (NULL, a summary), "csv" or "json" (every node). */
int oc_memory_order_write(const struct oc_memory_plan *p, const char *format, FILE *out, struct oc_err *err);

/* ---- operators that have rules ------------------------------------------------------------------------- */

struct oc_op_info {
    const char *domain, *name, *family, *op_class;
    int since, until;    /* opset versions of this meaning; until 0: open */
    const char *formula; /* of the cost, NULL: no arithmetic */
    /* Tests of the name, all versions together: sets of inputs with their types, those of them with exact
     * costs, programs that build models with it, models of the ONNX backend test set. */
    unsigned cases, costs, models, node_tests;
};
size_t oc_op_count(void);
void oc_op_get(size_t index,
               struct oc_op_info *out); /* index < oc_op_count(); in the order of the families */
/* The list of all as "table" (NULL), "csv" or "json"; domain "" is called "ai.onnx". */
int oc_ops_write(const char *format, FILE *f, struct oc_err *err);

/* ---- profiles: what a runtime measured --------------------------------------------------------------------
 */

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

/* What names of kernels tell about precision, unit, class and library: rows of a file
 * (hwdb/kernel-names/kernel-names.rng) that are asked before the built-in ones. */
struct oc_kernel_names;
int oc_kernel_names_load(const char *path, struct oc_kernel_names **out, struct oc_err *err);
void oc_kernel_names_free(struct oc_kernel_names *names);

struct oc_profile_opts {
    const char *format; /* importer name, NULL: probe */
    int32_t warmup;     /* runs to drop; -1: the importer's default (the first one of two or more) */
    enum oc_stat stat;
    bool keep_events; /* keep single events, for summaries over time: 48 bytes each */
    const char *map;  /* columns of a table: "name=Function,time='CPU Time'"; NULL: by their headers. Files of
                         no known format are then read as "generic_csv" */
    const struct oc_kernel_names *kernel_names; /* NULL: none; must outlive the profile */
    /* NULL, or a flag that a handler of signals or another thread sets to other than 0 while a file is read:
     * reading then ends where it stands, and the profile has what came before, with the finding W-partial
     * that says how much that is. When that is nothing yet, the call fails with OC_ESTOPPED. */
    const volatile int *stop;
    const struct oc_caps *caps; /* NULL: the defaults */
};

/* Reads one measurement: the file, and those that belong to it by their names (TensorRT's x.graph.json beside
 * x.profile.json). Errors name the file and the place; an unknown format lists the importers tried. */
int oc_profile_open(const char *path, const struct oc_profile_opts *opts, struct oc_profile **out,
                    struct oc_err *err);
/* Reads many files. Those that are parts of one measurement (each part at most once, in the order given)
 * become one profile, every other file its own. *out: array of *n_out handles; each is closed with
 * oc_profile_close, the array freed with free(). On failure nothing is left open. */
int oc_profile_open_all(const char *const *path, size_t n, const struct oc_profile_opts *opts,
                        struct oc_profile ***out, size_t *n_out, struct oc_err *err);
void oc_profile_close(struct oc_profile *p);
size_t oc_profile_diags(const struct oc_profile *p, const struct oc_diag **out);
bool oc_profile_format_known(const char *name);              /* a name for oc_profile_opts.format */
const char *oc_profile_importer(const struct oc_profile *p); /* "onnxruntime", "megengine" ... */

enum oc_file_kind { OC_FILE_MODEL, OC_FILE_PROFILE };
/* Judges by content. A file that is neither counts as what it resembles more, so that the reader can say what
 * is wrong with it. */
int oc_file_kind(const char *path, enum oc_file_kind *out, struct oc_err *err);

/* The importers' names and titles; false past the end. */
bool oc_profile_format(size_t index, const char **name, const char **title);

/* ---- summaries: tables over what a profile has in time ----------------------------------------------------
 */

/* The tables by name; false past the end. */
bool oc_summary_view(size_t index, const char **name, const char **title);

struct oc_summary_opts {
    const char *format;      /* "table" (NULL), "csv", "json" */
    const char *const *view; /* tables to write; none: all that the source has data for, in their order */
    size_t n_view;
    const char *sort;      /* of operators: CPUTotal (NULL), CPUAvg, CPUMax, CPUMin, GPUTotal ... */
    const char *search;    /* only rows whose name or type has this in it, in any letter case */
    const char *time_unit; /* of tables: "s", "ms" (NULL), "us", "ns" */
    bool op_detail;        /* parts and kernels below each operator */
    bool per_thread;       /* operators and annotations apart for each thread */
    bool has_top;
    int64_t top;             /* rows of each table; 0: all. Default 20, kernels 15; all in CSV and JSON */
    double samples_per_step; /* for samples a second; 0: unknown */
    unsigned width_chars;    /* 0: no limit */
    const struct oc_kernel_names *kernel_names; /* NULL: none */
};
/* Profiles should have been opened with keep_events; without events there are fewer tables. */
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

/* One number of a device with where it is from. Texts are NULL where they do not apply. */
struct oc_hw_figure {
    /* "count", "clock", "power", "vector", "matrix", "special", "overhead", "latency", or a memory level */
    const char *group;
    const char *what; /* class of a peak ("f16"), kind of a clock, "size", "bandwidth", runtime ... */
    double value;     /* in `unit` */
    const char *unit; /* FLOP/s, OP/s, B, B/s, Hz, s, W; "" for a count */
    const char *text; /* as written: "312 TFLOP/s" */
    enum oc_basis basis;
    const struct oc_hw_source *source[OC_HW_SOURCES]; /* NULL after the last; none for assumed figures */
    const char *section;                              /* place in the first source, if not the source's own */
    const char *formula;                              /* how a derived number was made */
    const char *clock;      /* kind of clock that a peak holds at: base, boost ... */
    const char *accumulate; /* class of the accumulator of a matrix peak */
    const char *isa;        /* instructions that give a peak: "avx2" */
    const char *mode;       /* what gives a bandwidth: "triad" */
    const char *cores;      /* "1": of so many cores, NULL: of the device; with it, or a mode, never used */
    const char *note;
    const char *base; /* id of the device that it is inherited from */
    bool sparse;      /* holds for structured sparsity only: never used as a peak */
    uint32_t line;
};

struct oc_device_info {
    const char *id, *name, *vendor, *kind; /* kind: cpu, gpu, npu */
    const char *file;
    const char *const *alias;
    size_t n_alias;
    const char *sku, *base; /* variant that the figures hold for; device that it inherits from; may be NULL */
    const struct oc_hw_set *set; /* what oc_device_override changed */
    size_t n_set;
};

/* One change by the user: "dram.bandwidth", "400 GB/s", what the file says ("1555 GB/s"; NULL: nothing). */
struct oc_hw_set {
    const char *key, *value, *before;
};

/* dir NULL: the folders of $ONNXCOST_HWDB (separated by ':'), then one default folder, the first that exists
 * of: above the program, above the shared library (hwdb in a checkout, share/onnxcost/hwdb in an
 * installation), the folder set at build time. Only lists the files; each file is read on demand. */
int oc_hwdb_open(const char *dir, struct oc_hwdb **out, struct oc_err *err);
void oc_hwdb_free(struct oc_hwdb *db);
const char *oc_hwdb_folder(const struct oc_hwdb *db, size_t index); /* in that order; NULL past the end */

/* By id or alias; letter case, '-', '_' and blanks make no difference; earlier folders win. Not found: the
 * error lists near names. The device lives as long as the database. */
int oc_hwdb_find(struct oc_hwdb *db, const char *name, const struct oc_device **out, struct oc_err *err);

/* A user's own file. id NULL: the only device in it. */
int oc_device_load(struct oc_hwdb *db, const char *file, const char *id, const struct oc_device **out,
                   struct oc_err *err);

/* What --hw takes: a name, or FILE, or FILE#ID (a file has a '/' in it or ends in ".xml"). */
int oc_hwdb_get(struct oc_hwdb *db, const char *name_or_file, const struct oc_device **out,
                struct oc_err *err);

/* The device with other figures (the option --hw-set): "KEY=VALUE", where KEY is
 *   vector.CLASS matrix.CLASS special.CLASS   a peak; takes the place of all peaks of that class and unit
 *   MEMORY.size MEMORY.bandwidth              of a level that the device has: "dram.bandwidth=400 GB/s"
 *   clock.KIND                                peaks that hold at that clock move with it
 *   overhead, overhead.RUNTIME, power.TDP
 * and VALUE has a unit of hardware files. Errors are OC_EARG. The new device lives as long as the database;
 * its info tells what was set, and the figures have basis "assumed". */
int oc_device_override(struct oc_hwdb *db, const struct oc_device *device, const char *const *set, size_t n,
                       const struct oc_device **out, struct oc_err *err);

/* Devices by what they are: "all", or "kind=gpu", "vendor=NVIDIA", joined with '+' where several must hold,
 * in any letter case. As in oc_hwdb_list. OC_EARG: no such filter; OC_ENOTFOUND: no device passes it. */
int oc_hwdb_select(struct oc_hwdb *db, const char *filter, const struct oc_device *const **out, size_t *n,
                   struct oc_err *err);
bool oc_hwdb_is_filter(const char *name); /* whether oc_hwdb_select takes it, rather than oc_hwdb_get */

/* Every device, ordered by vendor and id. The list is valid until the next call on the database. */
int oc_hwdb_list(struct oc_hwdb *db, const struct oc_device *const **out, size_t *n, struct oc_err *err);

struct oc_device_info oc_device_info(const struct oc_device *device);
size_t oc_device_figures(const struct oc_device *device, const struct oc_hw_figure **out);

/* What `onnxcost hw` prints. format: table (NULL), csv or json; numbers of CSV and JSON are in base units.
 * The list has a line a device; of one device a line a figure; two stand side by side with the ratio second /
 * first of the peaks as they are used (the dense one of each unit and class), memories, counts, clocks,
 * power, overhead. */
int oc_hwdb_write_list(struct oc_hwdb *db, const char *format, unsigned width_chars, FILE *out,
                       struct oc_err *err);
int oc_device_write(const struct oc_device *device, const char *format, FILE *out, struct oc_err *err);
int oc_device_write_diff(const struct oc_device *a, const struct oc_device *b, const char *format, FILE *out,
                         struct oc_err *err);

/* Checks hardware files: all that reading refuses, every place of it, and beyond that whether formulas use
 * the device's own counts and clocks, whether a sparse rate is passed off as dense, ranges, and names across
 * files. path: files to check, whose bases may be in the database; n 0: all files of the database. A file
 * that cannot be read is a finding. -1 only if there is no file at all. */
struct oc_hw_lint;
struct oc_hw_finding {
    const char *file, *text; /* text names the device: "device 'a100': matrix f16: ..." */
    uint32_t line;           /* 0: of the file as a whole */
};
int oc_hwdb_lint(struct oc_hwdb *db, const char *const *path, size_t n, struct oc_hw_lint **out,
                 struct oc_err *err);
size_t oc_hw_lint_findings(const struct oc_hw_lint *lint,
                           const struct oc_hw_finding **out); /* by file and line */
int oc_hw_lint_write(const struct oc_hw_lint *lint, const char *format, FILE *out, struct oc_err *err);
void oc_hw_lint_free(struct oc_hw_lint *lint);

/* All about a device as text: one line a figure with value, basis and source. */
int oc_device_describe(const struct oc_device *device, FILE *out, struct oc_err *err);

/* This machine, measured: peaks of every class and instruction set, clocks, bandwidths of caches and memory,
 * of one core and of all, the time of a parallel region and of reading the clock. Rates are the best of many
 * samples. Takes about 20 s and a third of the free memory at most; quick: under a second, for trying things,
 * its memory figures are those of a cache. Threads keep to one processor each. */
struct oc_hw_measure_opts {
    uint32_t threads; /* 0: one for each processor that the process may use; more than those is OC_EARG */
    bool quick;
    void (*progress)(void *user, const char *what); /* what is measured next; may be NULL */
    void *user;
};
struct oc_hw_measurement;
int oc_hw_measure(const struct oc_hw_measure_opts *opts, struct oc_hw_measurement **out, struct oc_err *err);
void oc_hw_measurement_free(struct oc_hw_measurement *m);
const struct oc_device *oc_hw_measurement_device(const struct oc_hw_measurement *m);
size_t oc_hw_measurement_diags(const struct oc_hw_measurement *m,
                               const struct oc_diag **out); /* what to mind */
/* format "xml": the device file (hwdb/hwdb.rng) that --hw reads; else as oc_device_write. */
int oc_hw_measurement_write(const struct oc_hw_measurement *m, const char *format, FILE *out,
                            struct oc_err *err);

/* ---- joins: a profile's records on a model's nodes
 * ---------------------------------------------------------- */

struct oc_join;

/* `optimized` (the model as the runtime saved it after optimization) and `analysis` may be NULL; without an
 * analysis there are no costs. All must outlive the join. */
int oc_join_make(const struct oc_model *model, const struct oc_analysis *analysis,
                 const struct oc_profile *profile, const struct oc_model *optimized, struct oc_join **out,
                 struct oc_err *err);
void oc_join_free(struct oc_join *join);
size_t oc_join_diags(const struct oc_join *join, const struct oc_diag **out);

/* What the runtime reports under one name, and where it was put. */
struct oc_join_record {
    const char *name, *op_type; /* as recorded; op_type "": unknown */
    const uint32_t *node;       /* those it covers, for oc_analysis_node; several where the runtime fused */
    size_t n_node;              /* 0: none, then the bucket says what it is */
    const char *rule;           /* by which it was put there; NULL without nodes */
    double confidence;          /* 0..1 */
    const char *bucket;         /* "layout", "copies", "framework", "load", "unmatched" ...; NULL: nodes */
    double time_ns;             /* in a run, without what is nested in it; NAN: not known */
    uint64_t macs, flops, ops;  /* of the model's part in it, for one execution */
    enum oc_quality quality;    /* OC_UNKNOWN: these counts are meaningless */
};
struct oc_join_totals {
    double nodes_ns, added_ns, unmatched_ns; /* in a run: on nodes, what the runtime added, neither */
    double time_share, flops_share; /* of the time that is on nodes, of FLOPs whose nodes have time; NAN */
};
void oc_join_totals(const struct oc_join *join, struct oc_join_totals *out);
size_t oc_join_records(const struct oc_join *join);
int oc_join_record(const struct oc_join *join, size_t index,
                   struct oc_join_record *out); /* -1: past the end */
/* The record that covers a node (the longest of several); -1: none does. */
int oc_join_node(const struct oc_join *join, size_t node, struct oc_join_record *out);

/* Shapes of graph inputs without a fixed shape, as the profile recorded them, for oc_analyze_opts.shape.
 * Names belong to the model. Returns how many; the list is freed by oc_profile_input_shapes_free. */
size_t oc_profile_input_shapes(const struct oc_model *model, const struct oc_profile *profile,
                               struct oc_shape_bind **out);
void oc_profile_input_shapes_free(struct oc_shape_bind *shape, size_t n);

/* Branches that ran and trips of loops, seen from the nodes of their bodies. Freed with free(). */
size_t oc_profile_control(const struct oc_model *model, const struct oc_profile *profile,
                          struct oc_control_bind **out);

/* ---- recordings: ONNX Runtime runs the model -------------------------------------------------------------
 */

struct oc_record_opts {
    const char *library; /* file of libonnxruntime; NULL: $ONNXRUNTIME_LIB, else the usual places */
    const char *output;  /* what the names of the files begin with, or a folder (with '/' at its end, or one
                            that is there); NULL: the model's name, in the current folder */
    const char *level;   /* of optimization: "disabled", "basic", "extended", "all" (NULL) */
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
    void (*progress)(void *arg, const char *what); /* "loading the model"; NULL: not told */
    void *progress_arg;
    const volatile int *stop; /* not 0, from a signal's handler: ends the recording; NULL: nobody does */
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
    const char *library, *version;   /* the library's file and "1.30.0" */
    const char *profile, *optimized; /* the files: X.profile.json (with the warm-up runs), X.optimized.onnx */
    struct oc_record_time plain, profiled; /* without and with profiling */
    size_t n_input;
    const struct oc_record_input *input;
};

/* Runs the model with inputs of the analysed shapes: in one session for its time, in another one with
 * profiling. ONNX Runtime is loaded in a process made by fork(), so a crash of it is an error; what it prints
 * is not shown. The files are complete or not there. Errors: OC_ELIBRARY no library, a wrong one, or it
 * crashed; OC_EFORMAT and OC_EUNSUPPORTED with ONNX Runtime's message: it cannot load or run the model;
 * OC_EARG, OC_ELIMIT: shapes and values. The recording does not need the model and the analysis afterwards.
 */
struct oc_recording;
int oc_record(const struct oc_model *model, const struct oc_analysis *analysis,
              const struct oc_record_opts *opts, struct oc_recording **out, struct oc_err *err);
void oc_recording_free(struct oc_recording *r);
struct oc_record_info oc_recording_info(const struct oc_recording *r);
void oc_recording_write(const struct oc_recording *r, FILE *f); /* all of it, a few lines for people */

/* ---- other libraries ----------------------------------------------------------------------------------- */

struct oc_library_info {
    const char *name, *use; /* "libxml2", "hardware files ..." */
    bool on_demand;         /* it is loaded when it is needed, and may be missing */
    bool found;
    char version[32], file[512]; /* "": not known, or not found */
};
/* Those that this one needs and those that it looks for. False past the end. ONNX Runtime is tried in a
 * process of its own. */
bool oc_library(size_t index, struct oc_library_info *out);
/* ONNX Runtime as a recording with this oc_record_opts.library (NULL: the usual places) would have it. Fills
 * version and file. */
int oc_onnxruntime_find(const char *library, struct oc_library_info *out, struct oc_err *err);

/* ---- estimates: measured kernels, and what they teach ----------------------------------------------------
 */

struct oc_samples_opts {
    const struct oc_device *device;        /* that was measured, must outlive the samples; NULL: not told */
    const char *profile_format;            /* importer name, NULL: probe */
    const char *runtime, *runtime_version; /* NULL: the profile's format; not told */
    uint32_t threads;                      /* of the runtime, 0: not told */
    int32_t warmup; /* runs to leave out of each profile; -1: the importer's default (the first) */
    const struct oc_caps *caps;                         /* NULL: the defaults */
    void (*progress)(void *arg, const char *recording); /* NULL: not told */
    void *progress_arg;
};

/* Measured kernels of recordings. path: profiles (X.profile.json with the model X.onnx and X.optimized.onnx
 * beside it, as `onnxcost record` writes them), each model before its profiles if it has another name, and
 * lists (.csv, .tsv) with the columns profile, model, optimized, name, id, family, dims, plain_ms, warmup.
 * Recordings of one id are the same network, of one family relatives. */
struct oc_samples;
int oc_samples_read(const char *const *path, size_t n, const struct oc_samples_opts *opts,
                    struct oc_samples **out, struct oc_err *err);
void oc_samples_free(struct oc_samples *samples);
size_t oc_samples_diags(const struct oc_samples *samples, const struct oc_diag **out);
/* Every sample with all that a calibration sees of it: "csv" (NULL) or "json". */
int oc_samples_write(const struct oc_samples *samples, const char *format, FILE *out, struct oc_err *err);

/* What was learnt of a device and a runtime: for each class of kernels and type of arithmetic a curve of time
 * over work with its error bars, and the measured kernels themselves. */
struct oc_calibration_opts {
    bool by_family;      /* error bars from folds that leave out families, not only networks */
    bool no_forest;      /* curves only */
    const char *created; /* date, for the file; NULL: none */
};
struct oc_calibration;
/* The samples must have been read with a device. They are not needed afterwards. */
int oc_calibration_make(const struct oc_samples *samples, const struct oc_calibration_opts *opts,
                        struct oc_calibration **out, struct oc_err *err);
void oc_calibration_free(struct oc_calibration *cal);
/* The file that keeps it (hwdb/calibration.rng). What it holds reads back to the last bit. */
int oc_calibration_load(const char *path, struct oc_calibration **out, struct oc_err *err);
void oc_calibration_write(const struct oc_calibration *cal, FILE *out); /* failures are left to ferror */
/* What it says, for people ("table", NULL), or "csv" (a row for each curve), or "json". samples: those that
 * it was made of, for what was left out; NULL: not told. */
int oc_calibration_report(const struct oc_calibration *cal, const struct oc_samples *samples,
                          const char *format, FILE *out, struct oc_err *err);

struct oc_validation_opts {
    bool by_family; /* what is left out together: families instead of networks */
    bool no_forest;
};
/* Each network (family) left out in turn and predicted from the others, with simple predictors beside it.
 * Fails with fewer than two. The samples must outlive the result. */
struct oc_validation_result;
int oc_validation_make(const struct oc_samples *samples, const struct oc_validation_opts *opts,
                       struct oc_validation_result **out, struct oc_err *err);
void oc_validation_result_free(struct oc_validation_result *validation);
/* "table" (NULL), "csv" (a row for each recording) or "json". */
int oc_validation_write(const struct oc_validation_result *validation, const char *format, FILE *out,
                        struct oc_err *err);

struct oc_estimate_opts {
    const struct oc_calibration *calibration; /* NULL: only a band, from the roofline */
    const struct oc_join *join; /* kernels as recorded, with their times beside; NULL: a plan of them */
    const char *fusion;         /* rules of the plan: "onnxruntime", "generic", "none"; NULL: as fits */
    unsigned width_chars;       /* of the text for people; 0: no limit */
};
struct oc_estimate_info {
    size_t kernels, unknown_kernels;  /* nothing can be said of the latter */
    double time_ns, low_ns, high_ns;  /* of a run; time NAN: no calibration, low and high are the band */
    uint32_t recorded, planned_equal; /* kernels of the join, and those of them that a plan has too */
    double planned_equal_time;        /* their share of its time, NAN without a join */
};
/* Time of a run of the model. The analysis (and what is in the options) must outlive the result. */
struct oc_estimate;
int oc_estimate_make(const struct oc_analysis *analysis, const struct oc_device *device,
                     const struct oc_estimate_opts *opts, struct oc_estimate **out, struct oc_err *err);
void oc_estimate_free(struct oc_estimate *e);
struct oc_estimate_info oc_estimate_info(const struct oc_estimate *e);
/* "table" (NULL; the `top` longest kernels, 0: all), "csv" or "json" (all, in their order). */
int oc_estimate_write(const struct oc_estimate *e, const char *format, size_t top, FILE *out,
                      struct oc_err *err);

/* ---- reports ---------------------------------------------------------------------------------------------
 */

/* How rows are chosen, grouped, ordered and printed. Zero means the default everywhere, except where said. */
struct oc_report_opts {
    const char *format; /* "table" (NULL), "csv", "json" */
    const char *style; /* of tables: "grid", "ascii" (a grid of ASCII characters), "compact"; NULL: as fits */
    unsigned width_chars; /* 0: no limit */
    bool color;
    bool verbose; /* the table's summary has all lines, not only the main ones */
    bool has_top;
    int64_t top; /* rows; 0: all; negative: drop the last ones. Default 3 for MegEngine files, 10 below a
                    table of operator types where nothing is asked for, else 20 */
    const char *const
        *name_pattern; /* regular expressions matched from the start of the name; any may hold */
    size_t n_name_pattern;
    const char *const *type; /* exact operator types; any may hold */
    size_t n_type;
    const char *const *input_dtype;
    size_t n_input_dtype;
    const char *order_by;     /* "[+]column,..": the first decides, ties by the next */
    const char *aggregate;    /* "max", "min", "sum", "mean", "median", "count", "p90" ... */
    const char *aggregate_by; /* "type,module:2,..", see group_by; needs aggregate */
    const char *group_by; /* the same, the sum unless `aggregate` says otherwise. Keys: type, module[:depth],
                             signature, provider, precision, kernel, bound, rule */
    const char *top_end_key;         /* "end" (NULL), "kern" */
    const char *min_time, *max_time; /* seconds, as text; NULL: no bound */
    const char *print_only;          /* "summary", "device", "host" */
    bool show_host, copy_time, confluence, dump_only_opr;
    /* Nodes (name, "<OpType>_<index>", or index): the report tells how their counts came about. A table then
     * has nothing else; JSON gets a member "receipts"; there is no CSV of that. */
    const char *const *why;
    size_t n_why;
    /* Names of a joined profile's records, "" for all: the report tells by what rule and how surely each was
     * put to nodes, or why it was not. A table then has nothing else; in JSON each row gets "explanation". */
    const char *const *explain_match;
    size_t n_explain_match;
    /* Rooflines: each byte counts at the nearest memory of the device that can have it, not all at DRAM; the
     * time stays a lower bound for a model that runs over and over. */
    bool cache;
    /* What the rows would take otherwise, each step on top of those before: element-wise operators fused into
     * their producers ("elementwise"), another data type ("fp16", "int8-weights" ...), then
     * "KEY=80%" (of the roofline), "KEY=2x" (times as fast), where KEY is an operator type, class or pattern
     * of names, and "hw=NAME". A device goes with each of the last kind, what_if_device[i]; else NULL. */
    const char *fuse, *as;
    const char *const *what_if;
    const struct oc_device *const *what_if_device; /* NULL: none has one */
    size_t n_what_if;
    /* A table has the times of each unit and memory level too, as CSV always does with hardware and JSON in
     * "limits". */
    bool roofline;
    /* What could be faster, with the rows that prove it; not in CSV. Gaps and waiting for data are told of
     * profiles that were opened with keep_events. */
    bool advise;
};

/* What a report is about; parts that do not apply are NULL. An analysis needs its model, a join both its
 * analysis and its profile. */
struct oc_report_in {
    const struct oc_model *model;
    const struct oc_analysis *analysis;
    const struct oc_profile *profile;
    const struct oc_join *join;
    const struct oc_device *device;
};

/* Writes the report. OC_EARG: the options do not fit. Failed writes are left to ferror(f). */
int oc_report_write(const struct oc_report_in *in, const struct oc_report_opts *opts, FILE *f,
                    struct oc_err *err);

/* The model itself with its costs: decimal numbers in the metadata_props of every node, those of bodies and
 * local functions too, and totals in those of the model, with keys that begin with "onnxcost." (older ones
 * are replaced). All other bytes are copied from file to file, weights untouched. in: model and analysis,
 * what else there is adds times and limits; opts: --cache. path: where the file will be, whose folder must be
 * that of weights in files of their own, and which must not be the model itself (OC_EARG); NULL: not told.
 * OC_ELIMIT: it would be too large for protobuf. */
int oc_annotate_write(const struct oc_report_in *in, const struct oc_report_opts *opts, const char *path,
                      FILE *f, struct oc_err *err);

/* The JSON Schema (draft 2020-12) of a document that the library writes: "report" (NULL), that is
 * oc_report_write as "json", or "compare", oc_compare_write. OC_ENOTFOUND: there is none of that name. */
int oc_schema_write(const char *name, FILE *f, struct oc_err *err);

/* ---- memory: what is in use while the model runs
 * -----------------------------------------------------------
 */

struct oc_memory;

struct oc_memory_opts {
    /* As ONNX Runtime's CPU provider runs the model in its first run without optimizations: its order of the
     * nodes, nothing folded, scalars and shapes too, graph inputs not counted (the caller has them); beside
     * the peak the most that its arena has in use, with its reuse of dead tensors. Otherwise the order of the
     * file and the rules of the analysis' options (inplace, keep_inputs, align_bytes). */
    bool as_onnxruntime;
    const struct oc_profile *profile; /* with memory statistics: they are compared; NULL: none */
    const struct oc_device *device;   /* whose memory it should fit; NULL: not asked */
    /* What the analysis was made with, to look for the largest batch that fits; NULL: not looked for. */
    const struct oc_analyze_opts *analyze;
    size_t top;           /* rows of each table for people; 0: all */
    unsigned width_chars; /* of these tables; 0: no limit */
};

enum oc_fits { OC_FITS_NOT_ASKED, OC_FITS_YES, OC_FITS_NO, OC_FITS_UNKNOWN };

struct oc_memory_info {
    uint64_t const_bytes;
    uint64_t peak_bytes, lower_bytes; /* activations; no order of the nodes needs less than the second */
    const char *peak_node;            /* NULL: unnamed, or no nodes */
    uint64_t footprint_bytes;         /* constants and activations; workspace of kernels is not in it */
    enum oc_quality quality;          /* of peak, lower bound and footprint */
    enum oc_fits fits;
    uint64_t capacity_bytes; /* of the device, 0: not asked */
    const char *batch;       /* dimension whose largest size was looked for, NULL: none */
    int64_t largest_batch;   /* 0: not even 1 fits */
    bool batch_bounded;      /* largest_batch was the last one tried: larger ones may fit */
};

/* Fails (OC_ENOTFOUND) if the file of the device does not tell the size of its memory. The analysis, profile
 * and device must outlive the result. */
int oc_memory_make(const struct oc_analysis *analysis, const struct oc_memory_opts *opts,
                   struct oc_memory **out, struct oc_err *err);
void oc_memory_free(struct oc_memory *m);
struct oc_memory_info oc_memory_info(const struct oc_memory *m);
/* "table" (NULL), "csv" (a row for each step), "json" (everything). */
int oc_memory_write(const struct oc_memory *m, const char *format, FILE *out, struct oc_err *err);
/* The answer about the device alone, a few lines for people. */
void oc_memory_write_fit(const struct oc_memory *m, FILE *out);

/* Several profiles of one model side by side: a row for each set of nodes that no profile cuts through, costs
 * once, a group of columns for each profile with the ratio to the first. combine: each row also has the best
 * time there is (kernels of Nsight Systems, TensorRT's profile, device times, host times) and what Nsight
 * Compute counted. Of the options, those count that choose and order rows. */
struct oc_compare_source {
    const struct oc_profile *profile;
    const struct oc_join *join; /* of the profile with the model and analysis given below */
};
int oc_compare_write(const struct oc_model *model, const struct oc_analysis *analysis,
                     const struct oc_device *device, const struct oc_compare_source *source, size_t n,
                     bool combine, const struct oc_report_opts *opts, FILE *f, struct oc_err *err);

/* ---- many models: a row each ----------------------------------------------------------------------------
 */

#define OC_SCAN_UNKNOWN UINT64_MAX

/* Not known: NULL, OC_SCAN_UNKNOWN, INT64_MIN, NAN. */
struct oc_scan_row {
    const char *path;
    uint64_t size_bytes;
    int64_t mtime_ns;          /* since 1970 */
    const char *hash;          /* XXH64 of the file, 16 hexadecimal digits; external weights are not in it */
    const char *duplicate_of;  /* the first path in the scan whose file has the same bytes */
    int64_t ir_version, opset; /* opset: of the default domain */
    const char *domains;       /* the other ones: "com.microsoft 1, ai.onnx.ml 3" */
    const char *producer;
    /* As in struct oc_totals; bytes: all that are read and written. What only unknown nodes would have is
     * not known. */
    uint64_t nodes, unknown_nodes, params, const_bytes, macs, flops, ops, bytes;
    uint64_t peak_activation_bytes;
    const char *quality, *peak_quality; /* "exact", "upper", "lower", "est", "unknown" */
    uint64_t assumptions;
    double seconds;
    const char *settings; /* stands for the options that the row depends on */
    /* NULL: none. Codes: "io", "format", "limit", "unsupported", "argument", "memory", "crash" ... */
    const char *error, *error_code, *error_file;
    uint64_t error_line, error_offset;
    bool kept; /* taken over from earlier rows */
};

enum oc_scan_hash {
    OC_SCAN_HASH_SIZE, /* files that share their size with another one of the scan: no others are duplicates
                        */
    OC_SCAN_HASH_ALL,
    OC_SCAN_HASH_OFF
};

struct oc_scan_opts {
    const struct oc_analyze_opts
        *analyze;               /* for each model; bindings that name nothing in it are passed over */
    const struct oc_caps *caps; /* NULL: the defaults */
    unsigned jobs;              /* processes; 0: one for each processor that may be used */
    enum oc_scan_hash hash;
    const char *settings;     /* a text that is another one when rows would be; NULL: "" */
    bool kept_only;           /* no row but those of oc_scan_keep */
    const volatile int *stop; /* not 0, from a signal's handler: the scan ends after the rows begun; NULL */
};

/* Files, and folders in which every file that ends in ".onnx" is taken, at any depth; see oc_scan_row.path.
 * Explicit names keep their order, those of a folder are sorted by bytes, none comes twice. Looks at the
 * files but does not read them. `opts` and what is in it must outlive the scan. */
struct oc_scan;
void oc_scan_open(const char *const *path, size_t n, const struct oc_scan_opts *opts, struct oc_scan **out);
void oc_scan_free(struct oc_scan *s);
size_t oc_scan_files(const struct oc_scan *s);

/* Takes over the rows of an earlier scan (NDJSON or CSV as oc_scan_writer has written them; the last line may
 * be cut off) whose file has the same path, size and time of change, made with the same settings by this
 * version of the program; of several rows the last one. Errors that may have gone (a file that could not be
 * opened, a crash) are not taken over. OC_EFORMAT: the file has other things than such rows. */
int oc_scan_keep(struct oc_scan *s, const char *rows_path, size_t *n_kept, struct oc_err *err);

/* Calls `row` for every file in order, in the caller's process; a row is borrowed for the call. The models
 * are analysed in processes made by fork(): one that crashes or runs out of memory is an error row. Fails if
 * `row` does not return 0, or if no process can be started. *n_done (may be NULL): the rows that were told.
 */
int oc_scan_run(struct oc_scan *s, int (*row)(void *arg, const struct oc_scan_row *row), void *arg,
                size_t *n_done, struct oc_err *err);

/* Rows as "table" (NULL), "csv", "ndjson" (a JSON object a line), or "json". `more`: behind rows that the
 * file has already. The table is written at the end, the others row by row. OC_EARG: no such format. */
struct oc_scan_writer;
int oc_scan_writer_open(const char *format, bool more, FILE *f, struct oc_scan_writer **out,
                        struct oc_err *err);
void oc_scan_writer_row(struct oc_scan_writer *w, const struct oc_scan_row *row);
void oc_scan_writer_close(struct oc_scan_writer *w); /* failures are left to ferror */

/* ---- devices: which is the fastest for a model ------------------------------------------------------------
 */

struct oc_rank_opts {
    const struct oc_analyze_opts *analyze; /* how to count, and the sizes; NULL: the defaults */
    const struct oc_device *const *device; /* at least one, none twice */
    size_t n_device;
    const char *batch_dim; /* the dimension that counts the batch; NULL: the first one of the first input */
    const int64_t *batch;  /* batches to rank the devices for; n_batch 0: the one of the analysis */
    size_t n_batch;
    const char *sort; /* "time" (NULL), "throughput", "energy" */
    const char *as; /* the type that the work is done in: "fp16", "int8-weights" ...; NULL: the model's own */
    bool cache;     /* bytes count at the nearest memory that can have them, not all at DRAM */
    const struct oc_calibration *calibration; /* of one of the devices, which then has an estimate with its
                                                 80 % interval instead of a band; NULL: none; not with `as` */
};

/* Places are by the middle of the bands, from 1. A device may in truth have any place from first to last:
 * there are bands that overlap its own. place 0: the time, or what is sorted by, is not known, or the model
 * does not fit into its memory. */
struct oc_rank_row {
    const struct oc_device *device;
    unsigned place, first, last;
    bool calibrated;
    double lo_ns, mid_ns, hi_ns;          /* time of a run; NAN: not known */
    double lo_joule, mid_joule, hi_joule; /* of one inference, at the design power; NAN: not known */
    const char *missing;                  /* why the time is not known: "no vector f32 peak"; NULL: it is */
    const char *limit; /* what takes the most of the time: "DRAM", "overhead" ... or "unknown" */
    enum oc_fits fits;
    uint64_t need_bytes, capacity_bytes; /* constants and activations; 0: not known */
};

/* A change of something as the batch grows. */
struct oc_rank_phase {
    int64_t from; /* the first batch; it holds up to that of the next phase, the last one to the end */
    int what;     /* see below; -1: not known */
};
enum oc_rank_faster { /* of two devices */
                      OC_RANK_SAME,
                      OC_RANK_FIRST,
                      OC_RANK_FIRST_SURELY, /* the bands do not overlap */
                      OC_RANK_SECOND,
                      OC_RANK_SECOND_SURELY
};

/* Uncalibrated times are bands: between 30 % and 90 % of the speed that the roofline of every operator
 * allows, plus the overhead of every launched operator. A device without a peak that the model's products
 * need, without a bandwidth or an overhead has no time; other arithmetic without a peak is left out as long
 * as it is at most 1 % of all, and the report tells. Energy takes the device to draw its design power all the
 * time. The model, the devices and the lists in `opts` must outlive the result. OC_EARG: a device twice, no
 * such order or dimension, a batch below 1 or for a model that fixes it. */
struct oc_rank;
int oc_rank_make(const struct oc_model *model, const struct oc_rank_opts *opts, struct oc_rank **out,
                 struct oc_err *err);
void oc_rank_free(struct oc_rank *r);

/* Rows in order, one for each device, for the i-th batch asked for; 0 past the end. */
size_t oc_rank_rows(const struct oc_rank *r, size_t index, int64_t *batch, const struct oc_rank_row **out);

/* With another batch. The largest one that was looked at; 0: the model fixes the batch, or a size is not
 * known, and there is none of the following. */
int64_t oc_rank_max_batch(const struct oc_rank *r);
/* The fastest of the devices whose memory holds the model: what is the index of the device. */
size_t oc_rank_fastest(const struct oc_rank *r, const struct oc_rank_phase **out);
/* Which of two devices, by index, is faster: what is an enum oc_rank_faster. 0: not looked at, which is so
 * with more than 16 devices. */
size_t oc_rank_faster(const struct oc_rank *r, size_t first, size_t second, const struct oc_rank_phase **out);
/* What limits a device: what is an index for oc_rank_limit_name. */
size_t oc_rank_limits(const struct oc_rank *r, size_t device, const struct oc_rank_phase **out);
const char *oc_rank_limit_name(int what);

struct oc_rank_write_opts {
    const char *format;   /* "table" (NULL), "csv", "json" */
    unsigned width_chars; /* of tables; 0: no limit */
    bool color;
    bool has_top; /* rows of each table; 0: all. Default 20; all in CSV and JSON */
    int64_t top;
};
int oc_rank_write(const struct oc_rank *r, const struct oc_rank_write_opts *opts, FILE *f,
                  struct oc_err *err);

const char *oc_convention_name(size_t index); /* for oc_analyze_opts.convention; NULL past the end */

/* Two analyses of the model with different conventions: the difference of their FLOPs and OPs by operator
 * type and reason. format: "table" (NULL) or "json". */
int oc_explain_write(const struct oc_model *model, const struct oc_analysis *first,
                     const struct oc_analysis *second, const char *format, FILE *f, struct oc_err *err);

/* ---- differences --------------------------------------------------------------------------------------- */

enum oc_diff_metric { /* sums over the rows first */
                      OC_DIFF_MACS,
                      OC_DIFF_FLOPS,
                      OC_DIFF_OPS,
                      OC_DIFF_BYTES, /* read and written */
                      OC_DIFF_PARAMS,
                      OC_DIFF_TIME,     /* measured, of a run */
                      OC_DIFF_ROOFLINE, /* least time of every operator, summed */
                      OC_DIFF_PEAK,     /* activations in use at once: no sum */
                      OC_DIFF_WEIGHT_BYTES,
                      OC_DIFF_LATENCY, /* measured, of a run as a whole: the statistic of its own */
                      OC_DIFF_METRICS
};

/* Both sides of a total. Times are in v (ns), counts in n. The sum over all rows of b less a is the
 * difference of the totals: rows that are known on both sides make up `rows_delta`, the others have
 * unknown_a and unknown_b of what is known. */
struct oc_diff_total {
    bool known[2]; /* false: nothing is (no profile, no device, a peak of unknown size) */
    bool is_time;
    uint64_t n[2];
    double v[2];
    uint32_t unknown_rows; /* whose difference is not known */
    bool rows_negative;    /* rows_delta is below 0 */
    uint64_t rows_delta;
    double rows_delta_v;
    uint64_t unknown_n[2]; /* in those rows */
    double unknown_v[2];
};
struct oc_diff_info {
    size_t same, renamed, changed, added, removed; /* rows */
    bool different; /* some row is changed, added or removed, or a total has changed that is no time */
};
struct oc_diff_opts {
    bool cache; /* rooflines, as in struct oc_report_opts */
};

/* Two models, or one with two profiles, devices or shapes. Nodes are put to each other by their names, else
 * by structure. Each side has an analysis, and a join where it has a profile. Everything but the structs
 * themselves must outlive the result. OC_EARG: something is missing, or the totals are no sums (graph_bytes).
 */
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
                  as they run; NULL: in tables the first of time, roofline, macs, bytes that differs */
    bool has_top; /* rows; 0: all. Default 20 in tables, all elsewhere; tables leave out what is the same */
    int64_t top;
    unsigned width_chars; /* of tables; 0: no limit */
    bool color;
};
int oc_diff_write(const struct oc_diff *d, const struct oc_diff_write_opts *opts, FILE *f,
                  struct oc_err *err);

/* ---- limits ------------------------------------------------------------------------------------------- */

/* Limits for figures of a model. Metrics: macs, flops, ops, params, weight-bytes, bytes, peak-memory, memory,
 * nodes, unknown (nodes without a cost), forbid (nodes of a type, wherever they stand), opset, latency,
 * efficiency (time by the roofline / measured time). A limit is a maximum, that of efficiency a minimum. */
struct oc_budget;
int oc_budget_make(struct oc_budget **out, struct oc_err *err);
void oc_budget_free(struct oc_budget *b);
/* Adds one: "4.1G", "80MiB", "12ms", "30%". type: an operator type, '*' stands for anything, maybe with its
 * domain before a ':'; module: what names begin with, up to a '/' or '.'; NULL: the whole model. */
int oc_budget_limit(struct oc_budget *b, const char *metric, const char *limit, const char *type,
                    const char *module, struct oc_err *err);
/* Those of a budget file (hwdb/budget/example.xml). */
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
/* "table" (NULL), "csv", "json", "markdown", "junit", "sarif", "github" (annotations of GitHub Actions) */
int oc_check_write(const struct oc_check *c, const char *format, FILE *out, struct oc_err *err);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
