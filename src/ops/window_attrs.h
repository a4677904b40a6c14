/* Window attributes of convolutions and pools: kernel_shape, strides, pads, dilations, auto_pad, ceil_mode;
 * one struct oc_window per axis. */
#ifndef OC_WINDOW_ATTRS_H
#define OC_WINDOW_ATTRS_H

#include "ops/op.h"
#include "shape/window.h"

struct oc_windows {
    unsigned n; /* spatial axes */
    struct oc_window axis[OC_MAX_RANK];
};

/* Reads the attributes for n axes. `kernel`: the kernel sizes to use when the attribute is absent, NULL: the
 * attribute is required. Returns 0, or -1 after an error. */
int oc_windows_read(struct oc_op_ctx *c, unsigned n, const struct oc_dim *kernel, struct oc_windows *w);

/* Output size along axis i (index among the spatial axes); -1 after an error when the window does not fit. */
int oc_windows_out(struct oc_op_ctx *c, const struct oc_windows *w, unsigned i, struct oc_dim in,
                   struct oc_dim *out);

/* Pairs (i, t) with 0 <= i < n, 0 <= t < k and 0 <= i*s - p + t*d < limit: the taps inside the tensor. */
uint64_t oc_taps(struct oc_op_ctx *c, uint64_t n, uint64_t k, int64_t s, int64_t p, int64_t d,
                 uint64_t limit);

/* Taps of all windows: product over the axes of out * kernel, or with `taps_valid` of those inside the input.
 * in, out: the first spatial dims. */
uint64_t oc_windows_taps(struct oc_op_ctx *c, const struct oc_windows *w, const struct oc_dim *in,
                         const struct oc_dim *out);

#endif
