/* join/: Which records of a profile are which nodes of the model: match.c applies the rules in order, the
 * surest first. An uncertain match is left out, and time is conserved: tests/unit/join and tests/data
 * have the cases. Costs of groups are sums of those of analyze/.
 * Private to the folder: expansion.h. */

#include "join/record_cost.h"

#include <math.h>
#include <string.h>

#include "base/ck.h"

/* ---- arguments -------------------------------------------------------------------------------------- */

const struct oc_type *oc_aten_tensor(const struct aten_work *w, int at)
{
    if (at < 0 || (uint32_t)at >= w->r->n_in)
        return NULL;
    const struct oc_type *t = &w->r->in[at];
    return t->kind == OC_T_TENSOR && oc_shape_known(&t->shape) ? t : NULL;
}

int oc_aten_at(const struct aten_work *w, unsigned i)
{
    return i < w->row->n_at ? w->row->at[i] : -1;
}

const struct oc_type *oc_aten_arg(const struct aten_work *w, unsigned i)
{
    return oc_aten_tensor(w, oc_aten_at(w, i));
}

uint64_t oc_aten_size(const struct oc_type *t, int dim)
{
    return (uint64_t)t->shape.dim[dim < 0 ? t->shape.rank + dim : dim].v;
}

uint64_t oc_aten_mul(struct aten_work *w, uint64_t a, uint64_t b)
{
    uint64_t out = 0;
    w->overflow |= !oc_mul_u64(a, b, &out);
    return out;
}

uint64_t oc_aten_span(struct aten_work *w, const struct oc_type *t, unsigned from, unsigned to)
{
    uint64_t n = 1;
    for (unsigned i = from; i < to; i++)
        n = oc_aten_mul(w, n, oc_aten_size(t, (int)i));
    return n;
}

uint64_t oc_aten_elements(struct aten_work *w, const struct oc_type *t)
{
    return oc_aten_span(w, t, 0, t->shape.rank);
}

static void read_values(struct aten_work *w)
{
    const char *text = w->r->values;
    struct oc_str s;
    if (!text)
        return;
    struct oc_stream *stream = oc_stream_mem(text, strlen(text));
    struct oc_json *j = oc_json_open(stream);
    if (oc_json_enter(j))
        while (oc_json_item(j) && w->n_value < ATEN_VALUES) {
            struct oc_str *v = &w->value[w->n_value++];
            if (oc_json_string(j, &s))
                *v = (struct oc_str){oc_strndup(w->a, s.s, s.n), s.n};
        }
    oc_json_close(j);
    oc_stream_close(stream);
}

bool oc_aten_ints(const struct aten_work *w, int at, int64_t *v, unsigned max, unsigned *n)
{
    *n = 0;
    if (at < 0 || (unsigned)at >= w->n_value || !w->value[at].n)
        return false;
    struct oc_stream *stream = oc_stream_mem(w->value[at].s, w->value[at].n);
    struct oc_json *j = oc_json_open(stream);
    bool good = true;
    if (oc_json_peek(j) == OC_JSON_ARRAY && oc_json_enter(j))
        while (oc_json_item(j) && good)
            good = *n < max && oc_json_i64(j, &v[(*n)++]);
    else
        good = max && oc_json_peek(j) == OC_JSON_NUMBER && oc_json_i64(j, &v[(*n)++]);
    oc_json_close(j);
    oc_stream_close(stream);
    return good;
}

int oc_aten_bool(const struct aten_work *w, int at, unsigned item)
{
    if (at < 0 || (unsigned)at >= w->n_value || !w->value[at].n)
        return -1;
    const char *p = w->value[at].s, *end = p + w->value[at].n;
    for (; item && p < end; p++)
        item -= *p == ',';
    while (p < end && (*p == '[' || *p == ' '))
        p++;
    return p == end ? -1 : *p == 'T' || *p == '1' || *p == '2' ? 1 : *p == 'F' || *p == '0' ? 0 : -1;
}

/* ---- counts ----------------------------------------------------------------------------------------- */

void oc_aten_unknown(struct aten_work *w, const char *why)
{
    w->out->macs = w->out->flops = w->out->ops = 0;
    w->out->quality = OC_UNKNOWN;
    w->out->note = why;
}

void oc_aten_qualify(struct aten_work *w, enum oc_quality quality, const char *why)
{
    if (w->out->quality == OC_UNKNOWN)
        return;
    w->out->quality = (uint8_t)quality;
    w->out->note = why;
}

