#include "support/op_rows.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const struct op_shape_row shapes[] = {
    {"StringConcat", 20, "", "string[3,1] string[4]", "y", "string[3,4]"},
    {"StringConcat", 20, "", "string[3] string[4]", "y", "error: shapes {3} and {4} do not broadcast"},
    {"StringSplit", 20, "delimiter=x", "string[3,N]", "yy", "string[3,N,parts] int64[3,N]"},
    {"StringSplit", 20, "", "string", "yy", "string[...] int64[...]"},
    {"RegexFullMatch", 20, "pattern=a", "string[3,N]", "y", "bool[3,N]"},
    {"StringNormalizer", 10, "", "string[7]", "y", "string[7]"},
    {"StringNormalizer", 10, "stopwords=[\"a\"]", "string[1,7]", "y", "string[1,node.1]"},
    {"StringNormalizer", 10, "stopwords=[\"a\"]", "string[3]~{\"a\",\"b\",\"A\"}", "y", "string[1]"},
    {"StringNormalizer", 10, "is_case_sensitive=1 stopwords=[\"a\"]", "string[1,3]~{\"a\",\"b\",\"A\"}", "y",
     "string[1,2]"},
    /* nothing left: one empty string */
    {"StringNormalizer", 10, "stopwords=[\"a\"]", "string[2]~{\"a\",\"A\"}", "y", "string[1]"},
    {"StringNormalizer", 10, "stopwords=[\"a\"]", "string[2]~{\"a\",?}", "y", "string[node.0]"},
    /* letter case beyond ASCII depends on the locale */
    {"StringNormalizer", 10, "stopwords=[\"\xc3\xa4\"]", "string[1]~{\"b\"}", "y", "string[node.0]"},
    {"StringNormalizer", 10, "stopwords=[\"a\"]", "string[1,1,7]", "y", "error: the strings must be *"},
    {"TfIdfVectorizer", 9, "ngram_indexes=[0,4,2]", "int64[12]", "y", "float[5]"},
    {"TfIdfVectorizer", 9, "ngram_indexes=[0,4,2]", "string[N,12]", "y", "float[N,5]"},
    {"TfIdfVectorizer", 9, "ngram_indexes=[-1]", "int64[12]", "y",
     "error: ngram_indexes is empty or negative"},
    {"TfIdfVectorizer", 9, "", "int64[12]", "y", "error: ngram_indexes is empty or negative"},
    {"com.microsoft:Tokenizer", 1, "", "string[2,3]", "y", "string[2,3,words]"},
    {"ImageDecoder", 20, "", "uint8[1000]", "y", "uint8[node.0,node.1,3]"},
    {"ImageDecoder", 20, "pixel_format=Grayscale", "uint8[N]", "y", "uint8[node.0,node.1,1]"},
};

static void strings_infers_shapes(void **state)
{
    (void)state;
    op_check_shapes(shapes, OC_COUNT(shapes));
}

/* Stop words only remove, and at least an empty string remains. */
static void string_normalizer_output_is_bounded(void **state)
{
    (void)state;
    struct op_case t;
    op_case_run(&t, "StringNormalizer", 10, "stopwords=[\"a\"]", "string[7]", "y");
    assert_int_equal(oc_dim_max_value(t.exprs, t.out[0].shape.dim[0]), 7);
    op_case_free(&t);
    op_case_run(&t, "StringNormalizer", 10, "stopwords=[\"a\"]", "string[0]", "y");
    assert_int_equal(oc_dim_max_value(t.exprs, t.out[0].shape.dim[0]), 1);
    op_case_free(&t);
}

static void string_cost_is_an_estimate(void **state)
{
    (void)state;
    struct op_case t;
    op_case_run(&t, "TfIdfVectorizer", 9, "ngram_indexes=[0,4,2]", "int64[12]", "y");
    assert_string_equal(t.ctx.assumption, "byte strings are not modelled");
    assert_int_equal(t.total, 0);
    assert_int_equal(t.rd_act, 96);
    assert_int_equal(t.wr, 20);
    op_case_free(&t);
    op_case_run(&t, "ImageDecoder", 20, "", "uint8[1000]", "y");
    assert_string_equal(t.ctx.assumption, "decoding of images is not modelled");
    op_case_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(strings_infers_shapes),
                                       cmocka_unit_test(string_normalizer_output_is_bounded),
                                       cmocka_unit_test(string_cost_is_an_estimate)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
