#include "profile/run_sums.h"

#include <math.h>
#include <stdlib.h>

void oc_run_sums_init(struct oc_run_sums *s, size_t n_run)
{
    *s = (struct oc_run_sums){.sum = oc_xcalloc(n_run, sizeof(double)),
                              .value = oc_xcalloc(n_run, sizeof(double)),
                              .touched = oc_xcalloc(n_run, sizeof(uint32_t)),
                              .seen = oc_xcalloc(n_run, 1)};
}

void oc_run_sums_free(struct oc_run_sums *s)
{
    free(s->sum);
    free(s->value);
    free(s->touched);
    free(s->seen);
}

void oc_run_sums_clear(struct oc_run_sums *s)
{
    for (uint32_t i = 0; i < s->n; i++)
        s->seen[s->touched[i]] = 0;
    s->n = 0;
}

double oc_run_sums_stat(struct oc_run_sums *s, enum oc_stat stat, uint32_t runs_used)
{
    for (uint32_t i = 0; i < s->n; i++)
        s->value[i] = s->sum[s->touched[i]];
    if (!s->n)
        return (double)NAN;
    if (stat == OC_STAT_MEAN)
        return oc_stat_of(OC_STAT_SUM, s->value, s->n) / (double)runs_used;
    return oc_stat_of(stat, s->value, s->n);
}
