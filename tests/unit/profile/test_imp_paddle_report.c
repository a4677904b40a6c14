#include "profile/formats/native_reports.h"
#include "base/file.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/profiles.h"
#include "onnxcost.h"

static struct oc_profile *open_file(const char *path)
{
    struct oc_profile *p;
    struct oc_err err = {0};
    if (oc_profile_open(path, NULL, &p, &err) != 0)
        fail_msg("%s", err.msg);
    assert_string_equal(oc_profile_importer(p), "paddle_report");
    return p;
}

static void check_conserved(const struct oc_profile *p, bool device, double imported_ns)
{
    struct oc_conserved c;
    oc_profile_conserved(p, device, &c);
    assert_true(fabs(c.imported_ns - imported_ns) < 1e-3);
    assert_true(fabs(c.lost_ns) < 1e-3);
}

/* Own times: conv2d 600 - 400 - 150 = 50 us, conv2d0 400 - 300 = 100 us; the top rows are 600 + 400 = 1000
 * us. */
static void indented_rows_nest(void **state)
{
    (void)state;
    struct oc_profile *p = open_file("tests/data/paddle_report/detail.txt");
    assert_int_equal(p->n_rec, 5);
    const struct oc_prof_rec *conv = t_rec(p, "conv2d"), *first = t_rec(p, "conv2d/conv2d0"),
                             *compute = t_rec(p, "conv2d/conv2d0/compute"),
                             *second = t_rec(p, "conv2d/conv2d1"),
                             *load = t_rec(p, "load combine -> cpu::param");
    assert_true(conv && first && compute && second && load);
    assert_true(conv->time_ns == 600e3 && conv->total_ns == 50e3 && conv->self_ns == 50e3);
    assert_true(first->total_ns == 100e3 && compute->total_ns == 300e3 && load->total_ns == 400e3);
    assert_true(conv->host_ns == 400e3 && conv->total_kernel_ns == 0);
    assert_true(first->total_kernel_ns == 0 && compute->total_kernel_ns == 150e3);
    assert_int_equal(p->runs_total, 0);
    assert_int_equal(conv->parent, OC_NONE);
    assert_ptr_equal(&p->rec[first->parent], conv);
    assert_ptr_equal(&p->rec[compute->parent], first);
    assert_ptr_equal(&p->rec[second->parent], conv);
    assert_int_equal(load->parent, OC_NONE);
    assert_string_equal(first->op_type, "conv2d");
    assert_string_equal(compute->op_type, "");
    assert_int_equal(conv->calls, 4);
    check_conserved(p, false, 1000e3);
    check_conserved(p, true, 200e3);
    assert_int_equal(p->runs_from, OC_RUNS_UNKNOWN);
    assert_true(isnan(p->run_ns) && p->runs_total == 0);
    oc_profile_close(p);
}

static void rows_keep_their_columns(void **state)
{
    (void)state;
    struct oc_profile *p = open_file("tests/data/paddle_report/detail.txt");
    const struct oc_paddle_report *r = p->native;
    assert_int_equal(r->n_row, 5);
    assert_true(r->row[0].min_ns == 100e3 && r->row[0].max_ns == 200e3 && r->row[0].ave_ns == 150e3 &&
                r->row[0].ratio == 0.6);
    assert_int_equal(r->row[2].depth, 2);
    oc_profile_close(p);
}

/* Without a banner and a unit: milliseconds. Threads are lanes. */
static void reads_the_cpu_header(void **state)
{
    (void)state;
    struct oc_profile *p = open_file("tests/data/paddle_report/cpu.txt");
    assert_int_equal(p->n_rec, 2);
    assert_string_equal(p->rec[0].name, "mul");
    assert_string_equal(p->rec[1].name, "mul");
    assert_int_equal(p->n_lane, 2);
    assert_string_equal(p->lane[p->rec[1].lane].name, "thread1");
    assert_true(p->rec[0].time_ns == 36.5e6 && isnan(p->rec[0].kernel_ns));
    assert_true(isnan(p->imported_kernel_ns));
    check_conserved(p, false, 49e6);
    oc_profile_close(p);
}

/* Five reports of different programs, each after a line "### ". Sum of the top-level rows in ms: A 1424.49 +
 * 615.933 + 219.691 + 208.415 + 152.785; B 248048 + 65632.7 + 57642; C 7382.84 + 3603.45 + 1476.78; D 8.39139
 * + 4.41263; E 1.66654. The first is the report of the whole file. */
