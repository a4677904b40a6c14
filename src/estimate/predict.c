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

#define SAME_CACHE 0.02 /* relative difference of the sizes of one cache in two files */

/* Virtual machines on different processors have one name: "Intel Xeon Processor". Bandwidths and clocks change from day to
 * day, the size of the last cache does not. */
bool oc_cal_is_of(const struct oc_calibration *cal, const struct oc_device *device)
{
    double llc = oc_cal_llc_bytes(device);
    if (cal->llc_bytes > 0 && llc > 0 && fabs(llc / cal->llc_bytes - 1) > SAME_CACHE)
        return false;
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
    a.own = cal && oc_cal_is_of(cal, device);
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
