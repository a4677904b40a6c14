#include "estimate/validate.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "estimate/cal_fit.h"
#include "support/made_samples.h"

static const unsigned classes[] = {OC_KC_GEMM,        OC_KC_CONV_1X1, OC_KC_CONV_KXK,  OC_KC_CONV_DEPTHWISE,
                                   OC_KC_ELEMENTWISE, OC_KC_NORM,     OC_KC_TRANSPOSE, OC_KC_POOL};

/* Networks with kernels of several classes; each network is slower or faster as a whole by `common`, each
 * kernel by `noise`. A share `shared` of all kernels occurs in many networks. */
static void make_networks(struct oc_made *m, const struct oc_made_device *d, unsigned networks,
                          unsigned kernels, double common, double noise)
{
    char name[32];
    for (unsigned i = 0; i < networks; i++) {
        snprintf(name, sizeof(name), "net%03u", i);
        uint32_t model = oc_made_model(m, name);
        double all = exp(common * oc_made_normal(m)), sum = 0;
        for (unsigned j = 0; j < kernels; j++) {
            unsigned cls = classes[(unsigned)(oc_made_uniform(m) * (double)OC_COUNT(classes))];
            struct oc_cal_curve c = oc_curve_shipped(OC_CAL_CPU, cls, 200e9, 20e9);
            struct oc_kernel k =
                oc_made_kernel(cls, oc_made_between(m, 1e5, 1e9), oc_made_between(m, 1e4, 1e7));
            struct oc_cal_point p;
            c.ec *= 0.7;
            oc_cal_point_make(&d->device, &k, 0, &p);
            double t = oc_curve_time(&c, &p, NULL) * all * exp(noise * oc_made_normal(m));
            oc_made_add(m, model, &k, t, 1 + (j % 3));
            sum += t * (1 + j % 3);
        }
        m->set.model[model].run_s = sum + 50e-6 + 1e-6 * kernels * 2;
    }
}

static struct oc_validation *validate(struct oc_made *m, const struct oc_made_device *d)
{
    struct oc_validation *v;
    struct oc_err err;
    oc_made_plans(m);
    if (oc_validate(&m->set, &d->device, &v, &err))
        fail_msg("%s", err.msg);
    return v;
}

/* 10 % in common, 15 % in each of 30 kernels, and 110 us per run in addition to them: a run is predicted as well as
 * the common factor allows, and the interval holds. */
static void runs_are_predicted_within_the_common_error(void **state)
{
    (void)state;
    struct oc_made_device d;
    struct oc_made m;
    oc_made_device(&d);
    oc_made_start(&m, 5);
    make_networks(&m, &d, 16, 30, 0.10, 0.15);
    struct oc_validation *v = validate(&m, &d);
    struct oc_run_errors e = oc_validation_errors(v, OC_ALL_GROUPS);
    assert_int_equal(v->n_group, 16);
    assert_int_equal(e.n, 16);
    assert_true(e.median < 0.15);
    assert_true(e.most90 >= e.median && e.most90 < 0.30);
    assert_true(e.inside >= 0.65);
    oc_validation_free(v);
    oc_made_free(&m);
}

/* The first network again under another name and in another family: they share all kernels, so they are left
 * out together and neither has seen the other's kernels. */
static void networks_with_the_same_kernels_are_left_out_together(void **state)
{
    (void)state;
    struct oc_made_device d;
    struct oc_made m;
    oc_made_device(&d);
    oc_made_start(&m, 6);
    make_networks(&m, &d, 8, 30, 0, 0.15);
    uint32_t twin = oc_made_model(&m, "twin");
    for (size_t i = 0; i < 30; i++) {
        struct oc_kernel k = m.set.item[i].kernel;
        oc_made_add(&m, twin, &k, m.set.item[i].t_s * 1.02, m.set.item[i].repeats);
    }
    struct oc_validation *v = validate(&m, &d);
    assert_int_equal(v->n_group, 8);
    assert_int_equal(v->model[twin].group, v->model[0].group);
    assert_true(v->model[twin].run.share[OC_EVIDENCE_EXACT] == 0);
    oc_validation_free(v);
    oc_made_free(&m);
}

/* A third of the time in common is enough to be related, a fourth is not. Families stay together, networks of
 * single operators do not. */
