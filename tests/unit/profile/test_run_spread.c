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

static void noise_is_reported_and_changes_no_statistic(void **state)
{
    (void)state;
    double noisy[] = {233, 400, 620, 900, 1110}, calm[] = {233, 234, 235, 236, 240};
    static const enum oc_stat wanted[] = {OC_STAT_TYPICAL, OC_STAT_MEAN, OC_STAT_MEDIAN,
                                          OC_STAT_MIN,     OC_STAT_MAX,  OC_STAT_SUM};
    for (size_t i = 0; i < 2 * OC_COUNT(wanted); i++) {
        struct oc_arena a = {0};
        struct oc_diags d = {.arena = &a};
        struct oc_run_spread s;
        oc_run_spread_of(i % 2 ? noisy : calm, 5, &s);
        assert_int_equal(oc_run_spread_stat(&s, wanted[i / 2], &d), wanted[i / 2]);
        assert_int_equal(d.n, i % 2);
        if (d.n) {
            assert_string_equal(d.item[0].code, "W-noisy-runs");
            assert_non_null(strstr(d.item[0].text, "central half of 5 runs spreads over 81 % of the median"));
        }
        oc_diags_free(&d);
        oc_arena_free(&a);
    }
}

/* The times of 7 runs, not in order; two of them are equal. */
static void statistic_is_a_choice_of_runs(void **state)
{
    (void)state;
    static const double ns[] = {40, 10, 70, 30, 30, 60, 20};
    static const uint32_t id[] = {2, 3, 4, 5, 6, 7, 8};
    static const struct {
        enum oc_stat stat;
        uint32_t n;       /* of the 7 runs */
        const char *in;   /* of run 2 to 8: those that are selected */
        uint32_t n_first; /* the same of the first n_first runs: their number */
        double divisor;
    } cases[] = {{OC_STAT_TYPICAL, 7, "1001111", 5, 5}, {OC_STAT_TYPICAL, 4, "1001000", 2, 2},
                 {OC_STAT_TYPICAL, 3, "1110000", 3, 3}, {OC_STAT_MEAN, 7, "1111111", 7, 7},
                 {OC_STAT_MEDIAN, 7, "0000100", 1, 1},  {OC_STAT_MEDIAN, 6, "1000100", 2, 2},
                 {OC_STAT_MIN, 7, "0100000", 1, 1},     {OC_STAT_MAX, 7, "0010000", 1, 1},
                 {OC_STAT_SUM, 7, "1111111", 7, 1},     {OC_STAT_MEDIAN, 1, "1000000", 1, 1}};
    for (size_t i = 0; i < OC_COUNT(cases); i++) {
        struct oc_run_choice c;
        char in[8] = "0000000";
        oc_run_choice_make(&c, cases[i].stat, ns, id, cases[i].n, 10);
        for (unsigned k = 0; k < 7; k++)
            in[k] = (char)('0' + c.in[id[k]]);
        assert_string_equal(in, cases[i].in);
        assert_int_equal(c.in[0] + c.in[1] + c.in[9], 0);
        assert_int_equal(c.n, cases[i].n_first);
        assert_true(c.divisor == cases[i].divisor);
        oc_run_choice_free(&c);
    }
}

static void value_in_some_runs_is_a_part_of_the_mean(void **state)
{
    (void)state;
    static const double ns[] = {10, 20, 30};
    static const uint32_t id[] = {0, 1, 2};
    struct oc_run_choice c;
    struct oc_run_sums s;
    oc_run_choice_make(&c, OC_STAT_MEAN, ns, id, 3, 3);
    oc_run_sums_init(&s, 3);
    assert_true(isnan(oc_run_sums_stat(&s, &c)));
    oc_run_sums_add(&s, 1, 6);
    assert_true(oc_run_sums_stat(&s, &c) == 2);
    oc_run_choice_free(&c);
    oc_run_choice_make(&c, OC_STAT_MIN, ns, id, 3, 3);
    assert_true(oc_run_sums_stat(&s, &c) == 0); /* the fastest run has no such work */
    oc_run_choice_free(&c);
    oc_run_sums_free(&s);
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

/* The operator takes half of each run. */
static void all_times_are_means_over_the_same_runs(void **state)
{
    (void)state;
    static const int us[] = {400, 1110, 234, 620, 900};
    static const struct {
        enum oc_stat stat;
        double run_ns;
    } cases[] = {{OC_STAT_TYPICAL, 640e3}, {OC_STAT_MEAN, 652.8e3}, {OC_STAT_MEDIAN, 620e3},
                 {OC_STAT_MIN, 234e3},     {OC_STAT_MAX, 1110e3},   {OC_STAT_SUM, 3264e3}};
    for (size_t i = 0; i < OC_COUNT(cases); i++) {
        struct oc_profile *p = trace(us, 5, cases[i].stat);
        double half_ns = cases[i].run_ns / 2;
        assert_int_equal(p->stat, cases[i].stat);
        assert_true(fabs(p->run_ns - cases[i].run_ns) < 1e-6 && fabs(p->busy_ns - half_ns) < 1e-6);
        assert_true(fabs(t_rec(p, "a")->time_ns - half_ns) < 1e-6);
        assert_true(p->spread.n == 5 && p->spread.median_ns == 620e3 && p->spread.max_ns == 1110e3);
        oc_profile_close(p);
    }
}

/* Tables of requests: the runs are the sums of their layers. */
static void importers_without_run_times_use_the_sums_of_their_layers(void **state)
{
    (void)state;
    struct oc_buf b = {0};
    struct oc_profile_opts opts = {.stat = OC_STAT_TYPICAL, .format = "openvino"};
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
    assert_true(p->spread.n == 3 && p->spread.min_ns == 1e6 && p->stat == OC_STAT_TYPICAL);
    assert_true(t_rec(p, "a")->time_ns == 5e6);
    oc_profile_close(p);
    oc_buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quartiles_and_interval_equal_hand_calculation),
        cmocka_unit_test(one_run_has_no_spread_and_no_run_has_no_times),
        cmocka_unit_test(outlier_is_counted_and_does_not_widen_the_spread),
        cmocka_unit_test(noise_is_reported_and_changes_no_statistic),
        cmocka_unit_test(statistic_is_a_choice_of_runs),
        cmocka_unit_test(value_in_some_runs_is_a_part_of_the_mean),
        cmocka_unit_test(all_times_are_means_over_the_same_runs),
        cmocka_unit_test(importers_without_run_times_use_the_sums_of_their_layers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
