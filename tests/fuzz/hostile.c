/* Runs the program on hostile input, each in a process with limits: it must terminate with one of its own
 * exit codes. The same files and seed give the same input on every machine. hostile mutants PROGRAM FOLDER
 * COUNT JOBS MIB FILE...    broken models and profiles, made from valid ones; files named *.onnx are models,
 * all others profiles hostile cases PROGRAM FOLDER COUNT JOBS MIB SEED         every command with files and
 * options that fit it (case.h) FOLDER: input is written there, that which reveals a fault is kept; MIB:
 * address space, 0: no limit (a sanitizer has its own). Limits of processor time: 2 s, cases 5 s. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "case.h"
#include "onnxcost.h"
#include "wire_mutator.h"

enum {
    MUTANT_CPU_S = 2,
    CASE_CPU_S = 5,
    WALL_S = 120,
    MAX_ARGS = 8,
    N_CODE = 8,
    N_KIND = 5,
    MAX_COMMANDS = 32
};

struct bytes {
    uint8_t *data;
    size_t n, cap;
};

struct seed {
    const char *path, *name;
    bool model;
};

struct command_tally {
    char name[24];
    unsigned long run, code[N_CODE];
    double most_cpu_s;
    long most_kib;
};

struct tally { /* shared by the workers */
    unsigned long run, passed, failed, code[N_CODE], kind[N_KIND];
    double most_cpu_s;
    struct command_tally command[MAX_COMMANDS]; /* of cases; ends with an empty name */
};

struct hostile {
    const char *program, *folder;
    unsigned long count, jobs;
    rlim_t memory, cpu_s;
    bool cases;
    uint64_t number; /* of the cases: that of the command line */
    struct seed *seed;
    size_t n_seed;
    struct tally *tally; /* one per worker */
};

