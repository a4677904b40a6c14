#include "estimate/lm.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* y = exp(x0) + exp(x1) u: a fixed cost and a cost per unit. */
struct line {
    const double *u, *y;
    size_t n;
};

static void line_residuals(void *user, const double *x, double *r, double *jac)
{
    const struct line *l = user;
    for (size_t i = 0; i < l->n; i++) {
        double fixed = exp(x[0]), grows = exp(x[1]) * l->u[i];
        r[i] = log(l->y[i] / (fixed + grows));
        if (jac) {
            jac[i] = -fixed / (fixed + grows);
            jac[l->n + i] = -grows / (fixed + grows);
        }
    }
}

static void fits_a_line(void **state)
{
    (void)state;
    const double u[] = {0, 1, 2, 5, 10}, y[] = {3, 5, 7, 13, 23}; /* 3 + 2 u */
    struct line l = {u, y, 5};
    struct oc_lm_problem p = {.n = 5, .k = 2, .residuals = line_residuals, .user = &l};
    double x[2] = {-2, 4}, work[3 * 5];
    double loss = oc_lm_fit(&p, x, work);
    assert_true(loss < 1e-9);
    assert_true(fabs(exp(x[0]) - 3) < 1e-3 && fabs(exp(x[1]) - 2) < 1e-3);
}

/* One value of 1000 among five of 3: least squares of logarithms give 3 * (1000 / 3)^(1/6) = 7.9, the robust
 * loss stays below 3.5: with the limit 0.15 it pulls like 0.15 against 5 r, so r = 0.03. */
static void outlier_has_little_weight(void **state)
{
    (void)state;
    const double u[6] = {0}, y[] = {3, 3, 3, 3, 3, 1000};
    const double prior[2] = {0, 0}, sd[2] = {10, 0};
    struct line l = {u, y, 6};
    struct oc_lm_problem p = {
        .n = 6, .k = 2, .residuals = line_residuals, .user = &l, .prior = prior, .sd = sd};
    double x[2] = {0, -30}, work[3 * 6];
    oc_lm_fit(&p, x, work);
    assert_true(fabs(exp(x[0]) - 3 * pow(1000.0 / 3, 1.0 / 6)) < 0.05);
    p.huber = 0.15;
    x[0] = 0;
    oc_lm_fit(&p, x, work);
    assert_true(fabs(x[0] - log(3) - 0.03) < 0.005);
    assert_true(x[1] == -30); /* sd 0: fixed */
}

/* One datum and a prior of the same weight: the answer is half way between them, (0 + 2) / 2. */
static void mean_of(void *user, const double *x, double *r, double *jac)
{
    r[0] = x[0] - *(const double *)user;
    if (jac)
        jac[0] = 1;
}

static void prior_counts_like_a_datum(void **state)
{
    (void)state;
    double datum = 2, prior = 0, sd = 1, x = 7, work[2];
    struct oc_lm_problem p = {
        .n = 1, .k = 1, .residuals = mean_of, .user = &datum, .prior = &prior, .sd = &sd, .lambda = 1};
    oc_lm_fit(&p, &x, work);
    assert_true(fabs(x - 1) < 1e-4);
    p.n = 0;
    oc_lm_fit(&p, &x, work);
    assert_true(fabs(x) < 1e-4); /* no data: the prior */
}

static void parameters_stay_within_bounds(void **state)
{
    (void)state;
    double datum = 5, lo = -1, hi = 1, x = 0, work[2];
    struct oc_lm_problem p = {.n = 1, .k = 1, .residuals = mean_of, .user = &datum, .lo = &lo, .hi = &hi};
    oc_lm_fit(&p, &x, work);
    assert_true(x == 1);
}

static void not_finite(void *user, const double *x, double *r, double *jac)
{
    (void)user;
    if (jac) {
        jac[0] = 1;
        jac[1] = jac[3] = NAN;
        jac[2] = 0;
    }
    r[0] = x[0] > 0 ? NAN : x[0] < -1 ? INFINITY : x[0];
    r[1] = NAN;
}

/* Non-finite residuals, and a parameter that nothing depends on. */
static void fit_never_diverges(void **state)
{
    (void)state;
    double x[2] = {-0.5, 3}, work[3 * 2];
    struct oc_lm_problem p = {.n = 2, .k = 2, .residuals = not_finite};
    double loss = oc_lm_fit(&p, x, work);
    assert_true(isfinite(loss) && isfinite(x[0]) && isfinite(x[1]));
    assert_true(x[0] <= 0 && x[0] >= -1);
}

/* (x^2 - 4)^2 + (x + 2)^2 / 4 is 0 at -2 and has another minimum near 2. */
static void two_valleys(void *user, const double *x, double *r, double *jac)
{
    (void)user;
    if (jac) {
        jac[0] = 2 * x[0];
        jac[1] = 0.5;
    }
    r[0] = x[0] * x[0] - 4;
    r[1] = 0.5 * (x[0] + 2);
}

static void several_starts_find_the_global_minimum(void **state)
{
    (void)state;
    double start = 1.8, sd = 4, prior = 1.8, x = 0, work[2 * 2];
    struct oc_lm_problem p = {
        .n = 2, .k = 1, .residuals = two_valleys, .prior = &prior, .sd = &sd, .lambda = 1e-9};
    double one = oc_lm_fit(&p, &start, work);
    assert_true(start > 0 && one > 0.1);
    double loss = oc_lm_fit_multi(&p, &prior, 4, &x, work);
    assert_true(fabs(x + 2) < 1e-3 && loss < 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fits_a_line),
        cmocka_unit_test(outlier_has_little_weight),
        cmocka_unit_test(prior_counts_like_a_datum),
        cmocka_unit_test(parameters_stay_within_bounds),
        cmocka_unit_test(fit_never_diverges),
        cmocka_unit_test(several_starts_find_the_global_minimum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
