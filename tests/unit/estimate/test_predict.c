#include "estimate/predict.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "estimate/calibrate.h"
#include "estimate/validate.h"
#include "support/made_samples.h"
#include "onnxcost/estimate.h"

static void assert_near(double got, double want)
{
    if (!(fabs(got - want) <= 1e-9 * fabs(want)))
        fail_msg("%.17g is not %.17g", got, want);
}

struct fixture {
    struct oc_made_device d;
    struct oc_made m;
    struct oc_calibration *cal;
    struct oc_kernel known; /* one of the measured kernels */
};

/* Matrix products and element-wise kernels in 12 networks; the CPU's shipped curves, 5 % noise. */
static void set_up(struct fixture *f)
{
    static const unsigned cls[] = {OC_KC_GEMM, OC_KC_ELEMENTWISE};
    char name[16];
    struct oc_err err;
    oc_made_device(&f->d);
    oc_made_start(&f->m, 21);
    for (unsigned i = 0; i < 12; i++) {
        snprintf(name, sizeof(name), "net%u", i);
        uint32_t model = oc_made_model(&f->m, name);
        for (unsigned j = 0; j < 24; j++) {
            struct oc_kernel k = oc_made_kernel(cls[j % 2], j % 2 ? 0 : oc_made_between(&f->m, 1e5, 1e10),
                                                oc_made_between(&f->m, 1e4, 1e8));
            struct oc_cal_curve c = oc_curve_shipped(OC_CAL_CPU, cls[j % 2], 200e9, 20e9);
            struct oc_cal_point p;
            oc_cal_point_make(&f->d.device, &k, 0, &p);
            oc_made_add(&f->m, model, &k, oc_curve_time(&c, &p, NULL) * exp(0.05 * oc_made_normal(&f->m)), 2);
            f->known = k;
        }
    }
    struct oc_calibrate_opts opts = {0};
    if (oc_calibrate(&f->m.set, &f->d.device, &opts, &f->cal, &err))
        fail_msg("%s", err.msg);
}

static void tear_down(struct fixture *f)
{
    oc_calibration_free(f->cal);
    oc_made_free(&f->m);
}

static struct oc_prediction predict(const struct oc_calibration *cal, const struct oc_device *d,
                                    const struct oc_kernel *k, bool no_exact)
{
    struct oc_predict_opts opts = {.const_bytes = 0};
    struct oc_kernel kernel = *k;
    struct oc_prediction p;
    kernel.signature = no_exact ? 0 : k->signature; /* without one no measurement is found */
    oc_predict_kernel(cal, d, &kernel, &opts, &p);
    return p;
}

static void check_order(const struct oc_prediction *p)
{
    assert_true(p->lo95_s <= p->lo80_s && p->lo80_s <= p->t_s && p->t_s <= p->hi80_s &&
                p->hi80_s <= p->hi95_s);
    assert_true(p->lo95_s > 0 && isfinite(p->hi95_s));
}

static double width(const struct oc_prediction *p)
{
    return log(p->hi80_s / p->t_s);
}

