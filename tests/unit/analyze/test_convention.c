/* The reference numbers of cost-semantics section 9: what other tools print for one operator. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "onnxcost.h"
#include "support/build.h"
#include "zoo.h"

static uint64_t count_model(const uint8_t *bytes, size_t n, const char *convention)
{
    struct oc_model *m = NULL;
    struct oc_analysis *a = NULL;
    struct oc_err err = {0};
    struct oc_totals t;
    const struct oc_analyze_opts o = {.convention = convention};
    if (oc_model_load_mem(bytes, n, NULL, &m, &err) || oc_analyze(m, &o, &a, &err))
        fail_msg("%s", err.msg);
    oc_analysis_total(a, &t);
    oc_analysis_free(a);
    oc_model_free(m);
    return t.flops + t.ops;
}

struct op {
    const char *type, *attributes, *input; /* type of x */
    const char *const *init;               /* types of the other inputs */
};

static uint64_t count_op(const struct op *op, const char *convention)
{
    struct oc_builder *b = oc_b_new(17);
    char inputs[64] = "x";
    oc_b_input(b, "x", op->input);
    for (size_t i = 0; op->init && op->init[i]; i++) {
        char name[24];
        snprintf(name, sizeof(name), "w%zu", i);
        oc_b_init(b, name, op->init[i]);
        snprintf(inputs + strlen(inputs), sizeof(inputs) - strlen(inputs), ",%s", name);
    }
    oc_b_node(b, op->type, "n", inputs, "y", op->attributes);
    oc_b_output(b, "y", NULL);
    size_t n;
    uint8_t *bytes = oc_b_pack(b, &n);
    oc_b_free(b);
    uint64_t count = count_model(bytes, n, convention);
    free(bytes);
    return count;
}

#define INIT(...) ((const char *const[]){__VA_ARGS__, NULL})
static const uint64_t none = UINT64_MAX; /* the document gives no single number */

static void conventions_match_reference_numbers(void **state)
{
    (void)state;
    static const char *const name[] = {NULL,     "mge",   "mge-stats", "onnx-tool",
                                       "fvcore", "torch", "calflops",  "xla"};
    const struct {
        struct op op;
        uint64_t count[8]; /* onnxcost first, then as in `name` */
    } row[] = {
        /* cases 1 and 2: a 7x7 convolution, without and with bias */
        {{"Conv", "strides=2,2 pads=3,3,3,3", "float[1,3,224,224]", INIT("float[64,3,7,7]")},
         {236027904, 236027904, 118013952, 118013952, 118013952, 236027904, 236027904, 232429056}},
        {{"Conv", "strides=2,2 pads=3,3,3,3", "float[1,3,224,224]", INIT("float[64,3,7,7]", "float[64]")},
         {236830720, 236830720, 118816768, 118816768, 118013952, 236027904, 236830720, none}},
        /* case 12: fully connected, 512 to 1000 */
        {{"Gemm", "transB=1", "float[1,512]", INIT("float[1000,512]", "float[1000]")},
         {1025000, none, 513000, 513000, 512000, 1024000, 1024000, none}},
        /* cases 21, 22, 26, 34 */
        {{"BatchNormalization", "", "float[1,64,56,56]",
          INIT("float[64]", "float[64]", "float[64]", "float[64]")},
         {401728, 0, 1404928, 6221824, 401408, 0, 401408, 0}},
        {{"LayerNormalization", "axis=-1", "float[1,128,768]", INIT("float[768]", "float[768]")},
         {688768, 0, 688128, 691840, 491520, 0, 491520, none}},
        {{"Softmax", "axis=-1", "float[1,12,128,128]", NULL}, {983040, 0, 0, 7077888, 0, 0, 196608, 783360}},
        {{"MaxPool", "kernel_shape=3,3 strides=2,2 pads=1,1,1,1", "float[1,64,112,112]", NULL},
         {1806336, 1806336, 1806336, 1806336, 0, 0, 802816, 1605632}},
        /* case 10: transposed convolution; of 16 x 4 taps per axis 62 fall inside the output, 2*64*32*62*62 =
           15,745,024 without the bias */
        {{"ConvTranspose", "strides=2,2 pads=1,1,1,1", "float[1,64,16,16]",
          INIT("float[64,32,4,4]", "float[32]")},
         {16809984, 16777216, 8421376, 16809984, 8388608, 16777216, none, 15745024 + 32768}},
        {{"ConvTranspose", "strides=2,2 pads=1,1,1,1", "float[1,64,16,16]", INIT("float[64,32,4,4]")},
         {16777216, 16777216, 8388608, 16777216, 8388608, 16777216, none, 15745024}},
    };
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
        for (size_t k = 0; k < 8; k++) {
            if (row[i].count[k] == none)
                continue;
            uint64_t got = count_op(&row[i].op, name[k]);
            if (got != row[i].count[k])
                fail_msg("%s, row %zu, %s: %llu, not %llu", row[i].op.type, i, name[k] ? name[k] : "ours",
                         (unsigned long long)got, (unsigned long long)row[i].count[k]);
        }
}

