/* Loading: the content of a file appears in the graph, and every damaged file is an error with a location. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "model/model.h"
#include "support/build.h"
#include "onnxcost.h"

static struct oc_model *load_ok(struct oc_builder *b, uint8_t **bytes)
{
    size_t n;
    struct oc_model *m = NULL;
    struct oc_err err = {0};
    *bytes = oc_b_pack(b, &n);
    oc_b_free(b);
    if (oc_model_load_mem(*bytes, n, NULL, &m, &err))
        fail_msg("%s", err.msg);
    return m;
}

static void load_fails(struct oc_builder *b, const char *needle)
{
    size_t n;
    struct oc_model *m = NULL;
    struct oc_err err = {0};
    uint8_t *bytes = oc_b_pack(b, &n);
    oc_b_free(b);
    assert_int_equal(oc_model_load_mem(bytes, n, NULL, &m, &err), -1);
    if (!strstr(err.msg, needle))
        fail_msg("'%s' does not contain '%s'", err.msg, needle);
    assert_null(strchr(err.msg, '\n'));
    free(bytes);
}

static uint32_t find_value(const struct oc_model *m, const char *name)
{
    for (uint32_t i = 0; i < m->n_value; i++)
        if (strcmp(m->value[i].name, name) == 0)
            return i;
    fail_msg("no value '%s'", name);
    return 0;
}

static void loads_nodes_attributes_and_types(void **state)
{
    (void)state;
    uint8_t *bytes;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[N,3,?]");
    oc_b_init(b, "w", "float[4,3]{*0.5}");
    oc_b_node(b, "MatMul", NULL, "x,,w", "y", "a=1 s='text' f=0.5 l=1,2,3");
    oc_b_output(b, "y", "float[N,M]");
    struct oc_model *m = load_ok(b, &bytes);
    assert_int_equal(m->n_node, 1);
    assert_int_equal(m->n_symbol, 2);
    const struct oc_node *n = &m->node[0];
    char label[32];
    assert_string_equal(oc_node_label(m, n, label, sizeof(label)), "MatMul_0");
    assert_int_equal(n->opset, 17);
    assert_int_equal(n->n_in, 3);
    assert_int_equal(n->in[1], OC_NONE);
    assert_int_equal(n->in[0], find_value(m, "x"));
    assert_int_equal(oc_node_attr(n, "a")->i, 1);
    assert_string_equal(oc_node_attr(n, "s")->s.s, "text");
    assert_int_equal(oc_node_attr(n, "l")->n, 3);
    assert_int_equal(oc_node_attr(n, "l")->ints[2], 3);
    assert_null(oc_node_attr(n, "nothing"));
    const struct oc_value *x = &m->value[n->in[0]], *y = &m->value[n->out[0]], *w = &m->value[n->in[2]];
    assert_true(x->graph_input && y->graph_output && w->constant);
    assert_int_equal(x->declared->shape.rank, 3);
    assert_int_equal(x->declared->shape.dim[0].expr, 1); /* N, the first symbol */
    assert_int_equal(x->declared->shape.dim[1].v, 3);
    assert_int_equal(x->declared->shape.dim[2].v, -1);
    assert_int_equal(w->constant->elements, 12);
    assert_int_equal(w->constant->size_bytes, 48);
    assert_int_equal(y->producer, 0);
    oc_model_free(m);
    free(bytes);
}

static double element_at(const struct oc_model *m, const char *name, unsigned i)
{
    struct oc_elem e[8];
    struct oc_arena a = {0};
    const struct oc_tensor *t = m->value[find_value(m, name)].constant;
    assert_true(oc_tensor_elems(m, t, (uint32_t)t->elements, e, &a));
    double v = e[i].kind == OC_E_REAL ? e[i].r : (double)e[i].i.v;
    oc_arena_free(&a);
    return v;
}

