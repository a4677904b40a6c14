/* Detects unmarked runs: iterations that repeat in the sequence of device work (or of operators). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/run_fold.h"
#include "profile/timeline.h"

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

static bool timeline_runs_in_sequence(const struct sequence *s, const struct oc_event *e)
{
    return e->lane == s->lane && is_in_sequence(s->t, e, s->device);
}

static void choose_lane(struct sequence *s)
{
    const struct oc_timeline *t = s->t;
    size_t *count = oc_xcalloc(t->n_lane, sizeof(*count));
    for (size_t i = 0; i < t->n_event; i++)
        count[t->event[i].lane] += is_in_sequence(t, &t->event[i], s->device);
    for (uint32_t l = 0; l < t->n_lane; l++)
        if (count[l] > s->n) {
            s->n = count[l];
            s->lane = (uint16_t)l;
        }
    free(count);
}

/* The sequence as input of the search: names, and names with launch shapes. */
struct symbols {
    uint32_t *index; /* of the events */
    uint32_t *symbol, *name;
    uint8_t *flags;
    double *start_ns, *end_ns;
};

static void free_symbols(struct symbols *x)
{
    free(x->index);
    free(x->symbol);
    free(x->name);
    free(x->flags);
    free(x->start_ns);
    free(x->end_ns);
}

static void timeline_runs_make_symbols(const struct sequence *s, struct symbols *x)
{
    const struct oc_timeline *t = s->t;
    struct oc_arena scratch = {0};
    struct oc_map of = {.arena = &scratch};
    size_t at = 0;
    uint32_t known = 0;
    *x = (struct symbols){oc_xmalloc(s->n * sizeof(uint32_t)), oc_xmalloc(s->n * sizeof(uint32_t)),
                          oc_xmalloc(s->n * sizeof(uint32_t)), oc_xcalloc(s->n, 1),
                          oc_xmalloc(s->n * sizeof(double)),   oc_xmalloc(s->n * sizeof(double))};
    for (size_t i = 0; i < t->n_event; i++) {
        const struct oc_event *e = &t->event[i];
        if (!timeline_runs_in_sequence(s, e))
            continue;
        uint32_t key[2] = {e->name, s->device && e->kind != OC_EV_KERNEL ? OC_NONE : e->detail}, id = known;
        known += oc_map_add(&of, (const char *)key, sizeof(key), &id, NULL);
        x->index[at] = (uint32_t)i;
        x->symbol[at] = id;
        x->name[at] = e->name;
        x->flags[at] = e->kind == OC_EV_MEMCPY ? oc_fold_flag_of_copy(t->name[e->name])
                       : strncmp(t->name[e->name], "CUDA graph ", 11) == 0 ? OC_FOLD_GRAPH
                                                                           : 0;
        x->start_ns[at] = e->start_ns;
        x->end_ns[at++] = e->start_ns + e->dur_ns;
    }
    oc_map_free(&of);
    oc_arena_free(&scratch);
}

/* ---- runs ------------------------------------------------------------------------------------------- */

static void mark_runs(struct oc_timeline *t, const struct symbols *x, const struct oc_fold *f)
{
    for (uint32_t k = 0; k < f->n_run; k++) {
        struct oc_interval run = {x->start_ns[f->start[k]], 0};
        for (size_t i = f->start[k]; i < f->start[k + 1]; i++) {
            t->event[x->index[i]].run = k;
            run.end_ns = fmax(run.end_ns, x->end_ns[i]);
        }
        OC_GROW(t->run, t->n_run, t->cap_run);
        t->run[t->n_run++] = run;
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

void oc_timeline_find_runs(struct oc_timeline *t, uint32_t iterations)
{
    struct sequence s = {.t = t, .device = true};
    struct symbols x;
    struct oc_fold f;
    choose_lane(&s);
    if (!s.n) {
        s.device = false;
        choose_lane(&s);
    }
    if (!s.n)
        return;
    timeline_runs_make_symbols(&s, &x);
    struct oc_fold_in in = {x.symbol, x.name, x.flags, x.start_ns, x.end_ns, s.n, iterations};
    if (oc_fold_find(&in, &f)) {
        mark_runs(t, &x, &f);
        if (s.device)
            mark_host(t);
        t->runs_found = true;
        oc_fold_report(&f, &in, s.device ? "kernels and copies" : "operators", t->profile);
    }
    free(f.start);
    free_symbols(&x);
}
