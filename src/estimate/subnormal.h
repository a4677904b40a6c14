/* Weights that are subnormal floats (below 2^-126). x86 processors multiply with them in microcode: of 108
 * models from public repositories 10 have some, and seven of these ran 1.4 to 22 times longer on an AVX-512
 * processor than with ONNX Runtime's session.set_denormal_as_zero=1. */
#ifndef OC_SUBNORMAL_H
#define OC_SUBNORMAL_H

#include "estimate/predict.h"

/* Share of subnormal numbers in the f32 constants that the nodes read, 0 to 1: of a sample of at most 16384
 * elements of each constant, at 16 places. */
double oc_subnormal_share(const struct oc_model *m, const uint32_t *node, uint32_t n_node);

/* A convolution with 0.3 % of such weights took nine times as long. */
#define OC_SUBNORMAL_LEAST 0.001
/* A kernel with such weights takes at most so many times its time: the largest measured ratio, 32, rounded
 * up. */
#define OC_SUBNORMAL_MOST 40

/* Raises the upper ends of the intervals of kernels with such weights, and of the run, on x86 processors. */
void oc_subnormal_widen(struct oc_estimate *e);

#endif
