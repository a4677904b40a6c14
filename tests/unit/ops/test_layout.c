#include "support/op_rows.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const struct op_shape_row shapes[] = {
    {"Concat", 1, "", "float[2,3] float[2,4]", "y", "float[2,7]"},
    {"Concat", 4, "axis=0", "float[2,3] float[1,3]", "y", "float[3,3]"},
    {"Concat", 13, "axis=-1", "float[2,3] float[2,0]", "y", "float[2,3]"},
    {"Concat", 13, "axis=1", "float[B,past] float[B,1]", "y", "float[B,past + 1]"}, /* section 8 e */
    {"Concat", 13, "axis=1", "float[B,3] float[2,4]", "y", "float[2,7]"},
    {"Concat", 13, "axis=1", "float[2,3] float", "y", "float[2,node.1]"},
    {"Concat", 13, "axis=1", "float[2,3] float[3,3]", "y",
     "error: input 1 is {3,3}: axis 0 differs from the 2 *"},
    {"Concat", 13, "axis=1", "float[2,3] float[3]", "y", "error: inputs {2,3} and {3} differ in rank"},
    {"Concat", 13, "", "float[2,3]", "y", "error: attribute 'axis' is missing"},
    {"Tile", 1, "", "float[2,3] float[]!{4} float[]!{1}", "y", "float[2,12]"},
    {"Tile", 6, "", "float[2,N] int64[2]!{3,2}", "y", "float[6,2*N]"},
    {"Tile", 13, "", "float[2,N] int64[2]{3,M}", "y", "float[6,N*M]"},
    {"Tile", 13, "", "float[2,3] int64[1]!{3}", "y", "error: 1 repeats for rank 2"},
    {"Tile", 13, "", "float[2,3] int64[2]", "y", "float[node.0,node.1]"},
    {"Transpose", 1, "", "float[2,3,4]", "y", "float[4,3,2]"},
    {"Transpose", 13, "perm=[0,2,1]", "float[B,S,64]", "y", "float[B,64,S]"},
    {"Transpose", 13, "perm=[0,0,1]", "float[2,3,4]", "y", "error: perm is not a permutation"},
    {"Transpose", 13, "perm=[0,1]", "float[2,3,4]", "y", "error: perm has 2 axes, the input has rank 3"},
    {"Transpose", 13, "perm=[0,1]", "float", "y", "float[node.0,node.1]"},
    {"DepthToSpace", 1, "blocksize=2", "float[1,8,H,3]", "y", "float[1,2,2*H,6]"},
    {"DepthToSpace", 11, "blocksize=3", "float[1,8,2,3]", "y",
     "error: axis 1 of {1,8,2,3} is not divisible by 9"},
    {"SpaceToDepth", 13, "blocksize=2", "float[1,8,H,4]", "y", "float[1,32,floor(H/2),2]"},
    {"SpaceToDepth", 13, "", "float[1,8,4,4]", "y", "error: invalid blocksize 0"},
    {"MemcpyToHost", 1, "", "float[2,N]", "y", "float[2,N]"},
    {"ReverseSequence", 10, "", "float[4,B,3] int64[B]", "y", "float[4,B,3]"},
    {"Trilu", 14, "", "float[S,S] int64[]!{1}", "y", "float[S,S]"},
};

static const struct op_fold_row folds[] = {
    {"Concat", 13, "axis=0", "int64[1]{N} int64[2]!{-1,64}", "N,-1,64"},
    {"Concat", 13, "axis=0", "int64[1]{N} int64[1]", "N,?"},
    {"Concat", 13, "axis=1", "int64[2,1]{1,2} int64[2,2]!{3,4,5,6}", "1,3,4,2,5,6"},
    {"Concat", 13, "axis=0", "int64[1] int64[1]", "none"},
    {"Tile", 13, "", "int64[2]{1,N} int64[1]!{2}", "1,N,1,N"},
    {"Transpose", 13, "", "int64[2,3]{1,2,3,4,5,N}", "1,4,2,5,3,N"},
    {"Transpose", 13, "perm=[2,0,1]", "int64[1,2,3]{1,2,3,4,5,6}", "1,4,2,5,3,6"},
    {"Trilu", 14, "", "int64[2,2]{1,2,3,4}", "1,2,0,4"},
    {"Trilu", 14, "upper=0", "int64[2,2]{1,2,3,4} int64[]{-1}", "0,0,3,0"},
};

static const struct op_cost_row costs[] = {
    {"Concat", 13, "axis=0", "float[2,3]", "y", 0, 0, 0, 0, 0},
    {"Concat", 13, "axis=0", "float[2,3] @0", "y", 0, 0, 24, 0, 48},
    {"Tile", 13, "", "float[2,3] int64[2]!{2,1}", "y", 0, 0, 24, 0, 48},
    {"Transpose", 13, "perm=[2,0,1]", "float[2,3,1]", "y", 0, 0, 0, 0, 0}, /* only the axis of size 1 moves */
    {"Transpose", 13, "perm=[0,2,1]", "float[2,3,4]", "y", 0, 0, 96, 0, 96},
};

static void layout_infers_shapes(void **state)
{
    (void)state;
    op_check_shapes(shapes, OC_COUNT(shapes));
}

static void layout_folds_values(void **state)
{
    (void)state;
    op_check_folds(folds, OC_COUNT(folds));
}

static void layout_counts_operations(void **state)
{
    (void)state;
    op_check_costs(costs, OC_COUNT(costs));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(layout_infers_shapes),
                                       cmocka_unit_test(layout_folds_values),
                                       cmocka_unit_test(layout_counts_operations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
