/* Convolutions, and the window attributes that pools share. cost-semantics 4.1, shape-inference 4.2. */
#include <string.h>

#include "base/ck.h"
#include "ops/shared_rules.h"

/* ---- window attributes -------------------------------------------------------------------------------- */

#define MAX_EXTENT                                                                                           \
    (INT64_C(1) << 40) /* limit of strides, pads, dilations: keeps all sums far from overflow */
#define MAX_TAPS_AXIS (UINT64_C(1) << 20)

static int read_list(struct oc_op_ctx *c, const char *name, unsigned n, int64_t least, const int64_t **list)
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
    if (read_list(c, "kernel_shape", n, 1, &shape) || read_list(c, "strides", n, 1, &strides) ||
        read_list(c, "dilations", n, 1, &dilations) || read_list(c, "pads", 2 * n, -MAX_EXTENT, &pads) ||
        read_auto_pad(c, &auto_pad) || check_kernel(c, shape, kernel, n))
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

/* Pairs (i, t) with 0 <= i < n, 0 <= t < k and 0 <= i*s - p + t*d < limit: the taps inside the tensor. */
static uint64_t window_taps(struct oc_op_ctx *c, uint64_t n, uint64_t k, int64_t s, int64_t p, int64_t d,
                            uint64_t limit)
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
            n = window_taps(c, o, k, a->stride, p, a->dilation, (uint64_t)in[i].v);
        }
        all = oc_c_mul(c, all, n);
    }
    return all;
}

/* ---- kinds -------------------------------------------------------------------------------------------- */

#define NO_SLOT 1000

/* Operand slots of an operator of the family. */
struct conv_kind {
    uint16_t x, w, bias, residual, x_zp,
        out_like;  /* out_like: the slot that determines the dtype of the output */
    uint8_t dtype; /* dtype of the output if not that of a slot */
    bool channels_last, blocked, quantized;
};

static const struct conv_kind plain = {.x = 0, .w = 1, .bias = 2, .residual = NO_SLOT, .x_zp = NO_SLOT};
static const struct conv_kind fused = {.x = 0, .w = 1, .bias = 2, .residual = 3, .x_zp = NO_SLOT};
static const struct conv_kind nhwc = {
    .x = 0, .w = 1, .bias = 2, .residual = 3, .x_zp = NO_SLOT, .channels_last = true};
static const struct conv_kind nchwc = {
    .x = 0, .w = 1, .bias = 2, .residual = 3, .x_zp = NO_SLOT, .blocked = true};
static const struct conv_kind integer = {
    .x = 0, .w = 1, .bias = NO_SLOT, .residual = NO_SLOT, .x_zp = 2, .dtype = OC_DT_INT32};
static const struct conv_kind qlinear = {
    .x = 0, .w = 3, .bias = 8, .residual = NO_SLOT, .x_zp = 2, .out_like = 7, .quantized = true};
static const struct conv_kind transposed = {.x = 0, .w = 1, .bias = 2, .residual = NO_SLOT, .x_zp = NO_SLOT};
static const struct conv_kind transposed_pads = {
    .x = 0, .w = 1, .bias = 3, .residual = NO_SLOT, .x_zp = NO_SLOT};
static const struct conv_kind deform = {.x = 0, .w = 1, .bias = 3, .residual = NO_SLOT, .x_zp = NO_SLOT};

static bool conv_channels_last(const struct oc_op_ctx *c, const struct conv_kind *kind)
{
    return kind->channels_last || (kind->quantized && oc_attr_i(c, "channels_last", 0) != 0);
}

/* ---- shape -------------------------------------------------------------------------------------------- */

/* w: [M, C/g, k...]: the channels of x must match the weight. */
static int check_channels(struct oc_op_ctx *c, struct oc_dim channels, struct oc_dim per_group,
                          struct oc_dim m)
{
    int64_t group = oc_attr_i(c, "group", 1);
    if (group < 1)
        return oc_op_fail(c, "invalid group %lld", (long long)group);
    if (oc_is_known(m) && m.v % group != 0)
        return oc_op_fail(c, "%lld output channels are not divisible by %lld groups", (long long)m.v,
                          (long long)group);
    if (oc_is_known(channels) && oc_is_known(per_group) &&
        (channels.v % group != 0 || channels.v / group != per_group.v))
        return oc_op_fail(c, "%lld input channels in %lld groups do not match a weight of %lld channels",
                          (long long)channels.v, (long long)group, (long long)per_group.v);
    return 0;
}

