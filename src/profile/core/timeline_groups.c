#include <stdlib.h>

#include "profile/core/timeline_parts.h"

enum { MAX_GROUPS = 1 << 16 };

/* Grid and block of a kernel show which runs are equal; they make no record of their own. */
static uint32_t timeline_groups_detail_of(const struct making *m, const struct oc_event *e)
{
    bool launch = e->detail != OC_NONE && e->kind == OC_EV_KERNEL && !m->t->detail[e->detail].has_in;
    return launch ? OC_NONE : e->detail;
}

static uint32_t caller_of(struct making *m, const struct oc_event *e, uint32_t parent)
{
    uint32_t key[3] = {e->name, timeline_groups_detail_of(m, e), parent}, id = m->n_caller;
    if (oc_map_add(&m->caller_of, (const char *)key, sizeof(key), &id, NULL)) {
        OC_GROW(m->caller, m->n_caller, m->cap_caller);
        m->caller[m->n_caller++] = (struct caller){.run = OC_NONE};
    }
    return id;
}

/* One record per call in a run. Without runs the calls of a kernel have no position in one. */
static bool by_position(const struct making *m, const struct oc_event *e)
{
    return m->positions && !(m->t->runs_implicit && oc_event_on_device(e->kind));
}

/* Number of earlier calls of that name in this run. */
static uint32_t timeline_groups_position_of(const struct making *m, const struct oc_event *e, uint32_t caller)
{
    return m->caller[caller].run == e->run ? m->caller[caller].n : 0;
}

static void count_call(struct making *m, const struct oc_event *e, uint32_t caller)
{
    m->caller[caller].n = timeline_groups_position_of(m, e, caller) + 1;
    m->caller[caller].run = e->run;
}

/* Runs repeat: tries the group that followed last time. */
static uint32_t likely_group(struct making *m, const struct oc_event *e, uint32_t parent)
{
    uint32_t id = m->last_group == OC_NONE ? OC_NONE : m->group[m->last_group].next;
    if (id == OC_NONE)
        return OC_NONE;
    const struct group *g = &m->group[id];
    if (g->name != e->name || g->detail != timeline_groups_detail_of(m, e) || g->parent != parent ||
        (by_position(m, e) &&
         (g->caller == OC_NONE || timeline_groups_position_of(m, e, g->caller) != g->position)))
        return OC_NONE;
    return id;
}

static uint32_t timeline_groups_find_group(struct making *m, const struct oc_event *e, uint32_t parent)
{
    uint32_t caller = by_position(m, e) ? caller_of(m, e, parent) : OC_NONE;
    uint32_t position = caller != OC_NONE ? timeline_groups_position_of(m, e, caller) : 0;
    uint32_t key[4] = {e->name, timeline_groups_detail_of(m, e), parent, position};
    uint32_t id = m->n_group;
    if (!oc_map_add(&m->group_of, (const char *)key, sizeof(key), &id, NULL)) {
        if (m->group[id].caller == OC_NONE) /* until now only kernels of that name */
            m->group[id].caller = caller;
        return id;
    }
    OC_GROW(m->group, m->n_group, m->cap_group);
    m->group[m->n_group++] = (struct group){.name = e->name,
                                            .detail = timeline_groups_detail_of(m, e),
                                            .parent = parent,
                                            .lane = e->lane,
                                            .first_kernel = OC_NONE,
                                            .run = e->run,
                                            .caller = caller,
                                            .position = position,
                                            .next = OC_NONE,
                                            .start_ns = e->start_ns - m->t->run[e->run].start_ns};
    return id;
}

static uint32_t timeline_groups_group_of(struct making *m, const struct oc_event *e, uint32_t parent)
{
    uint32_t id = likely_group(m, e, parent);
    if (id == OC_NONE) {
        id = timeline_groups_find_group(m, e, parent);
        if (m->last_group != OC_NONE)
            m->group[m->last_group].next = id;
    }
    if (by_position(m, e))
        count_call(m, e, m->group[id].caller);
    m->last_group = id;
    return id;
}

void oc_timeline_forget_groups(struct making *m)
{
    oc_map_free(&m->group_of);
    oc_map_free(&m->caller_of);
    oc_arena_free(&m->scratch);
    m->n_group = m->n_caller = 0;
    m->last_group = OC_NONE;
}

