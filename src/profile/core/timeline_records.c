/* Converts a finished timeline to records: the time of one name (and one set of shapes, and one position
 * among the calls of a run) in the used runs. During this, the link of an operator is its group and the
 * parent of device work is its kernel; both are restored at the end if events are kept. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ck.h"
#include "onnxcost/profile.h"
#include "profile/core/records.h"
#include "profile/core/timeline_parts.h"

enum { AHEAD = 16, HOST_KINDS = (1 << OC_EV_KERNEL) - 1 };

static const struct {
    const char *bucket, *name, *launches; /* launches: name, if they are */
} bucket_of[B_COUNT] = {
    [B_FRAMEWORK] = {"framework", "(framework)", NULL},
    [B_COPIES] = {"copies", OC_REST_COPIES, NULL},
    [B_WARMUP] = {"warm-up runs", "(warm-up runs)", "(launches of warm-up runs)"},
    [B_INCOMPLETE] = {"incomplete run", NULL, "(launches of the incomplete run)"},
    [B_OUTSIDE] = {"outside runs", "(outside runs)", "(launches outside runs)"},
};

/* ---- sums per run ----------------------------------------------------------------------------------- */

/* Mean over the selected runs of a quantity of all runs. */
static double stat_of_runs(struct making *m, const double *by_run)
{
    oc_run_sums_clear(&m->all);
    for (uint32_t i = m->t->first_used_run; i < m->t->n_run; i++)
        oc_run_sums_add(&m->all, i, by_run[i]);
    return oc_run_sums_stat(&m->all, &m->choice);
}

/* ---- device work ------------------------------------------------------------------------------------ */

static uint32_t timeline_records_find_kernel(struct making *m, const struct oc_event *e, uint32_t group)
{
    uint32_t key[3] = {e->name, e->kind, group}, id = m->n_kernel;
    if (!oc_map_add(&m->kernel_of, (const char *)key, sizeof(key), &id, NULL))
        return id;
    OC_PUSH(m->kernel, m->n_kernel, m->cap_kernel) = (struct kernel){.name = e->name,
                                                                     .group = group,
                                                                     .next = OC_NONE,
                                                                     .likely = OC_NONE,
                                                                     .lane = e->lane,
                                                                     .kind = e->kind};
    if (group != OC_NONE && e->kind == OC_EV_KERNEL) {
        m->kernel[id].next = m->group[group].first_kernel;
        m->group[group].first_kernel = id;
    }
    return id;
}

/* Tries the kernel that followed last time. */
static uint32_t kernel_of(struct making *m, const struct oc_event *e, uint32_t group)
{
    uint32_t id = m->last_kernel == OC_NONE ? OC_NONE : m->kernel[m->last_kernel].likely;
    const struct kernel *k = id == OC_NONE ? NULL : &m->kernel[id];
    if (!k || k->name != e->name || k->kind != e->kind || k->group != group) {
        id = timeline_records_find_kernel(m, e, group);
        if (m->last_kernel != OC_NONE)
            m->kernel[m->last_kernel].likely = id;
    }
    m->last_kernel = id;
    return id;
}

static void timeline_records_leave(struct making *m, enum bucket b, const struct oc_event *e, double host_ns,
                                   double device_ns)
{
    struct left *l = &m->left[b];
    l->calls++;
    l->host_ns += host_ns;
    l->device_ns += device_ns;
    l->host |= !oc_event_on_device(e->kind);
    l->device |= oc_event_on_device(e->kind);
    if (m->sum[b] && e->run != OC_NONE)
        m->sum[b][e->run] += host_ns + device_ns;
}

static enum bucket unused_bucket(const struct making *m, const struct oc_event *e)
{
    const struct oc_timeline *t = m->t;
    if (oc_timeline_is_earlier(t, e))
        return B_OUTSIDE;
    return e->run != OC_NONE || e->start_ns < t->run[t->first_used_run].start_ns ? B_WARMUP : B_OUTSIDE;
}

/* The group that a kernel works for. OC_NONE: none; *own is set to whether it has an operator at all. */
static uint32_t group_of_device(const struct oc_timeline *t, uint32_t i, bool *own)
{
    *own = true;
    if (t->event[i].flags & OC_EVF_RECORD)
        return t->event[i].parent;
    uint32_t owner = oc_timeline_owner(t, i);
    *own = owner != OC_NONE;
    return *own ? t->event[owner].link : OC_NONE;
}

