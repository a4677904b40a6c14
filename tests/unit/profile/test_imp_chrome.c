#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "profile/core/timeline.h"
#include "support/profiles.h"
#include "onnxcost.h"
#include "onnxcost/profile.h"

static struct oc_profile *open_kept(const char *path, const char *importer)
{
    struct oc_profile_opts opts = {.keep_events = true};
    struct oc_profile *p;
    struct oc_err err;
    if (oc_profile_open(path, &opts, &p, &err) != 0)
        fail_msg("%s", err.msg);
    assert_string_equal(oc_profile_importer(p), importer);
    return p;
}

/* outer [10,50) contains inner [20.5,30.5), which contains leaf [21,25); inner again [70,71.25); on another
 * thread [12,15). An E without a B, a B without an E, an X without ts. */
static void begin_and_end_events_nest(void **state)
{
    (void)state;
    struct oc_profile *p = open_kept("tests/data/chrome/begin_end.json", "chrome");
    const struct oc_prof_rec *outer = t_rec(p, "outer"), *inner = t_rec(p, "inner"),
                             *leaf = t_rec(p, "leaf \"q\" x");
    assert_true(outer && inner && leaf);
    assert_true(outer->time_ns == 40000 && outer->self_ns == 30000);
    assert_true(outer->min_ns == 30000 && outer->max_ns == 30000);
    assert_true(t_rec(p, "other thread")->time_ns == 3000);
    /* inner appears inside outer and alone: one record each, by position */
    assert_true(inner->time_ns == 10000 && inner->self_ns == 6000);
    assert_true(leaf->time_ns == 4000);
    assert_ptr_equal(&p->rec[leaf->parent], inner);
    assert_true(p->imported_ns == 40000 + 1250 + 3000);
    assert_string_equal(t_finding(p, "W-unpaired"), "2 events were skipped: B without E, or E without B");
    assert_non_null(
        strstr(t_finding(p, "W-bad-event"), "event 13: \"ts\" is missing or not a number (offset "));
    assert_null(t_finding(p, "W-broken-event"));
    oc_profile_close(p);
}

/* One operator of 303.84 us on the host with a kernel of 5.792 us; a copy for an operator that does not
 * exist. */
static void reads_mindspore_timelines(void **state)
{
    (void)state;
    struct oc_profile *p = open_kept("tests/data/chrome/mindspore_timeline.json", "mindspore_timeline");
    const struct oc_prof_rec *conv = t_rec(p, "Default/network-Net/conv1-Conv2d/Conv2D-op17");
    assert_string_equal(conv->op_type, "Conv2D");
    assert_true(conv->time_ns == 303840 && conv->kernel_ns == 5792);
    assert_true(t_rec(p, "(copies)")->total_kernel_ns == 1500);
    assert_true(p->imported_kernel_ns == 7292);
    oc_profile_close(p);
    const char *path = t_sample("mindspore/gpu_timeline_display_0.json");
    if (!path)
        return;
    p = open_kept(path, "mindspore_timeline");
    assert_true(t_rec(p, "Default/InitDataSetQueue-op0")->time_ns == 303840);
    assert_null(
        t_rec(p, "(kernels without operator)")); /* its operator is not in the file: a row of its own */
    assert_true(p->n_rec == 2 && p->rec[1].total_kernel_ns == 5792);
    oc_profile_close(p);
}