static void add_bytes(struct aten_work *w, unsigned dtype, uint64_t elements, uint64_t *sum)
{
    uint64_t bytes;
    w->out->bytes_known = w->out->bytes_known && dtype != OC_DT_UNDEFINED &&
                          oc_bytes_of(dtype, elements, &bytes) && oc_add_u64(*sum, bytes, sum);
}

void oc_aten_read(struct aten_work *w, const struct oc_type *t)
{
    if (t)
        add_bytes(w, t->dtype, oc_aten_elements(w, t), &w->out->rd);
}

void oc_aten_write(struct aten_work *w, const struct oc_type *like, uint64_t elements)
{
    add_bytes(w, like->dtype, elements, &w->out->wr);
}

static bool is_int(unsigned dtype)
{
    unsigned kind = oc_dtype_info(dtype)->kind;
    return dtype != OC_DT_UNDEFINED && kind != OC_KIND_FLOAT && kind != OC_KIND_COMPLEX;
}

void oc_aten_products(struct aten_work *w, const struct oc_type *type, uint64_t macs, uint64_t adds)
{
    uint64_t *sum = is_int(type->dtype) ? &w->out->ops : &w->out->flops;
    w->out->macs = macs;
    w->overflow |= !oc_add_u64(oc_aten_mul(w, macs, 2), adds, sum);
    if (type->dtype == OC_DT_UNDEFINED)
        oc_aten_qualify(w, OC_EST, "types are not recorded: assumes floating point");
}

/* ---- element-wise operators ------------------------------------------------------------------------- */

/* Type promotion: the widest type of the highest category; tensors without dims count only alone. */
static unsigned promote(const struct aten_work *w)
{
    unsigned best = OC_DT_UNDEFINED;
    bool best_dims = false;
    for (unsigned i = 0; i < ATEN_POSITIONS; i++) {
        const struct oc_type *t = oc_aten_arg(w, i);
        bool dims = t && t->shape.rank;
        if (!t || t->dtype == OC_DT_UNDEFINED || (best != OC_DT_UNDEFINED && best_dims && !dims))
            continue;
        bool higher =
            best == OC_DT_UNDEFINED || (dims && !best_dims) || (is_int(best) && !is_int(t->dtype)) ||
            (is_int(best) == is_int(t->dtype) && oc_dtype_info(t->dtype)->bits > oc_dtype_info(best)->bits);
        if (higher)
            best = t->dtype;
        best_dims |= dims;
    }
    return best;
}

/* The broadcast shape of the tensors. */
static bool broadcast(struct aten_work *w, struct oc_shape *out)
{
    *out = oc_shape_scalar();
    for (unsigned i = 0; i < ATEN_POSITIONS; i++) {
        const struct oc_type *t = oc_aten_arg(w, i);
        struct oc_shape before = *out;
        if (t && oc_broadcast(w->a, NULL, &before, &t->shape, out, NULL))
            return false;
    }
    return true;
}

/* Reads all operands once and writes the output. False: the shapes do not fit. */
static bool move_elements(struct aten_work *w, struct oc_type *out)
{
    struct oc_shape shape;
    if (!oc_aten_arg(w, 0) || !broadcast(w, &shape)) {
        oc_aten_unknown(w, "the shapes of the tensors are not recorded");
        w->out->bytes_known = false;
        return false;
    }
    *out = oc_tensor_type(w->row->flags & ATEN_BOOL ? (unsigned)OC_DT_BOOL : promote(w), shape);
    for (unsigned i = 0; i < ATEN_POSITIONS; i++)
        oc_aten_read(w, oc_aten_arg(w, i));
    oc_aten_write(w, out, oc_aten_elements(w, out));
    return true;
}

/* at: operands. The count is that of the equivalent ONNX operator. */
static void count_map(struct aten_work *w)
{
    struct oc_type in[ATEN_POSITIONS], out;
    struct oc_prof_rec like = oc_prof_rec_new("");
    if (!move_elements(w, &out))
        return;
    unsigned dtype = promote(w);
    bool untyped = dtype == OC_DT_UNDEFINED;
    dtype = untyped ? (unsigned)OC_DT_FLOAT : dtype;
    for (unsigned i = 0; i < ATEN_POSITIONS && oc_aten_at(w, i) >= 0; i++) {
        const struct oc_type *t = oc_aten_arg(w, i);
        if (t || !(w->row->flags & ATEN_OPTIONAL))
            in[like.n_in++] = t && t->dtype ? *t : oc_tensor_type(dtype, t ? t->shape : oc_shape_scalar());
    }
    if (out.dtype == OC_DT_UNDEFINED)
        out.dtype = (uint8_t)dtype;
    like.op_type = w->row->onnx;
    like.in = in;
    like.out = &out;
    like.n_out = 1;
    oc_record_rule_cost(&like, w->a, w->out);
    if (untyped)
        oc_aten_qualify(w, OC_EST, "types are not recorded: assumes floating point");
}

