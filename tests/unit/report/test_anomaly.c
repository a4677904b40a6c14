/* Rows that take far longer than their class in the same recording. */
#include "unit/advice/advice_case.h"
#include "report/headline.h"

enum { PAIRS = 10, RUNS = 2 };

/* PAIRS times Relu, Neg of 64 KiB, and one Softmax; each row moves 128 KiB. */
static struct oc_builder *chain(void)
{
    struct oc_builder *b = oc_b_new(17);
    char in[16] = "x", out[16], name[16];
    oc_b_input(b, "x", "float[1,64,256]");
    for (unsigned i = 0; i < 2 * PAIRS; i++) {
        snprintf(out, sizeof(out), "v%u", i);
        snprintf(name, sizeof(name), "n%u", i);
        oc_b_node(b, i % 2 ? "Neg" : "Relu", name, in, out, "");
        snprintf(in, sizeof(in), "%s", out);
    }
    oc_b_node(b, "Softmax", "s", in, "y", "axis=1");
    oc_b_output(b, "y", NULL);
    return b;
}

/* Of all runs. step: microseconds of a run from one row to the next. */
static const char *times(unsigned n, unsigned step, unsigned softmax)
{
    static char text[4096];
    int at = 0;
    for (unsigned i = 0; i < n; i++)
        at += snprintf(text + at, sizeof(text) - (size_t)at, "n%u,%s,CPUExecutionProvider,%u\n", i,
                       i % 2 ? "Neg" : "Relu", RUNS * (100 + i * step));
    snprintf(text + at, sizeof(text) - (size_t)at, "s,Softmax,CPUExecutionProvider,%u\n", RUNS * softmax);
    return text;
}

static uint32_t anomalies(struct advised *x, const char *table, const struct oc_anomaly **a)
{
    advise_case(x, chain(), table, NULL);
    x->profile->runs_used = RUNS;
    advised_report(x);
    return oc_anomalies_of(&x->r, a);
}

/* Its 20 peers take 100 us and move as many bytes: it is expected to take 100 us. */
static void a_row_far_beyond_its_class_is_an_anomaly(void **state)
{
    struct advised x;
    const struct oc_anomaly *a;
    struct oc_verdict v;
    (void)state;
    assert_int_equal(anomalies(&x, times(2 * PAIRS, 0, 1000), &a), 1);
    assert_string_equal(a->row->name, "s");
    assert_int_equal(a->peers, 2 * PAIRS);
    assert_true(fabs(a->expected_ns - 100e3) < 1 && fabs(a->lost_ns - 900e3) < 1 &&
                fabs(a->time_ns - 1000e3) < 1);
    assert_null(a->cause);
    oc_advice_explain_anomalies(&x.r);
    assert_string_equal(a->cause, "its axis is not the last: the runtime transposes before and after it");
    /* what the remedy saved elsewhere: 75 % to 92 %; what its class suggests: 90 % */
    assert_true(fabs(a->gain_low_ns - 750e3) < 1 && fabs(a->gain_high_ns - 920e3) < 1);
    oc_verdict_of(&x.r, &v);
    assert_int_equal(v.n_anomaly, 1);
    assert_non_null(
        strstr(v.text, "Softmax s takes 1.00 ms, 900 us more than rows of its class suggest; its axis"));
    assert_non_null(strstr(v.text, "after it (expected gain 750 us to 920 us)"));
    advised_free(&x);
}

static void a_row_near_its_class_is_none(void **state)
{
    struct advised x;
    const struct oc_anomaly *a;
    (void)state;
    assert_int_equal(anomalies(&x, times(2 * PAIRS, 0, 290), &a), 0); /* less than three times its peers */
    advised_free(&x);
}

/* Seven rows are too few, eight are enough. */
static void too_few_rows_have_no_expectation(void **state)
{
    struct advised x;
    const struct oc_anomaly *a;
    (void)state;
    assert_int_equal(anomalies(&x, times(7, 0, 1000), &a), 0);
    advised_free(&x);
    assert_int_equal(anomalies(&x, times(8, 0, 1000), &a), 1);
    advised_free(&x);
}

static void a_single_run_may_be_noise(void **state)
{
    struct advised x;
    const struct oc_anomaly *a;
    (void)state;
    advise_case(&x, chain(), times(2 * PAIRS, 0, 1000), NULL);
    x.profile->runs_used = 1;
    advised_report(&x);
    assert_int_equal(oc_anomalies_of(&x.r, &a), 0);
    advised_free(&x);
}

/* 100 us to 2 ms: the peers do not agree on a time, so 4 ms are none too many. */
static void rows_that_disagree_have_no_expectation(void **state)
{
    struct advised x;
    const struct oc_anomaly *a;
    (void)state;
    assert_int_equal(anomalies(&x, times(2 * PAIRS, 100, 4000), &a), 0);
    advised_free(&x);
}

/* Twenty rows do the same; the fast ones say what is possible. */
static void rows_of_equal_work_are_compared_with_each_other(void **state)
{
    struct advised x;
    const struct oc_anomaly *a;
    char text[4096];
    int at = 0;
    (void)state;
    for (unsigned i = 0; i < 2 * PAIRS; i++)
        at += snprintf(text + at, sizeof(text) - (size_t)at, "n%u,%s,CPUExecutionProvider,%u\n", i,
                       i % 2 ? "Neg" : "Relu", RUNS * (i == 3 || i == 8 ? 400U : 100U));
    assert_int_equal(anomalies(&x, text, &a), 2);
    assert_int_equal(a[0].peers, 2 * PAIRS - 1);
    assert_true(fabs(a[0].expected_ns - 100e3) < 1 && fabs(a[1].lost_ns - 300e3) < 1);
    assert_true(a[0].row != a[1].row && a[0].gain_high_ns != a[0].gain_high_ns);
    advised_free(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_row_far_beyond_its_class_is_an_anomaly),
                                       cmocka_unit_test(a_row_near_its_class_is_none),
                                       cmocka_unit_test(too_few_rows_have_no_expectation),
                                       cmocka_unit_test(a_single_run_may_be_noise),
                                       cmocka_unit_test(rows_that_disagree_have_no_expectation),
                                       cmocka_unit_test(rows_of_equal_work_are_compared_with_each_other)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
