/* Anchors of a loop: n-grams that recur at regular distances with the same launches between them. Then what is
 * between two anchors, a run of that level. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "profile/core/run_fold.h"
#include "profile/core/run_spread.h"

enum {
    WIDTHS = 6,   /* n-grams of 1, 2, 4 ... 32 launches */
    SIMILAR = 2,  /* buckets */
    BUCKETS = 160 /* of spacings: powers of BUCKET_RATIO */
};
#define BUCKET_RATIO    1.12
#define MIN_REGULAR     0.6 /* of the distances, and of the pairs of segments */
#define MIN_COVERAGE    0.4 /* of the sequence */
#define MIN_SCORE       10
#define MIN_SYSTEMATIC  1.0
#define ENOUGH_SUPPORT  60
#define MIN_PAUSE_RATIO 2.5
#define SHORTEST_GAP    1.0  /* ns */
#define MIN_EXACT       0.95 /* of the launches of a segment */
#define CONFLICT        40   /* score */
#define FEW_SEGMENTS    4    /* of so few, all but one must agree; of fewer, all */
#define MANY_INSIDE     8    /* anchors of the level below: a few more or fewer are about equal */
#define NEXT_LEVEL      1.8  /* a level is at least this many times as long as the one below */

int32_t *oc_fold_counts(const struct oc_fold_in *in)
{
    uint32_t top = 0;
    for (size_t i = 0; i < in->n; i++)
        top = in->symbol[i] > top ? in->symbol[i] : top;
    for (size_t i = 0; i < in->n && in->name; i++)
        top = in->name[i] > top ? in->name[i] : top;
    return oc_xcalloc((size_t)top + 1, sizeof(int32_t));
}

double oc_fold_difference(const struct oc_fold_in *in, size_t a, size_t a_end, size_t b, size_t b_end,
                          int32_t *count)
{
    size_t differ = 0;
    for (size_t i = a; i < a_end; i++)
        count[in->symbol[i]]++;
    for (size_t i = b; i < b_end; i++)
        count[in->symbol[i]]--;
    for (size_t i = a; i < a_end; i++) {
        differ += (size_t)abs(count[in->symbol[i]]);
        count[in->symbol[i]] = 0;
    }
    for (size_t i = b; i < b_end; i++) {
        differ += (size_t)abs(count[in->symbol[i]]);
        count[in->symbol[i]] = 0;
    }
    size_t all = a_end - a + b_end - b;
    return all ? (double)differ / (double)all : 0;
}

/* ---- n-grams ---------------------------------------------------------------------------------------- */

/* Numbers n-grams of twice the width (prefix doubling). Returns how many there are. */
static uint32_t run_levels_widen(uint32_t *id, size_t n, size_t width)
{
    struct oc_arena a = {0};
    struct oc_map of = {.arena = &a};
    uint32_t known = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t key[2] = {id[i], id[i + width]}, at = known;
        known += oc_map_add(&of, (const char *)key, sizeof(key), &at, NULL);
        id[i] = at; /* later n-grams only read further right */
    }
    oc_map_free(&of);
    oc_arena_free(&a);
    return known;
}

/* Positions sorted by n-gram (counting sort): those of n-gram k are at[first[k]] to at[first[k + 1] - 1]. */
static void sort_by_id(const uint32_t *id, size_t n, uint32_t n_id, size_t *first, size_t *at)
{
    memset(first, 0, ((size_t)n_id + 2) * sizeof(*first));
    for (size_t i = 0; i < n; i++)
        first[id[i] + 2]++;
    for (uint32_t k = 0; k < n_id; k++)
        first[k + 2] += first[k + 1];
    for (size_t i = 0; i < n; i++)
        at[first[id[i] + 1]++] = i;
}

/* ---- candidates ------------------------------------------------------------------------------------- */

struct search {
    const struct oc_fold_in *in;
    struct oc_fold_level best[BUCKETS]; /* by spacing */
    size_t similar[BUCKETS];            /* n-grams, by number of occurrences */
    double *distance, *scratch;
    int32_t *count;
};

static size_t run_levels_bucket_of(size_t n)
{
    size_t bucket = (size_t)(log((double)n) / log(BUCKET_RATIO));
    return bucket < BUCKETS ? bucket : BUCKETS - 1;
}

