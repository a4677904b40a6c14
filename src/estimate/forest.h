/* A bagged regression forest for what curves leave over: the logarithm of measured over predicted time. The
 * same data give the same forest, bit by bit. Trees are flat arrays, so that a file can hold them. */
#ifndef OC_FOREST_H
#define OC_FOREST_H

#include "estimate/curve.h"

#define OC_FOREST_FEATURES 25
#define OC_FOREST_CLIP     0.7

/* feature >= 0: go to `left` if x[feature] <= value, else to left + 1. feature -1: value is the answer. */
struct oc_forest_node {
    int16_t feature;
    uint16_t left; /* from the first node of the tree */
    float value;
};

struct oc_forest {
    uint32_t *root; /* first node of each tree, and n_node behind the last: [n_tree + 1] */
    struct oc_forest_node *node;
    uint32_t n_tree, n_node;
    double lo, hi; /* answers are clipped to them: what was seen in training, and OC_FOREST_CLIP */
};

struct oc_forest_opts {
    uint32_t trees, depth, min_leaf; /* 0: 50, 6, 8 */
    uint64_t seed;                   /* 0: a fixed one */
};

/* x: n rows of OC_FOREST_FEATURES; y, weight: [n]. NULL if n < 2 * min_leaf. In the arena. */
const struct oc_forest *oc_forest_fit(struct oc_arena *a, const double *x, const double *y,
                                      const double *weight, size_t n, const struct oc_forest_opts *opts);
double oc_forest_answer(const struct oc_forest *f, const double *x);

/* Of a kernel: logarithms of its sizes, its intensity over the ridge, remainders, window, class. */
void oc_forest_features(const struct oc_kernel *kernel, const struct oc_cal_point *point, double *x);
const char *oc_forest_feature_name(unsigned feature);

#endif
