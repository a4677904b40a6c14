/* Runs of a trace of ONNX Runtime: their statistics, and which of them have the same shapes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_read.h"
#include "onnxcost/profile.h"
#include "profile/core/records.h"
#include "profile/formats/ort_trace.h"

enum { MAX_SETS = 1024 }; /* of runs that are used: a model is analysed for each */
enum { AHEAD = 16 };

/* Which groups are one node, and the sets of shapes of the runs. */
struct ort_shapes {
    uint32_t *head, *next;    /* by group: the first one of its node; the next one of its node, OC_NONE */
    uint32_t *set;            /* by run, OC_NONE: unused */
    uint32_t n_set, left_out; /* left_out: runs that are not used because there are too many sets ... */
    uint32_t without_shapes;  /* ... because their shapes are not kept */
    uint32_t main;            /* the set with the most runs, of several the one with the longest run */
};

/* ---- groups of one node ----------------------------------------------------------------------------- */

static void link_groups(const struct ort_trace *t, const struct ort_groups *g, struct ort_shapes *s)
{
    struct oc_arena scratch = {0};
    struct oc_map nodes = {.arena = &scratch};
    uint32_t *last = oc_xmalloc((g->n + 1) * sizeof(*last));
    for (uint32_t i = 0; i < g->n; i++) {
        const struct ort_group *grp = &g->group[i];
        const struct ort_key *k = &t->key[grp->key];
        const uint64_t id[] = {(uintptr_t)k->name, (uintptr_t)k->op_type, (uintptr_t)k->provider,
                               (uint64_t)k->index, grp->parent == OC_NONE ? OC_NONE : s->head[grp->parent]};
        uint32_t head = i; /* parents precede their children */
        bool first = oc_map_add(&nodes, (const char *)id, sizeof(id), &head, NULL);
        s->head[i] = head;
        s->next[i] = OC_NONE;
        if (!first)
            s->next[last[head]] = i;
        last[head] = i;
    }
    free(last);
    oc_map_free(&nodes);
    oc_arena_free(&scratch);
}

/* ---- sets of shapes of runs ------------------------------------------------------------------------- */

struct digest {
    uint64_t sum, mix;
    bool bare; /* the shapes of a node are not kept */
};

static uint64_t scatter(uint64_t x) /* splitmix64 */
{
    return oc_random(&x);
}

/* Which of the groups of nodes with several occur in a run, in any order and number. */
static struct digest *digest_runs(const struct ort_trace *t, const struct ort_groups *g,
                                  const struct ort_shapes *s)
{
    struct digest *d = oc_xcalloc(t->n_run, sizeof(*d));
    uint32_t *seen = oc_xcalloc(t->n_run, sizeof(*seen));
    for (uint32_t i = 0; i < g->n; i++) {
        const struct ort_group *grp = &g->group[i];
        bool alone = s->head[i] == i && s->next[i] == OC_NONE;
        for (uint32_t k = 0; k < grp->n && !alone; k++) {
            uint32_t run = t->event[g->order[grp->first + k]].lane;
            if (run == OC_NONE || seen[run] == i + 1)
                continue;
            seen[run] = i + 1;
            d[run].sum += scatter(i);
            d[run].mix ^= scatter(~(uint64_t)i);
            d[run].bare |= t->key[grp->key].bare;
        }
    }
    free(seen);
    return d;
}

/* Numbers the sets in the order of their first used run. keep_all: also runs whose shapes are not all kept.
 */
static void number_sets(const struct ort_trace *t, const struct digest *d, bool keep_all,
                        struct ort_shapes *s)
{
    struct oc_arena scratch = {0};
    struct oc_map sets = {.arena = &scratch};
    bool complete = false;
    for (size_t i = 0; i < t->n_run; i++)
        complete |= t->run[i].used && !d[i].bare;
    for (size_t i = 0; i < t->n_run; i++) {
        const uint64_t id[] = {d[i].sum, d[i].mix};
        s->set[i] = OC_NONE;
        if (!t->run[i].used)
            continue;
        if (complete && d[i].bare && !keep_all) {
            s->without_shapes++;
            continue;
        }
        s->set[i] = s->n_set;
        s->n_set += oc_map_add(&sets, (const char *)id, sizeof(id), &s->set[i], NULL);
    }
    oc_map_free(&sets);
    oc_arena_free(&scratch);
}