static void expect_counts(const struct op *op, const char *const *name, const uint64_t *count, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        uint64_t got = count[k] == none ? none : count_op(op, name[k]);
        if (got != count[k])
            fail_msg("%s %s %s, %s: %llu, not %llu", op->type, op->attributes, op->input, name[k],
                     (unsigned long long)got, (unsigned long long)count[k]);
    }
}

static void pytorch_conventions_match_their_hooks(void **state)
{
    static const char *const name[] = {"thop", "ptflops", "torchinfo", "calflops", "deepspeed", "timm"};
    const struct {
        struct op op;
        uint64_t count[6];
    } row[] = {
        /* 2*8*100*(4*9) = 57,600 MACs, 1600 outputs */
        {{"Conv", "pads=1,1,1,1", "float[2,4,10,10]", INIT("float[8,4,3,3]", "float[8]")},
         {57600, 59200, 59200, 116800, 116800, 57600}},
        /* C 8, M 4, group 2: 8*25*(2*9) = 3600 MACs; output {1,4,9,9} 324: C/g*k 324*4*9, all weights 81*144;
           M/g/g 1: 2*200*9; a convolution of 5 with k 3, s 2, p 1 has 3*3 places with M/g = 2 biases */
        {{"ConvTranspose", "strides=2,2 pads=1,1,1,1 group=2", "float[1,8,5,5]",
          INIT("float[8,2,3,3]", "float[4]")},
         {11664, 3600 + 324, 11664 + 324, 3600 + 18, 3600 + 18, 3600}},
        /* 3*16*8 MACs, 24 outputs */
        {{"Gemm", "transB=1", "float[3,16]", INIT("float[8,16]", "float[8]")},
         {384, 408, 408, 768, 768, 384}},
        {{"MatMul", "", "float[3,16]", INIT("float[16,8]")}, {384, 384, 384, 768, 768, 384}},
        /* the batch of the left operand alone: 3*16*8 of 2*3*16*8 */
        {{"MatMul", "", "float[3,16]", INIT("float[2,16,8]")}, {768, 384, 768, 768, 768, 768}},
        {{"BatchNormalization", "", "float[2,8,4,4]", INIT("float[8]", "float[8]", "float[8]", "float[8]")},
         {1024, 512, 32, 512, 512, 512}},
        {{"LayerNormalization", "", "float[2,8,16]", INIT("float[16]", "float[16]")},
         {1024, 512, 64, 1280, 1280, 1280}},
        {{"PRelu", "", "float[2,8,4,4]", INIT("float[8,1,1]")}, {256, 512, 16, 256, 256, 0}},
        /* 3n - rows, rows by the dimension of the axis */
        {{"Softmax", "axis=1", "float[2,8,16]", NULL}, {768 - 32, 256, 0, 256, 256, 0}},
        {{"Relu", "", "float[10]", NULL}, {0, 20, 0, 10, 10, 0}},
        {{"LeakyRelu", "", "float[10]", NULL}, {0, 10, 0, 10, 10, 0}},
        {{"Sigmoid", "", "float[10]", NULL}, {0, 0, 0, 0, 0, 0}},
        {{"Add", "", "float[4,10]", INIT("float[10]")}, {0, 0, 0, 0, 0, 0}},
        {{"MaxPool", "kernel_shape=2,2 strides=2,2", "float[1,8,4,4]", NULL}, {0, 256, 0, 128, 128, 0}},
        {{"AveragePool", "kernel_shape=2,2 strides=2,2", "float[1,8,4,4]", NULL}, {32, 256, 0, 128, 128, 0}},
        {{"GlobalAveragePool", "", "float[1,8,4,4]", NULL}, {136, 256, 0, 128, 128, 128}},
        /* T 5, B 2, I 3, H 4: steps*batch 10; LSTM: weights 4*4*7 = 112, biases 32 */
        {{"LSTM", "hidden_size=4", "float[5,2,3]", INIT("float[1,16,3]", "float[1,16,4]", "float[1,32]")},
         {1120 + 10 * 4 * 16, 1120 + 10 * 4 * 18, 1120 + 320, 2240 + 10 * 4 * 10, 2240 + 10 * 4 * 10, 1120}},
        {{"LSTM", "hidden_size=4", "float[5,2,3]", INIT("float[1,16,3]", "float[1,16,4]")},
         {1120 + 10 * 4 * 8, 1120 + 10 * 4 * 10, 1120, 2240 + 10 * 4 * 2, 2240 + 10 * 4 * 2, 1120}},
        {{"GRU", "hidden_size=4", "float[5,2,3]", INIT("float[1,12,3]", "float[1,12,4]", "float[1,24]")},
         {840 + 10 * 4 * 13, 840 + 10 * 4 * 13, 840 + 240, 1680 + 10 * 4 * 7, 1680 + 10 * 4 * 7, 840}},
        {{"RNN", "hidden_size=4", "float[5,2,3]", INIT("float[1,4,3]", "float[1,4,4]")},
         {280 + 40, 280 + 40, 280, 560 - 40, 560 - 40, 280}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
        expect_counts(&row[i].op, name, row[i].count, 6);
}

/* A product of two activations: the tools that see modules alone count nothing. */
static void products_of_activations_count_where_functions_are_hooked(void **state)
{
    static const struct {
        const char *name;
        uint64_t count;
    } row[] = {{"thop", 0}, {"ptflops", 384}, {"torchinfo", 0}, {"deepspeed", 768}, {"timm", 384}};
    (void)state;
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        struct oc_builder *b = oc_b_new(17);
        size_t n;
        oc_b_input(b, "x", "float[3,16]");
        oc_b_input(b, "y", "float[16,8]");
        oc_b_node(b, "MatMul", "n", "x,y", "z", "");
        oc_b_output(b, "z", NULL);
        uint8_t *bytes = oc_b_pack(b, &n);
        oc_b_free(b);
        assert_int_equal(count_model(bytes, n, row[i].name), row[i].count);
        free(bytes);
    }
}

/* {1,2,4,4} to {1,2,8,8}: 128 outputs, 32 inputs; scaled: 32 * 2^batch; sizes: 8*8. */
static void interpolation_counts_as_the_tools_do(void **state)
{
    static const struct {
        const char *mode, *sizes, *name;
        uint64_t count;
    } row[] = {{"nearest", NULL, "thop", 128},        {"linear", NULL, "thop", 11 * 128},
               {"cubic", NULL, "thop", 259 * 128},    {"linear", NULL, "ptflops", 256},
               {"linear", NULL, "calflops", 32},      {"linear", NULL, "deepspeed", 64},
               {"linear", "given", "calflops", 64},   {"linear", "given", "deepspeed", 64},
               {"nearest", NULL, "onnx-tool", 0},     {"linear", NULL, "onnx-tool", 4 * 128},
               {"cubic", NULL, "onnx-tool", 8 * 128}, {"nearest", NULL, "timm", 128}};
    (void)state;
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        struct oc_builder *b = oc_b_new(17);
        char attributes[40];
        size_t n;
        oc_b_input(b, "x", "float[1,2,4,4]");
        oc_b_init(b, "scales", "float[4]{1,1,2,2}");
        oc_b_init(b, "sizes", "int64[4]{1,2,8,8}");
        snprintf(attributes, sizeof(attributes), "mode='%s'", row[i].mode);
        oc_b_node(b, "Resize", "n", row[i].sizes ? "x,,,sizes" : "x,,scales", "y", attributes);
        oc_b_output(b, "y", NULL);
        uint8_t *bytes = oc_b_pack(b, &n);
        oc_b_free(b);
        uint64_t got = count_model(bytes, n, row[i].name);
        if (got != row[i].count)
            fail_msg("%s %s, %s: %llu", row[i].mode, row[i].sizes ? "sizes" : "scales", row[i].name,
                     (unsigned long long)got);
        free(bytes);
    }
}

