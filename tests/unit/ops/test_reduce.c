#include "support/op_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void reduce_infers_shapes(void **state)
{
    static const struct op_shape_row rows[] = {
        {"ReduceSum", 1, "axes=[1]", "float[2,3,4]", "y", "float[2,1,4]"},
        {"ReduceSum", 11, "axes=[-1] keepdims=0", "float[2,3,4]", "y", "float[2,3]"},
        {"ReduceSum", 13, "keepdims=0", "float[2,3,4] int64[2]{0,2}", "y", "float[3]"},
        {"ReduceMean", 13, "axes=[0,1]", "float[2,3,4]", "y", "float[1,1,4]"},
        {"ReduceMean", 18, "", "float[2,3,4] int64[2]{0,1}", "y", "float[1,1,4]"},
        {"ReduceMax", 13, "", "float[2,3,4]", "y", "float[1,1,1]"},
        {"ReduceMax", 13, "keepdims=0", "float[2,3,4]", "y", "float[]"},
        {"ReduceMax", 18, "keepdims=0", "float[2,3,4] int64[0]{}", "y", "float[]"},
        {"ReduceMax", 18, "noop_with_empty_axes=1", "float[2,3,4] int64[0]{}", "y", "float[2,3,4]"},
        {"ReduceMax", 18, "noop_with_empty_axes=1", "float[2,3,4]", "y", "float[2,3,4]"},
        {"ReduceMax", 18, "keepdims=0", "float[2,3,4] int64[2]", "y", "float[node.0]"}, /* unknown axes */
        {"ReduceMax", 18, "", "float[2,3,4] int64[2]", "y", "float[node.0,node.1,node.2]"},
        {"ReduceMax", 18, "keepdims=0", "float[2,3,4] int64[N]", "y", "float[...]"},
        {"ReduceMax", 13, "keepdims=0", "float", "y", "float[]"},
        {"ReduceMax", 13, "axes=[3]", "float[2,3,4]", "y", "error: axis 3 is out of range for rank 3"},
        {"ReduceL2", 1, "axes=[1,1]", "float[2,3]", "y", "float[2,1]"},
        {"com.microsoft:ReduceSumInteger", 1, "axes=[1] keepdims=0", "uint8[2,3]", "y", "int32[2]"},
        {"com.microsoft:QLinearReduceMean", 1, "axes=[1] keepdims=0",
         "uint8[2,3] float[] uint8[] float[] int8[]", "y", "int8[2]"},
        {"ArgMax", 1, "axis=1", "float[2,3,4]", "y", "int64[2,1,4]"},
        {"ArgMin", 13, "axis=-1 keepdims=0", "float[2,3,4]", "y", "int64[2,3]"},
        {"ArgMax", 13, "axis=3", "float[2,3,4]", "y", "error: axis 3 is out of range for rank 3"},
        {"TopK", 1, "k=2", "float[2,5]", "yy", "float[2,2] int64[2,2]"},
        {"TopK", 10, "axis=0", "float[5,2] int64[1]{3}", "yy", "float[3,2] int64[3,2]"},
        {"TopK", 11, "", "float[2,5] int64[1]{K}", "y", "float[2,K]"},
        {"TopK", 11, "", "float[2,5] int64[1]", "y", "float[2,node.1]"},
        {"TopK", 11, "", "float[2,5] int64[1]{6}", "y", "error: k is 6 but the axis has 5 elements"},
        {"CumSum", 11, "", "float[2,5] int64[]{1}", "y", "float[2,5]"},
        {"CumProd", 26, "", "int32[2,5] int64[]{1}", "y", "int32[2,5]"},
        {"com.microsoft:CDist", 1, "metric=euclidean", "float[7,3] float[5,3]", "y", "float[7,5]"},
    };
    (void)state;
    op_check_shapes(rows, OC_COUNT(rows));
}

