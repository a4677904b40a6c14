/* Defaults of attributes: an operator without the attribute has the shapes and counts of one with its default, and another
 * value changes them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support/op_case.h"

#define MS "com.microsoft:"

static const struct {
    const char *op;
    int opset;
    const char *attrs, *usual, *other, *in, *out;
} row[] = {
    {"Attention", 23, "q_num_heads=2 kv_num_heads=2", "is_causal=0", "is_causal=1",
     "float[2,5,8] float[2,7,8] float[2,7,8]", "y"},
    {"Attention", 24, "q_num_heads=2 kv_num_heads=2", "left_window_size=-1", "left_window_size=0",
     "float[2,5,8] float[2,7,8] float[2,7,8]", "y"},
    {"Attention", 24, "q_num_heads=2 kv_num_heads=2", "right_window_size=-1", "right_window_size=0",
     "float[2,5,8] float[2,7,8] float[2,7,8]", "y"},
    {"Attention", 27, "q_num_heads=2 kv_num_heads=2", "left_window_size=-1", "left_window_size=0",
     "float[2,5,8] float[2,7,8] float[2,7,8]", "y"},
    {"Attention", 27, "q_num_heads=2 kv_num_heads=2", "right_window_size=-1", "right_window_size=0",
     "float[2,5,8] float[2,7,8] float[2,7,8]", "y"},
    {"RotaryEmbedding", 23, "num_heads=2", "rotary_embedding_dim=0", "rotary_embedding_dim=4",
     "float[2,4,16] float[50,2] float[50,2] int64[2,4]", "y"},
    {MS "MurmurHash3", 1, "", "positive=1", "positive=0", "int32[5]", "y"},
    {MS "FusedMatMul", 1, "", "transA=0", "transA=1", "float[2,3] float[3,2]", "y"},
    {MS "FusedMatMul", 1, "", "transB=0", "transB=1", "float[2,3] float[3,2]", "y"},
    {MS "FusedMatMul", 1, "", "transBatchA=0", "transBatchA=1", "float[3,2,5] float[3,5,2]", "y"},
    {MS "FusedMatMul", 1, "", "transBatchB=0", "transBatchB=1", "float[3,2,5] float[3,5,2]", "y"},
    {MS "GemmFloat8", 1, "", "dtype=0", "dtype=10", "float8e4m3fn[2,3] float8e4m3fn[3,4]", "y"},
    {MS "MatMulNBits", 1, "K=16 N=1 bits=4 block_size=16", "accuracy_level=0", "accuracy_level=4",
     "float[2,16] uint8[1,1,8] float[1]", "y"},
    {MS "MatMulNBitsQkv", 1, "K=16 Nq=1 Nkv=1 block_size=16", "accuracy_level=0", "accuracy_level=4",
     "float[1,5,16] - float[16] uint8[1,1,8] float[1] - uint8[1,1,8] float[1] - uint8[1,1,8] float[1]",
     "yyy"},
    {MS "MatMulBnb4", 1, "K=4 N=6 quant_type=1 block_size=16", "transB=1", "transB=0",
     "float[2,4] uint8[12] float[2]", "y"},
    {MS "MoE", 1, "", "k=1", "k=2",
     "float[5,8] float[5,4] float[4,16,8] float[4,16] float[4,8,16] float[4,8]", "y"},
    {MS "MoE", 1, "k=2", "normalize_routing_weights=0", "normalize_routing_weights=1",
     "float[5,8] float[5,4] float[4,16,8] float[4,16] float[4,8,16] float[4,8]", "y"},
    {MS "QMoE", 1, "", "expert_weight_bits=4", "expert_weight_bits=8",
     "float[5,8] float[5,4] uint8[4,16,4] float[4,16] float[4,16] uint8[4,8,8] float[4,8] float[4,8]", "y"},
    {MS "QMoE", 1, "", "k=1", "k=2",
     "float[5,8] float[5,4] uint8[4,16,4] float[4,16] float[4,16] uint8[4,8,8] float[4,8] float[4,8]", "y"},
    {"Conv", 11, "", "group=1", "group=2", "float[1,4,8] float[4,4,3]", "y"},
    {"ConvTranspose", 11, "", "group=1", "group=2", "float[1,4,8] float[4,3,3]", "y"},
    {"DeformConv", 19, "", "offset_group=1", "offset_group=3",
     "float[1,3,8,8] float[4,3,3,3] float[1,18,6,6]", "y"},
    {"Dropout", 1, "", "is_test=0", "is_test=1", "float[5]", "yy"},
    {"Dropout", 6, "", "is_test=0", "is_test=1", "float[5]", "yy"},
    {"GatherND", 12, "", "batch_dims=0", "batch_dims=1", "float[2,3,4] int64[2,1]", "y"},
    {"Multinomial", 7, "", "sample_size=1", "sample_size=2", "float[2,10]", "y"},
    {MS "GroupQueryAttention", 1, "num_heads=2 kv_num_heads=2", "local_window_size=-1", "local_window_size=2",
     "float16[2,3,16] float16[2,3,16] float16[2,3,16] - - int32[2] int32[]{3}", "y"},
    {MS "GroupQueryAttention", 1, "num_heads=2 kv_num_heads=2", "causal=1", "causal=0",
     "float16[2,3,16] float16[2,3,16] float16[2,3,16] - - int32[2] int32[]{3}", "y"},
    {MS "GroupQueryAttention", 1, "num_heads=2 kv_num_heads=2", "smooth_softmax=0", "smooth_softmax=1",
     "float16[2,3,16] float16[2,3,16] float16[2,3,16] - - int32[2] int32[]{3}", "y"},
    {MS "GroupQueryAttention", 1, "num_heads=2 kv_num_heads=2", "do_rotary=0", "do_rotary=1",
     "float16[2,3,16] float16[2,3,16] float16[2,3,16] - - int32[2] int32[]{3}", "y"},
    {MS "PagedAttention", 1, "num_heads=2 kv_num_heads=2", "local_window_size=-1", "local_window_size=2",
     "float16[3,16] float16[3,16] float16[3,16] float16[10,4,2,8] float16[10,4,2,8] int32[2]{0,3} "
     "int32[1]{0} int32[1,3]",
     "y"},
    {MS "PagedAttention", 1, "num_heads=2 kv_num_heads=2", "is_causal=1", "is_causal=0",
     "float16[3,16] float16[3,16] float16[3,16] float16[10,4,2,8] float16[10,4,2,8] int32[2]{0,3} "
     "int32[1]{0} int32[1,3]",
     "y"},
    {MS "PagedAttention", 1, "num_heads=2 kv_num_heads=2", "do_rotary=0", "do_rotary=1",
     "float16[3,16] float16[3,16] float16[3,16] float16[10,4,2,8] float16[10,4,2,8] int32[2]{0,3} "
     "int32[1]{0} int32[1,3]",
     "y"},
    {MS "PagedAttention", 1, "num_heads=2 kv_num_heads=2", "local_window_size=-1", "local_window_size=2",
     "float16[3,16] float16[3,16] float16[3,16] float16[10,4,2,8] float16[10,4,2,8] int32[2] int32[1] "
     "int32[1,3]",
     "y"},
    {MS "QOrderedAttention", 1, "num_heads=1", "unidirectional=0", "unidirectional=1",
     "int8[1,4,8] float[]! float[]! float[]! float[]! int8[8,8]! int8[8,8]! int8[8,8]! float[]! float[]! "
     "float[]! float[8]! float[8]! float[8]! float[]! float[]! float[]!",
     "y"},
    {"Resize", 18, "mode=linear", "antialias=0", "antialias=1", "float[1,1,8,8] - float[4]!{1,1,0.25,0.25}",
     "y"},
    {"Gemm", 13, "", "transA=0", "transA=1", "float[2,3] float[3,2]", "y"},
    {"Gemm", 13, "", "transB=0", "transB=1", "float[2,3] float[3,2]", "y"},
    {MS "QGemm", 1, "", "transA=0", "transA=1",
     "uint8[2,3] float[] uint8[] uint8[3,2] float[] uint8[] int32[2] float[] uint8[]", "y"},
    {MS "QGemm", 1, "", "transB=0", "transB=1",
     "uint8[2,3] float[] uint8[] uint8[3,2] float[] uint8[] int32[2] float[] uint8[]", "y"},
    {"ai.onnx.ml:CastMap", 1, "map_form=SPARSE", "max_map=1", "max_map=2", "map(int64,float[])", "y"},
    {"ai.onnx.ml:LinearRegressor", 1, "", "targets=1", "targets=2", "float[N,4]", "y"},
    {"ai.onnx.ml:TreeEnsembleRegressor", 1, "", "n_targets=1", "n_targets=2", "float[N,4]", "y"},
    {"ai.onnx.ml:SVMRegressor", 1, "kernel_type=POLY", "n_supports=0", "n_supports=6", "float[5,4]", "y"},
    {"ai.onnx.ml:TreeEnsemble", 5,
     "nodes_featureids=[0] nodes_truenodeids=[0] nodes_trueleafs=[1] nodes_falsenodeids=[1] "
     "nodes_falseleafs=[1] nodes_splits=float[1]{1} tree_roots=[0] leaf_weights=float[2]{1,2} "
     "leaf_targetids=[0,0] n_targets=1",
     "post_transform=0", "post_transform=2", "float[9,4]", "y"},
    {MS "Attention", 1, "num_heads=2", "unidirectional=0", "unidirectional=1",
     "float[1,4,8] float[8,24] float[24]", "y"},
    {MS "Attention", 1, "num_heads=2", "do_rotary=0", "do_rotary=1", "float[1,4,8] float[8,24] float[24]",
     "y"},
    {MS "Attention", 1, "num_heads=2", "past_present_share_buffer=0", "past_present_share_buffer=1",
     "float[1,4,8] float[8,24] float[24] - float[2,1,2,9,4] - int32[1]{7}", "yy"},
    {MS "MultiHeadAttention", 1, "num_heads=2", "unidirectional=0", "unidirectional=1",
     "float[2,5,8] float[2,7,8] float[2,7,8]", "y"},
    {MS "DecoderMaskedMultiHeadAttention", 1, "num_heads=2", "past_present_share_buffer=0",
     "past_present_share_buffer=1",
     "float[2,1,8] float[2,1,8] float[2,1,8] - - float[2,2,9,4] float[2,2,9,4]", "yyy"},
    {"BatchNormalization", 14, "", "training_mode=0", "training_mode=1",
     "float[2,3,4] float[3] float[3] float[3] float[3]", "y"},
    {"LayerNormalization", 17, "", "axis=-1", "axis=1", "float[2,3,4] float[4]", "yyy"},
    {"LpNormalization", 1, "", "p=2", "p=1", "float[2,3]", "y"},
    {MS "GroupNorm", 1, "groups=2", "activation=0", "activation=1", "float[2,4,4,8] float[8] float[8]", "y"},
    {"com.microsoft.nchwc:ReorderInput", 1, "", "channels_last=0", "channels_last=1", "float[1,16,8,8]", "y"},
    {"com.microsoft.nchwc:ReorderOutput", 1, "channels=8", "channels_last=0", "channels_last=1",
     "float[1,16,8,4]", "y"},
    {"RoiAlign", 10, "", "output_height=1", "output_height=2", "float[1,8,20,20] float[5,4] int64[5]", "y"},
    {"RoiAlign", 10, "", "output_width=1", "output_width=2", "float[1,8,20,20] float[5,4] int64[5]", "y"},
    {"RoiAlign", 10, "", "sampling_ratio=0", "sampling_ratio=2", "float[1,8,20,20] float[5,4] int64[5]", "y"},
    {"RoiAlign", 10, "", "sampling_ratio=0", "sampling_ratio=1", "float[1,8,20,20] float[5,4] int64[5]", "y"},
    {"QuantizeLinear", 21, "block_size=2", "axis=1", "axis=0", "float[4,6] float[4,3]", "y"},
    {"QuantizeLinear", 21, "", "saturate=1", "saturate=0", "float[4,3] float[] float8e4m3fn[]", "y"},
    {MS "GatherBlockQuantized", 1, "block_size=16", "bits=4", "bits=8",
     "uint8[100,32] int64[2,3] float16[100,4]", "y"},
    {MS "GatherBlockQuantized", 1, "block_size=16", "gather_axis=0", "gather_axis=1",
     "uint8[100,32] int64[2,3] float16[100,4]", "y"},
    {"ReduceSum", 13, "", "noop_with_empty_axes=0", "noop_with_empty_axes=1", "float[2,3]", "y"},
    {"ReduceSum", 13, "", "keepdims=1", "keepdims=0", "float[2,3]", "y"},
    {"ReduceSum", 13, "", "keepdims=1", "keepdims=0", "float[2,3] int64[1]{0}", "y"},
    {"ReduceSum", 13, "keepdims=0", "noop_with_empty_axes=0", "noop_with_empty_axes=1", "float", "y"},
    {"ReduceSum", 13, "", "keepdims=1", "keepdims=0", "float", "y"},
    {"Flatten", 11, "", "axis=1", "axis=2", "float[2,3,4]", "y"},
    {"Shape", 15, "", "start=0", "start=1", "float[2,3,4]", "y"},
    {"Shape", 15, "", "end=3", "end=2", "float[2,3,4]", "y"},
    {"GRU", 14, "hidden_size=4", "layout=0", "layout=1", "float[3,2,5] float[1,12,5] float[1,12,4]", "yy"},
    {"GRU", 14, "hidden_size=4", "linear_before_reset=0", "linear_before_reset=1",
     "float[3,2,5] float[1,12,5] float[1,12,4] float[1,24]", "yy"},
    {"LSTM", 14, "hidden_size=4", "input_forget=0", "input_forget=1",
     "float[3,2,5] float[1,16,5] float[1,16,4]", "yyy"},
    {"GRU", 14, "", "hidden_size=4", "hidden_size=5", "float[3,2,5] float[1,12,5] float[1,12,4]", "yy"},
    {"ArgMax", 13, "", "axis=0", "axis=1", "float[2,3]", "y"},
    {"ArgMax", 13, "", "keepdims=1", "keepdims=0", "float[2,3]", "y"},
    {"TopK", 11, "", "axis=-1", "axis=0", "float[4,5] int64[1]{3}", "yy"},
    {"SplitToSequence", 11, "", "axis=0", "axis=1", "float[3,4]", "y"},
    {"SplitToSequence", 11, "", "keepdims=1", "keepdims=0", "float[3,4]", "y"},
    {"ConcatFromSequence", 11, "axis=0", "new_axis=0", "new_axis=1", "seq(float[2,3])*4", "y"},
    {"ConcatFromSequence", 11, "new_axis=1", "axis=0", "axis=1", "seq(float[2,3])*4", "y"},
    {"DFT", 17, "", "axis=1", "axis=2", "float[1,8,6,1]", "y"},
    {"DFT", 17, "", "onesided=0", "onesided=1", "float[1,8,1]", "y"},
    {"DFT", 20, "onesided=1", "inverse=0", "inverse=1", "float[1,8,2]", "y"},
    {"STFT", 17, "", "onesided=1", "onesided=0", "float[1,160,1] int64[]!{4} - int64[]!{4}", "y"},
    {MS "Rfft", 1, "", "signal_ndim=1", "signal_ndim=2", "float[4,6]", "y"},
    {MS "Rfft", 1, "", "onesided=1", "onesided=0", "float[4,6]", "y"},
    {MS "Irfft", 1, "", "onesided=1", "onesided=0", "float[4,6,2]", "y"},
    {MS "LinearAttention", 1, "q_num_heads=2 kv_num_heads=2", "state_window=0", "state_window=3",
     "float[2,5,8] float[2,5,8] float[2,5,8]", "yy"},
    {MS "VarlenCausalConvWithState", 1, "", "dilation=1", "dilation=2", "float[T,8] float[8,1,4] int32[3]",
     "yy"},
    {MS "VarlenCausalConvWithState", 1, "", "state_update_capacity=0", "state_update_capacity=3",
     "float[T,8] float[8,1,4] int32[3] float[2,8,3]", "yyy"},
    {MS "UnfoldTensor", 1, "size=3", "step=1", "step=2", "float[4,9,5]", "y"},
    {MS "UnfoldTensor", 1, "size=3", "dim=-1", "dim=1", "float[4,9,5]", "y"},
    {MS "AllGather", 1, "", "group_size=1", "group_size=2", "float[4,5]", "y"},
    {MS "AllGather", 1, "group_size=2", "axis=0", "axis=1", "float[4,5]", "y"},
    {"MaxPool", 11, "kernel_shape=[2] strides=[2]", "ceil_mode=0", "ceil_mode=1", "float[1,1,5]", "y"},
    {MS "QLinearAveragePool", 1, "kernel_shape=[2,2]", "channels_last=0", "channels_last=1",
     "uint8[1,4,5,6] float[] uint8[] float[] uint8[]", "y"},
    {MS "QLinearReduceMean", 1, "axes=[1]", "keepdims=1", "keepdims=0",
     "uint8[2,3] float[] uint8[] float[] uint8[]", "y"},
    {MS "MixedPrecisionScale", 1, "to=10", "fuse_outputs=0", "fuse_outputs=1", "float[] float[2] float[3]",
     "yy"},
    {"Concat", 1, "", "axis=1", "axis=0", "float[2,3] float[2,3]", "y"},
    {"StringNormalizer", 10, "stopwords=[\"a\"]", "is_case_sensitive=0", "is_case_sensitive=1",
     "string[2]{\"A\",\"b\"}", "y"},
    {"Split", 13, "", "axis=0", "axis=1", "float[4,6]", "yy"},
    {"Attention", 23, "q_num_heads=2 kv_num_heads=2", "softcap=0.0", "softcap=1.0",
     "float[2,5,8] float[2,7,8] float[2,7,8]", "y"},
    {MS "GroupQueryAttention", 1, "num_heads=2 kv_num_heads=2", "softcap=0.0", "softcap=1.0",
     "float16[2,3,16] float16[2,3,16] float16[2,3,16] - - int32[2] int32[]{3}", "y"},
    {MS "PagedAttention", 1, "num_heads=2 kv_num_heads=2", "softcap=0.0", "softcap=1.0",
     "float16[3,16] float16[3,16] float16[3,16] float16[10,4,2,8] float16[10,4,2,8] int32[2]{0,3} "
     "int32[1]{0} int32[1,3]",
     "y"},
    {MS "FusedMatMul", 1, "", "alpha=1.0", "alpha=2.0", "float[2,3] float[3,2]", "y"},
    {MS "GemmFloat8", 1, "", "beta=0.0", "beta=1.0", "float8e4m3fn[2,3] float8e4m3fn[3,4] float[2,4]", "y"},
    {"Gemm", 13, "", "alpha=1.0", "alpha=2.0", "float[2,3] float[3,2] float[2]", "y"},
    {"Gemm", 13, "", "beta=1.0", "beta=2.0", "float[2,3] float[3,2] float[2]", "y"},
    {"Gemm", 13, "", "beta=1.0", "beta=0.0", "float[2,3] float[3,2] float[2]", "y"},
    {"LpPool", 18, "kernel_shape=[2,2]", "p=2", "p=1", "float[1,1,4,4]", "y"},
    {"Conv", 11, "", "strides=[1]", "strides=[2]", "float[1,4,8] float[4,4,3]", "y"},
    {"Conv", 11, "", "dilations=[1]", "dilations=[2]", "float[1,4,8] float[4,4,3]", "y"},
    {"Conv", 11, "", "pads=[0,0]", "pads=[1,0]", "float[1,4,8] float[4,4,3]", "y"},
    {"ConvTranspose", 11, "", "output_padding=[0]", "output_padding=[1]", "float[1,4,8] float[4,3,3]", "y"},
    {"ConvTranspose", 11, "", "strides=[1]", "strides=[2]", "float[1,4,8] float[4,3,3]", "y"},
    {"MaxPool", 11, "kernel_shape=[2]", "strides=[1]", "strides=[2]", "float[1,1,5]", "y"},
    {"Swish", 24, "", "alpha=1.0", "alpha=2.0", "float[5]", "y"},
};

/* Shapes and counts. */
static void describe(char *text, size_t cap, size_t i, const char *attribute)
{
    char attrs[1024];
    snprintf(attrs, sizeof(attrs), "%s%s%s", row[i].attrs, *row[i].attrs && *attribute ? " " : "", attribute);
    snprintf(text, cap, "%s, ", op_shapes(row[i].op, row[i].opset, attrs, row[i].in, row[i].out));
    size_t n = strlen(text);
    snprintf(text + n, cap - n, "%s", op_hist(row[i].op, row[i].opset, attrs, row[i].in, row[i].out));
}

static void absent_attributes_have_their_default(void **state)
{
    (void)state;
    char absent[1024], usual[1024], other[1024];
    for (size_t i = 0; i < OC_COUNT(row); i++) {
        describe(absent, sizeof(absent), i, "");
        describe(usual, sizeof(usual), i, row[i].usual);
        describe(other, sizeof(other), i, row[i].other);
        if (strcmp(absent, usual) != 0 || strcmp(absent, other) == 0)
            fail_msg("%s-%d [%s]: %s\n%s: %s\n%s: %s", row[i].op, row[i].opset, row[i].attrs, absent,
                     row[i].usual, usual, row[i].other, other);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(absent_attributes_have_their_default)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
