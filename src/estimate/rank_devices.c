/* Ranks of devices: one row for each device, and the changes with the batch. */
#include "estimate/rank_devices.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/ck.h"
#include "base/map.h"
#include "estimate/bound.h"
#include "onnxcost/estimate.h"
#include "onnxcost/hardware.h"

struct brief { /* of a device at a batch */
    double lo_s, mid_s, hi_s;
    int limit; /* enum oc_span_part; -1: unknown */
    int fits;  /* enum oc_fits */
    bool done;
};

/* Kernels of the model at one batch, and the times of the devices that they apply to. */
struct published {
    struct oc_pooled_load load;
    struct oc_bound_load bound;
    struct oc_span *whole; /* by device */
    bool *done;            /* by device */
    bool ok;
};

struct maker {
    struct oc_rank *r;
    const struct oc_rank_opts *o;
    struct oc_rank_loads *loads;
    struct oc_arena arena;
    struct oc_map at; /* from batch to index in `brief` */
    struct brief **brief;
    uint32_t n_brief, cap_brief;
    struct oc_map published_at; /* from batch to index in `published` */
    struct published **published;
    uint32_t n_published, cap_published;
    struct oc_err *err;
};

/* ---- requested options ------------------------------------------------------------------------------ */

static int take_devices(struct maker *k)
{
    struct oc_rank *r = k->r;
    if (!k->o->n_device)
        return oc_fail(k->err, OC_EARG, "no device to compare");
    r->n_device = k->o->n_device;
    r->device = OC_NEW_ARRAY(&r->arena, r->n_device, const struct oc_device *);
    for (size_t i = 0; i < r->n_device; i++) {
        const struct oc_device *d = r->device[i] = k->o->device[i];
        for (size_t j = 0; j < i; j++)
            if (!strcmp(r->device[j]->info->id, d->info->id) &&
                !strcmp(r->device[j]->info->file, d->info->file))
                return oc_fail(k->err, OC_EARG, "device '%s' is listed twice", d->info->id);
    }
    return 0;
}

static int take_type(struct maker *k)
{
    const char *name = k->o->as;
    k->r->as = name ? oc_recast_by_name(name) : NULL;
    return name && !k->r->as ? oc_recast_unknown(name, k->err) : 0;
}

/* A calibration applies to one device, even if its file has other figures. */
static int take_calibration(struct maker *k)
{
    struct oc_rank *r = k->r;
    const struct oc_calibration *c = k->o->calibration;
    r->calibrated = r->n_device;
    for (size_t i = 0; c && i < r->n_device; i++)
        if (!strcmp(r->device[i]->info->id, c->device))
            r->calibrated = i;
    if (!c)
        return 0;
    if (r->as)
        return oc_fail(k->err, OC_EARG, "a calibration does not apply to the model as %s", r->as->name);
    if (r->calibrated == r->n_device)
        return oc_fail(k->err, OC_EARG, "the calibration is of '%s', which is not among the devices",
                       c->device);
    r->calibration =
        oc_printf(&r->arena, "%s with %s%s%s, %u samples of %u recordings", c->device, c->runtime,
                  *c->runtime_version ? " " : "", c->runtime_version, c->n_sample, c->n_model);
    return 0;
}

static int take_order(struct maker *k)
{
    static const char *const orders[] = {"time", "throughput", "energy"};
    const char *sort = k->o->sort ? k->o->sort : orders[0];
    for (size_t i = 0; i < OC_COUNT(orders); i++)
        if (!strcmp(sort, orders[i])) {
            k->r->sort = orders[i];
            return 0;
        }
    return oc_fail_unknown(
        k->err, OC_EARG,
        &(struct oc_unknown){
            .what = "key", .where = "for --sort", .given = sort, .valid = orders, .n = OC_COUNT(orders)});
}

