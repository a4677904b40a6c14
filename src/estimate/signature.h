/* A number that equal kernels have in common: class, element type, sizes, attributes that decide the work,
 * bytes and what is fused behind it. The same for a node of the model and for what an optimizer made of it,
 * where both do the same work. Stored in files of calibrations: a change of it is a change of their format.
 */
#ifndef OC_SIGNATURE_H
#define OC_SIGNATURE_H

#include "analyze/analysis.h"
#include "estimate/kernel.h"

/* All members of the kernel but `signature` and `label` are set. `type`: see oc_kernel_make. Never 0. */
uint64_t oc_kernel_signature(const struct oc_model *m, const struct oc_analysis *a, const struct oc_kernel *k,
                             const uint32_t *node, uint32_t n_node, const char *type);
/* Of one that no node of the model stands for. */
uint64_t oc_kernel_signature_inserted(const struct oc_kernel *k, const char *type);

#endif
