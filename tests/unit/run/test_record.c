/* Whole recordings with a library that imitates ONNX Runtime (tests/fake_ort), and with a real one if it is
 * found. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "onnxcost.h"
#include "support/build.h"
#include "onnxcost/profile.h"
#include "onnxcost/record.h"
#include "onnxcost/report.h"

static char dir[] = "/tmp/oc_record_XXXXXX";

static const char *in_dir(const char *name)
{
    static char path[4][256];
    static int at;
    at = (at + 1) % 4;
    snprintf(path[at], sizeof(path[at]), "%s/%s", dir, name);
    return path[at];
}

static const char *fake(void)
{
    static char path[256];
    const char *build = getenv("BUILD");
    snprintf(path, sizeof(path), "%s/fake_ort.so", build ? build : "build/release");
    return path;
}

static int files_in_dir(void)
{
    int n = 0;
    DIR *d = opendir(dir);
    const struct dirent *e;
    while (d && (e = readdir(d)))
        n += strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
    closedir(d);
    return n;
}

/* y = relu(x + table[id]): "act" is the node that the fake profile contains. */
static const char *write_model(const char *name)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[batch,4]");
    oc_b_input(b, "id", "int64[batch]");
    oc_b_input(b, "word", "string[1]");
    oc_b_init(b, "table", "float[3,4]{*1}");
    oc_b_node(b, "Gather", "row", "table,id", "r", "");
    oc_b_node(b, "Add", "sum", "x,r", "s", "");
    oc_b_node(b, "Relu", "act", "s", "y", "");
    oc_b_output(b, "y", "float[batch,4]");
    static char path[256];
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    assert_int_equal(oc_b_save(b, path), 0);
    oc_b_free(b);
    return path;
}

struct session {
    struct oc_model *model;
    struct oc_analysis *analysis;
    struct oc_recording *recording;
    struct oc_err err;
};

static int record(struct session *s, const char *model, const struct oc_analyze_opts *a,
                  struct oc_record_opts o)
{
    static const struct oc_analyze_opts none;
    *s = (struct session){0};
    o.output = o.output ? o.output : in_dir("m");
    o.runs = o.runs ? o.runs : 4;
    if (oc_model_load(model, NULL, &s->model, &s->err) ||
        oc_analyze(s->model, a ? a : &none, &s->analysis, &s->err))
        fail_msg("%s", s->err.msg);
    return oc_record(s->model, s->analysis, &o, &s->recording, &s->err);
}

static void session_free(struct session *s)
{
    oc_recording_free(s->recording);
    oc_analysis_free(s->analysis);
    oc_model_free(s->model);
}

static void remove_files(void)
{
    unlink(in_dir("m.profile.json"));
    unlink(in_dir("m.optimized.onnx"));
    assert_int_equal(files_in_dir(), 1); /* the model */
}

static void recording_writes_profile_and_optimized_model(void **state)
{
    (void)state;
    struct session s;
    const char *path = write_model("model.onnx");
    const struct oc_bind bind = {"batch", 5};
    const struct oc_analyze_opts a = {.bind = &bind, .n_bind = 1};
    setenv("FAKE_ORT", "prints", 1);
    if (record(&s, path, &a, (struct oc_record_opts){.library = fake(), .warmup = 2}))
        fail_msg("%s", s.err.msg);
    struct oc_record_info info = *oc_recording_info(s.recording);
    assert_string_equal(info.version, "1.16.0");
    assert_string_equal(info.profile, in_dir("m.profile.json"));
    assert_string_equal(info.optimized, in_dir("m.optimized.onnx"));
    assert_int_equal(info.n_input, 3);
    assert_string_equal(info.input[1].name, "id");
    assert_string_equal(info.input[1].content, "0 to 2");
    assert_int_equal(info.input[1].dim[0], 5);
    assert_true(info.plain.min_ns > 0 && info.plain.min_ns <= info.plain.typical_ns &&
                info.profiled.min_ns > 0);
    assert_int_equal(info.plain.runs, 4);
    assert_int_equal(files_in_dir(), 3);

    /* 4 runs after 2 warm-up runs, 10 us and one more each: without the first two the central half is of 12, 13,
     * 14, 15 */
    const struct oc_profile_opts opts = {.warmup = 2};
    struct oc_profile *p;
    struct oc_join *join = NULL;
    struct oc_model *optimized = NULL;
    if (oc_profile_open(info.profile, &opts, &p, &s.err) ||
        oc_model_load(info.optimized, NULL, &optimized, &s.err) ||
        oc_join_make(s.model, s.analysis, p, optimized, &join, &s.err))
        fail_msg("%s", s.err.msg);
    assert_string_equal(oc_profile_importer(p), "onnxruntime");
    char *text;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    const struct oc_report_in in = {.model = s.model, .analysis = s.analysis, .profile = p, .join = join};
    const struct oc_report_opts csv = {.format = "csv"};
    assert_int_equal(oc_report_write(&in, &csv, f, &s.err), 0);
    fclose(f);
    assert_non_null(strstr(text, "act"));
    assert_non_null(strstr(text, "13500"));
    free(text);
    oc_join_free(join);
    oc_model_free(optimized);
    oc_profile_close(p);
    session_free(&s);
    unsetenv("FAKE_ORT");
    remove_files();
}

