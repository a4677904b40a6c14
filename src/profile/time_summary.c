/* The summary of the events of a profile. */
#include "profile/time_summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/str.h"
#include "profile/core/places.h"

void oc_summary_times(struct oc_times *t, double ns)
{
    if (!t->known || ns < t->min_ns)
        t->min_ns = ns;
    if (!t->known || ns > t->max_ns)
        t->max_ns = ns;
    t->known = true;
    t->total_ns += ns;
    t->calls++;
}

static void cover_add(struct oc_cover *c, double start_ns, double end_ns)
{
    if (!c->n) {
        c->end_ns = start_ns;
    } else if (start_ns - c->end_ns > c->longest_gap_ns) {
        c->longest_gap_ns = start_ns - c->end_ns;
    }
    if (end_ns > c->end_ns) {
        c->sum_ns += end_ns - (start_ns > c->end_ns ? start_ns : c->end_ns);
        c->end_ns = end_ns;
    }
    c->n++;
}

bool oc_summary_used(const struct oc_timeline *t, const struct oc_event *e)
{
    return e->run == OC_NONE ? t->first_used_run == 0 : e->run >= t->first_used_run;
}

static double time_summary_end_of(const struct oc_event *e)
{
    return e->start_ns + e->dur_ns;
}

/* ---- total and runs --------------------------------------------------------------------------------- */

