/* Scan: one row per model or profile of many files, or the rows of their operators.
 * Conventions: onnxcost.h. */
#ifndef ONNXCOST_SCAN_H
#define ONNXCOST_SCAN_H

#include "onnxcost_types.h"

OC_API_BEGIN

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
    /* The other columns of the rows of operators, and of profiles: for oc_scan_writer. */
    const char *cells;
    size_t n_cells_bytes;
};

enum oc_scan_hash {
    OC_SCAN_HASH_SIZE, /* hash files of equal size, to find duplicates */
    OC_SCAN_HASH_ALL,
    OC_SCAN_HASH_OFF
};

struct oc_scan_opts {
    size_t size;                           /* sizeof(struct oc_scan_opts) */
    const struct oc_analyze_opts *analyze; /* for each model; bindings that match nothing in it are ignored */
    const struct oc_input_limits *limits;  /* NULL: the defaults */
    unsigned jobs;                         /* processes; 0: one per available processor */
    enum oc_scan_hash hash;
    const char *settings; /* fingerprint: must differ when options would change rows; NULL: "" */
    const volatile int
        *stop;        /* non-zero, set by a signal handler: the scan ends after the started rows; NULL */
    const char *rows; /* "models" (NULL), "nodes"; with `profiles`: "profiles" (NULL), "nodes" */
    /* Instead of models, scans profiles: in folders, every file whose name ends as that of a profile, such as
     * ".json.gz" (onnxcost-scan(1)). The model of a profile "a/b.c.json.gz" is the first file of
     * "b.c.json.onnx", "b.c.onnx" and "b.onnx" in its own folder, then in each of `models`. */
    bool profiles;
    const char *const *models;
    size_t n_models;
    const struct oc_device *device; /* roofline of operators; NULL: none */
};

/* Files, and folders, in which every model is included, at any depth: files that end in ".onnx", and one file
 * for each model without an ONNX file (safetensors, GGUF, config.json); see oc_scan_row.path. Explicit names
 * keep their order, those of a folder are sorted by bytes, without duplicates. Examines the files but does
 * not read them. What `opts` points to must outlive the scan. */
struct oc_scan;
int oc_scan_open(const char *const *path, size_t n, const struct oc_scan_opts *opts, struct oc_scan **out,
                 struct oc_err *err);
void oc_scan_free(struct oc_scan *s);
size_t oc_scan_files(const struct oc_scan *s);

/* Calls `row` for every file in order, in the caller's process; a row is borrowed for the call. The models
 * are analysed in processes made by fork(): one that crashes or runs out of memory is an error row. Fails if
 * `row` does not return 0, or if no process can be started. *n_done (may be NULL): number of rows delivered.
 */
int oc_scan_run(struct oc_scan *s, int (*row)(void *arg, const struct oc_scan_row *row), void *arg,
                size_t *n_done, struct oc_err *err);

/* Rows as "table" (NULL; of models only), "csv", "ndjson" (one JSON object per line), "json", "html" (of
 * models only) or "parquet". scan: whose rows they are; NULL: of models.
 * The table is written at the end, Parquet in groups of rows, the others row by row. OC_EARG: no such format.
 */
struct oc_scan_writer;
int oc_scan_writer_open(const struct oc_scan *scan, const char *format, unsigned width_chars, FILE *f,
                        struct oc_scan_writer **out, struct oc_err *err);
/* Of HTML: how and when it was made, such as the command line; copied. */
void oc_scan_writer_made(struct oc_scan_writer *w, const char *made);
void oc_scan_writer_row(struct oc_scan_writer *w, const struct oc_scan_row *row);
void oc_scan_writer_close(struct oc_scan_writer *w); /* check failures with ferror */

/* The columns of the rows "models", "nodes", "profiles"; and "summary" (oc_summary_write). False past the
 * end. */
struct oc_row_column {
    const char *name, *type; /* type: "text", "u64", "i64", "double" */
    const char *unit, *what; /* unit "": none */
    bool required;           /* never null */
};
bool oc_row_column(const char *rows, size_t index, struct oc_row_column *out);

OC_API_END

#endif
