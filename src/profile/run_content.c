/* What a typical run consists of: copies, replayed graphs, layers (tandem repeats), blocks that recur. */
#include <stdlib.h>

#include "base/arena.h"
#include "base/map.h"
#include "profile/run_fold.h"

enum {
    MIN_LAYERS = 3,
    BLOCK = 5,           /* launches */
    MIN_BLOCKS_RUN = 30, /* launches of a run that consists of blocks */
    MAX_LAGS = 4096      /* launches of a run in which layers of any length are searched */
};
#define BLOCKS_SHARE 0.6 /* of a run that consists of blocks */

/* The segment with the smallest difference from the next one. */
static void choose_typical(const struct oc_folding *f, const struct oc_fold_level *l,
                           struct oc_fold_content *c)
{
    double smallest = 2;
    for (size_t j = 2; j < l->n && smallest > 0; j++) {
        const size_t *p = &l->at[j - 2];
        if (!oc_fold_regular(p[1] - p[0], l->spacing) || !oc_fold_regular(p[2] - p[1], l->spacing))
            continue;
        double d = oc_fold_difference(f->in, p[0], p[1], p[1], p[2], f->count);
        if (d < smallest) {
            smallest = d;
            c->from = p[0];
            c->to = p[1];
        }
    }
}

/* The longest stretch of the segment in which each launch equals the one `lag` later. */
static void try_lag(const uint32_t *v, size_t n, size_t lag, struct oc_fold_content *c)
{
    size_t from = 0, best = c->inner_to - c->inner_from;
    for (size_t i = lag; i <= n; i++) {
        if (i < n && v[i] == v[i - lag])
            continue;
        if (i - from > best && i - from >= MIN_LAYERS * lag && 2 * (i - from) >= n && i - from < n) {
            best = i - from;
            c->layers = (uint32_t)(best / lag);
            c->inner_from = from;
            c->inner_to = i;
        }
        from = i - lag + 1;
    }
}

/* Layers: equal parts that make up at least half of the run. `lag`: a length to try, 0: none. */
static void find_layers(const struct oc_folding *f, size_t lag, struct oc_fold_content *c)
{
    const uint32_t *v = f->in->symbol + c->from;
    size_t n = c->to - c->from;
    for (size_t i = 0; i < n; i++)
        f->count[v[i]] = !(f->in->flags && f->in->flags[c->from + i]);
    for (size_t i = n; i < 2 * n && c->from + i < f->in->n; i++) { /* in the next segment too */
        c->distinct += f->count[v[i]] == 1;
        f->count[v[i]] = 0;
    }
    for (size_t i = 0; i < n; i++)
        f->count[v[i]] = 0;
    for (size_t k = 1; k <= n / MIN_LAYERS && n <= MAX_LAGS; k++)
        try_lag(v, n, k, c);
    if (lag && n > MAX_LAGS)
        try_lag(v, n, lag, c);
}

/* Whether most of the segment consists of blocks that occur again in it, as in a convolutional network, whose
 * blocks differ here and there; by names, since shapes change from block to block. */
static bool has_blocks(const struct oc_folding *f, const struct oc_fold_content *c)
{
    const uint32_t *v = (f->in->name ? f->in->name : f->in->symbol) + c->from;
    size_t n = c->to - c->from, covered = 0, reached = 0;
    struct oc_arena scratch = {0};
    struct oc_map of = {.arena = &scratch};
    uint32_t *count = oc_xcalloc(n, sizeof(*count)), *id = oc_xmalloc(n * sizeof(*id)), known = 0;
    size_t grams = n >= MIN_BLOCKS_RUN ? n - BLOCK + 1 : 0;
    for (size_t i = 0; i < grams; i++) {
        id[i] = known;
        known += oc_map_add(&of, (const char *)&v[i], BLOCK * sizeof(*v), &id[i], NULL);
        count[id[i]]++;
    }
    for (size_t i = 0; i < grams; i++) {
        if (count[id[i]] < MIN_LAYERS)
            continue;
        covered += i + BLOCK - (i > reached ? i : reached);
        reached = i + BLOCK;
    }
    oc_map_free(&of);
    oc_arena_free(&scratch);
    free(count);
    free(id);
    return (double)covered >= BLOCKS_SHARE * (double)n;
}

void oc_fold_look_inside(const struct oc_folding *f, const struct oc_fold_level *l, size_t lag,
                         struct oc_fold_content *c)
{
    *c = (struct oc_fold_content){0};
    choose_typical(f, l, c);
    find_layers(f, lag, c);
    c->blocks = has_blocks(f, c) && c->distinct >= OC_FOLD_DISTINCT;
    for (size_t i = c->from; i < c->to && f->in->flags; i++) {
        c->transfer |= (f->in->flags[i] & (OC_FOLD_TO_DEVICE | OC_FOLD_TO_HOST)) != 0;
        c->to_device |= (f->in->flags[i] & OC_FOLD_TO_DEVICE) != 0;
        c->graph |= (f->in->flags[i] & OC_FOLD_GRAPH) != 0;
    }
}
