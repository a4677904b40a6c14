#include "shape/type.h"

#include "base/ck.h"

static bool is_same(const struct oc_window *w)
{
    return w->auto_pad == OC_PAD_SAME_UPPER || w->auto_pad == OC_PAD_SAME_LOWER;
}

static int64_t stride_of(const struct oc_window *w)
{
    return w->stride > 0 ? w->stride : 1;
}

static struct oc_dim add_const(struct oc_exprs *x, struct oc_dim d, int64_t v)
{
    return oc_dim_add(x, d, oc_known(v));
}

/* (k - 1)*dilation + 1: input span of the window */
static struct oc_dim window_span(struct oc_exprs *x, const struct oc_window *w)
{
    struct oc_dim k = add_const(x, w->kernel, -1);
    return add_const(x, oc_dim_mul(x, k, oc_known(w->dilation > 0 ? w->dilation : 1)), 1);
}

/* Windows that start in the end padding are dropped: o -= 1 if (o-1)*s >= in + pad_begin. */
static struct oc_dim ceil_out(struct oc_exprs *x, struct oc_dim in, struct oc_dim num, struct oc_dim padded,
                              const struct oc_window *w)
{
    struct oc_dim s = oc_known(stride_of(w));
    struct oc_dim o = add_const(x, oc_dim_ceildiv(x, num, s), 1);
    int64_t start, end;
    if (w->literal_ceil)
        return o;
    if (oc_is_known(o) && oc_is_known(in)) {
        bool late = oc_mul_i64(o.v - 1, s.v, &start) && oc_add_i64(in.v, w->pad_begin, &end) && start >= end;
        return late && o.v > 0 ? oc_known(o.v - 1) : o;
    }
    /* Bounded by the last start inside the data, floor((padded - 1)/s) + 1: o = floor((padded - 1 + gap)/s) +
     * 1 */
    struct oc_dim inside = add_const(x, oc_dim_floordiv(x, add_const(x, padded, -1), s), 1);
    struct oc_dim gap = oc_dim_sub(x, oc_dim_add(x, num, s), padded);
    if (!oc_is_known(gap))
        return oc_dim_min(x, o, inside);
    return gap.v <= 0 ? o : inside;
}

struct oc_dim oc_window_out(struct oc_exprs *x, struct oc_dim in, const struct oc_window *w)
{
    struct oc_dim s = oc_known(stride_of(w));
    if (is_same(w))
        return oc_dim_ceildiv(x, in, s);
    struct oc_window v = *w;
    if (w->auto_pad == OC_PAD_VALID)
        v.pad_begin = v.pad_end = 0;
    struct oc_dim padded = add_const(x, in, v.pad_begin);
    struct oc_dim num = oc_dim_sub(x, add_const(x, padded, v.pad_end), window_span(x, w));
    if (v.ceil_mode)
        return ceil_out(x, in, num, padded, &v);
    return add_const(x, oc_dim_floordiv(x, num, s), 1);
}

struct oc_dim oc_window_out_transposed(struct oc_exprs *x, struct oc_dim in, const struct oc_window *w,
                                       int64_t output_padding)
{
    struct oc_dim s = oc_known(stride_of(w));
    struct oc_dim reach = add_const(x, window_span(x, w), output_padding);
    struct oc_dim o = oc_dim_add(x, oc_dim_mul(x, s, add_const(x, in, -1)), reach);
    if (is_same(w)) /* pads so that the output is in*s, where cropping is needed */
        return oc_dim_sub(x, o, oc_dim_max(x, oc_dim_sub(x, reach, s), oc_known(0)));
    if (w->auto_pad == OC_PAD_VALID)
        return o;
    return oc_dim_sub(x, oc_dim_sub(x, o, oc_known(w->pad_begin)), oc_known(w->pad_end));
}

int64_t oc_window_pad_begin(int64_t in, int64_t out, const struct oc_window *w)
{
    if (w->auto_pad == OC_PAD_VALID)
        return 0;
    if (!is_same(w))
        return w->pad_begin;
    int64_t k = w->kernel.v, reach, start, total;
    if (!oc_mul_i64(k - 1, w->dilation, &reach) || !oc_mul_i64(out - 1, stride_of(w), &start) ||
        !oc_add_i64(start, reach + 1, &total) || !oc_sub_i64(total, in, &total) || total < 0)
        return 0;
    return w->auto_pad == OC_PAD_SAME_UPPER ? total / 2 : total - total / 2;
}
