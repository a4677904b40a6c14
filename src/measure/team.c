#include "measure/team.h"

#include "base/arena.h"
#include "base/diag.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

unsigned oc_team_processors(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set))
        return 1;
    int n = CPU_COUNT(&set);
    return n > 0 ? (unsigned)n : 1;
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