/* Instructions per element of onnx_tool/node.py; 0 where the tool has no class. */
static void onnx_tool_convention_matches_the_classes_of_onnx_tool(void **state)
{
    static const struct {
        const char *types;
        uint64_t per_element;
    } unary[] = {{"Relu Neg Abs Ceil Floor Round Sign Hardmax", 1},
                 {"LeakyRelu", 2},
                 {"Reciprocal HardSigmoid", 4},
                 {"HardSwish", 5},
                 {"Sqrt", 24},
                 {"Exp Sigmoid", 32},
                 {"LpNormalization", 33},
                 {"Elu", 35},
                 {"Softmax", 36},
                 {"Sin Cos", 39},
                 {"Log", 43},
                 {"Atan", 64},
                 {"Tanh Softplus", 76},
                 {"LogSoftmax", 80},
                 {"Erf Identity Mish Selu Tan Softsign", 0}};
    const struct {
        struct op op;
        uint64_t count;
    } row[] = {
        {{"Pow", "", "float[3,7]", INIT("float[]")}, 32 * 21},
        {{"Div", "", "float[3,7]", INIT("float[7]")}, 4 * 21},
        {{"Clip", "", "float[3,7]", INIT("float[]")}, 2 * 21},
        {{"Max", "", "float[3,7]", INIT("float[7]", "float[7]")}, 21},
        {{"Sum", "", "float[3,7]", INIT("float[7]", "float[7]")}, 2 * 21},
        {{"LRN", "size=5", "float[1,8,3,3]", NULL}, 72 * (37 + 5)},
        {{"LayerNormalization", "axis=1", "float[2,4,8]", INIT("float[4,8]")}, 7 * 64 + 29 * 16},
        {{"InstanceNormalization", "", "float[2,4,8]", INIT("float[4]", "float[4]")}, 7 * 64},
        {{"ReduceMean", "axes=1", "float[2,4,8]", NULL}, 64},
        {{"ReduceL2", "axes=1", "float[2,4,8]", NULL}, 25 * 64},
        {{"AveragePool", "kernel_shape=3,3", "float[1,2,5,5]", NULL}, 18 * 9},
        {{"MaxPool", "kernel_shape=3,3,3", "float[1,2,5,5,5]", NULL}, 54 * 3},
        {{"QuantizeLinear", "", "float[3,7]", INIT("float[]", "uint8[]")}, 42},
        {{"MatMulInteger", "", "uint8[3,16]", INIT("uint8[16,8]", "uint8[]")}, 384 + 24},
        {{"MatMulInteger", "", "uint8[3,16]", INIT("uint8[16,8]", "uint8[]", "uint8[]")}, 384},
        {{"Gemm", "alpha=0.5", "float[3,16]", INIT("float[16,8]")}, 384},
        {{"Gemm", "beta=0.5", "float[3,16]", INIT("float[16,8]", "float[8]")}, 384 + 24},
        /* T 5, B 2, H 4, two directions: 10 steps; weights 2*112, biases 2*32; gates 180*4 once */
        {{"LSTM", "hidden_size=4 direction='bidirectional'", "float[5,2,3]",
          INIT("float[2,16,3]", "float[2,16,4]", "float[2,32]")},
         10 * (224 + 64 + 180 * 4)},
        {{"GRU", "hidden_size=4", "float[5,2,3]", INIT("float[1,12,3]", "float[1,12,4]", "float[1,24]")},
         10 * (84 + 24 + 110 * 4)},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(unary) / sizeof(unary[0]); i++) {
        char list[128], *rest = list;
        snprintf(list, sizeof(list), "%s", unary[i].types);
        for (const char *type; (type = strtok_r(rest, " ", &rest));) {
            const struct op op = {type, "", "float[3,7]", NULL};
            if (count_op(&op, "onnx-tool") != 21 * unary[i].per_element)
                fail_msg("%s: %llu", type, (unsigned long long)count_op(&op, "onnx-tool"));
        }
    }
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        static const char *const name[] = {"onnx-tool"};
        expect_counts(&row[i].op, name, &row[i].count, 1);
    }
}

