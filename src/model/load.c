/* Loads an ONNX file into struct oc_model. The file is mapped; weights become views and are never read.
 * Messages are unpacked one at a time by load_header.c. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/file.h"
#include "base/http.h"
#include "base/os.h"
#include "base/str.h"
#include "model/loader.h"
#include "onnxcost.h"

#define MOSTLY_WEIGHTS_BYTES ((uint64_t)32 << 20) /* of a smaller file all is read, in large pieces */

/* ---- shared by the loader's files -------------------------------------------------------------------- */

uint64_t oc_load_offset(const struct oc_loader *l, const uint8_t *at)
{
    return at >= l->base ? (uint64_t)(at - l->base) : 0;
}

int oc_load_fail(struct oc_loader *l, enum oc_code code, const uint8_t *at, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    uint64_t offset = at ? oc_load_offset(l, at) : 0;
    if (at)
        oc_fail(l->err, code, "%s (offset %llu)", text, (unsigned long long)offset);
    else
        oc_fail(l->err, code, "%s", text);
    return oc_err_at(l->err, l->m->path, 0, offset);
}

int oc_load_over(struct oc_loader *l, enum oc_input_limit which, uint64_t found, const uint8_t *at)
{
    char text[OC_INPUT_LIMIT_TEXT];
    return oc_load_fail(l, OC_ELIMIT, at, "%s", oc_input_limit_text(l->limits, which, found, text));
}

const char *oc_load_keep(struct oc_loader *l, const void *text, size_t n)
{
    enum { TOGETHER = 4096 };
    if (n >= l->names_left) {
        l->names_left = n < TOGETHER ? TOGETHER : n + 1;
        l->names_room = oc_alloc(&l->m->arena, l->names_left);
    }
    char *kept = l->names_room;
    memcpy(kept, text, n);
    kept[n] = '\0';
    l->names_room += n + 1;
    l->names_left -= n + 1;
    return kept;
}

void oc_load_drop(struct oc_loader *l, size_t n)
{
    l->names_room -= n + 1;
    l->names_left += n + 1;
}

const char *oc_load_text(struct oc_loader *l, const char *text)
{
    size_t n = strlen(text);
    if (!n)
        return "";
    size_t first = (unsigned char)text[0], last = (unsigned char)text[n - 1];
    struct oc_recent_text *r = &l->recent[(n + 3 * first + 5 * last) % OC_COUNT(l->recent)];
    if (r->n != n || !oc_same(r->text, text, n))
        *r = (struct oc_recent_text){.text = oc_intern(&l->m->names, text, n), .n = n};
    return r->text;
}

uint32_t oc_load_new_graph(struct oc_loader *l)
{
    struct oc_model *m = l->m;
    OC_GROW(m->graph, m->n_graph, l->cap_graph);
    m->graph[m->n_graph] = (struct oc_graph){.name = "", .parent_node = OC_NONE, .scope = ""};
    return m->n_graph++;
}

void oc_load_reserve_values(struct oc_loader *l, uint32_t n)
{
    uint32_t need = l->m->n_value + n;
    if (need <= l->cap_value || need < n)
        return;
    l->cap_value = l->cap_value < need / 2 ? need : need + need / 2; /* repeated growth stays linear */
    l->m->value = oc_xrealloc(l->m->value, (size_t)l->cap_value * sizeof(*l->m->value));
}

uint32_t oc_load_new_value(struct oc_loader *l, const char *name, uint32_t graph)
{
    static const struct oc_type not_declared = {.kind = OC_T_NONE};
    struct oc_model *m = l->m;
    OC_GROW(m->value, m->n_value, l->cap_value);
    m->value[m->n_value] =
        (struct oc_value){.name = name, .declared = &not_declared, .producer = OC_NONE, .graph = graph};
    return m->n_value++;
}

/* ---- the model -------------------------------------------------------------------------------------- */

/* `why`: the error of the wire format, for unrecognised files. */
static int not_a_model(struct oc_loader *l, ProtobufCBinaryData v, const void *at, const char *why)
{
    const struct oc_signature *is = oc_recognize(l->m->path, v.data, v.len);
    if (is)
        return oc_load_fail(l, OC_EFORMAT, NULL, "this is %s, not an ONNX model: %s", is->what, is->todo);
    return oc_load_fail(l, OC_EFORMAT, at, "not an ONNX model%s%s", *why ? ": " : "", why);
}