static int rank_devices_take_symbol(struct maker *k)
{
    struct oc_rank *r = k->r;
    const char *name = k->o->batch_dim;
    if (name && !oc_batch_has_symbol(k->r->model, name))
        return oc_fail(k->err, OC_EARG, "no input has a dimension named '%.60s'", name);
    r->symbol = name ? name : oc_batch_symbol(r->model);
    r->no_batch = r->symbol ? NULL : "the model has a fixed batch";
    if (!r->symbol && k->o->n_batch)
        return oc_fail(k->err, OC_EARG, "other batches are not possible: %s", r->no_batch);
    if (k->o->n_batch > OC_RANK_MAX_TABLES)
        return oc_fail(k->err, OC_EARG, "more than %d batches", OC_RANK_MAX_TABLES);
    for (size_t i = 0; i < k->o->n_batch; i++)
        if (k->o->batch[i] < 1 || k->o->batch[i] > OC_RANK_MAX_BATCH)
            return oc_fail(k->err, OC_EARG, "a batch must be from 1 to %lld, not %lld",
                           (long long)OC_RANK_MAX_BATCH, (long long)k->o->batch[i]);
    return 0;
}

/* ---- rows ------------------------------------------------------------------------------------------- */

static enum oc_fits fits_memory(const struct oc_device *d, const struct oc_rank_load *load, uint64_t *needs,
                                uint64_t *capacity)
{
    const struct oc_hw_level *dram = oc_device_dram(d);
    *needs = *capacity = 0;
    if (dram && dram->size)
        *capacity = (uint64_t)dram->size->value;
    if (load->peak_quality == OC_UNKNOWN || !oc_add_u64(load->const_bytes, load->peak_bytes, needs))
        return OC_FITS_UNKNOWN;
    return *capacity ? oc_fits_in(*needs, load->peak_quality, *capacity) : OC_FITS_UNKNOWN;
}

double oc_rank_samples(const struct oc_rank *r, int64_t batch)
{
    return (double)(r->samples ? r->samples : batch);
}

static struct oc_rank_row rank_devices_row_of(const struct oc_rank *r, const struct oc_device *d,
                                              const struct oc_rank_load *load, const struct oc_span *s,
                                              double bound_s)
{
    unsigned limit = oc_span_limit(s);
    double watt = d->power ? d->power->value / oc_rank_samples(r, load->batch) : NAN;
    struct oc_rank_row row = {.device = d,
                              .lo_ns = s->lo_s * 1e9,
                              .mid_ns = s->mid_s * 1e9,
                              .hi_ns = s->hi_s * 1e9,
                              .bound_ns = bound_s * 1e9,
                              .lo_joule = s->lo_s * watt,
                              .mid_joule = s->mid_s * watt,
                              .hi_joule = s->hi_s * watt,
                              .calibrated = s->evidence == OC_SPAN_CALIBRATED,
                              .missing = s->missing[0] ? s->missing : NULL,
                              .limit = oc_span_part_name(limit)};
    row.fits = fits_memory(d, load, &row.need_bytes, &row.capacity_bytes);
    return row;
}

/* Of the device at the batch of the load. */
static struct published *published_at(struct maker *k, int64_t batch)
{
    uint32_t at = k->n_published;
    struct oc_err unused;
    if (!oc_map_add(&k->published_at, (const char *)&batch, sizeof(batch), &at, NULL))
        return k->published[at];
    struct published *p = OC_NEW(&k->arena, struct published);
    const struct oc_analysis *a = oc_rank_analysis_at(k->loads, batch, &unused);
    OC_GROW(k->published, k->n_published, k->cap_published);
    k->published[k->n_published++] = p;
    p->whole = OC_NEW_ARRAY(&k->arena, k->r->n_device, struct oc_span);
    p->done = OC_NEW_ARRAY(&k->arena, k->r->n_device, bool);
    p->ok = a;
    if (a) {
        struct oc_arena plan = {0};
        struct oc_kernel_list list;
        oc_fusion_plan(a->model, a, OC_FUSE_GENERIC, &plan, &list);
        oc_pooled_load_make(a, &list, k->r->as, &k->arena, &p->load);
        oc_bound_load_make(a, k->r->as, &k->arena, &p->bound);
        oc_arena_free(&plan);
    }
    return p;
}

static const struct oc_span *published_span(struct maker *k, size_t device, int64_t batch)
{
    struct published *p = published_at(k, batch);
    if (!p->ok)
        return NULL;
    if (!p->done[device]) {
        const struct oc_device *d = k->r->device[device];
        const struct oc_span_in in = {
            .device = d, .pooled = &p->load, .bound_s = oc_bound_time(&p->bound, d, k->r->cache)};
        oc_span_of(&in, &p->whole[device], NULL);
        p->done[device] = true;
    }
    return &p->whole[device];
}

