#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "profile/core/timeline.h"
#include "support/profiles.h"
#include "onnxcost.h"
#include "onnxcost/profile.h"

static struct oc_profile *open_with(const char *path, int32_t warmup)
{
    struct oc_profile_opts opts = {.warmup = t_warmup(warmup), .keep_events = true};
    struct oc_profile *p;
    struct oc_err err;
    if (oc_profile_open(path, &opts, &p, &err) != 0)
        fail_msg("%s", err.msg);
    assert_string_equal(oc_profile_importer(p), "kineto");
    return p;
}

/* ---- a small trace whose numbers are listed in tests/data/kineto/small_cuda.json ---- */

/* conv2d: 60 us on the host, 40.5 us on the device through its convolution; 7 us of a kernel launched outside
 * any operator; 3 us of a copy launched there too. The step of 100 us contains only conv2d: 40 us framework.
 * The second step is empty: not a run. */
static void small_trace_gives_host_and_device_times(void **state)
{
    (void)state;
    struct oc_profile *p = open_with("tests/data/kineto/small_cuda.json", -1);
    const struct oc_prof_rec *conv = t_rec(p, "aten::conv2d");
    assert_non_null(conv);
    assert_null(t_rec(p, "aten::convolution"));
    assert_true(conv->time_ns == 60000 && conv->self_ns == 60000 && conv->start_ns == 10000);
    assert_true(conv->kernel_ns == 40500 && conv->total_kernel_ns == 40500);
    assert_true(conv->min_ns == 40500 && conv->max_ns == 40500);
    assert_int_equal(p->runs_total, 1);
    assert_true(p->run_ns == 100000 && p->busy_ns == 60000 && !p->busy_on_device);
    assert_true(t_rec(p, "lonely \"kernel\"")->total_kernel_ns == 7000);
    assert_string_equal(t_rec(p, "lonely \"kernel\"")->op_type, "(kernels without an operator)");
    assert_true(t_rec(p, "(copies)")->total_kernel_ns == 3000);
    assert_true(t_rec(p, "(framework)")->total_ns == 40000);
    assert_true(p->imported_ns == 100000 && p->imported_kernel_ns == 50500);
    assert_string_equal(p->device, "a device");
    assert_string_equal(p->time_kind, "device time");
    oc_profile_close(p);
}

/* Parts of three kernels with the same names: only the grids distinguish the first and the last part of a
 * run, and so the runs. */
static void grids_of_kernels_show_the_runs(void **state)
{
    enum { RUNS = 10, PARTS = 6 };
    (void)state;
    struct oc_err err = {0};
    struct oc_buf text = {0};
    oc_buf_str(&text, "{\"schemaVersion\": 1, \"deviceProperties\": [], \"traceEvents\": [");
    for (unsigned i = 0; i < RUNS * PARTS * 3; i++) {
        unsigned part = i / 3 % PARTS, grid = part == 0 ? 1 : part == PARTS - 1 ? 3 : 2;
        oc_buf_printf(
            &text,
            "%s{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"%c\", \"pid\": 0, \"tid\": 7, \"ts\": %u, "
            "\"dur\": 5, \"args\": {\"device\": 0, \"stream\": 7, \"correlation\": %u, \"grid\": [%u, 1, 1], "
            "\"block\": [128, 1, 1]}}",
            i ? ", " : "", 'a' + i % 3, 10 * i, i + 1, grid);
    }
    oc_buf_str(&text, "]}");
    struct oc_profile *p = t_profile_text(text.data, NULL, &err);
    if (!p)
        fail_msg("%s", err.msg);
    assert_int_equal(p->runs_total, RUNS);
    assert_string_equal(p->runs_confidence, "medium");
    assert_true(p->busy_ns == PARTS * 3 * 5000);
    oc_profile_close(p);
    oc_buf_free(&text);
}

