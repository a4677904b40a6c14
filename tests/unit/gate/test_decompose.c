/* Diffs of recordings without a model, and what the change of the time consists of: made traces of PyTorch on a
 * device, whose parts are computed by hand here. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/str.h"
#include "gate/diff.h"
#include "support/profiles.h"
#include "onnxcost/profile.h"

struct op {
    const char *name, *dims, *dtype, *kernel; /* dims: "[8,64],[64,32]" */
    double us;                                /* of its kernel */
};

enum { MOST = 8, RECORDINGS = 6 };

struct trace {
    struct op op[MOST];
    double gap_us;   /* at the end of each step */
    unsigned device; /* of every second kernel */
};

static void put_event(struct oc_buf *b, const char *cat, const char *name, double ts, double dur,
                      const char *args)
{
    oc_buf_printf(
        b,
        "%s{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"%s\",\"pid\":50,\"tid\":50,\"ts\":%.3f,\"dur\":%.3f,%s}",
        b->n && b->data[b->n - 1] == '}' ? "," : "", cat, name, ts, dur, args);
}

/* A step: operators one after another on the host; their kernels on the device start 40 us after it, 1 us apart. */
static double put_step(struct oc_buf *b, const struct trace *t, double start, unsigned *id)
{
    char args[256];
    double host = start + 5, device = start + 45;
    for (unsigned i = 0; i < MOST && t->op[i].name; i++, ++*id) {
        const struct op *op = &t->op[i];
        bool copy = strncmp(op->kernel, "Memcpy", 6) == 0;
        char types[64] = "";
        for (const char *at = strchr(op->dims, '['); at; at = strchr(at + 1, '['))
            snprintf(types + strlen(types), sizeof(types) - strlen(types), "%s\"%s\"", *types ? "," : "",
                     op->dtype);
        snprintf(args, sizeof(args), "\"args\":{\"External id\":%u,\"Input Dims\":[%s],\"Input type\":[%s]}",
                 *id, op->dims, types);
        put_event(b, "cpu_op", op->name, host, 4, args);
        snprintf(args, sizeof(args), "\"args\":{\"External id\":%u,\"correlation\":%u}", *id, *id);
        put_event(b, "cuda_runtime", "cudaLaunchKernel", host + 1, 1, args);
        snprintf(args, sizeof(args),
                 "\"args\":{\"External id\":%u,\"device\":%u,\"stream\":7,\"correlation\":%u}", *id,
                 i % 2 ? t->device : 0, *id);
        put_event(b, copy ? "gpu_memcpy" : "kernel", op->kernel, device, op->us, args);
        host += 5;
        device += op->us + 1;
    }
    double end = fmax(host, device) + t->gap_us;
    put_event(b, "user_annotation", "ProfilerStep#1", start, end - start, "\"args\":{}");
    return end;
}

static struct oc_profile *read_trace(const struct trace *t)
{
    struct oc_buf b = {0};
    struct oc_err err = {0};
    const struct oc_profile_opts opts = {.stat = OC_STAT_TYPICAL};
    double at = 1000;
    unsigned id = 1;
    oc_buf_str(&b, "{\"schemaVersion\":1,\"traceEvents\":[");
    for (unsigned step = 0; step < 3; step++)
        at = put_step(&b, t, at, &id);
    oc_buf_str(&b, "]}");
    struct oc_profile *p = t_profile_mem(b.data, b.n, &opts, &err);
    if (!p)
        fail_msg("%s", err.msg);
    oc_buf_free(&b);
    return p;
}

struct compared {
    struct oc_profile *profile[2][RECORDINGS];
    struct oc_report_in in[2][RECORDINGS];
    struct oc_diff *d;
};

static void compare(struct compared *x, const struct trace *a, size_t n_a, const struct trace *b, size_t n_b)
{
    struct oc_err err = {0};
    const struct trace *of[] = {a, b};
    const size_t n[] = {n_a, n_b};
    memset(x, 0, sizeof(*x));
    for (unsigned s = 0; s < 2; s++)
        for (size_t k = 0; k < n[s]; k++) {
            x->profile[s][k] = read_trace(&of[s][k]);
            x->in[s][k].profile = x->profile[s][k];
        }
    const struct oc_diff_opts opts = {
        .more_a = &x->in[0][1], .n_more_a = n_a - 1, .more_b = &x->in[1][1], .n_more_b = n_b - 1};
    if (oc_diff_make(&x->in[0][0], &x->in[1][0], &opts, &x->d, &err))
        fail_msg("%s", err.msg);
}

