/* The types that inputs, outputs and values declare. */
#include <string.h>

#include "model/loader.h"

/* ---- any type ------------------------------------------------------------------------------------------- */

static struct oc_dim named_dim(struct oc_loader *l, struct oc_str name)
{
    uint32_t id = l->m->n_symbol;
    const char *kept;
    if (!name.n)
        return (struct oc_dim){.v = -1};
    if (oc_map_add(&l->symbols, name.s, name.n, &id, &kept)) {
        OC_PUSH(l->m->symbol, l->m->n_symbol, l->cap_symbol) = kept;
    }
    return (struct oc_dim){.v = -1, .expr = id + 1};
}

static struct oc_dim number_dim(int64_t v)
{
    return v < 0 ? (struct oc_dim){.v = -1} : oc_known(v); /* exporters write -1 for "unknown" */
}

static struct oc_dim load_dim(struct oc_loader *l, const Oc__Shape__Dimension *d)
{
    switch (d->value_case) {
    case OC__SHAPE__DIMENSION__VALUE_DIM_VALUE:
        return number_dim(d->dim_value);
    case OC__SHAPE__DIMENSION__VALUE_DIM_PARAM:
        return named_dim(l, oc_str(d->dim_param, strlen(d->dim_param)));
    default:
        return (struct oc_dim){.v = -1};
    }
}

static uint8_t dtype_of(int32_t number)
{
    return number >= 0 && number < OC_DT_COUNT ? (uint8_t)number : OC_DT_UNDEFINED;
}

static int read_tensor_type(struct oc_loader *l, const Oc__Type__Tensor *t, const uint8_t *at,
                            struct oc_type *out)
{
    out->dtype = dtype_of(t->elem_type);
    if (!t->shape)
        return 0;
    struct oc_dim dim[OC_MAX_RANK];
    size_t n = t->shape->n_dim;
    if (n > OC_MAX_RANK)
        return oc_load_fail(l, OC_ELIMIT, at, "shape: more than %d dimensions", OC_MAX_RANK);
    for (size_t i = 0; i < n; i++)
        dim[i] = load_dim(l, t->shape->dim[i]);
    out->shape = oc_shape_of(&l->m->arena, (unsigned)n, dim);
    return 0;
}

static int load_type(struct oc_loader *l, const Oc__Type *t, const uint8_t *at, struct oc_type *out);

static int load_element(struct oc_loader *l, const Oc__Type *t, const uint8_t *at, struct oc_type *out)
{
    struct oc_type *elem = OC_NEW(&l->m->arena, struct oc_type);
    out->elem = elem;
    return load_type(l, t, at, elem);
}

static int load_type(struct oc_loader *l, const Oc__Type *t, const uint8_t *at, struct oc_type *out)
{
    *out = (struct oc_type){.kind = OC_T_NONE};
    switch (t ? t->value_case : OC__TYPE__VALUE__NOT_SET) {
    case OC__TYPE__VALUE_TENSOR_TYPE:
        out->kind = OC_T_TENSOR;
        return read_tensor_type(l, t->tensor_type, at, out);
    case OC__TYPE__VALUE_SPARSE_TENSOR_TYPE:
        out->kind = OC_T_SPARSE;
        return read_tensor_type(l, t->sparse_tensor_type, at, out);
    case OC__TYPE__VALUE_SEQUENCE_TYPE:
        out->kind = OC_T_SEQUENCE;
        return load_element(l, t->sequence_type->elem_type, at, out);
    case OC__TYPE__VALUE_OPTIONAL_TYPE:
        out->kind = OC_T_OPTIONAL;
        return load_element(l, t->optional_type->elem_type, at, out);
    case OC__TYPE__VALUE_MAP_TYPE:
        out->kind = OC_T_MAP;
        out->dtype = dtype_of(t->map_type->key_type);
        return load_element(l, t->map_type->value_type, at, out);
    default:
        return 0;
    }
}

/* ---- tensors ---------------------------------------------------------------------------------------------- */

/* Nearly all values are tensors, and most files declare the types of all values: these messages are read where they are. A
 * message with anything else, or with a field twice, is left to protobuf-c. The numbers are those of
 * proto/onnx_header.proto. */
enum {
    INFO_NAME = 1,
    INFO_TYPE = 2,
    TYPE_TENSOR = 1,
    TENSOR_TYPE = 1,
    TENSOR_SHAPE = 2,
    SHAPE_DIM = 1,
    DIM_VALUE = 1,
    DIM_NAME = 2
};

struct info {
    struct oc_str name, dim[OC_MAX_RANK]; /* the dimensions: messages */
    unsigned rank;
    int32_t dtype;
    bool has_name, has_type, has_tensor, has_dtype, has_shape;
};

