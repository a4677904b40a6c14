/* Runs in a sequence without markers: which level repeats as the run. */
#include "profile/core/run_fold.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "profile/core/run_spread.h"

enum {
    MAX_LEVELS = 8,
    MIN_LAUNCHES = 5, /* of a run, with ... */
    CONTEXT = 8,      /* launches that show where a run starts */
    EXPECTED = 5,     /* equal launches that outweigh the expected place */
    MIN_END = 2,      /* launches that are the end of a run */
};
#define MIN_CONTAINED 0.8 /* of the typical run, for a run at either end */
#define MIN_PART      0.6 /* of an odd run */
#define MAX_UNEVEN    0.15
#define MAX_OTHER     3.0  /* runs of warm-up */
#define MAX_OUTSIDE   0.1  /* of the runs */
#define MAX_BEFORE    0.5  /* of a run */
#define ENDS_SLACK    0.03 /* of a run */
#define ENDS_DOUBT    0.8
#define MOSTLY_PAUSES 0.9               /* of the time: such pauses may not be those of a loop */
#define MAX_LOOK      ((size_t)1 << 20) /* launches */

/* ---- start of a run --------------------------------------------------------------------------------- */

/* The median over the segments with the pause between the usual symbols. */
static size_t pause_to_anchor(const struct oc_fold_in *in, const struct oc_fold_level *l,
                              const struct oc_fold_pauses *p)
{
    double *distance = oc_xmalloc(l->n * sizeof(*distance));
    size_t n = 0;
    for (size_t j = 1, i = 0; j < l->n && i < p->n; j++) {
        if (l->at[j] - l->at[j - 1] > 2 * l->spacing)
            continue;
        if (in->symbol[p->at[i]] == p->after || in->symbol[p->at[i] - 1] == p->before)
            distance[n++] = (double)(l->at[j] - p->at[i]);
        i++;
    }
    size_t usual = n ? (size_t)oc_fold_median(distance, n) : SIZE_MAX;
    free(distance);
    return usual;
}

/* Distance from the start of a run to its anchor where a pause or copies show it: the run starts after the
 * pause, or at the copies to the device. SIZE_MAX: neither. */
static size_t marked_start(const struct oc_folding *f, const struct oc_fold_level *l,
                           const struct oc_fold_content *c, const struct oc_fold_pauses *p)
{
    const struct oc_fold_in *in = f->in;
    size_t len = c->to - c->from, usual = p ? pause_to_anchor(in, l, p) : SIZE_MAX;
    if (usual != SIZE_MAX)
        return usual;
    for (size_t i = c->from; i < c->to && in->flags && c->transfer; i++) {
        uint8_t here = in->flags[i], before = in->flags[i > c->from ? i - 1 : c->to - 1];
        bool input = here & OC_FOLD_TO_DEVICE && !(before & OC_FOLD_TO_DEVICE);
        bool output = before & OC_FOLD_TO_HOST && !(here & OC_FOLD_TO_HOST) && !c->to_device;
        if (input || output)
            return (len - (i - c->from)) % len;
    }
    return SIZE_MAX;
}

/* The same for runs that start as early in the file as possible, `early` launches before an anchor: outside
 * the layers, or at one of them. */
static size_t outside_layers(const struct oc_fold_content *c, size_t early)
{
    size_t len = c->to - c->from, at = (len - early) % len;
    return c->layers && at > c->inner_from && at < c->inner_to ? len - c->inner_to : early;
}

static size_t at_layer(const struct oc_fold_content *c, size_t early)
{
    size_t len = c->to - c->from, at = (len - early) % len;
    if (at < c->inner_from || at > c->inner_to)
        return SIZE_MAX;
    return (at - c->inner_from) % ((c->inner_to - c->inner_from) / c->layers) ? SIZE_MAX : early;
}

/* How many of the launches around `at` equal those around `like`; those after it count twice. */
static unsigned likeness(const struct oc_fold_in *in, size_t at, size_t like)
{
    unsigned same = 0;
    for (size_t k = 0; k < CONTEXT; k++) {
        same += at + k < in->n && like + k < in->n && in->symbol[at + k] == in->symbol[like + k] ? 2 : 0;
        same += at > k && like > k && at - k <= in->n && in->symbol[at - k - 1] == in->symbol[like - k - 1];
    }
    return same;
}

