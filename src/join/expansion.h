/* Nodes that ONNX Runtime creates when it expands calls of functions (expansion.c). Private to join/. */
#ifndef OC_EXPANSION_H
#define OC_EXPANSION_H

#include "join/join.h"

/* Consecutive node indexes of the runtime: one node of the model, or the body of a function operator. */
struct oc_block {
    uint32_t node;  /* of the model; OC_NONE: nodes that the runtime created for other purposes */
    uint32_t body;  /* the body's form, OC_NONE: the node itself */
    int64_t first;  /* index of its first node */
    uint32_t n;     /* number of indexes */
    uint32_t depth; /* 0: the node itself, 1: its body, 2: bodies of functions in its body ... */
    bool expanded;  /* has a body: it does not run itself */
};

struct oc_expansion {       /* of one graph */
    struct oc_block *block; /* by index, heap */
    size_t n, cap;
    const bool *unsure; /* by index: several explanations are equally good */
    int64_t n_unsure;
};

/* Expands the graph. `unnamed`: its records named <OpType>_<index>; start_ns: by node, when it ran, NAN: not
 * recorded. */
void oc_expand_graph(struct oc_matcher *x, uint32_t graph, const uint32_t *unnamed, size_t n_unnamed,
                     const double *start_ns, struct oc_expansion *out);

/* The block that contains the index, NULL: none, or not sure. */
const struct oc_block *oc_expansion_at(const struct oc_expansion *e, int64_t index);

#endif
