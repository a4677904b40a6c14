/* Fourier transforms and related operators. cost-semantics 4.8, shape-inference 4.10. */
#include "ops/op.h"
#include "ops/shared_rules.h"

#include <math.h>
#include <string.h>

/* A transform of length n: round(5 n log2 n) operations on complex data, half of it when one side is real. */
static uint64_t transform_work(struct oc_op_ctx *c, uint64_t n, bool real)
{
    if (n < 2)
        return 0;
    if (n > UINT64_C(1) << 53) {
        c->overflow = true;
        return 0;
    }
    uint64_t work = (uint64_t)llround(5.0 * (double)n * log2((double)n));
    return real ? work / 2 : work;
}

/* half of transforms*5*n*log2(n) each, and half of that for real signals */
#define OC_DFT_FORMULA "ADD = adds; MUL = muls; adds := 0; muls := 0"

static void report_transforms(struct oc_op_ctx *c, uint64_t count, uint64_t length, bool real)
{
    uint64_t work = transform_work(c, length, real);
    oc_add_formula_value(c, "adds", oc_c_mul(c, count, work / 2));
    oc_add_formula_value(c, "muls", oc_c_mul(c, count, work - work / 2));
}

static struct oc_dim half_plus_one(struct oc_op_ctx *c, struct oc_dim n)
{
    return oc_dim_add(c->exprs, oc_dim_floordiv(c->exprs, n, oc_known(2)), oc_known(1));
}

/* Elements of x without the transformed axes. */
static uint64_t count_without(struct oc_op_ctx *c, const struct oc_shape *x, unsigned a, unsigned b)
{
    uint64_t n = 1;
    for (unsigned i = 0; i < x->rank; i++)
        if (i != a && i != b)
            n = oc_c_mul(c, n, oc_c_dim(c, x->dim[i]));
    return n;
}

/* ---- DFT ---------------------------------------------------------------------------------------------- */

/* 1 the axis of the signal, 0 unknown, -1 out of range. An attribute in version 17, an input from 20. */
static int dft_axis(struct oc_op_ctx *c, unsigned rank, unsigned *axis)
{
    int64_t v = c->opset < 20 ? oc_attr_i(c, "axis", 1) : -2;
    if (c->opset >= 20 && oc_in(c, 2) && !oc_in_int(c, 2, &v))
        return 0;
    if (!oc_axis(v, rank, axis) || *axis == rank - 1)
        return oc_op_fail(c, "axis %lld is not a signal axis of rank %u", (long long)v, rank);
    return 1;
}

/* A scalar input as a size: 1 known (or an expression), 0 absent, -1 present but unknown. */
static int scalar_size(struct oc_op_ctx *c, unsigned slot, struct oc_dim *v)
{
    const struct oc_data *d = oc_in_value(c, slot);
    if (!oc_in(c, slot))
        return 0;
    if (!d || d->n != 1 || d->e[0].kind != OC_E_INT)
        return -1;
    *v = d->e[0].i;
    return 1;
}

/* Length of the transform: given, or that of the axis; a half spectrum stands for 2(d - 1) points. */
static struct oc_dim dft_length(struct oc_op_ctx *c, struct oc_dim d, bool from_half)
{
    struct oc_dim n = d;
    int given = scalar_size(c, 1, &n);
    if (given < 0)
        return oc_op_fresh_dim(c, "dft_length", -1);
    if (given == 0 && from_half)
        n = oc_dim_mul(c->exprs, oc_known(2), oc_dim_sub(c->exprs, d, oc_known(1)));
    return n;
}

static int shape_dft(struct oc_op_ctx *c)
{
    const struct oc_shape *x = oc_in_shape(c, 0);
    bool onesided = oc_attr_i(c, "onesided", 0) != 0, inverse = oc_attr_i(c, "inverse", 0) != 0;
    bool back = onesided && inverse; /* half a spectrum to a real signal */
    struct oc_dim dim[OC_MAX_RANK];
    unsigned axis;
    if (back && c->opset < 20)
        return oc_op_fail(c, "onesided and inverse exclude each other");
    if (!x->ranked)
        return oc_out_unranked(c, oc_in_dtype(c, 0));
    if (x->rank < 2)
        return oc_op_fail(c, "needs a signal axis and an axis of complex parts, got rank %u", x->rank);
    memcpy(dim, x->dim, x->rank * sizeof(dim[0]));
    int known = dft_axis(c, x->rank, &axis);
    if (known < 0)
        return -1;
    for (unsigned i = 0; i + 1 < x->rank && !known && (onesided || oc_in(c, 1)); i++)
        dim[i] = oc_fresh_axis(c, i, -1);
    if (known) {
        struct oc_dim n = dft_length(c, x->dim[axis], back);
        if (oc_is_known(n) && n.v < 0)
            return oc_op_fail(c, "invalid transform length %lld", (long long)n.v);
        dim[axis] = onesided && !back ? half_plus_one(c, n) : n;
    }
    dim[x->rank - 1] = oc_known(back ? 1 : 2);
    oc_set_out(c, 0, oc_in_dtype(c, 0), oc_shape_of(c->arena, x->rank, dim));
    return 0;
}

