#include "profile/profile.h"
#include "onnxcost.h"
#include "support/profiles.h"
#include "onnxcost/profile.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

extern const struct oc_importer oc_importer_ncu;

static void assert_conserved(const struct oc_profile *p)
{
    struct oc_conserved c;
    oc_profile_conserved(p, true, &c);
    if (!(fabs(c.lost_ns) < 1))
        fail_msg("of %f ns %f are lost", c.imported_ns, c.lost_ns);
}

static struct oc_profile *read_text(const char *text)
{
    struct oc_profile_opts opts = {0};
    struct oc_peek peek = {.path = "", .data = text, .n = strlen(text)};
    struct oc_profile *p;
    struct oc_bid bid = {0};
    struct oc_err err = {0};
    oc_importer_ncu.probe(&peek, &bid);
    assert_true(bid.score >= 80);
    if (oc_profile_from_mem(&oc_importer_ncu, text, strlen(text), &opts, &p, &err))
        fail_msg("%s", err.msg);
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

static void assert_near(double got, double want)
{
    if (!(fabs(got - want) <= 1e-9 * fabs(want)))
        fail_msg("%.17g is not %.17g", got, want);
}

#define HEAD "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\","
#define TAIL "\"Context\",\"Stream\",\"Block Size\",\"Grid Size\",\"Device\",\"CC\","
#define ROW(id, kernel)                                                                                      \
    "\"" id "\",\"7\",\"p\",\"h\",\"" kernel "\",\"1\",\"3\",\"(1, 1, 1)\",\"(1, 1, 1)\",\"0\",\"8.0\","

/* ---- details ---- */

/* The same time in each unit that ncu writes: 1205 ns. */
static void reads_all_time_units(void **state)
{
    (void)state;
    static const char *const written[][2] = {
        {"nsecond", "1,205.00"}, {"ns", "1,205"},    {"usecond", "1.205"},     {"us", "1.205"},
        {"msecond", "0.001205"}, {"ms", "0.001205"}, {"second", "0.000001205"}};
    for (size_t i = 0; i < sizeof(written) / sizeof(written[0]); i++) {
        char text[1000];
        snprintf(
            text, sizeof(text),
            "some output, \"of the\" program\n==PROF== Connected\n" HEAD "\"Kernel Name\"," TAIL
            "\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n" ROW(
                "0",
                "f") "\"GPU Speed Of Light Throughput\",\"Duration\",\"%s\",\"%s\"\n==PROF== Disconnected\n",
            written[i][0], written[i][1]);
        struct oc_profile *p = read_text(text);
        assert_near(find(p, "f")->time_ns, 1205);
        oc_profile_close(p);
    }
}

/* The same metric name is a percentage in one section and a rate in another: 400 Gbyte/s during 10 us are
 * 4,000,000 bytes. Launch 1 has no duration. */
static void metrics_are_distinguished_by_section(void **state)
{
    (void)state;
    struct oc_profile *p = read_text(
        HEAD
        "\"Kernel Name\"," TAIL "\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\",\"Rule "
        "Name\"\n" ROW("0", "f") "\"GPU Speed Of Light Throughput\",\"Memory "
                                 "Throughput\",\"%\",\"45.70\",\"\"\n" ROW(
                                     "0", "f") "\"GPU Speed Of Light "
                                               "Throughput\",\"Duration\",\"us\",\"10\",\"\"\n"
                                               "==WARNING== something, happened\n" ROW(
                                                   "0", "f") "\"Memory Workload "
                                                             "Analysis\",\"Memory "
                                                             "Throughput\",\"Gbyte/"
                                                             "s\",\"400\",\"\"\n" ROW(
                                                                 "1", "g") "\"Memory Workload "
                                                                           "Analysis\",\"Memory "
                                                                           "Throughput\",\"Gbyte/"
                                                                           "s\",\"400\",\"\"\n" ROW(
                                                                               "2", "f") "\"GPU "
                                                                                         "Speed Of "
                                                                                         "Light "
                                                                                         "Throughput"
                                                                                         "\","
                                                                                         "\"Duration"
                                                                                         "\",\"us\","
                                                                                         "\"n/"
                                                                                         "a\","
                                                                                         "\"\""
                                                                                         "\n" ROW("2",
                                                                                                  "f") "\"GPU"
                                                                                                       " Spee"
                                                                                                       "d Of "
                                                                                                       "Light"
                                                                                                       " Thro"
                                                                                                       "ughpu"
                                                                                                       "t\","
                                                                                                       "\"Dur"
                                                                                                       "ation"
                                                                                                       "\","
                                                                                                       "\"us"
                                                                                                       "\","
                                                                                                       "\"30"
                                                                                                       "\","
                                                                                                       "\"\""
                                                                                                       "\n");
    assert_int_equal(p->n_rec, 1);
    assert_near(p->rec[0].time_ns, 40000);
    assert_int_equal(p->rec[0].calls, 2);
    assert_near(p->kernel[0].bytes, 4000000); /* of the launch that has it */
    assert_near(p->kernel[0].counters->v[OC_CTR_DRAM_BYTES], 4000000);
    assert_true(isnan(p->kernel[0].flop));
    oc_profile_close(p);
}

/* The last of several ranges is the innermost; domains and ids are not part of the name; a range of the run
 * names no operator. */
static void innermost_nvtx_range_names_the_record(void **state)
{
    (void)state;
    static const char head[] =
        HEAD "\"thread Domain:Push/Pop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg\","
             "\"Id:Domain:Start/Stop_Range:PL_Type:PL_Value\",\"Kernel Name\",\"Kernel "
             "Time\",\"Context\",\"Stream\","
             "\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n";
    static const struct {
        const char *push_pop, *start_stop, *name;
    } cell[] = {
        {"", " \"\"0:<default domain>:linear:none:none\"\" ", "linear"},
        {" \"\"12:TensorRT:ExecutionContext::enqueue:none:none:none:none:none:none\"\" "
         "\"\"12:TensorRT:Conv_0 + Relu_1:none:none:none:none:none:none\"\" ",
         "", "Conv_0 + Relu_1"},
        {" \"\"<default domain>:Conv.3(/a/Conv):none:none:none:none:none:none\"\" ",
         " \"\"0:x:y:none:none\"\" ", "/a/Conv"},
        {" \"\"12:TensorRT:ExecutionContext::enqueue:none:none:none:none:none:none\"\" ", "", "f"},
        {"", "", "f"},
    };
    for (size_t i = 0; i < sizeof(cell) / sizeof(cell[0]); i++) {
        char text[2000];
        snprintf(text, sizeof(text),
                 "%s\"0\",\"7\",\"p\",\"h\",\"%s\",\"%s\",\"f\",\"2024-Jul-13 "
                 "19:18:31\",\"1\",\"13\",\"Command line profiler "
                 "metrics\",\"gpu__time_duration.sum\",\"nsecond\",\"50\"\n",
                 head, cell[i].push_pop, cell[i].start_stop);
        struct oc_profile *p = read_text(text);
        assert_int_equal(p->n_rec, 1);
        assert_string_equal(p->rec[0].name, cell[i].name);
        assert_near(p->rec[0].time_ns, 50);
        oc_profile_close(p);
    }
}

/* ---- raw page ---- */

#define OPS(p)                                                                                               \
    "\"smsp__sass_thread_inst_executed_op_" p "add_pred_on.sum\",\"smsp__sass_thread_inst_executed_op_" p    \
    "fma_pred_on.sum\",\"smsp__sass_thread_inst_executed_op_" p "mul_pred_on.sum\""

/* f: 1000 + 3 + 2 * 50 single, 7 + 0 + 2 * 4 half, and 1e6 of the tensor cores, counted twice (sm and smsp)
 * and a third time by sparsity. Bytes 2.5e6 + 500. g: one tensor pipe instruction on an 8.0 chip: unknown. */
static void counters_are_summed_without_double_counting(void **state)
{
    (void)state;
    struct oc_profile *p = read_text(
        HEAD
        "\"Kernel Name\"," TAIL
        "\"gpu__time_duration.sum\",\"dram__bytes_read.sum\",\"dram__bytes_write.sum\","
        "\"lts__t_bytes.sum\"," OPS("f") "," OPS(
            "h") ",\"sm__ops_path_tensor_src_fp16_dst_fp32.sum\","
                 "\"sm__ops_path_tensor_src_fp16_dst_fp32_sparsity_off.sum\",\"smsp__ops_path_tensor_src_"
                 "fp16_dst_fp32.sum\","
                 "\"sm__inst_executed_pipe_tensor.sum\",\"sm__pipe_tensor_cycles_active.avg.pct_of_peak_"
                 "sustained_active\"\n"
                 "\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"us\",\"Mbyte\",\"byte\",\"Kbyte\","
                 "\"inst\",\"inst\",\"inst\",\"inst\","
                 "\"inst\",\"inst\",\"\",\"\",\"\",\"inst\",\"%\"\n" ROW(
                     "0", "f") "\"2.5\",\"2.5\",\"500\",\"3\",\"1,000\",\"50\",\"3\",\"7\",\"4\",\"0\",\"1,"
                               "000,000\",\"1,000,000\","
                               "\"1,000,000\",\"100\",\"25\"\n" ROW(
                                   "1", "g") "\"1\",\"1\",\"0\",\"n/"
                                             "a\",\"0\",\"0\",\"0\",\"0\",\"0\",\"0\",\"n/a\",\"n/a\",\"n/"
                                             "a\",\"1\",\"0.5\"\n" ROW("2",
                                                                       "h") "\"1\",\"1\",\"0\",\"n/"
                                                                            "a\",\"5\",\"0\",\"0\",\"0\","
                                                                            "\"0\",\"0\",\"n/a\",\"n/a\",\"n/"
                                                                            "a\",\"0\",\"0\"\n");
    const struct oc_prof_rec *f = find(p, "f");
    assert_near(f->time_ns, 2500);
    assert_near(f->bytes, 2500500);
    assert_near(f->flop, 1103 + 15 + 1000000);
    assert_near(p->kernel[0].counters->v[OC_CTR_FLOP_F32], 1103);
    assert_near(p->kernel[0].counters->v[OC_CTR_FLOP_F16], 15);
    assert_near(p->kernel[0].counters->v[OC_CTR_L2_BYTES], 3000);
    assert_near(p->kernel[0].counters->v[OC_CTR_TENSOR_ACTIVE], 0.25);
    assert_true(isnan(p->kernel[0].counters->v[OC_CTR_FLOP_F64]));
    assert_true(isnan(find(p, "g")->flop));
    assert_near(find(p, "h")->flop, 5);
    oc_profile_close(p);
}

/* ---- text ---- */

static void reads_the_printed_page(void **state)
{
    (void)state;
    struct oc_profile *p =
        read_text("==PROF== Profiling \"f\" - 1: 0%....50%....100% - 8 passes\n[4711] python3@127.0.0.1\n"
                  "  void f<1, 2>(int, float *), 2024-Jul-13 20:38:34, Context 1, Stream 7\n\n"
                  "    NVTX Start/End Ranges:\n      <default domain>\n        <0,outer>\n"
                  "    NVTX Push/Pop Stack for Thread 1:\n      TensorRT\n        "
                  "<0,ExecutionContext::enqueue>\n        <1,Conv_0>\n"
                  "    Section: Command line profiler metrics\n"
                  "    ---------------------- --------------- ------------\n"
                  "    gpu__time_duration.sum         usecond        3.420\n"
                  "    dram__bytes.sum                  Kbyte     1,024.50\n"
                  "    ---------------------- --------------- ------------\n\n"
                  "  g (8, 1, 1)x(32, 1, 1), Context 1, Stream 7, Device 0, CC 8.0\n"
                  "    Section: GPU Speed Of Light Throughput\n"
                  "    ----------------- ----------- ------------\n"
                  "    Metric Name       Metric Unit Metric Value\n"
                  "    ----------------- ----------- ------------\n"
                  "    Duration              usecond         1.50\n"
                  "    Memory Throughput           %        45.70\n"
                  "    ----------------- ----------- ------------\n\n"
                  "    Section: Memory Workload Analysis\n"
                  "    ----------------- ----------- ------------\n"
                  "    Memory Throughput     Gbyte/s         2.00\n"
                  "    ----------------- ----------- ------------\n");
    const struct oc_prof_rec *conv = find(p, "Conv_0");
    assert_near(conv->time_ns, 3420);
    assert_near(conv->bytes, 1024500);
    assert_string_equal(conv->provider, "TensorRT");
    assert_string_equal(p->kernel[0].name, "void f<1, 2>(int, float *)");
    assert_string_equal(p->kernel[1].name, "g");
    assert_near(p->kernel[1].time_ns, 1500);
    assert_near(p->kernel[1].bytes, 3000); /* 2e9 bytes/s * 1.5e-6 s */
    oc_profile_close(p);
}

/* The grid may be on a line of its own; metrics without the titles of their sections belong to no launch. */
static void lines_of_a_printed_page_may_be_missing(void **state)
{
#define LAUNCH "  (8, 1, 1)x(32, 1, 1), Context 1, Stream 7, Device 0, CC 8.0\n"
#define RULE   "    --------------- ----------- ------------\n"
#define METRIC RULE "    Duration                 us        99.68\n" RULE
    struct oc_err err = {0};
    (void)state;
    struct oc_profile *p = t_profile_text(
        "  f(float *, int) \n" LAUNCH "    Section: GPU Speed Of Light Throughput\n" METRIC, NULL, &err);
    if (!p)
        fail_msg("%s", err.msg);
    assert_near(find(p, "f(float *, int)")->kernel_ns, 99680);
    oc_profile_close(p);
    assert_null(t_profile_text("==PROF== Profiling \"f\" - 0: 100%\n  f" LAUNCH METRIC, NULL, &err));
    assert_non_null(strstr(err.msg, "1 durations belong to none of the 1 launches"));
}

static void rejects_text_that_is_not_a_report(void **state)
{
    (void)state;
    static const struct {
        const char *text, *why;
    } bad[] = {
        {"==PROF== Connected\nhello\n", "contains no kernel"},
        {"", "contains no kernel"},
        {HEAD "\"Kernel Name\"," TAIL "\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n",
         "contains no kernel"},
        {HEAD "\"Kernel Name\"," TAIL "\"dram__bytes_read.sum\"\n" ROW("0", "f") "\"5\"\n", "has a duration"},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct oc_profile_opts opts = {0};
        struct oc_profile *p;
        struct oc_err err = {0};
        assert_int_equal(
            oc_profile_from_mem(&oc_importer_ncu, bad[i].text, strlen(bad[i].text), &opts, &p, &err), -1);
        if (!strstr(err.msg, bad[i].why))
            fail_msg("'%s' has no '%s'", err.msg, bad[i].why);
    }
}

/* ---- samples ---- */

#define NCU "../shared/samples/ncu/"

/* Sums of gpu__time_duration.sum (Duration), computed outside this program. */
static void sample_reports_match_independent_sums(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        double ns;
        unsigned calls;
        const char *record; /* NULL: kernels are records */
    } samples[] = {
        {"ncu.csv_metrics.nvtx.with_program_output.csv", 8192 + 3584, 2, "linear_nvtx"},
        {"ncu.text.mindspore_gate.txt", 3420 + 3230 + 3200, 3, "Gate_nvtx"},
        {"ncu.text.paddle_linear.txt", 5150 + 3520, 2, "linear_nvtx"},
        {"ncu.text.torch_gcn.txt", 79420, 14, "convLayer"},
        {"page_details.synthetic.csv", 111620 + 14240, 2, NULL},
        {"page_raw.synthetic.csv", 111620 + 14240, 2, NULL},
    };
    if (access(NCU, R_OK)) {
        print_message("SKIPPED: no samples in '" NCU "'\n");
        skip();
    }
    for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
        struct oc_profile *p;
        struct oc_err err = {0};
        char path[200];
        uint64_t calls = 0;
        snprintf(path, sizeof(path), NCU "%s", samples[i].file);
        if (oc_profile_open(path, NULL, &p, &err))
            fail_msg("%s", err.msg);
        assert_string_equal(oc_profile_importer(p), "ncu");
        assert_conserved(p);
        assert_near(p->imported_kernel_ns, samples[i].ns);
        for (uint32_t k = 0; k < p->n_rec; k++)
            calls += p->rec[k].calls;
        assert_int_equal(calls, samples[i].calls);
        if (samples[i].record)
            assert_near(find(p, samples[i].record)->time_ns, samples[i].ns);
        oc_profile_close(p);
    }
}

