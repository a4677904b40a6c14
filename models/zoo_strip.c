/* Removes the weights from a model file, so that a graph can be published without them. */
#include "zoo.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

/* Smaller constants stay: shapes, axes and scales are part of the graph's semantics. */
enum { KEPT_BYTES = 1024 };

static uint64_t data_bytes(const Onnx__TensorProto *t)
{
    return t->raw_data.len + 4 * t->n_float_data + 4 * t->n_int32_data + 8 * t->n_int64_data +
           8 * t->n_double_data + 8 * t->n_uint64_data;
}

/* The tensor without its data. Memory it shares with `t` outlives it. */
static void strip_tensor(struct oc_builder *b, Onnx__TensorProto *t, const char *external, uint64_t *offset)
{
    uint64_t bytes = data_bytes(t);
    Onnx__TensorProto bare = *t;
    bare.has_raw_data = 0;
    bare.n_float_data = bare.n_int32_data = bare.n_int64_data = bare.n_double_data = bare.n_uint64_data = 0;
    oc_b_make_external(b, &bare, external, *offset, bytes);
    *offset += bytes;
    *t = bare;
}

static int write_model(const Onnx__ModelProto *m, FILE *f, struct oc_err *err)
{
    size_t n = onnx__model_proto__get_packed_size(m);
    uint8_t *bytes = oc_xmalloc(n ? n : 1);
    onnx__model_proto__pack(m, bytes);
    bool ok = fwrite(bytes, 1, n, f) == n;
    free(bytes);
    return ok ? 0 : oc_fail(err, OC_EOUTPUT, "cannot write: %s", strerror(errno));
}

int zoo_strip(const char *path, const char *external, FILE *f, struct oc_err *err)
{
    struct oc_file in;
    if (oc_file_map(path, 0, &in, err))
        return -1;
    Onnx__ModelProto *m = onnx__model_proto__unpack(NULL, (size_t)in.size_bytes, in.data);
    oc_file_unmap(&in);
    if (!m)
        return oc_fail(err, OC_EFORMAT, "cannot read '%s': not an ONNX model", path);
    struct oc_builder *b = oc_b_new(1);
    size_t n = m->graph ? m->graph->n_initializer : 0;
    Onnx__TensorProto *full = oc_xmalloc((n ? n : 1) * sizeof(*full));
    uint64_t offset = 0;
    for (size_t i = 0; i < n; i++) {
        full[i] = *m->graph->initializer[i];
        if (data_bytes(&full[i]) > KEPT_BYTES && !full[i].n_external_data)
            strip_tensor(b, m->graph->initializer[i], external, &offset);
    }
    int rc = write_model(m, f, err);
    for (size_t i = 0; i < n; i++)
        *m->graph->initializer[i] = full[i];
    free(full);
    oc_b_free(b);
    onnx__model_proto__free_unpacked(m, NULL);
    return rc;
}
