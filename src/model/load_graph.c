/* GraphProto and NodeProto to struct oc_graph and struct oc_node.
 *
 * Order of parsing: inputs and initializers define values; nodes define their outputs and look up their
 * inputs; inputs not yet defined are looked up again afterwards, also in outer graphs (so the order of nodes
 * does not matter); then the bodies of its nodes and the calls of functions; finally value_info and outputs,
 * which only refer to values. */
#include <string.h>

#include "model/loader.h"

/* Finds or creates the value of that name in this graph. */
static uint32_t define(struct oc_loader *l, struct oc_scope *sc, struct oc_str s, bool *is_new)
{
    uint32_t id = l->m->n_value;
    const char *name = oc_load_keep(l, s.s, s.n);
    *is_new = oc_map_add_kept(&sc->names, name, s.n, &id);
    if (*is_new)
        oc_load_new_value(l, name, sc->graph);
    else
        oc_load_drop(l, s.n);
    return id;
}

/* The same for a name that outlives the load. */
static uint32_t define_kept(struct oc_loader *l, struct oc_scope *sc, const char *name, bool *is_new)
{
    uint32_t id = l->m->n_value;
    *is_new = oc_map_add_kept(&sc->names, name, strlen(name), &id);
    if (*is_new)
        oc_load_new_value(l, name, sc->graph);
    return id;
}

/* Reserves room for n names and their values; most nodes have one output. */
static void load_graph_reserve(struct oc_loader *l, struct oc_scope *sc, size_t n)
{
    uint32_t most = n < UINT32_MAX / 4 ? (uint32_t)n : UINT32_MAX / 4;
    oc_map_reserve(&sc->names, most);
    oc_load_reserve_values(l, most);
}

static void declare(struct oc_loader *l, uint32_t value, const struct oc_type *type)
{
    struct oc_type *kept = OC_NEW(&l->m->arena, struct oc_type);
    *kept = *type;
    l->m->value[value].declared = kept;
}

/* ---- values and nodes ------------------------------------------------------------------------------- */

static int load_inputs(struct oc_loader *l, struct oc_scope *sc, const Oc__Graph *h)
{
    uint32_t *id = OC_NEW_ARRAY(&l->m->arena, h->n_input, uint32_t);
    for (size_t i = 0; i < h->n_input; i++) {
        const struct oc_header_mark mark = oc_header_mark(l);
        struct oc_type type;
        struct oc_str name;
        bool is_new;
        if (oc_load_info(l, h->input[i], &name, &type))
            return -1;
        id[i] = define(l, sc, name, &is_new);
        if (!is_new)
            return oc_load_fail(l, OC_EFORMAT, h->input[i].data, "graph input '%s' is defined twice",
                                l->m->value[id[i]].name);
        declare(l, id[i], &type);
        l->m->value[id[i]].graph_input = true;
        oc_header_release(l, mark);
    }
    l->m->graph[sc->graph].input = id;
    l->m->graph[sc->graph].n_input = (uint32_t)h->n_input;
    return 0;
}

static int load_inits(struct oc_loader *l, struct oc_scope *sc, const Oc__Graph *h)
{
    size_t dense = h->n_initializer, n = dense + h->n_sparse_initializer;
    uint32_t *id = OC_NEW_ARRAY(&l->m->arena, n, uint32_t);
    struct oc_tensor *tensor = OC_NEW_ARRAY(&l->m->arena, n, struct oc_tensor);
    for (size_t i = 0; i < n; i++) {
        if (i < dense ? oc_load_tensor(l, h->initializer[i], &tensor[i])
                      : oc_load_sparse(l, h->sparse_initializer[i - dense], &tensor[i]))
            return -1;
        const char *name = tensor[i].name;
        bool is_new;
        id[i] = define_kept(l, sc, name, &is_new);
        struct oc_value *value = &l->m->value[id[i]];
        if (value->constant)
            oc_diag_add(&l->m->diags, OC_WARNING, "W-initializer-twice", name,
                        "defined twice: the last one is used");
        value->constant = &tensor[i];
        l->m->init_bytes += tensor[i].size_bytes;
    }
    l->m->graph[sc->graph].init = id;
    l->m->graph[sc->graph].n_init = (uint32_t)n;
    return 0;
}

static int node_fail(struct oc_loader *l, uint32_t node, const char *text, const char *name)
{
    return oc_load_fail(l, OC_EFORMAT, l->base + l->m->node[node].where, text, name);
}

