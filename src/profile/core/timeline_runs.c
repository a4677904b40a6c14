/* Detects unmarked runs: iterations that repeat in the sequence of device work (or of operators). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "onnxcost/profile.h"
#include "profile/core/run_fold.h"
#include "profile/core/timeline.h"

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
    return e->flags & OC_EVF_RECORD && !(t->owns_kernels && oc_event_on_device(e->kind)) &&
           (e->parent == OC_NONE || t->event[e->parent].link == OC_NONE);
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

/* Engines of language models annotate each step: several runs inside one are its layers. */
static bool is_step_of_engine(const struct oc_timeline *t, const struct oc_event *e)
{
    const char *name = t->name[e->name];
    return e->kind == OC_EV_USER &&
           (strncmp(name, "execute_", 8) == 0 /* vLLM */ || strncmp(name, "step[", 5) == 0 /* SGLang */);
}

/* Whether one step of an engine launched the first work of two runs. O(n). */
static bool split_a_step(const struct oc_timeline *t, const struct work_sequence *x, const struct oc_fold *f)
{
    uint32_t *step = oc_xmalloc((t->n_event + 1) * sizeof(*step)),
             last = OC_NONE; /* outermost one of each event */
    bool split = false;
    for (size_t i = 0; i < t->n_event; i++) {
        const struct oc_event *e = &t->event[i];
        uint32_t up = oc_event_on_device(e->kind) || e->parent == OC_NONE ? OC_NONE : step[e->parent];
        step[i] = up == OC_NONE && is_step_of_engine(t, e) ? (uint32_t)i : up;
    }
    for (uint32_t k = 0; k < f->n_run && !split; k++) {
        const struct oc_event *e = &t->event[x->index[f->start[k]]];
        uint32_t of = oc_event_on_device(e->kind) ? (e->link == OC_NONE ? OC_NONE : step[e->link])
                                                  : step[x->index[f->start[k]]];
        split = of != OC_NONE && of == last;
        last = of;
    }
    free(step);
    return split;
}

/* Finds the runs and reports them. evidence: what shows that there are that many iterations, NULL: the user says so.
 * False: none. The caller frees out->start. */
