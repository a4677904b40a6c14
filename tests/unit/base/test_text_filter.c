#include "base/file.h"
#include "base/log_prefix.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include <zlib.h>

#include "base/arena.h"

/* All text of the filter. */
static void read_all(struct oc_text_filter *f, struct oc_buf *out)
{
    const char *data;
    size_t n = 0;
    while (oc_text_filter_more(f, n, true, &data, &n))
        oc_buf_add(out, data, n);
    oc_text_filter_close(f);
}

static void expect_text(const void *src, size_t n, const struct oc_log_prefix *prefix, const char *want)
{
    struct oc_buf out = {0};
    read_all(oc_text_filter_open(src, n, oc_text_encoding(src, n), prefix), &out);
    assert_string_equal(out.data ? out.data : "", want);
    oc_buf_free(&out);
}

static void utf16_becomes_utf8(void **state)
{
    (void)state;
    static const char le[] = "\xff\xfe"
                             "a\0\xe9\0\x3d\xd8\x00\xde"
                             "b\0\n\0",
                      be[] = "\xfe\xff"
                             "\0a\0\xe9\xd8\x3d\xde\x00"
                             "\0b\0\n",
                      lone[] = "\xff\xfe"
                               "a\0\x3d\xd8"
                               "b\0"
                               "c";
    expect_text(le, sizeof(le) - 1, NULL,
                "a\xc3\xa9\xf0\x9f\x98\x80"
                "b\n");
    expect_text(be, sizeof(be) - 1, NULL,
                "a\xc3\xa9\xf0\x9f\x98\x80"
                "b\n");
    expect_text(lone, sizeof(lone) - 1, NULL,
                "a\xef\xbf\xbd"
                "b");
}

static void encoding_is_found_without_a_mark(void **state)
{
    (void)state;
    assert_int_equal(oc_text_encoding("E\0v\0e\0n\0t\0 \0C\0a\0", 16), OC_TEXT_UTF16LE);
    assert_int_equal(oc_text_encoding("\0E\0v\0e\0n\0t\0 \0C\0a", 16), OC_TEXT_UTF16BE);
    assert_int_equal(oc_text_encoding("SQLite format 3\0", 16), OC_TEXT_BYTES);
    assert_int_equal(oc_text_encoding("Event  Calls  Total", 19), OC_TEXT_BYTES);
    assert_int_equal(oc_text_encoding("", 0), OC_TEXT_BYTES);
}

static void prefixes_of_logging_tools_are_removed(void **state)
{
    (void)state;
    static const char *const prefix[] = {"2024-05-01T10:00:00.1234567Z ",
                                         "2024/05/01 10:00:00 [INFO] ",
                                         "[05/01/2024-10:00:00] [I] ",
                                         "app-1  | ",
                                         "3: ",
                                         "[1,0]<stdout>: ",
                                         "INFO:root:",
                                         "2024-05-01 10:00:00,123 - bench.run - INFO - ",
                                         "job\tRun model\t2024-05-01T10:00:00Z ",
                                         "05-31 10:31:13.006 21767 21767 I tflite  : ",
                                         "05-31 10:31:13.006   767 11767 W a.b-c_d: ",
                                         "I/tflite  (  217): ",
                                         "D RKNN: [15:13:15.945] ",
                                         "WARNING: ",
                                         "Rank 0: ",
                                         "\033[36mbench-1  |\033[0m ",
                                         "[2026-07-14 09:12:44 TP0] ",
                                         "[2026/07/14 09:12:44] ppocr INFO: "};
    static const char *const line[] = {"a,b\n", "  1,2\n", "[\n", "  {\"x\": [1, 2]},\n", "]\n", "end"};
    for (size_t i = 0; i < OC_COUNT(prefix); i++) {
        struct oc_buf text = {0}, want = {0};
        struct oc_log_prefix found;
        for (size_t k = 0; k < OC_COUNT(line); k++) {
            oc_buf_printf(&text, "%s%s", prefix[i], line[k]);
            oc_buf_str(&want, line[k]);
        }
        oc_log_prefix_of(text.data, text.n, &found);
        if (!found.n)
            fail_msg("no prefix found in '%s'", prefix[i]);
        expect_text(text.data, text.n, &found, want.data);
        oc_buf_free(&text);
        oc_buf_free(&want);
    }
}

