/* The cost curve of a kernel, with its priors. */
#include "estimate/curve.h"
#include "onnxcost.h"
#include "onnxcost/hardware.h"

#include <math.h>
#include <string.h>

#define WINOGRAD_CAP        2.0 /* F(2x2,3x3) needs 2.25 times fewer multiplications than the direct method */
#define EFFICIENCY_CAP      1.05
#define ASSUMED_CAP         32.0 /* relative to a substitute peak */
#define ROOF_PART           0.95
#define LIGHT_EC            0.3 /* default where the table has no Ec */
#define ASSUMED_FLOP_PER_S  1e11
#define ASSUMED_BYTES_PER_S 1e10

/* Assumptions (latency-estimator B.8), in the order of enum oc_cal_device; classes that are not listed there
 * use values between those of similar classes. */
struct prior_row {
    double ec[OC_CAL_DEVICE_COUNT], em[OC_CAL_DEVICE_COUNT];
};
static const struct prior_row prior_rows[OC_KC_COUNT] = {
    [OC_KC_GEMM] = {{0.70, 0.75, 0.60}, {0.80, 0.70, 0.60}},
    [OC_KC_GEMV] = {{NAN, NAN, NAN}, {0.75, 0.70, 0.60}},
    [OC_KC_BATCHED_GEMM] = {{0.55, 0.60, 0.45}, {0.75, 0.70, 0.60}},
    [OC_KC_CONV_1X1] = {{0.70, 0.75, 0.60}, {0.80, 0.70, 0.60}},
    [OC_KC_CONV_KXK] = {{0.55, 0.65, 0.60}, {0.75, 0.65, 0.60}},
    [OC_KC_CONV_DEPTHWISE] = {{0.10, 0.25, 0.10}, {0.60, 0.50, 0.40}},
    [OC_KC_CONV_GROUPED] = {{0.25, 0.40, 0.25}, {0.65, 0.55, 0.50}},
    [OC_KC_CONV_PLAIN] = {{0.55, 0.40, 0.60}, {0.75, 0.65, 0.60}},
    [OC_KC_CONV_TRANSPOSED] = {{0.40, 0.45, 0.40}, {0.65, 0.55, 0.50}},
    [OC_KC_ATTENTION_PREFILL] = {{0.50, 0.40, 0.30}, {0.70, 0.60, 0.50}},
    [OC_KC_ATTENTION_DECODE] = {{NAN, NAN, NAN}, {0.75, 0.70, 0.60}},
    [OC_KC_RNN] = {{0.25, 0.40, 0.20}, {0.60, 0.60, 0.50}},
    [OC_KC_ELEMENTWISE] = {{NAN, NAN, NAN}, {0.80, 0.70, 0.50}},
    [OC_KC_ACTIVATION] = {{0.10, 0.03, 0.05}, {0.80, 0.70, 0.50}},
    [OC_KC_SOFTMAX] = {{NAN, 0.10, NAN}, {0.60, 0.50, 0.35}},
    [OC_KC_NORM] = {{NAN, 0.10, NAN}, {0.60, 0.50, 0.35}},
    [OC_KC_REDUCE] = {{NAN, 0.10, NAN}, {0.60, 0.50, 0.35}},
    [OC_KC_POOL] = {{NAN, 0.10, NAN}, {0.60, 0.50, 0.35}},
    [OC_KC_RESIZE] = {{NAN, NAN, NAN}, {0.45, 0.35, 0.30}},
    [OC_KC_TRANSPOSE] = {{NAN, NAN, NAN}, {0.45, 0.35, 0.30}},
    [OC_KC_COPY] = {{NAN, NAN, NAN}, {0.80, 0.70, 0.50}},
    [OC_KC_GATHER] = {{NAN, NAN, NAN}, {0.45, 0.35, 0.30}},
    [OC_KC_SORT] = {{NAN, NAN, NAN}, {0.20, 0.15, 0.10}},
    [OC_KC_CONTROL] = {{NAN, NAN, NAN}, {0.45, 0.35, 0.30}},
    [OC_KC_REORDER] = {{NAN, NAN, NAN}, {0.60, 0.50, 0.35}},
    [OC_KC_OTHER] = {{NAN, NAN, NAN}, {0.45, 0.35, 0.30}},
};
static const double prior_t0_s[OC_CAL_DEVICE_COUNT] = {5e-6, 3e-6, 20e-6};

