/* Summaries of a small timeline, written down by hand:
 *
 *   ns       0    10   20   30   40   50   60   70   80   90   100  110  120  130  140  150
 *   thread   |step 0 ---------------------------------------|   |step 1 ----------------|
 *            load(0-10)
 *                 forward (10-60) .......................        forward (110-140)
 *                 conv(12-30)  conv (32-50)                      conv (112-136)
 *                  inner(14-20) launch(34-36)                     launch (114-116)
 *                    launch (15-17)
 *   stream 1          k (20-45) k (50-60)                            k (120-150)
 *   stream 2             copy (40-55, 150 B)
 */
#include "profile/time_summary.h"
#include "onnxcost/profile.h"

#include <math.h>
#include <string.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

enum { STEP, LOAD, FORWARD, CONV, INNER, LAUNCH, KERNEL, COPY, NAMES };
static const char *names[NAMES] = {"step",    "load",   "forward",     "Conv",
                                   "compute", "launch", "sgemm_32x32", "copy"};
enum { THREAD, STREAM1, STREAM2 };

#define NONE OC_NONE
static struct oc_event events[] = {
    /* start, dur, self, name, parent, link, detail, run, lane, kind, flags */
    {0, 100, 0, STEP, NONE, NONE, NONE, 0, THREAD, OC_EV_STEP, 0},              /* 0 */
    {0, 10, 0, LOAD, 0, NONE, NONE, 0, THREAD, OC_EV_DATALOADER, 0},            /* 1 */
    {10, 50, 0, FORWARD, 0, NONE, NONE, 0, THREAD, OC_EV_FORWARD, 0},           /* 2 */
    {12, 18, 0, CONV, 2, 3, NONE, 0, THREAD, OC_EV_OPERATOR, OC_EVF_RECORD},    /* 3 */
    {14, 6, 0, INNER, 3, 3, NONE, 0, THREAD, OC_EV_INNER, 0},                   /* 4 */
    {15, 2, 0, LAUNCH, 4, 3, NONE, 0, THREAD, OC_EV_API, 0},                    /* 5 */
    {20, 25, 0, KERNEL, NONE, 5, NONE, 0, STREAM1, OC_EV_KERNEL, 0},            /* 6 */
    {32, 18, 0, CONV, 2, 7, NONE, 0, THREAD, OC_EV_OPERATOR, OC_EVF_RECORD},    /* 7 */
    {34, 2, 0, LAUNCH, 7, 7, NONE, 0, THREAD, OC_EV_API, 0},                    /* 8 */
    {40, 15, 0, COPY, NONE, 8, 0, 0, STREAM2, OC_EV_MEMCPY, 0},                 /* 9 */
    {50, 10, 0, KERNEL, NONE, 8, NONE, 0, STREAM1, OC_EV_KERNEL, 0},            /* 10 */
    {105, 45, 0, STEP, NONE, NONE, NONE, 1, THREAD, OC_EV_STEP, 0},             /* 11 */
    {110, 30, 0, FORWARD, 11, NONE, NONE, 1, THREAD, OC_EV_FORWARD, 0},         /* 12 */
    {112, 24, 0, CONV, 12, 13, NONE, 1, THREAD, OC_EV_OPERATOR, OC_EVF_RECORD}, /* 13 */
    {114, 2, 0, LAUNCH, 13, 13, NONE, 1, THREAD, OC_EV_API, 0},                 /* 14 */
    {120, 30, 0, KERNEL, NONE, 14, NONE, 1, STREAM1, OC_EV_KERNEL, 0},          /* 15 */
};
static struct oc_event_detail detail[] = {{.bytes = 150}};
static struct oc_interval run[] = {{0, 100}, {105, 150}};
static struct oc_lane lane[] = {{.name = "", .id = 7, .device_id = OC_NO_ID, .process = 1},
                                {.name = "", .device = true, .device_id = 0, .id = 1, .process = OC_NO_ID},
                                {.name = "", .device = true, .device_id = 0, .id = 2, .process = OC_NO_ID}};

static struct oc_timeline timeline = {.event = events,
                                      .n_event = OC_COUNT(events),
                                      .name = names,
                                      .n_name = NAMES,
                                      .detail = detail,
                                      .n_detail = 1,
                                      .run = run,
                                      .n_run = 2};
static struct oc_profile profile = {
    .path = "", .format = "", .lane = lane, .n_lane = 3, .timeline = &timeline};

static struct oc_time_summary *summary(uint32_t first_run, const struct oc_sum_table_opts *o)
{
    timeline.first_used_run = first_run;
    return oc_time_summary_make(&profile, o);
}

static void check_times(const struct oc_times *t, uint64_t calls, double total, double min, double max)
{
    assert_int_equal(t->calls, calls);
    assert_true(t->total_ns == total);
    assert_true(t->min_ns == min);
    assert_true(t->max_ns == max);
}

