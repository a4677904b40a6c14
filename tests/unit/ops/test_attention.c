#include "ops/shared_rules.h"
#include "support/op_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* Property 5 of cost-semantics section 12. */
static void attention_counts_visible_pairs(void **state)
{
    struct oc_op_ctx c = {0};
    (void)state;
    assert_int_equal(oc_visible_pairs(&c, 1024, 1024, 0, -1, -1, true), 524800); /* L(L+1)/2 */
    assert_int_equal(oc_visible_pairs(&c, 1024, 1024, 0, 255, -1, true), 229504);
    assert_int_equal(oc_visible_pairs(&c, 4, 8, 4, -1, -1, true), 26); /* 5+6+7+8 */
    assert_int_equal(oc_visible_pairs(&c, 4, 6, 0, 2, 1, false), 13);  /* 2+3+4+4 */
    assert_int_equal(oc_visible_pairs(&c, 1, 2048, 2047, 1023, -1, true), 1024);
    assert_int_equal(oc_visible_pairs(&c, 128, 128, 0, -1, -1, false), 128 * 128);
    assert_int_equal(oc_visible_pairs(&c, 0, 128, 0, -1, -1, true), 0);
    assert_int_equal(oc_visible_pairs(&c, 5, 0, 0, 3, -1, true), 0);
    assert_false(c.overflow);
}

static int64_t clamp(int64_t v, int64_t lo, int64_t hi)
{
    return v < lo ? lo : v > hi ? hi : v;
}

/* The definition, counted pair by pair, over many sizes. */
static void attention_pairs_equal_a_count_by_enumeration(void **state)
{
    struct oc_op_ctx c = {0};
    (void)state;
    for (int64_t q = 0; q < 6; q++)
        for (int64_t keys = 0; keys < 8; keys++)
            for (int64_t off = -3; off < 7; off++)
                for (int64_t left = -1; left < 4; left++)
                    for (int64_t right = -1; right < 4; right++)
                        for (int causal = 0; causal < 2; causal++) {
                            uint64_t n = 0;
                            for (int64_t i = 0; i < q; i++)
                                for (int64_t k = 0; k < keys; k++) {
                                    int64_t p = i + off;
                                    bool low = left < 0 || k >= clamp(p - left, 0, keys);
                                    bool high = causal ? k <= p : right < 0 || k <= p + right;
                                    n += low && high;
                                }
                            assert_int_equal(oc_visible_pairs(&c, (uint64_t)q, (uint64_t)keys, off, left,
                                                              right, causal != 0),
                                             n);
                        }
}

/* Time does not grow with the sizes, and an overflow is reported. */
static void attention_pairs_of_huge_sizes_are_exact_or_overflow(void **state)
{
    struct oc_op_ctx c = {0};
    (void)state;
    assert_int_equal(oc_visible_pairs(&c, 1000000000, 1000000000, 0, -1, -1, true), 500000000500000000);
    assert_false(c.overflow);
    oc_visible_pairs(&c, INT64_MAX, INT64_MAX, 0, -1, -1, true);
    assert_true(c.overflow);
}

