#include "profile/core/launches.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/core/rec_list.h"
#include "profile/core/run_fold.h"
#include "profile/core/run_sums.h"
#include "profile/core/timeline.h"
#include "onnxcost/profile.h"

#define MAX_LAUNCHES ((size_t)1 << 31)
#define MAX_LANES    60000
#define LAUNCH_MEMO  1024
enum { LAUNCH_CUT = OC_NONE - 1 }; /* the last, incomplete repetition of a run */

struct launch_entry { /* 32 bytes: a trace may hold 10^8 of them */
    double start_ns, dur_ns;
    uint32_t group, run;
    uint32_t lane, shape;
};

struct launch_group { /* launches with the same name and label */
    const char *name;
    uint32_t label, lane, rec;
    uint8_t kind;
    uint64_t first, n; /* index range in the sorted order */
    uint64_t where;
    double bytes, flop; /* sums over launches with a known value */
    uint64_t n_bytes, n_flop;
    struct launch_counters *counters; /* scratch, NULL: none */
};

struct launch_counters {
    double sum[OC_CTR_COUNT];
    uint64_t n[OC_CTR_COUNT];
};

struct launch_host_time {
    uint32_t label, run;
    double dur_ns;
};

struct launch_run {
    double busy_ns, first_ns, end_ns; /* first launch and end of its launches */
};

struct oc_launches {
    struct oc_profile *out;
    const struct oc_profile_opts *opts;
    struct oc_arena scratch;
    struct launch_entry *entry;
    size_t n, cap;
    struct launch_group *group;
    size_t n_group, group_cap;
    struct oc_map groups, labels, lanes; /* keys: raw bytes of small structs */
    struct oc_label *label;
    size_t n_label, label_cap;
    struct launch_host_time *host;
    size_t n_host, host_cap;
    struct oc_lane *lane;
    size_t n_lane, lane_cap;
    struct {
        const char *name;
        uint32_t label, group;
    } memo[LAUNCH_MEMO];
    bool unsorted;
    double total_ns; /* totals over all launches, summed on arrival */
    /* used only while finishing */
    struct launch_run *run;
    uint32_t n_run, drop;
    uint32_t *order;
    struct oc_run_sums sums, group_sums;
    struct oc_rec_list recs;
};

static bool launch_is_used(const struct oc_launches *l, const struct launch_entry *e)
{
    return e->run >= l->drop && e->run < l->n_run;
}

struct oc_launches *oc_launches_new(struct oc_profile *out, const struct oc_profile_opts *opts)
{
    struct oc_launches *l = oc_xmalloc(sizeof(*l));
    memset(l, 0, sizeof(*l));
    l->out = out;
    l->opts = opts;
    l->groups.arena = l->labels.arena = l->lanes.arena = &l->scratch;
    return l;
}

void oc_launches_free(struct oc_launches *l)
{
    if (!l)
        return;
    free(l->entry);
    free(l->group);
    free(l->label);
    free(l->host);
    free(l->lane);
    free(l->run);
    free(l->order);
    free(l->recs.rec);
    oc_run_sums_free(&l->sums);
    oc_run_sums_free(&l->group_sums);
    oc_map_free(&l->groups);
    oc_map_free(&l->labels);
    oc_map_free(&l->lanes);
    oc_arena_free(&l->scratch);
    free(l);
}

void oc_label_describe(const struct oc_label *label, struct oc_prof_rec *rec)
{
    rec->name = label->name;
    rec->op_type = label->op_type;
    rec->provider = label->provider;
    rec->index = label->index;
    rec->in = label->in;
    rec->n_in = label->n_in;
    rec->has_in = label->has_in;
}

/* ---- adding launches -------------------------------------------------------------------------------- */

uint32_t oc_launches_label(struct oc_launches *l, const struct oc_label *label, const char *variant)
{
    char *key = oc_printf(&l->scratch, "%s\x1f%s\x1f%lld\x1f%s", label->name, label->op_type,
                          (long long)label->index, variant ? variant : "");
    uint32_t id = (uint32_t)l->n_label;
    if (oc_map_add(&l->labels, key, strlen(key), &id, NULL)) {
        OC_GROW(l->label, l->n_label, l->label_cap);
        l->label[l->n_label++] = *label;
    }
    return id;
}

