/* Lines that programs print: TensorFlow Lite and LiteRT, nvprof, DeepSpeed, PyTorch, oneDNN, ONNX Runtime Web,
 * MNN, RKNN, MACE, ggml. */
#include "profile/core/records.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "support/profiles.h"
#include "onnxcost.h"

static struct oc_profile *read_text(const char *text)
{
    struct oc_err err = {0};
    struct oc_profile *p = t_profile_text(text, NULL, &err);
    struct oc_conserved c;
    if (!p)
        fail_msg("%s", err.msg);
    oc_profile_conserved(p, false, &c);
    assert_true(isnan(c.lost_ns) || fabs(c.lost_ns) < 1e-3);
    return p;
}

/* ---- TensorFlow Lite ---------------------------------------------------------------------------------- */

#define LITE_TABLE(SHARE)                                                                                    \
    "============================== Run Order ==============================\n"                              \
    "\t[node type]\t[first]\t[avg ms]\t" SHARE "\t[times called]\t[Name]\n"                                  \
    "\tGEMM\t4.000\t3.000\t100%\t1\tfc:1\n"                                                                  \
    "\tAllocateTensors\t0.300\t0.300\t0.010%\t0\tAllocateTensors/0\n\n"
#define LITE_TIMINGS                                                                                         \
    "Timings (microseconds): count=1000 first=3400 curr=3000 min=2990 max=3400 avg=3000.3 std=9\n"

/* AllocateTensors ran in one of 1000 runs: 0.3 ms / 1000. Of two runs of the program the last one before the
 * table counts, and none after it. */
static void rows_of_litert_that_ran_in_a_part_of_the_runs_have_their_share(void **state)
{
    (void)state;
    struct oc_profile *p =
        read_text("INFO: [a.h:88] Inference (avg):      9.00 ms (7 runs)\n"
                  "INFO: [a.h:86] Warmup (avg):         3.19 ms (200 runs)\n"
                  "INFO: [a.h:88] Inference (avg):      3.20 ms (800 runs)\n\n" LITE_TABLE("[%]") LITE_TIMINGS
                  "Inference (avg):      8.00 ms (7 runs)\n");
    const struct oc_prof_rec *rare = t_rec(p, "AllocateTensors/0");
    assert_int_equal(p->runs_total, 800);
    assert_true(fabs(p->run_ns - 3.2e6) < 1e-3);
    assert_true(fabs(t_rec(p, "fc:1")->time_ns - 3e6) < 1e-3);
    assert_true(fabs(rare->time_ns - 0.0001 * 3000.3e3) < 1e-3 && rare->calls == 0 &&
                isnan(rare->calls_per_run));
    assert_true(t_finding(p, "I-warm-up"));
    assert_null(t_finding(p, "W-row"));
    oc_profile_close(p);
}

/* TensorFlow's benchmark_model --show_run_order=false: types have the time of all their calls. */
static void types_of_tensorflow_are_read_without_the_run_order(void **state)
{
#define GLOG "2017-12-27 20:42:59.8: I tensorflow/core/util/stat_summarizer.cc:468] "
#define TOP                                                                                                  \
    GLOG "\t [node type]\t  [start]\t [avg ms]\t[times called]\t[Name]\n" GLOG                               \
         "\t  MatMul\t    0.019\t    0.004\t        1\tm\n"
    (void)state;
    struct oc_profile *p = read_text(
        GLOG "====== Top by Computation Time ======\n" TOP GLOG "====== Summary by node type ======\n" GLOG
             "\t [Node type]\t  [count]\t  [avg ms]\t    [avg %]\t[times called]\n" GLOG
             "\t     Const\t        2\t     0.006\t    60.0%\t        2\n" GLOG
             "\t    MatMul\t        1\t     0.004\t    40.0%\t        1\n" GLOG "\n" GLOG
             "Timings (microseconds): count=1000 first=375 curr=12(all same)\n");
    assert_true(p->n_rec == 2 && p->runs_total == 1000 && fabs(p->run_ns - 12e3) < 1e-3);
    assert_true(fabs(t_rec(p, "Const")->time_ns - 6e3) < 1e-3 && t_rec(p, "Const")->calls_per_run == 2);
    assert_null(t_finding(p, "W-row"));
    oc_profile_close(p);
    assert_null(
        t_profile_text(GLOG "====== Top by Computation Time ======\n" TOP, NULL, &(struct oc_err){0}));
#undef TOP
#undef GLOG
}

/* A share of 0.000 % is at least one call; the latency of TensorFlow Lite is in microseconds. */
static void rows_of_litert_with_a_share_of_0_are_one_call(void **state)
{
    (void)state;
    struct oc_profile *p = read_text(
        "Inference timings in us: Init: 99, First inference: 34, Warmup (avg): 9.5, Inference (avg): 3100.5\n"
        "====== Run Order ======\n"
        "\t[node type]\t[avg ms]\t[%]\t[times called]\t[Name]\n"
        "\tGEMM\t3.000\t100%\t1\tfc:1\n\tResize\t0.002\t0.000%\t0\tr:2\n\n" LITE_TIMINGS);
    assert_true(fabs(t_rec(p, "r:2")->time_ns - 2) < 1e-6);
    assert_true(p->runs_total == 1000 && fabs(p->run_ns - 3100.5e3) < 1e-3);
    assert_null(t_finding(p, "I-warm-up"));
    oc_profile_close(p);
}

/* Without the shares, or the time of a run, the number of calls is between 1 and that of the runs. */
static void rows_of_litert_with_an_unknown_number_of_calls_are_left_out(void **state)
{
    static const char *const text[] = {LITE_TABLE("[x]") LITE_TIMINGS, LITE_TABLE("[%]")};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct oc_profile *p = read_text(text[i]);
        assert_int_equal(p->n_rec, 1);
        assert_non_null(strstr(t_finding(p, "W-row"), "1 rows ran in a part of the runs"));
        oc_profile_close(p);
    }
}

