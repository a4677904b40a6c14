#include "support/op_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void matmul_infers_shapes(void **state)
{
    static const struct op_shape_row rows[] = {
        {"MatMul", 13, "", "float[2,3] float[3,4]", "y", "float[2,4]"},
        {"MatMul", 13, "", "float[3] float[3,4]", "y", "float[4]"},
        {"MatMul", 13, "", "float[2,3] float[3]", "y", "float[2]"},
        {"MatMul", 13, "", "float[5,2,3] float[3]", "y", "float[5,2]"},
        {"MatMul", 13, "", "float[7,1,2,3] float[5,3,4]", "y", "float[7,5,2,4]"},
        {"MatMul", 13, "", "float[B,S,768] float[768,64]", "y", "float[B,S,64]"},
        {"MatMul", 13, "", "float[2,3] float[4,5]", "y", "error: inner dimensions differ: 3 and 4"},
        {"MatMul", 13, "", "float[2,2,3] float[3,3,5]", "y", "error: batch dimensions*"},
        {"MatMul", 13, "", "float[] float[3]", "y", "error: an operand is a scalar"},
        {"MatMul", 13, "", "float float[3,4]", "y", "float[...]"},
        {"Gemm", 13, "", "float[2,3] float[3,4]", "y", "float[2,4]"},
        {"Gemm", 13, "transA=1 transB=1", "float[3,2] float[4,3] float[4]", "y", "float[2,4]"},
        {"Gemm", 6, "broadcast=1", "float[2,3] float[3,4] float[4]", "y", "float[2,4]"},
        {"Gemm", 13, "", "float[2,3,4] float[4,5]", "y", "error: operands must be matrices*"},
        {"Gemm", 13, "", "float float[4,5]", "y", "float[node.0,5]"},
        {"MatMulInteger", 10, "", "uint8[2,3] int8[3,4]", "y", "int32[2,4]"},
        {"QLinearMatMul", 10, "", "uint8[2,3] float[] uint8[] int8[3,4] float[] int8[] float[] int8[]", "y",
         "int8[2,4]"},
        {"Det", 11, "", "float[5,3,3]", "y", "float[5]"},
        {"Det", 11, "", "float[5]", "y", "error: needs matrices, got rank 1"},
        {"com.microsoft:FusedMatMul", 1, "transA=1", "float[2,4,3] float[2,4,5]", "y", "float[2,3,5]"},
        /* transBatchA: axis 0 becomes the row axis, the axes before it are the batch */
        {"com.microsoft:FusedMatMul", 1, "transBatchA=1 transBatchB=1", "float[2,7,3] float[3,7,5]", "y",
         "float[7,2,5]"},
        {"com.microsoft:TransposeMatMul", 1, "transB=1", "float[2,3] float[4,3]", "y", "float[2,4]"},
        {"com.microsoft:MatMulNBits", 1, "K=64 N=10 bits=4 block_size=32",
         "float16[2,5,64] uint8[10,2,16] float16[20]", "y", "float16[2,5,10]"},
        {"com.microsoft:MatMulNBits", 1, "K=64 N=10 bits=4 block_size=32",
         "float16[2,5,32] uint8[10,2,16] float16[20]", "y",
         "error: the last axis of the input differs from K: 32 and 64"},
        {"com.microsoft:MatMulBnb4", 1, "K=64 N=10 block_size=64 quant_type=1",
         "float[3,64] uint8[320] float[10]", "y", "float[3,10]"},
        {"com.microsoft:MatMulBnb4", 1, "K=64 N=10 block_size=64 quant_type=1 transB=0",
         "float[3,10] uint8[320] float[10]", "y", "float[3,64]"},
        {"com.microsoft:MatMulBlockQuantizedFp4Weight", 1, "",
         "float16[3,64] uint8[10,32] uint8[10,4] float[]", "y", "float16[3,10]"},
        {"com.microsoft:DynamicQuantizeMatMul", 1, "", "float[2,3] int8[3,4] float[1]", "y", "float[2,4]"},
        {"com.microsoft:MatMulIntegerToFloat", 1, "", "uint8[2,3] int8[3,4] float16[1] float16[1]", "y",
         "float16[2,4]"},
        {"com.microsoft:QGemm", 1, "transB=1", "uint8[2,3] float[] uint8[] int8[4,3] float[] int8[]", "y",
         "float[2,4]"},
        {"com.microsoft:QGemm", 1, "", "uint8[2,2,3] float[] uint8[] int8[3,4] float[] int8[]", "y",
         "error: operands must be matrices*"},
    };
    (void)state;
    op_check_shapes(rows, OC_COUNT(rows));
}