/* Between powers of two the time is interpolated: the kernels stay the same and their work is almost linear.
 */
static bool published_between(struct maker *k, size_t device, int64_t batch, struct oc_span *out)
{
    int64_t lo = 1;
    if (device == k->r->calibrated || !oc_pooled_covers(k->r->device[device]))
        return false;
    while (lo <= batch / 2)
        lo *= 2;
    if (lo == batch || 2 * lo > k->r->max_batch)
        lo = batch;
    const struct oc_span *a = published_span(k, device, lo),
                         *b = lo == batch ? a : published_span(k, device, 2 * lo);
    if (!a || !b)
        return false;
    double t = lo == batch ? 0 : (double)(batch - lo) / (double)lo;
    *out = *a;
    out->lo_s += t * (b->lo_s - a->lo_s);
    out->mid_s += t * (b->mid_s - a->mid_s);
    out->hi_s += t * (b->hi_s - a->hi_s);
    for (unsigned i = 0; i < OC_SPAN_PARTS; i++)
        out->part_s[i] += t * (b->part_s[i] - a->part_s[i]);
    return true;
}

static void span_at(struct maker *k, size_t device, const struct oc_rank_load *load, struct oc_span *whole,
                    struct oc_span *by_class)
{
    struct oc_span_in in = {.device = k->r->device[device], .load = load, .cache = k->r->cache};
    struct oc_err unused;
    if (device == k->r->calibrated) {
        in.cal = k->o->calibration;
        in.analysis = oc_rank_analysis_at(k->loads, load->batch, &unused);
    }
    if (!in.cal && oc_pooled_covers(in.device)) {
        const struct published *p = published_at(k, load->batch);
        in.pooled = p->ok ? &p->load : NULL;
        in.bound_s = p->ok ? oc_bound_time(&p->bound, in.device, k->r->cache) : NAN;
    }
    if (in.cal && !in.analysis) {
        *whole = (struct oc_span){.evidence = OC_SPAN_CALIBRATED};
        oc_span_unknown(whole, "analysis");
        return;
    }
    oc_span_of(&in, whole, by_class);
}

/* Sort key: the centre, and the ends of the interval for overlap. NAN: no rank. */
struct key {
    double lo, mid, hi;
    uint32_t index;
    unsigned last_group; /* 1: does not fit, 2: unknown */
};

static struct key rank_devices_key_of(const struct oc_rank_row *row, const char *sort, uint32_t index)
{
    bool energy = !strcmp(sort, "energy");
    struct key k = {.lo = energy ? row->lo_joule : row->lo_ns,
                    .mid = energy ? row->mid_joule : row->mid_ns,
                    .hi = energy ? row->hi_joule : row->hi_ns,
                    .index = index};
    k.last_group = isnan(k.mid) ? 2 : row->fits == OC_FITS_NO ? 1 : 0;
    return k;
}

static int rank_devices_by_key(const void *a, const void *b)
{
    const struct key *x = a, *y = b;
    if (x->last_group != y->last_group)
        return x->last_group < y->last_group ? -1 : 1;
    if (x->mid < y->mid || x->mid > y->mid)
        return x->mid < y->mid ? -1 : 1;
    return x->index < y->index ? -1 : 1;
}

static void set_places(struct oc_rank_row *row, const struct key *key, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (key[i].last_group)
            continue;
        row[i].place = (unsigned)i + 1;
        row[i].first = row[i].last = 1;
        for (size_t j = 0; j < n; j++) {
            if (j == i || key[j].last_group)
                continue;
            row[i].first += key[j].hi < key[i].lo;
            row[i].last += key[j].lo <= key[i].hi;
        }
    }
}

