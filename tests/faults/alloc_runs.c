/* Runs a program over a list of jobs and makes one allocation after the other fail.
 *   alloc_runs [--all] [--depth N] [--show] SHIM STATE PROGRAM <JOBS      a job is a line of arguments
 *
 * Jobs write into the folder o of the current folder, which is emptied before each run (a job that begins
 * with '+' finds an existing file o/out). A run in which an allocation failed must either give the same
 * result as without the failure (exit code, standard output, standard error and files), or exit with code 4,
 * report "memory" and leave existing files in o unchanged, or the complete new files. Each allocating call
 * site, identified by N callers, fails once over all jobs (--all: each call of each job); from some of them
 * on, all later allocations fail too. */
#include "alloc_faults.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_WORDS = 64, MAX_SEEN = 1 << 20, SECONDS = 120 };

static const char old_text[] = "existing content\n";

struct text {
    char *s;
    size_t n;
};

struct run {
    int status;
    bool late;
    struct text out, err, files;
};

static struct alloc_faults *state;
static uint64_t seen[MAX_SEEN]; /* a hash table; 0: free */
static size_t n_bad, n_tried, n_recovered, n_linker;

static void must(bool ok, const char *what)
{
    if (ok)
        return;
    perror(what);
    exit(2);
}

static void add(struct text *t, const void *p, size_t n)
{
    t->s = realloc(t->s, t->n + n + 1);
    must(t->s != NULL, "realloc");
    memcpy(t->s + t->n, p, n);
    t->n += n;
    t->s[t->n] = '\0';
}

static void add_file(struct text *t, const char *path)
{
    char block[1 << 16];
    int fd = open(path, O_RDONLY);
    must(fd >= 0, path);
    for (ssize_t n; (n = read(fd, block, sizeof(block))) > 0;)
        add(t, block, (size_t)n);
    close(fd);
    add(t, "", 0);
}

static bool same(const struct text *a, const struct text *b)
{
    return a->n == b->n && !memcmp(a->s, b->s, a->n);
}

/* ---- the folder o -------------------------------------------------------------------------------------- */

static int visible(const struct dirent *e)
{
    return strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
}

/* Names and contents of all files; empties it. */
static struct text take_files(void)
{
    struct text all = {0};
    struct dirent **list;
    int n = scandir("o", &list, visible, alphasort);
    must(n >= 0, "o");
    for (int i = 0; i < n; i++) {
        char path[512];
        snprintf(path, sizeof(path), "o/%s", list[i]->d_name);
        add(&all, path, strlen(path) + 1);
        add_file(&all, path);
        unlink(path);
        free(list[i]);
    }
    free(list);
    add(&all, "", 0);
    return all;
}

static struct text old_files(bool old)
{
    struct text t = {0};
    if (old) {
        add(&t, "o/out", 6);
        add(&t, old_text, strlen(old_text));
    }
    add(&t, "", 0);
    return t;
}

static void put_old(void)
{
    FILE *f = fopen("o/out", "w");
    must(f && fputs(old_text, f) >= 0 && !fclose(f), "o/out");
}

/* ---- one run ------------------------------------------------------------------------------------------- */

