/* A decoder on a device: roofline times, memory capacity, and the batch size from which decode is
 * compute-bound. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ck.h"
#include "base/units.h"
#include "base/c_locale.h"
#include "estimate/calibrate.h"
#include "estimate/time_bound.h"
#include "hw/hwdb.h"
#include "llm/llm.h"
#include "onnxcost.h"
#include "onnxcost/estimate.h"
#include "onnxcost/hardware.h"

#define MOST        (INT64_C(1) << 31) /* search limit for sequences or tokens in memory */
#define MOST_BATCH  (INT64_C(1) << 20) /* search limit for a compute-bound batch */
#define MOST_DIRECT (INT64_C(1) << 12) /* the same without closed forms: each try is an analysis */

/* ---- work with a peak on the device ----------------------------------------------------------------- */

struct held { /* counts against one device */
    struct oc_llm *l;
    struct oc_llm_device *d;
    struct oc_device device; /* without overhead: launches are not in the lower bound */
};

static void note_left_out(struct held *h, unsigned cls)
{
    const char *name = oc_class_name(cls), *before = h->d->left_out;
    if (!before)
        h->d->left_out = name;
    else if (!strstr(before, name))
        h->d->left_out = oc_printf(&h->l->arena, "%s, %s", before, name);
}

/* Elementwise work in a class without a vector peak is left out: the time stays a lower bound. For products
 * it is not: without their peak the time is unknown. */
static struct oc_work llm_device_work_of(struct held *h, const uint64_t v[OC_LN_COUNT])
{
    struct oc_work w = {.bytes = v[OC_LN_READ_ACT] + v[OC_LN_READ_WEIGHT] + v[OC_LN_WRITTEN], .launches = 1};
    for (unsigned c = 0; c < OC_CLASS_COUNT; c++) {
        w.macs[c] = v[OC_LN_CLASS_MACS + c];
        if (oc_roof_has_vector_peak(&h->device, c))
            w.flops[c] = v[OC_LN_CLASS_REST + c];
        else if (v[OC_LN_CLASS_REST + c])
            note_left_out(h, c);
        if (oc_roof_has_vector_peak(&h->device, c) || h->device.peak[OC_HW_SPECIAL][c])
            w.special[c] = w.special_flops[c] = v[OC_LN_CLASS_SPECIAL + c];
        else if (v[OC_LN_CLASS_SPECIAL + c])
            note_left_out(h, c);
    }
    return w;
}

/* Reads weights once and the visible cache once, writes the new keys and values. */
static double chip_bytes(const struct oc_llm *l, const uint64_t v[OC_LN_COUNT], struct oc_llm_at at)
{
    const struct oc_llm_facts *f = &l->facts;
    double whole = (double)f->kv_bytes_per_token * (double)at.batch * (double)at.past;
    double read = (double)v[OC_LN_KV_READ],
           fresh = (double)f->kv_bytes_per_token * (double)at.batch * (double)at.fresh;
    if (!f->cross_pairs && f->kv_bytes_known && l->sizes.fixed[OC_LLM_PAST] < 0)
        read = fmin(read, whole);
    /* a cache in f32 is halved with all tensors */
    bool halved =
        l->as && l->as->bits == 16 && !l->as->weights_only && f->kv_dtype && !strcmp(f->kv_dtype, "float");
    return (double)v[OC_LN_READ_WEIGHT] + (read + fresh) * (halved ? 0.5 : 1);
}

static struct oc_llm_roof roof_of(struct held *h, const uint64_t v[OC_LN_COUNT], struct oc_llm_at at)
{
    struct oc_work w = llm_device_work_of(h, v), chip = w;
    struct oc_roof r, c;
    double bytes = chip_bytes(h->l, v, at);
    oc_roofline(&h->device, &w, NAN, &r);
    chip.bytes = bytes < (double)w.bytes ? (uint64_t)bytes : w.bytes;
    oc_roofline(&h->device, &chip, NAN, &c);
    return (struct oc_llm_roof){.s = r.roof_s,
                                .comp_s = r.comp_s,
                                .mem_s = r.mem_s,
                                .chip_s = c.roof_s,
                                .chip_mem_s = c.mem_s,
                                .bound = oc_bound_name(r.bound),
                                .missing = r.missing[0] ? oc_printf(&h->l->arena, "no %s", r.missing) : NULL};
}

