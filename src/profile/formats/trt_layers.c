#include "profile/formats/trt_reading.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ck.h"
#include "base/str.h"

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

struct reader {
    struct oc_json *j;
    struct oc_profile *p;
    struct trt_engine *e;
};

static const char *trt_layers_read_text(struct reader *r)
{
    struct oc_str s;
    return oc_json_string(r->j, &s) ? oc_intern(&r->p->names, s.s, s.n) : "";
}

/* ---- tensors ---------------------------------------------------------------------------------------- */

/* "Row major linear FP32", "Thirty-two wide channel vectorized row major Int8 format", "Half". Longer
 * words precede the shorter ones that they contain. */
static unsigned trt_layers_dtype_of(struct oc_str s)
{
    static const struct {
        const char *word;
        unsigned dtype;
    } row[] = {
        {"bfloat16", OC_DT_BFLOAT16}, {"bf16", OC_DT_BFLOAT16},    {"fp32", OC_DT_FLOAT},
        {"fp16", OC_DT_FLOAT16},      {"fp8", OC_DT_FLOAT8E4M3FN}, {"fp4", OC_DT_FLOAT4E2M1},
        {"e8m0", OC_DT_FLOAT8E8M0},   {"uint8", OC_DT_UINT8},      {"int64", OC_DT_INT64},
        {"int32", OC_DT_INT32},       {"int8", OC_DT_INT8},        {"int4", OC_DT_INT4},
        {"bool", OC_DT_BOOL},         {"half", OC_DT_FLOAT16},     {"float", OC_DT_FLOAT},
    };
    char low[160];
    size_t n = s.n < sizeof(low) - 1 ? s.n : sizeof(low) - 1;
    for (size_t i = 0; i < n; i++)
        low[i] = (char)(s.s[i] >= 'A' && s.s[i] <= 'Z' ? s.s[i] + ('a' - 'A') : s.s[i]);
    low[n] = '\0';
    for (size_t i = 0; i < OC_COUNT(row); i++)
        if (strstr(low, row[i].word))
            return row[i].dtype;
    return OC_DT_UNDEFINED;
}

static struct oc_shape trt_layers_read_dims(struct reader *r)
{
    struct oc_dim dim[OC_MAX_RANK];
    unsigned n = 0;
    bool fits = oc_json_enter_type(r->j, OC_JSON_ARRAY);
    if (!fits)
        return oc_shape_unranked();
    while (oc_json_item(r->j)) {
        int64_t v = -1;
        bool number = oc_json_i64(r->j, &v);
        if (n == OC_MAX_RANK)
            fits = false;
        else
            dim[n++] = number && v >= 0 ? oc_known(v) : oc_dim_fresh(r->p->exprs, "?", -1);
    }
    return fits ? oc_shape_of(&r->p->arena, n, dim) : oc_shape_unranked();
}

static struct oc_type trt_layers_read_tensor(struct reader *r, const char **name)
{
    struct oc_type t = oc_tensor_type(OC_DT_UNDEFINED, oc_shape_unranked());
    struct oc_str key, s;
    *name = "";
    if (!oc_json_enter_type(r->j, OC_JSON_OBJECT))
        return t;
    while (oc_json_member(r->j, &key)) {
        if (oc_str_eq(key, "Name"))
            *name = trt_layers_read_text(r);
        else if (oc_str_eq(key, "Dimensions"))
            t.shape = trt_layers_read_dims(r);
        else if (!oc_str_eq(key, "Format/Datatype") && !oc_str_eq(key, "Format") &&
                 !oc_str_eq(key, "Datatype") && !oc_str_eq(key, "DataType"))
            oc_json_skip(r->j);
        else if (oc_json_string(r->j, &s) && !t.dtype)
            t.dtype = (uint8_t)trt_layers_dtype_of(s);
    }
    return t;
}

