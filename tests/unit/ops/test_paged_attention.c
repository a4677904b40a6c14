#include "support/op_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define MS "com.microsoft:"

/* 4 query heads on 2 key heads of 8; blocks of 4 keys */
#define HEADS    "num_heads=4 kv_num_heads=2"
#define OPERANDS "float16[3,32] float16[3,16] float16[3,16] float16[10,4,2,8] float16[10,4,2,8] "
/* one token with 4 cached ones, and two new ones */
#define LENGTHS "int32[3]~{0,1,3} int32[2]~{4,0} int32[2,2]"

static const struct op_shape_row shapes[] = {
    {MS "PagedAttention", 1, HEADS, OPERANDS LENGTHS, "yyy",
     "float16[3,32] float16[10,4,2,8] float16[10,4,2,8]"},
    /* Q, K and V in one tensor: width (4 + 2*2)*8 */
    {MS "PagedAttention", 1, HEADS, "float16[T,64] - - float16[10,4,2,8] float16[10,4,2,8]", "y",
     "float16[T,32]"},
    {MS "PagedAttention", 1, HEADS, "float16[T,60] - - float16[10,4,2,8] float16[10,4,2,8]", "y",
     "error: query width 60 is not divisible by 8 heads"},
    {MS "PagedAttention", 1, "num_heads=4 kv_num_heads=1 kv_cache_layout=LATENT v_head_size=6",
     "float16[T,32] float16[T,8] - float16[10,4,1,8]", "yy", "float16[T,24] float16[10,4,1,8]"},
    {MS "PagedAttention", 1, "num_heads=4 kv_num_heads=1 kv_cache_layout=LATENT",
     "float16[T,32] float16[T,8] - float16[10,4,1,8]", "yy", "float16[T,32] float16[10,4,1,8]"},
    {MS "PagedAttention", 1, "num_heads=4", "float16[T,32]", "y",
     "error: invalid num_heads 4, kv_num_heads 0"},
    {MS "QOrderedAttention", 1, "num_heads=2",
     "int8[B,4,8] float[] float[] float[] float[] int8[8,8] int8[8,8] int8[8,6]", "y", "int8[B,4,6]"},
};

static const struct op_cost_row costs[] = {
    /* pairs 5 + (1 + 2), 4 heads: 32, MAC 16 each, scale and softmax (5); 4 cached keys of 2*8, 3 new ones */
    {MS "PagedAttention", 1, HEADS, OPERANDS LENGTHS, "yyy", 512, 1024 + 32 * 6, 192 + 96 + 96 + 2 * 128, 0,
     192 + 2 * 96},
    /* a window of 2: pairs 2 + (1 + 2), 20 for all heads; one key of the cache is visible */
    {MS "PagedAttention", 1, HEADS " local_window_size=2", OPERANDS LENGTHS, "yyy", 320, 640 + 20 * 6,
     192 + 96 + 96 + 2 * 32, 0, 192 + 2 * 96},
    /* not causal: 5 + 4 pairs */
    {MS "PagedAttention", 1, HEADS " is_causal=0", OPERANDS LENGTHS, "y", 576, 1152 + 36 * 6, 640, 0, 192},
    /* rotation of 3*(4 + 2)*8 elements, 3 each; table rows for 3 tokens, width 4 */
    {MS "PagedAttention", 1, HEADS " do_rotary=1", OPERANDS LENGTHS " float16[64,4]! float16[64,4]!", "y",
     512, 1024 + 192 + 432, 640, 2 * 24, 192},
    /* norms of 18 rows of 8: 4*144 + 4*18; a sink: 2 per row of 3*4 */
    {MS "PagedAttention", 1, HEADS, OPERANDS LENGTHS " - - - float16[4]! float16[8]! float16[8]!", "y", 512,
     1024 + 192 + 576 + 72 + 24, 640, 8 + 32, 192},
    /* 4 rows of 8 to 3 * 8, scaled and biased; 2*16 pairs of 8, scale and softmax */
    {MS "QOrderedAttention", 1, "num_heads=2",
     "int8[1,4,8] float[]! float[]! float[]! float[]! int8[8,8]! int8[8,8]! int8[8,8]! float[]! float[]! "
     "float[]! "
     "float[8]! float[8]! float[8]! float[]! float[]! float[]!",
     "y", 768 + 256, 2048 + 192 + 32 * 6, 32, 192 + 96 + 40, 32},
    /* with its own projections, one token with 3 cached: 1*8*24 and bias; 2*4 pairs of 8 */
    {MS "DecoderMaskedSelfAttention", 1, "num_heads=2",
     "float[1,1,8] float[8,24]! float[24]! - float[2,1,2,3,4]", "y-", 192 + 64, 512 + 24 + 8 * 6, 32 + 192,
     768 + 96, 32},
};

