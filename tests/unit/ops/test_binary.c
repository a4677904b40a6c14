#include "support/op_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void binary_infers_shapes(void **state)
{
    static const struct op_shape_row rows[] = {
        {"Add", 14, "", "float[4,1,8] float[3,1]", "y", "float[4,3,8]"},
        {"Add", 14, "", "float[N,3] float[1,3]", "y", "float[N,3]"},
        {"Add", 14, "", "float[N,3] float[4,1]", "y", "float[4,3]"},
        {"Add", 14, "", "float[2,3] float[4]", "y", "error: shapes {2,3} and {4} do not broadcast"},
        {"Add", 14, "", "float[] float[]", "y", "float[]"},
        {"Add", 14, "", "float[0,3] float[1,3]", "y", "float[0,3]"},
        {"Add", 14, "", "float float[3]", "y", "float[...]"},
        /* until version 6 the second operand is aligned with the first at `axis` */
        {"Add", 6, "broadcast=1 axis=1", "float[2,3,4,5] float[3,4]", "y", "float[2,3,4,5]"},
        {"Mul", 1, "broadcast=1", "float[2,3] float[3]", "y", "float[2,3]"},
        {"Less", 1, "broadcast=1 axis=0", "float[2,3] float[2]", "y", "bool[2,3]"},
        {"Less", 9, "", "float[2,3] float[3]", "y", "bool[2,3]"},
        {"And", 7, "", "bool[2,1] bool[3]", "y", "bool[2,3]"},
        {"Pow", 12, "", "float[2,3] int64[3]", "y", "float[2,3]"},
        {"Where", 9, "", "bool[2,1] float16[3] float16[]", "y", "float16[2,3]"},
        {"Max", 6, "", "float[2,3] float[2,3] float[2,3]", "y", "float[2,3]"},
        {"Max", 8, "", "float[2,1] float[3] float[4,1,1]", "y", "float[4,2,3]"},
        {"Sum", 8, "", "float[5]", "y", "float[5]"},
        {"PRelu", 9, "", "float[2,3,4] float[3,1]", "y", "float[2,3,4]"},
        {"SwiGLU", 28, "", "float[2,8] float[2,8]", "y", "float[2,8]"},
        {"BitShift", 11, "direction=LEFT", "uint8[3] uint8[1]", "y", "uint8[3]"},
    };
    (void)state;
    op_check_shapes(rows, OC_COUNT(rows));
}

static void binary_counts_operations(void **state)
{
    static const struct op_hist_row rows[] = {
        {"Add", 14, "", "float[4,1,8] float[3,1]", "y", "ADD 96"},
        {"Sub", 14, "", "int32[5] int32[5]", "y", "ADD 5"},
        {"Div", 14, "", "float[5] float[5]", "y", "DIV 5"},
        {"Mod", 13, "", "int32[5] int32[5]", "y", "DIV 5"},
        {"Equal", 13, "", "float[5] float[5]", "y", "CMP 5"},
        {"Xor", 7, "", "bool[5] bool[5]", "y", "BIT 5"},
        {"BitwiseAnd", 18, "", "uint8[5] uint8[5]", "y", "BIT 5"},
        {"Where", 16, "", "bool[5] float[5] float[5]", "y", "CMP 5"},
        {"PRelu", 16, "", "float[5] float[1]", "y", "MUL 5, CMP 5"},
        {"SwiGLU", 28, "", "float[5] float[5]", "y", "MUL 10, SIG 5"},
        /* k inputs: k - 1 steps per element */
        {"Max", 13, "", "float[5] float[5] float[5]", "y", "CMP 10"},
        {"Sum", 13, "", "float[5]", "y", "nothing"},
        {"Mean", 13, "", "float[5] float[5] float[5]", "y", "ADD 10, DIV 5"},
        {"Mean", 13, "", "float[5]", "y", "nothing"},
        /* powers with a known exponent can be cheaper */
        {"Pow", 15, "", "float[5] float[]", "y", "POW 5"},
        {"Pow", 15, "", "float[5] float[]{2}", "y", "MUL 5"},
        {"Pow", 15, "", "float[5] int64[]{3}", "y", "MUL 10"},
        {"Pow", 15, "", "float[5] float[]{0.5}", "y", "SQRT 5"},
        {"Pow", 15, "", "float[5] float[]{-1}", "y", "DIV 5"},
        {"Pow", 15, "", "float[5] float[]{1}", "y", "nothing"},
        {"Pow", 15, "", "float[5] float[]{2.5}", "y", "POW 5"},
        {"Pow", 15, "", "float[2] float[2]{2,2}", "y", "MUL 2"},
        {"Pow", 15, "", "float[2] float[2]{2,3}", "y", "POW 2"},
    };
    (void)state;
    op_check_hists(rows, OC_COUNT(rows));
}