static size_t longest_pause(const struct oc_folding *f, size_t from, size_t to)
{
    size_t best = from;
    for (size_t i = from; i <= to && i < f->in->n; i++)
        best = f->gap[i] > f->gap[best] ? i : best;
    return best;
}

/* The launch most like the start of a run, next to `expected`; after the longest pause, where pauses separate
 * the runs. */
static size_t nearest_start(const struct oc_folding *f, size_t expected, size_t slack, size_t like)
{
    const struct oc_fold_in *in = f->in;
    size_t best = expected;
    size_t pause =
        f->pause_ns > 0 ? longest_pause(f, expected > slack ? expected - slack : 0, expected + slack) : 0;
    if (pause && f->gap[pause] >= f->pause_ns)
        return pause;
    if (f->pause_ns > 0 && expected <= slack)
        return 0;
    unsigned most = likeness(in, expected, like) + EXPECTED;
    for (size_t d = 1; d <= slack && most < 3 * CONTEXT; d++)
        for (unsigned side = 0; side < 2; side++) {
            size_t at = side ? expected + d : expected - d;
            unsigned same = (side || d <= expected) && at < in->n ? likeness(in, at, like) : 0;
            if (same > most) {
                most = same;
                best = at;
            }
        }
    return best;
}

/* ---- runs ------------------------------------------------------------------------------------------- */

/* Anchors, with those added that a run lacks. Returns their number. */
static size_t complete_anchors(const struct oc_fold_level *l, size_t *at)
{
    size_t n = 0;
    for (size_t j = 0; j < l->n; j++) {
        size_t parts = j ? (l->at[j] - l->at[j - 1] + l->spacing / 2) / l->spacing : 1;
        for (size_t k = 1; k < parts && oc_fold_regular((l->at[j] - l->at[j - 1]) / parts, l->spacing); k++)
            at[n++] = l->at[j - 1] + k * ((l->at[j] - l->at[j - 1]) / parts);
        at[n++] = l->at[j];
    }
    return n;
}

static double contained(const struct oc_folding *f, const struct oc_fold_content *c, size_t from, size_t to)
{
    size_t both = 0;
    for (size_t i = from; i < to; i++)
        f->count[f->in->symbol[i]]++;
    for (size_t i = c->from; i < c->to; i++)
        if (f->count[f->in->symbol[i]] > 0) {
            f->count[f->in->symbol[i]]--;
            both++;
        }
    for (size_t i = from; i < to; i++)
        f->count[f->in->symbol[i]] = 0;
    return (double)both / (double)(c->to - c->from);
}

static bool is_whole_run(const struct oc_folding *f, const struct oc_fold_content *c, size_t from, size_t to)
{
    return from < to && contained(f, c, from, to) >= MIN_CONTAINED;
}

/* Where a run that starts at `from` ends, SIZE_MAX: it is truncated, or other work. */
static size_t end_of_run(const struct oc_folding *f, const struct oc_fold_content *c, size_t from,
                         size_t like)
{
    size_t len = c->to - c->from, slack = len / 32 + 1, end = from + len;
    if (end + slack < f->in->n)
        end = nearest_start(f, end, len / 8 + 1, like);
    else
        end = end <= f->in->n + slack ? f->in->n : SIZE_MAX;
    return end != SIZE_MAX && is_whole_run(f, c, from, end) ? end : SIZE_MAX;
}

static size_t start_of_run(const struct oc_folding *f, const struct oc_fold_content *c, size_t end,
                           size_t like)
{
    size_t len = c->to - c->from, slack = len / 32 + 1, from = 0;
    if (end + slack < len)
        return SIZE_MAX;
    if (end > len + slack)
        from = nearest_start(f, end - len, len / 8 + 1, like);
    return is_whole_run(f, c, from, end) ? from : SIZE_MAX;
}

