/* Output sizes of convolution and pooling windows along one axis. */
#ifndef OC_WINDOW_H
#define OC_WINDOW_H

#include "shape/dim.h"

enum oc_auto_pad { OC_PAD_NOTSET, OC_PAD_VALID, OC_PAD_SAME_UPPER, OC_PAD_SAME_LOWER };

struct oc_window {
    struct oc_dim kernel;
    int64_t stride, dilation; /* >= 1 */
    int64_t pad_begin, pad_end;
    enum oc_auto_pad auto_pad;
    bool ceil_mode;
    bool literal_ceil; /* keep windows that start in the end padding (specification before opset 22) */
};

/* floor((in + pads - ((k - 1)*d + 1))/s) + 1, SAME: ceil(in/s), VALID: pads 0; in ceil mode windows that
 * would start in the end padding are dropped. A negative known size is returned unchanged. */
struct oc_dim oc_window_out(struct oc_exprs *x, struct oc_dim in, const struct oc_window *w);

/* Transposed: s*(in-1) + output_padding + (k-1)*d + 1 - pads; SAME: in*s (less if the window and the output
 * padding together do not fill a stride). */
struct oc_dim oc_window_out_transposed(struct oc_exprs *x, struct oc_dim in, const struct oc_window *w,
                                       int64_t output_padding);

/* The begin padding that the window really uses (auto_pad resolved), all sizes known. */
int64_t oc_window_pad_begin(int64_t in, int64_t out, const struct oc_window *w);

#endif
