/* Sizes of tensors that ONNX Runtime has when it loads a model: numbers and names. It reuses memory only
 * between tensors of equal ones. */
#ifndef OC_ORT_SIZES_H
#define OC_ORT_SIZES_H

#include "analyze/analysis.h"

/* An analysis without sizes for the model's names, whose shapes are those of the runtime. NULL: none. */
struct oc_analysis *oc_ort_analyze(const struct oc_model *m, const struct oc_op_rules *rules);

struct oc_ort_shapes {
    const struct oc_analysis *open; /* of oc_ort_analyze */
    bool *named;                    /* by expression of `open`: a name of the model; heap */
    uint32_t n_named;
};
void oc_ort_shapes_init(struct oc_ort_shapes *s, const struct oc_analysis *open);
void oc_ort_shapes_free(struct oc_ort_shapes *s);
/* Whether each of its sizes has a number or a name. */
bool oc_ort_has_sizes(const struct oc_ort_shapes *s, uint32_t value);
bool oc_ort_same_size(const struct oc_ort_shapes *s, uint32_t x, uint32_t y);

/* The runtime stores it as an initializer. */
bool oc_ort_is_initializer(const struct oc_model *m, uint32_t value);

#endif
