/* Places buffers in one block of memory. A buffer is a box: its bytes, and the steps from first to last
 * (inclusive) in which it is used. Two boxes that share a step must not share a byte. The best of several
 * orders and fits is taken, then improved by search; the result depends on the input alone, not on the clock.
 * Knows nothing of graphs. */
#ifndef OC_ARENA_PLAN_H
#define OC_ARENA_PLAN_H

#include "onnxcost.h"

struct oc_box {
    uint64_t bytes; /* 0: takes no place, gets offset 0 */
    uint32_t first, last;
};

struct oc_arena_opts {
    uint64_t align; /* bytes; sizes are rounded up to it, offsets are multiples; 0 and 1: none */
    uint64_t work;  /* how much to try, in comparisons of two boxes; 0: about a quarter of a second */
};

struct oc_arena_plan {
    uint64_t size;      /* bytes of the block */
    uint64_t lower;     /* most bytes of boxes (rounded up) in one step: no plan needs less */
    bool optimal;       /* proven: size is the lower bound, or everything smaller was ruled out */
    const char *method; /* what found the part that decides the size: "size, first fit" ... */
};

/* offset[n] is caller's memory. Fails when sizes add up to more than 2^63 bytes or a box ends before it
 * begins; boxes beyond the limits of the search still get a valid plan. */
int oc_arena_plan_make(const struct oc_box *box, uint32_t n, const struct oc_arena_opts *opts,
                       uint64_t *offset, struct oc_arena_plan *out, struct oc_err *err);

/* Most bytes in one step, sizes rounded up to align. Sizes must add up to less than 2^63 then. */
uint64_t oc_boxes_live(const struct oc_box *box, uint32_t n, uint64_t align);

#endif
