/* run/: Records a profile: loads ONNX Runtime, makes inputs, runs in a child process. No library is loaded
 * from the working directory or from folders that others can write; security.md promises that.
 * This file: work in processes of their own, alone or in turns. In turns, one process works and the others wait: what drifts
 * on a machine reaches all of them. The caller gives the turns, so that a process that dies does not keep one.
 * Private to the folder: ort_lib.h providers.h record_files.h record_job.h. */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/c_locale.h"
#include "base/diag.h"
#include "base/os.h"
#include "base/str.h"
#include "run/record_files.h"

#ifdef __linux__
#include <sys/prctl.h>
#endif

enum kind { MSG_STAGE, MSG_NUMBER, MSG_TEXT, MSG_TURN, MSG_ERROR, MSG_DONE };
struct message {
    uint32_t kind, what;
    double number;
    char text[1024];
    struct oc_err err;
};
/* a message is written atomically */
_Static_assert(sizeof(struct message) <= PIPE_BUF, "message too long");

struct oc_child {
    int fd;
    int turn_fd; /* a byte for each turn; -1: it runs alone */
    unsigned phase;
};

/* Bytes of a turn. */
static const char GO_ON = 'g', ALL_HAVE_ENOUGH = 'e';

/* ---- in the worker's process ------------------------------------------------------------------------ */

static void send(struct oc_child *c, const struct message *m)
{
    const char *p = (const char *)m;
    for (size_t left = sizeof(*m); left;) {
        ssize_t n = write(c->fd, p, left);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            _exit(1); /* the reader is gone */
        p += n;
        left -= (size_t)n;
    }
}

void oc_child_stage(struct oc_child *c, const char *fmt, ...)
{
    struct message m = {.kind = MSG_STAGE};
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(m.text, sizeof(m.text), fmt, ap);
    va_end(ap);
    send(c, &m);
}

void oc_child_number(struct oc_child *c, unsigned what, double value)
{
    send(c, &(struct message){.kind = MSG_NUMBER, .what = what, .number = value});
}

void oc_child_text(struct oc_child *c, unsigned what, const char *text)
{
    struct message m = {.kind = MSG_TEXT, .what = what};
    snprintf(m.text, sizeof(m.text), "%s", text);
    send(c, &m);
}

bool oc_child_takes_turns(const struct oc_child *c)
{
    return c->turn_fd >= 0;
}

bool oc_child_turn(struct oc_child *c, bool enough)
{
    char word;
    ssize_t n;
    if (c->turn_fd < 0)
        return enough;
    send(c, &(struct message){.kind = MSG_TURN, .what = c->phase, .number = enough});
    while ((n = read(c->turn_fd, &word, 1)) < 0 && errno == EINTR)
        ;
    if (n != 1)
        _exit(1); /* the caller is gone */
    return word == ALL_HAVE_ENOUGH;
}

void oc_child_phase(struct oc_child *c)
{
    c->phase++;
    oc_child_turn(c, false);
}

static void child_own_signals(void)
{
    static const int mine[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < OC_COUNT(mine); i++)
        signal(mine[i], SIG_DFL);
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
}

static _Noreturn void be_child(struct oc_child c, FILE *output, const struct oc_child_task *t)
{
    struct message m = {.kind = MSG_DONE};
    child_own_signals();
    if (output) {
        dup2(fileno(output), STDOUT_FILENO);
        dup2(fileno(output), STDERR_FILENO);
    }
    oc_child_turn(&c, false);
    if (t->work(t->arg, &c, &m.err))
        m.kind = MSG_ERROR;
    send(&c, &m);
    _exit(0);
}

/* ---- in the caller's process ------------------------------------------------------------------------ */

static bool receive(int fd, const volatile int *stop, struct message *m)
{
    char *p = (char *)m;
    for (size_t left = sizeof(*m); left;) {
        ssize_t n = read(fd, p, left);
        if (n < 0 && errno == EINTR && !(stop && *stop))
            continue;
        if (n <= 0)
            return false;
        p += n;
        left -= (size_t)n;
    }
    return true;
}

/* A process and what is known of it. */
struct process {
    const struct oc_child_task *task;
    pid_t pid; /* -1: it could not be started */
    int from;  /* the end of its messages' pipe; -1: closed */
    int turns
        [2]; /* both ends of the pipe of its turns, so that a write to a dead process raises no signal; -1: none */
    FILE *output;
    struct message last; /* MSG_STAGE: it ended without a last message */
    char stage[1024];
    bool waits, enough; /* for its turn; of the phase */
    unsigned phase;
};

