#include "memory/memory_plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/arena.h"

/* steps    0   1   2   3
 * box 0    [-------]
 * box 1        [-------]
 * box 2                [---]      */
static const struct oc_plan_box three[] = {{100, 0, 1}, {50, 1, 2}, {100, 3, 3}};

static const char *verdict(const struct oc_plan_box *box, const uint64_t *offset, uint32_t n, uint64_t align,
                           uint64_t size)
{
    static struct oc_err err;
    return oc_plan_check(box, offset, n, align, size, &err) ? err.msg : "sound";
}

static void valid_plans_pass(void **state)
{
    (void)state;
    assert_string_equal(verdict(three, (const uint64_t[]){0, 100, 0}, 3, 0, 150), "sound");
    assert_string_equal(verdict(three, (const uint64_t[]){50, 0, 10}, 3, 10, 150), "sound");
    assert_string_equal(verdict(NULL, NULL, 0, 0, 0), "sound");
}

static void overlaps_and_misalignment_are_found(void **state)
{
    (void)state;
    static const struct {
        uint64_t offset[3], align, size;
        const char *says;
    } broken[] = {
        {{0, 99, 0}, 0, 150, "buffers 0 and 1 overlap in step 1"}, /* by one byte, the new one above */
        {{49, 0, 0}, 0, 150, "buffers 0 and 1 overlap in step 1"}, /* the new one below */
        {{0, 20, 0}, 0, 150, "buffers 0 and 1 overlap in step 1"}, /* inside */
        {{0, 0, 0}, 0, 150, "buffers 0 and 1 overlap in step 1"},  /* at the same place */
        {{0, 101, 0}, 0, 150, "buffer 1 is outside the block"},
        {{0, UINT64_MAX - 10, 0}, 0, 150, "buffer 1 is outside the block"}, /* its end wraps around */
        {{0, 100, 32}, 64, 192, "buffer 1 is not aligned to 64 bytes"},
        {{0, 128, 32}, 64, 192, "buffer 2 is not aligned to 64 bytes"},
    };
    for (size_t i = 0; i < OC_COUNT(broken); i++)
        assert_string_equal(verdict(three, broken[i].offset, 3, broken[i].align, broken[i].size),
                            broken[i].says);
    const struct oc_plan_box backwards[] = {{4, 2, 1}};
    assert_string_equal(verdict(backwards, (const uint64_t[]){0}, 1, 0, 8), "buffer 0 ends before it begins");
}

/* First and last step are inclusive: a buffer that ends in step 2 conflicts with one that begins there. */
static void steps_are_inclusive(void **state)
{
    (void)state;
    const struct oc_plan_box touching[] = {{8, 0, 2}, {8, 2, 3}}, apart[] = {{8, 0, 2}, {8, 3, 3}},
                             last[] = {{8, 0, UINT32_MAX}, {8, UINT32_MAX, UINT32_MAX}};
    const uint64_t offset[] = {0, 4};
    assert_string_equal(verdict(touching, offset, 2, 0, 16), "buffers 0 and 1 overlap in step 2");
    assert_string_equal(verdict(apart, offset, 2, 0, 16), "sound");
    assert_string_equal(verdict(last, offset, 2, 0, 16), "buffers 0 and 1 overlap in step 4294967295");
}

static void empty_buffers_conflict_with_nothing(void **state)
{
    (void)state;
    const struct oc_plan_box box[] = {{8, 0, 2}, {0, 1, 1}};
    assert_string_equal(verdict(box, (const uint64_t[]){0, 4}, 2, 0, 8), "sound");
    assert_string_equal(verdict(box, (const uint64_t[]){0, 9}, 2, 0, 8), "buffer 1 is outside the block");
}

/* The verdict equals that of comparing every pair of boxes. */
static void verdict_equals_comparison_of_all_pairs(void **state)
{
    (void)state;
    uint64_t r = 12345;
    unsigned sound = 0, broken = 0;
    for (int round = 0; round < 3000; round++) {
        struct oc_plan_box box[12];
        uint64_t offset[12];
        uint32_t n = 2 + (uint32_t)round % 11;
        for (uint32_t i = 0; i < n; i++) {
            r = r * 6364136223846793005u + 1442695040888963407u;
            uint32_t first = (uint32_t)(r >> 33) % 30;
            box[i] = (struct oc_plan_box){(r >> 40) % 9, first, first + (uint32_t)(r >> 50) % 9};
            offset[i] = (r >> 20) % 40;
        }
        bool clash = false;
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t k = 0; k < i; k++)
                clash |= box[i].bytes && box[k].bytes && box[i].first <= box[k].last &&
                         box[k].first <= box[i].last && offset[i] < offset[k] + box[k].bytes &&
                         offset[k] < offset[i] + box[i].bytes;
        assert_int_equal(strcmp(verdict(box, offset, n, 0, 100), "sound") != 0, clash);
        sound += !clash;
        broken += clash;
    }
    assert_true(sound > 300 && broken > 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(valid_plans_pass),
        cmocka_unit_test(overlaps_and_misalignment_are_found),
        cmocka_unit_test(steps_are_inclusive),
        cmocka_unit_test(empty_buffers_conflict_with_nothing),
        cmocka_unit_test(verdict_equals_comparison_of_all_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
