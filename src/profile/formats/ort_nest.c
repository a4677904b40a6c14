#include <stdlib.h>
#include <string.h>

#include "profile/formats/ort_trace.h"

static int compare_events(const void *a, const void *b, void *keys)
{
    return ort_before(a, b, keys) ? -1 : ort_before(b, a, keys);
}

/* Insertion sort with a bound on moves: traces are sorted by the events' ends, and only outer events are
 * out of order. */
static void sort_events(struct ort_event *e, size_t n, struct ort_key *key)
{
    size_t budget = 16 * n + 1000;
    for (size_t i = 1; i < n; i++) {
        struct ort_event moved = e[i];
        size_t k = i;
        for (; k > 0 && ort_before(&moved, &e[k - 1], key); k--)
            e[k] = e[k - 1];
        e[k] = moved;
        if (i - k > budget) {
            qsort_r(e, n, sizeof(*e), compare_events, key);
            return;
        }
        budget -= i - k;
    }
}

int64_t ort_last_end(const struct ort_trace *t)
{
    int64_t last_us = INT64_MIN;
    for (size_t i = 0; i < t->n_run; i++)
        last_us = ort_run_end(&t->run[i]) > last_us ? ort_run_end(&t->run[i]) : last_us;
    return last_us;
}

uint32_t ort_run_before(const struct ort_trace *t, int64_t ts_us)
{
    size_t low = 0, high = t->n_run;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (t->run[mid].start_us <= ts_us)
            low = mid + 1;
        else
            high = mid;
    }
    return low ? (uint32_t)(low - 1) : OC_NONE;
}

/* ---- groups ----------------------------------------------------------------------------------------- */

void ort_groups_free(struct ort_groups *g)
{
    free(g->group);
    free(g->order);
    oc_map_free(&g->of);
    oc_map_free(&g->by_name);
    oc_arena_free(&g->arena);
}

static uint32_t ort_nest_find_group(const struct ort_groups *g, uint32_t key, uint32_t parent)
{
    uint32_t id[2] = {key, parent};
    return oc_map_get(&g->of, (const char *)id, sizeof(id));
}

static uint32_t ort_nest_group_of(const struct ort_trace *t, struct ort_groups *g, uint32_t key,
                                  uint32_t parent, uint32_t lane)
{
    struct ort_key *k = &t->key[key];
    uint32_t at = (uint32_t)g->n;
    if (k->kind == ORT_FENCE)
        parent = OC_NONE;
    if (k->last_group != OC_NONE && k->last_parent == parent)
        return k->last_group;
    uint32_t id[2] = {key, parent};
    bool new = oc_map_add(&g->of, (const char *)id, sizeof(id), &at, NULL);
    k->last_parent = parent;
    k->last_group = at;
    if (!new)
        return at;
    OC_GROW(g->group, g->n, g->cap);
    g->group[g->n++] = (struct ort_group){.key = key,
                                          .parent = parent,
                                          .same_name = oc_map_get(&g->by_name, k->name, strlen(k->name)),
                                          .rec = OC_NONE,
                                          .lane = lane};
    oc_map_set(&g->by_name, k->name, strlen(k->name), at);
    return at;
}

/* ---- runs and nesting ------------------------------------------------------------------------------- */

struct nesting {
    struct ort_trace *t;
    struct ort_groups *g;
    struct ort_event **stack; /* events that contain the next one, with their groups and runs */
    size_t depth, cap;
    uint32_t run;  /* of the current lane: the last one that began, at first the first one; OC_NONE: none */
    uint32_t *top; /* events in runs that are in no other event */
    size_t n_top, cap_top;
    bool mixed; /* a run has events of other lanes than its own */
};

/* Resolves an event that may be a child or a sibling of the node: uses what the same node did in other
 * runs. */
static bool was_inside(const struct nesting *x, const struct ort_event *outer, uint32_t key)
{
    const struct ort_group *g = &x->g->group[outer->key];
    return x->t->key[g->key].has_body && ort_nest_find_group(x->g, key, outer->key) != OC_NONE &&
           ort_nest_find_group(x->g, key, g->parent) == OC_NONE;
}

/* Start and duration are each truncated to microseconds, so on one thread an event that begins before the
 * written end is inside. One that begins exactly at the end may be the last child or the next sibling. */
static bool is_child(const struct nesting *x, const struct ort_event *outer, const struct ort_event *e)
{
    int64_t end_us = outer->ts_us + outer->dur_us;
    if (e->ts_us + e->dur_us > end_us + 1)
        return false;
    return e->ts_us < end_us || was_inside(x, outer, e->key);
}

/* An event under one microsecond that starts together with a node may have preceded it. */
static struct ort_event *ort_nest_outer_of(const struct nesting *x, const struct ort_event *e)
{
    size_t d = x->depth;
    while (d && !e->dur_us && x->stack[d - 1]->ts_us == e->ts_us && !was_inside(x, x->stack[d - 1], e->key))
        d--;
    return d ? x->stack[d - 1] : NULL;
}

