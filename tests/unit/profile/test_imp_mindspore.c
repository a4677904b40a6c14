#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/profiles.h"
#include "onnxcost.h"

static struct oc_profile *open_files(const char *const *path, size_t n)
{
    struct oc_profile **list, *p;
    size_t n_list;
    struct oc_err err = {0};
    if (oc_profile_open_all(path, n, NULL, &list, &n_list, &err) != 0)
        fail_msg("%s", err.msg);
    assert_int_equal(n_list, 1);
    p = list[0];
    free(list);
    assert_string_equal(oc_profile_importer(p), "mindspore");
    return p;
}

static struct oc_profile *open_file(const char *path)
{
    return open_files(&path, 1);
}

static void check_conserved(const struct oc_profile *p, bool device, double imported_ns)
{
    struct oc_conserved c;
    oc_profile_conserved(p, device, &c);
    if (isnan(imported_ns)) {
        assert_true(isnan(c.imported_ns));
        return;
    }
    assert_true(fabs(c.imported_ns - imported_ns) < 1e-3);
    assert_true(fabs(c.lost_ns) < 1e-3);
}

/* Milliseconds, another header for the name. Times are sums over an unknown number of steps: no latency. */
static void reads_cpu_operators(void **state)
{
    (void)state;
    struct oc_profile *p = open_file("tests/data/mindspore/cpu_op_detail_info_0.csv");
    assert_int_equal(p->n_rec, 3);
    assert_int_equal(p->runs_total, 0);
    assert_int_equal(p->stat, OC_STAT_SUM);
    assert_string_equal(p->device, "CPU");
    const struct oc_prof_rec *conv = t_rec(p, "Default/net/Conv2D-op1"),
                             *relu = t_rec(p, "Default/net/ReLU-op2");
    assert_true(conv->time_ns == 8e6 && conv->total_ns == 8e6 && isnan(conv->kernel_ns) && conv->calls == 4);
    assert_string_equal(conv->op_type, "Conv2D");
    assert_true(relu->time_ns == 2e6 && relu->calls == 8);
    check_conserved(p, false, 12.5e6);
    check_conserved(p, true, (double)NAN);
    oc_profile_close(p);
}

/* task_duration is the mean: 2 * (125 + 62.5) us = 375 us. The file of types (300 + 125 us) in the same
 * folder is a cross-check. */
static void reads_ascend_with_shapes(void **state)
{
    (void)state;
    static const char *const path[] = {"tests/data/mindspore/aicore_intermediate_0_detail.csv",
                                       "tests/data/mindspore/framework_raw_0.csv"};
    struct oc_profile *p = open_files(path, 2);
    assert_int_equal(p->n_rec, 2);
    check_conserved(p, false, 375e3);
    check_conserved(p, true, 375e3);
    assert_string_equal(p->time_kind, "device time");
    const struct oc_prof_rec *conv = t_rec(p, "Default/conv1-Conv2d/Conv2D-op17"),
                             *cast = t_rec(p, "Default/Cast-op20");
    assert_true(conv->time_ns == 250e3 && conv->kernel_ns == 250e3 && isnan(conv->host_ns));
    assert_string_equal(conv->op_type, "Conv2D");
    assert_true(conv->n_in == 2 && conv->n_out == 1);
    assert_int_equal(conv->in[0].dtype, OC_DT_FLOAT16);
    assert_int_equal(conv->in[0].shape.rank, 5);
    assert_int_equal(conv->in[1].dtype, OC_DT_FLOAT);
    assert_int_equal(conv->in[1].shape.rank, 4); /* "25,1,16,16" */
    assert_int_equal(conv->out[0].dtype, OC_DT_UNDEFINED);
    assert_false(cast->has_in);
    assert_string_equal(cast->op_type, "CastType"); /* as the runtime names it */
    assert_non_null(t_finding(p, "W-shapes"));
    assert_non_null(t_finding(p, "W-types-differ"));
    oc_profile_close(p);
}

static void shapes_without_times_are_not_a_profile(void **state)
{
    (void)state;
    struct oc_profile *p;
    struct oc_err err;
    assert_int_equal(oc_profile_open("tests/data/mindspore/framework_raw_0.csv", NULL, &p, &err), -1);
    assert_non_null(strstr(err.msg, "pass it together with aicore_intermediate_<n>_detail.csv"));
}

static const char *sample(const char *name)
{
    const char *path = t_sample(name);
    if (!path)
        skip();
    return path;
}