/* Starts of runs, counted from the nearer anchor: one in the run, or one in the run before, so that launches
 * that an odd run has more of lie on the other side. Returns how many. */
static size_t place_starts(const struct oc_folding *f, const struct oc_fold_level *l,
                           const struct oc_fold_content *c, size_t back, size_t *start)
{
    size_t len = c->to - c->from, n = 0, most = 2 * (f->in->n / l->spacing) + l->n + 2;
    size_t *at = oc_xmalloc(most * sizeof(*at)), n_at = complete_anchors(l, at);
    bool ahead = back > len / 2;
    for (size_t j = 0; j < n_at; j++) {
        size_t here = ahead ? at[j] + len - back : at[j] - back;
        if (here > f->in->n) /* also below 0 */
            continue;
        here = nearest_start(f, here, len / 8 + 1, c->to - back);
        if (!n || here > start[n - 1])
            start[n++] = here;
        if (n >= 3 && start[n - 1] - start[n - 3] <= len + len / 8) { /* two in one run */
            start[n - 2] = start[n - 1];
            n--;
        }
    }
    free(at);
    return n;
}

/* Divides what is nearly two runs: the start of the second lacks launches, or an odd run before it ends
 * early. Returns the number of runs. */
static size_t divide_runs(const struct oc_folding *f, const struct oc_fold_content *c, size_t runs,
                          size_t room, size_t *start)
{
    size_t len = c->to - c->from;
    for (size_t k = 0; k < runs && runs < room; k++) {
        size_t from = start[k], to = start[k + 1], at = to - len;
        if (to - from < len + len / 2 || contained(f, c, from, at) < MIN_PART || !is_whole_run(f, c, at, to))
            continue;
        memmove(start + k + 2, start + k + 1, (runs++ - k) * sizeof(*start));
        start[++k] = at;
    }
    return runs;
}

/* Starts of runs, and the end of the last one. Returns the number of runs. */
static size_t place_runs(const struct oc_folding *f, const struct oc_fold_level *l,
                         const struct oc_fold_content *c, size_t back, size_t room, size_t *start)
{
    size_t n = place_starts(f, l, c, back, start), runs = n ? n - 1 : 0, from = 0, next;
    while (n && (next = start_of_run(f, c, start[0], c->to - back)) != SIZE_MAX) {
        memmove(start + 1, start, ++runs * sizeof(*start));
        start[0] = next;
    }
    while (n && (next = end_of_run(f, c, start[runs], c->to - back)) != SIZE_MAX)
        start[++runs] = next;
    runs = divide_runs(f, c, runs, room - 1, start);
    while (runs && contained(f, c, start[runs - 1], start[runs]) < MIN_CONTAINED)
        runs--;
    while (from < runs && contained(f, c, start[from], start[from + 1]) < MIN_CONTAINED)
        from++;
    runs -= from;
    memmove(start, start + from, (runs + 1) * sizeof(*start));
    return runs;
}

/* Continues after the launches that were searched. */
static void run_fold_extend_runs(const struct oc_folding *f, const struct oc_fold_content *c, size_t like,
                                 struct oc_fold *out)
{
    struct oc_folding whole = *f;
    size_t next, cap = (size_t)out->n_run + 1;
    whole.in = f->all;
    whole.pause_ns = 0; /* gaps are known for the launches that were searched */
    while ((next = end_of_run(&whole, c, out->start[out->n_run], like)) != SIZE_MAX) {
        if ((size_t)out->n_run + 2 > cap) {
            cap *= 2;
            out->start = oc_xrealloc(out->start, cap * sizeof(*out->start));
        }
        out->start[++out->n_run] = next;
    }
}

