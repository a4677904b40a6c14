#include "model/stored.h"

#include <stdlib.h>
#include <string.h>

#include "base/json_read.h"
#include "base/wire.h"
#include "shape/type.h"

enum { LENGTH_BYTES = 8, MAX_HEADER = 100000000 }; /* the limit of the format's own library */

static const struct {
    const char *name;
    uint8_t dtype;
} types[] = {
    {"BOOL", OC_DT_BOOL},
    {"U8", OC_DT_UINT8},
    {"I8", OC_DT_INT8},
    {"I16", OC_DT_INT16},
    {"U16", OC_DT_UINT16},
    {"I32", OC_DT_INT32},
    {"U32", OC_DT_UINT32},
    {"I64", OC_DT_INT64},
    {"U64", OC_DT_UINT64},
    {"F16", OC_DT_FLOAT16},
    {"BF16", OC_DT_BFLOAT16},
    {"F32", OC_DT_FLOAT},
    {"F64", OC_DT_DOUBLE},
    {"C64", OC_DT_COMPLEX64},
    {"F8_E4M3", OC_DT_FLOAT8E4M3FN},
    {"F8_E4M3FNUZ", OC_DT_FLOAT8E4M3FNUZ},
    {"F8_E5M2", OC_DT_FLOAT8E5M2},
    {"F8_E5M2FNUZ", OC_DT_FLOAT8E5M2FNUZ},
    {"F8_E8M0", OC_DT_FLOAT8E8M0},
    {"F4", OC_DT_FLOAT4E2M1},
};

struct entry { /* of the header */
    struct oc_str dtype;
    int64_t dim[OC_MAX_RANK], offset[2];
    size_t rank, n_offset;
};

/* An array of integers; returns its length. */
static size_t read_integers(struct oc_json *j, int64_t *out, size_t room)
{
    size_t n = 0;
    if (!oc_json_enter_type(j, OC_JSON_ARRAY))
        return SIZE_MAX;
    for (int64_t v = -1; oc_json_item(j); n++, v = -1)
        if (oc_json_i64(j, &v) && n < room)
            out[n] = v;
    return n;
}

static void read_entry(struct oc_json *j, struct oc_arena *arena, struct entry *e)
{
    struct oc_str key, text;
    *e = (struct entry){.rank = SIZE_MAX};
    if (!oc_json_enter_type(j, OC_JSON_OBJECT))
        return;
    while (oc_json_member(j, &key)) {
        bool dtype = oc_str_eq(key, "dtype"), shape = oc_str_eq(key, "shape");
        if (shape)
            e->rank = read_integers(j, e->dim, OC_MAX_RANK);
        else if (!dtype && oc_str_eq(key, "data_offsets"))
            e->n_offset = read_integers(j, e->offset, 2);
        else if (!dtype)
            oc_json_skip(j);
        else if (oc_json_string(j, &text))
            e->dtype = oc_str(oc_strndup(arena, text.s, text.n), text.n);
    }
}

static int add_entry(struct oc_stored_list *out, struct oc_str name, const struct entry *e, uint64_t *end,
                     struct oc_err *err)
{
    size_t t = 0;
    while (t < OC_COUNT(types) && !oc_str_eq(e->dtype, types[t].name))
        t++;
    if (!e->dtype.n || e->rank > OC_MAX_RANK || e->n_offset != 2)
        return oc_fail(err, OC_EFORMAT, "tensor '%.*s': needs dtype, shape and two data_offsets",
                       (int)(name.n < 100 ? name.n : 100), name.s);
    if (t == OC_COUNT(types))
        return oc_fail(err, OC_EUNSUPPORTED, "tensor '%.*s': unknown dtype '%.40s'",
                       (int)(name.n < 100 ? name.n : 100), name.s, e->dtype.s);
    if (oc_stored_add(out, name, types[t].dtype, e->dim, e->rank, err))
        return -1;
    const struct oc_stored *s = &out->item[out->n - 1];
    if (e->offset[0] < 0 || e->offset[1] < e->offset[0] ||
        (uint64_t)(e->offset[1] - e->offset[0]) != s->bytes)
        return oc_fail(err, OC_EFORMAT,
                       "tensor '%.100s': data_offsets %lld to %lld, but its shape takes %llu bytes", s->name,
                       (long long)e->offset[0], (long long)e->offset[1], (unsigned long long)s->bytes);
    if ((uint64_t)e->offset[1] > *end)
        *end = (uint64_t)e->offset[1];
    return 0;
}