/* Each level of evidence, from the best one; lower levels have wider intervals. */
static void evidence_levels_fall_back_with_wider_intervals(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f);
    const struct oc_device *d = &f.d.device;
    struct oc_prediction p = predict(f.cal, d, &f.known, false);
    assert_int_equal(p.evidence, OC_EVIDENCE_EXACT);
    assert_near(p.t_s, oc_cal_find_signature(f.cal, f.known.signature)->t_s);
    check_order(&p);

    p = predict(f.cal, d, &f.known, true);
    assert_int_equal(p.evidence, OC_EVIDENCE_CALIBRATED);
    check_order(&p);
    double calibrated = width(&p);

    struct oc_kernel other = oc_made_kernel(OC_KC_NORM, 1e6, 1e6); /* memory-bound like element-wise */
    p = predict(f.cal, d, &other, false);
    assert_int_equal(p.evidence, OC_EVIDENCE_RELATED);
    check_order(&p);
    assert_true(width(&p) > calibrated);

    /* the same design, twice as fast everywhere: half the time, except for t0 */
    struct oc_made_device fast;
    oc_made_device(&fast);
    fast.f32.value *= 2;
    fast.dram_bw.value *= 2;
    fast.llc_bw.value *= 2;
    fast.device.info->id = "made-twice";
    p = predict(f.cal, d, &f.known, true);
    struct oc_prediction q = predict(f.cal, &fast.device, &f.known, false);
    assert_int_equal(q.evidence, OC_EVIDENCE_SISTER);
    check_order(&q);
    assert_true(fabs(2 * (q.t_s - q.t0_s) / (p.t_s - p.t0_s) - 1) < 0.02);
    assert_true(width(&q) > calibrated);

    p = predict(NULL, d, &f.known, false);
    assert_int_equal(p.evidence, OC_EVIDENCE_PRIOR);
    check_order(&p);
    assert_true(width(&p) > calibrated);

    struct oc_kernel odd = oc_made_kernel(OC_KC_OTHER, 2e9, 1e6); /* 10 ms at peak */
    p = predict(NULL, d, &odd, false);
    assert_int_equal(p.evidence, OC_EVIDENCE_BAND);
    assert_true(isnan(p.t_s));
    assert_near(p.lo80_s, 0.010 / 0.9);
    assert_near(p.hi80_s, 0.010 / 0.3 + oc_curve_prior(OC_CAL_CPU, OC_KC_OTHER).t0_s);

    odd.work.unknown = true;
    p = predict(f.cal, d, &odd, false);
    assert_int_equal(p.evidence, OC_EVIDENCE_NONE);
    assert_true(isnan(p.t_s) && isnan(p.hi95_s));
    tear_down(&f);
}

/* Virtual machines on two processors have one name; the size of the last cache distinguishes them. */
static void one_name_with_another_cache_is_another_device(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f);
    assert_near(f.cal->llc_bytes, 8e6);
    assert_int_equal(predict(f.cal, &f.d.device, &f.known, false).evidence, OC_EVIDENCE_EXACT);
    f.d.llc_size.value = 8.1e6;
    assert_true(oc_cal_is_of(f.cal, &f.d.device)); /* rounded in another file */
    f.d.llc_size.value = 6e6;
    assert_false(oc_cal_is_of(f.cal, &f.d.device));
    assert_int_equal(predict(f.cal, &f.d.device, &f.known, false).evidence, OC_EVIDENCE_SISTER);
    f.d.level[0].size = NULL; /* unknown: the name decides */
    assert_true(oc_cal_is_of(f.cal, &f.d.device));
    tear_down(&f);
}

/* A type that was not measured: the class is known, the efficiency of the type is not. */
/* An operator type of a measured class that no recording has: the curve of the class, with a wider interval.
 */
static void unmeasured_operator_is_related_evidence(void **state)
{
    (void)state;
    static const uint16_t measured[] = {5, 9};
    struct fixture f;
    set_up(&f);
    for (size_t i = 0; i < f.cal->n_key; i++) {
        f.cal->key[i].op = measured;
        f.cal->key[i].n_op = 2;
    }
    f.known.op = 9;
    struct oc_prediction p = predict(f.cal, &f.d.device, &f.known, true);
    assert_int_equal(p.evidence, OC_EVIDENCE_CALIBRATED);
    for (uint16_t op = 4; op <= 10; op += 2) {
        f.known.op = op;
        struct oc_prediction q = predict(f.cal, &f.d.device, &f.known, true);
        assert_int_equal(q.evidence, OC_EVIDENCE_RELATED);
        assert_near(q.t_s, p.t_s);
        assert_true(width(&q) > 1.4 * width(&p));
    }
    tear_down(&f);
}

