/* Device work of execution providers in traces of ONNX Runtime 1.25 and later, in the layout of their
 * writers. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/arena.h"
#include "support/profiles.h"
#include "onnxcost.h"
#include "onnxcost/profile.h"

static void add_event(struct oc_buf *b, const char *cat, int ts, int dur, const char *name, const char *args)
{
    oc_buf_printf(b,
                  "%s\n{\"cat\" : \"%s\",\"pid\" :1,\"tid\" :1,\"dur\" :%d,\"ts\" :%d,\"ph\" : \"X\","
                  "\"name\" :\"%s\",\"args\" : {%s}}",
                  b->n ? "," : "[", cat, dur, ts, name, args);
}

static void add_node(struct oc_buf *b, int ts, int dur, const char *name, const char *op,
                     const char *provider)
{
    char args[200], full[100];
    snprintf(args, sizeof(args), "\"op_name\" : \"%s\",\"provider\" : \"%sExecutionProvider\"", op, provider);
    snprintf(full, sizeof(full), "%s_kernel_time", name);
    add_event(b, "Node", ts, dur, full, args);
}

static struct oc_profile *close_trace(struct oc_buf *b)
{
    struct oc_profile_opts opts = {.warmup = OC_WARMUP_NONE, .stat = OC_STAT_MEDIAN};
    struct oc_err e = {0};
    struct oc_conserved c;
    oc_buf_str(b, "\n]\n");
    struct oc_profile *p = t_profile_mem(b->data, b->n, &opts, &e);
    if (!p)
        fail_msg("%s", e.msg);
    oc_buf_free(b);
    oc_profile_conserved(p, true, &c);
    assert_true(isnan(p->imported_kernel_ns) || fabs(c.lost_ns) < 1);
    return p;
}

static void openvino_operators_are_records_inside_the_partition(void **state)
{
    (void)state;
    struct oc_buf b = {0};
    for (int i = 0; i < 2; i++) {
        int at = 5000 * i;
        add_event(&b, "Session", at, 4000, "model_run", "");
        add_node(&b, at + 10, 2000, "OV_part_1", "OV_part", "OpenVINO");
        add_event(&b, "Kernel", at + 20, 1200, "conv1",
                  "\"op_name\" : \"Convolution\",\"node_name\" : \"conv1\",\"parent_name\" : "
                  "\"OV_part_1_kernel_time\"");
        add_event(&b, "Kernel", at + 1220, 700, "OV::relu1",
                  "\"ov_node_type\" : \"Relu\",\"ov_status\" : \"EXECUTED\",\"parent_ort_event_name\" : "
                  "\"OV_part_1_kernel_time\"");
        add_event(&b, "Kernel", at + 1920, 50, "OV::const",
                  "\"ov_node_type\" : \"Const\",\"ov_status\" : \"NOT_RUN\",\"parent_ort_event_name\" : "
                  "\"OV_part_1_kernel_time\"");
    }
    struct oc_profile *p = close_trace(&b);
    const struct oc_prof_rec *conv = t_rec(p, "conv1"), *relu = t_rec(p, "relu1"),
                             *part = t_rec(p, "OV_part_1");
    assert_true(conv->kernel_ns == 1200e3 && relu->kernel_ns == 700e3);
    assert_string_equal(conv->op_type, "Convolution");
    assert_string_equal(relu->op_type, "Relu");
    assert_ptr_equal(&p->rec[conv->parent], part);
    assert_true(part->kernel_ns == 0); /* all of it is in the operators */
    assert_true(p->imported_kernel_ns == 3800e3);
    assert_string_equal(p->time_kind, "device time");
    oc_profile_close(p);
}

#define QNN(type, level, unit)                                                                               \
    "\"qnn_event_type\" : \"" type "\",\"qnn_graph_name\" : \"QNN_1\",\"level\" : \"" level                  \
    "\",\"unit\" : \"" unit "\""

static void add_qnn_run(struct oc_buf *b, int at, int root)
{
    add_event(b, "Session", at, 4000, "model_run", "");
    add_node(b, at + 10, 2000, "QNNExecutionProvider_QNN_1_0", "QNN_1", "QNN");
    add_event(b, "Kernel", at + 20, root, "accelerator time", QNN("EXECUTE", "ROOT", "US"));
    add_event(b, "Kernel", at + 20, 0, "conv1:OpId_1 (cycles)", QNN("NODE", "SUB-EVENT", "CYCLES"));
    add_event(b, "Kernel", at + 20, 1500, "time without waiting", QNN("EXECUTE", "SUB-EVENT", "US"));
    add_event(b, "Kernel", at + 20, 1000, "conv1:OpId_1", QNN("NODE", "SUB-EVENT", "US"));
    add_event(b, "Kernel", at + 1020, 500, "relu1", QNN("NODE", "SUB-EVENT", "US"));
}

static void qnn_executions_are_counted_once(void **state)
{
    (void)state;
    struct oc_buf b = {0};
    add_qnn_run(&b, 0, 1800);
    add_qnn_run(&b, 5000, 1800);
    struct oc_profile *p = close_trace(&b);
    assert_true(t_rec(p, "conv1")->kernel_ns == 1000e3 && t_rec(p, "relu1")->kernel_ns == 500e3);
    assert_true(t_rec(p, "QNNExecutionProvider_QNN_1_0")->kernel_ns == 300e3);
    assert_true(p->imported_kernel_ns == 3600e3);
    assert_null(t_finding(p, "W-unlabelled-kernels"));
    oc_profile_close(p);
}

