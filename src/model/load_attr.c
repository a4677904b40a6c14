/* AttributeProto to struct oc_attr: numbers and strings are copied, tensors are views, graphs are loaded
 * later. */
#include <string.h>

#include "base/map.h"
#include "model/loader.h"

/* The type, or that of the last member of a file of IR version 1 or 2, which have no type. */
static uint8_t attribute_type(const Oc__Attribute *h)
{
    const struct {
        bool set;
        uint8_t type;
    } member[] = {{h->has_f, OC_ATTR_FLOAT},
                  {h->has_i, OC_ATTR_INT},
                  {h->has_s, OC_ATTR_STRING},
                  {h->has_t, OC_ATTR_TENSOR},
                  {h->has_g, OC_ATTR_GRAPH},
                  {h->n_floats > 0, OC_ATTR_FLOATS},
                  {h->n_ints > 0, OC_ATTR_INTS},
                  {h->n_strings > 0, OC_ATTR_STRINGS},
                  {h->n_tensors > 0, OC_ATTR_TENSORS},
                  {h->n_graphs > 0, OC_ATTR_GRAPHS},
                  {h->has_tp, OC_ATTR_TYPE_PROTO},
                  {h->n_type_protos > 0, OC_ATTR_TYPE_PROTOS},
                  {h->has_sparse_tensor, OC_ATTR_SPARSE_TENSOR},
                  {h->n_sparse_tensors > 0, OC_ATTR_SPARSE_TENSORS}};
    uint32_t type = (uint32_t)h->type;
    for (size_t i = 0; !h->type && i < OC_COUNT(member); i++)
        if (member[i].set)
            type = member[i].type;
    return type <= OC_ATTR_TYPE_PROTOS ? (uint8_t)type : OC_ATTR_NONE;
}

static struct oc_bytes load_bytes(struct oc_loader *l, ProtobufCBinaryData v)
{
    const char *s = v.len ? oc_strndup(&l->m->arena, (const char *)v.data, v.len) : "";
    return (struct oc_bytes){.s = s, .n = v.len};
}

static const struct oc_bytes *load_strings(struct oc_loader *l, const Oc__Attribute *h)
{
    struct oc_bytes *list = OC_NEW_ARRAY(&l->m->arena, h->n_strings, struct oc_bytes);
    for (size_t i = 0; i < h->n_strings; i++)
        list[i] = load_bytes(l, h->strings[i]);
    return list;
}

/* The tensors of the four members. */
static int load_tensors(struct oc_loader *l, const Oc__Attribute *h, struct oc_attr *out)
{
    const struct {
        const ProtobufCBinaryData *view;
        size_t n;
        int (*load)(struct oc_loader *, ProtobufCBinaryData, struct oc_tensor *);
    } member[] = {{&h->t, h->has_t ? 1U : 0U, oc_load_tensor},
                  {h->tensors, h->n_tensors, oc_load_tensor},
                  {&h->sparse_tensor, h->has_sparse_tensor ? 1U : 0U, oc_load_sparse},
                  {h->sparse_tensors, h->n_sparse_tensors, oc_load_sparse}};
    size_t n = member[0].n + member[1].n + member[2].n + member[3].n;
    struct oc_tensor *list = OC_NEW_ARRAY(&l->m->arena, n, struct oc_tensor);
    out->tensors_or_null = n ? list : NULL;
    out->n = (uint32_t)n;
    for (size_t i = 0; i < OC_COUNT(member); i++)
        for (size_t k = 0; k < member[i].n; k++)
            if (member[i].load(l, member[i].view[k], list++))
                return -1;
    return 0;
}

/* Numbers the graphs; they are loaded after the graph of the node. */
static int load_graphs(struct oc_loader *l, const struct oc_scope *sc, uint32_t owner, const Oc__Attribute *h,
                       struct oc_attr *out)
{
    size_t n = h->n_graphs + (h->has_g ? 1U : 0U);
    uint32_t *list = n ? OC_NEW_ARRAY(&l->m->arena, n, uint32_t) : NULL;
    out->graph = list;
    out->n = (uint32_t)n;
    for (size_t i = 0; i < n; i++) {
        ProtobufCBinaryData v = i < h->n_graphs ? h->graphs[i] : h->g;
        if (sc->depth + 1 > oc_input_limit(l->limits, OC_LIMIT_DEPTH))
            return oc_load_over(l, OC_LIMIT_DEPTH, 0, v.data);
        list[i] = oc_load_new_graph(l);
        OC_PUSH(l->body, l->n_body, l->cap_body) =
            (struct oc_body){.view = v, .graph = list[i], .owner = owner};
    }
    return 0;
}

