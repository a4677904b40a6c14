#include "support/op_rows.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define MS "com.microsoft:"

static const struct op_shape_row shapes[] = {
    {MS "LongformerAttention", 1, "num_heads=2 window=4", "float[1,S,16]", "y", "float[1,S,16]"},
    {MS "QOrderedLongformerAttention", 1, "num_heads=2 window=4", "int8[1,S,16]", "y", "int8[1,S,16]"},
    /* self-attention without and with a cache, attention to an encoder with a cache */
    {MS "DecoderAttention", 1, "num_heads=2",
     "float[2,3,8] float[2,3,8] float[8,8]! float[8,16]! float[24]! - - - bool[]{false} bool[]{false}", "yyy",
     "float[2,3,8] float[3,2,2,4] float[3,2,2,4]"},
    {MS "DecoderAttention", 1, "num_heads=2",
     "float[2,3,8] float[2,3,8] float[8,8]! float[8,16]! float[24]! - float[3,2,7,4] float[3,2,7,4] "
     "bool[]{false} "
     "bool[]{true}",
     "yyy", "float[2,3,8] float[3,2,9,4] float[3,2,9,4]"},
    {MS "DecoderAttention", 1, "num_heads=2",
     "float[2,3,8] float[9,3,8] float[8,8]! float[8,16]! float[24]! - float[3,2,7,4] float[3,2,7,4] "
     "bool[]{true} "
     "bool[]{true}",
     "yyy", "float[2,3,8] float[3,2,7,4] float[3,2,7,4]"},
    {MS "DecoderAttention", 1, "num_heads=3", "float[2,3,8] float[2,3,8]", "y",
     "error: width 8 is not divisible by 3 heads"},
    {MS "DecoderAttention", 1, "", "float[2,3,8] float[2,3,8]", "y", "error: invalid num_heads 0"},
    {MS "GatedRelativePositionBias", 1, "num_heads=2", "float[B,S,8]", "y", "float[B,2,S,S]"},
    {MS "GatedRelativePositionBias", 1, "num_heads=2",
     "float[T,8] float[8] float[1,2,3,3] float[4,6] float[6] float[1,2,1,1] int32[2,3]", "y",
     "float[2,2,3,3]"},
};

static const struct op_cost_row costs[] = {
    /* Width 16, 2 heads of 8, 64 tokens, W = 4; unknown flags. Projections 2*64*16*48 = 98,304, biases 6,144.
       64*9 pairs, both heads 1,152: MAC 16, scale, mask and softmax (5) each. */
    {MS "LongformerAttention", 1, "num_heads=2 window=4",
     "float[1,64,16] float[16,48]! float[48]! float[1,64] float[16,48]! float[48]! int32[1,64]", "y",
     98304 + 16 * 1152, 2 * (98304 + 16 * 1152) + 6144 + 7 * 1152, 4096 + 256 + 256, 2 * (3072 + 192), 4096},
    /* Width 4, one head, 8 tokens of which two are global: projections 2*8*4*12, pairs 8*3 + 2*2*8 = 56 */
    {MS "LongformerAttention", 1, "num_heads=1 window=1",
     "float[1,8,4] float[4,12]! float[12]! float[1,8] float[4,12]! float[12]! int32[1,8]~{1,0,0,1,0,0,0,0}",
     "y", 768 + 56 * 8, 2 * (768 + 448) + 192 + 56 * 7, 128 + 32 + 32, 2 * (192 + 48), 128},
    /* none is global: one projection, 8*3 pairs */
    {MS "LongformerAttention", 1, "num_heads=1 window=1",
     "float[1,8,4] float[4,12]! float[12]! float[1,8] float[4,12]! float[12]! int32[1,8]~{0,0,0,0,0,0,0,0}",
     "y", 384 + 24 * 8, 2 * (384 + 192) + 96 + 24 * 7, 128 + 32 + 32, 2 * (192 + 48), 128},
    /* with two 8-bit operands: a scale for each of 192 projected elements */
    {MS "QOrderedLongformerAttention", 1, "num_heads=1 window=1",
     "int8[1,8,4] float[]! int8[4,12]! float[]! float[12]! float[]! float[]! float16[1,8] int8[4,12]! "
     "float[]! "
     "float[12]! float[]! int32[1,8]~{1,0,0,1,0,0,0,0} float[]!",
     "y", 1216, 2432 + 192 + 392 + 192, 32 + 16 + 32, 2 * (48 + 48) + 7 * 4, 32},
    /* 2 queries of 3 sequences: Q 6*8*8, K and V 6*8*16, biases 6*24; 3*2*2*2 = 24 pairs of 2*4 */
    {MS "DecoderAttention", 1, "num_heads=2",
     "float[2,3,8] @0 float[8,8]! float[8,16]! float[24]! - - - bool[]{false} bool[]{false} bool[]{false}",
     "y--", 384 + 768 + 192, 2 * 1344 + 144 + 24 * 6, 192, 256 + 512 + 96, 192},
    /* keys and values of the encoder are cached, length 7: only Q is projected; 84 pairs */
    {MS "DecoderAttention", 1, "num_heads=2",
     "float[2,3,8] float[9,3,8] float[8,8]! float[8,16]! float[24]! - float[3,2,7,4] float[3,2,7,4] "
     "bool[]{true} "
     "bool[]{true} bool[]{true} bool[]{false}",
     "y--", 384 + 672, 2 * 1056 + 48 + 84 * 6, 192 + 2 * 672, 256 + 96, 192},
    /* 12 rows of 4 times [4,6]; biases 48 and 72, sums 72; 6 per row for its factor; a product for each of 36
       scores */
    {MS "GatedRelativePositionBias", 1, "num_heads=2",
     "float[2,3,8] float[8]! float[1,2,3,3] float[4,6]! float[6]! float[1,2,1,1]!", "y", 288,
     576 + 48 + 144 + 72 + 36, 192 + 72, 32 + 96 + 24 + 8, 144},
};

static void sparse_attention_infers_shapes(void **state)
{
    (void)state;
    op_check_shapes(shapes, OC_COUNT(shapes));
}

static void sparse_attention_counts_operations(void **state)
{
    (void)state;
    op_check_costs(costs, OC_COUNT(costs));
}

static void sparse_attention_lists_its_assumptions(void **state)
{
    (void)state;
    struct op_case t;
    op_case_run(&t, costs[0].op, 1, costs[0].attrs, costs[0].in, "y");
    assert_string_equal(t.ctx.assumption, "global attention is not counted");
    op_case_free(&t);
    op_case_run(&t, MS "DecoderAttention", 1, "num_heads=2",
                "float[2,3,8] float[2,3,8] float[8,8] float[8,16] float[24] - - - bool[] bool[]", "y");
    assert_non_null(t.ctx.assumption);
    op_case_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sparse_attention_infers_shapes),
                                       cmocka_unit_test(sparse_attention_counts_operations),
                                       cmocka_unit_test(sparse_attention_lists_its_assumptions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
