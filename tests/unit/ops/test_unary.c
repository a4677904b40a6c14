#include "support/op_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void unary_infers_shapes(void **state)
{
    static const struct op_shape_row rows[] = {
        {"Relu", 1, "", "float[2,N]", "y", "float[2,N]"},
        {"Abs", 13, "", "int8[]", "y", "int8[]"},
        {"IsNaN", 9, "", "float16[3]", "y", "bool[3]"},
        {"Sqrt", 13, "", "float", "y", "float[...]"},
        {"Sqrt", 13, "", "?", "y", "?"},
        {"Clip", 6, "min=0.0 max=6.0", "float[4]", "y", "float[4]"},
        {"Clip", 13, "", "float[4] - float[]{6}", "y", "float[4]"},
        {"Dropout", 6, "is_test=1", "float[2,3]", "yy", "float[2,3] float[2,3]"},
        {"Dropout", 7, "", "float[2,3]", "yy", "float[2,3] float[2,3]"},
        {"Dropout", 10, "", "float[2,3]", "yy", "float[2,3] bool[2,3]"},
        {"Dropout", 12, "", "float[2,3] float[]{0.5} bool[]{true}", "yy", "float[2,3] bool[2,3]"},
    };
    (void)state;
    op_check_shapes(rows, OC_COUNT(rows));
}

/* Per element: cost-semantics 4.5. */
static void unary_counts_operations(void **state)
{
    static const struct op_hist_row rows[] = {
        {"Relu", 14, "", "float[10]", "y", "CMP 10"},
        {"Neg", 13, "", "float[10]", "y", "CMP 10"},
        {"Exp", 13, "", "float[10]", "y", "EXP 10"},
        {"Sinh", 9, "", "float[10]", "y", "TAN 10"},
        {"Cos", 7, "", "float[10]", "y", "SIN 10"},
        {"Ceil", 13, "", "float[10]", "y", "RND 10"},
        {"Reciprocal", 13, "", "float[10]", "y", "DIV 10"},
        {"Not", 1, "", "bool[10]", "y", "BIT 10"},
        {"LeakyRelu", 16, "", "float[10]", "y", "MUL 10, CMP 10"},
        {"Elu", 6, "", "float[10]", "y", "ADD 10, MUL 10, CMP 10, EXP 10"},
        {"Selu", 6, "", "float[10]", "y", "ADD 10, MUL 20, CMP 10, EXP 10"},
        {"Celu", 12, "", "float[10]", "y", "ADD 10, MUL 10, CMP 10, DIV 10, EXP 10"},
        {"Softplus", 1, "", "float[10]", "y", "ADD 10, EXP 10, LOG 10"},
        {"Softsign", 1, "", "float[10]", "y", "ADD 10, CMP 10, DIV 10"},
        {"HardSigmoid", 6, "", "float[10]", "y", "ADD 10, MUL 10, CMP 20"},
        {"HardSwish", 14, "", "float[10]", "y", "ADD 10, MUL 20, CMP 20"},
        {"Mish", 18, "", "float[10]", "y", "ADD 10, MUL 10, EXP 10, LOG 10, TANH 10"},
        {"Shrink", 9, "", "float[10]", "y", "ADD 10, CMP 20"},
        {"Swish", 24, "", "float[10]", "y", "MUL 10, SIG 10"},
        {"Swish", 24, "alpha=1.5", "float[10]", "y", "MUL 20, SIG 10"},
        {"Gelu", 20, "", "float[10]", "y", "ADD 10, MUL 30, ERF 10"},
        {"Gelu", 20, "approximate=tanh", "float[10]", "y", "ADD 20, MUL 60, TANH 10"},
        {"ScaledTanh", 1, "", "float[10]", "y", "MUL 20, TANH 10"},
        {"ParametricSoftplus", 1, "", "float[10]", "y", "ADD 10, MUL 20, EXP 10, LOG 10"},
        {"ImageScaler", 1, "", "float[10]", "y", "ADD 10, MUL 10"},
        /* one comparison for each given bound */
        {"Clip", 6, "min=0.0", "float[10]", "y", "CMP 10"},
        {"Clip", 6, "", "float[10]", "y", "nothing"},
        {"Clip", 13, "", "float[10] float[]{0} float[]{6}", "y", "CMP 20"},
        {"Clip", 13, "", "float[10] - float[]{6}", "y", "CMP 10"},
        /* Dropout trains before version 7 without is_test, from 12 on by an input */
        {"Dropout", 6, "", "float[10]", "y", "MUL 10, CMP 10, RNG 10"},
        {"Dropout", 6, "is_test=1", "float[10]", "y", "nothing, alias"},
        {"Dropout", 7, "", "float[10]", "y", "nothing, alias"},
        {"Dropout", 13, "", "float[10] float[]{0.5} bool[]{true}", "y", "MUL 10, CMP 10, RNG 10"},
        {"Dropout", 13, "", "float[10] float[]{0.5} bool[]{false}", "y", "nothing, alias"},
        {"Dropout", 13, "", "float[10] - bool[]", "y", "nothing, alias, est"},
        /* unknown sizes */
        {"Relu", 14, "", "float[N,2]", "y", "nothing, unknown"},
        {"Relu", 14, "", "float", "y", "nothing, unknown"},
        {"Relu", 14, "", "float[N,0]", "y", "nothing"},
    };
    (void)state;
    op_check_hists(rows, OC_COUNT(rows));
}

static void dropout_writes_its_mask(void **state)
{
    struct op_case t;
    (void)state;
    op_case_run(&t, "Dropout", 13, "", "float[10]", "yy");
    assert_false(t.cost.alias);
    assert_int_equal(t.rd_act, 0);
    assert_int_equal(t.wr, 10);
    op_case_free(&t);
}

static void unary_folds_values(void **state)
{
    static const struct op_fold_row rows[] = {
        {"Neg", 13, "", "int64[3]{1,-2,H}", "-1,2,-H"},
        {"Abs", 13, "", "int64[3]{-3,4,H}", "3,4,H"},
        {"Floor", 13, "", "float[2]{2.5,-2.5}", "2.0,-3.0"},
        {"Ceil", 13, "", "float[2]{2.5,-2.5}", "3.0,-2.0"},
        {"Round", 13, "", "float[4]{0.5,1.5,2.5,-1.5}", "0.0,2.0,2.0,-2.0"}, /* half to even */
        {"Sqrt", 13, "", "float[1]{16}", "4.0"},
        {"Reciprocal", 13, "", "float[1]{4}", "0.25"},
        {"Log", 13, "", "float[2]{1,0}", "0.0,?"},
        {"Not", 1, "", "bool[3]{true,false,?}", "0,1,?"},
        {"Clip", 13, "", "int64[3]{-5,3,50} int64[]{0} int64[]{10}", "0,3,10"},
        {"Floor", 13, "", "float[1]{H}", "(H)*1.0+0"},
        {"Relu", 14, "", "float[2]{3,-3}", "3.0,0.0"},
        {"Tanh", 13, "", "float[1]{3}", "none"},
        {"Dropout", 13, "", "float[1]{3}", "3.0"},
        {"Dropout", 13, "", "float[1]{3} float[]{0.5} bool[]{true}", "none"},
    };
    (void)state;
    op_check_folds(rows, OC_COUNT(rows));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unary_infers_shapes),
        cmocka_unit_test(unary_counts_operations),
        cmocka_unit_test(dropout_writes_its_mask),
        cmocka_unit_test(unary_folds_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
