/* run/: Records a profile: loads ONNX Runtime, makes inputs, runs in a child process. No library is loaded
 * from the working directory or from folders that others can write; security.md promises that.
 * Private to the folder: ort_lib.h providers.h record_files.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/c_locale.h"
#include "base/diag.h"
#include "base/json_write.h"
#include "base/os.h"
#include "base/str.h"
#include "onnxcost/record.h"
#include "profile/core/run_spread.h"
#include "profile/profile.h"
#include "run/record_files.h"

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
    if (rule->enough_s > 0 && !rule->runs)
        return s->n >= least && s->sum_ns >= rule->enough_s * 1e9;
    return !rule->runs && s->n >= least && s->sum_ns >= OC_LEAST_TIME_S * 1e9 &&
           (s->sum_ns >= OC_MOST_TIME_S * 1e9 || is_steady(s));
}

enum {
    ENOUGH_EVENTS = 20000, /* of a profile of runs by the rule: about 10 MB */
    LEAST_EVENT_NS = 250,  /* time of an operator in the body of a loop; 320 in a Scan of 2,260 steps */
};

static bool has_loop(const struct oc_model *m)
{
    for (uint32_t i = 0; i < m->n_node; i++)
        if (!strcmp(m->node[i].op_type, "Loop") || !strcmp(m->node[i].op_type, "Scan"))
            return true;
    return false;
}

uint32_t oc_enough_runs(const struct oc_model *m, double run_ns)
{
    double events = m->graph[0].n_node ? m->graph[0].n_node : 1, enough;
    if (has_loop(m) && run_ns / LEAST_EVENT_NS > events)
        events = run_ns / LEAST_EVENT_NS;
    enough = ENOUGH_EVENTS / events;
    return enough > OC_LEAST_RUNS ? (uint32_t)enough : OC_LEAST_RUNS;
}

#ifdef __linux__
#include <sys/prctl.h>
#endif

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
    static const int mine[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGINT, SIGTERM, SIGHUP};
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
        return oc_fail(err, OC_EMEMORY, "cannot create a pipe: %s", strerror(errno));
    FILE *output = tmpfile();
    fflush(NULL); /* the runtime's code may flush its copy of the streams */
    pid_t pid = fork();
    if (pid == 0) {
        close(fd[0]);
        oc_entry_forget();
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
        rc = oc_fail(err, OC_EMEMORY, "cannot start a process: %s", strerror(errno));
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

/* ---- files of a recording --------------------------------------------------------------------------- */

static bool is_folder(const char *path)
{
    struct stat s;
    return !stat(path, &s) && S_ISDIR(s.st_mode);
}

static bool same_file(const char *a, const char *b)
{
    struct stat s, t;
    return !stat(a, &s) && !stat(b, &t) && s.st_dev == t.st_dev && s.st_ino == t.st_ino;
}

/* Prefix of the file names. */
static const char *prefix_of(const char *model, const struct oc_record_opts *o, struct oc_arena *a)
{
    const char *output = o->output;
    const char *base = oc_base_name(model);
    size_t n = strlen(base), at = output ? strlen(output) : 0;
    if (n > 5 && !strcmp(base + n - 5, ".onnx"))
        n -= 5;
    const char *tag = o->tag ? o->tag : "";
    if (!at)
        return oc_printf(a, "%.*s%s", (int)n, base, tag);
    if (output[at - 1] == '/')
        return oc_printf(a, "%s%.*s%s", output, (int)n, base, tag);
    return is_folder(output) ? oc_printf(a, "%s/%.*s%s", output, (int)n, base, tag)
                             : oc_printf(a, "%s%s", output, tag);
}

/* Like mkdir -p; `path` ends with '/'. */
static int make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(path, 0777) && errno != EEXIST)
            return -1;
        *slash = '/';
    }
    return 0;
}

/* Fails if a file of the recording is the model or another input. */
static int check_destinations(const struct oc_record_files *f, const char *model, bool (*keeps)(const char *),
                              struct oc_err *err)
{
    const char *const path[] = {f->profile, f->optimized, oc_printf(f->a, "%s.data", f->optimized)};
    for (size_t i = 0; i < OC_COUNT(path); i++)
        if (same_file(model, path[i]) || (keeps && keeps(path[i])))
            return oc_fail(err, OC_EARG, "'%s' would be overwritten; --output gives other names",
                           same_file(model, path[i]) ? model : path[i]);
    return 0;
}