/* Whether the bytes begin like a model: one of its fields comes before any damage. */
static bool begins_like_model(struct oc_wire *w)
{
    struct oc_wire_field f;
    while (oc_wire_next(w, &f))
        if (protobuf_c_message_descriptor_get_field(&oc__model__descriptor, f.num))
            return true;
    return false;
}

static const Oc__Model *read_model(struct oc_loader *l, ProtobufCBinaryData v)
{
    struct oc_wire w = oc_wire_of(v.data, v.len);
    if (!begins_like_model(&w)) {
        not_a_model(l, v, w.bad, w.bad ? w.why : "");
        return NULL;
    }
    const Oc__Model *h = oc_header_read(l, &oc__model__descriptor, v);
    if (h && !h->has_graph && (!h->ir_version || oc_recognize(l->m->path, v.data, v.len)))
        not_a_model(l, v, NULL, "");
    else if (h && !h->has_graph)
        oc_load_fail(l, OC_EFORMAT, NULL, "the model has no graph");
    return h && h->has_graph ? h : NULL;
}

static int load_imports(struct oc_loader *l, const Oc__Model *h, const uint8_t *at)
{
    struct oc_opset *set = oc_load_opsets(l, h->opset_import, h->n_opset_import, at);
    uint32_t n = (uint32_t)h->n_opset_import;
    if (!set)
        return -1;
    if (n == 0) {
        if (l->m->ir_version >= 3)
            return oc_load_fail(l, OC_EFORMAT, NULL, "no opset import (is the file truncated?)");
        set[n++] = (struct oc_opset){.domain = "", .version = 1}; /* IR 1 and 2 had no opset imports */
    }
    l->m->opset = set;
    l->m->n_opset = n;
    l->opsets = (struct oc_opset_list){.item = set, .n = n};
    return 0;
}

static int load_all(struct oc_loader *l, ProtobufCBinaryData v)
{
    if (v.len == 0)
        return oc_load_fail(l, OC_EFORMAT, NULL, "the file is empty; download or export it again");
    const Oc__Model *h = read_model(l, v);
    if (!h)
        return -1;
    l->m->ir_version = h->ir_version;
    l->m->producer_name = oc_load_text(l, h->producer_name);
    l->m->producer_version = oc_load_text(l, h->producer_version);
    if (load_imports(l, h, v.data) || oc_load_functions(l, h))
        return -1;
    struct oc_scope main_scope = {.names = {.arena = &l->m->arena}, .owner = OC_NONE, .opsets = &l->opsets};
    main_scope.graph = oc_load_new_graph(l);
    int rc = oc_load_graph(l, &main_scope, h->graph);
    oc_map_free(&main_scope.names);
    return rc ? rc : oc_order_graphs(l);
}

static struct oc_model *new_model(const char *path)
{
    struct oc_model *m = oc_xmalloc(sizeof(*m));
    *m = (struct oc_model){.producer_name = "", .producer_version = ""};
    m->names.arena = &m->arena;
    m->diags.arena = &m->arena;
    m->path = oc_strdup(&m->arena, path);
    return m;
}

static ProtobufCBinaryData view_of(const struct oc_file *f)
{
    return (ProtobufCBinaryData){f->size_bytes, (uint8_t *)(uintptr_t)f->data};
}

/* Weights are skipped: the kernel's read-ahead would fetch most of them from the disk. */
static void avoid_read_ahead(const struct oc_model *m)
{
    if (m->file.mapped && !m->built.n && m->file.size_bytes >= MOSTLY_WEIGHTS_BYTES)
        oc_os_advise(m->file.data, (size_t)m->file.size_bytes, OC_OS_RANDOM);
}

