/* Measured zeros of weights. */
#ifndef OC_SPARSITY_H
#define OC_SPARSITY_H

#include "analyze/analysis.h"
#include "onnxcost/sparsity.h"

struct oc_sparsity {
    struct oc_arena arena;
    const struct oc_analysis *a;
    struct oc_sparsity_info info;
    struct oc_sparsity_row *row; /* heap */
    uint32_t n_row, cap_row;
};

#endif
