#include "support/op_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void pool_infers_shapes(void **state)
{
    static const struct op_shape_row rows[] = {
        {"MaxPool", 1, "kernel_shape=[2,2] strides=[2,2]", "float[1,3,8,8]", "y", "float[1,3,4,4]"},
        {"MaxPool", 8, "kernel_shape=[2,2] strides=[2,2]", "float[1,3,8,8]", "yy",
         "float[1,3,4,4] int64[1,3,4,4]"},
        {"MaxPool", 12, "kernel_shape=[2]", "uint8[1,3,8]", "y", "uint8[1,3,7]"},
        {"MaxPool", 10, "kernel_shape=[2] dilations=[3]", "float[1,3,8]", "y", "float[1,3,5]"},
        /* the ceiling: the last window must begin inside the input or the leading padding */
        {"MaxPool", 10, "kernel_shape=[3] strides=[2] pads=[1,1] ceil_mode=1", "float[1,1,6]", "y",
         "float[1,1,4]"},
        {"MaxPool", 10, "kernel_shape=[2] strides=[2] pads=[1,1] ceil_mode=1", "float[1,1,4]", "y",
         "float[1,1,3]"},
        {"MaxPool", 10, "kernel_shape=[1] strides=[2] ceil_mode=1", "float[1,1,2]", "y", "float[1,1,1]"},
        {"MaxPool", 10, "kernel_shape=[2] strides=[2] pads=[1,1] ceil_mode=1", "float[1,1,3]", "y",
         "float[1,1,2]"},
        {"AveragePool", 22, "kernel_shape=[2] strides=[2] auto_pad=SAME_UPPER ceil_mode=1", "float[1,1,5]",
         "y", "float[1,1,3]"},
        {"AveragePool", 19, "kernel_shape=[3] dilations=[2]", "float[1,3,8]", "y", "float[1,3,4]"},
        {"LpPool", 1, "kernel_shape=[2,2] p=2.0", "float[1,3,8,8]", "y", "float[1,3,7,7]"},
        {"LpPool", 18, "kernel_shape=[2,2] ceil_mode=1 strides=[2,2]", "float[1,3,7,7]", "y",
         "float[1,3,4,4]"},
        {"MaxPool", 12, "", "float[1,3,8]", "y", "error: kernel_shape is missing"},
        {"MaxPool", 12, "kernel_shape=[9]", "float[1,3,8]", "y", "error: a window of 9 does not fit*"},
        {"MaxPool", 12, "kernel_shape=[2,2]", "float", "y", "float[...]"},
        {"MaxPool", 12, "kernel_shape=[2,2] strides=[2,2]", "float[N,3,H,8]", "y", "float[N,3,floor(H/2),4]"},
        {"GlobalAveragePool", 1, "", "float[2,3,7,9]", "y", "float[2,3,1,1]"},
        {"GlobalMaxPool", 1, "", "float[2,3,H,W]", "y", "float[2,3,1,1]"},
        {"com.microsoft:NhwcMaxPool", 1, "kernel_shape=[2,2] strides=[2,2]", "int8[1,8,8,3]", "y",
         "int8[1,4,4,3]"},
        {"com.microsoft:QLinearGlobalAveragePool", 1, "channels_last=1",
         "uint8[1,8,8,3] float[] uint8[] float[] int8[]", "y", "int8[1,1,1,3]"},
        {"MaxUnpool", 11, "kernel_shape=[2,2] strides=[2,2]", "float[1,1,2,2] int64[1,1,2,2]", "y",
         "float[1,1,4,4]"},
        {"MaxUnpool", 11, "kernel_shape=[2,2] strides=[2,2]",
         "float[1,1,2,2] int64[1,1,2,2] int64[4]{1,1,5,5}", "y", "float[1,1,5,5]"},
        {"MaxRoiPool", 1, "pooled_shape=[2,3]", "float[1,8,20,20] float[5,5]", "y", "float[5,8,2,3]"},
        {"RoiAlign", 10, "output_height=7 output_width=5", "float[1,8,20,20] float[R,4] int64[R]", "y",
         "float[R,8,7,5]"},
        {"com.microsoft:CropAndResize", 1, "", "float[1,8,20,20] float[5,4] int32[5] int32[2]{3,4}", "y",
         "float[5,8,3,4]"},
    };
    (void)state;
    op_check_shapes(rows, OC_COUNT(rows));
}

static void pool_literal_ceil_mode_keeps_windows_in_the_padding(void **state)
{
    static const struct {
        const char *attrs, *in, *types;
    } rows[] = {
        {"kernel_shape=[1] strides=[2] ceil_mode=1", "float[1,1,2]", "float[1,1,2]"},
        {"kernel_shape=[2] strides=[2] pads=[1,1] ceil_mode=1", "float[1,1,3]", "float[1,1,3]"},
        {"kernel_shape=[3] strides=[2] pads=[1,1] ceil_mode=1", "float[1,1,6]", "float[1,1,4]"},
    };
    (void)state;
    for (size_t i = 0; i < OC_COUNT(rows); i++) {
        struct op_case t;
        op_case_init(&t, "MaxPool", 12, rows[i].attrs, rows[i].in, "y");
        t.ctx.opt.literal_ceil_mode = true;
        assert_int_equal(op_case_shape(&t), 0);
        assert_string_equal(op_case_types(&t), rows[i].types);
        op_case_free(&t);
    }
}

