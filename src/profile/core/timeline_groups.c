/* Groups of a timeline: the calls that share a record, in the order of records. Launches (device work with labels
 * instead of host events) are added and grouped here too. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/core/records.h"
#include "profile/core/timeline.h"
#include "profile/core/timeline_parts.h"

enum { MAX_GROUPS = 1 << 16 };

/* Grid and block of a kernel show which runs are equal; they make no record of their own. */
static uint32_t timeline_groups_detail_of(const struct making *m, const struct oc_event *e)
{
    bool launch = e->detail != OC_NONE && e->kind == OC_EV_KERNEL && !m->t->detail[e->detail].has_in;
    return launch ? OC_NONE : e->detail;
}

static uint16_t place_of(const struct making *m, const struct oc_event *e)
{
    return oc_place_of(m->places, m->t, (size_t)(e - m->t->event));
}

static uint32_t caller_of(struct making *m, const struct oc_event *e, uint32_t parent)
{
    uint32_t key[4] = {e->name, timeline_groups_detail_of(m, e), parent, place_of(m, e)}, id = m->n_caller;
    if (oc_map_add(&m->caller_of, (const char *)key, sizeof(key), &id, NULL)) {
        OC_PUSH(m->caller, m->n_caller, m->cap_caller) = (struct caller){.run = OC_NONE};
    }
    return id;
}

/* One record per call in a run. Without runs the calls of a kernel have no position in one. */
static bool by_position(const struct making *m, const struct oc_event *e)
{
    return m->positions && !((m->t->runs_implicit || m->t->owns_kernels) && oc_event_on_device(e->kind));
}

/* Number of earlier calls of that name in this run. */
static uint32_t timeline_groups_position_of(const struct making *m, const struct oc_event *e, uint32_t caller)
{
    return m->caller[caller].run == e->run ? m->caller[caller].n : 0;
}

static void count_call(struct making *m, const struct oc_event *e, uint32_t caller)
{
    m->caller[caller].n = timeline_groups_position_of(m, e, caller) + 1;
    m->caller[caller].run = e->run;
}

/* A kernel with a row next to those of the operators. */
static bool is_rest(const struct making *m, const struct oc_event *e)
{
    return m->t->owns_kernels && oc_event_on_device(e->kind);
}

/* Runs repeat: tries the group that followed last time. */
static uint32_t likely_group(struct making *m, const struct oc_event *e, uint32_t parent)
{
    uint32_t id = m->last_group == OC_NONE ? OC_NONE : m->group[m->last_group].next;
    if (id == OC_NONE)
        return OC_NONE;
    const struct group *g = &m->group[id];
    if (g->name != e->name || g->detail != timeline_groups_detail_of(m, e) || g->parent != parent ||
        g->place != place_of(m, e) || g->rest != is_rest(m, e) ||
        (by_position(m, e) &&
         (g->caller == OC_NONE || timeline_groups_position_of(m, e, g->caller) != g->position)))
        return OC_NONE;
    return id;
}

static uint32_t timeline_groups_find_group(struct making *m, const struct oc_event *e, uint32_t parent)
{
    uint32_t caller = by_position(m, e) ? caller_of(m, e, parent) : OC_NONE;
    uint32_t position = caller != OC_NONE ? timeline_groups_position_of(m, e, caller) : 0;
    uint32_t key[6] = {e->name,      timeline_groups_detail_of(m, e), parent, position, place_of(m, e),
                       is_rest(m, e)};
    uint32_t id = m->n_group;
    if (!oc_map_add(&m->group_of, (const char *)key, sizeof(key), &id, NULL)) {
        if (m->group[id].caller == OC_NONE) /* until now only kernels of that name */
            m->group[id].caller = caller;
        return id;
    }
    OC_PUSH(m->group, m->n_group, m->cap_group) =
        (struct group){.name = e->name,
                       .detail = timeline_groups_detail_of(m, e),
                       .parent = parent,
                       .lane = e->lane,
                       .first_kernel = OC_NONE,
                       .run = e->run,
                       .caller = caller,
                       .position = position,
                       .next = OC_NONE,
                       .place = place_of(m, e),
                       .rest = is_rest(m, e),
                       .start_ns = e->start_ns - m->t->run[e->run].start_ns};
    return id;
}

static uint32_t timeline_groups_group_of(struct making *m, const struct oc_event *e, uint32_t parent)
{
    uint32_t id = likely_group(m, e, parent);
    if (id == OC_NONE) {
        id = timeline_groups_find_group(m, e, parent);
        if (m->last_group != OC_NONE)
            m->group[m->last_group].next = id;
    }
    if (by_position(m, e))
        count_call(m, e, m->group[id].caller);
    m->last_group = id;
    return id;
}

