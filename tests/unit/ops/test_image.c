#include "support/op_rows.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const struct op_shape_row shapes[] = {
    {"Upsample", 1, "height_scale=2.0 width_scale=3.0", "float[1,3,H,8]", "y", "float[1,3,2*H,24]"},
    {"Upsample", 7, "scales=[1.0,1.0,2.0,2.0]", "float[1,3,4,8]", "y", "float[1,3,8,16]"},
    {"Upsample", 9, "", "float[1,3,4,8] float[4]!{1,1,0.5,1.5}", "y", "float[1,3,2,12]"},
    {"Resize", 10, "", "float[1,3,4,8] float[4]!{1,1,2,2}", "y", "float[1,3,8,16]"},
    {"Resize", 11, "", "float[1,3,4,8] float[0]!{} float[4]!{1,1,2,2}", "y", "float[1,3,8,16]"},
    {"Resize", 11, "", "float[1,3,4,8] float[0]!{} float[0]!{} int64[4]!{1,3,5,6}", "y", "float[1,3,5,6]"},
    {"Resize", 13, "", "float[1,3,H,W] - float[4]!{1,1,2,2}", "y", "float[1,3,2*H,2*W]"}, /* section 8 i */
    {"Resize", 13, "", "float[1,3,H,W] - float[4]!{1,1,0.5,1.5}", "y",
     "float[1,3,floor(H/2),floor((3*W)/2)]"},
    {"Resize", 13, "", "float[1,3,H,W] - - int64[4]{1,3,H,2*W}", "y", "float[1,3,H,2*W]"},
    {"Resize", 18, "axes=[2,3]", "float[1,3,4,8] - - int64[2]!{5,6}", "y", "float[1,3,5,6]"},
    {"Resize", 18, "axes=[-1]", "float[1,3,4,8] - float[1]!{2}", "y", "float[1,3,4,16]"},
    {"Resize", 18, "axes=[0,1] keep_aspect_ratio_policy=not_larger", "float[10,20] - - int64[2]!{30,30}", "y",
     "float[15,30]"},
    {"Resize", 18, "axes=[0,1] keep_aspect_ratio_policy=not_smaller", "float[10,20] - - int64[2]!{30,30}",
     "y", "float[30,60]"},
    /* scales are float32, and so is the product: 0.7 * 10 is 7 */
    {"Resize", 13, "", "float[3] - float[1]!{1.3333334}", "y", "float[4]"},
    {"Resize", 13, "", "float[5] - float[1]!{0.6}", "y", "float[3]"},
    {"Resize", 13, "", "float[10] - float[1]!{0.7}", "y", "float[7]"},
    {"Resize", 13, "", "float[5] - float[1]", "y", "float[node.0]"},
    {"Resize", 13, "", "float[5]", "y", "error: neither scales nor sizes are given"},
    {"Resize", 13, "", "float[5,5] - float[1]!{2}", "y", "error: 1 scales or sizes for 2 axes"},
    {"GridSample", 16, "mode=bilinear", "float[N,3,8,8] float[N,4,5,2]", "y", "float[N,3,4,5]"},
    {"GridSample", 20, "", "float[1,3,8,8,8] float[1,4,5,6,3]", "y", "float[1,3,4,5,6]"},
    {"GridSample", 20, "", "float[1,3,8,8] float[1,4,5,6,3]", "y", "error: input {1,3,8,8} and grid *"},
    {"GridSample", 20, "", "float16 float", "y", "float16[...]"},
    {"GridSample", 20, "", "float16 float[1,4,5,2]", "y", "float16[1,node.1,4,5]"},
    {"AffineGrid", 20, "", "float[2,2,3] int64[4]!{2,3,5,6}", "y", "float[2,5,6,2]"},
    {"AffineGrid", 20, "", "float[N,3,4] int64[5]{N,3,4,5,6}", "y", "float[N,4,5,6,3]"},
};

static const struct op_fold_row folds[] = {
    {"Resize", 13, "", "float[1]{2.0} - float[1]!{2}", "none"},
};

static const struct op_cost_row costs[] = {
    {"Resize", 13, "mode=linear", "float[4,4] - float[2]!{1,1}", "y", 0, 0, 0, 0, 0},
    {"Resize", 13, "mode=linear", "float[4,4] - float[2]!{1,2}", "y", 0, 32 * 3, 64, 0, 128},
    {"Resize", 13, "mode=cubic", "float[4,4] - float[2]!{2,2}", "y", 0, 64 * 31, 64, 0, 256},
    /* a quarter of each axis: linear reads 2 x 2 of the 16 elements for its single output */
    {"Resize", 13, "mode=linear", "float[4,4] - float[2]!{0.25,0.25}", "y", 0, 7, 16, 0, 4},
    /* antialias: 2*ceil(1/0.25) = 8 taps per axis */
    {"Resize", 18, "mode=linear antialias=1", "float[4,4] - float[2]!{0.25,0.25}", "y", 0, 127, 64, 0, 4},
    {"Resize", 13, "mode=nearest", "float[4,4] - float[2]!{0.25,0.25}", "y", 0, 0, 4, 0, 4},
    {"Upsample", 7, "mode=bilinear scales=[2.0,2.0]", "float[4,4]", "y", 0, 64 * 7, 64, 0, 256},
    /* 4 outputs; nearest: 4 positions of 2 MUL, 2 ADD, 2 RND; cubic: 31 per value, 92 per position: 30+16
       MUL, 30, 2 */
    {"GridSample", 20, "mode=nearest", "float[1,1,8,8] float[1,2,2,2]", "y", 0, 24, 16 + 32, 0, 16},
    {"GridSample", 20, "mode=cubic", "float[1,1,8,8] float[1,2,2,2]", "y", 0, 4 * 31 + 4 * 78, 256 + 32, 0,
     16},
    /* 2*5*6 positions of 2 x 3 */
    {"AffineGrid", 20, "", "float[2,2,3] int64[4]!{2,3,5,6}", "y", 360, 720, 48, 0, 480},
};

static void image_infers_shapes(void **state)
{
    (void)state;
    op_check_shapes(shapes, OC_COUNT(shapes));
}

static void image_folds_values(void **state)
{
    (void)state;
    op_check_folds(folds, OC_COUNT(folds));
}

static void image_counts_operations(void **state)
{
    (void)state;
    op_check_costs(costs, OC_COUNT(costs));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(image_infers_shapes),
                                       cmocka_unit_test(image_folds_values),
                                       cmocka_unit_test(image_counts_operations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
