/* Rows that no reader of tables takes, behind the header that each of them knows and in its place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "profile/csv_rows.h"
#include "support/profiles.h"

static const struct {
    const char *format, *header;
} tables[] = {
    {"generic_csv", "Function,CPU Time,Module\n"},
    {"mindspore", "full_kernel_name,task_duration,execution_frequency,task_type\n"},
    {"openvino", "layerName;execStatus;layerType;execType;realTime (ms);cpuTime (ms)\n"},
    {"onnxruntime_memory",
     "#name,input_sizes,initializers_sizes,total_dynamic_sizes,total_temp_allocations\n"},
};

static void refused(const struct oc_buf *b, const char *format, const char *says)
{
    struct oc_profile_opts opts = {.format = format, .warmup = -1};
    struct oc_err err = {0};
    assert_null(t_profile_mem(b->data, b->n, &opts, &err));
    if (!strstr(err.msg, says))
        fail_msg("%s: '%s' does not contain '%s'", format, err.msg, says);
}

static void too_many_fields(void **state)
{
    (void)state;
    for (size_t i = 0; i < OC_COUNT(tables); i++) {
        struct oc_buf b = {0};
        const char *h = tables[i].header;
        oc_buf_str(&b, h);
        oc_buf_pad(&b, strchr(h, ';') ? ';' : ',', 8192);
        oc_buf_char(&b, '\n');
        refused(&b, tables[i].format, "line 2: row has more than 8192 fields");
        oc_buf_free(&b);
    }
}

static void too_long(const char *format, const char *before, const char *says)
{
    struct oc_buf b = {0};
    oc_buf_str(&b, before);
    oc_buf_pad(&b, 'x', OC_CSV_MAX_ROW + 2);
    oc_buf_char(&b, '\n');
    refused(&b, format, says);
    oc_buf_free(&b);
}

static void a_line_without_end(void **state)
{
    (void)state;
    static const char first[] = "line 1: row is longer than 16 MiB";
    too_long("generic_csv", "", first);
    too_long("mindspore", "", first);
    too_long("onnxruntime_memory", "", first);
    too_long("paddle_report", "", first);
    too_long("openvino", "", "no header line with layerName");
    too_long("generic_csv",
             "Flat profile:\n\nEach sample counts as 0.01 seconds.\n"
             "  %   cumulative   self              self     total           \n"
             " time   seconds   seconds    calls  ms/call  ms/call  name    \n",
             "line 6: row is longer than 16 MiB");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(too_many_fields),
                                       cmocka_unit_test(a_line_without_end)};
    return cmocka_run_group_tests_name("profile/tables", tests, NULL, NULL);
}
