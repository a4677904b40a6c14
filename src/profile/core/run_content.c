/* What a typical run consists of: copies, replayed graphs, layers (tandem repeats), blocks that recur; and
 * what other runs have more of. */
#include <stdlib.h>

#include "base/arena.h"
#include "base/map.h"
#include "profile/core/run_fold.h"

enum {
    MIN_LAYERS = 3,
    MIN_EQUAL = 4,       /* launches of layers that equal those of the layer before */
    BLOCK = 5,           /* launches */
    MIN_BLOCKS_RUN = 30, /* launches of a run that consists of blocks */
    MAX_LAGS = 4096,     /* launches of a run in which layers of any length are searched */
    MIN_RECUR = 3,       /* runs with additional work of a kind */
    OFTEN = 6,
    LONG_PERIOD = 8, /* runs: distances vary */
    KINDS = 16,
    RESUME = 4 /* equal launches after a few that differ */
};
#define MOST         0.8 /* of the distances */
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
        if (i - from > best && i - from >= MIN_LAYERS * lag && i - from >= lag + MIN_EQUAL &&
            2 * (i - from) >= n && i - from < n) {
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
    bool forward = false, backward = false;
    for (size_t i = c->from; i < c->to && f->in->flags; i++) {
        c->transfer |= (f->in->flags[i] & (OC_FOLD_TO_DEVICE | OC_FOLD_TO_HOST)) != 0;
        c->to_device |= (f->in->flags[i] & OC_FOLD_TO_DEVICE) != 0;
        c->graph |= (f->in->flags[i] & OC_FOLD_GRAPH) != 0;
        *(f->in->flags[i] & OC_FOLD_BACKWARD ? &backward : &forward) = true;
    }
    c->training = forward && backward;
}

/* ---- more of it ------------------------------------------------------------------------------------- */

/* Launches in one direction from a place, and those of the typical segment from `phase`, again and again. */
struct walk {
    const uint32_t *v;
    size_t n, at, from, len, phase;
    bool back;
};

static size_t walk_left(const struct walk *w, size_t i)
{
    size_t whole = w->back ? w->at : w->n - w->at;
    return whole > i ? whole - i : 0;
}

static bool walk_same(const struct walk *w, size_t i, size_t k)
{
    size_t offset = w->back ? w->phase + (k / w->len + 1) * w->len - 1 - k : w->phase + k;
    return w->v[w->back ? w->at - 1 - i : w->at + i] == w->v[w->from + offset % w->len];
}

static bool walk_resumes(const struct walk *w, size_t i, size_t k)
{
    size_t left = walk_left(w, i);
    for (size_t j = 0; j < RESUME && j < left; j++)
        if (!walk_same(w, i + j, k + j))
            return false;
    return left > 0;
}

/* How many launches of the typical segment follow; a few more or fewer, followed by equal ones, do not
 * matter. */
static size_t walk_typical(const struct walk *w, bool *to_end)
{
    size_t i = 0, k = 0, most = w->len / 4 < OC_FOLD_SKIP ? w->len / 4 : OC_FOLD_SKIP;
    while (walk_left(w, i)) {
        if (walk_same(w, i, k)) {
            i++;
            k++;
            continue;
        }
        size_t skip_i = 0, skip_k = 0;
        for (size_t skip = 1; skip <= most && !skip_i && !skip_k; skip++)
            for (size_t a = 0; a <= skip; a++)
                if (walk_resumes(w, i + a, k + skip - a)) {
                    skip_i = a;
                    skip_k = skip - a;
                }
        if (!skip_i && !skip_k)
            break;
        i += skip_i;
        k += skip_k;
    }
    *to_end = walk_left(w, i) <= OC_FOLD_SKIP;
    return *to_end ? k + walk_left(w, i) : k;
}

size_t oc_fold_reach(const struct oc_fold_in *in, size_t at, const struct oc_fold_content *c, size_t phase,
                     bool back, bool *to_end)
{
    struct walk w = {in->symbol, in->n, at, c->from, c->to - c->from, phase, back};
    return walk_typical(&w, to_end);
}

/* ---- what some runs have more of -------------------------------------------------------------------- */

/* A symbol of which some runs have more than the typical one. */
struct extra {
    uint32_t n, first, last;       /* runs with more */
    uint32_t every, votes;         /* the most frequent distance between them (Boyer-Moore) */
    uint32_t equal;                /* number of such distances */
    uint32_t seen;                 /* the run counted last */
    size_t place;                  /* in the first run */
    uint32_t before, after, there; /* its neighbours there; runs where it is there next to one of them */
    bool typical, copy;            /* the typical run has it; a copy that it has not */
};

