/* Model-local functions. A call is expanded in place: the body's nodes read and write the caller's values
 * directly, so a body is a graph whose inputs are the call's actual inputs.
 *
 * FunctionProto: 1 name, 4 input, 5 output, 6 attribute, 7 node, 9 opset_import, 10 domain, 11
 * attribute_proto, 13 overload.  OperatorSetIdProto: 1 domain, 2 version */
#include <stdlib.h>
#include <string.h>

#include "model/loader.h"

enum { NODES = 7 };

int oc_load_opset(struct oc_loader *l, struct oc_view v, struct oc_opset *out)
{
    *out = (struct oc_opset){.domain = ""};
    struct oc_wire w = oc_wire_of(v.data, v.n);
    struct oc_field f;
    while (oc_wire_next(&w, &f)) {
        if (f.num == 1 && f.type == OC_WIRE_LEN)
            out->domain = oc_load_text(l, &f);
        else if (f.num == 2 && f.type == OC_WIRE_VARINT)
            out->version = (int64_t)f.v;
    }
    if (strcmp(out->domain, "ai.onnx") == 0)
        out->domain = "";
    if (!w.bad && out->version < 1)
        return oc_load_fail(l, OC_EFORMAT, v.data, "opset import '%s': version %lld", out->domain,
                            (long long)out->version);
    return oc_load_end(l, &w, "opset import");
}

static const char *function_key_of(struct oc_loader *l, const char *domain, const char *name,
                                   const char *overload)
{
    return oc_printf(&l->m->arena, "%s\x1f%s\x1f%s", domain, name, overload);
}

static int load_function(struct oc_loader *l, struct oc_view v, struct oc_function *fn)
{
    *fn = (struct oc_function){.domain = "", .name = "", .overload = "", .view = v};
    uint32_t n_opset = 0;
    struct oc_wire w = oc_wire_of(v.data, v.n);
    struct oc_field f;
    while (oc_wire_next(&w, &f)) {
        n_opset += f.num == 9;
        if (f.type != OC_WIRE_LEN)
            continue;
        if (f.num == 1)
            fn->name = oc_load_text(l, &f);
        else if (f.num == 10)
            fn->domain = oc_load_text(l, &f);
        else if (f.num == 13)
            fn->overload = oc_load_text(l, &f);
    }
    if (oc_load_end(l, &w, "function"))
        return -1;
    if (n_opset == 0) {
        fn->opsets = l->opsets;
        return 0;
    }
    struct oc_opset *set = OC_NEW_ARRAY(&l->m->arena, n_opset, struct oc_opset);
    uint32_t k = 0;
    w = oc_wire_of(v.data, v.n);
    while (oc_wire_next(&w, &f))
        if (f.num == 9 &&
            oc_load_opset(l, (struct oc_view){f.data, f.type == OC_WIRE_LEN ? f.n : 0}, &set[k++]))
            return -1;
    fn->opsets = (struct oc_opset_list){.item = set, .n = n_opset};
    return 0;
}

int oc_load_functions(struct oc_loader *l, const struct oc_view *view, uint32_t n)
{
    l->fn = OC_NEW_ARRAY(&l->m->arena, n, struct oc_function);
    for (uint32_t i = 0; i < n; i++) {
        struct oc_function *fn = &l->fn[i];
        if (load_function(l, view[i], fn))
            return -1;
        const char *key = function_key_of(l, fn->domain, fn->name, fn->overload);
        oc_map_set(&l->functions, key, strlen(key), i);
    }
    l->n_fn = l->m->n_function = n;
    return 0;
}

const struct oc_function *oc_function_of(const struct oc_loader *l, const struct oc_node *n)
{
    char key[512];
    int len = snprintf(key, sizeof(key), "%s\x1f%s\x1f%s", n->domain, n->op_type, n->overload);
    if (len < 0 || (size_t)len >= sizeof(key))
        return NULL;
    uint32_t i = oc_map_get(&l->functions, key, (size_t)len);
    return i == OC_NONE ? NULL : &l->fn[i];
}

static uint32_t function_count(const struct oc_function *fn, uint32_t num)
{
    uint32_t n = 0;
    struct oc_wire w = oc_wire_of(fn->view.data, fn->view.n);
    struct oc_field f;
    while (oc_wire_next(&w, &f))
        n += f.num == num && f.type == OC_WIRE_LEN;
    return n;
}

/* Collects the names in all fields of that number. */
static struct oc_view *function_collect(const struct oc_function *fn, uint32_t num, uint32_t *n)
{
    struct oc_view *list = NULL;
    uint32_t cap = 0;
    *n = 0;
    struct oc_wire w = oc_wire_of(fn->view.data, fn->view.n);
    struct oc_field f;
    while (oc_wire_next(&w, &f)) {
        if (f.num != num || f.type != OC_WIRE_LEN)
            continue;
        OC_GROW(list, *n, cap);
        list[(*n)++] = (struct oc_view){f.data, f.n};
    }
    return list;
}

