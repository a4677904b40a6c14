/* Pooling, resizing and sampling of images. cost-semantics 4.6, 5.4, shape-inference 4.2. The attributes of
 * windows: conv.c. */
#include <math.h>
#include <string.h>

#include "ops/op.h"
#include "ops/shared_rules.h"

/* ---- pools -------------------------------------------------------------------------------------------- */

enum pool_what { POOL_MAX, POOL_AVERAGE, POOL_LP };

struct pool_kind {
    uint8_t what;
    bool channels_last, quantized;
};

static const struct pool_kind max_pool = {.what = POOL_MAX};
static const struct pool_kind average_pool = {.what = POOL_AVERAGE};
static const struct pool_kind lp_pool = {.what = POOL_LP};
static const struct pool_kind max_nhwc = {.what = POOL_MAX, .channels_last = true};
static const struct pool_kind average_nhwc = {.what = POOL_AVERAGE, .channels_last = true};
static const struct pool_kind average_qlinear = {.what = POOL_AVERAGE, .quantized = true};

static bool pool_channels_last(const struct oc_op_ctx *c)
{
    const struct pool_kind *kind = c->op->param;
    return kind->channels_last || (kind->quantized && oc_attr_i(c, "channels_last", 0) != 0);
}

static unsigned pool_dtype(const struct oc_op_ctx *c)
{
    const struct pool_kind *kind = c->op->param;
    return kind->quantized && oc_in(c, 4) ? oc_in_dtype(c, 4) : oc_in_dtype(c, 0);
}

static int pool_check_rank(struct oc_op_ctx *c, const struct oc_shape *x)
{
    return x->ranked && x->rank < 2 ? oc_op_fail(c, "invalid input rank %u", x->rank) : 0;
}

/* ---- windows ------------------------------------------------------------------------------------------ */

static int shape_pool(struct oc_op_ctx *c)
{
    const struct oc_shape *x = oc_in_shape(c, 0);
    struct oc_shape out = oc_shape_unranked();
    struct oc_dim dim[OC_MAX_RANK];
    struct oc_windows win;
    if (pool_check_rank(c, x))
        return -1;
    if (x->ranked) {
        unsigned first = pool_channels_last(c) ? 1 : 2;
        if (oc_windows_read(c, x->rank - 2U, NULL, &win))
            return -1;
        memcpy(dim, x->dim, x->rank * sizeof(dim[0]));
        for (unsigned i = 0; i < win.n; i++)
            if (oc_windows_out(c, &win, i, x->dim[first + i], &dim[first + i]))
                return -1;
        out = oc_shape_of(c->arena, x->rank, dim);
    }
    oc_set_out(c, 0, pool_dtype(c), out);
    oc_set_out(c, 1, OC_DT_INT64, out);
    return 0;
}

static int pool_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    const struct oc_shape *x = oc_in_shape(c, 0);
    const struct oc_type *o = oc_out(c, 0);
    struct oc_windows win;
    (void)k;
    if (!x->ranked || !o || !o->shape.ranked)
        return oc_cost_unknown(c);
    if (oc_windows_read(c, x->rank - 2U, NULL, &win))
        return -1;
    unsigned first = pool_channels_last(c) ? 1 : 2, channel = pool_channels_last(c) ? x->rank - 1U : 1;
    uint64_t planes = oc_c_mul(c, oc_c_dim(c, o->shape.dim[0]), oc_c_dim(c, o->shape.dim[channel]));
    uint64_t taps = oc_windows_taps(c, &win, x->dim + first, o->shape.dim + first);
    oc_add_formula_value(c, "taps", oc_c_mul(c, planes, taps));
    return 0;
}

/* ---- whole planes ------------------------------------------------------------------------------------- */

static int shape_global(struct oc_op_ctx *c)
{
    const struct oc_shape *x = oc_in_shape(c, 0);
    struct oc_shape out = oc_shape_unranked();
    struct oc_dim dim[OC_MAX_RANK];
    if (pool_check_rank(c, x))
        return -1;
    if (x->ranked) {
        unsigned first = pool_channels_last(c) ? 1 : 2;
        memcpy(dim, x->dim, x->rank * sizeof(dim[0]));
        for (unsigned i = 0; i + 2 < x->rank; i++)
            dim[first + i] = oc_known(1);
        out = oc_shape_of(c->arena, x->rank, dim);
    }
    oc_set_out(c, 0, pool_dtype(c), out);
    return 0;
}

