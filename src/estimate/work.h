/* From the cost of nodes to the work that a roofline is asked about. Primitives weigh as in the default
 * weights: 2 for a MAC, 0 for a type conversion, 1 for the rest. */
#ifndef OC_WORK_H
#define OC_WORK_H

#include "analyze/analysis.h"
#include "estimate/roofline.h"

/* Adds one node. Nodes of a fused group add up to the group's operations; its bytes and launches are then set
 * by the caller. An overflow makes the work unknown. */
void oc_work_add(struct oc_work *work, const struct oc_node_cost *cost);

#endif
