/* Tolerances that a user gives for the figures of a baseline. */
#ifndef OC_TOLERANCES_H
#define OC_TOLERANCES_H

#include "gate/limits.h"

struct oc_tolerances {
    const char *all;                 /* share for every metric, NULL */
    const char *of[OC_GATE_METRICS]; /* for one metric, NULL */
};

/* Each text is a comma-separated list of "SHARE" (all metrics) and "METRIC=SHARE|AMOUNT". The last entry
 * of a metric wins. Texts are allocated in the arena. */
int oc_tolerances_parse(struct oc_arena *arena, const char *const *text, size_t n, struct oc_tolerances *out,
                        struct oc_err *err);

/* The tolerance in force: that of the metric, that of all metrics, that of the file (NULL: none), the
 * default. */
const char *oc_tolerance_of(const struct oc_tolerances *t, enum oc_gate_metric m, const char *in_file);

#endif
