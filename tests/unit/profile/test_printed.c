/* Printed formats: templates, numbers of locales, descriptions (built in, and of users), checks of what a file says about
 * itself, cut files, prefixes of logs. The files of tests/data/printed are written by hand in the format of their tool. */
#include "profile/printed/printed.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "onnxcost.h"
#include "profile/printed/cells.h"
#include "profile/printed/format.h"
#include "support/profiles.h"

#define DATA "tests/data/printed/"

/* ---- templates ---------------------------------------------------------------------------------------- */

static int one_field(void *ctx, struct oc_str name)
{
    (void)ctx;
    return name.s[0] - 'a';
}

static bool fits(const char *pattern, const char *text, char *first, size_t cap)
{
    struct oc_arena a = {0};
    struct oc_template t;
    struct oc_str got[OC_TEMPLATE_ITEMS];
    assert_null(oc_template_make(&t, pattern, &a, one_field, NULL));
    bool good = oc_template_match(&t, oc_str(text, strlen(text)), got);
    snprintf(first, cap, "%s", "");
    for (unsigned i = 0; good && i < t.n; i++)
        if (t.item[i].field == 0 && got[i].s)
            snprintf(first, cap, "%.*s", (int)got[i].n, got[i].s);
    oc_arena_free(&a);
    return good;
}

static void templates_match_whole_lines(void **state)
{
    static const struct {
        const char *pattern, *text, *a; /* a NULL: no match */
    } of[] = {
        {"{a} [{b^]}] run {c:i} times", "  x y [T] run 10 times ", "x y"},
        {"{a} [{b^]}] run {c:i} times", "x [T] run ten times", NULL},
        {"{a:ms} ms, {b:n} %", "1,234.5 ms, 7 %", "1,234.5"},
        {"{a:n}%", "12.5%", "12.5"},
        {"{a:n}%", "12.5 %", NULL},
        {"{a:t} in all", "3.25 ms in all", "3.25 ms"},
        {"[[{b:i}|]]{a}", "7|conv", "conv"},
        {"[[{b:i}|]]{a}", "conv", "conv"},
        {"x[[ ]][[{a^,},]]end", "x name,end", "name"},
        {"{*}: {a:w}", "prefix: of: word", "word"},
        {"{a^ (,:}{*}", "RMS_NORM(64,1)", "RMS_NORM"},
        {"a[[b]]]", "ab]", ""},
        {"{a}", "", NULL},
    };
    (void)state;
    for (size_t i = 0; i < OC_COUNT(of); i++) {
        char a[64];
        bool good = fits(of[i].pattern, of[i].text, a, sizeof(a));
        if (good != (of[i].a != NULL) || (good && strcmp(a, of[i].a) != 0))
            fail_msg("'%s' and '%s': %d '%s'", of[i].pattern, of[i].text, good, a);
    }
}

static void wrong_templates_say_why(void **state)
{
    static const char *const of[] = {"[[{a}", "{a}]]", "{a:parsec}", "{:i}", "[[[[[[[[[[[[[[[[[[x"};
    (void)state;
    for (size_t i = 0; i < OC_COUNT(of); i++) {
        struct oc_arena a = {0};
        struct oc_template t;
        assert_non_null(oc_template_make(&t, of[i], &a, one_field, NULL));
        oc_arena_free(&a);
    }
}

/* Without a memory of failed states this takes longer than the universe exists. */
static void templates_of_many_fields_end_in_time(void **state)
{
    char *text = malloc(20001), a[8];
    (void)state;
    memset(text, 'x', 20000);
    text[20000] = '\0';
    assert_false(fits("{*}x{*}x{*}x{*}x{*}x{*}x{*}x{*}y{*}z", text, a, sizeof(a)));
    free(text);
}

/* ---- numbers ------------------------------------------------------------------------------------------ */