/* Keeps evenly spaced sets. */
static void sample_sets(const struct ort_trace *t, struct ort_shapes *s)
{
    if (s->n_set <= MAX_SETS)
        return;
    for (size_t i = 0; i < t->n_run; i++) {
        if (s->set[i] == OC_NONE)
            continue;
        uint64_t here = (uint64_t)s->set[i] * MAX_SETS / s->n_set,
                 next = ((uint64_t)s->set[i] + 1) * MAX_SETS / s->n_set;
        s->set[i] = next > here ? (uint32_t)here : OC_NONE;
    }
    s->n_set = MAX_SETS;
}

static void choose_main(const struct ort_trace *t, struct ort_shapes *s)
{
    uint32_t *runs = oc_xcalloc(s->n_set, sizeof(*runs));
    int64_t *longest_us = oc_xcalloc(s->n_set, sizeof(*longest_us));
    for (size_t i = 0; i < t->n_run; i++) {
        uint32_t set = s->set[i];
        if (set == OC_NONE)
            continue;
        runs[set]++;
        longest_us[set] = t->run[i].dur_us > longest_us[set] ? t->run[i].dur_us : longest_us[set];
    }
    for (uint32_t i = 1; i < s->n_set; i++)
        if (runs[i] > runs[s->main] || (runs[i] == runs[s->main] && longest_us[i] > longest_us[s->main]))
            s->main = i;
    free(runs);
    free(longest_us);
}

/* The runs that are in no set are not used. */
static void drop_runs(struct ort_trace *t, struct ort_shapes *s)
{
    for (size_t i = 0; i < t->n_run; i++) {
        s->left_out += t->run[i].used && s->set[i] == OC_NONE;
        t->run[i].used &= s->set[i] != OC_NONE;
    }
}

/* Marks runs as unused, unless keep_all, where there are too many sets. */
static void shapes_find(struct ort_trace *t, const struct ort_groups *g, bool keep_all,
                        struct ort_shapes *out)
{
    *out = (struct ort_shapes){.head = oc_xcalloc(g->n + 1, sizeof(uint32_t)),
                               .next = oc_xcalloc(g->n + 1, sizeof(uint32_t)),
                               .set = oc_xcalloc(t->n_run + 1, sizeof(uint32_t))};
    link_groups(t, g, out);
    struct digest *d = digest_runs(t, g, out);
    number_sets(t, d, keep_all, out);
    if (!keep_all) {
        sample_sets(t, out);
        drop_runs(t, out);
    }
    if (out->n_set)
        choose_main(t, out);
    free(d);
}

/* Marks runs as unused, unless keep_all, where there are too many sets. */
static void shapes_free(struct ort_shapes *s)
{
    free(s->head);
    free(s->next);
    free(s->set);
}

/* ---- what each record did --------------------------------------------------------------------------- */

struct parts { /* of all sets, by record */
    struct placed {
        uint32_t set;
        struct oc_prof_part part;
    } * item;
    size_t n, cap;
    size_t *of_set;     /* index + 1 of the current record's part of a set, 0: none */
    uint32_t *seen_run; /* number + 1 of the record counted last in a run */
};

static void add_event(const struct ort_trace *t, const struct ort_event *e, const struct ort_shapes *s,
                      uint32_t rec, struct parts *p)
{
    uint32_t run = e->lane, set = run == OC_NONE ? OC_NONE : s->set[run], types = e->key;
    if (set == OC_NONE || !t->run[run].used)
        return;
    if (!p->of_set[set]) {
        OC_PUSH(p->item, p->n, p->cap) = (struct placed){set, {.rec = rec, .types = types}};
        p->of_set[set] = p->n;
    }
    struct oc_prof_part *part = &p->item[p->of_set[set] - 1].part;
    part->total_ns += (double)e->self_us * NS_PER_US;
    part->calls++;
    part->types = part->types == types ? types : OC_NONE;
    part->runs += p->seen_run[run] != rec + 1;
    p->seen_run[run] = rec + 1;
}

