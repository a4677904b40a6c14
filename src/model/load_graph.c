/* GraphProto: 1 node, 2 name, 5 initializer, 11 input, 12 output, 13 value_info, 15 sparse_initializer
 * NodeProto: 1 input, 2 output, 3 name, 4 op_type, 5 attribute, 7 domain, 8 overload, 9 metadata
 *
 * Order of parsing: inputs and initializers define values; nodes define their outputs and look up their
 * inputs; inputs not yet defined are looked up again afterwards, also in outer graphs (so the order of nodes
 * does not matter); then the bodies of its nodes; finally value_info and outputs, which only refer to values.
 */
#include <stdlib.h>
#include <string.h>

#include "model/loader.h"

/* Finds or creates the value of that name in this graph. */
static uint32_t define(struct oc_loader *l, struct oc_scope *sc, const char *s, size_t n, bool *is_new)
{
    uint32_t id = l->m->n_value;
    const char *name = oc_load_keep(l, s, n);
    *is_new = oc_map_add_kept(&sc->names, name, n, &id);
    if (*is_new)
        oc_load_new_value(l, name, sc->graph);
    else
        oc_load_drop(l, n);
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
static void load_graph_reserve(struct oc_loader *l, struct oc_scope *sc, uint32_t n)
{
    oc_map_reserve(&sc->names, n);
    oc_load_reserve_values(l, n);
}

struct views {
    struct oc_view *item;
    uint32_t n, cap;
};

static void views_add(struct views *v, const struct oc_field *f)
{
    OC_GROW(v->item, v->n, v->cap);
    v->item[v->n++] = (struct oc_view){f->data, f->n};
}

struct parts {
    uint32_t n_node;
    struct views init, sparse, input, output, info;
    const char *name;
};

static void parts_free(struct parts *p)
{
    free(p->init.item);
    free(p->sparse.item);
    free(p->input.item);
    free(p->output.item);
    free(p->info.item);
}

static int walk_graph(struct oc_loader *l, struct oc_view v, struct parts *p)
{
    struct oc_wire w = oc_wire_of(v.data, v.n);
    struct oc_field f;
    p->name = "";
    while (oc_wire_next(&w, &f)) {
        if (f.type != OC_WIRE_LEN)
            continue;
        switch (f.num) {
        case 1:
            p->n_node++;
            break;
        case 2:
            p->name = oc_load_text(l, &f);
            break;
        case 5:
            views_add(&p->init, &f);
            break;
        case 11:
            views_add(&p->input, &f);
            break;
        case 12:
            views_add(&p->output, &f);
            break;
        case 13:
            views_add(&p->info, &f);
            break;
        case 15:
            views_add(&p->sparse, &f);
            break;
        default:
            break;
        }
    }
    return oc_load_end(l, &w, "graph");
}

static void declare(struct oc_loader *l, uint32_t value, const struct oc_type *type)
{
    struct oc_type *kept = OC_NEW(&l->m->arena, struct oc_type);
    *kept = *type;
    l->m->value[value].declared = kept;
}

static int load_inputs(struct oc_loader *l, struct oc_scope *sc, const struct views *v)
{
    uint32_t *id = OC_NEW_ARRAY(&l->m->arena, v->n, uint32_t);
    for (uint32_t i = 0; i < v->n; i++) {
        struct oc_view name;
        struct oc_type type;
        bool is_new;
        if (oc_load_value_info(l, v->item[i], &name, &type))
            return -1;
        id[i] = define(l, sc, (const char *)name.data, name.n, &is_new);
        if (!is_new)
            return oc_load_fail(l, OC_EFORMAT, v->item[i].data, "graph input '%s' is defined twice",
                                l->m->value[id[i]].name);
        declare(l, id[i], &type);
        l->m->value[id[i]].graph_input = true;
    }
    l->m->graph[sc->graph].input = id;
    l->m->graph[sc->graph].n_input = v->n;
    return 0;
}

static int load_inits(struct oc_loader *l, struct oc_scope *sc, const struct views *dense,
                      const struct views *sparse)
{
    uint32_t n = dense->n + sparse->n;
    uint32_t *id = OC_NEW_ARRAY(&l->m->arena, n, uint32_t);
    struct oc_tensor *tensor = OC_NEW_ARRAY(&l->m->arena, n, struct oc_tensor);
    for (uint32_t i = 0; i < n; i++) {
        struct oc_view v = i < dense->n ? dense->item[i] : sparse->item[i - dense->n];
        if ((i < dense->n ? oc_load_tensor : oc_load_sparse)(l, v, &tensor[i]))
            return -1;
        const char *name = tensor[i].name;
        bool is_new;
        id[i] = define_kept(l, sc, name, &is_new);
        struct oc_value *value = &l->m->value[id[i]];
        if (value->constant)
            oc_diag_add(&l->m->diags, OC_WARNING, "W-initializer-twice", name, "the the last one wins");
        value->constant = &tensor[i];
        l->m->init_bytes += tensor[i].size_bytes;
    }
    l->m->graph[sc->graph].init = id;
    l->m->graph[sc->graph].n_init = n;
    return 0;
}

static int add_output(struct oc_loader *l, struct oc_scope *sc, const struct oc_field *f, uint32_t node)
{
    struct oc_node_lists *k = &l->lists;
    OC_GROW(k->out, k->n_out, k->cap_out);
    k->out[k->n_out++] = OC_NONE;
    if (f->n > oc_cap(l->caps, OC_CAP_STRING_BYTES))
        return oc_load_over(l, OC_CAP_STRING_BYTES, f->n, f->data);
    if (!f->n)
        return 0;
    bool is_new;
    uint32_t id = define(l, sc, (const char *)f->data, f->n, &is_new);
    if (id == OC_ABSENT)
        return oc_load_fail(l, OC_EFORMAT, f->data, "a node overwrites an input of its function");
    struct oc_value *value = &l->m->value[id];
    /* the call has already defined the outputs of an expanded function and is their producer */
    bool taken = value->producer != OC_NONE && !(sc->call && value->producer == sc->call->node);
    if (!is_new && (taken || value->graph_input || value->constant))
        return oc_load_fail(l, OC_EFORMAT, f->data, "value '%s' is defined twice", value->name);
    value->producer = node;
    k->out[k->n_out - 1] = id;
    return 0;
}

static void load_graph_add_input(struct oc_loader *l, struct oc_scope *sc, const struct oc_field *f,
                                 uint32_t node)
{
    struct oc_node_lists *k = &l->lists;
    uint32_t slot = k->n_in++, id = OC_NONE;
    OC_GROW(k->in, slot, k->cap_in);
    if (f->n)
        id = oc_map_get_near(&sc->names, (const char *)f->data, f->n, &sc->near[slot % OC_NEAR]);
    k->in[slot] = id == OC_ABSENT ? OC_NONE : id;
    if (id < OC_ABSENT) {
        l->m->value[id].n_use++;
    } else if (f->n && id == OC_NONE) {
        OC_GROW(l->later, l->n_later, l->cap_later);
        l->later[l->n_later++] = (struct oc_later){.name = {f->data, f->n}, .node = node, .slot = slot};
    }
}

/* Finds the value, innermost graph first. Reads of outer values are recorded as captures of the outer graph's
 * control-flow node. */
static uint32_t resolve(struct oc_loader *l, const struct oc_scope *sc, struct oc_view name)
{
    uint32_t owner = OC_NONE;
    for (const struct oc_scope *s = sc; s; owner = s->owner, s = s->up) {
        uint32_t id = oc_map_get(&s->names, (const char *)name.data, name.n);
        if (id == OC_NONE)
            continue;
        if (id == OC_ABSENT)
            return id;
        l->m->value[id].n_use++;
        if (owner != OC_NONE) {
            OC_GROW(l->capture, l->n_capture, l->cap_capture);
            l->capture[l->n_capture++] = (struct oc_capture){.node = owner, .value = id};
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

static int load_graph_node_name(struct oc_loader *l, const struct oc_scope *sc, const struct oc_field *f,
                                struct oc_node *n)
{
    if (f->n > oc_cap(l->caps, OC_CAP_STRING_BYTES))
        return oc_load_over(l, OC_CAP_STRING_BYTES, f->n, f->data);
    if (f->n && sc->call)
        n->name = oc_printf(&l->m->arena, "%s%.*s", sc->call->prefix, (int)(f->n < 65536 ? f->n : 65536),
                            (const char *)f->data);
    else
        n->name = f->n ? oc_load_keep(l, f->data, f->n) : "";
    return 0;
}

static int add_attribute(struct oc_loader *l, const struct oc_scope *sc, const struct oc_field *f,
                         uint32_t node)
{
    struct oc_node_lists *k = &l->lists;
    bool dropped;
    OC_GROW(k->attr, k->n_attr, k->cap_attr);
    if (oc_load_attr(l, sc, node, (struct oc_view){f->data, f->n}, &k->attr[k->n_attr], &dropped))
        return -1;
    k->n_attr += !dropped;
    return 0;
}

/* A metadata entry that oc_node_origin reads; 1 is its key. */
static bool names_origin(const struct oc_field *entry)
{
    struct oc_wire w = oc_wire_of(entry->data, entry->n);
    struct oc_field f;
    while (oc_wire_next(&w, &f))
        if (f.num == 1 && f.type == OC_WIRE_LEN)
            return oc_is_origin_key((const char *)f.data, f.n);
    return false;
}

static int node_field(struct oc_loader *l, struct oc_scope *sc, const struct oc_field *f, uint32_t id)
{
    struct oc_node *n = &l->m->node[id];
    switch (f->num) {
    case 1:
        load_graph_add_input(l, sc, f, id);
        return 0;
    case 2:
        return add_output(l, sc, f, id);
    case 3:
        return load_graph_node_name(l, sc, f, n);
    case 4:
        n->op_type = oc_load_text(l, f);
        return 0;
    case 5:
        return add_attribute(l, sc, f, id);
    case 7:
        n->domain = oc_load_text(l, f);
        if (strcmp(n->domain, "ai.onnx") == 0)
            n->domain = "";
        return 0;
    case 8:
        n->overload = oc_load_text(l, f);
        return 0;
    case 9:
        l->m->has_origins = l->m->has_origins || names_origin(f);
        return 0;
    default:
        return 0;
    }
}

static int name_node(struct oc_loader *l, uint32_t id)
{
    const struct oc_node *n = &l->m->node[id];
    char label[128];
    return oc_err_prefix(l->err, "node '%s'%s%s", oc_node_label(l->m, n, label, sizeof(label)),
                         n->op_type[0] ? " of type " : "", n->op_type);
}

/* Trims the collected lists to their length. */
static void keep_lists(struct oc_loader *l, struct oc_node *n)
{
    const struct oc_node_lists *k = &l->lists;
    uint32_t *id = OC_NEW_ARRAY(&l->m->arena, (size_t)k->n_in + k->n_out, uint32_t);
    for (uint32_t i = 0; i < k->n_in; i++)
        id[i] = k->in[i];
    for (uint32_t i = 0; i < k->n_out; i++)
        id[k->n_in + i] = k->out[i];
    n->in = id;
    n->out = id + k->n_in;
    n->n_in = k->n_in;
    n->n_out = k->n_out;
    l->m->most_in = n->n_in > l->m->most_in ? n->n_in : l->m->most_in;
    l->m->most_out = n->n_out > l->m->most_out ? n->n_out : l->m->most_out;
    if (!k->n_attr)
        return;
    struct oc_attr *attr = OC_NEW_ARRAY(&l->m->arena, k->n_attr, struct oc_attr);
    memcpy(attr, k->attr, k->n_attr * sizeof(*attr));
    n->attr = attr;
    n->n_attr = k->n_attr;
}

static int load_node(struct oc_loader *l, struct oc_scope *sc, struct oc_view v, uint32_t id)
{
    l->lists.n_in = l->lists.n_out = l->lists.n_attr = 0;
    struct oc_wire w = oc_wire_of(v.data, v.n);
    struct oc_field f;
    while (oc_wire_next(&w, &f)) {
        if (f.type == OC_WIRE_LEN && node_field(l, sc, &f, id)) {
            while (oc_wire_next(&w, &f)) /* the name follows the inputs */
                if (f.type == OC_WIRE_LEN && (f.num == 3 || f.num == 4))
                    node_field(l, sc, &f, id);
            return name_node(l, id);
        }
    }
    struct oc_node *n = &l->m->node[id];
    keep_lists(l, n);
    n->opset = opset_of(sc->opsets, n->domain);
    return oc_load_end(l, &w, "node");
}

/* Looks up inputs that were not defined when their node was read. */
static int find_later(struct oc_loader *l, const struct oc_scope *sc)
{
    for (uint32_t i = 0; i < l->n_later; i++) {
        const struct oc_later *k = &l->later[i];
        uint32_t id = resolve(l, sc, k->name);
        if (id == OC_NONE) {
            oc_load_fail(l, OC_EFORMAT, k->name.data, "input '%.*s' is not defined", oc_load_shown(k->name),
                         (const char *)k->name.data);
            return name_node(l, k->node);
        }
        if (id != OC_ABSENT)
            ((uint32_t *)l->m->node[k->node].in)[k->slot] = id;
        l->m->graph[sc->graph].unsure_order |= id != OC_ABSENT && l->m->value[id].graph == sc->graph;
    }
    l->n_later = 0;
    return 0;
}

enum { MANY_NODES = 1 << 14 }; /* their names exceed the processor's cache */

/* Reserves room for n more; v is the current array. */
static int reserve_nodes(struct oc_loader *l, struct oc_view v, uint32_t n)
{
    struct oc_model *m = l->m;
    const uint8_t *at = n ? v.data : NULL;
    if (n > oc_cap(l->caps, OC_CAP_NODES) - m->n_node)
        return oc_load_over(l, OC_CAP_NODES, (uint64_t)m->n_node + n, at);
    if (m->arena.used_bytes > oc_cap(l->caps, OC_CAP_MODEL_MEMORY))
        return oc_load_over(l, OC_CAP_MODEL_MEMORY, 0, at);
    uint32_t need = m->n_node + n;
    if (need > l->cap_node) {
        uint32_t cap = l->cap_node * 2 > need ? l->cap_node * 2 : need;
        m->node = oc_xrealloc(m->node, (size_t)cap * sizeof(*m->node));
        l->cap_node = cap;
    }
    return 0;
}

static int new_node(struct oc_loader *l, struct oc_scope *sc, struct oc_view v, uint32_t file_index)
{
    uint32_t id = l->m->n_node++;
    l->m->node[id] = (struct oc_node){.name = "",
                                      .op_type = "",
                                      .domain = "",
                                      .overload = "",
                                      .graph = sc->graph,
                                      .body = OC_NONE,
                                      .file_index = file_index,
                                      .where = oc_load_offset(l, v.data),
                                      .n_bytes = v.n <= UINT32_MAX ? (uint32_t)v.n : 0};
    return load_node(l, sc, v, id);
}

/* Prefetches the slot of the next node's first output: in large models most lookups miss the cache. */
static void prefetch_outputs(const struct oc_scope *sc, struct oc_wire rest, uint32_t field)
{
    struct oc_field f;
    if (!oc_wire_next(&rest, &f) || f.num != field || f.type != OC_WIRE_LEN)
        return;
    struct oc_wire w = oc_wire_of(f.data, f.n);
    while (oc_wire_next(&w, &f) && f.num <= 2)
        if (f.num == 2 && f.type == OC_WIRE_LEN) {
            oc_map_expect(&sc->names, (const char *)f.data, f.n);
            return;
        }
}

static int load_bodies(struct oc_loader *l, struct oc_scope *sc, uint32_t first_body);

int oc_load_nodes(struct oc_loader *l, struct oc_scope *sc, struct oc_view v, uint32_t field, uint32_t n)
{
    uint32_t first = l->m->n_node, first_body = l->n_body;
    if (reserve_nodes(l, v, n))
        return -1;
    uint32_t *list = OC_NEW_ARRAY(&l->m->arena, n, uint32_t);
    for (uint32_t i = 0; i < n; i++)
        list[i] = first + i;
    load_graph_reserve(l, sc, n);
    struct oc_wire w = oc_wire_of(v.data, v.n);
    struct oc_field f;
    int rc = 0;
    for (uint32_t i = 0; i < n && !rc && oc_wire_next(&w, &f);)
        if (f.num == field && f.type == OC_WIRE_LEN) {
            if (n >= MANY_NODES)
                prefetch_outputs(sc, w, field);
            rc = new_node(l, sc, (struct oc_view){f.data, f.n}, i++);
        }
    if (rc == 0)
        rc = find_later(l, sc);
    l->m->graph[sc->graph].node = list;
    l->m->graph[sc->graph].n_node = n;
    l->m->graph[sc->graph].unsure_order |=
        sc->call != NULL; /* values of a call are defined before its nodes */
    if (rc == 0)
        rc = load_bodies(l, sc, first_body);
    for (uint32_t i = 0; i < n && !rc; i++)
        if (l->n_fn && oc_function_of(l, &l->m->node[first + i]))
            rc = oc_expand_call(l, sc, first + i);
    return rc;
}

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

static int load_outputs(struct oc_loader *l, struct oc_scope *sc, const struct views *v)
{
    uint32_t *id = OC_NEW_ARRAY(&l->m->arena, v->n, uint32_t);
    for (uint32_t i = 0; i < v->n; i++) {
        struct oc_view name;
        struct oc_type type;
        if (oc_load_value_info(l, v->item[i], &name, &type))
            return -1;
        id[i] = resolve(l, sc, name);
        if (id[i] == OC_NONE || id[i] == OC_ABSENT)
            return oc_load_fail(l, OC_EFORMAT, v->item[i].data, "graph output '%.*s' is not defined",
                                oc_load_shown(name), (const char *)name.data);
        struct oc_value *value = &l->m->value[id[i]];
        value->graph_output = true;
        if (value->declared->kind == OC_T_NONE)
            declare(l, id[i], &type);
    }
    l->m->graph[sc->graph].output = id;
    l->m->graph[sc->graph].n_output = v->n;
    return 0;
}

static int load_infos(struct oc_loader *l, struct oc_scope *sc, const struct views *v)
{
    uint32_t near = 0; /* they are usually in the order of the nodes */
    for (uint32_t i = 0; i < v->n; i++) {
        struct oc_view name;
        struct oc_type type;
        if (oc_load_value_info(l, v->item[i], &name, &type))
            return -1;
        uint32_t id = oc_map_get_near(&sc->names, (const char *)name.data, name.n, &near);
        if (id < OC_ABSENT && l->m->value[id].declared->kind == OC_T_NONE)
            declare(l, id, &type);
    }
    return 0;
}

int oc_load_graph(struct oc_loader *l, struct oc_scope *sc, struct oc_view v)
{
    struct parts p = {.name = ""};
    int rc = walk_graph(l, v, &p);
    l->m->graph[sc->graph].name = p.name;
    if (rc == 0)
        load_graph_reserve(l, sc, p.input.n + p.init.n + p.sparse.n + p.n_node);
    if (rc == 0)
        rc = load_inputs(l, sc, &p.input);
    if (rc == 0)
        rc = load_inits(l, sc, &p.init, &p.sparse);
    if (rc == 0)
        rc = oc_load_nodes(l, sc, v, 1, p.n_node);
    if (rc == 0)
        rc = load_infos(l, sc, &p.info);
    if (rc == 0)
        rc = load_outputs(l, sc, &p.output);
    parts_free(&p);
    return rc;
}
