/* Pooling windows. cost-semantics 4.6, shape-inference 4.2. */
#include <math.h>
#include <string.h>

#include "ops/op.h"
#include "ops/shared_rules.h"

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

static void add_each(struct oc_op_ctx *c, struct oc_cost *k, enum oc_prim p, uint64_t n, uint64_t outputs)
{
    oc_add(c, k, p, c->opt.strict_reduce && n >= outputs ? n - outputs : n);
}

/* p = 1: CMP+ADD per tap; 2: MUL+ADD per tap, SQRT; else CMP+POW+ADD per tap, POW */
static void add_norm_pool(struct oc_op_ctx *c, struct oc_cost *k, uint64_t taps, uint64_t n)
{
    float p = oc_attr_f(c, "p", 2.0F);
    bool one = p == 1.0F, two = p == 2.0F;
    oc_add(c, k, two ? OC_MUL : OC_CMP, taps);
    if (!one && !two)
        oc_add(c, k, OC_POW, taps);
    add_each(c, k, OC_ADD, taps, n);
    if (!one)
        oc_add(c, k, two ? OC_SQRT : OC_POW, n);
}

/* Cost of reducing `taps` elements to n results. */
static void pool_add_pool(struct oc_op_ctx *c, struct oc_cost *k, uint64_t taps, uint64_t n)
{
    const struct pool_kind *kind = c->op->param;
    oc_add_formula_value(c, "taps", taps);
    if (kind->what == POOL_LP) {
        add_norm_pool(c, k, taps, n);
    } else if (kind->quantized) {
        oc_add_int(c, k, OC_ADD, taps);
        oc_add_prims(c, k, oc_prims_requantize, n);
    } else {
        add_each(c, k, kind->what == POOL_MAX ? OC_CMP : OC_ADD, taps, n);
        if (kind->what == POOL_AVERAGE)
            oc_add(c, k, OC_DIV, n);
    }
}

