/* Time of kernels and of models, with intervals. */
#include "estimate/predict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/ck.h"
#include "base/diag.h"
#include "estimate/bound.h"
#include "estimate/calibrate.h"
#include "estimate/curve.h"
#include "hw/hwdb.h"
#include "onnxcost.h"
#include "onnxcost/estimate.h"
#include "onnxcost/hardware.h"

/* ---- predict ---------------------------------------------------------------------------------------- */

#define WIDER     1.5 /* for each evidence level below measured kernels */
#define PRIOR_SD  0.7 /* of a time from priors: a factor of two */
#define BAND_HIGH 0.9 /* efficiencies that bound the interval */
#define BAND_LOW  0.3
#define DISTANCE  0.2 /* widening = ln(decades + 1) times it */
#define NEAR_ROOF 0.95
#define BALANCED  0.9

static const char *const evidence_names[OC_EVIDENCE_COUNT] = {
    [OC_EVIDENCE_EXACT] = "exact",     [OC_EVIDENCE_CALIBRATED] = "calibrated",
    [OC_EVIDENCE_RELATED] = "related", [OC_EVIDENCE_SISTER] = "sister",
    [OC_EVIDENCE_PRIOR] = "prior",     [OC_EVIDENCE_BAND] = "band",
    [OC_EVIDENCE_NONE] = "none",
};

const char *oc_evidence_name(unsigned evidence)
{
    return evidence < OC_EVIDENCE_COUNT ? evidence_names[evidence] : evidence_names[OC_EVIDENCE_NONE];
}

struct asking {
    const struct oc_calibration *cal;
    const struct oc_device *device;
    const struct oc_kernel *kernel;
    const struct oc_predict_opts *opts;
    struct oc_cal_point point;
    bool own; /* the calibration is of this device */
};

static bool same_device(const struct oc_calibration *cal, const struct oc_device *device)
{
    return !cal->device || !*cal->device || !device->info->id || !strcmp(cal->device, device->info->id);
}

/* ---- intervals -------------------------------------------------------------------------------------- */

static void predict_set_interval(struct oc_prediction *p, double d80, double d95)
{
    p->sd = d80 / OC_Z80;
    p->lo80_s = fmin(p->t_s, fmax(p->t_s * exp(-d80), NEAR_ROOF * p->roof_s));
    p->lo95_s = fmin(p->t_s, fmax(p->t_s * exp(-d95), NEAR_ROOF * p->roof_s));
    p->hi80_s = p->t_s * exp(d80);
    p->hi95_s = p->t_s * exp(d95);
}

static double distance_outside(double v, double min, double max)
{
    if (v <= 0 || max <= 0)
        return 0;
    return v < min ? log10(min / v) : v > max ? log10(v / max) : 0;
}

static void set_distance(const struct asking *a, const struct oc_cal_key *k, struct oc_prediction *p)
{
    p->decades = fmax(distance_outside(a->point.flop, k->flop_min, k->flop_max),
                      distance_outside(a->point.bytes, k->bytes_min, k->bytes_max));
    p->extrapolated = p->decades > 1e-9;
    p->widening = p->extrapolated ? log(p->decades + 1) * DISTANCE : 0;
}

static enum oc_bound bound_of(const struct asking *a, const struct oc_curve_parts *c)
{
    static const uint8_t unit[OC_HW_UNIT_COUNT] = {OC_BOUND_VECTOR, OC_BOUND_MATRIX, OC_BOUND_SPECIAL};
    double high = fmax(c->tc_s, c->tm_s), low = fmin(c->tc_s, c->tm_s);
    if (c->t0_s >= high)
        return OC_BOUND_OVERHEAD;
    if (low >= BALANCED * high)
        return OC_BOUND_BALANCED;
    if (c->tc_s > c->tm_s)
        return (enum oc_bound)unit[a->point.unit];
    return c->in_cache ? OC_BOUND_CACHE : OC_BOUND_DRAM;
}

static void set_parts(const struct asking *a, const struct oc_curve_parts *c, struct oc_prediction *p)
{
    p->t0_s = c->t0_s;
    p->tc_s = c->tc_s;
    p->tm_s = c->tm_s;
    p->in_cache = c->in_cache;
    p->bound = (uint8_t)bound_of(a, c);
}

/* ---- evidence levels -------------------------------------------------------------------------------- */

