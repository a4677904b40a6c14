/* Latency and rates of a whole run: the one place that computes them, for every form of the report. */
#ifndef OC_HEADLINE_H
#define OC_HEADLINE_H

#include "join/run_sizes.h"
#include "onnxcost_types.h"
#include "report/report.h"

/* NAN: not known. Without a known number of runs there is a total, but no latency and no rate of runs. */
struct oc_headline {
    double total_ns; /* all the time that the rows stand for: of one run, of all runs with --stat sum,
                      * or of a recording of an unknown number of runs */
    double run_ns;   /* latency; where the profile has no run times, the sum of its operators */
    double busy_ns;  /* of it: while at least one operator runs */
    bool busy_host;  /* on the host, although the times of the rows are device times */
    double inferences_per_s;
    /* Work of the operators that have a time and a cost, over total_ns. FLOPs and integer operations are
     * separate where a model is joined; otherwise all operations count as FLOPs. With a model the work is
     * that of one run: NAN if the runs are not known. */
    double flops_per_s, ops_per_s, bytes_per_s;
    uint8_t flops_quality,
        bytes_quality;           /* enum oc_quality: an operator without a known cost makes a lower bound */
    double counted_share;        /* of the time of the operators: those with a known cost */
    double operator_flops_per_s; /* FLOPs and integer operations over the time of those operators alone */
    double energy_j, power_w;    /* measured, in total_ns; over the time of the operators that have it */
    uint8_t energy_quality;      /* OC_LOWER: operators have time, but no measured energy */
};

void oc_headline_of(const struct oc_report *r, struct oc_headline *out);

/* "4 runs", "9 runs found by repetition, confidence high", "an unknown number of runs". */
const char *oc_headline_runs_text(const struct oc_profile *p, struct oc_arena *a);

/* "73.7 ms", "73.7 ms (median of 4 runs; 72.9 ms to 77.0 ms, IQR 2.8 %)", or
 * "8.41 s over an unknown number of runs", in the arena. */
const char *oc_headline_latency_text(struct oc_report *r, struct oc_arena *a);

/* ---- warnings --------------------------------------------------------------------------------------- */

/* The warnings of all sources of a report: its model, analysis, profile and join, in this order. */

enum { OC_FINDING_SOURCES = 5 };

/* Number of warnings of a source, and in *d the list, valid as long as the source. 0: *d is not set. */
size_t oc_findings_of(const struct oc_report_in *in, unsigned source, const struct oc_diag **d);

/* Texts of those that say that profile and model do not belong together: the first line of every output. */
enum { OC_MAX_MISMATCHES = 4 };
size_t oc_mismatches(const struct oc_report_in *in, const char *text[OC_MAX_MISMATCHES]);
bool oc_is_mismatch(const struct oc_diag *d);

const char *oc_severity_name(const struct oc_diag *d); /* "warning" */

/* Runs with the same sizes: their time, and an amount of work per second of it. NAN: not known. */
double oc_size_total_ns(const struct oc_size_set *s);
double oc_size_rate(const struct oc_size_set *s, double work);

#endif
