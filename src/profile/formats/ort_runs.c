#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_read.h"
#include "profile/formats/ort_event.h"
#include "profile/formats/ort_trace.h"
#include "profile/recorded_types.h"
#include "onnxcost/profile.h"

#define NS_PER_US 1000.0
#define MAX_TYPES 4096

enum { AHEAD = 16 };

/* ---- recorded types --------------------------------------------------------------------------------- */

struct types {
    const struct oc_type *type;
    uint32_t n;
};

/* [{"float":[1,3,48,192]},{"int64":[]}]: one object with one member per tensor. */
static struct types parse_types(struct oc_arena *a, const char *text)
{
    struct oc_stream *s = oc_stream_mem(text, strlen(text));
    struct oc_json *j = oc_json_open(s);
    struct oc_type type[64] = {{0}}, *all = type;
    size_t n = 0, cap = OC_COUNT(type);
    struct oc_str key;
    if (oc_json_enter(j))
        while (oc_json_item(j) && oc_json_enter(j))
            while (oc_json_member(j, &key)) {
                unsigned dtype = oc_dtype_by_name(key.s, key.n);
                if (n == cap && cap < MAX_TYPES) {
                    struct oc_type *more = oc_alloc_array(a, cap * 4, sizeof(*more));
                    memcpy(more, all, n * sizeof(*all));
                    all = more;
                    cap *= 4;
                }
                struct oc_shape shape;
                if (n < cap && oc_recorded_dims(j, a, &shape))
                    all[n++] = oc_tensor_type(dtype, shape);
            }
    oc_json_close(j);
    oc_stream_close(s);
    return (struct types){OC_COPY_ARRAY(a, all, n), (uint32_t)n};
}

struct type_cache {
    struct oc_map of; /* text to index */
    struct oc_arena arena;
    struct types *types;
    size_t n, cap;
};

static struct types ort_runs_types_of(struct type_cache *c, struct oc_arena *a, const char *text)
{
    uint32_t at = (uint32_t)c->n;
    if (oc_map_add(&c->of, text, strlen(text), &at, NULL)) {
        OC_GROW(c->types, c->n, c->cap);
        c->types[c->n++] = parse_types(a, text);
    }
    return c->types[at];
}

static void free_types(struct type_cache *c)
{
    oc_map_free(&c->of);
    oc_arena_free(&c->arena);
    free(c->types);
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
    OC_GROW(t->run, t->n_run, t->run_cap);
    t->run[t->n_run++] = (struct ort_run){.start_us = from_us, .dur_us = to_us - from_us, .lane = OC_NONE};
    oc_diag_add(&t->out->diags, OC_WARNING, "W-no-run", "",
                "no complete run: times are those of one incomplete run or of several");
}

static void ort_runs_choose_runs(struct ort_trace *t, int32_t warmup)
{
    for (size_t i = oc_prof_use_runs(t->out, (uint32_t)t->n_run, warmup); i < t->n_run; i++)
        t->run[i].used = true;
    t->out->runs_from = OC_RUNS_MARKED;
}

/* Chooses the statistic from the spread of the run times. */
static void ort_runs_choose_stat(struct ort_trace *t, enum oc_stat wanted, uint32_t sets)
{
    double *ns = oc_xmalloc(t->n_run * sizeof(*ns));
    size_t n = 0;
    for (size_t i = 0; i < t->n_run; i++)
        if (t->run[i].used)
            ns[n++] = (double)t->run[i].dur_us * NS_PER_US;
    oc_run_spread_of(ns, n, &t->out->spread);
    t->out->spread.shapes = sets;
    t->out->stat = oc_run_spread_stat(&t->out->spread, wanted, &t->out->diags);
    free(ns);
}

static bool is_used_run(const struct ort_trace *t, uint32_t run)
{
    return run != OC_NONE && t->run[run].used;
}

/* ---- records of groups ------------------------------------------------------------------------------ */

struct making {
    struct ort_trace *t;
    struct ort_groups g;
    struct ort_busy *busy;
    struct ort_unused unused;
    struct oc_run_sums sums;
    struct oc_rec_list recs;
    struct type_cache types;
    struct ort_shapes shapes;
    enum oc_stat stat;
    bool guessed, by_node; /* by_node: one record for all groups of a node */
};

