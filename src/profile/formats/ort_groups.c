/* Groups of events of a trace of ONNX Runtime: nesting of the events of nodes, and device kernels of groups. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/formats/ort_trace.h"

static int compare_events(const void *a, const void *b, void *keys)
{
    return ort_before(a, b, keys) ? -1 : ort_before(b, a, keys);
}

/* Insertion sort with a bound on moves: traces are sorted by the events' ends, and only outer events are
 * out of order. */
static void sort_events(struct ort_event *e, size_t n, struct ort_key *key)
{
    size_t budget = 16 * n + 1000;
    for (size_t i = 1; i < n; i++) {
        struct ort_event moved = e[i];
        size_t k = i;
        for (; k > 0 && ort_before(&moved, &e[k - 1], key); k--)
            e[k] = e[k - 1];
        e[k] = moved;
        if (i - k > budget) {
            qsort_r(e, n, sizeof(*e), compare_events, key);
            return;
        }
        budget -= i - k;
    }
}

int64_t oc_ort_last_end(const struct ort_trace *t)
{
    int64_t last_us = INT64_MIN;
    for (size_t i = 0; i < t->n_run; i++)
        last_us = ort_run_end(&t->run[i]) > last_us ? ort_run_end(&t->run[i]) : last_us;
    return last_us;
}

/* Index of the last run that starts at or before ts (runs sorted by start), OC_NONE: none. */
static uint32_t ort_run_before(const struct ort_trace *t, int64_t ts_us)
{
    size_t low = 0, high = t->n_run;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (t->run[mid].start_us <= ts_us)
            low = mid + 1;
        else
            high = mid;
    }
    return low ? (uint32_t)(low - 1) : OC_NONE;
}

/* ---- groups ----------------------------------------------------------------------------------------- */

void oc_ort_groups_free(struct ort_groups *g)
{
    free(g->group);
    free(g->order);
    oc_map_free(&g->of);
    oc_map_free(&g->by_name);
    oc_arena_free(&g->arena);
}

static uint32_t find_group(const struct ort_groups *g, uint32_t key, uint32_t parent)
{
    uint32_t id[2] = {key, parent};
    return oc_map_get(&g->of, (const char *)id, sizeof(id));
}

static uint32_t group_of(const struct ort_trace *t, struct ort_groups *g, uint32_t key, uint32_t parent,
                         uint32_t lane)
{
    struct ort_key *k = &t->key[key];
    uint32_t at = (uint32_t)g->n;
    if (k->kind == ORT_FENCE)
        parent = OC_NONE;
    if (k->last_group != OC_NONE && k->last_parent == parent)
        return k->last_group;
    uint32_t id[2] = {key, parent};
    bool new = oc_map_add(&g->of, (const char *)id, sizeof(id), &at, NULL);
    k->last_parent = parent;
    k->last_group = at;
    if (!new)
        return at;
    OC_PUSH(g->group, g->n, g->cap) =
        (struct ort_group){.key = key,
                           .parent = parent,
                           .same_name = oc_map_get(&g->by_name, k->name, strlen(k->name)),
                           .rec = OC_NONE,
                           .lane = lane};
    oc_map_set(&g->by_name, k->name, strlen(k->name), at);
    return at;
}

/* ---- runs and nesting ------------------------------------------------------------------------------- */

struct nesting {
    struct ort_trace *t;
    struct ort_groups *g;
    struct ort_event **stack; /* events that contain the next one, with their groups and runs */
    size_t depth, cap;
    uint32_t run;  /* of the current lane: the last one that began, at first the first one; OC_NONE: none */
    uint32_t *top; /* events in runs that are in no other event */
    size_t n_top, cap_top;
    bool mixed; /* a run has events of other lanes than its own */
};

/* Resolves an event that may be a child or a sibling of the node: uses what the same node did in other
 * runs. */
static bool was_inside(const struct nesting *x, const struct ort_event *outer, uint32_t key)
{
    const struct ort_group *g = &x->g->group[outer->key];
    return x->t->key[g->key].has_body && find_group(x->g, key, outer->key) != OC_NONE &&
           find_group(x->g, key, g->parent) == OC_NONE;
}

