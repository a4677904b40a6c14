/* A diff as CSV and JSON: every row with both sides and the exact difference. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "write/fields.h"
#include "write/json_keys.h"
#include "write/out_diff.h"

static const char *suffixed(struct oc_fields *o, const char *key, const char *end)
{
    return oc_printf(&o->arena, "%s_%s", key, end);
}

/* Negative integers, which fields do not support. */
static void field_delta(struct oc_fields *o, const char *name, bool known, uint64_t a, uint64_t b)
{
    uint64_t size = b > a ? b - a : a - b;
    if (!known)
        oc_field_text(o, name, NULL);
    else if (b >= a)
        oc_field_u64(o, name, size);
    else if (!o->json)
        oc_field_text(o, name, oc_printf(&o->arena, "-%" PRIu64, size));
    else if (size <= (uint64_t)INT64_MAX) {
        oc_jw_key(o->json, name);
        oc_jw_i64(o->json, -(int64_t)size);
    } else {
        oc_field_double(o, name, -(double)size);
    }
}

static void field_time(struct oc_fields *o, const char *name, double ns)
{
    oc_field_double(o, name, fabs(ns) < 9e12 ? round(ns * 1e3) / 1e3 : ns);
}

/* ---- rows ---------------------------------------------------------------------------------------------- */

static void count_fields(struct oc_fields *o, const struct oc_diff_row *r, unsigned m)
{
    const char *key = oc_diff_metric_names[m].key;
    const uint64_t n[] = {r->side[0].count[m], r->side[1].count[m]};
    const bool known[] = {oc_diff_known(r, 0, m), oc_diff_known(r, 1, m)};
    for (unsigned s = 0; s < 2; s++)
        if (known[s])
            oc_field_u64(o, suffixed(o, key, s ? "b" : "a"), n[s]);
        else
            oc_field_text(o, suffixed(o, key, s ? "b" : "a"), NULL);
    field_delta(o, suffixed(o, key, "delta"), known[0] && known[1], n[0], n[1]);
}

static const char *changes(struct oc_fields *o, unsigned bits)
{
    static const char *const name[] = {"name",   "type",  "attributes", "inputs",
                                       "shapes", "types", "costs",      "fusion"};
    const char *text = "";
    for (unsigned i = 0; i < OC_COUNT(name); i++)
        if (bits >> i & 1)
            text = oc_printf(&o->arena, "%s%s%s", text, *text ? " " : "", name[i]);
    return text;
}

static void row_fields(struct oc_fields *o, const struct oc_diff_row *r)
{
    oc_field_text(o, "status", oc_diff_status_name(r->status));
    oc_field_text(o, "changes", changes(o, r->change));
    oc_field_text(o, "aligned_by", r->rule ? oc_align_rule_name(r->rule) : NULL);
    oc_field_text(o, "name_a", *r->name ? r->name : NULL);
    oc_field_text(o, "name_b", *r->name_b ? r->name_b : NULL);
    oc_field_text(o, "op_type_a", *r->type ? r->type : NULL);
    oc_field_text(o, "op_type_b", *r->type_b ? r->type_b : NULL);
    oc_field_u64(o, "nodes_a", r->side[0].n_node);
    oc_field_u64(o, "nodes_b", r->side[1].n_node);
    for (unsigned m = 0; m < OC_DIFF_COUNTS; m++)
        count_fields(o, r, m);
    for (unsigned m = OC_DIFF_TIME; m <= OC_DIFF_ROOFLINE; m++) {
        bool time = m == OC_DIFF_TIME;
        field_time(o, time ? "time_a_ns" : "roofline_a_ns", time ? r->side[0].time_ns : r->side[0].roof_ns);
        field_time(o, time ? "time_b_ns" : "roofline_b_ns", time ? r->side[1].time_ns : r->side[1].roof_ns);
        field_time(o, time ? "time_delta_ns" : "roofline_delta_ns", oc_diff_delta(r, m));
    }
    oc_field_text(o, "what", r->what);
}

void oc_diff_csv(struct oc_diff_view *v, FILE *f)
{
    struct oc_fields o = {0};
    const struct oc_diff_row none = {.name = "", .name_b = "", .type = "", .type_b = ""};
    if (!v->n_row) {
        oc_fields_begin(&o);
        row_fields(&o, &none);
        oc_fields_head(&o);
    }
    for (uint32_t i = 0; i < v->n_row; i++) {
        oc_fields_begin(&o);
        row_fields(&o, &v->d->row[v->row[i]]);
        oc_fields_end(&o);
    }
    oc_fields_csv(&o, "1", f);
    oc_fields_free(&o);
}

/* ---- JSON ---------------------------------------------------------------------------------------------- */