static struct oc_llm_roof no_roof(const char *why)
{
    return (struct oc_llm_roof){.s = NAN,
                                .comp_s = NAN,
                                .mem_s = NAN,
                                .chip_s = NAN,
                                .chip_mem_s = NAN,
                                .bound = oc_bound_name(OC_BOUND_UNKNOWN),
                                .missing = why};
}

static struct oc_llm_roof roof_of_run(struct held *h, const struct oc_llm_cost *c, struct oc_llm_at at,
                                      const char *failure)
{
    if (!c)
        return no_roof(failure);
    if (c->quality == OC_UNKNOWN || c->unknown_nodes)
        return no_roof("operators without a cost");
    return roof_of(h, c->v, at);
}

/* Sum of the roofline times of all decode steps. */
static struct oc_llm_roof roof_of_steps(struct held *h)
{
    const struct oc_llm *l = h->l;
    struct oc_llm_roof sum = {.bound = h->d->last.bound, .missing = h->d->last.missing};
    if (!l->sums_known || !l->last || !isfinite(h->d->last.s))
        return no_roof(sum.missing ? sum.missing : l->decode_failure ? l->decode_failure : l->sum_failure);
    for (int64_t i = 0; i < l->steps_n; i++) {
        struct oc_llm_at at = {l->opts.batch, 1, l->opts.prompt + i};
        uint64_t v[OC_LN_COUNT] = {0};
        for (unsigned k = 0; k < OC_LN_COUNT; k++)
            if (k != OC_LN_PEAK && l->sum[k] && !oc_llm_step_at(l, (enum oc_llm_num)k, at.past, &v[k]))
                return no_roof(l->sum_failure);
        struct oc_llm_roof one = roof_of(h, v, at);
        sum.s += one.s;
        sum.comp_s += one.comp_s;
        sum.mem_s += one.mem_s;
        sum.chip_s += one.chip_s;
    }
    return sum;
}

static struct oc_llm_roof llm_device_sum_of(const struct oc_llm_roof *a, const struct oc_llm_roof *b)
{
    return (struct oc_llm_roof){.s = a->s + b->s,
                                .comp_s = a->comp_s + b->comp_s,
                                .mem_s = a->mem_s + b->mem_s,
                                .chip_s = a->chip_s + b->chip_s,
                                .bound = a->s > b->s ? a->bound : b->bound,
                                .missing = a->missing ? a->missing : b->missing};
}

void oc_llm_roof_at(struct oc_llm *l, const struct oc_device *d, const struct oc_llm_cost *c,
                    struct oc_llm_at at, struct oc_llm_roof *out, double *bytes)
{
    struct oc_llm_device unused = {.device = d};
    struct held h = {.l = l, .d = &unused, .device = *d};
    h.device.overhead = NULL;
    *out = roof_of(&h, c->v, at);
    *bytes = fmin(chip_bytes(l, c->v, at), (double)c->v[OC_LN_READ_ACT] + (double)c->v[OC_LN_READ_WEIGHT] +
                                               (double)c->v[OC_LN_WRITTEN]);
}

/* ---- memory capacity -------------------------------------------------------------------------------- */

uint64_t oc_llm_need(const struct oc_llm *l, const struct oc_llm_cost *c)
{
    return l->weight_bytes + c->v[OC_LN_PEAK];
}

enum fit_of { FIT_BATCH, FIT_CONTEXT, FIT_PROMPT };

struct fit { /* memory as a function of one size */
    struct held *h;
    enum fit_of of;
    double memory;
};

