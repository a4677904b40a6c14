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

static void note_left_out(struct oc_llm *l, struct oc_llm_device *d, unsigned cls)
{
    const char *name = oc_class_name(cls);
    if (!d->left_out || !strstr(d->left_out, name))
        d->left_out = d->left_out ? oc_printf(&l->arena, "%s, %s", d->left_out, name) : name;
}

/* Elementwise work in a class without a vector peak is left out: the time stays a lower bound. For products
 * it is not: without their peak the time is unknown. */
static struct oc_work work_of(struct oc_llm *l, struct oc_llm_device *d, const uint64_t v[OC_LN_COUNT])
{
    struct oc_work w = {.bytes = v[OC_LN_READ_ACT] + v[OC_LN_READ_WEIGHT] + v[OC_LN_WRITTEN], .launches = 1};
    for (unsigned c = 0; c < OC_CLASS_COUNT; c++) {
        bool vector = oc_roof_has_vector_peak(d->device, c),
             special = vector || d->device->peak[OC_HW_SPECIAL][c];
        w.macs[c] = v[OC_LN_CLASS_MACS + c];
        w.flops[c] = vector ? v[OC_LN_CLASS_REST + c] : 0;
        w.special[c] = w.special_flops[c] = special ? v[OC_LN_CLASS_SPECIAL + c] : 0;
        if (w.flops[c] != v[OC_LN_CLASS_REST + c] || w.special[c] != v[OC_LN_CLASS_SPECIAL + c])
            note_left_out(l, d, c);
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

/* Launches are not in the lower bound. */
struct oc_llm_roof oc_llm_roof_at(struct oc_llm *l, struct oc_llm_device *d, const uint64_t v[OC_LN_COUNT],
                                  struct oc_llm_at at)
{
    struct oc_work w = work_of(l, d, v), chip = w;
    struct oc_device device = *d->device;
    struct oc_roof r, c;
    double bytes = fmin(chip_bytes(l, v, at), (double)w.bytes);
    device.overhead = NULL;
    oc_roofline(&device, &w, NAN, &r);
    chip.bytes = (uint64_t)bytes;
    oc_roofline(&device, &chip, NAN, &c);
    return (struct oc_llm_roof){.s = r.roof_s,
                                .comp_s = r.comp_s,
                                .mem_s = r.mem_s,
                                .chip_s = c.roof_s,
                                .chip_mem_s = c.mem_s,
                                .chip_bytes = bytes,
                                .bound = oc_bound_name(r.bound),
                                .missing = r.missing[0] ? oc_printf(&l->arena, "no %s", r.missing) : NULL};
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

static void add_roof(struct oc_llm_roof *sum, const struct oc_llm_roof *part)
{
    sum->bound_s += part->bound_s;
    sum->time_s += part->time_s;
    sum->low80_s += part->low80_s;
    sum->high80_s += part->high80_s;
    sum->s += part->s;
    sum->comp_s += part->comp_s;
    sum->mem_s += part->mem_s;
    sum->chip_s += part->chip_s;
}

/* Sum of the roofline times of all decode steps. */
static struct oc_llm_roof roof_of_steps(struct oc_llm *l, struct oc_llm_device *d)
{
    const struct oc_llm_roof *last = &d->roof[OC_LLM_PART_LAST];
    const char *failure = l->failure[OC_LLM_DECODE];
    struct oc_llm_roof sum = {.bound = last->bound, .missing = last->missing};
    if (!l->sums_known || !l->run[OC_LLM_PART_LAST].cost || !isfinite(last->s))
        return no_roof(sum.missing ? sum.missing : failure ? failure : l->sum_failure);
    for (int64_t i = 0; i < l->steps_n; i++) {
        struct oc_llm_at at = {l->opts.batch, 1, l->opts.prompt + i};
        uint64_t v[OC_LN_COUNT] = {0};
        for (unsigned k = 0; k < OC_LN_COUNT; k++)
            if (k != OC_LN_PEAK && l->sum[k] && !oc_llm_step_at(l, (enum oc_llm_num)k, at.past, &v[k]))
                return no_roof(l->sum_failure);
        struct oc_llm_roof one = oc_llm_roof_at(l, d, v, at);
        add_roof(&sum, &one);
    }
    return sum;
}

/* ---- memory capacity -------------------------------------------------------------------------------- */

uint64_t oc_llm_need(const struct oc_llm *l, const struct oc_llm_cost *c)
{
    return l->weight_bytes + c->v[OC_LN_PEAK];
}

enum fit_of { FIT_BATCH, FIT_CONTEXT, FIT_PROMPT };

struct fit { /* memory as a function of one size */
    struct oc_llm *l;
    enum fit_of of;
};

/* INFINITY: no such run. */
static double need_at(void *fit, int64_t x)
{
    const struct fit *f = fit;
    struct oc_llm *l = f->l;
    struct oc_llm_at at = f->of == FIT_BATCH     ? oc_llm_last(l, x)
                          : f->of == FIT_CONTEXT ? (struct oc_llm_at){l->opts.batch, 1, x - 1}
                                                 : (struct oc_llm_at){l->opts.batch, x, 0};
    const struct oc_llm_cost *c = oc_llm_cost_at(l, at);
    return c && c->peak_quality != OC_UNKNOWN ? (double)oc_llm_need(l, c) : INFINITY;
}

/* Interpolates where the bracket's line reaches the capacity, or bisects. */
static int64_t guess(double memory, int64_t lo, double need_lo, int64_t hi, double need_hi, int turn)
{
    double at = (double)lo + (memory - need_lo) / (need_hi - need_lo) * (double)(hi - lo);
    int64_t x = turn % 3 == 2 || !isfinite(at) ? lo + (hi - lo) / 2 : (int64_t)at;
    return x <= lo ? lo + 1 : x >= hi ? hi - 1 : x;
}

struct oc_llm_limit oc_llm_largest(double (*need)(void *of, int64_t x), void *of, double memory, int64_t most)
{
    double need_lo = need(of, 1), need_hi = need(of, 2);
    int64_t lo = 1, hi = 2;
    if (!isfinite(need_lo))
        return (struct oc_llm_limit){.why = "the memory of a run is unknown"};
    if (need_lo > memory)
        return (struct oc_llm_limit){.known = true};
    while (need_hi <= memory && hi < most) { /* extrapolates */
        double slope = (need_hi - need_lo) / (double)(hi - lo);
        double at = (double)hi + (slope > 0 ? (memory - need_hi) / slope : (double)hi) + 1;
        lo = hi;
        need_lo = need_hi;
        hi = at < (double)most ? (int64_t)at : most;
        hi = hi <= lo ? lo + 1 : hi;
        need_hi = need(of, hi);
    }
    if (need_hi <= memory)
        return (struct oc_llm_limit){.known = true, .v = hi, .beyond = true};
    for (int turn = 0; hi - lo > 1; turn++) {
        int64_t x = guess(memory, lo, need_lo, hi, need_hi, turn);
        double bytes = need(of, x);
        bool fits = bytes <= memory;
        *(fits ? &lo : &hi) = x;
        *(fits ? &need_lo : &need_hi) = bytes;
    }
    return (struct oc_llm_limit){.known = true, .v = lo};
}

static struct oc_llm_limit limit_of(struct oc_llm *l, const struct oc_llm_device *d, enum fit_of of)
{
    static const struct {
        unsigned role; /* that must be open */
        const char *why;
    } open[] = {[FIT_BATCH] = {OC_LLM_BATCH, "the model has a fixed batch"},
                [FIT_CONTEXT] = {OC_LLM_PAST, "the model has a fixed cache length"},
                [FIT_PROMPT] = {OC_LLM_NEW, "the model has a fixed number of new tokens"}};
    struct fit f = {l, of};
    if (l->sizes.fixed[open[of].role] >= 0)
        return (struct oc_llm_limit){.why = open[of].why};
    if (!l->run[of == FIT_PROMPT ? OC_LLM_PART_PREFILL : OC_LLM_PART_LAST].cost)
        return (struct oc_llm_limit){.why = l->failure[of == FIT_PROMPT ? OC_LLM_PREFILL : OC_LLM_DECODE]};
    if (isnan(d->memory_bytes))
        return (struct oc_llm_limit){.why = "the device file has no memory size"};
    return oc_llm_largest(need_at, &f, d->memory_bytes, MOST);
}

/* ---- batch size from which decode is compute-bound -------------------------------------------------- */

enum { NO = 0, YES = 1, NOT_KNOWN = -1 };

static bool counts_at(struct oc_llm *l, struct oc_llm_at at, bool by_law, uint64_t v[OC_LN_COUNT])
{
    if (!by_law) {
        const struct oc_llm_cost *c = oc_llm_cost_at(l, at);
        if (c)
            memcpy(v, c->v, sizeof(c->v));
        return c && c->quality != OC_UNKNOWN;
    }
    memset(v, 0, OC_LN_COUNT * sizeof(*v));
    for (unsigned k = 0; k < OC_LN_COUNT; k++)
        if (k != OC_LN_PEAK && !oc_llm_law_at(&l->decode_law, (enum oc_llm_num)k, at.batch, at.past, &v[k]))
            return false;
    return true;
}

static int compute_bound(struct oc_llm *l, struct oc_llm_device *d, int64_t batch, bool by_law)
{
    uint64_t v[OC_LN_COUNT];
    struct oc_llm_at at = oc_llm_last(l, batch);
    if (!counts_at(l, at, by_law, v))
        return NOT_KNOWN;
    struct oc_llm_roof r = oc_llm_roof_at(l, d, v, at);
    bool known = !r.missing && isfinite(r.comp_s) && isfinite(r.mem_s);
    return known ? r.comp_s >= r.mem_s : NOT_KNOWN;
}

/* Arithmetic and traffic are linear in the batch: the increments per sequence determine the limit for large
 * batches. NULL: compute. */
static const char *never_text(struct oc_llm *l, struct oc_llm_device *d)
{
    uint64_t one[OC_LN_COUNT], two[OC_LN_COUNT];
    if (!counts_at(l, oc_llm_last(l, MOST_BATCH / 2), true, one) ||
        !counts_at(l, oc_llm_last(l, MOST_BATCH), true, two))
        return NULL;
    struct oc_llm_roof a = oc_llm_roof_at(l, d, one, oc_llm_last(l, 1)),
                       b = oc_llm_roof_at(l, d, two, oc_llm_last(l, 1));
    double comp = (b.comp_s - a.comp_s) / (MOST_BATCH / 2.0), mem = (b.mem_s - a.mem_s) / (MOST_BATCH / 2.0);
    if (!(comp < mem))
        return NULL;
    char first[40], second[40];
    return oc_printf(&l->arena, "each further sequence adds %s of arithmetic and %s of memory traffic",
                     oc_format_time_ns(comp * 1e9, first, sizeof(first)),
                     oc_format_time_ns(mem * 1e9, second, sizeof(second)));
}

static struct oc_llm_limit first_compute_bound(struct oc_llm *l, struct oc_llm_device *d)
{
    if (l->sizes.fixed[OC_LLM_BATCH] >= 0)
        return (struct oc_llm_limit){.why = "the model has a fixed batch"};
    uint64_t v[OC_LN_COUNT];
    bool by_law = counts_at(l, oc_llm_last(l, 1), true, v);
    int64_t most = by_law ? MOST_BATCH : MOST_DIRECT, lo = 0, hi = 1;
    const char *missing = d->roof[OC_LLM_PART_LAST].missing;
    int is = compute_bound(l, d, 1, by_law);
    while (is == NO && hi < most) {
        lo = hi;
        hi *= 2;
        is = compute_bound(l, d, hi, by_law);
    }
    if (is == NOT_KNOWN)
        return (struct oc_llm_limit){.why = missing ? missing : "counts are unknown"};
    const char *never = is == NO && by_law ? never_text(l, d) : NULL;
    if (never)
        return (struct oc_llm_limit){.known = true, .never = true, .why = never};
    if (is == NO)
        return (struct oc_llm_limit){.known = true, .beyond = true, .v = most};
    while (hi - lo > 1) {
        int64_t middle = lo + (hi - lo) / 2;
        if (compute_bound(l, d, middle, by_law) == YES)
            hi = middle;
        else
            lo = middle;
    }
    /* the closed form is from a few points: analyse the two sizes at the boundary */
    if (by_law && (compute_bound(l, d, hi, false) != YES || (lo && compute_bound(l, d, lo, false) != NO)))
        return (struct oc_llm_limit){.why = "the analysis and the closed form differ at the boundary"};
    return (struct oc_llm_limit){.known = true, .v = hi};
}

/* ---- lower bounds and estimates --------------------------------------------------------------------- */

static double bound_of_steps(struct oc_llm *l, const struct oc_device *device)
{
    double sum = 0;
    if (l->failure[OC_LLM_DECODE])
        return l->steps_n ? NAN : 0;
    for (int64_t i = 0; i < OC_LLM_STEP_RANGES; i++) {
        int64_t from = l->steps_n * i / OC_LLM_STEP_RANGES, to = l->steps_n * (i + 1) / OC_LLM_STEP_RANGES;
        struct oc_llm_at at = {l->opts.batch, 1, l->opts.prompt + from};
        if (from < to)
            sum += (double)(to - from) * oc_bound_time(oc_llm_load_at(l, at), device, l->opts.cache);
    }
    return sum;
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

/* own: the calibration is of the device */
static void find_run(struct oc_llm *l, struct oc_llm_device *d, enum oc_llm_part part, bool own)
{
    static const struct oc_bound_load none;
    struct oc_llm_part_run *run = &l->run[part];
    struct oc_llm_roof *out = &d->roof[part];
    const char *failure = l->failure[part == OC_LLM_PART_PREFILL ? OC_LLM_PREFILL : OC_LLM_DECODE];
    bool known = run->cost && run->cost->quality != OC_UNKNOWN && !run->cost->unknown_nodes;
    *out = known ? oc_llm_roof_at(l, d, run->cost->v, run->at)
                 : no_roof(run->cost ? "operators without a cost" : failure);
    run->bound = failure ? &none : oc_llm_load_at(l, run->at);
    out->bound_s = oc_bound_time(run->bound, d->device, l->opts.cache);
    out->time_s = out->low80_s = out->high80_s = NAN;
    if (own && !failure)
        estimate_run(l, d->device, run->at, out);
}

/* The estimate of decode steps is the mean of the first and the last one. */
static void find_steps(struct oc_llm *l, struct oc_llm_device *d, bool own)
{
    const struct oc_llm_roof *first = &d->roof[OC_LLM_PART_FIRST], *last = &d->roof[OC_LLM_PART_LAST];
    struct oc_llm_roof *out = &d->roof[OC_LLM_PART_STEPS];
    const double half = own ? (double)l->steps_n / 2 : NAN;
    *out = roof_of_steps(l, d);
    out->bound_s = bound_of_steps(l, d->device);
    out->time_s = half * first->time_s + half * last->time_s;
    out->low80_s = half * first->low80_s + half * last->low80_s;
    out->high80_s = half * first->high80_s + half * last->high80_s;
}

void oc_llm_hold_against(struct oc_llm *l, struct oc_llm_device *d)
{
    const struct oc_hw_level *dram = oc_device_dram(d->device);
    const struct oc_calibration *cal = l->opts.calibration;
    const struct oc_llm_cost *last = l->run[OC_LLM_PART_LAST].cost;
    const struct oc_llm_roof *prefill = &d->roof[OC_LLM_PART_PREFILL], *steps = &d->roof[OC_LLM_PART_STEPS];
    bool own = cal && !strcmp(cal->device, oc_device_info(d->device)->id);
    d->memory_bytes = dram && dram->size ? dram->size->value : NAN;
    d->need_bytes = last ? oc_llm_need(l, last) : 0;
    for (unsigned i = 0; i < OC_LLM_RUNS; i++)
        find_run(l, d, (enum oc_llm_part)i, own);
    find_steps(l, d, own);
    d->roof[OC_LLM_PART_WHOLE] =
        (struct oc_llm_roof){.bound = prefill->s > steps->s ? prefill->bound : steps->bound,
                             .missing = prefill->missing ? prefill->missing : steps->missing};
    add_roof(&d->roof[OC_LLM_PART_WHOLE], prefill);
    add_roof(&d->roof[OC_LLM_PART_WHOLE], steps);
    for (unsigned i = 0; i < OC_LLM_PARTS;
         i++) /* operators in sequence take at least the bound of any runtime */
        d->roof[i].s = d->roof[i].bound_s > d->roof[i].s ? d->roof[i].bound_s : d->roof[i].s;
    d->batch = limit_of(l, d, FIT_BATCH);
    d->context = limit_of(l, d, FIT_CONTEXT);
    d->prompt = limit_of(l, d, FIT_PROMPT);
    d->compute_bound = first_compute_bound(l, d);
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
