/* Counting options (struct oc_counting) that change what a rule counts: the same node without and with each
 * option. Windows, pools and reductions are tested in test_conv.c, test_pool.c and test_reduce.c. */
#include "support/op_case.h"
#include "onnxcost.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define MS "com.microsoft:"

struct row {
    const char *op;
    int opset;
    const char *attrs, *in, *out;
    struct oc_counting opt;
    uint64_t macs, total, rd_act, rd_const, wr;
    bool estimated;
};

static void check_rows(const struct row *row, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct row *w = &row[i];
        struct op_case t;
        op_case_init(&t, w->op, w->opset, w->attrs, w->in, w->out);
        t.ctx.opt = w->opt;
        if (op_case_shape(&t) || op_case_cost(&t))
            fail_msg("row %zu: %s", i, t.err.msg);
        if (t.macs != w->macs || t.total != w->total || t.rd_act != w->rd_act || t.rd_const != w->rd_const ||
            t.wr != w->wr || (t.ctx.assumption != NULL) != w->estimated || t.ctx.overflow || t.ctx.unknown)
            fail_msg("row %zu: %s: macs %llu total %llu read %llu constants %llu written %llu, %s", i, w->op,
                     (unsigned long long)t.macs, (unsigned long long)t.total, (unsigned long long)t.rd_act,
                     (unsigned long long)t.rd_const, (unsigned long long)t.wr,
                     t.ctx.overflow     ? "overflow"
                     : t.ctx.unknown    ? "unknown"
                     : t.ctx.assumption ? t.ctx.assumption
                                        : "exact");
        op_case_free(&t);
    }
}

#define CHAIN3 "Einsum", 12, "equation=ab,bc,cd->ad", "float[8,16] float[16,32] float[32,4]", "y"
#define CHAIN4                                                                                               \
    "Einsum", 12, "equation=ab,bc,cd,de->ae", "float[2,100] float[100,3] float[3,50] float[50,4]", "y"
#define APART                                                                                                \
    "Einsum", 12, "equation=ab,cd,bc->", "float[131072,131072] float[131072,131072] float[131072,131072]", "y"
#define SEVEN "Einsum", 12, "equation=a,a,a,a,a,a,a->", "float[5] @0 @0 @0 @0 @0 @0", "y"

static void einsum_order_option_selects_left_to_right_or_optimal(void **state)
{
    static const struct row rows[] = {
        /* left: 8*16*32 + 8*32*4; optimal: 16*32*4 + 8*16*4 */
        {CHAIN3, {0}, 5120, 10240, 3072, 0, 128, false},
        {CHAIN3, {.einsum_optimal = true}, 2560, 5120, 3072, 0, 128, false},
        /* left: 2*100*3 + 2*3*50 + 2*50*4; optimal: 2*100*3 + 3*50*4 + 2*3*4, two pairs first */
        {CHAIN4, {0}, 1300, 2600, 800 + 1200 + 600 + 800, 0, 32, false},
        {CHAIN4, {.einsum_optimal = true}, 1224, 2448, 800 + 1200 + 600 + 800, 0, 32, false},
        /* left-to-right would take 2^68 for ab,cd; a good order takes 2^51 for ab,bc -> c and 2^34 for c,cd
         */
        {APART,
         {.einsum_optimal = true},
         2251816993554432,
         2 * UINT64_C(2251816993554432),
         3 * UINT64_C(68719476736),
         0,
         4,
         false},
        /* beyond six operands: left to right, marked as such: five products, then a contraction */
        {SEVEN, {0}, 5, 10 + 25, 20, 0, 4, false},
        {SEVEN, {.einsum_optimal = true}, 5, 10 + 25, 20, 0, 4, true},
        /* two operands: only one order */
        {"Einsum",
         12,
         "equation=ij,jk->ik",
         "float[2,3] float[3,4]",
         "y",
         {.einsum_optimal = true},
         24,
         48,
         24 + 48,
         0,
         32,
         false},
    };
    (void)state;
    check_rows(rows, OC_COUNT(rows));
}

/* Tree 0: leaves at depths 1, 1. Tree 1: at 1, 2, 2. 9 samples, one vote per tree of 2. */
#define TREES                                                                                                \
    "ai.onnx.ml:TreeEnsembleRegressor", 1,                                                                   \
        "nodes_treeids=[0,0,0,1,1,1,1,1] nodes_nodeids=[0,1,2,0,1,2,3,4] "                                   \
        "nodes_truenodeids=[1,0,0,1,0,3,0,0] "                                                               \
        "nodes_falsenodeids=[2,0,0,2,0,4,0,0] "                                                              \
        "nodes_modes=[\"BRANCH_LEQ\",\"LEAF\",\"LEAF\",\"BRANCH_LT\",\"LEAF\",\"BRANCH_EQ\",\"LEAF\","       \
        "\"LEAF\"] "                                                                                         \
        "target_ids=[0,0,0,0,0]",                                                                            \
        "float[9,4]", "y"

