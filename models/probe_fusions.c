/* Graphs of two and three operators: every producer with every consumer that ONNX Runtime may fuse, sizes
 * that decide whether it does, and the patterns that it recognizes. ONNX Runtime optimizes them
 * (probe_table.c); the fusion plan is compared with the result (tests/unit/estimate/test_fusion_probes.c).
 *
 * A probe is a text of statements, separated by ";":
 *     x = float[1,16,8,8]                      a graph input
 *     n: Op . float[16]{*0.5} y / axis=1       a node: its output, its inputs, its attributes
 *     t = .                                    another name of the last output
 *     weight w float[16]{*0.5}                 an initializer that is also an input
 *     out t                                    also an output of the graph
 *     opset 20
 * The output may be unnamed. ".": the output of the last statement; a type with values: an initializer; "-":
 * no input. "$S": the sizes of the tensor between producer and consumer, "$N": its channels, "$C": the sizes
 * of one number for each of them. */
#include <stdlib.h>
#include <string.h>

#include "probe_fusions.h"

/* ---- statements ------------------------------------------------------------------------------------------
 */

struct probe {
    struct zoo *z;
    const char *last; /* output of the last statement */
    unsigned count;   /* of values made */
    struct {
        const char *name, *value;
    } alias[8];
    size_t n_alias;
};

static const char *value_of(const struct probe *p, const char *name)
{
    for (size_t i = 0; i < p->n_alias; i++)
        if (!strcmp(p->alias[i].name, name))
            return p->alias[i].value;
    return name;
}

static const char *input_of(struct probe *p, const char *token)
{
    if (!strcmp(token, "."))
        return p->last;
    if (!strcmp(token, "-"))
        return "";
    if (!strchr(token, '{'))
        return value_of(p, token);
    const char *name = zoo_text(p->z, "c%u", p->count++);
    oc_b_init(p->z->b, name, token);
    return name;
}

static void add_node(struct probe *p, char *text)
{
    struct zoo *z = p->z;
    char *attributes = strstr(text, " / "), *colon = strstr(text, ": "), *rest = NULL;
    const char *out = NULL, *inputs = NULL;
    if (attributes) {
        *attributes = '\0';
        attributes += 3;
    }
    if (colon) {
        *colon = '\0';
        out = zoo_text(z, "%s", text);
        text = colon + 2;
    }
    const char *type = strtok_r(text, " ", &rest);
    for (const char *token; (token = strtok_r(NULL, " ", &rest)) != NULL;) {
        const char *in = input_of(p, token);
        inputs = inputs ? zoo_text(z, "%s,%s", inputs, in) : in;
    }
    out = out ? out : zoo_text(z, "v%u", p->count++);
    oc_b_node(z->b, type, zoo_text(z, "n%u", p->count++), inputs, out, attributes ? attributes : "");
    size_t n = strcspn(out, ",");
    p->last = zoo_text(z, "%.*s", (int)n, out);
}

static void add_statement(struct probe *p, char *text)
{
    struct oc_builder *b = p->z->b;
    char *equals = strstr(text, " = ");
    text += strspn(text, " ");
    if (!*text)
        return;
    if (!strncmp(text, "out ", 4)) {
        oc_b_output(b, value_of(p, text + 4), NULL);
    } else if (!strncmp(text, "opset ", 6)) {
        int64_t opset = strtol(text + 6, NULL, 10);
        oc_b_opset(b, "", opset);
        oc_b_model(b)->ir_version = opset > 20 ? 10 : 8;
    } else if (!strncmp(text, "weight ", 7)) { /* weight NAME TYPE: an initializer that is also an input */
        char *type = strchr(text + 7, ' ');
        *type++ = '\0';
        oc_b_init(b, text + 7, type);
        oc_b_input(b, text + 7, zoo_text(p->z, "%.*s", (int)strcspn(type, "{"), type));
    } else if (equals && !strcmp(equals, " = .")) {
        *equals = '\0';
        p->alias[p->n_alias].name = zoo_text(p->z, "%s", text);
        p->alias[p->n_alias++].value = p->last;
    } else if (equals) {
        *equals = '\0';
        oc_b_input(b, text, equals + 3);
        p->last = zoo_text(p->z, "%s", text);
    } else {
        add_node(p, text);
    }
}

static void build(struct zoo *z, char *text)
{
    struct probe p = {.z = z};
    char *rest = NULL;
    oc_b_opset(z->b, "com.microsoft", 1);
    for (char *s; (s = strtok_r(text, ";", &rest)) != NULL; text = NULL)
        add_statement(&p, s);
    oc_b_output(z->b, p.last, NULL);
}

/* ---- producers and consumers -----------------------------------------------------------------------------
 */

#define IMAGE  "x = float[1,16,8,8]; "
#define VECTOR "x = float[4,16]; "
#define WORDS  "x = float[2,4,16]; "
#define HALF   "float[16]{*0.5}"
#define WIDE   "float[16,16,3,3]{*0.01}"

static const struct producer {
    const char *name, *text, *channel, *shape;
} producers[] = {
    {"Conv", IMAGE "Conv . " WIDE " / pads=1,1,1,1", "16,1,1", "1,16,8,8"},
    {"Conv_bias", IMAGE "Conv . " WIDE " " HALF " / pads=1,1,1,1", "16,1,1", "1,16,8,8"},
    {"Conv_6", "x = float[1,6,8,8]; Conv . float[6,6,3,3]{*0.1} / pads=1,1,1,1", "6,1,1", "1,6,8,8"},
    {"Conv_1d", "x = float[1,16,32]; Conv . float[16,16,3]{*0.1} / pads=1,1", "16,1", "1,16,32"},
    {"ConvTranspose", IMAGE "ConvTranspose . " WIDE " / pads=1,1,1,1", "16,1,1", "1,16,8,8"},
    {"Gemm", VECTOR "Gemm . float[16,16]{*0.1} " HALF, "16", "4,16"},
    {"MatMul", VECTOR "MatMul . float[16,16]{*0.1}", "16", "4,16"},
    {"MatMul_3", WORDS "MatMul . float[16,16]{*0.1}", "16", "2,4,16"},
    {"MatMul_batch", WORDS "w = float[2,16,16]; MatMul x w", "16", "2,4,16"},
    {"BatchNormalization", IMAGE "BatchNormalization . " HALF " " HALF " " HALF " " HALF, "16,1,1",
     "1,16,8,8"},
    {"LayerNormalization", WORDS "LayerNormalization . " HALF " " HALF, "16", "2,4,16"},
    {"InstanceNormalization", IMAGE "InstanceNormalization . " HALF " " HALF, "16,1,1", "1,16,8,8"},
    {"Add", IMAGE "y = float[1,16,8,8]; Add x y", "16,1,1", "1,16,8,8"},
    {"Add_bias", WORDS "Add . " HALF, "16", "2,4,16"},
    {"Mul", IMAGE "y = float[1,16,8,8]; Mul x y", "16,1,1", "1,16,8,8"},
    {"Mul_scale", WORDS "Mul . float[]{0.5}", "16", "2,4,16"},
    {"Relu", IMAGE "Relu .", "16,1,1", "1,16,8,8"},
    {"Sigmoid", IMAGE "Sigmoid .", "16,1,1", "1,16,8,8"},
    {"MaxPool", IMAGE "MaxPool . / kernel_shape=3,3 pads=1,1,1,1", "16,1,1", "1,16,8,8"},
    {"AveragePool", IMAGE "AveragePool . / kernel_shape=3,3 pads=1,1,1,1", "16,1,1", "1,16,8,8"},
    {"GlobalAveragePool", IMAGE "GlobalAveragePool .", "16,1,1", "1,16,1,1"},
    {"Concat", "x = float[1,16,8,8]; y = float[1,16,8,8]; Concat x y / axis=1", "32,1,1", "1,32,8,8"},
    {"Transpose", WORDS "Transpose . / perm=0,2,1", "4", "2,16,4"},
    {"Reshape", WORDS "Reshape . int64[2]{8,16}", "16", "8,16"},
    {"Flatten", IMAGE "Flatten .", "1024", "1,1024"},
    {"Unsqueeze", WORDS "Unsqueeze . int64[1]{0}", "16", "1,2,4,16"},
    {"Slice", WORDS "Slice . int64[1]{0} int64[1]{4} int64[1]{1}", "16", "2,4,16"},
    {"Slice_part", WORDS "Slice . int64[1]{0} int64[1]{2} int64[1]{1}", "16", "2,2,16"},
    {"Pad", "x = float[1,16,6,6]; Pad . int64[8]{0,0,1,1,0,0,1,1}", "16,1,1", "1,16,8,8"},
    {"Pad_edge", "x = float[1,16,6,6]; Pad . int64[8]{0,0,1,1,0,0,1,1} / mode='edge'", "16,1,1", "1,16,8,8"},
    {"Resize", "x = float[1,16,4,4]; Resize . - float[4]{1,1,2,2} / mode='nearest'", "16,1,1", "1,16,8,8"},
    {"Softmax", WORDS "Softmax . / axis=2", "16", "2,4,16"},
    {"ReduceMean", WORDS "ReduceMean . / axes=[2]", "1", "2,4,1"},
    {"Identity", WORDS "Identity .", "16", "2,4,16"},
    {"Dropout", WORDS "Dropout .", "16", "2,4,16"},
    {"Cast", "x = int32[2,4,16]; Cast . / to=1", "16", "2,4,16"},
    {"Gather", WORDS "Gather . int64[]{1} / axis=1", "16", "2,16"},
    {"Expand", "x = float[1,4,16]; Expand . int64[3]{2,4,16}", "16", "2,4,16"},
    {"Split", "x = float[2,8,16]; s,t: Split . / axis=1; out t; Identity s", "16", "2,4,16"},
};

