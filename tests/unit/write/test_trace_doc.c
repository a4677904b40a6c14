/* For any order of insertion: metadata first, events by time, slices of a lane nested or disjoint. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "write/trace_doc.h"

static void about(void *ctx, struct oc_json_out *w)
{
    (void)ctx;
    (void)w;
}

static char *write(struct oc_trace *t)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    struct oc_trace_writer how = {.about = about};
    oc_trace_write(t, &how, f);
    fclose(f);
    return text;
}

/* Number of lines that begin with `begin`. */
static unsigned count_lines(const char *text, const char *begin)
{
    unsigned n = 0;
    for (const char *p = text; (p = strstr(p, begin)); p++)
        n += p == text || p[-1] == '\n';
    return n;
}

static void document_has_metadata_and_sorted_events(void **state)
{
    (void)state;
    struct oc_trace t = {0};
    uint32_t process = oc_trace_process(&t, "p"), lane = oc_trace_lane(&t, process, "l");
    oc_trace_count(&t, process, 1500, "memory", 7);
    oc_trace_add(&t, lane, 2000, 1, "later", "c", 0, 0);
    oc_trace_add(&t, lane, 0, 1500.4, "first", "c", 0, 0);
    char *text = write(&t);
    assert_string_equal(
        text,
        "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
        "{\"ph\":\"M\",\"pid\":1,\"tid\":0,\"name\":\"process_name\",\"args\":{\"name\":\"p\"}},\n"
        "{\"ph\":\"M\",\"pid\":1,\"tid\":0,\"name\":\"process_sort_index\",\"args\":{\"sort_index\":0}},\n"
        "{\"ph\":\"M\",\"pid\":1,\"tid\":1,\"name\":\"thread_name\",\"args\":{\"name\":\"l\"}},\n"
        "{\"ph\":\"M\",\"pid\":1,\"tid\":1,\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":0}},\n"
        "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":0,\"dur\":1.500,\"cat\":\"c\",\"name\":\"first\",\"args\":{"
        "}},\n"
        "{\"ph\":\"C\",\"pid\":1,\"name\":\"memory\",\"ts\":1.500,\"args\":{\"bytes\":7}},\n"
        "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":2,\"dur\":0.001,\"cat\":\"c\",\"name\":\"later\",\"args\":{"
        "}}\n"
        "],\"otherData\":{}}\n");
    free(text);
    oc_trace_free(&t);
}

/* Two kernels of one launch, and one whose launch is not in the document. */
static void arrows_lead_from_the_cause(void **state)
{
    (void)state;
    struct oc_trace t = {0};
    uint32_t process = oc_trace_process(&t, "p"), host = oc_trace_lane(&t, process, "h"),
             device = oc_trace_lane(&t, process, "d");
    static const uint32_t cause[] = {7, 7, 9};
    for (unsigned i = 0; i < 3; i++)
        oc_trace_add(&t, device, 100 + 10 * i, 5, "kernel", "c", 0, 0)->cause = cause[i];
    oc_trace_add(&t, host, 50, 20, "launch", "c", 0, 0)->event = 7;
    char *text = write(&t);
    static const char *const arrow[] = {
        "{\"ph\":\"s\",\"pid\":1,\"tid\":1,\"ts\":0.050,\"cat\":\"launch\",\"name\":\"launch\",\"id\":2}",
        "{\"ph\":\"s\",\"pid\":1,\"tid\":1,\"ts\":0.050,\"cat\":\"launch\",\"name\":\"launch\",\"id\":3}",
        "{\"ph\":\"f\",\"pid\":1,\"tid\":2,\"ts\":0.100,\"cat\":\"launch\",\"name\":\"launch\",\"id\":2,"
        "\"bp\":\"e\"}",
        "{\"ph\":\"f\",\"pid\":1,\"tid\":2,\"ts\":0.110,\"cat\":\"launch\",\"name\":\"launch\",\"id\":3,"
        "\"bp\":\"e\"}"};
    for (unsigned i = 0; i < 4; i++)
        assert_non_null(strstr(text, arrow[i]));
    assert_int_equal(count_lines(text, "{\"ph\":\"s\"") + count_lines(text, "{\"ph\":\"f\""), 4);
    free(text);
    oc_trace_free(&t);
}

/* The inner slice was added first and begins with the outer one; lengths of adjacent slices are preserved. */
static void nested_slices_share_a_lane(void **state)
{
    (void)state;
    struct oc_trace t = {0};
    uint32_t lane = oc_trace_lane(&t, oc_trace_process(&t, "p"), "l");
    oc_trace_add(&t, lane, 0, 5, "inner", "c", 0, 0);
    oc_trace_add(&t, lane, 0, 10, "outer", "c", 0, 0);
    oc_trace_add(&t, lane, 5, 5, "second", "c", 0, 0);
    oc_trace_add(&t, lane, 10, 3, "behind", "c", 0, 0);
    char *text = write(&t);
    assert_int_equal(t.n_lane, 1);
    assert_true(strstr(text, "\"outer\"") < strstr(text, "\"inner\""));
    free(text);
    oc_trace_free(&t);
}

/* 0..10, 5..15, 7..17 overlap in pairs: three lanes; 20..30 fits on the first one again. */
static void overlapping_slices_get_copies_of_the_lane(void **state)
{
    (void)state;
    struct oc_trace t = {0};
    uint32_t lane = oc_trace_lane(&t, oc_trace_process(&t, "p"), "l");
    const double start[] = {0, 5, 7, 20};
    for (size_t i = 0; i < 4; i++)
        oc_trace_add(&t, lane, start[i], 10, "s", "c", i, 0);
    char *text = write(&t);
    assert_int_equal(t.n_lane, 3);
    assert_int_equal(t.left_out, 0);
    assert_int_equal(t.slice[3].lane, 0);
    assert_non_null(strstr(text, "\"l (3)\""));
    assert_int_equal(count_lines(text, "{\"ph\":\"X\""), 4);
    free(text);
    oc_trace_free(&t);
}

/* A thousand overlapping slices: 64 lanes, the others are counted in a message. Invalid times are skipped. */
static void lanes_are_limited_and_invalid_times_skipped(void **state)
{
    (void)state;
    struct oc_trace t = {0};
    uint32_t lane = oc_trace_lane(&t, oc_trace_process(&t, "p"), "l");
    for (int i = 0; i < 1000; i++)
        oc_trace_add(&t, lane, i, 1000, "s", "c", 0, 0);
    oc_trace_add(&t, lane, 0.0 / 0.0, 1, "s", "c", 0, 0);
    oc_trace_add(&t, lane, 1e300, 1, "s", "c", 0, 0);
    oc_trace_add(&t, lane, 1, -1, "s", "c", 0, 0);
    char *text = write(&t);
    assert_int_equal(count_lines(text, "{\"ph\":\"X\""), 64);
    free(text);
    assert_int_equal(t.n_lane, 64);
    assert_int_equal(t.left_out, 1000 - 64);
    oc_trace_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(document_has_metadata_and_sorted_events),
        cmocka_unit_test(arrows_lead_from_the_cause),
        cmocka_unit_test(nested_slices_share_a_lane),
        cmocka_unit_test(overlapping_slices_get_copies_of_the_lane),
        cmocka_unit_test(lanes_are_limited_and_invalid_times_skipped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