static void take_message(struct process *p, const struct message *m)
{
    const struct oc_child_listener *l = p->task->listener;
    if (m->kind == MSG_STAGE) {
        snprintf(p->stage, sizeof(p->stage), "%s", m->text);
        if (l->stage)
            l->stage(l->arg, m->text);
    } else if (m->kind == MSG_NUMBER && l->number) {
        l->number(l->arg, m->what, m->number);
    } else if (m->kind == MSG_TEXT && l->text) {
        l->text(l->arg, m->what, m->text);
    } else if (m->kind == MSG_TURN) {
        p->waits = true;
        p->enough = m->number != 0;
        p->phase = m->what;
    } else if (m->kind == MSG_ERROR || m->kind == MSG_DONE) {
        p->last = *m;
    }
}

/* The last non-empty line, at most 200 bytes of it. */
static void last_line(FILE *f, char *out, size_t cap)
{
    char tail[1024];
    out[0] = '\0';
    if (!f || fseek(f, 0, SEEK_END))
        return;
    long size = ftell(f), from = size > (long)sizeof(tail) - 1 ? size - (long)sizeof(tail) + 1 : 0;
    if (size <= 0 || fseek(f, from, SEEK_SET))
        return;
    size_t n = fread(tail, 1, sizeof(tail) - 1, f);
    while (n && strchr(" \n\r\t", tail[n - 1]))
        n--;
    tail[n] = '\0';
    const char *line = strrchr(tail, '\n');
    snprintf(out, cap, "%.200s", line ? line + 1 : tail);
}

static int report_end(const char *who, int status, const char *stage, FILE *output, struct oc_err *err)
{
    char line[256];
    last_line(output, line, sizeof(line));
    const char *colon = *line ? ": " : "";
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        return oc_fail(err, OC_ELIBRARY, "%s was killed while %s (out of memory?)%s%s", who, stage, colon,
                       line);
    if (WIFSIGNALED(status))
        return oc_fail(err, OC_ELIBRARY, "%s crashed while %s (%s)%s%s", who, stage,
                       strsignal(WTERMSIG(status)), colon, line);
    return oc_fail(err, OC_ELIBRARY, "%s ended while %s (exit code %d)%s%s", who, stage, WEXITSTATUS(status),
                   colon, line);
}

/* ---- turns ------------------------------------------------------------------------------------------- */

static bool has_ended(const struct process *p)
{
    return p->from < 0;
}

/* Gives the turn to the process after `last`, round and round, of those in the earliest phase, once no process has it. The
 * phase is over when all in it have enough. Returns the one that has the turn. */
static size_t give_turn(struct process *p, size_t n, size_t last)
{
    unsigned phase = UINT_MAX;
    bool enough = true;
    for (size_t i = 0; i < n; i++) {
        if (!has_ended(&p[i]) && !p[i].waits)
            return last;
        phase = !has_ended(&p[i]) && p[i].phase < phase ? p[i].phase : phase;
    }
    for (size_t i = 0; i < n; i++)
        enough &= has_ended(&p[i]) || p[i].phase > phase || p[i].enough;
    for (size_t k = 1; k <= n; k++) {
        struct process *next = &p[(last + k) % n];
        if (has_ended(next) || next->phase > phase)
            continue;
        next->waits = false;
        while (write(next->turns[1], enough ? &ALL_HAVE_ENOUGH : &GO_ON, 1) < 0 && errno == EINTR)
            ;
        return (last + k) % n;
    }
    return last;
}

static void stop_all(const struct process *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!has_ended(&p[i]))
            kill(p[i].pid, SIGKILL);
}

static bool all_ended(const struct process *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!has_ended(&p[i]))
            return false;
    return true;
}

/* One message, or the end of the process. */
static void hear(struct process *p, const volatile int *stop)
{
    struct message m;
    if (receive(p->from, stop, &m)) {
        take_message(p, &m);
        return;
    }
    close(p->from);
    p->from = -1;
}

