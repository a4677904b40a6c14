#include "estimate/predict.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "estimate/curve.h"
#include "estimate/cal_fit.h"
#include "support/made_samples.h"
#include "onnxcost/estimate.h"

/* A cost curve: T = t0 + (Tc^p + Tm^p)^(1/p) with efficiencies Ec and Em and almost no saturation. */
static struct oc_cal_curve make_curve(double t0, double ec, double em, double p)
{
    return (struct oc_cal_curve){.t0_s = t0,
                                 .ec = ec,
                                 .em = em,
                                 .p = p,
                                 .wc = 1,
                                 .alpha = 0.6,
                                 .align = 1,
                                 .w_half_flop = 0.01 * t0 * 200e9,
                                 .b_half_bytes = 0.01 * t0 * 20e9};
}

struct sizes {
    double flop_lo, flop_hi, bytes_lo, bytes_hi;
};
static const struct sizes all_sizes = {1e4, 1e10, 1e3, 3e8};

static void add_curve_samples(struct oc_made *m, const struct oc_made_device *d, unsigned cls,
                              const struct oc_cal_curve *c, const struct sizes *s, unsigned models,
                              unsigned each, double noise)
{
    char name[32];
    for (unsigned i = 0; i < models; i++) {
        snprintf(name, sizeof(name), "net%02u", i);
        uint32_t model = i < m->set.n_model ? i : oc_made_model(m, name);
        for (unsigned j = 0; j < each; j++) {
            struct oc_kernel k = oc_made_kernel(cls, oc_made_between(m, s->flop_lo, s->flop_hi),
                                                oc_made_between(m, s->bytes_lo, s->bytes_hi));
            struct oc_cal_point p;
            oc_cal_point_make(&d->device, &k, 0, &p);
            oc_made_add(m, model, &k, oc_curve_time(c, &p, NULL) * exp(noise * oc_made_normal(m)), 1);
        }
    }
}

static struct oc_calibration *calibrate(const struct oc_made *m, const struct oc_made_device *d)
{
    struct oc_calibration *cal;
    struct oc_err err;
    if (oc_calibrate(&m->set, &d->device, NULL, &cal, &err))
        fail_msg("%s", err.msg);
    return cal;
}

static void assert_within(double got, double want, double part)
{
    if (!(fabs(got / want - 1) <= part))
        fail_msg("%g is not within %g %% of %g", got, 100 * part, want);
}

/* 5 % of log-normal noise: Ec and Em are recovered within 5 %, t0 within 10 %, p exactly. */
static void recovers_the_parameters_of_a_curve(void **state)
{
    (void)state;
    static const double p[] = {1, 2, 4, INFINITY};
    for (size_t i = 0; i < 4; i++) {
        struct oc_made_device d;
        struct oc_made m;
        oc_made_device(&d);
        oc_made_start(&m, 17 + i);
        struct oc_cal_curve truth = make_curve(4e-6, 0.55, 0.65, p[i]);
        add_curve_samples(&m, &d, OC_KC_GEMM, &truth, &all_sizes, 12, 40, 0.05);
        struct oc_calibration *cal = calibrate(&m, &d);
        const struct oc_cal_key *k = oc_cal_find_key(cal, OC_KC_GEMM, OC_CLASS_F32);
        assert_non_null(k);
        assert_int_equal(k->kind, OC_CAL_CURVE);
        assert_within(k->curve.ec, 0.55, 0.05);
        assert_within(k->curve.em, 0.65, 0.05);
        assert_within(k->curve.t0_s, 4e-6, 0.10);
        assert_true(k->curve.p == p[i]);
        assert_true(k->ec_known && k->em_known);
        oc_calibration_free(cal);
        oc_made_free(&m);
    }
}

/* Kernels that only move bytes do not determine Ec: it stays at the prior of the class, and the key says so.
 */
