/* Packs the messages of an ONNX graph; weights of decoders, plain or packed in the way of a quantization. */
#include "model/graph_writer.h"

#include <stdlib.h>
#include <string.h>

#include "base/ck.h"
#include "model/decoder_graph.h"

enum { EXTERNAL = 1, USUAL_OPSET = 20, IR_VERSION = 9, OPSET_OF_IR_VERSION = 19, IR_VERSION_BEFORE = 8 };
enum { ATTR_FLOAT = 1, ATTR_INT = 2, ATTR_STRING = 3, ATTR_INTS = 7 }; /* AttributeProto.AttributeType */

/* ---- messages --------------------------------------------------------------------------------------- */

static ProtobufCBinaryData pack(struct oc_graph_writer *g, const ProtobufCMessage *m)
{
    size_t n = protobuf_c_message_get_packed_size(m);
    ProtobufCBinaryData out = {n, oc_alloc(&g->arena, n + 1)};
    protobuf_c_message_pack(m, out.data);
    return out;
}

static void append(struct oc_graph_writer *g, struct oc_messages *list, const ProtobufCMessage *m)
{
    OC_PUSH(list->item, list->n, list->cap) = pack(g, m);
}

void oc_gw_move(struct oc_messages *to, struct oc_messages *from)
{
    for (size_t i = 0; i < from->n; i++)
        OC_PUSH(to->item, to->n, to->cap) = from->item[i];
    free(from->item);
    *from = (struct oc_messages){0};
}

static void add_attribute(struct oc_graph_writer *g, const char *name, int type, Oc__Attribute *a)
{
    a->name = (char *)(uintptr_t)name;
    a->has_type = true;
    a->type = type;
    append(g, &g->attribute, &a->base);
}

void oc_gw_attr_i(struct oc_graph_writer *g, const char *name, int64_t v)
{
    Oc__Attribute a;
    oc__attribute__init(&a);
    a.has_i = true;
    a.i = v;
    add_attribute(g, name, ATTR_INT, &a);
}

void oc_gw_attr_f(struct oc_graph_writer *g, const char *name, float v)
{
    Oc__Attribute a;
    oc__attribute__init(&a);
    a.has_f = true;
    a.f = v;
    add_attribute(g, name, ATTR_FLOAT, &a);
}

void oc_gw_attr_s(struct oc_graph_writer *g, const char *name, const char *v)
{
    Oc__Attribute a;
    oc__attribute__init(&a);
    a.has_s = true;
    a.s = (ProtobufCBinaryData){strlen(v), (uint8_t *)(uintptr_t)v};
    add_attribute(g, name, ATTR_STRING, &a);
}

void oc_gw_attr_ints(struct oc_graph_writer *g, const char *name, const int64_t *v, size_t n)
{
    Oc__Attribute a;
    oc__attribute__init(&a);
    a.n_ints = n;
    a.ints = (int64_t *)(uintptr_t)v;
    add_attribute(g, name, ATTR_INTS, &a);
}

/* ---- nodes ------------------------------------------------------------------------------------------ */

struct oc_gw_place oc_gw_enter(struct oc_graph_writer *g, const char *module)
{
    size_t n = strlen(g->scope);
    snprintf(g->scope + n, sizeof(g->scope) - n, "%s%s", n ? "." : "", module);
    return (struct oc_gw_place){n};
}

void oc_gw_leave(struct oc_graph_writer *g, struct oc_gw_place p)
{
    g->scope[p.n] = '\0';
}

/* "/model/layers.0/mlp/Mul", with a number after it if the name is taken */
static const char *node_name(struct oc_graph_writer *g, const char *type)
{
    char path[sizeof(g->scope)];
    size_t n = strlen(g->scope);
    memcpy(path, g->scope, n + 1);
    for (size_t i = 0; i < n; i++)
        if (path[i] == '.' && !oc_is_digit(path[i + 1]))
            path[i] = '/';
    const char *base = oc_printf(&g->arena, "%s%s/%s", n ? "/" : "", path, type), *name = base;
    for (uint32_t used = 1; !oc_map_add(&g->names, name, strlen(name), &used, NULL); used = 1) {
        uint32_t count = oc_map_get(&g->names, base, strlen(base));
        oc_map_set(&g->names, base, strlen(base), count + 1);
        name = oc_printf(&g->arena, "%s_%u", base, count);
    }
    return name;
}