/* Whether a key's curve comes from its own class or only from its group. */
static bool rests_on_group(const struct oc_calibration *cal, const struct oc_cal_key *k)
{
    size_t steps = 0;
    while (k->cls < OC_KC_COUNT && k->kind == OC_CAL_PARENT && k->parent >= 0 && steps++ < cal->n_key)
        k = &cal->key[k->parent];
    return k->cls >= OC_KC_COUNT || k->kind == OC_CAL_PARENT || k->kind == OC_CAL_PRIOR;
}

struct found {
    const struct oc_cal_key *key;
    double wider;
};

/* Whether kernels of the operator type were measured. */
static bool knows_op(const struct oc_cal_key *k, uint16_t op)
{
    size_t low = 0, high = k->n_op;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (k->op[mid] < op)
            low = mid + 1;
        else
            high = mid;
    }
    return !k->n_op || !op || (low < k->n_op && k->op[low] == op);
}

static struct found predict_find(const struct asking *a)
{
    unsigned cls = a->kernel->cls, dtype = a->kernel->dtype;
    const struct oc_cal_key *k = oc_cal_find_key(a->cal, cls, dtype);
    if (k)
        return (struct found){k, knows_op(k, a->kernel->op) ? 1 : WIDER};
    k = oc_cal_find_key(a->cal, cls, OC_CLASS_NONE);
    if (!k)
        k = oc_cal_find_key(a->cal, OC_KC_COUNT + (unsigned)oc_kernel_class_group(cls), OC_CLASS_NONE);
    return (struct found){k, WIDER};
}

static struct oc_cal_curve curve_of(const struct asking *a, const struct oc_cal_key *k)
{
    struct oc_cal_curve c = k->curve;
    double peak = a->point.peak_flop_per_s;
    if (k->cls >= OC_KC_COUNT)
        c = oc_curve_rebase(&c, oc_cal_device_kind(a->device),
                            oc_curve_reference(k->cls - (unsigned)OC_KC_COUNT), a->kernel->cls,
                            k->peak_flop_per_s, peak);
    else if (!a->own)
        c = oc_curve_transfer(&c, k->peak_flop_per_s, peak, 1, 1);
    if (!a->own && a->cal->dram_bytes_per_s > 0)
        c = oc_curve_transfer(&c, 1, 1, a->cal->dram_bytes_per_s, a->point.dram_bytes_per_s);
    return c;
}

static bool predict_by_key(const struct asking *a, struct oc_prediction *p)
{
    if (!a->cal)
        return false;
    struct found f = predict_find(a);
    if (!f.key || (!a->own && (a->point.tc_assumed || a->point.tm_assumed)))
        return false;
    struct oc_curve_parts parts;
    struct oc_cal_curve c = curve_of(a, f.key);
    double t = oc_curve_time(&c, &a->point, &parts);
    p->t_s = fmax(t, NEAR_ROOF * p->roof_s);
    if (!(p->t_s > 0 && isfinite(p->t_s)))
        return false;
    p->key = (int32_t)(f.key - a->cal->key);
    p->evidence = !a->own                                        ? OC_EVIDENCE_SISTER
                  : f.wider > 1 || rests_on_group(a->cal, f.key) ? OC_EVIDENCE_RELATED
                                                                 : OC_EVIDENCE_CALIBRATED;
    set_parts(a, &parts, p);
    set_distance(a, f.key, p);
    unsigned bin = oc_conformal_bin(&f.key->errors, p->t_s);
    double wider = f.wider * (a->own ? 1 : WIDER), least = f.wider > 1 ? OC_PRIOR_LN_SD : 0;
    predict_set_interval(p, fmax(f.key->errors.d80[bin] * wider, OC_Z80 * least) + p->widening,
                         fmax(f.key->errors.d95[bin] * wider, OC_Z95 * least) + p->widening);
    return true;
}

static bool predict_by_signature(const struct asking *a, struct oc_prediction *p)
{
    if (!a->cal || !a->own)
        return false;
    /* A product with a vector takes the time of its weights, which is another one in each model: they may be in a cache. */
    bool of_weights = a->kernel->cls == OC_KC_GEMV;
    const struct oc_cal_signature *s =
        of_weights ? NULL : oc_cal_find_signature(a->cal, a->kernel->signature);
    if (!s)
        return false;
    if (!predict_by_key(a, p))
        p->bound = OC_BOUND_UNKNOWN;
    p->t_s = s->t_s;
    p->evidence = OC_EVIDENCE_EXACT;
    p->extrapolated = false;
    p->decades = p->widening = 0;
    const struct oc_cal_errors *e = &a->cal->again;
    bool known = e->n >= OC_CONFORMAL_MIN;
    unsigned bin = oc_conformal_bin(e, s->t_s);
    p->roof_s = fmin(p->roof_s, s->t_s); /* a measurement may contradict the device's file */
    predict_set_interval(p, known ? e->d80[bin] : OC_Z80 * s->sd, known ? e->d95[bin] : OC_Z95 * s->sd);
    return true;
}

