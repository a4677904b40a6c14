#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "profile/core/timeline.h"
#include "onnxcost.h"
#include "onnxcost/profile.h"
#include "support/profiles.h"

/* ---- building a profile ---- */

struct made {
    struct oc_profile *p;
    struct oc_timeline *t;
    uint16_t host, other, stream;
};

static struct made make_profile(void)
{
    struct made m = {.p = calloc(1, sizeof(struct oc_profile))};
    assert_non_null(m.p);
    m.p->names.arena = m.p->diags.arena = &m.p->arena;
    m.p->exprs = oc_exprs_new(&m.p->arena);
    m.t = oc_timeline_new(m.p);
    m.host = oc_timeline_lane(
        m.t, &(struct oc_lane){.name = "main", .process = 7, .device_id = OC_NO_ID, .id = 1});
    m.other =
        oc_timeline_lane(m.t, &(struct oc_lane){.name = "", .process = 7, .device_id = OC_NO_ID, .id = 2});
    m.stream = oc_timeline_lane(
        m.t, &(struct oc_lane){.name = "", .device = true, .process = OC_NO_ID, .device_id = 0, .id = 7});
    return m;
}

static void add_linked(struct made *m, unsigned kind, uint16_t lane, const char *name, double from,
                       double dur, uint64_t launch, uint32_t owner)
{
    struct oc_event e = {.start_ns = from,
                         .dur_ns = dur,
                         .name = oc_timeline_name(m->t, name, strlen(name)),
                         .detail = OC_NONE,
                         .lane = lane,
                         .kind = (uint8_t)kind};
    assert_true(oc_timeline_add(m->t, &e, launch, owner));
}

static void add(struct made *m, unsigned kind, uint16_t lane, const char *name, double from, double dur)
{
    add_linked(m, kind, lane, name, from, dur, 0, 0);
}

static const struct oc_event *find_event(const struct oc_timeline *t, const char *name, unsigned nth)
{
    for (size_t i = 0; i < t->n_event; i++)
        if (strcmp(t->name[t->event[i].name], name) == 0 && !nth--)
            return &t->event[i];
    fail_msg("no event %s", name);
    return NULL;
}

static const struct oc_prof_rec *find_record(const struct oc_profile *p, const char *name, unsigned nth)
{
    for (uint32_t i = 0; i < p->n_rec; i++)
        if (strcmp(p->rec[i].name, name) == 0 && !nth--)
            return &p->rec[i];
    return NULL;
}

/* The records contain the imported time. */
static void check_conserved(const struct oc_profile *p)
{
    double host = 0, device = 0;
    for (uint32_t i = 0; i < p->n_rec; i++) {
        host += isnan(p->rec[i].total_ns) ? 0 : p->rec[i].total_ns;
        device += isnan(p->rec[i].total_kernel_ns) ? 0 : p->rec[i].total_kernel_ns;
    }
    assert_true(fabs(host - (isnan(p->imported_ns) ? 0 : p->imported_ns)) < 1);
    assert_true(fabs(device - (isnan(p->imported_kernel_ns) ? 0 : p->imported_kernel_ns)) < 1);
}

static const struct oc_timeline_rules all_rules = {
    .find_runs = true, .user_are_operators = true, .kernel_are_records = true, .keep_call_positions = true};

static void finish_timeline(struct made *m, int32_t warmup)
{
    struct oc_profile_opts opts = {.warmup = t_warmup(warmup), .stat = OC_STAT_MEAN, .keep_events = true};
    oc_timeline_finish(m->t, &opts, &all_rules);
    oc_timeline_records(m->t, &opts, &all_rules);
    oc_timeline_keep(m->t, &opts);
    check_conserved(m->p);
}

/* ---- nesting ---- */

/* main: step [0,100) contains conv [10,60), which contains its part [20,30) and add [40,55); on the other
 * thread: mul [50,80). Added in random order. */
static void nests_and_counts_self_time(void **state)
{
    (void)state;
    struct made m = make_profile();
    add(&m, OC_EV_OPERATOR, m.other, "mul", 1050, 30);
    add(&m, OC_EV_OPERATOR, m.host, "add", 1040, 15);
    add(&m, OC_EV_OPERATOR, m.host, "conv", 1010, 50);
    add(&m, OC_EV_INNER, m.host, "compute", 1020, 10);
    add(&m, OC_EV_STEP, m.host, "step", 1000, 100);
    finish_timeline(&m, 0);
    const struct oc_timeline *t = m.t;
    assert_true(find_event(t, "step", 0)->start_ns == 0);
    assert_true(find_event(t, "step", 0)->self_ns == 50); /* 100 - 50 */
    assert_true(find_event(t, "conv", 0)->self_ns == 25); /* 50 - 10 - 15 */
    assert_true(find_event(t, "compute", 0)->self_ns == 10);
    assert_ptr_equal(&t->event[find_event(t, "add", 0)->parent], find_event(t, "conv", 0));
    assert_int_equal(find_event(t, "mul", 0)->parent, OC_NONE);
    assert_int_equal(find_event(t, "mul", 0)->run, 0); /* by time: it starts within the step */
    /* records: the part has none; the own time of conv is 50 - 15, the union of both threads is 100 + 30 */
    assert_true(find_record(m.p, "conv", 0)->time_ns == 50);
    assert_true(find_record(m.p, "conv", 0)->self_ns == 35);
    assert_true(m.p->rec[find_record(m.p, "add", 0)->parent].name == find_record(m.p, "conv", 0)->name);
    assert_null(find_record(m.p, "compute", 0));
    assert_true(m.p->imported_ns == 130);
    assert_true(find_record(m.p, "(framework)", 0)->time_ns == 50);
    assert_true(m.p->run_ns == 100);
    assert_true(m.p->busy_ns == 70); /* [10,60) and [50,80) */
    oc_profile_close(m.p);
}

