/* Lower bound of the time of a model on a device, for any runtime: perfect fusion, caches at their best,
 * dense peaks. Every command that prints "at least" uses it.
 *
 *  - Products (convolutions but depthwise ones, matrix products, attention, recurrent layers) run in
 *    sequence. Each takes at least its roofline time: its arithmetic, its weights, and of its input and
 * output the smallest tensors from which all operators between two products could be computed on the fly.
 *    Products of attention (of two activations, one computed from the other) are one kernel that never writes
 *    scores; products that read the same tensor are one kernel too.
 *  - All other operators are fused into products: they move nothing and their arithmetic overlaps. All
 *    arithmetic, all weights, the inputs and the outputs of the model together are a second bound.
 *  - Convolutions with stride 1 may use Winograd's algorithm in tiles of 8; products of dequantized tensors
 * may run on integers.
 *
 * An operator without a cost, a tensor without a size and a figure that the device file lacks count as
 * nothing: what remains is a lower bound. */
#ifndef OC_BOUND_H
#define OC_BOUND_H

#include "analyze/analysis.h"
#include "estimate/recast.h"
#include "estimate/roofline.h"

struct oc_bound_part { /* products that may be one kernel */
    struct oc_work work;
    bool integers; /* its products may also run on 8-bit integers */
};

/* The multiplications of a convolution for which Winograd's algorithm needs fewer, by a factor. */
struct oc_bound_fewer {
    uint32_t part; /* OC_NONE: of the second bound only */
    uint8_t cls;
    uint64_t macs;
    double by;
};
uint64_t oc_bound_fewer_macs(uint64_t macs, double by); /* what is left */

struct oc_bound_load {
    const struct oc_bound_part *part;
    uint32_t n_part;
    struct oc_work all;                                     /* second bound */
    uint64_t const_bytes;                                   /* constants read by a run: */
    uint64_t weights_stored, weights_before, weights_after; /* min(stored, before) * after / before */
    struct oc_bound_fewer *fewer; /* included in the parts and in `all`, as what is left */
    uint32_t n_fewer;
    const uint32_t *part_of_root; /* private */
};

/* as: the type that the work is assumed to be done in; NULL: the model's types. */
void oc_bound_load_make(const struct oc_analysis *a, const struct oc_recast *as, struct oc_arena *arena,
                        struct oc_bound_load *out);

/* The same for several types. */
void oc_bound_loads_make(const struct oc_analysis *a, const struct oc_recast *const *as, size_t n,
                         struct oc_arena *arena, struct oc_bound_load *out);

/* Seconds of a run; NAN: the device file has no figure for any of the work. */
double oc_bound_time(const struct oc_bound_load *load, const struct oc_device *device, bool cache);

/* The same for an analysis. */
double oc_bound_of(const struct oc_analysis *a, const struct oc_recast *as, const struct oc_device *device,
                   bool cache);

#endif
