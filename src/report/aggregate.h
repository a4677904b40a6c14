/* Aggregates rows to one row per group. */
#ifndef OC_AGGREGATE_H
#define OC_AGGREGATE_H

#include "report/rows.h"

enum oc_aggregate {
    OC_AGG_NONE,
    OC_AGG_MAX,
    OC_AGG_MIN,
    OC_AGG_SUM,
    OC_AGG_MEAN,
    OC_AGG_PERCENTILE, /* of the known values, interpolated linearly */
    OC_AGG_COUNT       /* number of rows; no other figure */
};

struct oc_reduction {
    enum oc_aggregate how;
    double percent; /* of OC_AGG_PERCENTILE: 50 is the median */
};

/* "sum", "median", "p90", "p99.9" ... False: none of these. */
bool oc_reduction_read(const char *text, struct oc_reduction *out);

/* Sum, mean, ... of the known values; NAN if none. A mean divides by all n (n >= 1). Reorders `v`. */
double oc_aggregate_of(struct oc_reduction how, double *v, size_t n);

/* One row per group (row.group; NULL: all rows are one group, named "all"), in order of first appearance, in
 * in->arena. Figures are aggregated by `how`, shapes are dropped, the info cell is group, count and "N/A". */
void oc_rows_aggregate(const struct oc_rows *in, struct oc_reduction how, struct oc_rows *out);

#endif
