/* Types as profilers write them: names of element types, dimensions in text and in JSON. */
#ifndef OC_RECORDED_TYPES_H
#define OC_RECORDED_TYPES_H

#include "base/json_read.h"
#include "base/map.h"
#include "shape/type.h"

/* "1,3,224,224" or "1x3x224x224": dims with any separator but a digit. False: not a shape. */
bool oc_recorded_shape(struct oc_arena *a, struct oc_str text, unsigned dtype, struct oc_type *out);
/* Names of types of oneDNN, Ascend and ONNX Runtime Web: "f32", "DT_FLOAT16", "float32", "s8" ... */
unsigned oc_recorded_dtype(struct oc_str name);

/* A list of dimensions; *out is unranked if one of them is unknown. False: not a list. */
bool oc_recorded_dims(struct oc_json *j, struct oc_arena *a, struct oc_shape *out);

/* PyTorch: "[[1, 3, 224, 224], [64], []]", one tensor of unknown type per list. NULL: not such a text. */
const struct oc_type *oc_recorded_sizes(struct oc_arena *a, struct oc_str text, uint32_t *n);

/* PyTorch's profiler: "Input Dims" [[8,3,224,224],[],[]] and "Input type" ["float","Scalar",""], which may be
 * empty. One type per argument, in the arena; arguments that are not tensors are OC_T_NONE. */
const struct oc_type *oc_kineto_types(struct oc_arena *a, struct oc_str dims, struct oc_str types,
                                      uint32_t *n);

/* ---- operator names ----------------------------------------------------------------------------------- */

/* Names of the nodes of a model, for importers: an annotation with such a name is the operator, and what runs inside
 * it are its parts. The number of its products shows how many runs a recording has. join/operator_names.c makes them: importers never see a model. */

#define OC_PRODUCT_TYPES " Conv ConvTranspose Gemm MatMul "

struct oc_operator_names {
    struct oc_arena arena;
    struct oc_map of;   /* name to the index in type; the keys are texts of the model */
    const char **type;  /* operator types, likewise; NULL: several nodes have the name */
    uint32_t n_product; /* nodes of OC_PRODUCT_TYPES */
};

/* The operator type of the only node with that name, NULL. */
static inline const char *oc_operator_type_named(const struct oc_operator_names *names, const char *name,
                                                 size_t n)
{
    uint32_t i = oc_map_get(&names->of, name, n);
    return i == OC_NONE ? NULL : names->type[i];
}

#endif