/* Rank of the activation: from x or from w; 0: unknown. -1 after an error. */
static int conv_rank(struct oc_op_ctx *c, const struct oc_shape *x, const struct oc_shape *w)
{
    if (x->ranked && w->ranked && x->rank != w->rank)
        return oc_op_fail(c, "input rank %u differs from weight rank %u", x->rank, w->rank);
    if ((x->ranked && x->rank < 2) || (w->ranked && w->rank < 2))
        return oc_op_fail(c, "an operand has rank below 2");
    return x->ranked ? x->rank : w->ranked ? w->rank : 0;
}

static unsigned conv_dtype(const struct oc_op_ctx *c, const struct conv_kind *kind)
{
    if (kind->dtype)
        return kind->dtype;
    return kind->out_like && oc_in(c, kind->out_like) ? oc_in_dtype(c, kind->out_like)
                                                      : oc_in_dtype(c, kind->x);
}

static int conv_dims(struct oc_op_ctx *c, const struct conv_kind *kind, unsigned rank, struct oc_dim *dim)
{
    const struct oc_shape *x = oc_in_shape(c, kind->x), *w = oc_in_shape(c, kind->w);
    unsigned n = rank - 2, first = conv_channels_last(c, kind) ? 1 : 2,
             channel = conv_channels_last(c, kind) ? rank - 1 : 1;
    struct oc_windows win;
    bool sized = w->ranked || oc_has_attr(c, "kernel_shape");
    if (sized && oc_windows_read(c, n, w->ranked ? w->dim + 2 : NULL, &win))
        return -1;
    if (x->ranked && w->ranked && !kind->blocked && check_channels(c, x->dim[channel], w->dim[1], w->dim[0]))
        return -1;
    dim[0] = x->ranked ? x->dim[0] : oc_op_fresh_dim(c, "0", -1);
    dim[channel] = w->ranked ? w->dim[0] : oc_op_fresh_dim(c, "1", -1);
    for (unsigned i = 0; i < n; i++) {
        if (!x->ranked || !sized)
            dim[first + i] = oc_fresh_axis(c, first + i, -1);
        else if (oc_windows_out(c, &win, i, x->dim[first + i], &dim[first + i]))
            return -1;
    }
    return 0;
}

static int shape_conv(struct oc_op_ctx *c)
{
    const struct conv_kind *kind = c->op->param;
    int rank = conv_rank(c, oc_in_shape(c, kind->x), oc_in_shape(c, kind->w));
    struct oc_dim dim[OC_MAX_RANK];
    struct oc_shape out = oc_shape_unranked();
    if (rank < 0 || (rank > 0 && conv_dims(c, kind, (unsigned)rank, dim)))
        return -1;
    if (rank > 0)
        out = oc_shape_of(c->arena, (unsigned)rank, dim);
    oc_set_out(c, 0, conv_dtype(c, kind), out);
    return 0;
}

/* ---- cost --------------------------------------------------------------------------------------------- */

/* 1: the shapes are known, 0: not, -1: error */
static int read_windows(struct oc_op_ctx *c, const struct conv_kind *kind, struct oc_windows *win)
{
    const struct oc_shape *w = oc_in_shape(c, kind->w);
    const struct oc_type *o = oc_out(c, 0);
    if (!oc_in_shape(c, kind->x)->ranked || !w->ranked || !o || !o->shape.ranked)
        return oc_cost_unknown(c);
    return oc_windows_read(c, w->rank - 2U, w->dim + 2, win) ? -1 : 1;
}