static const struct consumer {
    const char *name, *text;
} consumers[] = {
    {"Relu", "Relu ."},
    {"Sigmoid", "Sigmoid ."},
    {"Tanh", "Tanh ."},
    {"LeakyRelu", "LeakyRelu . / alpha=0.1"},
    {"Clip", "Clip . float[]{0} float[]{6}"},
    {"Clip_input", "t = .; m = float[]; Clip t - m"},
    {"HardSigmoid", "HardSigmoid . / alpha=0.1666667"},
    {"HardSwish", "HardSwish ."},
    {"Elu", "Elu ."},
    {"Selu", "Selu ."},
    {"Softplus", "Softplus ."},
    {"Softsign", "Softsign ."},
    {"PRelu", "PRelu . float[]{0.1}"},
    {"Erf", "Erf ."},
    {"Mish", "opset 18; Mish ."},
    {"Gelu", "opset 20; Gelu ."},
    {"SiLU", "t = .; Sigmoid t; Mul t ."},
    {"Mish_parts", "t = .; Softplus t; Tanh .; Mul t ."},
    {"HardSwish_parts", "t = .; HardSigmoid t / alpha=0.16666667; Mul t ."},
    {"HardSwish_clip", "t = .; Add t float[]{3}; Clip . float[]{0} float[]{6}; Mul t .; Div . float[]{6}"},
    {"Add_channel", "Add . float[$C]{*0.5}"},
    {"Add_number", "Add . float[]{0.5}"},
    {"Add_same", "Add . float[$S]{*0.5}"},
    {"Add_input", "r = .; y2 = float[$S]; Add r y2"},
    {"Add_input_Relu", "r = .; y2 = float[$S]; Add r y2; Relu ."},
    {"Mul_channel", "Mul . float[$C]{*0.5}"},
    {"Mul_number", "Mul . float[]{0.5}"},
    {"Mul_input", "r = .; y2 = float[$S]; Mul r y2"},
    {"Sub_number", "Sub . float[]{0.5}"},
    {"Div_number", "Div . float[]{2}"},
    {"Pow", "Pow . float[]{2}"},
    {"Sqrt", "Sqrt ."},
    {"Softmax", "Softmax . / axis=-1"},
    {"Transpose", "Transpose ."},
    {"Reshape", "Reshape . int64[1]{-1}"},
    {"Reshape_twice", "Reshape . int64[1]{-1}; Reshape . int64[2]{1,-1}"},
    {"Flatten", "Flatten ."},
    {"Unsqueeze", "Unsqueeze . int64[1]{0}"},
    {"Identity", "Identity ."},
    {"Dropout", "Dropout ."},
    {"Cast_same", "Cast . / to=1"},
    {"Cast_half", "Cast . / to=10"},
    {"Cast_twice", "Cast . / to=11; Cast . / to=1"},
    {"Concat", "r = .; y2 = float[$S]; Concat r y2 / axis=1"},
    {"Slice", "Slice . int64[1]{0} int64[1]{1} int64[1]{1}"},
    {"ReduceMean", "ReduceMean . / axes=[1] keepdims=1"},
    {"Gather", "Gather . int64[]{0} / axis=1"},
    {"twice", "t = .; Relu t; out t"},
    {"two_readers", "t = .; a: Relu t; b: Tanh t; Concat a b / axis=1"},
    {"equal_readers", "t = .; a: Relu t; b: Relu t; Concat a b / axis=1"},
};

/* Consumers of producers with four dimensions; of matrices. */
static const struct consumer image_consumers[] = {
    {"BatchNormalization",
     "BatchNormalization . float[$N]{*0.5} float[$N]{*0.5} float[$N]{*0.5} float[$N]{*0.5}"},
    {"Conv", "Conv . float[16,$N,3,3]{*0.01}"},
    {"ConvTranspose", "ConvTranspose . float[$N,16,3,3]{*0.01}"},
    {"MaxPool", "MaxPool . / kernel_shape=2,2"},
    {"AveragePool", "AveragePool . / kernel_shape=2,2"},
    {"GlobalAveragePool", "GlobalAveragePool ."},
    {"Resize", "Resize . - float[4]{1,1,2,2} / mode='nearest'"},
    {"Resize_linear", "Resize . - float[4]{1,1,2,2} / mode='linear'"},
    {"InstanceNormalization", "InstanceNormalization . float[$N]{*0.5} float[$N]{*0.5}"},
    {"GroupNormalization", "opset 21; GroupNormalization . float[$N]{*0.5} float[$N]{*0.5} / num_groups=2"},
    {"Transpose_last", "Transpose . / perm=0,2,3,1"},
    {"Pad", "Pad . int64[8]{0,0,1,1,0,0,1,1}"},
    {"LRN", "LRN . / size=3"},
};
static const struct consumer matrix_consumers[] = {
    {"MatMul", "MatMul . float[$N,8]{*0.1}"},
    {"MatMul_input", "r = .; w2 = float[$N,8]; MatMul r w2"},
    {"LayerNormalization", "LayerNormalization . float[$N]{*0.5} float[$N]{*0.5} / axis=-1"},
    {"MatMul_bias", "MatMul . float[$N,8]{*0.1}; Add . float[8]{*0.5}"},
    {"MatMul_scale", "MatMul . float[$N,8]{*0.1}; Mul . float[]{0.5}"},
};

/* ---- patterns --------------------------------------------------------------------------------------------
 */

#define Q       "QuantizeLinear . float[]{0.1} uint8[]{128}; "
#define DQ      "DequantizeLinear . float[]{0.1} uint8[]{128}; "
#define QS      "QuantizeLinear . float[]{0.1} int8[]{0}; "
#define DQS     "DequantizeLinear . float[]{0.1} int8[]{0}; "
#define QDQ     Q DQ
#define W_CONV  "w: DequantizeLinear int8[16,16,3,3]{*3} float[]{0.1} int8[]{0}; "
#define B_CONV  "b: DequantizeLinear int32[16]{*3} float[]{0.01} int32[]{0}; "
#define W_MM    "w: DequantizeLinear int8[16,16]{*3} float[]{0.1} int8[]{0}; "
#define DYNAMIC "q,s,z: DynamicQuantizeLinear x; "

