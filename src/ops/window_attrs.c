/* Windows of convolutions and pools, from attributes. */
#include "ops/shared_rules.h"
#include "base/ck.h"

#include <string.h>

#define MAX_EXTENT                                                                                           \
    (INT64_C(1) << 40) /* limit of strides, pads, dilations: keeps all sums far from overflow */
#define MAX_TAPS_AXIS (UINT64_C(1) << 20)

static int window_attrs_read_list(struct oc_op_ctx *c, const char *name, unsigned n, int64_t least,
                                  const int64_t **list)
{
    uint32_t got;
    *list = oc_attr_ints(c, name, &got);
    if (*list && got == 0)
        *list = NULL;
    if (*list && got != n)
        return oc_op_fail(c, "%s has %u elements, expected %u", name, got, n);
    for (uint32_t i = 0; *list && i < got; i++)
        if ((*list)[i] < least || (*list)[i] > MAX_EXTENT)
            return oc_op_fail(c, "%s: %lld", name, (long long)(*list)[i]);
    return 0;
}

static int read_auto_pad(struct oc_op_ctx *c, enum oc_auto_pad *out)
{
    static const char *const names[] = {
        [OC_PAD_NOTSET] = "NOTSET",
        [OC_PAD_VALID] = "VALID",
        [OC_PAD_SAME_UPPER] = "SAME_UPPER",
        [OC_PAD_SAME_LOWER] = "SAME_LOWER",
    };
    const char *s = oc_attr_s(c, "auto_pad", "NOTSET");
    for (unsigned i = 0; i < OC_COUNT(names); i++)
        if (strcmp(s, names[i]) == 0 || s[0] == '\0') {
            *out = (enum oc_auto_pad)i;
            return 0;
        }
    return oc_op_fail(c, "auto_pad '%s'", s);
}

static int check_kernel(struct oc_op_ctx *c, const int64_t *attr, const struct oc_dim *kernel, unsigned n)
{
    if (!attr && !kernel)
        return oc_op_fail(c, "kernel_shape is missing");
    for (unsigned i = 0; i < n; i++) {
        if (attr && kernel && oc_is_known(kernel[i]) && kernel[i].v != attr[i])
            return oc_op_fail(c, "kernel_shape is %lld but the weight has %lld", (long long)attr[i],
                              (long long)kernel[i].v);
        if (!attr && oc_is_known(kernel[i]) && (kernel[i].v < 1 || kernel[i].v > MAX_EXTENT))
            return oc_op_fail(c, "invalid kernel size %lld", (long long)kernel[i].v);
    }
    return 0;
}

int oc_windows_read(struct oc_op_ctx *c, unsigned n, const struct oc_dim *kernel, struct oc_windows *w)
{
    const int64_t *shape, *strides, *pads, *dilations;
    enum oc_auto_pad auto_pad = OC_PAD_NOTSET;
    if (window_attrs_read_list(c, "kernel_shape", n, 1, &shape) ||
        window_attrs_read_list(c, "strides", n, 1, &strides) ||
        window_attrs_read_list(c, "dilations", n, 1, &dilations) ||
        window_attrs_read_list(c, "pads", 2 * n, -MAX_EXTENT, &pads) || read_auto_pad(c, &auto_pad) ||
        check_kernel(c, shape, kernel, n))
        return -1;
    w->n = n;
    for (unsigned i = 0; i < n; i++)
        w->axis[i] = (struct oc_window){.kernel = shape ? oc_known(shape[i]) : kernel[i],
                                        .stride = strides ? strides[i] : 1,
                                        .dilation = dilations ? dilations[i] : 1,
                                        .pad_begin = pads ? pads[i] : 0,
                                        .pad_end = pads ? pads[n + i] : 0,
                                        .auto_pad = auto_pad,
                                        .ceil_mode = oc_attr_i(c, "ceil_mode", 0) != 0};
    return 0;
}

/* The specification before opset 22: the last window may start in the end padding. */
static struct oc_dim literal_ceil(struct oc_op_ctx *c, struct oc_dim in, const struct oc_window *w)
{
    struct oc_exprs *x = c->exprs;
    bool padded = w->auto_pad == OC_PAD_NOTSET;
    struct oc_dim extent = oc_dim_mul(x, oc_dim_sub(x, w->kernel, oc_known(1)), oc_known(w->dilation));
    struct oc_dim span = oc_dim_add(x, in, oc_known(padded ? w->pad_begin + w->pad_end : 0));
    struct oc_dim steps = oc_dim_sub(x, oc_dim_sub(x, span, extent), oc_known(1));
    return oc_dim_add(x, oc_dim_ceildiv(x, steps, oc_known(w->stride)), oc_known(1));
}

int oc_windows_out(struct oc_op_ctx *c, const struct oc_windows *w, unsigned i, struct oc_dim in,
                   struct oc_dim *out)
{
    const struct oc_window *a = &w->axis[i];
    bool literal = c->opt.literal_ceil_mode && a->ceil_mode && a->auto_pad <= OC_PAD_VALID;
    *out = literal ? literal_ceil(c, in, a) : oc_window_out(c->exprs, in, a);
    if (oc_is_known(*out) && out->v <= 0)
        return oc_op_fail(c, "a window of %s does not fit into spatial axis %u of size %s",
                          oc_dim_text(c->exprs, a->kernel), i, oc_dim_text(c->exprs, in));
    return 0;
}

uint64_t oc_taps(struct oc_op_ctx *c, uint64_t n, uint64_t k, int64_t s, int64_t p, int64_t d, uint64_t limit)
{
    if (k > MAX_TAPS_AXIS || n > INT64_MAX / 4 || limit > INT64_MAX / 4) {
        c->upper = true;
        return oc_c_mul(c, n, k);
    }
    uint64_t sum = 0;
    for (int64_t t = 0; t < (int64_t)k; t++) {
        /* i*s >= p - t*d and i*s < limit + p - t*d */
        int64_t lo = oc_ceil_div(p - t * d, s), hi = oc_ceil_div((int64_t)limit + p - t * d, s);
        lo = lo < 0 ? 0 : lo;
        hi = hi > (int64_t)n ? (int64_t)n : hi;
        sum = oc_c_add(c, sum, hi > lo ? (uint64_t)(hi - lo) : 0);
    }
    return sum;
}

uint64_t oc_windows_taps(struct oc_op_ctx *c, const struct oc_windows *w, const struct oc_dim *in,
                         const struct oc_dim *out)
{
    uint64_t all = 1;
    for (unsigned i = 0; i < w->n; i++) {
        const struct oc_window *a = &w->axis[i];
        uint64_t o = oc_c_dim(c, out[i]), k = oc_c_dim(c, a->kernel), n = oc_c_mul(c, o, k);
        if (c->opt.taps_valid && oc_is_known(in[i]) && oc_is_known(out[i])) {
            int64_t p = oc_window_pad_begin(in[i].v, out[i].v, a);
            n = oc_taps(c, o, k, a->stride, p, a->dilation, (uint64_t)in[i].v);
        }
        all = oc_c_mul(c, all, n);
    }
    return all;
}
