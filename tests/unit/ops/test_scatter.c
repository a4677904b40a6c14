#include "support/op_rows.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const struct op_shape_row shapes[] = {
    {"Scatter", 9, "axis=1", "float[3,N] int64[3,2] float[3,2]", "y", "float[3,N]"},
    {"ScatterElements", 11, "axis=-1", "float[3,4] int64[3,2] float[3,2]", "y", "float[3,4]"},
    {"ScatterElements", 11, "", "float[3,4] int64[3,2] float[3]", "y",
     "error: indices {3,2} and updates {3} *"},
    {"ScatterND", 11, "", "float[3,4] int64[5,1] float[5,4]", "y", "float[3,4]"},
    {"ScatterND", 11, "", "float[3,4] int64[5,3] float[5]", "y",
     "error: indices {5,3} have more index components than *"},
    {"TensorScatter", 24, "", "float16[1,8,S,128] float16[1,8,1,128] int64[1]", "y", "float16[1,8,S,128]"},
};

static const struct op_fold_row folds[] = {
    {"ScatterElements", 13, "", "int64[3]{1,2,N} int64[2]!{-1,0} int64[2]!{7,8}", "8,2,7"},
    {"ScatterElements", 18, "reduction=add", "int64[3]{1,2,N} int64[2]!{-1,0} int64[2]!{7,8}", "none"},
    {"ScatterND", 13, "", "int64[3]{1,2,N} int64[1,1]!{1} int64[1]{B}", "1,B,N"},
    {"ScatterND", 13, "", "int64[3]{1,2,N} int64[1,1]!{3} int64[1]{B}", "none"},
};

static const struct op_cost_row costs[] = {
    {"ScatterElements", 13, "", "float[3,4] int64[3,1] float[3,1]", "y", 0, 0, 48 + 24 + 12, 0, 48},
    {"ScatterElements", 18, "reduction=max", "float[3,4] int64[3,1] float[3,1]", "y", 0, 3, 84, 0, 48},
};

static void scatter_infers_shapes(void **state)
{
    (void)state;
    op_check_shapes(shapes, OC_COUNT(shapes));
}

static void scatter_folds_values(void **state)
{
    (void)state;
    op_check_folds(folds, OC_COUNT(folds));
}

static void scatter_counts_operations(void **state)
{
    (void)state;
    op_check_costs(costs, OC_COUNT(costs));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(scatter_infers_shapes),
                                       cmocka_unit_test(scatter_folds_values),
                                       cmocka_unit_test(scatter_counts_operations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
