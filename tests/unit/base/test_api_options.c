/* Options of callers whose struct is shorter, equal or longer than the one of the library. */
#include "base/c_locale.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

struct known {
    size_t size;
    uint64_t first, second;
};
struct newer {
    struct known known;
    uint64_t third;
};

static void null_options_are_zero(void **state)
{
    struct known k = {1, 2, 3};
    (void)state;
    assert_int_equal(OC_OPTIONS(&k, NULL, NULL), 0);
    assert_int_equal(k.size, sizeof(k));
    assert_int_equal(k.first | k.second, 0);
}

static void size_zero_is_the_known_size(void **state)
{
    const struct known given = {.first = 7, .second = 8};
    struct known k;
    (void)state;
    assert_int_equal(OC_OPTIONS(&k, &given, NULL), 0);
    assert_int_equal(k.size, sizeof(k));
    assert_int_equal(k.first, 7);
    assert_int_equal(k.second, 8);
}

/* The block ends after the given bytes: AddressSanitizer finds reads after it. */
static void members_after_a_smaller_size_are_zero_and_not_read(void **state)
{
    const size_t size = offsetof(struct known, second);
    struct known k = {.second = 9};
    struct known *given = malloc(size);
    (void)state;
    memcpy(given, &(struct known){.size = size, .first = 7}, size);
    assert_int_equal(OC_OPTIONS(&k, given, NULL), 0);
    assert_int_equal(k.first, 7);
    assert_int_equal(k.second, 0);
    free(given);
}

static void unknown_members_may_only_be_zero(void **state)
{
    struct newer given = {.known = {.size = sizeof(given), .first = 7}};
    struct known k;
    struct oc_err err;
    (void)state;
    assert_int_equal(OC_OPTIONS(&k, &given, &err), 0);
    assert_int_equal(k.first, 7);
    given.third = 1;
    assert_int_equal(OC_OPTIONS(&k, &given, &err), -1);
    assert_int_equal(err.code, OC_EARG);
    assert_non_null(strstr(err.msg, "newer version"));
}

static void sizes_that_were_not_set_are_rejected(void **state)
{
    static const size_t wrong[] = {1, sizeof(size_t) - 1, 100000, SIZE_MAX};
    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        const struct known given = {.size = wrong[i]};
        struct known k;
        struct oc_err err;
        assert_int_equal(OC_OPTIONS(&k, &given, &err), -1);
        assert_int_equal(err.code, OC_EARG);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(null_options_are_zero),
        cmocka_unit_test(size_zero_is_the_known_size),
        cmocka_unit_test(members_after_a_smaller_size_are_zero_and_not_read),
        cmocka_unit_test(unknown_members_may_only_be_zero),
        cmocka_unit_test(sizes_that_were_not_set_are_rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