static void marks_of_numbers_show_the_locale(void **state)
{
    static const struct {
        const char *text;
        bool whole;
        enum oc_decimal evidence;
        double point, comma; /* NAN: it is none */
    } of[] = {
        {"1,234.5", false, OC_POINT, 1234.5, NAN},
        {"1.234,5", false, OC_COMMA, NAN, 1234.5},
        {"0,86", false, OC_COMMA, NAN, 0.86},
        {"856.123", false, OC_DECIMALS, 856.123, 856123},
        {"856.123", true, OC_COMMA, 856123, 856123},
        {"1,234,567", false, OC_POINT, 1234567, NAN},
        {"1 234 567,5", false, OC_COMMA, NAN, 1234567.5},
        {"15'456.0", false, OC_POINT, 15456, NAN},
        {"1234.567", false, OC_POINT, 1234.567, NAN},
        {"12e3", false, OC_DECIMALS, 12e3, 12e3},
        {"8,4521,1450", true, OC_POINT, 845211450, 845211450},
    };
    (void)state;
    for (size_t i = 0; i < OC_COUNT(of); i++) {
        struct oc_str s = oc_str(of[i].text, strlen(of[i].text)), rest;
        struct oc_printed_number n;
        bool good = oc_printed_number(s, of[i].whole, &n, &rest);
        double want[] = {of[i].point, of[i].comma};
        for (unsigned k = 0; k < 2; k++)
            if (!good || (isnan(want[k]) ? !isnan(n.v[k]) : n.v[k] != want[k]))
                fail_msg("'%s': %f %f", of[i].text, n.v[0], n.v[1]);
        if (oc_printed_evidence(s, of[i].whole) != of[i].evidence)
            fail_msg("'%s': another sign", of[i].text);
    }
}

/* "Kernel*" is the beginning of a title, "*time" its end without the unit. */
static void titles_fit_their_headers(void **state)
{
    static const struct {
        const char *header, *title;
        bool fits;
    } of[] = {{"Kernel*", "Kernel name", true},
              {"Kernel*", "Kerne", false},
              {"Kernel*", "Kerned", false},
              {"*time", "Total time (ms)", true},
              {"*time", "Total times", false},
              {"*time", "ime", false},
              {"#Kernel", "Kernel", true},
              {"(none)", "", true},
              {"(none)", "x", false}};
    (void)state;
    for (size_t i = 0; i < OC_COUNT(of); i++) {
        struct oc_str word = oc_str(of[i].header, strlen(of[i].header));
        const struct oc_printed_column c = {.header = {.word = &word, .n = 1}};
        if (oc_title_fits(&c, oc_str(of[i].title, strlen(of[i].title))) != of[i].fits)
            fail_msg("'%s', '%s'", of[i].header, of[i].title);
    }
}

/* ---- descriptions ------------------------------------------------------------------------------------- */

/* The text in XML and the elements that the build made of it are the same formats. */
static void descriptions_are_read_as_xml_too(void **state)
{
    static const char *const file[] = {"amd_intel", "functions", "mobile", "npu",
                                       "nvidia",    "others",    "paddle", "pytorch"};
    const struct oc_printed_format *f = oc_printed_formats();
    (void)state;
    for (size_t i = 0; i < OC_COUNT(file); i++) {
        char path[100];
        const struct oc_printed_format *g;
        struct oc_err err = {0};
        snprintf(path, sizeof(path), "src/profile/printed/%s.xml", file[i]);
        if (oc_printed_load(path, &g, &err))
            fail_msg("%s", err.msg);
        for (; g; g = g->next, f = f->next) {
            assert_non_null(f);
            assert_string_equal(f->name, g->name);
            assert_int_equal(f->n_table, g->n_table);
            assert_int_equal(f->n_field, g->n_field);
        }
    }
    assert_null(f);
}