/* A graph "g" with one node of type "T" that has one attribute "a" with these bytes (at most 90). */
static struct oc_model *load_attribute(const char *bytes, size_t n)
{
    static uint8_t file[128];
    struct oc_model *m = NULL;
    struct oc_err err = {0};
    const uint8_t attribute = (uint8_t)(n + 3), node = (uint8_t)(attribute + 5), graph = (uint8_t)(node + 5);
    const uint8_t head[] = {0x08, 3,     0x42, 2,   0x10, 17,   /* ir_version, opset_import */
                            0x3a, graph, 0x12, 1,   'g',  0x0a, /* graph, its name, node */
                            node, 0x22,  1,    'T', 0x2a, attribute,
                            0x0a, 1,     'a'}; /* op_type, attribute, its name */
    memcpy(file, head, sizeof(head));
    memcpy(file + sizeof(head), bytes, n);
    if (oc_model_load_mem(file, sizeof(head) + n, NULL, &m, &err))
        fail_msg("%s", err.msg);
    assert_int_equal(m->n_node, 1);
    assert_int_equal(m->node[0].n_attr, 1);
    return m;
}

/* ints is field 8: 0x40 one number, 0x42 packed ones. */
static void lists_merge_packed_and_single_numbers_in_order(void **state)
{
    (void)state;
    static const char bytes[] = "\x40\x01"
                                "\x42\x03\x02\x80\x01"
                                "\x42\x00"
                                "\x40\x04"
                                "\xa0\x01\x07"
                                "\x42\x01\x05";
    static const int64_t want[] = {1, 2, 128, 4, 5};
    struct oc_model *m = load_attribute(bytes, sizeof(bytes) - 1);
    const struct oc_attr *a = &m->node[0].attr[0];
    assert_int_equal(a->type, OC_ATTR_INTS);
    assert_int_equal(a->n, OC_COUNT(want));
    assert_memory_equal(a->ints, want, sizeof(want));
    oc_model_free(m);
}

/* A tensor (field 5 of the attribute): int64[2,2], dims packed (0x0a) and not (0x08), int64_data not (0x38). */
static void tensors_have_lists_of_both_forms(void **state)
{
    (void)state;
    static const char bytes[] = "\x2a\x0f"
                                "\x08\x02\x0a\x01\x02"
                                "\x10\x07"
                                "\x38\x03\x38\x04\x38\x05\x38\x06";
    struct oc_model *m = load_attribute(bytes, sizeof(bytes) - 1);
    const struct oc_tensor *t = m->node[0].attr[0].tensors_or_null;
    struct oc_elem e[4];
    assert_non_null(t);
    assert_int_equal(t->dtype, OC_DT_INT64);
    assert_int_equal(t->rank, 2);
    assert_int_equal(t->elements, 4);
    assert_true(oc_tensor_elems(m, t, 4, e, &m->arena));
    for (int i = 0; i < 4; i++)
        assert_int_equal(e[i].i.v, 3 + i);
    oc_model_free(m);
}

/* The wrong wire type (i as bytes), an unknown field 99, and i twice. */
static void skips_unknown_fields_and_takes_the_last_number(void **state)
{
    (void)state;
    static const char bytes[] = "\x18\x05"
                                "\x9a\x06\x03xyz"
                                "\x18\x07"
                                "\x1a\x01z"
                                "\xa0\x01\x02";
    struct oc_model *m = load_attribute(bytes, sizeof(bytes) - 1);
    assert_int_equal(m->node[0].attr[0].type, OC_ATTR_INT);
    assert_int_equal(m->node[0].attr[0].i, 7);
    oc_model_free(m);
}

/* Field 1 of the graph as a number: no node. */
static void skips_a_node_of_the_wrong_wire_type(void **state)
{
    (void)state;
    static const char bytes[] = "\x08\x08"
                                "\x3a\x05\x08\x05\x12\x01g"
                                "\x42\x02\x10\x11";
    struct oc_model *m;
    struct oc_err err;
    assert_int_equal(oc_model_load_mem(bytes, sizeof(bytes) - 1, NULL, &m, &err), 0);
    assert_int_equal(m->n_node, 0);
    oc_model_free(m);
}

