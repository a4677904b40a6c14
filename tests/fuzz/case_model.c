/* Models of every operator of the table: few nodes, many of them valid, with bodies, functions, symbolic
 * dimensions and names that are hard to print. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "case.h"
#include "ops/op.h"
#include "support/build.h"

enum { MAX_VALUE = 64, MAX_NODES = 24, MAX_DEPTH = 3 };

struct maker {
    struct fuzz_case *k;
    struct fuzz_choices *c;
    struct oc_builder *b;
    char value[MAX_VALUE][16];
    size_t n_value;
    unsigned next; /* number of the next name */
    int depth;
    bool in_function;
};

static const char *const dims[] = {"1",
                                   "2",
                                   "3",
                                   "4",
                                   "8",
                                   "16",
                                   "0",
                                   "N",
                                   "batch",
                                   "?",
                                   "7",
                                   "64",
                                   "4294967296",
                                   "-1",
                                   "10",
                                   "N",
                                   "seq_len",
                                   "2*N",
                                   "4611686018427387904"};
static const char *const elements[] = {"float", "float16", "int64", "int32",  "bool",  "int8",
                                       "uint8", "double",  "int4",  "string", "float", "bfloat16"};
static const char *const node_names[] = {"/layer.%u/Conv",
                                         "node_%u",
                                         "layers.%u.attn.q_proj",
                                         "",
                                         "same",
                                         "a\"b\\%u",
                                         "\x1b[31m%u",
                                         "<b>%u</b>",
                                         "tab\there%u",
                                         "cr\rlf\n%u",
                                         "\xff\xfe%u",
                                         "/a/b/c/d/e/f/g/h/%u"};
static const char *const attributes[] = {"axis=1",
                                         "axis=-1",
                                         "axes=[0,1]",
                                         "perm=[1,0]",
                                         "kernel_shape=3,3",
                                         "strides=2,2",
                                         "strides=0,0",
                                         "pads=1,1,1,1",
                                         "dilations=1,1",
                                         "group=2",
                                         "group=0",
                                         "to=10",
                                         "keepdims=0",
                                         "transB=1",
                                         "equation='ij,jk->ik'",
                                         "equation='...i->i...,'",
                                         "num_heads=2",
                                         "kv_num_heads=1",
                                         "hidden_size=4",
                                         "direction='bidirectional'",
                                         "auto_pad='SAME_UPPER'",
                                         "ceil_mode=1",
                                         "mode='linear'",
                                         "block_size=2",
                                         "blocksize=2",
                                         "K=8 N=8 bits=4",
                                         "split=[1,1]",
                                         "num_outputs=2",
                                         "k=9223372036854775807",
                                         "epsilon=1e-5",
                                         "value=float[2]{1,2}",
                                         "value_ints=[3,-1]",
                                         "value=int64[1]{-1}",
                                         "shape=[2,0,-1]",
                                         "output_shape=[9,9]",
                                         "nodes_modes='BRANCH_LEQ','LEAF'",
                                         "scales:floats=[1,2]",
                                         "alpha:float=nan",
                                         "largest=0 sorted=1",
                                         "batch_dims=1",
                                         "layout=1",
                                         "body='no graph'"};
/* operators whose rules have most to decide, with inputs that fit */
static const char *const likely[] = {"Conv|x,w|pads=1,1,1,1|1",
                                     "Relu|%v||1",
                                     "Add|%v,%v||1",
                                     "MatMul|%v,%v||1",
                                     "Gemm|%v,%v|transB=1|1",
                                     "Reshape|%v,shape||1",
                                     "Transpose|%v||1",
                                     "Concat|%v,%v,%v|axis=1|1",
                                     "Split|%v|axis=1|3",
                                     "Softmax|%v||1",
                                     "Slice|%v,one,two||1",
                                     "Gather|%v,one|axis=0|1",
                                     "BatchNormalization|%v,s,s,s,s||1",
                                     "MaxPool|%v|kernel_shape=2,2|1",
                                     "Shape|%v||1",
                                     "Expand|%v,shape||1",
                                     "LayerNormalization|%v,s|axis=-1|1",
                                     "QuantizeLinear|%v,scale||1",
                                     "DequantizeLinear|%v,scale||1",
                                     "Resize|%v,,scales||1",
                                     "Unsqueeze|%v,one||1",
                                     "Range|n0,n1,n1||1",
                                     "ConstantOfShape|shape||1",
                                     "Cast|%v|to=1|1",
                                     "Constant||value=int64[2]{1,-1}|1",
                                     "Mul|%v,%v||1",
                                     "Sigmoid|%v||1",
                                     "ReduceMean|%v|keepdims=1|1"};