static void attention_infers_shapes(void **state)
{
    static const struct op_shape_row rows[] = {
        {"Attention", 23, "", "float[2,8,5,64] float[2,2,7,64] float[2,2,7,32]", "y", "float[2,8,5,32]"},
        {"Attention", 23, "q_num_heads=8 kv_num_heads=2", "float[2,5,512] float[2,7,128] float[2,7,64]", "y",
         "float[2,5,256]"},
        {"Attention", 23, "q_num_heads=8 kv_num_heads=2",
         "float16[B,S,512] float16[B,S,128] float16[B,S,64] - float16[B,2,P,64] float16[B,2,P,32]", "yyy",
         "float16[B,S,256] float16[B,2,S + P,64] float16[B,2,S + P,32]"},
        {"Attention", 23, "", "float[2,8,5,64] float[2,2,7,64] float[2,2,7,32]", "yyyy",
         "float[2,8,5,32] float[2,2,7,64] float[2,2,7,32] float[2,8,5,7]"},
        {"Attention", 23, "", "float[2,5,512] float[2,7,128] float[2,7,64]", "y",
         "error: invalid q_num_heads 0, kv_num_heads 0"},
        {"Attention", 23, "q_num_heads=7 kv_num_heads=2", "float[2,5,512] float[2,7,128] float[2,7,64]", "y",
         "error: Q width 512 is not divisible by 7 heads"},
        {"Attention", 23, "", "float[2,5] float[2,7] float[2,7]", "y",
         "error: invalid operand ranks 2, 2, 2"},
        {"Attention", 23, "", "float float[2,2,7,64] float[2,2,7,32]", "y", "float[...]"},
        {"RotaryEmbedding", 23, "", "float[2,8,5,64] float[99,32] float[99,32] int64[2,5]", "y",
         "float[2,8,5,64]"},
        {"com.microsoft:Attention", 1, "num_heads=4",
         "float[2,5,32] float[32,96] float[96] - float[2,2,4,7,8]", "yy", "float[2,5,32] float[2,2,4,12,8]"},
        {"com.microsoft:Attention", 1, "num_heads=4 qkv_hidden_sizes=[16,16,64]",
         "float[2,5,32] float[32,96]", "y", "float[2,5,64]"},
        {"com.microsoft:Attention", 1, "num_heads=4 past_present_share_buffer=1",
         "float[2,5,32] float[32,96] - - float[2,2,4,99,8] - int32[1]{7}", "yy",
         "float[2,5,32] float[2,2,4,99,8]"},
        {"com.microsoft:Attention", 1, "num_heads=4", "float[2,5,32] float[32,95]", "y",
         "error: weight width 95 does not match Q, K and V"},
        {"com.microsoft:Attention", 1, "num_heads=5", "float[2,5,32] float[32,96]", "y",
         "error: width 32 is not divisible by 5 heads"},
        {"com.microsoft:QAttention", 1, "num_heads=4", "uint8[2,5,32] int8[32,96] float[96] float[] float[]",
         "y", "float[2,5,32]"},
        {"com.microsoft:PackedAttention", 1, "num_heads=4",
         "float16[20,32] float16[32,96] float16[96] int32[2,16] int32[3]", "y", "float16[20,32]"},
        {"com.microsoft:MultiHeadAttention", 1, "num_heads=4", "float[2,5,32] float[2,7,32] float[2,7,64]",
         "y", "float[2,5,64]"},
        {"com.microsoft:MultiHeadAttention", 1, "num_heads=4", "float[2,5,4,3,8]", "y", "float[2,5,32]"},
        {"com.microsoft:MultiHeadAttention", 1, "num_heads=4", "float[2,5,32] float[2,7,4,2,8]", "y",
         "float[2,5,32]"},
        {"com.microsoft:MultiHeadAttention", 1, "num_heads=4", "float[2,5,32] float[2,4,7,8] float[2,4,7,16]",
         "y", "float[2,5,64]"},
        {"com.microsoft:MultiHeadAttention", 1, "num_heads=4",
         "float[2,1,32] float[2,1,32] float[2,1,32] - - - float[2,4,9,8] float[2,4,9,8]", "yyy",
         "float[2,1,32] float[2,4,10,8] float[2,4,10,8]"},
        {"com.microsoft:DecoderMaskedMultiHeadAttention", 1, "num_heads=4 past_present_share_buffer=1",
         "float[2,1,32] float[2,1,32] float[2,1,32] - - float[2,4,99,8] float[2,4,99,8] int32[1]{9}", "yyy",
         "float[2,1,32] float[2,4,99,8] float[2,4,99,8]"},
        {"com.microsoft:PackedMultiHeadAttention", 1, "num_heads=4",
         "float16[20,4,3,8] - - - int32[2,16] int32[3]", "y", "float16[20,32]"},
        {"com.microsoft:GroupQueryAttention", 1, "num_heads=8 kv_num_heads=2",
         "float16[2,5,64] float16[2,5,16] float16[2,5,16] float16[2,2,0,8] float16[2,2,0,8] int32[2] "
         "int32[]{5}",
         "yyy", "float16[2,5,64] float16[2,2,5,8] float16[2,2,5,8]"},
        {"com.microsoft:GroupQueryAttention", 1, "num_heads=8 kv_num_heads=2",
         "float16[2,1,96] - - float16[2,2,99,8] float16[2,2,99,8] int32[2] int32[]{40}", "yyy",
         "float16[2,1,64] float16[2,2,99,8] float16[2,2,99,8]"},
        {"com.microsoft:GroupQueryAttention", 1, "num_heads=8 kv_num_heads=2",
         "float16[2,1,64] float16[2,1,16] float16[2,1,16] uint8[2,2,99,4] uint8[2,2,99,4] int32[2] "
         "int32[]{40}",
         "yyy", "float16[2,1,64] uint8[2,2,99,4] uint8[2,2,99,4]"},
        {"com.microsoft:GroupQueryAttention", 1, "num_heads=8 kv_num_heads=2",
         "float16[2,3,96] - - float16[2,2,7,8] float16[2,2,7,8] int32[2] int32[]", "yyy",
         "float16[2,3,64] float16[2,2,max(total_sequence_length, 7),8] "
         "float16[2,2,max(total_sequence_length, 7),8]"},
        {"com.microsoft:GroupQueryAttention", 1, "num_heads=8", "float16[2,1,96] - - - - int32[2] int32[]",
         "y", "error: invalid num_heads 8, kv_num_heads 0"},
        {"LinearAttention", 27, "q_num_heads=4 kv_num_heads=2",
         "float16[2,5,32] float16[2,5,16] float16[2,5,12]", "yy", "float16[2,5,24] float16[2,2,8,6]"},
        {"com.microsoft:LinearAttention", 1, "q_num_heads=2 kv_num_heads=4 state_window=3",
         "float16[2,5,16] float16[2,5,32] float16[2,5,24] float[3,2,4,8,6]", "yy",
         "float16[2,5,24] float[3,2,4,8,6]"},
        {"com.microsoft:GatedDeltaNet", 1, "",
         "float16[7,2,8] float16[7,2,8] float16[7,4,6] int32[3] float[7,4] float[7,4]", "yy",
         "float16[7,4,6] float[2,4,6,8]"},
        {"CausalConvWithState", 27, "", "float[2,8,5] float[8,1,4]", "yy", "float[2,8,5] float[2,8,3]"},
        {"com.microsoft:MoE", 1, "k=2", "float[5,16] float[5,4] float[4,32,16] - float[4,16,32]", "y",
         "float[5,16]"},
    };
    (void)state;
    op_check_shapes(rows, OC_COUNT(rows));
}

