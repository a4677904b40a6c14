#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/arena.h"
#include "profile/core/timeline.h"
#include "support/profiles.h"
#include "onnxcost.h"
#include "onnxcost/profile.h"

#define FIXTURE "tests/data/onnxruntime/loop_two_runs.json"

static struct oc_profile *open_file(const char *path, int32_t warmup, enum oc_stat stat)
{
    struct oc_profile_opts opts = {.warmup = t_warmup(warmup), .stat = stat};
    struct oc_profile *p;
    struct oc_err e = {0};
    if (oc_profile_open(path, &opts, &p, &e) != 0)
        fail_msg("%s", e.msg);
    return p;
}

/* ---- generated traces ---- */

static void add_event(struct oc_buf *b, const char *cat, int tid, int ts, int dur, const char *name,
                      const char *args)
{
    oc_buf_printf(b,
                  "%s\n{\"cat\" : \"%s\",\"pid\" :1,\"tid\" :%d,\"dur\" :%d,\"ts\" :%d,\"ph\" : \"X\","
                  "\"name\" :\"%s\",\"args\" : {%s}}",
                  b->n ? "," : "[", cat, tid, dur, ts, name, args);
}

static void add_node(struct oc_buf *b, int tid, int ts, int dur, const char *name, const char *op)
{
    char args[200], full[100];
    snprintf(args, sizeof(args), "\"op_name\" : \"%s\",\"provider\" : \"CPUExecutionProvider\"", op);
    snprintf(full, sizeof(full), "%s_kernel_time", name);
    add_event(b, "Node", tid, ts, dur, full, args);
}

static void add_run(struct oc_buf *b, int tid, int ts, int dur)
{
    add_event(b, "Session", tid, ts, dur, "model_run", "");
}

static struct oc_profile *close_trace(struct oc_buf *b, int32_t warmup, enum oc_stat stat)
{
    struct oc_profile_opts opts = {.warmup = t_warmup(warmup), .stat = stat};
    struct oc_err e = {0};
    oc_buf_str(b, "\n]\n");
    struct oc_profile *p = t_profile_mem(b->data, b->n, &opts, &e);
    if (!p)
        fail_msg("%s", e.msg);
    oc_buf_free(b);
    return p;
}

/* The runtime writes the arguments in the order of a hash table; other programs rewrite the file with other blanks. */
static void arguments_are_found_in_any_order(void **state)
{
    (void)state;
    static const char *const args[] = {
        "\"op_name\" : \"Conv\",\"provider\" : \"CPUExecutionProvider\",\"node_index\" : \"3\","
        "\"input_type_shape\" : [{\"float\":[1,8]},{\"int64\":[]}],\"output_type_shape\" : "
        "[{\"float\":[1,8]}]",
        "\"thread_scheduling_stats\" : {\"main_thread\": {\"block_size\": [4], \"name\": \"a,}\"}},"
        "\"output_type_shape\" : [{\"float\":[1,8]}],\"mem_in_use_delta\" : \"0\",\"node_index\" : \"3\","
        "\"input_type_shape\" : [{\"float\":[1,8]},{\"int64\":[]}],\"provider\" : \"CPUExecutionProvider\","
        "\"op_name\" : \"Conv\"",
        "\"node_index\":\"3\", \"op_name\":\"Conv\", \"note\":\"a\\\"b\", "
        "\"provider\":\"CPUExecutionProvider\", "
        "\"output_type_shape\":[{\"float\":[1,8]}], \"input_type_shape\":[{\"float\":[1,8]},{\"int64\":[]}]",
    };
    struct oc_buf b = {0};
    for (int run = 0; run < 6; run++) {
        add_event(&b, "Node", 1, 1000 * run, 40, "c_kernel_time", args[run % 3]);
        add_run(&b, 1, 1000 * run, 60);
    }
    struct oc_profile *p = close_trace(&b, 0, OC_STAT_SUM);
    assert_true(p->n_rec == 2 && p->rec[1].bucket);
    assert_true(p->rec[0].calls == 6 && p->rec[0].total_ns == 240000);
    assert_string_equal(p->rec[0].op_type, "Conv");
    assert_int_equal(p->rec[0].n_in, 2);
    assert_int_equal(p->diags.n, 0);
    oc_profile_close(p);
}

/* The first thread waits 30 of 40 us and 10 of 40 us; one thread has no statistics. Other blanks are read by the reader of JSON. */
static void waiting_of_threads_is_a_share_of_the_time(void **state)
{
    (void)state;
    static const char *const args[] = {
        "\"op_name\" : \"Conv\",\"thread_scheduling_stats\" : {\"main_thread\": {\"Run\": 7, \"Wait\": 30, "
        "\"WaitRevoke\": 900}, "
        "\"sub_threads\": {\"1\": {\"num_run\": 59, \"core\": 0}}}",
        "\"op_name\":\"Conv\", \"thread_scheduling_stats\":{\"main_thread\": {\"Run\": 27, \"Wait\": 10}}",
    };
    struct oc_buf b = {0};
    for (int run = 0; run < 4; run++) {
        add_event(&b, "Node", 1, 1000 * run, 40, "c_kernel_time", args[run % 2]);
        add_event(&b, "Node", 1, 1000 * run + 45, 5, "d_kernel_time",
                  "\"op_name\" : \"Relu\",\"thread_scheduling_stats\" : \"\"");
        add_run(&b, 1, 1000 * run, 60);
    }
    struct oc_profile *p = close_trace(&b, 0, OC_STAT_SUM);
    assert_true(p->rec[0].waits == 0.5);
    assert_true(isnan(p->rec[1].waits));
    oc_profile_close(p);
}

