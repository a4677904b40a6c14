#include "support/op_rows.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const struct op_shape_row shapes[] = {
    {"Constant", 1, "value=float[2,2]{1,2,3,4}", "", "y", "float[2,2]"},
    {"Constant", 12, "value_float=0.5", "", "y", "float[]"},
    {"Constant", 12, "value_floats=[0.5,1.5]", "", "y", "float[2]"},
    {"Constant", 13, "value_int=3", "", "y", "int64[]"},
    {"Constant", 13, "value_ints=[3,4,5]", "", "y", "int64[3]"},
    {"Constant", 13, "value_string=abc", "", "y", "string[]"},
    {"Constant", 13, "value_strings=[\"a\",\"b\"]", "", "y", "string[2]"},
    {"Constant", 13, "", "", "y", "error: the value attribute is missing"},
    {"ConstantOfShape", 9, "", "int64[2]!{3,4}", "y", "float[3,4]"},
    {"ConstantOfShape", 9, "value=int64[1]{7}", "int64[2]{N,4}", "y", "int64[N,4]"},
    {"ConstantOfShape", 9, "", "int64[0]!{}", "y", "float[]"},
    {"ConstantOfShape", 9, "", "int64[1]!{-1}", "y", "error: axis 0 has invalid size -1"},
    {"ConstantOfShape", 9, "", "int64[2]", "y", "float[node.0,node.1]"},
    {"ConstantOfShape", 9, "", "int64[n]", "y", "float[...]"},
    {"Range", 11, "", "int64[]!{0} int64[]!{10} int64[]!{3}", "y", "int64[4]"},
    {"Range", 11, "", "int64[]!{10} int64[]!{0} int64[]!{-3}", "y", "int64[4]"},
    {"Range", 11, "", "int64[]!{10} int64[]!{0} int64[]!{3}", "y", "int64[0]"},
    {"Range", 11, "", "int64[]!{0} int64[]{N} int64[]!{1}", "y", "int64[N]"},
    {"Range", 11, "", "int64[]{past} int64[]{N} int64[]!{1}", "y", "int64[max(N - past, 0)]"},
    {"Range", 11, "", "float[]!{0} float[]!{1} float[]!{0.3}", "y", "float[4]"},
    {"Range", 11, "", "int64[]!{0} int64[]!{9} int64[]!{0}", "y", "error: delta is 0"},
    {"Range", 11, "", "int64[] int64[]!{9} int64[]!{1}", "y", "int64[node.0]"},
    {"com.microsoft:Range", 1, "", "int64[]!{0} int64[]!{9}", "y", "int64[9]"},
    {"RandomNormal", 1, "shape=[2,3]", "", "y", "float[2,3]"},
    {"RandomUniform", 22, "shape=[2,3] dtype=11", "", "y", "double[2,3]"},
    {"RandomUniform", 22, "", "", "y", "error: attribute 'shape' is missing"},
    {"RandomNormalLike", 1, "", "float16[2,N]", "y", "float16[2,N]"},
    {"RandomUniformLike", 1, "dtype=1", "int64[2,N]", "y", "float[2,N]"},
    {"Bernoulli", 15, "dtype=9", "float[2,N]", "y", "bool[2,N]"},
    {"Multinomial", 7, "sample_size=5", "float[B,10]", "y", "int32[B,5]"},
    {"Multinomial", 22, "dtype=7", "float[B,10]", "y", "int64[B,1]"},
    {"EyeLike", 9, "", "int32[3,N]", "y", "int32[3,N]"},
    {"EyeLike", 9, "dtype=10", "int32[3,3]", "y", "float16[3,3]"},
    {"HannWindow", 17, "", "int64[]!{400}", "y", "float[400]"},
    {"BlackmanWindow", 17, "output_datatype=11", "int64[]{N}", "y", "double[N]"},
    {"HammingWindow", 17, "", "int64[]", "y", "float[node.0]"},
    {"GivenTensorFill", 1, "shape=[2,3]", "", "y", "float[2,3]"},
};

static const struct op_fold_row folds[] = {
    {"Constant", 13, "value_ints=[3,4]", "", "3,4"},
    {"Constant", 13, "value_int=3", "", "3"},
    {"Constant", 13, "value_floats=[0.5,2.0]", "", "0.5,2.0"},
    {"ConstantOfShape", 9, "value=int64[1]{7}", "int64[1]!{3}", "7,7,7"},
    {"ConstantOfShape", 9, "", "int64[0]!{}", "0.0"},
    {"Range", 11, "", "int64[]!{3} int64[]!{7} int64[]!{2}", "3,5"},
    {"Range", 11, "", "int64[]{N} int64[]{N} int64[]!{2}", ""},
    {"Range", 11, "", "float[]!{0} float[]!{1} float[]!{0.5}", "0.0,0.5"},
    {"EyeLike", 9, "k=1", "int64[2,2]", "0,1,0,0"},
};

static const struct op_cost_row costs[] = {
    {"ConstantOfShape", 9, "", "int64[2]!{3,4}", "y", 0, 0, 0, 0, 48},
    {"Range", 11, "", "int64[]!{0} int64[]!{10} int64[]!{3}", "y", 0, 8, 0, 0, 32},
    {"RandomNormal", 1, "shape=[2,3]", "", "y", 0, 18, 0, 0, 24},
    {"RandomUniformLike", 1, "", "float[2,3]", "y", 0, 6, 0, 0, 24},
    {"Bernoulli", 15, "", "float[2,3]", "y", 0, 12, 24, 0, 24},
    /* softmax 5*20, then 2*3 samples of 1 + clog2(10) = 5 */
    {"Multinomial", 7, "sample_size=3", "float[2,10]", "y", 0, 100 + 30, 80, 0, 24},
    {"HannWindow", 17, "", "int64[]!{400}", "y", 0, 1600, 0, 0, 1600},
    {"BlackmanWindow", 17, "", "int64[]!{400}", "y", 0, 3200, 0, 0, 1600},
    {"EyeLike", 9, "", "int32[3,3]", "y", 0, 0, 0, 0, 36},
};

static void generate_infers_shapes(void **state)
{
    (void)state;
    op_check_shapes(shapes, OC_COUNT(shapes));
}

static void generate_folds_values(void **state)
{
    (void)state;
    op_check_folds(folds, OC_COUNT(folds));
}

static void generate_counts_operations(void **state)
{
    (void)state;
    op_check_costs(costs, OC_COUNT(costs));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(generate_infers_shapes),
                                       cmocka_unit_test(generate_folds_values),
                                       cmocka_unit_test(generate_counts_operations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