static const struct consumer patterns[] = {
    /* activations */
    {"gelu_erf", WORDS "Div x float[]{1.41421354}; Erf .; Add . float[]{1}; Mul x .; Mul . float[]{0.5}"},
    {"gelu_erf_half_first", WORDS "Div x float[]{1.41421354}; Erf .; Add . float[]{1}; t = .; Mul x "
                                  "float[]{0.5}; Mul . t"},
    {"gelu_erf_mul", WORDS "Mul x float[]{0.70710677}; Erf .; Add . float[]{1}; Mul x .; Mul . float[]{0.5}"},
    {"bias_gelu_erf", WORDS "a: Add x " HALF "; Div a float[]{1.41421354}; Erf .; Add . float[]{1}; Mul a .; "
                            "Mul . float[]{0.5}"},
    {"gelu_tanh",
     WORDS "Pow x float[]{3}; Mul . float[]{0.044715}; Add x .; Mul . float[]{0.7978846}; Tanh .; "
           "Add . float[]{1}; Mul x .; Mul . float[]{0.5}"},
    {"gelu_tanh_used",
     WORDS "Pow x float[]{3}; Mul . float[]{0.044715}; Add x .; Mul . float[]{0.7978846}; Tanh .; "
           "Add . float[]{1}; Mul x .; Mul . float[]{0.5}; Abs ."},
    {"gelu_tanh_output",
     WORDS "a: Relu x; h: Mul a float[]{0.5}; Pow a float[]{3}; Mul . float[]{0.044715}; Add a .; Mul . "
           "float[]{0.7978846}; Tanh .; Add . float[]{1}; Mul h ."},
    {"gelu_tanh_relu",
     WORDS "a: Relu x; h: Mul a float[]{0.5}; Pow a float[]{3}; Mul . float[]{0.044715}; Add a .; Mul . "
           "float[]{0.7978846}; Tanh .; Add . float[]{1}; Mul h .; Abs ."},
    {"matmul_bias_gelu",
     WORDS "MatMul x float[16,16]{*0.1}; a: Add . " HALF "; Div a float[]{1.41421354}; Erf "
           ".; Add . float[]{1}; Mul a .; Mul . float[]{0.5}"},
    {"bias_gelu", WORDS "opset 20; Add . " HALF "; Gelu ."},
    {"bias_gelu_tanh", WORDS "opset 20; Add . " HALF "; Gelu . / approximate='tanh'"},
    {"quick_gelu", WORDS "Mul x float[]{1.702}; Sigmoid .; Mul x ."},
    {"swiglu",
     WORDS "g: MatMul x float[16,16]{*0.1}; u: MatMul x float[16,16]{*0.2}; Sigmoid g; Mul g .; Mul . u"},
    {"mish_conv", IMAGE "t: Conv . " WIDE "; Softplus t; Tanh .; Mul t ."},
    {"relu_clip", IMAGE "Relu .; Clip . float[]{0} float[]{6}"},
    {"conv_relu_clip", IMAGE "Conv . " WIDE "; Relu .; Clip . float[]{0} float[]{6}"},
    {"conv_bn_relu",
     IMAGE "Conv . " WIDE "; BatchNormalization . " HALF " " HALF " " HALF " " HALF "; Relu ."},
    {"conv_mul_add_relu",
     IMAGE "Conv . " WIDE "; Mul . float[16,1,1]{*0.5}; Add . float[16,1,1]{*0.5}; Relu ."},
    {"conv_add_add",
     IMAGE "t: Conv . " WIDE " / pads=1,1,1,1; u: Conv x " WIDE " / pads=1,1,1,1; Add t u; Add . x"},
    {"conv_conv_add_relu",
     IMAGE "t: Conv . " WIDE " " HALF " / pads=1,1,1,1; u: Conv x " WIDE " / pads=1,1,1,1; Add t u; Relu ."},
    {"pad_conv", "x = float[1,16,6,6]; Pad . int64[8]{0,0,1,1,0,0,1,1}; Conv . " WIDE},
    {"pad_conv_relu", "x = float[1,16,6,6]; Pad . int64[8]{0,0,1,1,0,0,1,1}; Conv . " WIDE "; Relu ."},
    {"pad_maxpool", IMAGE "Pad . int64[8]{0,0,1,1,0,0,1,1}; MaxPool . / kernel_shape=2,2"},
    {"conv_transpose_add", IMAGE "ConvTranspose . " WIDE "; Add . float[16,1,1]{*0.5}"},
    {"pad_zero_conv", "x = float[1,16,6,6]; Pad . int64[8]{0,0,1,1,0,0,1,1} float[]{0}; Conv . " WIDE},
    {"pad_one_conv", "x = float[1,16,6,6]; Pad . int64[8]{0,0,1,1,0,0,1,1} float[]{1}; Conv . " WIDE},
    {"pad_zero_maxpool", IMAGE "Pad . int64[8]{0,0,1,1,0,0,1,1} float[]{0}; MaxPool . / kernel_shape=2,2"},
    {"pad_zero_averagepool",
     IMAGE "Pad . int64[8]{0,0,1,1,0,0,1,1} float[]{0}; AveragePool . / kernel_shape=2,2"},
    /* residuals of sizes that the model does not declare */
    {"residual_batch", "x = float[N,16,8,8]; t: Conv . " WIDE " / pads=1,1,1,1; u: Conv x " WIDE
                       " / pads=1,1,1,1; Add t u; Relu ."},
    {"residual_sizes", "x = float[1,16,H,W]; t: Conv . " WIDE " / pads=1,1,1,1; u: Conv x " WIDE
                       " / pads=1,1,1,1; Add t u; Relu ."},
    {"residual_sizes_blocked", "x = float[1,16,H,W]; r: Conv . " WIDE " / pads=1,1,1,1; t: Conv r " WIDE
                               " / pads=1,1,1,1; u: Conv t " WIDE " / pads=1,1,1,1; Add u r; Relu ."},
    {"residual_sizes_halved",
     "x = float[1,16,H,W]; r: Conv . " WIDE " / pads=1,1,1,1; t: Conv r " WIDE
     " / pads=1,1,1,1 strides=2,2; u: Conv r float[16,16,1,1]{*0.1} / strides=2,2; Add u t"},
    {"residual_sizes_window",
     "x = float[1,16,H,W]; r: Conv . " WIDE "; t: Conv r " WIDE "; u: Conv r " WIDE "; Add u t; Relu ."},
    {"residual_sizes_mul", "x = float[1,16,H,W]; t: Conv . " WIDE "; u: Conv x " WIDE "; Mul t u"},
    {"plain_residual",
     "x = float[1,18,8,8]; Conv . float[18,18,3,3]{*0.1} float[18]{*0.5} / pads=1,1,1,1; Add . x; Relu ."},
    {"plain_residual_batch",
     "x = float[N,18,8,8]; Conv . float[18,18,3,3]{*0.1} float[18]{*0.5} / pads=1,1,1,1; Add . x; Relu ."},
    {"plain_residual_sizes",
     "x = float[1,18,H,W]; Conv . float[18,18,3,3]{*0.1} float[18]{*0.5} / pads=1,1,1,1; Add . x; Relu ."},
    {"plain_residual_1d",
     "x = float[1,6,32]; Conv . float[6,6,3]{*0.1} float[6]{*0.5} / pads=1,1; Add . x; Relu ."},
    {"conv_resize_sizes", IMAGE "Conv . " WIDE "; Resize . - - int64[4]{1,16,12,12} / mode='nearest' "
                                "coordinate_transformation_mode='asymmetric' nearest_mode='floor'"},
    {"conv_resize_floor", IMAGE "Conv . " WIDE "; Resize . - float[4]{1,1,2,2} / mode='nearest' "
                                "coordinate_transformation_mode='asymmetric' nearest_mode='floor'"},
    {"conv_resize_floor_19", IMAGE "opset 19; Conv . " WIDE "; Resize . - float[4]{1,1,2,2} / mode='nearest' "
                                   "coordinate_transformation_mode='asymmetric' nearest_mode='floor'"},
    /* norms */
    {"layer_norm",
     WORDS "m: ReduceMean x / axes=[-1]; d: Sub x m; Pow d float[]{2}; ReduceMean . / axes=[-1]; "
           "Add . float[]{0.00001}; Sqrt .; Div d .; Mul . " HALF "; Add . " HALF},
    {"layer_norm_18",
     WORDS "opset 18; m: ReduceMean x int64[1]{-1}; d: Sub x m; Pow d float[]{2}; ReduceMean . "
           "int64[1]{-1}; Add . float[]{0.00001}; Sqrt .; Div d .; Mul . " HALF "; Add . " HALF},
    {"layer_norm_no_scale", WORDS "m: ReduceMean x / axes=[-1]; d: Sub x m; Pow d float[]{2}; ReduceMean . / "
                                  "axes=[-1]; Add . float[]{0.00001}; Sqrt .; Div d ."},
    {"layer_norm_last_two",
     WORDS "m: ReduceMean x / axes=[1,2]; d: Sub x m; Pow d float[]{2}; ReduceMean . / "
           "axes=[1,2]; Add . float[]{0.00001}; Sqrt .; Div d .; Mul . float[4,16]{*0.5}; Add . "
           "float[4,16]{*0.5}"},
    {"layer_norm_channels",
     IMAGE "m: ReduceMean x / axes=[1]; d: Sub x m; Pow d float[]{2}; ReduceMean . / "
           "axes=[1]; Add . float[]{0.00001}; Sqrt .; Div d .; Mul . float[16,1,1]{*0.5}; Add . "
           "float[16,1,1]{*0.5}"},
    {"rms_norm",
     WORDS "Pow x float[]{2}; ReduceMean . / axes=[-1]; Add . float[]{0.00001}; Sqrt .; Div x .; Mul "
           ". " HALF},
    {"rms_norm_quotient", WORDS "Pow x float[]{2}; ReduceMean . / axes=[-1]; Add . float[]{0.00001}; Sqrt .; "
                                "Div float[]{1} .; Mul x .; Mul " HALF " ."},
    {"rms_norm_reciprocal",
     WORDS "Pow x float[]{2}; ReduceMean . / axes=[-1]; Add . float[]{0.00001}; Sqrt .; "
           "Reciprocal .; Mul x .; Mul " HALF " ."},
    {"skip_layer_norm", WORDS "y = float[2,4,16]; Add x y; LayerNormalization . " HALF " " HALF},
    {"bias_skip_layer_norm",
     WORDS "y = float[2,4,16]; Add y " HALF "; Add x .; LayerNormalization . " HALF " " HALF},
    {"skip_layer_norm_two_readers",
     WORDS "y = float[2,4,16]; a: Add x y; LayerNormalization a " HALF " " HALF "; Add a ."},
    {"skip_layer_norm_parts", WORDS
     "y = float[2,4,16]; a: Add x y; m: ReduceMean a / axes=[-1]; d: Sub a m; Pow d float[]{2}; ReduceMean "
     ". / axes=[-1]; Add . float[]{0.00001}; Sqrt .; Div d .; Mul . " HALF "; Add . " HALF},
    {"rms_norm_23", WORDS "opset 23; RMSNormalization . " HALF},
    {"skip_rms_norm", WORDS "y = float[2,4,16]; Add x y; Pow . float[]{2}; ReduceMean . / axes=[-1]; Add . "
                            "float[]{0.00001}; Sqrt ."},
    {"group_norm_parts",
     IMAGE "Reshape . int64[3]{0,2,-1}; InstanceNormalization . float[2]{*1} float[2]{*0}; "
           "Reshape . int64[4]{1,16,8,8}; Mul . float[16,1,1]{*0.5}; Add . float[16,1,1]{*0.5}"},
    /* products */
    {"transpose_matmul", "x = float[2,16,4]; Transpose . / perm=0,2,1; MatMul . float[16,8]{*0.1}"},
    {"transpose_matmul_2", "x = float[16,4]; Transpose .; MatMul . float[16,8]{*0.1}"},
    {"transpose_gemm", "x = float[16,4]; Transpose .; Gemm . float[16,8]{*0.1}"},
    {"transpose_second", WORDS "y = float[2,4,16]; Transpose y / perm=0,2,1; MatMul x ."},
    {"transpose_second_scale",
     WORDS "y = float[2,4,16]; Transpose y / perm=0,2,1; MatMul x .; Mul . float[]{0.25}"},
    {"transpose_both", "x = float[2,16,4]; y = float[2,4,16]; t: Transpose x / perm=0,2,1; u: Transpose y / "
                       "perm=0,2,1; MatMul t u"},
    {"transpose_two_readers",
     WORDS "y = float[2,4,16]; t: Transpose y / perm=0,2,1; a: MatMul x t; Softmax t; "
           "Concat a . / axis=1"},
    {"transpose_batch", "x = float[4,2,16]; y = float[2,16,8]; Transpose x / perm=1,0,2; MatMul . y"},
    {"transpose_batch_both",
     "x = float[4,16,2]; y = float[4,2,16]; t: Transpose x / perm=2,0,1; u: Transpose "
     "y / perm=1,2,0; MatMul t u"},
    {"transpose_batch_reshape",
     "x = float[N,4,32]; y = float[1,16,8]; s: Shape x; a: Gather s int64[]{0}; b: Mul a int64[]{2}; c: "
     "Unsqueeze b int64[1]{0}; g: Gather s int64[]{1}; h: Unsqueeze g int64[1]{0}; d: Concat h c "
     "int64[1]{16} / axis=0; e: Reshape x d; Transpose e / perm=1,0,2; MatMul . y"},
    {"transpose_batch_reshape_11", "opset 11; x = float[N,4,32]; y = float[1,16,8]; s: Shape x; a: Gather s "
                                   "int64[]{0}; b: Mul a int64[]{2}; "
                                   "c: Unsqueeze b / axes=[0]; g: Gather s int64[]{1}; h: Unsqueeze g / "
                                   "axes=[0]; d: Concat h c int64[1]{16} / axis=0; "
                                   "e: Reshape x d; Transpose e / perm=1,0,2; MatMul . y"},
    {"transpose_batch_reshape_known", "x = float[N,4,32]; y = float[1,16,8]; Reshape x int64[3]{4,-1,16}; "
                                      "Transpose . / perm=1,0,2; MatMul . y"},
    {"transpose_batch_batch", "x = float[4,N,16]; y = float[N,16,8]; Transpose x / perm=1,0,2; MatMul . y"},
    {"transpose_batch_second", "x = float[2,4,16]; y = float[16,2,8]; Transpose y / perm=1,0,2; MatMul x ."},
    {"transpose_batch_4", "x = float[4,2,3,16]; y = float[2,3,16,8]; Transpose x / perm=1,2,0,3; MatMul . y"},
    {"transpose_batch_matrix", "x = float[4,2,16]; Transpose x / perm=1,0,2; MatMul . float[16,8]{*0.1}"},
    {"transpose_twice", "x = float[2,4,8,16]; Transpose . / perm=0,2,1,3; Transpose . / perm=0,1,3,2"},
    {"transpose_twice_matmul", "x = float[2,8,4,16]; y = float[2,4,8,16]; Transpose x / perm=0,2,1,3; "
                               "Transpose . / perm=0,1,3,2; MatMul y ."},
    {"transpose_back_relu", WORDS "Relu .; Transpose . / perm=0,2,1; Transpose . / perm=0,2,1; Relu ."},
    {"scale_matmul", WORDS "y = float[2,16,4]; Mul x float[]{0.5}; MatMul . y"},
    {"div_matmul", WORDS "y = float[2,16,4]; Div x float[]{2}; MatMul . y"},
    {"matmul_div", WORDS "y = float[2,16,4]; MatMul x y; Div . float[]{2}"},
    {"matmul_scale_add", WORDS "y = float[2,16,4]; MatMul x y; Mul . float[]{0.5}; Add . float[4]{*0.5}"},
    {"matmul_bias_relu", VECTOR "MatMul . float[16,8]{*0.1}; Add . float[8]{*0.5}; Relu ."},
    {"matmul_bias_first", VECTOR "MatMul . float[16,8]{*0.1}; Add float[8]{*0.5} ."},
    {"matmul_bias_wide", VECTOR "MatMul . float[16,8]{*0.1}; Add . float[4,8]{*0.5}"},
    {"matmul_bias_column", VECTOR "MatMul . float[16,8]{*0.1}; Add . float[4,1]{*0.5}"},
    {"matmul_bias_unknown_batch", "x = float[N,16]; MatMul . float[16,8]{*0.1}; Add . float[8]{*0.5}"},
    {"matmul_bn", VECTOR "MatMul . float[16,8]{*0.1}; BatchNormalization . float[8]{*0.5} float[8]{*0.5} "
                         "float[8]{*0.5} float[8]{*0.5}"},
    {"gemm_sum", VECTOR "y = float[4,8]; Gemm x float[16,8]{*0.1}; Add . y"},
    {"gemm_sum_two", VECTOR "a: Gemm . float[16,8]{*0.1}; b: Gemm x float[16,8]{*0.2}; Sum a b"},
    {"matmul_same_input",
     VECTOR "a: MatMul . float[16,8]{*0.1}; b: MatMul x float[16,8]{*0.2}; Concat a b / axis=1"},
    {"reshape_matmul_reshape",
     WORDS "Reshape . int64[2]{8,16}; MatMul . float[16,8]{*0.1}; Add . float[8]{*0.5}; "
           "Reshape . int64[3]{2,4,8}"},
    {"attention",
     "q = float[1,4,8,16]; k = float[1,4,8,16]; v = float[1,4,8,16]; Transpose k / perm=0,1,3,2; "
     "MatMul q .; Div . float[]{4}; Softmax . / axis=-1; MatMul . v"},
    {"attention_mask",
     "q = float[1,4,8,16]; k = float[1,4,8,16]; v = float[1,4,8,16]; m = float[1,1,8,8]; "
     "Transpose k / perm=0,1,3,2; MatMul q .; Mul . float[]{0.25}; Add . m; Softmax . / axis=-1; "
     "MatMul . v"},
    {"attention_heads",
     "x = float[1,8,16]; a: MatMul x float[16,16]{*0.1}; Reshape a int64[4]{0,0,4,4}; q: "
     "Transpose . / perm=0,2,1,3; b: MatMul x float[16,16]{*0.2}; Reshape b int64[4]{0,0,4,4}; "
     "k: Transpose . / perm=0,2,3,1; c: MatMul x float[16,16]{*0.3}; Reshape c "
     "int64[4]{0,0,4,4}; v: Transpose . / perm=0,2,1,3; MatMul q k; Div . float[]{2}; Softmax . "
     "/ axis=-1; MatMul . v; Transpose . / perm=0,2,1,3; Reshape . int64[3]{0,0,16}"},
    {"attention_23",
     "opset 23; q = float[1,4,8,16]; k = float[1,4,8,16]; v = float[1,4,8,16]; Attention q k v"},
    {"add_softmax", "x = float[1,4,8,8]; m = float[1,1,8,8]; Add x m; Softmax . / axis=-1"},
    {"einsum", "x = float[2,4,16]; y = float[2,16,8]; Einsum x y / equation='bij,bjk->bik'"},
    /* views, shapes, constants */
    {"reshape_chain", WORDS "Reshape . int64[2]{8,16}; Reshape . int64[3]{8,4,4}; Reshape . int64[1]{-1}"},
    {"reshape_same", WORDS "Reshape . int64[3]{2,4,16}; Relu ."},
    {"transpose_chain", WORDS "Transpose . / perm=0,2,1; Transpose . / perm=0,2,1"},
    {"transpose_relu_transpose", IMAGE "Transpose . / perm=0,2,3,1; Relu .; Transpose . / perm=0,3,1,2"},
    {"transpose_add_transpose",
     IMAGE "Transpose . / perm=0,2,3,1; Add . " HALF "; Transpose . / perm=0,3,1,2"},
    {"transpose_conv_transpose", "x = float[1,8,8,16]; Transpose . / perm=0,3,1,2; Conv . " WIDE
                                 " / pads=1,1,1,1; Transpose . / perm=0,2,3,1"},
    {"transpose_conv_relu_transpose",
     "x = float[1,8,8,16]; Transpose . / perm=0,3,1,2; Conv . " WIDE
     " / pads=1,1,1,1; Relu .; Transpose . / perm=0,2,3,1; ReduceMean . / axes=[3]"},
    {"transpose_conv", "x = float[1,8,8,16]; Transpose . / perm=0,3,1,2; Conv . " WIDE "; Relu ."},
    {"transpose_conv_3",
     "x = float[1,8,8,3]; Transpose . / perm=0,3,1,2; Conv . float[16,3,3,3]{*0.1}; Relu ."},
    {"transpose_conv_two",
     "x = float[1,8,8,16]; Transpose . / perm=0,3,1,2; t = .; Conv t " WIDE " / pads=1,1,1,1; Add . t"},
    {"transpose_relu_chain", IMAGE
     "Transpose . / perm=0,2,3,1; Relu .; Mul . float[]{0.5}; Sigmoid .; Transpose . / perm=0,3,1,2; Abs ."},
    {"transpose_sum", IMAGE "y = float[1,16,8,8]; t: Transpose x / perm=0,2,3,1; u: Transpose y / "
                            "perm=0,2,3,1; Add t u; Transpose . / perm=0,3,1,2; Abs ."},
    {"transpose_concat", IMAGE "y = float[1,16,8,8]; t: Transpose x / perm=0,2,3,1; u: Transpose y / "
                               "perm=0,2,3,1; Concat t u / axis=3; Transpose . / perm=0,3,1,2; Abs ."},
    {"transpose_relu", IMAGE "Transpose . / perm=0,2,3,1; Relu ."},
    {"transpose_relu_transpose_other",
     IMAGE "Transpose . / perm=0,2,3,1; Relu .; Transpose . / perm=0,2,1,3; Abs ."},
    {"transpose_softmax_transpose",
     IMAGE "Transpose . / perm=0,2,3,1; Softmax . / axis=3; Transpose . / perm=0,3,1,2; Abs ."},
    {"transpose_pad_transpose",
     IMAGE "Transpose . / perm=0,2,3,1; Pad . int64[8]{0,1,1,0,0,1,1,0}; Transpose . / perm=0,3,1,2; Abs ."},
    {"transpose_mean", IMAGE
     "Transpose . / perm=0,2,3,1; ReduceMean . / axes=[1,2] keepdims=1; Transpose . / perm=0,3,1,2; Abs ."},
    {"transpose_two_relus", IMAGE "Transpose . / perm=0,2,3,1; t = .; a: Relu t; b: Sigmoid t; Mul a b; "
                                  "Transpose . / perm=0,3,1,2; Abs ."},
    {"transpose_reduce", IMAGE "Transpose . / perm=0,2,3,1; ReduceMean . / axes=[1,2]"},
    {"transpose_ones", "x = float[1,1,4,16]; Transpose . / perm=1,0,2,3; Relu ."},
    {"unsqueeze_chain", WORDS "Unsqueeze . int64[1]{0}; Unsqueeze . int64[1]{0}; Relu ."},
    {"squeeze_unsqueeze", "x = float[1,4,16]; Squeeze . int64[1]{0}; Unsqueeze . int64[1]{0}; Relu ."},
    {"slice_chain",
     WORDS "Slice . int64[1]{0} int64[1]{2} int64[1]{1}; Slice . int64[1]{0} int64[1]{8} int64[1]{2}"},
    {"gather_split", WORDS "a: Gather x int64[]{0} / axis=0; b: Gather x int64[]{1} / axis=0; Add a b"},
    {"gather_slice", WORDS "Gather x int64[2]{0,1} / axis=1; Relu ."},
    {"shape_of_known", WORDS "Shape .; Gather . int64[]{0}; Cast . / to=1"},
    {"shape_of_unknown",
     "x = float[N,4,16]; s: Shape x; Gather s int64[]{0}; Unsqueeze . int64[1]{0}; Concat . "
     "int64[1]{-1} / axis=0; Reshape x ."},
    {"shape_of_other",
     "x = float[N,4,16]; m: MatMul x float[16,16]{*0.1}; s: Shape x; Gather s int64[]{0}; Unsqueeze . "
     "int64[1]{0}; Concat . int64[2]{64,-1} / axis=0; Reshape m ."},
    {"shape_of_other_sizes",
     "x = float[N,M,16]; m: MatMul x float[16,16]{*0.1}; s: Shape x; a: Gather s int64[]{0}; b: Gather s "
     "int64[]{1}; c: Unsqueeze a int64[1]{0}; d: Unsqueeze b int64[1]{0}; Concat c d int64[2]{4,4} / axis=0; "
     "Reshape m ."},
    {"shape_twice",
     "x = float[N,4,16]; s: Shape x; Gather s int64[]{0}; Unsqueeze . int64[1]{0}; c: Concat . "
     "int64[2]{8,-1} / axis=0; a: Reshape x c; b: Relu x; d: Reshape b c; Add a d"},
    {"shape_of_norm",
     "x = float[N,4,16]; y: LayerNormalization x " HALF " " HALF "; m: MatMul y "
     "float[16,16]{*0.1}; s: Shape y; Gather s int64[]{0}; Unsqueeze . int64[1]{0}; Concat . "
     "int64[2]{64,-1} / axis=0; Reshape m ."},
    {"expand_same", WORDS "Expand . int64[3]{1,1,1}; Relu ."},
    {"constant_add", WORDS "c: Add float[16]{*1} float[16]{*2}; Add x c"},
    {"constant_identity", WORDS "c: Identity float[16]{*1}; Add x c"},
    {"add_zero", WORDS "Add x float[]{0}; Relu ."},
    {"mul_one", WORDS "Mul x float[]{1}; Relu ."},
    {"div_one", WORDS "Div x float[]{1}; Relu ."},
    {"sub_zero", WORDS "Sub x float[]{0}; Relu ."},
    {"pow_one", WORDS "Pow x float[]{1}; Relu ."},
    {"concat_one", WORDS "Concat x / axis=0; Relu ."},
    {"pad_nothing", WORDS "Pad x int64[6]{0,0,0,0,0,0}; Relu ."},
    {"tile_once", WORDS "Tile x int64[3]{1,1,1}; Relu ."},
    {"relu_relu", WORDS "Relu x; Relu ."},
    {"cast_same", WORDS "Cast x / to=1; Relu ."},
    {"cast_there_and_back", WORDS "Cast x / to=11; Cast . / to=1; Relu ."},
    {"dropout_mask", WORDS "d,m: Dropout x; out m; Relu d"},
    {"not_where", "x = float[2,4]; m = bool[2,4]; Not m; Where . x float[]{0}"},
    {"equal_nodes", WORDS "a: Exp x; b: Exp x; Add a b"},
    {"unread", WORDS "a: Exp x; Relu x"},
    {"if_constant", WORDS "Where bool[]{1} x float[]{0}"},
    {"concat_slice",
     IMAGE "a: Slice x int64[1]{0} int64[1]{8} int64[1]{2} int64[1]{2}; b: Slice x int64[1]{1} "
           "int64[1]{8} int64[1]{2} int64[1]{2}; Concat a b / axis=1"},
    {"clip_clip", WORDS "Clip . float[]{0} float[]{6}; Clip . float[]{1} float[]{5}"},
    {"reshape_reduce", WORDS "ReduceMean . / axes=[1] keepdims=0; Unsqueeze . int64[1]{1}"},
    {"matmul_reshape_add", WORDS "MatMul . float[16,16]{*0.1}; Reshape . int64[2]{8,16}; Add . " HALF},
    {"gather_embedding", "i = int64[2,4]; Gather float[10,16]{*0.5} i; LayerNormalization . " HALF " " HALF},
    {"embeddings",
     "i = int64[2,4]; j = int64[2,4]; a: Gather float[10,16]{*0.5} i; b: Gather float[4,16]{*0.25} j; "
     "Add a b; Add . float[4,16]{*0.1}; LayerNormalization . " HALF " " HALF},
    /* weights that a run may replace */
    {"weight_input_conv", IMAGE "weight w " WIDE "; Conv x w; Relu ."},
    {"weight_input_conv_bn",
     IMAGE "weight w " WIDE "; Conv x w; BatchNormalization . " HALF " " HALF " " HALF " " HALF},
    {"weight_input_bn",
     IMAGE "weight b " HALF "; Conv x " WIDE "; BatchNormalization . b b " HALF " " HALF "; Relu ."},
    {"weight_input_add", IMAGE "weight b float[16,1,1]{*0.5}; Conv x " WIDE "; Add . b"},
    {"weight_input_matmul", VECTOR "weight w float[16,8]{*0.1}; MatMul x w; Add . float[8]{*0.5}"},
    {"weight_input_bias", VECTOR "weight b float[8]{*0.1}; MatMul x float[16,8]{*0.1}; Add . b"},
    {"weight_input_scale", WORDS "weight b float[]{0.1}; y = float[2,16,4]; MatMul x y; Mul . b"},
    {"weight_input_gelu", WORDS "weight b " HALF "; opset 20; Add x b; Gelu ."},
    {"weight_input_norm", WORDS "weight b " HALF "; y = float[2,4,16]; Add x y; LayerNormalization . b b"},
    /* half precision */
    {"half_conv_relu", "x = float16[1,16,8,8]; Conv . float16[16,16,3,3]{*0.01}; Relu ."},
    {"half_matmul_bias", "x = float16[4,16]; MatMul . float16[16,8]{*0.1}; Add . float16[8]{*0.5}"},
    {"half_add_relu", "x = float16[2,4,16]; Add . float16[16]{*0.5}; Relu ."},
    {"half_softmax", "x = float16[2,4,16]; Softmax . / axis=-1; Transpose ."},
    {"half_layer_norm", "x = float16[2,4,16]; LayerNormalization . float16[16]{*0.5} float16[16]{*0.5}"},
    {"half_sigmoid_mul", "x = float16[2,4,16]; Sigmoid x; Mul x ."},
    {"half_reshape", "x = float16[2,4,16]; Reshape . int64[1]{-1}; Slice . int64[1]{0} int64[1]{8}"},
    {"half_casts", "x = float16[2,4,16]; Cast . / to=1; Relu .; Cast . / to=10"},
    {"half_maxpool", "x = float16[1,16,8,8]; MaxPool . / kernel_shape=2,2; Concat . . / axis=1"},
    {"half_gemm", "x = float16[4,16]; Gemm . float16[16,8]{*0.1} float16[8]{*0.1}; Relu ."},
    {"half_conv_bn", "x = float16[1,16,8,8]; Conv . float16[16,16,3,3]{*0.01}; BatchNormalization . "
                     "float16[16]{*0.5} float16[16]{*0.5} float16[16]{*0.5} float16[16]{*0.5}"},
    {"half_where", "x = float16[2,4,16]; y = float16[2,4,16]; c = bool[2,4,16]; Where c x y"},
    {"half_tile", "x = float16[2,4,16]; Tile x int64[3]{1,2,1}"},
    {"half_clip", "x = float16[2,4,16]; Clip x float16[]{0} float16[]{1}"},
    {"half_max", "x = float16[2,4,16]; y = float16[2,4,16]; Max x y"},
    {"half_skip_norm", "x = float16[2,4,16]; y = float16[2,4,16]; com.microsoft::SkipLayerNormalization x y "
                       "float16[16]{*0.5} float16[16]{*0.5}"},
    {"half_gelu", "opset 20; x = float16[2,4,16]; Gelu x"},
    {"half_rms_norm", "x = float16[2,4,16]; Pow x float16[]{2}; ReduceMean . / axes=[2]; Add . float16[]{1}; "
                      "Sqrt .; Div x .; Mul . float16[16]{*0.5}"},
    {"half_norm_between", "x = float16[2,4,16]; MatMul x float16[16,16]{*0.1}; LayerNormalization . "
                          "float16[16]{*0.5} float16[16]{*0.5}; MatMul . float16[16,16]{*0.1}"},
    {"half_attention", "x = float16[2,4,8,16]; y = float16[2,4,16,8]; MatMul x y; Mul . float16[]{0.5}; "
                       "Softmax . / axis=-1; MatMul . float16[8,16]{*0.1}; Transpose . / perm=0,2,1,3; "
                       "Reshape . int64[3]{2,8,64}; MatMul . float16[64,64]{*0.1}; Add . float16[64]{*0.1}"},
    {"half_argmax", "x = float16[2,4,16]; ArgMax x"},
    {"equal_8", "x = float[2,4,8]; a: Mul x float[8]{*0.5}; b: Mul x float[8]{*0.5}; c: Add a b; Exp c"},
    {"equal_9", "x = float[2,4,9]; a: Mul x float[9]{*0.5}; b: Mul x float[9]{*0.5}; c: Add a b; Exp c"},
    {"equal_shapes",
     "x = float[2,4,8]; a: Reshape x int64[4]{2,2,2,8}; b: Reshape x int64[4]{2,2,2,8}; c: Add a b; Exp c"},
    /* operators without effect */
    {"noop_sub", WORDS "Relu x; Sub . float[]{0}; Exp ."},
    {"noop_add_first", WORDS "Relu x; Add float[]{0} .; Exp ."},
    {"noop_mul", WORDS "Relu x; Mul . float[]{1}; Exp ."},
    {"noop_div", WORDS "Relu x; Div . float[]{1}; Exp ."},
    {"noop_div_first", WORDS "Relu x; Div float[]{1} .; Exp ."},
    {"noop_sub_first", WORDS "Relu x; Sub float[]{0} .; Exp ."},
    {"noop_mul_1d", WORDS "Relu x; Mul . float[1]{1}; Exp ."},
    {"noop_mul_4d", WORDS "Relu x; Mul . float[1,1,1,1]{1}; Exp ."},
    {"noop_mul_input", WORDS "Mul x float[]{1}; Exp ."},
    {"noop_mul_out", WORDS "Relu x; Mul . float[]{1}"},
    {"noop_add_zero", WORDS "Relu x; Add . float[16]{*0}; Exp ."},
    {"noop_two", WORDS "Relu x; t = .; Mul t float[]{1}; Exp .; e = .; Neg t; Add . e"},
    {"noop_dyn", "x = float[N,4,16]; Relu x; Mul . float[]{1}; Exp ."},
    /* shapes, views, slices, Transposes that move */
    {"shape_of_batch",
     "x = float[N,16,8,8]; Shape x / start=0 end=1; Concat . int64[1]{1024} / axis=0; Reshape x ."},
    {"shape_of_batch_free",
     "x = float[N,16,8,8]; Shape x / start=0 end=1; Concat . int64[1]{-1} / axis=0; Reshape x ."},
    {"shape_allowzero", "x = float[N,16,8,8]; Shape x / start=0 end=1; Concat . int64[1]{1024} / axis=0; "
                        "Reshape x . / allowzero=1"},
    {"reshapes_allowzero", WORDS "Reshape x int64[2]{8,16} / allowzero=1; Reshape . int64[2]{16,8}; Exp ."},
    {"gemm_after_reshape",
     WORDS "Relu x; Reshape . int64[3]{4,2,16}; MatMul . float[16,16]{*0.1}; Add . " HALF "; Exp ."},
    {"gemm_before_reshape",
     WORDS "Relu x; MatMul . float[16,16]{*0.1}; Add . " HALF "; Reshape . int64[4]{2,4,2,8}; Exp ."},
    {"gemm_reshapes_allowzero",
     WORDS "Relu x; Reshape . int64[3]{4,2,16} / allowzero=1; MatMul . float[16,16]{*0.1}; Add . " HALF
           "; Reshape . int64[4]{2,4,2,8} / allowzero=1; Exp ."},
    {"gemm_gemm", WORDS "Relu x; MatMul . float[16,16]{*0.1}; Add . " HALF
                        "; MatMul . float[16,16]{*0.2}; Add . " HALF "; Exp ."},
    {"attention_products", WORDS
     "LayerNormalization x " HALF " " HALF "; l = .; q: MatMul l float[16,16]{*0.1}; qb: Add q " HALF
     "; k: MatMul l float[16,16]{*0.2}; kb: Add k " HALF "; v: MatMul l float[16,16]{*0.3}; vb: Add v " HALF
     "; Add qb kb; Mul . vb; MatMul . float[16,16]{*0.4}; Add . " HALF "; Add . l; Exp ."},
    {"attention_two_products",
     WORDS "LayerNormalization x " HALF " " HALF "; l = .; q: MatMul l float[16,16]{*0.1}; qb: Add q " HALF
           "; k: MatMul l float[16,16]{*0.2}; kb: Add k " HALF
           "; Mul qb kb; MatMul . float[16,16]{*0.4}; Add . " HALF "; Add . l; Exp ."},
    {"attention_output",
     "x = float[2,3,4,16]; Softmax x; MatMul . float[2,3,16,8]{*0.1}; Transpose . / perm=0,2,1,3; Reshape . "
     "int64[3]{2,4,24}; MatMul . float[24,16]{*0.1}; Add . " HALF "; Exp ."},
    {"slices_all", "x = float[2,8,16]; Relu x; t = .; a: Slice t int64[1]{0} int64[1]{3} int64[1]{1}; b: "
                   "Slice t int64[1]{3} int64[1]{8} int64[1]{1}; out a; Exp b"},
    {"slices_to_end", "x = float[2,8,16]; Relu x; t = .; a: Slice t int64[1]{0} int64[1]{3} int64[1]{1}; b: "
                      "Slice t int64[1]{3} int64[1]{9223372036854775807} int64[1]{1}; out a; Exp b"},
    {"slices_order", "x = float[2,8,16]; Relu x; t = .; b: Slice t int64[1]{3} int64[1]{8} int64[1]{1}; a: "
                     "Slice t int64[1]{0} int64[1]{3} int64[1]{1}; out a; Exp b"},
    {"slices_negative", "x = float[2,8,16]; Relu x; t = .; a: Slice t int64[1]{0} int64[1]{-5} int64[1]{-2}; "
                        "b: Slice t int64[1]{-5} int64[1]{8} int64[1]{1}; out a; Exp b"},
    {"slices_gap", "x = float[2,8,16]; Relu x; t = .; a: Slice t int64[1]{0} int64[1]{3} int64[1]{1}; b: "
                   "Slice t int64[1]{4} int64[1]{8} int64[1]{1}; out a; Exp b"},
    {"slices_overlap", "x = float[2,8,16]; Relu x; t = .; a: Slice t int64[1]{0} int64[1]{4} int64[1]{1}; b: "
                       "Slice t int64[1]{3} int64[1]{8} int64[1]{1}; out a; Exp b"},
    {"slices_other_reader",
     "x = float[2,8,16]; Relu x; t = .; a: Slice t int64[1]{0} int64[1]{3} int64[1]{1}; b: Slice t "
     "int64[1]{3} int64[1]{8} int64[1]{1}; out a; c: Exp b; d: Log t; out c; Neg d"},
    {"slices_step_1",
     "x = float[2,8,16]; Relu x; t = .; a: Slice t int64[1]{0} int64[1]{3} int64[1]{1} int64[1]{1}; b: Slice "
     "t int64[1]{3} int64[1]{8} int64[1]{1} int64[1]{1}; out a; Exp b"},
    {"slices_step_2",
     "x = float[2,8,16]; Relu x; t = .; a: Slice t int64[1]{0} int64[1]{8} int64[1]{1} int64[1]{2}; b: Slice "
     "t int64[1]{1} int64[1]{8} int64[1]{1} int64[1]{2}; out a; Exp b"},
    {"slices_no_axes", "x = float[8,16]; Relu x; t = .; a: Slice t int64[1]{0} int64[1]{3}; b: Slice t "
                       "int64[1]{3} int64[1]{8}; out a; Exp b"},
    {"slices_batch", "x = float[N,8,16]; Relu x; t = .; a: Slice t int64[1]{0} int64[1]{3} int64[1]{1}; b: "
                     "Slice t int64[1]{3} int64[1]{8} int64[1]{1}; out a; Exp b"},
    {"slices_unknown_size",
     "x = float[N,8,M]; Relu x; t = .; a: Slice t int64[1]{0} int64[1]{3} int64[1]{2}; b: Slice t "
     "int64[1]{3} int64[1]{9223372036854775807} int64[1]{2}; out a; Exp b"},
    {"slices_gather", "x = float[2,3,16]; Relu x; t = .; a: Slice t int64[1]{0} int64[1]{2} int64[1]{1}; b: "
                      "Gather t int64[]{2} / axis=1; out a; Exp b"},
    {"gathers_negative", "x = float[2,3,16]; Relu x; t = .; c: Gather t int64[]{-1} / axis=1; a: Gather t "
                         "int64[]{0} / axis=-2; b: Gather t int64[]{1} / axis=1; out a; out b; Exp c"},
    {"slices_int32", "x = float[2,8,16]; Relu x; t = .; a: Slice t int32[1]{0} int32[1]{3} int32[1]{1}; b: "
                     "Slice t int32[1]{3} int32[1]{8} int32[1]{1}; out a; Exp b"},
    {"equal_numbers", WORDS "a: Mul x float[]{0.5}; b: Mul x float[]{0.5}; c: Add a b; Exp c"},
    {"skip_symbols", "x = float[N,M,16]; Relu x; r = .; MatMul r float[16,16]{*0.1}; Add . " HALF
                     "; Add . r; LayerNormalization . " HALF " " HALF},
    {"skip_inputs",
     "x = float[N,M,16]; y = float[N,M,16]; Relu x; r = .; Relu y; Add . r; LayerNormalization . " HALF
     " " HALF},
    {"skip_other_symbols",
     "x = float[N,M,16]; y = float[N,K,16]; Relu x; r = .; Relu y; Add . r; LayerNormalization . " HALF
     " " HALF},
    {"skip_reused",
     WORDS "Relu x; r = .; MatMul r float[16,16]{*0.1}; Add . r; s = .; LayerNormalization s " HALF " " HALF
           "; Add . s"},
    {"transpose_qkv", "x = float[2,4,3,5,16]; Transpose x / perm=2,0,3,1,4; t = .; a: Gather t int64[]{0}; "
                      "b: Gather t int64[]{1}; c: Gather t int64[]{2}; d: Mul a float[]{0.5}; e: Transpose b "
                      "/ perm=0,1,3,2; f: MatMul d e; Softmax f; MatMul . c"},
    {"transpose_gather_none", "x = float[2,4,3,16]; Transpose x / perm=2,0,1,3; Gather . int64[]{0}; Exp ."},
    {"transpose_gather_last", "x = float[2,4,3,16]; Transpose x / perm=2,0,3,1; Gather . int64[]{0}; Exp ."},
    {"transpose_gather_two", "x = float[2,4,3,16]; Transpose x / perm=2,0,3,1; t = .; a: Gather t "
                             "int64[]{0}; b: Gather t int64[]{1}; c: Exp a; d: Log b; Add c d"},
    {"transpose_reduced",
     "x = float[2,4,3,16]; Transpose x / perm=0,2,3,1; ReduceMean . / axes=[1,2] keepdims=0; Exp ."},
    /* quantized: QDQ */
    {"qdq_conv", IMAGE W_CONV "Identity x; " QDQ "Conv . w; " QDQ},
    {"qdq_conv_bias", IMAGE W_CONV B_CONV "Identity x; " QDQ "Conv . w b; " QDQ},
    {"qdq_conv_relu", IMAGE W_CONV "Identity x; " QDQ "Conv . w; Relu .; " QDQ},
    {"qdq_conv_clip", IMAGE W_CONV "Identity x; " QDQ "Conv . w; Clip . float[]{0} float[]{6}; " QDQ},
    {"qdq_conv_sigmoid", IMAGE W_CONV "Identity x; " QDQ "Conv . w; Sigmoid .; " QDQ},
    {"qdq_conv_signed", IMAGE W_CONV "Identity x; " QS DQS "Conv . w; " QS DQS},
    {"qdq_conv_float_out", IMAGE W_CONV "Identity x; " QDQ "Conv . w; Relu ."},
    {"qdq_conv_float_bias", IMAGE W_CONV "Identity x; " QDQ "Conv . w " HALF "; " QDQ},
    {"qdq_conv_float_weight", IMAGE QDQ "Conv . " WIDE "; " QDQ},
    {"qdq_conv_conv", IMAGE W_CONV "Identity x; " QDQ "Conv . w; " QDQ "Conv . w; " QDQ},
    {"qdq_conv_bn", IMAGE W_CONV "Identity x; " QDQ "Conv . w; BatchNormalization . " HALF " " HALF " " HALF
                                 " " HALF "; " QDQ},
    {"qdq_conv_maxpool",
     IMAGE W_CONV "Identity x; " QDQ "Conv . w; " QDQ "MaxPool . / kernel_shape=2,2; " QDQ},
    {"qdq_conv_averagepool",
     IMAGE W_CONV "Identity x; " QDQ "Conv . w; " QDQ "AveragePool . / kernel_shape=2,2; " QDQ},
    {"qdq_conv_mean", IMAGE W_CONV "Identity x; " QDQ "Conv . w; " QDQ "GlobalAveragePool .; " QDQ},
    {"qdq_conv_mean_flatten",
     IMAGE W_CONV "Identity x; " QDQ "Conv . w; " QDQ "GlobalAveragePool .; " QDQ "Flatten .; " QDQ},
    {"qdq_conv_transpose",
     IMAGE W_CONV "Identity x; " QDQ "Conv . w; " QDQ "Transpose . / perm=0,2,3,1; " QDQ},
    {"qdq_conv_concat",
     IMAGE W_CONV "Identity x; " Q "q = .; " DQ "a: Conv . w; QuantizeLinear a float[]{0.1} "
                  "uint8[]{128}; " DQ "t = .; Concat t t / axis=1; " QDQ},
    {"qdq_conv_residual",
     IMAGE W_CONV "Identity x; " QDQ "d = .; Conv . w / pads=1,1,1,1; " QDQ "Add . d; " QDQ},
    {"qdq_conv_residual_relu",
     IMAGE W_CONV "Identity x; " QDQ "d = .; Conv . w / pads=1,1,1,1; " QDQ "Add . d; Relu .; " QDQ},
    {"qdq_conv_mul", IMAGE W_CONV "Identity x; " QDQ "d = .; Conv . w / pads=1,1,1,1; " QDQ "Mul . d; " QDQ},
    {"qdq_conv_leaky", IMAGE W_CONV "Identity x; " QDQ "Conv . w; " QDQ "LeakyRelu .; " QDQ},
    {"qdq_conv_hardswish", IMAGE W_CONV "Identity x; " QDQ "Conv . w; " QDQ "HardSwish .; " QDQ},
    {"qdq_conv_resize",
     IMAGE W_CONV "Identity x; " QDQ "Conv . w; " QDQ "Resize . - float[4]{1,1,2,2}; " QDQ},
    {"qdq_conv_transposed", IMAGE W_CONV "Identity x; " QDQ "ConvTranspose . w; " QDQ},
    {"qdq_matmul", WORDS W_MM "Identity x; " QDQ "MatMul . w; " QDQ},
    {"qdq_matmul_bias", WORDS W_MM "Identity x; " QDQ "MatMul . w; Add . " HALF "; " QDQ},
    {"qdq_matmul_float_out", WORDS W_MM "Identity x; " QDQ "MatMul . w"},
    {"qdq_matmul_float_bias", WORDS W_MM "Identity x; " QDQ "MatMul . w; Add . " HALF},
    {"qdq_matmul_2_bias", VECTOR W_MM "Identity x; " QDQ "MatMul . w; Add . " HALF},
    {"qdq_matmul_2_bias_q", VECTOR W_MM "Identity x; " QDQ "MatMul . w; Add . " HALF "; " QDQ},
    {"qdq_matmul_float_weight", WORDS QDQ "MatMul . float[16,16]{*0.1}; " QDQ},
    {"qdq_matmul_weight_only", WORDS W_MM "MatMul x w"},
    {"qdq_matmul_both",
     WORDS "y = float[2,16,4]; Identity x; " QDQ "a = .; Identity y; " QDQ "MatMul a .; " QDQ},
    {"qdq_gemm", VECTOR W_MM "Identity x; " QDQ "Gemm . w; " QDQ},
    {"qdq_gemm_bias", VECTOR W_MM
     "b: DequantizeLinear int32[16]{*3} float[]{0.01} int32[]{0}; Identity x; " QDQ "Gemm . w b; " QDQ},
    {"qdq_gemm_relu",
     VECTOR W_MM "b: DequantizeLinear int32[16]{*3} float[]{0.01} int32[]{0}; Identity x; " QDQ
                 "Gemm . w b; Relu .; " QDQ},
    {"qdq_gemm_float_out",
     VECTOR W_MM "b: DequantizeLinear int32[16]{*3} float[]{0.01} int32[]{0}; Identity x; " QDQ "Gemm . w b"},
    {"qdq_gemm_float_bias", VECTOR W_MM "Identity x; " QDQ "Gemm . w " HALF "; " QDQ},
    {"qdq_add", WORDS "y = float[2,4,16]; Identity x; " QDQ "a = .; Identity y; " QDQ "Add a .; " QDQ},
    {"qdq_add_constant",
     WORDS "Identity x; " QDQ "a = .; DequantizeLinear uint8[16]{*3} float[]{0.1} uint8[]{0}; "
           "Add a .; " QDQ},
    {"qdq_add_float_out", WORDS "y = float[2,4,16]; Identity x; " QDQ "a = .; Identity y; " QDQ "Add a ."},
    {"qdq_mul", WORDS "y = float[2,4,16]; Identity x; " QDQ "a = .; Identity y; " QDQ "Mul a .; " QDQ},
    {"qdq_sub", WORDS "y = float[2,4,16]; Identity x; " QDQ "a = .; Identity y; " QDQ "Sub a .; " QDQ},
    {"qdq_div", WORDS "y = float[2,4,16]; Identity x; " QDQ "a = .; Identity y; " QDQ "Div a .; " QDQ},
    {"qdq_concat",
     WORDS "y = float[2,4,16]; Identity x; " QDQ "a = .; Identity y; " QDQ "Concat a . / axis=1; " QDQ},
    {"qdq_maxpool", IMAGE "Identity x; " QDQ "MaxPool . / kernel_shape=2,2; " QDQ},
    {"qdq_averagepool", IMAGE "Identity x; " QDQ "AveragePool . / kernel_shape=2,2; " QDQ},
    {"qdq_globalpool", IMAGE "Identity x; " QDQ "GlobalAveragePool .; " QDQ},
    {"qdq_reducemean", IMAGE "Identity x; " QDQ "ReduceMean . / axes=[2,3]; " QDQ},
    {"qdq_softmax", WORDS "Identity x; " QDQ "Softmax . / axis=-1; " QDQ},
    {"qdq_sigmoid", WORDS "Identity x; " QDQ "Sigmoid .; " QDQ},
    {"qdq_tanh", WORDS "Identity x; " QDQ "Tanh .; " QDQ},
    {"qdq_relu", WORDS "Identity x; " QDQ "Relu .; " QDQ},
    {"qdq_clip", WORDS "Identity x; " QDQ "Clip . float[]{0} float[]{6}; " QDQ},
    {"qdq_leaky", WORDS "Identity x; " QDQ "LeakyRelu .; " QDQ},
    {"qdq_hardsigmoid", WORDS "Identity x; " QDQ "HardSigmoid .; " QDQ},
    {"qdq_erf", WORDS "Identity x; " QDQ "Erf .; " QDQ},
    {"qdq_transpose", WORDS "Identity x; " QDQ "Transpose . / perm=0,2,1; " QDQ},
    {"qdq_reshape", WORDS "Identity x; " QDQ "Reshape . int64[1]{-1}; " QDQ},
    {"qdq_reshape_transpose", WORDS "Identity x; " QDQ "Reshape . int64[2]{8,16}; " QDQ "Transpose .; " QDQ},
    {"qdq_flatten", WORDS "Identity x; " QDQ "Flatten .; " QDQ},
    {"qdq_squeeze", "x = float[1,4,16]; Identity x; " QDQ "Squeeze . int64[1]{0}; " QDQ},
    {"qdq_unsqueeze", WORDS "Identity x; " QDQ "Unsqueeze . int64[1]{0}; " QDQ},
    {"qdq_slice", WORDS "Identity x; " QDQ "Slice . int64[1]{0} int64[1]{2} int64[1]{1}; " QDQ},
    {"qdq_gather", WORDS "Identity x; " QDQ "Gather . int64[]{0} / axis=1; " QDQ},
    {"qdq_expand", WORDS "Identity x; " QDQ "Expand . int64[4]{2,2,4,16}; " QDQ},
    {"qdq_pad", WORDS "Identity x; " QDQ "Pad . int64[6]{0,0,1,0,0,1}; " QDQ},
    {"qdq_split",
     WORDS "Identity x; " QDQ "a,b: Split . / axis=1; QuantizeLinear a float[]{0.1} uint8[]{128}; " DQ
           "t = .; QuantizeLinear b float[]{0.1} uint8[]{128}; " DQ "Concat t . / axis=1; " QDQ},
    {"qdq_resize", IMAGE "Identity x; " QDQ "Resize . - float[4]{1,1,2,2}; " QDQ},
    {"qdq_depth_to_space", IMAGE "Identity x; " QDQ "DepthToSpace . / blocksize=2; " QDQ},
    {"qdq_instance_norm", IMAGE "Identity x; " QDQ "InstanceNormalization . " HALF " " HALF "; " QDQ},
    {"qdq_layer_norm", WORDS "Identity x; " QDQ "LayerNormalization . " HALF " " HALF "; " QDQ},
    {"qdq_where", "x = float[2,4]; m = bool[2,4]; Identity x; " QDQ "a = .; Where m a a; " QDQ},
    {"qdq_argmax", WORDS "Identity x; " QDQ "ArgMax . / axis=2"},
    {"qdq_topk", WORDS "Identity x; " QDQ
                       "a,b: TopK . int64[1]{2}; out b; QuantizeLinear a float[]{0.1} uint8[]{128}; " DQ},
    {"qdq_pair", WORDS "Relu x; " QDQ "Exp ."},
    {"qdq_pair_twice", WORDS "Relu x; " QDQ QDQ "Exp ."},
    {"qdq_two_readers", IMAGE W_CONV "Identity x; " QDQ "d = .; a: Conv d w; b: Relu d; out a"},
    {"dq_constant", WORDS "DequantizeLinear int8[16]{*3} float[]{0.1} int8[]{0}; Add x ."},
    {"dq_constant_conv", IMAGE W_CONV "Conv x w"},
    {"qdq_conv_signed_shared",
     IMAGE W_CONV "Identity x; " QS DQS "d = .; Conv . w / pads=1,1,1,1; " QS DQS "Add . d; " QS DQS},
    {"qdq_conv_signed_shared_after",
     IMAGE W_CONV "Identity x; " QS DQS "d = .; Conv d w; " QS DQS "e = .; a: Exp e; b: Log e; out a"},
    {"qdq_matmul_signed_shared",
     WORDS W_MM "Identity x; " QS DQS "d = .; MatMul . w; " QS DQS "Add . d; " QS DQS},
    {"qdq_add_signed_shared", WORDS "Identity x; " QS DQS "d = .; r: Relu d; Add d d; " QS DQS
                                    "e = .; out r; a: Exp e; b: Log e; out a"},
    {"qdq_pool_signed_shared", IMAGE "Identity x; " QS DQS "d = .; MaxPool . / kernel_shape=1,1; " QS DQS
                                     "Concat . d / axis=1; " QS DQS},
    {"qdq_transpose_signed_shared",
     WORDS "Identity x; " QS DQS "d = .; r: Relu d; Transpose d / perm=0,2,1; " QS DQS
           "e = .; out r; a: Exp e; b: Log e; out a"},
    {"qdq_add_signed_constant",
     WORDS QDQ "a = .; DequantizeLinear int8[16]{*3} float[]{0.1} int8[]{0}; Add a .; " QDQ "Exp ."},
    {"qdq_transpose_scale",
     WORDS "Identity x; " QDQ "Transpose . / perm=0,2,1; QuantizeLinear . float[]{0.2} uint8[]{128}; "
           "DequantizeLinear . float[]{0.2} uint8[]{128}; Exp ."},
    {"qdq_resize_linear",
     IMAGE "Identity x; " QDQ "Resize . - float[4]{1,1,2,2} / mode=linear; " QDQ "Exp ."},
    {"qdq_split_scale", WORDS
     "Identity x; " QDQ "a,b: Split . / axis=1; QuantizeLinear a float[]{0.2} uint8[]{128}; DequantizeLinear "
     ". float[]{0.2} uint8[]{128}; t = .; QuantizeLinear b float[]{0.2} uint8[]{128}; "
     "DequantizeLinear . float[]{0.2} uint8[]{128}; Concat t . / axis=1; " QDQ},
    {"qdq_split_one",
     WORDS "Identity x; " QDQ "a,b: Split . / axis=1; QuantizeLinear a float[]{0.1} uint8[]{128}; "
           "DequantizeLinear . float[]{0.1} uint8[]{128}; t = .; Concat t b / axis=1"},
    {"qdq_conv_float_constants", IMAGE QDQ "Conv . float[16,16,3,3]{*0.1} " HALF "; " QDQ},
    {"qdq_conv_float_bias_relu", IMAGE W_CONV QDQ
     "Conv . w " HALF
     "; Relu .; QuantizeLinear . float[]{0.1} uint8[]{0}; DequantizeLinear . float[]{0.1} uint8[]{0}; "},
    {"qdq_gemm_float_weight", VECTOR QDQ "Gemm . float[16,16]{*0.1} " HALF "; " QDQ},
    {"qdq_conv_transposed_float", IMAGE QDQ "ConvTranspose . float[16,16,3,3]{*0.1} " HALF "; " QDQ},
    /* quantized at run time */
    {"dynamic_matmul",
     WORDS DYNAMIC "m: MatMulInteger q int8[16,8]{*3} z int8[]{0}; Cast m / to=1; c = .; f: Mul s "
                   "float[]{0.1}; Mul c f"},
    {"dynamic_matmul_bias",
     WORDS DYNAMIC "m: MatMulInteger q int8[16,8]{*3} z int8[]{0}; Cast m / to=1; c = .; f: "
                   "Mul s float[]{0.1}; Mul c f; Add . float[8]{*0.5}"},
    {"dynamic_matmul_bias_one",
     WORDS DYNAMIC "m: MatMulInteger q int8[16,1]{*3} z int8[]{0}; Cast m / to=1; c = .; f: "
                   "Mul s float[]{0.1}; Mul c f; Add . float[1]{*0.5}"},
    {"dynamic_matmul_bias_first",
     WORDS DYNAMIC "m: MatMulInteger q int8[16,8]{*3} z int8[]{0}; Cast m / to=1; c = "
                   ".; f: Mul s float[]{0.1}; Mul c f; Add float[8]{*0.5} ."},
    {"dynamic_matmul_twice",
     WORDS DYNAMIC "f: Mul s float[]{0.1}; m: MatMulInteger q int8[16,8]{*3} z int8[]{0}; Cast "
                   "m / to=1; c = .; u: Mul c f; k: MatMulInteger q int8[16,8]{*4} z int8[]{0}; Cast k / "
                   "to=1; e = .; Mul e f; Add u ."},
    {"dynamic_matmul_shared", WORDS DYNAMIC
     "f: Mul s float[]{0.1}; m: MatMulInteger q int8[16,8]{*3} z int8[]{0}; Cast m / to=1; c = .; "
     "u: Mul c f; g: Mul s float[]{0.2}; k: MatMulInteger q int8[16,8]{*4} z int8[]{0}; Cast k / "
     "to=1; e = .; Mul e g; Add u ."},
    {"dynamic_matmul_shared_bias", WORDS DYNAMIC
     "f: Mul s float[]{0.1}; m: MatMulInteger q int8[16,8]{*3} z int8[]{0}; Cast m / to=1; c = .; "
     "Mul c f; u: Add . float[8]{*0.5}; g: Mul s float[]{0.2}; k: MatMulInteger q int8[16,8]{*4} z "
     "int8[]{0}; Cast k / to=1; e = .; Mul e g; Add . float[8]{*0.5}; Add u ."},
    {"dynamic_matmul_relu",
     WORDS DYNAMIC "m: MatMulInteger q int8[16,8]{*3} z int8[]{0}; Cast m / to=1; c = .; f: Mul "
                   "s float[]{0.1}; Mul c f; Relu ."},
    {"dynamic_conv",
     IMAGE DYNAMIC "m: ConvInteger q int8[16,16,3,3]{*3} z int8[]{0}; Cast m / to=1; c = .; f: Mul s "
                   "float[]{0.1}; Mul c f"},
    {"dynamic_conv_bias",
     IMAGE DYNAMIC "m: ConvInteger q int8[16,16,3,3]{*3} z int8[]{0}; Cast m / to=1; c = .; f: "
                   "Mul s float[]{0.1}; Mul c f; Add . float[16,1,1]{*0.5}"},
    {"qlinear_conv",
     IMAGE Q "QLinearConv . float[]{0.1} uint8[]{128} int8[16,16,3,3]{*3} float[]{0.1} int8[]{0} "
             "float[]{0.1} uint8[]{128}; " DQ},
    {"qlinear_conv_twice",
     IMAGE Q "QLinearConv . float[]{0.1} uint8[]{128} int8[16,16,3,3]{*3} float[]{0.1} int8[]{0} "
             "float[]{0.1} uint8[]{128}; QLinearConv . float[]{0.1} uint8[]{128} "
             "int8[16,16,3,3]{*3} float[]{0.1} int8[]{0} float[]{0.1} uint8[]{128}; " DQ},
    {"qlinear_conv_maxpool",
     IMAGE Q "QLinearConv . float[]{0.1} uint8[]{128} int8[16,16,3,3]{*3} float[]{0.1} "
             "int8[]{0} float[]{0.1} uint8[]{128}; MaxPool . / kernel_shape=2,2; " DQ},
    {"qlinear_conv_mean",
     IMAGE Q "QLinearConv . float[]{0.1} uint8[]{128} int8[16,16,3,3]{*3} float[]{0.1} int8[]{0} "
             "float[]{0.1} uint8[]{128}; com.microsoft::QLinearGlobalAveragePool . float[]{0.1} "
             "uint8[]{128} float[]{0.1} uint8[]{128}; " DQ},
    {"qlinear_conv_flatten",
     IMAGE Q "QLinearConv . float[]{0.1} uint8[]{128} int8[16,16,3,3]{*3} float[]{0.1} "
             "int8[]{0} float[]{0.1} uint8[]{128}; Flatten .; " DQ},
};

