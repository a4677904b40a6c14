/* Selects a few order statistics without sorting: one value per run and record makes millions of values. */
#ifndef OC_QUANTILES_H
#define OC_QUANTILES_H

#include <stddef.h>

struct oc_quantiles {
    double min, p10, median, p90, max;
};

/* n >= 1 values, no NAN. Reorders the values; scratch must hold n values. Percentiles as in
 * oc_percentile_of. */
void oc_quantiles_of(double *v, size_t n, double *scratch, struct oc_quantiles *out);
double oc_median_of(double *v, size_t n, double *scratch);

/* Insertion sort, for tens of values. */
void oc_sort_few(double *v, size_t n);

#endif
