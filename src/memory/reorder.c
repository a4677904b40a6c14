/* Orders of nodes with a lower peak: the graph of steps and buffers, its parts, windows around the peak.
 * order_search.c searches a part. */
#include "memory/memory_plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/ck.h"
#include "base/map.h"

/* ---- steps, buffers and constraints -------------------------------------------------------------- */

/* Transposes the lists from[at[i]] ... : the lists that contain j. */
static void invert(struct oc_arena *arena, const uint32_t *at, const uint32_t *list, uint32_t n,
                   uint32_t n_target, const uint32_t **out_at, const uint32_t **out)
{
    uint32_t *start = OC_NEW_ARRAY(arena, (size_t)n_target + 2, uint32_t);
    uint32_t *item = OC_NEW_ARRAY(arena, (size_t)at[n] + 1, uint32_t);
    for (uint32_t k = 0; k < at[n]; k++)
        start[list[k] + 2]++;
    for (uint32_t i = 2; i < n_target + 2; i++)
        start[i] += start[i - 1];
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = at[i]; k < at[i + 1]; k++)
            item[start[list[k] + 1]++] = i;
    *out_at = start;
    *out = item;
}

void oc_order_link(struct oc_arena *arena, struct oc_order_graph *g)
{
    invert(arena, g->needs_at, g->needs, g->n_step, g->n_step, &g->user_at, &g->user);
    invert(arena, g->touch_at, g->touch, g->n_step, g->n_buffer, &g->by_at, &g->by);
    g->at_start = g->base;
    g->once = 0;
    for (uint32_t b = 0; b < g->n_buffer; b++) {
        if (g->input[b] && (g->output[b] || g->by_at[b + 1] > g->by_at[b]))
            g->at_start += g->bytes[b];
        else if (g->input[b])
            g->once += g->bytes[b];
    }
}

/* Bytes of the buffers that a step touches, excluding one kind. */
static uint64_t touched_bytes(const struct oc_order_graph *g, uint32_t s, const bool *without)
{
    uint64_t sum = 0;
    for (uint32_t k = g->touch_at[s]; k < g->touch_at[s + 1]; k++)
        sum += without && without[g->touch[k]] ? 0 : g->bytes[g->touch[k]];
    return sum;
}

static uint64_t live_at_end(const struct oc_order_graph *g)
{
    uint64_t live = g->base;
    for (uint32_t b = 0; b < g->n_buffer; b++)
        if (g->output[b] && (g->input[b] || g->by_at[b + 1] > g->by_at[b]))
            live += g->bytes[b];
    return live;
}

/* The first step has all inputs live, the last step all outputs. */
uint64_t oc_order_lower(const struct oc_order_graph *g)
{
    uint64_t most = 0, first = UINT64_MAX, last = UINT64_MAX;
    for (uint32_t s = 0; s < g->n_step; s++) {
        uint64_t sum = g->base + g->inner[s] + touched_bytes(g, s, NULL);
        most = sum > most ? sum : most;
        uint64_t new = g->inner[s] + touched_bytes(g, s, g->input),
                 old = g->inner[s] + touched_bytes(g, s, g->output);
        if (g->needs_at[s] == g->needs_at[s + 1] && new < first)
            first = new;
        if (g->user_at[s] == g->user_at[s + 1] && old < last)
            last = old;
    }
    if (!g->n_step)
        return 0;
    uint64_t start = g->at_start + g->once + first, end = live_at_end(g) + last;
    most = start > most ? start : most;
    return end > most ? end : most;
}

uint64_t oc_order_peak(const struct oc_order_graph *g, const uint32_t *order, uint32_t *at)
{
    struct oc_order_run r;
    oc_order_run_open(&r, g);
    uint64_t peak = 0;
    int64_t delta;
    for (uint32_t i = 0; i < g->n_step; i++) {
        uint64_t cost = oc_order_run_cost(&r, order[i], &delta);
        if (cost > peak) {
            peak = cost;
            if (at)
                *at = i;
        }
        oc_order_run_do(&r, order[i]);
    }
    oc_order_run_close(&r);
    return peak;
}