void oc_timeline_forget_groups(struct making *m)
{
    oc_map_free(&m->group_of);
    oc_map_free(&m->caller_of);
    oc_arena_free(&m->scratch);
    m->n_group = m->n_caller = 0;
    m->last_group = OC_NONE;
}

void oc_timeline_begin_groups(struct making *m)
{
    m->group_of.arena = m->caller_of.arena = m->kernel_of.arena = &m->scratch;
    m->last_group = OC_NONE;
}

bool oc_timeline_make_groups(struct making *m, size_t from, size_t to)
{
    struct oc_timeline *t = m->t;
    for (size_t i = from; i < to; i++) {
        struct oc_event *e = &t->event[i];
        if (!(e->flags & OC_EVF_RECORD))
            continue;
        bool device = oc_event_on_device(e->kind);
        uint32_t up = device || e->parent == OC_NONE ? OC_NONE : oc_timeline_owner(t, e->parent);
        *(device ? &e->parent : &e->link) =
            oc_timeline_used(t, e->run)
                ? timeline_groups_group_of(m, e, up == OC_NONE ? OC_NONE : t->event[up].link)
                : OC_NONE;
        if (m->positions && m->n_group > MAX_GROUPS)
            return false;
    }
    return true;
}

/* ---- calls of groups -------------------------------------------------------------------------------- */

/* Calls by group and kernel. Their indices take four bytes each and are computed for some groups at a
 * time: a trace of gigabytes has no room for all of them. */

#define MAX_ORDER ((size_t)1 << 21) /* 8 MB, or the size of one group */
enum { MAX_PASSES = 16 };

static void begin_order(struct making *m)
{
    m->n_order = 0;
    if (!m->max_order)
        m->max_order = m->t->n_event / MAX_PASSES > MAX_ORDER ? m->t->n_event / MAX_PASSES : MAX_ORDER;
    for (uint32_t g = 0; g < m->n_group; g++)
        m->group[g].calls.end = OC_NONE;
    for (uint32_t k = 0; k < m->n_kernel; k++)
        m->kernel[k].calls.end = OC_NONE;
}

/* Start position of their range until it is filled. */
static void take_calls(struct making *m, struct calls *c)
{
    c->end = (uint32_t)m->n_order;
    m->n_order += c->n;
}

static struct calls *calls_of(struct making *m, const struct oc_event *e)
{
    if (e->kind >= OC_EV_KERNEL && e->kind <= OC_EV_MEMSET)
        return e->parent == OC_NONE ? NULL : &m->kernel[e->parent].calls;
    if (!(e->flags & OC_EVF_RECORD) || e->link == OC_NONE || oc_event_on_device(e->kind))
        return NULL;
    return &m->group[e->link].calls;
}

static void fill_order(struct making *m)
{
    const struct oc_timeline *t = m->t;
    if (m->n_order > m->cap_order) {
        free(m->order);
        m->order = oc_xmalloc(m->n_order * sizeof(*m->order));
        m->cap_order = m->n_order;
    }
    for (size_t i = 0; i < t->n_event; i++) {
        struct calls *c = calls_of(m, &t->event[i]);
        if (c && c->end != OC_NONE)
            m->order[c->end++] = (uint32_t)i;
    }
}

uint32_t oc_timeline_order_groups(struct making *m, uint32_t from)
{
    uint32_t at = from;
    begin_order(m);
    for (; at < m->n_list; at++) {
        struct group *g = &m->group[m->list[at]];
        size_t all = g->calls.n;
        for (uint32_t k = g->first_kernel; k != OC_NONE; k = m->kernel[k].next)
            all += m->kernel[k].calls.n;
        if (m->n_order && m->n_order + all > m->max_order)
            break;
        take_calls(m, &g->calls);
        for (uint32_t k = g->first_kernel; k != OC_NONE; k = m->kernel[k].next)
            take_calls(m, &m->kernel[k].calls);
    }
    fill_order(m);
    return at;
}

uint32_t oc_timeline_order_kernels(struct making *m, uint32_t from)
{
    uint32_t at = from;
    begin_order(m);
    for (; at < m->n_kernel; at++) {
        struct calls *c = &m->kernel[at].calls;
        if (m->t->profile->kernel[at].calls)
            continue;
        if (m->n_order && m->n_order + c->n > m->max_order)
            break;
        take_calls(m, c);
    }
    if (m->n_order)
        fill_order(m);
    return at;
}

