#include "profile/profile.h"

#include <math.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "support/profiles.h"
#include "onnxcost.h"
#include "onnxcost/profile.h"

static void statistics_are_exact(void **state)
{
    (void)state;
    double odd[] = {5, 1, 9}, even[] = {4, 1, 3, 100}, one[] = {7};
    assert_true(oc_stat_of(OC_STAT_MEDIAN, odd, 3) == 5);
    assert_true(oc_stat_of(OC_STAT_MEDIAN, even, 4) == 3.5);
    assert_true(oc_stat_of(OC_STAT_MEAN, even, 4) == 27);
    assert_true(oc_stat_of(OC_STAT_MIN, even, 4) == 1);
    assert_true(oc_stat_of(OC_STAT_MAX, even, 4) == 100);
    assert_true(oc_stat_of(OC_STAT_SUM, even, 4) == 108);
    for (int s = OC_STAT_MEDIAN; s <= OC_STAT_SUM; s++)
        assert_true(oc_stat_of((enum oc_stat)s, one, 1) == 7);
    assert_string_equal(oc_stat_name(OC_STAT_MEDIAN), "median");
    assert_string_equal(oc_stat_name(OC_STAT_SUM), "sum");
}

static void importers_are_listed_once(void **state)
{
    (void)state;
    size_t n;
    const struct oc_importer *const *imp = oc_importers(&n);
    assert_true(n >= 1);
    for (size_t i = 0; i < n; i++) {
        const char *name, *title;
        assert_true(oc_profile_format(i, &name, &title));
        assert_string_equal(name, imp[i]->name);
        assert_true(title[0] && (imp[i]->printed || (imp[i]->probe && imp[i]->read)));
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(imp[k]->name, imp[i]->name);
    }
    const char *name, *title;
    assert_false(oc_profile_format(n, &name, &title));
}

/* Every probe on every kind of invalid input: none may accept it, and the message must be one line with the
 * reason. */
static void invalid_input_is_rejected_by_every_probe(void **state)
{
    (void)state;
    static const struct {
        const char *data;
        size_t n;
        const char *want;
    } row[] = {
        {"", 0, "the file is empty; give a profile"},
        {" \n\t ", 4, "the file is empty; give a profile"},
        {"hello, world\n", 13, "text of no known profile format: it begins 'hello, world'; --map names "},
        {"{\"a\": 1}", 8, "text of no known profile format: it begins '{\"a\": 1}'; onnxcost help profiles"},
        {"[]", 2, "text of no known profile format: it begins '[]'; onnxcost help profiles"},
        {"[{\"cat\":\"x\"}]", 13, "it begins '[{\"cat\":\"x\"}]'; onnxcost help profiles lists what is read"},
        {"  \n 0123456789012345678901234567890123456789\xc3\xa4 end", 50,
         "it begins '0123456789012345678901234567890123456789'; "},
        {"012345678901234567890123456789012345678\xc3\xa4 end", 45,
         "it begins '012345678901234567890123456789012345678'; "},
        {"\x08\x07\x12\x00\x01\x02\xff\xfe\x00\x00\x03", 11,
         "this is an ONNX model, not a profile: give the model first"},
        {"\x03\x07\x12\x00\x01\x02\xff\xfe\x00\x00\x03", 11,
         "binary data of no known profile format; onnxcost help profiles"},
        {"\x1f\x8b\x08\x00\x00", 5, "the file is empty; give a profile"},
    };
    for (size_t i = 0; i < OC_COUNT(row); i++) {
        struct oc_err e = {0};
        assert_null(t_profile_mem(row[i].data, row[i].n, NULL, &e));
        assert_int_equal(e.code, OC_EFORMAT);
        assert_non_null(strstr(e.msg, row[i].want));
        assert_non_null(strstr(e.msg, "cannot read '/tmp/oc_profile_"));
        assert_null(strchr(e.msg, '\n'));
        assert_non_null(strstr(e.file, "/tmp/oc_profile_"));
    }
}