static struct oc_llm_at run_at(const struct fit *f, int64_t x)
{
    const struct oc_llm *l = f->h->l;
    if (f->of == FIT_BATCH)
        return oc_llm_last(l, x);
    return f->of == FIT_CONTEXT ? (struct oc_llm_at){l->opts.batch, 1, x - 1}
                                : (struct oc_llm_at){l->opts.batch, x, 0};
}

/* INFINITY: no such run. */
static double need_at(const struct fit *f, int64_t x)
{
    struct oc_llm *l = f->h->l;
    struct oc_llm_at at = run_at(f, x);
    const struct oc_llm_cost *c = oc_llm_cost_at(l, at);
    return c && c->peak_quality != OC_UNKNOWN ? (double)oc_llm_need(l, c) : INFINITY;
}

/* Interpolates where the bracket's line reaches the capacity, or bisects. */
static int64_t llm_device_guess(const struct fit *f, int64_t lo, double need_lo, int64_t hi, double need_hi,
                                int turn)
{
    double at = (double)lo + (f->memory - need_lo) / (need_hi - need_lo) * (double)(hi - lo);
    int64_t x = turn % 3 == 2 || !isfinite(at) ? lo + (hi - lo) / 2 : (int64_t)at;
    return x <= lo ? lo + 1 : x >= hi ? hi - 1 : x;
}

/* The largest size that fits into memory; memory grows with the size. */
static struct oc_llm_limit llm_device_largest(const struct fit *f)
{
    double need_lo = need_at(f, 1), need_hi = need_at(f, 2);
    int64_t lo = 1, hi = 2;
    if (isinf(need_lo))
        return (struct oc_llm_limit){.why = "the memory of a run is unknown"};
    if (need_lo > f->memory)
        return (struct oc_llm_limit){.known = true};
    while (need_hi <= f->memory && hi < MOST) { /* extrapolates */
        double slope = (need_hi - need_lo) / (double)(hi - lo);
        double at = (double)hi + (slope > 0 ? (f->memory - need_hi) / slope : (double)hi) + 1;
        lo = hi;
        need_lo = need_hi;
        hi = at < (double)MOST ? (int64_t)at : MOST;
        hi = hi <= lo ? lo + 1 : hi;
        need_hi = need_at(f, hi);
    }
    if (need_hi <= f->memory)
        return (struct oc_llm_limit){.known = true, .v = hi, .beyond = true};
    for (int turn = 0; hi - lo > 1; turn++) {
        int64_t x = llm_device_guess(f, lo, need_lo, hi, need_hi, turn);
        double need = need_at(f, x);
        if (need <= f->memory) {
            lo = x;
            need_lo = need;
        } else {
            hi = x;
            need_hi = need;
        }
    }
    return (struct oc_llm_limit){.known = true, .v = lo};
}

static struct oc_llm_limit llm_device_limit_of(struct held *h, enum fit_of of)
{
    const int64_t *fixed = h->l->sizes.fixed;
    struct fit f = {h, of, h->d->memory_bytes};
    bool prompt = of == FIT_PROMPT;
    if (of == FIT_BATCH && fixed[OC_LLM_BATCH] >= 0)
        return (struct oc_llm_limit){.why = "the model has a fixed batch"};
    if (of == FIT_CONTEXT && fixed[OC_LLM_PAST] >= 0)
        return (struct oc_llm_limit){.why = "the model has a fixed cache length"};
    if (prompt && fixed[OC_LLM_NEW] >= 0)
        return (struct oc_llm_limit){.why = "the model has a fixed number of new tokens"};
    if (prompt ? !h->l->prefill : !h->l->last)
        return (struct oc_llm_limit){.why = prompt ? h->l->prefill_failure : h->l->decode_failure};
    if (isnan(f.memory))
        return (struct oc_llm_limit){.why = "the device file has no memory size"};
    return llm_device_largest(&f);
}

/* ---- batch size from which decode is compute-bound -------------------------------------------------- */

enum { NO = 0, YES = 1, NOT_KNOWN = -1 };

