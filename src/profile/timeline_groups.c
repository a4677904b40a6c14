#include "profile/timeline_parts.h"

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
        (by_position(m, e) && timeline_groups_position_of(m, e, g->caller) != g->position))
        return OC_NONE;
    return id;
}

static uint32_t timeline_groups_find_group(struct making *m, const struct oc_event *e, uint32_t parent)
{
    uint32_t caller = by_position(m, e) ? caller_of(m, e, parent) : OC_NONE;
    uint32_t position = caller != OC_NONE ? timeline_groups_position_of(m, e, caller) : 0;
    uint32_t key[4] = {e->name, timeline_groups_detail_of(m, e), parent, position};
    uint32_t id = m->n_group;
    if (!oc_map_add(&m->group_of, (const char *)key, sizeof(key), &id, NULL))
        return id;
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
