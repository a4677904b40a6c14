#include "support/op_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void conv_infers_shapes(void **state)
{
    static const struct op_shape_row rows[] = {
        {"Conv", 1, "kernel_shape=[3,3]", "float[1,3,8,8] float[4,3,3,3]", "y", "float[1,4,6,6]"},
        {"Conv", 11, "", "float[1,3,8] float[4,3,3]", "y", "float[1,4,6]"},
        {"Conv", 11, "", "float[1,3,8,9,10] float[4,3,3,3,3]", "y", "float[1,4,6,7,8]"},
        {"Conv", 11, "strides=[2,2] auto_pad=SAME_UPPER", "float[1,3,7,8] float[4,3,3,3]", "y",
         "float[1,4,4,4]"},
        {"Conv", 11, "strides=[2,2] auto_pad=VALID", "float[1,3,7,8] float[4,3,3,3]", "y", "float[1,4,3,3]"},
        {"Conv", 11, "dilations=[2,2] pads=[2,2,2,2]", "float[1,3,8,8] float[4,3,3,3]", "y",
         "float[1,4,8,8]"},
        {"Conv", 11, "pads=[0,1,2,3]", "float[1,3,8,8] float[4,3,3,3]", "y", "float[1,4,8,10]"},
        {"Conv", 11, "strides=[2,2] pads=[3,3,3,3]", "float[N,3,H,W] float[64,3,7,7]", "y",
         "float[N,64,floor((H - 1)/2) + 1,floor((W - 1)/2) + 1]"},
        {"Conv", 11, "", "float[1,3,8,8] float", "y", "float[1,node.1,node.2,node.3]"},
        {"Conv", 11, "kernel_shape=[3,3]", "float[1,3,8,8] float", "y", "float[1,node.1,6,6]"},
        {"Conv", 11, "", "float float[4,3,3,3]", "y", "float[node.0,4,node.2,node.3]"},
        {"Conv", 11, "", "float[1,3,2,2] float[4,3,3,3]", "y", "error: a window of 3 does not fit*"},
        {"Conv", 11, "", "float[1,5,8,8] float[4,3,3,3]", "y",
         "error: 5 input channels in 1 groups do not match a weight of 3 channels"},
        {"Conv", 11, "group=2", "float[1,6,8,8] float[5,3,3,3]", "y", "error: 5 output channels*"},
        {"Conv", 11, "group=0", "float[1,6,8,8] float[5,3,3,3]", "y", "error: invalid group 0"},
        {"Conv", 11, "strides=[0,1]", "float[1,3,8,8] float[4,3,3,3]", "y", "error: strides: 0"},
        {"Conv", 11, "strides=[1]", "float[1,3,8,8] float[4,3,3,3]", "y",
         "error: strides has 1 elements, expected 2"},
        {"Conv", 11, "kernel_shape=[5,3]", "float[1,3,8,8] float[4,3,3,3]", "y", "error: kernel_shape is 5*"},
        {"Conv", 11, "auto_pad=SOMETIMES", "float[1,3,8,8] float[4,3,3,3]", "y",
         "error: auto_pad 'SOMETIMES'"},
        {"Conv", 11, "", "float[1,3,8] float[4,3,3,3]", "y",
         "error: input rank 3 differs from weight rank 4"},
        {"ConvInteger", 10, "", "uint8[1,3,8,8] int8[4,3,3,3]", "y", "int32[1,4,6,6]"},
        {"QLinearConv", 10, "", "uint8[1,3,8,8] float[] uint8[] int8[4,3,3,3] float[] int8[] float[] int8[]",
         "y", "int8[1,4,6,6]"},
        {"com.microsoft:QLinearConv", 1, "channels_last=1",
         "uint8[1,8,8,3] float[] uint8[] int8[4,3,3,3] float[] int8[] float[] uint8[]", "y",
         "uint8[1,6,6,4]"},
        {"com.microsoft:NhwcConv", 1, "", "float[1,8,8,3] float[4,3,3,3]", "y", "float[1,6,6,4]"},
        {"com.microsoft.nchwc:Conv", 1, "pads=[1,1,1,1]", "float[1,3,8,8] float[16,3,3,3]", "y",
         "float[1,16,8,8]"},
        {"DeformConv", 19, "", "float[1,3,8,8] float[4,3,3,3] float[1,18,6,6]", "y", "float[1,4,6,6]"},
        {"ConvTranspose", 11, "strides=[2,2] pads=[1,1,1,1]", "float[1,8,16,16] float[8,4,4,4]", "y",
         "float[1,4,32,32]"},
        {"ConvTranspose", 11, "strides=[2,2] pads=[1,1,1,1] output_padding=[1,1]",
         "float[1,8,16,16] float[8,4,4,4]", "y", "float[1,4,33,33]"},
        {"ConvTranspose", 11, "strides=[2,2] output_shape=[35,35]", "float[1,8,16,16] float[8,4,4,4]", "y",
         "float[1,4,35,35]"},
        {"ConvTranspose", 1, "strides=[2,2] output_shape=[1,4,35,35]", "float[1,8,16,16] float[8,4,4,4]", "y",
         "float[1,4,35,35]"},
        {"ConvTranspose", 11, "strides=[3,3] auto_pad=SAME_UPPER", "float[1,1,16,16] float[1,1,1,1]", "y",
         "float[1,1,46,46]"},
        {"ConvTranspose", 11, "group=2", "float[1,8,4] float[8,3,2]", "y", "float[1,6,5]"},
        {"ConvTranspose", 11, "", "float[1,8,4] float[7,3,2]", "y",
         "error: 8 input channels do not match a weight of 7 channels"},
        {"com.microsoft:ConvTransposeWithDynamicPads", 1, "", "float[1,8,4] float[8,3,3] int64[2]{1,1}", "y",
         "float[1,3,4]"},
        {"com.microsoft:ConvTransposeWithDynamicPads", 1, "", "float[1,8,4] float[8,3,3] int64[2]", "y",
         "float[1,3,node.2]"},
        {"com.microsoft:QLinearConvTranspose", 1, "strides=[2,2]",
         "uint8[1,8,3,4] float[] uint8[] int8[8,5,2,2] float[] int8[] float[] int8[]", "y", "int8[1,5,6,8]"},
        {"com.microsoft:QLinearConvTranspose", 1, "",
         "uint8[1,7,3,4] float[] uint8[] int8[8,5,2,2] float[] int8[] float[] int8[]", "y",
         "error: 7 input channels do not match a weight of 8 channels"},
        {"Col2Im", 18, "", "float[1,5,5] int64[2]{5,5} int64[2]{1,5}", "y", "float[1,1,5,5]"},
        {"Col2Im", 18, "", "float[2,12,9] int64[2] int64[2]{2,2}", "y", "float[2,3,node.2,node.3]"},
    };
    (void)state;
    op_check_shapes(rows, OC_COUNT(rows));
}