static bool counts_at(struct held *h, struct oc_llm_at at, bool by_law, uint64_t v[OC_LN_COUNT])
{
    if (!by_law) {
        const struct oc_llm_cost *c = oc_llm_cost_at(h->l, at);
        if (c)
            memcpy(v, c->v, sizeof(c->v));
        return c && c->quality != OC_UNKNOWN;
    }
    memset(v, 0, OC_LN_COUNT * sizeof(*v));
    for (unsigned k = 0; k < OC_LN_COUNT; k++)
        if (k != OC_LN_PEAK &&
            !oc_llm_law_at(&h->l->decode_law, (enum oc_llm_num)k, at.batch, at.past, &v[k]))
            return false;
    return true;
}

static int compute_bound(struct held *h, int64_t batch, bool by_law)
{
    uint64_t v[OC_LN_COUNT];
    struct oc_llm_at at = oc_llm_last(h->l, batch);
    if (!counts_at(h, at, by_law, v))
        return NOT_KNOWN;
    struct oc_llm_roof r = roof_of(h, v, at);
    bool known = !r.missing && isfinite(r.comp_s) && isfinite(r.mem_s);
    return known ? r.comp_s >= r.mem_s : NOT_KNOWN;
}

/* Arithmetic and traffic are linear in the batch: the increments per sequence determine the limit for large
 * batches. NULL: compute. */
static const char *never_text(struct held *h)
{
    uint64_t one[OC_LN_COUNT], two[OC_LN_COUNT];
    if (!counts_at(h, oc_llm_last(h->l, MOST_BATCH / 2), true, one) ||
        !counts_at(h, oc_llm_last(h->l, MOST_BATCH), true, two))
        return NULL;
    struct oc_llm_roof a = roof_of(h, one, oc_llm_last(h->l, 1)), b = roof_of(h, two, oc_llm_last(h->l, 1));
    double comp = (b.comp_s - a.comp_s) / (MOST_BATCH / 2.0), mem = (b.mem_s - a.mem_s) / (MOST_BATCH / 2.0);
    if (!(comp < mem))
        return NULL;
    char first[40], second[40];
    return oc_printf(&h->l->arena, "each further sequence adds %s of arithmetic and %s of memory traffic",
                     oc_format_time_ns(comp * 1e9, first, sizeof(first)),
                     oc_format_time_ns(mem * 1e9, second, sizeof(second)));
}

static struct oc_llm_limit first_compute_bound(struct held *h)
{
    const struct oc_llm *l = h->l;
    if (l->sizes.fixed[OC_LLM_BATCH] >= 0)
        return (struct oc_llm_limit){.why = "the model has a fixed batch"};
    uint64_t v[OC_LN_COUNT];
    bool by_law = counts_at(h, oc_llm_last(l, 1), true, v);
    int64_t most = by_law ? MOST_BATCH : MOST_DIRECT, lo = 0, hi = 1;
    int is = compute_bound(h, 1, by_law);
    while (is == NO && hi < most) {
        lo = hi;
        hi *= 2;
        is = compute_bound(h, hi, by_law);
    }
    if (is == NOT_KNOWN)
        return (struct oc_llm_limit){.why = h->d->last.missing ? h->d->last.missing : "counts are unknown"};
    const char *never = is == NO && by_law ? never_text(h) : NULL;
    if (never)
        return (struct oc_llm_limit){.known = true, .never = true, .why = never};
    if (is == NO)
        return (struct oc_llm_limit){.known = true, .beyond = true, .v = most};
    while (hi - lo > 1) {
        int64_t middle = lo + (hi - lo) / 2;
        if (compute_bound(h, middle, by_law) == YES)
            hi = middle;
        else
            lo = middle;
    }
    /* the closed form is from a few points: analyse the two sizes at the boundary */
    if (by_law && (compute_bound(h, hi, false) != YES || (lo && compute_bound(h, lo, false) != NO)))
        return (struct oc_llm_limit){.why = "the analysis and the closed form differ at the boundary"};
    return (struct oc_llm_limit){.known = true, .v = hi};
}

/* ---- lower bounds and estimates --------------------------------------------------------------------- */