static int global_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    (void)k;
    oc_add_formula_value(c, "taps", oc_c_in(c, 0));
    return 0;
}

/* ---- MaxUnpool ---------------------------------------------------------------------------------------- */

/* (I-1)*s + k - pads, or the input output_shape */
static int shape_unpool(struct oc_op_ctx *c)
{
    const struct oc_shape *x = oc_in_shape(c, 0);
    const struct oc_data *wanted = oc_in_value(c, 2);
    struct oc_dim dim[OC_MAX_RANK];
    struct oc_windows win;
    if (pool_check_rank(c, x))
        return -1;
    if (!x->ranked)
        return oc_out_unranked(c, oc_in_dtype(c, 0));
    if (oc_windows_read(c, x->rank - 2U, NULL, &win))
        return -1;
    if (wanted && wanted->n != x->rank)
        return oc_op_fail(c, "output_shape has %u elements, expected %u", wanted->n, x->rank);
    for (unsigned i = 0; i < x->rank; i++) {
        if (wanted && wanted->e[i].kind == OC_E_INT)
            dim[i] = wanted->e[i].i;
        else if (oc_in(c, 2))
            dim[i] = oc_fresh_axis(c, i, -1);
        else
            dim[i] = i < 2 ? x->dim[i] : oc_window_out_transposed(c->exprs, x->dim[i], &win.axis[i - 2], 0);
        if (oc_is_known(dim[i]) && dim[i].v < 0)
            return oc_op_fail(c, "axis %u has invalid size %lld", i, (long long)dim[i].v);
    }
    oc_set_out(c, 0, oc_in_dtype(c, 0), oc_shape_of(c->arena, x->rank, dim));
    return 0;
}

static const char max_pool_formula[] = "CMP = taps - [strict]*N(o)";
static const char average_pool_formula[] = "ADD = taps - [strict]*N(o); DIV = N(o)";
static const char average_qlinear_formula[] = "ADD:int = taps; requantize = N(o)";
static const char lp_pool_formula[] =
    "MUL = [p:2 == 2]*taps; CMP = [p:2 != 2]*taps; POW = other*taps + other*N(o); "
    "ADD = taps - [strict]*N(o); SQRT = [p:2 == 2]*N(o); other := [p:2 != 2] - [p:2 == 1]";
#define max_nhwc_formula     max_pool_formula
#define average_nhwc_formula average_pool_formula

