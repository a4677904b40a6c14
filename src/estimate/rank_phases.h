/* Finds changes of a property as the batch grows: evaluates 1, 2, 4 ..., and bisects between two of these
 * that differ. A change that is reverted between two of them is not found. */
#ifndef OC_RANK_PHASES_H
#define OC_RANK_PHASES_H

#include "base/arena.h"

struct oc_rank_phases;

/* Value of the property at a batch. */
typedef int (*oc_phase_fn)(void *ctx, int64_t batch);

#define OC_MOST_PHASES 64 /* further changes are not reported */
void oc_find_phases(oc_phase_fn what, void *ctx, int64_t most, struct oc_arena *arena,
                    struct oc_rank_phases *out);

#endif
