/* Reducing rows to one row per group. */
#ifndef OC_AGGREGATE_H
#define OC_AGGREGATE_H

#include "report/rows.h"

enum oc_aggregate { OC_AGG_NONE, OC_AGG_MAX, OC_AGG_MIN, OC_AGG_SUM, OC_AGG_MEAN };

/* Sum, mean, ... of the values that are known; NAN if none is. A mean divides by all n (n >= 1). Reorders
 * `v`. */
double oc_aggregate_of(enum oc_aggregate how, double *v, size_t n);

/* One row per type (or one in all, called "all"), in the order of first appearance, in in->arena. The numbers
 * are reduced by `how`, shapes are gone, the info cell is type, count and "N/A". */
void oc_rows_aggregate(const struct oc_rows *in, enum oc_aggregate how, bool by_type, struct oc_rows *out);

#endif
