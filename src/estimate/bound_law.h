/* The work of a model's lower bound (bound.h), with its totals, as closed forms of its open sizes: what
 * oc_bound_time needs at any size, without another analysis. */
#ifndef OC_BOUND_LAW_H
#define OC_BOUND_LAW_H

#include "analyze/fit_boxes.h"
#include "base/map.h"
#include "estimate/bound.h"

struct oc_law_source { /* analyses of a model at sizes of its variables */
    int (*analyze)(void *ctx, const int64_t *x, struct oc_analysis **out);
    void *ctx;
    unsigned n_var;
    const struct oc_box_var *var;
    uint32_t max_evals;
    bool own_type;   /* the model's types only */
    bool keep_steps; /* false: multiples of a step are tried where it has no fit */
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
    bool *integers;                             /* by part */
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

/* For the model's types and all of oc_recast_name. False: the model has no figures at the start. */
bool oc_bound_law_make(const struct oc_law_source *source, struct oc_bound_law *out);
void oc_bound_law_free(struct oc_bound_law *law);

/* Peak activation memory, output 0. The points that the law of the same source analysed are not analysed
 * again. False: unknown at the start. */
bool oc_peak_law_make(const struct oc_law_source *source, struct oc_bound_law *law, struct oc_boxes *out);

#endif
