#include "profile/profile.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/arena.h"
#include "profile/core/timeline.h"
#include "support/profiles.h"
#include "support/sqlite_file.h"
#include "onnxcost.h"
#include "onnxcost/profile.h"

extern const struct oc_importer oc_importer_nsys_sqlite;

static void assert_conserved(const struct oc_profile *p)
{
    struct oc_conserved c;
    oc_profile_conserved(p, true, &c);
    if (!(fabs(c.lost_ns) < 1))
        fail_msg("of %f ns %f are lost", c.imported_ns, c.lost_ns);
}

static struct oc_profile *open_with(const char *path, int32_t warmup, enum oc_stat stat)
{
    struct oc_profile_opts opts = {.warmup = t_warmup(warmup), .stat = stat};
    struct oc_profile *p;
    struct oc_err err = {0};
    if (oc_profile_open(path, &opts, &p, &err))
        fail_msg("%s", err.msg);
    assert_string_equal(oc_profile_importer(p), "nsys_sqlite");
    assert_conserved(p);
    return p;
}

static const struct oc_prof_rec *find(const struct oc_profile *p, const char *name)
{
    for (uint32_t i = 0; i < p->n_rec; i++)
        if (strcmp(p->rec[i].name, name) == 0)
            return &p->rec[i];
    fail_msg("no record '%s'", name);
    return NULL;
}

static bool has_warning(const struct oc_profile *p, const char *code)
{
    const struct oc_diag *d;
    size_t n = oc_profile_diags(p, &d);
    for (size_t i = 0; i < n; i++)
        if (strcmp(d[i].code, code) == 0)
            return true;
    return false;
}

static void assert_ns(double got, double want)
{
    if (!(fabs(got - want) < 1e-6))
        fail_msg("%.3f ns is not %.3f ns", got, want);
}

/* ---- tables ---- */

#define TABLES                                                                                               \
    "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);"                                            \
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INT, end INT, deviceId INT, streamId INT, correlationId " \
    "INT, "                                                                                                  \
    "globalPid INT, demangledName INT, shortName INT, graphNodeId INT);"                                     \
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start INT, end INT, deviceId INT, streamId INT, correlationId " \
    "INT, "                                                                                                  \
    "globalPid INT, bytes INT, copyKind INT);"                                                               \
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INT, end INT, globalTid INT, correlationId INT, nameId " \
    "INT);"                                                                                                  \
    "CREATE TABLE NVTX_EVENTS(start INT, end INT, eventType INT, text TEXT, textId INT, globalTid INT, "     \
    "domainId INT);"

/* Process 1 (1 << 24 = 16777216), thread 5. */
#define PID "16777216"
#define TID "16777221"

static struct oc_buf sql;

static void begin_sql(void)
{
    oc_buf_clear(&sql);
    oc_buf_str(&sql, TABLES "INSERT INTO StringIds VALUES(1, 'ampere_sgemm_128x64_nn'), (2, 'relu_kernel'), "
                            "(3, 'Conv_0'), (9000000000, 'far_kernel');");
}

static void add_range(const char *text, int start, int end)
{
    oc_buf_printf(&sql, "INSERT INTO NVTX_EVENTS VALUES(%d, %d, 59, '%s', NULL, " TID ", 0);", start, end,
                  text);
}

/* A call and the kernel it launched. */
static void add_launch(int id, int call_ns, int start, int dur, const char *name)
{
    oc_buf_printf(&sql,
                  "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(%d, %d, " TID ", %d, 0);"
                  "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(%d, %d, 0, 7, %d, " PID ", %s, NULL, NULL);",
                  call_ns, call_ns + 2, id, start, start + dur, id, name);
}

static struct oc_profile *open_sql(int32_t warmup)
{
    struct oc_profile *p = open_with(sqlite_file(sql.data), warmup, OC_STAT_MEDIAN);
    unlink(sqlite_file(""));
    return p;
}

/* Three runs of two nodes, one of them with two kernels; the device runs later than the host. Per run: conv1
 * 100
 * + 10, 110 + 10, 120 + 10 ns; relu 20 ns each. Without the first: medians (120 + 130) / 2 = 125 and 20 ns.
 */