static void add_parts(const struct ort_trace *t, const struct ort_groups *g, const struct ort_shapes *s,
                      const struct oc_first_call *rec, uint32_t n_rec, struct parts *p)
{
    for (uint32_t r = 0; r < n_rec; r++) {
        size_t from = p->n;
        for (uint32_t i = rec[r].group; i != OC_NONE; i = s->next[i])
            for (uint32_t k = 0; k < g->group[i].n; k++)
                add_event(t, &t->event[g->order[g->group[i].first + k]], s, r, p);
        for (size_t i = from; i < p->n; i++)
            p->of_set[p->item[i].set] = 0;
    }
}

static void runs_of_sets(const struct ort_trace *t, const struct ort_shapes *s, struct oc_prof_shapes *sets)
{
    double *run_ns = OC_NEW_ARRAY(&t->out->arena, t->n_run, double);
    uint32_t at = 0;
    for (size_t i = 0; i < t->n_run; i++)
        if (s->set[i] != OC_NONE)
            sets[s->set[i]].n_run++;
    for (uint32_t i = 0; i < s->n_set; i++) {
        sets[i].run_ns = run_ns + at;
        at += sets[i].n_run;
        sets[i].n_run = 0;
    }
    for (size_t i = 0; i < t->n_run; i++)
        if (s->set[i] != OC_NONE) {
            struct oc_prof_shapes *set = &sets[s->set[i]];
            run_ns[(set->run_ns - run_ns) + set->n_run++] = (double)t->run[i].dur_us * NS_PER_US;
        }
}

/* Fills out->shapes: what each record did in the runs of each set; types are numbered by group. rec: the first group
 * of each record. */
static void keep(const struct ort_trace *t, const struct ort_groups *g, const struct ort_shapes *s,
                 const struct oc_first_call *rec, uint32_t n_rec)
{
    struct oc_profile *out = t->out;
    struct parts p = {.of_set = oc_xcalloc(s->n_set, sizeof(size_t)),
                      .seen_run = oc_xcalloc(t->n_run, sizeof(uint32_t))};
    struct oc_prof_shapes *sets = OC_NEW_ARRAY(&out->arena, s->n_set, struct oc_prof_shapes);
    add_parts(t, g, s, rec, n_rec, &p);
    runs_of_sets(t, s, sets);
    struct oc_prof_part *part = OC_NEW_ARRAY(&out->arena, p.n + 1, struct oc_prof_part);
    size_t *place = oc_xcalloc((size_t)s->n_set + 1, sizeof(*place)); /* counting sort */
    for (size_t i = 0; i < p.n; i++)
        place[p.item[i].set + 1]++;
    for (uint32_t i = 0; i < s->n_set; i++) {
        place[i + 1] += place[i];
        sets[i].part = part + place[i];
    }
    for (size_t i = 0; i < p.n; i++)
        part[place[p.item[i].set]++] = p.item[i].part;
    for (uint32_t i = 0; i < s->n_set; i++)
        sets[i].n_part = (uint32_t)(part + place[i] - sets[i].part);
    out->shapes = sets;
    out->n_shapes = s->n_set;
    out->main_shapes = s->main;
    free(place);
    free(p.item);
    free(p.of_set);
    free(p.seen_run);
}

/* ---- runs ------------------------------------------------------------------------------------------- */

static int run_by_start(const void *a, const void *b)
{
    const struct ort_run *x = a, *y = b;
    if (x->start_us != y->start_us)
        return x->start_us < y->start_us ? -1 : 1;
    return (x->lane > y->lane) - (x->lane < y->lane);
}

/* Without a complete run, the available events are used with a warning. */
static void guess_run(struct ort_trace *t)
{
    int64_t from_us = INT64_MAX, to_us = INT64_MIN;
    for (size_t i = 0; i < t->n_event; i++) {
        const struct ort_event *e = &t->event[i];
        from_us = e->ts_us < from_us ? e->ts_us : from_us;
        to_us = e->ts_us + e->dur_us > to_us ? e->ts_us + e->dur_us : to_us;
    }
    OC_PUSH(t->run, t->n_run, t->run_cap) =
        (struct ort_run){.start_us = from_us, .dur_us = to_us - from_us, .lane = OC_NONE};
    oc_diag_add(&t->out->diags, OC_WARNING, "W-no-run", "",
                "no complete run: times are those of one incomplete run or of several");
}

static void choose_ort_runs(struct ort_trace *t, int32_t warmup)
{
    for (size_t i = oc_prof_use_runs(t->out, (uint32_t)t->n_run, warmup); i < t->n_run; i++)
        t->run[i].used = true;
    t->out->runs_from = OC_RUNS_MARKED;
}

