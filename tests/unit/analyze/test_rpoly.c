#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/fit.h"
#include "base/arena.h"

typedef uint64_t function(const int64_t *x);

static struct oc_rpoly fit(function *f, const struct oc_rpoly_axis *axis, unsigned n_var, unsigned total)
{
    static struct oc_pow point[OC_RPOLY_TERMS];
    static uint64_t value[OC_RPOLY_TERMS];
    struct oc_rpoly p;
    size_t n = oc_rpoly_points(axis, n_var, total, point);
    for (size_t i = 0; i < n; i++) {
        int64_t x[OC_RPOLY_VARS];
        for (unsigned k = 0; k < n_var; k++)
            x[k] = axis[k].start + axis[k].step * point[i].of[k];
        value[i] = f(x);
    }
    assert_true(n > 0);
    assert_true(oc_rpoly_fit(axis, n_var, point, value, n, &p));
    return p;
}

static void check_text(function *f, const struct oc_rpoly_axis *axis, unsigned n_var, unsigned total,
                       const char *expected)
{
    static const char *const name[] = {"a", "b", "c"};
    struct oc_rpoly p = fit(f, axis, n_var, total);
    struct oc_buf b = {0};
    oc_rpoly_text(&p, name, &b);
    assert_string_equal(b.data, expected);
    oc_buf_free(&b);
    oc_rpoly_free(&p);
}

static uint64_t u(int64_t v)
{
    return (uint64_t)v;
}

static uint64_t linear(const int64_t *x)
{
    return u(5 * x[0] + 7);
}

static uint64_t mixed(const int64_t *x)
{
    return u(2 * x[0] * x[0] * x[1] + 3 * x[0] * x[1] * x[1] + x[1] * x[2] + 11);
}

static uint64_t triangle(const int64_t *x) /* query-key pairs of causal attention */
{
    return u(x[0] * (x[0] + 1) / 2 * x[1]);
}

static uint64_t falling(const int64_t *x)
{
    return u(1000 * x[0] - x[0] * x[0] - 3);
}

static uint64_t nothing(const int64_t *x)
{
    return u(x[0] - x[0]);
}

static uint64_t halves(const int64_t *x) /* an integer on even x only */
{
    return u(9 * x[0] * x[0] / 4 + 1);
}

static uint64_t alternating(const int64_t *x)
{
    return u((x[0] - 3) * (x[0] - 3) * (x[1] + 2));
}

/* The expected texts are the functions above, multiplied out by hand. */
static void fits_known_polynomials(void **state)
{
    (void)state;
    const struct oc_rpoly_axis one[] = {{128, 1, 1}};
    check_text(linear, one, 1, 1, "5*a + 7");
    const struct oc_rpoly_axis three[] = {{2, 1, 2}, {128, 3, 2}, {7, 1, 1}};
    check_text(mixed, three, 3, 3, "2*a^2*b + 3*a*b^2 + b*c + 11");
    /* degrees that are too high leave no extra terms */
    const struct oc_rpoly_axis more[] = {{2, 1, 4}, {128, 3, 3}, {7, 1, 2}};
    check_text(mixed, more, 3, 5, "2*a^2*b + 3*a*b^2 + b*c + 11");
    const struct oc_rpoly_axis two[] = {{2, 1, 2}, {2, 1, 1}};
    check_text(triangle, two, 2, 3, "(a^2*b + a*b)/2");
    const struct oc_rpoly_axis square[] = {{5, 1, 2}};
    check_text(falling, square, 1, 2, "-a^2 + 1000*a - 3");
    check_text(nothing, one, 1, 1, "0");
    const struct oc_rpoly_axis even[] = {{4, 2, 2}};
    check_text(halves, even, 1, 2, "(9*a^2 + 4)/4");
    /* (a^2 - 6 a + 9)(b + 2) = a^2 b + 2 a^2 - 6 a b - 12 a + 9 b + 18 */
    const struct oc_rpoly_axis far[] = {{224, 32, 2}, {1000, 7, 1}};
    check_text(alternating, far, 2, 3, "a^2*(b + 2) + a*(-6*b - 12) + 9*b + 18");
}