static void sort_device(struct making *m, size_t from, size_t to)
{
    struct oc_timeline *t = m->t;
    for (size_t i = from; i < to && m->device; i++) {
        struct oc_event *e = &t->event[i];
        bool own;
        if (e->kind < OC_EV_KERNEL || e->kind > OC_EV_MEMSET)
            continue;
        uint32_t group = group_of_device(t, (uint32_t)i, &own);
        e->parent = OC_NONE;
        bool in = oc_timeline_used(m->t, e->run) && (group != OC_NONE || !own || e->kind != OC_EV_KERNEL);
        if (!in)
            timeline_records_leave(m, unused_bucket(m, e), e, 0, e->dur_ns);
        else if (e->kind != OC_EV_KERNEL)
            timeline_records_leave(m, B_COPIES, e, 0, e->dur_ns);
        if (!in)
            continue;
        e->parent = kernel_of(m, e, group);
        m->kernel[e->parent].calls.n++;
    }
}

static void sort_launches(struct making *m, size_t from, size_t to)
{
    struct oc_timeline *t = m->t;
    for (size_t i = from; i < to; i++) {
        struct oc_event *e = &t->event[i];
        bool used = oc_timeline_used(t, e->run);
        enum bucket b = e->run < t->n_run ? B_WARMUP : e->run == OC_RUN_CUT ? B_INCOMPLETE : B_OUTSIDE;
        if (!used)
            timeline_records_leave(m, b, e, 0, e->dur_ns);
        e->parent = used ? t->launches->work[e->parent].kernel : OC_NONE;
    }
}

/* Adds operators to their groups, and the remaining time to buckets. */
static void sort_host(struct making *m, size_t from, size_t to)
{
    struct oc_timeline *t = m->t;
    for (size_t i = from; i < to; i++) {
        struct oc_event *e = &t->event[i];
        if (e->kind == OC_EV_STEP && m->host_records)
            timeline_records_leave(m, oc_timeline_used(m->t, e->run) ? B_FRAMEWORK : B_WARMUP, e, e->self_ns,
                                   0);
        if (!(e->flags & OC_EVF_RECORD) || oc_event_on_device(e->kind))
            continue;
        if (e->link == OC_NONE)
            timeline_records_leave(m, unused_bucket(m, e), e, e->self_ns, 0);
        else
            m->group[e->link].calls.n++;
    }
}

/* Operators before and after their run do not count: the host around a run that was found, other threads, other
 * processes. */
static void timeline_records_add_busy(struct making *m, size_t from, size_t to)
{
    const struct oc_timeline *t = m->t;
    for (size_t i = from; i < to; i++) {
        const struct oc_event *e = &t->event[i];
        bool host = !oc_event_on_device(e->kind);
        if (e->run < t->n_run && e->kind >= OC_EV_KERNEL && e->kind <= OC_EV_MEMSET)
            m->device_busy[e->run] +=
                oc_union_add(&m->device_reached[e->run], e->start_ns, e->start_ns + e->dur_ns);
        if (!(e->flags & OC_EVF_RECORD) || e->run >= t->n_run || (m->host_records && !t->launches && !host))
            continue;
        double from_ns = fmax(e->start_ns, t->run[e->run].start_ns),
               to_ns = fmin(e->start_ns + e->dur_ns, t->run[e->run].end_ns);
        if (from_ns < to_ns)
            m->busy[e->run] += oc_union_add(&m->run_reached[e->run], from_ns, to_ns);
    }
}

/* The interval union of operators and runs per lane, computed independently of the records. */
static void add_imported(struct making *m, size_t from, size_t to)
{
    const struct oc_timeline *t = m->t;
    for (size_t i = from; i < to; i++) {
        const struct oc_event *e = &t->event[i];
        bool step = e->kind == OC_EV_STEP && m->host_records;
        if (oc_event_on_device(e->kind) || (!step && !(e->flags & OC_EVF_RECORD)))
            continue;
        m->host = true;
        m->host_ns += oc_union_add(&m->lane_reached[e->lane], e->start_ns, e->start_ns + e->dur_ns);
    }
}

/* ---- records ---------------------------------------------------------------------------------------- */

/* Returns call i of n and prefetches a later one: calls are one run apart in memory. */
static inline const struct oc_event *call_at(const struct making *m, const struct calls *c, uint32_t i)
{
    const uint32_t *order = m->order + c->end - c->n;
    const char *ahead = (const char *)&m->t->event[order[i + AHEAD < c->n ? i + AHEAD : c->n - 1]];
    __builtin_prefetch(ahead);
    __builtin_prefetch(ahead + sizeof(struct oc_event) - 1);
    return &m->t->event[order[i]];
}

