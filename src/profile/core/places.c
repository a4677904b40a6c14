/* Places of a timeline, kinds of work without an operator, and work that its stream cannot have done. */
#include "profile/core/places.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/map.h"
#include "base/str.h"
#include "base/units.h"

/* ---- communication ---------------------------------------------------------------------------------- */

/* An operator with "reduce" or "broadcast" in its name works on axes unless a word begins with one of these. */
bool oc_is_collective(const char *name)
{
    static const char *const word[] = {
        "nccl",           "rccl",          "hccl",           "oneccl",          "gloo",
        "mpi:",           "mpi_",          "c10d",           "c_allreduce",     "c_reduce_",
        "c_broadcast",    "c_allgather",   "c_concat",       "c_reduceScatter", "allreduce",
        "all_reduce",     "all-reduce",    "allgather",      "all_gather",      "all-gather",
        "alltoall",       "all_to_all",    "all-to-all",     "reducescatter",   "reduce_scatter",
        "reduce-scatter", "global_gather", "global_scatter", "collective"};
    for (size_t i = 0; i < OC_COUNT(word); i++) {
        const char *at = strcasestr(name, word[i]);
        if (at && (at == name || !oc_is_alnum(at[-1])))
            return true;
    }
    return false;
}

/* ---- places ----------------------------------------------------------------------------------------- */

enum { MAX_PLACES = 4096 };

/* Lanes on which kernels or records ran. free() */
static bool *lanes_that_work(const struct oc_timeline *t, uint32_t n_lane)
{
    bool *works = oc_xcalloc((size_t)n_lane + 1, sizeof(*works));
    for (size_t i = 0; i < t->n_event; i++) {
        const struct oc_event *e = &t->event[i];
        works[e->lane] |= e->kind == OC_EV_KERNEL || e->flags & OC_EVF_RECORD;
    }
    return works;
}

static const char *place_text(struct oc_arena *a, const struct oc_lane *lane, bool processes, bool devices)
{
    bool process = processes && lane->process != OC_NO_ID, device = devices && lane->device_id != OC_NO_ID;
    const char *text = process ? oc_printf(a, "process %lld", (long long)lane->process) : "";
    if (device)
        text = oc_printf(a, "%s%sdevice %lld", text, process ? ", " : "", (long long)lane->device_id);
    return *text ? text : "(unknown device)";
}

/* Which of both parts of a place differs between the lanes of devices; works NULL: between all of them. */
static void find_differences(const struct oc_profile *p, const bool *works, bool *processes, bool *devices)
{
    const struct oc_lane *first = NULL;
    *processes = *devices = false;
    for (uint32_t l = 0; l < p->n_lane; l++) {
        const struct oc_lane *lane = &p->lane[l];
        if ((works && !works[l]) || !lane->device)
            continue;
        first = first ? first : lane;
        *processes |= lane->process != first->process;
        *devices |= lane->device_id != first->device_id;
    }
}

/* A thread is at the place of its process if that has only one. */
static void place_threads(const struct oc_profile *of, struct oc_places *p)
{
    struct oc_arena scratch = {0};
    struct oc_map only = {.arena = &scratch}; /* process to place */
    for (uint32_t l = 0; l < of->n_lane; l++) {
        uint32_t at = p->of_lane[l];
        const char *key = (const char *)&of->lane[l].process;
        if (at != OC_NO_PLACE && !oc_map_add(&only, key, sizeof(of->lane[l].process), &at, NULL) &&
            at != p->of_lane[l])
            oc_map_set(&only, key, sizeof(of->lane[l].process), OC_NO_PLACE);
    }
    for (uint32_t l = 0; l < of->n_lane; l++) {
        const struct oc_lane *lane = &of->lane[l];
        uint32_t at =
            lane->device ? OC_NONE : oc_map_get(&only, (const char *)&lane->process, sizeof(lane->process));
        if (at != OC_NONE)
            p->of_lane[l] = (uint16_t)at;
    }
    oc_map_free(&only);
    oc_arena_free(&scratch);
}