struct ordered {
    uint32_t group, run;
    int64_t start_us;
};

static int ort_runs_by_start(const void *a, const void *b)
{
    const struct ordered *x = a, *y = b;
    if (x->start_us != y->start_us)
        return x->start_us < y->start_us ? -1 : 1;
    return (x->group > y->group) - (x->group < y->group);
}

/* The next group of the same record, OC_NONE: none. */
static uint32_t next_of_record(const struct making *m, uint32_t group)
{
    return m->by_node ? m->shapes.next[group] : OC_NONE;
}

/* Adds the group's calls in used runs to the sums. Returns their number; *nested: a call contains other
 * events. */
static uint64_t ort_runs_add_group(struct making *m, const struct ort_group *g, bool self, bool *nested)
{
    const struct ort_trace *t = m->t;
    uint64_t calls = 0;
    const uint32_t *order = m->g.order + g->first;
    for (uint32_t i = 0; i < g->n; i++) {
        const struct ort_event *e = &t->event[order[i]];
        __builtin_prefetch(&t->event[order[i + AHEAD < g->n ? i + AHEAD : i]]); /* one run after the other */
        if (!is_used_run(t, e->lane))
            continue;
        oc_run_sums_add(&m->sums, e->lane, (double)(self ? e->self_us : e->dur_us) * NS_PER_US);
        *nested |= e->self_us != e->dur_us;
        calls++;
    }
    return calls;
}

/* The same for all groups of the record. */
static uint64_t ort_runs_add_calls(struct making *m, uint32_t group, bool self, bool *nested)
{
    uint64_t calls = 0;
    oc_run_sums_clear(&m->sums);
    for (; group != OC_NONE; group = next_of_record(m, group))
        calls += ort_runs_add_group(m, &m->g.group[group], self, nested);
    return calls;
}

static void sum_group(struct making *m, uint32_t g, struct oc_prof_rec *rec)
{
    bool nested = false;
    rec->calls = ort_runs_add_calls(m, g, false, &nested);
    oc_run_sums_store(&m->sums, m->stat, m->t->out->runs_used, rec);
    rec->calls_per_run = rec->runs ? (double)rec->calls / m->t->out->runs_used : (double)NAN;
    rec->self_ns = rec->time_ns;
    if (nested) {
        ort_runs_add_calls(m, g, true, &nested);
        rec->self_ns = oc_run_sums_stat(&m->sums, m->stat, m->t->out->runs_used);
    }
    rec->total_ns = oc_run_sums_total(&m->sums);
}

static struct oc_prof_types types_of_key(struct making *m, const struct ort_key *k)
{
    struct oc_prof_types t = {.has_in = k->in_text != NULL, .has_out = k->out_text != NULL};
    struct oc_arena *a = &m->t->out->arena;
    if (t.has_in) {
        struct types in = ort_runs_types_of(&m->types, a, k->in_text);
        t.in = in.type;
        t.n_in = in.n;
    }
    if (t.has_out) {
        struct types out = ort_runs_types_of(&m->types, a, k->out_text);
        t.out = out.type;
        t.n_out = out.n;
    }
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
    rec->bucket = k->kind == ORT_FENCE ? "framework" : NULL;
    if (!m->by_node) { /* else those of the main shapes, see keep_shapes */
        struct oc_prof_types types = types_of_key(m, k);
        oc_prof_set_types(rec, &types);
    }
}

/* The first start of the record's groups. */
static struct ordered first_start(const struct making *m, uint32_t group)
{
    struct ordered o = {group, OC_NONE, 0};
    for (uint32_t i = group; i != OC_NONE; i = next_of_record(m, i)) {
        const struct ort_group *g = &m->g.group[i];
        if (g->start_run < o.run || (g->start_run == o.run && g->start_us < o.start_us))
            o = (struct ordered){group, g->start_run, g->start_us};
    }
    return o;
}

