/* Lower bound of the time of a model on a device, for any runtime: perfect fusion, caches at their best,
 * dense peaks. Every command that prints "at least" uses it.
 *
 *  - Products (convolutions but depthwise ones, matrix products, attention, recurrent layers) run in
 *    sequence. Each takes at least its roofline time: its arithmetic, its weights, and of its input and output
 *    the smallest tensors from which all operators between two products could be computed on the fly.
 *    Products of attention (of two activations, one computed from the other) are one kernel that never writes
 *    scores; products that read the same tensor are one kernel too.
 *  - All other operators are fused into products: they move nothing and their arithmetic overlaps. All
 *    arithmetic, all weights, the inputs and the outputs of the model together are a second bound.
 *  - Convolutions with stride 1 may use Winograd's algorithm in tiles of 8; products of dequantized tensors
 *    may run in that type, products with weights in narrow floats or GGUF's blocks on 8 or 4 bits.
 *  - Products in a float type without a peak in the device file run in the fastest type that it has and that
 *    holds the numbers (bf16 also in f16); 8-bit integers without one count as nothing, but on GPUs.
 *  - Weights of a quantization that is not modelled move nothing, and their products may run in any type.
 *  - Mixtures of experts read the weights of one token's experts: all tokens may choose the same.
 *  - Attention whose keys are all of a tensor and values of the same (latent attention) may expand it for
 *    several queries, which takes fewer multiplications, and skip masked ones: then its scores and sums count
 *    nothing.
 *  - NPUs hold tensors between products in a memory before DRAM, whatever the batch: their compilers cut it into
 *    slices. So may a device whose file has no such memory. Weights, inputs and outputs are in DRAM.
 *
 * An operator without a cost, a tensor without a size and a figure that the device file lacks count as
 * nothing: what remains is a lower bound. */
#ifndef OC_BOUND_H
#define OC_BOUND_H

#include "analyze/analysis.h"
#include "analyze/fit.h"
#include "base/map.h"
#include "estimate/recast.h"
#include "estimate/roofline.h"

struct oc_class_work { /* the operations of one class of struct oc_work */
    uint64_t macs, flops, special, special_flops;
    uint8_t cls;
};
/* The classes with work, in their order; returns their number. */
unsigned oc_class_works(const struct oc_work *w, struct oc_class_work out[OC_CLASS_COUNT]);

struct oc_bound_part { /* products that may be one kernel */
    struct oc_roof_traffic bytes;
    const struct oc_class_work *ops;
    uint8_t n_ops;
    uint8_t also; /* other types in which its products may run: a set of enum oc_bound_also */
};
struct oc_work oc_bound_part_work(const struct oc_bound_part *p);
enum oc_bound_also { OC_ALSO_I8 = 1, OC_ALSO_F8 = 2, OC_ALSO_F4 = 4 };

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
    bool fewest_experts;          /* weights of experts are left out: oc_bound_spare_weights */
    const uint32_t *part_of_root; /* by node: the part of which it is the root; OC_NONE: of none */
};

/* as: the type that the work is assumed to be done in; NULL: the model's types. */
void oc_bound_load_make(const struct oc_analysis *a, const struct oc_recast *as, struct oc_arena *arena,
                        struct oc_bound_load *out);

/* The same for several types. */
void oc_bound_loads_make(const struct oc_analysis *a, const struct oc_recast *const *as, size_t n,
                         struct oc_arena *arena, struct oc_bound_load *out);

/* Bytes of the constants that an operator reads, but need not: experts, all whose types are unknown. */
uint64_t oc_bound_spare_weights(const struct oc_analysis *a, uint32_t node);

/* Bytes of the constants that a run reads, of those stored and those of all operators before and after a change of
 * type. */
uint64_t oc_bound_weights(uint64_t stored, uint64_t before, uint64_t after);

/* The types in which a part may run on a device: OC_CLASS_NONE for its own, then those of `also` that may be there.
 * Returns their number. oc_bound_run_in moves its products to one of them. */
enum { OC_BOUND_WAYS = 4 };
unsigned oc_bound_ways(const struct oc_device *device, uint8_t also, uint8_t way[OC_BOUND_WAYS]);
void oc_bound_run_in(struct oc_work *w, unsigned cls);

/* Seconds of the parts in sequence; in: those that count, NULL: all. */
double oc_bound_parts_time(const struct oc_bound_load *load, const bool *in, const struct oc_device *device,
                           bool cache);