static bool is_used_run(const struct ort_trace *t, uint32_t run)
{
    return run != OC_NONE && t->run[run].used;
}

/* ---- records of groups ------------------------------------------------------------------------------ */

struct making {
    struct ort_trace *t;
    struct ort_groups g;
    struct oc_run_sums sums;
    struct oc_run_choice choice; /* the runs that times are means of */
    struct oc_rec_list recs;
    struct oc_first_call *order; /* by record: its first group */
    struct oc_map types_of;      /* text to index into types */
    struct ort_types *types;
    size_t n_types, cap_types;
    struct ort_shapes shapes;
    struct ort_left cut, outside; /* in no run: after the end of the last one; before it */
    int64_t held_us;              /* in unused runs */
    bool guessed, by_node;        /* by_node: one record for all groups of a node */
};

/* The next group of the same record, OC_NONE: none. */
static uint32_t next_of_record(const struct making *m, uint32_t group)
{
    return m->by_node ? m->shapes.next[group] : OC_NONE;
}

/* Sums the calls in used runs of all groups of a record. Returns whether a call contains other events. */
static bool sum_calls(struct making *m, uint32_t group, bool self, uint64_t *calls)
{
    const struct ort_event *event = m->t->event;
    bool nested = false;
    *calls = 0;
    oc_run_sums_clear(&m->sums);
    for (; group != OC_NONE; group = next_of_record(m, group)) {
        const uint32_t *order = m->g.order + m->g.group[group].first, n = m->g.group[group].n;
        for (uint32_t i = 0; i < n; i++) {
            const struct ort_event *e = &event[order[i]];
            __builtin_prefetch(&event[order[i + AHEAD < n ? i + AHEAD : i]]); /* one run after the other */
            if (!is_used_run(m->t, e->lane))
                continue;
            oc_run_sums_add(&m->sums, e->lane, (double)(self ? e->self_us : e->dur_us) * NS_PER_US);
            nested |= e->self_us != e->dur_us;
            ++*calls;
        }
    }
    return nested;
}

static void sum_group(struct making *m, uint32_t group, struct oc_prof_rec *rec)
{
    const struct oc_profile *p = m->t->out;
    bool nested = sum_calls(m, group, false, &rec->calls);
    oc_run_sums_store(&m->sums, &m->choice, rec);
    rec->calls_per_run = rec->runs ? (double)rec->calls / p->runs_used : (double)NAN;
    rec->self_ns = rec->time_ns;
    if (nested) {
        sum_calls(m, group, true, &rec->calls);
        rec->self_ns = oc_run_sums_stat(&m->sums, &m->choice);
        oc_run_sums_quantiles(&m->sums, rec);
    }
    rec->total_ns = oc_run_sums_total(&m->sums);
}

static bool types_of_text(struct making *m, const char *text, const struct oc_type **type, uint32_t *n)
{
    uint32_t at = (uint32_t)m->n_types;
    if (!text)
        return false;
    if (oc_map_add(&m->types_of, text, strlen(text), &at, NULL)) {
        OC_PUSH(m->types, m->n_types, m->cap_types) = oc_ort_parse_types(&m->t->out->arena, text);
    }
    *type = m->types[at].type;
    *n = m->types[at].n;
    return true;
}

static struct oc_prof_types types_of_key(struct making *m, const struct ort_key *k)
{
    struct oc_prof_types t = {.in = NULL};
    t.has_in = types_of_text(m, k->in.s, &t.in, &t.n_in);
    t.has_out = types_of_text(m, k->out.s, &t.out, &t.n_out);
    return t;
}

static void ort_runs_describe(struct making *m, const struct ort_key *k, struct oc_prof_rec *rec)
{
    rec->name = k->name;
    rec->op_type = k->op_type;
    rec->provider = k->provider;
    rec->index = k->index;
    rec->param_bytes = k->param_bytes;
    rec->act_bytes = k->act_bytes;
    rec->out_bytes = k->out_bytes;
    rec->where = k->where;
    rec->waits = k->told_us > 0 ? (double)k->waited_us / (double)k->told_us : (double)NAN;
    rec->bucket = k->kind == ORT_FENCE ? "framework" : NULL;
    if (!m->by_node) { /* else those of the main shapes, see keep_shapes */
        struct oc_prof_types types = types_of_key(m, k);
        oc_prof_set_types(rec, &types);
    }
}

