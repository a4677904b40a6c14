#include "support/op_rows.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const struct op_shape_row shapes[] = {
    {"Slice", 1, "starts=[0,1] ends=[2,1000] axes=[0,1]", "float[4,5]", "y", "float[2,4]"},
    {"Slice", 1, "starts=[-2] ends=[2147483647]", "float[4,5]", "y", "float[2,5]"},
    {"Slice", 10, "", "float[4,5] int64[1]!{1} int64[1]!{3}", "y", "float[2,5]"},
    {"Slice", 10, "", "float[4,5] int64[2]!{0,0} int64[2]!{4,5} int64[2]!{0,-1} int64[2]!{2,3}", "y",
     "float[2,2]"},
    {"Slice", 13, "", "float[5] int64[1]!{-1} int64[1]!{-9223372036854775807} int64[1]!{0} int64[1]!{-1}",
     "y", "float[5]"},
    {"Slice", 13, "", "float[5] int64[1]!{9} int64[1]!{0} int64[1]!{0} int64[1]!{-2}", "y", "float[2]"},
    {"Slice", 13, "", "float[5] int64[1]!{-100} int64[1]!{-200} int64[1]!{0} int64[1]!{-1}", "y", "float[1]"},
    {"Slice", 13, "", "float[0] int64[1]!{-1} int64[1]!{-100} int64[1]!{0} int64[1]!{-1}", "y", "float[0]"},
    {"Slice", 13, "", "float[5] int64[1]!{4} int64[1]!{1}", "y", "float[0]"},
    {"Slice", 13, "", "float[5] int64[1]!{1} int64[1]!{4} int64[1]!{0} int64[1]!{0}", "y",
     "error: invalid step 0"},
    {"Slice", 13, "", "float[5] int64[1]!{1} int64[2]!{4,4}", "y",
     "error: starts, ends and axes differ in length: 1, 2, 1"},
    {"Slice", 13, "", "float[5] int64[1]!{1} int64[1]!{4} int64[1]!{1}", "y",
     "error: axis 1 is out of range for rank 1"},
    /* unknown sizes and bounds */
    {"Slice", 13, "", "float[B,S] int64[1]!{0} int64[1]!{9223372036854775807} int64[1]!{1}", "y",
     "float[B,S]"},
    {"Slice", 13, "", "float[B,S] int64[1]!{1} int64[1]!{9223372036854775807} int64[1]!{1}", "y",
     "float[B,max(S - 1, 0)]"},
    {"Slice", 13, "", "float[B,S] int64[1]!{-1} int64[1]!{9223372036854775807} int64[1]!{1}", "y",
     "float[B,min(S, 1)]"},
    {"Slice", 13, "", "float[B,S] int64[1]!{0} int64[1]{S} int64[1]!{1}", "y", "float[B,S]"},
    {"Slice", 13, "", "float[B,512] int64[1]!{0} int64[1]{S} int64[1]!{1}", "y", "float[B,min(S, 512)]"},
    {"Slice", 13, "", "float[B,S] int64[1]!{-1} int64[1]!{-9223372036854775807} int64[1]!{1} int64[1]!{-1}",
     "y", "float[B,S]"},
    {"Slice", 13, "", "float[B,7] int64[1] int64[1] int64[1]!{1}", "y", "float[B,node.1]"},
    {"Slice", 13, "", "float[B,7] int64[1] int64[1] int64[1]", "y", "float[node.0,node.1]"},
    {"Slice", 13, "", "float int64[1] int64[1] int64[1]", "y", "float[...]"},
    {"DynamicSlice", 1, "", "float[4,5] int64[1]!{1} int64[1]!{3} int64[1]!{1}", "y", "float[4,2]"},
    {"Split", 1, "axis=1 split=[2,4]", "float[2,6]", "yy", "float[2,2] float[2,4]"},
    {"Split", 1, "", "float[4,6] float[2]!{1,3}", "yy", "float[1,6] float[3,6]"},
    {"Split", 2, "axis=1", "float[2,6]", "yyy", "float[2,2] float[2,2] float[2,2]"},
    {"Split", 11, "axis=-1 split=[1,5]", "float[2,6]", "yy", "float[2,1] float[2,5]"},
    {"Split", 13, "axis=1", "float[2,6] int64[2]!{2,4}", "yy", "float[2,2] float[2,4]"},
    {"Split", 13, "axis=1", "float[2,6] int64[2]!{2,5}", "yy", "error: the parts have 7 elements in total*"},
    {"Split", 13, "axis=1", "float[2,6] int64[2]", "yy", "float[2,node.1] float[2,node.1]"},
    /* shape-inference section 8 h */
    {"Split", 18, "num_outputs=3", "float[10]", "yyy", "float[4] float[4] float[2]"},
    {"Split", 13, "", "float[10]", "yyy", "error: an axis of 10 cannot be split into 3 equal parts"},
    {"Split", 18, "num_outputs=4", "float[5]", "yyyy", "float[2] float[2] float[1] float[0]"},
    {"Split", 18, "num_outputs=2", "float[5]", "yyy", "error: num_outputs is 2 but the node has 3 outputs"},
    {"Split", 13, "axis=1", "float[B,768]", "yy", "float[B,384] float[B,384]"},
    {"Split", 13, "", "float[S]", "yy", "float[floor(S/2)] float[floor(S/2)]"},
    {"Split", 18, "num_outputs=2", "float[S]", "yy",
     "float[floor((S - 1)/2) + 1] float[S - floor((S - 1)/2) - 1]"},
    {"Pad", 1, "paddings=[0,1,0,2]", "float[2,3]", "y", "float[2,6]"},
    {"Pad", 2, "pads=[0,1,0,-2]", "float[2,3]", "y", "float[2,2]"},
    {"Pad", 13, "", "float[N,3] int64[4]!{1,0,1,2}", "y", "float[N + 2,5]"},
    {"Pad", 18, "", "float[N,3,4] int64[4]!{1,0,1,2} - int64[2]!{-1,0}", "y", "float[N + 2,3,6]"},
    {"Pad", 13, "", "float[2,3] int64[4]!{0,0,0,-4}", "y",
     "error: axis 1 of {2,3} is padded to invalid size -1"},
    {"Pad", 13, "", "float[2,3] int64[3]!{0,0,0}", "y", "error: 3 pads for 2 axes"},
    {"Pad", 13, "", "float[2,3] int64[4]", "y", "float[node.0,node.1]"},
    {"com.microsoft:Pad", 1, "", "float[2,3] int64[4]!{0,1,0,1}", "y", "float[2,5]"},
    {"CenterCropPad", 18, "", "float[10,7,3] int64[3]!{8,9,3}", "y", "float[8,9,3]"},
    {"CenterCropPad", 18, "axes=[1,-1]", "float[10,7,3] int64[2]!{8,9}", "y", "float[10,8,9]"},
    {"Crop", 1, "border=[1,2,3,4]", "float[1,3,10,10]", "y", "float[1,3,4,6]"},
    {"Crop", 1, "border=[1,2,3,4] scale=[5,6]", "float[1,3,10,10]", "y", "float[1,3,5,6]"},
};

