/* Readers of event formats with small files of their layouts, written down here: nsys JSON, cProfile, QNN optrace,
 * onert, the rest of a trace of ONNX Runtime, folders of Ascend, tables that name devices. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "onnxcost.h"
#include "onnxcost/profile.h"
#include "profile/profile.h"
#include "support/profiles.h"

static struct oc_profile *read_bytes(const void *data, size_t n, const char *format)
{
    struct oc_err err = {0};
    struct oc_profile *p = t_profile_mem(data, n, NULL, &err);
    if (!p)
        fail_msg("%s", err.msg);
    assert_string_equal(p->format, format);
    return p;
}

static struct oc_profile *read_text(const char *text, const char *format)
{
    return read_bytes(text, strlen(text), format);
}

/* ---- nsys stats -f json ----------------------------------------------------------------------------- */

static const char kern_sum[] =
    "[\n  {\"Time (%)\": 75.0, \"Total Time (ns)\": 3000, \"Instances\": 2, \"Avg (ns)\": 1500.0, \"Med "
    "(ns)\": "
    "1500.0, \"Min (ns)\": 1000, \"Max (ns)\": 2000, \"StdDev (ns)\": 500.0, \"Name\": \"gemm<float, 4>\"},\n"
    "  {\"Time (%)\": 25.0, \"Total Time (ns)\": 1000, \"Instances\": 1, \"Avg (ns)\": 1000.0, \"Med (ns)\": "
    "1000.0, \"Min (ns)\": 1000, \"Max (ns)\": 1000, \"StdDev (ns)\": 0.0, \"Name\": \"say "
    "\\\"relu\\\"\"}\n]\n";

static void reports_of_nsys_in_json_are_rows(void **state)
{
    (void)state;
    struct oc_profile *p = read_text(kern_sum, "nsys_csv");
    assert_int_equal(p->n_rec, 2);
    assert_true(t_rec(p, "gemm<float, 4>")->total_kernel_ns == 3000 &&
                t_rec(p, "gemm<float, 4>")->calls == 2);
    assert_true(t_rec(p, "say \"relu\"")->total_kernel_ns == 1000);
    assert_false(p->truncated);
    oc_profile_close(p);
    p = read_bytes(kern_sum, strlen(kern_sum) - 80, "nsys_csv"); /* within the second row */
    assert_int_equal(p->n_rec, 1);
    assert_non_null(t_finding(p, "W-truncated"));
    oc_profile_close(p);
}

/* ---- cProfile --------------------------------------------------------------------------------------- */

/* marshal.dumps({("app.py", 12, "run"): (3, 5, 0.5, 2.25, {}), ("~", 0, "<built-in method math.sin>"): (480, 480, 1.75,
 * 1.75, {("app.py", 12, "run"): (480, 480, 1.75, 1.75)})}): references repeat objects with the flag 0x80. */
static const char stats[] = "{"
                            "\xa9\x03\xda\x06"
                            "app.py\xe9\x0c\0\0\0\xda\x03"
                            "run)\x05\xe9\x03\0\0\0\xe9\x05\0\0\0g\0\0\0\0\0\0\xe0?g\0\0\0\0\0\0\x02@{0"
                            ")\x03\xda\x01~\xe9\0\0\0\0\xda\x1a<built-in method math.sin>"
                            ")\x05\xe9\xe0\x01\0\0r\x09\0\0\0\xe7\0\0\0\0\0\0\xfc?r\x0a\0\0\0"
                            "{r\0\0\0\0)\x04r\x09\0\0\0r\x09\0\0\0r\x0a\0\0\0r\x0a\0\0\0"
                            "00";

static void statistics_of_cprofile_are_functions(void **state)
{
    (void)state;
    struct oc_profile *p = read_bytes(stats, sizeof(stats) - 1, "cprofile");
    assert_true(p->functions && p->n_rec == 2);
    const struct oc_prof_rec *run = t_rec(p, "app.py:12(run)"),
                             *sine = t_rec(p, "{built-in method math.sin}");
    assert_true(fabs(run->total_ns - 0.5e9) < 1 && run->calls == 5);
    assert_true(fabs(sine->total_ns - 1.75e9) < 1 && sine->calls == 480);
    assert_false(p->truncated);
    oc_profile_close(p);
    for (size_t n = 40; n < sizeof(stats) - 1; n++) { /* never more than is there */
        struct oc_err err;
        p = t_profile_mem(stats, n, NULL, &err);
        assert_true(!p || (p->truncated && p->n_rec <= 2));
        if (p)
            oc_profile_close(p);
    }
}

