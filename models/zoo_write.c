/* Writing a zoo model. Random data is never in memory as a whole: the messages around the parameters are
 * packed, their lengths computed, and each parameter's data is generated while it is written. */
#include "zoo.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

uint64_t zoo_param_elements(const struct zoo *z)
{
    uint64_t n = 0;
    for (size_t i = 0; i < z->n_param; i++)
        if (z->param[i].fill != ZOO_TRIL)
            n += z->param[i].elements;
    return n;
}

/* ---- data ---------------------------------------------------------------------------------------------- */

/* splitmix64 (Steele, Lea, Flood 2014) */
static uint64_t next_random(uint64_t *state)
{
    uint64_t v = *state += 0x9e3779b97f4a7c15u;
    v = (v ^ (v >> 30)) * 0xbf58476d1ce4e5b9u;
    v = (v ^ (v >> 27)) * 0x94d049bb133111ebu;
    return v ^ (v >> 31);
}

/* FNV-1a: a parameter's data depends on its name and the seed, not on its position in the file. */
static uint64_t start_of(const char *name, uint64_t seed)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (; *name; name++)
        h = (h ^ (uint8_t)*name) * 0x100000001b3u;
    return h ^ (seed * 0x9e3779b97f4a7c15u);
}

/* Half-width of the interval; sqrt(3 / fan_in) gives variance 1 / fan_in. */
static double half_width(const struct zoo_param *p)
{
    double r = 1;
    if (p->fill != ZOO_WEIGHT)
        return p->fill == ZOO_ONE ? 0.25 : 0.05;
    for (int i = 0; i < 60; i++) /* Newton's square root: the same bits on every machine */
        r = 0.5 * (r + 3.0 / (double)p->fan_in / r);
    return r;
}

struct sink {
    FILE *f;
    uint8_t buf[1 << 16];
    size_t n;
    bool failed;
};

static void flush(struct sink *s)
{
    s->failed = s->failed || fwrite(s->buf, 1, s->n, s->f) != s->n;
    s->n = 0;
}

static void put(struct sink *s, const void *data, size_t n)
{
    if (s->n + n > sizeof(s->buf))
        flush(s);
    if (n > sizeof(s->buf)) {
        s->failed = s->failed || fwrite(data, 1, n, s->f) != n;
        return;
    }
    memcpy(s->buf + s->n, data, n);
    s->n += n;
}

static void put_floats(struct sink *s, const struct zoo_param *p, uint64_t seed)
{
    uint64_t state = start_of(p->tensor->name, seed);
    float half = (float)half_width(p), middle = p->fill == ZOO_ONE ? 1.0F : 0.0F;
    for (uint64_t i = 0; i < p->size_bytes / sizeof(float) && !s->failed; i++) {
        float unit = (float)(next_random(&state) >> 40) * 0x1p-23F - 1.0F;
        float v = middle + half * unit;
        put(s, &v, sizeof(v));
    }
}

/* int8: all values except -128; uint8: the same around 128; int32: biases, some hundred steps around 0 */
static void put_ints(struct sink *s, const struct zoo_param *p, uint64_t seed)
{
    uint64_t state = start_of(p->tensor->name, seed);
    bool wide = p->tensor->data_type == ONNX__TENSOR_PROTO__DATA_TYPE__INT32;
    int zero = p->tensor->data_type == ONNX__TENSOR_PROTO__DATA_TYPE__UINT8 ? 128 : 0;
    for (uint64_t i = 0; i < p->elements && !s->failed; i++) {
        uint64_t random = next_random(&state) >> 32;
        if (wide)
            put(s, &(int32_t){(int32_t)(random % 1001) - 500}, sizeof(int32_t));
        else
            put(s, &(uint8_t){(uint8_t)((int)(random % 255) - 127 + zero)}, sizeof(uint8_t));
    }
}

static void put_triangle(struct sink *s, const Onnx__TensorProto *t)
{
    int64_t rows = t->dims[t->n_dims - 2], columns = t->dims[t->n_dims - 1];
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < columns; c++)
            put(s, &(uint8_t){c <= r}, 1);
}

