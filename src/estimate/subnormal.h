/* Weights that are subnormal floats (below 2^-126). Intel processors multiply with them in microcode: a vector
 * multiply-add with one in it takes 150 cycles. In kernels of 14 public networks, ONNX Runtime 1.30 on AVX-512, the time
 * above that of the same kernel with other weights was 134 to 187 cycles per such instruction where the input has both
 * signs, and less after Relu, since products with zero are exact. */
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

/* Sets `assisted` and `rectified` of kernels that multiply such weights on such a processor. */
void oc_subnormal_mark(const struct oc_model *m, const struct oc_device *d, struct oc_kernel_list *list);

/* Seconds that they add to one execution of a marked kernel: as expected, 0 on processors of AMD, which were not
 * measured; and if no input is zero. */
struct oc_assists {
    double usual_s, most_s;
};
struct oc_assists oc_subnormal_assists(const struct oc_kernel *k, const struct oc_device *d);

#endif
