/* ONNX Runtime's CPU allocator, simulated: a best-fit arena with coalescing (BFCArena with the defaults of
 * the CPU provider). A run takes more memory than it requests: requests are rounded up to 256 bytes,
 * and a free chunk is only split when it is at least twice as large as the request or 128 MiB larger. Bytes.
 */
#ifndef OC_ORT_ARENA_H
#define OC_ORT_ARENA_H

#include "base/map.h"

struct oc_ort_chunk { /* a piece of a region; neighbours are adjacent */
    uint64_t size, requested;
    uint64_t at;            /* start of its region and offset: orders chunks of equal size */
    uint32_t before, after; /* OC_NONE: border of the region */
    uint32_t place;         /* in the free list */
    bool used;
};

struct oc_ort_arena {
    struct oc_ort_chunk *chunk; /* heap; removed ones have size 0 */
    uint32_t n, cap;
    uint32_t *dead, n_dead, cap_dead;
    uint32_t *spare, n_spare, cap_spare; /* free chunks, unordered */
    uint64_t next_region;                /* bytes of the next extension */
    uint64_t top;                        /* start of the next region */
    uint64_t requested, in_use, held;
    uint64_t max_requested, max_in_use;
};

void oc_ort_arena_init(struct oc_ort_arena *a);
void oc_ort_arena_free(struct oc_ort_arena *a);
/* The chunk, OC_NONE for 0 bytes or more than 2^62 in total. */
uint32_t oc_ort_arena_take(struct oc_ort_arena *a, uint64_t bytes);
void oc_ort_arena_give(struct oc_ort_arena *a, uint32_t chunk); /* OC_NONE: nothing */

#endif