static const uint8_t reference_class[OC_KG_COUNT] = {
    [OC_KG_COMPUTE] = OC_KC_GEMM,
    [OC_KG_MEMORY] = OC_KC_ELEMENTWISE,
    [OC_KG_IRREGULAR] = OC_KC_GATHER,
};

enum oc_cal_device oc_cal_device_kind(const struct oc_device *device)
{
    const char *kind = device->info->kind;
    if (kind && !strcmp(kind, "gpu"))
        return OC_CAL_GPU;
    return kind && !strcmp(kind, "npu") ? OC_CAL_NPU : OC_CAL_CPU;
}

/* ---- properties of a kernel on a device ------------------------------------------------------------- */

struct unit_sum {
    const struct oc_device *device;
    double s[OC_HW_UNIT_COUNT], flop;
    bool assumed;
};

/* A substitute peak of the device for a class of arithmetic without a peak in its file. */
static double stand_in_peak(const struct oc_device *d)
{
    static const uint8_t order[] = {OC_CLASS_F32, OC_CLASS_F16, OC_CLASS_BF16, OC_CLASS_F64,
                                    OC_CLASS_I32, OC_CLASS_I8,  OC_CLASS_I64};
    for (unsigned u = 0; u < OC_HW_UNIT_COUNT; u++)
        for (size_t i = 0; i < OC_COUNT(order); i++)
            if (d->peak[u][order[i]] && d->peak[u][order[i]]->value > 0)
                return d->peak[u][order[i]]->value;
    return ASSUMED_FLOP_PER_S;
}

static void curve_add_unit(void *user, unsigned unit, unsigned cls, double operations)
{
    struct unit_sum *u = user;
    bool fallback = false;
    const struct oc_hw_figure *peak = oc_roof_peak(u->device, unit, cls, &fallback);
    bool known = peak && peak->value > 0;
    u->s[unit] += operations / (known ? peak->value : stand_in_peak(u->device));
    u->flop += operations;
    u->assumed |= !known;
}

static double usual_peak(const struct oc_device *d, unsigned dtype)
{
    if (dtype < OC_CLASS_COUNT)
        for (unsigned u = OC_HW_UNIT_COUNT; u-- > 0;)
            if (u != OC_HW_SPECIAL && d->peak[u][dtype] && d->peak[u][dtype]->value > 0)
                return d->peak[u][dtype]->value;
    return stand_in_peak(d);
}

static const struct oc_hw_level *last_cache(const struct oc_device *d)
{
    for (size_t i = d->n_level > 1 ? d->n_level - 1 : 0; i-- > 0;)
        if (d->level[i].size && d->level[i].size->value > 0)
            return &d->level[i];
    return NULL;
}

static bool curve_is_known(const struct oc_hw_figure *f)
{
    return f && f->value > 0;
}

/* Copy bandwidth of a level if the file has it, else its highest bandwidth; 0: unknown. */
static double copies(const struct oc_device *d, const struct oc_hw_level *l)
{
    for (size_t i = 0; i < d->n_figure; i++) {
        const struct oc_hw_figure *f = &d->figure[i];
        if (f->mode && !f->cores && !strcmp(f->mode, "copy") && !strcmp(f->group, l->name))
            return f->value;
    }
    return curve_is_known(l->bandwidth) ? l->bandwidth->value : 0;
}

/* The cache before the last level. That of a GPU is empty between kernels. */
static void set_near(const struct oc_device *d, const struct oc_hw_level *llc, double act,
                     uint64_t const_bytes, struct oc_cal_point *p)
{
    const struct oc_hw_level *near = llc > d->level ? llc - 1 : NULL;
    if (!near || !curve_is_known(near->size) || oc_cal_device_kind(d) != OC_CAL_CPU)
        return;
    double rate = copies(d, near), next = copies(d, llc);
    p->near_fill = act / near->size->value;
    p->near_wt_fill = const_bytes == UINT64_MAX ? INFINITY : (double)const_bytes / near->size->value;
    p->near_gain = rate > 0 && next > 0 ? fmax(1, rate / next) : 1;
}

