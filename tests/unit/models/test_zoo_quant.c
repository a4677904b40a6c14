/* Quantized models: what the floating-point layers become, and the numbers in the files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/wire.h"
#include "zoo.h"
#include "onnxcost.h"

static const Onnx__GraphProto *build_model(struct zoo *z, const char *name)
{
    zoo_init(z, 17);
    zoo_find(name)->build(z);
    return oc_b_model(z->b)->graph;
}

static void check_nodes(const Onnx__GraphProto *g, const char *op_type, size_t expected)
{
    size_t n = 0;
    for (size_t i = 0; i < g->n_node; i++)
        n += !strcmp(g->node[i]->op_type, op_type);
    if (n != expected)
        fail_msg("%zu %s, not %zu", n, op_type, expected);
}

/* Published parameters minus weight and bias of the batch norms (26,560 and 17,056 channels), which are
 * folded, plus a bias for each of those channels. The number of multiplications is unchanged. */
static void quantized_parameters_match_published_counts(void **state)
{
    (void)state;
    struct zoo z;
    build_model(&z, "resnet50_qdq");
    assert_int_equal(zoo_param_elements(&z), 25557032 - 2 * 26560 + 26560);
    zoo_free(&z);
    build_model(&z, "mobilenetv2_qoperator");
    assert_int_equal(zoo_param_elements(&z), 3504872 - 2 * 17056 + 17056);
    zoo_free(&z);
    assert_int_equal(zoo_find("resnet50_qdq")->macs, zoo_find("resnet50")->macs);
    assert_int_equal(zoo_find("resnet18_qdq")->macs, zoo_find("resnet18")->macs);
    assert_int_equal(zoo_find("mobilenetv2_qoperator")->macs, zoo_find("mobilenetv2")->macs);
}

/* Quantized are the input and the outputs of 53 Conv, 16 Add, MaxPool, GlobalAveragePool, Flatten and Gemm;
 * weight and bias of 54 layers have a DequantizeLinear each. */
static void qdq_model_has_the_expected_nodes(void **state)
{
    (void)state;
    struct zoo z;
    const Onnx__GraphProto *g = build_model(&z, "resnet50_qdq");
    check_nodes(g, "Conv", 53);
    check_nodes(g, "Add", 16);
    check_nodes(g, "Relu", 0);
    check_nodes(g, "BatchNormalization", 0);
    check_nodes(g, "QuantizeLinear", 74);
    check_nodes(g, "DequantizeLinear", 74 + 2 * 54);
    assert_int_equal(g->n_node, 53 + 16 + 4 + 74 + 74 + 2 * 54);
    assert_string_equal(g->node[0]->name, "input_QuantizeLinear");
    assert_string_equal(g->node[2]->input[0], "onnx::Conv_1000_quantized");
    assert_string_equal(g->node[4]->name, "/conv1/Conv");
    assert_string_equal(g->node[4]->input[2], "onnx::Conv_1001_DequantizeLinear_Output");
    zoo_free(&z);
}

static void qoperator_model_has_the_expected_nodes(void **state)
{
    (void)state;
    struct zoo z;
    const Onnx__GraphProto *g = build_model(&z, "mobilenetv2_qoperator");
    check_nodes(g, "QLinearConv", 52);
    check_nodes(g, "QLinearAdd", 10);
    check_nodes(g, "QLinearGlobalAveragePool", 1);
    check_nodes(g, "QGemm", 1);
    assert_int_equal(g->n_node, 52 + 10 + 1 + 1 + 1 + 2); /* Flatten, QuantizeLinear, DequantizeLinear */
    assert_string_equal(g->node[1]->name, "/features/features.0/features.0.0/Conv_quant");
    assert_int_equal(g->node[1]->n_input, 9);
    zoo_free(&z);
}

/* 20 convolutions of 17 tensors: three share an input with another one. Each is an integer product, a cast,
 * two products with scales and the sum with a bias (with its own Reshape); the rest is as in floating point:
 * 8 additions of blocks, 17 Relu, MaxPool, GlobalAveragePool, Flatten, Gemm. Parameters: published minus 2 *
 * 4,800 of the batch norms plus a bias for each of those channels. */
static void dynamic_model_has_the_expected_nodes(void **state)
{
    (void)state;
    struct zoo z;
    const Onnx__GraphProto *g = build_model(&z, "resnet18_dynamic");
    check_nodes(g, "ConvInteger", 20);
    check_nodes(g, "DynamicQuantizeLinear", 17);
    check_nodes(g, "Cast", 20);
    check_nodes(g, "Mul", 2 * 20);
    check_nodes(g, "Add", 20 + 8);
    check_nodes(g, "Reshape", 20);
    check_nodes(g, "Relu", 17);
    assert_int_equal(g->n_node, 20 + 17 + 20 + 40 + 28 + 20 + 17 + 4);
    assert_string_equal(g->node[0]->name, "input_QuantizeLinear");
    assert_string_equal(g->node[1]->name, "/conv1/Conv_quant");
    assert_string_equal(g->node[1]->input[2], "input_zero_point");
    assert_string_equal(g->node[1]->input[3], "onnx::Conv_1000_zero_point");
    assert_int_equal(zoo_param_elements(&z), 11689512 - 2 * 4800 + 4800);
    zoo_free(&z);
    g = build_model(&z, "mobilenetv2_dynamic");
    check_nodes(g, "ConvInteger", 52);
    check_nodes(g, "DynamicQuantizeLinear", 52);
    assert_int_equal(zoo_param_elements(&z), 3504872 - 2 * 17056 + 17056);
    zoo_free(&z);
    assert_int_equal(zoo_find("resnet18_dynamic")->macs, zoo_find("resnet18")->macs);
    assert_int_equal(zoo_find("mobilenetv2_dynamic")->macs, zoo_find("mobilenetv2")->macs);
}

