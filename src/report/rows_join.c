#include "join/run_sizes.h"
#include "report/rows_build.h"

/* Rows of a join: one for each operator record of the profile, with the cost of the nodes it covers. Time
 * outside of operators (the profile's own buckets) has no row; it is in the summary. */
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

/* Runs of different sizes: the mean work of a run, not rounded. */
static void set_mean_cost(struct oc_row *row, const struct oc_join_rec *j, const struct oc_sizes *sizes,
                          uint32_t i)
{
    const struct oc_size_rec *s = &sizes->rec[i];
    double runs = sizes->runs;
    if (j->quality != OC_UNKNOWN) {
        row->computation = ((double)s->flops + (double)s->ops) / runs;
        row->macs = (double)s->macs / runs;
    }
    if (j->bytes_known)
        row->memory = ((double)s->rd_act + (double)s->rd_wt + (double)s->wr) / runs;
    row->intensity = row->memory > 0 ? row->computation / row->memory : NAN;
}

static void join_row(struct oc_report *r, uint32_t i)
{
    const struct oc_prof_rec *rec = &r->in->profile->rec[i];
    const struct oc_join_rec *j = &r->in->join->rec[i];
    struct oc_row *row = oc_report_record_row(r, i);
    set_cost(row, j);
    if (r->in->join->sizes)
        set_mean_cost(row, j, r->in->join->sizes, i);
    if (!j->n_node)
        return;
    if (j->n_node == 1)
        row->node = j->node[0];
    row->scope = r->in->model->graph[r->in->model->node[j->node[0]].graph].scope;
    if (!rec->has_in && !rec->has_out && r->in->analysis)
        oc_report_node_shapes(r, row, &r->in->model->node[j->node[j->n_node - 1]]);
}

static void add_time(double *sum, double s)
{
    if (!isnan(s))
        *sum = isnan(*sum) ? s : *sum + s;
}

/* Time of the records nested in a record belongs to its row: device time if any of them has it. */
static void add_parts(struct oc_report *r, const uint32_t *row_of)
{
    const struct oc_profile *p = r->in->profile;
    double *own = OC_NEW_ARRAY(&r->arena, p->n_rec, double),
           *kernel = OC_NEW_ARRAY(&r->arena, p->n_rec, double);
    for (uint32_t i = 0; i < p->n_rec; i++)
        own[i] = kernel[i] = NAN;
    for (uint32_t i = 0; i < p->n_rec; i++) {
        uint32_t whole = r->in->join->rec[i].part_of;
        if (whole == OC_NONE || row_of[whole] == OC_NONE)
            continue;
        add_time(&own[whole], p->rec[i].self_ns * 1e-9);
        add_time(&kernel[whole], p->rec[i].kernel_ns * 1e-9);
    }
    for (uint32_t i = 0; i < p->n_rec; i++) {
        if (row_of[i] == OC_NONE || (isnan(own[i]) && isnan(kernel[i])))
            continue;
        struct oc_row *row = &r->all.row[row_of[i]];
        add_time(&kernel[i], p->rec[i].kernel_ns * 1e-9);
        add_time(&row->self_s, own[i]);
        row->time_s = isnan(kernel[i]) ? row->self_s : kernel[i];
        row->host_time_s = isnan(kernel[i]) ? row->host_time_s : row->self_s;
    }
}

void oc_report_rows_of_join(struct oc_report *r)
{
    const struct oc_profile *p = r->in->profile;
    r->all.row = OC_NEW_ARRAY(&r->arena, p->n_rec, struct oc_row);
    uint32_t *row_of = OC_NEW_ARRAY(&r->arena, p->n_rec, uint32_t);
    bool parts = false;
    for (uint32_t i = 0; i < p->n_rec; i++) {
        bool part = r->in->join->rec[i].part_of != OC_NONE;
        row_of[i] = p->rec[i].bucket || part ? OC_NONE : r->all.n;
        parts |= part;
        if (row_of[i] != OC_NONE)
            join_row(r, i);
    }
    if (parts)
        add_parts(r, row_of);
}
