#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "fleet/worker_pool.h"

enum { N = 300 };

struct seen {
    size_t next, lost, n_bytes;
    int number[N];
    enum oc_worker_pool_end end[N];
    uint64_t value[N];
    volatile int stop;
    size_t stop_at;
};

/* A square; every 50th worker process is killed, the 7th item exits. */
static void square(void *arg, size_t index, void *result, struct oc_buf *bytes)
{
    (void)arg;
    (void)bytes;
    if (index % 50 == 49)
        raise(SIGKILL);
    if (index == 7)
        _exit(3);
    uint64_t v = index * index;
    memcpy(result, &v, sizeof(v));
}

static void only_work(void *arg, size_t index, void *result, struct oc_buf *bytes)
{
    uint64_t v = index + 1;
    (void)arg;
    (void)bytes;
    memcpy(result, &v, sizeof(v));
}

static void flush_and_exit(void *arg, size_t index, void *result, struct oc_buf *bytes)
{
    (void)arg;
    (void)index;
    (void)result;
    (void)bytes;
    fflush(NULL);
    _exit(3);
}

static void lost(void *arg, size_t index, enum oc_worker_pool_end end, int number, void *result)
{
    struct seen *s = arg;
    uint64_t v = 111111;
    s->lost++;
    s->end[index] = end;
    s->number[index] = number;
    memcpy(result, &v, sizeof(v));
}

static int done(void *arg, size_t index, void *result, const char *bytes, size_t n_bytes, struct oc_err *err)
{
    struct seen *s = arg;
    (void)bytes;
    (void)n_bytes;
    (void)err;
    assert_int_equal(index, s->next);
    s->next++;
    if (index < N)
        memcpy(&s->value[index], result, sizeof(s->value[index]));
    if (s->stop_at && s->next == s->stop_at)
        s->stop = 1;
    return 0;
}

static void crash_costs_one_item(void **state)
{
    struct oc_err err;
    (void)state;
    for (unsigned jobs = 1; jobs <= 5; jobs += 2) {
        struct seen s = {0};
        const struct oc_worker_pool pool = {.jobs = jobs,
                                            .n = N,
                                            .result_bytes = sizeof(uint64_t),
                                            .arg = &s,
                                            .work = square,
                                            .lost = lost,
                                            .done = done};
        assert_int_equal(oc_worker_pool_run(&pool, &err), 0);
        assert_int_equal(s.next, N);
        assert_int_equal(s.lost, N / 50 + 1);
        for (size_t i = 0; i < N; i++) {
            bool gone = i % 50 == 49 || i == 7;
            assert_int_equal(s.value[i], gone ? 111111 : i * i);
            if (i == 7) {
                assert_int_equal(s.end[i], OC_WORKER_POOL_EXIT);
                assert_int_equal(s.number[i], 3);
            } else if (gone) {
                assert_int_equal(s.end[i], OC_WORKER_POOL_SIGNAL);
                assert_int_equal(s.number[i], SIGKILL);
            }
        }
    }
}

static void no_memory(void *arg, size_t index, void *result, struct oc_buf *bytes)
{
    if (index == 2)
        oc_out_of_memory(12345);
    only_work(arg, index, result, bytes);
}

static void buffered_output_is_written_once(void **state)
{
    struct oc_err err;
    struct seen s = {0};
    FILE *f = tmpfile();
    (void)state;
    assert_non_null(f);
    fputs("rows: ", f);
    const struct oc_worker_pool pool = {.jobs = 2,
                                        .n = 4,
                                        .result_bytes = sizeof(uint64_t),
                                        .arg = &s,
                                        .work = flush_and_exit,
                                        .lost = lost,
                                        .done = done};
    assert_int_equal(oc_worker_pool_run(&pool, &err), 0);
    assert_int_equal(s.lost, 4);
    assert_int_equal(fseek(f, 0, SEEK_END), 0);
    assert_int_equal(ftell(f), strlen("rows: "));
    fclose(f);
}