/* [0,10) and [6,14) on one thread: the time in both belongs to the later one, the sum is the union. */
static void overlap_counts_once(void **state)
{
    (void)state;
    struct made m = make_profile();
    add(&m, OC_EV_OPERATOR, m.host, "a", 0, 10000);
    add(&m, OC_EV_OPERATOR, m.host, "b", 6000, 8000);
    finish_timeline(&m, 0);
    assert_true(find_event(m.t, "a", 0)->self_ns == 6000);
    assert_true(find_event(m.t, "b", 0)->self_ns == 8000);
    assert_int_equal(find_event(m.t, "b", 0)->parent, OC_NONE);
    assert_true(m.p->imported_ns == 14000);
    oc_profile_close(m.p);
}

/* ---- links ---- */

/* Three kernels: of conv by its launch, of relu by the operator's number, of no operator. And a copy. */
static void links_device_work_to_operators(void **state)
{
    (void)state;
    struct made m = make_profile();
    add_linked(&m, OC_EV_KERNEL, m.stream, "k1", 100, 40, 91, 0);
    add_linked(&m, OC_EV_KERNEL, m.stream, "k2", 140, 20, 92, 5);
    add_linked(&m, OC_EV_KERNEL, m.stream, "k3", 160, 7, 93, 6);
    add_linked(&m, OC_EV_MEMCPY, m.stream, "copy", 170, 3, 94, 0);
    add_linked(&m, OC_EV_API, m.host, "launch", 14, 2, 91, 0);
    add_linked(&m, OC_EV_API, m.host, "copyAsync", 12, 2, 94, 0);
    add_linked(&m, OC_EV_OPERATOR, m.host, "conv", 10, 10, 0, 4);
    add_linked(&m, OC_EV_OPERATOR, m.host, "relu", 30, 10, 0, 5);
    finish_timeline(&m, 0);
    const struct oc_timeline *t = m.t;
    assert_ptr_equal(&t->event[find_event(t, "k1", 0)->link], find_event(t, "launch", 0));
    assert_ptr_equal(&t->event[find_event(t, "k2", 0)->link], find_event(t, "relu", 0));
    assert_int_equal(find_event(t, "k3", 0)->link, OC_NONE);
    assert_true(find_record(m.p, "conv", 0)->kernel_ns == 40);
    assert_true(find_record(m.p, "relu", 0)->kernel_ns == 20);
    const struct oc_prof_rec *rest = find_record(m.p, "k3", 0);
    assert_true(rest->total_kernel_ns == 7 && rest->calls == 1 && !rest->bucket);
    assert_string_equal(rest->rest, "(kernels without an operator)");
    assert_string_equal(rest->op_type, rest->rest);
    assert_null(find_record(m.p, "conv", 0)->rest);
    assert_true(find_record(m.p, "(copies)", 0)->total_kernel_ns == 3);
    assert_true(m.p->imported_kernel_ns == 70);
    assert_int_equal(m.p->n_kernel, 4);
    for (uint32_t i = 0; i < m.p->n_kernel; i++)
        if (m.p->kernel[i].kind == OC_EV_MEMCPY) /* launched within conv */
            assert_string_equal(m.p->rec[m.p->kernel[i].rec].name, "conv");
    oc_profile_close(m.p);
}

/* ---- runs ---- */

/* Three steps with two calls of add each, 1 ns longer every time; the first step is warm-up. */
static void statistics_over_steps(void **state)
{
    (void)state;
    struct made m = make_profile();
    for (unsigned k = 0; k < 3; k++) {
        add(&m, OC_EV_STEP, m.host, "step", 1000 * k, 500);
        add(&m, OC_EV_OPERATOR, m.host, "add", 1000 * k + 10, 100 + k);
        add(&m, OC_EV_OPERATOR, m.host, "add", 1000 * k + 200, 50 + k);
    }
    add(&m, OC_EV_OPERATOR, m.host, "add", 2600, 9);
    finish_timeline(&m, -1);
    assert_int_equal(m.p->runs_total, 3);
    assert_int_equal(m.p->runs_used, 2);
    const struct oc_prof_rec *first = find_record(m.p, "add", 0), *second = find_record(m.p, "add", 1);
    assert_true(first->time_ns == 101.5 && first->total_ns == 203 && first->start_ns == 10);
    assert_true(second->time_ns == 51.5 && second->min_ns == 51 && second->max_ns == 52);
    assert_int_equal(second->calls, 2);
    assert_null(find_record(m.p, "add", 2));
    assert_true(find_record(m.p, "(warm-up runs)", 0)->total_ns == 500);
    assert_true(find_record(m.p, "(outside runs)", 0)->total_ns == 9);
    oc_profile_close(m.p);
}

