/* The roofline of a piece of work; work converted to another data type. */
#include "estimate/roofline.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "analyze/analysis.h"
#include "base/ck.h"
#include "estimate/recast.h"
#include "onnxcost/hardware.h"

#define BALANCED_WITHIN 0.9 /* two limits count as equal if the second reaches this share of the first */

static const char *const bound_names[OC_BOUND_COUNT] = {
    [OC_BOUND_VECTOR] = "compute:vector",
    [OC_BOUND_MATRIX] = "compute:matrix",
    [OC_BOUND_SPECIAL] = "compute:special",
    [OC_BOUND_DRAM] = "DRAM",
    [OC_BOUND_OVERHEAD] = "overhead",
    [OC_BOUND_BALANCED] = "balanced",
    [OC_BOUND_NONE] = "none",
    [OC_BOUND_UNKNOWN] = "unknown",
    [OC_BOUND_CACHE] = "cache",
};

static const enum oc_bound unit_bound[OC_HW_UNIT_COUNT] = {
    [OC_HW_VECTOR] = OC_BOUND_VECTOR,
    [OC_HW_MATRIX] = OC_BOUND_MATRIX,
    [OC_HW_SPECIAL] = OC_BOUND_SPECIAL,
};

const char *oc_bound_name(unsigned bound)
{
    return bound_names[bound < OC_BOUND_COUNT ? bound : OC_BOUND_UNKNOWN];
}

struct units {
    const struct oc_device *device;
    struct oc_roof *roof;
    bool no_peak[OC_HW_UNIT_COUNT]; /* some of its operations have no known rate */
};

/* Reports the first missing figure. */
__attribute__((format(printf, 2, 3))) static void set_missing(struct oc_roof *r, const char *fmt, ...)
{
    if (r->missing[0])
        return;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(r->missing, sizeof(r->missing), fmt, ap);
    va_end(ap);
}

/* CPUs up to AVX2 have no 16-bit arithmetic: they convert to f32. Later ones may have it without a figure in
 * the file. */
static bool converts_to_f32(const struct oc_device *d, unsigned cls)
{
    const struct oc_hw_figure *f32 = d->peak[OC_HW_VECTOR][OC_CLASS_F32];
    static const char *const isas[] = {"avx2", "avx", "sse2"};
    if (cls == OC_CLASS_F16 && d->f16_fallback)
        return true;
    for (size_t i = 0; i < OC_COUNT(isas) && f32 && f32->isa; i++)
        if (!strcmp(f32->isa, isas[i]))
            return cls == OC_CLASS_F16 || cls == OC_CLASS_BF16;
    return false;
}

const struct oc_hw_figure *oc_roof_peak(const struct oc_device *device, unsigned unit, unsigned cls,
                                        bool *fallback)
{
    const struct oc_hw_figure *peak = device->peak[unit][cls];
    if (peak || unit != OC_HW_VECTOR || !converts_to_f32(device, cls))
        return peak;
    *fallback = true;
    return device->peak[OC_HW_VECTOR][OC_CLASS_F32];
}

bool oc_roof_has_vector_peak(const struct oc_device *d, unsigned cls)
{
    bool fallback = false;
    return oc_roof_peak(d, OC_HW_VECTOR, cls, &fallback);
}

bool oc_roof_has_peak(const struct oc_device *d, unsigned cls)
{
    return d->peak[OC_HW_VECTOR][cls] || d->peak[OC_HW_MATRIX][cls];
}

static double fastest(const struct oc_device *d, unsigned cls)
{
    bool fallback = false;
    const struct oc_hw_figure *v = oc_roof_peak(d, OC_HW_VECTOR, cls, &fallback),
                              *m = d->peak[OC_HW_MATRIX][cls];
    return fmax(v ? v->value : 0, m ? m->value : 0);
}

void oc_roof_take_known_types(const struct oc_device *d, struct oc_work *w)
{
    static const uint8_t from[] = {OC_CLASS_F4,   OC_CLASS_F8,   OC_CLASS_F16,
                                   OC_CLASS_BF16, OC_CLASS_TF32, OC_CLASS_F32};
    for (size_t i = 0; i + 1 < OC_COUNT(from); i++) {
        unsigned best = from[i];
        if (!w->macs[from[i]] || oc_roof_has_peak(d, from[i]) || oc_roof_has_vector_peak(d, from[i]))
            continue;
        for (size_t k = 0; k < OC_COUNT(from); k++) {
            bool holds = k > i || (from[i] == OC_CLASS_BF16 && from[k] == OC_CLASS_F16);
            best = holds && fastest(d, from[k]) > fastest(d, best) ? from[k] : best;
        }
        if (best != from[i]) {
            if (!oc_add_u64(w->macs[best], w->macs[from[i]], &w->macs[best]))
                w->macs[best] = UINT64_MAX;
            w->macs[from[i]] = 0;
        }
    }
}