/* The taps where the text cannot say them: inside of the tensor only, or channels last. Zero point of x. */
static int conv_values(struct oc_op_ctx *c, struct oc_cost *cost)
{
    const struct conv_kind *kind = c->op->param;
    const struct oc_shape *x = oc_in_shape(c, kind->x);
    const struct oc_type *o = oc_out(c, 0);
    struct oc_windows win;
    (void)cost;
    int known = read_windows(c, kind, &win);
    unsigned first = conv_channels_last(c, kind) ? 1 : 2;
    if (known > 0 && (c->opt.taps_valid || first == 1))
        oc_add_formula_value(c, "taps", oc_windows_taps(c, &win, x->dim + first, o->shape.dim + first));
    if (oc_zero_point_counts(c, kind->x_zp))
        oc_add_formula_value(c, "zp", oc_c_in(c, kind->x));
    return known < 0 ? -1 : 0;
}

/* ---- ConvTranspose ------------------------------------------------------------------------------------ */

/* The attribute output_shape: spatial sizes; old models list all axes. */
static int wanted_shape(struct oc_op_ctx *c, unsigned n, const int64_t **sizes)
{
    uint32_t got;
    *sizes = oc_attr_ints(c, "output_shape", &got);
    if (*sizes && got == 0)
        *sizes = NULL;
    if (*sizes && got != n && got != n + 2)
        return oc_op_fail(c, "output_shape has %u elements, expected %u", got, n);
    if (*sizes && got == n + 2)
        *sizes += 2;
    for (unsigned i = 0; *sizes && i < n; i++)
        if ((*sizes)[i] < 1)
            return oc_op_fail(c, "output_shape: %lld", (long long)(*sizes)[i]);
    return 0;
}

/* Pads given as an input (ConvTransposeWithDynamicPads). 1 known, 0 none, -1 unknown. */
static int dynamic_pads(struct oc_op_ctx *c, struct oc_windows *win)
{
    uint32_t n;
    if (strcmp(c->op->name, "ConvTransposeWithDynamicPads") != 0 || !oc_in(c, 2))
        return 0;
    const int64_t *p = oc_in_ints(c, 2, &n);
    if (!p || n != 2 * win->n)
        return -1;
    for (unsigned i = 0; i < win->n; i++) {
        win->axis[i].pad_begin = p[i];
        win->axis[i].pad_end = p[win->n + i];
    }
    return 1;
}

static int transposed_dims(struct oc_op_ctx *c, const struct oc_shape *x, const struct oc_shape *w,
                           struct oc_dim *dim)
{
    unsigned n = x->rank - 2U;
    struct oc_windows win;
    const int64_t *sizes;
    uint32_t n_extra;
    const int64_t *extra = oc_attr_ints(c, "output_padding", &n_extra);
    if (oc_windows_read(c, n, w->dim + 2, &win) || wanted_shape(c, n, &sizes))
        return -1;
    if (extra && n_extra && n_extra != n)
        return oc_op_fail(c, "output_padding has %u elements, expected %u", n_extra, n);
    int pads = dynamic_pads(c, &win);
    for (unsigned i = 0; i < n; i++) {
        struct oc_dim *d = &dim[2 + i];
        *d = oc_window_out_transposed(c->exprs, x->dim[2 + i], &win.axis[i], extra && n_extra ? extra[i] : 0);
        if (sizes)
            *d = oc_known(sizes[i]);
        else if (pads < 0)
            *d = oc_fresh_axis(c, 2 + i, -1);
        if (oc_is_known(*d) && d->v <= 0)
            return oc_op_fail(c, "spatial axis %u has invalid size %lld", i, (long long)d->v);
    }
    return 0;
}

static int shape_conv_transpose(struct oc_op_ctx *c)
{
    const struct conv_kind *kind = c->op->param;
    const struct oc_shape *x = oc_in_shape(c, kind->x), *w = oc_in_shape(c, kind->w);
    int64_t group = oc_attr_i(c, "group", 1);
    struct oc_dim dim[OC_MAX_RANK];
    if (conv_rank(c, x, w) < 0)
        return -1;
    if (!x->ranked || !w->ranked)
        return oc_out_unranked(c, conv_dtype(c, kind));
    if (group < 1)
        return oc_op_fail(c, "invalid group %lld", (long long)group);
    if (oc_is_known(x->dim[1]) && oc_is_known(w->dim[0]) && x->dim[1].v != w->dim[0].v)
        return oc_op_fail(c, "%lld input channels do not match a weight of %lld channels",
                          (long long)x->dim[1].v, (long long)w->dim[0].v);
    dim[0] = x->dim[0];
    dim[1] = oc_dim_mul(c->exprs, w->dim[1], oc_known(group));
    if (transposed_dims(c, x, w, dim))
        return -1;
    oc_set_out(c, 0, conv_dtype(c, kind), oc_shape_of(c->arena, x->rank, dim));
    return 0;
}