static void add_pass(struct made *m, const char *names, double *at, double gap, double pause)
{
    for (const char *c = names; *c; c++) {
        char name[2] = {*c, 0};
        add(m, OC_EV_KERNEL, m->stream, name, *at, 10);
        *at += 10 + gap;
    }
    *at += pause;
}

/* A first pass that tries algorithms, then twelve equal ones with a pause between them. */
static void finds_iterations(void **state)
{
    (void)state;
    struct made m = make_profile();
    double at = 0;
    add_pass(&m, "cxcycc", &at, 1, 100);
    for (unsigned k = 0; k < 12; k++)
        add_pass(&m, "abcabd", &at, 1, 100);
    add_pass(&m, "ab", &at, 1, 0);
    finish_timeline(&m, -1);
    assert_true(m.t->runs_found);
    assert_int_equal(m.p->runs_total, 12);
    assert_int_equal(m.p->runs_used, 10);
    assert_int_equal(find_record(m.p, "a", 0)->runs, 10);
    assert_true(find_record(m.p, "a", 1)->start_ns == 33);
    assert_null(find_record(m.p, "a", 2));
    assert_true(m.p->run_ns == 65); /* 6 kernels of 10, 5 gaps of 1 */
    assert_true(find_record(m.p, "(warm-up runs)", 0)->total_kernel_ns ==
                60 + 2 * 60); /* and the first two equal ones */
    assert_true(find_record(m.p, "(outside runs)", 0)->total_kernel_ns == 20); /* the truncated one */
    oc_profile_close(m.p);
}

/* Twelve passes of ten launches with pauses between them: in one annotation, or in one for each pass. */
static void layers_of_a_step_of_an_engine_are_not_runs(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool each, found;
    } step[] = {{"execute_32_context_0(sq0)_generation_32(sq32)", false, false},
                {"execute_32_context_0(sq0)_generation_32(sq32)", true, true},
                {"step[DECODE bs=32]", false, false},
                {"benchmark", false, true}};
    for (size_t i = 0; i < OC_COUNT(step); i++) {
        struct made m = make_profile();
        uint64_t launch = 0;
        if (!step[i].each)
            add(&m, OC_EV_USER, m.host, step[i].name, 0, 12000);
        for (unsigned k = 0; k < 12; k++) {
            double at = 1000 * k;
            if (step[i].each)
                add(&m, OC_EV_USER, m.host, step[i].name, at, 900);
            for (unsigned j = 0; j < 10; j++, at += 50) {
                char name[2] = {(char)('a' + j), 0};
                add_linked(&m, OC_EV_API, m.host, "launch", at + 10, 10, ++launch, 0);
                add_linked(&m, OC_EV_KERNEL, m.stream, name, at + 20, 45, launch, 0);
            }
        }
        finish_timeline(&m, -1);
        assert_int_equal(m.t->runs_found, step[i].found);
        assert_int_equal(m.p->runs_total, step[i].found ? 12 : 0);
        oc_profile_close(m.p);
    }
}

/* Forty steps of 100 ns, the last twenty after 50 ns of loading, and one call of the optimizer at the end of each, or
 * two in turns; in the first step there is less to do. */
static void an_optimizer_ends_steps(void **state)
{
    (void)state;
    for (unsigned twice = 0; twice < 2; twice++) {
        struct made m = make_profile();
        double at = 0;
        for (unsigned k = 0; k < 40; k++, at += 100) {
            if (k >= 20) {
                add(&m, OC_EV_DATALOADER, m.host, "enumerate(DataLoader)", at, 50);
                at += 50;
            }
            for (unsigned i = k ? 0 : 4; i < 8; i++)
                add(&m, OC_EV_OPERATOR, m.host, "mm", at + 10 * i, 8);
            if (twice)
                add(&m, OC_EV_OPTIMIZATION, m.host, "Optimizer.step#Adam.step", at + 81, 1);
            add(&m, OC_EV_OPTIMIZATION, m.host, "Optimizer.step#SGD.step", at + 85, 15);
        }
        finish_timeline(&m, -1);
        assert_true(m.p->training);
        if (twice) {
            assert_false(m.t->runs_follow);
        } else {
            assert_int_equal(m.p->runs_total, 40);
            assert_int_equal(m.p->runs_from, OC_RUNS_MARKED);
            assert_true(m.t->run[20].end_ns - m.t->run[20].start_ns == 150);
            /* 37 periods from the start of the third step to that of the last: 18 of 100, 19 of 150 ns */
            assert_true(fabs(m.p->runs_per_s - 37 / 4650e-9) < 1);
        }
        oc_profile_close(m.p);
    }
}