#define POOL(d, n, s, k)                                                                                     \
    .domain = (d), .name = (n), .since = 1, .op_class = OC_OP_POOL, .slots = (s), .shape = shape_pool,       \
    .param = &(k), OC_COST_TEXT_WITH(k##_formula, pool_values)
#define GLOBAL(d, n, s, k)                                                                                   \
    .domain = (d), .name = (n), .since = 1, .op_class = OC_OP_POOL, .slots = (s), .shape = shape_global,     \
    .param = &(k), OC_COST_TEXT_WITH(k##_formula, global_values)

static const struct oc_op pool_rows[] = {
    {POOL("", "AveragePool", NULL, average_pool)},
    {POOL("com.microsoft.nchwc", "AveragePool", NULL, average_pool)},
    {POOL("com.ms.internal.nhwc", "AveragePool", NULL, average_nhwc)},
    {GLOBAL("", "GlobalAveragePool", NULL, average_pool)},
    {GLOBAL("com.microsoft.nchwc", "GlobalAveragePool", NULL, average_pool)},
    {GLOBAL("com.ms.internal.nhwc", "GlobalAveragePool", NULL, average_nhwc)},
    {GLOBAL("", "GlobalLpPool", NULL, lp_pool)},
    {GLOBAL("", "GlobalMaxPool", NULL, max_pool)},
    {GLOBAL("com.microsoft.nchwc", "GlobalMaxPool", NULL, max_pool)},
    {GLOBAL("com.ms.internal.nhwc", "GlobalMaxPool", NULL, max_nhwc)},
    {POOL("", "LpPool", NULL, lp_pool)},
    {POOL("", "MaxPool", NULL, max_pool)},
    {POOL("com.microsoft.nchwc", "MaxPool", NULL, max_pool)},
    {POOL("com.ms.internal.nhwc", "MaxPool", NULL, max_nhwc)},
    {OC_OP_ROW("", "MaxUnpool", 9, POOL, "..m", shape_unpool), .kernel = OC_KC_GATHER},
    {POOL("com.microsoft", "MaxpoolWithMask", NULL, max_pool)},
    {POOL("com.microsoft", "NhwcMaxPool", NULL, max_nhwc)},
    {POOL("com.microsoft", "QLinearAveragePool", ".q", average_qlinear)},
    {GLOBAL("com.microsoft", "QLinearGlobalAveragePool", ".q", average_qlinear)},
};
OC_FAMILY(pool, pool_rows);

/* ---- regions of interest ------------------------------------------------------------------------------ */

/* Pools over regions of interest. cost-semantics 4.6; coordinates have the cost of GridSample's. */

/* [rois, C, h, w] */
static int roi_shape(struct oc_op_ctx *c, struct oc_dim h, struct oc_dim w)
{
    const struct oc_shape *x = oc_in_shape(c, 0), *rois = oc_in_shape(c, 1);
    if ((x->ranked && x->rank != 4) || (rois->ranked && rois->rank != 2))
        return oc_op_fail(c, "invalid input rank %u and regions rank %u", x->rank, rois->rank);
    struct oc_dim dim[4] = {
        rois->ranked ? rois->dim[0] : oc_op_fresh_dim(c, "0", -1),
        x->ranked ? x->dim[1] : oc_op_fresh_dim(c, "1", -1),
        h,
        w,
    };
    for (unsigned i = 2; i < 4; i++)
        if (oc_is_known(dim[i]) && dim[i].v < 1)
            return oc_op_fail(c, "invalid output size %lld", (long long)dim[i].v);
    oc_set_out(c, 0, oc_in_dtype(c, 0), oc_shape_of(c->arena, 4, dim));
    return 0;
}

static int shape_roi_align(struct oc_op_ctx *c)
{
    return roi_shape(c, oc_known(oc_attr_i(c, "output_height", 1)),
                     oc_known(oc_attr_i(c, "output_width", 1)));
}

static int shape_max_roi_pool(struct oc_op_ctx *c)
{
    uint32_t n;
    const int64_t *size = oc_attr_ints(c, "pooled_shape", &n);
    if (n != 2)
        return oc_op_fail(c, "pooled_shape has %u elements, expected 2", n);
    return roi_shape(c, oc_known(size[0]), oc_known(size[1]));
}

static int shape_crop_and_resize(struct oc_op_ctx *c)
{
    const struct oc_data *d = oc_in_value(c, 3);
    bool known = d && d->n == 2 && d->e[0].kind == OC_E_INT && d->e[1].kind == OC_E_INT;
    return roi_shape(c, known ? d->e[0].i : oc_op_fresh_dim(c, "2", -1),
                     known ? d->e[1].i : oc_op_fresh_dim(c, "3", -1));
}

/* At most `samples` elements of x are read. */
static void limit_read(struct oc_op_ctx *c, struct oc_cost *k, uint64_t samples)
{
    uint64_t bytes = oc_c_bytes(c, oc_in_dtype(c, 0), samples);
    if (bytes < k->rd[0])
        k->rd[0] = bytes;
}

/* Bilinear samples: 4 MUL + 3 ADD per channel; per position: MUL 2 + 4, ADD 6, RND 2. */
static void report_samples(struct oc_op_ctx *c, struct oc_cost *k, uint64_t per_output)
{
    oc_add_formula_value(c, "S", per_output);
    limit_read(c, k, oc_c_mul(c, 4, oc_c_mul(c, oc_c_out(c, 0), per_output)));
}

static int roi_align_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    int64_t ratio = oc_attr_i(c, "sampling_ratio", 0);
    if (oc_out(c, 0) && (ratio < 0 || ratio > 1 << 20))
        return oc_op_fail(c, "invalid sampling_ratio %lld", (long long)ratio);
    if (ratio == 0)
        c->assumption = "adaptive sampling is assumed to use 2x2 points";
    report_samples(c, k, !oc_out(c, 0) ? 0 : ratio ? (uint64_t)(ratio * ratio) : 4);
    return 0;
}
static const char roi_align_formula[] =
    "MUL = 4*n + 6*L + [mode:avg != max]*N(o); ADD = 3*n + 6*L + [mode:avg != max]*n; RND = 2*L; "
    "CMP = [mode:avg == max]*n; n := S*N(o); L := S*o[0]*o[2:4]";

/* One sample per output element: no averaging. */
static int crop_and_resize_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    report_samples(c, k, oc_out(c, 0) ? 1 : 0);
    return 0;
}
static const char crop_and_resize_formula[] =
    "MUL = 4*n + 6*L; ADD = 3*n + 6*L; RND = 2*L; n := S*N(o); L := S*o[0]*o[2:4]";