const char *oc_gw_node(struct oc_graph_writer *g, const char *domain, const char *type, const char *const *in,
                       const char *const *output)
{
    Oc__Node node;
    oc__node__init(&node);
    const char *name = node_name(g, type), *only[2] = {oc_printf(&g->arena, "%s_output_0", name), NULL};
    output = output ? output : only;
    node.name = (char *)(uintptr_t)name;
    node.op_type = (char *)(uintptr_t)type;
    node.domain = (char *)(uintptr_t)domain;
    node.input = (char **)(uintptr_t)in;
    node.output = (char **)(uintptr_t)output;
    while (in[node.n_input])
        node.n_input++;
    while (output[node.n_output])
        node.n_output++;
    while (node.n_input && !*in[node.n_input - 1])
        node.n_input--;
    while (node.n_output && !*output[node.n_output - 1])
        node.n_output--;
    node.attribute = g->attribute.item;
    node.n_attribute = g->attribute.n;
    append(g, &g->node, &node.base);
    g->attribute.n = 0;
    return output[0];
}

const char *oc_gw_constant(struct oc_graph_writer *g, int64_t v)
{
    oc_gw_attr_ints(g, "value_ints", &v, 1);
    return oc_gw_node(g, "", "Constant", (const char *const[]){NULL}, NULL);
}

const char *oc_gw_cast(struct oc_graph_writer *g, const char *x, int dtype)
{
    oc_gw_attr_i(g, "to", dtype);
    return oc_gw_node(g, "", "Cast", (const char *const[]){x, NULL}, NULL);
}

/* ---- weights ---------------------------------------------------------------------------------------- */

const char *oc_gw_path(struct oc_graph_writer *g, const char *name)
{
    return oc_printf(&g->arena, "%s%s%s", g->scope, *g->scope ? "." : "", name);
}

static Oc__Tensor tensor_head(const char *name, unsigned dtype, size_t rank, const int64_t *dim)
{
    Oc__Tensor t;
    oc__tensor__init(&t);
    t.name = (char *)(uintptr_t)name;
    t.n_dims = rank;
    t.dims = (int64_t *)(uintptr_t)dim;
    t.has_data_type = true;
    t.data_type = (int32_t)dtype;
    return t;
}

void oc_gw_weight(struct oc_graph_writer *g, const char *name, unsigned dtype, size_t rank,
                  const int64_t *dim)
{
    char location[] = "location", file[] = "weights";
    Oc__Pair where;
    Oc__Pair *wheres = &where;
    Oc__Tensor t = tensor_head(name, dtype, rank, dim);
    oc__pair__init(&where);
    where.key = location;
    where.value = file;
    t.n_external_data = 1;
    t.external_data = &wheres;
    t.has_data_location = true;
    t.data_location = EXTERNAL;
    append(g, &g->weight, &t.base);
}

void oc_gw_tensor(struct oc_graph_writer *g, const char *name, unsigned dtype, size_t rank,
                  const int64_t *dim, const struct oc_buf *elements)
{
    Oc__Tensor t = tensor_head(name, dtype, rank, dim);
    t.has_raw_data = true;
    t.raw_data = (ProtobufCBinaryData){elements->n, (uint8_t *)elements->data};
    append(g, &g->weight, &t.base);
}

/* ---- inputs and outputs ----------------------------------------------------------------------------- */

/* dim: symbols, or numbers */
void oc_gw_value_info(struct oc_graph_writer *g, struct oc_messages *list, const char *name, int dtype,
                      const char *const *dim)
{
    enum { MOST = 4 };
    Oc__ValueInfo v;
    Oc__Type type;
    Oc__Type__Tensor tensor;
    Oc__Shape shape;
    Oc__Shape__Dimension item[MOST], *items[MOST];
    oc__value_info__init(&v);
    oc__type__init(&type);
    oc__type__tensor__init(&tensor);
    oc__shape__init(&shape);
    for (; dim[shape.n_dim]; shape.n_dim++) {
        Oc__Shape__Dimension *d = items[shape.n_dim] = &item[shape.n_dim];
        const char *text = dim[shape.n_dim];
        oc__shape__dimension__init(d);
        bool number = oc_is_digit(text[0]);
        d->value_case =
            number ? OC__SHAPE__DIMENSION__VALUE_DIM_VALUE : OC__SHAPE__DIMENSION__VALUE_DIM_PARAM;
        if (number)
            d->dim_value = strtoll(text, NULL, 10);
        else
            d->dim_param = (char *)(uintptr_t)text;
    }
    shape.dim = items;
    tensor.has_elem_type = true;
    tensor.elem_type = dtype;
    tensor.shape = &shape;
    type.value_case = OC__TYPE__VALUE_TENSOR_TYPE;
    type.tensor_type = &tensor;
    v.name = (char *)(uintptr_t)name;
    v.type = &type;
    append(g, list, &v.base);
}