/* ---- nvprof ------------------------------------------------------------------------------------------- */

/* A table made of the printed one: units in the cells, no row of units, and no types: calls of the runtime are
 * known by their names. A name without quotes has commas. */
static void cells_of_nvprof_with_units_are_times(void **state)
{
    (void)state;
    struct oc_profile *p = read_text("Time(%),Time,Calls,Avg,Min,Max,Name\n"
                                     "60.00%,1.5s,45,12.052ms,12.007ms,12.110ms,[CUDA memcpy HtoD]\n"
                                     "20.00%,237.43ms,150,1.5829ms,990us,2.1174ms,f(int, int)\n"
                                     "0.00%,1ms,1,1ms,1ms,1ms,\"g(int, int)\",\n"
                                     "20.00%,9s,1,9s,9s,9s,cudaMalloc");
    assert_true(fabs(p->imported_kernel_ns - 1738.43e6) < 1e-3);
    assert_int_equal(t_rec(p, "f(int, int)")->calls, 150);
    assert_non_null(t_rec(p, "g(int, int)"));
    assert_string_equal(t_rec(p, "[CUDA memcpy HtoD]")->bucket, "copies");
    assert_null(t_rec(p, "cudaMalloc"));
    oc_profile_close(p);
}

/* Page faults and migrations run while kernels do: as printed and as CSV, only f and the copy are work. */
static void page_migrations_of_nvprof_do_not_count(void **state)
{
    (void)state;
    static const char *const text[] = {
        "   Start  Duration  Grid Size  Block Size   Unified Memory  Virtual Address  Name\n"
        "1.18208s         -          -           -      PC 0x4034d6   0x7f8cc0000000  [Unified Memory CPU "
        "page faults]\n"
        "1.18300s  10.000us          -           -                -                -  [CUDA memcpy HtoD]\n"
        "1.18310s  90.000us    (2 1 1)     (8 1 1)                -                -  f(int) [114]\n"
        "1.18311s  70.000us          -           -               19   0x7f8cc0000000  [Unified Memory GPU "
        "page faults]\n"
        "1.18312s  40.000us          -           -      64.000000KB   0x7f8cc0000000  [Unified Memory Memcpy "
        "HtoD]\n",
        "\"Start\",\"Duration\",\"Registers Per Thread\",\"Name\",\"Correlation_ID\"\ns,us,,,\n"
        "1.183,10,,\"[CUDA memcpy HtoD]\",105\n1.1831,90,,\"f(int) [114]\",106\n"
        "1.18311,70,,\"[Unified Memory GPU page faults]\",\n"
        "1.18312,40,,\"[Unified Memory Memcpy HtoD]\",\n"};
    for (size_t i = 0; i < sizeof(text) / sizeof(text[0]); i++) {
        struct oc_profile *p = read_text(text[i]);
        assert_true(fabs(p->imported_kernel_ns - 100000) < 1e-3);
        assert_int_equal(p->n_rec, 2);
        assert_int_equal(t_rec(p, "f(int)")->calls, 1);
        oc_profile_close(p);
    }
}

static void cells_of_nvprof_without_a_unit_are_errors(void **state)
{
    (void)state;
    struct oc_err err = {0};
    assert_null(
        t_profile_text("Time(%),Time,Calls,Avg,Min,Max,Name\n50%,2.0,1,2.0,2.0,2.0,f(int)\n", NULL, &err));
    assert_non_null(
        strstr(err.msg,
               "no unit of time: give it with --profile-format generic_csv --map 'name=Name,time=Time:ms'"));
    assert_null(t_profile_text("Time(%),Time,Calls,Avg,Min,Max,Name\n50%,2.0ms,1,2.0ms,2.0ms,2.0ms,f(int)\n"
                               "50%,2.0,1,2.0ms,2.0ms,2.0ms,g(int)\n",
                               NULL, &err));
    assert_non_null(strstr(err.msg, "line 3: column 'Time': '2.0' is not a time with a unit"));
}

/* ---- DeepSpeed ----------------------------------------------------------------------------------------- */

#define FIGURES(LATENCY) "1 M = 100% Params, 1 GMACs = 100% MACs, " LATENCY " = 1% latency, 2 GFLOPS"
#define NET(LATENCY)     "Net(\n  " FIGURES(LATENCY) "\n  (fc): Linear(" FIGURES("5 ms") ", 3, 8)\n)\n"

/* "1.77 Gs" for a model whose forward() was never started: the time of its submodules is that of the model,
 * unless the report states a latency, the last before it. A model with a time has this time: the stated one
 * contains DeepSpeed's own work. */
static void a_model_that_deepspeed_did_not_time_has_the_stated_latency(void **state)
{
    static const struct {
        const char *text;
        double run_ns;
        uint32_t rows;
        bool damaged;
    } of[] = {{NET("1.77 Gs"), 5e6, 1, false},
              {"fwd latency:   9 ms\nfwd latency:   7.5 ms\nfwd FLOPS = flops / fwd latency:  1 GFLOPS\n" NET(
                   "1.77 Gs") "fwd latency:   8 ms\n",
               7.5e6, 1, false},
              {"fwd latency:   7.5 ms\n" NET("6 ms"), 6e6, 2, false},
              {"fwd latency:   7.5 Gs\n" NET("1.77 Gs"), 5e6, 1, false},
              {NET("1.77 km"), 5e6, 1, true}};
    (void)state;
    for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++) {
        struct oc_profile *p = read_text(of[i].text);
        assert_int_equal(p->n_rec, of[i].rows);
        assert_true(fabs(p->run_ns - of[i].run_ns) < 1e-3 && t_rec(p, "fc")->time_ns == 5e6);
        assert_true(!of[i].damaged == !t_finding(p, "W-row"));
        oc_profile_close(p);
    }
}