static void close_all(struct compared *x)
{
    oc_diff_free(x->d);
    for (unsigned s = 0; s < 2; s++)
        for (size_t k = 0; k < RECORDINGS; k++)
            oc_profile_close(x->profile[s][k]);
}

/* Of all places; 0: there is no such part. */
static double part_us(const struct oc_diff *d, unsigned cause)
{
    double ns = 0;
    for (uint32_t i = 0; i < d->parts.n; i++)
        ns += d->parts.part[i].cause == cause ? d->parts.part[i].delta_ns : 0;
    return ns * 1e-3;
}

static const struct oc_diff_row *row_named(const struct oc_diff *d, const char *name)
{
    for (uint32_t i = 0; i < d->n_row; i++)
        if (!strcmp(d->row[i].name, name) || !strcmp(d->row[i].name_b, name))
            return &d->row[i];
    fail_msg("no row '%s'", name);
    return NULL;
}

/* Adds what every decomposition must do: its parts are the change of the latency. */
static void expect_part(const struct oc_diff *d, unsigned cause, double us)
{
    double sum = 0;
    for (uint32_t i = 0; i < d->parts.n; i++)
        sum += d->parts.part[i].delta_ns;
    struct oc_diff_total t;
    oc_diff_total(d, OC_DIFF_LATENCY, &t);
    assert_null(d->parts.missing);
    assert_true(fabs(sum - (t.v[1] - t.v[0])) < 1e-6);
    if (fabs(part_us(d, cause) - us) > 1e-6)
        fail_msg("%s: %g us, expected %g", oc_diff_cause_name(cause), part_us(d, cause), us);
}

static const struct trace plain = {.op = {{"aten::mm", "[8,64],[64,32]", "float", "sgemm", 20},
                                          {"aten::relu", "[8,32]", "float", "relu_k", 5},
                                          {"aten::tanh", "[8,32]", "float", "tanh_k", 3},
                                          {"aten::copy_", "[8,16],[8,16]", "float", "Memcpy DtoH", 2}},
                                   .gap_us = 10};

static void equal_recordings_have_no_parts(void **state)
{
    (void)state;
    struct compared x;
    compare(&x, &plain, 1, &plain, 1);
    assert_int_equal(x.d->parts.n, 0);
    assert_null(x.d->parts.missing);
    assert_int_equal(x.d->info.same, 4);
    assert_false(x.d->info.different);
    close_all(&x);
}

/* One row at a time: the difference falls into the part that is named. */
static void a_row_falls_into_its_part(void **state)
{
    (void)state;
    static const struct {
        unsigned op;
        struct op b;
        unsigned cause;
        double us;
        uint8_t status;
    } row[] = {
        {1, {"aten::relu", "[8,32]", "float", "relu_k", 9}, OC_CAUSE_SPEED, 4, OC_DIFF_SAME},
        {1, {"aten::relu", "[8,32]", "float", "other_k", 9}, OC_CAUSE_KERNELS, 4, OC_DIFF_CHANGED},
        {1, {"aten::relu", "[8,32]", "c10::Half", "relu_k", 4}, OC_CAUSE_KERNELS, -1, OC_DIFF_CHANGED},
        {1, {"aten::relu", "[24,32]", "float", "relu_k", 15}, OC_CAUSE_ADDED, 10, OC_DIFF_CHANGED},
        {1, {"aten::relu", "[24,32]", "float", "relu_k", 12}, OC_CAUSE_ADDED, 10, OC_DIFF_CHANGED},
        {1, {"aten::relu", "[24,32]", "float", "relu_k", 12}, OC_CAUSE_SPEED, -3, OC_DIFF_CHANGED},
        {1, {"aten::relu", "[4,32]", "float", "relu_k", 5}, OC_CAUSE_REMOVED, -2.5, OC_DIFF_CHANGED},
        {0, {"aten::mm", "[16,64],[64,32]", "float", "sgemm", 30}, OC_CAUSE_SPEED, -10, OC_DIFF_CHANGED},
        {3, {"aten::copy_", "[8,16],[8,16]", "float", "Memcpy DtoH", 6}, OC_CAUSE_COPIES, 4, OC_DIFF_SAME},
        {1,
         {"nccl:all_reduce", "[8,32]", "float", "ncclKernel", 9},
         OC_CAUSE_COMMUNICATION,
         9,
         OC_DIFF_ADDED},
        {1, {"aten::erf", "[9,32]", "float", "relu_k", 9}, OC_CAUSE_ADDED, 9, OC_DIFF_ADDED},
        {1, {"aten::erf", "[9,32]", "float", "relu_k", 9}, OC_CAUSE_REMOVED, -5, OC_DIFF_ADDED},
    };
    for (size_t i = 0; i < OC_COUNT(row); i++) {
        struct trace other = plain;
        struct compared x;
        other.op[row[i].op] = row[i].b;
        compare(&x, &plain, 1, &other, 1);
        expect_part(x.d, row[i].cause, row[i].us);
        if (row_named(x.d, row[i].b.name)->status != row[i].status)
            fail_msg("%zu: %s", i, oc_diff_status_name(row_named(x.d, row[i].b.name)->status));
        close_all(&x);
    }
}

