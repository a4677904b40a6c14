#include "estimate/curve.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/made_samples.h"

static void assert_near(double got, double want)
{
    if (!(fabs(got - want) <= 1e-9 * fabs(want)))
        fail_msg("%.17g is not %.17g", got, want);
}

static struct oc_cal_point point_of(const struct oc_made_device *d, const struct oc_kernel *k)
{
    struct oc_cal_point p;
    oc_cal_point_make(&d->device, k, 0, &p);
    return p;
}

/* 2e9 FLOP at 200 GFLOP/s are 10 ms; 40 MB at 20 GB/s are 2 ms. With Ec 0.5 and Em 0.8: Tc 20 ms, Tm 2.5 ms.
 */
static void curve_formula_is_exact(void **state)
{
    (void)state;
    struct oc_made_device d;
    oc_made_device(&d);
    struct oc_kernel k = oc_made_kernel(OC_KC_GEMM, 2e9, 40e6);
    struct oc_cal_point p = point_of(&d, &k);
    assert_near(p.tc_s, 0.010);
    assert_near(p.act_s + p.wt_s, 0.002);
    struct oc_cal_curve c = {.t0_s = 1e-3, .ec = 0.5, .em = 0.8, .p = 1, .wc = 1, .align = 1};
    struct oc_curve_parts parts;
    assert_near(oc_curve_time(&c, &p, &parts), 1e-3 + 0.020 + 0.0025);
    assert_near(parts.t0_s, 1e-3);
    assert_near(parts.tc_s, 0.020);
    assert_near(parts.tm_s, 0.0025);
    c.p = 2;
    assert_near(oc_curve_time(&c, &p, NULL), 1e-3 + sqrt(4e-4 + 6.25e-6));
    c.p = INFINITY;
    assert_near(oc_curve_time(&c, &p, NULL), 1e-3 + 0.020);
    /* S(F; w_half) = 1/2 at F = w_half */
    c.w_half_flop = 2e9;
    assert_near(oc_curve_time(&c, &p, NULL), 1e-3 + 0.040);
}

/* The slopes are the differences of the times of two curves whose parameter differs by a factor of e^0.002. */
static void slopes_are_those_of_the_time(void **state)
{
    (void)state;
    static const double power[] = {1, 2, 3, 4, INFINITY}, bytes[] = {1e4, 6e6, 40e6}, flop[] = {0, 1e6, 2e9};
    struct oc_made_device d;
    oc_made_device(&d);
    for (size_t i = 0; i < OC_COUNT(power) * OC_COUNT(bytes) * OC_COUNT(flop) * 2; i++) {
        struct oc_kernel k =
            oc_made_kernel(OC_KC_GEMM, flop[i / OC_COUNT(power) % 3], bytes[i / OC_COUNT(power) / 3 % 3]);
        struct oc_cal_point p = point_of(&d, &k);
        /* the second half: efficiencies that the caps bound */
        double most = i >= OC_COUNT(power) * 9 ? 20 : 1;
        struct oc_cal_curve c = {.t0_s = 1e-6,
                                 .ec = 0.3 * most,
                                 .w_half_flop = 3e6,
                                 .em = 0.6 * most,
                                 .b_half_bytes = 2e5,
                                 .p = power[i % OC_COUNT(power)],
                                 .wc = 3,
                                 .alpha = 0.5,
                                 .align = 1};
        struct oc_curve_slopes slope;
        double t = oc_curve_slopes(&c, &p, 0.9, &slope);
        assert_near(t, oc_curve_time_at(&c, &p, 0.9, NULL));
        double *at[] = {&c.t0_s, &c.ec, &c.w_half_flop, &c.em, &c.b_half_bytes, &c.wc};
        const double want[] = {slope.t0, slope.ec, slope.w_half, slope.em, slope.b_half, slope.wc};
        for (size_t j = 0; j < OC_COUNT(at); j++) {
            double was = *at[j];
            *at[j] = was * exp(1e-3);
            double more = oc_curve_time_at(&c, &p, 0.9, NULL);
            *at[j] = was * exp(-1e-3);
            double less = oc_curve_time_at(&c, &p, 0.9, NULL);
            *at[j] = was;
            if (fabs((more - less) / 2e-3 - want[j]) > 1e-5 * t)
                fail_msg("case %zu, parameter %zu: %g is not %g", i, j, want[j], (more - less) / 2e-3);
        }
    }
}

