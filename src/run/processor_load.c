/* How much of the processors other processes use while a recording is made. A recording that had to share its
 * processors is disturbed (profile/core/run_spread.h), which its own times do not show. */
#include <math.h>
#include <stdio.h>
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

unsigned oc_run_processors(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof(set), &set) ? 1 : (unsigned)CPU_COUNT(&set);
}

/* Time in which the processors that this process may use were not idle, with what a hypervisor gave to others; NAN:
 * not known. */
static double busy_s(void)
{
    cpu_set_t set;
    char line[512];
    FILE *f = fopen("/proc/stat", "re");
    double ticks = NAN;
    if (f && sched_getaffinity(0, sizeof(set), &set) == 0)
        ticks = 0;
    while (f && fgets(line, sizeof(line), f)) {
        unsigned cpu;
        unsigned long long user, nice, system, idle, wait, irq, softirq, steal;
        if (sscanf(line, "cpu%u %llu %llu %llu %llu %llu %llu %llu %llu", &cpu, &user, &nice, &system, &idle,
                   &wait, &irq, &softirq, &steal) == 9 &&
            cpu < CPU_SETSIZE && CPU_ISSET(cpu, &set))
            ticks += (double)(user + nice + system + irq + softirq + steal);
    }
    if (f)
        fclose(f);
    return ticks / (double)sysconf(_SC_CLK_TCK);
}

#else

unsigned oc_run_processors(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : (unsigned)n;
}

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
