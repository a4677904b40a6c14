/* The tables of a summary with one row per name: operators with their parts, kernels, copies, annotations,
 * operator types. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "profile/core/kernel_names.h"
#include "profile/formats/native_reports.h"
#include "profile/time_summary.h"

/* ---- sorting ---------------------------------------------------------------------------------------- */

enum figure { TOTAL, AVG, MAX, MIN };

static const struct sort_key {
    const char *name;
    bool device, ascending;
    enum figure figure;
} sort_keys[] = {
    {"CPUTotal", false, false, TOTAL}, {"CPUAvg", false, false, AVG},    {"CPUMax", false, false, MAX},
    {"CPUMin", false, true, MIN},      {"GPUTotal", true, false, TOTAL}, {"GPUAvg", true, false, AVG},
    {"GPUMax", true, false, MAX},      {"GPUMin", true, true, MIN},
};

static const struct sort_key *key_named(const char *name)
{
    for (size_t i = 0; name && i < OC_COUNT(sort_keys); i++)
        if (oc_casecmp(sort_keys[i].name, name) == 0)
            return &sort_keys[i];
    return NULL;
}

/* "time", the word of other commands, is the order without a key. */
static bool is_time_key(const char *key)
{
    return key && oc_casecmp(key, "time") == 0;
}

int oc_summary_sort_check(const char *key, struct oc_err *err)
{
    const char *names[OC_COUNT(sort_keys)];
    if (key_named(key) || is_time_key(key))
        return 0;
    for (size_t i = 0; i < OC_COUNT(sort_keys); i++)
        names[i] = sort_keys[i].name;
    return oc_fail_unknown(err, OC_EARG,
                           &(struct oc_unknown){.what = "key",
                                                .where = "for --order-by of summaries",
                                                .given = key ? key : "",
                                                .valid = names,
                                                .n = OC_COUNT(names),
                                                .more = "time"});
}

static double figure_of(const struct oc_times *t, enum figure f)
{
    const double v[] = {t->total_ns, oc_times_avg(t), t->max_ns, t->min_ns};
    return t->known ? v[f] : NAN;
}

/* ---- growing tables --------------------------------------------------------------------------------- */

struct node { /* an item under construction */
    struct oc_sum_item item;
    uint32_t top, part; /* the items of depth 0 and depth 1 that contain it */
    double rank;        /* of the top item */
};

struct growing {
    struct oc_time_summary *s;
    const struct oc_sum_table_opts *opts;
    struct node *node;
    uint32_t n, cap;
    const struct oc_places *places; /* of events; NULL: one */
    struct oc_map of;               /* (parent node, lane, kind, name, place) to node */
};

static struct growing *time_items_begin(struct growing *g, struct oc_time_summary *s,
                                        const struct oc_sum_table_opts *opts)
{
    *g = (struct growing){.s = s, .opts = opts, .of.arena = &s->arena};
    return g;
}

/* Finds or adds the item with that name below `parent` (OC_NONE: a row at the top level). */
static uint32_t item_for(struct growing *g, uint32_t parent, uint32_t lane, uint8_t kind, const char *name,
                         const char *place)
{
    struct {
        const char *name, *place;
        uint32_t parent, lane, kind, zero;
    } key = {name, place, parent, lane, kind, 0}; /* names and places are interned */
    uint32_t at = g->n;
    if (!oc_map_add(&g->of, (const char *)&key, sizeof(key), &at, NULL))
        return at;
    OC_GROW(g->node, g->n, g->cap);
    struct node *node = &g->node[g->n];
    *node = (struct node){.top = at, .part = at};
    node->item = (struct oc_sum_item){.name = name,
                                      .type = "",
                                      .precision = "",
                                      .place = place,
                                      .lane = lane,
                                      .kind = kind,
                                      .bytes = UINT64_MAX};
    if (parent != OC_NONE) {
        node->top = g->node[parent].top;
        node->part = g->node[parent].item.depth ? parent : at;
        node->item.depth = (uint8_t)(g->node[parent].item.depth + 1);
    }
    return g->n++;
}

static struct oc_sum_item *time_items_row_named(struct growing *g, uint8_t kind, const char *name,
                                                const char *place)
{
    uint32_t i = item_for(g, OC_NONE, OC_NONE, kind, name, place); /* may reallocate g->node */
    return &g->node[i].item;
}