static uint64_t mix(uint64_t z)
{
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static uint64_t next(uint64_t *random)
{
    return mix(*random += UINT64_C(0x9e3779b97f4a7c15));
}

static size_t below(uint64_t *random, size_t n)
{
    return n ? (size_t)(next(random) % n) : 0;
}

static void die(const char *what)
{
    fprintf(stderr, "hostile: %s: %s\n", what, strerror(errno));
    exit(2);
}

static struct bytes read_seed(const char *path)
{
    FILE *f = fopen(path, "rb");
    struct bytes b = {0};
    if (!f || fseek(f, 0, SEEK_END))
        die(path);
    long n = ftell(f);
    if (n < 0 || fseek(f, 0, SEEK_SET))
        die(path);
    b.n = (size_t)n;
    b.cap = b.n * 2 + 4096;
    b.data = malloc(b.cap);
    if (!b.data || fread(b.data, 1, b.n, f) != b.n)
        die(path);
    fclose(f);
    return b;
}

/* ---- mutations ----------------------------------------------------------------------------------------- */

static void flip(struct bytes *b, uint64_t *random)
{
    for (size_t k = 1 + below(random, 8); k && b->n; k--)
        b->data[below(random, b->n)] ^= (uint8_t)(1U << below(random, 8));
}

static void cut(struct bytes *b, uint64_t *random)
{
    b->n = below(random, b->n + 1);
}

/* The start of one file and the end of another. */
static void join_ends(struct bytes *b, const struct bytes *other, uint64_t *random)
{
    size_t from = below(random, other->n + 1), at = below(random, b->n + 1), n = other->n - from;
    if (at + n > b->cap)
        n = b->cap - at;
    memcpy(b->data + at, other->data + from, n);
    b->n = at + n;
}

static void replace(struct bytes *b, size_t at, size_t n, const char *text)
{
    size_t m = strlen(text);
    if (b->n - n + m > b->cap)
        return;
    memmove(b->data + at + m, b->data + at + n, b->n - at - n);
    memcpy(b->data + at, text, m);
    b->n = b->n - n + m;
}

static bool is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

/* Replaces a number of a text by another one; files without digits lose a piece. */
static void corrupt_text_number(struct bytes *b, uint64_t *random)
{
    static const char *const number[] = {"0",
                                         "-1",
                                         "1e308",
                                         "9223372036854775807",
                                         "18446744073709551616",
                                         "1e-320",
                                         "4294967295",
                                         "-0.0",
                                         "null",
                                         "\"\"",
                                         "[]",
                                         "999999999999999999999999999",
                                         "NaN"};
    size_t at = below(random, b->n), n = 0;
    while (at < b->n && !is_digit(b->data[at]))
        at++;
    while (at + n < b->n && is_digit(b->data[at + n]))
        n++;
    if (n) {
        replace(b, at, n, number[below(random, sizeof(number) / sizeof(number[0]))]);
        return;
    }
    at = below(random, b->n);
    replace(b, at, below(random, b->n - at < 64 ? b->n - at + 1 : 64), "");
}

static size_t few_bytes(uint8_t *data, size_t n, size_t cap)
{
    static const uint8_t telling[] = {0, 0xff, 0x7f, 0x80, 1, '"', '/', '.'};
    uint64_t random = n;
    for (size_t i = 0; i < n; i++)
        random = mix(random ^ data[i]) + 1;
    if (!n || (n < cap && below(&random, 4) == 0)) {
        if (n < cap)
            data[n++] = telling[below(&random, sizeof(telling))];
        return n;
    }
    data[below(&random, n)] = telling[below(&random, sizeof(telling))];
    return below(&random, 4) ? n : n - 1;
}

static void wire(struct bytes *b, const struct bytes *donor, uint64_t *random)
{
    for (size_t k = 1 + below(random, 4); k; k--)
        b->n = fuzz_wire_mutate(b->data, b->n, b->cap, next(random), donor ? donor->data : NULL,
                                donor ? donor->n : 0, few_bytes);
}

/* A length, count or offset of a binary file: four bytes, or those of a varint, become large. */
static void corrupt_binary_number(struct bytes *b, uint64_t *random)
{
    static const uint8_t lie[][6] = {{0xff, 0xff, 0xff, 0xff, 0x0f, 0},
                                     {0x7f, 0xff, 0xff, 0xff, 0xff, 0xff},
                                     {0x80, 0x80, 0x80, 0x80, 0x80, 0x01},
                                     {0}};
    size_t at = below(random, b->n), n = 1 + below(random, 6);
    const uint8_t *from = lie[below(random, sizeof(lie) / sizeof(lie[0]))];
    for (size_t i = 0; i < n && at + i < b->n; i++)
        b->data[at + i] = from[i];
}

static unsigned mutate(struct bytes *b, const struct bytes *other, bool model, uint64_t *random)
{
    unsigned kind = (unsigned)below(random, 8);
    switch (kind) {
    case 0:
        flip(b, random);
        return 0;
    case 1:
        cut(b, random);
        return 1;
    case 2:
        if (model || (b->n > 15 && !memcmp(b->data, "SQLite format 3", 15)))
            corrupt_binary_number(b, random);
        else
            corrupt_text_number(b, random);
        return 2;
    case 3:
        if (model && below(random, 2))
            wire(b, other, random);
        else
            join_ends(b, other, random);
        return 3;
    default:
        for (size_t k = 1 + below(random, 3); k && !model; k--)
            corrupt_text_number(b, random);
        if (model)
            wire(b, NULL, random);
        return 4;
    }
}

/* ---- the program --------------------------------------------------------------------------------------- */

struct outcome {
    int status;
    bool timed_out;
    double cpu_s;
    long kib;
    char err[8192];
};

static void limit(int what, rlim_t most)
{
    const struct rlimit l = {most, most};
    if (setrlimit(what, &l))
        _exit(126);
}

static void child(const struct hostile *h, char *const argv[], int err)
{
    int nowhere = open("/dev/null", O_RDWR);
    if (nowhere < 0 || dup2(nowhere, 0) < 0 || dup2(nowhere, 1) < 0 || dup2(err, 2) < 0)
        _exit(126);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_CPU, h->cpu_s);
    if (h->memory)
        limit(RLIMIT_AS, h->memory);
    execv(h->program, argv);
    _exit(126);
}

