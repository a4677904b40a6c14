/* A loaded model: attributes, constants, labels and origins of its nodes; elements of its tensors, also from
 * external files. Only small tensors are read. */
#include "model/model.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/str.h"
#include "base/wire.h"
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

int64_t oc_node_int(const struct oc_node *n, const char *name, int64_t otherwise)
{
    const struct oc_attr *a = oc_node_attr(n, name);
    return a && a->type == OC_ATTR_INT ? a->i : otherwise;
}

int64_t oc_node_int_at(const struct oc_node *n, const char *name, uint32_t i, int64_t otherwise)
{
    const struct oc_attr *a = oc_node_attr(n, name);
    return a && a->type == OC_ATTR_INTS && i < a->n ? a->ints[i] : otherwise;
}

const struct oc_tensor *oc_attr_tensor_at(const struct oc_attr *a, uint32_t i)
{
    return a && a->tensors_or_null && i < a->n ? &a->tensors_or_null[i] : NULL;
}

bool oc_node_is_constant(const struct oc_node *n)
{
    return oc_equal(n->op_type, "Constant") && !*n->domain;
}

const struct oc_tensor *oc_node_constant(const struct oc_node *n)
{
    const struct oc_attr *a = oc_node_is_constant(n) ? oc_node_attr(n, "value") : NULL;
    return a && a->type == OC_ATTR_TENSOR ? oc_attr_tensor_at(a, 0) : NULL;
}

const struct oc_tensor *oc_value_constant(const struct oc_model *m, uint32_t value)
{
    static const char keep[] = " Identity Cast QuantizeLinear DequantizeLinear ";
    for (int depth = 0; depth < 4 && value != OC_NONE; depth++) {
        const struct oc_value *v = &m->value[value];
        const struct oc_node *n = v->producer != OC_NONE ? &m->node[v->producer] : NULL;
        const struct oc_tensor *t = v->constant ? v->constant : n ? oc_node_constant(n) : NULL;
        if (t)
            return t;
        value = n && n->n_in && oc_set_has(keep, n->op_type, strlen(n->op_type)) ? n->in[0] : OC_NONE;
    }
    return NULL;
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
    const char *colon = oc_find(from, (size_t)(end - from), ": ", 2);
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
        if (oc_find(file.s, file.n, parts[i], strlen(parts[i])))
            return true;
    return false;
}

