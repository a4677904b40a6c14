#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <string.h>

#include "profile/formats/chrome_reader.h"

enum { F_SIZE = OC_CH_ARG, F_SHAPE };
static const struct oc_chrome_key arg[] = {{"size", F_SIZE}, {"shape", F_SHAPE}};

struct opened {
    struct oc_stream *s;
    struct oc_chrome c;
};

static void open_text(struct opened *o, const char *text)
{
    struct oc_err err;
    o->s = oc_stream_mem(text, strlen(text));
    assert_int_equal(oc_chrome_open(&o->c, o->s, arg, OC_COUNT(arg), &err), 0);
}

static void close_all(struct opened *o)
{
    oc_chrome_close(&o->c);
    oc_stream_close(o->s);
}

/* Many events of two kinds with the same layout and values of other lengths: the fast path and the slow path
 * read the same. */
static void fast_and_slow_path_read_the_same(void **state)
{
    (void)state;
    struct oc_buf b = {0};
    oc_buf_str(&b, "{\"schemaVersion\": 1, \"traceEvents\": [");
    for (unsigned i = 0; i < 500; i++) {
        const char *odd = i % 100 == 7 ? "a \"b\" \\u0041" : i % 3 ? "x" : "a longer name";
        oc_buf_printf(&b,
                      "%s\n{ \"ph\": \"X\", \"cat\": \"%s\", \"name\": \"%s\", \"ts\": %u.%03u, \"dur\": %u,",
                      i ? "," : "", i % 2 ? "even" : "odd", odd, 1000 + i, i, i * i);
        oc_buf_printf(&b, " \"args\": {\"size\": \"%u\", \"skipped\": {\"a\": [1]}, \"shape\": [%u, [2]]} }",
                      i, i);
    }
    oc_buf_str(&b, "], \"more\": {}}");
    struct opened o;
    open_text(&o, b.data);
    for (unsigned i = 0; i < 500; i++) {
        int64_t ts, size;
        double dur;
        char shape[32];
        assert_true(oc_chrome_next(&o.c));
        assert_true(oc_chrome_is(&o.c, OC_CH_PH, "X"));
        assert_true(oc_chrome_is(&o.c, OC_CH_CAT, i % 2 ? "even" : "odd"));
        struct oc_str name = oc_chrome_text(&o.c, OC_CH_NAME);
        assert_true(oc_str_eq(name, i % 100 == 7 ? "a \"b\" A" : i % 3 ? "x" : "a longer name"));
        assert_true(oc_chrome_ts_ns(&o.c, OC_CH_TS, &ts) && ts == (1000 + (int64_t)i) * 1000 + i);
        assert_true(oc_chrome_dur_ns(&o.c, OC_CH_DUR, &dur) && dur == (double)i * i * 1000);
        assert_true(oc_chrome_i64(&o.c, F_SIZE, &size) && size == i);
        snprintf(shape, sizeof(shape), "[%u, [2]]", i);
        assert_true(oc_str_eq(o.c.f[F_SHAPE], shape));
        assert_false(oc_chrome_has(&o.c, OC_CH_PID));
    }
    assert_false(oc_chrome_next(&o.c));
    assert_true(oc_chrome_alike(&o.c) > 450); /* most events took the fast path */
    assert_false(oc_json_truncated(o.c.j));
    close_all(&o);
    oc_buf_free(&b);
}

/* Arrays that repeat, change, begin like the previous one, or are too long to be cached; the data that an
 * importer caches with them is available only while they repeat, and then mostly. */
static void repeated_arrays_are_cached(void **state)
{
    (void)state;
    static const char *const shape[] = {"[1, [2, 3]]", "[1, [2, 3], 4]", "[1]", "[\"a]\", [1]]",
                                        "[1, [2, 3]]"};
    char wide[1200];
    memset(wide, '1', sizeof(wide) - 1);
    wide[0] = '[';
    wide[sizeof(wide) - 2] = ']';
    wide[sizeof(wide) - 1] = '\0';
    struct oc_buf b = {0};
    oc_buf_str(&b, "[");
    for (unsigned i = 0; i < 60; i++)
        oc_buf_printf(&b, "%s{\"ph\": \"X\", \"ts\": %u, \"args\": {\"shape\": %s, \"size\": %u}}",
                      i ? ",\n" : "", i, i >= 50 ? wide : shape[i / 10], i);
    oc_buf_str(&b, "]");
    struct opened o;
    unsigned known = 0;
    open_text(&o, b.data);
    for (unsigned i = 0; i < 60; i++) {
        int64_t size;
        assert_true(oc_chrome_next(&o.c));
        assert_true(oc_str_eq(o.c.f[F_SHAPE], i >= 50 ? wide : shape[i / 10]));
        assert_true(oc_chrome_i64(&o.c, F_SIZE, &size) && size == i);
        if (!i)
            continue; /* the first event gives the layout */
        uint32_t *arrays = o.c.note[OC_CH_NOTE_ARRAYS], *category = o.c.note[OC_CH_NOTE_CATEGORY];
        assert_non_null(arrays);
        assert_non_null(category);
        bool again = i % 10 && i > 1 && i < 50;
        assert_true(*arrays == OC_NONE || (again && *arrays == i / 10));
        known += *arrays != OC_NONE;
        *arrays = i / 10;
        assert_int_equal(*category, i == 1 ? OC_NONE : 7);
        *category = 7;
    }
    assert_true(known >= 42); /* of 44: one more when "size" is found to change always */
    close_all(&o);
    oc_buf_free(&b);
}