static void unmeasured_type_is_related_evidence(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f);
    struct oc_kernel k = oc_made_kernel(OC_KC_GEMM, 0, 1e6);
    k.dtype = OC_CLASS_I8;
    k.work.macs[OC_CLASS_I8] = 1000000000;
    struct oc_prediction p = predict(f.cal, &f.d.device, &k, false);
    assert_int_equal(p.evidence, OC_EVIDENCE_RELATED);
    assert_true(width(&p) >= 1.2815 * OC_PRIOR_LN_SD);
    tear_down(&f);
}

/* A type with the curve of its class is calibrated, one with the curve of the group is not. */
static void curve_of_the_class_is_calibrated_that_of_the_group_related(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f);
    struct oc_kernel k = oc_made_kernel(OC_KC_GEMM, 1e8, 1e6);
    struct oc_cal_key *type = &f.cal->key[oc_cal_find_key(f.cal, OC_KC_GEMM, OC_CLASS_F32) - f.cal->key];
    struct oc_cal_key *class = &f.cal->key[type->parent];
    assert_int_equal(class->cls, OC_KC_GEMM);
    type->kind = OC_CAL_PARENT;
    class->kind = OC_CAL_CURVE;
    assert_int_equal(predict(f.cal, &f.d.device, &k, true).evidence, OC_EVIDENCE_CALIBRATED);
    class->kind = OC_CAL_PARENT;
    assert_int_equal(predict(f.cal, &f.d.device, &k, true).evidence, OC_EVIDENCE_RELATED);
    class->kind = OC_CAL_PRIOR;
    assert_int_equal(predict(f.cal, &f.d.device, &k, true).evidence, OC_EVIDENCE_RELATED);
    tear_down(&f);
}

/* Two decades above the largest kernel: the interval is wider by ln(2 + 1) * 0.2 on each side. */
static void extrapolation_widens_the_interval(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f);
    const struct oc_cal_key *k = oc_cal_find_key(f.cal, OC_KC_ELEMENTWISE, OC_CLASS_F32);
    struct oc_kernel inside = oc_made_kernel(OC_KC_ELEMENTWISE, 0, k->bytes_max),
                     outside = oc_made_kernel(OC_KC_ELEMENTWISE, 0, 100 * k->bytes_max);
    struct oc_prediction p = predict(f.cal, &f.d.device, &inside, true),
                         q = predict(f.cal, &f.d.device, &outside, true);
    assert_false(p.extrapolated);
    assert_true(p.widening == 0);
    assert_true(q.extrapolated);
    assert_true(fabs(q.decades - 2) < 1e-6);
    assert_true(fabs(q.widening - 0.2 * log(3)) < 1e-6);
    assert_true(fabs(width(&q) - width(&p) - 0.2 * log(3)) < 1e-6);
    tear_down(&f);
}

static void bound_is_compute_memory_or_cache(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f);
    struct oc_kernel k = oc_made_kernel(OC_KC_GEMM, 1e10, 1e5);
    assert_int_equal(predict(f.cal, &f.d.device, &k, true).bound, OC_BOUND_VECTOR);
    k = oc_made_kernel(OC_KC_GEMM, 1e6, 1e8);
    assert_int_equal(predict(f.cal, &f.d.device, &k, true).bound, OC_BOUND_DRAM);
    k = oc_made_kernel(OC_KC_GEMM, 1e6, 1e6); /* 1 MB of an 8 MB cache */
    assert_int_equal(predict(f.cal, &f.d.device, &k, true).bound, OC_BOUND_CACHE);
    k = oc_made_kernel(OC_KC_GEMM, 1e3, 1e3);
    assert_int_equal(predict(f.cal, &f.d.device, &k, true).bound, OC_BOUND_OVERHEAD);
    tear_down(&f);
}

static struct oc_prediction make_prediction(double t, unsigned evidence, double sd, uint64_t signature)
{
    return (struct oc_prediction){.t_s = t,
                                  .lo80_s = t / 2,
                                  .hi80_s = t * 2,
                                  .evidence = (uint8_t)evidence,
                                  .sd = sd,
                                  .tc_s = t,
                                  .signature = signature};
}

