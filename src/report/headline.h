/* Latency and rates of a whole run: the one place that computes them, for every form of the report. */
#ifndef OC_HEADLINE_H
#define OC_HEADLINE_H

#include "base/json_write.h"
#include "join/join.h"
#include "onnxcost_types.h"
#include "report/report.h"

/* NAN: not known. Without a known number of runs there is a total, but no latency and no rate of runs. */
struct oc_headline {
    double
        total_ns; /* the sum of all rows: of the selected runs, or of a recording of an unknown number of runs */
    double run_ns;  /* latency of the selected runs, with --stat sum of all runs added */
    double busy_ns; /* of it: while at least one operator runs */
    bool busy_host; /* on the host, although the times of the rows are device times */
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

/* "73.7 ms", "73.7 ms (trimmed mean of 2 of 4 runs; 72.9 ms to 77.0 ms, spread 2.8 %)", or
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

/* ---- verdict ------------------------------------------------------------------------------------------ */

/* What a report says first: where the time of a run goes, in parts that sum to it, the largest gaps to the
 * roofline, and a few sentences (verdict.c). Its figures are those above and of report.h. */

enum oc_time_part_id {
    OC_PART_ROOFLINE,  /* of the rows with a bound: their roofline time; all of their time where they are
                        * faster
                        */
    OC_PART_ABOVE,     /* the rest of their time */
    OC_PART_UNBOUND,   /* other operators; without a device: all operators */
    OC_PART_ADDED,     /* runtime-inserted rows without a bound: layout, copies ... */
    OC_PART_UNMATCHED, /* records without a node of the model */
    OC_PART_OUTSIDE,   /* of the latency, in no row: framework, gaps between operators */
    OC_PART_COUNT
};
extern const char *const oc_time_part_id_text[OC_PART_COUNT]; /* "roofline_ns", as in JSON */

struct oc_time_part {
    const char *name; /* "above the roofline" */
    double ns;        /* 0: there is none */
    uint32_t rows;
};

enum { OC_LARGEST = 3 };
struct oc_largest { /* a row */
    const struct oc_row *row;
    double time_ns, gap_ns; /* of a run; gap NAN: no bound is known */
};

/* A row far beyond the time that rows of its class reach in the same recording (expected.c). Times in nanoseconds of a run. */
struct oc_anomaly {
    const struct oc_row *row;
    double time_ns;
    double expected_ns, low_ns, high_ns; /* low..high: the interval of its class */
    double lost_ns;                      /* time_ns - expected_ns */
    const char *class_name;              /* "conv_1x1", "operators that move memory" */
    uint32_t peers;
    const char *cause;                /* "its axis is not the last"; NULL: none is known (advice/advice.h) */
    double gain_low_ns, gain_high_ns; /* expected without the cause; NAN */
};

/* By lost_ns, largest first, in the report's arena; looked for once. Returns their number. */
uint32_t oc_anomalies_of(struct oc_report *r, const struct oc_anomaly **out);

struct oc_verdict {
    const char *text;                        /* "3.73 ms per run: ..."; NULL: nothing is known of a run */
    struct oc_time_part part[OC_PART_COUNT]; /* of measured times */
    double whole_ns;                         /* sum of the parts; NAN: no times */
    double run_ns;                           /* latency, less than whole_ns where operators overlap */
    struct oc_largest largest[OC_LARGEST];   /* by gap, where no row has one by time */
    uint32_t n_largest;
    const struct oc_anomaly *anomaly; /* of measured times, largest loss first */
    uint32_t n_anomaly;
};

/* Texts are in the report's arena. */
void oc_verdict_of(struct oc_report *r, struct oc_verdict *out);

/* ---- class share -------------------------------------------------------------------------------------- */

/* A CPU profile of functions together with a model: the share of CPU time per class of functions (by name,
 * profile/core/kernel_names.h), and the share of the model's FLOPs per class of operators. Functions are not
 * attributed to nodes, so there are no rates. */

struct oc_class_share {
    const char *name;  /* "conv"; "": the name has no known class */
    double time_share; /* of all functions, 0..1 */
    double flop_share; /* of the model; NAN without a model */
    uint32_t functions, nodes;
};

/* Longest time first; in the arena. Returns their number; 0 when the profile is not one of functions. */
uint32_t oc_class_shares(const struct oc_report_in *in, struct oc_arena *a,
                         const struct oc_class_share **out);

/* ---- cost breakdowns ---------------------------------------------------------------------------------- */

/* How the counts of single nodes are computed. */

/* Sets why and n_why of a report with all of its rows: the nodes of the rows that --why names, each once. */
int oc_receipt_nodes(struct oc_report *r, struct oc_err *err);

/* Of the report's nodes; rows without nodes say so. */
void oc_receipts_text(struct oc_report *r, FILE *f);
/* The same as text, one per node, in the arena. */
const char **oc_receipt_texts(const struct oc_report_in *in, const uint32_t *node, size_t n,
                              struct oc_arena *arena);
/* The value of the member "receipts". */
void oc_receipts_json(const struct oc_report_in *in, const uint32_t *node, size_t n, struct oc_arena *arena,
                      struct oc_json_out *w);

/* Attributes as text: "3,3", "'SAME_UPPER'", "float[2,2]". */
const char *oc_attr_text(struct oc_arena *arena, const struct oc_attr *a);

#endif