/* Lower bound of the memory time: the bytes fill the levels from the nearest on, and all levels transfer at
 * once. A level of unknown bandwidth takes no time. */
static double nearest_s(const struct oc_device *d, double bytes)
{
    double most = 0;
    for (size_t i = 0; i < d->n_level && bytes > 0; i++) {
        const struct oc_hw_level *l = &d->level[i];
        bool last = i + 1 == d->n_level;
        double part = last || !curve_is_known(l->size) ? bytes : fmin(bytes, l->size->value);
        if (curve_is_known(l->bandwidth))
            most = fmax(most, part / l->bandwidth->value);
        bytes -= part;
    }
    return most;
}

/* A recurrent layer reads its recurrent weights, N x H of N x K, again in every step but the first; H from
 * the states it writes. M rows and `batch` steps. */
static void set_recurrence(const struct oc_kernel *k, double llc_bytes, struct oc_cal_point *p)
{
    double steps = k->batch, element = k->n * k->k > 0 ? (double)k->rd_wt / (k->n * k->k) : 0;
    if (k->cls != OC_KC_RNN || !(steps > 1 && k->m > 0 && element > 0))
        return;
    element = fmin(element, 8);
    double h = fmin(k->k, (double)k->wr / (steps * k->m * element)), bytes = k->n * h * element;
    p->again_s = bytes * (steps - 1) / p->dram_bytes_per_s;
    p->again_fill = llc_bytes > 0 ? bytes / llc_bytes : INFINITY;
}

static void curve_set_memory(const struct oc_device *d, const struct oc_kernel *k, uint64_t const_bytes,
                             struct oc_cal_point *p)
{
    const struct oc_hw_level *dram = oc_device_dram(d), *llc = last_cache(d);
    p->tm_assumed = !dram || !curve_is_known(dram->bandwidth);
    p->dram_bytes_per_s = p->tm_assumed ? ASSUMED_BYTES_PER_S : dram->bandwidth->value;
    double wt = (double)k->rd_wt, act = (double)k->rd_act + (double)k->wr;
    if (wt + act <= 0)
        act = (double)k->work.bytes;
    p->bytes = wt + act;
    p->act_s = act / p->dram_bytes_per_s;
    p->wt_s = wt / p->dram_bytes_per_s;
    p->act_fill = p->wt_fill = p->near_fill = p->near_wt_fill = INFINITY;
    p->near_gain = 1;
    set_recurrence(k, llc ? llc->size->value : 0, p);
    if (llc) {
        p->act_fill = act / llc->size->value;
        p->wt_fill = const_bytes == UINT64_MAX ? INFINITY : (double)const_bytes / llc->size->value;
        p->llc_gain = curve_is_known(llc->bandwidth) && !p->tm_assumed
                          ? llc->bandwidth->value / p->dram_bytes_per_s
                          : 0;
        set_near(d, llc, act, const_bytes, p);
    }
}

static bool winograd(const struct oc_kernel *k)
{
    return k->cls == OC_KC_CONV_KXK && k->dtype == OC_CLASS_F32 && k->kernel_h == 3 && k->kernel_w == 3 &&
           k->stride <= 1 && k->dilation <= 1;
}

/* Units that share tiles: multiprocessors, compute units. CPU cores take tiles one by one. */
static double wave_units(const struct oc_device *d)
{
    if (oc_cal_device_kind(d) == OC_CAL_CPU)
        return 0;
    for (size_t i = 0; i < d->n_figure; i++)
        if (d->figure[i].group && !strcmp(d->figure[i].group, "count"))
            return d->figure[i].value;
    return 0;
}

/* ONNX Runtime's ConvInteger has no fast kernel for signed weights, which are the first factor of its product: 1x1
 * convolutions compute 27 instead of 113 G multiply-adds per second, 3x3 ones 22 instead of 84 to 124. */
