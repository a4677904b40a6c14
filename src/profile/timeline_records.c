/* A finished timeline as records of a profile: what one name (and one set of shapes, and one position among
 * the calls of a run) took in the used runs. Lists of events run through the events themselves: through link
 * for operators, through parent for device work; both are put back at the end. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/timeline.h"

enum { MAX_GROUPS = 1 << 16 };

struct group {
    uint32_t name, detail, parent, lane;
    uint32_t first;        /* event, OC_NONE: no more */
    uint32_t first_kernel; /* index into kernels, OC_NONE */
    uint32_t rec;
    double start_ns; /* of the first call, in its run */
    uint32_t run;
};

struct kernel {
    uint32_t name, group, first, next;
    uint16_t lane;
    uint8_t kind;
};

/* Calls of one name, for their positions. */
struct caller {
    uint32_t run, n;
};

enum bucket { B_FRAMEWORK, B_WITHOUT, B_COPIES, B_WARMUP, B_OUTSIDE, B_COUNT };

static const struct {
    const char *bucket, *name;
} bucket_of[B_COUNT] = {
    [B_FRAMEWORK] = {"framework", "(framework)"},
    [B_WITHOUT] = {"kernels without operator", "(kernels without operator)"},
    [B_COPIES] = {"copies", "(copies)"},
    [B_WARMUP] = {"warm-up runs", "(warm-up runs)"},
    [B_OUTSIDE] = {"outside runs", "(outside runs)"},
};

struct left { /* what a bucket holds */
    double host_ns, device_ns;
    uint64_t calls;
    bool host, device;
};

struct making {
    struct oc_timeline *t;
    enum oc_stat stat;
    bool positions, device; /* the file has device work */
    struct oc_arena scratch;
    struct oc_map group_of, caller_of, kernel_of;
    struct group *group;
    uint32_t n_group, cap_group;
    struct caller *caller;
    uint32_t n_caller, cap_caller;
    struct kernel *kernel;
    uint32_t n_kernel, cap_kernel;
    struct left left[B_COUNT];
    double *sum[B_COUNT]; /* by run: buckets with statistics */
    double *run_sum, *value;
    uint32_t *touched, n_touched;
    uint8_t *seen;
    double *busy;
};

/* ---- sums by run -------------------------------------------------------------------------------------- */

static void *zeroed(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size);
    if (!p)
        oc_out_of_memory(n * size);
    return p;
}

static void clear_sums(struct making *m)
{
    for (uint32_t i = 0; i < m->n_touched; i++)
        m->seen[m->touched[i]] = 0;
    m->n_touched = 0;
}

static void add_sum(struct making *m, uint32_t run, double ns)
{
    if (!m->seen[run]) {
        m->seen[run] = 1;
        m->run_sum[run] = 0;
        m->touched[m->n_touched++] = run;
    }
    m->run_sum[run] += ns;
}

static double stat_of_sums(struct making *m, enum oc_stat stat)
{
    for (uint32_t i = 0; i < m->n_touched; i++)
        m->value[i] = m->run_sum[m->touched[i]];
    if (!m->n_touched)
        return (double)NAN;
    if (stat == OC_STAT_MEAN) /* over all used runs */
        return oc_stat_of(OC_STAT_SUM, m->value, m->n_touched) / (double)m->t->profile->runs_used;
    return oc_stat_of(stat, m->value, m->n_touched);
}

/* Statistic over the used runs, each of which counts. */
static double stat_of_runs(struct making *m, const double *by_run)
{
    uint32_t from = m->t->first_used_run, n = m->t->n_run - from;
    memcpy(m->value, by_run + from, n * sizeof(*by_run));
    return oc_stat_of(m->stat, m->value, n);
}

static bool used(const struct making *m, uint32_t run)
{
    return oc_timeline_used(m->t, run);
}

/* ---- groups of operators ------------------------------------------------------------------------------ */

/* How many calls of that name came before in this run. */
static uint32_t position_of(struct making *m, const struct oc_event *e, uint32_t parent)
{
    uint32_t key[3] = {e->name, e->detail, parent}, id = m->n_caller;
    if (oc_map_add(&m->caller_of, (const char *)key, sizeof(key), &id, NULL)) {
        OC_GROW(m->caller, m->n_caller, m->cap_caller);
        m->caller[m->n_caller++] = (struct caller){.run = OC_NONE};
    }
    struct caller *c = &m->caller[id];
    if (c->run != e->run)
        *c = (struct caller){.run = e->run};
    return c->n++;
}