/* at: operands that broadcast to the output. Only the bytes are known. */
static void count_moved(struct aten_work *w)
{
    struct oc_type out;
    if (move_elements(w, &out))
        oc_aten_unknown(w, "no rule for the operations of this operator");
}

/* at: X, weight, bias, mean, variance, -, training. Writes a tensor like X. */
static void count_norm(struct aten_work *w)
{
    struct oc_type in[ATEN_POSITIONS];
    struct oc_prof_rec like = oc_prof_rec_new("");
    const struct oc_type *x = oc_aten_arg(w, 0);
    bool batch = oc_aten_at(w, 6) >= 0;
    for (unsigned i = 0; i + 1 < ATEN_POSITIONS; i++) {
        const struct oc_type *t = oc_aten_arg(w, i);
        if (t)
            in[like.n_in++] = t->dtype ? *t : oc_tensor_type(OC_DT_FLOAT, t->shape);
        oc_aten_read(w, t);
    }
    if (!x || (batch && like.n_in < 5)) {
        oc_aten_unknown(w, "the shapes of the tensors are not recorded");
        w->out->bytes_known = false;
        return;
    }
    oc_aten_write(w, x, oc_aten_elements(w, x));
    like.op_type = w->row->onnx;
    like.in = like.out = in;
    like.n_out = 1;
    oc_record_rule_cost(&like, w->a, w->out);
    if (!batch)
        oc_aten_qualify(w, OC_EST, "counted as layer normalization");
    else if (oc_aten_bool(w, oc_aten_at(w, 6), 0) != 0)
        oc_aten_qualify(w, OC_LOWER, "the statistics of training are not counted");
}

/* at: X, gradient, weight, saved statistics. Writes the gradients of X, weight and bias. */
static void count_norm_backward(struct aten_work *w)
{
    const struct oc_type *x = oc_aten_arg(w, 0), *k = oc_aten_arg(w, 2);
    oc_aten_unknown(w, "no rule for the operations of this operator");
    w->out->bytes_known = w->out->bytes_known && x;
    for (unsigned i = 0; i < ATEN_POSITIONS; i++)
        oc_aten_read(w, oc_aten_arg(w, i));
    if (x)
        oc_aten_write(w, x, oc_aten_elements(w, x));
    if (k)
        oc_aten_write(w, k, oc_aten_mul(w, 2, oc_aten_elements(w, k)));
}

/* at: X, dims. */
static void count_reduction(struct aten_work *w)
{
    const struct oc_type *x = oc_aten_arg(w, 0);
    int64_t dim[OC_MAX_RANK];
    unsigned n = 0, axis, seen = 0;
    uint64_t kept;
    bool all = w->n_value && (w->n_value <= 1 || !w->value[1].n);
    if (!x || (!all && !oc_aten_ints(w, oc_aten_at(w, 1), dim, OC_MAX_RANK, &n))) {
        oc_aten_unknown(w, "the reduced dims are not recorded");
        w->out->bytes_known = false;
        return;
    }
    kept = n ? oc_aten_elements(w, x) : 1;
    for (unsigned i = 0; i < n; i++)
        if (oc_axis(dim[i], x->shape.rank, &axis) && !(seen >> axis & 1)) {
            uint64_t size = oc_aten_size(x, (int)axis);
            kept = size ? kept / size : 0;
            seen |= axis < 32 ? 1u << axis : 0;
        }
    uint64_t elements = oc_aten_elements(w, x);
    oc_aten_products(w, x, 0, elements > kept ? elements - kept : 0);
    oc_aten_read(w, x);
    oc_aten_write(w, x, kept);
}

/* ---- operators that only move data ------------------------------------------------------------------ */

static void count_view(struct aten_work *w)
{
    (void)w; /* the same memory: 0 bytes */
}

