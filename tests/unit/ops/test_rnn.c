#include "support/op_rows.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const struct op_shape_row shapes[] = {
    {"LSTM", 1, "hidden_size=4", "float[S,B,3] float[1,16,3] float[1,16,4]", "yyy",
     "float[S,1,B,4] float[1,B,4] float[1,B,4]"},
    {"LSTM", 7, "direction=bidirectional", "float[5,2,3] float[2,16,3] float[2,16,4]", "-y",
     "- float[2,2,4]"},
    {"LSTM", 14, "hidden_size=4 layout=1", "float[B,S,3] float[1,16,3] float[1,16,4]", "yyy",
     "float[B,S,1,4] float[B,1,4] float[B,1,4]"},
    {"LSTM", 14, "hidden_size=4", "float[5,2,3] float[1,12,3] float[1,16,4]", "y",
     "error: weight {1,12,3}, expected {1,16,3}"},
    {"LSTM", 14, "", "float[5,2] float[1,12,3] float[1,16,4]", "y", "error: input {5,2} must have rank 3"},
    {"com.microsoft:DynamicQuantizeLSTM", 1, "hidden_size=4", "float[5,2,3] int8[1,3,16] int8[1,4,16]", "yyy",
     "float[5,1,2,4] float[1,2,4] float[1,2,4]"},
    {"GRU", 14, "hidden_size=4", "float[5,2,3] float[1,12,3] float[1,12,4]", "yy",
     "float[5,1,2,4] float[1,2,4]"},
    {"RNN", 14, "hidden_size=4 direction=reverse", "float[5,2,3] float[1,4,3] float[1,4,4]", "yy",
     "float[5,1,2,4] float[1,2,4]"},
    /* weights in the other order */
    {"com.microsoft:DynamicQuantizeLSTM", 1, "", "float[S,B,4] int8[1,4,20] int8[1,5,20]", "yyy",
     "float[S,1,B,5] float[1,B,5] float[1,B,5]"},
    {"com.microsoft:DynamicQuantizeLSTM", 1, "hidden_size=5", "float[3,2,4] int8[1,20,4] int8[1,5,20]", "y",
     "error: weight {1,20,4}, expected {1,4,20}"},
    {"com.microsoft:AttnLSTM", 1, "hidden_size=5", "float[3,2,4] float[1,20,10] float[1,20,5]", "yyy",
     "float[3,1,2,5] float[1,2,5] float[1,2,5]"},
};

static const struct op_fold_row folds[] = {
    {"RNN", 14, "", "float[5,2,3] float[1,4,3] float[1,4,4]", "none"},
};

/* t = 5*2 = 10 steps, I = 3, H = 4, u = 40; f32 */
#define XWR(g) "float[5,2,3] float[1," g ",3]! float[1," g ",4]!"
static const struct op_cost_row costs[] = {
    /* MAC 40*7; ADD 40; TANH 40 */
    {"RNN", 14, "hidden_size=4", XWR("4"), "y", 280, 560 + 80, 120, 112, 160},
    /* bias: ADD 40 more; two Affine (2) instead of Tanh */
    {"RNN", 14, "hidden_size=4 activations=[\"Affine\"]", XWR("4") " float[1,8]!", "y", 280, 560 + 160, 120,
     144, 160},
    /* MAC 40*3*7; ADD 40*(3+2), SIG 80, TANH 40, MUL 120; clip 2*3*40 */
    {"GRU", 14, "hidden_size=4 clip=1.5", XWR("12"), "y", 840, 1680 + 200 + 120 + 120 + 240, 120, 336, 160},
    /* MAC 40*4*7 in int8; ADD 40*5, SIG 120, TANH 80, MUL 120; 10 steps of 3 + 4 numbers quantized, 7 each */
    {"com.microsoft:DynamicQuantizeLSTM", 1, "hidden_size=4",
     "float[5,2,3] int8[1,3,16]! int8[1,4,16]! - - - - - float[1]! int8[1]! float[1]! int8[1]!", "y", 1120,
     2240 + 200 + 120 + 80 + 120 + 490, 120, 48 + 64 + 10, 160},
    /* known lengths: 3 + 4 steps instead of 10, u = 28; MAC 28*28; ADD 28*5, SIG 84, TANH 56, MUL 84; the
     * lengths are 8 bytes of constants */
    {"LSTM", 14, "hidden_size=4", XWR("16") " - int32[2]!{3,4}", "y", 784, 1568 + 140 + 84 + 56 + 84, 120,
     448 + 8, 160},
    /* input_forget: one sigmoid less; peepholes: 3 MUL + 3 ADD */
    {"LSTM", 14, "hidden_size=4 input_forget=1", XWR("16") " - - - - float[1,12]!", "y", 1120,
     2240 + 200 + 80 + 80 + 120 + 240, 120, 448 + 48, 160},
    /* t = 6, I = 4, H = 5: MAC 30*4*9; ADD 30*9, SIG 90, TANH 60, MUL 90; x and h quantized, 7 for each of
       6*9 */
    {"com.microsoft:DynamicQuantizeLSTM", 1, "hidden_size=5",
     "float[3,2,4] uint8[1,4,20]! uint8[1,5,20]! float[1,40]!", "y", 1080, 2160 + 270 + 90 + 60 + 90 + 378,
     96, 80 + 100 + 160, 120},
    /* the same sizes without bias, the input joined with a context of 6: MAC 30*4*15, ADD 30*5. Attention on
       8 steps of a memory 6 deep, 7 wide: keys 2*8*6*7, queries 6*5*7; 48 scores: 7 sums, tanh and products
       each, softmax 5, context 6 products */
    {"com.microsoft:AttnLSTM", 1, "hidden_size=5",
     "float[3,2,4] float[1,20,10]! float[1,20,5]! - - - - - float[1,5,7]! float[1,6,7]! float[1,7]! "
     "float[2,8,6]",
     "y", 1800 + 672 + 210 + 336 + 288, 2 * 3306 + 150 + 240 + 2 * 336 + 240, 96 + 384,
     800 + 400 + 140 + 168 + 28, 120},
};

static void rnn_infers_shapes(void **state)
{
    (void)state;
    op_check_shapes(shapes, OC_COUNT(shapes));
}

static void rnn_folds_values(void **state)
{
    (void)state;
    op_check_folds(folds, OC_COUNT(folds));
}

static void rnn_counts_operations(void **state)
{
    (void)state;
    op_check_costs(costs, OC_COUNT(costs));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rnn_infers_shapes),
                                       cmocka_unit_test(rnn_folds_values),
                                       cmocka_unit_test(rnn_counts_operations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
