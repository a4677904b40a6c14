/* The event engine: adds events, closes the list. */
#include "profile/core/timeline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/str.h"
#include "onnxcost/profile.h"
#include "profile/core/kernel_names.h"
#include "profile/core/places.h"
#include "profile/core/timeline_parts.h"

#define MAX_LANES   65000
#define MAX_DETAILS 65536 /* sets of shapes: some kilobytes each, with their records */
#define MAX_TIME    ((int64_t)1 << 62)
#define FAR_NS      0x1p49 /* six days: a double still resolves a sixteenth of a nanosecond */

static const char *const kind_name[] = {
    [OC_EV_OPERATOR] = "operator",
    [OC_EV_INNER] = "inner",
    [OC_EV_STEP] = "step",
    [OC_EV_DATALOADER] = "dataloader",
    [OC_EV_FORWARD] = "forward",
    [OC_EV_BACKWARD] = "backward",
    [OC_EV_OPTIMIZATION] = "optimization",
    [OC_EV_COMMUNICATION] = "communication",
    [OC_EV_API] = "api",
    [OC_EV_SYNC] = "sync",
    [OC_EV_USER] = "user",
    [OC_EV_PYTHON] = "python",
    [OC_EV_FRAMEWORK] = "framework",
    [OC_EV_KERNEL] = "kernel",
    [OC_EV_MEMCPY] = "memcpy",
    [OC_EV_MEMSET] = "memset",
    [OC_EV_DEVICE_RANGE] = "device_range",
};
_Static_assert(OC_COUNT(kind_name) == OC_EV_COUNT, "one name per kind");
_Static_assert(sizeof(struct oc_event) <= 48, "a stored event takes 48 bytes at most");

const char *oc_event_kind_name(unsigned kind)
{
    return kind < OC_EV_COUNT ? kind_name[kind] : "?";
}

/* ---- adding events ---------------------------------------------------------------------------------- */

struct oc_timeline *oc_timeline_new(struct oc_profile *p)
{
    struct oc_timeline *t = oc_xmalloc(sizeof(*t));
    *t = (struct oc_timeline){.profile = p,
                              .cpu_process_share = (double)NAN,
                              .cpu_system_share = (double)NAN,
                              .first_ns = (double)INFINITY,
                              .last_ns = -(double)INFINITY};
    t->max_events = (size_t)oc_input_limit(&p->limits, OC_LIMIT_EVENTS);
    t->likely = oc_xcalloc(OC_LIKELY_NAMES, sizeof(*t->likely));
    t->name_of.arena = t->detail_of.arena = t->lane_of.arena = &t->scratch;
    return t;
}

static void free_maps(struct oc_timeline *t)
{
    oc_map_free(&t->name_of);
    oc_map_free(&t->detail_of);
    oc_map_free(&t->lane_of);
    oc_arena_free(&t->scratch);
    free(t->lane);
    free(t->likely);
    t->lane = NULL;
    t->likely = NULL;
}

void oc_timeline_free(struct oc_timeline *t)
{
    if (!t)
        return;
    free_maps(t);
    free(t->event);
    free(t->name);
    free(t->operator_type);
    free(t->detail);
    free(t->run);
    oc_launches_free(t->launches);
    free(t);
}

static uint32_t find_name(struct oc_timeline *t, const char *text, size_t n)
{
    uint32_t id = t->n_name;
    const char *stored;
    if (!oc_map_add(&t->name_of, text, n, &id, &stored))
        return id;
    OC_PUSH(t->name, t->n_name, t->cap_name) = oc_intern(&t->profile->names, text, n);
    return id;
}

uint32_t oc_timeline_name(struct oc_timeline *t, const char *text, size_t n)
{
    struct oc_likely_name *likely = &t->likely[(t->last_name * 31 + t->name_before) % OC_LIKELY_NAMES];
    if (!likely->text || likely->n != n || !oc_same(likely->text, text, n)) {
        uint32_t id = find_name(t, text, n);
        *likely = (struct oc_likely_name){t->name[id], n, id};
    }
    t->name_before = t->last_name;
    t->last_name = likely->name;
    return likely->name;
}

