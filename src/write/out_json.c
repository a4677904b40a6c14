/* The report as JSON: model, totals, nodes. */
#include <math.h>

#include "onnxcost.h"
#include "onnxcost/hardware.h"
#include "onnxcost/report.h"
#include "report/columns.h"
#include "report/headline.h"
#include "report/names.h"
#include "report/report.h"
#include "write/report_write.h"
#include "write/tables/json_keys.h"

/* report.schema.json describes the layout. Unknown is null. */
enum { JSON_VERSION = 2 };

/* ---- types and values ------------------------------------------------------------------------------- */

static const char *type_name(struct oc_report *r, const struct oc_type *t)
{
    static const char *const wrap[] = {
        [OC_T_SEQUENCE] = "sequence", [OC_T_OPTIONAL] = "optional", [OC_T_MAP] = "map"};
    if (t->kind == OC_T_NONE)
        return NULL;
    if (t->kind == OC_T_TENSOR || t->kind == OC_T_SPARSE || !t->elem)
        return oc_dtype_info(t->dtype)->name;
    const char *inner = type_name(r, t->elem);
    return oc_printf(&r->arena, "%s(%s)", wrap[t->kind], inner ? inner : "?");
}

static void json_shape(struct oc_json_out *w, struct oc_report *r, const struct oc_type *t)
{
    struct oc_exprs *x = r->in->analysis->exprs;
    if (!oc_key_array_if(w, "shape", t->kind == OC_T_TENSOR && t->shape.ranked))
        return;
    for (unsigned i = 0; i < t->shape.rank; i++) {
        struct oc_dim d = t->shape.dim[i];
        if (oc_is_known(d)) {
            oc_jw_i64(w, d.v);
            continue;
        }
        oc_jw_begin_object(w);
        oc_key_text(w, "origin", oc_dim_text(x, d));
        int64_t max = oc_dim_max_value(x, d);
        oc_key_u64_if(w, "max", max >= 0, (uint64_t)max);
        oc_jw_end_object(w);
    }
    oc_jw_end_array(w);
}

static void json_value(struct oc_json_out *w, struct oc_report *r, uint32_t id)
{
    static const uint8_t of_state[] = {[OC_V_UNKNOWN] = OC_UNKNOWN,
                                       [OC_V_STATIC] = OC_EXACT,
                                       [OC_V_BOUNDED] = OC_UPPER,
                                       [OC_V_DECLARED] = OC_EST,
                                       [OC_V_RANK_ONLY] = OC_UNKNOWN};
    const struct oc_analysis *a = r->in->analysis;
    if (id == OC_NONE) {
        oc_jw_null(w);
        return;
    }
    oc_jw_begin_object(w);
    oc_key_text(w, "name", a->model->value[id].name);
    oc_key_text(w, "dtype", type_name(r, &a->type[id]));
    json_shape(w, r, &a->type[id]);
    oc_key_quality(w, of_state[a->value_state[id]]);
    oc_jw_end_object(w);
}

static void json_values(struct oc_json_out *w, struct oc_report *r, const char *key, const uint32_t *id,
                        uint32_t n)
{
    oc_key_array(w, key);
    for (uint32_t i = 0; i < n; i++)
        json_value(w, r, id[i]);
    oc_jw_end_array(w);
}

/* Graph inputs that the caller provides: those without an initializer. */
static void inputs(struct oc_json_out *w, struct oc_report *r, const struct oc_graph *g)
{
    oc_key_array(w, "inputs");
    for (uint32_t i = 0; i < g->n_input; i++)
        if (!r->in->model->value[g->input[i]].constant)
            json_value(w, r, g->input[i]);
    oc_jw_end_array(w);
}

/* ---- parts ------------------------------------------------------------------------------------------ */

