/* Latency and rates of a whole run: the one place that computes them, for every form of the report. */
#ifndef OC_HEADLINE_H
#define OC_HEADLINE_H

#include "report/report.h"

/* All of one run and by the profile's statistic; NAN: not known. */
struct oc_headline {
    double run_ns;           /* latency; where the profile does not say it, the sum of its operators */
    double busy_ns;          /* of it: while at least one operator runs */
    double inferences_per_s; /* NAN as well where the number of runs is not known */
    /* Work of the operators that have a time and a cost, over run_ns. FLOPs and integer operations apart
     * where a model is joined; else all operations count as FLOPs. */
    double flops_per_s, ops_per_s, bytes_per_s;
    bool least;                  /* an operator with a time has no known cost: the rates are lower bounds */
    double operator_flops_per_s; /* FLOPs and integer operations over the time of those operators alone */
};

/* How many runs the times of the profile stand for: 1, or with --stat sum all used ones. */
double oc_report_runs(const struct oc_profile *p);

void oc_headline_of(const struct oc_report *r, struct oc_headline *out);

/* "73.7 ms", or with several runs "73.7 ms (median of 4 runs; 72.9 ms to 77.0 ms, IQR 2.8 %)", in the arena.
 */
const char *oc_headline_latency_text(const struct oc_report *r, struct oc_arena *a);

#endif