/* t_unit += operations / peak(unit, class) */
static void roofline_add_time(void *user, unsigned unit, unsigned cls, double operations)
{
    struct units *u = user;
    const struct oc_hw_figure *peak = oc_roof_peak(u->device, unit, cls, &u->roof->fallback);
    if (!peak) {
        u->no_peak[unit] = true;
        set_missing(u->roof, "%s %s peak", oc_hw_unit_name(unit), oc_class_name(cls));
        return;
    }
    u->roof->unit_s[unit] += operations / peak->value;
}

/* Runtimes may compute f32 products in TF32, most by default. */
static bool rounds_to_tf32(const struct oc_device *d)
{
    const struct oc_hw_figure *tf32 = d->peak[OC_HW_MATRIX][OC_CLASS_TF32],
                              *f32 = d->peak[OC_HW_MATRIX][OC_CLASS_F32];
    return tf32 && !(f32 && f32->value > tf32->value);
}

void oc_unit_work(const struct oc_device *device, const struct oc_work *w, oc_unit_work_fn report, void *user)
{
    for (unsigned c = 0; c < OC_CLASS_COUNT; c++) {
        bool matrix = !w->vector_macs && device->peak[OC_HW_MATRIX][c],
             special = device->peak[OC_HW_SPECIAL][c];
        if (w->macs[c] && !w->vector_macs && c == OC_CLASS_F32 && rounds_to_tf32(device))
            report(user, OC_HW_MATRIX, OC_CLASS_TF32, 2.0 * (double)w->macs[c]);
        else if (w->macs[c])
            report(user, matrix ? OC_HW_MATRIX : OC_HW_VECTOR, c, 2.0 * (double)w->macs[c]);
        if (w->flops[c])
            report(user, OC_HW_VECTOR, c, (double)w->flops[c]);
        if (special && w->special[c])
            report(user, OC_HW_SPECIAL, c, (double)w->special[c]);
        else if (!special && w->special_flops[c])
            report(user, OC_HW_VECTOR, c, (double)w->special_flops[c]);
    }
}

/* Known times count, unknown ones are NAN. */
static double known_max(double a, double b)
{
    return isnan(a) || b > a ? b : a;
}

/* t_comp = max over units, of the operations with a peak; NAN: none has. */
static double compute_time(struct units *u)
{
    double max = 0;
    bool unknown = false;
    for (unsigned i = 0; i < OC_HW_UNIT_COUNT; i++) {
        double *s = &u->roof->unit_s[i];
        max = fmax(max, *s);
        unknown |= u->no_peak[i];
        *s = u->no_peak[i] && *s == 0 ? NAN : *s;
    }
    return unknown && max == 0 ? NAN : max;
}

static double memory_time(const struct oc_device *d, const struct oc_roof_traffic *w,
                          const struct oc_roof_opts *o, struct oc_roof *r)
{
    struct oc_roof_placed p;
    oc_roof_place(d, w, o, &p);
    r->n_level = p.n;
    memcpy(r->level_bytes, p.bytes, sizeof(r->level_bytes));
    memcpy(r->level_written, p.written, sizeof(r->level_written));
    memcpy(r->level_s, p.level_s, sizeof(r->level_s));
    if (w->bytes && !p.n)
        set_missing(r, "DRAM bandwidth");
    else if (p.n && p.bytes[p.n - 1] && !oc_roof_level(d, p.n - 1)->bandwidth)
        set_missing(r, "%.16s bandwidth", oc_roof_level(d, p.n - 1)->name);
    return p.slowest_s;
}

/* The time of a level at its own bandwidth, or at that of the next level that has one: it is at most that. */
static double longest_level_time(const struct oc_device *d, const struct oc_roof *r, unsigned level)
{
    if (oc_roof_level(d, level)->bandwidth)
        return r->level_s[level];
    for (unsigned i = level + 1; i < r->n_level; i++)
        if (oc_roof_level(d, i)->bandwidth)
            return (double)r->level_bytes[level] / oc_roof_level(d, i)->bandwidth->value;
    return NAN;
}

