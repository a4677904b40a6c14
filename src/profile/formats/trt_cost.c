#include <math.h>
#include <string.h>

#include "base/ck.h"
#include "base/str.h"
#include "profile/formats/trt_layers.h"

static bool trt_cost_elements(const struct oc_type *t, uint64_t *n)
{
    *n = 1;
    if (!oc_shape_known(&t->shape))
        return false;
    for (unsigned i = 0; i < t->shape.rank; i++)
        if (!oc_mul_u64(*n, (uint64_t)t->shape.dim[i].v, n))
            return false;
    return true;
}

/* ---- bytes ------------------------------------------------------------------------------------------ */

static bool weight_bytes(const char *type, int64_t count, uint64_t *sum)
{
    static const struct {
        const char *type;
        unsigned dtype;
    } row[] = {
        {"Float", OC_DT_FLOAT},      {"Half", OC_DT_FLOAT16},      {"Int8", OC_DT_INT8},
        {"Int32", OC_DT_INT32},      {"BFloat16", OC_DT_BFLOAT16}, {"BF16", OC_DT_BFLOAT16},
        {"FP8", OC_DT_FLOAT8E4M3FN}, {"Int4", OC_DT_INT4},         {"FP4", OC_DT_FLOAT4E2M1},
    };
    uint64_t bytes;
    if (count <= 0)
        return true;
    for (size_t i = 0; i < OC_COUNT(row); i++)
        if (oc_equal(type, row[i].type))
            return oc_bytes_of(row[i].dtype, (uint64_t)count, &bytes) && oc_add_u64(*sum, bytes, sum);
    return false;
}

static bool trt_cost_tensor_bytes(const struct oc_type *t, uint32_t n, uint64_t *sum)
{
    for (uint32_t i = 0; i < n; i++) {
        uint64_t count, bytes;
        if (!t[i].dtype || !trt_cost_elements(&t[i], &count) || !oc_bytes_of(t[i].dtype, count, &bytes) ||
            !oc_add_u64(*sum, bytes, sum))
            return false;
    }
    return true;
}

/* A slice reads less than its input; an elided layer moves nothing; weights of a region are not listed. */
static double trt_cost_bytes_of(const struct trt_layer *l, uint64_t params)
{
    uint64_t sum = params;
    if (oc_equal(l->type, "NoOp"))
        return 0;
    if (params == UINT64_MAX || oc_equal(l->type, "Myelin") || strncmp(l->name, "{ForeignNode[", 13) == 0 ||
        oc_equal(l->param_type, "Slice") || !l->n_out || !trt_cost_tensor_bytes(l->in, l->n_in, &sum) ||
        !trt_cost_tensor_bytes(l->out, l->n_out, &sum))
        return NAN;
    return (double)sum;
}

/* ---- windows ---------------------------------------------------------------------------------------- */

static bool trt_cost_product(const struct trt_ints *v, uint64_t *out)
{
    *out = 1;
    if (v->n == 0 || v->n > TRT_MAX_AXES)
        return false;
    for (unsigned i = 0; i < v->n; i++)
        if (v->v[i] < 0 || !oc_mul_u64(*out, (uint64_t)v->v[i], out))
            return false;
    return true;
}

static bool planes(const struct oc_shape *s, uint64_t *out)
{
    *out = 1;
    for (unsigned i = 2; i < s->rank; i++)
        if (!oc_mul_u64(*out, (uint64_t)s->dim[i].v, out))
            return false;
    return true;
}

/* Output positions of a convolution that the layer does not report, because a pool follows in the same
 * layer. */
static bool inner_planes(const struct trt_layer *l, const struct oc_shape *in, uint64_t *out)
{
    *out = 1;
    if (l->stride.n != l->kernel.n || l->pre_pad.n != l->kernel.n || l->post_pad.n != l->kernel.n ||
        l->dilation.n != l->kernel.n)
        return false;
    for (unsigned i = 0; i < l->kernel.n; i++) {
        int64_t reach, size;
        if (l->kernel.v[i] < 1 || l->stride.v[i] < 1 || l->dilation.v[i] < 1 ||
            !oc_mul_i64(l->kernel.v[i] - 1, l->dilation.v[i], &reach) ||
            !oc_add_i64(in->dim[i + 2].v, l->pre_pad.v[i], &size) ||
            !oc_add_i64(size, l->post_pad.v[i], &size) || !oc_sub_i64(size, reach, &size) || size < 1 ||
            !oc_mul_u64(*out, (uint64_t)((size - 1) / l->stride.v[i] + 1), out))
            return false;
    }
    return true;
}

