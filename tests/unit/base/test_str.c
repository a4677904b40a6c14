/* oc_find against memmem: all lengths around a vector, all places, texts of few letters in which most parts nearly
 * match. The texts end at the end of their allocation, so that ASan reports a read past them. */
#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 16;
}

static char *text_of(uint32_t *state, size_t n, unsigned letters)
{
    char *text = malloc(n ? n : 1);
    assert_non_null(text);
    for (size_t i = 0; i < n; i++)
        text[i] = (char)('a' + next_random(state) % letters);
    return text;
}

static void finds_what_memmem_finds(void **state)
{
    (void)state;
    uint32_t random = 1;
    for (size_t n = 0; n < 140; n++)
        for (size_t k = 0; k <= n + 1 && k < 70; k++)
            for (unsigned letters = 1; letters < 4; letters++) {
                char *s = text_of(&random, n, letters), *part = text_of(&random, k, letters);
                if (k <= n && next_random(&random) % 2) /* half of the parts are in the text */
                    memcpy(part, s + next_random(&random) % (n - k + 1), k);
                assert_ptr_equal(oc_find(s, n, part, k), memmem(s, n, part, k));
                free(s);
                free(part);
            }
}

static void finds_the_first_of_many(void **state)
{
    (void)state;
    const char text[] =
        "\"ts\": 1, \"dur\": 2, \"durable\": 3, \"dur\": 4, \"a\": [1, 2, 3, 4, 5, 6], \"dur\": 7";
    assert_ptr_equal(oc_find(text, sizeof(text) - 1, "\"dur\"", 5), text + 9);
    assert_ptr_equal(oc_find(text + 10, sizeof(text) - 11, "\"dur\"", 5), text + 33);
    assert_null(oc_find(text, sizeof(text) - 1, "\"dur\" ", 6));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(finds_what_memmem_finds),
                                       cmocka_unit_test(finds_the_first_of_many)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