static void memory_bound_samples_leave_ec_at_its_prior(void **state)
{
    (void)state;
    static const struct sizes moving = {2, 1e4, 1e3, 3e8};
    struct oc_made_device d;
    struct oc_made m;
    oc_made_device(&d);
    oc_made_start(&m, 5);
    struct oc_cal_curve truth = make_curve(4e-6, 0.3, 0.6, 2);
    add_curve_samples(&m, &d, OC_KC_GEMM, &truth, &moving, 10, 20, 0.05);
    struct oc_calibration *cal = calibrate(&m, &d);
    const struct oc_cal_key *k = oc_cal_find_key(cal, OC_KC_GEMM, OC_CLASS_F32);
    assert_false(k->ec_known);
    assert_true(k->em_known);
    assert_within(k->curve.ec, oc_curve_prior(OC_CAL_CPU, OC_KC_GEMM).ec, 1e-9);
    assert_within(k->curve.em, 0.6, 0.05);
    oc_calibration_free(cal);
    oc_made_free(&m);
}

static void compute_bound_samples_leave_em_at_its_prior(void **state)
{
    (void)state;
    static const struct sizes computing = {1e5, 1e8, 1e1, 1e3};
    struct oc_made_device d;
    struct oc_made m;
    oc_made_device(&d);
    oc_made_start(&m, 6);
    struct oc_cal_curve truth = make_curve(4e-6, 0.3, 0.6, 2);
    add_curve_samples(&m, &d, OC_KC_GEMM, &truth, &computing, 10, 20, 0.05);
    struct oc_calibration *cal = calibrate(&m, &d);
    const struct oc_cal_key *k = oc_cal_find_key(cal, OC_KC_GEMM, OC_CLASS_F32);
    assert_true(k->ec_known);
    assert_false(k->em_known);
    assert_within(k->curve.em, oc_curve_prior(OC_CAL_CPU, OC_KC_GEMM).em, 1e-9);
    assert_within(k->curve.ec, 0.3, 0.05);
    oc_calibration_free(cal);
    oc_made_free(&m);
}

static void check_finite(const struct oc_calibration *cal)
{
    for (size_t i = 0; i < cal->n_key; i++) {
        const struct oc_cal_key *k = &cal->key[i];
        assert_true(isfinite(k->curve.t0_s) && k->curve.t0_s >= 0);
        assert_true(isfinite(k->curve.ec) && k->curve.ec > 0);
        assert_true(isfinite(k->curve.em) && k->curve.em > 0);
        assert_true(isfinite(k->curve.w_half_flop) && isfinite(k->curve.b_half_bytes));
        assert_true(k->errors.d80[0] >= 0 && isfinite(k->errors.d95[2]) && isfinite(k->errors.sd));
    }
    assert_true(isfinite(cal->tau) && isfinite(cal->z80) && isfinite(cal->t_fix_s) && isfinite(cal->gap_s));
}

struct poor {
    double flop, bytes;
    unsigned n;
};

/* One sample, equal samples, no operations, no bytes, neither. */
static void degenerate_samples_do_not_diverge(void **state)
{
    (void)state;
    static const struct poor set[] = {{1e8, 1e6, 1}, {1e8, 1e6, 40}, {0, 1e6, 40}, {1e8, 0, 40}, {0, 0, 40}};
    struct oc_made_device d;
    oc_made_device(&d);
    for (size_t i = 0; i < OC_COUNT(set); i++) {
        struct oc_made m;
        oc_made_start(&m, 1);
        uint32_t a = oc_made_model(&m, "a"), b = oc_made_model(&m, "b");
        for (unsigned j = 0; j < set[i].n; j++) {
            struct oc_kernel k = oc_made_kernel(OC_KC_CONV_1X1, set[i].flop, set[i].bytes);
            k.signature = j + 1;
            oc_made_add(&m, j % 2 ? a : b, &k, 1e-3 * (1 + 1e-3 * j), 1);
        }
        struct oc_calibration *cal = calibrate(&m, &d);
        check_finite(cal);
        oc_calibration_free(cal);
        oc_made_free(&m);
    }
}