static int dft_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    const struct oc_shape *x = oc_in_shape(c, 0);
    (void)k;
    bool back = oc_attr_i(c, "onesided", 0) != 0 && oc_attr_i(c, "inverse", 0) != 0;
    unsigned axis;
    if (!x->ranked || x->rank < 2 || dft_axis(c, x->rank, &axis) <= 0)
        return oc_cost_unknown(c);
    bool real = back || oc_is(x->dim[x->rank - 1], 1);
    uint64_t count = count_without(c, x, axis, x->rank - 1U);
    report_transforms(c, count, oc_c_dim(c, dft_length(c, x->dim[axis], back)), real);
    return 0;
}
static const char dft_formula[] = OC_DFT_FORMULA;

/* ---- STFT --------------------------------------------------------------------------------------------- */

/* Length of a frame: given, or that of the window. */
static struct oc_dim frame_length(struct oc_op_ctx *c)
{
    const struct oc_shape *w = oc_in_shape(c, 2);
    struct oc_dim n;
    if (scalar_size(c, 3, &n) == 1)
        return n;
    return w->ranked && w->rank == 1 ? w->dim[0] : oc_op_fresh_dim(c, "frame_length", -1);
}

/* [batch, frames, bins, 2] of signal [batch, length, 1 or 2] */
static int shape_stft(struct oc_op_ctx *c)
{
    const struct oc_shape *x = oc_in_shape(c, 0);
    struct oc_dim frame = frame_length(c), step, dim[4];
    if (x->ranked && x->rank != 3 && x->rank != 2)
        return oc_op_fail(c, "the signal must be [batch, length, parts], got rank %u", x->rank);
    if (scalar_size(c, 1, &step) != 1)
        step = oc_op_fresh_dim(c, "frame_step", -1);
    if ((oc_is_known(step) && step.v < 1) || (oc_is_known(frame) && frame.v < 1))
        return oc_op_fail(c, "the frame length or the step is not positive");
    dim[0] = x->ranked ? x->dim[0] : oc_op_fresh_dim(c, "0", -1);
    dim[1] =
        x->ranked && oc_is_known(step)
            ? oc_dim_add(c->exprs, oc_dim_floordiv(c->exprs, oc_dim_sub(c->exprs, x->dim[1], frame), step),
                         oc_known(1))
            : oc_op_fresh_dim(c, "1", -1);
    if (oc_is_known(dim[1]) && dim[1].v < 0)
        dim[1] = oc_known(0);
    dim[2] = oc_attr_i(c, "onesided", 1) ? half_plus_one(c, frame) : frame;
    dim[3] = oc_known(2);
    oc_set_out(c, 0, oc_in_dtype(c, 0), oc_shape_of(c->arena, 4, dim));
    return 0;
}

/* For every frame: the window's product and a transform. */
static int stft_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    const struct oc_shape *x = oc_in_shape(c, 0);
    const struct oc_type *o = oc_out(c, 0);
    (void)k;
    if (!x->ranked || !o || !o->shape.ranked)
        return oc_cost_unknown(c);
    bool real = x->rank == 2 || oc_is(x->dim[2], 1);
    uint64_t frames = oc_c_range(c, &o->shape, 0, 2), length = oc_c_dim(c, frame_length(c));
    uint64_t window = oc_in(c, 2) ? oc_c_mul(c, oc_c_mul(c, frames, length), real ? 1 : 2) : 0;
    oc_add_formula_value(c, "window", window);
    report_transforms(c, frames, length, real);
    return 0;
}
static const char stft_formula[] = "MUL = window; window := 0; " OC_DFT_FORMULA;

/* ---- MelWeightMatrix ---------------------------------------------------------------------------------- */

static int shape_mel(struct oc_op_ctx *c)
{
    struct oc_dim bins, length, dim[2];
    dim[0] = scalar_size(c, 1, &length) == 1 ? half_plus_one(c, length) : oc_op_fresh_dim(c, "0", -1);
    dim[1] = scalar_size(c, 0, &bins) == 1 ? bins : oc_op_fresh_dim(c, "1", -1);
    for (unsigned i = 0; i < 2; i++)
        if (oc_is_known(dim[i]) && dim[i].v < 0)
            return oc_op_fail(c, "axis %u has invalid size %lld", i, (long long)dim[i].v);
    int64_t dtype = oc_attr_i(c, "output_datatype", OC_DT_FLOAT);
    if (dtype <= OC_DT_UNDEFINED || dtype >= OC_DT_COUNT)
        return oc_op_fail(c, "invalid output_datatype %lld", (long long)dtype);
    oc_set_out(c, 0, (unsigned)dtype, oc_shape_of(c->arena, 2, dim));
    return 0;
}

