/* A calibration moved to another device: kernels there take 2.5 times the launch and 1.6 times the rest of what the other
 * calibration says, and few of them are measured. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "estimate/cal_fit.h"
#include "estimate/curve.h"
#include "estimate/predict.h"
#include "onnxcost.h"
#include "onnxcost/estimate.h"
#include "support/made_samples.h"

static const double launch = 2.5, rest = 1.6;

struct two {
    struct oc_made_device there, here;
    struct oc_made made; /* there */
    struct oc_calibration *base;
};

static struct oc_cal_curve curve_there(void)
{
    return (struct oc_cal_curve){.t0_s = 8e-6,
                                 .ec = 0.5,
                                 .em = 0.6,
                                 .p = 2,
                                 .wc = 1,
                                 .alpha = 0.6,
                                 .align = 1,
                                 .w_half_flop = 1e4,
                                 .b_half_bytes = 1e3};
}

static struct oc_kernel kernel(struct oc_made *m, unsigned cls)
{
    return oc_made_kernel(cls, oc_made_between(m, 1e4, 1e10), oc_made_between(m, 1e3, 3e8));
}

static void start(struct two *t)
{
    struct oc_err err;
    struct oc_cal_curve c = curve_there();
    oc_made_device(&t->there);
    oc_made_device(&t->here);
    t->there.device.info->id = "there";
    t->here.device.info->id = "here";
    oc_made_start(&t->made, 3);
    for (unsigned i = 0; i < 12; i++) {
        char name[] = {'n', (char)('a' + i), '\0'};
        uint32_t model = oc_made_model(&t->made, name);
        for (unsigned k = 0; k < 40; k++) {
            struct oc_kernel kern = kernel(&t->made, k % 2 ? OC_KC_GEMM : OC_KC_CONV_1X1);
            struct oc_cal_point p;
            oc_cal_point_make(&t->there.device, &kern, 0, &p);
            oc_made_add(&t->made, model, &kern, oc_curve_time(&c, &p, NULL), 1);
        }
    }
    t->made.set.threads = 2;
    if (oc_calibrate(&t->made.set, &t->there.device, NULL, &t->base, &err))
        fail_msg("%s", err.msg);
}

static void stop(struct two *t)
{
    oc_calibration_free(t->base);
    oc_made_free(&t->made);
}

static double time_here(const struct two *t, const struct oc_kernel *k)
{
    struct oc_curve_parts parts;
    struct oc_cal_point p;
    struct oc_cal_curve c = curve_there();
    oc_cal_point_make(&t->here.device, k, 0, &p);
    double all = oc_curve_time(&c, &p, &parts);
    return launch * parts.t0_s + rest * (all - parts.t0_s);
}

/* n kernels of gemm, measured here by one thread. */
static struct oc_samples measure(const struct two *t, struct oc_made *m, unsigned n)
{
    oc_made_start(m, 8);
    uint32_t model = oc_made_model(m, "probe");
    for (unsigned i = 0; i < n; i++) {
        struct oc_kernel k = kernel(m, OC_KC_GEMM);
        oc_made_add(m, model, &k, time_here(t, &k), 1);
    }
    m->set.threads = 1;
    m->set.runtime_version = "";
    return (struct oc_samples){.set = m->set, .device = &t->here.device};
}

static double missed(const struct two *t, const struct oc_calibration *cal, unsigned cls)
{
    struct oc_made m;
    double worst = 0;
    oc_made_start(&m, 21);
    for (unsigned i = 0; i < 50; i++) {
        struct oc_kernel k = kernel(&m, cls);
        struct oc_prediction p;
        oc_predict_kernel(cal, &t->here.device, &k, &(struct oc_predict_opts){.const_bytes = 0}, &p);
        worst = fmax(worst, fabs(log(p.t_s / time_here(t, &k))));
    }
    oc_made_free(&m);
    return worst;
}

/* The more kernels, the nearer: the shapes of the curves stay as they are. */
static void kernels_move_all_curves(void **state)
{
    (void)state;
    static const struct {
        unsigned n;
        double measured, other; /* classes: largest ln of the time over the prediction */
    } table[] = {{10, 0.65, 0.65}, {40, 0.35, 0.35}, {400, 0.12, 0.12}};
    struct two t;
    struct oc_err err;
    start(&t);
    assert_true(missed(&t, t.base, OC_KC_GEMM) > 0.8);
    for (size_t i = 0; i < OC_COUNT(table); i++) {
        struct oc_made m;
        struct oc_calibration *cal;
        struct oc_samples s = measure(&t, &m, table[i].n);
        assert_int_equal(oc_calibration_move(t.base, &s, NULL, &cal, &err), 0);
        assert_true(missed(&t, cal, OC_KC_GEMM) < table[i].measured);
        assert_true(missed(&t, cal, OC_KC_CONV_1X1) < table[i].other);
        oc_calibration_free(cal);
        oc_made_free(&m);
    }
    stop(&t);
}

