/* The dominant arithmetic class of a report: selects the peak shown in the summary. */
#include <math.h>

#include "join/join.h"
#include "profile/kernel_names.h"
#include "report/report.h"

/* Class of the most MACs: selects the peak of the model. */
static unsigned main_class(const struct oc_analysis *a)
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
    return r->in->analysis ? main_class(r->in->analysis) : OC_CLASS_F32;
}