static void gaps_are_a_part(void **state)
{
    (void)state;
    struct trace other = plain;
    struct compared x;
    other.gap_us = 17;
    compare(&x, &plain, 1, &other, 1);
    expect_part(x.d, OC_CAUSE_HOST, 7);
    assert_int_equal(x.d->parts.n, 1);
    close_all(&x);
}

/* Another batch: all rows of the name have changed by one factor. One of several that changed alone is not matched. */
static void rows_of_one_name_are_matched_only_if_that_is_sure(void **state)
{
    (void)state;
    static const struct trace a = {.op = {{"aten::mm", "[8,64],[64,32]", "float", "sgemm", 20},
                                          {"aten::mm", "[8,32],[32,16]", "float", "sgemm", 10}}},
                              twice = {.op = {{"aten::mm", "[16,64],[64,32]", "float", "sgemm", 40},
                                              {"aten::mm", "[16,32],[32,16]", "float", "sgemm", 30}}},
                              one = {.op = {{"aten::mm", "[16,64],[64,32]", "float", "sgemm", 50},
                                            {"aten::mm", "[8,32],[32,16]", "float", "sgemm", 10}}};
    struct compared x;
    compare(&x, &a, 1, &twice, 1);
    expect_part(x.d, OC_CAUSE_ADDED, 30);
    expect_part(x.d, OC_CAUSE_SPEED, 10);
    assert_int_equal(x.d->info.changed, 2);
    assert_true(x.d->row[0].has_namesakes);
    close_all(&x);
    compare(&x, &a, 1, &one, 1);
    expect_part(x.d, OC_CAUSE_ADDED, 50);
    expect_part(x.d, OC_CAUSE_REMOVED, -20);
    assert_int_equal(x.d->info.same, 1);
    close_all(&x);
}

/* Other names: the same type and shapes, in order. As many on both sides, or there is no match. */
static void renamed_rows_are_matched_by_work(void **state)
{
    (void)state;
    static const struct trace a = {.op = {{"aten::relu", "[8,32]", "float", "relu_k", 20}}},
                              b = {.op = {{"aten::relu_", "[8,32]", "float", "relu_k", 25}}};
    struct compared x;
    compare(&x, &a, 1, &b, 1);
    const struct oc_diff_row *r = row_named(x.d, "aten::relu");
    if (strcmp(r->type, r->type_b) == 0) {
        assert_int_equal(r->rule, OC_ALIGN_WORK);
        expect_part(x.d, OC_CAUSE_SPEED, 5);
    } else {
        expect_part(x.d, OC_CAUSE_ADDED, 25);
        expect_part(x.d, OC_CAUSE_REMOVED, -20);
    }
    close_all(&x);
}

static void several_recordings_give_rows_verdicts(void **state)
{
    (void)state;
    struct trace a[RECORDINGS], b[RECORDINGS];
    struct compared x;
    for (unsigned k = 0; k < RECORDINGS; k++) {
        a[k] = b[k] = plain;
        a[k].op[0].us += 0.01 * k;
        b[k].op[0].us += 0.01 * k + 20;
    }
    compare(&x, a, RECORDINGS, b, RECORDINGS);
    assert_true(x.d->has_verdicts);
    assert_int_equal(row_named(x.d, "aten::mm")->verdict, OC_COMPARED_SLOWER);
    assert_int_equal(row_named(x.d, "aten::relu")->verdict, OC_COMPARED_SAME);
    expect_part(x.d, OC_CAUSE_SPEED, 20);
    assert_int_equal(x.d->parts.n, 1);
    for (unsigned m = 0; m < OC_DIFF_PARAMS; m++) { /* means of counts stay whole numbers */
        uint64_t rows = 0;
        for (uint32_t i = 0; i < x.d->n_operator; i++)
            rows += x.d->row[i].side[0].count[m];
        assert_int_equal(x.d->total[m].n[0], rows);
    }
    close_all(&x);
}

