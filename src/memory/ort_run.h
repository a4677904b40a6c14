/* Simulates the allocations of the first run of a model by ONNX Runtime's CPU provider without optimizations.
 */
#ifndef OC_ORT_RUN_H
#define OC_ORT_RUN_H

#include "analyze/lives.h"

/* The first run of a model: every buffer is allocated when it is produced and freed after its last use,
 * bodies once. Weights are outside of the arena, except those repacked by kernels of ConvTranspose, which are
 * allocated at the start. Of the kernels' workspaces only that of Conv makes the arena grow. `lives` should
 * be made with `all`, `without_inputs`, OC_ORDER_ORT and no alignment; its quality applies to the result.
 * open: an analysis of the model without sizes for its names, for the shapes available to the runtime's
 * planner (ort_reuse.h); NULL: no reuse.
 */
struct oc_ort_run {
    uint64_t max_requested, max_in_use, held; /* without the allocations at the start; held: with them */
    uint32_t requested_at, in_use_at;         /* nodes at the peaks, OC_NONE: none */
};
struct oc_ort_run oc_ort_first_run(const struct oc_lives *lives, const struct oc_analysis *open);

#endif