static void host_times(struct making *m, const struct group *g, struct oc_prof_rec *rec)
{
    bool nested = false, captured = true;
    oc_run_sums_clear(&m->all);
    oc_run_sums_clear(&m->part);
    rec->total_ns = 0;
    for (uint32_t i = 0; i < g->calls.n; i++) {
        const struct oc_event *e = call_at(m, &g->calls, i);
        oc_run_sums_add(&m->all, e->run, e->dur_ns);
        oc_run_sums_add(&m->part, e->run, e->self_ns);
        rec->total_ns += e->self_ns;
        nested |= e->self_ns != e->dur_ns;
        captured &= (e->flags & OC_EVF_CAPTURED) != 0;
        rec->calls++;
    }
    rec->is_launch = captured;
    oc_run_sums_store(&m->all, &m->choice, rec);
    rec->self_ns = nested ? oc_run_sums_stat(&m->part, &m->choice) : rec->time_ns;
    if (nested)
        oc_run_sums_quantiles(&m->part, rec);
}

/* Adds the calls of a kernel to its statistics, to the sums, and to *group_sums and *group_ns of all
 * kernels of its operator. */
static void add_kernel_calls(struct making *m, uint32_t k, struct oc_run_sums *group_sums, double *group_ns)
{
    struct oc_timeline *t = m->t;
    struct oc_prof_kernel *out = &t->profile->kernel[k];
    const struct calls *calls = &m->kernel[k].calls;
    double bytes = 0;
    oc_run_sums_clear(&m->part);
    for (uint32_t i = 0; i < calls->n; i++) {
        const struct oc_event *e = call_at(m, calls, i);
        uint64_t n = e->detail == OC_NONE || t->launches ? UINT64_MAX : t->detail[e->detail].bytes;
        bytes += n == UINT64_MAX ? (double)NAN : (double)n;
        oc_run_sums_add(&m->part, e->run, e->dur_ns);
        if (group_sums)
            oc_run_sums_add(group_sums, e->run, e->dur_ns);
        *group_ns += e->dur_ns;
        out->min_ns = e->dur_ns < out->min_ns ? e->dur_ns : out->min_ns;
        out->max_ns = e->dur_ns > out->max_ns ? e->dur_ns : out->max_ns;
        out->total_ns += e->dur_ns;
        out->calls++;
    }
    out->time_ns = oc_run_sums_stat(&m->part, &m->choice);
    if (m->kernel[k].kind != OC_EV_KERNEL)
        out->bytes = bytes / (double)out->calls;
}

static void device_times(struct making *m, const struct group *g, struct oc_prof_rec *rec)
{
    const struct oc_prof_kernel *of = m->t->profile->kernel;
    uint32_t first = g->first_kernel;
    uint64_t calls = 0;
    bool one = first != OC_NONE && m->kernel[first].next == OC_NONE && g->calls.n;
    oc_run_sums_clear(&m->all);
    rec->total_kernel_ns = 0;
    for (uint32_t k = first; k != OC_NONE; k = m->kernel[k].next) {
        add_kernel_calls(m, k, one ? NULL : &m->all, &rec->total_kernel_ns);
        calls += of[k].calls;
    }
    rec->kernel_ns = one ? of[first].time_ns : first == OC_NONE ? 0 : oc_run_sums_stat(&m->all, &m->choice);
    rec->host_ns = rec->self_ns; /* a call without launches takes zero device time: known */
    if (g->calls.n) {
        rec->min_ns = rec->p10_ns = rec->median_ns = rec->p90_ns = rec->max_ns = 0;
        if (first != OC_NONE)
            oc_run_sums_quantiles(one ? &m->part : &m->all, rec);
        return;
    }
    rec->calls = calls; /* a kernel with its own record */
    oc_run_sums_store(&m->all, &m->choice, rec);
    rec->self_ns = rec->time_ns;
}

/* Length of the type in a name. TorchInductor numbers its kernels: "triton_poi_fused_add_relu_7". */
static size_t length_of_type(const char *name)
{
    static const char inductor[] = "triton_";
    size_t n = strlen(name), stem = n;
    while (stem && oc_is_digit(name[stem - 1]))
        stem--;
    bool numbered = stem < n && stem > sizeof(inductor) && name[stem - 1] == '_';
    return numbered && strncmp(name, inductor, sizeof(inductor) - 1) == 0 ? stem - 1 : n;
}

