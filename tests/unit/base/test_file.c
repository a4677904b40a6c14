#include "base/file.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <cmocka.h>

#define MIB ((size_t)1 << 20)

static char folder[] = "/tmp/oc_test_file_XXXXXX";
static char path[64];

static void write_file(const char *data, size_t n)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static int setup(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof(path), "%s/f", folder);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

static void errors_name_the_path(void **state)
{
    (void)state;
    struct oc_file f;
    struct oc_err e;
    assert_int_equal(oc_file_map("/no/such/file", 0, &f, &e), -1);
    assert_int_equal(e.code, OC_EIO);
    assert_string_equal(e.msg, "cannot read '/no/such/file': No such file or directory");
    assert_int_equal(oc_file_map("/tmp", 0, &f, &e), -1);
    assert_string_equal(
        e.msg,
        "cannot read '/tmp': is a directory: give a file (onnxcost scan reads all models of a directory)");
    assert_int_equal(oc_file_map("/dev/null", 0, &f, &e), -1);
    assert_non_null(strstr(e.msg, "is not a regular file"));
    bool has_pipe = mkfifo(path, 0600) == 0;
#ifndef _WIN32
    assert_true(has_pipe);
#endif
    if (has_pipe) {
        assert_int_equal(oc_file_map(path, 0, &f, &e), -1);
        assert_non_null(strstr(e.msg, "is not a regular file"));
        unlink(path);
    }
    write_file("12345", 5);
    assert_int_equal(oc_file_map(path, 4, &f, &e), -1);
    assert_int_equal(e.code, OC_ELIMIT);
}

static void maps_files_and_empty_files(void **state)
{
    (void)state;
    struct oc_file f;
    write_file("hello", 5);
    assert_int_equal(oc_file_map(path, 5, &f, NULL), 0);
    assert_int_equal(f.size_bytes, 5);
    assert_memory_equal(f.data, "hello", 5);
    oc_file_unmap(&f);
    write_file("", 0);
    assert_int_equal(oc_file_map(path, 0, &f, NULL), 0);
    assert_null(f.data);
    oc_file_unmap(&f);
}

/* 3 MiB of numbered lines; every line contains its own offset. */
static char *numbered(size_t n)
{
    char *p = malloc(n + 16);
    assert_non_null(p);
    for (size_t i = 0; i < n; i += 16)
        snprintf(p + i, 17, "%015zu\n", i);
    return p;
}

static size_t pack(const char *data, size_t n, char *out, size_t cap)
{
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (Bytef *)(uintptr_t)data;
    z.avail_in = (uInt)n;
    z.next_out = (Bytef *)out;
    z.avail_out = (uInt)cap;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    size_t packed = z.total_out;
    deflateEnd(&z);
    return packed;
}

/* Reads to the end, consuming `take` bytes of each window, and compares all bytes. */
static size_t drain(struct oc_stream *s, const char *want, size_t want_n, size_t take)
{
    const char *p;
    size_t n = 0, used = 0, seen = 0;
    uint64_t offset;
    while (oc_stream_fill(s, used, &p, &n, &offset)) {
        assert_int_equal(offset, seen);
        assert_true(offset + n <= want_n);
        assert_memory_equal(p, want + offset, n);
        assert_true(n < MIB || take < MIB); /* a reader that consumes everything gets small windows */
        used = n < take ? n : take;
        seen += used;
    }
    return seen - used + n; /* the last fill dropped `used` bytes and added none */
}

static void plain_stream_is_one_window(void **state)
{
    (void)state;
    char *data = numbered(3 * MIB);
    struct oc_stream *s = oc_stream_mem(data, 3 * MIB);
    const char *p;
    size_t n;
    uint64_t offset;
    assert_true(oc_stream_fill(s, 0, &p, &n, &offset));
    assert_int_equal(n, 3 * MIB);
    assert_false(oc_stream_fill(s, 1000, &p, &n, &offset));
    assert_int_equal(offset, 1000);
    assert_int_equal(n, 3 * MIB - 1000);
    assert_memory_equal(p, data + 1000, 16);
    assert_string_equal(oc_stream_path(s), "");
    oc_stream_close(s);
    free(data);
}

static void gzip_gives_the_same_bytes(void **state)
{
    (void)state;
    char *data = numbered(3 * MIB), *packed = malloc(4 * MIB);
    size_t half = MIB + 160, n = pack(data, half, packed, 4 * MIB);
    n += pack(data + half, 3 * MIB - half, packed + n, 4 * MIB - n); /* two members */
    write_file(packed, n);
    for (size_t take = 100000; take <= 4 * MIB; take *= 6) {
        struct oc_stream *s;
        assert_int_equal(oc_stream_open(path, NULL, &s, NULL), 0);
        assert_string_equal(oc_stream_path(s), path);
        drain(s, data, 3 * MIB, take);
        assert_null(oc_stream_error(s));
        oc_stream_close(s);
    }
    for (size_t cut = 4; cut < n; cut += n / 40 + 1) { /* truncated or damaged: an error, never extra bytes */
        struct oc_stream *s = oc_stream_mem(packed, cut);
        const char *p;
        size_t m;
        uint64_t offset;
        while (oc_stream_fill(s, 0, &p, &m, &offset))
            assert_memory_equal(p, data, m);
        assert_non_null(oc_stream_error(s));
        oc_stream_close(s);
    }
    free(packed);
    free(data);
}