static uint64_t ceil_ratio(uint64_t a, uint64_t b)
{
    return b ? a / b + (a % b != 0) : 0;
}

/* A region can be as large as the image: CMP N(o) * ceil(H/h) * ceil(W/w) at most */
static int max_roi_pool_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    const struct oc_shape *x = oc_in_shape(c, 0);
    const struct oc_type *o = oc_out(c, 0);
    if (!x->ranked || x->rank != 4 || !o)
        return oc_cost_unknown(c);
    uint64_t n = oc_c_out(c, 0);
    for (unsigned i = 2; i < 4; i++)
        n = oc_c_mul(c, n, ceil_ratio(oc_c_dim(c, x->dim[i]), oc_c_dim(c, o->shape.dim[i])));
    c->upper = true;
    limit_read(c, k, n);
    return 0;
}
static const char max_roi_pool_formula[] = "CMP = N(o)*ceil(x[2], o[2])*ceil(x[3], o[3])";

static const struct oc_op roi_rows[] = {
    {OC_OP_ROW("com.microsoft", "CropAndResize", 1, POOL, "...m", shape_crop_and_resize),
     OC_COST(crop_and_resize), .kernel = OC_KC_GATHER},
    {OC_OP_ROW("", "MaxRoiPool", 1, POOL, NULL, shape_max_roi_pool), OC_COST(max_roi_pool),
     .kernel = OC_KC_GATHER},
    {OC_OP_ROW("", "RoiAlign", 10, POOL, NULL, shape_roi_align), OC_COST(roi_align), .kernel = OC_KC_GATHER},
};
OC_FAMILY(roi, roi_rows);

/* ---- Resize, Upsample --------------------------------------------------------------------------------- */

/* Requested resize of each input axis: a scale, a size, or none (1). */
struct resize {
    const struct oc_elem *scale[OC_MAX_RANK], *size[OC_MAX_RANK];
    bool known; /* false: scales or sizes are present but unknown */
};

static bool is_upsample(const struct oc_op_ctx *c)
{
    return strcmp(c->op->name, "Upsample") == 0;
}

/* Scales as small values; n = 0: absent. */
static struct oc_data read_scales(struct oc_op_ctx *c, bool *present)
{
    unsigned slot = is_upsample(c) || (c->opset >= 1 && c->opset < 11) ? 1 : 2;
    uint32_t n;
    const float *v = oc_attr_floats(c, "scales", &n);
    const struct oc_data *d = oc_in_value(c, slot);
    struct oc_elem *e = oc_new_elems(c, n ? n : 4);
    *present = true;
    if (is_upsample(c) && oc_has_attr(c, "height_scale")) {
        const char *names[] = {"", "", "height_scale", "width_scale"};
        for (unsigned i = 0; i < 4; i++)
            e[i] = oc_elem_real(i < 2 ? 1 : (double)oc_attr_f(c, names[i], 1));
        return (struct oc_data){.n = 4, .e = e};
    }
    for (uint32_t i = 0; v && i < n; i++)
        e[i] = oc_elem_real((double)v[i]);
    if (v)
        return (struct oc_data){.n = n, .e = e};
    const struct oc_shape *s = oc_in_shape(c, slot);
    *present = oc_in(c, slot) && !(s->ranked && s->rank == 1 && oc_is(s->dim[0], 0));
    return d ? *d : (struct oc_data){0};
}