/* Runs of 65 ns with pauses: their rate is the inverse of the time unless pauses take more than half of it. */
static void rate_of_unmarked_runs_counts_long_pauses(void **state)
{
    (void)state;
    for (unsigned k = 0; k < 3; k++) {
        struct made m = make_profile();
        double at = 0;
        for (unsigned run = 0; run < 12; run++)
            add_pass(&m, "abcabd", &at, 1, k == 1 ? 100 : 50);
        if (k == 2)
            add(&m, OC_EV_KERNEL, m.stream, "layer_norm_grad_input_kernel", at, 10);
        finish_timeline(&m, -1);
        assert_int_equal(m.p->training, k == 2);
        assert_int_equal(m.p->runs_total, 12);
        double period_ns = k == 1 ? 166 : 116;
        assert_true(k ? fabs(m.p->runs_per_s - 1e9 / period_ns) < 1 : m.p->runs_per_s == 0);
        oc_profile_close(m.p);
    }
}

/* Names of backward passes and updates, by what training means to each framework; gradients of inputs are transposed
 * convolutions, and a function of Python may do nothing. */
static void work_of_training_is_known_by_its_name(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        unsigned kind;
        bool training;
    } work[] = {{"gradient_tape/net/conv/Conv2D/Conv2DBackpropFilter", OC_EV_OPERATOR, true},
                {"void ApplyAdamKernel<float>", OC_EV_KERNEL, true},
                {"void layer_norm_grad_input_kernel<float>", OC_EV_KERNEL, true},
                {"jit(step)/transpose(jvp(net))/dot", OC_EV_OPERATOR, true},
                {"net/up/Conv2DBackpropInput", OC_EV_OPERATOR, false},
                {"cudnn_dgrad_128x64", OC_EV_KERNEL, false},
                {"multi_tensor_apply_kernel", OC_EV_KERNEL, false},
                {"nn.py(12): threshold_backward", OC_EV_PYTHON, false}};
    for (size_t i = 0; i < OC_COUNT(work); i++) {
        struct made m = make_profile();
        bool device = work[i].kind == OC_EV_KERNEL;
        add(&m, OC_EV_OPERATOR, m.host, "mm", 0, 10);
        add(&m, work[i].kind, device ? m.stream : m.host, work[i].name, 20, 10);
        finish_timeline(&m, -1);
        assert_int_equal(m.p->training, work[i].training);
        oc_profile_close(m.p);
    }
}

/* Work of a second queue in the pauses: no host waits in a file without host events. */
static void device_without_a_host_has_queues(void **state)
{
    (void)state;
    struct made m = make_profile();
    uint16_t second = oc_timeline_lane(
        m.t, &(struct oc_lane){.name = "", .device = true, .process = OC_NO_ID, .device_id = 0, .id = 8});
    double at = 0;
    for (unsigned run = 0; run < 12; run++) {
        add(&m, OC_EV_KERNEL, second, "reduce", at, 160);
        add_pass(&m, "abcabd", &at, 1, 100);
    }
    finish_timeline(&m, -1);
    assert_int_equal(m.p->runs_total, 12);
    const char *text = t_finding(m.p, "W-async");
    assert_non_null(text);
    assert_null(strstr(text, "host"));
    assert_non_null(strstr(text, "in 12 of 12 runs other queues work longer"));
    oc_profile_close(m.p);
}

static uint16_t add_stream(struct made *m, int64_t device, int64_t id)
{
    return oc_timeline_lane(
        m->t,
        &(struct oc_lane){.name = "", .device = true, .process = OC_NO_ID, .device_id = device, .id = id});
}

/* Five passes of "abcde" on each of three devices, 10 ns per kernel, one pass per 10 us. Device 0 has nine copies before
 * every pass, another number each time on the stream of its kernels. `late`: of the third device. */
static void add_devices(struct made *m, int64_t n, double late)
{
    static const char *const program[] = {"a", "b", "c", "d", "e"};
    static const unsigned on_stream[] = {5, 1, 9, 0, 3};
    for (int64_t d = 0; d < n; d++) {
        uint16_t kernels = add_stream(m, d, 7), copies = add_stream(m, d, 8);
        for (unsigned pass = 0; pass < 5; pass++) {
            double at = 10000 * (pass + 1) + (d == 2 ? late : 3.0 * (double)d);
            for (unsigned i = 0; i < 5; i++)
                add(m, OC_EV_KERNEL, kernels, program[i], at + 20 * i, 10);
            for (unsigned i = 0; d == 0 && i < 9; i++)
                add(m, OC_EV_KERNEL, i < on_stream[pass] ? kernels : copies, "copyBuffer", at + 100 * i - 910,
                    10);
        }
    }
}

