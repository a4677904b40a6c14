/* Simulates the allocations of the first run of a model by ONNX Runtime's CPU provider without optimizations.
 */
#ifndef OC_ORT_RUN_H
#define OC_ORT_RUN_H

#include "analyze/analysis.h"
#include "analyze/liveness.h"
#include "base/map.h"

/* ---- sizes --------------------------------------------------------------------------------------- */

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

/* ---- graph --------------------------------------------------------------------------------------- */

/* The model with the nodes that ONNX Runtime adds to any graph: a DequantizeLinear for each reader of one. Its nodes
 * and values keep their ids; those of copies follow. */
struct oc_ort_graph {
    struct oc_arena arena;
    struct oc_model model; /* uses the memory of the model it was made from, which must outlive it */
};
/* step: the nodes of the main graph in the runtime's order, which numbers the copies. NULL: it adds none. */
struct oc_ort_graph *oc_ort_graph_make(const struct oc_model *m, const uint32_t *step, uint32_t n_step);
void oc_ort_graph_free(struct oc_ort_graph *g);

/* ---- ort run ------------------------------------------------------------------------------------- */

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

/* ---- ort arena -------------------------------------------------------------------------------------- */

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

/* ---- ort reuse -------------------------------------------------------------------------------------- */

/* ONNX Runtime's allocation planner for a sequential run: tensors whose sizes are known when the model is
 * loaded are written over an input that dies, or take the memory of a dead tensor of the same shape, which is
 * kept until then. (core/framework/allocation_planner.cc: FindReusableInput, FindReusableTensor.) */

/* into[i]: the buffer of `l` whose memory buffer i reuses, i for its own memory; n_life of them. The steps
 * must be in the runtime's order, with `all`. Uses the shapes of the graph's values. */
void oc_ort_reuse(const struct oc_liveness *l, const struct oc_ort_shapes *s, uint32_t *into);

#endif