/* Recorded names of devices: one name for all, or none. */
static void device_name_is_that_of_all_recorded_devices(void **state)
{
    static const char *const row[][2] = {
        {"{\"id\": 0, \"name\": \"NVIDIA A100-SXM4-80GB\"}", "NVIDIA A100-SXM4-80GB"},
        {"{\"name\" : \"Tesla T4\"}, {\"name\": \"Tesla T4\", \"numSms\": 40}", "Tesla T4"},
        {"{\"name\": \"Tesla T4\"}, {\"name\": \"NVIDIA A40\"}", "CUDA"},
        {"", "CUDA"},
        {"{\"name\": 5}", "CUDA"},
        {"{\"id\": 0}", "CUDA"},
        {"{\"name\": \"\"}", "CUDA"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        char text[700];
        struct oc_err err = {0};
        snprintf(text, sizeof(text),
                 "{\"schemaVersion\": 1, \"deviceProperties\": [%s], \"traceEvents\": ["
                 "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"pid\": 0, \"tid\": 7, \"ts\": 7, "
                 "\"dur\": 5, \"args\": {\"device\": 0, \"stream\": 7, \"correlation\": 1}}]}",
                 row[i][0]);
        struct oc_profile *p = t_profile_text(text, NULL, &err);
        if (!p)
            fail_msg("%s", err.msg);
        assert_string_equal(p->device, row[i][1]);
        oc_profile_close(p);
    }
}

/* An operator that launches nothing, and one event of 5 us of the category; X: further members. */
static struct oc_profile *open_category(const char *cat, const char *name, const char *more)
{
    char text[1024];
    struct oc_err err = {0};
    snprintf(text, sizeof(text),
             "{\"schemaVersion\": 1, \"traceEvents\": ["
             "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::mm\", \"pid\": 9, \"tid\": 9, \"ts\": "
             "0, \"dur\": 2},"
             "{\"ph\": \"X\", \"cat\": \"%s\", \"name\": \"%s\", %s, \"ts\": 7, \"dur\": 5}]}",
             cat, name, more);
    struct oc_profile *p = t_profile_text(text, NULL, &err);
    if (!p)
        fail_msg("%s: %s", cat, err.msg);
    return p;
}

static void work_of_every_device_is_device_time(void **state)
{
    (void)state;
    static const struct {
        const char *cat, *name, *device;
    } work[] = {
        {"kernel", "sgemm", "CUDA"},
        {"Kernel", "sgemm", "CUDA"},
        {"mtia_ccp_events", "pe_exe", "MTIA"},
        {"hpu_op", "gemm_f32", "HPU"},
        {"mlu_kernel", "gemm", "MLU"},
        {"xpu_kernel", "gemm", "XPU"},
        {"some_kernel_of_tomorrow", "gemm", "CUDA"},
    };
    for (size_t i = 0; i < OC_COUNT(work); i++) {
        struct oc_profile *p = open_category(work[i].cat, work[i].name, "\"pid\": 0, \"tid\": 7");
        assert_true(p->imported_kernel_ns == 5000 && p->imported_ns == 2000);
        assert_string_equal(p->device, work[i].device);
        assert_string_equal(p->time_kind, "device time");
        assert_true(t_rec(p, work[i].name)->kernel_ns ==
                    5000); /* no operator launched it: a row of its own */
        oc_profile_close(p);
    }
}

static void copies_of_every_device_are_copies(void **state)
{
    (void)state;
    static const struct {
        const char *cat, *name;
    } copy[] = {{"gpu_memcpy", "Memcpy HtoD"},
                {"GCU_MEMCPY", "copy"},
                {"mlu_memset", "fill"},
                {"mtia_ccp_events", "dma_request"}};
    for (size_t i = 0; i < OC_COUNT(copy); i++) {
        struct oc_profile *p =
            open_category(copy[i].cat, copy[i].name, "\"pid\": 0, \"tid\": 7, \"args\": {\"size\": 64}");
        assert_true(t_rec(p, "(copies)")->total_kernel_ns == 5000 && p->imported_kernel_ns == 5000);
        assert_true(p->n_kernel == 1 && p->kernel[0].bytes == 64);
        oc_profile_close(p);
    }
}

static void calls_waits_and_counter_ranges_are_not_device_work(void **state)
{
    (void)state;
    static const struct {
        const char *cat, *name, *more;
    } event[] = {
        {"mtia_ccp_events", "event_wait", "\"pid\": 17, \"tid\": 3, \"args\": {\"stream\": 1}"},
        {"mtia_runtime", "recordEvent", "\"pid\": 9, \"tid\": 8"},
        {"xpu_driver", "zeCommandListAppend", "\"pid\": 9, \"tid\": 8"},
        {"xpu_sync", "wait", "\"pid\": 0, \"tid\": 8, \"args\": {\"stream\": 1}"},
        {"hpu_op", "enqueue", "\"pid\": 9, \"tid\": 8"},
        {"mlu_user_annotation", "step", "\"pid\": 0, \"tid\": 8"},
        {"cuda_profiler_range", "sgemm", "\"pid\": 0, \"tid\": 0"},
    };
    for (size_t i = 0; i < OC_COUNT(event); i++) {
        struct oc_profile *p = open_category(event[i].cat, event[i].name, event[i].more);
        assert_true(isnan(p->imported_kernel_ns) && p->imported_ns == 2000);
        assert_string_equal(p->time_kind, "host time");
        oc_profile_close(p);
    }
}

/* Host times of launches are not times of work: "CPU" and rates from them would be wrong. */
static void operators_of_a_gpu_without_kernels_are_launches(void **state)
{
    (void)state;
    static const struct {
        const char *more, *name;
        bool gpu;
    } trace[] = {{"", "aten::mm", false},
                 {"", "aten::cudnn_is_acceptable", false},
                 {"", "aten::cudnn_convolution", true},
                 {"", "aten::record_stream", true},
                 {"\"distributedInfo\": {\"backend\": \"nccl\", \"rank\": 1},", "aten::mm", true},
                 {"\"distributedInfo\": {\"backend\": \"gloo\", \"rank\": 1},", "aten::mm", false}};
    for (size_t i = 0; i < OC_COUNT(trace); i++) {
        char text[512];
        struct oc_err err = {0};
        snprintf(text, sizeof(text),
                 "{\"schemaVersion\": 1, %s \"traceEvents\": [{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": "
                 "\"%s\", "
                 "\"pid\": 9, \"tid\": 9, \"ts\": 0, \"dur\": 2}]}",
                 trace[i].more, trace[i].name);
        struct oc_profile *p = t_profile_text(text, NULL, &err);
        assert_non_null(p);
        assert_int_equal(p->rec[0].is_launch, trace[i].gpu);
        assert_string_equal(p->device, trace[i].gpu ? "CUDA" : "CPU");
        assert_int_equal(t_finding(p, "W-no-kernels") != NULL, trace[i].gpu);
        oc_profile_close(p);
    }
}

static void steps_of_training_are_not_inferences(void **state)
{
    (void)state;
    static const char *const name[] = {"aten::mm", "autograd::engine::evaluate_function: MmBackward0",
                                       "Optimizer.step#SGD.step"};
    for (size_t i = 0; i < OC_COUNT(name); i++) {
        struct oc_profile *p = open_category("user_annotation", name[i], "\"pid\": 9, \"tid\": 9");
        assert_int_equal(p->training, i > 0);
        oc_profile_close(p);
    }
}

/* Traces of two ranks in one file: the second rank begins its steps 5 us later and earlier than the first. The
 * first run is the warm-up; one run has the operators of both ranks. */
static void steps_of_several_ranks_are_one_run(void **state)
{
    (void)state;
    static const struct {
        const char *cat, *name;
        unsigned pid, ts, dur;
    } event[] = {
        {"user_annotation", "ProfilerStep#1", 10, 0, 100},   {"cpu_op", "aten::mm", 10, 20, 30},
        {"user_annotation", "ProfilerStep#1", 20, 5, 100},   {"cpu_op", "aten::mm", 20, 40, 30},
        {"user_annotation", "ProfilerStep#2", 20, 105, 100}, {"cpu_op", "aten::mm", 20, 106, 30},
        {"user_annotation", "ProfilerStep#2", 10, 110, 90},  {"cpu_op", "aten::mm", 10, 150, 30},
        {"user_annotation", "ProfilerStep#3", 10, 210, 95},  {"cpu_op", "aten::mm", 10, 220, 30},
        {"user_annotation", "ProfilerStep#3", 20, 211, 90},  {"cpu_op", "aten::mm", 20, 250, 30},
    };
    char text[4096] = "{\"schemaVersion\": 1, \"traceEvents\": [";
    struct oc_err err = {0};
    for (size_t i = 0; i < OC_COUNT(event); i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text),
                 "%s{\"ph\": \"X\", \"cat\": \"%s\", \"name\": \"%s\", \"pid\": %u, \"tid\": %u, "
                 "\"ts\": %u, \"dur\": %u}",
                 i ? ", " : "", event[i].cat, event[i].name, event[i].pid, event[i].pid, event[i].ts,
                 event[i].dur);
    strcat(text, "]}");
    struct oc_profile *p = t_profile_text(text, NULL, &err);
    assert_non_null(p);
    assert_int_equal(p->runs_total, 3);
    assert_int_equal(p->runs_used, 2);
    assert_true(p->run_ns == 92500);
    for (uint32_t i = 0, ranks = 0; i < p->n_rec; i++) /* one record per thread */
        if (!p->rec[i].bucket)
            assert_true(p->rec[i].calls == 2 && p->rec[i].runs == 2 && ++ranks <= 2);
    assert_null(t_finding(p, "E-runs"));
    oc_profile_close(p);
}

