/* fleet/: Scans of many models or profiles in parallel processes, results in order. A job that crashes or
 * takes too long is a row of its own. Columns are in scan_tables.c alone.
 * Private to the folder: worker_pool.h. */

/* State of a scan: its files and duplicates. */
#ifndef OC_FLEET_SCAN_H
#define OC_FLEET_SCAN_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/file.h"
#include "base/map.h"
#include "base/row_cells.h"
#include "onnxcost.h"
#include "onnxcost/scan.h"

/* ---- model files --------------------------------------------------------------------------------- */

/* Finds files to scan: every named file, and in folders, at any depth, those with a fitting name: of models,
 * files that end in ".onnx" and those that describe a model without an ONNX file. */

struct oc_model_file {
    const char *path; /* as named, or below the named folder */
    uint64_t size_bytes;
    int64_t mtime_ns;
    int error; /* errno of stat; 0: the other two are valid */
};

struct oc_model_files {
    struct oc_arena arena;
    struct oc_map seen; /* paths */
    bool (*has_name)(
        const char *name); /* whether a file in a folder counts; NULL: those that end in ".onnx" */
    struct oc_model_file *item;
    size_t n, cap;
};

/* Named items are in the order given, items of a folder in byte order of their path, without duplicates.
 * Links are followed; a folder reachable in several ways is read once, through a link only if there is no
 * other way. A file or folder that cannot be examined is an item with an error. Named files need not be
 * models: loading them reports it. */
void oc_model_files_add(struct oc_model_files *files, const char *const *path, size_t n);
void oc_model_files_free(struct oc_model_files *files);

/* ---- models without an ONNX file -------------------------------------------------------------------- */

/* By its name alone. */
bool oc_may_describe(const char *name);

/* Of the names in a folder that may describe a model, the ones that do come first; returns their number. An
 * index of weight files stands for its files, the first part of a GGUF file for all; config.json is the model
 * only where no weights are, nor ONNX files (has_onnx). */
size_t oc_choose_described(const char *folder, const char **name, size_t n, bool has_onnx,
                           struct oc_arena *arena);

/* ---- file hash -------------------------------------------------------------------------------------- */

/* XXH64, in the format of xxhsum: fast enough for files of gigabytes. Not collision-resistant: it finds
 * candidates, callers that need certainty compare the files. */

uint64_t oc_xxh64(const void *data, size_t n, uint64_t seed);

/* ---- scan row ------------------------------------------------------------------------------------ */

/* One row of a scan: loads and analyses a model file. */

void oc_scan_row_clear(struct oc_scan_row *row); /* everything unknown */

/* Plain data that can be passed between processes. The texts of `row` are invalid until oc_scan_result_texts.
 */
struct oc_scan_result {
    struct oc_scan_row row;
    char hash[17], producer[200], domains[300], error[800], error_file[256];
    uint8_t error_code, quality,
        peak_quality; /* enum oc_code, OC_OK: no error; enum oc_quality + 1, 0: none */
    bool crashed, no_memory;
};
void oc_scan_result_texts(struct oc_scan_result *r);

struct oc_scan;

/* Loads and analyses a file of the scan; sets numbers and errors, and appends packed cells. with_hash: also
 * the hash of the whole file. */
void oc_scan_one(const struct oc_scan *s, size_t index, bool with_hash, struct oc_scan_result *out,
                 struct oc_buf *cells);

/* Replaces the result by an error. */
void oc_scan_failed(struct oc_scan_result *r, const struct oc_err *err);

/* ---- scan cells ---------------------------------------------------------------------------------- */

/* A row of typed cells as bytes, to pass it between processes; and the row at *at, which advances past it: texts
 * point into the bytes. False: at the end, or no row. */
void oc_cells_pack(const struct oc_cell_table *t, const struct oc_datum *cell, struct oc_buf *out);
bool oc_cells_unpack(const struct oc_cell_table *t, const char **at, const char *end, struct oc_datum *cell);

/* The packed cells of the rows "nodes" and "profiles", from the rows of a report. */

/* Cells that are known without the report's rows. */
struct oc_scan_source {
    const char *model; /* path; NULL: none */
    struct oc_report_in in;
};

/* One row for each row of the report, in the order of the nodes or records. */
void oc_scan_pack_nodes(const struct oc_scan_source *source, struct oc_buf *out);
/* One row. */
void oc_scan_pack_profile(const struct oc_scan_source *source, struct oc_buf *out);

/* ---- scan tables --------------------------------------------------------------------------------- */

/* The tables of a scan: names, types, units and meaning of their columns, for every format. A cell is a
 * member of struct oc_scan_row, or follows from the bytes that a worker process made. */

#define OC_SCAN_PACKED SIZE_MAX
enum { OC_SCAN_COLUMNS = 64 }; /* no table has more */

struct oc_scan_table {
    struct oc_cell_table cells;
    const size_t *offset; /* in struct oc_scan_row; OC_SCAN_PACKED: among the packed cells */
    /* The cells that are packed, in order; n 0: none. A row of the scan then has 0 or more rows of the table.
     */
    struct oc_cell_table packed;
};

extern const struct oc_scan_table oc_scan_models, oc_scan_nodes, oc_scan_profiles;

/* The table of the rows of a scan; NULL: the scan has none of this name ("profiles" of models). */
const struct oc_scan_table *oc_scan_table_of(const char *rows, bool profiles);

/* Sets the cells of `row` that are members of it. */
void oc_scan_row_cells(const struct oc_scan_table *t, const struct oc_scan_row *row, struct oc_datum *cell);

/* The next table row in the bytes of `row`. An error is one table row. False: there is none. */
struct oc_scan_cursor {
    const char *at;
    bool begun;
};
bool oc_scan_next_cells(const struct oc_scan_table *t, const struct oc_scan_row *row,
                        struct oc_scan_cursor *cursor, struct oc_datum *cell);

/* ---- scan ---------------------------------------------------------------------------------------- */

struct oc_scan {
    struct oc_scan_opts opts;
    struct oc_analyze_opts analyze;
    struct oc_model_files files;
    const struct oc_scan_table *table;
    const char **model_of; /* of profiles, by file: path, NULL: none; otherwise NULL */
    char settings[17];
    bool *shares_size; /* by file: has a duplicate */
    struct oc_arena arena;
    struct oc_map first_of; /* index of the first file with this size and hash */
    int (*row)(void *arg, const struct oc_scan_row *row);
    void *row_arg;
    size_t n_done;
};

/* A name of a profile in a folder. */
bool oc_scan_is_profile_name(const char *name);
/* Sets model_of. */
void oc_scan_find_models(struct oc_scan *s);

#endif