static void devices_that_execute_one_program_show_its_runs(void **state)
{
    (void)state;
    struct made m = make_profile();
    add_devices(&m, 3, 6);
    finish_timeline(&m, 0);
    assert_int_equal(m.p->runs_total, 5);
    assert_int_equal(m.p->runs_from, OC_RUNS_REPEAT);
    assert_non_null(strstr(t_finding(m.p, "I-runs-by-repetition"), "on each of 3 devices"));
    assert_true(m.t->run[0].start_ns == 0 && m.t->run[0].end_ns == 910 + 6 + 90); /* from the copy */
    for (unsigned k = 0; k < 3; k++) {                                            /* one on each device */
        const struct oc_prof_rec *a = find_record(m.p, "a", k);
        assert_true(a->calls_per_run == 1 && a->place[7] == (char)('0' + k));
    }
    assert_null(find_record(m.p, "a", 3));
    assert_non_null(t_finding(m.p, "W-several-devices"));
    assert_true(find_record(m.p, "copyBuffer", 8)->total_kernel_ns == 50);
    assert_null(find_record(m.p, "(outside runs)", 0));
    oc_profile_close(m.p);
}

/* Each device takes a pass over the events: 64 are compared, more are not. */
static void devices_are_compared_up_to_a_number(void **state)
{
    (void)state;
    for (int64_t n = 64; n <= 65; n++) {
        struct made m = make_profile();
        add_devices(&m, n, 6);
        finish_timeline(&m, 0);
        assert_int_equal(m.p->runs_total, n == 64 ? 5 : 0);
        if (n == 65)
            assert_int_equal(m.p->n_device, 65);
        oc_profile_close(m.p);
    }
}

/* The third device is nearly a pass later: the passes of the devices cross. */
static void devices_with_passes_that_cross_show_no_runs(void **state)
{
    (void)state;
    struct made m = make_profile();
    add_devices(&m, 3, 9990);
    finish_timeline(&m, 0);
    assert_int_equal(m.p->runs_total, 0);
    assert_int_equal(m.p->n_device, 3);
    oc_profile_close(m.p);
}

/* Three calls of a compiled function. The host begins each one long before its first launch, and takes longer
 * than its kernels; each event belongs to the run of the work that it launched, and what encloses all runs to
 * none of them. */
static void host_of_a_run_encloses_its_launches(void **state)
{
    (void)state;
    static const char *const kernel[] = {"conv", "bias", "gemm", "norm", "conv", "copy"};
    struct made m = make_profile();
    uint64_t launch = 0;
    add(&m, OC_EV_USER, m.host, "all", 0, 3000);
    for (double at = 0; at < 3000; at += 1000) {
        add(&m, OC_EV_OPERATOR, m.host, "region", at + 100, 850);
        for (unsigned k = 0; k < 6; k++) {
            double call = at + 400 + 90 * k;
            const char *name = k % 3 ? "mm" : "pointwise";
            add(&m, OC_EV_OPERATOR, m.host, name, call, 60);
            add_linked(&m, OC_EV_API, m.host, "launch", call + 10, 20, ++launch, 0);
            add_linked(&m, OC_EV_KERNEL, m.stream, kernel[k], call + 30, 40, launch, 0);
        }
    }
    finish_timeline(&m, -1);
    assert_true(m.t->runs_found);
    assert_int_equal(m.p->runs_total, 3);
    for (unsigned k = 0; k < 3; k++) {
        assert_int_equal(find_event(m.t, "region", k)->run, k);
        assert_int_equal(find_event(m.t, "pointwise", 2 * k + 1)->run, k);
    }
    assert_int_equal(find_event(m.t, "all", 0)->run, OC_NONE);
    assert_int_equal(m.p->runs_used, 2);
    assert_null(find_record(m.p, "mm", 4)); /* the calls of a run, not those of the file */
    assert_int_equal(find_record(m.p, "mm", 3)->runs, 2);
    assert_true(m.p->run_ns == 490);  /* from the first kernel at 430 to the end of the last one at 920 */
    assert_true(m.p->busy_ns == 490); /* the region begins at 100, but the run at 430 */
    oc_profile_close(m.p);
}

/* Three products and an attention, twice: a model with five, or one with ten that ran once. */
static void products_of_the_model_count_its_runs(void **state)
{
    (void)state;
    struct made m = make_profile();
    for (double at = 0; at < 2000; at += 1000) {
        add(&m, OC_EV_OPERATOR, m.host, "aten::linear", at, 100);
        add(&m, OC_EV_OPERATOR, m.host, "aten::addmm", at + 10, 50); /* a part */
        add(&m, OC_EV_OPERATOR, m.host, "aten::conv2d", at + 200, 100);
        add(&m, OC_EV_OPERATOR, m.host, "aten::convolution", at + 210, 50);
        add(&m, OC_EV_OPERATOR, m.host, "aten::scaled_dot_product_attention", at + 400, 200);
        add(&m, OC_EV_OPERATOR, m.host, "aten::bmm", at + 410, 50);
        add(&m, OC_EV_OPERATOR, m.host, "aten::mm", at + 700, 50);
        add(&m, OC_EV_OPERATOR, m.host, "aten::relu", at + 800, 50);
    }
    finish_timeline(&m, 0);
    static const uint32_t row[][2] = {{5, 2}, {10, 1}, {4, 0}, {3, 0}, {20, 0}, {0, 0}}; /* products, runs */
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
        assert_int_equal(oc_timeline_runs_of_model(m.t, &(struct oc_operator_names){.n_product = row[i][0]}),
                         row[i][1]);
    assert_int_equal(oc_timeline_runs_of_model(m.t, NULL), 0);
    oc_profile_close(m.p);
}

