/* Nodes that ONNX Runtime creates when it expands calls of functions (expansion.c). Private to join/. */
#ifndef OC_EXPANSION_H
#define OC_EXPANSION_H

#include "base/arena.h"
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

/* When nodes of a graph can run, by node: after the nodes before it and before those after it, of which start_ns (by
 * node, NAN: not known) says when they ran. `whole`: the node at once; else nodes of its body: after the first of
 * its inputs, before the last use of its outputs. */
struct oc_when {
    double from_ns, to_ns;
};
struct oc_when *oc_when_new(const struct oc_matcher *x); /* by node; arena */
void oc_when_find(const struct oc_matcher *x, uint32_t graph, const double *start_ns, bool whole,
                  struct oc_when *node);

/* The block that contains the index, NULL: none, or not sure. */
const struct oc_block *oc_expansion_at(const struct oc_expansion *e, int64_t index);

/* ---- type sets ---------------------------------------------------------------------------------------- */

/* Maps operator types of other frameworks to ONNX types: a table with one row per set of synonyms. Sets of
 * types are separated and enclosed by blanks: " Conv ConvTranspose ". */

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

/* ---- engine layers ------------------------------------------------------------------------------------ */

/* Layers of TensorRT engines: their nodes, and their cost from the information that the engine gives. */

/* Whether the record is a layer of TensorRT with recorded tensors. */
bool oc_engine_has_layers(const struct oc_profile *p, const struct oc_prof_rec *rec);

/* Whether the profile has layer information with tensors. */
bool oc_engine_is_detailed(const struct oc_profile *p);

/* Replaces the counts of the model in r by those of the engine's layer information: operations, bytes,
 * element types and batch of the engine. What it does not determine is the model's count for the engine's
 * batch, or unknown. False: the record has no layer information, or no known shapes; r is unchanged. */
bool oc_engine_cost(const struct oc_join *j, const struct oc_prof_rec *rec, struct oc_join_rec *r);

/* Whether the two shapes differ in the first dimension only: batch[0] is recorded, batch[1] the model's. */
bool oc_other_batch(const struct oc_type *recorded, const struct oc_type *model, int64_t batch[2]);

#endif