/* What `record` adds: two threads and one processor of others on two processors are too many. */
static void load_of_the_machine_is_read(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 2; threads++) {
        struct oc_buf b = {0};
        char note[200];
        snprintf(note, sizeof(note),
                 "\"started_s\" : 5.5,\"processors\" : 2,\"threads\" : %d,\"processors_of_others\" : 1.0",
                 threads);
        add_node(&b, 1, 5, 40, "a", "Relu");
        add_run(&b, 1, 0, 60);
        add_event(&b, "onnxcost", 0, 0, 0, "", note);
        struct oc_profile *p = close_trace(&b, 0, OC_STAT_SUM);
        assert_true(p->machine.threads == threads && p->machine.processors == 2 &&
                    p->machine.started_s == 5.5);
        assert_int_equal(oc_machine_is_loaded(&p->machine), threads == 2);
        oc_profile_close(p);
    }
}

/* Three operators take 57 us or 60 us of a run: 19 us or 20 us each. */
static void latency_of_short_operators_is_doubted(void **state)
{
    (void)state;
    for (int slow = 0; slow < 2; slow++) {
        struct oc_buf b = {0};
        for (int run = 0; run < 3; run++) {
            add_run(&b, 1, 1000 * run, slow ? 60 : 57);
            for (int i = 0; i < 3; i++)
                add_node(&b, 1, 1000 * run + 5 + 10 * i, 5, i ? i > 1 ? "c" : "b" : "a", "Relu");
        }
        struct oc_profile *p = close_trace(&b, -1, OC_STAT_MEDIAN);
        if (slow)
            assert_null(t_finding(p, "W-short-operators"));
        else
            assert_non_null(
                strstr(t_finding(p, "W-short-operators"), "a run takes 19.0 us for each of its 3 operators"));
        oc_profile_close(p);
    }
}

/* ---- the fixture: two runs of Conv and a Loop of two iterations ---- */

static void first_run_is_dropped_by_default(void **state)
{
    (void)state;
    struct oc_profile *p = open_file(FIXTURE, -1, OC_STAT_MEDIAN);
    assert_int_equal(p->runs_total, 2);
    assert_int_equal(p->runs_used, 1);
    assert_string_equal(p->format, "onnxruntime");
    assert_string_equal(p->device, "CPU");
    assert_string_equal(p->producer, "ONNX Runtime 1.14 or later");
    assert_string_equal(p->time_kind, "host time");
    const struct oc_prof_rec *conv = t_rec(p, "conv1"), *loop = t_rec(p, "loop"), *add = t_rec(p, "body_add");
    assert_true(conv->time_ns == 30e3 && conv->self_ns == 30e3 && conv->calls == 1 && conv->index == 0);
    assert_true(loop->time_ns == 40e3 && loop->self_ns == 24e3); /* 40 - 9 - 7 */
    assert_true(loop->min_ns == 24e3 && loop->median_ns == 24e3 && loop->max_ns == 24e3);
    assert_true(add->time_ns == 16e3 && add->calls == 2 && add->calls_per_run == 2 && add->runs == 1);
    assert_ptr_equal(&p->rec[add->parent], loop);
    assert_int_equal(loop->parent, OC_NONE);
    assert_true(conv->start_ns == 10e3 && loop->start_ns == 45e3 && add->start_ns == 50e3);
    assert_true(conv < loop && loop < add); /* execution order */
    assert_true(p->run_ns == 100e3 && p->busy_ns == 70e3);
    assert_true(t_self_ns(p, "framework") == 30e3);
    assert_true(t_rec(p, "(warm-up runs)")->time_ns == 200e3);
    assert_true(t_rec(p, "model_loading_uri")->time_ns == 300e3);
    assert_string_equal(t_rec(p, "session_initialization")->bucket, "load");
    assert_true(isnan(conv->kernel_ns) && isnan(conv->flop));
    oc_profile_close(p);
}

static void recorded_types_are_read(void **state)
{
    (void)state;
    struct oc_profile *p = open_file(FIXTURE, -1, OC_STAT_MEDIAN);
    const struct oc_prof_rec *conv = t_rec(p, "conv1"), *add = t_rec(p, "body_add"), *loop = t_rec(p, "loop");
    struct oc_arena a = {0};
    assert_true(conv->has_in && conv->has_out);
    assert_int_equal(conv->n_in, 3);
    assert_string_equal(oc_shape_text(&a, p->exprs, &conv->in[0].shape, "x"), "1x3x8x8");
    assert_string_equal(oc_shape_text(&a, p->exprs, &conv->out[0].shape, "x"), "1x4x8x8");
    assert_int_equal(conv->in[0].dtype, OC_DT_FLOAT);
    assert_int_equal(add->in[1].shape.rank, 0);
    assert_true(add->in[1].shape.ranked);
    assert_int_equal(conv->param_bytes, 448);
    assert_int_equal(conv->act_bytes, 768);
    assert_int_equal(conv->out_bytes, 1024);
    assert_false(loop->has_in);
    assert_true(add->param_bytes == UINT64_MAX);
    oc_arena_free(&a);
    oc_profile_close(p);
}

