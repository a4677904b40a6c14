/* An order of the steps that needs fewer bytes at once. The graph is cut at steps that every order has in the
 * same place; each part gets rules of thumb, a search that is exact if it ends, else searches in windows
 * around its peak. Deterministic; never worse than the order that is there (0, 1, 2 ...). */
#ifndef OC_REORDER_H
#define OC_REORDER_H

#include "memory/order_graph.h"

struct oc_reorder {
    uint64_t before, after; /* peaks of the given order and of the one found */
    uint64_t lower;         /* no order needs less; equal to `after`: proven optimal */
    uint32_t parts;         /* between the cuts */
    bool changed;
};

/* g is linked, its steps 0, 1, 2 ... are a valid order. work: about memory accesses, 0: a default of about a
 * second. order[n_step] is the caller's. */
void oc_reorder_make(const struct oc_order_graph *g, uint64_t work, uint32_t *order, struct oc_reorder *out);

#endif
