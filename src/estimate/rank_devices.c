/* Ranks of devices and batches: each pair has an estimate of its own. */
#include "estimate/rank_devices.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/closed_form.h"
#include "base/c_locale.h"
#include "base/ck.h"
#include "onnxcost/estimate.h"
#include "onnxcost/hardware.h"

const char *const oc_rank_orders[OC_RANK_ORDERS] = {"time", "throughput", "energy", "price"};

struct maker {
    struct oc_rank *r;
    const struct oc_rank_opts *o;
    struct oc_err *err;
};

/* ---- options ---------------------------------------------------------------------------------------- */

int oc_check_price(const struct oc_device *d, double per_hour, struct oc_err *err)
{
    return per_hour >= 0 && !isinf(per_hour)
               ? 0
               : oc_fail(err, OC_EARG, "the price of '%s' is not a number of at least 0", d->info->id);
}

static int take_devices(struct maker *k)
{
    struct oc_rank *r = k->r;
    if (!k->o->n_device)
        return oc_fail(k->err, OC_EARG, "no device to compare");
    r->device = k->o->device;
    r->n_device = k->o->n_device;
    r->price_per_hour = k->o->price_per_hour;
    for (size_t i = 0; i < r->n_device && r->price_per_hour; i++)
        if (oc_check_price(r->device[i], r->price_per_hour[i], k->err))
            return -1;
    for (size_t i = 0; i < r->n_device; i++)
        for (size_t j = 0; j < i; j++)
            if (!strcmp(r->device[j]->info->id, r->device[i]->info->id) &&
                !strcmp(r->device[j]->info->file, r->device[i]->info->file))
                return oc_fail(k->err, OC_EARG, "device '%s' is listed twice", r->device[i]->info->id);
    return 0;
}

static int take_type(struct maker *k)
{
    const char *name = k->o->as;
    k->r->as = name ? oc_recast_by_name(name) : NULL;
    return name && !k->r->as ? oc_recast_unknown(name, k->err) : 0;
}

/* A calibration applies to the device of its name, even if its file has other figures. */
static bool is_calibrated(const struct oc_rank *r, const struct oc_device *d)
{
    return r->cal && !strcmp(d->info->id, r->cal->device);
}

static int take_calibration(struct maker *k)
{
    struct oc_rank *r = k->r;
    bool found = !k->o->calibration;
    r->cal = k->o->calibration;
    for (size_t i = 0; i < r->n_device; i++)
        found |= is_calibrated(r, r->device[i]);
    return found ? 0
                 : oc_fail(k->err, OC_EARG, "the calibration is of '%s', which is not among the devices",
                           r->cal->device);
}

static int take_order(struct maker *k)
{
    const char *sort = k->o->sort ? k->o->sort : oc_rank_orders[0];
    for (unsigned i = 0; i < OC_RANK_ORDERS; i++)
        if (!strcmp(sort, oc_rank_orders[i])) {
            k->r->order = (enum oc_rank_order)i;
            return i == OC_RANK_BY_PRICE && !k->r->price_per_hour
                       ? oc_fail(k->err, OC_EARG, "no device has a price to order by")
                       : 0;
        }
    return oc_fail_unknown(k->err, OC_EARG,
                           &(struct oc_unknown){.what = "key",
                                                .where = "for --order-by",
                                                .given = sort,
                                                .valid = oc_rank_orders,
                                                .n = OC_RANK_ORDERS});
}

static int take_symbol(struct maker *k)
{
    struct oc_rank *r = k->r;
    const char *name = k->o->batch_dim;
    if (name && !oc_batch_has_symbol(r->model, name))
        return oc_fail(k->err, OC_EARG, "no input has a dimension named '%.60s'", name);
    r->symbol = name ? name : oc_batch_symbol(r->model);
    if (!r->symbol && k->o->n_batch)
        return oc_fail(k->err, OC_EARG, "other batches are not possible: the model has a fixed batch");
    if (k->o->n_batch > OC_RANK_MAX_BATCHES)
        return oc_fail(k->err, OC_EARG, "more than %d batches", OC_RANK_MAX_BATCHES);
    for (size_t i = 0; i < k->o->n_batch; i++)
        if (k->o->batch[i] < 1 || k->o->batch[i] > OC_RANK_MAX_BATCH)
            return oc_fail(k->err, OC_EARG, "a batch must be from 1 to %lld, not %lld",
                           (long long)OC_RANK_MAX_BATCH, (long long)k->o->batch[i]);
    return 0;
}