/* flops-profiler prints the figures as a dict of Python. */
static void dicts_of_flops_profiler_have_the_time_outside_of_submodules(void **state)
{
#define DICT(TIME) "module = {'param': '1 M', 'flops': '2 G', 'duration': '" TIME "', 'FLOPS': '2 GFLOPS'}"
    (void)state;
    struct oc_profile *p = read_text("Net(\n  " DICT("6 ms") "\n  (fc): Linear(" DICT("4 ms") ", 3, 8)\n)\n");
    assert_string_equal(p->format, "deepspeed");
    assert_true(p->n_rec == 2 && fabs(p->run_ns - 6e6) < 1e-3);
    assert_true(fabs(t_rec(p, "fc")->time_ns - 4e6) < 1e-3 && fabs(t_rec(p, "fc")->flop - 8e6) < 1e-3);
    oc_profile_close(p);
}

/* ---- PyTorch ------------------------------------------------------------------------------------------- */

#define RULE  "--------  --------  --------  --------\n"
#define TITLE "Name      Self CPU total  CPU total  CPU time avg\n"

/* A table of events, not of averages: a row whose average is its total is one call, others have an unknown number
 * of calls. */
static void rows_of_pytorch_without_calls_are_events(void **state)
{
    (void)state;
    struct oc_profile *p = read_text(RULE TITLE RULE "uniform_  6.000ms  6.000ms  6.000ms\n"
                                                     "add  2.000ms  4.000ms  4.000ms\n"
                                                     "mul  1.000ms  1.000ms  50.000us\n" RULE);
    assert_int_equal(p->n_rec, 3);
    assert_true(p->imported_ns == 9e6);
    assert_true(t_rec(p, "uniform_")->calls == 1 && t_rec(p, "add")->calls == 1 &&
                t_rec(p, "mul")->calls == 0);
    assert_true(isnan(t_rec(p, "mul")->calls_per_run));
    oc_profile_close(p);
}

/* Lines of two processes mixed: the first table of mpirun -l, srun -l, docker compose is read alone; a process that
 * prints no table does not count. */
/* torch.utils.bottleneck: its table of the GPU repeats the times of the CPU; a note after the table is of another. */
static void times_of_the_gpu_that_contain_those_of_the_cpu_are_not_read(void **state)
{
#define RULE5 "----  --------  ---------  ------------  ---------\n"
#define BOTH                                                                                                 \
    RULE5 "Name  Self CPU  CPU total  CPU time avg  Self CUDA\n" RULE5                                       \
          "load  2.000s    2.000s     2.000s        2.001s\n" RULE5
#define NOTE "\tthe CUDA time column reports approximately max(cuda_time, cpu_time).\n"
    (void)state;
    struct oc_profile *p = read_text(NOTE BOTH "Self CPU time total: 2.000s\nSelf CUDA time total: 2.001s\n");
    assert_true(isnan(p->imported_kernel_ns) && t_rec(p, "load")->self_ns == 2e9);
    assert_string_equal(
        t_finding(p, "W-device-time"),
        "device times are at least those of the CPU, as torch.utils.bottleneck says: only times "
        "of the CPU are read");
    oc_profile_close(p);
    p = read_text(BOTH NOTE);
    assert_true(p->imported_kernel_ns == 2.001e9 && !t_finding(p, "W-device-time"));
    oc_profile_close(p);
}

/* PyTorch before 1.7: totals of the GPU without self times, or zero without a GPU. */
static void totals_of_the_gpu_are_not_times_of_its_work(void **state)
{
    (void)state;
    static const char *const total[] = {"790.885ms", "0.000us"};
    for (size_t i = 0; i < OC_COUNT(total); i++) {
        char text[1200];
        snprintf(
            text, sizeof(text),
            "--------  ----------------  --------------  -----------  ---------  ------------  ----------  "
            "---------------\n"
            "Name      Self CPU total %%  Self CPU total  CPU total %%  CPU total  CPU time avg  CUDA total  "
            "Number of Calls\n"
            "--------  ----------------  --------------  -----------  ---------  ------------  ----------  "
            "---------------\n"
            "aten::mm  98.09%%            518.336ms       98.88%%       522.511ms  5.225ms       %s   100\n"
            "--------  ----------------  --------------  -----------  ---------  ------------  ----------  "
            "---------------\n",
            total[i]);
        struct oc_profile *p = read_text(text);
        assert_string_equal(p->device, i ? "CPU" : "GPU");
        assert_string_equal(p->time_kind, "host time");
        assert_int_equal(p->rec[0].is_launch, !i);
        assert_int_equal(t_finding(p, "W-device-time") != NULL, !i);
        oc_profile_close(p);
    }
}

static void emphasized_cells_of_pytorch_are_read(void **state)
{
    (void)state;
    struct oc_profile *p = read_text(RULE5 "Name  Self CPU  CPU total  CPU time avg  ** Self CUDA **\n" RULE5
                                           "void **f**  2.000s  2.000s     2.000s      ** 5.000s**\nchar**  "
                                           "1.000s  **1.000s**  1.000s  4.000s\n" RULE5);
    assert_true(p->imported_kernel_ns == 9e9 && t_rec(p, "void **f**")->self_ns == 2e9 && t_rec(p, "char**"));
    oc_profile_close(p);
}

