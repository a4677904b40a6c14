#include "support/op_rows.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define MS "com.microsoft:"

/* 3 tokens, one head of keys of 4, two of values of 5 */
#define DELTA "float16[3,1,4] float16[3,1,4] float16[3,2,5] - float[3,2] float[3,2] float[1,2,5,4]"

static const struct op_shape_row shapes[] = {
    {MS "GatedDeltaNet", 1, "", DELTA, "yy", "float16[3,2,5] float[1,2,5,4]"},
    {MS "GatedDeltaNet", 1, "state_update_capacity=2", DELTA, "yyy",
     "float16[3,2,5] float[1,2,5,4] float[1,32]"}, /* 2 * (2 + 4 + 10) */
    {MS "GatedDeltaNet", 1, "", "float16[T,1,4] float16[T,1,4] float16[T,2,5] int32[9]", "yy",
     "float16[T,2,5] float[8,2,5,4]"},
    {MS "GatedDeltaNet", 1, "", "float16[B,S,1,4] float16[B,S,1,4] float16[B,S,2,5]", "yy",
     "float16[B,S,2,5] float[B,2,5,4]"},
    {MS "GatedDeltaNet", 1, "", "float16[3,4] float16[3,4] float16[3,2,5]", "y",
     "error: invalid key rank 2 and value rank 3"},
    {MS "VarlenCausalConvWithState", 1, "dilation=2 state_update_capacity=3",
     "float[T,8] float[8,1,4] int32[3] float[8] float[2,8,6]", "yyy", "float[T,8] float[2,8,6] float[2,3,8]"},
    {MS "VarlenCausalConvWithState", 1, "dilation=0", "float[T,8] float[8,1,4] int32[3]", "yy",
     "error: invalid dilation 0"},
    {MS "EngramGate", 1, "", "float[1,2,3,4] float[1,2,3,4] float[1,2,4] float[3,4] float[3,4]", "y",
     "float[1,2,3,4]"},
};

static const struct op_cost_row costs[] = {
    /* values 30, states 120: MAC 3*120, scale 30, delta 30 + 30, decays 6 EXP, state times decay 120 */
    {MS "GatedDeltaNet", 1, "", DELTA, "yy", 360, 720 + 30 + 60 + 6 + 120, 24 + 24 + 60 + 24 + 24 + 160, 0,
     60 + 160},
    {MS "GatedDeltaNet", 1, "update_rule=linear", "float16[3,1,4] float16[3,1,4] float16[3,2,5]", "y", 240,
     480 + 30, 108, 0, 60},
    {MS "GatedDeltaNet", 1, "update_rule=delta",
     "float16[3,1,4] float16[3,1,4] float16[3,2,5] - - float[3,2]", "y", 360, 720 + 90, 132, 0, 60},
    /* gates computed inside: 5 for each of 6 decays; 6 SIG; queries and keys 3*24 and 6 SQRT */
    {MS "GatedDeltaNet", 1, "gate_activation=qwen beta_activation=sigmoid qk_l2_norm=1",
     DELTA " float[2]! float[2]!", "yy", 360, 936 + 30 + 6 + 78, 316, 16, 220},
    /* 40 outputs of 4 taps, bias, SIG and MUL */
    {MS "VarlenCausalConvWithState", 1, "activation=silu",
     "float[5,8] float[8,1,4]! int32[3] float[8]! float[2,8,3]", "yy", 160, 320 + 40 + 80, 160 + 192,
     128 + 32, 160 + 192},
    /* n = 24, 6 rows: two norms of 4n + 4R, the product, 7 per row for the gate, gate times value */
    {MS "EngramGate", 1, "", "float[1,2,3,4] float[1,2,3,4] float[1,2,4] float[3,4]! float[3,4]!", "y", 24,
     2 * 120 + 48 + 42 + 24, 96 + 96 + 32, 96, 96},
    {MS "EngramGate", 1, "", "float[1,2,3,4] float[1,2,3,4] float[1,2,4] float[3,4]! float[3,4]! float[3,4]!",
     "yy", 24, 354 + 120, 224, 144, 192},
};

static void packed_state_infers_shapes(void **state)
{
    (void)state;
    op_check_shapes(shapes, OC_COUNT(shapes));
}

static void packed_state_counts_operations(void **state)
{
    (void)state;
    op_check_costs(costs, OC_COUNT(costs));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(packed_state_infers_shapes),
                                       cmocka_unit_test(packed_state_counts_operations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
