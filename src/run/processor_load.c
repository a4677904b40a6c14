/* How much of the processors other processes use while a recording is made, and what limits their clock. A recording that had to share its
 * processors is disturbed (profile/core/run_spread.h), which its own times do not show. */
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

void oc_load_begin(struct oc_load *l)
{
    struct ticks t = read_ticks();
    *l = (struct oc_load){.started_s = seconds_of(CLOCK_REALTIME),
                          .wall_s = seconds_of(CLOCK_MONOTONIC),
                          .own_s = seconds_of(CLOCK_PROCESS_CPUTIME_ID),
                          .busy_s = t.busy,
                          .stolen_s = t.stolen};
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
