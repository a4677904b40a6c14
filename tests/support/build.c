#include "support/build.h"
#include "support/build_count.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "support/build_text.h"

/* The open scope: a graph, or a function (then graph is NULL). */
struct level {
    struct level *outer;
    Onnx__GraphProto *graph;
    Onnx__FunctionProto *function;
    Onnx__NodeProto *last;
};

struct oc_builder {
    struct oc_arena arena;
    Onnx__ModelProto *model;
    struct level *level;
};

/* First operator set of each IR version, newest first (the version table of the ONNX documents). */
static const struct {
    int opset, ir;
} ir_of_opset[] = {{25, 13}, {24, 12}, {23, 11}, {21, 10}, {19, 9}, {15, 8},
                   {12, 7},  {11, 6},  {10, 5},  {9, 4},   {0, 3}};

static char *text_copy(struct oc_builder *b, const char *s)
{
    return s ? oc_strdup(&b->arena, s) : NULL;
}

static void push(struct oc_builder *b, Onnx__GraphProto *graph, Onnx__FunctionProto *function)
{
    struct level *l = OC_NEW(&b->arena, struct level);
    *l = (struct level){.outer = b->level, .graph = graph, .function = function};
    b->level = l;
}

struct oc_builder *oc_b_new(int opset)
{
    struct oc_builder *b = oc_xmalloc(sizeof(*b));
    memset(b, 0, sizeof(*b));
    b->model = oc_bt_new(&b->arena, &onnx__model_proto__descriptor);
    b->model->graph = oc_bt_new(&b->arena, &onnx__graph_proto__descriptor);
    b->model->graph->name = text_copy(b, "g");
    b->model->has_ir_version = 1;
    for (size_t i = 0; i < OC_COUNT(ir_of_opset) && !b->model->ir_version; i++)
        if (opset >= ir_of_opset[i].opset)
            b->model->ir_version = ir_of_opset[i].ir;
    push(b, b->model->graph, NULL);
    oc_b_opset(b, "", opset);
    return b;
}

void oc_b_free(struct oc_builder *b)
{
    if (!b)
        return;
    oc_arena_free(&b->arena);
    free(b);
}

Onnx__ModelProto *oc_b_model(struct oc_builder *b)
{
    return b->model;
}

struct oc_arena *oc_b_arena(struct oc_builder *b)
{
    return &b->arena;
}

void oc_b_opset(struct oc_builder *b, const char *domain, int64_t version)
{
    Onnx__FunctionProto *f = b->level->function;
    size_t n = f ? f->n_opset_import : b->model->n_opset_import;
    Onnx__OperatorSetIdProto **have = f ? f->opset_import : b->model->opset_import;
    for (size_t i = 0; i < n; i++)
        if (!strcmp(have[i]->domain, domain)) {
            have[i]->version = version;
            return;
        }
    Onnx__OperatorSetIdProto *o = oc_bt_new(&b->arena, &onnx__operator_set_id_proto__descriptor);
    o->domain = text_copy(b, domain);
    o->has_version = 1;
    o->version = version;
    if (f)
        OC_BT_APPEND(&b->arena, f, opset_import, o);
    else
        OC_BT_APPEND(&b->arena, b->model, opset_import, o);
}

/* ---- values -------------------------------------------------------------------------------------------- */

static Onnx__ValueInfoProto *value(struct oc_builder *b, const char *name, const char *type)
{
    Onnx__ValueInfoProto *v = oc_bt_new(&b->arena, &onnx__value_info_proto__descriptor);
    v->name = text_copy(b, name);
    v->type = oc_bt_type(&b->arena, type);
    return v;
}

static Onnx__GraphProto *graph(struct oc_builder *b)
{
    if (!b->level->graph)
        oc_bt_bug("a function has no inputs, outputs or initializers of its own", b->level->function->name);
    return b->level->graph;
}

Onnx__ValueInfoProto *oc_b_input(struct oc_builder *b, const char *name, const char *type)
{
    Onnx__ValueInfoProto *v = value(b, name, type);
    OC_BT_APPEND(&b->arena, graph(b), input, v);
    return v;
}

Onnx__ValueInfoProto *oc_b_output(struct oc_builder *b, const char *name, const char *type)
{
    Onnx__ValueInfoProto *v = value(b, name, type);
    OC_BT_APPEND(&b->arena, graph(b), output, v);
    return v;
}

