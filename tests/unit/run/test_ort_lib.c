/* Results for libraries that are ONNX Runtime, that are not, or that only resemble it (tests/fake_ort). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "run/ort_lib.h"

static const char *build(void)
{
    const char *b = getenv("BUILD");
    return b ? b : "build/release";
}

static const char *fake(void)
{
    static char path[256];
    snprintf(path, sizeof(path), "%s/fake_ort.so", build());
    return path;
}

/* Opens the library in that mode; returns the text of the error, NULL: it is usable. */
static const char *open_as(const char *mode)
{
    static struct oc_err err;
    struct oc_ort ort;
    setenv("FAKE_ORT", mode, 1);
    err = (struct oc_err){0};
    int rc = oc_ort_open(fake(), &ort, &err);
    unsetenv("FAKE_ORT");
    assert_true(!rc || err.code == OC_ELIBRARY);
    return rc ? err.msg : NULL;
}

static void usable_library_is_opened(void **state)
{
    (void)state;
    struct oc_ort ort;
    struct oc_err err;
    assert_int_equal(oc_ort_open(fake(), &ort, &err), 0);
    assert_string_equal(ort.version, "1.16.0");
    assert_int_equal(ort.api_version, 16);
    assert_non_null(strstr(ort.file, "fake_ort.so"));
    assert_int_equal(oc_ort_check(&ort, NULL, OC_EFORMAT, "x", &err), 0);
    assert_int_equal(oc_ort_check(&ort, ort.create_status(1, "two\nlines"), OC_EFORMAT, "cannot do it", &err),
                     -1);
    assert_string_equal(err.msg, "cannot do it: two lines");
    assert_int_equal(err.code, OC_EFORMAT);
}

static void unusable_libraries_have_an_error(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"no_base", "not an ONNX Runtime library (OrtGetApiBase gives nothing)"},
        {"empty_base", "not an ONNX Runtime library (OrtGetApiBase gives nothing)"},
        {"no_number", "not an ONNX Runtime library (it has no version)"},
        {"words", "not an ONNX Runtime library (its version is not a number)"},
        {"old", "ONNX Runtime 1.3.0 is too old: 1.10 needed"},
        {"ancient", "ONNX Runtime 0.5.0 is too old: 1.10 needed"},
        {"no_api", "ONNX Runtime 1.16.0 does not offer version 10 of its API"},
        {"hole", "not an ONNX Runtime library (functions are missing in its API)"},
        {"no_status", "not an ONNX Runtime library (it makes no errors)"},
        {"wrong_code", "not an ONNX Runtime library (an error did not come back as it was made)"},
        {"wrong_text", "not an ONNX Runtime library (an error did not come back as it was made)"},
    };
    for (size_t i = 0; i < OC_COUNT(cases); i++) {
        const char *text = open_as(cases[i][0]);
        assert_non_null(text);
        if (!strstr(text, cases[i][1]) || !strstr(text, "cannot use '") || !strstr(text, "fake_ort.so'"))
            fail_msg("%s: %s", cases[i][0], text);
    }
    assert_null(open_as(""));
}

/* The path of the C library, from the memory map. */
static void libc_path(char *out, size_t cap)
{
    char line[512];
    FILE *f = fopen("/proc/self/maps", "r");
    out[0] = '\0';
    while (f && fgets(line, sizeof(line), f)) {
        char *path = strchr(line, '/');
        if (path && strstr(path, "/libc.so")) {
            path[strcspn(path, "\n")] = '\0';
            snprintf(out, cap, "%s", path);
        }
    }
    if (f)
        fclose(f);
}

static void files_that_are_not_ort_are_rejected(void **state)
{
    (void)state;
    struct oc_ort ort;
    struct oc_err err;
    char path[512];
    assert_int_equal(oc_ort_open("no_such_file.so", &ort, &err), -1);
    assert_non_null(strstr(err.msg, "--ort-lib: cannot load './no_such_file.so': "));
    assert_int_equal(oc_ort_open("Makefile", &ort, &err), -1);
    assert_non_null(strstr(err.msg, "--ort-lib: cannot load './Makefile': "));
    libc_path(path, sizeof(path));
    if (!*path)
        skip();
    assert_int_equal(oc_ort_open(path, &ort, &err), -1);
    assert_non_null(strstr(err.msg, "not an ONNX Runtime library (it has no function OrtGetApiBase)"));
}

static void library_is_found_by_environment_variable(void **state)
{
    (void)state;
    struct oc_ort ort;
    struct oc_err err;
    const char *old = getenv("ONNXRUNTIME_LIB");
    char *kept = old ? strdup(old) : NULL;
    setenv("ONNXRUNTIME_LIB", "no_such_file.so", 1);
    assert_int_equal(oc_ort_open(NULL, &ort, &err), -1);
    assert_non_null(strstr(err.msg, "ONNXRUNTIME_LIB: cannot load './no_such_file.so': "));
    /* the option takes precedence */
    assert_int_equal(oc_ort_open(fake(), &ort, &err), 0);
    setenv("ONNXRUNTIME_LIB", fake(), 1);
    assert_int_equal(oc_ort_open(NULL, &ort, &err), 0);
    assert_string_equal(ort.version, "1.16.0");
    unsetenv("ONNXRUNTIME_LIB");
    if (kept)
        setenv("ONNXRUNTIME_LIB", kept, 1);
    free(kept);
}

