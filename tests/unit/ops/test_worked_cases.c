/* The worked cases of cost-semantics section 10, with every digit: MACs, FLOPs with weights `unit` and `hw`,
 * bytes read from activations and from constants, bytes written. The numbers are those of the document, which
 * computed them with scalar implementations that count every operation. */
#include "support/op_case.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

struct worked {
    int number; /* in the document */
    const char *op;
    int opset;
    const char *attrs, *in, *out, *types;
    uint64_t macs, flops, hw, rd_act, rd_const, wr;
    bool taps_valid, attention_full;
};

static const struct worked cases[] = {
    {1, "Conv", 22, "strides=[2,2] pads=[3,3,3,3]", "float[1,3,224,224] float[64,3,7,7]!", "y",
     "float[1,64,112,112]", 118013952, 236027904, 236027904, 602112, 37632, 3211264, false, false},
    {2, "Conv", 22, "strides=[2,2] pads=[3,3,3,3]", "float[1,3,224,224] float[64,3,7,7]! float[64]!", "y",
     "float[1,64,112,112]", 118013952, 236830720, 236830720, 602112, 37888, 3211264, false, false},
    {3, "Conv", 22, "pads=[1,1,1,1]", "float[1,512,7,7] float[512,512,3,3]!", "y", "float[1,512,7,7]",
     115605504, 231211008, 231211008, 100352, 9437184, 100352, false, false},
    {4, "Conv", 22, "pads=[1,1,1,1]", "float[1,512,7,7] float[512,512,3,3]!", "y", "float[1,512,7,7]",
     94633984, 189267968, 189267968, 100352, 9437184, 100352, true, false},
    {5, "Conv", 22, "group=32 pads=[1,1,1,1]", "float16[1,32,112,112] float16[32,1,3,3]! float16[32]!", "y",
     "float16[1,32,112,112]", 3612672, 7626752, 7626752, 802816, 640, 802816, false, false},
    {6, "Conv", 22, "group=4 strides=[2,2] pads=[1,1,1,1]", "float[2,64,28,28] float[128,16,3,3]!", "y",
     "float[2,128,14,14]", 7225344, 14450688, 14450688, 401408, 73728, 200704, false, false},
    {7, "Conv", 22, "strides=[5]", "float[1,1,16000] float[512,1,10]!", "y", "float[1,512,3199]", 16378880,
     32757760, 32757760, 64000, 20480, 6551552, false, false},
    {8, "Conv", 22, "dilations=[2,2,2] pads=[2,2,2,2,2,2]",
     "float[1,16,8,32,32] float[32,16,3,3,3]! float[32]!", "y", "float[1,32,8,32,32]", 113246208, 226754560,
     226754560, 524288, 55424, 1048576, false, false},
    {9, "com.microsoft:FusedConv", 1, "pads=[1,1,1,1] activation=Relu",
     "float[1,64,56,56] float[64,64,3,3]! float[64]! float[1,64,56,56]", "y", "float[1,64,56,56]", 115605504,
     231813120, 231813120, 1605632, 147712, 802816, false, false},
    {10, "ConvTranspose", 22, "strides=[2,2] pads=[1,1,1,1]",
     "float[1,64,16,16] float[64,32,4,4]! float[32]!", "y", "float[1,32,32,32]", 8388608, 16809984, 16809984,
     65536, 131200, 131072, false, false},
    {11, "DeformConv", 22, "pads=[1,1,1,1] offset_group=1",
     "float[1,64,28,28] float[64,64,3,3]! float[1,18,28,28] - float[1,9,28,28]", "y", "float[1,64,28,28]",
     28901376, 61500096, 61500096, 285376, 147456, 200704, false, false},
    {12, "Gemm", 13, "transB=1", "float[1,512] float[1000,512]! float[1000]!", "y", "float[1,1000]", 512000,
     1025000, 1025000, 2048, 2052000, 4000, false, false},
    {13, "Gemm", 13, "alpha=0.5 beta=2.0", "float[32,128] float[128,64]! float[64]!", "y", "float[32,64]",
     262144, 528448, 528448, 16384, 33024, 8192, false, false},
    {14, "MatMul", 13, "", "float16[8,12,128,64] float16[8,12,64,128]", "y", "float16[8,12,128,128]",
     100663296, 201326592, 201326592, 3145728, 0, 3145728, false, false},
    {15, "MatMul", 13, "", "float[1,128,768] float[768,3072]!", "y", "float[1,128,3072]", 301989888,
     603979776, 603979776, 393216, 9437184, 1572864, false, false},
    {16, "MatMul", 13, "", "float[4,1,6,8] float[5,8,7]", "y", "float[4,5,6,7]", 6720, 13440, 13440, 1888, 0,
     3360, false, false},
    {17, "MatMul", 13, "", "float[768] float[768]", "y", "float[]", 768, 1536, 1536, 6144, 0, 4, false,
     false},
    {18, "Einsum", 12, "equation=bhid,bhjd->bhij", "float[2,4,16,32] float[2,4,24,32]", "y",
     "float[2,4,16,24]", 98304, 196608, 196608, 40960, 0, 12288, false, false},
    {19, "Einsum", 12, "equation=ab,bc,cd->ad", "float[8,16] float[16,32] float[32,4]", "y", "float[8,4]",
     5120, 10240, 10240, 3072, 0, 128, false, false},
    {20, "Einsum", 12, "equation=bij,bj->bij", "float[2,3,5] float[2,5]", "y", "float[2,3,5]", 0, 30, 30, 160,
     0, 120, false, false},
    {21, "BatchNormalization", 15, "", "float[1,64,56,56] float[64]! float[64]! float[64]! float[64]!", "y",
     "float[1,64,56,56]", 0, 401728, 402624, 802816, 1024, 802816, false, false},
    {22, "LayerNormalization", 17, "axis=-1", "float[1,128,768] float[768]! float[768]!", "y",
     "float[1,128,768]", 0, 688768, 692352, 393216, 6144, 393216, false, false},
    {23, "RMSNormalization", 23, "", "float16[1,1,4096] float16[4096]!", "y", "float16[1,1,4096]", 0, 16388,
     16409, 8192, 8192, 8192, false, false},
    {24, "GroupNormalization", 21, "num_groups=8", "float[2,32,16,16] float[32]! float[32]!", "y",
     "float[2,32,16,16]", 0, 114768, 115216, 65536, 256, 65536, false, false},
    {25, "com.microsoft:SkipLayerNormalization", 1, "",
     "float[1,128,768] float[1,128,768] float[768]! float[768]! float[768]!", "y", "float[1,128,768]", 0,
     885376, 888960, 786432, 9216, 393216, false, false},
    {26, "Softmax", 13, "axis=-1", "float[1,12,128,128]", "y", "float[1,12,128,128]", 0, 983040, 5308416,
     786432, 0, 786432, false, false},
    {27, "LogSoftmax", 13, "axis=-1", "float[8,1000]", "y", "float[8,1000]", 0, 40008, 160160, 32000, 0,
     32000, false, false},
    {28, "Relu", 14, "", "float[1,64,112,112]", "y", "float[1,64,112,112]", 0, 802816, 802816, 3211264, 0,
     3211264, false, false},
    {29, "Add", 14, "", "float[1,128,768] float[768]!", "y", "float[1,128,768]", 0, 98304, 98304, 393216,
     3072, 393216, false, false},
    {30, "Gelu", 20, "", "float16[1,128,3072]", "y", "float16[1,128,3072]", 0, 1966080, 11010048, 786432, 0,
     786432, false, false},
    {31, "Gelu", 20, "approximate=tanh", "float16[1,128,3072]", "y", "float16[1,128,3072]", 0, 3538944,
     13369344, 786432, 0, 786432, false, false},
    {32, "HardSwish", 14, "", "float[1,16,56,56]", "y", "float[1,16,56,56]", 0, 250880, 250880, 200704, 0,
     200704, false, false},
    {33, "Mul", 14, "", "float[4,1,8] float[3,1]", "y", "float[4,3,8]", 0, 96, 96, 140, 0, 384, false, false},
    {34, "MaxPool", 22, "kernel_shape=[3,3] strides=[2,2] pads=[1,1,1,1]", "float[1,64,112,112]", "y",
     "float[1,64,56,56]", 0, 1806336, 1806336, 3211264, 0, 802816, false, false},
    {35, "AveragePool", 22, "kernel_shape=[3,3] strides=[1,1] pads=[1,1,1,1]", "float[1,192,35,35]", "y",
     "float[1,192,35,35]", 0, 2352000, 3998400, 940800, 0, 940800, false, false},
    {36, "GlobalAveragePool", 22, "", "float[1,512,7,7]", "y", "float[1,512,1,1]", 0, 25600, 29184, 100352, 0,
     2048, false, false},
    {39, "ReduceMean", 18, "keepdims=0", "float[8,128,768] int64[1]{1}", "y", "float[8,768]", 0, 792576,
     835584, 3145728, 0, 24576, false, false},
    {40, "ReduceL2", 18, "", "float[8,128,768] int64[1]{-1}", "y", "float[8,128,1]", 0, 1573888, 1581056,
     3145728, 0, 4096, false, false},
    {41, "TopK", 11, "", "float[1,50257] int64[1]{50}", "yy", "float[1,50] int64[1,50]", 0, 301542, 301542,
     201028, 0, 600, false, false},
    {44, "Attention", 23, "", "float16[1,12,128,64] float16[1,12,128,64] float16[1,12,128,64]", "y",
     "float16[1,12,128,64]", 25165824, 51511296, 55836672, 589824, 0, 196608, false, false},
    {45, "Attention", 23, "is_causal=1", "float16[1,32,1024,128] float16[1,8,1024,128] float16[1,8,1024,128]",
     "y", "float16[1,32,1024,128]", 4299161600, 8699084800, 9068544000, 12582912, 0, 8388608, false, false},
    {46, "Attention", 23, "is_causal=1", "float16[1,32,1024,128] float16[1,8,1024,128] float16[1,8,1024,128]",
     "y", "float16[1,32,1024,128]", 8589934592, 17381195776, 18119393280, 12582912, 0, 8388608, false, true},
    {47, "com.microsoft:GroupQueryAttention", 1, "num_heads=32 kv_num_heads=8 do_rotary=1",
     "float16[1,1,4096] float16[1,1,1024] float16[1,1,1024] float16[1,8,4096,128] float16[1,8,4096,128] "
     "int32[1] "
     "int32[]~{2048} float16[4096,64] float16[4096,64]",
     "yyy", "float16[1,1,4096] float16[1,8,4096,128] float16[1,8,4096,128]", 16777216, 33963008, 35404800,
     8397056, 0, 12288, false, false},
    {48, "com.microsoft:Attention", 1, "num_heads=12",
     "float[1,128,768] float[768,2304]! float[2304]! int32[1,128]", "y", "float[1,128,768]", 251658240,
     504987648, 509313024, 393728, 7087104, 393216, false, false},
    {49, "RotaryEmbedding", 23, "", "float16[1,32,1024,128] float16[1,1024,64] float16[1,1024,64]", "y",
     "float16[1,32,1024,128]", 0, 12582912, 12582912, 8650752, 0, 8388608, false, false},
    {50, "LinearAttention", 27, "q_num_heads=32 kv_num_heads=32",
     "float16[1,1,4096] float16[1,1,4096] float16[1,1,4096] float[1,32,128,128] float16[1,1,32] "
     "float16[1,1,32]",
     "yy", "float16[1,1,4096] float[1,32,128,128]", 1572864, 3682336, 3682816, 2121856, 0, 2105344, false,
     false},
    {51, "CausalConvWithState", 27, "activation=silu",
     "float16[1,8192,1] float16[8192,1,4]! float16[8192]! float16[1,8192,3]", "yy",
     "float16[1,8192,1] float16[1,8192,3]", 32768, 90112, 294912, 65536, 81920, 65536, false, false},
    {52, "com.microsoft:MatMulNBits", 1, "K=4096 N=11008 bits=4 block_size=32",
     "float16[1,1,4096] uint8[11008,128,16]! float16[11008,128]!", "y", "float16[1,1,11008]", 45088768,
     90177536, 180355072, 8192, 25362432, 22016, false, false},
    {53, "com.microsoft:MatMulNBits", 1, "K=4096 N=11008 bits=4 block_size=32",
     "float16[1,128,4096] uint8[11008,128,16]! float16[11008,128]!", "y", "float16[1,128,11008]", 5771362304,
     11542724608, 11632902144, 1048576, 25362432, 2818048, false, false},
    {54, "QLinearConv", 10, "pads=[1,1,1,1]",
     "uint8[1,64,56,56] float[]{0.5} uint8[]{128} int8[64,64,3,3]! float[]{0.5} int8[]{0} float[]{0.5} "
     "uint8[]{128} int32[64]!",
     "y", "uint8[1,64,56,56]", 115605504, 232615936, 232615936, 200704, 37135, 200704, false, false},
    {55, "MatMulInteger", 10, "", "uint8[64,256] int8[256,128]! uint8[]{128}", "y", "int32[64,128]", 2097152,
     4210688, 4210688, 16384, 32769, 32768, false, false},
    {72, "RoiAlign", 16, "sampling_ratio=2 output_height=7 output_width=7",
     "float[1,256,50,50] float[100,4] int64[100]", "y", "float[100,256,7,7]", 0, 41669600, 41669600, 2562400,
     0, 5017600, false, false},
    {74, "MaxPool", 22, "kernel_shape=[2,2] strides=[2,2] ceil_mode=1", "float[1,16,7,7]", "y",
     "float[1,16,4,4]", 0, 1024, 1024, 3136, 0, 1024, false, false},
    {37, "Resize", 19, "mode=linear", "float[1,64,32,32] - float[4]!{1,1,2,2}", "y", "float[1,64,64,64]", 0,
     1835008, 1835008, 262144, 0, 1048576, false, false},
    {38, "Resize", 19, "mode=nearest", "float[1,64,32,32] - - int64[4]!{1,64,64,64}", "y",
     "float[1,64,64,64]", 0, 0, 0, 262144, 0, 1048576, false, false},
    {42, "LSTM", 14, "hidden_size=256", "float[100,1,80] float[1,1024,80]! float[1,1024,256]! float[1,2048]!",
     "yyy", "float[100,1,1,256] float[1,1,256] float[1,1,256]", 34406400, 69248000, 72448000, 32000, 1384448,
     104448, false, false},
    {43, "GRU", 14, "direction=bidirectional linear_before_reset=1 hidden_size=64",
     "float[50,4,128] float[2,192,128]! float[2,192,64]! float[2,384]!", "yy",
     "float[50,2,4,64] float[2,4,64]", 14745600, 29875200, 31795200, 102400, 297984, 104448, false, false},
    {56, "QuantizeLinear", 19, "", "float[1,128,768] float[]!{0.5} uint8[]!{128}", "y", "uint8[1,128,768]", 0,
     491520, 1179648, 393216, 5, 98304, false, false},
    {57, "DequantizeLinear", 21, "axis=0 block_size=32", "int4[4096,4096] float16[128,4096]", "y",
     "float16[4096,4096]", 0, 16777216, 16777216, 9437184, 0, 33554432, false, false},
    {58, "DynamicQuantizeLinear", 11, "", "float[1,128,768]", "yyy", "uint8[1,128,768] float[] uint8[]", 0,
     688128, 1376256, 393216, 0, 98309, false, false},
    {59, "com.microsoft:QLinearAdd", 1, "",
     "uint8[1,64,56,56] float[]!{0.5} uint8[]!{1} uint8[1,64,56,56] float[]!{0.5} uint8[]!{1} float[]!{0.5} "
     "uint8[]!{1}",
     "y", "uint8[1,64,56,56]", 0, 2007040, 2007040, 401408, 15, 200704, false, false},
    {60, "Gather", 13, "axis=0", "float[30522,768]! int64[1,128]", "y", "float[1,128,768]", 0, 0, 0, 1024,
     393216, 393216, false, false},
    {61, "Slice", 13, "", "float[1,128,768] int64[1]!{0} int64[1]!{64} int64[1]!{1}", "y", "float[1,64,768]",
     0, 0, 0, 196608, 0, 196608, false, false},
    {62, "Concat", 13, "axis=1", "float[1,64,28,28] float[1,64,28,28] float[1,64,28,28] float[1,64,28,28]",
     "y", "float[1,256,28,28]", 0, 0, 0, 802816, 0, 802816, false, false},
    {63, "Transpose", 13, "perm=[0,2,1,3]", "float16[1,12,128,64]", "y", "float16[1,128,12,64]", 0, 0, 0,
     196608, 0, 196608, false, false},
    {64, "Reshape", 13, "", "float[1,128,768] int64[4]!{1,128,12,64}", "y", "float[1,128,12,64]", 0, 0, 0, 0,
     0, 0, false, false},
    {65, "TensorScatter", 24, "axis=2", "float16[1,8,2048,128] float16[1,8,1,128] int64[1]", "y",
     "float16[1,8,2048,128]", 0, 0, 0, 2056, 0, 2048, false, false},
    {66, "ScatterND", 16, "reduction=add", "float[1000,64] int64[10,1] float[10,64]", "y", "float[1000,64]",
     0, 640, 640, 258640, 0, 256000, false, false},
    {69, "com.microsoft:MoE", 1, "k=2 activation_type=swiglu swiglu_fusion=1",
     "float16[1,4096] float16[1,8] float16[8,28672,4096]! - float16[8,4096,14336]!", "y", "float16[1,4096]",
     352329728, 704745520, 705462496, 8208, 704643072, 8192, false, false},
    {70, "DFT", 20, "onesided=1", "float[1,1024,1]", "y", "float[1,513,2]", 0, 25600, 25600, 4096, 0, 4104,
     false, false},
    {71, "GridSample", 20, "", "float[1,64,32,32] float[1,16,16,2]", "y", "float[1,64,16,16]", 0, 118272,
     118272, 264192, 0, 65536, false, false},
};