/* Nothing is summed over devices without their names. */
static void parts_name_their_device(void **state)
{
    (void)state;
    struct trace a = plain, b = plain;
    struct compared x;
    a.device = b.device = 1;
    b.op[0].us += 4; /* device 0 */
    b.op[1].us += 3; /* device 1 */
    compare(&x, &a, 1, &b, 1);
    assert_true(x.d->has_places);
    unsigned found = 0;
    for (uint32_t i = 0; i < x.d->parts.n; i++)
        if (x.d->parts.part[i].cause == OC_CAUSE_SPEED) {
            assert_non_null(x.d->parts.part[i].place);
            found++;
        }
    assert_int_equal(found, 2);
    expect_part(x.d, OC_CAUSE_SPEED, 7);
    close_all(&x);
}

static struct oc_profile *read_table(const char *text, uint32_t iterations)
{
    struct oc_err err = {0};
    const struct oc_profile_opts opts = {.map = "name=name,type=type,time=time:us", .iterations = iterations};
    struct oc_profile *p = t_profile_text(text, &opts, &err);
    if (!p)
        fail_msg("%s", err.msg);
    return p;
}

/* The sum of an unknown number of runs has no difference to the time of one run. */
static void times_of_other_units_are_rejected(void **state)
{
    (void)state;
    struct oc_profile *a = read_table("name,type,time\nx,Relu,4\n", 0),
                      *b = read_table("name,type,time\nx,Relu,4\n", 2);
    const struct oc_report_in p = {.profile = a}, q = {.profile = b};
    struct oc_diff *d;
    struct oc_err err = {0};
    a->runs_from = OC_RUNS_UNKNOWN;
    b->runs_from = OC_RUNS_GIVEN;
    assert_int_equal(oc_diff_make(&p, &q, NULL, &d, &err), -1);
    assert_int_equal(err.code, OC_EARG);
    assert_non_null(strstr(err.msg, "--iterations"));
    oc_profile_close(a);
    oc_profile_close(b);
}

static void a_row_without_a_time_is_a_part_of_its_own(void **state)
{
    (void)state;
    struct oc_profile *a = read_table("name,type,time\nx,Relu,4\ny,Relu,3\n", 0),
                      *b = read_table("name,type,time\nx,Relu,5\ny,Relu,7\n", 0);
    const struct oc_report_in p = {.profile = a}, q = {.profile = b};
    struct oc_diff *d;
    struct oc_err err = {0};
    a->rec[1].self_ns = a->rec[1].kernel_ns = (double)NAN;
    a->run_ns = b->run_ns = (double)NAN;
    if (oc_diff_make(&p, &q, NULL, &d, &err))
        fail_msg("%s", err.msg);
    assert_true(isnan(oc_diff_delta(row_named(d, "y"), OC_DIFF_TIME)));
    assert_true(fabs(part_us(d, OC_CAUSE_SPEED) - 1) < 1e-9);
    assert_true(fabs(part_us(d, OC_CAUSE_UNKNOWN) - 7) < 1e-9);
    oc_diff_free(d);
    oc_profile_close(a);
    oc_profile_close(b);
}

/* Seven runs of twelve operators without a pause, in whole microseconds: the means over three of them are thirds. */
static struct oc_profile *read_short_runs(unsigned side)
{
    struct oc_buf b = {0};
    struct oc_err err = {0};
    unsigned at = 1000;
    oc_buf_str(&b, "[");
    for (unsigned run = 0; run < 7; run++) {
        unsigned start = at;
        for (unsigned i = 0; i < 12; i++) {
            unsigned us = 1 + (run * 5 + i * 7 + side * 3 + run * i) % 5;
            oc_buf_printf(&b,
                          "{\"cat\":\"Node\",\"pid\":1,\"tid\":1,\"dur\":%u,\"ts\":%u,\"ph\":\"X\",\"name\":"
                          "\"n%u_kernel_time\","
                          "\"args\":{\"provider\":\"CPUExecutionProvider\",\"op_name\":\"Relu\",\"node_"
                          "index\":\"%u\"}},",
                          us, at, i, i);
            at += us;
        }
        oc_buf_printf(&b,
                      "{\"cat\":\"Session\",\"pid\":1,\"tid\":1,\"dur\":%u,\"ts\":%u,\"ph\":\"X\",\"name\":"
                      "\"model_run\",\"args\":{}},",
                      at - start, start);
        at += 10;
    }
    oc_buf_str(&b, "{\"cat\":\"onnxcost\",\"pid\":0,\"tid\":0,\"dur\":0,\"ts\":0,\"ph\":\"M\",\"name\":\"\","
                   "\"args\":{\"started_s\":");
    oc_buf_printf(&b, "%u,\"session_ns\":%u,\"first_run_ns\":%u}}]", 1000 + side, side ? 3000000 : 2000000,
                  50000);
    struct oc_profile *p = t_profile_mem(b.data, b.n, NULL, &err);
    if (!p)
        fail_msg("%s", err.msg);
    oc_buf_free(&b);
    return p;
}