static void statistics_over_runs(void **state)
{
    (void)state;
    static const struct {
        enum oc_stat stat;
        double conv_us, add_us, loop_self_us, run_us;
    } row[] = {
        {OC_STAT_MEDIAN, 50, 23, 27, 150}, /* conv 70 and 30, add 20 + 10 and 9 + 7, loop 60 - 30 and 40 - 16
                                            */
        {OC_STAT_MEAN, 50, 23, 27, 150},   {OC_STAT_MIN, 30, 16, 24, 100},
        {OC_STAT_MAX, 70, 30, 30, 200},    {OC_STAT_SUM, 100, 46, 54, 300},
    };
    for (size_t i = 0; i < OC_COUNT(row); i++) {
        struct oc_profile *p = open_file(FIXTURE, 0, row[i].stat);
        assert_int_equal(p->runs_used, 2);
        assert_true(t_rec(p, "conv1")->time_ns == row[i].conv_us * 1e3);
        assert_true(t_rec(p, "body_add")->time_ns == row[i].add_us * 1e3);
        assert_true(t_rec(p, "loop")->self_ns == row[i].loop_self_us * 1e3);
        assert_true(p->run_ns == row[i].run_us * 1e3);
        assert_true(t_rec(p, "conv1")->min_ns == 30e3 && t_rec(p, "conv1")->max_ns == 70e3);
        assert_null(t_rec(p, "(warm-up runs)"));
        oc_profile_close(p);
    }
}

static void one_run_remains_when_too_many_are_dropped(void **state)
{
    (void)state;
    struct oc_profile *p = open_file(FIXTURE, 5, OC_STAT_MEDIAN);
    assert_int_equal(p->runs_used, 1);
    assert_non_null(t_finding(p, "W-warmup"));
    assert_true(p->run_ns == 100e3);
    oc_profile_close(p);
}

/* ---- order, names, damage ---- */

static char *read_whole(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    char *data = malloc(1 << 20);
    *n = fread(data, 1, 1 << 20, f);
    fclose(f);
    return data;
}

/* The lines in reverse order give the same records. */
static void order_of_events_does_not_matter(void **state)
{
    (void)state;
    size_t n;
    char *data = read_whole(FIXTURE, &n), *line[64];
    size_t lines = 0;
    for (char *at = strchr(data, '{'), *end; at && (end = strchr(at, '\n')); at = strchr(end + 1, '{')) {
        *end = '\0';
        if (end[-1] == ',')
            end[-1] = '\0';
        line[lines++] = at;
    }
    struct oc_buf b = {0};
    for (size_t i = lines; i-- > 0;)
        oc_buf_printf(&b, "%s\n%s", b.n ? "," : "[", line[i]);
    struct oc_profile *p = close_trace(&b, 0, OC_STAT_SUM), *q = open_file(FIXTURE, 0, OC_STAT_SUM);
    assert_int_equal(p->n_rec, q->n_rec);
    for (uint32_t i = 0; i < p->n_rec; i++) {
        const struct oc_prof_rec *r = t_rec(q, p->rec[i].name);
        assert_non_null(r);
        assert_true(r->time_ns == p->rec[i].time_ns && r->self_ns == p->rec[i].self_ns);
        assert_int_equal(r->calls, p->rec[i].calls);
        assert_int_equal(r->parent == OC_NONE, p->rec[i].parent == OC_NONE);
    }
    oc_profile_close(p);
    oc_profile_close(q);
    free(data);
}

/* Truncated at every 7th byte: never an error once there is an event, all complete events are read, the
 * offset is reported. */
static void truncated_trace_gives_its_complete_events(void **state)
{
    (void)state;
    size_t n;
    char *data = read_whole(FIXTURE, &n);
    for (size_t cut = 200; cut + 2 < n; cut += 7) {
        struct oc_profile_opts opts = {
            .format = "onnxruntime", .warmup = OC_WARMUP_NONE, .stat = OC_STAT_SUM};
        struct oc_err e;
        struct oc_profile *p = t_profile_mem(data, cut, &opts, &e);
        assert_non_null(p);
        assert_true(p->truncated);
        const char *text = t_finding(p, "W-truncated"), *at = strstr(text, "offset ");
        assert_non_null(at);
        unsigned long long offset = strtoull(at + 7, NULL, 10);
        assert_true(offset <= cut && data[offset - 1] == '}');
        size_t events = 0; /* a line of the fixture is an event */
        for (size_t i = 0; i < offset; i++)
            events += data[i] == '\n' && data[i + 1] == '{';
        assert_int_equal(strtoull(strstr(text, ": ") + 2, NULL, 10), events);
        oc_profile_close(p);
    }
    free(data);
}

static void incomplete_run_is_excluded(void **state)
{
    (void)state;
    struct oc_buf b = {0};
    add_node(&b, 1, 10, 50, "a", "Conv");
    add_run(&b, 1, 5, 80);
    add_node(&b, 1, 110, 30, "a", "Conv");
    struct oc_profile *p = close_trace(&b, -1, OC_STAT_MEDIAN);
    assert_int_equal(p->runs_used, 1);
    assert_true(t_rec(p, "a")->time_ns == 50e3);
    assert_true(t_rec(p, "(incomplete run)")->time_ns == 30e3);
    oc_profile_close(p);
}

static void events_without_a_run_are_shown(void **state)
{
    (void)state;
    struct oc_buf b = {0};
    add_node(&b, 1, 10, 50, "a", "Conv");
    struct oc_profile *p = close_trace(&b, -1, OC_STAT_MEDIAN);
    assert_int_equal(p->runs_total, 0);
    assert_true(isnan(p->run_ns));
    assert_true(t_rec(p, "a")->time_ns == 50e3);
    assert_non_null(t_finding(p, "W-no-run"));
    oc_profile_close(p);
}

