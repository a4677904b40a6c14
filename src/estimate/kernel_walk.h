/* How a kernel walks through memory, and what functions it computes: sizes that decide how fast the same
 * bytes and operations go. */
#ifndef OC_KERNEL_WALK_H
#define OC_KERNEL_WALK_H

#include "analyze/analysis.h"
#include "estimate/kernel.h"

/* Sets run and function of the kernel from the node that gives it its class. */
void oc_kernel_walk(const struct oc_model *m, const struct oc_analysis *a, uint32_t node,
                    struct oc_kernel *k);

#endif
