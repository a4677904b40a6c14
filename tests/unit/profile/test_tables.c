/* Limits of readers, in the terms of --limit: each one on a file that is valid without the limit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/profiles.h"
#include "onnxcost.h"
#include "onnxcost/profile.h"

#define DATA "tests/data/"
#define SEED "tests/fuzz/seeds/"

/* How a limit shows: the message of a profile that cannot be read. */
static const struct {
    const char *path, *format;
    enum oc_input_limit cap;
    uint64_t most;
    const char *says;
} beyond[] = {
    {DATA "functions/vtune.tsv", NULL, OC_LIMIT_TABLE_ROWS, 1, "more than 1 rows (--limit table-rows=N)"},
    {DATA "functions/gprof.txt", NULL, OC_LIMIT_TABLE_ROWS, 1, "more than 1 rows"},
    {DATA "mindspore/cpu_op_detail_info_0.csv", NULL, OC_LIMIT_TABLE_ROWS, 1, "more than 1 rows"},
    {DATA "openvino/detailed.csv", NULL, OC_LIMIT_TABLE_ROWS, 1, "more than 1 rows"},
    {DATA "onnxruntime/node_memory.csv", NULL, OC_LIMIT_TABLE_ROWS, 1, "more than 1 rows"},
    {DATA "paddle_report/cpu.txt", NULL, OC_LIMIT_TABLE_ROWS, 1, "more than 1 rows"},
    {DATA "paddle_report/detail.txt", NULL, OC_LIMIT_TABLE_ROWS, 2, "more than 2 rows"},
    {SEED "nsys_csv/trace0", NULL, OC_LIMIT_EVENTS, 1, "more than 1 events (--limit events=N)"},
    {DATA "onnxruntime/loop_two_runs.json", NULL, OC_LIMIT_EVENTS, 1, "more than 1 events"},
    {DATA "chrome/begin_end.json", NULL, OC_LIMIT_EVENTS, 1, "more than 1 events"},
    {DATA "kineto/small_cuda.json", NULL, OC_LIMIT_EVENTS, 1, "more than 1 events"},

    {DATA "functions/vtune.tsv", "generic_csv", OC_LIMIT_CSV_COLUMNS, 2,
     "more than 2 columns (--limit csv-columns=N)"},
    {DATA "mindspore/cpu_op_detail_info_0.csv", "mindspore", OC_LIMIT_CSV_COLUMNS, 2, "more than 2 columns"},
    {DATA "openvino/detailed.csv", "openvino", OC_LIMIT_CSV_COLUMNS, 2, "more than 2 columns"},
    {DATA "onnxruntime/node_memory.csv", "onnxruntime_memory", OC_LIMIT_CSV_COLUMNS, 2,
     "more than 2 columns"},
    {SEED "nsys_csv/trace0", "nsys_csv", OC_LIMIT_CSV_COLUMNS, 2, "more than 2 columns"},
    {SEED "ncu/raw.csv", "ncu", OC_LIMIT_CSV_COLUMNS, 2, "more than 2 columns"},

    {DATA "functions/vtune.tsv", "generic_csv", OC_LIMIT_CSV_ROW_BYTES, 8, "more than 8 bytes in a row"},
    {DATA "functions/gprof.txt", NULL, OC_LIMIT_CSV_ROW_BYTES, 74, "more than 74 bytes in a row"},
    {DATA "mindspore/cpu_op_detail_info_0.csv", "mindspore", OC_LIMIT_CSV_ROW_BYTES, 8,
     "more than 8 bytes in a row"},
    {DATA "openvino/detailed.csv", "openvino", OC_LIMIT_CSV_ROW_BYTES, 8, "more than 8 bytes in a row"},
    {DATA "onnxruntime/node_memory.csv", "onnxruntime_memory", OC_LIMIT_CSV_ROW_BYTES, 8,
     "more than 8 bytes in a row"},
    {DATA "paddle_report/cpu.txt", "paddle_report", OC_LIMIT_CSV_ROW_BYTES, 8, "more than 8 bytes in a row"},
    {SEED "nsys_csv/trace0", "nsys_csv", OC_LIMIT_CSV_ROW_BYTES, 8, "more than 8 bytes in a row"},
    {SEED "ncu/raw.csv", "ncu", OC_LIMIT_CSV_ROW_BYTES, 8, "more than 8 bytes in a row"},
    {DATA "kineto/small_cuda.json", NULL, OC_LIMIT_STRING_BYTES, 8, "more than 8"},

    {SEED "op_logs/tvm.json", NULL, OC_LIMIT_TABLE_ROWS, 1, "more than 1 rows"},
    {SEED "ncu/summary.txt", NULL, OC_LIMIT_TABLE_ROWS, 10, "more than 10 rows"},
    {SEED "op_tables/onednn.txt", NULL, OC_LIMIT_CSV_ROW_BYTES, 8, "more than 8 bytes in a row"},
    {SEED "op_tables/pytorch_table.txt", "pytorch_table", OC_LIMIT_CSV_ROW_BYTES, 8,
     "more than 8 bytes in a row"},
    {SEED "op_logs/tvm.txt", "tvm", OC_LIMIT_CSV_ROW_BYTES, 8, "more than 8 bytes in a row"},
    {SEED "op_tables/ort_columns.csv", "onnxruntime_csv", OC_LIMIT_CSV_ROW_BYTES, 8,
     "more than 8 bytes in a row"},
};