/* Start and duration are each truncated to microseconds, so on one thread an event that begins before the
 * written end is inside. One that begins exactly at the end may be the last child or the next sibling. */
static bool is_child(const struct nesting *x, const struct ort_event *outer, const struct ort_event *e)
{
    int64_t end_us = outer->ts_us + outer->dur_us;
    if (e->ts_us + e->dur_us > end_us + 1)
        return false;
    return e->ts_us < end_us || was_inside(x, outer, e->key);
}

/* An event under one microsecond that starts together with a node may have preceded it. */
static struct ort_event *outer_of(const struct nesting *x, const struct ort_event *e)
{
    size_t d = x->depth;
    while (d && !e->dur_us && x->stack[d - 1]->ts_us == e->ts_us && !was_inside(x, x->stack[d - 1], e->key))
        d--;
    return d ? x->stack[d - 1] : NULL;
}

static bool in_run(const struct ort_run *r, int64_t ts_us)
{
    return ts_us >= r->start_us && ts_us <= ort_run_end(r);
}

/* Threads that never call Run work for the calls of other threads: the latest open one. */
static uint32_t foreign_run(const struct ort_trace *t, int64_t ts_us)
{
    uint32_t r = ort_run_before(t, ts_us);
    for (unsigned tries = 0; r != OC_NONE && tries < 64; tries++, r = r ? r - 1 : OC_NONE)
        if (in_run(&t->run[r], ts_us))
            return r;
    return OC_NONE;
}

static uint32_t nest_run_of(struct nesting *x, int64_t ts_us)
{
    const struct ort_run *run = x->t->run;
    if (x->run == OC_NONE)
        return foreign_run(x->t, ts_us);
    while (run[x->run].next != OC_NONE && run[run[x->run].next].start_us <= ts_us)
        x->run = run[x->run].next;
    return in_run(&run[x->run], ts_us) ? x->run : OC_NONE;
}

static void nest_event(struct nesting *x, size_t i, uint32_t lane)
{
    struct ort_event *e = &x->t->event[i];
    while (x->depth && !is_child(x, x->stack[x->depth - 1], e))
        x->depth--;
    struct ort_event *outer = outer_of(x, e);
    uint32_t run = outer ? outer->lane : nest_run_of(x, e->ts_us);
    uint32_t group = group_of(x->t, x->g, e->key, outer ? outer->key : OC_NONE, lane);
    if (outer) {
        outer->self_us -= e->dur_us;
        x->t->twice_us += e->dur_us;
    } else if (run != OC_NONE) {
        OC_PUSH(x->top, x->n_top, x->cap_top) = (uint32_t)i;
        x->mixed |= x->t->run[run].lane != lane;
    }
    e->key = group;
    e->lane = run;
    x->g->group[group].n++;
    if (!e->dur_us) /* has no children */
        return;
    OC_PUSH(x->stack, x->depth, x->cap) = e;
}

static int by_start(const void *a, const void *b, void *events)
{
    const struct ort_event *e = events;
    int64_t x = e[*(const uint32_t *)a].ts_us, y = e[*(const uint32_t *)b].ts_us;
    return (x > y) - (x < y);
}

/* Interval union of the top-level events of each run. */
static void add_busy(struct nesting *x)
{
    struct ort_trace *t = x->t;
    if (x->mixed && t->n_lane > 1)
        qsort_r(x->top, x->n_top, sizeof(*x->top), by_start, t->event);
    for (size_t i = 0; i < x->n_top; i++) {
        const struct ort_event *e = &t->event[x->top[i]];
        struct ort_run *r = &t->run[e->lane];
        int64_t end_us = e->ts_us + e->dur_us < ort_run_end(r) ? e->ts_us + e->dur_us : ort_run_end(r);
        r->busy_us += oc_union_add(&r->reached_us, (double)e->ts_us, (double)end_us);
    }
}

static void index_groups(const struct ort_trace *t, struct ort_groups *g)
{
    uint32_t at = 0;
    g->order = oc_xmalloc(t->n_event * sizeof(*g->order));
    for (size_t i = 0; i < g->n; i++) {
        g->group[i].first = at;
        at += g->group[i].n;
        g->group[i].n = 0;
    }
    for (size_t i = 0; i < t->n_event; i++) {
        struct ort_group *grp = &g->group[t->event[i].key];
        g->order[grp->first + grp->n++] = (uint32_t)i;
    }
}