static void plain_text_has_no_prefix(void **state)
{
    (void)state;
    static const char *const text[] = {"",
                                       "a,b\n1,2\n",
                                       "[1, 2],\n[3, 4],\n",
                                       "{\"a\": 1}\n",
                                       "conv 10:00\nrelu 11:00\n",
                                       "I conv 1\nI relu 2\n",
                                       "A a: 1\nA b: 2\n",
                                       "D : 1\nD : 2\n",
                                       "1 2 I:a\n1 2 I:b\n"};
    for (size_t i = 0; i < OC_COUNT(text); i++) {
        struct oc_log_prefix found;
        oc_log_prefix_of(text[i], strlen(text[i]), &found);
        assert_int_equal(found.n, 0);
    }
}

static size_t count_labels(const char *text, char label[OC_LOG_LABELS][OC_LOG_LABEL])
{
    struct oc_log_prefix found;
    oc_log_prefix_of(text, strlen(text), &found);
    return oc_log_labels(text, strlen(text), &found, label);
}

/* Numbers of lines are not labels. */
static void labels_of_processes_are_found(void **state)
{
    static const struct {
        const char *text, *first;
        size_t n;
    } of[] = {{"[0] a\n[1] b\n[0] c\n[1] d\n[1] e\n[0] f\n", "[0]", 2},
              {"3: a\n2: b\n3: c\n2: d\n2: e\n3: f\n", "3", 2},
              {"app-1  | a\napp-1  | b\napp-1  | c\n", "app-1", 1},
              {"[1,0]<stdout>: a\n[1,0]<stderr>: b\n[1,0]<stdout>: c\n", "[1,0]", 1},
              {"10:00:00 [rank2]: a\n10:00:00 [rank2]: b\n10:00:00 [rank2]: c\n", "[rank2]", 1},
              {"[1] a\n[2] b\n[3] c\n[4] d\n", NULL, 0},
              {"[10:00:00 TP0] a\n[10:00:00 TP1] b\n[10:00:01 TP0] c\n[10:00:02 TP0] d\n[10:00:02 TP1] "
               "e\n[10:00:03 TP1] f\n",
               "TP0", 2},
              {"[I] a\n[W] b\n[I] c\n[I] d\n", NULL, 0},
              {"a\nb\n", NULL, 0}};
    (void)state;
    for (size_t i = 0; i < OC_COUNT(of); i++) {
        char label[OC_LOG_LABELS][OC_LOG_LABEL];
        assert_int_equal(count_labels(of[i].text, label), of[i].n);
        if (of[i].n)
            assert_string_equal(label[0], of[i].first);
    }
}

static void lines_of_other_labels_are_dropped(void **state)
{
    (void)state;
    static const char text[] = "[0] a\n[1] b\n[10] c\nd\n[0] e\n[1] f\n";
    struct oc_log_prefix found;
    oc_log_prefix_of(text, sizeof(text) - 1, &found);
    assert_string_equal(found.label, "");
    memcpy(found.label, "[1]", 4);
    expect_text(text, sizeof(text) - 1, &found, "b\nd\nf\n");
}

/* Lines without the prefix of the others stay as they are. */
static void other_lines_are_unchanged(void **state)
{
    (void)state;
    static const char text[] = "[I] a\n[I] b\n10:00:00 c\n[I] d\n[W] [x] e\n";
    struct oc_log_prefix found;
    oc_log_prefix_of(text, sizeof(text) - 1, &found);
    expect_text(text, sizeof(text) - 1, &found, "a\nb\n10:00:00 c\nd\n[x] e\n");
}

/* A prefix of no known parts: digits differ, blanks before the text stay. */
static void form_of_all_lines_is_removed(void **state)
{
    (void)state;
    static const char text[] =
        "<7> node-12 main   a 1\n<8> node-3 main b\n<9> node-400 main\n<1> node-5 main  c\n",
                      some[] = "x\n  7\ta\n 12\tb\n 13\t\tc\n100\td\n";
    struct oc_log_prefix found;
    assert_true(oc_log_form_of(text, sizeof(text) - 1, 100, &found));
    expect_text(text, sizeof(text) - 1, &found, "  a 1\nb\n\n c\n");
    assert_false(oc_log_form_of(some, sizeof(some) - 1, 100, &found));
    assert_true(oc_log_form_of(some, sizeof(some) - 1, 75, &found));
    expect_text(some, sizeof(some) - 1, &found, "x\na\nb\n\tc\nd\n");
    assert_false(oc_log_form_of("ab\nac\nad\n", 9, 100, &found));
}