/* at: source (-1: none), destination. */
static void count_copy(struct aten_work *w)
{
    const struct oc_type *to = oc_aten_arg(w, 1);
    if (!to) {
        w->out->bytes_known = false;
        return;
    }
    oc_aten_read(w, oc_aten_arg(w, 0));
    oc_aten_write(w, to, oc_aten_elements(w, to));
}

/* Numbers of c10::ScalarType. */
static unsigned scalar_type(int64_t n)
{
    static const uint8_t dtype[] = {OC_DT_UINT8,     OC_DT_INT8,      OC_DT_INT16,      OC_DT_INT32,
                                    OC_DT_INT64,     OC_DT_FLOAT16,   OC_DT_FLOAT,      OC_DT_DOUBLE,
                                    OC_DT_UNDEFINED, OC_DT_COMPLEX64, OC_DT_COMPLEX128, OC_DT_BOOL};
    return n == 15                                  ? (unsigned)OC_DT_BFLOAT16
           : n >= 0 && n < (int64_t)OC_COUNT(dtype) ? dtype[n]
                                                    : OC_DT_UNDEFINED;
}

/* Copies only if the result differs from the input: a kernel ran. aten::to(self, dtype, ..) and _to_copy have
 * the type at 1, the form with a device and 6 arguments at 2. */
static void count_conversion(struct aten_work *w)
{
    const struct oc_type *x = oc_aten_tensor(w, 0);
    int64_t type;
    unsigned n, dtype = x ? x->dtype : OC_DT_UNDEFINED;
    w->out->bytes_known = w->out->bytes_known && x && !isnan(w->r->kernel_ns);
    if (!w->out->bytes_known || w->r->kernel_ns == 0)
        return;
    if (oc_aten_at(w, 0) >= 0 && oc_aten_ints(w, w->n_value == 6 ? 2 : 1, &type, 1, &n) && n == 1)
        dtype = scalar_type(type);
    oc_aten_read(w, x);
    add_bytes(w, dtype, oc_aten_elements(w, x), &w->out->wr);
}

/* at: table, indices. Reads the selected rows. */
static void count_embedding(struct aten_work *w)
{
    const struct oc_type *table = oc_aten_arg(w, 0), *index = oc_aten_arg(w, 1);
    if (!table || !index || !table->shape.rank) {
        w->out->bytes_known = false;
        return;
    }
    uint64_t n = oc_aten_mul(w, oc_aten_elements(w, index), oc_aten_span(w, table, 1, table->shape.rank));
    add_bytes(w, table->dtype, n, &w->out->rd);
    oc_aten_read(w, index);
    oc_aten_write(w, table, n);
}

/* embedding_dense_backward(grad, indices, number of rows, ..): adds each row, writes the whole table. */
static void count_embedding_backward(struct aten_work *w)
{
    const struct oc_type *grad = oc_aten_tensor(w, 0);
    int64_t rows;
    unsigned n;
    if (!grad || !grad->shape.rank || !oc_aten_ints(w, 2, &rows, 1, &n) || n != 1 || rows < 0) {
        oc_aten_unknown(w, "the number of rows is not recorded");
        w->out->bytes_known = false;
        return;
    }
    oc_aten_products(w, grad, 0, oc_aten_elements(w, grad));
    oc_aten_read(w, grad);
    oc_aten_read(w, oc_aten_tensor(w, 1));
    oc_aten_write(w, grad, oc_aten_mul(w, (uint64_t)rows, oc_aten_size(grad, -1)));
}

/* at: X, dim, indices: index_select; without dim: gather, whose output has the shape of the indices. */
static void count_selection(struct aten_work *w)
{
    const struct oc_type *x = oc_aten_arg(w, 0), *index = oc_aten_arg(w, 2);
    int64_t dim = 0;
    unsigned n, axis = 0;
    bool gather = oc_aten_at(w, 1) < 0;
    if (!x || !index || !x->shape.rank ||
        (!gather && (!oc_aten_ints(w, oc_aten_at(w, 1), &dim, 1, &n) || n != 1 ||
                     !oc_axis(dim, x->shape.rank, &axis)))) {
        w->out->bytes_known = false;
        return;
    }
    uint64_t moved = oc_aten_elements(w, index);
    for (unsigned i = 0; i < x->shape.rank && !gather; i++)
        moved = i == axis ? moved : oc_aten_mul(w, moved, oc_aten_size(x, (int)i));
    add_bytes(w, x->dtype, moved, &w->out->rd);
    oc_aten_read(w, index);
    oc_aten_write(w, x, moved);
}