static void recording_into_a_folder(void **state)
{
    (void)state;
    struct session s;
    char folder[256];
    snprintf(folder, sizeof(folder), "%s/there", dir);
    assert_int_equal(mkdir(folder, 0777), 0);
    assert_int_equal(record(&s, write_model("model.onnx"), NULL,
                            (struct oc_record_opts){.library = fake(), .output = folder}),
                     0);
    assert_string_equal(oc_recording_info(s.recording)->profile, in_dir("there/model.profile.json"));
    assert_int_equal(access(in_dir("there/model.optimized.onnx"), R_OK), 0);
    session_free(&s);
    unlink(in_dir("there/model.optimized.onnx"));
    unlink(in_dir("there/model.profile.json"));
    assert_int_equal(rmdir(folder), 0); /* the folder contains nothing else */
}

/* The text of a recording by the imitation in a mode; runs 0: by the rule. */
static char *text_of(const char *mode, uint32_t runs, const char *budget)
{
    struct session s = {0};
    static const struct oc_analyze_opts none;
    const struct oc_record_opts o = {
        .library = fake(), .output = in_dir("m"), .runs = runs, .time_budget = budget};
    char *text;
    size_t n;
    setenv("FAKE_ORT", mode, 1);
    if (oc_model_load(write_model("model.onnx"), NULL, &s.model, &s.err) ||
        oc_analyze(s.model, &none, &s.analysis, &s.err) ||
        oc_record(s.model, s.analysis, &o, &s.recording, &s.err))
        fail_msg("%s", s.err.msg);
    unsetenv("FAKE_ORT");
    FILE *f = open_memstream(&text, &n);
    oc_recording_write(s.recording, f);
    fclose(f);
    session_free(&s);
    remove_files();
    return text;
}

static void noisy_runs_keep_the_statistic_and_give_a_warning(void **state)
{
    (void)state;
    char *text = text_of("noisy", 12, NULL);
    if (!strstr(text, "(trimmed mean of 6 of 12 runs, +-") || !strstr(text, "NOISY:") ||
        !strstr(text, "warning     noisy measurement"))
        fail_msg("%s", text);
    free(text);
}

/* 400 ms a run, 2 s for both sessions: 1 s ends the first one early. After how many runs: test_stop_rule.c.
 */
static void time_budget_ends_slow_runs_and_is_reported(void **state)
{
    (void)state;
    char *text = text_of("slow", 0, "2s");
    if (!strstr(text, "the time budget ended the measurement after "))
        fail_msg("%s", text);
    free(text);
}

/* batch has no size and x no contents: a failure names the first, and the files of a success have it too. */
static void assumptions_are_named_in_failures_and_in_the_files(void **state)
{
    (void)state;
    struct session s;
    const char *path = write_model("model.onnx");
    static const char assumed[] = "x: batch = 1 (default for a batch); set with --shape x=...";
    setenv("FAKE_ORT", "run_fails", 1);
    assert_int_equal(record(&s, path, NULL, (struct oc_record_opts){.library = fake()}), -1);
    if (!strstr(s.err.msg, "shapes do not fit. Assumed inputs: ") || !strstr(s.err.msg, assumed) ||
        !strstr(s.err.msg, "set with --value id=..."))
        fail_msg("%s", s.err.msg);
    session_free(&s);
    const struct oc_bind bind = {"batch", 5};
    const struct oc_analyze_opts all_given = {.bind = &bind, .n_bind = 1};
    assert_int_equal(record(&s, path, &all_given, (struct oc_record_opts){.library = fake()}), -1);
    assert_null(strstr(s.err.msg, "Assumed"));
    session_free(&s);
    unsetenv("FAKE_ORT");
    if (record(&s, path, NULL, (struct oc_record_opts){.library = fake()}))
        fail_msg("%s", s.err.msg);
    struct oc_profile *p;
    struct oc_model *optimized;
    const struct oc_diag *d;
    if (oc_profile_open(oc_recording_info(s.recording)->profile, NULL, &p, &s.err) ||
        oc_model_load(oc_recording_info(s.recording)->optimized, NULL, &optimized, &s.err))
        fail_msg("%s", s.err.msg);
    bool told = false;
    for (size_t i = oc_profile_diags(p, &d); i-- > 0;)
        told |= !strcmp(d[i].code, "I-assumed-inputs") && strstr(d[i].text, assumed);
    assert_true(told);
    char text[4096];
    FILE *f = fopen(oc_recording_info(s.recording)->optimized, "rb");
    size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;
    if (f)
        fclose(f);
    assert_non_null(memmem(text, n, "onnxcost.assumed_inputs", 23));
    oc_model_free(optimized);
    oc_profile_close(p);
    session_free(&s);
    remove_files();
}