static void unusual_names_are_decoded(void **state)
{
    (void)state;
    struct oc_buf b = {0};
    add_node(&b, 1, 10, 1, "say \"hi\" twice", "Conv");
    add_node(&b, 1, 12, 2, "a\",\"b", "Conv"); /* cannot be repaired: skipped */
    add_node(&b, 1, 15, 3, "C:\\new\\u00e9", "Conv");
    add_node(&b, 1, 20, 4, "x_kernel_time", "Conv"); /* only the suffix is removed */
    add_node(&b, 1, 25, 5, "", "Relu");
    add_event(&b, "Node", 1, 31, 6, "_kernel_time", "\"op_name\" : \"Relu\",\"node_index\" : \"7\"");
    add_node(&b, 1, 38, 7, "tab\there", "Conv");
    add_run(&b, 1, 5, 80);
    struct oc_profile *p = close_trace(&b, -1, OC_STAT_MEDIAN);
    assert_true(t_rec(p, "say \"hi\" twice")->time_ns == 1e3);
    assert_true(t_rec(p, "C:\\new\\u00e9")->time_ns == 3e3);
    assert_true(t_rec(p, "x_kernel_time")->time_ns == 4e3);
    assert_true(t_rec(p, "Relu")->time_ns == 5e3);
    assert_true(t_rec(p, "Relu_7")->time_ns == 6e3);
    assert_true(t_rec(p, "tab\there")->time_ns == 7e3);
    assert_non_null(strstr(t_finding(p, "W-broken-event"), "1 broken events were skipped, the first: "));
    assert_true(t_self_ns(p, NULL) + t_self_ns(p, "framework") == 80e3);
    oc_profile_close(p);
}

static void events_without_time_are_reported(void **state)
{
    (void)state;
    struct oc_buf b = {0};
    add_node(&b, 1, 10, 5, "a", "Conv");
    oc_buf_str(&b, ",\n{\"cat\" : \"Node\",\"ts\" :20,\"name\" :\"b_kernel_time\",\"args\" : {}}");
    oc_buf_str(&b,
               ",\n{\"cat\" : \"Node\",\"ts\" :20,\"dur\" :-4,\"name\" :\"c_kernel_time\",\"args\" : {}}");
    oc_buf_str(&b, ",\n42");
    add_run(&b, 1, 5, 80);
    struct oc_profile *p = close_trace(&b, -1, OC_STAT_MEDIAN);
    assert_non_null(
        strstr(t_finding(p, "W-bad-event"), "2 events were skipped, the first: missing \"dur\" (offset "));
    assert_null(t_rec(p, "b"));
    assert_null(t_rec(p, "c"));
    oc_profile_close(p);
}

/* ---- nesting, threads, shapes ---- */

static void equal_names_in_two_bodies_are_two_records(void **state)
{
    (void)state;
    struct oc_buf b = {0};
    add_node(&b, 1, 10, 5, "x", "Add"); /* outside */
    add_node(&b, 1, 22, 6, "x", "Add"); /* in if_a */
    add_node(&b, 1, 20, 10, "if_a", "If");
    add_node(&b, 1, 41, 7, "x", "Add"); /* in inner, in if_b */
    add_node(&b, 1, 41, 8, "inner", "If");
    add_node(&b, 1, 40, 10, "if_b", "If");
    add_run(&b, 1, 5, 60);
    struct oc_profile *p = close_trace(&b, -1, OC_STAT_MEDIAN);
    double seen = 0;
    for (uint32_t i = 0; i < p->n_rec; i++)
        if (strcmp(p->rec[i].name, "x") == 0) {
            const char *parent = p->rec[i].parent == OC_NONE ? "" : p->rec[p->rec[i].parent].name;
            assert_string_equal(parent, p->rec[i].time_ns == 5e3   ? ""
                                        : p->rec[i].time_ns == 6e3 ? "if_a"
                                                                   : "inner");
            seen += p->rec[i].time_ns;
        }
    assert_true(seen == 18e3);
    assert_true(t_rec(p, "if_b")->self_ns == 2e3 && t_rec(p, "inner")->self_ns == 1e3);
    assert_true(p->busy_ns == 25e3);
    oc_profile_close(p);
}

/* Starts and durations are truncated to whole microseconds: the next node may start at the recorded end of an
 * If and must not become its child. */
static void adjacent_nodes_are_not_nested(void **state)
{
    (void)state;
    struct oc_buf b = {0};
    add_node(&b, 1, 10, 10, "if", "If");
    add_node(&b, 1, 20, 0, "next", "Add");
    add_node(&b, 1, 20, 3, "after", "Add");
    add_run(&b, 1, 5, 60);
    struct oc_profile *p = close_trace(&b, -1, OC_STAT_MEDIAN);
    assert_int_equal(t_rec(p, "next")->parent, OC_NONE);
    assert_int_equal(t_rec(p, "after")->parent, OC_NONE);
    assert_true(p->busy_ns == 13e3);
    oc_profile_close(p);
}

/* Two threads call Run at the same time; a pool thread works for the run that is in progress. */
static void events_are_assigned_to_the_run_of_their_thread(void **state)
{
    (void)state;
    struct oc_buf b = {0};
    add_run(&b, 1, 0, 100);
    add_run(&b, 2, 50, 100);
    add_run(&b, 1, 200, 50);
    add_node(&b, 1, 60, 10, "a", "Conv"); /* run of thread 1, though that of thread 2 started later */
    add_node(&b, 2, 60, 20, "a", "Conv");
    add_node(&b, 1, 210, 30, "a", "Conv");
    add_node(&b, 9, 202, 5, "c", "Relu");                   /* pool: before what its run did first */
    add_node(&b, 9, 215, 40, "b", "Relu");                  /* pool */
    struct oc_profile *p = close_trace(&b, 1, OC_STAT_SUM); /* without the first run */
    assert_int_equal(p->runs_total, 3);
    assert_int_equal(p->runs_used, 2);
    assert_true(t_rec(p, "a")->time_ns == 50e3 && t_rec(p, "a")->runs == 2);
    assert_true(t_rec(p, "b")->time_ns == 40e3);
    assert_true(p->busy_ns == 20e3 + 45e3); /* 202..207, 210..240 and 215..250 (clipped to the run): 45 */
    assert_true(t_self_ns(p, "framework") == 150e3 - 65e3);
    oc_profile_close(p);
}