/* A Constant that is defined again: as for ONNX Runtime, the last one counts, and the first has no output. */
static bool is_constant_again(struct oc_loader *l, struct oc_value *value, uint32_t node)
{
    struct oc_node *first = value->producer == OC_NONE ? NULL : &l->m->node[value->producer];
    if (!first || !oc_node_is_constant(first) || !oc_node_is_constant(&l->m->node[node]) ||
        first->n_out != 1 || first->graph != l->m->node[node].graph)
        return false;
    static const uint32_t none = OC_NONE;
    first->out = &none;
    oc_diag_add(&l->m->diags, OC_WARNING, "W-constant-twice", value->name,
                "defined twice: the last Constant is used");
    return true;
}

static int add_output(struct oc_loader *l, struct oc_scope *sc, struct oc_str name, uint32_t node,
                      uint32_t *out)
{
    *out = OC_NONE;
    if (!name.n)
        return 0;
    bool is_new;
    uint32_t id = define(l, sc, name, &is_new);
    if (id == OC_ABSENT)
        return node_fail(l, node, "a node overwrites an input of its function", "");
    struct oc_value *value = &l->m->value[id];
    if (!is_new && is_constant_again(l, value, node))
        is_new = true;
    /* the call has already defined the outputs of an expanded function and is their producer */
    bool taken = value->producer != OC_NONE && !(sc->call && value->producer == sc->call->node);
    if (!is_new && (taken || value->graph_input || value->constant))
        return node_fail(l, node, "value '%s' is defined twice", value->name);
    value->producer = node;
    *out = id;
    return 0;
}

static uint32_t read_input(struct oc_loader *l, struct oc_scope *sc, struct oc_str name, uint32_t node,
                           uint32_t slot)
{
    if (!name.n)
        return OC_NONE;
    uint32_t id = oc_map_get_near(&sc->names, name.s, name.n, &sc->hint[slot % OC_HINTS]);
    if (id < OC_ABSENT) {
        l->m->value[id].n_use++;
    } else if (id == OC_NONE) {
        OC_PUSH(l->pending, l->n_pending, l->cap_pending) =
            (struct oc_pending){.name = oc_load_keep(l, name.s, name.n), .node = node, .slot = slot};
    }
    return id == OC_ABSENT ? OC_NONE : id;
}

/* Finds the value, innermost graph first. Reads of outer values are recorded as captures of the outer graph's
 * control-flow node. */
static uint32_t resolve(struct oc_loader *l, const struct oc_scope *sc, struct oc_str name)
{
    uint32_t owner = OC_NONE;
    for (const struct oc_scope *s = sc; s; owner = s->owner, s = s->up) {
        uint32_t id = oc_map_get(&s->names, name.s, name.n);
        if (id == OC_NONE)
            continue;
        if (id == OC_ABSENT)
            return id;
        l->m->value[id].n_use++;
        if (owner != OC_NONE) {
            OC_PUSH(l->capture, l->n_capture, l->cap_capture) =
                (struct oc_capture){.node = owner, .value = id};
        }
        return id;
    }
    return OC_NONE;
}

static int32_t opset_of(const struct oc_opset_list *list, const char *domain)
{
    for (uint32_t i = 0; i < list->n; i++)
        if (list->item[i].domain == domain || strcmp(list->item[i].domain, domain) == 0)
            return list->item[i].version > INT32_MAX ? INT32_MAX : (int32_t)list->item[i].version;
    return 0;
}

static const char *node_name(struct oc_loader *l, const struct oc_scope *sc, struct oc_str name)
{
    enum { MOST = 65536 };
    if (!name.n)
        return "";
    return sc->call ? oc_printf(&l->m->arena, "%s%.*s", sc->call->prefix, name.n < MOST ? (int)name.n : MOST,
                                name.s)
                    : oc_load_keep(l, name.s, name.n);
}

/* Whether a metadata entry is one that oc_node_origin reads. */
static bool names_origin(struct oc_loader *l, ProtobufCBinaryData entry)
{
    const Oc__Metadata *h = oc_header_read(l, &oc__metadata__descriptor, entry);
    return h && oc_is_origin_key(h->key, strlen(h->key));
}

static int name_node(struct oc_loader *l, uint32_t id)
{
    const struct oc_node *n = &l->m->node[id];
    char label[128];
    return oc_err_prefix(l->err, "node '%s'%s%s", oc_node_label(l->m, n, label, sizeof(label)),
                         n->op_type[0] ? " of type " : "", n->op_type);
}

