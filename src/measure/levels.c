/* Timing: a team of threads, each on its processor, the best rate of a workload, and the levels of memory. */
#include "measure/measure.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/arena.h"
#include "base/ck.h"
#include "base/diag.h"

/* ---- team of threads -------------------------------------------------------------------------------- */

#define APART 128 /* bytes: keeps objects in separate cache lines */

struct member {
    struct oc_team *team;
    unsigned index;
    pthread_t thread;
    bool running;
    char apart[APART];
};

struct oc_team {
    unsigned n;
    cpu_set_t before; /* CPU affinity of the caller */
    struct member *member;
    void (*work)(void *user, unsigned index);
    void *user;
    unsigned active;
    bool stop;
    char apart0[APART];
    atomic_uint region; /* incremented when there is work */
    char apart1[APART];
    atomic_uint done;
    char apart2[APART];
    atomic_bool awake;
    pthread_mutex_t lock;
    pthread_cond_t wake;
};

double oc_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Pins to the index-th allowed processor; a failure is ignored. */
static void stay_on(const cpu_set_t *all, unsigned index)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, all) && index-- == 0) {
            CPU_SET(cpu, &one);
            pthread_setaffinity_np(pthread_self(), sizeof(one), &one);
            return;
        }
}

static void pause_a_little(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

static unsigned wait_for_region(struct oc_team *t, unsigned seen)
{
    for (;;) {
        unsigned now;
        while (atomic_load_explicit(&t->awake, memory_order_relaxed)) {
            now = atomic_load_explicit(&t->region, memory_order_acquire);
            if (now != seen)
                return now;
            pause_a_little();
        }
        pthread_mutex_lock(&t->lock);
        while ((now = atomic_load(&t->region)) == seen && !atomic_load(&t->awake))
            pthread_cond_wait(&t->wake, &t->lock);
        pthread_mutex_unlock(&t->lock);
        if (now != seen)
            return now;
    }
}

static void *live(void *arg)
{
    struct member *m = arg;
    struct oc_team *t = m->team;
    unsigned seen = 0;
    stay_on(&t->before, m->index);
    for (;;) {
        seen = wait_for_region(t, seen);
        if (t->stop)
            return NULL;
        if (m->index < t->active)
            t->work(t->user, m->index);
        atomic_fetch_add_explicit(&t->done, 1, memory_order_release);
    }
}

static void announce(struct oc_team *t)
{
    atomic_store(&t->done, 0);
    if (atomic_load_explicit(&t->awake, memory_order_relaxed)) {
        atomic_fetch_add_explicit(&t->region, 1, memory_order_release);
        return;
    }
    pthread_mutex_lock(&t->lock);
    atomic_fetch_add(&t->region, 1);
    pthread_cond_broadcast(&t->wake);
    pthread_mutex_unlock(&t->lock);
}

void oc_team_run(struct oc_team *t, unsigned active, void (*work)(void *user, unsigned index), void *user)
{
    if (active <= 1 || t->n == 1) {
        work(user, 0);
        return;
    }
    t->work = work;
    t->user = user;
    t->active = active;
    announce(t);
    work(user, 0);
    while (atomic_load_explicit(&t->done, memory_order_acquire) != t->n - 1)
        pause_a_little();
}

void oc_team_awake(struct oc_team *t, bool awake)
{
    pthread_mutex_lock(&t->lock);
    atomic_store(&t->awake, awake);
    pthread_cond_broadcast(&t->wake);
    pthread_mutex_unlock(&t->lock);
}

int oc_team_make(unsigned threads, struct oc_team **out, struct oc_err *err)
{
    struct oc_team *t = oc_xmalloc(sizeof(*t));
    *out = NULL;
    memset(t, 0, sizeof(*t));
    t->n = threads;
    t->member = oc_xmalloc(threads * sizeof(*t->member));
    memset(t->member, 0, threads * sizeof(*t->member));
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->wake, NULL);
    if (sched_getaffinity(0, sizeof(t->before), &t->before))
        CPU_ZERO(&t->before);
    for (unsigned i = 1; i < threads; i++) {
        struct member *m = &t->member[i];
        m->team = t;
        m->index = i;
        int rc = pthread_create(&m->thread, NULL, live, m);
        m->running = rc == 0;
        if (rc) {
            oc_team_free(t);
            return oc_fail(err, OC_EIO, "cannot start thread %u of %u: %s", i + 1, threads, strerror(rc));
        }
    }
    stay_on(&t->before, 0);
    *out = t;
    return 0;
}

void oc_team_free(struct oc_team *t)
{
    if (!t)
        return;
    t->stop = true;
    announce(t);
    for (unsigned i = 1; i < t->n; i++)
        if (t->member[i].running)
            pthread_join(t->member[i].thread, NULL);
    if (CPU_COUNT(&t->before))
        pthread_setaffinity_np(pthread_self(), sizeof(t->before), &t->before);
    pthread_cond_destroy(&t->wake);
    pthread_mutex_destroy(&t->lock);
    free(t->member);
    free(t);
}