static void out_of_memory_is_reported(void **state)
{
    struct oc_err err;
    struct seen s = {0};
    const struct oc_worker_pool pool = {.jobs = 2,
                                        .n = 4,
                                        .result_bytes = sizeof(uint64_t),
                                        .arg = &s,
                                        .work = no_memory,
                                        .lost = lost,
                                        .done = done};
    (void)state;
    assert_int_equal(oc_worker_pool_run(&pool, &err), 0);
    assert_int_equal(s.next, 4);
    assert_int_equal(s.lost, 1);
    assert_int_equal(s.end[2], OC_WORKER_POOL_NO_MEMORY);
    assert_int_equal(s.value[3], 4);
}

static void stop_finishes_started_items(void **state)
{
    struct oc_err err;
    struct seen s = {.stop_at = 20};
    const struct oc_worker_pool pool = {.jobs = 2,
                                        .n = 50000,
                                        .result_bytes = sizeof(uint64_t),
                                        .arg = &s,
                                        .stop = &s.stop,
                                        .work = only_work,
                                        .lost = lost,
                                        .done = done};
    (void)state;
    assert_int_equal(oc_worker_pool_run(&pool, &err), 0);
    assert_in_range(s.next, 20, 20 + 4096 + 2 * 4); /* the pending items, and four items per process */
    for (size_t i = 0; i < s.next && i < N; i++)
        assert_int_equal(s.value[i], i + 1);
}

static int refuse(void *arg, size_t index, void *result, const char *bytes, size_t n_bytes,
                  struct oc_err *err)
{
    (void)result;
    (void)bytes;
    (void)n_bytes;
    ((struct seen *)arg)->next++;
    return index == 5 ? oc_fail(err, OC_EOUTPUT, "full") : 0;
}

static void error_of_the_callback_ends_the_run(void **state)
{
    struct oc_err err = {0};
    struct seen s = {0};
    const struct oc_worker_pool pool = {.jobs = 3,
                                        .n = N,
                                        .result_bytes = sizeof(uint64_t),
                                        .arg = &s,
                                        .work = only_work,
                                        .lost = lost,
                                        .done = refuse};
    (void)state;
    assert_int_equal(oc_worker_pool_run(&pool, &err), -1);
    assert_string_equal(err.msg, "full");
    assert_int_equal(s.next, 6);
}

/* The first job has the most bytes and takes the longest, so that all others wait for it; one is lost after
 * it sent a part of its bytes. */
enum { LOST = 5, MANY_BYTES = 300000 };

static size_t bytes_of(size_t index)
{
    return index ? index * 37 % 9000 : MANY_BYTES;
}

static void work_bytes(void *arg, size_t index, void *result, struct oc_buf *bytes)
{
    only_work(arg, index, result, bytes);
    if (index == LOST)
        raise(SIGKILL);
    if (!index)
        usleep(50000);
    for (size_t i = 0; i < bytes_of(index); i++)
        oc_buf_char(bytes, (char)(index + i));
}

static int check_bytes(void *arg, size_t index, void *result, const char *bytes, size_t n_bytes,
                       struct oc_err *err)
{
    struct seen *s = arg;
    assert_int_equal(n_bytes, index == LOST ? 0 : bytes_of(index));
    for (size_t i = 0; i < n_bytes; i++)
        if (bytes[i] != (char)(index + i))
            fail_msg("byte %zu of job %zu", i, index);
    s->n_bytes += n_bytes;
    return done(arg, index, result, bytes, n_bytes, err);
}

static void bytes_arrive_with_their_result(void **state)
{
    struct oc_err err;
    struct seen s = {0};
    size_t all = 0;
    const struct oc_worker_pool pool = {.jobs = 3,
                                        .n = N,
                                        .result_bytes = sizeof(uint64_t),
                                        .arg = &s,
                                        .work = work_bytes,
                                        .lost = lost,
                                        .done = check_bytes};
    (void)state;
    assert_int_equal(oc_worker_pool_run(&pool, &err), 0);
    for (size_t i = 0; i < N; i++)
        all += i == LOST ? 0 : bytes_of(i);
    assert_int_equal(s.next, N);
    assert_int_equal(s.n_bytes, all);
}