static bool image_has_sizes(struct oc_op_ctx *c, struct oc_list *sizes)
{
    bool possible = !is_upsample(c) && !(c->opset >= 1 && c->opset < 11);
    *sizes = possible ? oc_list_of(c, NULL, 3) : (struct oc_list){0};
    return sizes->present && !(sizes->sized && sizes->n == 0);
}

static int read_resize(struct oc_op_ctx *c, unsigned rank, struct resize *r)
{
    struct oc_list sizes, axes = oc_list_of(c, "axes", UINT32_MAX);
    unsigned axis[OC_MAX_RANK];
    bool scaled;
    struct oc_data scales = read_scales(c, &scaled);
    *r = (struct resize){.known = true};
    if (axes.present && oc_list_axes(c, &axes, rank, axis))
        return -1;
    bool sized = image_has_sizes(c, &sizes);
    if (!sized && !scaled)
        return oc_op_fail(c, "neither scales nor sizes are given");
    uint32_t want = axes.present ? axes.n : rank, n = sized ? sizes.n : scales.n;
    if ((sized && !sizes.sized) || (!sized && n == 0)) {
        r->known = false;
        return 0;
    }
    if (n != want)
        return oc_op_fail(c, "%u scales or sizes for %u axes", (unsigned)n, (unsigned)want);
    for (unsigned i = 0; i < n; i++) {
        unsigned k = axes.present ? axis[i] : i;
        if (sized)
            r->size[k] = &sizes.e[i];
        else
            r->scale[k] = &scales.e[i];
    }
    return 0;
}

/* floor(size * scale) in the precision of the scale, as the standard and the runtimes compute it. */
static struct oc_dim scaled_dim(struct oc_op_ctx *c, unsigned axis, struct oc_dim d,
                                const struct oc_elem *scale)
{
    double s;
    if (!oc_elem_known_real(scale, &s) || !(s > 0) || s > 1e9)
        return oc_fresh_axis(c, axis, -1);
    if (oc_is_known(d)) {
        float out = floorf((float)d.v * (float)s);
        return out < 9e15F ? oc_known((int64_t)out) : oc_fresh_axis(c, axis, -1);
    }
    for (int64_t q = 1; q <= 4096; q *= 2) /* p/q exactly */
        if (s * (double)q == floor(s * (double)q))
            return oc_dim_floordiv(c->exprs, oc_dim_mul(c->exprs, d, oc_known((int64_t)(s * (double)q))),
                                   oc_known(q));
    int64_t max = oc_dim_max_value(c->exprs, d);
    return oc_fresh_axis(c, axis, max < 0 ? -1 : (int64_t)ceil((double)max * s));
}

/* keep_aspect_ratio_policy: one scale for all sized axes, rounded half up. */
static void keep_ratio(struct oc_op_ctx *c, const struct oc_shape *in, const struct resize *r,
                       struct oc_dim *dim)
{
    const char *policy = oc_attr_s(c, "keep_aspect_ratio_policy", "stretch");
    bool larger = strcmp(policy, "not_smaller") == 0;
    float scale = larger ? 0 : INFINITY;
    int64_t size;
    bool known = true;
    if (!larger && strcmp(policy, "not_larger") != 0)
        return;
    for (unsigned i = 0; i < in->rank; i++) {
        if (!r->size[i])
            continue;
        known = known && oc_elem_known_int(r->size[i], &size) && oc_is_known(in->dim[i]) && in->dim[i].v > 0;
        float s = known ? (float)size / (float)in->dim[i].v : 1;
        scale = larger ? fmaxf(scale, s) : fminf(scale, s);
    }
    for (unsigned i = 0; i < in->rank; i++)
        if (r->size[i])
            dim[i] = known ? oc_known((int64_t)floorf(scale * (float)in->dim[i].v + 0.5F))
                           : oc_fresh_axis(c, i, -1);
}

