/* Execution providers: the text that names them, the call that adds each to a library that imitates ONNX Runtime
 * (tests/fake_ort), and the operators of a profile by provider. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "run/providers.h"

static struct oc_arena arena;

static int teardown(void **state)
{
    (void)state;
    oc_arena_free(&arena);
    return 0;
}

/* "NAME{KEY|VALUE;}..." of a text, or the error. */
static const char *parsed(const char *text)
{
    static struct oc_err err;
    struct oc_session_providers list;
    const char *out = "";
    if (oc_session_providers_parse(text, &arena, &list, &err)) {
        assert_int_equal(err.code, OC_EARG);
        return "error";
    }
    for (size_t i = 0; i < list.n; i++) {
        out = oc_printf(&arena, "%s%s{", out, list.item[i].name);
        for (size_t k = 0; k < list.item[i].n_option; k++)
            out = oc_printf(&arena, "%s%s|%s;", out, list.item[i].key[k], list.item[i].value[k]);
        out = oc_printf(&arena, "%s}", out);
    }
    return out;
}

static void text_gives_providers_in_order_with_options(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {NULL, ""},
        {"cuda", "cuda{}"},
        {"cuda+cpu", "cuda{}cpu{}"},
        {"tensorrt:a=1,b=x:1x3+cuda:device_id=1", "tensorrt{a|1;b|x:1x3;}cuda{device_id|1;}"},
        {"qnn:a=x=y", "qnn{a|x=y;}"},
        {"qnn:a=1\\,2\\+3\\\\,b=\\n", "qnn{a|1,2+3\\;b|\\n;}"},
        {"", "error"},
        {"+cuda", "error"},
        {"cuda+", "error"},
        {"cuda:", "error"},
        {"cuda:a", "error"},
        {"cuda:a=", "error"},
        {"cuda:=1", "error"},
        {"cuda:a=1,", "error"},
        {"cuda:a,b=1", "error"},
        {"cuda:a+b=1", "error"},
    };
    for (size_t i = 0; i < OC_COUNT(cases); i++)
        if (strcmp(parsed(cases[i][0]), cases[i][1]) != 0)
            fail_msg("%s: %s", cases[i][0], parsed(cases[i][0]));
}

/* Adds providers to the imitation in that mode. Returns the message, "": added. */
static const char *added(const char *mode, const char *text, enum oc_code *code)
{
    static struct oc_err err;
    struct oc_ort ort;
    struct ort_options *options;
    struct oc_session_providers list;
    char path[256];
    const char *build = getenv("BUILD");
    snprintf(path, sizeof(path), "%s/fake_ort.so", build ? build : "build/release");
    setenv("FAKE_ORT", mode, 1);
    assert_int_equal(oc_ort_open(path, &ort, &err), 0);
    assert_null(ort.create_options(&options));
    assert_int_equal(oc_session_providers_parse(text, &arena, &list, &err), 0);
    err = (struct oc_err){0};
    int rc = oc_session_providers_add(&ort, &list, options, &arena, &err);
    ort.release_options(options);
    unsetenv("FAKE_ORT");
    *code = err.code;
    return rc ? err.msg : "";
}