static int time_items_by_place(const void *a, const void *b)
{
    const struct node *x = a, *y = b;
    if (x->item.depth == 0 && y->item.depth == 0 && x->item.lane != y->item.lane)
        return x->item.lane < y->item.lane ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? 1 : -1;
    if (x->top != y->top)
        return x->top < y->top ? -1 : 1;
    if (x->item.depth == 0 || y->item.depth == 0)
        return (int)x->item.depth - (int)y->item.depth;
    bool xk = oc_event_on_device(x->item.kind) && x->item.depth == 1;
    bool yk = oc_event_on_device(y->item.kind) && y->item.depth == 1;
    if (xk != yk) /* parts before the kernels of the item itself */
        return xk ? 1 : -1;
    if (x->part != y->part)
        return x->part < y->part ? -1 : 1;
    return (int)x->item.depth - (int)y->item.depth;
}

static bool is_wanted(const struct growing *g, const struct node *top)
{
    return !g->opts->search || strcasestr(top->item.name, g->opts->search) ||
           strcasestr(top->item.type, g->opts->search);
}

static const char *sort_of(const struct oc_sum_table_opts *opts, const char *otherwise)
{
    return opts->sort && !is_time_key(opts->sort) ? opts->sort : otherwise;
}

static void time_items_finish(struct growing *g, struct oc_sum_list *out, const char *sort)
{
    const struct sort_key *key = key_named(sort);
    bool *wanted = oc_xmalloc(g->n + 1);
    for (uint32_t i = 0; i < g->n; i++) {
        const struct node *top = &g->node[g->node[i].top];
        const struct oc_times *t = key->device ? &top->item.device : &top->item.host;
        double v = figure_of(t, key->figure);
        g->node[i].rank = isnan(v) ? -INFINITY : key->ascending ? -v : v;
        g->node[i].item.lane = top->item.lane;
        wanted[i] = is_wanted(g, top);
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < g->n; i++)
        if (wanted[i])
            g->node[kept++] = g->node[i];
    if (kept)
        qsort(g->node, kept, sizeof(*g->node), time_items_by_place);
    for (uint32_t i = 0; i < kept; i++) {
        OC_PUSH(out->item, out->n, out->cap) = g->node[i].item;
    }
    free(wanted);
    free(g->node);
    oc_map_free(&g->of);
}

/* ---- from events ------------------------------------------------------------------------------------ */

/* Innermost host event, from the event upwards, that is not a call of the device runtime. */
static uint32_t caller(const struct oc_timeline *t, uint32_t at)
{
    while (at != OC_NONE && (t->event[at].kind == OC_EV_API || t->event[at].kind == OC_EV_SYNC))
        at = t->event[at].parent;
    return at;
}

static uint32_t time_items_lane_of(const struct growing *g, const struct oc_event *e)
{
    return g->opts->per_thread ? e->lane : OC_NONE;
}

static const char *time_items_place_of(const struct growing *g, const struct oc_event *e)
{
    const struct oc_timeline *t = g->s->profile->timeline;
    uint16_t at = oc_place_of(g->places, t, (size_t)(e - t->event));
    return at == OC_NO_PLACE ? NULL : g->places->name[at];
}

/* device_ns: NAN: unknown */
static uint32_t time_items_add_call(struct growing *g, uint32_t parent, const struct oc_event *e,
                                    double device_ns)
{
    bool top = parent == OC_NONE, device = g->s->has_device && !isnan(device_ns);
    uint32_t i = item_for(g, parent, top ? time_items_lane_of(g, e) : 0, e->kind,
                          g->s->profile->timeline->name[e->name], top ? time_items_place_of(g, e) : NULL);
    oc_summary_times(&g->node[i].item.host, e->dur_ns);
    if (device)
        oc_summary_times(&g->node[i].item.device, device_ns);
    oc_summary_times(&g->node[i].item.both, e->dur_ns + (device ? device_ns : 0));
    return i;
}

/* An operator inside another row has no work of its own on the device. */
static uint32_t add_operator_call(struct growing *g, size_t i, const double *own_ns)
{
    const struct oc_event *e = &g->s->profile->timeline->event[i];
    return time_items_add_call(g, OC_NONE, e, e->flags & OC_EVF_RECORD ? own_ns[i] : (double)NAN);
}

static void time_items_add_calls(struct growing *g, const double *own_ns)
{
    const struct oc_timeline *t = g->s->profile->timeline;
    for (size_t i = 0; i < t->n_event; i++)
        if (t->event[i].kind == OC_EV_OPERATOR && oc_summary_used(t, &t->event[i]))
            add_operator_call(g, i, own_ns);
}