/* Begin padding of an axis when output_shape gives the size (specification of all versions). */
static int64_t begin_from_size(const struct oc_window *a, int64_t in, int64_t out, int64_t extra)
{
    int64_t total = a->stride * (in - 1) + extra + (a->kernel.v - 1) * a->dilation + 1 - out;
    total = total < 0 ? 0 : total;
    return a->auto_pad == OC_PAD_SAME_UPPER ? total / 2 : total - total / 2;
}

/* Taps per axis: each input element contributes to k positions; with `taps_valid`, cropped positions are
 * excluded. */
static uint64_t transposed_taps(struct oc_op_ctx *c, const struct oc_shape *x, const struct oc_shape *o,
                                const struct oc_windows *win)
{
    uint32_t n_extra, n_sizes;
    const int64_t *extra = oc_attr_ints(c, "output_padding", &n_extra);
    oc_attr_ints(c, "output_shape", &n_sizes);
    uint64_t all = 1;
    for (unsigned i = 0; i < win->n; i++) {
        const struct oc_window *a = &win->axis[i];
        struct oc_dim in = x->dim[2 + i], out = o->dim[2 + i];
        uint64_t n = oc_c_dim(c, in), k = oc_c_dim(c, a->kernel), taps = oc_c_mul(c, n, k);
        if (c->opt.taps_valid && oc_is_known(in) && oc_is_known(out) && oc_is_known(a->kernel)) {
            bool sized = n_sizes != 0 || a->auto_pad >= OC_PAD_SAME_UPPER;
            int64_t p = a->auto_pad == OC_PAD_VALID ? 0 : a->pad_begin;
            if (sized)
                p = begin_from_size(a, in.v, out.v, extra && n_extra == win->n ? extra[i] : 0);
            taps = window_taps(c, n, k, a->stride, p, a->dilation, (uint64_t)out.v);
        }
        all = oc_c_mul(c, all, taps);
    }
    return all;
}

static int transposed_values(struct oc_op_ctx *c, struct oc_cost *cost)
{
    const struct conv_kind *kind = c->op->param;
    const struct oc_type *o = oc_out(c, 0);
    struct oc_windows win;
    (void)cost;
    int known = read_windows(c, kind, &win);
    if (known > 0 && c->opt.taps_valid) {
        dynamic_pads(c, &win);
        oc_add_formula_value(c, "taps", transposed_taps(c, oc_in_shape(c, kind->x), &o->shape, &win));
    }
    if (oc_zero_point_counts(c, kind->x_zp))
        oc_add_formula_value(c, "zp", oc_c_in(c, kind->x));
    return known < 0 ? -1 : 0;
}
static const char transposed_formula[] =
    "MAC = N*C*taps*Mg; ADD = [B]*N(o); N := x[0]; C := x[1]; Mg := w[1]; taps := x[2:]*w[2:]";
#define transposed_pads_formula transposed_formula
static const char transposed_qlinear_formula[] =
    "MAC = N*C*taps*Mg; ADD:int = [B]*N(o) + zp; requantize = N(o); N := x[0]; C := x[1]; Mg := in3[1]; "
    "taps := x[2:]*in3[2:]; zp := 0";
#define transposed_qlinear qlinear /* the same slots */

/* ---- DeformConv --------------------------------------------------------------------------------------- */