static void add_group_recs(struct making *m)
{
    struct ort_groups *g = &m->g;
    struct ordered *order = oc_xmalloc(g->n * sizeof(*order));
    size_t n = 0;
    for (uint32_t i = 0; i < g->n; i++) {
        bool head = !m->by_node || m->shapes.head[i] == i;
        order[n] = first_start(m, i);
        n += head && order[n].run != OC_NONE;
    }
    if (n)
        qsort(order, n, sizeof(*order), ort_runs_by_start);
    for (size_t i = 0; i < n; i++)
        for (uint32_t k = order[i].group; k != OC_NONE; k = next_of_record(m, k))
            g->group[k].rec = (uint32_t)i;
    for (size_t i = 0; i < n; i++) {
        const struct ort_group *grp = &g->group[order[i].group];
        struct oc_prof_rec *rec = oc_rec_add(&m->recs);
        ort_runs_describe(m, &m->t->key[grp->key], rec);
        rec->lane = grp->lane;
        rec->parent = grp->parent == OC_NONE ? OC_NONE : g->group[grp->parent].rec;
        rec->start_ns = (double)order[i].start_us * NS_PER_US;
        sum_group(m, order[i].group, rec);
    }
    free(order);
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
    ort_shapes_keep(m->t, &m->g, &m->shapes, (uint32_t)m->recs.n);
    const struct oc_prof_shapes *main = &p->shapes[p->main_shapes];
    for (uint32_t i = 0; i < main->n_part; i++)
        if (main->part[i].types != OC_NONE)
            oc_prof_set_types(&m->recs.rec[main->part[i].rec], &types[main->part[i].types]);
}

static bool same_text(const char *a, const char *b) /* interned */
{
    return a == b;
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
        if (g->parent != other->parent || a->index != b->index || !same_text(a->op_type, b->op_type) ||
            (same_text(a->in_text, b->in_text) && same_text(a->out_text, b->out_text)))
            continue;
        if (!split++)
            first = a->name;
    }
    if (split)
        oc_diag_add(&m->t->out->diags, OC_WARNING, "W-shapes-vary", first,
                    "nodes ran with more than one set of shapes (%zu sets): one record per set", split);
}

/* ---- buckets and totals ----------------------------------------------------------------------------- */

static void add_framework(struct making *m)
{
    struct ort_trace *t = m->t;
    struct oc_profile *p = t->out;
    struct oc_run_sums *s = &m->sums;
    p->run_ns = p->busy_ns = (double)NAN;
    if (!p->runs_used)
        return;
    oc_run_sums_clear(s);
    for (uint32_t i = 0; i < t->n_run; i++)
        if (t->run[i].used)
            oc_run_sums_add(s, i, (double)m->busy[i].busy_us * NS_PER_US);
    p->busy_ns = oc_run_sums_stat(s, m->stat, p->runs_used);
    if (m->guessed)
        return;
    oc_run_sums_clear(s);
    for (uint32_t i = 0; i < t->n_run; i++)
        if (t->run[i].used)
            oc_run_sums_add(s, i, (double)t->run[i].dur_us * NS_PER_US);
    p->run_ns = oc_run_sums_stat(s, m->stat, p->runs_used);
    for (uint32_t i = 0; i < t->n_run; i++)
        if (t->run[i].used)
            s->sum[i] -= (double)m->busy[i].busy_us * NS_PER_US;
    struct oc_prof_rec *rec = oc_rec_add_named(&m->recs, "framework", "(framework)");
    oc_run_sums_store(s, m->stat, p->runs_used, rec);
    rec->self_ns = rec->time_ns;
    rec->total_ns = oc_run_sums_total(s);
    rec->calls = rec->runs;
    rec->calls_per_run = 1;
}

static void ort_runs_set_total(struct oc_prof_rec *rec, int64_t us, uint64_t calls, uint64_t where)
{
    rec->time_ns = rec->self_ns = rec->total_ns = (double)us * NS_PER_US;
    rec->calls = calls;
    rec->where = where;
}

static void add_load(struct making *m)
{
    const struct ort_trace *t = m->t;
    for (size_t i = 0; i < t->n_session; i++) {
        const struct ort_session *e = &t->session[i];
        bool early = !t->n_run || e->ts_us < t->run[0].start_us;
        ort_runs_set_total(oc_rec_add_named(&m->recs, early ? "load" : "session", e->name), e->dur_us, 1,
                           e->where);
    }
}

