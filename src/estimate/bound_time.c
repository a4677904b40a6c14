/* The time of a lower bound's work (bound.h) on a device. */
#include <math.h>
#include <string.h>

#include "base/ck.h"
#include "estimate/bound.h"
#include "onnxcost.h"

uint64_t oc_bound_weights(uint64_t stored, uint64_t before, uint64_t after)
{
    uint64_t weights = stored < before ? stored : before;
    return before ? (uint64_t)((double)weights * ((double)after / (double)before)) : weights;
}

/* ---- types in which a part may run ------------------------------------------------------------------ */

/* 8-bit integers without a peak may be of any speed, but on GPUs, whose files list them; narrow floats without
 * one are not in the hardware. */
static bool may_run_in(const struct oc_device *d, unsigned cls)
{
    return oc_roof_has_peak(d, cls) || (cls == OC_CLASS_I8 && strcmp(d->info->kind, "gpu") != 0);
}

unsigned oc_bound_ways(const struct oc_device *device, uint8_t also, uint8_t way[OC_BOUND_WAYS])
{
    static const uint8_t others[] = {OC_CLASS_I8, OC_CLASS_F8, OC_CLASS_F4};
    unsigned n = 0;
    way[n++] = OC_CLASS_NONE;
    for (size_t i = 0; i < OC_COUNT(others); i++)
        if ((also >> i & 1) && may_run_in(device, others[i]))
            way[n++] = others[i];
    return n;
}

void oc_bound_run_in(struct oc_work *w, unsigned cls)
{
    for (unsigned c = 0; c < OC_CLASS_COUNT && cls != OC_CLASS_NONE; c++)
        if (!oc_class_is_int(c) && c != OC_CLASS_NONE && c != cls) {
            if (!oc_add_u64(w->macs[cls], w->macs[c], &w->macs[cls]))
                w->macs[cls] = UINT64_MAX;
            w->macs[c] = 0;
        }
}

/* ---- time ------------------------------------------------------------------------------------------- */

static double known_time(const struct oc_device *device, const struct oc_work *w,
                         const struct oc_roof_opts *opts)
{
    struct oc_roof r;
    oc_roofline_of(device, w, opts, NAN, &r);
    return isnan(r.roof_s) ? 0 : r.roof_s;
}

struct oc_work oc_bound_part_work(const struct oc_bound_part *p)
{
    struct oc_work w = {.bytes = p->bytes.bytes,
                        .weight_bytes = p->bytes.weight_bytes,
                        .written = p->bytes.written,
                        .launches = p->bytes.launches};
    for (unsigned i = 0; i < p->n_ops; i++) {
        const struct oc_class_work *o = &p->ops[i];
        w.macs[o->cls] = o->macs;
        w.flops[o->cls] = o->flops;
        w.special[o->cls] = o->special;
        w.special_flops[o->cls] = o->special_flops;
    }
    return w;
}

static double part_time(const struct oc_device *device, const struct oc_bound_part *p,
                        const struct oc_roof_opts *opts)
{
    uint8_t way[OC_BOUND_WAYS];
    unsigned n = oc_bound_ways(device, p->also, way);
    struct oc_work work = oc_bound_part_work(p);
    double s = INFINITY;
    if (opts->cache && oc_bound_keeps_tensors(device)) {
        work.bytes = work.weight_bytes;
        work.written = 0;
    }
    oc_roof_take_known_types(device, &work);
    for (unsigned i = 0; i < n; i++) {
        struct oc_work w = work;
        oc_bound_run_in(&w, way[i]);
        s = fmin(s, known_time(device, &w, opts));
    }
    return s;
}

double oc_bound_parts_time(const struct oc_bound_load *load, const bool *in, const struct oc_device *device,
                           bool cache)
{
    const struct oc_roof_opts opts = {.cache = cache, .const_bytes = load->const_bytes};
    double sum = 0;
    for (uint32_t i = 0; i < load->n_part; i++)
        if (!in || in[i])
            sum += part_time(device, &load->part[i], &opts);
    return sum;
}

double oc_bound_time(const struct oc_bound_load *load, const struct oc_device *device, bool cache)
{
    const struct oc_roof_opts opts = {.cache = cache, .const_bytes = load->const_bytes};
    struct oc_work all = load->all;
    for (uint32_t i = 0; i < load->n_part; i++)
        if (load->part[i].also)
            memset(all.macs, 0, sizeof(all.macs)); /* in which class each runs is open */
    oc_roof_take_known_types(device, &all);
    double s = fmax(oc_bound_parts_time(load, NULL, device, cache), known_time(device, &all, &opts));
    return s > 0 ? s : NAN;
}

double oc_bound_of(const struct oc_analysis *a, const struct oc_recast *as, const struct oc_device *device,
                   bool cache)
{
    struct oc_arena arena = {0};
    struct oc_bound_load load;
    oc_bound_load_make(a, as, &arena, &load);
    double s = oc_bound_time(&load, device, cache);
    oc_arena_free(&arena);
    return s;
}