static uint32_t group_of(struct making *m, const struct oc_event *e, uint32_t parent)
{
    uint32_t key[4] = {e->name, e->detail, parent, m->positions ? position_of(m, e, parent) : 0};
    uint32_t id = m->n_group;
    if (!oc_map_add(&m->group_of, (const char *)key, sizeof(key), &id, NULL))
        return id;
    OC_GROW(m->group, m->n_group, m->cap_group);
    m->group[m->n_group++] = (struct group){.name = e->name,
                                            .detail = e->detail,
                                            .parent = parent,
                                            .lane = e->lane,
                                            .first = OC_NONE,
                                            .first_kernel = OC_NONE,
                                            .run = e->run,
                                            .start_ns = e->start_ns - m->t->run[e->run].start_ns};
    return id;
}

static void forget_groups(struct making *m)
{
    oc_map_free(&m->group_of);
    oc_map_free(&m->caller_of);
    oc_arena_free(&m->scratch);
    m->n_group = m->n_caller = 0;
}

/* Every event with a record: its group into link, of device work into parent (OC_NONE: in no used run).
 * False: too many groups. */
static bool make_groups(struct making *m)
{
    struct oc_timeline *t = m->t;
    m->group_of.arena = m->caller_of.arena = m->kernel_of.arena = &m->scratch;
    for (size_t i = 0; i < t->n_event; i++) {
        struct oc_event *e = &t->event[i];
        if (!(e->flags & OC_EVF_RECORD))
            continue;
        bool device = oc_event_on_device(e->kind);
        uint32_t up = device || e->parent == OC_NONE ? OC_NONE : oc_timeline_owner(t, e->parent);
        *(device ? &e->parent : &e->link) =
            used(m, e->run) ? group_of(m, e, up == OC_NONE ? OC_NONE : t->event[up].link) : OC_NONE;
        if (m->positions && m->n_group > MAX_GROUPS)
            return false;
    }
    return true;
}

/* ---- device work -------------------------------------------------------------------------------------- */

static uint32_t kernel_of(struct making *m, const struct oc_event *e, uint32_t group)
{
    uint32_t key[3] = {e->name, e->kind, group}, id = m->n_kernel;
    if (!oc_map_add(&m->kernel_of, (const char *)key, sizeof(key), &id, NULL))
        return id;
    OC_GROW(m->kernel, m->n_kernel, m->cap_kernel);
    m->kernel[m->n_kernel++] = (struct kernel){
        .name = e->name, .group = group, .first = OC_NONE, .next = OC_NONE, .lane = e->lane, .kind = e->kind};
    if (group != OC_NONE && e->kind == OC_EV_KERNEL) {
        m->kernel[id].next = m->group[group].first_kernel;
        m->group[group].first_kernel = id;
    }
    return id;
}

static void leave(struct making *m, enum bucket b, const struct oc_event *e, double host_ns, double device_ns)
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
    return e->run != OC_NONE || e->start_ns < t->run[t->first_used_run].start_ns ? B_WARMUP : B_OUTSIDE;
}

/* The group a kernel works for. OC_NONE: none, *own tells whether it has an operator at all. */
static uint32_t group_of_device(const struct oc_timeline *t, uint32_t i, bool *own)
{
    *own = true;
    if (t->event[i].flags & OC_EVF_RECORD)
        return t->event[i].parent;
    uint32_t owner = oc_timeline_owner(t, i);
    *own = owner != OC_NONE;
    return *own ? t->event[owner].link : OC_NONE;
}

static void sort_device(struct making *m)
{
    struct oc_timeline *t = m->t;
    uint32_t *last = NULL, n_last = 0, cap_last = 0;
    for (size_t i = 0; i < t->n_event; i++) {
        struct oc_event *e = &t->event[i];
        bool own;
        if (e->kind < OC_EV_KERNEL || e->kind > OC_EV_MEMSET)
            continue;
        uint32_t group = group_of_device(t, (uint32_t)i, &own);
        e->parent = OC_NONE;
        bool in = used(m, e->run) && (group != OC_NONE || !own || e->kind != OC_EV_KERNEL);
        if (e->kind != OC_EV_KERNEL)
            leave(m, B_COPIES, e, 0, e->dur_ns);
        else if (!own)
            leave(m, B_WITHOUT, e, 0, e->dur_ns);
        else if (!in)
            leave(m, unused_bucket(m, e), e, 0, e->dur_ns);
        if (!in)
            continue;
        uint32_t k = kernel_of(m, e, group);
        for (; n_last <= k; n_last++) {
            OC_GROW(last, n_last, cap_last);
            last[n_last] = OC_NONE;
        }
        *(last[k] == OC_NONE ? &m->kernel[k].first : &t->event[last[k]].parent) = (uint32_t)i;
        last[k] = (uint32_t)i;
    }
    free(last);
}