/* Fewer than 8 signatures or less than a decade of sizes: the parent's curve is used. */
static void few_signatures_use_the_parent_curve(void **state)
{
    (void)state;
    static const struct sizes narrow = {1e8, 5e8, 1e6, 5e6}, work = {1e4, 1e10, 1e6, 5e6},
                              memory = {1e8, 5e8, 1e3, 3e8};
    struct oc_made_device d;
    struct oc_made m;
    oc_made_device(&d);
    oc_made_start(&m, 8);
    struct oc_cal_curve truth = make_curve(4e-6, 0.5, 0.6, 2);
    add_curve_samples(&m, &d, OC_KC_GEMM, &truth, &all_sizes, 6, 20, 0.05);
    add_curve_samples(&m, &d, OC_KC_CONV_KXK, &truth, &narrow, 6, 10, 0.05);
    add_curve_samples(&m, &d, OC_KC_CONV_1X1, &truth, &all_sizes, 6, 1, 0.05);
    add_curve_samples(&m, &d, OC_KC_CONV_DEPTHWISE, &truth, &work, 6, 20, 0.05);
    add_curve_samples(&m, &d, OC_KC_ATTENTION_PREFILL, &truth, &memory, 6, 20, 0.05);
    struct oc_calibration *cal = calibrate(&m, &d);
    assert_int_equal(oc_cal_find_key(cal, OC_KC_GEMM, OC_CLASS_F32)->kind, OC_CAL_CURVE);
    assert_int_equal(oc_cal_find_key(cal, OC_KC_CONV_KXK, OC_CLASS_NONE)->kind, OC_CAL_PARENT);
    /* decades of work or of bytes suffice */
    assert_int_equal(oc_cal_find_key(cal, OC_KC_CONV_DEPTHWISE, OC_CLASS_NONE)->kind, OC_CAL_CURVE);
    assert_int_equal(oc_cal_find_key(cal, OC_KC_ATTENTION_PREFILL, OC_CLASS_NONE)->kind, OC_CAL_CURVE);
    const struct oc_cal_key *k = oc_cal_find_key(cal, OC_KC_CONV_1X1, OC_CLASS_NONE);
    assert_int_equal(k->kind, OC_CAL_PARENT);
    assert_int_equal(k->n, 6);
    assert_int_equal(cal->key[k->parent].cls, OC_KC_COUNT + OC_KG_COMPUTE);
    /* conv_1x1 has the prior of gemm, so the curve of the group is its own */
    assert_within(k->curve.ec, cal->key[k->parent].curve.ec, 1e-9);
    oc_calibration_free(cal);
    oc_made_free(&m);
}

/* A class whose kernels all are large has the launch time of its group: a tiny kernel takes microseconds. */
static void curve_of_large_kernels_has_a_launch_time(void **state)
{
    (void)state;
    struct oc_made_device d;
    struct oc_made m;
    oc_made_device(&d);
    oc_made_start(&m, 9);
    static const struct sizes large = {1e9, 1e11, 1e8, 1e9};
    struct oc_cal_curve truth = make_curve(4e-6, 0.5, 0.6, 1);
    add_curve_samples(&m, &d, OC_KC_ELEMENTWISE, &truth, &all_sizes, 10, 20, 0.05);
    add_curve_samples(&m, &d, OC_KC_POOL, &truth, &large, 10, 20, 0.05);
    struct oc_calibration *cal = calibrate(&m, &d);
    struct oc_kernel tiny = oc_made_kernel(OC_KC_POOL, 100, 100);
    struct oc_prediction p;
    oc_predict_kernel(cal, &d.device, &tiny, NULL, &p);
    assert_true(p.t_s > 1e-6);
    oc_calibration_free(cal);
    oc_made_free(&m);
}

