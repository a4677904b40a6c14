/* The dominant arithmetic class of a report: selects the peak shown in the summary. */
#include "report/headline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "join/join.h"
#include "model/model.h"
#include "profile/core/kernel_names.h"
#include "report/report.h"
#include "onnxcost.h"
#include "onnxcost/report.h"

/* Class of the most MACs: selects the peak of the model. */
static unsigned class_share_main_class(const struct oc_analysis *a)
{
    double macs[OC_CLASS_COUNT] = {0};
    unsigned best = OC_CLASS_F32;
    for (uint32_t i = 0; i < a->model->n_node; i++)
        if (a->cost[i].quality != OC_UNKNOWN && a->cost[i].mac_class < OC_CLASS_COUNT)
            macs[a->cost[i].mac_class] += (double)a->cost[i].macs;
    for (unsigned c = 0; c < OC_CLASS_COUNT; c++)
        best = macs[c] > macs[best] ? c : best;
    return best;
}

/* Precision of most of the measured time, if recorded; else OC_CLASS_NONE. */
static unsigned measured_class(const struct oc_profile *p)
{
    double ns[OC_CLASS_COUNT] = {0}, known = 0, all = 0;
    unsigned best = OC_CLASS_F32;
    for (uint32_t i = 0; i < p->n_rec; i++) {
        const struct oc_prof_rec *r = &p->rec[i];
        unsigned cls = r->bucket || r->overhead ? OC_CLASS_NONE : oc_precision_class(r->precision);
        double t = isnan(r->kernel_ns) ? r->self_ns : r->kernel_ns;
        if (r->bucket || r->overhead || !(t > 0))
            continue;
        all += t;
        if (cls == OC_CLASS_NONE || cls >= OC_CLASS_COUNT)
            continue;
        known += t;
        ns[cls] += t;
        best = ns[cls] > ns[best] ? cls : best;
    }
    return 2 * known > all ? best : OC_CLASS_NONE;
}

unsigned oc_report_class(const struct oc_report *r)
{
    unsigned cls = r->in->profile ? measured_class(r->in->profile) : OC_CLASS_NONE;
    if (cls != OC_CLASS_NONE)
        return cls;
    return r->in->analysis ? class_share_main_class(r->in->analysis) : OC_CLASS_F32;
}

/* ---- class share ------------------------------------------------------------------------------------ */

struct sums {
    struct oc_class_share *share;
    uint32_t n, cap;
    struct oc_map seen;
    double time, flop; /* time: nanoseconds, or shares of an event */
};

static struct oc_class_share *class_share_class_of(struct sums *s, const char *name)
{
    uint32_t at = s->n;
    const char *stored;
    if (oc_map_add(&s->seen, name, strlen(name), &at, &stored)) {
        OC_GROW(s->share, s->n, s->cap);
        s->share[s->n++] = (struct oc_class_share){.name = stored};
    }
    return &s->share[at];
}

static void class_share_add_functions(struct sums *s, const struct oc_profile *p)
{
    for (uint32_t i = 0; i < p->n_rec; i++) {
        const struct oc_prof_rec *rec = &p->rec[i];
        double weight = p->event ? rec->share : rec->self_ns;
        if (isnan(weight))
            continue;
        struct oc_class_share *c = class_share_class_of(s, rec->bucket ? "" : rec->op_type);
        c->time_share += weight;
        c->functions += !rec->bucket;
        s->time += weight;
    }
}

/* Operator types to their class, by the table of operators. */
static const char *operator_class(const char *type)
{
    for (size_t i = 0; i < oc_op_count(); i++) {
        struct oc_op_info op;
        oc_op_get(i, &op);
        if (strcmp(op.name, type) == 0)
            return op.op_class;
    }
    return "";
}

static void class_share_add_nodes(struct sums *s, const struct oc_analysis *a)
{
    for (uint32_t i = 0; i < a->model->n_node; i++) {
        const struct oc_node_cost *cost = &a->cost[i];
        double flop = (double)cost->flops + (double)cost->ops;
        if (cost->quality == OC_UNKNOWN || !(flop > 0))
            continue;
        struct oc_class_share *c = class_share_class_of(s, operator_class(a->model->node[i].op_type));
        c->flop_share += flop;
        c->nodes++;
        s->flop += flop;
    }
}

static int class_share_by_time(const void *a, const void *b)
{
    const struct oc_class_share *x = a, *y = b;
    if (x->time_share != y->time_share)
        return x->time_share < y->time_share ? 1 : -1;
    return (x->flop_share < y->flop_share) - (x->flop_share > y->flop_share);
}

uint32_t oc_class_shares(const struct oc_report_in *in, struct oc_arena *a, const struct oc_class_share **out)
{
    struct sums s = {.seen.arena = a};
    *out = NULL;
    if (!in->profile || !in->profile->functions)
        return 0;
    class_share_add_functions(&s, in->profile);
    if (in->analysis)
        class_share_add_nodes(&s, in->analysis);
    double all = in->profile->event ? 1 : s.time;
    for (uint32_t i = 0; i < s.n; i++) {
        s.share[i].time_share = all > 0 ? s.share[i].time_share / all : 0;
        s.share[i].flop_share = in->analysis && s.flop > 0 ? s.share[i].flop_share / s.flop : (double)NAN;
    }
    if (s.n)
        qsort(s.share, s.n, sizeof(*s.share), class_share_by_time);
    struct oc_class_share *kept = OC_NEW_ARRAY(a, s.n ? s.n : 1, struct oc_class_share);
    if (s.n)
        memcpy(kept, s.share, s.n * sizeof(*kept));
    *out = kept;
    oc_map_free(&s.seen);
    free(s.share);
    return s.n;
}