static double bound_of(struct oc_llm *l, const struct oc_device *device, struct oc_llm_at at,
                       const char *failure, const struct oc_bound_load **load)
{
    static const struct oc_bound_load none;
    *load = failure ? &none : oc_llm_load_at(l, at);
    return oc_bound_time(*load, device, l->opts.cache);
}

static double bound_of_steps(struct oc_llm *l, const struct oc_device *device)
{
    double sum = 0;
    for (int64_t i = 0; i < OC_LLM_STEP_RANGES; i++) {
        int64_t from = l->steps_n * i / OC_LLM_STEP_RANGES, to = l->steps_n * (i + 1) / OC_LLM_STEP_RANGES;
        struct oc_llm_at at = {l->opts.batch, 1, l->opts.prompt + from};
        if (from < to && !l->decode_failure)
            sum += (double)(to - from) * oc_bound_time(oc_llm_load_at(l, at), device, l->opts.cache);
    }
    return l->decode_failure && l->steps_n ? NAN : sum;
}

static void set_bounds(struct oc_llm *l, struct oc_llm_device *d)
{
    struct oc_llm_roof *const part[] = {&d->prefill, &d->first, &d->last, &d->all, &d->whole};
    const struct oc_llm_opts *o = &l->opts;
    const struct oc_llm_at prefill = {o->batch, o->prompt, 0}, first = {o->batch, 1, o->prompt};
    const struct oc_bound_load *unused;
    d->prefill.bound_s = bound_of(l, d->device, prefill, l->prefill_failure, &l->bound[0]);
    d->first.bound_s = bound_of(l, d->device, first, l->decode_failure, &unused);
    d->last.bound_s = bound_of(l, d->device, oc_llm_last(l, o->batch), l->decode_failure, &l->bound[1]);
    d->all.bound_s = bound_of_steps(l, d->device);
    d->whole.bound_s = d->prefill.bound_s + d->all.bound_s;
    /* operators one after another take at least the lower bound of any runtime */
    for (size_t i = 0; i < OC_COUNT(part); i++)
        part[i]->s = part[i]->bound_s > part[i]->s ? part[i]->bound_s : part[i]->s;
}

static void estimate_run(const struct oc_llm *l, const struct oc_device *device, struct oc_llm_at at,
                         struct oc_llm_roof *out)
{
    struct oc_analysis *a;
    struct oc_estimate *e;
    struct oc_err unused;
    const struct oc_estimate_opts opts = {.calibration = l->opts.calibration};
    if (oc_llm_analyze(l, at, &a, &unused))
        return;
    if (!oc_estimate_make(a, device, &opts, &e, &unused)) {
        const struct oc_estimate_info *info = oc_estimate_info(e);
        out->time_s = info->time_ns * 1e-9;
        out->low80_s = info->low_ns * 1e-9;
        out->high80_s = info->high_ns * 1e-9;
        oc_estimate_free(e);
    }
    oc_analysis_free(a);
}

static void add_estimate(struct oc_llm_roof *sum, const struct oc_llm_roof *part, double times)
{
    sum->time_s += times * part->time_s;
    sum->low80_s += times * part->low80_s;
    sum->high80_s += times * part->high80_s;
}

/* Decode steps take the mean of the first and the last one. */
static void set_estimates(const struct oc_llm *l, struct oc_llm_device *d)
{
    const struct oc_llm_opts *o = &l->opts;
    struct oc_llm_roof *const part[] = {&d->prefill, &d->first, &d->last, &d->all, &d->whole};
    bool own = o->calibration && !strcmp(o->calibration->device, oc_device_info(d->device)->id);
    for (size_t i = 0; i < OC_COUNT(part); i++)
        part[i]->time_s = part[i]->low80_s = part[i]->high80_s = i < 3 || !own ? NAN : 0;
    if (own && !l->prefill_failure)
        estimate_run(l, d->device, (struct oc_llm_at){o->batch, o->prompt, 0}, &d->prefill);
    if (own && !l->decode_failure) {
        estimate_run(l, d->device, (struct oc_llm_at){o->batch, 1, o->prompt}, &d->first);
        estimate_run(l, d->device, oc_llm_last(l, o->batch), &d->last);
    }
    add_estimate(&d->all, &d->first, (double)l->steps_n / 2);
    add_estimate(&d->all, &d->last, (double)l->steps_n / 2);
    add_estimate(&d->whole, &d->prefill, 1);
    add_estimate(&d->whole, &d->all, 1);
}

