/* TensorProto and SparseTensorProto to struct oc_tensor: a view; elements are not read. */
#include <string.h>

#include "base/ck.h"
#include "base/units.h"
#include "model/loader.h"

static int set_shape(struct oc_loader *l, const int64_t *dim, size_t rank, const uint8_t *at,
                     struct oc_tensor *t)
{
    if (rank > OC_MAX_RANK)
        return oc_load_fail(l, OC_ELIMIT, at, "tensor: more than %d dimensions", OC_MAX_RANK);
    bool zero = false, over = false;
    uint64_t elements = 1;
    for (size_t i = 0; i < rank; i++) {
        if (dim[i] < 0)
            return oc_load_fail(l, OC_EFORMAT, at, "tensor '%s': negative dimension %lld", t->name,
                                (long long)dim[i]);
        zero |= dim[i] == 0;
        over |= !oc_mul_u64(elements, (uint64_t)dim[i], &elements);
    }
    uint64_t bytes = 0;
    t->elements = zero ? 0 : elements;
    if (!zero && (over || !oc_bytes_of(t->dtype, elements, &bytes) || bytes > INT64_MAX))
        return oc_load_fail(l, OC_ELIMIT, at, "tensor '%s': its dimensions overflow 64 bits", t->name);
    if (t->elements > oc_input_limit(l->limits, OC_LIMIT_TENSOR_ELEMENTS)) {
        oc_load_over(l, OC_LIMIT_TENSOR_ELEMENTS, t->elements, at);
        return oc_err_prefix(l->err, "tensor '%.60s'", t->name);
    }
    t->dim = OC_COPY_ARRAY(&l->m->arena, dim, rank);
    t->rank = (uint8_t)rank;
    if (t->storage != OC_STORE_RAW && t->storage != OC_STORE_EXTERNAL)
        t->size_bytes = bytes;
    if (t->storage == OC_STORE_EXTERNAL && !t->size_bytes)
        t->size_bytes = bytes;
    if (t->storage == OC_STORE_RAW && bytes != t->size_bytes && t->dtype != OC_DT_STRING)
        oc_diag_add(&l->m->diags, OC_WARNING, "W-tensor-size", t->name,
                    "raw data has %llu bytes, the shape needs %llu", (unsigned long long)t->size_bytes,
                    (unsigned long long)bytes);
    return 0;
}

/* Entries of external_data. */
static int load_external(struct oc_loader *l, const Oc__Tensor *h, const uint8_t *at, struct oc_tensor *t)
{
    for (size_t i = 0; i < h->n_external_data; i++) {
        const Oc__Pair *p = h->external_data[i];
        uint64_t *number = strcmp(p->key, "offset") == 0   ? &t->external_offset_bytes
                           : strcmp(p->key, "length") == 0 ? &t->size_bytes
                                                           : NULL;
        if (strcmp(p->key, "location") == 0)
            t->external_path = oc_load_text(l, p->value);
        if (number && !oc_parse_u64(p->value, strlen(p->value), number))
            return oc_load_fail(l, OC_EFORMAT, at, "tensor '%s': external %s '%.200s' is not a number",
                                t->name, p->key, p->value);
    }
    return 0;
}

/* Checks for the first tensor of each external file whether the file exists and may be read; does not open
 * it. */
static void note_external(struct oc_loader *l, struct oc_tensor *t)
{
    const char *path = t->external_path ? t->external_path : "";
    bool again = path == l->last_path; /* texts are interned: compare pointers */
    uint32_t state = again ? l->last_state : OC_EXTERNAL_FOUND;
    bool is_new = !again && oc_map_add(&l->externals, path, strlen(path), &state, NULL);
    if (is_new && path[0]) {
        state = oc_external_look(l->m, path);
        oc_map_set(&l->externals, path, strlen(path), state);
    }
    l->last_path = path;
    l->last_state = state;
    if (!path[0] || state == OC_EXTERNAL_OUTSIDE) {
        oc_diag_add(&l->m->diags, OC_WARNING, "W-external-path", t->name,
                    "external data '%s' refused: not a path inside the model's folder (--external-data "
                    "anywhere allows it)",
                    path);
        t->external_path = NULL;
    } else if (is_new && state == OC_EXTERNAL_MISSING) {
        oc_diag_add(&l->m->diags, OC_WARNING, "W-external-missing", path,
                    "external data file is missing: weights have no values (sizes come from the model)");
    }
}

static void set_dtype(struct oc_loader *l, const Oc__Tensor *h, struct oc_tensor *t)
{
    uint32_t dtype = (uint32_t)h->data_type, end = l->m->built.n ? OC_DT_ALL : OC_DT_COUNT;
    t->dtype = dtype < end ? (uint8_t)dtype : OC_DT_UNDEFINED;
    if (dtype >= end)
        oc_diag_add(&l->m->diags, OC_WARNING, "W-dtype", t->name, "unknown data type %lu",
                    (unsigned long)dtype);
}

static enum oc_storage storage_of(const Oc__Tensor *h)
{
    enum { EXTERNAL = 1 };
    if (h->data_location == EXTERNAL)
        return OC_STORE_EXTERNAL;
    if (h->has_raw_data)
        return OC_STORE_RAW;
    return h->has_float_data || h->has_int32_data || h->has_string_data || h->has_int64_data ||
                   h->has_double_data || h->has_uint64_data
               ? OC_STORE_FIELDS
               : OC_STORE_NONE;
}

int oc_load_tensor(struct oc_loader *l, ProtobufCBinaryData v, struct oc_tensor *out)
{
    struct oc_header_mark mark = oc_header_mark(l);
    const Oc__Tensor *h = oc_header_read(l, &oc__tensor__descriptor, v);
    if (!h)
        return -1;
    *out = (struct oc_tensor){.name = h->name[0] ? oc_load_keep(l, h->name, strlen(h->name)) : "",
                              .storage = (uint8_t)storage_of(h),
                              .where = oc_load_offset(l, v.data)};
    set_dtype(l, h, out);
    if (h->has_raw_data) {
        out->data = h->raw_data.data;
        out->size_bytes = h->raw_data.len;
    }
    if (load_external(l, h, v.data, out))
        return -1;
    if (out->storage == OC_STORE_FIELDS) {
        out->data = v.data;
        out->message_bytes = v.len;
    }
    if (out->storage == OC_STORE_EXTERNAL)
        note_external(l, out);
    int rc = set_shape(l, h->dims, h->n_dims, v.data, out);
    oc_header_release(l, mark);
    return rc;
}

int oc_load_sparse(struct oc_loader *l, ProtobufCBinaryData v, struct oc_tensor *out)
{
    struct oc_header_mark mark = oc_header_mark(l);
    const Oc__SparseTensor *h = oc_header_read(l, &oc__sparse_tensor__descriptor, v);
    struct oc_tensor *values = OC_NEW(&l->m->arena, struct oc_tensor);
    struct oc_tensor *indices = OC_NEW(&l->m->arena, struct oc_tensor);
    if (!h || oc_load_tensor(l, h->values, values) || oc_load_tensor(l, h->indices, indices))
        return -1;
    *out = (struct oc_tensor){.name = values->name,
                              .dtype = values->dtype,
                              .storage = OC_STORE_SPARSE,
                              .values = values,
                              .indices = indices,
                              .where = oc_load_offset(l, v.data)};
    if (set_shape(l, h->dims, h->n_dims, v.data, out))
        return -1;
    out->size_bytes = values->size_bytes + indices->size_bytes;
    oc_header_release(l, mark);
    return 0;
}