static void rank_devices_make_table(struct maker *k, const struct oc_rank_load *load,
                                    struct oc_rank_table *out)
{
    struct oc_arena *a = &k->r->arena;
    size_t n = k->r->n_device;
    struct oc_span *whole = OC_NEW_ARRAY(a, n, struct oc_span),
                   *by_class = OC_NEW_ARRAY(a, n * OC_OP_CLASS_COUNT, struct oc_span);
    struct oc_rank_row *row = OC_NEW_ARRAY(a, n, struct oc_rank_row),
                       *loose = OC_NEW_ARRAY(&k->arena, n, struct oc_rank_row);
    struct key *key = OC_NEW_ARRAY(&k->arena, n, struct key);
    uint32_t *device = OC_NEW_ARRAY(a, n, uint32_t);
    struct oc_bound_load bound;
    struct oc_err unused;
    const struct oc_analysis *analysis = oc_rank_analysis_at(k->loads, load->batch, &unused);
    if (analysis)
        oc_bound_load_make(analysis, k->r->as, &k->arena, &bound);
    for (uint32_t i = 0; i < n; i++) {
        span_at(k, i, load, &whole[i], &by_class[(size_t)i * OC_OP_CLASS_COUNT]);
        double bound_s = analysis ? oc_bound_time(&bound, k->r->device[i], k->r->cache) : NAN;
        loose[i] = rank_devices_row_of(k->r, k->r->device[i], load, &whole[i], bound_s);
        key[i] = rank_devices_key_of(&loose[i], k->r->sort, i);
    }
    qsort(key, n, sizeof(*key), rank_devices_by_key);
    for (size_t i = 0; i < n; i++) {
        row[i] = loose[key[i].index];
        device[i] = key[i].index;
    }
    set_places(row, key, n);
    *out = (struct oc_rank_table){.batch = load->batch,
                                  .total = *load,
                                  .row = row,
                                  .device = device,
                                  .whole = whole,
                                  .by_class = by_class};
    out->total.item = NULL;
    out->total.n_item = 0;
}

static int make_tables(struct maker *k)
{
    struct oc_rank *r = k->r;
    size_t n = k->o->n_batch ? k->o->n_batch : 1;
    struct oc_rank_table *table = OC_NEW_ARRAY(&r->arena, n, struct oc_rank_table);
    int64_t own = oc_rank_loads_batch(k->loads);
    for (size_t i = 0; i < n; i++) {
        const struct oc_rank_load *load =
            oc_rank_load_at(k->loads, k->o->n_batch ? k->o->batch[i] : own, k->err);
        if (!load)
            return -1;
        rank_devices_make_table(k, load, &table[i]);
    }
    r->table = table;
    r->n_table = n;
    return 0;
}

size_t oc_rank_best_for(const struct oc_rank *r, const struct oc_rank_table *t, unsigned op_class)
{
    size_t best = r->n_device;
    double least = INFINITY;
    for (size_t i = 0; i < r->n_device; i++) {
        const struct oc_span *s = &t->by_class[i * OC_OP_CLASS_COUNT + op_class];
        if (s->evidence != OC_SPAN_BAND && s->mid_s <= 0)
            return r->n_device; /* part of other kernels there */
        if (s->mid_s > 0 && s->mid_s < least) {
            least = s->mid_s;
            best = i;
        }
    }
    return best;
}

/* ---- other batches ---------------------------------------------------------------------------------- */

static struct brief *briefs_at(struct maker *k, int64_t batch)
{
    uint32_t at = k->n_brief;
    if (oc_map_add(&k->at, (const char *)&batch, sizeof(batch), &at, NULL)) {
        OC_GROW(k->brief, k->n_brief, k->cap_brief);
        k->brief[k->n_brief++] = OC_NEW_ARRAY(&k->arena, k->r->n_device, struct brief);
    }
    return k->brief[at];
}

static const struct brief *brief_of(struct maker *k, size_t device, int64_t batch)
{
    struct brief *b = &briefs_at(k, batch)[device];
    struct oc_err unused;
    struct oc_span s;
    uint64_t needs, capacity;
    if (b->done)
        return b;
    const struct oc_rank_load *load = oc_rank_load_at(k->loads, batch, &unused);
    *b = (struct brief){NAN, NAN, NAN, -1, OC_FITS_UNKNOWN, true};
    if (!load || load->unknown_nodes > k->r->table[0].total.unknown_nodes)
        return b;
    if (!published_between(k, device, batch, &s))
        span_at(k, device, load, &s, NULL);
    unsigned limit = oc_span_limit(&s);
    *b = (struct brief){s.lo_s, s.mid_s, s.hi_s, limit < OC_SPAN_PARTS ? (int)limit : -1, 0, true};
    b->fits = (int)fits_memory(k->r->device[device], load, &needs, &capacity);
    return b;
}

