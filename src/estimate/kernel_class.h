/* Class of kernels of an operator, by its row in the operator tables. */
#ifndef OC_KERNEL_CLASS_H
#define OC_KERNEL_CLASS_H

#include "estimate/kernel.h"
#include "ops/op.h"

/* Contractions get their class without special sizes: OC_KC_GEMM, OC_KC_CONV_KXK, OC_KC_ATTENTION_PREFILL;
 * kernel_dims.h refines these. NULL, an operator without a row: OC_KC_OTHER. */
unsigned oc_kernel_class_of_op(const struct oc_op *op);

#endif