static void conv_counts_operations(void **state)
{
    static const struct op_hist_row rows[] = {
        /* 4*6*6 results of 3*3*3 taps */
        {"Conv", 11, "", "float[1,3,8,8] float[4,3,3,3]", "y", "MAC 3888"},
        {"Conv", 11, "", "float[1,3,8,8] float[4,3,3,3] float[4]", "y", "MAC 3888, ADD 144"},
        {"Conv", 11, "group=3", "float[1,3,8,8] float[6,1,3,3]", "y", "MAC 1944"},
        /* 96 elements in 5 channels of 4 taps; zero point per element, bias and requantization per result */
        {"com.microsoft:QLinearConvTranspose", 1, "strides=[2,2]",
         "uint8[1,8,3,4] float[] uint8[]!{3} int8[8,5,2,2]! float[] int8[]!{0} float[] uint8[] int32[5]", "y",
         "MAC 1920, ADD *"},
        {"Conv", 11, "", "float[0,3,8,8] float[4,3,3,3]", "y", "nothing"},
        {"Conv", 11, "", "float[N,3,8,8] float[4,3,3,3]", "y", "nothing, unknown"},
        {"com.microsoft:FusedConv", 1, "activation=HardSigmoid activation_params=[0.2,0.5]",
         "float[1,3,8,8] float[4,3,3,3] float[4]", "y", "MAC 3888, ADD 288, MUL 144, CMP 288"},
        {"com.microsoft:NhwcConv", 1, "", "float[1,8,8,3] float[4,3,3,3] float[4]", "y", "MAC 3888, ADD 144"},
        {"com.microsoft.nchwc:Conv", 1, "activation=Relu",
         "float[1,3,8,8] float[4,3,3,3] float[4] float[1,4,6,6]", "y", "MAC 3888, ADD 288, CMP 144"},
        {"ConvInteger", 10, "", "uint8[1,3,8,8] int8[4,3,3,3]! uint8[]{1}", "y", "MAC 3888, ADD 192"},
        {"ConvInteger", 10, "", "uint8[1,3,8,8] int8[4,3,3,3]! uint8[]{0}", "y", "MAC 3888"},
        /* each of 1*8*4 elements contributes to 3*2 positions */
        {"ConvTranspose", 11, "group=2", "float[1,8,4] float[8,3,2] float[6]", "y", "MAC 192, ADD 30"},
        {"com.microsoft:ConvTransposeWithDynamicPads", 1, "",
         "float[1,8,4] float[8,3,3] int64[2]{1,1} float[3]", "y", "MAC 288, ADD 12"},
        {"Col2Im", 18, "", "float[1,5,5] int64[2]{5,5} int64[2]{1,5}", "y", "ADD 25"},
    };
    (void)state;
    op_check_hists(rows, OC_COUNT(rows));
}

static uint64_t macs(const char *op, const char *attrs, const char *in, bool valid)
{
    struct op_case t;
    op_case_init(&t, op, 11, attrs, in, "y");
    t.ctx.opt.taps_valid = valid;
    assert_int_equal(op_case_shape(&t), 0);
    assert_int_equal(op_case_cost(&t), 0);
    uint64_t n = t.macs;
    op_case_free(&t);
    return n;
}

