#include "base/json_read.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <cmocka.h>

struct text {
    struct oc_stream *s;
    struct oc_json *j;
    char *packed;
};

static struct text open_mem(const char *data, size_t n)
{
    struct text t = {.s = oc_stream_mem(data, n)};
    t.j = oc_json_open(t.s);
    return t;
}

static struct text open_text(const char *data)
{
    return open_mem(data, strlen(data));
}

static void text_close(struct text *t)
{
    oc_json_close(t->j);
    oc_stream_close(t->s);
    free(t->packed);
}

static void reads_values(void **state)
{
    (void)state;
    struct text t = open_text("\xef\xbb\xbf {\"a\": [1, -2, 9223372036854775807, \"12\", 1e3, 2.0],\n"
                              "\"b\" : 1.5 ,\"c\":true,\"d\":null,\"e\":\"x\"}");
    struct oc_str s;
    int64_t v, want[] = {1, -2, INT64_MAX, 12, 1000, 2};
    double d;
    bool b;
    assert_int_equal(oc_json_peek(t.j), OC_JSON_OBJECT);
    assert_true(oc_json_enter(t.j));
    assert_true(oc_json_member(t.j, &s) && oc_str_eq(s, "a"));
    assert_int_equal(oc_json_peek(t.j), OC_JSON_ARRAY);
    assert_true(oc_json_enter(t.j));
    for (size_t i = 0; i < OC_COUNT(want); i++) {
        assert_true(oc_json_item(t.j));
        assert_true(oc_json_i64(t.j, &v));
        assert_int_equal(v, want[i]);
    }
    assert_int_equal(oc_json_depth(t.j), 2);
    assert_false(oc_json_item(t.j));
    assert_true(oc_json_member(t.j, &s) && oc_str_eq(s, "b"));
    assert_true(oc_json_double(t.j, &d) && d == 1.5);
    assert_true(oc_json_member(t.j, &s) && oc_json_bool(t.j, &b) && b);
    assert_true(oc_json_member(t.j, &s) && oc_json_peek(t.j) == OC_JSON_NULL && oc_json_skip(t.j));
    assert_true(oc_json_member(t.j, &s) && oc_json_string(t.j, &s) && oc_str_eq(s, "x"));
    assert_false(oc_json_member(t.j, &s));
    assert_int_equal(oc_json_depth(t.j), 0);
    assert_int_equal(oc_json_peek(t.j), OC_JSON_NONE);
    assert_null(oc_json_error(t.j, NULL));
    assert_false(oc_json_truncated(t.j));
    text_close(&t);
}

static void rejects_numbers_that_json_does_not_have(void **state)
{
    (void)state;
    struct text t = open_text("[nan,-nan,NaN,inf,-inf,Infinity,\"inf\",\"nan\",+1.5,.5]");
    double d, want[] = {NAN, NAN, NAN, INFINITY, -INFINITY, INFINITY, INFINITY, NAN, 1.5, 0.5};
    assert_true(oc_json_enter(t.j));
    for (size_t i = 0; i < OC_COUNT(want); i++) {
        assert_true(oc_json_item(t.j));
        assert_true(oc_json_double(t.j, &d));
        assert_true(isnan(want[i]) ? isnan(d) : d == want[i]);
    }
    assert_false(oc_json_item(t.j));
    text_close(&t);
}

static void integers_are_exact_or_rejected(void **state)
{
    (void)state;
    struct text t =
        open_text("[1763700000899999001,-9223372036854775808,9223372036854775808,1.5,\"x\",{},7]");
    int64_t v;
    bool want[] = {true, true, false, false, false, false, true};
    int64_t value[] = {1763700000899999001, INT64_MIN, 0, 0, 0, 0, 7};
    assert_true(oc_json_enter(t.j));
    for (size_t i = 0; i < OC_COUNT(want); i++) {
        assert_true(oc_json_item(t.j));
        assert_int_equal(oc_json_i64(t.j, &v), want[i]);
        if (want[i])
            assert_int_equal(v, value[i]);
    }
    assert_null(oc_json_error(t.j, NULL)); /* a wrong type is not an error */
    text_close(&t);
}

