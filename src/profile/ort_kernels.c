#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/ort_trace.h"

#define NS_PER_US 1000.0

/* Device time is attributed to nodes by args.parent_name. Some builds write a kernel's end into ts: only
 * dur is used as time, and ts only to find the run. Kernels without a parent go to the node that all
 * labelled kernels with the same name and launch grid belong to, otherwise to a bucket. */

enum { LOAD = OC_NONE - 1, CUT = OC_NONE - 2, AMBIGUOUS = OC_NONE - 3 };

struct kernels {
    struct ort_trace *t;
    const struct ort_groups *g;
    struct oc_map by_launch; /* kernel name and grid to the only group, or AMBIGUOUS */
    struct oc_arena arena;
    int64_t loaded_us, last_end_us;
    bool sorted_by_time; /* the events of a group are sorted by start */
};

/* The record of the group with that node name that ran last before ts. */
static uint32_t group_at(const struct kernels *k, const char *node, int64_t ts_us)
{
    uint32_t best = OC_NONE;
    int64_t best_ts = INT64_MIN;
    unsigned tries = 0;
    for (uint32_t i = oc_map_get(&k->g->by_name, node, strlen(node)); i != OC_NONE && tries < 64; tries++) {
        const struct ort_group *g = &k->g->group[i];
        if (best == OC_NONE)
            best = i;
        if (!k->sorted_by_time || (best == i && g->same_name == OC_NONE))
            break;
        uint32_t low = 0, high = g->n; /* first event after ts */
        while (low < high) {
            uint32_t mid = low + (high - low) / 2;
            if (k->t->event[k->g->order[g->first + mid]].ts_us <= ts_us)
                low = mid + 1;
            else
                high = mid;
        }
        int64_t ts = low ? k->t->event[k->g->order[g->first + low - 1]].ts_us : INT64_MIN;
        if (low && ts > best_ts) {
            best = i;
            best_ts = ts;
        }
        i = g->same_name;
    }
    return best;
}

static uint32_t labelled_group(const struct kernels *k, const struct ort_event *e)
{
    const struct ort_key *key = &k->t->key[e->key];
    return key->op_type[0] ? group_at(k, key->op_type, e->ts_us) : OC_NONE;
}

static void learn_launches(struct kernels *k)
{
    for (size_t i = 0; i < k->t->n_kernel; i++) {
        const struct ort_event *e = &k->t->kernel[i];
        uint32_t group = labelled_group(k, e), known = group;
        if (group == OC_NONE)
            continue;
        const char *launch = k->t->key[e->key].provider;
        if (!oc_map_add(&k->by_launch, launch, strlen(launch), &known, NULL) && known != group)
            oc_map_set(&k->by_launch, launch, strlen(launch), AMBIGUOUS);
    }
}

/* Kernels are asynchronous: each belongs to the run that started last before it. */
static uint32_t run_of(const struct kernels *k, const struct ort_event *e)
{
    uint32_t run = ort_run_before(k->t, e->ts_us);
    if (run == OC_NONE)
        return e->ts_us <= k->loaded_us || k->t->n_run ? LOAD : CUT;
    return k->t->out->truncated && e->ts_us > k->last_end_us ? CUT : run;
}

struct sorted {
    uint32_t group, run;
    int64_t dur_us;
};

static int by_group(const void *a, const void *b)
{
    const struct sorted *x = a, *y = b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return (x->run > y->run) - (x->run < y->run);
}

static struct sorted *assign(struct kernels *k)
{
    struct sorted *v = oc_xmalloc(k->t->n_kernel * sizeof(*v));
    for (size_t i = 0; i < k->t->n_kernel; i++) {
        const struct ort_event *e = &k->t->kernel[i];
        const char *launch = k->t->key[e->key].provider;
        uint32_t group = labelled_group(k, e);
        if (group == OC_NONE)
            group = oc_map_get(&k->by_launch, launch, strlen(launch));
        if (group == AMBIGUOUS || (group != OC_NONE && k->g->group[group].rec == OC_NONE))
            group = OC_NONE;
        v[i] = (struct sorted){group, run_of(k, e), e->dur_us};
    }
    qsort(v, k->t->n_kernel, sizeof(*v), by_group);
    return v;
}