static void a_table_of_one_of_several_processes_is_read(void **state)
{
    static const char *const label[][2] = {
        {"[0] ", "[1] "}, {"0: ", "1: "}, {"[1,0]<stdout>: ", "[1,1]<stdout>: "}, {"a-1  | ", "b-2  | "}};
    (void)state;
    for (size_t i = 0; i < sizeof(label) / sizeof(*label); i++)
        for (unsigned other = 0; other < 2; other++) {
            const char *a = label[i][0], *b = label[i][1];
            struct oc_buf text = {0};
            static const char *const line[] = {
                RULE, TITLE, RULE, "add  2.000ms  4.000ms  4.000ms\n", "mul  1.000ms  1.000ms  1.000ms\n",
                RULE};
            for (size_t k = 0; k < 6; k++) {
                oc_buf_printf(&text, "%s%s", b, other ? line[k] : "ready\n");
                oc_buf_printf(&text, "%s%s", a, line[k]);
            }
            struct oc_profile *p = read_text(text.data);
            assert_int_equal(p->n_rec, 2);
            assert_true(p->imported_ns == 3e6);
            const char *several = t_finding(p, "W-several-profiles");
            assert_true(other ? several && strstr(several, "only those with the label") : !several);
            oc_profile_close(p);
            oc_buf_free(&text);
        }
}

/* Lines that are known anywhere in a line: the label is not part of the name, and other processes are not added. */
static void lines_after_labels_are_those_of_one_process(void **state)
{
#define PC(NAME, US) NAME "  EXECUTED  layerType: Relu  realTime: " US "  cpu: " US "  execType: jit\n"
    (void)state;
    struct oc_profile *p = read_text(
        "[0] " PC("a", "1") "[1] " PC("a", "1") "[0] " PC("b", "2") "[1] " PC("b", "2") "[1] end\n[0] end\n");
    assert_int_equal(p->n_rec, 2);
    assert_true(t_rec(p, "a")->total_ns == 1e3 && t_rec(p, "b")->total_ns == 2e3);
    assert_non_null(t_finding(p, "W-several-profiles"));
    oc_profile_close(p);
}

/* Of Android's logcat: an empty line ends the table, and a prefix is not part of names. */
static void lines_after_other_prefixes_are_read_without_them(void **state)
{
#define LOG "05-31 10:31:14.023   767 11767 I tflite  : "
    (void)state;
    struct oc_profile *p =
        read_text(LOG "===== Run Order =====\n" LOG "\t[node type]\t[avg ms]\t[times called]\t[Name]\n" LOG
                      "\tCONV_2D\t0.500\t1\tc:1\n" LOG "\n" LOG "Number of nodes executed: 1\n");
    assert_true(p->n_rec == 1 && p->runs_total == 1); /* a mean run: their number is below the table */
    assert_null(t_finding(p, "W-row"));
    oc_profile_close(p);
    p = read_text("10:00:00 " PC("a", "1") "10:00:01 " PC("b", "2") "10:00:02 end\n");
    assert_true(p->n_rec == 2 && t_rec(p, "a")->total_ns == 1e3);
    oc_profile_close(p);
}

static void tables_of_pytorch_that_cannot_be_read_say_why(void **state)
{
    static const struct {
        const char *text, *message;
    } of[] = {{"-----  -----  -----  -----  -----  -----\n"
               "Name          CPU time        CUDA time            Calls        CPU total       CUDA total\n"
               "-----  -----  -----  -----  -----  -----\n"
               "Conv2d       10.000us          0.000us                2         20.000us          0.000us\n",
               "has no self times, as early versions of PyTorch"},
              {TITLE "add  2.000ms  4.000ms  4.000ms\n", "is not between lines of dashes"},
              {RULE TITLE RULE RULE, "print it with prof.key_averages().table(row_limit=-1)"},
              {RULE TITLE RULE "add  x  x  x\n", "print it with prof.key_averages().table(row_limit=-1)"}};
    (void)state;
    for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++) {
        struct oc_err err = {0};
        assert_null(t_profile_text(of[i].text, NULL, &err));
        if (!strstr(err.msg, of[i].message))
            fail_msg("%zu: %s", i, err.msg);
    }
}

/* ---- oneDNN, ONNX Runtime Web, rocprof, unitrace ----------------------------------------------------- */

/* dnnl_sgemm() prints no auxiliary field; a primitive without one is damaged. */
static void calls_of_gemm_in_onednn_are_products(void **state)
{
#define GEMM "undef,src_f32::blocked:ab:f0 wei_f32::blocked:ab:f0 dst_f32::blocked:ab:f0,,1x64:64x32,0.25\n"
    (void)state;
    struct oc_profile *p =
        read_text("onednn_verbose,exec,cpu,gemm_api,," GEMM "onednn_verbose,exec,cpu,gemm_api,," GEMM
                  "onednn_verbose,exec,cpu,matmul,jit," GEMM);
    const struct oc_prof_rec *rec = t_rec(p, "gemm_api 1x64:64x32");
    assert_true(p->n_rec == 1 && rec && rec->calls == 2 && rec->total_ns == 500e3);
    assert_string_equal(rec->op_type, "MatMul");
    assert_int_equal(rec->in[1].shape.dim[1].v, 32);
    assert_non_null(strstr(t_finding(p, "W-row"), "1 lines are damaged"));
    oc_profile_close(p);
}

static void kernels_of_the_web_without_a_bar_have_type_and_name(void **state)
{
    (void)state;
    struct oc_profile *p =
        read_text("[profiling] kernel \"[Split] 512\" input[0]: 1,2, execution time: 40 ns\n"
                  "[profiling] kernel \"[Concat] 523\" execution time: 50 ns\n"
                  "[profiling] kernel \"Gather\" execution time: 7 ns\n");
    assert_int_equal(p->n_rec, 3);
    assert_true(t_rec(p, "512")->time_ns == 40 && t_rec(p, "Gather")->time_ns == 7);
    assert_string_equal(t_rec(p, "523")->op_type, "Concat");
    oc_profile_close(p);
}

