#include "base/map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void finds_many_keys(void **state)
{
    (void)state;
    struct oc_arena a = {0};
    struct oc_map m = {.arena = &a};
    char key[40];
    assert_int_equal(oc_map_get(&m, "x", 1), OC_NONE);
    for (uint32_t i = 0; i < 20000; i++) {
        int n = snprintf(key, sizeof(key), "node/%u/%.*s", i, (int)(i % 20), "abcdefghijklmnopqrst");
        uint32_t v = i;
        const char *stored = NULL;
        assert_true(oc_map_add(&m, key, (size_t)n, &v, &stored));
        assert_string_equal(stored, key);
    }
    for (uint32_t i = 0; i < 20000; i++) {
        int n = snprintf(key, sizeof(key), "node/%u/%.*s", i, (int)(i % 20), "abcdefghijklmnopqrst");
        assert_int_equal(oc_map_get(&m, key, (size_t)n), i);
    }
    assert_int_equal(m.n, 20000);
    oc_map_free(&m);
    oc_arena_free(&a);
}

static void keys_are_byte_strings(void **state)
{
    (void)state;
    struct oc_arena a = {0};
    struct oc_map m = {.arena = &a};
    oc_map_set(&m, "a\0b", 3, 1);
    oc_map_set(&m, "a\0c", 3, 2);
    oc_map_set(&m, "a", 1, 3);
    oc_map_set(&m, "", 0, 4);
    assert_int_equal(oc_map_get(&m, "a\0b", 3), 1);
    assert_int_equal(oc_map_get(&m, "a\0c", 3), 2);
    assert_int_equal(oc_map_get(&m, "a", 1), 3);
    assert_int_equal(oc_map_get(&m, "", 0), 4);
    oc_map_set(&m, "a", 1, 30);
    assert_int_equal(oc_map_get(&m, "a", 1), 30);
    uint32_t v = 99;
    assert_false(oc_map_add(&m, "a", 1, &v, NULL));
    assert_int_equal(v, 30);
    assert_ptr_equal(oc_intern(&m, "same", 4), oc_intern(&m, "same as", 4));
    oc_map_free(&m);
    oc_arena_free(&a);
}

/* A reservation has room for that many keys, and earlier keys are still found. */
static void reserve_makes_room_and_preserves_keys(void **state)
{
    (void)state;
    struct oc_arena arena = {0};
    struct oc_map map = {.arena = &arena};
    char key[16];
    oc_map_set(&map, "first", 5, 7);
    oc_map_reserve(&map, 1000);
    uint32_t cap = map.cap;
    assert_true(cap - cap / 4 >= 1001);
    for (uint32_t i = 0; i < 1000; i++)
        oc_map_set(&map, key, (size_t)snprintf(key, sizeof(key), "%u", i), i);
    assert_int_equal(map.cap, cap);
    oc_map_reserve(&map, 0);
    assert_int_equal(map.cap, cap);
    assert_int_equal(oc_map_get(&map, "first", 5), 7);
    for (uint32_t i = 0; i < 1000; i++)
        assert_int_equal(oc_map_get(&map, key, (size_t)snprintf(key, sizeof(key), "%u", i)), i);
    oc_map_free(&map);
    oc_arena_free(&arena);
}

/* Whatever the hint is, the result equals that of oc_map_get. */
static void lookup_with_a_hint_equals_lookup_without(void **state)
{
    (void)state;
    struct oc_arena arena = {0};
    struct oc_map map = {.arena = &arena};
    char key[16];
    uint32_t hint = 0;
    assert_int_equal(oc_map_get_near(&map, "a", 1, &hint), OC_NONE);
    for (uint32_t i = 0; i < 100; i++)
        oc_map_set(&map, key, (size_t)snprintf(key, sizeof(key), "%u", i), 2 * i);
    for (uint32_t start = 0; start < 103; start++)
        for (uint32_t i = 0; i < 103; i++) {
            size_t n = (size_t)snprintf(key, sizeof(key), "%u", i);
            hint = start;
            assert_int_equal(oc_map_get_near(&map, key, n, &hint), oc_map_get(&map, key, n));
            assert_int_equal(hint, i < 100 ? i : start);
        }
    oc_map_free(&map);
    oc_arena_free(&arena);
}

