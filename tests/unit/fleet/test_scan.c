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

#include "base/arena.h"
#include "fleet/scan.h"
#include "support/build.h"

static char top[] = "/tmp/onnxcost-scan-XXXXXX";

static const char *path(const char *name)
{
    static char text[8][256];
    static unsigned next;
    char *p = text[next++ % 8];
    snprintf(p, sizeof(text[0]), "%s/%s", top, name);
    return p;
}

static void put(const char *name, const void *data, size_t n)
{
    FILE *f = fopen(path(name), "w");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, n, f), n);
    fclose(f);
}

/* y = relu(x), x of `dims` floats */
static void put_relu(const char *name, const char *dims)
{
    size_t n;
    char type[64];
    snprintf(type, sizeof(type), "float[%s]", dims);
    struct oc_builder *b = oc_b_new(17);
    oc_b_opset(b, "com.microsoft", 1);
    oc_b_input(b, "x", type);
    oc_b_node(b, "Relu", "relu", "x", "y", "");
    oc_b_output(b, "y", type);
    uint8_t *bytes = oc_b_pack(b, &n);
    put(name, bytes, n);
    free(bytes);
    oc_b_free(b);
}

static int set_up(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(top));
    mkdir(path("m"), 0777);
    put_relu("m/a.onnx", "10");
    put_relu("m/b.onnx", "20"); /* as many bytes as the first file, other content */
    put_relu("m/c.onnx", "10");
    put_relu("m/d.onnx", "N,1000");
    put("m/e.onnx", "\x08\x09garbage", 9);
    put("m/f.onnx", "", 0);
    return 0;
}

static int tear_down(void **state)
{
    static const char *const name[] = {"m/a.onnx", "m/b.onnx", "m/c.onnx", "m/d.onnx",
                                       "m/e.onnx", "m/f.onnx", "m"};
    (void)state;
    for (size_t i = 0; i < OC_COUNT(name); i++)
        remove(path(name[i]));
    rmdir(top);
    return 0;
}

struct seen {
    struct oc_arena arena;
    struct oc_scan_row row[16];
    size_t n;
};

static const char *copy(struct oc_arena *a, const char *s)
{
    return s ? oc_strdup(a, s) : NULL;
}

static int on_row(void *arg, const struct oc_scan_row *row)
{
    struct seen *s = arg;
    assert_true(s->n < OC_COUNT(s->row));
    struct oc_scan_row *r = &s->row[s->n++];
    *r = *row;
    for (size_t i = 0; i < oc_scan_models.cells.n; i++) {
        const char **text = (const char **)((char *)r + oc_scan_models.offset[i]);
        if (oc_scan_models.cells.column[i].kind == OC_DATUM_TEXT)
            *text = copy(&s->arena, *text);
    }
    return 0;
}

static void run(struct seen *s, const struct oc_scan_opts *opts)
{
    struct oc_err err;
    struct oc_scan *scan;
    const char *const arg[] = {path("m"), path("gone.onnx")};
    size_t done;
    oc_scan_open(arg, 2, opts, &scan, NULL);
    assert_int_equal(oc_scan_files(scan), 7);
    assert_int_equal(oc_scan_run(scan, on_row, s, &done, &err), 0);
    assert_int_equal(done, s->n);
    oc_scan_free(scan);
}

static void check_rows(const struct seen *s)
{
    assert_int_equal(s->n, 7);
    const struct oc_scan_row *r = s->row;
    for (size_t i = 0; i < 4; i++) {
        assert_null(r[i].error);
        assert_string_equal(r[i].quality, "exact");
        assert_int_equal(r[i].nodes, 1);
        assert_int_equal(r[i].opset, 17);
        assert_string_equal(r[i].domains, "com.microsoft 1");
    }
    /* one comparison per element; read and written 4 bytes each */
    assert_int_equal(r[0].flops, 10);
    assert_int_equal(r[0].bytes, 80);
    assert_int_equal(r[0].peak_activation_bytes, 80);
    assert_int_equal(r[1].flops, 20);
    assert_string_equal(r[2].duplicate_of, r[0].path);
    assert_null(r[0].duplicate_of);
    assert_null(r[1].duplicate_of);
    assert_string_equal(r[0].hash, r[2].hash);
    assert_string_not_equal(r[0].hash, r[1].hash);
    assert_null(r[3].hash); /* the only file of its size */
    assert_int_equal(r[3].assumptions, 1);
    for (size_t i = 4; i < 7; i++) {
        assert_non_null(r[i].error);
        assert_true(r[i].macs == OC_SCAN_UNKNOWN && r[i].nodes == OC_SCAN_UNKNOWN);
        assert_null(r[i].quality);
    }
    assert_string_equal(r[4].error_code, "format");
    assert_string_equal(r[5].error_code, "format");
    assert_string_equal(r[6].error_code, "io");
    assert_string_equal(r[6].path + strlen(top), "/gone.onnx");
    assert_true(r[6].size_bytes == OC_SCAN_UNKNOWN);
}

static void every_file_has_one_row(void **state)
{
    (void)state;
    for (unsigned jobs = 1; jobs <= 4; jobs++) {
        struct seen s = {0};
        run(&s, &(struct oc_scan_opts){.jobs = jobs});
        check_rows(&s);
        oc_arena_free(&s.arena);
    }
}

static void dimensions_change_only_the_models_that_have_them(void **state)
{
    struct seen first = {0}, second = {0};
    const struct oc_bind bind = {"N", 3};
    const struct oc_analyze_opts analyze = {.bind = &bind, .n_bind = 1};
    (void)state;
    run(&first, &(struct oc_scan_opts){.jobs = 1, .hash = OC_SCAN_HASH_ALL});
    assert_int_equal(first.row[3].flops, 1000);
    assert_non_null(first.row[3].hash);
    run(&second, &(struct oc_scan_opts){.jobs = 1, .settings = "N=3", .analyze = &analyze});
    assert_int_equal(second.row[3].flops, 3000);
    assert_int_equal(second.row[0].flops, first.row[0].flops);
    assert_string_not_equal(second.row[0].settings, first.row[0].settings);
    oc_arena_free(&first.arena);
    oc_arena_free(&second.arena);
}

static void rejects_rows_that_there_are_not(void **state)
{
    const char *const arg[] = {path("m")};
    const struct oc_scan_opts opts[] = {
        {.rows = "profiles"}, {.rows = "models", .profiles = true}, {.rows = "kernels"}};
    struct oc_scan *scan;
    struct oc_err err;
    (void)state;
    for (size_t i = 0; i < OC_COUNT(opts); i++) {
        assert_int_equal(oc_scan_open(arg, 1, &opts[i], &scan, &err), -1);
        assert_int_equal(err.code, OC_EARG);
        assert_null(scan);
    }
}

static void names_of_profiles(void **state)
{
    static const char *const yes[] = {"a.json", "a.json.gz", "A.CSV", "x.t1.xplane.pb", "b.sqlite"},
                             *const no[] = {".json", "a.onnx",     "input_0.pb",
                                            "json",  "a.json.bz2", ".json.gz"};
    (void)state;
    for (size_t i = 0; i < OC_COUNT(yes); i++)
        assert_true(oc_scan_is_profile_name(yes[i]));
    for (size_t i = 0; i < OC_COUNT(no); i++)
        assert_false(oc_scan_is_profile_name(no[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_file_has_one_row),
        cmocka_unit_test(dimensions_change_only_the_models_that_have_them),
        cmocka_unit_test(rejects_rows_that_there_are_not),
        cmocka_unit_test(names_of_profiles),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