/* IR version 1 and 2 */
static void derives_the_type_of_an_attribute_without_one(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t n;
        unsigned type;
    } of[] = {{"\x15\0\0\x80\x3f", 5, OC_ATTR_FLOAT},      {"\x22\x01x", 3, OC_ATTR_STRING},
              {"\x3a\x04\0\0\x80\x3f", 6, OC_ATTR_FLOATS}, {"\x4a\x01x", 3, OC_ATTR_STRINGS},
              {"\x2a\x02\x10\x01", 4, OC_ATTR_TENSOR},     {"\x72\x00", 2, OC_ATTR_TYPE_PROTO}};
    for (size_t i = 0; i < OC_COUNT(of); i++) {
        struct oc_model *m = load_attribute(of[i].bytes, of[i].n);
        assert_int_equal(m->node[0].attr[0].type, of[i].type);
        oc_model_free(m);
    }
}

static void reads_elements_of_every_type(void **state)
{
    (void)state;
    static const struct {
        const char *tensor;
        double first, last;
        unsigned n;
    } row[] = {
        {"float[2]{1.5,-2.25}", 1.5, -2.25, 2},
        {"double[2]{1.5,-2.25}", 1.5, -2.25, 2},
        {"float16[2]{1.5,-2.25}", 1.5, -2.25, 2},
        {"bfloat16[2]{1.5,-2.25}", 1.5, -2.25, 2},
        {"int64[2]{5,-7}", 5, -7, 2},
        {"int32[2]{5,-7}", 5, -7, 2},
        {"int16[2]{5,-7}", 5, -7, 2},
        {"int8[2]{5,-7}", 5, -7, 2},
        {"uint8[2]{5,250}", 5, 250, 2},
        {"uint16[2]{5,65000}", 5, 65000, 2},
        {"uint32[2]{5,4000000000}", 5, 4e9, 2},
        {"uint64[2]{5,4000000000}", 5, 4e9, 2},
        {"bool[3]{1,0,1}", 1, 1, 3},
        {"int4[3]{5,-8,7}", 5, 7, 3},
        {"uint4[3]{5,15,9}", 5, 9, 3},
        {"int2[3]{1,-2,-1}", 1, -1, 3},
        {"float8e8m0[2]{127,130}", 1, 8, 2},   /* 2^(bits - 127) */
        {"float8e4m3fn[2]{56,184}", 1, -1, 2}, /* 0x38: exponent 7 - bias 7, 0xb8 the negative */
    };
    for (size_t i = 0; i < OC_COUNT(row); i++) {
        uint8_t *bytes;
        struct oc_builder *b = oc_b_new(21);
        oc_b_init(b, "raw", row[i].tensor);
        oc_b_init_fields(b, "fields", row[i].tensor);
        oc_b_node(b, "Identity", "n", "raw", "y", "");
        oc_b_output(b, "y", NULL);
        struct oc_model *m = load_ok(b, &bytes);
        const char *names[] = {"raw", "fields"};
        for (int k = 0; k < 2; k++) {
            if (element_at(m, names[k], 0) != row[i].first ||
                element_at(m, names[k], row[i].n - 1) != row[i].last)
                fail_msg("%s as %s: %g %g", row[i].tensor, names[k], element_at(m, names[k], 0),
                         element_at(m, names[k], row[i].n - 1));
        }
        oc_model_free(m);
        free(bytes);
    }
}

static void sorts_nodes_topologically(void **state)
{
    (void)state;
    uint8_t *bytes;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[1]");
    oc_b_node(b, "Relu", "third", "b", "c", "");
    oc_b_node(b, "Relu", "second", "a", "b", "");
    oc_b_node(b, "Relu", "first", "x", "a", "");
    oc_b_output(b, "c", NULL);
    struct oc_model *m = load_ok(b, &bytes);
    assert_string_equal(m->node[m->graph[0].node[0]].name, "first");
    assert_string_equal(m->node[m->graph[0].node[2]].name, "third");
    assert_int_equal(m->diags.n, 1);
    assert_string_equal(m->diags.item[0].code, "W-order");
    oc_model_free(m);
    free(bytes);
}