static void providers_are_added_or_refused_with_a_reason(void **state)
{
    (void)state;
    static const struct {
        const char *mode, *text, *message;
        enum oc_code code;
    } cases[] = {
        {"", "webgpu:a=1+CUDAExecutionProvider+new+migraphx:device_id=1+cpu", NULL, 0},
        {"1.10", "migraphx", NULL, 0},
        {"1.10", "webgpu", "is too old to add WebGpuExecutionProvider: 1.12 needed", OC_ELIBRARY},
        {"1.10", "cuda", "is too old to add CUDAExecutionProvider: 1.11 needed", OC_ELIBRARY},
        {"", "gpu", "no such execution provider; it offers CUDAExecutionProvider, Web", OC_EARG},
        {"", "webgpuexecution", "no such execution provider", OC_EARG},
        {"", "dnnlexecutionprovider", "no such execution provider", OC_ELIBRARY},
        {"", "webgpu:bad=1", "cannot add WebGpuExecutionProvider: there is no option bad", OC_EARG},
        {"", "cuda:bad=1", "cannot add CUDAExecutionProvider: there is no option bad", OC_EARG},
        {"", "migraphx:use=1", "has one option, device_id, which is a number", OC_EARG},
        {"", "migraphx:device_id=1,b=2", "has one option, device_id", OC_EARG},
        {"", "migraphx:device_id=-1", "has one option, device_id", OC_EARG},
        {"no_device", "webgpu", "cannot add WebGpuExecutionProvider: no device", OC_ELIBRARY},
        {"no_device", "cuda", "no device; libonnxruntime_providers_*.so must be next to", OC_ELIBRARY},
        {"no_list", "cuda", "cannot list its execution providers: no list today", OC_ELIBRARY},
        {"", "cpu+cuda", "put it last", OC_EARG},
        {"", "cpu:a=1", "CPUExecutionProvider has no options", OC_EARG},
    };
    for (size_t i = 0; i < OC_COUNT(cases); i++) {
        enum oc_code code;
        const char *message = added(cases[i].mode, cases[i].text, &code), *want = cases[i].message;
        if (code != cases[i].code || (want ? !strstr(message, want) : *message != '\0'))
            fail_msg("%s %s: %d %s", cases[i].mode, cases[i].text, code, message);
    }
}

#define EVENT(name, provider, type)                                                                          \
    "{\"cat\":\"Node\",\"pid\":1,\"tid\":1,\"dur\":2,\"ts\":10,\"ph\":\"X\",\"name\":\"" name                \
    "_kernel_time\",\"args\":{\"provider\":\"" provider "\",\"op_name\":\"" type "\"}},\n"
#define RUN                                                                                                  \
    "{\"cat\":\"Session\",\"pid\":1,\"tid\":1,\"dur\":20,\"ts\":9,\"ph\":\"X\",\"name\":\"model_run\","      \
    "\"args\":{}}\n]\n"

/* The placement of a profile with these events. */
static const char *placement(const char *events)
{
    char path[] = "/tmp/oc_placement_XXXXXX";
    int fd = mkstemp(path);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
    assert_non_null(f);
    fprintf(f, "[\n%s%s", events, RUN);
    fclose(f);
    const char *text = oc_session_providers_placement(path, &arena);
    unlink(path);
    return text;
}

static void placement_counts_operators_and_names_those_of_the_cpu(void **state)
{
    (void)state;
    assert_string_equal(placement(EVENT("a", "XExecutionProvider", "Relu")),
                        "1 of 1 operators by XExecutionProvider");
    assert_string_equal(
        placement(EVENT("s", "CPUExecutionProvider", "Shape") EVENT("a", "XExecutionProvider", "Relu")
                      EVENT("b", "XExecutionProvider", "Add") EVENT("c", "YExecutionProvider", "Add")),
        "2 of 4 operators by XExecutionProvider; 1 by YExecutionProvider; "
        "1 by CPUExecutionProvider: s (Shape)");
    assert_string_equal(
        placement(
            EVENT("s1", "CPUExecutionProvider", "Shape") EVENT("s2", "CPUExecutionProvider", "Shape")
                EVENT("s3", "CPUExecutionProvider", "Shape") EVENT("s4", "CPUExecutionProvider", "Shape")
                    EVENT("s5", "CPUExecutionProvider", "Shape") EVENT("a", "XExecutionProvider", "Add")),
        "1 of 6 operators by XExecutionProvider; 5 by CPUExecutionProvider: s1 (Shape), s2 (Shape), s3 "
        "(Shape), "
        "s4 (Shape) and 1 more");
    assert_string_equal(placement(EVENT("s", "CPUExecutionProvider", "Shape")),
                        "1 of 1 operators by CPUExecutionProvider");
    assert_null(placement(""));
    assert_null(oc_session_providers_placement("/nonexistent", &arena));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_gives_providers_in_order_with_options),
        cmocka_unit_test(providers_are_added_or_refused_with_a_reason),
        cmocka_unit_test(placement_counts_operators_and_names_those_of_the_cpu),
    };
    return cmocka_run_group_tests(tests, NULL, teardown);
}
