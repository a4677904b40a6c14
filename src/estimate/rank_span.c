/* Where along the batch something changes (bisection); times from calibrations and published latencies. */
#include "estimate/rank_devices.h"

#include <math.h>
#include <string.h>

#include "estimate/bound.h"
#include "estimate/predict.h"
#include "onnxcost/estimate.h"

struct search {
    oc_phase_fn what;
    void *ctx;
    struct oc_rank_phase phase[OC_MOST_PHASES];
    size_t n;
};

static void rank_span_begin(struct search *s, int64_t from, int what)
{
    if (s->n < OC_MOST_PHASES)
        s->phase[s->n++] = (struct oc_rank_phase){from, what};
}

/* Bisects all changes between lo, where `is` applies, and hi, where `end` does. */
static void find_changes(struct search *s, int64_t lo, int is, int64_t hi, int end)
{
    while (is != end && s->n < OC_MOST_PHASES) {
        int64_t a = lo, b = hi;
        int at_b = end;
        while (b - a > 1) {
            int64_t middle = a + (b - a) / 2;
            int at = s->what(s->ctx, middle);
            if (at == is) {
                a = middle;
            } else {
                b = middle;
                at_b = at;
            }
        }
        rank_span_begin(s, b, at_b);
        lo = b;
        is = at_b;
    }
}

void oc_find_phases(oc_phase_fn what, void *ctx, int64_t most, struct oc_arena *arena,
                    struct oc_rank_phases *out)
{
    struct search s = {.what = what, .ctx = ctx};
    int64_t before = 1;
    int is = what(ctx, 1);
    rank_span_begin(&s, 1, is);
    while (before < most) {
        int64_t next = before <= most / 2 ? before * 2 : most;
        int at = what(ctx, next);
        find_changes(&s, before, is, next, at);
        before = next;
        is = at;
    }
    struct oc_rank_phase *kept = OC_NEW_ARRAY(arena, s.n, struct oc_rank_phase);
    memcpy(kept, s.phase, s.n * sizeof(*kept));
    *out = (struct oc_rank_phases){kept, s.n};
}

/* ---- rank calibrated -------------------------------------------------------------------------------- */

/* The time of a model on a calibrated device: its kernels after fusion, each with its prediction, and the
 * total with its interval. */

static const uint8_t part_of_bound[OC_BOUND_COUNT] = {
    [OC_BOUND_VECTOR] = OC_SPAN_VECTOR,     [OC_BOUND_MATRIX] = OC_SPAN_MATRIX,
    [OC_BOUND_SPECIAL] = OC_SPAN_SPECIAL,   [OC_BOUND_DRAM] = OC_SPAN_MEMORY,
    [OC_BOUND_OVERHEAD] = OC_SPAN_OVERHEAD, [OC_BOUND_BALANCED] = OC_SPAN_MEMORY,
    [OC_BOUND_NONE] = OC_SPAN_OVERHEAD,     [OC_BOUND_UNKNOWN] = OC_SPAN_OVERHEAD,
    [OC_BOUND_CACHE] = OC_SPAN_CACHE,
};

/* The main node of a kernel determines its class; inserted layout changes have none. */
static unsigned rank_span_class_of(const struct oc_estimate *e, const struct oc_kernel_use *u)
{
    uint32_t node = u->kernel.node != OC_NONE ? u->kernel.node : u->n_node ? u->node[0] : OC_NONE;
    return node == OC_NONE ? OC_OP_LAYOUT : e->analysis->cost[node].op_class;
}

static void add_measured(struct oc_span *s, const struct oc_prediction *p, double t, double times)
{
    double launch = fmin(p->t0_s > 0 ? p->t0_s : 0, t) * times;
    s->lo_s += p->lo80_s * times;
    s->mid_s += t * times;
    s->hi_s += p->hi80_s * times;
    s->part_s[OC_SPAN_OVERHEAD] += launch;
    s->part_s[part_of_bound[p->bound < OC_BOUND_COUNT ? p->bound : OC_BOUND_UNKNOWN]] += t * times - launch;
}

static void rank_span_add_all(const struct oc_estimate *e, struct oc_span *whole, struct oc_span *by_class)
{
    for (size_t i = 0; i < e->list.n; i++) {
        const struct oc_kernel_use *u = &e->list.item[i];
        const struct oc_prediction *p = &e->prediction[i];
        double times = u->calls > 0 ? u->calls : 1, t = oc_estimate_kernel_s(e, i) / times;
        if (!(t >= 0))
            continue;
        add_measured(whole, p, t, times);
        if (by_class)
            add_measured(&by_class[rank_span_class_of(e, u)], p, t, times);
    }
}

