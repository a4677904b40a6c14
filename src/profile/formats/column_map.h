/* Maps the columns of a table to quantities: --map name=Function,time='CPU Time'. Keys: name (required),
 * type, provider, time (total of the row), mean (of one call), calls, min, max, median (of calls), kernel
 * (device time), energy (measured, of what time stands for; without it, of one call). A column is named by its
 * header without the unit in brackets; quotes protect commas. A unit of time or energy may follow the last ':'
 * (time=Total:ms); without it the unit comes from the field ("1.2s") or the header ("Total (ms)"). */
#ifndef OC_COLUMN_MAP_H
#define OC_COLUMN_MAP_H

#include "profile/csv_rows.h"

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

/* Finds the columns in a header. False: one is missing (its name in *missing, if not NULL). */
bool oc_column_map_find(struct oc_column_map *m, const struct oc_str *field, size_t n, const char **missing);

const char *oc_map_key_name(unsigned key);

/* The unit of a column in ns, of OC_MAP_ENERGY in J. */
bool oc_map_unit(unsigned key, struct oc_str text, double *unit);

#endif
