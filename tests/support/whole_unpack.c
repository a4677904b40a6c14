#include "support/whole_unpack.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/wire.h"
#include "onnx.pb-c.h"

struct side {
    const struct oc_model *m;
    char *text;
    size_t n;
    bool differs;
};

static bool differ(struct side *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static bool differ(struct side *s, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    if (!s->differs)
        vsnprintf(s->text, s->n, fmt, ap);
    va_end(ap);
    s->differs = true;
    return false;
}

static bool same_text(const char *ours, const char *theirs)
{
    return strcmp(ours, theirs ? theirs : "") == 0;
}

static bool same_bytes(const struct oc_bytes *ours, const ProtobufCBinaryData *theirs)
{
    return ours->n == theirs->len && (ours->n == 0 || memcmp(ours->s, theirs->data, ours->n) == 0);
}

static bool same_domain(const char *ours, const char *theirs)
{
    return same_text(ours, theirs && strcmp(theirs, "ai.onnx") == 0 ? "" : theirs);
}

/* ---- types ------------------------------------------------------------------------------------------ */

static bool same_shape(const struct oc_model *m, const struct oc_shape *ours,
                       const Onnx__TensorShapeProto *theirs)
{
    bool same = ours->ranked == (theirs != NULL) && (!theirs || ours->rank == theirs->n_dim);
    for (size_t i = 0; theirs && same && i < theirs->n_dim; i++) {
        const Onnx__TensorShapeProto__Dimension *d = theirs->dim[i];
        struct oc_dim o = ours->dim[i];
        if (d->dim_param && d->has_dim_value)
            continue; /* the schema does not say which was last */
        if (d->dim_param && d->dim_param[0])
            same = o.expr > 0 && o.expr <= m->n_symbol && same_text(m->symbol[o.expr - 1], d->dim_param);
        else
            same = o.expr == 0 && o.v == (d->has_dim_value && d->dim_value >= 0 ? d->dim_value : -1);
    }
    return same;
}

static bool same_dtype(unsigned ours, int32_t theirs)
{
    return ours == (theirs >= 0 && theirs < OC_DT_COUNT ? (unsigned)theirs : OC_DT_UNDEFINED);
}

static int type_members(const Onnx__TypeProto *t)
{
    return t ? !!t->tensor_type + !!t->sparse_tensor_type + !!t->sequence_type + !!t->optional_type +
                   !!t->map_type
             : 0;
}

static bool same_type(const struct oc_model *m, const struct oc_type *ours, const Onnx__TypeProto *t)
{
    if (type_members(t) != 1)
        return type_members(t) > 1 || ours->kind == OC_T_NONE; /* the schema does not say which was last */
    switch (ours->kind) {
    case OC_T_TENSOR:
        return t->tensor_type && same_dtype(ours->dtype, t->tensor_type->elem_type) &&
               same_shape(m, &ours->shape, t->tensor_type->shape);
    case OC_T_SPARSE:
        return t->sparse_tensor_type && same_dtype(ours->dtype, t->sparse_tensor_type->elem_type) &&
               same_shape(m, &ours->shape, t->sparse_tensor_type->shape);
    case OC_T_SEQUENCE:
        return t->sequence_type && same_type(m, ours->elem, t->sequence_type->elem_type);
    case OC_T_OPTIONAL:
        return t->optional_type && same_type(m, ours->elem, t->optional_type->elem_type);
    case OC_T_MAP:
        return t->map_type && same_dtype(ours->dtype, t->map_type->key_type) &&
               same_type(m, ours->elem, t->map_type->value_type);
    default:
        return false;
    }
}

/* ---- tensors ---------------------------------------------------------------------------------------- */

static bool same_tensor(const struct oc_tensor *ours, const Onnx__TensorProto *theirs)
{
    bool same = same_text(ours->name, theirs->name) && same_dtype(ours->dtype, theirs->data_type) &&
                ours->rank == theirs->n_dims;
    for (size_t i = 0; same && i < theirs->n_dims; i++)
        same = ours->dim[i] == theirs->dims[i];
    bool external = theirs->data_location == 1;
    if (!same || external || ours->storage == OC_STORE_EXTERNAL)
        return same && external == (ours->storage == OC_STORE_EXTERNAL);
    if (theirs->has_raw_data || ours->storage == OC_STORE_RAW)
        return theirs->has_raw_data && ours->storage == OC_STORE_RAW &&
               ours->size_bytes == theirs->raw_data.len &&
               (ours->size_bytes == 0 || memcmp(ours->data, theirs->raw_data.data, ours->size_bytes) == 0);
    bool lists = theirs->n_float_data || theirs->n_int32_data || theirs->n_int64_data ||
                 theirs->n_string_data || theirs->n_double_data || theirs->n_uint64_data;
    return !lists || ours->storage == OC_STORE_FIELDS; /* an empty packed list is also stored in fields */
}

static bool same_sparse(const struct oc_tensor *ours, const Onnx__SparseTensorProto *theirs)
{
    const Onnx__TensorProto none = ONNX__TENSOR_PROTO__INIT;
    bool same = ours->storage == OC_STORE_SPARSE && ours->rank == theirs->n_dims &&
                same_tensor(ours->values, theirs->values ? theirs->values : &none) &&
                same_tensor(ours->indices, theirs->indices ? theirs->indices : &none);
    for (size_t i = 0; same && i < theirs->n_dims; i++)
        same = ours->dim[i] == theirs->dims[i];
    return same;
}

/* ---- nodes ------------------------------------------------------------------------------------------ */

static bool same_graph(struct side *s, uint32_t graph, const Onnx__GraphProto *g);

static bool same_numbers(const struct oc_attr *a, const Onnx__AttributeProto *p)
{
    switch (a->type) {
    case OC_ATTR_FLOAT:
        return memcmp(&a->f, &p->f, sizeof(a->f)) == 0;
    case OC_ATTR_INT:
        return a->i == p->i;
    case OC_ATTR_FLOATS:
        return a->n == p->n_floats && (!a->n || memcmp(a->floats, p->floats, a->n * sizeof(*a->floats)) == 0);
    default:
        return a->n == p->n_ints && (!a->n || memcmp(a->ints, p->ints, a->n * sizeof(*a->ints)) == 0);
    }
}

static bool same_attr(struct side *s, const struct oc_attr *a, const Onnx__AttributeProto *p)
{
    if (!same_text(a->name, p->name) || (p->type && a->type != (unsigned)p->type && (unsigned)p->type <= 14))
        return false;
    bool same = true;
    switch (a->type) {
    case OC_ATTR_FLOAT:
    case OC_ATTR_INT:
    case OC_ATTR_FLOATS:
    case OC_ATTR_INTS:
        return same_numbers(a, p);
    case OC_ATTR_STRING:
        return same_bytes(&a->s, &p->s);
    case OC_ATTR_STRINGS:
        same = a->n == p->n_strings;
        for (size_t i = 0; same && i < p->n_strings; i++)
            same = same_bytes(&a->strings[i], &p->strings[i]);
        return same;
    case OC_ATTR_TENSOR:
        return !p->t ? !oc_attr_tensor_at(a, 0) || p->n_tensors || p->sparse_tensor || p->n_sparse_tensors
                     : same_tensor(oc_attr_tensor_at(a, 0), p->t);
    case OC_ATTR_SPARSE_TENSOR:
        return !p->sparse_tensor || p->t || p->n_tensors ||
               same_sparse(oc_attr_tensor_at(a, 0), p->sparse_tensor);
    case OC_ATTR_GRAPH:
        return p->n_graphs || !p->g || (a->n == 1 && same_graph(s, a->graph[0], p->g));
    case OC_ATTR_GRAPHS:
        same = p->g || a->n == p->n_graphs;
        for (size_t i = 0; same && !p->g && i < p->n_graphs; i++)
            same = same_graph(s, a->graph[i], p->graphs[i]);
        return same;
    default:
        return true;
    }
}

static bool same_values(const struct oc_model *m, const uint32_t *ours, uint32_t n_ours, char *const *theirs,
                        size_t n)
{
    bool same = n_ours == n;
    for (size_t i = 0; same && i < n; i++)
        same = ours[i] == OC_NONE ? theirs[i][0] == '\0' : same_text(m->value[ours[i]].name, theirs[i]);
    return same;
}

static bool same_node(struct side *s, const struct oc_node *n, const Onnx__NodeProto *p)
{
    if (!same_text(n->name, p->name) || !same_text(n->op_type, p->op_type) ||
        !same_domain(n->domain, p->domain) || !same_text(n->overload, p->overload))
        return differ(s, "node %u: name or type", (unsigned)n->file_index);
    if (!same_values(s->m, n->in, n->n_in, p->input, p->n_input))
        return differ(s, "node '%s': inputs", n->name);
    /* of a Constant that is defined again, the last one has the output */
    bool replaced = oc_node_is_constant(n) && n->n_out == 1 && n->out[0] == OC_NONE;
    if (!replaced && !same_values(s->m, n->out, n->n_out, p->output, p->n_output))
        return differ(s, "node '%s': outputs", n->name);
    if (n->n_attr != p->n_attribute)
        return differ(s, "node '%s': number of attributes", n->name);
    for (size_t i = 0; i < p->n_attribute; i++)
        if (!same_attr(s, &n->attr[i], p->attribute[i]))
            return differ(s, "node '%s': attribute '%s'", n->name, n->attr[i].name);
    return true;
}

/* ---- graphs ----------------------------------------------------------------------------------------- */

/* The first declaration with a type counts: inputs, value_info, outputs. */
static bool same_declarations(struct side *s, uint32_t graph, const Onnx__GraphProto *g)
{
    const struct oc_model *m = s->m;
    struct oc_arena arena = {0};
    struct oc_map id = {.arena = &arena};
    for (uint32_t i = 0; i < m->n_value; i++)
        if (m->value[i].graph == graph)
            oc_map_set(&id, m->value[i].name, strlen(m->value[i].name), i);
    bool *seen = OC_NEW_ARRAY(&arena, m->n_value, bool), same = true;
    for (size_t i = 0; same && i < g->n_input + g->n_value_info + g->n_output; i++) {
        size_t info = i - g->n_input, output = info - g->n_value_info;
        const Onnx__ValueInfoProto *v = i < g->n_input           ? g->input[i]
                                        : info < g->n_value_info ? g->value_info[info]
                                                                 : g->output[output];
        uint32_t at = v->name ? oc_map_get(&id, v->name, strlen(v->name)) : OC_NONE;
        if (at == OC_NONE || seen[at] || !type_members(v->type))
            continue;
        seen[at] = true;
        if (!same_type(m, m->value[at].declared, v->type))
            same = differ(s, "type of value '%s'", v->name);
    }
    oc_map_free(&id);
    oc_arena_free(&arena);
    return same;
}

static bool same_names(const struct oc_model *m, const uint32_t *ours, uint32_t n_ours,
                       Onnx__ValueInfoProto *const *theirs, size_t n)
{
    bool same = n_ours == n;
    for (size_t i = 0; same && i < n; i++)
        same = same_text(m->value[ours[i]].name, theirs[i]->name);
    return same;
}

/* Of initializers with the same name the last one counts. */
static bool same_initializers(const struct oc_model *m, const struct oc_graph *o, const Onnx__GraphProto *g)
{
    bool same = o->n_init == g->n_initializer + g->n_sparse_initializer;
    bool *seen = oc_xcalloc(m->n_value + 1, 1);
    for (size_t i = same ? o->n_init : 0; same && i-- > 0; seen[o->init[i]] = true) {
        const struct oc_value *v = &m->value[o->init[i]];
        if (i < g->n_initializer)
            same = same_text(v->name, g->initializer[i]->name) &&
                   (seen[o->init[i]] || same_tensor(v->constant, g->initializer[i]));
        else
            same = seen[o->init[i]] || same_sparse(v->constant, g->sparse_initializer[i - g->n_initializer]);
    }
    free(seen);
    return same;
}

static bool same_graph(struct side *s, uint32_t graph, const Onnx__GraphProto *g)
{
    const struct oc_graph *o = &s->m->graph[graph];
    if (!same_text(o->name, g->name) || o->n_node != g->n_node)
        return differ(s, "graph '%s': name or number of nodes", o->name);
    if (!same_names(s->m, o->input, o->n_input, g->input, g->n_input) ||
        !same_names(s->m, o->output, o->n_output, g->output, g->n_output))
        return differ(s, "graph '%s': inputs or outputs", o->name);
    if (!same_initializers(s->m, o, g))
        return differ(s, "graph '%s': initializers", o->name);
    for (uint32_t i = 0; i < o->n_node; i++) {
        const struct oc_node *n = &s->m->node[o->node[i]];
        if (n->file_index >= g->n_node || !same_node(s, n, g->node[n->file_index]))
            return differ(s, "graph '%s': node %u", o->name, (unsigned)n->file_index);
    }
    return same_declarations(s, graph, g);
}

/* Whether protobuf-c can unpack it without a deep recursion, and merges nothing. */
static bool is_plain(const ProtobufCMessageDescriptor *d, const uint8_t *data, size_t n, unsigned depth)
{
    uint32_t seen = 0;
    struct oc_wire w = oc_wire_of(data, n);
    struct oc_wire_field f;
    while (oc_wire_next(&w, &f)) {
        const ProtobufCFieldDescriptor *field = protobuf_c_message_descriptor_get_field(d, f.num);
        if (!field || field->type != PROTOBUF_C_TYPE_MESSAGE || f.type != OC_WIRE_LEN)
            continue;
        uint32_t bit = field->label == PROTOBUF_C_LABEL_REPEATED ? 0 : 1U << (field - d->fields);
        if (depth > 200 || (seen & bit) || !is_plain(field->descriptor, f.data, f.n, depth + 1))
            return false;
        seen |= bit;
    }
    return true;
}

/* Of several imports of a domain the last one counts. */
static bool is_imported_again(const Onnx__ModelProto *p, size_t i)
{
    const char *domain = p->opset_import[i]->domain;
    for (size_t k = i + 1; k < p->n_opset_import; k++)
        if (same_domain(domain && strcmp(domain, "ai.onnx") ? domain : "", p->opset_import[k]->domain))
            return true;
    return false;
}

const char *whole_unpack_difference(const struct oc_model *m, const void *data, size_t n_bytes, char *text,
                                    size_t n)
{
    struct side s = {.m = m, .text = text, .n = n};
    if (!is_plain(&onnx__model_proto__descriptor, data, n_bytes, 0))
        return NULL;
    Onnx__ModelProto *p = onnx__model_proto__unpack(NULL, n_bytes, data);
    if (p && p->graph) {
        size_t kept = 0;
        if (m->ir_version != p->ir_version || !same_text(m->producer_name, p->producer_name) ||
            m->n_function != p->n_functions)
            differ(&s, "model");
        for (size_t i = 0; i < p->n_opset_import; i++) {
            if (is_imported_again(p, i))
                continue;
            if (kept >= m->n_opset || !same_domain(m->opset[kept].domain, p->opset_import[i]->domain) ||
                m->opset[kept].version != p->opset_import[i]->version)
                differ(&s, "opset import %zu", i);
            kept++;
        }
        if (kept && kept != m->n_opset)
            differ(&s, "opset imports");
        same_graph(&s, 0, p->graph);
    }
    onnx__model_proto__free_unpacked(p, NULL);
    return s.differs ? text : NULL;
}