static void remember(struct fuzz_case *k, const char *name)
{
    if (k->n_name == FUZZ_MAX_NAMES || !name || !*name)
        return;
    k->name_at[k->n_name++] = (uint32_t)k->names.n;
    oc_buf_add(&k->names, name, strlen(name) + 1);
}

static const char *any_value(struct maker *m)
{
    if (!m->n_value || fuzz_one_in(m->c, 1000))
        return m->n_value && fuzz_one_in(m->c, 2) ? "" : "missing";
    /* the last ones more often: chains are deep */
    size_t recent = m->n_value < 4 ? m->n_value : 4;
    if (fuzz_one_in(m->c, 2))
        return m->value[m->n_value - 1 - fuzz_below(m->c, recent)];
    return m->value[fuzz_below(m->c, m->n_value)];
}

static const char *new_value(struct maker *m)
{
    static char spare[16];
    char *v = m->n_value < MAX_VALUE ? m->value[m->n_value++] : spare;
    snprintf(v, sizeof(spare), "v%u", m->next++);
    if (m->n_value > 2 && fuzz_one_in(m->c, 3000)) /* written twice */
        memcpy(v, m->value[fuzz_below(m->c, m->n_value - 1)], sizeof(spare));
    return v;
}

static void type_text(struct maker *m, struct oc_buf *out)
{
    size_t rank = fuzz_below(m->c, 6);
    oc_buf_clear(out);
    if (fuzz_one_in(m->c, 16))
        oc_buf_str(out, "seq(");
    size_t open = out->n;
    oc_buf_str(out, FUZZ_PICK(m->c, elements));
    if (!fuzz_one_in(m->c, 12)) {
        oc_buf_char(out, '[');
        for (size_t i = 0; i < rank; i++)
            oc_buf_printf(out, "%s%s", i ? "," : "", FUZZ_PICK(m->c, dims));
        oc_buf_char(out, ']');
    }
    if (open)
        oc_buf_char(out, ')');
}

/* "%v" of a template becomes a value of the model; in a function, which sees no constants, every name. */
static void fill_inputs(struct maker *m, const char *text, size_t n, struct oc_buf *out)
{
    for (const char *end = text + n; text < end;) {
        size_t name = strcspn(text, ",|");
        if (*text == '%' || (m->in_function && name))
            oc_buf_str(out, any_value(m));
        else
            oc_buf_add(out, text, name);
        text += name;
        if (text < end)
            oc_buf_char(out, *text++);
    }
}

static void outputs(struct maker *m, size_t n, struct oc_buf *out)
{
    for (size_t i = 0; i < n; i++)
        oc_buf_printf(out, "%s%s", i ? "," : "", new_value(m));
}

static void set_name(struct maker *m, Onnx__NodeProto *n)
{
    char name[400];
    const char *form = fuzz_one_in(m->c, 3) ? FUZZ_PICK(m->c, node_names) : node_names[fuzz_below(m->c, 3)];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(name, sizeof(name), form, m->next);
#pragma GCC diagnostic pop
    if (fuzz_one_in(m->c, 50))
        memset(name, 'n', sizeof(name) - 1), name[sizeof(name) - 1] = '\0';
    n->name = oc_strdup(oc_b_arena(m->b), name);
    remember(m->k, name);
    remember(m->k, n->op_type);
    if (n->n_output)
        remember(m->k, n->output[0]);
}

static Onnx__NodeProto *likely_node(struct maker *m)
{
    const char *t = FUZZ_PICK(m->c, likely), *in = strchr(t, '|') + 1, *attr = strchr(in, '|') + 1,
               *count = strchr(attr, '|') + 1;
    struct oc_buf op = {0}, inputs = {0}, out = {0}, a = {0};
    oc_buf_add(&op, t, (size_t)(in - t) - 1);
    oc_buf_str(&inputs, "");
    fill_inputs(m, in, (size_t)(attr - in) - 1, &inputs);
    oc_buf_add(&a, attr, (size_t)(count - attr) - 1);
    outputs(m, (size_t)(*count - '0'), &out);
    Onnx__NodeProto *n =
        oc_b_node(m->b, op.data, NULL, inputs.data ? inputs.data : "", out.data, a.n ? a.data : "");
    oc_buf_free(&op);
    oc_buf_free(&inputs);
    oc_buf_free(&out);
    oc_buf_free(&a);
    return n;
}