/* ---- launches --------------------------------------------------------------------------------------- */

static struct oc_launches *launches_of(struct oc_timeline *t)
{
    if (!t->launches) {
        t->launches = oc_xcalloc(1, sizeof(*t->launches));
        struct oc_launches *l = t->launches;
        l->work_of.arena = l->label_of.arena = l->home_of.arena = &l->scratch;
    }
    return t->launches;
}

void oc_launches_free(struct oc_launches *l)
{
    if (!l)
        return;
    free(l->work);
    free(l->label);
    free(l->host);
    free(l->home);
    oc_map_free(&l->home_of);
    oc_map_free(&l->work_of);
    oc_map_free(&l->label_of);
    oc_arena_free(&l->scratch);
    free(l);
}

/* ---- adding launches -------------------------------------------------------------------------------- */

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

uint32_t oc_timeline_label(struct oc_timeline *t, const struct oc_label *label, const char *variant)
{
    struct oc_launches *l = launches_of(t);
    char *key = oc_printf(&l->scratch, "%s\x1f%s\x1f%lld\x1f%s", label->name, label->op_type,
                          (long long)label->index, variant ? variant : "");
    uint32_t id = l->n_label;
    if (oc_map_add(&l->label_of, key, strlen(key), &id, NULL)) {
        OC_PUSH(l->label, l->n_label, l->cap_label) = (struct labelled){*label, OC_NONE, OC_NONE};
    }
    return id;
}

void oc_timeline_host_time(struct oc_timeline *t, uint32_t label, uint32_t run, double dur_ns)
{
    struct oc_launches *l = launches_of(t);
    OC_GROW(l->host, l->n_host, l->cap_host);
    l->host[l->n_host] = (struct host_time){dur_ns, run, l->label[label].host};
    l->label[label].host = l->n_host++;
}

uint16_t oc_timeline_stream(struct oc_timeline *t, int64_t process, int64_t device, int64_t stream)
{
    struct oc_lane lane = oc_lane_of_stream(process, device, stream);
    return oc_timeline_lane(t, &lane);
}

/* Lanes of one process and device have one home. Launches without a lane (rows of tables) have lane 0. */
static uint16_t home_of(struct oc_timeline *t, uint16_t lane)
{
    struct oc_launches *l = t->launches;
    while (l->n_home <= lane) {
        const struct oc_lane none = {.process = OC_NO_ID, .device_id = OC_NO_ID},
                             *of = l->n_home < t->n_lane ? &t->lane[l->n_home] : &none;
        const int64_t key[2] = {of->process, of->device_id};
        uint32_t id = l->home_of.n;
        oc_map_add(&l->home_of, (const char *)key, sizeof(key), &id, NULL);
        l->home = oc_xrealloc(l->home, (l->n_home + 1) * sizeof(*l->home));
        l->home[l->n_home++] = (uint16_t)id;
    }
    return l->home[lane];
}

static uint32_t find_work(struct oc_timeline *t, const struct oc_launch *x)
{
    struct oc_launches *l = t->launches;
    struct {
        const char *name;
        uint32_t label, kind, home, zero;
    } key = {x->name, x->label, x->kind, home_of(t, x->lane), 0};
    uint32_t id = l->n_work;
    if (!oc_map_add(&l->work_of, (const char *)&key, sizeof(key), &id, NULL))
        return id;
    OC_PUSH(l->work, l->n_work, l->cap_work) =
        (struct work){.name = oc_timeline_name(t, x->name, strlen(x->name)),
                      .label = x->label,
                      .lane = x->lane,
                      .home = home_of(t, x->lane),
                      .kind = x->kind,
                      .where = x->where};
    return id;
}

static uint32_t work_of(struct oc_timeline *t, const struct oc_launch *x)
{
    struct oc_launches *l = launches_of(t);
    size_t slot = (((uintptr_t)x->name >> 4) + (size_t)x->label * 31 + x->kind) % OC_COUNT(l->memo);
    struct memo *memo = &l->memo[slot];
    if (memo->name != x->name || memo->label != x->label || l->work[memo->work].kind != x->kind ||
        l->work[memo->work].home != home_of(t, x->lane))
        *memo = (struct memo){x->name, x->label, find_work(t, x)};
    return memo->work;
}

static void add_value(struct mean *m, double v)
{
    m->sum += isnan(v) ? 0 : v;
    m->n += isnan(v) ? 0 : 1;
}

static double mean_of(const struct mean *m)
{
    return m->n ? m->sum / (double)m->n : (double)NAN;
}