/* Nodes that a provider has compiled cannot be saved: the plain session shows that the model can be loaded. */
static void provider_is_reported_and_may_leave_no_optimized_model(void **state)
{
    (void)state;
    struct session s;
    const char *const modes[] = {"", "compiled"};
    for (size_t i = 0; i < 2; i++) {
        setenv("FAKE_ORT", modes[i], 1);
        if (record(&s, write_model("model.onnx"), NULL,
                   (struct oc_record_opts){.library = fake(), .provider = "cuda:device_id=0"}))
            fail_msg("%s", s.err.msg);
        unsetenv("FAKE_ORT");
        const struct oc_record_info *info = oc_recording_info(s.recording);
        assert_string_equal(info->provider, "cuda:device_id=0");
        assert_string_equal(
            info->placement,
            "1 of 2 operators by CUDAExecutionProvider; 1 by CPUExecutionProvider: sum (Add)");
        assert_true(!info->optimized == (i == 1));
        assert_int_equal(files_in_dir(), i == 1 ? 2 : 3);
        session_free(&s);
        remove_files();
    }
    setenv("FAKE_ORT", "no_optimized", 1); /* is not a failure to save */
    assert_int_equal(record(&s, write_model("model.onnx"), NULL, (struct oc_record_opts){.library = fake()}),
                     -1);
    session_free(&s);
    setenv("FAKE_ORT", "bad_model", 1);
    assert_int_equal(record(&s, write_model("model.onnx"), NULL,
                            (struct oc_record_opts){.library = fake(), .provider = "webgpu"}),
                     -1);
    assert_non_null(strstr(s.err.msg, "model.onnx' with --provider webgpu: protobuf parsing failed"));
    session_free(&s);
    unsetenv("FAKE_ORT");
    assert_int_equal(record(&s, write_model("model.onnx"), NULL,
                            (struct oc_record_opts){.library = fake(), .provider = "webgpu:"}),
                     -1);
    assert_int_equal(s.err.code, OC_EARG);
    session_free(&s);
}

static void missing_folders_are_created(void **state)
{
    (void)state;
    struct session s;
    char output[256];
    snprintf(output, sizeof(output), "%s/new/deep/", dir);
    if (record(&s, write_model("model.onnx"), NULL,
               (struct oc_record_opts){.library = fake(), .output = output}))
        fail_msg("%s", s.err.msg);
    assert_string_equal(oc_recording_info(s.recording)->profile, in_dir("new/deep/model.profile.json"));
    session_free(&s);
    assert_int_equal(
        unlink(in_dir("new/deep/model.optimized.onnx")) | unlink(in_dir("new/deep/model.profile.json")), 0);
    assert_int_equal(rmdir(in_dir("new/deep")) | rmdir(in_dir("new")), 0);
}

static void failures_of_the_library_are_errors(void **state)
{
    (void)state;
    static const struct {
        const char *mode, *text;
        enum oc_code code;
    } cases[] = {
        {"old", "ONNX Runtime 1.3.0 is too old", OC_ELIBRARY},
        {"env_fails", "no environment today", OC_ELIBRARY},
        {"bad_model", "ONNX Runtime cannot load '", OC_EFORMAT},
        {"bad_model", "model.onnx': protobuf parsing failed", OC_EFORMAT},
        {"run_fails", "model.onnx': shapes do not fit", OC_EUNSUPPORTED},
        {"crash_loading", "ONNX Runtime crashed while loading the model (Aborted): the last words",
         OC_ELIBRARY},
        {"crash_running", "ONNX Runtime crashed while running the model (run 1) (Segmentation fault)",
         OC_ELIBRARY},
        {"exit_running", "ONNX Runtime ended while running the model (run 1) (exit code 7)", OC_ELIBRARY},
        {"no_profile", "ONNX Runtime has written no profile", OC_ELIBRARY},
        {"no_optimized", "ONNX Runtime has not saved the optimized model", OC_ELIBRARY},
    };
    const char *path = write_model("model.onnx");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct session s;
        setenv("FAKE_ORT", cases[i].mode, 1);
        assert_int_equal(record(&s, path, NULL, (struct oc_record_opts){.library = fake()}), -1);
        if (!strstr(s.err.msg, cases[i].text) || s.err.code != cases[i].code)
            fail_msg("%s: %d %s", cases[i].mode, s.err.code, s.err.msg);
        assert_null(s.recording);
        session_free(&s);
        assert_int_equal(files_in_dir(), 1); /* only the model */
    }
    unsetenv("FAKE_ORT");
}