static void run_levels_offer(struct search *s, const size_t *at, size_t n)
{
    s->similar[run_levels_bucket_of(n)]++;
    for (size_t i = 1; i < n; i++)
        s->distance[i - 1] = (double)(at[i] - at[i - 1]);
    size_t spacing = (size_t)oc_median_of(s->distance, n - 1, s->scratch), regular = 0;
    for (size_t i = 1; i < n; i++)
        regular += oc_fold_regular(at[i] - at[i - 1], spacing);
    if (regular < 2 || (double)regular < MIN_REGULAR * (double)(n - 1) ||
        (double)(regular + 1) * (double)spacing < MIN_COVERAGE * (double)s->in->n)
        return;
    struct oc_fold_level *l = &s->best[run_levels_bucket_of(spacing)];
    l->support++;
    if (l->at && l->regular >= regular)
        return;
    l->at = oc_xrealloc(l->at, n * sizeof(*at));
    memcpy(l->at, at, n * sizeof(*at));
    l->n = n;
    l->spacing = spacing;
    l->regular = regular;
}

static void run_levels_collect(struct search *s)
{
    size_t n = s->in->n;
    uint32_t *id = oc_xmalloc(n * sizeof(*id)), n_id = 0;
    memcpy(id, s->in->symbol, n * sizeof(*id));
    for (size_t i = 0; i < n; i++)
        n_id = id[i] + 1 > n_id ? id[i] + 1 : n_id;
    size_t *first = oc_xmalloc((n + n_id + 2) * sizeof(*first)), *at = oc_xmalloc(n * sizeof(*at));
    for (unsigned w = 0; w < WIDTHS && n > 3; w++) {
        sort_by_id(id, n, n_id, first, at);
        for (uint32_t k = 0; k < n_id; k++)
            if (first[k + 1] - first[k] >= 3)
                run_levels_offer(s, at + first[k], first[k + 1] - first[k]);
        size_t width = (size_t)1 << w;
        n = n > width ? n - width : 0;
        n_id = run_levels_widen(id, n, width);
    }
    free(id);
    free(first);
    free(at);
}

/* ---- levels ----------------------------------------------------------------------------------------- */

/* Whether most neighbouring segments hold the same work. */
static bool has_alike_segments(const struct search *s, const struct oc_fold_level *l)
{
    size_t pairs = 0, alike = 0;
    for (size_t i = 2; i < l->n; i++) {
        const size_t *p = &l->at[i - 2];
        if (!oc_fold_regular(p[1] - p[0], l->spacing) || !oc_fold_regular(p[2] - p[1], l->spacing))
            continue;
        pairs++;
        alike += oc_fold_difference(s->in, p[0], p[1], p[1], p[2], s->count) < OC_FOLD_ALIKE;
    }
    return pairs && (double)alike >= MIN_REGULAR * (double)pairs;
}

/* The value that most of n values have, and how many have it (Boyer-Moore majority vote). */
static size_t fold_mode(const size_t *v, size_t n, size_t *value)
{
    size_t best = 0;
    size_t candidate = 0, votes = 0; /* Boyer-Moore */
    for (size_t i = 0; i < n; i++) {
        if (!votes)
            candidate = v[i];
        votes = v[i] == candidate ? votes + 1 : votes - 1;
    }
    for (size_t i = 0; i < n; i++)
        best += v[i] == candidate;
    *value = candidate;
    return best;
}

/* Whether most values are equal, or about so; of a few, all or all but one. */
static bool run_levels_agree(const size_t *v, size_t n, bool about)
{
    size_t value, same = fold_mode(v, n, &value);
    for (size_t i = 0; i < n && about; i++)
        same += v[i] != value && oc_fold_regular(v[i], value) && value >= MANY_INSIDE;
    return n &&
           (n <= FEW_SEGMENTS ? same + (n == FEW_SEGMENTS) >= n : (double)same >= MIN_REGULAR * (double)n);
}

/* A distance as of runs that differ by a few launches; those of work that recurs by chance vary more. */
static bool is_exact(size_t distance, size_t spacing)
{
    size_t slack = 2 + spacing / 256;
    return distance + slack >= spacing && distance <= spacing + slack;
}

