#include "cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/ascii_stream.h"
#include "cli/cli.h"
#include "cli/fault.h"
#include "cli/xmem.h"

static int fail_write(const char *path, int error)
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

/* ---- the stream: records the first failed write
 * ---------------------------------------------------------------
 */

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

static ssize_t write_all(void *cookie, const char *data, size_t n)
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
    struct cli_sink *s = out->sink = cli_xcalloc(1, sizeof(*s));
    s->fd = fd;
    s->f = fopencookie(s, "w", (cookie_io_functions_t){.write = write_all});
    if (!s->f)
        cli_out_of_memory(sizeof(*s));
    setvbuf(s->f, s->buffer, out->terminal ? _IOLBF : _IOFBF, sizeof(s->buffer));
    s->ascii = out->terminal && !out->path && !cli_locale_is_utf8() ? cli_ascii_stream(s->f) : NULL;
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

/* ---- the file
 * ----------------------------------------------------------------------------------------------
 */

/* A new file gets the permissions that the umask gives, an old one keeps its own. */
static void set_mode(int fd, const struct stat *old)
{
    mode_t mask = umask(0);
    umask(mask);
    mode_t mode = old ? old->st_mode & 0777 : 0666 & ~mask;
    if (fchmod(fd, mode))
        return; /* a file system without permissions */
}

static int open_temporary(struct cli_output *out, const struct stat *old)
{
    /* A link stays a link: what it points at is replaced. */
    out->target = old ? realpath(out->path, NULL) : strdup(out->path);
    if (!out->target)
        return fail_write(out->path, errno);
    size_t n = strlen(out->target) + sizeof(".XXXXXX");
    out->temporary = cli_xrealloc(NULL, n);
    snprintf(out->temporary, n, "%s.XXXXXX", out->target);
    int fd = mkostemp(out->temporary, O_CLOEXEC);
    if (fd < 0) {
        int error = errno;
        free(out->temporary);
        out->temporary = NULL;
        return fail_write(out->path, error);
    }
    cli_fault_remove(out->temporary);
    set_mode(fd, old);
    return open_stream(out, fd);
}

int cli_output_open(const char *path, struct cli_output *out)
{
    *out = (struct cli_output){.f = NULL};
    if (!path || !strcmp(path, "-")) {
        out->terminal = isatty(STDOUT_FILENO);
        return open_stream(out, STDOUT_FILENO);
    }
    out->path = path;
    struct stat st;
    bool there = stat(path, &st) == 0;
    if (there && S_ISDIR(st.st_mode))
        return fail_write(path, EISDIR);
    if (there && !S_ISREG(st.st_mode)) {
        int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOCTTY);
        if (fd < 0)
            return fail_write(path, errno);
        out->terminal = isatty(fd);
        return open_stream(out, fd);
    }
    int rc = open_temporary(out, there ? &st : NULL);
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
        rc = error == EPIPE ? CLI_ENVIRONMENT : fail_write(out->path, error);
    if (out->temporary) {
        if (keep && !rc && rename(out->temporary, out->target))
            rc = fail_write(out->path, errno);
        if (!keep || rc)
            unlink(out->temporary);
        cli_fault_forget(out->temporary);
    }
    free(out->temporary);
    free(out->target);
    *out = (struct cli_output){0};
    return rc;
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
