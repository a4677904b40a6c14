/* The report as JSON: records, their match, groups. */
#include "write/report_write.h"

#include <math.h>
#include <string.h>

#include "hw/hwdb.h"
#include "join/join.h"
#include "join/record_cost.h"
#include "onnxcost.h"
#include "onnxcost/report.h"
#include "report/names.h"
#include "report/report.h"
#include "write/tables/json_keys.h"

static void units(struct oc_json_out *w, const struct oc_row_limits *l)
{
    oc_key_array(w, "units");
    for (unsigned u = 0; u < OC_ROW_UNITS; u++) {
        oc_jw_begin_object(w);
        oc_key_text(w, "name", oc_hw_unit_name(u));
        oc_key_double(w, "time_ns", oc_ns_of(l->unit_s[u]));
        oc_jw_end_object(w);
    }
    oc_jw_end_array(w);
}

static void json_join_levels(struct oc_json_out *w, const struct oc_report *r, const struct oc_row_limits *l)
{
    oc_key_array(w, "levels");
    for (unsigned i = 0; i < oc_roof_levels(r->in->device); i++) {
        oc_jw_begin_object(w);
        oc_key_text(w, "name", oc_roof_level(r->in->device, i)->name);
        oc_key_count(w, "bytes", l->level_bytes[i]);
        oc_key_double(w, "time_ns", oc_ns_of(l->level_s[i]));
        oc_jw_end_object(w);
    }
    oc_jw_end_array(w);
}

void oc_json_limits(struct oc_json_out *w, const struct oc_report *r, const struct oc_row *row)
{
    if (!r->in->device)
        return;
    if (!oc_key_object_if(w, "limits", row != NULL))
        return;
    units(w, row->limits);
    json_join_levels(w, r, row->limits);
    oc_key_double(w, "compute_efficiency", oc_row_rate(row, row->limits->comp_s));
    oc_key_double(w, "bandwidth_efficiency", oc_row_rate(row, row->limits->mem_s));
    oc_key_double(w, "wasted_ns", oc_ns_of(row->wasted_s));
    oc_jw_end_object(w);
}

static void json_join_shares(struct oc_json_out *w, const struct oc_row_bounds *b)
{
    oc_key_array(w, "bounds");
    for (uint32_t i = 0; i < b->n_share; i++) {
        oc_jw_begin_object(w);
        oc_key_text(w, "bound_by", b->share[i].name);
        oc_key_u64(w, "rows", b->share[i].rows);
        oc_key_double(w, "time_ns", oc_ns_of(b->share[i].time_s));
        oc_key_double(w, "roofline_time_ns", oc_ns_of(b->share[i].roof_s));
        oc_key_double(w, "fraction", oc_bound_fraction(b, &b->share[i]));
        oc_jw_end_object(w);
    }
    oc_jw_end_array(w);
}

void oc_json_roofline(struct oc_json_out *w, struct oc_report *r)
{
    struct oc_row_bounds b;
    oc_bounds_of(r, &b);
    oc_key_object(w, "roofline");
    oc_key_bool(w, "cache", r->o->cache);
    oc_key_u64(w, "rows", b.rows);
    oc_key_u64(w, "rows_without_limit", b.missing);
    oc_key_u64(w, "rows_with_partial_limit", b.partial);
    oc_key_double(w, "time_ns", b.rows ? oc_ns_of(b.time_s) : NAN);
    oc_key_double(w, "roofline_time_ns", b.rows ? oc_ns_of(b.roof_s) : NAN);
    oc_key_double(w, "bound_time_ns", oc_ns_of(r->bound_s));
    oc_key_double(w, "roofline_efficiency", b.roof_s / b.time_s);
    oc_key_double(w, "wasted_ns", oc_ns_of(b.wasted_s));
    units(w, &b.limits);
    json_join_levels(w, r, &b.limits);
    json_join_shares(w, &b);
    oc_jw_end_object(w);
}

/* ---- out json groups -------------------------------------------------------------------------------- */