static bool is_message(const struct oc_wire_field *f, uint32_t num, bool *seen)
{
    bool first = f->num == num && f->type == OC_WIRE_LEN && !*seen;
    *seen = true;
    return first;
}

static struct oc_wire wire_of_field(const struct oc_wire_field *f)
{
    return oc_wire_of(f->data, f->n);
}

static bool read_shape(struct oc_wire w, struct info *out)
{
    struct oc_wire_field f;
    while (oc_wire_next(&w, &f)) {
        if (f.num != SHAPE_DIM || f.type != OC_WIRE_LEN || out->rank == OC_MAX_RANK)
            return false;
        out->dim[out->rank++] = oc_str((const char *)f.data, f.n);
    }
    return !w.bad;
}

static bool read_tensor_info(struct oc_wire w, struct info *out)
{
    struct oc_wire_field f;
    while (oc_wire_next(&w, &f)) {
        if (f.num == TENSOR_TYPE && f.type == OC_WIRE_VARINT && !out->has_dtype) {
            out->dtype = (int32_t)f.v;
            out->has_dtype = true;
        } else if (!is_message(&f, TENSOR_SHAPE, &out->has_shape) || !read_shape(wire_of_field(&f), out)) {
            return false;
        }
    }
    return !w.bad;
}

static bool read_type(struct oc_wire w, struct info *out)
{
    struct oc_wire_field f;
    while (oc_wire_next(&w, &f))
        if (!is_message(&f, TYPE_TENSOR, &out->has_tensor) || !read_tensor_info(wire_of_field(&f), out))
            return false;
    return !w.bad;
}

static bool read_info(struct oc_wire w, struct info *out)
{
    struct oc_wire_field f;
    while (oc_wire_next(&w, &f)) {
        if (f.num > INFO_TYPE)
            continue; /* its documentation, its metadata */
        if (f.num == INFO_TYPE && is_message(&f, INFO_TYPE, &out->has_type)) {
            if (!read_type(wire_of_field(&f), out))
                return false;
        } else if (is_message(&f, INFO_NAME, &out->has_name)) {
            out->name = oc_str((const char *)f.data, f.n ? strnlen((const char *)f.data, f.n) : 0);
        } else {
            return false;
        }
    }
    return !w.bad;
}

/* Number, name or nothing. */
static bool read_dim(struct oc_loader *l, struct oc_str message, struct oc_dim *out)
{
    struct oc_wire w = oc_wire_of((const uint8_t *)message.s, message.n);
    struct oc_wire_field f;
    *out = (struct oc_dim){.v = -1};
    if (!oc_wire_next(&w, &f))
        return !w.bad;
    if (f.num == DIM_VALUE && f.type == OC_WIRE_VARINT)
        *out = number_dim((int64_t)f.v);
    else if (f.num == DIM_NAME && f.type == OC_WIRE_LEN)
        *out = named_dim(l, oc_str((const char *)f.data, f.n ? strnlen((const char *)f.data, f.n) : 0));
    else
        return false;
    return w.p == w.end;
}

/* False: left to protobuf-c. */
static bool load_tensor_info(struct oc_loader *l, ProtobufCBinaryData v, struct oc_str *name,
                             struct oc_type *type)
{
    /* Longer messages may be at a limit of the input, which protobuf-c's reader checks. */
    enum { LONGEST = 1 << 12 };
    struct info info;
    struct oc_dim dim[OC_MAX_RANK];
    info.name = oc_str("", 0);
    info.rank = 0;
    info.dtype = 0;
    info.has_name = info.has_type = info.has_tensor = info.has_dtype = info.has_shape = false;
    if (v.len > LONGEST || v.len > oc_input_limit(l->limits, OC_LIMIT_STRING_BYTES) ||
        l->m->arena.used_bytes + ((uint64_t)1 << 20) > oc_input_limit(l->limits, OC_LIMIT_MODEL_MEMORY) ||
        !read_info(oc_wire_of(v.data, v.len), &info))
        return false;
    for (unsigned i = 0; i < info.rank; i++)
        if (!read_dim(l, info.dim[i], &dim[i]))
            return false;
    *name = info.name;
    *type = (struct oc_type){.kind = info.has_tensor ? OC_T_TENSOR : OC_T_NONE};
    if (info.has_tensor)
        type->dtype = dtype_of(info.dtype);
    if (info.has_shape)
        type->shape = oc_shape_of(&l->m->arena, info.rank, dim);
    return true;
}

int oc_load_info(struct oc_loader *l, ProtobufCBinaryData v, struct oc_str *name, struct oc_type *type)
{
    if (load_tensor_info(l, v, name, type))
        return 0;
    const Oc__ValueInfo *info = oc_header_read(l, &oc__value_info__descriptor, v);
    if (!info || load_type(l, info->type, v.data, type))
        return -1;
    *name = oc_str(info->name, strlen(info->name));
    return 0;
}