static void nvtx_ranges_of_onnx_runtime_are_nodes(void **state)
{
    (void)state;
    begin_sql();
    for (int run = 0; run < 3; run++) {
        int t = 1000 * run;
        add_range("Batch-x Forward", t, t + 500);
        add_range("Conv.0(/conv1/Conv)", t + 10, t + 60);
        add_range("Relu.1(/relu)", t + 70, t + 90);
        add_range("Shape.2(/shape)", t + 100, t + 107);
        add_launch(100 + 3 * run, t + 20, t + 5000, 100 + 10 * run, "1");
        add_launch(101 + 3 * run, t + 30, t + 5200, 10, "2");
        add_launch(102 + 3 * run, t + 75, t + 5300, 20, "9000000000");
    }
    struct oc_profile *p = open_sql(-1);
    assert_int_equal(p->runs_total, 3);
    assert_int_equal(p->runs_used, 2);
    const struct oc_prof_rec *conv = find(p, "/conv1/Conv");
    assert_string_equal(conv->op_type, "Conv");
    assert_int_equal(conv->index, 0);
    assert_ns(conv->time_ns, 125);
    assert_ns(conv->kernel_ns, 125);
    assert_ns(conv->min_ns, 120);
    assert_ns(conv->max_ns, 130);
    assert_ns(conv->host_ns, 50);
    assert_ns(conv->total_kernel_ns, 250);
    assert_int_equal(conv->calls, 4);
    assert_string_equal(conv->precision, "f32"); /* 220 of 250 ns */
    assert_string_equal(conv->unit, "CUDA core");
    assert_ns(find(p, "/relu")->time_ns, 20);
    assert_ns(find(p, "/shape")->time_ns, 0); /* a node without kernels */
    assert_ns(find(p, "/shape")->host_ns, 7);
    assert_ns(find(p, "(launches of warm-up runs)")->kernel_ns, 130);
    assert_ns(p->imported_kernel_ns, 130 + 140 + 150);
    assert_ns(p->run_ns, 320);  /* 5000 to 5320 */
    assert_ns(p->busy_ns, 145); /* (140 + 150) / 2 */
    assert_int_equal(p->n_kernel, 3);
    assert_string_equal(p->kernel[0].name, "ampere_sgemm_128x64_nn");
    assert_string_equal(p->kernel[0].library, "cuBLAS");
    assert_ns(p->kernel[0].time_ns, 115);
    assert_ns(p->kernel[0].total_ns, 230);
    assert_int_equal(p->kernel[0].calls, 2);
    assert_string_equal(p->kernel[2].name, "far_kernel");
    assert_int_equal(p->n_lane, 1);
    assert_int_equal(p->lane[0].process, 1);
    assert_int_equal(p->lane[0].id, 7);
    oc_profile_close(p);
}

/* The training step on the main thread lasts from 0 to 9000. A thread of its process, for the backward pass,
 * opens ranges that repeat and contain others: they are parts of the step. */
static void ranges_within_a_range_of_another_thread_are_not_runs(void **state)
{
    (void)state;
    begin_sql();
    add_range("distributed_training", 0, 9000);
    for (int i = 0; i < 4; i++)
        oc_buf_printf(&sql,
                      "INSERT INTO NVTX_EVENTS VALUES(%d, %d, 59, 'all_reduce %d', NULL, 16777222, 0), "
                      "(%d, %d, 59, 'ncclAllReduce', NULL, 16777222, 1);",
                      1000 * i + 100, 1000 * i + 400, i, 1000 * i + 150, 1000 * i + 350);
    add_launch(1, 20, 5000, 100, "1");
    add_launch(2, 60, 5200, 40, "2");
    struct oc_profile *p = open_sql(-1);
    assert_int_equal(p->runs_from, OC_RUNS_UNKNOWN);
    assert_true(isnan(p->run_ns));
    assert_ns(p->imported_kernel_ns, 140);
    oc_profile_close(p);
}

/* Each run: a step, two nodes, three calls, three kernels, each linked to its call; the records and their
 * runs equal those without events. The first step extends to the second run, the last to the end of the
 * device work. */
