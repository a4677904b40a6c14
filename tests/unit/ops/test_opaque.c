#include "support/op_rows.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const char *const opaque[] = {"com.microsoft:EPContext",
                                     "com.microsoft:Snpe",
                                     "com.microsoft:SampleOp",
                                     "com.microsoft:BifurcationDetector",
                                     "ATen",
                                     "GRUUnit"};

static void opaque_cost_is_unknown_with_a_reason(void **state)
{
    (void)state;
    for (size_t i = 0; i < OC_COUNT(opaque); i++) {
        struct op_case t;
        op_case_run(&t, opaque[i], 1, "", "float[2] float[3] int64[1] int64[4]", "y");
        assert_int_equal(t.rc, 0);
        assert_true(t.ctx.unknown);
        assert_string_equal(t.ctx.assumption, "the model does not define what the operator computes");
        assert_true(t.ctx.op->flags & OC_F_NO_FOLD); /* also without inputs */
        op_case_free(&t);
    }
}

static const struct op_shape_row shapes[] = {
    {"com.microsoft:EPContext", 1, "", "float[2]", "yy", "? ?"},
    {"com.microsoft:EPContext", 1, "", "", "y", "?"},
    {"com.microsoft:BifurcationDetector", 1, "", "int64[9] int64[4] int64[]", "yy", "int64[tokens] int64[]"},
    {"com.microsoft:MemcpyToHost", 1, "", "float[2]", "y", "float[2]"},
};

static const struct op_cost_row costs[] = {
    {"com.microsoft:MemcpyToHost", 1, "", "float[2]", "y", 0, 0, 8, 0, 8},
};

static void opaque_infers_shapes(void **state)
{
    (void)state;
    op_check_shapes(shapes, OC_COUNT(shapes));
}

static void opaque_counts_operations(void **state)
{
    (void)state;
    op_check_costs(costs, OC_COUNT(costs));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(opaque_cost_is_unknown_with_a_reason),
                                       cmocka_unit_test(opaque_infers_shapes),
                                       cmocka_unit_test(opaque_counts_operations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