static double slow_time(const struct oc_device *d, const struct oc_roof *r)
{
    double slow = r->roof_s;
    for (unsigned i = 0; i < r->n_level; i++)
        slow = known_max(slow, longest_level_time(d, r, i));
    return slow;
}

struct ranking { /* number of candidate limits */
    double first, second;
    enum oc_bound bound;
    const char *name;
};

static void roofline_rank(struct ranking *k, double t, enum oc_bound bound, const char *name)
{
    if (t > k->first) {
        *k = (struct ranking){t, k->first, bound, name};
    } else if (t > k->second) {
        k->second = t;
    }
}

/* Each unit and each memory level. */
static void slowest(const struct oc_device *d, struct oc_roof *r)
{
    struct ranking k = {.bound = OC_BOUND_DRAM, .name = bound_names[OC_BOUND_DRAM]};
    for (unsigned i = r->n_level; i-- > 0;) {
        bool dram = i + 1 == r->n_level;
        roofline_rank(&k, longest_level_time(d, r, i), dram ? OC_BOUND_DRAM : OC_BOUND_CACHE,
                      dram ? bound_names[OC_BOUND_DRAM] : oc_roof_level(d, i)->name);
    }
    for (unsigned u = 0; u < OC_HW_UNIT_COUNT; u++)
        roofline_rank(&k, r->unit_s[u], unit_bound[u], bound_names[unit_bound[u]]);
    bool balanced = k.second >= BALANCED_WITHIN * k.first;
    r->bound = balanced ? OC_BOUND_BALANCED : k.bound;
    r->bound_name = balanced ? bound_names[OC_BOUND_BALANCED] : k.name;
}

static bool overhead_bound(const struct oc_roof *r, double measured_s)
{
    return r->overhead_s > r->slow_s || (measured_s > 4 * r->roof_s && measured_s < 4 * r->overhead_s);
}

static void find_bound(const struct oc_device *d, const struct oc_work *w, double measured_s,
                       struct oc_roof *r)
{
    r->bound = w->launches == 0                    ? OC_BOUND_NONE
               : isnan(r->slow_s) || r->missing[0] ? OC_BOUND_UNKNOWN
               : overhead_bound(r, measured_s)     ? OC_BOUND_OVERHEAD
                                                   : OC_BOUND_NONE;
    r->bound_name = bound_names[r->bound];
    if (r->bound == OC_BOUND_NONE && w->launches && r->slow_s > 0)
        slowest(d, r);
}

static void set_unknown(struct oc_roof *r)
{
    for (unsigned u = 0; u < OC_HW_UNIT_COUNT; u++)
        r->unit_s[u] = NAN;
    r->comp_s = r->mem_s = r->roof_s = r->slow_s = r->flops = r->intensity = NAN;
    r->bound = OC_BOUND_UNKNOWN;
    r->bound_name = bound_names[OC_BOUND_UNKNOWN];
    set_missing(r, "counts");
}

static double intensity(double flops, uint64_t bytes)
{
    return bytes ? flops / (double)bytes : INFINITY;
}

void oc_roofline_of(const struct oc_device *device, const struct oc_work *work,
                    const struct oc_roof_opts *opts, double measured_s, struct oc_roof *out)
{
    *out = (struct oc_roof){0};
    out->overhead_s = work->launches == 0 ? 0
                      : device->overhead  ? device->overhead->value * (double)work->launches
                                          : NAN;
    if (work->unknown) {
        set_unknown(out);
        return;
    }
    struct units u = {.device = device, .roof = out};
    oc_unit_work(device, work, roofline_add_time, &u);
    out->comp_s = compute_time(&u);
    const struct oc_roof_traffic traffic = {work->bytes, work->weight_bytes, work->written, work->launches};
    out->mem_s = memory_time(device, &traffic, opts, out);
    out->roof_s = known_max(out->comp_s, out->mem_s);
    if (out->roof_s == 0 && (isnan(out->comp_s) || isnan(out->mem_s)))
        out->roof_s = NAN; /* nothing known is not a bound of 0 */
    out->slow_s = slow_time(device, out);
    out->flops = oc_work_operations(work);
    out->intensity = intensity(out->flops, work->bytes);
    find_bound(device, work, measured_s, out);
}

