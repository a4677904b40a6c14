/* Operator types in the names of nodes and of TensorRT's layers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "profile/core/kernel_names.h"

struct named {
    const char *name, *type;
};

static void expect_text(struct oc_str got, const struct named *want)
{
    if (got.n != strlen(want->type) || memcmp(got.s, want->type, got.n) != 0)
        fail_msg("'%s': got '%.*s', expected '%s'", want->name, (int)got.n, got.s, want->type);
}

#define EACH(list) for (size_t i = 0; i < sizeof(list) / sizeof((list)[0]); i++)

static void names_of_exporters_contain_the_type(void **state)
{
    static const struct named row[] = {
        {"Conv_12", "Conv"},
        {"Conv", "Conv"},
        {"/layer1/conv1/Conv", "Conv"},
        {"/layer1/layer1.0/conv1/Conv_1", "Conv"},
        {"/layer1/conv1/Conv_output_0", "Conv"},
        {"node_conv2d_3", "Conv"},
        {"node_Conv_123", "Conv"},
        {"node_linear", "Gemm"},
        {"resnet50/conv1_conv/Conv2D__6", "Conv"},
        {"resnet50/predictions/MatMul", "MatMul"},
        {"model/dense/BiasAdd", "Add"},
        {"p2o.Conv.0", "Conv"},
        {"p2o.elementwise_add.0", ""},
        {"aten::linear", "Gemm"},
        {"GlobalAveragePool_46", "GlobalAveragePool"},
        {"LayerNormalization_7", "LayerNormalization"},
        {"Relu6", "Clip"},
        {"Conv1D", "Conv"},
        {"ReduceL2_3", "ReduceL2"},
        {"BatchMatMulV2_4", "MatMul"}, /* versions of TensorFlow's and CANN's operators */
        {"bert/FusedBatchNormV3", "BatchNormalization"},
        {"GatherV2", "Gather"},
        {"GatherV", ""},
        {"V2", ""},
    };
    struct oc_str type;
    (void)state;
    EACH(row)
    {
        assert_int_equal(oc_type_in_name(row[i].name, strlen(row[i].name), &type), *row[i].type != '\0');
        expect_text(type, &row[i]);
    }
}

static void names_of_weights_and_modules_contain_no_type(void **state)
{
    static const char *const row[] = {
        "",
        "_",
        "12",
        "/",
        "conv1",
        "conv1.weight",
        "features.0.0.weight",
        "onnx::Conv_497",
        "onnx::MatMul_12",
        "encoder.layers.0.linear.weight",
        "stem",
        "Convolve_3",
        "myConv",
        "layer4.1.bn2.running_var",
        "a b",
        "Conv Relu",
        "/model.0/conv",
        " Conv ",
        "Conv_",
        "forward",
    };
    struct oc_str type;
    (void)state;
    EACH(row)
    if (oc_type_in_name(row[i], strlen(row[i]), &type))
        fail_msg("'%s' gave '%.*s'", row[i], (int)type.n, type.s);
}

static void fused_layer_has_the_type_of_its_main_node(void **state)
{
    static const struct named row[] = {
        {"Conv_12 + Relu_13", "Conv"},
        {"Conv_0 + PWN(Clip_3)", "Conv"},
        {"features.0.0.weight + QuantizeLinear_7 + Conv_9 + PWN(Clip_13)", "Conv"},
        {"Conv_171 + Relu_172 || Conv_178 + Relu_179", "Conv"},
        {"conv1.weight + QuantizeLinear_7 + Conv_9 + MaxPool_12", "Conv"},
        {"/bb/conv/Conv + onnx::Mul_4144 + /bb/bn/Mul + onnx::Add_4146 + /bb/bn/Add + /bb/act/Relu", "Conv"},
        {"PWN(PWN(/Sub), PWN(/Div))", "Sub"},
        {"PWN(Sigmoid_176)", "Sigmoid"},
        {"Reshape_202 + Transpose_203", "Reshape"},
        {"/attn/Reshape + /attn/MatMul", "MatMul"},
        {"Add_5 + ReduceMean_6", "ReduceMean"},
        {"[Conv_0 + Relu_1", "Relu"}, /* unbalanced: split all the same */
    };
    (void)state;
    EACH(row) expect_text(oc_trt_layer_type(&(struct trt_typed){row[i].name, "", "", "", NULL, 0}), &row[i]);
}

/* As in GoogLeNet and ResNet of Caffe. */
static void layers_of_caffe_have_types_by_their_usual_names(void **state)
{
    static const struct named row[] = {
        {"conv1/7x7_s2 + conv1/relu_7x7", "Conv"},
        {"inception_3a/1x1 + inception_3a/relu_1x1 || inception_3a/3x3_reduce + inception_3a/relu_3x3_reduce",
         "Conv"},
        {"inception_3a/pool_proj + inception_3a/relu_pool_proj", "Conv"},
        {"conv4_3 + relu4_3", "Conv"},
        {"pool1/3x3_s2", "Pooling"},
        {"inception_3a/pool", "Pooling"},
        {"pool5/7x7_s1", "Pooling"},
        {"pool1/norm1", "LRN"},
        {"loss3/classifier", "Gemm"},
        {"fc7 + relu7", "Gemm"},
        {"prob", "Softmax"},
        {"conv1/7x7_s2 + conv1/relu_7x7 input reformatter 0", "Reformat"},
        {"res2a_branch2a + res2a_branch2a_relu", "Conv"},
        {"res2a_branch1 + res2a + res2a_relu", "Conv"},
        {"res4b22_branch2c", "Conv"}, /* ResNet-101 */
        {"bn4b22_branch2c", "BatchNormalization"},
        {"scale2a_branch1", "Mul"},
        {"res5c", "Add"},
        {"res5c + res5c_relu", "Add"},
        {"res5c_relu", "Relu"},
        {"res5c_branch3", ""},
        {"res6c_branch1", ""},
        {"bn5c", ""},
        {"response2a", ""},
        {"conv1.weight", ""},
        {"conversion", ""},
        {"features/12", ""},
        {"1x", ""},
    };
    (void)state;
    EACH(row) expect_text(oc_trt_layer_type(&(struct trt_typed){row[i].name, "", "", "", NULL, 0}), &row[i]);
}