/* An operator of a thread that uses several devices is at the place of its work. */
static void place_operators(const struct oc_timeline *t, struct oc_places *p)
{
    uint16_t mixed = OC_NO_PLACE;
    for (size_t i = 0; i < t->n_event; i++) {
        const struct oc_event *e = &t->event[i];
        uint32_t owner = oc_event_is_work(e->kind) ? oc_timeline_owner(t, (uint32_t)i) : OC_NONE;
        uint16_t here = p->of_lane[e->lane];
        if (owner == OC_NONE || owner == i || here == OC_NO_PLACE ||
            p->of_lane[t->event[owner].lane] != OC_NO_PLACE)
            continue;
        uint16_t *at = &p->of_event[owner];
        if (*at != OC_NO_PLACE && *at != here && mixed == OC_NO_PLACE) {
            mixed = (uint16_t)p->n;
            p->name[p->n++] = "several devices";
        }
        *at = *at == OC_NO_PLACE || *at == here ? here : mixed;
    }
}

/* A device has a place if kernels or records ran on one of its lanes; all of its lanes are there. */
static void place_devices(const struct oc_profile *of, struct oc_places *p, const bool *works,
                          struct oc_arena *a)
{
    struct oc_arena scratch = {0};
    struct oc_map known = {.arena = &scratch};
    bool processes, devices;
    find_differences(of, works, &processes, &devices);
    for (unsigned pass = 0; pass < 2; pass++)
        for (uint32_t l = 0; l < of->n_lane; l++) {
            const int64_t key[2] = {of->lane[l].process, of->lane[l].device_id};
            uint32_t id = p->n < MAX_PLACES ? p->n : MAX_PLACES - 1;
            p->of_lane[l] = OC_NO_PLACE;
            if (!of->lane[l].device)
                continue;
            if (pass)
                p->of_lane[l] = (uint16_t)oc_map_get(&known, (const char *)key, sizeof(key));
            else if (works[l] && oc_map_add(&known, (const char *)key, sizeof(key), &id, NULL) && id == p->n)
                p->name[p->n++] = place_text(a, &of->lane[l], processes, devices);
        }
    oc_map_free(&known);
    oc_arena_free(&scratch);
}

struct oc_places *oc_places_find(const struct oc_profile *of, const struct oc_timeline *t, struct oc_arena *a)
{
    size_t n_lane = of->n_lane;
    bool processes, devices;
    find_differences(of, NULL, &processes, &devices);
    if (!processes && !devices)
        return NULL;
    struct oc_places *p = oc_xcalloc(1, sizeof(*p));
    bool *works = lanes_that_work(t, of->n_lane);
    p->of_lane = oc_xmalloc((n_lane + 1) * sizeof(*p->of_lane));
    p->name = oc_xmalloc((MAX_PLACES + 2) * sizeof(*p->name));
    place_devices(of, p, works, a);
    free(works);
    if (p->n < 2) {
        oc_places_free(p);
        return NULL;
    }
    p->of_event = oc_xmalloc((t->n_event + 1) * sizeof(*p->of_event));
    memset(p->of_event, 0xff, t->n_event * sizeof(*p->of_event));
    place_threads(of, p);
    if (!t->launches)
        place_operators(t, p);
    return p;
}

void oc_places_free(struct oc_places *p)
{
    if (!p)
        return;
    free(p->name);
    free(p->of_lane);
    free(p->of_event);
    free(p);
}

/* ---- times of places -------------------------------------------------------------------------------- */

enum { MAX_TOLD = 8 };

void oc_places_report(struct oc_profile *p)
{
    const char *name[MAX_TOLD];
    double ns[MAX_TOLD] = {0};
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->n_rec; i++) {
        const struct oc_prof_rec *r = &p->rec[i];
        uint32_t k = 0;
        while (r->place && k < n && k < MAX_TOLD && strcmp(name[k], r->place) != 0)
            k++;
        if (!r->place || r->bucket)
            continue;
        if (k == n && n < MAX_TOLD)
            name[n++] = r->place;
        if (k < MAX_TOLD)
            ns[k] += p->event              ? r->share
                     : isnan(r->kernel_ns) ? isnan(r->self_ns) ? 0 : r->self_ns
                                           : r->kernel_ns;
    }
    for (uint32_t i = 0; i < p->n_rec && n < 2; i++)
        p->rec[i].place = NULL;
    if (n < 2)
        return;
    struct oc_buf b = {0};
    char time[32];
    for (uint32_t k = 0; k < n; k++) {
        snprintf(time, sizeof(time), "%.1f %%", 100 * ns[k]);
        oc_buf_printf(&b, "%s%s: %s", k ? "; " : "", name[k],
                      p->event ? time : oc_format_time_ns(ns[k], time, sizeof(time)));
    }
    oc_diag_add(&p->diags, OC_WARNING, "W-several-devices", "",
                "%s%u devices or ranks worked: each has its own rows, and totals and shares are sums over "
                "them (%s%s)",
                n == MAX_TOLD ? "at least " : "", n, b.data, n == MAX_TOLD ? ", ..." : "");
    oc_buf_free(&b);
}