/* Truncated times let a fence end after the node that contains it: only the node's time counts as busy. */
static void fences_inside_nodes_are_not_on_top(void **state)
{
    (void)state;
    for (int tid = 1; tid <= 2; tid++) {
        struct oc_buf b = {0};
        add_run(&b, 1, 0, 100);
        add_node(&b, 1, 10, 10, "if", "If");
        add_event(&b, "Node", 1, 19, 2, "x_fence_before", "");
        add_node(&b, tid, 50, 5, "y", "Relu");
        struct oc_profile *p = close_trace(&b, -1, OC_STAT_MEDIAN);
        assert_true(p->busy_ns == 15e3 && t_rec(p, "(fences)")->time_ns == 2e3);
        oc_profile_close(p);
    }
}

static void different_shapes_are_different_records(void **state)
{
    (void)state;
    struct oc_buf b = {0};
    for (int i = 0; i < 3; i++) {
        char args[200];
        snprintf(args, sizeof(args), "\"op_name\" : \"Conv\",\"input_type_shape\" : [{\"float\":[%d,3]}]",
                 i / 2 + 1);
        add_run(&b, 1, 100 * i, 50);
        add_event(&b, "Node", 1, 100 * i + 5, 10 + i, "c_kernel_time", args);
    }
    struct oc_profile *p = close_trace(&b, 0, OC_STAT_MEAN);
    assert_non_null(t_finding(p, "W-shapes-vary"));
    size_t n = 0;
    for (uint32_t i = 0; i < p->n_rec; i++) {
        const struct oc_prof_rec *r = &p->rec[i];
        if (strcmp(r->name, "c") != 0)
            continue;
        n++;
        assert_true(r->in[0].shape.dim[0].v == 1 ? r->runs == 2 && r->time_ns == 21e3 / 3
                                                 : r->runs == 1 && r->time_ns == 12e3 / 3);
    }
    assert_int_equal(n, 2);
    oc_profile_close(p);
}

/* Runs of `c` with the given first sizes, 100 us apart; `d` has one shape. */
static struct oc_profile *open_sizes(const int *size, int n, const struct oc_profile_opts *opts)
{
    struct oc_buf b = {0};
    struct oc_err e = {0};
    for (int i = 0; i < n; i++) {
        char args[200];
        snprintf(args, sizeof(args), "\"op_name\" : \"Conv\",\"input_type_shape\" : [{\"float\":[%d,3]}]",
                 size[i]);
        add_run(&b, 1, 100 * i, 50);
        add_event(&b, "Node", 1, 100 * i + 5, 10 + i % 8, "c_kernel_time", args);
        add_event(&b, "Node", 1, 100 * i + 30, 2, "d_kernel_time",
                  "\"op_name\" : \"Relu\",\"input_type_shape\" : [{\"float\":[7]}]");
    }
    oc_buf_str(&b, "\n]\n");
    struct oc_profile *p = t_profile_mem(b.data, b.n, opts, &e);
    if (!p)
        fail_msg("%s", e.msg);
    oc_buf_free(&b);
    return p;
}

static void a_node_with_several_shapes_can_be_one_record(void **state)
{
    (void)state;
    static const int size[] = {4, 1, 2, 1, 9};
    struct oc_profile *p = open_sizes(size, 5, &(struct oc_profile_opts){.warmup = 1, .by_node = true});
    const struct oc_prof_rec *c = t_rec(p, "c");
    assert_null(t_finding(p, "W-shapes-vary"));
    assert_int_equal(p->stat, OC_STAT_MEAN);
    assert_int_equal(p->spread.shapes, 3);
    assert_int_equal(c->runs, 4);
    assert_true(c->time_ns == (11e3 + 12e3 + 13e3 + 14e3) / 4 && c->min_ns == 11e3 && c->max_ns == 14e3);
    assert_true(c->median_ns == 12.5e3 && c->calls_per_run == 1);
    assert_int_equal(c->in[0].shape.dim[0].v, 1); /* of most runs */
    assert_int_equal(p->n_shapes, 3);
    assert_int_equal(p->main_shapes, 0);
    const struct oc_prof_shapes *s = p->shapes;
    assert_true(s[0].n_run == 2 && s[1].n_run == 1 && s[2].n_run == 1);
    assert_true(s[0].n_part == 2 && s[0].part[0].total_ns == 24e3 && s[0].part[0].runs == 2);
    assert_true(s[0].part[1].total_ns == 4e3); /* of the node whose shape does not change */
    assert_int_equal(p->types[s[1].part[0].types].in[0].shape.dim[0].v, 2);
    oc_profile_close(p);
}

static void one_set_of_shapes_needs_no_sizes(void **state)
{
    (void)state;
    static const int size[] = {1, 2, 2, 2};
    struct oc_profile *p = open_sizes(size, 4, &(struct oc_profile_opts){.warmup = 1, .by_node = true});
    assert_int_equal(p->n_shapes, 0);
    assert_int_equal(p->spread.shapes, 1);
    assert_int_not_equal(p->stat, OC_STAT_MEAN);
    oc_profile_close(p);
}