/* S samples of T = 2^axes taps at L places */
static int deform_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    const struct oc_shape *x = oc_in_shape(c, 0);
    const struct oc_type *o = oc_out(c, 0);
    int64_t groups = oc_attr_i(c, "offset_group", 1);
    if (conv_values(c, k))
        return -1;
    if (!x->ranked || !o || !o->shape.ranked || groups < 1)
        return oc_cost_unknown(c);
    unsigned axes = x->rank - 2U;
    oc_add_formula_value(c, "axes", axes);
    oc_add_formula_value(c, "T", axes < 63 ? UINT64_C(1) << axes : 0);
    oc_add_formula_value(c, "groups", (uint64_t)groups);
    return 0;
}
static const char deform_conv_formula[] =
    "MAC = N*M*taps*Cg; ADD = [B]*N(o); MUL = S*(T + [in4]) + L*T*(axes - 1); ADD = S*(T - 1) + 3*L*axes; "
    "RND = L*axes; N := o[0]; M := w[0]; Cg := w[1]; taps := o[2:]*w[2:]; S := N*x[1]*o[2:]*w[2:]; "
    "L := N*groups*o[2:]*w[2:]";

/* ---- Col2Im ----------------------------------------------------------------------------------------- */

static int shape_col2im(struct oc_op_ctx *c)
{
    const struct oc_shape *x = oc_in_shape(c, 0), *image = oc_in_shape(c, 1);
    uint32_t n_block;
    const int64_t *block = oc_in_ints(c, 2, &n_block);
    const struct oc_data *size = oc_in_value(c, 1);
    struct oc_dim dim[OC_MAX_RANK], volume = oc_known(1);
    unsigned n = size ? size->n
                 : image->ranked && image->rank == 1 && oc_is_known(image->dim[0]) && image->dim[0].v >= 0 &&
                         image->dim[0].v <= OC_MAX_RANK - 2
                     ? (unsigned)image->dim[0].v
                     : 0;
    if (n == 0 || n > OC_MAX_RANK - 2)
        return oc_out_unranked(c, oc_in_dtype(c, 0));
    for (uint32_t i = 0; i < n_block; i++)
        volume = oc_dim_mul(c->exprs, volume, oc_known(block[i]));
    bool known = x->ranked && x->rank == 3 && block;
    dim[0] = x->ranked && x->rank == 3 ? x->dim[0] : oc_op_fresh_dim(c, "0", -1);
    if (!known || !oc_dim_divides(c->exprs, x->dim[1], volume, &dim[1]))
        dim[1] = oc_op_fresh_dim(c, "1", -1);
    for (unsigned i = 0; i < n; i++) {
        bool there = size && size->e[i].kind == OC_E_INT;
        dim[2 + i] = there ? size->e[i].i : oc_fresh_axis(c, 2 + i, -1);
    }
    oc_set_out(c, 0, oc_in_dtype(c, 0), oc_shape_of(c->arena, n + 2, dim));
    return 0;
}

static const char col2im_formula[] = "ADD = N(x)";

#define CONV_FORMULA "MAC = N*M*taps*Cg; N := o[0]; M := w[0]; Cg := w[1]; taps := o[2:]*w[2:]; "
static const char plain_formula[] = CONV_FORMULA "ADD = [B]*N(o)";
static const char fused_formula[] = CONV_FORMULA "ADD = [B]*N(o) + [in3]*N(o); activation = N(o)";
#define nchwc_formula fused_formula
#define nhwc_formula  fused_formula
static const char integer_formula[] = CONV_FORMULA "ADD:int = zp; zp := 0";
static const char qlinear_formula[] =
    "MAC = N*M*taps*Cg; ADD:int = [B]*N(o) + zp; requantize = N(o); N := o[0]; M := in3[0]; Cg := in3[1]; "
    "taps := o[2:]*in3[2:]; zp := 0";