/* The frame in 'File "model.py", line 96, in forward' at s. */
static bool read_frame(const char *s, const char *end, struct text *file, struct text *line)
{
    static const char mid[] = "\", line ";
    const char *stop = memchr(s, '\n', (size_t)(end - s));
    stop = stop ? stop : end;
    const char *quote = oc_find(s, (size_t)(stop - s), mid, sizeof(mid) - 1);
    if (!quote)
        return false;
    *file = (struct text){s, (size_t)(quote - s)};
    line->s = quote + sizeof(mid) - 1;
    line->n = 0;
    while (line->s + line->n < stop && oc_is_digit(line->s[line->n]))
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
    while ((at = oc_find(at, (size_t)(end - at), begin, sizeof(begin) - 1)) != NULL) {
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

/* ---- external files ----------------------------------------------------------------------------------- */

/* Finds the file and decides whether it may be opened. */

static bool folder_of(const struct oc_model *m, char folder[PATH_MAX])
{
    const char *slash = strrchr(m->path, '/');
    size_t n = slash ? (size_t)(slash - m->path) + 1 : 0;
    if (!m->path[0] || n >= PATH_MAX)
        return false;
    memcpy(folder, m->path, n);
    folder[n] = '\0';
    return true;
}

/* The folder that links may not leave. In the cache of the Hugging Face Hub the files of a model are links,
 * models--ORG--NAME/snapshots/REVISION/FILE to models--ORG--NAME/blobs: there it is the model's folder, and
 * the location is relative to it. */
static bool split_at_border(const char *folder, const char *location, char border[PATH_MAX],
                            char rest[PATH_MAX])
{
    static const char hub[] = "models--", links[] = "/snapshots/";
    const char *at = strstr(folder, links), *name = at;
    while (name && name > folder && name[-1] != '/')
        name--;
    size_t n = name && !strncmp(name, hub, strlen(hub)) ? (size_t)(at - folder) + 1 : strlen(folder);
    int len = snprintf(rest, PATH_MAX, "%s%s", folder + n, location);
    snprintf(border, PATH_MAX, "%.*s", (int)n, folder);
    return len > 0 && len < PATH_MAX;
}

/* Contains "..", or is absolute, whether or not it resolves to a path inside the folder. */
static bool names_outside(const char *location)
{
    if (location[0] == '/')
        return true;
    for (const char *p = location; *p;) {
        size_t n = strcspn(p, "/\\");
        if (n == 2 && p[0] == '.' && p[1] == '.')
            return true;
        p += n + (p[n] != '\0');
    }
    return false;
}

static bool join_location(const char *folder, const char *location, char path[PATH_MAX])
{
    int n = snprintf(path, PATH_MAX, "%s%s", location[0] == '/' ? "" : folder, location);
    return n > 0 && n < PATH_MAX;
}

enum oc_external_state oc_external_look(const struct oc_model *m, const char *location)
{
    char folder[PATH_MAX], path[PATH_MAX];
    if (m->built.n)
        return OC_EXTERNAL_FOUND; /* its weights are nowhere */
    if (!m->limits.external_anywhere && names_outside(location))
        return OC_EXTERNAL_OUTSIDE;
    if (m->file.remote)
        return OC_EXTERNAL_MISSING; /* never fetched */
    if (!folder_of(m, folder))
        return m->path[0] ? OC_EXTERNAL_MISSING
                          : OC_EXTERNAL_FOUND; /* a model in memory: no folder is known */
    if (m->limits.external_anywhere) {
        bool found = join_location(folder, location, path) && access(path, R_OK) == 0;
        if (found)
            oc_file_note(path);
        return found ? OC_EXTERNAL_FOUND : OC_EXTERNAL_MISSING;
    }
    char border[PATH_MAX];
    int error = split_at_border(folder, location, border, path) ? oc_look_inside(border, path) : ENAMETOOLONG;
    return !error ? OC_EXTERNAL_FOUND : error == EXDEV ? OC_EXTERNAL_OUTSIDE : OC_EXTERNAL_MISSING;
}

static int open_inside(const char *folder, const char *location)
{
    char border[PATH_MAX], rest[PATH_MAX];
    return names_outside(location) || !split_at_border(folder, location, border, rest)
               ? -1
               : oc_open_inside(border, rest);
}

static bool map_part(const struct oc_model *m, const char *location, uint64_t offset_bytes,
                     uint64_t size_bytes, struct oc_file *out)
{
    char folder[PATH_MAX], path[PATH_MAX];
    if (!folder_of(m, folder) || !join_location(folder, location, path))
        return false;
    int fd = m->limits.external_anywhere ? oc_file_open(path) : open_inside(folder, location);
    if (fd < 0)
        return false;
    int rc = oc_file_map_part(fd, path, &m->limits, offset_bytes, size_bytes, out, NULL);
    close(fd);
    return rc == 0;
}

/* Maps the first bytes of a tensor. False: outside the folder, missing, not a regular file, or too short. */
static bool map_external_tensor(const struct oc_model *m, const struct oc_tensor *t, uint64_t size_bytes,
                                struct oc_file *out)
{
    if (m->built.n || m->file.remote || t->missing || !t->external_path ||
        !map_part(m, t->external_path, t->external_offset_bytes, size_bytes, out))
        return false;
    if (out->size_bytes == size_bytes)
        return true;
    oc_file_unmap(out);
    return false;
}

bool oc_beside_map(const struct oc_model *m, const char *location, struct oc_file *out)
{
    char url[4096];
    if (!oc_http_is_url(m->path))
        return map_part(m, location, 0, UINT64_MAX, out);
    return !names_outside(location) && oc_http_beside(m->path, location, url, sizeof(url)) &&
           oc_remote_map(url, &m->limits, out, NULL, NULL) == 0;
}

/* ---- elements ----------------------------------------------------------------------------------------- */

/* Decodes a small float: sign, `e` exponent bits with `bias`, `m` mantissa bits. */
static double small_float(uint64_t bits, unsigned e, unsigned m, int bias)
{
    uint64_t mant = bits & ((1u << m) - 1), ex = (bits >> m) & ((1u << e) - 1);
    double v = ex ? ldexp((double)(mant | ((uint64_t)1 << m)), (int)ex - bias - (int)m)
                  : ldexp((double)mant, 1 - bias - (int)m);
    return bits >> (e + m) & 1 ? -v : v;
}

static double half_float(uint64_t bits)
{
    if ((bits & 0x7c00) == 0x7c00)
        return bits & 0x3ff ? NAN : bits & 0x8000 ? -INFINITY : INFINITY;
    return small_float(bits, 5, 10, 15);
}

static double float_of(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof(f));
    return f;
}

static int64_t sign_extend(uint64_t v, unsigned bits)
{
    uint64_t top = (uint64_t)1 << (bits - 1);
    return (int64_t)((v ^ top) - top);
}

static struct oc_elem tensor_real(double v)
{
    return (struct oc_elem){.kind = OC_E_REAL, .r = v};
}

static struct oc_elem tensor_integer(int64_t v)
{
    return (struct oc_elem){.kind = OC_E_INT, .i = {.v = v}};
}

/* Decodes one element from its bit pattern. */
static struct oc_elem elem_of(unsigned dtype, uint64_t bits)
{
    switch (dtype) {
    case OC_DT_FLOAT:
        return tensor_real(float_of((uint32_t)bits));
    case OC_DT_DOUBLE: {
        double d;
        memcpy(&d, &bits, sizeof(d));
        return tensor_real(d);
    }
    case OC_DT_FLOAT16:
        return tensor_real(half_float(bits & 0xffff));
    case OC_DT_BFLOAT16:
        return tensor_real(float_of((uint32_t)(bits & 0xffff) << 16));
    case OC_DT_FLOAT8E4M3FN:
        return tensor_real(small_float(bits & 0xff, 4, 3, 7));
    case OC_DT_FLOAT8E4M3FNUZ:
        return tensor_real(small_float(bits & 0xff, 4, 3, 8));
    case OC_DT_FLOAT8E5M2:
        return tensor_real(small_float(bits & 0xff, 5, 2, 15));
    case OC_DT_FLOAT8E5M2FNUZ:
        return tensor_real(small_float(bits & 0xff, 5, 2, 16));
    case OC_DT_FLOAT4E2M1:
        return tensor_real(small_float(bits & 0xf, 2, 1, 1));
    case OC_DT_FLOAT8E8M0:
        return tensor_real(ldexp(1, (int)(bits & 0xff) - 127));
    case OC_DT_INT64:
        return tensor_integer((int64_t)bits);
    case OC_DT_INT32:
        return tensor_integer(sign_extend(bits & 0xffffffff, 32));
    case OC_DT_INT16:
        return tensor_integer(sign_extend(bits & 0xffff, 16));
    case OC_DT_INT8:
        return tensor_integer(sign_extend(bits & 0xff, 8));
    case OC_DT_INT4:
        return tensor_integer(sign_extend(bits & 0xf, 4));
    case OC_DT_INT2:
        return tensor_integer(sign_extend(bits & 3, 2));
    case OC_DT_UINT64:
        if (bits > INT64_MAX)
            return (struct oc_elem){.kind = OC_E_UNKNOWN};
        return tensor_integer((int64_t)bits);
    case OC_DT_UINT32:
        return tensor_integer((int64_t)(bits & 0xffffffff));
    case OC_DT_UINT16:
        return tensor_integer((int64_t)(bits & 0xffff));
    case OC_DT_UINT8:
        return tensor_integer((int64_t)(bits & 0xff));
    case OC_DT_UINT4:
        return tensor_integer((int64_t)(bits & 0xf));
    case OC_DT_UINT2:
        return tensor_integer((int64_t)(bits & 3));
    case OC_DT_BOOL:
        return tensor_integer((bits & 0xff) != 0);
    default:
        return (struct oc_elem){.kind = OC_E_UNKNOWN};
    }
}

/* Elements packed little-endian, sub-byte ones from the low bits. */
static bool from_raw(const uint8_t *data, uint64_t size_bytes, unsigned dtype, uint32_t n,
                     struct oc_elem *out)
{
    unsigned bits = oc_dtype_info(dtype)->bits;
    uint64_t need;
    if (!data || !bits || bits > 64 || !oc_bytes_of(dtype, n, &need) || need > size_bytes)
        return n == 0;
    oc_os_need(data, (size_t)need);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t v = 0;
        if (bits >= 8)
            v = oc_load_le(data + (uint64_t)i * (bits / 8), bits / 8);
        else
            v = (uint64_t)data[(uint64_t)i * bits / 8] >> ((uint64_t)i * bits % 8);
        out[i] = elem_of(dtype, v);
    }
    return true;
}