static struct outcome run(const struct hostile *h, char *const argv[], int err)
{
    struct outcome o = {0};
    struct rusage use;
    sigset_t set;
    const struct timespec wall = {WALL_S, 0};
    if (ftruncate(err, 0) || lseek(err, 0, SEEK_SET))
        die("standard error");
    pid_t pid = fork();
    if (pid < 0)
        die("fork");
    if (pid == 0)
        child(h, argv, err);
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    if (sigtimedwait(&set, NULL, &wall) < 0) {
        o.timed_out = true;
        kill(pid, SIGKILL);
    }
    if (wait4(pid, &o.status, 0, &use) != pid)
        die("wait");
    o.cpu_s = (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
              (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6;
    o.kib = use.ru_maxrss;
    ssize_t n = pread(err, o.err, sizeof(o.err) - 1, 0);
    o.err[n > 0 ? n : 0] = '\0';
    return o;
}

/* Whether a reader got the file, whatever the result was. */
static bool passed_probe(const struct outcome *o)
{
    static const char *const refused[] = {"of no known profile format", ": choose one with",
                                          "not an ONNX model", "not a profile", "file is empty"};
    if (WEXITSTATUS(o->status) != 3)
        return true;
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
        if (strstr(o->err, refused[i]))
            return false;
    return true;
}

static bool is_good(const struct outcome *o)
{
    int code = WIFEXITED(o->status) ? WEXITSTATUS(o->status) : -1;
    return !o->timed_out && (code == 0 || code == 1 || code == 3 || code == 4);
}

static const char *const model_args[][MAX_ARGS] = {
    {"cost"},
    {"cost", "--format=json"},
    {"memory"},
    {"cost", "--default-dim", "none"},
    {"cost", "--format=html", "--advise"},
    {"llm"},
    {"cost", "--hw=a100-sxm4-80gb", "--what-if=fuse=elementwise"},
    {"cost", "--training=adam"},
    {"providers", "--provider=cuda+cpu"},
    {"estimate", "--hw=t4"},
    {"memory", "--count=allocator=ort"},
    {"memory", "--plan=/dev/null"}};
static const char *const profile_args[][MAX_ARGS] = {
    {"cost"}, {"summary"}, {"cost", "--format=json"}, {"cost", "--format=trace"}};

/* Writes the mutant, runs the program on it, and keeps it if the exit is wrong. */
static void run_mutant(const struct hostile *h, unsigned long i, unsigned long worker, int err,
                       struct tally *t)
{
    uint64_t random = mix(i + 1);
    const struct seed *s = &h->seed[i % h->n_seed], *s2 = s;
    for (int tries = 0; tries < 100 && (s2 == s || s2->model != s->model); tries++)
        s2 = &h->seed[below(&random, h->n_seed)];
    struct bytes b = read_seed(s->path), other = read_seed(s2->path);
    unsigned kind = b.n ? mutate(&b, &other, s->model, &random) : 0;
    const char *const *args =
        s->model ? model_args[below(&random, sizeof(model_args) / sizeof(model_args[0]))]
                 : profile_args[below(&random, sizeof(profile_args) / sizeof(profile_args[0]))];
    char path[512], *argv[MAX_ARGS + 3] = {(char[]){"onnxcost"}};
    int argc = 1;
    snprintf(path, sizeof(path), "%s/%lu-%s", h->folder, worker, s->name);
    for (; args[argc - 1]; argc++)
        argv[argc] = strdup(args[argc - 1]);
    argv[argc] = path;
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(b.data, 1, b.n, f) != b.n || fclose(f))
        die(path);
    struct outcome o = run(h, argv, err);
    t->run++;
    t->kind[kind]++;
    if (is_good(&o)) {
        t->code[WEXITSTATUS(o.status)]++;
        t->passed += passed_probe(&o);
        unlink(path);
    } else {
        char kept[512];
        snprintf(kept, sizeof(kept), "%s/found-%lu-%s", h->folder, i, s->name);
        rename(path, kept);
        t->failed++;
        printf("# mutant %lu: %s %d after %.1f s:", i, WIFSIGNALED(o.status) ? "signal" : "exit code",
               WIFSIGNALED(o.status) ? WTERMSIG(o.status) : WEXITSTATUS(o.status), o.cpu_s);
        for (int k = 1; k < argc; k++)
            printf(" %s", argv[k]);
        printf(" %s\n%.*s", kept, t->failed < 4 ? 1500 : 0, o.err);
    }
    t->most_cpu_s = o.cpu_s > t->most_cpu_s ? o.cpu_s : t->most_cpu_s;
    while (argc-- > 1)
        if (argv[argc] != path)
            free(argv[argc]);
    free(b.data);
    free(other.data);
}

/* ---- cases ------------------------------------------------------------------------------------------ */

static const char *fault_of_case(const struct outcome *o)
{
    int code = WIFEXITED(o->status) ? WEXITSTATUS(o->status) : -1;
    if (o->timed_out)
        return "does not end";
    if (code < 0)
        return WTERMSIG(o->status) == SIGXCPU || WTERMSIG(o->status) == SIGKILL ? "takes too long"
                                                                                : "crashes";
    if (code > 4)
        return "exits with a code that is none of the program";
    if (code > 1 && !strstr(o->err, "onnxcost: "))
        return "fails without a message";
    /* a worker of scan; the child of record, whose runtime is an imitation */
    static const char *const crash[] = {": the analysis crashed (", " crashed while ", " ended while "};
    for (size_t i = 0; i < sizeof(crash) / sizeof(crash[0]); i++)
        if (strstr(o->err, crash[i]))
            return "crashes in another process";
    for (const char *p = o->err; *p; p++)
        if ((unsigned char)*p < ' ' && *p != '\n')
            return "writes a control character to standard error";
    return NULL;
}

static void count_case(struct tally *t, const char *command, const struct outcome *o)
{
    struct command_tally *c = t->command;
    while (c->name[0] && strcmp(c->name, command) != 0 && c < t->command + MAX_COMMANDS - 1)
        c++;
    snprintf(c->name, sizeof(c->name), "%s", command);
    c->run++;
    c->code[WIFEXITED(o->status) ? WEXITSTATUS(o->status) % N_CODE : N_CODE - 1]++;
    c->most_cpu_s = o->cpu_s > c->most_cpu_s ? o->cpu_s : c->most_cpu_s;
    c->most_kib = o->kib > c->most_kib ? o->kib : c->most_kib;
    t->run++;
    t->passed += WIFEXITED(o->status) && WEXITSTATUS(o->status) < 2;
    t->most_cpu_s = o->cpu_s > t->most_cpu_s ? o->cpu_s : t->most_cpu_s;
}

/* Keeps the files of a case that reveals a fault, and prints how to run it. */
static void keep_case(const struct hostile *h, struct fuzz_case *k, unsigned long i, const struct outcome *o,
                      const char *fault)
{
    char kept[512];
    snprintf(kept, sizeof(kept), "%s/found-%lu", h->folder, i);
    rename(k->folder, kept);
    printf("# case %lu %s after %.1f s:", i, fault, o->cpu_s);
    for (int a = 1; a < k->argc; a++)
        printf(" '%s'", k->argv[a]);
    printf(" (now in %s)\n%.1500s\n", kept, o->err);
    mkdir(k->folder, 0700);
}

static void run_case(const struct hostile *h, unsigned long i, unsigned long worker, int err, struct tally *t)
{
    struct fuzz_choices choices = {.random = mix(h->number + i), .endless = true};
    struct fuzz_case k;
    char folder[128];
    snprintf(folder, sizeof(folder), "%s/%lu", h->folder, worker);
    fuzz_case_make(&k, folder, &choices);
    if (!fuzz_case_write(&k))
        die(folder);
    struct outcome o = run(h, k.argv, err);
    const char *fault = fault_of_case(&o);
    count_case(t, k.command, &o);
    if (fault) {
        t->failed++;
        keep_case(h, &k, i, &o, fault);
    }
    fuzz_case_remove(&k);
    fuzz_case_free(&k);
}

static void add_commands(struct tally *all, const struct tally *t)
{
    for (const struct command_tally *c = t->command; c->name[0]; c++) {
        struct command_tally *sum = all->command;
        while (sum->name[0] && strcmp(sum->name, c->name) != 0)
            sum++;
        memcpy(sum->name, c->name, sizeof(sum->name));
        sum->run += c->run;
        for (int k = 0; k < N_CODE; k++)
            sum->code[k] += c->code[k];
        sum->most_cpu_s = c->most_cpu_s > sum->most_cpu_s ? c->most_cpu_s : sum->most_cpu_s;
        sum->most_kib = c->most_kib > sum->most_kib ? c->most_kib : sum->most_kib;
    }
}

static void print_commands(const struct tally *t)
{
    printf("# %-12s %8s %8s %8s %8s %8s %8s %8s %8s\n", "command", "cases", "exit 0", "1", "2", "3", "4",
           "most s", "most MiB");
    for (const struct command_tally *c = t->command; c->name[0]; c++)
        printf("# %-12s %8lu %8lu %8lu %8lu %8lu %8lu %8.2f %8ld\n", c->name, c->run, c->code[0], c->code[1],
               c->code[2], c->code[3], c->code[4], c->most_cpu_s, c->most_kib >> 10);
}

/* ---- workers ---------------------------------------------------------------------------------------- */

static void work(const struct hostile *h, unsigned long worker)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/%lu.err", h->folder, worker);
    int err = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (err < 0)
        die(path);
    snprintf(path, sizeof(path), "%s/%lu", h->folder, worker);
    if (h->cases && mkdir(path, 0700))
        die(path);
    for (unsigned long i = worker; i < h->count; i += h->jobs)
        (h->cases ? run_case : run_mutant)(h, i, worker, err, &h->tally[worker]);
    snprintf(path, sizeof(path), "%s/%lu.err", h->folder, worker);
    close(err);
    unlink(path);
}

