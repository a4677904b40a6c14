#include "support/op_rows.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define C "ai.onnx.contrib:"

static const struct op_shape_row shapes[] = {
    {C "GPT2Tokenizer", 1, "padding_length=16", "string[2]", "yy", "int64[2,16] int64[2,16]"},
    {C "GPT2Tokenizer", 1, "padding_length=16", "string[]", "yy", "int64[16] int64[16]"},
    {C "GPT2Tokenizer", 1, "", "string[N]", "yy", "int64[N,tokens] int64[N,tokens]"},
    {C "CLIPTokenizer", 1, "padding_length=77", "string[2,3]", "yyy",
     "int64[2,3,77] int64[2,3,77] int64[2,3,77,2]"},
    {C "RobertaTokenizer", 1, "padding_length=8", "string[1]", "yy", "int64[1,8] int64[1,8]"},
    {C "BertTokenizer", 1, "", "string[1]", "yyyy",
     "int64[tokens] int64[tokens] int64[tokens] int64[tokens,2]"},
    {C "HfBertTokenizer", 1, "max_length=128", "string[2]", "yyy",
     "int64[1,tokens] int64[1,tokens] int64[1,tokens]"},
    {C "SentencepieceTokenizer", 1, "", "string[3] int64[1] float[1] bool[1] bool[1] bool[1]", "yyy",
     "int32[tokens] int64[4] int32[tokens]"},
    {C "SentencepieceDecoder", 1, "", "int64[7]", "y", "string[1]"},
    {C "WordpieceTokenizer", 1, "", "string[5] int64[3]", "yyy", "string[tokens] int32[tokens] int64[3]"},
    {C "BpeDecoder", 1, "", "int64[2,7]", "y", "string[2]"},
    {C "BpeDecoder", 1, "", "int64[7]", "y", "string[1]"},
    {C "BertTokenizerDecoder", 1, "", "int64[7]", "y", "string[texts]"},
    {C "BasicTokenizer", 1, "", "string[1]", "y", "string[texts]"},
    {C "BlingFireSentenceBreaker", 1, "", "string[1]", "y", "string[texts]"},
    {C "StringConcat", 1, "", "string[2,3] string[3]", "y", "string[2,3]"},
    {C "StringECMARegexReplace", 1, "", "string[2,3] string[1] string[1]", "y", "string[2,3]"},
    {C "StringRegexReplace", 1, "", "string[2,3] string[1] string[1]", "y", "string[2,3]"},
    {C "StringECMARegexSplitWithOffsets", 1, "", "string[4] string[1] string[1]", "yyyy",
     "string[words] int64[words] int64[words] int64[5]"},
    {C "StringRegexSplitWithOffsets", 1, "", "string[N] string[1] string[1]", "yyyy",
     "string[words] int64[words] int64[words] int64[N + 1]"},
    {C "StringEqual", 1, "", "string[2,3] string[2,3]", "y", "bool[2,3]"},
    {C "StringHash", 1, "", "string[2,3] int64[1]", "y", "int64[2,3]"},
    {C "StringHashFast", 1, "", "string[2,3] int64[1]", "y", "int64[2,3]"},
    {C "StringJoin", 1, "", "string[2,3] string[1] int64[1]{1}", "y", "string[2]"},
    {C "StringJoin", 1, "", "string[3] string[1] int64[1]{0}", "y", "string[1]"},
    {C "StringJoin", 1, "", "string[2,3] string[1] int64[1]", "y", "string[...]"},
    {C "StringJoin", 1, "", "string[2,3] string[1] int64[1]{2}", "y",
     "error: the axis is out of range for rank 2"},
    {C "StringLength", 1, "", "string[2,3]", "y", "int64[2,3]"},
    {C "StringLower", 1, "", "string[2,3]", "y", "string[2,3]"},
    {C "StringMapping", 1, "", "string[2,3]", "y", "string[2,3]"},
    {C "StringSplit", 1, "", "string[4] string[1] bool[1]", "yyy", "int64[words,2] string[words] int64[2]"},
    {C "StringStrip", 1, "", "string[2,3]", "y", "string[2,3]"},
    {C "StringUpper", 1, "", "string[2,3]", "y", "string[2,3]"},
};

static void tokenizers_infer_shapes(void **state)
{
    (void)state;
    op_check_shapes(shapes, OC_COUNT(shapes));
}

/* No arithmetic is counted, and the report says that the work is not modelled. */
static void tokenizers_name_their_assumption(void **state)
{
    (void)state;
    for (size_t i = 0; i < OC_COUNT(shapes); i++) {
        struct op_case t;
        op_case_run(&t, shapes[i].op, 1, shapes[i].attrs, shapes[i].in, shapes[i].out);
        if (t.rc == 0) {
            assert_int_equal(t.total, 0);
            assert_string_equal(t.ctx.assumption, "byte strings are not modelled");
        }
        op_case_free(&t);
    }
}

/* max_length bounds the tokens, and so the work of the operators that read them. */
static void max_length_bounds_the_tokens(void **state)
{
    struct op_case t;
    (void)state;
    op_case_run(&t, C "HfBertTokenizer", 1, "max_length=128", "string[1]", "yyy");
    assert_int_equal(oc_dim_max_value(t.exprs, t.ctx.out[0].shape.dim[1]), 128);
    op_case_free(&t);
    op_case_run(&t, C "HfBertTokenizer", 1, "", "string[1]", "yyy");
    assert_int_equal(oc_dim_max_value(t.exprs, t.ctx.out[0].shape.dim[1]), -1);
    op_case_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tokenizers_infer_shapes),
                                       cmocka_unit_test(tokenizers_name_their_assumption),
                                       cmocka_unit_test(max_length_bounds_the_tokens)};
    return cmocka_run_group_tests_name("ops/tokenizers", tests, NULL, NULL);
}