/* Operators in lists by group, in order of time; busy time of the runs; what is left to buckets. */
static void sort_host(struct making *m)
{
    struct oc_timeline *t = m->t;
    for (size_t i = t->n_event; i-- > 0;) {
        struct oc_event *e = &t->event[i];
        if (e->kind == OC_EV_STEP)
            leave(m, used(m, e->run) ? B_FRAMEWORK : B_WARMUP, e, e->self_ns, 0);
        if (!(e->flags & OC_EVF_RECORD) || oc_event_on_device(e->kind))
            continue;
        uint32_t g = e->link;
        if (g == OC_NONE) {
            leave(m, unused_bucket(m, e), e, e->self_ns, 0);
        } else {
            e->link = m->group[g].first;
            m->group[g].first = (uint32_t)i;
        }
    }
}

static void add_busy(struct making *m)
{
    const struct oc_timeline *t = m->t;
    double *reached = zeroed(t->n_run, sizeof(*reached));
    for (size_t i = 0; i < t->n_event; i++) {
        const struct oc_event *e = &t->event[i];
        if (!(e->flags & OC_EVF_RECORD) || e->run == OC_NONE)
            continue;
        double end_ns = e->start_ns + e->dur_ns, from_ns = fmax(e->start_ns, reached[e->run]);
        if (end_ns > from_ns) {
            m->busy[e->run] += end_ns - from_ns;
            reached[e->run] = end_ns;
        }
    }
    free(reached);
}

/* ---- records ------------------------------------------------------------------------------------------ */

static void set_times(struct making *m, struct oc_prof_rec *rec)
{
    rec->runs = m->n_touched;
    rec->median_ns = stat_of_sums(m, OC_STAT_MEDIAN); /* sorts the values */
    rec->min_ns = m->value[0];
    rec->max_ns = m->value[m->n_touched - 1];
    rec->p10_ns = oc_percentile_of(m->value, m->n_touched, 0.1);
    rec->p90_ns = oc_percentile_of(m->value, m->n_touched, 0.9);
    rec->time_ns = m->stat == OC_STAT_MEDIAN ? rec->median_ns : stat_of_sums(m, m->stat);
}

static void host_times(struct making *m, const struct group *g, struct oc_prof_rec *rec)
{
    const struct oc_timeline *t = m->t;
    bool nested = false;
    clear_sums(m);
    rec->total_ns = 0;
    for (uint32_t i = g->first; i != OC_NONE; i = t->event[i].link) {
        const struct oc_event *e = &t->event[i];
        add_sum(m, e->run, e->dur_ns);
        rec->total_ns += e->self_ns;
        nested |= e->self_ns != e->dur_ns;
        rec->calls++;
    }
    set_times(m, rec);
    rec->self_ns = rec->time_ns;
    if (!nested)
        return;
    clear_sums(m);
    for (uint32_t i = g->first; i != OC_NONE; i = t->event[i].link)
        add_sum(m, t->event[i].run, t->event[i].self_ns);
    rec->self_ns = stat_of_sums(m, m->stat);
}

static void device_times(struct making *m, const struct group *g, struct oc_prof_rec *rec)
{
    const struct oc_timeline *t = m->t;
    uint64_t calls = 0;
    clear_sums(m);
    rec->total_kernel_ns = 0;
    for (uint32_t k = g->first_kernel; k != OC_NONE; k = m->kernel[k].next)
        for (uint32_t i = m->kernel[k].first; i != OC_NONE; i = t->event[i].parent, calls++) {
            add_sum(m, t->event[i].run, t->event[i].dur_ns);
            rec->total_kernel_ns += t->event[i].dur_ns;
        }
    rec->kernel_ns = m->n_touched ? stat_of_sums(m, m->stat) : 0; /* launched nothing: known */
    rec->host_ns = rec->self_ns;
    if (g->first != OC_NONE)
        return;
    rec->calls = calls; /* a kernel's own record */
    set_times(m, rec);
    rec->self_ns = rec->time_ns;
}

