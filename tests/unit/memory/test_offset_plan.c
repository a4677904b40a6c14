#include "memory/memory_plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/arena.h"

static uint32_t below(uint64_t *random, uint32_t n)
{
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    return (uint32_t)(*random >> 33) % n;
}

static struct oc_offset_plan plan(const struct oc_plan_box *box, uint32_t n, uint64_t align, uint64_t work,
                                  uint64_t *offset)
{
    struct oc_offset_plan p;
    struct oc_err err = {0};
    struct oc_offset_opts o = {.align = align, .work = work};
    assert_int_equal(oc_offset_plan_make(box, n, &o, offset, &p, &err), 0);
    if (oc_plan_check(box, offset, n, align, p.size, &err))
        fail_msg("%s", err.msg);
    return p;
}

static void chain_needs_two_buffers(void **state)
{
    (void)state;
    /* 100 -> 40 -> 60 -> 10: pairs of 140, 100, 70 */
    const struct oc_plan_box box[] = {{100, 0, 1}, {40, 1, 2}, {60, 2, 3}, {10, 3, 3}};
    uint64_t offset[4];
    struct oc_offset_plan p = plan(box, 4, 0, 0, offset);
    assert_int_equal(p.lower, 140);
    assert_int_equal(p.size, 140);
    assert_true(p.optimal);
}

static void empty_plans_and_empty_boxes_take_no_memory(void **state)
{
    (void)state;
    struct oc_offset_plan p = plan(NULL, 0, 0, 0, NULL);
    assert_true(p.size == 0 && p.lower == 0 && p.optimal);
    const struct oc_plan_box box[] = {{0, 0, 9}, {8, 3, 4}, {0, 5, 5}};
    uint64_t offset[3];
    p = plan(box, 3, 0, 0, offset);
    assert_true(p.size == 8 && p.lower == 8 && offset[0] == 0 && offset[2] == 0);
}

static void alignment_rounds_sizes_up(void **state)
{
    (void)state;
    /* 1, 65 and 64 bytes take 64, 128 and 64 */
    const struct oc_plan_box box[] = {{1, 0, 2}, {65, 1, 2}, {64, 2, 3}};
    uint64_t offset[3];
    struct oc_offset_plan p = plan(box, 3, 64, 0, offset);
    assert_int_equal(p.lower, 256);
    assert_int_equal(p.size, 256);
    for (int i = 0; i < 3; i++)
        assert_int_equal(offset[i] % 64, 0);
    assert_int_equal(oc_boxes_live(box, 3, 64), 256);
    assert_int_equal(oc_boxes_live(box, 3, 0), 130);
}

static void rejects_invalid_boxes(void **state)
{
    (void)state;
    struct oc_offset_plan p;
    struct oc_err err = {0};
    uint64_t offset[2];
    const struct oc_plan_box backwards[] = {{8, 0, 1}, {8, 3, 2}};
    assert_int_equal(oc_offset_plan_make(backwards, 2, NULL, offset, &p, &err), -1);
    assert_string_equal(err.msg, "buffer 1 ends before it begins");
    const struct oc_plan_box huge[] = {{UINT64_MAX - 5, 0, 1}, {8, 3, 4}};
    assert_int_equal(oc_offset_plan_make(huge, 2, NULL, offset, &p, &err), -1);
    assert_int_equal(err.code, OC_ELIMIT);
    struct oc_offset_opts align = {.align = 64};
    assert_int_equal(oc_offset_plan_make(huge, 1, &align, offset, &p, &err), -1);
}

/* ---- compared with all orders ---- */

/* Size when the boxes are placed in this order, each at the lowest free offset. */
static uint64_t place_in_order(const struct oc_plan_box *box, const uint32_t *order, uint32_t n)
{
    uint64_t at[8], size = 0;
    for (uint32_t k = 0; k < n; k++) {
        const struct oc_plan_box *b = &box[order[k]];
        uint64_t low = 0;
        for (bool moved = true; moved;) {
            moved = false;
            for (uint32_t j = 0; j < k; j++) {
                const struct oc_plan_box *o = &box[order[j]];
                if (o->first <= b->last && b->first <= o->last && low < at[j] + o->bytes &&
                    at[j] < low + b->bytes) {
                    low = at[j] + o->bytes;
                    moved = true;
                }
            }
        }
        at[k] = low;
        size = low + b->bytes > size ? low + b->bytes : size;
    }
    return size;
}

/* Some order gives the optimal plan: the order by offset. */
static uint64_t best_of_all_orders(const struct oc_plan_box *box, uint32_t *order, uint32_t from, uint32_t n)
{
    if (from == n)
        return place_in_order(box, order, n);
    uint64_t best = UINT64_MAX;
    for (uint32_t k = from; k < n; k++) {
        uint32_t a = order[from];
        order[from] = order[k];
        order[k] = a;
        uint64_t size = best_of_all_orders(box, order, from + 1, n);
        best = size < best ? size : best;
        order[k] = order[from];
        order[from] = a;
    }
    return best;
}

static void small_plans_are_optimal(void **state)
{
    (void)state;
    uint64_t random = 4711;
    for (int round = 0; round < 400; round++) {
        struct oc_plan_box box[7];
        uint64_t offset[7];
        uint32_t order[7], n = 5 + below(&random, 3);
        for (uint32_t i = 0; i < n; i++) {
            uint32_t first = below(&random, 7);
            box[i] = (struct oc_plan_box){1 + below(&random, 5), first, first + below(&random, 4)};
            order[i] = i;
        }
        struct oc_offset_plan p = plan(box, n, 0, 0, offset);
        assert_true(p.optimal);
        assert_int_equal(p.size, best_of_all_orders(box, order, 0, n));
    }
}

