#include "profile/recorded_types.h"

#include <string.h>

#include "base/units.h"
#include "profile/csv_rows.h"

enum { MAX_ARGS = 256 };

bool oc_recorded_shape(struct oc_arena *a, struct oc_str text, unsigned dtype, struct oc_type *out)
{
    struct oc_dim dim[OC_MAX_RANK];
    unsigned rank = 0;
    for (size_t i = 0; i < text.n;) {
        size_t from = i;
        int64_t v;
        while (i < text.n && text.s[i] >= '0' && text.s[i] <= '9')
            i++;
        if (i == from || rank == OC_MAX_RANK || !oc_parse_i64(text.s + from, i - from, &v))
            return false;
        dim[rank++] = oc_known(v);
        if (i < text.n)
            i++; /* a separator, and a blank after it */
        while (i < text.n && text.s[i] == ' ')
            i++;
    }
    *out = oc_tensor_type(dtype, oc_shape_of(a, rank, dim));
    return true;
}

unsigned oc_recorded_dtype(struct oc_str name)
{
    static const struct {
        const char *name;
        uint8_t dtype;
    } known[] = {{"f32", OC_DT_FLOAT},         {"float32", OC_DT_FLOAT},
                 {"f16", OC_DT_FLOAT16},       {"bf16", OC_DT_BFLOAT16},
                 {"f64", OC_DT_DOUBLE},        {"s8", OC_DT_INT8},
                 {"u8", OC_DT_UINT8},          {"s32", OC_DT_INT32},
                 {"DT_BF16", OC_DT_BFLOAT16},  {"f8_e4m3", OC_DT_FLOAT8E4M3FN},
                 {"f8_e5m2", OC_DT_FLOAT8E5M2}};
    for (size_t i = 0; i < OC_COUNT(known); i++)
        if (oc_csv_same(name, known[i].name))
            return known[i].dtype;
    if (name.n > 3 && oc_ncasecmp(name.s, "DT_", 3) == 0)
        return oc_dtype_by_name(name.s + 3, name.n - 3);
    return oc_dtype_by_name(name.s, name.n);
}

bool oc_recorded_dims(struct oc_json *j, struct oc_arena *a, struct oc_shape *out)
{
    struct oc_dim dim[OC_MAX_RANK];
    unsigned rank = 0;
    bool known = true;
    *out = oc_shape_unranked();
    if (!oc_json_enter(j))
        return false;
    while (oc_json_item(j)) {
        int64_t v;
        if (!oc_json_i64(j, &v) || v < 0 || rank == OC_MAX_RANK)
            known = false;
        else
            dim[rank++] = oc_known(v);
    }
    if (known)
        *out = oc_shape_of(a, rank, dim);
    return true;
}

const struct oc_type *oc_recorded_sizes(struct oc_arena *a, struct oc_str text, uint32_t *n)
{
    enum { MAX_TYPES = 64 };
    struct oc_type type[MAX_TYPES];
    *n = 0;
    if (!oc_str_starts(text, "["))
        return NULL;
    for (text = oc_str_skip(text, 1); oc_str_starts(text, "[");) {
        const char *close = oc_str_chr(text, ']');
        if (!close || *n == MAX_TYPES ||
            !oc_recorded_shape(a, oc_str_skip(oc_str_before(text, close), 1), OC_DT_UNDEFINED, &type[*n]))
            break;
        ++*n;
        text = oc_str_from(text, close + 1);
        while (text.n && (text.s[0] == ',' || text.s[0] == ' '))
            text = oc_str_skip(text, 1);
    }
    bool whole = oc_str_starts(text, "]");
    *n = whole ? *n : 0;
    return whole ? OC_COPY_ARRAY(a, type, *n) : NULL;
}

/* ---- PyTorch ---------------------------------------------------------------------------------------- */

/* C++ type names that are not ONNX type names. */
static const struct {
    const char *name;
    uint8_t dtype;
} dtype_of[] = {
    {"float", OC_DT_FLOAT},
    {"double", OC_DT_DOUBLE},
    {"c10::Half", OC_DT_FLOAT16},
    {"c10::BFloat16", OC_DT_BFLOAT16},
    {"long int", OC_DT_INT64},
    {"long", OC_DT_INT64},
    {"long long", OC_DT_INT64},
    {"int", OC_DT_INT32},
    {"short", OC_DT_INT16},
    {"short int", OC_DT_INT16},
    {"signed char", OC_DT_INT8},
    {"unsigned char", OC_DT_UINT8},
    {"bool", OC_DT_BOOL},
    {"c10::complex<float>", OC_DT_COMPLEX64},
    {"c10::complex<double>", OC_DT_COMPLEX128},
    {"c10::Float8_e4m3fn", OC_DT_FLOAT8E4M3FN},
    {"c10::Float8_e5m2", OC_DT_FLOAT8E5M2},
    {"__int64", OC_DT_INT64},
    {"unsigned short", OC_DT_UINT16},
    {"unsigned int", OC_DT_UINT32},
    {"unsigned long", OC_DT_UINT64},
    {"c10::qint8", OC_DT_INT8},
    {"c10::quint8", OC_DT_UINT8},
};

struct arg_types {
    uint8_t dtype[MAX_ARGS]; /* OC_DT_UNDEFINED: not a tensor */
    uint32_t n;
};

static void read_kineto_types(struct oc_str text, struct arg_types *out)
{
    struct oc_stream *s = oc_stream_mem(text.s, text.n);
    struct oc_json *j = oc_json_open(s);
    struct oc_str name;
    if (oc_json_enter(j))
        while (oc_json_item(j) && out->n < MAX_ARGS) {
            uint8_t dtype = OC_DT_UNDEFINED;
            if (oc_json_string(j, &name))
                for (size_t i = 0; i < OC_COUNT(dtype_of); i++)
                    if (oc_str_eq(name, dtype_of[i].name))
                        dtype = dtype_of[i].dtype;
            out->dtype[out->n++] = dtype;
        }
    oc_json_close(j);
    oc_stream_close(s);
}

const struct oc_type *oc_kineto_types(struct oc_arena *a, struct oc_str dims, struct oc_str types,
                                      uint32_t *n)
{
    struct arg_types names = {.n = 0};
    struct oc_type type[MAX_ARGS] = {{0}};
    struct oc_stream *s = oc_stream_mem(dims.s, dims.n);
    struct oc_json *j = oc_json_open(s);
    *n = 0;
    if (types.n)
        read_kineto_types(types, &names);
    if (oc_json_enter(j))
        while (oc_json_item(j) && *n < MAX_ARGS) {
            struct oc_shape shape;
            unsigned dtype = *n < names.n ? names.dtype[*n] : OC_DT_UNDEFINED;
            bool tensor =
                oc_recorded_dims(j, a, &shape) && shape.ranked && (dtype != OC_DT_UNDEFINED || shape.rank);
            type[(*n)++] = tensor ? oc_tensor_type(dtype, shape) : (struct oc_type){.kind = OC_T_NONE};
        }
    oc_json_close(j);
    oc_stream_close(s);
    return OC_COPY_ARRAY(a, type, *n);
}
