#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "fleet/scan.h"

static char top[] = "/tmp/onnxcost-files-XXXXXX";

static const char *path(const char *name)
{
    static char text[4][256];
    static unsigned next;
    char *p = text[next++ % 4];
    snprintf(p, sizeof(text[0]), "%s/%s", top, name);
    return p;
}

static void put(const char *name, const char *content)
{
    FILE *f = fopen(path(name), "w");
    assert_non_null(f);
    fputs(content, f);
    fclose(f);
}

static int set_up(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(top));
    mkdir(path("b"), 0777);
    mkdir(path("b/deep"), 0777);
    mkdir(path("a"), 0777);
    put("z.onnx", "12345");
    put("b/one.ONNX", "1");
    put("b/deep/two.onnx", "22");
    put("b/notes.txt", "no model");
    put("b/.onnx", "hidden, and no name");
    assert_int_equal(symlink("../b", path("a/link")), 0);     /* another path to b */
    assert_int_equal(symlink("../..", path("b/deep/up")), 0); /* a loop */
    assert_int_equal(symlink("z.onnx", path("same.onnx")), 0);
    assert_int_equal(symlink("gone", path("broken.onnx")), 0);
    return 0;
}

static int tear_down(void **state)
{
    static const char *const file[] = {"z.onnx", "b/one.ONNX", "b/deep/two.onnx", "b/notes.txt", "b/.onnx",
                                       "a/link", "b/deep/up",  "same.onnx",       "broken.onnx"};
    static const char *const folder[] = {"b/deep", "b", "a", ""};
    (void)state;
    for (size_t i = 0; i < OC_COUNT(file); i++)
        unlink(path(file[i]));
    for (size_t i = 0; i < OC_COUNT(folder); i++)
        rmdir(path(folder[i]));
    return 0;
}

static void expect_files(const char *const *arg, size_t n_arg, const char *const *wanted, size_t n)
{
    struct oc_model_files files = {0};
    oc_model_files_add(&files, arg, n_arg);
    assert_int_equal(files.n, n);
    for (size_t i = 0; i < n; i++)
        assert_string_equal(files.item[i].path + strlen(top) + 1, wanted[i]);
    oc_model_files_free(&files);
}

static void folders_are_walked_in_byte_order(void **state)
{
    /* in byte order; b by its name, not by the link; the loop ends */
    const char *const wanted[] = {"b/deep/two.onnx", "b/one.ONNX", "broken.onnx", "same.onnx", "z.onnx"};
    const char *const arg[] = {top};
    (void)state;
    expect_files(arg, 1, wanted, OC_COUNT(wanted));
}

static void links_are_followed_when_there_is_no_other_path(void **state)
{
    const char *const arg[] = {path("a")};
    /* b/deep/up leads to the top folder, from which neither b nor a is read again */
    const char *const wanted[] = {"a/link/deep/two.onnx", "a/link/deep/up/broken.onnx",
                                  "a/link/deep/up/same.onnx", "a/link/deep/up/z.onnx", "a/link/one.ONNX"};
    (void)state;
    expect_files(arg, 1, wanted, OC_COUNT(wanted));
}

static void named_files_keep_their_order(void **state)
{
    const char *const arg[] = {path("z.onnx"), path("b/notes.txt"), path("b"), path("z.onnx")};
    const char *const wanted[] = {
        "z.onnx",           "b/notes.txt", "b/deep/two.onnx", "b/deep/up/broken.onnx", "b/deep/up/same.onnx",
        "b/deep/up/z.onnx", "b/one.ONNX"};
    (void)state;
    expect_files(arg, 4, wanted, OC_COUNT(wanted));
}

static void sizes_and_errors_are_listed(void **state)
{
    struct oc_model_files files = {0};
    const char *const arg[] = {path("z.onnx"), path("gone.onnx"), path("broken.onnx")};
    (void)state;
    oc_model_files_add(&files, arg, 3);
    assert_int_equal(files.n, 3);
    assert_int_equal(files.item[0].size_bytes, 5);
    assert_true(files.item[0].mtime_ns > 1000000000);
    assert_int_equal(files.item[0].error, 0);
    assert_int_not_equal(files.item[1].error, 0);
    assert_int_not_equal(files.item[2].error, 0);
    oc_model_files_free(&files);
}

static void one_file_of_a_folder_is_its_model(void **state)
{
    static const struct {
        const char *given, *wanted;
        bool has_onnx;
    } cases[] = {
        {"model-00001-of-00002.safetensors model-00002-of-00002.safetensors model.safetensors.index.json "
         "consolidated.safetensors config.json",
         "model.safetensors.index.json", false},
        {"model.fp16.safetensors model.safetensors", "model.safetensors", true},
        {"a.safetensors b.safetensors config.json", "a.safetensors b.safetensors", false},
        {"a-00001-of-00003.safetensors a-00002-of-00003.safetensors", "a-00001-of-00003.safetensors", false},
        {"a-00001-of-00003.safetensors a.safetensors.index.json", "a.safetensors.index.json", false},
        {"q4.gguf q8-00001-of-00002.gguf q8-00002-of-00002.gguf", "q4.gguf q8-00001-of-00002.gguf", true},
        {"run-of-5.gguf x-0000a-of-00002.gguf x-00002-of-002.gguf",
         "run-of-5.gguf x-0000a-of-00002.gguf x-00002-of-002.gguf", false},
        {"config.json", "", false} /* is not there */
    };
    (void)state;
    for (size_t i = 0; i < OC_COUNT(cases); i++) {
        struct oc_arena arena = {0};
        const char *name[8];
        char given[256], found[256] = "";
        size_t n = 0;
        snprintf(given, sizeof(given), "%s", cases[i].given);
        for (char *rest = given, *word; (word = strtok_r(rest, " ", &rest));) {
            assert_true(oc_may_describe(word));
            name[n++] = word;
        }
        n = oc_choose_described(top, name, n, cases[i].has_onnx, &arena);
        for (size_t k = 0; k < n; k++)
            snprintf(found + strlen(found), sizeof(found) - strlen(found), "%s%s", k ? " " : "", name[k]);
        assert_string_equal(found, cases[i].wanted);
        oc_arena_free(&arena);
    }
    assert_false(oc_may_describe("tokenizer.json"));
    assert_false(oc_may_describe(".gguf"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(folders_are_walked_in_byte_order),
                                       cmocka_unit_test(links_are_followed_when_there_is_no_other_path),
                                       cmocka_unit_test(named_files_keep_their_order),
                                       cmocka_unit_test(sizes_and_errors_are_listed),
                                       cmocka_unit_test(one_file_of_a_folder_is_its_model)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