/* ---- messages ------------------------------------------------------------------------------------------ */

enum { TAG_MODEL_GRAPH = 7 << 3 | 2, TAG_GRAPH_INITIALIZER = 5 << 3 | 2, TAG_TENSOR_RAW_DATA = 9 << 3 | 2 };

static size_t varint(uint64_t v, uint8_t *out)
{
    size_t n = 0;
    for (; v >= 0x80; v >>= 7)
        out[n++] = (uint8_t)(v | 0x80);
    out[n++] = (uint8_t)v;
    return n;
}

/* Bytes of a length-delimited field with a one-byte tag. */
static uint64_t field_bytes(uint64_t content)
{
    uint8_t buf[10];
    return 1 + varint(content, buf) + content;
}

static void put_field(struct sink *s, uint8_t tag, uint64_t content)
{
    uint8_t buf[10];
    size_t n = varint(content, buf);
    put(s, &tag, 1);
    put(s, buf, n);
}

static void put_message(struct sink *s, const ProtobufCMessage *m)
{
    size_t n = protobuf_c_message_get_packed_size(m);
    uint8_t *bytes = oc_xmalloc(n ? n : 1);
    protobuf_c_message_pack(m, bytes);
    put(s, bytes, n);
    free(bytes);
}

/* The parameter of a tensor, or NULL. Parameters are in the order of the initializers. */
static const struct zoo_param *param_of(const struct zoo *z, const Onnx__TensorProto *t, size_t *at)
{
    return *at < z->n_param && z->param[*at].tensor == t ? &z->param[(*at)++] : NULL;
}

static uint64_t tensor_bytes(const Onnx__TensorProto *t, const struct zoo_param *p)
{
    return onnx__tensor_proto__get_packed_size(t) + (p ? field_bytes(p->size_bytes) : 0);
}

static void put_tensor(struct sink *s, const Onnx__TensorProto *t, const struct zoo_param *p, uint64_t seed)
{
    put_field(s, TAG_GRAPH_INITIALIZER, tensor_bytes(t, p));
    put_message(s, &t->base);
    if (!p)
        return;
    put_field(s, TAG_TENSOR_RAW_DATA, p->size_bytes);
    if (p->fill == ZOO_TRIL)
        put_triangle(s, t);
    else if (t->data_type == ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT)
        put_floats(s, p, seed);
    else
        put_ints(s, p, seed);
}

static void put_model(struct sink *s, const struct zoo *z, uint64_t seed)
{
    Onnx__ModelProto shell = *oc_b_model(z->b);
    Onnx__GraphProto graph = *shell.graph;
    shell.graph = NULL;
    graph.n_initializer = 0;
    uint64_t bytes = onnx__graph_proto__get_packed_size(&graph);
    size_t at = 0, n = oc_b_model(z->b)->graph->n_initializer;
    for (size_t i = 0; i < n; i++)
        bytes += field_bytes(tensor_bytes(graph.initializer[i], param_of(z, graph.initializer[i], &at)));
    put_message(s, &shell.base);
    put_field(s, TAG_MODEL_GRAPH, bytes);
    put_message(s, &graph.base);
    at = 0;
    for (size_t i = 0; i < n; i++)
        put_tensor(s, graph.initializer[i], param_of(z, graph.initializer[i], &at), seed);
    flush(s);
}

int zoo_write(struct zoo *z, const char *external, uint64_t seed, FILE *f, struct oc_err *err)
{
    if (external) {
        uint64_t offset = 0;
        for (size_t i = 0; i < z->n_param; i++) {
            oc_b_make_external(z->b, z->param[i].tensor, external, offset, z->param[i].size_bytes);
            offset += z->param[i].size_bytes;
        }
    }
    struct zoo view = *z;
    view.n_param = external ? 0 : z->n_param;
    struct sink *s = oc_xmalloc(sizeof(*s));
    s->f = f;
    s->n = 0;
    s->failed = false;
    put_model(s, &view, seed);
    bool ok = !s->failed && !fflush(f);
    free(s);
    return ok ? 0 : oc_fail(err, OC_EOUTPUT, "cannot write: %s", strerror(errno));
}
