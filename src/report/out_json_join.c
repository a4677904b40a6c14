#include "report/json_keys.h"

#include <math.h>

/* The records that are printed, in order. */
static uint32_t printed(const struct oc_report *r, uint32_t place)
{
    return oc_json_narrowed(r) ? r->shown.row[place].record : place;
}

static uint32_t n_printed(const struct oc_report *r)
{
    return oc_json_narrowed(r) ? r->shown.n : r->in->profile->n_rec;
}

uint32_t oc_json_row_of_node(struct oc_report *r, uint32_t node)
{
    uint32_t record = r->in->join ? r->in->join->node_rec[node] : OC_NONE;
    if (record == OC_NONE || !oc_json_narrowed(r))
        return record;
    for (uint32_t i = 0; i < r->shown.n; i++)
        if (r->shown.row[i].record == record)
            return i;
    return OC_NONE;
}

static void buckets(struct oc_json_out *w, const struct oc_join *j)
{
    oc_jw_key(w, "buckets");
    oc_jw_begin_array(w);
    for (uint32_t i = 0; j && i < j->n_bucket; i++) {
        oc_jw_begin_object(w);
        oc_key_text(w, "name", j->bucket[i].name);
        oc_key_double(w, "time_ns", j->bucket[i].time_ns);
        oc_jw_end_object(w);
    }
    oc_jw_end_array(w);
}

static void record_part(struct oc_json_out *w, const struct oc_profile *p, const struct oc_prof_rec *rec)
{
    oc_key_text(w, "name", rec->name);
    oc_key_text(w, "op_type", *rec->op_type ? rec->op_type : NULL);
    oc_key_text(w, "provider", *rec->provider ? rec->provider : NULL);
    oc_key_u64(w, "stream", rec->lane);
    oc_key_text(w, "precision", *rec->precision ? rec->precision : NULL);
    oc_key_double(w, "time_ns", rec->time_ns);
    oc_key_double(w, "self_time_ns", rec->self_ns);
    oc_key_double(w, "kernel_time_ns", rec->kernel_ns);
    oc_key_u64(w, "calls", rec->calls);
    oc_key_u64(w, "runs", rec->runs);
    oc_key_text(w, "statistic", oc_stat_name(p->stat));
}

static void cost_part(struct oc_json_out *w, const struct oc_prof_rec *rec, const struct oc_join_rec *j)
{
    bool ops = j && !j->bucket && j->quality != OC_UNKNOWN, bytes = j && j->bytes_known;
    oc_jw_key(w, "nodes");
    oc_jw_begin_array(w);
    for (uint32_t i = 0; j && i < j->n_node; i++)
        oc_jw_u64(w, j->node[i]);
    oc_jw_end_array(w);
    oc_key_text(w, "bucket", j ? j->bucket : rec->bucket);
    oc_key_text(w, "rule", j && j->n_node ? j->rule : NULL);
    oc_key_double(w, "confidence", j && j->n_node ? j->confidence : NAN);
    oc_key_u64_if(w, "macs", ops, ops ? j->macs : 0);
    oc_key_u64_if(w, "flops", ops, ops ? j->flops : 0);
    oc_key_u64_if(w, "bytes_read", bytes, bytes ? j->rd_act + j->rd_wt : 0);
    oc_key_u64_if(w, "bytes_written", bytes, bytes ? j->wr : 0);
}

void oc_json_join(struct oc_json_out *w, struct oc_report *r)
{
    const struct oc_profile *p = r->in->profile;
    const struct oc_join *j = r->in->join;
    oc_jw_key(w, "join");
    if (!p) {
        oc_jw_null(w);
        return;
    }
    oc_jw_begin_object(w);
    oc_key_double(w, "time_matched_fraction", j ? j->time_matched_fraction : NAN);
    oc_key_double(w, "flops_matched_fraction", j ? j->flops_matched_fraction : NAN);
    buckets(w, j);
    oc_jw_key(w, "rows");
    oc_jw_begin_array(w);
    for (uint32_t i = 0; i < n_printed(r); i++) {
        uint32_t record = printed(r, i);
        if (record == OC_NONE)
            continue;
        oc_jw_begin_object(w);
        record_part(w, p, &p->rec[record]);
        cost_part(w, &p->rec[record], j ? &j->rec[record] : NULL);
        oc_jw_end_object(w);
    }
    oc_jw_end_array(w);
    oc_jw_end_object(w);
}