static void model(struct oc_json_out *w, struct oc_report *r)
{
    const struct oc_model *m = r->in->model;
    if (!oc_key_object_if(w, "model", m != NULL))
        return;
    oc_key_text(w, "path", m->path);
    oc_key_i64(w, "ir_version", m->ir_version);
    oc_key_text(w, "producer",
                oc_printf(&r->arena, "%s%s%s", m->producer_name ? m->producer_name : "",
                          m->producer_version && *m->producer_version ? " " : "",
                          m->producer_version ? m->producer_version : ""));
    oc_key_object(w, "opsets");
    for (uint32_t i = 0; i < m->n_opset; i++) {
        oc_key_i64(w, m->opset[i].domain, m->opset[i].version);
    }
    oc_jw_end_object(w);
    inputs(w, r, &m->graph[0]);
    json_values(w, r, "outputs", m->graph[0].output, m->graph[0].n_output);
    oc_key_u64(w, "nodes", r->in->analysis->total->nodes);
    oc_key_u64(w, "functions", m->n_function);
    oc_jw_end_object(w);
}

static void json_assumptions(struct oc_json_out *w, struct oc_report *r)
{
    const struct oc_analysis *a = r->in->analysis;
    oc_key_array(w, "assumptions");
    for (uint32_t i = 0; a && i < a->n_assumption; i++) {
        oc_json_assumption(w, &a->assumption[i]);
    }
    oc_hw_set_json(w, r->in->device ? oc_device_info(r->in->device) : NULL);
    oc_jw_end_array(w);
}

static void json_peak(struct oc_json_out *w, const struct oc_report *r)
{
    const struct oc_peak *p = r->in->analysis ? &r->in->analysis->peak : NULL;
    bool known = p && p->quality != OC_UNKNOWN && p->node != OC_NONE;
    oc_key_u64_if(w, "peak_activation_bytes", known, known ? p->bytes : 0);
    oc_key_u64_if(w, "peak_activation_node", known, known ? p->node : 0);
    oc_key_u64_if(w, "lower_activation_bytes", known, known ? p->lower_bytes : 0);
}

static void json_totals(struct oc_json_out *w, struct oc_report *r)
{
    bool known = r->in->analysis != NULL;
    struct oc_totals t = known ? *r->in->analysis->total : (struct oc_totals){.quality = OC_UNKNOWN};
    struct oc_headline h;
    oc_headline_of(r, &h);
    oc_key_object(w, "totals");
    oc_key_u64_if(w, "nodes", known, t.nodes);
    oc_key_u64_if(w, "unknown_nodes", known, t.unknown_nodes);
    oc_key_u64_if(w, "macs", known && oc_sum_known(&t, t.macs, t.macs_exact), t.macs);
    oc_key_u64_if(w, "flops", known && oc_sum_known(&t, t.flops, t.work_exact), t.flops);
    if (known && r->in->analysis->counting->convention)
        oc_key_text(w, "convention", r->in->analysis->counting->convention);
    oc_key_u64_if(w, "ops", known && oc_sum_known(&t, t.ops, t.work_exact), t.ops);
    oc_key_u64_if(w, "params", known, t.params);
    oc_key_u64_if(w, "params_all", known, t.params_all);
    oc_key_u64_if(w, "params_computed", known, t.params_computed);
    oc_key_u64_if(w, "const_bytes", known, t.const_bytes);
    oc_key_u64_if(w, "const_bytes_computed", known, t.const_bytes_computed);
    oc_key_u64_if(w, "bytes_read_act", known && oc_sum_known(&t, t.bytes_read_act, false), t.bytes_read_act);
    oc_key_u64_if(w, "bytes_read_weight", known && oc_sum_known(&t, t.bytes_read_weight, false),
                  t.bytes_read_weight);
    oc_key_u64_if(w, "bytes_written", known && oc_sum_known(&t, t.bytes_written, false), t.bytes_written);
    json_peak(w, r);
    oc_key_time(w, "time_ns", h.total_ns);
    oc_key_double(w, "achieved_flops_per_s", h.flops_per_s);
    oc_key_double(w, "achieved_ops_per_s", h.ops_per_s);
    oc_key_double(w, "achieved_bytes_per_s", h.bytes_per_s);
    oc_key_quality_of(w, "achieved_flops_quality",
                      isnan(h.flops_per_s + h.ops_per_s) ? OC_UNKNOWN : h.flops_quality);
    oc_key_quality_of(w, "achieved_bytes_quality", isnan(h.bytes_per_s) ? OC_UNKNOWN : h.bytes_quality);
    oc_key_double(w, "operator_flops_per_s", h.operator_flops_per_s);
    oc_key_double(w, "inferences_per_s", h.inferences_per_s);
    oc_key_quality(w, t.quality);
    oc_key_object(w, "not_exact");
    oc_key_u64_if(w, "nodes", known, t.not_exact.nodes);
    oc_key_u64_if(w, "macs", known, t.not_exact.macs);
    oc_key_u64_if(w, "flops", known, t.not_exact.flops);
    oc_key_u64_if(w, "ops", known, t.not_exact.ops);
    oc_key_u64_if(w, "bytes", known, t.not_exact.bytes);
    oc_jw_end_object(w);
    oc_key_object(w, "at_least");
    oc_key_u64_if(w, "macs", known, t.least.macs);
    oc_key_u64_if(w, "flops", known, t.least.flops);
    oc_key_u64_if(w, "ops", known, t.least.ops);
    oc_key_u64_if(w, "bytes", known, t.least.bytes);
    oc_jw_end_object(w);
    oc_jw_end_object(w);
}

