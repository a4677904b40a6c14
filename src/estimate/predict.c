#include "estimate/predict.h"

#include <math.h>
#include <string.h>

#include "estimate/calibrate.h"
#include "estimate/conformal.h"
#include "estimate/curve.h"
#include "estimate/forest.h"

#define WIDER     1.5 /* for each evidence level below measured kernels */
#define PRIOR_SD  0.7 /* of a time from priors: a factor of two */
#define BAND_HIGH 0.9 /* efficiencies that bound the interval */
#define BAND_LOW  0.3
#define DISTANCE  0.2 /* widening = ln(decades + 1) times it */
#define Z80       1.2815515655446004
#define Z95       1.9599639845400545
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
    return !cal->device || !*cal->device || !device->info.id || !strcmp(cal->device, device->info.id);
}

/* ---- intervals --------------------------------------------------------------------------------------- */

static void set_interval(struct oc_prediction *p, double d80, double d95)
{
    p->sd = d80 / Z80;
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

/* ---- evidence levels --------------------------------------------------------------------------------- */

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

static struct found find(const struct asking *a)
{
    unsigned cls = a->kernel->cls, dtype = a->kernel->dtype;
    const struct oc_cal_key *k = oc_cal_find_key(a->cal, cls, dtype);
    if (k)
        return (struct found){k, 1};
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

static double forest_answer(const struct asking *a, const struct oc_cal_key *k)
{
    double x[OC_FOREST_FEATURES];
    if (!a->own || k->residual < 0 || (size_t)k->residual >= a->cal->n_forest)
        return 0;
    oc_forest_features(a->kernel, &a->point, x);
    return oc_forest_answer(a->cal->forest[k->residual], x);
}

static bool by_key(const struct asking *a, struct oc_prediction *p)
{
    if (!a->cal)
        return false;
    struct found f = find(a);
    if (!f.key || (!a->own && (a->point.tc_assumed || a->point.tm_assumed)))
        return false;
    struct oc_curve_parts parts;
    struct oc_cal_curve c = curve_of(a, f.key);
    double t = oc_curve_time(&c, &a->point, &parts);
    p->t_s = fmax(t * exp(forest_answer(a, f.key)), NEAR_ROOF * p->roof_s);
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
    set_interval(p, fmax(f.key->errors.d80[bin] * wider, Z80 * least) + p->widening,
                 fmax(f.key->errors.d95[bin] * wider, Z95 * least) + p->widening);
    return true;
}

static bool by_signature(const struct asking *a, struct oc_prediction *p)
{
    if (!a->cal || !a->own || (a->opts && a->opts->no_exact))
        return false;
    const struct oc_cal_signature *s = oc_cal_find_signature(a->cal, a->kernel->signature);
    if (!s)
        return false;
    if (!by_key(a, p))
        p->bound = OC_BOUND_UNKNOWN;
    p->t_s = s->t_s;
    p->evidence = OC_EVIDENCE_EXACT;
    p->extrapolated = false;
    p->decades = p->widening = 0;
    const struct oc_cal_errors *e = &a->cal->again;
    bool known = e->n >= OC_CONFORMAL_MIN;
    unsigned bin = oc_conformal_bin(e, s->t_s);
    p->roof_s = fmin(p->roof_s, s->t_s); /* a measurement may contradict the device's file */
    set_interval(p, known ? e->d80[bin] : Z80 * s->sd, known ? e->d95[bin] : Z95 * s->sd);
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
    set_interval(p, Z80 * PRIOR_SD, Z95 * PRIOR_SD);
    return true;
}

static bool by_band(const struct asking *a, struct oc_prediction *p)
{
    double roof = oc_curve_roofline(&a->point);
    if (a->point.tc_assumed || a->point.tm_assumed || !(roof > 0))
        return false;
    double t0 = oc_curve_prior(oc_cal_device_kind(a->device), a->kernel->cls).t0_s;
    p->evidence = OC_EVIDENCE_BAND;
    p->lo80_s = p->lo95_s = roof / BAND_HIGH;
    p->hi80_s = p->hi95_s = roof / BAND_LOW + t0;
    p->sd = log(p->hi80_s / p->lo80_s) / (2 * Z80);
    set_parts(a, &(struct oc_curve_parts){t0, a->point.tc_s, a->point.act_s + a->point.wt_s, false}, p);
    return true;
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
    if (band_only || (!by_signature(&a, out) && !by_key(&a, out) && !by_prior(&a, out)))
        (void)by_band(&a, out);
}
