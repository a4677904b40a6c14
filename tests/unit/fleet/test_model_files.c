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

#include "fleet/model_files.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(folders_are_walked_in_byte_order),
                                       cmocka_unit_test(links_are_followed_when_there_is_no_other_path),
                                       cmocka_unit_test(named_files_keep_their_order),
                                       cmocka_unit_test(sizes_and_errors_are_listed)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