static bool by_prior(const struct asking *a, struct oc_prediction *p)
{
    unsigned cls = a->kernel->cls;
    if (a->point.tc_assumed || a->point.tm_assumed || cls == OC_KC_OTHER || cls == OC_KC_CONTROL)
        return false;
    struct oc_curve_parts parts;
    struct oc_cal_curve c = oc_curve_shipped(oc_cal_device_kind(a->device), cls, a->point.peak_flop_per_s,
                                             a->point.dram_bytes_per_s);
    c.wc = a->point.llc_gain > 0 ? a->point.llc_gain : c.wc;
    p->t_s = oc_curve_time(&c, &a->point, &parts);
    p->evidence = OC_EVIDENCE_PRIOR;
    set_parts(a, &parts, p);
    predict_set_interval(p, OC_Z80 * PRIOR_SD, OC_Z95 * PRIOR_SD);
    return true;
}

static bool by_band(const struct asking *a, struct oc_prediction *p)
{
    double roof = oc_curve_roofline(&a->point);
    if (a->point.tc_assumed || a->point.tm_assumed || !(roof > 0))
        return false;
    double t0 = oc_curve_prior(oc_cal_device_kind(a->device), a->kernel->cls).t0_s;
    p->evidence = OC_EVIDENCE_BAND;
    double least = oc_bound_keeps_tensors(a->device) ? fmax(a->point.tc_s, a->point.wt_s) : roof;
    p->lo80_s = p->lo95_s = least / BAND_HIGH;
    p->hi80_s = p->hi95_s = roof / BAND_LOW + t0;
    p->sd = least > 0 ? log(p->hi80_s / p->lo80_s) / (2 * OC_Z80) : NAN;
    set_parts(a, &(struct oc_curve_parts){t0, a->point.tc_s, a->point.act_s + a->point.wt_s, false}, p);
    return true;
}

#define ASSISTS_LN_SD 1.0 /* of the time of subnormal weights: the share of zeros in the input is not known */

/* The lower ends of the intervals stay: they are for inputs of zeros. */
static void predict_add_assists(const struct asking *a, struct oc_prediction *p)
{
    struct oc_assists more = oc_subnormal_assists(a->kernel, a->device);
    if (!(more.most_s > 0))
        return;
    if (p->t_s > 0)
        p->sd = hypot(p->sd * p->t_s, ASSISTS_LN_SD * more.usual_s) / (p->t_s + more.usual_s);
    p->t_s += more.usual_s;
    p->hi80_s += more.most_s;
    p->hi95_s += more.most_s;
    p->assists_s = more.usual_s;
    p->most_assists_s = more.most_s;
}

void oc_predict_kernel(const struct oc_calibration *cal, const struct oc_device *device,
                       const struct oc_kernel *kernel, const struct oc_predict_opts *opts,
                       struct oc_prediction *out)
{
    struct asking a = {.cal = cal, .device = device, .kernel = kernel, .opts = opts};
    *out = (struct oc_prediction){.t_s = NAN,
                                  .lo80_s = NAN,
                                  .hi80_s = NAN,
                                  .lo95_s = NAN,
                                  .hi95_s = NAN,
                                  .sd = NAN,
                                  .evidence = OC_EVIDENCE_NONE,
                                  .bound = OC_BOUND_UNKNOWN,
                                  .key = -1,
                                  .signature = kernel->signature};
    oc_cal_point_make(device, kernel, opts ? opts->const_bytes : UINT64_MAX, &a.point);
    if (a.point.unknown)
        return;
    a.own = cal && same_device(cal, device);
    out->roof_s = a.point.roof_s;
    bool band_only = opts && opts->band_only;
    if (band_only || (!predict_by_signature(&a, out) && !predict_by_key(&a, out) && !by_prior(&a, out)))
        (void)by_band(&a, out);
    predict_add_assists(&a, out);
}