void oc_roofline(const struct oc_device *device, const struct oc_work *work, double measured_s,
                 struct oc_roof *out)
{
    oc_roofline_of(device, work, &(struct oc_roof_opts){0}, measured_s, out);
}

/* ---- work of a node ------------------------------------------------------------------------------ */

/* Primitives of the special unit (cost-semantics section 2). */
static bool is_special(unsigned prim)
{
    switch (prim) {
    case OC_DIV:
    case OC_SQRT:
    case OC_EXP:
    case OC_LOG:
    case OC_SIN:
    case OC_TAN:
    case OC_TANH:
    case OC_SIG:
    case OC_ERF:
    case OC_POW:
        return true;
    default:
        return false;
    }
}

static bool is_free_primitive(unsigned prim)
{
    return prim == OC_CVT || prim == OC_DEQ;
}

/* The class of work on one side of the histogram. A node has one class for all but its MACs; the other side
 * contains the address and zero-point arithmetic of quantized operators, or their requantization. */
static unsigned class_of_side(const struct oc_node_cost *k, bool is_int)
{
    if (oc_class_is_int(k->rest_class) == is_int)
        return k->rest_class;
    return is_int ? OC_CLASS_I32 : OC_CLASS_F32;
}

static void add_count(struct oc_work *w, uint64_t *sum, uint64_t n)
{
    if (!oc_add_u64(*sum, n, sum))
        w->unknown = true;
}

static void add_prim(struct oc_work *w, const struct oc_node_cost *k, const struct oc_prim_count *p)
{
    unsigned cls = class_of_side(k, p->is_int);
    if (p->prim == OC_MAC) {
        add_count(w, &w->macs[k->mac_class], p->n);
    } else if (is_special(p->prim) && !p->is_int) {
        add_count(w, &w->special[cls], p->n);
        add_count(w, &w->special_flops[cls], p->n);
    } else if (!is_free_primitive(p->prim)) {
        add_count(w, &w->flops[cls], p->n);
    }
}

bool oc_is_launched(const struct oc_node_cost *k)
{
    return !k->alias &&
           (k->state == OC_NODE_NORMAL || k->state == OC_NODE_UNKNOWN_OP || k->state == OC_NODE_NO_SHAPE);
}

void oc_work_add(struct oc_work *work, const struct oc_node_cost *cost)
{
    if (oc_is_launched(cost))
        add_count(work, &work->launches, cost->trips);
    if (cost->quality == OC_UNKNOWN) {
        work->unknown = true;
        return;
    }
    for (unsigned i = 0; i < cost->n_hist; i++)
        add_prim(work, cost, &cost->hist[i]);
    add_count(work, &work->bytes, cost->rd_act);
    add_count(work, &work->bytes, cost->rd_wt);
    add_count(work, &work->bytes, cost->wr);
    add_count(work, &work->weight_bytes, cost->rd_wt);
    add_count(work, &work->written, cost->wr);
}

/* ---- another data type -------------------------------------------------------------------------------- */

#define SIXTEEN_STAYS                                                                                        \
    "tensors take 16 bits; normalisations, softmax, reductions and transcendental functions compute as "     \
    "before"
#define NARROW_STAYS                                                                                         \
    "convolutions, matrix products, copies, pooling and simple element-wise operators; the rest as before; " \
    "scales not counted"
#define WEIGHTS_STAY "weights of convolutions and matrix products; arithmetic as before; scales not counted"

static const struct oc_recast types[] = {
    {"fp16", OC_CLASS_F16, 16, false, SIXTEEN_STAYS},
    {"bf16", OC_CLASS_BF16, 16, false, SIXTEEN_STAYS},
    {"fp8", OC_CLASS_F8, 8, false, NARROW_STAYS},
    {"int8", OC_CLASS_I8, 8, false, NARROW_STAYS},
    {"int4", OC_CLASS_I4, 4, false, NARROW_STAYS},
    {"fp16-weights", OC_CLASS_F16, 16, true, WEIGHTS_STAY},
    {"int8-weights", OC_CLASS_I8, 8, true, WEIGHTS_STAY},
    {"int4-weights", OC_CLASS_I4, 4, true, WEIGHTS_STAY},
};

const struct oc_recast *oc_recast_by_name(const char *name)
{
    for (size_t i = 0; i < OC_COUNT(types); i++)
        if (!strcmp(types[i].name, name))
            return &types[i];
    return NULL;
}

