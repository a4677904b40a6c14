#include "support/op_rows.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const struct op_shape_row shapes[] = {
    {"Reshape", 1, "shape=[0,-1]", "float[2,3,4]", "y", "float[2,12]"},
    {"Reshape", 13, "", "float[2,3,4] int64[2]!{0,-1}", "y", "float[2,12]"},
    {"Reshape", 13, "", "float[2,3,4] int64[0]!{}", "y", "error: {2,3,4} cannot be reshaped to {scalar}"},
    {"Reshape", 13, "", "float[1,1] int64[0]!{}", "y", "float[]"},
    {"Reshape", 13, "", "float[2,3,4] int64[2]!{5,-1}", "y", "error: {2,3,4} cannot be reshaped: 24 *"},
    {"Reshape", 13, "", "float[2,3,4] int64[2]!{-1,-1}", "y", "error: the target shape has more than one -1"},
    {"Reshape", 13, "", "float[2,3,4] int64[2]!{6,5}", "y", "error: {2,3,4} cannot be reshaped to {6,5}"},
    {"Reshape", 13, "", "float[2,3,4] int64[4]!{2,3,4,0}", "y", "error: the target shape copies axis 3 of *"},
    {"Reshape", 13, "", "float[2,3,4] int64[2]!{-2,12}", "y", "error: the target shape has invalid size -2"},
    {"Reshape", 14, "allowzero=1", "float[0,3,4] int64[2]!{0,7}", "y", "float[0,7]"},
    {"Reshape", 14, "allowzero=1", "float[0,3,4] int64[2]!{0,-1}", "y", "error: the size for -1 is *"},
    {"Reshape", 14, "", "float[0,3,4] int64[2]!{0,-1}", "y", "error: the size for -1 is ambiguous*"},
    {"Reshape", 14, "", "float[0,3,4] int64[2]!{3,-1}", "y", "float[3,0]"},
    /* shape-inference section 8 b */
    {"Reshape", 14, "", "float[B,S,768] int64[4]!{0,0,12,64}", "y", "float[B,S,12,64]"},
    {"Reshape", 14, "", "float[B,S,12,64] int64[3]!{0,0,768}", "y", "float[B,S,768]"},
    {"Reshape", 14, "", "float[B,S,12,64] int64[3]{B,S,-1}", "y", "float[B,S,768]"},
    {"Reshape", 14, "", "float[B,S,768] int64[2]!{-1,768}", "y", "float[B*S,768]"},
    {"Reshape", 14, "", "float[B,S,768] int64[2]!{-1,100}", "y", "float[floor((192*B*S)/25),100]"},
    /* one unknown element takes the rest */
    {"Reshape", 14, "", "float[2,3,4] int64[2]{?,6}", "y", "float[4,6]"},
    {"Reshape", 14, "", "float[2,3,4] int64[3]", "y", "float[node.0,node.1,node.2]"},
    {"Reshape", 14, "", "float[2,3,4] int64[n]", "y", "float[...]"},
    {"Reshape", 14, "", "float int64[2]!{0,-1}", "y", "float[node.0,node.1]"},
    {"Flatten", 1, "", "float[2,3,4]", "y", "float[2,12]"},
    {"Flatten", 1, "axis=0", "float[2,3,4]", "y", "float[1,24]"},
    {"Flatten", 11, "axis=-1", "float[B,3,4]", "y", "float[3*B,4]"},
    {"Flatten", 11, "axis=3", "float[2,3,4]", "y", "float[24,1]"},
    {"Flatten", 11, "axis=4", "float[2,3,4]", "y", "error: axis 4 is out of range for rank 3"},
    {"Flatten", 11, "", "float", "y", "float[node.0,node.1]"},
    {"Squeeze", 1, "axes=[0,2]", "float[1,3,1,4]", "y", "float[3,4]"},
    {"Squeeze", 11, "", "float[1,3,1,4]", "y", "float[3,4]"},
    {"Squeeze", 13, "", "float[1,3,1,4] int64[1]!{-2}", "y", "float[1,3,4]"},
    {"Squeeze", 13, "", "float[1,N,1,4]", "y", "float[N,4]"},
    {"Squeeze", 13, "", "float[1,3] int64[1]!{1}", "y", "error: axis 1 of {1,3} cannot be squeezed"},
    {"Squeeze", 13, "", "float[1,3] int64[1]", "y", "float[node.0]"},
    {"Unsqueeze", 1, "axes=[0,3]", "float[3,4]", "y", "float[1,3,4,1]"},
    {"Unsqueeze", 13, "", "float[3,4] int64[2]!{-1,0}", "y", "float[1,3,4,1]"},
    {"Unsqueeze", 13, "", "float[] int64[1]!{0}", "y", "float[1]"},
    {"Unsqueeze", 13, "", "float[3] int64[]!{0}", "y", "float[1,3]"},
    {"Unsqueeze", 13, "", "float[3] int64[2]!{0,0}", "y", "error: axis 0 is listed twice"},
    {"Unsqueeze", 13, "", "float[3] int64[1]!{5}", "y", "error: axis 5 is out of range for rank 2"},
    {"com.microsoft:ExpandDims", 1, "", "float[3] int32[]!{1}", "y", "float[3,1]"},
    {"Identity", 1, "", "seq(float[2])", "y", "seq(float[2])"},
    {"Shape", 1, "", "float[2,N]", "y", "int64[2]"},
    {"Shape", 15, "start=1 end=-1", "float[2,3,4,5]", "y", "int64[2]"},
    {"Shape", 15, "start=-9 end=9", "float[2,3]", "y", "int64[2]"},
    {"Shape", 15, "start=2 end=1", "float[2,3]", "y", "int64[0]"},
    {"Size", 1, "", "float[2,N]", "y", "int64[]"},
    {"Expand", 8, "", "float[3,1] int64[3]!{2,1,6}", "y", "float[2,3,6]"},
    {"Expand", 8, "", "float[3,4] int64[1]!{1}", "y", "float[3,4]"},
    {"Expand", 8, "", "float[3,1] int64[1]!{7}", "y", "float[3,7]"},
    {"Expand", 8, "", "float[3,4] int64[1]!{7}", "y", "error: {3,4} does not expand to the given shape at *"},
    {"Expand", 8, "", "float[1,S] int64[2]{B,S}", "y", "float[B,S]"},
    {"Expand", 8, "", "float[1,5] int64[2]", "y", "float[node.0,5]"},
    {"BitCast", 26, "to=6", "float[2,N]", "y", "int32[2,N]"},
    {"BitCast", 26, "to=7", "float[2,N]", "y", "error: float and int64 differ in width"},
};

