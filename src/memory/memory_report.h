/* Contents of the memory report: live ranges of buffers, the live set at the peak, a simulation of the
 * runtime's allocator, its measured statistics, and whether the model fits. Written by
 * write/commands/out_memory.c. */
#ifndef OC_MEMORY_REPORT_H
#define OC_MEMORY_REPORT_H

#include "analyze/liveness.h"
#include "hw/hwdb.h"
#include "memory/reorder.h"
#include "memory/ort_run.h"
#include "onnxcost/memory.h"
#include "profile/profile.h"

/* ---- memory plan --------------------------------------------------------------------------------- */

/* Arena plan of an analysed model, and an order of its nodes with a lower peak. The bodies of control-flow
 * nodes get a block of their own inside that of the graph around them, for the step of the node; bodies that
 * exclude each other share it. Every plan is verified before it is returned. */

struct oc_planned_buffer {
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
    struct oc_liveness *liveness;     /* of the main graph, in the order of the file */
    const uint32_t *order;            /* steps of `liveness` in the planned order */
    const uint64_t *live;             /* by position in it: live bytes in the step */
    struct oc_reorder reorder;        /* of the main graph; without reordering: lower is that of `liveness` */
    bool reordered;                   /* reordering was requested */
    struct oc_planned_buffer *buffer; /* per graph, the main graph first; then as in `liveness` */
    uint32_t n_buffer;
    uint64_t size, lower, align; /* size of the block; peak live bytes in the planned order */
    bool optimal;                /* proven: no plan for this order is smaller */
    const char *method;
    uint8_t quality; /* enum oc_quality of the sizes */
};

/* ---- memory report ------------------------------------------------------------------------------- */

struct oc_memory_row {                  /* a buffer that is live at the peak */
    const struct oc_liveness *liveness; /* of the main graph, or of a subgraph that runs at that time */
    const struct oc_life *life;
};

struct oc_memory_measured { /* the first run in a profile compared with the simulation */
    const struct oc_prof_memory *seen;
    struct oc_ort_run ours;
    uint8_t quality;  /* of the sizes */
    bool other_graph; /* the runtime ran nodes that the model does not have: it optimized the graph */
};

struct oc_memory_fit {
    const struct oc_device *device; /* NULL: not requested */
    const struct oc_hw_figure *size;
    uint64_t capacity;
    enum oc_fits fits;
    const char *batch; /* NULL: no batch dimension */
    int64_t now, largest;
    bool bounded;           /* no larger batch was tried */
    uint64_t largest_needs; /* footprint at that batch */
    unsigned analyses;
};

struct oc_memory {
    struct oc_arena arena;
    const struct oc_analysis *a;
    const struct oc_analysis *ort; /* of the graph that ONNX Runtime runs */
    struct oc_ort_graph *graph;    /* that graph, if it is not the model's; NULL: it is */
    struct oc_analysis *own;       /* its analysis */
    struct oc_memory_opts o;
    struct oc_memory_info info;
    struct oc_liveness *liveness; /* live ranges of the main graph */
    struct oc_liveness **body;    /* on the heap: nested subgraphs that run at the peak */
    uint32_t n_body, cap_body;
    const struct oc_memory_row *row; /* live at the peak, sorted by size */
    uint32_t n_row;
    const uint32_t *step;               /* of the main graph, sorted by live memory */
    struct oc_ort_run run;              /* set by as_onnxruntime */
    struct oc_memory_measured measured; /* seen NULL: no profile with memory statistics */
    struct oc_memory_fit fit;
    uint64_t footprint;
    uint8_t quality;
};

/* Producer and last consumer of the buffer: "37 Erf" (steps count from 1), "start", "end". Arena or static
 * text. */
const char *oc_memory_born(const struct oc_memory_row *r, struct oc_arena *arena);
const char *oc_memory_dies(const struct oc_memory_row *r, struct oc_arena *arena);

#endif
