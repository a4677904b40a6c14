/* com.ms.internal.nhwc: the operator's rules on transposed types. */
#include "support/op_rows.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define N "com.ms.internal.nhwc:"

static const struct op_shape_row shapes[] = {
    {N "BatchNormalization", 15, "", "float[1,5,6,8] float[8] float[8] float[8] float[8]", "y",
     "float[1,5,6,8]"},
    {N "ConvTranspose", 11, "strides=[2,2] pads=[1,1,1,1]", "float[1,16,16,8] float[8,4,4,4]", "y",
     "float[1,32,32,4]"},
    {N "ConvTranspose", 11, "", "float[1,4,7] float[8,3,2]", "y",
     "error: 7 input channels do not match a weight of 8 channels"},
    {N "DepthToSpace", 13, "blocksize=2", "float[1,3,4,8]", "y", "float[1,6,8,2]"},
    {N "GlobalLpPool", 2, "", "float[2,3,4,8]", "y", "float[2,1,1,8]"},
    {N "GridSample", 16, "", "float[2,5,6,3] float[2,7,9,2]", "y", "float[2,7,9,3]"},
    {N "InstanceNormalization", 6, "", "float[2,5,6,3] float[3] float[3]", "y", "float[2,5,6,3]"},
    {N "LRN", 13, "size=3", "float[2,5,6,3]", "y", "float[2,5,6,3]"},
    {N "LpPool", 18, "kernel_shape=[2,2] strides=[2,2]", "float[2,6,8,3]", "y", "float[2,3,4,3]"},
    {N "MaxUnpool", 11, "kernel_shape=[2,2] strides=[2,2]", "float[1,2,2,3] int64[1,2,2,3]", "y",
     "float[1,4,4,3]"},
    {N "QLinearAveragePool", 1, "kernel_shape=[2,2] strides=[2,2]",
     "uint8[1,6,8,3] float[] uint8[] float[] uint8[]", "y", "uint8[1,3,4,3]"},
    {N "QLinearConv", 10, "pads=[1,1,1,1]",
     "uint8[1,8,9,3] float[] uint8[] int8[4,3,3,3] float[] int8[] float[] uint8[]", "y", "uint8[1,8,9,4]"},
    {N "QLinearConvTranspose", 1, "strides=[2,2]",
     "uint8[1,3,4,8] float[] uint8[] int8[8,5,2,2] float[] int8[] float[] uint8[]", "y", "uint8[1,6,8,5]"},
    {N "Resize", 19, "mode=linear", "float[1,4,5,3] - float[4]{1.0,2.0,2.0,1.0}", "y", "float[1,8,10,3]"},
    {N "SpaceToDepth", 13, "blocksize=2", "float[1,6,8,2]", "y", "float[1,3,4,8]"},
    /* an unknown rank stays unknown */
    {N "LRN", 13, "size=3", "float", "y", "float[...]"},
};