static void events_are_read(void **state)
{
    (void)state;
    begin_sql();
    for (int run = 0; run < 2; run++) {
        int t = 1000 * run;
        add_range("Batch-x Forward", t, t + 500);
        add_range("Conv.0(/conv1/Conv)", t + 10, t + 60);
        add_range("Relu.1(/relu)", t + 70, t + 90);
        add_launch(100 + 3 * run, t + 20, t + 5000, 100, "1");
        add_launch(101 + 3 * run, t + 30, t + 5200, 10, "2");
        add_launch(102 + 3 * run, t + 75, t + 5300, 20, "9000000000");
    }
    struct oc_profile_opts opts = {.warmup = OC_WARMUP_NONE, .stat = OC_STAT_SUM, .keep_events = true};
    struct oc_profile *p;
    struct oc_err err = {0};
    if (oc_profile_open(sqlite_file(sql.data), &opts, &p, &err))
        fail_msg("%s", err.msg);
    unlink(sqlite_file(""));
    assert_conserved(p);
    assert_int_equal(p->runs_used, 2);
    assert_ns(find(p, "/conv1/Conv")->time_ns, 220);
    assert_true(p->lane[find(p, "/conv1/Conv")->lane].device);
    const struct oc_timeline *t = p->timeline;
    assert_non_null(t);
    assert_int_equal(t->n_event, 18);
    assert_int_equal(t->n_run, 2);
    assert_ns(t->run[0].end_ns - t->run[0].start_ns, 1000);
    assert_ns(t->run[1].end_ns - t->run[1].start_ns, 5320);
    for (size_t i = 0; i < t->n_event; i++)
        if (t->event[i].kind == OC_EV_KERNEL)
            assert_int_equal(t->event[t->event[i].link].kind, OC_EV_API);
    oc_profile_close(p);
}

/* emit_nvtx: the outermost aten range counts, and shapes separate records. Without marked runs the repeated
 * steps that contain ranges are runs. */
static void nvtx_ranges_of_pytorch_are_operators(void **state)
{
    (void)state;
    begin_sql();
    for (int run = 0; run < 2; run++) {
        int t = 1000 * run;
        char name[200];
        add_range(run ? "step 1" : "step 0", t, t + 900);
        snprintf(name, sizeof(name), "aten::conv2d, seq = %d, sizes = [[1, 3, 8, 8], [4, 3, 3, 3], []]", run);
        add_range(name, t + 10, t + 60);
        add_range("aten::convolution", t + 12, t + 58);
        add_launch(10 + 3 * run, t + 20, t + 100, 40, "1");
        snprintf(name, sizeof(name), "aten::conv2d, seq = %d, sizes = [[1, 4, 6, 6], [4, 4, 3, 3], []]",
                 run + 5);
        add_range(name, t + 70, t + 90);
        add_launch(11 + 3 * run, t + 75, t + 200, 30, "1");
        add_launch(12 + 3 * run, t + 200, t + 300, 5, "2"); /* in the step, in no operator */
    }
    struct oc_profile *p = open_sql(0);
    assert_int_equal(p->runs_used, 2);
    assert_int_equal(p->n_rec, 3);
    assert_string_equal(p->rec[0].name, "aten::conv2d");
    assert_string_equal(p->rec[0].op_type, "aten::conv2d");
    assert_ns(p->rec[0].time_ns, 40);
    assert_int_equal(p->rec[0].n_in, 3);
    assert_int_equal(p->rec[0].in[0].shape.rank, 4);
    assert_int_equal(p->rec[0].in[2].shape.rank, 0);
    assert_ns(p->rec[1].time_ns, 30);
    assert_string_equal(p->rec[2].rest, "(kernels without an operator)");
    assert_string_equal(p->rec[2].op_type, p->rec[2].rest);
    assert_ns(p->rec[2].time_ns, 5);
    oc_profile_close(p);
}

/* Two processes use the same correlation ids; a range of another thread never matches. */
static void correlation_respects_processes_and_threads(void **state)
{
    (void)state;
    begin_sql();
    add_range("mine", 0, 100);
    oc_buf_str(&sql, "INSERT INTO NVTX_EVENTS VALUES(0, 100, 59, 'other thread', NULL, 16777222, 0),"
                     "(0, NULL, 59, 'other process', NULL, 33554433, 0);");
    add_launch(1, 10, 1000, 7, "1");
    oc_buf_str(
        &sql, "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(500, 501, 33554433, 1, 0);"
              "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(2000, 2011, 1, 7, 1, 33554432, 2, NULL, NULL);");
    struct oc_profile *p = open_sql(-1);
    assert_ns(find(p, "mine")->time_ns, 7);
    assert_ns(find(p, "other process")->time_ns, 11); /* never closed: open to the end */
    assert_int_equal(p->n_lane, 2);
    assert_int_equal(p->runs_total, 0);
    assert_true(has_warning(p, "W-no-run"));
    oc_profile_close(p);
}

/* Without ranges kernels are the records; the same four launches and a copy, four times, are four runs;
 * earlier kernels are outside the runs. Copies have a bucket. Run: 10 + 20 + 3 + 5 ns of kernels, 4 of the
 * copy. */