/* Sets for which every plan exceeds the lower bound: found at random, proven by enumerating all orders. */
static void plans_above_the_lower_bound_are_proven_optimal(void **state)
{
    (void)state;
    static const struct {
        struct oc_plan_box box[7];
        uint64_t lower;
    } set[] = {
        {{{3, 5, 7}, {1, 4, 5}, {4, 0, 2}, {2, 2, 3}, {2, 3, 4}, {3, 6, 9}, {2, 3, 5}}, 6},
        {{{3, 4, 5}, {2, 1, 5}, {4, 6, 10}, {4, 0, 3}, {4, 0, 0}, {4, 5, 7}, {3, 3, 4}}, 9},
        {{{2, 2, 4}, {4, 6, 9}, {2, 4, 5}, {4, 0, 0}, {1, 0, 3}, {2, 3, 7}, {3, 2, 2}}, 6},
    };
    for (size_t i = 0; i < OC_COUNT(set); i++) {
        uint64_t offset[7];
        uint32_t order[7] = {0, 1, 2, 3, 4, 5, 6};
        struct oc_offset_plan p = plan(set[i].box, 7, 0, 0, offset);
        assert_int_equal(p.lower, set[i].lower);
        assert_int_equal(p.size, set[i].lower + 1);
        assert_int_equal(best_of_all_orders(set[i].box, order, 0, 7), p.size);
        assert_true(p.optimal);
    }
}

/* ---- many boxes ---- */

static void fill(struct oc_plan_box *box, uint32_t n, int kind, uint64_t *random)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t life = kind == 0   ? 1 + below(random, 4)
                        : kind == 1 ? below(random, n)
                        : kind == 2 ? 2 * (n - i)
                                    : 1 + (below(random, 10) ? below(random, 3) : below(random, n / 4 + 1));
        uint32_t first = kind == 1 ? 0 : i;
        box[i] = (struct oc_plan_box){(1 + below(random, 64)) * (uint64_t)(1u << below(random, 12)), first,
                                      first + life};
    }
}

static void plans_of_many_boxes_are_valid(void **state)
{
    (void)state;
    uint64_t random = 99;
    for (int kind = 0; kind < 4; kind++)
        for (uint32_t n = 20; n <= 2000; n *= 10) {
            struct oc_plan_box *box = oc_xmalloc(n * sizeof(*box));
            uint64_t *offset = oc_xmalloc(n * sizeof(*offset)), *again = oc_xmalloc(n * sizeof(*again));
            fill(box, n, kind, &random);
            uint64_t align = kind == 3 ? 256 : 0;
            struct oc_offset_plan p = plan(box, n, align, 2000000, offset);
            assert_int_equal(p.lower, oc_boxes_live(box, n, align));
            assert_true(p.size >= p.lower && (double)p.size <= 1.1 * (double)p.lower);
            struct oc_offset_plan q = plan(box, n, align, 2000000, again);
            assert_true(p.size == q.size && !memcmp(offset, again, n * sizeof(*offset)));
            free(box);
            free(offset);
            free(again);
        }
}

/* 8000 boxes that are all live together make 32 million pairs: more than are stored. */
static void plans_with_too_many_pairs_to_store_are_valid(void **state)
{
    (void)state;
    uint32_t n = 8000;
    struct oc_plan_box *box = oc_xmalloc(n * sizeof(*box));
    uint64_t *offset = oc_xmalloc(n * sizeof(*offset)), random = 5, sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        box[i] = (struct oc_plan_box){1 + below(&random, 1000), i, 2 * n - i % 7};
        sum += box[i].bytes;
    }
    struct oc_offset_plan p = plan(box, n, 0, 0, offset);
    assert_int_equal(p.lower, sum);
    assert_int_equal(p.size, sum);
    free(box);
    free(offset);
}

/* Buffers that replace each other: time order needs no more than is alive at once, in O(n log n). */
static void plans_of_60000_boxes_in_turn_are_optimal(void **state)
{
    (void)state;
    enum { HALF = 30000 };
    struct oc_plan_box *box = oc_xmalloc(2 * HALF * sizeof(*box));
    uint64_t *offset = oc_xmalloc(2 * HALF * sizeof(*offset));
    for (uint32_t i = 0; i < HALF; i++) {
        box[i] = (struct oc_plan_box){16, 0, i + 1};
        box[HALF + i] = (struct oc_plan_box){16, i + 2, HALF + 1};
    }
    struct oc_offset_plan p = plan(box, 2 * HALF, 0, 0, offset);
    assert_int_equal(p.lower, 16 * HALF);
    assert_int_equal(p.size, 16 * HALF);
    assert_true(p.optimal);
    free(box);
    free(offset);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chain_needs_two_buffers),
        cmocka_unit_test(empty_plans_and_empty_boxes_take_no_memory),
        cmocka_unit_test(alignment_rounds_sizes_up),
        cmocka_unit_test(rejects_invalid_boxes),
        cmocka_unit_test(small_plans_are_optimal),
        cmocka_unit_test(plans_above_the_lower_bound_are_proven_optimal),
        cmocka_unit_test(plans_of_many_boxes_are_valid),
        cmocka_unit_test(plans_with_too_many_pairs_to_store_are_valid),
        cmocka_unit_test(plans_of_60000_boxes_in_turn_are_optimal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