/* The first run of each thread; the others of the thread follow it. */
static uint32_t *runs_by_lane(struct ort_trace *t)
{
    uint32_t *first = oc_xmalloc((t->n_lane + 1) * sizeof(*first));
    for (uint32_t l = 0; l < t->n_lane; l++)
        first[l] = OC_NONE;
    for (size_t i = t->n_run; i-- > 0;) {
        struct ort_run *r = &t->run[i];
        r->reached_us = (double)r->start_us;
        if (r->lane == OC_NONE)
            continue;
        r->next = first[r->lane];
        first[r->lane] = (uint32_t)i;
    }
    return first;
}

void oc_ort_nest(struct ort_trace *t, struct ort_groups *g)
{
    struct nesting x = {.t = t, .g = g};
    uint32_t *first = runs_by_lane(t);
    g->of.arena = g->by_name.arena = &g->arena;
    if (t->in_disorder)
        sort_events(t->event, t->n_event, t->key);
    for (size_t i = 0; i < t->n_event;) {
        uint32_t lane = t->event[i].lane;
        x.run = first[lane];
        x.depth = 0;
        for (; i < t->n_event && t->event[i].lane == lane; i++)
            nest_event(&x, i, lane);
    }
    add_busy(&x);
    index_groups(t, g);
    free(x.stack);
    free(x.top);
    free(first);
}

/* ---- device kernels --------------------------------------------------------------------------------- */

/* Device time is attributed to nodes by the name of their event (ort_event.c). Some builds write a
 * kernel's end into ts: only dur is used as time, and ts only to find the run. Kernels without a parent go to
 * the node that all labelled kernels with the same name and launch grid belong to, otherwise to a bucket. */

enum { LOAD = OC_NONE - 1, CUT = OC_NONE - 2, AMBIGUOUS = OC_NONE - 3 };

struct kernels {
    struct oc_rec_list *recs;
    const struct oc_run_choice *choice; /* the runs that times are means of */
    struct ort_trace *t;
    const struct ort_groups *g;
    struct oc_map by_launch; /* kernel name and grid to the only group, or AMBIGUOUS */
    struct oc_map by_type;   /* op type of partitions to their group */
    struct oc_map parts;     /* operators of a provider to their number */
    bool enclosed;           /* the time of enclosing events contains that of the parts */
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
    uint32_t group = key->op_type[0] ? group_at(k, key->op_type, e->ts_us) : OC_NONE;
    return group == OC_NONE && key->graph ? oc_map_get(&k->by_type, key->graph, strlen(key->graph)) : group;
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
    uint32_t group, part, run; /* part: number of the provider's operator, OC_NONE: the node itself */
    int64_t dur_us;
    const struct ort_key *key;
};

static int by_group(const void *a, const void *b)
{
    const struct sorted *x = a, *y = b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (x->part != y->part)
        return x->part < y->part ? -1 : 1;
    return (x->run > y->run) - (x->run < y->run);
}

/* Only graphs are executed as a unit that has its own event. */
static bool is_enclosed(const struct ort_key *key)
{
    return key->part && key->graph;
}

static uint32_t part_of(struct kernels *k, const struct ort_key *key)
{
    uint32_t id = k->parts.n;
    if (!key->part)
        return OC_NONE;
    oc_map_add(&k->parts, key->part, strlen(key->part), &id, NULL);
    return id;
}

static struct sorted place_of(struct kernels *k, const struct ort_event *e)
{
    const struct ort_key *key = &k->t->key[e->key];
    uint32_t group = labelled_group(k, e);
    if (group == OC_NONE && !key->graph)
        group = oc_map_get(&k->by_launch, key->provider, strlen(key->provider));
    if (group == AMBIGUOUS || (group != OC_NONE && k->g->group[group].rec == OC_NONE))
        group = OC_NONE;
    return (struct sorted){group, part_of(k, key), run_of(k, e), e->dur_us, key};
}