Onnx__ValueInfoProto *oc_b_value(struct oc_builder *b, const char *name, const char *type)
{
    Onnx__ValueInfoProto *v = value(b, name, type);
    if (b->level->function)
        OC_BT_APPEND(&b->arena, b->level->function, value_info, v);
    else
        OC_BT_APPEND(&b->arena, graph(b), value_info, v);
    return v;
}

/* ---- initializers -------------------------------------------------------------------------------------- */

static Onnx__TensorProto *init(struct oc_builder *b, const char *name, const char *text, bool fields)
{
    Onnx__TensorProto *t = oc_bt_tensor(&b->arena, text, fields);
    t->name = text_copy(b, name);
    OC_BT_APPEND(&b->arena, graph(b), initializer, t);
    return t;
}

Onnx__TensorProto *oc_b_init(struct oc_builder *b, const char *name, const char *tensor)
{
    return init(b, name, tensor, false);
}

Onnx__TensorProto *oc_b_init_fields(struct oc_builder *b, const char *name, const char *tensor)
{
    return init(b, name, tensor, true);
}

Onnx__TensorProto *oc_b_init_raw(struct oc_builder *b, const char *name, const char *type, const void *data,
                                 size_t n)
{
    Onnx__TensorProto *t = init(b, name, type, false);
    t->has_raw_data = 1;
    t->raw_data.len = n;
    t->raw_data.data = oc_alloc(&b->arena, n ? n : 1);
    if (n)
        memcpy(t->raw_data.data, data, n);
    return t;
}

static void add_pair(struct oc_builder *b, Onnx__TensorProto *t, const char *key, char *val)
{
    Onnx__StringStringEntryProto *e = oc_bt_new(&b->arena, &onnx__string_string_entry_proto__descriptor);
    e->key = text_copy(b, key);
    e->value = val;
    OC_BT_APPEND(&b->arena, t, external_data, e);
}

void oc_b_make_external(struct oc_builder *b, Onnx__TensorProto *t, const char *file, uint64_t offset_bytes,
                        uint64_t length_bytes)
{
    t->has_data_location = 1;
    t->data_location = ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
    add_pair(b, t, "location", text_copy(b, file));
    add_pair(b, t, "offset", oc_printf(&b->arena, "%llu", (unsigned long long)offset_bytes));
    add_pair(b, t, "length", oc_printf(&b->arena, "%llu", (unsigned long long)length_bytes));
}

Onnx__TensorProto *oc_b_init_external(struct oc_builder *b, const char *name, const char *type,
                                      const char *file, uint64_t offset_bytes, uint64_t length_bytes)
{
    Onnx__TensorProto *t = init(b, name, type, false);
    oc_b_make_external(b, t, file, offset_bytes, length_bytes);
    return t;
}

Onnx__SparseTensorProto *oc_b_init_sparse(struct oc_builder *b, const char *name, const char *values,
                                          const char *indices, const char *dims)
{
    Onnx__SparseTensorProto *s = oc_bt_new(&b->arena, &onnx__sparse_tensor_proto__descriptor);
    s->values = oc_bt_tensor(&b->arena, values, false);
    s->values->name = text_copy(b, name);
    s->indices = oc_bt_tensor(&b->arena, indices, false);
    const Onnx__TensorProto *shape = oc_bt_tensor(&b->arena, oc_printf(&b->arena, "float[%s]", dims), false);
    s->dims = shape->dims;
    s->n_dims = shape->n_dims;
    OC_BT_APPEND(&b->arena, graph(b), sparse_initializer, s);
    return s;
}

/* ---- nodes --------------------------------------------------------------------------------------------- */

struct target {
    struct oc_builder *b;
    Onnx__NodeProto *node;
    Onnx__FunctionProto *function;
};

static void attr_to_node(void *ctx, Onnx__AttributeProto *m)
{
    struct target *t = ctx;
    if (!m->has_type)
        oc_bt_bug("attribute without a value", m->name);
    OC_BT_APPEND(&t->b->arena, t->node, attribute, m);
}

static void attr_to_function(void *ctx, Onnx__AttributeProto *m)
{
    struct target *t = ctx;
    if (m->has_type)
        OC_BT_APPEND(&t->b->arena, t->function, attribute_proto, m);
    else
        OC_BT_APPEND(&t->b->arena, t->function, attribute, m->name);
}

void oc_b_attr(struct oc_builder *b, Onnx__NodeProto *node, const char *attributes)
{
    struct target t = {.b = b, .node = node};
    oc_bt_attributes(&b->arena, attributes, attr_to_node, &t);
}