static void too_many_sets_of_shapes_are_sampled_evenly(void **state)
{
    (void)state;
    enum { RUNS = 3000 };
    static int size[RUNS];
    for (int i = 0; i < RUNS; i++)
        size[i] = i + 1;
    struct oc_profile *p =
        open_sizes(size, RUNS, &(struct oc_profile_opts){.warmup = OC_WARMUP_NONE, .by_node = true});
    assert_non_null(t_finding(p, "W-many-sizes"));
    assert_true(p->n_shapes == 1024 && p->runs_used == 1024 && p->runs_total == RUNS);
    assert_true(t_rec(p, "c")->runs == 1024 && t_rec(p, "d")->runs == 1024);
    int64_t last = 0;
    for (uint32_t i = 0; i < p->n_shapes; i++) {
        int64_t v = p->types[p->shapes[i].part[0].types].in[0].shape.dim[0].v;
        assert_true(v > last && v <= last + 3);
        last = v;
    }
    assert_true(last > RUNS - 3);
    struct oc_conserved sums;
    oc_profile_conserved(p, false, &sums);
    assert_false(oc_time_is_lost(sums.lost_ns, sums.imported_ns));
    oc_profile_close(p);
}

/* ---- device time ---- */

static void add_kernel(struct oc_buf *b, int ts, int dur, const char *name, const char *parent, int grid)
{
    char args[300];
    snprintf(args, sizeof(args), "%s%s%s\"stream\" : \"0x1\",\"grid_x\" : \"%d\",\"block_x\" : \"64\"",
             parent ? "\"parent_name\" : \"" : "", parent ? parent : "", parent ? "_kernel_time\"," : "",
             grid);
    add_event(b, "Kernel", -1, ts, dur, name, args);
}

static void kernels_are_assigned_to_their_node(void **state)
{
    (void)state;
    struct oc_buf b = {0};
    add_event(&b, "Session", 1, 0, 50, "session_initialization", "");
    add_kernel(&b, 40, 9, "MemcpyHostToDevice", NULL, -1);
    for (int i = 0; i < 3; i++) {
        add_run(&b, 1, 1000 * i + 1000, 500);
        add_node(&b, 1, 1000 * i + 1010, 5, "c1", "Conv");
        add_node(&b, 1, 1000 * i + 1020, 5, "c2", "Conv");
        add_node(&b, 1, 1000 * i + 1030, 5, "shape", "Shape");
        add_kernel(&b, 1000 * i + 1015, 100, "gemm", "c1", 1);
        add_kernel(&b, 1000 * i + 1600, 30, "split", "c1", 2); /* after the end of the run */
        add_kernel(&b, 1000 * i + 1200, 200, "gemm", "c2", 4);
        add_kernel(&b, 1000 * i + 1300, 10, "gemm", NULL, 4); /* only c2 launches this shape */
        add_kernel(&b, 1000 * i + 1350, 1, "odd", NULL, 1);   /* of no node */
    }
    struct oc_profile *p = close_trace(&b, -1, OC_STAT_MEDIAN);
    assert_true(t_rec(p, "c1")->kernel_ns == 130e3);
    assert_true(t_rec(p, "c2")->kernel_ns == 210e3);
    assert_true(t_rec(p, "c1")->time_ns == 5e3);
    assert_true(t_rec(p, "c1")->min_ns == 130e3 && t_rec(p, "c1")->max_ns == 130e3);
    assert_true(isnan(t_rec(p, "shape")->kernel_ns));
    assert_true(t_rec(p, "(unattributed kernels)")->kernel_ns == 1e3);
    assert_string_equal(t_rec(p, "(unattributed kernels)")->bucket, "kernels without operator");
    assert_true(t_rec(p, "(kernels of warm-up runs)")->kernel_ns == 341e3);
    assert_true(t_rec(p, "(kernels while loading)")->kernel_ns == 9e3);
    oc_profile_close(p);
}

static void missing_gpu_kernels_are_reported(void **state)
{
    (void)state;
    struct oc_buf b = {0};
    add_event(&b, "Node", 1, 10, 5, "c_kernel_time",
              "\"op_name\" : \"Conv\",\"provider\" : \"CUDAExecutionProvider\"");
    add_node(&b, 1, 20, 5, "d", "Conv");
    add_run(&b, 1, 5, 60);
    struct oc_profile *p = close_trace(&b, -1, OC_STAT_MEDIAN);
    assert_string_equal(p->device, "CUDA + CPU");
    assert_non_null(t_finding(p, "W-host-time"));
    oc_profile_close(p);
}

/* ---- recorded files ---- */

static const char *const samples[] = {
    "ppocr_cls.ort1.10.0.all.2runs.json",
    "ppocr_cls.ort1.12.1.all.2runs.json",
    "ppocr_cls.ort1.14.0.all.2runs.json",
    "ppocr_cls.ort1.14.0.all.truncated.json",
    "ppocr_cls.ort1.18.0.all.2runs.json",
    "ppocr_cls.ort1.22.0.all.1run.json",
    "ppocr_cls.ort1.30.all.2runs.json",
    "ppocr_cls.ort1.30.basic.2runs.json",
    "ppocr_cls.ort1.30.disabled.2runs.json",
    "ppocr_cls.ort1.30.extended.2runs.json",
    "ppocr_cls_unnamed.ort1.30.all.1run.json",
    "ppocrv4_det.ort1.30.all.3runs.json",
    "ppocrv4_det.ort1.30.disabled.3runs.json.gz",
    "ppocrv4_rec.ort1.30.all.1run.json",
    "silero_legacy.ort1.11.0.all.2runs.json",
    "silero_legacy.ort1.30.all.2runs.json",
    "silero_legacy.ort1.30.all.parallel.1run.json",
    "silero_legacy.ort1.30.disabled.2runs.json",
    "cuda_ep.kernel_events.synthetic.json",
};