/* On a GPU the streams have the work; on a TPU, without streams, the thread XLA Ops. Steps are runs. */
static void xla_devices_are_not_host_time(void **state)
{
    (void)state;
    static const char *const stream[] = {"Stream #13(Compute)", "Async XLA Ops"};
    for (size_t i = 0; i < OC_COUNT(stream); i++) {
        char text[2400];
        struct oc_err err = {0};
        snprintf(
            text, sizeof(text),
            "{\"traceEvents\": ["
            "{\"ph\": \"M\", \"pid\": 1, \"name\": \"process_name\", \"args\": {\"name\": "
            "\"/device:TPU:0\"}},"
            "{\"ph\": \"M\", \"pid\": 1, \"tid\": 1, \"name\": \"thread_name\", \"args\": {\"name\": "
            "\"Steps\"}},"
            "{\"ph\": \"M\", \"pid\": 1, \"tid\": 2, \"name\": \"thread_name\", \"args\": {\"name\": \"XLA "
            "Modules\"}},"
            "{\"ph\": \"M\", \"pid\": 1, \"tid\": 3, \"name\": \"thread_name\", \"args\": {\"name\": \"XLA "
            "Ops\"}},"
            "{\"ph\": \"M\", \"pid\": 1, \"tid\": 13, \"name\": \"thread_name\", \"args\": {\"name\": "
            "\"%s\"}},"
            "{\"ph\": \"X\", \"pid\": 701, \"tid\": 5, \"name\": \"PjitFunction(f)\", \"ts\": 0, \"dur\": "
            "900},"
            "{\"ph\": \"X\", \"pid\": 1, \"tid\": 1, \"name\": \"1\", \"ts\": 100, \"dur\": 60},"
            "{\"ph\": \"X\", \"pid\": 1, \"tid\": 2, \"name\": \"jit_f\", \"ts\": 100, \"dur\": 60},"
            "{\"ph\": \"X\", \"pid\": 1, \"tid\": 3, \"name\": \"fusion.1\", \"ts\": 100, \"dur\": 40},"
            "{\"ph\": \"X\", \"pid\": 1, \"tid\": 13, \"name\": \"gemm_fusion_dot\", \"ts\": 100, \"dur\": "
            "30},"
            "{\"ph\": \"X\", \"pid\": 1, \"tid\": 13, \"name\": \"MemcpyD2D\", \"ts\": 130, \"dur\": 5}]}",
            stream[i]);
        struct oc_profile *p = t_profile_text(text, NULL, &err);
        assert_non_null(p);
        assert_string_equal(p->time_kind, "device time");
        assert_string_equal(p->device, "TPU:0");
        assert_true(isnan(p->imported_ns) && p->imported_kernel_ns == (i ? 40000 : 35000));
        assert_true(p->runs_total == 1 && p->run_ns == 60000);
        assert_non_null(t_rec(p, i ? "fusion.1" : "gemm_fusion_dot"));
        assert_null(t_rec(p, i ? "gemm_fusion_dot" : "fusion.1"));
        oc_profile_close(p);
    }
}

/* Two kernels of one operator, one of its gradient, one of no operator; the thread TensorFlow Ops repeats them. */
static void kernels_of_tensorflow_have_its_operators(void **state)
{
    (void)state;
#define KERNEL(NAME, TS, ARGS)                                                                               \
    ",{\"ph\": \"X\", \"pid\": 1, \"tid\": 13, \"name\": \"" NAME "\", \"ts\": " TS                          \
    ", \"dur\": 10, \"args\": {" ARGS "}}"
    struct oc_err err = {0};
    struct oc_profile *p = t_profile_text(
        "{\"traceEvents\": ["
        "{\"ph\": \"M\", \"pid\": 1, \"name\": \"process_name\", \"args\": {\"name\": \"/device:GPU:0\"}},"
        "{\"ph\": \"M\", \"pid\": 1, \"tid\": 13, \"name\": \"thread_name\", \"args\": {\"name\": \"Stream "
        "#13\"}},"
        "{\"ph\": \"M\", \"pid\": 1, \"tid\": 14, \"name\": \"thread_name\", \"args\": {\"name\": "
        "\"TensorFlow Ops\"}},"
        "{\"ph\": \"X\", \"pid\": 1, \"tid\": 14, \"name\": \"Conv2D\", \"ts\": 0, \"dur\": 20}" KERNEL(
            "gemm", "0", "\"annotation\": \"net/conv/Conv2D:Conv2D\"")
            KERNEL("split", "10", "\"annotation\": \"net/conv/Conv2D:Conv2D\"")
                KERNEL("gemm", "20", "\"tf_op\": \"gradient_tape/net/conv:Conv2DBackpropInput\"")
                    KERNEL("fill", "30", "\"annotation\": \"#edge_name=e_1#\"")
                        KERNEL("MemcpyH2D", "40", "\"annotation\": \"net/in:Const\"") "]}",
        NULL, &err);
#undef KERNEL
    assert_non_null(p);
    const struct oc_prof_rec *conv = t_rec(p, "net/conv/Conv2D"), *fill = t_rec(p, "fill");
    assert_true(conv && conv->total_kernel_ns == 20000 && p->imported_kernel_ns == 50000);
    assert_string_equal(conv->op_type, "Conv2D");
    assert_string_equal(t_rec(p, "gradient_tape/net/conv")->op_type, "Conv2DBackpropInput");
    assert_true(fill && fill->total_kernel_ns == 10000 && p->training);
    assert_null(t_rec(p, "gemm"));
    assert_true(t_rec(p, "(copies)")->total_kernel_ns == 10000 && !t_rec(p, "net/in"));
    oc_profile_close(p);
}