struct left_out {
    int64_t us;
    uint64_t n;
};

static void add_left_out(struct ort_recs *recs, const struct left_out *l, const char *bucket,
                         const char *name)
{
    if (!l->n)
        return;
    struct oc_prof_rec *rec = ort_add_bucket(recs, bucket, name);
    rec->kernel_ns = rec->total_kernel_ns = (double)l->us * NS_PER_US;
    rec->calls = l->n;
}

static void take_stat(struct ort_trace *t, const struct ort_groups *g, struct ort_recs *recs,
                      struct oc_run_sums *sums, uint32_t group, uint64_t calls)
{
    if (!sums->n)
        return;
    double ns = oc_run_sums_stat(sums, t->out->stat, t->out->runs_used), total_ns = oc_run_sums_total(sums);
    if (group != OC_NONE) {
        struct oc_prof_rec *own = &recs->rec[g->group[group].rec];
        own->kernel_ns = ns;
        own->total_kernel_ns = total_ns;
        own->host_ns = own->self_ns; /* index of the launch */
        t->out->time_kind = "device time";
        return;
    }
    struct oc_prof_rec *rec = ort_add_bucket(recs, "kernels without operator", "(unattributed kernels)");
    rec->kernel_ns = ns;
    rec->total_kernel_ns = total_ns;
    rec->calls = calls;
    rec->runs = sums->n;
}

void ort_attribute_kernels(struct ort_trace *t, const struct ort_groups *g, struct ort_recs *recs,
                           struct oc_run_sums *sums)
{
    if (!t->n_kernel)
        return;
    struct kernels k = {.t = t, .g = g, .last_end_us = INT64_MIN, .loaded_us = INT64_MIN};
    struct left_out load = {0}, warmup = {0}, cut = {0};
    k.by_launch.arena = &k.arena;
    k.sorted_by_time = true;
    for (size_t i = 0; i < g->n; i++)
        k.sorted_by_time &= g->group[i].lane == g->group[0].lane;
    for (size_t i = 0; i < t->n_session; i++)
        if (strcmp(t->session[i].name, "session_initialization") == 0)
            k.loaded_us = t->session[i].ts_us + t->session[i].dur_us;
    for (size_t i = 0; i < t->n_run; i++)
        if (t->run[i].start_us + t->run[i].dur_us > k.last_end_us)
            k.last_end_us = t->run[i].start_us + t->run[i].dur_us;
    learn_launches(&k);
    struct sorted *v = assign(&k);
    uint64_t calls = 0;
    oc_run_sums_clear(sums);
    for (size_t i = 0; i < t->n_kernel; i++) {
        struct left_out *l = v[i].run == LOAD ? &load : v[i].run == CUT ? &cut : &warmup;
        if (l == &warmup && t->run[v[i].run].used) {
            oc_run_sums_add(sums, v[i].run, (double)v[i].dur_us * NS_PER_US);
            calls++;
        } else {
            l->us += v[i].dur_us;
            l->n++;
        }
        if (i + 1 == t->n_kernel || v[i + 1].group != v[i].group) {
            take_stat(t, g, recs, sums, v[i].group, calls);
            oc_run_sums_clear(sums);
            calls = 0;
        }
    }
    add_left_out(recs, &load, "load", "(kernels while loading)");
    add_left_out(recs, &warmup, "warm-up runs", "(kernels of warm-up runs)");
    add_left_out(recs, &cut, "incomplete run", "(kernels of the incomplete run)");
    free(v);
    oc_map_free(&k.by_launch);
    oc_arena_free(&k.arena);
}