/* B 2, Hq 8, Sq 5, L 7, dk 64, dv 32: V = 2*8*35 = 560 pairs, 96 MAC each */
static void attention_counts_operations(void **state)
{
    static const struct op_hist_row rows[] = {
        {"Attention", 23, "", "float[2,8,5,64] float[2,2,7,64] float[2,2,7,32]", "y",
         "MAC 53760, ADD 1120, MUL 560, CMP 560, DIV 560, EXP 560"},
        {"Attention", 23, "", "float[2,8,5,64] float[2,2,7,64] float[2,2,7,32] float[5,7]", "y",
         "MAC 53760, ADD 1680, MUL 560, CMP 560, DIV 560, EXP 560"},
        {"Attention", 23, "softcap=30.0", "float[2,8,5,64] float[2,2,7,64] float[2,2,7,32]", "y",
         "MAC 53760, ADD 1120, MUL 1120, CMP 560, DIV 1120, EXP 560, TANH 560"},
        /* causal: 1+2+3+4+5 = 15 pairs per head */
        {"Attention", 23, "is_causal=1", "float[2,8,5,64] float[2,2,7,64] float[2,2,7,32]", "y",
         "MAC 23040, ADD 480, MUL 240, CMP 240, DIV 240, EXP 240"},
        /* with 2 keys in the cache the first query sees 3 keys */
        {"Attention", 23, "is_causal=1",
         "float[1,1,5,4] float[1,1,5,4] float[1,1,5,4] - float[1,1,2,4] float[1,1,2,4]", "y",
         "MAC 200, ADD 50, MUL 25, CMP 25, DIV 25, EXP 25"},
        /* a window of the query's own key and one on each side */
        {"Attention", 25, "left_window_size=1 right_window_size=1",
         "float[1,1,5,4] float[1,1,5,4] float[1,1,5,4]", "y",
         "MAC 104, ADD 26, MUL 13, CMP 13, DIV 13, EXP 13"},
        /* an external cache: lengths 7 and 5, queries 2: 6+7 and 4+5 keys */
        {"Attention", 24, "is_causal=1", "float[2,1,2,4] float[2,1,9,4] float[2,1,9,4] - - - int64[2]{7,5}",
         "y", "MAC 176, ADD 44, MUL 22, CMP 22, DIV 22, EXP 22"},
        {"Attention", 24, "is_causal=1", "float[2,1,2,4] float[2,1,9,4] float[2,1,9,4] - - - int64[2]", "y",
         "MAC 272, ADD 68, MUL 34, CMP 34, DIV 34, EXP 34, est"}, /* 8+9 keys twice */
        {"Attention", 23, "", "float[B,8,5,64] float[B,2,7,64] float[B,2,7,32]", "y", "nothing, unknown"},
        /* 2*8*5*64 elements, all rotated; or 16 of 64 */
        {"RotaryEmbedding", 23, "", "float[2,8,5,64] float[2,5,32] float[2,5,32]", "y",
         "ADD 5120, MUL 10240"},
        {"RotaryEmbedding", 23, "rotary_embedding_dim=16", "float[2,8,5,64] float[2,5,8] float[2,5,8]", "y",
         "ADD 1280, MUL 2560"},
        {"com.microsoft:RotaryEmbedding", 1, "rotary_embedding_dim=16 num_heads=8",
         "float[2,5,512] int64[2,5] float[99,8] float[99,8]", "y", "ADD 1280, MUL 2560"},
        {"com.microsoft:GemmaRotaryEmbedding", 1, "",
         "float[1,5,8] float16[1,2,5,8] float16[1,2,5,8] float16[1,1,5,8] float16[1,1,5,8]", "yy",
         "ADD 120, MUL 240, SIN 80"},
        /* 10 tokens, 32 x 96 weights: 30720; 4 heads of 8 on 5 x 5: V = 200, 16 MAC each */
        {"com.microsoft:Attention", 1, "num_heads=4", "float[2,5,32] float[32,96] float[96]", "y",
         "MAC 33920, ADD 1360, MUL 200, CMP 200, DIV 200, EXP 200"},
        {"com.microsoft:Attention", 1, "num_heads=4 unidirectional=1", "float[2,5,32] float[32,96]", "y",
         "MAC 32640, ADD 240, MUL 120, CMP 120, DIV 120, EXP 120"},
        {"com.microsoft:QAttention", 1, "num_heads=4", "uint8[2,5,32] int8[32,96]! float[96] float[] float[]",
         "y", "MAC 33920, ADD 1360, MUL 1160, CMP 200, DIV 200, EXP 200"},
        /* sequences of 3 and 2 tokens: 9 + 4 pairs, 4 heads */
        {"com.microsoft:PackedAttention", 1, "num_heads=4",
         "float[5,32] float[32,96] float[96] int32[2,3] int32[3]{0,3,5}", "y",
         "MAC 16192, ADD 584, MUL 52, CMP 52, DIV 52, EXP 52"},
        {"com.microsoft:PackedAttention", 1, "num_heads=4",
         "float[6,32] float[32,96] float[96] int32[2,3] int32[3]", "y",
         "MAC 19584, ADD 720, MUL 72, CMP 72, DIV 72, EXP 72, est"}, /* 2 x 3 x 3 pairs */
        /* bias on 2*4*(5*8 + 7*(8+8)) elements */
        {"com.microsoft:MultiHeadAttention", 1, "num_heads=4",
         "float[2,5,32] float[2,7,32] float[2,7,32] float[96]", "y",
         "MAC 4480, ADD 1776, MUL 280, CMP 280, DIV 280, EXP 280"},
        {"com.microsoft:MultiHeadAttention", 1, "num_heads=4",
         "float[2,5,32] float[2,7,32] float[2,7,32] - int32[2,7] float[1,4,5,7]", "y",
         "MAC 4480, ADD 840, MUL 280, CMP 280, DIV 280, EXP 280"},
        /* 40 keys, window of 16: 16 pairs a head, 8 heads, 2 sequences */
        {"com.microsoft:GroupQueryAttention", 1, "num_heads=8 kv_num_heads=2 local_window_size=16",
         "float[2,1,64] float[2,1,16] float[2,1,16] float[2,2,99,8] float[2,2,99,8] int32[2] int32[]{40}",
         "yyy", "MAC 4096, ADD 512, MUL 256, CMP 256, DIV 256, EXP 256"},
        {"com.microsoft:GroupQueryAttention", 1, "num_heads=8 kv_num_heads=2 smooth_softmax=1",
         "float[2,1,64] float[2,1,16] float[2,1,16] float[2,2,99,8] float[2,2,99,8] int32[2] int32[]{16}",
         "yyy", "MAC 4096, ADD 528, MUL 256, CMP 256, DIV 256, EXP 272"},
        {"com.microsoft:GroupQueryAttention", 1, "num_heads=1 kv_num_heads=1",
         "float[1,1,8] float[1,1,8] float[1,1,8] float[1,1,9,8] float[1,1,9,8] int32[1] int32[]", "yyy",
         "MAC 160, ADD 20, MUL 10, CMP 10, DIV 10, EXP 10, upper"}, /* at most a full cache and the query */
        /* an 8-bit cache: 2 * 15 keys * 8 are dequantized, head norms on 1 query and 1 key */
        {"com.microsoft:GroupQueryAttention", 1, "num_heads=1 kv_num_heads=1 k_quant_type=PER_TENSOR",
         "float[1,1,8] float[1,1,8] float[1,1,8] int8[1,1,99,8] int8[1,1,99,8] int32[1] int32[]{16} - - - - "
         "- "
         "float[1] float[1] float[8] float[8]",
         "yyy", "MAC 256, ADD 50, MUL 64, CMP 16, DIV 20, SQRT 2, EXP 16, DEQ 240"},
        {"com.microsoft:SparseAttention", 1, "num_heads=1 kv_num_heads=1 sparse_block_size=8",
         "float[1,2,8] float[1,2,8] float[1,2,8] float[1,1,9,8] float[1,1,9,8] int32[1,3] int32[1,3] "
         "int32[]{2} int32[1]",
         "yyy", "MAC 48, ADD 6, MUL 3, CMP 3, DIV 3, EXP 3, upper"},
        /* one token, 2 heads, 3 x 5 state: update and read-out 30 MAC each */
        {"LinearAttention", 27, "q_num_heads=2 kv_num_heads=2 update_rule=linear",
         "float[1,1,6] float[1,1,6] float[1,1,10]", "yy", "MAC 60, MUL 10"},
        /* one query for two states: both are updated and read out */
        {"com.microsoft:LinearAttention", 1, "q_num_heads=1 kv_num_heads=2 update_rule=linear",
         "float[1,1,3] float[1,1,6] float[1,1,10]", "yy", "MAC 60, MUL 10"},
        {"LinearAttention", 27, "q_num_heads=2 kv_num_heads=2 update_rule=delta",
         "float[1,1,6] float[1,1,6] float[1,1,10] - - float[1,1,2]", "yy", "MAC 90, ADD 10, MUL 20"},
        {"LinearAttention", 27, "q_num_heads=2 kv_num_heads=2 update_rule=gated",
         "float[1,1,6] float[1,1,6] float[1,1,10] - float[1,1,6]", "yy", "MAC 60, MUL 40, EXP 6"},
        /* one token, 2 states of 3 x 5: as above, and the gates: softplus of 2 decays, sigmoid of 2 rates,
         * unit length of 6 + 6 elements in 2 + 2 rows */
        {"com.microsoft:GatedDeltaNet", 1, "",
         "float[1,2,3] float[1,2,3] float[1,2,5] int32[2] float[1,2] float[1,2]", "yy",
         "MAC 90, ADD 10, MUL 50, EXP 2"},
        {"com.microsoft:GatedDeltaNet", 1, "qk_l2_norm=1 gate_activation=qwen beta_activation=sigmoid",
         "float[1,2,3] float[1,2,3] float[1,2,5] int32[2] float[1,2] float[1,2]", "yy",
         "MAC 90, ADD 26, MUL 64, DIV 12, SQRT 4, EXP 4, LOG 2, SIG 2"},
        {"CausalConvWithState", 27, "", "float[2,8,5] float[8,1,4] float[8]", "yy", "MAC 320, ADD 80"},
        /* 3 tokens on 2 of 4 experts, 16 x 32 twice; weighted sum 6*16; Relu 6*32; softmax of 12; sorting 12
         */
        {"com.microsoft:MoE", 1, "k=2 activation_type=relu",
         "float[3,16] float[3,4] float[4,32,16] - float[4,16,32]", "y",
         "MAC 6240, ADD 24, CMP 216, DIV 12, EXP 12"},
        {"com.microsoft:QMoE", 1, "k=1 activation_type=silu normalize_routing_weights=1",
         "float[1,16] float[1,4] uint8[4,32,8] float[4,32] - uint8[4,16,16] float[4,16]", "y",
         "MAC 1040, ADD 9, MUL 32, CMP 8, DIV 5, EXP 4, SIG 32, DEQ 1024"},
    };
    (void)state;
    op_check_hists(rows, OC_COUNT(rows));
}

