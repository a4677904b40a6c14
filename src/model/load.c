/* Loads an ONNX file into struct oc_model. The file is mapped and parsed with wire.c; weights become views
 * and are never read. No message is unpacked as a whole: lengths and depth are checked before anything is
 * stored, and a tensor inside an attribute is a view, too.
 *
 *   ModelProto: 1 ir_version, 2 producer_name, 3 producer_version, 7 graph, 8 opset_import, 25 functions */
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/file_type.h"
#include "model/loader.h"
#include "onnxcost.h"

struct top { /* fields of ModelProto */
    struct oc_view graph;
    struct oc_view *function, *opset;
    uint32_t n_function, n_opset, cap_function, cap_opset;
};

/* `why`: the error of the wire format, for unrecognised files. */
static int not_a_model(struct oc_loader *l, struct oc_view v, const void *at, const char *why)
{
    const struct oc_signature *is = oc_recognize(l->m->path, v.data, v.n);
    if (is)
        return oc_load_fail(l, OC_EFORMAT, NULL, "this is %s, not an ONNX model: %s", is->what, is->todo);
    return oc_load_fail(l, OC_EFORMAT, at, "not an ONNX model%s%s", *why ? ": " : "", why);
}

static int walk_model(struct oc_loader *l, struct oc_view v, struct top *t)
{
    struct oc_wire w = oc_wire_of(v.data, v.n);
    struct oc_field f;
    while (oc_wire_next(&w, &f)) {
        struct oc_view part = {f.data, f.n};
        if (f.num == 1 && f.type == OC_WIRE_VARINT)
            l->m->ir_version = (int64_t)f.v;
        if (f.type != OC_WIRE_LEN)
            continue;
        if (f.num == 2)
            l->m->producer_name = oc_load_text(l, &f);
        else if (f.num == 3)
            l->m->producer_version = oc_load_text(l, &f);
        else if (f.num == 7)
            t->graph = part;
        else if (f.num == 8) {
            OC_GROW(t->opset, t->n_opset, t->cap_opset);
            t->opset[t->n_opset++] = part;
        } else if (f.num == 25) {
            OC_GROW(t->function, t->n_function, t->cap_function);
            t->function[t->n_function++] = part;
        }
    }
    if (w.bad && !t->graph.data && !l->m->ir_version)
        return not_a_model(l, v, w.bad, w.why);
    return oc_load_end(l, &w, "model");
}

static int load_opsets(struct oc_loader *l, const struct top *t)
{
    struct oc_opset *set = OC_NEW_ARRAY(&l->m->arena, t->n_opset + 1, struct oc_opset);
    uint32_t n = t->n_opset;
    for (uint32_t i = 0; i < n; i++)
        if (oc_load_opset(l, t->opset[i], &set[i]))
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

static int load_all(struct oc_loader *l, struct oc_view v, struct top *t)
{
    if (v.n == 0)
        return oc_load_fail(l, OC_EFORMAT, NULL, "the file is empty; download or export it again");
    if (walk_model(l, v, t))
        return -1;
    if (!t->graph.data && (!l->m->ir_version || oc_recognize(l->m->path, v.data, v.n)))
        return not_a_model(l, v, NULL, "");
    if (!t->graph.data)
        return oc_load_fail(l, OC_EFORMAT, NULL, "the model has no graph");
    if (load_opsets(l, t) || oc_load_functions(l, t->function, t->n_function))
        return -1;
    struct oc_scope main_scope = {.names = {.arena = &l->m->arena}, .owner = OC_NONE, .opsets = &l->opsets};
    main_scope.graph = oc_load_new_graph(l);
    int rc = oc_load_graph(l, &main_scope, t->graph);
    oc_map_free(&main_scope.names);
    return rc ? rc : oc_order_graphs(l);
}

static struct oc_model *new_model(const char *path, const struct oc_caps *caps)
{
    struct oc_model *m = oc_xmalloc(sizeof(*m));
    *m = (struct oc_model){.caps = caps ? *caps : (struct oc_caps){.external_anywhere = false}};
    m->names.arena = &m->arena;
    m->diags.arena = &m->arena;
    m->path = oc_strdup(&m->arena, path);
    m->producer_name = m->producer_version = "";
    return m;
}

static int do_load(struct oc_model *m, struct oc_view v, struct oc_err *err)
{
    struct oc_err unused = {0};
    struct oc_loader l = {.m = m, .err = err ? err : &unused, .caps = &m->caps, .base = v.data};
    l.symbols.arena = l.functions.arena = l.externals.arena = &m->arena;
    struct top t = {0};
    int rc = load_all(&l, v, &t);
    if (rc == 0 && l.long_text)
        rc = oc_load_over(&l, OC_CAP_STRING_BYTES, l.long_bytes, l.long_text);
    if (rc == 0 && m->arena.used_bytes > oc_cap(l.caps, OC_CAP_MODEL_MEMORY))
        rc = oc_load_over(&l, OC_CAP_MODEL_MEMORY, 0, NULL);
    free(t.function);
    free(t.opset);
    free(l.body);
    free(l.later);
    free(l.lists.in);
    free(l.lists.out);
    free(l.lists.attr);
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

int oc_model_load(const char *path, const struct oc_caps *caps, struct oc_model **out, struct oc_err *err)
{
    OC_C_LOCALE;
    struct oc_model *m = new_model(path, caps);
    int rc = oc_file_map_capped(path, caps, &m->file, err);
    if (rc == 0)
        rc = do_load(m, (struct oc_view){m->file.data, m->file.size_bytes}, err);
    if (rc) {
        oc_model_free(m);
        return -1;
    }
    *out = m;
    return 0;
}

int oc_model_load_mem(const void *data, size_t size_bytes, const struct oc_caps *caps, struct oc_model **out,
                      struct oc_err *err)
{
    struct oc_model *m = new_model("", caps);
    m->file = (struct oc_file){.data = data, .size_bytes = size_bytes};
    if (do_load(m, (struct oc_view){data, size_bytes}, err)) {
        oc_model_free(m);
        return -1;
    }
    *out = m;
    return 0;
}

int oc_tensor_load(const char *path, struct oc_model **holder, struct oc_tensor *out, struct oc_err *err)
{
    struct oc_model *m = new_model(path, NULL);
    int rc = oc_file_map(path, 0, &m->file, err);
    if (rc == 0) {
        struct oc_loader l = {
            .m = m, .err = err, .caps = &m->caps, .base = m->file.data, .externals = {.arena = &m->arena}};
        rc = oc_load_tensor(&l, (struct oc_view){m->file.data, m->file.size_bytes}, out);
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