static void kernels_without_ranges_are_records(void **state)
{
    (void)state;
    begin_sql();
    oc_buf_str(&sql, "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(10, 60, 0, 7, 1, " PID
                     ", 9000000000, NULL, NULL);");
    for (int run = 0; run < 4; run++) {
        int t = 1000 + 100 * run;
        add_launch(10 + 4 * run, 0, t, 10, "1");
        add_launch(11 + 4 * run, 0, t + 20, 20, "2");
        add_launch(12 + 4 * run, 0, t + 45, 3, "9000000000");
        add_launch(13 + 4 * run, 0, t + 50, 5, "1");
        oc_buf_printf(&sql,
                      "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES(%d, %d, 0, 7, 99, " PID ", 4096, 2);",
                      t + 60, t + 64);
    }
    struct oc_profile *p = open_sql(1);
    assert_true(has_warning(p, "I-runs-by-repetition"));
    assert_true(has_warning(p, "I-no-nvtx"));
    assert_int_equal(p->runs_total, 4);
    assert_int_equal(p->runs_used, 3);
    assert_ns(find(p, "ampere_sgemm_128x64_nn")->time_ns, 15);
    assert_int_equal(find(p, "ampere_sgemm_128x64_nn")->calls, 6);
    assert_null(find(p, "relu_kernel")->bucket);
    const struct oc_prof_rec *copy = find(p, "[CUDA memcpy Device-to-Host]");
    assert_string_equal(copy->bucket, "copies");
    assert_ns(copy->time_ns, 4);
    assert_ns(copy->bytes, 4096);
    assert_ns(find(p, "(launches outside runs)")->kernel_ns, 50);
    assert_ns(p->run_ns, 64);
    oc_profile_close(p);
}

/* Five runs of four launches and a copy, then the beginning of one: its 10 + 20 ns are those of an incomplete run. Work
 * of another stream before it, 7 ns, is of the last run. The first two launches of a run start at the same time, in odd
 * runs with the shorter one first: their order is that of the file. A kernel before the runs has no record. */
static void repeated_launches_may_end_in_an_incomplete_run(void **state)
{
    (void)state;
    begin_sql();
    add_launch(1, 0, 10, 50, "3");
    for (int run = 0; run < 6; run++) {
        int t = 1000 + 100 * run, odd = run % 2;
        add_launch(10 + 4 * run, 0, t, odd ? 10 : 20, "1");
        add_launch(11 + 4 * run, 0, t, odd ? 20 : 10, "2");
        if (run == 5)
            break;
        add_launch(12 + 4 * run, 0, t + 45, 3, "9000000000");
        add_launch(13 + 4 * run, 0, t + 50, 5, "1");
        oc_buf_printf(&sql,
                      "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES(%d, %d, 0, 7, 99, " PID ", 4096, 2);",
                      t + 60, t + 64);
    }
    oc_buf_str(&sql, "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(1480, 1487, 0, 8, 98, " PID
                     ", 2, NULL, NULL);");
    struct oc_profile *p = open_sql(1);
    assert_int_equal(p->runs_total, 5);
    assert_ns(find(p, "(launches of warm-up runs)")->kernel_ns, 20 + 10 + 3 + 5 + 4);
    const struct oc_prof_rec *cut = find(p, "(launches of the incomplete run)");
    assert_string_equal(cut->bucket, "incomplete run");
    assert_ns(cut->time_ns, 30);
    assert_int_equal(cut->calls, 2);
    assert_ns(find(p, "relu_kernel")->total_kernel_ns, 2 * 20 + 2 * 10 + 7);
    assert_ns(p->spread.max_ns, 87);
    assert_ns(find(p, "(launches outside runs)")->time_ns, 50);
    assert_int_equal(p->n_rec, 7); /* three kernels, copies, and three parts outside the used runs */
    assert_int_equal(p->n_kernel, 4);
    oc_profile_close(p);
    add_range("work", 0, 10); /* the host time of all runs is not that of one */
    p = open_sql(0);
    assert_int_equal(p->runs_total, 5);
    assert_ns(find(p, "work")->kernel_ns, 20 + 10 + 3 + 5);
    assert_true(isnan(find(p, "work")->host_ns));
    assert_int_equal(p->n_kernel, 3 + 1 + 1); /* in it, of the other stream, copies */
    oc_profile_close(p);
}