static void read_tensors(struct reader *r, const struct oc_type **types, const char *const **names,
                         uint32_t *n)
{
    struct oc_prof_input *t = NULL;
    size_t count = 0, cap = 0;
    if (!oc_json_enter_type(r->j, OC_JSON_ARRAY))
        return;
    while (oc_json_item(r->j)) {
        OC_GROW(t, count, cap);
        t[count].type = trt_layers_read_tensor(r, &t[count].name);
        count++;
    }
    struct oc_type *type = OC_NEW_ARRAY(&r->p->arena, count, struct oc_type);
    const char **name = OC_NEW_ARRAY(&r->p->arena, count, const char *);
    for (size_t i = 0; i < count; i++) {
        type[i] = t[i].type;
        name[i] = t[i].name;
    }
    free(t);
    *types = type;
    *names = name;
    *n = (uint32_t)count;
}

/* ---- parameters ------------------------------------------------------------------------------------- */

static void trt_layers_read_ints(struct reader *r, struct trt_ints *out)
{
    out->n = 0;
    if (!oc_json_enter_type(r->j, OC_JSON_ARRAY))
        return;
    while (oc_json_item(r->j)) {
        int64_t v;
        bool number = oc_json_i64(r->j, &v);
        if (!number || out->n >= TRT_MAX_AXES)
            out->n = TRT_MAX_AXES + 1;
        else
            out->v[out->n++] = v;
    }
}

/* {"Type": "Half", "Count": 9408} */
static void read_weights(struct reader *r, const char **type, int64_t *count)
{
    struct oc_str key;
    if (!oc_json_enter_type(r->j, OC_JSON_OBJECT))
        return;
    while (oc_json_member(r->j, &key)) {
        if (oc_str_eq(key, "Type"))
            *type = trt_layers_read_text(r);
        else if (oc_str_eq(key, "Count"))
            oc_json_i64(r->j, count);
        else
            oc_json_skip(r->j);
    }
}

/* Texts, lists and numbers of a layer by key; `conv`: also with the prefix Conv, `pool`: Pooling. */
static const struct field {
    const char *key;
    size_t at;
    enum { TEXT, INTS, NUMBER } kind;
    bool conv, pool;
} field[] = {
    {"Name", offsetof(struct trt_layer, name), TEXT, false, false},
    {"LayerType", offsetof(struct trt_layer, type), TEXT, false, false},
    {"ParameterType", offsetof(struct trt_layer, param_type), TEXT, false, false},
    {"Origin", offsetof(struct trt_layer, origin), TEXT, false, false},
    {"TacticName", offsetof(struct trt_layer, tactic), TEXT, false, false},
    {"Activation", offsetof(struct trt_layer, activation), TEXT, true, false},
    {"PoolingType", offsetof(struct trt_layer, pooling), TEXT, false, true},
    {"Kernel", offsetof(struct trt_layer, kernel), INTS, true, false},
    {"Stride", offsetof(struct trt_layer, stride), INTS, true, false},
    {"PrePadding", offsetof(struct trt_layer, pre_pad), INTS, true, false},
    {"PostPadding", offsetof(struct trt_layer, post_pad), INTS, true, false},
    {"Dilation", offsetof(struct trt_layer, dilation), INTS, true, false},
    {"WindowSize", offsetof(struct trt_layer, window), INTS, false, true},
    {"StreamId", offsetof(struct trt_layer, stream), NUMBER, false, false},
    {"OutMaps", offsetof(struct trt_layer, out_maps), NUMBER, true, false},
    {"Groups", offsetof(struct trt_layer, groups), NUMBER, true, false},
};

static bool is_key(struct oc_str key, const char *prefix, const char *name)
{
    size_t n = strlen(prefix), k = strlen(name);
    return key.n == n + k && memcmp(key.s, prefix, n) == 0 && memcmp(key.s + n, name, k) == 0;
}

static bool read_field(struct reader *r, struct oc_str key, struct trt_layer *l)
{
    for (size_t i = 0; i < OC_COUNT(field); i++) {
        const struct field *f = &field[i];
        if (!oc_str_eq(key, f->key) && !(f->conv && is_key(key, "Conv", f->key)) &&
            !(f->pool && is_key(key, "Pooling", f->key)))
            continue;
        char *at = (char *)l + f->at;
        if (f->kind == TEXT)
            *(const char **)(void *)at = trt_layers_read_text(r);
        else if (f->kind == INTS)
            trt_layers_read_ints(r, (struct trt_ints *)(void *)at);
        else
            oc_json_i64(r->j, (int64_t *)(void *)at);
        return true;
    }
    return false;
}