/* Convolutions whose channels decide the layout: channels in, out, groups; what follows. */
static const struct {
    int in, out, group;
} sizes[] = {{1, 8, 1},    {1, 16, 1},   {2, 16, 1},   {3, 8, 1},    {3, 10, 1},   {3, 16, 1},  {3, 32, 1},
             {4, 16, 1},   {6, 16, 1},   {8, 8, 1},    {8, 12, 1},   {8, 16, 1},   {8, 24, 1},  {12, 16, 1},
             {12, 24, 1},  {16, 2, 1},   {16, 4, 1},   {16, 6, 1},   {16, 8, 1},   {16, 24, 1}, {17, 16, 1},
             {18, 16, 1},  {20, 16, 1},  {20, 20, 1},  {22, 16, 1},  {24, 24, 1},  {24, 40, 1}, {32, 1, 1},
             {32, 33, 1},  {36, 16, 1},  {48, 20, 1},  {64, 64, 1},  {4, 4, 4},    {8, 8, 8},   {12, 12, 12},
             {16, 16, 16}, {20, 20, 20}, {24, 24, 24}, {32, 32, 32}, {40, 40, 40}, {8, 16, 8},  {16, 32, 16},
             {16, 16, 2},  {16, 16, 4},  {32, 32, 2},  {32, 32, 4},  {64, 64, 4},  {64, 64, 8}, {24, 24, 3},
             {48, 48, 3},  {30, 30, 30}, {6, 12, 6}};