static bool sequence_fold(const struct oc_timeline *t, const struct work_sequence *s, uint32_t iterations,
                          const char *evidence, const char *what, struct oc_fold *out)
{
    struct oc_fold_in in = {s->symbol, s->name, s->flags, s->start_ns, s->end_ns, s->n, iterations};
    bool found = oc_fold_find(&in, out) && (iterations || !split_a_step(t, s, out));
    if (found && evidence) {
        out->confidence = "high";
        out->evidence = evidence;
    }
    if (found)
        report_fold(out, iterations && !evidence, what, t->profile);
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

/* ---- marking runs ----------------------------------------------------------------------------------- */

static void mark_runs(struct oc_timeline *t, const struct work_sequence *x, const struct oc_fold *f)
{
    for (uint32_t k = 0; k < f->n_run; k++) {
        struct oc_interval run = {x->start_ns[f->start[k]], 0};
        for (size_t i = f->start[k]; i < f->start[k + 1]; i++) {
            t->event[x->index[i]].run = k;
            run.end_ns = fmax(run.end_ns, x->end_ns[i]);
        }
        OC_PUSH(t->run, t->n_run, t->cap_run) = run;
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

/* ---- several devices -------------------------------------------------------------------------------- */

/* Devices that execute one program have equal sequences, where the fullest stream of all may have additional work, as
 * the copies to the other devices. Only work that most devices do is in their sequences. */
enum { MAX_DEVICES = 64 }; /* each of them takes a pass over the events */

struct device {
    int64_t id;
    uint16_t lane; /* the fullest */
    size_t n, first;
    bool member; /* has the sequence of most devices */
};

struct devices {
    struct device of[MAX_DEVICES];
    size_t n, events;
};

/* False: there is one, or too many. */
static bool find_devices(const struct oc_timeline *t, struct devices *d)
{
    size_t *count = oc_xcalloc((size_t)t->n_lane + 1, sizeof(*count));
    bool few = true;
    *d = (struct devices){.n = 0};
    for (size_t i = 0; i < t->n_event; i++)
        count[t->event[i].lane] += is_in_sequence(t, &t->event[i], true);
    for (uint32_t l = 0; l < t->n_lane && few; l++) {
        size_t k = 0;
        while (k < d->n && d->of[k].id != t->lane[l].device_id)
            k++;
        if (!count[l] || (k < d->n && d->of[k].n >= count[l]))
            continue;
        few = k < MAX_DEVICES;
        if (few)
            d->of[k] = (struct device){.id = t->lane[l].device_id, .lane = (uint16_t)l, .n = count[l]};
        d->n += few && k == d->n;
    }
    for (size_t k = 0; k < d->n; k++)
        d->events += d->of[k].n;
    free(count);
    return few && d->n > 1;
}

/* Keeps the work of device k, from `from` on, that is in more than half of the devices. */
static void keep_common(struct work_sequence *x, struct device *d, const uint32_t *on, size_t n_device)
{
    size_t kept = x->n;
    for (size_t i = d->first; i < d->first + d->n; i++) {
        if (2 * (size_t)on[x->symbol[i]] <= n_device)
            continue;
        x->index[kept] = x->index[i];
        x->symbol[kept] = x->symbol[i];
        x->name[kept] = x->name[i];
        x->flags[kept] = x->flags[i];
        x->start_ns[kept] = x->start_ns[i];
        x->end_ns[kept++] = x->end_ns[i];
    }
    d->first = x->n;
    d->n = kept - x->n;
    x->n = kept;
}

static void add_devices(struct oc_timeline *t, struct devices *d, struct work_sequence *x)
{
    for (size_t k = 0; k < d->n; k++) {
        struct sequence s = {.t = t, .lane = d->of[k].lane, .device = true};
        d->of[k].first = x->n;
        timeline_runs_add_events(&s, x);
    }
    uint32_t *on = oc_xcalloc((size_t)x->n_symbol + 1, sizeof(*on)),
             *last = oc_xcalloc((size_t)x->n_symbol + 1, sizeof(*last));
    for (size_t k = 0; k < d->n; k++)
        for (size_t i = d->of[k].first; i < d->of[k].first + d->of[k].n; i++) {
            on[x->symbol[i]] += last[x->symbol[i]] != k + 1;
            last[x->symbol[i]] = (uint32_t)k + 1;
        }
    x->n = 0;
    for (size_t k = 0; k < d->n; k++)
        keep_common(x, &d->of[k], on, d->n);
    free(on);
    free(last);
}

static bool same_sequence(const struct work_sequence *x, const struct device *a, const struct device *b)
{
    return a->n && a->n == b->n &&
           memcmp(x->symbol + a->first, x->symbol + b->first, a->n * sizeof(*x->symbol)) == 0;
}

/* The first of the devices that have the sequence of most; NULL: most have no common one. */
static const struct device *choose_members(struct devices *d, const struct work_sequence *x)
{
    for (size_t k = 0; k < d->n; k++) {
        size_t members = 0;
        for (size_t i = 0; i < d->n; i++)
            members += d->of[i].member = same_sequence(x, &d->of[k], &d->of[i]);
        if (2 * members > d->n)
            return &d->of[k];
    }
    return NULL;
}

/* The intervals of the runs over all devices, and of what follows them. False: they overlap. */
static bool intervals_of_runs(const struct devices *d, const struct work_sequence *x, const struct oc_fold *f,
                              struct oc_interval *run)
{
    double reached = -(double)INFINITY;
    for (uint32_t k = 0; k <= f->n_run; k++) {
        run[k] = (struct oc_interval){(double)INFINITY, -(double)INFINITY};
        for (size_t m = 0; m < d->n; m++)
            for (size_t i = f->start[k]; d->of[m].member && i < (k < f->n_run ? f->start[k + 1] : d->of[m].n);
                 i++) {
                run[k].start_ns = fmin(run[k].start_ns, x->start_ns[d->of[m].first + i]);
                run[k].end_ns = fmax(run[k].end_ns, x->end_ns[d->of[m].first + i]);
            }
        if (run[k].start_ns < reached)
            return false;
        reached = fmax(reached, run[k].end_ns);
    }
    return true;
}

/* Lists the device work that is in no run yet, with the nearest run in `near`. Returns its number. */
static size_t list_nearest(const struct oc_timeline *t, uint32_t *list, uint32_t *near)
{
    size_t n = 0;
    uint32_t k = 0;
    for (size_t i = 0; i < t->n_event; i++) {
        const struct oc_event *e = &t->event[i];
        while (k + 1 < t->n_run && e->start_ns - t->run[k].end_ns > t->run[k + 1].start_ns - e->start_ns)
            k++;
        if (!is_in_sequence(t, e, true) || e->run != OC_NONE || e->start_ns >= t->runs_end_ns)
            continue;
        list[n] = (uint32_t)i;
        near[n++] = k;
    }
    return n;
}

/* Other work that lies equally often at each run, as copies to the devices, is part of the run. */
static void mark_nearest(struct oc_timeline *t)
{
    uint32_t *list = oc_xmalloc((t->n_event + 1) * sizeof(*list)),
             *near = oc_xmalloc((t->n_event + 1) * sizeof(*near)),
             *count = oc_xcalloc(t->n_run, sizeof(*count));
    size_t n = list_nearest(t, list, near);
    bool equal = true;
    for (size_t i = 0; i < n; i++)
        count[near[i]]++;
    for (uint32_t k = 0; k < t->n_run; k++)
        equal &= count[k] == count[0];
    for (size_t i = 0; i < n && equal; i++) {
        struct oc_event *e = &t->event[list[i]];
        struct oc_interval *run = &t->run[e->run = near[i]];
        run->start_ns = fmin(run->start_ns, e->start_ns);
        run->end_ns = fmax(run->end_ns, e->start_ns + e->dur_ns);
    }
    t->runs_end_ns = t->cut_ns = t->run[t->n_run - 1].end_ns;
    free(list);
    free(near);
    free(count);
}

static void mark_devices(struct oc_timeline *t, const struct devices *d, const struct work_sequence *x,
                         const struct oc_fold *f, const struct oc_interval *run)
{
    for (uint32_t k = 0; k < f->n_run; k++) {
        oc_timeline_add_run(t, run[k].start_ns, run[k].end_ns - run[k].start_ns);
        for (size_t m = 0; m < d->n; m++)
            for (size_t i = f->start[k]; d->of[m].member && i < f->start[k + 1]; i++)
                t->event[x->index[d->of[m].first + i]].run = k;
    }
    t->runs_end_ns = run[f->n_run - 1].end_ns;
    mark_nearest(t);
}

/* Finds runs that most devices execute in the same order. */
static bool find_runs_of_devices(struct oc_timeline *t, uint32_t iterations)
{
    struct devices d;
    struct work_sequence x;
    struct oc_fold f = {0};
    if (!find_devices(t, &d))
        return false;
    sequence_init(&x, d.events + 1);
    add_devices(t, &d, &x);
    const struct device *one = choose_members(&d, &x);
    bool found = false;
    if (one) {
        size_t at = one->first;
        struct oc_fold_in in = {x.symbol + at, x.name + at, x.flags + at, x.start_ns + at,
                                x.end_ns + at, one->n,      iterations};
        found = oc_fold_find(&in, &f);
    }
    struct oc_interval *run = oc_xcalloc((size_t)f.n_run + 1, sizeof(*run));
    found = found && intervals_of_runs(&d, &x, &f, run);
    if (found) {
        mark_devices(t, &d, &x, &f, run);
        report_fold(&f, iterations != 0,
                    oc_printf(t->profile->diags.arena, "kernels and copies on each of %zu devices", d.n),
                    t->profile);
    }
    free(run);
    free(f.start);
    sequence_free(&x);
    return found;
}

/* ---- the runs --------------------------------------------------------------------------------------- */

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
    bool found = sequence_fold(t, &x, opts->iterations, NULL, what, &f);
    uint32_t runs = found || opts->iterations ? 0 : oc_timeline_runs_of_model(t, opts->operators);
    if (runs > 1) {
        free(f.start);
        found =
            sequence_fold(t, &x, runs, "as many products as in that number of runs of the model", what, &f);
    }
    if (found)
        mark_runs(t, &x, &f);
    else if (s.device && !t->launches)
        found = find_runs_of_devices(t, opts->iterations);
    if (found && s.device && !t->launches)
        mark_host(t);
    t->runs_found = found;
    free(f.start);
    sequence_free(&x);
}