static void decodes_string_escapes(void **state)
{
    (void)state;
    static const struct {
        const char *json, *want;
    } row[] = {
        {"\"plain\"", "plain"},
        {"\"\"", ""},
        {"\"a\\\"b\\\\c\\/d\\n\\t\\r\\b\\f\"", "a\"b\\c/d\n\t\r\b\f"},
        {"\"\\u0041\\u00e9\\u20ac\"", "A\xc3\xa9\xe2\x82\xac"},
        {"\"\\ud83d\\ude00!\"", "\xf0\x9f\x98\x80!"},
        {"\"\\ud83d!\"", "\xef\xbf\xbd!"}, /* half of a surrogate pair */
        {"\"\\ude00\\ud83d\"", "\xef\xbf\xbd\xef\xbf\xbd"},
        {"\"\\q\\u12\"", "\\q\\u12"}, /* unknown escapes are kept */
        {"\"tab\there\nand line\"", "tab\there\nand line"},
        {"\"say \"hi\" there\"", "say \"hi\" there"}, /* unescaped quotes */
        {"\"\xff\xfe\"", "\xff\xfe"},
    };
    for (size_t i = 0; i < OC_COUNT(row); i++) {
        struct text t = open_text(row[i].json);
        struct oc_str s;
        assert_true(oc_json_string(t.j, &s));
        assert_int_equal(s.n, strlen(row[i].want));
        assert_memory_equal(s.s, row[i].want, s.n);
        text_close(&t);
    }
}

static void missing_and_extra_commas_are_accepted(void **state)
{
    (void)state;
    struct text t = open_text("{\"a\":[1 2,,3,],\"b\":\"x\" \"c\":2,}");
    struct oc_str s;
    int64_t v, sum = 0;
    assert_true(oc_json_enter(t.j) && oc_json_member(t.j, &s) && oc_json_enter(t.j));
    while (oc_json_item(t.j)) {
        assert_true(oc_json_i64(t.j, &v));
        sum += v;
    }
    assert_int_equal(sum, 6);
    assert_true(oc_json_member(t.j, &s) && oc_json_string(t.j, &s) && oc_str_eq(s, "x"));
    assert_true(oc_json_member(t.j, &s) && oc_str_eq(s, "c") && oc_json_i64(t.j, &v) && v == 2);
    assert_false(oc_json_member(t.j, &s));
    assert_null(oc_json_error(t.j, NULL));
    text_close(&t);
}

/* Skipping and raw text must agree at every length, in the block loop and in its tail. */
static void skip_and_raw_text_agree_at_every_length(void **state)
{
    (void)state;
    char text[512];
    for (int pad = 0; pad < 150; pad++) {
        int n =
            snprintf(text, sizeof(text),
                     "[{\"k%0*d\":[1,{\"q\":\"}]\\\"\\\\\" , \"r\":\"a\"b}\"}],\"z\":[[]]}  ,42]", pad, 0);
        struct text t = open_mem(text, (size_t)n);
        struct oc_str s;
        int64_t v;
        assert_true(oc_json_enter(t.j) && oc_json_item(t.j));
        if (pad % 2)
            assert_true(oc_json_skip(t.j));
        else
            assert_true(oc_json_raw(t.j, &s) && s.n == (size_t)n - 7 && s.s == text + 1);
        assert_true(oc_json_item(t.j) && oc_json_i64(t.j, &v) && v == 42);
        assert_false(oc_json_item(t.j));
        assert_null(oc_json_error(t.j, NULL));
        text_close(&t);
    }
}