/* Two slopes of a triangle, the smaller one, clamped at zero. */
static const struct oc_prims mel_element[] = {{OC_ADD, 4}, {OC_DIV, 2}, {OC_CMP, 2}, {0, 0}};

/* ---- Rfft, Irfft (com.microsoft) -------------------------------------------------------------------- */

/* Number of trailing signal axes; `extra`: axes after them. Fails when x has fewer. */
static int signal_axes(struct oc_op_ctx *c, const struct oc_shape *x, unsigned extra, unsigned *n)
{
    int64_t v = oc_attr_i(c, "signal_ndim", 1);
    if (v < 1 || (x->ranked && v + extra > x->rank))
        return oc_op_fail(c, "signal_ndim %lld does not fit an input of rank %u", (long long)v, x->rank);
    *n = (unsigned)v;
    return 0;
}

/* [..., n] to [..., n/2 + 1, 2] */
static int shape_rfft(struct oc_op_ctx *c)
{
    const struct oc_shape *x = oc_in_shape(c, 0);
    struct oc_dim dim[OC_MAX_RANK + 1];
    unsigned axes = 1;
    if (signal_axes(c, x, 0, &axes))
        return -1;
    if (!x->ranked || x->rank >= OC_MAX_RANK)
        return oc_out_unranked(c, oc_in_dtype(c, 0));
    memcpy(dim, x->dim, x->rank * sizeof(dim[0]));
    if (oc_attr_i(c, "onesided", 1))
        dim[x->rank - 1] = half_plus_one(c, dim[x->rank - 1]);
    dim[x->rank] = oc_known(2);
    oc_set_out(c, 0, oc_in_dtype(c, 0), oc_shape_of(c->arena, x->rank + 1U, dim));
    return 0;
}

/* [..., n/2 + 1, 2] to [..., n] */
static int shape_irfft(struct oc_op_ctx *c)
{
    const struct oc_shape *x = oc_in_shape(c, 0);
    struct oc_dim dim[OC_MAX_RANK];
    unsigned axes = 1;
    if (signal_axes(c, x, 1, &axes))
        return -1;
    if (!x->ranked)
        return oc_out_unranked(c, oc_in_dtype(c, 0));
    memcpy(dim, x->dim, x->rank * sizeof(dim[0]));
    struct oc_dim *last = &dim[x->rank - 2];
    if (oc_attr_i(c, "onesided", 1))
        *last = oc_dim_mul(c->exprs, oc_known(2), oc_dim_sub(c->exprs, *last, oc_known(1)));
    if (oc_is_known(*last) && last->v < 0)
        return oc_op_fail(c, "the half spectrum has no elements");
    oc_set_out(c, 0, oc_in_dtype(c, 0), oc_shape_of(c->arena, x->rank - 1U, dim));
    return 0;
}

/* A real transform along the last signal axis, complex transforms of the half spectrum along the others.
 * `real` has the shape of the signal, `half` that of the spectrum with its axis of parts. */
static int report_real_transforms(struct oc_op_ctx *c, const struct oc_shape *real,
                                  const struct oc_shape *half)
{
    unsigned axes = 1;
    if (!real->ranked || !half->ranked || real->rank == 0 || half->rank != real->rank + 1)
        return oc_cost_unknown(c);
    if (signal_axes(c, real, 0, &axes))
        return -1;
    unsigned last = real->rank - 1U;
    report_transforms(c, count_without(c, real, last, last), oc_c_dim(c, real->dim[last]), true);
    for (unsigned i = last - (axes - 1); i < last; i++)
        report_transforms(c, count_without(c, half, i, last + 1), oc_c_dim(c, half->dim[i]), false);
    return 0;
}

static int rfft_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    const struct oc_type *o = oc_out(c, 0);
    (void)k;
    return o ? report_real_transforms(c, oc_in_shape(c, 0), &o->shape) : 0;
}
static const char rfft_formula[] = OC_DFT_FORMULA;

static int irfft_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    const struct oc_type *o = oc_out(c, 0);
    (void)k;
    return o ? report_real_transforms(c, &o->shape, oc_in_shape(c, 0)) : 0;
}
static const char irfft_formula[] = OC_DFT_FORMULA;

static const struct oc_op rows[] = {
    {OC_OP_ROW("", "DFT", 17, OTHER, ".m", shape_dft), OC_COST(dft)},
    {OC_OP_ROW("com.microsoft", "Irfft", 1, OTHER, NULL, shape_irfft), OC_COST(irfft)},
    {OC_OP_ROW("", "MelWeightMatrix", 17, GENERATE, "m", shape_mel),
     OC_COST_ASSUMED("ADD = 4*N(o); DIV = 2*N(o); CMP = 2*N(o)",
                     "8 operations per element of the mel filters"),
     .param = mel_element},
    {OC_OP_ROW("com.microsoft", "Rfft", 1, OTHER, NULL, shape_rfft), OC_COST(rfft)},
    {OC_OP_ROW("", "STFT", 17, OTHER, ".mtm", shape_stft), OC_COST(stft)},
};
OC_FAMILY(signal, rows);