bool oc_order_valid(const struct oc_order_graph *g, const uint32_t *order)
{
    bool *ran = oc_xmalloc((size_t)g->n_step + 1), good = true;
    memset(ran, 0, g->n_step);
    for (uint32_t i = 0; i < g->n_step && good; i++) {
        good = order[i] < g->n_step && !ran[order[i]];
        for (uint32_t k = good ? g->needs_at[order[i]] : 0; good && k < g->needs_at[order[i] + 1]; k++)
            good = ran[g->needs[k]];
        if (good)
            ran[order[i]] = true;
    }
    free(ran);
    return good;
}

struct oc_order_graph oc_order_reverse(struct oc_arena *arena, const struct oc_order_graph *g)
{
    struct oc_order_graph r = *g;
    r.needs_at = g->user_at;
    r.needs = g->user;
    r.input = g->output;
    r.output = g->input;
    oc_order_link(arena, &r);
    return r;
}

/* ---- subproblems ------------------------------------------------------------------------------------ */

struct subproblem {
    const struct oc_order_graph *g;
    const uint32_t *order, *where;
    uint32_t from, to;
    uint32_t *place; /* by buffer of g: its number in the part, OC_NONE */
    struct oc_order_graph out;
    uint32_t *touch_at, *touch, *needs_at, *needs;
    uint64_t *bytes, *inner;
    bool *input, *output;
};

/* Whether the buffer is touched before or after the part. */
static void used_outside(const struct subproblem *p, uint32_t buffer, bool *before, bool *behind)
{
    for (uint32_t k = p->g->by_at[buffer]; k < p->g->by_at[buffer + 1]; k++) {
        uint32_t at = p->where[p->g->by[k]];
        *before |= at < p->from;
        *behind |= at >= p->to;
    }
}

/* Bytes live at the start of the part. */
static uint64_t live_before(const struct subproblem *p)
{
    struct oc_order_run r;
    oc_order_run_open(&r, p->g);
    for (uint32_t i = 0; i < p->from; i++)
        oc_order_run_do(&r, p->order[i]);
    uint64_t live = r.live;
    oc_order_run_close(&r);
    return live;
}

static void make_room(struct oc_arena *arena, struct subproblem *p)
{
    const struct oc_order_graph *g = p->g;
    size_t n = (size_t)(p->to - p->from) + 1, n_touch = 1, n_needs = 1;
    for (uint32_t i = p->from; i < p->to; i++) {
        n_touch += g->touch_at[p->order[i] + 1] - g->touch_at[p->order[i]];
        n_needs += g->needs_at[p->order[i] + 1] - g->needs_at[p->order[i]];
    }
    p->out.touch_at = p->touch_at = OC_NEW_ARRAY(arena, n, uint32_t);
    p->out.needs_at = p->needs_at = OC_NEW_ARRAY(arena, n, uint32_t);
    p->out.touch = p->touch = OC_NEW_ARRAY(arena, n_touch, uint32_t);
    p->out.needs = p->needs = OC_NEW_ARRAY(arena, n_needs, uint32_t);
    p->out.bytes = p->bytes = OC_NEW_ARRAY(arena, n_touch, uint64_t);
    p->out.inner = p->inner = OC_NEW_ARRAY(arena, n, uint64_t);
    p->out.input = p->input = OC_NEW_ARRAY(arena, n_touch, bool);
    p->out.output = p->output = OC_NEW_ARRAY(arena, n_touch, bool);
}