static int cost_pool(struct oc_op_ctx *c, struct oc_cost *k)
{
    const struct oc_shape *x = oc_in_shape(c, 0);
    const struct oc_type *o = oc_out(c, 0);
    struct oc_windows win;
    if (!x->ranked || !o || !o->shape.ranked) {
        c->unknown = true;
        return 0;
    }
    if (oc_windows_read(c, x->rank - 2U, NULL, &win))
        return -1;
    unsigned first = pool_channels_last(c) ? 1 : 2, channel = pool_channels_last(c) ? x->rank - 1U : 1;
    uint64_t planes = oc_c_mul(c, oc_c_dim(c, o->shape.dim[0]), oc_c_dim(c, o->shape.dim[channel]));
    uint64_t taps = oc_windows_taps(c, &win, x->dim + first, o->shape.dim + first);
    pool_add_pool(c, k, oc_c_mul(c, planes, taps), oc_c_out(c, 0));
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

static int cost_global(struct oc_op_ctx *c, struct oc_cost *k)
{
    pool_add_pool(c, k, oc_c_in(c, 0), oc_c_out(c, 0));
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
    if (!x->ranked) {
        oc_set_out(c, 0, oc_in_dtype(c, 0), oc_shape_unranked());
        return 0;
    }
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
static const char average_qlinear_formula[] = "ADD = taps; requantize = N(o)";
static const char lp_pool_formula[] =
    "MUL = [p:2 == 2]*taps; CMP = [p:2 != 2]*taps; POW = other*taps + other*N(o); "
    "ADD = taps - [strict]*N(o); SQRT = [p:2 == 2]*N(o); other := [p:2 != 2] - [p:2 == 1]";
#define max_nhwc_formula     max_pool_formula
#define average_nhwc_formula average_pool_formula

#define POOL(d, n, s, k)                                                                                     \
    {                                                                                                        \
        .domain = (d), .name = (n), .since = 1, .op_class = OC_OP_POOL, .slots = (s), .shape = shape_pool,   \
        .cost = cost_pool, .param = &(k), .formula = k##_formula                                             \
    }
#define GLOBAL(d, n, s, k)                                                                                   \
    {                                                                                                        \
        .domain = (d), .name = (n), .since = 1, .op_class = OC_OP_POOL, .slots = (s), .shape = shape_global, \
        .cost = cost_global, .param = &(k), .formula = k##_formula                                           \
    }

static const struct oc_op pool_rows[] = {
    POOL("", "AveragePool", NULL, average_pool),
    POOL("com.microsoft.nchwc", "AveragePool", NULL, average_pool),
    POOL("com.ms.internal.nhwc", "AveragePool", NULL, average_nhwc),
    GLOBAL("", "GlobalAveragePool", NULL, average_pool),
    GLOBAL("com.microsoft.nchwc", "GlobalAveragePool", NULL, average_pool),
    GLOBAL("com.ms.internal.nhwc", "GlobalAveragePool", NULL, average_nhwc),
    GLOBAL("", "GlobalLpPool", NULL, lp_pool),
    GLOBAL("", "GlobalMaxPool", NULL, max_pool),
    GLOBAL("com.microsoft.nchwc", "GlobalMaxPool", NULL, max_pool),
    GLOBAL("com.ms.internal.nhwc", "GlobalMaxPool", NULL, max_nhwc),
    POOL("", "LpPool", NULL, lp_pool),
    POOL("", "MaxPool", NULL, max_pool),
    POOL("com.microsoft.nchwc", "MaxPool", NULL, max_pool),
    POOL("com.ms.internal.nhwc", "MaxPool", NULL, max_nhwc),
    {OC_OP_ROW("", "MaxUnpool", 9, POOL, "..m", shape_unpool), .kernel = OC_KC_GATHER},
    POOL("com.microsoft", "MaxpoolWithMask", NULL, max_pool),
    POOL("com.microsoft", "NhwcMaxPool", NULL, max_nhwc),
    POOL("com.microsoft", "QLinearAveragePool", ".q", average_qlinear),
    GLOBAL("com.microsoft", "QLinearGlobalAveragePool", ".q", average_qlinear),
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
static void add_samples(struct oc_op_ctx *c, struct oc_cost *k, uint64_t per_output)
{
    const struct oc_type *o = oc_out(c, 0);
    uint64_t n = oc_c_mul(c, oc_c_out(c, 0), per_output);
    uint64_t places =
        oc_c_mul(c, per_output, oc_c_mul(c, oc_c_dim(c, o->shape.dim[0]), oc_c_range(c, &o->shape, 2, 4)));
    oc_add_formula_value(c, "S", per_output);
    oc_add(c, k, OC_MUL, oc_c_add(c, oc_c_mul(c, 4, n), oc_c_mul(c, 6, places)));
    oc_add(c, k, OC_ADD, oc_c_add(c, oc_c_mul(c, 3, n), oc_c_mul(c, 6, places)));
    oc_add(c, k, OC_RND, oc_c_mul(c, 2, places));
    limit_read(c, k, oc_c_mul(c, 4, n));
}

static int cost_roi_align(struct oc_op_ctx *c, struct oc_cost *k)
{
    int64_t ratio = oc_attr_i(c, "sampling_ratio", 0);
    uint64_t n = oc_c_out(c, 0), S = 4;
    if (!oc_out(c, 0) || ratio < 0 || ratio > 1 << 20)
        return oc_out(c, 0) ? oc_op_fail(c, "invalid sampling_ratio %lld", (long long)ratio) : 0;
    if (ratio == 0)
        c->assumption = "adaptive sampling is assumed to use 2x2 points";
    else
        S = (uint64_t)(ratio * ratio);
    add_samples(c, k, S);
    bool max = strcmp(oc_attr_s(c, "mode", "avg"), "max") == 0;
    oc_add(c, k, max ? OC_CMP : OC_ADD, oc_c_mul(c, S, n));
    if (!max)
        oc_add(c, k, OC_MUL, n);
    return 0;
}
static const char cost_roi_align_formula[] =
    "MUL = 4*n + 6*L + [mode:avg != max]*N(o); ADD = 3*n + 6*L + [mode:avg != max]*n; RND = 2*L; "
    "CMP = [mode:avg == max]*n; n := S*N(o); L := S*o[0]*o[2:4]";

/* One sample per output element: no averaging. */
static int cost_crop_and_resize(struct oc_op_ctx *c, struct oc_cost *k)
{
    if (oc_out(c, 0))
        add_samples(c, k, 1);
    return 0;
}
static const char cost_crop_and_resize_formula[] =
    "MUL = 4*n + 6*L; ADD = 3*n + 6*L; RND = 2*L; n := S*N(o); L := S*o[0]*o[2:4]";

static uint64_t ceil_ratio(uint64_t a, uint64_t b)
{
    return b ? a / b + (a % b != 0) : 0;
}

/* A region can be as large as the image: CMP N(o) * ceil(H/h) * ceil(W/w) at most */
static int cost_max_roi_pool(struct oc_op_ctx *c, struct oc_cost *k)
{
    const struct oc_shape *x = oc_in_shape(c, 0);
    const struct oc_type *o = oc_out(c, 0);
    if (!x->ranked || x->rank != 4 || !o) {
        c->unknown = true;
        return 0;
    }
    uint64_t n = oc_c_out(c, 0);
    for (unsigned i = 2; i < 4; i++)
        n = oc_c_mul(c, n, ceil_ratio(oc_c_dim(c, x->dim[i]), oc_c_dim(c, o->shape.dim[i])));
    c->upper = true;
    oc_add(c, k, OC_CMP, n);
    limit_read(c, k, n);
    return 0;
}
static const char cost_max_roi_pool_formula[] = "CMP = N(o)*ceil(x[2], o[2])*ceil(x[3], o[3])";

static const struct oc_op roi_rows[] = {
    {OC_OP_ROW("com.microsoft", "CropAndResize", 1, POOL, "...m", shape_crop_and_resize),
     OC_COST(cost_crop_and_resize), .kernel = OC_KC_GATHER},
    {OC_OP_ROW("", "MaxRoiPool", 1, POOL, NULL, shape_max_roi_pool), OC_COST(cost_max_roi_pool),
     .kernel = OC_KC_GATHER},
    {OC_OP_ROW("", "RoiAlign", 10, POOL, NULL, shape_roi_align), OC_COST(cost_roi_align),
     .kernel = OC_KC_GATHER},
};
OC_FAMILY(roi, roi_rows);