/* 3 x 2 ms, 1 x 4 ms: 10 ms of kernels, 4 gaps of 10 us, 100 us fixed. Shares 0.6
 * and 0.4; the first was measured itself, so only 0.4 of tau counts. Var = (0.4 * 0.2)^2 + 3 * 0.2^2 * 0.1^2
 * * (1 + 2 * 0.8) + 0.4^2
 * * 0.3^2 = 0.0064 + 0.00312 + 0.0144. */
static void serial_model_adds_kernels_gaps_and_variances(void **state)
{
    (void)state;
    struct oc_calibration cal = {
        .t_fix_s = 100e-6, .gap_s = 10e-6, .tau = 0.2, .rho = 0.8, .z80 = 1.5, .z95 = 3};
    struct oc_prediction a = make_prediction(2e-3, OC_EVIDENCE_EXACT, 0.1, 1),
                         b = make_prediction(4e-3, OC_EVIDENCE_PRIOR, 0.3, 2);
    struct oc_model_part part[] = {{&a, 3}, {&b, 1}};
    struct oc_model_prediction m;
    oc_predict_model(&cal, part, 2, false, &m);
    assert_near(m.kernels_s, 10e-3);
    assert_near(m.t_s, 10e-3 + 4 * 10e-6 + 100e-6);
    assert_near(m.share[OC_EVIDENCE_EXACT], 0.6);
    assert_near(m.share[OC_EVIDENCE_PRIOR], 0.4);
    assert_near(m.sd, sqrt(0.0064 + 0.00312 + 0.0144));
    assert_near(m.hi80_s, m.t_s * exp(1.5 * m.sd));
    assert_near(m.compute_s, 10e-3);
    /* the same kernels one by one are the same model */
    struct oc_model_part single[] = {{&a, 1}, {&b, 1}, {&a, 1}, {&a, 1}};
    struct oc_model_prediction s;
    oc_predict_model(&cal, single, 4, false, &s);
    assert_near(s.t_s, m.t_s);
    assert_near(s.sd, m.sd);
}

/* A profiler that takes 4 us of each kernel: of one of 2 us 4 * 2 / 4.5, at most nine tenths. Kernels that
 * run many times in a run, in a loop, have 0.55 of their launch of 3 us; measured ones keep their time. */
static void short_kernels_and_kernels_in_loops(void **state)
{
    static const struct {
        double t_s, repeats, gap_s, run_s;
        unsigned evidence;
    } c[] = {
        {2e-6, 1, -4e-6, 2e-6 - 4e-6 * 2 / 4.5, OC_EVIDENCE_CALIBRATED},
        {2e-6, 1, -9e-6, 0.2e-6, OC_EVIDENCE_CALIBRATED},
        {10e-6, 7, -4e-6, 7 * 6e-6, OC_EVIDENCE_CALIBRATED},
        {10e-6, 8, -4e-6, 8 * (10e-6 - 0.45 * 3e-6 - 4e-6), OC_EVIDENCE_CALIBRATED},
        {10e-6, 8, -4e-6, 8 * 6e-6, OC_EVIDENCE_EXACT},
        {1e-6, 100, 0, 100 * 0.55e-6, OC_EVIDENCE_RELATED},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
        struct oc_calibration cal = {.gap_s = c[i].gap_s, .tau = 0.2};
        struct oc_prediction a = make_prediction(c[i].t_s, c[i].evidence, 0.1, 1);
        struct oc_model_part part = {&a, c[i].repeats};
        struct oc_model_prediction m;
        a.t0_s = 3e-6;
        oc_predict_model(&cal, &part, 1, false, &m);
        assert_near(m.t_s, c[i].run_s);
    }
}