/* Seconds of a run; NAN: the device file has no figure for any of the work. */
double oc_bound_time(const struct oc_bound_load *load, const struct oc_device *device, bool cache);

/* Tensors between products need not be in DRAM, of any size. */
bool oc_bound_keeps_tensors(const struct oc_device *device);

/* The same for an analysis. */
double oc_bound_of(const struct oc_analysis *a, const struct oc_recast *as, const struct oc_device *device,
                   bool cache);

/* ---- bound law ----------------------------------------------------------------------------------- */

/* The work of a model's lower bound (bound.h), with its totals, as closed forms of its open sizes: what
 * oc_bound_time needs at any size, without another analysis. */

struct oc_law_source { /* analyses of a model at sizes of its variables */
    int (*analyze)(void *ctx, const int64_t *x, struct oc_analysis **out);
    void *ctx;
    const struct oc_analysis *start; /* that at the starts of the variables; NULL: it is made */
    unsigned n_var;
    const struct oc_box_var *var;
    uint32_t max_evals;
    bool own_type;              /* one type only: */
    const struct oc_recast *as; /* NULL: the model's types */
    bool keep_steps;            /* false: multiples of a step are tried where it has no fit */
};

enum oc_law_total {
    OC_LAW_MACS,
    OC_LAW_FLOPS,
    OC_LAW_OPS,
    OC_LAW_READ_ACT,
    OC_LAW_READ_WEIGHT,
    OC_LAW_WRITTEN,
    OC_LAW_TOTALS
};
enum oc_law_constants { /* struct oc_bound_load: weights_stored, weights_before, weights_after */
                        OC_LAW_STORED,
                        OC_LAW_BEFORE,
                        OC_LAW_AFTER,
                        OC_LAW_CONSTANTS
};
/* Fields of a part and of `all`; bytes of the latter are without constants. */
enum oc_law_field { OC_LAW_BYTES, OC_LAW_WEIGHT_BYTES, OC_LAW_BYTES_WRITTEN, OC_LAW_LAUNCHES, OC_LAW_FIELDS };
/* For each class of the law. MACs are those that are not in `fewer`. */
enum oc_law_kind {
    OC_LAW_CLASS_MACS,
    OC_LAW_CLASS_FLOPS,
    OC_LAW_SPECIAL,
    OC_LAW_SPECIAL_FLOPS,
    OC_LAW_KINDS
};

enum { OC_LAW_TYPES = OC_BOX_GROUPS - 1 };

struct oc_law_peak { /* peak activation memory of one analysis */
    uint64_t bytes;
    bool exact;
};

struct oc_bound_law {
    struct oc_boxes boxes; /* group 0: the totals; 1 + i: type i */
    struct oc_arena arena;
    unsigned n_type;
    const struct oc_recast *as[OC_LAW_TYPES]; /* NULL: the model's types */
    uint8_t cls[OC_CLASS_COUNT];
    unsigned n_cls;
    uint32_t n_part;
    uint8_t *also;                              /* by part: oc_bound_part.also */
    struct oc_bound_fewer *fewer[OC_LAW_TYPES]; /* their macs: outputs */
    uint32_t n_fewer[OC_LAW_TYPES];
    size_t end[OC_BOX_GROUPS]; /* by group: after its last output */
    struct oc_map peak_at;     /* private: analysed points, indices in `peak` */
    struct oc_law_peak *peak;  /* heap */
    uint32_t n_peak, cap_peak;
};

/* Indices of outputs. part == n_part: `all`. Totals are the first ones. */
size_t oc_bound_law_constant(const struct oc_bound_law *law, unsigned type, unsigned constant);
size_t oc_bound_law_field(const struct oc_bound_law *law, unsigned type, uint32_t part, unsigned field);
size_t oc_bound_law_ops(const struct oc_bound_law *law, unsigned type, uint32_t part, unsigned kind,
                        unsigned cls_index);
size_t oc_bound_law_fewer(const struct oc_bound_law *law, unsigned type, uint32_t i);

/* Analyses that are worth a law of the model. */
uint32_t oc_law_evals(const struct oc_model *m);

/* For the model's types and all of oc_recast_name, or for `as`. False: the model has no figures at the start. */
bool oc_bound_law_make(const struct oc_law_source *source, struct oc_bound_law *out);
void oc_bound_law_free(struct oc_bound_law *law);

/* Peak activation memory, output 0. The points that the law of the same source analysed are not analysed
 * again. False: unknown at the start. */
bool oc_peak_law_make(const struct oc_law_source *source, struct oc_bound_law *law, struct oc_boxes *out);

#endif