static const Onnx__TensorProto *find_tensor(const Onnx__GraphProto *g, const char *name)
{
    for (size_t i = 0; i < g->n_initializer; i++)
        if (!strcmp(g->initializer[i]->name, name))
            return g->initializer[i];
    fail_msg("no initializer %s", name);
    return NULL;
}

static float float_of(const Onnx__TensorProto *t)
{
    float v;
    assert_true(t->raw_data.len >= sizeof(v));
    uint32_t bits = (uint32_t)oc_load_le(t->raw_data.data, sizeof(bits));
    memcpy(&v, &bits, sizeof(v));
    return v;
}

/* Images are -1 to 1: 2 / 255, and -1 is 127.5 steps below 0. After a Relu 4 / 255 from 0, in a sum without
 * one 16 / 255. 7 x 7 x 3 = 147 weights reach sqrt(3 / 147) = 1/7 in 127 steps; a step of the bias is the
 * product. */
static void scales_match_the_value_ranges(void **state)
{
    (void)state;
    struct zoo z;
    const Onnx__GraphProto *g = build_model(&z, "resnet50_qdq");
    assert_float_equal(float_of(find_tensor(g, "input_scale")), 2.0 / 255, 1e-8);
    assert_int_equal(find_tensor(g, "input_zero_point")->raw_data.data[0], 128);
    assert_float_equal(float_of(find_tensor(g, "/conv1/Conv_output_0_scale")), 4.0 / 255, 1e-8);
    assert_int_equal(find_tensor(g, "/conv1/Conv_output_0_zero_point")->raw_data.data[0], 0);
    assert_float_equal(float_of(find_tensor(g, "onnx::Conv_1000_scale")), 1.0 / 7 / 127, 1e-8);
    assert_int_equal(find_tensor(g, "onnx::Conv_1000_scale")->dims[0], 64);
    assert_float_equal(float_of(find_tensor(g, "onnx::Conv_1001_quantized_scale")), 2.0 / 255 / 7 / 127,
                       1e-10);
    assert_int_equal(find_tensor(g, "onnx::Conv_1001_quantized")->data_type,
                     ONNX__TENSOR_PROTO__DATA_TYPE__INT32);
    zoo_free(&z);
    g = build_model(&z, "mobilenetv2_qoperator");
    assert_float_equal(float_of(find_tensor(g, "/features/features.3/Add_output_0_scale")), 16.0 / 255, 1e-8);
    assert_int_equal(find_tensor(g, "/features/features.3/Add_output_0_zero_point")->raw_data.data[0], 128);
    zoo_free(&z);
}

/* int8 weights are symmetric: -127 to 127, all of which occur among 1000 x 2048 numbers. */
static void written_int8_weights_are_symmetric(void **state)
{
    (void)state;
    struct zoo z;
    build_model(&z, "resnet50_qdq");
    FILE *f = tmpfile();
    assert_int_equal(zoo_write(&z, NULL, 1, f, NULL), 0);
    zoo_free(&z);
    size_t n = (size_t)ftell(f), seen[256] = {0};
    uint8_t *bytes = oc_xmalloc(n);
    rewind(f);
    assert_int_equal(fread(bytes, 1, n, f), n);
    fclose(f);
    Onnx__ModelProto *m = onnx__model_proto__unpack(NULL, n, bytes);
    assert_non_null(m);
    const Onnx__TensorProto *w = find_tensor(m->graph, "fc.weight_quantized"),
                            *b = find_tensor(m->graph, "fc.bias_quantized");
    assert_int_equal(w->raw_data.len, 1000 * 2048);
    for (size_t i = 0; i < w->raw_data.len; i++)
        seen[w->raw_data.data[i]]++;
    for (size_t i = 0; i < 256; i++)
        assert_true(i == 128 ? !seen[i] : seen[i] > 0);
    assert_int_equal(b->raw_data.len, 4 * 1000);
    onnx__model_proto__free_unpacked(m, NULL);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantized_parameters_match_published_counts),
        cmocka_unit_test(qdq_model_has_the_expected_nodes),
        cmocka_unit_test(qoperator_model_has_the_expected_nodes),
        cmocka_unit_test(scales_match_the_value_ranges),
        cmocka_unit_test(written_int8_weights_are_symmetric),
        cmocka_unit_test(dynamic_model_has_the_expected_nodes),
    };
    return cmocka_run_group_tests_name("models/zoo_quant", tests, NULL, NULL);
}