/* A range counts with its geometric mean; unknown kernels are not counted and are reported. */
static void ranges_and_unknown_kernels_in_a_model(void **state)
{
    (void)state;
    struct oc_prediction
        band = {.t_s = NAN, .lo80_s = 1e-3, .hi80_s = 4e-3, .evidence = OC_EVIDENCE_BAND, .sd = 0.5},
        none = {.t_s = NAN, .lo80_s = NAN, .hi80_s = NAN, .evidence = OC_EVIDENCE_NONE, .sd = NAN};
    struct oc_model_part part[] = {{&band, 1}, {&none, 5}};
    struct oc_model_prediction m;
    oc_predict_model(NULL, part, 2, false, &m);
    assert_near(m.kernels_s, 2e-3);
    assert_int_equal(m.n_unknown, 1);
    assert_near(m.share[OC_EVIDENCE_BAND], 1);
    oc_predict_model(NULL, part + 1, 1, false, &m);
    assert_true(isnan(m.t_s));
    oc_predict_model(NULL, part, 0, false, &m);
    assert_true(isnan(m.t_s));
}

/* Issue takes 10 us per kernel. 100 kernels of 2 us: the host is the limit, 100 * 10 + 2 us. 100 of 50 us:
 * the device is, 10 + 100 * 50 us. Sync adds 5 us. A long kernel first hides the issue of short ones: 10 +
 * 1000 + 20 * 2 us. */
static void asynchronous_device_overlaps_issue_and_kernels(void **state)
{
    (void)state;
    const struct oc_calibration measured = {.gap_s = 10e-6, .t_fix_s = 5e-6};
    struct oc_prediction small = make_prediction(2e-6, OC_EVIDENCE_EXACT, 0.1, 1),
                         large = make_prediction(50e-6, OC_EVIDENCE_EXACT, 0.1, 2),
                         huge = make_prediction(1000e-6, OC_EVIDENCE_EXACT, 0.1, 3);
    struct oc_model_prediction m;
    oc_predict_model(&measured, &(struct oc_model_part){&small, 100}, 1, true, &m);
    assert_near(m.t_s, 1002e-6 + 5e-6);
    oc_predict_model(&measured, &(struct oc_model_part){&large, 100}, 1, true, &m);
    assert_near(m.t_s, 5010e-6 + 5e-6);
    struct oc_model_part part[] = {{&huge, 1}, {&small, 20}};
    oc_predict_model(&measured, part, 2, true, &m);
    assert_near(m.t_s, 1050e-6 + 5e-6);
    /* unknown: 5 us and 10 us */
    oc_predict_model(NULL, &(struct oc_model_part){&small, 100}, 1, true, &m);
    assert_near(m.t_s, 502e-6 + 10e-6);
}

/* 50 calibrations of 40 networks each, with a common error of 10 % and 20 % in every kernel; 20 new networks
 * for each calibration. The intervals contain 80 and 95 % of the 1,000 networks, and of their kernels. */
struct tally {
    size_t n, in80, in95;
};

static void count(struct tally *t, double v, double lo80, double hi80, double lo95, double hi95)
{
    t->n++;
    t->in80 += v >= lo80 && v <= hi80;
    t->in95 += v >= lo95 && v <= hi95;
}

static struct oc_sample draw(struct oc_made *m, const struct oc_made_device *d, double common)
{
    static const unsigned cls[] = {OC_KC_GEMM, OC_KC_ELEMENTWISE, OC_KC_CONV_1X1};
    unsigned c = cls[(unsigned)(oc_made_uniform(m) * 3)];
    struct oc_cal_curve curve = oc_curve_shipped(OC_CAL_CPU, c, 200e9, 20e9);
    struct oc_cal_point p;
    curve.ec *= 0.7;
    struct oc_sample s = {.kernel =
                              oc_made_kernel(c, c == OC_KC_ELEMENTWISE ? 0 : oc_made_between(m, 1e6, 1e9),
                                             oc_made_between(m, 1e5, 1e7)),
                          .repeats = 1};
    oc_cal_point_make(&d->device, &s.kernel, 0, &p);
    s.t_s = oc_curve_time(&curve, &p, NULL) * common * exp(0.2 * oc_made_normal(m));
    return s;
}

