/* Detects unmarked runs: iterations that repeat in the sequence of device work (or of operators). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/timeline.h"

enum { WINDOW = 1 << 20, MIN_REPEATS = 3, MANY_REPEATS = 8 };

#define CLEAR_GAP 3.0 /* a gap between runs is this many times the average gap */

/* The sequence: device work of the lane with the most events, otherwise top-level operators likewise. */
struct sequence {
    struct oc_timeline *t;
    uint16_t lane;
    bool device;
    size_t n;
};

static bool is_in_sequence(const struct oc_timeline *t, const struct oc_event *e, bool device)
{
    if (device)
        return e->kind >= OC_EV_KERNEL && e->kind <= OC_EV_MEMSET;
    return e->flags & OC_EVF_RECORD && (e->parent == OC_NONE || t->event[e->parent].link == OC_NONE);
}

static bool in_sequence(const struct sequence *s, const struct oc_event *e)
{
    return e->lane == s->lane && is_in_sequence(s->t, e, s->device);
}

static void choose_lane(struct sequence *s)
{
    const struct oc_timeline *t = s->t;
    size_t *count = calloc(t->n_lane ? t->n_lane : 1, sizeof(*count));
    if (!count)
        oc_out_of_memory(t->n_lane * sizeof(*count));
    for (size_t i = 0; i < t->n_event; i++)
        count[t->event[i].lane] += is_in_sequence(t, &t->event[i], s->device);
    for (uint32_t l = 0; l < t->n_lane; l++)
        if (count[l] > s->n) {
            s->n = count[l];
            s->lane = (uint16_t)l;
        }
    free(count);
}

/* ---- the period ---------------------------------------------------------------------------------------- */

/* Smallest period of the names (Knuth-Morris-Pratt failure function: length minus the longest border). */
static size_t period_of(const uint32_t *name, size_t n, uint32_t *border)
{
    size_t k = 0;
    border[0] = 0;
    for (size_t i = 1; i < n; i++) {
        while (k && name[i] != name[k])
            k = border[k - 1];
        k += name[i] == name[k];
        border[i] = (uint32_t)k;
    }
    return n - k;
}

/* The period of an inner part of the sequence, which may begin or end with other work. */
static size_t find_period(const struct sequence *s)
{
    static const struct {
        unsigned from, to; /* in twelfths */
    } part[] = {{3, 9}, {6, 12}, {4, 8}, {0, 12}, {2, 5}, {8, 12}};
    size_t n = s->n < WINDOW ? s->n : WINDOW, first = (s->n - n) / 2, at = 0, got = 0, found = 0;
    uint32_t *name = oc_xmalloc(2 * n * sizeof(*name));
    for (size_t i = 0; i < s->t->n_event && got < n; i++)
        if (in_sequence(s, &s->t->event[i]) && at++ >= first)
            name[got++] = s->t->event[i].name;
    for (size_t i = 0; i < OC_COUNT(part) && !found; i++) {
        size_t from = got * part[i].from / 12, m = got * part[i].to / 12 - from;
        size_t p = m ? period_of(name + from, m, name + n) : 0;
        found = p && m / p >= MIN_REPEATS ? p : 0;
    }
    free(name);
    return found;
}

/* The longest stretch [from, to) of the sequence with that period. */
struct stretch {
    size_t period, from, to;
};

static void find_stretch(const struct sequence *s, struct stretch *r)
{
    uint32_t *last = oc_xmalloc(r->period * sizeof(*last));
    size_t at = 0, start = 0;
    for (size_t i = 0; i < s->t->n_event; i++) {
        const struct oc_event *e = &s->t->event[i];
        if (!in_sequence(s, e))
            continue;
        if (at >= r->period && last[at % r->period] != e->name)
            start = at - r->period + 1;
        last[at % r->period] = e->name;
        at++;
        if (at - start > r->to - r->from) {
            r->from = start;
            r->to = at;
        }
    }
    free(last);
}

/* ---- start of an iteration ----------------------------------------------------------------------------- */

struct phase {
    size_t at;   /* in [0, period) */
    bool clear;  /* the gap before it is an outlier */
    bool copies; /* each iteration contains a copy */
};