/* pmc_kernel_top.csv of rocprof-compute and Omniperf: the unit is in the header. */
static void top_kernels_of_rocprof_compute_are_read(void **state)
{
    static const char *const head[] = {"Kernel_Name,Count,Sum(us),Mean(us),Median(us),Pct\n",
                                       "KernelName,Count,Sum(us),Mean(us),Median(us),Pct\n"};
    struct oc_err err = {0};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        char text[200];
        snprintf(text, sizeof(text), "%s\"gemm(float*, int)\",3,4.5,1.5,1.5,90.0\nfill,1,0.5,0.5,0.5,10.0\n",
                 head[i]);
        struct oc_profile *p = read_text(text);
        const struct oc_prof_rec *rec = t_rec(p, "gemm(float*, int)");
        assert_string_equal(p->format, "rocprof");
        assert_true(rec && rec->calls == 3 && p->n_rec == 2);
        assert_true(fabs(p->imported_kernel_ns - 5e3) < 1e-6);
        oc_profile_close(p);
    }
    assert_null(t_profile_text("Kernel_Name,Count,Sum,Mean,Median,Pct\nf,1,2,2,2,100\n", NULL, &err));
    assert_non_null(strstr(err.msg, "column 'Sum' has no unit of time"));
}

/* A README: a table ends where its rows end, "..." stands for rows, and only the first table with rows is read. */
static void tables_of_rocprof_are_found_in_text(void **state)
{
#define STATS "\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\"\n"
    (void)state;
    struct oc_profile *p =
        read_text("# A page\n```\n" STATS "```\n" STATS "\"gemm(int, int)\",2,300,150,75.0\n...\n"
                  "\"fill\",1,100,100,25.0\n```\nFirst, second, third, and fourth words.\n" STATS
                  "\"HIP_API\",9,5000,555,100.0\n");
    assert_string_equal(p->format, "rocprof");
    assert_true(p->n_rec == 2 && p->imported_kernel_ns == 400);
    assert_non_null(strstr(t_finding(p, "W-several-profiles"), "2 recordings, at lines 5 and 11"));
    assert_non_null(strstr(t_finding(p, "W-rows"), "'...'"));
    oc_profile_close(p);
    p = read_text("\"Kernel_Name\",\"Start_Timestamp\",\"End_Timestamp\"\n\"f\",10,30\n\n\"f\",40,70\n" STATS
                  "\"g\",1,7,7,100.0\n");
    assert_true(p->n_rec == 1 && p->imported_kernel_ns == 50);
    assert_non_null(t_finding(p, "W-several-profiles"));
    oc_profile_close(p);
    p = read_text(STATS "\"f\",2,300,150,75.0\n\"g\",1,100,100,25.0\n");
    assert_true(p->n_rec == 2 && p->diags.n == 0);
    oc_profile_close(p);
    assert_null(t_profile_text(STATS "\"f\",2,oops,150,75.0\n", NULL, &(struct oc_err){0}));
#undef STATS
}

/* Of two tables the one with work of the device is read, wherever it is; calls alone are host time. */
static void printed_tables_of_calls_give_way_to_kernels(void **state)
{
#define V3                                                                                                   \
    "| NAME | DOMAIN | CALLS | DURATION (nsec) | MIN (nsec) | MAX (nsec) "                                   \
    "|\n|------|-----|----|------|----|----|\n"
#define CALLS                                                                                                \
    V3 "| hipMalloc | HIP_API | 2 | 900 | 400 | 500 |\n| hsa_init | HSA_API | 1 | 700 | 700 | 700 |\n"
#define KERNELS                                                                                              \
    "| f(int, int) | KERNEL_DISPATCH | 2 | 300 | 100 | 200 |\n| MEMORY_COPY_HOST_TO_DEVICE | MEMORY_COPY | " \
    "1 | 50 | 50 | 50 |\n"
#define UNITRACE(NAME)                                                                                       \
    "\n        " NAME ",  Calls,  Time (ns), Time (%), Average (ns),  Min (ns),  Max (ns)\n"
    (void)state;
    struct oc_profile *p =
        read_text("ROCPROFV3 HIP_API SUMMARY:\n" CALLS "ROCPROFV3 SUMMARY:\n" CALLS KERNELS);
    assert_string_equal(p->format, "rocprof");
    assert_true(p->imported_kernel_ns == 350);
    assert_non_null(t_rec(p, "f(int, int)"));
    assert_true(t_rec(p, "f(int, int)")->time_ns == 300);
    assert_true(!t_rec(p, "hipMalloc") && t_rec(p, "MEMORY_COPY_HOST_TO_DEVICE")->bucket && p->diags.n == 0);
    oc_profile_close(p);
    p = read_text(CALLS);
    assert_true(p->n_rec == 1 && p->imported_ns == 900 && isnan(p->imported_kernel_ns));
    oc_profile_close(p);
    p = read_text("=== API Timing Summary ===\n" UNITRACE(
        "Function") "  zeFence, 2, 700, 70.0, 350, 300, 400\n...\n"
                    "=== Device Timing Summary ===\n Total Execution Time (ns): 214649009\n" UNITRACE(
                        "Kernel") "\"run(float, int)::gemm\", 4, 600, 95.24, 150, 100, 200\n"
                                  "  \"zeCommandListAppendMemoryCopy(M2D)\", 1, 30, 4.76, 30, 30, 30\n\n=== "
                                  "Kernel Properties ===\n\n"
                                  "   Kernel, Compiled, SIMD, Number of Arguments\n\"run(float, "
                                  "int)::gemm\", JIT, 32, 4\n");
    assert_string_equal(p->format, "unitrace");
    assert_true(p->imported_kernel_ns == 630 && t_rec(p, "run(float, int)::gemm")->calls == 4);
    assert_true(t_rec(p, "zeCommandListAppendMemoryCopy(M2D)")->bucket && p->diags.n == 0);
    oc_profile_close(p);
    p = read_text(UNITRACE("Function") "  zeFence, 2, 700, 70.0, 350, 300, 400\n");
    assert_true(p->imported_ns == 700 && isnan(p->imported_kernel_ns));
    oc_profile_close(p);
}