/* Property 4: never more than all taps, equal exactly when no tap falls into the padding. */
static void conv_valid_taps_exclude_padding(void **state)
{
    static const struct {
        const char *op, *attrs, *in;
        uint64_t all, valid;
    } rows[] = {
        {"Conv", "", "float[1,1,5] float[1,1,3]", 9, 9},
        /* windows at -1..1, 0..2, ..., 3..5: the outer two lose one tap each */
        {"Conv", "pads=[1,1]", "float[1,1,5] float[1,1,3]", 15, 13},
        /* dilated: taps at -2,0,2 / -1,1,3 / 0,2,4 / 1,3,5 / 2,4,6 */
        {"Conv", "pads=[2,2] dilations=[2]", "float[1,1,5] float[1,1,3]", 15, 11},
        {"Conv", "auto_pad=SAME_UPPER strides=[2]", "float[1,1,4] float[1,1,3]", 6, 5}, /* pad 1 at the end */
        {"Conv", "auto_pad=SAME_LOWER strides=[2]", "float[1,1,4] float[1,1,3]", 6, 5},
        {"ConvTranspose", "strides=[2]", "float[1,1,4] float[1,1,3]", 12, 12},
        {"ConvTranspose", "strides=[2] pads=[1,1]", "float[1,1,4] float[1,1,3]", 12,
         10}, /* one cropped on each side */
        {"ConvTranspose", "strides=[2] output_shape=[7]", "float[1,1,4] float[1,1,3]", 12, 10},
    };
    (void)state;
    for (size_t i = 0; i < OC_COUNT(rows); i++) {
        assert_int_equal(macs(rows[i].op, rows[i].attrs, rows[i].in, false), rows[i].all);
        assert_int_equal(macs(rows[i].op, rows[i].attrs, rows[i].in, true), rows[i].valid);
    }
}

/* The same counted tap by tap, over many sizes. */
static void conv_valid_taps_equal_a_count_by_enumeration(void **state)
{
    (void)state;
    for (int in = 3; in < 9; in++)
        for (int k = 1; k < 4; k++)
            for (int s = 1; s < 4; s++)
                for (int p = 0; p < 3; p++)
                    for (int d = 1; d < 3; d++) {
                        char attrs[64], shapes[64];
                        int out = (in + 2 * p - (k - 1) * d - 1) / s + 1;
                        uint64_t n = 0;
                        if (in + 2 * p < (k - 1) * d + 1)
                            continue;
                        for (int o = 0; o < out; o++)
                            for (int t = 0; t < k; t++)
                                n += o * s - p + t * d >= 0 && o * s - p + t * d < in;
                        snprintf(attrs, sizeof(attrs), "strides=[%d] pads=[%d,%d] dilations=[%d]", s, p, p,
                                 d);
                        snprintf(shapes, sizeof(shapes), "float[1,1,%d] float[1,1,%d]", in, k);
                        assert_int_equal(macs("Conv", attrs, shapes, true), n);
                        assert_int_equal(macs("Conv", attrs, shapes, false), (uint64_t)(out * k));
                    }
}

/* Property 6: g groups are g convolutions of 1/g of the channels. Property 2: twice the batch doubles every
 * count. */
static void conv_cost_is_linear_in_groups_and_batch(void **state)
{
    (void)state;
    uint64_t one = macs("Conv", "", "float[1,3,8,8] float[2,3,3,3]", false);
    assert_int_equal(macs("Conv", "group=4", "float[1,12,8,8] float[8,3,3,3]", false), 4 * one);
    assert_int_equal(macs("Conv", "", "float[2,3,8,8] float[2,3,3,3]", false), 2 * one);
    assert_int_equal(macs("Conv", "group=12", "float[1,12,8,8] float[12,1,3,3]", false),
                     12 * macs("Conv", "", "float[1,1,8,8] float[1,1,3,3]", false));
}

/* A weight whose header declares an absurd kernel must not cost time. */
static void conv_absurd_kernel_is_counted_in_constant_time(void **state)
{
    struct op_case t;
    (void)state;
    op_case_init(&t, "Conv", 11, "pads=[1000000000,1000000000]",
                 "float[1,1,1000000000] float[1,1,1500000000]", "y");
    t.ctx.opt.taps_valid = true;
    assert_int_equal(op_case_shape(&t), 0);
    assert_int_equal(op_case_cost(&t), 0);
    assert_true(t.ctx.upper);
    op_case_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conv_infers_shapes),
        cmocka_unit_test(conv_counts_operations),
        cmocka_unit_test(conv_valid_taps_exclude_padding),
        cmocka_unit_test(conv_valid_taps_equal_a_count_by_enumeration),
        cmocka_unit_test(conv_cost_is_linear_in_groups_and_batch),
        cmocka_unit_test(conv_absurd_kernel_is_counted_in_constant_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