/* The members of TensorProto with elements of a type; see proto/onnx_header.proto. */
enum { FLOAT_DATA = 4, INT32_DATA, STRING_DATA, INT64_DATA, DOUBLE_DATA = 10, UINT64_DATA };

static uint32_t tensor_field_of(unsigned dtype, unsigned *width)
{
    *width = dtype == OC_DT_FLOAT ? 4 : dtype == OC_DT_DOUBLE ? 8 : 0;
    switch (dtype) {
    case OC_DT_FLOAT:
        return FLOAT_DATA;
    case OC_DT_DOUBLE:
        return DOUBLE_DATA;
    case OC_DT_INT64:
        return INT64_DATA;
    case OC_DT_UINT32:
    case OC_DT_UINT64:
        return UINT64_DATA;
    case OC_DT_STRING:
        return STRING_DATA;
    default:
        return INT32_DATA;
    }
}

/* Reads the typed fields of a TensorProto. Sub-byte types store several elements in one number, as raw data
 * does. */
static bool from_fields(const struct oc_tensor *t, uint32_t n, struct oc_elem *out, struct oc_arena *a)
{
    unsigned width, bits = oc_dtype_info(t->dtype)->bits;
    unsigned per = bits && bits < 8 ? 8 / bits : 1;
    uint32_t num = tensor_field_of(t->dtype, &width), done = 0;
    struct oc_wire w = oc_wire_of(t->data, t->message_bytes);
    struct oc_wire_field f;
    while (done < n && oc_wire_next(&w, &f)) {
        if (f.num != num)
            continue;
        if (t->dtype == OC_DT_STRING) {
            if (f.type != OC_WIRE_LEN)
                continue;
            oc_os_need(f.data, f.n);
            out[done++] =
                (struct oc_elem){.kind = OC_E_STRING, .str = oc_strndup(a, (const char *)f.data, f.n)};
            continue;
        }
        size_t k = oc_wire_count(&f, width);
        if (k == SIZE_MAX)
            return false;
        uint64_t *v = oc_xmalloc(k * sizeof(*v));
        oc_wire_numbers(&f, width, v);
        for (size_t i = 0; i < k * per && done < n; i++)
            out[done++] = elem_of(t->dtype, per > 1 ? v[i / per] >> (bits * (i % per)) : v[i]);
        free(v);
    }
    return done == n;
}

