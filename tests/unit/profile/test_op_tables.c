/* Tables and logs of operators: each file of tests/data/op_tables is written by hand in the format of its
 * tool. */
#include "profile/core/records.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#include "support/profiles.h"
#include "onnxcost.h"

static struct oc_profile *open_table(const char *name)
{
    char path[200];
    struct oc_profile *p;
    struct oc_err err = {0};
    snprintf(path, sizeof(path), "tests/data/%s", name);
    if (oc_profile_open(path, NULL, &p, &err) != 0)
        fail_msg("%s: %s", name, err.msg);
    return p;
}

static double sum_of(const struct oc_profile *p, bool device)
{
    struct oc_conserved c;
    oc_profile_conserved(p, device, &c);
    if (isnan(c.imported_ns))
        return 0;
    assert_true(fabs(c.lost_ns) < 1e-3);
    return c.imported_ns;
}

/* Times are sums of the columns in the files, in nanoseconds. Latency only where the file marks its runs. */
static void every_table_has_its_times(void **state)
{
    (void)state;
    static const struct {
        const char *file, *format;
        uint32_t n_rec, runs;
        double host_ns, device_ns, run_ns; /* run_ns 0: unknown */
        const char *name, *type;
        uint64_t calls;
    } row[] = {
        {"op_tables/nvprof.txt", "nvprof", 3, 0, 0, 8e6, 0, "relu(float*, int)", "elementwise", 10},
        {"op_tables/nvprof_trace.txt", "nvprof", 2, 0, 0, 189530, 0, "sum_reduction(int*, int*)", "reduce",
         2},
        {"op_tables/nvprof.csv", "nvprof_csv", 2, 0, 0, 4e6, 0, "gemm(float*, int)", "gemm", 6},
        {"op_tables/nvprof_trace.csv", "nvprof_csv", 2, 0, 0, 186740, 0, "sum_reduction(int*, int*)", NULL,
         1},
        {"op_tables/rocprof_stats.csv", "rocprof", 2, 0, 0, 6e6, 0, "copyBuffer.kd", "", 2},
        {"op_tables/rocprof_hip_stats.csv", "rocprof", 2, 0, 5e6, 0, 0, "hipLaunchKernel", "", 10},
        {"op_tables/rocprof_results.csv", "rocprof", 2, 0, 0, 1e4, 0, "heavy(float*, int) [clone .kd]", NULL,
         1},
        {"op_tables/rocprofv3_kernel_trace.csv", "rocprof", 2, 0, 0, 13e3, 0, "fill(float*)", NULL, 1},
        /* a row per counter; a clock beyond 2^53 */
        {"op_tables/rocprofv3_counters.csv", "rocprof", 2, 0, 0, 10002999, 0, "fill(float*)", NULL, 1},
        {"op_tables/op_summary.csv", "msprof", 2, 0, 0, 40e3, 0, "MatMul_4", "MatMul", 2},
        {"op_tables/kernel_details.csv", "msprof", 1, 2, 0, 40e3, 20e3, "aclnnAdd_Add", "Add", 2},
        {"op_tables/op_statistic.csv", "msprof", 2, 0, 0, 400e3, 0, "Cast", "Cast", 40},
        {"op_tables/step_trace.csv", "msprof", 1, 2, 0, 220e3, 0, "step", "", 2},
        {"op_tables/qnn.csv", "qnn", 2, 2, 0, 4e6, 3.05e6, "/fc/MatMul", "", 2},
        {"op_tables/openvino_pc.txt", "openvino_pc", 2, 2, 2e6, 0, 0, "fc6", "FullyConnected", 2},
        {"op_tables/ort_web.log", "ort_web", 5, 0, 0, 108752, 0, "/Mul_16", "Mul", 1},
        {"op_tables/tflite.txt", "tflite", 3, 50, 600e6, 0, 12.1e6, "[net/fc]:2", "FULLY_CONNECTED", 100},
        {"op_tables/tflite.csv", "tflite", 2, 20, 4e6, 0, 200e3, "[net/Elu]:1", "ELU", 20},
        {"op_tables/tflite_blanks.txt", "tflite", 3, 50, 600e6, 0, 12.1e6, "[net/dw/Relu6, net/x]:1",
         "Convolution (NHWC, QC8) DWConv", 50},
        {"op_tables/pytorch_table.txt", "pytorch_table", 6, 2, 36e6, 10e6, 20e6, "aten::addmm", "aten::addmm",
         4},
        {"op_tables/onednn.txt", "onednn", 7, 0, 8437500, 500e3, 0, "matmul 128x64:64x256", "MatMul", 1},
        /* 1412.25 + 412 + 25.75 + 12.5 us on the device; a run is as long as the longest total */
        {"op_tables/tvm.txt", "tvm", 5, 1, 1500, 1862500, 1990250,
         "tvmgen_default_fused_nn_conv2d_add_nn_relu_1", "fused_nn_conv2d_add_nn_relu", 2},
        {"op_tables/tvm.csv", "tvm", 6, 1, 1500, 1862500, 0, "tvmgen_default_fused_nn_dense_add",
         "fused_nn_dense_add", 1},
        {"op_tables/tvm.json", "tvm_json", 6, 1, 1500, 1862500, 1990250, "vm.builtin.reshape",
         "vm.builtin.reshape", 1},
        {"op_tables/tvm_nodes.txt", "tvm", 3, 1, 100e3, 0, 100e3, "tvmgen_default_fused_split", "fused_split",
         1},
        {"ncu/summary.txt", "ncu", 2, 0, 0, 1.41e6, 0, "relu(float *, int)", NULL, 2},
        /* kernels whose names have commas, without quotes; of two tables only the second has the columns of its rules */
        {"printed/cl_tracer.txt", "unitrace", 2, 0, 0, 76e6, 0, "sgemm[SIMD16, {256, 64, 1}, {16, 1, 1}]",
         "gemm", 4},
        {"printed/pytorch_two.txt", "pytorch_table", 2, 0, 4e6, 2e6, 0, "aten::cudnn_convolution", NULL, 2},
        {"paddle_report/summary.txt", "paddle_summary", 2, 4, 40e6, 22e6, 20e6, "conv2d dygraph", "conv2d",
         8},
    };
    for (size_t i = 0; i < OC_COUNT(row); i++) {
        struct oc_profile *p = open_table(row[i].file);
        const struct oc_prof_rec *rec = t_rec(p, row[i].name);
        if (strcmp(p->format, row[i].format) != 0 || p->n_rec != row[i].n_rec || p->runs_total != row[i].runs)
            fail_msg("%s: %s, %u records, %u runs", row[i].file, p->format, p->n_rec, p->runs_total);
        if (fabs(sum_of(p, false) - row[i].host_ns) > 1e-3 || fabs(sum_of(p, true) - row[i].device_ns) > 1e-3)
            fail_msg("%s: host %f, device %f", row[i].file, sum_of(p, false), sum_of(p, true));
        if (!rec || rec->calls != row[i].calls || (row[i].type && strcmp(rec->op_type, row[i].type) != 0))
            fail_msg("%s: %s %s %d", row[i].file, row[i].name, rec ? rec->op_type : "is missing",
                     rec ? (int)rec->calls : 0);
        if (row[i].run_ns > 0 ? fabs(p->run_ns - row[i].run_ns) > 1e-3 : !isnan(p->run_ns))
            fail_msg("%s: a run of %f ns", row[i].file, p->run_ns);
        oc_profile_close(p);
    }
}

