/* Public interface of onnxcost: cost, memory and measured time of neural networks. This header has models,
 * analyses, profiles, joins, devices and reports; onnxcost_types.h has errors, warnings and limits. Other
 * subjects have headers of their own: onnxcost/bounds.h estimate.h gate.h hardware.h llm.h memory.h profile.h
 * record.h report.h scan.h sparsity.h sweep.h training.h. Conventions:
 *  - Functions that can fail return 0 on success and -1 on failure with *err filled (err is caller-owned and
 *    needs no clean-up). Nothing is printed by the library.
 *  - Pointers must not be NULL where nothing says what NULL means; err may be NULL everywhere. Not checked.
 *  - Handles are freed by the matching _free function (NULL is fine). Values returned by accessors are
 *    borrowed and valid as long as the handle. Inputs must outlive results (a model its analyses).
 *  - Options: NULL and zeros mean the defaults. `size` is sizeof the struct as the caller compiled it, so
 *    that programs run with newer and older libraries; 0: the struct of version 1.0. Lists and texts in options
 *    must stay valid for the call; for oc_llm_make, oc_rank_make and oc_scan_open as long as the result.
 *  - Writers write to a FILE; open_memstream (POSIX) makes one that writes to memory. Check ferror afterwards.
 *  - Counts are exact uint64_t. Time is double nanoseconds. Sizes are bytes.
 *  - Running out of memory is the error OC_EMEMORY, or the handler of oc_set_oom_handler. That handler, those of
 *    oc_set_map_watch and oc_set_read_watch, and the folders of oc_set_read_roots are the only global state:
 *    threads with separate handles need no locks, and may share models and profiles.
 */
#ifndef ONNXCOST_H
#define ONNXCOST_H

#include <stdbool.h>
#include "onnxcost_types.h"

OC_API_BEGIN

#define ONNXCOST_VERSION "1.0.0-rc"
const char *oc_version(void); /* of the library that the program runs with: "1.0.0-rc" */

/* ---- model ------------------------------------------------------------------------------------------ */

int oc_model_load(const char *path, const struct oc_input_limits *limits, struct oc_model **out,
                  struct oc_err *err);
int oc_model_load_mem(const void *data, size_t size_bytes, const struct oc_input_limits *limits,
                      struct oc_model **out, struct oc_err *err); /* data must outlive the model */
void oc_model_free(struct oc_model *model);

/* ---- analysis: shapes, small values, costs ---------------------------------------------------------- */

struct oc_bind { /* binds a symbolic dimension: --dim batch=8 */
    const char *symbol;
    int64_t value;
};