static void sort_respects_values_captured_by_bodies(void **state)
{
    (void)state; /* the If reads `late` only in its body: it must come after its producer */
    uint8_t *bytes;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[1]");
    oc_b_input(b, "c", "bool[]");
    oc_b_node(b, "If", "branch", "c", "y", "");
    oc_b_open(b, "then_branch");
    oc_b_node(b, "Relu", "inner", "late", "t", "");
    oc_b_output(b, "t", NULL);
    oc_b_close(b);
    oc_b_open(b, "else_branch");
    oc_b_node(b, "Neg", "other", "x", "e", "");
    oc_b_output(b, "e", NULL);
    oc_b_close(b);
    oc_b_node(b, "Abs", "makes_late", "x", "late", "");
    oc_b_output(b, "y", NULL);
    struct oc_model *m = load_ok(b, &bytes);
    assert_string_equal(m->node[m->graph[0].node[0]].name, "makes_late");
    assert_int_equal(m->n_graph, 3);
    assert_string_equal(m->graph[1].scope, "branch/then_branch");
    assert_int_equal(m->n_capture, 2);
    oc_model_free(m);
    free(bytes);
}

/* Messages of attributes repeat; the graph in one belongs to its node. */
static void equal_bodies_are_graphs_of_their_own(void **state)
{
    (void)state;
    uint8_t *bytes;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[1]");
    oc_b_input(b, "c", "bool[]");
    for (int i = 0; i < 2; i++) {
        oc_b_node(b, "If", "", "c", i ? "z" : "y", "");
        oc_b_open(b, "then_branch");
        oc_b_output(b, "x", NULL);
        oc_b_close(b);
        oc_b_open(b, "else_branch");
        oc_b_output(b, "x", NULL);
        oc_b_close(b);
    }
    oc_b_output(b, "z", NULL);
    struct oc_model *m = load_ok(b, &bytes);
    assert_int_equal(m->n_graph, 5);
    for (uint32_t g = 1; g < 5; g++)
        assert_int_equal(m->graph[g].parent_node, (g - 1) / 2);
    oc_model_free(m);
    free(bytes);
}

/* A name that a body defines itself, even in a later node, is not the outer value. */
static void body_names_shadow_outer_names(void **state)
{
    (void)state;
    uint8_t *bytes;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[1]");
    oc_b_input(b, "c", "bool[]");
    oc_b_node(b, "Abs", "outer", "x", "v", "");
    oc_b_node(b, "If", "branch", "c", "y", "");
    oc_b_open(b, "then_branch");
    oc_b_node(b, "Relu", "reads", "v", "t", "");
    oc_b_node(b, "Neg", "makes", "x", "v", "");
    oc_b_output(b, "t", NULL);
    oc_b_close(b);
    oc_b_open(b, "else_branch");
    oc_b_node(b, "Neg", "other", "v", "e", "");
    oc_b_output(b, "e", NULL);
    oc_b_close(b);
    oc_b_output(b, "y", NULL);
    struct oc_model *m = load_ok(b, &bytes);
    const struct oc_node *first = &m->node[m->graph[1].node[0]], *second = &m->node[m->graph[1].node[1]];
    assert_string_equal(first->name, "makes"); /* sorted */
    assert_string_equal(second->name, "reads");
    assert_int_equal(second->in[0], first->out[0]);
    const struct oc_node *other = &m->node[m->graph[2].node[0]];
    assert_int_equal(m->value[other->in[0]].graph, 0);
    assert_int_equal(m->value[first->out[0]].n_use, 1);
    assert_int_equal(m->value[other->in[0]].n_use, 1);
    assert_int_equal(m->n_capture, 2); /* x in one branch, v in the other */
    oc_model_free(m);
    free(bytes);
}

static void add_function(struct oc_builder *b, const char *name, const char *op)
{
    oc_b_function(b, "my", name, "a,b", "r", "alpha=0.25 beta");
    oc_b_opset(b, "", 15);
    oc_b_opset(b, "my", 1);
    oc_b_node(b, op, "inner", "a,b", "t", "alpha:float=@alpha beta:int=@beta");
    oc_b_node(b, "Relu", NULL, "t", "r", "");
    oc_b_close(b);
}