static void timeline_records_describe(struct making *m, const struct group *g, struct oc_prof_rec *rec)
{
    const struct oc_timeline *t = m->t;
    const char *type = t->operator_type ? t->operator_type[g->name] : NULL;
    rec->name = t->name[g->name];
    type = type ? type : rec->name;
    rec->op_type = oc_intern(&t->profile->names, type, length_of_type(type));
    if (g->rest)
        rec->op_type = rec->rest = oc_rest_of_kernel(rec->name);
    rec->lane = g->lane;
    rec->parent = g->parent == OC_NONE ? OC_NONE : m->group[g->parent].rec;
    rec->start_ns = g->start_ns;
    if (g->detail != OC_NONE && t->detail[g->detail].has_in) {
        rec->in = t->detail[g->detail].in;
        rec->n_in = t->detail[g->detail].n_in;
        rec->has_in = true;
        rec->values = t->detail[g->detail].values;
    }
}

/* Groups in order of their first calls; of launches, those of the first used run come first. */
static void list_groups(struct making *m)
{
    struct oc_first_call *order = oc_xmalloc((m->n_group + 1) * sizeof(*order));
    for (uint32_t i = 0; i < m->n_group; i++)
        if (m->group[i].run != OC_NONE)
            order[m->n_list++] = (struct oc_first_call){i, m->group[i].run, m->group[i].start_ns};
    oc_sort_first_calls(order, m->n_list, m->t->launches != NULL);
    m->list = oc_xmalloc((m->n_list + 1) * sizeof(*m->list));
    for (uint32_t i = 0; i < m->n_list; i++)
        m->group[m->list[i] = order[i].group].rec = i;
    free(order);
}

static void fill_bucket(struct making *m, enum bucket b, struct oc_prof_rec *rec)
{
    const struct left *l = &m->left[b];
    *rec = oc_prof_rec_new("");
    rec->bucket = bucket_of[b].bucket;
    rec->name = m->t->launches ? bucket_of[b].launches : bucket_of[b].name;
    rec->calls = l->calls;
    rec->total_ns = l->host ? l->host_ns : (double)NAN;
    rec->total_kernel_ns = l->device ? l->device_ns : (double)NAN;
    if (m->sum[b]) {
        double stat = stat_of_runs(m, m->sum[b]);
        rec->runs = m->t->profile->runs_used;
        rec->calls_per_run = b == B_FRAMEWORK ? (double)l->calls / rec->runs : (double)NAN;
        *(l->host ? &rec->time_ns : &rec->kernel_ns) = stat;
    } else {
        rec->time_ns = m->t->launches ? rec->total_kernel_ns : rec->total_ns;
        rec->kernel_ns = rec->total_kernel_ns;
    }
    rec->self_ns = rec->time_ns;
}

static void timeline_records_make_record(struct making *m, const struct group *g, struct oc_prof_rec *rec)
{
    *rec = oc_prof_rec_new("");
    if (g->calls.n)
        host_times(m, g, rec);
    if (m->device)
        device_times(m, g, rec);
    rec->is_launch &= !(rec->kernel_ns > 0);
    (m->t->launches ? oc_launches_describe : timeline_records_describe)(m, g, rec);
    rec->calls_per_run = rec->runs ? (double)rec->calls / m->t->profile->runs_used : (double)NAN;
    rec->place = g->place == OC_NO_PLACE ? NULL : m->places->name[g->place];
}

static void make_timeline_records(struct making *m)
{
    struct oc_profile *p = m->t->profile;
    uint32_t labels = m->t->launches ? m->t->launches->n_label : 0;
    p->rec = OC_NEW_ARRAY(&p->arena, (size_t)m->n_list + B_COUNT + labels, struct oc_prof_rec);
    for (uint32_t i = 0; i < m->n_list;)
        for (uint32_t end = oc_timeline_order_groups(m, i); i < end; i++)
            timeline_records_make_record(m, &m->group[m->list[i]], &p->rec[i]);
    p->n_rec = m->n_list;
    for (unsigned b = 0; b < B_COUNT; b++)
        if (m->left[b].calls)
            fill_bucket(m, (enum bucket)b, &p->rec[p->n_rec++]);
}