/* ---- predict model ---------------------------------------------------------------------------------- */

#define TAU_UNKNOWN   0.3  /* sd for a model without any measurement */
#define ISSUE_ASSUMED 5e-6 /* launch time per kernel on the host */
#define SYNC_ASSUMED  1e-5

/* The geometric mean of an interval, so that sums include all kernels. */
static double predict_time_of(const struct oc_prediction *p)
{
    if (p->t_s > 0)
        return p->t_s;
    return p->lo80_s > 0 && p->hi80_s > 0 ? sqrt(p->lo80_s * p->hi80_s) : 0;
}

#define LOOP_CALLS 8 /* executions in a run: the code and data of the kernel stay in the caches */
#define LOOP_LAUNCH                                                                                          \
    0.55 /* launch of such a kernel / launch: median of 194 kernels in the loops of 3 networks */

static double part_time(const struct oc_model_part *part)
{
    const struct oc_prediction *p = part->prediction;
    double t = predict_time_of(p);
    bool hot = part->repeats >= LOOP_CALLS && p->evidence != OC_EVIDENCE_EXACT && p->t0_s > 0;
    return hot ? fmax(t - (1 - LOOP_LAUNCH) * p->t0_s, LOOP_LAUNCH * t) : t;
}

struct like { /* kernels of one signature */
    uint64_t signature;
    size_t order;
    double t_s, sd, repeats;
};

OC_BY_TWO(in_order_of_signature, struct like, signature, order)

/* Sum over signatures of their contribution to Var(ln T). */
static double variance(const struct oc_model_part *part, size_t n, double kernels_s, double rho)
{
    struct like *v = oc_xmalloc((n + 1) * sizeof(*v));
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        const struct oc_prediction *p = part[i].prediction;
        v[i] = (struct like){p->signature, i, part_time(&part[i]) * part[i].repeats,
                             isfinite(p->sd) ? p->sd : 0, part[i].repeats};
    }
    qsort(v, n, sizeof(*v), in_order_of_signature);
    for (size_t i = 0, end; i < n; i = end) {
        struct like all = {.signature = v[i].signature};
        for (end = i; end < n && (end == i || (v[i].signature && v[end].signature == v[i].signature));
             end++) {
            all.t_s += v[end].t_s;
            all.repeats += v[end].repeats;
            all.sd = fmax(all.sd, v[end].sd);
        }
        sum += oc_conformal_variance(all.t_s / kernels_s, all.sd, all.repeats, rho);
    }
    free(v);
    return sum;
}

static void predict_add_part(struct oc_model_prediction *m, const struct oc_model_part *part)
{
    const struct oc_prediction *p = part->prediction;
    double t = part_time(part) * part->repeats, parts = p->t0_s + p->tc_s + p->tm_s;
    if (!(t > 0)) {
        m->n_unknown += !(predict_time_of(p) > 0);
        return;
    }
    m->kernels_s += t;
    m->share[p->evidence] += t;
    m->extrapolated += p->extrapolated ? t : 0;
    if (parts > 0) {
        m->t0_s += t * p->t0_s / parts;
        m->compute_s += t * p->tc_s / parts;
        m->memory_s += t * p->tm_s / parts;
    }
}

/* Two clocks in order: c += issue; g = max(c, g) + T. Closed form for `repeats` equal kernels: the device
 * waits for the first, for the last, or never. */
static double replay(const struct oc_model_part *part, size_t n, double issue_s, double sync_s)
{
    double c = 0, g = 0;
    for (size_t i = 0; i < n; i++) {
        double t = part_time(&part[i]), r = part[i].repeats;
        if (!(t > 0 && r > 0))
            continue;
        g = fmax(fmax(g, c + issue_s) + r * t, c + r * issue_s + t);
        c += r * issue_s;
    }
    return fmax(c, g) + sync_s;
}

static double gaps(const struct oc_calibration *cal, const struct oc_model_part *part, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        double t = part_time(&part[i]);
        sum += t > 0 ? oc_cal_gap(cal, t) * part[i].repeats : 0;
    }
    return sum;
}

