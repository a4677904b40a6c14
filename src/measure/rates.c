#include "measure/rates.h"

#include "base/arena.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_SAMPLES 512

struct region {
    const struct oc_task *task;
    uint64_t rounds;
};

static void do_rounds(void *user, unsigned index)
{
    const struct region *r = user;
    r->task->work(r->task, index, r->rounds);
}

static double sample(struct oc_team *team, unsigned active, const struct oc_task *task, uint64_t rounds)
{
    struct region r = {task, rounds};
    double start = oc_seconds();
    oc_team_run(team, active, do_rounds, &r);
    return oc_seconds() - start;
}

static int rates_by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double rates_median(double *v, size_t n)
{
    qsort(v, n, sizeof(*v), rates_by_size);
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Calibrates the rounds of a sample, in CPU time: other programs may be running. */
static uint64_t rounds_of(const struct oc_task *task, double sample_s)
{
    uint64_t rounds = 1;
    while (sample_s > 0 && rounds < UINT64_MAX / 64) {
        double start = cpu_seconds();
        task->work(task, 0, rounds);
        double s = cpu_seconds() - start;
        if (s >= 0.5 * sample_s)
            break;
        rounds = (uint64_t)ceil((double)rounds * (s > sample_s / 16 ? sample_s / s : 8));
    }
    return rounds;
}

/* Samples until the time is over, at least three. Returns the number of samples. */
static unsigned take_samples(struct oc_team *team, unsigned active, const struct oc_task *task,
                             uint64_t rounds, double total_s, double v[MAX_SAMPLES], unsigned n)
{
    double work = task->units * (double)rounds * active, end = oc_seconds() + total_s;
    do
        v[n++] = work / sample(team, active, task, rounds);
    while (n < MAX_SAMPLES && (n < 3 || oc_seconds() < end));
    return n;
}

static struct oc_rate rate_of_samples(const double v[MAX_SAMPLES], unsigned n)
{
    double sorted[MAX_SAMPLES];
    unsigned n_late = (n + 2) / 3;
    memcpy(sorted, v + n - n_late, n_late * sizeof(*v));
    struct oc_rate rate = {.samples = n, .late = rates_median(sorted, n_late)};
    memcpy(sorted, v, n * sizeof(*v));
    rate.median = rates_median(sorted, n);
    rate.best = sorted[n - 1];
    return rate;
}

#define CALM 0.9 /* the median of the samples is that close to the best */

struct oc_rate oc_rate_of(struct oc_team *team, unsigned active, const struct oc_task *task,
                          const struct oc_effort *effort)
{
    double v[MAX_SAMPLES];
    oc_team_awake(team, active > 1);
    uint64_t rounds = rounds_of(task, effort->sample_s);
    unsigned n = take_samples(team, active, task, rounds, effort->total_s, v, 0);
    struct oc_rate rate = rate_of_samples(v, n);
    if (effort->more_s > 0 && n < MAX_SAMPLES && rate.median < CALM * rate.best) {
        n = take_samples(team, active, task, rounds, effort->more_s, v, n);
        rate = rate_of_samples(v, n);
    }
    oc_team_awake(team, false);
    return rate;
}

/* ---- arithmetic ------------------------------------------------------------------------------------- */

/* Sink for results: keeps the compiler from removing the loop. */
static void use_result(double result)
{
    static _Thread_local volatile double sink;
    sink = result;
    (void)sink;
}

static void peak_work(const struct oc_task *task, unsigned index, uint64_t rounds)
{
    const struct oc_peak_kernel *k = task->what;
    (void)index;
    use_result(k->run(rounds, 1, 2, 0));
}

struct oc_rate oc_rate_of_peak(struct oc_team *team, unsigned active, const struct oc_peak_kernel *kernel,
                               const struct oc_effort *effort)
{
    const struct oc_task task = {peak_work, kernel, (double)kernel->ops};
    return oc_rate_of(team, active, &task, effort);
}

static void chain_work(const struct oc_task *task, unsigned index, uint64_t rounds)
{
    (void)task;
    use_result((double)oc_chain_run(rounds, rounds | index, ~rounds));
}

struct oc_rate oc_rate_of_clock(struct oc_team *team, unsigned active, const struct oc_effort *effort)
{
    const struct oc_task task = {chain_work, NULL, OC_CHAIN_CYCLES};
    struct oc_rate r = oc_rate_of(team, active, &task, effort);
    r.best /= active;
    r.median /= active;
    r.late /= active;
    return r;
}

/* ---- memory ----------------------------------------------------------------------------------------- */

struct stream {
    const struct oc_stream_kernel *kernel;
    const struct oc_stream_place *place;
};

static void stream_work(const struct oc_task *task, unsigned index, uint64_t rounds)
{
    const struct stream *s = task->what;
    char *a = s->place->block + index * s->place->stride;
    size_t n = s->place->bytes;
    uint64_t sum = 0;
    while (rounds--)
        sum ^= s->kernel->run(a, a + n, a + 2 * n, n);
    use_result((double)sum);
}

struct oc_rate oc_rate_of_stream(struct oc_team *team, unsigned active, const struct oc_stream_kernel *kernel,
                                 const struct oc_stream_place *place, const struct oc_effort *effort)
{
    const struct stream s = {kernel, place};
    const struct oc_task task = {stream_work, &s, (double)place->bytes * oc_stream_arrays(kernel->mode)};
    return oc_rate_of(team, active, &task, effort);
}

/* ---- clock ------------------------------------------------------------------------------------------ */

static void nothing(void *user, unsigned index)
{
    (void)user, (void)index;
}

static void idle(double seconds)
{
    for (double end = oc_seconds() + seconds; oc_seconds() < end;)
        ;
}

double oc_region_time(struct oc_team *team, unsigned n, double idle_s)
{
    double *v = oc_xmalloc(n * sizeof(*v));
    for (unsigned i = 0; i < n; i++) {
        idle(idle_s);
        double start = oc_seconds();
        oc_team_run(team, ~0u, nothing, NULL);
        v[i] = oc_seconds() - start;
    }
    double m = rates_median(v, n);
    free(v);
    return m;
}

struct oc_timer oc_timer_of(void)
{
    enum { READINGS = 20000 };
    struct oc_timer t = {.step_s = INFINITY};
    double start = oc_seconds(), last = start, now = start;
    for (int i = 0; i < READINGS; i++) {
        now = oc_seconds();
        t.step_s = now > last && now - last < t.step_s ? now - last : t.step_s;
        last = now;
    }
    t.read_s = (now - start) / READINGS;
    return t;
}
