/* Messages of ONNX, written from the results of the analysis. */
#include "annotate/onnx_fields.h"

#include <string.h>

#include "base/wire.h"

enum { TENSOR_DIM = 1, TENSOR_TYPE = 2, TENSOR_NAME = 8 };

bool oc_type_is_complete(const struct oc_type *t)
{
    return t && t->kind == OC_T_TENSOR && t->dtype != OC_DT_UNDEFINED && t->dtype < OC_DT_COUNT &&
           t->shape.ranked && oc_shape_known(&t->shape);
}

/* The bytes of one element in a tensor; 0: it is not known, or of another kind of type. */
static size_t element_bytes(const struct oc_elem *e, const struct oc_dtype_info *info, uint8_t out[8])
{
    bool number = info->kind == OC_KIND_INT || info->kind == OC_KIND_BOOL;
    if (number && info->bits >= 8 && e->kind == OC_E_INT && oc_is_known(e->i)) {
        oc_store_le(out, (uint64_t)e->i.v, info->bits / 8);
        return info->bits / 8;
    }
    if (info->kind != OC_KIND_FLOAT || e->kind != OC_E_REAL || (info->bits != 32 && info->bits != 64))
        return 0;
    float f = (float)e->r;
    uint64_t bits = 0;
    memcpy(&bits, info->bits == 32 ? (const void *)&f : &e->r, info->bits / 8);
    oc_store_le(out, bits, info->bits / 8);
    return info->bits / 8;
}

bool oc_known_bytes(const struct oc_analysis *a, uint32_t value, struct oc_buf *raw)
{
    const struct oc_data *d = a->data[value];
    const struct oc_type *t = &a->type[value];
    uint64_t elements;
    uint8_t bytes[8];
    size_t n;
    if (!d || !oc_type_is_complete(t) || !oc_shape_elements(&t->shape, &elements) || elements != d->n)
        return false;
    for (uint32_t i = 0; i < d->n; i++) {
        if ((n = element_bytes(&d->e[i], oc_dtype_info(t->dtype), bytes)) == 0)
            return false;
        oc_buf_add(raw, bytes, n);
    }
    return true;
}

void oc_put_value(struct oc_buf *out, uint32_t field, const char *name, const struct oc_type *t)
{
    struct oc_buf info = {0}, type = {0}, tensor = {0}, shape = {0}, dim = {0};
    oc_wire_add_text(&info, 1, name);
    for (unsigned i = 0; t->shape.ranked && i < t->shape.rank; i++) {
        oc_buf_clear(&dim);
        if (oc_is_known(t->shape.dim[i]))
            oc_wire_add_int(&dim, 1, (uint64_t)t->shape.dim[i].v);
        oc_wire_add_bytes(&shape, 1, dim.data, dim.n);
    }
    if (t->kind == OC_T_TENSOR && t->dtype != OC_DT_UNDEFINED && t->dtype < OC_DT_COUNT) {
        oc_wire_add_int(&tensor, 1, t->dtype);
        if (t->shape.ranked)
            oc_wire_add_bytes(&tensor, 2, shape.data, shape.n);
        oc_wire_add_bytes(&type, 1, tensor.data, tensor.n);
        oc_wire_add_bytes(&info, 2, type.data, type.n);
    }
    oc_wire_add_bytes(out, field, info.data, info.n);
    oc_buf_free(&info);
    oc_buf_free(&type);
    oc_buf_free(&tensor);
    oc_buf_free(&shape);
    oc_buf_free(&dim);
}

void oc_put_tensor_head(struct oc_buf *b, const char *name, unsigned dtype, uint32_t rank, const int64_t *dim)
{
    for (uint32_t i = 0; i < rank; i++)
        oc_wire_add_int(b, TENSOR_DIM, (uint64_t)dim[i]);
    oc_wire_add_int(b, TENSOR_TYPE, dtype);
    oc_wire_add_text(b, TENSOR_NAME, name);
}

void oc_put_tensor_entry(struct oc_buf *b, const char *key, const char *value)
{
    struct oc_buf entry = {0};
    oc_wire_add_text(&entry, 1, key);
    oc_wire_add_text(&entry, 2, value);
    oc_wire_add_bytes(b, OC_TENSOR_ENTRY, entry.data, entry.n);
    oc_buf_free(&entry);
}

void oc_put_tensor_fields(struct oc_buf *b, const char *name, const struct oc_tensor *t)
{
    oc_os_need(t->data, t->message_bytes);
    struct oc_wire in = oc_wire_of(t->data, t->message_bytes);
    struct oc_wire_field f;
    for (const uint8_t *at = in.p; oc_wire_next(&in, &f); at = in.p)
        if (f.num != TENSOR_NAME)
            oc_buf_add(b, at, (size_t)(in.p - at));
    oc_wire_add_text(b, TENSOR_NAME, name);
}