/* The tool does not fold: 2 for each dequantized weight, 1 for a sum of constants. */
static void onnx_tool_convention_counts_nodes_of_constants(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    size_t n;
    oc_b_input(b, "x", "float[3,16]");
    oc_b_init(b, "q", "uint8[16,8]");
    oc_b_init(b, "s", "float[]");
    oc_b_init(b, "c", "float[8]");
    oc_b_node(b, "DequantizeLinear", "dq", "q,s", "w", "");
    oc_b_node(b, "Add", "sum", "c,c", "d", "");
    oc_b_node(b, "MatMul", "m", "x,w", "y", "");
    oc_b_node(b, "Add", "a", "y,d", "z", "");
    oc_b_output(b, "z", NULL);
    uint8_t *bytes = oc_b_pack(b, &n);
    oc_b_free(b);
    assert_int_equal(count_model(bytes, n, "onnx-tool"), 2 * 128 + 8 + 384 + 24);
    assert_int_equal(count_model(bytes, n, "fvcore"), 384);
    free(bytes);
}

static uint64_t count_zoo(const char *name, const char *convention)
{
    struct zoo z;
    size_t n;
    zoo_init(&z, 17);
    zoo_find(name)->build(&z);
    uint8_t *bytes = oc_b_pack(z.b, &n);
    zoo_free(&z);
    uint64_t count = count_model(bytes, n, convention);
    free(bytes);
    return count;
}