/* ---- the table -------------------------------------------------------------------------------------- */

/* Name, flags, positions of arguments by meaning: those that are left out are none. */
#define ROW(n, count, flags, type, ...)                                                                      \
    {                                                                                                        \
        n, count, {__VA_ARGS__}, OC_COUNT(((int8_t[]){__VA_ARGS__})), flags, type                            \
    }
#define UNARY(n, type)           ROW(n, count_map, 0, type, 0)
#define BINARY(n, type)          ROW(n, count_map, 0, type, 0, 1)
#define COMPARE(n, type)         ROW(n, count_map, ATEN_BOOL, type, 0, 1)
#define VIEW(n)                  ROW(n, count_view, 0, NULL, -1)
#define REDUCE(n)                ROW(n, count_reduction, 0, NULL, 0, 1)
#define MOVED(n, ...)            ROW(n, count_moved, 0, NULL, __VA_ARGS__)
#define COPY(n, from, to)        ROW(n, count_copy, 0, NULL, from, to)
#define MATMUL(n, flags, ...)    ROW(n, oc_aten_matmul, flags, NULL, __VA_ARGS__)
#define CONV(n, flags, ...)      ROW(n, oc_aten_conv, flags, NULL, __VA_ARGS__)
#define CONV_BACK(n, ...)        ROW(n, oc_aten_conv_backward, 0, NULL, __VA_ARGS__)
#define POOL(n, ...)             ROW(n, oc_aten_pool, 0, NULL, __VA_ARGS__)
#define ATTENTION(n, flags, ...) ROW(n, oc_aten_attention, flags, NULL, __VA_ARGS__)
#define BACK_LAST                (ATEN_BACKWARD | ATEN_HEADS_LAST)