int oc_record_files_open(const char *model, const struct oc_record_opts *o, struct oc_arena *a,
                         struct oc_record_files *out, struct oc_err *err)
{
    const char *prefix = prefix_of(model, o, a);
    int n_folder = (int)(oc_base_name(prefix) - prefix);
    *out = (struct oc_record_files){.a = a,
                                    .profile = oc_printf(a, "%s.profile.json", prefix),
                                    .optimized = oc_printf(a, "%s.optimized.onnx", prefix),
                                    .weights_name =
                                        oc_printf(a, "%s.optimized.onnx.data", oc_base_name(prefix))};
    out->no_optimized = o->no_optimized;
    if (check_destinations(out, model, o->keeps, err))
        return -1;
    if (n_folder > 1 && make_folders(oc_strndup(a, prefix, (size_t)n_folder)))
        return oc_fail(err, OC_EOUTPUT, "cannot make the folder '%.*s': %s", n_folder, prefix,
                       strerror(errno));
    char *folder = oc_printf(a, "%.*s.onnxcost-XXXXXX", n_folder, prefix);
    if (!mkdtemp(folder))
        return oc_fail(err, OC_EOUTPUT, "cannot write '%s': %s", out->profile, strerror(errno));
    out->folder = folder;
    out->profile_prefix = oc_printf(a, "%s/profile", folder);
    out->temporary_optimized = oc_printf(a, "%s/%s", folder, oc_base_name(out->optimized));
    return 0;
}

/* The runtime does not sync its files; they are synced before they replace others. File systems without fsync
 * support are accepted. */
static bool on_disk(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC), rc = 0;
    if (fd < 0)
        return false;
    do {
        rc = fsync(fd);
    } while (rc && errno == EINTR);
    int error = rc ? errno : 0;
    close(fd);
    errno = error;
    return !error || error == EINVAL || error == EROFS || error == ENOTSUP || error == ENOSYS;
}

static int move(const char *from, const char *to, struct oc_err *err)
{
    if (on_disk(from) && !rename(from, to))
        return 0;
    return oc_fail(err, OC_EOUTPUT, "cannot write '%s': %s", to, strerror(errno));
}

/* The runtime does not check whether its profile was written completely; the last byte must close an array.
 * An empty model is invalid. */
static int check_whole(const char *path, const char *shown, char last, struct oc_err *err)
{
    char end[16];
    FILE *f = fopen(path, "rb");
    size_t n = f && (!fseek(f, -(long)sizeof(end), SEEK_END) || !fseek(f, 0, SEEK_SET))
                   ? fread(end, 1, sizeof(end), f)
                   : 0;
    if (f)
        fclose(f);
    while (n && strchr(" \r\n", end[n - 1]))
        n--;
    if (n && (!last || end[n - 1] == last))
        return 0;
    return oc_fail(err, OC_EOUTPUT,
                   "cannot write '%s': ONNX Runtime has left it incomplete: is the disk full?", shown);
}

static void put_varint(struct oc_buf *b, size_t v)
{
    for (; v > 0x7f; v >>= 7)
        oc_buf_char(b, (char)(v | 0x80));
    oc_buf_char(b, (char)v);
}

static void put_field(struct oc_buf *b, unsigned number, const char *data, size_t n)
{
    oc_buf_char(b, (char)(number << 3 | 2)); /* length-delimited */
    put_varint(b, n);
    oc_buf_add(b, data, n);
}

/* Writes at an offset from the end of the file. */
static int write_at_end(const char *path, long back, const struct oc_buf *b, struct oc_err *err)
{
    FILE *f = fopen(path, "r+b");
    bool done = f && !fseek(f, -back, SEEK_END) && fwrite(b->data, 1, b->n, f) == b->n;
    if (f && fclose(f))
        done = false;
    return done ? 0 : oc_fail(err, OC_EOUTPUT, "cannot write '%s': %s", path, strerror(errno));
}

/* Repeated fields of a protobuf message may come at its end: an entry of metadata_props (field 14). */
static int mark_model(const char *path, const char *assumed, struct oc_err *err)
{
    static const char key[] = "onnxcost.assumed_inputs";
    struct oc_buf entry = {0}, field = {0};
    put_field(&entry, 1, key, sizeof(key) - 1);
    put_field(&entry, 2, assumed, strlen(assumed));
    put_field(&field, 14, entry.data, entry.n);
    int rc = write_at_end(path, 0, &field, err);
    oc_buf_free(&entry);
    oc_buf_free(&field);
    return rc;
}

