#include "support/op_rows.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define M   "com.microsoft:"
#define EST ", est"

static const struct op_shape_row shapes[] = {
    {M "ReluGrad", 1, "", "float[2,3] float[2,3]", "y", "float[2,3]"},
    {M "SoftmaxCrossEntropyLossGrad", 1, "", "float[] float[4,10] int64[4]", "y", "float[4,10]"},
    {M "LayerNormalizationGrad", 1, "", "float[2,8] float[2,8] float[8] float[2,1] float[2,1]", "yyy",
     "float[2,8] float[8] float[8]"},
    {M "AdamOptimizer", 1, "", "float[] int64[] float[7] float16[7] float[7] float[7] float16[7]", "yyyyyy",
     "int64[] float[7] float[7] float[7] float16[7] float16[7]"},
    {M "GatherGrad", 1, "axis=0", "int64[2]{10,4} int64[3] float[3,4]", "y", "float[10,4]"},
    {M "GatherGrad", 1, "axis=0", "int64[2]{N,4} int64[3] float[3,4]", "y", "float[N,4]"},
    {M "GatherNDGrad", 1, "", "int64[2] int64[3,1] float[3,4]", "y", "float[...]"},
    {M "SliceGrad", 1, "", "float[2,4] int64[2]{5,4} int64[1] int64[1]", "y", "float[5,4]"},
    {M "GatherElementsGrad", 1, "axis=0", "float[2,4] int64[2]{5,4} int64[2,4]", "y", "float[5,4]"},
    {M "ConvGrad", 1, "", "float[1,4,6,6] float[1,3,8,8] float[4,3,3,3]", "yyy",
     "float[1,3,8,8] float[4,3,3,3] float[4]"},
    {"ConvGrad", 9, "", "float[1,4,6,6] float[1,3,8,8] float[4,3,3,3]", "yy",
     "float[1,3,8,8] float[4,3,3,3]"},
    {M "ReduceAllL2", 1, "", "float[3] float[4,5]", "y", "float[]"},
    {M "MixedPrecisionScale", 1, "to=10", "float[] float[3] float[4,5]", "yy", "float16[3] float16[4,5]"},
    {M "MixedPrecisionScale", 1, "to=10 fuse_outputs=1", "float[] float[3] float[4,5]", "y", "float16[23]"},
    {M "IsFinite", 1, "", "float[2,3]", "y", "bool[2,3]"},
    {M "LambOptimizer", 1, "",
     "bool[] float[] float[] float[] int64[] float[7] float16[7] float[7] float[7] float16[7]", "yyyyyy",
     "int64[] float[7] float16[7] float[7] float[7] float16[7]"},
    {M "InPlaceAccumulatorV2", 1, "", "float[7] float[7]", "yy", "bool[1] float[7]"},
    {M "BroadcastGradientArgs", 1, "", "int64[2] int64[1]", "yy", "int64[a_axes] int64[b_axes]"},
    {M "MaxPoolGrad", 1, "", "float[1,2,3,3] int64[1,2,3,3]", "y", "float[...]"},
    {"MaxPoolGrad", 9, "", "float[1,2,3,3] int64[1,2,3,3]", "y", "float[...]"},
    {M "AveragePoolGrad", 1, "", "float[1,2,3,3]", "y", "float[...]"},
    {"AveragePoolGrad", 9, "", "float[1,2,3,3]", "y", "float[...]"},
    {M "FakeQuant", 1, "", "float[2,3] float[] float[]", "yy", "float[2,3] bool[2,3]"},
    {M "FakeQuantGrad", 1, "", "float[2,3] bool[2,3]", "y", "float[2,3]"},
    {M "ReduceSumTraining", 1, "keepdims=0", "float[2,3,4] int64[2]{0,-1}", "y", "float[3]"},
    {M "ReduceSumTraining", 1, "", "float[2,3,4] int64[1]{1}", "y", "float[2,1,4]"},
    {M "SoftmaxCrossEntropyLossInternal", 1, "reduction=mean", "float[4,10] int64[4]", "yy",
     "float[] float[4,10]"},
    {M "SoftmaxCrossEntropyLossInternal", 1, "reduction=none", "float[4,10] int64[4]", "y", "float[4]"},
    {M "SplitTraining", 1, "axis=1", "float[2,6] int64[2]{2,4}", "yy", "float[2,2] float[2,4]"},
};