/* Whether the process maps a file of this name; true also where the system does not say. */
static bool is_mapped(const char *name)
{
    char line[600];
    FILE *f = fopen("/proc/self/maps", "r");
    bool found = !f;
    while (f && fgets(line, sizeof(line), f))
        found |= strstr(line, name) != NULL;
    if (f)
        fclose(f);
    return found;
}

static void a_closed_stream_is_not_mapped(void **state)
{
    (void)state;
    struct oc_stream *s;
    char *data = numbered(MIB);
    write_file(data, MIB);
    bool says = access("/proc/self/maps", R_OK) == 0;
    assert_int_equal(oc_stream_open(path, NULL, &s, NULL), 0);
    assert_true(is_mapped(path));
    oc_stream_close(s);
    assert_true(!says || !is_mapped(path));
    free(data);
}

/* A server that compresses a .gz again; three times is not read. */
static void gzip_in_gzip_is_inflated_once_more(void **state)
{
    (void)state;
    char *data = numbered(MIB), *once = malloc(2 * MIB), *twice = malloc(2 * MIB), *thrice = malloc(2 * MIB);
    size_t n1 = pack(data, MIB, once, 2 * MIB), n2 = pack(once, n1, twice, 2 * MIB),
           n3 = pack(twice, n2, thrice, 2 * MIB), n;
    write_file(twice, n2);
    struct oc_stream *s;
    assert_int_equal(oc_stream_open(path, NULL, &s, NULL), 0);
    drain(s, data, MIB, 100000);
    assert_null(oc_stream_error(s));
    oc_stream_close(s);
    const char *p = "";
    uint64_t offset;
    s = oc_stream_mem(twice, n2 / 2); /* truncated: an error, never other bytes */
    while (oc_stream_fill(s, 0, &p, &n, &offset))
        assert_memory_equal(p, data, n);
    assert_non_null(oc_stream_error(s));
    oc_stream_close(s);
    s = oc_stream_mem(thrice, n3);
    assert_true(oc_stream_fill(s, 0, &p, &n, &offset) && n >= 2 && memcmp(p, "\x1f\x8b", 2) == 0);
    oc_stream_close(s);
    free(data);
    free(once);
    free(twice);
    free(thrice);
}

static void peek_decompresses_gzip(void **state)
{
    (void)state;
    char *data = numbered(MIB), *packed = malloc(2 * MIB);
    struct oc_arena a = {0};
    const char *p;
    size_t n;
    write_file(packed, pack(data, MIB, packed, 2 * MIB));
    assert_int_equal(oc_file_peek(path, 65536, &a, &p, &n, NULL), 0);
    assert_int_equal(n, 65536);
    assert_memory_equal(p, data, n);
    write_file("xyz", 3);
    assert_int_equal(oc_file_peek(path, 65536, &a, &p, &n, NULL), 0);
    assert_int_equal(n, 3);
    write_file("", 0);
    assert_int_equal(oc_file_peek(path, 65536, &a, &p, &n, NULL), 0);
    assert_int_equal(n, 0);
    oc_arena_free(&a);
    free(packed);
    free(data);
}

/* Closed, and opened for writing only: the error is that of the system. */
static void unreadable_descriptors_report_the_system_error(void **state)
{
    (void)state;
    struct oc_file f;
    struct oc_err err = {0};
    assert_int_equal(oc_file_map_part(-1, "x", NULL, 0, UINT64_MAX, &f, &err), -1);
    assert_string_equal(err.msg, "cannot read 'x': Bad file descriptor");
    write_file("abc", 3);
    int fd = open(path, O_WRONLY);
    assert_true(fd >= 0);
    assert_int_equal(oc_file_map_part(fd, "x", NULL, 0, UINT64_MAX, &f, &err), -1);
    assert_string_equal(err.msg, "cannot read 'x': Permission denied");
    assert_int_equal(err.code, OC_EIO);
    close(fd);
}

/* It is read more than once. */
static void standard_input_must_be_a_regular_file(void **state)
{
    (void)state;
    struct oc_file f;
    struct oc_err err = {0};
    int saved = dup(STDIN_FILENO), device = open("/dev/null", O_RDONLY);
    if (saved < 0 || device < 0)
        skip();
    assert_true(dup2(device, STDIN_FILENO) >= 0);
    int rc = oc_file_map("-", 0, &f, &err);
    dup2(saved, STDIN_FILENO);
    close(saved);
    close(device);
    assert_int_equal(rc, -1);
    assert_int_equal(err.code, OC_EIO);
    assert_string_equal(err.msg, "cannot read '-': standard input is not a regular file");
}