/* Sums computed in a spreadsheet over the columns: 28402.157 us on the host, 19902.262 us on the device. */
static void reads_gpu_operators(void **state)
{
    (void)state;
    struct oc_profile *p = open_file(sample("mindspore/gpu_op_detail_info_0.synthetic.csv"));
    assert_int_equal(p->n_rec, 10);
    assert_int_equal(p->runs_total, 0);
    const struct oc_prof_rec *conv = t_rec(p, "Default/network-WithLossCell/_backbone-ResNet/Conv2D-op200");
    assert_true(fabs(conv->time_ns - 9450230) < 1e-3 && fabs(conv->kernel_ns - 6885110) < 1e-3);
    check_conserved(p, false, 28402157);
    check_conserved(p, true, 19902262);
    oc_profile_close(p);
}

/* Kernels without an operator: they make one bucket. With the file of operators they add no time. */
static void activities_belong_to_no_operator(void **state)
{
    (void)state;
    char activity[256];
    snprintf(activity, sizeof(activity), "%s", sample("mindspore/gpu_activity_data_0.synthetic.csv"));
    struct oc_profile *p = open_file(activity);
    assert_int_equal(p->n_kernel, 4);
    assert_int_equal(p->n_rec, 1);
    assert_string_equal(p->rec[0].bucket, "kernels without operator");
    check_conserved(p, true, 18200760);
    assert_string_equal(p->kernel[1].name, "volta_sgemm_128x64_nn");
    assert_string_equal(p->kernel[1].precision, "f32");
    assert_true(p->kernel[1].rec == OC_NONE && p->lane[p->kernel[1].lane].id == 17);
    assert_true(p->kernel[1].calls == 7 && fabs(p->kernel[1].max_ns - 1442600) < 1e-3);
    oc_profile_close(p);
    const char *const both[] = {"../shared/samples/mindspore/gpu_op_detail_info_0.synthetic.csv", activity};
    p = open_files(both, 2);
    assert_int_equal(p->n_kernel, 4);
    assert_int_equal(p->n_rec, 10);
    check_conserved(p, true, 19902262);
    oc_profile_close(p);
}

static void types_alone_have_no_number_of_runs(void **state)
{
    (void)state;
    struct oc_profile *p = open_file(sample("mindspore/gpu_op_type_info_0.synthetic.csv"));
    assert_int_equal(p->n_rec, 5);
    assert_int_equal(p->runs_total, 0);
    assert_true(fabs(t_rec(p, "Conv2D")->time_ns - 21000500) < 1e-3 && t_rec(p, "Conv2D")->calls == 14);
    assert_non_null(t_finding(p, "W-types-only"));
    check_conserved(p, false, 28402120);
    oc_profile_close(p);
}

/* Types that do not add up to the operators next to them are of another recording: the named file counts. */
static void named_types_that_differ_from_the_operators_are_shown(void **state)
{
    (void)state;
    struct oc_profile *p = open_file("tests/data/mindspore/aicore_intermediate_0_type.csv");
    assert_int_equal(p->n_rec, 2);
    assert_non_null(t_finding(p, "W-types-differ"));
    assert_non_null(t_finding(p, "W-types-only"));
    check_conserved(p, false, 425e3);
    check_conserved(p, true, 425e3);
    assert_int_equal(p->stat, OC_STAT_SUM);
    oc_profile_close(p);
}

/* New headers (mean and frequency: 3.46535 ms) and old ones (only the mean: 23.088095 ms); the files of types
 * agree. */
static void reads_real_ascend_files(void **state)
{
    (void)state;
    struct oc_profile *p = open_file(sample("mindspore/ascend_run1.aicore_intermediate_1_detail.csv"));
    assert_int_equal(p->n_rec, 69);
    assert_int_equal(p->stat, OC_STAT_SUM);
    check_conserved(p, false, 3465350);
    assert_null(t_finding(p, "W-types-differ"));
    oc_profile_close(p);
    static const char *const old[] = {
        "../shared/samples/mindspore/ascend_run2.aicore_intermediate_1_detail.csv",
        "../shared/samples/mindspore/ascend_run2.framework_raw_1.csv",
        "../shared/samples/mindspore/ascend_run2.aicpu_intermediate_1.csv"};
    p = open_files(old, 3);
    assert_int_equal(p->n_rec, 105 + 3);
    /* AI CPU: 7.906 + 0.888 + 0.282 + 0.293 + 0.325 = 9.694 ms */
    check_conserved(p, false, 23088095 + 9694000);
    assert_null(t_finding(p, "W-types-differ"));
    assert_null(t_finding(p, "W-shapes"));
    assert_non_null(t_finding(p, "W-mixed"));
    assert_int_equal(p->stat, OC_STAT_MEAN);
    uint32_t shaped = 0;
    for (uint32_t i = 0; i < p->n_rec; i++)
        shaped += p->rec[i].has_out || p->rec[i].has_in;
    assert_int_equal(shaped, 105);
    assert_true(t_rec(p, "GetNext")->calls == 2 && fabs(t_rec(p, "GetNext")->total_ns - 1181000) < 1e-3);
    oc_profile_close(p);
}

