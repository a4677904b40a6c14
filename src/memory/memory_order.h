/* Converts the liveness of a graph (lives.h) for the order search. */
#ifndef OC_MEMORY_ORDER_H
#define OC_MEMORY_ORDER_H

#include "analyze/lives.h"
#include "memory/order_graph.h"

/* Linked; in the arena (lists may be shared with l). */
struct oc_order_graph oc_order_graph_of(struct oc_arena *arena, struct oc_lives *l);

/* First and last position at which each buffer is live in this order; n_life each. */
void oc_order_lives(const struct oc_order_graph *g, const uint32_t *order, uint32_t *first, uint32_t *last);

#endif
