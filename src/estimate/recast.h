/* The same work in another data type, for "what if this ran in fp16": which arithmetic changes its class and
 * what tensors weigh then. Bytes are whole numbers: those of tensors of less than a byte an element rounded
 * up, those of an operator that moves parts of its tensors, as Gather does, rounded down.
 *
 *  fp16, bf16   every float tensor takes 16 bits; float arithmetic is done in that class, but for
 *               normalisations, softmax, reductions and transcendental functions, which stay as they are
 *  fp8, int8, int4   convolutions and matrix products multiply in that class and move tensors of that width,
 *               biases apart; copies, pooling, resizing and element-wise operators without transcendental
 *               functions move such tensors too, their arithmetic stays; the rest (normalisations, softmax,
 *               reductions, attention, recurrent ...) stays as it is
 *  ...-weights  only the weights of convolutions and matrix products shrink; the arithmetic stays
 *
 * Scales and zero points are not counted, nor is converting between types. What is not float, or as narrow
 * already, stays. */
#ifndef OC_RECAST_H
#define OC_RECAST_H

#include "analyze/analysis.h"
#include "estimate/roofline.h"

struct oc_recast {
    const char *name; /* "fp16" */
    uint8_t cls, bits;
    bool weights_only;
    const char *note; /* what stays, for people */
};
const struct oc_recast *oc_recast_by_name(const char *name); /* NULL: none */
const char *oc_recast_name(size_t i);                        /* NULL past the end */

/* Of nodes: operations in the other type, and the bytes of their tensors before and after. */
struct oc_recasting {
    struct oc_work work;          /* operations alone */
    uint64_t before[3], after[3]; /* activations read, constants read, written */
};
/* Adds nodes that are one launch: of narrow types, one that has a convolution or product moves narrow tensors
 * altogether, one that has not and has a member that stays, stays. */
void oc_recast_add(const struct oc_recast *to, const struct oc_analysis *a, const uint32_t *node, uint32_t n,
                   struct oc_recasting *sum);
/* *work, whose nodes have all been added, in the other type. Bytes change as their tensors do. */
void oc_recast_finish(const struct oc_recasting *sum, struct oc_work *work);

#endif