static const struct op_fold_row folds[] = {
    {"Shape", 1, "", "float[2,N]", "2,N"},
    {"Shape", 15, "start=1", "float[2,N]", "N"},
    {"Size", 1, "", "float[2,N]", "2*N"},
    {"Reshape", 13, "", "int64[2,2]!{1,2,3,N} int64[1]!{-1}", "1,2,3,N"},
    {"Unsqueeze", 13, "", "int64[]{N} int64[1]!{0}", "N"},
    {"Squeeze", 13, "", "int64[1]{N} int64[1]!{0}", "N"},
    {"Identity", 13, "", "int64[2]{N,?}", "N,?"},
    {"Expand", 8, "", "int64[2,1]{1,N} int64[2]!{2,3}", "1,1,1,N,N,N"},
    {"Expand", 8, "", "int64[]{-1} int64[1]!{3}", "-1,-1,-1"},
};

static const struct op_cost_row costs[] = {
    {"Expand", 8, "", "float[3,1] int64[2]!{3,5}", "y", 0, 0, 12, 0, 60},
    {"Expand", 8, "", "float[3,1] int64[2]!{1,1}", "y", 0, 0, 0, 0, 0}, /* the same shape: no copy */
    {"Flatten", 13, "", "float[2,3,4]", "y", 0, 0, 0, 0, 0},
    {"Shape", 15, "", "float[2,3,4]", "y", 0, 0, 0, 0, 0},
};

static void reshape_infers_shapes(void **state)
{
    (void)state;
    op_check_shapes(shapes, OC_COUNT(shapes));
}

static void reshape_folds_values(void **state)
{
    (void)state;
    op_check_folds(folds, OC_COUNT(folds));
}

static void reshape_counts_operations(void **state)
{
    (void)state;
    op_check_costs(costs, OC_COUNT(costs));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(reshape_infers_shapes),
                                       cmocka_unit_test(reshape_folds_values),
                                       cmocka_unit_test(reshape_counts_operations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
