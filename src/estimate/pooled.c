/* Time without a calibration: on a GPU, from efficiencies fitted to published latencies. */
#include "estimate/predict.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "estimate/bound.h"
#include "estimate/calibrate.h"
#include "estimate/curve.h"
#include "onnxcost.h"
#include "onnxcost/hardware.h"

struct pooled_kernel {
    struct oc_work work; /* of one execution */
    uint8_t cls;         /* enum oc_kernel_class */
    bool joined;         /* part of the kernel of an attention: no launch */
    double calls;
};

struct pooled_load {
    const struct pooled_kernel *kernel;
    size_t n;
    uint64_t const_bytes; /* constants read by a run */
};

struct pooled_time { /* of one execution of a kernel; or of a run: sums */
    double t_s;
    double launch_s, memory_s, unit_s[OC_HW_UNIT_COUNT]; /* t_s is their sum */
    char missing[32];                                    /* why t_s is NAN: "matrix f8 peak"; "": it is not */
};

/* The interval of t: of 80 % of measurements, or of 95 %; never below the bound (bound.h; NAN: unknown). */
struct pooled_interval {
    double lo_s, mid_s, hi_s;
};

/* ---- fitted figures ------------------------------------------------------------------------------ */

/* Fitted to the rows "fit" of hwdb/published.tsv by tests/support/fit_published.py (median |ln error| 0.20,
 * with the device or the family left out 10 % and 90 % of the errors at -0.35 and 0.58). Efficiency
 * of products: of the peak of their unit and type. */
enum rate { RATE_F32, RATE_TF32, RATE_F16, RATE_I8, RATE_COUNT };
static const double conv_efficiency[RATE_COUNT] = {0.58, 0.45, 0.28, 0.70};
static const double gemm_efficiency[RATE_COUNT] = {0.73, 0.49, 0.66, 0.54};

#define DEPTHWISE   0.093  /* efficiency of depthwise convolutions, of the vector peak */
#define MEMORY      0.64   /* of DRAM bandwidth */
#define CACHE_SHARE 0.48   /* of the last cache that serves a kernel's tensors */
#define LAUNCH_S    2.4e-6 /* per kernel */
#define PRODUCT_S   6.2e-6 /* further, per kernel with a product: filling and draining the units */
#define ACCUMULATE  0.95   /* most of the peak with f32 accumulation, where f16 accumulation is faster */

/* Half-widths of the interval in ln t: the 10 % and 90 % quantiles of the errors with the device or the
 * family left out, times 1.2 for the number of devices (Student's t with six degrees of freedom, and the
 * error of the mean). Short models wait for the host: the more of the time is launches, the later they may
 * be. */
#define LOWER        0.55
#define UPPER        0.65
#define UPPER_LAUNCH 0.60 /* added in proportion to the share of launches, in full from LAUNCH_SHARE on */
#define LAUNCH_SHARE 0.25
#define WIDER_95     1.53 /* z of 95 % / z of 80 % */

/* ---- attention ----------------------------------------------------------------------------------- */

/* Runtimes compute attention in one kernel that never writes the scores: the values between a product of two
 * activations and the next such product that depends on it. */
struct scores {
    const struct oc_analysis *a;
    const struct oc_kernel_list *list;
    bool *after;  /* by value: computed from scores */
    bool *inside; /* by value: and needed by the second product */
};

static bool multiplies_activations(const struct oc_kernel *k)
{
    return k->cls == OC_KC_BATCHED_GEMM && !k->rd_wt;
}

static bool reads_any(const struct scores *s, const struct oc_kernel_use *u, const bool *of)
{
    for (uint32_t i = 0; i < u->n_node; i++) {
        const struct oc_node *n = &s->a->model->node[u->node[i]];
        for (uint32_t k = 0; k < n->n_in; k++)
            if (n->in[k] != OC_NONE && of[n->in[k]])
                return true;
    }
    return false;
}

/* Nodes without a kernel, views for example, pass the mark on by themselves. */
static void mark_outputs(const struct scores *s, uint32_t node, bool *of)
{
    const struct oc_node *n = &s->a->model->node[node];
    for (uint32_t k = 0; k < n->n_out; k++)
        if (n->out[k] != OC_NONE)
            of[n->out[k]] = true;
}