/* The cache has 8 MB; alpha 0.5 of it is used. 40 MB of activations: 4 MB at 5 x, 36 MB at DRAM speed: 4 /
 * 100 + 36 / 20 = 1.84 ms. 4 MB: all of it cached, 0.04 ms. */
static void last_level_cache_speeds_up_activations(void **state)
{
    (void)state;
    struct oc_made_device d;
    oc_made_device(&d);
    struct oc_kernel big = oc_made_kernel(OC_KC_COPY, 0, 40e6), small = oc_made_kernel(OC_KC_COPY, 0, 4e6);
    struct oc_cal_point p = point_of(&d, &big), q = point_of(&d, &small);
    struct oc_cal_curve c = {.ec = 1, .em = 1, .p = 1, .wc = 5, .alpha = 0.5, .align = 1};
    struct oc_curve_parts parts;
    assert_near(oc_curve_time(&c, &p, &parts), 1.84e-3);
    assert_false(parts.in_cache);
    assert_near(oc_curve_time(&c, &q, &parts), 0.04e-3);
    assert_true(parts.in_cache);
    /* weights of a model that fits stay in the cache, those of a larger one do not */
    struct oc_kernel w = oc_made_kernel(OC_KC_GEMV, 0, 0);
    w.rd_wt = 1000000;
    oc_cal_point_make(&d.device, &w, 2000000, &p);
    assert_near(oc_curve_time(&c, &p, NULL), 0.01e-3);
    oc_cal_point_make(&d.device, &w, 4000000000u, &p);
    assert_true(oc_curve_time(&c, &p, NULL) > 0.0499e-3);
    oc_cal_point_make(&d.device, &w, UINT64_MAX, &p);
    assert_near(oc_curve_time(&c, &p, NULL), 0.05e-3);
}

/* 2 MB of per-core caches before the last level; they copy 60 GB/s and the last level 30; 0.6 of them is
 * used. 1 MB would take half of its time in the last level (10 us at 5 x DRAM), but 100 GB/s is the physical
 * limit; of 4 MB, 0.3 is cached: 40 us * (0.3 / 2 + 0.7). Without copy rates the highest rates are used: 100
 * / 100 gives no gain. On a GPU nothing stays cached. */
static void per_core_caches_speed_up_small_kernels(void **state)
{
    (void)state;
    struct oc_made_device d;
    oc_made_device(&d);
    struct oc_hw_figure size = {.value = 2e6}, rate = {.value = 100e9};
    struct oc_hw_figure copies[] = {
        {.group = "L2", .what = "bandwidth", .mode = "copy", .value = 60e9},
        {.group = "L3", .what = "bandwidth", .mode = "copy", .value = 30e9},
        {.group = "L3", .what = "bandwidth", .mode = "copy", .cores = "1", .value = 9e9}};
    struct oc_hw_level level[] = {{.name = "L2", .size = &size, .bandwidth = &rate}, d.level[0], d.level[1]};
    d.device.level = level;
    d.device.n_level = 3;
    d.device.figure = copies;
    d.device.n_figure = 3;
    struct oc_kernel small = oc_made_kernel(OC_KC_COPY, 0, 1e6), big = oc_made_kernel(OC_KC_COPY, 0, 4e6);
    struct oc_cal_curve c = {.ec = 1, .em = 1, .p = 1, .wc = 5, .alpha = 0.6, .align = 1};
    struct oc_cal_point p = point_of(&d, &small);
    assert_near(p.near_gain, 2);
    assert_near(oc_curve_time(&c, &p, NULL), 9.5e-6);
    p = point_of(&d, &big);
    assert_near(oc_curve_time(&c, &p, NULL), 40e-6 * (0.3 / 2 + 0.7));
    /* weights of a model that fits into them: 5 us at the rate of the last cache */
    struct oc_kernel w = oc_made_kernel(OC_KC_GEMV, 0, 0);
    w.rd_wt = 500000;
    oc_cal_point_make(&d.device, &w, 1000000, &p);
    p.roof_s = 0;
    assert_near(oc_curve_time(&c, &p, NULL), 2.5e-6);
    oc_cal_point_make(&d.device, &w, 2400000, &p);
    p.roof_s = 0;
    assert_near(oc_curve_time(&c, &p, NULL), 5e-6 * (0.5 / 2 + 0.5));
    d.device.n_figure = 0;
    p = point_of(&d, &big);
    assert_near(oc_curve_time(&c, &p, NULL), 40e-6);
    d.device.n_figure = 3;
    d.device.info->kind = "gpu";
    p = point_of(&d, &big);
    assert_near(oc_curve_time(&c, &p, NULL), 40e-6);
}