static struct tally run_all(const struct hostile *h)
{
    struct tally all = {0};
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    for (unsigned long w = 0; w < h->jobs; w++) {
        pid_t pid = fork();
        if (pid < 0)
            die("fork");
        if (pid == 0) {
            sigprocmask(SIG_BLOCK, &set, NULL);
            work(h, w);
            exit(0);
        }
    }
    for (int status; wait(&status) > 0;)
        all.failed += !WIFEXITED(status) || WEXITSTATUS(status);
    for (unsigned long w = 0; w < h->jobs; w++) {
        const struct tally *t = &h->tally[w];
        all.run += t->run;
        all.passed += t->passed;
        all.failed += t->failed;
        add_commands(&all, t);
        for (int k = 0; k < N_CODE; k++)
            all.code[k] += t->code[k];
        for (int k = 0; k < N_KIND; k++)
            all.kind[k] += t->kind[k];
        all.most_cpu_s = t->most_cpu_s > all.most_cpu_s ? t->most_cpu_s : all.most_cpu_s;
    }
    return all;
}

static void add_seed(struct hostile *h, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t n = strlen(name);
    h->seed[h->n_seed++] = (struct seed){path, name, n > 5 && !strcmp(name + n - 5, ".onnx")};
}

static void print_mutants(const struct hostile *h, const struct tally *t)
{
    printf("# %lu mutants of %zu files: %lu with bits flipped, %lu truncated, %lu with wrong numbers, %lu "
           "spliced, %lu with other fields or values\n",
           t->run, h->n_seed, t->kind[0], t->kind[1], t->kind[2], t->kind[3], t->kind[4]);
    printf("# exit codes: 0 %lu times, 1 %lu, 3 %lu, 4 %lu; at most %.2f s of processor time\n", t->code[0],
           t->code[1], t->code[3], t->code[4], t->most_cpu_s);
}