void oc_b_attr_ints(struct oc_builder *b, Onnx__NodeProto *node, const char *key, const int64_t *v, size_t n)
{
    Onnx__AttributeProto *m = oc_bt_new(&b->arena, &onnx__attribute_proto__descriptor);
    m->name = text_copy(b, key);
    m->has_type = 1;
    m->type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS;
    m->n_ints = n;
    m->ints = OC_NEW_ARRAY(&b->arena, n ? n : 1, int64_t);
    if (n)
        memcpy(m->ints, v, n * sizeof(*v));
    OC_BT_APPEND(&b->arena, node, attribute, m);
}

void oc_b_metadata(struct oc_builder *b, Onnx__NodeProto *node, const char *key, const char *value)
{
    Onnx__StringStringEntryProto *m = oc_bt_new(&b->arena, &onnx__string_string_entry_proto__descriptor);
    m->key = text_copy(b, key);
    m->value = text_copy(b, value);
    OC_BT_APPEND(&b->arena, node, metadata_props, m);
}

Onnx__NodeProto *oc_b_node(struct oc_builder *b, const char *op_type, const char *name, const char *inputs,
                           const char *outputs, const char *attributes)
{
    Onnx__NodeProto *n = oc_bt_new(&b->arena, &onnx__node_proto__descriptor);
    const char *colons = strstr(op_type, "::");
    if (colons)
        n->domain = oc_strndup(&b->arena, op_type, (size_t)(colons - op_type));
    n->op_type = text_copy(b, colons ? colons + 2 : op_type);
    oc_count_op("model", colons ? n->domain : "", n->op_type);
    n->name = text_copy(b, name);
    n->input = oc_bt_names(&b->arena, inputs, &n->n_input);
    n->output = oc_bt_names(&b->arena, outputs, &n->n_output);
    oc_b_attr(b, n, attributes);
    if (b->level->function)
        OC_BT_APPEND(&b->arena, b->level->function, node, n);
    else
        OC_BT_APPEND(&b->arena, graph(b), node, n);
    b->level->last = n;
    return n;
}

void oc_b_open(struct oc_builder *b, const char *attribute)
{
    if (!b->level->last)
        oc_bt_bug("no node to add a body to", attribute);
    Onnx__AttributeProto *m = oc_bt_new(&b->arena, &onnx__attribute_proto__descriptor);
    m->name = text_copy(b, attribute);
    m->has_type = 1;
    m->type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__GRAPH;
    m->g = oc_bt_new(&b->arena, &onnx__graph_proto__descriptor);
    m->g->name = text_copy(b, attribute);
    OC_BT_APPEND(&b->arena, b->level->last, attribute, m);
    push(b, m->g, NULL);
}

Onnx__FunctionProto *oc_b_function(struct oc_builder *b, const char *domain, const char *name,
                                   const char *inputs, const char *outputs, const char *attributes)
{
    Onnx__FunctionProto *f = oc_bt_new(&b->arena, &onnx__function_proto__descriptor);
    f->domain = text_copy(b, domain);
    f->name = text_copy(b, name);
    f->input = oc_bt_names(&b->arena, inputs, &f->n_input);
    f->output = oc_bt_names(&b->arena, outputs, &f->n_output);
    struct target t = {.b = b, .function = f};
    oc_bt_attributes(&b->arena, attributes, attr_to_function, &t);
    OC_BT_APPEND(&b->arena, b->model, functions, f);
    push(b, NULL, f);
    return f;
}

void oc_b_close(struct oc_builder *b)
{
    if (!b->level->outer)
        oc_bt_bug("nothing is open", "oc_b_close");
    b->level = b->level->outer;
}

/* ---- output -------------------------------------------------------------------------------------------- */

uint8_t *oc_b_pack(struct oc_builder *b, size_t *n)
{
    if (b->level->outer)
        oc_bt_bug("a body or function is still open", "oc_b_pack");
    *n = onnx__model_proto__get_packed_size(b->model);
    uint8_t *bytes = oc_xmalloc(*n ? *n : 1);
    onnx__model_proto__pack(b->model, bytes);
    return bytes;
}

int oc_b_save(struct oc_builder *b, const char *path)
{
    size_t n;
    uint8_t *bytes = oc_b_pack(b, &n);
    FILE *f = fopen(path, "wb");
    bool ok = f && fwrite(bytes, 1, n, f) == n;
    int saved = errno;
    if (f && fclose(f) && ok) {
        saved = errno;
        ok = false;
    }
    free(bytes);
    errno = saved;
    return ok ? 0 : -1;
}
