/* Names of the nodes of a model, for importers: an annotation with such a name is the operator, and what runs inside
 * it are its parts. The number of its products shows how many runs a recording has. join/operator_names.c makes them: importers never see a model. */
#ifndef OC_OPERATOR_NAMES_H
#define OC_OPERATOR_NAMES_H

#include "base/map.h"

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
