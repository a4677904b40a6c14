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
    uint32_t at = (uint32_t)g->n, last = at;
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
    struct ort_group *made = &g->group[g->n++];
    *made =
        (struct ort_group){.key = key, .parent = parent, .rec = OC_NONE, .lane = lane, .start_run = OC_NONE};
    bool first = oc_map_add(&g->by_name, k->name, strlen(k->name), &last, NULL);
    made->same_name = first ? OC_NONE : last;
    if (!first)
        oc_map_set(&g->by_name, k->name, strlen(k->name), at);
    return at;
}

/* ---- runs and nesting ------------------------------------------------------------------------------- */

struct frame {
    size_t event;
    uint32_t group, run;
};

struct nesting {
    struct ort_trace *t;
    struct ort_groups *g;
    struct ort_busy *busy;
    struct frame *stack;
    size_t depth, cap;
    uint32_t *by_lane;        /* runs by lane, then start */
    size_t next_run, end_run; /* in by_lane, those of the current lane */
};

/* Resolves an event that may be a child or a sibling of the node: uses what the same node did in other
 * runs. */
static bool was_inside(const struct nesting *x, const struct frame *outer, uint32_t key)
{
    const struct ort_group *g = &x->g->group[outer->group];
    return x->t->key[g->key].has_body && ort_nest_find_group(x->g, key, outer->group) != OC_NONE &&
           ort_nest_find_group(x->g, key, g->parent) == OC_NONE;
}

/* Start and duration are each truncated to microseconds, so on one thread an event that begins before the
 * written end is inside. One that begins exactly at the end may be the last child or the next sibling. */
static bool is_child(const struct nesting *x, const struct frame *outer, const struct ort_event *e)
{
    const struct ort_event *p = &x->t->event[outer->event];
    int64_t end_us = p->ts_us + p->dur_us;
    if (e->ts_us + e->dur_us > end_us + 1)
        return false;
    return e->ts_us < end_us || was_inside(x, outer, e->key);
}

/* An event under one microsecond that starts together with a node may have preceded it. */
static const struct frame *ort_nest_outer_of(const struct nesting *x, const struct ort_event *e)
{
    size_t d = x->depth;
    while (d && !e->dur_us && x->t->event[x->stack[d - 1].event].ts_us == e->ts_us &&
           !was_inside(x, &x->stack[d - 1], e->key))
        d--;
    return d ? &x->stack[d - 1] : NULL;
}

static bool ort_nest_in_run(const struct ort_run *r, int64_t ts_us)
{
    return ts_us >= r->start_us && ts_us <= r->start_us + r->dur_us;
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
    const struct ort_trace *t = x->t;
    if (x->next_run == x->end_run)
        return foreign_run(t, ts_us);
    while (x->next_run + 1 < x->end_run && t->run[x->by_lane[x->next_run + 1]].start_us <= ts_us)
        x->next_run++;
    uint32_t run = x->by_lane[x->next_run];
    return ort_nest_in_run(&t->run[run], ts_us) ? run : OC_NONE;
}

static void ort_nest_add_busy(struct nesting *x, const struct ort_event *e, uint32_t run, uint32_t lane)
{
    struct ort_busy *b = &x->busy[run];
    const struct ort_run *r = &x->t->run[run];
    if (b->lane == OC_NONE) {
        b->lane = lane;
        b->end_us = r->start_us;
    }
    b->many_lanes |= b->lane != lane;
    int64_t from_us = e->ts_us > b->end_us ? e->ts_us : b->end_us, to_us = e->ts_us + e->dur_us;
    if (to_us > r->start_us + r->dur_us)
        to_us = r->start_us + r->dur_us;
    if (to_us > from_us) {
        b->busy_us += to_us - from_us;
        b->end_us = to_us;
    }
}

void ort_note_start(const struct ort_trace *t, struct ort_group *g, uint32_t run, int64_t ts_us)
{
    if (run == OC_NONE || !t->run[run].used)
        return;
    int64_t start_us = ts_us - t->run[run].start_us;
    if (g->start_run == OC_NONE || run < g->start_run || (run == g->start_run && start_us < g->start_us)) {
        g->start_run = run;
        g->start_us = start_us;
    }
}

static void nest_event(struct nesting *x, size_t i, uint32_t lane)
{
    struct ort_event *e = &x->t->event[i];
    while (x->depth && !is_child(x, &x->stack[x->depth - 1], e))
        x->depth--;
    const struct frame *outer = ort_nest_outer_of(x, e);
    uint32_t run = outer ? outer->run : ort_nest_run_of(x, e->ts_us);
    uint32_t group = ort_nest_group_of(x->t, x->g, e->key, outer ? outer->group : OC_NONE, lane);
    if (outer) {
        x->t->event[outer->event].self_us -= e->dur_us;
        x->t->twice_us += e->dur_us;
    } else if (run != OC_NONE) {
        ort_nest_add_busy(x, e, run, lane);
    }
    e->key = group;
    e->lane = run;
    x->g->group[group].n++;
    ort_note_start(x->t, &x->g->group[group], run, e->ts_us);
    if (!e->dur_us) /* has no children */
        return;
    OC_GROW(x->stack, x->depth, x->cap);
    x->stack[x->depth++] = (struct frame){i, group, run};
}