/* What a file says of its own rows is of the table that is read; other tables and damaged lines are reported. */
static void tables_that_are_not_read_are_reported(void **state)
{
    (void)state;
    struct oc_profile *two = open_table("printed/pytorch_two.txt"),
                      *cut = open_table("printed/cl_tracer.txt");
    assert_int_equal(two->diags.n, 1);
    assert_non_null(t_finding(two, "W-table"));
    assert_int_equal(cut->diags.n, 1);
    assert_non_null(strstr(t_finding(cut, "W-row"), "1 lines are damaged"));
    oc_profile_close(two);
    oc_profile_close(cut);
}

/* Regions of OpenMP; an excerpt that leaves rows out and has more time than it says. */
static void excerpts_of_documents_are_read(void **state)
{
    (void)state;
    struct oc_err err = {0};
    struct oc_profile *p = t_profile_text("=== OpenMP Timing Results: ===\n\nTotal Region Time (ns): 1000\n\n"
                                          "Region ID, Region Type, Calls, Transferred (bytes), Time (ns), "
                                          "Time (%), Average (ns), Min (ns), Max (ns)\n"
                                          "42, Target, 2, 0, 900, 90.00, 450, 400, 500\n43, "
                                          "TransferToDevice, 1, 64, 100, 10.00, 100, 100, 100\n",
                                          NULL, &err);
    assert_non_null(p);
    assert_true(!t_finding(p, "W-row") && t_rec(p, "Target 42")->time_ns == 900 &&
                t_rec(p, "Target 42")->calls == 2);
    oc_profile_close(p);
    p = t_profile_text(
        "Name             Self CUDA   Self CUDA %   # of Calls\n"
        "aten::conv2d     30.000ms      60.00%          6\n"
        "aten::relu       40.000ms      20.00%          6\n...\nSelf CUDA time total: 50.000ms\n",
        NULL, &err);
    assert_non_null(p);
    assert_true(p->imported_kernel_ns == 70e6);
    assert_non_null(t_finding(p, "W-rows"));
    assert_int_equal(p->diags.n, 2);
    oc_profile_close(p);
}

static void check_dims(const struct oc_type *t, unsigned dtype, const int64_t *dim, unsigned rank)
{
    assert_int_equal(t->dtype, dtype);
    assert_int_equal(t->shape.rank, rank);
    for (unsigned i = 0; i < rank; i++)
        assert_int_equal(t->shape.dim[i].v, dim[i]);
}

/* The channels of a group are those of the filter; 256 x 6 x 6 inputs of an inner product are 9216. */
static void onednn_lines_have_shapes(void **state)
{
    (void)state;
    struct oc_profile *p = open_table("op_tables/onednn.txt");
    const struct oc_prof_rec *dw =
        t_rec(p, "convolution mb2_g32ic32oc32_ih56oh56kh3sh1dh0ph1_iw56ow56kw3sw1dw0pw1");
    const struct oc_prof_rec *fc = t_rec(p, "inner_product mb1ic256ih6iw6oc4096"),
                             *reorder = t_rec(p, "reorder 1x64x56x56");
    assert_true(dw && fc && reorder);
    assert_string_equal(dw->op_type, "Conv");
    assert_int_equal(dw->n_in, 2);
    check_dims(&dw->in[0], OC_DT_FLOAT, (const int64_t[]){2, 32, 56, 56}, 4);
    check_dims(&dw->in[1], OC_DT_FLOAT, (const int64_t[]){32, 1, 3, 3}, 4);
    check_dims(&dw->out[0], OC_DT_FLOAT, (const int64_t[]){2, 32, 56, 56}, 4);
    assert_int_equal(fc->n_in, 3);
    check_dims(&fc->in[0], OC_DT_FLOAT, (const int64_t[]){1, 9216}, 2);
    check_dims(&fc->in[1], OC_DT_FLOAT, (const int64_t[]){9216, 4096}, 2);
    assert_string_equal(reorder->overhead, "layout");
    assert_string_equal(p->producer, "oneDNN 3.4.0");
    oc_profile_close(p);
}