static void leave_event(struct making *m, const struct ort_event *e, int64_t last_end_us)
{
    struct ort_left *l = e->ts_us >= last_end_us ? &m->cut : &m->outside;
    if (e->lane == OC_NONE)
        *l = (struct ort_left){l->us + e->self_us, l->n + 1};
    else
        m->held_us += e->self_us;
}

/* The records, each by its first group, in the order of their first starts. */
static struct oc_first_call *list_records(struct making *m, size_t *n)
{
    const struct ort_trace *t = m->t;
    struct oc_first_call *order = oc_xmalloc(m->g.n * sizeof(*order));
    int64_t last_end_us = oc_ort_last_end(t);
    for (uint32_t i = 0; i < m->g.n; i++)
        order[i] = (struct oc_first_call){i, OC_NONE, 0};
    for (size_t i = 0; i < t->n_event; i++) {
        const struct ort_event *e = &t->event[i];
        if (!is_used_run(t, e->lane)) {
            leave_event(m, e, last_end_us);
            continue;
        }
        struct oc_first_call *first = &order[m->by_node ? m->shapes.head[e->key] : e->key];
        double start_us = (double)(e->ts_us - t->run[e->lane].start_us);
        if (e->lane < first->run || (e->lane == first->run && start_us < first->start)) {
            first->run = e->lane;
            first->start = start_us;
        }
    }
    *n = 0;
    for (uint32_t i = 0; i < m->g.n; i++)
        if (order[i].run != OC_NONE)
            order[(*n)++] = order[i];
    oc_sort_first_calls(order, *n, false);
    return order;
}

static void add_group_recs(struct making *m)
{
    struct ort_groups *g = &m->g;
    size_t n;
    struct oc_first_call *order = m->order = list_records(m, &n);
    for (size_t i = 0; i < n; i++)
        for (uint32_t k = order[i].group; k != OC_NONE; k = next_of_record(m, k))
            g->group[k].rec = (uint32_t)i;
    for (size_t i = 0; i < n; i++) {
        const struct ort_group *grp = &g->group[order[i].group];
        struct oc_prof_rec *rec = oc_rec_add(&m->recs);
        ort_runs_describe(m, &m->t->key[grp->key], rec);
        rec->lane = grp->lane;
        rec->parent = grp->parent == OC_NONE ? OC_NONE : g->group[grp->parent].rec;
        rec->start_ns = order[i].start * NS_PER_US;
        sum_group(m, order[i].group, rec);
    }
}

/* Records of nodes have the types that they have in the runs with the main shapes. */
static void keep_shapes(struct making *m)
{
    struct oc_profile *p = m->t->out;
    if (!m->by_node)
        return;
    struct oc_prof_types *types = OC_NEW_ARRAY(&p->arena, m->g.n + 1, struct oc_prof_types);
    for (size_t i = 0; i < m->g.n; i++)
        types[i] = types_of_key(m, &m->t->key[m->g.group[i].key]);
    p->types = types;
    keep(m->t, &m->g, &m->shapes, m->order, (uint32_t)m->recs.n);
    const struct oc_prof_shapes *main = &p->shapes[p->main_shapes];
    for (uint32_t i = 0; i < main->n_part; i++)
        if (main->part[i].types != OC_NONE)
            oc_prof_set_types(&m->recs.rec[main->part[i].rec], &types[main->part[i].types]);
}

/* A node with several sets of recorded shapes: one record per set, because their costs differ. */
static void warn_split_nodes(struct making *m)
{
    size_t split = 0;
    const char *first = NULL;
    if (m->by_node)
        return;
    for (size_t i = 0; i < m->g.n; i++) {
        const struct ort_group *g = &m->g.group[i];
        if (g->same_name == OC_NONE)
            continue;
        const struct ort_group *other = &m->g.group[g->same_name];
        const struct ort_key *a = &m->t->key[g->key], *b = &m->t->key[other->key];
        if (g->parent != other->parent || a->index != b->index || a->op_type != b->op_type ||
            (a->in.s == b->in.s && a->out.s == b->out.s)) /* interned */
            continue;
        if (!split++)
            first = a->name;
    }
    if (split)
        oc_diag_add(&m->t->out->diags, OC_WARNING, "W-shapes-vary", first,
                    "nodes ran with more than one set of shapes (%zu sets): one record per set", split);
}