static void describe(struct making *m, const struct group *g, struct oc_prof_rec *rec)
{
    const struct oc_timeline *t = m->t;
    rec->name = rec->op_type = t->name[g->name];
    rec->lane = g->lane;
    rec->parent = g->parent == OC_NONE ? OC_NONE : m->group[g->parent].rec;
    rec->start_ns = g->start_ns;
    if (g->detail != OC_NONE && t->detail[g->detail].has_in) {
        rec->in = t->detail[g->detail].in;
        rec->n_in = t->detail[g->detail].n_in;
        rec->has_in = true;
    }
}

struct ordered {
    uint32_t group, run;
    double start_ns;
};

static int by_start(const void *a, const void *b)
{
    const struct ordered *x = a, *y = b;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return x->group < y->group ? -1 : x->group > y->group;
}

static void order_groups(struct making *m, struct ordered *order)
{
    for (uint32_t i = 0; i < m->n_group; i++)
        order[i] = (struct ordered){i, m->group[i].run, m->group[i].start_ns};
    if (m->n_group)
        qsort(order, m->n_group, sizeof(*order), by_start);
    for (uint32_t i = 0; i < m->n_group; i++)
        m->group[order[i].group].rec = i;
}

static void fill_bucket(struct making *m, enum bucket b, struct oc_prof_rec *rec)
{
    const struct left *l = &m->left[b];
    *rec = oc_prof_rec_new("");
    rec->bucket = bucket_of[b].bucket;
    rec->name = bucket_of[b].name;
    rec->calls = l->calls;
    rec->total_ns = l->host ? l->host_ns : (double)NAN;
    rec->total_kernel_ns = l->device ? l->device_ns : (double)NAN;
    if (m->sum[b]) {
        double stat = stat_of_runs(m, m->sum[b]);
        rec->runs = m->t->profile->runs_used;
        rec->calls_per_run = b == B_FRAMEWORK ? (double)l->calls / rec->runs : (double)NAN;
        *(l->host ? &rec->time_ns : &rec->kernel_ns) = stat;
    } else {
        rec->time_ns = rec->total_ns;
        rec->kernel_ns = rec->total_kernel_ns;
    }
    rec->self_ns = rec->time_ns;
}

static void make_records(struct making *m)
{
    struct oc_profile *p = m->t->profile;
    struct ordered *order = oc_xmalloc((m->n_group + 1) * sizeof(*order));
    p->rec = OC_NEW_ARRAY(&p->arena, m->n_group + B_COUNT, struct oc_prof_rec);
    order_groups(m, order);
    for (uint32_t i = 0; i < m->n_group; i++) {
        const struct group *g = &m->group[order[i].group];
        struct oc_prof_rec *rec = &p->rec[i];
        *rec = oc_prof_rec_new("");
        describe(m, g, rec);
        if (g->first != OC_NONE)
            host_times(m, g, rec);
        if (m->device)
            device_times(m, g, rec);
        rec->calls_per_run = rec->runs ? (double)rec->calls / rec->runs : (double)NAN;
    }
    free(order);
    p->n_rec = m->n_group;
    for (unsigned b = 0; b < B_COUNT; b++)
        if (m->left[b].calls)
            fill_bucket(m, (enum bucket)b, &p->rec[p->n_rec++]);
}

static void make_kernels(struct making *m)
{
    struct oc_timeline *t = m->t;
    struct oc_profile *p = t->profile;
    p->kernel = OC_NEW_ARRAY(&p->arena, m->n_kernel ? m->n_kernel : 1, struct oc_prof_kernel);
    p->n_kernel = m->n_kernel;
    for (uint32_t k = 0; k < m->n_kernel; k++) {
        const struct kernel *from = &m->kernel[k];
        struct oc_prof_kernel *out = &p->kernel[k];
        double bytes = 0;
        *out = (struct oc_prof_kernel){.name = t->name[from->name],
                                       .precision = "",
                                       .unit = "",
                                       .library = "",
                                       .kind = from->kind,
                                       .rec = from->group == OC_NONE ? OC_NONE : m->group[from->group].rec,
                                       .lane = from->lane,
                                       .min_ns = (double)INFINITY,
                                       .flop = (double)NAN,
                                       .bytes = (double)NAN};
        clear_sums(m);
        for (uint32_t i = from->first; i != OC_NONE; i = t->event[i].parent) {
            const struct oc_event *e = &t->event[i];
            uint64_t n = e->detail == OC_NONE ? UINT64_MAX : t->detail[e->detail].bytes;
            bytes += n == UINT64_MAX ? (double)NAN : (double)n;
            add_sum(m, e->run, e->dur_ns);
            out->min_ns = fmin(out->min_ns, e->dur_ns);
            out->max_ns = fmax(out->max_ns, e->dur_ns);
            out->total_ns += e->dur_ns;
            out->calls++;
        }
        out->time_ns = stat_of_sums(m, m->stat);
        if (from->kind != OC_EV_KERNEL)
            out->bytes = bytes / (double)out->calls;
    }
}