/* A row of the operator table with any inputs and attributes. */
static Onnx__NodeProto *any_node(struct maker *m)
{
    size_t n_family;
    const struct oc_op_family *const *family = oc_op_families(&n_family),
                                     *f = family[fuzz_below(m->c, n_family)];
    const struct oc_op *op = &f->op[fuzz_below(m->c, f->n)];
    struct oc_buf type = {0}, in = {0}, out = {0}, attr = {0};
    size_t n_in = oc_op_required(op) + fuzz_below(m->c, 4);
    if (op->domain[0])
        oc_buf_printf(&type, "%s::", op->domain);
    oc_buf_str(&type, op->name);
    oc_buf_str(&in, "");
    for (size_t i = 0; i < n_in; i++)
        oc_buf_printf(&in, "%s%s", i ? "," : "", any_value(m));
    outputs(m, 1 + fuzz_below(m->c, 3), &out);
    oc_buf_str(&attr, "");
    for (size_t i = fuzz_below(m->c, 4); i; i--)
        oc_buf_printf(&attr, "%s%s", attr.n ? " " : "", FUZZ_PICK(m->c, attributes));
    Onnx__NodeProto *n = oc_b_node(m->b, type.data, NULL, in.data, out.data, attr.data);
    oc_buf_free(&type);
    oc_buf_free(&in);
    oc_buf_free(&out);
    oc_buf_free(&attr);
    return n;
}

static void nodes(struct maker *m, size_t most);

static void body(struct maker *m, const char *attribute, size_t inputs)
{
    size_t outer = m->n_value; /* values of the body are not seen outside */
    oc_b_open(m->b, attribute);
    m->depth++;
    for (size_t i = 0; i < inputs; i++)
        oc_b_input(m->b, new_value(m), fuzz_one_in(m->c, 2) ? NULL : i == 1 ? "bool[]" : "float[N,4]");
    nodes(m, 4);
    for (size_t i = 1 + fuzz_below(m->c, 3); i; i--)
        oc_b_output(m->b, any_value(m), NULL);
    m->depth--;
    m->n_value = outer;
    oc_b_close(m->b);
}

/* Its outputs are values only after its bodies, which must not read them. */
static Onnx__NodeProto *control_node(struct maker *m)
{
    static const char *const start[] = {"flag", "n1,flag", "x"}, *const type[] = {"If", "Loop", "Scan"};
    size_t which = m->in_function ? 0 : fuzz_below(m->c, 3), n_out = 1 + fuzz_below(m->c, 2);
    struct oc_buf out = {0}, in = {0};
    oc_buf_str(&in, m->in_function ? any_value(m) : start[which]);
    if (which)
        oc_buf_printf(&in, ",%s", any_value(m));
    unsigned first = m->next;
    m->next += 2;
    oc_buf_printf(&out, n_out > 1 ? "v%u,v%u" : "v%u", first, first + 1);
    Onnx__NodeProto *n =
        oc_b_node(m->b, type[which], NULL, in.data, out.data, which == 2 ? "num_scan_inputs=1" : "");
    body(m, which ? "body" : "then_branch", which ? 1 + which % 2 * 2 : 0);
    if (!which && !fuzz_one_in(m->c, 8))
        body(m, "else_branch", 0);
    for (size_t i = 0; i < n_out && m->n_value < MAX_VALUE; i++)
        snprintf(m->value[m->n_value++], sizeof(m->value[0]), "v%u", first + (unsigned)i);
    oc_buf_free(&out);
    oc_buf_free(&in);
    return n;
}

static Onnx__NodeProto *call(struct maker *m)
{
    const char *in = any_value(m);
    return oc_b_node(m->b, m->in_function ? "Relu" : "local::F", NULL, in, new_value(m), "");
}

static void nodes(struct maker *m, size_t most)
{
    for (size_t n = 1 + fuzz_below(m->c, most); n && m->next < 400; n--) {
        size_t which = fuzz_below(m->c, 16);
        Onnx__NodeProto *node;
        if (which == 0 && m->depth < MAX_DEPTH)
            node = control_node(m);
        else if (which < 4)
            node = any_node(m);
        else if (which == 4)
            node = call(m);
        else
            node = likely_node(m);
        set_name(m, node);
    }
}

static void function(struct maker *m)
{
    struct maker inner = {
        .k = m->k, .c = m->c, .b = m->b, .next = m->next + 1000, .depth = MAX_DEPTH, .in_function = true};
    oc_b_function(m->b, "local", "F", "x", "y", "");
    oc_b_opset(m->b, "", 17);
    oc_b_opset(m->b, "local", 1);
    memcpy(inner.value[inner.n_value++], "x", 2);
    nodes(&inner, 3);
    oc_b_node(m->b, fuzz_one_in(m->c, 12) ? "local::F" : "Relu", "last", any_value(&inner), "y", "");
    oc_b_close(m->b);
}

