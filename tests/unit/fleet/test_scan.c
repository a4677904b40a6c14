#include <fcntl.h>
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
#include "profile/csv_rows.h"
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
                                       "m/e.onnx", "m/f.onnx", "rows",     "m"};
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
    struct oc_scan_writer *writer;
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
    if (s->writer)
        oc_scan_writer_row(s->writer, row);
    return 0;
}

static void run(struct seen *s, const struct oc_scan_opts *opts, const char *kept, size_t n_kept,
                const char *format)
{
    struct oc_err err;
    struct oc_scan *scan;
    const char *const arg[] = {path("m"), path("gone.onnx")};
    FILE *f = NULL;
    size_t n = 0, done;
    oc_scan_open(arg, 2, opts, &scan, NULL);
    assert_int_equal(oc_scan_files(scan), 7);
    if (kept) {
        assert_int_equal(oc_scan_keep(scan, kept, &n, &err), 0);
        assert_int_equal(n, n_kept);
    }
    if (format) {
        f = fopen(path("rows"), "w");
        assert_int_equal(oc_scan_writer_open(scan, format, false, 0, f, &s->writer, &err), 0);
    }
    assert_int_equal(oc_scan_run(scan, on_row, s, &done, &err), 0);
    assert_int_equal(done, s->n);
    if (format) {
        oc_scan_writer_close(s->writer);
        fclose(f);
    }
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
        run(&s, &(struct oc_scan_opts){.jobs = jobs}, NULL, 0, NULL);
        check_rows(&s);
        oc_arena_free(&s.arena);
    }
}

static void check_equal(const struct seen *a, const struct seen *b)
{
    assert_int_equal(a->n, b->n);
    for (size_t k = 0; k < a->n; k++)
        for (size_t i = 0; i < oc_scan_models.cells.n; i++) {
            const size_t offset = oc_scan_models.offset[i];
            const unsigned kind = oc_scan_models.cells.column[i].kind;
            const char *x = (const char *)&a->row[k] + offset, *y = (const char *)&b->row[k] + offset;
            if (kind == OC_DATUM_TEXT) {
                const char *s = *(const char *const *)x, *t = *(const char *const *)y;
                assert_true(!s == !t && (!s || !strcmp(s, t)));
            } else if (kind != OC_DATUM_DOUBLE || a->row[k].kept) {
                assert_memory_equal(x, y, sizeof(uint64_t));
            }
        }
}

/* Rows written and read again are equal; only the file that could not be opened is analyzed again. */
static void rows_are_reused(void **state)
{
    static const char *const format[] = {"ndjson", "csv"};
    (void)state;
    for (size_t i = 0; i < OC_COUNT(format); i++) {
        struct seen first = {0}, second = {0};
        const struct oc_scan_opts opts = {.jobs = 2, .settings = "x"};
        run(&first, &opts, NULL, 0, format[i]);
        run(&second, &opts, path("rows"), 6, NULL);
        check_rows(&second);
        check_equal(&second, &first);
        for (size_t k = 0; k < second.n; k++)
            assert_int_equal(second.row[k].kept, k < 6);
        oc_arena_free(&first.arena);
        oc_arena_free(&second.arena);
    }
}

static void stored_only_returns_only_stored_rows(void **state)
{
    struct seen first = {0}, second = {0};
    (void)state;
    run(&first, &(struct oc_scan_opts){.jobs = 1}, NULL, 0, "ndjson");
    run(&second, &(struct oc_scan_opts){.jobs = 1, .kept_only = true}, path("rows"), 6, NULL);
    assert_int_equal(second.n, 6);
    oc_arena_free(&first.arena);
    oc_arena_free(&second.arena);
}

static void other_options_invalidate_rows(void **state)
{
    struct seen first = {0}, second = {0}, third = {0};
    const struct oc_bind bind = {"N", 3};
    const struct oc_analyze_opts analyze = {.bind = &bind, .n_bind = 1}; /* only one model has N */
    (void)state;
    run(&first, &(struct oc_scan_opts){.jobs = 1, .settings = ""}, NULL, 0, "ndjson");
    assert_int_equal(first.row[3].flops, 1000);
    run(&second, &(struct oc_scan_opts){.jobs = 1, .settings = "N=3", .analyze = &analyze}, path("rows"), 0,
        NULL);
    assert_int_equal(second.row[3].flops, 3000);
    assert_null(second.row[0].error);
    /* missing hashes invalidate a row: here that of d, the only file of its size, and those of e and f */
    run(&third, &(struct oc_scan_opts){.jobs = 1, .settings = "", .hash = OC_SCAN_HASH_ALL}, path("rows"), 3,
        NULL);
    assert_non_null(third.row[3].hash);
    oc_arena_free(&first.arena);
    oc_arena_free(&second.arena);
    oc_arena_free(&third.arena);
}

