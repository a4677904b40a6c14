/* Work in a child process: the messages that arrive, and how its ends are reported. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
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

/* ---- turns --------------------------------------------------------------------------------------------- */

/* What the workers of a group write down, in memory that they share. */
struct diary {
    char text[256];
    volatile int at_work; /* workers that have the turn, as they see it */
    int overlaps;
};
struct turner {
    struct diary *diary;
    char name;
    int needs;   /* turns */
    int dies_at; /* turn in which it raises a signal; 0: never */
};

static void write_down(struct diary *d, char c)
{
    size_t n = strlen(d->text);
    d->text[n] = c;
}

static void work_a_turn(struct turner *t)
{
    t->diary->overlaps += t->diary->at_work++ != 0;
    usleep(100);
    write_down(t->diary, t->name);
    t->diary->at_work--;
}

/* Says its name in each turn of two phases; the second one is in capitals. */
static int takes_turns(void *arg, struct oc_child *c, struct oc_err *err)
{
    struct turner *t = arg;
    (void)err;
    for (int phase = 0; phase < 2; phase++) {
        int turns = 0;
        do {
            work_a_turn(t);
            if (++turns == t->dies_at)
                raise(SIGSEGV);
        } while (!oc_child_turn(c, turns >= t->needs));
        oc_child_phase(c);
        t->name = (char)(t->name - 'a' + 'A');
    }
    return 0;
}

/* Runs n workers named a, b, c ...; the diary is the caller's to unmap. */
static int run_turns(struct turner *t, size_t n, size_t *failed, struct oc_err *err)
{
    struct heard h = {0};
    const struct oc_child_listener l = {.arg = &h, .stop = &h.stop};
    struct oc_child_task task[4];
    for (size_t i = 0; i < n; i++) {
        t[i].name = (char)('a' + (char)i);
        t[i].diary = t[0].diary;
        task[i] = (struct oc_child_task){takes_turns, &t[i], &l};
    }
    *err = (struct oc_err){0};
    return oc_children_run("the worker", task, n, failed, err);
}

static struct diary *new_diary(void)
{
    struct diary *d = mmap(NULL, sizeof(*d), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(d != MAP_FAILED);
    memset(d, 0, sizeof(*d));
    return d;
}

static void workers_take_turns_until_all_have_enough(void **state)
{
    (void)state;
    struct turner t[] = {{.diary = new_diary(), .needs = 1}, {.needs = 3}, {.needs = 2}};
    struct oc_err err;
    size_t failed;
    assert_int_equal(run_turns(t, 3, &failed, &err), 0);
    assert_int_equal(failed, 3);
    /* all have enough after the third turn of b, and c does not begin one more; no worker begins the second phase before all have
     * ended the first */
    assert_string_equal(t[0].diary->text, "abcabcab"
                                          "CABCABCAB");
    assert_int_equal(t[0].diary->overlaps, 0);
    munmap(t[0].diary, sizeof(*t[0].diary));
}

static void one_that_dies_with_its_turn_ends_all(void **state)
{
    (void)state;
    struct turner t[] = {{.diary = new_diary(), .needs = 4}, {.needs = 4, .dies_at = 2}, {.needs = 4}};
    struct oc_err err;
    size_t failed;
    assert_int_equal(run_turns(t, 3, &failed, &err), -1);
    assert_int_equal(failed, 1);
    assert_string_equal(err.msg, "the worker crashed while it was started (Segmentation fault)");
    assert_string_equal(t[0].diary->text, "abcab");
    munmap(t[0].diary, sizeof(*t[0].diary));
}

/* Alone there are no turns: a worker decides when it has enough. */
static void alone_a_worker_decides(void **state)
{
    (void)state;
    struct turner t = {.diary = new_diary(), .needs = 2};
    struct oc_err err;
    size_t failed;
    assert_int_equal(run_turns(&t, 1, &failed, &err), 0);
    assert_string_equal(t.diary->text, "aaAA");
    munmap(t.diary, sizeof(*t.diary));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_arrive_in_order),
        cmocka_unit_test(ends_are_reported_as_errors),
        cmocka_unit_test(stop_request_ends_the_child),
        cmocka_unit_test(workers_take_turns_until_all_have_enough),
        cmocka_unit_test(one_that_dies_with_its_turn_ends_all),
        cmocka_unit_test(alone_a_worker_decides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
