#include "support/op_rows.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define T "trt:"

static const struct op_shape_row shapes[] = {
    {T "EfficientNMS_TRT", 1, "max_output_boxes=100", "float[2,8400,4] float[2,8400,80]", "yyyy",
     "int32[2,1] float[2,100,4] float[2,100] int32[2,100]"},
    {"TRT:EfficientNMS_TRT", 1, "max_output_boxes=100", "float16[N,8400,4] float16[N,8400,80]", "yyyy",
     "int32[N,1] float16[N,100,4] float16[N,100] int32[N,100]"},
    {"trt.plugins:EfficientNMS_TRT", 1, "", "float[2,8400,4] float[2,8400,80]", "yyyy",
     "error: max_output_boxes is 0"},
    {T "BatchedNMSDynamic_TRT", 1, "keepTopK=20", "float[1,50,1,4] float[1,50,3]", "yyyy",
     "int32[1,1] float[1,20,4] float[1,20] float[1,20]"},
    {T "BatchedNMS_TRT", 1, "keepTopK=20", "float[1,50,1,4] float[1,50,3]", "yyyy",
     "int32[1,1] float[1,20,4] float[1,20] float[1,20]"},
    {T "CustomFCPluginDynamic", 1, "out_dims=12", "float[5,2,8,1,1]", "y", "float[5,2,12,1,1]"},
    {T "CustomFCPluginDynamic", 1, "", "float[5,2,8,1,1]", "y", "error: out_dims is 0"},
    {T "CustomFCPluginDynamic", 1, "out_dims=12", "float[5,2]", "y", "error: the input has rank 2, not 5"},
    {T "CustomQKVToContextPluginDynamic", 1, "num_heads=2", "float[5,3,24,1,1]", "y", "float[5,3,8,1,1]"},
    {T "CustomQKVToContextPluginDynamic", 1, "num_heads=2", "float[5,3,25,1,1]", "y",
     "error: 25 is not three times the hidden size"},
    {T "CustomSkipLayerNormPluginDynamic", 1, "", "float[5,3,8,1,1] float[5,3,8,1,1]", "y",
     "float[5,3,8,1,1]"},
    {"DisentangledAttention_TRT", 17, "", "float[8,4,4] float[8,4,6] float[8,4,6]", "y", "float[8,4,4]"},
    {T "GroupNormalizationPlugin", 1, "num_groups=2", "float[1,4,3,3] float[4] float[4]", "y",
     "float[1,4,3,3]"},
    {T "InstanceNormalization_TRT", 1, "", "float[1,4,3,3]", "y", "float[1,4,3,3]"},
    {T "MultiscaleDeformableAttnPlugin_TRT", 1, "",
     "float[2,100,8,32] int32[4,2] int32[4] float[2,10,8,4,3,2] float[2,10,8,4,3]", "y", "float[2,10,8,32]"},
    {T "MultiscaleDeformableAttnPlugin_TRT", 1, "",
     "float[2,100,8] int32[4,2] int32[4] float[2,10,8,4,3,2] float", "y",
     "error: value and sampling_locations have ranks 3 and 6, not 4 and 6"},
    {T "PillarScatterPlugin", 1, "dense_shape=[16,20]", "float[2,50,64] int32[2,50,4] int32[2]", "y",
     "float[2,64,16,20]"},
    {T "PillarScatterPlugin", 1, "", "float[2,50,64]", "y", "error: dense_shape is not two sizes"},
    {T "TRT_FP8QuantizeLinear", 1, "", "float16[4,8] float16[]", "y", "float8e4m3fn[4,8]"},
    {T "TRT_FP8DequantizeLinear", 1, "", "float8e4m3fn[4,8] float16[]", "y", "float16[4,8]"},
    {T "TRT_INT4QuantizeLinear", 1, "", "float16[4,8] float16[]", "y", "int4[4,8]"},
    {T "TRT_INT4DequantizeLinear", 1, "", "int4[4,8] float16[]", "y", "float16[4,8]"},
};

