#include "cli/output.h"

#include <errno.h>
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
    return cli_fail(CLI_ENVIRONMENT, "cannot write '%s': %s", path ? path : "standard output",
                    strerror(error));
}

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
    int fd = mkstemp(out->temporary);
    if (fd < 0) {
        int error = errno;
        free(out->temporary);
        out->temporary = NULL;
        return fail_write(out->path, error);
    }
    cli_fault_remove(out->temporary);
    set_mode(fd, old);
    out->f = fdopen(fd, "w");
    return out->f ? 0 : fail_write(out->path, errno);
}

int cli_output_open(const char *path, struct cli_output *out)
{
    *out = (struct cli_output){.f = stdout};
    if (!path || !strcmp(path, "-")) {
        out->terminal = isatty(STDOUT_FILENO);
        FILE *ascii = out->terminal && !cli_locale_is_utf8() ? cli_ascii_stream(stdout) : NULL;
        out->f = ascii ? ascii : stdout;
        return 0;
    }
    out->path = path;
    out->f = NULL;
    struct stat st;
    bool there = stat(path, &st) == 0;
    if (there && S_ISDIR(st.st_mode))
        return fail_write(path, EISDIR);
    if (there && !S_ISREG(st.st_mode)) {
        out->f = fopen(path, "w");
        out->terminal = out->f && isatty(fileno(out->f));
        return out->f ? 0 : fail_write(path, errno);
    }
    int rc = open_temporary(out, there ? &st : NULL);
    if (rc)
        cli_output_close(out, false);
    return rc;
}

int cli_output_close(struct cli_output *out, bool keep)
{
    int rc = 0;
    if (out->f) {
        errno = 0;
        bool bad = fflush(out->f) || ferror(out->f);
        int error = errno ? errno : EIO;
        if (out->f != stdout && fclose(out->f) && !bad) {
            bad = true;
            error = errno;
        }
        if (bad && keep)
            rc = error == EPIPE ? CLI_ENVIRONMENT : fail_write(out->path, error);
    }
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

unsigned cli_width(const struct cli_output *out)
{
    const char *columns = getenv("COLUMNS");
    if (columns && *columns) {
        char *end;
        long v = strtol(columns, &end, 10);
        if (!*end && v > 0 && v < 100000)
            return (unsigned)v;
    }
    struct winsize size;
    int fd = out->terminal ? fileno(out->f) : -1; /* -1: no terminal, or one behind a stream of its own */
    if (out->terminal && !ioctl(fd < 0 ? STDOUT_FILENO : fd, TIOCGWINSZ, &size) && size.ws_col > 0)
        return size.ws_col;
    return 0;
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