/* A file that only its own tool can read; and a text that two importers accept. */
static void binary_and_ambiguous_files_have_a_hint(void **state)
{
    (void)state;
    static const struct {
        const char *data, *want;
    } row[] = {
        {"QDSTRM ...",
         "this is an Nsight Systems recording, not a profile: export it: QdstrmImporter -i FILE"},
        {"ftrt ...",
         "this is a TensorRT engine, not a profile: export its profile: trtexec --loadEngine=FILE"},
        {"Total time: 2 s\nLine #      Hits         Time  Per Hit   % Time  Line Contents\n",
         "a report of line_profiler (the time of a line contains that of the functions it calls)"},
        {"1,\"f\",\"Counter_Name\",\"Counter_Value\"\n2,\"SQ_WAVES\",3\n", "with counters and no times"},
        {"Dispatch_ID,Kernel_Name,GPU_ID\n0,f,0\n", "a list of the kernels that rocprof-compute counted"},
        {"[{\"cols\":[{\"id\":\"cumulativeTimePercent\"}]}]", "a page of XProf's dashboard"},
        {"PERFILE2 ...", "this is a perf recording, not a profile: export it: perf report --stdio"},
        {"{\"graph_exec\": \"==PROF== \"}", "it may be 'megengine' (graph_exec) or 'ncu' (output of Nsight "
                                            "Compute): choose one with --profile-format"},
    };
    for (size_t i = 0; i < OC_COUNT(row); i++) {
        struct oc_err e = {0};
        assert_null(t_profile_text(row[i].data, NULL, &e));
        assert_int_equal(e.code, OC_EFORMAT);
        if (!strstr(e.msg, row[i].want))
            fail_msg("'%s' has no '%s'", e.msg, row[i].want);
    }
}

