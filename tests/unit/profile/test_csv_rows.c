#include "profile/csv_rows.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

struct table {
    struct oc_stream *s;
    struct oc_csv *c;
};

static struct table open_text(const char *text, char delimiter)
{
    struct table t = {.s = oc_stream_mem(text, strlen(text))};
    t.c = oc_csv_open(t.s);
    oc_csv_delimiter(t.c, delimiter);
    return t;
}

static void close_text(struct table *t)
{
    oc_csv_close(t->c);
    oc_stream_close(t->s);
}

/* The next row as its fields separated by |, "(end)" after the last one. */
static const char *next_row(struct oc_csv *c)
{
    static char text[512];
    const struct oc_str *f;
    size_t n, at = 0;
    if (!oc_csv_row(c, &f, &n))
        return "(end)";
    text[0] = '\0';
    for (size_t i = 0; i < n; i++)
        at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%.*s", i ? "|" : "", (int)f[i].n, f[i].s);
    return text;
}

static void splits_rows(void **state)
{
    (void)state;
    struct table t = open_text("\xef\xbb\xbf"
                               "a,b , c\r\n"
                               "\"x,y\",\"he wrote \"\"no\"\"\",\"\"\r\n"
                               "\r\n"
                               "\"two\nlines\",5' 3\",\"q\"tail ,\n"
                               "last",
                               ',');
    assert_string_equal(next_row(t.c), "a|b|c");
    assert_int_equal(oc_csv_offset(t.c), 3);
    assert_string_equal(next_row(t.c), "x,y|he wrote \"no\"|");
    assert_int_equal(oc_csv_line_number(t.c), 2);
    assert_string_equal(next_row(t.c), "");
    assert_string_equal(next_row(t.c), "two\nlines|5' 3\"|qtail|");
    assert_int_equal(oc_csv_line_number(t.c), 4);
    assert_false(oc_csv_cut(t.c));
    assert_string_equal(next_row(t.c), "last");
    assert_int_equal(oc_csv_line_number(t.c), 6);
    assert_true(oc_csv_cut(t.c));
    assert_string_equal(next_row(t.c), "(end)");
    assert_false(oc_csv_failed(t.c));
    close_text(&t);
}

/* A pair of quotes directly after a closing one is one quote; after a blank it is text. */
static void quotes_end_at_the_closing_quote(void **state)
{
    (void)state;
    struct table t = open_text("\"a\" \"b\nc\"\"d\n \"e;f\" ;g\n\"\"\"\";\"\"\"h\"\"\"\n", ';');
    assert_string_equal(next_row(t.c), "a\"b");
    assert_string_equal(next_row(t.c), "c\"\"d");
    assert_string_equal(next_row(t.c), "e;f|g");
    assert_string_equal(next_row(t.c), "\"|\"h\"");
    assert_string_equal(next_row(t.c), "(end)");
    close_text(&t);
}

static void missing_closing_quote_is_a_truncation(void **state)
{
    (void)state;
    struct table t = open_text("a,b\n1,\"x\n2,y\n", ',');
    assert_string_equal(next_row(t.c), "a|b");
    assert_string_equal(next_row(t.c), "(end)");
    assert_true(oc_csv_cut(t.c));
    assert_int_equal(oc_csv_line_number(t.c), 2);
    close_text(&t);
}

static bool has_name(void *ctx, const struct oc_str *f, size_t n)
{
    return n >= 2 && oc_csv_column(f, n, ctx) != OC_CSV_NONE;
}

static void finds_header_after_any_text(void **state)
{
    (void)state;
    const struct oc_str *f;
    size_t n;
    struct table t =
        open_text("say \"hello, Names\n\"open\n\nName;Time (ms)\nx;1\n\nNOTICE\nName,Dur\ny,2\n", '\0');
    char name[] = "Name", time[] = "Dur";
    assert_true(oc_csv_find(t.c, has_name, name, &f, &n));
    assert_int_equal(n, 2);
    assert_int_equal(oc_csv_line_number(t.c), 4);
    assert_int_equal(oc_csv_column(f, n, "time"), 1);
    assert_string_equal(next_row(t.c), "x|1");
    oc_csv_unread(t.c);
    assert_string_equal(next_row(t.c), "x|1");
    assert_true(oc_csv_find(t.c, has_name, time, &f, &n));
    assert_string_equal(next_row(t.c), "y|2");
    assert_false(oc_csv_find(t.c, has_name, time, &f, &n));
    assert_false(oc_csv_failed(t.c));
    close_text(&t);
}

enum { MAX_ROW = 16 << 20, MAX_FIELDS = 8192 }; /* the defaults (base/diag.c) */

static void row_and_field_limits_are_enforced(void **state)
{
    (void)state;
    struct oc_err err;
    char *text = malloc(MAX_ROW + 8);
    memset(text, 'x', MAX_ROW + 7);
    memcpy(text, "a\n", 2);
    text[MAX_ROW + 7] = '\0';
    struct table t = open_text(text, ',');
    assert_string_equal(next_row(t.c), "a");
    assert_string_equal(next_row(t.c), "(end)");
    assert_true(oc_csv_failed(t.c));
    assert_int_equal(oc_csv_error(t.c, &err), -1);
    assert_string_equal(err.msg, "line 2: more than 16777216 bytes in a row (--limit csv-row-bytes=N)");
    assert_int_equal(err.offset_bytes, 2);
    close_text(&t);
    memset(text, ',', MAX_FIELDS);
    text[MAX_FIELDS] = '\0';
    text[0] = 'x';
    t = open_text(text, ',');
    const struct oc_str *f;
    size_t n;
    assert_true(oc_csv_row(t.c, &f, &n)); /* 8191 delimiters: 8192 fields */
    assert_int_equal(n, MAX_FIELDS);
    close_text(&t);
    text[0] = ',';
    text[MAX_FIELDS - 1] = 'x';
    text[MAX_FIELDS] = ',';
    text[MAX_FIELDS + 1] = '\0';
    t = open_text(text, ',');
    assert_false(oc_csv_row(t.c, &f, &n));
    assert_true(oc_csv_failed(t.c));
    close_text(&t);
    free(text);
}

