#include "estimate/subnormal.h"

#include <string.h>

#include "base/little_endian.h"
#include "base/os.h"
#include "estimate/curve.h"
#include "model/model.h"
#include "model/tensor.h"
#include "onnxcost.h"
#include "onnxcost/hardware.h"

enum { WHOLE = 16384, RUNS = 16, RUN = WHOLE / RUNS };

static bool is_subnormal(const uint8_t *p)
{
    uint32_t bits = (uint32_t)oc_load_le(p, 4) & 0x7fffffffu;
    return bits && bits < 0x800000u;
}

/* Adds the sampled and the subnormal elements, scaled to all elements of the tensor. */
static void add_tensor(const struct oc_model *m, const struct oc_tensor *t, double *all, double *subnormal)
{
    struct oc_tensor_bytes b;
    bool copied = t->storage == OC_STORE_FIELDS && t->elements > 1 << 22;
    if (t->dtype != OC_DT_FLOAT || copied || !oc_tensor_bytes_open(m, t, &b))
        return;
    uint64_t n = t->elements, runs = n > WHOLE ? RUNS : 1, run = n > WHOLE ? RUN : n, found = 0;
    for (uint64_t r = 0; r < runs; r++) {
        uint64_t from = runs > 1 ? (n - run) / (runs - 1) * r : 0;
        oc_os_need(b.data + 4 * from, (size_t)(4 * run));
        for (uint64_t i = from; i < from + run; i++)
            found += is_subnormal(b.data + 4 * i);
    }
    oc_tensor_bytes_close(&b);
    *all += (double)n;
    *subnormal += (double)found / (double)(runs * run) * (double)n;
}

double oc_subnormal_share(const struct oc_model *m, const uint32_t *node, uint32_t n_node)
{
    double all = 0, subnormal = 0;
    for (uint32_t k = 0; k < n_node; k++) {
        const struct oc_node *n = &m->node[node[k]];
        for (uint32_t i = 0; i < n->n_in; i++) {
            const struct oc_value *v = n->in[i] == OC_NONE ? NULL : &m->value[n->in[i]];
            const struct oc_tensor *t = !v                       ? NULL
                                        : v->constant            ? v->constant
                                        : v->producer != OC_NONE ? oc_node_constant(&m->node[v->producer])
                                                                 : NULL;
            if (t)
                add_tensor(m, t, &all, &subnormal);
        }
    }
    return all > 0 ? subnormal / all : 0;
}

/* x86 processors: others compute with subnormal numbers at full speed, as far as known. */
static bool slow_with_subnormals(const struct oc_device *d)
{
    const char *vendor = oc_cal_device_kind(d) == OC_CAL_CPU ? oc_device_info(d)->vendor : NULL;
    return vendor && (!strcmp(vendor, "Intel") || !strcmp(vendor, "AMD"));
}

void oc_subnormal_widen(struct oc_estimate *e)
{
    for (size_t i = 0; i < e->list.n && slow_with_subnormals(e->device); i++) {
        const struct oc_kernel_use *u = &e->list.item[i];
        double t = oc_estimate_kernel_s(e, i);
        if (!(t > 0) || oc_subnormal_share(e->analysis->model, u->node, u->n_node) < OC_SUBNORMAL_LEAST)
            continue;
        e->prediction[i].hi80_s *= OC_SUBNORMAL_MOST;
        e->prediction[i].hi95_s *= OC_SUBNORMAL_MOST;
        e->n_subnormal++;
        e->subnormal_s += t;
    }
    e->total.hi80_s += e->subnormal_s * (OC_SUBNORMAL_MOST - 1);
    e->total.hi95_s += e->subnormal_s * (OC_SUBNORMAL_MOST - 1);
}