static bool from_external(const struct oc_model *m, const struct oc_tensor *t, uint32_t n,
                          struct oc_elem *out)
{
    struct oc_file f;
    uint64_t need;
    if (!oc_bytes_of(t->dtype, n, &need) || !map_external_tensor(m, t, need, &f))
        return false;
    bool ok = from_raw(f.data, f.size_bytes, t->dtype, n, out);
    oc_file_unmap(&f);
    return ok;
}

static bool from_sparse(const struct oc_model *m, const struct oc_tensor *t, uint32_t n, struct oc_elem *out,
                        struct oc_arena *a)
{
    const struct oc_tensor *v = t->values, *x = t->indices;
    if (n > OC_MAX_DATA || v->elements > OC_MAX_DATA || t->elements != n)
        return false;
    uint32_t nnz = (uint32_t)v->elements, per = x->rank == 2 ? t->rank : 1;
    if (x->elements != (uint64_t)nnz * per)
        return false;
    struct oc_elem *value = OC_NEW_ARRAY(a, nnz, struct oc_elem),
                   *index = OC_NEW_ARRAY(a, (size_t)nnz * per, struct oc_elem);
    if (!oc_tensor_elems(m, v, nnz, value, a) || !oc_tensor_elems(m, x, nnz * per, index, a))
        return false;
    for (uint32_t i = 0; i < n; i++)
        out[i] = elem_of(t->dtype, 0);
    for (uint32_t i = 0; i < nnz; i++) {
        int64_t at = 0;
        for (uint32_t k = 0; k < per; k++) {
            int64_t c = index[i * per + k].i.v;
            if (c < 0 || (per > 1 && c >= t->dim[k]))
                return false;
            at = per > 1 ? at * t->dim[k] + c : c;
        }
        if (at >= (int64_t)n)
            return false;
        out[at] = value[i];
    }
    return true;
}

