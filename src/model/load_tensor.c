/* TensorProto: 1 dims, 2 data_type, 4 float_data, 5 int32_data, 6 string_data, 7 int64_data, 8 name, 9
 * raw_data, 10 double_data, 11 uint64_data, 13 external_data {1 key, 2 value}, 14 data_location (1: external)
 * SparseTensorProto: 1 values, 2 indices, 3 dims */
#include <string.h>

#include "base/ck.h"
#include "base/units.h"
#include "model/external.h"
#include "model/loader.h"

struct dims {
    int64_t v[OC_MAX_RANK];
    unsigned n;
};

static int load_tensor_add_dims(struct oc_loader *l, const struct oc_field *f, const uint8_t *at,
                                struct dims *d)
{
    size_t n = oc_wire_count(f, 0);
    if (n > OC_MAX_RANK - d->n)
        return oc_load_fail(l, OC_ELIMIT, at, "tensor: more than %d dimensions", OC_MAX_RANK);
    uint64_t v[OC_MAX_RANK];
    oc_wire_numbers(f, 0, v);
    for (size_t i = 0; i < n; i++)
        d->v[d->n++] = (int64_t)v[i];
    return 0;
}

static int load_tensor_set_shape(struct oc_loader *l, const struct dims *d, const uint8_t *at,
                                 struct oc_tensor *t)
{
    int64_t *dim = OC_NEW_ARRAY(&l->m->arena, d->n, int64_t);
    bool zero = false, over = false;
    uint64_t elements = 1;
    for (unsigned i = 0; i < d->n; i++) {
        if (d->v[i] < 0)
            return oc_load_fail(l, OC_EFORMAT, at, "tensor '%s': negative dimension %lld", t->name,
                                (long long)d->v[i]);
        dim[i] = d->v[i];
        zero |= d->v[i] == 0;
        over |= !oc_mul_u64(elements, (uint64_t)d->v[i], &elements);
    }
    uint64_t bytes = 0;
    t->elements = zero ? 0 : elements;
    if (!zero && (over || !oc_bytes_of(t->dtype, elements, &bytes) || bytes > INT64_MAX))
        return oc_load_fail(l, OC_ELIMIT, at, "tensor '%s': its dimensions overflow 64 bits", t->name);
    if (t->elements > oc_cap(l->caps, OC_CAP_TENSOR_ELEMENTS)) {
        oc_load_over(l, OC_CAP_TENSOR_ELEMENTS, t->elements, at);
        return oc_err_prefix(l->err, "tensor '%.60s'", t->name);
    }
    t->dim = dim;
    t->rank = (uint8_t)d->n;
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

static bool load_tensor_is_word(struct oc_view s, const char *word)
{
    return s.n == strlen(word) && memcmp(s.data, word, s.n) == 0;
}

static int external_number(struct oc_loader *l, const struct oc_tensor *t, struct oc_view key,
                           struct oc_view s, uint64_t *out)
{
    if (oc_parse_u64((const char *)s.data, s.n, out))
        return 0;
    return oc_load_fail(l, OC_EFORMAT, s.data, "tensor '%s': external %.*s '%.*s' is not a number", t->name,
                        (int)key.n, (const char *)key.data, oc_load_shown(s), (const char *)s.data);
}

/* One key-value pair of external_data. */
static int external_entry(struct oc_loader *l, struct oc_view v, struct oc_tensor *t)
{
    struct oc_wire w = oc_wire_of(v.data, v.n);
    struct oc_field f, value = {.type = OC_WIRE_LEN};
    struct oc_view key = {v.data, 0};
    while (oc_wire_next(&w, &f)) {
        if (f.num == 1)
            key = oc_load_string(l, &f);
        else if (f.num == 2)
            value = f;
    }
    struct oc_view text = oc_load_string(l, &value);
    uint64_t *number = load_tensor_is_word(key, "offset")   ? &t->external_offset_bytes
                       : load_tensor_is_word(key, "length") ? &t->size_bytes
                                                            : NULL;
    if (load_tensor_is_word(key, "location"))
        t->external_path = oc_load_text(l, &value);
    if (number && external_number(l, t, key, text, number))
        return -1;
    return oc_load_end(l, &w, "external data");
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

static int tensor_field(struct oc_loader *l, const struct oc_field *f, const uint8_t *at, struct oc_tensor *t,
                        struct dims *d)
{
    switch (f->num) {
    case 1:
        return load_tensor_add_dims(l, f, at, d);
    case 2:
        t->dtype = f->v < OC_DT_COUNT ? (uint8_t)f->v : OC_DT_UNDEFINED;
        if (f->v >= OC_DT_COUNT)
            oc_diag_add(&l->m->diags, OC_WARNING, "W-dtype", t->name, "unknown data type %llu",
                        (unsigned long long)f->v);
        return 0;
    case 4:
    case 5:
    case 6:
    case 7:
    case 10:
    case 11:
        if (t->storage == OC_STORE_NONE)
            t->storage = OC_STORE_FIELDS;
        return 0;
    case 8:
        t->name = oc_load_name(l, f);
        return 0;
    case 9:
        if (f->type != OC_WIRE_LEN)
            return oc_load_fail(l, OC_EFORMAT, at, "tensor '%s': raw data is not bytes", t->name);
        t->storage = OC_STORE_RAW;
        t->data = f->data;
        t->size_bytes = f->n;
        return 0;
    case 13:
        return external_entry(l, (struct oc_view){f->data, f->n}, t);
    case 14:
        if (f->v == 1)
            t->storage = OC_STORE_EXTERNAL;
        return 0;
    default:
        return 0;
    }
}

int oc_load_tensor(struct oc_loader *l, struct oc_view v, struct oc_tensor *out)
{
    *out = (struct oc_tensor){.name = "", .where = oc_load_offset(l, v.data)};
    struct dims d = {.n = 0};
    struct oc_wire w = oc_wire_of(v.data, v.n);
    struct oc_field f;
    for (const uint8_t *at = w.p; oc_wire_next(&w, &f); at = w.p)
        if (tensor_field(l, &f, at, out, &d))
            return -1;
    if (oc_load_end(l, &w, "tensor"))
        return -1;
    if (out->storage == OC_STORE_FIELDS) {
        out->data = v.data;
        out->message_bytes = v.n;
    }
    if (out->storage == OC_STORE_EXTERNAL)
        note_external(l, out);
    return load_tensor_set_shape(l, &d, v.data, out);
}

int oc_load_sparse(struct oc_loader *l, struct oc_view v, struct oc_tensor *out)
{
    struct oc_tensor *values = OC_NEW(&l->m->arena, struct oc_tensor);
    struct oc_tensor *indices = OC_NEW(&l->m->arena, struct oc_tensor);
    values->name = indices->name = "";
    struct dims d = {.n = 0};
    struct oc_wire w = oc_wire_of(v.data, v.n);
    struct oc_field f;
    for (const uint8_t *at = w.p; oc_wire_next(&w, &f); at = w.p) {
        struct oc_view part = {f.data, f.n};
        int rc = 0;
        if (f.num == 1)
            rc = oc_load_tensor(l, part, values);
        else if (f.num == 2)
            rc = oc_load_tensor(l, part, indices);
        else if (f.num == 3)
            rc = load_tensor_add_dims(l, &f, at, &d);
        if (rc)
            return -1;
    }
    if (oc_load_end(l, &w, "sparse tensor"))
        return -1;
    *out = (struct oc_tensor){.name = values->name,
                              .dtype = values->dtype,
                              .storage = OC_STORE_SPARSE,
                              .values = values,
                              .indices = indices,
                              .where = oc_load_offset(l, v.data)};
    if (load_tensor_set_shape(l, &d, v.data, out))
        return -1;
    out->size_bytes = values->size_bytes + indices->size_bytes;
    return 0;
}
