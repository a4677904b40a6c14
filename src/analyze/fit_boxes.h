/* Fits many outputs at once: polynomials on boxes, products of ranges of the variables, found exactly and
 * verified at further points of each box. In addition to fit.h, which finds one formula with its range for
 * each of a few outputs, this covers what is piecewise (maxima of sizes), and thousands of outputs of which
 * most are equal, such as those of the layers of a network. Independent of models. */
#ifndef OC_FIT_BOXES_H
#define OC_FIT_BOXES_H

#include "analyze/fit.h"
#include "base/arena.h"

#define OC_BOX_GROUPS 16

struct oc_box_var {
    int64_t start;          /* a size at which the function has a value when all variables have theirs */
    int64_t from, to, step; /* to be covered: start, start +- step ... */
};

struct oc_boxes_in {
    oc_fit_eval eval;
    void *ctx;
    unsigned n_var; /* <= OC_RPOLY_VARS */
    const struct oc_box_var *var;
    unsigned step_groups; /* where these first groups have no fit, multiples of a step are tried; 0: never */
    size_t n_out;
    unsigned n_group;        /* outputs in groups with boxes of their own; <= OC_BOX_GROUPS */
    const size_t *group_end; /* by group: index after its last output */
    uint32_t max_evals;
};

enum oc_box_form { OC_BOX_POLY, OC_BOX_MIN, OC_BOX_MAX, OC_BOX_FORMS };

struct oc_box {
    int64_t from[OC_RPOLY_VARS], to[OC_RPOLY_VARS];
    uint32_t *poly;  /* by class of outputs: index of the polynomial */
    uint32_t *other; /* OC_NONE, or the value is the smaller or larger of two polynomials */
    uint8_t *form;   /* enum oc_box_form */
};

struct oc_box_group {
    uint32_t n_class, zero; /* zero: the class of outputs that are 0; OC_NONE: none */
    uint32_t *class_id;     /* private */
    struct oc_box *box;     /* heap, disjoint */
    uint32_t n_box, cap_box;
};

struct oc_boxes {
    struct oc_arena arena;
    unsigned n_var;
    int64_t first[OC_RPOLY_VARS],
        step[OC_RPOLY_VARS]; /* a box holds for x with (x - first) divisible by step */
    unsigned n_group;
    struct oc_box_group group[OC_BOX_GROUPS];
    uint32_t *class_of;    /* by output, in its group: outputs of a class are equal everywhere */
    struct oc_rpoly *poly; /* heap, distinct */
    uint32_t n_poly, cap_poly;
    uint32_t evals;
};

/* False: the function has no value at the start. What cannot be fitted is in no box. */
bool oc_boxes_make(const struct oc_boxes_in *in, struct oc_boxes *out);
void oc_boxes_free(struct oc_boxes *b);
/* Value of an output; false: no box covers the point. */
bool oc_boxes_at(const struct oc_boxes *b, unsigned group, size_t output, const int64_t *x, uint64_t *out);

#endif