static void json_join_group(struct oc_json_out *w, const struct oc_report *r, const struct oc_row *row)
{
    oc_jw_begin_object(w);
    const char *by = r->o->group_by;
    oc_key_text(w, "op_type", by && !strcmp(by, "type") ? row->type : NULL);
    oc_key_text(w, "group_by", by);
    oc_key_text(w, "group", row->type);
    oc_key_u64(w, "count", row->count);
    oc_key_text(w, "aggregate", r->o->aggregate ? r->o->aggregate : "sum");
    oc_key_quality(w, row->quality);
    oc_key_double(w, "time_ns", oc_ns_of(row->time_s));
    oc_key_double(w, "time_min_ns", oc_ns_of(row->min_s));
    oc_key_double(w, "time_max_ns", oc_ns_of(row->max_s));
    oc_key_count(w, "calls_per_run", row->calls);
    oc_key_count(w, "operations", row->computation); /* floating-point and integer operations */
    oc_key_count(w, "macs", row->macs);
    oc_key_count(w, "params", row->params);
    oc_key_count(w, "bytes", row->memory);
    oc_key_double(w, "achieved_flops_per_s", oc_row_flops(row));
    oc_key_double(w, "achieved_bytes_per_s", oc_row_bandwidth(row));
    oc_key_double(w, "roofline_time_ns", oc_ns_of(row->roofline_s));
    oc_key_double(w, "roofline_efficiency", row->efficiency);
    oc_key_double(w, "wasted_ns", oc_ns_of(row->wasted_s));
    oc_json_limits(w, r, row);
    if (r->what_if)
        oc_key_double(w, "what_if_time_ns", oc_ns_of(row->what_if_s));
    oc_jw_end_object(w);
}

void oc_json_groups(struct oc_json_out *w, const struct oc_report *r)
{
    if (!oc_key_array_if(w, "groups", oc_report_grouped(r->o)))
        return;
    for (uint32_t i = 0; i < r->groups.n; i++)
        json_join_group(w, r, &r->groups.row[i]);
    oc_jw_end_array(w);
}

/* ---- where a node's row is ---------------------------------------------------------------------------- */

void oc_json_place_rows(struct oc_report *r)
{
    const struct oc_profile *p = r->in->profile;
    const struct oc_join *j = r->in->join;
    if (!p)
        return;
    r->place = OC_NEW_ARRAY(&r->arena, p->n_rec, uint32_t);
    for (uint32_t i = 0; i < p->n_rec; i++)
        r->place[i] = OC_NONE;
    for (uint32_t i = 0; i < r->shown.n; i++)
        if (r->shown.row[i].record != OC_NONE)
            r->place[r->shown.row[i].record] = i;
    for (uint32_t i = 0; i < p->n_rec && j; i++) /* a record inside of another one is part of its row */
        if (j->rec[i].part_of != OC_NONE)
            r->place[i] = r->place[j->rec[i].part_of];
}

uint32_t oc_json_row_of_node(const struct oc_report *r, uint32_t node)
{
    uint32_t record = r->in->join ? r->in->join->node_rec[node] : OC_NONE;
    return record == OC_NONE ? OC_NONE : r->place[record];
}

static void limit_part(struct oc_json_out *w, const struct oc_report *r, const struct oc_row *row)
{
    if (r->what_if)
        oc_key_double(w, "what_if_time_ns", oc_ns_of(row->what_if_s));
    if (!r->in->device)
        return;
    oc_key_text(w, "bound_by", row->bound_by);
    oc_key_double(w, "roofline_time_ns", oc_ns_of(row->roofline_s));
    oc_key_double(w, "roofline_efficiency", row->efficiency);
    oc_key_text(w, "above_roofline", row->above_roof);
    oc_json_limits(w, r, row);
}

/* ---- parts ------------------------------------------------------------------------------------------ */

void oc_json_buckets(struct oc_json_out *w, struct oc_report *r)
{
    const struct oc_bucket_sum *b;
    uint32_t n = oc_report_buckets(r, &b);
    oc_key_array(w, "buckets");
    for (uint32_t i = 0; i < n; i++) {
        oc_jw_begin_object(w);
        oc_key_text(w, "name", b[i].name);
        oc_key_time(w, "time_ns", b[i].time_ns);
        oc_key_time(w, "kernel_time_ns", b[i].kernel_ns);
        oc_key_time(w, "total_ns", b[i].total_ns);
        oc_key_time(w, "total_kernel_ns", b[i].total_kernel_ns);
        oc_key_u64(w, "rows", b[i].records);
        oc_jw_end_object(w);
    }
    oc_jw_end_array(w);
}

