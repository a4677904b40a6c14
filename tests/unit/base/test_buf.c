#include "base/arena.h"
#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static void buffer_grows_and_stays_terminated(void **state)
{
    (void)state;
    struct oc_buf b = {0};
    for (int i = 0; i < 1000; i++) {
        oc_buf_printf(&b, "%03d,", i % 1000);
        assert_int_equal(b.data[b.n], '\0');
    }
    assert_int_equal(b.n, 4000);
    assert_memory_equal(b.data + 3992, "998,999,", 8);
    oc_buf_clear(&b);
    assert_int_equal(b.n, 0);
    oc_buf_str(&b, "ab");
    oc_buf_char(&b, 'c');
    oc_buf_pad(&b, '-', 3);
    oc_buf_add(&b, "\0x", 2);
    assert_int_equal(b.n, 8);
    assert_memory_equal(b.data, "abc---\0x", 9);
    oc_buf_free(&b);
}

static void writes_past_the_maximum_are_dropped(void **state)
{
    (void)state;
    struct oc_buf b = {.max = 10};
    oc_buf_str(&b, "12345678");
    assert_false(b.overflowed);
    oc_buf_str(&b, "abc");
    assert_true(b.overflowed);
    assert_string_equal(b.data, "12345678");
    oc_buf_printf(&b, "%d", 1234567);
    oc_buf_pad(&b, 'x', SIZE_MAX);
    assert_string_equal(b.data, "12345678");
    oc_buf_str(&b, "90");
    assert_string_equal(b.data, "1234567890");
    oc_buf_free(&b);
    assert_int_equal(b.max, 10);
}

static void prints_integers(void **state)
{
    (void)state;
    struct oc_buf b = {0};
    static const int64_t v[] = {0, -1, 10, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < OC_COUNT(v); i++) {
        oc_buf_int(&b, v[i]);
        oc_buf_char(&b, ' ');
    }
    assert_string_equal(b.data, "0 -1 10 9223372036854775807 -9223372036854775808 ");
    oc_buf_free(&b);
}

/* Shorter than, equal to and longer than the internal print buffer. */
static void writes_strings_of_json(void **state)
{
    (void)state;
    struct oc_buf b = {0};
    static const char text[] = "a\"b\\c\n\xc3\xa9";
    oc_buf_json(&b, text, sizeof(text) - 1);
    assert_string_equal(b.data, "\"a\\\"b\\\\c\\u000a\xc3\xa9\"");
    oc_buf_free(&b);
}

static void takes_parts_up_to_a_character(void **state)
{
    (void)state;
    struct oc_str s = oc_str("a,,b", 4);
    assert_true(oc_str_eq(oc_str_take(&s, ','), "a") && oc_str_eq(s, ",b"));
    assert_true(oc_str_take(&s, ',').n == 0 && oc_str_eq(s, "b"));
    assert_true(oc_str_eq(oc_str_take(&s, ','), "b") && s.n == 0);
    s = oc_str(NULL, 0);
    assert_true(oc_str_take(&s, ',').n == 0 && s.n == 0);
}

static void prints_lines_longer_than_the_internal_buffer(void **state)
{
    (void)state;
    char line[300];
    struct oc_arena a = {0};
    for (int n = 250; n < 260; n++) {
        struct oc_buf b = {0};
        memset(line, 'x', sizeof(line));
        line[n] = '\0';
        oc_buf_printf(&b, "%s", line);
        assert_string_equal(b.data, line);
        assert_int_equal(b.n, n);
        assert_string_equal(oc_printf(&a, "%s", line), line);
        oc_buf_free(&b);
    }
    oc_arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prints_integers),
        cmocka_unit_test(writes_strings_of_json),
        cmocka_unit_test(takes_parts_up_to_a_character),
        cmocka_unit_test(prints_lines_longer_than_the_internal_buffer),
        cmocka_unit_test(buffer_grows_and_stays_terminated),
        cmocka_unit_test(writes_past_the_maximum_are_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