static void try_network(struct oc_made *m, const struct oc_made_device *d, const struct oc_calibration *cal,
                        struct tally *models, struct tally *kernels)
{
    enum { N = 15 };
    struct oc_prediction p[N];
    struct oc_model_part part[N];
    struct oc_model_prediction all;
    double common = exp(0.1 * oc_made_normal(m)), sum = 0;
    for (unsigned i = 0; i < N; i++) {
        struct oc_sample s = draw(m, d, common);
        p[i] = predict(cal, &d->device, &s.kernel, true);
        part[i] = (struct oc_model_part){&p[i], 1};
        count(kernels, s.t_s, p[i].lo80_s, p[i].hi80_s, p[i].lo95_s, p[i].hi95_s);
        sum += s.t_s;
    }
    oc_predict_model(cal, part, N, false, &all);
    count(models, sum, all.lo80_s, all.hi80_s, all.lo95_s, all.hi95_s);
}

static void check_coverage(const struct tally *t)
{
    double in80 = (double)t->in80 / (double)t->n, in95 = (double)t->in95 / (double)t->n;
    if (fabs(in80 - 0.80) > 0.03 || fabs(in95 - 0.95) > 0.03)
        fail_msg("of %zu in the intervals: %.3f, %.3f", t->n, in80, in95);
}

static void intervals_have_their_nominal_coverage(void **state)
{
    (void)state;
#ifdef __SANITIZE_ADDRESS__
    skip(); /* statistics of what the other tests run too */
#endif
    struct oc_made_device d;
    struct tally models = {0}, kernels = {0};
    char name[16];
    oc_made_device(&d);
    for (unsigned round = 0; round < 8; round++) {
        struct oc_made m;
        struct oc_calibration *cal;
        struct oc_err err;
        oc_made_start(&m, 1000 + round);
        for (unsigned i = 0; i < 40; i++) {
            snprintf(name, sizeof(name), "net%u", i);
            uint32_t model = oc_made_model(&m, name);
            double common = exp(0.1 * oc_made_normal(&m));
            double sum = 0;
            for (unsigned j = 0; j < 10; j++) {
                struct oc_sample s = draw(&m, &d, common);
                oc_made_add(&m, model, &s.kernel, s.t_s, 1);
                sum += s.t_s;
            }
            m.set.model[model].run_s = sum;
        }
        struct oc_calibrate_opts opts = {.folds = 8};
        if (oc_calibrate(&m.set, &d.device, &opts, &cal, &err))
            fail_msg("%s", err.msg);
        oc_made_plans(&m);
        oc_validation_model_errors(&m.set, &d.device, cal);
        for (unsigned i = 0; i < 125; i++)
            try_network(&m, &d, cal, &models, &kernels);
        oc_calibration_free(cal);
        oc_made_free(&m);
    }
    print_message("in the intervals: %zu and %zu of 1000 networks, %zu and %zu of 15000 kernels\n",
                  models.in80, models.in95, kernels.in80, kernels.in95);
    assert_int_equal(models.n, 1000);
    check_coverage(&models);
    check_coverage(&kernels);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(evidence_levels_fall_back_with_wider_intervals),
        cmocka_unit_test(one_name_with_another_cache_is_another_device),
        cmocka_unit_test(unmeasured_operator_is_related_evidence),
        cmocka_unit_test(unmeasured_type_is_related_evidence),
        cmocka_unit_test(curve_of_the_class_is_calibrated_that_of_the_group_related),
        cmocka_unit_test(extrapolation_widens_the_interval),
        cmocka_unit_test(bound_is_compute_memory_or_cache),
        cmocka_unit_test(serial_model_adds_kernels_gaps_and_variances),
        cmocka_unit_test(short_kernels_and_kernels_in_loops),
        cmocka_unit_test(ranges_and_unknown_kernels_in_a_model),
        cmocka_unit_test(asynchronous_device_overlaps_issue_and_kernels),
        cmocka_unit_test(intervals_have_their_nominal_coverage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