/* One pass through many equal layers between a start and an end is one run, not many. */
static void equal_layers_are_not_runs(void **state)
{
    (void)state;
    struct made m = make_profile();
    double at = 0;
    add_pass(&m, "ee", &at, 1, 0);
    for (unsigned k = 0; k < 24; k++)
        add_pass(&m, "qkvos", &at, 1, 0);
    add_pass(&m, "hhnts", &at, 1, 0);
    finish_timeline(&m, -1);
    assert_false(m.t->runs_found);
    assert_int_equal(m.t->n_run, 1);
    assert_int_equal(m.p->runs_used, 1);
    oc_profile_close(m.p);
}

/* Events in descending order, of any number: insertion sort gives up after some of them, which may be the
 * last one (at 50, where 49 * 50 / 2 exceeds four per event and 1000). */
static void events_are_sorted_from_any_order(void **state)
{
    (void)state;
    for (unsigned n = 0; n < 300; n++) {
        struct made m = make_profile();
        for (unsigned i = 0; i < n; i++)
            add(&m, OC_EV_OPERATOR, m.host, "op", 1000.0 - i, 0.5);
        oc_timeline_sort(m.t, 100);
        for (unsigned i = 0; i < n; i++)
            assert_true(m.t->event[i].start_ns == 901.0 - n + i);
        oc_timeline_free(m.t);
        oc_profile_close(m.p);
    }
}

/* Many events in descending order, all overlapping crosswise: neither slow nor wrong. */
static void crossing_events_take_linear_time(void **state)
{
    (void)state;
    struct made m = make_profile();
    unsigned n = 200000;
    for (unsigned k = n; k-- > 0;)
        add(&m, OC_EV_OPERATOR, m.host, "x", 10.0 * k, 1e9);
    finish_timeline(&m, 0);
    assert_true(m.p->imported_ns == 10.0 * (n - 1) + 1e9);
    for (size_t i = 1; i < m.t->n_event; i++)
        assert_true(m.t->event[i - 1].start_ns < m.t->event[i].start_ns);
    oc_profile_close(m.p);
}

/* Each of 71,680 events has other shapes: 65,536 sets are kept, the others share a record, and the medians of
 * all records add up to the time of operators in a run. */
static void shapes_that_change_in_every_run_are_bounded(void **state)
{
    (void)state;
    enum { RUNS = 560, CALLS = 128 };
    struct made m = make_profile();
    struct oc_profile_opts opts = {.warmup = OC_WARMUP_NONE, .stat = OC_STAT_MEDIAN};
    struct oc_event e = {.name = oc_timeline_name(m.t, "aten::add", 9), .dur_ns = 50, .lane = m.host};
    for (unsigned run = 0; run < RUNS; run++) {
        add(&m, OC_EV_STEP, m.host, "step", run * 10000.0, 9000);
        for (unsigned call = 0; call < CALLS; call++) {
            unsigned key = run * CALLS + call;
            bool is_new;
            e.detail = oc_timeline_detail(m.t, &key, sizeof(key), &is_new);
            assert_int_equal(e.detail == OC_NONE, key >= 65536);
            e.start_ns = run * 10000.0 + call * 70;
            e.kind = OC_EV_OPERATOR;
            assert_true(oc_timeline_add(m.t, &e, 0, 0));
        }
    }
    oc_timeline_finish(m.t, &opts, &all_rules);
    oc_timeline_records(m.t, &opts, &all_rules);
    double sum_ns = 0, calls = 0;
    bool told = false;
    for (uint32_t i = 0; i < m.p->n_rec; i++)
        if (!m.p->rec[i].bucket) {
            sum_ns += m.p->rec[i].time_ns;
            calls += m.p->rec[i].calls_per_run;
        }
    for (size_t i = 0; i < m.p->diags.n; i++)
        told |= strcmp(m.p->diags.item[i].code, "W-many-shapes") == 0;
    assert_true(told);
    assert_true(m.p->n_rec <= 65536 + 2 * CALLS);
    assert_true(fabs(calls - CALLS) < 1e-6);
    assert_true(fabs(sum_ns - CALLS * 50) < 1e-3);
    check_conserved(m.p);
    oc_timeline_free(m.t);
    m.t = NULL;
    oc_profile_close(m.p);
}

/* Without marked runs only calls on the host have a position; the kernel came first and has none. */
static void kernel_before_an_operator_of_its_name(void **state)
{
    (void)state;
    struct made m = make_profile();
    add(&m, OC_EV_KERNEL, m.stream, "conv", 0, 5);
    add(&m, OC_EV_OPERATOR, m.host, "conv", 10, 20);
    add(&m, OC_EV_OPERATOR, m.host, "conv", 40, 21);
    finish_timeline(&m, 0);
    assert_float_equal(find_record(m.p, "conv", 0)->total_ns, 20, 0);
    assert_float_equal(find_record(m.p, "conv", 1)->total_ns, 21, 0);
    oc_profile_close(m.p);
}

