/* Loads an ONNX file into struct oc_model. The file is mapped; weights become views and are never read.
 * Messages are unpacked one at a time by load_message.c, attributes here; node lists that are out of order are
 * sorted. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/ck.h"
#include "base/file.h"
#include "base/map.h"
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

const char *oc_load_text(struct oc_loader *l, const char *text, size_t n)
{
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

/* ---- topological order -------------------------------------------------------------------------------- */

/* The ONNX specification requires node lists to be in topological order; lists that are not are sorted stably
 * (lowest file position first), with a warning. */

/* The node of graph `g` that produces the value (bodies and calls count as their owner), or OC_NONE. */
static uint32_t producer_in(const struct oc_model *m, uint32_t value, uint32_t g)
{
    uint32_t node = m->value[value].producer;
    while (node != OC_NONE && m->node[node].graph != g)
        node = m->graph[m->node[node].graph].parent_node;
    return node;
}

struct edges { /* (producer, consumer) pairs inside one graph, as positions in its node list */
    uint32_t *from, *to;
    uint32_t n, cap_from, cap_to;
};

static void add_edge(struct edges *e, uint32_t from, uint32_t to)
{
    uint32_t n = e->n;
    OC_GROW(e->from, n, e->cap_from);
    OC_GROW(e->to, n, e->cap_to);
    e->from[n] = from;
    e->to[n] = to;
    e->n++;
}

/* Whether every node comes after the producers of its inputs. */
static bool is_ordered(const struct oc_model *m, const struct oc_graph *g, uint32_t graph)
{
    for (uint32_t i = 0; i < g->n_node; i++) {
        const struct oc_node *n = &m->node[g->node[i]];
        for (uint32_t k = 0; k < n->n_in; k++) {
            if (n->in[k] == OC_NONE)
                continue;
            uint32_t p = m->value[n->in[k]].producer;
            if (p != OC_NONE && m->node[p].graph != graph)
                p = producer_in(m, n->in[k], graph);
            if (p != OC_NONE && p >= g->node[i])
                return false;
        }
    }
    return true;
}

/* A binary min-heap of positions. */
static void heap_push(uint32_t *heap, uint32_t *n, uint32_t v)
{
    uint32_t i = (*n)++;
    for (; i && heap[(i - 1) / 2] > v; i = (i - 1) / 2)
        heap[i] = heap[(i - 1) / 2];
    heap[i] = v;
}

static uint32_t heap_pop(uint32_t *heap, uint32_t *n)
{
    uint32_t top = heap[0], last = heap[--*n], i = 0;
    for (;;) {
        uint32_t child = 2 * i + 1;
        if (child >= *n)
            break;
        if (child + 1 < *n && heap[child + 1] < heap[child])
            child++;
        if (heap[child] >= last)
            break;
        heap[i] = heap[child];
        i = child;
    }
    if (*n)
        heap[i] = last;
    return top;
}

OC_BY_TWO(by_node, struct oc_capture, node, value)

/* Edges of the inputs of each node, and of the outer values that its bodies read. */
static void collect_edges(const struct oc_loader *l, uint32_t graph, struct edges *e)
{
    const struct oc_model *m = l->m;
    const struct oc_graph *g = &m->graph[graph];
    uint32_t first = g->n_node ? g->node[0] : 0; /* node ids of a graph are consecutive */
    for (uint32_t i = 0; i < g->n_node; i++) {
        const struct oc_node *n = &m->node[g->node[i]];
        for (uint32_t k = 0; k < n->n_in; k++) {
            uint32_t p = n->in[k] == OC_NONE ? OC_NONE : producer_in(m, n->in[k], graph);
            if (p != OC_NONE)
                add_edge(e, p - first, i);
        }
    }
    for (uint32_t i = oc_first_capture(l->capture, l->n_capture, first); i < l->n_capture; i++) {
        uint32_t owner = l->capture[i].node;
        if (owner - first >= g->n_node)
            break;
        uint32_t p = producer_in(m, l->capture[i].value, graph);
        if (p != OC_NONE)
            add_edge(e, p - first, owner - first);
    }
}

/* Kahn's algorithm; order[] receives positions. Returns the number of nodes ordered; fewer than all mean a
 * cycle: the next in order[] is the first node in it or after it. */
static uint32_t kahn(const struct edges *e, uint32_t n, uint32_t *order)
{
    uint32_t *start = oc_xcalloc((size_t)n + 2, sizeof(*start)), *missing = oc_xcalloc(n, sizeof(*missing));
    uint32_t *next = oc_xmalloc((size_t)e->n * sizeof(*next)), *heap = oc_xmalloc((size_t)n * sizeof(*heap));
    for (uint32_t i = 0; i < e->n; i++) {
        start[e->from[i] + 2]++;
        missing[e->to[i]]++;
    }
    for (uint32_t i = 2; i < n + 2; i++)
        start[i] += start[i - 1];
    for (uint32_t i = 0; i < e->n; i++)
        next[start[e->from[i] + 1]++] = e->to[i];
    uint32_t n_heap = 0, done = 0;
    for (uint32_t i = 0; i < n; i++)
        if (!missing[i])
            heap_push(heap, &n_heap, i);
    while (n_heap) {
        uint32_t i = heap_pop(heap, &n_heap);
        order[done++] = i;
        for (uint32_t k = start[i]; k < start[i + 1]; k++)
            if (--missing[next[k]] == 0)
                heap_push(heap, &n_heap, next[k]);
    }
    for (uint32_t i = n; i-- > 0 && done < n;)
        order[done] = missing[i] ? i : order[done];
    free(start);
    free(missing);
    free(next);
    free(heap);
    return done;
}

