/* Expected lines are the output of textwrap.wrap(width=30) of CPython 3.11, except where a width is given. */
#include "write/tables/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static void check(const char *text, size_t width, const char *lines)
{
    struct oc_buf b = {0};
    oc_wrap(text, width, "|", &b);
    assert_string_equal(b.data ? b.data : "", lines);
    oc_buf_free(&b);
}

static void breaks_long_words(void **state)
{
    (void)state;
    check("backbone.layer1.0.conv1:conv_bias-relu-fused-thing", 30,
          "backbone.layer1.0.conv1:conv_b|ias-relu-fused-thing");
    check("Copy(gpu0:0->cpu:default)xxxxxxxxxxxx", 30, "Copy(gpu0:0-|>cpu:default)xxxxxxxxxxxx");
    check("------------------------------------", 30, "------------------------------|------");
    check("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 30,
          "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa|aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa|aaaaa");
    check("abc", 1, "a|b|c");
}

static void breaks_at_hyphens(void **state)
{
    (void)state;
    check("transformer-xl-block-0/attention/self-MatMul_12345", 30,
          "transformer-xl-|block-0/attention/self-|MatMul_12345");
    check("hello   world foo-bar-baz--qux-1-2 and more", 30, "hello   world foo-bar-baz--|qux-1-2 and more");
    check("a-b-c-d", 3, "a-|b-|c-d"); /* one letter is not enough: the words are broken as too long */
    check("ab-cd", 3, "ab-|cd");
    check("ab-1cd", 4, "ab-|1cd");
}

static void blanks_are_kept_and_dropped_like_python(void **state)
{
    (void)state;
    check("", 30, "");
    check("   ", 30, "");
    check(" lead", 30, " lead");
    check("trail   ", 30, "trail");
    check("tab\there", 30, "tab     here");
    check("ab\n\tcd", 30, "ab         cd"); /* the column restarts after a newline */
    check("one two three", 7, "one two|three");
}

static void width_counts_characters(void **state)
{
    (void)state;
    check("卷积卷积卷积", 4, "卷积卷积|卷积");
    check("über-größe", 6, "über-|größe");
    check("a\xff"
          "b",
          2, "a\xff|b"); /* an invalid byte is one character and is preserved */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(breaks_long_words),
        cmocka_unit_test(breaks_at_hyphens),
        cmocka_unit_test(blanks_are_kept_and_dropped_like_python),
        cmocka_unit_test(width_counts_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