static int load_attributes(struct oc_loader *l, const struct oc_scope *sc, const struct oc_node_header *h,
                           uint32_t id)
{
    if (!h->n_attribute)
        return 0;
    struct oc_attr *attr = OC_NEW_ARRAY(&l->m->arena, h->n_attribute, struct oc_attr);
    l->m->node[id].attr = attr;
    for (size_t i = 0; i < h->n_attribute; i++) {
        bool dropped;
        if (oc_load_attr(l, sc, id, l->attributes.item[h->attribute + i], &attr[l->m->node[id].n_attr],
                         &dropped))
            return -1;
        l->m->node[id].n_attr += !dropped;
    }
    return 0;
}

static int load_values(struct oc_loader *l, struct oc_scope *sc, const struct oc_node_header *h, uint32_t id)
{
    struct oc_model *m = l->m;
    uint32_t n_in = (uint32_t)h->n_in, n_out = (uint32_t)h->n_out;
    uint32_t *in = OC_NEW_ARRAY(&m->arena, (size_t)n_in + n_out, uint32_t), *out = in + n_in;
    for (uint32_t i = 0; i < n_in; i++)
        in[i] = read_input(l, sc, l->in.item[h->in + i], id, i);
    for (uint32_t i = 0; i < n_out; i++)
        if (add_output(l, sc, l->out.item[h->out + i], id, &out[i]))
            return -1;
    struct oc_node *n = &m->node[id];
    n->in = in;
    n->out = out;
    n->n_in = n_in;
    n->n_out = n_out;
    m->most_in = n_in > m->most_in ? n_in : m->most_in;
    m->most_out = n_out > m->most_out ? n_out : m->most_out;
    return 0;
}

static int load_node(struct oc_loader *l, struct oc_scope *sc, const struct oc_node_header *h,
                     ProtobufCBinaryData v, uint32_t file_index)
{
    const struct oc_header_mark mark = oc_header_mark(l);
    uint32_t id = l->m->n_node++;
    const char *domain = oc_str_eq(h->domain, "ai.onnx") ? "" : oc_load_text(l, h->domain.s, h->domain.n);
    l->m->node[id] = (struct oc_node){.name = node_name(l, sc, h->name),
                                      .op_type = oc_load_text(l, h->op_type.s, h->op_type.n),
                                      .domain = domain,
                                      .overload = oc_load_text(l, h->overload.s, h->overload.n),
                                      .graph = sc->graph,
                                      .body = OC_NONE,
                                      .opset = opset_of(sc->opsets, domain),
                                      .file_index = file_index,
                                      .where = oc_load_offset(l, v.data),
                                      .n_bytes = v.len <= UINT32_MAX ? (uint32_t)v.len : 0};
    if (load_values(l, sc, h, id) || load_attributes(l, sc, h, id))
        return name_node(l, id);
    for (size_t i = 0; !l->m->has_origins && i < h->n_metadata; i++)
        l->m->has_origins = names_origin(l, l->metadata.item[h->metadata + i]);
    oc_header_release(l, mark);
    return 0;
}

/* Looks up inputs that were not defined when their node was read. */
static int resolve_pending(struct oc_loader *l, const struct oc_scope *sc)
{
    for (uint32_t i = 0; i < l->n_pending; i++) {
        const struct oc_pending *k = &l->pending[i];
        uint32_t id = resolve(l, sc, oc_str(k->name, strlen(k->name)));
        if (id == OC_NONE) {
            node_fail(l, k->node, "input '%.200s' is not defined", k->name);
            return name_node(l, k->node);
        }
        if (id != OC_ABSENT)
            ((uint32_t *)l->m->node[k->node].in)[k->slot] = id;
        l->m->graph[sc->graph].unsure_order |= id != OC_ABSENT && l->m->value[id].graph == sc->graph;
    }
    l->n_pending = 0;
    return 0;
}

/* Reserves room for n more of the message at `at`. */
static int reserve_nodes(struct oc_loader *l, const uint8_t *at, size_t n)
{
    struct oc_model *m = l->m;
    if (n > oc_input_limit(l->limits, OC_LIMIT_NODES) - m->n_node)
        return oc_load_over(l, OC_LIMIT_NODES, (uint64_t)m->n_node + n, at);
    if (m->arena.used_bytes > oc_input_limit(l->limits, OC_LIMIT_MODEL_MEMORY))
        return oc_load_over(l, OC_LIMIT_MODEL_MEMORY, 0, at);
    uint32_t need = m->n_node + (uint32_t)n;
    if (need > l->cap_node) {
        uint32_t cap = l->cap_node * 2 > need ? l->cap_node * 2 : need;
        m->node = oc_xrealloc(m->node, (size_t)cap * sizeof(*m->node));
        l->cap_node = cap;
    }
    return 0;
}

/* ---- calls of functions ------------------------------------------------------------------------------- */

