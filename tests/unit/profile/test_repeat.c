#include "profile/repeat.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* Letters to numbers from 0 in order of appearance. */
static bool find(const char *text, struct oc_repeat *out)
{
    uint32_t v[200], n = 0, known = 0, id[256];
    memset(id, 0xff, sizeof(id));
    for (const char *s = text; *s; s++) {
        if (id[(unsigned char)*s] == UINT32_MAX)
            id[(unsigned char)*s] = known++;
        v[n++] = id[(unsigned char)*s];
    }
    return oc_find_repeat(v, n, out);
}

static void check_repeat(const char *text, size_t first, size_t period, size_t count, size_t rest)
{
    struct oc_repeat r;
    if (!find(text, &r))
        fail_msg("%s: nothing found", text);
    if (r.first != first || r.period != period || r.count != count || r.rest != rest)
        fail_msg("%s: first %zu, period %zu, %zu times, rest %zu", text, r.first, r.period, r.count, r.rest);
}

static void finds_loops(void **state)
{
    (void)state;
    check_repeat("abcabcabc", 0, 3, 3, 0);
    check_repeat("xyzabcabcabc", 3, 3, 3, 0);     /* something before */
    check_repeat("abcabcabcxyz", 0, 3, 3, 0);     /* something after */
    check_repeat("xyabcabcabcabuv", 2, 3, 3, 2);  /* cut in the middle of the last iteration */
    check_repeat("aabaabaab", 0, 3, 3, 0);        /* a kernel twice in the loop */
    check_repeat("abacabadabacabad", 0, 8, 2, 0); /* c and d once, a four times */
    check_repeat("aaaaaaaaaa", 0, 1, 10, 0);      /* nothing but the loop */
}

static void sequences_without_a_loop_are_rejected(void **state)
{
    (void)state;
    struct oc_repeat r;
    assert_false(find("", &r));
    assert_false(find("a", &r));
    assert_false(find("abcdefgh", &r));
    assert_false(find("abcabcdefghijklm", &r)); /* less than half */
    assert_false(find("abcdaaaaefgh", &r));     /* the same kernel a few times */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(finds_loops),
                                       cmocka_unit_test(sequences_without_a_loop_are_rejected)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
