/* Contents of the memory report: live ranges of buffers, the live set at the peak, a simulation of the
 * runtime's allocator, its measured statistics, and whether the model fits. Written by
 * write/commands/out_memory.c. */
#ifndef OC_MEMORY_REPORT_H
#define OC_MEMORY_REPORT_H

#include "analyze/analysis.h"
#include "analyze/liveness.h"
#include "base/map.h"
#include "hw/hwdb.h"
#include "memory/memory_plan.h"
#include "onnxcost/memory.h"
#include "profile/profile.h"

/* ---- ONNX Runtime's first run: sizes ------------------------------------------------------------------ */

/* Simulates the allocations of the first run of a model by ONNX Runtime's CPU provider without optimizations. */

/* Sizes of tensors that ONNX Runtime has when it loads a model: numbers and names. It reuses memory only
 * between tensors of equal ones. */

/* An analysis without sizes for the model's names, whose shapes are those of the runtime. NULL: none. */
struct oc_analysis *oc_ort_analyze(const struct oc_model *m, const struct oc_op_rules *rules);

struct oc_ort_shapes {
    const struct oc_analysis *open; /* of oc_ort_analyze */
    bool *named;                    /* by expression of `open`: a name of the model; heap */
    uint32_t n_named;
};
void oc_ort_shapes_init(struct oc_ort_shapes *s, const struct oc_analysis *open);
void oc_ort_shapes_free(struct oc_ort_shapes *s);
/* Whether each of its sizes has a number or a name. */
bool oc_ort_has_sizes(const struct oc_ort_shapes *s, uint32_t value);
bool oc_ort_same_size(const struct oc_ort_shapes *s, uint32_t x, uint32_t y);

/* ---- ONNX Runtime's first run: graph ------------------------------------------------------------------ */

/* The model with the nodes that ONNX Runtime adds to any graph: a DequantizeLinear for each reader of one. Its nodes
 * and values keep their ids; those of copies follow. */
struct oc_ort_graph {
    struct oc_arena arena;
    struct oc_model model; /* uses the memory of the model it was made from, which must outlive it */
};
/* step: the nodes of the main graph in the runtime's order, which numbers the copies. NULL: it adds none. */
struct oc_ort_graph *oc_ort_graph_make(const struct oc_model *m, const uint32_t *step, uint32_t n_step);
void oc_ort_graph_free(struct oc_ort_graph *g);

/* ---- ONNX Runtime's first run: allocations ------------------------------------------------------------ */

/* The first run of a model: every buffer is allocated when it is produced and freed after its last use,
 * bodies once. Weights are outside of the arena, except those repacked by kernels of ConvTranspose, which are
 * allocated at the start. Of the kernels' workspaces only that of Conv makes the arena grow. `liveness` should
 * be made with `all`, `without_inputs`, OC_ORDER_ORT and no alignment; its quality applies to the result.
 * open: of oc_ort_analyze, for the shapes that the runtime's planner has; NULL: no reuse.
 */
struct oc_ort_run {
    uint64_t max_requested, max_in_use, held; /* without the allocations at the start; held: with them */
    uint32_t requested_at, in_use_at;         /* nodes at the peaks, OC_NONE: none */
    /* Bytes requested are exact unless there is a reason; bytes in use depend on the workspace of kernels,
     * too, of which only that of Conv is known, and are an estimate. */
    const char *estimate; /* static; NULL: none */
};
struct oc_ort_run oc_ort_first_run(const struct oc_liveness *liveness, const struct oc_analysis *open);

/* ---- ONNX Runtime's arena ----------------------------------------------------------------------------- */

/* ONNX Runtime's CPU allocator, simulated: a best-fit arena with coalescing (BFCArena with the defaults of
 * the CPU provider). A run takes more memory than it requests: requests are rounded up to 256 bytes,
 * and a free chunk is only split when it is at least twice as large as the request or 128 MiB larger. Bytes.
 */

struct oc_ort_chunk { /* a piece of a region; neighbours are adjacent */
    uint64_t size, requested;
    uint64_t at;            /* start of its region and offset: orders chunks of equal size */
    uint32_t before, after; /* OC_NONE: border of the region */
    uint32_t place;         /* in the free list */
    bool used;
};

struct oc_bfc_arena {
    struct oc_ort_chunk *chunk; /* heap; removed ones have size 0 */
    uint32_t n, cap;
    uint32_t *dead, n_dead, cap_dead;
    uint32_t *spare, n_spare, cap_spare; /* free chunks, unordered */
    uint64_t next_region;                /* bytes of the next extension */
    uint64_t top;                        /* start of the next region */
    uint64_t requested, in_use, held;
    uint64_t max_requested, max_in_use;
};

void oc_bfc_arena_init(struct oc_bfc_arena *a);
void oc_bfc_arena_free(struct oc_bfc_arena *a);
/* The chunk, OC_NONE for 0 bytes or more than 2^62 in total. */
uint32_t oc_bfc_arena_take(struct oc_bfc_arena *a, uint64_t bytes);
void oc_bfc_arena_give(struct oc_bfc_arena *a, uint32_t chunk); /* OC_NONE: nothing */

/* ---- ONNX Runtime's planner --------------------------------------------------------------------------- */

/* ONNX Runtime's allocation planner for a sequential run: tensors whose sizes are known when the model is
 * loaded are written over an input that dies, or take the memory of a dead tensor of the same shape, which is
 * kept until then. (core/framework/allocation_planner.cc: FindReusableInput, FindReusableTensor.) */

/* into[i]: the buffer of `l` whose memory buffer i reuses, i for its own memory; n_life of them. The steps
 * must be in the runtime's order, with `all`. Uses the shapes of the graph's values. */
void oc_ort_reuse(const struct oc_liveness *l, const struct oc_ort_shapes *s, uint32_t *into);

/* ---- memory report ------------------------------------------------------------------------------------ */

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