/* Kernel 1 of the raw page: 1,024 + 4,096 + 2 * 16,777,216 FLOP, 2.05 + 0.13 MB. Kernel 0 ran on the tensor
 * cores of an A100, whose operations were not counted. */
static void sample_counters_are_read(void **state)
{
    (void)state;
    struct oc_profile *p;
    struct oc_err err = {0};
    if (access(NCU, R_OK)) {
        print_message("SKIPPED: no samples in '" NCU "'\n");
        skip();
    }
    if (oc_profile_open(NCU "page_raw.synthetic.csv", NULL, &p, &err))
        fail_msg("%s", err.msg);
    const struct oc_prof_rec *gemm = find(p, "ampere_sgemm_64x32_sliced1x4_tn");
    assert_near(gemm->flop, 33559552);
    assert_near(gemm->bytes, 2180000);
    assert_string_equal(gemm->precision, "f32");
    assert_int_equal(p->n_rec, 2);
    const struct oc_prof_rec *conv = gemm == p->rec ? &p->rec[1] : &p->rec[0];
    assert_true(isnan(conv->flop));
    assert_near(conv->bytes, 44960000);
    oc_profile_close(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_all_time_units),
        cmocka_unit_test(metrics_are_distinguished_by_section),
        cmocka_unit_test(innermost_nvtx_range_names_the_record),
        cmocka_unit_test(counters_are_summed_without_double_counting),
        cmocka_unit_test(reads_the_printed_page),
        cmocka_unit_test(lines_of_a_printed_page_may_be_missing),
        cmocka_unit_test(rejects_text_that_is_not_a_report),
        cmocka_unit_test(sample_reports_match_independent_sums),
        cmocka_unit_test(sample_counters_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
