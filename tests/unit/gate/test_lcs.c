#include "gate/diff.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct found {
    const uint64_t *a, *b;
    uint32_t *partner; /* by position in a */
    uint32_t n;
};

static void note(void *user, uint32_t i, uint32_t j)
{
    struct found *f = user;
    assert_true(f->a[i] == f->b[j]);
    assert_true(f->partner[i] == UINT32_MAX);
    f->partner[i] = j;
    f->n++;
}

/* Number of pairs; they must be in the same order on both sides. */
static uint32_t count_common(const uint64_t *a, uint32_t n, const uint64_t *b, uint32_t m)
{
    struct found f = {.a = a, .b = b, .partner = malloc((n + 1) * sizeof(uint32_t))};
    assert_non_null(f.partner);
    memset(f.partner, 0xff, (n + 1) * sizeof(uint32_t));
    oc_lcs(a, n, b, m, note, &f);
    int64_t last = -1;
    for (uint32_t i = 0; i < n; i++) {
        if (f.partner[i] == UINT32_MAX)
            continue;
        assert_true((int64_t)f.partner[i] > last);
        last = f.partner[i];
    }
    free(f.partner);
    return f.n;
}

static uint32_t count_common_text(const char *a, const char *b)
{
    uint64_t x[64], y[64];
    uint32_t n = (uint32_t)strlen(a), m = (uint32_t)strlen(b);
    for (uint32_t i = 0; i < n; i++)
        x[i] = (uint64_t)a[i];
    for (uint32_t i = 0; i < m; i++)
        y[i] = (uint64_t)b[i];
    return count_common(x, n, y, m);
}

static void short_sequences_are_exact(void **state)
{
    (void)state;
    assert_int_equal(count_common_text("", ""), 0);
    assert_int_equal(count_common_text("abc", ""), 0);
    assert_int_equal(count_common_text("abc", "abc"), 3);
    assert_int_equal(count_common_text("abcabba", "cbabac"), 4);
    assert_int_equal(count_common_text("nematode knowledge", "empty bottle"), 7);
    assert_int_equal(count_common_text("ab", "ba"), 1);
}

static uint64_t next(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

/* The textbook dynamic programming table. */
static uint32_t reference_lcs(const uint64_t *a, uint32_t n, const uint64_t *b, uint32_t m)
{
    uint32_t *row = calloc(m + 2, sizeof(*row)), *above = calloc(m + 2, sizeof(*above));
    assert_true(row && above);
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t j = 0; j < m; j++)
            row[j + 1] = a[i] == b[j] ? above[j] + 1 : above[j + 1] > row[j] ? above[j + 1] : row[j];
        memcpy(above, row, (m + 1) * sizeof(*row));
    }
    uint32_t best = above[m];
    free(row);
    free(above);
    return best;
}

static void random_sequences_equal_the_textbook_algorithm(void **state)
{
    (void)state;
    uint64_t seed = 1, a[60], b[60];
    for (unsigned round = 0; round < 300; round++) {
        uint32_t n = (uint32_t)(next(&seed) % 60), m = (uint32_t)(next(&seed) % 60), letters = 1 + round % 9;
        for (uint32_t i = 0; i < n; i++)
            a[i] = next(&seed) % letters;
        for (uint32_t i = 0; i < m; i++)
            b[i] = next(&seed) % letters;
        assert_int_equal(count_common(a, n, b, m), reference_lcs(a, n, b, m));
    }
}

enum { LONG = 100000 };

/* A sequence with every hundredth member removed is matched, with many repeated members. */
static void long_sequences_with_few_changes_match(void **state)
{
    (void)state;
    uint64_t *a = malloc(LONG * sizeof(*a)), *b = malloc(LONG * sizeof(*b)), seed = 2;
    uint32_t m = 0;
    assert_true(a && b);
    for (uint32_t i = 0; i < LONG; i++)
        a[i] = i % 50 ? next(&seed) % 4 : 1000 + i; /* unique anchors */
    for (uint32_t i = 0; i < LONG; i++)
        if (i % 100 != 37)
            b[m++] = a[i];
    assert_int_equal(count_common(a, LONG, b, m), m);
    free(a);
    free(b);
}

/* No anchors, only common letters: it terminates soon with some result. */
static void long_random_sequences_stay_in_order(void **state)
{
    (void)state;
    uint64_t *a = malloc(LONG * sizeof(*a)), *b = malloc(LONG * sizeof(*b)), seed = 3;
    assert_true(a && b);
    for (uint32_t i = 0; i < LONG; i++) {
        a[i] = next(&seed) % 3;
        b[i] = next(&seed) % 3;
    }
    assert_true(count_common(a, LONG, b, LONG) > 1000);
    for (uint32_t i = 0; i < LONG; i++)
        b[i] = 7;
    assert_int_equal(count_common(a, LONG, b, LONG), 0);
    free(a);
    free(b);
}

static void ascending_finds_the_longest_increasing_subsequence(void **state)
{
    (void)state;
    static const uint32_t value[] = {5, 1, 2, 9, 3, 4, 8};
    static const uint8_t want[] = {0, 1, 1, 0, 1, 1, 1};
    uint8_t keep[7];
    oc_ascending(value, 7, keep);
    assert_memory_equal(keep, want, 7);
    oc_ascending(value, 0, keep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_sequences_are_exact),
        cmocka_unit_test(random_sequences_equal_the_textbook_algorithm),
        cmocka_unit_test(long_sequences_with_few_changes_match),
        cmocka_unit_test(long_random_sequences_stay_in_order),
        cmocka_unit_test(ascending_finds_the_longest_increasing_subsequence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
