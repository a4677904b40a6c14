/* ONNX Runtime's allocation planner for a sequential run: tensors whose sizes are known when the model is
 * loaded are written over an input that dies, or take the memory of a dead tensor of the same shape, which is
 * kept until then. (core/framework/allocation_planner.cc: FindReusableInput, FindReusableTensor.) */
#ifndef OC_ORT_REUSE_H
#define OC_ORT_REUSE_H

#include "analyze/lives.h"

/* Shapes available to the runtime: those of inputs, and those inferred from them through operators with
 * constant shape arguments, as numbers and names. */
struct oc_ort_shapes {
    const struct oc_analysis
        *open;      /* analysis of the same model without bound symbols (no_defaults, no_fold) */
    bool *inferred; /* by value: the runtime infers its shape; heap */
    bool *named;    /* by expression of `open`: a dimension's name; heap */
    uint32_t n_named;
};
void oc_ort_shapes_init(struct oc_ort_shapes *s, const struct oc_analysis *open);
void oc_ort_shapes_free(struct oc_ort_shapes *s);

/* into[i]: the buffer of `l` whose memory buffer i reuses, i for its own memory; n_life of them. The steps
 * must be in the runtime's order, with `all`. Uses the shapes of the graph's values. */
void oc_ort_reuse(const struct oc_lives *l, struct oc_ort_shapes *s, uint32_t *into);

#endif