static void changed_files_are_analyzed_again(void **state)
{
    struct seen first = {0}, second = {0};
    (void)state;
    run(&first, &(struct oc_scan_opts){.jobs = 1}, NULL, 0, "ndjson");
    put_relu("m/b.onnx", "30");
    /* another time than before, whatever the clock of the file system */
    const struct timespec old[] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
    assert_int_equal(utimensat(AT_FDCWD, path("m/b.onnx"), old, 0), 0);
    run(&second, &(struct oc_scan_opts){.jobs = 1}, path("rows"), 5, NULL);
    assert_int_equal(second.row[1].flops, 30);
    assert_int_equal(second.row[0].flops, 10);
    put_relu("m/b.onnx", "20");
    oc_arena_free(&first.arena);
    oc_arena_free(&second.arena);
}

/* Truncated anywhere, the file gives its complete rows. */
static void truncated_rows_file_is_read_to_the_cut(void **state)
{
    static const char *const format[] = {"ndjson", "csv"};
    static char all[16384];
    (void)state;
    for (size_t i = 0; i < OC_COUNT(format); i++) {
        struct seen first = {0};
        struct oc_err err;
        struct oc_scan *scan;
        const struct oc_scan_opts opts = {.jobs = 1};
        const char *const arg[] = {path("m")};
        run(&first, &opts, NULL, 0, format[i]);
        FILE *f = fopen(path("rows"), "r");
        size_t n = fread(all, 1, sizeof(all), f), most = 0;
        fclose(f);
        assert_true(n < sizeof(all));
        for (size_t cut = 0; cut <= n; cut += 1 + cut % 7) {
            oc_scan_open(arg, 1, &opts, &scan, NULL);
            struct oc_stream *text = oc_stream_mem(all, cut);
            int rc = oc_scan_keep_from(scan, text, &err);
            size_t kept = 0;
            for (size_t k = 0; k < scan->files.n; k++)
                kept += scan->kept[k] != NULL;
            size_t lines = 0;
            for (size_t k = 0; k < cut; k++)
                lines += all[k] == '\n';
            size_t whole = format[i][0] == 'c' && lines ? lines - 1 : lines;
            assert_true(!rc || !lines);
            assert_int_equal(kept, whole < 6 ? whole : 6);
            most = kept > most ? kept : most;
            oc_stream_close(text);
            oc_scan_free(scan);
        }
        assert_int_equal(most, 6);
        oc_arena_free(&first.arena);
    }
}

/* Whatever other files there are, a file is in the same part; every file is in one. */
static void parts_have_every_file_once(void **state)
{
    const char *const arg[] = {path("m"), path("gone.onnx")};
    struct oc_scan *scan;
    (void)state;
    for (uint32_t parts = 1; parts <= 9; parts++) {
        struct seen all = {0};
        for (uint32_t part = 1; part <= parts; part++) {
            const struct oc_scan_opts opts = {.jobs = 1, .part = part, .of_parts = parts};
            assert_int_equal(oc_scan_open(arg, 2, &opts, &scan, NULL), 0);
            assert_int_equal(oc_scan_run(scan, on_row, &all, NULL, NULL), 0);
            oc_scan_free(scan);
        }
        assert_int_equal(all.n, 7);
        for (size_t i = 0; i < all.n; i++)
            for (size_t k = 0; k < i; k++)
                assert_string_not_equal(all.row[i].path, all.row[k].path);
        oc_arena_free(&all.arena);
    }
}

