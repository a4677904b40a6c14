/* Mean costs over analyses of one model with different sizes. */
#ifndef OC_MEAN_COST_H
#define OC_MEAN_COST_H

#include "analyze/analysis.h"

struct oc_cost_sums;
struct oc_cost_sums *oc_cost_sums_new(const struct oc_model *m);
/* Adds the costs of `runs` runs. */
void oc_cost_sums_add(struct oc_cost_sums *s, const struct oc_analysis *a, uint64_t runs);
/* Replaces the costs of the nodes and the totals by the means over the runs, rounded to whole numbers, and
 * the peak by the highest one. Types and values stay. */
void oc_cost_sums_apply(const struct oc_cost_sums *s, struct oc_analysis *a);
void oc_cost_sums_free(struct oc_cost_sums *s);

/* sum / runs, rounded. */
static inline uint64_t oc_mean_count(uint64_t sum, uint64_t runs)
{
    return sum / runs + (sum % runs >= runs - runs / 2);
}

#endif
