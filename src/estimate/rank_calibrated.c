/* The time of a model on a calibrated device: its kernels after fusion, each with its prediction, and the
 * total with its interval. */
#include <math.h>
#include <string.h>

#include "estimate/estimate.h"
#include "estimate/rank_span.h"

static const uint8_t part_of_bound[OC_BOUND_COUNT] = {
    [OC_BOUND_VECTOR] = OC_SPAN_VECTOR,     [OC_BOUND_MATRIX] = OC_SPAN_MATRIX,
    [OC_BOUND_SPECIAL] = OC_SPAN_SPECIAL,   [OC_BOUND_DRAM] = OC_SPAN_MEMORY,
    [OC_BOUND_OVERHEAD] = OC_SPAN_OVERHEAD, [OC_BOUND_BALANCED] = OC_SPAN_MEMORY,
    [OC_BOUND_NONE] = OC_SPAN_OVERHEAD,     [OC_BOUND_UNKNOWN] = OC_SPAN_OVERHEAD,
    [OC_BOUND_CACHE] = OC_SPAN_CACHE,
};

/* The main node of a kernel determines its class; inserted layout changes have none. */
static unsigned class_of(const struct oc_estimate *e, const struct oc_kernel_use *u)
{
    uint32_t node = u->kernel.node != OC_NONE ? u->kernel.node : u->n_node ? u->node[0] : OC_NONE;
    return node == OC_NONE ? OC_OP_LAYOUT : e->analysis->cost[node].op_class;
}

static void add(struct oc_span *s, const struct oc_prediction *p, double t, double times)
{
    double launch = fmin(p->t0_s > 0 ? p->t0_s : 0, t) * times;
    s->lo_s += p->lo80_s * times;
    s->mid_s += t * times;
    s->hi_s += p->hi80_s * times;
    s->part_s[OC_SPAN_OVERHEAD] += launch;
    s->part_s[part_of_bound[p->bound < OC_BOUND_COUNT ? p->bound : OC_BOUND_UNKNOWN]] += t * times - launch;
}

static void add_all(const struct oc_estimate *e, struct oc_span *whole, struct oc_span *by_class)
{
    for (size_t i = 0; i < e->list.n; i++) {
        const struct oc_kernel_use *u = &e->list.item[i];
        const struct oc_prediction *p = &e->prediction[i];
        double times = u->calls > 0 ? u->calls : 1, t = oc_estimate_kernel_s(e, i) / times;
        if (!(t >= 0))
            continue;
        add(whole, p, t, times);
        if (by_class)
            add(&by_class[class_of(e, u)], p, t, times);
    }
}

void oc_span_calibrated(const struct oc_span_in *in, struct oc_span *whole, struct oc_span *by_class)
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
    add_all(e, whole, by_class);
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