/* One per line. */
/* clang-format off */
static const struct aten_row rows[] = {
    MATMUL("mm", 0, 0, 1),
    MATMUL("bmm", 0, 0, 1),
    MATMUL("matmul", 0, 0, 1),
    MATMUL("mv", 0, 0, 1),
    MATMUL("dot", 0, 0, 1),
    MATMUL("addmm", 0, 1, 2, 0),
    MATMUL("_addmm_activation", 0, 1, 2, 0),
    MATMUL("addmv", 0, 1, 2, 0),
    MATMUL("baddbmm", 0, 1, 2, 0),
    MATMUL("linear", ATEN_TRANSPOSED, 0, 1, 2),
    MATMUL("mkldnn_linear", ATEN_TRANSPOSED, 0, 1, 2),
    MATMUL("_int_mm", ATEN_OTHER_TYPE, 0, 1),
    MATMUL("_scaled_mm", ATEN_OTHER_TYPE, 0, 1, 4),
    MATMUL("vllm::rocm_unquantized_gemm", ATEN_TRANSPOSED, 0, 1, 2),
    MATMUL("aiter::gemm_a16w16", ATEN_TRANSPOSED, 0, 1, 2),

    CONV("conv1d", 0, 0, 1, 2, 3, 4, 5),
    CONV("conv2d", 0, 0, 1, 2, 3, 4, 5),
    CONV("conv3d", 0, 0, 1, 2, 3, 4, 5),
    CONV("convolution", 0, 0, 1, 2, 3, 4, 5, 6),
    CONV("_convolution", 0, 0, 1, 2, 3, 4, 5, 6),
    CONV("cudnn_convolution", 0, 0, 1, -1, 3, 2, 4),
    CONV("cudnn_convolution_relu", 0, 0, 1, 2, 3, 4, 5),
    CONV("miopen_convolution", 0, 0, 1, 2, 4, 3, 5),
    CONV("miopen_depthwise_convolution", 0, 0, 1, 2, 4, 3, 5),
    CONV("mkldnn_convolution", 0, 0, 1, 2, 4, 3, 5),
    CONV("thnn_conv2d", 0, 0, 1, 3, 4, 5),
    CONV("_conv_depthwise2d", 0, 0, 1, 3, 4, 5, 6),
    CONV("conv_depthwise3d", 0, 0, 1, 3, 4, 5, 6),
    CONV("conv_transpose1d", ATEN_TRANSPOSED, 0, 1, 2, 3, 4, 7),
    CONV("conv_transpose2d", ATEN_TRANSPOSED, 0, 1, 2, 3, 4, 7),
    CONV("conv_transpose3d", ATEN_TRANSPOSED, 0, 1, 2, 3, 4, 7),
    CONV_BACK("convolution_backward", 0, 1, 2, 10, 7),
    CONV_BACK("cudnn_convolution_backward", 1, 0, 2, 10),
    CONV_BACK("mkldnn_convolution_backward", 1, 0, 2, 7),
    CONV_BACK("miopen_convolution_backward", 1, 0, 2, 9),
    CONV_BACK("thnn_conv2d_backward", 0, 1, 2),
    CONV_BACK("_slow_conv2d_backward", 0, 1, 2, 6),

    ATTENTION("scaled_dot_product_attention", 0, 0, 1, 2, 5),
    ATTENTION("_scaled_dot_product_attention_math", 0, 0, 1, 2, 5),
    ATTENTION("_scaled_dot_product_flash_attention", 0, 0, 1, 2, 4),
    ATTENTION("_scaled_dot_product_flash_attention_for_cpu", 0, 0, 1, 2, 4),
    ATTENTION("_scaled_dot_product_efficient_attention", 0, 0, 1, 2, 6),
    ATTENTION("_scaled_dot_product_cudnn_attention", 0, 0, 1, 2, 6),
    ATTENTION("_scaled_dot_product_fused_attention_overrideable", 0, 0, 1, 2, 5),
    ATTENTION("_scaled_dot_product_flash_attention_backward", ATEN_BACKWARD, 1, 2, 3, 11, -1, -1, 0),
    ATTENTION("_scaled_dot_product_flash_attention_for_cpu_backward", ATEN_BACKWARD, 1, 2, 3, 7, -1, -1, 0),
    ATTENTION("_scaled_dot_product_efficient_attention_backward", ATEN_BACKWARD, 1, 2, 3, 11, -1, -1, 0),
    ATTENTION("_scaled_dot_product_cudnn_attention_backward", ATEN_BACKWARD, 1, 2, 3, 14, -1, -1, 0),
    ATTENTION("_flash_attention_forward", ATEN_HEADS_LAST, 0, 1, 2, 8, 3, 6),
    ATTENTION("_efficient_attention_forward", ATEN_HEADS_LAST, 0, 1, 2, 9, 4, 7),
    ATTENTION("flash_attn::_flash_attn_forward", ATEN_HEADS_LAST | ATEN_ENDS_ALIGN, 0, 1, 2, 5),
    ATTENTION("flash_attn::_flash_attn_varlen_forward", ATEN_HEADS_LAST | ATEN_ENDS_ALIGN, 0, 1, 2, 9, 3, 6),
    ATTENTION("aiter::fmha_v3_fwd", ATEN_HEADS_LAST | ATEN_ENDS_ALIGN, 0, 1, 2, 5),
    ATTENTION("_flash_attention_backward", BACK_LAST, 1, 2, 3, 11, 6, 9, 0),
    ATTENTION("_efficient_attention_backward", BACK_LAST, 1, 2, 3, 14, 6, 9, 0),
    ATTENTION("flash_attn::_flash_attn_backward", BACK_LAST | ATEN_ENDS_ALIGN, 1, 2, 3, 11, -1, -1, 0),
    ATTENTION("flash_attn::_flash_attn_varlen_backward", BACK_LAST | ATEN_ENDS_ALIGN, 1, 2, 3, 15, 9, 12, 0),

    ROW("layer_norm", count_map, ATEN_OPTIONAL, "LayerNormalization", 0, 2, 3),
    ROW("native_layer_norm", count_map, ATEN_OPTIONAL, "LayerNormalization", 0, 2, 3),
    ROW("rms_norm", count_map, ATEN_OPTIONAL, "RMSNormalization", 0, 2),
    ROW("_fused_rms_norm", count_map, ATEN_OPTIONAL, "RMSNormalization", 0, 2),
    ROW("_C::rms_norm", count_map, ATEN_OPTIONAL, "RMSNormalization", 1, 2),
    ROW("aiter::rms_norm", count_map, ATEN_OPTIONAL, "RMSNormalization", 0, 1),
    ROW("vllm::rocm_aiter_rms_norm", count_map, ATEN_OPTIONAL, "RMSNormalization", 0, 1),
    ROW("group_norm", count_norm, 0, "LayerNormalization", 0, 2, 3),
    ROW("native_group_norm", count_norm, 0, "LayerNormalization", 0, 1, 2),
    ROW("instance_norm", count_norm, 0, "LayerNormalization", 0, 1, 2),
    ROW("batch_norm", count_norm, 0, "BatchNormalization", 0, 1, 2, 3, 4, -1, 5),
    ROW("native_batch_norm", count_norm, 0, "BatchNormalization", 0, 1, 2, 3, 4, -1, 5),
    ROW("cudnn_batch_norm", count_norm, 0, "BatchNormalization", 0, 1, 2, 3, 4, -1, 5),
    ROW("miopen_batch_norm", count_norm, 0, "BatchNormalization", 0, 1, 2, 3, 4, -1, 5),
    ROW("native_layer_norm_backward", count_norm_backward, 0, NULL, 0, 1, 5, 3, 4),
    ROW("native_group_norm_backward", count_norm_backward, 0, NULL, 0, 1, 4, 2, 3),
    ROW("native_batch_norm_backward", count_norm_backward, 0, NULL, 0, 1, 2, 5, 6),
    ROW("cudnn_batch_norm_backward", count_norm_backward, 0, NULL, 0, 1, 2, 5, 6),
    ROW("miopen_batch_norm_backward", count_norm_backward, 0, NULL, 0, 1, 2, 5, 6),

    ROW("embedding", count_embedding, 0, NULL, 0, 1),
    ROW("embedding_dense_backward", count_embedding_backward, 0, NULL, -1),
    ROW("index_select", count_selection, 0, NULL, 0, 1, 2),
    ROW("gather", count_selection, 0, NULL, 0, -1, 2),

    POOL("max_pool1d", 0, 1, 1, 2, 3, 4, 5),
    POOL("max_pool2d", 0, 1, 2, 2, 3, 4, 5),
    POOL("max_pool3d", 0, 1, 3, 2, 3, 4, 5),
    POOL("max_pool2d_with_indices", 0, 1, 2, 2, 3, 4, 5),
    POOL("avg_pool1d", 0, 1, 1, 2, 3, -1, 4),
    POOL("avg_pool2d", 0, 1, 2, 2, 3, -1, 4),
    POOL("avg_pool3d", 0, 1, 3, 2, 3, -1, 4),

    REDUCE("sum"), REDUCE("mean"), REDUCE("amax"), REDUCE("amin"), REDUCE("prod"),
    REDUCE("any"), REDUCE("all"), REDUCE("argmax"), REDUCE("argmin"),

    UNARY("softmax", "Softmax"), UNARY("_softmax", "Softmax"),
    UNARY("log_softmax", "LogSoftmax"), UNARY("_log_softmax", "LogSoftmax"),
    BINARY("add", "Add"), BINARY("sub", "Sub"), BINARY("rsub", "Sub"), BINARY("mul", "Mul"), BINARY("div", "Div"),
    BINARY("maximum", "Max"), BINARY("minimum", "Min"), BINARY("pow", "Pow"), BINARY("remainder", "Mod"),
    BINARY("threshold_backward", "Mul"), BINARY("native_dropout_backward", "Mul"),
    BINARY("logical_and", "And"), BINARY("logical_or", "Or"), BINARY("logical_xor", "Xor"),
    BINARY("bitwise_and", "BitwiseAnd"), BINARY("bitwise_or", "BitwiseOr"), BINARY("bitwise_xor", "BitwiseXor"),
    COMPARE("eq", "Equal"), COMPARE("ne", "Equal"), COMPARE("lt", "Less"), COMPARE("le", "LessOrEqual"),
    COMPARE("gt", "Greater"), COMPARE("ge", "GreaterOrEqual"),
    MOVED("where", 0, 1, 2), MOVED("masked_fill", 0, 1),
    UNARY("relu", "Relu"), UNARY("leaky_relu", "LeakyRelu"), UNARY("elu", "Elu"), UNARY("selu", "Selu"),
    UNARY("gelu", "Gelu"), UNARY("silu", "Swish"), UNARY("mish", "Mish"), UNARY("softplus", "Softplus"),
    UNARY("sigmoid", "Sigmoid"), UNARY("tanh", "Tanh"), UNARY("hardswish", "HardSwish"),
    UNARY("hardsigmoid", "HardSigmoid"), UNARY("hardtanh", "Clip"), UNARY("relu6", "Clip"), UNARY("clamp", "Clip"),
    UNARY("exp", "Exp"), UNARY("log", "Log"), UNARY("sqrt", "Sqrt"), UNARY("rsqrt", "Sqrt"), UNARY("erf", "Erf"),
    UNARY("sin", "Sin"), UNARY("cos", "Cos"), UNARY("neg", "Neg"), UNARY("abs", "Abs"), UNARY("sign", "Sign"),
    UNARY("floor", "Floor"), UNARY("ceil", "Ceil"), UNARY("round", "Round"), UNARY("reciprocal", "Reciprocal"),
    UNARY("square", "Abs"), UNARY("logical_not", "Not"), UNARY("bitwise_not", "BitwiseNot"),
    MOVED("addcmul", 0, 1, 2), MOVED("addcdiv", 0, 1, 2), MOVED("lerp", 0, 1, 2), MOVED("cumsum", 0),
    MOVED("gelu_backward", 0, 1), MOVED("silu_backward", 0, 1), MOVED("tanh_backward", 0, 1),
    MOVED("sigmoid_backward", 0, 1), MOVED("hardswish_backward", 0, 1), MOVED("elu_backward", 0, 1),
    MOVED("leaky_relu_backward", 0, 1), MOVED("_softmax_backward_data", 0, 1),
    MOVED("_log_softmax_backward_data", 0, 1),

    COPY("copy", 1, 0), COPY("clone", 0, 0), COPY("fill", -1, 0), COPY("zero", -1, 0), COPY("normal", -1, 0),
    COPY("uniform", -1, 0), COPY("bernoulli", -1, 0), COPY("flip", 0, 0), COPY("roll", 0, 0), COPY("triu", 0, 0),
    COPY("tril", 0, 0),
    ROW("to", count_conversion, 0, NULL, 1),
    ROW("_to_copy", count_conversion, 0, NULL, 1),
    ROW("contiguous", count_conversion, 0, NULL, -1),
    ROW("reshape", count_conversion, 0, NULL, -1),
    ROW("flatten", count_conversion, 0, NULL, -1),

    VIEW("view"), VIEW("_unsafe_view"), VIEW("_reshape_alias"), VIEW("view_as"), VIEW("t"), VIEW("numpy_T"),
    VIEW("transpose"), VIEW("permute"), VIEW("movedim"), VIEW("swapaxes"), VIEW("expand"), VIEW("expand_as"),
    VIEW("squeeze"), VIEW("unsqueeze"), VIEW("select"), VIEW("slice"), VIEW("narrow"), VIEW("as_strided"),
    VIEW("alias"), VIEW("detach"), VIEW("chunk"), VIEW("split"), VIEW("split_with_sizes"), VIEW("unbind"),
    VIEW("diagonal"), VIEW("unfold"), VIEW("unflatten"), VIEW("lift_fresh"), VIEW("resolve_conj"),
    VIEW("empty_like"), VIEW("new_empty"), VIEW("set"), VIEW("resize"), VIEW("result_type"),
};
/* clang-format on */

