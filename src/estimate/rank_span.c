#include "estimate/rank_span.h"

#include <math.h>
#include <string.h>

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
    return evidence == OC_SPAN_CALIBRATED ? "calibration" : "roofline band";
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

/* ---- arithmetic without a peak ------------------------------------------------------------------------- */

static bool has_vector_peak(const struct oc_device *d, unsigned cls)
{
    bool fallback = false;
    return oc_roof_peak(d, OC_HW_VECTOR, cls, &fallback);
}

/* Removes element-wise work without a peak on the device; returns its operations. Multiply-adds stay: without
 * their peak the time is unknown. */
static double leave_out(const struct oc_device *d, struct oc_work *w, uint32_t *classes)
{
    double out = 0;
    for (unsigned c = 0; c < OC_CLASS_COUNT; c++) {
        if (has_vector_peak(d, c) || (!w->flops[c] && !w->special_flops[c]))
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

/* ---- sums ---------------------------------------------------------------------------------------------- */

static unsigned limit_of(const struct oc_roof *r)
{
    unsigned best = OC_HW_UNIT_COUNT;
    for (unsigned u = 0; u < OC_HW_UNIT_COUNT; u++)
        if (r->unit_s[u] > r->mem_s && (best == OC_HW_UNIT_COUNT || r->unit_s[u] > r->unit_s[best]))
            best = u;
    if (best < OC_HW_UNIT_COUNT)
        return part_of_unit[best];
    bool dram = !r->n_level || r->level_s[r->n_level - 1] >= r->mem_s;
    return dram ? OC_SPAN_MEMORY : OC_SPAN_CACHE;
}

static void add(struct oc_span *s, const struct oc_roof *r, double count)
{
    double roof = r->roof_s * count, launch = r->overhead_s * count, mid = roof / oc_band_middle();
    if (isnan(roof) || isnan(launch)) {
        oc_span_unknown(s, isnan(roof) ? r->missing : "overhead of a launch");
        return;
    }
    s->lo_s += roof / OC_BAND_MOST + launch;
    s->mid_s += mid + launch;
    s->hi_s += roof / OC_BAND_LEAST + launch;
    s->part_s[limit_of(r)] += mid;
    s->part_s[OC_SPAN_OVERHEAD] += launch;
}

void oc_span_of(const struct oc_span_in *in, struct oc_span *whole, struct oc_span *by_class)
{
    if (in->cal) {
        oc_span_calibrated(in, whole, by_class);
        return;
    }
    const struct oc_rank_load *load = in->load;
    const struct oc_roof_opts opts = {.cache = in->cache, .const_bytes = load->read_constants};
    double out_class[OC_OP_CLASS_COUNT] = {0}, out = 0;
    *whole = (struct oc_span){0};
    if (by_class)
        memset(by_class, 0, OC_OP_CLASS_COUNT * sizeof(*by_class));
    for (uint32_t i = 0; i < load->n_item; i++) {
        const struct oc_rank_item *k = &load->item[i];
        struct oc_work w = k->work;
        struct oc_roof roof;
        uint32_t classes = 0;
        double left = leave_out(in->device, &w, &classes) * (double)k->count;
        oc_roofline_of(in->device, &w, &opts, NAN, &roof);
        add(whole, &roof, (double)k->count);
        whole->left_out |= classes;
        out += left;
        if (!by_class)
            continue;
        add(&by_class[k->op_class], &roof, (double)k->count);
        by_class[k->op_class].left_out |= classes;
        out_class[k->op_class] += left;
    }
    judge_left_out(whole, out, load->operations);
    for (unsigned c = 0; by_class && c < OC_OP_CLASS_COUNT; c++)
        judge_left_out(&by_class[c], out_class[c], load->class_operations[c]);
}