static void exec_child(char **word, const char *shim, bool show)
{
    int in = open("/dev/null", O_RDONLY), out = open("stdout", O_WRONLY | O_CREAT | O_TRUNC, 0600),
        err = open("stderr", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    personality(ADDR_NO_RANDOMIZE); /* fixed addresses: call sites are compared between runs */
    dup2(in, 0);
    dup2(out, 1);
    dup2(err, 2);
    setenv("LD_PRELOAD", shim, 1);
    if (show)
        setenv("ALLOC_FAULTS_SHOW", "1", 1);
    alarm(SECONDS);
    execv(word[0], word);
    _exit(127);
}

static struct run run(char **word, const char *shim, bool old, bool show)
{
    struct run r = {0};
    if (old)
        put_old();
    state->calls = state->failed = 0;
    pid_t pid = fork();
    must(pid >= 0, "fork");
    if (!pid)
        exec_child(word, shim, show);
    waitpid(pid, &r.status, 0);
    r.late = WIFSIGNALED(r.status) && WTERMSIG(r.status) == SIGALRM;
    add_file(&r.out, "stdout");
    add_file(&r.err, "stderr");
    r.files = take_files();
    return r;
}

static void free_run(struct run *r)
{
    free(r->out.s);
    free(r->err.s);
    free(r->files.s);
}

static bool reports_memory(const struct text *t)
{
    return memmem(t->s, t->n, "memory", 6) != NULL;
}

/* NULL: correct. */
static const char *judge(const struct run *r, const struct run *whole, bool old)
{
    if (r->late)
        return "does not terminate";
    if (WIFSIGNALED(r->status))
        return strsignal(WTERMSIG(r->status));
    if (r->status == whole->status && same(&r->out, &whole->out) && same(&r->err, &whole->err) &&
        same(&r->files, &whole->files)) {
        n_recovered += 1;
        return NULL;
    }
    if (r->status == whole->status)
        return !same(&r->out, &whole->out)   ? "standard output differs"
               : !same(&r->err, &whole->err) ? "standard error differs"
                                             : "an output file differs";
    int code = WEXITSTATUS(r->status);
    bool row =
        code == 1 && (reports_memory(&r->out) || reports_memory(&r->files)); /* of a scan, which continues */
    if (row)
        return NULL;
    if (code != 4 && code != 127) /* the latter is how the dynamic linker exits */
        return "neither exit code 4 nor the result";
    if (!reports_memory(&r->err))
        return "does not report that memory ran out";
    struct text kept = old_files(old);
    bool whole_or_none = same(&r->files, &kept) || same(&r->files, &whole->files);
    n_linker += code == 127;
    free(kept.s);
    return whole_or_none ? NULL : "left a partial file";
}

/* ---- a job --------------------------------------------------------------------------------------------- */

static bool is_new(uint64_t site)
{
    size_t i = site % MAX_SEEN;
    while (seen[i] && seen[i] != site)
        i = (i + 1) % MAX_SEEN;
    bool yes = !seen[i];
    seen[i] = site;
    return yes;
}

struct how {
    const char *shim;
    bool all, show;
    uint64_t depth; /* the number of callers that identify a call site */
};

static bool try(const struct how *how, char **word, const char *job, bool old, uint64_t at, bool on,
                const struct run *whole)
{
    state->fail_at = at;
    state->fail_on = on;
    struct run r = run(word, how->shim, old, how->show);
    bool hit = state->failed > 0;
    const char *why = judge(&r, whole, old);
    n_tried += hit;
    if (why && n_bad++ < 4000) {
        printf("bad: call %" PRIu64 "%s of '%s': %s (exit code %d)\n", at, on ? " and all after it" : "", job,
               why, WIFEXITED(r.status) ? WEXITSTATUS(r.status) : -WTERMSIG(r.status));
        if (r.err.n)
            printf("     %.*s\n", how->show ? 6000 : 300, r.err.s);
    }
    free_run(&r);
    return hit;
}

static size_t split(char *line, char *program, char **word)
{
    size_t n = 0;
    word[n++] = program;
    for (char *p = strtok(line, " "); p && n + 1 < MAX_WORDS; p = strtok(NULL, " "))
        word[n++] = p;
    word[n] = NULL;
    return n;
}

static void do_job(const struct how *how, char *program, char *line)
{
    char *word[MAX_WORDS], job[512];
    bool old = line[0] == '+';
    snprintf(job, sizeof(job), "%s", line + old);
    split(line + old, program, word);
    state->fail_at = state->fail_on = 0;
    state->depth = how->depth;
    struct run whole = run(word, how->shim, old, false);
    uint64_t calls = state->calls < MAX_SITES ? state->calls : MAX_SITES;
    static uint64_t site[MAX_SITES];
    memcpy(site, state->site, calls * sizeof(site[0]));
    state->depth = 0;
    if (!WIFEXITED(whole.status) || WEXITSTATUS(whole.status) > 1 || !calls) {
        printf("bad: '%s' alone: status %d, %" PRIu64 " allocations: %.300s\n", job, whole.status, calls,
               whole.err.s);
        n_bad++;
    }
    uint64_t tried = 0;
    for (uint64_t i = 0; i < calls; i++)
        if (is_new(site[i]) || how->all) {
            bool hit = try(how, word, job, old, i + 1, false, &whole);
            if (tried++ % 16 == 0 && hit)
                try(how, word, job, old, i + 1, true, &whole);
        }
    printf("# %" PRIu64 " of %" PRIu64 " allocations: %s\n", tried, calls, job);
    fflush(stdout);
    free_run(&whole);
}

static void open_state(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    must(fd >= 0 && !ftruncate(fd, sizeof(*state)), path);
    state = mmap(NULL, sizeof(*state), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    must(state != MAP_FAILED, path);
    close(fd);
    char *full = realpath(path, NULL);
    must(full && !setenv("ALLOC_FAULTS", full, 1), path);
    free(full);
}

int main(int argc, char **argv)
{
    struct how how = {.depth = 6};
    char line[1024];
    int i = 1;
    for (; i < argc && !strncmp(argv[i], "--", 2); i++) {
        how.all |= !strcmp(argv[i], "--all");
        how.show |= !strcmp(argv[i], "--show");
        if (!strcmp(argv[i], "--depth") && i + 1 < argc)
            how.depth = strtoull(argv[++i], NULL, 10);
    }
    if (argc - i != 3)
        return 2;
    how.shim = argv[i];
    open_state(argv[i + 1]);
    mkdir("o", 0700);
    struct text left = take_files();
    free(left.s);
    while (fgets(line, sizeof(line), stdin)) {
        line[strcspn(line, "\n")] = '\0';
        if (*line && *line != '#')
            do_job(&how, argv[i + 2], line);
    }
    printf("%zu tried, %zu without a difference, %zu ended by the dynamic linker, %zu bad\n", n_tried,
           n_recovered, n_linker, n_bad);
    return n_bad > 0;
}
