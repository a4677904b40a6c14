/* A training step: which values have gradients, what the backward pass of each node costs, which activations
 * it keeps (training.c), and the memory of the step (training_memory.c). */
#ifndef OC_TRAINING_H
#define OC_TRAINING_H

#include "analyze/liveness.h"
#include "onnxcost/training.h"

struct oc_training {
    struct oc_arena arena;
    const struct oc_analysis *a;
    struct oc_training_info info;
    size_t top;
    unsigned width_chars;
    struct oc_training_node *node; /* by step */
    struct oc_liveness *liveness;  /* of the forward pass */
    uint64_t *extra;               /* by step: bytes saved in addition to values */
    uint32_t *needed;              /* by buffer: first step whose gradient reads it; OC_NONE: none does */
    uint32_t *grad_last;           /* by buffer: last step that adds to its gradient; OC_NONE: it has none */
    bool overflow;
};

/* training_memory.c: peak_bytes, saved_bytes, `recompute` and the quality of the info; saved_bytes of the
 * nodes. */
void oc_training_memory(struct oc_training *t);
void oc_training_sum(struct oc_training *t, uint64_t *sum, uint64_t v); /* checked */

#endif