/* One entry per event, and one that takes a part out of the event that encloses it. */
static struct sorted *assign(struct kernels *k, size_t *n)
{
    struct sorted *v = oc_xmalloc(2 * k->t->n_kernel * sizeof(*v));
    *n = 0;
    for (size_t i = 0; i < k->t->n_kernel; i++) {
        struct sorted s = place_of(k, &k->t->kernel[i]);
        if (s.key->encloses && !k->enclosed)
            continue;
        bool inner = k->enclosed && is_enclosed(s.key);
        k->t->read_kernel_us += inner ? 0 : s.dur_us;
        v[(*n)++] = s;
        if (inner)
            v[(*n)++] = (struct sorted){s.group, OC_NONE, s.run, -s.dur_us, s.key};
    }
    if (*n)
        qsort(v, *n, sizeof(*v), by_group);
    return v;
}

static void add_left_out(struct oc_rec_list *recs, const struct ort_left *l, const char *bucket,
                         const char *name)
{
    if (!l->n)
        return;
    struct oc_prof_rec *rec = oc_rec_add_named(recs, bucket, name);
    rec->kernel_ns = rec->total_kernel_ns = (double)l->us * NS_PER_US;
    rec->calls = l->n;
}

/* An operator of the provider inside of a node. */
static struct oc_prof_rec *add_part(const struct kernels *k, const struct sorted *s)
{
    uint32_t outer = k->g->group[s->group].rec;
    struct oc_prof_rec *rec = oc_rec_add_named(k->recs, NULL, s->key->part);
    const struct oc_prof_rec *node = &k->recs->rec[outer];
    rec->op_type = s->key->part_type;
    rec->provider = node->provider;
    rec->parent = outer;
    rec->start_ns = node->start_ns;
    return rec;
}

static void warn_unlabelled(const struct kernels *k, uint64_t calls, double ns)
{
    oc_diag_add(
        &k->t->out->diags, OC_WARNING, "W-unlabelled-kernels", "",
        "%llu kernels (%.3f ms) do not name the operator that launched them: their time is in \"kernels "
        "without operator\"; times of operators are host launch times",
        (unsigned long long)calls, ns / 1e6);
}

static void take_stat(struct kernels *k, struct oc_run_sums *sums, const struct sorted *s, uint64_t calls)
{
    struct oc_profile *p = k->t->out;
    if (!sums->n)
        return;
    double ns = oc_run_sums_stat(sums, k->choice), total_ns = oc_run_sums_total(sums);
    struct oc_prof_rec *rec;
    if (s->group == OC_NONE) {
        rec = oc_rec_add_named(k->recs, "kernels without operator", "(unattributed kernels)");
        warn_unlabelled(k, calls, total_ns);
    } else if (s->part != OC_NONE) {
        rec = add_part(k, s);
        oc_run_sums_store(sums, k->choice, rec);
        rec->time_ns = (double)NAN; /* host time */
        struct oc_prof_rec *outer = &k->recs->rec[rec->parent];
        outer->kernel_ns = isnan(outer->kernel_ns) ? 0 : outer->kernel_ns;
        outer->total_kernel_ns = isnan(outer->total_kernel_ns) ? 0 : outer->total_kernel_ns;
    } else {
        rec = &k->recs->rec[k->g->group[s->group].rec];
        rec->host_ns = rec->self_ns; /* index of the launch */
        oc_run_sums_quantiles(sums, rec);
    }
    rec->kernel_ns = ns;
    rec->total_kernel_ns = total_ns;
    if (s->group != OC_NONE)
        p->time_kind = "device time";
    if (s->group == OC_NONE || s->part != OC_NONE) {
        rec->calls = calls;
        rec->runs = sums->n;
        rec->calls_per_run = (double)calls / sums->n;
    }
}

/* ---- preparation ------------------------------------------------------------------------------------ */

static void learn_types(struct kernels *k)
{
    for (size_t i = 0; i < k->g->n; i++) {
        const char *type = k->t->key[k->g->group[i].key].op_type;
        if (k->g->group[i].rec != OC_NONE)
            oc_map_set(&k->by_type, type, strlen(type), (uint32_t)i);
    }
}

