/* Options of reports, and other documents about a model: summaries, comparisons of profiles, annotated
 * models, lists. Conventions: onnxcost.h. */
#ifndef ONNXCOST_REPORT_H
#define ONNXCOST_REPORT_H

#include "onnxcost_types.h"

OC_API_BEGIN

/* Selection, grouping, order and format of rows. Zero means the default, except where stated. */
struct oc_report_opts {
    size_t size;          /* sizeof(struct oc_report_opts) */
    const char *format;   /* "table" (NULL), "csv", "json" */
    const char *style;    /* of tables: "grid", "compact"; NULL: automatic */
    unsigned width_chars; /* 0: no limit */
    bool color;
    bool verbose; /* the table's summary has all lines, not only the main ones */
    bool has_top;
    int64_t top; /* rows; 0: all; negative: drop the last ones. Default 3 for MegEngine files, what fits 25
                    lines without other options of tables, else 20 */
    /* Names, combined with or: the name of a row as any output prints it, "#3" for the third row of the table, a
     * regular expression matched from the start of names, the name of a fused operator or of the runtime, or a
     * unique part of a name. One that selects nothing is an error (OC_EARG) with the nearest names. */
    const char *const *name_pattern;
    size_t n_name_pattern;
    const char *const *type; /* operator types, combined with or; a unique part is enough */
    size_t n_type;
    const char *const *input_dtype;
    size_t n_input_dtype;
    const char *order_by;    /* "[+]column,..": the first is the primary key, later ones break ties */
    const char *aggregate;   /* "max", "min", "sum", "mean", "median", "count", "p90" ... */
    const char *group_by;    /* the same, as sums unless `aggregate` is given. Keys: type, module[:depth],
                                 signature, provider, precision, kernel, bound, rule */
    const char *top_end_key; /* "end" (NULL), "kern" */
    const char *min_time, *max_time; /* seconds, as text; NULL: no bound */
    const char *print_only;          /* "summary", "device", "host" */
    bool show_host, copy_time, confluence, dump_only_opr;
    /* Rows, as name_pattern without expressions, or nodes (name, "<OpType>_<index>", or index) whose cost breakdown
     * is reported. A table then contains
     * nothing else; JSON gets a member "receipts"; there is no CSV of that. */
    const char *const *why;
    size_t n_why;
    /* Rows of a joined profile, as name_pattern without expressions, "" for all: reports the join rule, its confidence, and why a
     * record has no nodes. A table then contains nothing else; in JSON each row gets "explanation". */
    const char *const *explain_match;
    size_t n_explain_match;
    /* Rooflines: each byte counts at the nearest memory level that can contain it, not at DRAM; the time
     * stays a lower bound for repeated runs. Default of the program, not of the library. */
    bool cache;
    /* What-if steps, applied in sequence: element-wise operators fused into
     * their producers ("elementwise"), another data type ("fp16", "int8-weights" ...), then
     * "KEY=80%" (of the roofline), "KEY=2x" (faster), where KEY is a name as of name_pattern, an
     * operator type or class, and "hw=NAME". what_if_device[i] is the device of a step of the last kind; else NULL. */
    const char *as;
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
    const char
        *made; /* of the HTML report: how and when it was made, such as its command line; may be NULL */
    /* Of the HTML report: its what-if panel has closed forms of analyses with these options, those of the
     * report's analysis, and the devices of the database. NULL: no panel; no other devices. */
    const struct oc_analyze_opts *analyze;
    struct oc_hwdb *hwdb;
    struct oc_report_outcome *outcome; /* set by oc_report_write; may be NULL */
};

struct oc_report_outcome {
    size_t unordered;  /* rows without a value of order_by: they are last in either direction */
    char missing[200]; /* MegEngine's own table, which may be empty: why a name selects no row; "": none */
};

/* Writes the model with its costs: decimal numbers in the metadata_props of every node, including nodes of
 * bodies and local functions, and totals in those of the model, with keys that begin with "onnxcost." (older
 * ones are replaced). All other bytes are copied unchanged. in: model and analysis; a join and a device add
 * times and limits; opts: --count cache. path: the output file, which must be in the folder of external weights,
 * and must not be the model itself (OC_EARG); NULL: unknown. OC_ELIMIT: the result would be too large for
 * protobuf. */