static const struct consumer after_sizes[] = {
    {"", ""},
    {"_Relu", "; Relu ."},
    {"_Conv", "; Conv . float[16,$N,1,1]{*0.01}"},
    {"_MaxPool", "; MaxPool . / kernel_shape=2,2"},
    {"_twice", "; t = .; a: Conv t float[$N,$N,1,1]{*0.01}; Add a t; Relu ."},
    {"_scaled", "; t = .; GlobalAveragePool .; Sigmoid .; Mul t ."},
    {"_Concat", "; t = .; u: Sigmoid t; Concat t u / axis=1; Conv . float[16,$M,1,1]{*0.01}"},
};

/* ---- all probes ------------------------------------------------------------------------------------------
 */

/* `text` with "$C", "$S", "$N" and "$M" (twice $N) replaced. */
static char *expanded(struct zoo *z, const char *text, const char *channel, const char *shape)
{
    char *out = zoo_text(z, "%s", "");
    int n = (int)strtol(channel, NULL, 10);
    for (const char *at; (at = strchr(text, '$')) != NULL; text = at + 2) {
        const char *by = at[1] == 'C'   ? channel
                         : at[1] == 'S' ? shape
                                        : zoo_text(z, "%d", at[1] == 'M' ? 2 * n : n);
        out = zoo_text(z, "%s%.*s%s", out, (int)(at - text), text, by);
    }
    return zoo_text(z, "%s%s", out, text);
}

