/* Anchors of a loop: n-grams that recur at regular distances with the same launches between them. */
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
