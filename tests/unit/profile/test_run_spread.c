/* How much runs differ, and which statistic follows: by hand, and through importers. */
#include "profile/core/run_spread.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/diag.h"
#include "support/profiles.h"
#include "onnxcost.h"
#include "onnxcost/profile.h"

static void quartiles_and_interval_equal_hand_calculation(void **state)
{
    (void)state;
    double v[] = {5, 1, 3, 4, 2};
    struct oc_run_spread s;
    oc_run_spread_of(v, 5, &s);
    assert_true(s.n == 5 && s.min_ns == 1 && s.p25_ns == 2 && s.median_ns == 3 && s.p75_ns == 4 &&
                s.max_ns == 5);
    assert_true(s.low_ns == 1 && s.high_ns == 5); /* five runs reach 93.75 % at most */
    assert_true(oc_run_spread_share(&s) == 2.0 / 3);
    /* 25 runs: ranks 12.5 -+ 4.9, rounded outwards: the 7th and the 19th value */
    double w[25];
    for (int i = 0; i < 25; i++)
        w[i] = 100 + i;
    oc_run_spread_of(w, 25, &s);
    assert_true(s.low_ns == 106 && s.high_ns == 118);
    assert_true(oc_run_spread_error(&s) == 6.0 / 112);
}

static void one_run_has_no_spread_and_no_run_has_no_times(void **state)
{
    (void)state;
    double v[] = {7};
    struct oc_run_spread s;
    oc_run_spread_of(v, 1, &s);
    assert_true(s.n == 1 && s.median_ns == 7 && isnan(oc_run_spread_share(&s)) && !oc_run_spread_noisy(&s));
    oc_run_spread_of(v, 0, &s);
    assert_true(s.n == 0 && isnan(s.min_ns) && isnan(oc_run_spread_error(&s)) && !oc_run_spread_noisy(&s));
}

static void outlier_is_counted_and_does_not_widen_the_spread(void **state)
{
    (void)state;
    double v[] = {10, 10.1, 10.2, 10.1, 50, 10, 10.2};
    struct oc_run_spread s;
    oc_run_spread_of(v, 7, &s);
    assert_int_equal(s.outliers, 1);
    assert_false(oc_run_spread_noisy(&s));
}

/* Only without a wish the statistic follows the spread; a warning comes in any case. */
static void noise_turns_the_median_into_the_minimum(void **state)
{
    (void)state;
    double noisy[] = {233, 400, 620, 900, 1110}, calm[] = {233, 234, 235, 236, 240};
    static const struct {
        bool noisy;
        enum oc_stat wanted, used;
    } cases[] = {{true, OC_STAT_AUTO, OC_STAT_MIN},
                 {true, OC_STAT_MEDIAN, OC_STAT_MEDIAN},
                 {true, OC_STAT_SUM, OC_STAT_SUM},
                 {false, OC_STAT_AUTO, OC_STAT_MEDIAN},
                 {false, OC_STAT_MEAN, OC_STAT_MEAN}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct oc_arena a = {0};
        struct oc_diags d = {.arena = &a};
        struct oc_run_spread s;
        oc_run_spread_of(cases[i].noisy ? noisy : calm, 5, &s);
        assert_int_equal(oc_run_spread_stat(&s, cases[i].wanted, &d), cases[i].used);
        assert_int_equal(d.n, cases[i].noisy);
        if (d.n) {
            assert_string_equal(d.item[0].code, "W-noisy-runs");
            assert_non_null(strstr(d.item[0].text, "times of 5 runs spread by 81 %"));
            assert_non_null(strstr(d.item[0].text, oc_stat_name(cases[i].used)));
        }
        oc_diags_free(&d);
        oc_arena_free(&a);
    }
}

