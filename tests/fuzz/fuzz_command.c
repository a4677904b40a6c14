/* Every command with files and options that its bytes choose, through the entry of the program: one of its
 * exit codes, a message without control characters when it fails, and JSON that parses. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "case.h"
#include "cli/cli.h"
#include "support/strict_json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

enum { MAX_OUT_BYTES = 64 << 20 };

static char folder[64];

static void leave(void)
{
    rmdir(folder);
    fuzz_seeds_free();
}

static void set_up(void)
{
    const char *seeds = getenv("FUZZ_SEEDS");
    fuzz_seeds_load(seeds ? seeds : "tests/fuzz/seeds");
    snprintf(folder, sizeof(folder), "/dev/shm/onnxcost-fuzz-XXXXXX");
    if (!mkdtemp(folder)) {
        snprintf(folder, sizeof(folder), "/tmp/onnxcost-fuzz-XXXXXX");
        if (!mkdtemp(folder))
            abort();
    }
    atexit(leave);
}

/* A standard stream that writes to memory for a while. */
struct capture {
    FILE *stream;
    int saved, memory;
};

static struct capture capture(FILE *stream)
{
    struct capture c = {
        .stream = stream, .saved = dup(fileno(stream)), .memory = memfd_create("captured", 0)};
    fflush(stream);
    if (c.saved < 0 || c.memory < 0 || dup2(c.memory, fileno(stream)) < 0)
        abort();
    return c;
}

/* Ends it. Returns what was written, with a null character after it: free(). */
static char *captured(struct capture *c, size_t *n)
{
    struct stat s;
    fflush(c->stream);
    clearerr(c->stream);
    if (dup2(c->saved, fileno(c->stream)) < 0 || fstat(c->memory, &s))
        abort();
    close(c->saved);
    *n = s.st_size < MAX_OUT_BYTES ? (size_t)s.st_size : MAX_OUT_BYTES;
    char *text = malloc(*n + 1);
    if (!text || pread(c->memory, text, *n, 0) != (ssize_t)*n)
        abort();
    text[*n] = '\0';
    close(c->memory);
    return text;
}

static void fail(const struct fuzz_case *k, const char *what, const char *err)
{
    fprintf(stderr, "%s:", what);
    for (int i = 0; i < k->argc; i++)
        fprintf(stderr, " '%s'", k->argv[i]);
    fprintf(stderr, "\n%.2000s\n", err);
    abort();
}

static void check(const struct fuzz_case *k, int rc, const char *out, size_t n_out, const char *err,
                  size_t n_err)
{
    if (rc < CLI_OK || rc > CLI_ENVIRONMENT)
        fail(k, "no exit code of the program", err);
    if (rc >= CLI_USAGE && !strstr(err, "onnxcost: "))
        fail(k, "it failed without a message", err);
    if (strstr(err, ": the analysis crashed ("))
        fail(k, "a worker of scan crashed", err);
    for (size_t i = 0; i < n_err; i++)
        if ((unsigned char)err[i] < ' ' && err[i] != '\n')
            fail(k, "a control character in a message", err);
    if (rc <= CLI_FINDINGS && !k->writes && k->format && !strcmp(k->format, "json") && n_out &&
        !strict_json(out, n_out, NULL))
        fail(k, "no JSON", out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct fuzz_choices choices = {.data = data, .n = n};
    struct fuzz_case k;
    size_t n_out, n_err;
    if (!folder[0])
        set_up();
    fuzz_case_make(&k, folder, &choices);
    if (!fuzz_case_write(&k))
        abort();
    struct capture out = capture(stdout), err = capture(stderr);
    int rc = cli_run(k.argc, k.argv);
    char *err_text = captured(&err, &n_err), *out_text = captured(&out, &n_out);
    check(&k, rc, out_text, n_out, err_text, n_err);
    fuzz_case_remove(&k);
    fuzz_case_free(&k);
    free(err_text);
    free(out_text);
    return 0;
}