static void truncated_text_keeps_complete_members(void **state)
{
    (void)state;
    const char whole[] = "[{\"a\":\"b\\\"c\",\"d\":[1,2,{\"e\":null}]},{\"f\":1.5}]";
    for (size_t n = 1; n < sizeof(whole) - 1; n++) {
        struct text t = open_mem(whole, n);
        struct oc_str s;
        size_t closed = 0;
        assert_true(oc_json_enter(t.j));
        while (oc_json_item(t.j)) {
            if (oc_json_enter(t.j))
                while (oc_json_member(t.j, &s))
                    oc_json_skip(t.j);
            closed += !oc_json_truncated(t.j);
        }
        assert_true(oc_json_truncated(t.j));
        assert_null(oc_json_error(t.j, NULL));
        assert_int_equal(oc_json_offset(t.j), n);
        assert_int_equal(closed, (n >= 34) + (n >= 44)); /* the objects are [1, 34) and [35, 44) */
        text_close(&t);
    }
}

static void errors_have_an_offset(void **state)
{
    (void)state;
    struct text t = open_text("{\"a\":1, 2}");
    struct oc_str s;
    uint64_t at = 0;
    assert_true(oc_json_enter(t.j) && oc_json_member(t.j, &s) && oc_json_skip(t.j));
    assert_false(oc_json_member(t.j, &s));
    assert_string_equal(oc_json_error(t.j, &at), "expected a name, found '2'");
    assert_int_equal(at, 8);
    assert_false(oc_json_member(t.j, &s)); /* the error is sticky */
    assert_false(oc_json_skip(t.j));
    text_close(&t);
    t = open_text("[[1}]");
    assert_true(oc_json_enter(t.j) && oc_json_item(t.j));
    assert_false(oc_json_skip(t.j));
    assert_non_null(strstr(oc_json_error(t.j, &at), "'}' does not close '['"));
    text_close(&t);
}

/* The second colon belongs to another member of another object and must not become part of the name. */
static void member_name_needs_a_colon(void **state)
{
    (void)state;
    static const struct {
        const char *text, *error;
        uint64_t at;
    } row[] = {
        {"{\"a\" 2, \"b\" : 3}", "expected ':', found '2'", 5},
        {"{\"a\" 2 }\n, { \"b\" : 3 }", "expected ':', found '2'", 5},
        {"{\"a\" \"x\", \"b\" : 3}", "expected ':', found '\"'", 5},
        {"{\"a\"}", "expected ':', found '}'", 4},
        {"{\"a\" b\": 1}", "expected ':', found 'b'", 5},
    };
    for (size_t i = 0; i < OC_COUNT(row); i++) {
        struct text t = open_text(row[i].text);
        struct oc_str s = {"", 0};
        uint64_t at = 0;
        assert_true(oc_json_enter(t.j));
        assert_false(oc_json_member(t.j, &s));
        assert_true(oc_str_eq(s, "a"));
        assert_string_equal(oc_json_error(t.j, &at), row[i].error);
        assert_int_equal(at, row[i].at);
        text_close(&t);
    }
}

static void nesting_is_limited(void **state)
{
    (void)state;
    char deep[600];
    memset(deep, '[', sizeof(deep));
    struct text t = open_mem(deep, sizeof(deep));
    assert_false(oc_json_skip(t.j));
    assert_non_null(strstr(oc_json_error(t.j, NULL), "nested deeper"));
    text_close(&t);
    t = open_mem(deep, sizeof(deep));
    unsigned n = 0;
    while (oc_json_enter(t.j) && oc_json_item(t.j))
        n++;
    assert_int_equal(n, 256);
    assert_non_null(oc_json_error(t.j, NULL));
    text_close(&t);
    memset(deep + 256, ']', 256); /* exactly the limit */
    t = open_mem(deep, 512);
    assert_true(oc_json_skip(t.j));
    text_close(&t);
}