static void trees_max_option_counts_the_longest_path(void **state)
{
    static const struct row rows[] = {
        {TREES, {0}, 0, 24 + 18, 144, 0, 36, false},                 /* 9 * (1 + 5/3) */
        {TREES, {.trees_max = true}, 0, 27 + 18, 144, 0, 36, false}, /* 9 * (1 + 2) */
    };
    (void)state;
    check_rows(rows, OC_COUNT(rows));
}

/* 2 of 8 experts for each of T tokens; the weights of an expert are 2 * 32*16*4 = 4096 bytes. Counts: MAC
 * T*2*(2*16*32) + T*2*16, Relu T*2*32, softmax 5*T*8, sorting T*8. */
#define MOE(t, w)                                                                                            \
    MS "MoE", 1, "k=2 activation_type=relu",                                                                 \
        "float[" t ",16] float[" t ",8] float[8,32,16]" w " - float[8,16,32]" w, "y"

static void moe_expected_option_counts_distinct_experts(void **state)
{
    static const struct row rows[] = {
        {MOE("3", "!"), {0}, 6240, 12480 + 192 + 120 + 24, 192 + 96, 6 * 4096, 192, false},
        /* 8 * (1 - (3/4)^3) = 4.625 experts */
        {MOE("3", "!"), {.moe_expected = true}, 6240, 12480 + 192 + 120 + 24, 192 + 96, 18944, 192, true},
        /* one token: 2 in both cases */
        {MOE("1", "!"), {0}, 2080, 4160 + 64 + 40 + 8, 64 + 32, 2 * 4096, 64, false},
        {MOE("1", "!"), {.moe_expected = true}, 2080, 4160 + 64 + 40 + 8, 64 + 32, 2 * 4096, 64, true},
    };
    (void)state;
    check_rows(rows, OC_COUNT(rows));
}

#define Q " float[] int8[] float[] int8[]"
static void lookup_table_option_counts_no_arithmetic(void **state)
{
    static const struct row rows[] = {
        /* 4 elements: dequantize 2, sigmoid 1, requantize 5; with a table no arithmetic, the bytes are the
           same */
        {MS "QLinearSigmoid", 1, "", "int8[4]" Q, "y", {0}, 0, 32, 14, 0, 4, false},
        {MS "QLinearSigmoid", 1, "", "int8[4]" Q, "y", {.lut = true}, 0, 0, 14, 0, 4, false},
        /* leaky relu is CMP + MUL */
        {MS "QLinearLeakyRelu", 1, "", "int8[4]" Q, "y", {0}, 0, 36, 14, 0, 4, false},
        {MS "QLinearLeakyRelu", 1, "", "int8[4]" Q, "y", {.lut = true}, 0, 0, 14, 0, 4, false},
        /* no table has two inputs: 2*2 + 1 + 5 */
        {MS "QLinearAdd",
         1,
         "",
         "int8[4] float[] int8[] int8[4]" Q,
         "y",
         {.lut = true},
         0,
         40,
         23,
         0,
         4,
         false},
    };
    (void)state;
    check_rows(rows, OC_COUNT(rows));
}

#define SCATTER  "ScatterND", 16, "reduction=add", "float[1000,64] int64[10,1] float[10,64]", "y"
#define ELEMENTS "ScatterElements", 13, "", "float[3,4] int64[3,1] float[3,1]", "y"

static void inplace_option_counts_only_scattered_elements(void **state)
{
    static const struct row rows[] = {
        {SCATTER, {0}, 0, 640, 258640, 0, 256000, false},
        {SCATTER, {.inplace = true}, 0, 640, 80 + 2560, 0, 2560, false}, /* indices and updates */
        {ELEMENTS, {0}, 0, 0, 48 + 24 + 12, 0, 48, false},
        {ELEMENTS, {.inplace = true}, 0, 0, 24 + 12, 0, 12, false},
    };
    (void)state;
    check_rows(rows, OC_COUNT(rows));
}

/* t = 10, H = 4: RNN MAC 40*7, ADD 40, TANH 40; W 48 bytes, R 64 */
#define RNN  "RNN", 14, "hidden_size=4", "float[5,2,3] float[1,4,3]! float[1,4,4]!", "y"
#define LSTM "LSTM", 14, "hidden_size=4", "float[5,2,3] float[1,16,3]! float[1,16,4]! - int32[2]!{3,4}", "y"