static void mark_inputs(const struct scores *s, uint32_t node)
{
    const struct oc_node *n = &s->a->model->node[node];
    for (uint32_t k = 0; k < n->n_in; k++)
        if (n->in[k] != OC_NONE && s->after[n->in[k]])
            s->inside[n->in[k]] = true;
}

static void find_scores(const struct scores *s)
{
    const struct oc_model *m = s->a->model;
    uint8_t *first =
        oc_xmalloc((size_t)m->n_node + 1); /* by node: 1: product of activations, 2: other product */
    memset(first, 0, (size_t)m->n_node + 1);
    for (size_t i = 0; i < s->list->n; i++) {
        const struct oc_kernel_use *u = &s->list->item[i];
        bool product = u->kernel.m > 0 && u->kernel.k > 0;
        for (uint32_t k = 0; k < u->n_node; k++)
            first[u->node[k]] = multiplies_activations(&u->kernel) ? 1 : product ? 2 : 0;
    }
    for (uint32_t i = 0; i < m->n_node; i++) {
        const struct oc_kernel_use one = {.node = &i, .n_node = 1};
        bool reads = reads_any(s, &one, s->after);
        if (first[i] == 1 ? !reads : first[i] == 0 && reads)
            mark_outputs(s, i, s->after);
    }
    for (uint32_t i = m->n_node; i-- > 0;) {
        bool needed = first[i] == 1;
        const struct oc_node *n = &m->node[i];
        for (uint32_t k = 0; k < n->n_out && !needed && first[i] == 0; k++)
            needed = n->out[k] != OC_NONE && s->inside[n->out[k]];
        if (needed)
            mark_inputs(s, i);
    }
    free(first);
}

static double share_inside(const struct scores *s, const struct oc_kernel_use *u, bool written)
{
    double all = 0, inside = 0;
    for (uint32_t i = 0; i < u->n_node; i++) {
        const struct oc_node *n = &s->a->model->node[u->node[i]];
        const uint32_t *value = written ? n->out : n->in;
        for (uint32_t k = 0; k < (written ? n->n_out : n->n_in); k++) {
            uint64_t bytes;
            if (value[k] == OC_NONE || s->a->is_const[value[k]] ||
                !oc_type_bytes(&s->a->type[value[k]], &bytes))
                continue;
            all += (double)bytes;
            inside += s->inside[value[k]] ? (double)bytes : 0;
        }
    }
    return all > 0 ? inside / all : 0;
}

/* Leaves out the scores; a kernel that only writes scores is part of a later one. */
static void fuse_attention(const struct scores *s, const struct oc_kernel_use *u, struct pooled_kernel *k)
{
    struct oc_work *w = &k->work;
    double read = share_inside(s, u, false), wrote = share_inside(s, u, true);
    uint64_t told = w->weight_bytes + w->written;
    uint64_t act = w->bytes > told ? w->bytes - told : 0, written = w->written;
    act -= (uint64_t)((double)act * read);
    written -= (uint64_t)((double)written * wrote);
    w->bytes = act + w->weight_bytes + written;
    w->written = written;
    k->joined = wrote >= 1;
}

/* ---- work ---------------------------------------------------------------------------------------- */

/* A view, for example: nothing is launched. */
static bool pooled_is_empty(const struct oc_work *w)
{
    uint64_t work = w->bytes;
    for (unsigned c = 0; c < OC_CLASS_COUNT; c++)
        work |= w->macs[c] | w->flops[c] | w->special[c];
    return !work && !w->unknown;
}