/* ---- rates ------------------------------------------------------------------------------------------ */

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
    struct oc_rate rate = {.samples = n, .late = oc_sort_median(sorted, n_late)};
    memcpy(sorted, v, n * sizeof(*v));
    rate.median = oc_sort_median(sorted, n);
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

/* Bytes per second. */
static struct oc_rate rate_of_stream(struct oc_team *team, unsigned active,
                                     const struct oc_stream_kernel *kernel,
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
    double m = oc_sort_median(v, n);
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

#define MAX_POINTS 64
#define PAGE       4096u
#define TOUCH_STEP ((size_t)16 << 20)

struct point {
    double bytes, rate;
};

struct probe {
    struct oc_team *team;
    unsigned threads;
    uint32_t features;
    const struct oc_level_effort *effort;
    char *block;
    size_t stride;  /* bytes per thread */
    size_t touched; /* bytes per array */
    size_t one;     /* bytes per core */
    struct point point[MAX_POINTS];
    size_t n_point;
};

const char *oc_level_mode_name(unsigned mode)
{
    static const char *const past[OC_STREAM_MODES] = {NULL, "write-nt", "copy-nt", "triad-nt"};
    const char *name = mode >= OC_STREAM_MODES ? past[mode % OC_STREAM_MODES] : NULL;
    return name ? name : oc_stream_mode_name(mode);
}

static const struct oc_stream_kernel *levels_find_kernel(uint32_t features, unsigned mode, bool past)
{
    const struct oc_stream_kernel *k;
    for (size_t i = 0; (k = oc_stream_kernel(i)); i++)
        if (k->mode == mode && k->past_caches == past && (k->needs & features) == k->needs)
            return k;
    return NULL;
}

/* ---- the memory to work with ------------------------------------------------------------------------ */

struct touching {
    struct probe *p;
    size_t from, to;
};

/* First touch by the thread that uses it: places the pages near its processor. */
static void levels_touch(void *user, unsigned index)
{
    const struct touching *t = user;
    char *part = t->p->block + index * t->p->stride;
    for (size_t i = t->from; i < t->to; i += PAGE)
        memset(part + i, 1, 64);
}

static int get_block(struct probe *p, struct oc_err *err)
{
    size_t least = p->effort->least_bytes / p->threads;
    p->stride = p->effort->most_bytes / p->threads / TOUCH_STEP * TOUCH_STEP;
    p->stride = p->stride ? p->stride : TOUCH_STEP;
    size_t bytes = p->stride * p->threads;
    p->block = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p->block == MAP_FAILED)
        return oc_fail(err, OC_ELIMIT, "cannot allocate %zu MiB of memory for the measurement: %s",
                       bytes >> 20, strerror(errno));
    madvise(p->block, bytes, MADV_HUGEPAGE);
    double end = oc_seconds() + p->effort->touch_s;
    while (p->touched < p->stride && (p->touched < least || oc_seconds() < end)) {
        struct touching t = {p, p->touched, p->touched + TOUCH_STEP};
        oc_team_run(p->team, p->threads, levels_touch, &t);
        p->touched = t.to;
    }
    p->one = p->touched < p->stride ? p->touched : bytes > 2 * least * p->threads ? bytes / 2 : bytes;
    return 0;
}

/* ---- sizes of levels -------------------------------------------------------------------------------- */

static size_t whole_steps(double bytes)
{
    size_t n = (size_t)bytes / OC_STREAM_STEP * OC_STREAM_STEP;
    return n ? n : OC_STREAM_STEP;
}

/* Read bandwidth of one core for working sets from 8 KiB in steps of 1.5x. */
static void levels_sweep(struct probe *p)
{
    const struct oc_stream_kernel *read = levels_find_kernel(p->features, OC_STREAM_READ, false);
    double bytes = 8192;
    while (p->n_point + 1 < MAX_POINTS && bytes <= (double)p->one) {
        struct oc_stream_place place = {p->block, 0, whole_steps(bytes)};
        double rate = rate_of_stream(p->team, 1, read, &place, &p->effort->sweep).best;
        p->point[p->n_point++] = (struct point){(double)place.bytes, rate};
        bytes *= 1.4;
    }
}

/* Interpolates between two points, linear in the logarithms of rate and size. */
static double rate_at(const struct probe *p, double bytes)
{
    size_t i = 1;
    while (i + 1 < p->n_point && p->point[i].bytes < bytes)
        i++;
    const struct point *a = &p->point[i - 1], *b = &p->point[i];
    double x = log(bytes / a->bytes) / log(b->bytes / a->bytes);
    x = x < 0 ? 0 : x > 1 ? 1 : x;
    return exp(log(a->rate) * (1 - x) + log(b->rate) * x);
}

/* Where the rate stays below `rate`, or does so for at least two points. */
static double falls_below(const struct probe *p, double from, double rate)
{
    for (size_t i = 1; i < p->n_point; i++) {
        const struct point *a = &p->point[i - 1], *b = &p->point[i];
        bool stays = i + 1 == p->n_point || b[1].rate < rate;
        if (b->bytes <= from || b->rate >= rate || !stays)
            continue;
        double x = a->rate > rate ? log(a->rate / rate) / log(a->rate / b->rate) : 0;
        return a->bytes * pow(b->bytes / a->bytes, x);
    }
    return 0;
}