/* ---- totals ------------------------------------------------------------------------------------------- */

/* The union of operators and runs by lane, apart from how records are made. */
static double imported(const struct oc_timeline *t, bool *any)
{
    double *reached = zeroed(t->n_lane, sizeof(*reached)), sum = 0;
    for (size_t i = 0; i < t->n_event; i++) {
        const struct oc_event *e = &t->event[i];
        if (oc_event_on_device(e->kind) || (e->kind != OC_EV_STEP && !(e->flags & OC_EVF_RECORD)))
            continue;
        double end_ns = e->start_ns + e->dur_ns, from_ns = fmax(e->start_ns, reached[e->lane]);
        *any = true;
        if (end_ns > from_ns) {
            sum += end_ns - from_ns;
            reached[e->lane] = end_ns;
        }
    }
    free(reached);
    return sum;
}

static void set_totals(struct making *m)
{
    struct oc_timeline *t = m->t;
    struct oc_profile *p = t->profile;
    bool any = false;
    double host_ns = imported(t, &any);
    p->imported_ns = any ? host_ns : (double)NAN;
    p->imported_kernel_ns = m->device ? t->device_ns : (double)NAN;
    p->time_kind = m->device ? "device time" : "host time";
    p->busy_ns = t->runs_implicit ? (double)NAN : stat_of_runs(m, m->busy);
    double *length = zeroed(t->n_run, sizeof(*length));
    for (uint32_t i = 0; i < t->n_run; i++)
        length[i] = t->run[i].end_ns - t->run[i].start_ns;
    p->run_ns = t->runs_implicit ? (double)NAN : stat_of_runs(m, length);
    free(length);
}

/* Links and parents as oc_timeline_finish left them. */
static void put_back(struct oc_timeline *t)
{
    for (size_t i = 0; i < t->n_event; i++) {
        struct oc_event *e = &t->event[i];
        if (oc_event_on_device(e->kind))
            e->parent = OC_NONE;
        else if (e->flags & OC_EVF_RECORD)
            e->link = (uint32_t)i;
    }
    oc_timeline_nest(t, (1u << OC_EV_KERNEL) - 1, 0, false);
}

static void begin(struct making *m)
{
    struct oc_timeline *t = m->t;
    size_t n = t->n_run;
    m->run_sum = zeroed(n, sizeof(double));
    m->value = zeroed(n, sizeof(double));
    m->busy = zeroed(n, sizeof(double));
    m->touched = zeroed(n, sizeof(uint32_t));
    m->seen = zeroed(n, 1);
    for (unsigned b = B_FRAMEWORK; b <= B_COPIES; b++)
        m->sum[b] = zeroed(n, sizeof(double));
    for (size_t i = 0; i < t->n_event; i++)
        m->device |= t->event[i].kind >= OC_EV_KERNEL && t->event[i].kind <= OC_EV_MEMSET;
}

static void end(struct making *m)
{
    forget_groups(m);
    oc_map_free(&m->kernel_of);
    for (unsigned b = 0; b < B_COUNT; b++)
        free(m->sum[b]);
    free(m->run_sum);
    free(m->value);
    free(m->busy);
    free(m->touched);
    free(m->seen);
    free(m->group);
    free(m->caller);
    free(m->kernel);
}

void oc_timeline_records(struct oc_timeline *t, const struct oc_profile_opts *opts,
                         const struct oc_timeline_rules *rules)
{
    struct making m = {.t = t, .stat = opts->stat, .positions = rules->keep_call_positions};
    begin(&m);
    oc_timeline_nest(t, (1u << OC_EV_KERNEL) - 1, OC_EVF_RECORD, false);
    if (!make_groups(&m)) {
        forget_groups(&m);
        m.positions = false;
        make_groups(&m);
    }
    sort_device(&m);
    sort_host(&m);
    add_busy(&m);
    make_records(&m);
    make_kernels(&m);
    set_totals(&m);
    put_back(t);
    end(&m);
}
