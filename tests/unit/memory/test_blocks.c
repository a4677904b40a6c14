/* Pieces of a block against a search over every piece in use, with random sizes and lifetimes. */
#include "memory/memory_plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

enum { N = 400 };

struct live {
    uint64_t at, bytes;
    uint32_t piece;
};

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* The smallest gap between pieces sorted by offset, or the lowest one; otherwise the end. */
static uint64_t place_of(const struct live *live, uint32_t n, uint64_t bytes, bool best_fit)
{
    uint64_t end = 0, found = UINT64_MAX, found_gap = UINT64_MAX;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t gap = live[i].at - end;
        if (gap >= bytes && gap < found_gap && (best_fit || found == UINT64_MAX)) {
            found = end;
            found_gap = gap;
        }
        end = live[i].at + live[i].bytes;
    }
    return found == UINT64_MAX ? end : found;
}

static void insert(struct live *live, uint32_t n, struct live piece)
{
    uint32_t at = n;
    for (; at && live[at - 1].at > piece.at; at--)
        live[at] = live[at - 1];
    live[at] = piece;
}

static void compare(bool best_fit, uint32_t seed)
{
    struct live live[N];
    struct oc_blocks *b = oc_blocks_open(N, best_fit);
    for (uint32_t i = 0, n = 0; i < N; i++) {
        while (n && next_random(&seed) % (n < 20 ? 3 : 2) == 0) {
            uint32_t which = next_random(&seed) % n;
            oc_blocks_give(b, live[which].piece);
            for (n--; which < n; which++)
                live[which] = live[which + 1];
        }
        uint64_t bytes = 1 + next_random(&seed) % 9;
        struct live piece = {place_of(live, n, bytes, best_fit), bytes, i};
        assert_int_equal(oc_blocks_take(b, i, bytes), piece.at);
        insert(live, n++, piece);
    }
    oc_blocks_close(b);
}

static void best_fit_takes_the_smallest_gap_and_the_lowest_of_equal_ones(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < 100; seed++)
        compare(true, seed);
}

static void first_fit_takes_the_lowest_gap(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < 100; seed++)
        compare(false, seed);
}

static int by_rank(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a * 2654435761u, y = *(const uint32_t *)b * 2654435761u;
    return x < y ? -1 : x > y;
}

/* Gaps whose sizes follow a known hash of their numbers would be a list as deep as there are gaps. */
static void sizes_in_the_order_of_a_known_hash_make_no_deep_tree(void **state)
{
    (void)state;
    enum { GAPS = 200000 };
    static uint32_t order[GAPS], bytes[GAPS];
    for (uint32_t i = 0; i < GAPS; i++)
        order[i] = 2 * GAPS + 1 + i; /* the number of the i-th gap */
    qsort(order, GAPS, sizeof(*order), by_rank);
    for (uint32_t i = 0; i < GAPS; i++)
        bytes[order[i] - 2 * GAPS - 1] = i + 2;
    struct oc_blocks *b = oc_blocks_open(2 * GAPS, true);
    for (uint32_t i = 0; i < 2 * GAPS; i++) /* a piece of one byte between two others */
        oc_blocks_take(b, i, i % 2 ? 1 : bytes[i / 2]);
    for (uint32_t i = 0; i < GAPS; i++)
        oc_blocks_give(b, 2 * i);
    oc_blocks_close(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(best_fit_takes_the_smallest_gap_and_the_lowest_of_equal_ones),
        cmocka_unit_test(first_fit_takes_the_lowest_gap),
        cmocka_unit_test(sizes_in_the_order_of_a_known_hash_make_no_deep_tree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