static const char *input_name;

static bool is_input(const char *path)
{
    size_t n = strlen(path), own = strlen(input_name);
    return n > own && path[n - own - 1] == '/' && !strcmp(path + n - own, input_name);
}

static void rejects_invalid_options(void **state)
{
    (void)state;
    struct session s;
    const char *path = write_model("model.onnx");
    assert_int_equal(record(&s, path, NULL, (struct oc_record_opts){.library = fake(), .level = "most"}), -1);
    assert_non_null(strstr(s.err.msg, "unknown optimization level 'most'"));
    session_free(&s);
    assert_int_equal(record(&s, path, NULL, (struct oc_record_opts){.library = fake(), .runs = 900000}), -1);
    assert_non_null(strstr(s.err.msg, "with 3 nodes that is 333333 runs"));
    session_free(&s);
    const struct oc_analyze_opts open = {.no_defaults = true};
    assert_int_equal(record(&s, path, &open, (struct oc_record_opts){.library = fake()}), -1);
    assert_non_null(strstr(s.err.msg, "input 'x': dimension 0 is unknown"));
    session_free(&s);
    assert_int_equal(
        record(&s, path, NULL, (struct oc_record_opts){.library = fake(), .output = "/dev/null/x"}), -1);
    assert_int_equal(s.err.code, OC_EOUTPUT);
    session_free(&s);
    assert_int_equal(files_in_dir(), 1);
    /* another input of the caller at the path of a file of the recording */
    const char *const kept[] = {"m.profile.json", "m.optimized.onnx", "m.optimized.onnx.data"};
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
        input_name = kept[i];
        assert_int_equal(
            record(&s, path, NULL, (struct oc_record_opts){.library = fake(), .keeps = is_input}), -1);
        assert_int_equal(s.err.code, OC_EARG);
        assert_non_null(strstr(s.err.msg, "would be overwritten"));
        assert_non_null(strstr(s.err.msg, kept[i]));
        session_free(&s);
        assert_int_equal(files_in_dir(), 1);
    }
    /* a model at the path of the optimized one */
    assert_int_equal(rename(path, in_dir("m.optimized.onnx")), 0);
    assert_int_equal(record(&s, in_dir("m.optimized.onnx"), NULL, (struct oc_record_opts){.library = fake()}),
                     -1);
    assert_non_null(strstr(s.err.msg, "would be overwritten"));
    session_free(&s);
    unlink(in_dir("m.optimized.onnx"));
}

static void missing_weights_are_an_error(void **state)
{
    (void)state;
    struct session s;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[2]");
    oc_b_init_external(b, "w", "float[2]", "gone.data", 0, 8);
    oc_b_node(b, "Add", "a", "x,w", "y", "");
    oc_b_output(b, "y", "float[2]");
    assert_int_equal(oc_b_save(b, in_dir("model.onnx")), 0);
    oc_b_free(b);
    assert_int_equal(record(&s, in_dir("model.onnx"), NULL, (struct oc_record_opts){.library = fake()}), -1);
    assert_non_null(strstr(s.err.msg, "its weights are absent: 'w' should be in 'gone.data' next to it"));
    session_free(&s);
    b = oc_b_new(17);
    oc_b_input(b, "x", "float[2]");
    oc_b_init(b, "w", "float[2]");
    oc_b_node(b, "Add", "a", "x,w", "y", "");
    oc_b_output(b, "y", "float[2]");
    assert_int_equal(oc_b_save(b, in_dir("model.onnx")), 0);
    oc_b_free(b);
    assert_int_equal(record(&s, in_dir("model.onnx"), NULL, (struct oc_record_opts){.library = fake()}), -1);
    assert_non_null(strstr(s.err.msg, "its weights are absent: 'w' has no data"));
    session_free(&s);
}

static int setup(void **state)
{
    (void)state;
    return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    unlink(in_dir("model.onnx"));
    return rmdir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(noisy_runs_keep_the_statistic_and_give_a_warning),
        cmocka_unit_test(time_budget_ends_slow_runs_and_is_reported),
        cmocka_unit_test(provider_is_reported_and_may_leave_no_optimized_model),
        cmocka_unit_test(missing_folders_are_created),
        cmocka_unit_test(assumptions_are_named_in_failures_and_in_the_files),
        cmocka_unit_test(recording_writes_profile_and_optimized_model),
        cmocka_unit_test(recording_into_a_folder),
        cmocka_unit_test(failures_of_the_library_are_errors),
        cmocka_unit_test(rejects_invalid_options),
        cmocka_unit_test(missing_weights_are_an_error),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
