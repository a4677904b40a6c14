/* Behaviour for broken and hostile files: exit code 3, one line on standard error that names the file, no
 * standard output. The files are generated here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/build.h"

static char dir[] = "/tmp/oc_bad_XXXXXX";

static const char *program(void)
{
    static char path[256];
    const char *build = getenv("BUILD");
    snprintf(path, sizeof(path), "%s/onnxcost", build ? build : "build/release");
    return path;
}

struct result {
    int exit_code;
    size_t out_bytes, err_lines;
    char err[4096];
};

static size_t slurp(const char *path, char *buf, size_t cap)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    size_t n = fread(buf, 1, cap - 1, f);
    fclose(f);
    buf[n] = '\0';
    return n;
}

/* Runs the program in a shell with the given arguments; at most 20 s. */
static struct result run(const char *arguments)
{
    char command[1024], out[128], err[128], buf[4096];
    struct result r = {0};
    snprintf(out, sizeof(out), "%s/out", dir);
    snprintf(err, sizeof(err), "%s/err", dir);
    snprintf(command, sizeof(command), "timeout 600 %s %s >%s 2>%s </dev/null", program(), arguments, out,
             err);
    int status = system(command);
    assert_true(WIFEXITED(status));
    r.exit_code = WEXITSTATUS(status);
    r.out_bytes = slurp(out, buf, sizeof(buf));
    slurp(err, r.err, sizeof(r.err));
    for (const char *p = r.err; *p; p++)
        r.err_lines += *p == '\n';
    return r;
}

/* The file is rejected as input, in one line that names it and contains the words. */
static void expect_rejected(const char *name, const char *more, const char *words)
{
    char arguments[512];
    snprintf(arguments, sizeof(arguments), "%s/%s %s", dir, name, more);
    struct result r = run(arguments);
    if (r.exit_code != 3 || r.err_lines != 1 || r.out_bytes || !strstr(r.err, name) || !strstr(r.err, words))
        fail_msg("%s: exit %d, %zu bytes out, expected '%s' in: %s", arguments, r.exit_code, r.out_bytes,
                 words, r.err);
}

static void write_file(const char *name, const void *data, size_t n)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, n, f), n);
    fclose(f);
}

static void save(struct oc_builder *b, const char *name)
{
    size_t n;
    uint8_t *bytes = oc_b_pack(b, &n);
    write_file(name, bytes, n);
    free(bytes);
    oc_b_free(b);
}

static void unknown_file_is_rejected(void **state)
{
    (void)state;
    char path[256];
    write_file("empty", "", 0);
    expect_rejected("empty", "", "empty");
    snprintf(path, sizeof(path), "%s/folder", dir);
    assert_int_equal(mkdir(path, 0700), 0);
    expect_rejected("folder", "", "directory");
    write_file("text.txt", "just some words\nand more of them\n", 33);
    expect_rejected("text.txt", "", "");
    write_file("words.onnx", "just some words\nand more of them\n", 33);
    expect_rejected("words.onnx", "", "");
    write_file("unknown.json", "{\"hello\": [1, 2, 3], \"world\": {}}\n", 34);
    expect_rejected("unknown.json", "", "");
    expect_rejected("missing.onnx", "", "No such file");
}

static void unknown_profile_says_how_it_begins(void **state)
{
    (void)state;
    char more[512];
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[1]");
    oc_b_node(b, "Relu", "n", "x", "y", "");
    oc_b_output(b, "y", NULL);
    save(b, "good.onnx");
    write_file("profile.json", "{\"hello\": [1, 2, 3], \"world\": {}}\n", 34);
    snprintf(more, sizeof(more), "%s/good.onnx --profile %s/profile.json", dir, dir);
    struct result r = run(more);
    assert_int_equal(r.exit_code, 3);
    assert_int_equal(r.err_lines, 1);
    assert_non_null(strstr(r.err, "profile.json"));
    assert_non_null(strstr(r.err, "it begins '{\"hello\": [1, 2, 3], \"world\": {}}'"));
    assert_non_null(strstr(r.err, "onnxcost help profiles lists what is read"));
}

/* A real model truncated at every 64th of its length is rejected with the offset, or is valid. */
static void truncated_model_is_rejected_with_an_offset(void **state)
{
    (void)state;
    char path[256];
    snprintf(path, sizeof(path), "%s/whole.onnx", dir);
    char command[512];
    snprintf(command, sizeof(command), "%s/onnxzoo resnet18 -o %s >/dev/null 2>&1",
             getenv("BUILD") ? getenv("BUILD") : "build/release", path);
    assert_int_equal(system(command), 0);
    static char bytes[1 << 20];
    size_t n = slurp(path, bytes, sizeof(bytes));
    assert_true(n > 10000);
    for (int i = 1; i < 64; i++) {
        write_file("cut.onnx", bytes, n * (size_t)i / 64);
        expect_rejected("cut.onnx", "", "offset");
    }
}

static void deep_nesting_is_rejected(void **state)
{
    (void)state;
    char command[512];
    snprintf(command, sizeof(command), "%s/onnxzoo nest --depth 10000 -o %s/nest.onnx >/dev/null 2>&1",
             getenv("BUILD") ? getenv("BUILD") : "build/release", dir);
    assert_int_equal(system(command), 0);
    expect_rejected("nest.onnx", "", "more than 64 levels of nested graphs");
}

static void huge_dimension_is_rejected(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[4611686018427387904,3]");
    oc_b_node(b, "Relu", "wide", "x", "y", "");
    oc_b_output(b, "y", NULL);
    save(b, "huge.onnx");
    expect_rejected("huge.onnx", "", "wide");
    b = oc_b_new(17);
    oc_b_input(b, "x", "float[1]");
    oc_b_init(b, "weight", "float[4611686018427387904,3]");
    oc_b_node(b, "Mul", "m", "x,weight", "y", "");
    oc_b_output(b, "y", NULL);
    save(b, "weight.onnx");
    expect_rejected("weight.onnx", "", "weight");
}

static void cycle_is_rejected(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_node(b, "Relu", "chicken", "egg", "hen", "");
    oc_b_node(b, "Relu", "laying", "hen", "egg", "");
    oc_b_output(b, "egg", NULL);
    save(b, "cycle.onnx");
    expect_rejected("cycle.onnx", "", "cycle through node 'chicken'");
}

static int set_up(void **state)
{
    (void)state;
    return mkdtemp(dir) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    char command[64];
    snprintf(command, sizeof(command), "rm -r %s", dir);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unknown_file_is_rejected),
        cmocka_unit_test(unknown_profile_says_how_it_begins),
        cmocka_unit_test(truncated_model_is_rejected_with_an_offset),
        cmocka_unit_test(deep_nesting_is_rejected),
        cmocka_unit_test(huge_dimension_is_rejected),
        cmocka_unit_test(cycle_is_rejected),
    };
    return cmocka_run_group_tests_name("cli/bad_input", tests, set_up, tear_down);
}
