/* What limits the clock of the processors, and which ones a process keeps to: files of Linux, imitated in a folder. */
#include "run/record_files.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[64];

static void put(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    for (char *slash = path + strlen(folder) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof(folder), "/tmp/onnxcost-cpu-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof(command), "rm -rf %s", folder);
    return system(command);
}

static void nothing_is_known_without_files(void **state)
{
    (void)state;
    char text[96] = "x";
    oc_clock_limits(folder, text, sizeof(text));
    assert_string_equal(text, "");
    assert_true(oc_times_throttled(folder) == 0);
}

static void limits_are_named(void **state)
{
    (void)state;
    char text[96];
    put("cpu0/cpufreq/scaling_max_freq", "2000000\n");
    put("cpu0/cpufreq/cpuinfo_max_freq", "3500000\n");
    put("cpu0/cpufreq/scaling_governor", "powersave\n");
    put("cpufreq/boost", "0\n");
    oc_clock_limits(folder, text, sizeof(text));
    assert_string_equal(text, "clock limited to 2.00 of 3.50 GHz; governor powersave; turbo is off");
}

static void what_is_not_limited_is_not_named(void **state)
{
    (void)state;
    char text[96] = "x";
    put("cpu0/cpufreq/scaling_max_freq", "3500000\n");
    put("cpu0/cpufreq/cpuinfo_max_freq", "3500000\n");
    put("cpu0/cpufreq/scaling_governor", "performance\n");
    put("intel_pstate/no_turbo", "0\n");
    oc_clock_limits(folder, text, sizeof(text));
    assert_string_equal(text, "");
    put("intel_pstate/no_turbo", "1\n");
    oc_clock_limits(folder, text, sizeof(text));
    assert_string_equal(text, "turbo is off");
}

static void throttling_is_summed(void **state)
{
    (void)state;
    put("cpu0/thermal_throttle/core_throttle_count", "3\n");
    put("cpu7/thermal_throttle/core_throttle_count", "4\n");
    put("cpu8/thermal_throttle/core_throttle_count", "words\n");
    assert_true(oc_times_throttled(folder) == 7);
}

static void long_words_are_cut(void **state)
{
    (void)state;
    char text[96];
    put("cpu0/cpufreq/scaling_max_freq", "1\n");
    put("cpu0/cpufreq/cpuinfo_max_freq", "9000000\n");
    put("cpu0/cpufreq/scaling_governor", "a_governor_whose_name_is_very_long_and_goes_on_and_on\n");
    oc_clock_limits(folder, text, sizeof(text));
    assert_true(strlen(text) < sizeof(text));
    assert_non_null(strstr(text, "governor a_governor_whose_nam"));
}

#ifdef __linux__

/* The first two processors that this process may use; false: it has one. */
static bool two_processors(const cpu_set_t *may, int at[2])
{
    int n = 0;
    for (int i = 0; i < CPU_SETSIZE && n < 2; i++)
        if (CPU_ISSET((size_t)i, may))
            at[n++] = i;
    return n == 2;
}

static void put_of_processor(int at, const char *name, const char *text)
{
    char file[96];
    snprintf(file, sizeof(file), "cpu%d/%s", at, name);
    put(file, text);
}

/* The processor that one thread is kept to, of two. */
static int kept_of(const cpu_set_t *two)
{
    struct oc_processors p;
    cpu_set_t now;
    sched_setaffinity(0, sizeof(*two), two);
    oc_keep_processors(folder, 1, &p);
    assert_int_equal(p.n, 1);
    assert_false(p.all);
    assert_int_equal(sched_getaffinity(0, sizeof(now), &now), 0);
    assert_int_equal(CPU_COUNT(&now), 1);
    assert_true(CPU_ISSET((size_t)p.at[0], &now));
    sched_setaffinity(0, sizeof(*two), two);
    return p.at[0];
}

static void a_process_keeps_to_the_fastest_processors(void **state)
{
    (void)state;
    cpu_set_t may, two;
    int at[2];
    struct oc_processors p;
    if (sched_getaffinity(0, sizeof(may), &may) || !two_processors(&may, at))
        skip();
    CPU_ZERO(&two);
    CPU_SET((size_t)at[0], &two);
    CPU_SET((size_t)at[1], &two);
    assert_int_equal(kept_of(&two), at[1]); /* equal ones: not the first, which serves interrupts */
    put_of_processor(at[0], "cpufreq/cpuinfo_max_freq", "3500000\n");
    put_of_processor(at[1], "cpufreq/cpuinfo_max_freq", "2000000\n");
    assert_int_equal(kept_of(&two), at[0]);
    put_of_processor(at[0], "cpu_capacity", "446\n");
    put_of_processor(at[1], "cpu_capacity", "1024\n");
    assert_int_equal(kept_of(&two), at[1]);
    oc_keep_processors(folder, 2, &p);
    assert_true(p.all && p.n == 2 && p.at[0] == at[1] && p.at[1] == at[0]);
    oc_keep_processors(folder, 0, &p);
    assert_true(p.all && p.n == 2);
    sched_setaffinity(0, sizeof(may), &may);
}

static void one_of_each_core_comes_first(void **state)
{
    (void)state;
    cpu_set_t may, two;
    int at[2];
    char siblings[16];
    if (sched_getaffinity(0, sizeof(may), &may) || !two_processors(&may, at))
        skip();
    CPU_ZERO(&two);
    CPU_SET((size_t)at[0], &two);
    CPU_SET((size_t)at[1], &two);
    snprintf(siblings, sizeof(siblings), "%d-%d\n", at[0], at[1]);
    put_of_processor(at[0], "topology/thread_siblings_list", siblings);
    put_of_processor(at[1], "topology/thread_siblings_list", siblings);
    assert_int_equal(kept_of(&two), at[0]);
    sched_setaffinity(0, sizeof(may), &may);
}

static volatile bool may_stop;

static void *run_until_told(void *arg)
{
    while (!may_stop)
        ;
    return arg;
}

/* A thread that was joined may still be ending. */
static bool all_end_up_waiting(void)
{
    for (int i = 0; i < 5000 && oc_other_threads_run(); i++)
        usleep(1000);
    return !oc_other_threads_run();
}

/* A thread that runs is seen at once, one that waits is not. */
static void threads_that_run_are_seen(void **state)
{
    (void)state;
    pthread_t busy;
    assert_true(all_end_up_waiting());
    assert_int_equal(pthread_create(&busy, NULL, run_until_told, NULL), 0);
    assert_true(oc_other_threads_run());
    may_stop = true;
    pthread_join(busy, NULL);
    assert_true(all_end_up_waiting());
}

static void *wait_for_a_byte(void *arg)
{
    char c;
    return read(*(int *)arg, &c, 1) == 1 ? arg : NULL;
}

/* Threads that were started before are left where they are. */
static void new_threads_are_spread(void **state)
{
    (void)state;
    cpu_set_t may, old_set, new_set, own;
    struct oc_processors p;
    pthread_t early, late;
    int pipe_of[2];
    if (sched_getaffinity(0, sizeof(may), &may) || CPU_COUNT(&may) < 2)
        skip();
    assert_int_equal(pipe(pipe_of), 0);
    assert_int_equal(pthread_create(&early, NULL, wait_for_a_byte, &pipe_of[0]), 0);
    oc_keep_processors(folder, 2, &p);
    oc_spread_threads_begin(&p);
    assert_int_equal(pthread_create(&late, NULL, wait_for_a_byte, &pipe_of[0]), 0);
    oc_spread_threads(&p);
    assert_int_equal(sched_getaffinity(0, sizeof(own), &own), 0);
    pthread_getaffinity_np(early, sizeof(old_set), &old_set);
    pthread_getaffinity_np(late, sizeof(new_set), &new_set);
    assert_true(CPU_COUNT(&own) == 1 && CPU_ISSET((size_t)p.at[0], &own));
    assert_true(CPU_COUNT(&new_set) == 1 && CPU_ISSET((size_t)p.at[1], &new_set));
    assert_true(CPU_EQUAL(&old_set, &may));
    assert_int_equal(write(pipe_of[1], "ab", 2), 2);
    pthread_join(early, NULL);
    pthread_join(late, NULL);
    close(pipe_of[0]);
    close(pipe_of[1]);
    sched_setaffinity(0, sizeof(may), &may);
}

#endif

/* What happens in a pause is in none of the figures. */
static void pauses_do_not_count(void **state)
{
    (void)state;
    struct oc_load l;
    oc_load_begin(&l);
    struct oc_load before = l;
    oc_load_pause(&l);
    usleep(20000);
    oc_load_resume(&l);
    assert_true(l.wall_s >= before.wall_s + 0.02);
    assert_true(l.own_s >= before.own_s);
    assert_true(l.started_s >= before.started_s && l.started_s <= before.started_s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_is_known_without_files, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(limits_are_named, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(what_is_not_limited_is_not_named, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(throttling_is_summed, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(long_words_are_cut, make_folder, remove_folder),
#ifdef __linux__
        cmocka_unit_test_setup_teardown(a_process_keeps_to_the_fastest_processors, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(one_of_each_core_comes_first, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(new_threads_are_spread, make_folder, remove_folder),
        cmocka_unit_test(threads_that_run_are_seen),
#endif
        cmocka_unit_test(pauses_do_not_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