static void layers_of_the_builder_have_types_of_their_own(void **state)
{
    static const struct named row[] = {
        {"Reformatting CopyNode for Input Tensor 0 to Conv_0 + Relu_1", "Reformat"},
        {"639 copy", "Copy"},
        {"[HostToDeviceCopy 0]", "Copy"},
        {"[trainStation1]", "TrainStation"},
        {"{ForeignNode[/a/Reshape.../b/Add]}", "ForeignNode"},
        {"(Unnamed Layer* 360) [Shuffle]", "Shuffle"},
        {"reshape_before_/fc1/MatMul", "Reshape"},
        {"unsqueeze_node_after_Conv_3", "Unsqueeze"},
        {"__myl_FcAddCast_myl0_7", "MatMul"},
        {"__myl_Fc_myl2_7", "MatMul"},
        {"__myl_MulMaxSubExpSum_myl109_3", "kgen"},
        {"__myl_FctAdd_myl0_1", "kgen"},
        {"/mlp/fc1/Gemm_myl5_155", "Gemm"},
        {"_gemm_mha_v2_myl0_4", "Attention"},
        {"/model.10/attn/MatMul_myl109_2 [profile 1]", "MatMul"},
        {"Constant_5_output_0_clone_1", ""},
        {"", ""},
    };
    (void)state;
    EACH(row) expect_text(oc_trt_layer_type(&(struct trt_typed){row[i].name, "", "", "", NULL, 0}), &row[i]);
}

static void layer_information_decides_before_the_name(void **state)
{
    static const char *const listed[] = {"/act/Relu", "/fc/Gemm"};
    static const struct {
        struct trt_typed layer;
        const char *type;
    } row[] = {
        {{"stem + relu", "CaskConvolution", "Convolution", "", NULL, 0}, "Conv"},
        {{"fc/MatMul", "CublasConvolution", "Convolution", "", NULL, 0}, "MatMul"},
        {{"Relu_3", "CaskConvolution", "Convolution", "", NULL, 0}, "Conv"},
        {{"up", "CaskDeconvolution", "Deconvolution", "", NULL, 0}, "ConvTranspose"},
        {{"twin", "gemm", "", "", NULL, 0}, "MatMul"},
        {{"Gemm_48", "gemm", "", "", NULL, 0}, "Gemm"},
        {{"pool", "TiledPooling", "Pooling", "MAX", NULL, 0}, "MaxPool"},
        {{"pool", "TiledPooling", "Pooling", "AVERAGE", NULL, 0}, "AveragePool"},
        {{"GlobalAveragePool_4", "CaskPooling", "Pooling", "AVERAGE", NULL, 0}, "GlobalAveragePool"},
        {{"x/Conv2D__6", "Shuffle", "Shuffle", "", NULL, 0},
         "Shuffle"}, /* a transpose named after its reader */
        {{"Transpose_3", "Shuffle", "Shuffle", "", NULL, 0}, "Transpose"},
        {{"QuantizeLinear_2", "Reformat", "Reformat", "", NULL, 0}, "QuantizeLinear"},
        {{"Reformatting CopyNode for Input Tensor 0 to QuantizeLinear_2", "Reformat", "Reformat", "", NULL,
          0},
         "Reformat"},
        {{"pool1_pad/Pad", "Padding", "Slice", "", NULL, 0}, "Pad"},
        {{"predictions/Softmax", "CudaSoftMax", "SoftMax", "", NULL, 0}, "Softmax"},
        {{"PWN(Sigmoid_3)", "PointWiseV2", "PointWise", "", NULL, 0}, "Sigmoid"},
        {{"my plugin", "PluginV2DynamicExt", "", "", NULL, 0}, "PluginV2DynamicExt"},
        {{"a", "kgen", "", "", NULL, 0}, "kgen"},
        {{"__myl_MulSumAdd_myl24_1", "kgen", "", "", listed, 2}, "Gemm"},
        {{"dummy_shape_call__mye548_0_myl24_0", "shape_call", "", "", NULL, 0}, "shape_call"},
    };
    (void)state;
    EACH(row) expect_text(oc_trt_layer_type(&row[i].layer), &(struct named){row[i].layer.name, row[i].type});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_exporters_contain_the_type),
        cmocka_unit_test(names_of_weights_and_modules_contain_no_type),
        cmocka_unit_test(fused_layer_has_the_type_of_its_main_node),
        cmocka_unit_test(layers_of_caffe_have_types_by_their_usual_names),
        cmocka_unit_test(layers_of_the_builder_have_types_of_their_own),
        cmocka_unit_test(layer_information_decides_before_the_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