enum { ANY = 9 };

static unsigned commas_of(const char *text)
{
    unsigned n = 0;
    for (; *text; text++)
        n += *text == ',';
    return n;
}

static bool is_valid(const struct producer *p, const struct consumer *c)
{
    bool old = strstr(p->text, "axes=") || strstr(p->text, "Split"); /* other forms in operator set 18 */
    bool small = !strcmp(p->name, "GlobalAveragePool");
    bool window = strstr(c->name, "Pool") || strstr(c->text, ",3,3]");
    return !(old && strstr(c->text, "opset")) && !(small && window);
}

/* Calls `visit` for every pair. commas: in the sizes of a number per channel. */
static void each_pair(struct zoo *z, const struct consumer *list, size_t n, unsigned commas,
                      zoo_probe_visit *visit, void *context)
{
    for (size_t i = 0; i < OC_COUNT(producers); i++) {
        const struct producer *p = &producers[i];
        for (size_t k = 0; k < n; k++) {
            if ((commas != ANY && commas_of(p->channel) != commas) || !is_valid(p, &list[k]))
                continue;
            char *text = zoo_text(z, "%s; %s", p->text, list[k].text);
            visit(context, zoo_text(z, "%s+%s", p->name, list[k].name),
                  expanded(z, text, p->channel, p->shape));
        }
    }
}