/* Zeros compress to a thousandth: above 64 MiB the ratio is checked, below it only the absolute limits. */
static void limits_of_gzip_data(void **state)
{
    (void)state;
    const size_t cap = 2 * MIB;
    char *zeros = calloc(80, MIB), *packed = malloc(cap);
    const struct {
        size_t n;
        enum oc_input_limit which;
        uint64_t most;
        const char *msg; /* NULL: accepted */
    } all[] = {
        {MIB, OC_LIMIT_GZ_BYTES, MIB, NULL},
        {MIB, OC_LIMIT_GZ_BYTES, MIB - 1, "more than 1048575 "},
        {MIB, OC_LIMIT_GZ_VALUE_BYTES, MIB, NULL},
        {MIB, OC_LIMIT_GZ_VALUE_BYTES, 1000, "more than 1000 "},
        {60 * MIB, OC_LIMIT_GZ_RATIO, 1, NULL},
        {80 * MIB, OC_LIMIT_GZ_RATIO, 1032, NULL},
        {80 * MIB, OC_LIMIT_GZ_RATIO, 500, "more than 500 bytes out of each byte of gzip data"},
    };
    for (size_t i = 0; i < OC_COUNT(all); i++) {
        struct oc_input_limits limits = {.most = {[OC_LIMIT_GZ_VALUE_BYTES] = 100 * MIB}};
        struct oc_stream *s = oc_stream_mem(packed, pack(zeros, all[i].n, packed, cap));
        struct oc_err err = {0};
        const char *p;
        size_t n;
        uint64_t offset;
        limits.most[all[i].which] = all[i].most;
        oc_stream_set_limits(s, &limits);
        while (oc_stream_fill(s, 0, &p, &n, &offset))
            continue;
        assert_int_equal(oc_stream_check(s, &err), all[i].msg ? -1 : 0);
        if (all[i].msg) {
            assert_int_equal(err.code, OC_ELIMIT);
            if (!strstr(err.msg, all[i].msg))
                fail_msg("'%s' without '%s'", err.msg, all[i].msg);
        } else {
            assert_int_equal(n, all[i].n);
        }
        oc_stream_close(s);
    }
    free(packed);
    free(zeros);
}

/* A folder with a file, a link that stays inside and one that leads out; all others are refused by every opener. */
static void files_are_read_inside_the_roots(void **state)
{
    (void)state;
    const char *const roots[] = {folder}, *const missing[] = {folder, "/no/such/folder"};
    char inner[80], outer[80];
    struct oc_file f;
    struct oc_err e;
    snprintf(inner, sizeof(inner), "%s/inner", folder);
    snprintf(outer, sizeof(outer), "%s/outer", folder);
    write_file("data", 4);
    if (symlink("f", inner) != 0) /* Windows */
        skip();
    assert_int_equal(symlink("/etc/passwd", outer), 0);
    assert_int_equal(oc_set_read_roots(missing, 2, true, &e), -1);
    assert_int_equal(e.code, OC_ENOTFOUND);
    assert_int_equal(oc_file_map("/etc/passwd", 0, &f, &e), 0); /* nothing changed */
    oc_file_unmap(&f);
    assert_int_equal(oc_set_read_roots(roots, 1, false, &e), 0);
    assert_false(oc_may_read_urls());
    assert_int_equal(oc_file_map(inner, 0, &f, &e), 0);
    assert_int_equal(f.size_bytes, 4);
    oc_file_unmap(&f);
    const char *const refused[] = {outer, "/etc/passwd", "/tmp"};
    for (size_t i = 0; i < OC_COUNT(refused); i++) {
        assert_int_equal(oc_file_map(refused[i], 0, &f, &e), -1);
        assert_int_equal(e.code, OC_EARG);
        assert_non_null(strstr(e.msg, "is not inside the folder of --root"));
    }
    assert_int_equal(oc_open_inside("/etc", "passwd"), -1);
    assert_int_equal(oc_file_map("/no/such/file", 0, &f, &e), -1);
    assert_int_equal(e.code, OC_EIO);
    assert_int_equal(oc_set_read_roots(NULL, 0, true, &e), 0);
    assert_int_equal(oc_file_map(outer, 0, &f, &e), 0);
    oc_file_unmap(&f);
    unlink(inner);
    unlink(outer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_name_the_path),
        cmocka_unit_test(maps_files_and_empty_files),
        cmocka_unit_test(plain_stream_is_one_window),
        cmocka_unit_test(gzip_gives_the_same_bytes),
        cmocka_unit_test(a_closed_stream_is_not_mapped),
        cmocka_unit_test(gzip_in_gzip_is_inflated_once_more),
        cmocka_unit_test(peek_decompresses_gzip),
        cmocka_unit_test(unreadable_descriptors_report_the_system_error),
        cmocka_unit_test(standard_input_must_be_a_regular_file),
        cmocka_unit_test(limits_of_gzip_data),
        cmocka_unit_test(files_are_read_inside_the_roots),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
