#include "join/join.h"
#include "report/rows_build.h"

/* Rows of a join: one for each operator record of the profile, with the cost of the nodes it covers. Time
 * outside of operators (the profile's own buckets) has no row; the summary tells it. */
static void set_cost(struct oc_row *row, const struct oc_join_rec *j)
{
    row->quality = j->quality;
    row->rule = j->n_node ? j->rule : j->bucket;
    if (j->quality != OC_UNKNOWN) {
        row->computation = (double)j->flops + (double)j->ops;
        row->macs = (double)j->macs;
        row->params = (double)j->params;
    }
    if (j->bytes_known)
        row->memory = (double)j->rd_act + (double)j->rd_wt + (double)j->wr;
    row->intensity = row->memory > 0 ? row->computation / row->memory : NAN;
}

static void join_row(struct oc_report *r, uint32_t i)
{
    const struct oc_prof_rec *rec = &r->in->profile->rec[i];
    const struct oc_join_rec *j = &r->in->join->rec[i];
    struct oc_row *row = oc_report_record_row(r, i);
    set_cost(row, j);
    if (!j->n_node)
        return;
    if (j->n_node == 1)
        row->node = j->node[0];
    row->scope = r->in->model->graph[r->in->model->node[j->node[0]].graph].scope;
    if (!rec->has_in && !rec->has_out && r->in->analysis)
        oc_report_node_shapes(r, row, &r->in->model->node[j->node[j->n_node - 1]]);
}

void oc_report_rows_of_join(struct oc_report *r)
{
    const struct oc_profile *p = r->in->profile;
    r->all.row = OC_NEW_ARRAY(&r->arena, p->n_rec, struct oc_row);
    for (uint32_t i = 0; i < p->n_rec; i++)
        if (!p->rec[i].bucket)
            join_row(r, i);
}