/* Model-local functions. A call is expanded in place: the body's nodes read and write the caller's values
 * directly, so a body is a graph whose inputs are the call's actual inputs. */

static int load_nodes(struct oc_loader *l, struct oc_scope *sc, const struct oc_node_list *nodes,
                      const uint8_t *at);

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
    *fn = (struct oc_function){.domain = oc_load_text(l, h->domain, strlen(h->domain)),
                               .name = oc_load_text(l, h->name, strlen(h->name)),
                               .overload = oc_load_text(l, h->overload, strlen(h->overload)),
                               .view = v,
                               .header = h,
                               .nodes = oc_node_list_of(v, OC_FUNCTION_NODES),
                               .opsets = l->opsets};
    if (!h->n_opset_import)
        return 0;
    size_t n = h->n_opset_import;
    fn->opsets.item = oc_load_opsets(l, h->opset_import, &n, v.data);
    fn->opsets.n = (uint32_t)n;
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

static const struct oc_function *called_function(const struct oc_loader *l, const struct oc_node *n)
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
    int rc = load_nodes(l, &in, &fn->nodes, fn->view.data);
    g = &l->m->graph[in.graph];
    g->input = ids_of(l, &in, h->input, h->n_input);
    g->n_input = (uint32_t)h->n_input;
    g->output = ids_of(l, &in, h->output, h->n_output);
    g->n_output = (uint32_t)h->n_output;
    oc_map_free(&in.names);
    return rc;
}

static int expand_call(struct oc_loader *l, const struct oc_scope *sc, uint32_t node)
{
    const struct oc_function *fn = called_function(l, &l->m->node[node]);
    if (recursive(sc->call, fn))
        return oc_load_fail(l, OC_EFORMAT, fn->view.data, "function '%s' calls itself", fn->name);
    if (sc->depth + 1 > oc_input_limit(l->limits, OC_LIMIT_DEPTH))
        return oc_load_over(l, OC_LIMIT_DEPTH, 0, fn->view.data);
    if (fn->nodes.n > oc_input_limit(l->limits, OC_LIMIT_FUNCTION_NODES) - l->n_expanded)
        return oc_load_over(l, OC_LIMIT_FUNCTION_NODES, 0, fn->view.data);
    l->n_expanded += fn->nodes.n;
    return function_expand(l, sc, node, fn);
}

/* ---- node lists, bodies and graphs ------------------------------------------------------------------ */

static const char *body_scope(struct oc_loader *l, const struct oc_scope *sc, uint32_t owner, uint32_t graph)
{
    const struct oc_node *n = &l->m->node[owner];
    char label[256];
    const char *attr = "";
    for (uint32_t i = 0; i < n->n_attr; i++)
        for (uint32_t k = 0; n->attr[i].graph && k < n->attr[i].n; k++)
            if ((n->attr[i].type == OC_ATTR_GRAPH || n->attr[i].type == OC_ATTR_GRAPHS) &&
                n->attr[i].graph[k] == graph)
                attr = n->attr[i].name;
    const char *up = l->m->graph[sc->graph].scope;
    return oc_printf(&l->m->arena, "%s%s%s/%s", up, up[0] ? "/" : "",
                     oc_node_label(l->m, n, label, sizeof(label)), attr);
}

static int load_bodies(struct oc_loader *l, struct oc_scope *sc, uint32_t first_body)
{
    uint32_t last = l->n_body;
    int rc = 0;
    for (uint32_t i = first_body; i < last && !rc; i++) {
        struct oc_body b = l->body[i];
        struct oc_scope inner = {.up = sc,
                                 .names = {.arena = &l->m->arena},
                                 .graph = b.graph,
                                 .owner = b.owner,
                                 .call = sc->call,
                                 .opsets = sc->opsets,
                                 .depth = sc->depth + 1};
        l->m->graph[b.graph].parent_node = b.owner;
        l->m->graph[b.graph].scope = body_scope(l, sc, b.owner, b.graph);
        rc = oc_load_graph(l, &inner, b.view);
        oc_map_free(&inner.names);
    }
    l->n_body = first_body;
    return rc;
}

/* Reads a few nodes and prefetches the slots of their first outputs before they are defined: in large
 * models most lookups miss the cache. */
