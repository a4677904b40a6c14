#include "cli/stdin_file.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"

static size_t count_dashes(const struct cli_opts *o)
{
    const struct cli_list *const lists[] = {&o->word, &o->profile};
    const char *const files[] = {o->optimized_model, o->b_optimized_model};
    size_t n = 0;
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        for (size_t k = 0; k < lists[i]->n; k++)
            n += !strcmp(lists[i]->item[k], "-");
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        n += files[i] && !strcmp(files[i], "-");
    return n;
}

static uint64_t most_bytes(const struct cli_opts *o)
{
    struct oc_cap_info info;
    oc_cap_info(OC_CAP_FILE_BYTES, &info);
    uint64_t set = o->caps.most[OC_CAP_FILE_BYTES];
    return set ? set : info.otherwise;
}

static bool write_all(int fd, const char *data, size_t n)
{
    while (n) {
        ssize_t done = write(fd, data, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        data += done;
        n -= (size_t)done;
    }
    return true;
}

/* All of standard input into `fd`. */
static int copy(int fd, uint64_t most)
{
    static char piece[1 << 16];
    uint64_t bytes = 0;
    for (;;) {
        ssize_t n = read(STDIN_FILENO, piece, sizeof(piece));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return cli_fail(CLI_INPUT, "cannot read '-': %s", strerror(errno));
        if (!n)
            return 0;
        bytes += (uint64_t)n;
        if (bytes > most)
            return cli_fail(CLI_INPUT,
                            "cannot read '-': more than %llu bytes on standard input: raise the limit with "
                            "--limit file-bytes=N",
                            (unsigned long long)most);
        if (!write_all(fd, piece, (size_t)n))
            return cli_fail(CLI_ENVIRONMENT, "cannot keep standard input in memory: %s", strerror(errno));
    }
}

int cli_take_stdin(const struct cli_opts *o)
{
    struct stat st;
    size_t n = count_dashes(o);
    if (!n)
        return 0;
    if (n > 1)
        return cli_fail(CLI_USAGE, "'-' is given %zu times: standard input is one file, name the others", n);
    if (isatty(STDIN_FILENO))
        return cli_fail(CLI_USAGE, "cannot read '-': standard input is a terminal: redirect a file into it");
    if (fstat(STDIN_FILENO, &st) == 0 && S_ISREG(st.st_mode))
        return 0;
    int fd = memfd_create("standard input", MFD_CLOEXEC);
    if (fd < 0)
        return cli_fail(CLI_ENVIRONMENT, "cannot keep standard input in memory: %s", strerror(errno));
    int rc = copy(fd, most_bytes(o));
    if (!rc && dup2(fd, STDIN_FILENO) < 0)
        rc = cli_fail(CLI_ENVIRONMENT, "cannot keep standard input in memory: %s", strerror(errno));
    close(fd);
    return rc;
}