static int do_load(struct oc_model *m, struct oc_err *err)
{
    struct oc_err unused = {0};
    struct oc_loader l = {.m = m, .err = err ? err : &unused, .limits = &m->limits};
    l.symbols.arena = l.functions.arena = l.externals.arena = &m->arena;
    ProtobufCBinaryData bytes;
    int rc = oc_source_read(m, &bytes, l.err);
    l.base = bytes.data;
    avoid_read_ahead(m);
    if (rc == 0)
        rc = load_all(&l, bytes);
    if (rc == 0 && m->arena.used_bytes > oc_input_limit(l.limits, OC_LIMIT_MODEL_MEMORY))
        rc = oc_load_over(&l, OC_LIMIT_MODEL_MEMORY, 0, NULL);
    oc_headers_free(&l);
    free(l.body);
    free(l.pending);
    if (rc == 0 && l.n_capture) {
        struct oc_capture *kept = OC_NEW_ARRAY(&m->arena, l.n_capture, struct oc_capture);
        memcpy(kept, l.capture, l.n_capture * sizeof(*kept));
        m->capture = kept;
        m->n_capture = l.n_capture;
    }
    free(l.capture);
    oc_map_free(&l.symbols);
    oc_map_free(&l.functions);
    oc_map_free(&l.externals);
    if (rc && err) {
        oc_err_prefix(err, "cannot read '%s'", m->path[0] ? m->path : "(memory)");
        oc_err_at(err, m->path, 0, err->offset_bytes);
    }
    return rc;
}

/* The model of a repository of the Hugging Face Hub is the first of these files that it has. */
static int open_url(struct oc_model *m, struct oc_err *err)
{
    static const char *const names[] = {"model.safetensors.index.json", "model.safetensors",
                                        "onnx/model.onnx", "model.onnx", "config.json"};
    const char *endpoint = getenv("HF_ENDPOINT"), *given = m->path;
    bool missing = true, hub = !strncmp(given, "hf:", 3);
    int rc = -1;
    for (size_t i = 0; missing && i < OC_COUNT(names); i++) {
        char url[4096];
        if (hub && !oc_http_hub(given, endpoint && *endpoint ? endpoint : "https://huggingface.co", names[i],
                                url, sizeof(url)))
            return oc_fail(err, OC_EARG, "'%s' is not hf:ORGANIZATION/NAME, with /FILE or without", given);
        if (i && !strcmp(m->path, url))
            return rc; /* the file is named */
        m->path = oc_strdup(&m->arena, hub ? url : given);
        rc = oc_remote_map(m->path, &m->limits, &m->file, &missing, err);
        missing = rc && missing && hub;
    }
    if (missing)
        oc_fail(err, OC_EIO,
                "cannot read '%s': it has no model.safetensors, model.onnx or config.json: name a file",
                given);
    return rc;
}

static int open_model(struct oc_model *m, struct oc_err *err)
{
    return oc_http_is_url(m->path) ? open_url(m, err)
                                   : oc_file_map_capped(m->path, &m->limits, &m->file, err);
}

int oc_model_load(const char *path, const struct oc_input_limits *limits, struct oc_model **out,
                  struct oc_err *err)
{
    OC_C_LOCALE;
    struct oc_model *m = new_model(path);
    const char *inside = oc_model_of_folder(path, &m->arena);
    m->path = inside ? inside : m->path;
    int rc = OC_OPTIONS(&m->limits, limits, err);
    if (rc == 0)
        rc = open_model(m, err);
    if (rc == 0)
        rc = do_load(m, err);
    if (oc_remote_check(&m->file, err)) /* rather than what zeros were taken for */
        rc = -1;
    if (rc) {
        oc_model_free(m);
        return -1;
    }
    *out = m;
    return 0;
}

int oc_model_load_mem(const void *data, size_t size_bytes, const struct oc_input_limits *limits,
                      struct oc_model **out, struct oc_err *err)
{
    struct oc_model *m = new_model("");
    m->file = (struct oc_file){.data = data, .size_bytes = size_bytes};
    if (OC_OPTIONS(&m->limits, limits, err) || do_load(m, err)) {
        oc_model_free(m);
        return -1;
    }
    *out = m;
    return 0;
}

int oc_tensor_load(const char *path, struct oc_model **holder, struct oc_tensor *out, struct oc_err *err)
{
    struct oc_model *m = new_model(path);
    int rc = oc_file_map(path, 0, &m->file, err);
    if (rc == 0) {
        struct oc_loader l = {.m = m,
                              .err = err,
                              .limits = &m->limits,
                              .base = m->file.data,
                              .externals = {.arena = &m->arena}};
        rc = oc_load_tensor(&l, view_of(&m->file), out);
        oc_headers_free(&l);
        oc_map_free(&l.externals);
        if (rc)
            oc_err_prefix(err, "cannot read '%s'", path);
    }
    if (rc) {
        oc_model_free(m);
        return -1;
    }
    *holder = m;
    return 0;
}
