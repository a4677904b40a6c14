/* Which runs of a recording a statistic selects, sums of quantities per run, and how much the runs differ.
 *
 * A statistic is a choice of runs, made once per recording on the times of the runs. Every time of the recording
 * is the mean over these runs of a quantity taken per run (with OC_STAT_SUM: the sum), so that records add up to
 * the run time. oc_run_sums_stat is the only function that divides by a number of runs. */
#ifndef OC_RUN_SPREAD_H
#define OC_RUN_SPREAD_H

#include <stddef.h>
#include <stdint.h>

#include "onnxcost_types.h"

struct oc_diags;
struct oc_prof_rec;

/* Above this oc_run_spread_share the runs count as noisy: a comparison with them is inconclusive. Measured on
 * 1,088 recordings of 10 models on one virtual machine with 2 processors. */
#define OC_NOISY_SPREAD 0.08
/* A recording is disturbed where multiply-adds on registers took so much longer than at their fastest: other machines of
 * the host, or a limit of power, took part of the vector units. Measured on one virtual machine: 1.01 to 1.04 where an
 * int8 network took 26 to 29 ms, 1.15 to 1.45 where it took 35 to 44 ms. */
#define OC_SLOWED_BY 1.1
/* 0: not known. */
static inline bool oc_is_slowed(double probe_ns, double fastest_ns)
{
    return fastest_ns > 0 && probe_ns > OC_SLOWED_BY * fastest_ns;
}
/* Use of processors by other processes that does not disturb a recording. */
#define OC_SPARE_PROCESSORS 0.05
/* The spread that is assumed where fewer than 4 runs show none. */
#define OC_ASSUMED_SPREAD 0.08
enum { OC_LEAST_FOR_SPREAD = 4 }; /* runs: below, a quarter of them is less than one run */

/* Times of n runs. n 0: run times are not known, and the times are NAN. */
struct oc_run_spread {
    uint32_t n;
    double min_ns, p25_ns, median_ns, p75_ns, max_ns;
    double half_low_ns, half_high_ns,
        typical_ns; /* of the central half (OC_STAT_TYPICAL): fastest, slowest run, mean */
    /* 95 % confidence interval of the median, distribution-free (order statistics); below 6 runs no interval
     * reaches 95 %, and these are min_ns and max_ns */
    double low_ns, high_ns;
    uint32_t shapes;   /* different sets of shapes in the runs; above 1 their times differ by their work */
    uint32_t outliers; /* runs more than three interquartile ranges outside the quartiles */
};

/* Sorts the n values. */
void oc_run_spread_of(double *ns, size_t n, struct oc_run_spread *out);

/* Width of the central half of the runs / median: (x[n-floor(n/4)-1] - x[floor(n/4)]) / median of the sorted run
 * times. NAN below two runs, OC_ASSUMED_SPREAD below four. */
double oc_run_spread_share(const struct oc_run_spread *s);
/* Half of the confidence interval of the median / median. NAN below two runs. */
double oc_run_spread_error(const struct oc_run_spread *s);
bool oc_run_spread_noisy(const struct oc_run_spread *s);

/* The statistic for the wanted one: the wanted one, noisy or not; noisy runs are reported as W-noisy-runs. Runs
 * with different shapes have a mean or a sum only, as their work has. */
enum oc_stat oc_run_spread_stat(const struct oc_run_spread *s, enum oc_stat wanted, struct oc_diags *diags);
/* W-short-operators: on the host the profiler takes a part of the time of so many operators of a run. */
void oc_run_spread_warn_short(const struct oc_run_spread *s, double operators, struct oc_diags *diags);

/* ---- quantiles -------------------------------------------------------------------------------------- */

/* Selects a few order statistics without sorting: one value per run and record makes millions of values. */

struct oc_quantiles {
    double min, p10, median, p90, max;
};

/* n >= 1 values, no NAN. Reorders the values; scratch must hold n values. Percentiles as in
 * oc_percentile_of. */
void oc_quantiles_of(double *v, size_t n, double *scratch, struct oc_quantiles *out);
double oc_median_of(double *v, size_t n, double *scratch);

/* Insertion sort, for tens of values. */
void oc_sort_few(double *v, size_t n);

/* ---- sums of runs ----------------------------------------------------------------------------------- */

/* The runs that a statistic selects. */
struct oc_run_choice {
    uint8_t *in;    /* by run: 1 if it is selected; malloc */
    uint32_t n;     /* selected runs */
    double divisor; /* n, or 1 where the statistic is the sum */
};

/* Chooses from n used runs: run_ns[i] is the time of run number id[i] < n_run. Ties keep the order of the list.
 * OC_STAT_TYPICAL drops floor(n/4) runs at each end of the sorted times. */
void oc_run_choice_make(struct oc_run_choice *c, enum oc_stat stat, const double *run_ns, const uint32_t *id,
                        uint32_t n, size_t n_run);
void oc_run_choice_free(struct oc_run_choice *c);

/* Sums of one quantity per run, for statistics over the runs of a timeline. */
struct oc_run_sums {
    double *sum;             /* indexed by run */
    double *value, *scratch; /* runs with a value, unsorted */
    uint32_t *touched;
    uint8_t *seen;
    uint32_t n; /* number of runs with a value */
};

void oc_run_sums_init(struct oc_run_sums *s, size_t n_run);
void oc_run_sums_free(struct oc_run_sums *s);
void oc_run_sums_clear(struct oc_run_sums *s);

static inline void oc_run_sums_add(struct oc_run_sums *s, uint32_t run, double ns)
{
    if (!s->seen[run]) {
        s->seen[run] = 1;
        s->sum[run] = 0;
        s->touched[s->n++] = run;
    }
    s->sum[run] += ns;
}

/* The mean over the selected runs, or their sum; a run without a value counts 0. NAN: no run has a value. */
double oc_run_sums_stat(const struct oc_run_sums *s, const struct oc_run_choice *c);
/* Selects from the runs that have a value, which is their time. */
void oc_run_sums_choose(struct oc_run_sums *s, enum oc_stat stat, size_t n_run, struct oc_run_choice *c);

/* Sets median, minimum, maximum and percentiles of a record; without runs only the median, unknown. */
void oc_run_sums_quantiles(struct oc_run_sums *s, struct oc_prof_rec *rec);
/* Also the number of runs and the chosen statistic (time_ns). */
void oc_run_sums_store(struct oc_run_sums *s, const struct oc_run_choice *c, struct oc_prof_rec *rec);

/* How much the values of the runs differ. */
void oc_run_sums_spread(struct oc_run_sums *s, struct oc_run_spread *out);

double oc_run_sums_total(const struct oc_run_sums *s);

/* Interval unions of events in the order of their starts: the part of an event that begins after what the events
 * before it *reached. */
static inline double oc_union_add(double *reached, double from, double to)
{
    from = from > *reached ? from : *reached;
    if (!(to > from))
        return 0;
    *reached = to;
    return to - from;
}

#endif