static void text_of_json_lines_is_read(void **state)
{
    (void)state;
    static const char text[] =
        "{\"level\":\"INFO\",\"n\":{\"message\":\"no\"},\"message\":\"a \\\"b\\\"\"}\n"
        "{\"message\": \"c\\n\", \"t\": [1, 2]}\n{\"message\": \"d\"}\n{\"other\": 1}\n";
    struct oc_log_prefix found;
    oc_log_prefix_of(text, sizeof(text) - 1, &found);
    expect_text(text, sizeof(text) - 1, &found, "a \"b\"\nc\nd\n{\"other\": 1}\n");
}

/* Pieces of the source end in lines and in the middle of characters. */
static void long_text_is_passed_on_in_pieces(void **state)
{
    (void)state;
    struct oc_buf text = {0}, want = {0}, out = {0};
    struct oc_log_prefix found;
    for (int i = 0; i < 60000; i++) {
        oc_buf_printf(&text, "[I] line %d\n", i);
        oc_buf_printf(&want, "line %d\n", i);
    }
    oc_log_prefix_of(text.data, text.n, &found);
    read_all(oc_text_filter_open(text.data, text.n, OC_TEXT_BYTES, &found), &out);
    assert_int_equal(out.n, want.n);
    assert_memory_equal(out.data, want.data, want.n);
    oc_buf_free(&text);
    oc_buf_free(&want);
    oc_buf_free(&out);
}

static void stream_reads_utf16_files(void **state)
{
    (void)state;
    char path[] = "/tmp/onnxcost-test-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd,
                           "\xff\xfe"
                           "h\0i\0\n\0",
                           8),
                     8);
    close(fd);
    struct oc_stream *s;
    struct oc_err err;
    const char *data;
    size_t n;
    uint64_t offset;
    assert_int_equal(oc_stream_open(path, NULL, &s, &err), 0);
    assert_true(oc_stream_fill(s, 0, &data, &n, &offset));
    assert_int_equal(n, 3);
    assert_memory_equal(data, "hi\n", 3);
    assert_false(oc_stream_fill(s, 3, &data, &n, &offset));
    assert_int_equal(offset, 3);
    oc_stream_close(s);
    unlink(path);
}

/* Text of PowerShell, compressed afterwards. */
static void stream_reads_utf16_in_gzip(void **state)
{
    (void)state;
    enum { LINES = 40000 };
    struct oc_buf text = {0}, got = {0};
    unsigned char gz[1 << 16];
    z_stream z = {0};
    oc_buf_add(&text, "\xff\xfe", 2);
    for (int i = 0; i < LINES; i++)
        oc_buf_add(&text, "l\0i\0n\0e\0\n\0", 10);
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (unsigned char *)text.data;
    z.avail_in = (unsigned)text.n;
    z.next_out = gz;
    z.avail_out = sizeof(gz);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    struct oc_stream *s = oc_stream_mem(gz, z.total_out);
    const char *data;
    size_t n = 0;
    uint64_t offset;
    while (oc_stream_fill(s, n, &data, &n, &offset))
        oc_buf_add(&got, data, n);
    assert_null(oc_stream_error(s));
    assert_int_equal(got.n, 5 * LINES);
    assert_memory_equal(got.data + got.n - 10, "line\nline\n", 10);
    oc_stream_close(s);
    deflateEnd(&z);
    oc_buf_free(&text);
    oc_buf_free(&got);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(utf16_becomes_utf8),
        cmocka_unit_test(encoding_is_found_without_a_mark),
        cmocka_unit_test(prefixes_of_logging_tools_are_removed),
        cmocka_unit_test(plain_text_has_no_prefix),
        cmocka_unit_test(labels_of_processes_are_found),
        cmocka_unit_test(lines_of_other_labels_are_dropped),
        cmocka_unit_test(other_lines_are_unchanged),
        cmocka_unit_test(form_of_all_lines_is_removed),
        cmocka_unit_test(text_of_json_lines_is_read),
        cmocka_unit_test(long_text_is_passed_on_in_pieces),
        cmocka_unit_test(stream_reads_utf16_files),
        cmocka_unit_test(stream_reads_utf16_in_gzip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