/* Inside a function body: resolves a reference to the call's attribute, or to the function's default. */
static int resolve_reference(struct oc_loader *l, const struct oc_scope *sc, uint32_t owner, const char *ref,
                             struct oc_attr *out, bool *dropped)
{
    const struct oc_call *call = sc->call;
    const struct oc_attr *given = oc_node_attr(&l->m->node[call->node], ref);
    const Oc__Function *fn = call->fn->header;
    const char *name = out->name;
    *dropped = !given;
    if (given)
        *out = *given;
    for (size_t i = 0; !given && i < fn->n_attribute_proto; i++) {
        const Oc__Attribute *h = oc_header_read(l, &oc__attribute__descriptor, fn->attribute_proto[i]);
        if (!h)
            return -1;
        if (strcmp(h->name, ref) != 0 || h->ref_attr_name[0])
            continue;
        if (oc_load_attr(l, sc, owner, fn->attribute_proto[i], out, dropped))
            return -1;
        break;
    }
    out->name = name;
    return 0;
}

static int load_members(struct oc_loader *l, const struct oc_scope *sc, uint32_t owner,
                        const Oc__Attribute *h, struct oc_attr *out)
{
    static const int64_t no_ints[1];
    static const float no_floats[1];
    static const struct oc_bytes no_strings[1];
    struct oc_arena *arena = &l->m->arena;
    out->type = attribute_type(h);
    out->n = 1;
    out->f = h->f;
    out->i = h->i;
    out->s = load_bytes(l, h->s);
    out->ints = h->n_ints ? OC_COPY_ARRAY(arena, h->ints, h->n_ints) : no_ints;
    out->floats = h->n_floats ? OC_COPY_ARRAY(arena, h->floats, h->n_floats) : no_floats;
    out->strings = h->n_strings ? load_strings(l, h) : no_strings;
    switch (out->type) {
    case OC_ATTR_FLOATS:
        out->n = (uint32_t)h->n_floats;
        return 0;
    case OC_ATTR_INTS:
        out->n = (uint32_t)h->n_ints;
        return 0;
    case OC_ATTR_STRINGS:
        out->n = (uint32_t)h->n_strings;
        return 0;
    case OC_ATTR_TENSOR:
    case OC_ATTR_TENSORS:
    case OC_ATTR_SPARSE_TENSOR:
    case OC_ATTR_SPARSE_TENSORS:
        return load_tensors(l, h, out);
    case OC_ATTR_GRAPH:
    case OC_ATTR_GRAPHS:
        return load_graphs(l, sc, owner, h, out);
    default:
        return 0;
    }
}

/* Where the cache has the message, if at all; NULL: it is too long. */
static struct oc_recent_attr *recent_attribute(struct oc_loader *l, ProtobufCBinaryData v)
{
    static const struct oc_hash_secret none = {{0x9e3779b97f4a7c15u, 0xbf58476d1ce4e5b9u}};
    if (!v.len || v.len > sizeof(l->recent_attr->message))
        return NULL;
    oc_os_need(v.data, v.len);
    return &l->recent_attr[oc_hash(&none, (const char *)v.data, v.len) % OC_COUNT(l->recent_attr)];
}

int oc_load_attr(struct oc_loader *l, const struct oc_scope *sc, uint32_t owner, ProtobufCBinaryData v,
                 struct oc_attr *out, bool *dropped)
{
    struct oc_recent_attr *recent = recent_attribute(l, v);
    *dropped = false;
    if (recent && recent->n == v.len && memcmp(recent->message, v.data, v.len) == 0) {
        *out = recent->attr;
        return 0;
    }
    struct oc_header_mark mark = oc_header_mark(l);
    const Oc__Attribute *h = oc_header_read(l, &oc__attribute__descriptor, v);
    if (!h)
        return -1;
    *out = (struct oc_attr){.name = oc_load_text(l, h->name, strlen(h->name))};
    int rc = h->ref_attr_name[0] && sc->call ? resolve_reference(l, sc, owner, h->ref_attr_name, out, dropped)
                                             : load_members(l, sc, owner, h, out);
    if (rc == 0 && recent && !h->ref_attr_name[0] && !out->tensors_or_null && !out->graph) {
        memcpy(recent->message, v.data, v.len);
        recent->n = v.len;
        recent->attr = *out;
    }
    oc_header_release(l, mark);
    return rc;
}