/* Weights per output position: as reported, otherwise from kernel, channels and groups. If they contradict
 * each other, the result is not exact. */
static bool weights_of(const struct trt_layer *l, const struct oc_shape *in, uint64_t *out, uint8_t *quality)
{
    uint64_t taps, n = 0;
    bool counted = trt_cost_product(&l->kernel, &taps) && l->out_maps > 0 && l->groups > 0 &&
                   oc_mul_u64(taps, (uint64_t)in->dim[1].v / (uint64_t)l->groups, &n) &&
                   oc_mul_u64(n, (uint64_t)l->out_maps, &n);
    if (counted && l->weights > 0 && n != (uint64_t)l->weights)
        *quality = OC_EST;
    *out = counted ? n : (uint64_t)l->weights;
    return counted || l->weights > 0;
}

/* ---- counts ----------------------------------------------------------------------------------------- */

/* Bias, residual sum and activation of n results. */
static void trt_cost_add_rest(const struct trt_layer *l, uint64_t n, struct trt_cost *out)
{
    static const struct {
        const char *name;
        double per; /* basic operations per result; Clip compares twice */
    } row[] = {{"", 0}, {"NONE", 0}, {"RELU", 1}, {"CLIPPED_RELU", 2}, {"CLIP", 2}};
    size_t i = 0;
    while (i < OC_COUNT(row) && !oc_equal(l->activation, row[i].name))
        i++;
    if (i < OC_COUNT(row))
        out->flop += row[i].per * (double)n;
    else
        out->quality = OC_LOWER;
    out->flop += l->bias > 0 ? (double)n : 0;
    for (uint32_t k = 1; k < l->n_in && l->n_out; k++)
        out->flop += oc_shape_equal(&l->in[k].shape, &l->out[0].shape) ? (double)n : 0;
    bool requantized = l->n_out && l->out[0].dtype == OC_DT_INT8;
    if (requantized && out->quality == OC_EXACT)
        out->quality = OC_LOWER; /* scales are not in the layer information */
}

static void take_macs(struct trt_cost *out, uint64_t macs)
{
    out->known = true;
    out->macs = macs;
    out->flop = 2 * (double)macs;
}

static void trt_cost_count_conv(const struct trt_layer *l, bool pooled, struct trt_cost *out)
{
    uint64_t n, batch, weights, macs, results;
    if (!l->n_in || !l->n_out || !oc_shape_known(&l->in[0].shape) || !oc_shape_known(&l->out[0].shape))
        return;
    const struct oc_shape *in = &l->in[0].shape, *o = &l->out[0].shape;
    if (in->rank != 2U + l->kernel.n || o->rank != in->rank || !weights_of(l, in, &weights, &out->quality))
        return;
    batch = (uint64_t)o->dim[0].v;
    if (!(pooled ? inner_planes(l, in, &n) : planes(o, &n)) || !oc_mul_u64(n, batch, &n) ||
        !oc_mul_u64(n, weights, &macs))
        return;
    take_macs(out, macs);
    if (oc_mul_u64(n, (uint64_t)(l->out_maps > 0 ? l->out_maps : o->dim[1].v), &results))
        trt_cost_add_rest(l, results, out);
}

/* Every input position is multiplied with every weight of its group. */
static void count_deconv(const struct trt_layer *l, struct trt_cost *out)
{
    uint64_t n, macs, results, weights, taps;
    if (!l->n_in || !l->n_out || !oc_shape_known(&l->in[0].shape) || !trt_cost_elements(&l->out[0], &results))
        return;
    const struct oc_shape *in = &l->in[0].shape;
    if (in->rank < 3 || !planes(in, &n) || !oc_mul_u64(n, (uint64_t)in->dim[0].v, &n))
        return;
    bool counted = trt_cost_product(&l->kernel, &taps) && l->out_maps > 0 && l->groups > 0 &&
                   oc_mul_u64(taps, (uint64_t)in->dim[1].v, &weights) &&
                   oc_mul_u64(weights, (uint64_t)l->out_maps / (uint64_t)l->groups, &weights);
    if (!counted)
        weights = l->weights > 0 ? (uint64_t)l->weights : 0;
    if (!weights || !oc_mul_u64(n, weights, &macs))
        return;
    take_macs(out, macs);
    trt_cost_add_rest(l, results, out);
}

