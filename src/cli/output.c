/* The file of a report. */
#include "cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"

/* What LC_ALL, LC_CTYPE or LANG, the first that is set, says. */
static bool locale_is_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    const char *value = NULL;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !(value && *value); i++)
        value = getenv(names[i]);
    for (const char *p = value; p && *p; p++)
        if (!strncasecmp(p, "utf8", 4) || !strncasecmp(p, "utf-8", 5))
            return true;
    return false;
}

struct range {
    unsigned from, to;
    const char *ascii;
};

/* In order of code points; what is in none of them is one question mark. */
static const struct range ranges[] = {
    {0xb5, 0xb5, "u"},       {0x300, 0x36f, ""},     {0x3bc, 0x3bc, "u"},    {0x1100, 0x115f, "??"},
    {0x200b, 0x200f, ""},    {0x2010, 0x2015, "-"},  {0x2018, 0x2019, "'"},  {0x201c, 0x201d, "\""},
    {0x2026, 0x2026, "~"},   {0x2500, 0x2501, "-"},  {0x2502, 0x2503, "|"},  {0x2504, 0x254f, "+"},
    {0x2550, 0x2550, "="},   {0x2551, 0x2551, "|"},  {0x2552, 0x257f, "+"},  {0x2580, 0x259f, "#"},
    {0x2e80, 0xa4cf, "??"},  {0xac00, 0xd7a3, "??"}, {0xf900, 0xfaff, "??"}, {0xfe00, 0xfe0f, ""},
    {0xfe30, 0xfe6f, "??"},  {0xff00, 0xff60, "??"}, {0xffe0, 0xffe6, "??"}, {0x1f300, 0x1faff, "??"},
    {0x20000, 0x3fffd, "??"}};

struct filter {
    FILE *to;
    unsigned code, missing; /* of the character that has begun, and how many bytes of it are to come */
};

static void output_put(struct filter *f)
{
    const char *ascii = "?";
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
        if (f->code >= ranges[i].from && f->code <= ranges[i].to)
            ascii = ranges[i].ascii;
    fputs(ascii, f->to);
}

static void output_take(struct filter *f, unsigned char c)
{
    if (f->missing && (c & 0xc0) == 0x80) {
        f->code = f->code << 6 | (c & 0x3f);
        if (--f->missing == 0)
            output_put(f);
        return;
    }
    if (f->missing) /* it was cut short */
        putc('?', f->to);
    f->missing = c >= 0xf0 && c < 0xf8 ? 3 : c >= 0xe0 && c < 0xf0 ? 2 : c >= 0xc0 && c < 0xe0 ? 1 : 0;
    f->code = f->missing ? c & (0x3fu >> f->missing) : 0;
    if (!f->missing)
        putc(c < 0x80 ? c : '?', f->to);
}

static ssize_t write_some(void *cookie, const char *text, size_t n)
{
    struct filter *f = cookie;
    for (size_t i = 0; i < n; i++)
        output_take(f, (unsigned char)text[i]);
    if (!fflush(f->to))
        return (ssize_t)n;
    errno = errno ? errno : EIO;
    return 0;
}

static int close_filter(void *cookie)
{
    free(cookie);
    return 0;
}

/* A stream whose text goes on to `to` in ASCII. Closing it does not close `to`. */
static FILE *ascii_stream(FILE *to)
{
    struct filter *f = cli_xcalloc(1, sizeof(*f));
    f->to = to;
    FILE *stream = fopencookie(f, "w", (cookie_io_functions_t){.write = write_some, .close = close_filter});
    if (!stream)
        cli_out_of_memory(0);
    return stream;
}

/* ---- output ----------------------------------------------------------------------------------------- */

static int output_fail_write(const char *path, int error)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    struct stat st;
    if (error == ENOENT && slash > path) {
        char *folder = cli_xstrndup(path, (size_t)(slash - path));
        bool missing = stat(folder, &st) && errno == ENOENT;
        if (missing)
            cli_fail(CLI_ENVIRONMENT, "cannot write '%s': there is no folder '%s'; create it: mkdir -p %s",
                     path, folder, folder);
        free(folder);
        if (missing)
            return CLI_ENVIRONMENT;
    }
    return cli_fail(CLI_ENVIRONMENT, "cannot write '%s': %s", path ? path : "standard output",
                    strerror(error));
}

/* ---- the stream: records the first failed write ----------------------------------------------------- */

struct cli_sink {
    int fd, error; /* errno of the first write that failed; stdio does not keep it */
    FILE *f, *ascii;
    char buffer[1 << 16];
};