static void predict_set_total(const struct oc_calibration *cal, const struct oc_model_part *part, size_t n,
                              bool asynchronous, struct oc_model_prediction *m)
{
    double fix = cal ? cal->t_fix_s : 0, gap = cal ? cal->gap_s : 0;
    if (asynchronous) {
        m->fix_s = fix > 0 ? fix : SYNC_ASSUMED;
        m->t_s = replay(part, n, gap > 0 ? gap : ISSUE_ASSUMED, m->fix_s);
        m->gaps_s = fmax(0, m->t_s - m->fix_s - m->kernels_s);
        return;
    }
    m->fix_s = fix;
    m->gaps_s = cal ? gaps(cal, part, n) : 0;
    m->t_s = m->kernels_s + m->gaps_s + fix;
}

void oc_predict_interval(double tau, double z80, double z95, struct oc_model_prediction *m)
{
    m->tau = tau;
    m->z80 = z80;
    m->z95 = z95;
    m->sd = oc_conformal_model_sd(tau, m->share[OC_EVIDENCE_EXACT], m->variance);
    m->lo80_s = m->t_s * exp(-z80 * m->sd);
    m->hi80_s = m->t_s * exp(z80 * m->sd);
    m->lo95_s = m->t_s * exp(-z95 * m->sd);
    m->hi95_s = m->t_s * exp(z95 * m->sd);
}

void oc_predict_model(const struct oc_calibration *cal, const struct oc_model_part *part, size_t n,
                      bool asynchronous, struct oc_model_prediction *out)
{
    *out = (struct oc_model_prediction){
        .t_s = NAN, .lo80_s = NAN, .hi80_s = NAN, .lo95_s = NAN, .hi95_s = NAN, .sd = NAN};
    for (size_t i = 0; i < n; i++)
        predict_add_part(out, &part[i]);
    if (!(out->kernels_s > 0))
        return;
    for (unsigned e = 0; e < OC_EVIDENCE_COUNT; e++)
        out->share[e] /= out->kernels_s;
    out->extrapolated /= out->kernels_s;
    predict_set_total(cal, part, n, asynchronous, out);
    out->variance = variance(part, n, out->kernels_s, cal && cal->rho > 0 ? cal->rho : OC_CONFORMAL_RHO);
    oc_predict_interval(cal ? cal->tau : TAU_UNKNOWN, cal && cal->z80 > 0 ? cal->z80 : OC_Z80,
                        cal && cal->z95 > 0 ? cal->z95 : OC_Z95, out);
}

/* ---- kernels ---------------------------------------------------------------------------------------- */

static double own_s(const struct oc_prof_rec *p, double calls)
{
    double ns = isnan(p->kernel_ns) ? p->self_ns : p->kernel_ns;
    return ns * 1e-9 / (calls >= 1 ? calls : 1);
}

static void predict_take_recorded(struct oc_estimate *e)
{
    const struct oc_profile *p = e->join->profile;
    struct oc_kernel_list plan;
    oc_kernels_of_join(e->join, &e->arena, &e->list);
    e->measured_s = OC_NEW_ARRAY(&e->arena, e->list.n + 1, double);
    double *run_s = OC_NEW_ARRAY(&e->arena, e->list.n + 1, double);
    e->measured_kernels_s = 0;
    for (size_t i = 0; i < e->list.n; i++) {
        double calls = e->list.item[i].calls;
        e->measured_s[i] = own_s(&p->rec[e->list.item[i].record], calls);
        run_s[i] = e->measured_s[i] * (calls >= 1 ? calls : 1);
        e->measured_kernels_s += run_s[i] > 0 ? run_s[i] : 0;
    }
    e->measured_run_s = p->run_ns * 1e-9;
    oc_fusion_plan(e->analysis->model, e->analysis, e->rules, &e->arena, &plan);
    oc_fusion_compare(e->analysis->model, e->analysis, &plan, &e->list, run_s, &e->match);
}

/* ---- predictions ------------------------------------------------------------------------------------ */

/* No operations and no bytes: takes only the launch overhead. */
static void band_of_launch(const struct oc_estimate *e, const struct oc_kernel *k, struct oc_prediction *p)
{
    p->lo80_s = p->lo95_s = 0;
    p->hi80_s = p->hi95_s = oc_curve_prior(oc_cal_device_kind(e->device), k->cls).t0_s;
    p->t0_s = p->hi80_s;
    p->evidence = OC_EVIDENCE_BAND;
    p->bound = OC_BOUND_OVERHEAD;
}

static bool predict_is_empty(const struct oc_kernel *k)
{
    uint64_t work = k->work.bytes;
    for (unsigned c = 0; c < OC_CLASS_COUNT; c++)
        work |= k->work.macs[c] | k->work.flops[c] | k->work.special[c];
    return !work && !k->work.unknown;
}