/* Number of the buffer in the part. A new one is subtracted from the constant live bytes. */
static uint32_t subproblem_buffer(struct subproblem *p, uint32_t buffer)
{
    if (p->place[buffer] != OC_NONE)
        return p->place[buffer];
    uint32_t x = p->place[buffer] = p->out.n_buffer++;
    p->bytes[x] = p->g->bytes[buffer];
    p->input[x] = p->g->input[buffer];
    p->output[x] = p->g->output[buffer];
    used_outside(p, buffer, &p->input[x], &p->output[x]);
    if (p->input[x])
        p->out.base -= p->bytes[x];
    return x;
}

static void subproblem_add_step(struct subproblem *p, uint32_t i)
{
    const struct oc_order_graph *g = p->g;
    uint32_t s = p->order[p->from + i], n_touch = p->touch_at[i], n_needs = p->needs_at[i];
    p->inner[i] = g->inner[s];
    for (uint32_t k = g->touch_at[s]; k < g->touch_at[s + 1]; k++)
        p->touch[n_touch++] = subproblem_buffer(p, g->touch[k]);
    for (uint32_t k = g->needs_at[s]; k < g->needs_at[s + 1]; k++)
        if (p->where[g->needs[k]] >= p->from)
            p->needs[n_needs++] = p->where[g->needs[k]] - p->from;
    p->touch_at[i + 1] = n_touch;
    p->needs_at[i + 1] = n_needs;
}

/* Subproblem: the steps order[from] ... order[to - 1] in that order, after those before and before those
 * after; g is linked, so is the result. place: scratch, by buffer of g, OC_NONE everywhere and restored
 * afterwards. where: position in `order` by step. */
static struct oc_order_graph part_graph(struct oc_arena *arena, const struct oc_order_graph *g,
                                        const uint32_t *order, const uint32_t *where, uint32_t from,
                                        uint32_t to, uint32_t *place)
{
    struct subproblem p = {.g = g, .order = order, .where = where, .from = from, .to = to, .place = place};
    make_room(arena, &p);
    p.out.n_step = to - from;
    p.out.base = live_before(&p);
    for (uint32_t i = 0; i < to - from; i++)
        subproblem_add_step(&p, i);
    for (uint32_t i = from; i < to; i++)
        for (uint32_t k = g->touch_at[order[i]]; k < g->touch_at[order[i] + 1]; k++)
            place[g->touch[k]] = OC_NONE;
    oc_order_link(arena, &p.out);
    p.out.once = from ? 0 : g->once;
    return p.out;
}

/* ---- runs ------------------------------------------------------------------------------------------- */

void oc_order_run_open(struct oc_order_run *r, const struct oc_order_graph *g)
{
    uint32_t *steps = oc_xmalloc((3 * (size_t)g->n_step + 1) * sizeof(*steps));
    *r = (struct oc_order_run){.g = g,
                               .left = oc_xmalloc(((size_t)g->n_buffer + 1) * sizeof(*r->left)),
                               .missing = steps,
                               .ready = steps + g->n_step,
                               .spot = steps + 2 * (size_t)g->n_step};
    oc_order_run_reset(r);
}

void oc_order_run_close(struct oc_order_run *r)
{
    free(r->left);
    free(r->missing);
}

static void add_ready(struct oc_order_run *r, uint32_t s)
{
    r->spot[s] = r->n_ready;
    r->ready[r->n_ready++] = s;
}

static void drop_ready(struct oc_order_run *r, uint32_t s)
{
    uint32_t last = r->ready[--r->n_ready];
    r->ready[r->spot[s]] = last;
    r->spot[last] = r->spot[s];
}

void oc_order_run_reset(struct oc_order_run *r)
{
    const struct oc_order_graph *g = r->g;
    r->n_ready = r->done = 0;
    r->live = g->at_start;
    for (uint32_t b = 0; b < g->n_buffer; b++)
        r->left[b] = g->by_at[b + 1] - g->by_at[b];
    for (uint32_t s = 0; s < g->n_step; s++) {
        r->missing[s] = g->needs_at[s + 1] - g->needs_at[s];
        if (!r->missing[s])
            add_ready(r, s);
    }
}

