#include "support/op_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* A view keeps the value, unless the new shape has another number of elements. */
static void views_keep_folded_values(void **state)
{
    static const struct op_fold_row rows[] = {
        {"Identity", 16, "", "int64[2]{3,4}", "3,4"},
        {"Reshape", 14, "", "int64[2]{3,4} int64[2]{2,1}", "3,4"},
        {"Reshape", 14, "", "int64[A]{3,4} int64[1]{5}", "none"},
        {"Reshape", 14, "", "int64[A]{3,4} int64[1]{1000000}", "none"},
    };
    (void)state;
    op_check_folds(rows, OC_COUNT(rows));
}

static uint64_t prims_of(const char *name)
{
    const struct oc_prims *list = oc_activation_prims(name);
    uint64_t n = 0;
    for (; list && list->n; list++)
        n += list->n;
    return n;
}

/* Sums of cost-semantics 4.5; letter case is ignored. */
static void activation_functions_expand_to_primitives(void **state)
{
    (void)state;
    assert_int_equal(prims_of("Relu"), 1);
    assert_int_equal(prims_of("RELU"), 1);
    assert_int_equal(prims_of("gelu"), 5);
    assert_int_equal(prims_of("FastGelu"), 9);
    assert_int_equal(prims_of("silu"), 2);
    assert_int_equal(prims_of("HardSwish"), 5);
    assert_int_equal(prims_of("Celu"), 5);
    assert_non_null(oc_activation_prims("None"));
    assert_int_equal(prims_of("None"), 0);
    assert_null(oc_activation_prims("Rel"));
    assert_null(oc_activation_prims(""));
    assert_null(oc_activation_prims(NULL));
}

/* An overflow gives 0 and is recorded; an empty axis makes a product 0 whatever the other factors are. */
static void cost_arithmetic_records_overflow_and_unknown(void **state)
{
    struct op_case t;
    (void)state;
    op_case_init(&t, "Relu", 14, "", "float[A,0] float[A,3] float[5,3]", "y");
    assert_int_equal(oc_c_in(&t.ctx, 0), 0);
    assert_false(t.ctx.unknown);
    assert_int_equal(oc_c_in(&t.ctx, 2), 15);
    assert_int_equal(oc_c_in(&t.ctx, 7), 0); /* absent */
    assert_int_equal(oc_c_in(&t.ctx, 1), 0);
    assert_true(t.ctx.unknown);
    assert_false(t.ctx.upper);
    assert_int_equal(oc_c_dim(&t.ctx, oc_dim_fresh(t.exprs, "n", 9)), 9);
    assert_true(t.ctx.upper);
    assert_int_equal(oc_c_bytes(&t.ctx, OC_DT_INT4, 5), 3);
    assert_false(t.ctx.overflow);
    assert_int_equal(oc_c_mul(&t.ctx, UINT64_MAX, 2), 0);
    assert_true(t.ctx.overflow);
    op_case_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(views_keep_folded_values),
        cmocka_unit_test(activation_functions_expand_to_primitives),
        cmocka_unit_test(cost_arithmetic_records_overflow_and_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
