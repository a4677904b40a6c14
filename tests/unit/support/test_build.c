#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/build.h"

/* Packs, frees the builder and reads the bytes back, as a loader does. */
static Onnx__ModelProto *reread(struct oc_builder *b)
{
    size_t n;
    uint8_t *bytes = oc_b_pack(b, &n);
    oc_b_free(b);
    Onnx__ModelProto *m = onnx__model_proto__unpack(NULL, n, bytes);
    free(bytes);
    assert_non_null(m);
    return m;
}

static void model_free(Onnx__ModelProto *m)
{
    onnx__model_proto__free_unpacked(m, NULL);
}

static void packs_a_small_graph(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[N,3,?,224]");
    oc_b_init(b, "w", "float[64,3,7,7]");
    oc_b_node(b, "Conv", "conv1", "x, w,", "y", "strides=2,2 pads=3,3,3,3 group=1");
    oc_b_output(b, "y", NULL);
    Onnx__ModelProto *m = reread(b);
    assert_int_equal(m->ir_version, 8);
    assert_int_equal(m->opset_import[0]->version, 17);
    const Onnx__GraphProto *g = m->graph;
    const Onnx__TensorShapeProto *s = g->input[0]->type->tensor_type->shape;
    assert_int_equal(g->input[0]->type->tensor_type->elem_type, ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT);
    assert_int_equal(s->n_dim, 4);
    assert_string_equal(s->dim[0]->dim_param, "N");
    assert_int_equal(s->dim[1]->dim_value, 3);
    assert_false(s->dim[2]->has_dim_value);
    assert_null(s->dim[2]->dim_param);
    assert_null(g->output[0]->type);
    assert_int_equal(g->initializer[0]->n_dims, 4);
    assert_false(g->initializer[0]->has_raw_data);
    const Onnx__NodeProto *n = g->node[0];
    assert_int_equal(n->n_input, 3);
    assert_string_equal(n->input[1], "w");
    assert_string_equal(n->input[2], "");
    assert_int_equal(n->attribute[1]->n_ints, 4);
    assert_int_equal(n->attribute[2]->type, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT);
    model_free(m);
}

static void packs_every_attribute_form(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_node(b, "T", NULL, "", "",
              "i=-7 f=0.5 big=-inf s='a b' w=SAME_UPPER l=[3] fs=1.0,2 ss='a','b' e:ints=[] "
              "one:float=1 many:floats=[1,2] t=int64[2]{4,5} ty:type=seq(float[N]) r:int=@axis");
    Onnx__ModelProto *m = reread(b);
    Onnx__AttributeProto **a = m->graph->node[0]->attribute;
    static const int types[] = {2, 1, 1, 3, 3, 7, 6, 8, 7, 1, 6, 4, 13, 2};
    assert_int_equal(m->graph->node[0]->n_attribute, 14);
    for (size_t i = 0; i < 14; i++)
        assert_int_equal(a[i]->type, types[i]);
    assert_int_equal(a[0]->i, -7);
    assert_true(a[1]->f == 0.5F);
    assert_true(isinf(a[2]->f) && a[2]->f < 0);
    assert_memory_equal(a[3]->s.data, "a b", 3);
    assert_memory_equal(a[4]->s.data, "SAME_UPPER", a[4]->s.len);
    assert_int_equal(a[5]->ints[0], 3);
    assert_true(a[6]->floats[1] == 2.0F);
    assert_memory_equal(a[7]->strings[1].data, "b", 1);
    assert_int_equal(a[8]->n_ints, 0);
    assert_true(a[9]->f == 1.0F);
    assert_int_equal(a[10]->n_floats, 2);
    assert_int_equal(a[11]->t->raw_data.len, 16);
    assert_non_null(a[12]->tp->sequence_type->elem_type->tensor_type);
    assert_string_equal(a[13]->ref_attr_name, "axis");
    assert_false(a[13]->has_i);
    model_free(m);
}

