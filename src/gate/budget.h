/* Tolerances that a user gives for the figures of a baseline. */
#ifndef OC_BUDGET_H
#define OC_BUDGET_H

#include "gate/limits.h"

struct oc_tolerances {
    const char *all;                 /* share for every metric, NULL */
    const char *of[OC_GATE_METRICS]; /* for one metric, NULL */
};

#endif