/* ---- whole model ------------------------------------------------------------------------------------ */

void oc_gw_write(struct oc_graph_writer *g, const char *producer, struct oc_buf *out)
{
    char onnx[] = "", contrib[] = "com.microsoft", own[] = "com.onnxcost";
    char *const domain[] = {onnx, contrib, own};
    int opset = g->opset ? g->opset : USUAL_OPSET;
    Oc__Opset set[3], *sets[3] = {&set[0], &set[1], &set[2]};
    Oc__Graph graph;
    Oc__Model model;
    for (int i = 0; i < 3; i++) {
        oc__opset__init(&set[i]);
        set[i].domain = domain[i];
        set[i].has_version = true;
        set[i].version = i ? 1 : opset;
    }
    oc__graph__init(&graph);
    graph.node = g->node.item;
    graph.n_node = g->node.n;
    graph.initializer = g->weight.item;
    graph.n_initializer = g->weight.n;
    graph.input = g->input.item;
    graph.n_input = g->input.n;
    graph.output = g->output.item;
    graph.n_output = g->output.n;
    oc__model__init(&model);
    model.has_ir_version = true;
    model.ir_version = opset < OPSET_OF_IR_VERSION ? IR_VERSION_BEFORE : IR_VERSION;
    model.producer_name = (char *)(uintptr_t)producer;
    model.has_graph = true;
    model.graph = pack(g, &graph.base);
    model.n_opset_import = 3;
    model.opset_import = sets;
    ProtobufCBinaryData all = pack(g, &model.base);
    oc_buf_add(out, all.data, all.len);
}

void oc_gw_free(struct oc_graph_writer *g)
{
    struct oc_messages *list[] = {&g->node, &g->weight, &g->input, &g->output, &g->attribute};
    for (size_t i = 0; i < OC_COUNT(list); i++)
        free(list[i]->item);
    oc_map_free(&g->names);
    oc_arena_free(&g->arena);
}

/* Weights of a decoder's graph and the operators that read them: matrices and tables, plain or packed in the
 * way of a quantization. */

/* ---- weights ---------------------------------------------------------------------------------------- */

const char *oc_dec_weight(struct decoder_graph *g, const char *name, unsigned dtype, size_t rank,
                          const int64_t *dim)
{
    const char *full = oc_gw_path(&g->w, name);
    uint64_t elements = 1, bytes = 0; /* sizes are limited: no overflow that matters to a comparison */
    for (size_t i = 0; i < rank; i++)
        elements *= (uint64_t)dim[i];
    dtype = g->stored ? oc_stored_dtype(g->stored, full, dtype) : dtype;
    if (*g->w.scope && oc_bytes_of(dtype, elements, &bytes)) {
        g->sum.elements += elements;
        g->sum.bytes += bytes;
    }
    oc_gw_weight(&g->w, full, dtype, rank, dim);
    return full;
}

/* The packing of the current module. Blocks of MLX are whole. */
static struct oc_packing packing_here(struct decoder_graph *g, int64_t columns, bool linear)
{
    struct oc_packing as = oc_packing_of(&g->d->quant, g->w.scope, linear);
    if (as.kind == OC_PACK_BLOCKS && as.biases && as.block > 0 && columns % as.block)
        as.kind = OC_PACK_NOT;
    if (as.kind == OC_PACK_BLOCKS && as.block <= 0)
        as.block = columns;
    return as;
}