/* ---- nodes ------------------------------------------------------------------------------------------ */

static void json_histogram(struct oc_json_out *w, const struct oc_node_cost *k)
{
    if (!oc_key_object_if(w, "hist", k->quality != OC_UNKNOWN))
        return;
    for (unsigned p = 0; p < OC_PRIM_COUNT; p++) {
        uint64_t n = 0;
        for (unsigned i = 0; i < k->n_hist; i++)
            n += k->hist[i].prim == p ? k->hist[i].n : 0;
        if (n)
            oc_key_u64(w, oc_prim_name(p), n);
    }
    oc_jw_end_object(w);
}

static void node_costs(struct oc_json_out *w, const struct oc_node_cost *k)
{
    bool known = k->quality != OC_UNKNOWN;
    uint64_t moved = k->rd_act + k->rd_wt + k->wr;
    oc_key_u64_if(w, "macs", known, k->macs);
    oc_key_u64_if(w, "flops", known, k->flops);
    oc_key_u64_if(w, "ops", known, k->ops);
    json_histogram(w, k);
    oc_key_text(w, "mac_class", known && k->mac_class ? oc_class_name(k->mac_class) : NULL);
    oc_key_text(w, "rest_class", known && k->rest_class ? oc_class_name(k->rest_class) : NULL);
    oc_key_u64_if(w, "params", known, k->params);
    oc_key_u64_if(w, "bytes_read_act", known, k->rd_act);
    oc_key_u64_if(w, "bytes_read_weight", known, k->rd_wt);
    oc_key_u64_if(w, "bytes_written", known, k->wr);
    oc_key_double(w, "intensity", known && moved ? ((double)k->flops + (double)k->ops) / (double)moved : NAN);
}

/* Times and limits are those of the node's row, if the row covers only this node. */
static void node_times(struct oc_json_out *w, const struct oc_report *r, const struct oc_row *row)
{
    struct oc_row none = oc_row_blank();
    const struct oc_row *limited = row;
    row = row ? row : &none;
    oc_key_double(w, "time_ns", oc_ns_of(row->time_s));
    oc_key_double(w, "calls_per_run", row->calls);
    oc_key_double(w, "time_min_ns", oc_ns_of(row->min_s));
    oc_key_double(w, "time_max_ns", oc_ns_of(row->max_s));
    oc_key_double(w, "achieved_flops_per_s", oc_row_flops(row));
    oc_key_double(w, "achieved_bytes_per_s", oc_row_bandwidth(row));
    oc_key_text(w, "bound_by", row->bound_by);
    oc_key_double(w, "roofline_time_ns", oc_ns_of(row->roofline_s));
    oc_key_double(w, "roofline_efficiency", row->efficiency);
    oc_key_text(w, "above_roofline", row->above_roof);
    oc_json_limits(w, r, limited);
    if (r->what_if)
        oc_key_double(w, "what_if_time_ns", oc_ns_of(row->what_if_s));
    oc_key_null(w, "estimate");
}