static void packs_bodies_and_functions(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(18);
    oc_b_opset(b, "my", 1);
    oc_b_node(b, "If", "if1", "c", "y", "");
    oc_b_open(b, "then_branch");
    oc_b_node(b, "my::Twice", "t", "x", "y1", "by=2.5");
    oc_b_output(b, "y1", "float[2]");
    oc_b_close(b);
    oc_b_open(b, "else_branch");
    oc_b_init(b, "k", "float[2]{1,2}");
    oc_b_output(b, "k", NULL);
    oc_b_close(b);
    oc_b_function(b, "my", "Twice", "a", "b", "axis by=2.0");
    oc_b_opset(b, "", 18);
    oc_b_node(b, "Add", "add", "a,a", "b", "");
    oc_b_close(b);
    oc_b_output(b, "y", NULL);
    Onnx__ModelProto *m = reread(b);
    const Onnx__NodeProto *n = m->graph->node[0];
    assert_int_equal(n->n_attribute, 2);
    assert_string_equal(n->attribute[0]->g->node[0]->domain, "my");
    assert_string_equal(n->attribute[0]->g->node[0]->op_type, "Twice");
    assert_int_equal(n->attribute[1]->g->n_initializer, 1);
    assert_int_equal(m->n_opset_import, 2);
    const Onnx__FunctionProto *f = m->functions[0];
    assert_int_equal(f->n_node, 1);
    assert_string_equal(f->attribute[0], "axis");
    assert_true(f->attribute_proto[0]->f == 2.0F);
    assert_int_equal(f->opset_import[0]->version, 18);
    assert_int_equal(m->graph->n_output, 1);
    model_free(m);
}

static void check_raw(const char *text, const void *want, size_t n)
{
    struct oc_builder *b = oc_b_new(25);
    const Onnx__TensorProto *t = oc_b_init(b, "t", text);
    assert_true(t->has_raw_data);
    assert_int_equal(t->raw_data.len, n);
    assert_memory_equal(t->raw_data.data, want, n);
    oc_b_free(b);
}

/* Bit patterns computed by hand. half: 1 = 3c00; 1/3 = 0x1.555p-2 -> 3555; 65520 rounds to infinity; 2^-24 is
 * the smallest subnormal; 2^-25 is a tie and rounds to even, 0; 2049 is a tie between 2048 (6800) and 2050
 * and rounds to even. bfloat16: 1 = 3f80; 1/3 = 3eaaaaab -> 3eab. */
static void packs_element_bits_of_every_type(void **state)
{
    (void)state;
    check_raw("float[2]{1,-0.5}", (uint8_t[]){0, 0, 0x80, 0x3f, 0, 0, 0, 0xbf}, 8);
    check_raw("float16[6]{1,0.333333333,65520,5.9604644775390625e-08,2.98023223876953125e-08,2049}",
              (uint8_t[]){0, 0x3c, 0x55, 0x35, 0, 0x7c, 1, 0, 0, 0, 0, 0x68}, 12);
    check_raw("float16[4]{-2,6.103515625e-05,3.0517578125e-05,-inf}",
              (uint8_t[]){0, 0xc0, 0, 0x04, 0, 0x02, 0, 0xfc}, 8);
    check_raw("bfloat16[2]{1,0.33333333}", (uint8_t[]){0x80, 0x3f, 0xab, 0x3e}, 4);
    check_raw("int64[1]{-2}", (uint8_t[]){0xfe, 255, 255, 255, 255, 255, 255, 255}, 8);
    check_raw("uint64[]{18446744073709551615}", (uint8_t[]){255, 255, 255, 255, 255, 255, 255, 255}, 8);
    check_raw("int4[3]{-1,2,7}", (uint8_t[]){0x2f, 0x07}, 2);
    check_raw("uint2[5]{3,0,1,2,1}", (uint8_t[]){0x93, 0x01}, 2);
    check_raw("float8e4m3fn[2]{0x38,0xb8}", (uint8_t[]){0x38, 0xb8}, 2);
    check_raw("bool[3]{*1}", (uint8_t[]){1, 1, 1}, 3);
    check_raw("complex64[1]{1,2}", (uint8_t[]){0, 0, 0x80, 0x3f, 0, 0, 0, 0x40}, 8);
    check_raw("int64[0]{}", "", 0);
}