/* Device work that no operator owns, below its operators. */
static void add_rest(struct growing *g)
{
    const struct oc_timeline *t = g->s->profile->timeline;
    for (size_t i = 0; i < t->n_event && g->n; i++) {
        const struct oc_event *e = &t->event[i];
        uint32_t owner = oc_event_is_work(e->kind) ? oc_timeline_owner(t, (uint32_t)i) : OC_NONE;
        if (!oc_event_is_work(e->kind) || (owner != OC_NONE && owner != i) || !oc_summary_used(t, e))
            continue;
        const char *name = e->kind == OC_EV_KERNEL ? t->name[e->name] : OC_REST_COPIES;
        struct oc_sum_item *item = time_items_row_named(g, e->kind, name, time_items_place_of(g, e));
        item->type = e->kind == OC_EV_KERNEL ? oc_rest_of_kernel(name) : OC_REST_COPIES;
        oc_summary_times(&item->device, e->dur_ns);
        oc_summary_times(&item->both, e->dur_ns);
    }
}

/* The same, with the parts of operators and the kernels of both below them. */
static void add_calls_in_detail(struct growing *g, const double *device_ns, const double *own_ns)
{
    const struct oc_timeline *t = g->s->profile->timeline;
    uint32_t *item = oc_xmalloc((t->n_event + 1) * sizeof(*item)); /* of operators */
    uint32_t *part = oc_xmalloc((t->n_event + 1) * sizeof(*part)); /* as part of the operator above */
    for (size_t i = 0; i < t->n_event; i++) {
        const struct oc_event *e = &t->event[i];
        bool whole = e->kind == OC_EV_OPERATOR;
        item[i] = part[i] = OC_NONE;
        if (!oc_summary_used(t, e) || (!whole && e->kind != OC_EV_INNER))
            continue;
        if (whole)
            item[i] = add_operator_call(g, i, own_ns);
        if (e->parent != OC_NONE && e->parent < i && item[e->parent] != OC_NONE)
            part[i] = time_items_add_call(g, item[e->parent], e, device_ns[i]);
    }
    for (size_t i = 0; i < t->n_event; i++) {
        const struct oc_event *e = &t->event[i];
        uint32_t by = oc_event_on_device(e->kind) && e->link != OC_NONE ? caller(t, e->link) : OC_NONE;
        if (by == OC_NONE || e->kind == OC_EV_DEVICE_RANGE || !oc_summary_used(t, e))
            continue;
        const uint32_t below[] = {part[by], item[by]};
        for (unsigned k = 0; k < 2; k++) {
            if (below[k] == OC_NONE)
                continue;
            uint32_t at = item_for(g, below[k], 0, e->kind, t->name[e->name], NULL);
            oc_summary_times(&g->node[at].item.device, e->dur_ns);
        }
    }
    free(item);
    free(part);
}

static void add_operators(struct growing *g, const double *device_ns, const double *own_ns)
{
    if (g->opts->op_detail)
        add_calls_in_detail(g, device_ns, own_ns);
    else
        time_items_add_calls(g, own_ns);
    add_rest(g);
    time_items_finish(g, &g->s->operators, sort_of(g->opts, "CPUTotal"));
}

static bool moves_memory(const char *name)
{
    return strcasestr(name, "memcpy") || strcasestr(name, "memorycopy") || strcasestr(name, "memset");
}

static void add_annotations(struct growing *memory, struct growing *user, const double *device_ns)
{
    const struct oc_timeline *t = user->s->profile->timeline;
    for (size_t i = 0; i < t->n_event; i++) {
        const struct oc_event *e = &t->event[i];
        if (e->kind == OC_EV_USER && oc_summary_used(t, e))
            time_items_add_call(moves_memory(t->name[e->name]) ? memory : user, OC_NONE, e, device_ns[i]);
    }
    time_items_finish(memory, &memory->s->memory, "CPUTotal");
    time_items_finish(user, &user->s->user, sort_of(user->opts, "CPUTotal"));
}

