/* ONNX Runtime's CPU allocator, simulated: a best-fit arena with coalescing (BFCArena with the defaults of
 * the CPU provider). What a run takes from it is more than it asks for: requests are rounded up to 256 bytes,
 * and a free chunk is only split when it is at least twice as large as the request or 128 MiB larger. Bytes.
 */
#ifndef OC_ORT_ARENA_H
#define OC_ORT_ARENA_H

#include "analyze/lives.h"

struct oc_ort_chunk { /* a piece of a region; neighbours lie beside each other */
    uint64_t size, requested;
    uint64_t at;            /* of its region's start and place: tells which of two equal ones is lower */
    uint32_t before, after; /* OC_NONE: border of the region */
    bool used;
};

struct oc_ort_arena {
    struct oc_ort_chunk *chunk; /* heap; dead ones have size 0 */
    uint32_t n, cap;
    uint32_t *dead, n_dead, cap_dead;
    uint64_t next_region; /* bytes of the next extension */
    uint64_t top;         /* where the next region begins */
    uint64_t requested, in_use, held;
    uint64_t max_requested, max_in_use;
};

void oc_ort_arena_init(struct oc_ort_arena *a);
void oc_ort_arena_free(struct oc_ort_arena *a);
/* The chunk, OC_NONE for 0 bytes or more than 2^62 in all. */
uint32_t oc_ort_arena_take(struct oc_ort_arena *a, uint64_t bytes);
void oc_ort_arena_give(struct oc_ort_arena *a, uint32_t chunk); /* OC_NONE: nothing */

/* The first run of a model: every buffer is taken when it is made and given back after its last use, bodies
 * once. Weights lie outside the arena but for those that kernels of ConvTranspose keep in another order: they
 * are there from the start. Workspace of kernels is not in it. `lives` should be made with `all`,
 * `without_inputs`, OC_ORDER_ORT and no alignment; its quality holds here too. */
struct oc_ort_run {
    uint64_t max_requested, max_in_use, held; /* without what was there at the start; held: with it */
    uint32_t requested_at, in_use_at;         /* nodes where, OC_NONE: none */
};
struct oc_ort_run oc_ort_first_run(const struct oc_lives *lives);

#endif