static void make_load(const struct oc_analysis *a, const struct oc_kernel_list *list, struct oc_arena *arena,
                      struct pooled_load *out)
{
    struct pooled_kernel *kernel = OC_NEW_ARRAY(arena, list->n + 1, struct pooled_kernel);
    const struct scores scores = {a, list, OC_NEW_ARRAY(arena, (size_t)a->model->n_value + 1, bool),
                                  OC_NEW_ARRAY(arena, (size_t)a->model->n_value + 1, bool)};
    struct oc_totals total;
    oc_analysis_total(a, &total);
    find_scores(&scores);
    for (size_t i = 0; i < list->n; i++) {
        const struct oc_kernel_use *u = &list->item[i];
        kernel[i] = (struct pooled_kernel){
            .work = u->kernel.work, .cls = u->kernel.cls, .calls = u->calls > 0 ? u->calls : 1};
        kernel[i].work.unknown |= !u->known;
        fuse_attention(&scores, u, &kernel[i]);
    }
    *out = (struct pooled_load){.kernel = kernel, .n = list->n, .const_bytes = total.const_bytes};
}

bool oc_pooled_covers(const struct oc_device *device)
{
    return oc_cal_device_kind(device) == OC_CAL_GPU;
}

/* ---- one kernel ---------------------------------------------------------------------------------- */

struct pooled_rate {
    const struct oc_device *device;
    uint8_t cls; /* enum oc_kernel_class */
    struct pooled_time *time;
};

static enum rate rate_of(unsigned unit, unsigned cls)
{
    if (unit != OC_HW_MATRIX)
        return RATE_F32;
    switch (cls) {
    case OC_CLASS_F32:
    case OC_CLASS_F64:
    case OC_CLASS_TF32:
        return RATE_TF32;
    case OC_CLASS_F16:
    case OC_CLASS_BF16:
        return RATE_F16;
    default:
        return RATE_I8;
    }
}

/* The highest dense peak of the class: into 32 bits, or into any accumulator. */
static double dense_peak(const struct oc_device *d, unsigned unit, unsigned cls, bool into_32, double peak)
{
    double best = 0;
    for (size_t i = 0; i < d->n_figure; i++) {
        const struct oc_hw_figure *f = &d->figure[i];
        if (!f->sparse && !f->cores && f->accumulate && !strcmp(f->group, oc_hw_unit_name(unit)) &&
            !strcmp(f->what, oc_class_name(cls)) && (!into_32 || strstr(f->accumulate, "32")))
            best = fmax(best, f->value);
    }
    return best > 0 ? best : peak;
}

static void pooled_missing(struct pooled_time *t, unsigned unit, unsigned cls)
{
    if (!t->missing[0])
        snprintf(t->missing, sizeof(t->missing), "%s %s peak", oc_hw_unit_name(unit), oc_class_name(cls));
}

static void add_products(void *user, unsigned unit, unsigned cls, double operations)
{
    const struct pooled_rate *r = user;
    bool fallback = false;
    const struct oc_hw_figure *peak = oc_roof_peak(r->device, unit, cls, &fallback);
    if (!peak) {
        pooled_missing(r->time, unit, cls);
        return;
    }
    bool conv = r->cls >= OC_KC_CONV_1X1 && r->cls <= OC_KC_CONV_TRANSPOSED;
    double efficiency = (conv ? conv_efficiency : gemm_efficiency)[rate_of(unit, cls)];
    double rate = efficiency * dense_peak(r->device, unit, cls, false, peak->value),
           most = ACCUMULATE * dense_peak(r->device, unit, cls, true, peak->value);
    r->time->unit_s[unit] += operations / fmin(rate, most);
}

/* Where their class has no vector peak: operations of other convolutions that take as long. The rows of the fit have
 * none in i8: there they run at the same share of the peak. */
static double as_other_convolution(enum rate rate)
{
    return (rate == RATE_I8 ? conv_efficiency[rate] : 0.35) / DEPTHWISE;
}

static void add_depthwise(void *user, unsigned unit, unsigned cls, double operations)
{
    const struct pooled_rate *r = user;
    bool fallback = false;
    const struct oc_hw_figure *peak = oc_roof_peak(r->device, OC_HW_VECTOR, cls, &fallback);
    if (!peak) {
        add_products(user, unit, cls, operations * as_other_convolution(rate_of(unit, cls)));
        return;
    }
    r->time->unit_s[OC_HW_VECTOR] += operations / (DEPTHWISE * peak->value);
}