static void groups_follow_shared_time_and_families(void **state)
{
    (void)state;
    struct oc_made m;
    uint32_t group[6];
    oc_made_start(&m, 8);
    for (unsigned i = 0; i < 6; i++) {
        char name[16];
        snprintf(name, sizeof(name), "net%u", i);
        uint32_t model = oc_made_model(&m, name);
        struct oc_kernel own = oc_made_kernel(OC_KC_GEMM, 1e6 * (i + 1), 1e5),
                         shared = oc_made_kernel(OC_KC_POOL, 1e6, i < 2 ? 1e5 : 2e5);
        own.signature = 100 + i;
        shared.signature = i < 2 ? 1 : i < 4 ? 2 : 0;
        oc_made_add(&m, model, &own, 2e-3, 1);
        oc_made_add(&m, model, &shared, i < 2 ? 1e-3 : 0.6e-3, 1);
        m.set.model[model].family_id = i == 3 || i == 4 ? "family" : i == 5 ? OC_MICRO_FAMILY : NULL;
    }
    m.set.model[2].family_id = OC_MICRO_FAMILY;
    assert_int_equal(oc_cal_groups(&m.set, group), 4);
    assert_int_equal(group[0], group[1]);
    assert_int_not_equal(group[2], group[3]);
    assert_int_equal(group[3], group[4]);
    assert_int_not_equal(group[2], group[5]);
    oc_made_free(&m);
}

/* Networks of single operators are fitted from, never left out, and not scored. */
static void networks_of_single_operators_are_not_scored(void **state)
{
    (void)state;
    struct oc_made_device d;
    struct oc_made m;
    oc_made_device(&d);
    oc_made_start(&m, 10);
    make_networks(&m, &d, 6, 30, 0, 0.15);
    m.set.model[2].family_id = m.set.model[4].family_id = OC_MICRO_FAMILY;
    struct oc_validation *v = validate(&m, &d);
    assert_int_equal(v->n_group, 4);
    assert_int_equal(oc_validation_errors(v, OC_ALL_GROUPS).n, 4);
    assert_true(v->model[2].group == OC_NO_GROUP);
    oc_validation_free(v);
    oc_made_free(&m);
}

static void one_network_is_not_enough(void **state)
{
    (void)state;
    struct oc_made_device d;
    struct oc_made m;
    struct oc_validation *v;
    struct oc_err err;
    oc_made_device(&d);
    oc_made_start(&m, 7);
    make_networks(&m, &d, 1, 30, 0, 0.1);
    assert_int_equal(oc_validate(&m.set, &d.device, &v, &err), -1);
    assert_null(v);
    assert_non_null(strstr(err.msg, "two networks"));
    oc_made_free(&m);
}

/* Errors of +10 %, -10 % and +50 % of 1, 2 and 4 s; the second and the third run are outside of their intervals.
 * The 90th percentile is 0.8 of the way from 10 % to 50 %. */
static void errors_equal_hand_calculation(void **state)
{
    (void)state;
    struct oc_held_out model[] = {
        {.group = 0, .measured_s = 1, .run = {.t_s = 1.1, .lo80_s = 0.9, .hi80_s = 1.2}},
        {.group = 0, .measured_s = 2, .run = {.t_s = 1.8, .lo80_s = 1.7, .hi80_s = 1.9}},
        {.group = 1, .measured_s = 4, .run = {.t_s = 6, .lo80_s = 5, .hi80_s = 7}},
        {.group = 1, .measured_s = NAN, .run = {.t_s = 6, .lo80_s = 5, .hi80_s = 7}},
        {.group = OC_NO_GROUP, .measured_s = 4, .run = {.t_s = 40}}};
    const struct oc_validation v = {.n_group = 2, .model = model, .n_model = OC_COUNT(model)};
    struct oc_run_errors all = oc_validation_errors(&v, OC_ALL_GROUPS), second = oc_validation_errors(&v, 1);
    assert_int_equal(all.n, 3);
    assert_true(fabs(all.median - 0.1) < 1e-12);
    assert_true(fabs(all.most90 - (0.1 + 0.8 * 0.4)) < 1e-12);
    assert_true(fabs(all.inside - 1.0 / 3) < 1e-12);
    assert_int_equal(second.n, 1);
    assert_true(second.median == 0.5 && second.most90 == 0.5 && second.inside == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_are_predicted_within_the_common_error),
        cmocka_unit_test(networks_with_the_same_kernels_are_left_out_together),
        cmocka_unit_test(groups_follow_shared_time_and_families),
        cmocka_unit_test(networks_of_single_operators_are_not_scored),
        cmocka_unit_test(one_network_is_not_enough),
        cmocka_unit_test(errors_equal_hand_calculation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
