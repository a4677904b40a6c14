#include "base/buf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#include "base/arena.h"

static void it_grows_and_stays_terminated(void **state)
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

static void the_ceiling_holds(void **state)
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

static void whole_numbers(void **state)
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

/* Longer than what is printed at once, and as long. */
static void long_lines(void **state)
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
        cmocka_unit_test(whole_numbers),
        cmocka_unit_test(long_lines),
        cmocka_unit_test(it_grows_and_stays_terminated),
        cmocka_unit_test(the_ceiling_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
