#include "measure/measure.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/units.h"

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

/* ---- /proc ------------------------------------------------------------------------------------------ */

/* The value of the first line "key : value" of a file, or "". */
static void proc_value(const char *path, const char *key, char *out, size_t cap)
{
    char line[1024];
    FILE *f = fopen(path, "r");
    out[0] = '\0';
    while (f && fgets(line, sizeof(line), f)) {
        size_t n = strlen(key);
        if (strncmp(line, key, n) != 0 || !strchr("\t :", line[n]))
            continue;
        const char *value = line + n + strspn(line + n, "\t :");
        snprintf(out, cap, "%.*s", (int)strcspn(value, "\n"), value);
        break;
    }
    if (f)
        fclose(f);
}

static uint64_t meminfo(const char *key)
{
    char text[64];
    uint64_t kib = 0;
    proc_value("/proc/meminfo", key, text, sizeof(text));
    return oc_parse_u64(text, strcspn(text, " "), &kib) && kib < UINT64_MAX / 1024 ? kib * 1024 : 0;
}

/* The cgroup limit may be lower than the memory of the machine. */
static uint64_t group_limit(void)
{
    static const char *const files[] = {"/sys/fs/cgroup/memory.max",
                                        "/sys/fs/cgroup/memory/memory.limit_in_bytes"};
    for (size_t i = 0; i < OC_COUNT(files); i++) {
        char line[64] = "";
        uint64_t bytes;
        FILE *f = fopen(files[i], "r");
        bool got = f && fgets(line, sizeof(line), f);
        if (f)
            fclose(f);
        if (got && oc_parse_u64(line, strcspn(line, "\n"), &bytes) && bytes)
            return bytes;
    }
    return UINT64_MAX;
}

/* Removes trademarks, "CPU" and the clock from "Intel(R) Xeon(R) CPU E5 @ 2.2GHz". */
static const char *machine_plain_name(struct oc_arena *a, const char *name)
{
    static const char *const drop[] = {"(R)", "(TM)", "(r)", "(tm)", "CPU "};
    char *out = oc_strdup(a, name), *w = out;
    for (const char *p = name; *p && *p != '@';) {
        size_t n = 0;
        for (size_t i = 0; i < OC_COUNT(drop) && !n; i++)
            n = strncmp(p, drop[i], strlen(drop[i])) == 0 ? strlen(drop[i]) : 0;
        if (!n && !(*p == ' ' && (w == out || w[-1] == ' ')))
            *w++ = *p;
        p += n ? n : 1;
    }
    while (w > out && w[-1] == ' ')
        w--;
    *w = '\0';
    return out;
}

static const char *vendor_name(struct oc_arena *a)
{
    static const struct {
        const char *id, *name;
    } vendors[] = {
        {"GenuineIntel", "Intel"},   {"AuthenticAMD", "AMD"}, {"HygonGenuine", "Hygon"},
        {"CentaurHauls", "Zhaoxin"}, {"0x41", "Arm"},         {"0x42", "Broadcom"},
        {"0x43", "Cavium"},          {"0x46", "Fujitsu"},     {"0x48", "HiSilicon"},
        {"0x4e", "NVIDIA"},          {"0x51", "Qualcomm"},    {"0x61", "Apple"},
        {"0x6d", "Microsoft"},       {"0xc0", "Ampere"},
    };
    char text[64];
    proc_value("/proc/cpuinfo", "vendor_id", text, sizeof(text));
    if (!text[0])
        proc_value("/proc/cpuinfo", "CPU implementer", text, sizeof(text));
    for (size_t i = 0; i < OC_COUNT(vendors); i++)
        if (strcmp(vendors[i].id, text) == 0)
            return vendors[i].name;
    return text[0] ? oc_strdup(a, text) : "unknown";
}

static const char *model_name(struct oc_arena *a, const char *vendor, const char *machine)
{
    char text[200], part[64];
    proc_value("/proc/cpuinfo", "model name", text, sizeof(text));
    if (!text[0]) {
        proc_value("/proc/cpuinfo", "CPU part", part, sizeof(part));
        if (part[0])
            snprintf(text, sizeof(text), "%s part %s", vendor, part);
    }
    return text[0] ? machine_plain_name(a, text) : oc_printf(a, "%s processor", machine);
}