static void moved_calibration_says_where_from(void **state)
{
    (void)state;
    struct two t;
    struct oc_made m;
    struct oc_calibration *cal;
    struct oc_err err;
    start(&t);
    struct oc_samples s = measure(&t, &m, 40);
    assert_int_equal(oc_calibration_move(t.base, &s, NULL, &cal, &err), 0);
    assert_string_equal(cal->device, "here");
    assert_string_equal(cal->from, "there, 2 threads");
    assert_int_equal(cal->threads, 1);
    assert_int_equal(cal->n_sample, 40);
    assert_int_equal(cal->n_model, 1);
    assert_int_equal(cal->n_key, t.base->n_key);
    for (size_t i = 0; i < cal->n_key; i++) {
        assert_true(cal->key[i].errors.d80[0] == t.base->key[i].errors.d80[0]);
        assert_int_equal(cal->key[i].n_op, t.base->key[i].n_op);
    }
    oc_calibration_free(cal);
    t.base->threads = 0; /* not known */
    assert_int_equal(oc_calibration_move(t.base, &s, NULL, &cal, &err), 0);
    assert_string_equal(cal->from, "there");
    oc_calibration_free(cal);
    oc_made_free(&m);
    stop(&t);
}

/* Here the profiler adds 10 us to each kernel, which the times of runs without it show. */
static void part_of_the_profiler_is_measured(void **state)
{
    (void)state;
    enum { NETWORKS = 5, KERNELS = 60 };
    const double added_s = 10e-6;
    struct two t;
    struct oc_made m;
    struct oc_calibration *cal;
    struct oc_err err;
    start(&t);
    oc_made_start(&m, 8);
    for (unsigned i = 0; i < NETWORKS; i++) {
        char name[] = {'p', (char)('a' + i), '\0'};
        uint32_t model = oc_made_model(&m, name);
        double plain_s = 0;
        for (unsigned k = 0; k < KERNELS; k++) {
            struct oc_kernel kern = kernel(&m, OC_KC_GEMM);
            plain_s += time_here(&t, &kern);
            oc_made_add(&m, model, &kern, time_here(&t, &kern) + added_s, 1);
        }
        m.set.model[model].plain_s = plain_s;
        m.set.model[model].kernels_s = plain_s + KERNELS * added_s;
        m.set.model[model].gap_sum = KERNELS;
    }
    m.set.runtime_version = "";
    struct oc_samples s = {.set = m.set, .device = &t.here.device};
    assert_int_equal(oc_calibration_move(t.base, &s, NULL, &cal, &err), 0);
    assert_true(fabs(cal->gap_s + added_s) < 0.5e-6);
    struct oc_kernel k = oc_made_kernel(OC_KC_GEMM, 1e4, 1e3);
    struct oc_prediction p;
    oc_predict_kernel(cal, &t.here.device, &k, &(struct oc_predict_opts){.const_bytes = 0}, &p);
    assert_true(fabs(log(p.t_s / (time_here(&t, &k) + added_s))) < 0.15);
    oc_calibration_free(cal);
    oc_made_free(&m);
    stop(&t);
}

/* One kernel counts as much as a third of what is known without it. */
static void one_kernel_is_not_believed(void **state)
{
    (void)state;
    struct two t;
    struct oc_made m;
    struct oc_calibration *cal;
    struct oc_err err;
    start(&t);
    oc_made_start(&m, 8);
    uint32_t model = oc_made_model(&m, "probe");
    struct oc_kernel k = oc_made_kernel(OC_KC_GEMM, 1e9, 1e6);
    oc_made_add(&m, model, &k, 16 * time_here(&t, &k), 1);
    m.set.runtime_version = "";
    struct oc_samples s = {.set = m.set, .device = &t.here.device};
    assert_int_equal(oc_calibration_move(t.base, &s, NULL, &cal, &err), 0);
    const struct oc_cal_key *before = oc_cal_find_key(t.base, OC_KC_CONV_1X1, OC_CLASS_F32),
                            *after = oc_cal_find_key(cal, OC_KC_CONV_1X1, OC_CLASS_F32);
    assert_non_null(before);
    double factor = before->curve.ec / after->curve.ec;
    assert_true(factor > 1.5 && factor < 16);
    assert_true(before->curve.t0_s == after->curve.t0_s);
    oc_calibration_free(cal);
    oc_made_free(&m);
    stop(&t);
}

static void recordings_of_another_runtime_are_refused(void **state)
{
    (void)state;
    struct two t;
    struct oc_made m;
    struct oc_calibration *cal;
    struct oc_err err;
    start(&t);
    struct oc_samples s = measure(&t, &m, 4);
    s.set.runtime = "another";
    assert_int_equal(oc_calibration_move(t.base, &s, NULL, &cal, &err), -1);
    assert_null(cal);
    assert_non_null(strstr(err.msg, "the recordings are of another"));
    s.set.n = 0;
    s.set.runtime = t.base->runtime;
    assert_int_equal(oc_calibration_move(t.base, &s, NULL, &cal, &err), -1);
    oc_made_free(&m);
    stop(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_move_all_curves),
        cmocka_unit_test(moved_calibration_says_where_from),
        cmocka_unit_test(part_of_the_profiler_is_measured),
        cmocka_unit_test(one_kernel_is_not_believed),
        cmocka_unit_test(recordings_of_another_runtime_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