static double runs_of(const struct oc_kernel_use *u)
{
    return u->calls > 0 ? u->calls : 1;
}

double oc_kernel_operations(const struct oc_kernel_use *u)
{
    double sum = 0;
    for (unsigned c = 0; c < OC_CLASS_COUNT; c++)
        sum += 2 * (double)u->kernel.work.macs[c] + (double)u->kernel.work.flops[c] +
               (double)u->kernel.work.special_flops[c];
    return sum * runs_of(u);
}

/* Element-wise operations of a class whose peak the device file lacks. */
static double peakless(const struct oc_device *d, const struct oc_work *w, unsigned c)
{
    bool special = d->peak[OC_HW_SPECIAL][c];
    return oc_roof_has_vector_peak(d, c) ? 0
                                         : (double)w->flops[c] + (special ? 0 : (double)w->special_flops[c]);
}

/* Without a calibration a small part of the operations may lack a peak: the bytes and the products of their kernels
 * decide. Multiply-adds stay: without their peak the time is unknown. */
static void sum_peakless(struct oc_estimate *e)
{
    double all = 0, without = 0;
    for (size_t i = 0; i < e->list.n; i++) {
        const struct oc_kernel_use *u = &e->list.item[i];
        all += oc_kernel_operations(u);
        for (unsigned c = 0; c < OC_CLASS_COUNT && u->known && !u->kernel.work.unknown; c++) {
            double n = peakless(e->device, &u->kernel.work, c) * runs_of(u);
            if (n > 0 && !(without > 0))
                e->left_out_class = (uint8_t)c;
            without += n;
        }
    }
    e->left_out = !e->cal && without <= OC_MOST_LEFT_OUT * all ? without : 0;
}

static void leave_out_peakless(const struct oc_device *d, struct oc_work *w)
{
    for (unsigned c = 0; c < OC_CLASS_COUNT; c++) {
        if (!(peakless(d, w, c) > 0))
            continue;
        w->flops[c] = 0;
        if (!d->peak[OC_HW_SPECIAL][c])
            w->special[c] = w->special_flops[c] = 0;
    }
}

static void predict_one(struct oc_estimate *e, const struct oc_kernel_use *u,
                        const struct oc_predict_opts *opts, struct oc_prediction *out)
{
    struct oc_kernel k = u->kernel;
    k.work.unknown |= !u->known;
    if (e->left_out > 0 && !k.work.unknown)
        leave_out_peakless(e->device, &k.work);
    oc_predict_kernel(e->cal, e->device, &k, opts, out);
    if (out->evidence == OC_EVIDENCE_NONE && u->known && predict_is_empty(&u->kernel))
        band_of_launch(e, &u->kernel, out);
    e->n_unknown += out->evidence == OC_EVIDENCE_NONE;
}

static void count_subnormal(struct oc_estimate *e, const struct oc_prediction *p, double runs)
{
    if (!(p->most_assists_s > 0))
        return;
    e->n_subnormal++;
    e->subnormal_s +=
        (p->t_s > 0 ? p->t_s - p->assists_s : (p->lo80_s + p->hi80_s - p->most_assists_s) / 2) * runs;
    e->subnormal_added_s += p->assists_s * runs;
    e->subnormal_most_s += p->most_assists_s * runs;
}

/* The figure of the device file that the largest kernel without a time lacks, if such kernels matter; NULL. */
static const char *missing_figure(struct oc_estimate *e)
{
    double all = 0, without = 0, largest = 0;
    const char *missing = NULL;
    for (size_t i = 0; i < e->list.n; i++) {
        const struct oc_kernel_use *u = &e->list.item[i];
        double n = oc_kernel_operations(u);
        struct oc_roof roof;
        all += n;
        if (e->prediction[i].evidence != OC_EVIDENCE_NONE || !u->known || u->kernel.work.unknown || !(n > 0))
            continue;
        without += n;
        if (n <= largest)
            continue;
        largest = n;
        struct oc_work w = u->kernel.work;
        if (e->left_out > 0)
            leave_out_peakless(e->device, &w);
        oc_roofline_of(e->device, &w, &(struct oc_roof_opts){0}, NAN, &roof);
        missing = roof.missing[0] ? oc_printf(&e->arena, "no %s", roof.missing) : "no figures";
    }
    return without > OC_MOST_LEFT_OUT * all ? missing : NULL;
}