static bool has_hypervisor(void)
{
    char flags[4096];
    proc_value("/proc/cpuinfo", "flags", flags, sizeof(flags));
    return strstr(flags, " hypervisor") || access("/sys/hypervisor/type", R_OK) == 0;
}

/* ---- caches ----------------------------------------------------------------------------------------- */

static bool cache_text(unsigned cpu, unsigned index, const char *what, char *out, size_t cap)
{
    char path[128];
    snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/cache/index%u/%s", cpu, index, what);
    FILE *f = fopen(path, "r");
    bool got = f && fgets(out, (int)cap, f);
    if (f)
        fclose(f);
    if (got)
        out[strcspn(out, "\n")] = '\0';
    return got;
}

struct seen { /* one cache: its level and the processors that share it */
    unsigned level;
    char shared[256];
    unsigned threads;
    struct seen *next;
};

static struct seen *find_seen(struct oc_arena *a, struct seen **list, unsigned level, const char *shared)
{
    for (struct seen *s = *list; s; s = s->next)
        if (s->level == level && strcmp(s->shared, shared) == 0)
            return s;
    struct seen *s = OC_NEW(a, struct seen);
    *s = (struct seen){.level = level, .next = *list};
    snprintf(s->shared, sizeof(s->shared), "%s", shared);
    *list = s;
    return s;
}

static void add_cache(struct oc_arena *a, struct seen **list, unsigned cpu, unsigned index,
                      struct oc_machine *m)
{
    char level[16], type[32], size[32], shared[256];
    double bytes;
    uint64_t at;
    if (!cache_text(cpu, index, "level", level, sizeof(level)) ||
        !cache_text(cpu, index, "type", type, sizeof(type)) ||
        !cache_text(cpu, index, "size", size, sizeof(size)) ||
        !cache_text(cpu, index, "shared_cpu_list", shared, sizeof(shared)))
        return;
    size_t n = strlen(size);
    double unit = n && size[n - 1] == 'K' ? 1024 : n && size[n - 1] == 'M' ? 1048576 : 1;
    if (strcmp(type, "Instruction") == 0 || !oc_parse_u64(level, strlen(level), &at) || at < 1 ||
        at > OC_CACHE_LEVELS || !oc_parse_double(size, n - (unit > 1), &bytes) || !(bytes > 0))
        return;
    struct oc_cache_claim *c = &m->cache[at - 1];
    struct seen *s = find_seen(a, list, (unsigned)at, shared);
    c->instances += s->threads == 0;
    s->threads++;
    c->threads = s->threads > c->threads ? s->threads : c->threads;
    c->bytes = (uint64_t)(bytes * unit);
}

static void query_caches(struct oc_arena *a, unsigned threads, struct oc_machine *m)
{
    struct seen *list = NULL;
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set))
        return;
    for (unsigned cpu = 0; cpu < CPU_SETSIZE && threads; cpu++) {
        if (!CPU_ISSET(cpu, &set))
            continue;
        threads--;
        for (unsigned index = 0; index < 8; index++)
            add_cache(a, &list, cpu, index, m);
    }
}

void oc_machine_ask(struct oc_arena *a, unsigned threads, struct oc_machine *out)
{
    struct utsname u;
    *out = (struct oc_machine){.processors = oc_team_processors()};
    bool named = uname(&u) == 0;
    out->system = named ? oc_printf(a, "%s %s %s", u.sysname, u.release, u.machine) : "unknown";
    out->vendor = vendor_name(a);
    out->model = model_name(a, out->vendor, named ? u.machine : "unknown");
    out->is_virtual = has_hypervisor();
    out->memory_bytes = meminfo("MemTotal");
    uint64_t limit = group_limit(), free_bytes = meminfo("MemAvailable");
    out->available_bytes = free_bytes < limit ? free_bytes : limit;
    query_caches(a, threads, out);
}