static void json_origin(struct oc_json_out *w, struct oc_report *r, uint32_t node)
{
    struct oc_origin from;
    if (!r->in->model->has_origins)
        return;
    oc_node_origin(r->in->model, node, &r->arena, &from);
    oc_key_text(w, "module", from.module);
    oc_key_text(w, "module_class", from.module_class);
    oc_key_text(w, "source_line", from.source);
}

static void json_node(struct oc_json_out *w, struct oc_report *r, uint32_t i, const struct oc_row *row)
{
    uint32_t at = oc_json_row_of_node(r, i);
    const struct oc_model *m = r->in->model;
    const struct oc_node *n = &m->node[i];
    const struct oc_node_cost *k = &r->in->analysis->cost[i];
    char label[512];
    oc_jw_begin_object(w);
    oc_key_u64(w, "index", i);
    oc_key_text(w, "name", oc_node_label(m, n, label, sizeof(label)));
    oc_key_text(w, "op_type", n->op_type);
    oc_key_text(w, "domain", n->domain);
    oc_key_text(w, "scope", m->graph[n->graph].scope);
    json_origin(w, r, i);
    oc_key_u64(w, "trips", k->trips);
    oc_key_quality(w, k->quality);
    oc_key_bool(w, "folded", k->state == OC_NODE_FOLDED);
    json_values(w, r, "inputs", n->in, n->n_in);
    json_values(w, r, "outputs", n->out, n->n_out);
    node_costs(w, k);
    node_times(w, r, row);
    oc_key_u64_if(w, "row", at != OC_NONE, at);
    oc_jw_end_object(w);
}

/* In a report with selected rows: the nodes of these rows, in row order. A row of fused nodes has several. */
static void chosen_nodes(struct oc_json_out *w, struct oc_report *r)
{
    bool *told = OC_NEW_ARRAY(&r->arena, r->in->model->n_node, bool); /* several rows may cover one node */
    for (uint32_t i = 0; i < r->shown.n; i++) {
        const struct oc_row *row = &r->shown.row[i];
        const struct oc_join_rec *j =
            r->in->join && row->record != OC_NONE ? &r->in->join->rec[row->record] : NULL;
        const uint32_t *id = j ? j->node : &row->node;
        uint32_t n = j ? j->n_node : row->node != OC_NONE;
        for (uint32_t k = 0; k < n; k++) {
            uint32_t own = j ? r->in->join->node_rec[id[k]] : OC_NONE; /* the record with its time */
            bool elsewhere = j && own != row->record && r->place[own] != OC_NONE;
            if (told[id[k]] || elsewhere)
                continue;
            told[id[k]] = true;
            json_node(w, r, id[k], n == 1 && (!j || own == row->record) ? row : NULL);
        }
    }
}

static void nodes(struct oc_json_out *w, struct oc_report *r)
{
    oc_key_array(w, "nodes");
    if (r->in->analysis && oc_json_narrowed(r)) {
        chosen_nodes(w, r);
    } else if (r->in->analysis) {
        const struct oc_row **row = OC_NEW_ARRAY(&r->arena, r->in->model->n_node, const struct oc_row *);
        const struct oc_join *j = r->in->join;
        for (uint32_t i = 0; i < r->all.n; i++) {
            const struct oc_row *one = &r->all.row[i];
            if (one->node != OC_NONE && (!j || j->node_rec[one->node] == one->record))
                row[one->node] = one;
        }
        for (uint32_t i = 0; i < r->in->model->n_node; i++)
            json_node(w, r, i, row[i]);
    }
    oc_jw_end_array(w);
}

/* ---- profile, warnings ------------------------------------------------------------------------------ */

/* Operator time per run: host time from the importer or summed over records; device time. */
static void profile_times(struct oc_json_out *w, const struct oc_profile *p)
{
    double host = NAN, device = NAN;
    for (uint32_t i = 0; i < p->n_rec; i++) {
        const struct oc_prof_rec *rec = &p->rec[i];
        if (rec->bucket)
            continue;
        if (!isnan(rec->host_ns))
            host = isnan(host) ? rec->host_ns : host + rec->host_ns;
        if (!isnan(rec->kernel_ns))
            device = isnan(device) ? rec->kernel_ns : device + rec->kernel_ns;
    }
    bool host_busy = !isnan(p->busy_ns) && !isnan(p->imported_ns) && !p->busy_on_device;
    oc_key_time(w, "host_time_ns", host_busy ? p->busy_ns : host);
    oc_key_time(w, "device_time_ns", isnan(device) && p->busy_on_device ? p->busy_ns : device);
}