/* Whether another try may do: interrupted, or a pipe that does not block is full. */
static bool again(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    if (errno == EAGAIN || errno == EWOULDBLOCK)
        return poll(&p, 1, -1) >= 0 || errno == EINTR;
    return errno == EINTR;
}

static ssize_t output_write_all(void *cookie, const char *data, size_t n)
{
    struct cli_sink *s = cookie;
    size_t done = 0;
    while (done < n && !s->error) {
        ssize_t k = write(s->fd, data + done, n - done);
        if (k >= 0)
            done += (size_t)k;
        else if (!again(s->fd))
            s->error = errno;
    }
    return (ssize_t)done;
}

static int open_stream(struct cli_output *out, int fd)
{
    struct cli_sink *s = out->sink =
        cli_xrealloc(NULL, sizeof(*s)); /* the buffer: no page before it is used */
    s->fd = fd;
    s->error = 0;
    s->f = fopencookie(s, "w", (cookie_io_functions_t){.write = output_write_all});
    if (!s->f)
        cli_out_of_memory(sizeof(*s));
    setvbuf(s->f, s->buffer, out->terminal ? _IOLBF : _IOFBF, sizeof(s->buffer));
    s->ascii = out->terminal && !out->path && !locale_is_utf8() ? ascii_stream(s->f) : NULL;
    out->f = s->ascii ? s->ascii : s->f;
    return 0;
}

/* Syncs the file before it replaces another: after a crash of the machine the name has the old bytes or the
 * new ones, and a failing disk is detected. File systems without fsync support are accepted. The folder is
 * not synced: both of its states are consistent. Returns errno or 0. */
static int sync_file(int fd)
{
    int rc;
    do {
        rc = fsync(fd);
    } while (rc && errno == EINTR);
    bool cannot = rc && (errno == EINVAL || errno == EROFS || errno == ENOTSUP || errno == ENOSYS);
    return rc && !cannot ? errno : 0;
}

/* Returns errno of what went wrong, 0: nothing. */
static int close_stream(struct cli_output *out, bool keep)
{
    struct cli_sink *s = out->sink;
    if (!s)
        return 0;
    bool bad = s->ascii && (ferror(s->ascii) | fclose(s->ascii));
    bad |= ferror(s->f) | fclose(s->f);
    int error = s->error;
    if (keep && out->temporary && !error && !bad)
        error = sync_file(s->fd);
    if (s->fd != STDOUT_FILENO && close(s->fd) && !error && errno != EINTR)
        error = errno;
    free(s);
    out->sink = NULL;
    return error ? error : bad ? EIO : 0;
}

/* ---- the file --------------------------------------------------------------------------------------- */

/* A new file gets the permissions that the umask gives, an old one keeps its own. */
static void set_mode(int fd, const struct stat *old)
{
    mode_t mask = umask(0);
    umask(mask);
    mode_t mode = old ? old->st_mode & 0777 : 0666 & ~mask;
    if (fchmod(fd, mode))
        return; /* a file system without permissions */
}

/* 0, or CLI_USAGE after a message: the file is read by the command. */
static int check_target(const char *path)
{
    if (!cli_is_input(path))
        return 0;
    return cli_fail(CLI_USAGE,
                    "cannot write '%s': the command reads this file, or has just written it; give the output "
                    "another name",
                    path);
}

static int open_temporary(struct cli_output *out, const struct stat *old)
{
    /* A link stays a link: what it points at is replaced. */
    out->target = old ? realpath(out->path, NULL) : strdup(out->path);
    if (!out->target)
        return output_fail_write(out->path, errno);
    size_t n = strlen(out->target) + sizeof(".XXXXXX");
    out->temporary = cli_xrealloc(NULL, n);
    snprintf(out->temporary, n, "%s.XXXXXX", out->target);
    int fd = mkostemp(out->temporary, O_CLOEXEC);
    if (fd < 0) {
        int error = errno;
        free(out->temporary);
        out->temporary = NULL;
        return output_fail_write(out->path, error);
    }
    cli_fault_remove(out->temporary);
    if (old)
        cli_target_watch(old);
    set_mode(fd, old);
    return open_stream(out, fd);
}

static bool no_files;

void cli_output_no_files(void)
{
    no_files = true;
}

int cli_output_open(const char *path, struct cli_output *out)
{
    *out = (struct cli_output){.f = NULL};
    if (!path || !strcmp(path, "-")) {
        out->terminal = isatty(STDOUT_FILENO);
        return open_stream(out, STDOUT_FILENO);
    }
    if (no_files)
        return cli_fail(CLI_USAGE, "cannot write '%s': a tool of a server writes no files", path);
    out->path = path;
    struct stat st;
    bool there = stat(path, &st) == 0;
    if (there && S_ISDIR(st.st_mode))
        return output_fail_write(path, EISDIR);
    if (there && !S_ISREG(st.st_mode)) {
        int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOCTTY);
        if (fd < 0)
            return output_fail_write(path, errno);
        out->terminal = isatty(fd);
        return open_stream(out, fd);
    }
    int rc = check_target(path);
    rc = rc ? rc : open_temporary(out, there ? &st : NULL);
    if (rc)
        cli_output_close(out, false);
    return rc;
}