/* ---- MNN, RKNN, ggml ---------------------------------------------------------------------------------- */

/* Operators are means of the runs, and "Avg=" ends a recording. */
static void operators_of_mnn_have_their_mean_of_a_run(void **state)
{
#define MNN(NAME, MS) NAME " run 10 average cost " MS " ms, 0.309 %, FlopsRate: 1.763 %\n"
    (void)state;
    struct oc_profile *p = read_text(
        "precision:2, Run 10 time:\n" MNN("  /a/Conv_output_0 \t[Convolution]", "0.5")
            MNN("b", "0.25") "d run average cost 1 ms, FlopsRate: 1 %\n" MNN(
                "c \t[Raster]", "x") "Avg= 0.600000 ms, OpSum = 0.75 ms\n" MNN("b", "9.0") "Avg= 9.0 ms\n");
    const struct oc_prof_rec *conv = t_rec(p, "/a/Conv_output_0"), *old = t_rec(p, "b");
    assert_true(p->n_rec == 2 && p->runs_total == 10 && fabs(p->run_ns - 600e3) < 1e-3);
    assert_true(fabs(conv->time_ns - 500e3) < 1e-3 && fabs(old->time_ns - 250e3) < 1e-3);
    assert_string_equal(conv->op_type, "Convolution");
    assert_non_null(strstr(t_finding(p, "W-row"), "2 lines are damaged"));
    assert_non_null(t_finding(p, "W-several-profiles"));
    oc_profile_close(p);
}

/* The table has no number of runs, but its rows are means of one. */
static void tables_of_mnn_are_a_mean_run(void **state)
{
    (void)state;
    struct oc_profile *p =
        read_text("Sort by node name !\nNode Name \tOp Type \tAvg(ms) \t% \tFlops Rate \t\n"
                  "Conv2  \tConvolution \t0.250000 \t70.0 \t0.9 \t\n"
                  "339    \tBinaryOp    \tx \t20.0 \t0.1 \t\n"
                  "out    \tPooling     \t0.050000 \t10.0 \t0.1 \t\nPrint <=20 slowest\n\n"
                  "Node Type \tAvg(ms) \t% \tCalled times \tFlops Rate \t\n"
                  "Convolution \t0.250000 \t70.0 \t1.0 \t0.9 \t\ntotal time : 0.3 ms\n");
    assert_true(p->n_rec == 2 && p->runs_total == 1 && fabs(t_rec(p, "Conv2")->time_ns - 250e3) < 1e-3);
    assert_string_equal(t_rec(p, "out")->op_type, "Pooling");
    assert_non_null(strstr(t_finding(p, "W-row"), "1 lines are damaged"));
    assert_null(t_finding(p, "W-several-profiles"));
    oc_profile_close(p);
}

#define RKNN_LINES                                                                                           \
    "D RKNN: [15:13:15.9] ID OpType DataType Target InputShape OutputShape Cycles(DDR/NPU/Total) RW(KB) "    \
    "FullName\n"                                                                                             \
    "D RKNN: [15:13:15.9] 1 Conv INT8 NPU (1,3) (1,9) 1/2/2 700 Conv:no_time\n"                              \
    "ID   OpType       DataType Target InputShape     OutputShape  DDR Cycles   NPU Cycles  Max Cycles  "    \
    "Time(us)  Mac   WorkLoad(0/1)-ImproveTherical  FullName\n"                                              \
    "1    ConvRelu     INT8     NPU    (1,3),(9,3)    (1,9)        1            2           2           "    \
    "0         \\     0.0%/0.0% - Up:0.0%            Conv:built\n\n"                                         \
    "---------- Network Layer Information Table\n"                                                           \
    "ID   OpType       DataType Target InputShape     OutputShape  Cycles(DDR/NPU/Total)  Time(us)  "        \
    "MacUsage(%)  WorkLoad(0/1/2)   RW(KB)  FullName\n----------\n"                                          \
    "1    InputOperator UINT8   CPU    \\              (1,3)        0/0/0                  4         \\   "  \
    "         0.0%/0.0%/0.0%    0       InputOperator:x\n"                                                   \
    "2    ConvExSwish  INT8     NPU    (1,3),(9,3)    (1,9)        1/2/2                  4041      "        \
    "4.35/0/0     100.0%/0.0%/0.0%  10      Conv:/m:0/conv/Conv\n"                                           \
    "3    ConvRelu     FLOAT16  NPU    (1,9),...      (1,9)        1/2/2                  955       "        \
    "4.35/0/0     100.0%/0.0%/0.0%  10      conv1\n"