/* How many runs other launches would make, by their names: the median over the launches of a run. */
static size_t runs_in(const struct oc_folding *f, const struct oc_fold_content *c, size_t from, size_t to)
{
    const uint32_t *v = f->in->name ? f->in->name : f->in->symbol;
    double *times = oc_xmalloc((c->to - c->from) * sizeof(*times));
    int32_t *inside = oc_fold_counts(f->all);
    size_t n = 0;
    for (size_t i = c->from; i < c->to; i++)
        inside[v[i]]++;
    for (size_t i = from; i < to; i++)
        f->count[v[i]]++;
    for (size_t i = c->from; i < c->to; i++) {
        int32_t whole = f->count[v[i]] / inside[v[i]];
        times[n++] = whole;
    }
    for (size_t i = from; i < to; i++)
        f->count[v[i]] = 0;
    double median = oc_fold_median(times, n);
    free(inside);
    free(times);
    return (size_t)median;
}

/* Runs from the first of the possible starts that gives the most. Returns the distance from the start of a
 * run to its anchor. */
static size_t choose_starts(const struct oc_folding *f, const struct oc_fold_level *l,
                            const struct oc_fold_content *c, const size_t *begin, size_t n_begin,
                            struct oc_fold *out)
{
    size_t room = 4 * (f->in->n / l->spacing) + l->n + 8, back = 0;
    size_t *start = oc_xmalloc(room * sizeof(*start));
    out->start = oc_xcalloc(room, sizeof(*out->start));
    for (size_t i = 0; i < n_begin; i++) {
        size_t more = begin[i] == SIZE_MAX ? 0 : place_runs(f, l, c, begin[i], room, start);
        if (more <= out->n_run)
            continue;
        out->n_run = (uint32_t)more;
        back = begin[i];
        memcpy(out->start, start, (more + 1) * sizeof(*start));
    }
    free(start);
    return back;
}

/* Launches of the range that belong to the typical run: all of its kinds, if most launches are; at least
 * `follow`, which follow each other as there. */
static size_t part_of_run(const struct oc_folding *f, const struct oc_fold_content *c, size_t from, size_t to,
                          size_t follow)
{
    double same = contained(f, c, from, to) * (double)(c->to - c->from);
    size_t n = to - from, kinds = same >= OC_FOLD_MOST * (double)n ? (size_t)(same + 0.5) : 0;
    return kinds > follow ? kinds : follow < n ? follow : n;
}

/* Whether the launches from `last` on are the end of a run, not the beginning: then one before is too long.
 */
static bool ends_like_run(const struct oc_folding *f, const struct oc_fold_content *c, size_t last,
                          size_t phase)
{
    bool whole;
    size_t left = f->in->n - last, len = c->to - c->from, same = 0;
    if (left >= len || 4 * left < len)
        return false;
    for (size_t i = 0; i < CONTEXT && i < left; i++)
        same += f->in->symbol[last + i] == f->in->symbol[c->from + (phase + i) % len];
    return (double)same < OC_FOLD_MOST * CONTEXT &&
           2 * oc_fold_reach(f->in, f->in->n, c, phase, true, &whole) >= left;
}

/* Parts of runs at both ends of the launches that together are a run: then the runs start elsewhere. *shift:
 * how much earlier, 0: where they are. False: that is not sure. */
static bool check_ends(const struct oc_folding *f, const struct oc_fold_content *c, size_t back,
                       const struct oc_fold *out, size_t *shift)
{
    bool end, whole; /* launches up to the first one */
    size_t len = c->to - c->from, phase = (len - back) % len, last = out->start[out->n_run];
    size_t before = oc_fold_reach(f->in, out->start[0], c, phase, true, &whole);
    size_t after = oc_fold_reach(f->in, last, c, phase, false, &end);
    before = part_of_run(f, c, out->start[0] > len ? out->start[0] - len : 0, out->start[0], before);
    after = part_of_run(f, c, last, last + len < f->in->n ? last + len : f->in->n, after);
    double parts = (double)(before + after) / (double)len,
           slack = fmin(fmax(ENDS_SLACK, 2 / (double)len), (1 - ENDS_DOUBT) / 2);
    *shift = 0;
    if (!(f->pause_ns > 0) && ends_like_run(f, c, last, phase))
        return false;
    if (parts < ENDS_DOUBT || (f->pause_ns > 0 && whole && parts > 2 - ENDS_DOUBT))
        return true;
    *shift = before;
    return before && parts >= 1 - slack && (!(f->pause_ns > 0) || parts <= 1 + slack);
}

