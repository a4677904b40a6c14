/* The report of MegEngine dumps compared with recorded output of profile_analyze, byte for byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "write/report_write.h"
#include "support/mge_case.h"

#define OWN         "tests/data/megengine"
#define SAMPLES     "../shared/samples/megengine"
#define SAMPLE_DUMP SAMPLES "/megengine_cpu_synthetic.json"

static char *slurp(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        fail_msg("cannot open %s", path);
    char *text = NULL;
    size_t n = 0, cap = 0;
    ssize_t got = getdelim(&text, &cap, '\0', f);
    n = got > 0 ? (size_t)got : 0;
    fclose(f);
    text = text ? text : malloc(1);
    text[n] = '\0';
    return text;
}

static void run_case(const char *dump, char *options, const char *expected_path)
{
    char *argv[64], *save = NULL;
    int argc = 0;
    for (char *a = strtok_r(options, " ", &save); a && argc < 64; a = strtok_r(NULL, " ", &save))
        argv[argc++] = a;
    struct mge_args args;
    struct oc_profile p;
    struct oc_err err = {0};
    assert_true(mge_parse_args(&args, argc, argv));
    assert_int_equal(mge_read_file(dump, &p, &err), 0);
    char *got = mge_report_text(&p, &args.opts, &err), *want = slurp(expected_path);
    if (!got)
        fail_msg("%s: %s", expected_path, err.msg);
    if (strcmp(got, want) != 0)
        fail_msg("%s differs; got:\n%s", expected_path, got);
    free(got);
    free(want);
    mge_free(&p);
}

/* Lines `name<TAB>dump<TAB>options`, or without the dump: `name<TAB>options<TAB>...`. */
static int run_cases(const char *folder, const char *list, const char *dump)
{
    char path[512], expected[512], file[512];
    snprintf(path, sizeof(path), "%s/%s", folder, list);
    char *text = slurp(path), *save = NULL;
    int n = 0;
    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save), n++) {
        char *name = strsep(&line, "\t"), *second = dump ? (char *)dump : strsep(&line, "\t");
        char *options = line ? strsep(&line, "\t") : NULL;
        assert_non_null(options);
        snprintf(file, sizeof(file), "%s%s%s", dump ? "" : folder, dump ? "" : "/", second);
        snprintf(expected, sizeof(expected), "%s/%s.out", folder, name);
        run_case(file, options, expected);
    }
    free(text);
    return n;
}

static void report_equals_the_original_tool(void **state)
{
    (void)state;
    assert_int_equal(run_cases(OWN, "CASES.tsv", NULL), 38);
}

static void report_continues_where_the_original_fails(void **state)
{
    (void)state;
    assert_int_equal(run_cases(OWN, "CASES_OWN.tsv", NULL), 14);
}

static void report_equals_the_recorded_samples(void **state)
{
    (void)state;
    if (access(SAMPLE_DUMP, R_OK) != 0) {
        print_message("SKIPPED: no %s\n", SAMPLE_DUMP);
        skip();
    }
    assert_int_equal(run_cases(SAMPLES, "CASES.tsv", SAMPLE_DUMP), 23);
}

/* Pairwise summation in blocks of 128 differs in the last digits: sequential addition of 300 times
 * gives 45.179999999999936. */
static void sums_equal_numpy(void **state)
{
    (void)state;
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    fputs("{\"profiler\":{\"host\":{},\"device\":{", f);
    for (int i = 1; i <= 300; i++)
        fprintf(f, "%s\"%d\":{\"x\":{\"start\":0.0,\"kern\":0.0,\"end\":0.%03d%d}}", i > 1 ? "," : "", i, i,
                i % 3);
    fputs("}},\"graph_exec\":{\"var\":{},\"operator\":{", f);
    for (int i = 1; i <= 300; i++)
        fprintf(f, "%s\"%d\":{\"id\":\"%d\",\"name\":\"n\",\"type\":\"T\",\"input\":[],\"output\":[]}",
                i > 1 ? "," : "", i, i);
    fputs("}}}", f);
    fclose(f);
    struct oc_profile p;
    struct oc_err err = {0};
    assert_int_equal(mge_read(text, n, &p, &err), 0);
    struct oc_report_opts o = {.print_only = "summary"};
    char *got = mge_report_text(&p, &o, &err);
    assert_string_equal(got, "-----------------  -----------------\n"
                             "total device time  45.18000000000001\n"
                             "total host time    N/A\n"
                             "-----------------  -----------------\n");
    free(got);
    mge_free(&p);
    free(text);
}

