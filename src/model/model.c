/* A loaded model: attributes, constants, labels and origins of its nodes. */
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "model/loader.h"
#include "onnxcost.h"

void oc_model_free(struct oc_model *m)
{
    if (!m)
        return;
    oc_file_unmap(&m->file);
    oc_diags_free(&m->diags);
    oc_map_free(&m->names);
    oc_buf_free(&m->built);
    free(m->graph);
    free(m->node);
    free(m->value);
    free(m->symbol);
    oc_arena_free(&m->arena);
    free(m);
}

size_t oc_model_diags(const struct oc_model *m, const struct oc_diag **out)
{
    *out = m->diags.item;
    return m->diags.n;
}

const struct oc_attr *oc_node_attr(const struct oc_node *n, const char *name)
{
    for (uint32_t i = 0; i < n->n_attr; i++)
        if (oc_equal(n->attr[i].name, name))
            return &n->attr[i];
    return NULL;
}

const struct oc_tensor *oc_attr_tensor_at(const struct oc_attr *a, uint32_t i)
{
    return a && a->tensors_or_null && i < a->n ? &a->tensors_or_null[i] : NULL;
}

bool oc_node_is_constant(const struct oc_node *n)
{
    return !*n->domain && strcmp(n->op_type, "Constant") == 0;
}

const struct oc_tensor *oc_node_constant(const struct oc_node *n)
{
    const struct oc_attr *a = oc_node_is_constant(n) ? oc_node_attr(n, "value") : NULL;
    return a && a->type == OC_ATTR_TENSOR ? oc_attr_tensor_at(a, 0) : NULL;
}

const char *oc_node_label(const struct oc_model *m, const struct oc_node *n, char *buf, size_t cap)
{
    (void)m;
    if (n->name[0])
        return n->name;
    snprintf(buf, cap, "%s_%u", n->op_type, n->file_index);
    return buf;
}

