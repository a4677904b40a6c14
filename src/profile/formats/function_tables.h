/* Flat profiles of CPU functions in text form: gprof, perf report (--stdio, with or without -t,), VTune,
 * Python's pstats. Reads self times only; skips call graphs. */
#ifndef OC_FUNCTION_TABLES_H
#define OC_FUNCTION_TABLES_H

#include "profile/core/records.h"
#include "profile/csv_rows.h"

/* Whether the text has the header of such a table. */
bool oc_function_table_found(const char *data, size_t n);

/* One row. Name and library are views of the line. */
struct oc_function_row {
    struct oc_str name, library;
    double self_ns; /* NAN: the event is not time */
    double share;   /* perf: part of all samples; otherwise NAN */
    uint64_t calls; /* 0: unknown; perf: number of samples */
    uint64_t where;
};
typedef int oc_function_sink(void *ctx, const struct oc_function_row *row, struct oc_err *err);

struct oc_function_facts {
    const char *tool;   /* "gprof", "perf", "Python's profiler" */
    double listed, all; /* parts of all time: sum of those read, and 1; NAN: every function is listed */
    double all_ns;      /* time of all functions; NAN: unknown */
    char event[64];     /* perf: event that is not time ("cycles"), "": time */
    struct oc_recording_count tables;
    double resolution_ns; /* one sample, or one unit in the last printed digit; NAN: unknown */
    bool cut;             /* the file ends in a row */
};

/* Reads the table and passes each row to `sink`, which returns 0, or -1 with *err set. */
int oc_function_table_read(struct oc_csv *c, oc_function_sink *sink, void *ctx,
                           struct oc_function_facts *facts, struct oc_err *err);

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