/* Until the records are made, the parent of a launch is its work, and its detail the number of its shape. */
bool oc_timeline_launch(struct oc_timeline *t, const struct oc_launch *x)
{
    uint32_t id = work_of(t, x);
    struct work *w = &t->launches->work[id];
    struct oc_event e = {.start_ns = x->start_ns,
                         .dur_ns = x->dur_ns,
                         .name = w->name,
                         .detail = x->shape,
                         .lane = x->lane,
                         .kind = x->kind,
                         .flags = OC_EVF_RECORD};
    if (!oc_timeline_add(t, &e, t->n_event, OC_NONE))
        return false;
    t->event[t->n_event - 1].parent = id;
    t->event[t->n_event - 1].run = x->run;
    add_value(&w->bytes, x->bytes);
    add_value(&w->flop, x->flop);
    if (x->counters && !w->counter)
        w->counter = OC_NEW_ARRAY(&t->launches->scratch, OC_CTR_COUNT, struct mean);
    for (unsigned i = 0; i < OC_CTR_COUNT && x->counters; i++)
        add_value(&w->counter[i], x->counters->v[i]);
    return true;
}

/* ---- runs of launches ------------------------------------------------------------------------------- */

void oc_launches_measure_runs(struct oc_timeline *t)
{
    t->run = oc_xrealloc(t->run, t->n_run * sizeof(*t->run));
    for (uint32_t i = 0; i < t->n_run; i++)
        t->run[i] = (struct oc_interval){(double)NAN, (double)NAN};
    for (size_t i = 0; i < t->n_event; i++) {
        const struct oc_event *e = &t->event[i];
        if (e->run >= t->n_run)
            continue;
        struct oc_interval *run = &t->run[e->run];
        double end_ns = e->start_ns + e->dur_ns;
        run->start_ns = isnan(run->start_ns) ? e->start_ns : run->start_ns;
        run->end_ns = run->end_ns >= end_ns ? run->end_ns : end_ns;
    }
}

/* ---- records of launches ---------------------------------------------------------------------------- */

/* Copies without a label are not operators; kernels without one are, or a row of what is left (places.h). */
static const char *bucket_of_work(const struct work *w)
{
    return w->label == OC_NONE && w->kind != OC_EV_KERNEL ? "copies" : NULL;
}

static uint32_t group_of_work(struct making *m, uint32_t id)
{
    const struct work *w = &m->t->launches->work[id];
    uint32_t key[4] = {w->label, w->label == OC_NONE ? w->name : OC_NONE, bucket_of_work(w) != NULL, w->home},
             group = m->n_group;
    if (!oc_map_add(&m->group_of, (const char *)key, sizeof(key), &group, NULL))
        return group;
    OC_PUSH(m->group, m->n_group, m->cap_group) =
        (struct group){.work = id,
                       .first_kernel = OC_NONE,
                       .rec = OC_NONE,
                       .run = OC_NONE,
                       .place = m->places ? m->places->of_lane[w->lane] : OC_NO_PLACE};
    if (w->label != OC_NONE)
        m->t->launches->label[w->label].group = group;
    return group;
}

void oc_launches_make_groups(struct making *m)
{
    struct oc_timeline *t = m->t;
    struct work *work = t->launches->work;
    oc_timeline_begin_groups(m);
    for (uint32_t i = 0; i < t->launches->n_work; i++)
        work[i].group = group_of_work(m, i);
    for (size_t i = 0; i < t->n_event; i++) {
        const struct oc_event *e = &t->event[i];
        if (!oc_timeline_used(t, e->run))
            continue;
        struct group *g = &m->group[work[e->parent].group];
        if (e->run < g->run) {
            g->run = e->run;
            g->start_ns = e->start_ns - t->run[e->run].start_ns;
        }
        work[e->parent].calls++;
    }
}

void oc_launches_make_kernels(struct making *m)
{
    struct oc_launches *l = m->t->launches;
    uint32_t *first = oc_xmalloc((m->n_group + 1) * sizeof(*first));
    memset(first, 0xff, m->n_group * sizeof(*first));
    for (uint32_t i = l->n_work; i-- > 0;) {
        struct work *w = &l->work[i];
        w->next = first[w->group];
        first[w->group] = w->calls ? i : w->next;
    }
    for (uint32_t i = 0; i < m->n_list; i++) {
        m->group[m->list[i]].first_kernel = m->n_kernel;
        for (uint32_t k = first[m->list[i]]; k != OC_NONE; k = l->work[k].next) {
            struct work *w = &l->work[k];
            w->kernel = m->n_kernel;
            OC_PUSH(m->kernel, m->n_kernel, m->cap_kernel) =
                (struct kernel){.name = w->name,
                                .group = m->list[i],
                                .next = w->next == OC_NONE ? OC_NONE : w->kernel + 1,
                                .work = k,
                                .calls = {.n = w->calls},
                                .lane = w->lane,
                                .kind = w->kind};
        }
    }
    free(first);
}

