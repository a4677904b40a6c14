/* Layer information of a TensorRT engine, as JSON and as text, and the inputs of the engine that follow from it. */
#include "profile/formats/trt_reading.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "profile/core/records.h"

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
            OC_PUSH(name, n, cap) = oc_intern(&r->p->names, at, cut - 1);
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
    OC_PUSH(r->e->layer, r->e->n, r->e->cap) = l;
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
        OC_PUSH(r->e->io, r->e->n_io, r->e->cap_io) = io;
    }
}

bool oc_trt_read_engine(struct oc_json *j, struct oc_str key, struct oc_profile *p, struct trt_engine *out)
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

/* ---- inputs ----------------------------------------------------------------------------------------- */

void oc_trt_add_input(struct trt_reading *r, struct oc_profile *p, struct oc_str name, struct oc_str dims)
{
    struct oc_str none = {"", 0};
    struct oc_prof_input input;
    bool scalar = oc_str_eq(dims, "scalar");
    if (!name.n || !dims.n ||
        !oc_recorded_shape(&p->arena, scalar ? none : dims, OC_DT_UNDEFINED, &input.type))
        return;
    input.name = oc_intern(&p->names, name.s, name.n);
    OC_PUSH(r->input, r->n_input, r->cap_input) = input;
}

void oc_trt_add_inputs(struct trt_reading *r, struct oc_profile *p, struct oc_str list)
{
    while (list.n) {
        struct oc_str one = oc_csv_trim(oc_str_take(&list, '+'));
        const char *equal = one.n ? memrchr(one.s, '=', one.n) : NULL;
        if (equal)
            oc_trt_add_input(r, p, oc_str_before(one, equal), oc_str_from(one, equal + 1));
    }
}

static void trt_add_known_input(struct oc_profile *p, struct oc_map *seen, struct oc_prof_input *out,
                                const struct oc_prof_input *input)
{
    uint32_t at = p->n_input;
    if (oc_shape_known(&input->type.shape) && oc_map_add(seen, input->name, strlen(input->name), &at, NULL))
        out[p->n_input++] = *input;
}

/* Inputs and outputs of the engine, by name: index; OC_NONE for those that a layer writes. */
static void index_io(const struct trt_engine *e, struct oc_map *io)
{
    for (size_t i = 0; i < e->n_io; i++)
        oc_map_set(io, e->io[i].name, strlen(e->io[i].name), (uint32_t)i);
    for (size_t i = 0; i < e->n; i++)
        for (uint32_t k = 0; k < e->layer[i].n_out; k++) {
            const char *name = e->layer[i].out_name[k];
            if (oc_map_get(io, name, strlen(name)) != OC_NONE)
                oc_map_set(io, name, strlen(name), OC_NONE);
        }
}

void oc_trt_set_inputs(const struct trt_reading *r, struct oc_profile *p)
{
    const struct trt_engine *e = &r->engine;
    struct oc_map seen = {.arena = &p->arena}, io = {.arena = &p->arena};
    struct oc_prof_input *out = OC_NEW_ARRAY(&p->arena, r->n_input + e->n_io, struct oc_prof_input);
    p->input = out;
    for (size_t i = 0; i < r->n_input; i++)
        trt_add_known_input(p, &seen, out, &r->input[i]);
    index_io(e, &io);
    for (size_t i = 0; i < e->n; i++)
        for (uint32_t k = 0; k < e->layer[i].n_in; k++) {
            const char *name = e->layer[i].in_name[k];
            if (oc_map_get(&io, name, strlen(name)) != OC_NONE)
                trt_add_known_input(p, &seen, out, &(struct oc_prof_input){name, e->layer[i].in[k]});
        }
    oc_map_free(&seen);
    oc_map_free(&io);
}

/* ---- layers as text --------------------------------------------------------------------------------- */