static const struct op_fold_row folds[] = {
    {"Slice", 13, "", "int64[4]{1,2,3,N} int64[1]!{-2} int64[1]!{2147483647}", "3,N"},
    {"Slice", 13, "", "int64[4]{1,2,3,N} int64[1]!{-1} int64[1]!{-2147483648} int64[1]!{0} int64[1]!{-2}",
     "N,2"},
    {"Slice", 13, "", "int64[2,2]{1,2,3,N} int64[1]!{-1} int64[1]!{-2147483648} int64[1]!{0} int64[1]!{-1}",
     "3,N,1,2"},
    {"Slice", 1, "starts=[1] ends=[2]", "int64[4]{1,N,3,4}", "N"},
    {"Slice", 13, "", "int64[4]{1,2,3,N} int64[1]{S} int64[1]!{4}", "none"},
    {"Split", 13, "", "int64[4]{1,2,3,N}", "1,2,3,N"},
    {"Split", 11, "split=[4]", "int64[4]{1,2,3,N}", "1,2,3,N"},
};

static const struct op_cost_row costs[] = {
    {"Slice", 13, "", "float[4,5] int64[1]!{1} int64[1]!{3}", "y", 0, 0, 40, 0, 40},
    {"Slice", 13, "", "float[4,5] int64[1]!{0} int64[1]!{4}", "y", 0, 0, 0, 0, 0},
    {"Slice", 13, "", "float[4,5] int64[1]!{3} int64[1]!{-9} int64[1]!{0} int64[1]!{-1}", "y", 0, 0, 80, 0,
     80},
    {"Split", 13, "", "float[4,5]", "yy", 0, 0, 80, 0, 80},
    {"Split", 13, "", "float[4,5]", "y", 0, 0, 0, 0, 0},
    {"Pad", 13, "", "float[2,3] int64[4]!{0,1,0,1} float[]!{0}", "y", 0, 0, 24, 0, 40},
    {"CenterCropPad", 18, "", "float[10,4] int64[2]!{8,6}", "y", 0, 0, 128, 0, 192}, /* 8 x 4 are kept */
};

static void slice_infers_shapes(void **state)
{
    (void)state;
    op_check_shapes(shapes, OC_COUNT(shapes));
}

static void slice_folds_values(void **state)
{
    (void)state;
    op_check_folds(folds, OC_COUNT(folds));
}

static void slice_counts_operations(void **state)
{
    (void)state;
    op_check_costs(costs, OC_COUNT(costs));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(slice_infers_shapes),
                                       cmocka_unit_test(slice_folds_values),
                                       cmocka_unit_test(slice_counts_operations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