/* Python 2 repeats names by their number among the interned texts: 'R'. */
static void statistics_of_python_2_are_read(void **state)
{
    static const char old[] = "{(\3\0\0\0s\6\0\0\0app.pyi\14\0\0\0t\3\0\0\0run"
                              "(\5\0\0\0i\3\0\0\0i\5\0\0\0g\0\0\0\0\0\0\xe0?g\0\0\0\0\0\0\2@{0"
                              "(\3\0\0\0s\6\0\0\0lib.pyi\1\0\0\0R\0\0\0\0"
                              "(\5\0\0\0i\1\0\0\0i\1\0\0\0g\0\0\0\0\0\0\xfc?g\0\0\0\0\0\0\xfc?{00";
    (void)state;
    struct oc_profile *p = read_bytes(old, sizeof(old) - 1, "cprofile");
    assert_true(p->n_rec == 2 && !p->truncated);
    assert_true(fabs(t_rec(p, "app.py:12(run)")->total_ns - 0.5e9) < 1);
    assert_true(fabs(t_rec(p, "lib.py:1(run)")->total_ns - 1.75e9) < 1);
    oc_profile_close(p);
}

/* ---- QNN optrace ------------------------------------------------------------------------------------ */

/* The operator's process repeats the events of the core. Conv: 600 + 100, Relu: 300 of 1000 cycles. */
static void cycles_of_qnn_are_shares(void **state)
{
    (void)state;
    static const char text[] =
        "{\"traceEvents\": ["
        "{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 0, \"args\": {\"name\": \"Core 0 Overview\"}},"
        "{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 1, \"args\": {\"name\": \"QNN::conv\"}},"
        "{\"ph\": \"X\", \"name\": \"q::Conv2d\", \"pid\": 0, \"tid\": 1, \"ts\": 0, \"dur\": 600, \"args\": "
        "{\"QNN Op Name\": \"conv\", \"QNN Op Type\": \"Conv2d\", \"Duration (cycles)\": 600}},"
        "{\"ph\": \"X\", \"name\": \"q::Conv2d\", \"pid\": 1, \"tid\": 1, \"ts\": 0, \"dur\": 600, \"args\": "
        "{\"QNN Op Name\": \"conv\", \"QNN Op Type\": \"Conv2d\", \"Duration (cycles)\": 600}},"
        "{\"ph\": \"X\", \"name\": \"q::Conv2d.b\", \"pid\": 0, \"tid\": 2, \"ts\": 600, \"dur\": 100, "
        "\"args\": "
        "{\"QNN Op Name\": \"conv\", \"QNN Op Type\": \"Conv2d\", \"Duration (cycles)\": 100}},"
        "{\"ph\": \"X\", \"name\": \"q::Relu\", \"pid\": 0, \"tid\": 1, \"ts\": 700, \"dur\": 300, \"args\": "
        "{\"QNN Op Name\": \"relu\", \"QNN Op Type\": \"Relu\", \"Duration (cycles)\": 300}}]}";
    struct oc_profile *p = read_text(text, "qnn_optrace");
    assert_string_equal(p->event, "cycles");
    assert_true(fabs(t_rec(p, "conv")->share - 0.7) < 1e-9 && fabs(t_rec(p, "relu")->share - 0.3) < 1e-9);
    assert_true(isnan(t_rec(p, "conv")->total_ns) && isnan(p->run_ns));
    assert_string_equal(t_rec(p, "conv")->op_type, "Conv2d");
    assert_non_null(t_finding(p, "I-overlay"));
    oc_profile_close(p);
}

/* ---- onert ------------------------------------------------------------------------------------------ */