/* Kineto of 2022 without a version, and a bare list of events. */
static void kernels_alone_are_a_trace_of_kineto(void **state)
{
    (void)state;
    static const char *const form[] = {"{\"traceEvents\": [%s]}", "[%s]"};
    const char *events = "{\"ph\": \"X\", \"cat\": \"Runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": 4, "
                         "\"tid\": 4, \"ts\": 1, \"dur\": 3,"
                         " \"args\": {\"correlation\": 8}},"
                         "{\"ph\": \"X\", \"cat\": \"Kernel\", \"name\": \"sgemm\", \"pid\": 0, \"tid\": 7, "
                         "\"ts\": 5, \"dur\": 30,"
                         " \"args\": {\"correlation\": 8}},"
                         "{\"ph\": \"X\", \"cat\": \"Trace\", \"name\": \"PyTorch Profiler (0)\", \"pid\": "
                         "\"Spans\", \"tid\": \"P\", \"ts\": 0, \"dur\": 900}";
    for (size_t i = 0; i < OC_COUNT(form); i++) {
        char text[1024];
        struct oc_err err = {0};
        snprintf(text, sizeof(text), form[i], events);
        struct oc_profile *p = t_profile_text(text, NULL, &err);
        assert_non_null(p);
        assert_string_equal(oc_profile_importer(p), "kineto");
        assert_int_equal(p->n_rec, 1);
        assert_true(t_rec(p, "sgemm")->time_ns == 30000 && p->imported_kernel_ns == 30000 &&
                    isnan(p->imported_ns));
        oc_profile_close(p);
    }
}