/* Without a peak they count as nothing: element-wise work is rarely the limit of a GPU. */
static void add_elementwise(void *user, unsigned unit, unsigned cls, double operations)
{
    const struct pooled_rate *r = user;
    bool fallback = false;
    const struct oc_hw_figure *peak = oc_roof_peak(r->device, unit, cls, &fallback);
    r->time->unit_s[unit] += peak ? operations / peak->value : 0;
}

static double above(double bytes, double cache)
{
    return bytes > cache ? bytes - cache : 0;
}

/* Bytes of DRAM: what a kernel reads and writes of activations beyond the share of the last cache, and of its
 * constants the share of the model's that no cache holds. */
static double pooled_memory(const struct oc_device *d, const struct oc_work *w, uint64_t const_bytes)
{
    const struct oc_hw_level *dram = oc_device_dram(d);
    double cache = 0, known = (double)(w->weight_bytes + w->written);
    for (size_t i = 0; i < d->n_level; i++)
        if (&d->level[i] != dram && d->level[i].size)
            cache = fmax(cache, CACHE_SHARE * d->level[i].size->value);
    if (!dram || !dram->bandwidth)
        return NAN;
    double read = (double)w->bytes > known ? (double)w->bytes - known : 0;
    double held = const_bytes ? fmin(1, cache / (double)const_bytes) : 0;
    double bytes = above(read + (double)w->written, cache) + (double)w->weight_bytes * (1 - held);
    return bytes / (MEMORY * dram->bandwidth->value);
}

/* The device file's overhead if it is measured or set by --hw-set; the shipped files have an assumption. */
static double launch_time(const struct oc_device *d)
{
    bool known = d->overhead && d->overhead->basis != OC_BASIS_ASSUMED;
    for (size_t i = 0; i < d->info->n_set; i++)
        known |= !strcmp(d->info->set[i].key, "overhead");
    return known && d->overhead ? d->overhead->value : LAUNCH_S;
}

static void kernel_time(const struct pooled_load *load, size_t kernel, const struct oc_device *device,
                        struct pooled_time *out)
{
    const struct pooled_kernel *k = &load->kernel[kernel];
    struct pooled_rate rate = {device, k->cls, out};
    struct oc_work products = {.vector_macs = k->work.vector_macs}, rest = k->work;
    *out = (struct pooled_time){0};
    if (pooled_is_empty(&k->work))
        return;
    memcpy(products.macs, k->work.macs, sizeof(products.macs));
    memset(rest.macs, 0, sizeof(rest.macs));
    bool has_products = false;
    for (unsigned c = 0; c < OC_CLASS_COUNT; c++)
        has_products |= products.macs[c] > 0;
    oc_unit_work(device, &products, k->cls == OC_KC_CONV_DEPTHWISE ? add_depthwise : add_products, &rate);
    oc_unit_work(device, &rest, add_elementwise, &rate);
    out->memory_s = pooled_memory(device, &k->work, load->const_bytes);
    out->launch_s = k->joined ? 0 : launch_time(device) + (has_products ? PRODUCT_S : 0);
    if (isnan(out->memory_s) && !out->missing[0])
        snprintf(out->missing, sizeof(out->missing), "DRAM bandwidth");
    out->t_s = out->missing[0] || k->work.unknown ? NAN : out->memory_s + out->launch_s;
    for (unsigned u = 0; u < OC_HW_UNIT_COUNT; u++)
        out->t_s += out->unit_s[u];
}

static void pooled_add(struct pooled_time *sum, const struct pooled_time *t, double times)
{
    sum->t_s += t->t_s * times;
    sum->launch_s += t->launch_s * times;
    sum->memory_s += t->memory_s * times;
    for (unsigned u = 0; u < OC_HW_UNIT_COUNT; u++)
        sum->unit_s[u] += t->unit_s[u] * times;
    if (!sum->missing[0])
        memcpy(sum->missing, t->missing, sizeof(sum->missing));
}

