/* Where something changes as the batch grows: looked at 1, 2, 4 ..., and between two of these that differ the
 * change is found by halving. What changes and changes back between two of them is not seen. */
#ifndef OC_RANK_PHASES_H
#define OC_RANK_PHASES_H

#include "base/arena.h"

struct oc_rank_phases;

/* What holds at a batch. */
typedef int (*oc_phase_fn)(void *ctx, int64_t batch);

#define OC_MOST_PHASES 64 /* further ones are not told */
void oc_find_phases(oc_phase_fn what, void *ctx, int64_t most, struct oc_arena *arena,
                    struct oc_rank_phases *out);

#endif