#define SIGNED_WEIGHTS 4

static bool has_signed_weights(const struct oc_kernel *k)
{
    bool convolution = k->cls == OC_KC_CONV_1X1 || k->cls == OC_KC_CONV_KXK || k->cls == OC_KC_CONV_DEPTHWISE;
    return convolution && k->dtype == OC_CLASS_I32 && k->weight_sign == OC_WEIGHTS_SIGNED;
}

static void set_compute(const struct oc_device *d, const struct oc_kernel *k, struct oc_cal_point *p)
{
    struct unit_sum u = {.device = d};
    oc_unit_work(d, &k->work, curve_add_unit, &u);
    double max = 0;
    for (unsigned i = 0; i < OC_HW_UNIT_COUNT; i++) {
        p->tc_s += u.s[i];
        if (u.s[i] > max) {
            max = u.s[i];
            p->unit = (uint8_t)i;
        }
    }
    bool processor = oc_cal_device_kind(d) == OC_CAL_CPU;
    double longer = processor && k->scalar > 0 ? k->scalar : 1;
    p->tc_s *= processor && has_signed_weights(k) ? SIGNED_WEIGHTS : 1;
    p->flop = u.flop;
    p->tc_assumed = u.assumed;
    p->peak_flop_per_s = p->tc_s > 0 ? p->flop / p->tc_s : usual_peak(d, k->dtype);
    p->tc_s *= longer;
    p->ec_cap = u.assumed ? ASSUMED_CAP : winograd(k) ? WINOGRAD_CAP : EFFICIENCY_CAP;
    p->roof_s = u.assumed ? 0 : fmin(1, longer) * (winograd(k) ? max / WINOGRAD_CAP : max);
}

#define NEXT_IMAGE 0.2 /* of a launch: 75 images of 15 channels take 227 us, a launch 10 */

/* Processors unfold and multiply one image after the other. */
static double launches_of(const struct oc_device *d, const struct oc_kernel *k)
{
    bool images = k->cls == OC_KC_CONV_PLAIN && oc_cal_device_kind(d) == OC_CAL_CPU;
    return images && k->steps > 1 ? 1 + NEXT_IMAGE * (k->steps - 1) : 1;
}

void oc_cal_point_make(const struct oc_device *device, const struct oc_kernel *kernel, uint64_t const_bytes,
                       struct oc_cal_point *out)
{
    *out = (struct oc_cal_point){.cls = kernel->cls,
                                 .dtype = kernel->dtype,
                                 .m = kernel->m,
                                 .n = kernel->n,
                                 .k = kernel->k,
                                 .batch = kernel->batch,
                                 .launches = launches_of(device, kernel),
                                 .unknown = kernel->work.unknown};
    if (out->unknown)
        return;
    set_compute(device, kernel, out);
    curve_set_memory(device, kernel, const_bytes, out);
    out->em_cap = out->tm_assumed ? ASSUMED_CAP : EFFICIENCY_CAP;
    out->roof_s = fmax(out->roof_s, nearest_s(device, out->bytes));
    out->units = wave_units(device);
}

/* ---- the curve -------------------------------------------------------------------------------------- */

static double curve_fullness(double d, double a)
{
    return d > 0 ? d / (a * ceil(d / a)) : 1;
}

double oc_curve_align(const struct oc_cal_point *p, uint32_t align)
{
    if (align <= 1)
        return 1;
    double a = align;
    return curve_fullness(p->m, a) * curve_fullness(p->n, a) * curve_fullness(p->k, a);
}

double oc_curve_wave(const struct oc_cal_point *p, uint32_t tile_m, uint32_t tile_n)
{
    if (!tile_m || !tile_n || p->units <= 0 || p->m <= 0 || p->n <= 0)
        return 1;
    double tiles = ceil(p->m / tile_m) * ceil(p->n / tile_n) * fmax(1, p->batch);
    return curve_fullness(tiles, p->units);
}

/* not fmax and fmin: no argument is ever NAN here, and fits spend most of their time here */
static inline double curve_larger(double a, double b)
{
    return a > b ? a : b;
}

