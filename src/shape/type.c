/* Element types, shapes and their texts; broadcasting; windows of convolutions and pools. */
#include "shape/type.h"

#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/ck.h"

/* clang-format off */
/* Quantization types of ggml: X(type, name, elements of a block, its bytes with scales). */
#define BLOCKS(X) \
    X(Q4_0, "q4_0", 32, 18) \
    X(Q4_1, "q4_1", 32, 20) \
    X(Q5_0, "q5_0", 32, 22) \
    X(Q5_1, "q5_1", 32, 24) \
    X(Q8_0, "q8_0", 32, 34) \
    X(Q8_1, "q8_1", 32, 36) \
    X(Q2_K, "q2_k", 256, 84) \
    X(Q3_K, "q3_k", 256, 110) \
    X(Q4_K, "q4_k", 256, 144) \
    X(Q5_K, "q5_k", 256, 176) \
    X(Q6_K, "q6_k", 256, 210) \
    X(Q8_K, "q8_k", 256, 292) \
    X(IQ2_XXS, "iq2_xxs", 256, 66) \
    X(IQ2_XS, "iq2_xs", 256, 74) \
    X(IQ3_XXS, "iq3_xxs", 256, 98) \
    X(IQ1_S, "iq1_s", 256, 50) \
    X(IQ4_NL, "iq4_nl", 32, 18) \
    X(IQ3_S, "iq3_s", 256, 110) \
    X(IQ2_S, "iq2_s", 256, 82) \
    X(IQ4_XS, "iq4_xs", 256, 136) \
    X(IQ1_M, "iq1_m", 256, 56) \
    X(TQ1_0, "tq1_0", 256, 54) \
    X(TQ2_0, "tq2_0", 256, 66) \
    X(MXFP4, "mxfp4", 32, 17) \
    X(NVFP4, "nvfp4", 64, 36) \
    X(Q1_0, "q1_0", 128, 18)
/* clang-format on */