static bool typical_has(const struct oc_folding *f, const struct oc_fold_content *c, uint32_t symbol)
{
    for (size_t i = c->from; i < c->to; i++)
        if (f->in->symbol[i] == symbol)
            return true;
    return false;
}

/* Whether pauses separate layers of one run: before the first pause is other work (an embedding), then the end of a
 * layer, and the last layer ends with other work (logits). A loop of runs starts its first one after a pause. */
static bool are_inside_a_run(const struct oc_folding *f, const struct oc_fold_content *c, size_t back,
                             const struct oc_fold *out)
{
    bool whole;
    size_t len = c->to - c->from, first = out->start[0], last = f->in->n - 1;
    if (!first || f->all->n != f->in->n || out->start[out->n_run] + len <= last)
        return false;
    if (typical_has(f, c, f->in->symbol[0]) || typical_has(f, c, f->in->symbol[last]))
        return false;
    size_t part = oc_fold_reach(f->in, first, c, (len - back) % len, true, &whole);
    double share = contained(f, c, 0, first);
    if (!part || share * (double)len + 0.5 < MIN_END || share >= MIN_PART)
        return false;
    size_t from = part < first ? first - part : 0;
    return f->gap[longest_pause(f, from, first - 1)] < f->pause_ns; /* joined to the other work */
}

/* Moves all starts to the front, and adds a run. */
static void move_starts(struct oc_fold *out, size_t shift, size_t n)
{
    for (size_t k = 0; k <= out->n_run; k++)
        out->start[k] -= shift;
    size_t end = out->start[out->n_run++] + out->length;
    out->start[out->n_run] = end < n ? end : n;
}

/* Whether the file is nothing but whole runs, so that the first launch starts one. */
static bool only_whole_runs(const struct oc_folding *f, const struct oc_fold_content *c, size_t len)
{
    const struct oc_fold_in *in = f->in;
    if (f->all->n != in->n || in->n % len != 0)
        return false;
    for (size_t at = 0; at < in->n; at += len)
        if (oc_fold_difference(in, c->from, c->to, at, at + len, f->count) >= OC_FOLD_ALIKE / 3 ||
            likeness(in, at, 0) < 2 * CONTEXT)
            return false;
    return true;
}

static bool make_runs(struct oc_folding *f, const struct oc_fold_level *l, const struct oc_fold_content *c,
                      const struct oc_fold_pauses *p, struct oc_fold *out)
{
    bool to_begin;
    size_t len = c->to - c->from, early = oc_fold_reach(f->in, l->at[0], c, 0, true, &to_begin) % len,
           shift = 0;
    bool whole = !p && only_whole_runs(f, c, len);
    size_t begin[] = {whole ? l->at[0] % len : marked_start(f, l, c, p), outside_layers(c, early),
                      !to_begin   ? SIZE_MAX
                      : c->layers ? at_layer(c, early)
                                  : l->at[0] % len};
    f->pause_ns = p && begin[0] != SIZE_MAX ? oc_fold_median(p->ns, p->n) / 2 : 0;
    *out = (struct oc_fold){.length = len};
    size_t back = choose_starts(f, l, c, begin, f->pause_ns > 0 ? 1 : OC_COUNT(begin), out);
    if (!f->in->iterations && (!check_ends(f, c, back, out, &shift) ||
                               (f->pause_ns > 0 && out->n_run && are_inside_a_run(f, c, back, out))))
        return false;
    if (shift)
        move_starts(out, shift, f->in->n);
    if (shift && contained(f, c, 0, out->start[0]) > MAX_BEFORE && !f->in->iterations)
        return false;
    size_t n = out->n_run;
    out->layers = c->layers;
    for (size_t k = 0; k < n; k++)
        out->uneven += oc_fold_difference(f->in, c->from, c->to, out->start[k], out->start[k + 1],
                                          f->count) >= OC_FOLD_ALIKE;
    if (n >= OC_FOLD_MIN_RUNS && f->all->n > f->in->n && out->start[n] + 2 * out->length > f->in->n)
        run_fold_extend_runs(f, c, c->to - back, out);
    if (n < OC_FOLD_MIN_RUNS || (out->uneven > 1 && out->uneven > MAX_UNEVEN * (double)n))
        return false;
    double before = (double)runs_in(f, c, 0, out->start[0]);
    size_t last = out->start[out->n_run], left = f->all->n - last;
    double after = left < len ? 0 : (double)runs_in(f, c, last, f->all->n);
    return f->in->iterations || (before <= fmax(MAX_OTHER, MAX_OUTSIDE * out->n_run) &&
                                 after <= MAX_OUTSIDE * out->n_run && !oc_fold_is_part(f, c, out));
}