static void wrong_descriptions_name_line_and_place(void **state)
{
#define FORMAT(BODY)                                                                                         \
    "<formats version='1'>\n<format name='f' title='t' producer='p'>\n" BODY "\n</format></formats>"
    static const struct {
        const char *text, *says;
    } of[] = {
        {FORMAT("<line line='{name} {total:t}'/>"),
         "line 3: format 'f': line: '{name} {total:t}' has fewer than 8 characters"},
        {FORMAT("<line line='{name} takes {total:parsec}'/>"), "unknown kind"},
        {FORMAT("<table cells='gaps'/>"), "the table has no columns"},
        {FORMAT("<table cells='heaps'><column header='a'/></table>"), "unknown way to cut lines 'heaps'"},
        {FORMAT("<table cells='gaps' level='99'><column header='a'/></table>"),
         "the level '99' is not a number below 10"},
        {FORMAT("<table cells='gaps'><column header='a' unit='parsec'/></table>"), "unknown unit 'parsec'"},
        {FORMAT("<table cells='gaps'><column header='a'/><when field='a' above='x' use='drop'/></table>"),
         "'x' is not a number"},
        {FORMAT("<check sum='device' is='x' within='y'/>"), "a figure of the check is not a number"},
        {FORMAT("<check sum='device'/>"), "nothing to compare with"},
        {"<formats version='1'></formats>", "it describes no format"},
        {"<formats version='2'></formats>", "version '2' is not supported"},
    };
    (void)state;
    for (size_t i = 0; i < OC_COUNT(of); i++) {
        struct oc_arena a = {0};
        const struct oc_printed_format *f;
        struct oc_err err = {0};
        assert_int_equal(oc_printed_parse("x.xml", of[i].text, strlen(of[i].text), &a, &f, &err), -1);
        if (!strstr(err.msg, of[i].says))
            fail_msg("%zu: %s", i, err.msg);
        oc_arena_free(&a);
    }
}

/* The example of onnxcost-profiles(5). */
static void users_describe_tables_of_their_own(void **state)
{
    struct oc_profile_opts opts = {.format = DATA "example.xml"};
    struct oc_profile *p;
    struct oc_err err = {0};
    (void)state;
    assert_int_equal(oc_profile_open(DATA "example.txt", &opts, &p, &err), 0);
    assert_string_equal(p->format, "mybench");
    assert_true(p->runs_total == 10 && p->n_rec == 2);
    assert_string_equal(t_rec(p, "conv1")->op_type, "Conv");
    assert_true(fabs(t_rec(p, "conv1")->total_kernel_ns - 125e3) < 1e-3);
    oc_profile_close(p);
    assert_int_equal(oc_profile_open(DATA "ncnn.txt", &opts, &p, &err), -1);
    opts.format = DATA "none.xml";
    assert_int_equal(oc_profile_open(DATA "example.txt", &opts, &p, &err), -1);
    assert_non_null(strstr(err.msg, "none.xml"));
    assert_int_equal(oc_profile_format_check(DATA "example.xml", &err), 0);
}

/* ---- formats ------------------------------------------------------------------------------------------ */

static void printed_formats_have_their_times(void **state)
{
    static const struct {
        const char *file, *format;
        uint32_t n_rec, runs;
        double run_ns; /* 0: unknown */
        const char *name, *type;
        double host_ns, device_ns; /* of that row, in all runs; 0: none */
        uint64_t calls;
    } of[] = {
        {"ncnn.txt", "ncnn", 2, 0, 0, "net_b", "", 1.25e6, 0, 1},
        {"ncnn_layers.txt", "ncnn", 2, 0, 0, "conv1", "Convolution", 1.25e6, 0, 1},
        {"executorch.txt", "executorch", 2, 1, 2.25e6, "native_call_mm.out", "aten.mm.default", 1.25e6, 0, 1},
        {"onnx_mlir.log", "onnx_mlir", 2, 2, 0, "conv_0", "onnx.Conv", 5e6, 0, 2},
        {"migraphx.txt", "migraphx", 3, 0, 0, "mlir_convolution_relu", NULL, 0, 0.04e6, 1},
        {"test_backend_ops.txt", "test_backend_ops", 2, 0, 0, "ADD(type=f32,ne=[64,1,1,1])", "ADD", 12e6, 0,
         8000},
        {"qnn_viewer.txt", "qnn", 2, 1, 500e3, "Conv_0", "", 0, 300e3, 1}, /* 3/4 of 400 us */
        {"ncu_summary.csv", "ncu_summary", 1, 0, 0, "gemm(float *, int)", NULL, 0, 8e3, 4},
        {"mnn_types.txt", "mnn", 2, 1, 0, "Convolution", "Convolution", 0.75e6, 0, 2},
        {"operator_details.csv", "ascend_operators", 2, 0, 0, "aten::matmul", NULL, 20.5e3, 25e3, 1},
        {"nsys_stats.json", "nsys_csv", 2, 0, 0, "relu", NULL, 0, 1e6, 4},
        {"nsys_german.csv", "nsys_csv", 2, 0, 0, "gemm", NULL, 0, 3e6, 2},
    };
    (void)state;
    for (size_t i = 0; i < OC_COUNT(of); i++) {
        char path[100];
        struct oc_profile *p;
        struct oc_err err = {0};
        snprintf(path, sizeof(path), DATA "%s", of[i].file);
        if (oc_profile_open(path, NULL, &p, &err))
            fail_msg("%s", err.msg);
        const struct oc_prof_rec *rec = t_rec(p, of[i].name);
        if (strcmp(p->format, of[i].format) != 0 || p->n_rec != of[i].n_rec || p->runs_total != of[i].runs ||
            !rec)
            fail_msg("%s: %s, %u records, %u runs, %s", of[i].file, p->format, p->n_rec, p->runs_total,
                     rec ? "" : "no row");
        double host = isnan(rec->total_ns) ? 0 : rec->total_ns,
               device = isnan(rec->total_kernel_ns) ? 0 : rec->total_kernel_ns;
        if (fabs(host - of[i].host_ns) > 1 || fabs(device - of[i].device_ns) > 1 || rec->calls != of[i].calls)
            fail_msg("%s: %f, %f, %u calls", of[i].file, host, device, (unsigned)rec->calls);
        if (of[i].type && strcmp(rec->op_type, of[i].type) != 0)
            fail_msg("%s: type %s", of[i].file, rec->op_type);
        if (of[i].run_ns > 0 ? fabs(p->run_ns - of[i].run_ns) > 1 : !isnan(p->run_ns))
            fail_msg("%s: a run of %f", of[i].file, p->run_ns);
        oc_profile_close(p);
    }
}