/* In a text column an integer total keeps its form; as a number it is printed with %g. */
static void integer_times_stay_integers(void **state)
{
    (void)state;
    static const char text[] =
        "{\"graph_exec\":{\"var\":{},\"operator\":{\"1\":{\"id\":\"1\",\"name\":\"a\",\"type\":\"T\","
        "\"input\":[]}}},"
        "\"profiler\":{\"device\":{\"1\":{\"x\":{\"start\":1,\"kern\":2,\"end\":4}}},\"host\":{}}}";
    struct oc_profile p;
    struct oc_err err = {0};
    assert_int_equal(mge_read(text, sizeof(text) - 1, &p, &err), 0);
    struct oc_report_opts o = {.print_only = "summary"};
    char *got = mge_report_text(&p, &o, &err);
    assert_string_equal(
        got,
        "-----------------  ---\ntotal device time  3\ntotal host time    N/A\n-----------------  ---\n");
    free(got);
    mge_free(&p);
}

static void expect_report_error(const struct oc_profile *p, struct oc_report_opts o, const char *message)
{
    struct oc_err err = {0};
    assert_null(mge_report_text(p, &o, &err));
    assert_int_equal(err.code, OC_EARG);
    assert_string_equal(err.msg, message);
}

static void rejects_invalid_options(void **state)
{
    (void)state;
    struct oc_profile p;
    struct oc_err err = {0};
    const char *pattern[] = {"a("};
    assert_int_equal(mge_read_file(OWN "/empty.json", &p, &err), 0);
    expect_report_error(
        &p, (struct oc_report_opts){.aggregate = "average"},
        "unknown value 'average' for --aggregate; valid: max, min, sum, mean, median, count, and percentiles "
        "such as p90");
    expect_report_error(&p, (struct oc_report_opts){.aggregate = "sum", .group_by = "name"},
                        "unknown key 'name' for --group-by; valid: type, module, class, source, "
                        "signature, provider, precision, "
                        "kernel, bound, rule, module:DEPTH");
    expect_report_error(&p, (struct oc_report_opts){.top_end_key = "start"},
                        "unknown value 'start' for --megengine top-end-key; valid: end, kern");
    expect_report_error(&p, (struct oc_report_opts){.print_only = "all"},
                        "invalid value 'all' for --print-only: choose from summary, device, host");
    expect_report_error(
        &p, (struct oc_report_opts){.min_time = "1 hour"},
        "invalid value '1 hour' for --min-time: give a time such as 5us, 1.5ms or 0.001 (seconds)");
    expect_report_error(
        &p, (struct oc_report_opts){.order_by = "+colour"},
        "unknown column 'colour' for --order-by; valid: time, computation, memory, flops, bandwidth, opr_id, "
        "in_shapes, out_shapes, macs, params, intensity, roofline, efficiency, calls, count, mean, avg, min, "
        "max, self, "
        "share, energy, gap, wasted, name, type");
    expect_report_error(
        &p, (struct oc_report_opts){.name_pattern = pattern, .n_name_pattern = 1},
        "invalid pattern 'a(': missing closing parenthesis (at character 2); a backslash before a "
        "character such as ( makes it literal");
    mge_free(&p);
}

static void full_disk_is_an_error(void **state)
{
    (void)state;
    struct oc_profile p;
    struct oc_report_opts o = {0};
    struct oc_err err = {0};
    FILE *f = fopen("/dev/full", "w");
    if (!f) {
        print_message("SKIPPED: no /dev/full\n");
        skip();
    }
    setvbuf(f, NULL, _IONBF, 0);
    assert_int_equal(mge_read_file(OWN "/mixed.json", &p, &err), 0);
    assert_int_equal(oc_mge_report(p.native, &o, f, &err), -1);
    assert_int_equal(err.code, OC_EOUTPUT);
    fclose(f);
    mge_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(report_equals_the_original_tool),
        cmocka_unit_test(report_continues_where_the_original_fails),
        cmocka_unit_test(report_equals_the_recorded_samples),
        cmocka_unit_test(sums_equal_numpy),
        cmocka_unit_test(integer_times_stay_integers),
        cmocka_unit_test(rejects_invalid_options),
        cmocka_unit_test(full_disk_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
