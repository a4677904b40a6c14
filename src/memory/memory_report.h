/* Contents of the memory report: live ranges of buffers, the live set at the peak, a simulation of the
 * runtime's allocator, its measured statistics, and whether the model fits. Written by
 * write/commands/out_memory.c. */
#ifndef OC_MEMORY_REPORT_H
#define OC_MEMORY_REPORT_H

#include "analyze/liveness.h"
#include "hw/hwdb.h"
#include "memory/memory_plan.h"
#include "memory/ort_run.h"
#include "onnxcost/memory.h"
#include "profile/profile.h"

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