/* ---- one row ---------------------------------------------------------------------------------------- */

static void set_time(struct oc_rank *r, const struct oc_estimate *e, struct oc_rank_row *row)
{
    const struct oc_estimate_info *i = e->info;
    bool point = i->time_ns > 0;
    row->basis = e->cal ? "calibration" : e->pooled ? "published latencies" : "roofline range";
    row->bound_ns = i->bound_ns;
    row->unknown_kernels = i->unknown_kernels;
    row->lo_ns = row->mid_ns = row->hi_ns = NAN;
    if (e->missing)
        row->missing = oc_strdup(&r->arena, e->missing);
    else if (!(i->high_ns > 0))
        row->missing = "no kernel has a known time";
    if (row->missing)
        return;
    row->lo_ns = i->low_ns;
    row->hi_ns = i->high_ns;
    row->mid_ns = point ? i->time_ns : sqrt(i->low_ns * i->high_ns);
}

static void set_limit(const struct oc_estimate *e, struct oc_rank_row *row)
{
    const struct oc_model_prediction *t = &e->total;
    const double part[] = {t->compute_s, t->memory_s, t->t0_s};
    static const char *const name[] = {"compute", "memory", "launches"};
    unsigned most = part[1] > part[0] ? 1 : 0;
    most = part[2] > part[most] ? 2 : most;
    double sum = part[0] + part[1] + part[2];
    row->limit = sum > 0 ? name[most] : "unknown";
    row->limit_share = sum > 0 ? part[most] / sum : NAN;
}

/* Constants and peak activation memory against the device's memory. */
static void set_memory(const struct oc_analysis *a, struct oc_rank_row *row)
{
    const struct oc_hw_level *dram = oc_device_dram(row->device);
    row->fits = OC_FITS_UNKNOWN;
    row->capacity_bytes = dram && dram->size ? (uint64_t)dram->size->value : 0;
    if (a->peak.quality == OC_UNKNOWN ||
        !oc_add_u64(a->total->const_bytes, a->peak.bytes, &row->need_bytes)) {
        row->need_bytes = 0;
        return;
    }
    if (row->capacity_bytes)
        row->fits = oc_fits_in(row->need_bytes, a->peak.quality, row->capacity_bytes);
}

/* Energy and price of the time that a run takes. */
static void set_expense(const struct oc_device *d, double price_per_hour, struct oc_rank_row *row)
{
    double joule_per_ns = d->power ? d->power->value * 1e-9 / row->inferences : NAN;
    double price_per_ns = price_per_hour > 0 ? 1000 * price_per_hour / 3600e9 / row->inferences : NAN;
    row->lo_joule = row->lo_ns * joule_per_ns;
    row->mid_joule = row->mid_ns * joule_per_ns;
    row->hi_joule = row->hi_ns * joule_per_ns;
    row->price_per_hour = price_per_hour > 0 ? price_per_hour : NAN;
    row->lo_price = row->lo_ns * price_per_ns;
    row->mid_price = row->mid_ns * price_per_ns;
    row->hi_price = row->hi_ns * price_per_ns;
}

/* The row of the i-th device. */
static int make_row(struct maker *k, const struct oc_analysis *a, size_t i, struct oc_rank_row *row)
{
    struct oc_rank *r = k->r;
    const struct oc_device *d = r->device[i];
    struct oc_estimate *e;
    const struct oc_estimate_opts opts = {.calibration = is_calibrated(r, d) ? r->cal : NULL,
                                          .fusion = k->o->fusion,
                                          .simd = k->o->simd,
                                          .as = k->o->as};
    if (oc_estimate_make(a, d, &opts, &e, k->err))
        return -1;
    row->device = d;
    set_time(r, e, row);
    set_limit(e, row);
    set_memory(a, row);
    set_expense(d, r->price_per_hour ? r->price_per_hour[i] : 0, row);
    oc_estimate_free(e);
    return 0;
}

/* ---- rows ------------------------------------------------------------------------------------------- */

/* The size of the batch dimension of the model, which is another one than `symbol` where that was given by name. */
static double inferences_of(const struct oc_rank *r, const struct oc_analysis *a)
{
    const char *batch = oc_batch_symbol(r->model);
    int64_t n = batch ? oc_batch_now(a, batch) : 1;
    return n > 0 ? (double)n : 1;
}

