/* Proven intervals over ranges of dimensions. */
#ifndef OC_BOUNDS_H
#define OC_BOUNDS_H

#include "analyze/analysis.h"
#include "onnxcost/bounds.h"

struct oc_bounds {
    struct oc_arena arena;
    const struct oc_model *model;
    const struct oc_range_bind *range; /* copies */
    size_t n_range;
    struct oc_range_bound bound[OC_RANGE_COUNT];
    uint32_t analyses, boxes,
        without_figures; /* without_figures: sizes evaluated that the model does not allow */
};

#endif
