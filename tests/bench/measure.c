/* Runs a command several times and prints one line: median and least wall time (ms), peak resident memory and
 * peak of its part that is not file mapping (MiB), exit code. usage: measure RUNS COMMAND [ARGUMENT...]; its
 * output goes to /dev/null. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct result {
    double ms;
    long rss_kib, anonymous_kib;
    int code;
};

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* RssAnon has no high-water mark in the kernel, so it is sampled while the command runs. */
static long anonymous_kib(pid_t pid)
{
    char path[64], line[256];
    long kib = 0;
    snprintf(path, sizeof(path), "/proc/%ld/status", (long)pid);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof(line), f))
        if (!strncmp(line, "RssAnon:", 8))
            kib = strtol(line + 8, NULL, 10);
    if (f)
        fclose(f);
    return kib;
}

static void child(char **argv)
{
    int null = open("/dev/null", O_WRONLY);
    dup2(null, STDOUT_FILENO);
    execvp(argv[0], argv);
    _exit(127);
}

static struct result run_once(char **argv, int sample)
{
    struct result r = {0};
    struct rusage usage;
    int status;
    double start = now_ms();
    pid_t pid = fork();
    if (pid == 0)
        child(argv);
    if (sample) {
        while (wait4(pid, &status, WNOHANG, &usage) == 0) {
            long kib = anonymous_kib(pid);
            r.anonymous_kib = kib > r.anonymous_kib ? kib : r.anonymous_kib;
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        }
    } else {
        wait4(pid, &status, 0, &usage);
    }
    r.ms = now_ms() - start;
    r.rss_kib = usage.ru_maxrss;
    r.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return r;
}

static int by_ms(const void *a, const void *b)
{
    double x = ((const struct result *)a)->ms, y = ((const struct result *)b)->ms;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    int runs = argc > 2 ? (int)strtol(argv[1], NULL, 10) : 0;
    if (runs < 1 || runs > 10000)
        return 2;
    struct result *r = calloc((size_t)runs, sizeof(*r));
    if (!r)
        return 4;
    long anonymous = run_once(argv + 2, 1).anonymous_kib; /* also warms the cache */
    for (int i = 0; i < runs; i++)
        r[i] = run_once(argv + 2, 0);
    qsort(r, (size_t)runs, sizeof(*r), by_ms);
    printf("%.3f %.3f %.1f %.1f %d\n", r[runs / 2].ms, r[0].ms, (double)r[runs / 2].rss_kib / 1024,
           (double)anonymous / 1024, r[runs / 2].code);
    int code = r[runs / 2].code;
    free(r);
    return code != 0;
}
