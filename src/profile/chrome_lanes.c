#include "profile/chrome_lanes.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_THREADS = 1 << 16 };

int64_t oc_chrome_id(const struct oc_chrome *r, unsigned field)
{
    const char *p = r->f[field].s, *end = p + r->f[field].n;
    int64_t id = 0;
    if (!oc_chrome_has(r, field) || oc_chrome_i64(r, field, &id))
        return id;
    bool quoted = *p == '"';
    p += quoted;
    end -= quoted;
    const char *q = p;
    if (end - p > 7 && memcmp(p, "stream ", 7) == 0)
        q += 7;
    for (; q < end && isdigit((unsigned char)*q) && id < INT64_C(1) << 50; q++)
        id = id * 10 + (*q - '0');
    if (q > p && isdigit((unsigned char)q[-1]) && (q == end || *q == '('))
        return id;
    uint64_t h = 1469598103934665603u;
    for (; p < end; p++)
        h = (h ^ (unsigned char)*p) * 1099511628211u;
    return -1 - (int64_t)(h >> 24);
}

void oc_chrome_note_thread(struct oc_chrome_lanes *l, struct oc_chrome *r, unsigned name_field,
                           struct oc_profile *p)
{
    if (!oc_chrome_is(r, OC_CH_NAME, "thread_name") || !oc_chrome_has(r, name_field) || l->n == MAX_THREADS)
        return;
    struct oc_str name = oc_chrome_text(r, name_field);
    OC_GROW(l->thread, l->n, l->cap);
    l->thread[l->n++] = (struct oc_chrome_thread){oc_chrome_id(r, OC_CH_PID), oc_chrome_id(r, OC_CH_TID),
                                                  oc_intern(&p->names, name.s, name.n)};
}

uint16_t oc_chrome_lane(struct oc_chrome_lanes *l, struct oc_timeline *t, const struct oc_lane *lane)
{
    if (l->has_last && l->last.device == lane->device && l->last.process == lane->process &&
        l->last.device_id == lane->device_id && l->last.id == lane->id)
        return l->last_index;
    l->last = *lane;
    l->last_index = oc_timeline_lane(t, lane);
    l->has_last = true;
    return l->last_index;
}

static int by_ids(const void *a, const void *b)
{
    const struct oc_chrome_thread *x = a, *y = b;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    return (x->tid > y->tid) - (x->tid < y->tid);
}

void oc_chrome_name_lanes(const struct oc_chrome_lanes *l, struct oc_timeline *t)
{
    if (l->n)
        qsort(l->thread, l->n, sizeof(*l->thread), by_ids);
    for (uint32_t i = 0; i < t->n_lane && l->n; i++) {
        struct oc_lane *lane = &t->lane[i];
        struct oc_chrome_thread key = {.pid = lane->device ? lane->device_id : lane->process,
                                       .tid = lane->id};
        const struct oc_chrome_thread *found = bsearch(&key, l->thread, l->n, sizeof(key), by_ids);
        if (found && !lane->name[0])
            lane->name = found->name;
    }
}

void oc_chrome_lanes_free(struct oc_chrome_lanes *l)
{
    free(l->thread);
}
