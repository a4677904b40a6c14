/* Hash of a kernel: class, element type, sizes, attributes that determine the work, bytes and fused
 * operators. Equal for a node of the model and for its optimized form if both do the same work. Stored in
 * calibration files: a change of the hash is a change of their format.
 */
#ifndef OC_SIGNATURE_H
#define OC_SIGNATURE_H

#include "analyze/analysis.h"
#include "estimate/kernel.h"

/* All members of the kernel but `signature` and `label` are set. `type`: see oc_kernel_make. Never 0. */
uint64_t oc_kernel_signature(const struct oc_model *m, const struct oc_analysis *a, const struct oc_kernel *k,
                             const uint32_t *node, uint32_t n_node, const char *type);
/* Of a kernel without a node in the model. */
uint64_t oc_kernel_signature_inserted(const struct oc_kernel *k, const char *type);

#endif