/* The class decides the kind: integers and booleans count as operations, not FLOPs. */
static void binary_splits_flops_and_integer_operations_by_class(void **state)
{
    static const struct {
        const char *op, *in;
        uint64_t flops, ops;
    } rows[] = {
        {"Add", "float[6] float[6]", 6, 0},     {"Add", "int64[6] int64[6]", 0, 6},
        {"Greater", "float[6] float[6]", 6, 0}, {"Greater", "int32[6] int32[6]", 0, 6},
        {"And", "bool[6] bool[6]", 0, 6},       {"Where", "bool[6] float16[6] float16[6]", 6, 0},
    };
    (void)state;
    for (size_t i = 0; i < OC_COUNT(rows); i++) {
        struct op_case t;
        op_case_run(&t, rows[i].op, 16, "", rows[i].in, "y");
        assert_int_equal(t.flops, rows[i].flops);
        assert_int_equal(t.ops, rows[i].ops);
        op_case_free(&t);
    }
}

static void binary_reads_a_tensor_used_twice_once(void **state)
{
    struct op_case t;
    (void)state;
    op_case_run(&t, "Mul", 14, "", "float[10] @0", "y");
    assert_int_equal(t.rd_act, 40);
    op_case_free(&t);
}

static void binary_folds_values(void **state)
{
    static const struct op_fold_row rows[] = {
        {"Add", 14, "", "int64[2]{1,H} int64[1]{2}", "3,H + 2"},
        {"Sub", 14, "", "int64[1]{H} int64[1]{H}", "0"},
        {"Mul", 14, "", "int64[]{2} int64[2]{3,H}", "6,2*H"},
        {"Div", 14, "", "int64[2]{7,-7} int64[1]{2}", "3,-3"}, /* truncates */
        {"Div", 14, "", "int64[1]{H} int64[1]{2}", "floor(H/2)"},
        {"Div", 14, "", "int64[1]{2*H} int64[1]{2}", "H"},
        {"Div", 14, "", "int64[1]{7} int64[1]{0}", "?"},
        {"Div", 14, "", "float[1]{1} float[1]{3}", "0.3333333432674408"}, /* rounded as float32 */
        {"Mod", 13, "", "int64[2]{-7,7} int64[2]{3,-3}", "2,-2"},
        {"Mod", 13, "fmod=1", "int64[2]{-7,7} int64[2]{3,-3}", "-1,1"},
        {"Mul", 14, "", "float[1]{H} float[1]{0.5}", "(H)*0.5+0"},
        {"Max", 13, "", "int64[1]{3} int64[1]{9} int64[1]{5}", "9"},
        {"Min", 13, "", "float[2]{3,8} float[1]{5}", "3.0,5.0"},
        {"Pow", 15, "", "int64[1]{2} int64[1]{10}", "1024"},
        {"Pow", 15, "", "int64[1]{10} int64[1]{40}", "?"},           /* too large */
        {"Equal", 13, "", "int64[3]{4,-1,H} int64[1]{-1}", "0,1,0"}, /* a size is never -1 */
        {"Equal", 13, "", "int64[1]{H} int64[1]{5}", "?"},
        {"Less", 13, "", "int64[2]{H,3} int64[1]{0}", "0,0"},
        {"And", 7, "", "bool[3]{true,false,?} bool[3]{true,?,true}", "1,0,?"},
        {"Or", 7, "", "bool[2]{?,false} bool[2]{true,false}", "1,0"},
        {"Where", 9, "", "bool[3]{true,false,?} int64[3]{1,2,3} int64[3]{7,8,3}", "1,8,3"},
        {"Where", 9, "", "bool[2]{true,false} int64[2]{1,2} int64[2]", "1,?"},
        {"Add", 14, "", "int64[2]{1,2} int64[2]", "?,?"},
        {"Add", 14, "", "int64[2] int64[2]", "none"},
        {"Add", 6, "broadcast=1", "int64[2]{1,2} int64[]{3}", "4,5"},
    };
    (void)state;
    op_check_folds(rows, OC_COUNT(rows));
}

/* The exporters' idiom for Expand: Where(target == -1, 1, target). */
static void binary_folds_the_expand_idiom_of_exporters(void **state)
{
    (void)state;
    assert_string_equal(op_fold("Equal", 13, "", "int64[3]{B,-1,S} int64[1]{-1}"), "0,1,0");
    assert_string_equal(op_fold("Where", 9, "", "bool[3]{false,true,false} int64[3]{1,1,1} int64[3]{B,-1,S}"),
                        "B,1,S");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(binary_infers_shapes),
        cmocka_unit_test(binary_counts_operations),
        cmocka_unit_test(binary_splits_flops_and_integer_operations_by_class),
        cmocka_unit_test(binary_reads_a_tensor_used_twice_once),
        cmocka_unit_test(binary_folds_values),
        cmocka_unit_test(binary_folds_the_expand_idiom_of_exporters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
