/* Plans of memory: offsets of buffers in one block, and the plan of a model. */
#ifndef OC_MEMORY_PLAN_H
#define OC_MEMORY_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/liveness.h"
#include "base/arena.h"
#include "onnxcost_types.h"

/* ---- offsets of buffers ------------------------------------------------------------------------------- */

/* Arena planner: assigns buffers offsets in one block of memory. A buffer is a box: its bytes, and the steps
 * from first to last (inclusive) in which it is used. Two boxes that share a step must not share a byte. The
 * best of several orders with first fit and best fit is taken, then improved by local search and branch and
 * bound; the result is deterministic and does not depend on time. */

struct oc_plan_box {
    uint64_t bytes; /* 0: takes no space, gets offset 0 */
    uint32_t first, last;
};

struct oc_offset_opts {
    uint64_t align; /* bytes; sizes are rounded up to it, offsets are multiples; 0 and 1: no alignment */
    uint64_t work;  /* work limit, in comparisons of two boxes; 0: about a quarter of a second */
};

struct oc_offset_plan {
    uint64_t size;      /* bytes of the block */
    uint64_t lower;     /* maximum over steps of the rounded bytes: lower bound of any plan */
    bool optimal;       /* proven: size is the lower bound, or all smaller sizes were excluded */
    const char *method; /* strategy that determined the size: "size, first fit" ... */
};

/* offset[n] is owned by the caller. Fails when sizes add up to more than 2^63 bytes or a box ends before it
 * begins; boxes beyond the limits of the search still get a valid plan. */
int oc_offset_plan_make(const struct oc_plan_box *box, uint32_t n, const struct oc_offset_opts *opts,
                        uint64_t *offset, struct oc_offset_plan *out, struct oc_err *err);

/* Maximum of the bytes in one step, sizes rounded up to align. The sum of the sizes must be below 2^63. */
uint64_t oc_boxes_live(const struct oc_plan_box *box, uint32_t n, uint64_t align);

/* ---- placements ---------------------------------------------------------------------------------- */

/* Boxes of one connected interval of steps, and their placement in a given order. Boxes are sorted by their
 * first step; sizes are rounded and not 0. */

struct oc_plan_fit {
    const struct oc_plan_box *box;
    uint32_t n, n_step; /* steps count from 0 */
    uint32_t *earlier;  /* boxes before i in the list that share a step with it: [start[i], start[i + 1]) */
    uint64_t *start;    /* NULL: too many pairs, only oc_fit_skyline is possible */
    uint32_t *later;    /* boxes i + 1 ... later[i] - 1 share a step with i */
    uint64_t *weight;   /* live bytes by step */
    uint64_t best, target; /* smallest size so far; lower bound */
    uint64_t *best_offset, *offset;
    uint32_t *best_order, *order;
    const char *method;
    uint64_t work;   /* remaining work */
    void *scratch;   /* of oc_fit_order */
    bool exhaustive; /* best is the lower bound */
};

/* Places the boxes in f->order: first fit (lowest offset) or best fit (smallest gap) among the placed boxes
 * that share steps. Keeps the result if it is the best so far. Returns the size, UINT64_MAX when aborted
 * because it exceeded `limit`. */
uint64_t oc_fit_order(struct oc_plan_fit *f, bool smallest_gap, uint64_t limit, const char *method);

/* Stores f->offset as the best placement if `size` is smaller than the best so far. */
void oc_fit_keep(struct oc_plan_fit *f, uint64_t size, const char *method);

void oc_fit_spend(struct oc_plan_fit *f, uint64_t work);

/* The boxes stay owned by the caller. */
void oc_fit_open(struct oc_plan_fit *f, const struct oc_plan_box *box, uint32_t n, uint64_t work);
void oc_fit_close(struct oc_plan_fit *f);

/* Pairs of boxes that share steps. oc_fit_order needs them stored. */
uint64_t oc_fit_count_pairs(struct oc_plan_fit *f);
void oc_fit_store_pairs(struct oc_plan_fit *f, uint64_t pairs);

/* In order of time, without pairs. */
void oc_fit_time(struct oc_plan_fit *f, bool smallest_gap, const char *method);
/* Places each box above everything placed in its steps: fast, leaves gaps. */
uint64_t oc_fit_skyline(struct oc_plan_fit *f, const char *method);

/* ---- plan check ---------------------------------------------------------------------------------- */

/* Verifies a memory plan, independently of the planner: a sweep over the steps keeps the live boxes sorted by
 * offset. */

/* 0: every box is inside [0, size), at a multiple of align (0 and 1: any), and no two that share a step share
 * a byte. Otherwise -1 and *err names the boxes by index. */
int oc_plan_check(const struct oc_plan_box *box, const uint64_t *offset, uint32_t n, uint64_t align,
                  uint64_t size, struct oc_err *err);

/* ---- blocks -------------------------------------------------------------------------------------- */

/* A block of memory that grows at its end: takes and gives back pieces like an allocator, in O(log n) each.
 */

struct oc_blocks;

/* For at most n pieces. Best fit takes the smallest gap, otherwise first fit the lowest one; equal gaps: the
 * lowest. */
struct oc_blocks *oc_blocks_open(uint32_t n, bool best_fit);
/* Places piece i, 0 ... n - 1, each once; bytes are not 0. Returns its offset. */
uint64_t oc_blocks_take(struct oc_blocks *b, uint32_t i, uint64_t bytes);
void oc_blocks_give(struct oc_blocks *b, uint32_t i);
void oc_blocks_close(struct oc_blocks *b);

/* ---- plan of a model -------------------------------------------------------------------------------- */

/* Arena plan of an analysed model in the order of its file. The bodies of control-flow nodes get a block of
 * their own inside that of the graph around them, for the step of the node; bodies that exclude each other
 * share it. Every plan is verified before it is returned. */

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
    const struct oc_analysis *a;
    struct oc_liveness *liveness;     /* of the main graph */
    struct oc_planned_buffer *buffer; /* per graph, the main graph first; then as in `liveness` */
    uint32_t n_buffer;
    uint64_t size, align; /* size of the block; at least the peak of `liveness` */
    bool optimal;         /* proven: no plan for this order is smaller */
    const char *method;
    uint8_t quality; /* enum oc_quality of the sizes */
};

#endif