/* Binds formal inputs to the caller's values. */
static void bind_inputs(struct oc_scope *in, const struct oc_view *formal, uint32_t n,
                        const struct oc_node *call)
{
    for (uint32_t i = 0; i < n; i++) {
        if (i >= call->n_in || call->in[i] == OC_NONE)
            continue;
        oc_map_set(&in->names, (const char *)formal[i].data, formal[i].n, call->in[i]);
    }
}

static void bind_outputs(struct oc_scope *in, const struct oc_view *formal, uint32_t n,
                         const struct oc_node *call)
{
    for (uint32_t i = 0; i < n && i < call->n_out; i++)
        if (call->out[i] != OC_NONE &&
            oc_map_get(&in->names, (const char *)formal[i].data, formal[i].n) == OC_NONE)
            oc_map_set(&in->names, (const char *)formal[i].data, formal[i].n, call->out[i]);
}

/* Absent actual inputs get an entry too, because the body's nodes refer to them. */
static void absent_inputs(struct oc_scope *in, const struct oc_view *formal, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t id = OC_ABSENT;
        const char *stored;
        if (formal[i].n)
            oc_map_add(&in->names, (const char *)formal[i].data, formal[i].n, &id, &stored);
    }
}

static bool recursive(const struct oc_call *call, const struct oc_function *fn)
{
    for (; call; call = call->up)
        if (call->fn == fn)
            return true;
    return false;
}

static uint32_t *function_ids_of(struct oc_loader *l, const struct oc_scope *in, const struct oc_view *formal,
                                 uint32_t n)
{
    uint32_t *id = OC_NEW_ARRAY(&l->m->arena, n, uint32_t);
    for (uint32_t i = 0; i < n; i++) {
        id[i] = oc_map_get(&in->names, (const char *)formal[i].data, formal[i].n);
        if (id[i] == OC_ABSENT)
            id[i] = OC_NONE;
    }
    return id;
}

static int function_expand(struct oc_loader *l, const struct oc_scope *sc, uint32_t node,
                           const struct oc_function *fn, uint32_t n_node)
{
    char label[256];
    const char *name = oc_node_label(l->m, &l->m->node[node], label, sizeof(label));
    struct oc_call call = {
        .up = sc->call, .fn = fn, .node = node, .prefix = oc_printf(&l->m->arena, "%s/", name)};
    struct oc_scope in = {.names = {.arena = &l->m->arena},
                          .graph = oc_load_new_graph(l),
                          .owner = node,
                          .call = &call,
                          .opsets = &fn->opsets,
                          .depth = sc->depth + 1};
    struct oc_graph *g = &l->m->graph[in.graph];
    const char *up = l->m->graph[sc->graph].scope;
    g->name = fn->name;
    g->parent_node = node;
    g->scope = oc_printf(&l->m->arena, "%s%s%s", up, up[0] ? "/" : "", name);
    uint32_t n_formal_in, n_formal_out;
    struct oc_view *formal_in = function_collect(fn, 4, &n_formal_in),
                   *formal_out = function_collect(fn, 5, &n_formal_out);
    bind_inputs(&in, formal_in, n_formal_in, &l->m->node[node]);
    bind_outputs(&in, formal_out, n_formal_out, &l->m->node[node]);
    absent_inputs(&in, formal_in, n_formal_in);
    l->m->node[node].kind = OC_NODE_CALL;
    l->m->node[node].body = in.graph;
    int rc = oc_load_nodes(l, &in, fn->view, NODES, n_node);
    g = &l->m->graph[in.graph];
    g->input = function_ids_of(l, &in, formal_in, n_formal_in);
    g->n_input = n_formal_in;
    g->output = function_ids_of(l, &in, formal_out, n_formal_out);
    g->n_output = n_formal_out;
    free(formal_in);
    free(formal_out);
    oc_map_free(&in.names);
    return rc;
}

int oc_expand_call(struct oc_loader *l, const struct oc_scope *sc, uint32_t node)
{
    const struct oc_function *fn = oc_function_of(l, &l->m->node[node]);
    if (recursive(sc->call, fn))
        return oc_load_fail(l, OC_EFORMAT, fn->view.data, "function '%s' calls itself", fn->name);
    if (sc->depth + 1 > oc_cap(l->caps, OC_CAP_DEPTH))
        return oc_load_over(l, OC_CAP_DEPTH, 0, fn->view.data);
    uint32_t n_node = function_count(fn, NODES);
    int rc = 0;
    if (n_node > oc_cap(l->caps, OC_CAP_FUNCTION_NODES) - l->n_expanded)
        rc = oc_load_over(l, OC_CAP_FUNCTION_NODES, 0, fn->view.data);
    l->n_expanded += rc ? 0 : n_node;
    if (rc == 0)
        rc = function_expand(l, sc, node, fn, n_node);
    return rc;
}