static struct oc_profile *open_sample(const char *name, int32_t warmup, enum oc_stat stat)
{
    char path[128];
    snprintf(path, sizeof(path), "onnxruntime/%s", name);
    const char *full = t_sample(path);
    if (!full)
        skip();
    return open_file(full, warmup, stat);
}

/* Every nanosecond of the used runs is in the own time of one record or in the framework's. */
static void time_is_conserved(void **state)
{
    (void)state;
    for (size_t i = 0; i < OC_COUNT(samples); i++)
        for (int stat = OC_STAT_MEAN; stat <= OC_STAT_SUM; stat += OC_STAT_SUM - OC_STAT_MEAN)
            for (int warmup = -1; warmup <= 0; warmup++) {
                struct oc_profile *p = open_sample(samples[i], warmup, (enum oc_stat)stat);
                double own = t_self_ns(p, NULL), rest = t_self_ns(p, "framework");
                assert_true(fabs(own + rest - p->run_ns) < 0.5);
                double top = 0;
                for (uint32_t k = 0; k < p->n_rec; k++) {
                    const struct oc_prof_rec *r = &p->rec[k];
                    if (r->bucket)
                        continue;
                    assert_true(r->time_ns <= p->run_ns && r->self_ns <= r->time_ns && r->self_ns >= 0);
                    top += r->parent == OC_NONE ? r->time_ns : 0;
                }
                assert_true(top <= p->run_ns);
                oc_profile_close(p);
            }
}

static void samples_have_the_expected_runs(void **state)
{
    (void)state;
    for (size_t i = 0; i < OC_COUNT(samples); i++) {
        struct oc_profile *p = open_sample(samples[i], -1, OC_STAT_MEDIAN);
        bool two = strstr(samples[i], "2runs") || strstr(samples[i], "synthetic"),
             three = strstr(samples[i], "3runs");
        assert_int_equal(p->runs_used, three ? 2 : 1);
        assert_int_equal(p->runs_total, three ? 3 : two ? 2 : 1);
        assert_int_equal(p->truncated, strstr(samples[i], "truncated") != NULL);
        oc_profile_close(p);
    }
}

/* Names differ between versions only in the counters of inserted nodes (`_token_<n>`) and the prefix of 1.10.
 */
static void ort_versions_give_the_same_nodes(void **state)
{
    (void)state;
    struct oc_profile *want = open_sample(samples[6], -1, OC_STAT_MEDIAN);
    for (size_t i = 0; i < 6; i++) {
        struct oc_profile *p = open_sample(samples[i], -1, OC_STAT_MEDIAN);
        size_t ops = 0, wanted = 0, missing = 0;
        for (uint32_t k = 0; k < want->n_rec; k++) {
            const char *name = want->rec[k].name;
            wanted += !want->rec[k].bucket;
            if (!want->rec[k].bucket && !strstr(name, "_token_"))
                missing += !t_rec(p, name);
        }
        for (uint32_t k = 0; k < p->n_rec; k++)
            ops += !p->rec[k].bucket;
        assert_int_equal(ops, wanted);
        assert_int_equal(ops, 235);
        /* 1.10: "fused <node>" and other names of the last layers; up to 1.18 "gemm" and "Reshape" */
        assert_true(missing <= (i == 0 ? 12 : 2));
        oc_profile_close(p);
    }
    oc_profile_close(want);
}

static void subgraphs_are_not_counted_twice(void **state)
{
    (void)state;
    struct oc_profile *p = open_sample("silero_legacy.ort1.30.all.2runs.json", 0, OC_STAT_MAX);
    /* the first run: plain sums give 3046 us in 1842 us, outermost events 1643 us */
    assert_true(p->run_ns == 1842e3);
    oc_profile_close(p);
    p = open_sample("silero_legacy.ort1.30.all.2runs.json", 0, OC_STAT_SUM);
    size_t nested = 0;
    for (uint32_t i = 0; i < p->n_rec; i++)
        nested += p->rec[i].parent != OC_NONE;
    assert_true(nested > 50);
    assert_true(p->busy_ns < p->run_ns);
    oc_profile_close(p);
}

static void truncated_sample_is_read_with_a_warning(void **state)
{
    (void)state;
    struct oc_profile *p = open_sample("ppocr_cls.ort1.14.0.all.truncated.json", -1, OC_STAT_MEDIAN);
    assert_string_equal(t_finding(p, "W-truncated"),
                        "the file is truncated: 839 complete events are used (offset 199951)");
    assert_true(t_rec(p, "(incomplete run)")->time_ns > 0);
    oc_profile_close(p);
}

static void device_sample_has_kernel_times(void **state)
{
    (void)state;
    struct oc_profile *p = open_sample("cuda_ep.kernel_events.synthetic.json", -1, OC_STAT_MEDIAN);
    assert_true(t_rec(p, "Conv_0")->kernel_ns == 311e3);
    assert_true(t_rec(p, "Gemm_48")->kernel_ns == 41e3); /* without a label in the second run */
    assert_null(t_rec(p, "(unattributed kernels)"));
    oc_profile_close(p);
}

/* The same events over time: runs as steps, nodes as operators nested by control flow, each with its record.
 */