static void evaluates_exactly_or_not_at_all(void **state)
{
    (void)state;
    const struct oc_rpoly_axis even[] = {{4, 2, 2}};
    struct oc_rpoly p = fit(halves, even, 1, 2);
    uint64_t v;
    int64_t x = 100;
    assert_true(oc_rpoly_eval(&p, &x, &v));
    assert_int_equal(v, 22501); /* 9 * 10000 / 4 + 1 */
    x = 3;
    assert_false(oc_rpoly_eval(&p, &x, &v)); /* 81 / 4 + 1 is not an integer */
    x = INT64_MAX / 2;
    assert_false(oc_rpoly_eval(&p, &x, &v)); /* exceeds 64 bits */
    oc_rpoly_free(&p);
    const struct oc_rpoly_axis square[] = {{5, 1, 2}};
    p = fit(falling, square, 1, 2);
    x = 2000;
    assert_false(oc_rpoly_eval(&p, &x, &v)); /* negative */
    oc_rpoly_free(&p);
}

static void finds_the_degree_by_differences(void **state)
{
    (void)state;
    const uint64_t constant[] = {9, 9, 9, 9}, square[] = {4, 9, 16, 25, 36, 49},
                   floors[] = {3, 3, 4, 4, 5, 5, 6, 6};
    const uint64_t falling_to_0[] = {6, 4, 2, 0}, huge[] = {0, UINT64_MAX, 0, UINT64_MAX, 0};
    assert_int_equal(oc_rpoly_degree(constant, 4, 3), 0);
    assert_int_equal(oc_rpoly_degree(square, 6, 3), 2);
    assert_int_equal(oc_rpoly_degree(square, 5, 3), -1); /* only two differences of order 3 */
    assert_int_equal(oc_rpoly_degree(floors, 8, 3), -1);
    assert_int_equal(oc_rpoly_degree(falling_to_0, 4, 2), 1);
    assert_int_equal(oc_rpoly_degree(huge, 5, 1), -1);
    assert_int_equal(oc_rpoly_degree(constant, 0, 3), -1);
}

static void chooses_one_point_per_term(void **state)
{
    (void)state;
    static struct oc_pow point[OC_RPOLY_TERMS];
    const struct oc_rpoly_axis two[] = {{2, 1, 2}, {2, 1, 1}};
    assert_int_equal(oc_rpoly_points(two, 2, 3, point), 6);
    assert_int_equal(oc_rpoly_points(two, 2, 2, point), 5); /* without a^2 b */
    assert_int_equal(oc_rpoly_points(two, 2, 0, point), 1);
    assert_int_equal(oc_rpoly_points(NULL, 0, 0, point), 1);
    const struct oc_rpoly_axis wide[] = {{2, 1, 6}, {2, 1, 6}, {2, 1, 6}, {2, 1, 6}, {2, 1, 6}, {2, 1, 6}};
    assert_int_equal(oc_rpoly_points(wide, 6, 36, point), 0); /* 7^6 */
}

static void values_beyond_128_bits_are_rejected(void **state)
{
    (void)state;
    static struct oc_pow point[OC_RPOLY_TERMS];
    const struct oc_rpoly_axis one[] = {{2, 1, 1}};
    struct oc_rpoly p;
    oc_rpoly_points(one, 1, 1, point);
    const uint64_t high[] = {UINT64_MAX, UINT64_MAX}; /* a coefficient of 2^64 - 1 */
    assert_false(oc_rpoly_fit(one, 1, point, high, 2, &p));
    assert_null(p.term);
    const struct oc_rpoly_axis far[] = {{INT64_MAX / 2, 1, 3}};
    oc_rpoly_points(far, 1, 3, point);
    const uint64_t cubes[] = {1, 8, 27, 1000000}; /* (2^62)^3 is beyond 128 bits */
    assert_false(oc_rpoly_fit(far, 1, point, cubes, 4, &p));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fits_known_polynomials),
        cmocka_unit_test(evaluates_exactly_or_not_at_all),
        cmocka_unit_test(finds_the_degree_by_differences),
        cmocka_unit_test(chooses_one_point_per_term),
        cmocka_unit_test(values_beyond_128_bits_are_rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
