#include "support/op_rows.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const struct op_shape_row shapes[] = {
    /* shape-inference section 8 l */
    {"DFT", 20, "onesided=1", "float[1,1024,1]", "y", "float[1,513,2]"},
    {"DFT", 20, "onesided=1 inverse=1", "float[1,513,2]", "y", "float[1,1024,1]"},
    {"DFT", 20, "onesided=1 inverse=1", "float[1,513,2] int64[]!{1025}", "y", "float[1,1025,1]"},
    {"DFT", 17, "onesided=1 inverse=1", "float[1,513,2]", "y",
     "error: onesided and inverse exclude each other"},
    {"DFT", 17, "", "float[B,16,8,1]", "y", "float[B,16,8,2]"},
    {"DFT", 17, "onesided=1 axis=2", "float[B,16,8,1]", "y", "float[B,16,5,2]"},
    {"DFT", 17, "", "float[1,16,1] int64[]!{20}", "y", "float[1,20,2]"},
    {"DFT", 17, "onesided=1", "float[1,N,1]", "y", "float[1,floor(N/2) + 1,2]"},
    {"DFT", 20, "", "float[1,16,8,2] - int64[]!{1}", "y", "float[1,16,8,2]"},
    {"DFT", 20, "onesided=1", "float[1,16,8,1] - int64[]!{-3}", "y", "float[1,9,8,2]"},
    {"DFT", 20, "onesided=1", "float[1,16,1] - int64[]", "y", "float[node.0,node.1,2]"},
    {"DFT", 20, "", "float[1,16,1] - int64[]", "y", "float[1,16,2]"},
    {"DFT", 20, "", "float[1,16,1] - int64[]!{2}", "y", "error: axis 2 is not a signal axis of rank 3"},
    {"DFT", 20, "", "float[4]", "y", "error: needs a signal axis *"},
    {"DFT", 20, "", "float[1,16,1] int64[]", "y", "float[1,dft_length,2]"},
    {"DFT", 20, "", "float[1,16,1] int64[]!{-1}", "y", "error: invalid transform length -1"},
    {"DFT", 20, "", "float", "y", "float[...]"},
    {"STFT", 17, "", "float[1,16000,1] int64[]!{160} - int64[]!{400}", "y", "float[1,98,201,2]"},
    {"STFT", 17, "onesided=0", "float[2,16000,1] int64[]!{160} float[400]!", "y", "float[2,98,400,2]"},
    {"STFT", 17, "", "float[2,100] int64[]!{160} float[400]!", "y", "float[2,0,201,2]"},
    {"STFT", 17, "", "float[2,100,1] int64[] float[64]!", "y", "float[2,node.1,33,2]"},
    {"STFT", 17, "", "float[2,100,1] int64[]!{0} float[64]!", "y",
     "error: the frame length or the step is not positive"},
    {"STFT", 17, "", "float[2,N,1] int64[]!{10} float[20]!", "y", "float[2,floor(N/10) - 1,11,2]"},
    {"MelWeightMatrix", 17, "", "int64[]!{8} int64[]!{1024} int64[]!{16000} float[]!{0} float[]!{8000}", "y",
     "float[513,8]"},
    {"MelWeightMatrix", 17, "output_datatype=11", "int64[]!{8} int64[] int64[]! float[]! float[]!", "y",
     "double[node.0,8]"},
    {"MelWeightMatrix", 17, "output_datatype=99", "int64[]!{8} int64[] int64[]! float[]! float[]!", "y",
     "error: invalid output_datatype 99"},
    {"com.microsoft:Rfft", 1, "signal_ndim=1 onesided=1 normalized=0", "float[2,3,16]", "y",
     "float[2,3,9,2]"},
    {"com.microsoft:Rfft", 1, "signal_ndim=3", "float[4,4]", "y",
     "error: signal_ndim 3 does not fit an input of rank 2"},
    {"com.microsoft:Irfft", 1, "signal_ndim=1 onesided=1 normalized=0", "float[2,3,9,2]", "y",
     "float[2,3,16]"},
    {"com.microsoft:Irfft", 1, "signal_ndim=1", "float[2,3,0,2]", "y", "error: the half spectrum has no *"},
    {"com.microsoft:Irfft", 1, "signal_ndim=1", "float", "y", "float[...]"},
};

static const struct op_cost_row costs[] = {
    /* 16 log2 16 * 5 = 320 for complex data: 3 transforms */
    {"DFT", 17, "", "float[3,16,2]", "y", 0, 960, 384, 0, 384},
    /* along axis 1 of [2,16,8]: 16 transforms of length 16, real: 160 each */
    {"DFT", 17, "", "float[2,16,8,1]", "y", 0, 2560, 1024, 0, 2048},
    /* 5 * 10 * log2 10 = 166.096..., rounded 166, real: 83 */
    {"DFT", 20, "onesided=1", "float[1,10,1]", "y", 0, 83, 40, 0, 48},
    /* to a real signal of 10 points: the same transform */
    {"DFT", 20, "onesided=1 inverse=1", "float[1,6,2]", "y", 0, 83, 48, 0, 40},
    {"DFT", 20, "", "float[7,1,2]", "y", 0, 0, 56, 0, 56},
    /* 98 frames of 400: 98 * (400 + round(5*400*log2 400)/2); 5*400*8.643856... = 17287.71: 17288/2 = 8644 */
    {"STFT", 17, "", "float[1,16000,1] int64[]!{160} float[400]!", "y", 0, 98 * (400 + 8644), 64000, 1600,
     98 * 201 * 2 * 4},
    /* no products without a window; complex input in full: 3 frames of 5*8*3 = 120 */
    {"STFT", 17, "onesided=0", "float[1,16,2] int64[]!{4} - int64[]!{8}", "y", 0, 360, 128, 0, 3 * 8 * 2 * 4},
    {"MelWeightMatrix", 17, "", "int64[]{4} int64[]{16} int64[] float[] float[]", "y", 0, 9 * 4 * 8, 0, 0,
     144},
    /* 6 rows of 16 real points: 6 * 160 */
    {"com.microsoft:Rfft", 1, "signal_ndim=1", "float[2,3,16]", "y", 0, 960, 384, 0, 2 * 3 * 9 * 2 * 4},
    /* an image of 8 x 16: 8 real rows of 160, then 9 complex columns of 5*8*3 = 120 */
    {"com.microsoft:Rfft", 1, "signal_ndim=2", "float[8,16]", "y", 0, 8 * 160 + 9 * 120, 512, 0, 576},
    {"com.microsoft:Irfft", 1, "signal_ndim=2", "float[8,9,2]", "y", 0, 8 * 160 + 9 * 120, 576, 0, 512},
};

static void signal_infers_shapes(void **state)
{
    (void)state;
    op_check_shapes(shapes, OC_COUNT(shapes));
}

static void signal_counts_operations(void **state)
{
    (void)state;
    op_check_costs(costs, OC_COUNT(costs));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(signal_infers_shapes),
                                       cmocka_unit_test(signal_counts_operations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