static struct oc_profile *profile_of_text(const char *text)
{
    struct oc_err err = {0};
    struct oc_profile *p = t_profile_text(text, NULL, &err);
    if (!p)
        fail_msg("%s", err.msg);
    return p;
}

/* The first rows of a table, as pages quote them, are not a run; with its total they are of one. */
static void part_of_a_table_of_tvm_is_not_a_run(void **state)
{
    (void)state;
    static const char head[] = "Name         Duration (us)  Percent  Device  Count      Argument Shapes  \n"
                               "fused_dense         700.00    51.22    cpu0      1  float32[1, 64, 56]  \n";
    static const char *const rest[] = {
        "", "Total             1,400.00             cpu0      1                      \n"};
    for (size_t i = 0; i < OC_COUNT(rest); i++) {
        char text[600];
        snprintf(text, sizeof(text), "%s%s", head, rest[i]);
        struct oc_err err = {0};
        struct oc_profile *p = t_profile_text(text, NULL, &err);
        assert_non_null(p);
        assert_int_equal(p->runs_total, i);
        assert_true(i ? p->run_ns == 1400e3 : isnan(p->run_ns));
        assert_int_equal(t_finding(p, "W-rows") != NULL, !i);
        oc_profile_close(p);
    }
}

/* Arguments: inputs, then the output. A device that works asynchronously reports a total of 0. */
static void reports_of_tvm_have_shapes(void **state)
{
    (void)state;
    static const char *const file[] = {"op_tables/tvm.txt", "op_tables/tvm.csv", "op_tables/tvm.json"};
    for (size_t i = 0; i < OC_COUNT(file); i++) {
        struct oc_profile *p = open_table(file[i]);
        const struct oc_prof_rec *fc = t_rec(p, "tvmgen_default_fused_nn_dense_add"),
                                 *view = t_rec(p, "vm.builtin.reshape");
        assert_int_equal(fc->n_in, 3);
        check_dims(&fc->in[1], OC_DT_FLOAT, (const int64_t[]){10, 32}, 2);
        assert_int_equal(fc->n_out, 1);
        check_dims(&fc->out[0], OC_DT_FLOAT, (const int64_t[]){1, 10}, 2);
        assert_false(view->has_in || view->has_out);
        assert_string_equal(p->device, "cuda0");
        oc_profile_close(p);
    }
    struct oc_profile *p =
        profile_of_text("Example output (Name, Duration (us)):\n"
                        "Name     Duration (us)  Percent    Device  Count       Argument Shapes  \n"
                        "conv2d1     705,779.00    51.22  hexagon0      1  int8[2, 3], float16[]\n"
                        "conv2d       66,589.00    48.60  hexagon0      3                       \n"
                        "----------\n"
                        "Sum         772,368.00    99.93                4\n"
                        "Total             0.00               cpu0      1\n\n"
                        "Name     Duration (us)  Percent    Device  Count       Argument Shapes  \n"
                        "conv2d       66,589.00    48.60  hexagon0      3                       \n");
    struct oc_profile *nodes = open_table("op_tables/tvm_nodes.txt");
    const struct oc_prof_rec *conv = t_rec(nodes, "fused_nn_conv2d_add_nn_relu1");
    assert_int_equal(conv->n_out, 1);
    check_dims(&conv->out[0], OC_DT_UNDEFINED, (const int64_t[]){1, 32, 28, 28}, 4);
    assert_false(conv->has_in);
    oc_profile_close(nodes);
    const struct oc_prof_rec *first = t_rec(p, "conv2d1");
    assert_int_equal(p->n_rec, 2);
    assert_true(isnan(p->run_ns) && fabs(sum_of(p, true) - 772368e3) < 1);
    assert_string_equal(first->op_type, "conv2d");
    check_dims(&first->in[0], OC_DT_INT8, (const int64_t[]){2, 3}, 2);
    check_dims(&first->out[0], OC_DT_FLOAT16, NULL, 0);
    assert_int_equal(t_rec(p, "conv2d")->calls, 3);
    assert_false(t_rec(p, "conv2d")->has_in);
    assert_int_equal(p->diags.n, 1); /* of the second table */
    oc_profile_close(p);
}

static void web_lines_have_the_shapes_of_the_node(void **state)
{
    (void)state;
    struct oc_profile *p = open_table("op_tables/ort_web.log");
    const struct oc_prof_rec *matmul = t_rec(p, "/fc/MatMul");
    assert_int_equal(matmul->calls, 2);
    check_dims(&matmul->in[1], OC_DT_FLOAT, (const int64_t[]){64, 256}, 2);
    check_dims(&matmul->out[0], OC_DT_FLOAT, (const int64_t[]){1, 128, 256}, 3);
    uint32_t conv = 0, shaped = 0;
    for (uint32_t i = 0; i < p->n_rec; i++)
        if (strcmp(p->rec[i].op_type, "Conv") == 0) {
            conv++;
            shaped += p->rec[i].has_in; /* not the transposition of its filter */
        }
    assert_int_equal(conv, 2);
    assert_int_equal(shaped, 1);
    oc_profile_close(p);
}

