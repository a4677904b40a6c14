/* Private to bound.c and bound_tensors.c: what a lower bound needs of each tensor, whatever the type of the work. */
#ifndef OC_BOUND_TENSORS_H
#define OC_BOUND_TENSORS_H

#include "base/ck.h"
#include "estimate/bound.h"
#include "estimate/kernels.h"

struct oc_node_work;

struct oc_bound_maker {
    const struct oc_model *m;
    const struct oc_analysis *a;
    const struct oc_recast *as; /* NULL: none */
    struct oc_arena *arena;
    uint32_t *source;  /* by value: the tensor that a view shows */
    uint32_t *origin;  /* by value: a product's output or an input that it is computed from */
    uint64_t *size;    /* by value, bytes; 0: unknown, or in a constant */
    uint64_t *read;    /* by value: smallest number of bytes to read to have it */
    uint64_t *written; /* by value: smallest number to write for its readers */
    uint32_t *scores;  /* by value: product of two activations that it is computed from, OC_NONE */
    uint32_t *root;    /* by node: union-find of products that may be one kernel; OC_NONE: not a product */
    uint32_t *after;   /* by value: the last product of two activations that it is computed from, OC_NONE */
    bool *latent;      /* by node, products of two activations: the same tensor is keys and values */
    struct oc_node_work *recent; /* the work of nodes in this type, by twin */
};

/* Sets what is stored by value and by node; needs m, a, arena. Products that may be one kernel have one root. */
void oc_bound_tensors_make(struct oc_bound_maker *k);

bool oc_bound_has_cost(const struct oc_node_cost *c);
/* Whether a node reads the data of an input that is not constant. */
bool oc_bound_reads(const struct oc_bound_maker *k, uint32_t node, uint32_t slot);
bool oc_bound_joins(const struct oc_node *n); /* Concat */
void oc_bound_dims(const struct oc_bound_maker *k, uint32_t node, struct oc_kernel *out);

/* *sum += n, at most UINT64_MAX. */
static inline void oc_bound_add(uint64_t *sum, uint64_t n)
{
    if (!oc_add_u64(*sum, n, sum))
        *sum = UINT64_MAX;
}

#endif