uint64_t oc_order_run_cost(const struct oc_order_run *r, uint32_t s, int64_t *delta)
{
    const struct oc_order_graph *g = r->g;
    uint64_t born = 0, freed = 0;
    for (uint32_t k = g->touch_at[s]; k < g->touch_at[s + 1]; k++) {
        uint32_t b = g->touch[k];
        if (!g->input[b] && r->left[b] == g->by_at[b + 1] - g->by_at[b])
            born += g->bytes[b];
        if (!g->output[b] && r->left[b] == 1)
            freed += g->bytes[b];
    }
    *delta = (int64_t)(born - freed);
    return r->live + born + g->inner[s] + (r->done ? 0 : g->once);
}

void oc_order_run_do(struct oc_order_run *r, uint32_t s)
{
    const struct oc_order_graph *g = r->g;
    int64_t delta;
    oc_order_run_cost(r, s, &delta);
    r->live += (uint64_t)delta;
    drop_ready(r, s);
    r->missing[s] = OC_NONE;
    for (uint32_t k = g->touch_at[s]; k < g->touch_at[s + 1]; k++)
        r->left[g->touch[k]]--;
    for (uint32_t k = g->user_at[s]; k < g->user_at[s + 1]; k++)
        if (--r->missing[g->user[k]] == 0)
            add_ready(r, g->user[k]);
    r->done++;
}

void oc_order_run_undo(struct oc_order_run *r, uint32_t s)
{
    const struct oc_order_graph *g = r->g;
    int64_t delta;
    r->done--;
    for (uint32_t k = g->user_at[s]; k < g->user_at[s + 1]; k++)
        if (r->missing[g->user[k]]++ == 0)
            drop_ready(r, g->user[k]);
    for (uint32_t k = g->touch_at[s]; k < g->touch_at[s + 1]; k++)
        r->left[g->touch[k]]++;
    r->missing[s] = 0;
    add_ready(r, s);
    oc_order_run_cost(r, s, &delta);
    r->live -= (uint64_t)delta;
}

void oc_order_run_free_steps(struct oc_order_run *r, uint64_t bound, uint32_t *list, uint32_t *n)
{
    for (uint32_t i = 0; i < r->n_ready;) {
        int64_t delta;
        uint32_t s = r->ready[i];
        if (oc_order_run_cost(r, s, &delta) > bound || delta > 0) {
            i++;
            continue;
        }
        oc_order_run_do(r, s);
        list[(*n)++] = s;
        i = 0;
    }
}

/* ---- orders with a lower peak -------------------------------------------------------------------- */

#define DEFAULT_WORK 300000000u
#define SEARCH_SHARE                                                                                         \
    3 /* share of the remaining work for the exact search of a part; the rest is for beams and windows */
#define BEAM_SHARE 3 /* share of the rest for one beam */

struct part {
    uint32_t from, to;
    uint64_t peak;
};

struct reorder {
    const struct oc_order_graph *g;
    struct part *part;
    uint32_t n_part;
    uint32_t *order, *where;
    uint32_t *place; /* scratch of part_graph */
    uint64_t work;
    uint64_t lower; /* proven so far for the whole graph */
};

/* first[s]: step s is the only one that can run when all before it have run */
static void only_choice(const struct oc_order_graph *g, bool backwards, bool *only)
{
    struct oc_order_run r;
    oc_order_run_open(&r, g);
    for (uint32_t i = 0; i < g->n_step; i++) {
        uint32_t s = backwards ? g->n_step - 1 - i : i;
        only[s] = r.n_ready == 1;
        oc_order_run_do(&r, s);
    }
    oc_order_run_close(&r);
}