/* MatMul ran 100 times with 4 us, Conv2D once with 5000 us: the sum ranks Conv2D first (92.6 %), the average
 * per call would as well, but with 99.9 %. An older version misspells the column of the name. */
static void operators_are_ranked_by_sums(void **state)
{
    (void)state;
    struct oc_err err;
    struct oc_profile *p = t_profile_text(
        "full_kernel_time,execution_time,execution_frequency\nnet/MatMul-op1,0.004,100\nnet/Conv2D-op2,5,1\n",
        NULL, &err);
    assert_non_null(p);
    assert_true(fabs(t_rec(p, "net/MatMul-op1")->time_ns - 400e3) < 1e-6);
    assert_true(t_rec(p, "net/Conv2D-op2")->time_ns == 5e6);
    assert_int_equal(p->runs_total, 0);
    oc_profile_close(p);
}

static void errors_name_the_line_and_column(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } bad[] = {
        {"full_op_name,execution_time\na-op1,x\n", "line 2: column 'execution_time': 'x' is not a time"},
        {"full_kernel_name,execution_time,execution_frequency\na,1,2\nb,1,-2\n",
         "line 3: column 'execution_frequency': '-2' is not a count"},
        {"full_kernel_name,execution_time,execution_frequency\na,1\nb,1,2\n",
         "line 2: 2 fields, but the header has 3 or more"},
    };
    for (size_t i = 0; i < OC_COUNT(bad); i++) {
        struct oc_err err = {0};
        assert_null(t_profile_text(bad[i].text, NULL, &err));
        if (!strstr(err.msg, bad[i].message))
            fail_msg("%s", err.msg);
    }
    struct oc_err err;
    struct oc_profile *p =
        t_profile_text("full_kernel_name,execution_time,execution_frequency\na,1,2\nb,1", NULL, &err);
    assert_true(p && p->truncated && p->n_rec == 1);
    oc_profile_close(p);
}

/* A table of shapes next to a table of times. */
static void broken_row_of_shapes_is_skipped(void **state)
{
    (void)state;
    char folder[] = "/tmp/onnxcost-test-XXXXXX", times[80], shapes[80];
    assert_non_null(mkdtemp(folder));
    snprintf(times, sizeof(times), "%s/aicore_intermediate_0_detail.csv", folder);
    snprintf(shapes, sizeof(shapes), "%s/framework_raw_0.csv", folder);
    FILE *f = fopen(times, "w");
    assert_non_null(f);
    fputs("full_kernel_name,task_duration,execution_frequency,task_type\na,1,2,AI_CORE\n", f);
    fclose(f);
    f = fopen(shapes, "w");
    assert_non_null(f);
    fputs("full_kernel_name,kernel_type,op_info\n", f);
    for (int i = 0; i < 8192; i++)
        fputc(',', f);
    fclose(f);
    const char *const path[] = {times, shapes};
    struct oc_profile **list;
    size_t n_list;
    struct oc_err err = {0};
    assert_int_equal(oc_profile_open_all(path, 2, NULL, &list, &n_list, &err), -1);
    if (!strstr(err.msg, "line 2: more than 8192 columns (--limit csv-columns=N)"))
        fail_msg("%s", err.msg);
    unlink(times);
    unlink(shapes);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_cpu_operators),
        cmocka_unit_test(reads_ascend_with_shapes),
        cmocka_unit_test(shapes_without_times_are_not_a_profile),
        cmocka_unit_test(reads_gpu_operators),
        cmocka_unit_test(activities_belong_to_no_operator),
        cmocka_unit_test(types_alone_have_no_number_of_runs),
        cmocka_unit_test(named_types_that_differ_from_the_operators_are_shown),
        cmocka_unit_test(reads_real_ascend_files),
        cmocka_unit_test(operators_are_ranked_by_sums),
        cmocka_unit_test(errors_name_the_line_and_column),
        cmocka_unit_test(broken_row_of_shapes_is_skipped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
