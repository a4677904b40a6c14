#include "profile/core/run_spread.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "profile/profile.h"

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static unsigned next(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8; /* 24 bits */
}

/* Values as they occur: times in whole microseconds, all equal, with one outlier, of all magnitudes, on both
 * sides of zero, rising, equal but for the last bits. */
static double value_of(unsigned shape, size_t i, size_t n, unsigned *state)
{
    unsigned r = next(state);
    switch (shape) {
    case 0:
        return 1000.0 * (r % 37);
    case 1:
        return 5;
    case 2:
        return i == n / 3 ? 0x1p60 : r;
    case 3:
        return ldexp(r + 1.0, (int)(next(state) % 2000) - 1000);
    case 4:
        return (double)r - 0x1p23;
    case 5:
        return (double)i;
    default:
        return 1 + (double)(r & 1023) * 0x1p-52;
    }
}

static void quantiles_equal_those_of_sorted_values(void **state)
{
    (void)state;
    static const size_t size[] = {1, 2, 3, 10, 63, 64, 65, 66, 100, 1001, 20000};
    unsigned random = 1;
    for (size_t s = 0; s < OC_COUNT(size); s++)
        for (unsigned shape = 0; shape < 7; shape++) {
            size_t n = size[s];
            double *v = calloc(n, sizeof(*v)), *sorted = calloc(n, sizeof(*v)),
                   *scratch = calloc(n, sizeof(*v));
            assert_true(v && sorted && scratch);
            for (size_t i = 0; i < n; i++)
                v[i] = sorted[i] = value_of(shape, i, n, &random);
            qsort(sorted, n, sizeof(*sorted), by_value);
            double median = n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
            struct oc_quantiles q;
            oc_quantiles_of(v, n, scratch, &q);
            assert_true(q.min == sorted[0] && q.max == sorted[n - 1] && q.median == median);
            assert_true(q.p10 == oc_percentile_of(sorted, n, 0.1));
            assert_true(q.p90 == oc_percentile_of(sorted, n, 0.9));
            for (size_t i = 0; i < n; i++)
                v[i] = sorted[(i * 7919) % n];
            if (n % 7919)
                assert_true(oc_median_of(v, n, scratch) == median);
            free(v);
            free(sorted);
            free(scratch);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(quantiles_equal_those_of_sorted_values)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
