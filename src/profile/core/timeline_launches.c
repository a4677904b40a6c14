#include "profile/core/timeline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/core/rec_list.h"
#include "profile/core/timeline_parts.h"

static struct oc_launches *launches_of(struct oc_timeline *t)
{
    if (!t->launches) {
        t->launches = oc_xcalloc(1, sizeof(*t->launches));
        t->launches->work_of.arena = t->launches->label_of.arena = &t->launches->scratch;
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
    oc_map_free(&l->work_of);
    oc_map_free(&l->label_of);
    oc_arena_free(&l->scratch);
    free(l);
}

/* ---- adding ----------------------------------------------------------------------------------------- */

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
        OC_GROW(l->label, l->n_label, l->cap_label);
        l->label[l->n_label++] = (struct labelled){*label, OC_NONE, OC_NONE};
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
    return oc_timeline_lane(
        t,
        &(struct oc_lane){.name = "", .device = true, .process = process, .device_id = device, .id = stream});
}

static uint32_t find_work(struct oc_timeline *t, const struct oc_launch *x)
{
    struct oc_launches *l = t->launches;
    struct {
        const char *name;
        uint32_t label, kind;
    } key = {x->name, x->label, x->kind};
    uint32_t id = l->n_work;
    if (!oc_map_add(&l->work_of, (const char *)&key, sizeof(key), &id, NULL))
        return id;
    OC_GROW(l->work, l->n_work, l->cap_work);
    l->work[l->n_work++] = (struct work){.name = oc_timeline_name(t, x->name, strlen(x->name)),
                                         .label = x->label,
                                         .lane = x->lane,
                                         .kind = x->kind,
                                         .where = x->where};
    return id;
}

static uint32_t work_of(struct oc_timeline *t, const struct oc_launch *x)
{
    struct oc_launches *l = launches_of(t);
    size_t slot = (((uintptr_t)x->name >> 4) + (size_t)x->label * 31 + x->kind) % OC_COUNT(l->memo);
    struct memo *memo = &l->memo[slot];
    if (memo->name != x->name || memo->label != x->label || l->work[memo->work].kind != x->kind)
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

/* ---- runs ------------------------------------------------------------------------------------------- */

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

/* ---- records ---------------------------------------------------------------------------------------- */

/* Where the time of work in used runs goes: NULL: to the record of its label, or its own; otherwise to a bucket. */
static const char *bucket_of_work(const struct oc_launches *l, const struct work *w)
{
    if (w->label != OC_NONE)
        return NULL;
    if (w->kind != OC_EV_KERNEL)
        return "copies";
    return l->kernels_are_records ? NULL : "kernels without operator";
}

static uint32_t group_of_work(struct making *m, uint32_t id)
{
    const struct work *w = &m->t->launches->work[id];
    const char *bucket = bucket_of_work(m->t->launches, w);
    bool named = w->label == OC_NONE && (!bucket || w->kind != OC_EV_KERNEL);
    uint32_t key[3] = {w->label, named ? w->name : OC_NONE, bucket != NULL}, group = m->n_group;
    if (!oc_map_add(&m->group_of, (const char *)key, sizeof(key), &group, NULL))
        return group;
    OC_GROW(m->group, m->n_group, m->cap_group);
    m->group[m->n_group++] =
        (struct group){.work = id, .first_kernel = OC_NONE, .rec = OC_NONE, .run = OC_NONE};
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
            OC_GROW(m->kernel, m->n_kernel, m->cap_kernel);
            m->kernel[m->n_kernel++] = (struct kernel){.name = w->name,
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
    rec->bucket = bucket_of_work(l, w);
    rec->name = rec->bucket && w->kind == OC_EV_KERNEL ? "(kernels without operator)" : m->t->name[w->name];
    rec->lane = w->lane;
    rec->where = w->where;
    rec->start_ns = g->start_ns;
    if (w->label != OC_NONE)
        oc_label_describe(&l->label[w->label].label, rec);
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
        rec->host_ns = oc_run_sums_stat(&m->all, m->stat, p->runs_used);
        rec->calls_per_run = (double)rec->calls / p->runs_used;
    }
}

/* ---- end -------------------------------------------------------------------------------------------- */

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