/* ---- what a file says about itself ----------------------------------------------------------------------- */

static struct oc_profile *read_described(const char *body, const char *text, struct oc_err *err)
{
    static struct oc_arena a;
    struct oc_profile *p = NULL;
    const struct oc_printed_format *f;
    char xml[2000];
    snprintf(xml, sizeof(xml), FORMAT("%s"), body);
    if (oc_printed_parse("x.xml", xml, strlen(xml), &a, &f, err))
        fail_msg("%s", err->msg);
    struct oc_importer imp = {.name = "f", .title = "t", .printed = f, .in_output = true};
    if (oc_profile_from_mem(&imp, text, strlen(text), &(struct oc_profile_opts){0}, &p, err) != 0)
        p = NULL;
    oc_arena_free(&a);
    return p;
}

#define TABLE                                                                                                \
    "<table cells='gaps'><column is='name' header='Layer'/><column is='total' header='ms' unit='ms'/>"       \
    "<column is='share' header='%' optional='yes'/></table><fact line='Sum of all: {stated:ms} ms'/>"        \
    "<fact line='Number of layers: {rows:i}'/>"

/* More than the total cannot be: an error, unless the tool is known for it. Less: rows are missing. */
static void rows_are_compared_with_what_the_file_says(void **state)
{
    static const struct {
        const char *check, *text;
        const char *error, *code, *says; /* error NULL: read */
    } of[] = {
        {"<check sum='total' is='stated'/>", "Layer  ms\na  1.0\nb  2.0\n\nSum of all: 3.0 ms\n", NULL, NULL,
         NULL},
        {"<check sum='total' is='stated'/>", "Layer  ms\na  1.0\nb  2.0\n\nSum of all: 2.0 ms\n",
         "line 5: the rows add up to 3 ms, and the file says 2 ms", NULL, NULL},
        {"<check sum='total' is='stated' known='it rounds'/>",
         "Layer  ms\na  1.0\nb  2.0\n\nSum of all: 2.0 ms\n", NULL, "W-total",
         "the rows add up to 3 ms, and the file says 2 ms: it rounds"},
        {"<check sum='total' is='stated'/>", "Layer  ms\na  1.0\n\nSum of all: 4.0 ms\n", NULL, "W-rows",
         "the rows add up to 1 ms, and the file says 4 ms: rows are missing"},
        {"<check rows='rows'/>", "Layer  ms\na  1.0\nb  2.0\n\nNumber of layers: 3\n", NULL, "W-rows",
         "the table has 2 rows, and the file says 3"},
        {"<check hundred='100'/>", "Layer  ms  %\na  1.0  30\nb  2.0  20\n\n", NULL, "W-rows",
         "add up to 50.0 %"},
        {"<check agree='share' sum='total'/>", "Layer  ms  %\na  1.0  80\nb  1.0  20\n\n",
         "line 2: the share of 'a' is 80.0 %, but its time is 50.0 % of the rows", NULL, NULL},
    };
    (void)state;
    for (size_t i = 0; i < OC_COUNT(of); i++) {
        char body[1000];
        struct oc_err err = {0};
        snprintf(body, sizeof(body), "%s%s", TABLE, of[i].check);
        struct oc_profile *p = read_described(body, of[i].text, &err);
        if (!p != (of[i].error != NULL) || (of[i].error && !strstr(err.msg, of[i].error)))
            fail_msg("%zu: %s", i, err.msg);
        const char *found = p && of[i].code ? t_finding(p, of[i].code) : "";
        if (of[i].says && (!found || !strstr(found, of[i].says)))
            fail_msg("%zu: %s", i, found);
        if (p && !of[i].code)
            assert_int_equal(p->diags.n, 0);
        oc_profile_close(p);
    }
}

