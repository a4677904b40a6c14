/* One kernel launched by a runtime, possibly of several fused nodes, with its class, its work and its sizes.
 * The same type is used for measured kernels (a join) and planned ones (a fusion plan). Sizes are counts of
 * elements, times seconds. */
#ifndef OC_KERNEL_H
#define OC_KERNEL_H

#include "estimate/roofline.h"

enum oc_kernel_group { OC_KG_COMPUTE, OC_KG_MEMORY, OC_KG_IRREGULAR, OC_KG_COUNT };

const char *oc_kernel_class_name(unsigned cls);     /* "conv_1x1" */
unsigned oc_kernel_class_by_name(const char *name); /* OC_KC_COUNT if unknown */
enum oc_kernel_group oc_kernel_class_group(unsigned cls);
const char *oc_kernel_group_name(unsigned group); /* "compute" */

enum { OC_VARIANT_UNSIGNED = 1, OC_VARIANT_SIGNED = 2 }; /* of a kernel of integers: its weights */

struct oc_kernel {
    uint8_t cls;   /* enum oc_kernel_class */
    uint8_t dtype; /* enum oc_class of the arithmetic; of the data where there is none; I32 for products of I8
                      with 32-bit results */
    struct oc_work work; /* operations by unit and class; bytes: those that cross its border */
    uint64_t rd_act, rd_wt, wr;
    /* The contraction: C[M,N] = A[M,K] B[K,N], `batch` times. A convolution: M output channels of a group, N
     * output positions of all images, K taps, batch the groups. 0: none, or unknown sizes. */
    double m, n, k, batch;
    double kernel_h, kernel_w, stride, dilation, groups; /* of windows; 0: no window */
    double channels_in;
    /* Memory access pattern: length of contiguous runs of elements. 1: every element of a row is elsewhere;
     * 0: fully contiguous, or unknown (kernels.h). */
    double run;
    uint8_t function;      /* its most frequent transcendental primitive (enum oc_prim), 0: none */
    uint8_t variant;       /* of the operator: order of axes, interpolation (kernels.c); 0: the usual one */
    uint16_t op;           /* hash of its operator type, 0: unknown */
    double steps;          /* in sequence: of a recurrent layer, images of a convolution; else 0 */
    uint64_t reload_bytes; /* weights read again in every step but the first; not in rd_wt */
    uint32_t members;      /* nodes in it */
    double assisted;       /* share of its vectors of weights with a subnormal number (subnormal.h) */
    bool rectified;        /* then: its input comes from Relu */
    uint64_t
        signature;     /* hash of class, type, all sizes and attributes that determine the work; 0: unknown */
    uint32_t node;     /* node that determines its class; OC_NONE */
    const char *label; /* display name; may be NULL */
};

#endif