static int fastest_at(void *ctx, int64_t batch)
{
    struct maker *k = ctx;
    double least = INFINITY;
    int best = -1;
    for (size_t i = 0; i < k->r->n_device; i++) {
        const struct brief *b = brief_of(k, i, batch);
        if (b->mid_s < least && b->fits != OC_FITS_NO) {
            least = b->mid_s;
            best = (int)i;
        }
    }
    return best;
}

struct asked { /* messages about one device, or two */
    struct maker *k;
    size_t first, second;
};

static int faster_at(void *ctx, int64_t batch)
{
    const struct asked *q = ctx;
    const struct brief *a = brief_of(q->k, q->first, batch), *b = brief_of(q->k, q->second, batch);
    if (isnan(a->mid_s) || isnan(b->mid_s))
        return -1;
    if (a->mid_s < b->mid_s)
        return a->hi_s < b->lo_s ? OC_RANK_FIRST_SURELY : OC_RANK_FIRST;
    if (b->mid_s < a->mid_s)
        return b->hi_s < a->lo_s ? OC_RANK_SECOND_SURELY : OC_RANK_SECOND;
    return OC_RANK_SAME;
}

static int limit_at(void *ctx, int64_t batch)
{
    const struct asked *q = ctx;
    return brief_of(q->k, q->first, batch)->limit;
}

static int rank_devices_fits_at(void *ctx, int64_t batch)
{
    const struct asked *q = ctx;
    return brief_of(q->k, q->first, batch)->fits;
}

static void make_phases(struct maker *k)
{
    struct oc_rank *r = k->r;
    size_t n = r->n_device;
    struct oc_rank_phases *limit = OC_NEW_ARRAY(&r->arena, n, struct oc_rank_phases),
                          *fit = OC_NEW_ARRAY(&r->arena, n, struct oc_rank_phases);
    oc_find_phases(fastest_at, k, r->max_batch, &r->arena, &r->fastest);
    for (size_t i = 0; i < n; i++) {
        struct asked q = {k, i, i};
        oc_find_phases(limit_at, &q, r->max_batch, &r->arena, &limit[i]);
        oc_find_phases(rank_devices_fits_at, &q, r->max_batch, &r->arena, &fit[i]);
    }
    r->limit = limit;
    r->fits = fit;
    if (n > OC_RANK_PAIR_DEVICES)
        return;
    struct oc_rank_phases *pair = OC_NEW_ARRAY(&r->arena, n * n, struct oc_rank_phases);
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++) {
            struct asked q = {k, i, j};
            oc_find_phases(faster_at, &q, r->max_batch, &r->arena, &pair[i * n + j]);
        }
    r->pair = pair;
}

static void look_at_batches(struct maker *k)
{
    struct oc_rank *r = k->r;
    int64_t most = OC_RANK_BATCHES;
    if (!r->symbol)
        return;
    if (oc_rank_loads_batch(k->loads) > most && oc_rank_loads_batch(k->loads) <= OC_RANK_MAX_BATCH)
        most = oc_rank_loads_batch(k->loads);
    for (size_t i = 0; i < k->o->n_batch; i++)
        most = k->o->batch[i] > most ? k->o->batch[i] : most;
    r->max_batch = oc_rank_loads_span(k->loads, most);
    if (r->max_batch < most)
        r->no_larger = "the analysis fails for larger batches";
    if (r->max_batch)
        make_phases(k);
    else
        r->no_batch = "the analysis fails for a batch of 1";
}

/* Inferences per run if another dimension than the batch varies. */
static void count_samples(struct maker *k)
{
    struct oc_rank *r = k->r;
    const char *batch = oc_batch_symbol(r->model);
    int64_t now = batch ? oc_batch_now(oc_rank_loads_first(k->loads), batch) : 1;
    bool is_batch = batch && r->symbol && !strcmp(batch, r->symbol);
    r->samples = is_batch ? 0 : now > 0 ? now : 1;
}