void oc_timeline_begin_groups(struct making *m)
{
    m->group_of.arena = m->caller_of.arena = m->kernel_of.arena = &m->scratch;
    m->last_group = OC_NONE;
}

bool oc_timeline_make_groups(struct making *m, size_t from, size_t to)
{
    struct oc_timeline *t = m->t;
    for (size_t i = from; i < to; i++) {
        struct oc_event *e = &t->event[i];
        if (!(e->flags & OC_EVF_RECORD))
            continue;
        bool device = oc_event_on_device(e->kind);
        uint32_t up = device || e->parent == OC_NONE ? OC_NONE : oc_timeline_owner(t, e->parent);
        *(device ? &e->parent : &e->link) =
            oc_timeline_used(t, e->run)
                ? timeline_groups_group_of(m, e, up == OC_NONE ? OC_NONE : t->event[up].link)
                : OC_NONE;
        if (m->positions && m->n_group > MAX_GROUPS)
            return false;
    }
    return true;
}

/* ---- timeline calls --------------------------------------------------------------------------------- */

/* Calls by group and kernel. Their indices take four bytes each and are computed for some groups at a
 * time: a trace of gigabytes has no room for all of them. */

#define MAX_ORDER ((size_t)1 << 21) /* 8 MB, or the size of one group */
enum { MAX_PASSES = 16 };

static void begin_order(struct making *m)
{
    m->n_order = 0;
    if (!m->max_order)
        m->max_order = m->t->n_event / MAX_PASSES > MAX_ORDER ? m->t->n_event / MAX_PASSES : MAX_ORDER;
    for (uint32_t g = 0; g < m->n_group; g++)
        m->group[g].calls.end = OC_NONE;
    for (uint32_t k = 0; k < m->n_kernel; k++)
        m->kernel[k].calls.end = OC_NONE;
}

/* Start position of their range until it is filled. */
static void take_calls(struct making *m, struct calls *c)
{
    c->end = (uint32_t)m->n_order;
    m->n_order += c->n;
}

static struct calls *timeline_calls_of(struct making *m, const struct oc_event *e)
{
    if (e->kind >= OC_EV_KERNEL && e->kind <= OC_EV_MEMSET)
        return e->parent == OC_NONE ? NULL : &m->kernel[e->parent].calls;
    if (!(e->flags & OC_EVF_RECORD) || e->link == OC_NONE || oc_event_on_device(e->kind))
        return NULL;
    return &m->group[e->link].calls;
}

static void fill_order(struct making *m)
{
    const struct oc_timeline *t = m->t;
    if (m->n_order > m->cap_order) {
        free(m->order);
        m->order = oc_xmalloc(m->n_order * sizeof(*m->order));
        m->cap_order = m->n_order;
    }
    for (size_t i = 0; i < t->n_event; i++) {
        struct calls *c = timeline_calls_of(m, &t->event[i]);
        if (c && c->end != OC_NONE)
            m->order[c->end++] = (uint32_t)i;
    }
}

uint32_t oc_timeline_order_groups(struct making *m, uint32_t from)
{
    uint32_t at = from;
    begin_order(m);
    for (; at < m->n_list; at++) {
        struct group *g = &m->group[m->list[at]];
        size_t all = g->calls.n;
        for (uint32_t k = g->first_kernel; k != OC_NONE; k = m->kernel[k].next)
            all += m->kernel[k].calls.n;
        if (m->n_order && m->n_order + all > m->max_order)
            break;
        take_calls(m, &g->calls);
        for (uint32_t k = g->first_kernel; k != OC_NONE; k = m->kernel[k].next)
            take_calls(m, &m->kernel[k].calls);
    }
    fill_order(m);
    return at;
}

uint32_t oc_timeline_order_kernels(struct making *m, uint32_t from)
{
    uint32_t at = from;
    begin_order(m);
    for (; at < m->n_kernel; at++) {
        struct calls *c = &m->kernel[at].calls;
        if (m->t->profile->kernel[at].calls)
            continue;
        if (m->n_order && m->n_order + c->n > m->max_order)
            break;
        take_calls(m, c);
    }
    if (m->n_order)
        fill_order(m);
    return at;
}