static void each_size(struct zoo *z, zoo_probe_visit *visit, void *context)
{
    for (size_t i = 0; i < OC_COUNT(sizes); i++)
        for (size_t k = 0; k < OC_COUNT(after_sizes); k++) {
            const char *conv = zoo_text(
                z, "x = float[1,%d,8,8]; Conv . float[%d,%d,3,3]{*0.01} / group=%d pads=1,1,1,1%s",
                sizes[i].in, sizes[i].out, sizes[i].in / sizes[i].group, sizes[i].group, after_sizes[k].text);
            visit(context,
                  zoo_text(z, "Conv_%dx%dx%d%s", sizes[i].in, sizes[i].out, sizes[i].group,
                           after_sizes[k].name),
                  expanded(z, conv, zoo_text(z, "%d", sizes[i].out), ""));
        }
}

void zoo_each_probe(zoo_probe_visit *visit, void *context)
{
    struct zoo z;
    zoo_init(&z, 17);
    each_pair(&z, consumers, OC_COUNT(consumers), ANY, visit, context);
    each_pair(&z, image_consumers, OC_COUNT(image_consumers), 2, visit, context);
    each_pair(&z, matrix_consumers, OC_COUNT(matrix_consumers), 0, visit, context);
    for (size_t i = 0; i < OC_COUNT(patterns); i++)
        visit(context, patterns[i].name, zoo_text(&z, "%s", patterns[i].text));
    each_size(&z, visit, context);
    zoo_free(&z);
}

uint8_t *zoo_probe(const char *text, size_t *n)
{
    struct zoo z;
    zoo_init(&z, 17);
    build(&z, zoo_text(&z, "%s", text));
    uint8_t *bytes = oc_b_pack(z.b, n);
    zoo_free(&z);
    return bytes;
}