static void recorded_shapes_and_types_are_read(void **state)
{
    (void)state;
    struct oc_profile *p = open_with("tests/data/kineto/small_cuda.json", -1);
    const struct oc_prof_rec *conv = t_rec(p, "aten::conv2d");
    assert_true(conv->has_in && !conv->has_out);
    assert_int_equal(conv->n_in, 3);
    assert_int_equal(conv->in[0].dtype, OC_DT_FLOAT);
    assert_int_equal(conv->in[1].dtype, OC_DT_FLOAT16);
    assert_int_equal(conv->in[1].shape.rank, 4);
    assert_true(conv->in[1].shape.dim[3].v == 3);
    assert_int_equal(conv->in[2].kind, OC_T_NONE);
    oc_profile_close(p);
}

static void events_and_lanes_are_read(void **state)
{
    (void)state;
    struct oc_profile *p = open_with("tests/data/kineto/small_cuda.json", -1);
    const struct oc_timeline *t = p->timeline;
    assert_non_null(t);
    assert_int_equal(t->n_event, 11); /* "Trace" spans, flows and instants are omitted */
    for (size_t i = 0; i < t->n_event; i++)
        if (strcmp(t->name[t->event[i].name], "lonely \"kernel\"") == 0)
            assert_true(t->event[i].start_ns == 180000 && t->event[i].dur_ns == 7000);
    bool host = false, device = false;
    for (uint32_t i = 0; i < p->n_lane; i++) {
        host |= !p->lane[i].device && p->lane[i].process == 50 && p->lane[i].id == 50 &&
                strcmp(p->lane[i].name, "thread 50 (python)") == 0;
        device |= p->lane[i].device && p->lane[i].device_id == 0 && p->lane[i].id == 7;
    }
    assert_true(host && device);
    for (uint32_t i = 0; i < p->n_kernel; i++)
        if (p->kernel[i].kind == OC_EV_MEMCPY)
            assert_true(p->kernel[i].bytes == 602112 && p->kernel[i].time_ns == 3000);
    oc_profile_close(p);
}

