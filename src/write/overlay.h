/* Private to the writers for viewers of graphs: one number per node. */
#ifndef OC_OVERLAY_H
#define OC_OVERLAY_H

#include "report/report.h"

struct oc_shown_quantity {
    const char *name, *key; /* names in --order-by, in the column */
    const char *label;      /* with the unit */
    bool sum;               /* the value of a body is the sum over its nodes */
    bool profile, hardware; /* what the quantity requires */
};

enum { OC_QUANTITIES = 11 };
extern const struct oc_shown_quantity oc_quantities[OC_QUANTITIES];

/* The first name in --order-by; without that option latency if has_time, else FLOPs. NULL: no quantity has the name. */
const struct oc_shown_quantity *oc_quantity_of(const char *order_by, bool has_time);

/* By node, without those of its bodies; NAN: unknown. Latencies in 1 / time_unit seconds. A row of several nodes
 * counts for its first one, so that the sum is that of all rows. Arena memory. */
double *oc_quantity_values(struct oc_report *r, const struct oc_shown_quantity *q, double time_unit);

/* NAN is left out. */
double oc_overlay_sum(double a, double b);

#endif
