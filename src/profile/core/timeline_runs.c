/* Detects unmarked runs: iterations that repeat in the sequence of device work (or of operators). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/core/run_fold.h"
#include "profile/core/timeline.h"
#include "onnxcost/profile.h"

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
    size_t *count = oc_xcalloc((size_t)t->n_lane + 1, sizeof(*count)); /* launches may have no lane: 0 */
    for (size_t i = 0; i < t->n_event; i++)
        count[t->event[i].lane] += is_in_sequence(t, &t->event[i], s->device);
    for (uint32_t l = 0; l <= t->n_lane; l++)
        if (count[l] > s->n) {
            s->n = count[l];
            s->lane = (uint16_t)l;
        }
    free(count);
}

/* ---- input of the search ---------------------------------------------------------------------------- */

/* The sequence of work in which run_fold.h searches for runs. */
struct work_sequence {
    uint32_t *index; /* of the events */
    uint32_t *symbol, *name;
    uint8_t *flags;
    double *start_ns, *end_ns;
    size_t n;
    uint32_t n_symbol;
    struct oc_map symbols;
    struct oc_arena scratch;
};

static void sequence_init(struct work_sequence *s, size_t most)
{
    *s = (struct work_sequence){.index = oc_xmalloc(most * sizeof(uint32_t)),
                                .symbol = oc_xmalloc(most * sizeof(uint32_t)),
                                .name = oc_xmalloc(most * sizeof(uint32_t)),
                                .flags = oc_xmalloc(most),
                                .start_ns = oc_xmalloc(most * sizeof(double)),
                                .end_ns = oc_xmalloc(most * sizeof(double))};
}

static void sequence_free(struct work_sequence *s)
{
    free(s->index);
    free(s->symbol);
    free(s->name);
    free(s->flags);
    free(s->start_ns);
    free(s->end_ns);
    oc_map_free(&s->symbols);
    oc_arena_free(&s->scratch);
}

/* What the name of a copy says about its direction: enum oc_fold_flag, 0. */
static uint8_t flag_of_copy(const char *name)
{
    if (strstr(name, "HtoD") || strstr(name, "Host-to-Device"))
        return OC_FOLD_TO_DEVICE;
    return strstr(name, "DtoH") || strstr(name, "Device-to-Host") ? OC_FOLD_TO_HOST : 0;
}

/* Appends work; equal `name` and `shape`: equal work. The text of the name distinguishes copies and graphs.
 */
static void sequence_add(struct work_sequence *s, uint32_t index, uint32_t name, uint32_t shape,
                         unsigned kind, const char *text, double start_ns, double dur_ns)
{
    uint32_t key[2] = {name, shape}, symbol = s->n_symbol;
    s->symbols.arena = &s->scratch;
    s->n_symbol += oc_map_add(&s->symbols, (const char *)key, sizeof(key), &symbol, NULL);
    s->index[s->n] = index;
    s->symbol[s->n] = symbol;
    s->name[s->n] = name;
    static const char backward[] = "autograd::engine::evaluate_function: "; /* PyTorch */
    s->flags[s->n] = kind == OC_EV_MEMCPY                                 ? flag_of_copy(text)
                     : strncmp(text, "CUDA graph ", 11) == 0              ? OC_FOLD_GRAPH
                     : strncmp(text, backward, sizeof(backward) - 1) == 0 ? OC_FOLD_BACKWARD
                                                                          : 0;
    s->start_ns[s->n] = start_ns;
    s->end_ns[s->n++] = start_ns + dur_ns;
}

static void report_fold(const struct oc_fold *f, bool given, const char *what, struct oc_profile *p)
{
    p->runs_from = given ? OC_RUNS_GIVEN : OC_RUNS_REPEAT;
    p->runs_confidence = given ? NULL : f->confidence;
    const char *layers = f->layers ? oc_printf(p->diags.arena, ", with %u repeated layers", f->layers) : "";
    const char *uneven =
        f->uneven ? oc_printf(p->diags.arena, "; %u of them differ from the others", f->uneven) : "";
    oc_diag_add(&p->diags, OC_INFO, "I-runs-by-repetition", "",
                "the file marks no runs: %u repetitions of %zu %s%s count as runs (confidence %s: %s)%s",
                f->n_run, f->length, what, layers, given ? "high" : f->confidence,
                given ? "--iterations gives their number" : f->evidence, uneven);
}

