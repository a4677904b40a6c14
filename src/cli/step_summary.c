#include "cli/step_summary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* GitHub refuses a longer summary of a step, with those written before it. */
#define MAX_BYTES (1u << 20)

static int append(const char *path, const char *text, size_t n)
{
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
    if (!o->format || strcmp(o->format, "github") != 0 || !path || !*path)
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
        rc = append(path, text, n);
    free(text);
    return rc;
}