static void signed_weights_of_integer_convolutions_are_slow(void **state)
{
    (void)state;
    struct oc_made_device d;
    oc_made_device(&d);
    struct oc_kernel k = oc_made_kernel(OC_KC_CONV_1X1, 0, 1e6);
    k.dtype = OC_CLASS_I32;
    k.work.macs[OC_CLASS_I8] = 400000000;
    k.weight_sign = OC_WEIGHTS_UNSIGNED;
    struct oc_cal_point fast = point_of(&d, &k);
    k.weight_sign = OC_WEIGHTS_SIGNED;
    struct oc_cal_point slow = point_of(&d, &k);
    assert_near(slow.tc_s, 4 * fast.tc_s);
    assert_near(slow.roof_s, fast.roof_s); /* the processor could */
    k.dtype = OC_CLASS_I8;                 /* of QLinearConv */
    assert_near(point_of(&d, &k).tc_s, fast.tc_s);
}

/* A kernel that takes three times as long as its class does so on processors, and is bounded as before; one that does a
 * tenth of what is counted is bounded by that. */
static void kernels_unlike_their_class(void **state)
{
    (void)state;
    struct oc_made_device d;
    oc_made_device(&d);
    struct oc_kernel k = oc_made_kernel(OC_KC_SOFTMAX, 1e9, 1e6);
    struct oc_cal_point usual = point_of(&d, &k);
    k.scalar = 3;
    struct oc_cal_point slow = point_of(&d, &k);
    assert_near(slow.tc_s, 3 * usual.tc_s);
    assert_near(slow.roof_s, usual.roof_s);
    k.scalar = 0.1;
    struct oc_cal_point quick = point_of(&d, &k);
    assert_near(quick.tc_s, 0.1 * usual.tc_s);
    assert_near(quick.roof_s, 0.1 * usual.roof_s);
    struct oc_device_info gpu = *d.device.info;
    gpu.kind = "gpu";
    d.device.info = &gpu;
    assert_near(point_of(&d, &k).tc_s, usual.tc_s);
}

/* Processors unfold one image after the other; a further one takes a fifth of a launch. */
static void images_of_plain_convolutions_are_launched(void **state)
{
    (void)state;
    struct oc_made_device d;
    oc_made_device(&d);
    struct oc_kernel k = oc_made_kernel(OC_KC_CONV_PLAIN, 1e6, 1e6);
    k.steps = 1;
    assert_near(point_of(&d, &k).launches, 1);
    k.steps = 76;
    assert_near(point_of(&d, &k).launches, 16);
    k.cls = OC_KC_CONV_KXK;
    assert_near(point_of(&d, &k).launches, 1);
}

/* No prediction is more than 5 % faster than physics; 3x3 convolutions of stride 1 may take half the
 * operations. */