/* [1,3,8,8], windows of 2x2 by 2: 48 results of 4 taps */
static void pool_counts_operations(void **state)
{
    static const struct op_hist_row rows[] = {
        {"MaxPool", 12, "kernel_shape=[2,2] strides=[2,2]", "float[1,3,8,8]", "y", "CMP 192"},
        {"MaxPool", 12, "kernel_shape=[2,2] strides=[2,2]", "float[1,3,8,8]", "yy", "CMP 192"},
        {"AveragePool", 11, "kernel_shape=[2,2] strides=[2,2]", "float[1,3,8,8]", "y", "ADD 192, DIV 48"},
        {"LpPool", 11, "kernel_shape=[2,2] strides=[2,2]", "float[1,3,8,8]", "y",
         "ADD 192, MUL 192, SQRT 48"},
        {"LpPool", 11, "kernel_shape=[2,2] strides=[2,2] p=1", "float[1,3,8,8]", "y", "ADD 192, CMP 192"},
        {"LpPool", 11, "kernel_shape=[2,2] strides=[2,2] p=3", "float[1,3,8,8]", "y",
         "ADD 192, CMP 192, POW 240"},
        {"GlobalMaxPool", 1, "", "float[1,3,8,8]", "y", "CMP 192"},
        {"GlobalLpPool", 2, "", "float[1,3,8,8]", "y", "ADD 192, MUL 192, SQRT 3"},
        {"com.microsoft:NhwcMaxPool", 1, "kernel_shape=[2,2] strides=[2,2]", "int8[1,8,8,3]", "y", "CMP 192"},
        {"com.microsoft.nchwc:AveragePool", 1, "kernel_shape=[2,2] strides=[2,2]", "float[1,3,8,8]", "y",
         "ADD 192, DIV 48"},
        {"com.microsoft:QLinearAveragePool", 1, "kernel_shape=[2,2] strides=[2,2]",
         "uint8[1,3,8,8] float[] uint8[] float[] uint8[]", "y", "ADD 240, MUL 48, CMP 96, RND 48"},
        {"com.microsoft:QLinearGlobalAveragePool", 1, "", "uint8[1,3,8,8] float[] uint8[] float[] uint8[]",
         "y", "ADD 195, MUL 3, CMP 6, RND 3"},
        {"MaxUnpool", 11, "kernel_shape=[2,2] strides=[2,2]", "float[1,1,2,2] int64[1,1,2,2]", "y",
         "nothing"},
        /* 5*8*2*2 results of at most ceil(20/2)^2 elements */
        {"MaxRoiPool", 1, "pooled_shape=[2,2]", "float[1,8,20,20] float[5,5]", "y", "CMP 16000, upper"},
        /* 5 regions of 1x1 with 2x2 points, 8 channels: 160 samples of 4 MUL + 3 ADD, 20 positions of 6 MUL +
           6 ADD + 2 RND, 160 additions and 40 products for the mean */
        {"RoiAlign", 10, "", "float[1,8,20,20] float[5,4] int64[5]", "y", "ADD 760, MUL 800, RND 40, est"},
        {"RoiAlign", 10, "mode=max sampling_ratio=1", "float[1,8,20,20] float[5,4] int64[5]", "y",
         "ADD 150, MUL 190, CMP 40, RND 10"},
        {"com.microsoft:CropAndResize", 1, "", "float[1,8,20,20] float[5,4] int32[5] int32[2]{1,1}", "y",
         "ADD 150, MUL 190, RND 10"},
    };
    (void)state;
    op_check_hists(rows, OC_COUNT(rows));
}

static void pool_strict_and_valid_options_reduce_counts(void **state)
{
    struct op_case t;
    (void)state;
    op_case_init(&t, "MaxPool", 12, "kernel_shape=[3] pads=[1,1]", "float[1,1,5]", "y");
    t.ctx.opt.strict_reduce = true;
    assert_int_equal(op_case_shape(&t), 0);
    op_case_cost(&t);
    assert_int_equal(t.total, 10); /* 5 windows of K - 1 */
    op_case_free(&t);
    op_case_init(&t, "MaxPool", 12, "kernel_shape=[3] pads=[1,1]", "float[1,1,5]", "y");
    t.ctx.opt.taps_valid = true;
    assert_int_equal(op_case_shape(&t), 0);
    op_case_cost(&t);
    assert_int_equal(t.total, 13); /* 15 taps, two of them in the padding */
    op_case_free(&t);
}

/* Few regions read only the samples: 5*8 results of 4 points of 4 taps. */
static void pool_roi_align_reads_only_sampled_elements(void **state)
{
    struct op_case t;
    (void)state;
    op_case_run(&t, "RoiAlign", 16, "sampling_ratio=2", "float[1,8,200,200] float[5,4] int64[5]", "y");
    assert_int_equal(t.rd[0], 5 * 8 * 4 * 4 * 4);
    op_case_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pool_infers_shapes),
        cmocka_unit_test(pool_literal_ceil_mode_keeps_windows_in_the_padding),
        cmocka_unit_test(pool_counts_operations),
        cmocka_unit_test(pool_strict_and_valid_options_reduce_counts),
        cmocka_unit_test(pool_roi_align_reads_only_sampled_elements),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