static void rejects_parts_and_rows_that_there_are_not(void **state)
{
    const char *const arg[] = {path("m")};
    const struct oc_scan_opts opts[] = {{.part = 3, .of_parts = 2},
                                        {.part = 0, .of_parts = 2},
                                        {.rows = "profiles"},
                                        {.rows = "models", .profiles = true},
                                        {.rows = "kernels"}};
    struct oc_scan *scan;
    struct oc_err err;
    (void)state;
    for (size_t i = 0; i < OC_COUNT(opts); i++) {
        assert_int_equal(oc_scan_open(arg, 1, &opts[i], &scan, &err), -1);
        assert_int_equal(err.code, OC_EARG);
        assert_null(scan);
    }
}

/* Until a file, an option or the kind of rows changes. */
static void mark_names_files_and_settings(void **state)
{
    const char *const arg[] = {path("m")};
    const struct oc_scan_opts opts[] = {
        {.jobs = 1}, {.jobs = 4}, {.settings = "x"}, {.rows = "nodes"}, {.part = 1, .of_parts = 2}};
    char first[17] = "";
    (void)state;
    for (size_t i = 0; i < OC_COUNT(opts); i++) {
        struct oc_scan *scan;
        bool complete = true;
        assert_int_equal(oc_scan_open(arg, 1, &opts[i], &scan, NULL), 0);
        if (i == 0)
            memcpy(first, scan->mark, sizeof(first));
        assert_int_equal(!strcmp(scan->mark, first), i < 2);
        assert_int_equal(oc_scan_is_complete(scan, path("nowhere.parquet"), &complete, NULL), 0);
        assert_false(complete);
        oc_scan_free(scan);
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

static void rejects_foreign_rows_files(void **state)
{
    static const char *const text[] = {"hello\nworld\n", "{\"a\": 1}\n", "path,size_bytes\r\n",
                                       "{\"path\":\"x\",\"nodes\":\"many\"}\n"};
    struct oc_err err;
    struct oc_scan *scan;
    size_t n;
    const char *const arg[] = {path("m")};
    (void)state;
    for (size_t i = 0; i < OC_COUNT(text); i++) {
        put("rows", text[i], strlen(text[i]));
        oc_scan_open(arg, 1, &(struct oc_scan_opts){.jobs = 1}, &scan, NULL);
        assert_int_equal(oc_scan_keep(scan, path("rows"), &n, &err), -1);
        assert_int_equal(err.code, OC_EFORMAT);
        assert_non_null(strstr(err.msg, "cannot read '"));
        assert_non_null(strstr(err.msg, "line 1"));
        oc_scan_free(scan);
    }
}

static void expect_kept_error(const char *says)
{
    struct oc_err err = {0};
    struct oc_scan *scan;
    size_t n;
    const char *const arg[] = {path("m")};
    oc_scan_open(arg, 1, &(struct oc_scan_opts){.jobs = 1}, &scan, NULL);
    assert_int_equal(oc_scan_keep(scan, path("rows"), &n, &err), -1);
    if (!strstr(err.msg, says))
        fail_msg("'%s' has no '%s'", err.msg, says);
    oc_scan_free(scan);
}

/* After valid rows. */
static void rejects_rows_beyond_the_limit(void **state)
{
    (void)state;
    struct oc_buf b = {0};
    oc_buf_str(&b, "{\"path\":\"x\"}\n");
    oc_buf_pad(&b, 'x', ((size_t)16 << 20) + 2);
    put("rows", b.data, b.n);
    expect_kept_error("line 2: more than 16777216 bytes in a row");
    oc_buf_clear(&b);
    oc_buf_str(&b, "path,size_bytes,nodes,csv_version\r\n");
    oc_buf_pad(&b, ',', 8192);
    put("rows", b.data, b.n);
    expect_kept_error("line 2: more than 8192 columns (--limit csv-columns=N)");
    oc_buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_file_has_one_row),
        cmocka_unit_test(rows_are_reused),
        cmocka_unit_test(parts_have_every_file_once),
        cmocka_unit_test(rejects_parts_and_rows_that_there_are_not),
        cmocka_unit_test(mark_names_files_and_settings),
        cmocka_unit_test(names_of_profiles),
        cmocka_unit_test(stored_only_returns_only_stored_rows),
        cmocka_unit_test(other_options_invalidate_rows),
        cmocka_unit_test(changed_files_are_analyzed_again),
        cmocka_unit_test(truncated_rows_file_is_read_to_the_cut),
        cmocka_unit_test(rejects_foreign_rows_files),
        cmocka_unit_test(rejects_rows_beyond_the_limit),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