static inline double smaller(double a, double b)
{
    return a < b ? a : b;
}

static inline double saturation(double x, double half)
{
    return x > 0 ? x / (x + half) : 1;
}

/* (a^p + b^p)^(1/p) */
static inline double curve_power_sum(double a, double b, double p)
{
    double high = curve_larger(a, b), low = smaller(a, b);
    if (low <= 0 || p > 64)
        return high;
    if (p <= 1)
        return a + b;
    double q = low / high, q2 = q * q;
    if (p <= 2)
        return high * sqrt(1 + q2);
    if (p == 4)
        return high * sqrt(sqrt(1 + q2 * q2));
    return high * pow(1 + pow(q, p), 1 / p);
}

/* Share of a working set served by a cache at this fill ratio; the next level serves the rest. */
static inline double served_share(double alpha, double fill)
{
    return fill <= alpha ? 1 : alpha / fill;
}

/* Bytes of this size relative to the last cache: alpha of the cache serves them wc times faster than DRAM,
 * which serves the rest. The transition is smooth: a working set slightly larger than the cache is slightly
 * slower. */
static inline double cached_s(const struct oc_cal_curve *c, double dram_s, double fill)
{
    double part = served_share(c->alpha, fill);
    return dram_s * (part / c->wc + (1 - part));
}

/* Activations were just written by the previous kernel and may still be in the cores' caches; weights stay there from run
 * to run if all of the model's fit. These shares are not fitted: few kernels are near the transition. */
static inline double nearest_share(const struct oc_cal_point *p, double fill)
{
    double near = p->near_gain > 1 ? served_share(OC_PRIOR_ALPHA, fill) : 0;
    return near / p->near_gain + (1 - near);
}

static inline double memory_s(const struct oc_cal_curve *c, const struct oc_cal_point *p)
{
    return cached_s(c, p->act_s, p->act_fill) * nearest_share(p, p->near_fill) +
           cached_s(c, p->wt_s, p->wt_fill) * nearest_share(p, p->near_wt_fill) +
           cached_s(c, p->again_s, p->again_fill);
}

double oc_curve_time_at(const struct oc_cal_curve *c, const struct oc_cal_point *p, double q,
                        struct oc_curve_parts *parts)
{
    bool cached = p->act_fill <= c->alpha;
    double ec = smaller(c->ec * saturation(p->flop, c->w_half_flop) * q, p->ec_cap);
    double em = smaller(c->em * saturation(p->bytes, c->b_half_bytes), p->em_cap);
    double tc = p->tc_s > 0 ? p->tc_s / ec : 0;
    double tm = memory_s(c, p) / em;
    if (parts)
        *parts = (struct oc_curve_parts){c->t0_s * p->launches, tc, tm, cached};
    return curve_larger(c->t0_s * p->launches + curve_power_sum(tc, tm, c->p), ROOF_PART * p->roof_s);
}

/* d S / d a of S = (a^p + b^p)^(1/p) */
static inline double power_slope(double a, double sum, double b, double p)
{
    if (a <= 0)
        return 0;
    if (b <= 0 || p <= 1)
        return 1;
    if (p > 64)
        return a >= b ? 1 : 0;
    double q = a / sum;
    return p <= 2 ? q : p == 4 ? q * q * q : pow(q, p - 1);
}

/* d cached_s / d ln wc */
static inline double gain_slope(const struct oc_cal_curve *c, double dram_s, double fill)
{
    return -dram_s * served_share(c->alpha, fill) / c->wc;
}