static void a_file_that_ends_in_a_row_says_so(void **state)
{
    struct oc_profile *p;
    struct oc_err err = {0};
    (void)state;
    assert_int_equal(oc_profile_open(DATA "gpu_trace_cut.csv", NULL, &p, &err), 0);
    assert_true(p->truncated && p->imported_kernel_ns == 750);
    assert_non_null(strstr(t_finding(p, "W-truncated"), "truncated in line 4"));
    oc_profile_close(p);
    p = t_profile_text(
        " Time (%)  Total Time (ns)  Instances  Name\n --------  ---------------  ---------  ----\n"
        "     75.0        3,000,000          2  gemm\n     25.0        1,00",
        NULL, &err);
    assert_true(p && p->truncated && p->imported_kernel_ns == 3e6 && p->n_rec == 1);
    oc_profile_close(p);
}

/* ---- prefixes of logs --------------------------------------------------------------------------------- */

static void prefixes_of_logs_are_not_part_of_rows(void **state)
{
    static const char *const prefix[] = {
        "(WorkerDict pid=1234) ",
        "\033[36m(RayTrainWorker pid=7, ip=10.0.0.7)\033[0m ",
        "(EngineCore_0 pid=99) INFO 07-14 09:12:44 [core.py:77] ",
        "2026-07-14 09:12:44,123 INFO bench: ",
        "INFO:bench:",
        "2026-07-14 09:12:44,123 - bench.run - INFO - ",
        "2026-07-14 09:12:44.123 | INFO     | __main__:main:42 - ",
        "I0714 09:12:44.123456  1234 bench.cc:88] ",
        "Jul 14 09:12:44 host1 bench[1234]: ",
        "2026-07-14T09:12:44+0200 host1 bench[1234]: ",
        "2026-07-14T09:12:44.123456789Z stdout F ",
        "bench-1  | ",
        "[rank0]: ",
        "{\"log\":\"",
        "{\"log\": \"2026-07-14 09:12:44,123 INFO bench: ",
    };
    static const char *const line[] = {"loop_count = 4", "num_threads = 2", "",
                                       "net_a  min =  2.50  max =  3.10  avg =  2.75",
                                       "net_b  min =  1.00  max =  1.50  avg =  1.25"};
    (void)state;
    for (size_t i = 0; i < OC_COUNT(prefix); i++) {
        struct oc_buf text = {0};
        struct oc_err err = {0};
        for (size_t k = 0; k < OC_COUNT(line); k++)
            oc_buf_printf(&text, "%s%s%s\n", prefix[i], line[k],
                          prefix[i][0] == '{' ? "\\n\",\"stream\":\"stdout\",\"time\":\"x\"}" : "");
        struct oc_profile *p = t_profile_text(text.data, NULL, &err);
        if (!p)
            fail_msg("%s: %s", prefix[i], err.msg);
        assert_string_equal(p->format, "ncnn");
        assert_true(p->n_rec == 2 && t_rec(p, "net_a")->total_ns == 2.75e6);
        oc_profile_close(p);
        oc_buf_free(&text);
    }
}