static void take_assumptions(struct maker *k)
{
    const struct oc_analysis *a = oc_rank_loads_first(k->loads);
    struct oc_arena *to = &k->r->arena;
    struct oc_assumption *list = OC_NEW_ARRAY(to, a->n_assumption, struct oc_assumption);
    for (uint32_t i = 0; i < a->n_assumption; i++) {
        const struct oc_assumption *x = &a->assumption[i];
        if (k->o->n_batch && !strcmp(x->what, "dim") && !strcmp(x->name, k->r->symbol))
            continue; /* it was requested */
        list[k->r->n_assumption++] =
            (struct oc_assumption){oc_strdup(to, x->what), oc_strdup(to, x->name), oc_strdup(to, x->value),
                                   oc_strdup(to, x->reason)};
    }
    k->r->assumption = list;
}

/* ---- public functions ------------------------------------------------------------------------------- */

static int rank_devices_make(struct maker *k)
{
    struct oc_rank *r = k->r;
    struct oc_analyze_opts analyze;
    if (OC_OPTIONS(&analyze, k->o->analyze, k->err) || take_devices(k) || take_type(k) ||
        take_calibration(k) || take_order(k) || rank_devices_take_symbol(k))
        return -1;
    if (oc_rank_loads_make(r->model, &analyze, r->as, r->symbol, &k->loads, k->err))
        return -1;
    if (oc_rank_loads_batch(k->loads) < 1)
        return oc_fail(k->err, OC_EARG, "dimension '%s' needs a size of at least 1", r->symbol);
    take_assumptions(k);
    count_samples(k);
    if (make_tables(k))
        return -1;
    look_at_batches(k);
    r->analyses = oc_rank_loads_analyses(k->loads);
    return 0;
}

int oc_rank_make(const struct oc_model *model, const struct oc_rank_opts *given, struct oc_rank **out,
                 struct oc_err *err)
{
    OC_ENTRY(err);
    *out = NULL;
    struct oc_rank_opts full, *const opts = &full;
    if (OC_OPTIONS(&full, given, err))
        return -1;
    struct oc_err unused = {0};
    struct oc_rank *r = oc_xmalloc(sizeof(*r));
    *r = (struct oc_rank){.model = model, .cache = opts->cache};
    struct maker k = {.r = r, .o = opts, .err = err ? err : &unused};
    k.at.arena = &k.arena;
    k.published_at.arena = &k.arena;
    int rc = rank_devices_make(&k);
    oc_rank_loads_free(k.loads);
    oc_map_free(&k.at);
    oc_map_free(&k.published_at);
    free(k.published);
    free(k.brief);
    oc_arena_free(&k.arena);
    if (rc) {
        oc_rank_free(r);
        return -1;
    }
    *out = r;
    return 0;
}

void oc_rank_free(struct oc_rank *r)
{
    if (!r)
        return;
    oc_arena_free(&r->arena);
    free(r);
}

size_t oc_rank_rows(const struct oc_rank *r, size_t index, int64_t *batch, const struct oc_rank_row **out)
{
    if (index >= r->n_table)
        return 0;
    if (batch)
        *batch = r->table[index].batch;
    *out = r->table[index].row;
    return r->n_device;
}

int64_t oc_rank_max_batch(const struct oc_rank *r)
{
    return r->max_batch;
}

size_t oc_rank_fastest(const struct oc_rank *r, const struct oc_rank_phase **out)
{
    *out = r->fastest.item;
    return r->fastest.n;
}

size_t oc_rank_faster(const struct oc_rank *r, size_t first, size_t second, const struct oc_rank_phase **out)
{
    const struct oc_rank_phases none = {NULL, 0};
    bool there = r->pair && first < second && second < r->n_device;
    const struct oc_rank_phases *p = there ? &r->pair[first * r->n_device + second] : &none;
    *out = p->item;
    return p->n;
}

size_t oc_rank_limits(const struct oc_rank *r, size_t device, const struct oc_rank_phase **out)
{
    const struct oc_rank_phases none = {NULL, 0};
    const struct oc_rank_phases *p = r->limit && device < r->n_device ? &r->limit[device] : &none;
    *out = p->item;
    return p->n;
}

const char *oc_rank_limit_name(int what)
{
    return oc_span_part_name(what < 0 ? OC_SPAN_PARTS : (unsigned)what);
}