static size_t exact_distances(const struct oc_fold_level *l)
{
    size_t n = 0;
    for (size_t j = 1; j < l->n; j++)
        n += is_exact(l->at[j] - l->at[j - 1], l->spacing);
    return n;
}

/* Whether segments of the upper level have equal numbers of the lower level's anchors, and begin at the same
 * distance to one: an n-gram that recurs by chance does not. */
static bool is_above(const struct oc_fold_level *up, const struct oc_fold_level *low)
{
    size_t *inside = oc_xmalloc(2 * up->n * sizeof(*inside)), *ahead = inside + up->n, n = 0, k = 0;
    for (size_t i = 1; i < up->n; i++) {
        while (k < low->n && low->at[k] < up->at[i - 1])
            k++;
        size_t from = k;
        while (k < low->n && low->at[k] < up->at[i])
            k++;
        if (!oc_fold_regular(up->at[i] - up->at[i - 1], up->spacing))
            continue;
        ahead[n] = from < low->n ? low->at[from] - up->at[i - 1] : 0;
        inside[n++] = k - from;
    }
    bool about = 2 * exact_distances(up) >= up->n,
         above = run_levels_agree(inside, n, about) && run_levels_agree(ahead, n, false);
    free(inside);
    return above;
}

static void run_levels_drop(struct oc_fold_level *l)
{
    free(l->at);
    *l = (struct oc_fold_level){0};
}

/* How much speaks for a level: that n-grams recur at equal distances, in all of the sequence, and that many
 * do. An n-gram that recurs by chance has little of it. */
static double score_of(const struct search *s, const struct oc_fold_level *l)
{
    double regular = (double)l->regular / (double)(l->n - 1);
    double covered = (double)(l->regular + 1) * (double)l->spacing / (double)s->in->n;
    return regular * fmin(covered, 1) * fmin((double)l->support, ENOUGH_SUPPORT);
}

/* Whether the launches repeat one by one at the level's distance, in all segments but one: n-grams that recur
 * by chance do not. */
static bool repeats_exactly(const struct search *s, const struct oc_fold_level *l)
{
    const uint32_t *v = s->in->symbol;
    size_t exact = 0;
    for (size_t j = 1; j < l->n; j++) {
        size_t from = l->at[j - 1], to = l->at[j], n = 0, same = 0;
        for (; n < l->spacing && to + n < s->in->n; n++)
            same += v[from + n] == v[to + n];
        exact += is_exact(to - from, l->spacing) && (double)same >= MIN_EXACT * (double)n;
    }
    return exact >= 2 && exact + 2 >= l->n;
}

/* N-grams that occur a few times may do so at equal distances by chance: then most others that occur about as
 * often do not. */
static bool is_systematic(const struct search *s, const struct oc_fold_level *l)
{
    size_t similar = 0, bucket = run_levels_bucket_of(l->n);
    for (size_t b = bucket > SIMILAR ? bucket - SIMILAR : 0; b <= bucket + SIMILAR && b < BUCKETS; b++)
        similar += s->similar[b];
    return (score_of(s, l) >= MIN_SCORE && (double)(l->support * l->n) >= MIN_SYSTEMATIC * (double)similar) ||
           repeats_exactly(s, l);
}

static struct oc_fold_level *run_levels_best_of(struct search *s)
{
    struct oc_fold_level *best = NULL;
    for (size_t b = 0; b < BUCKETS; b++)
        if (s->best[b].at && (!best || score_of(s, &s->best[b]) > score_of(s, best)))
            best = &s->best[b];
    return best;
}

static bool is_longer(const struct oc_fold_level *up, const struct oc_fold_level *low)
{
    return (double)up->spacing >= NEXT_LEVEL * (double)low->spacing;
}

/* ---- pauses ----------------------------------------------------------------------------------------- */