static void worked_case_is_exact(void **state)
{
    const struct worked *w = *state;
    struct op_case t;
    op_case_init(&t, w->op, w->opset, w->attrs, w->in, w->out);
    t.ctx.opt.taps_valid = w->taps_valid;
    t.ctx.opt.attention_full = w->attention_full;
    if (op_case_shape(&t))
        fail_msg("%s", t.err.msg);
    assert_string_equal(op_case_types(&t), w->types);
    assert_int_equal(op_case_cost(&t), 0);
    assert_false(t.ctx.unknown || t.ctx.overflow);
    assert_int_equal(t.macs, w->macs);
    assert_int_equal(t.total, w->flops);
    assert_int_equal(t.hw, w->hw);
    assert_int_equal(t.rd_act, w->rd_act);
    assert_int_equal(t.rd_const, w->rd_const);
    assert_int_equal(t.wr, w->wr);
    op_case_free(&t);
}

int main(void)
{
    struct CMUnitTest tests[OC_COUNT(cases)];
    char names[OC_COUNT(cases)][64];
    for (size_t i = 0; i < OC_COUNT(cases); i++) {
        snprintf(names[i], sizeof(names[i]), "case %d: %s", cases[i].number, cases[i].op);
        tests[i] = (struct CMUnitTest){.name = names[i],
                                       .test_func = worked_case_is_exact,
                                       .initial_state = (void *)(uintptr_t)&cases[i]};
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