static void reads_the_sample(void **state)
{
    (void)state;
    static const double total_ms[] = {2621.314, 371322.7, 12463.07, 12.80402, 1.66654};
    const char *path = t_sample("paddle/profiling_report.real_excerpts.txt"), *text;
    struct oc_arena a = {0};
    struct oc_err err = {0};
    size_t n;
    if (!path)
        skip();
    struct oc_profile *p = open_file(path);
    assert_true(p->n_rec == 5 && fabs(p->imported_ns - total_ms[0] * 1e6) < 1);
    assert_non_null(t_finding(p, "W-several-profiles"));
    oc_profile_close(p);
    assert_int_equal(oc_file_peek(path, 1 << 20, &a, &text, &n, &err), 0);
    for (size_t i = 0; i < OC_COUNT(total_ms); i++) {
        const char *next = strstr(text + 1, "\n### ");
        p = t_profile_text(next ? oc_strndup(&a, text, (size_t)(next - text)) : text, NULL, &err);
        if (!p)
            fail_msg("%s", err.msg);
        text = next;
        struct oc_conserved c;
        oc_profile_conserved(p, false, &c);
        assert_true(fabs(c.imported_ns - total_ms[i] * 1e6) < 1 && fabs(c.lost_ns) < 1);
        assert_null(t_finding(p, "W-row"));
        const struct oc_paddle_report *r = p->native;
        const struct oc_prof_rec *hash = t_rec(p, "pyramid_hash"), *gru = t_rec(p, "gru"),
                                 *fill = t_rec(p, "fill_constant");
        assert_true(!hash == (i != 1) && !gru == (i != 0) && !fill == (i != 4));
        if (hash) { /* columns without a gap */
            assert_true(hash->host_ns == 248048.281171e6 && hash->calls == 79752);
            assert_true(r->row[hash - p->rec].gpu_ns == 0);
        }
        assert_true(!gru || fabs(gru->total_kernel_ns - 129.579848e6) < 1e-3);
        if (fill) { /* 1.66654 - 0.937816; 0.937816 - 0.0035 - 0.010721 - 0.89758 ms */
            assert_true(fabs(fill->total_ns - 728724) < 1e-3);
            assert_true(fabs(t_rec(p, "fill_constant/fill_constant0")->total_ns - 26015) < 1e-3);
        }
        oc_profile_close(p);
    }
    oc_arena_free(&a);
}

/* The first versions have no column Ratio.; a report in a log is indented as a whole, rows of depth 0 like
 * the header. */
static void old_and_indented_layouts_are_read(void **state)
{
    (void)state;
    struct oc_err err = {0};
    struct oc_profile *p =
        t_profile_text("    ------------------------->     Profiling Report     <-----------\n"
                       "    Place: CUDA\n    Time unit: ms\n\n"
                       "    Event            Calls   Total   Min.   Max.   Ave.   \n"
                       "    thread0::fc      4       12.5    0.5    9.0    3.125  \n"
                       "      thread0::mul   4       10.0    0.5    8.0    2.5    \n"
                       "    thread0::relu    4       2.5     0.5    1.0    0.625\n",
                       NULL, &err);
    if (!p)
        fail_msg("%s", err.msg);
    assert_int_equal(p->n_rec, 3);
    check_conserved(p, false, 15e6);
    assert_true(t_rec(p, "mul")->total_ns == 10e6 && t_rec(p, "fc")->total_ns == 2.5e6);
    assert_int_equal(t_rec(p, "relu")->parent, OC_NONE);
    oc_profile_close(p);
}

static void report_without_rows_is_an_error(void **state)
{
    (void)state;
    struct oc_err err = {0};
    assert_null(t_profile_text("------------------------->     Profiling Report     <------------\n\n"
                               "Event  Calls  Total  Low  High  Mean\nmul  1  2.5  2.5  2.5  2.5\n",
                               NULL, &err));
    assert_non_null(strstr(err.msg, "no row of events"));
}

static void lines_that_are_not_rows_are_skipped(void **state)
{
    (void)state;
    struct oc_err err;
    struct oc_profile *p =
        t_profile_text("Event  Calls  Total  Min.  Max.  Ave.  Ratio.\n"
                       "mul  1  2.5  2.5  2.5  2.5  0.5\nI1101 log line\nrelu  1  2.5  2.5",
                       NULL, &err);
    assert_non_null(p);
    assert_int_equal(p->n_rec, 1);
    assert_non_null(t_finding(p, "W-row"));
    assert_true(p->truncated);
    oc_profile_close(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(indented_rows_nest),
        cmocka_unit_test(rows_keep_their_columns),
        cmocka_unit_test(reads_the_cpu_header),
        cmocka_unit_test(reads_the_sample),
        cmocka_unit_test(old_and_indented_layouts_are_read),
        cmocka_unit_test(report_without_rows_is_an_error),
        cmocka_unit_test(lines_that_are_not_rows_are_skipped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