static void predictions_respect_physical_bounds(void **state)
{
    (void)state;
    struct oc_made_device d;
    oc_made_device(&d);
    struct oc_cal_curve c = {.ec = 10, .em = 10, .p = INFINITY, .wc = 8, .alpha = 0.6, .align = 1};
    struct oc_kernel k = oc_made_kernel(OC_KC_CONV_KXK, 2e9, 1e6);
    k.kernel_h = k.kernel_w = 5;
    k.stride = k.dilation = 1;
    struct oc_cal_point p = point_of(&d, &k);
    assert_near(p.roof_s, 0.010);
    assert_near(oc_curve_time(&c, &p, NULL), 0.010 / 1.05);
    k.kernel_h = k.kernel_w = 3;
    p = point_of(&d, &k);
    assert_near(oc_curve_time(&c, &p, NULL), 0.005);
    k.stride = 2;
    p = point_of(&d, &k);
    assert_near(oc_curve_time(&c, &p, NULL), 0.010 / 1.05);
    /* 8 MB of 40 may be cached, DRAM serves 32 at 20 GB/s, whatever the curve's cache share */
    c.alpha = 10;
    struct oc_kernel copy = oc_made_kernel(OC_KC_COPY, 0, 40e6);
    p = point_of(&d, &copy);
    assert_near(oc_curve_time(&c, &p, NULL), 0.95 * 0.0016);
    /* 4 MB fit: 100 GB/s */
    copy = oc_made_kernel(OC_KC_COPY, 0, 4e6);
    p = point_of(&d, &copy);
    assert_near(p.roof_s, 0.04e-3);
}

/* 33 rows in blocks of 16 take 3 of them: 33 / 48. Waves: 5 x 4 tiles on 8 multiprocessors are 3 waves: 20
 * / 24. */
static void alignment_and_waves_lower_the_efficiency(void **state)
{
    (void)state;
    struct oc_cal_point p = {.m = 33, .n = 64, .k = 0, .units = 8};
    assert_near(oc_curve_align(&p, 16), 33.0 / 48);
    assert_near(oc_curve_align(&p, 1), 1);
    p.m = 5 * 64;
    p.n = 4 * 128 - 3;
    p.batch = 1;
    assert_near(oc_curve_wave(&p, 64, 128), 20.0 / 24);
    p.units = 0;
    assert_near(oc_curve_wave(&p, 64, 128), 1);
}

/* A class without a peak is compared with another one; unknown counts have no time. */
static void unknown_peaks_and_counts_are_marked(void **state)
{
    (void)state;
    struct oc_made_device d;
    oc_made_device(&d);
    struct oc_kernel k = oc_made_kernel(OC_KC_GEMM, 0, 1e6);
    k.work.macs[OC_CLASS_BF16] = 1000000;
    struct oc_cal_point p = point_of(&d, &k);
    assert_true(p.tc_assumed);
    assert_near(p.tc_s, 2e6 / 200e9);
    assert_near(p.roof_s, 1e6 / 100e9); /* from the bytes alone */
    k.work.unknown = true;
    p = point_of(&d, &k);
    struct oc_cal_curve c = oc_curve_shipped(OC_CAL_CPU, OC_KC_GEMM, 200e9, 20e9);
    assert_true(isnan(oc_curve_time(&c, &p, NULL)));
    struct oc_device bare = {.info = &(struct oc_device_info){.kind = "gpu"}};
    k.work.unknown = false;
    oc_cal_point_make(&bare, &k, 0, &p);
    assert_true(p.tc_assumed && p.tm_assumed && p.roof_s == 0);
}

/* The k-th class has a peak of k GFLOP/s: without the peaks before it, it is the substitute. */
static void substitutes_of_a_peak_have_an_order(void **state)
{
    (void)state;
    static const uint8_t order[] = {OC_CLASS_F32, OC_CLASS_F16, OC_CLASS_BF16, OC_CLASS_F64,
                                    OC_CLASS_I32, OC_CLASS_I8,  OC_CLASS_I64};
    enum { N = sizeof(order) };
    struct oc_made_device d;
    oc_made_device(&d);
    memset(d.device.peak, 0, sizeof(d.device.peak));
    struct oc_hw_figure peak[N];
    struct oc_kernel k = oc_made_kernel(OC_KC_GEMM, 0, 1e6);
    k.work.macs[OC_CLASS_I16] = 1000000;
    for (unsigned i = N; i-- > 0;) {
        peak[i] = (struct oc_hw_figure){.value = (i + 1) * 1e9};
        d.device.peak[OC_HW_VECTOR][order[i]] = &peak[i];
        struct oc_cal_point p = point_of(&d, &k);
        assert_true(p.tc_assumed);
        assert_near(p.tc_s, 2e6 / peak[i].value);
    }
}

