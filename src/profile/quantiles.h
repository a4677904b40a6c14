/* Values at a few places in order of size, out of many and without sorting them all: one value of each run of
 * each record makes millions. */
#ifndef OC_QUANTILES_H
#define OC_QUANTILES_H

#include <stddef.h>

struct oc_quantiles {
    double min, p10, median, p90, max;
};

/* Of n >= 1 values, none of them NAN. Moves the values; scratch has room for as many. The percentiles are
 * those of oc_percentile_of. */
void oc_quantiles_of(double *v, size_t n, double *scratch, struct oc_quantiles *out);
double oc_median_of(double *v, size_t n, double *scratch);

/* Insertion: for some dozens. */
void oc_sort_few(double *v, size_t n);

#endif
