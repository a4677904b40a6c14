/* Fits of calibrations to measurements: a few parameters by least squares, residuals by a forest. */
#ifndef OC_REGRESSION_H
#define OC_REGRESSION_H

#include <stdbool.h>
#include <stddef.h>

#include "estimate/curve.h"

/* ---- least squares ------------------------------------------------------------------------------------- */

/* Least squares for a few parameters: Levenberg-Marquardt with a numeric Jacobian, a robust loss and Gaussian
 * priors. Deterministic; allocates no persistent memory. */

#define OC_LM_MAX 8

/* Fills r[n] for the parameters x; non-finite values count as a very bad fit. */
typedef void (*oc_lm_residuals)(void *user, const double *x, double *r);

struct oc_lm_problem {
    size_t n;   /* residuals; may be 0: the result is the prior */
    unsigned k; /* parameters, 1 .. OC_LM_MAX */
    oc_lm_residuals residuals;
    void *user;
    const double *weight;     /* [n]; NULL: 1 */
    double huber;             /* residuals beyond it count linearly; 0: squares only */
    const double *prior, *sd; /* [k]; NULL: none. sd 0: the parameter is fixed at its start */
    double lambda;            /* weight of the priors */
    const double *lo, *hi;    /* [k]; NULL: no bounds */
    unsigned max_iterations;  /* 0: 50 */
};

/* x: start and result. work: (k + 1) * n doubles. Returns the loss, which is never above that of the start.
 */
double oc_lm_fit(const struct oc_lm_problem *p, double *x, double *work);

/* Starts from `prior` and from points +- 1 sd around it, in a fixed pattern of `starts` (1 .. 8); returns the
 * best. */
double oc_lm_fit_multi(const struct oc_lm_problem *p, const double *start, unsigned starts, double *x,
                       double *work);

/* ---- forest -------------------------------------------------------------------------------------------- */

/* A bagged regression forest for the residuals of the curves: the logarithm of measured over predicted time.
 * Deterministic to the bit. Trees are flat arrays for storage in a file. */

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

#endif