static void ascend_shapes_are_read(void **state)
{
    (void)state;
    struct oc_profile *p = open_table("op_tables/op_summary.csv");
    const struct oc_prof_rec *matmul = t_rec(p, "MatMul_4");
    check_dims(&matmul->in[0], OC_DT_FLOAT16, (const int64_t[]){128, 64}, 2);
    check_dims(&matmul->in[1], OC_DT_FLOAT16, (const int64_t[]){64, 256}, 2);
    check_dims(&matmul->out[0], OC_DT_FLOAT16, (const int64_t[]){128, 256}, 2);
    assert_false(t_rec(p, "hcom_allReduce__1")->has_in);
    oc_profile_close(p);
}

/* torch_npu's steps are the runs; with work outside of them the runs are not known. */
static void ascend_steps_are_runs(void **state)
{
    (void)state;
    static const struct {
        const char *steps[3];
        uint32_t runs;
        double run_ns; /* from the first to the last work, mean of the steps */
    } file[] = {{{"19", "19", "19"}, 1, 212e3},
                {{"5", "6", "5"}, 2, (212e3 + 12e3) / 2},
                {{"5", "", "6"}, 0, 0},
                {{"", "", ""}, 0, 0}};
    for (size_t i = 0; i < OC_COUNT(file); i++) {
        struct oc_buf b = {0};
        struct oc_err err = {0};
        oc_buf_str(&b, "Step Id,Name,Type,Accelerator Core,Start Time(us),Duration(us)\n");
        for (size_t k = 0; k < OC_COUNT(file[i].steps); k++)
            oc_buf_printf(&b, "%s,aclnnMm_MatMulV3,MatMulV3,AI_CORE,%zu,12\n", file[i].steps[k], 100 * k);
        struct oc_profile *p = t_profile_text(b.data, NULL, &err);
        if (!p)
            fail_msg("%s", err.msg);
        assert_int_equal(p->runs_total, file[i].runs);
        assert_int_equal(p->runs_from, file[i].runs ? OC_RUNS_MARKED : OC_RUNS_UNKNOWN);
        assert_true(file[i].runs ? p->run_ns == file[i].run_ns : isnan(p->run_ns));
        assert_false(p->training);
        assert_true(p->rec[0].time_ns == 36e3 / (file[i].runs ? file[i].runs : 1));
        oc_profile_close(p);
        oc_buf_free(&b);
    }
    struct oc_err err = {0};
    struct oc_profile *p =
        t_profile_text("Step Id,Name,Type,Accelerator Core,Start Time(us),Duration(us)\n"
                       "7,aclnnReluBackward_ReluGrad,ReluGradV2,AI_VECTOR_CORE,1736413971558972.912\t,4\n",
                       NULL, &err);
    assert_true(p && p->training && p->runs_total == 1);
    oc_profile_close(p);
}

/* Waits and switches of the profiler are tasks without work; copies have no name. */
static void ascend_tasks_are_read(void **state)
{
    (void)state;
    struct oc_err err = {0};
    struct oc_profile *p = t_profile_text(
        "Device_id,kernel_name,kernel_type,stream_id,task_id,task_time(us),task_start(us),task_stop(us)\n"
        "0,N/A,PROFILING_ENABLE,17,4,0.02,90.0,90.02\n"
        "0,gemm_kernel,MIX_AIC,18,0,42.5,100.0\t,142.5\n"
        "0,N/A,EVENT_WAIT,18,1,700,150,850\n"
        "0,gemm_kernel,MIX_AIC,18,2,40.5,900,940.5\n"
        "0,N/A,MEMCPY_ASYNC,19,3,6,950,956\n",
        NULL, &err);
    if (!p)
        fail_msg("%s", err.msg);
    assert_string_equal(oc_profile_importer(p), "msprof");
    assert_true(p->imported_kernel_ns == 89e3 && p->runs_from == OC_RUNS_UNKNOWN);
    assert_true(t_rec(p, "gemm_kernel")->time_ns == 83e3 && t_rec(p, "gemm_kernel")->calls == 2);
    assert_true(t_rec(p, "MEMCPY_ASYNC")->time_ns == 6e3);
    oc_profile_close(p);
}

/* Cycles are not time: nodes get shares. */
static void cycles_of_qnn_are_shares(void **state)
{
    (void)state;
    struct oc_err err = {0};
    struct oc_profile *p = t_profile_text(
        "Msg Timestamp,Message,Time,Unit of Measurement,Timing Source,Event Level,Event Identifier\n"
        "0,EXECUTE,3100,US,BACKEND,ROOT,NULL\n"
        "0,NODE,6000,CYCLES,BACKEND,SUB-EVENT,MatMul_3:OpId_7 (cycles)\n"
        "0,NODE,2000,CYCLES,BACKEND,SUB-EVENT,Relu_4:OpId_8 (cycles)\n",
        NULL, &err);
    if (!p)
        fail_msg("%s", err.msg);
    assert_string_equal(p->event, "cycles");
    assert_true(t_rec(p, "MatMul_3")->share == 0.75 && isnan(t_rec(p, "MatMul_3")->time_ns));
    oc_profile_close(p);
}