/* Kernels and copies with their own records; the others are added with their operators. */
static void begin_kernels(struct making *m)
{
    struct oc_timeline *t = m->t;
    struct oc_profile *p = t->profile;
    p->kernel = OC_NEW_ARRAY(&p->arena, m->n_kernel ? m->n_kernel : 1, struct oc_prof_kernel);
    p->n_kernel = m->n_kernel;
    for (uint32_t k = 0; k < m->n_kernel; k++) {
        p->kernel[k] = oc_prof_kernel_new(t->name[m->kernel[k].name], m->kernel[k].kind);
        p->kernel[k].lane = m->kernel[k].lane;
        p->kernel[k].min_ns = INFINITY;
        p->kernel[k].max_ns = 0;
    }
}

static void end_kernels(struct making *m)
{
    struct oc_prof_kernel *of = m->t->profile->kernel;
    double ns = 0;
    for (uint32_t k = 0; k < m->n_kernel; k++)
        of[k].rec = m->kernel[k].group == OC_NONE ? OC_NONE : m->group[m->kernel[k].group].rec;
    for (uint32_t k = 0; k < m->n_kernel;)
        for (uint32_t end = oc_timeline_order_kernels(m, k); k < end; k++)
            if (!of[k].calls) /* part of no operator */
                add_kernel_calls(m, k, NULL, &ns);
}

/* ---- totals ----------------------------------------------------------------------------------------- */

/* m->all: times of the used runs. */
static void take_run_times(struct making *m)
{
    const struct oc_timeline *t = m->t;
    oc_run_sums_clear(&m->all);
    for (uint32_t i = t->first_used_run; i < t->n_run; i++)
        if (!isnan(t->run[i].start_ns))
            oc_run_sums_add(&m->all, i, t->run[i].end_ns - t->run[i].start_ns);
}

/* Devices that executed kernels or operators. */
static uint32_t count_devices(const struct oc_timeline *t)
{
    const struct oc_profile *p = t->profile;
    bool *works = oc_xcalloc((size_t)p->n_lane + 1, sizeof(*works));
    int64_t *id = oc_xmalloc(((size_t)p->n_lane + 1) * sizeof(*id));
    uint32_t n = 0, different = 0;
    for (size_t i = 0; i < t->n_event && p->n_lane > 1; i++) {
        const struct oc_event *e = &t->event[i];
        works[e->lane] |= e->kind == OC_EV_KERNEL || e->flags & OC_EVF_RECORD;
    }
    for (uint32_t l = 0; l < p->n_lane; l++)
        if (works[l] && p->lane[l].device)
            id[n++] = p->lane[l].device_id;
    qsort(id, n, sizeof(*id), oc_by_i64);
    for (uint32_t k = 0; k < n; k++)
        different += !k || id[k] != id[k - 1];
    free(id);
    free(works);
    return different;
}

static void timeline_records_set_totals(struct making *m)
{
    struct oc_timeline *t = m->t;
    struct oc_profile *p = t->profile;
    p->imported_ns = m->host ? m->host_ns : (double)NAN;
    p->imported_kernel_ns = m->device ? t->device_ns : (double)NAN;
    p->time_kind = m->device ? "device time" : "host time";
    p->busy_on_device = !m->host_records;
    p->busy_ns = p->run_ns = (double)NAN;
    if (!t->runs_implicit || t->launches)
        p->busy_ns = stat_of_runs(m, m->busy);
    if (t->runs_implicit) {
        p->n_device = count_devices(t);
        return;
    }
    if (m->device)
        p->device_busy_ns = stat_of_runs(m, m->device_busy);
    take_run_times(m);
    p->run_ns = oc_run_sums_stat(&m->all, &m->choice);
}

/* The runs that the times are means of. The runs of a recording that marks none are those of its whole time. */
static void timeline_records_choose_runs(struct making *m, enum oc_stat wanted)
{
    struct oc_timeline *t = m->t;
    struct oc_profile *p = t->profile;
    take_run_times(m);
    if (!t->runs_implicit) {
        oc_run_sums_spread(&m->all, &p->spread);
        p->stat = oc_run_spread_stat(&p->spread, wanted, &p->diags);
    } else {
        p->stat = OC_STAT_SUM;
        oc_run_sums_clear(&m->all);
        for (uint32_t i = t->first_used_run; i < t->n_run; i++)
            oc_run_sums_add(&m->all, i, 0);
    }
    oc_run_sums_choose(&m->all, p->stat, t->n_run, &m->choice);
    p->runs_selected = m->choice.n;
}

/* Restores links and parents to their state after oc_timeline_finish. */
static void restore_links(struct oc_timeline *t)
{
    for (size_t i = 0; i < t->n_event; i++) {
        struct oc_event *e = &t->event[i];
        if (oc_event_on_device(e->kind))
            e->parent = OC_NONE;
        else if (e->flags & OC_EVF_RECORD)
            e->link = (uint32_t)i;
    }
    struct oc_nesting *nesting = oc_nesting_begin(t, HOST_KINDS, 0, false);
    oc_nesting_go_on(nesting, 0, t->n_event);
    oc_nesting_end(nesting);
}

