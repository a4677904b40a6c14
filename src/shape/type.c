#include "shape/type.h"

#include <inttypes.h>
#include <string.h>

#include "base/buf.h"
#include "base/ck.h"

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
    unsigned known = dtype < OC_DT_COUNT ? dtype : OC_DT_UNDEFINED;
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
    if (bits % 8 == 0)
        return oc_mul_u64(elements, bits / 8, bytes);
    unsigned per_byte = 8 / bits; /* 2 or 4 elements packed into a byte */
    *bytes = elements / per_byte + (elements % per_byte ? 1 : 0);
    return true;
}

bool oc_type_elements(const struct oc_type *t, uint64_t *n)
{
    *n = 1;
    if (t->kind != OC_T_TENSOR || !oc_shape_known(&t->shape))
        return false;
    for (unsigned i = 0; i < t->shape.rank; i++)
        if (t->shape.dim[i].v < 0 || !oc_mul_u64(*n, (uint64_t)t->shape.dim[i].v, n))
            return false;
    return true;
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