/* Imported time = nodes + groups + total_ns of the buckets, over all calls in the profile. */
void oc_json_conserved(struct oc_json_out *w, const struct oc_report *r, bool device)
{
    struct oc_conserved c;
    const struct oc_join *j = r->in->join;
    oc_profile_conserved(r->in->profile, device, &c);
    oc_key_object(w, device ? "device" : "host");
    oc_key_double(w, "imported_ns", c.imported_ns);
    oc_key_double(w, "operators_ns", c.operators_ns);
    oc_key_double(w, "nodes_ns", j ? (device ? j->device : j->host).nodes_ns : NAN);
    oc_key_double(w, "groups_ns", j ? (device ? j->device : j->host).groups_ns : NAN);
    oc_key_double(w, "buckets_ns", j ? (device ? j->device : j->host).buckets_ns : c.buckets_ns);
    oc_key_double(w, "lost_ns", j ? (device ? j->device : j->host).lost_ns : c.lost_ns);
    oc_jw_end_object(w);
}

static void record_part(struct oc_json_out *w, const struct oc_profile *p, const struct oc_prof_rec *rec)
{
    oc_key_text(w, "runtime_name", rec->name);
    oc_key_text(w, "source_type", rec->source_type);
    oc_key_text(w, "provider", *rec->provider ? rec->provider : NULL);
    oc_key_u64(w, "stream", rec->lane);
    if (rec->place)
        oc_key_text(w, "place", rec->place);
    oc_key_text(w, "precision", *rec->precision ? rec->precision : NULL);
    oc_key_time(w, "inclusive_time_ns", rec->time_ns);
    oc_key_time(w, "self_time_ns", rec->self_ns);
    oc_key_time(w, "kernel_time_ns", rec->kernel_ns);
    oc_key_time(w, "host_time_ns",
                isnan(rec->host_ns) && isnan(rec->kernel_ns) ? rec->self_ns : rec->host_ns);
    if (p->event)
        oc_key_double(w, "event_share", rec->share);
    if (!isnan(rec->energy_j))
        oc_key_double(w, "energy_j", rec->energy_j);
    oc_key_u64(w, "calls", rec->calls);
    oc_key_u64(w, "runs", rec->runs);
}

static void match_part(struct oc_json_out *w, const struct oc_prof_rec *rec, const struct oc_join_rec *j)
{
    oc_key_array(w, "nodes");
    for (uint32_t i = 0; j && i < j->n_node; i++)
        oc_jw_u64(w, j->node[i]);
    oc_jw_end_array(w);
    oc_key_text(w, "bucket", j ? j->bucket : rec->bucket);
    oc_key_text(w, "rule", j && j->n_node ? j->rule : NULL);
    oc_key_double(w, "confidence", j && j->n_node ? j->confidence : NAN);
}

static void joined_cost(struct oc_json_out *w, const struct oc_join_rec *j)
{
    bool ops = j->quality != OC_UNKNOWN, bytes = j->bytes_known;
    oc_key_u64_if(w, "macs", ops, j->macs);
    oc_key_u64_if(w, "flops", ops, j->flops);
    oc_key_u64_if(w, "ops", ops, j->ops);
    oc_key_u64_if(w, "bytes_read", bytes, j->rd_act + j->rd_wt);
    oc_key_u64_if(w, "bytes_written", bytes, j->wr);
    oc_key_u64_if(w, "bytes", bytes, j->rd_act + j->rd_wt + j->wr);
    oc_key_quality(w, ops || !bytes ? j->quality : OC_EXACT);
    oc_key_u64_if(w, "executed_macs", j->executed_known, j->executed_macs);
    oc_key_text(w, "note", j->note);
}

/* Executed MACs per run (profiled shapes). */
static void executed(struct oc_json_out *w, const struct oc_join_executed *e)
{
    if (!oc_key_object_if(w, "executed", e && e->known))
        return;
    oc_key_u64(w, "macs", e->macs);
    oc_key_u64(w, "padding_macs", e->padding_macs);
    oc_key_u64(w, "rows_recorded", e->recorded);
    oc_key_u64(w, "rows_from_model", e->from_model);
    oc_key_u64(w, "rows_padded", e->padded);
    oc_key_u64(w, "rows_with_more", e->more);
    oc_jw_end_object(w);
}

/* Conservation of work; null: unknown. */
static void conserved_work(struct oc_json_out *w, const struct oc_join_work *k)
{
    if (!oc_key_object_if(w, "work", k && k->known))
        return;
    oc_key_u64(w, "model_macs", k->model_macs);
    oc_key_u64(w, "row_macs", k->row_macs);
    oc_key_u64(w, "eliminated_macs", k->eliminated_macs);
    oc_key_u64(w, "unattributed_macs", k->lost_macs);
    oc_jw_end_object(w);
}