static void prefetching_a_key_changes_nothing(void **state)
{
    (void)state;
    struct oc_arena a = {0};
    struct oc_map m = {.arena = &a};
    oc_map_expect(&m, "a", 1); /* no table yet */
    assert_int_equal(oc_map_get(&m, "a", 1), OC_NONE);
    oc_map_set(&m, "a", 1, 7);
    oc_map_expect(&m, "a", 1);
    oc_map_expect(&m, "b", 1);
    assert_int_equal(oc_map_get(&m, "a", 1), 7);
    assert_int_equal(oc_map_get(&m, "b", 1), OC_NONE);
    assert_int_equal(m.n, 1);
    oc_map_free(&m);
    oc_arena_free(&a);
}

static void borrowed_key_is_not_copied(void **state)
{
    (void)state;
    struct oc_arena a = {0};
    struct oc_map m = {.arena = &a};
    static const char one[] = "one", again[] = "one";
    uint32_t v = 7;
    assert_true(oc_map_add_kept(&m, one, 3, &v));
    assert_int_equal(a.used_bytes, 0);
    v = 8;
    assert_false(oc_map_add_kept(&m, again, 3, &v));
    assert_int_equal(v, 7);
    assert_ptr_equal(oc_intern(&m, "one", 3), one);
    oc_map_free(&m);
    oc_arena_free(&a);
}

struct hashed {
    uint32_t hash;
    char key[28];
};

static int by_hash(const void *a, const void *b)
{
    uint32_t x = ((const struct hashed *)a)->hash, y = ((const struct hashed *)b)->hash;
    return x < y ? -1 : x > y;
}

/* Of 200,000 keys about 5 pairs collide in 32 bits; none of them by construction. */
static void keys_that_collide_with_one_secret_do_not_with_another(void **state)
{
    (void)state;
    enum { KEYS = 200000 };
    static struct hashed h[KEYS];
    const struct oc_hash_secret one = {{1, 3}}, other = {{0x123456789abcdef1u, 0xfedcba9876543211u}};
    uint32_t pairs = 0, again = 0;
    for (uint32_t i = 0; i < KEYS; i++) {
        int n = snprintf(h[i].key, sizeof(h[i].key), "node/%u/output", i);
        h[i].hash = oc_hash(&one, h[i].key, (size_t)n);
    }
    qsort(h, KEYS, sizeof(*h), by_hash);
    for (uint32_t i = 1; i < KEYS; i++) {
        if (h[i].hash != h[i - 1].hash)
            continue;
        pairs++;
        again += oc_hash(&other, h[i].key, strlen(h[i].key)) ==
                 oc_hash(&other, h[i - 1].key, strlen(h[i - 1].key));
    }
    assert_in_range(pairs, 1, 30);
    assert_int_equal(again, 0);
}

/* In hashes that only add, XOR and multiply by known numbers, some differences of keys cancel for every
 * secret: the highest bit of a word, with the bits of the next word that it reaches. */
static void no_difference_of_keys_cancels_for_every_secret(void **state)
{
    (void)state;
    static const uint64_t first = (uint64_t)1 << 63;
    uint32_t collisions = 0;
    for (uint32_t shift = 0; shift < 64; shift++)
        for (uint32_t at = 0; at < 3; at++) {
            uint64_t a[4] = {7, 8, 9, 10}, b[4] = {7, 8, 9, 10};
            const struct oc_hash_secret secret = oc_hash_secret(&a[shift % 4]);
            b[at] ^= first;
            b[at + 1] ^= first | first >> shift;
            collisions +=
                oc_hash(&secret, (const char *)a, sizeof(a)) == oc_hash(&secret, (const char *)b, sizeof(b));
        }
    assert_int_equal(collisions, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prefetching_a_key_changes_nothing),
        cmocka_unit_test(borrowed_key_is_not_copied),
        cmocka_unit_test(finds_many_keys),
        cmocka_unit_test(keys_that_collide_with_one_secret_do_not_with_another),
        cmocka_unit_test(no_difference_of_keys_cancels_for_every_secret),
        cmocka_unit_test(keys_are_byte_strings),
        cmocka_unit_test(reserve_makes_room_and_preserves_keys),
        cmocka_unit_test(lookup_with_a_hint_equals_lookup_without),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
