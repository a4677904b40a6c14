#include "support/op_rows.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const struct op_shape_row shapes[] = {
    {"Cast", 1, "to=DOUBLE", "float[2,N]", "y", "double[2,N]"},
    {"Cast", 13, "to=7", "float[2,N]", "y", "int64[2,N]"},
    {"Cast", 13, "to=99", "float[2]", "y", "error: attribute 'to' is not an element type"},
    {"CastLike", 15, "", "float[2] int8[7]", "y", "int8[2]"},
    {"QuantizeLinear", 10, "", "float[2,N] float[] int8[]", "y", "int8[2,N]"},
    {"QuantizeLinear", 13, "", "float[2,N] float[]", "y", "uint8[2,N]"},
    {"QuantizeLinear", 21, "output_dtype=22", "float[2,N] float[]", "y", "int4[2,N]"},
    {"QuantizeLinear", 21, "block_size=4 axis=1", "float[2,10] float[2,3] int4[2,3]", "y", "int4[2,10]"},
    {"QuantizeLinear", 21, "block_size=4 axis=1", "float[2,10] float[2,2]", "y",
     "error: 2 scales along axis 1 instead of 3"},
    {"DequantizeLinear", 10, "", "uint8[2,N] float[]", "y", "float[2,N]"},
    {"DequantizeLinear", 19, "", "uint8[2,N] float16[]", "y", "float16[2,N]"},
    {"DequantizeLinear", 23, "output_dtype=1", "uint8[2,N] float16[]", "y", "float[2,N]"},
    {"com.microsoft:DequantizeLinear", 1, "", "uint16[2] float16[] uint16[]", "y", "float16[2]"},
    {"com.microsoft:QuantizeLinear", 1, "", "float[2] float[] uint16[]", "y", "uint16[2]"},
    {"DynamicQuantizeLinear", 11, "", "float[2,N]", "yyy", "uint8[2,N] float[] uint8[]"},
    {"com.microsoft:QLinearMul", 1, "", "int8[2,3] float[] int8[] int8[3] float[] int8[] float[] int8[]", "y",
     "int8[2,3]"},
    {"com.microsoft:QLinearAdd", 1, "", "int8[2,3] float[] int8[] int8[4] float[] int8[] float[] int8[]", "y",
     "error: shapes {2,3} and {4} do not broadcast"},
    {"com.microsoft:QLinearSigmoid", 1, "", "int8[2,3] float[] int8[] float[] int8[]", "y", "int8[2,3]"},
    {"com.microsoft:QLinearWhere", 1, "",
     "bool[3] uint8[2,1] float[] uint8[] uint8[] float[] uint8[] float[] uint8[]", "y", "uint8[2,3]"},
    {"com.microsoft:QLinearConcat", 1, "axis=1",
     "float[] uint8[] uint8[2,3] float[] uint8[] uint8[2,N] float[] uint8[]", "y", "uint8[2,N + 3]"},
    {"com.microsoft:GatherBlockQuantized", 1, "bits=4 block_size=16",
     "uint8[100,32] int64[2,3] float16[100,4]", "y", "float16[2,3,64]"},
    {"com.microsoft:QuantizeWithOrder", 1, "", "float[2,N] float[]", "y", "int8[2,N]"},
    {"com.microsoft:DequantizeWithOrder", 1, "to=10", "int8[2,N] float[]", "y", "float16[2,N]"},
    {"com.microsoft:QOrderedGelu", 1, "", "int8[2,N] float[] float[]", "y", "int8[2,N]"},
    {"com.microsoft:GatherBlockQuantized", 1, "", "int4[100,64] int64[N] float[100,4]", "y", "float[N,64]"},
};

static const struct op_fold_row folds[] = {
    {"Cast", 13, "to=1", "int64[2]{3,N}", "3.0,(N)*1.0+0"},
    {"Cast", 13, "to=7", "float[2]{3.7,-3.7}", "3,-3"},
    {"Cast", 13, "to=7", "float[1]{N}", "N"},
    {"Cast", 13, "to=2", "int64[3]{255,256,-1}", "255,?,?"},
    {"Cast", 13, "to=3", "int64[3]{127,-128,128}", "127,-128,?"},
    {"Cast", 13, "to=9", "int64[3]{0,5,N}", "0,1,?"},
    {"Cast", 13, "to=7", "bool[2]{true,false}", "1,0"},
    {"Cast", 13, "to=6", "int64[1]{N}", "N"},
    {"Cast", 1, "to=INT32", "float[1]{2.5}", "2"},
    {"CastLike", 15, "", "int64[1]{2} float[3]", "2.0"},
};

static const struct op_cost_row costs[] = {
    {"com.microsoft:QOrderedGelu", 1, "", "int8[4] float[] float[]", "y", 0, 4 * (2 + 5 + 5), 12, 0, 4},
    {"Cast", 13, "to=1", "float[2,3]", "y", 0, 0, 0, 0, 0}, /* the same type: no copy */
    {"Cast", 13, "to=10", "float[2,3]", "y", 0, 0, 24, 0, 12},
    {"CastLike", 15, "", "float[2,3] float16[100]", "y", 0, 0, 24, 0, 12},
    {"QuantizeLinear", 19, "", "float[10] float[]", "y", 0, 40, 44, 0, 10},
    {"QuantizeLinear", 19, "", "float[10] float[] float8e4m3fn[]", "y", 0, 40, 45, 0, 10},
    {"QuantizeLinear", 19, "saturate=0", "float[10] float[] float8e4m3fn[]", "y", 0, 20, 45, 0, 10},
    {"DequantizeLinear", 19, "", "uint8[10] float[] uint8[]", "y", 0, 20, 15, 0, 40},
    /* 10 per element: two dequantized operands, the product, requantization (5) */
    {"com.microsoft:QLinearMul", 1, "", "int8[4] float[] int8[] int8[4] float[] int8[] float[] int8[]", "y",
     0, 40, 8 + 15, 0, 4},
    {"com.microsoft:QLinearSigmoid", 1, "", "int8[4] float[] int8[] float[] int8[]", "y", 0, 32, 14, 0, 4},
    {"com.microsoft:QLinearLeakyRelu", 1, "", "int8[4] float[] int8[] float[] int8[]", "y", 0, 36, 14, 0, 4},
    /* the first part has the scale and zero point of the result: only the second costs 7 per element */
    {"com.microsoft:QLinearConcat", 1, "axis=0",
     "float[]!{0.5} uint8[]!{3} uint8[2] float[]!{0.5} uint8[]!{3} uint8[4] float[]!{0.25} uint8[]!{3}", "y",
     0, 28, 6, 15, 6},
    /* 3 rows of 64 elements: 96 bytes, and 192/16 = 12 scales */
    {"com.microsoft:GatherBlockQuantized", 1, "bits=4 block_size=16",
     "uint8[100,32]! int64[3] float16[100,4]!", "y", 0, 0, 24, 96 + 24, 384},
};

static void quantize_infers_shapes(void **state)
{
    (void)state;
    op_check_shapes(shapes, OC_COUNT(shapes));
}

static void quantize_folds_values(void **state)
{
    (void)state;
    op_check_folds(folds, OC_COUNT(folds));
}

static void quantize_counts_operations(void **state)
{
    (void)state;
    op_check_costs(costs, OC_COUNT(costs));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(quantize_infers_shapes),
                                       cmocka_unit_test(quantize_folds_values),
                                       cmocka_unit_test(quantize_counts_operations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
