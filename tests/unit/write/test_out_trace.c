/* Traces of a model alone: nodes in execution order, bodies inside the node that runs them, with a memory
 * counter. With profiles: tests/check_trace.sh. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json_read.h"
#include "onnxcost.h"
#include "support/build.h"
#include "onnxcost/report.h"

struct slice {
    char name[32];
    double ts, dur; /* us */
};

struct seen {
    struct slice slice[32];
    size_t n, counters;
    uint64_t most; /* of the counter */
};

static void read_number(struct oc_json *j, double *v)
{
    assert_true(oc_json_double(j, v));
}

static void read_args(struct oc_json *j, struct seen *s, bool counter)
{
    struct oc_str key;
    assert_true(oc_json_enter(j));
    while (oc_json_member(j, &key)) {
        double v;
        if (!counter || !oc_str_eq(key, "bytes")) {
            oc_json_skip(j);
            continue;
        }
        read_number(j, &v);
        s->most = v > (double)s->most ? (uint64_t)v : s->most;
    }
}

static void read_event(struct oc_json *j, struct seen *s)
{
    struct oc_str key, text;
    struct slice one = {.ts = -1};
    char phase = 0;
    assert_true(oc_json_enter(j));
    while (oc_json_member(j, &key)) {
        if (oc_str_eq(key, "ph")) {
            assert_true(oc_json_string(j, &text));
            phase = text.s[0];
        } else if (oc_str_eq(key, "name")) {
            assert_true(oc_json_string(j, &text));
            snprintf(one.name, sizeof(one.name), "%.*s", (int)text.n, text.s);
        } else if (oc_str_eq(key, "ts")) {
            read_number(j, &one.ts);
        } else if (oc_str_eq(key, "dur")) {
            read_number(j, &one.dur);
        } else if (oc_str_eq(key, "args")) {
            read_args(j, s, phase == 'C');
        } else {
            oc_json_skip(j);
        }
    }
    s->counters += phase == 'C';
    if (phase == 'X' && s->n < 32)
        s->slice[s->n++] = one;
}

static void trace(struct oc_builder *b, struct seen *s)
{
    struct oc_model *m = NULL;
    struct oc_analysis *a = NULL;
    struct oc_err err;
    size_t n;
    char *text = NULL;
    uint8_t *bytes = oc_b_pack(b, &n);
    oc_b_free(b);
    const struct oc_analyze_opts opts = {.if_mode = OC_IF_THEN};
    if (oc_model_load_mem(bytes, n, NULL, &m, &err) || oc_analyze(m, &opts, &a, &err))
        fail_msg("%s", err.msg);
    const struct oc_report_in in = {.model = m, .analysis = a};
    const struct oc_report_opts o = {.format = "trace"};
    FILE *f = open_memstream(&text, &n);
    if (oc_report_write(&in, &o, f, &err))
        fail_msg("%s", err.msg);
    fclose(f);
    struct oc_stream *stream = oc_stream_mem(text, n);
    struct oc_json *j = oc_json_open(stream);
    struct oc_str key;
    memset(s, 0, sizeof(*s));
    assert_true(oc_json_enter(j));
    while (oc_json_member(j, &key)) {
        if (!oc_str_eq(key, "traceEvents")) {
            oc_json_skip(j);
            continue;
        }
        assert_true(oc_json_enter(j));
        while (oc_json_item(j))
            read_event(j, s);
    }
    oc_json_close(j);
    oc_stream_close(stream);
    oc_analysis_free(a);
    oc_model_free(m);
    free(text);
    free(bytes);
}

static void check_slice(const struct slice *s, const char *name, double ts, double dur)
{
    assert_string_equal(s->name, name);
    assert_true(s->ts > ts - 1e-9 && s->ts < ts + 1e-9);
    assert_true(s->dur > dur - 1e-9 && s->dur < dur + 1e-9);
}

/* first, then the If around its two nodes, then the function around its one, then last: one microsecond each.
 */
static void bodies_are_inside_their_node(void **state)
{
    (void)state;
    struct seen s;
    struct oc_builder *b = oc_b_new(17);
    oc_b_opset(b, "my.domain", 1);
    oc_b_input(b, "x", "float[2,4]");
    oc_b_input(b, "c", "bool[]");
    oc_b_node(b, "Relu", "first", "x", "y", "");
    oc_b_node(b, "If", "choice", "c", "z", "");
    oc_b_open(b, "then_branch");
    oc_b_node(b, "Relu", "t1", "y", "p", "");
    oc_b_node(b, "Relu", "t2", "p", "q", "");
    oc_b_output(b, "q", "float[2,4]");
    oc_b_close(b);
    oc_b_open(b, "else_branch");
    oc_b_node(b, "Identity", "e1", "y", "r", "");
    oc_b_output(b, "r", "float[2,4]");
    oc_b_close(b);
    oc_b_node(b, "my.domain::F", "call", "z", "u", "");
    oc_b_node(b, "Relu", "last", "u", "v", "");
    oc_b_output(b, "v", "float[2,4]");
    oc_b_function(b, "my.domain", "F", "a", "b", "");
    oc_b_opset(b, "", 17);
    oc_b_node(b, "Relu", "inner", "a", "b", "");
    oc_b_close(b);
    trace(b, &s);
    assert_int_equal(s.n, 7);
    check_slice(&s.slice[0], "first", 0, 1);
    check_slice(&s.slice[1], "choice", 1, 2);
    check_slice(&s.slice[2], "t1", 1, 1);
    check_slice(&s.slice[3], "t2", 2, 1);
    check_slice(&s.slice[4], "call", 3, 1);
    check_slice(&s.slice[5], "call/inner", 3, 1);
    check_slice(&s.slice[6], "last", 4, 1);
}

/* Two tensors of 32 bytes live in each step. */
static void memory_counter_follows_the_steps(void **state)
{
    (void)state;
    struct seen s;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[2,4]");
    oc_b_node(b, "Relu", "a", "x", "y", "");
    oc_b_node(b, "Relu", "b", "y", "z", "");
    oc_b_output(b, "z", "float[2,4]");
    trace(b, &s);
    assert_int_equal(s.n, 2);
    assert_int_equal(s.counters, 2);
    assert_int_equal(s.most, 64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_are_inside_their_node),
        cmocka_unit_test(memory_counter_follows_the_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