int cli_output_fail(struct cli_output *out, const struct oc_err *err)
{
    if (err->code != OC_EOUTPUT || !(ferror(out->f) || fflush(out->f)))
        return cli_fail_err(err);
    out->unsaid = true;
    return CLI_ENVIRONMENT;
}

int cli_output_close(struct cli_output *out, bool keep)
{
    int error = close_stream(out, keep), rc = 0;
    if (error && (keep || out->unsaid))
        rc = error == EPIPE ? CLI_ENVIRONMENT : output_fail_write(out->path, error);
    if (out->temporary) {
        if (keep && !rc)
            rc = check_target(out->path);
        if (keep && !rc && rename(out->temporary, out->target))
            rc = output_fail_write(out->path, errno);
        if (keep && !rc)
            cli_input_note(out->target);
        if (!keep || rc)
            unlink(out->temporary);
        cli_fault_forget(out->temporary);
    }
    free(out->temporary);
    free(out->target);
    *out = (struct cli_output){0};
    return rc;
}

int cli_output_write(const char *path, cli_put put, const void *job)
{
    struct cli_output out;
    struct oc_err err;
    int rc = cli_output_open(path, &out);
    if (rc)
        return rc;
    int failed = put(job, &out, &err) ? cli_output_fail(&out, &err) : 0;
    rc = cli_output_close(&out, !failed);
    return failed ? failed : rc;
}

unsigned cli_width(const struct cli_output *out, const struct cli_int *asked)
{
    if (asked->set)
        return asked->v > 0 && asked->v < 100000 ? (unsigned)asked->v : 0;
    const char *columns = getenv("COLUMNS");
    if (columns && *columns) {
        char *end;
        long v = strtol(columns, &end, 10);
        if (!*end && v > 0 && v < 100000)
            return (unsigned)v;
    }
    struct winsize size;
    if (out->terminal && !ioctl(out->sink->fd, TIOCGWINSZ, &size) && size.ws_col > 0)
        return size.ws_col;
    return 0;
}

unsigned cli_width_of(const struct cli_opts *o)
{
    struct cli_sink sink = {.fd = STDOUT_FILENO};
    bool file = o->output && strcmp(o->output, "-") != 0;
    const struct cli_output out = {.sink = &sink, .terminal = !file && isatty(STDOUT_FILENO)};
    return cli_width(&out, &o->width);
}

bool cli_color(const struct cli_output *out, const char *when)
{
    if (when && !strcmp(when, "always"))
        return true;
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    if ((when && !strcmp(when, "never")) || (no && *no) || (term && !strcmp(term, "dumb")))
        return false;
    return out->terminal;
}

/* ---- progress --------------------------------------------------------------------------------------- */

struct cli_progress {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool done;
    char text[160];
    struct oc_reading reading;
};

/* ", 41 %, about 12 s left" of a file that is being read; "" without one, and when it is read. */
static const char *reading_text(const struct oc_reading *r, char *buf, size_t cap)
{
    uint64_t all = __atomic_load_n(&r->all_bytes, __ATOMIC_ACQUIRE);
    uint64_t read = __atomic_load_n(&r->read_bytes, __ATOMIC_RELAXED);
    double from_s;
    __atomic_load(&r->from_s, &from_s, __ATOMIC_RELAXED);
    if (!read || read >= all)
        return "";
    char left[48];
    double part = (double)read / (double)all;
    snprintf(buf, cap, ", %.0f %%%s", 100 * part, oc_left_text(part, from_s, left, sizeof(left)));
    return buf;
}

static void *output_watch(void *arg)
{
    struct cli_progress *p = arg;
    bool shown = false;
    char left[64];
    struct timespec next;
    clock_gettime(CLOCK_MONOTONIC, &next);
    pthread_mutex_lock(&p->lock);
    while (!p->done) {
        next.tv_sec++;
        while (!p->done && !pthread_cond_timedwait(&p->changed, &p->lock, &next))
            ;
        if (p->done)
            break;
        fprintf(stderr, "\r\033[K%s%s ...", p->text, reading_text(&p->reading, left, sizeof(left)));
        fflush(stderr);
        shown = true;
    }
    pthread_mutex_unlock(&p->lock);
    if (shown)
        fputs("\r\033[K", stderr);
    return NULL;
}