uint32_t oc_first_capture(const struct oc_capture *list, uint32_t n, uint32_t node)
{
    uint32_t lo = 0, hi = n;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (list[mid].node < node)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* ---- module and source line of a node ----------------------------------------------------------------- */

/* Metadata of PyTorch's exporter (torch.onnx, 2.5 and later; the default since 2.9) in
 * NodeProto.metadata_props:
 *
 *   pkg.torch.onnx.name_scopes      Python list: ['', 'encoder', 'encoder.fc1', 'linear']; the last is the call
 *   pkg.torch.onnx.class_hierarchy  likewise: ['my.Model', ..., 'torch.nn.modules.linear.Linear', 'aten.linear...']
 *   namespace                       both: ": my.Model/encoder: my.Encoder/.../linear: aten.linear.default"
 *   pkg.torch.onnx.stack_trace      Python's format, innermost call last: '  File "model.py", line 96, in forward'
 */

enum key { SCOPES, CLASSES, NAMESPACE, TRACE, KEYS };

static const char *const keys[KEYS] = {
    [SCOPES] = "pkg.torch.onnx.name_scopes",
    [CLASSES] = "pkg.torch.onnx.class_hierarchy",
    [NAMESPACE] = "namespace",
    [TRACE] = "pkg.torch.onnx.stack_trace",
};

struct text {
    const char *s;
    size_t n;
};

static size_t key_number(const char *s, size_t n)
{
    size_t k = 0;
    while (k < KEYS && (strlen(keys[k]) != n || memcmp(keys[k], s, n) != 0))
        k++;
    return k;
}

bool oc_is_origin_key(const char *key, size_t n)
{
    return key_number(key, n) < KEYS;
}

/* ---- lists of scopes and classes ---------------------------------------------------------------------- */

/* The next string of a Python list at *at: 'text' or "text", where a backslash escapes one character. */
static bool next_string(struct text list, size_t *at, struct text *out)
{
    size_t i = *at;
    while (i < list.n && list.s[i] != '\'' && list.s[i] != '"')
        i++;
    if (i >= list.n)
        return false;
    char quote = list.s[i++];
    size_t from = i;
    while (i < list.n && list.s[i] != quote)
        i += list.s[i] == '\\' ? 2 : 1;
    if (i >= list.n)
        return false;
    *out = (struct text){list.s + from, i - from};
    *at = i + 1;
    return true;
}

/* The last string but one: the last is the call itself. */
static const char *innermost(struct text list, struct oc_arena *a)
{
    struct text t, last = {NULL, 0}, before = {NULL, 0};
    for (size_t at = 0; next_string(list, &at, &t);) {
        before = last;
        last = t;
    }
    return before.s ? oc_strndup(a, before.s, before.n) : NULL;
}

/* The last part but one of "name: class/name: class/call: target". Names contain no slashes. */
static void read_namespace(struct text t, struct oc_arena *a, struct oc_origin *out)
{
    const char *end = t.n ? memrchr(t.s, '/', t.n) : NULL;
    if (!end)
        return;
    const char *slash = memrchr(t.s, '/', (size_t)(end - t.s)), *from = slash ? slash + 1 : t.s;
    const char *colon = memmem(from, (size_t)(end - from), ": ", 2);
    if (!colon)
        return;
    if (!out->module)
        out->module = oc_strndup(a, from, (size_t)(colon - from));
    if (!out->module_class)
        out->module_class = oc_strndup(a, colon + 2, (size_t)(end - colon - 2));
}

/* ---- stack traces ----------------------------------------------------------------------------------- */

/* Files of PyTorch call the program's modules: they are not where an operator was written. */
static bool is_library(struct text file)
{
    static const char *const parts[] = {"/torch/", "\\torch\\", "/torch_", "<frozen", "<eval_with_key>"};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (memmem(file.s, file.n, parts[i], strlen(parts[i])))
            return true;
    return false;
}

/* The frame in 'File "model.py", line 96, in forward' at s. */
static bool read_frame(const char *s, const char *end, struct text *file, struct text *line)
{
    static const char mid[] = "\", line ";
    const char *stop = memchr(s, '\n', (size_t)(end - s));
    stop = stop ? stop : end;
    const char *quote = memmem(s, (size_t)(stop - s), mid, sizeof(mid) - 1);
    if (!quote)
        return false;
    *file = (struct text){s, (size_t)(quote - s)};
    line->s = quote + sizeof(mid) - 1;
    line->n = 0;
    while (line->s + line->n < stop && line->s[line->n] >= '0' && line->s[line->n] <= '9')
        line->n++;
    return line->n > 0;
}

/* Innermost frame outside of PyTorch; without one the innermost. */
static const char *origin_read_trace(struct text trace, struct oc_arena *a)
{
    static const char begin[] = "File \"";
    struct text file, line, best_file = {NULL, 0}, best_line = {NULL, 0};
    if (!trace.n)
        return NULL;
    const char *end = trace.s + trace.n, *at = trace.s;
    bool own = false;
    while ((at = memmem(at, (size_t)(end - at), begin, sizeof(begin) - 1)) != NULL) {
        at += sizeof(begin) - 1;
        if (!read_frame(at, end, &file, &line) || (own && is_library(file)))
            continue;
        own = own || !is_library(file);
        best_file = file;
        best_line = line;
    }
    if (!best_file.s)
        return NULL;
    int n = (int)(best_file.n < 4096 ? best_file.n : 4096),
        digits = (int)(best_line.n < 20 ? best_line.n : 20);
    return oc_printf(a, "%.*s:%.*s", n, best_file.s, digits, best_line.s);
}

/* ---- the metadata of a node --------------------------------------------------------------------------- */

void oc_node_origin(const struct oc_model *m, uint32_t node, struct oc_arena *a, struct oc_origin *out)
{
    const struct oc_node *n = &m->node[node];
    struct text value[KEYS] = {{NULL, 0}};
    *out = (struct oc_origin){NULL, NULL, NULL};
    if (!m->has_origins || !n->where || !n->n_bytes)
        return;
    struct oc_err unused;
    struct oc_loader l = {
        .m = (struct oc_model *)(uintptr_t)m, .err = &unused, .limits = &m->limits, .base = m->file.data};
    ProtobufCBinaryData v = {n->n_bytes, (uint8_t *)(uintptr_t)m->file.data + n->where};
    const Oc__Node *h = oc_header_read(&l, &oc__node__descriptor, v);
    for (size_t i = 0; h && i < h->n_metadata_props; i++) {
        const Oc__Metadata *entry = oc_header_read(&l, &oc__metadata__descriptor, h->metadata_props[i]);
        size_t k = entry ? key_number(entry->key, strlen(entry->key)) : KEYS;
        if (k < KEYS)
            value[k] = (struct text){(const char *)entry->value.data, entry->value.len};
    }
    oc_headers_free(&l);
    out->module = innermost(value[SCOPES], a);
    out->module_class = innermost(value[CLASSES], a);
    read_namespace(value[NAMESPACE], a, out);
    out->source = origin_read_trace(value[TRACE], a);
}
