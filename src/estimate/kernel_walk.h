/* Memory access pattern and functions of a kernel: they determine the speed of equal bytes and operations. */
#ifndef OC_KERNEL_WALK_H
#define OC_KERNEL_WALK_H

#include "analyze/analysis.h"
#include "estimate/kernel.h"

/* Sets run and function of the kernel from its main node. */
void oc_kernel_walk(const struct oc_model *m, const struct oc_analysis *a, uint32_t node,
                    struct oc_kernel *k);

#endif