/* A program that writes CUPTI's activities: a call of the runtime and what it launched have one correlation.
 */
static void launched_work_is_not_host_time(void **state)
{
    (void)state;
    struct oc_err err = {0};
    struct oc_profile *p = t_profile_text(
        "[{\"ph\": \"X\", \"pid\": 1, \"tid\": 7, \"name\": \"cudaLaunchKernel\", \"ts\": 0, \"dur\": 8, "
        "\"args\": {\"correlationId\": 3}},"
        "{\"ph\": \"X\", \"pid\": 1, \"tid\": 0, \"name\": \"relu(float*)\", \"ts\": 10, \"dur\": 30, "
        "\"args\": {\"correlationId\": 3}},"
        "{\"ph\": \"X\", \"pid\": 1, \"tid\": 0, \"name\": \"[MEMCPY] DtoH\", \"ts\": 40, \"dur\": 5, "
        "\"args\": {\"correlationId\": 4}}]",
        NULL, &err);
    assert_non_null(p);
    assert_true(p->imported_kernel_ns == 35000 && p->imported_ns == 8000);
    assert_true(t_rec(p, "relu(float*)")->kernel_ns == 30000);
    assert_true(t_rec(p, "(copies)")->total_kernel_ns == 5000);
    assert_string_equal(p->device, "GPU");
    oc_profile_close(p);
}

/* Two iterations of 100 us; the first one is warm-up. The overlay lanes, the wait of 70 us and the planes,
 * which repeat the streams, are not added: 30.5 + 9.25 + 4 + 31.5 us. */
static void ascend_streams_are_device_time_once(void **state)
{
    (void)state;
    struct oc_profile *p = open_kept("tests/data/chrome/ascend_msprof.json", "ascend_timeline");
    assert_true(p->imported_kernel_ns == 75250 && isnan(p->imported_ns));
    assert_int_equal(p->runs_total, 2);
    assert_int_equal(p->runs_from, OC_RUNS_MARKED);
    assert_true(p->run_ns == 100000 && p->busy_ns == 31500);
    const struct oc_prof_rec *conv = t_rec(p, "Default/network-Net/conv1-Conv2d/Conv2D-op13");
    assert_true(conv->time_ns == 31500 && conv->runs == 1);
    assert_string_equal(conv->op_type, "Conv2D");
    assert_null(t_rec(p, "(copies)")); /* in the warm-up run */
    assert_true(t_rec(p, "(warm-up runs)")->total_kernel_ns == 39750 + 4000);
    assert_string_equal(p->device, "Ascend");
    assert_non_null(t_finding(p, "I-waits"));
    assert_non_null(t_finding(p, "I-overlay"));
    oc_profile_close(p);
}

static void ascend_planes_count_where_no_streams_are_recorded(void **state)
{
    (void)state;
    struct oc_profile *p = open_kept("tests/data/chrome/ascend_hccl.json", "ascend_timeline");
    assert_true(p->imported_kernel_ns == 9500 && t_rec(p, "Reduce_Inline")->time_ns == 7500);
    assert_true(t_rec(p, "(copies)")->total_kernel_ns == 2000);
    assert_int_equal(p->runs_from, OC_RUNS_UNKNOWN);
    oc_profile_close(p);
}