/* Of three runs, two of 20 and 30 ns, one launched nothing. */
static void runs_without_launches_have_no_time(void **state)
{
    (void)state;
    begin_sql();
    for (int run = 0; run < 3; run++) {
        add_range("Batch-x Forward", 1000 * run, 1000 * run + 500);
        if (run != 1)
            add_launch(run + 1, 1000 * run + 10, 1000 * run + 100, 20 + 5 * run, "1");
    }
    struct oc_profile *p = open_sql(0);
    assert_int_equal(p->runs_used, 3);
    assert_int_equal(p->spread.n, 2);
    assert_ns(p->spread.min_ns, 20);
    assert_ns(p->spread.max_ns, 30);
    oc_profile_close(p);
}

/* Start/End ranges may overlap and cross threads: they are annotations, and have no kernels of their own. */
static void ranges_between_two_calls_are_annotations(void **state)
{
    (void)state;
    begin_sql();
    oc_buf_str(&sql, "INSERT INTO NVTX_EVENTS VALUES(0, 100, 60, 'train_step', NULL, " TID ", 0),"
                     "(90, 200, 60, 'train_step', NULL, " TID ", 0);");
    add_launch(1, 10, 1000, 7, "1");
    struct oc_profile *p = open_sql(-1);
    assert_non_null(strstr(t_finding(p, "W-start-end-ranges"), "2 NVTX Start/End ranges ('train_step' ...)"));
    assert_int_equal(p->n_rec, 1);
    assert_ns(p->rec[0].time_ns, 7);
    assert_null(p->rec[0].rest); /* kernels are all that the file has */
    oc_profile_close(p);
}