static const struct oc_prof_counters *mean_counters(struct oc_profile *p, const struct mean *counter)
{
    if (!counter)
        return NULL;
    struct oc_prof_counters *mean = OC_NEW(&p->arena, struct oc_prof_counters);
    for (unsigned i = 0; i < OC_CTR_COUNT; i++)
        mean->v[i] = mean_of(&counter[i]);
    return mean;
}

/* Measured values: of a launch for kernels, of a run for records; NAN if no launch of a kernel has them. */
void oc_launches_describe(struct making *m, const struct group *g, struct oc_prof_rec *rec)
{
    const struct oc_launches *l = m->t->launches;
    const struct work *w = &l->work[g->work];
    struct oc_profile *p = m->t->profile;
    rec->bucket = bucket_of_work(w);
    rec->name = m->t->name[w->name];
    rec->lane = w->lane;
    rec->where = w->where;
    rec->start_ns = g->start_ns;
    if (w->label != OC_NONE)
        oc_label_describe(&l->label[w->label].label, rec);
    else if (!rec->bucket && !l->kernels_are_records)
        rec->op_type = rec->rest = oc_rest_of_kernel(rec->name);
    rec->flop = rec->bytes = 0;
    for (uint32_t i = g->first_kernel; i != OC_NONE; i = m->kernel[i].next) {
        struct oc_prof_kernel *k = &p->kernel[i];
        w = &l->work[m->kernel[i].work];
        k->flop = mean_of(&w->flop);
        k->bytes = mean_of(&w->bytes);
        k->counters = mean_counters(p, w->counter);
        rec->flop += k->flop * w->calls;
        rec->bytes += k->bytes * w->calls;
    }
    rec->flop /= p->runs_used;
    rec->bytes /= p->runs_used;
}

/* ---- host time -------------------------------------------------------------------------------------- */

/* A label that launched nothing becomes a record if it is known to be an operator: it took no device time. */
static struct oc_prof_rec *rec_without_launch(struct making *m, const struct oc_label *label, uint64_t calls)
{
    struct oc_profile *p = m->t->profile;
    if (!label->op_type[0])
        return NULL;
    struct oc_prof_rec *rec = &p->rec[p->n_rec++];
    *rec = oc_prof_rec_new("");
    oc_label_describe(label, rec);
    oc_rec_time(rec, 0);
    rec->kernel_ns = rec->total_kernel_ns = 0;
    rec->runs = m->all.n;
    rec->calls = calls;
    return rec;
}

void oc_launches_set_host_times(struct making *m)
{
    const struct oc_launches *l = m->t->launches;
    struct oc_profile *p = m->t->profile;
    for (uint32_t i = 0; i < l->n_label; i++) {
        const struct labelled *x = &l->label[i];
        uint32_t of = x->group == OC_NONE ? OC_NONE : m->group[x->group].rec;
        uint64_t calls = 0;
        oc_run_sums_clear(&m->all);
        for (uint32_t k = x->host; k != OC_NONE; k = l->host[k].next) {
            if (!oc_timeline_used(m->t, l->host[k].run))
                continue;
            oc_run_sums_add(&m->all, l->host[k].run, l->host[k].dur_ns);
            calls++;
        }
        struct oc_prof_rec *rec = !calls         ? NULL
                                  : of < OC_NONE ? &p->rec[of]
                                                 : rec_without_launch(m, &x->label, calls);
        if (!rec)
            continue;
        rec->host_ns = oc_run_sums_stat(&m->all, &m->choice);
        rec->calls_per_run = (double)rec->calls / p->runs_used;
    }
}

/* ---- end of launches -------------------------------------------------------------------------------- */

void oc_timeline_launches_end(struct oc_timeline *t, const struct oc_profile_opts *opts, uint32_t n_run,
                              bool kernels_are_records)
{
    static const struct oc_timeline_rules rules = {.find_runs = true};
    struct oc_launches *l = launches_of(t);
    l->n_run = n_run;
    l->kernels_are_records = kernels_are_records;
    oc_timeline_finish(t, opts, &rules);
    oc_timeline_records(t, opts, &rules);
}