/* The rows of the i-th batch. */
static int add_batch(struct maker *k, const struct oc_analyze_opts *analyze, size_t i)
{
    struct oc_rank *r = k->r;
    struct oc_analysis *a;
    if (oc_analyze(r->model, analyze, &a, k->err))
        return -1;
    int64_t now = r->symbol ? oc_batch_now(a, r->symbol) : 1;
    int rc = now < 1 ? oc_fail(k->err, OC_EARG, "dimension '%s' needs a size of at least 1", r->symbol) : 0;
    if (!rc && !i) {
        k->r->assumption = oc_assumptions_copy(a, &k->r->arena);
        k->r->n_assumption = a->n_assumption;
    }
    for (size_t d = 0; !rc && d < r->n_device; d++) {
        struct oc_rank_row *row = &r->row[r->n_row++];
        row->batch = r->symbol ? now : 0;
        row->inferences = inferences_of(r, a);
        rc = make_row(k, a, d, row);
    }
    oc_analysis_free(a);
    return rc;
}

static int add_batches(struct maker *k, const struct oc_analyze_opts *analyze)
{
    struct oc_rank *r = k->r;
    struct oc_batch_opts batch;
    size_t n = k->o->n_batch ? k->o->n_batch : 1;
    r->row = OC_NEW_ARRAY(&r->arena, n * r->n_device, struct oc_rank_row);
    if (!k->o->n_batch)
        return add_batch(k, analyze, 0);
    oc_batch_opts_init(&batch, &r->arena, r->model, analyze, r->symbol);
    int rc = 0;
    for (size_t i = 0; i < n && !rc; i++) {
        oc_batch_opts_set(&batch, k->o->batch[i]);
        rc = add_batch(k, &batch.opts, i);
    }
    return rc;
}

/* ---- order ------------------------------------------------------------------------------------------ */

/* The centre of the sort key, and its ends for overlap: smaller is better. NAN: no rank. */
struct key {
    double lo, mid, hi;
    size_t index;
    unsigned last_group; /* 1: does not fit, 2: unknown */
};

static struct key key_of(const struct oc_rank_row *row, enum oc_rank_order order, size_t index)
{
    double by = order == OC_RANK_BY_THROUGHPUT ? row->inferences : 1;
    struct key k = {.lo = row->lo_ns / by, .mid = row->mid_ns / by, .hi = row->hi_ns / by, .index = index};
    if (order == OC_RANK_BY_ENERGY) {
        k.lo = row->lo_joule;
        k.mid = row->mid_joule;
        k.hi = row->hi_joule;
    } else if (order == OC_RANK_BY_PRICE) {
        k.lo = row->lo_price;
        k.mid = row->mid_price;
        k.hi = row->hi_price;
    }
    k.last_group = isnan(k.mid) ? 2 : row->fits == OC_FITS_NO ? 1 : 0;
    return k;
}

static int by_key(const void *a, const void *b)
{
    const struct key *x = a, *y = b;
    if (x->last_group != y->last_group)
        return x->last_group < y->last_group ? -1 : 1;
    if (x->mid < y->mid || x->mid > y->mid)
        return x->mid < y->mid ? -1 : 1;
    return x->index < y->index ? -1 : 1;
}

static void rank_rows(struct oc_rank *r)
{
    size_t n = r->n_row;
    struct key *key = OC_NEW_ARRAY(&r->arena, n, struct key);
    struct oc_rank_row *row = OC_NEW_ARRAY(&r->arena, n, struct oc_rank_row);
    for (size_t i = 0; i < n; i++)
        key[i] = key_of(&r->row[i], r->order, i);
    qsort(key, n, sizeof(*key), by_key);
    for (size_t i = 0; i < n; i++) {
        row[i] = r->row[key[i].index];
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
    r->row = row;
}

/* ---- public functions ------------------------------------------------------------------------------- */

static int rank_make(struct maker *k)
{
    struct oc_analyze_opts analyze;
    if (OC_OPTIONS(&analyze, k->o->analyze, k->err) || take_devices(k) || take_type(k) ||
        take_calibration(k) || take_order(k) || take_symbol(k) || add_batches(k, &analyze))
        return -1;
    rank_rows(k->r);
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
    struct oc_rank *r = oc_xmalloc(sizeof(*r));
    *r = (struct oc_rank){.model = model};
    struct maker k = {.r = r, .o = opts, .err = err};
    if (rank_make(&k)) {
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

size_t oc_rank_rows(const struct oc_rank *r, const struct oc_rank_row **out)
{
    *out = r->row;
    return r->n_row;
}