/* Events that are not time have the value UNKNOWN. */
static void other_events_of_qnn_are_skipped(void **state)
{
    (void)state;
    struct oc_err err = {0};
    struct oc_profile *p =
        t_profile_text("Msg Timestamp,Message,Time,Unit of Measurement,Timing Source,Event Level,Event "
                       "Identifier,ONNX Source "
                       "Ops\n"
                       "0,UNKNOWN,UNKNOWN,OBJECT,BACKEND,ROOT,Unknown event type,\n"
                       "0,BACKEND,4,COUNT,BACKEND,ROOT,Number of HVX threads used,\n"
                       "0,EXECUTE,3100,US,BACKEND,ROOT,NULL,\n"
                       "0,NODE,6000,CYCLES,BACKEND,SUB-EVENT,MatMul_3:OpId_7 (cycles),MatMul\n",
                       NULL, &err);
    if (!p)
        fail_msg("%s", err.msg);
    assert_int_equal(p->n_rec, 1);
    oc_profile_close(p);
}

/* A file with several recordings of nvprof: calls of the runtime never mix with times of the device. */
static void calls_of_the_runtime_are_dropped_in_all_recordings(void **state)
{
    (void)state;
    struct oc_err err = {0};
    struct oc_profile *p = t_profile_text(
        "==1== NVPROF is profiling process 1, command: ./a\n==1== Profiling result:\nNo kernels were "
        "profiled.\n"
        "            Type  Time(%)      Time     Calls       Avg       Min       Max  Name\n"
        "      API calls:  100.00%  9.0000ms         1  9.0000ms  9.0000ms  9.0000ms  cudaMalloc\n\n"
        "==2== Profiling result:\n"
        "            Type  Time(%)      Time     Calls       Avg       Min       Max  Name\n"
        " GPU activities:  100.00%  4.0000ms         2  2.0000ms  2.0000ms  2.0000ms  f(int)\n"
        "      API calls:  100.00%  8.0000ms         1  8.0000ms  8.0000ms  8.0000ms  cudaMalloc\n",
        NULL, &err);
    if (!p)
        fail_msg("%s", err.msg);
    assert_int_equal(p->n_rec, 1);
    assert_string_equal(p->time_kind, "device time");
    assert_true(fabs(sum_of(p, true) - 4e6) < 1e-3);
    oc_profile_close(p);
}

static void recordings_after_the_first_are_not_added(void **state)
{
#define NVPROF(PID)                                                                                          \
    "==" PID "== Profiling result:\n"                                                                        \
    "            Type  Time(%)      Time     Calls       Avg       Min       Max  Name\n"                    \
    " GPU activities:  100.00%  4.0000ms         2  2.0000ms  2.0000ms  2.0000ms  f(int)\n\n"
#define LITE                                                                                                 \
    "Operator-wise Profiling Info for Regular Benchmark Runs:\n"                                             \
    "============================== Run Order ==============================\n"                              \
    "[node type]  [first]  [avg ms]  [%]  [cdf%]  [mem KB]  [times called]  [Name]\n"                        \
    "CONV_2D  4.0  4.0  100%  100%  0.0  1  [a]:0\n\n"
#define PADDLE                                                                                               \
    "-------------Operator Summary-------------\nTime unit: ms\n"                                            \
    "------  -----  -------------------------------\n"                                                       \
    "Name    Calls  CPU Total / Avg / Max / Min / Ratio(%)\n"                                                \
    "------  -----  -------------------------------\n"                                                       \
    "conv2d  2      4.00 / 2.00 / 2.00 / 2.00 / 100.00\n"
#define PSTATS                                                                                               \
    "   ncalls  tottime  percall  cumtime  percall filename:lineno(function)\n"                              \
    "        2    0.004    0.002    0.004    0.002 a.py:1(f)\n\n"
#define ONEDNN(GPU)                                                                                          \
    "onednn_verbose,info,oneDNN v3.1.0 (commit 0000000)\n"                                                   \
    "onednn_verbose,exec," GPU                                                                               \
    ",eltwise,jit:avx2,forward_inference,data_f32::blocked:a:f0,,alg:eltwise_relu alpha:0 beta:0,8,4.0\n"
#define NCU_TEXT                                                                                             \
    "==PROF== Connected to process 1 (/bin/a)\n==PROF== Disconnected from process 1\n"                       \
    "  f (8, 1, 1)x(32, 1, 1), Context 1, Stream 7, Device 0, CC 8.0\n    Section: GPU Speed Of Light "      \
    "Throughput\n"                                                                                           \
    "    -------- ---- ----\n    Duration   ms  4.0\n    -------- ---- ----\n\n"
#define NCU_CSV                                                                                              \
    "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\","           \
    "\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n"                                    \
    "\"0\",\"1\",\"a\",\"h\",\"f\",\"1\",\"7\",\"Command line profiler metrics\","                           \
    "\"gpu__time_duration.sum\",\"msecond\",\"4.0\"\n"
#define REPORT                                                                                               \
    "------------------------->     Profiling Report     <-------------------------\n\nPlace: CPU\n"         \
    "Time unit: ms\nEvent  Calls  Total  Min.  Max.  Ave.  Ratio.\nmul  1  4.0  4.0  4.0  4.0  1.0\n\n"
#define WEB(NAME) "[profiling] kernel \"7|Gemm|" NAME "|MatMul\" execution time: 4000000 ns\n"
    static const char *const text[] = {PSTATS PSTATS, WEB("a") WEB("b"),       ONEDNN("cpu") ONEDNN("cpu"),
                                       REPORT REPORT, NVPROF("1") NVPROF("2"), LITE LITE,
                                       PADDLE PADDLE, NCU_TEXT NCU_TEXT,       NCU_CSV NCU_CSV};
    (void)state;
    for (size_t i = 0; i < sizeof(text) / sizeof(*text); i++) {
        struct oc_err err = {0};
        struct oc_profile *p = t_profile_text(text[i], NULL, &err);
        if (!p)
            fail_msg("%zu: %s", i, err.msg);
        assert_int_equal(p->n_rec, 1);
        assert_true(fabs(sum_of(p, false) + sum_of(p, true) - 4e6) < 1e-3);
        assert_true(t_finding(p, "W-several-profiles"));
        oc_profile_close(p);
    }
}