void oc_launches_host(struct oc_launches *l, uint32_t label, uint32_t run, double dur_ns)
{
    OC_GROW(l->host, l->n_host, l->host_cap);
    l->host[l->n_host++] = (struct launch_host_time){label, run, dur_ns};
}

uint32_t oc_launches_lane(struct oc_launches *l, int64_t process, int64_t device, int64_t stream)
{
    int64_t key[3] = {process, device, stream};
    uint32_t id = l->n_lane < MAX_LANES ? (uint32_t)l->n_lane : MAX_LANES - 1;
    if (!oc_map_add(&l->lanes, (const char *)key, sizeof(key), &id, NULL) || l->n_lane == MAX_LANES)
        return id;
    OC_GROW(l->lane, l->n_lane, l->lane_cap);
    l->lane[l->n_lane++] =
        (struct oc_lane){.name = "", .device = true, .process = process, .device_id = device, .id = stream};
    return id;
}

static uint32_t launches_group_of(struct oc_launches *l, const struct oc_launch *x)
{
    struct {
        const char *name;
        uint32_t label, kind;
    } key = {x->name, x->label, x->kind};
    uint32_t id = (uint32_t)l->n_group;
    if (!oc_map_add(&l->groups, (const char *)&key, sizeof(key), &id, NULL))
        return id;
    OC_GROW(l->group, l->n_group, l->group_cap);
    l->group[l->n_group++] = (struct launch_group){.name = x->name,
                                                   .label = x->label,
                                                   .lane = x->lane,
                                                   .kind = x->kind,
                                                   .where = x->where,
                                                   .rec = OC_NONE};
    return id;
}

static uint32_t known_group(struct oc_launches *l, const struct oc_launch *x)
{
    size_t slot = (((uintptr_t)x->name >> 4) + (size_t)x->label * 31 + x->kind) % LAUNCH_MEMO;
    if (l->memo[slot].name != x->name || l->memo[slot].label != x->label ||
        l->group[l->memo[slot].group].kind != x->kind) {
        l->memo[slot].group = launches_group_of(l, x);
        l->memo[slot].name = x->name;
        l->memo[slot].label = x->label;
    }
    return l->memo[slot].group;
}

static void add_counters(struct oc_launches *l, struct launch_group *g, const struct oc_prof_counters *c)
{
    if (!g->counters)
        g->counters = OC_NEW(&l->scratch, struct launch_counters);
    for (unsigned i = 0; i < OC_CTR_COUNT; i++) {
        g->counters->sum[i] += isnan(c->v[i]) ? 0 : c->v[i];
        g->counters->n[i] += isnan(c->v[i]) ? 0 : 1;
    }
}

bool oc_launches_add(struct oc_launches *l, const struct oc_launch *x)
{
    if (l->n == MAX_LAUNCHES)
        return false;
    uint32_t id = known_group(l, x);
    struct launch_group *g = &l->group[id];
    if (!isnan(x->bytes)) {
        g->bytes += x->bytes;
        g->n_bytes++;
    }
    if (!isnan(x->flop)) {
        g->flop += x->flop;
        g->n_flop++;
    }
    if (x->counters)
        add_counters(l, g, x->counters);
    g->n++;
    l->unsorted |= l->n && l->entry[l->n - 1].start_ns > x->start_ns;
    OC_GROW(l->entry, l->n, l->cap);
    l->entry[l->n++] = (struct launch_entry){x->start_ns, x->dur_ns, id, x->run, x->lane, x->shape};
    l->total_ns += x->dur_ns;
    return true;
}

size_t oc_launches_count(const struct oc_launches *l)
{
    return l->n;
}

/* ---- order and runs --------------------------------------------------------------------------------- */

static int launch_runs_by_start(const void *a, const void *b)
{
    const struct launch_entry *x = a, *y = b;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return (x->group > y->group) - (x->group < y->group);
}