static void inlines_functions(void **state)
{
    (void)state;
    uint8_t *bytes;
    struct oc_builder *b = oc_b_new(17);
    oc_b_opset(b, "my", 1);
    add_function(b, "F", "Add");
    oc_b_input(b, "x", "float[1]");
    oc_b_node(b, "my::F", "call1", "x,x", "y", "beta=7");
    oc_b_node(b, "my::F", "call2", "y", "z", "alpha=0.5");
    oc_b_output(b, "z", NULL);
    struct oc_model *m = load_ok(b, &bytes);
    assert_int_equal(m->n_node, 6);
    assert_int_equal(m->node[0].kind, OC_NODE_CALL);
    const struct oc_graph *g = &m->graph[m->node[0].body];
    const struct oc_node *inner = &m->node[g->node[0]], *relu = &m->node[g->node[1]];
    assert_string_equal(inner->name, "call1/inner");
    assert_string_equal(g->scope, "call1");
    assert_int_equal(inner->opset, 15);
    assert_int_equal(inner->in[1], find_value(m, "x"));
    assert_int_equal(relu->out[0], find_value(m, "y"));
    assert_float_equal(oc_node_attr(inner, "alpha")->f, 0.25f, 0);
    assert_int_equal(oc_node_attr(inner, "beta")->i, 7);
    const struct oc_node *again = &m->node[m->graph[m->node[1].body].node[0]];
    assert_int_equal(again->in[1], OC_NONE); /* the second input is omitted */
    assert_float_equal(oc_node_attr(again, "alpha")->f, 0.5f, 0);
    assert_null(oc_node_attr(again, "beta")); /* neither given nor with a default */
    oc_model_free(m);
    free(bytes);
}

static struct oc_builder *one_relu(void)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[1]");
    oc_b_node(b, "Relu", "n", "x", "y", "");
    oc_b_output(b, "y", NULL);
    return b;
}

static struct oc_model *load_now(struct oc_builder *b, uint8_t **bytes)
{
    size_t n;
    struct oc_model *m;
    struct oc_err err;
    *bytes = oc_b_pack(b, &n);
    oc_b_free(b);
    assert_int_equal(oc_model_load_mem(*bytes, n, NULL, &m, &err), 0);
    return m;
}

/* What ONNX Runtime runs: of two imports of a domain and of two Constants of one name the last one counts. */
static void repeated_imports_and_constants_load_with_a_warning(void **state)
{
    (void)state;
    struct oc_builder *b = one_relu();
    Onnx__OperatorSetIdProto first = *oc_b_model(b)->opset_import[0],
                             *imports[] = {&first, oc_b_model(b)->opset_import[0]};
    first.version = 0; /* also "ai.onnx" */
    first.domain = (char *)(uintptr_t) "ai.onnx";
    oc_b_model(b)->opset_import = imports;
    oc_b_model(b)->n_opset_import = 2;
    uint8_t *bytes;
    struct oc_model *m = load_now(b, &bytes);
    assert_int_equal(m->n_opset, 1);
    assert_int_equal(m->node[0].opset, 17);
    assert_int_equal(m->diags.n, 1);
    assert_string_equal(m->diags.item[0].code, "W-opset-twice");
    oc_model_free(m);
    free(bytes);
    b = one_relu();
    oc_b_node(b, "Constant", "c1", "", "k", "value=float[]{1}");
    oc_b_node(b, "Constant", "c2", "", "k", "value=float[]{2}");
    oc_b_node(b, "Add", "add", "y,k", "z", "");
    oc_b_output(b, "z", NULL);
    m = load_now(b, &bytes);
    uint32_t k = find_value(m, "k");
    assert_string_equal(m->node[m->value[k].producer].name, "c2");
    assert_int_equal(m->diags.n, 1);
    assert_string_equal(m->diags.item[0].code, "W-constant-twice");
    oc_model_free(m);
    free(bytes);
}

