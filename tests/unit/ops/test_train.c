#include "support/op_rows.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define T "ai.onnx.preview.training:"

static const struct op_shape_row shapes[] = {
    /* R, T, X, G, V, H: new X, V and H */
    {T "Adam", 1, "", "float[] int64[] float[3] float[3] float[3] float[3]", "yyy",
     "float[3] float[3] float[3]"},
    {T "Adam", 1, "",
     "float[] int64[] float[3] double[N] float[3] double[N] float[3] double[N] float[3] double[N]", "yyyyyy",
     "float[3] double[N] float[3] double[N] float[3] double[N]"},
    {T "Adam", 1, "", "float[] int64[] float[3] float[3] float[3]", "yyy",
     "error: 5 inputs are not 4 for every parameter"},
    {T "Adagrad", 1, "", "float[] int64[] float[2] float[3] float[2] float[3] float[2] float[3]", "yyyy",
     "float[2] float[3] float[2] float[3]"},
    {T "Momentum", 1, "", "float[] int64[] float[2,2] float[2,2] float[2,2]", "yy", "float[2,2] float[2,2]"},
    {T "Gradient", 1, "xs=[\"a\",\"b\"] y=c", "float[2] float[3] float[4]", "yy", "float[2] float[3]"},
    {T "Gradient", 1, "y=c", "float[2]", "y", "error: xs names 0 of 1 inputs for 1 outputs"},
};

static const struct op_cost_row costs[] = {
    /* 14 operations for each of 5 + 7 elements; reads R, T and 4 tensors of each, writes 3 */
    {T "Adam", 1, "",
     "float[] int64[] float[5] float[7] float[5] float[7] float[5] float[7] float[5] float[7]", "yyyyyy", 0,
     14 * 12, 12 + 4 * 48, 0, 3 * 48},
    {T "Adagrad", 1, "", "float[] int64[] float[5] float[5] float[5]", "yy", 0, 9 * 5, 12 + 60, 0, 40},
    {T "Momentum", 1, "mode=standard", "float[] int64[] float[5] float[5] float[5]", "yy", 0, 5 * 5, 12 + 60,
     0, 40},
};

static void train_infers_shapes(void **state)
{
    (void)state;
    op_check_shapes(shapes, OC_COUNT(shapes));
}

static void train_counts_operations(void **state)
{
    (void)state;
    op_check_costs(costs, OC_COUNT(costs));
}

static void gradient_cost_is_unknown(void **state)
{
    (void)state;
    struct op_case t;
    op_case_run(&t, T "Gradient", 1, "xs=[\"a\"] y=c", "float[2] float[3]", "y");
    assert_true(t.ctx.unknown);
    assert_string_equal(t.ctx.assumption, "the node does not define the work of the gradient");
    op_case_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(train_infers_shapes),
                                       cmocka_unit_test(train_counts_operations),
                                       cmocka_unit_test(gradient_cost_is_unknown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