uint16_t oc_timeline_lane(struct oc_timeline *t, const struct oc_lane *lane)
{
    int64_t key[4] = {lane->device, lane->process, lane->device_id, lane->id};
    uint32_t id = t->n_lane;
    const char *name = lane->name ? lane->name : "";
    if (t->n_lane == MAX_LANES) { /* more than the index type holds: the rest share the last one */
        id = oc_map_get(&t->lane_of, (const char *)key, sizeof(key));
        id = id == OC_NONE ? t->n_lane - 1 : id;
    } else if (oc_map_add(&t->lane_of, (const char *)key, sizeof(key), &id, NULL)) {
        OC_GROW(t->lane, t->n_lane, t->cap_lane);
        t->lane[t->n_lane] = *lane;
        t->lane[t->n_lane++].name = "";
    }
    if (name[0] && !t->lane[id].name[0])
        t->lane[id].name = oc_strdup(&t->profile->arena, name);
    return (uint16_t)id;
}

uint32_t oc_timeline_detail(struct oc_timeline *t, const void *key, size_t n, bool *is_new)
{
    uint32_t id = t->n_detail;
    *is_new = false;
    if (id >= MAX_DETAILS) {
        id = oc_map_get(&t->detail_of, key, n);
        t->left_out += id == OC_NONE;
        return id;
    }
    *is_new = oc_map_add(&t->detail_of, key, n, &id, NULL);
    if (!*is_new)
        return id;
    OC_PUSH(t->detail, t->n_detail, t->cap_detail) = (struct oc_event_detail){.bytes = UINT64_MAX};
    return id;
}

uint32_t oc_timeline_bytes(struct oc_timeline *t, uint64_t bytes)
{
    bool is_new;
    uint32_t id = oc_timeline_detail(t, &bytes, sizeof(bytes), &is_new);
    if (is_new)
        t->detail[id].bytes = bytes;
    return id;
}

double oc_timeline_at(struct oc_timeline *t, int64_t ns)
{
    ns = ns > MAX_TIME - 1 ? MAX_TIME - 1 : ns < -MAX_TIME ? -MAX_TIME : ns;
    if (!t->has_base) {
        t->base_ns = ns;
        t->has_base = true;
    }
    return (double)(ns - t->base_ns);
}

static void timeline_measure(struct oc_timeline *t, const struct oc_event *e)
{
    double end_ns = e->start_ns + e->dur_ns;
    t->first_ns = e->start_ns < t->first_ns ? e->start_ns : t->first_ns;
    t->last_ns = end_ns > t->last_ns ? end_ns : t->last_ns;
    if (e->kind >= OC_EV_KERNEL && e->kind <= OC_EV_MEMSET)
        t->device_ns += e->dur_ns;
    t->kinds |= (uint32_t)1 << e->kind;
}

/* Until the timeline is linked, self_ns holds the launch number and link the owner number. */
bool oc_timeline_add(struct oc_timeline *t, const struct oc_event *e, uint64_t launch, uint32_t owner)
{
    if (t->n_event == t->max_events) {
        t->full = true;
        oc_prof_over(t->profile, OC_LIMIT_EVENTS);
        return false;
    }
    struct oc_event *new = &OC_PUSH(t->event, t->n_event, t->cap_event);
    *new = *e;
    memcpy(&new->self_ns, &launch, sizeof(launch));
    new->link = owner;
    new->parent = new->run = OC_NONE;
    timeline_measure(t, e);
    t->far |= !(fabs(e->start_ns) < FAR_NS && e->dur_ns < FAR_NS);
    return true;
}

/* ---- runs ------------------------------------------------------------------------------------------- */

static void timeline_add_run(struct oc_timeline *t, double start_ns, double end_ns)
{
    OC_PUSH(t->run, t->n_run, t->cap_run) = (struct oc_interval){start_ns, end_ns};
}

void oc_timeline_add_run(struct oc_timeline *t, double start_ns, double dur_ns)
{
    timeline_add_run(t, start_ns, start_ns + dur_ns);
}

static int by_interval(const void *a, const void *b)
{
    const struct oc_interval *x = a, *y = b;
    return x->start_ns != y->start_ns ? (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns)
                                      : (x->end_ns > y->end_ns) - (x->end_ns < y->end_ns);
}

/* Runs that were added while reading: by start, on the clock of the first event. */
static void settle_runs(struct oc_timeline *t, double first_ns)
{
    for (uint32_t i = 0; i < t->n_run; i++)
        t->run[i] = (struct oc_interval){t->run[i].start_ns - first_ns, t->run[i].end_ns - first_ns};
    if (t->n_run)
        qsort(t->run, t->n_run, sizeof(*t->run), by_interval);
}

