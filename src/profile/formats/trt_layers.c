#include "profile/formats/trt_layers.h"

#include <stdlib.h>
#include <string.h>

struct reader {
    struct oc_json *j;
    struct oc_profile *p;
    struct trt_engine *e;
};

static const char *trt_layers_read_text(struct reader *r)
{
    struct oc_str s;
    return oc_json_string(r->j, &s) ? oc_intern(&r->p->names, s.s, s.n) : "";
}

/* ---- tensors ---------------------------------------------------------------------------------------- */

/* "Row major linear FP32", "Thirty-two wide channel vectorized row major Int8 format", "Half". Longer
 * words precede the shorter ones that they contain. */
static unsigned trt_layers_dtype_of(struct oc_str s)
{
    static const struct {
        const char *word;
        unsigned dtype;
    } row[] = {
        {"bfloat16", OC_DT_BFLOAT16}, {"bf16", OC_DT_BFLOAT16},    {"fp32", OC_DT_FLOAT},
        {"fp16", OC_DT_FLOAT16},      {"fp8", OC_DT_FLOAT8E4M3FN}, {"fp4", OC_DT_FLOAT4E2M1},
        {"e8m0", OC_DT_FLOAT8E8M0},   {"uint8", OC_DT_UINT8},      {"int64", OC_DT_INT64},
        {"int32", OC_DT_INT32},       {"int8", OC_DT_INT8},        {"int4", OC_DT_INT4},
        {"bool", OC_DT_BOOL},         {"half", OC_DT_FLOAT16},     {"float", OC_DT_FLOAT},
    };
    char low[160];
    size_t n = s.n < sizeof(low) - 1 ? s.n : sizeof(low) - 1;
    for (size_t i = 0; i < n; i++)
        low[i] = (char)(s.s[i] >= 'A' && s.s[i] <= 'Z' ? s.s[i] + ('a' - 'A') : s.s[i]);
    low[n] = '\0';
    for (size_t i = 0; i < OC_COUNT(row); i++)
        if (strstr(low, row[i].word))
            return row[i].dtype;
    return OC_DT_UNDEFINED;
}

static struct oc_shape trt_layers_read_dims(struct reader *r)
{
    struct oc_dim dim[OC_MAX_RANK];
    unsigned n = 0;
    bool fits = oc_json_enter_type(r->j, OC_JSON_ARRAY);
    if (!fits)
        return oc_shape_unranked();
    while (oc_json_item(r->j)) {
        int64_t v = -1;
        bool number = oc_json_i64(r->j, &v);
        if (n == OC_MAX_RANK)
            fits = false;
        else
            dim[n++] = number && v >= 0 ? oc_known(v) : oc_dim_fresh(r->p->exprs, "?", -1);
    }
    return fits ? oc_shape_of(&r->p->arena, n, dim) : oc_shape_unranked();
}

static struct oc_type trt_layers_read_tensor(struct reader *r, const char **name)
{
    struct oc_type t = oc_tensor_type(OC_DT_UNDEFINED, oc_shape_unranked());
    struct oc_str key, s;
    *name = "";
    if (!oc_json_enter_type(r->j, OC_JSON_OBJECT))
        return t;
    while (oc_json_member(r->j, &key)) {
        if (oc_str_eq(key, "Name"))
            *name = trt_layers_read_text(r);
        else if (oc_str_eq(key, "Dimensions"))
            t.shape = trt_layers_read_dims(r);
        else if (!oc_str_eq(key, "Format/Datatype") && !oc_str_eq(key, "Format") &&
                 !oc_str_eq(key, "Datatype") && !oc_str_eq(key, "DataType"))
            oc_json_skip(r->j);
        else if (oc_json_string(r->j, &s) && !t.dtype)
            t.dtype = (uint8_t)trt_layers_dtype_of(s);
    }
    return t;
}

