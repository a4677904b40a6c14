/* Arena plan of an analysed model, and an order of its nodes with a lower peak. The bodies of control-flow
 * nodes get a block of their own inside that of the graph around them, for the step of the node; bodies that
 * exclude each other share it. Every plan is verified before it is returned. */
#ifndef OC_MEMORY_PLAN_H
#define OC_MEMORY_PLAN_H

#include "analyze/liveness.h"
#include "memory/order_graph.h"
#include "memory/reorder.h"

struct oc_planned {
    uint32_t value; /* OC_NONE: block of a node's bodies */
    uint32_t graph; /* graph of the steps */
    uint32_t first, last;
    uint32_t first_node, last_node; /* OC_NONE: no step */
    uint64_t bytes, offset;         /* from the start of the outermost block */
    uint8_t quality;
    bool input, output;
};

struct oc_memory_plan {
    struct oc_arena arena;
    const struct oc_analysis *a;
    struct oc_liveness *liveness; /* of the main graph, in the order of the file */
    const uint32_t *order;        /* steps of `liveness` in the planned order */
    const uint64_t *live;         /* by position in it: live bytes in the step */
    struct oc_reorder reorder;    /* of the main graph; without reordering: lower is that of `liveness` */
    bool reordered;               /* reordering was requested */
    struct oc_planned *buffer;    /* per graph, the main graph first; then as in `liveness` */
    uint32_t n_buffer;
    uint64_t size, lower, align; /* size of the block; peak live bytes in the planned order */
    bool optimal;                /* proven: no plan for this order is smaller */
    const char *method;
    uint8_t quality; /* enum oc_quality of the sizes */
};

#endif