static void broken_line(const char *text)
{
    struct text t = open_text(text);
    struct oc_str s;
    int64_t v, sum = 0;
    int repaired = 0;
    assert_true(oc_json_enter(t.j));
    for (;;) {
        while (oc_json_item(t.j) && oc_json_enter(t.j))
            while (oc_json_member(t.j, &s))
                sum += oc_json_i64(t.j, &v) ? v : 0;
        if (!oc_json_error(t.j, NULL))
            break;
        assert_true(oc_json_resync(t.j, 1));
        assert_int_equal(oc_json_depth(t.j), 1);
        repaired++;
    }
    assert_int_equal(repaired, 1);
    assert_int_equal(sum, 4);
    text_close(&t);
}

static void damaged_line_is_skipped(void **state)
{
    (void)state;
    broken_line("[\n{\"n\":1},\n{\"n\":\"a\",\"b_kernel\"x\",\"q\":5},\n\n{\"n\":3}\n]");
    broken_line("[\n{\"n\":1}\n, {\"n\":\"a\",\"b_kernel\"x\",\"q\":5}\n, {\"n\":3}\n]");
}

/* The same text through windows of an inflated stream: values cross every boundary. */
static void values_across_window_boundaries_are_complete(void **state)
{
    (void)state;
    size_t cap = 3 << 20, n = 0;
    char *data = malloc(cap + 100), *packed = malloc(cap);
    int64_t want = 0, sum = 0;
    n += (size_t)snprintf(data, cap, "[");
    for (int i = 0; n < cap - 1000; i++) {
        n += (size_t)snprintf(
            data + n, 200, "{\"id\":%d,\"text\":\"%0*d\\n\",\"skip\":[{\"a\":\"]\\\"\"}]},\n", i, i % 90, 0);
        want += i;
    }
    data[n++] = ']';
    z_stream z = {0};
    deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    z.next_in = (Bytef *)data;
    z.avail_in = (uInt)n;
    z.next_out = (Bytef *)packed;
    z.avail_out = (uInt)cap;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    struct text t = open_mem(packed, z.total_out);
    t.packed = packed;
    deflateEnd(&z);
    struct oc_str s;
    int64_t v;
    assert_true(oc_json_enter(t.j));
    for (int64_t i = 0; oc_json_item(t.j); i++) {
        assert_true(oc_json_enter(t.j));
        assert_true(oc_json_member(t.j, &s) && oc_str_eq(s, "id"));
        assert_true(oc_json_i64(t.j, &v) && v == i);
        sum += v;
        assert_true(oc_json_member(t.j, &s) && oc_json_string(t.j, &s));
        assert_int_equal(s.n, (i % 90 ? i % 90 : 1) + 1);
        assert_true(oc_json_member(t.j, &s));
        if (i % 2)
            assert_true(oc_json_raw(t.j, &s) && s.n == 13);
        else
            assert_true(oc_json_skip(t.j));
        assert_false(oc_json_member(t.j, &s));
    }
    assert_null(oc_json_error(t.j, NULL));
    assert_false(oc_json_truncated(t.j));
    assert_int_equal(sum, want);
    assert_int_equal(oc_json_offset(t.j), n);
    text_close(&t);
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_values),
        cmocka_unit_test(rejects_numbers_that_json_does_not_have),
        cmocka_unit_test(integers_are_exact_or_rejected),
        cmocka_unit_test(decodes_string_escapes),
        cmocka_unit_test(missing_and_extra_commas_are_accepted),
        cmocka_unit_test(skip_and_raw_text_agree_at_every_length),
        cmocka_unit_test(truncated_text_keeps_complete_members),
        cmocka_unit_test(errors_have_an_offset),
        cmocka_unit_test(member_name_needs_a_colon),
        cmocka_unit_test(nesting_is_limited),
        cmocka_unit_test(damaged_line_is_skipped),
        cmocka_unit_test(values_across_window_boundaries_are_complete),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
