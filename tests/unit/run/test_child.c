/* Work in a child process: the messages that arrive, and how its ends are reported. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/diag.h"
#include "run/record_files.h"

struct heard {
    char stages[256], texts[256];
    double sum;
    unsigned numbers;
    volatile int stop;
};

/* every 10 ms */
static const struct itimerval often = {{.tv_usec = 10000}, {.tv_usec = 10000}}, never;

static void on_stage(void *arg, const char *text)
{
    struct heard *h = arg;
    size_t n = strlen(h->stages);
    snprintf(h->stages + n, sizeof(h->stages) - n, "%s;", text);
    if (!strcmp(text, "waiting"))
        setitimer(ITIMER_REAL, &often, NULL); /* one of the signals arrives while the caller reads */
}

static void on_number(void *arg, unsigned what, double value)
{
    struct heard *h = arg;
    h->numbers++;
    h->sum += what * value;
}

static void on_text(void *arg, unsigned what, const char *text)
{
    struct heard *h = arg;
    size_t n = strlen(h->texts);
    snprintf(h->texts + n, sizeof(h->texts) - n, "%u=%s;", what, text);
}

static int run(int (*work)(void *, struct oc_child *, struct oc_err *), void *arg, struct heard *h,
               struct oc_err *err)
{
    const struct oc_child_listener l = {
        .stage = on_stage, .number = on_number, .text = on_text, .arg = h, .stop = &h->stop};
    *err = (struct oc_err){0};
    return oc_child_run("the worker", work, arg, &l, err);
}

static int talks(void *arg, struct oc_child *c, struct oc_err *err)
{
    int *n = arg;
    (void)err;
    puts("not to be seen");
    fflush(stdout);
    oc_child_stage(c, "step %d", *n);
    oc_child_text(c, 5, "five");
    for (int i = 0; i < 1000; i++)
        oc_child_number(c, 2, i);
    *n = 99; /* in this process only */
    return 0;
}

static void messages_arrive_in_order(void **state)
{
    (void)state;
    struct heard h = {0};
    struct oc_err err;
    int n = 3;
    assert_int_equal(run(talks, &n, &h, &err), 0);
    assert_string_equal(h.stages, "step 3;");
    assert_string_equal(h.texts, "5=five;");
    assert_int_equal(h.numbers, 1000);
    assert_true(h.sum == 999000); /* 2 * (0 + 1 + ... + 999) = 999 * 1000 */
    assert_int_equal(n, 3);
}

static int fails(void *arg, struct oc_child *c, struct oc_err *err)
{
    (void)arg;
    (void)c;
    return oc_fail(err, OC_ELIMIT, "too much of it");
}

static int dies(void *arg, struct oc_child *c, struct oc_err *err)
{
    (void)err;
    oc_child_stage(c, "being careless");
    fputs("first\nmy last words\n\n", stderr);
    raise(*(int *)arg);
    return 0;
}

static int leaves(void *arg, struct oc_child *c, struct oc_err *err)
{
    (void)arg;
    (void)c;
    (void)err;
    _exit(7);
}

static void ends_are_reported_as_errors(void **state)
{
    (void)state;
    struct heard h = {0};
    struct oc_err err;
    assert_int_equal(run(fails, NULL, &h, &err), -1);
    assert_int_equal(err.code, OC_ELIMIT);
    assert_string_equal(err.msg, "too much of it");
    int signals[] = {SIGSEGV, SIGABRT, SIGKILL};
    assert_int_equal(run(dies, &signals[0], &h, &err), -1);
    assert_int_equal(err.code, OC_ELIBRARY);
    assert_string_equal(err.msg,
                        "the worker crashed while being careless (Segmentation fault): my last words");
    assert_int_equal(run(dies, &signals[1], &h, &err), -1);
    assert_string_equal(err.msg, "the worker crashed while being careless (Aborted): my last words");
    assert_int_equal(run(dies, &signals[2], &h, &err), -1);
    assert_string_equal(err.msg,
                        "the worker was killed while being careless (out of memory?): my last words");
    assert_int_equal(run(leaves, NULL, &h, &err), -1);
    assert_string_equal(err.msg, "the worker ended while it was started (exit code 7)");
}

static int waits(void *arg, struct oc_child *c, struct oc_err *err)
{
    (void)arg;
    (void)err;
    oc_child_stage(c, "waiting");
    sleep(60);
    return 0;
}

static struct heard *ringing;
static void on_alarm(int signal_number)
{
    ringing->stop = signal_number;
}

static void stop_request_ends_the_child(void **state)
{
    (void)state;
    struct heard h = {0};
    struct oc_err err;
    const struct sigaction action = {.sa_handler = on_alarm};
    ringing = &h;
    sigaction(SIGALRM, &action, NULL);
    assert_int_equal(run(waits, NULL, &h, &err), -1);
    setitimer(ITIMER_REAL, &never, NULL);
    assert_string_equal(err.msg, "interrupted while waiting");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_arrive_in_order),
        cmocka_unit_test(ends_are_reported_as_errors),
        cmocka_unit_test(stop_request_ends_the_child),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