static void input_beyond_a_limit_is_rejected(void **state)
{
    (void)state;
    for (size_t i = 0; i < OC_COUNT(beyond); i++) {
        struct oc_input_limits limits = {0};
        struct oc_profile_opts opts = {.format = beyond[i].format, .limits = &limits};
        struct oc_profile *p;
        struct oc_err err = {0};
        if (oc_profile_open(beyond[i].path, &opts, &p, &err))
            fail_msg("%s", err.msg);
        oc_profile_close(p);
        limits.most[beyond[i].cap] = beyond[i].most;
        if (oc_profile_open(beyond[i].path, &opts, &p, &err) == 0) {
            oc_profile_close(p);
            fail_msg("%s has less than '%s'", beyond[i].path, beyond[i].says);
        }
        if (err.code != OC_ELIMIT || !strstr(err.msg, beyond[i].says) || !strstr(err.msg, beyond[i].path))
            fail_msg("code %d, '%s' has no '%s'", (int)err.code, err.msg, beyond[i].says);
    }
}

/* A row is wider than allowed: the limit is met after the header. */
static void row_after_the_header_beyond_a_limit_is_rejected(void **state)
{
    (void)state;
    static const struct {
        const char *format, *text;
    } row[] = {
        {"generic_csv", "Function,CPU Time\na,1\n,,,,,,,\n"},
        {"mindspore", "full_kernel_name,execution_time,execution_frequency\na,1,2\n,,,,,,,\n"},
        {"openvino", "layerName;execStatus;layerType;execType;realTime (ms);cpuTime (ms)\n;;;;;;;\n"},
        {"rocprof",
         "\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\"\na,1,2,2,100\n,,,,,,,\n"},
        {"onnxruntime_csv", "cat,pid,tid,dur,ts,ph,name\nNode,1,1,60.0,10,X,c_kernel_time\n,,,,,,,\n"},
        {"tvm", "Hash,Argument Shapes,Device,Percent,Name,Count,Duration (us)\n,,cpu0,50,a,1,2\n,,,,,,,\n"},
        {"onnxruntime_memory",
         "#name,input_sizes,initializers_sizes,total_dynamic_sizes,total_temp_allocations\n,,,,,,,\n"},
    };
    for (size_t i = 0; i < OC_COUNT(row); i++) {
        struct oc_input_limits limits = {.most = {[OC_LIMIT_CSV_COLUMNS] = 7}};
        struct oc_profile_opts opts = {.format = row[i].format, .limits = &limits};
        struct oc_err err = {0};
        assert_null(t_profile_text(row[i].text, &opts, &err));
        if (!strstr(err.msg, "more than 7 columns") || err.line < 2)
            fail_msg("%s: line %u: %s", row[i].format, err.line, err.msg);
    }
}