/* Tables without times, or with 0, are of the conversion. A layer is its node in the model. */
static void layers_of_rknn_have_the_names_of_nodes(void **state)
{
    (void)state;
    struct oc_profile *p = read_text(
        RKNN_LINES "----------\nTotal Operator Elapsed Per Frame Time(us): 5010\n"
                   "OpType CallNumber CPUTime(us) GPUTime(us) NPUTime(us) TotalTime(us) TimeRatio(%)\n"
                   "ConvExSwish 1 0 0 4041 4041 80.00%\n");
    const struct oc_prof_rec *conv = t_rec(p, "/m:0/conv/Conv"), *in = t_rec(p, "x");
    assert_true(p->n_rec == 3 && p->runs_total == 1 && p->run_ns == 5010e3);
    assert_true(conv->time_ns == 4041e3 && conv->in[0].dtype == OC_DT_INT8 && !conv->in[0].shape.ranked);
    assert_string_equal(conv->op_type, "Conv");
    assert_string_equal(conv->provider, "NPU");
    assert_string_equal(in->overhead, "copies");
    assert_string_equal(t_rec(p, "conv1")->op_type, "ConvRelu");
    assert_null(t_finding(p, "W-row"));
    assert_null(t_finding(p, "W-several-profiles"));
    oc_profile_close(p);
}

static void later_tables_and_damaged_layers_of_rknn_are_reported(void **state)
{
    (void)state;
    struct oc_profile *p =
        read_text(RKNN_LINES "4 Add INT8 NPU (1,9)\nW RKNN: end\n5 Add INT8 NPU (1) (1) 1 2 3 4 5\n"
                             "Total Operator Elapsed Time(us): 1\n" RKNN_LINES);
    assert_true(p->n_rec == 3 && t_rec(p, "conv1")->calls == 1);
    assert_non_null(strstr(t_finding(p, "W-row"), "1 lines are damaged"));
    assert_non_null(t_finding(p, "W-several-profiles"));
    oc_profile_close(p);
    struct oc_err err = {0};
    assert_null(t_profile_text(
        "ID OpType DataType Target A B C(1/2) Time(us) FullName\n1 Conv INT8 NPU 1 2 3 0 Conv:c\n", NULL,
        &err));
    assert_non_null(strstr(err.msg, "contains no time"));
}

/* The second graph has other lengths; the total of a line may be missing. */
static void graphs_of_ggml_are_added(void **state)
{
    (void)state;
    struct oc_profile *p =
        read_text("ADD: 3 x 100 us\n----------------\nVulkan Timings:\n"
                  "MUL_MAT q4_K m=64 n=1 k=32: 24 x 120.5 us = 2892 us (12.5 GFLOPS/s)\n"
                  "RMS_NORM(64,1,1,1), MUL: 4 x 1e+03 us = 4000 us\nGLU: 2 x y us\n"
                  "CONV_2D M=Cout=2, K=Cin*KW*KH=3: 1 x 8 us\nTotal time: 6900 us.\nADD: 1 x 1 us\n"
                  "Vulkan Timings:\nRMS_NORM(64,1,1,1), MUL: 1 x 500 us = 500 us\n");
    const struct oc_prof_rec *mul = t_rec(p, "MUL_MAT q4_K m=64 n=1 k=32"),
                             *norm = t_rec(p, "RMS_NORM(64,1,1,1), MUL");
    assert_true(p->n_rec == 3 && p->runs_total == 0 && norm->calls == 5);
    assert_true(fabs(mul->time_ns - 2892e3) < 1e-3 && fabs(norm->time_ns - 4500e3) < 1e-3);
    assert_true(fabs(mul->flop - 12.5 * 2892e3) < 1 && isnan(norm->flop));
    assert_string_equal(mul->op_type, "MUL_MAT");
    assert_string_equal(norm->op_type, "RMS_NORM");
    assert_non_null(t_rec(p, "CONV_2D M=Cout=2, K=Cin*KW*KH=3"));
    assert_non_null(strstr(t_finding(p, "W-row"), "1 lines are damaged"));
    oc_profile_close(p);
}

/* Toolkit 1 wraps names; its types follow the layers, or come without them, with the time of a run. */
static void other_tables_of_rknn_are_read(void **state)
{
#define RKNN_TYPES                                                                                           \
    "OpType             CallNumber   CPUTime(us)  GPUTime(us)  NPUTime(us)  TotalTime(us)  TimeRatio(%)\n"   \
    "-------------------\nConvExSwish        2            0            0            90           90        " \
    "     "                                                                                                  \
    "70.00%\nReshape            5            30           0            7            37             "         \
    "30.00%\n-----\n"
#define RKNN_TOTAL "Total                           30           0            97           127\n"
    (void)state;
    struct oc_profile *p = read_text(
        "Layer ID    Name                                         Operator            Uid       Time(us)\n"
        "0           net/Conv2d_0/Relu6_1                         TENSOR_TRANS        60        361\n"
        "            _RKNN_mark_perm_60_0                                                       \n"
        "2           net/Conv2d_0/Relu6_1_2                       CONVOLUTION         1         920\n"
        "Total Time(us): 1290\nFPS(800MHz): 700\n" RKNN_TYPES);
    const struct oc_prof_rec *perm = t_rec(p, "net/Conv2d_0/Relu6_1_RKNN_mark_perm_60_0");
    assert_true(p->n_rec == 2 && p->runs_total == 1 && p->run_ns == 1290e3);
    assert_true(perm && perm->kernel_ns == 361e3 && !t_finding(p, "W-several-profiles"));
    assert_string_equal(t_rec(p, "net/Conv2d_0/Relu6_1_2")->op_type, "CONVOLUTION");
    oc_profile_close(p);
    p = read_text("D RKNN: [05:07:06.5] " RKNN_TYPES RKNN_TOTAL);
    assert_true(p->n_rec == 2 && p->run_ns == 127e3 && p->imported_kernel_ns == 90e3 &&
                p->imported_ns == 37e3);
    assert_true(t_rec(p, "ConvExSwish")->calls == 2 && !t_finding(p, "W-row"));
    oc_profile_close(p);
    p = read_text("| OpType | CallNumber | NPUTime(us) | TotalTime(us) |\n|---|---|---|---|\n| Conv | 2 | 8 "
                  "| 9 |\n\n" RKNN_TYPES);
    assert_true(p->n_rec == 1 && t_rec(p, "Conv")->kernel_ns == 9e3 && t_finding(p, "W-several-profiles"));
    oc_profile_close(p);
    p = read_text(RKNN_LINES "\n" RKNN_TYPES RKNN_TOTAL);
    assert_true(p->n_rec == 3 && !p->runs_total && !t_finding(p, "W-several-profiles"));
    oc_profile_close(p);
    assert_null(
        t_profile_text("Layer ID    Name    Uid\n0           net     1\n", NULL, &(struct oc_err){0}));
}