/* Member by member of the header; *end: of the last tensor. */
static int read_header(struct oc_json *j, struct oc_stored_list *out, uint64_t *end, struct oc_err *err)
{
    struct oc_str key;
    struct entry e;
    oc_json_enter(j);
    while (oc_json_member(j, &key)) {
        if (oc_str_eq(key, "__metadata__")) {
            oc_json_skip(j);
            continue;
        }
        struct oc_str name = oc_str(oc_strndup(out->arena, key.s, key.n), key.n);
        read_entry(j, out->arena, &e);
        if (!oc_json_error(j, NULL) && !oc_json_truncated(j) && add_entry(out, name, &e, end, err))
            return -1;
    }
    return 0;
}

static int check_json(struct oc_json *j, const char *what, struct oc_err *err)
{
    uint64_t at = 0;
    const char *bad = oc_json_error(j, &at);
    if (!bad && oc_json_truncated(j))
        bad = "the text ends inside a value";
    return bad ? oc_fail(err, OC_EFORMAT, "%s is damaged: %s (offset %llu)", what, bad,
                         (unsigned long long)at)
               : 0;
}

int oc_safetensors_read(const char *path, const void *data, size_t n, struct oc_stored_list *out,
                        struct oc_diags *diags, struct oc_err *err)
{
    uint64_t length = n >= LENGTH_BYTES ? oc_load_le(data, LENGTH_BYTES) : 0, end = 0, before = out->bytes;
    if (length < 2 || length > MAX_HEADER)
        return oc_fail(err, OC_EFORMAT, "a safetensors header of %llu bytes: from 2 to %d are possible",
                       (unsigned long long)length, MAX_HEADER);
    if (length > n - LENGTH_BYTES)
        return oc_fail(err, OC_EFORMAT,
                       "the file ends inside its header: %zu of %llu bytes; download it again", n,
                       (unsigned long long)length + LENGTH_BYTES);
    struct oc_stream *s = oc_stream_mem((const char *)data + LENGTH_BYTES, (size_t)length);
    struct oc_json *j = oc_json_open(s);
    int rc = read_header(j, out, &end, err);
    if (rc == 0)
        rc = check_json(j, "the header", err);
    oc_json_close(j);
    oc_stream_close(s);
    if (rc == 0 && end != out->bytes - before)
        rc = oc_fail(err, OC_EFORMAT, "the tensors overlap or leave holes: %llu bytes of tensors end at %llu",
                     (unsigned long long)(out->bytes - before), (unsigned long long)end);
    if (rc == 0 && end > n - LENGTH_BYTES - length)
        oc_diag_add(diags, OC_WARNING, "W-weights-cut", path,
                    "the file has %llu of %llu bytes of weights; sizes come from its header",
                    (unsigned long long)(n - LENGTH_BYTES - length), (unsigned long long)end);
    return rc;
}

/* ---- the index of several files ----------------------------------------------------------------------- */

static void read_map(struct oc_json *j, struct oc_arena *arena, struct oc_weight_index *out)
{
    struct oc_map files = {.arena = arena};
    struct oc_str key, file;
    while (oc_json_member(j, &key)) {
        OC_GROW(out->tensor, out->n_tensor, out->cap_tensor);
        out->tensor[out->n_tensor++] = oc_strndup(arena, key.s, key.n);
        uint32_t at = out->n_file;
        const char *kept;
        if (!oc_json_string(j, &file) || !oc_map_add(&files, file.s, file.n, &at, &kept))
            continue;
        OC_GROW(out->file, out->n_file, out->cap_file);
        out->file[out->n_file++] = kept;
    }
    oc_map_free(&files);
}

static void read_metadata(struct oc_json *j, struct oc_arena *arena, struct oc_weight_index *out)
{
    (void)arena;
    struct oc_str key;
    while (oc_json_member(j, &key))
        if (!oc_str_eq(key, "total_size"))
            oc_json_skip(j);
        else
            oc_json_i64(j, &out->total_bytes);
}

int oc_weight_index_read(const void *data, size_t n, struct oc_arena *arena, struct oc_weight_index *out,
                         struct oc_err *err)
{
    struct oc_stream *s = oc_stream_mem(data, n);
    struct oc_json *j = oc_json_open(s);
    struct oc_str key;
    *out = (struct oc_weight_index){.total_bytes = -1};
    for (oc_json_enter(j); oc_json_member(j, &key);) {
        bool map = oc_str_eq(key, "weight_map"), metadata = oc_str_eq(key, "metadata");
        if (!map && !metadata)
            oc_json_skip(j);
        else if (oc_json_enter_type(j, OC_JSON_OBJECT))
            (map ? read_map : read_metadata)(j, arena, out);
    }
    int rc = check_json(j, "the index", err);
    oc_json_close(j);
    oc_stream_close(s);
    if (rc == 0 && !out->n_file)
        rc = oc_fail(err, OC_EFORMAT, "the index names no file in 'weight_map'");
    return rc;
}

void oc_weight_index_free(struct oc_weight_index *index)
{
    free(index->file);
    free(index->tensor);
}
