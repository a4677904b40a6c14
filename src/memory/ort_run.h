/* The first run of a model by ONNX Runtime's CPU provider without optimizations, as far as its allocator sees
 * it. */
#ifndef OC_ORT_RUN_H
#define OC_ORT_RUN_H

#include "analyze/lives.h"

/* The first run of a model: every buffer is taken when it is made and given back after its last use, bodies
 * once. Weights lie outside the arena but for those that kernels of ConvTranspose keep in another order: they
 * are there from the start. Of the workspace of kernels only that of Conv has an effect, which makes the
 * arena grow. `lives` should be made with `all`, `without_inputs`, OC_ORDER_ORT and no alignment; its quality
 * holds here too. open: an analysis of the model without sizes for its names, for what the runtime's planner
 * knows (ort_reuse.h); NULL: it reuses nothing.
 */
struct oc_ort_run {
    uint64_t max_requested, max_in_use, held; /* without what was there at the start; held: with it */
    uint32_t requested_at, in_use_at;         /* nodes where, OC_NONE: none */
};
struct oc_ort_run oc_ort_first_run(const struct oc_lives *lives, const struct oc_analysis *open);

#endif