/* Words before a colon that differ from line to line are names, not loggers. */
static void names_before_a_colon_are_not_loggers(void **state)
{
    struct oc_err err = {0};
    (void)state;
    struct oc_profile *p =
        t_profile_text("INFO Vulkan Timings:\nINFO ADD: 2 x 1.5 us = 3 us\nINFO MUL: 4 x 2 us = 8 us\n"
                       "INFO SUB: 1 x 2 us = 2 us\nINFO Total time: 13 us.\n",
                       NULL, &err);
    if (!p)
        fail_msg("%s", err.msg);
    assert_true(p->n_rec == 3 && t_rec(p, "ADD")->total_kernel_ns == 3e3);
    oc_profile_close(p);
}

/* ---- several recordings ------------------------------------------------------------------------------- */

/* The first recording with work of the device is read, without one the first; all that follow are counted. */
static void one_of_several_recordings_is_read(void **state)
{
#define NVPROF                                                                                               \
    "==1== Profiling result:\n"                                                                              \
    "            Type  Time(%)      Time     Calls       Avg       Min       Max  Name\n"
#define CALLS                                                                                                \
    NVPROF "      API calls:   60.00%  6.0000ms         1  6.0000ms  6.0000ms  6.0000ms  cudaMalloc\n"       \
           "                   40.00%  4.0000ms         1  4.0000ms  4.0000ms  4.0000ms  cudaFree\n\n"
#define KERNELS(MS)                                                                                          \
    NVPROF " GPU activities:   50.00%  " MS "ms         2  1.0000ms  1.0000ms  1.0000ms  f(int)\n"           \
           "                   50.00%  " MS "ms         2  1.0000ms  1.0000ms  1.0000ms  g(int)\n\n"
#define BENCH                                                                                                \
    "loop_count = 8\n          squeezenet  min =    4.00  max =    6.00  avg =    5.00\n"                    \
    "               vgg16  min =    4.00  max =    6.00  avg =    5.00\n"
    static const char *const text[] = {CALLS KERNELS("5.0000") KERNELS("7.0000") KERNELS("9.0000"),
                                       CALLS CALLS CALLS, BENCH BENCH BENCH};
    (void)state;
    for (size_t i = 0; i < OC_COUNT(text); i++) {
        struct oc_err err = {0};
        double ns = 0;
        struct oc_profile *p = t_profile_text(text[i], NULL, &err);
        if (!p)
            fail_msg("%zu: %s", i, err.msg);
        assert_int_equal(p->n_rec, 2);
        for (uint32_t k = 0; k < p->n_rec; k++)
            ns += p->rec[k].time_ns;
        assert_true(fabs(ns - 1e7) < 1e-3);
        assert_non_null(strstr(t_finding(p, "W-several-profiles"), "3 recordings"));
        oc_profile_close(p);
    }
}

/* "v1" and the time of day are fields of their own (ONEDNN_VERBOSE_TIMESTAMP=1). */
static void lines_of_onednn_may_have_the_time_of_day(void **state)
{
    static const char *const before[] = {"", "v1,", "1693533460229.437012,", "v0,1693533460229.437012,"};
    (void)state;
    for (size_t i = 0; i < OC_COUNT(before); i++) {
        struct oc_buf text = {0};
        struct oc_err err = {0};
        oc_buf_printf(&text,
                      "onednn_verbose,%sprimitive,exec,cpu,reorder,jit:uni,undef,"
                      "src_f32::blocked:abcd::f0 dst_f32::blocked:ABcd16b16a::f0,,,16x16x5x5,2.5\n",
                      before[i]);
        struct oc_profile *p = t_profile_text(text.data, NULL, &err);
        if (!p)
            fail_msg("%s: %s", before[i], err.msg);
        assert_true(p->n_rec == 1 && fabs(p->rec[0].time_ns - 2.5e6) < 1e-3);
        oc_profile_close(p);
        oc_buf_free(&text);
    }
}

