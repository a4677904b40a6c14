/* Gradients of operators: the work of the backward pass and what of the forward pass it needs, from the
 * derivative of each operator. Independent of graphs: the caller says for which inputs a gradient is wanted.
 */
#ifndef OC_GRADIENT_H
#define OC_GRADIENT_H

#include "ops/op.h"

struct oc_gradient {
    uint64_t hist[OC_PRIM_COUNT];    /* of the backward pass; float work */
    uint64_t forward[OC_PRIM_COUNT]; /* that training adds to the forward pass: statistics of the batch */
    uint32_t save_in, save_out;      /* slots whose values the gradient reads, as bits */
    uint64_t extra_bytes;            /* saved in addition: masks, indices, statistics, gates */
    const char *assumption;          /* NULL: exact */
};

/* Whether a gradient can pass from the outputs of the node to the input: it has real numbers that decide the
 * output. True for operators without a rule. */
bool oc_gradient_passes(const struct oc_op *op, unsigned slot, const struct oc_type *in,
                        const struct oc_type *out);

/* The gradient with respect to the inputs with wants[slot]; `forward` is the cost of the node. False: the
 * operator has no rule. Overflow and unknown sizes are marked in the context. */
bool oc_gradient_of(struct oc_op_ctx *c, const struct oc_cost *forward, const bool *wants,
                    struct oc_gradient *out);

/* Work of one step of an optimizer ("sgd", "momentum", "adam") for one parameter, and the numbers that it
 * keeps for each. NULL: unknown name. */
const struct oc_prims *oc_optimizer_step(const char *name, unsigned *n_state);

#endif
