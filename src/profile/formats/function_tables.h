/* Flat profiles of CPU functions in text form: gprof, perf report (--stdio, with or without -t,), VTune,
 * Python's pstats. Reads self times only; skips call graphs. */
#ifndef OC_FUNCTION_TABLES_H
#define OC_FUNCTION_TABLES_H

#include "profile/core/records.h"
#include "profile/csv_rows.h"

/* Reads the table into records. */
int oc_functions_read(struct oc_csv *c, const struct oc_profile_opts *opts, struct oc_profile *p,
                      struct oc_rec_list *list, struct oc_err *err);

/* Class, precision and library of a function, from its name. */
void oc_function_classify(struct oc_profile *p, const struct oc_profile_opts *opts, struct oc_str library,
                          struct oc_prof_rec *rec);

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
