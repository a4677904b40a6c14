#include "profile/kineto_types.h"

#include <string.h>

enum { MAX_ARGS = 256 };

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

static void kineto_types_read_types(struct oc_str text, struct arg_types *out)
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

/* [8,3,224,224]; a list of tensors ([[1,2],[3]]) or a non-numeric size gives no shape. */
static bool kineto_types_read_dims(struct oc_json *j, struct oc_arena *a, struct oc_shape *out)
{
    struct oc_dim dim[OC_MAX_RANK];
    unsigned rank = 0;
    bool good = true;
    if (!oc_json_enter(j))
        return false;
    while (oc_json_item(j)) {
        int64_t v;
        if (oc_json_peek(j) != OC_JSON_NUMBER) {
            oc_json_skip(j);
            good = false;
        } else if (!oc_json_i64(j, &v) || v < 0 || rank == OC_MAX_RANK) {
            good = false;
        } else {
            dim[rank++] = oc_known(v);
        }
    }
    *out = oc_shape_of(a, rank, dim);
    return good;
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
        kineto_types_read_types(types, &names);
    if (oc_json_enter(j))
        while (oc_json_item(j) && *n < MAX_ARGS) {
            struct oc_shape shape;
            unsigned dtype = *n < names.n ? names.dtype[*n] : OC_DT_UNDEFINED;
            bool good = kineto_types_read_dims(j, a, &shape),
                 tensor = good && (dtype != OC_DT_UNDEFINED || shape.rank);
            type[(*n)++] = tensor ? oc_tensor_type(dtype, shape) : (struct oc_type){.kind = OC_T_NONE};
        }
    oc_json_close(j);
    oc_stream_close(s);
    return OC_COPY_ARRAY(a, type, *n);
}

bool oc_kineto_needs_values(struct oc_str name)
{
    static const char *const part[] = {
        "conv",       "attention", "attn",      "fmha",       "pool",         "batch_norm",
        "aten::to",   "_to_copy",  "aten::sum", "aten::mean", "aten::amax",   "aten::amin",
        "aten::prod", "aten::any", "aten::all", "aten::arg",  "index_select", "embedding_dense_backward"};
    for (size_t i = 0; i < OC_COUNT(part); i++)
        if (memmem(name.s, name.n, part[i], strlen(part[i])))
            return true;
    return false;
}
