/* Stable sorting by a number, with the outcome of Python's list.sort: the same where a nan makes the order
 * partial (nan is neither below nor above anything, so what comes out depends on which pairs are compared).
 */
#ifndef OC_PY_ORDER_H
#define OC_PY_ORDER_H

#include <stdint.h>

/* order[0..n) becomes a permutation of 0..n-1 that puts key[] ascending. */
void oc_order_by(const double *key, uint32_t n, uint32_t *order);

#endif