/* The last cache has 8 MB. With a smaller one before it, half of their ratio, the ratio and its double are tried, too. */
static void shares_of_the_last_cache_to_try(void **state)
{
    (void)state;
    static const struct {
        double previous;
        unsigned n;
    } c[] = {{0, 1}, {1e6, 4}, {8e6, 1}, {9e6, 1}};
    for (size_t i = 0; i < OC_COUNT(c); i++) {
        struct oc_made_device d;
        oc_made_device(&d);
        struct oc_hw_figure size = {.value = c[i].previous};
        struct oc_hw_level level[] = {{.name = "L2", .size = &size}, d.level[0], d.level[1]};
        d.device.level = level;
        d.device.n_level = 3;
        struct oc_arena arena = {0};
        struct oc_cal_data none = {0};
        struct oc_key_tree t;
        oc_key_tree_fit(&arena, &none, &d.device, &t);
        assert_int_equal(t.n_alpha, c[i].n);
        for (unsigned k = 1; k < t.n_alpha; k++)
            assert_true(t.alpha[k] == (1 << k) / 32.0);
        oc_arena_free(&arena);
    }
}

static void shuffle(struct oc_made *m, uint64_t seed)
{
    struct oc_made random = {.random = seed};
    for (size_t i = m->set.n; i > 1; i--) {
        size_t j = (size_t)(oc_made_uniform(&random) * (double)i);
        struct oc_sample s = m->set.item[i - 1];
        m->set.item[i - 1] = m->set.item[j];
        m->set.item[j] = s;
    }
    /* models in reverse order */
    for (size_t i = 0, j = m->set.n_model; i + 1 < j; i++) {
        struct oc_sample_model s = m->set.model[i];
        m->set.model[i] = m->set.model[--j];
        m->set.model[j] = s;
    }
    for (size_t i = 0; i < m->set.n; i++)
        m->set.item[i].model = (uint32_t)m->set.n_model - 1 - m->set.item[i].model;
}

static void add_shared(struct oc_made *m)
{
    for (uint32_t i = 0; i < m->set.n_model; i++) {
        struct oc_kernel k = oc_made_kernel(OC_KC_POOL, 1e6, 1e6);
        oc_made_add(m, i, &k, 1e-4 * (1 + 0.01 * i), 1 + i);
        oc_made_add(m, i, &k, 1.2e-4, 1); /* the same again: merged */
        m->set.model[i].run_s = 1e-2 + 1e-4 * i;
    }
}

/* The same samples in another order give the same calibration, bit for bit. */
static void order_of_samples_does_not_matter(void **state)
{
    (void)state;
    struct oc_made_device d;
    struct oc_made m;
    oc_made_device(&d);
    oc_made_start(&m, 10);
    struct oc_cal_curve truth = make_curve(4e-6, 0.5, 0.6, 2), other = make_curve(6e-6, 0.2, 0.4, 1);
    add_curve_samples(&m, &d, OC_KC_GEMM, &truth, &all_sizes, 7, 15, 0.2);
    add_curve_samples(&m, &d, OC_KC_CONV_1X1, &other, &all_sizes, 7, 15, 0.2);
    add_curve_samples(&m, &d, OC_KC_NORM, &other, &all_sizes, 7, 9, 0.2);
    add_shared(&m);
    struct oc_calibration *a = calibrate(&m, &d);
    shuffle(&m, 77);
    struct oc_calibration *b = calibrate(&m, &d);
    assert_int_equal(a->n_key, b->n_key);
    assert_true(a->checksum == b->checksum);
    for (size_t i = 0; i < a->n_key; i++) {
        assert_memory_equal(&a->key[i].curve, &b->key[i].curve, sizeof(a->key[i].curve));
        assert_memory_equal(&a->key[i].errors, &b->key[i].errors, sizeof(a->key[i].errors));
    }
    assert_int_equal(a->n_signature, b->n_signature);
    assert_int_equal(a->n_signature, 7 * 39 + 1);
    assert_memory_equal(a->signature, b->signature, a->n_signature * sizeof(*a->signature));
    assert_true(a->tau == b->tau && a->z80 == b->z80 && a->t_fix_s == b->t_fix_s && a->gap_s == b->gap_s);
    oc_calibration_free(a);
    oc_calibration_free(b);
    oc_made_free(&m);
}