/* The lane with the most launches, *n. */
static uint32_t busiest_lane(const struct oc_launches *l, size_t *n)
{
    uint32_t lanes = 1, best = 0;
    for (size_t i = 0; i < l->n; i++)
        lanes = l->entry[i].lane >= lanes ? l->entry[i].lane + 1 : lanes;
    size_t *count = oc_xcalloc(lanes, sizeof(*count));
    for (size_t i = 0; i < l->n; i++)
        count[l->entry[i].lane]++;
    for (uint32_t k = 0; k < lanes; k++)
        best = count[k] > count[best] ? k : best;
    *n = count[best];
    free(count);
    return best;
}

/* The same name in two groups (of two labels) is the same work. */
static void launch_runs_make_sequence(struct oc_launches *l, struct oc_work_sequence *x)
{
    struct oc_map names = {.arena = &l->scratch};
    size_t n;
    uint32_t lane = busiest_lane(l, &n), named = 0;
    oc_sequence_init(x, n);
    for (size_t i = 0; i < l->n; i++) {
        const struct launch_entry *e = &l->entry[i];
        const struct launch_group *g = &l->group[e->group];
        uint32_t name = named;
        if (e->lane != lane)
            continue;
        named += oc_map_add(&names, (const char *)&g->name, sizeof(g->name), &name, NULL);
        oc_sequence_add(x, (uint32_t)i, name, e->shape, g->kind, g->name, e->start_ns, e->dur_ns);
    }
    oc_map_free(&names);
}

/* Launches of other lanes belong to the run in which they start. */
static void launch_runs_assign_runs(struct oc_launches *l, const struct oc_work_sequence *x,
                                    const struct oc_fold *f)
{
    size_t last = f->start[f->n_run];
    double end_ns = last < x->n ? x->start_ns[last] : (double)INFINITY;
    double cut_ns = f->cut == x->n ? (double)INFINITY : x->start_ns[f->cut];
    uint32_t run = 0;
    for (size_t i = 0; i < l->n; i++) {
        struct launch_entry *e = &l->entry[i];
        while (run < f->n_run && e->start_ns >= x->start_ns[f->start[run]])
            run++;
        e->run = !run                   ? OC_NONE
                 : e->start_ns < end_ns ? run - 1
                 : e->start_ns < cut_ns ? LAUNCH_CUT
                                        : OC_NONE;
    }
    for (uint32_t k = 0; k < f->n_run; k++) /* launches that start at the same time */
        for (size_t i = f->start[k]; i < f->start[k + 1]; i++)
            l->entry[x->index[i]].run = k;
}

static uint32_t launch_runs_find_runs(struct oc_launches *l)
{
    struct oc_work_sequence x;
    struct oc_fold f;
    launch_runs_make_sequence(l, &x);
    bool found = oc_sequence_fold(&x, l->opts->iterations, NULL, "launches", l->out, &f);
    for (size_t i = 0; i < l->n && !found; i++)
        l->entry[i].run = 0;
    if (found)
        launch_runs_assign_runs(l, &x, &f);
    uint32_t n_run = found ? f.n_run : 1;
    free(f.start);
    oc_sequence_free(&x);
    return n_run;
}

static void launch_runs_choose_runs(struct oc_launches *l, bool known)
{
    struct oc_profile *p = l->out;
    l->drop = oc_prof_use_runs(p, l->n_run, l->opts->warmup);
    p->runs_total = known ? l->n_run : 0;
    if (p->runs_from == OC_RUNS_UNKNOWN && known) /* not found by repetition */
        p->runs_from = OC_RUNS_MARKED;
}

