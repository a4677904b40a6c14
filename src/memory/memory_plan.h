/* An analysed model's buffers in one block of memory, and an order of its nodes that needs less of it. The
 * bodies of control-flow nodes get a block of their own inside that of the graph around them, for the step of
 * the node; bodies that exclude each other share it. Every plan is checked before it is handed out. */
#ifndef OC_MEMORY_PLAN_H
#define OC_MEMORY_PLAN_H

#include "analyze/lives.h"
#include "memory/reorder.h"

struct oc_planned {
    uint32_t value; /* OC_NONE: block of a node's bodies */
    uint32_t graph; /* that the steps are of */
    uint32_t first, last;
    uint32_t first_node, last_node; /* OC_NONE: there is no step */
    uint64_t bytes, offset;         /* from the start of the whole block */
    uint8_t quality;
    bool input, output;
};

struct oc_memory_plan {
    struct oc_arena arena;
    const struct oc_analysis *a;
    struct oc_lives *lives;    /* of the main graph, in the order of the file */
    const uint32_t *order;     /* steps of `lives` in the order that is planned */
    const uint64_t *live;      /* by position in it: bytes live in the step */
    struct oc_reorder reorder; /* of the main graph; without reordering: lower is that of `lives` */
    bool reordered;            /* it was asked for */
    struct oc_planned *buffer; /* by graph, the main one first; then as in `lives` */
    uint32_t n_buffer;
    uint64_t size, lower, align; /* of the block; most live bytes in the planned order */
    bool optimal;                /* no plan for this order is smaller: shown */
    const char *method;
    uint8_t quality; /* enum oc_quality of the sizes */
};

#endif