static void rnn_reload_option_reads_weights_every_step(void **state)
{
    static const struct row rows[] = {
        {RNN, {0}, 280, 640, 120, 112, 160, false},
        {RNN, {.rnn_reload = true}, 280, 640, 120, 5 * 112, 160, false},
        /* the longest sequence takes 4 steps; the lengths themselves are read once */
        {LSTM, {0}, 784, 1932, 120, 448 + 8, 160, false},
        {LSTM, {.rnn_reload = true}, 784, 1932, 120, 4 * 448 + 8, 160, false},
    };
    (void)state;
    check_rows(rows, OC_COUNT(rows));
}

/* One query, heads of 4 f32: a token of K or of V takes 16 bytes. */
#define QKV          "float[1,1,1,4] float[1,1,1,4] float[1,1,1,4] - "
#define ATTENTION(a) "Attention", 24, a, QKV "float[1,1,9,4] float[1,1,9,4]", "yyy"
/* 39 tokens in a buffer of 99; with the window the new token sees 4 of them */
#define GROUPED                                                                                              \
    MS "GroupQueryAttention", 1, "num_heads=1 kv_num_heads=1 local_window_size=5",                           \
        "float[1,1,4] float[1,1,4] float[1,1,4] float[1,1,99,4] float[1,1,99,4] int32[1] int32[]{40}", "yyy"
#define MASKED                                                                                               \
    MS "DecoderMaskedMultiHeadAttention", 1, "num_heads=1 past_present_share_buffer=1",                      \
        "float[1,1,4] float[1,1,4] float[1,1,4] - - float[1,1,99,4] float[1,1,99,4] int32[1]{9}", "yyy"
#define SELF MS "Attention", 1, "num_heads=1", "float[1,1,4] float[4,12]! float[12]! - float[2,1,1,9,4]", "yy"
/* one token with 4 cached ones and two new ones; a token has 2 heads of 8 f16, 32 bytes */
#define PAGED                                                                                                \
    MS "PagedAttention", 1, "num_heads=4 kv_num_heads=2",                                                    \
        "float16[3,32] float16[3,16] float16[3,16] float16[10,4,2,8] float16[10,4,2,8] int32[3]~{0,1,3} "    \
        "int32[2]~{4,0} int32[2,2]",                                                                         \
        "yyy"

/* MAC 8 per pair; MUL and softmax (5) per pair */
static void kv_share_option_changes_cache_bytes(void **state)
{
    static const struct oc_counting on = {.kv_share = OC_KV_ON}, off = {.kv_share = OC_KV_OFF};
    const struct row rows[] = {
        {ATTENTION(""), {0}, 80, 160 + 60, 48 + 2 * 18 * 16, 0, 16 + 2 * 10 * 16, false},
        {ATTENTION(""), off, 80, 160 + 60, 48 + 2 * 18 * 16, 0, 16 + 2 * 10 * 16, false},
        {ATTENTION(""), on, 80, 160 + 60, 48 + 2 * 9 * 16, 0, 16 + 2 * 16, false},
        /* 4 cached tokens and the new one are visible */
        {ATTENTION("left_window_size=4 is_causal=1"), on, 40, 80 + 30, 48 + 2 * 4 * 16, 0, 16 + 2 * 16,
         false},
        {GROUPED, {0}, 40, 80 + 30, 48 + 2 * 4 * 16, 0, 16 + 2 * 16, false},
        {GROUPED, off, 40, 80 + 30, 48 + 2 * (4 + 39) * 16, 0, 16 + 2 * 40 * 16, false},
        {MASKED, {0}, 80, 160 + 60, 48 + 2 * 9 * 16, 0, 16 + 2 * 16, false},
        {MASKED, off, 80, 160 + 60, 48 + 2 * 18 * 16, 0, 16 + 2 * 10 * 16, false},
        /* projection MAC 48, bias 12 */
        {SELF, {0}, 128, 256 + 12 + 60, 16 + 2 * 288, 192 + 48, 16 + 320, false},
        {SELF, on, 128, 256 + 12 + 60, 16 + 288, 192 + 48, 16 + 32, false},
        /* 4 heads, MAC 16 per pair; pairs 5 + 1 + 2 */
        {PAGED, on, 512, 1024 + 192, 384 + 2 * 4 * 32, 0, 192 + 2 * 3 * 32, false},
        {PAGED, off, 512, 1024 + 192, 384 + 2 * 8 * 32, 0, 192 + 2 * 7 * 32, false},
    };
    (void)state;
    check_rows(rows, OC_COUNT(rows));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(einsum_order_option_selects_left_to_right_or_optimal),
        cmocka_unit_test(trees_max_option_counts_the_longest_path),
        cmocka_unit_test(moe_expected_option_counts_distinct_experts),
        cmocka_unit_test(lookup_table_option_counts_no_arithmetic),
        cmocka_unit_test(inplace_option_counts_only_scattered_elements),
        cmocka_unit_test(rnn_reload_option_reads_weights_every_step),
        cmocka_unit_test(kv_share_option_changes_cache_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