/* cost-semantics 5.6 */
static void attention_counts_cache_bytes(void **state)
{
    struct op_case t;
    (void)state;
    /* not shared: past is read to be copied and to attend, all of present is written */
    op_case_run(&t, "Attention", 23, "",
                "float[1,1,1,4] float[1,1,1,4] float[1,1,1,4] - float[1,1,9,4] float[1,1,9,4]", "yyy");
    assert_int_equal(t.rd_act, 3 * 16 + 2 * 2 * 9 * 16);
    assert_int_equal(t.wr, 16 + 2 * 10 * 16);
    op_case_free(&t);
    /* shared: its content is read once, one token is written */
    op_case_run(
        &t, "com.microsoft:DecoderMaskedMultiHeadAttention", 1, "num_heads=1 past_present_share_buffer=1",
        "float[1,1,4] float[1,1,4] float[1,1,4] - - float[1,1,99,4] float[1,1,99,4] int32[1]{9}", "yyy");
    assert_int_equal(t.rd_act, 3 * 16 + 2 * 9 * 16);
    assert_int_equal(t.wr, 16 + 2 * 16);
    op_case_free(&t);
    /* a window hides the older part of the cache */
    op_case_run(&t, "com.microsoft:GroupQueryAttention", 1, "num_heads=1 kv_num_heads=1 local_window_size=5",
                "float[1,1,4] float[1,1,4] float[1,1,4] float[1,1,99,4] float[1,1,99,4] int32[1] int32[]{40}",
                "yyy");
    assert_int_equal(t.rd_act, 3 * 16 + 2 * 4 * 16);
    op_case_free(&t);
    /* the first step has no cache: 3 rows of 8 of the result, and as many new keys and values */
    op_case_run(&t, "com.microsoft:GroupQueryAttention", 1, "num_heads=1 kv_num_heads=1",
                "float[1,3,8] float[1,3,8] float[1,3,8] - - int32[1] int32[]{3}", "yyy");
    assert_int_equal(t.wr, 3 * 96);
    op_case_free(&t);
    /* the rows of the rotary tables that the positions select */
    op_case_run(&t, "com.microsoft:RotaryEmbedding", 1, "",
                "float[2,4,3,8] int64[2,3] float[1000,4] float[1000,4]", "y");
    assert_int_equal(t.rd_act, 2 * 4 * 3 * 8 * 4 + 6 * 8 + 2 * 6 * 4 * 4);
    op_case_free(&t);
    /* only the 2 active of 8 experts */
    op_case_run(&t, "com.microsoft:MoE", 1, "k=2", "float[1,16] float[1,8] float[8,32,16]! - float[8,16,32]!",
                "y");
    assert_int_equal(t.rd_const, 2 * 2 * 32 * 16 * 4);
    op_case_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attention_counts_visible_pairs),
        cmocka_unit_test(attention_pairs_equal_a_count_by_enumeration),
        cmocka_unit_test(attention_pairs_of_huge_sizes_are_exact_or_overflow),
        cmocka_unit_test(attention_infers_shapes),
        cmocka_unit_test(attention_counts_operations),
        cmocka_unit_test(attention_counts_cache_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