/* The source's own figures. Its operations are not split by type: all count as FLOPs, as the source names
 * them. */
static void own_cost(struct oc_json_out *w, const struct oc_prof_rec *rec)
{
    oc_key_u64_if(w, "macs", rec->has_macs, rec->macs);
    oc_key_count(w, "flops", rec->flop);
    oc_key_null(w, "ops");
    oc_key_null(w, "bytes_read");
    oc_key_null(w, "bytes_written");
    oc_key_count(w, "bytes", rec->bytes);
    oc_key_quality(w, isnan(rec->flop) && isnan(rec->bytes) ? OC_UNKNOWN : rec->quality);
}

/* Figures from the recorded shapes, for all calls of one run. */
static void recorded_cost(struct oc_json_out *w, struct oc_report *r, const struct oc_prof_rec *rec)
{
    struct oc_record_cost k = {.quality = OC_UNKNOWN};
    if (!rec->bucket && (rec->has_in || rec->has_out))
        oc_record_cost(r->in->profile, rec, &r->arena, r->formulas, &k);
    bool ops = k.quality != OC_UNKNOWN;
    double calls = rec->calls_per_run;
    oc_key_count(w, "macs", ops ? calls * (double)k.macs : NAN);
    oc_key_count(w, "flops", ops ? calls * (double)k.flops : NAN);
    oc_key_count(w, "ops", ops ? calls * (double)k.ops : NAN);
    oc_key_count(w, "bytes_read", k.bytes_known ? calls * (double)k.rd : NAN);
    oc_key_count(w, "bytes_written", k.bytes_known ? calls * (double)k.wr : NAN);
    oc_key_count(w, "bytes", k.bytes_known ? calls * (double)(k.rd + k.wr) : NAN);
    oc_key_quality(w, k.quality);
    oc_key_text(w, "note", k.note);
}

static void json_join_cost_part(struct oc_json_out *w, struct oc_report *r, uint32_t record)
{
    const struct oc_prof_rec *rec = &r->in->profile->rec[record];
    if (r->in->join)
        joined_cost(w, &r->in->join->rec[record]);
    else if (!isnan(rec->flop) || !isnan(rec->bytes))
        own_cost(w, rec);
    else
        recorded_cost(w, r, rec);
}

/* The names and times of "rows" where version 1 had them, for its readers. */
static void rows_of_version_1(struct oc_json_out *w, const struct oc_report *r)
{
    const struct oc_profile *p = r->in->profile;
    oc_key_array(w, "rows");
    for (uint32_t i = 0; i < r->shown.n; i++) {
        const struct oc_row *row = &r->shown.row[i];
        const struct oc_prof_rec *rec = row->record == OC_NONE ? NULL : &p->rec[row->record];
        oc_jw_begin_object(w);
        oc_key_text(w, "name", row->name);
        oc_key_text(w, "op_type", row->remainder ? NULL : oc_row_type(r, row));
        oc_key_text(w, "bucket", row->remainder ? rec ? rec->bucket : "framework" : NULL);
        oc_key_time(w, "time_ns", oc_ns_of(row->time_s));
        oc_key_time(w, "row_time_ns", oc_ns_of(row->time_s));
        oc_key_time(w, "kernel_time_ns", rec ? rec->kernel_ns : (double)NAN);
        oc_key_double(w, "share", r->has_share ? row->share : row->time_s / r->total_s);
        oc_key_u64(w, "runs", rec ? rec->runs : 0);
        oc_jw_end_object(w);
    }
    oc_jw_end_array(w);
}

void oc_json_join(struct oc_json_out *w, struct oc_report *r)
{
    const struct oc_profile *p = r->in->profile;
    const struct oc_join *j = r->in->join;
    if (!oc_key_object_if(w, "join", p != NULL))
        return;
    oc_key_double(w, "time_matched_fraction", j ? j->time_matched_fraction : NAN);
    oc_key_double(w, "flops_matched_fraction", j ? j->flops_matched_fraction : NAN);
    executed(w, j ? &j->executed : NULL);
    conserved_work(w, j ? &j->work : NULL);
    oc_key_object(w, "imported");
    oc_json_conserved(w, r, false);
    oc_json_conserved(w, r, true);
    oc_jw_end_object(w);
    oc_json_buckets(w, r);
    rows_of_version_1(w, r);
    oc_jw_end_object(w);
}

/* ---- rows ------------------------------------------------------------------------------------------- */

