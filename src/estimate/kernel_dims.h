/* Sizes of a kernel from its main node: the contraction, the window, and the class refined by them. */
#ifndef OC_KERNEL_DIMS_H
#define OC_KERNEL_DIMS_H

#include "analyze/analysis.h"
#include "estimate/kernel.h"

/* k->cls is that of the operator (kernel_class.h) and is refined; m, n, k, batch, the window and channels_in
 * are set, 0 for unknown sizes. For one execution of the node. */
void oc_kernel_dims(const struct oc_model *m, const struct oc_analysis *a, uint32_t node,
                    struct oc_kernel *k);

#endif
