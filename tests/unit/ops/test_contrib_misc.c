#include "support/op_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void contrib_misc_infers_shapes(void **state)
{
    static const struct op_shape_row rows[] = {
        {"com.microsoft:RemovePadding", 1, "", "float[2,5,8] int32[2]", "yyyy",
         "float[node.0,8] int32[2,5] int32[3] int32[1]"},
        {"com.microsoft:RestorePadding", 1, "", "float[7,8] int32[2,5]", "y", "float[2,5,8]"},
        {"com.microsoft:RelativePositionBias", 1, "max_distance=128", "float[32,8] int64[1]{5} int64[1]{6}",
         "y", "float[1,8,5,6]"},
        {"com.microsoft:RelativePositionBias", 1, "max_distance=128", "float[32,8] int64[1]{-5} int64[1]{6}",
         "y", "error: invalid length -5"},
        {"com.microsoft:MurmurHash3", 1, "", "int64[5]", "y", "uint32[5]"},
        {"com.microsoft:MurmurHash3", 1, "positive=0", "int64[5]", "y", "int32[5]"},
        {"com.microsoft:DynamicTimeWarping", 1, "", "float[1,5,6]", "y", "int32[2,node.1]"},
        {"com.microsoft:PagedAttention", 1, "num_heads=4 kv_num_heads=2",
         "float16[7,32] float16[7,16] float16[7,16] float16[9,16,2,8] float16[9,16,2,8] int32[3] int32[2] "
         "int32[2,4]",
         "yyy", "float16[7,32] float16[9,16,2,8] float16[9,16,2,8]"},
        {"com.microsoft:LongformerAttention", 1, "num_heads=2 window=2",
         "float[1,8,16] float[16,48] float[48] float[1,8] float[16,48] float[48] int32[1,8]", "y",
         "float[1,8,16]"},
        {"com.microsoft:DecoderMaskedSelfAttention", 1, "num_heads=4 past_present_share_buffer=1",
         "float[2,1,32] float[32,96] float[96] - float[2,2,4,99,8] - int32[1]{7}", "yy",
         "float[2,1,32] float[2,2,4,99,8]"},
        {"com.microsoft:MatMulNBitsQkv", 1, "K=64 Nq=64 Nkv=16 block_size=32",
         "float16[1,5,64] - float16[64] uint8[64,2,16] float16[128] - uint8[16,2,16] float16[32] - "
         "uint8[16,2,16] "
         "float16[32]",
         "yyy", "float16[1,5,64] float16[1,5,16] float16[1,5,16]"},
        {"ai.onnx.preview.training:Adam", 1, "", "float[] int64[] float[2] float[2] float[2] float[2]", "yyy",
         "float[2] float[2] float[2]"},
        {"ai.onnx.preview.training:Adagrad", 1, "",
         "float[] int64[] float[1] float[2] float[1] float[2] float[1] float[2]", "yyyy",
         "float[1] float[2] float[1] float[2]"},
        {"ai.onnx.preview.training:Momentum", 1, "", "float[] int64[] float[2] float[2]", "yy",
         "error: 4 inputs are not 3 for every parameter"},
    };
    (void)state;
    op_check_shapes(rows, OC_COUNT(rows));
}

static void contrib_misc_counts_operations(void **state)
{
    static const struct op_hist_row rows[] = {
        {"com.microsoft:RemovePadding", 1, "", "float[2,5,8] int32[2]", "yyyy", "nothing, upper"},
        {"com.microsoft:RelativePositionBias", 1, "", "float[32,8] int64[1]{5} int64[1]{6}", "y", "nothing"},
        {"com.microsoft:MurmurHash3", 1, "", "int64[5]", "y", "BIT 50, est"},
        {"com.microsoft:DynamicTimeWarping", 1, "", "float[1,5,6]", "y", "ADD 30, CMP 90, upper"},
        /* 3 new tokens with 4 cached and 1 with 9 cached: 5+6+7 + 10 pairs, 4 heads of 8 */
        {"com.microsoft:PagedAttention", 1, "num_heads=4 kv_num_heads=2",
         "float16[4,32] float16[4,16] float16[4,16] float16[9,16,2,8] float16[9,16,2,8] int32[3]{0,3,4} "
         "int32[2]{4,9} "
         "int32[2,4]",
         "yyy", "MAC 1792, ADD 224, MUL 112, CMP 112, DIV 112, EXP 112"},
        /* unknown lengths: 4 tokens with 4 blocks of 16 */
        {"com.microsoft:PagedAttention", 1, "num_heads=4 kv_num_heads=2",
         "float16[4,32] float16[4,16] float16[4,16] float16[9,16,2,8] float16[9,16,2,8] int32[3] int32[2] "
         "int32[2,4]",
         "yyy", "MAC 16384, ADD 2048, MUL 1024, CMP 1024, DIV 1024, EXP 1024, upper"},
        /* projections twice: 2*3*8*16*16; 8 tokens x 5 keys x 2 heads x 16 */
        {"com.microsoft:LongformerAttention", 1, "num_heads=2 window=2",
         "float[1,8,16] float[16,48] float[48] float[1,8] float[16,48] float[48] int32[1,8]", "y",
         "MAC 13568, ADD 1008, MUL 80, CMP 80, DIV 80, EXP 80, est"},
        /* RMS norm of 2 rows of 3; 2 * 3 * (4 + 5 + 5) products */
        {"com.microsoft:MatMulNBitsQkv", 1, "K=3 Nq=4 Nkv=5 block_size=32",
         "float[2,3] - float[3] uint8[4,1,16] float[4] float[4] uint8[5,1,16] float[5] - uint8[5,1,16] "
         "float[5]",
         "yyy", "MAC 84, ADD 16, MUL 18, DIV 4, SQRT 2, DEQ 42"},
        {"ai.onnx.preview.training:Adam", 1, "", "float[] int64[] float[10] float[10] float[10] float[10]",
         "yyy", "ADD 60, MUL 60, DIV 10, SQRT 10, est"},
        {"ai.onnx.preview.training:Adagrad", 1, "", "float[] int64[] float[10] float[10] float[10]", "yy",
         "ADD 40, MUL 30, DIV 10, SQRT 10, est"},
        {"ai.onnx.preview.training:Momentum", 1, "", "float[] int64[] float[10] float[10] float[10]", "yy",
         "ADD 20, MUL 30, est"},
    };
    (void)state;
    op_check_hists(rows, OC_COUNT(rows));
}

/* 4 + 9 cached tokens are read, 4 new ones are written in place. */
static void contrib_misc_counts_paged_attention_bytes(void **state)
{
    struct op_case t;
    (void)state;
    op_case_run(
        &t, "com.microsoft:PagedAttention", 1, "num_heads=4 kv_num_heads=2",
        "float16[4,32] float16[4,16] float16[4,16] float16[9,16,2,8] float16[9,16,2,8] int32[3]{0,3,4} "
        "int32[2]{4,9} int32[2,4]",
        "yyy");
    assert_int_equal(t.rd[3], 13 * 2 * 8 * 2);
    assert_int_equal(t.wr_slot[1], 4 * 2 * 8 * 2);
    op_case_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contrib_misc_infers_shapes),
        cmocka_unit_test(contrib_misc_counts_operations),
        cmocka_unit_test(contrib_misc_counts_paged_attention_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