const char *oc_recast_name(size_t i)
{
    return i < OC_COUNT(types) ? types[i].name : NULL;
}

int oc_recast_unknown(const char *name, struct oc_err *err)
{
    const char *names[32];
    size_t n = 0;
    for (; n < OC_COUNT(names) && (names[n] = oc_recast_name(n)); n++)
        continue;
    return oc_fail_unknown(
        err, OC_EARG,
        &(struct oc_unknown){
            .what = "data type", .where = "for --as", .given = name, .valid = names, .n = n});
}

/* ---- conversion rules ------------------------------------------------------------------------------- */

enum change { KEEPS, MOVES /* narrow tensors, arithmetic as before */, COMPUTES /* in the class too */ };

static bool contracts(const struct oc_node_cost *k)
{
    return k->op_class == OC_OP_GEMM || k->op_class == OC_OP_CONV;
}

static enum change change_of(const struct oc_recast *to, const struct oc_node_cost *k)
{
    static const bool moves[OC_OP_CLASS_COUNT] = {
        [OC_OP_VIEW] = true,   [OC_OP_COPY] = true,   [OC_OP_ELEMENTWISE] = true, [OC_OP_POOL] = true,
        [OC_OP_GATHER] = true, [OC_OP_RESIZE] = true, [OC_OP_LAYOUT] = true,
    };
    static const bool stays[OC_OP_CLASS_COUNT] = {
        [OC_OP_NORM] = true, [OC_OP_SOFTMAX] = true, [OC_OP_REDUCE] = true};
    if (to->weights_only)
        return contracts(k) ? MOVES : KEEPS;
    if (to->bits == 16)
        return stays[k->op_class] ? MOVES : COMPUTES;
    return contracts(k) ? COMPUTES : moves[k->op_class] && k->transcendentals == 0 ? MOVES : KEEPS;
}

bool oc_recast_changes(const struct oc_recast *to, const struct oc_node_cost *cost)
{
    bool any = cost->n_hist || cost->rd_act || cost->rd_wt || cost->wr;
    return any && change_of(to, cost) != KEEPS;
}

static bool recast_is_float(unsigned cls)
{
    return cls == OC_CLASS_F64 || cls == OC_CLASS_F32 || cls == OC_CLASS_TF32 || cls == OC_CLASS_F16 ||
           cls == OC_CLASS_BF16;
}

/* ---- bytes ------------------------------------------------------------------------------------------ */

static void recast_add(struct oc_recasting *s, uint64_t *sum, uint64_t v)
{
    if (!oc_add_u64(*sum, v, sum))
        s->work.unknown = true;
}

static void recast_add_tensor(struct oc_recasting *s, unsigned part, const struct oc_type *t, unsigned bits)
{
    uint64_t n, old, scaled;
    const struct oc_dtype_info *d = oc_dtype_info(t->dtype);
    if (!oc_type_elements(t, &n) || !oc_bytes_of(t->dtype, n, &old))
        return;
    uint64_t now = old;
    if (bits && recast_is_float(d->cls) && d->bits > bits && oc_mul_u64(n, bits, &scaled))
        now = scaled / 8 + (scaled % 8 != 0);
    recast_add(s, &s->before[part], old);
    recast_add(s, &s->after[part], now);
}

enum { ACT, WEIGHT, WRITTEN };

static void add_tensors(const struct oc_recast *to, const struct oc_analysis *a, uint32_t node,
                        enum change change, struct oc_recasting *s)
{
    const struct oc_node *n = &a->model->node[node];
    bool narrow = to->bits < 16 || to->weights_only;
    for (uint32_t i = 0; i < n->n_in; i++) {
        char slot = oc_op_slot(a->op[node], i);
        if (n->in[i] == OC_NONE || slot == 'm')
            continue;
        bool constant = a->is_const[n->in[i]], stays = narrow && slot == 'b';
        bool changes = change != KEEPS && !stays && (constant || !to->weights_only);
        recast_add_tensor(s, constant ? WEIGHT : ACT, &a->type[n->in[i]], changes ? to->bits : 0);
    }
    for (uint32_t i = 0; i < n->n_out; i++)
        if (n->out[i] != OC_NONE)
            recast_add_tensor(s, WRITTEN, &a->type[n->out[i]],
                              change != KEEPS && !to->weights_only ? to->bits : 0);
}

/* ---- operations ------------------------------------------------------------------------------------- */