#define VISIBLE 1.15 /* a level is faster than the next one by at least this factor */

/* The size of a level is where the rate is the geometric mean of the rates well inside of the level and well
 * inside of the next. */
static void find_border(const struct probe *p, struct oc_level_rates *l, double before,
                        const struct oc_level_rates *next)
{
    double claim = (double)l->claim.bytes, last = p->point[p->n_point - 1].bytes;
    double inside = before > 0 && 3 * before < claim / 2 ? 3 * before : claim / 2;
    double beyond = next && next->claim.bytes && 3 * claim < 0.75 * (double)next->claim.bytes ? 3 * claim
                    : next && next->claim.bytes ? 0.75 * (double)next->claim.bytes
                                                : last;
    double in = rate_at(p, inside), out = rate_at(p, beyond);
    l->size_bytes = l->claim.bytes;
    if (inside >= last || in < VISIBLE * out)
        return;
    double border = falls_below(p, inside, sqrt(in * out));
    l->border_bytes = (uint64_t)border;
    l->agrees = border > 0.55 * claim && border < 1.7 * claim;
    if (border > 0 && !l->agrees)
        l->size_bytes = l->border_bytes;
}

/* A working set for the level of `size`, much larger than the previous level. */
static double working_set(double size, double before)
{
    if (before <= 0)
        return 0.75 * size;
    return size / 2 >= 2 * before ? size / 2 : sqrt(before * (size > before ? size : before));
}

static void find_levels(struct probe *p, const struct oc_machine *m, struct oc_levels *out)
{
    for (unsigned i = 0; i < OC_CACHE_LEVELS; i++)
        if (m->cache[i].bytes) {
            struct oc_level_rates *l = &out->level[out->n++];
            l->claim = m->cache[i];
            snprintf(l->name, sizeof(l->name), "L%u", i + 1);
        }
    double before = 0;
    for (unsigned i = 0; i < out->n; i++) {
        struct oc_level_rates *l = &out->level[i];
        find_border(p, l, before, i + 1 < out->n ? l + 1 : NULL);
        double size = (double)l->size_bytes, share = size / (l->claim.threads ? l->claim.threads : 1);
        double one = fmin(working_set(size, before), (double)p->one),
               all = fmin(working_set(share, before), (double)p->touched);
        l->one = (struct oc_stream_place){p->block, 0, (size_t)one};
        l->all = (struct oc_stream_place){p->block, p->stride, (size_t)all};
        before = size;
    }
    struct oc_level_rates *dram = &out->level[out->n++];
    snprintf(dram->name, sizeof(dram->name), "DRAM");
    dram->one = (struct oc_stream_place){p->block, 0, p->one};
    dram->all = (struct oc_stream_place){p->block, p->stride, p->touched};
}

/* ---- bandwidths ------------------------------------------------------------------------------------- */

static void measure_mode(struct probe *p, struct oc_level_rates *l, unsigned mode, bool dram)
{
    const struct oc_stream_kernel *k =
        levels_find_kernel(p->features, mode % OC_STREAM_MODES, mode >= OC_STREAM_MODES);
    const struct oc_effort *effort = dram ? &p->effort->dram : &p->effort->cache;
    for (unsigned all = 0; k && all < 2; all++) {
        struct oc_stream_place place = all ? l->all : l->one;
        if (all && p->threads == 1)
            l->rate[1][mode] = l->rate[0][mode];
        if (all && p->threads == 1)
            continue;
        place.bytes = whole_steps((double)place.bytes / oc_stream_arrays(k->mode));
        l->rate[all][mode] = rate_of_stream(p->team, all ? p->threads : 1, k, &place, effort);
    }
}

int oc_levels_measure(struct oc_team *team, unsigned threads, const struct oc_machine *machine,
                      uint32_t features, const struct oc_level_effort *effort,
                      void (*progress)(void *user, const char *what), void *user, struct oc_levels *out,
                      struct oc_err *err)
{
    struct probe p = {.team = team, .threads = threads, .features = features, .effort = effort};
    *out = (struct oc_levels){0};
    if (progress)
        progress(user, "memory: allocate");
    oc_team_awake(team, true);
    int rc = get_block(&p, err);
    oc_team_awake(team, false);
    if (rc)
        return -1;
    if (progress)
        progress(user, "memory: cache sizes");
    levels_sweep(&p);
    find_levels(&p, machine, out);
    out->block_bytes = p.touched * threads;
    out->flatness = rate_at(&p, (double)p.one) / rate_at(&p, (double)p.one / 2);
    for (unsigned i = 0; i < out->n; i++) {
        bool dram = i + 1 == out->n;
        if (progress)
            progress(user, out->level[i].name);
        for (unsigned mode = 0; mode < (dram ? OC_LEVEL_MODES : OC_STREAM_MODES); mode++)
            measure_mode(&p, &out->level[i], mode, dram);
    }
    munmap(p.block, p.stride * threads);
    return 0;
}
