/* Helpers of fold rules: element-wise operations on small values. */
#ifndef OC_FOLD_H
#define OC_FOLD_H

#include "ops/elem.h"
#include "ops/op.h"

/* Number of elements if the shape is known and not above OC_MAX_DATA. */
bool oc_fold_count(const struct oc_shape *s, uint32_t *n);

/* Computes one element of the result from one element of each input (n of them). */
typedef struct oc_elem oc_fold_fn(struct oc_op_ctx *c, const struct oc_elem *const *in, unsigned n);

/* Sets out 0 to fn over all inputs, broadcast to the shape of out 0. An input without a value gives
 * OC_E_UNKNOWN elements; does nothing when no input has a value. */
void oc_fold_broadcast(struct oc_op_ctx *c, oc_fold_fn *fn);

#endif