bool oc_tensor_elems(const struct oc_model *m, const struct oc_tensor *t, uint32_t n, struct oc_elem *out,
                     struct oc_arena *a)
{
    if (n > t->elements)
        return false;
    if (n == 0)
        return true;
    switch (t->storage) {
    case OC_STORE_RAW:
        return from_raw(t->data, t->size_bytes, t->dtype, n, out);
    case OC_STORE_FIELDS:
        return from_fields(t, n, out, a);
    case OC_STORE_EXTERNAL:
        return from_external(m, t, n, out);
    case OC_STORE_SPARSE:
        return from_sparse(m, t, n, out, a);
    default:
        return false;
    }
}

/* Converts typed fields to the raw_data format. Sub-byte types are already packed. */
static bool pack_fields(const struct oc_tensor *t, struct oc_tensor_bytes *out)
{
    unsigned width, bits = oc_dtype_info(t->dtype)->bits, step = bits < 8 ? 1 : bits / 8;
    uint32_t num = tensor_field_of(t->dtype, &width);
    struct oc_wire w = oc_wire_of(t->data, t->message_bytes);
    struct oc_wire_field f;
    uint64_t done = 0;
    uint8_t *to = out->heap = oc_xmalloc(out->size_bytes);
    while (oc_wire_next(&w, &f)) {
        size_t k = f.num == num ? oc_wire_count(&f, width) : 0;
        if (k == SIZE_MAX || k > (out->size_bytes - done) / step)
            break;
        uint64_t *v = oc_xmalloc((k ? k : 1) * sizeof(*v));
        if (k)
            oc_wire_numbers(&f, width, v);
        for (size_t i = 0; i < k; i++, done += step)
            oc_store_le(to + done, v[i], step);
        free(v);
    }
    out->data = to;
    if (done == out->size_bytes)
        return true;
    free(to);
    return false;
}

static void need_first(const struct oc_tensor_bytes *b)
{
    oc_os_need(b->data, b->size_bytes < OC_WIRE_READY_BYTES ? (size_t)b->size_bytes : OC_WIRE_READY_BYTES);
}

bool oc_tensor_bytes_open(const struct oc_model *m, const struct oc_tensor *t, struct oc_tensor_bytes *out)
{
    *out = (struct oc_tensor_bytes){0};
    unsigned bits = oc_dtype_info(t->dtype)->bits;
    if (!bits || bits > 64 || !oc_bytes_of(t->dtype, t->elements, &out->size_bytes) || !out->size_bytes)
        return false;
    switch (t->storage) {
    case OC_STORE_RAW:
        out->data = t->data;
        if (!t->data || out->size_bytes > t->size_bytes ||
            (m->file.remote && out->size_bytes > OC_WIRE_READY_BYTES)) /* weights are not fetched */
            return false;
        need_first(out);
        return true;
    case OC_STORE_FIELDS:
        return !(m->file.remote && t->message_bytes > OC_WIRE_READY_BYTES) &&
               t->message_bytes >= out->size_bytes / 8 && pack_fields(t, out);
    case OC_STORE_EXTERNAL:
        if (!map_external_tensor(m, t, out->size_bytes, &out->file))
            return false;
        out->data = out->file.data;
        need_first(out);
        return true;
    default:
        return false;
    }
}

void oc_tensor_bytes_close(struct oc_tensor_bytes *b)
{
    oc_file_unmap(&b->file);
    free(b->heap);
}