static struct pooled_interval interval_of(const struct pooled_time *t, double bound_s, bool of_95)
{
    double wider = of_95 ? WIDER_95 : 1, share = t->t_s > 0 ? t->launch_s / t->t_s : 0;
    double upper = UPPER + UPPER_LAUNCH * fmin(1, share / LAUNCH_SHARE);
    /* fmax ignores an unknown bound */
    return (struct pooled_interval){isnan(t->t_s) ? NAN : fmax(t->t_s * exp(-LOWER * wider), bound_s),
                                    isnan(t->t_s) ? NAN : fmax(t->t_s, bound_s),
                                    isnan(t->t_s) ? NAN : fmax(t->t_s * exp(upper * wider), bound_s)};
}

/* ---- estimate ------------------------------------------------------------------------------------ */

static enum oc_bound pooled_bound(const struct pooled_time *t)
{
    static const uint8_t unit[OC_HW_UNIT_COUNT] = {OC_BOUND_VECTOR, OC_BOUND_MATRIX, OC_BOUND_SPECIAL};
    enum oc_bound bound = t->launch_s > t->memory_s ? OC_BOUND_OVERHEAD : OC_BOUND_DRAM;
    double most = fmax(t->launch_s, t->memory_s);
    for (unsigned u = 0; u < OC_HW_UNIT_COUNT; u++)
        if (t->unit_s[u] > most) {
            most = t->unit_s[u];
            bound = (enum oc_bound)unit[u];
        }
    return bound;
}

static void pooled_kernel(struct oc_prediction *p, const struct pooled_time *t)
{
    const struct pooled_interval i80 = interval_of(t, NAN, false), i95 = interval_of(t, NAN, true);
    p->t_s = t->t_s;
    p->lo80_s = i80.lo_s;
    p->hi80_s = i80.hi_s;
    p->lo95_s = i95.lo_s;
    p->hi95_s = i95.hi_s;
    p->sd = log(i80.hi_s / i80.lo_s) / (2 * OC_Z80);
    p->evidence = OC_EVIDENCE_PRIOR;
    p->bound = (uint8_t)pooled_bound(t);
    p->t0_s = t->launch_s;
    p->tm_s = t->memory_s;
    p->tc_s = t->unit_s[OC_HW_VECTOR] + t->unit_s[OC_HW_MATRIX] + t->unit_s[OC_HW_SPECIAL];
}

/* A product or all bytes without a peak: what the other kernels take says nothing about the run. */
static bool lacks_figures(const struct oc_estimate *e, const struct pooled_load *load)
{
    struct pooled_time t;
    bool lacks = false;
    for (size_t i = 0; i < e->list.n && !lacks; i++) {
        kernel_time(load, i, e->device, &t);
        lacks = !load->kernel[i].work.unknown && t.missing[0];
    }
    return lacks;
}

void oc_pooled_predict(struct oc_estimate *e)
{
    struct pooled_load load;
    struct pooled_time all = {0}, t;
    struct oc_model_prediction *m = &e->total;
    make_load(e->analysis, &e->list, &e->arena, &load);
    if (lacks_figures(e, &load))
        return;
    *m = (struct oc_model_prediction){0};
    for (size_t i = 0; i < e->list.n; i++) {
        kernel_time(&load, i, e->device, &t);
        if (load.kernel[i].work.unknown || !(t.t_s >= 0)) {
            m->n_unknown++;
            continue;
        }
        pooled_kernel(&e->prediction[i], &t);
        pooled_add(&all, &t, load.kernel[i].calls);
    }
    double bound = oc_bound_of(e->analysis, e->as, e->device, true);
    const struct pooled_interval i80 = interval_of(&all, bound, false), i95 = interval_of(&all, bound, true);
    m->kernels_s = all.t_s;
    m->t0_s = all.launch_s;
    m->memory_s = all.memory_s;
    m->compute_s = all.unit_s[OC_HW_VECTOR] + all.unit_s[OC_HW_MATRIX] + all.unit_s[OC_HW_SPECIAL];
    m->share[OC_EVIDENCE_PRIOR] = all.t_s > 0;
    m->t_s = i80.mid_s;
    m->lo80_s = i80.lo_s;
    m->hi80_s = i80.hi_s;
    m->lo95_s = i95.lo_s;
    m->hi95_s = i95.hi_s;
    e->n_unknown = (uint32_t)m->n_unknown;
    e->pooled = m->t_s > 0;
}