/* Busy time: the interval union of the launches of a run, over all streams. */
static void launch_runs_measure_runs(struct oc_launches *l)
{
    l->run = oc_xmalloc(l->n_run * sizeof(*l->run));
    for (uint32_t i = 0; i < l->n_run; i++)
        l->run[i] = (struct launch_run){.first_ns = NAN, .end_ns = NAN};
    for (size_t i = 0; i < l->n; i++) {
        const struct launch_entry *e = &l->entry[i];
        if (e->run >= l->n_run)
            continue;
        struct launch_run *r = &l->run[e->run];
        double from_ns = e->start_ns, end_ns = e->start_ns + e->dur_ns;
        if (isnan(r->first_ns))
            r->first_ns = from_ns;
        else if (from_ns < r->end_ns)
            from_ns = r->end_ns;
        r->busy_ns += end_ns > from_ns ? end_ns - from_ns : 0;
        r->end_ns = r->end_ns >= end_ns ? r->end_ns : end_ns;
    }
}

static void set_run_times(struct oc_launches *l, bool known)
{
    struct oc_profile *p = l->out;
    struct oc_run_sums *s = &l->sums;
    for (uint32_t i = l->drop; i < l->n_run; i++)
        if (!isnan(l->run[i].first_ns))
            oc_run_sums_add(s, i, l->run[i].end_ns - l->run[i].first_ns);
    if (known) {
        oc_run_sums_spread(s, &p->spread);
        p->stat = oc_run_spread_stat(&p->spread, l->opts->stat, &p->diags);
    }
    p->run_ns = known ? oc_run_sums_stat(s, p->stat, p->runs_used) : (double)NAN;
    oc_run_sums_clear(s);
    for (uint32_t i = l->drop; i < l->n_run; i++)
        oc_run_sums_add(s, i, l->run[i].busy_ns);
    p->busy_ns = oc_run_sums_stat(s, p->stat, p->runs_used);
    oc_run_sums_clear(s);
}

/* Sorts the launches, detects the runs (n_run 0: by repetition) and computes their durations. Returns
 * whether runs are known. */
static bool launch_find_runs(struct oc_launches *l, uint32_t n_run)
{
    bool known = n_run > 0;
    if (l->unsorted)
        qsort(l->entry, l->n, sizeof(*l->entry), launch_runs_by_start);
    l->n_run = known ? n_run : launch_runs_find_runs(l);
    known |= l->n_run > 1;
    launch_runs_choose_runs(l, known);
    if (!known && l->n > 1)
        oc_diag_add(&l->out->diags, OC_WARNING, "W-no-run", "",
                    "the file marks no runs and no repetition shows them: times are those of the whole "
                    "recording (--iterations N divides them)");
    oc_run_sums_init(&l->sums, l->n_run);
    oc_run_sums_init(&l->group_sums, l->n_run);
    launch_runs_measure_runs(l);
    set_run_times(l, known);
    return known;
}

/* ---- records ---------------------------------------------------------------------------------------- */

/* Destination of a group's launches in used runs: its label, its own name, or a bucket. */
struct home {
    const char *bucket, *name; /* bucket NULL: a record */
    uint32_t label;            /* OC_NONE: none */
};

static struct home home_of(const struct launch_group *g, bool kernels_are_records)
{
    if (g->label != OC_NONE)
        return (struct home){NULL, NULL, g->label};
    if (g->kind != OC_EV_KERNEL)
        return (struct home){"copies", g->name, OC_NONE};
    if (kernels_are_records)
        return (struct home){NULL, g->name, OC_NONE};
    return (struct home){"kernels without operator", "(kernels without operator)", OC_NONE};
}

struct place { /* start of a record, for execution order */
    uint32_t run;
    double start_ns;
    uint32_t id; /* index of its home */
};

static int launch_records_by_place(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->run != y->run)
        return x->run < y->run ? -1 : 1;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

/* Numbers the homes of groups; *n: their count. */
static uint32_t *number_homes(struct oc_launches *l, bool kernels_are_records, uint32_t *n)
{
    uint32_t *home = oc_xmalloc((l->n_group ? l->n_group : 1) * sizeof(*home));
    struct oc_map ids = {.arena = &l->scratch};
    *n = 0;
    for (size_t i = 0; i < l->n_group; i++) {
        struct home h = home_of(&l->group[i], kernels_are_records);
        char key[2 * sizeof(void *) + sizeof(uint32_t)];
        memcpy(key, &h.bucket, sizeof(void *));
        memcpy(key + sizeof(void *), &h.name, sizeof(void *));
        memcpy(key + 2 * sizeof(void *), &h.label, sizeof(uint32_t));
        home[i] = *n;
        *n += oc_map_add(&ids, key, sizeof(key), &home[i], NULL);
    }
    oc_map_free(&ids);
    return home;
}