static void read_tensors(struct reader *r, const struct oc_type **types, const char *const **names,
                         uint32_t *n)
{
    struct oc_prof_input *t = NULL;
    size_t count = 0, cap = 0;
    if (!oc_json_enter_type(r->j, OC_JSON_ARRAY))
        return;
    while (oc_json_item(r->j)) {
        OC_GROW(t, count, cap);
        t[count].type = trt_layers_read_tensor(r, &t[count].name);
        count++;
    }
    struct oc_type *type = OC_NEW_ARRAY(&r->p->arena, count, struct oc_type);
    const char **name = OC_NEW_ARRAY(&r->p->arena, count, const char *);
    for (size_t i = 0; i < count; i++) {
        type[i] = t[i].type;
        name[i] = t[i].name;
    }
    free(t);
    *types = type;
    *names = name;
    *n = (uint32_t)count;
}

/* ---- parameters ------------------------------------------------------------------------------------- */

static void trt_layers_read_ints(struct reader *r, struct trt_ints *out)
{
    out->n = 0;
    if (!oc_json_enter_type(r->j, OC_JSON_ARRAY))
        return;
    while (oc_json_item(r->j)) {
        int64_t v;
        bool number = oc_json_i64(r->j, &v);
        if (!number || out->n >= TRT_MAX_AXES)
            out->n = TRT_MAX_AXES + 1;
        else
            out->v[out->n++] = v;
    }
}

/* {"Type": "Half", "Count": 9408} */
static void read_weights(struct reader *r, const char **type, int64_t *count)
{
    struct oc_str key;
    if (!oc_json_enter_type(r->j, OC_JSON_OBJECT))
        return;
    while (oc_json_member(r->j, &key)) {
        if (oc_str_eq(key, "Type"))
            *type = trt_layers_read_text(r);
        else if (oc_str_eq(key, "Count"))
            oc_json_i64(r->j, count);
        else
            oc_json_skip(r->j);
    }
}

/* Texts, lists and numbers of a layer by key; `conv`: also with the prefix Conv, `pool`: Pooling. */
static const struct field {
    const char *key;
    size_t at;
    enum { TEXT, INTS, NUMBER } kind;
    bool conv, pool;
} field[] = {
    {"Name", offsetof(struct trt_layer, name), TEXT, false, false},
    {"LayerType", offsetof(struct trt_layer, type), TEXT, false, false},
    {"ParameterType", offsetof(struct trt_layer, param_type), TEXT, false, false},
    {"Origin", offsetof(struct trt_layer, origin), TEXT, false, false},
    {"TacticName", offsetof(struct trt_layer, tactic), TEXT, false, false},
    {"Activation", offsetof(struct trt_layer, activation), TEXT, true, false},
    {"PoolingType", offsetof(struct trt_layer, pooling), TEXT, false, true},
    {"Kernel", offsetof(struct trt_layer, kernel), INTS, true, false},
    {"Stride", offsetof(struct trt_layer, stride), INTS, true, false},
    {"PrePadding", offsetof(struct trt_layer, pre_pad), INTS, true, false},
    {"PostPadding", offsetof(struct trt_layer, post_pad), INTS, true, false},
    {"Dilation", offsetof(struct trt_layer, dilation), INTS, true, false},
    {"WindowSize", offsetof(struct trt_layer, window), INTS, false, true},
    {"StreamId", offsetof(struct trt_layer, stream), NUMBER, false, false},
    {"OutMaps", offsetof(struct trt_layer, out_maps), NUMBER, true, false},
    {"Groups", offsetof(struct trt_layer, groups), NUMBER, true, false},
};

static bool is_key(struct oc_str key, const char *prefix, const char *name)
{
    size_t n = strlen(prefix), k = strlen(name);
    return key.n == n + k && memcmp(key.s, prefix, n) == 0 && memcmp(key.s + n, name, k) == 0;
}

static bool read_field(struct reader *r, struct oc_str key, struct trt_layer *l)
{
    for (size_t i = 0; i < OC_COUNT(field); i++) {
        const struct field *f = &field[i];
        if (!oc_str_eq(key, f->key) && !(f->conv && is_key(key, "Conv", f->key)) &&
            !(f->pool && is_key(key, "Pooling", f->key)))
            continue;
        char *at = (char *)l + f->at;
        if (f->kind == TEXT)
            *(const char **)(void *)at = trt_layers_read_text(r);
        else if (f->kind == INTS)
            trt_layers_read_ints(r, (struct trt_ints *)(void *)at);
        else
            oc_json_i64(r->j, (int64_t *)(void *)at);
        return true;
    }
    return false;
}

