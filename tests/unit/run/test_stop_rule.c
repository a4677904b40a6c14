/* When a measurement ends: simulated runs, no clock. */
#include "run/record_files.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "onnxcost.h"
#include "support/build.h"

static const double MS = 1e6, S = 1e9;

/* Runs of the durations in turn until the rule ends it. Returns how many; elapsed begins with the warm-up. */
static size_t measure(struct oc_stop_rule rule, const double *ns, size_t n, double warmup_ns,
                      bool *over_budget)
{
    struct oc_stop_state s = {0};
    double elapsed = warmup_ns, run;
    do {
        run = ns[s.n % n];
        elapsed += run;
    } while (!oc_stop_after(&rule, &s, run, elapsed) && s.n < 1000000);
    size_t done = s.n;
    *over_budget = s.over_budget;
    free(s.ns);
    return done;
}

static void steady_runs_end_after_three_seconds(void **state)
{
    (void)state;
    bool over;
    const double ns[] = {10 * MS, 10.1 * MS, 9.9 * MS};
    size_t n = measure((struct oc_stop_rule){.budget_ns = 30 * S}, ns, 3, 0, &over);
    assert_in_range(n, 300, 301);
    assert_false(over);
}

static void slow_runs_end_after_twelve(void **state)
{
    (void)state;
    bool over;
    const double ns[] = {1 * S};
    assert_int_equal(measure((struct oc_stop_rule){.budget_ns = 30 * S}, ns, 1, 1 * S, &over), 12);
    assert_false(over);
}

static void uncertain_median_goes_on_to_ten_seconds(void **state)
{
    (void)state;
    bool over;
    const double ns[] = {100 * MS, 900 * MS};
    size_t n = measure((struct oc_stop_rule){.budget_ns = 30 * S}, ns, 2, 0, &over);
    assert_in_range(n, 20, 21); /* 10 s of 500 ms in the mean */
    assert_false(over);
}

/* 30 s a run: the warm-up run uses half of the minute up, one run is measured all the same. */
static void time_budget_ends_it_before_five_runs(void **state)
{
    (void)state;
    bool over;
    const double ns[] = {30 * S};
    assert_int_equal(measure((struct oc_stop_rule){.budget_ns = 30 * S}, ns, 1, 30 * S, &over), 1);
    assert_true(over);
    const double shorter[] = {7 * S};
    assert_int_equal(measure((struct oc_stop_rule){.budget_ns = 30 * S}, shorter, 1, 7 * S, &over), 3);
    assert_true(over);
}

static void fixed_number_is_kept_unless_a_budget_forbids_it(void **state)
{
    (void)state;
    bool over;
    const double ns[] = {1 * S};
    assert_int_equal(measure((struct oc_stop_rule){.runs = 100}, ns, 1, 0, &over), 100);
    assert_false(over);
    assert_int_equal(measure((struct oc_stop_rule){.runs = 2}, ns, 1, 0, &over), 2);
    assert_int_equal(measure((struct oc_stop_rule){.runs = 100, .budget_ns = 10 * S}, ns, 1, 0, &over), 10);
    assert_true(over);
}

static void limit_of_runs_ends_short_ones(void **state)
{
    (void)state;
    bool over;
    const double ns[] = {0.01 * MS};
    assert_int_equal(measure((struct oc_stop_rule){.most = 200, .budget_ns = 30 * S}, ns, 1, 0, &over), 200);
    assert_false(over);
}

/* One operator, or a Loop with it in its body: a run of 10 ms may have 40,000 events. */
static uint32_t runs_of(const char *type, double run_ns)
{
    bool loop = *type == 'L';
    struct oc_builder *b = oc_b_new(17);
    struct oc_model *m;
    struct oc_err err;
    oc_b_input(b, "x", "float[4]");
    oc_b_input(b, "n", "int64[]");
    if (loop) {
        oc_b_node(b, "Loop", "loop", "n,,x", "y", "");
        oc_b_open(b, "body");
        oc_b_input(b, "i", "int64[]");
        oc_b_input(b, "go", "bool[]");
        oc_b_input(b, "s", "float[4]");
        oc_b_node(b, "Relu", "relu", "s", "t", "");
        oc_b_output(b, "go", NULL);
        oc_b_output(b, "t", NULL);
        oc_b_close(b);
    } else
        oc_b_node(b, "Relu", "relu", "x", "y", "");
    oc_b_output(b, "y", NULL);
    size_t size;
    uint8_t *data = oc_b_pack(b, &size);
    if (oc_model_load_mem(data, size, NULL, &m, &err))
        fail_msg("%s", err.msg);
    uint32_t n = oc_enough_runs(m, run_ns, false);
    oc_model_free(m);
    oc_b_free(b);
    free(data);
    return n;
}

static void profiled_runs_of_a_loop_follow_from_the_time_of_a_run(void **state)
{
    (void)state;
    assert_int_equal(runs_of("Relu", 10 * MS), 20000);
    assert_int_equal(runs_of("Loop", 0.1 * MS), 50);
    assert_int_equal(runs_of("Loop", 10 * MS), OC_LEAST_RUNS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steady_runs_end_after_three_seconds),
        cmocka_unit_test(slow_runs_end_after_twelve),
        cmocka_unit_test(uncertain_median_goes_on_to_ten_seconds),
        cmocka_unit_test(time_budget_ends_it_before_five_runs),
        cmocka_unit_test(fixed_number_is_kept_unless_a_budget_forbids_it),
        cmocka_unit_test(limit_of_runs_ends_short_ones),
        cmocka_unit_test(profiled_runs_of_a_loop_follow_from_the_time_of_a_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