static void reorder_cut(struct reorder *r)
{
    uint32_t n = r->g->n_step;
    struct oc_arena arena = {0};
    struct oc_order_graph back = oc_order_reverse(&arena, r->g);
    bool *forwards = oc_xmalloc(n), *backwards = oc_xmalloc(n);
    only_choice(r->g, false, forwards);
    only_choice(&back, true, backwards);
    r->part = oc_xmalloc(n * sizeof(*r->part));
    for (uint32_t s = 0; s < n; s++) {
        if (!s || (forwards[s] && backwards[s]))
            r->part[r->n_part++] = (struct part){s, s, 0};
        r->part[r->n_part - 1].to = s + 1;
    }
    free(forwards);
    free(backwards);
    oc_arena_free(&arena);
}

static void weigh_parts(struct reorder *r)
{
    struct oc_order_run run;
    oc_order_run_open(&run, r->g);
    for (uint32_t k = 0; k < r->n_part; k++)
        for (uint32_t s = r->part[k].from; s < r->part[k].to; s++) {
            int64_t delta;
            uint64_t cost = oc_order_run_cost(&run, s, &delta);
            r->part[k].peak = cost > r->part[k].peak ? cost : r->part[k].peak;
            oc_order_run_do(&run, s);
        }
    oc_order_run_close(&run);
}

OC_BY_LARGEST(by_peak, struct part, peak, from)

/* ---- windows around the peak ------------------------------------------------------------------------ */

struct windows {
    struct reorder *r;
    const struct oc_order_graph *g; /* a part */
    uint32_t *order, *where, *place, *found;
    uint64_t peak;
    uint32_t at;
};

/* Replaces the order of the window if that lowers its peak. */
static bool improve_window(struct windows *w, uint32_t from, uint32_t to)
{
    struct oc_arena arena = {0};
    struct oc_order_graph part = part_graph(&arena, w->g, w->order, w->where, from, to, w->place);
    uint64_t setup = 2 * (uint64_t)w->g->n_step + w->g->n_buffer, share = w->r->work / 8;
    uint64_t left = share > setup ? share - setup : 0;
    struct oc_order_exact e = oc_order_search(&part, 0, w->r->lower, w->peak, &left, w->found);
    w->r->work -= share > setup ? share - left : share;
    oc_arena_free(&arena);
    if (!e.found)
        return false;
    for (uint32_t i = 0; i < to - from; i++)
        w->found[i] = w->order[from + w->found[i]];
    memcpy(w->order + from, w->found, (to - from) * sizeof(*w->order));
    for (uint32_t i = from; i < to; i++)
        w->where[w->order[i]] = i;
    return true;
}

static bool improve_peak(struct windows *w)
{
    uint32_t n = w->g->n_step, from, to;
    for (uint32_t half = 8; half <= 512 && w->r->work > 1000; half *= 2) {
        from = w->at > half ? w->at - half : 0;
        to = n - w->at > half ? w->at + half : n;
        if (improve_window(w, from, to))
            return true;
        if (to - from == n)
            return false;
    }
    return false;
}

static uint64_t reorder_improve(struct reorder *r, const struct oc_order_graph *g, uint32_t *order)
{
    uint32_t n = g->n_step, *memory = oc_xmalloc((2 * (size_t)n + g->n_buffer + 1) * sizeof(*memory));
    struct windows w = {.r = r,
                        .g = g,
                        .order = order,
                        .where = memory,
                        .found = memory + n,
                        .place = memory + 2 * (size_t)n};
    for (uint32_t i = 0; i < n; i++)
        w.where[order[i]] = i;
    memset(w.place, 0xff, (size_t)g->n_buffer * sizeof(*w.place));
    do
        w.peak = oc_order_peak(g, order, &w.at);
    while (w.peak > r->lower && improve_peak(&w));
    free(memory);
    return w.peak;
}

/* ---- parts ------------------------------------------------------------------------------------------ */