static unsigned below(uint32_t *random, unsigned n)
{
    *random = *random * 1664525u + 1013904223u;
    return (*random >> 16) % n;
}

/* An event of few names whose values repeat, get longer, have a common prefix, and resemble the text after
 * them. */
static void add_event(struct oc_buf *b, uint32_t *random)
{
    static const char *const name[] = {"a", "conv", "a somewhat longer name", "quoted \\\"]\\\"", "a\"b", ""};
    static const char *const text[] = {
        "", "x", "xy", "]", "\\\", \\\"size\\\": 1", "text of more than sixteen"};
    static const char *const list[] = {
        "[]", "[1]", "[[1, 2], [\"]\", {\"a\": \"}\"}]]", "{\"k\": [\"a\"b\"]}",
        "[\"a text\", \"that is longer than a block of sixty-four bytes\", 3, []]"};
    unsigned way = below(random, 4), odd = below(random, 40);
    oc_buf_printf(b, "{\"ph\": \"X\", \"cat\": \"%u\", \"name\": \"%s\", \"pid\": %u, \"tid\": \"t%u\",\n  ",
                  way, name[below(random, OC_COUNT(name))], odd ? 7 : 70, below(random, 3));
    oc_buf_printf(b, "\"ts\": %u, \"dur\": %u.%u, \"args\": {", below(random, 9999), below(random, 300), way);
    oc_buf_printf(b, "\"n\": %u, \"list\": %s, ", odd ? 12 : 123, list[odd > 3 ? way : below(random, 5)]);
    if (way & 1)
        oc_buf_printf(b, "\"text\": \"%s\", \"shape\": %s, ", text[odd > 2 ? way : below(random, 6)],
                      list[odd > 5 ? 4 : below(random, 5)]);
    oc_buf_printf(b, "\"size\": %s%u%s, \"last\" : %u }}", way & 2 ? "\"" : "", below(random, 3),
                  way & 2 ? "\"" : "", odd);
}

/* An event among many is read as if it were the only one, on the slow path. */
static void event_is_read_the_same_among_others_and_alone(void **state)
{
    (void)state;
    enum { N = 4000 };
    struct oc_buf all = {0}, one = {0};
    uint32_t random = 1;
    static size_t at[N + 1];
    oc_buf_char(&all, '[');
    for (unsigned i = 0; i < N; i++) {
        oc_buf_str(&all, i ? ",\n" : "");
        at[i] = all.n;
        add_event(&all, &random);
    }
    at[N] = all.n + 2;
    oc_buf_str(&all, "\n]");
    struct opened o, alone;
    open_text(&o, all.data);
    for (unsigned i = 0; i < N; i++) {
        oc_buf_clear(&one);
        oc_buf_printf(&one, "[%.*s]", (int)(at[i + 1] - 2 - at[i]), all.data + at[i]);
        open_text(&alone, one.data);
        assert_true(oc_chrome_next(&o.c));
        assert_true(oc_chrome_next(&alone.c));
        assert_int_equal(o.c.where, at[i]);
        for (unsigned f = 0; f < OC_CH_COUNT; f++) {
            assert_int_equal(o.c.f[f].n, alone.c.f[f].n);
            assert_memory_equal(o.c.f[f].s ? o.c.f[f].s : "", alone.c.f[f].s ? alone.c.f[f].s : "",
                                o.c.f[f].n);
        }
        close_all(&alone);
    }
    assert_false(oc_chrome_next(&o.c));
    assert_false(oc_json_truncated(o.c.j));
    assert_true(oc_chrome_alike(&o.c) >
                N / 2); /* a name with an unescaped quote always takes the slow path */
    close_all(&o);
    oc_buf_free(&all);
    oc_buf_free(&one);
}