int main(int argc, char **argv)
{
    if (argc < 8) {
        fprintf(stderr, "usage: hostile mutants|cases PROGRAM FOLDER COUNT JOBS MIB FILE...|SEED\n");
        return 2;
    }
    struct hostile h = {.cases = !strcmp(argv[1], "cases"),
                        .program = argv[2],
                        .folder = argv[3],
                        .count = strtoul(argv[4], NULL, 10),
                        .jobs = strtoul(argv[5], NULL, 10),
                        .memory = (rlim_t)strtoul(argv[6], NULL, 10) << 20};
    h.cpu_s = h.cases ? CASE_CPU_S : MUTANT_CPU_S;
    if (!h.jobs || h.jobs > 64)
        h.jobs = 1;
    h.seed = calloc((size_t)argc, sizeof(*h.seed));
    h.tally =
        mmap(NULL, h.jobs * sizeof(*h.tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!h.seed || h.tally == MAP_FAILED)
        die("memory");
    if (h.cases) {
        h.number = mix(strtoull(argv[7], NULL, 10) + 1);
        fuzz_seeds_load("tests/fuzz/seeds");
    }
    for (int i = 7; i < argc && !h.cases; i++)
        add_seed(&h, argv[i]);
    setvbuf(stdout, NULL, _IOLBF, 0);
    struct tally t = run_all(&h);
    if (h.cases)
        print_commands(&t);
    else
        print_mutants(&h, &t);
    printf("%d %lu %lu %lu\n", t.failed != 0, t.run, t.passed, t.failed);
    fuzz_seeds_free();
    free(h.seed);
    munmap(h.tally, h.jobs * sizeof(*h.tally));
    return 0;
}