/* Until all have ended. One that ends without success ends the others. */
static void listen_to(struct process *p, size_t n, const volatile int *stop)
{
    struct pollfd *of = oc_xcalloc(n, sizeof(*of));
    size_t turn = n - 1;
    while (!all_ended(p, n)) {
        for (size_t i = 0; i < n; i++)
            of[i] = (struct pollfd){.fd = p[i].from, .events = POLLIN};
        int ready = poll(of, (nfds_t)n, -1);
        bool over = (stop && *stop) || (ready < 0 && errno != EINTR);
        for (size_t i = 0; i < n && ready > 0 && !over; i++) {
            if (of[i].revents)
                hear(&p[i], stop);
            over |= has_ended(&p[i]) && p[i].last.kind != MSG_DONE;
        }
        if (over) {
            stop_all(p, n);
            break;
        }
        if (n > 1)
            turn = give_turn(p, n, turn);
    }
    free(of);
}

/* ---- processes --------------------------------------------------------------------------------------- */

/* The worker closes the ends that give turns: one that waits must see that the caller is gone. */
static int start_process(struct process *all, size_t at, bool turns)
{
    struct process *p = &all[at];
    int up[2];
    if (pipe(up))
        return -1;
    p->from = up[0];
    if (turns && pipe(p->turns)) {
        close(up[1]);
        return -1;
    }
    p->output = tmpfile();
    fflush(NULL); /* the runtime's code may flush its copy of the streams */
    p->pid = fork();
    if (p->pid == 0) {
        const struct process own = *p;
        close(up[0]);
        for (size_t i = 0; turns && i <= at; i++)
            close(all[i].turns[1]);
        free(all); /* the copy of the caller's list */
        oc_entry_forget();
        be_child((struct oc_child){.fd = up[1], .turn_fd = own.turns[0]}, own.output, own.task);
    }
    int error = errno;
    close(up[1]);
    errno = error;
    return p->pid < 0 ? -1 : 0;
}

/* What became of one; `stopped`: by the caller's signal. */
static int end_of(const char *who, struct process *p, bool stopped, struct oc_err *err)
{
    int status = 0;
    while (waitpid(p->pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (p->last.kind == MSG_DONE)
        return 0;
    if (p->last.kind == MSG_ERROR)
        return *err = p->last.err, -1;
    return stopped ? oc_fail(err, OC_EUNSUPPORTED, "interrupted while %s", p->stage)
                   : report_end(who, status, p->stage, p->output, err);
}

static void close_process(struct process *p)
{
    const int end[] = {p->from, p->turns[0], p->turns[1]};
    for (size_t i = 0; i < OC_COUNT(end); i++)
        if (end[i] >= 0)
            close(end[i]);
    if (p->output)
        fclose(p->output);
}

/* The first one that failed by itself; those that were ended because of it did not. n: none. */
static size_t first_failed(const struct process *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i].last.kind == MSG_ERROR || (has_ended(&p[i]) && p[i].last.kind != MSG_DONE))
            return i;
    return n;
}

int oc_children_run(const char *who, const struct oc_child_task *task, size_t n, size_t *failed,
                    struct oc_err *err)
{
    const volatile int *stop = task[0].listener->stop;
    struct process *p = oc_xcalloc(n, sizeof(*p));
    struct oc_err other;
    size_t started = 0;
    int rc = oc_os_check_processes(who, err);
    for (size_t i = 0; i < n; i++)
        p[i] = (struct process){.task = &task[i], .from = -1, .turns = {-1, -1}, .stage = "it was started"};
    for (; started < n && !rc; started++)
        if (start_process(p, started, n > 1)) {
            rc = oc_fail(err, OC_EMEMORY, "cannot start a process: %s", strerror(errno));
            break;
        }
    if (rc)
        stop_all(p, started);
    else
        listen_to(p, n, stop);
    *failed = rc ? n : first_failed(p, n);
    bool stopped = stop && *stop;
    for (size_t i = 0; i < started; i++) {
        bool to_blame = i == *failed || (*failed == n && !rc);
        if (end_of(who, &p[i], stopped, to_blame ? err : &other))
            rc = -1;
    }
    for (size_t i = 0; i < n; i++)
        close_process(&p[i]);
    free(p);
    return rc;
}

int oc_child_run(const char *who, int (*work)(void *arg, struct oc_child *c, struct oc_err *err), void *arg,
                 const struct oc_child_listener *listener, struct oc_err *err)
{
    size_t failed;
    return oc_children_run(who, &(struct oc_child_task){work, arg, listener}, 1, &failed, err);
}