/* Enclosing events count only if they are as long as their parts in every run. */
static void learn_enclosing(struct kernels *k)
{
    int64_t *rest_us = oc_xmalloc((k->t->n_run + 1) * sizeof(*rest_us));
    bool any = false;
    memset(rest_us, 0, (k->t->n_run + 1) * sizeof(*rest_us));
    for (size_t i = 0; i < k->t->n_kernel; i++) {
        const struct ort_event *e = &k->t->kernel[i];
        const struct ort_key *key = &k->t->key[e->key];
        uint32_t run = run_of(k, e);
        size_t at = run < k->t->n_run ? run : k->t->n_run;
        any |= key->encloses;
        rest_us[at] += key->encloses ? e->dur_us : is_enclosed(key) ? -e->dur_us : 0;
    }
    k->enclosed = any;
    for (size_t i = 0; i <= k->t->n_run; i++)
        k->enclosed &= rest_us[i] >= 0;
    free(rest_us);
}

/* A device's clock that begins with its first work: aligned with the first run. */
static void align_clock(struct kernels *k)
{
    int64_t first_us = INT64_MAX;
    for (size_t i = 0; i < k->t->n_kernel; i++)
        if (k->t->key[k->t->kernel[i].key].own_clock && k->t->kernel[i].ts_us < first_us)
            first_us = k->t->kernel[i].ts_us;
    if (!k->t->n_run || first_us >= k->t->run[0].start_us)
        return;
    for (size_t i = 0; i < k->t->n_kernel; i++)
        if (k->t->key[k->t->kernel[i].key].own_clock)
            k->t->kernel[i].ts_us += k->t->run[0].start_us - first_us;
}

static void learn_times(struct kernels *k)
{
    for (size_t i = 0; i < k->g->n; i++)
        k->sorted_by_time &= k->g->group[i].lane == k->g->group[0].lane;
    for (size_t i = 0; i < k->t->n_session; i++)
        if (strcmp(k->t->session[i].name, "session_initialization") == 0)
            k->loaded_us = k->t->session[i].ts_us + k->t->session[i].dur_us;
    k->last_end_us = oc_ort_last_end(k->t);
}

static void sum_kernels(struct kernels *k, struct oc_run_sums *sums)
{
    struct ort_left load = {0}, warmup = {0}, cut = {0};
    size_t n;
    struct sorted *v = assign(k, &n);
    uint64_t calls = 0;
    oc_run_sums_clear(sums);
    for (size_t i = 0; i < n; i++) {
        struct ort_left *l = v[i].run == LOAD ? &load : v[i].run == CUT ? &cut : &warmup;
        if (l == &warmup && k->t->run[v[i].run].used) {
            oc_run_sums_add(sums, v[i].run, (double)v[i].dur_us * NS_PER_US);
            calls += v[i].dur_us >= 0;
        } else {
            l->us += v[i].dur_us;
            l->n += v[i].dur_us >= 0;
        }
        if (i + 1 == n || v[i + 1].group != v[i].group || v[i + 1].part != v[i].part) {
            take_stat(k, sums, &v[i], calls);
            oc_run_sums_clear(sums);
            calls = 0;
        }
    }
    add_left_out(k->recs, &load, "load", "(kernels while loading)");
    add_left_out(k->recs, &warmup, "warm-up runs", "(kernels of warm-up runs)");
    add_left_out(k->recs, &cut, "incomplete run", "(kernels of the incomplete run)");
    free(v);
}

void oc_ort_attribute_kernels(struct ort_trace *t, const struct ort_groups *g, struct oc_rec_list *recs,
                              struct oc_run_sums *sums, const struct oc_run_choice *choice)
{
    if (!t->n_kernel)
        return;
    struct kernels k = {
        .t = t, .g = g, .recs = recs, .choice = choice, .loaded_us = INT64_MIN, .sorted_by_time = true};
    k.by_launch.arena = k.by_type.arena = k.parts.arena = &k.arena;
    learn_times(&k);
    align_clock(&k);
    learn_types(&k);
    learn_enclosing(&k);
    learn_launches(&k);
    sum_kernels(&k, sums);
    oc_map_free(&k.by_launch);
    oc_map_free(&k.by_type);
    oc_map_free(&k.parts);
    oc_arena_free(&k.arena);
}