/* One layer with a KV cache. */
static void decoder(struct maker *m)
{
    oc_b_input(m->b, "input_ids", "int64[batch,sequence_length]");
    oc_b_input(m->b, "past_key_values.0.key", "float[batch,2,past_sequence_length,8]");
    oc_b_input(m->b, "past_key_values.0.value", "float[batch,2,past_sequence_length,8]");
    oc_b_init(m->b, "table", "float[100,16]");
    oc_b_init(m->b, "heads", "int64[4]{0,0,2,8}");
    oc_b_node(m->b, "Gather", "embed", "table,input_ids", "embedded", "");
    oc_b_node(m->b, "Reshape", "split_heads", "embedded,heads", "split", "");
    oc_b_node(m->b, "Transpose", "to_heads", "split", "kv", "perm=[0,2,1,3]");
    oc_b_node(m->b, "Concat", "append_key", "past_key_values.0.key,kv", "present.0.key", "axis=2");
    oc_b_node(m->b, "Concat", "append_value", "past_key_values.0.value,kv", "present.0.value", "axis=2");
    oc_b_node(m->b, "Transpose", "transposed", "present.0.key", "kt", "perm=[0,1,3,2]");
    oc_b_node(m->b, "MatMul", "scores", "kv,kt", "sc", "");
    oc_b_node(m->b, "MatMul", "context", "sc,present.0.value", "cx", "");
    oc_b_output(m->b, "present.0.key", NULL);
    oc_b_output(m->b, "present.0.value", NULL);
    memcpy(m->value[m->n_value++], "cx", 3);
}

static void inputs(struct maker *m)
{
    struct oc_buf type = {0};
    oc_b_input(m->b, "x", fuzz_one_in(m->c, 2) ? "float[N,4,8,8]" : "float[2,4,8,8]");
    memcpy(m->value[m->n_value++], "x", 2);
    for (size_t i = fuzz_below(m->c, 3); i; i--) {
        type_text(m, &type);
        oc_b_input(m->b, new_value(m), type.data);
    }
    oc_b_input(m->b, "flag", "bool[]");
    if (fuzz_one_in(m->c, 4))
        decoder(m);
    oc_b_init(m->b, "w", fuzz_one_in(m->c, 2) ? "float[4,4,3,3]" : "float[4,4,3,3]{*0.5}");
    oc_b_init(m->b, "s", "float[4]{*1}");
    oc_b_init(m->b, "scale", "float[]{0.5}");
    oc_b_init(m->b, "scales", "float[4]{1,1,2,2}");
    oc_b_init(m->b, "one", "int64[1]{1}");
    oc_b_init(m->b, "two", "int64[1]{2}");
    oc_b_init(m->b, "n0", "int64[]{0}");
    oc_b_init(m->b, "n1", fuzz_one_in(m->c, 6) ? "int64[]{1000000000000}" : "int64[]{3}");
    oc_b_init(m->b, "shape", fuzz_one_in(m->c, 3) ? "int64[3]{2,0,-1}" : "int64[2]{0,-1}");
    oc_buf_free(&type);
}

/* What only broken files have: no tensor in an attribute, dimensions that overflow, a graph without name. */
static void damage(struct maker *m)
{
    Onnx__ModelProto *model = oc_b_model(m->b);
    Onnx__NodeProto *n =
        model->graph->n_node ? model->graph->node[fuzz_below(m->c, model->graph->n_node)] : NULL;
    switch (fuzz_below(m->c, 6)) {
    case 0:
        if (n && n->n_attribute)
            n->attribute[0]->t = NULL, n->attribute[0]->g = NULL;
        break;
    case 1:
        if (model->graph->n_initializer)
            model->graph->initializer[fuzz_below(m->c, model->graph->n_initializer)]->data_type =
                (int)fuzz_below(m->c, 40);
        break;
    case 2:
        if (n && n->n_input)
            n->n_input--;
        break;
    case 3:
        if (n && n->n_output)
            n->n_output--;
        break;
    case 4:
        model->graph->n_output = 0;
        break;
    default:
        if (model->n_opset_import)
            model->opset_import[0]->version = (int64_t)fuzz_below(m->c, 40) - 2;
    }
}

void fuzz_make_model(struct fuzz_case *k, struct oc_buf *out)
{
    static const int opsets[] = {7, 11, 13, 17, 17, 21, 24};
    struct maker m = {
        .k = k, .c = k->choices, .b = oc_b_new(opsets[fuzz_below(k->choices, OC_COUNT(opsets))])};
    oc_b_opset(m.b, "local", 1);
    oc_b_opset(m.b, "com.microsoft", 1);
    k->n_name = 0;
    oc_buf_clear(&k->names);
    inputs(&m);
    nodes(&m, MAX_NODES);
    if (fuzz_one_in(m.c, 4))
        function(&m);
    for (size_t i = 1 + fuzz_below(m.c, 2); i; i--)
        oc_b_output(m.b, any_value(&m), fuzz_one_in(m.c, 2) ? NULL : "float[N,?]");
    if (fuzz_one_in(m.c, 4))
        damage(&m);
    size_t n;
    uint8_t *bytes = oc_b_pack(m.b, &n);
    oc_buf_add(out, bytes, n);
    free(bytes);
    oc_b_free(m.b);
}
