#include "profile/core/run_sums.h"

#include <math.h>
#include <stdlib.h>

#include "profile/core/quantiles.h"

void oc_run_sums_init(struct oc_run_sums *s, size_t n_run)
{
    *s = (struct oc_run_sums){.sum = oc_xcalloc(n_run, sizeof(double)),
                              .value = oc_xcalloc(n_run, sizeof(double)),
                              .scratch = oc_xcalloc(n_run, sizeof(double)),
                              .touched = oc_xcalloc(n_run, sizeof(uint32_t)),
                              .seen = oc_xcalloc(n_run, 1)};
}

void oc_run_sums_free(struct oc_run_sums *s)
{
    free(s->sum);
    free(s->value);
    free(s->scratch);
    free(s->touched);
    free(s->seen);
}

void oc_run_sums_clear(struct oc_run_sums *s)
{
    for (uint32_t i = 0; i < s->n; i++)
        s->seen[s->touched[i]] = 0;
    s->n = 0;
}

static void run_sums_collect(struct oc_run_sums *s)
{
    for (uint32_t i = 0; i < s->n; i++)
        s->value[i] = s->sum[s->touched[i]];
}

/* A median is that of the runs with a value; the rest count as shares of it, so that medians of records that
 * appear in few runs (shapes that change) add up to the time of a run. */
static double of_all_runs(const struct oc_run_sums *s, double median_ns, uint32_t runs_used)
{
    return s->n < runs_used ? median_ns * s->n / runs_used : median_ns;
}

double oc_run_sums_stat(struct oc_run_sums *s, enum oc_stat stat, uint32_t runs_used)
{
    if (!s->n)
        return (double)NAN;
    run_sums_collect(s);
    if (stat == OC_STAT_MEDIAN)
        return of_all_runs(s, oc_median_of(s->value, s->n, s->scratch), runs_used);
    if (stat == OC_STAT_MEAN)
        return oc_stat_of(OC_STAT_SUM, s->value, s->n) / (double)runs_used;
    return oc_stat_of(stat, s->value, s->n);
}

void oc_run_sums_tell(struct oc_run_sums *s, enum oc_stat stat, uint32_t runs_used, struct oc_prof_rec *rec)
{
    struct oc_quantiles q;
    rec->runs = s->n;
    rec->median_ns = (double)NAN;
    if (!s->n)
        return;
    run_sums_collect(s);
    oc_quantiles_of(s->value, s->n, s->scratch, &q);
    rec->min_ns = q.min;
    rec->p10_ns = q.p10;
    rec->median_ns = q.median;
    rec->p90_ns = q.p90;
    rec->max_ns = q.max;
    rec->time_ns = stat == OC_STAT_MEDIAN ? of_all_runs(s, q.median, runs_used)
                   : stat == OC_STAT_MIN  ? q.min
                   : stat == OC_STAT_MAX  ? q.max
                                          : oc_run_sums_stat(s, stat, runs_used);
}

void oc_run_sums_spread(struct oc_run_sums *s, struct oc_run_spread *out)
{
    run_sums_collect(s);
    oc_run_spread_of(s->value, s->n, out);
}

double oc_run_sums_total(const struct oc_run_sums *s)
{
    double total_ns = 0;
    for (uint32_t i = 0; i < s->n; i++)
        total_ns += s->sum[s->touched[i]];
    return total_ns;
}