/* Creates records in execution order; group.rec: the group's record. */
static void launch_records_make_records(struct oc_launches *l, bool kernels_are_records)
{
    uint32_t n_home, *home = number_homes(l, kernels_are_records, &n_home);
    struct place *place = oc_xmalloc((n_home ? n_home : 1) * sizeof(*place));
    uint32_t *rec_of = oc_xmalloc((n_home ? n_home : 1) * sizeof(*rec_of));
    for (uint32_t i = 0; i < n_home; i++)
        place[i] = (struct place){OC_NONE, 0, i};
    for (size_t i = 0; i < l->n; i++) {
        const struct launch_entry *e = &l->entry[i];
        struct place *p = &place[home[e->group]];
        double from_ns = launch_is_used(l, e) ? e->start_ns - l->run[e->run].first_ns : 0;
        if (launch_is_used(l, e) &&
            (p->run == OC_NONE || e->run < p->run || (e->run == p->run && from_ns < p->start_ns))) {
            p->run = e->run;
            p->start_ns = from_ns;
        }
    }
    if (n_home)
        qsort(place, n_home, sizeof(*place), launch_records_by_place);
    for (uint32_t i = 0; i < n_home; i++) {
        rec_of[place[i].id] = place[i].run == OC_NONE ? OC_NONE : (uint32_t)l->recs.n;
        if (place[i].run != OC_NONE)
            oc_rec_add_named(&l->recs, NULL, NULL)->start_ns = place[i].start_ns;
    }
    for (size_t i = 0; i < l->n_group; i++) {
        struct launch_group *g = &l->group[i];
        g->rec = rec_of[home[i]];
        struct oc_prof_rec *rec = g->rec == OC_NONE ? NULL : &l->recs.rec[g->rec];
        if (!rec || rec->name)
            continue;
        struct home h = home_of(g, kernels_are_records);
        rec->name = h.name;
        rec->bucket = h.bucket;
        rec->lane = g->lane;
        rec->where = g->where;
        if (h.label != OC_NONE)
            oc_label_describe(&l->label[h.label], rec);
    }
    free(place);
    free(home);
    free(rec_of);
}

/* Launches by group, in time order: a counting sort of their indices. */
static void order_by_group(struct oc_launches *l)
{
    uint64_t first = 0;
    for (size_t i = 0; i < l->n_group; i++) {
        l->group[i].first = first;
        first += l->group[i].n;
        l->group[i].n = 0;
    }
    l->order = oc_xmalloc((l->n ? l->n : 1) * sizeof(*l->order));
    for (size_t i = 0; i < l->n; i++) {
        struct launch_group *g = &l->group[l->entry[i].group];
        l->order[g->first + g->n++] = (uint32_t)i;
    }
}

/* ---- times ------------------------------------------------------------------------------------------ */

struct adding { /* groups of a record */
    uint64_t calls;
    double total_ns, flop, bytes; /* flop and bytes: NAN if one launch lacks them */
};

static const struct oc_prof_counters *mean_counters(struct oc_profile *p, const struct launch_counters *c)
{
    if (!c)
        return NULL;
    struct oc_prof_counters *mean = OC_NEW(&p->arena, struct oc_prof_counters);
    for (unsigned i = 0; i < OC_CTR_COUNT; i++)
        mean->v[i] = c->n[i] ? c->sum[i] / (double)c->n[i] : (double)NAN;
    return mean;
}