static struct oc_dec_packed blocks(struct decoder_graph *g, struct oc_packing as, int64_t n, int64_t rows,
                                   int64_t columns)
{
    int64_t count = oc_ceil_div(columns, as.block), bytes = oc_ceil_div(as.block * as.bits, 8);
    int scale = as.scale_dtype ? as.scale_dtype : g->d->dtype;
    struct oc_dec_packed p = {.as = as, .zeros = ""};
    if (n || as.biases) {
        size_t rank = n ? 3 : 2;
        const int64_t w[] = {n, rows, count * bytes}, s[] = {n, rows, count},
                      z[] = {n, rows, oc_ceil_div(count * as.bits, 8)};
        p.weight = oc_dec_weight(g, "weight", UINT8, rank, w + (n ? 0 : 1));
        p.scales = oc_dec_weight(g, "scales", (unsigned)scale, rank, s + (n ? 0 : 1));
        if (as.biases)
            p.zeros = oc_dec_weight(g, "biases", (unsigned)scale, rank, s + (n ? 0 : 1));
        else if (as.zeros)
            p.zeros = oc_dec_weight(g, "qzeros", UINT8, rank, z + (n ? 0 : 1));
        return p;
    }
    p.weight = oc_dec_weight(g, "qweight", UINT8, 3, (const int64_t[]){rows, count, bytes});
    p.scales = oc_dec_weight(g, "scales", (unsigned)scale, 1, (const int64_t[]){rows * count});
    if (as.zeros)
        p.zeros =
            oc_dec_weight(g, "qzeros", UINT8, 1, (const int64_t[]){rows * oc_ceil_div(count * as.bits, 8)});
    return p;
}

struct oc_dec_packed oc_dec_matrix(struct decoder_graph *g, int64_t n, int64_t rows, int64_t columns,
                                   bool linear)
{
    struct oc_packing as = packing_here(g, columns, linear);
    struct oc_dec_packed p = {.as = as, .scales = "", .zeros = ""};
    if (as.kind == OC_PACK_BLOCKS)
        return blocks(g, as, n, rows, columns);
    bool scaled = as.kind == OC_PACK_SCALED, plain = as.kind == OC_PACK_NOT;
    const int64_t w[] = {n, rows, columns}, turned[] = {columns, rows},
                  s[] = {n, as.rows ? oc_ceil_div(rows, as.rows) : 1,
                         as.columns ? oc_ceil_div(columns, as.columns) : 1};
    size_t rank = n ? 3 : 2;
    p.weight = oc_dec_weight(g, "weight", (unsigned)(plain ? g->d->dtype : as.dtype), rank,
                             n        ? w
                             : scaled ? w + 1
                                      : turned);
    if (scaled)
        p.scales =
            oc_dec_weight(g, "weight_scale_inv", (unsigned)(as.scale_dtype ? as.scale_dtype : g->d->dtype),
                          rank, n ? s : s + 1);
    return p;
}

const char *oc_dec_packed_product(struct decoder_graph *g, const char *x, const struct oc_dec_packed *p,
                                  int64_t in, int64_t out)
{
    oc_gw_attr_i(&g->w, "K", in);
    oc_gw_attr_i(&g->w, "N", out);
    oc_gw_attr_i(&g->w, "bits", p->as.bits);
    oc_gw_attr_i(&g->w, "block_size", p->as.block);
    if (p->as.int_products)
        oc_gw_attr_i(&g->w, "accuracy_level", 4);
    return CONTRIB_OP(g, "MatMulNBits", x, p->weight, p->scales, p->zeros);
}

const char *oc_dec_product(struct decoder_graph *g, const char *module, const char *x, int64_t in,
                           int64_t out, bool bias, bool linear)
{
    struct oc_gw_place p = oc_gw_enter(&g->w, module);
    struct oc_dec_packed w = oc_dec_matrix(g, 0, out, in, linear);
    if (w.as.kind == OC_PACK_BLOCKS)
        x = oc_dec_packed_product(g, x, &w, in, out);
    else
        x = w.as.kind == OC_PACK_SCALED
                ? CONTRIB_OP(g, "MatMulBlockQuantizedFp8Weight", x, w.weight, w.scales)
                : OP(g, "MatMul", x, w.weight);
    if (bias)
        x = OP(g, "Add", x, WEIGHT(g, "bias", out));
    oc_gw_leave(&g->w, p);
    return x;
}

const char *oc_dec_rows(struct decoder_graph *g, int64_t rows, int64_t width, const char *at,
                        struct oc_dec_packed *table)
{
    struct oc_packing as = packing_here(g, width, false);
    if (as.kind != OC_PACK_BLOCKS) {
        *table =
            (struct oc_dec_packed){.weight = WEIGHT(g, "weight", rows, width), .scales = "", .zeros = ""};
        return OP(g, "Gather", table->weight, at);
    }
    *table = blocks(g, as, 0, rows, width);
    oc_gw_attr_i(&g->w, "bits", as.bits);
    oc_gw_attr_i(&g->w, "block_size", as.block);
    return CONTRIB_OP(g, "GatherBlockQuantized", table->weight, at, table->scales, table->zeros);
}
