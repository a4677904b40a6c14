/* onnxcost mcp: tools for agents. Every call runs the command in a process of its own, so that a crash,
 * exhausted memory or a cancelled call leaves the server as it was. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "cli/cli.h"
#include "cli/mcp_tools.h"
#include "cli/output.h"
#include "onnxcost/hardware.h"

enum {
    MAX_JOBS = 4,             /* calls that run at the same time; others wait */
    MAX_WAITING = 256,        /* calls; further requests are read later */
    MAX_DOCUMENT = 256 << 20, /* bytes of a document before it is divided into pages */
    MAX_MESSAGES = 1 << 16,
    PIECE = 1 << 16
};

struct text {
    char *data;
    size_t n, cap;
    bool too_long;
};

struct job {
    uint64_t call; /* 0: free */
    pid_t pid;
    int fd[2]; /* standard output and standard error of the command, -1: ended */
    struct text text[2];
};

/* A call that waits for a free place. */
struct waiting {
    uint64_t call;
    int argc;
    char **argv;
};

struct server {
    const struct cli_opts *o;
    const char *root;
    struct mcp_tools tools;
    struct oc_mcp *mcp;
    struct job job[MAX_JOBS];
    struct waiting *waiting; /* in order */
    size_t n_waiting, cap_waiting;
    char **more; /* options for every call */
    size_t n_more;
};

/* ---- files inside --root ---------------------------------------------------------------------------- */

enum { MAX_ROOTS = 64 };

/* Tools read files inside the root, which without --root is the working directory, and the installed data.
 * URLs are read if no root is given. */
static int take_root(const char *folder)
{
    struct oc_err err;
    struct oc_hwdb *db = NULL;
    const char *roots[MAX_ROOTS] = {"."};
    size_t n = 1;
    if (folder && chdir(folder))
        return cli_fail(CLI_USAGE, "--root: cannot use '%s': %s", folder, strerror(errno));
    bool installed = !oc_hwdb_open(NULL, &db, &err); /* without it a call says what is missing */
    while (installed && n < MAX_ROOTS && (roots[n] = oc_hwdb_folder(db, n - 1)))
        n++;
    int rc = oc_set_read_roots(roots, n, !folder, &err) ? cli_fail_err(&err) : 0;
    oc_hwdb_free(db);
    return rc;
}

/* ---- the command's process -------------------------------------------------------------------------- */

static _Noreturn void run_child(int out, int messages, int argc, char **argv)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
    int nothing = open("/dev/null", O_RDONLY);
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
        signal(ends[i], SIG_DFL);
    cli_output_no_files();
    if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
        dup2(messages, STDERR_FILENO) < 0)
        _exit(CLI_ENVIRONMENT);
    int rc = cli_run(argc, argv);
    _exit(fflush(stdout) ? CLI_ENVIRONMENT : rc);
}

static int start_child(struct job *j, int argc, char **argv)
{
    int out[2] = {-1, -1}, messages[2] = {-1, -1};
    bool ok = pipe2(out, O_CLOEXEC) == 0 && pipe2(messages, O_CLOEXEC) == 0;
    if (ok)
        j->pid = fork();
    if (ok && j->pid == 0)
        run_child(out[1], messages[1], argc, argv);
    int error = errno;
    for (size_t i = 0; i < 2; i++) {
        int *end = i ? messages : out;
        if (end[1] >= 0)
            close(end[1]);
        if ((!ok || j->pid < 0) && end[0] >= 0)
            close(end[0]);
        j->fd[i] = end[0];
    }
    errno = error;
    return ok && j->pid > 0 ? 0 : -1;
}

/* ---- calls ------------------------------------------------------------------------------------------ */

static void fail_call(struct server *s, uint64_t call, const char *fmt, const char *what)
{
    char text[1024];
    snprintf(text, sizeof(text), fmt, what);
    oc_make_visible(text);
    oc_mcp_done(s->mcp, call, &(struct oc_mcp_result){.messages = text});
}

/* Starts those that wait, as long as there are places. */
static void start_waiting(struct server *s)
{
    size_t done = 0;
    for (size_t i = 0; i < MAX_JOBS && done < s->n_waiting; i++) {
        if (s->job[i].call)
            continue;
        struct waiting w = s->waiting[done++];
        struct job *j = &s->job[i];
        *j = (struct job){.call = w.call};
        if (start_child(j, w.argc, w.argv)) {
            *j = (struct job){.call = 0};
            fail_call(s, w.call, "cannot start a process: %s (exit code 4: environment)", strerror(errno));
            i--;
        }
        mcp_argv_free(w.argv);
    }
    s->n_waiting -= done;
    if (done)
        memmove(s->waiting, s->waiting + done, s->n_waiting * sizeof(*s->waiting));
}