/* ---- DeepSpeed ----------------------------------------------------------------------------------------- */

/* Two equal blocks in one row; a ModuleList has no figures; the parts of 10 ms add up. */
static void modules_of_deepspeed_have_the_time_outside_of_submodules(void **state)
{
    (void)state;
    struct oc_profile *p = open_table("op_tables/deepspeed.txt");
    const struct oc_prof_rec *q = t_rec(p, "layers.0-1.attention.q"), *a = t_rec(p, "layers.0-1.attention");
    assert_string_equal(q->op_type, "Linear");
    assert_int_equal(q->calls, 2);
    assert_true(fabs(q->time_ns - 2e6) < 1e-3 && fabs(a->time_ns - 3.9e6) < 1e-3);
    assert_true(fabs(q->flop - 4e9) < 1 && fabs(a->flop - 2 * (3 * 1.333e9 - 2e9)) < 1);
    assert_int_equal(q->quality, OC_EST);
    assert_true(isnan(t_rec(p, "embed")->flop)); /* not counted */
    assert_true(fabs(t_rec(p, "TinyModel")->time_ns - 1.8e6) < 1e-3);
    assert_true(fabs(p->run_ns - 1e7) < 1e-3);
    oc_profile_close(p);
}

/* The forward() of `model` does not call `encoder`, which its repr() contains. A second report is another
 * recording. */
static void submodules_outside_of_forward_are_not_counted_twice(void **state)
{
#define FIGURES(MS) "0, 0.00% Params, 1 GMACs, 1.00% MACs, " MS " ms, 1.00% latency, 2.0 GFLOPS"
#define TREE                                                                                                 \
    "Net(\n  " FIGURES("10") ", \n  (model): Model(\n    " FIGURES("3") ", \n"                               \
                                                                        "    (encoder): Conv2d(" FIGURES(    \
                                                                            "5") ", 3, 8)\n  )\n)\n"
    (void)state;
    struct oc_err err = {0};
    struct oc_profile *p = t_profile_text(TREE "---\n" TREE, NULL, &err);
    if (!p)
        fail_msg("%s", err.msg);
    assert_true(fabs(sum_of(p, false) - 1e7) < 1e-3);
    assert_true(fabs(t_rec(p, "Net")->time_ns - 5e6) < 1e-3);
    assert_true(t_rec(p, "model")->time_ns == 0);
    assert_true(t_finding(p, "W-several-profiles"));
    oc_profile_close(p);
}

/* ---- ONNX Runtime -------------------------------------------------------------------------------------- */

static void a_trace_of_onnxruntime_as_a_table_is_the_same_trace(void **state)
{
#define ARGS(OPEN, CLOSE) OPEN "'op_name': 'Conv', 'input_type_shape': [{'float': [1, 3]}]" CLOSE
    static const char *const text[] = {
        ",cat,pid,tid,dur,ts,ph,name,args\n"
        "0,Session,1,1,100,0,X,model_run,{}\n"
        "1,Node,1,1,60,10,X,\"it's, c_kernel_time\",\"" ARGS(
            "{", "}") "\"\n"
                      "2,Node,1,1,30,70,X,r_kernel_time,\"{'op_name': 'Relu'}\"\n",
        "cat,pid,tid,dur,ts,ph,name,args_op_name,args_input_type_shape,op_name\n"
        "Session,1,1,100.0,0,X,model_run,,,\n"
        "Node,1,1,60.0,10,X,\"it's, c_kernel_time\",Conv,\"[{'float': [1, 3]}]\",c\n"
        "Node,1,1,30.0,70,X,r_kernel_time,Relu,,r\n"};
    (void)state;
    for (size_t i = 0; i < sizeof(text) / sizeof(*text); i++) {
        struct oc_err err = {0};
        struct oc_profile *p = t_profile_text(text[i], NULL, &err);
        if (!p)
            fail_msg("%s", err.msg);
        const struct oc_prof_rec *c = t_rec(p, "it's, c");
        assert_string_equal(c->op_type, "Conv");
        assert_true(c->time_ns == 60e3 && p->run_ns == 100e3 && p->runs_total == 1);
        assert_int_equal(c->n_in, 1);
        check_dims(&c->in[0], OC_DT_FLOAT, (const int64_t[]){1, 3}, 2);
        assert_string_equal(t_rec(p, "r")->op_type, "Relu");
        oc_profile_close(p);
    }
}

/* ---- tables of PyTorch --------------------------------------------------------------------------------- */

#define TORCH_RULE                                                                                           \
    "--------------  ----------  ----------  ----------  ----------  ------------  "                         \
    "-----------------------\n"
#define TORCH_HEAD                                                                                           \
    TORCH_RULE                                                                                               \
    "          Name    Self CPU   CPU total   Self CUDA  CUDA total    # of Calls             Input "        \
    "Shapes\n" TORCH_RULE