/* AddressSanitizer; clang defines no macro of that name. */
#ifdef __SANITIZE_ADDRESS__
#define KEEPS_FREED_MEMORY
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KEEPS_FREED_MEMORY
#endif
#endif

/* Far more than may wait: jobs stop until the first one is done. */
static void work_much(void *arg, size_t index, void *result, struct oc_buf *bytes)
{
    only_work(arg, index, result, bytes);
    if (!index)
        usleep(100000);
    else
        oc_buf_pad(bytes, 'x', 8 << 20);
}

static int count_bytes(void *arg, size_t index, void *result, const char *bytes, size_t n_bytes,
                       struct oc_err *err)
{
    ((struct seen *)arg)->n_bytes += n_bytes;
    return done(arg, index, result, bytes, n_bytes, err);
}

static void bytes_that_wait_are_bounded(void **state)
{
    struct oc_err err;
    struct seen s = {0};
    const struct oc_worker_pool pool = {.jobs = 3,
                                        .n = 30,
                                        .result_bytes = sizeof(uint64_t),
                                        .arg = &s,
                                        .work = work_much,
                                        .lost = lost,
                                        .done = count_bytes};
    (void)state;
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    assert_int_equal(oc_worker_pool_run(&pool, &err), 0);
    getrusage(RUSAGE_SELF, &after);
    assert_int_equal(s.next, 30);
    assert_int_equal(s.n_bytes, 29 * (8 << 20));
    /* 64 MiB, jobs begun before, and the growth of buffers; all results are 232 MiB */
#ifndef KEEPS_FREED_MEMORY
    assert_in_range(after.ru_maxrss - before.ru_maxrss, 0, 200 << 10);
#endif
}

static void work_after_a_slow_first_job(void *arg, size_t index, void *result, struct oc_buf *bytes)
{
    if (!index)
        usleep(900000);
    work_much(arg, index, result, bytes);
}

/* Large results of one worker fill the window while the first job runs: when it ends, no worker has a job. */
static void work_goes_on_after_a_full_window(void **state)
{
    struct oc_err err;
    struct seen s = {0};
    const struct oc_worker_pool pool = {.jobs = 2,
                                        .n = 40,
                                        .result_bytes = sizeof(uint64_t),
                                        .arg = &s,
                                        .work = work_after_a_slow_first_job,
                                        .lost = lost,
                                        .done = count_bytes};
    (void)state;
    assert_int_equal(oc_worker_pool_run(&pool, &err), 0);
    assert_int_equal(s.next, 40);
    assert_int_equal(s.n_bytes, 39 * (8 << 20));
}

static void empty_list_is_accepted(void **state)
{
    struct oc_err err;
    struct seen s = {0};
    const struct oc_worker_pool pool = {
        .jobs = 2, .result_bytes = 8, .arg = &s, .work = only_work, .lost = lost, .done = done};
    (void)state;
    assert_int_equal(oc_worker_pool_run(&pool, &err), 0);
    assert_int_equal(s.next, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(crash_costs_one_item),
                                       cmocka_unit_test(buffered_output_is_written_once),
                                       cmocka_unit_test(out_of_memory_is_reported),
                                       cmocka_unit_test(stop_finishes_started_items),
                                       cmocka_unit_test(error_of_the_callback_ends_the_run),
                                       cmocka_unit_test(bytes_arrive_with_their_result),
                                       cmocka_unit_test(bytes_that_wait_are_bounded),
                                       cmocka_unit_test(work_goes_on_after_a_full_window),
                                       cmocka_unit_test(empty_list_is_accepted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