/* FP_BP Time and Iteration Refresh fill an iteration. */
static void ascend_step_trace_has_stages_of_iterations(void **state)
{
    (void)state;
    struct oc_err err = {0};
    struct oc_profile *p = t_profile_text("[{\"name\": \"Iteration 1\", \"pid\": 3, \"tid\": 9, \"ts\": 10, "
                                          "\"dur\": 100, \"cat\": \"Iteration Time\", "
                                          "\"args\": {\"Iteration Time(ns)\": 100000}, \"ph\": \"X\"},"
                                          "{\"name\": \"FP_BP Time 1\", \"pid\": 3, \"tid\": 9, \"ts\": 10, "
                                          "\"dur\": 60, \"cat\": \"FP_BP Time\", "
                                          "\"args\": {\"FP_BP Time(ns)\": 60000}, \"ph\": \"X\"},"
                                          "{\"name\": \"Iteration Refresh 1\", \"pid\": 3, \"tid\": 9, "
                                          "\"ts\": 70, \"dur\": 40, \"cat\": \"Iteration Refresh\", "
                                          "\"args\": {\"Iteration Refresh(ns)\": 40000}, \"ph\": \"X\"}]",
                                          NULL, &err);
    assert_non_null(p);
    assert_string_equal(oc_profile_importer(p), "ascend_timeline");
    assert_true(p->runs_total == 1 && p->run_ns == 100000 && p->imported_kernel_ns == 100000);
    assert_true(t_rec(p, "FP_BP Time")->time_ns == 60000 && t_rec(p, "Iteration Refresh")->time_ns == 40000);
    oc_profile_close(p);
}

static void ascend_display_has_types_and_full_names(void **state)
{
    (void)state;
    struct oc_profile *p = open_kept("tests/data/chrome/ascend_display.json", "ascend_timeline");
    assert_int_equal(p->n_rec, 1);
    assert_string_equal(p->rec[0].name, "Default/network-Net/conv1-Conv2d/Conv2D-op13");
    assert_string_equal(p->rec[0].op_type, "Conv2D");
    assert_true(p->rec[0].calls == 2 && p->imported_kernel_ns == 114000);
    oc_profile_close(p);
}

static void ascend_timelines_without_work_are_rejected(void **state)
{
    (void)state;
    struct oc_err err = {0};
    assert_null(
        t_profile_text("[{\"name\": \"NOTIFY_WAIT\", \"ph\": \"X\", \"pid\": 3, \"tid\": 3, \"ts\": 1, "
                       "\"dur\": 7, \"args\": {\"Task Type\": \"NOTIFY_WAIT\", \"Stream Id\": 3}}]",
                       NULL, &err));
    assert_non_null(strstr(err.msg, "no work of an Ascend device"));
}

/* trace_view.json of torch_npu: 80 KiB of operators, then what the file ends with. */
static struct oc_profile *open_torch_npu(const char *end)
{
    struct oc_buf b = {0};
    struct oc_err err = {0};
    oc_buf_str(&b, "[");
    for (unsigned i = 0; i < 500; i++)
        oc_buf_printf(&b,
                      "{\"ph\": \"X\", \"name\": \"autograd::engine::evaluate_function: AddmmBackward0\", "
                      "\"pid\": 7, \"tid\": 7, \"ts\": \"%u.25\", \"dur\": 13.08, \"cat\": \"cpu_op\", "
                      "\"args\": {\"Sequence number\": -1, \"Fwd thread id\": 0}}, ",
                      1000 + 20 * i);
    oc_buf_printf(
        &b,
        "{\"ph\": \"X\", \"name\": \"Dequeue@aclnnMm\", \"pid\": 7, \"tid\": 8, \"ts\": \"1100.5\", "
        "\"dur\": 900, \"cat\": \"dequeue\", \"args\": {\"correlation_id\": 1}}%s]",
        end);
    struct oc_profile *p = t_profile_text(b.data, NULL, &err);
    if (!p)
        fail_msg("%s", err.msg);
    oc_buf_free(&b);
    return p;
}