/* Time of no operator: no node, no work. */
static void row_remainder(struct oc_json_out *w, const struct oc_report *r, const struct oc_row *row)
{
    const struct oc_prof_rec *rec = row->record == OC_NONE ? NULL : &r->in->profile->rec[row->record];
    oc_key_array(w, "nodes");
    oc_jw_end_array(w);
    oc_key_text(w, "bucket", rec ? rec->bucket : "framework");
    oc_key_u64_if(w, "calls", rec, rec ? rec->calls : 0);
}

/* What the record of a row and its match say. */
static void row_record(struct oc_json_out *w, struct oc_report *r, const struct oc_row *row)
{
    const struct oc_join *j = r->in->join;
    const struct oc_prof_rec *rec = &r->in->profile->rec[row->record];
    record_part(w, r->in->profile, rec);
    match_part(w, rec, j ? &j->rec[row->record] : NULL);
    json_join_cost_part(w, r, row->record);
    oc_key_double(w, "achieved_flops_per_s", oc_row_flops(row));
    oc_key_double(w, "achieved_bytes_per_s", oc_row_bandwidth(row));
    if (j && j->sizes && !rec->bucket) {
        oc_jw_key(w, "sizes");
        oc_json_row_sizes(w, j, row->record);
    }
    limit_part(w, r, row);
}

void oc_json_rows(struct oc_json_out *w, struct oc_report *r)
{
    const struct oc_join *j = r->in->join;
    struct oc_explainer x;
    if (!oc_key_array_if(w, "rows", r->in->profile != NULL))
        return;
    if (j && r->o->n_explain_match)
        oc_explainer_init(&x, j, &r->arena);
    for (uint32_t i = 0; i < r->shown.n; i++) {
        const struct oc_row *row = &r->shown.row[i];
        oc_jw_begin_object(w);
        oc_key_text(w, "name", row->name);
        oc_key_text(w, "op_type", row->remainder ? NULL : oc_row_type(r, row));
        oc_key_bool(w, "remainder", row->remainder);
        oc_key_time(w, "time_ns", oc_ns_of(row->time_s));
        oc_key_double(w, "share", r->has_share ? row->share : row->time_s / r->total_s);
        oc_key_double(w, "calls_per_run", row->calls);
        if (row->remainder)
            row_remainder(w, r, row);
        else
            row_record(w, r, row);
        if (j && r->o->n_explain_match && !row->remainder && r->explained[row->record])
            oc_key_text(w, "explanation", oc_join_explain(&x, row->record));
        oc_jw_end_object(w);
    }
    if (j && r->o->n_explain_match)
        oc_explainer_free(&x);
    oc_jw_end_array(w);
}

/* Loading, excluded runs: time of the file that is part of no run. */
static void excluded(struct oc_json_out *w, const struct oc_profile *p)
{
    oc_key_array(w, "excluded");
    for (uint32_t i = 0; i < p->n_rec; i++) {
        const struct oc_prof_rec *rec = &p->rec[i];
        if (!rec->bucket || !oc_bucket_is_excluded(rec->bucket) || oc_equal(rec->bucket, "framework"))
            continue;
        oc_jw_begin_object(w);
        oc_key_text(w, "name", rec->name);
        oc_key_text(w, "bucket", rec->bucket);
        oc_key_time(w, "time_ns", isnan(rec->total_ns) ? rec->total_kernel_ns : rec->total_ns);
        oc_key_u64(w, "calls", rec->calls);
        oc_jw_end_object(w);
    }
    oc_jw_end_array(w);
}

void oc_json_measurement(struct oc_json_out *w, const struct oc_report *r)
{
    const struct oc_profile *p = r->in->profile;
    if (!oc_key_object_if(w, "measurement", p != NULL))
        return;
    oc_key_text(w, "statistic", oc_stat_name(p->stat));
    oc_key_u64(w, "runs_total", p->runs_total);
    oc_key_u64(w, "runs_used", p->runs_used);
    oc_key_u64(w, "runs_selected", p->runs_selected ? p->runs_selected : p->runs_used);
    oc_key_time(w, "latency_ns", r->m.latency_ns);
    oc_key_time(w, "total_ns", r->has_time ? r->m.total_ns : (double)NAN);
    oc_key_time(w, "overlap_ns", r->has_time ? r->m.overlap_ns : (double)NAN);
    oc_key_double(w, "spread", oc_run_spread_share(&p->spread));
    excluded(w, p);
    oc_jw_end_object(w);
}