static void totals_and_run_statistics(void **state)
{
    (void)state;
    struct oc_time_summary *s = summary(0, NULL);
    assert_true(s->total_ns == 145); /* 100 + 45: the gap between the steps belongs to no step */
    assert_int_equal(s->run.n, 2);
    assert_true(s->run.median == 72.5);
    assert_true(s->run.stddev == 27.5);   /* both are 27.5 from the mean */
    assert_true(s->device_run.max == 50); /* 25 + 15 + 10 */
    assert_int_equal(s->slowest_run, 0);
    assert_true(s->reader_cost.mean == 5); /* 10 and 0 */
    oc_time_summary_free(s);
    s = summary(1, NULL);
    assert_true(s->total_ns == 45);
    assert_int_equal(s->runs_dropped, 1);
    check_times(&s->operators.item[0].host, 1, 24, 24, 24);
    oc_time_summary_free(s);
}

static const struct oc_sum_kind *kind_of(const struct oc_sum_kind *k, uint32_t n, unsigned kind)
{
    for (uint32_t i = 0; i < n; i++)
        if (k[i].kind == kind)
            return &k[i];
    return NULL;
}

static void overview_sums_by_event_kind(void **state)
{
    (void)state;
    struct oc_time_summary *s = summary(0, NULL);
    assert_true(kind_of(s->host, s->n_host, OC_EV_OPERATOR)->union_ns == 18 + 18 + 24);
    assert_true(kind_of(s->device, s->n_device, OC_EV_KERNEL)->union_ns == 25 + 10 + 30);
    assert_int_equal(kind_of(s->host, s->n_host, OC_EV_API)->calls, 3);
    assert_int_equal(s->host[0].kind, OC_EV_STEP); /* longest first */
    oc_time_summary_free(s);
}

static void lanes_have_busy_time_and_utilization(void **state)
{
    (void)state;
    struct oc_time_summary *s = summary(0, NULL);
    assert_int_equal(s->n_lane, 4);
    /* device 0: 20-45 and 40-60 overlap, 120-150 */
    assert_int_equal(s->lane[0].lane, OC_NONE);
    assert_true(s->lane[0].busy_ns == 40 + 30);
    assert_true(s->lane[0].kernel_ns == 65);
    assert_true(s->lane[0].idle_ns == 145 - 70);
    assert_true(s->lane[0].longest_gap_ns == 60); /* 60-120 */
    /* the thread: steps and phases are not counted as busy; 0-10, 12-30, 32-50, 112-136 */
    assert_true(s->lane[1].busy_ns == 10 + 18 + 18 + 24);
    assert_true(s->lane[1].longest_gap_ns == 62); /* 50-112 */
    oc_time_summary_free(s);
}

/* The last kernel is between the steps, or in none of them: the utilization in the runs leaves it out. */
static void kernels_outside_of_runs_are_shown_apart(void **state)
{
    (void)state;
    struct oc_event *last = &events[OC_COUNT(events) - 1];
    last->run = OC_NONE;
    struct oc_time_summary *s = summary(0, NULL);
    assert_true(s->lane[0].kernel_ns == 35);
    assert_true(s->lane[0].recording_kernel_ns == 65);
    last->run = 1;
    oc_time_summary_free(s);
    s = summary(0, NULL);
    assert_true(s->lane[0].kernel_ns == 65 && s->lane[0].recording_kernel_ns == 65);
    oc_time_summary_free(s);
}

static void model_phases_have_host_and_device_times(void **state)
{
    (void)state;
    struct oc_time_summary *s = summary(0, NULL);
    assert_int_equal(s->model.n, 3);
    assert_string_equal(s->model.item[0].name, oc_event_kind_name(OC_EV_DATALOADER));
    check_times(&s->model.item[1].host, 2, 80, 30, 50);
    check_times(&s->model.item[1].device, 2, 80, 30, 50); /* 25 + 15 + 10; 30: all inside forward */
    assert_true(s->model.item[2].host.total_ns == 145 - 90);
    assert_true(s->model.item[2].device.total_ns == 0);
    oc_time_summary_free(s);
}

static void operators_have_nested_parts(void **state)
{
    (void)state;
    struct oc_sum_table_opts o = {.op_detail = true};
    struct oc_time_summary *s = summary(0, &o);
    const struct oc_sum_item *item = s->operators.item;
    assert_int_equal(s->operators.n, 5);
    check_times(&item[0].host, 3, 60, 18, 24);
    check_times(&item[0].device, 3, 80, 25, 30);
    check_times(&item[0].both, 3, 140, 43, 54); /* 18+25, 18+25, 24+30 */
    assert_string_equal(item[1].name, "compute");
    check_times(&item[1].device, 1, 25, 25, 25);
    assert_string_equal(item[2].name, "sgemm_32x32"); /* launched by the part */
    assert_int_equal(item[2].depth, 2);
    check_times(&item[2].device, 1, 25, 25, 25);
    assert_int_equal(item[3].depth, 1); /* launched by the operator itself */
    check_times(&item[4].device, 2, 40, 10, 30);
    assert_string_equal(item[3].name, "copy");
    oc_time_summary_free(s);
}