static void paged_attention_infers_shapes(void **state)
{
    (void)state;
    op_check_shapes(shapes, OC_COUNT(shapes));
}

static void paged_attention_counts_operations(void **state)
{
    (void)state;
    op_check_costs(costs, OC_COUNT(costs));
}

/* Unknown lengths: each of 4 tokens may see the 8 keys of a sequence's blocks, in 4 heads, MAC 16. */
static void paged_attention_unknown_lengths_are_bounded_by_the_blocks(void **state)
{
    (void)state;
    struct op_case t;
    op_case_run(
        &t, MS "PagedAttention", 1, HEADS,
        "float16[4,32] float16[4,16] float16[4,16] float16[10,4,2,8] float16[10,4,2,8] int32[3] int32[2] "
        "int32[2,2]",
        "y");
    assert_int_equal(t.macs, 4 * 8 * 4 * 16);
    assert_true(t.ctx.upper);
    assert_int_equal(t.rd_act, 256 + 128 + 128 + 2 * (2 * 8 * 16 * 2)); /* two sequences of 8 keys */
    op_case_free(&t);
}

static void paged_attention_rejects_negative_lengths(void **state)
{
    (void)state;
    struct op_case t;
    op_case_run(&t, MS "PagedAttention", 1, HEADS, OPERANDS "int32[3]~{0,3,1} int32[2]~{4,0} int32[2,2]",
                "y");
    assert_int_equal(t.rc, -1);
    assert_string_equal(t.err.msg, "sequence 1 has negative length");
    op_case_free(&t);
}

/* An 8-bit cache is dequantized: 4 cached keys of 2*8, for K and V. */
static void paged_attention_dequantizes_an_8_bit_cache(void **state)
{
    (void)state;
    struct op_case t;
    op_case_run(&t, MS "PagedAttention", 1, HEADS,
                "float16[3,32] float16[3,16] float16[3,16] int8[10,4,2,8] int8[10,4,2,8] " LENGTHS, "yyy");
    assert_int_equal(op_case_prim(&t, OC_DEQ), 2 * 64);
    assert_int_equal(t.rd_act, 192 + 96 + 96 + 2 * 64);
    assert_int_equal(t.wr, 192 + 2 * 48);
    op_case_free(&t);
}

static void quant_ordered_attention_has_separate_classes(void **state)
{
    (void)state;
    struct op_case t;
    op_case_run(&t, costs[5].op, 1, costs[5].attrs, costs[5].in, "y");
    assert_int_equal(t.cost.mac_class, OC_CLASS_I8);
    assert_int_equal(t.ops, 2048);
    assert_int_equal(t.flops, 192 + 192);
    op_case_free(&t);
}

static void number_of_heads_is_required(void **state)
{
    (void)state;
    struct op_case t;
    op_case_run(&t, MS "QOrderedAttention", 1, "",
                "int8[2,4,8] float[] float[] float[] float[] int8[8,8] int8[8,8] int8[8,6]", "y");
    assert_int_not_equal(t.rc, 0);
    assert_non_null(strstr(t.err.msg, "invalid num_heads 0"));
    op_case_free(&t);
}

/* The state of a linear attention is float32, whatever the type of its operands. */
static void states_are_updated_in_float32(void **state)
{
    (void)state;
    struct op_case t;
    op_case_run(&t, MS "GatedDeltaNet", 1, "",
                "float16[7,2,8] float16[7,2,8] float16[7,4,6] int32[3] float[7,4] float[7,4]", "yy");
    assert_int_equal(t.rc, 0);
    assert_int_equal(t.cost.rest_class, OC_CLASS_F32);
    op_case_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paged_attention_infers_shapes),
        cmocka_unit_test(paged_attention_counts_operations),
        cmocka_unit_test(paged_attention_unknown_lengths_are_bounded_by_the_blocks),
        cmocka_unit_test(paged_attention_rejects_negative_lengths),
        cmocka_unit_test(paged_attention_dequantizes_an_8_bit_cache),
        cmocka_unit_test(quant_ordered_attention_has_separate_classes),
        cmocka_unit_test(number_of_heads_is_required),
        cmocka_unit_test(states_are_updated_in_float32),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