#define BLOCK_INFO(type, name, elements, bytes)                                                              \
    [OC_DT_##type] = {name, ((bytes)*8 + (elements)-1) / (elements), OC_KIND_FLOAT, OC_CLASS_NONE},
#define BLOCK_SIZE(type, name, elements, bytes) [OC_DT_##type - OC_DT_COUNT] = {elements, bytes},

static const struct {
    uint16_t elements, bytes;
} blocks[OC_DT_ALL - OC_DT_COUNT] = {BLOCKS(BLOCK_SIZE)};

static const struct oc_dtype_info info[OC_DT_ALL] = {
    BLOCKS(BLOCK_INFO)[OC_DT_UNDEFINED] = {"undefined", 0, OC_KIND_NONE, OC_CLASS_NONE},
    [OC_DT_FLOAT] = {"float", 32, OC_KIND_FLOAT, OC_CLASS_F32},
    [OC_DT_UINT8] = {"uint8", 8, OC_KIND_INT, OC_CLASS_I8},
    [OC_DT_INT8] = {"int8", 8, OC_KIND_INT, OC_CLASS_I8},
    [OC_DT_UINT16] = {"uint16", 16, OC_KIND_INT, OC_CLASS_I16},
    [OC_DT_INT16] = {"int16", 16, OC_KIND_INT, OC_CLASS_I16},
    [OC_DT_INT32] = {"int32", 32, OC_KIND_INT, OC_CLASS_I32},
    [OC_DT_INT64] = {"int64", 64, OC_KIND_INT, OC_CLASS_I64},
    [OC_DT_STRING] = {"string", 0, OC_KIND_STRING, OC_CLASS_NONE},
    [OC_DT_BOOL] = {"bool", 8, OC_KIND_BOOL, OC_CLASS_B1},
    [OC_DT_FLOAT16] = {"float16", 16, OC_KIND_FLOAT, OC_CLASS_F16},
    [OC_DT_DOUBLE] = {"double", 64, OC_KIND_FLOAT, OC_CLASS_F64},
    [OC_DT_UINT32] = {"uint32", 32, OC_KIND_INT, OC_CLASS_I32},
    [OC_DT_UINT64] = {"uint64", 64, OC_KIND_INT, OC_CLASS_I64},
    [OC_DT_COMPLEX64] = {"complex64", 64, OC_KIND_COMPLEX, OC_CLASS_F32},
    [OC_DT_COMPLEX128] = {"complex128", 128, OC_KIND_COMPLEX, OC_CLASS_F64},
    [OC_DT_BFLOAT16] = {"bfloat16", 16, OC_KIND_FLOAT, OC_CLASS_BF16},
    [OC_DT_FLOAT8E4M3FN] = {"float8e4m3fn", 8, OC_KIND_FLOAT, OC_CLASS_F8},
    [OC_DT_FLOAT8E4M3FNUZ] = {"float8e4m3fnuz", 8, OC_KIND_FLOAT, OC_CLASS_F8},
    [OC_DT_FLOAT8E5M2] = {"float8e5m2", 8, OC_KIND_FLOAT, OC_CLASS_F8},
    [OC_DT_FLOAT8E5M2FNUZ] = {"float8e5m2fnuz", 8, OC_KIND_FLOAT, OC_CLASS_F8},
    [OC_DT_UINT4] = {"uint4", 4, OC_KIND_INT, OC_CLASS_I4},
    [OC_DT_INT4] = {"int4", 4, OC_KIND_INT, OC_CLASS_I4},
    [OC_DT_FLOAT4E2M1] = {"float4e2m1", 4, OC_KIND_FLOAT, OC_CLASS_F4},
    [OC_DT_FLOAT8E8M0] = {"float8e8m0", 8, OC_KIND_FLOAT, OC_CLASS_F8},
    [OC_DT_UINT2] = {"uint2", 2, OC_KIND_INT, OC_CLASS_I2},
    [OC_DT_INT2] = {"int2", 2, OC_KIND_INT, OC_CLASS_I2},
};
_Static_assert(OC_DT_COUNT == 27, "a new element type needs a row above");

static const char *const class_name[] = {
    [OC_CLASS_NONE] = "none", [OC_CLASS_F64] = "f64",   [OC_CLASS_F32] = "f32", [OC_CLASS_TF32] = "tf32",
    [OC_CLASS_F16] = "f16",   [OC_CLASS_BF16] = "bf16", [OC_CLASS_F8] = "f8",   [OC_CLASS_F4] = "f4",
    [OC_CLASS_I64] = "i64",   [OC_CLASS_I32] = "i32",   [OC_CLASS_I16] = "i16", [OC_CLASS_I8] = "i8",
    [OC_CLASS_I4] = "i4",     [OC_CLASS_I2] = "i2",     [OC_CLASS_B1] = "b1",
};
_Static_assert(sizeof(class_name) / sizeof(*class_name) == OC_CLASS_COUNT, "a new class needs a name");

static bool same_letters(const char *a, const char *b, size_t n)
{
    if (strlen(a) != n)
        return false;
    for (size_t i = 0; i < n; i++) {
        char c = (char)(b[i] >= 'A' && b[i] <= 'Z' ? b[i] - 'A' + 'a' : b[i]);
        if (c != a[i])
            return false;
    }
    return true;
}

const struct oc_dtype_info *oc_dtype_info(unsigned dtype)
{
    return &info[dtype < OC_DT_ALL ? dtype : OC_DT_UNDEFINED];
}

bool oc_dtype_is_float(unsigned dtype)
{
    unsigned kind = oc_dtype_info(dtype)->kind;
    return kind == OC_KIND_FLOAT || kind == OC_KIND_COMPLEX;
}

uint64_t oc_dtype_block(unsigned dtype)
{
    return dtype >= OC_DT_COUNT && dtype < OC_DT_ALL ? blocks[dtype - OC_DT_COUNT].elements : 1;
}

unsigned oc_dtype_by_name(const char *name, size_t n)
{
    for (unsigned i = 1; i < OC_DT_COUNT; i++)
        if (same_letters(info[i].name, name, n))
            return i;
    if (same_letters("float32", name, n))
        return OC_DT_FLOAT;
    return same_letters("float64", name, n) ? OC_DT_DOUBLE : OC_DT_UNDEFINED;
}

const char *oc_class_name(unsigned cls)
{
    return class_name[cls < OC_CLASS_COUNT ? cls : OC_CLASS_NONE];
}

unsigned oc_class_by_name(const char *name)
{
    for (unsigned i = 1; i < OC_CLASS_COUNT; i++)
        if (strcmp(class_name[i], name) == 0)
            return i;
    return OC_CLASS_NONE;
}

bool oc_class_is_int(unsigned cls)
{
    return cls >= OC_CLASS_I64 && cls <= OC_CLASS_B1;
}

struct oc_shape oc_shape_of(struct oc_arena *a, unsigned rank, const struct oc_dim *dims)
{
    struct oc_shape s = {.rank = (uint8_t)rank, .ranked = true};
    if (rank) {
        struct oc_dim *d = OC_NEW_ARRAY(a, rank, struct oc_dim);
        memcpy(d, dims, rank * sizeof(*d));
        s.dim = d;
    }
    return s;
}

struct oc_shape oc_shape_unranked(void)
{
    return (struct oc_shape){0};
}

struct oc_shape oc_shape_scalar(void)
{
    return (struct oc_shape){.ranked = true};
}

struct oc_shape oc_shape_1d(struct oc_arena *a, struct oc_dim d)
{
    return oc_shape_of(a, 1, &d);
}

struct oc_type oc_tensor_type(unsigned dtype, struct oc_shape shape)
{
    unsigned known = dtype < OC_DT_ALL ? dtype : OC_DT_UNDEFINED;
    return (struct oc_type){.kind = OC_T_TENSOR, .dtype = (uint8_t)known, .shape = shape};
}

bool oc_shape_known(const struct oc_shape *s)
{
    if (!s->ranked)
        return false;
    for (unsigned i = 0; i < s->rank; i++)
        if (!oc_is_known(s->dim[i]))
            return false;
    return true;
}

bool oc_shape_equal(const struct oc_shape *a, const struct oc_shape *b)
{
    if (a->ranked != b->ranked || a->rank != b->rank)
        return false;
    for (unsigned i = 0; i < a->rank; i++)
        if (!oc_same_dim(a->dim[i], b->dim[i]))
            return false;
    return true;
}

struct oc_dim oc_shape_count_range(struct oc_exprs *x, const struct oc_shape *s, unsigned from, unsigned to)
{
    for (unsigned i = from; i < to; i++) /* zero, even if other sizes are unknown or overflow */
        if (oc_is(s->dim[i], 0))
            return oc_known(0);
    struct oc_dim n = oc_known(1);
    for (unsigned i = from; i < to; i++)
        n = oc_dim_mul(x, n, s->dim[i]);
    return n;
}

struct oc_dim oc_shape_count(struct oc_exprs *x, const struct oc_shape *s)
{
    if (!s->ranked)
        return oc_dim_fresh(x, "?", -1);
    return oc_shape_count_range(x, s, 0, s->rank);
}

static void type_add_dims(struct oc_buf *b, struct oc_exprs *x, const struct oc_shape *s, const char *sep)
{
    for (unsigned i = 0; i < s->rank; i++) {
        if (i)
            oc_buf_str(b, sep);
        /* known values do not change x: several threads print types of a profile */
        if (oc_is_known(s->dim[i]))
            oc_buf_int(b, s->dim[i].v);
        else
            oc_buf_str(b, oc_dim_text(x, s->dim[i]));
    }
}

static const char *type_finish_text(struct oc_arena *a, struct oc_buf *b)
{
    const char *s = oc_strndup(a, b->data ? b->data : "", b->n);
    oc_buf_free(b);
    return s;
}

const char *oc_shape_text(struct oc_arena *a, struct oc_exprs *x, const struct oc_shape *s, const char *sep)
{
    if (!s->ranked)
        return "?";
    if (s->rank == 0)
        return "scalar";
    struct oc_buf b = {0};
    type_add_dims(&b, x, s, sep);
    return type_finish_text(a, &b);
}

const char *oc_shape_braced_text(struct oc_arena *a, struct oc_exprs *x, const struct oc_shape *s)
{
    struct oc_buf b = {0};
    if (!s->ranked)
        return "?";
    oc_buf_char(&b, '{');
    type_add_dims(&b, x, s, ",");
    oc_buf_char(&b, '}');
    return type_finish_text(a, &b);
}

static void type_add_tensor(struct oc_buf *b, struct oc_exprs *x, const struct oc_type *t)
{
    oc_buf_str(b, oc_dtype_info(t->dtype)->name);
    oc_buf_char(b, '[');
    if (t->shape.ranked)
        type_add_dims(b, x, &t->shape, ",");
    else
        oc_buf_str(b, "...");
    oc_buf_char(b, ']');
}

static void add_type(struct oc_buf *b, struct oc_exprs *x, const struct oc_type *t, unsigned depth)
{
    static const char *const open[] = {
        [OC_T_SEQUENCE] = "seq(", [OC_T_OPTIONAL] = "optional(", [OC_T_MAP] = "map("};
    if (!t || t->kind == OC_T_NONE || depth > 16) {
        oc_buf_char(b, '?');
    } else if (t->kind == OC_T_TENSOR || t->kind == OC_T_SPARSE) {
        oc_buf_str(b, t->kind == OC_T_SPARSE ? "sparse " : "");
        type_add_tensor(b, x, t);
    } else {
        oc_buf_str(b, open[t->kind]);
        if (t->kind == OC_T_MAP)
            oc_buf_printf(b, "%s,", oc_dtype_info(t->dtype)->name);
        add_type(b, x, t->elem, depth + 1);
        oc_buf_char(b, ')');
    }
}

const char *oc_type_text(struct oc_arena *a, struct oc_exprs *x, const struct oc_type *t)
{
    struct oc_buf b = {0};
    add_type(&b, x, t, 0);
    return type_finish_text(a, &b);
}

bool oc_axis(int64_t axis, unsigned rank, unsigned *out)
{
    if (axis < 0)
        axis += rank;
    if (axis < 0 || axis >= (int64_t)rank)
        return false;
    *out = (unsigned)axis;
    return true;
}

bool oc_bytes_of(unsigned dtype, uint64_t elements, uint64_t *bytes)
{
    unsigned bits = oc_dtype_info(dtype)->bits;
    uint64_t block = oc_dtype_block(dtype);
    if (block > 1)
        return oc_mul_u64(elements / block + (elements % block != 0), blocks[dtype - OC_DT_COUNT].bytes,
                          bytes);
    if (bits % 8 == 0)
        return oc_mul_u64(elements, bits / 8, bytes);
    unsigned per_byte = 8 / bits; /* 2 or 4 elements packed into a byte */
    *bytes = elements / per_byte + (elements % per_byte ? 1 : 0);
    return true;
}

bool oc_shape_elements(const struct oc_shape *s, uint64_t *n)
{
    *n = 1;
    if (!oc_shape_known(s))
        return false;
    for (unsigned i = 0; i < s->rank; i++)
        if (s->dim[i].v < 0 || !oc_mul_u64(*n, (uint64_t)s->dim[i].v, n))
            return false;
    return true;
}

bool oc_type_elements(const struct oc_type *t, uint64_t *n)
{
    *n = 1;
    return t->kind == OC_T_TENSOR && oc_shape_elements(&t->shape, n);
}

bool oc_type_bytes(const struct oc_type *t, uint64_t *bytes)
{
    uint64_t n;
    return oc_type_elements(t, &n) && oc_bytes_of(t->dtype, n, bytes);
}

/* ---- broadcasting ----------------------------------------------------------------------------------- */

/* One axis. Returns false when both sizes are known, differ, and neither is 1. */
static bool broadcast_merge(struct oc_exprs *x, struct oc_dim a, struct oc_dim b, struct oc_dim *out,
                            bool *assumed)
{
    if (oc_same_dim(a, b) || oc_is(b, 1)) {
        *out = a;
    } else if (oc_is(a, 1)) {
        *out = b;
    } else if (oc_is_known(a) || oc_is_known(b)) {
        if (oc_is_known(a) && oc_is_known(b))
            return false;
        *out = oc_is_known(a) ? a : b; /* the unknown size is 1 or equal to the other */
    } else {
        if (assumed)
            *assumed = true;
        if (oc_dim_min_value(x, a) > 1)
            *out = a;
        else
            *out = oc_dim_min_value(x, b) > 1 ? b : oc_dim_max(x, a, b);
    }
    return true;
}

int oc_broadcast(struct oc_arena *a, struct oc_exprs *x, const struct oc_shape *s, const struct oc_shape *t,
                 struct oc_shape *out, bool *assumed)
{
    if (!s->ranked || !t->ranked) {
        *out = oc_shape_unranked();
        return 0;
    }
    struct oc_dim dim[UINT8_MAX];
    unsigned rank = s->rank > t->rank ? s->rank : t->rank;
    bool is_s = s->rank == rank, is_t = t->rank == rank;
    for (unsigned i = 0; i < rank; i++) {
        struct oc_dim d = i + s->rank >= rank ? s->dim[i + s->rank - rank] : oc_known(1);
        struct oc_dim e = i + t->rank >= rank ? t->dim[i + t->rank - rank] : oc_known(1);
        if (!broadcast_merge(x, d, e, &dim[i], assumed))
            return -1;
        is_s = is_s && oc_same_dim(dim[i], d);
        is_t = is_t && oc_same_dim(dim[i], e);
    }
    *out = is_s ? *s : is_t ? *t : oc_shape_of(a, rank, dim);
    return 0;
}

/* ---- windows ------------------------------------------------------------------------------------------ */

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