static const struct aten_row *row_named(const char *name, size_t n)
{
    for (size_t i = 0; i < OC_COUNT(rows); i++)
        if (strlen(rows[i].name) == n && memcmp(rows[i].name, name, n) == 0)
            return &rows[i];
    return NULL;
}

static const struct aten_row *find_row(const char *type)
{
    const char *name = strncmp(type, "aten::", 6) == 0 ? type + 6 : type;
    size_t n = strlen(name);
    const struct aten_row *row = row_named(name, n);
    return !row && n > 1 && name[n - 1] == '_' ? row_named(name, n - 1) : row;
}

bool oc_aten_is(const struct oc_prof_rec *r)
{
    return strstr(r->op_type, "::") != NULL;
}

void oc_aten_cost(const struct oc_prof_rec *r, struct oc_arena *a, struct oc_record_cost *out)
{
    struct aten_work w = {.r = r, .a = a, .out = out, .row = find_row(r->op_type)};
    *out = (struct oc_record_cost){.quality = OC_EXACT, .bytes_known = r->has_in && w.row};
    if (!r->has_in) {
        oc_aten_unknown(&w, "no shapes are recorded");
        return;
    }
    if (!w.row) {
        oc_aten_unknown(&w, "no rule for this operator");
        return;
    }
    read_values(&w);
    w.row->count(&w);
    bool works = out->flops || out->ops || out->rd || out->wr, elsewhere = works && r->kernel_ns == 0;
    if (w.overflow || elsewhere) {
        oc_aten_unknown(&w,
                        elsewhere ? "no kernel of this operator is recorded" : "the count overflows 64 bits");
        out->rd = out->wr = 0;
        out->bytes_known = false;
    }
}