static void kernels_have_times_and_precision(void **state)
{
    (void)state;
    struct oc_time_summary *s = summary(0, NULL);
    assert_int_equal(s->kernels.n, 1);
    check_times(&s->kernels.item[0].device, 3, 65, 10, 30);
    assert_string_equal(s->kernels.item[0].precision, "f32");
    assert_int_equal(s->copies.n, 1);
    assert_int_equal(s->copies.item[0].bytes, 150);
    assert_int_equal(s->operators.n, 1); /* details were not requested */
    oc_time_summary_free(s);
}

static void search_filters_operators(void **state)
{
    (void)state;
    struct oc_sum_table_opts o = {.search = "CONV"}, none = {.search = "pool"};
    struct oc_time_summary *s = summary(0, &o);
    assert_int_equal(s->operators.n, 1);
    oc_time_summary_free(s);
    s = summary(0, &none);
    assert_int_equal(s->operators.n + s->kernels.n, 0);
    oc_time_summary_free(s);
}

static void sort_keys_are_known(void **state)
{
    (void)state;
    assert_int_equal(oc_summary_sort_check("cputotal", NULL), 0);
    assert_int_equal(oc_summary_sort_check("GPUMin", NULL), 0);
    assert_int_equal(oc_summary_sort_check("Time", NULL), 0);
    assert_int_equal(oc_summary_sort_check("CPU", NULL), -1);
    assert_int_equal(oc_summary_sort_check(NULL, NULL), -1);
}

/* An operator that reduces or broadcasts along axes does not communicate. */
static void communication_is_what_collective_libraries_do(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool collective;
    } of[] = {{"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", true},
              {"void rcclKernel(int)", true},
              {"c_allreduce_sum", true},
              {"_c10d_functional::all_gather_into_tensor", true},
              {"gloo:all_reduce", true},
              {"all-reduce.7", true},
              {"ReduceMean", false},
              {"aten::broadcast_tensors", false},
              {"reduce_sum", false},
              {"generic_reduce_kernel", false},
              {"func_concat", false},
              {"overall_reduce", false},
              {"void cub::DeviceReduceKernel<float>", false}};
    for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
        for (unsigned kind = 0; kind < 2; kind++) {
            struct oc_profile p = {.path = "", .format = "", .time_kind = "host time"};
            struct oc_lane place = {.name = "", .device = kind, .device_id = OC_NO_ID, .process = 1, .id = 1};
            p.names.arena = p.diags.arena = &p.arena;
            struct oc_timeline *t = oc_timeline_new(&p);
            struct oc_event e = {.dur_ns = 10,
                                 .name = oc_timeline_name(t, of[i].name, strlen(of[i].name)),
                                 .detail = OC_NONE,
                                 .kind = kind ? OC_EV_KERNEL : OC_EV_OPERATOR,
                                 .lane = oc_timeline_lane(t, &place)};
            oc_timeline_add(t, &e, 0, 0);
            const struct oc_profile_opts opts = {.keep_events = true};
            oc_timeline_finish(t, &opts, &(struct oc_timeline_rules){0});
            oc_timeline_keep(t, &opts);
            struct oc_time_summary *s = oc_time_summary_make(&p, NULL);
            if (isnan(s->communication_ns) == of[i].collective)
                fail_msg("%s", of[i].name);
            oc_time_summary_free(s);
            oc_timeline_free(p.timeline);
            oc_diags_free(&p.diags);
            oc_map_free(&p.names);
            oc_arena_free(&p.arena);
        }
    }
}

static void empty_profile_has_unknown_totals(void **state)
{
    (void)state;
    struct oc_profile empty = {.path = "", .format = ""};
    struct oc_time_summary *s = oc_time_summary_make(&empty, NULL);
    assert_false(s->has_events);
    assert_true(isnan(s->total_ns));
    assert_int_equal(s->run.n, 0);
    oc_time_summary_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(totals_and_run_statistics),
        cmocka_unit_test(overview_sums_by_event_kind),
        cmocka_unit_test(lanes_have_busy_time_and_utilization),
        cmocka_unit_test(kernels_outside_of_runs_are_shown_apart),
        cmocka_unit_test(model_phases_have_host_and_device_times),
        cmocka_unit_test(operators_have_nested_parts),
        cmocka_unit_test(kernels_have_times_and_precision),
        cmocka_unit_test(search_filters_operators),
        cmocka_unit_test(sort_keys_are_known),
        cmocka_unit_test(communication_is_what_collective_libraries_do),
        cmocka_unit_test(empty_profile_has_unknown_totals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
