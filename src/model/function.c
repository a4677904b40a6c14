/* Model-local functions. A call is expanded in place: the body's nodes read and write the caller's values
 * directly, so a body is a graph whose inputs are the call's actual inputs. */
#include <string.h>

#include "model/loader.h"

struct oc_opset *oc_load_opsets(struct oc_loader *l, Oc__Opset *const *opset, size_t n, const uint8_t *at)
{
    struct oc_opset *set = OC_NEW_ARRAY(&l->m->arena, n + 1, struct oc_opset);
    for (size_t i = 0; i < n; i++) {
        const char *domain = strcmp(opset[i]->domain, "ai.onnx") == 0 ? "" : opset[i]->domain;
        set[i] = (struct oc_opset){.domain = oc_load_text(l, domain), .version = opset[i]->version};
        if (set[i].version < 1) {
            oc_load_fail(l, OC_EFORMAT, at, "opset import '%s': version %lld", domain,
                         (long long)set[i].version);
            return NULL;
        }
    }
    return set;
}

static const char *function_key_of(struct oc_loader *l, const char *domain, const char *name,
                                   const char *overload)
{
    return oc_printf(&l->m->arena, "%s\x1f%s\x1f%s", domain, name, overload);
}

static int load_function(struct oc_loader *l, ProtobufCBinaryData v, struct oc_function *fn)
{
    const Oc__Function *h = oc_header_read(l, &oc__function__descriptor, v);
    if (!h)
        return -1;
    *fn = (struct oc_function){.domain = oc_load_text(l, h->domain),
                               .name = oc_load_text(l, h->name),
                               .overload = oc_load_text(l, h->overload),
                               .view = v,
                               .header = h,
                               .opsets = l->opsets};
    if (!h->n_opset_import)
        return 0;
    fn->opsets.item = oc_load_opsets(l, h->opset_import, h->n_opset_import, v.data);
    fn->opsets.n = (uint32_t)h->n_opset_import;
    return fn->opsets.item ? 0 : -1;
}

int oc_load_functions(struct oc_loader *l, const Oc__Model *model)
{
    uint32_t n = (uint32_t)model->n_functions;
    l->fn = OC_NEW_ARRAY(&l->m->arena, n, struct oc_function);
    for (uint32_t i = 0; i < n; i++) {
        struct oc_function *fn = &l->fn[i];
        if (load_function(l, model->functions[i], fn))
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

/* Binds formal inputs and outputs to the caller's values. Absent actual inputs get an entry too, because the
 * body's nodes refer to them. */
static void bind_values(struct oc_scope *in, const Oc__Function *fn, const struct oc_node *call)
{
    uint32_t id;
    for (size_t i = 0; i < fn->n_input; i++)
        if (i < call->n_in && call->in[i] != OC_NONE)
            oc_map_set(&in->names, fn->input[i], strlen(fn->input[i]), call->in[i]);
    for (size_t i = 0; i < fn->n_output && i < call->n_out; i++)
        if (id = call->out[i], id != OC_NONE)
            oc_map_add(&in->names, fn->output[i], strlen(fn->output[i]), &id, NULL);
    for (size_t i = 0; i < fn->n_input; i++)
        if (id = OC_ABSENT, fn->input[i][0])
            oc_map_add(&in->names, fn->input[i], strlen(fn->input[i]), &id, NULL);
}

static bool recursive(const struct oc_call *call, const struct oc_function *fn)
{
    for (; call; call = call->up)
        if (call->fn == fn)
            return true;
    return false;
}

static uint32_t *ids_of(struct oc_loader *l, const struct oc_scope *in, char *const *formal, size_t n)
{
    uint32_t *id = OC_NEW_ARRAY(&l->m->arena, n, uint32_t);
    for (size_t i = 0; i < n; i++) {
        id[i] = oc_map_get(&in->names, formal[i], strlen(formal[i]));
        if (id[i] == OC_ABSENT)
            id[i] = OC_NONE;
    }
    return id;
}

static int function_expand(struct oc_loader *l, const struct oc_scope *sc, uint32_t node,
                           const struct oc_function *fn)
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
    const Oc__Function *h = fn->header;
    bind_values(&in, h, &l->m->node[node]);
    l->m->node[node].kind = OC_NODE_CALL;
    l->m->node[node].body = in.graph;
    int rc = oc_load_nodes(l, &in, h->node, h->n_node, fn->view.data);
    g = &l->m->graph[in.graph];
    g->input = ids_of(l, &in, h->input, h->n_input);
    g->n_input = (uint32_t)h->n_input;
    g->output = ids_of(l, &in, h->output, h->n_output);
    g->n_output = (uint32_t)h->n_output;
    oc_map_free(&in.names);
    return rc;
}

int oc_expand_call(struct oc_loader *l, const struct oc_scope *sc, uint32_t node)
{
    const struct oc_function *fn = oc_function_of(l, &l->m->node[node]);
    if (recursive(sc->call, fn))
        return oc_load_fail(l, OC_EFORMAT, fn->view.data, "function '%s' calls itself", fn->name);
    if (sc->depth + 1 > oc_input_limit(l->limits, OC_LIMIT_DEPTH))
        return oc_load_over(l, OC_LIMIT_DEPTH, 0, fn->view.data);
    if (fn->header->n_node > oc_input_limit(l->limits, OC_LIMIT_FUNCTION_NODES) - l->n_expanded)
        return oc_load_over(l, OC_LIMIT_FUNCTION_NODES, 0, fn->view.data);
    l->n_expanded += (uint32_t)fn->header->n_node;
    return function_expand(l, sc, node, fn);
}