static void events_link_to_records_and_nest(void **state)
{
    (void)state;
    struct oc_profile_opts opts = {.keep_events = true};
    struct oc_profile *p;
    struct oc_err err;
    assert_int_equal(oc_profile_open("tests/data/onnxruntime/loop_two_runs.json", &opts, &p, &err), 0);
    const struct oc_timeline *t = p->timeline;
    assert_non_null(t);
    assert_int_equal(t->n_run, p->runs_total);
    assert_int_equal(t->n_run - t->first_used_run, p->runs_used);
    size_t steps = 0, nested = 0;
    double used_ns = 0;
    for (size_t i = 0; i < t->n_event; i++) {
        const struct oc_event *e = &t->event[i];
        steps += e->kind == OC_EV_STEP;
        if (e->kind != OC_EV_OPERATOR)
            continue;
        nested += e->parent != OC_NONE && t->event[e->parent].kind == OC_EV_OPERATOR;
        used_ns += oc_timeline_used(t, e->run) ? e->self_ns : 0;
    }
    assert_int_equal(steps, 2);
    assert_true(nested > 0); /* the body of the loop */
    double self_ns = 0;      /* one used run: the own times of the records are those of its events */
    for (uint32_t i = 0; i < p->n_rec; i++)
        self_ns += p->rec[i].bucket ? 0 : p->rec[i].self_ns;
    assert_true(used_ns == self_ns);
    oc_profile_close(p);
}

/* 70 runs of 1000 nodes, each execution with other shapes: the sets of shapes are bounded, no time is lost,
 * and the medians add up to the operator time of a run. */
static void shapes_that_change_in_every_run_are_bounded(void **state)
{
    (void)state;
    enum { RUNS = 70, NODES = 1000 };
    struct oc_buf text = {0};
    struct oc_err e;
    struct oc_conserved c;
    struct oc_profile_opts opts = {.warmup = OC_WARMUP_NONE, .stat = OC_STAT_MEDIAN};
    oc_buf_str(&text, "[\n");
    for (int run = 0; run < RUNS; run++) {
        for (int node = 0; node < NODES; node++)
            oc_buf_printf(
                &text,
                "{\"cat\":\"Node\",\"pid\":1,\"tid\":1,\"dur\":3,\"ts\":%d,\"ph\":\"X\",\"name\":"
                "\"n%d_kernel_time\",\"args\":{\"op_name\":\"Relu\",\"input_type_shape\":[{\"float\":[%d]}],"
                "\"output_type_shape\":[{\"float\":[%d]}]}},\n",
                run * 10000 + node * 9, node, run * NODES + node, run * NODES + node);
        oc_buf_printf(&text,
                      "{\"cat\":\"Session\",\"pid\":1,\"tid\":1,\"dur\":9500,\"ts\":%d,\"ph\":\"X\",\"name\":"
                      "\"model_run\",\"args\":{}},\n",
                      run * 10000);
    }
    oc_buf_str(&text, "{}]");
    struct oc_profile *p = t_profile_text(text.data, &opts, &e);
    assert_non_null(p);
    assert_non_null(t_finding(p, "W-many-shapes"));
    assert_true(p->n_rec <= 65536 + NODES + 8);
    oc_profile_conserved(p, false, &c);
    assert_true(fabs(c.lost_ns) < 1);
    double sum_ns = 0;
    for (uint32_t i = 0; i < p->n_rec; i++)
        sum_ns += p->rec[i].bucket ? 0 : p->rec[i].time_ns;
    assert_true(fabs(sum_ns - NODES * 3000.0) < 1);
    oc_profile_close(p);
    oc_buf_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_that_change_in_every_run_are_bounded),
        cmocka_unit_test(arguments_are_found_in_any_order),
        cmocka_unit_test(waiting_of_threads_is_a_share_of_the_time),
        cmocka_unit_test(load_of_the_machine_is_read),
        cmocka_unit_test(latency_of_short_operators_is_doubted),
        cmocka_unit_test(first_run_is_dropped_by_default),
        cmocka_unit_test(recorded_types_are_read),
        cmocka_unit_test(statistics_over_runs),
        cmocka_unit_test(one_run_remains_when_too_many_are_dropped),
        cmocka_unit_test(order_of_events_does_not_matter),
        cmocka_unit_test(truncated_trace_gives_its_complete_events),
        cmocka_unit_test(incomplete_run_is_excluded),
        cmocka_unit_test(events_without_a_run_are_shown),
        cmocka_unit_test(unusual_names_are_decoded),
        cmocka_unit_test(events_without_time_are_reported),
        cmocka_unit_test(equal_names_in_two_bodies_are_two_records),
        cmocka_unit_test(adjacent_nodes_are_not_nested),
        cmocka_unit_test(events_are_assigned_to_the_run_of_their_thread),
        cmocka_unit_test(fences_inside_nodes_are_not_on_top),
        cmocka_unit_test(different_shapes_are_different_records),
        cmocka_unit_test(a_node_with_several_shapes_can_be_one_record),
        cmocka_unit_test(one_set_of_shapes_needs_no_sizes),
        cmocka_unit_test(too_many_sets_of_shapes_are_sampled_evenly),
        cmocka_unit_test(kernels_are_assigned_to_their_node),
        cmocka_unit_test(missing_gpu_kernels_are_reported),
        cmocka_unit_test(time_is_conserved),
        cmocka_unit_test(samples_have_the_expected_runs),
        cmocka_unit_test(ort_versions_give_the_same_nodes),
        cmocka_unit_test(subgraphs_are_not_counted_twice),
        cmocka_unit_test(truncated_sample_is_read_with_a_warning),
        cmocka_unit_test(device_sample_has_kernel_times),
        cmocka_unit_test(events_link_to_records_and_nest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