static void predict_all(struct oc_estimate *e)
{
    struct oc_totals total;
    oc_analysis_total(e->analysis, &total);
    const struct oc_predict_opts opts = {.const_bytes = total.const_bytes, .band_only = !e->cal};
    struct oc_model_part *part = OC_NEW_ARRAY(&e->arena, e->list.n + 1, struct oc_model_part);
    e->prediction = OC_NEW_ARRAY(&e->arena, e->list.n + 1, struct oc_prediction);
    sum_peakless(e);
    for (size_t i = 0; i < e->list.n; i++) {
        const struct oc_kernel_use *u = &e->list.item[i];
        struct oc_prediction *p = &e->prediction[i];
        predict_one(e, u, &opts, p);
        part[i] = (struct oc_model_part){p, runs_of(u)};
        count_subnormal(e, p, runs_of(u));
        if (p->lo80_s >= 0 && p->hi80_s >= 0) {
            e->band_lo_s += p->lo80_s * runs_of(u);
            e->band_hi_s += p->hi80_s * runs_of(u);
        }
    }
    oc_predict_model(e->cal, part, e->list.n, e->asynchronous != NULL, &e->total);
    e->missing = missing_figure(e);
    if (!e->cal && oc_pooled_covers(e->device))
        oc_pooled_predict(e);
    if (e->subnormal_added_s <= 0) { /* not in the prediction: in the upper ends only */
        e->total.hi80_s += e->subnormal_most_s;
        e->total.hi95_s += e->subnormal_most_s;
    }
}

double oc_estimate_kernel_s(const struct oc_estimate *e, size_t i)
{
    const struct oc_prediction *p = &e->prediction[i];
    double t = p->t_s > 0 ? p->t_s : (p->lo80_s + p->hi80_s) / 2;
    return t * runs_of(&e->list.item[i]);
}

/* ---- a calibration under other conditions ----------------------------------------------------------- */

/* Threads that the device file describes: those that were measured, or all cores; 0: unknown. */
static uint32_t threads_of_device(const struct oc_device *d)
{
    const struct oc_hw_figure *n = oc_hw_figure_of(d, "count", "thread");
    n = n ? n : oc_hw_figure_of(d, "count", "core");
    return n && n->value >= 1 && n->value < UINT32_MAX ? (uint32_t)n->value : 0;
}

static enum oc_transfer transfer_of(const struct oc_estimate *e)
{
    if (!e->cal)
        return OC_TRANSFER_NONE;
    uint32_t threads = threads_of_device(e->device);
    return threads && e->cal->threads && threads != e->cal->threads ? OC_TRANSFER_THREADS
           : same_device(e->cal, e->device)                         ? OC_TRANSFER_NONE
                                                                    : OC_TRANSFER_DEVICE;
}

/* Such predictions of 122 networks that are in no calibration missed by 25 % (half of them) and 92 % (nine of ten) on
 * another vendor's CPU, by 61 % and 151 % with another number of threads. The interval is at least as wide; 80 % and 95 %
 * are on the line through these two points of the logarithm's normal distribution. */
static void widen_transferred(struct oc_estimate *e, double bound_s)
{
    static const struct {
        double d80, d95;
    } missed[] = {[OC_TRANSFER_NONE] = {0, 0},
                  [OC_TRANSFER_DEVICE] = {0.49, 0.79},
                  [OC_TRANSFER_THREADS] = {0.75, 1.06}};
    struct oc_model_prediction *t = &e->total;
    double d80 = missed[e->transfer].d80, d95 = missed[e->transfer].d95;
    if (!(t->t_s > 0) || !(d80 > 0))
        return;
    t->lo80_s = fmax(fmin(t->lo80_s, t->t_s * exp(-d80)), fmin(bound_s, t->t_s));
    t->lo95_s = fmax(fmin(t->lo95_s, t->t_s * exp(-d95)), fmin(bound_s, t->t_s));
    t->hi80_s = fmax(t->hi80_s, t->t_s * exp(d80));
    t->hi95_s = fmax(t->hi95_s, t->t_s * exp(d95));
}

/* ---- public ----------------------------------------------------------------------------------------- */

