#include "profile/launch_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/timeline.h"

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
    oc_run_sums_tell(&l->sums, l->out->stat, l->out->runs_used, rec);
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

/* Host times by label, in order of arrival: first[label] is the start of a label's range. */
static struct launch_host_time *sort_host_times(const struct oc_launches *l, size_t *first)
{
    struct launch_host_time *sorted = oc_xmalloc((l->n_host ? l->n_host : 1) * sizeof(*sorted));
    size_t at = 0;
    memset(first, 0, (l->n_label + 1) * sizeof(*first));
    for (size_t i = 0; i < l->n_host; i++)
        first[l->host[i].label]++;
    for (size_t i = 0; i <= l->n_label; i++) {
        size_t n = first[i];
        first[i] = at;
        at += n;
    }
    for (size_t i = 0; i < l->n_host; i++)
        sorted[first[l->host[i].label]++] = l->host[i];
    for (size_t i = l->n_label; i; i--)
        first[i] = first[i - 1];
    first[0] = 0;
    return sorted;
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
    size_t *first = oc_xmalloc((l->n_label + 1) * sizeof(*first));
    struct launch_host_time *host = sort_host_times(l, first);
    for (uint32_t label = 0; label < l->n_label; label++) {
        uint64_t calls = 0;
        for (size_t i = first[label]; i < first[label + 1]; i++) {
            if (host[i].run < l->drop || host[i].run >= l->n_run)
                continue;
            oc_run_sums_add(&l->sums, host[i].run, host[i].dur_ns);
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
    free(host);
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
