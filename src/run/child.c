/* run/: Records a profile: loads ONNX Runtime, makes inputs, runs in a child process. No library is loaded
 * from the working directory or from folders that others can write; security.md promises that.
 * Private to the folder: ort_lib.h record_files.h. */

#include "run/record_files.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/os.h"
#include "profile/core/run_spread.h"

/* Whether more runs would hardly move the median. Small errors cost the first run that has them a sort. */
static bool is_steady(struct oc_stop_state *s)
{
    struct oc_run_spread spread;
    if (s->n < s->next_check)
        return false;
    s->next_check = s->n + s->n / 4 + 1;
    double *copy = oc_xmalloc(s->n * sizeof(*copy));
    memcpy(copy, s->ns, s->n * sizeof(*copy));
    oc_run_spread_of(copy, s->n, &spread);
    free(copy);
    return oc_run_spread_error(&spread) * 100 <= OC_ERROR_PERCENT;
}

bool oc_stop_after(const struct oc_stop_rule *rule, struct oc_stop_state *s, double run_ns, double elapsed_ns)
{
    size_t least = rule->runs ? rule->runs : OC_LEAST_RUNS;
    OC_GROW(s->ns, s->n, s->cap);
    s->ns[s->n++] = run_ns;
    s->sum_ns += run_ns;
    if (rule->runs ? s->n >= rule->runs : rule->most && s->n >= rule->most)
        return true;
    /* the next run is expected to take as long as the mean one */
    if (rule->budget_ns > 0 && elapsed_ns + s->sum_ns / (double)s->n > rule->budget_ns) {
        s->over_budget = s->n < least;
        return true;
    }
    return !rule->runs && s->n >= least && s->sum_ns >= OC_LEAST_TIME_S * 1e9 &&
           (s->sum_ns >= OC_MOST_TIME_S * 1e9 || is_steady(s));
}

#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "base/diag.h"

enum kind { MSG_STAGE, MSG_NUMBER, MSG_TEXT, MSG_ERROR, MSG_DONE };
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
};

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

static void child_own_signals(void)
{
    static const int mine[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGINT, SIGTERM};
    for (size_t i = 0; i < OC_COUNT(mine); i++)
        signal(mine[i], SIG_DFL);
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
}

static _Noreturn void be_child(int fd, FILE *output,
                               int (*work)(void *arg, struct oc_child *c, struct oc_err *err), void *arg)
{
    struct oc_child c = {fd};
    struct message m = {.kind = MSG_DONE};
    child_own_signals();
    if (output) {
        dup2(fileno(output), STDOUT_FILENO);
        dup2(fileno(output), STDERR_FILENO);
    }
    if (work(arg, &c, &m.err))
        m.kind = MSG_ERROR;
    send(&c, &m);
    _exit(0);
}

/* ---- in the caller's -------------------------------------------------------------------------------- */

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

/* Returns the last message; its kind is MSG_STAGE if the worker ended without one. */
static void listen_to(int fd, const struct oc_child_listener *l, struct message *last, char *stage,
                      size_t cap)
{
    struct message m;
    while (receive(fd, l->stop, &m)) {
        if (m.kind == MSG_STAGE) {
            snprintf(stage, cap, "%s", m.text);
            if (l->stage)
                l->stage(l->arg, m.text);
        } else if (m.kind == MSG_NUMBER && l->number) {
            l->number(l->arg, m.what, m.number);
        } else if (m.kind == MSG_TEXT && l->text) {
            l->text(l->arg, m.what, m.text);
        } else if (m.kind == MSG_ERROR || m.kind == MSG_DONE) {
            *last = m;
        }
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

int oc_child_run(const char *who, int (*work)(void *arg, struct oc_child *c, struct oc_err *err), void *arg,
                 const struct oc_child_listener *listener, struct oc_err *err)
{
    int fd[2], status = 0;
    char stage[1024] = "it was started";
    struct message last = {.kind = MSG_STAGE};
    if (oc_os_check_processes(who, err))
        return -1;
    if (pipe(fd))
        return oc_fail(err, OC_EIO, "cannot create a pipe: %s", strerror(errno));
    FILE *output = tmpfile();
    fflush(NULL); /* the runtime's code may flush its copy of the streams */
    pid_t pid = fork();
    if (pid == 0) {
        close(fd[0]);
        be_child(fd[1], output, work, arg);
    }
    close(fd[1]);
    if (pid > 0) {
        listen_to(fd[0], listener, &last, stage, sizeof(stage));
        if (listener->stop && *listener->stop)
            kill(pid, SIGKILL);
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            ;
    }
    close(fd[0]);
    int rc = 0;
    if (pid < 0)
        rc = oc_fail(err, OC_EIO, "cannot start a process: %s", strerror(errno));
    else if (last.kind == MSG_STAGE && listener->stop && *listener->stop)
        rc = oc_fail(err, OC_EUNSUPPORTED, "interrupted while %s", stage);
    else if (last.kind == MSG_STAGE)
        rc = report_end(who, status, stage, output, err);
    else if (last.kind == MSG_ERROR)
        rc = (*err = last.err, -1);
    if (output)
        fclose(output);
    return rc;
}
