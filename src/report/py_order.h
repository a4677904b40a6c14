/* Stable sort by a number with exactly the result of Python's list.sort, even if nan makes the order partial
 * (comparisons with nan are false, so the result depends on which pairs are compared).
 */
#ifndef OC_PY_ORDER_H
#define OC_PY_ORDER_H

#include <stdint.h>

/* order[0..n) becomes a permutation of 0..n-1 that sorts key[] in ascending order. */
void oc_order_by(const double *key, uint32_t n, uint32_t *order);

#endif