#define CONV(d, n, v, s, k)                                                                                  \
    .domain = (d), .name = (n), .since = (v), .op_class = OC_OP_CONV, .slots = (s), .shape = shape_conv,     \
    .param = &(k), OC_COST_TEXT_WITH(k##_formula, conv_values)

#define TRANSPOSED(d, n, s, k)                                                                               \
    .domain = (d), .name = (n), .since = 1, .op_class = OC_OP_CONV, .slots = (s),                            \
    .shape = shape_conv_transpose, .param = &(k), OC_COST_TEXT_WITH(k##_formula, transposed_values)

static const struct oc_op conv_rows[] = {
    {OC_OP_ROW("", "Col2Im", 18, COPY, ".mm", shape_col2im), OC_COST_TEXT(col2im_formula)},
    {CONV("", "Conv", 1, "..b", plain)},
    {CONV("com.microsoft.nchwc", "Conv", 1, "..b.", nchwc), .in_place = OC_SLOT_3},
    {CONV("com.ms.internal.nhwc", "Conv", 1, "..b", nhwc)},
    {CONV("", "ConvInteger", 10, "..q", integer)},
    {TRANSPOSED("", "ConvTranspose", "..b", transposed), .kernel = OC_KC_CONV_TRANSPOSED},
    {TRANSPOSED("com.microsoft", "ConvTransposeWithDynamicPads", "..mb", transposed_pads),
     .kernel = OC_KC_CONV_TRANSPOSED},
    {OC_OP_ROW("", "DeformConv", 19, CONV, "...b.", shape_conv),
     OC_COST_TEXT_WITH(deform_conv_formula, deform_values), .param = &deform, .kernel = OC_KC_GATHER},
    {CONV("com.microsoft", "FusedConv", 1, "..b.", fused), .in_place = OC_SLOT_3},
    {CONV("com.microsoft", "NhwcConv", 1, "..b", nhwc)},
    {CONV("com.microsoft", "NhwcFusedConv", 1, "..b.", nhwc)},
    {CONV("", "QLinearConv", 10, ".qq.qqqqb", qlinear)},
    {CONV("com.microsoft", "QLinearConv", 1, ".qq.qqqqb", qlinear)},
    {TRANSPOSED("com.microsoft", "QLinearConvTranspose", ".qq.qqqqb", transposed_qlinear),
     .kernel = OC_KC_CONV_TRANSPOSED},
};
OC_FAMILY(conv, conv_rows);

/* ---- word embeddings from characters ------------------------------------------------------------------ */

/* WordConvEmbedding of ONNX Runtime (com.microsoft): word embeddings from characters. cost-semantics 4.1. */

/* words [..., characters], W [filters, 1, window, size], B [filters], C [alphabet, size] -> [..., filters] */
static int shape_word_conv(struct oc_op_ctx *c)
{
    const struct oc_shape *x = oc_in_shape(c, 0), *w = oc_in_shape(c, 1);
    if (x->ranked && x->rank == 0)
        return oc_op_fail(c, "words have rank 0");
    if (w->ranked && w->rank != 4)
        return oc_op_fail(c, "invalid weight rank %u", w->rank);
    if (!x->ranked)
        return oc_out_unranked(c, oc_in_dtype(c, 1));
    unsigned last = x->rank - 1U;
    struct oc_dim filters = w->ranked ? w->dim[0] : oc_fresh_axis(c, last, -1);
    oc_set_out(c, 0, oc_in_dtype(c, 1), oc_shape_with(c, x, last, filters));
    return 0;
}

/* A convolution over the characters of each word, tanh, the maximum over all positions */
static int words_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    const struct oc_shape *x = oc_in_shape(c, 0), *w = oc_in_shape(c, 1);
    if (!x->ranked || !w->ranked)
        return oc_cost_unknown(c);
    uint64_t characters = oc_c_dim(c, x->dim[x->rank - 1U]), window = oc_c_dim(c, w->dim[2]);
    k->mac_class = oc_dtype_info(oc_in_dtype(c, 1))->cls;
    oc_add_formula_value(c, "positions", characters >= window ? characters - window + 1 : 0);
    uint64_t rows = oc_c_part(c, 3, oc_c_mul(c, oc_c_in(c, 0), oc_c_dim(c, w->dim[3])));
    if (c->n_in > 3 && rows < k->rd[3])
        k->rd[3] = rows;
    return 0;
}
static const char words_formula[] = "MAC = n*w[2]*w[3]; ADD = n; TANH = n; CMP = n; n := N(o)*positions";

static const struct oc_op word_conv_rows[] = {
    {OC_OP_ROW("com.microsoft", "WordConvEmbedding", 1, CONV, "..be", shape_word_conv), OC_COST(words),
     .kernel = OC_KC_GATHER},
};
OC_FAMILY(word_conv, word_conv_rows);