/* The table is printed, and a line in it is longer than allowed. */
static void line_inside_a_printed_table_beyond_a_limit_is_rejected(void **state)
{
    (void)state;
    struct oc_input_limits limits = {.most = {[OC_LIMIT_CSV_ROW_BYTES] = 70}};
    struct oc_profile_opts opts = {.format = "tvm", .limits = &limits};
    struct oc_err err = {0};
    static const char head[] = "Name   Duration (us)  Percent  Device  Count  Argument Shapes\n"
                               "add            12.50     1.00    cpu0      1   float32[1]    \n";
    struct oc_profile *p = t_profile_text(head, &opts, &err);
    assert_non_null(p);
    oc_profile_close(p);
    char text[400];
    snprintf(text, sizeof(text), "%s%80s\n", head, "x");
    assert_null(t_profile_text(text, &opts, &err));
    assert_non_null(strstr(err.msg, "more than 70 bytes in a row"));
}

/* A limit is the number of rows that are still read. */
static void rows_at_the_limit_are_read(void **state)
{
    (void)state;
    struct oc_input_limits limits = {.most = {[OC_LIMIT_TABLE_ROWS] = 1}};
    struct oc_profile_opts opts = {.limits = &limits};
    struct oc_err err = {0};
#define CALL                                                                                                 \
    "{\"Name\":{\"string\":\"add\"},\"Duration "                                                             \
    "(us)\":{\"microseconds\":2},\"Device\":{\"string\":\"cpu0\"},"                                          \
    "\"Count\":{\"count\":1},\"Percent\":{\"percent\":100},\"Argument Shapes\":{\"string\":\"float32[1]\"}}"
    struct oc_profile *p = t_profile_text("{\"calls\":[" CALL "]}", &opts, &err);
    if (!p)
        fail_msg("%s", err.msg);
    assert_true(t_rec(p, "add")->total_ns == 2e3);
    oc_profile_close(p);
    assert_null(t_profile_text("{\"calls\":[" CALL "," CALL "]}", &opts, &err));
    assert_non_null(strstr(err.msg, "more than 1 rows (--limit table-rows=N)"));
#undef CALL
}

/* Without the first line of a format, and with rows or units that the format does not have. */
static void rejects_tables_of_another_format(void **state)
{
    (void)state;
    static const struct {
        const char *format, *text, *says;
    } file[] = {
        {"mindspore", "a,b\n1,2\n", "no header line of a known MindSpore table"},
        {"mindspore", "full_kernel_name,execution_time(parsec),execution_frequency\na,1,2\n",
         "column 'execution_time': unknown unit 'parsec'"},
        {"openvino", "a;b\n1;2\n", "no header line with layerName, layerType and realTime"},
        {"openvino", "layerName;execStatus;layerType;execType;realTime (parsec);cpuTime (ms)\n",
         "column 'realTime': unknown unit"},
        {"onnxruntime_memory", "a,b\n1,2\n", "no header line with #name and total_dynamic_sizes"},
        {"nvprof_csv", "\"Type\",\"Time(%)\",\"Time\",\"Calls\",\"Avg\",\"Min\",\"Max\",\"Name\"\n",
         "the row of units is missing"},
        {"paddle_report", "a,b\n1,2\n", "no line 'Profiling Report' and no table of events"},
        {"paddle_trace", "{\"traceEvents\":[]}", "has no events of Paddle's profiler"},
    };
    for (size_t i = 0; i < OC_COUNT(file); i++) {
        struct oc_profile_opts opts = {.format = file[i].format};
        struct oc_err err = {0};
        struct oc_profile *p = t_profile_text(file[i].text, &opts, &err);
        oc_profile_close(p);
        if (p || !strstr(err.msg, file[i].says))
            fail_msg("%s '%s': '%s' has no '%s'", file[i].format, file[i].text, err.msg, file[i].says);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(input_beyond_a_limit_is_rejected),
        cmocka_unit_test(row_after_the_header_beyond_a_limit_is_rejected),
        cmocka_unit_test(line_inside_a_printed_table_beyond_a_limit_is_rejected),
        cmocka_unit_test(rows_at_the_limit_are_read),
        cmocka_unit_test(rejects_tables_of_another_format),
    };
    return cmocka_run_group_tests_name("profile/tables", tests, NULL, NULL);
}
