#include "measure/rates.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>

#include <cmocka.h>

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

/* Asleep, awake, and changing between: every thread works once a region, and all are done when it ends. */
static void regions_are_whole(void **state)
{
    unsigned threads = oc_team_processors() > 1 ? 2 : 1;
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

/* A round that takes 10 us: the rate is not above 100,000 a second, for the clock only moves forward. Above,
 * others at work make it less. */
static void ten_microseconds(const struct oc_task *task, unsigned index, uint64_t rounds)
{
    (void)task, (void)index;
    for (double end = oc_seconds() + 1e-5 * (double)rounds; oc_seconds() < end;)
        ;
}

static void rates_are_work_by_time(void **state)
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

static void the_timer_moves(void **state)
{
    struct oc_timer t = oc_timer_of();
    (void)state;
    assert_true(t.step_s > 0 && t.step_s < 0.01);
    assert_true(t.read_s > 0 && t.read_s < 0.01);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(regions_are_whole),
        cmocka_unit_test(rates_are_work_by_time),
        cmocka_unit_test(the_timer_moves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
