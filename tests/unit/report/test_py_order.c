#include "report/py_order.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MANY 5000

static void sort_is_stable(void **state)
{
    (void)state;
    static double key[MANY];
    static uint32_t order[MANY];
    uint32_t r = 12345;
    for (uint32_t runs = 1; runs <= 1000;
         runs *= 10) { /* sawtooth sequences of many lengths, with many equal keys */
        for (uint32_t i = 0; i < MANY; i++) {
            r = r * 1664525 + 1013904223;
            key[i] = i % runs == 0 ? r >> 20 : key[i - 1] + (double)(r >> 31);
        }
        oc_order_by(key, MANY, order);
        for (uint32_t i = 1; i < MANY; i++) {
            assert_true(key[order[i - 1]] <= key[order[i]]);
            if (key[order[i - 1]] == key[order[i]])
                assert_true(order[i - 1] < order[i]);
        }
    }
    oc_order_by(key, 0, order);
    oc_order_by(key, 1, order);
    assert_int_equal(order[0], 0);
}

/* The result of sorted() of CPython 3.11. */
static void nan_is_sorted_like_python(void **state)
{
    (void)state;
    static const double key[] = {3, NAN, 1, 2, NAN, 0, 5, 4};
    static const uint32_t expected[] = {0, 1, 2, 3, 4, 5, 7, 6};
    uint32_t order[8];
    oc_order_by(key, 8, order);
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(order[i], expected[i]);
}

/* Merges start beyond 63 keys. The sum over i of i * order[i] is a fingerprint; the number was computed by
 * Python. */
static void nan_among_many_is_sorted_like_python(void **state)
{
    (void)state;
    static double key[700];
    static uint32_t order[700];
    uint32_t r = 1;
    for (size_t i = 0; i < 700; i++) {
        r = r * 1664525 + 1013904223;
        key[i] = (r >> 8) % 10 == 0 ? NAN : (double)(r >> 16);
    }
    oc_order_by(key, 700, order);
    uint64_t sum = 0;
    for (uint64_t i = 0; i < 700; i++)
        sum += i * order[i];
    assert_int_equal(sum, 113983289);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sort_is_stable),
        cmocka_unit_test(nan_is_sorted_like_python),
        cmocka_unit_test(nan_among_many_is_sorted_like_python),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