/* Number of bytes at the end of the file that close the array. */
static long closing_bytes(const char *path)
{
    char end[16];
    long n = 0;
    FILE *f = fopen(path, "rb");
    size_t got = f && !fseek(f, -(long)sizeof(end), SEEK_END) ? fread(end, 1, sizeof(end), f) : 0;
    if (f)
        fclose(f);
    while (got && strchr(" \r\n", end[got - 1]))
        got--, n++;
    return got && end[got - 1] == ']' ? n + 1 : 0;
}

/* Inserts a metadata event before the bracket that closes the array of events. */
static int mark_profile(const char *path, const char *assumed, const struct oc_prof_machine *m,
                        struct oc_err *err)
{
    struct oc_buf b = {0};
    long back = closing_bytes(path);
    struct oc_json_out w = {.f = oc_buf_stream(&b)}, text = {.f = w.f};
    fputs(",\n{\"cat\" : \"onnxcost\",\"pid\" :0,\"tid\" :0,\"dur\" :0,\"ts\" :0,\"ph\" : \"M\",\"name\" :",
          w.f);
    oc_jw_string(&w, assumed);
    fputs(",\"args\" : {", w.f);
    if (m->providers && *m->providers) {
        fputs("\"execution_providers\" : ", w.f);
        oc_jw_string(&text, m->providers);
        fputc(',', w.f);
    }
    fprintf(w.f,
            "\"started_s\" : %.3f,\"processors\" : %.0f,\"threads\" : %.0f,"
            "\"processors_of_others\" : %.3f,\"processors_stolen\" : %.3f,\"throttled\" : %.0f,"
            "\"vector_probe_ns\" : %.5g,\"vector_probe_fastest_ns\" : %.5g,\"session_ns\" : "
            "%.0f,\"first_run_ns\" : %.0f,\"clock_limits\" : ",
            m->started_s, m->processors, m->threads, m->others, m->stolen, m->throttled, m->probe_ns,
            m->probe_fastest_ns, m->session_ns, m->first_run_ns);
    w = (struct oc_json_out){.f = w.f};
    oc_jw_string(&w, m->limits);
    fputs("}}\n]\n", w.f);
    fclose(w.f);
    int rc = back ? write_at_end(path, back, &b, err) : 0;
    oc_buf_free(&b);
    return rc;
}

static int keep_files(struct oc_record_files *f, const char *profile, const struct oc_prof_machine *m,
                      struct oc_err *err)
{
    const char *weights = oc_printf(f->a, "%s/%s", f->folder, f->weights_name);
    if (access(profile, R_OK))
        return oc_fail(err, OC_ELIBRARY, "ONNX Runtime has written no profile");
    bool lacks = access(f->temporary_optimized, R_OK) != 0;
    f->no_optimized |= lacks;
    if (lacks && !f->may_lack)
        return oc_fail(err, OC_ELIBRARY, "ONNX Runtime has not saved the optimized model");
    if (check_whole(profile, f->profile, ']', err) ||
        (!lacks && check_whole(f->temporary_optimized, f->optimized, '\0', err)))
        return -1;
    bool assumed = f->assumed && *f->assumed;
    if ((assumed && !lacks && mark_model(f->temporary_optimized, f->assumed, err)) ||
        mark_profile(profile, assumed ? f->assumed : "", m, err))
        return -1;
    if (f->no_optimized)
        return move(profile, f->profile, err);
    if (!access(weights, R_OK) && move(weights, oc_printf(f->a, "%s.data", f->optimized), err))
        return -1;
    return move(f->temporary_optimized, f->optimized, err) || move(profile, f->profile, err) ? -1 : 0;
}

void oc_record_folder_remove(const char *folder, struct oc_arena *a)
{
    DIR *d = opendir(folder);
    const struct dirent *e;
    while (d && (e = readdir(d)))
        if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
            unlink(oc_printf(a, "%s/%s", folder, e->d_name));
    if (d)
        closedir(d);
    rmdir(folder);
}

int oc_record_files_close(struct oc_record_files *f, const char *profile, const struct oc_prof_machine *m,
                          struct oc_err *err)
{
    int rc = profile ? keep_files(f, profile, m, err) : 0;
    if (f->folder)
        oc_record_folder_remove(f->folder, f->a);
    f->folder = NULL;
    return rc;
}