/* Runs take 200 us and, in addition to each kernel of t, 3 us * t / (t + 15 us). */
static void overhead_of_runs_is_fitted(void **state)
{
    (void)state;
    struct oc_made_device d;
    struct oc_made m;
    oc_made_device(&d);
    oc_made_start(&m, 12);
    char name[16];
    for (unsigned i = 0; i < 12; i++) {
        snprintf(name, sizeof(name), "net%u", i);
        uint32_t model = oc_made_model(&m, name);
        unsigned kernels = 10 + 15 * i;
        double each = i % 3 ? 1e-4 : 8e-6, part = oc_cal_gap_part(each);
        for (unsigned j = 0; j < 4; j++) {
            struct oc_kernel k = oc_made_kernel(OC_KC_GEMM, 1e7 * (j + 1), 1e5 * (i + 1));
            oc_made_add(&m, model, &k, 1e-4, 1);
        }
        struct oc_sample_model *s = &m.set.model[model];
        s->kernels = kernels;
        s->gap_sum = kernels * part;
        s->kernels_s = each * kernels;
        s->run_s = each * kernels + 200e-6 + kernels * 3e-6 * part;
    }
    struct oc_calibration *cal = calibrate(&m, &d);
    assert_within(cal->t_fix_s, 200e-6, 0.01);
    assert_within(cal->gap_s, 3e-6, 0.01);
    oc_calibration_free(cal);
    oc_made_free(&m);
}

/* Kernels twice as fast as physically possible are not what they claim to be; no sample left is an error. */
static void impossible_samples_are_rejected(void **state)
{
    (void)state;
    struct oc_made_device d;
    struct oc_made m;
    struct oc_calibration *cal;
    struct oc_err err;
    oc_made_device(&d);
    oc_made_start(&m, 13);
    uint32_t model = oc_made_model(&m, "a");
    struct oc_kernel k = oc_made_kernel(OC_KC_GEMM, 2e9, 1e6), unknown = k;
    unknown.work.unknown = true;
    oc_made_add(&m, model, &k, 4.9e-3, 1); /* 10 ms at peak */
    oc_made_add(&m, model, &unknown, 1, 1);
    oc_made_add(&m, model, &k, NAN, 1);
    oc_made_add(&m, model, &k, 0, 1);
    oc_made_add(&m, 7, &k, 1, 1); /* a model that does not exist */
    assert_int_equal(oc_calibrate(&m.set, &d.device, NULL, &cal, &err), -1);
    assert_non_null(strstr(err.msg, "cannot calibrate"));
    assert_null(cal);
    oc_made_add(&m, model, &k, 11e-3, 1);
    assert_int_equal(oc_calibrate(&m.set, &d.device, NULL, &cal, &err), 0);
    assert_int_equal(cal->n_rejected, 5);
    assert_int_equal(cal->n_sample, 1);
    oc_calibration_free(cal);
    oc_made_free(&m);
}

/* Two kernels without a signature, one that was measured three times, and another one. */
static void equal_kernels_count_once(void **state)
{
    static const uint64_t signature[] = {7, 0, 7, 9, 0, 7};
    struct oc_cal_datum datum[OC_COUNT(signature)];
    struct oc_cfit_row row[OC_COUNT(signature)];
    (void)state;
    for (size_t i = 0; i < OC_COUNT(signature); i++) {
        datum[i] = (struct oc_cal_datum){.signature = signature[i]};
        row[i] = (struct oc_cfit_row){.datum = &datum[i]};
    }
    assert_int_equal(oc_key_distinct(&(struct oc_key_fit){.row = row, .n = OC_COUNT(signature)}), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recovers_the_parameters_of_a_curve),
        cmocka_unit_test(memory_bound_samples_leave_ec_at_its_prior),
        cmocka_unit_test(compute_bound_samples_leave_em_at_its_prior),
        cmocka_unit_test(degenerate_samples_do_not_diverge),
        cmocka_unit_test(few_signatures_use_the_parent_curve),
        cmocka_unit_test(curve_of_large_kernels_has_a_launch_time),
        cmocka_unit_test(shares_of_the_last_cache_to_try),
        cmocka_unit_test(order_of_samples_does_not_matter),
        cmocka_unit_test(overhead_of_runs_is_fitted),
        cmocka_unit_test(impossible_samples_are_rejected),
        cmocka_unit_test(equal_kernels_count_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