static void rejects_broken_graphs(void **state)
{
    (void)state;
    struct oc_builder *b = one_relu();
    oc_b_node(b, "Relu", "m", "nowhere", "z", "");
    load_fails(b, "node 'm' of type Relu: input 'nowhere' is not defined");
    b = one_relu();
    oc_b_node(b, "Relu", "m", "x", "y", "");
    load_fails(b, "value 'y' is defined twice");
    b = one_relu();
    oc_b_output(b, "q", NULL);
    load_fails(b, "graph output 'q' is not defined");
    b = oc_b_new(17);
    oc_b_node(b, "Relu", "one", "b", "a", "");
    oc_b_node(b, "Relu", "two", "a", "b", "");
    oc_b_output(b, "b", NULL);
    load_fails(b, "cycle through node 'one'");
    b = one_relu();
    oc_b_init(b, "big", "float[4611686018427387904,4]");
    load_fails(b, "tensor 'big': its dimensions overflow 64 bits");
    b = oc_b_new(17);
    oc_b_opset(b, "my", 1);
    oc_b_function(b, "my", "F", "a", "r", "");
    oc_b_opset(b, "my", 1);
    oc_b_node(b, "my::F", "again", "a", "r", "");
    oc_b_close(b);
    oc_b_input(b, "x", "float[1]");
    oc_b_node(b, "my::F", "call", "x", "y", "");
    oc_b_output(b, "y", NULL);
    load_fails(b, "function 'F' calls itself");
}

static void rejects_deep_nesting(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "c", "bool[]");
    for (int i = 0; i < 200; i++) {
        oc_b_node(b, "If", "deep", "c", "y", "");
        oc_b_open(b, "then_branch");
    }
    oc_b_node(b, "Identity", "bottom", "c", "y", "");
    for (int i = 0; i < 200; i++) {
        oc_b_output(b, "y", NULL);
        oc_b_close(b);
    }
    oc_b_output(b, "y", NULL);
    load_fails(b, "more than 64 levels of nested graphs (--limit depth=N)");
}

static void truncated_models_are_rejected_at_every_length(void **state)
{
    (void)state;
    struct oc_builder *b = one_relu();
    oc_b_init(b, "w", "float[2,2]{1,2,3,4}");
    oc_b_opset(b, "my", 1);
    add_function(b, "F", "Add");
    oc_b_node(b, "my::F", "call", "x,w", "z", "");
    size_t n;
    uint8_t *bytes = oc_b_pack(b, &n);
    oc_b_free(b);
    unsigned failed = 0, in_field = 0;
    for (size_t k = 0; k < n; k++) {
        uint8_t *cut = malloc(k ? k : 1); /* exact size: ASan reports a read past the end */
        memcpy(cut, bytes, k);
        struct oc_model *m = NULL;
        struct oc_err err = {0};
        if (oc_model_load_mem(cut, k, NULL, &m, &err)) {
            failed++;
            assert_true(err.msg[0] != '\0');
            in_field += strstr(err.msg, "than the rest of the file: is it truncated?") != NULL;
        }
        oc_model_free(m);
        free(cut);
    }
    assert_true(failed > n / 2 && in_field > n / 2); /* most bytes are in the graph and the function */
    free(bytes);
}

static void rejects_files_that_are_not_models(void **state)
{
    (void)state;
    static const char *const text[] = {"", "{\"traceEvents\": []}", "hello world, this is text\n",
                                       "\xff\xff\xff\xff"};
    for (size_t i = 0; i < OC_COUNT(text); i++) {
        struct oc_model *m = NULL;
        struct oc_err err = {0};
        assert_int_equal(oc_model_load_mem(text[i], strlen(text[i]), NULL, &m, &err), -1);
        assert_int_equal(err.code, OC_EFORMAT);
    }
    struct oc_model *m = NULL;
    struct oc_err err = {0};
    assert_int_equal(oc_model_load_mem("\x28\0\0\0ORTM\0\0\0", 11, NULL, &m, &err), -1);
    assert_non_null(strstr(err.msg, "this is a model in ORT format, not an ONNX model"));
    assert_int_equal(oc_model_load("/", NULL, &m, &err), -1);
    assert_non_null(strstr(err.msg, "directory"));
    assert_int_equal(oc_model_load("no-such-file.onnx", NULL, &m, &err), -1);
    assert_non_null(strstr(err.msg, "no-such-file.onnx"));
}