void oc_llm_hold_against(struct oc_llm *l, struct oc_llm_device *d)
{
    struct held h = {.l = l, .d = d, .device = *d->device};
    const struct oc_hw_level *dram = oc_device_dram(d->device);
    const struct oc_llm_opts *o = &l->opts;
    h.device.overhead = NULL;
    d->memory_bytes = dram && dram->size ? dram->size->value : NAN;
    d->need_bytes = l->last ? oc_llm_need(l, l->last) : 0;
    d->prefill = roof_of_run(&h, l->prefill, (struct oc_llm_at){o->batch, o->prompt, 0}, l->prefill_failure);
    d->first = roof_of_run(&h, l->first, (struct oc_llm_at){o->batch, 1, o->prompt}, l->decode_failure);
    d->last = roof_of_run(&h, l->last, oc_llm_last(l, o->batch), l->decode_failure);
    d->all = roof_of_steps(&h);
    d->whole = llm_device_sum_of(&d->prefill, &d->all);
    set_bounds(l, d);
    set_estimates(l, d);
    d->batch = llm_device_limit_of(&h, FIT_BATCH);
    d->context = llm_device_limit_of(&h, FIT_CONTEXT);
    d->prompt = llm_device_limit_of(&h, FIT_PROMPT);
    d->compute_bound = first_compute_bound(&h);
}

/* ---- the bound as closed forms ---------------------------------------------------------------------- */

enum { LAW_BATCH = 512, LAW_TOKENS = 1 << 17 };

int oc_llm_time_bound(const struct oc_llm *l, const struct oc_llm_time_bound_opts *given,
                      struct oc_time_bound **out, struct oc_err *err)
{
    OC_ENTRY(err);
    struct oc_llm_time_bound_opts o;
    *out = NULL;
    if (OC_OPTIONS(&o, given, err))
        return -1;
    if ((o.part != OC_LLM_PART_PREFILL && o.part != OC_LLM_PART_FIRST) || o.device >= l->n_device)
        return oc_fail(err, OC_EARG, "a bound is of the prefill or of a decode step, on one of the devices");
    const int64_t fixed = l->sizes.fixed[OC_LLM_BATCH], batch = fixed >= 0 ? fixed : l->opts.batch;
    const int64_t most_batch = fixed >= 0 ? fixed : o.most_batch ? o.most_batch : LAW_BATCH;
    const int64_t most_tokens = o.most_tokens ? o.most_tokens : LAW_TOKENS, prompt = l->opts.prompt;
    if (most_batch < batch || most_tokens < prompt)
        return oc_fail(err, OC_EARG,
                       "the ranges end before the sizes of the options: batch %lld, prompt %lld",
                       (long long)batch, (long long)prompt);
    const struct oc_box_var var[] = {
        {.start = batch, .from = fixed >= 0 ? fixed : 1, .to = most_batch, .step = 1},
        {.start = prompt, .from = 1, .to = most_tokens, .step = 1}};
    const struct oc_time_bound_in in = {
        .device = l->device[o.device].device,
        .cache = l->opts.cache,
        .module = o.module,
        .source = {.analyze = o.part == OC_LLM_PART_PREFILL ? oc_llm_analyze_prefill : oc_llm_analyze_decode,
                   .ctx = (void *)l,
                   .n_var = 2,
                   .var = var,
                   .as = l->as,
                   .keep_steps = true,
                   .max_evals = oc_law_evals(l->model)}};
    return oc_time_bound_of(&in, NULL, out, err);
}
