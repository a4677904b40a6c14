#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "estimate/fusion_plan.h"

/* Identifies a kernel by its launched nodes: folded nodes and those without effect are ignored. */
struct set {
    uint64_t id;
    size_t item;
};

static bool counts(const struct oc_model *m, const struct oc_analysis *a, uint32_t node)
{
    const struct oc_node_cost *c = &a->cost[node];
    const char *type = m->node[node].op_type;
    return c->state != OC_NODE_FOLDED && c->state != OC_NODE_ABSORBED && strcmp(type, "Identity") != 0 &&
           strcmp(type, "Dropout") != 0 && strcmp(type, "Constant") != 0 && strcmp(type, "Cast") != 0;
}

static uint64_t mix(uint64_t v)
{
    v = (v ^ (v >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    v = (v ^ (v >> 27)) * UINT64_C(0x94d049bb133111eb);
    return v ^ (v >> 31);
}

static uint64_t id_of(const struct oc_model *m, const struct oc_analysis *a, const struct oc_kernel_use *u)
{
    uint64_t id = 0;
    if (!u->n_node)
        return mix(mix(u->kernel.work.bytes) + u->kernel.cls);
    for (uint32_t i = 0; i < u->n_node; i++)
        if (counts(m, a, u->node[i]) || u->n_node == 1)
            id += mix((uint64_t)u->node[i] + 1);
    return id;
}

static int by_id(const void *a, const void *b)
{
    const struct set *x = a, *y = b;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return (x->item > y->item) - (x->item < y->item);
}

static struct set *sets_of(const struct oc_model *m, const struct oc_analysis *a,
                           const struct oc_kernel_list *list)
{
    struct set *s = oc_xmalloc((list->n + 1) * sizeof(*s));
    for (size_t i = 0; i < list->n; i++)
        s[i] = (struct set){.id = id_of(m, a, &list->item[i]), .item = i};
    if (list->n)
        qsort(s, list->n, sizeof(*s), by_id);
    return s;
}

void oc_fusion_compare(const struct oc_model *m, const struct oc_analysis *a,
                       const struct oc_kernel_list *plan, const struct oc_kernel_list *recorded,
                       const double *time_s, struct oc_fusion_match *out)
{
    struct set *p = sets_of(m, a, plan), *r = sets_of(m, a, recorded);
    double all = 0, equal = 0;
    *out = (struct oc_fusion_match){.recorded = (uint32_t)recorded->n, .planned = (uint32_t)plan->n};
    for (size_t i = 0, k = 0; i < recorded->n; i++) {
        double t = time_s[r[i].item];
        all += t > 0 ? t : 0;
        while (k < plan->n && p[k].id < r[i].id)
            k++;
        if (k == plan->n || p[k].id != r[i].id)
            continue;
        k++; /* each planned kernel matches once */
        out->equal++;
        equal += t > 0 ? t : 0;
    }
    out->equal_time = all > 0 ? equal / all : (double)NAN;
    free(p);
    free(r);
}
