#include "support/op_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void softmax_infers_shapes(void **state)
{
    static const struct op_shape_row rows[] = {
        {"Softmax", 1, "", "float[2,3,4]", "y", "float[2,3,4]"},
        {"Softmax", 11, "axis=3", "float[2,3,4]", "y",
         "float[2,3,4]"}, /* axis equal to the rank: one element per row */
        {"Softmax", 13, "axis=3", "float[2,3,4]", "y", "error: axis 3 is out of range for rank 3"},
        {"LogSoftmax", 13, "axis=-3", "float[2,3,4]", "y", "float[2,3,4]"},
        {"Hardmax", 13, "axis=-4", "float[2,3,4]", "y", "error: axis -4 is out of range for rank 3"},
        {"SoftmaxCrossEntropyLoss", 13, "", "float[8,10] int64[8]", "yy", "float[] float[8,10]"},
        {"SoftmaxCrossEntropyLoss", 13, "reduction=none", "float[8,10,5] int64[8,5]", "y", "float[8,5]"},
        {"NegativeLogLikelihoodLoss", 13, "reduction=sum", "float[8,10] int64[8]", "y", "float[]"},
        {"com.microsoft:BiasSoftmax", 1, "axis=1 is_inner_broadcast=1", "float[2,3,4] float[1,3,4]", "y",
         "float[2,3,4]"},
    };
    (void)state;
    op_check_shapes(rows, OC_COUNT(rows));
}

static void softmax_counts_operations(void **state)
{
    static const struct op_hist_row rows[] = {
        {"Softmax", 13, "", "float[2,3,4]", "y", "ADD 48, CMP 24, DIV 24, EXP 24"},
        {"Softmax", 11, "", "float[2,3,4]", "y", "ADD 48, CMP 24, DIV 24, EXP 24"},
        /* rows: from version 13 one axis, before it all axes from `axis` on */
        {"LogSoftmax", 13, "axis=1", "float[2,3,4]", "y", "ADD 72, CMP 24, EXP 24, LOG 8"},
        {"LogSoftmax", 11, "axis=1", "float[2,3,4]", "y", "ADD 72, CMP 24, EXP 24, LOG 2"},
        {"LogSoftmax", 13, "", "float[2,3,4]", "y", "ADD 72, CMP 24, EXP 24, LOG 6"},
        {"LogSoftmax", 1, "", "float[2,3,4]", "y", "ADD 72, CMP 24, EXP 24, LOG 2"},
        {"Hardmax", 13, "", "float[2,3,4]", "y", "CMP 24"},
        {"com.microsoft:BiasSoftmax", 1, "", "float[2,3,4] float[1,3,4]", "y",
         "ADD 72, CMP 24, DIV 24, EXP 24"},
        {"com.microsoft:QLinearSoftmax", 1, "", "uint8[2,12] float[] uint8[] float[] uint8[]", "y",
         "ADD 96, MUL 48, CMP 72, DIV 24, RND 24, EXP 24"},
        /* 8 labels of 10 classes: LogSoftmax 80 elements, 8 rows; pick 8, add 8, one division */
        {"SoftmaxCrossEntropyLoss", 13, "", "float[8,10] int64[8]", "y",
         "ADD 248, CMP 88, DIV 1, EXP 80, LOG 8"},
        {"SoftmaxCrossEntropyLoss", 13, "reduction=none", "float[8,10] int64[8]", "y",
         "ADD 240, CMP 88, EXP 80, LOG 8"},
        {"SoftmaxCrossEntropyLoss", 13, "reduction=sum", "float[8,10] int64[8] float[10]", "y",
         "ADD 248, MUL 16, CMP 88, EXP 80, LOG 8"},
        {"NegativeLogLikelihoodLoss", 13, "", "float[8,10] int64[8] float[10]", "y",
         "ADD 16, MUL 8, CMP 8, DIV 1"},
        {"NegativeLogLikelihoodLoss", 13, "", "float[8,10] int64[8]", "y", "ADD 8, CMP 8, DIV 1"},
    };
    (void)state;
    op_check_hists(rows, OC_COUNT(rows));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(softmax_infers_shapes),
                                       cmocka_unit_test(softmax_counts_operations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
