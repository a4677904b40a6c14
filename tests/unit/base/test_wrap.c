#include "base/unicode.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void expect_lines(size_t indent, size_t width, const char *text, const char *want)
{
    char *got = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&got, &n);
    assert_non_null(f);
    oc_plain_wrap(indent, width, text, f);
    assert_int_equal(fclose(f), 0);
    assert_string_equal(got, want);
    free(got);
}

static void breaks_between_words(void **state)
{
    (void)state;
    expect_lines(0, 7, "one two three", "one two\nthree\n");
    expect_lines(2, 9, "one two three", "one two\n  three\n");
    expect_lines(0, 0, "one two three", "one two three\n");
    expect_lines(0, 7, "", "\n");
}

static void number_stays_with_its_unit(void **state)
{
    (void)state;
    expect_lines(0, 12, "Conv 98 Gemm 0.8 %, rest", "Conv 98 Gemm\n0.8 %, rest\n");
    expect_lines(0, 8, "Gemm 0.8 %", "Gemm\n0.8 %\n");
    expect_lines(0, 9, "took <0.01 ms; more", "took\n<0.01 ms;\nmore\n");
    expect_lines(0, 9, "at 12 MiB/s", "at\n12 MiB/s\n");
    expect_lines(0, 7, "layer 3 relu", "layer 3\nrelu\n");
}

static void sign_stays_with_its_term(void **state)
{
    (void)state;
    expect_lines(2, 14, "batch*(2*x^2 + 3*x - 45)", "batch*(2*x^2\n  + 3*x - 45)\n");
    expect_lines(0, 9, "aaaaaaa + bbb", "aaaaaaa\n+ bbb\n");
}

static void number_and_unit_wider_than_a_line_are_broken(void **state)
{
    (void)state;
    expect_lines(0, 8, "12345678 MiB", "12345678\nMiB\n");
}

static void long_words_are_cut_after_a_slash(void **state)
{
    (void)state;
    expect_lines(0, 10, "a/bcdefg/hijklmno", "a/bcdefg/\nhijklmno\n");
    expect_lines(0, 10, "abcdefghijklmno", "abcdefghij\nklmno\n");
}

static void control_characters_are_replaced(void **state)
{
    (void)state;
    expect_lines(0, 0, "a\033[31m b", "a?[31m b\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(breaks_between_words),
        cmocka_unit_test(number_stays_with_its_unit),
        cmocka_unit_test(sign_stays_with_its_term),
        cmocka_unit_test(number_and_unit_wider_than_a_line_are_broken),
        cmocka_unit_test(long_words_are_cut_after_a_slash),
        cmocka_unit_test(control_characters_are_replaced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
