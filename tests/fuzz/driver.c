/* The main program of the fuzz targets: runs files through the target that it is called as, then truncations and
 * mutations of them. The same files give the same inputs on every machine, as long as the time suffices.
 * usage: fuzz_x [--runs N] [--seconds S] [--limit L] FILE...
 * N: mutations per file (default 1000); S: CPU time of all files (default 60); L: CPU time of one input (default 10): an
 * input that takes longer is written to the file slow-input, and ends the program */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fuzz/driver.h"

/* as in libFuzzer: called by the mutators of targets */
size_t LLVMFuzzerMutate(uint8_t *data, size_t n, size_t cap);

#define MAX_SEED_BYTES ((size_t)1 << 20)

struct run {
    const struct fuzz_target *target;
    uint64_t random;
    long runs, inputs;
    double seconds, limit_s, start_s;
    int file_number, files; /* each file has an equal part of the time */
    const char *file;
};

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static uint64_t next(struct run *r)
{
    r->random ^= r->random << 13;
    r->random ^= r->random >> 7;
    r->random ^= r->random << 17;
    return r->random;
}

static size_t below(struct run *r, size_t n)
{
    return n ? (size_t)(next(r) % n) : 0;
}

static int out_of_time(const struct run *r)
{
    return now_s() - r->start_s > r->seconds * r->file_number / r->files;
}

static _Noreturn void stop_at_slow(const struct run *r, const uint8_t *data, size_t n, double took_s)
{
    FILE *f = fopen("slow-input", "wb");
    if (f) {
        fwrite(data, 1, n, f);
        fclose(f);
    }
    fprintf(stderr, "%s: input %ld of %zu bytes took %.1f s: see the file slow-input\n", r->file, r->inputs,
            n, took_s);
    abort();
}

/* A copy of exactly n bytes, so that a sanitizer reports the first byte read past the end. */
static void run_one(struct run *r, const uint8_t *data, size_t n)
{
    uint8_t *copy = malloc(n ? n : 1);
    if (!copy)
        abort();
    memcpy(copy, data, n);
    double before_s = now_s();
    r->target->input(copy, n);
    double took_s = now_s() - before_s;
    if (took_s > r->limit_s)
        stop_at_slow(r, data, n, took_s);
    free(copy);
    r->inputs++;
}

static size_t mutate(struct run *r, uint8_t *b, size_t n, size_t cap)
{
    static const uint8_t telling[] = {0,   1,   0x7f, 0x80, 0xff, '"', '\\', '{', '}', '[', ']', ',',
                                      ':', '<', '\n', '-',  '9',  '0', 'e',  '.', ' ', 'n', 0xf0};
    size_t at = below(r, n), len = 1 + below(r, n - at < 64 ? n - at : 64), to = below(r, n);
    switch (next(r) % 7) {
    case 0:
        b[at] ^= (uint8_t)(1u << below(r, 8));
        break;
    case 1:
        b[at] = telling[below(r, sizeof(telling))];
        break;
    case 2:
        b[at] = (uint8_t)next(r);
        break;
    case 3: /* delete a piece */
        memmove(b + at, b + at + len, n - at - len);
        return n - len;
    case 4: /* duplicate a piece */
        if (n + len > cap)
            break;
        memmove(b + at + len, b + at, n - at);
        return n + len;
    case 5: /* insert a piece from another position */
        memmove(b + at, b + to, n - (at > to ? at : to) < len ? n - (at > to ? at : to) : len);
        break;
    default: /* a run of one byte: long varints, long blanks, deep nesting */
        memset(b + at, telling[below(r, sizeof(telling))], len);
    }
    return n;
}

size_t LLVMFuzzerMutate(uint8_t *data, size_t n, size_t cap)
{
    struct run r = {.random = 0x9e3779b97f4a7c15u + n};
    for (size_t i = 0; i < n; i++)
        r.random = (r.random ^ data[i]) * 0x100000001b3u;
    r.random |= 1;
    return n ? mutate(&r, data, n, cap) : 0;
}

static size_t mutated(struct run *r, uint8_t *b, size_t n, size_t cap)
{
    if (r->target->mutator && next(r) % 2)
        return r->target->mutator(b, n, cap, (unsigned)next(r));
    return mutate(r, b, n, cap);
}

static void fuzz_file(struct run *r, const uint8_t *data, size_t n)
{
    size_t cap = n + n / 2 + 1024;
    uint8_t *b = malloc(cap);
    if (!b)
        abort();
    run_one(r, data, n);
    for (size_t k = 0; k < 64 && !out_of_time(r); k++)
        run_one(r, data, n < 64 ? (k < n ? k : n) : n / 64 * k);
    for (long i = 0; i < r->runs && !out_of_time(r) && n; i++) {
        memcpy(b, data, n);
        size_t m = n;
        for (size_t k = 1 + below(r, 6); k && m; k--)
            m = mutated(r, b, m, cap);
        run_one(r, b, m);
    }
    free(b);
}

static int read_file(const char *path, uint8_t *buf, size_t *n)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return -1;
    *n = fread(buf, 1, MAX_SEED_BYTES, f);
    int rc = ferror(f) ? -1 : 0;
    fclose(f);
    return rc;
}

/* An option with a number at argv[*i]: its number; then *i is at the number. NULL if there is none. */
static const char *number_after(const char *option, int argc, char **argv, int *i)
{
    return *i + 1 < argc && strcmp(argv[*i], option) == 0 ? argv[++*i] : NULL;
}

static const struct fuzz_target *find_target(const char *name)
{
    for (const struct fuzz_target *t = fuzz_targets; t->name; t++)
        if (!strcmp(t->name, name))
            return t;
    return NULL;
}

int main(int argc, char **argv)
{
    struct run r = {.random = 0x9e3779b97f4a7c15u,
                    .runs = 1000,
                    .seconds = 60,
                    .limit_s = 10,
                    .start_s = now_s(),
                    .files = argc - 1};
    const char *slash = strrchr(argv[0], '/'), *name = slash ? slash + 1 : argv[0], *number;
    uint8_t *buf = malloc(MAX_SEED_BYTES);
    if (!buf)
        abort();
    if (!(r.target = find_target(name))) {
        fprintf(stderr, "%s: call it by the name of a target\n", argv[0]);
        free(buf);
        return 2;
    }
    run_one(&r, buf, 0);
    for (int i = 1; i < argc; i++) {
        size_t n;
        if ((number = number_after("--runs", argc, argv, &i))) {
            r.runs = strtol(number, NULL, 10);
            r.files -= 2;
        } else if ((number = number_after("--seconds", argc, argv, &i))) {
            r.seconds = strtod(number, NULL);
            r.files -= 2;
        } else if ((number = number_after("--limit", argc, argv, &i))) {
            r.limit_s = strtod(number, NULL);
            r.files -= 2;
        } else if (read_file(argv[i], buf, &n) == 0) {
            r.file = argv[i];
            r.file_number++;
            fuzz_file(&r, buf, n);
        } else {
            fprintf(stderr, "%s: cannot read '%s'\n", name, argv[i]);
            free(buf);
            return 2;
        }
    }
    free(buf);
    printf("%s: %d files, %ld inputs, %.1f s%s\n", name, r.file_number, r.inputs, now_s() - r.start_s,
           now_s() - r.start_s > r.seconds ? " (stopped by time)" : "");
    return 0;
}