/* What onnx-tool 1.0.1 prints for the models of the zoo. It counts a scalar as 0 elements. */
static void onnx_tool_convention_matches_onnx_tool_on_whole_models(void **state)
{
    static const struct {
        const char *name;
        uint64_t count;
    } row[] = {
        {"resnet18", 1895963624},
        {"resnet50", 4450761704},
        {"mobilenetv2", 520292552},
        {"vgg16", 15503523304},
        {"vit_b_16", 17866374785},
        {"bert_base", 11334505088},
        {"gpt2", 16776751744},
        {"distilbert", 5663735680},
        {"t5_encoder", 2579021184},
        {"t5_decoder", 5633889408},
        {"crnn", 1574735949},
        {"deepspeech2_lstm", 11026246336},
        {"deepspeech2_gru", 5880210112},
        {"keyword_gru", 4268490},
        {"resnet18_qdq", 1856872024},
        {"resnet50_qdq", 4226753112},
        {"squeezenet1_1", 357475224},
        {"shufflenetv2", 207580776},
        {"densenet121", 3338084328},
        {"efficientnet_b0", 803118464},
        {"mobilenetv3", 364564384},
        {"convnext_tiny", 4554780980},
        {"mixer_b_16", 12721894140},
        {"yolov8n", 4891336007},
        {"unet", 13129809920},
        {"espcn", 3001377792},
        {"edsr", 22564438016},
        {"whisper_tiny_encoder", 20553799500},
        {"resnet18_dynamic", 1823935976},
        {"mobilenetv2_dynamic", 326627304},
        {"mobilenetv2_qoperator", 306475440},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        uint64_t got = count_zoo(row[i].name, "onnx-tool");
        if (got < row[i].count || got - row[i].count > row[i].count / 100000)
            fail_msg("%s: %llu, not %llu", row[i].name, (unsigned long long)got,
                     (unsigned long long)row[i].count);
    }
}

/* Published results: thop 0.1.1 exactly; GMACs of timm's tables and of the READMEs of thop and ptflops with
 * two digits; FLOPs of calflops' README, batch 1 and 128 tokens, with six and five digits. thop's README has
 * also resnet50 and vgg16, counted by an older version: 4.14 and 15.61, where 0.1.1 counts 4.13 and 15.47. */