/* ---- the choice of a level -------------------------------------------------------------------------- */

/* A level and what speaks for it as the run. */
struct claim {
    struct oc_fold_level *level;
    struct oc_fold_content content;
    struct oc_fold_pauses pauses;
    bool clear;
};

static void examine(const struct oc_folding *f, struct oc_fold_level *l, size_t lag, struct claim *c)
{
    *c = (struct claim){.level = l};
    oc_fold_look_inside(f, l, lag, &c->content);
    oc_fold_find_pauses(f, l, &c->pauses);
    c->clear = oc_fold_is_clear(&c->pauses);
}

static bool is_substantial(const struct oc_fold_content *c)
{
    return c->graph || (c->distinct >= OC_FOLD_DISTINCT && c->to - c->from >= MIN_LAUNCHES);
}

/* Equal segments with a longer pause after every few of them: those together are a run. */
static void join_segments(struct claim *c, const struct oc_fold_long_pauses *x)
{
    struct oc_fold_level *l = c->level;
    const struct oc_fold_pauses *p = &c->pauses;
    double median = oc_fold_median(p->ns, p->n);
    size_t n = 0, j = 0;
    for (size_t i = 0; i < p->n; i++) {
        while (j < l->n && l->at[j] < p->at[i])
            j++;
        if (p->ns[i] > OC_FOLD_LONGER * median && j < l->n && j >= n)
            l->at[n++] = l->at[j];
    }
    l->n = n;
    l->spacing *= x->every;
    l->regular = n ? n - 1 : 0;
}

/* Whether the parts of the segments have what would make the segments runs. */
static bool looks_like_run(const struct claim *part, const struct claim *whole)
{
    const struct oc_fold_content *p = &part->content, *w = &whole->content;
    return p->transfer || p->graph || p->training ||
           (!whole->clear &&
            (part->clear || (!w->transfer && !w->graph && !w->training && (p->layers || p->blocks))));
}

/* Whether pauses take nearly all the time of most runs. */
static bool are_mostly_pauses(const struct oc_folding *f, const struct oc_fold *out)
{
    const double *at = f->in->start_ns;
    uint32_t n = 0;
    for (uint32_t k = 1; k < out->n_run && out->start[k] < f->in->n; k++)
        n += f->gap[out->start[k]] >= MOSTLY_PAUSES * (at[out->start[k]] - at[out->start[k - 1]]);
    return 2 * n > out->n_run;
}

static bool accept(struct oc_folding *f, struct claim *top, const struct claim *low, struct oc_fold *out)
{
    const struct oc_fold_content *c = &top->content;
    struct oc_fold_long_pauses longer = oc_fold_find_long_pauses(&top->pauses, top->level->spacing);
    bool inside = c->layers || c->blocks || c->transfer || c->graph || c->training;
    if (longer.every) { /* two levels with pauses, or with other evidence: unknown */
        if (top->clear || inside)
            return false;
        join_segments(top, &longer);
        struct oc_fold_level *level = top->level;
        oc_fold_free_pauses(&top->pauses);
        examine(f, level, level->spacing / longer.every, top);
    } else if ((longer.doubtful && !inside) || (low && looks_like_run(low, top))) {
        return false;
    }
    if (!is_substantial(c) || (!top->clear && !inside))
        return false;
    if (!make_runs(f, top->level, c, top->clear ? &top->pauses : NULL, out))
        return false;
    out->confidence = top->clear && !are_mostly_pauses(f, out) ? "high" : "medium";
    out->evidence = top->clear    ? "a pause before each"
                    : c->transfer ? "copies from or to the host in each"
                    : c->graph    ? "a graph replayed in each"
                    : c->training ? "a forward and a backward pass in each"
                    : !c->layers  ? "repeated blocks of a network in each"
                                  : "repeated layers and other launches in each";
    return true;
}

