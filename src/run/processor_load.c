/* How much of the processors other processes use while a recording is made. A recording that had to share its
 * processors is disturbed (profile/core/run_spread.h), which its own times do not show. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "run/record_files.h"

#ifdef __linux__
#include <sched.h>
#endif

/* The system counts in ticks of 10 ms: over a shorter time their number says nothing. */
static const double LEAST_S = 0.5;

static double seconds_of(clockid_t clock)
{
    struct timespec t;
    return clock_gettime(clock, &t) ? 0 : (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#ifdef __linux__

/* The ticks of a line "cpu3 USER NICE SYSTEM IDLE IOWAIT IRQ SOFTIRQ STEAL" in which the processor was not idle; 0: of
 * another line, or of a processor that this process may not use. */
static double busy_ticks(const char *line, const cpu_set_t *set)
{
    enum { IDLE = 3, IOWAIT = 4, STEAL = 7 }; /* steal: what a hypervisor gave to others */
    double ticks = 0;
    char *at;
    if (strncmp(line, "cpu", 3) != 0 || line[3] == ' ')
        return 0;
    unsigned long cpu = strtoul(line + 3, &at, 10);
    if (cpu >= CPU_SETSIZE || !CPU_ISSET(cpu, set))
        return 0;
    for (int i = 0; i <= STEAL; i++) {
        unsigned long long v = strtoull(at, &at, 10);
        ticks += i == IDLE || i == IOWAIT ? 0 : (double)v;
    }
    return ticks;
}

/* Of all processors that this process may use; NAN: not known. */
static double busy_s(void)
{
    cpu_set_t set;
    char line[512];
    FILE *f = fopen("/proc/stat", "re");
    double ticks = f && sched_getaffinity(0, sizeof(set), &set) == 0 ? 0 : (double)NAN;
    while (!isnan(ticks) && fgets(line, sizeof(line), f))
        ticks += busy_ticks(line, &set);
    if (f)
        fclose(f);
    return ticks / (double)sysconf(_SC_CLK_TCK);
}

#else

static double busy_s(void)
{
    return NAN;
}

#endif

void oc_load_begin(struct oc_load *l)
{
    *l = (struct oc_load){.started_s = seconds_of(CLOCK_REALTIME),
                          .wall_s = seconds_of(CLOCK_MONOTONIC),
                          .own_s = seconds_of(CLOCK_PROCESS_CPUTIME_ID),
                          .busy_s = busy_s()};
}

double oc_load_of_others(const struct oc_load *l)
{
    double wall_s = seconds_of(CLOCK_MONOTONIC) - l->wall_s;
    double own_s = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - l->own_s;
    double others = (busy_s() - l->busy_s - own_s) / wall_s;
    return wall_s >= LEAST_S && others > 0 ? others : 0;
}
