/* The structures of the handles in onnxcost/bounds.h, energy.h and sparsity.h: results that are computed from
 * analyses and written by a command of their own. */
#ifndef OC_HANDLES_H
#define OC_HANDLES_H

#include "analyze/analysis.h"
#include "onnxcost/bounds.h"
#include "onnxcost/energy.h"
#include "onnxcost/sparsity.h"

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

/* Energy of arithmetic and DRAM traffic. */
struct oc_energy {
    struct oc_arena arena;
    const struct oc_analysis *a;
    struct oc_energy_info info;
    struct oc_energy_row *row; /* heap */
    uint32_t n_row, cap_row;
};

/* Measured zeros of weights. */
struct oc_sparsity {
    struct oc_arena arena;
    const struct oc_analysis *a;
    struct oc_sparsity_info info;
    struct oc_sparsity_row *row; /* heap */
    uint32_t n_row, cap_row;
};

#endif