/* The level with as many runs as the user says. */
static bool accept_given(struct oc_folding *f, struct oc_fold_level *level, size_t n, struct oc_fold *out)
{
    for (size_t i = n; i-- > 0;) {
        struct claim c;
        examine(f, &level[i], i ? level[i - 1].spacing : 0, &c);
        bool found = make_runs(f, &level[i], &c.content, c.clear ? &c.pauses : NULL, out) &&
                     out->n_run == f->in->iterations;
        oc_fold_free_pauses(&c.pauses);
        if (found)
            return true;
        free(out->start);
        out->start = NULL;
    }
    return false;
}

static bool run_fold_choose(struct oc_folding *f, struct oc_fold_level *level, size_t n, struct oc_fold *out)
{
    struct claim top, low;
    if (!n)
        return false;
    if (f->in->iterations)
        return accept_given(f, level, n, out);
    examine(f, &level[n - 1], n > 1 ? level[n - 2].spacing : 0, &top);
    if (n > 1)
        examine(f, &level[n - 2], n > 2 ? level[n - 3].spacing : 0, &low);
    bool found = accept(f, &top, n > 1 ? &low : NULL, out);
    oc_fold_free_pauses(&top.pauses);
    if (n > 1)
        oc_fold_free_pauses(&low.pauses);
    return found;
}

/* Launches after the last run that equal the beginning of one. */
static size_t end_of_cut(const struct oc_fold_in *in, const struct oc_fold *out)
{
    size_t from = out->start[out->n_run], n = in->n - from, same = 0;
    if (n >= out->length)
        return from;
    for (size_t i = 0; i < n; i++)
        same += in->symbol[from + i] == in->symbol[out->start[out->n_run - 1] + i];
    return (double)same >= OC_FOLD_MOST * (double)n ? in->n : from;
}

/* *longest: the spacing of the highest level, 0: none. */
static bool run_fold_search(const struct oc_fold_in *in, struct oc_fold *out, size_t *longest)
{
    struct oc_fold_level level[MAX_LEVELS] = {0};
    struct oc_fold_in searched = *in;
    struct oc_fold made = {0};
    searched.n = in->n < MAX_LOOK ? in->n : MAX_LOOK;
    struct oc_folding f = {.in = &searched, .all = in, .count = oc_fold_counts(in)};
    f.gap = oc_xmalloc(searched.n * sizeof(*f.gap));
    oc_fold_find_gaps(&f);
    size_t n = oc_fold_levels(&searched, f.gap, level, MAX_LEVELS);
    *longest = n ? level[n - 1].spacing : 0;
    bool found = run_fold_choose(&f, level, n, &made);
    if (found) {
        made.cut = end_of_cut(in, &made);
        *out = made;
    } else {
        free(made.start);
    }
    for (size_t i = 0; i < n; i++)
        free(level[i].at);
    free(f.gap);
    free(f.count);
    return found;
}

/* By names and shapes; where shapes vary from run to run, names show a longer period. */
bool oc_fold_find(const struct oc_fold_in *in, struct oc_fold *out)
{
    struct oc_fold by_name = {0};
    size_t longest, named = 0;
    *out = (struct oc_fold){0};
    if (in->n < (size_t)OC_FOLD_MIN_RUNS)
        return false;
    run_fold_search(in, out, &longest);
    if (in->name) {
        struct oc_fold_in names = *in;
        names.symbol = in->name;
        run_fold_search(&names, &by_name, &named);
    }
    if (!oc_fold_regular(named, longest) ? named > longest : by_name.n_run > out->n_run) {
        free(out->start);
        *out = by_name;
    } else {
        free(by_name.start);
    }
    return out->n_run > 0;
}