/* Sorts v. The standard deviation is that of the runs (divided by n), not an estimate for a population. */
static struct oc_spread time_summary_spread_of(double *v, uint32_t n)
{
    struct oc_spread s = {n, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    double sum = 0, squares = 0;
    if (!n)
        return s;
    s.min = oc_stat_of(OC_STAT_MIN, v, n); /* sorts */
    for (uint32_t i = 0; i < n; i++)
        sum += v[i];
    s.mean = sum / n;
    for (uint32_t i = 0; i < n; i++)
        squares += (v[i] - s.mean) * (v[i] - s.mean);
    s.stddev = sqrt(squares / n);
    s.max = v[n - 1];
    s.median = oc_percentile_of(v, n, 0.5);
    s.p90 = oc_percentile_of(v, n, 0.9);
    s.p99 = oc_percentile_of(v, n, 0.99);
    return s;
}

/* Union of the runs with their device work, which may begin before a step (clock skew) or end after it. */
static double union_of_runs(const struct oc_timeline *t)
{
    struct oc_cover cover = {0};
    double reached = -INFINITY;
    struct oc_interval *run = oc_xmalloc((t->n_run + 1) * sizeof(*run));
    memcpy(run, t->run, t->n_run * sizeof(*run));
    for (size_t i = 0; i < t->n_event; i++) {
        const struct oc_event *e = &t->event[i];
        if (!oc_event_on_device(e->kind) || !oc_timeline_used(t, e->run))
            continue;
        run[e->run].start_ns = fmin(run[e->run].start_ns, e->start_ns);
        run[e->run].end_ns = fmax(run[e->run].end_ns, time_summary_end_of(e));
    }
    for (uint32_t i = t->n_run; i-- > t->first_used_run;) { /* in the order of their starts */
        reached = fmin(i + 1 == t->n_run ? INFINITY : reached, run[i].start_ns);
        run[i].start_ns = reached;
    }
    for (uint32_t i = t->first_used_run; i < t->n_run; i++)
        cover_add(&cover, run[i].start_ns, run[i].end_ns);
    free(run);
    return cover.sum_ns;
}

static void find_total(struct oc_time_summary *s, const struct oc_timeline *t)
{
    double first = INFINITY, last = -INFINITY;
    if (!t->runs_implicit && t->n_run > t->first_used_run) {
        s->total_ns = union_of_runs(t);
        s->total_is = "union of the runs";
        return;
    }
    for (size_t i = 0; i < t->n_event; i++) {
        first = fmin(first, t->event[i].start_ns);
        last = fmax(last, time_summary_end_of(&t->event[i]));
    }
    s->total_ns = t->n_event ? last - first : NAN;
    s->total_is = "first start to last end";
}

/* Duration, device time and data waiting time of each used run. */
static void time_summary_find_runs(struct oc_time_summary *s, const struct oc_timeline *t,
                                   const struct oc_sum_table_opts *opts)
{
    uint32_t n = t->runs_implicit ? 0 : t->n_run - t->first_used_run;
    double *dur = oc_xmalloc((n + 1) * sizeof(*dur)), *device = oc_xmalloc((n + 1) * sizeof(*device));
    double *reader = oc_xmalloc((n + 1) * sizeof(*reader)), *ips = oc_xmalloc((n + 1) * sizeof(*ips));
    bool reads = false;
    s->runs_dropped = t->first_used_run;
    for (uint32_t i = 0; i < n; i++) {
        const struct oc_interval *r = &t->run[t->first_used_run + i];
        dur[i] = r->end_ns - r->start_ns;
        device[i] = reader[i] = 0;
        ips[i] = dur[i] > 0 ? opts->samples_per_step / (dur[i] / 1e9) : NAN;
        if (!i || dur[i] > dur[s->slowest_run])
            s->slowest_run = i;
    }
    for (size_t i = 0; i < t->n_event; i++) {
        const struct oc_event *e = &t->event[i];
        if (!n || !oc_timeline_used(t, e->run))
            continue;
        uint32_t k = e->run - t->first_used_run;
        if (oc_event_on_device(e->kind) && e->kind != OC_EV_DEVICE_RANGE)
            device[k] += e->dur_ns;
        if (e->kind == OC_EV_DATALOADER &&
            (e->parent == OC_NONE || t->event[e->parent].kind != OC_EV_DATALOADER)) {
            reader[k] += e->dur_ns;
            reads = true;
        }
    }
    s->slowest_run += t->first_used_run;
    s->run = s->batch_cost = time_summary_spread_of(dur, n);
    s->device_run = time_summary_spread_of(device, s->has_device ? n : 0);
    s->reader_cost = time_summary_spread_of(reader, reads ? n : 0);
    s->ips = time_summary_spread_of(ips, opts->samples_per_step > 0 ? n : 0);
    free(dur);
    free(device);
    free(reader);
    free(ips);
}

/* ---- overview --------------------------------------------------------------------------------------- */

static int by_union(const void *a, const void *b)
{
    const struct oc_sum_kind *x = a, *y = b;
    if (x->union_ns != y->union_ns)
        return x->union_ns < y->union_ns ? 1 : -1;
    return (int)x->kind - (int)y->kind;
}

/* Devices that report operators instead of kernels (TPU) have them, and their steps, on lanes of their own.
 */
static bool runs_on_device(const struct oc_profile *p, const struct oc_event *e)
{
    bool lane = e->lane < p->n_lane && p->lane[e->lane].device;
    return oc_event_on_device(e->kind) || (lane && (e->kind == OC_EV_OPERATOR || e->kind == OC_EV_STEP));
}

/* Returns the kinds of all events, as bits. */
static uint64_t find_overview(struct oc_time_summary *s, const struct oc_timeline *t)
{
    struct oc_cover kind[2][OC_EV_COUNT] = {{{0}}};
    uint64_t kinds = 0;
    for (size_t i = 0; i < t->n_event; i++) {
        const struct oc_event *e = &t->event[i];
        if (e->kind >= OC_EV_COUNT)
            continue;
        kinds |= UINT64_C(1) << e->kind;
        if (oc_summary_used(t, e))
            cover_add(&kind[runs_on_device(s->profile, e)][e->kind], e->start_ns, time_summary_end_of(e));
    }
    for (unsigned k = 0; k < OC_EV_COUNT; k++) {
        const struct oc_cover *host = &kind[0][k], *device = &kind[1][k];
        if (host->n)
            s->host[s->n_host++] = (struct oc_sum_kind){(uint8_t)k, host->n, host->sum_ns};
        if (device->n)
            s->device[s->n_device++] = (struct oc_sum_kind){(uint8_t)k, device->n, device->sum_ns};
    }
    qsort(s->host, s->n_host, sizeof(*s->host), by_union);
    qsort(s->device, s->n_device, sizeof(*s->device), by_union);
    s->has_device = s->n_device > 0;
    return kinds;
}

/* ---- lanes ------------------------------------------------------------------------------------------ */

/* Whether the event shows work on its lane, or only an enclosing activity. */
static bool is_work(const struct oc_event *e)
{
    switch (e->kind) {
    case OC_EV_STEP:
    case OC_EV_FORWARD:
    case OC_EV_BACKWARD:
    case OC_EV_OPTIMIZATION:
    case OC_EV_USER:
    case OC_EV_PYTHON:
    case OC_EV_DEVICE_RANGE:
        return false;
    default:
        return true;
    }
}

struct lane_cover {
    struct oc_cover all, kernels, recorded; /* recorded: kernels, with those between the runs */
    double first_ns;
};

/* inside: it is in a run, or there are none */
static void cover_event(struct lane_cover *c, const struct oc_event *e, bool on_device, bool inside)
{
    bool kernel = e->kind == OC_EV_KERNEL || (on_device && e->kind == OC_EV_OPERATOR);
    if (kernel)
        cover_add(&c->recorded, e->start_ns, time_summary_end_of(e));
    if (!inside)
        return;
    if (!c->all.n)
        c->first_ns = e->start_ns;
    cover_add(&c->all, e->start_ns, time_summary_end_of(e));
    if (kernel)
        cover_add(&c->kernels, e->start_ns, time_summary_end_of(e));
}

/* whole: all lanes of the device of this one */
static void add_lane(struct oc_time_summary *s, const struct lane_cover *c, uint32_t lane, bool whole,
                     const struct oc_places *places)
{
    const struct oc_lane *of = &s->profile->lane[lane];
    uint16_t place = places && of->device ? places->of_lane[lane] : OC_NO_PLACE;
    double span = s->run.n ? s->total_ns : c->all.end_ns - c->first_ns;
    s->lane[s->n_lane++] = (struct oc_sum_lane){.lane = whole ? OC_NONE : lane,
                                                .device = of->device,
                                                .place = place == OC_NO_PLACE ? NULL : places->name[place],
                                                .device_id = of->device_id,
                                                .events = c->all.n,
                                                .busy_ns = c->all.sum_ns,
                                                .idle_ns = fmax(0, span - c->all.sum_ns),
                                                .kernel_ns = c->kernels.sum_ns,
                                                .recording_kernel_ns = c->recorded.sum_ns,
                                                .longest_gap_ns = c->all.longest_gap_ns};
}

/* By lane: the first lane of its device, which represents it; itself on the host. free() */
static uint32_t *first_lanes(struct oc_time_summary *s)
{
    const struct oc_profile *p = s->profile;
    struct oc_map devices = {.arena = &s->arena};
    uint32_t *first = oc_xmalloc((p->n_lane + 1) * sizeof(*first));
    for (uint32_t i = 0; i < p->n_lane; i++) {
        const int64_t key[2] = {p->lane[i].process, p->lane[i].device_id};
        first[i] = i;
        if (p->lane[i].device)
            oc_map_add(&devices, (const char *)key, sizeof(key), &first[i], NULL);
    }
    oc_map_free(&devices);
    return first;
}

static void find_lanes(struct oc_time_summary *s, const struct oc_timeline *t, const struct oc_places *places)
{
    const struct oc_profile *p = s->profile;
    uint32_t *device_of = first_lanes(s);
    struct lane_cover *lane = oc_xcalloc(p->n_lane, sizeof(*lane));
    struct lane_cover *device = oc_xcalloc(p->n_lane, sizeof(*device));
    s->lane = OC_NEW_ARRAY(&s->arena, 2 * (size_t)p->n_lane + 1, struct oc_sum_lane);
    for (size_t i = 0; i < t->n_event; i++) {
        const struct oc_event *e = &t->event[i];
        if (e->lane >= p->n_lane || !oc_summary_used(t, e) || !is_work(e))
            continue;
        bool on_device = p->lane[e->lane].device,
             inside = !s->run.n || oc_timeline_used(t, e->run); /* busy times are parts of the runs */
        cover_event(&lane[e->lane], e, on_device, inside);
        if (on_device)
            cover_event(&device[device_of[e->lane]], e, on_device, inside);
    }
    for (uint32_t i = 0; i < p->n_lane; i++)
        if (p->lane[i].device && device_of[i] == i && device[i].all.n)
            add_lane(s, &device[i], i, true, places);
    for (uint32_t i = 0; i < p->n_lane; i++)
        if (lane[i].all.n)
            add_lane(s, &lane[i], i, false, places);
    free(device_of);
    free(lane);
    free(device);
}

/* ---- communication ---------------------------------------------------------------------------------- */

/* By name of the timeline: of a collective. free() */
static bool *collective_names(const struct oc_timeline *t, bool *any)
{
    bool *of_collective = oc_xmalloc((size_t)t->n_name + 1);
    for (uint32_t i = 0; i < t->n_name; i++)
        *any |= of_collective[i] = oc_is_collective(t->name[i]);
    return of_collective;
}

static bool communicates(const struct oc_event *e, const bool *of_collective)
{
    return e->kind == OC_EV_COMMUNICATION ||
           ((e->kind == OC_EV_OPERATOR || e->kind == OC_EV_USER) && of_collective[e->name]);
}

struct ranges {
    struct oc_interval *v; /* disjoint, ascending */
    size_t n, cap;
};

static void ranges_add(struct ranges *r, double start, double end)
{
    if (r->n && start <= r->v[r->n - 1].end_ns) {
        r->v[r->n - 1].end_ns = fmax(r->v[r->n - 1].end_ns, end);
        return;
    }
    OC_PUSH(r->v, r->n, r->cap) = (struct oc_interval){start, end};
}

static double time_summary_length_of(const struct ranges *r)
{
    double sum = 0;
    for (size_t i = 0; i < r->n; i++)
        sum += r->v[i].end_ns - r->v[i].start_ns;
    return sum;
}

static double common_length(const struct ranges *a, const struct ranges *b)
{
    double sum = 0;
    for (size_t i = 0, k = 0; i < a->n && k < b->n;) {
        double start = fmax(a->v[i].start_ns, b->v[k].start_ns);
        double end = fmin(a->v[i].end_ns, b->v[k].end_ns);
        sum += fmax(0, end - start);
        if (a->v[i].end_ns < b->v[k].end_ns)
            i++;
        else
            k++;
    }
    return sum;
}

static void find_distribution(struct oc_time_summary *s, const struct oc_timeline *t, uint64_t kinds)
{
    bool any = kinds >> OC_EV_COMMUNICATION & 1, *of_collective = collective_names(t, &any);
    bool *inside = oc_xmalloc(t->n_event + 1); /* it or its enclosing event communicates */
    struct ranges talk = {0}, work = {0};
    for (size_t i = 0; i < t->n_event && any; i++) {
        const struct oc_event *e = &t->event[i];
        inside[i] =
            communicates(e, of_collective) || (e->parent != OC_NONE && e->parent < i && inside[e->parent]);
    }
    for (size_t i = 0; i < t->n_event && any; i++) {
        const struct oc_event *e = &t->event[i];
        if (!oc_summary_used(t, e))
            continue;
        bool kernel = e->kind == OC_EV_KERNEL;
        bool collective = kernel && (of_collective[e->name] || (e->link != OC_NONE && inside[e->link]));
        if (collective || (!oc_event_on_device(e->kind) && communicates(e, of_collective)))
            ranges_add(&talk, e->start_ns, time_summary_end_of(e));
        else if (kernel)
            ranges_add(&work, e->start_ns, time_summary_end_of(e));
    }
    s->communication_ns = talk.n ? time_summary_length_of(&talk) : NAN;
    s->computation_ns = talk.n ? time_summary_length_of(&work) : NAN;
    s->overlap_ns = talk.n ? common_length(&talk, &work) : NAN;
    free(inside);
    free(of_collective);
    free(talk.v);
    free(work.v);
}

/* ---- model ------------------------------------------------------------------------------------------ */

#define PHASES                                                                                               \
    (UINT64_C(1) << OC_EV_DATALOADER | UINT64_C(1) << OC_EV_FORWARD | UINT64_C(1) << OC_EV_BACKWARD |        \
     UINT64_C(1) << OC_EV_OPTIMIZATION)

static bool is_phase(unsigned kind)
{
    return PHASES >> kind & 1;
}

static void time_summary_add_others(struct oc_time_summary *s)
{
    double host = s->total_ns, device = 0;
    for (uint32_t i = 0; i < s->model.n; i++)
        host -= s->model.item[i].host.total_ns;
    for (size_t i = 0; i < s->profile->timeline->n_event; i++) {
        const struct oc_event *e = &s->profile->timeline->event[i];
        if (oc_event_on_device(e->kind) && e->kind != OC_EV_DEVICE_RANGE &&
            oc_summary_used(s->profile->timeline, e))
            device += e->dur_ns;
    }
    for (uint32_t i = 0; i < s->model.n; i++)
        device -= s->model.item[i].device.total_ns;
    struct oc_sum_item others = {.name = "Others", .type = "", .precision = "", .lane = OC_NONE};
    others.host =
        (struct oc_times){.calls = 1, .total_ns = host, .min_ns = NAN, .max_ns = NAN, .known = true};
    others.device = others.host;
    others.device.total_ns = device;
    others.device.known = s->has_device;
    others.kind = OC_EV_COUNT;
    others.bytes = UINT64_MAX;
    OC_PUSH(s->model.item, s->model.n, s->model.cap) = others;
}

static void time_summary_find_model(struct oc_time_summary *s, const struct oc_timeline *t,
                                    const double *device_ns)
{
    static const uint8_t order[] = {OC_EV_DATALOADER, OC_EV_FORWARD, OC_EV_BACKWARD, OC_EV_OPTIMIZATION};
    bool *inside = oc_xmalloc(t->n_event + 1);
    struct oc_sum_item phase[OC_EV_COUNT] = {0};
    for (size_t i = 0; i < t->n_event; i++) {
        const struct oc_event *e = &t->event[i];
        bool above = e->parent != OC_NONE && e->parent < i && inside[e->parent];
        inside[i] = above || is_phase(e->kind);
        if (!above && is_phase(e->kind) && oc_summary_used(t, e)) {
            oc_summary_times(&phase[e->kind].host, e->dur_ns);
            if (s->has_device)
                oc_summary_times(&phase[e->kind].device, device_ns[i]);
        }
    }
    for (size_t i = 0; i < OC_COUNT(order); i++) {
        struct oc_sum_item *item = &phase[order[i]];
        if (!item->host.known)
            continue;
        item->name = oc_event_kind_name(order[i]);
        item->type = item->precision = "";
        item->kind = order[i];
        item->lane = OC_NONE;
        item->bytes = UINT64_MAX;
        OC_PUSH(s->model.item, s->model.n, s->model.cap) = *item;
    }
    if (s->model.n)
        time_summary_add_others(s);
    free(inside);
}

/* ---- whole summary ---------------------------------------------------------------------------------- */

/* Device work launched inside each host event, nested calls included. Events follow their parents in the
 * order. */
static double *device_time(const struct oc_timeline *t)
{
    double *ns = oc_xcalloc(t->n_event, sizeof(*ns));
    for (size_t i = 0; i < t->n_event; i++) {
        const struct oc_event *e = &t->event[i];
        if (oc_event_on_device(e->kind) && e->kind != OC_EV_DEVICE_RANGE && e->link != OC_NONE)
            ns[e->link] += e->dur_ns;
    }
    for (size_t i = t->n_event; i-- > 0;) {
        const struct oc_event *e = &t->event[i];
        if (e->parent != OC_NONE && e->parent < i && !oc_event_on_device(e->kind))
            ns[e->parent] += ns[i];
    }
    return ns;
}

/* Device work that each host event with a record owns. */
static double *own_device_time(const struct oc_timeline *t)
{
    double *ns = oc_xcalloc(t->n_event + 1, sizeof(*ns));
    for (size_t i = 0; i < t->n_event; i++) {
        uint32_t owner = oc_event_is_work(t->event[i].kind) ? oc_timeline_owner(t, (uint32_t)i) : OC_NONE;
        if (owner != OC_NONE && owner != i)
            ns[owner] += t->event[i].dur_ns;
    }
    return ns;
}

static void summarise_events(struct oc_time_summary *s, const struct oc_sum_table_opts *opts)
{
    const struct oc_timeline *t = s->profile->timeline;
    uint64_t kinds = find_overview(s, t);
    find_total(s, t);
    time_summary_find_runs(s, t, opts);
    struct oc_places *places = oc_places_find(s->profile, t, &s->arena);
    find_lanes(s, t, places);
    find_distribution(s, t, kinds);
    double *device_ns = device_time(t), *own_ns = own_device_time(t);
    if (kinds & PHASES)
        time_summary_find_model(s, t, device_ns);
    oc_summary_event_items(s, opts, device_ns, own_ns, places);
    oc_places_free(places);
    free(own_ns);
    free(device_ns);
}

struct oc_time_summary *oc_time_summary_make(const struct oc_profile *p, const struct oc_sum_table_opts *opts)
{
    static const struct oc_sum_table_opts none;
    struct oc_time_summary *s = oc_xmalloc(sizeof(*s));
    *s = (struct oc_time_summary){.profile = p,
                                  .total_ns = NAN,
                                  .total_is = "",
                                  .communication_ns = NAN,
                                  .computation_ns = NAN,
                                  .overlap_ns = NAN};
    s->run = s->device_run = s->reader_cost = s->batch_cost = s->ips = time_summary_spread_of(NULL, 0);
    s->has_events = p->timeline && p->timeline->n_event;
    if (!opts)
        opts = &none;
    if (s->has_events)
        summarise_events(s, opts);
    oc_summary_record_items(s, opts);
    return s;
}

void oc_time_summary_free(struct oc_time_summary *s)
{
    if (!s)
        return;
    struct oc_sum_list *list[] = {&s->model,  &s->operators, &s->types, &s->kernels,
                                  &s->memory, &s->user,      &s->copies};
    for (size_t i = 0; i < OC_COUNT(list); i++)
        free(list[i]->item);
    oc_arena_free(&s->arena);
    free(s);
}
