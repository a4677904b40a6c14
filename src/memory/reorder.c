#include "memory/order_graph.h"

#include <stdlib.h>
#include <string.h>

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
    uint32_t *place; /* scratch of oc_order_part */
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

static int by_peak(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    if (x->peak != y->peak)
        return x->peak > y->peak ? -1 : 1;
    return x->from < y->from ? -1 : x->from > y->from;
}

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
    struct oc_order_graph part = oc_order_part(&arena, w->g, w->order, w->where, from, to, w->place);
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
    struct oc_order_graph g = oc_order_part(&arena, r->g, r->order, r->where, p->from, p->to, r->place);
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
