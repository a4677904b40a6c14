/* A bagged regression forest for the residuals of the curves: the logarithm of measured over predicted time.
 * Deterministic to the bit. Trees are flat arrays for storage in a file. */
#ifndef OC_FOREST_H
#define OC_FOREST_H

#include "estimate/curve.h"

#define OC_FOREST_FEATURES 28
/* 1: of a training sample from a network of single operators, whose sizes vary more from kernel to kernel, so
 * that caches hold less than in a network. Predictions are for networks. */
#define OC_FOREST_MICRO 27
#define OC_FOREST_CLIP  3.0

/* feature >= 0: continue at `left` if x[feature] <= value, else at left + 1. feature -1: leaf with the answer
 * `value`. */
struct oc_forest_node {
    int16_t feature;
    uint16_t left; /* relative to the first node of the tree */
    float value;
};

struct oc_forest {
    uint32_t *root; /* first node of each tree, and n_node at the end: [n_tree + 1] */
    struct oc_forest_node *node;
    uint32_t n_tree, n_node;
    double lo, hi; /* answers are clipped to the range of the training data, and to OC_FOREST_CLIP */
};

struct oc_forest_opts {
    uint32_t trees, depth, min_leaf; /* defaults for 0: 32, 6, 8 */
    uint64_t seed;                   /* 0: a fixed seed */
};

/* x: n rows of OC_FOREST_FEATURES; y, weight: [n]. NULL if n < 2 * min_leaf. In the arena. */
const struct oc_forest *oc_forest_fit(struct oc_arena *a, const double *x, const double *y,
                                      const double *weight, size_t n, const struct oc_forest_opts *opts);
double oc_forest_answer(const struct oc_forest *f, const double *x);

/* Of a kernel: logarithms of its sizes, its intensity relative to the ridge, remainders, window, class. */
void oc_forest_features(const struct oc_kernel *kernel, const struct oc_cal_point *point, double *x);
const char *oc_forest_feature_name(unsigned feature);

#endif