static void add_device_work(struct growing *kernels, struct growing *copies)
{
    const struct oc_timeline *t = kernels->s->profile->timeline;
    for (size_t i = 0; i < t->n_event; i++) {
        const struct oc_event *e = &t->event[i];
        if (!oc_event_on_device(e->kind) || e->kind == OC_EV_DEVICE_RANGE || !oc_summary_used(t, e))
            continue;
        struct growing *g = e->kind == OC_EV_KERNEL ? kernels : copies;
        struct oc_sum_item *item =
            time_items_row_named(g, e->kind, t->name[e->name], time_items_place_of(g, e));
        uint64_t bytes = e->detail != OC_NONE ? t->detail[e->detail].bytes : UINT64_MAX;
        if (bytes != UINT64_MAX)
            item->bytes = item->bytes == UINT64_MAX ? bytes : item->bytes + bytes;
        oc_summary_times(&item->device, e->dur_ns);
    }
    time_items_finish(kernels, &kernels->s->kernels, "GPUTotal");
    time_items_finish(copies, &copies->s->copies, "GPUTotal");
}

void oc_summary_event_items(struct oc_time_summary *s, const struct oc_sum_table_opts *opts,
                            const double *device_ns, const double *own_ns, const struct oc_places *places)
{
    struct growing g[5];
    struct oc_sum_table_opts merged = *opts; /* annotated copies of all threads */
    merged.per_thread = false;
    for (size_t i = 0; i < OC_COUNT(g); i++)
        time_items_begin(&g[i], s, i == 1 ? &merged : opts)->places = places;
    add_operators(&g[0], device_ns, own_ns);
    add_annotations(&g[1], &g[2], device_ns);
    add_device_work(&g[3], &g[4]);
}

/* ---- from records ----------------------------------------------------------------------------------- */

/* fmin and fmax ignore an unknown one. */
static double known_of_both(double a, double b, double chosen)
{
    return isnan(a) || isnan(b) ? (double)NAN : chosen;
}

static void time_items_add_times(struct oc_times *t, uint64_t calls, double total, double min, double max)
{
    if (isnan(total) || (!calls && !(total > 0))) /* not executed */
        return;
    t->min_ns = t->known ? known_of_both(t->min_ns, min, fmin(t->min_ns, min)) : min;
    t->max_ns = t->known ? known_of_both(t->max_ns, max, fmax(t->max_ns, max)) : max;
    t->known = true;
    t->uncounted |= !calls;
    t->calls += calls;
    t->total_ns += total;
}

/* A record's self time, host and device. total_ns is host time, device time (host time is then a separate
 * member, if known), or the sum of both. */
static void sides_of(const struct oc_profile *p, const struct oc_prof_rec *r, double *host, double *device)
{
    bool both = p->time_kind && strcmp(p->time_kind, "host and device time") == 0;
    bool on_device = p->time_kind && strcmp(p->time_kind, "device time") == 0;
    bool known = !isnan(r->total_kernel_ns);
    *host = r->total_ns;
    *device = r->total_kernel_ns;
    if (both && known)
        *host = r->total_ns - r->total_kernel_ns;
    if (on_device && (!known || !(r->total_kernel_ns < r->total_ns || r->total_kernel_ns > r->total_ns))) {
        *device = known ? r->total_kernel_ns : r->total_ns;
        *host = r->runs <= 1 ? r->host_ns : NAN;
    }
}

static void time_items_add_record(struct growing *g, const struct oc_prof_rec *r, const char *name)
{
    struct oc_sum_item *item = time_items_row_named(g, OC_EV_OPERATOR, name, r->place);
    double host, device;
    sides_of(g->s->profile, r, &host, &device);
    bool alone = isnan(host) || isnan(device);
    bool single =
        alone && r->calls == r->runs && !(r->self_ns < r->time_ns); /* the sum of a run is one call */
    bool one = alone && r->calls == 1 && !g->s->profile->runs_total && g->s->profile->stat == OC_STAT_SUM;
    double only = one ? fmin(host, device) : NAN; /* of the known side */
    double min = isnan(only) && single ? r->min_ns : only, max = isnan(only) && single ? r->max_ns : only;
    item->type = r->op_type;
    item->precision = r->precision ? r->precision : "";
    time_items_add_times(&item->host, r->calls, host, min, max);
    time_items_add_times(&item->device, r->calls, device, min, max);
    time_items_add_times(&item->both, r->calls,
                         !alone        ? host + device
                         : isnan(host) ? device
                                       : host,
                         min, max);
}