/* 24 elements to 6 results */
static void reduce_counts_operations(void **state)
{
    static const struct op_hist_row rows[] = {
        {"ReduceSum", 11, "axes=[-1]", "float[2,3,4]", "y", "ADD 24"},
        {"ReduceMean", 11, "axes=[-1]", "float[2,3,4]", "y", "ADD 24, DIV 6"},
        {"ReduceMax", 11, "axes=[-1]", "float[2,3,4]", "y", "CMP 24"},
        {"ReduceProd", 11, "axes=[-1]", "float[2,3,4]", "y", "MUL 24"},
        {"ReduceL1", 11, "axes=[-1]", "float[2,3,4]", "y", "ADD 24, CMP 24"},
        {"ReduceL2", 11, "axes=[-1]", "float[2,3,4]", "y", "ADD 24, MUL 24, SQRT 6"},
        {"ReduceSumSquare", 11, "axes=[-1]", "float[2,3,4]", "y", "ADD 24, MUL 24"},
        {"ReduceLogSum", 11, "axes=[-1]", "float[2,3,4]", "y", "ADD 24, LOG 6"},
        {"ReduceLogSumExp", 11, "axes=[-1]", "float[2,3,4]", "y", "ADD 24, EXP 24, LOG 6"},
        /* no axes and noop: an alias, except for the operation on each element */
        {"ReduceSum", 13, "noop_with_empty_axes=1", "float[2,3,4]", "y", "nothing, alias"},
        {"ReduceMean", 18, "noop_with_empty_axes=1", "float[2,3,4]", "y", "nothing, alias"},
        {"ReduceSumSquare", 18, "noop_with_empty_axes=1", "float[2,3,4]", "y", "MUL 24"},
        {"ReduceL2", 18, "noop_with_empty_axes=1", "float[2,3,4]", "y", "MUL 24, SQRT 24"},
        {"ReduceLogSum", 18, "noop_with_empty_axes=1", "float[2,3,4]", "y", "LOG 24"},
        {"ReduceMean", 18, "", "float[2,3,4] int64[1]", "y", "ADD 24, DIV 24, upper"}, /* unknown axes */
        {"ReduceMax", 18, "keepdims=0", "float[2,3,4] int64[2]", "y", "CMP 24, unknown"},
        {"com.microsoft:ReduceSumInteger", 1, "axes=[1]", "uint8[2,3]", "y", "ADD 6"},
        {"com.microsoft:QLinearReduceMean", 1, "axes=[1]", "uint8[2,3] float[] uint8[] float[] int8[]", "y",
         "ADD 8, MUL 2, CMP 4, RND 2"},
        {"ArgMax", 13, "axis=-1", "float[2,3,4]", "y", "CMP 24"},
        /* clog2(3) = 2 comparisons per element, at least 1 */
        {"TopK", 11, "", "float[2,5] int64[1]{3}", "yy", "CMP 20"},
        {"TopK", 11, "", "float[2,5] int64[1]{1}", "yy", "CMP 10"},
        {"TopK", 11, "", "float[2,5] int64[1]{4}", "-y", "CMP 20"},
        {"CumSum", 11, "", "float[2,5] int64[]{1}", "y", "ADD 10"},
        {"CumProd", 26, "", "float[2,5] int64[]{1}", "y", "MUL 10"},
        {"com.microsoft:CDist", 1, "metric=euclidean", "float[7,3] float[5,3]", "y", "MAC 105, SQRT 35"},
        {"com.microsoft:CDist", 1, "metric=sqeuclidean", "float[7,3] float[5,3]", "y", "MAC 105"},
        {"ReduceSum", 11, "axes=[0]", "float[0,3]", "y", "nothing"},
    };
    (void)state;
    op_check_hists(rows, OC_COUNT(rows));
}

static void reduce_strict_option_counts_n_minus_1(void **state)
{
    struct op_case t;
    (void)state;
    op_case_init(&t, "ReduceMean", 11, "axes=[-1]", "float[2,3,4]", "y");
    t.ctx.opt.strict_reduce = true;
    assert_int_equal(op_case_shape(&t), 0);
    op_case_cost(&t);
    assert_int_equal(op_case_prim(&t, OC_ADD), 18); /* 6 rows of 4 - 1 */
    op_case_free(&t);
}

static void reduce_folds_values(void **state)
{
    static const struct op_fold_row rows[] = {
        {"ReduceProd", 11, "keepdims=0", "int64[3]{2,H,3}", "6*H"},
        {"ReduceSum", 13, "", "int64[3]{2,H,3}", "H + 5"},
        {"ReduceMax", 11, "", "int64[3]{2,9,3}", "9"},
        {"ReduceMin", 11, "", "float[3]{2,9,-3}", "-3.0"},
        {"ReduceMean", 11, "", "float[4]{1,2,3,4}", "2.5"},
        {"ReduceMean", 11, "", "int64[2]{1,2}", "none"},
        {"ReduceProd", 11, "", "int64[2]{2,?}", "?"},
        {"ReduceProd", 11, "axes=[0]", "int64[2,2]{1,2,3,4}", "none"},
        {"ReduceL2", 11, "", "float[2]{3,4}", "none"},
        {"ArgMax", 13, "", "float[3]{1,5,5}", "1"},
        {"ArgMax", 13, "select_last_index=1", "float[3]{1,5,5}", "2"},
        {"ArgMin", 13, "", "int64[3]{4,-2,7}", "1"},
        {"TopK", 11, "", "int64[4]{3,9,1,9} int64[1]{3}", "9,9,3"},
        {"TopK", 11, "largest=0", "float[4]{3,9,1,9} int64[1]{2}", "1.0,3.0"},
        {"CumSum", 11, "", "int64[3]{1,H,2} int64[]{0}", "1,H + 1,H + 3"},
        {"CumSum", 11, "exclusive=1", "int64[3]{1,2,3} int64[]{0}", "0,1,3"},
        {"CumSum", 11, "reverse=1", "int64[3]{1,2,3} int64[]{0}", "6,5,3"},
        {"CumSum", 11, "reverse=1 exclusive=1", "int64[3]{1,2,3} int64[]{0}", "5,3,0"},
        {"CumProd", 26, "", "float[3]{2,3,4} int64[]{0}", "2.0,6.0,24.0"},
    };
    (void)state;
    op_check_folds(rows, OC_COUNT(rows));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reduce_infers_shapes),
        cmocka_unit_test(reduce_counts_operations),
        cmocka_unit_test(reduce_strict_option_counts_n_minus_1),
        cmocka_unit_test(reduce_folds_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