/* Truncated at every byte: never more time than in the whole file, and at most one warning. */
static void truncated_trace_never_gains_time(void **state)
{
    (void)state;
    FILE *f = fopen("tests/data/kineto/small_cuda.json", "rb");
    static char text[8192];
    size_t n = f ? fread(text, 1, sizeof(text), f) : 0;
    assert_true(n > 1000 && n < sizeof(text));
    fclose(f);
    struct oc_profile_opts opts = {.format = "kineto", .warmup = OC_WARMUP_NONE};
    for (size_t cut = 500; cut < n - 150; cut += 61) {
        struct oc_err err;
        struct oc_profile *p = t_profile_mem(text, cut, &opts, &err);
        if (!p)
            continue;
        assert_true(p->truncated);
        assert_non_null(t_finding(p, "W-truncated"));
        assert_true(isnan(p->imported_kernel_ns) || p->imported_kernel_ns <= 50500);
        oc_profile_close(p);
    }
}

/* ---- samples ---- */

/* `union_ns`: union of the kernels by stream; `without_ns`: kernels launched by no operator. Both counted by
 * a short independent script over the same files (sums of unions of [ts, ts+dur) by pid and tid; kernels
 * whose launching call, by correlation, is in no Operator or cpu_op of its thread; in the last file, 733 kernels and
 * memsets before all others have no such call: they are in no run). */
static const struct {
    const char *file;
    unsigned n_kernel;
    double union_ns, without_ns;
    unsigned runs;
} sample[] = {
    {"pytorch/kineto_2021.sampled_rank0.json.gz", 1154, 606519000, 619000, 2},
    {"pytorch/kineto_2023.alexnet.cuda.trace.json.gz", 79, 10692000, 0, 0},
    {"pytorch/kineto_2023.triton.json.gz", 1, 1760, 0, 1},
    {"pytorch/kineto_2024.cpu_only.pt.trace.json.gz", 0, 0, 0, 1},
    {"pytorch/kineto_2024.rocm_mi250.json.gz", 14, 110881, 0, 1},
    {"pytorch/resnet50_train_v100.pt.trace.json.gz", 9564, 640354000, 15190000, 6},
};

/* The interval union of the kernels of each lane; events are sorted by start. */
static double kernel_union(const struct oc_profile *p)
{
    const struct oc_timeline *t = p->timeline;
    double sum = 0;
    for (uint32_t l = 0; l < p->n_lane; l++) {
        double reached = 0;
        for (size_t i = 0; i < t->n_event; i++) {
            const struct oc_event *e = &t->event[i];
            double end_ns = e->start_ns + e->dur_ns;
            if (e->kind != OC_EV_KERNEL || e->lane != l || end_ns <= reached)
                continue;
            sum += end_ns - fmax(e->start_ns, reached);
            reached = end_ns;
        }
    }
    return sum;
}