/* Paddle Inference reports the columns itself; its totals are host plus device time. */
static void add_report_row(struct growing *g, const struct oc_paddle_row *row, const char *name)
{
    struct oc_sum_item *item = time_items_row_named(g, OC_EV_OPERATOR, name, NULL);
    bool device = row->gpu_ns > 0;
    uint64_t calls = (uint64_t)row->calls;
    time_items_add_times(&item->host, calls, isnan(row->cpu_ns) ? row->total_ns : row->cpu_ns,
                         device ? NAN : row->min_ns, device ? NAN : row->max_ns);
    time_items_add_times(&item->device, calls, device ? row->gpu_ns : NAN, NAN, NAN);
    time_items_add_times(&item->both, calls, row->total_ns, row->min_ns, row->max_ns);
}

static void time_items_add_kernel(struct growing *g, const struct oc_prof_kernel *k, const char *name)
{
    const struct oc_profile *p = g->s->profile;
    const char *place = k->rec == OC_NONE ? NULL : p->rec[k->rec].place;
    struct oc_sum_item *item = time_items_row_named(g, k->kind, name, place);
    time_items_add_times(&item->device, k->calls, k->total_ns, k->min_ns, k->max_ns);
    if (k->kind != OC_EV_KERNEL && !isnan(k->bytes)) {
        uint64_t bytes = (uint64_t)(k->bytes * (double)k->calls);
        item->bytes = item->bytes == UINT64_MAX ? bytes : item->bytes + bytes;
    }
}

static void name_precisions(struct oc_sum_list *kernels, const struct oc_kernel_names *own)
{
    for (uint32_t i = 0; i < kernels->n; i++) {
        struct oc_kernel_facts facts;
        oc_kernel_facts(own, kernels->item[i].name, &facts);
        kernels->item[i].precision = facts.precision;
        kernels->item[i].type = facts.op_class;
    }
}

static const char *intern_name(struct oc_map *names, const char *name)
{
    return oc_intern(names, name, strlen(name));
}

/* Copies have a row in addition to operators that ran on the device. */
static bool has_device_rows(const struct oc_profile *p)
{
    for (uint32_t i = 0; i < p->n_rec; i++)
        if (!p->rec[i].bucket && p->rec[i].total_kernel_ns > 0)
            return true;
    return false;
}

static void add_records(struct growing *types, struct growing *rows, struct oc_map *names)
{
    const struct oc_profile *p = types->s->profile;
    bool device = has_device_rows(p);
    const struct oc_paddle_report *own = strcmp(p->format, "paddle_report") == 0 ? p->native : NULL;
    for (uint32_t i = 0; i < p->n_rec; i++) {
        const struct oc_prof_rec *r = &p->rec[i];
        if (r->bucket) {
            if (device && strcmp(r->bucket, "copies") == 0 && r->total_kernel_ns > 0)
                time_items_add_record(types, r, intern_name(names, OC_REST_COPIES));
            continue;
        }
        time_items_add_record(types, r, intern_name(names, r->op_type[0] ? r->op_type : r->name));
        if (!own || i >= own->n_row) {
            if (!types->s->has_events)
                time_items_add_record(rows, r, intern_name(names, r->name));
        } else if (!own->row[i].depth || rows->opts->op_detail) {
            add_report_row(rows, &own->row[i], intern_name(names, r->name));
        }
    }
}

/* ---- tables that a tool printed ----------------------------------------------------------------------- */

/* Words of Paddle's overview. */
static const struct {
    const char *name;
    uint8_t kind;
} event_kinds[] = {{"ProfileStep", OC_EV_STEP},
                   {"Operator", OC_EV_OPERATOR},
                   {"OperatorInner", OC_EV_INNER},
                   {"Dataloader", OC_EV_DATALOADER},
                   {"Forward", OC_EV_FORWARD},
                   {"Backward", OC_EV_BACKWARD},
                   {"Optimization", OC_EV_OPTIMIZATION},
                   {"Communication", OC_EV_COMMUNICATION},
                   {"CudaRuntime", OC_EV_API},
                   {"UserDefined", OC_EV_USER},
                   {"PythonOp", OC_EV_PYTHON},
                   {"Kernel", OC_EV_KERNEL},
                   {"Memcpy", OC_EV_MEMCPY},
                   {"Memset", OC_EV_MEMSET}};

const char *oc_summary_kind_word(unsigned kind)
{
    for (size_t i = 0; i < OC_COUNT(event_kinds); i++)
        if (event_kinds[i].kind == kind)
            return event_kinds[i].name;
    return oc_event_kind_name(kind);
}