static void make_file(const char *path)
{
    char dir[512];
    for (const char *p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
        snprintf(dir, sizeof(dir), "%.*s", (int)(p - path), path);
        mkdir(dir, 0777);
    }
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fclose(f);
}

static int position(const struct oc_ort_place *place, size_t n, const char *part)
{
    for (size_t i = 0; i < n; i++)
        if (strstr(place[i].file, part))
            return (int)i;
    return -1;
}

static void standard_locations_are_searched_in_order(void **state)
{
    (void)state;
    char dir[] = "/tmp/oc_ort_XXXXXX", path[512], lists[1024], command[64];
    assert_non_null(mkdtemp(dir));
    static const char *const files[] = {
        "venv/lib/python3.9/site-packages/onnxruntime/capi/libonnxruntime.so.1.19.2",
        "a/onnxruntime-node/bin/napi-v3/linux/" OC_NODE_ARCH "/libonnxruntime.so.1.16.3",
        "a/onnxruntime-node/bin/napi-v3/linux/other/libonnxruntime.so.1.16.3",
        "b/onnxruntime-node/bin/napi-v6/linux/" OC_NODE_ARCH "/libonnxruntime.so.1",
        "b/onnxruntime-node/bin/napi-v6/linux/other/libonnxruntime.so.1",
        "b/onnxruntime-node/bin/napi-v6/linux/" OC_NODE_ARCH "/libonnxruntime_providers_cuda.so",
    };
    for (size_t i = 0; i < OC_COUNT(files); i++) {
        snprintf(path, sizeof(path), "%s/%s", dir, files[i]);
        make_file(path);
    }
    snprintf(path, sizeof(path), "%s/venv", dir);
    snprintf(lists, sizeof(lists), "%s/a::%s/b", dir, dir);
    setenv("VIRTUAL_ENV", path, 1);
    setenv("NODE_PATH", lists, 1);
    struct oc_arena a = {0};
    const struct oc_ort_place *place;
    size_t n = oc_ort_places(&a, &place);
    assert_true(n >= 5);
    assert_string_equal(place[0].file, "libonnxruntime.so.1");
    int python = position(place, n, "capi/libonnxruntime.so.1.19.2"), first = position(place, n, "napi-v3"),
        second = position(place, n, "napi-v6");
    assert_true(python > 0 && first > python && second > first);
    assert_int_equal(position(place, n, "providers"), -1);
    assert_int_equal(position(place, n, "/other/"), -1);
    oc_arena_free(&a);
    unsetenv("VIRTUAL_ENV");
    unsetenv("NODE_PATH");
    snprintf(command, sizeof(command), "rm -r %s", dir);
    assert_int_equal(system(command), 0);
}

#define NPM_FILE "onnxruntime-node/bin/napi-v6/linux/" OC_NODE_ARCH "/libonnxruntime.so.1"

/* Why the library of an npm folder is not loaded; NULL: it is. */
static const char *why_not(const char *modules)
{
    struct oc_arena a = {0};
    const struct oc_ort_place *place;
    setenv("NODE_PATH", modules, 1);
    size_t n = oc_ort_places(&a, &place);
    unsetenv("NODE_PATH");
    int at = position(place, n, "napi-v6");
    assert_true(at > 0);
    const char *why = place[at].why_not;
    oc_arena_free(&a);
    return why;
}

/* A cloned repository or a shared folder must not decide what code is executed. */
static void libraries_that_others_can_place_are_not_loaded(void **state)
{
    (void)state;
    char dir[] = "/tmp/oc_ort_XXXXXX", path[512], back[512], command[64];
    assert_non_null(mkdtemp(dir));
    assert_non_null(getcwd(back, sizeof(back)));
    snprintf(path, sizeof(path), "%s/node_modules/" NPM_FILE, dir);
    make_file(path);
    snprintf(path, sizeof(path), "%s/node_modules", dir);
    assert_null(why_not(path)); /* below /tmp, which is sticky */
    assert_int_equal(chmod(path, 0777), 0);
    assert_string_equal(why_not(path), "another user owns it or can replace it");
    assert_int_equal(chmod(path, 01777), 0); /* sticky: what is in it belongs to its owner */
    assert_null(why_not(path));
    assert_int_equal(chmod(path, 0755), 0);
    if (geteuid() == 0) {
        assert_int_equal(chown(path, 65534, 65534), 0);
        assert_non_null(why_not(path));
        assert_int_equal(chown(path, 0, 0), 0);
    }
    assert_int_equal(chdir(dir), 0);
    assert_string_equal(why_not("node_modules"), "it was found from the working directory");
    assert_string_equal(why_not(""), "it was found from the working directory");
    assert_int_equal(chdir(back), 0);
    snprintf(command, sizeof(command), "rm -r %s", dir);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(usable_library_is_opened),
        cmocka_unit_test(libraries_that_others_can_place_are_not_loaded),
        cmocka_unit_test(unusable_libraries_have_an_error),
        cmocka_unit_test(files_that_are_not_ort_are_rejected),
        cmocka_unit_test(library_is_found_by_environment_variable),
        cmocka_unit_test(standard_locations_are_searched_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