static void start_call(void *arg, uint64_t call, size_t tool, const struct oc_mcp_value *value, size_t n)
{
    struct server *s = arg;
    struct waiting w = {.call = call};
    for (size_t k = 0; k < n && !s->tools.row[tool].tool->ranges; k++)
        if (!strcmp(s->tools.tool[tool].param[value[k].param].name, "dim") && strstr(value[k].text, "..")) {
            fail_call(s, call, "dim '%s' is a range: use the tool bounds, or check (exit code 2: usage)",
                      value[k].text);
            return;
        }
    w.argv = mcp_argv(&s->tools, tool, value, n, (const char *const *)s->more, s->n_more, &w.argc);
    if (s->n_waiting == s->cap_waiting) {
        s->cap_waiting = s->cap_waiting ? 2 * s->cap_waiting : 16;
        s->waiting = cli_xrealloc(s->waiting, s->cap_waiting * sizeof(*s->waiting));
    }
    s->waiting[s->n_waiting++] = w; /* started by serve */
}

static void free_job(struct job *j)
{
    for (size_t i = 0; i < 2; i++) {
        if (j->fd[i] >= 0)
            close(j->fd[i]);
        free(j->text[i].data);
    }
    *j = (struct job){.call = 0};
}

static void stop_job(struct job *j)
{
    kill(j->pid, SIGKILL);
    while (waitpid(j->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    free_job(j);
}

static void cancel_call(void *arg, uint64_t call)
{
    struct server *s = arg;
    for (size_t i = 0; i < MAX_JOBS; i++)
        if (s->job[i].call == call)
            stop_job(&s->job[i]);
    for (size_t i = 0; i < s->n_waiting; i++)
        if (s->waiting[i].call == call) {
            mcp_argv_free(s->waiting[i].argv);
            s->n_waiting--;
            memmove(s->waiting + i, s->waiting + i + 1, (s->n_waiting - i) * sizeof(*s->waiting));
            return;
        }
}

/* How a command ended, for its message. */
static const char *describe_end(int status, char *buf, size_t cap)
{
    static const char *const class[] = {"done", "findings", "usage", "input", "environment"};
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (code >= 0 && code < (int)(sizeof(class) / sizeof(class[0])))
        snprintf(buf, cap, "exit code %d: %s", code, class[code]);
    else if (code >= 0)
        snprintf(buf, cap, "exit code %d", code);
    else
        snprintf(buf, cap, "the command ended by signal %d: %s", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    return buf;
}

static void finish_job(struct server *s, struct job *j)
{
    int status = 0;
    char end[128];
    while (waitpid(j->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    struct text *document = &j->text[0], *messages = &j->text[1];
    const char *said = messages->n ? messages->data : "";
    bool done = WIFEXITED(status) && WEXITSTATUS(status) <= CLI_FINDINGS && document->n;
    if (document->too_long) {
        fail_call(s, j->call, "%s", "the document has more than 256 MiB: reduce the rows with top");
    } else if (done) {
        oc_mcp_done(s->mcp, j->call,
                    &(struct oc_mcp_result){.document = document->data, .n = document->n, .messages = said});
    } else {
        static const char list[] = "\nNext: call scan with {\"folder\": \".\"}, which lists the models.";
        char *text = NULL;
        bool usage = WIFEXITED(status) && WEXITSTATUS(status) == CLI_USAGE;
        if (asprintf(&text, "%.1300s%s(%s)%s", said, *said ? "" : "the command wrote nothing ",
                     describe_end(status, end, sizeof(end)), strstr(said, strerror(ENOENT)) ? list : "") < 0)
            cli_out_of_memory(0);
        oc_mcp_done(s->mcp, j->call, &(struct oc_mcp_result){.messages = text, .usage = usage});
        free(text);
    }
    free_job(j);
}

/* ---- input ------------------------------------------------------------------------------------------ */

static void append(struct text *t, const char *data, size_t n, size_t most)
{
    if (t->n + n > most) {
        t->too_long = true;
        return;
    }
    if (t->n + n + 1 > t->cap) {
        t->cap = 2 * (t->n + n + 1);
        t->data = cli_xrealloc(t->data, t->cap);
    }
    memcpy(t->data + t->n, data, n);
    t->n += n;
    t->data[t->n] = '\0';
}

/* False: nothing follows. */
static bool read_some(int fd, char *buf, size_t *n)
{
    ssize_t got = read(fd, buf, PIECE);
    *n = got > 0 ? (size_t)got : 0;
    return got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN));
}

static void read_job(struct server *s, struct job *j, size_t which)
{
    char buf[PIECE];
    size_t n;
    bool more = read_some(j->fd[which], buf, &n);
    append(&j->text[which], buf, n, which ? MAX_MESSAGES : MAX_DOCUMENT);
    if (more)
        return;
    close(j->fd[which]);
    j->fd[which] = -1;
    if (j->fd[0] < 0 && j->fd[1] < 0)
        finish_job(s, j);
}

/* Returns the number of entries: the client first if its requests are read, then the pipes. */
static size_t list_inputs(const struct server *s, bool client, struct pollfd *p)
{
    size_t n = 0;
    p[n++] = (struct pollfd){.fd = client ? STDIN_FILENO : -1, .events = POLLIN};
    for (size_t i = 0; i < MAX_JOBS; i++)
        for (size_t k = 0; k < 2; k++)
            p[n++] = (struct pollfd){.fd = s->job[i].call ? s->job[i].fd[k] : -1, .events = POLLIN};
    return n;
}

static size_t count_jobs(const struct server *s)
{
    size_t n = 0;
    for (size_t i = 0; i < MAX_JOBS; i++)
        n += s->job[i].call != 0;
    return n;
}

/* Until the client has closed its side and all calls are answered. */
static int serve(struct server *s)
{
    struct pollfd p[1 + 2 * MAX_JOBS];
    char buf[PIECE];
    size_t got;
    for (bool client = true; client || count_jobs(s);) {
        size_t n = list_inputs(s, client && s->n_waiting < MAX_WAITING, p);
        if (poll(p, n, -1) < 0 && errno != EINTR)
            return cli_fail(CLI_ENVIRONMENT, "cannot wait for requests: %s", strerror(errno));
        for (size_t i = 1; i < n; i++)
            if (p[i].revents && p[i].fd >= 0)
                read_job(s, &s->job[(i - 1) / 2], (i - 1) % 2);
        if (p[0].fd >= 0 && p[0].revents) {
            client = read_some(STDIN_FILENO, buf, &got);
            oc_mcp_take(s->mcp, buf, got);
            if (!client)
                oc_mcp_end(s->mcp);
        }
        start_waiting(s);
        if (ferror(stdout)) /* the client has gone, or the disk is full */
            return errno == EPIPE
                       ? CLI_ENVIRONMENT
                       : cli_fail(CLI_ENVIRONMENT, "cannot write 'standard output': %s", strerror(errno));
    }
    return 0;
}

/* ---- all -------------------------------------------------------------------------------------------- */

static void add_more(struct server *s, const char *name, const char *value)
{
    s->more = cli_xrealloc(s->more, (s->n_more + 1) * sizeof(*s->more));
    if (asprintf(&s->more[s->n_more++], "--%s=%s", name, value) < 0)
        cli_out_of_memory(0);
}

static int open_server(struct server *s)
{
    struct oc_err err;
    int rc = take_root(s->root);
    if (rc)
        return rc;
    for (size_t i = 0; i < s->o->limit.n; i++)
        add_more(s, "limit", s->o->limit.item[i]);
    mcp_tools_make(&s->tools);
    const struct oc_mcp_opts opts = {.name = "onnxcost",
                                     .version = ONNXCOST_VERSION,
                                     .instructions =
                                         "Costs of neural networks: FLOPs, bytes, memory, times. Answers "
                                         "have the verdict and the most important figures "
                                         "in pages of 4,000 bytes: cursor gives the next one, full the whole "
                                         "document. Paths are relative to the "
                                         "folder of the server.",
                                     .tool = s->tools.tool,
                                     .n_tool = s->tools.n,
                                     .out = stdout,
                                     .start = start_call,
                                     .cancel = cancel_call,
                                     .arg = s};
    return oc_mcp_open(&opts, &s->mcp, &err) ? cli_fail_err(&err) : 0;
}

int mcp_serve(const struct cli_opts *o, const char *root)
{
    struct server *s = cli_xcalloc(1, sizeof(*s));
    s->o = o;
    s->root = root;
    int rc = open_server(s);
    if (!rc)
        rc = serve(s);
    for (size_t i = 0; i < MAX_JOBS; i++)
        if (s->job[i].call)
            stop_job(&s->job[i]);
    for (size_t i = 0; i < s->n_waiting; i++)
        mcp_argv_free(s->waiting[i].argv);
    free(s->waiting);
    oc_mcp_close(s->mcp);
    mcp_tools_free(&s->tools);
    for (size_t i = 0; i < s->n_more; i++)
        free(s->more[i]);
    free(s->more);
    free(s);
    return rc;
}
