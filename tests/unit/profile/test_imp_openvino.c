#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/profiles.h"
#include "onnxcost.h"
#include "onnxcost/profile.h"

static struct oc_profile *open_file(const char *path, int warmup, enum oc_stat stat)
{
    struct oc_profile_opts opts = {.warmup = t_warmup(warmup), .stat = stat};
    struct oc_profile *p;
    struct oc_err err = {0};
    if (oc_profile_open(path, &opts, &p, &err) != 0)
        fail_msg("%s", err.msg);
    assert_string_equal(oc_profile_importer(p), "openvino");
    return p;
}

static void check_conserved(const struct oc_profile *p, double imported_ns)
{
    struct oc_conserved c;
    oc_profile_conserved(p, false, &c);
    assert_true(fabs(c.imported_ns - imported_ns) < 1e-3);
    assert_true(fabs(c.lost_ns) < 1e-3);
}

/* conv1: 1.5, 1.2, 1.3 ms: median 1.3; pool 0.25, 0.3, 0.2: median 0.25. Total 1.75 + 1.5 + 1.5 = 4.75 ms. */
static void each_request_is_a_run(void **state)
{
    (void)state;
    struct oc_profile *p = open_file("tests/data/openvino/detailed.csv", -1, OC_STAT_MEDIAN);
    assert_int_equal(p->n_rec, 4);
    assert_int_equal(p->runs_total, 3);
    assert_int_equal(p->runs_used, 3);
    const struct oc_prof_rec *conv = t_rec(p, "/conv1/Conv"), *pool = t_rec(p, "/pool/MaxPool");
    assert_true(conv->time_ns == 1.3e6 && conv->min_ns == 1.2e6 && conv->max_ns == 1.5e6 &&
                conv->total_ns == 4e6);
    assert_string_equal(conv->op_type, "Convolution");
    assert_string_equal(conv->precision, "bf16");
    assert_true(pool->time_ns == 0.2e6 &&
                pool->median_ns == 0.25e6); /* of the run in the middle, the third */
    assert_int_equal(conv->calls, 3);
    const struct oc_prof_rec *relu = t_rec(p, "/relu/Relu"), *input = t_rec(p, "x");
    assert_true(relu->calls == 0 && relu->time_ns == 0 && input->calls == 0);
    check_conserved(p, 4.75e6);
    assert_null(t_finding(p, "W-total"));
    oc_profile_close(p);
    /* without the first table: conv 1.2 + 1.3, 1.75 ms are dropped */
    p = open_file("tests/data/openvino/detailed.csv", 1, OC_STAT_SUM);
    assert_true(fabs(t_rec(p, "/conv1/Conv")->time_ns - 2.5e6) < 1e-3);
    assert_true(t_rec(p, "(warm-up runs)")->total_ns == 1.75e6);
    assert_int_equal(p->runs_used, 2);
    check_conserved(p, 4.75e6);
    oc_profile_close(p);
}

/* An older header; two layers of one name in one table are two records. */
static void reads_numa_header(void **state)
{
    (void)state;
    struct oc_profile *p = open_file("tests/data/openvino/numa.csv", -1, OC_STAT_MEDIAN);
    assert_int_equal(p->n_rec, 2);
    assert_true(p->rec[0].time_ns == 0.4e6 && p->rec[1].time_ns == 0.1e6 && p->rec[0].host_ns == 0.3e6);
    assert_string_equal(p->rec[0].precision, "I8");
    assert_int_equal(p->runs_total, 0);
    assert_int_equal(p->stat, OC_STAT_MEAN);
    assert_non_null(t_finding(p, "I-runs"));
    oc_profile_close(p);
}

/* The last row of the sample: 1.002 ms. */
static void reads_the_sample(void **state)
{
    (void)state;
    const char *path = t_sample("openvino/benchmark_average_counters_report.synthetic.csv");
    if (!path)
        skip();
    struct oc_profile *p = open_file(path, -1, OC_STAT_MEDIAN);
    assert_int_equal(p->n_rec, 6);
    assert_true(fabs(t_rec(p, "Conv_0")->time_ns - 812e3) < 1e-6);
    assert_string_equal(t_rec(p, "Gemm_48")->precision, "f32");
    assert_null(t_finding(p, "W-total"));
    check_conserved(p, 1.002e6);
    oc_profile_close(p);
}

static void errors_name_the_line_and_column(void **state)
{
    (void)state;
    static const char head[] = "layerName;execStatus;layerType;execType;realTime (ms);cpuTime (ms);\n";
    static const struct {
        const char *rows, *message;
    } bad[] = {{"a;EXECUTED;Conv;x;abc;1;\n", "line 2: column 'realTime': 'abc' is not a time"},
               {"a;EXECUTED;Conv;x;1;-1;\n", "line 2: column 'cpuTime': '-1' is not a time"}};
    for (size_t i = 0; i < OC_COUNT(bad); i++) {
        char text[400];
        struct oc_err err = {0};
        snprintf(text, sizeof(text), "%s%s", head, bad[i].rows);
        assert_null(t_profile_text(text, &(struct oc_profile_opts){0}, &err));
        assert_non_null(strstr(err.msg, bad[i].message));
    }
    struct oc_err err;
    char text[400];
    snprintf(text, sizeof(text), "%sa;EXECUTED;Conv;x;1;1;\nTotal;;;;3;3;\nb;EXEC", head);
    struct oc_profile *p = t_profile_text(text, &(struct oc_profile_opts){0}, &err);
    assert_non_null(p);
    assert_non_null(t_finding(p, "W-total"));
    assert_true(p->truncated && t_finding(p, "W-truncated"));
    assert_int_equal(p->n_rec, 1);
    oc_profile_close(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_request_is_a_run),
        cmocka_unit_test(reads_numa_header),
        cmocka_unit_test(reads_the_sample),
        cmocka_unit_test(errors_name_the_line_and_column),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