/* ---- buckets and totals ----------------------------------------------------------------------------- */

/* For each used run the sum of these multiples of its duration and busy time. */
static void sum_runs(struct making *m, int dur, int busy)
{
    const struct ort_trace *t = m->t;
    oc_run_sums_clear(&m->sums);
    for (uint32_t i = 0; i < t->n_run; i++)
        if (t->run[i].used)
            oc_run_sums_add(&m->sums, i,
                            (dur * (double)t->run[i].dur_us + busy * t->run[i].busy_us) * NS_PER_US);
}

static void add_framework(struct making *m)
{
    struct oc_profile *p = m->t->out;
    struct oc_run_sums *s = &m->sums;
    sum_runs(m, 0, 1);
    p->busy_ns = oc_run_sums_stat(s, &m->choice);
    if (m->guessed || !p->runs_used)
        return;
    sum_runs(m, 1, 0);
    p->run_ns = oc_run_sums_stat(s, &m->choice);
    sum_runs(m, 1, -1);
    struct oc_prof_rec *rec = oc_rec_add_named(&m->recs, "framework", "(framework)");
    oc_run_sums_store(s, &m->choice, rec);
    rec->self_ns = rec->time_ns;
    rec->total_ns = oc_run_sums_total(s);
    rec->calls = rec->runs;
    rec->calls_per_run = 1;
}

static struct oc_prof_rec *add_left(struct making *m, const char *bucket, const char *name, struct ort_left l)
{
    struct oc_prof_rec *rec = oc_rec_add_named(&m->recs, bucket, name);
    rec->time_ns = rec->self_ns = rec->total_ns = (double)l.us * NS_PER_US;
    rec->calls = l.n;
    return rec;
}

static void add_load(struct making *m)
{
    const struct ort_trace *t = m->t;
    for (size_t i = 0; i < t->n_session; i++) {
        const struct ort_session *e = &t->session[i];
        bool early = !t->n_run || e->ts_us < t->run[0].start_us;
        add_left(m, early ? "load" : "session", e->name, (struct ort_left){e->dur_us, 1})->where = e->where;
    }
}

static void ort_runs_add_unused(struct making *m)
{
    const struct ort_trace *t = m->t;
    struct ort_left warmup = {0};
    bool more = m->shapes.left_out;
    for (size_t i = 0; i < t->n_run; i++) {
        const struct ort_run *r = &t->run[i];
        if (r->used)
            continue;
        warmup = (struct ort_left){warmup.us + r->dur_us, warmup.n + 1};
        m->held_us += r->dur_us - (int64_t)r->busy_us;
    }
    if (warmup.n) /* in all more than the durations of the runs when threads overlap */
        add_left(m, more ? "unused runs" : "warm-up runs", more ? "(unused runs)" : "(warm-up runs)", warmup)
            ->total_ns = (double)m->held_us * NS_PER_US;
    if (m->cut.n)
        add_left(m, "incomplete run", "(incomplete run)", m->cut);
    if (m->outside.n)
        add_left(m, "outside runs", "(outside runs)", m->outside);
}

/* All durations read, minus what a run or control flow node counts of the events inside it. */
static void sum_imported(struct making *m)
{
    const struct ort_trace *t = m->t;
    int64_t us = t->read_us - t->twice_us;
    for (size_t i = 0; i < t->n_run && !m->guessed; i++)
        us -= (int64_t)t->run[i].busy_us;
    t->out->imported_ns = (double)us * NS_PER_US;
    if (t->n_kernel)
        t->out->imported_kernel_ns = (double)t->read_kernel_us * NS_PER_US;
}