/* One kernel of the profile's table, and its part of the record. */
static void launch_records_add_group(struct oc_launches *l, struct launch_group *g, struct adding *a)
{
    struct oc_profile *p = l->out;
    struct oc_prof_kernel *k = &p->kernel[p->n_kernel];
    *k = oc_prof_kernel_new(g->name, g->kind);
    k->rec = g->rec;
    k->lane = g->lane;
    k->min_ns = INFINITY;
    k->max_ns = 0;
    if (g->n_flop)
        k->flop = g->flop / (double)g->n_flop;
    if (g->n_bytes)
        k->bytes = g->bytes / (double)g->n_bytes;
    for (uint64_t i = g->first; i < g->first + g->n; i++) {
        const struct launch_entry *e = &l->entry[l->order[i]];
        if (!launch_is_used(l, e))
            continue;
        oc_run_sums_add(&l->group_sums, e->run, e->dur_ns);
        k->calls++;
        k->total_ns += e->dur_ns;
        k->min_ns = e->dur_ns < k->min_ns ? e->dur_ns : k->min_ns;
        k->max_ns = e->dur_ns > k->max_ns ? e->dur_ns : k->max_ns;
    }
    for (uint32_t i = 0; i < l->group_sums.n; i++)
        oc_run_sums_add(&l->sums, l->group_sums.touched[i], l->group_sums.sum[l->group_sums.touched[i]]);
    k->time_ns = oc_run_sums_stat(&l->group_sums, p->stat, p->runs_used);
    oc_run_sums_clear(&l->group_sums);
    if (!k->calls)
        return;
    k->counters = mean_counters(p, g->counters);
    a->calls += k->calls;
    a->total_ns += k->total_ns;
    a->flop += k->flop * (double)k->calls;
    a->bytes += k->bytes * (double)k->calls;
    p->n_kernel++;
}

static void launch_records_finish_rec(struct oc_launches *l, struct oc_prof_rec *rec, const struct adding *a)
{
    double runs = (double)l->out->runs_used;
    oc_run_sums_store(&l->sums, l->out->stat, l->out->runs_used, rec);
    rec->self_ns = rec->kernel_ns = rec->time_ns;
    rec->calls = a->calls;
    rec->calls_per_run = (double)a->calls / runs;
    rec->total_kernel_ns = a->total_ns;
    rec->flop = a->flop / runs;
    rec->bytes = a->bytes / runs;
}

struct by_rec {
    uint32_t rec, group;
};

static int by_rec(const void *a, const void *b)
{
    const struct by_rec *x = a, *y = b;
    if (x->rec != y->rec)
        return x->rec < y->rec ? -1 : 1;
    return (x->group > y->group) - (x->group < y->group);
}

static void sum_records(struct oc_launches *l)
{
    struct by_rec *v = oc_xmalloc((l->n_group ? l->n_group : 1) * sizeof(*v));
    size_t n = 0;
    for (size_t i = 0; i < l->n_group; i++)
        if (l->group[i].rec != OC_NONE)
            v[n++] = (struct by_rec){l->group[i].rec, (uint32_t)i};
    if (n)
        qsort(v, n, sizeof(*v), by_rec);
    l->out->kernel = OC_NEW_ARRAY(&l->out->arena, n ? n : 1, struct oc_prof_kernel);
    for (size_t i = 0; i < n;) {
        struct adding a = {0};
        uint32_t rec = v[i].rec;
        for (; i < n && v[i].rec == rec; i++)
            launch_records_add_group(l, &l->group[v[i].group], &a);
        launch_records_finish_rec(l, &l->recs.rec[rec], &a);
        oc_run_sums_clear(&l->sums);
    }
    free(v);
}

/* ---- time outside the used runs --------------------------------------------------------------------- */

static void launch_records_add_unused(struct oc_launches *l)
{
    enum { WARMUP, INCOMPLETE, OUTSIDE, KINDS };
    static const char *const bucket[KINDS] = {"warm-up runs", "incomplete run", "outside runs"};
    static const char *const name[KINDS] = {"(launches of warm-up runs)", "(launches of the incomplete run)",
                                            "(launches outside runs)"};
    double ns[KINDS] = {0};
    uint64_t n[KINDS] = {0};
    for (size_t i = 0; i < l->n; i++) {
        const struct launch_entry *e = &l->entry[i];
        unsigned kind = e->run < l->drop ? WARMUP : e->run == LAUNCH_CUT ? INCOMPLETE : OUTSIDE;
        if (launch_is_used(l, e))
            continue;
        ns[kind] += e->dur_ns;
        n[kind]++;
    }
    for (unsigned i = 0; i < KINDS; i++) {
        if (!n[i])
            continue;
        struct oc_prof_rec *rec = oc_rec_add_named(&l->recs, bucket[i], name[i]);
        rec->time_ns = rec->self_ns = rec->kernel_ns = rec->total_kernel_ns = ns[i];
        rec->calls = n[i];
    }
}