static void torch_npu_has_tasks_after_its_operators(void **state)
{
    (void)state;
    struct oc_profile *p = open_torch_npu(
        ", {\"ph\": \"X\", \"name\": \"ProfilerStep#1\", \"pid\": 7, \"tid\": 7, \"ts\": \"990.0\", \"dur\": "
        "20000, \"cat\": \"cpu_op\", \"args\": {\"Sequence number\": -1, \"Fwd thread id\": 0}}, "
        "{\"name\": \"aclnnMm_MatMulCommon_MatMulV2\", \"pid\": 800, \"tid\": 3, \"ts\": \"1500.5\", "
        "\"dur\": "
        "40.5, \"args\": {\"Task Type\": \"AI_CORE\", \"Stream Id\": 3}, \"ph\": \"X\"}");
    assert_string_equal(oc_profile_importer(p), "ascend_timeline");
    assert_true(p->imported_kernel_ns == 40500);
    assert_string_equal(t_rec(p, "aclnnMm_MatMulCommon_MatMulV2")->op_type, "MatMulV2");
    assert_true(p->training && p->runs_total == 1 &&
                p->run_ns == 20e6);                            /* a step of training, not an inference */
    assert_true(p->busy_ns == 40500 && isnan(p->imported_ns)); /* of the device */
    oc_profile_close(p);
    p = open_torch_npu(""); /* only the host was recorded */
    assert_string_equal(oc_profile_importer(p), "chrome");
    oc_profile_close(p);
}

/* Files of producers with an importer of their own are left to that importer. */
static void probe_ranks_below_specific_importers(void **state)
{
    (void)state;
    static const struct {
        const char *path, *importer;
    } file[] = {{"tests/data/kineto/small_cuda.json", "kineto"},
                {"tests/data/paddle/small.paddle_trace.json", "paddle_trace"},
                {"tests/data/onnxruntime/loop_two_runs.json", "onnxruntime"}};
    for (size_t i = 0; i < OC_COUNT(file); i++)
        oc_profile_close(open_kept(file[i].path, file[i].importer));
}

static void devices_of_rocprof_are_not_host_time(void **state)
{
    (void)state;
    struct oc_err err = {0};
    struct oc_profile *p = t_profile_text(
        "{ \"traceEvents\":[{}\n,{\"args\":{\"name\":\"CPU HIP "
        "API\"},\"ph\":\"M\",\"pid\":2,\"name\":\"process_name\"}\n"
        ",{\"args\":{\"name\":\"COPY\"},\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\"}\n"
        ",{\"args\":{\"name\":\"GPU0\"},\"ph\":\"M\",\"pid\":6,\"name\":\"process_name\"}\n"
        ",{\"ph\":\"X\",\"name\":\"hipMemcpy\",\"pid\":\"2\",\"tid\":\"7\",\"ts\":\"100\",\"dur\":\"90\"}\n"
        ",{\"ph\":\"X\",\"name\":\"CopyHostToDevice\",\"pid\":\"1\",\"tid\":\"0\",\"ts\":\"110\",\"dur\":"
        "\"40\"}\n"
        ",{\"ph\":\"X\",\"name\":\"gemm(float*)\",\"pid\":\"6\",\"tid\":\"1\",\"ts\":\"200\",\"dur\":\"30\"}]"
        "}\n",
        NULL, &err);
    if (!p)
        fail_msg("%s", err.msg);
    assert_string_equal(p->time_kind, "device time");
    assert_string_equal(p->producer, "rocprof");
    assert_non_null(t_rec(p, "gemm(float*)"));
    struct oc_conserved c;
    oc_profile_conserved(p, true, &c);
    assert_true(c.imported_ns == 70e3);
    oc_profile_close(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(begin_and_end_events_nest),
        cmocka_unit_test(reads_mindspore_timelines),
        cmocka_unit_test(xla_devices_are_not_host_time),
        cmocka_unit_test(kernels_of_tensorflow_have_its_operators),
        cmocka_unit_test(devices_of_rocprof_are_not_host_time),
        cmocka_unit_test(launched_work_is_not_host_time),
        cmocka_unit_test(ascend_streams_are_device_time_once),
        cmocka_unit_test(ascend_planes_count_where_no_streams_are_recorded),
        cmocka_unit_test(ascend_step_trace_has_stages_of_iterations),
        cmocka_unit_test(ascend_display_has_types_and_full_names),
        cmocka_unit_test(ascend_timelines_without_work_are_rejected),
        cmocka_unit_test(torch_npu_has_tasks_after_its_operators),
        cmocka_unit_test(probe_ranks_below_specific_importers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
