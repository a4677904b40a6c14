/* The structures of the handles in onnxcost/bounds.h, sparsity.h and training.h: results that are
 * computed from analyses and written by a command of their own. */
#ifndef OC_HANDLES_H
#define OC_HANDLES_H

#include "analyze/analysis.h"
#include "analyze/liveness.h"
#include "onnxcost/bounds.h"
#include "onnxcost/sparsity.h"
#include "onnxcost/training.h"

/* Proven intervals over ranges of dimensions. */
struct oc_bounds {
    struct oc_arena arena;
    const struct oc_model *model;
    const struct oc_range_bind *range; /* copies */
    size_t n_range;
    struct oc_range_bound bound[OC_RANGE_COUNT];
    uint32_t analyses, boxes,
        without_figures; /* without_figures: sizes evaluated that the model does not allow */
};

/* Measured zeros of weights. */
struct oc_sparsity {
    struct oc_arena arena;
    const struct oc_analysis *a;
    struct oc_sparsity_info info;
    struct oc_sparsity_row *row; /* heap */
    uint32_t n_row, cap_row;
};

/* A training step. */
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

/* sum += v, checked: t->overflow. */
void oc_training_sum(struct oc_training *t, uint64_t *sum, uint64_t v);

#endif