/* {2,3} x {3,4}: 24 MAC, 8 results */
static void matmul_counts_operations(void **state)
{
    static const struct op_hist_row rows[] = {
        {"MatMul", 13, "", "float[2,3] float[3,4]", "y", "MAC 24"},
        {"MatMul", 13, "", "float[3] float[3]", "y", "MAC 3"},
        {"MatMul", 13, "", "float[0,3] float[3,4]", "y", "nothing"},
        {"MatMul", 13, "", "float[N,3] float[3,4]", "y", "nothing, unknown"},
        {"Gemm", 13, "", "float[2,3] float[3,4]", "y", "MAC 24"},
        {"Gemm", 13, "", "float[2,3] float[3,4] float[4]", "y", "MAC 24, ADD 8"},
        {"Gemm", 13, "beta=0.0", "float[2,3] float[3,4] float[4]", "y", "MAC 24"},
        {"Gemm", 13, "alpha=2.0 beta=2.0", "float[2,3] float[3,4] float[4]", "y", "MAC 24, ADD 8, MUL 12"},
        {"com.microsoft:FusedGemm", 1, "activation=Relu", "float[2,3] float[3,4] float[4]", "y",
         "MAC 24, ADD 8, CMP 8"},
        {"com.microsoft:FusedMatMul", 1, "alpha=0.125", "float[2,3] float[3,4]", "y", "MAC 24, MUL 8"},
        {"com.microsoft:FusedMatMulActivation", 1, "activation=Tanh", "float[2,3] float[3,4]", "y",
         "MAC 24, TANH 8"},
        {"com.microsoft:FusedMatMulActivation", 1, "activation=Unheard", "float[2,3] float[3,4]", "y",
         "MAC 24, est"},
        {"com.microsoft:GemmFastGelu", 1, "", "float[2,3] float[3,4] float[4]", "y",
         "MAC 24, ADD 24, MUL 48, TANH 8"},
        /* a zero point of A is subtracted at run time, one of a constant B in advance */
        {"MatMulInteger", 10, "", "uint8[2,3] int8[3,4]! uint8[]{128} int8[]{3}", "y", "MAC 24, ADD 6"},
        {"MatMulInteger", 10, "", "uint8[2,3] int8[3,4] uint8[]{128} int8[]{3}", "y", "MAC 24, ADD 18"},
        {"MatMulInteger", 10, "", "uint8[2,3] int8[3,4]! uint8[]{0}", "y", "MAC 24"},
        {"MatMulInteger", 10, "", "uint8[2,3] int8[3,4]! uint8[]", "y", "MAC 24, ADD 6"},
        {"QLinearMatMul", 10, "", "uint8[2,3] float[] uint8[]{0} int8[3,4]! float[] int8[]{0} float[] int8[]",
         "y", "MAC 24, ADD 8, MUL 8, CMP 16, RND 8"},
        {"com.microsoft:DynamicQuantizeMatMul", 1, "", "float[2,3] int8[3,4]! float[1] int8[1]{0} float[4]",
         "y", "MAC 24, ADD 20, MUL 8, CMP 24, DIV 6, RND 6"},
        {"com.microsoft:MatMulIntegerToFloat", 1, "", "uint8[2,3] int8[3,4]! float[1] float[1]", "y",
         "MAC 24, MUL 8"},
        {"com.microsoft:MatMulNBits", 1, "K=3 N=4 bits=4 block_size=16", "float[2,3] uint8[4,1,8]! float[4]!",
         "y", "MAC 24, DEQ 12"},
        {"com.microsoft:MatMulNBits", 1, "K=3 N=4 bits=4 block_size=16 accuracy_level=4",
         "float[2,3] uint8[4,1,8]! float[4]! - - float[4]!", "y",
         "MAC 24, ADD 14, CMP 24, DIV 6, RND 6, DEQ 12"},
        {"com.microsoft:MatMulNBitsMlp", 1, "K=3 N=4 bits=4 block_size=32 activation=silu",
         "float[2,3] - float[3]! uint8[4,1,16]! float[4]! - uint8[4,1,16]! float[4]!", "y",
         "MAC 48, ADD 8, MUL 34, DIV 4, SQRT 2, SIG 8, DEQ 24"},
        /* elimination of one 3x3 matrix: 2*27/3 = 18 */
        {"Det", 11, "", "float[3,3]", "y", "ADD 9, MUL 9"},
        {"com.microsoft:Inverse", 1, "", "float[3,3]", "y", "ADD 27, MUL 27"},
    };
    (void)state;
    op_check_hists(rows, OC_COUNT(rows));
}

static void matmul_quantized_classes_are_separate(void **state)
{
    struct op_case t;
    (void)state;
    op_case_run(&t, "QLinearMatMul", 10, "",
                "uint8[2,3] float[] uint8[]{9} int8[3,4]! float[] int8[] float[] int8[]", "y");
    assert_int_equal(t.cost.mac_class, OC_CLASS_I8);
    assert_int_equal(t.ops, 48 + 6);  /* MACs and the zero point */
    assert_int_equal(t.flops, 8 * 5); /* requantization */
    op_case_free(&t);
    op_case_run(&t, "com.microsoft:MatMulNBits", 1, "K=3 N=4 block_size=16 accuracy_level=4",
                "float16[2,3] uint8[4,1,8]! float16[4]!", "y");
    assert_int_equal(t.cost.mac_class, OC_CLASS_I8);
    assert_int_equal(t.ops, 48);
    op_case_free(&t);
}

/* 81e18 elements exceed 64 bits: reported, not wrapped. */
static void matmul_overflow_is_reported(void **state)
{
    struct op_case t;
    (void)state;
    op_case_run(&t, "MatMul", 13, "", "float[9000000000,9000000000] float[9000000000,2]", "y");
    assert_true(t.ctx.overflow);
    op_case_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matmul_infers_shapes),
        cmocka_unit_test(matmul_counts_operations),
        cmocka_unit_test(matmul_quantized_classes_are_separate),
        cmocka_unit_test(matmul_overflow_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