/* The text form of layer information (trtexec --dumpLayerInfo, verbose logs of the builder): one layer a
 * line,
 *
 *   Name: a + b, LayerType: CaskConvolution, Inputs: [ { Name: x, Location: Device, Dimensions: [1,3,8,8],
 *   Format/Datatype: Half }], ..., Weights: {"Type": "Half", "Count": 23232}, Metadata: [ONNX Layer: a]
 *
 * is rewritten as the JSON of --exportLayerInfo, which has the same keys. TensorRT 8.0 to 8.2 prints
 *
 *   Layer(CaskConvolution): a + b, Tactic: 0x4727434768e46395, x[Half(1,3,8,8)], y[Half(1,8)] -> z[Int8(1,-1)] */

enum { MAX_DEPTH = 6 };

struct text {
    const char *s, *end;
    struct oc_buf *out;
    unsigned depth;
};

static struct oc_str rest_of(const struct text *t)
{
    return oc_str(t->s, (size_t)(t->end - t->s));
}

static void skip_blanks(struct text *t)
{
    while (t->s < t->end && *t->s == ' ')
        t->s++;
}

static bool take(struct text *t, char c)
{
    skip_blanks(t);
    bool found = t->s < t->end && *t->s == c;
    t->s += found;
    return found;
}

/* Length of "Key: " at s, without the separator; 0: none. */
static size_t key_length(const char *s, const char *end)
{
    size_t n = 0, left = (size_t)(end - s);
    if (!left || ((*s < 'A' || *s > 'Z') && *s != '"'))
        return 0;
    while (n < left && (oc_is_alpha((unsigned char)s[n]) || s[n] == '/' || s[n] == '"'))
        n++;
    return n < left && s[n] == ':' && (n + 1 == left || s[n + 1] == ' ') ? n : 0;
}

/* End of a text: before the next key, or the end of the object. */
static const char *text_end(const struct text *t, bool nested)
{
    const char *s = t->s;
    for (; s < t->end; s++) {
        struct oc_str rest = oc_str(s, (size_t)(t->end - s));
        if ((nested && oc_str_starts(rest, " }")) || (oc_str_starts(rest, ", ") && key_length(s + 2, t->end)))
            break;
    }
    return s;
}

/* A number, if that is the value. */
static bool put_number(struct text *t)
{
    const char *s = t->s;
    s += s < t->end && *s == '-';
    while (s < t->end && (oc_is_digit(*s) || *s == '.'))
        s++;
    if (s == t->s || s[-1] == '-' || s[-1] == '.' ||
        (s < t->end && *s != ',' && *s != ']' && *s != '}' && *s != ' '))
        return false;
    oc_buf_add(t->out, t->s, (size_t)(s - t->s));
    t->s = s;
    return true;
}

static bool put_value(struct text *t, bool is_text, bool nested);

/* Key: value, Key: value */
static bool put_members(struct text *t, bool nested)
{
    oc_buf_char(t->out, '{');
    for (bool first = true; first || take(t, ','); first = false) {
        skip_blanks(t);
        size_t n = key_length(t->s, t->end), quote = n && *t->s == '"';
        struct oc_str key = oc_str(t->s + quote, n > 2 * quote ? n - 2 * quote : 0);
        bool is_text = oc_str_eq(key, "Name") || oc_str_eq(key, "TacticName") || oc_str_eq(key, "Metadata");
        if (!key.n)
            return false;
        if (!first)
            oc_buf_char(t->out, ',');
        oc_buf_json(t->out, key.s, key.n);
        oc_buf_char(t->out, ':');
        t->s += n + 1;
        skip_blanks(t);
        if (!put_value(t, is_text, nested))
            return false;
    }
    oc_buf_char(t->out, '}');
    return true;
}

static bool put_list(struct text *t)
{
    oc_buf_char(t->out, '[');
    for (bool first = true; !take(t, ']'); first = false) {
        if (!first && !take(t, ','))
            return false;
        if (!first)
            oc_buf_char(t->out, ',');
        skip_blanks(t);
        if (t->s == t->end || !put_value(t, false, true))
            return false;
    }
    oc_buf_char(t->out, ']');
    return true;
}