static void ort_runs_add_unused(struct making *m)
{
    const struct ort_trace *t = m->t;
    const struct ort_unused *u = &m->unused;
    int64_t warmup_us = 0, held_us = u->held_us;
    uint64_t n_warmup = 0;
    for (size_t i = 0; i < t->n_run; i++) {
        warmup_us += t->run[i].used ? 0 : t->run[i].dur_us;
        held_us += t->run[i].used ? 0 : t->run[i].dur_us - m->busy[i].busy_us;
        n_warmup += !t->run[i].used;
    }
    if (n_warmup) {
        bool more = m->shapes.left_out;
        struct oc_prof_rec *rec = oc_rec_add_named(&m->recs, more ? "unused runs" : "warm-up runs",
                                                   more ? "(unused runs)" : "(warm-up runs)");
        ort_runs_set_total(rec, warmup_us, n_warmup, 0);
        rec->total_ns = (double)held_us * NS_PER_US; /* more than the run durations when threads overlap */
    }
    if (u->n_cut)
        ort_runs_set_total(oc_rec_add_named(&m->recs, "incomplete run", "(incomplete run)"), u->cut_us,
                           u->n_cut, 0);
    if (u->n_outside)
        ort_runs_set_total(oc_rec_add_named(&m->recs, "outside runs", "(outside runs)"), u->outside_us,
                           u->n_outside, 0);
}

/* All durations read, minus what a run or control flow node counts of the events inside it. */
static void sum_imported(struct making *m)
{
    const struct ort_trace *t = m->t;
    int64_t us = t->read_us - t->twice_us;
    for (size_t i = 0; i < t->n_run && !m->guessed; i++)
        us -= m->busy[i].busy_us;
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
            known = same_text(seen[k], name);
        if (known)
            continue;
        seen[n++] = name;
        text = oc_printf(&p->arena, "%s%s%.*s", text, n > 1 ? " + " : "", (int)(end - name), name);
        launches |= ort_node_is_launch(name, false);
    }
    p->device = text;
    if (launches && !m->t->n_kernel)
        oc_diag_add(&p->diags, OC_WARNING, "W-host-time", "",
                    "no kernel events: node times are host launch times, not device times");
}

static void mark_launches(struct making *m)
{
    for (size_t i = 0; i < m->recs.n; i++) {
        struct oc_prof_rec *rec = &m->recs.rec[i];
        rec->is_launch =
            !rec->bucket && isnan(rec->kernel_ns) && ort_node_is_launch(rec->provider, m->t->n_kernel > 0);
    }
}

/* Which runs have the same shapes, and the statistic that follows from it. */
static void find_shapes(struct making *m, const struct oc_profile_opts *opts)
{
    struct ort_trace *t = m->t;
    struct oc_profile *p = t->out;
    const struct ort_shapes *s = &m->shapes;
    ort_shapes_find(t, &m->g, &m->unused, !opts->by_node, &m->shapes);
    if (m->guessed) {
        p->runs_total = 0;
        p->runs_from = OC_RUNS_UNKNOWN;
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
    ort_runs_choose_stat(t, opts->stat, s->n_set);
}

void ort_summarise(struct ort_trace *t, const struct oc_profile_opts *opts)
{
    struct oc_profile *p = t->out;
    struct making m = {.t = t, .guessed = !t->n_run && t->n_event > 0};
    p->time_kind = "host time";
    if (t->n_run)
        qsort(t->run, t->n_run, sizeof(*t->run), run_by_start);
    if (m.guessed)
        guess_run(t);
    ort_runs_choose_runs(t, opts->warmup);
    m.busy = oc_xmalloc(t->n_run * sizeof(*m.busy));
    m.types.of.arena = &m.types.arena;
    ort_nest(t, &m.g, m.busy, &m.unused);
    find_shapes(&m, opts);
    m.stat = p->stat;
    oc_run_sums_init(&m.sums, t->n_run);
    add_group_recs(&m);
    keep_shapes(&m);
    warn_split_nodes(&m);
    ort_runs_name_device(&m);
    ort_attribute_kernels(t, &m.g, &m.recs, &m.sums);
    mark_launches(&m);
    add_framework(&m);
    add_load(&m);
    ort_runs_add_unused(&m);
    sum_imported(&m);
    oc_rec_list_end(&m.recs, p);
    free(m.busy);
    oc_run_sums_free(&m.sums);
    ort_shapes_free(&m.shapes);
    ort_groups_free(&m.g);
    free_types(&m.types);
}
