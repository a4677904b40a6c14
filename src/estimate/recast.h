/* Converts work to another data type, for what-if questions such as "run this in fp16": changes the
 * arithmetic class and the sizes of tensors. Bytes are integers: for tensors with less than a byte per
 * element rounded up, for operators that move parts of their tensors, such as Gather, rounded down.
 *
 *  fp16, bf16       every float tensor takes 16 bits; float arithmetic is in that class, except
 *                   normalisations, softmax, reductions and transcendental functions
 *  fp8, int8, int4  convolutions and matrix products multiply in that class and move tensors of that
 *                   width, except biases; copies, pooling, resizing and element-wise operators
 *                   without transcendental functions also move such tensors, with unchanged
 *                   arithmetic; all others (attention, recurrent ...) are unchanged
 *  ...-weights      only the weights of convolutions and matrix products shrink
 *
 * Scales, zero points and type conversions are not counted. Tensors that are not float, or already as
 * narrow, are unchanged. */
#ifndef OC_RECAST_H
#define OC_RECAST_H

#include "analyze/analysis.h"
#include "estimate/kernels.h"
#include "estimate/roofline.h"

struct oc_recast {
    const char *name; /* "fp16" */
    uint8_t cls, bits;
    bool weights_only;
    const char *note; /* description of what is unchanged */
};
const struct oc_recast *oc_recast_by_name(const char *name); /* NULL: none */
const char *oc_recast_name(size_t i);                        /* NULL past the end */
int oc_recast_unknown(const char *name, struct oc_err *err); /* fails: --as has no such type */

/* Whether a node alone is converted. */
bool oc_recast_changes(const struct oc_recast *to, const struct oc_node_cost *cost);

/* Of nodes: operations in the other type, and the bytes of their tensors before and after. */
struct oc_recasting {
    struct oc_work work;          /* operations only */
    uint64_t before[3], after[3]; /* activations read, constants read, written */
};
/* Adds nodes of one launch: for narrow types, a launch with a convolution or product has only narrow tensors;
 * one without, and with an unchanged member, is unchanged. */
void oc_recast_add(const struct oc_recast *to, const struct oc_analysis *a, const uint32_t *node, uint32_t n,
                   struct oc_recasting *sum);
/* Converts work, whose nodes have all been added, to the other type. Bytes scale with their tensors. */
void oc_recast_finish(const struct oc_recasting *sum, struct oc_work *work);
/* Converts the work of one execution of a kernel. */
void oc_recast_kernel(const struct oc_recast *to, const struct oc_analysis *a, const struct oc_kernel_use *u,
                      struct oc_work *work);
/* Adds the work of a node, converted unless `to` is NULL. */
void oc_recast_sum(const struct oc_recast *to, const struct oc_analysis *a, uint32_t node,
                   struct oc_work *sum);

#endif