static void span_calibrated(const struct oc_span_in *in, struct oc_span *whole, struct oc_span *by_class)
{
    const struct oc_estimate_opts opts = {.calibration = in->cal};
    struct oc_estimate *e;
    struct oc_err err;
    *whole = (struct oc_span){.evidence = OC_SPAN_CALIBRATED};
    if (by_class)
        memset(by_class, 0, OC_OP_CLASS_COUNT * sizeof(*by_class));
    if (oc_estimate_make(in->analysis, in->device, &opts, &e, &err)) {
        oc_span_unknown(whole, "estimate");
        return;
    }
    rank_span_add_all(e, whole, by_class);
    for (unsigned c = 0; by_class && c < OC_OP_CLASS_COUNT; c++)
        by_class[c].evidence = OC_SPAN_CALIBRATED;
    double kernels = whole->mid_s;
    whole->lo_s = e->total.lo80_s;
    whole->mid_s = e->total.t_s;
    whole->hi_s = e->total.hi80_s;
    whole->part_s[OC_SPAN_OVERHEAD] +=
        fmax(e->total.t_s - kernels, 0); /* gaps between kernels, and the fixed time of the run */
    whole->unknown_kernels = e->n_unknown;
    if (!(whole->mid_s > 0))
        oc_span_unknown(whole, "estimate");
    oc_estimate_free(e);
}

/* ---- published latencies ------------------------------------------------------------------------- */

static void add_published(struct oc_span *s, const struct oc_pooled_time *t, double bound_s)
{
    const struct oc_pooled_interval i = oc_pooled_interval(t, bound_s, false);
    s->evidence = OC_SPAN_PUBLISHED;
    s->lo_s = i.lo_s;
    s->mid_s = i.mid_s;
    s->hi_s = i.hi_s;
    s->part_s[OC_SPAN_VECTOR] = t->unit_s[OC_HW_VECTOR];
    s->part_s[OC_SPAN_MATRIX] = t->unit_s[OC_HW_MATRIX];
    s->part_s[OC_SPAN_SPECIAL] = t->unit_s[OC_HW_SPECIAL];
    s->part_s[OC_SPAN_MEMORY] = t->memory_s;
    s->part_s[OC_SPAN_OVERHEAD] = t->launch_s;
    if (t->missing[0] || isnan(t->t_s))
        oc_span_unknown(s, t->missing[0] ? t->missing : "cost");
}

static void span_published(const struct oc_span_in *in, struct oc_span *whole, struct oc_span *by_class)
{
    struct oc_pooled_time all = {0}, of_class[OC_OP_CLASS_COUNT] = {0}, t;
    *whole = (struct oc_span){0};
    for (size_t i = 0; i < in->pooled->n; i++) {
        const struct oc_pooled_kernel *k = &in->pooled->kernel[i];
        if (k->work.unknown) {
            whole->unknown_kernels++;
            continue;
        }
        oc_pooled_kernel_time(in->pooled, i, in->device, &t);
        oc_pooled_add(&all, &t, k->calls);
        oc_pooled_add(&of_class[k->op_class], &t, k->calls);
    }
    add_published(whole, &all, in->bound_s);
    for (unsigned c = 0; by_class && c < OC_OP_CLASS_COUNT; c++) {
        by_class[c] = (struct oc_span){0};
        add_published(&by_class[c], &of_class[c], NAN);
    }
}

/* ---- rank span -------------------------------------------------------------------------------------- */

static const char *const part_names[OC_SPAN_PARTS] = {
    [OC_SPAN_VECTOR] = "compute:vector",
    [OC_SPAN_MATRIX] = "compute:matrix",
    [OC_SPAN_SPECIAL] = "compute:special",
    [OC_SPAN_MEMORY] = "DRAM",
    [OC_SPAN_CACHE] = "cache",
    [OC_SPAN_OVERHEAD] = "overhead",
};

static const uint8_t part_of_unit[OC_HW_UNIT_COUNT] = {
    [OC_HW_VECTOR] = OC_SPAN_VECTOR,
    [OC_HW_MATRIX] = OC_SPAN_MATRIX,
    [OC_HW_SPECIAL] = OC_SPAN_SPECIAL,
};

const char *oc_span_part_name(unsigned part)
{
    return part < OC_SPAN_PARTS ? part_names[part] : "unknown";
}

const char *oc_span_evidence_name(unsigned evidence)
{
    static const char *const names[] = {
        [OC_SPAN_BAND] = "roofline band",
        [OC_SPAN_CALIBRATED] = "calibration",
        [OC_SPAN_PUBLISHED] = "published latencies",
    };
    return names[evidence];
}

double oc_band_middle(void)
{
    return sqrt(OC_BAND_LEAST * OC_BAND_MOST);
}

unsigned oc_span_limit(const struct oc_span *s)
{
    unsigned best = 0;
    for (unsigned i = 1; i < OC_SPAN_PARTS; i++)
        best = s->part_s[i] > s->part_s[best] ? i : best;
    return s->part_s[best] > 0 ? best : OC_SPAN_PARTS;
}

/* ---- arithmetic without a peak ---------------------------------------------------------------------- */

/* Removes element-wise work without a peak on the device; returns its operations. Multiply-adds stay: without
 * their peak the time is unknown. */
