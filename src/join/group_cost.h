/* Cost of a set of nodes as one operator: the operations of its members and the bytes that cross its
 * border. */
#ifndef OC_GROUP_COST_H
#define OC_GROUP_COST_H

#include "join/join.h"

struct oc_group_costs {
    const struct oc_model *m;
    const struct oc_analysis *a;
    const struct oc_graph_index *x;
    uint32_t *seen, mark; /* by value: the last group that counted it */
};
void oc_group_costs_init(struct oc_group_costs *c, const struct oc_model *m, const struct oc_analysis *a,
                         const struct oc_graph_index *x, struct oc_arena *arena);

/* Adds the cost of r->node to r, whose counts must be 0. */
void oc_group_cost(struct oc_group_costs *c, struct oc_join_rec *r);
/* Counts the 32-bit floating-point tensors of r with 16 bits, for one execution; r has the cost of its nodes. */
void oc_group_halve(struct oc_group_costs *c, struct oc_join_rec *r);

/* Whether the node is counted by itself: false for containers, whose bodies are counted, and for branches
 * that are not taken. */
bool oc_carries_cost(const struct oc_node_cost *c);

#endif
