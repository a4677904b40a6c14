/* Finds an order of the steps with a lower peak. The graph is split at steps that have the same position in
 * every order; each part gets greedy rules, a search that is exact if it completes, else searches in windows
 * around its peak. Deterministic; never worse than the given order (0, 1, 2 ...). */
#ifndef OC_REORDER_H
#define OC_REORDER_H

#include "memory/order_graph.h"

struct oc_reorder {
    uint64_t before, after; /* peaks of the given order and of the new one */
    uint64_t lower;         /* lower bound of any order; equal to `after`: proven optimal */
    uint32_t parts;         /* number of parts */
    bool changed;
};

/* g is linked, its steps 0, 1, 2 ... are a valid order. work: about memory accesses, 0: a default of about a
 * second. order[n_step] is owned by the caller. */
void oc_reorder_make(const struct oc_order_graph *g, uint64_t work, uint32_t *order, struct oc_reorder *out);

#endif