static int shape_resize(struct oc_op_ctx *c)
{
    const struct oc_shape *in = oc_in_shape(c, 0);
    struct oc_dim dim[OC_MAX_RANK];
    struct resize r;
    if (!in->ranked)
        return oc_out_unranked(c, oc_in_dtype(c, 0));
    if (read_resize(c, in->rank, &r))
        return -1;
    for (unsigned i = 0; i < in->rank; i++) {
        dim[i] = in->dim[i];
        if (!r.known)
            dim[i] = oc_fresh_axis(c, i, -1);
        else if (r.size[i])
            dim[i] = oc_elem_to_dim(c, r.size[i], i, -1);
        else if (r.scale[i])
            dim[i] = scaled_dim(c, i, dim[i], r.scale[i]);
        if (oc_is_known(dim[i]) && dim[i].v < 0)
            return oc_op_fail(c, "axis %u is resized to invalid size %lld", i, (long long)dim[i].v);
    }
    if (r.known)
        keep_ratio(c, in, &r, dim);
    oc_set_out(c, 0, oc_in_dtype(c, 0), oc_shape_of(c->arena, in->rank, dim));
    return 0;
}

/* The factor of an axis; 1 if it is not resized. */
static double axis_scale(const struct resize *r, unsigned i, struct oc_dim in, struct oc_dim out)
{
    double s;
    if (r->scale[i] && oc_elem_known_real(r->scale[i], &s))
        return s;
    if (oc_same_dim(in, out))
        return 1;
    return oc_is_known(in) && oc_is_known(out) && in.v > 0 ? (double)out.v / (double)in.v : 2;
}

/* Taps of an output element: 2 or 4 per axis; with antialias 2*ceil(support/scale) when downsampling. */
static uint64_t resize_taps(struct oc_op_ctx *c, const struct resize *r, const struct oc_shape *in,
                            const struct oc_shape *out, bool *resized)
{
    const char *mode = oc_attr_s(c, "mode", "nearest");
    uint64_t plain = strcmp(mode, "cubic") == 0 ? 4 : strcmp(mode, "nearest") == 0 ? 1 : 2, taps = 1;
    bool antialias = oc_attr_i(c, "antialias", 0) != 0 && plain > 1;
    *resized = false;
    for (unsigned i = 0; i < in->rank; i++) {
        double s = axis_scale(r, i, in->dim[i], out->dim[i]);
        if (s == 1)
            continue;
        *resized = true;
        double wide = ceil((double)plain / 2 / s);
        taps = oc_c_mul(c, taps, antialias && s < 1 && wide < 1e9 ? 2 * (uint64_t)wide : plain);
    }
    return taps;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* T MUL + (T-1) ADD per output element, nothing for nearest */
static int resize_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    const struct oc_shape *in = oc_in_shape(c, 0);
    const struct oc_type *out = oc_out(c, 0);
    struct resize r;
    bool resized;
    if (!in->ranked || !out || out->shape.rank != in->rank || read_resize(c, in->rank, &r))
        return oc_cost_unknown(c);
    uint64_t taps = resize_taps(c, &r, in, &out->shape, &resized);
    bool crops = strcmp(oc_attr_s(c, "coordinate_transformation_mode", ""), "tf_crop_and_resize") == 0;
    k->alias = !resized && !crops;
    if (taps > 1)
        oc_add_formula_value(c, "T", taps);
    k->rd[0] = oc_c_part(c, 0, least(oc_c_in(c, 0), oc_c_mul(c, taps, oc_c_out(c, 0))));
    return 0;
}
static const char resize_formula[] = "MUL = T*N(o); ADD = (max(T, 1) - 1)*N(o); T := 0";

/* ---- GridSample --------------------------------------------------------------------------------------- */

static int shape_grid_sample(struct oc_op_ctx *c)
{
    const struct oc_shape *x = oc_in_shape(c, 0), *grid = oc_in_shape(c, 1);
    struct oc_dim dim[OC_MAX_RANK];
    unsigned rank = x->ranked ? x->rank : grid->rank;
    if (!x->ranked && !grid->ranked)
        return oc_out_unranked(c, oc_in_dtype(c, 0));
    if (rank < 3 || (x->ranked && grid->ranked && grid->rank != rank))
        return oc_op_fail(c, "input {%s} and grid {%s} do not match", oc_text_of(c, x), oc_text_of(c, grid));
    for (unsigned i = 0; i < rank; i++) {
        if (i < 2)
            dim[i] = x->ranked ? x->dim[i] : i ? oc_fresh_axis(c, i, -1) : grid->dim[i];
        else
            dim[i] = grid->ranked ? grid->dim[i - 1] : oc_fresh_axis(c, i, -1);
    }
    oc_set_out(c, 0, oc_in_dtype(c, 0), oc_shape_of(c->arena, rank, dim));
    return 0;
}

