/* Work of a roofline from the costs of nodes. The unit of operations, in counts, rates and peaks of float and
 * integer types: 2 for a MAC, 0 for a type conversion, 1 for the rest. FLOP names operations of
 * float types, OP those of integer types. */
#ifndef OC_WORK_H
#define OC_WORK_H

#include "analyze/analysis.h"
#include "estimate/roofline.h"

/* Adds one node. Nodes of a fused group add up to the group's operations; the caller then sets its bytes and
 * launches. An overflow makes the work unknown. */
void oc_work_add(struct oc_work *work, const struct oc_node_cost *cost);

#endif