static void rounding_of_short_runs_is_not_missing(void **state)
{
    (void)state;
    struct oc_profile *a = read_short_runs(0), *b = read_short_runs(1);
    const struct oc_report_in p = {.profile = a}, q = {.profile = b};
    struct oc_diff *d;
    struct oc_err err = {0};
    if (oc_diff_make(&p, &q, NULL, &d, &err))
        fail_msg("%s", err.msg);
    double sum_ns = 0;
    for (uint32_t i = 0; i < d->parts.n; i++)
        sum_ns += d->parts.part[i].delta_ns;
    assert_true(fabs(sum_ns - d->parts.delta_ns) < 1e-9);
    assert_int_equal(d->parts.of, OC_DIFF_LATENCY);
    assert_int_equal(d->parts.n, 1); /* rounding has no part of its own */
    oc_diff_free(d);
    oc_profile_close(a);
    oc_profile_close(b);
}

static void starts_of_processes_are_compared(void **state)
{
    (void)state;
    struct oc_profile *a = read_short_runs(0), *b = read_short_runs(1),
                      *none = read_table("name,type,time\nx,Relu,4\n", 1);
    const struct oc_report_in p = {.profile = a}, q = {.profile = b}, r = {.profile = none};
    struct oc_diff *d;
    struct oc_err err = {0};
    assert_int_equal(oc_diff_make(&p, &q, NULL, &d, &err), 0);
    assert_true(fabs(d->start[OC_DIFF_SESSION].c.ratio - 1.5) < 1e-9);
    assert_true(fabs(d->start[OC_DIFF_FIRST_RUN].c.ratio - 1) < 1e-9);
    assert_int_equal(d->start[OC_DIFF_SESSION].c.order, OC_RECORDED_ALTERNATED); /* one second apart */
    assert_non_null(strstr(oc_diff_start(d, false), "2.00 ms to 3.00 ms: inconclusive: +50.0 % ("));
    assert_non_null(strstr(oc_diff_start(d, true), "50.0 us to 50.0 us: "));
    oc_diff_free(d);
    assert_int_equal(oc_diff_make(&p, &r, NULL, &d, &err), 0);
    assert_null(oc_diff_start(d, false));
    oc_diff_free(d);
    oc_profile_close(a);
    oc_profile_close(b);
    oc_profile_close(none);
}

static void a_model_on_one_side_only_is_rejected(void **state)
{
    (void)state;
    struct oc_profile *a = read_table("name,type,time\nx,Relu,4\n", 0);
    const struct oc_report_in p = {.profile = a}, none = {.profile = NULL};
    struct oc_diff *d;
    struct oc_err err = {0};
    assert_int_equal(oc_diff_make(&p, &none, NULL, &d, &err), -1);
    assert_int_equal(err.code, OC_EARG);
    oc_profile_close(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_recordings_have_no_parts),
        cmocka_unit_test(a_row_falls_into_its_part),
        cmocka_unit_test(gaps_are_a_part),
        cmocka_unit_test(rows_of_one_name_are_matched_only_if_that_is_sure),
        cmocka_unit_test(renamed_rows_are_matched_by_work),
        cmocka_unit_test(several_recordings_give_rows_verdicts),
        cmocka_unit_test(parts_name_their_device),
        cmocka_unit_test(times_of_other_units_are_rejected),
        cmocka_unit_test(a_row_without_a_time_is_a_part_of_its_own),
        cmocka_unit_test(rounding_of_short_runs_is_not_missing),
        cmocka_unit_test(starts_of_processes_are_compared),
        cmocka_unit_test(a_model_on_one_side_only_is_rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