static int load_node_list(struct oc_loader *l, struct oc_scope *sc, struct oc_node_list nodes)
{
    enum { TOGETHER = 16 };
    struct oc_node_header h[TOGETHER];
    ProtobufCBinaryData v[TOGETHER];
    for (uint32_t i = 0; i < nodes.n;) {
        uint32_t k = 0;
        l->in.n = l->out.n = l->attributes.n = l->metadata.n = 0;
        for (; k < TOGETHER && i + k < nodes.n; k++) {
            v[k] = oc_node_list_next(&nodes);
            if (oc_node_header_read(l, v[k], &h[k]))
                return -1;
            if (h[k].n_out)
                oc_map_expect(&sc->names, l->out.item[h[k].out].s, l->out.item[h[k].out].n);
        }
        for (uint32_t j = 0; j < k; j++, i++)
            if (load_node(l, sc, &h[j], v[j], i))
                return -1;
    }
    return 0;
}

/* Unpacks nodes into sc->graph, in any order. */
static int load_nodes(struct oc_loader *l, struct oc_scope *sc, const struct oc_node_list *nodes,
                      const uint8_t *at)
{
    uint32_t first = l->m->n_node, first_body = l->n_body, n = nodes->n;
    if (reserve_nodes(l, at, n))
        return -1;
    uint32_t *list = OC_NEW_ARRAY(&l->m->arena, n, uint32_t);
    for (uint32_t i = 0; i < n; i++)
        list[i] = first + i;
    load_graph_reserve(l, sc, n);
    int rc = load_node_list(l, sc, *nodes);
    if (rc == 0)
        rc = resolve_pending(l, sc);
    struct oc_graph *g = &l->m->graph[sc->graph];
    g->node = list;
    g->n_node = n;
    g->unsure_order |= sc->call != NULL; /* values of a call are defined before its nodes */
    if (rc == 0)
        rc = load_bodies(l, sc, first_body);
    for (uint32_t i = 0; i < n && !rc; i++)
        if (l->n_fn && called_function(l, &l->m->node[first + i]))
            rc = expand_call(l, sc, first + i);
    return rc;
}

static int load_outputs(struct oc_loader *l, struct oc_scope *sc, const Oc__Graph *h)
{
    enum { MOST = 200 };
    uint32_t *id = OC_NEW_ARRAY(&l->m->arena, h->n_output, uint32_t);
    for (size_t i = 0; i < h->n_output; i++) {
        const struct oc_header_mark mark = oc_header_mark(l);
        struct oc_type type;
        struct oc_str name;
        if (oc_load_info(l, h->output[i], &name, &type))
            return -1;
        id[i] = resolve(l, sc, name);
        if (id[i] == OC_NONE || id[i] == OC_ABSENT)
            return oc_load_fail(l, OC_EFORMAT, h->output[i].data, "graph output '%.*s' is not defined",
                                name.n < MOST ? (int)name.n : MOST, name.s);
        struct oc_value *value = &l->m->value[id[i]];
        value->graph_output = true;
        if (value->declared->kind == OC_T_NONE)
            declare(l, id[i], &type);
        oc_header_release(l, mark);
    }
    l->m->graph[sc->graph].output = id;
    l->m->graph[sc->graph].n_output = (uint32_t)h->n_output;
    return 0;
}

static int load_infos(struct oc_loader *l, struct oc_scope *sc, const Oc__Graph *h)
{
    uint32_t near = 0; /* they are usually in the order of the nodes */
    for (size_t i = 0; i < h->n_value_info; i++) {
        const struct oc_header_mark mark = oc_header_mark(l);
        struct oc_type type;
        struct oc_str name;
        if (oc_load_info(l, h->value_info[i], &name, &type))
            return -1;
        uint32_t id = oc_map_get_near(&sc->names, name.s, name.n, &near);
        const struct oc_value *value = id < OC_ABSENT ? &l->m->value[id] : NULL;
        bool again = value && value->producer != OC_NONE && !value->graph_output;
        if (value && (again || value->declared->kind == OC_T_NONE)) /* the last one counts, as in runtimes */
            declare(l, id, &type);
        oc_header_release(l, mark);
    }
    return 0;
}

int oc_load_graph(struct oc_loader *l, struct oc_scope *sc, ProtobufCBinaryData v)
{
    const struct oc_header_mark mark = oc_header_mark(l);
    const Oc__Graph *h = oc_header_read(l, &oc__graph__descriptor, v);
    if (!h)
        return -1;
    l->m->graph[sc->graph].name = oc_load_text(l, h->name, strlen(h->name));
    const struct oc_node_list nodes = oc_node_list_of(v, OC_GRAPH_NODES);
    load_graph_reserve(l, sc, h->n_input + h->n_initializer + h->n_sparse_initializer + nodes.n);
    if (load_inputs(l, sc, h) || load_inits(l, sc, h) || load_nodes(l, sc, &nodes, nodes.n ? v.data : NULL) ||
        load_infos(l, sc, h) || load_outputs(l, sc, h))
        return -1;
    oc_header_release(l, mark);
    return 0;
}