/* "[ONNX Layer: a]<0x1e>[ONNX Layer: b]": names may contain brackets; each ends at the last one before the
 * next separator or marker. */
static void read_markers(struct reader *r, struct trt_layer *l)
{
    static const char begin[] = "[ONNX Layer: ";
    const char *s = trt_layers_read_text(r), **name = NULL;
    size_t n = 0, cap = 0;
    for (const char *at = s; (at = strstr(at, begin)) != NULL;) {
        at += sizeof(begin) - 1;
        const char *next = strstr(at, begin);
        size_t len = next ? (size_t)(next - at) : strlen(at), cut = 0;
        while (cut < len && at[cut] != 0x1e && at[cut] != 0x1f)
            cut++;
        while (cut > 0 && at[cut - 1] != ']')
            cut--;
        if (cut > 1) {
            OC_GROW(name, n, cap);
            name[n++] = oc_intern(&r->p->names, at, cut - 1);
        }
    }
    l->marker = OC_COPY_ARRAY(&r->p->arena, name, n);
    free(name);
    l->n_marker = (uint32_t)n;
}

static void trt_layers_read_member(struct reader *r, struct oc_str key, struct trt_layer *l)
{
    if (oc_str_eq(key, "Inputs"))
        read_tensors(r, &l->in, &l->in_name, &l->n_in);
    else if (oc_str_eq(key, "Outputs"))
        read_tensors(r, &l->out, &l->out_name, &l->n_out);
    else if (oc_str_eq(key, "Weights") || oc_str_eq(key, "ConvWeights"))
        read_weights(r, &l->weights_type, &l->weights);
    else if (oc_str_eq(key, "Bias") || oc_str_eq(key, "ConvBias"))
        read_weights(r, &l->bias_type, &l->bias);
    else if (oc_str_eq(key, "Metadata"))
        read_markers(r, l);
    else if (!read_field(r, key, l))
        oc_json_skip(r->j);
}

/* ---- the engine ------------------------------------------------------------------------------------- */

static void trt_layers_read_layer(struct reader *r)
{
    struct oc_str key;
    struct trt_layer l = {.name = "",
                          .type = "",
                          .param_type = "",
                          .origin = "",
                          .tactic = "",
                          .activation = "",
                          .pooling = "",
                          .weights_type = "",
                          .bias_type = "",
                          .out_maps = -1,
                          .groups = -1,
                          .weights = -1,
                          .bias = -1};
    if (oc_json_peek(r->j) == OC_JSON_STRING) {
        l.name = trt_layers_read_text(r);
    } else {
        l.detailed = oc_json_enter_type(r->j, OC_JSON_OBJECT);
        if (!l.detailed)
            return;
        while (oc_json_member(r->j, &key))
            trt_layers_read_member(r, key, &l);
    }
    if (oc_json_truncated(r->j) || oc_json_error(r->j, NULL))
        return;
    OC_GROW(r->e->layer, r->e->n, r->e->cap);
    r->e->layer[r->e->n++] = l;
}

static void read_io(struct reader *r)
{
    if (!oc_json_enter_type(r->j, OC_JSON_ARRAY))
        return;
    while (oc_json_item(r->j)) {
        struct oc_prof_input io = {.type = oc_tensor_type(OC_DT_UNDEFINED, oc_shape_unranked())};
        if (oc_json_peek(r->j) == OC_JSON_STRING)
            io.name = trt_layers_read_text(r);
        else
            io.type = trt_layers_read_tensor(r, &io.name);
        OC_GROW(r->e->io, r->e->n_io, r->e->cap_io);
        r->e->io[r->e->n_io++] = io;
    }
}

bool trt_read_engine(struct oc_json *j, struct oc_str key, struct oc_profile *p, struct trt_engine *out)
{
    struct reader r = {.j = j, .p = p, .e = out};
    if (oc_str_eq(key, "Bindings") || oc_str_eq(key, "I/O Tensors")) {
        read_io(&r);
        return true;
    }
    if (!oc_str_eq(key, "Layers"))
        return false;
    out->found = true;
    if (oc_json_enter_type(j, OC_JSON_ARRAY))
        while (oc_json_item(j))
            trt_layers_read_layer(&r);
    return true;
}