static struct oc_estimate_info estimate_info_of(struct oc_estimate *e)
{
    const struct oc_model_prediction *t = &e->total;
    double bound_s = oc_bound_of(e->analysis, e->as, e->device, true);
    e->transfer = (uint8_t)transfer_of(e);
    widen_transferred(e, bound_s);
    if (e->missing) { /* the other kernels say nothing about the run */
        e->band_lo_s = bound_s;
        e->band_hi_s = NAN;
    } else if (!e->n_unknown) { /* the shortest time of an NPU's kernels may be below the bound of the run */
        e->band_lo_s = fmax(e->band_lo_s, bound_s);
        e->band_hi_s = fmax(e->band_hi_s, bound_s);
    }
    bool point = (e->cal || e->pooled) && t->t_s > 0;
    return (struct oc_estimate_info){.kernels = e->list.n,
                                     .unknown_kernels = e->n_unknown,
                                     .time_ns = point ? t->t_s * 1e9 : (double)NAN,
                                     .low_ns = (point ? t->lo80_s : e->band_lo_s) * 1e9,
                                     .high_ns = (point ? t->hi80_s : e->band_hi_s) * 1e9,
                                     .planned_equal = e->match.equal,
                                     .recorded = e->match.recorded,
                                     .planned_equal_time = e->match.equal_time,
                                     .bound_ns = bound_s * 1e9};
}

static int take_recast(struct oc_estimate *e, const char *as, struct oc_err *err)
{
    e->as = as ? oc_recast_by_name(as) : NULL;
    if (as && !e->as)
        return oc_recast_unknown(as, err);
    if (as && e->cal)
        return oc_fail(err, OC_EARG, "a calibration does not apply to the model as %s", as);
    if (as && e->join)
        return oc_fail(err, OC_EARG, "recorded kernels do not apply to the model as %s", as);
    return 0;
}

/* The kernels in the other type. */
static void recast_kernels(struct oc_estimate *e)
{
    for (size_t i = 0; e->as && i < e->list.n; i++) {
        const struct oc_kernel_use *u = &e->list.item[i];
        struct oc_kernel *k = &e->list.item[i].kernel;
        if (!u->known || k->work.unknown)
            continue;
        oc_recast_kernel(e->as, e->analysis, u, &k->work);
        k->rd_wt = k->work.weight_bytes;
        k->wr = k->work.written;
        k->rd_act = k->work.bytes - k->rd_wt - k->wr;
    }
}

static int predict_make(struct oc_estimate *e, const struct oc_estimate_opts *o, struct oc_err *err)
{
    e->width_chars = o->width_chars, e->made = o->made;
    if (take_recast(e, o->as, err) ||
        oc_fusion_choose(e->cal ? e->cal->runtime : NULL, e->device, o->fusion, o->simd, &e->rules, err))
        return -1;
    if (e->join)
        predict_take_recorded(e);
    else
        oc_fusion_plan(e->analysis->model, e->analysis, e->rules, &e->arena, &e->list);
    if (!e->list.n)
        return oc_fail(err, OC_EARG, "the model has no operators that run");
    recast_kernels(e);
    oc_subnormal_mark(e->analysis->model, e->device, &e->list);
    predict_all(e);
    e->info = OC_NEW(&e->arena, struct oc_estimate_info);
    *e->info = estimate_info_of(e);
    return 0;
}

int oc_estimate_make(const struct oc_analysis *analysis, const struct oc_device *device,
                     const struct oc_estimate_opts *given, struct oc_estimate **out, struct oc_err *err)
{
    OC_ENTRY(err);
    *out = NULL;
    struct oc_estimate_opts full, *const opts = &full;
    if (OC_OPTIONS(&full, given, err))
        return -1;
    struct oc_estimate *e = oc_xmalloc(sizeof(*e));
    *e = (struct oc_estimate){.analysis = analysis,
                              .device = device,
                              .cal = opts->calibration,
                              .join = opts->join,
                              .measured_kernels_s = (double)NAN,
                              .measured_run_s = (double)NAN};
    if (oc_cal_device_kind(device) == OC_CAL_GPU)
        e->asynchronous = "the host launches kernels asynchronously";
    if (predict_make(e, opts, err)) {
        oc_estimate_free(e);
        return -1;
    }
    *out = e;
    return 0;
}

void oc_estimate_free(struct oc_estimate *e)
{
    if (!e)
        return;
    oc_arena_free(&e->arena);
    free(e);
}

const struct oc_estimate_info *oc_estimate_info(const struct oc_estimate *e)
{
    return e->info;
}
