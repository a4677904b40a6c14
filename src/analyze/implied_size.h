/* Sizes of a model's inputs that its own constants imply. */
#ifndef OC_IMPLIED_SIZE_H
#define OC_IMPLIED_SIZE_H

#include "model/model.h"

/* Nodes of the main graph by the value in their first slot, as lists. */
struct oc_first_readers {
    uint32_t *first; /* by value: position of a node in the graph, OC_NONE */
    uint32_t *next;  /* by position: another node that reads the same value, OC_NONE */
    uint32_t *stack; /* scratch for a traversal */
};
void oc_first_readers_make(struct oc_first_readers *r, const struct oc_model *m, struct oc_arena *a);

/* Size of an open dimension of a graph input that the weights of the operators which read the input require
 * (channels of Conv, rows of MatMul, the shape of a Reshape ...), also after operators that keep the shape.
 * 0: nothing implies one. *by: the first such operator. O(nodes that the traversal reaches): a node has one
 * first input, so all inputs together are linear in the nodes. */
int64_t oc_implied_size(const struct oc_model *m, const struct oc_first_readers *r, uint32_t value,
                        unsigned axis, const char **by);

#endif
