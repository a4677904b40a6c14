/* Which column of a table is what: --map name=Function,time='CPU Time'. Keys: name (needed), type, provider,
 * time (of the row, all its calls), mean (of one call), calls, min, max, median (of calls), kernel (device
 * time). A column is given by its header, unit in brackets left out; quotes keep commas. Behind the last ':'
 * a unit of time may stand: time=Total:ms. Else the unit is that of the field ("1.2s") or of the header
 * ("Total (ms)"). */
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
    OC_MAP_KEYS
};

struct oc_column_map {
    const char *column[OC_MAP_KEYS]; /* as given, NULL: not mapped */
    double
        unit_ns[OC_MAP_KEYS]; /* as given, or of the header, or the table's own; NAN: only fields can tell */
    size_t at[OC_MAP_KEYS];   /* set by oc_column_map_find */
};

/* Texts go to the arena. Errors name the part that is wrong. */
int oc_column_map_parse(const char *text, struct oc_arena *a, struct oc_column_map *out, struct oc_err *err);

/* Looks the columns up in a header; false: one is missing (its name in *missing, if not NULL). */
bool oc_column_map_find(struct oc_column_map *m, const struct oc_str *field, size_t n, const char **missing);

const char *oc_map_key_name(unsigned key);

#endif
