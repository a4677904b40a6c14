/* How much of the processors other processes use while a recording is made, and what limits their clock. A recording that had to share its
 * processors is disturbed (profile/core/run_spread.h), which its own times do not show. */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/units.h"
#include "run/record_files.h"

#ifdef __linux__
#include <sched.h>
#include <sys/syscall.h>
#endif

/* The system counts in ticks of 10 ms: over a shorter time their number says nothing. */
static const double LEAST_S = 0.5;
enum { MOST_PROCESSORS = 1024 };

static double seconds_of(clockid_t clock)
{
    struct timespec t;
    return clock_gettime(clock, &t) ? 0 : (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#ifdef __linux__

struct ticks {
    double busy, stolen;
};

/* Adds those of a line "cpu3 USER NICE SYSTEM IDLE IOWAIT IRQ SOFTIRQ STEAL" in which the processor was not idle. Lines of
 * other processors than this process may use add nothing. */
static void add_ticks(const char *line, const cpu_set_t *set, struct ticks *t)
{
    enum { IDLE = 3, IOWAIT = 4, STEAL = 7 }; /* steal: what a hypervisor gave to others */
    char *at;
    if (strncmp(line, "cpu", 3) != 0 || line[3] == ' ')
        return;
    unsigned long cpu = strtoul(line + 3, &at, 10);
    if (cpu >= CPU_SETSIZE || !CPU_ISSET(cpu, set))
        return;
    for (int i = 0; i <= STEAL; i++) {
        double v = (double)strtoull(at, &at, 10);
        t->busy += i == IDLE || i == IOWAIT ? 0 : v;
        t->stolen += i == STEAL ? v : 0;
    }
}

/* Of all processors that this process may use, in seconds; NAN: not known. */
static struct ticks read_ticks(void)
{
    cpu_set_t set;
    char line[512];
    struct ticks t = {0};
    FILE *f = fopen("/proc/stat", "re");
    if (!f || sched_getaffinity(0, sizeof(set), &set))
        t.busy = t.stolen = NAN;
    while (f && fgets(line, sizeof(line), f))
        add_ticks(line, &set, &t);
    if (f)
        fclose(f);
    double per_s = (double)sysconf(_SC_CLK_TCK);
    return (struct ticks){t.busy / per_s, t.stolen / per_s};
}

#else

struct ticks {
    double busy, stolen;
};

static struct ticks read_ticks(void)
{
    return (struct ticks){NAN, NAN};
}

#endif

double oc_wall_time_s(void)
{
    return seconds_of(CLOCK_REALTIME);
}

void oc_load_begin(struct oc_load *l)
{
    struct ticks t = read_ticks();
    *l = (struct oc_load){.started_s = oc_wall_time_s(),
                          .wall_s = seconds_of(CLOCK_MONOTONIC),
                          .own_s = seconds_of(CLOCK_PROCESS_CPUTIME_ID),
                          .busy_s = t.busy,
                          .stolen_s = t.stolen};
}

static void read_all(double v[4])
{
    struct ticks t = read_ticks();
    v[0] = seconds_of(CLOCK_MONOTONIC);
    v[1] = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    v[2] = t.busy;
    v[3] = t.stolen;
}

void oc_load_pause(struct oc_load *l)
{
    read_all(l->paused);
}

void oc_load_resume(struct oc_load *l)
{
    double now[4], *const of[4] = {&l->wall_s, &l->own_s, &l->busy_s, &l->stolen_s};
    read_all(now);
    for (size_t i = 0; i < 4; i++)
        *of[i] += now[i] - l->paused[i];
}

double oc_load_of_others(const struct oc_load *l)
{
    double wall_s = seconds_of(CLOCK_MONOTONIC) - l->wall_s;
    double own_s = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - l->own_s;
    double others = (read_ticks().busy - l->busy_s - own_s) / wall_s;
    return wall_s >= LEAST_S && others > 0 ? others : 0;
}

double oc_load_stolen(const struct oc_load *l)
{
    double wall_s = seconds_of(CLOCK_MONOTONIC) - l->wall_s;
    double stolen = (read_ticks().stolen - l->stolen_s) / wall_s;
    return wall_s >= LEAST_S && stolen > 0 ? stolen : 0;
}

/* ---- what limits the clock ------------------------------------------------------------------------------ */

/* The first word of a file below the folder of the processors; false: there is no such file. */
static bool read_word(const char *folder, const char *name, char *out, size_t cap)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *f = fopen(path, "re");
    out[0] = '\0';
    if (!f)
        return false;
    if (!fgets(out, (int)cap, f))
        out[0] = '\0';
    fclose(f);
    out[strcspn(out, " \n")] = '\0';
    return out[0] != '\0';
}

static double read_number(const char *folder, const char *name)
{
    char word[64];
    double v;
    return read_word(folder, name, word, sizeof(word)) && oc_parse_double(word, strlen(word), &v) ? v : 0;
}

double oc_times_throttled(const char *folder)
{
    char name[64];
    double sum = 0;
    for (int i = 0; i < MOST_PROCESSORS; i++) {
        snprintf(name, sizeof(name), "cpu%d/thermal_throttle/core_throttle_count", i);
        sum += read_number(folder, name);
    }
    return sum;
}

void oc_clock_limits(const char *folder, char *out, size_t cap)
{
    char governor[64], turbo[64];
    double most = read_number(folder, "cpu0/cpufreq/scaling_max_freq"),
           possible = read_number(folder, "cpu0/cpufreq/cpuinfo_max_freq");
    size_t n = 0;
    out[0] = '\0';
    if (most > 0 && most < possible)
        n += (size_t)snprintf(out + n, cap - n, "clock limited to %.2f of %.2f GHz; ", most / 1e6,
                              possible / 1e6);
    if (read_word(folder, "cpu0/cpufreq/scaling_governor", governor, sizeof(governor)) &&
        strcmp(governor, "performance") != 0)
        n += (size_t)snprintf(out + n, cap - n, "governor %.20s; ", governor);
    if (read_number(folder, "intel_pstate/no_turbo") > 0 ||
        (read_word(folder, "cpufreq/boost", turbo, sizeof(turbo)) && !strcmp(turbo, "0")))
        n += (size_t)snprintf(out + n, cap - n, "turbo is off; ");
    if (n)
        out[n - 2] = '\0';
}

/* ---- which processors ----------------------------------------------------------------------------------- */

#ifdef __linux__

struct processor {
    int at;
    double speed;   /* its capacity or highest clock; 0: not known */
    int core, turn; /* the first processor of its core; how many of the core come before it */
};

static int by_preference(const void *a, const void *b)
{
    const struct processor *x = a, *y = b;
    if (x->speed < y->speed || x->speed > y->speed)
        return x->speed > y->speed ? -1 : 1;
    return x->turn != y->turn ? x->turn - y->turn : y->at - x->at; /* the first ones serve interrupts */
}

static double of_processor(const char *folder, int at, const char *name)
{
    char file[96];
    snprintf(file, sizeof(file), "cpu%d/%s", at, name);
    return read_number(folder, file);
}

static int core_of(const char *folder, int at)
{
    char file[96], word[64];
    snprintf(file, sizeof(file), "cpu%d/topology/thread_siblings_list", at);
    return read_word(folder, file, word, sizeof(word)) ? (int)strtol(word, NULL, 10) : at; /* "0-1", "0,64" */
}

static size_t list_processors(const char *folder, const cpu_set_t *set, struct processor *out)
{
    size_t n = 0;
    for (int i = 0; i < CPU_SETSIZE; i++) {
        if (!CPU_ISSET((size_t)i, set))
            continue;
        double capacity = of_processor(folder, i, "cpu_capacity");
        struct processor p = {.at = i, .core = core_of(folder, i), .speed = capacity};
        if (capacity <= 0)
            p.speed = of_processor(folder, i, "cpufreq/cpuinfo_max_freq");
        for (size_t k = 0; k < n; k++)
            p.turn += out[k].core == p.core;
        out[n++] = p;
    }
    return n;
}

void oc_keep_processors(const char *folder, uint32_t threads, struct oc_processors *out)
{
    struct processor p[CPU_SETSIZE];
    cpu_set_t may, keep;
    CPU_ZERO(&keep);
    out->n = 0;
    if (sched_getaffinity(0, sizeof(may), &may))
        return;
    uint32_t n = (uint32_t)list_processors(folder, &may, p), most = OC_COUNT(out->at);
    out->all = !threads || threads >= n;
    threads = out->all ? n : threads;
    qsort(p, n, sizeof(*p), by_preference);
    for (uint32_t i = 0; i < threads; i++) {
        CPU_SET((size_t)p[i].at, &keep);
        if (i < most)
            out->at[out->n++] = p[i].at;
    }
    sched_setaffinity(0, sizeof(keep), &keep);
}

static int by_number(const void *a, const void *b)
{
    const long *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The threads of this process in the order in which they were started, the first one first. */
static size_t list_threads(long *id, size_t cap)
{
    size_t n = 0;
    const struct dirent *e;
    DIR *d = opendir("/proc/self/task");
    while (d && n < cap && (e = readdir(d)))
        if (e->d_name[0] != '.')
            id[n++] = strtol(e->d_name, NULL, 10);
    if (d)
        closedir(d);
    qsort(id, n, sizeof(*id), by_number);
    return n;
}

void oc_spread_threads_begin(struct oc_processors *p)
{
    long id[MOST_PROCESSORS];
    size_t n = p->n ? list_threads(id, OC_COUNT(id)) : 0;
    p->newest = n ? id[n - 1] : 0;
}

void oc_spread_threads(const struct oc_processors *p)
{
    long id[MOST_PROCESSORS];
    size_t n = p->n ? list_threads(id, OC_COUNT(id)) : 0, at = 0;
    for (size_t i = 0; i < n; i++) {
        cpu_set_t one;
        CPU_ZERO(&one);
        if (i && id[i] <= p->newest)
            continue;
        CPU_SET((size_t)p->at[at++ % p->n], &one);
        sched_setaffinity((pid_t)id[i], sizeof(one), &one);
    }
}

/* "123 (name) R ...": the name may have anything in it. */
static bool is_running(long id)
{
    char path[64], text[512];
    snprintf(path, sizeof(path), "/proc/self/task/%ld/stat", id);
    FILE *f = fopen(path, "re");
    size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;
    if (f)
        fclose(f);
    text[n] = '\0';
    const char *end = strrchr(text, ')');
    return end && end[1] == ' ' && end[2] == 'R';
}

bool oc_other_threads_run(void)
{
    long id[MOST_PROCESSORS];
    size_t n = list_threads(id, OC_COUNT(id));
    long self = syscall(SYS_gettid);
    for (size_t i = 0; i < n; i++)
        if (id[i] != self && is_running(id[i]))
            return true;
    return false;
}

#else

bool oc_other_threads_run(void)
{
    return false;
}

void oc_keep_processors(const char *folder, uint32_t threads, struct oc_processors *out)
{
    (void)folder;
    (void)threads;
    *out = (struct oc_processors){0};
}

void oc_spread_threads_begin(struct oc_processors *p)
{
    (void)p;
}

void oc_spread_threads(const struct oc_processors *p)
{
    (void)p;
}

#endif