static struct phase find_phase(const struct sequence *s, const struct stretch *r)
{
    double *gap = calloc(r->period, sizeof(*gap)), reached = 0, all = 0;
    struct phase best = {0};
    size_t at = 0;
    if (!gap)
        oc_out_of_memory(r->period * sizeof(*gap));
    for (size_t i = 0; i < s->t->n_event; i++) {
        const struct oc_event *e = &s->t->event[i];
        if (!in_sequence(s, e))
            continue;
        if (at > r->from && at < r->to && e->start_ns > reached)
            gap[(at - r->from) % r->period] += e->start_ns - reached;
        best.copies |= at >= r->from && at < r->to && e->kind == OC_EV_MEMCPY;
        reached = fmax(reached, e->start_ns + e->dur_ns);
        at++;
    }
    gap[0] *= (double)(r->to - r->from) / (double)(r->to - r->from - r->period); /* seen once less */
    for (size_t k = 0; k < r->period; k++) {
        all += gap[k];
        if (gap[k] > gap[best.at])
            best.at = k;
    }
    double others = r->period > 1 ? (all - gap[best.at]) / (double)(r->period - 1) : 0;
    best.clear = gap[best.at] > CLEAR_GAP * others;
    if (!best.clear)
        best.at = 0;
    free(gap);
    return best;
}

/* The layers of one pass repeat too. Accepts a period only if iterations have a gap or a copy between
 * them, or end at the end of the file. */
static bool is_accepted(const struct sequence *s, const struct stretch *r, const struct phase *f)
{
    size_t repeats = (r->to - r->from) / r->period;
    bool to_the_end = s->n - r->to < r->period;
    return repeats >= MIN_REPEATS &&
           (f->clear || (f->copies && r->period > 1) || (to_the_end && repeats >= MANY_REPEATS));
}

/* ---- runs ---------------------------------------------------------------------------------------------- */

static void mark_runs(const struct sequence *s, const struct stretch *r, size_t phase)
{
    struct oc_timeline *t = s->t;
    size_t first = r->from + phase, n = (r->to - first) / r->period, at = 0;
    for (size_t i = 0; i < t->n_event; i++) {
        struct oc_event *e = &t->event[i];
        if (!in_sequence(s, e))
            continue;
        size_t k = at++ - first;
        if (at <= first || k / r->period >= n)
            continue;
        e->run = (uint32_t)(k / r->period);
        double end_ns = e->start_ns + e->dur_ns;
        if (k % r->period == 0) {
            OC_GROW(t->run, t->n_run, t->cap_run);
            t->run[t->n_run++] = (struct oc_interval){e->start_ns, end_ns};
        } else if (end_ns > t->run[e->run].end_ns) {
            t->run[e->run].end_ns = end_ns;
        }
    }
}

/* The host runs ahead of the device: its part of a run is what launched the run's work. */
static void mark_host(struct oc_timeline *t)
{
    double *start = oc_xmalloc((t->n_run + 1) * sizeof(*start));
    for (uint32_t k = 0; k <= t->n_run; k++)
        start[k] = (double)INFINITY;
    for (size_t i = 0; i < t->n_event; i++) {
        const struct oc_event *e = &t->event[i];
        if (!oc_event_on_device(e->kind) || e->run == OC_NONE || e->link == OC_NONE)
            continue;
        uint32_t owner = oc_timeline_owner(t, e->link);
        struct oc_event *host = &t->event[owner == OC_NONE ? e->link : owner];
        start[e->run] = fmin(start[e->run], host->start_ns);
        if (host->run == OC_NONE)
            host->run = e->run;
    }
    for (uint32_t k = t->n_run; k-- > 0;)
        start[k] = fmin(start[k], start[k + 1]);
    uint32_t run = OC_NONE;
    for (size_t i = 0; i < t->n_event; i++) {
        struct oc_event *e = &t->event[i];
        while ((run == OC_NONE ? 0 : run + 1) < t->n_run &&
               start[run == OC_NONE ? 0 : run + 1] <= e->start_ns)
            run++; /* OC_NONE + 1 is 0 */
        if (!oc_event_on_device(e->kind) && e->run == OC_NONE && start[0] < (double)INFINITY)
            e->run = run;
    }
    free(start);
}

void oc_timeline_find_runs(struct oc_timeline *t)
{
    struct sequence s = {.t = t, .device = true};
    struct stretch r = {0};
    choose_lane(&s);
    if (!s.n) {
        s.device = false;
        choose_lane(&s);
    }
    r.period = s.n >= MIN_REPEATS ? find_period(&s) : 0;
    if (!r.period)
        return;
    find_stretch(&s, &r);
    if ((r.to - r.from) / r.period < MIN_REPEATS)
        return;
    struct phase f = find_phase(&s, &r);
    if (!is_accepted(&s, &r, &f))
        return;
    mark_runs(&s, &r, f.at);
    if (s.device)
        mark_host(t);
    t->runs_found = true;
    oc_diag_add(&t->profile->diags, OC_INFO, "I-runs-found", "",
                "%u equal iterations of %zu %s detected by their order: they count as runs", t->n_run,
                r.period, s.device ? "kernels and copies" : "operators");
}