/* Values: T MUL + (T-1) ADD per output element. Per position with n axes: linear MUL n + T(n-1), ADD 3n, RND
 * n; nearest MUL, ADD, RND n; cubic MUL 15n + T(n-1), ADD 15n, RND n. */
static int grid_sample_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    const struct oc_type *out = oc_out(c, 0);
    const char *mode = oc_attr_s(c, "mode", "linear");
    bool nearest = strcmp(mode, "nearest") == 0, cubic = strstr(mode, "cubic") != NULL;
    if (!out || !out->shape.ranked || out->shape.rank < 3 || out->shape.rank > 18)
        return oc_cost_unknown(c);
    uint64_t axes = out->shape.rank - 2U, n = oc_c_out(c, 0);
    uint64_t taps = nearest ? 1 : UINT64_C(1) << (cubic ? 2 * axes : axes);
    oc_add_formula_value(c, "T", nearest ? 0 : taps);
    oc_add_formula_value(c, "m", nearest ? axes : (cubic ? 15 : 1) * axes + taps * (axes - 1));
    oc_add_formula_value(c, "a", (nearest ? 1 : cubic ? 15 : 3) * axes);
    oc_add_formula_value(c, "axes", axes);
    k->rd[0] = oc_c_part(c, 0, least(oc_c_in(c, 0), oc_c_mul(c, taps, n)));
    return 0;
}
static const char grid_sample_formula[] =
    "MUL = T*N(o) + L*m; ADD = (max(T, 1) - 1)*N(o) + L*a; RND = L*axes; L := o[0]*o[2:]";

/* ---- AffineGrid --------------------------------------------------------------------------------------- */

/* size: N, C, H, W or N, C, D, H, W; the result [N, H, W, 2] or [N, D, H, W, 3] */
static int shape_affine_grid(struct oc_op_ctx *c)
{
    struct oc_list size = oc_list_of(c, NULL, 1);
    const struct oc_shape *theta = oc_in_shape(c, 0);
    struct oc_dim dim[5];
    unsigned n = size.sized ? size.n : 0;
    if (n != 0 && n != 4 && n != 5)
        return oc_op_fail(c, "size has %u elements, expected 4 or 5", n);
    if (n == 0)
        return oc_out_unranked(c, oc_in_dtype(c, 0));
    bool batched = size.e[0].kind != OC_E_INT && theta->ranked && theta->rank == 3;
    dim[0] = batched ? theta->dim[0] : oc_elem_to_dim(c, &size.e[0], 0, -1);
    for (unsigned i = 2; i < n; i++)
        dim[i - 1] = oc_elem_to_dim(c, &size.e[i], i - 1, -1);
    dim[n - 1] = oc_known(n - 2);
    oc_set_out(c, 0, oc_in_dtype(c, 0), oc_shape_of(c->arena, n, dim));
    return 0;
}

static const char affine_grid_formula[] = "MAC = o[:-1]*axes*(axes + 1); axes := rank(o) - 2";

#define RESIZE(n, v, u, sl)                                                                                  \
    {                                                                                                        \
        .domain = "", .name = (n), .since = (v), .until = (u), .op_class = OC_OP_RESIZE, .slots = (sl),      \
        .shape = shape_resize, OC_COST(resize)                                                               \
    }

static const struct oc_op image_rows[] = {
    {OC_OP_ROW("", "AffineGrid", 20, RESIZE, ".m", shape_affine_grid), OC_COST_TEXT(affine_grid_formula),
     .flags = OC_F_FUNCTION},
    {OC_OP_ROW("", "GridSample", 16, RESIZE, NULL, shape_grid_sample), OC_COST(grid_sample)},
    {OC_OP_ROW("com.microsoft", "GridSample", 1, RESIZE, NULL, shape_grid_sample), OC_COST(grid_sample)},
    RESIZE("Resize", 10, 0, ".m"),
    RESIZE("Upsample", 1, 0, ".m"),
};
OC_FAMILY(image, image_rows);