static void packs_typed_fields(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(21);
    Onnx__TensorProto *t = oc_b_init_fields(b, "a", "int8[2]{-3,4}");
    assert_int_equal(t->n_int32_data, 2);
    assert_int_equal(t->int32_data[0], -3);
    assert_false(t->has_raw_data);
    assert_int_equal(oc_b_init_fields(b, "b", "float16[1]{1}")->int32_data[0], 0x3c00);
    assert_true(oc_b_init_fields(b, "c", "double[1]{0.1}")->double_data[0] == 0.1);
    assert_true(oc_b_init_fields(b, "d", "complex64[1]{1,2}")->float_data[1] == 2.0F);
    assert_int_equal(oc_b_init_fields(b, "e", "uint32[1]{4294967295}")->uint64_data[0], 4294967295u);
    assert_int_equal(oc_b_init_fields(b, "f", "int64[1]{-5}")->int64_data[0], -5);
    assert_int_equal(oc_b_init_fields(b, "g", "int32[1]{-5}")->int32_data[0], -5);
    assert_int_equal(oc_b_init_fields(b, "h", "uint4[3]{1,2,3}")->int32_data[0], 0x21);
    assert_memory_equal(oc_b_init(b, "s", "string[2]{'ab','c'}")->string_data[1].data, "c", 1);
    oc_b_free(b);
}

static void packs_types(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(21);
    const Onnx__TypeProto *t = oc_b_input(b, "m", "map(int64,seq(float))")->type;
    assert_int_equal(t->map_type->key_type, ONNX__TENSOR_PROTO__DATA_TYPE__INT64);
    assert_null(t->map_type->value_type->sequence_type->elem_type->tensor_type->shape);
    t = oc_b_input(b, "o", "optional(float16[])")->type;
    assert_int_equal(t->optional_type->elem_type->tensor_type->shape->n_dim, 0);
    t = oc_b_input(b, "s", "sparse(float[3,4])")->type;
    assert_int_equal(t->sparse_tensor_type->shape->n_dim, 2);
    assert_string_equal(oc_b_input(b, "q", "opaque(d,n)")->type->opaque_type->name, "n");
    assert_string_equal(
        oc_b_value(b, "e", "float[floor((H-1)/2)+1]")->type->tensor_type->shape->dim[0]->dim_param,
        "floor((H-1)/2)+1");
    oc_b_free(b);
}

static void packs_external_data(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    const Onnx__TensorProto *t = oc_b_init_external(b, "w", "float[2,3]", "m.data", 64, 24);
    assert_int_equal(t->data_location, ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL);
    assert_string_equal(t->external_data[1]->key, "offset");
    assert_string_equal(t->external_data[1]->value, "64");
    const Onnx__SparseTensorProto *s = oc_b_init_sparse(b, "sp", "float[1]{5}", "int64[1]{3}", "2,2");
    assert_int_equal(s->n_dims, 2);
    assert_string_equal(s->values->name, "sp");
    assert_int_equal(oc_b_init_raw(b, "r", "uint8[2]", "ab", 2)->raw_data.data[1], 'b');
    oc_b_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packs_a_small_graph),        cmocka_unit_test(packs_every_attribute_form),
        cmocka_unit_test(packs_bodies_and_functions), cmocka_unit_test(packs_element_bits_of_every_type),
        cmocka_unit_test(packs_typed_fields),         cmocka_unit_test(packs_types),
        cmocka_unit_test(packs_external_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
