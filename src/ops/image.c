/* Resampling of images. cost-semantics 4.6, 5.4. */
#include "ops/shared_rules.h"

#include <math.h>
#include <string.h>

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
    if (!in->ranked) {
        oc_set_out(c, 0, oc_in_dtype(c, 0), *in);
        return 0;
    }
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
static int cost_resize(struct oc_op_ctx *c, struct oc_cost *k)
{
    const struct oc_shape *in = oc_in_shape(c, 0);
    const struct oc_type *out = oc_out(c, 0);
    uint64_t n = oc_c_out(c, 0);
    struct resize r;
    bool resized;
    if (!in->ranked || !out || out->shape.rank != in->rank || read_resize(c, in->rank, &r)) {
        c->unknown = true;
        return 0;
    }
    uint64_t taps = resize_taps(c, &r, in, &out->shape, &resized);
    bool crops = strcmp(oc_attr_s(c, "coordinate_transformation_mode", ""), "tf_crop_and_resize") == 0;
    k->alias = !resized && !crops;
    if (taps > 1) {
        oc_add_formula_value(c, "T", taps);
        oc_add(c, k, OC_MUL, oc_c_mul(c, taps, n));
        oc_add(c, k, OC_ADD, oc_c_mul(c, taps - 1, n));
    }
    k->rd[0] = oc_c_part(c, 0, least(oc_c_in(c, 0), oc_c_mul(c, taps, n)));
    return 0;
}
static const char cost_resize_formula[] = "MUL = T*N(o); ADD = (max(T, 1) - 1)*N(o); T := 0";

/* ---- GridSample --------------------------------------------------------------------------------------- */

static int shape_grid_sample(struct oc_op_ctx *c)
{
    const struct oc_shape *x = oc_in_shape(c, 0), *grid = oc_in_shape(c, 1);
    struct oc_dim dim[OC_MAX_RANK];
    unsigned rank = x->ranked ? x->rank : grid->rank;
    if (!x->ranked && !grid->ranked) {
        oc_set_out(c, 0, oc_in_dtype(c, 0), *x);
        return 0;
    }
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
static int cost_grid_sample(struct oc_op_ctx *c, struct oc_cost *k)
{
    const struct oc_type *out = oc_out(c, 0);
    const char *mode = oc_attr_s(c, "mode", "linear");
    bool nearest = strcmp(mode, "nearest") == 0, cubic = strstr(mode, "cubic") != NULL;
    if (!out || !out->shape.ranked || out->shape.rank < 3 || out->shape.rank > 18) {
        c->unknown = true;
        return 0;
    }
    uint64_t axes = out->shape.rank - 2U, n = oc_c_out(c, 0);
    uint64_t taps = nearest ? 1 : UINT64_C(1) << (cubic ? 2 * axes : axes);
    uint64_t places =
        oc_c_mul(c, oc_c_dim(c, out->shape.dim[0]), oc_c_range(c, &out->shape, 2, out->shape.rank));
    oc_add_formula_value(c, "T", nearest ? 0 : taps);
    if (!nearest) {
        oc_add(c, k, OC_MUL, oc_c_mul(c, taps, n));
        oc_add(c, k, OC_ADD, oc_c_mul(c, taps - 1, n));
    }
    uint64_t mul = nearest ? axes : (cubic ? 15 : 1) * axes + taps * (axes - 1);
    oc_add_formula_value(c, "m", mul);
    oc_add_formula_value(c, "a", (nearest ? 1 : cubic ? 15 : 3) * axes);
    oc_add_formula_value(c, "axes", axes);
    oc_add(c, k, OC_MUL, oc_c_mul(c, places, mul));
    oc_add(c, k, OC_ADD, oc_c_mul(c, places, (nearest ? 1 : cubic ? 15 : 3) * axes));
    oc_add(c, k, OC_RND, oc_c_mul(c, places, axes));
    k->rd[0] = oc_c_part(c, 0, least(oc_c_in(c, 0), oc_c_mul(c, taps, n)));
    return 0;
}
static const char cost_grid_sample_formula[] =
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
    if (n == 0) {
        oc_set_out(c, 0, oc_in_dtype(c, 0), oc_shape_unranked());
        return 0;
    }
    bool batched = size.e[0].kind != OC_E_INT && theta->ranked && theta->rank == 3;
    dim[0] = batched ? theta->dim[0] : oc_elem_to_dim(c, &size.e[0], 0, -1);
    for (unsigned i = 2; i < n; i++)
        dim[i - 1] = oc_elem_to_dim(c, &size.e[i], i - 1, -1);
    dim[n - 1] = oc_known(n - 2);
    oc_set_out(c, 0, oc_in_dtype(c, 0), oc_shape_of(c->arena, n, dim));
    return 0;
}

/* MAC = N * prod(size) * n * (n + 1) */
static int cost_affine_grid(struct oc_op_ctx *c, struct oc_cost *k)
{
    const struct oc_type *out = oc_out(c, 0);
    if (!out || !out->shape.ranked || out->shape.rank < 3) {
        c->unknown = true;
        return 0;
    }
    uint64_t axes = out->shape.rank - 2U;
    uint64_t places = oc_c_range(c, &out->shape, 0, out->shape.rank - 1U);
    oc_add_formula_value(c, "axes", axes);
    oc_add(c, k, OC_MAC, oc_c_mul(c, places, axes * (axes + 1)));
    return 0;
}
static const char cost_affine_grid_formula[] = "MAC = o[:-1]*axes*(axes + 1)";

#define RESIZE(n, v, u, sl)                                                                                  \
    {                                                                                                        \
        .domain = "", .name = (n), .since = (v), .until = (u), .op_class = OC_OP_RESIZE, .slots = (sl),      \
        .shape = shape_resize, OC_COST(cost_resize)                                                          \
    }

static const struct oc_op rows[] = {
    {OC_OP_ROW("", "AffineGrid", 20, RESIZE, ".m", shape_affine_grid), OC_COST(cost_affine_grid),
     .flags = OC_F_FUNCTION},
    {OC_OP_ROW("", "GridSample", 16, RESIZE, NULL, shape_grid_sample), OC_COST(cost_grid_sample)},
    {OC_OP_ROW("com.microsoft", "GridSample", 1, RESIZE, NULL, shape_grid_sample), OC_COST(cost_grid_sample)},
    RESIZE("Resize", 10, 0, ".m"),
    RESIZE("Upsample", 1, 0, ".m"),
};
OC_FAMILY(image, rows);