struct cli_progress *cli_progress_start(void)
{
    if (!isatty(STDERR_FILENO))
        return NULL;
    struct cli_progress *p = cli_xcalloc(1, sizeof(*p));
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->changed, &attr);
    pthread_condattr_destroy(&attr);
    if (!pthread_create(&p->thread, NULL, output_watch, p))
        return p;
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
    free(p);
    return NULL;
}

void cli_progress_say(struct cli_progress *p, const char *what, const char *path)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    snprintf(p->text, sizeof(p->text), "%s %s", what, path);
    oc_make_visible(p->text);
    pthread_mutex_unlock(&p->lock);
}

struct oc_reading *cli_progress_reading(struct cli_progress *p)
{
    return p ? &p->reading : NULL;
}

void cli_progress_stop(struct cli_progress *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->done = true;
    pthread_cond_signal(&p->changed);
    pthread_mutex_unlock(&p->lock);
    pthread_join(p->thread, NULL);
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

/* ---- step summary ----------------------------------------------------------------------------------- */

/* GitHub refuses a longer summary of a step, with those written before it. */
#define MAX_BYTES (1u << 20)

static int output_append(const char *path, const char *text, size_t n)
{
    int rc = check_target(path);
    if (rc)
        return rc;
    FILE *f = fopen(path, "ae");
    bool failed = !f || fwrite(text, 1, n, f) < n;
    int error = errno;
    if (f && fclose(f) && !failed) {
        failed = true;
        error = errno;
    }
    return failed ? cli_fail(CLI_ENVIRONMENT, "cannot write '%s' ($GITHUB_STEP_SUMMARY): %s", path,
                             strerror(error))
                  : 0;
}

int cli_step_summary(const struct cli_opts *o, int (*write)(const void *subject, FILE *f, struct oc_err *err),
                     const void *subject)
{
    const char *path = getenv("GITHUB_STEP_SUMMARY");
    struct oc_err err;
    char *text = NULL;
    size_t n = 0;
    if (!cli_is(o->format, "github") || !path || !*path)
        return 0;
    FILE *f = open_memstream(&text, &n);
    if (!f)
        return cli_fail(CLI_ENVIRONMENT, "cannot write the step summary: %s", strerror(errno));
    int rc = write(subject, f, &err) ? cli_fail_err(&err) : 0;
    if (!rc)
        fputc('\n', f);
    if (fclose(f) && !rc)
        rc = cli_fail(CLI_ENVIRONMENT, "cannot write the step summary: %s", strerror(errno));
    if (!rc && n > MAX_BYTES)
        cli_warn("the step summary is left out: %zu bytes, of which GitHub takes 1 MiB", n);
    else if (!rc)
        rc = output_append(path, text, n);
    free(text);
    return rc;
}

/* ---- how a report was made -------------------------------------------------------------------------- */

static void put_word(const char *word, FILE *f)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-";
    bool quote = !*word || word[strspn(word, plain)];
    fputs(quote ? " '" : " ", f);
    for (; *word; word++)
        if (*word == '\'')
            fputs("'\\''", f);
        else
            putc((unsigned char)*word, f);
    fputs(quote ? "'" : "", f);
}

/* The time in UTC, that of SOURCE_DATE_EPOCH where it is set; "" where it is not known. */
static void put_now(const char *format, char *buf, size_t cap)
{
    const char *epoch = getenv("SOURCE_DATE_EPOCH");
    time_t now = epoch && *epoch ? (time_t)strtoll(epoch, NULL, 10) : time(NULL);
    struct tm utc;
    if (!gmtime_r(&now, &utc) || !strftime(buf, cap, format, &utc))
        buf[0] = '\0';
}

void cli_today(char *buf, size_t cap)
{
    put_now("%Y-%m-%d", buf, cap);
}

/* "onnxcost 1.0.0-rc, 2026-11-23 10:31 UTC: onnxcost model.onnx -f html". */
char *cli_page_made(const struct cli_opts *o)
{
    char date[32], *text = NULL;
    size_t n;
    if (!cli_is(o->format, "html") && !cli_is(o->format, "fragment"))
        return NULL;
    put_now(", %Y-%m-%d %H:%M UTC", date, sizeof(date));
    FILE *f = open_memstream(&text, &n);
    bool failed = !f;
    if (f) {
        fprintf(f, "onnxcost %s%s: onnxcost", ONNXCOST_VERSION, date);
        for (int i = 1; i < o->argc; i++)
            put_word(o->argv[i], f);
        failed = ferror(f) != 0;
        failed = fclose(f) || failed;
    }
    if (failed || !text)
        cli_out_of_memory(BUFSIZ);
    return text;
}
