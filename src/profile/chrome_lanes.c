#include "profile/chrome_lanes.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

enum { MAX_THREADS = 1 << 16 };

int64_t oc_chrome_id(const struct oc_chrome *r, unsigned field)
{
    int64_t id = 0;
    if (!oc_chrome_has(r, field) || oc_chrome_i64(r, field, &id))
        return id;
    const char *p = r->f[field].s, *end = p + r->f[field].n;
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
    unsigned d = lane->device;
    const struct oc_lane *last = &l->last[d].lane;
    if (!l->last[d].known || last->process != lane->process || last->device_id != lane->device_id ||
        last->id != lane->id) {
        l->last[d].lane = *lane;
        l->last[d].index = oc_timeline_lane(t, lane);
        l->last[d].known = true;
    }
    return l->last[d].index;
}

uint16_t oc_chrome_lane_at(struct oc_chrome_lanes *l, const struct oc_chrome *r, struct oc_timeline *t,
                           bool device, const unsigned field[2])
{
    const struct oc_str a = r->f[field[0]], b = r->f[field[1]];
    struct oc_chrome_written *w = &l->written[device];
    if (w->known && a.n == w->n[0] && b.n == w->n[1] && oc_same(a.s, w->text[0], a.n) &&
        oc_same(b.s, w->text[1], b.n))
        return w->index;
    int64_t owner = oc_chrome_id(r, field[0]);
    struct oc_lane lane = {.device = device,
                           .process = device ? OC_NO_ID : owner,
                           .device_id = device ? owner : OC_NO_ID,
                           .id = oc_chrome_id(r, field[1])};
    w->index = oc_chrome_lane(l, t, &lane);
    w->known = a.n <= sizeof(w->text[0]) && b.n <= sizeof(w->text[1]);
    if (w->known) {
        memcpy(w->text[0], a.n ? a.s : "", w->n[0] = (uint8_t)a.n);
        memcpy(w->text[1], b.n ? b.s : "", w->n[1] = (uint8_t)b.n);
    }
    return w->index;
}

static int by_ids(const void *a, const void *b)
{
    const struct oc_chrome_thread *x = a, *y = b;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    return (x->tid > y->tid) - (x->tid < y->tid);
}

static void name_lanes(const struct oc_chrome_lanes *l, struct oc_timeline *t)
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

void oc_chrome_leave_out(struct oc_chrome_left_out *x, struct oc_str category)
{
    if (!x->n++)
        snprintf(x->category, sizeof(x->category), "%.*s",
                 !category.n       ? 4
                 : category.n < 40 ? (int)category.n
                                   : 40,
                 category.n ? category.s : "none");
}

void oc_chrome_read(struct oc_chrome *r, struct oc_chrome_lanes *l, unsigned name_field,
                    const struct oc_timeline *t, const char *(*take)(void *ctx), void *ctx)
{
    while (oc_chrome_next(r) && !t->full) {
        if (oc_chrome_is(r, OC_CH_PH, "X")) {
            const char *why = take(ctx);
            if (why)
                oc_chrome_bad(r, why);
        } else if (oc_chrome_is(r, OC_CH_PH, "M")) {
            oc_chrome_note_thread(l, r, name_field, t->profile);
        }
    }
}

void oc_chrome_tell(struct oc_chrome *r, const struct oc_stream *s, const struct oc_timeline *t,
                    const struct oc_chrome_left_out *x)
{
    struct oc_diags *d = &t->profile->diags;
    oc_faults_warn(&r->faults, r->j, s, t->profile);
    if (x && x->n)
        oc_diag_add(d, OC_INFO, "I-category", "",
                    "%zu events of unsupported categories were skipped, the first: %s", x->n, x->category);
}

int oc_chrome_finish(struct oc_chrome *r, struct oc_chrome_lanes *l, struct oc_timeline *t, int rc,
                     const struct oc_profile_opts *opts, const struct oc_timeline_rules *rules)
{
    if (rc == 0)
        name_lanes(l, t);
    rc = oc_timeline_close(t, rc, opts, rules);
    oc_chrome_close(r);
    free(l->thread);
    return rc;
}