struct oc_range_bind { /* a dimension between two sizes: --dim batch=1..64 */
    const char *symbol;
    int64_t from, to;
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
int oc_op_rules_load(const char *path, struct oc_op_rules **out, struct oc_err *err);
void oc_op_rules_free(struct oc_op_rules *rules);

enum oc_if_mode { OC_IF_MAX, OC_IF_THEN, OC_IF_ELSE, OC_IF_AVG };
enum oc_kv_share { OC_KV_AUTO, OC_KV_ON, OC_KV_OFF };

struct oc_analyze_opts {
    size_t size; /* sizeof(struct oc_analyze_opts) */
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
    const struct oc_op_rules *rules;   /* user-defined operators; NULL: none; must outlive the analysis */
    const struct oc_range_bind *range; /* dimensions that are intervals: figures are bounds (OC_UPPER) for all
                                          their sizes */
    size_t n_range;
    bool least; /* these bounds are lower ones; what they are for is in onnxcost/bounds.h */
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
    bool bytes_bound;            /* the bytes are those of the whole model (graph_bytes), a lower bound */
    bool macs_exact, work_exact; /* whatever `quality` is of others: the MACs; MACs, FLOPs and OPs */
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
    const uint32_t *in, *out; /* values, for oc_analysis_value; OC_NO_INDEX: an optional one that is absent */
    size_t n_in, n_out;
};
size_t oc_analysis_nodes(const struct oc_analysis *a);
int oc_analysis_node(const struct oc_analysis *a, size_t index, struct oc_node_info *out);

enum oc_value_kind {
    OC_VALUE_INPUT,       /* of the model, or of a body (of an If, a Loop, a function) */
    OC_VALUE_OUTPUT,      /* likewise, produced by a node */
    OC_VALUE_INITIALIZER, /* also one that is listed among the inputs */
    OC_VALUE_INTERMEDIATE
};
#define OC_NO_INDEX UINT32_MAX
#define OC_MAX_DIMS 64
struct oc_value_info {
    const char *name;  /* as in the model, unique in its scope; "": unnamed */
    const char *scope; /* as in struct oc_node_info */
    enum oc_value_kind kind;
    uint32_t producer; /* node, for oc_analysis_node; OC_NO_INDEX: none */
    bool constant;     /* known before a run: an initializer, or computed from constants only */
    bool tensor;       /* not a sequence, map or optional, and not unknown */
    bool ranked;       /* the rank is known; otherwise it is 0 here */
    const char *dtype; /* element type of a tensor: "float", "int64" ...; NULL: unknown, or no tensor */
    uint32_t rank;
    int64_t dim[OC_MAX_DIMS];        /* -1: unknown */
    const char *origin[OC_MAX_DIMS]; /* of an unknown one: "N", "floor((H - 1)/2) + 1"; else NULL */
};
/* Every value of the main graph and of bodies, by index: inputs, initializers, outputs of nodes. Returns -1
 * past the end. Texts of dimensions are made on demand: not for several threads at once. */
size_t oc_analysis_values(const struct oc_analysis *a);
int oc_analysis_value(const struct oc_analysis *a, size_t index, struct oc_value_info *out);

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

/* ---- profiles: measurements of a runtime ------------------------------------------------------------ */

/* Reads one measurement: the file, and its companions by name (TensorRT's x.graph.json next to
 * x.profile.json). Errors name the file and the position; for an unknown format they list the importers
 * tried. Options are in onnxcost/profile.h; NULL: the defaults. */
int oc_profile_open(const char *path, const struct oc_profile_opts *opts, struct oc_profile **out,
                    struct oc_err *err);
/* Reads many files. Parts of one measurement (each part at most once, in the order given) become one profile,
 * every other file its own. *out: array of *n_out handles; each is closed with oc_profile_close, the array
 * freed with free(). On failure nothing is left open. */
int oc_profile_open_all(const char *const *path, size_t n, const struct oc_profile_opts *opts,
                        struct oc_profile ***out, size_t *n_out, struct oc_err *err);
void oc_profile_close(struct oc_profile *p);
size_t oc_profile_diags(const struct oc_profile *p, const struct oc_diag **out);
const char *oc_profile_importer(const struct oc_profile *p); /* "onnxruntime", "megengine" ... */
enum oc_stat oc_profile_stat(const struct oc_profile *p);    /* OC_STAT_MEAN where a file has only means */
/* The device as the profile names it, for oc_hwdb_find: "NVIDIA A100-SXM4-80GB"; NULL: it names none. */
const char *oc_profile_device(const struct oc_profile *p);
/* ---- joins: records of a profile and nodes of a model ----------------------------------------------- */

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

/* ---- devices --------------------------------------------------------------------------------------- */

struct oc_device_info {
    const char *id, *name, *vendor, *kind; /* kind: cpu, gpu, npu */
    const char *file;
    const char *const *alias;
    size_t n_alias;
    const char *sku, *base;      /* product variant of the figures; base device; may be NULL */
    const struct oc_hw_set *set; /* changes made by oc_device_override (onnxcost/hardware.h) */
    size_t n_set;
};

/* dir NULL: the folders of $ONNXCOST_HWDB (separated by ':'), then one default folder, the first that exists
 * of: above the shared library, above the program (hwdb in a checkout, share/onnxcost/hwdb in an
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
const struct oc_device_info *oc_device_info(const struct oc_device *device);

/* ---- reports ---------------------------------------------------------------------------------------- */

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

/* Writes the report. OC_EARG: the options do not apply. Check failed writes with ferror(f). */
int oc_report_write(const struct oc_report_in *in, const struct oc_report_opts *opts, FILE *f,
                    struct oc_err *err);

OC_API_END

#endif