static void conventions_match_published_results(void **state)
{
    static const struct {
        const char *convention, *name;
        uint64_t count, half; /* half a unit of the last digit */
    } row[] = {
        {"thop", "resnet18", 1824033792, 0},
        {"thop", "resnet50", 4133742592, 0},
        {"thop", "resnet18", 1820000000, 5000000},
        {"thop", "densenet121", 2900000000, 5000000},
        {"thop", "squeezenet1_1", 350000000, 5000000},
        {"thop", "mobilenetv2", 330000000, 5000000},
        {"thop", "shufflenetv2", 150000000, 5000000},
        {"calflops", "resnet18", 3636250000, 5000},
        {"calflops", "resnet50", 8211110000, 5000},
        {"calflops", "vgg16", 30973800000, 50000},
        {"calflops", "squeezenet1_1", 705014000, 500},
        {"calflops", "densenet121", 5716880000, 5000},
        {"calflops", "bert_base", 22363000000, 500000},
        {"deepspeed", "bert_base", 22363000000, 500000}, /* calflops has its rules from there */
        {"timm", "resnet18", 1820000000, 5000000},
        {"timm", "resnet50", 4110000000, 5000000},
        {"timm", "mobilenetv2", 310000000, 5000000},
        {"timm", "mobilenetv3", 230000000, 5000000},
        {"timm", "efficientnet_b0", 400000000, 5000000},
        {"timm", "densenet121", 2870000000, 5000000},
        {"timm", "vgg16", 15470000000, 5000000},
        {"timm", "convnext_tiny", 4470000000, 5000000},
        {"timm", "mixer_b_16", 12620000000, 5000000},
        {"timm", "vit_b_16", 17580000000, 5000000},
        {"ptflops", "resnet18", 1830000000, 5000000},
        {"ptflops", "resnet50", 4130000000, 5000000},
        {"ptflops", "mobilenetv2", 320000000, 5000000},
        {"ptflops", "mobilenetv3", 230000000, 5000000},
        {"ptflops", "densenet121", 2900000000, 5000000},
        {"ptflops", "shufflenetv2", 150000000, 5000000},
        {"ptflops", "vgg16", 15520000000, 5000000},
        {"torchinfo", "resnet18", 1810000000, 5000000},
        {"torchinfo", "resnet50", 4090000000, 5000000},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        uint64_t got = count_zoo(row[i].name, row[i].convention);
        if (got + row[i].half < row[i].count || got > row[i].count + row[i].half)
            fail_msg("%s, %s: %llu", row[i].convention, row[i].name, (unsigned long long)got);
    }
}

/* What fvcore prints for the models of torchvision, batch normalization not folded. */
static void fvcore_convention_matches_fvcore_on_whole_models(void **state)
{
    static const struct {
        const char *name;
        uint64_t count;
    } row[] = {{"resnet18", 1819065856}, {"resnet50", 4111512576}, {"vit_b_16", 17582740224}};
    (void)state;
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
        assert_int_equal(count_zoo(row[i].name, "fvcore"), row[i].count);
}

static void rejects_unknown_convention(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[1]");
    oc_b_node(b, "Relu", "n", "x", "y", "");
    oc_b_output(b, "y", NULL);
    size_t n;
    uint8_t *bytes = oc_b_pack(b, &n);
    oc_b_free(b);
    struct oc_model *m = NULL;
    struct oc_analysis *a = NULL;
    struct oc_err err = {0};
    const struct oc_analyze_opts o = {.convention = "nobody"};
    assert_int_equal(oc_model_load_mem(bytes, n, NULL, &m, &err), 0);
    assert_int_equal(oc_analyze(m, &o, &a, &err), -1);
    assert_int_equal(err.code, OC_EARG);
    oc_model_free(m);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conventions_match_reference_numbers),
        cmocka_unit_test(pytorch_conventions_match_their_hooks),
        cmocka_unit_test(products_of_activations_count_where_functions_are_hooked),
        cmocka_unit_test(interpolation_counts_as_the_tools_do),
        cmocka_unit_test(onnx_tool_convention_matches_the_classes_of_onnx_tool),
        cmocka_unit_test(onnx_tool_convention_counts_nodes_of_constants),
        cmocka_unit_test(onnx_tool_convention_matches_onnx_tool_on_whole_models),
        cmocka_unit_test(conventions_match_published_results),
        cmocka_unit_test(fvcore_convention_matches_fvcore_on_whole_models),
        cmocka_unit_test(rejects_unknown_convention),
    };
    return cmocka_run_group_tests_name("analyze/convention", tests, NULL, NULL);
}
