/* Pools over regions of interest. cost-semantics 4.6; coordinates have the cost of GridSample's. */
#include "ops/op.h"

#include <string.h>

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
    oc_tell(c, "S", per_output);
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

static const struct oc_op rows[] = {
    {.domain = "com.microsoft",
     .name = "CropAndResize",
     .since = 1,
     .op_class = OC_OP_POOL,
     .slots = "...m",
     .shape = shape_crop_and_resize,
     OC_COST(cost_crop_and_resize),
     .kernel = OC_KC_GATHER},
    {.domain = "",
     .name = "MaxRoiPool",
     .since = 1,
     .op_class = OC_OP_POOL,
     .shape = shape_max_roi_pool,
     OC_COST(cost_max_roi_pool),
     .kernel = OC_KC_GATHER},
    {.domain = "",
     .name = "RoiAlign",
     .since = 10,
     .op_class = OC_OP_POOL,
     .shape = shape_roi_align,
     OC_COST(cost_roi_align),
     .kernel = OC_KC_GATHER},
};
extern const struct oc_op_family oc_ops_roi;
const struct oc_op_family oc_ops_roi = OC_FAMILY("roi", rows);