static int run_levels_longest_first(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* The gap that separates long ones from the others: where sorted gaps fall by the largest factor. 0: none. */
static double longest_short_gap(const double *gap, size_t n, double *sorted)
{
    double best = MIN_PAUSE_RATIO, found = 0;
    memcpy(sorted, gap, n * sizeof(*gap));
    qsort(sorted, n, sizeof(*sorted), run_levels_longest_first);
    for (size_t k = 2; k < n / 2 && sorted[k - 1] > 0; k++) {
        double ratio = sorted[k - 1] / fmax(sorted[k], SHORTEST_GAP);
        found = ratio > best ? fmax(sorted[k], SHORTEST_GAP) : found;
        best = fmax(best, ratio);
    }
    return found;
}

/* Long pauses at equal distances with the same work between them: a level where n-grams show none, because
 * few kinds of kernels make up all of the run. */
static bool find_pause_level(const struct search *s, const double *gap, struct oc_fold_level *l)
{
    size_t n = s->in->n;
    double limit = longest_short_gap(gap, n, s->scratch);
    *l = (struct oc_fold_level){.at = oc_xmalloc((n + 1) * sizeof(*l->at)), .support = ENOUGH_SUPPORT};
    l->at[l->n++] = 0;
    for (size_t i = 1; i < n && limit > 0; i++)
        if (gap[i] > limit) {
            l->at[l->n] = i;
            s->distance[l->n - 1] = (double)(i - l->at[l->n - 1]);
            l->n++;
        }
    if (l->n < 3)
        return false;
    l->spacing = (size_t)oc_median_of(s->distance, l->n - 1, s->scratch);
    for (size_t i = 1; i < l->n; i++)
        l->regular += oc_fold_regular(l->at[i] - l->at[i - 1], l->spacing);
    size_t exact = exact_distances(l);
    return exact >= 2 && (double)exact >= MIN_REGULAR * (double)(l->n - 1) &&
           (double)(l->regular + 1) * (double)l->spacing >= MIN_COVERAGE * (double)n &&
           has_alike_segments(s, l);
}

size_t oc_fold_levels(const struct oc_fold_in *in, const double *gap, struct oc_fold_level *out, size_t max)
{
    struct search s = {.in = in,
                       .distance = oc_xmalloc((in->n + 1) * sizeof(double)),
                       .scratch = oc_xmalloc((in->n + 1) * sizeof(double)),
                       .count = oc_fold_counts(in)};
    size_t n = 0;
    bool conflict = false;
    run_levels_collect(&s);
    for (size_t b = 0; b < BUCKETS; b++) {
        struct oc_fold_level *l = &s.best[b];
        if (!l->at || !is_systematic(&s, l) || !has_alike_segments(&s, l))
            run_levels_drop(l);
    }
    for (struct oc_fold_level *l; n < max && (l = run_levels_best_of(&s)) != NULL;) {
        size_t k = n; /* levels below */
        while (k && out[k - 1].spacing > l->spacing)
            k--;
        struct oc_fold_level *low = k ? &out[k - 1] : NULL, *up = k < n ? &out[k] : NULL;
        if ((low && !is_longer(l, low)) || (up && !is_longer(up, l))) { /* the same level */
            run_levels_drop(l);
            continue;
        }
        if ((low && !is_above(l, low)) || (up && !is_above(up, l))) {
            conflict |= score_of(&s, l) >= CONFLICT && l->regular >= FEW_SEGMENTS;
            run_levels_drop(l);
            continue;
        }
        memmove(&out[k + 1], &out[k], (n++ - k) * sizeof(*out));
        out[k] = *l;
        *l = (struct oc_fold_level){0};
    }
    for (size_t b = 0; b < BUCKETS; b++)
        run_levels_drop(&s.best[b]);
    while (conflict && !in->iterations && n)
        run_levels_drop(&out[--n]);
    struct oc_fold_level paused;
    if (find_pause_level(&s, gap, &paused) && n < max && (!n || is_longer(&paused, &out[n - 1])))
        out[n++] = paused;
    else
        free(paused.at);
    free(s.distance);
    free(s.scratch);
    free(s.count);
    return n;
}

/* ---- content of a run ------------------------------------------------------------------------------- */

/* What a typical run consists of: copies, replayed graphs, layers (tandem repeats), blocks that recur; and
 * what other runs have more of. */

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

/* ---- repetition of content -------------------------------------------------------------------------- */

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