/* "[ONNX Layer: a]<0x1e>[ONNX Layer: b]": names may contain brackets; each ends at the last one before the
 * next separator or marker. */
static void read_markers(struct reader *r, struct trt_layer *l)
{
    static const char begin[] = "[ONNX Layer: ";
    const char *s = trt_layers_read_text(r), **name = NULL;
    size_t n = 0, cap = 0;
    for (const char *at = s; (at = strstr(at, begin)) != NULL;) {
        at += sizeof(begin) - 1;
        const char *next = strstr(at, begin);
        size_t len = next ? (size_t)(next - at) : strlen(at), cut = 0;
        while (cut < len && at[cut] != 0x1e && at[cut] != 0x1f)
            cut++;
        while (cut > 0 && at[cut - 1] != ']')
            cut--;
        if (cut > 1) {
            OC_GROW(name, n, cap);
            name[n++] = oc_intern(&r->p->names, at, cut - 1);
        }
    }
    l->marker = OC_COPY_ARRAY(&r->p->arena, name, n);
    free(name);
    l->n_marker = (uint32_t)n;
}

static void trt_layers_read_member(struct reader *r, struct oc_str key, struct trt_layer *l)
{
    if (oc_str_eq(key, "Inputs"))
        read_tensors(r, &l->in, &l->in_name, &l->n_in);
    else if (oc_str_eq(key, "Outputs"))
        read_tensors(r, &l->out, &l->out_name, &l->n_out);
    else if (oc_str_eq(key, "Weights") || oc_str_eq(key, "ConvWeights"))
        read_weights(r, &l->weights_type, &l->weights);
    else if (oc_str_eq(key, "Bias") || oc_str_eq(key, "ConvBias"))
        read_weights(r, &l->bias_type, &l->bias);
    else if (oc_str_eq(key, "Metadata"))
        read_markers(r, l);
    else if (!read_field(r, key, l))
        oc_json_skip(r->j);
}

/* ---- the engine ------------------------------------------------------------------------------------- */

static void trt_layers_read_layer(struct reader *r)
{
    struct oc_str key;
    struct trt_layer l = {.name = "",
                          .type = "",
                          .param_type = "",
                          .origin = "",
                          .tactic = "",
                          .activation = "",
                          .pooling = "",
                          .weights_type = "",
                          .bias_type = "",
                          .out_maps = -1,
                          .groups = -1,
                          .weights = -1,
                          .bias = -1};
    if (oc_json_peek(r->j) == OC_JSON_STRING) {
        l.name = trt_layers_read_text(r);
    } else {
        l.detailed = oc_json_enter_type(r->j, OC_JSON_OBJECT);
        if (!l.detailed)
            return;
        while (oc_json_member(r->j, &key))
            trt_layers_read_member(r, key, &l);
    }
    if (oc_json_truncated(r->j) || oc_json_error(r->j, NULL))
        return;
    OC_GROW(r->e->layer, r->e->n, r->e->cap);
    r->e->layer[r->e->n++] = l;
}

static void read_io(struct reader *r)
{
    if (!oc_json_enter_type(r->j, OC_JSON_ARRAY))
        return;
    while (oc_json_item(r->j)) {
        struct oc_prof_input io = {.type = oc_tensor_type(OC_DT_UNDEFINED, oc_shape_unranked())};
        if (oc_json_peek(r->j) == OC_JSON_STRING)
            io.name = trt_layers_read_text(r);
        else
            io.type = trt_layers_read_tensor(r, &io.name);
        OC_GROW(r->e->io, r->e->n_io, r->e->cap_io);
        r->e->io[r->e->n_io++] = io;
    }
}

bool trt_read_engine(struct oc_json *j, struct oc_str key, struct oc_profile *p, struct trt_engine *out)
{
    struct reader r = {.j = j, .p = p, .e = out};
    if (oc_str_eq(key, "Bindings") || oc_str_eq(key, "I/O Tensors")) {
        read_io(&r);
        return true;
    }
    if (!oc_str_eq(key, "Layers"))
        return false;
    out->found = true;
    if (oc_json_enter_type(j, OC_JSON_ARRAY))
        while (oc_json_item(j))
            trt_layers_read_layer(&r);
    return true;
}