/* The first table has all operators, the one by time ten of them again; types alone are a recording too. */
static void operators_of_mace_are_read_once(void **state)
{
#define MACE_HEAD "I s.cc:1] | Op Type | Start | Avg(ms) | GMACPS | Output Shape | name |\nI s.cc:1] -----\n"
#define MACE_TYPES                                                                                           \
    "I s.cc:1] |   Op Type | Count | Avg(ms) | MACs | Called times |\nI s.cc:1] | Conv2D |  2 | 3.000 | "    \
    "1,234 | 4 |\n"                                                                                          \
    "I s.cc:1] | Pool | 1 | x | 0 | 1 |\nI s.cc:1] -----\n"
    (void)state;
    struct oc_profile *p = read_text(
        "| round | first(ms) | avg(ms) |\n| 5 | 9.0 | 8.0 |\nI s.cc:1]  Sort by Run Order\n" MACE_HEAD
        "I s.cc:1] | Conv2D | 0.0 | 1.500 | 6.9 | [1,3] | a/Relu |\nI s.cc:1] | Conv2D | 1.5 | 1.250 | 6.9 | "
        "[1,3] | b |\n"
        "I s.cc:1] -----\nI s.cc:1]  Sort by Computation Time\n" MACE_HEAD
        "I s.cc:1] | Conv2D | 0.0 | 1.500 | 6.9 | [1,3] | a/Relu |\n" MACE_TYPES
        "I s.cc:1] | round | first(ms) | avg(ms) |\nI s.cc:1] | 100 | 9.0 | 2.800 |\n");
    assert_string_equal(p->format, "mace");
    assert_true(p->n_rec == 2 && fabs(t_rec(p, "a/Relu")->time_ns - 1.5e6) < 1e-3);
    assert_true(p->runs_total == 100 && fabs(p->run_ns - 2.8e6) < 1e-3 && p->diags.n == 0);
    oc_profile_close(p);
    p = read_text(MACE_TYPES "# GPU\n" MACE_TYPES);
    assert_true(p->n_rec == 1 && t_rec(p, "Conv2D")->calls == 4 && fabs(p->imported_ns - 3e6) < 1e-3);
    assert_non_null(strstr(t_finding(p, "W-row"), "1 lines are damaged"));
    assert_non_null(strstr(t_finding(p, "W-several-profiles"), "2 recordings"));
    oc_profile_close(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_litert_that_ran_in_a_part_of_the_runs_have_their_share),
        cmocka_unit_test(types_of_tensorflow_are_read_without_the_run_order),
        cmocka_unit_test(rows_of_litert_with_a_share_of_0_are_one_call),
        cmocka_unit_test(rows_of_litert_with_an_unknown_number_of_calls_are_left_out),
        cmocka_unit_test(cells_of_nvprof_with_units_are_times),
        cmocka_unit_test(page_migrations_of_nvprof_do_not_count),
        cmocka_unit_test(cells_of_nvprof_without_a_unit_are_errors),
        cmocka_unit_test(rows_of_pytorch_without_calls_are_events),
        cmocka_unit_test(times_of_the_gpu_that_contain_those_of_the_cpu_are_not_read),
        cmocka_unit_test(totals_of_the_gpu_are_not_times_of_its_work),
        cmocka_unit_test(emphasized_cells_of_pytorch_are_read),
        cmocka_unit_test(a_table_of_one_of_several_processes_is_read),
        cmocka_unit_test(lines_after_labels_are_those_of_one_process),
        cmocka_unit_test(lines_after_other_prefixes_are_read_without_them),
        cmocka_unit_test(tables_of_pytorch_that_cannot_be_read_say_why),
        cmocka_unit_test(a_model_that_deepspeed_did_not_time_has_the_stated_latency),
        cmocka_unit_test(dicts_of_flops_profiler_have_the_time_outside_of_submodules),
        cmocka_unit_test(calls_of_gemm_in_onednn_are_products),
        cmocka_unit_test(kernels_of_the_web_without_a_bar_have_type_and_name),
        cmocka_unit_test(top_kernels_of_rocprof_compute_are_read),
        cmocka_unit_test(tables_of_rocprof_are_found_in_text),
        cmocka_unit_test(printed_tables_of_calls_give_way_to_kernels),
        cmocka_unit_test(operators_of_mnn_have_their_mean_of_a_run),
        cmocka_unit_test(tables_of_mnn_are_a_mean_run),
        cmocka_unit_test(layers_of_rknn_have_the_names_of_nodes),
        cmocka_unit_test(later_tables_and_damaged_layers_of_rknn_are_reported),
        cmocka_unit_test(other_tables_of_rknn_are_read),
        cmocka_unit_test(operators_of_mace_are_read_once),
        cmocka_unit_test(graphs_of_ggml_are_added),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