static bool ort_nest_in_run(const struct ort_run *r, int64_t ts_us)
{
    return ts_us >= r->start_us && ts_us <= ort_run_end(r);
}

/* Threads that never call Run work for the calls of other threads: the latest open one. */
static uint32_t foreign_run(const struct ort_trace *t, int64_t ts_us)
{
    uint32_t r = ort_run_before(t, ts_us);
    for (unsigned tries = 0; r != OC_NONE && tries < 64; tries++, r = r ? r - 1 : OC_NONE)
        if (ort_nest_in_run(&t->run[r], ts_us))
            return r;
    return OC_NONE;
}

static uint32_t ort_nest_run_of(struct nesting *x, int64_t ts_us)
{
    const struct ort_run *run = x->t->run;
    if (x->run == OC_NONE)
        return foreign_run(x->t, ts_us);
    while (run[x->run].next != OC_NONE && run[run[x->run].next].start_us <= ts_us)
        x->run = run[x->run].next;
    return ort_nest_in_run(&run[x->run], ts_us) ? x->run : OC_NONE;
}

static void nest_event(struct nesting *x, size_t i, uint32_t lane)
{
    struct ort_event *e = &x->t->event[i];
    while (x->depth && !is_child(x, x->stack[x->depth - 1], e))
        x->depth--;
    struct ort_event *outer = ort_nest_outer_of(x, e);
    uint32_t run = outer ? outer->lane : ort_nest_run_of(x, e->ts_us);
    uint32_t group = ort_nest_group_of(x->t, x->g, e->key, outer ? outer->key : OC_NONE, lane);
    if (outer) {
        outer->self_us -= e->dur_us;
        x->t->twice_us += e->dur_us;
    } else if (run != OC_NONE) {
        OC_GROW(x->top, x->n_top, x->cap_top);
        x->top[x->n_top++] = (uint32_t)i;
        x->mixed |= x->t->run[run].lane != lane;
    }
    e->key = group;
    e->lane = run;
    x->g->group[group].n++;
    if (!e->dur_us) /* has no children */
        return;
    OC_GROW(x->stack, x->depth, x->cap);
    x->stack[x->depth++] = e;
}

static int ort_nest_by_start(const void *a, const void *b, void *events)
{
    const struct ort_event *e = events;
    int64_t x = e[*(const uint32_t *)a].ts_us, y = e[*(const uint32_t *)b].ts_us;
    return (x > y) - (x < y);
}

/* Interval union of the top-level events of each run. */
static void ort_nest_add_busy(struct nesting *x)
{
    struct ort_trace *t = x->t;
    if (x->mixed && t->n_lane > 1)
        qsort_r(x->top, x->n_top, sizeof(*x->top), ort_nest_by_start, t->event);
    for (size_t i = 0; i < x->n_top; i++) {
        const struct ort_event *e = &t->event[x->top[i]];
        struct ort_run *r = &t->run[e->lane];
        int64_t end_us = e->ts_us + e->dur_us < ort_run_end(r) ? e->ts_us + e->dur_us : ort_run_end(r);
        r->busy_us += oc_union_add(&r->reached_us, (double)e->ts_us, (double)end_us);
    }
}

static void index_groups(const struct ort_trace *t, struct ort_groups *g)
{
    uint32_t at = 0;
    g->order = oc_xmalloc(t->n_event * sizeof(*g->order));
    for (size_t i = 0; i < g->n; i++) {
        g->group[i].first = at;
        at += g->group[i].n;
        g->group[i].n = 0;
    }
    for (size_t i = 0; i < t->n_event; i++) {
        struct ort_group *grp = &g->group[t->event[i].key];
        g->order[grp->first + grp->n++] = (uint32_t)i;
    }
}

/* The first run of each thread; the others of the thread follow it. */
static uint32_t *runs_by_lane(struct ort_trace *t)
{
    uint32_t *first = oc_xmalloc((t->n_lane + 1) * sizeof(*first));
    for (uint32_t l = 0; l < t->n_lane; l++)
        first[l] = OC_NONE;
    for (size_t i = t->n_run; i-- > 0;) {
        struct ort_run *r = &t->run[i];
        r->reached_us = (double)r->start_us;
        if (r->lane == OC_NONE)
            continue;
        r->next = first[r->lane];
        first[r->lane] = (uint32_t)i;
    }
    return first;
}

void ort_nest(struct ort_trace *t, struct ort_groups *g)
{
    struct nesting x = {.t = t, .g = g};
    uint32_t *first = runs_by_lane(t);
    g->of.arena = g->by_name.arena = &g->arena;
    if (t->in_disorder)
        sort_events(t->event, t->n_event, t->key);
    for (size_t i = 0; i < t->n_event;) {
        uint32_t lane = t->event[i].lane;
        x.run = first[lane];
        x.depth = 0;
        for (; i < t->n_event && t->event[i].lane == lane; i++)
            nest_event(&x, i, lane);
    }
    ort_nest_add_busy(&x);
    index_groups(t, g);
    free(x.stack);
    free(x.top);
    free(first);
}
