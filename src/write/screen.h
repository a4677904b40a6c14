/* The tables of the report on a terminal. */
#ifndef OC_SCREEN_H
#define OC_SCREEN_H

#include <math.h>
#include <stdio.h>

#include "report/report.h"
#include "write/report_write.h"

enum measure { MEASURE_TIME, MEASURE_SHARE, MEASURE_ROOFLINE, MEASURE_WORK };

struct screen {
    struct oc_report *r;
    FILE *f;
    enum measure measure;
    double total;      /* over all rows */
    bool groups;       /* which of the two tables */
    bool by_signature; /* the groups are signatures, not types */
    struct oc_rows types, signatures;
    const char *key_name; /* title of the first column */
};

/* What the rows are ordered by, NAN: unknown. */
static inline double oc_screen_measured(const struct screen *s, const struct oc_row *row)
{
    return s->measure == MEASURE_TIME       ? row->time_s
           : s->measure == MEASURE_SHARE    ? row->share
           : s->measure == MEASURE_ROOFLINE ? row->roofline_s
                                            : row->computation;
}

static inline double oc_screen_known(double v)
{
    return isnan(v) ? 0 : v;
}

/* Fills types and, where they say more, signatures; the largest first. */
void oc_screen_find_groups(struct screen *s);
/* Leaves at most so many rows: the largest groups, and one row for all others. */
void oc_screen_cut_groups(struct oc_rows *g, uint32_t most);

#endif
