#include "support/op_rows.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define MS "com.microsoft:"

static const struct op_shape_row shapes[] = {
    {MS "WordConvEmbedding", 1, "", "int32[N,20] float[12,1,3,8] float[12] float[100,8]", "y", "float[N,12]"},
    {MS "WordConvEmbedding", 1, "", "int32[N,20] float[12,3,8] float[12] float[100,8]", "y",
     "error: invalid weight rank 3"},
};

static const struct op_cost_row costs[] = {
    /* 18 positions: 5*18*12 sums of 3*8 products, each with bias, tanh and comparison; at most 100 of 100
       rows */
    {MS "WordConvEmbedding", 1, "", "int32[5,20] float[12,1,3,8]! float[12]! float[1000,8]!", "y",
     5 * 18 * 12 * 24, 2 * 5 * 18 * 12 * 24 + 3 * 5 * 18 * 12, 400, 12 * 24 * 4 + 48 + 5 * 20 * 8 * 4, 240},
};

static void word_conv_infers_shapes(void **state)
{
    (void)state;
    op_check_shapes(shapes, OC_COUNT(shapes));
}

static void word_conv_counts_operations(void **state)
{
    (void)state;
    op_check_costs(costs, OC_COUNT(costs));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(word_conv_infers_shapes),
                                       cmocka_unit_test(word_conv_counts_operations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
