/* Comparison of two sides by the latencies of their recordings: a ratio, its 95 % interval and a verdict.
 *
 * Processes differ more than their runs suggest, so the unit is the recording (one process), never the run. y is the
 * logarithm of a recording's latency; the interval is a moderated t (Smyth 2004, "Linear models and empirical Bayes
 * methods"): the variance between recordings is averaged with a prior that counts as PRIOR_FREEDOM degrees of freedom
 * and is all there is with one recording on each side. Recordings that took turns are compared in pairs: what drifts while they
 * run is in both. No random numbers. The constants and what they were measured on: comparison.c. */
#ifndef OC_COMPARISON_H
#define OC_COMPARISON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct oc_profile;

struct oc_recorded {                   /* one recording */
    double latency_ns;                 /* of the selected runs, > 0 */
    double spread;                     /* width of the central half of its runs / median */
    uint32_t runs;                     /* without warm-up runs; 0: only means are known */
    double started_s;                  /* since 1970; 0: not known */
    bool loaded;                       /* other processes used processors that it needed */
    double probe_ns, probe_fastest_ns; /* of its machine (struct oc_prof_machine); 0: not known */
    /* of oc_record_info: its process took turns; 0: it ran alone */
    double turns_id;
    const double *turn_ns;
    uint32_t n_turn;
    bool once; /* a value that its process has once (oc_recorded_once) */
};

/* How the recordings of the two sides lie in time: what drifts between them widens the interval. */
enum oc_recorded_order {
    OC_RECORDED_ALTERNATED, /* in balanced order (ABBA BAAB), or one each that started within 5 s */
    OC_RECORDED_MINUTE,     /* all started within 60 s */
    OC_RECORDED_APART,      /* farther apart, or not known */
    OC_RECORDED_TURNS,      /* the i-th recordings of both sides took turns with each other */
};

enum oc_verdict_of_comparison {
    OC_COMPARED_SAME, /* no difference is shown */
    OC_COMPARED_FASTER,
    OC_COMPARED_SLOWER,
    OC_COMPARED_INCONCLUSIVE
};
const char *
oc_compared_name(unsigned verdict); /* "no difference shown", "faster", "slower", "inconclusive" */

struct oc_comparison {
    double ratio, low, high; /* B / A and its interval; NAN: a side has no latency */
    double smallest;         /* smallest difference that these recordings could show: 0.08 is 8 % */
    uint32_t needed;         /* alternated recordings on each side that would show 3 %; 0: more than 100 */
    uint8_t verdict;         /* enum oc_verdict_of_comparison */
    uint8_t order;
    uint32_t n[2], disturbed, loaded,
        brief;             /* recordings; of them: disturbed, by load of others, with too few runs */
    double prior;          /* variance between recordings that is assumed before any is seen */
    double error, freedom; /* standard error of ln(ratio), degrees of freedom */
};

#define OC_COMPARISON_LEVEL 0.95

/* A value that a process has once, such as the time in which it created the session: the spread of runs is assumed. Processes that
 * take turns make it in sequence: it is alternated, not in turns. */
struct oc_recorded oc_recorded_once(double ns, double started_s, double turns_id, bool loaded);
/* The recording of a profile; false: its latency is not known. */
bool oc_recorded_of(const struct oc_profile *p, double latency_ns, struct oc_recorded *out);

enum oc_recorded_order oc_recorded_order(const struct oc_recorded *a, size_t n_a, const struct oc_recorded *b,
                                         size_t n_b);
const char *oc_recorded_order_name(unsigned order);

void oc_compare_recorded(const struct oc_recorded *a, size_t n_a, const struct oc_recorded *b, size_t n_b,
                         enum oc_recorded_order order, struct oc_comparison *out);

/* One row of the reports of all recordings. */
struct oc_compared_row {
    const double *ns[2]; /* by recording of a side: its time, a mean over the selected runs */
    double variance;     /* mean over all recordings of the squared standard error of that mean / mean^2 */
    double ratio;        /* result: B / A; NAN: the row has no time in one of the recordings */
    uint8_t verdict;     /* result: enum oc_verdict_of_comparison */
};
/* The standard error of a row's time in one recording, as a share of that time. */
double oc_row_error_share(double error_ns, double ns);
enum { OC_RECORDINGS_FOR_ROWS = 5 }; /* on each side; with fewer, rows have no verdicts */

/* Verdicts of rows by the same formula, with a false discovery rate of 5 % over all rows (Benjamini-Hochberg). */
void oc_compare_rows(const struct oc_comparison *c, struct oc_compared_row *row, size_t n);

/* Whether the interval of this level excludes 1: 0.95 is the one that is printed. A comparison that is looked at several
 * times, or one of several, needs a higher one. */
bool oc_compared_shows(const struct oc_comparison *c, double level);

/* Whether B is within (1 + limit) * A: 1 yes, 0 no, -1 inconclusive. */
int oc_compared_within(const struct oc_comparison *c, double limit);

struct oc_arena;
/* "slower by 8.1 %" of a row; "" without a verdict. */
const char *oc_compared_row_text(double ratio, unsigned verdict, struct oc_arena *a);
/* "slower by 8.1 % (6.0 to 10.2)", "no difference shown (-1.1 to +2.3 %)", in the arena. */
const char *oc_compared_text(const struct oc_comparison *c, struct oc_arena *a);
/* Why, and what would show a smaller difference: a sentence. */
const char *oc_compared_note(const struct oc_comparison *c, struct oc_arena *a);

#endif
