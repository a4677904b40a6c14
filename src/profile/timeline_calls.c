/* Calls by group and kernel. Their indices take four bytes each and are computed for some groups at a
 * time: a trace of gigabytes has no room for all of them. */
#include <stdlib.h>

#include "profile/timeline_parts.h"

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

uint32_t oc_timeline_order_groups(struct making *m, const uint32_t *list, uint32_t from, uint32_t n)
{
    uint32_t at = from;
    begin_order(m);
    for (; at < n; at++) {
        struct group *g = &m->group[list[at]];
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