static void write_file(const char *path, const void *data, size_t n)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, n, f), n);
    fclose(f);
}

static void finds_external_data(void **state)
{
    (void)state;
    char dir[] = "/tmp/oc_external_XXXXXX", model[64], data[64], link[64];
    assert_non_null(mkdtemp(dir));
    snprintf(model, sizeof(model), "%s/m.onnx", dir);
    snprintf(data, sizeof(data), "%s/m.data", dir);
    snprintf(link, sizeof(link), "%s/link.data", dir);
    const uint8_t values[24] = {[0] = 9, [8] = 11, [16] = 13}; /* int64, little-endian */
    write_file(data, values, sizeof(values));
    bool has_link = symlink("/etc/passwd", link) == 0;
#ifndef _WIN32
    assert_true(has_link);
#endif
    struct oc_builder *b = one_relu();
    oc_b_init_external(b, "good", "int64[2]", "m.data", 8, 16);
    oc_b_init_external(b, "missing", "int64[2]", "gone.data", 0, 16);
    oc_b_init_external(b, "missing2", "int64[2]", "gone.data", 16, 16);
    oc_b_init_external(b, "outside", "int64[2]", "../m.data", 0, 16);
    oc_b_init_external(b, "absolute", "int64[2]", "/etc/passwd", 0, 16);
    oc_b_init_external(b, "inside", "int64[2]", data, 0, 16); /* absolute, but in the folder */
    oc_b_init_external(b, "linked", "int64[2]", "link.data", 0, 16);
    assert_int_equal(oc_b_save(b, model), 0);
    oc_b_free(b);
    struct oc_model *m = NULL;
    struct oc_err err = {0};
    if (oc_model_load(model, NULL, &m, &err))
        fail_msg("%s", err.msg);
    assert_true(element_at(m, "good", 0) == 11 && element_at(m, "good", 1) == 13);
    static const char *const absent[] = {"missing", "outside", "absolute", "inside", "linked"};
    for (size_t i = 0; i < OC_COUNT(absent); i++) {
        struct oc_elem e[2];
        const struct oc_tensor *t = m->value[find_value(m, absent[i])].constant;
        assert_int_equal(t->size_bytes, 16);
        assert_false(oc_tensor_elems(m, t, 2, e, &m->arena));
    }
    unsigned missing = 0, refused = 0;
    for (size_t i = 0; i < m->diags.n; i++) {
        missing += strcmp(m->diags.item[i].code, "W-external-missing") == 0;
        refused += strcmp(m->diags.item[i].code, "W-external-path") == 0;
    }
    assert_int_equal(missing, has_link ? 1 : 2); /* once per file */
    assert_int_equal(refused, has_link ? 4 : 3);
    oc_model_free(m);
    unlink(model);
    unlink(data);
    unlink(link);
    rmdir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_nodes_attributes_and_types),
        cmocka_unit_test(lists_merge_packed_and_single_numbers_in_order),
        cmocka_unit_test(skips_unknown_fields_and_takes_the_last_number),
        cmocka_unit_test(tensors_have_lists_of_both_forms),
        cmocka_unit_test(skips_a_node_of_the_wrong_wire_type),
        cmocka_unit_test(derives_the_type_of_an_attribute_without_one),
        cmocka_unit_test(reads_elements_of_every_type),
        cmocka_unit_test(sorts_nodes_topologically),
        cmocka_unit_test(sort_respects_values_captured_by_bodies),
        cmocka_unit_test(equal_bodies_are_graphs_of_their_own),
        cmocka_unit_test(body_names_shadow_outer_names),
        cmocka_unit_test(inlines_functions),
        cmocka_unit_test(repeated_imports_and_constants_load_with_a_warning),
        cmocka_unit_test(rejects_broken_graphs),
        cmocka_unit_test(rejects_deep_nesting),
        cmocka_unit_test(truncated_models_are_rejected_at_every_length),
        cmocka_unit_test(rejects_files_that_are_not_models),
        cmocka_unit_test(finds_external_data),
    };
    return cmocka_run_group_tests_name("model/load", tests, NULL, NULL);
}