static bool is_every(uint32_t distance, uint32_t every)
{
    return every < LONG_PERIOD ? distance == every : oc_fold_regular(distance, every);
}

static uint32_t apart(uint32_t a, uint32_t b)
{
    return a > b ? a - b : b - a;
}

static void count_extra(struct extra *e, uint32_t run, bool check)
{
    uint32_t distance = run - e->last;
    if (check) {
        e->equal += run > e->first && is_every(distance, e->every);
    } else if (e->n++ == 0) {
        e->first = run;
    } else {
        e->every = e->votes ? e->every : distance;
        e->votes = is_every(distance, e->every) ? e->votes + 1 : e->votes - 1;
    }
    e->last = run;
}

/* `at`: launches after the start of the run. */
static void note_place(const struct oc_fold_in *in, size_t start, size_t at, size_t length, struct extra *e,
                       bool check)
{
    size_t i = start + at, slack = length / 32 + 3;
    uint32_t before = i ? in->symbol[i - 1] : UINT32_MAX,
             after = i + 1 < in->n ? in->symbol[i + 1] : UINT32_MAX;
    if (!check && e->n == 1) {
        e->before = before;
        e->after = after;
        e->place = at;
    }
    bool same = before == e->before || after == e->after;
    e->there += check && same && at <= e->place + slack && e->place <= at + slack;
}

/* All but one distance, or most: a run may have other work. */
static bool are_regular(const struct extra *e)
{
    uint32_t distances = e->n - 1;
    return (double)e->equal >= MOST * (double)distances ||
           (distances >= MIN_RECUR && e->equal + 1 >= distances);
}

/* The launches of each run beyond those of the typical one; twice: the distances are chosen, then counted. */
static void count_extras(const struct oc_folding *f, const struct oc_fold_content *c,
                         const struct oc_fold *out, struct extra *extra, bool check)
{
    for (uint32_t k = 0; k < out->n_run; k++) {
        for (size_t i = c->from; i < c->to; i++)
            f->count[f->in->symbol[i]]++;
        for (size_t i = out->start[k]; i < out->start[k + 1] && i < f->in->n; i++) {
            struct extra *e = &extra[f->in->symbol[i]];
            if (--f->count[f->in->symbol[i]] < 0 && e->seen != k + 1 + (check ? out->n_run : 0)) {
                e->seen = k + 1 + (check ? out->n_run : 0);
                e->copy = f->in->flags && f->in->flags[i] && !e->typical;
                count_extra(e, k, check);
                note_place(f->in, out->start[k], i - out->start[k], out->length, e, check);
            }
        }
        for (size_t i = c->from; i < c->to; i++)
            f->count[f->in->symbol[i]] = 0;
        for (size_t i = out->start[k]; i < out->start[k + 1] && i < f->in->n; i++)
            f->count[f->in->symbol[i]] = 0;
    }
}

bool oc_fold_is_part(const struct oc_folding *f, const struct oc_fold_content *c, const struct oc_fold *out)
{
    uint32_t top = 0, kinds = 0;
    for (size_t i = 0; i < f->in->n; i++)
        top = f->in->symbol[i] > top ? f->in->symbol[i] : top;
    struct extra *extra = oc_xcalloc((size_t)top + 1, sizeof(*extra));
    struct extra seen[KINDS];
    bool part = false;
    for (size_t i = c->from; i < c->to; i++)
        extra[f->in->symbol[i]].typical = true;
    count_extras(f, c, out, extra, false);
    count_extras(f, c, out, extra, true);
    for (uint32_t s = 0; s <= top && !part; s++) {
        const struct extra *e = &extra[s];
        if (e->n < 2 || e->every < 2 || e->first > e->every || e->last + 2 * e->every < out->n_run ||
            !are_regular(e))
            continue;
        uint32_t k = 0;
        while (k < kinds && (apart(seen[k].every, e->every) > 1 || apart(seen[k].last, e->last) > 1))
            k++;
        bool placed = e->there + 1 >= e->n - e->n / OFTEN && (e->there == e->n || e->n > 2);
        bool enough = e->n > MIN_RECUR || (e->n == MIN_RECUR && e->there == e->n);
        part = e->copy || (placed && (k < kinds || enough));
        if (placed && k == kinds && k < KINDS)
            seen[kinds++] = *e;
    }
    free(extra);
    return part;
}