/* Increasing beam widths, until the work is used up. */
static uint64_t try_beams(struct reorder *r, const struct oc_order_graph *g, uint64_t limit, uint32_t *order,
                          uint32_t *found)
{
    for (uint32_t width = 4; width <= 256 && limit > r->lower; width *= 4) {
        uint64_t share = r->work / BEAM_SHARE, left = share;
        struct oc_order_exact e = oc_order_search(g, width, r->lower, limit, &left, found);
        r->work -= share - left;
        if (e.found) {
            memcpy(order, found, g->n_step * sizeof(*order));
            limit = e.peak;
        } else if (!left) {
            break;
        }
    }
    return limit;
}

/* Searches for an order of the part; true if it is better than the current one. */
static bool order_part(struct reorder *r, const struct oc_order_graph *g, uint64_t present, uint32_t *order)
{
    uint32_t n = g->n_step, *found = oc_xmalloc(n * sizeof(*found));
    uint64_t best = oc_order_greedy(g, order), limit = best < present ? best : present;
    if (best >= present)
        for (uint32_t i = 0; i < n; i++)
            order[i] = i;
    uint64_t share = r->work / SEARCH_SHARE, left = share;
    struct oc_order_exact e = oc_order_search(g, 0, r->lower, limit, &left, found);
    r->work -= share - left;
    if (e.found) {
        memcpy(order, found, n * sizeof(*order));
        limit = e.peak;
    } else if (!e.solved) {
        try_beams(r, g, limit, order, found);
        limit = reorder_improve(r, g, order);
    }
    uint64_t lower = e.lower < limit ? e.lower : limit;
    r->lower = lower > r->lower ? lower : r->lower;
    free(found);
    return limit < present;
}

static bool do_part(struct reorder *r, const struct part *p)
{
    struct oc_arena arena = {0};
    struct oc_order_graph g = part_graph(&arena, r->g, r->order, r->where, p->from, p->to, r->place);
    uint32_t *order = oc_xmalloc(g.n_step * sizeof(*order));
    bool better = order_part(r, &g, p->peak, order);
    if (better) {
        for (uint32_t i = 0; i < g.n_step; i++)
            order[i] = r->order[p->from + order[i]];
        memcpy(r->order + p->from, order, g.n_step * sizeof(*order));
        for (uint32_t i = p->from; i < p->to; i++)
            r->where[r->order[i]] = i;
    }
    free(order);
    oc_arena_free(&arena);
    return better;
}

static void reorder_search(struct reorder *r)
{
    reorder_cut(r);
    weigh_parts(r);
    qsort(r->part, r->n_part, sizeof(*r->part), by_peak);
    for (uint32_t k = 0; k < r->n_part && r->part[k].peak > r->lower; k++)
        do_part(r, &r->part[k]);
}

void oc_reorder_make(const struct oc_order_graph *g, uint64_t work, uint32_t *order, struct oc_reorder *out)
{
    uint32_t n = g->n_step;
    for (uint32_t i = 0; i < n; i++)
        order[i] = i;
    *out = (struct oc_reorder){.lower = oc_order_lower(g), .parts = n > 0};
    out->before = out->after = oc_order_peak(g, order, NULL);
    if (out->before == out->lower)
        return;
    struct reorder r = {.g = g,
                        .order = oc_xmalloc(n * sizeof(*r.order)),
                        .where = oc_xmalloc(n * sizeof(*r.where)),
                        .place = oc_xmalloc(((size_t)g->n_buffer + 1) * sizeof(*r.place)),
                        .work = work ? work : DEFAULT_WORK,
                        .lower = out->lower};
    memcpy(r.order, order, n * sizeof(*order));
    memcpy(r.where, order, n * sizeof(*order));
    memset(r.place, 0xff, (size_t)g->n_buffer * sizeof(*r.place));
    reorder_search(&r);
    out->parts = r.n_part;
    out->lower = r.lower;
    uint64_t peak = oc_order_peak(g, r.order, NULL);
    if (peak < out->before && oc_order_valid(g, r.order)) {
        memcpy(order, r.order, n * sizeof(*order));
        out->after = peak;
        out->changed = true;
    }
    free(r.order);
    free(r.where);
    free(r.place);
    free(r.part);
}
