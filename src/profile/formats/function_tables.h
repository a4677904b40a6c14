/* Flat profiles of CPU functions in text form: gprof, perf report (--stdio, with or without -t,), VTune,
 * Python's pstats. Reads self times only; skips call graphs. */
#ifndef OC_FUNCTION_TABLES_H
#define OC_FUNCTION_TABLES_H

#include "profile/core/records.h"
#include "profile/csv_rows.h"

enum oc_function_table { OC_TABLE_NONE, OC_TABLE_GPROF, OC_TABLE_PERF, OC_TABLE_PSTATS, OC_TABLE_VTUNE };

/* Detects the kind of table; reads only these bytes. */
enum oc_function_table oc_function_table_kind(const char *data, size_t n);

/* One row. Name and library are views of the line. */
struct oc_function_row {
    struct oc_str name, library;
    double self_ns; /* NAN: the event is not time */
    double share;   /* perf: part of all samples; otherwise NAN */
    uint64_t calls; /* 0: unknown; perf: number of samples */
};
typedef int oc_function_sink(void *ctx, const struct oc_function_row *row, struct oc_err *err);

struct oc_function_facts {
    const char *tool;   /* "gprof", "perf", "Python's profiler" */
    double listed, all; /* parts of all time: sum of those read, and 1; NAN: every function is listed */
    double all_ns;      /* time of all functions; NAN: unknown */
    char event[64];     /* perf: event that is not time ("cycles"), "": time */
    struct oc_recording_count tables;
    double resolution_ns; /* one sample, or one unit in the last printed digit; NAN: unknown */
};

/* Reads the table and passes each row to `sink`, which returns 0, or -1 with *err set. */
int oc_function_table_read(enum oc_function_table kind, struct oc_csv *c, oc_function_sink *sink, void *ctx,
                           struct oc_function_facts *facts, struct oc_err *err);

/* ---- op logs ---------------------------------------------------------------------------------------- */

/* Private to imp_op_logs.c, imp_openvino.c, op_lines.c and function_tables.c: sources that print a line per
 * operator. */

#define OC_LOG_FIELDS 24
struct op_table;

struct oc_op_log {
    struct oc_csv *c;
    struct oc_profile *p;
    struct oc_op_rows rows;
    struct oc_buf text;
    /* state of tables */
    bool in_table, had_table, wanted, csv;
    int section;
    size_t at[8], width, name_at;
    struct oc_recording_count recordings;
    uint64_t process, counted;      /* of nvprof: that of the lines, that of the last rows */
    struct oc_map kernels;          /* of ONNX Runtime Web: hash of the name, indexed by id */
    struct oc_module_tree *modules; /* of DeepSpeed */
    struct oc_lite_log *lite;       /* of TensorFlow Lite */
    const struct op_table *table;   /* of MACE or RKNN */
    struct oc_op_row row;           /* its last row, whose name is in `text` and may go on; calls 0: none */
};

/* A time in this unit. False: it is none, the row is damaged. */
static inline bool oc_log_time(struct oc_str s, double unit_ns, double *ns)
{
    bool good = oc_csv_number(s, ns, NULL) && *ns >= 0 && *ns < 1e15;
    *ns *= unit_ns;
    return good;
}

/* Whether the line read last is of the first recording, which is read; begins: it is the first line of one. */
static inline bool oc_log_is_first(struct oc_op_log *log, bool begins)
{
    if (begins || !log->recordings.n)
        oc_recording_begins(&log->recordings, log->c);
    return log->recordings.n == 1;
}

/* Adds the row of the line read last. */
static inline void oc_log_add(struct oc_op_log *log, struct oc_op_row *row)
{
    row->where = oc_csv_offset(log->c);
    oc_op_rows_add(&log->rows, row);
}

bool oc_openvino_pc_is_line(struct oc_str line);
int oc_openvino_pc_take(struct oc_op_log *log, struct oc_str line);
bool oc_rknn_is_header(struct oc_str line);
int oc_rknn_take(struct oc_op_log *log, struct oc_str line);
bool oc_mace_is_header(struct oc_str line);
int oc_mace_take(struct oc_op_log *log, struct oc_str line);
bool oc_rknn_is_table(struct oc_str line); /* of types, or of layers of the first toolkit */
int oc_rknn_take_table(struct oc_op_log *log, struct oc_str line);
void oc_op_table_end(struct oc_op_log *log); /* adds the last row */
bool oc_onednn_is_line(struct oc_str line);
int oc_onednn_take(struct oc_op_log *log, struct oc_str line);
bool oc_deepspeed_is_line(struct oc_str line);
int oc_deepspeed_take(struct oc_op_log *log, struct oc_str line);

/* ---- column map ------------------------------------------------------------------------------------- */

/* Maps the columns of a table to quantities: --map name=Function,time='CPU Time'. Keys: name (required),
 * type, provider, time (total of the row), mean (of one call), calls, min, max, median (of calls), kernel
 * (device time), energy (measured, of what time stands for; without it, of one call). A column is named by its
 * header without the unit in brackets; quotes protect commas. A unit of time or energy may follow the last ':'
 * (time=Total:ms); without it the unit comes from the field ("1.2s") or the header ("Total (ms)"). */

enum oc_map_key {
    OC_MAP_NAME,
    OC_MAP_TYPE,
    OC_MAP_PROVIDER,
    OC_MAP_TIME,
    OC_MAP_MEAN,
    OC_MAP_CALLS,
    OC_MAP_MIN,
    OC_MAP_MAX,
    OC_MAP_MEDIAN,
    OC_MAP_KERNEL,
    OC_MAP_ENERGY,
    OC_MAP_KEYS
};

struct oc_column_map {
    const char *column[OC_MAP_KEYS]; /* as given; NULL: not mapped */
    double unit[OC_MAP_KEYS]; /* ns or J, from the map, the header or the table itself; NAN: each field has
                                  * its own unit */
    size_t at[OC_MAP_KEYS];   /* set by oc_column_map_find */
};

/* Parses the map. Texts are allocated in the arena. Errors name the invalid part. */
int oc_column_map_parse(const char *text, struct oc_arena *a, struct oc_column_map *out, struct oc_err *err);

#endif