/* A profile of ONNX Runtime with a run of each duration (us); one operator of half of it. */
static struct oc_profile *trace(const int *us, int n, enum oc_stat stat)
{
    struct oc_buf b = {0};
    struct oc_profile_opts opts = {.warmup = OC_WARMUP_NONE, .stat = stat};
    struct oc_err err;
    int at = 0;
    for (int i = 0; i < n; i++) {
        oc_buf_printf(
            &b,
            "%s{\"cat\":\"Session\",\"pid\":1,\"tid\":1,\"dur\":%d,\"ts\":%d,\"ph\":\"X\","
            "\"name\":\"model_run\",\"args\":{}},\n"
            "{\"cat\":\"Node\",\"pid\":1,\"tid\":1,\"dur\":%d,\"ts\":%d,\"ph\":\"X\",\"name\":"
            "\"a_kernel_time\",\"args\":{\"op_name\":\"Relu\",\"provider\":\"CPUExecutionProvider\","
            "\"node_index\":\"0\"}}",
            i ? ",\n" : "[", us[i], at, us[i] / 2, at + 1);
        at += us[i] + 5;
    }
    oc_buf_str(&b, "]\n");
    struct oc_profile *p = t_profile_mem(b.data, b.n, &opts, &err);
    if (!p)
        fail_msg("%s", err.msg);
    oc_buf_free(&b);
    return p;
}

/* The time of the run, of its operators and of their sum all use one statistic. */
static void all_times_of_a_noisy_profile_are_minima(void **state)
{
    (void)state;
    static const int noisy[] = {400, 1110, 234, 620, 900}, calm[] = {240, 234, 238, 236, 232};
    struct oc_profile *p = trace(noisy, 5, OC_STAT_AUTO);
    assert_int_equal(p->stat, OC_STAT_MIN);
    assert_true(p->run_ns == 234e3 && p->busy_ns == 117e3 && t_rec(p, "a")->time_ns == 117e3);
    assert_true(p->spread.n == 5 && p->spread.median_ns == 620e3 && p->spread.max_ns == 1110e3);
    oc_profile_close(p);
    p = trace(noisy, 5, OC_STAT_MEDIAN);
    assert_true(p->stat == OC_STAT_MEDIAN && p->run_ns == 620e3 && t_rec(p, "a")->time_ns == 310e3);
    oc_profile_close(p);
    p = trace(calm, 5, OC_STAT_AUTO);
    assert_true(p->stat == OC_STAT_MEDIAN && p->run_ns == 236e3 && p->diags.n == 0);
    oc_profile_close(p);
}

/* Tables of requests: the runs are the sums of their layers. */
static void importers_without_run_times_use_the_sums_of_their_layers(void **state)
{
    (void)state;
    struct oc_buf b = {0};
    struct oc_profile_opts opts = {.stat = OC_STAT_AUTO, .format = "openvino"};
    struct oc_err err;
    static const double ms[] = {1, 5, 9};
    for (int i = 0; i < 3; i++)
        oc_buf_printf(&b,
                      "layerName;execStatus;layerType;execType;realTime (ms);cpuTime (ms)\n"
                      "a;EXECUTED;Convolution;jit_FP32;%g;%g\nTotal;;;;%g;%g\n\n",
                      ms[i], ms[i], ms[i], ms[i]);
    struct oc_profile *p = t_profile_mem(b.data, b.n, &opts, &err);
    if (!p)
        fail_msg("%s", err.msg);
    assert_true(p->spread.n == 3 && p->spread.min_ns == 1e6 && p->stat == OC_STAT_MIN);
    assert_true(t_rec(p, "a")->time_ns == 1e6);
    oc_profile_close(p);
    oc_buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quartiles_and_interval_equal_hand_calculation),
        cmocka_unit_test(one_run_has_no_spread_and_no_run_has_no_times),
        cmocka_unit_test(outlier_is_counted_and_does_not_widen_the_spread),
        cmocka_unit_test(noise_turns_the_median_into_the_minimum),
        cmocka_unit_test(all_times_of_a_noisy_profile_are_minima),
        cmocka_unit_test(importers_without_run_times_use_the_sums_of_their_layers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
