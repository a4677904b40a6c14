#include "estimate/work.h"

#include "base/ck.h"

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

static bool is_free(unsigned prim)
{
    return prim == OC_CVT || prim == OC_DEQ;
}

/* The class of work on one side of the histogram. A node has one class for all but its MACs; the other side
 * contains the address and zero-point arithmetic of quantized operators, or their requantization. */
static unsigned class_of(const struct oc_node_cost *k, bool is_int)
{
    if (oc_class_is_int(k->rest_class) == is_int)
        return k->rest_class;
    return is_int ? OC_CLASS_I32 : OC_CLASS_F32;
}

static void add(struct oc_work *w, uint64_t *sum, uint64_t n)
{
    if (!oc_add_u64(*sum, n, sum))
        w->unknown = true;
}

static void add_prim(struct oc_work *w, const struct oc_node_cost *k, const struct oc_prim_count *p)
{
    unsigned cls = class_of(k, p->is_int);
    if (p->prim == OC_MAC) {
        add(w, &w->macs[k->mac_class], p->n);
    } else if (is_special(p->prim) && !p->is_int) {
        add(w, &w->special[cls], p->n);
        add(w, &w->special_flops[cls], p->n);
    } else if (!is_free(p->prim)) {
        add(w, &w->flops[cls], p->n);
    }
}

static bool is_launched(const struct oc_node_cost *k)
{
    return !k->alias &&
           (k->state == OC_NODE_NORMAL || k->state == OC_NODE_UNKNOWN_OP || k->state == OC_NODE_NO_SHAPE);
}

void oc_work_add(struct oc_work *work, const struct oc_node_cost *cost)
{
    if (is_launched(cost))
        add(work, &work->launches, cost->trips);
    if (cost->quality == OC_UNKNOWN) {
        work->unknown = true;
        return;
    }
    for (unsigned i = 0; i < cost->n_hist; i++)
        add_prim(work, cost, &cost->hist[i]);
    add(work, &work->bytes, cost->rd_act);
    add(work, &work->bytes, cost->rd_wt);
    add(work, &work->bytes, cost->wr);
    add(work, &work->weight_bytes, cost->rd_wt);
    add(work, &work->written, cost->wr);
}