static struct oc_profile *open_text(const char *text)
{
    struct oc_err err = {0};
    struct oc_profile *p = t_profile_text(text, NULL, &err);
    if (!p)
        fail_msg("%s", err.msg);
    return p;
}

static void shapes_of_a_pytorch_table_separate_rows(void **state)
{
    (void)state;
    struct oc_profile *p = open_text(
        TORCH_HEAD
        "      aten::mm     1.000ms     2.000ms     3.000ms     3.000ms             2    [[8, 64], [64, "
        "32]]\n"
        "                                                                                   model.py(3)\n"
        "      aten::mm     1.500ms     1.500ms     1.000ms     1.000ms             1    [[8, 64], [64, "
        "3...\n"
        "     aten::add     1.000ms     1.000ms     0.000us     0.000us             1       [[8, 32], [], "
        "[]]\n" TORCH_RULE);
    assert_int_equal(p->n_rec, 3);
    assert_int_equal(p->rec[0].n_in, 2);
    check_dims(&p->rec[0].in[1], OC_DT_UNDEFINED, (const int64_t[]){64, 32}, 2);
    assert_false(p->rec[1].has_in); /* the writer cut the list */
    assert_int_equal(p->rec[2].n_in, 3);
    assert_int_equal(p->rec[2].in[1].shape.rank, 0);
    assert_true(fabs(sum_of(p, true) - 4e6) < 1e-3 && fabs(sum_of(p, false) - 3.5e6) < 1e-3);
    oc_profile_close(p);
}

static void kernels_alone_are_rows_of_a_pytorch_table(void **state)
{
    (void)state;
    struct oc_profile *p = open_text(
        TORCH_HEAD
        "   ampere_gemm     0.000us     0.000us     3.000ms     3.000ms             2    []\n"
        "cudaLaunchKern     1.000ms     1.000ms     0.000us     0.000us             2    []\n" TORCH_RULE);
    assert_true(fabs(sum_of(p, true) - 3e6) < 1e-3);
    assert_non_null(t_rec(p, "ampere_gemm"));
    oc_profile_close(p);
}

static void negative_device_times_are_not_read(void **state)
{
    (void)state;
    struct oc_profile *p = open_text(
        TORCH_HEAD
        "  aten::select     1.000ms     1.000ms  -200000.00us     3.000ms             2    []\n"
        "     aten::add     1.000ms     1.000ms     4.000ms     4.000ms             2    []\n" TORCH_RULE);
    assert_string_equal(p->time_kind, "host time");
    assert_true(sum_of(p, true) == 0 && fabs(sum_of(p, false) - 2e6) < 1e-3);
    assert_true(t_finding(p, "W-device-time"));
    oc_profile_close(p);
}

/* A self time is a difference; its row stays, and counts 0. */
static void negative_self_times_count_nothing(void **state)
{
    (void)state;
    struct oc_profile *p = open_text(
        TORCH_HEAD
        " DDP.forward  -5088.000us     1.372s     4.000ms     4.000ms             1    []\n"
        "   aten::sub    -0.000us     0.000us     0.000us     0.000us             2    []\n"
        "   aten::add     1.000ms     1.000ms     0.000us     0.000us             2    []\n" TORCH_RULE);
    assert_true(t_rec(p, "DDP.forward") && t_rec(p, "aten::sub"));
    assert_true(fabs(sum_of(p, false) - 1e6) < 1e-3 && fabs(sum_of(p, true) - 4e6) < 1e-3);
    assert_non_null(strstr(t_finding(p, "W-self-time"), "self times of 1 rows are negative"));
    oc_profile_close(p);
    p = open_text(
        TORCH_HEAD
        "   aten::add     1.000ms     1.000ms     0.000us     0.000us             2    []\n"
        "         ---         ---         ---         ---         ---             -    []\n" TORCH_RULE);
    assert_true(p->n_rec == 1 && !t_finding(p, "W-self-time"));
    oc_profile_close(p);
}

/* Two tables of one program may show the same times, sorted in two ways. */
static void only_the_first_pytorch_table_is_read(void **state)
{
    (void)state;
#define TORCH_TABLE                                                                                          \
    TORCH_HEAD                                                                                               \
    "     aten::add     1.000ms     1.000ms     4.000ms     4.000ms             2    []\n" TORCH_RULE        \
    "Self CPU time total: 1.000ms\nSelf CUDA time total: 8.000ms\n"
    struct oc_profile *p = open_text(TORCH_TABLE "\nsorted:\n" TORCH_TABLE);
    assert_true(fabs(sum_of(p, true) - 4e6) < 1e-3);
    assert_true(t_finding(p, "W-several-profiles"));
    assert_true(t_finding(p, "W-rows")); /* half of the device time has no rows */
    oc_profile_close(p);
}

/* A training log of 200 kB before the table. */
static void a_table_is_found_after_much_output(void **state)
{
    static const struct {
        const char *text, *format;
    } table[] = {{TORCH_TABLE, "pytorch_table"}, {PSTATS, "generic_csv"}};
    static const char line[] = "epoch 1: loss 0.25, accuracy 0.5\n";
    (void)state;
    for (size_t k = 0; k < OC_COUNT(table); k++) {
        struct oc_buf text = {0};
        for (size_t i = 0; i < 6000; i++)
            oc_buf_add(&text, line, sizeof(line) - 1);
        oc_buf_printf(&text, "%s", table[k].text);
        struct oc_profile *p = open_text(text.data);
        assert_string_equal(p->format, table[k].format);
        assert_true(fabs(sum_of(p, k == 0) - 4e6) < 1e-3);
        oc_profile_close(p);
        oc_buf_free(&text);
    }
}