static void json_profile(struct oc_json_out *w, struct oc_report *r)
{
    const struct oc_profile *p = r->in->profile;
    if (!oc_key_array_if(w, "profile", p != NULL))
        return;
    oc_jw_begin_object(w);
    oc_key_text(w, "path", p->path);
    oc_key_text(w, "format", p->format);
    oc_key_text(w, "producer", *p->producer ? p->producer : NULL);
    oc_key_text(w, "device", *p->device ? p->device : NULL);
    if (r->o->recorded_hw)
        oc_key_text(w, "recorded_hw", r->o->recorded_hw);
    if (p->event)
        oc_key_text(w, "event", p->event);
    oc_key_u64(w, "runs_total", p->runs_total);
    oc_key_u64(w, "runs_used", p->runs_used);
    oc_key_text(w, "runs_from", oc_runs_from_name(p->runs_from));
    oc_key_text(w, "runs_confidence", p->runs_confidence);
    if (p->runs_per_s > 0)
        oc_key_double(w, "throughput_runs_per_s", p->runs_per_s);
    oc_key_text(w, "statistic", oc_stat_name(p->stat));
    struct oc_headline h;
    oc_headline_of(r, &h);
    oc_key_time(w, "time_ns", h.total_ns);
    if (!isnan(h.energy_j)) {
        oc_key_double(w, "energy_j", h.energy_j);
        oc_key_quality_of(w, "energy_quality", h.energy_quality);
    }
    profile_times(w, p);
    oc_json_run_times(w, &p->spread);
    oc_jw_end_object(w);
    oc_jw_end_array(w);
}

/* Every figure of the device file, in base units. */
static void hardware(struct oc_json_out *w, struct oc_report *r)
{
    const struct oc_device *device = r->in->device;
    if (!oc_key_object_if(w, "hardware", device != NULL))
        return;
    const struct oc_device_info *d = oc_device_info(device);
    const struct oc_hw_figure *figure;
    size_t n = oc_device_figures(device, &figure);
    oc_key_text(w, "id", d->id);
    oc_key_text(w, "name", d->name);
    oc_key_text(w, "source_file", d->file);
    oc_key_u64(w, "rows_above_roofline", r->n_too_fast);
    oc_json_roofline(w, r);
    oc_key_array(w, "figures");
    for (size_t i = 0; i < n; i++) {
        oc_jw_begin_object(w);
        oc_key_text(w, "group", figure[i].group);
        oc_key_text(w, "what", figure[i].what);
        oc_key_double(w, "value", figure[i].value);
        oc_key_text(w, "unit", figure[i].unit);
        oc_key_text(w, "basis", oc_basis_name(figure[i].basis));
        oc_jw_end_object(w);
    }
    oc_jw_end_array(w);
    oc_jw_end_object(w);
}

static void json_anomalies(struct oc_json_out *w, struct oc_report *r, const struct oc_verdict *v)
{
    oc_key_array(w, "anomalies");
    for (uint32_t i = 0; i < v->n_anomaly; i++) {
        const struct oc_anomaly *a = &v->anomaly[i];
        oc_jw_begin_object(w);
        oc_key_text(w, "name", a->row->name);
        oc_key_text(w, "op_type", oc_row_type(r, a->row));
        oc_key_time(w, "time_ns", a->time_ns);
        oc_key_time(w, "expected_ns", a->expected_ns);
        oc_key_time(w, "expected_low_ns", a->low_ns);
        oc_key_time(w, "expected_high_ns", a->high_ns);
        oc_key_time(w, "lost_ns", a->lost_ns);
        oc_key_text(w, "class", a->class_name);
        oc_key_count(w, "peers", a->peers);
        oc_key_text(w, "cause", a->cause);
        oc_key_time(w, "gain_low_ns", a->gain_low_ns);
        oc_key_time(w, "gain_high_ns", a->gain_high_ns);
        oc_jw_end_object(w);
    }
    oc_jw_end_array(w);
}