static void move_class(struct oc_recasting *s, uint64_t ops[OC_CLASS_COUNT], unsigned cls)
{
    for (unsigned c = 0; c < OC_CLASS_COUNT; c++) {
        if (c == cls || !recast_is_float(c))
            continue;
        recast_add(s, &ops[cls], ops[c]);
        ops[c] = 0;
    }
}

static void recast_add_work(struct oc_recasting *s, const struct oc_work *w)
{
    s->work.unknown |= w->unknown;
    for (unsigned c = 0; c < OC_CLASS_COUNT; c++) {
        recast_add(s, &s->work.macs[c], w->macs[c]);
        recast_add(s, &s->work.flops[c], w->flops[c]);
        recast_add(s, &s->work.special[c], w->special[c]);
        recast_add(s, &s->work.special_flops[c], w->special_flops[c]);
    }
}

/* Of one launch: narrow if it contains a contraction, unchanged if a member is unchanged. */
static enum change change_of_tensors(const struct oc_recast *to, const struct oc_analysis *a,
                                     const uint32_t *node, uint32_t n)
{
    enum change least = COMPUTES;
    for (uint32_t i = 0; i < n; i++) {
        const struct oc_node_cost *k = &a->cost[node[i]];
        if (contracts(k))
            return MOVES;
        if (!k->alias && change_of(to, k) < least)
            least = change_of(to, k);
    }
    return least;
}

void oc_recast_add(const struct oc_recast *to, const struct oc_analysis *a, const uint32_t *node, uint32_t n,
                   struct oc_recasting *sum)
{
    enum change tensors = change_of_tensors(to, a, node, n);
    for (uint32_t i = 0; i < n; i++) {
        const struct oc_node_cost *k = &a->cost[node[i]];
        struct oc_work w = {0};
        oc_work_add(&w, k);
        if (change_of(to, k) == COMPUTES) {
            move_class(sum, w.macs, to->cls);
            if (to->bits == 16)
                move_class(sum, w.flops, to->cls);
        }
        recast_add_work(sum, &w);
        if (!k->alias)
            add_tensors(to, a, node[i], to->weights_only ? change_of(to, k) : tensors, sum);
    }
}

/* bytes x after / before, exact if it fits 64 bits; before is at least after. */
static uint64_t recast_scale(uint64_t bytes, uint64_t before, uint64_t after)
{
    uint64_t product;
    if (before == 0 || before == after)
        return bytes;
    if (oc_mul_u64(bytes, after, &product))
        return product / before;
    return (uint64_t)((double)bytes * ((double)after / (double)before));
}

void oc_recast_finish(const struct oc_recasting *sum, struct oc_work *work)
{
    uint64_t told = work->weight_bytes + work->written, read = work->bytes > told ? work->bytes - told : 0;
    struct oc_work w = sum->work;
    w.launches = work->launches;
    w.unknown |= work->unknown;
    w.weight_bytes = recast_scale(work->weight_bytes, sum->before[WEIGHT], sum->after[WEIGHT]);
    w.written = recast_scale(work->written, sum->before[WRITTEN], sum->after[WRITTEN]);
    w.bytes = recast_scale(read, sum->before[ACT], sum->after[ACT]) + w.weight_bytes + w.written;
    *work = w;
}

void oc_recast_kernel(const struct oc_recast *to, const struct oc_analysis *a, const struct oc_kernel_use *u,
                      struct oc_work *work)
{
    struct oc_recasting sum = {0};
    oc_recast_add(to, a, u->node, u->n_node, &sum);
    if (u->n_node)
        oc_work_divide(&sum.work, a->cost[u->kernel.node].trips);
    oc_recast_finish(&sum, work);
}

void oc_recast_sum(const struct oc_recast *to, const struct oc_analysis *a, uint32_t node,
                   struct oc_work *sum)
{
    struct oc_work w = {0};
    struct oc_recasting one = {0}, all = {.work = *sum};
    oc_work_add(&w, &a->cost[node]);
    if (to) {
        oc_recast_add(to, a, &node, 1, &one);
        oc_recast_finish(&one, &w);
    }
    recast_add_work(&all, &w);
    recast_add(&all, &all.work.bytes, w.bytes);
    recast_add(&all, &all.work.weight_bytes, w.weight_bytes);
    recast_add(&all, &all.work.written, w.written);
    recast_add(&all, &all.work.launches, w.launches);
    *sum = all.work;
}
