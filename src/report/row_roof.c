#include "estimate/work.h"
#include "report/report.h"

/* What the hardware allows for a row: of its node, or of the nodes that the row covers. */
static void set_roof(const struct oc_report *r, struct oc_row *row, const struct oc_work *work)
{
    struct oc_roof roof;
    oc_roofline(r->in->device, work, OC_OVERLAP_UNITS, row->time_s, &roof);
    row->roofline_s = roof.roof_s;
    row->bound_by = oc_bound_name(roof.bound);
    row->efficiency = row->time_s > 0 ? roof.roof_s / row->time_s : NAN;
}

void oc_report_roofs(struct oc_report *r)
{
    const struct oc_analysis *a = r->in->analysis;
    if (!r->in->device || !a)
        return;
    for (uint32_t i = 0; i < r->all.n; i++) {
        struct oc_row *row = &r->all.row[i];
        if (row->node == OC_NONE)
            continue;
        struct oc_work work = {0};
        oc_work_add(&work, &a->cost[row->node]);
        set_roof(r, row, &work);
    }
}