static void write_file(const char *folder, const char *name, const char *text)
{
    char path[200];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

/* Tables come before the timeline of the same run; shapes of another device are not a profile of their own.
 */
static void folder_of_one_measurement_is_one_profile(void **state)
{
    (void)state;
    static const char detail[] = "op_side,op_type,op_name,op_full_name,op_occurrences,op_total_time(us),"
                                 "op_avg_time(us),total_proportion,cuda_activity_cost_time(us),"
                                 "cuda_activity_call_count\n"
                                 "Device,MatMul,MatMul-op1,net/MatMul-op1,10,50,5,0.2,30,10\n";
    char folder[] = "/tmp/onnxcost-test-XXXXXX", inner[100], command[200];
    struct oc_profile *p;
    struct oc_err e = {0};
    enum oc_file_kind kind;
    assert_non_null(mkdtemp(folder));
    snprintf(inner, sizeof(inner), "%s/profiler", folder);
    assert_int_equal(mkdir(inner, 0700), 0);
    write_file(inner, "gpu_op_detail_info_0.csv", detail);
    write_file(inner, "gpu_timeline_display_0.json",
               "[{\"name\": \"a\", \"ph\": \"X\", \"ts\": 1, \"dur\": 2, \"pid\": 0, \"tid\": 1}]");
    write_file(inner, "framework_raw_1.csv", "full_kernel_name,kernel_type,op_info\n");
    write_file(inner, "notes.txt", "nothing\n");
    if (oc_profile_open(folder, NULL, &p, &e) != 0)
        fail_msg("%s", e.msg);
    assert_string_equal(p->format, "mindspore");
    assert_int_equal(p->n_rec, 1);
    assert_true(p->rec[0].kernel_ns == 30e3);
    oc_profile_close(p);
    assert_int_equal(oc_file_kind(folder, &kind, &e), 0);
    assert_int_equal(kind, OC_FILE_PROFILE);
    write_file(inner, "gpu_op_detail_info_1.csv", detail);
    assert_int_equal(oc_profile_open(inner, NULL, &p, &e), -1);
    assert_non_null(strstr(e.msg, "has several profiles, for example"));
    snprintf(command, sizeof(command), "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

static void one_argument_names_several_recordings(void **state)
{
    static const char trace[] =
        "[{\"cat\":\"Session\",\"name\":\"model_run\",\"ts\":1,\"dur\":2,\"ph\":\"X\",\"args\":{}}]";
    (void)state;
    char folder[] = "/tmp/oc_test_named.XXXXXX", one[256], command[300];
    const char **path;
    size_t n;
    struct oc_err e = {0};
    assert_non_null(mkdtemp(folder));
    write_file(folder, "a.json", trace);
    write_file(folder, "notes.txt", "nothing\n");
    assert_int_equal(oc_recordings_named(folder, &path, &n, &e), 0);
    assert_int_equal(n, 1); /* the folder as one measurement */
    assert_string_equal(path[0], folder);
    free(path);
    write_file(folder, "b,c.json", trace);
    assert_int_equal(oc_recordings_named(folder, &path, &n, &e), 0);
    assert_int_equal(n, 2);
    assert_non_null(strstr(path[0], "/a.json"));
    assert_non_null(strstr(path[1], "/b,c.json"));
    free(path);
    snprintf(one, sizeof(one), "%s/b,c.json", folder);
    assert_int_equal(oc_recordings_named(one, &path, &n, &e), 0);
    assert_int_equal(n, 1); /* a file with that name */
    free(path);
    assert_int_equal(oc_recordings_named("x.json,y.json", &path, &n, &e), 0);
    assert_int_equal(n, 2); /* whether they exist is found when they are read */
    assert_string_equal(path[1], "y.json");
    free(path);
    snprintf(command, sizeof(command), "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

/* More files than a measurement has; and no descriptor is left to list them. */
static void folders_that_cannot_be_listed_are_errors(void **state)
{
    (void)state;
    char folder[] = "/tmp/onnxcost-test-XXXXXX", name[16], command[200];
    struct oc_profile *p;
    struct oc_err e = {0};
    struct rlimit all, none;
    assert_non_null(mkdtemp(folder));
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &all), 0);
    none = (struct rlimit){.rlim_cur = 0, .rlim_max = all.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    int rc = oc_profile_open(folder, NULL, &p, &e);
    setrlimit(RLIMIT_NOFILE, &all);
    assert_int_equal(rc, -1);
    assert_int_equal(e.code, OC_EIO);
    assert_non_null(strstr(e.msg, "cannot read the folder '/tmp/onnxcost-test-"));
    assert_non_null(strstr(e.msg, strerror(EMFILE)));
    for (int i = 0; i <= 4096; i++) {
        snprintf(name, sizeof(name), "%d", i);
        write_file(folder, name, "");
    }
    assert_int_equal(oc_profile_open(folder, NULL, &p, &e), -1);
    assert_int_equal(e.code, OC_ELIMIT);
    assert_non_null(strstr(e.msg, "has more than 4096 files: name the files of one profile"));
    snprintf(command, sizeof(command), "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

static void log_prefixes_and_other_text_are_removed(void **state)
{
    (void)state;
    static const char *const text[] = {
        "2024-05-01T10:00:00.1Z Event  Calls  Total  Min.  Max.  Ave.  Ratio.\n"
        "2024-05-01T10:00:00.1Z mul  1  2.5  2.5  2.5  2.5  1\n",
        "app-1  | [{\"count\": 1},\napp-1  |  {\"name\": \"a\", \"timeMs\": 2.5, \"averageMs\": 2.5, "
        "\"percentage\": 100}]\n",
        "loading\n[{\"count\": 1},\n {\"name\": \"a\", \"timeMs\": 2.5, \"averageMs\": 2.5, "
        "\"percentage\": 100}]\n"};
    for (size_t i = 0; i < OC_COUNT(text); i++) {
        struct oc_err e = {0};
        struct oc_profile *p = t_profile_text(text[i], NULL, &e);
        if (!p)
            fail_msg("%zu: %s", i, e.msg);
        assert_int_equal(p->n_rec, 1);
        assert_true(p->rec[0].total_ns == 2.5e6);
        oc_profile_close(p);
    }
}

/* Sums and means over an unknown number of runs, of each kind of reader. */
static void runs_that_are_unknown_have_no_minimum(void **state)
{
    (void)state;
    static const char *const file[] = {"functions/gprof.txt",
                                       "kineto/two_devices.json",
                                       "mindspore/aicore_intermediate_0_detail.csv",
                                       "mindspore/cpu_op_detail_info_0.csv",
                                       "ncu/raw.csv",
                                       "op_tables/rocprofv3_kernel_trace.csv",
                                       "openvino/numa.csv",
                                       "paddle_report/detail.txt"};
    for (size_t i = 0; i < OC_COUNT(file); i++) {
        char path[200];
        struct oc_profile *p;
        struct oc_err e;
        snprintf(path, sizeof(path), "tests/data/%s", file[i]);
        assert_int_equal(oc_profile_open(path, NULL, &p, &e), 0);
        assert_true(p->n_rec > 0 && !p->runs_total);
        assert_true(p->stat == OC_STAT_SUM || p->stat == OC_STAT_MEAN);
        for (uint32_t k = 0; k < p->n_rec; k++)
            assert_true(isnan(p->rec[k].min_ns) && isnan(p->rec[k].max_ns) && isnan(p->rec[k].median_ns) &&
                        isnan(p->rec[k].p10_ns) && isnan(p->rec[k].p90_ns));
        oc_profile_close(p);
    }
}

static void errors_name_the_path(void **state)
{
    (void)state;
    struct oc_profile *p;
    struct oc_err e;
    assert_int_equal(oc_profile_open("/no/such", NULL, &p, &e), -1);
    assert_string_equal(e.msg, "cannot read '/no/such': No such file or directory");
    assert_null(p);
    char folder[] = "/tmp/onnxcost-test-XXXXXX";
    assert_non_null(mkdtemp(folder));
    assert_int_equal(oc_profile_open(folder, NULL, &p, &e), -1);
    assert_non_null(strstr(e.msg,
                           "is a directory without a profile that can be read: give a file (onnxcost scan "
                           "reads all models of a directory)"));
    rmdir(folder);
    struct oc_profile_opts opts = {.format = "no-such-format"};
    assert_null(t_profile_text("[{}]", &opts, &e));
    assert_non_null(
        strstr(e.msg, "unknown profile format 'no-such-format'; onnxcost help profiles lists them"));
    opts.format = "onnxruntime"; /* forced on what is none */
    assert_null(t_profile_text("7", &opts, &e));
    assert_non_null(strstr(e.msg, "expected an array of events (offset 0)"));
    assert_null(t_profile_text("{}", &opts, &e));
    assert_non_null(strstr(e.msg, "has no events of ONNX Runtime"));
    assert_null(t_profile_text("[{}]", &opts, &e));
    assert_non_null(strstr(e.msg, "has no events of ONNX Runtime"));
}

static void detects_the_kind_of_a_file(void **state)
{
    (void)state;
    enum oc_file_kind kind;
    struct oc_err e;
    assert_int_equal(oc_file_kind("tests/data/onnxruntime/loop_two_runs.json", &kind, &e), 0);
    assert_int_equal(kind, OC_FILE_PROFILE);
    assert_int_equal(oc_file_kind("Makefile", &kind, &e), 0);
    assert_int_equal(kind, OC_FILE_PROFILE);
    assert_int_equal(oc_file_kind("/no/such", &kind, &e), -1);
    char folder[] = "/tmp/onnxcost-test-XXXXXX", config[100];
    assert_non_null(mkdtemp(folder));
    snprintf(config, sizeof(config), "%s/config.json", folder);
    write_file(folder, "config.json",
               "{\"architectures\": [\"LlamaForCausalLM\"], \"model_type\": \"llama\"}");
    assert_int_equal(oc_file_kind(config, &kind, &e), 0);
    assert_int_equal(kind, OC_FILE_MODEL);
    write_file(folder, "config.json", "{\"vocabulary\": 32000}");
    assert_int_equal(oc_file_kind(config, &kind, &e), -1);
    assert_non_null(strstr(e.msg, "JSON without model_type"));
    remove(config);
    remove(folder);
    const char *model = t_sample("onnxruntime/ppocr_cls.onnx");
    if (!model)
        skip();
    assert_int_equal(oc_file_kind(model, &kind, &e), 0);
    assert_int_equal(kind, OC_FILE_MODEL);
}

static void numbers_out_of_range_are_errors(void **state)
{
    (void)state;
    static const struct {
        struct oc_profile_opts o;
        const char *msg;
    } row[] = {{{.warmup = -2}, "option warmup is -2: from -1"},
               {{.iterations = UINT32_MAX}, "option iterations is 4294967295"},
               {{.stat = (enum oc_stat)(OC_STAT_SUM + 1)}, "option stat is 6: from 0 to 5"}};
    for (size_t i = 0; i < OC_COUNT(row); i++) {
        struct oc_profile *p;
        struct oc_err err = {0};
        assert_int_equal(oc_profile_open("/no/such/file", &row[i].o, &p, &err), -1);
        assert_int_equal(err.code, OC_EARG);
        assert_non_null(strstr(err.msg, row[i].msg));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statistics_are_exact),
        cmocka_unit_test(importers_are_listed_once),
        cmocka_unit_test(invalid_input_is_rejected_by_every_probe),
        cmocka_unit_test(folder_of_one_measurement_is_one_profile),
        cmocka_unit_test(one_argument_names_several_recordings),
        cmocka_unit_test(folders_that_cannot_be_listed_are_errors),
        cmocka_unit_test(log_prefixes_and_other_text_are_removed),
        cmocka_unit_test(runs_that_are_unknown_have_no_minimum),
        cmocka_unit_test(errors_name_the_path),
        cmocka_unit_test(numbers_out_of_range_are_errors),
        cmocka_unit_test(detects_the_kind_of_a_file),
        cmocka_unit_test(binary_and_ambiguous_files_have_a_hint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