/* 10 steps of a batch of 2, hidden size 8, LSTM: N = 32, K = 8 + 8; it writes 10 x 2 x 8 floats. R has 32 x 8
 * floats, 1024 bytes, read 9 more times. */
static void recurrent_weights_are_read_every_step(void **state)
{
    (void)state;
    struct oc_made_device d;
    oc_made_device(&d);
    struct oc_kernel k = {.cls = OC_KC_RNN, .dtype = OC_CLASS_F32, .m = 2, .n = 32, .k = 16, .batch = 10};
    k.rd_wt = 32 * 16 * 4;
    k.wr = 10 * 2 * 8 * 4;
    struct oc_cal_point p = point_of(&d, &k);
    assert_near(p.again_s, 9 * 1024 / 20e9);
    assert_near(p.again_fill, 1024 / 8e6);
}

static void every_class_has_a_prior(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < OC_CAL_DEVICE_COUNT; kind++)
        for (unsigned c = 0; c < OC_KC_COUNT; c++) {
            struct oc_curve_prior p = oc_curve_prior((enum oc_cal_device)kind, c);
            assert_true(p.em > 0 && p.em <= 1 && p.t0_s > 0 && (isnan(p.ec) || (p.ec > 0 && p.ec <= 1)));
        }
    assert_near(oc_curve_prior(OC_CAL_GPU, OC_KC_CONV_DEPTHWISE).ec, 0.10);
    assert_near(oc_curve_prior(OC_CAL_CPU, OC_KC_TRANSPOSE).em, 0.35);
}

/* Rebased to its own class a curve is unchanged; on hardware twice as fast the half-saturation is twice the
 * work. */
static void curves_are_rebased_to_other_hardware(void **state)
{
    (void)state;
    struct oc_cal_curve c = oc_curve_shipped(OC_CAL_CPU, OC_KC_GEMM, 200e9, 20e9);
    struct oc_cal_curve same = oc_curve_rebase(&c, OC_CAL_CPU, OC_KC_GEMM, OC_KC_GEMM, 200e9, 200e9);
    assert_near(same.ec, c.ec);
    struct oc_cal_curve dw = oc_curve_rebase(&c, OC_CAL_CPU, OC_KC_GEMM, OC_KC_CONV_DEPTHWISE, 200e9, 200e9);
    assert_near(dw.ec, 0.25);
    assert_near(dw.em, 0.50);
    struct oc_cal_curve fast = oc_curve_transfer(&c, 200e9, 400e9, 20e9, 60e9);
    assert_near(fast.w_half_flop, 2 * c.w_half_flop);
    assert_near(fast.b_half_bytes, 3 * c.b_half_bytes);
    assert_near(fast.t0_s, c.t0_s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(curve_formula_is_exact),
        cmocka_unit_test(slopes_are_those_of_the_time),
        cmocka_unit_test(last_level_cache_speeds_up_activations),
        cmocka_unit_test(per_core_caches_speed_up_small_kernels),
        cmocka_unit_test(signed_weights_of_integer_convolutions_are_slow),
        cmocka_unit_test(images_of_plain_convolutions_are_launched),
        cmocka_unit_test(kernels_unlike_their_class),
        cmocka_unit_test(predictions_respect_physical_bounds),
        cmocka_unit_test(alignment_and_waves_lower_the_efficiency),
        cmocka_unit_test(unknown_peaks_and_counts_are_marked),
        cmocka_unit_test(substitutes_of_a_peak_have_an_order),
        cmocka_unit_test(recurrent_weights_are_read_every_step),
        cmocka_unit_test(every_class_has_a_prior),
        cmocka_unit_test(curves_are_rebased_to_other_hardware),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
