#include "support/op_rows.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define Q "qonnx.custom_op.general:"

static const struct op_shape_row shapes[] = {
    {Q "Quant", 1, "signed=1 narrow=0 rounding_mode=ROUND", "float[2,3] float[] float[] float[]", "y",
     "float[2,3]"},
    {"onnx.brevitas:Quant", 1, "", "float[2,3] float[] float[] float[]", "y", "float[2,3]"},
    {"finn.custom_op.general:MultiThreshold", 1, "", "float[1,4,8,8] float[4,7]", "y", "float[1,4,8,8]"},
};

static const struct op_hist_row counts[] = {
    {Q "Quant", 1, "", "float[2,3] float[]! float[]!{0.0} float[]!{4.0}", "y", "MUL 6, CMP 12, DIV 6, RND 6"},
    {Q "Quant", 1, "", "float[2,3] float[]! float[]!{3.0} float[]!{4.0}", "y",
     "ADD 12, MUL 6, CMP 12, DIV 6, RND 6"},
    {Q "IntQuant", 1, "", "float[2,3] float[]! float[]!{0.0} float[]!{4.0}", "y",
     "MUL 6, CMP 12, DIV 6, RND 6"},
    {Q "BipolarQuant", 1, "", "float[2,3] float[]!", "y", "MUL 6, CMP 6"},
    {Q "Trunc", 1, "rounding_mode=FLOOR", "float[2,3] float[] float[]!{0.0} float[] float[]", "y",
     "MUL 6, DIV 12, RND 12"},
    {Q "Trunc", 2, "rounding_mode=FLOOR", "float[2,3] float[] float[]!{1.0} float[] float[] float[]", "y",
     "ADD 12, MUL 6, CMP 12, DIV 12, RND 12"},
    /* 256 elements, 7 thresholds */
    {Q "MultiThreshold", 1, "", "float[1,4,8,8] float[4,7]", "y", "ADD 1792, CMP 1792"},
    {Q "MultiThreshold", 1, "", "float[1,4,8,8] float", "y", "nothing, unknown"},
};

static void qonnx_infers_shapes(void **state)
{
    (void)state;
    op_check_shapes(shapes, OC_COUNT(shapes));
}

static void qonnx_counts_operations(void **state)
{
    (void)state;
    op_check_hists(counts, OC_COUNT(counts));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(qonnx_infers_shapes),
                                       cmocka_unit_test(qonnx_counts_operations)};
    return cmocka_run_group_tests_name("ops/qonnx", tests, NULL, NULL);
}