/* TorchInductor numbers the kernels that it generates. */
static void number_of_a_generated_kernel_is_not_part_of_its_type(void **state)
{
    static const char *const row[][2] = {{"triton_poi_fused_add_relu_7", "triton_poi_fused_add_relu"},
                                         {"triton_red_fused_mean_12", "triton_red_fused_mean"},
                                         {"triton_poi_fused_add", "triton_poi_fused_add"},
                                         {"triton_7", "triton_7"},
                                         {"triton__0d1d2", "triton__0d1d2"},
                                         {"aten::max_pool2d", "aten::max_pool2d"},
                                         {"conv_7", "conv_7"}};
    (void)state;
    struct made m = make_profile();
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
        add(&m, OC_EV_OPERATOR, m.host, row[i][0], 10.0 * (double)i, 5);
    finish_timeline(&m, 0);
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
        assert_string_equal(find_record(m.p, row[i][0], 0)->op_type, row[i][1]);
    oc_profile_close(m.p);
}

/* A step [100,200) and kernels that the host launched before the recording, [90,95), [95,105) and [105,150), before its
 * own two, [156,176) and [180,230), which it launches at `at`; later: a kernel follows that has no launch either. */
static void add_step_after_work(struct made *m, double at, bool later)
{
    add(m, OC_EV_STEP, m->host, "step", 100, 100);
    add_linked(m, OC_EV_OPERATOR, m->host, "conv", at, 30, 0, 4);
    add_linked(m, OC_EV_API, m->host, "launch", at, 2, 91, 0);
    add_linked(m, OC_EV_API, m->host, "launch", at + 2, 2, 92, 0);
    add_linked(m, OC_EV_KERNEL, m->stream, "before", 90, 5, 81, 0);
    add_linked(m, OC_EV_KERNEL, m->stream, "before", 95, 10, 82, 0);
    add_linked(m, OC_EV_KERNEL, m->stream, "before", 105, 45, 83, 0);
    add_linked(m, OC_EV_KERNEL, m->stream, "own", 156, 20, 91, 0);
    add_linked(m, OC_EV_KERNEL, m->stream, "own", 180, 50, 92, 0);
    if (later)
        add_linked(m, OC_EV_KERNEL, m->stream, "before", 232, 3, 84, 0);
}

static void work_launched_before_the_recording_is_in_no_run(void **state)
{
    (void)state;
    struct made m = make_profile();
    add_step_after_work(&m, 110, false);
    finish_timeline(&m, 0);
    assert_true(m.p->run_ns == 230 - 150);
    assert_true(find_record(m.p, "conv", 0)->kernel_ns == 70);
    assert_null(find_record(m.p, "before", 0));
    assert_true(find_record(m.p, "(outside runs)", 0)->total_kernel_ns == 60);
    assert_non_null(strstr(t_finding(m.p, "W-earlier-work"), "3 kernels and copies (60 ns) were launched"));
    assert_non_null(strstr(t_finding(m.p, "W-earlier-work"), "does not include the wait for them, 50 ns"));
    assert_null(t_finding(m.p, "W-async"));
    oc_profile_close(m.p);
}

/* Kernels without a launch also follow: the file does not show what belongs to the step. */
static void missing_launches_do_not_show_earlier_work(void **state)
{
    (void)state;
    struct made m = make_profile();
    add_step_after_work(&m, 110, true);
    finish_timeline(&m, 0);
    assert_true(m.p->run_ns == 45 + 20 + 50 + 3); /* device work that began in the step */
    assert_null(t_finding(m.p, "W-earlier-work"));
    assert_true(find_record(m.p, "before", 0)->total_kernel_ns == 45 + 3 &&
                find_record(m.p, "before", 0)->rest);
    assert_true(find_record(m.p, "(warm-up runs)", 0)->total_kernel_ns == 5 + 10);
    oc_profile_close(m.p);
}

/* The device is idle before the first launch of the step: the host did not wait for earlier work. */
static void a_step_that_does_not_wait_for_earlier_work_has_its_duration(void **state)
{
    (void)state;
    struct made m = make_profile();
    add_step_after_work(&m, 152, false);
    finish_timeline(&m, 0);
    assert_true(m.p->run_ns == 100);
    assert_true(find_record(m.p, "(outside runs)", 0)->total_kernel_ns == 60);
    assert_null(t_finding(m.p, "W-earlier-work"));
    assert_non_null(t_finding(m.p, "I-earlier-work"));
    oc_profile_close(m.p);
}