static const char *onert(char *text, size_t n, bool outside)
{
    size_t at = (size_t)snprintf(text, n, "{\"traceEvents\": [");
    static const struct {
        const char *name, *tid;
        unsigned from, to;
    } e[] = {{"Graph", "runtime", 0, 1000}, {"$0 Conv2D", "cpu", 10, 600}, {"$1 Add", "cpu", 610, 900}};
    for (unsigned run = 0; run < 3; run++)
        for (size_t i = 0; i < OC_COUNT(e); i++)
            for (unsigned k = 0; k < 2; k++)
                at += (size_t)snprintf(
                    text + at, n - at,
                    "{\"name\": \"%s\", \"pid\": \"0\", \"tid\": \"%s\", \"ph\": \"%c\", \"ts\": \"%u\"},",
                    e[i].name, e[i].tid, k ? 'E' : 'B', 2000 * run + (k ? e[i].to : e[i].from));
    snprintf(text + at, n - at, "%s{}]}",
             outside ? "{\"name\": \"io\", \"pid\": \"0\", \"tid\": \"io\", \"ph\": \"X\", \"ts\": \"1500\", "
                       "\"dur\": \"9\"},"
                     : "");
    return text;
}

/* The span around all operators is the run; not if something is in none. */
static void the_span_around_all_operators_is_the_run(void **state)
{
    (void)state;
    char text[8192];
    struct oc_profile *p = read_text(onert(text, sizeof(text), false), "chrome");
    assert_null(t_rec(p, "Graph"));
    assert_int_equal(p->runs_total, 3);
    assert_true(p->run_ns == 1000e3);
    assert_true(t_rec(p, "$0 Conv2D")->time_ns == 590e3 && t_rec(p, "$1 Add")->time_ns == 290e3);
    oc_profile_close(p);
    p = read_text(onert(text, sizeof(text), true), "chrome");
    assert_non_null(t_rec(p, "Graph"));
    oc_profile_close(p);
}

/* ---- the rest of a trace ---------------------------------------------------------------------------- */

#define NODE(name, type, ts, dur)                                                                            \
    "{\"cat\" : \"Node\",\"pid\" :1,\"tid\" :1,\"dur\" :" #dur ",\"ts\" :" #ts                               \
    ",\"ph\" : \"X\",\"name\" :\"" name "_kernel_time\",\"args\" : {\"op_name\" : \"" type                   \
    "\",\"provider\" : \"CPUExecutionProvider\",\"node_index\" : \"0\"}}"

static void a_trace_without_its_beginning_is_read(void **state)
{
    (void)state;
    static const char *const text[] = {
        NODE("conv", "Conv", 10, 600) ",\n" NODE("fc", "Gemm", 700,
                                                 200) ",\n{\"cat\" : \"Node\",\"pid\" :1,\"ti",
        "1\"}}},\n" NODE("conv", "Conv", 10, 600) ",\n" NODE("fc", "Gemm", 700, 200) "\n]\n"};
    for (size_t i = 0; i < OC_COUNT(text); i++) {
        struct oc_profile *p = read_text(text[i], "onnxruntime");
        assert_true(t_rec(p, "conv")->total_ns == 600e3 && t_rec(p, "fc")->total_ns == 200e3);
        assert_non_null(t_finding(p, "W-fragment"));
        oc_profile_close(p);
    }
}

/* ---- tables that name devices ----------------------------------------------------------------------- */

static void rows_of_devices_are_apart(void **state)
{
    (void)state;
    struct oc_profile *p = read_text("Device_id,Op Name,OP Type,Task Type,Task Duration(us)\n"
                                     "0,MatMul_1,MatMulV2,AI_CORE,50.0\n1,MatMul_1,MatMulV2,AI_CORE,80.0\n"
                                     "0,MatMul_1,MatMulV2,AI_CORE,50.0\n",
                                     "msprof");
    assert_int_equal(p->n_rec, 2);
    assert_true(p->rec[0].kernel_ns == 100e3 && p->rec[1].kernel_ns == 80e3);
    assert_string_equal(p->rec[1].place, "device 1");
    assert_non_null(t_finding(p, "W-several-devices"));
    oc_profile_close(p);
    p = read_text("Device_id,Op Name,OP Type,Task Type,Task Duration(us)\n0,MatMul_1,MatMulV2,AI_CORE,50.0\n",
                  "msprof");
    assert_null(p->rec[0].place);
    oc_profile_close(p);
    p = read_text("\"Kind\",\"Agent_Id\",\"Kernel_Name\",\"Start_Timestamp\",\"End_Timestamp\"\n"
                  "\"KERNEL_DISPATCH\",\"Agent 4\",\"gemm\",1000,1100\n"
                  "\"KERNEL_DISPATCH\",\"Agent 5\",\"gemm\",1050,1250\n",
                  "rocprof");
    assert_int_equal(p->n_rec, 2);
    assert_true(p->rec[0].kernel_ns == 100 && p->rec[1].kernel_ns == 200);
    assert_string_equal(p->rec[1].place, "device 5");
    oc_profile_close(p);
}