double oc_curve_slopes(const struct oc_cal_curve *c, const struct oc_cal_point *p, double q,
                       struct oc_curve_slopes *d)
{
    struct oc_curve_parts part;
    double t = oc_curve_time_at(c, p, q, &part), sum = curve_power_sum(part.tc_s, part.tm_s, c->p);
    *d = (struct oc_curve_slopes){0};
    if (!(part.t0_s + sum > ROOF_PART * p->roof_s))
        return t;
    double ec = c->ec * saturation(p->flop, c->w_half_flop) * q,
           em = c->em * saturation(p->bytes, c->b_half_bytes);
    double by_tc = power_slope(part.tc_s, sum, part.tm_s, c->p),
           by_tm = power_slope(part.tm_s, sum, part.tc_s, c->p);
    d->t0 = part.t0_s;
    if (ec < p->ec_cap) {
        d->ec = -by_tc * part.tc_s;
        d->w_half = p->flop > 0 ? -d->ec * c->w_half_flop / (p->flop + c->w_half_flop) : 0;
    }
    if (em < p->em_cap) {
        d->em = -by_tm * part.tm_s;
        d->b_half = p->bytes > 0 ? -d->em * c->b_half_bytes / (p->bytes + c->b_half_bytes) : 0;
    }
    d->wc = by_tm / smaller(em, p->em_cap) *
            (gain_slope(c, p->act_s, p->act_fill) * nearest_share(p, p->near_fill) +
             gain_slope(c, p->wt_s, p->wt_fill) * nearest_share(p, p->near_wt_fill) +
             gain_slope(c, p->again_s, p->again_fill));
    return t;
}

double oc_curve_time(const struct oc_cal_curve *c, const struct oc_cal_point *p, struct oc_curve_parts *parts)
{
    if (parts)
        *parts = (struct oc_curve_parts){NAN, NAN, NAN, false};
    if (p->unknown)
        return NAN;
    double q = oc_curve_align(p, c->align) * oc_curve_wave(p, c->tile_m, c->tile_n);
    return oc_curve_time_at(c, p, q, parts);
}

double oc_curve_roofline(const struct oc_cal_point *p)
{
    return p->unknown ? NAN : fmax(p->tc_s, p->act_s + p->wt_s);
}

/* ---- priors ----------------------------------------------------------------------------------------- */

struct oc_curve_prior oc_curve_prior(enum oc_cal_device kind, unsigned cls)
{
    const struct prior_row *r = &prior_rows[cls < OC_KC_COUNT ? cls : OC_KC_OTHER];
    return (struct oc_curve_prior){r->ec[kind], r->em[kind], prior_t0_s[kind]};
}

static double prior_ec(enum oc_cal_device kind, unsigned cls)
{
    double ec = oc_curve_prior(kind, cls).ec;
    return isnan(ec) ? LIGHT_EC : ec;
}

struct oc_cal_curve oc_curve_shipped(enum oc_cal_device kind, unsigned cls, double peak_flop_per_s,
                                     double dram_bytes_per_s)
{
    struct oc_curve_prior prior = oc_curve_prior(kind, cls);
    return (struct oc_cal_curve){
        .t0_s = prior.t0_s,
        .ec = prior_ec(kind, cls),
        .em = prior.em,
        .w_half_flop = OC_PRIOR_HALF * prior.t0_s * peak_flop_per_s,
        .b_half_bytes = OC_PRIOR_HALF * prior.t0_s * dram_bytes_per_s,
        .p = 1,
        .wc = OC_PRIOR_WC,
        .alpha = OC_PRIOR_ALPHA,
        .align = 1,
    };
}

unsigned oc_curve_reference(enum oc_kernel_group group)
{
    return group < OC_KG_COUNT ? reference_class[group] : OC_KC_OTHER;
}

struct oc_cal_curve oc_curve_rebase(const struct oc_cal_curve *curve, enum oc_cal_device kind, unsigned from,
                                    unsigned to, double from_peak, double to_peak)
{
    struct oc_cal_curve c = *curve;
    c.ec *= prior_ec(kind, to) / prior_ec(kind, from);
    c.em *= oc_curve_prior(kind, to).em / oc_curve_prior(kind, from).em;
    c.w_half_flop *= to_peak / from_peak;
    return c;
}

struct oc_cal_curve oc_curve_transfer(const struct oc_cal_curve *curve, double from_peak, double to_peak,
                                      double from_dram, double to_dram)
{
    struct oc_cal_curve c = *curve;
    c.w_half_flop *= to_peak / from_peak;
    c.b_half_bytes *= to_dram / from_dram;
    return c;
}
