/* Class of kernels of an operator, by its row in the operator tables. */
#ifndef OC_KERNEL_CLASS_H
#define OC_KERNEL_CLASS_H

#include "analyze/analysis.h"
#include "estimate/kernel.h"
#include "ops/op.h"

/* Contractions get their class without special sizes: OC_KC_GEMM, OC_KC_CONV_KXK, OC_KC_ATTENTION_PREFILL;
 * kernel_class.h refines these. NULL, an operator without a row: OC_KC_OTHER. */
unsigned oc_kernel_class_of_op(const struct oc_op *op);

/* ---- sizes ------------------------------------------------------------------------------------------ */

/* Sizes of a kernel from its main node: the contraction, the window, and the class refined by them. */

/* k->cls is that of the operator (kernel_class.h) and is refined; m, n, k, batch, the window and channels_in
 * are set, 0 for unknown sizes. For one execution of the node. */
void oc_kernel_dims(const struct oc_model *m, const struct oc_analysis *a, uint32_t node,
                    struct oc_kernel *k);

#endif
