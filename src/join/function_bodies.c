#include "join/function_bodies.h"

#include <string.h>

#include "base/arena.h"

#define MEAN_AND_DEVIATION "ReduceMean Mul ReduceMean Mul Sub Add Sqrt Sub Div "
#define CROSS_ENTROPY      "Reshape Transpose LogSoftmax Transpose Shape Reshape "
#define WEIGHTED_LOSS      "Unsqueeze GatherElements Neg Slice Gather Squeeze Mul"
#define MASKED_LOSS        "Unsqueeze Sub Cast Equal Where GatherElements Where Neg Slice "
#define WINDOW             "Cast Sub Cast Sub Mul Mul Add Div Range Mul Mul Cos Mul Cos Mul Sub Add Cast"
#define LAYER_NORM         "Cast Shape Size Slice "
#define LAYER_NORM_REST    "ConstantOfShape Concat Flatten Cast " MEAN_AND_DEVIATION "Cast Flatten Mul "

/* The bodies of the function operators of the ONNX standard, from their schemas, as ONNX Runtime creates the
 * nodes: Constants become initializers and have no node. Several rows of a type: forms that depend on the
 * opset, on attributes or on optional inputs. */
static const struct oc_function_body body[] = {
    {"Bernoulli", "RandomUniformLike Greater Cast", 15, true},
    {"BlackmanWindow", WINDOW, 17, false},
    {"CastLike", "Cast", 15, true},
    {"Celu", "CastLike Div Elu Mul", 28, false},
    {"Celu", "Div Elu Mul", 12, false},
    {"CenterCropPad", "Shape Max Sub Div Sub Concat Pad Shape Sub Div Add Slice", 18, true},
    {"CenterCropPad", "Shape Gather Max Sub Div Sub Concat Pad Shape Gather Sub Div Add Slice", 18, true},
    {"Clip", "Less Where Less Where", 13, false},
    {"Clip", "Less Where", 13, false},
    {"Clip", "Identity", 13, false},
    {"DynamicQuantizeLinear",
     "ReduceMin Min ReduceMax Max Sub Div Div Sub Clip Round Cast Identity Identity QuantizeLinear", 11,
     false},
    {"Elu", "CastLike CastLike CastLike Less Exp Sub Mul Where", 6, false},
    {"Gelu", "CastLike CastLike CastLike Sqrt Div Erf Sum Mul Mul", 20, false},
    {"Gelu", "CastLike CastLike CastLike CastLike Sqrt CastLike Pow Mul Sum Mul Tanh Sum Mul Mul", 20, false},
    {"GreaterOrEqual", "Greater Equal Or", 12, false},
    {"GroupNormalization",
     "Cast Cast Shape Shape Div Shape Shape Concat Reshape Reshape " MEAN_AND_DEVIATION
     "Reshape Reshape Cast Cast Cast Reshape Reshape Mul Add Reshape",
     21, true},
    {"GroupNormalization",
     "Cast Shape Shape Div Shape Shape Concat Reshape Reshape " MEAN_AND_DEVIATION
     "Cast Cast Reshape Reshape Mul Add Reshape",
     18, true},
    {"HammingWindow", WINDOW, 17, false},
    {"HannWindow", WINDOW, 17, false},
    {"HardSigmoid", "CastLike CastLike CastLike CastLike Mul Add Min Max", 6, false},
    {"HardSwish", "HardSigmoid Mul", 14, true},
    {"LayerNormalization", LAYER_NORM "Neg " LAYER_NORM_REST "Flatten Add Reshape Reciprocal", 17, false},
    {"LayerNormalization", LAYER_NORM "Sub " LAYER_NORM_REST "Flatten Add Reshape Reciprocal", 17, false},
    {"LayerNormalization", LAYER_NORM "Neg " LAYER_NORM_REST "Identity Reshape Reciprocal", 17, false},
    {"LayerNormalization", LAYER_NORM "Neg " LAYER_NORM_REST "Flatten Add Reshape Reciprocal Reshape Reshape",
     17, false},
    {"LayerNormalization", LAYER_NORM "Sub " LAYER_NORM_REST "Flatten Add Reshape Reciprocal Reshape Reshape",
     17, false},
    {"LeakyRelu", "CastLike CastLike Less Mul Where", 16, false},
    {"LessOrEqual", "Less Equal Or", 12, false},
    {"LogSoftmax", "ReduceMax Sub Exp ReduceSum Log Sub", 13, false},
    {"MeanVarianceNormalization", "ReduceMean Pow Pow ReduceMean Sub Sqrt Sub Add Div", 9, false},
    {"Mish", "Softplus Tanh Mul", 18, true},
    {"NegativeLogLikelihoodLoss", "Unsqueeze GatherElements Neg Slice Squeeze ReduceMean", 12, true},
    {"NegativeLogLikelihoodLoss", "Unsqueeze GatherElements Neg Slice Squeeze ReduceSum", 12, true},
    {"NegativeLogLikelihoodLoss", "Unsqueeze GatherElements Neg Slice Squeeze", 12, true},
    {"NegativeLogLikelihoodLoss", WEIGHTED_LOSS, 12, true},
    {"NegativeLogLikelihoodLoss", WEIGHTED_LOSS " ReduceSum", 12, true},
    {"NegativeLogLikelihoodLoss", WEIGHTED_LOSS " ReduceSum ReduceSum Div", 12, true},
    {"NegativeLogLikelihoodLoss", MASKED_LOSS "Squeeze Where Squeeze Mul", 12, true},
    {"NegativeLogLikelihoodLoss", MASKED_LOSS "Squeeze Where Squeeze Mul ReduceSum", 12, true},
    {"NegativeLogLikelihoodLoss", MASKED_LOSS "Squeeze Where Squeeze Mul ReduceSum ReduceSum Div", 12, true},
    {"NegativeLogLikelihoodLoss", MASKED_LOSS "Gather Where Squeeze Squeeze Mul", 12, true},
    {"NegativeLogLikelihoodLoss", MASKED_LOSS "Gather Where Squeeze Squeeze Mul ReduceSum", 12, true},
    {"NegativeLogLikelihoodLoss", MASKED_LOSS "Gather Where Squeeze Squeeze Mul ReduceSum ReduceSum Div", 12,
     true},
    {"PRelu", "CastLike Less Mul Where", 16, false},
    {"Range", "Sub Cast Cast Div Ceil Relu Cast Cast Loop", 11, false},
    {"ReduceL1", "Abs ReduceSum", 18, false},
    {"ReduceL2", "Mul ReduceSum Cast Sqrt CastLike", 18, false},
    {"ReduceLogSum", "ReduceSum Log", 18, false},
    {"ReduceLogSumExp", "Cast Exp ReduceSum Log CastLike", 18, false},
    {"ReduceSumSquare", "Mul ReduceSum", 18, false},
    {"Relu", "CastLike Max", 14, false},
    {"RMSNormalization", "Cast Shape Size Add Range Cast Mul ReduceMean Add Sqrt Div Cast Mul", 23, false},
    {"RMSNormalization", "Cast Shape Size Identity Range Cast Mul ReduceMean Add Sqrt Div Cast Mul", 23,
     false},
    {"Selu", "CastLike CastLike CastLike Exp Mul Sub Mul Mul Less Where", 6, false},
    {"Shrink", "CastLike CastLike CastLike Neg Less Add Sub Less Where Where", 9, false},
    {"Softmax", "ReduceMax Sub Exp ReduceSum Div", 13, false},
    {"SoftmaxCrossEntropyLoss", CROSS_ENTROPY "Identity NegativeLogLikelihoodLoss", 12, true},
    {"SoftmaxCrossEntropyLoss", CROSS_ENTROPY "NegativeLogLikelihoodLoss", 12, true},
    {"Softplus", "Exp CastLike Add Log", 1, false},
    {"Softsign", "CastLike Abs Add Div", 1, false},
    {"SwiGLU", "Swish Mul", 28, true},
    {"Swish", "CastLike Mul Sigmoid Mul", 24, true},
    {"ThresholdedRelu", "CastLike CastLike Less Where", 10, false},
};

const struct oc_function_body *oc_function_bodies(const char *op_type, size_t *n)
{
    size_t first = 0;
    while (first < OC_COUNT(body) && strcmp(body[first].type, op_type) != 0)
        first++;
    size_t end = first;
    while (end < OC_COUNT(body) && strcmp(body[end].type, op_type) == 0)
        end++;
    *n = end - first;
    return *n ? &body[first] : NULL;
}