/* True also where nothing has a record and the device does nothing: the steps are the host's. */
static bool has_host_records(const struct oc_timeline *t)
{
    bool device = t->launches || t->kinds >> OC_EV_KERNEL;
    for (size_t i = 0; i < t->n_event && device && !t->launches; i++)
        if (t->event[i].flags & OC_EVF_RECORD && !oc_event_on_device(t->event[i].kind))
            return true;
    return !device;
}

static void timeline_records_begin(struct making *m)
{
    struct oc_timeline *t = m->t;
    size_t n = t->n_run;
    oc_run_sums_init(&m->all, n);
    oc_run_sums_init(&m->part, n);
    m->busy = oc_xcalloc(n, sizeof(double));
    m->device_busy = oc_xcalloc(n, sizeof(double));
    m->run_reached = oc_xcalloc(n, sizeof(double));
    m->device_reached = oc_xcalloc(n, sizeof(double));
    m->lane_reached = oc_xcalloc(t->n_lane, sizeof(double));
    for (unsigned b = B_FRAMEWORK; b <= B_COPIES; b++)
        m->sum[b] = oc_xcalloc(n, sizeof(double));
    m->host_records = has_host_records(t);
    m->device = (t->kinds & (1u << OC_EV_KERNEL | 1u << OC_EV_MEMCPY | 1u << OC_EV_MEMSET)) != 0;
}

static void timeline_records_end(struct making *m)
{
    oc_timeline_forget_groups(m);
    oc_places_free(m->places);
    oc_map_free(&m->kernel_of);
    for (unsigned b = 0; b < B_COUNT; b++)
        free(m->sum[b]);
    oc_run_sums_free(&m->all);
    oc_run_sums_free(&m->part);
    oc_run_choice_free(&m->choice);
    free(m->busy);
    free(m->device_busy);
    free(m->run_reached);
    free(m->device_reached);
    free(m->lane_reached);
    free(m->order);
    free(m->group);
    free(m->list);
    free(m->caller);
    free(m->kernel);
}

/* Creates groups and self times for each event that has a record. False: too many groups. */
static bool nest_and_group(struct making *m)
{
    struct oc_timeline *t = m->t;
    struct oc_nesting *nesting = oc_nesting_begin(t, HOST_KINDS, OC_EVF_RECORD, false);
    bool few = true;
    oc_timeline_begin_groups(m);
    for (size_t from = 0, to; from < t->n_event && few; from = to) {
        to = oc_timeline_turn(t, from);
        oc_nesting_go_on(nesting, from, to);
        few = oc_timeline_make_groups(m, from, to);
    }
    oc_nesting_end(nesting);
    return few;
}

static void sort_and_sum(struct making *m)
{
    m->last_kernel = OC_NONE;
    for (size_t from = 0, to; from < m->t->n_event; from = to) {
        to = oc_timeline_turn(m->t, from);
        timeline_records_add_busy(m, from, to);
        if (m->t->launches) {
            sort_launches(m, from, to);
            continue;
        }
        sort_device(m, from, to);
        sort_host(m, from, to);
        add_imported(m, from, to);
    }
}

void oc_timeline_records(struct oc_timeline *t, const struct oc_profile_opts *opts,
                         const struct oc_timeline_rules *rules)
{
    struct making m = {.t = t, .positions = rules->keep_call_positions};
    timeline_records_begin(&m);
    timeline_records_choose_runs(&m, opts->stat);
    m.places = oc_places_find(t->profile, t, &t->profile->arena);
    if (t->launches) {
        oc_launches_make_groups(&m);
    } else if (!nest_and_group(&m)) {
        oc_timeline_forget_groups(&m);
        m.positions = false;
        nest_and_group(&m);
    }
    list_groups(&m);
    if (t->launches)
        oc_launches_make_kernels(&m);
    sort_and_sum(&m);
    begin_kernels(&m);
    make_timeline_records(&m);
    end_kernels(&m);
    timeline_records_set_totals(&m);
    if (t->launches && !t->runs_found) /* host times are per run of the source */
        oc_launches_set_host_times(&m);
    if (m.places)
        oc_places_report(t->profile);
    if (opts->keep_events)
        restore_links(t);
    timeline_records_end(&m);
}