/* The host waits from 120 to 151, 1 ns longer than the earlier work, then launches its own. */
static void the_wait_of_the_host_for_earlier_work_is_not_time_of_the_step(void **state)
{
    (void)state;
    struct made m = make_profile();
    add_step_after_work(&m, 152, false);
    add(&m, OC_EV_SYNC, m.host, "synchronize", 120, 31);
    add(&m, OC_EV_SYNC, m.host, "synchronize", 190, 10);
    finish_timeline(&m, 0);
    assert_true(m.p->run_ns == 230 - 100 - 30);
    assert_non_null(strstr(t_finding(m.p, "W-earlier-work"), "does not include the wait for them, 30 ns"));
    oc_profile_close(m.p);
}

/* A step of 100 ns from `at` on: conv, whose launch is a kernel of 20 ns or, in a capture, recorded in a graph. */
static void add_step_of_conv(struct made *m, double at, const char *before, const char *after, bool executed)
{
    add(m, OC_EV_STEP, m->host, "step", at, 100);
    add(m, OC_EV_API, m->host, before, at + 5, 2);
    add_linked(m, OC_EV_OPERATOR, m->host, "conv", at + 10, 30, 0, 0);
    add_linked(m, OC_EV_API, m->host, "launch", at + 12, 2, (uint64_t)at + 1, 0);
    add(m, OC_EV_API, m->host, after, at + 50, 2);
    if (executed)
        add_linked(m, OC_EV_KERNEL, m->stream, "k", at + 20, 20, (uint64_t)at + 1, 0);
}

static void a_step_that_captures_a_graph_is_not_a_run(void **state)
{
    (void)state;
    struct made m = make_profile();
    add_step_of_conv(&m, 0, "cudaStreamBeginCapture", "cudaStreamEndCapture", false);
    add_step_of_conv(&m, 200, "cudaStreamIsCapturing", "cudaStreamGetCaptureInfo_v2", true);
    finish_timeline(&m, 0);
    assert_int_equal(m.p->runs_total, 1);
    assert_true(m.p->run_ns == 100 && find_record(m.p, "conv", 0)->kernel_ns == 20);
    assert_false(find_record(m.p, "conv", 0)->is_launch);
    assert_non_null(strstr(t_finding(m.p, "W-capture"), "1 graph was captured: 1 operators"));
    oc_profile_close(m.p);
}

static void captured_operators_have_no_device_time(void **state)
{
    (void)state;
    struct made m = make_profile();
    add_step_of_conv(&m, 0, "hipStreamBeginCapture", "hipStreamEndCapture", false);
    add(&m, OC_EV_KERNEL, m.stream, "fill", 90, 5);
    add(&m, OC_EV_OPERATOR, m.host, "relu", 60, 20); /* after the capture: launches nothing */
    finish_timeline(&m, 0);
    assert_int_equal(m.p->runs_total, 0);
    assert_true(isnan(m.p->run_ns) && m.p->n_device == 1);
    assert_true(find_record(m.p, "conv", 0)->is_launch && !find_record(m.p, "relu", 0)->is_launch);
    oc_profile_close(m.p);
}

static void empty_timeline_has_no_records(void **state)
{
    (void)state;
    struct made m = make_profile();
    finish_timeline(&m, 3);
    assert_int_equal(m.p->n_rec, 0);
    oc_profile_close(m.p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nests_and_counts_self_time),
        cmocka_unit_test(overlap_counts_once),
        cmocka_unit_test(links_device_work_to_operators),
        cmocka_unit_test(events_are_sorted_from_any_order),
        cmocka_unit_test(statistics_over_steps),
        cmocka_unit_test(work_launched_before_the_recording_is_in_no_run),
        cmocka_unit_test(missing_launches_do_not_show_earlier_work),
        cmocka_unit_test(the_wait_of_the_host_for_earlier_work_is_not_time_of_the_step),
        cmocka_unit_test(a_step_that_does_not_wait_for_earlier_work_has_its_duration),
        cmocka_unit_test(a_step_that_captures_a_graph_is_not_a_run),
        cmocka_unit_test(captured_operators_have_no_device_time),
        cmocka_unit_test(finds_iterations),
        cmocka_unit_test(layers_of_a_step_of_an_engine_are_not_runs),
        cmocka_unit_test(an_optimizer_ends_steps),
        cmocka_unit_test(rate_of_unmarked_runs_counts_long_pauses),
        cmocka_unit_test(work_of_training_is_known_by_its_name),
        cmocka_unit_test(device_without_a_host_has_queues),
        cmocka_unit_test(devices_that_execute_one_program_show_its_runs),
        cmocka_unit_test(devices_are_compared_up_to_a_number),
        cmocka_unit_test(devices_with_passes_that_cross_show_no_runs),
        cmocka_unit_test(host_of_a_run_encloses_its_launches),
        cmocka_unit_test(products_of_the_model_count_its_runs),
        cmocka_unit_test(equal_layers_are_not_runs),
        cmocka_unit_test(crossing_events_take_linear_time),
        cmocka_unit_test(kernel_before_an_operator_of_its_name),
        cmocka_unit_test(number_of_a_generated_kernel_is_not_part_of_its_type),
        cmocka_unit_test(empty_timeline_has_no_records),
        cmocka_unit_test(shapes_that_change_in_every_run_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