static const struct op_hist_row counts[] = {
    {M "ReluGrad", 1, "", "float[2,3] float[2,3]", "y", "CMP 6"},
    {M "LeakyReluGrad", 1, "", "float[2,3] float[2,3]", "y", "MUL 6, CMP 6"},
    {M "SigmoidGrad", 1, "", "float[2,3] float[2,3]", "y", "ADD 6, MUL 12"},
    {M "TanhGrad", 1, "", "float[2,3] float[2,3]", "y", "ADD 6, MUL 12"},
    {M "SinGrad", 1, "", "float[2,3] float[2,3]", "y", "MUL 6, SIN 6"},
    {M "DropoutGrad", 1, "", "float[2,3] bool[2,3] float[]", "y", "MUL 6, CMP 6"},
    {M "BitmaskDropoutGrad", 1, "", "float[2,3] uint32[1] float[]", "y", "MUL 6, CMP 6"},
    {M "GeluGrad", 1, "", "float[2,3] float[2,3]", "y", "ADD 12, MUL 42, EXP 6, ERF 6" EST},
    {M "BiasGeluGrad_dX", 1, "", "float[2,3] float[2,3] float[3]", "y", "ADD 18, MUL 42, EXP 6, ERF 6" EST},
    {M "FastGeluGrad", 1, "", "float[2,3] float[2,3]", "y", "ADD 30, MUL 72, TANH 6" EST},
    {M "BiasFastGeluGrad_dX", 1, "", "float[2,3] float[2,3] float[3]", "y", "ADD 36, MUL 72, TANH 6" EST},
    {M "QuickGeluGrad", 1, "", "float[2,3] float[2,3]", "y", "ADD 12, MUL 24, SIG 6" EST},
    {M "SoftmaxGrad", 1, "", "float[2,3] float[2,3]", "y", "ADD 12, MUL 12"},
    {M "SoftmaxGrad_13", 1, "", "float[2,3] float[2,3]", "y", "ADD 12, MUL 12"},
    {M "LogSoftmaxGrad", 1, "", "float[2,3] float[2,3]", "y", "ADD 12, MUL 6, EXP 6"},
    {M "LogSoftmaxGrad_13", 1, "", "float[2,3] float[2,3]", "y", "ADD 12, MUL 6, EXP 6"},
    {M "SoftmaxCrossEntropyGrad", 1, "", "float[] float[4,10] float[4,10]", "y",
     "ADD 40, MUL 40, EXP 40" EST},
    {M "SoftmaxCrossEntropyLossGrad", 1, "", "float[] float[4,10] int64[4]", "y",
     "ADD 40, MUL 40, EXP 40" EST},
    {M "SoftmaxCrossEntropyLossInternalGrad", 1, "", "float[] float[4,10] int64[4]", "y",
     "ADD 40, MUL 40, EXP 40" EST},
    {M "LayerNormalizationGrad", 1, "", "float[2,8] float[2,8] float[8] float[2,1] float[2,1]", "yyy",
     "ADD 112, MUL 96" EST},
    {M "SimplifiedLayerNormalizationGrad", 1, "", "float[2,8] float[2,8] float[8] float[2,1]", "yy",
     "ADD 48, MUL 96" EST},
    {M "InvertibleLayerNormalizationGrad", 1, "", "float[2,8] float[2,8] float[8] float[8] float[2,1]", "yyy",
     "ADD 112, MUL 80, DIV 16" EST},
    {M "BatchNormalizationGrad", 1, "", "float[1,2,8] float[1,2,8] float[2] float[2] float[2]", "yyy",
     "ADD 112, MUL 96" EST},
    {M "DivGrad", 1, "", "float[2,3] float[2,3] float[3]", "yy", "MUL 12, DIV 12" EST},
    {M "AdamOptimizer", 1, "", "float[] int64[] float[7] float[7] float[7] float[7]", "yyyy",
     "ADD 42, MUL 42, DIV 7, SQRT 7" EST},
    {M "SGDOptimizer", 1, "", "float[] float[7] float[7]", "y", "ADD 7, MUL 7"},
    {M "InPlaceAccumulator", 1, "", "float[7] float[7]", "y", "ADD 7"},
    {M "ZeroGradient", 1, "", "float[7] float[7]", "y", "nothing"},
    {M "Scale", 1, "", "float[7] float[]", "y", "MUL 7"},
    {M "GatherGrad", 1, "axis=0", "int64[2]{10,4} int64[3] float[3,4]", "y", "ADD 12"},
    {M "GatherNDGrad", 1, "", "int64[2]{10,4} int64[3,1] float[3,4]", "y", "ADD 12"},
    {M "GatherElementsGrad", 1, "axis=0", "float[2,4] int64[2]{5,4} int64[2,4]", "y", "ADD 8"},
    {M "SliceGrad", 1, "", "float[2,4] int64[2]{5,4} int64[1] int64[1]", "y", "ADD 8"},
    /* 144 results of 27 taps, once for dX and once for dW */
    {M "ConvGrad", 1, "", "float[1,4,6,6] float[1,3,8,8] float[4,3,3,3]", "yyy", "MAC 7776, ADD 144"},
    {M "ConvGrad", 1, "", "float[1,4,6,6] float[1,3,8,8] float[4,3,3,3]", "-y", "MAC 3888"},
    {"ConvGrad", 9, "", "float[1,4,6,6] float[1,3,8,8] float[4,3,3,3]", "yy", "MAC 7776"},
    {M "ReduceAllL2", 1, "", "float[3] float[4,5]", "y", "ADD 23, MUL 23, SQRT 1"},
    {M "MixedPrecisionScale", 1, "to=10", "float[] float[3] float[4,5]", "yy", "MUL 23"},
    {M "IsFinite", 1, "", "float[2,3]", "y", "CMP 6"},
    {M "LambOptimizer", 1, "",
     "bool[] float[] float[] float[] int64[] float[7] float[7] float[7] float[7] - float[5] float[5] "
     "float[5] float[5]",
     "yy", "ADD 108, MUL 120, DIV 12, SQRT 12" EST},
    {M "InPlaceAccumulatorV2", 1, "", "float[7] float[7]", "yy", "ADD 7"},
    {M "BroadcastGradientArgs", 1, "", "int64[2] int64[1]", "yy", "nothing, unknown"},
    {M "FakeQuant", 1, "", "float[2,3] float[] float[]", "yy", "ADD 12, MUL 6, CMP 12, DIV 6, RND 6"},
    {M "FakeQuantGrad", 1, "", "float[2,3] bool[2,3]", "y", "CMP 6"},
    {M "ReduceSumTraining", 1, "keepdims=0", "float[2,3,4] int64[2]{0,-1}", "y", "ADD 24"},
    {M "SplitTraining", 1, "axis=1", "float[2,6] int64[2]{2,4}", "yy", "nothing"},
    /* 40 logits in 4 rows: 5 each and a logarithm per row; one selection and addition per label, one division
     */
    {M "SoftmaxCrossEntropyLossInternal", 1, "reduction=mean", "float[4,10] int64[4]", "y",
     "ADD 124, CMP 44, DIV 1, EXP 40, LOG 4"},
};

static void gradients_infer_shapes(void **state)
{
    (void)state;
    op_check_shapes(shapes, OC_COUNT(shapes));
}

static void gradients_count_operations(void **state)
{
    (void)state;
    op_check_hists(counts, OC_COUNT(counts));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(gradients_infer_shapes),
                                       cmocka_unit_test(gradients_count_operations)};
    return cmocka_run_group_tests_name("ops/train_grad", tests, NULL, NULL);
}
