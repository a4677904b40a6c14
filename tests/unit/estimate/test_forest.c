#include "estimate/curve.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/made_samples.h"

enum { N = 400 };

struct data {
    double x[N * OC_FOREST_FEATURES], y[N], w[N];
};

/* y is a step of feature 3 and a smaller one of feature 7; the rest is noise. */
static struct data *make_data(void)
{
    struct oc_made m;
    struct data *d = calloc(1, sizeof(*d));
    oc_made_start(&m, 11);
    for (int i = 0; i < N; i++) {
        for (int f = 0; f < OC_FOREST_FEATURES; f++)
            d->x[i * OC_FOREST_FEATURES + f] = oc_made_uniform(&m);
        const double *x = d->x + i * OC_FOREST_FEATURES;
        d->y[i] = (x[3] > 0.5 ? 0.4 : -0.2) + (x[7] > 0.3 ? 0.1 : 0);
        d->w[i] = 1;
    }
    oc_made_free(&m);
    return d;
}

static void forest_learns_steps(void **state)
{
    (void)state;
    struct oc_arena a = {0};
    struct data *d = make_data();
    const struct oc_forest *f = oc_forest_fit(&a, d->x, d->y, d->w, N, NULL);
    assert_non_null(f);
    assert_int_equal(f->n_tree, 32);
    assert_int_equal(f->root[32], f->n_node);
    double x[OC_FOREST_FEATURES];
    for (int i = 0; i < OC_FOREST_FEATURES; i++)
        x[i] = 0.5;
    x[3] = 0.9;
    x[7] = 0.9;
    assert_true(fabs(oc_forest_answer(f, x) - 0.5) < 0.1);
    x[3] = 0.1;
    x[7] = 0.1;
    assert_true(fabs(oc_forest_answer(f, x) + 0.2) < 0.15);
    oc_arena_free(&a);
    free(d);
}

/* The same seed gives the same bits. Predictions stay within the seen values, and within the clip. */
static void forest_is_deterministic_and_clipped(void **state)
{
    (void)state;
    struct oc_arena a = {0};
    struct data *d = make_data();
    for (int i = 0; i < N; i++)
        d->y[i] *= 50;
    const struct oc_forest *f = oc_forest_fit(&a, d->x, d->y, d->w, N, NULL),
                           *g = oc_forest_fit(&a, d->x, d->y, d->w, N, NULL);
    assert_int_equal(f->n_node, g->n_node);
    assert_memory_equal(f->node, g->node, f->n_node * sizeof(*f->node));
    assert_true(f->hi == OC_FOREST_CLIP && f->lo == -OC_FOREST_CLIP);
    double x[OC_FOREST_FEATURES] = {0};
    x[3] = x[7] = 1;
    assert_true(oc_forest_answer(f, x) == OC_FOREST_CLIP);
    oc_arena_free(&a);
    free(d);
}

static void forest_needs_two_leaves(void **state)
{
    (void)state;
    struct oc_arena a = {0};
    struct data *d = make_data();
    assert_null(oc_forest_fit(&a, d->x, d->y, d->w, 15, NULL));
    assert_null(oc_forest_fit(&a, d->x, d->y, d->w, 0, NULL));
    /* features without any variation: no split, the mean is the prediction */
    memset(d->x, 0, sizeof(d->x));
    const struct oc_forest *f = oc_forest_fit(&a, d->x, d->y, d->w, N, NULL);
    assert_int_equal(f->n_node, f->n_tree);
    oc_arena_free(&a);
    free(d);
}

static void features_have_names(void **state)
{
    (void)state;
    struct oc_made_device d;
    oc_made_device(&d);
    struct oc_kernel k = oc_made_kernel(OC_KC_GEMM, 1e9, 1e6);
    struct oc_cal_point p;
    double x[OC_FOREST_FEATURES];
    oc_cal_point_make(&d.device, &k, 0, &p);
    oc_forest_features(&k, &p, x);
    for (unsigned i = 0; i < OC_FOREST_FEATURES; i++)
        assert_true(isfinite(x[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forest_learns_steps),
        cmocka_unit_test(forest_is_deterministic_and_clipped),
        cmocka_unit_test(forest_needs_two_leaves),
        cmocka_unit_test(features_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
