#include "support/op_rows.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define MS "com.microsoft:"

static const struct op_shape_row shapes[] = {
    {MS "NGramHashMapping", 1, "max_ngram_size=3 n_head_per_ngram=4 pad_id=0", "int64[B,S] int64[3] int64[8]",
     "yy", "int64[B,S,8] int64[B,2]"},
    {MS "NGramHashMapping", 1, "max_ngram_size=1 n_head_per_ngram=4 pad_id=0", "int64[B,S] int64[3] int64[8]",
     "y", "error: invalid max_ngram_size 1, n_head_per_ngram 4"},
    {MS "VarlenNGramHashMapping", 1, "max_ngram_size=3 n_head_per_ngram=4 pad_id=0",
     "int32[T] int32[3] int32[8] int32[5]", "yyy", "int32[T,8] int32[4,2] int32[4,2]"},
    {MS "VarlenNGramHashMapping", 1, "max_ngram_size=3 n_head_per_ngram=4 pad_id=0",
     "int32[2,3] int32[3] int32[8] int32[5]", "y", "error: invalid ids rank 2"},
    {MS "NGramRepeatBlock", 1, "ngram_size=3", "int64[2,9] float[2,100]", "y", "float[2,100]"},
    /* torch's unfold: (9 - 3)/2 + 1 windows */
    {MS "UnfoldTensor", 1, "dim=1 size=3 step=2", "float[4,9,5]", "y", "float[4,4,5,3]"},
    {MS "UnfoldTensor", 1, "size=6", "float[4,9,5]", "y",
     "error: a window of 6 with step 1 does not fit an axis of 5"},
    {MS "UnfoldTensor", 1, "dim=4 size=1", "float[4,9,5]", "y", "error: dim 4 is out of range for rank 3"},
};

static const struct op_cost_row costs[] = {
    /* 2*5*8 hashes of 10 operations */
    {MS "NGramHashMapping", 1, "max_ngram_size=3 n_head_per_ngram=4 pad_id=0",
     "int64[2,5] int64[3]! int64[8]!", "y", 0, 800, 80, 88, 640},
    {MS "NGramRepeatBlock", 1, "ngram_size=3", "int64[2,9] float[2,100]", "y", 0, 0, 144 + 800, 0, 800},
    {MS "UnfoldTensor", 1, "dim=1 size=3 step=2", "float[4,9,5]", "y", 0, 0, 720, 0, 960},
};

static void hashing_infers_shapes(void **state)
{
    (void)state;
    op_check_shapes(shapes, OC_COUNT(shapes));
}

static void hashing_counts_operations(void **state)
{
    (void)state;
    op_check_costs(costs, OC_COUNT(costs));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(hashing_infers_shapes),
                                       cmocka_unit_test(hashing_counts_operations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
