/* How much the runs of one measurement differ, and the statistic that follows from it. */
#ifndef OC_RUN_SPREAD_H
#define OC_RUN_SPREAD_H

#include <stddef.h>
#include <stdint.h>

#include "onnxcost_types.h"

struct oc_diags;
struct oc_prof_rec;

/* Above this oc_run_spread_share the runs count as noisy. */
#define OC_NOISY_SPREAD 0.10

/* Times of n runs. n 0: run times are not known, and the times are NAN. */
struct oc_run_spread {
    uint32_t n;
    double min_ns, p25_ns, median_ns, p75_ns, max_ns;
    /* 95 % confidence interval of the median, distribution-free (order statistics); below 6 runs no interval
     * reaches 95 %, and these are min_ns and max_ns */
    double low_ns, high_ns;
    uint32_t shapes;   /* different sets of shapes in the runs; above 1 their times differ by their work */
    uint32_t outliers; /* runs more than three interquartile ranges outside the quartiles */
};

/* Sorts the n values. */
void oc_run_spread_of(double *ns, size_t n, struct oc_run_spread *out);

/* Interquartile range / median. NAN below two runs. */
double oc_run_spread_share(const struct oc_run_spread *s);
/* Half of the confidence interval of the median / median. NAN below two runs. */
double oc_run_spread_error(const struct oc_run_spread *s);
bool oc_run_spread_noisy(const struct oc_run_spread *s);

/* The statistic for the wanted one: OC_STAT_AUTO becomes the minimum where the runs are noisy, else the
 * median. Noisy runs are reported as W-noisy-runs. Runs with different shapes have a mean or a sum only, as
 * their work has. */
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

/* Statistic per used run: of the runs with a value; mean and median count the other runs in proportion, so
 * that the values of several quantities can be added. NAN: none. */
double oc_run_sums_stat(struct oc_run_sums *s, enum oc_stat stat, uint32_t runs_used);

/* Sets median, minimum, maximum and percentiles of a record; without runs only the median, unknown. */
void oc_run_sums_quantiles(struct oc_run_sums *s, struct oc_prof_rec *rec);
/* Also the number of runs and the chosen statistic (time_ns). */
void oc_run_sums_store(struct oc_run_sums *s, enum oc_stat stat, uint32_t runs_used, struct oc_prof_rec *rec);

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
