/* What the operators of other frameworks are in ONNX: a table, one row for each set of names that mean the
 * same. Sets of types stand between blanks: " Conv ConvTranspose ". */
#ifndef OC_TYPE_SETS_H
#define OC_TYPE_SETS_H

#include "base/arena.h"

struct oc_source_type {
    const char *core; /* ONNX types of which one is what the record mainly is */
    const char *as;   /* type of ONNX Runtime whose fusion it resembles (match_group.c), NULL: nothing more */
    const char *member; /* types that may stand around the core, NULL: as `as` says */
};

/* Looks up the operator type of a record or, where that says nothing, its name, without what tools put around
 * it ("conv2d dygraph", "Default/network/Conv2D-op12", "tvmgen_default_fused_nn_conv2d_add_nn_relu_3").
 * False: not in the table. Texts are static or from the arena. */
bool oc_source_type(const char *op_type, const char *name, struct oc_arena *a, struct oc_source_type *out);

/* Does the set have the type? */
bool oc_type_set_has(const char *set, const char *type);

#endif