/* ---- host time -------------------------------------------------------------------------------------- */

/* Host times by label, in order of arrival: first[label] is the first one, the result the next one of each.
 */
static uint32_t *chain_host_times(const struct oc_launches *l, uint32_t *first)
{
    uint32_t *next = oc_xmalloc(l->n_host * sizeof(*next));
    memset(first, 0xff, l->n_label * sizeof(*first));
    for (size_t i = l->n_host; i-- > 0;) {
        next[i] = first[l->host[i].label];
        first[l->host[i].label] = (uint32_t)i;
    }
    return next;
}

/* A label that launched nothing becomes a record if it is known to be an operator: it took no device time. */
static struct oc_prof_rec *rec_without_launch(struct oc_launches *l, uint32_t label)
{
    const struct oc_label *x = &l->label[label];
    if (!x->op_type[0])
        return NULL;
    struct oc_prof_rec *rec = oc_rec_add(&l->recs);
    oc_label_describe(x, rec);
    oc_rec_time(rec, 0);
    rec->kernel_ns = rec->total_kernel_ns = 0;
    rec->runs = l->sums.n;
    return rec;
}

static void set_host_times(struct oc_launches *l)
{
    uint32_t *rec_of = oc_xmalloc((l->n_label ? l->n_label : 1) * sizeof(*rec_of));
    memset(rec_of, 0xff, l->n_label * sizeof(*rec_of));
    for (size_t i = 0; i < l->n_group; i++)
        if (l->group[i].label != OC_NONE)
            rec_of[l->group[i].label] = l->group[i].rec;
    uint32_t *first = oc_xmalloc(l->n_label * sizeof(*first)), *next = chain_host_times(l, first);
    for (uint32_t label = 0; label < l->n_label; label++) {
        uint64_t calls = 0;
        for (uint32_t i = first[label]; i != OC_NONE; i = next[i]) {
            const struct launch_host_time *host = &l->host[i];
            if (host->run < l->drop || host->run >= l->n_run)
                continue;
            oc_run_sums_add(&l->sums, host->run, host->dur_ns);
            calls++;
        }
        struct oc_prof_rec *rec = rec_of[label] != OC_NONE ? &l->recs.rec[rec_of[label]]
                                  : calls                  ? rec_without_launch(l, label)
                                                           : NULL;
        if (rec && calls) {
            rec->host_ns = oc_run_sums_stat(&l->sums, l->out->stat, l->out->runs_used);
            rec->calls = rec_of[label] == OC_NONE ? calls : rec->calls;
            rec->calls_per_run = (double)rec->calls / l->out->runs_used;
        }
        oc_run_sums_clear(&l->sums);
    }
    free(rec_of);
    free(first);
    free(next);
}

/* ---- finish ----------------------------------------------------------------------------------------- */

void oc_launches_finish(struct oc_launches *l, uint32_t n_run, bool kernels_are_records)
{
    struct oc_profile *p = l->out;
    p->stat = l->opts->stat;
    p->time_kind = "device time";
    p->imported_kernel_ns = l->total_ns;
    launch_find_runs(l, n_run);
    launch_records_make_records(l, kernels_are_records);
    order_by_group(l);
    sum_records(l);
    launch_records_add_unused(l);
    if (n_run || l->n_run == 1) /* host times are per run of the source */
        set_host_times(l);
    oc_rec_list_end(&l->recs, p);
    p->lane = OC_COPY_ARRAY(&p->arena, l->lane, l->n_lane);
    p->n_lane = (uint32_t)l->n_lane;
}