/* "CUDAExecutionProvider" and "CPUExecutionProvider" give "CUDA + CPU". */
static void ort_runs_name_device(struct making *m)
{
    struct oc_profile *p = m->t->out;
    const char *seen[8], *text = "";
    size_t n = 0;
    bool launches = false;
    for (size_t i = 0; i < m->recs.n; i++) {
        const char *name = m->recs.rec[i].provider, *end = strstr(name, "ExecutionProvider");
        bool known = !end || end == name || n == OC_COUNT(seen);
        for (size_t k = 0; k < n && !known; k++)
            known = seen[k] == name;
        if (known)
            continue;
        seen[n++] = name;
        text = oc_printf(&p->arena, "%s%s%.*s", text, n > 1 ? " + " : "", (int)(end - name), name);
        launches |= oc_ort_node_is_launch(name, false);
    }
    p->device = text;
    if (launches && !m->t->n_kernel)
        oc_diag_add(&p->diags, OC_WARNING, "W-host-time", "",
                    "no kernel events: node times are host launch times, not device times");
}

static double operators_per_run(const struct making *m)
{
    double calls = 0;
    for (size_t i = 0; i < m->recs.n; i++)
        calls += m->recs.rec[i].bucket ? 0 : m->recs.rec[i].calls_per_run;
    return calls;
}

static void mark_launches(struct making *m)
{
    for (size_t i = 0; i < m->recs.n; i++) {
        struct oc_prof_rec *rec = &m->recs.rec[i];
        rec->is_launch =
            !rec->bucket && isnan(rec->kernel_ns) && oc_ort_node_is_launch(rec->provider, m->t->n_kernel > 0);
    }
}

/* Which runs have the same shapes, and which runs the times are means of. */
static void find_shapes(struct making *m, const struct oc_profile_opts *opts)
{
    struct ort_trace *t = m->t;
    struct oc_profile *p = t->out;
    const struct ort_shapes *s = &m->shapes;
    shapes_find(t, &m->g, !opts->by_node, &m->shapes);
    sum_runs(m, 1, 0);
    if (m->guessed) {
        p->runs_total = 0;
        p->runs_from = OC_RUNS_UNKNOWN;
        p->stat = OC_STAT_SUM;
        oc_run_sums_choose(&m->sums, p->stat, t->n_run, &m->choice);
        p->runs_selected = m->choice.n;
        return;
    }
    p->runs_used -= s->left_out;
    if (s->left_out)
        oc_diag_add(
            &p->diags, OC_WARNING, "W-many-sizes", "",
            "the shapes differ in so many runs that %u runs are not used: times and work are those of "
            "%u runs with %u sets of shapes, %s",
            s->left_out, p->runs_used, s->n_set,
            s->left_out == s->without_shapes ? "the first ones in the file"
            : s->without_shapes              ? "evenly spaced in the first ones in the file"
                                             : "evenly spaced");
    m->by_node = opts->by_node && s->n_set > 1;
    sum_runs(m, 1, 0); /* of the runs that are still used */
    oc_run_sums_spread(&m->sums, &p->spread);
    p->spread.shapes = s->n_set;
    p->stat = oc_run_spread_stat(&p->spread, opts->stat, &p->diags);
    oc_run_sums_choose(&m->sums, p->stat, t->n_run, &m->choice);
    p->runs_selected = m->choice.n;
}

void oc_ort_summarise(struct ort_trace *t, const struct oc_profile_opts *opts)
{
    struct oc_profile *p = t->out;
    struct making m = {.t = t, .guessed = !t->n_run && t->n_event > 0};
    p->time_kind = "host time";
    if (t->n_run)
        qsort(t->run, t->n_run, sizeof(*t->run), run_by_start);
    if (m.guessed)
        guess_run(t);
    choose_ort_runs(t, opts->warmup);
    m.types_of.arena = &m.g.arena;
    oc_ort_nest(t, &m.g);
    oc_run_sums_init(&m.sums, t->n_run);
    find_shapes(&m, opts);
    add_group_recs(&m);
    keep_shapes(&m);
    warn_split_nodes(&m);
    ort_runs_name_device(&m);
    oc_ort_attribute_kernels(t, &m.g, &m.recs, &m.sums, &m.choice);
    mark_launches(&m);
    add_framework(&m);
    add_load(&m);
    ort_runs_add_unused(&m);
    if (!t->n_kernel)
        oc_run_spread_warn_short(&p->spread, operators_per_run(&m), &p->diags);
    sum_imported(&m);
    oc_rec_list_end(&m.recs, p);
    oc_run_sums_free(&m.sums);
    oc_run_choice_free(&m.choice);
    shapes_free(&m.shapes);
    free(m.order);
    oc_map_free(&m.types_of);
    free(m.types);
    oc_ort_groups_free(&m.g);
}