static double rank_span_leave_out(const struct oc_device *d, struct oc_work *w, uint32_t *classes)
{
    double out = 0;
    for (unsigned c = 0; c < OC_CLASS_COUNT; c++) {
        if (oc_roof_has_vector_peak(d, c) || (!w->flops[c] && !w->special_flops[c]))
            continue;
        bool special = d->peak[OC_HW_SPECIAL][c];
        double n = (double)w->flops[c] + (special ? 0 : (double)w->special_flops[c]);
        w->flops[c] = 0;
        if (!special)
            w->special[c] = w->special_flops[c] = 0;
        if (n > 0)
            *classes |= 1u << c;
        out += n;
    }
    return out;
}

void oc_span_unknown(struct oc_span *s, const char *what)
{
    s->lo_s = s->mid_s = s->hi_s = NAN;
    for (unsigned i = 0; i < OC_SPAN_PARTS; i++)
        s->part_s[i] = NAN;
    if (!s->missing[0])
        snprintf(s->missing, sizeof(s->missing), "no %s", what);
}

/* Too much to leave out: the times are unknown. */
static void judge_left_out(struct oc_span *s, double out, double all)
{
    s->left_out_part = out > 0 ? out / all : 0;
    if (!(s->left_out_part > OC_SPAN_LEFT_OUT))
        return;
    for (unsigned c = 0; c < OC_CLASS_COUNT; c++)
        if (s->left_out & 1u << c) {
            char why[32];
            snprintf(why, sizeof(why), "vector %s peak", oc_class_name(c));
            oc_span_unknown(s, why);
            return;
        }
}

/* ---- sums ------------------------------------------------------------------------------------------- */

static unsigned rank_span_limit_of(const struct oc_roof *r)
{
    for (unsigned u = 0; u < OC_HW_UNIT_COUNT; u++)
        if (r->unit_s[u] > 0 && r->unit_s[u] >= r->slow_s)
            return part_of_unit[u];
    bool dram = !r->n_level || r->level_s[r->n_level - 1] >= r->slow_s;
    return dram ? OC_SPAN_MEMORY : OC_SPAN_CACHE;
}

/* low: without what the device may hold between operators, as the lower bound. */
static void rank_span_add(struct oc_span *s, const struct oc_roof *r, const struct oc_roof *low, double count)
{
    double launch = r->overhead_s * count;
    if (r->missing[0] || isnan(launch)) {
        oc_span_unknown(s, r->missing[0] ? r->missing : "overhead of a launch");
        return;
    }
    double slow = r->slow_s * count, held = slow > 0 ? low->slow_s * count / slow : 1,
           mid = slow * sqrt(held) / oc_band_middle();
    s->lo_s += (isnan(low->roof_s) ? 0 : low->roof_s * count) / OC_BAND_MOST + low->overhead_s * count;
    s->mid_s += mid + launch;
    s->hi_s += slow / OC_BAND_LEAST + launch;
    s->part_s[rank_span_limit_of(r)] += mid;
    s->part_s[OC_SPAN_OVERHEAD] += launch;
}

void oc_span_of(const struct oc_span_in *in, struct oc_span *whole, struct oc_span *by_class)
{
    if (in->cal) {
        span_calibrated(in, whole, by_class);
        return;
    }
    if (in->pooled && oc_pooled_covers(in->device)) {
        span_published(in, whole, by_class);
        return;
    }
    const struct oc_rank_load *load = in->load;
    const struct oc_roof_opts opts = {.cache = in->cache, .const_bytes = load->read_constants};
    double out_class[OC_OP_CLASS_COUNT] = {0}, out = 0;
    bool keeps = in->cache && oc_bound_keeps_tensors(in->device);
    *whole = (struct oc_span){0};
    if (by_class)
        memset(by_class, 0, OC_OP_CLASS_COUNT * sizeof(*by_class));
    for (uint32_t i = 0; i < load->n_item; i++) {
        const struct oc_rank_item *k = &load->item[i];
        struct oc_work w = k->work;
        struct oc_roof roof, low;
        uint32_t classes = 0;
        double left = rank_span_leave_out(in->device, &w, &classes) * (double)k->count;
        oc_roofline_of(in->device, &w, &opts, NAN, &roof);
        low = roof;
        if (keeps) {
            w.bytes = w.weight_bytes;
            w.written = 0;
            oc_roofline_of(in->device, &w, &opts, NAN, &low);
            low.overhead_s = 0; /* one program */
        }
        rank_span_add(whole, &roof, &low, (double)k->count);
        whole->left_out |= classes;
        out += left;
        if (!by_class)
            continue;
        rank_span_add(&by_class[k->op_class], &roof, &low, (double)k->count);
        by_class[k->op_class].left_out |= classes;
        out_class[k->op_class] += left;
    }
    judge_left_out(whole, out, load->operations);
    for (unsigned c = 0; by_class && c < OC_OP_CLASS_COUNT; c++)
        judge_left_out(&by_class[c], out_class[c], load->class_operations[c]);
}