/* "verdict": the parts sum to whole_ns */
static void json_verdict(struct oc_json_out *w, struct oc_report *r)
{
    struct oc_verdict v;
    oc_verdict_of(r, &v);
    if (!oc_key_object_if(w, "verdict", v.text != NULL))
        return;
    oc_key_text(w, "text", v.text);
    oc_key_time(w, "run_ns", v.run_ns);
    oc_key_time(w, "whole_ns", v.whole_ns);
    for (unsigned i = 0; i < OC_PART_COUNT; i++) {
        bool unknown = isnan(v.whole_ns) || (!r->in->device && i <= OC_PART_ABOVE);
        oc_key_time(w, oc_time_part_id_text[i], unknown ? (double)NAN : v.part[i].ns);
    }
    oc_key_array(w, "largest");
    for (uint32_t i = 0; i < v.n_largest; i++) {
        oc_jw_begin_object(w);
        oc_key_text(w, "name", v.largest[i].row->name);
        oc_key_text(w, "op_type", oc_row_type(r, v.largest[i].row));
        oc_key_time(w, "time_ns", v.largest[i].time_ns);
        oc_key_time(w, "above_roofline_ns", v.largest[i].gap_ns);
        oc_jw_end_object(w);
    }
    oc_jw_end_array(w);
    json_anomalies(w, r, &v);
    oc_jw_end_object(w);
}

static void json_findings(struct oc_json_out *w, const struct oc_report_in *in, unsigned source)
{
    const struct oc_diag *d = NULL;
    size_t n = oc_findings_of(in, source, &d);
    for (size_t i = 0; i < n; i++) {
        oc_jw_begin_object(w);
        oc_key_text(w, "severity", oc_severity_name(&d[i]));
        oc_key_text(w, "code", d[i].code);
        oc_key_text(w, "where", d[i].where);
        oc_key_text(w, "text", d[i].text);
        oc_jw_end_object(w);
    }
}

static void diagnostics(struct oc_json_out *w, const struct oc_report_in *in)
{
    oc_key_array(w, "diagnostics");
    for (unsigned source = 0; source < OC_FINDING_SOURCES; source++)
        json_findings(w, in, source);
    oc_jw_end_array(w);
}

/* The first member, if there is one. */
static void json_mismatches(struct oc_json_out *w, const struct oc_report *r)
{
    const char *text[OC_MAX_MISMATCHES];
    size_t n = oc_mismatches(r->in, text);
    if (!n)
        return;
    oc_key_array(w, "mismatch");
    for (size_t i = 0; i < n; i++)
        oc_jw_string(w, text[i]);
    oc_jw_end_array(w);
}

void oc_out_json(struct oc_report *r, FILE *f)
{
    struct oc_json_out w = {.f = f, .pretty = true};
    oc_jw_begin_object(&w);
    json_mismatches(&w, r);
    oc_json_head(&w, "onnxcost.report", JSON_VERSION, NULL);
    model(&w, r);
    json_assumptions(&w, r);
    oc_json_place_rows(r);
    json_totals(&w, r);
    nodes(&w, r);
    json_profile(&w, r);
    oc_json_measurement(&w, r);
    oc_json_rows(&w, r);
    if (r->in->join && r->in->join->sizes) {
        oc_jw_key(&w, "sizes");
        oc_json_sizes(&w, r->in->join->sizes);
    }
    oc_json_join(&w, r);
    oc_json_groups(&w, r);
    hardware(&w, r);
    json_verdict(&w, r);
    if (r->what_if) {
        oc_jw_key(&w, "what_if");
        oc_what_if_json(r->what_if, &w);
    }
    if (r->o->n_why) {
        oc_jw_key(&w, "receipts");
        oc_receipts_json(r->in, r->why, r->n_why, &r->arena, &w);
    }
    if (r->advice) {
        oc_jw_key(&w, "advice");
        oc_advice_json(r->advice, &w);
    }
    diagnostics(&w, r->in);
    oc_json_end(&w);
}
