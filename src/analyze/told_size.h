/* Sizes of a model's inputs that its own constants imply. */
#ifndef OC_TOLD_SIZE_H
#define OC_TOLD_SIZE_H

#include "model/model.h"

/* Size of an open dimension of a graph input that the weights of the operators which read the input require
 * (channels of Conv, rows of MatMul, the shape of a Reshape ...), also after operators that keep the shape.
 * 0: nothing implies one. *by: the operator. O(nodes of the main graph). */
int64_t oc_told_size(const struct oc_model *m, uint32_t value, unsigned axis, const char **by,
                     struct oc_arena *scratch);

#endif