/* Runs per second from start to start, 0: the inverse of their duration. What a loop of training does between the runs
 * belongs to its steps; unmarked runs of inference are device work, and the rest of a run may be in the pauses, if those
 * take most of the time. */
static double timeline_rate(const struct oc_timeline *t, bool training)
{
    double used_ns = 0;
    uint32_t first = t->first_used_run, n = t->n_run - first;
    if (n < 2 || first >= t->n_run)
        return 0;
    for (uint32_t k = first; k + 1 < t->n_run; k++)
        used_ns += t->run[k].end_ns - t->run[k].start_ns;
    double all_ns = t->run[t->n_run - 1].start_ns - t->run[first].start_ns;
    return all_ns > 0 && (training || 2 * used_ns < all_ns) ? 1e9 * (n - 1) / all_ns : 0;
}

static void timeline_choose_runs(struct oc_timeline *t, int32_t warmup)
{
    struct oc_profile *p = t->profile;
    t->first_used_run = oc_prof_use_runs(p, t->n_run, warmup);
    p->runs_total = t->runs_implicit ? 0 : t->n_run;
    p->training |=
        (t->kinds & (1u << OC_EV_BACKWARD | 1u << OC_EV_OPTIMIZATION)) != 0 || oc_timeline_trains(t);
    if (!t->runs_found)
        p->runs_from = t->runs_implicit ? OC_RUNS_UNKNOWN : OC_RUNS_MARKED;
    if (t->runs_found || t->runs_follow)
        p->runs_per_s = timeline_rate(t, p->training);
}

/* ---- finishing -------------------------------------------------------------------------------------- */

/* Events weeks apart from the others are errors; a double could not resolve times next to theirs. */
static void drop_far(struct oc_timeline *t)
{
    size_t n = 0, near = 0;
    for (size_t i = 0; i < t->n_event; i++)
        near += fabs(t->event[i].start_ns) < FAR_NS;
    double middle = near * 2 >= t->n_event ? 0 : t->event[t->n_event / 2].start_ns;
    t->first_ns = (double)INFINITY;
    t->last_ns = -(double)INFINITY;
    t->device_ns = 0;
    t->kinds = 0;
    for (size_t i = 0; i < t->n_event; i++) {
        const struct oc_event *e = &t->event[i];
        if (!(fabs(e->start_ns - middle) < FAR_NS && e->dur_ns < FAR_NS))
            continue;
        timeline_measure(t, e);
        t->event[n++] = *e;
    }
    if (n < t->n_event)
        oc_diag_add(&t->profile->diags, OC_WARNING, "W-far-event", "",
                    "%zu events were skipped: they lie days apart from the others", t->n_event - n);
    t->n_event = n;
}

/* Kinds of events that have records. */
static uint32_t kinds_of_records(const struct oc_timeline *t, const struct oc_timeline_rules *rules)
{
    if (t->kinds & 1u << OC_EV_OPERATOR)
        return 1u << OC_EV_OPERATOR;
    if (rules->user_are_operators && t->kinds & 1u << OC_EV_USER)
        return 1u << OC_EV_USER;
    return rules->kernel_are_records ? 1u << OC_EV_KERNEL : 0;
}

/* Selects the events with records; links every host event to its record's event. */
static void mark_records(struct oc_timeline *t, uint32_t wanted, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        struct oc_event *e = &t->event[i];
        bool device = oc_event_on_device(e->kind), node = oc_timeline_is_node(t, e);
        bool record = node || wanted >> e->kind & 1;
        uint32_t up = device || e->parent == OC_NONE ? OC_NONE : t->event[e->parent].link;
        if (record && (up == OC_NONE || !(t->event[up].flags & OC_EVF_LEAF))) {
            e->flags |= OC_EVF_RECORD | (node ? OC_EVF_LEAF : 0);
            up = (uint32_t)i;
        }
        if (!device)
            e->link = up;
    }
}

/* Kernels that no operator launched have rows of their own: of graphs, of kernels that Python compiles, in a file
 * without operators. */
static void mark_kernels(struct oc_timeline *t)
{
    for (size_t i = 0; i < t->n_event; i++) {
        struct oc_event *e = &t->event[i];
        if (e->kind != OC_EV_KERNEL)
            continue;
        uint32_t owner = oc_timeline_owner(t, (uint32_t)i);
        t->owns_kernels |= owner != OC_NONE && owner != i;
        e->flags |= owner == OC_NONE ? OC_EVF_RECORD : 0;
    }
}

