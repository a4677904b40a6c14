#include "measure/measure.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>

#include <cmocka.h>

#include "base/os.h"

static struct oc_team *make_team(unsigned threads)
{
    struct oc_team *t;
    struct oc_err err;
    if (oc_team_make(threads, &t, &err))
        fail_msg("%s", err.msg);
    return t;
}

static void count_in(void *user, unsigned index)
{
    atomic_fetch_add(&((atomic_uint *)user)[index], 1);
}

/* Sleeping, awake, and changing between the two: every thread runs once per region, and all have finished
 * when it ends. */
static void every_thread_runs_once_per_region(void **state)
{
    unsigned threads = oc_os_processors() > 1 ? 2 : 1;
    struct oc_team *t = make_team(threads);
    atomic_uint count[2] = {0};
    (void)state;
    for (unsigned i = 0; i < 300; i++) {
        if (i % 50 == 0)
            oc_team_awake(t, i % 100 == 0);
        oc_team_run(t, threads, count_in, count);
        for (unsigned k = 0; k < threads; k++)
            assert_int_equal(atomic_load(&count[k]), i + 1);
    }
    oc_team_run(t, 1, count_in, count); /* the caller alone */
    assert_int_equal(atomic_load(&count[0]), 301);
    assert_int_equal(atomic_load(&count[1]), threads > 1 ? 300 : 0);
    oc_team_free(t);
    oc_team_free(NULL);
}

/* A round takes 10 us: the rate is at most 100,000 per second because the clock is monotonic. Load by other
 * processes lowers it. */
static void ten_microseconds(const struct oc_task *task, unsigned index, uint64_t rounds)
{
    (void)task, (void)index;
    for (double end = oc_seconds() + 1e-5 * (double)rounds; oc_seconds() < end;)
        ;
}

static void rates_are_work_divided_by_time(void **state)
{
    struct oc_team *t = make_team(1);
    const struct oc_task task = {ten_microseconds, NULL, 3};
    const struct oc_effort effort = {0.0005, 0.005, 0.02};
    (void)state;
    struct oc_rate r = oc_rate_of(t, 1, &task, &effort);
    assert_true(r.best <= 300000 * 1.0001);
    assert_true(r.best > 30000);
    assert_true(r.median > 0 && r.median <= r.best && r.late > 0 && r.late <= r.best);
    assert_true(r.samples >= 3);
    oc_team_free(t);
}

static void timer_has_a_plausible_resolution(void **state)
{
    struct oc_timer t = oc_timer_of();
    (void)state;
    assert_true(t.step_s > 0 && t.step_s < 0.01);
    assert_true(t.read_s > 0 && t.read_s < 0.01);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_thread_runs_once_per_region),
        cmocka_unit_test(rates_are_work_divided_by_time),
        cmocka_unit_test(timer_has_a_plausible_resolution),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