static const struct op_hist_row counts[] = {
    /* 240 elements of 8 channels: 2 per element, 5 per channel */
    {N "BatchNormalization", 15, "", "float[1,5,6,8] float[8] float[8] float[8] float[8]", "y",
     "ADD 256, MUL 248, DIV 8, SQRT 8"},
    /* with the activation that was merged */
    {N "BatchNormalization", 15, "activation=Relu", "float[1,5,6,8] float[8] float[8] float[8] float[8]", "y",
     "ADD 256, MUL 248, CMP 240, DIV 8, SQRT 8"},
    /* 8 channels in, 256 places, 4 * 16 taps */
    {N "ConvTranspose", 11, "strides=[2,2] pads=[1,1,1,1]", "float[1,16,16,8] float[8,4,4,4] float[4]", "y",
     "MAC 131072, ADD 4096"},
    {N "DepthToSpace", 13, "blocksize=2", "float[1,3,4,8]", "y", "nothing"},
    {N "GlobalLpPool", 2, "p=1", "float[2,3,4,8]", "y", "ADD 192, CMP 192"},
    {N "GridSample", 16, "", "float[2,5,6,3] float[2,7,9,2]", "y", "ADD *"},
    /* 180 elements in 2 * 3 rows */
    {N "InstanceNormalization", 6, "", "float[2,5,6,3] float[3] float[3]", "y",
     "ADD 726, MUL 540, DIV 18, SQRT 6"},
    {N "LRN", 13, "size=3", "float[2,5,6,3]", "y", "ADD 720, MUL 360, DIV 180, POW 180"},
    {N "LpPool", 18, "kernel_shape=[2,2] strides=[2,2] p=1", "float[2,6,8,3]", "y", "ADD 288, CMP 288"},
    {N "MaxUnpool", 11, "kernel_shape=[2,2] strides=[2,2]", "float[1,2,2,3] int64[1,2,2,3]", "y", "nothing"},
    /* 36 results of 4 taps; requantized: 4 per result */
    {N "QLinearAveragePool", 1, "kernel_shape=[2,2] strides=[2,2]",
     "uint8[1,6,8,3] float[] uint8[] float[] uint8[]", "y", "*"},
    /* 288 results of 27 taps */
    {N "QLinearConv", 10, "pads=[1,1,1,1]",
     "uint8[1,8,9,3] float[] uint8[]{0} int8[4,3,3,3] float[] int8[] float[] uint8[]", "y", "MAC 7776, *"},
    {N "QLinearConvTranspose", 1, "strides=[2,2]",
     "uint8[1,3,4,8] float[] uint8[]{0} int8[8,5,2,2] float[] int8[] float[] uint8[]", "y", "MAC 1920, *"},
    {N "Resize", 19, "mode=nearest", "float[1,4,5,3] - float[4]{1.0,2.0,2.0,1.0}", "y", "nothing"},
    {N "SpaceToDepth", 13, "blocksize=2", "float[1,6,8,2]", "y", "nothing"},
};

static void nhwc_infers_shapes(void **state)
{
    (void)state;
    op_check_shapes(shapes, OC_COUNT(shapes));
}

static void nhwc_counts_operations(void **state)
{
    (void)state;
    op_check_hists(counts, OC_COUNT(counts));
}

/* The same counts as the operator on transposed data: each row of `counts` without the prefix. */
static void nhwc_counts_as_the_operator_of_the_same_name(void **state)
{
    static const struct {
        const char *op;
        int opset;
        const char *attrs, *last, *first;
    } rows[] = {
        {"ConvTranspose", 11, "strides=[2,2]", "float[1,5,6,8] float[8,4,3,3]",
         "float[1,8,5,6] float[8,4,3,3]"},
        {"InstanceNormalization", 6, "", "float[2,5,6,3] float[3] float[3]",
         "float[2,3,5,6] float[3] float[3]"},
        {"GridSample", 16, "", "float[2,5,6,3] float[2,7,9,2]", "float[2,3,5,6] float[2,7,9,2]"},
        {"Resize", 19, "mode=linear", "float[1,4,5,3] - float[4]{1.0,2.0,2.0,1.0}",
         "float[1,4,5,3] - float[4]{1.0,2.0,2.0,1.0}"},
        {"QLinearConv", 10, "pads=[1,1,1,1]",
         "uint8[1,8,9,3] float[] uint8[] int8[4,3,3,3] float[] int8[] float[] uint8[]",
         "uint8[1,3,8,9] float[] uint8[] int8[4,3,3,3] float[] int8[] float[] uint8[]"},
    };
    (void)state;
    for (size_t i = 0; i < OC_COUNT(rows); i++) {
        char name[64];
        struct op_case a, b;
        snprintf(name, sizeof(name), N "%s", rows[i].op);
        op_case_run(&a, name, rows[i].opset, rows[i].attrs, rows[i].last, "y");
        op_case_run(&b, rows[i].op, rows[i].opset, rows[i].attrs, rows[i].first, "y");
        assert_int_equal(a.rc, 0);
        assert_true(b.total > 0);
        assert_int_equal(a.total, b.total);
        assert_int_equal(a.macs, b.macs);
        op_case_free(&a);
        op_case_free(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nhwc_infers_shapes),
                                       cmocka_unit_test(nhwc_counts_operations),
                                       cmocka_unit_test(nhwc_counts_as_the_operator_of_the_same_name)};
    return cmocka_run_group_tests_name("ops/nhwc", tests, NULL, NULL);
}