/* Windows of a .gz end anywhere: all of 300,000 rows are complete. */
static void reads_gzip(void **state)
{
    (void)state;
    char path[] = "/tmp/oc_csv_XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    gzFile z = gzdopen(fd, "wb1");
    for (int i = 0; i < 300000; i++)
        gzprintf(z, "%d,\"a\nb,%d\"\n", i, i * 7);
    gzclose(z);
    struct oc_stream *s;
    struct oc_err err;
    assert_int_equal(oc_stream_open(path, NULL, &s, &err), 0);
    unlink(path);
    struct oc_csv *c = oc_csv_open(s);
    oc_csv_delimiter(c, ',');
    const struct oc_str *f;
    size_t n, rows = 0;
    uint64_t v;
    while (oc_csv_row(c, &f, &n)) {
        assert_int_equal(n, 2);
        assert_true(oc_csv_u64(f[0], &v) && v == rows);
        assert_true(f[1].n > 4 && memcmp(f[1].s, "a\nb,", 4) == 0);
        assert_true(oc_csv_u64((struct oc_str){f[1].s + 4, f[1].n - 4}, &v) && v == rows * 7);
        rows++;
    }
    assert_int_equal(rows, 300000);
    assert_int_equal(oc_csv_line_number(c), 600001);
    assert_false(oc_csv_failed(c));
    oc_csv_close(c);
    oc_stream_close(s);
}

static struct oc_str str(const char *s)
{
    return (struct oc_str){s, strlen(s)};
}

static void parses_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
        const char *unit;
    } good[] = {
        {"1,205.00", 1205, ""},
        {"3,687,936", 3687936, ""},
        {" 12.5% ", 12.5, "%"},
        {"1.234s", 1.234, "s"},
        {"-5e-05", -5e-05, ""},
        {"0.25 us", 0.25, "us"},
        {"1e3ms", 1000, "ms"},
        {"1eV", 1, "eV"},
        {".5", 0.5, ""},
        {"7.", 7, ""},
        {"1234567.5", 1234567.5, ""},
        {"inf", INFINITY, ""},
        {"12,345 KB", 12345, "KB"},
    };
    static const char *const bad[] = {"",     "n/a",   "1,2", "1,23,456", "1234,567", "12 34",
                                      ",123", "1.2.3", "-",   "e5",       "1,2345"};
    for (size_t i = 0; i < OC_COUNT(good); i++) {
        double v;
        struct oc_str unit;
        if (!oc_csv_number(str(good[i].text), &v, &unit) || v != good[i].value ||
            !oc_str_eq(unit, good[i].unit))
            fail_msg("%s", good[i].text);
        assert_true(!good[i].unit[0] == oc_csv_number(str(good[i].text), &v, NULL));
    }
    for (size_t i = 0; i < OC_COUNT(bad); i++) {
        double v;
        struct oc_str unit;
        if (oc_csv_number(str(bad[i]), &v, &unit))
            fail_msg("accepts '%s' as %g '%.*s'", bad[i], v, (int)unit.n, unit.s);
    }
    uint64_t n;
    assert_true(oc_csv_u64(str("18,446,744,073,709,551,615"), &n) && n == UINT64_MAX);
    assert_false(oc_csv_u64(str("18446744073709551616"), &n));
    assert_false(oc_csv_u64(str("-1"), &n));
    assert_false(oc_csv_u64(str("1.0"), &n));
}

static void splits_units_from_headers(void **state)
{
    (void)state;
    static const struct {
        const char *header, *name, *unit;
    } row[] = {{"Total Time (ns)", "Total Time", "ns"},
               {"Start(nsec)", "Start", "nsec"},
               {"op_total_time(us)", "op_total_time", "us"},
               {"realTime (ms)", "realTime", "ms"},
               {"CPU Time", "CPU Time", ""},
               {"(a) b", "(a) b", ""}};
    for (size_t i = 0; i < OC_COUNT(row); i++) {
        struct oc_str unit, name = oc_csv_split_unit(str(row[i].header), &unit);
        assert_true(oc_str_eq(name, row[i].name) && oc_str_eq(unit, row[i].unit));
    }
    double ns;
    assert_true(oc_csv_time_unit(str("\xc2\xb5s"), &ns) && ns == 1e3);
    assert_true(oc_csv_time_unit(str("msecond"), &ns) && ns == 1e6);
    assert_false(oc_csv_time_unit(str("%"), &ns));
    assert_false(oc_csv_time_unit(str(""), &ns));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(splits_rows),
        cmocka_unit_test(quotes_end_at_the_closing_quote),
        cmocka_unit_test(missing_closing_quote_is_a_truncation),
        cmocka_unit_test(finds_header_after_any_text),
        cmocka_unit_test(row_and_field_limits_are_enforced),
        cmocka_unit_test(reads_gzip),
        cmocka_unit_test(parses_numbers),
        cmocka_unit_test(splits_units_from_headers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