static bool put_value(struct text *t, bool is_text, bool nested)
{
    char open = '\0';
    if (t->s < t->end)
        open = *t->s;
    if (!is_text && put_number(t))
        return true;
    if (is_text || (open != '[' && open != '{')) {
        bool quoted = !is_text && open == '"';
        t->s += quoted;
        const char *end = quoted ? memchr(t->s, '"', (size_t)(t->end - t->s)) : text_end(t, nested);
        if (!end)
            return false;
        oc_buf_json(t->out, t->s, (size_t)(end - t->s));
        t->s = end + quoted;
        return true;
    }
    if (t->depth == MAX_DEPTH)
        return false;
    t->depth++;
    t->s++;
    bool ok = open == '[' ? put_list(t) : put_members(t, true) && take(t, '}');
    t->depth--;
    return ok;
}

/* ---- TensorRT 8.0 to 8.2 ---------------------------------------------------------------------------- */

/* "x[Half(1,3,8,8)], y[Half(1,8)]": names may contain brackets and commas. */
static bool put_tensors(struct oc_str s, struct oc_buf *out)
{
    oc_buf_char(out, '[');
    for (bool first = true; s.n; first = false) {
        const char *close = oc_str_find(s, ")], "), *dims, *bracket;
        bool last = !close;
        if (last && (s.n < 4 || !oc_str_ends(s, ")]")))
            return false;
        close = last ? s.s + s.n - 2 : close;
        dims = memrchr(s.s, '(', (size_t)(close - s.s));
        bracket = dims ? memrchr(s.s, '[', (size_t)(dims - s.s)) : NULL;
        if (!bracket || strspn(dims + 1, "0123456789,-") < (size_t)(close - dims - 1))
            return false;
        oc_buf_str(out, first ? "{\"Name\":" : ",{\"Name\":");
        oc_buf_json(out, s.s, (size_t)(bracket - s.s));
        oc_buf_printf(out, ",\"Dimensions\":[%.*s],\"Format/Datatype\":", (int)(close - dims - 1), dims + 1);
        oc_buf_json(out, bracket + 1, (size_t)(dims - bracket - 1));
        oc_buf_char(out, '}');
        s = last ? oc_str_skip(s, s.n) : oc_str_from(s, close + 4);
    }
    oc_buf_char(out, ']');
    return true;
}

static bool put_layer_of_8_0(struct oc_str line, struct oc_buf *out)
{
    const char *type_end = oc_str_find(line, "): "), *tactic = oc_str_find(line, ", Tactic: ");
    if (!type_end || !tactic || type_end > tactic)
        return false;
    struct oc_str type = oc_str_skip(oc_str_before(line, type_end), strlen("Layer(")),
                  name = oc_str_before(oc_str_from(line, type_end + 3), tactic),
                  rest = oc_str_from(line, tactic + strlen(", Tactic: "));
    const char *tensors = oc_str_find(rest, ", "), *arrow = oc_str_find(rest, " -> ");
    if (!tensors || !arrow)
        return false;
    struct oc_str in = arrow > tensors ? oc_str_before(oc_str_from(rest, tensors + 2), arrow) : oc_str("", 0);
    oc_buf_str(out, "{\"Name\":");
    oc_buf_json(out, name.s, name.n);
    oc_buf_str(out, ",\"LayerType\":");
    oc_buf_json(out, type.s, type.n);
    oc_buf_str(out, ",\"Inputs\":");
    bool ok = put_tensors(in, out);
    oc_buf_str(out, ",\"Outputs\":");
    ok = ok && put_tensors(oc_str_from(rest, arrow + 4), out);
    oc_buf_char(out, '}');
    return ok;
}

bool oc_trt_layer_line(struct oc_str line, struct oc_buf *json)
{
    struct text t = {line.s, line.s + line.n, json, 0};
    size_t before = json->n;
    if (oc_str_starts(line, "Layer(")) {
        if (before)
            oc_buf_char(json, ',');
        bool ok = put_layer_of_8_0(line, json);
        json->n = ok ? json->n : before;
        return ok;
    }
    if (!oc_str_starts(rest_of(&t), "Name: ") || !oc_str_has(line, ", LayerType: "))
        return false;
    if (before)
        oc_buf_char(json, ',');
    if (put_members(&t, false))
        return true;
    json->n = before;
    return false;
}