static int order_graph(struct oc_loader *l, uint32_t graph)
{
    struct oc_model *m = l->m;
    struct oc_graph *g = &m->graph[graph];
    struct edges e = {0};
    collect_edges(l, graph, &e);
    uint32_t *order = OC_NEW_ARRAY(&m->arena, g->n_node, uint32_t);
    uint32_t done = kahn(&e, g->n_node, order), first = g->n_node ? g->node[0] : 0;
    free(e.from);
    free(e.to);
    if (done < g->n_node) {
        char label[256];
        const struct oc_node *n = &m->node[first + order[done]];
        return oc_load_fail(l, OC_EFORMAT, l->base + n->where, "the graph has a cycle through node '%s'",
                            oc_node_label(m, n, label, sizeof(label)));
    }
    bool moved = false;
    for (uint32_t i = 0; i < g->n_node; i++) {
        moved |= order[i] != i;
        order[i] += first;
    }
    if (moved)
        oc_diag_add(&m->diags, OC_WARNING, "W-order", g->scope, "nodes are not in topological order: sorted");
    g->node = order;
    return 0;
}

/* Finds graphs with bodies whose captures are produced too late, in one pass over all captures. */
static void mark_late_captures(const struct oc_loader *l, bool *sort)
{
    const struct oc_model *m = l->m;
    for (uint32_t i = 0; i < l->n_capture; i++) {
        uint32_t owner = l->capture[i].node, graph = m->node[owner].graph;
        uint32_t p = producer_in(m, l->capture[i].value, graph);
        if (p != OC_NONE && p >= owner)
            sort[graph] = true;
    }
}

/* Sorts the node lists of all graphs topologically; a cycle is an error. */
static int order_graphs(struct oc_loader *l)
{
    if (l->n_capture)
        qsort(l->capture, l->n_capture, sizeof(*l->capture), by_node);
    bool *sort = oc_xcalloc(l->m->n_graph, 1);
    mark_late_captures(l, sort);
    int rc = 0;
    for (uint32_t i = 0; i < l->m->n_graph && !rc; i++)
        if (sort[i] || (l->m->graph[i].unsure_order && !is_ordered(l->m, &l->m->graph[i], i)))
            rc = order_graph(l, i);
    free(sort);
    return rc;
}

/* ---- attributes --------------------------------------------------------------------------------------- */

/* Numbers and strings are copied, tensors are views, graphs are loaded later. */

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
    bool other = (!h || !h->has_graph) && oc_recognize(l->m->path, v.data, v.len);
    if (other || (h && !h->has_graph && !h->ir_version))
        not_a_model(l, v, NULL, "");
    else if (!h && oc_wire_is_cut(&w))
        oc_load_fail(
            l, OC_EFORMAT, w.bad,
            "a field is longer than the rest of the file: is it truncated? Download or export it again");
    else if (h && !h->has_graph)
        oc_load_fail(l, OC_EFORMAT, NULL, "the model has no graph");
    return h && h->has_graph ? h : NULL;
}

static int load_imports(struct oc_loader *l, const Oc__Model *h, const uint8_t *at)
{
    size_t n = h->n_opset_import;
    struct oc_opset *set = oc_load_opsets(l, h->opset_import, &n, at);
    if (!set)
        return -1;
    if (n == 0) {
        if (l->m->ir_version >= 3)
            return oc_load_fail(l, OC_EFORMAT, NULL, "no opset import (is the file truncated?)");
        set[n++] = (struct oc_opset){.domain = "", .version = 1}; /* IR 1 and 2 had no opset imports */
    }
    l->m->opset = set;
    l->m->n_opset = (uint32_t)n;
    l->opsets = (struct oc_opset_list){.item = set, .n = (uint32_t)n};
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
    l->m->producer_name = oc_load_text(l, h->producer_name, strlen(h->producer_name));
    l->m->producer_version = oc_load_text(l, h->producer_version, strlen(h->producer_version));
    if (load_imports(l, h, v.data) || oc_load_functions(l, h))
        return -1;
    struct oc_scope main_scope = {.names = {.arena = &l->m->arena}, .owner = OC_NONE, .opsets = &l->opsets};
    main_scope.graph = oc_load_new_graph(l);
    int rc = oc_load_graph(l, &main_scope, h->graph);
    oc_map_free(&main_scope.names);
    return rc ? rc : order_graphs(l);
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
    if (m->file.size_bytes >= MOSTLY_WEIGHTS_BYTES)
        oc_file_forget(&m->file, 0, m->file.size_bytes); /* pages of headers, which are not read again */
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
    OC_ENTRY(err);
    struct oc_model *m = new_model(path);
    const char *inside = oc_model_of_folder(path, &m->arena);
    m->path = inside ? inside : m->path;
    int rc = OC_OPTIONS(&m->limits, limits, err) || open_model(m, err) || do_load(m, err) ? -1 : 0;
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
    OC_ENTRY(err);
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
