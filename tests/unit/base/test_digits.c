#include "base/text_scan.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

/* A copy that ends at the end of its allocation, so that ASan reports a read past it. */
static bool read_copy(const char *text, size_t n, uint64_t *out)
{
    char *copy = malloc(n ? n : 1);
    assert_non_null(copy);
    memcpy(copy, text, n);
    bool good = oc_digits(copy, n, out);
    free(copy);
    return good;
}

static void parses_digits_of_all_lengths(void **state)
{
    (void)state;
    uint64_t v = 0, random = 1;
    for (size_t i = 0; i < 20000; i++) {
        char text[24];
        random = random * 6364136223846793005u + 1442695040888963407u;
        size_t n = i % 16 + 1;
        uint64_t limit = 1;
        for (size_t k = 0; k < n; k++)
            limit *= 10;
        uint64_t want = (random >> 7) % limit;
        snprintf(text, sizeof(text), "%0*" PRIu64, (int)n, want);
        assert_true(read_copy(text, n, &v));
        assert_int_equal(v, want);
    }
    assert_false(read_copy("", 0, &v));
    assert_false(read_copy("12345678901234567", 17, &v));
}

static void rejects_anything_but_digits(void **state)
{
    (void)state;
    uint64_t v;
    for (size_t n = 1; n <= 16; n++)
        for (size_t at = 0; at < n; at++)
            for (int c = 0; c < 256; c++) {
                char text[17] = "1934567890123456";
                text[at] = (char)c;
                assert_int_equal(read_copy(text, n, &v), c >= '0' && c <= '9');
            }
}

static void reads_leading_digits(void **state)
{
    (void)state;
    uint64_t v = 0, want = 0;
    for (unsigned n = 0; n <= 8; n++) {
        for (int c = 0; c < 256; c++) {
            char text[9] = "98765432";
            if (n < 8)
                text[n] = (char)c;
            if (n == 8 || c < '0' || c > '9') {
                assert_int_equal(oc_digits_at(text, &v), n);
                assert_int_equal(n ? v : 0, want);
            }
        }
        want = want * 10 + (9 - n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parses_digits_of_all_lengths),
        cmocka_unit_test(rejects_anything_but_digits),
        cmocka_unit_test(reads_leading_digits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
