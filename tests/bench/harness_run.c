#include "harness.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LIMIT_S = 300 };

struct once {
    double ms, cpu_ms, rss_mb, private_mb;
    int code;
};

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

/* RssAnon has no high-water mark in the kernel, so it is sampled while the command runs. */
static double private_mb(pid_t pid)
{
    char path[64], line[256];
    double mb = 0;
    snprintf(path, sizeof(path), "/proc/%ld/status", (long)pid);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof(line), f))
        if (strncmp(line, "RssAnon:", 8) == 0)
            mb = (double)strtol(line + 8, NULL, 10) * 1024e-6;
    if (f)
        fclose(f);
    return mb;
}

static _Noreturn void exec_command(char **argv, const char *log)
{
    int null = open("/dev/null", O_RDWR), err = open(log, O_WRONLY | O_CREAT | O_APPEND, 0644);
    dup2(null, STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
    dup2(err >= 0 ? err : null, STDERR_FILENO);
    alarm(LIMIT_S);
    execvp(argv[0], argv);
    _exit(127);
}

static void wait_for(pid_t pid, bool sample, struct once *r, int *status, struct rusage *usage)
{
    while (sample && wait4(pid, status, WNOHANG, usage) == 0) {
        double mb = private_mb(pid);
        r->private_mb = mb > r->private_mb ? mb : r->private_mb;
        nanosleep(&(struct timespec){.tv_nsec = 500000}, NULL);
    }
    if (!sample)
        wait4(pid, status, 0, usage);
}

static struct once run_once(char **argv, bool sample, const char *log)
{
    struct once r = {0};
    struct rusage usage = {0};
    int status = 0;
    double start = now_ms();
    pid_t pid = fork();
    if (pid == 0)
        exec_command(argv, log);
    wait_for(pid, sample, &r, &status, &usage);
    r.ms = now_ms() - start;
    r.cpu_ms = seconds(usage.ru_utime) * 1e3 + seconds(usage.ru_stime) * 1e3;
    r.rss_mb = (double)usage.ru_maxrss * 1024e-6;
    r.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return r;
}

struct job {
    struct command *command;
    struct item *item;
    char **argv;
    double *rss;
    uint32_t done;
};

static void first_run(struct job *j, const char *log)
{
    struct once r = run_once(j->argv, true, log); /* also warms the cache */
    j->item->private_mb = r.private_mb;
    j->item->code = r.code;
}

static void next_run(struct job *j, const char *log)
{
    struct once r = run_once(j->argv, false, log);
    j->done++;
    if (r.code) {
        j->item->code = r.code;
        return;
    }
    j->item->ms[j->item->n] = r.ms;
    if (!(r.cpu_ms >= j->item->least_cpu_ms))
        j->item->least_cpu_ms = r.cpu_ms;
    j->rss[j->item->n++] = r.rss_mb;
}

static void conclude(struct job *j)
{
    struct item *x = j->item;
    double *sorted = oc_xcalloc(x->n + 1, sizeof(*sorted));
    memcpy(sorted, x->ms, x->n * sizeof(*sorted));
    x->median_ms = bench_median(sorted, x->n);
    x->least_ms = x->n ? sorted[0] : NAN;
    x->rss_mb = bench_median(j->rss, x->n);
    free(sorted);
    free(j->rss);
}

static struct job make_job(struct tables *t, struct command *c, struct item *item)
{
    item->ms = oc_xcalloc(c->runs, sizeof(*item->ms));
    item->private_mb = item->least_cpu_ms = NAN;
    return (struct job){c, item, bench_words(t, c, item), oc_xcalloc(c->runs, sizeof(double)), 0};
}

/* Interleaves the jobs: each has completed the same share of its runs at any time, so that other load on the
 * machine affects all of them equally. */
static void run_jobs(struct job *job, uint32_t n, bool warm, const char *log)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (warm)
            first_run(&job[i], log);
        most = job[i].command->runs > most ? job[i].command->runs : most;
    }
    for (uint32_t round = 1; round <= most; round++)
        for (uint32_t i = 0; i < n; i++)
            while (!job[i].item->code &&
                   (uint64_t)job[i].done * most < (uint64_t)round * job[i].command->runs)
                next_run(&job[i], log);
    for (uint32_t i = 0; i < n; i++)
        conclude(&job[i]);
}

static void run_group(struct tables *t, uint32_t first, uint32_t end, const char *log)
{
    struct job *job = oc_xcalloc(end - first + 1, sizeof(*job));
    uint32_t items = 1;
    for (uint32_t i = first; i < end; i++)
        items = t->command[i].n_item > items ? t->command[i].n_item : items;
    for (uint32_t k = 0; k < items; k++) {
        uint32_t n = 0;
        for (uint32_t i = first; i < end; i++)
            if (!t->command[i].missing && k < t->command[i].n_item)
                job[n++] = make_job(t, &t->command[i], &t->command[i].item[k]);
        run_jobs(job, n, items == 1, log);
    }
    free(job);
}

/* Time used by all processors since the machine started, by this program and its children (*own) and by
 * others. */
static double busy_s(double *own)
{
    char line[256] = "", *p = line + 4;
    double ticks = 0;
    FILE *f = fopen("/proc/stat", "r");
    if (f && fgets(line, sizeof(line), f))
        for (int i = 0; i < 8; i++) { /* user nice system idle iowait irq softirq steal */
            double v = strtod(p, &p);
            ticks += i == 3 || i == 4 ? 0 : v;
        }
    if (f)
        fclose(f);
    struct rusage self, children;
    getrusage(RUSAGE_SELF, &self);
    getrusage(RUSAGE_CHILDREN, &children);
    *own = seconds(self.ru_utime) + seconds(self.ru_stime) + seconds(children.ru_utime) +
           seconds(children.ru_stime);
    return ticks / (double)sysconf(_SC_CLK_TCK);
}

double bench_run_all(struct tables *t, const char *log)
{
    double own_before, own_after, start = now_ms(), before = busy_s(&own_before);
    for (uint32_t i = 0, end; i < t->n_command; i = end) {
        for (end = i + 1; end < t->n_command && !strcmp(t->command[end].group, t->command[i].group);)
            end++;
        fprintf(stderr, "%s... ", t->command[i].group);
        run_group(t, i, end, log);
    }
    fprintf(stderr, "\n");
    double after = busy_s(&own_after), others = after - before - (own_after - own_before);
    return fmax(others, 0) / (now_ms() - start) * 1e3;
}