/* An absolute time in microseconds has more digits than a double. */
static void absolute_times_are_exact(void **state)
{
    (void)state;
    struct opened o;
    int64_t ts;
    double dur;
    open_text(&o, "[{\"ts\": 1682725898236567, \"dur\": 0.0005, \"name\": \"-1.5 us\", \"id\": \"0x1f\"},"
                  "{\"ts\": 1600695893269618.2, \"dur\": 1e3, \"name\": \"x\"},"
                  "{\"ts\": nan, \"dur\": \"\", \"name\": 1e30},"
                  "{\"ts\": 99999999999999999999999, \"dur\": -2}]");
    assert_true(oc_chrome_next(&o.c));
    assert_true(oc_chrome_ts_ns(&o.c, OC_CH_TS, &ts) && ts == INT64_C(1682725898236567000));
    assert_true(oc_chrome_dur_ns(&o.c, OC_CH_DUR, &dur) && dur == 0.5);
    assert_true(oc_chrome_ts_ns(&o.c, OC_CH_NAME, &ts) && ts == -1500);
    uint64_t id;
    assert_true(oc_chrome_u64(&o.c, OC_CH_ID, &id) && id == 31);
    assert_true(oc_chrome_next(&o.c));
    assert_true(oc_chrome_ts_ns(&o.c, OC_CH_TS, &ts) && ts == INT64_C(1600695893269618200));
    assert_true(oc_chrome_dur_ns(&o.c, OC_CH_DUR, &dur) && dur == 1e6);
    assert_false(oc_chrome_ts_ns(&o.c, OC_CH_NAME, &ts));
    assert_true(oc_chrome_next(&o.c));
    assert_false(oc_chrome_ts_ns(&o.c, OC_CH_TS, &ts));
    assert_false(oc_chrome_dur_ns(&o.c, OC_CH_DUR, &dur));
    assert_false(oc_chrome_ts_ns(&o.c, OC_CH_NAME, &ts));
    assert_true(oc_chrome_next(&o.c));
    assert_false(oc_chrome_ts_ns(&o.c, OC_CH_TS, &ts));
    assert_true(oc_chrome_dur_ns(&o.c, OC_CH_DUR, &dur) && dur == -2000);
    assert_false(oc_chrome_next(&o.c));
    close_all(&o);
}

/* The file may end anywhere, in the array or in the object: complete events are read. */
static void truncated_file_gives_its_complete_events(void **state)
{
    (void)state;
    static const char text[] =
        "{\"a\": 1, \"traceEvents\": [{\"ph\": \"X\", \"name\": \"one\"}, {\"ph\": \"X\", "
        "\"name\": \"two\"}, {\"ph\": \"X\", \"na";
    struct oc_profile p = {.diags.arena = &p.arena};
    struct opened o;
    open_text(&o, text);
    assert_true(oc_chrome_next(&o.c));
    assert_true(oc_chrome_next(&o.c));
    assert_true(oc_chrome_is(&o.c, OC_CH_NAME, "two"));
    assert_false(oc_chrome_next(&o.c));
    oc_faults_warn(&o.c.faults, o.c.j, o.s, &p);
    assert_true(p.truncated);
    assert_int_equal(p.diags.n, 1);
    assert_non_null(strstr(p.diags.item[0].text, "2 complete events are used"));
    char place[32]; /* after the second event */
    snprintf(place, sizeof(place), "(offset %zu)", (size_t)(strstr(text, "two\"}") + 5 - text));
    assert_non_null(strstr(p.diags.item[0].text, place));
    close_all(&o);
    oc_diags_free(&p.diags);
    oc_arena_free(&p.arena);
}

/* A broken event is skipped, later events are read. */
static void broken_event_is_skipped(void **state)
{
    (void)state;
    struct opened o;
    open_text(&o,
              "{\"traceEvents\": [\n{\"ph\": \"X\", \"name\": \"one\"},\n{\"ph\": \"X\", ], \"name\": 3},\n"
              "{\"ph\": \"X\", \"name\": \"three\"}\n]}");
    assert_true(oc_chrome_next(&o.c));
    assert_true(oc_chrome_next(&o.c));
    assert_true(oc_chrome_is(&o.c, OC_CH_NAME, "three"));
    assert_false(oc_chrome_next(&o.c));
    assert_int_equal(o.c.faults.broken, 1);
    close_all(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fast_and_slow_path_read_the_same),
        cmocka_unit_test(repeated_arrays_are_cached),
        cmocka_unit_test(absolute_times_are_exact),
        cmocka_unit_test(truncated_file_gives_its_complete_events),
        cmocka_unit_test(broken_event_is_skipped),
        cmocka_unit_test(event_is_read_the_same_among_others_and_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
