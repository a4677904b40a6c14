/* Maps operator types of other frameworks to ONNX types: a table with one row per set of synonyms. Sets of
 * types are separated and enclosed by blanks: " Conv ConvTranspose ". */
#ifndef OC_TYPE_SETS_H
#define OC_TYPE_SETS_H

#include "base/arena.h"

struct oc_source_type {
    const char *core;   /* ONNX types; the core of the record is one of them */
    const char *as;     /* ONNX Runtime type with the same fusion pattern (match_group.c), NULL: none */
    const char *member; /* types that may be fused around the core, NULL: as for `as` */
};

/* Looks up the operator type of a record or, if that is not in the table, its name without the decoration
 * of tools ("conv2d dygraph", "Default/network/Conv2D-op12",
 * "tvmgen_default_fused_nn_conv2d_add_nn_relu_3"). False: not in the table. Texts are static or allocated
 * in the arena. */
bool oc_source_type(const char *op_type, const char *name, struct oc_arena *a, struct oc_source_type *out);

/* Whether the set contains the type. */
bool oc_type_set_has(const char *set, const char *type);
bool oc_type_set_has_product(const char *set); /* a convolution or matrix product */

#endif