/* Finds the runs and reports them. evidence: what shows that there are that many iterations, NULL: the user says so.
 * False: none. The caller frees out->start. */
static bool sequence_fold(const struct work_sequence *s, uint32_t iterations, const char *evidence,
                          const char *what, struct oc_profile *p, struct oc_fold *out)
{
    struct oc_fold_in in = {s->symbol, s->name, s->flags, s->start_ns, s->end_ns, s->n, iterations};
    bool found = oc_fold_find(&in, out);
    if (found && evidence) {
        out->confidence = "high";
        out->evidence = evidence;
    }
    if (found)
        report_fold(out, iterations && !evidence, what, p);
    return found;
}

static void timeline_runs_add_events(const struct sequence *s, struct work_sequence *x)
{
    const struct oc_timeline *t = s->t;
    for (size_t i = 0; i < t->n_event; i++) {
        const struct oc_event *e = &t->event[i];
        uint32_t shape = s->device && e->kind != OC_EV_KERNEL ? OC_NONE : e->detail;
        if (timeline_runs_in_sequence(s, e))
            sequence_add(x, (uint32_t)i, e->name, shape, e->kind, t->name[e->name], e->start_ns, e->dur_ns);
    }
}

/* ---- runs ------------------------------------------------------------------------------------------- */

static void mark_runs(struct oc_timeline *t, const struct work_sequence *x, const struct oc_fold *f)
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
    size_t last = f->start[f->n_run];
    t->runs_end_ns = t->cut_ns = t->run[t->n_run - 1].end_ns;
    if (!t->launches)
        return;
    t->runs_end_ns = last < x->n ? x->start_ns[last] : (double)INFINITY;
    t->cut_ns = f->cut < x->n ? x->start_ns[f->cut] : (double)INFINITY;
}

/* Of host events, until their runs are known: they enclose launches of several runs. */
#define SEVERAL_RUNS (OC_NONE - 1)

/* Marks a host event that launched work of a run, and what encloses it: amortised O(1), an event changes at
 * most twice. */
static void mark_launching(struct oc_timeline *t, uint32_t host, uint32_t run)
{
    for (uint32_t i = host; i != OC_NONE; i = t->event[i].parent) {
        struct oc_event *e = &t->event[i];
        if (e->run == run || e->run == SEVERAL_RUNS)
            return;
        run = e->run == OC_NONE ? run : SEVERAL_RUNS;
        e->run = run;
    }
}

/* The host runs ahead of the device: its part of a run is what launched the run's work, what encloses that
 * and nothing of other runs, and what follows until the next run. */
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
        mark_launching(t, owner == OC_NONE ? e->link : owner, e->run);
    }
    for (size_t i = 0; i < t->n_event; i++) {
        struct oc_event *e = &t->event[i];
        if (oc_event_on_device(e->kind) || e->run == OC_NONE)
            continue;
        if (e->run == SEVERAL_RUNS)
            e->run = OC_NONE;
        else
            start[e->run] = fmin(start[e->run], e->start_ns);
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

void oc_timeline_find_runs(struct oc_timeline *t, const struct oc_profile_opts *opts)
{
    struct sequence s = {.t = t, .device = true};
    struct work_sequence x;
    struct oc_fold f;
    choose_lane(&s);
    if (!s.n) {
        s.device = false;
        choose_lane(&s);
    }
    if (!s.n)
        return;
    sequence_init(&x, s.n);
    timeline_runs_add_events(&s, &x);
    const char *what = t->launches ? "launches" : s.device ? "kernels and copies" : "operators";
    bool found = sequence_fold(&x, opts->iterations, NULL, what, t->profile, &f);
    uint32_t runs = found || opts->iterations ? 0 : oc_timeline_runs_of_model(t, opts->operators);
    if (runs > 1) {
        free(f.start);
        found = sequence_fold(&x, runs, "as many products as in that number of runs of the model", what,
                              t->profile, &f);
    }
    if (found) {
        mark_runs(t, &x, &f);
        if (s.device && !t->launches)
            mark_host(t);
        t->runs_found = true;
    }
    free(f.start);
    sequence_free(&x);
}
