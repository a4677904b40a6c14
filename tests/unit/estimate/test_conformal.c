#include "estimate/calibrate.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/made_samples.h"

static void assert_near(double got, double want)
{
    if (!(fabs(got - want) <= 1e-9 * fabs(want)))
        fail_msg("%.17g is not %.17g", got, want);
}

/* ceil((n + 1) level): of 9 values 80 % is the 8th, of 4 the 4th, of 3 there is none so high: the largest. */
static void quantiles_of_small_samples(void **state)
{
    (void)state;
    double nine[] = {9, 1, 8, 2, 7, 3, 6, 4, 5}, four[] = {4, 2, 3, 1}, three[] = {3, 1, 2};
    assert_near(oc_conformal_quantile(nine, 9, 0.8), 8);
    assert_near(oc_conformal_quantile(four, 4, 0.8), 4);
    assert_near(oc_conformal_quantile(three, 3, 0.8), 3);
    assert_true(isnan(oc_conformal_quantile(three, 0, 0.8)));
}

/* 90 errors: small kernels err by 0.3, medium ones by 0.2, large ones by 0.1. */
static void errors_are_binned_by_size(void **state)
{
    (void)state;
    double r[90], t[90];
    for (int i = 0; i < 90; i++) {
        t[i] = (i + 1) * 1e-6;
        r[i] = (i < 30 ? 0.3 : i < 60 ? 0.2 : 0.1) * (i % 2 ? 1 : -1);
    }
    struct oc_cal_errors e;
    oc_conformal_make(r, t, 90, NULL, &e);
    assert_int_equal(e.n, 90);
    assert_near(e.bound_s[0], 30e-6);
    assert_near(e.bound_s[1], 60e-6);
    assert_near(e.d80[0], 0.3);
    assert_near(e.d80[1], 0.2);
    assert_near(e.d95[2], 0.1);
    assert_int_equal(oc_conformal_bin(&e, t[29]), 0);
    assert_int_equal(oc_conformal_bin(&e, 31e-6), 1);
    assert_int_equal(oc_conformal_bin(&e, 1), 2);
}

/* Fewer than 20: the parent's errors, half as wide again. */
static void few_errors_use_the_parent_widened(void **state)
{
    (void)state;
    struct oc_cal_errors parent, e;
    double r[5] = {0.01, 0.01, 0.01, 0.01, 0.01}, t[5] = {1, 2, 3, 4, 5};
    oc_conformal_assume(0.4, &parent);
    oc_conformal_make(r, t, 5, &parent, &e);
    assert_int_equal(e.n, 5);
    assert_near(e.sd, 0.6);
    assert_near(e.d80[1], 1.5 * parent.d80[1]);
    oc_conformal_make(r, t, 5, NULL, &e);
    assert_near(e.d80[0], 0.015);
}

/* 4 equal kernels of 60 % of the time: one share of 0.15 each; 4 * 0.15^2 * sd^2 * (1 + 3 * 0.8). */
static void variance_of_repeated_kernels_is_correlated(void **state)
{
    (void)state;
    assert_near(oc_conformal_variance(0.6, 0.2, 4, 0.8), 4 * 0.15 * 0.15 * 0.04 * 3.4);
    assert_near(oc_conformal_variance(0.6, 0.2, 1, 0.8), 0.36 * 0.04);
}

/* Models with a normal common error of 0.3 and kernel errors of 0.1: tau is 0.3 again, z80 and z95 are about
 * those of a normal distribution. */
static void common_error_of_models_is_estimated(void **state)
{
    (void)state;
    enum { N = 2000 };
    struct oc_made m;
    struct oc_calibration cal = {.n_key = 0};
    oc_made_start(&m, 3);
    struct oc_model_error *e = calloc(N, sizeof(*e));
    for (int i = 0; i < N; i++)
        e[i] = (struct oc_model_error){0.3 * oc_made_normal(&m) + 0.1 * oc_made_normal(&m), 0.01, 0,
                                       (uint32_t)i};
    oc_conformal_models(e, N, OC_CONFORMAL_ALL, &cal);
    assert_true(fabs(cal.tau - 0.3) < 0.01);
    assert_true(fabs(cal.z80 - 1.28) < 0.06);
    assert_true(fabs(cal.z95 - 1.96) < 0.10);
    oc_conformal_models(e, 5, OC_CONFORMAL_ALL, &cal); /* too few for quantiles of its own */
    assert_true(fabs(cal.z80 - 1.2816) < 1e-4);
    free(e);
    oc_made_free(&m);
}

/* 12 groups of one model with an error of 0.1, and one group of 30 models with an error of 1: a group counts
 * once, so the 80 % quantile is that of the small errors. Without that group nothing else is left. */
static void relatives_count_as_one_group(void **state)
{
    (void)state;
    struct oc_model_error e[42];
    struct oc_calibration cal = {.n_key = 0}, rest = {.n_key = 0};
    for (unsigned i = 0; i < 42; i++)
        e[i] = (struct oc_model_error){.u = i < 12 ? 0.1 : 1, .group = i < 12 ? i : 12};
    oc_conformal_models(e, 42, OC_CONFORMAL_ALL, &cal);
    assert_near(cal.tau, sqrt((12 * 0.01 + 1) / 13));
    assert_near(cal.z80 * cal.tau, 0.1);
    assert_near(cal.z95 * cal.tau, 1);
    oc_conformal_models(e, 42, 12, &rest);
    assert_near(rest.tau, 0.1);
    assert_near(rest.z95 * rest.tau, 0.1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_of_small_samples),
        cmocka_unit_test(errors_are_binned_by_size),
        cmocka_unit_test(few_errors_use_the_parent_widened),
        cmocka_unit_test(variance_of_repeated_kernels_is_correlated),
        cmocka_unit_test(common_error_of_models_is_estimated),
        cmocka_unit_test(relatives_count_as_one_group),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