static const struct op_hist_row counts[] = {
    /* 3 lists of 50: 150 * (1 + 6) for threshold and sort; 3 * 20 * 50 overlaps */
    {T "BatchedNMS_TRT", 1, "keepTopK=20", "float[1,50,1,4] float[1,50,3]", "yyyy",
     "ADD 15000, MUL 6000, CMP 16050, DIV 3000, upper"},
    {T "BatchedNMSDynamic_TRT", 1, "keepTopK=20", "float[1,50,1,4] float[1,50,3]", "yyyy",
     "ADD 15000, MUL 6000, CMP 16050, DIV 3000, upper"},
    {T "EfficientNMS_TRT", 1, "max_output_boxes=60", "float[1,50,4] float[1,50,3]", "yyyy",
     "ADD 37500, MUL 15000, CMP 38550, DIV 7500, upper"},
    {T "CustomFCPluginDynamic", 1, "out_dims=12", "float[5,2,8,1,1]", "y", "MAC 960"},
    /* 2 * 5*5*3*8 MACs; 5*5*3*2 scores */
    {T "CustomQKVToContextPluginDynamic", 1, "num_heads=2", "float[5,3,24,1,1]", "y",
     "MAC 1200, ADD 300, MUL 150, CMP 150, DIV 150, EXP 150"},
    /* 120 elements in 15 rows */
    {T "CustomSkipLayerNormPluginDynamic", 1, "", "float[5,3,8,1,1] float[5,3,8,1,1]", "y",
     "ADD 615, MUL 360, DIV 45, SQRT 15"},
    {T "DisentangledAttention_TRT", 1, "", "float[8,4,4] float[8,4,6] float[8,4,6]", "y", "ADD 256, MUL 128"},
    {T "GroupNormalizationPlugin", 1, "num_groups=2", "float[1,4,3,3] float[4] float[4]", "y",
     "ADD 146, MUL 108, DIV 6, SQRT 2"},
    {T "InstanceNormalization_TRT", 1, "", "float[1,4,3,3]", "y", "ADD 148, MUL 108, DIV 12, SQRT 4"},
    /* l = 2*10*8*4*3 = 1920 places, s = 32 l samples */
    {T "MultiscaleDeformableAttnPlugin_TRT", 1, "",
     "float[2,100,8,32] int32[4,2] int32[4] float[2,10,8,4,3,2] float[2,10,8,4,3]", "y",
     "ADD 257280, MUL 314880, RND 3840"},
    {T "PillarScatterPlugin", 1, "dense_shape=[16,20]", "float[2,50,64] int32[2,50,4] int32[2]", "y",
     "nothing"},
    {T "TRT_FP8QuantizeLinear", 1, "", "float16[4,8] float16[]", "y", "CMP 64, DIV 32, RND 32"},
    {T "TRT_FP8DequantizeLinear", 1, "", "float8e4m3fn[4,8] float16[]", "y", "MUL 32"},
    {T "TRT_INT4QuantizeLinear", 1, "", "float16[4,8] float16[]", "y", "CMP 64, DIV 32, RND 32"},
    {T "TRT_INT4DequantizeLinear", 1, "", "int4[4,8] float16[]", "y", "MUL 32"},
};

static void tensorrt_plugins_infer_shapes(void **state)
{
    (void)state;
    op_check_shapes(shapes, OC_COUNT(shapes));
}

static void tensorrt_plugins_count_operations(void **state)
{
    (void)state;
    op_check_hists(counts, OC_COUNT(counts));
}

static void weights_in_attributes_are_parameters(void **state)
{
    struct op_case t;
    (void)state;
    op_case_run(&t, T "CustomFCPluginDynamic", 1, "out_dims=12", "float[5,2,8,1,1]", "y");
    assert_int_equal(t.cost.attr_params, 96);
    op_case_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tensorrt_plugins_infer_shapes),
                                       cmocka_unit_test(tensorrt_plugins_count_operations),
                                       cmocka_unit_test(weights_in_attributes_are_parameters)};
    return cmocka_run_group_tests_name("ops/tensorrt", tests, NULL, NULL);
}
