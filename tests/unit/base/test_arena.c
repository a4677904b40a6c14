#include "base/arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

/* The second use reads memory that the first use filled with ones. */
static void memory_is_zeroed_and_aligned(void **state)
{
    (void)state;
    struct oc_arena a = {0};
    for (int again = 0; again < 2; again++) {
        for (size_t n = 0; n < 200000; n = n < 3000 ? n + 37 : 3 * n) {
            unsigned char *p = oc_alloc(&a, n);
            assert_int_equal((uintptr_t)p % 16, 0);
            for (size_t i = 0; i < n; i++)
                assert_int_equal(p[i], 0);
            memset(p, 0xff, n);
        }
        oc_arena_free(&a);
        assert_null(a.head);
    }
    assert_int_equal(a.used_bytes, 0);
}

static void large_objects_do_not_waste_the_open_block(void **state)
{
    (void)state;
    struct oc_arena a = {0};
    char *first = oc_alloc(&a, 16);
    memset(oc_alloc(&a, 3 << 20), 1, 3 << 20);
    char *second = oc_alloc(&a, 16);
    assert_in_range(second - first, 16, 32); /* with a gap under ASan */
    oc_arena_free(&a);
}

static void strings_are_copied_and_printed(void **state)
{
    (void)state;
    struct oc_arena a = {0};
    assert_string_equal(oc_strndup(&a, "abcdef", 3), "abc");
    assert_string_equal(oc_strdup(&a, ""), "");
    char *long_text = oc_printf(&a, "%0500d|%s", 7, "end");
    assert_int_equal(strlen(long_text), 504);
    assert_string_equal(long_text + 499, "7|end");
    oc_arena_free(&a);
}

static jmp_buf escape;
static size_t asked_bytes;
static void on_oom(size_t bytes)
{
    asked_bytes = bytes;
    longjmp(escape, 1);
}

static void product_overflow_calls_the_out_of_memory_handler(void **state)
{
    (void)state;
    struct oc_arena a = {0};
    oc_set_oom_handler(on_oom);
    if (setjmp(escape) == 0) {
        oc_alloc_array(&a, SIZE_MAX / 4, 8);
        fail();
    }
    oc_set_oom_handler(NULL);
    assert_true(asked_bytes > 0);
    oc_arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_zeroed_and_aligned),
        cmocka_unit_test(large_objects_do_not_waste_the_open_block),
        cmocka_unit_test(strings_are_copied_and_printed),
        cmocka_unit_test(product_overflow_calls_the_out_of_memory_handler),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