/* ---- runs on several threads ------------------------------------------------------------------------ */

struct interval {
    uint32_t run;
    int64_t from_us, to_us;
};

static int by_run_and_start(const void *a, const void *b)
{
    const struct interval *x = a, *y = b;
    if (x->run != y->run)
        return x->run < y->run ? -1 : 1;
    return (x->from_us > y->from_us) - (x->from_us < y->from_us);
}

static void unite_lanes(struct nesting *x)
{
    struct interval *v = NULL;
    size_t n = 0, cap = 0;
    bool any = false;
    for (size_t i = 0; i < x->t->n_run; i++)
        any |= x->busy[i].many_lanes;
    for (size_t i = 0; i < x->t->n_event && any; i++) {
        const struct ort_event *e = &x->t->event[i];
        if (e->lane == OC_NONE || !x->busy[e->lane].many_lanes || x->g->group[e->key].parent != OC_NONE)
            continue;
        OC_GROW(v, n, cap);
        v[n++] = (struct interval){e->lane, e->ts_us, e->ts_us + e->dur_us};
    }
    if (n)
        qsort(v, n, sizeof(*v), by_run_and_start);
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || v[i].run != v[i - 1].run)
            x->busy[v[i].run] = (struct ort_busy){.lane = OC_NONE, .many_lanes = true};
        struct ort_event e = {.ts_us = v[i].from_us, .dur_us = v[i].to_us - v[i].from_us};
        ort_nest_add_busy(x, &e, v[i].run, 0);
    }
    free(v);
}

static void ort_nest_add_unused(const struct ort_trace *t, const struct ort_event *e, int64_t last_end_us,
                                struct ort_unused *u)
{
    if (e->lane != OC_NONE) {
        u->held_us += t->run[e->lane].used ? 0 : e->self_us;
    } else if (e->ts_us >= last_end_us) {
        u->cut_us += e->self_us;
        u->n_cut++;
    } else {
        u->outside_us += e->self_us;
        u->n_outside++;
    }
}

static void index_groups(const struct ort_trace *t, struct ort_groups *g, struct ort_unused *unused)
{
    uint32_t at = 0;
    int64_t last_end_us = INT64_MIN;
    for (size_t i = 0; i < t->n_run; i++) {
        int64_t end_us = t->run[i].start_us + t->run[i].dur_us;
        last_end_us = end_us > last_end_us ? end_us : last_end_us;
    }
    g->order = oc_xmalloc(t->n_event * sizeof(*g->order));
    for (size_t i = 0; i < g->n; i++) {
        g->group[i].first = at;
        at += g->group[i].n;
        g->group[i].n = 0;
    }
    for (size_t i = 0; i < t->n_event; i++) {
        struct ort_group *grp = &g->group[t->event[i].key];
        g->order[grp->first + grp->n++] = (uint32_t)i;
        ort_nest_add_unused(t, &t->event[i], last_end_us, unused);
    }
}

/* Runs by thread; first[lane] .. first[lane + 1] are those of a lane. */
static uint32_t *runs_by_lane(const struct ort_trace *t, uint32_t *first)
{
    uint32_t *by_lane = oc_xmalloc(t->n_run * sizeof(*by_lane)), at = 0;
    for (size_t i = 0; i < t->n_run; i++)
        if (t->run[i].lane < t->n_lane)
            first[t->run[i].lane]++;
    for (uint32_t l = 0; l <= t->n_lane; l++) {
        uint32_t n = first[l];
        first[l] = at;
        at += n;
    }
    for (size_t i = 0; i < t->n_run; i++)
        if (t->run[i].lane < t->n_lane)
            by_lane[first[t->run[i].lane]++] = (uint32_t)i;
    for (uint32_t l = t->n_lane; l > 0; l--) /* each now points to the end of its lane */
        first[l] = first[l - 1];
    first[0] = 0;
    return by_lane;
}

void ort_nest(struct ort_trace *t, struct ort_groups *g, struct ort_busy *busy, struct ort_unused *unused)
{
    uint32_t *first = oc_xcalloc((size_t)t->n_lane + 1, sizeof(*first));
    struct nesting x = {.t = t, .g = g, .busy = busy, .by_lane = runs_by_lane(t, first)};
    g->of.arena = g->by_name.arena = &g->arena;
    for (size_t i = 0; i < t->n_run; i++)
        busy[i] = (struct ort_busy){.lane = OC_NONE};
    for (size_t i = 0; i < t->n_key; i++)
        t->key[i].last_group = OC_NONE;
    if (t->in_disorder)
        sort_events(t->event, t->n_event, t->key);
    for (size_t i = 0; i < t->n_event;) {
        uint32_t lane = t->event[i].lane;
        x.next_run = first[lane];
        x.end_run = first[lane + 1];
        x.depth = 0;
        for (; i < t->n_event && t->event[i].lane == lane; i++)
            nest_event(&x, i, lane);
    }
    unite_lanes(&x);
    index_groups(t, g, unused);
    free(x.stack);
    free(x.by_lane);
    free(first);
}