/* Operators that overlap on the device take longer than the execution that contains them. */
static void qnn_execution_shorter_than_its_operators_is_not_counted(void **state)
{
    (void)state;
    struct oc_buf b = {0};
    add_qnn_run(&b, 0, 1800);
    add_qnn_run(&b, 5000, 1200);
    struct oc_profile *p = close_trace(&b);
    assert_true(t_rec(p, "QNNExecutionProvider_QNN_1_0")->kernel_ns == 0);
    assert_true(p->imported_kernel_ns == 3000e3);
    oc_profile_close(p);
}

/* The clock of the GPU may begin with its first kernel. */
static void webgpu_kernels_are_assigned_by_their_names(void **state)
{
    (void)state;
    static const int offset[] = {2000, 0};
    for (int k = 0; k < 2; k++) {
        struct oc_buf b = {0};
        add_event(&b, "Session", 100, 900, "session_initialization", "");
        for (int i = 0; i < 2; i++) {
            int at = 2000 + 5000 * i, gpu = offset[k] + 5000 * i;
            add_event(&b, "Session", at, 4500, "model_run", "");
            add_node(&b, at + 10, 20, "conv1", "Conv", "WebGpu");
            add_node(&b, at + 40, 10, "relu1", "Relu", "WebGpu");
            add_event(&b, "Api", gpu + 5, 3000, "conv1&Conv&Conv2DMatMul", "\"cache_key\" : \"a\"");
            add_event(&b, "Api", gpu + 3010, 1000, "relu1&Relu&Relu", "\"cache_key\" : \"b\"");
            add_event(&b, "Api", at + 5, 4, "other call", ""); /* no device work */
        }
        struct oc_profile *p = close_trace(&b);
        assert_true(t_rec(p, "conv1")->kernel_ns == 3000e3 && t_rec(p, "relu1")->kernel_ns == 1000e3);
        assert_int_equal(t_rec(p, "conv1")->runs, 2);
        assert_true(p->imported_kernel_ns == 8000e3);
        oc_profile_close(p);
    }
}

static void cuda_plugin_kernels_are_linked_or_reported(void **state)
{
    (void)state;
    for (int linked = 0; linked < 2; linked++) {
        struct oc_buf b = {0};
        add_event(&b, "Session", 0, 4000, "model_run", "");
        add_node(&b, 10, 20, "conv1", "Conv", "CUDA");
        add_event(&b, "Kernel", 40, 1000, "void cudnn_k0",
                  linked ? "\"stream\" : \"7\",\"ort_event_name\" : \"conv1_kernel_time\""
                         : "\"stream\" : \"7\"");
        struct oc_profile *p = close_trace(&b);
        assert_int_equal(t_finding(p, "W-unlabelled-kernels") != NULL, !linked);
        if (linked)
            assert_true(t_rec(p, "conv1")->kernel_ns == 1000e3);
        else
            assert_true(t_rec(p, "(unattributed kernels)")->kernel_ns == 1000e3);
        assert_int_equal(t_rec(p, "conv1")->is_launch, !linked);
        oc_profile_close(p);
    }
}

/* Host times of providers that do not wait for the device are those of launches; unlisted providers
 * run on the device that the trace has kernels of. */
static void host_times_are_launches_where_the_provider_does_not_wait(void **state)
{
    (void)state;
    static const struct {
        const char *provider;
        bool launch, launch_with_kernels;
    } c[] = {{"CPU", false, false},    {"Dnnl", false, false},     {"OpenVINO", false, false},
             {"QNN", false, false},    {"CoreML", false, false},   {"Nnapi", false, false},
             {"CUDA", true, true},     {"CudaPlugin", true, true}, {"ROCM", true, true},
             {"MIGraphX", true, true}, {"Tensorrt", true, true},   {"NvTensorRTRTX", true, true},
             {"Dml", true, true},      {"WebGpu", true, true},     {"Js", true, true},
             {"Unlisted", false, true}};
    for (size_t i = 0; i < 2 * OC_COUNT(c); i++) {
        struct oc_buf b = {0};
        bool kernels = i % 2;
        add_event(&b, "Session", 0, 4000, "model_run", "");
        add_node(&b, 10, 20, "conv1", "Conv", c[i / 2].provider);
        add_node(&b, 40, 20, "relu1", "Relu", "CPU");
        if (kernels)
            add_event(&b, "Kernel", 40, 1000, "k0", "\"stream\" : \"7\"");
        struct oc_profile *p = close_trace(&b);
        assert_int_equal(t_rec(p, "conv1")->is_launch,
                         kernels ? c[i / 2].launch_with_kernels : c[i / 2].launch);
        assert_false(t_rec(p, "relu1")->is_launch);
        assert_int_equal(t_finding(p, "W-host-time") != NULL, !kernels && c[i / 2].launch);
        oc_profile_close(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(openvino_operators_are_records_inside_the_partition),
        cmocka_unit_test(qnn_executions_are_counted_once),
        cmocka_unit_test(qnn_execution_shorter_than_its_operators_is_not_counted),
        cmocka_unit_test(webgpu_kernels_are_assigned_by_their_names),
        cmocka_unit_test(cuda_plugin_kernels_are_linked_or_reported),
        cmocka_unit_test(host_times_are_launches_where_the_provider_does_not_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