static void check_sample(size_t i, int32_t warmup)
{
    const char *path = t_sample(sample[i].file);
    if (!path)
        return;
    struct oc_profile *p = open_with(path, warmup);
    double host = 0, device = 0, copies = 0, without = 0;
    unsigned n_kernel = 0;
    for (uint32_t k = 0; k < p->n_rec; k++) {
        const struct oc_prof_rec *r = &p->rec[k];
        host += isnan(r->total_ns) ? 0 : r->total_ns;
        device += isnan(r->total_kernel_ns) ? 0 : r->total_kernel_ns;
    }
    for (size_t k = 0; k < p->timeline->n_event; k++) {
        const struct oc_event *e = &p->timeline->event[k];
        bool own = e->kind == OC_EV_KERNEL && oc_timeline_owner(p->timeline, (uint32_t)k) == k;
        n_kernel += e->kind == OC_EV_KERNEL;
        without += own && !oc_timeline_is_earlier(p->timeline, e) ? e->dur_ns : 0;
        copies += e->kind == OC_EV_MEMCPY || e->kind == OC_EV_MEMSET ? e->dur_ns : 0;
    }
    assert_int_equal(n_kernel, sample[i].n_kernel);
    assert_int_equal(p->runs_total, sample[i].runs);
    assert_true(fabs(kernel_union(p) - sample[i].union_ns) < 1);
    assert_true(fabs(without - sample[i].without_ns) < 1);
    /* operators (in used runs or not) and the bucket: the union of the kernels by stream */
    assert_true(fabs(device - copies - sample[i].union_ns) < 1);
    /* no time is lost */
    assert_true(fabs(host - (isnan(p->imported_ns) ? 0 : p->imported_ns)) < 1);
    assert_true(fabs(device - (isnan(p->imported_kernel_ns) ? 0 : p->imported_kernel_ns)) < 1);
    oc_profile_close(p);
}

static void samples_match_independent_sums(void **state)
{
    (void)state;
    for (size_t i = 0; i < OC_COUNT(sample); i++) {
        check_sample(i, 0);
        check_sample(i, -1);
    }
}

/* AlexNet ran forward twice: five convolutions each, with recorded shapes of the first one's input. */
static void sample_shapes_are_read(void **state)
{
    (void)state;
    const char *path = t_sample("pytorch/kineto_2023.alexnet.cuda.trace.json.gz");
    if (!path)
        return;
    struct oc_profile *p = open_with(path, 0);
    unsigned conv = 0;
    for (uint32_t k = 0; k < p->n_rec; k++)
        conv += strcmp(p->rec[k].name, "aten::conv2d") == 0;
    assert_int_equal(conv, 10);
    oc_profile_close(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_trace_gives_host_and_device_times),
        cmocka_unit_test(work_of_every_device_is_device_time),
        cmocka_unit_test(copies_of_every_device_are_copies),
        cmocka_unit_test(calls_waits_and_counter_ranges_are_not_device_work),
        cmocka_unit_test(steps_of_several_ranks_are_one_run),
        cmocka_unit_test(kernels_alone_are_a_trace_of_kineto),
        cmocka_unit_test(operators_of_a_gpu_without_kernels_are_launches),
        cmocka_unit_test(steps_of_training_are_not_inferences),
        cmocka_unit_test(recorded_shapes_and_types_are_read),
        cmocka_unit_test(events_and_lanes_are_read),
        cmocka_unit_test(truncated_trace_never_gains_time),
        cmocka_unit_test(samples_match_independent_sums),
        cmocka_unit_test(sample_shapes_are_read),
        cmocka_unit_test(device_name_is_that_of_all_recorded_devices),
        cmocka_unit_test(grids_of_kernels_show_the_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
