/* Shapes and types in the notation of PyTorch's profiler: "Input Dims": [[8,3,224,224],[],[]] and "Input
 * type": ["float","Scalar",""]. */
#ifndef OC_KINETO_TYPES_H
#define OC_KINETO_TYPES_H

#include "base/json_read.h"
#include "shape/type.h"

/* One type per argument, in the arena; arguments that are not tensors are OC_T_NONE. `types` may be empty. */
const struct oc_type *oc_kineto_types(struct oc_arena *a, struct oc_str dims, struct oc_str types,
                                      uint32_t *n);

/* Whether the cost of the operator depends on values ("Concrete Inputs"): strides, masks, reduced dims. */
bool oc_kineto_needs_values(struct oc_str name);

#endif