static void side_json(struct oc_json_out *w, const struct oc_diff *d, unsigned s)
{
    const struct oc_report_in *in = &d->in[s];
    oc_jw_key(w, s ? "b" : "a");
    oc_jw_begin_object(w);
    oc_key_text(w, "model", *in->model->path ? in->model->path : NULL);
    oc_key_text(w, "profile", in->profile ? in->profile->path : NULL);
    oc_key_text(w, "hardware", in->device ? oc_device_info(in->device).id : NULL);
    oc_key_u64(w, "nodes", in->analysis->total.nodes);
    oc_key_u64(w, "unknown_nodes", in->analysis->total.unknown_nodes);
    oc_key_time(w, "run_time_ns", in->profile ? in->profile->run_ns : NAN);
    oc_jw_end_object(w);
}

static void total_json(struct oc_fields *o, const struct oc_diff_total *t, unsigned m)
{
    bool both = t->known[0] && t->known[1], sum = m <= OC_DIFF_ROOFLINE;
    oc_jw_key(o->json, oc_diff_metric_names[m].key);
    oc_fields_begin(o);
    oc_field_text(o, "unit", t->is_time ? "ns" : oc_diff_metric_names[m].bytes ? "B" : "1");
    if (t->is_time) {
        field_time(o, "a", t->v[0]);
        field_time(o, "b", t->v[1]);
        field_time(o, "delta", t->unknown_rows ? NAN : t->v[1] - t->v[0]);
    } else {
        oc_key_u64_if(o->json, "a", t->known[0], t->n[0]);
        oc_key_u64_if(o->json, "b", t->known[1], t->n[1]);
        field_delta(o, "delta", both && !t->unknown_rows, t->n[0], t->n[1]);
    }
    if (sum && t->is_time)
        field_time(o, "rows_delta", both ? t->rows_delta_v : NAN);
    else if (sum)
        field_delta(o, "rows_delta", both, t->rows_negative ? t->rows_delta : 0,
                    t->rows_negative ? 0 : t->rows_delta);
    if (sum)
        oc_field_u64(o, "unknown_rows", t->unknown_rows);
    oc_fields_end(o);
}

static void types_json(struct oc_fields *o, const struct oc_diff *d)
{
    oc_jw_key(o->json, "types");
    oc_jw_begin_array(o->json);
    for (uint32_t i = 0; i < d->n_type; i++) {
        const struct oc_diff_type *t = &d->type[i];
        oc_fields_begin(o);
        oc_field_text(o, "op_type", t->bucket ? NULL : t->name);
        oc_field_text(o, "bucket", t->bucket ? t->name : NULL);
        oc_field_u64(o, "nodes_a", t->nodes[0]);
        oc_field_u64(o, "nodes_b", t->nodes[1]);
        for (unsigned m = 0; m < OC_DIFF_COUNTS; m++) {
            bool known = m == OC_DIFF_PARAMS || (!t->n_unknown[0] && !t->n_unknown[1]);
            field_delta(o, suffixed(o, oc_diff_metric_names[m].key, "delta"), known, t->count[0][m],
                        t->count[1][m]);
        }
        field_time(o, "time_a_ns", t->time_ns[0]);
        field_time(o, "time_b_ns", t->time_ns[1]);
        field_time(o, "roofline_a_ns", t->roof_ns[0]);
        field_time(o, "roofline_b_ns", t->roof_ns[1]);
        oc_fields_end(o);
    }
    oc_jw_end_array(o->json);
}

static void list_json(struct oc_fields *o, const char *key, const struct oc_diff_row *row,
                      const uint32_t *index, uint32_t n)
{
    oc_jw_key(o->json, key);
    oc_jw_begin_array(o->json);
    for (uint32_t i = 0; i < n; i++) {
        oc_fields_begin(o);
        row_fields(o, &row[index ? index[i] : i]);
        oc_fields_end(o);
    }
    oc_jw_end_array(o->json);
}

void oc_diff_json(struct oc_diff_view *v, FILE *f)
{
    const struct oc_diff *d = v->d;
    struct oc_json_out w = {.f = f, .pretty = true};
    struct oc_fields o = {.json = &w};
    oc_jw_begin_object(&w);
    oc_json_head(&w, "onnxcost.diff", 1, NULL);
    side_json(&w, d, 0);
    side_json(&w, d, 1);
    oc_jw_key(&w, "different");
    oc_jw_bool(&w, d->info.different);
    oc_jw_key(&w, "rows_by_status");
    oc_jw_begin_object(&w);
    oc_key_u64(&w, "same", d->info.same);
    oc_key_u64(&w, "renamed", d->info.renamed);
    oc_key_u64(&w, "changed", d->info.changed);
    oc_key_u64(&w, "added", d->info.added);
    oc_key_u64(&w, "removed", d->info.removed);
    oc_jw_end_object(&w);
    oc_jw_key(&w, "totals");
    oc_jw_begin_object(&w);
    for (unsigned m = 0; m < OC_DIFF_METRICS; m++)
        total_json(&o, &d->total[m], m);
    oc_jw_end_object(&w);
    types_json(&o, d);
    list_json(&o, "rows", d->row, v->row, v->n_row);
    list_json(&o, "beside_the_runs", d->beside, NULL, d->n_beside);
    oc_jw_end_object(&w);
    fputc('\n', f);
    oc_fields_free(&o);
}