static void printed_kind(struct oc_time_summary *s, const struct oc_prof_table_row *row)
{
    bool device = isnan(row->host.total_ns);
    struct oc_sum_kind *list = device ? s->device : s->host;
    uint32_t *n = device ? &s->n_device : &s->n_host;
    for (size_t i = 0; i < OC_COUNT(event_kinds) && *n < OC_EV_COUNT; i++)
        if (strcmp(event_kinds[i].name, row->name) == 0)
            list[(*n)++] = (struct oc_sum_kind){event_kinds[i].kind, row->calls,
                                                device ? row->device.total_ns : row->host.total_ns};
}

static struct oc_times printed_times(uint64_t calls, double total_ns, double min_ns, double max_ns)
{
    struct oc_times t = {.known = false};
    if (!isnan(total_ns))
        t = (struct oc_times){calls, total_ns, min_ns, max_ns, true, !calls};
    return t;
}

static void printed_distribution(struct oc_time_summary *s, const struct oc_prof_table_row *row)
{
    double *const to[] = {&s->communication_ns, &s->computation_ns, &s->overlap_ns};
    static const char *const name[] = {"Communication", "Computation", "Overlap"};
    for (size_t i = 0; i < OC_COUNT(name); i++)
        if (strcmp(name[i], row->name) == 0)
            *to[i] = row->host.total_ns;
}

/* The tables of a printed summary as they are: their rows are of the file, not made of its records. */
static void printed_tables(struct oc_time_summary *s)
{
    const struct oc_profile *p = s->profile;
    struct list {
        const char *table;
        struct oc_sum_list *to;
        bool begun;
    } list[] = {{"model", &s->model, false},
                {"operators", &s->operators, false},
                {"kernels", &s->kernels, false},
                {"memory", &s->memory, false},
                {"user", &s->user, false}};
    for (size_t i = 0; i < p->n_table_row; i++) {
        const struct oc_prof_table_row *row = &p->table_row[i];
        if (strcmp(row->table, "overview") == 0)
            printed_kind(s, row);
        if (strcmp(row->table, "distribution") == 0)
            printed_distribution(s, row);
        for (size_t k = 0; k < OC_COUNT(list); k++) {
            if (strcmp(row->table, list[k].table) != 0)
                continue;
            list[k].to->n = list[k].begun ? list[k].to->n : 0;
            list[k].begun = true;
            OC_PUSH(list[k].to->item, list[k].to->n, list[k].to->cap) = (struct oc_sum_item){
                .name = row->name,
                .type = "",
                .precision = "",
                .lane = OC_NONE,
                .bytes = UINT64_MAX,
                .host = printed_times(row->calls, row->host.total_ns, row->host.min_ns, row->host.max_ns),
                .device =
                    printed_times(row->calls, row->device.total_ns, row->device.min_ns, row->device.max_ns)};
        }
    }
    for (uint32_t i = 0; i < s->n_host && p->n_table_row; i++)
        if (s->host[i].kind == OC_EV_STEP) {
            s->total_ns = s->host[i].union_ns;
            s->total_is = "the steps";
        }
}

void oc_summary_record_items(struct oc_time_summary *s, const struct oc_sum_table_opts *opts)
{
    const struct oc_profile *p = s->profile;
    bool on_device = p->time_kind && strcmp(p->time_kind, "device time") == 0;
    struct oc_map names = {.arena = &s->arena};
    struct growing types, rows, kernels, copies;
    time_items_begin(&types, s, opts);
    time_items_begin(&rows, s, opts);
    time_items_begin(&kernels, s, opts);
    time_items_begin(&copies, s, opts);
    add_records(&types, &rows, &names);
    for (uint32_t i = 0; i < p->n_kernel && !s->has_events; i++) {
        const struct oc_prof_kernel *k = &p->kernel[i];
        time_items_add_kernel(k->kind == OC_EV_KERNEL ? &kernels : &copies, k, intern_name(&names, k->name));
    }
    const char *key = on_device ? "GPUTotal" : "CPUTotal";
    time_items_finish(&types, &s->types, key);
    time_items_finish(&rows, &s->operators, sort_of(opts, key));
    time_items_finish(&kernels, &s->kernels, "GPUTotal");
    time_items_finish(&copies, &s->copies, "GPUTotal");
    printed_tables(s);
    name_precisions(&s->kernels, opts->kernel_names);
    oc_map_free(&names);
}