/* Host and device time of each operator: the times of the rows are of the device. */
static void times_of_cuda_activities_are_device_time(void **state)
{
    (void)state;
    struct oc_profile *p =
        read_text("op_side,op_type,op_name,op_full_name,op_occurrences,op_total_time(us),op_avg_time(us),"
                  "total_proportion,"
                  "cuda_activity_cost_time(us),cuda_activity_call_count\n"
                  "Device,Conv2D,Conv2D-op1,Default/Conv2D-op1,7,9450.0,1350.0,0.9,6885.0,7\n",
                  "mindspore");
    assert_string_equal(p->time_kind, "device time");
    assert_true(p->rec[0].kernel_ns == 6885e3 && p->rec[0].host_ns == 9450e3);
    oc_profile_close(p);
}

/* ---- folders ---------------------------------------------------------------------------------------- */

static void write_in(const char *folder, const char *name, const char *text)
{
    char path[400];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

/* Several views of one recording: the one with most detail; by the folder of a rank, or the one around it. */
static void folders_of_torch_npu_have_one_recording(void **state)
{
    (void)state;
    static const char kernels[] = "Step Id,Device_id,Name,Type,Accelerator Core,Start Time(us),Duration(us)\n"
                                  "3,0,mm,MatMulV2,AI_CORE,10.0,90.0\n",
                      types[] =
                          "Device_id,OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max "
                          "Time(us),Ratio(%)\n0,MatMulV2,AI_CORE,2,180.0,90.0,90.0,90.0,100.0\n";
    char top[] = "/tmp/onnxcost-test-XXXXXX", rank[300], inner[350];
    assert_non_null(mkdtemp(top));
    snprintf(rank, sizeof(rank), "%s/host_1_2026_ascend_pt", top);
    snprintf(inner, sizeof(inner), "%s/ASCEND_PROFILER_OUTPUT", rank);
    assert_int_equal(mkdir(rank, 0700) | mkdir(inner, 0700), 0);
    write_in(inner, "kernel_details.csv", kernels);
    write_in(inner, "op_statistic.csv", types);
    write_in(rank, "profiler_info_0.json", "{\"rank_id\": 0}");
    const char *const given[] = {inner, rank, top};
    for (size_t i = 0; i < OC_COUNT(given); i++) {
        struct oc_profile *p = NULL;
        struct oc_err err = {0};
        if (oc_profile_open(given[i], NULL, &p, &err) != 0)
            fail_msg("%s", err.msg);
        assert_non_null(t_rec(p, "mm"));
        assert_true(t_rec(p, "mm")->kernel_ns == 90e3);
        oc_profile_close(p);
    }
    char command[400];
    snprintf(command, sizeof(command), "rm -r %s", top);
    assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c): a folder of this test */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reports_of_nsys_in_json_are_rows),
        cmocka_unit_test(statistics_of_cprofile_are_functions),
        cmocka_unit_test(statistics_of_python_2_are_read),
        cmocka_unit_test(cycles_of_qnn_are_shares),
        cmocka_unit_test(the_span_around_all_operators_is_the_run),
        cmocka_unit_test(a_trace_without_its_beginning_is_read),
        cmocka_unit_test(rows_of_devices_are_apart),
        cmocka_unit_test(times_of_cuda_activities_are_device_time),
        cmocka_unit_test(folders_of_torch_npu_have_one_recording),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