/* Results / channels rows, each multiplied with all weights. */
static void count_dense(const struct trt_layer *l, struct trt_cost *out)
{
    uint64_t n, macs;
    if (!l->n_out || !trt_cost_elements(&l->out[0], &n) || l->out_maps < 1 || l->weights < 1 ||
        n % (uint64_t)l->out_maps || !oc_mul_u64(n / (uint64_t)l->out_maps, (uint64_t)l->weights, &macs))
        return;
    take_macs(out, macs);
    trt_cost_add_rest(l, n, out);
}

/* A is M x K or K x M, B is K x N or N x K: both must give the same K. */
static void trt_cost_count_matmul(const struct trt_layer *l, struct trt_cost *out)
{
    uint64_t n, macs;
    if (l->n_in < 2 || !l->n_out || !trt_cost_elements(&l->out[0], &n) || !oc_shape_known(&l->in[0].shape) ||
        !oc_shape_known(&l->in[1].shape))
        return;
    const struct oc_shape *a = &l->in[0].shape, *b = &l->in[1].shape, *o = &l->out[0].shape;
    if (a->rank < 2 || b->rank < 2 || o->rank < 2)
        return;
    const struct oc_dim *x = a->dim + a->rank - 2, *y = b->dim + b->rank - 2, *z = o->dim + o->rank - 2;
    int64_t m = z[0].v, width = z[1].v, k = x[0].v == m ? x[1].v : x[0].v;
    bool a_fits = (x[0].v == m && x[1].v == k) || (x[1].v == m && x[0].v == k);
    bool b_fits = (y[0].v == k && y[1].v == width) || (y[1].v == k && y[0].v == width);
    if (a_fits && b_fits && k >= 0 && oc_mul_u64(n, (uint64_t)k, &macs))
        take_macs(out, macs);
}

/* One operation per tap, padding included, as for models; an average also divides. False: the window is
 * unknown. */
static bool trt_cost_add_pool(const struct trt_layer *l, struct trt_cost *out)
{
    uint64_t n, taps;
    if (!l->n_out || !trt_cost_elements(&l->out[0], &n) || !trt_cost_product(&l->window, &taps) ||
        !oc_mul_u64(n, taps, &taps))
        return false;
    out->flop += (double)taps + (oc_equal(l->pooling, "AVERAGE") ? (double)n : 0);
    return true;
}

static void count_pool(const struct trt_layer *l, struct trt_cost *out)
{
    out->flop = 0;
    out->known = trt_cost_add_pool(l, out);
}

static void count_conv_pool(const struct trt_layer *l, struct trt_cost *out)
{
    trt_cost_count_conv(l, true, out);
    if (out->known && !trt_cost_add_pool(l, out))
        out->quality = OC_LOWER;
}

void trt_cost_of(const struct trt_layer *l, struct trt_cost *out)
{
    uint64_t params = 0;
    *out = (struct trt_cost){.flop = NAN, .bytes = NAN, .param_bytes = UINT64_MAX, .quality = OC_EXACT};
    if (!l->detailed) {
        out->quality = OC_UNKNOWN;
        return;
    }
    if (weight_bytes(l->weights_type, l->weights, &params) && weight_bytes(l->bias_type, l->bias, &params))
        out->param_bytes = params;
    out->bytes = trt_cost_bytes_of(l, out->param_bytes);
    if (oc_equal(l->param_type, "Convolution"))
        trt_cost_count_conv(l, false, out);
    else if (oc_equal(l->param_type, "ConvActPool"))
        count_conv_pool(l, out);
    else if (oc_equal(l->param_type, "Deconvolution"))
        count_deconv(l, out);
    else if (oc_equal(l->param_type, "FullyConnected"))
        count_dense(l, out);
    else if (oc_equal(l->param_type, "MatrixMultiply") || oc_equal(l->type, "MatrixMultiply") ||
             oc_equal(l->type, "gemm"))
        trt_cost_count_matmul(l, out);
    else if (oc_equal(l->param_type, "Pooling"))
        count_pool(l, out);
    else if ((oc_equal(l->param_type, "Reformat") && !oc_equal(l->origin, "QDQ")) ||
             oc_equal(l->param_type, "Shuffle") || oc_equal(l->type, "NoOp")) {
        out->known = true; /* moves data */
        out->flop = 0;
    }
    if (!out->known)
        out->quality = OC_UNKNOWN;
}