static void nest_and_mark(struct oc_timeline *t, const struct oc_timeline_rules *rules)
{
    struct oc_nesting *nesting = oc_nesting_begin(t, (1u << OC_EV_KERNEL) - 1, 0, true);
    struct oc_steps steps = {.n = 0};
    uint32_t wanted = kinds_of_records(t, rules);
    for (size_t from = 0, to; from < t->n_event; from = to) {
        to = oc_timeline_turn(t, from);
        oc_timeline_settle(t, from, to);
        oc_nesting_go_on(nesting, from, to);
        mark_records(t, wanted, from, to);
        oc_steps_find(t, &steps, from, to);
    }
    oc_nesting_end(nesting);
    if (t->kinds >> OC_EV_KERNEL & 1) {
        oc_timeline_cut_overlaps(t);
        mark_kernels(t);
        t->owns_kernels |= !rules->kernel_are_records;
    }
    if (t->operator_type)
        oc_timeline_shapes_of_nodes(t);
    oc_timeline_mark_captured(t);
    oc_steps_make_runs(t, &steps);
    if (!t->n_run && t->operator_type)
        oc_timeline_runs_of_nodes(t);
}

void oc_timeline_finish(struct oc_timeline *t, const struct oc_profile_opts *opts,
                        const struct oc_timeline_rules *rules)
{
    if (t->far)
        drop_far(t);
    oc_timeline_sort(t, t->n_event ? t->first_ns : 0);
    settle_runs(t, t->n_event ? t->first_ns : 0);
    t->end_ns = t->n_event ? t->last_ns - t->first_ns : 0;
    if (t->launches) {
        t->n_run = t->launches->n_run;
        oc_timeline_cut_overlaps(t);
    } else {
        oc_timeline_link(t);
        oc_timeline_name_operators(t, opts->operators);
        nest_and_mark(t, rules);
    }
    if (!t->n_run && rules->find_runs && !opts->iterations && !t->launches)
        oc_timeline_runs_of_optimizer(t);
    if (!t->n_run && rules->find_runs)
        oc_timeline_find_runs(t, opts);
    if (!t->n_run) {
        t->runs_implicit = true;
        timeline_add_run(t, 0, t->end_ns + 1);
        if (t->n_event > 1 || !t->launches)
            oc_diag_add(&t->profile->diags, OC_WARNING, "W-no-run", "",
                        "the file marks no runs and no repetition shows them: times are those of the whole "
                        "recording (--iterations N divides them)");
    }
    if (!t->launches || !t->launches->n_run)
        oc_timeline_assign_runs(t);
    if (t->launches)
        oc_launches_measure_runs(t);
    else if (!t->runs_implicit)
        oc_timeline_extend_runs(t);
    timeline_choose_runs(t, opts->warmup);
    struct oc_profile *p = t->profile;
    if (t->left_out)
        oc_diag_add(&p->diags, OC_WARNING, "W-many-shapes", "",
                    "shapes change so often that only the first %u different sets are kept: %llu later calls "
                    "have a row without shapes",
                    (unsigned)MAX_DETAILS, (unsigned long long)t->left_out);
    p->n_lane = t->n_lane;
    p->lane = OC_COPY_ARRAY(&p->arena, t->lane, t->n_lane);
    free_maps(t);
}

void oc_timeline_keep(struct oc_timeline *t, const struct oc_profile_opts *opts)
{
    if (opts->keep_events)
        t->profile->timeline = t;
    else
        oc_timeline_free(t);
}

int oc_timeline_close(struct oc_timeline *t, int rc, const struct oc_profile_opts *opts,
                      const struct oc_timeline_rules *rules)
{
    if (rc) {
        oc_timeline_free(t);
        return rc;
    }
    oc_timeline_finish(t, opts, rules);
    oc_timeline_records(t, opts, rules);
    oc_timeline_keep(t, opts);
    return 0;
}

/* ---- queries ---------------------------------------------------------------------------------------- */

uint32_t oc_timeline_owner(const struct oc_timeline *t, uint32_t i)
{
    const struct oc_event *e = &t->event[i];
    if (e->flags & OC_EVF_RECORD)
        return i;
    if (!oc_event_on_device(e->kind) || e->link == OC_NONE)
        return e->link;
    return t->event[e->link].flags & OC_EVF_RECORD ? e->link : t->event[e->link].link;
}