static void cuda_graphs_are_reported(void **state)
{
    (void)state;
    begin_sql();
    add_range("ExecutionContext::enqueueV3", 0, 100);
    oc_buf_str(
        &sql,
        "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(10, 20, " TID ", 4, 0);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(200, 230, 0, 7, 4, " PID ", 1, NULL, 77),"
        "(240, 250, 0, 7, 4, " PID ", 2, NULL, 78);"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE(start INT, end INT, correlationId INT, globalPid INT, "
        "graphId INT);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES(300, 400, 4, " PID ", 3);");
    struct oc_profile *p = open_sql(-1);
    assert_true(has_warning(p, "W-cuda-graph"));
    assert_int_equal(p->n_rec, 3);
    double sum_ns = 0;
    for (uint32_t i = 0; i < p->n_rec; i++) {
        assert_string_equal(p->rec[i].rest, "(kernels without an operator)");
        sum_ns += p->rec[i].total_kernel_ns;
    }
    assert_ns(sum_ns, 140);
    assert_ns(find(p, "CUDA graph 3")->total_kernel_ns, 100);
    assert_int_equal(p->n_kernel, 3);
    oc_profile_close(p);
}

/* Possible damage: missing tables and columns; wrong times and ids of any kind. */
/* Three runs of one node: dropping four or three would leave none. */
static void dropping_all_runs_is_a_warning(void **state)
{
    (void)state;
    for (int32_t warmup = 2; warmup < 5; warmup++) {
        begin_sql();
        for (int run = 0; run < 3; run++) {
            int t = 1000 * run;
            add_range("Batch-x Forward", t, t + 500);
            add_range("Conv.0(/conv1/Conv)", t + 10, t + 60);
            add_launch(100 + run, t + 20, t + 5000, 100 + 10 * run, "1");
        }
        struct oc_profile *p = open_sql(warmup);
        const char *told = t_finding(p, "W-warmup");
        if (warmup < 3)
            assert_null(told);
        else if (!told ||
                 !strstr(told, "warm-up runs requested, but the file has 3: only the last one is used"))
            fail_msg("%d runs to drop: %s", warmup, told ? told : "no warning");
        assert_int_equal(p->runs_total, 3);
        assert_int_equal(p->runs_used, 1);
        assert_ns(find(p, "/conv1/Conv")->time_ns, 120);
        oc_profile_close(p);
    }
}

static void broken_tables_are_errors_or_warnings(void **state)
{
    (void)state;
    static const struct {
        const char *sql, *why;
    } bad[] = {
        {"CREATE TABLE x(a)", "without the tables of Nsight Systems"},
        {"CREATE TABLE StringIds(id, value)", "recorded no device work"},
        {"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, end)", "tables of kernels and copies are empty"},
        {"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(begin, end)", "has no column 'start'"},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        size_t n;
        unsigned char *data = sqlite_bytes(bad[i].sql, &n);
        struct oc_profile_opts opts = {0};
        struct oc_profile *p;
        struct oc_err err = {0};
        assert_int_equal(oc_profile_from_mem(&oc_importer_nsys_sqlite, data, n, &opts, &p, &err), -1);
        if (!strstr(err.msg, bad[i].why))
            fail_msg("'%s' has no '%s'", err.msg, bad[i].why);
        free(data);
    }
    begin_sql();
    oc_buf_str(
        &sql,
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES('x', 5, 0, 0, 0, 0, 1, 1, 0), (5, 4, 0, 0, 0, 0, 1, "
        "1, 0),"
        "(0, 9223372036854775807, 0, 0, 0, 0, 1, 1, 0), (10, 13, NULL, 'a', -1, 1.5, 12345, 'b', 'c');");
    struct oc_profile *p = open_sql(-1);
    assert_true(has_warning(p, "W-bad-event"));
    assert_ns(find(p, "(unnamed kernel)")->time_ns, 3);
    oc_profile_close(p);
}

/* ---- the sample ---- */

#define SAMPLE "../shared/samples/nsys/trt_resnet_head.synthetic.sqlite"

/* Sums of the rows of cuda_gpu_kern_sum.synthetic.csv, which describes the same recording. */
static void sample_engine_matches_the_kernel_sums(void **state)
{
    (void)state;
    if (access(SAMPLE, R_OK)) {
        print_message("SKIPPED: no sample '" SAMPLE "'\n");
        skip();
    }
    struct oc_profile *p = open_with(SAMPLE, 0, OC_STAT_SUM);
    assert_string_equal(p->device, "NVIDIA A100-SXM4-40GB");
    assert_int_equal(p->runs_used, 3);
    const struct oc_prof_rec *conv = find(p, "Conv_0 + Relu_1"), *gemm = find(p, "Gemm_48");
    assert_ns(conv->time_ns, 336115);
    assert_int_equal(conv->calls, 3);
    assert_string_equal(conv->precision, "f16");
    assert_string_equal(conv->unit, "tensor core");
    assert_ns(gemm->time_ns, 22027 + 13246);
    assert_int_equal(gemm->calls, 6);
    assert_ns(find(p, "MaxPool_2")->time_ns, 188679);
    assert_ns(find(p, "Reformatting CopyNode for Input Tensor 0 to Conv_0 + Relu_1")->time_ns, 242736);
    assert_ns(find(p, "[CUDA memcpy Device-to-Host]")->time_ns, 33000);
    assert_ns(p->imported_kernel_ns, 336115 + 242736 + 188679 + 22027 + 13246 + 33000);
    uint32_t of_gemm = 0;
    for (uint32_t i = 0; i < p->n_kernel; i++)
        of_gemm += &p->rec[p->kernel[i].rec] == gemm;
    assert_int_equal(of_gemm, 2);
    oc_profile_close(p);
}

/* Devices that CUDA numbers other than the export: kernels ran on CUDA's device 0. */
static void devices_without_work_are_not_named(void **state)
{
    (void)state;
    begin_sql();
    oc_buf_str(&sql, "CREATE TABLE TARGET_INFO_GPU(id INT, name TEXT, cuDevice INT);"
                     "INSERT INTO TARGET_INFO_GPU VALUES(0, 'Idle', 1), (1, 'Busy', 0), (2, 'Idle too', 2);");
    add_launch(1, 100, 200, 50, "1");
    struct oc_profile *p = open_sql(0);
    assert_string_equal(p->device, "Busy");
    oc_profile_close(p);
}

static int free_sql(void **state)
{
    (void)state;
    oc_buf_free(&sql);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nvtx_ranges_of_onnx_runtime_are_nodes),
        cmocka_unit_test(ranges_within_a_range_of_another_thread_are_not_runs),
        cmocka_unit_test(events_are_read),
        cmocka_unit_test(nvtx_ranges_of_pytorch_are_operators),
        cmocka_unit_test(correlation_respects_processes_and_threads),
        cmocka_unit_test(kernels_without_ranges_are_records),
        cmocka_unit_test(repeated_launches_may_end_in_an_incomplete_run),
        cmocka_unit_test(runs_without_launches_have_no_time),
        cmocka_unit_test(cuda_graphs_are_reported),
        cmocka_unit_test(ranges_between_two_calls_are_annotations),
        cmocka_unit_test(broken_tables_are_errors_or_warnings),
        cmocka_unit_test(sample_engine_matches_the_kernel_sums),
        cmocka_unit_test(dropping_all_runs_is_a_warning),
        cmocka_unit_test(devices_without_work_are_not_named),
    };
    return cmocka_run_group_tests(tests, NULL, free_sql);
}
