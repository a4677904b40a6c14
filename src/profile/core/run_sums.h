/* Sums of one quantity per run, for statistics over the runs of a timeline. */
#ifndef OC_RUN_SUMS_H
#define OC_RUN_SUMS_H

#include "profile/profile.h"

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

/* Sets number of runs, median, minimum, maximum, percentiles and chosen statistic (time_ns) of a record.
 * Without runs only their number and the median. */
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