int oc_annotate_write(const struct oc_report_in *in, const struct oc_report_opts *opts, const char *path,
                      FILE *f, struct oc_err *err);

/* What a model of one row has. Inputs get generated values when it is recorded. */
struct oc_extracted {
    uint32_t nodes;            /* of the row ... */
    uint32_t constant_nodes;   /* ... and those that compute its constants */
    uint32_t inputs, outputs;  /* absent_weights are inputs, too */
    uint32_t known_values;     /* inferred constants, such as shapes */
    uint32_t weights;          /* copied into the file, or external_weights */
    uint32_t external_weights; /* more than 256 MiB in an external file, where they stay */
    uint32_t absent_weights;   /* without data: inputs, which a runtime cannot pack before a run */
    uint64_t weight_bytes;     /* of `weights` */
    double time_s;             /* of the row in the profile; NAN: there is none */
    char text[320];            /* all of it as lines for a person */
};

/* Writes one row as an ONNX model: its nodes, the weights and constants that they read, and as inputs, with the
 * shapes and types of the analysis or else of the profile, what other nodes compute. row: as name_pattern
 * without expressions; must select one row with nodes (OC_EARG). path: the output file, which must be in the
 * folder of weights that stay external; NULL: unknown. OC_EUNSUPPORTED: the row cannot run alone. */
int oc_extract_write(const struct oc_report_in *in, const struct oc_report_opts *opts, const char *row,
                     const char *path, FILE *f, struct oc_extracted *out, struct oc_err *err);

/* What a rewritten model has. */
struct oc_applied {
    uint32_t changed,
        unchanged; /* operators of the suggestion that were rewritten, and that were left as they are */
    double low_ns, high_ns; /* expected saving of a run; NAN: not known, or not all operators were changed */
    char text[480];         /* all of it as lines for a person */
};

/* Writes a copy of the model in which a suggestion of --advise is carried out: its name, such as "softmax-axis". Its outputs
 * are the same up to rounding. A few nodes are replaced; all else, weights too, is copied or stays where it is. OC_EARG: the
 * model has no such suggestion; OC_EUNSUPPORTED: none of its operators can be rewritten. path: the output file, which must be
 * in the folder of external weights; NULL: unknown. f NULL: nothing is written, *out has what any suggestion is expected to
 * save (OC_EARG: there is no such suggestion). */
int oc_apply_write(const struct oc_report_in *in, const struct oc_report_opts *opts, const char *name,
                   const char *path, FILE *f, struct oc_applied *out, struct oc_err *err);

/* The suggestions that can be carried out; NULL past the end. */
const char *oc_apply_name(size_t index);

/* The JSON Schema (draft 2020-12) of oc_report_write as "json". */
int oc_schema_write(FILE *f, struct oc_err *err);

const char *oc_convention_name(size_t index); /* for oc_analyze_opts.convention; NULL past the end */
/* What the tool calls one of its counts: "FLOP", "MAC", "mult-add". "FLOP" for NULL and the default counting. */
const char *oc_convention_unit(const char *name);

/* Compares two analyses of the model with different conventions: the difference of their FLOPs and OPs by
 * operator type and reason. format: "table" (NULL) or "json". */
int oc_convention_diff_write(const struct oc_model *model, const struct oc_analysis *first,
                             const struct oc_analysis *second, const char *format, unsigned width_chars,
                             FILE *f, struct oc_err *err);

/* ---- summaries: tables of a profile over time ------------------------------------------------------- */

/* Names of the tables; false past the end. */
bool oc_summary_view(size_t index, const char **name, const char **title);

struct oc_summary_opts {
    size_t size;        /* sizeof(struct oc_summary_opts) */
    const char *format; /* "table" (NULL), "csv", "json", "html", "fragment" (of a page) */
    /* Tables to write, or "all"; none: all with data in the source, in their order, and of tables for people what fits
     * 25 lines unless an option chooses rows. */
    const char *const *view;
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
    const char *made; /* of HTML: how and when it was made, such as its command line; may be NULL */
};
/* Profiles should be opened with keep_events; without events there are fewer tables. */
int oc_summary_write(const struct oc_profile *const *profile, size_t n, const struct oc_summary_opts *opts,
                     FILE *f, struct oc_err *err);

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

OC_API_END

#endif
