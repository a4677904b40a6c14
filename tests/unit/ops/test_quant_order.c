#include "support/op_rows.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define MS "com.microsoft:"

static const struct op_shape_row shapes[] = {
    {MS "QuantizeBFP", 1, "bfp_type=0", "float[4,16]", "yyy", "uint8[bytes] int64[2] int64[2]"},
    {MS "DequantizeBFP", 1, "bfp_type=0", "uint8[68] int64[2]{4,16} int64[2]", "y", "float[4,16]"},
    {MS "DequantizeBFP", 1, "bfp_type=0 dtype=10", "uint8[68] int64[3] int64[3]", "y",
     "float16[node.0,node.1,node.2]"},
    {MS "QOrderedMatMul", 1, "", "int8[2,5,8] float[] int8[8,6] float[] float[]", "y", "int8[2,5,6]"},
    {MS "QOrderedMatMul", 1, "", "int8[2,5,8] float[] int8[7,6] float[] float[]", "y",
     "error: inner dimensions differ: 8 and 7"},
    {MS "QOrderedLayerNormalization", 1, "axis=-1", "int8[2,5,8] float[] float16[8] float16[8] float[]", "y",
     "int8[2,5,8]"},
    {MS "QEmbedLayerNormalization", 1, "", "int32[2,5] - uint8[100,8] uint8[50,8] - uint8[8] uint8[8]", "yy",
     "float[2,5,8] int32[2]"},
    {MS "QEmbedLayerNormalization", 1, "", "int32[5] - uint8[100,8]", "y",
     "error: invalid ids rank 1 and table rank 2"},
};

static const struct op_cost_row costs[] = {
    /* CVT is 0 with unit weights: MUL 64 */
    {MS "DequantizeBFP", 1, "bfp_type=0", "uint8[68] int64[2]~{4,16} int64[2]", "y", 0, 64, 68, 0, 256},
    /* MAC 10*6*8; 60 outputs: requantize 5, bias 1, C scaled and added 2 */
    {MS "QOrderedMatMul", 1, "",
     "int8[2,5,8] float[]! int8[8,6]! float[]! float[]! float[6]! int8[2,5,6] float[]!", "y", 480,
     960 + 60 * 8, 80 + 60, 48 + 4 * 4 + 24, 60},
    /* n = 80, 10 rows: 2n, LayerNormalization with bias 7n + 5R, 5n */
    {MS "QOrderedLayerNormalization", 1, "", "int8[2,5,8] float[]! float16[8]! float16[8]! float[]!", "y", 0,
     14 * 80 + 50, 80, 8 + 32, 80},
    /* n = 80: three terms of 2n, 2 additions, 7n + 5R; rows of the tables that are used: word and segment for
     * all 10 tokens, positions for 5 */
    {MS "QEmbedLayerNormalization", 1, "",
     "int32[2,5] int32[2,5] uint8[100,8]! uint8[50,8]! uint8[20,8]! uint8[8]! uint8[8]!", "y", 0,
     15 * 80 + 50, 80, 80 + 40 + 80 + 16, 320},
};

static void quant_order_infers_shapes(void **state)
{
    (void)state;
    op_check_shapes(shapes, OC_COUNT(shapes));
}

static void quant_order_counts_operations(void **state)
{
    (void)state;
    op_check_costs(costs, OC_COUNT(costs));
}

/* Block floating point is no larger than its source: 64 floats. */
static void quant_order_bfp_size_is_bounded(void **state)
{
    (void)state;
    struct op_case t;
    op_case_run(&t, MS "QuantizeBFP", 1, "bfp_type=0", "float[4,16]", "yyy");
    assert_int_equal(oc_dim_max_value(t.exprs, t.out[0].shape.dim[0]), 256);
    assert_true(t.ctx.upper);
    assert_int_equal(t.total, 64);
    op_case_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(quant_order_infers_shapes),
                                       cmocka_unit_test(quant_order_counts_operations),
                                       cmocka_unit_test(quant_order_bfp_size_is_bounded)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