/* Without its other rows a table of MACE does not show where the time is. */
static void left_out_rows_of_mace_are_named(void **state)
{
    struct oc_err err = {0};
    (void)state;
    struct oc_profile *p = t_profile_text(
        "| Sort by Run Order |\n| Op Type | Start | First | Avg(ms) | % | cdf% | name |\n"
        "| Conv2D | 0.1 | 1.5 | 1.5 | 5.0 | 5.0 | a |\n| Softmax | 29.9 | 0.1 | 0.1 | 0.3 | 100.0 | b |\n",
        NULL, &err);
    if (!p)
        fail_msg("%s", err.msg);
    assert_non_null(strstr(t_finding(p, "W-rows"), "add up to 5.3 %"));
    oc_profile_close(p);
}

/* TensorFlow Lite divides the calls by the runs: 0 for all rows if it recorded the operators of one run of 50. */
static void operators_recorded_in_a_part_of_the_runs_have_their_means(void **state)
{
    struct oc_err err = {0};
    (void)state;
    struct oc_profile *p = t_profile_text(
        "============================== Run Order ==============================\n"
        "\t[node type]\t[start]\t[first]\t[avg ms]\t[%]\t[cdf%]\t[mem KB]\t[times called]\t[Name]\n"
        "\tCONV_2D\t0.000\t6.000\t6.000\t1.500%\t1.500%\t0.000\t0\t[a]\n"
        "\tSOFTMAX\t6.000\t2.000\t2.000\t0.500%\t2.000%\t0.000\t0\t[b]\n\n"
        "Timings (microseconds): count=50 first=8000 curr=8100 min=7900 max=8200 avg=8010 std=90\n",
        NULL, &err);
    if (!p)
        fail_msg("%s", err.msg);
    assert_true(p->n_rec == 2 && fabs(p->run_ns - 8.01e6) < 1);
    assert_true(fabs(t_rec(p, "[a]")->time_ns - 6e6) < 1 && fabs(t_rec(p, "[b]")->time_ns - 2e6) < 1);
    oc_profile_close(p);
}

/* A log in which a tool found no work of the device is not of an unknown format, and recording it again does not help. */
static void reports_without_kernels_say_so(void **state)
{
    static const struct {
        const char *text, *says;
    } of[] = {
        {"./a 1024\n[3/7] Executing 'nvtx_sum' stats report\n[4/7] Executing 'osrt_sum' stats report\n",
         "no row of an nsys stats report"},
        {"SKIPPED: report1.sqlite does not contain CUDA kernel data.\n", "no row of an nsys stats report"},
        {"==1== Profiling result:\n"
         "   Start  Duration            Grid Size      Block Size  Unified Memory  Name\n"
         "1.18208s         -                    -               -     PC 0x4034d6  [Unified Memory CPU page "
         "faults]\n",
         "page faults and migrations, but no kernel"}};
    (void)state;
    for (size_t i = 0; i < OC_COUNT(of); i++) {
        struct oc_err err = {0};
        assert_null(t_profile_text(of[i].text, NULL, &err));
        if (!strstr(err.msg, of[i].says))
            fail_msg("%zu: %s", i, err.msg);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(templates_match_whole_lines),
        cmocka_unit_test(wrong_templates_say_why),
        cmocka_unit_test(templates_of_many_fields_end_in_time),
        cmocka_unit_test(marks_of_numbers_show_the_locale),
        cmocka_unit_test(titles_fit_their_headers),
        cmocka_unit_test(descriptions_are_read_as_xml_too),
        cmocka_unit_test(wrong_descriptions_name_line_and_place),
        cmocka_unit_test(users_describe_tables_of_their_own),
        cmocka_unit_test(printed_formats_have_their_times),
        cmocka_unit_test(rows_are_compared_with_what_the_file_says),
        cmocka_unit_test(a_file_that_ends_in_a_row_says_so),
        cmocka_unit_test(prefixes_of_logs_are_not_part_of_rows),
        cmocka_unit_test(names_before_a_colon_are_not_loggers),
        cmocka_unit_test(one_of_several_recordings_is_read),
        cmocka_unit_test(lines_of_onednn_may_have_the_time_of_day),
        cmocka_unit_test(left_out_rows_of_mace_are_named),
        cmocka_unit_test(operators_recorded_in_a_part_of_the_runs_have_their_means),
        cmocka_unit_test(reports_without_kernels_say_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