/* ---- overlapping work ------------------------------------------------------------------------------- */

/* Launches do not say which of them belong to one graph, whose kernels may run side by side: only a kernel that lasts
 * much longer than all that ran within it is impossible. In 40 public traces of PyTorch (82,655 kernels and copies) no
 * event covers two later ones of its stream, so no sound one comes near this ratio. */
enum { MIN_COVERED = 2, LAUNCH_RATIO = 8 };

struct covering { /* the work of a lane that ends last so far */
    uint32_t event;
    uint32_t covered; /* later work that ran within it */
    double next_ns;   /* start of the first of them */
    double within_ns; /* time of all of them */
};

struct cuts {
    uint32_t n, covered; /* covered: by the first */
    char name[120], lane[64], was[32], is[32];
};

static void cut(struct oc_timeline *t, const struct covering *c, struct cuts *cuts)
{
    struct oc_event *e = &t->event[c->event];
    const struct oc_lane *lane = &t->lane[e->lane];
    double dur_ns = c->next_ns - e->start_ns;
    if (!cuts->n++) {
        cuts->covered = c->covered;
        snprintf(cuts->name, sizeof(cuts->name), "%s", t->name[e->name]);
        snprintf(cuts->lane, sizeof(cuts->lane), "stream %lld of device %lld", (long long)lane->id,
                 (long long)lane->device_id);
        oc_format_time_ns(e->dur_ns, cuts->was, sizeof(cuts->was));
        oc_format_time_ns(dur_ns, cuts->is, sizeof(cuts->is));
    }
    t->device_ns -= e->dur_ns - dur_ns;
    e->dur_ns = e->self_ns = dur_ns;
}

static bool is_impossible(const struct oc_timeline *t, const struct covering *c)
{
    return c->covered >= MIN_COVERED &&
           (!t->launches || t->event[c->event].dur_ns > LAUNCH_RATIO * c->within_ns);
}

/* Kernels of one launch (a graph) may run side by side. */
static bool same_launch(const struct oc_event *a, const struct oc_event *b)
{
    return a->link != OC_NONE && a->link == b->link;
}

static void take_work(struct oc_timeline *t, struct covering *c, uint32_t i, struct cuts *cuts)
{
    const struct oc_event *e = &t->event[i];
    const struct oc_event *o = c->event == OC_NONE ? NULL : &t->event[c->event];
    if (o && e->start_ns + e->dur_ns < o->start_ns + o->dur_ns) {
        if (e->start_ns <= o->start_ns || same_launch(o, e))
            return;
        c->next_ns = c->covered++ ? c->next_ns : e->start_ns;
        c->within_ns += e->dur_ns;
        return;
    }
    if (o && is_impossible(t, c))
        cut(t, c, cuts);
    *c = (struct covering){.event = i};
}

void oc_timeline_cut_overlaps(struct oc_timeline *t)
{
    struct covering *c = oc_xmalloc(((size_t)t->n_lane + 1) * sizeof(*c));
    struct cuts cuts = {0};
    for (uint32_t l = 0; l < t->n_lane; l++)
        c[l] = (struct covering){.event = OC_NONE};
    for (size_t i = 0; i < t->n_event; i++)
        if (t->event[i].kind == OC_EV_KERNEL && t->event[i].lane < t->n_lane &&
            t->lane[t->event[i].lane].device && t->lane[t->event[i].lane].id != OC_NO_ID)
            take_work(t, &c[t->event[i].lane], (uint32_t)i, &cuts);
    for (uint32_t l = 0; l < t->n_lane; l++)
        if (is_impossible(t, &c[l]))
            cut(t, &c[l], &cuts);
    free(c);
    if (!cuts.n)
        return;
    t->end_ns = 0;
    for (size_t i = 0; i < t->n_event; i++)
        t->end_ns = fmax(t->end_ns, t->event[i].start_ns + t->event[i].dur_ns);
    oc_diag_add(
        &t->profile->diags, OC_WARNING, "W-overlapping-kernels", "",
        "%u kernels end after later kernels of the same stream, which runs one at a time: their times are "
        "cut to the start of the next one (the first: '%s', %s over %u later kernels of %s, cut to %s)",
        cuts.n, cuts.name, cuts.was, cuts.covered, cuts.lane, cuts.is);
}