/* -pc of earlier versions is in microseconds; Python prints hours, minutes and seconds, columns may touch. */
static void openvino_units_by_version(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        double ns;
    } row[] = {
        {"conv1      EXECUTED       layerType: Convolution        realTime: 706        cpu: 706            "
         "execType: "
         "jit_avx2\n",
         706e3},
        {"conv1      EXECUTED       layerType: Convolution  realTime (ms): 0.706  cpuTime (ms): 0.706  "
         "execType: "
         "jit_avx2\n",
         706e3},
        {"conv1                         Status.EXECUTEDlayerType: Convolution        realTime: "
         "0:00:00.000706cpu: "
         "0:00:00.000706 execType: jit_avx2_FP32\n",
         706e3},
        {"conv1 Status.EXECUTED layerType: Convolution realTime: 1:02:03.5 cpu: 0:00:00 execType: x\n",
         3723.5e9},
    };
    for (size_t i = 0; i < OC_COUNT(row); i++) {
        struct oc_err err = {0};
        struct oc_profile *p = t_profile_text(row[i].line, NULL, &err);
        if (!p)
            fail_msg("%zu: %s", i, err.msg);
        assert_string_equal(p->rec[0].name, "conv1");
        assert_true(fabs(p->rec[0].total_ns - row[i].ns) < 1);
        oc_profile_close(p);
    }
}

static void tables_without_time_are_errors(void **state)
{
    (void)state;
    static const char *const text[] = {
        "\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\"\n",
        "relu1  OPTIMIZED_OUT  layerType: Relu  realTime: 0  cpu: 0  execType: undef\n",
        "onednn_verbose,primitive,exec,cpu,reorder,jit:uni,undef,src_f32::blocked:a:f0,,,16\n",
        "            Type  Time(%)      Time     Calls       Avg       Min       Max  Name\n"};
    for (size_t i = 0; i < OC_COUNT(text); i++) {
        struct oc_err err = {0};
        assert_null(t_profile_text(text[i], NULL, &err));
        if (!strstr(err.msg, "contains no time"))
            fail_msg("%zu: %s", i, err.msg);
    }
}

static void broken_values_name_line_and_column(void **state)
{
    (void)state;
    struct oc_err err = {0};
    assert_null(t_profile_text(
        "\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\"\n\"f\",1,x,1,1\n", NULL, &err));
    assert_non_null(strstr(err.msg, "line 2: column 'TotalDurationNs': 'x' is not a time"));
    assert_null(t_profile_text("\"Type\",\"Time(%)\",\"Time\",\"Calls\",\"Avg\",\"Min\",\"Max\",\"Name\"\n"
                               ",%,parsec,,us,us,us,\n",
                               NULL, &err));
    assert_non_null(strstr(err.msg, "column 'Time' has no unit of time"));
}

static void vtune_text_has_functions(void **state)
{
    (void)state;
    struct oc_err err = {0};
    struct oc_profile *p = t_profile_text("vtune: Executing actions 75 %   Function    CPU Time  Module\n"
                                          "-----------  --------  ------------\n"
                                          "mat_mul        4.850s  bench\n"
                                          "rand f(int)    0.010s  libc.so.6\n"
                                          "vtune: Executing actions 100 % done\n",
                                          NULL, &err);
    if (!p)
        fail_msg("%s", err.msg);
    assert_true(p->functions && p->n_rec == 2);
    assert_true(fabs(p->imported_ns - 4.86e9) < 1);
    assert_string_equal(t_rec(p, "mat_mul")->provider, "bench");
    oc_profile_close(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_table_has_its_times),
        cmocka_unit_test(tables_that_are_not_read_are_reported),
        cmocka_unit_test(excerpts_of_documents_are_read),
        cmocka_unit_test(onednn_lines_have_shapes),
        cmocka_unit_test(part_of_a_table_of_tvm_is_not_a_run),
        cmocka_unit_test(reports_of_tvm_have_shapes),
        cmocka_unit_test(web_lines_have_the_shapes_of_the_node),
        cmocka_unit_test(ascend_shapes_are_read),
        cmocka_unit_test(ascend_steps_are_runs),
        cmocka_unit_test(ascend_tasks_are_read),
        cmocka_unit_test(cycles_of_qnn_are_shares),
        cmocka_unit_test(other_events_of_qnn_are_skipped),
        cmocka_unit_test(calls_of_the_runtime_are_dropped_in_all_recordings),
        cmocka_unit_test(recordings_after_the_first_are_not_added),
        cmocka_unit_test(modules_of_deepspeed_have_the_time_outside_of_submodules),
        cmocka_unit_test(submodules_outside_of_forward_are_not_counted_twice),
        cmocka_unit_test(a_trace_of_onnxruntime_as_a_table_is_the_same_trace),
        cmocka_unit_test(shapes_of_a_pytorch_table_separate_rows),
        cmocka_unit_test(kernels_alone_are_rows_of_a_pytorch_table),
        cmocka_unit_test(negative_device_times_are_not_read),
        cmocka_unit_test(negative_self_times_count_nothing),
        cmocka_unit_test(only_the_first_pytorch_table_is_read),
        cmocka_unit_test(a_table_is_found_after_much_output),
        cmocka_unit_test(openvino_units_by_version),
        cmocka_unit_test(tables_without_time_are_errors),
        cmocka_unit_test(broken_values_name_line_and_column),
        cmocka_unit_test(vtune_text_has_functions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
