/* A diff: the selection of its rows, the fused operators, rows as CSV and JSON with both sides and the exact
 * difference. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/map.h"
#include "join/join.h"
#include "write/commands/page_views.h"
#include "write/tables/html_page.h"
#include "write/tables/json_keys.h"

/* ---- fused operators -------------------------------------------------------------------------------- */

/* Which operators the runtime fused on each side of a diff: two optimization levels of one model. */

struct fusion {
    const char *name; /* "Conv+BatchNormalization+Relu" */
    uint32_t n[2];    /* records of each side */
};

struct fusions {
    struct oc_diff_view *v;
    struct fusion *list; /* heap */
    uint32_t n, cap;
    struct oc_map index;
};

static const char *fused_types(struct oc_arena *arena, const struct oc_model *m, const struct oc_join_rec *j)
{
    struct oc_buf b = {0};
    for (uint32_t i = 0; i < j->n_node; i++)
        oc_buf_printf(&b, "%s%s", i ? "+" : "", m->node[j->node[i]].op_type);
    const char *name = oc_strndup(arena, b.data, b.n);
    oc_buf_free(&b);
    return name;
}

static void add_side(struct fusions *f, unsigned side)
{
    const struct oc_report_in *in = &f->v->d->in[side];
    for (uint32_t i = 0; in->join && i < in->profile->n_rec; i++) {
        const struct oc_join_rec *j = &in->join->rec[i];
        uint32_t at = f->n;
        if (j->n_node < 2 || j->part_of != OC_NONE)
            continue;
        const char *name = fused_types(&f->v->arena, in->model, j);
        if (oc_map_add_kept(&f->index, name, strlen(name), &at)) {
            OC_GROW(f->list, f->n, f->cap);
            f->list[f->n++] = (struct fusion){.name = name};
        }
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a name in the map has its place */
        f->list[at].n[side]++;
    }
}

static uint32_t diff_data_distance(const struct fusion *f)
{
    return f->n[0] > f->n[1] ? f->n[0] - f->n[1] : f->n[1] - f->n[0];
}

/* The largest difference first. */
static int diff_data_by_difference(const void *a, const void *b)
{
    uint32_t x = diff_data_distance(a), y = diff_data_distance(b);
    return x != y ? (x < y) - (x > y)
                  : strcmp(((const struct fusion *)a)->name, ((const struct fusion *)b)->name);
}

void oc_diff_fusions(struct oc_diff_view *v, struct oc_table *t)
{
    struct fusions f = {.v = v, .index = {.arena = &v->arena}};
    *t = (struct oc_table){.kinds = "nnnt"};
    OC_ROW(t, "A", "B", "B - A", "fused operators");
    add_side(&f, 0);
    add_side(&f, 1);
    if (f.n)
        qsort(f.list, f.n, sizeof(*f.list), diff_data_by_difference);
    for (uint32_t i = 0; i < f.n && diff_data_distance(&f.list[i]); i++) {
        const struct fusion *one = &f.list[i];
        OC_ROW(t, oc_printf(&v->arena, "%u", one->n[0]), oc_printf(&v->arena, "%u", one->n[1]),
               oc_printf(&v->arena, "%+lld", (long long)one->n[1] - (long long)one->n[0]), one->name);
    }
    oc_map_free(&f.index);
    free(f.list);
}

/* ---- fields ----------------------------------------------------------------------------------------- */

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
        oc_key_i64(o->json, name, -(int64_t)size);
    } else {
        oc_field_double(o, name, -(double)size);
    }
}

static void field_time(struct oc_fields *o, const char *name, double ns)
{
    oc_field_double(o, name, fabs(ns) < 9e12 ? round(ns * 1e3) / 1e3 : ns);
}

/* ---- fields: rows ----------------------------------------------------------------------------------- */

static void diff_data_count_fields(struct oc_fields *o, const struct oc_diff_row *r, unsigned m)
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
    static const char *const name[] = {"name",  "type",  "attributes", "inputs", "shapes",
                                       "types", "costs", "fusion",     "kernels"};
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
    oc_field_text(o, "shapes_a", r->side[0].shapes && *r->side[0].shapes ? r->side[0].shapes : NULL);
    oc_field_text(o, "shapes_b", r->side[1].shapes && *r->side[1].shapes ? r->side[1].shapes : NULL);
    oc_field_text(o, "place", r->place);
    oc_field_u64(o, "nodes_a", r->side[0].n_node);
    oc_field_u64(o, "nodes_b", r->side[1].n_node);
    for (unsigned m = 0; m < OC_DIFF_COUNTS; m++)
        diff_data_count_fields(o, r, m);
    for (unsigned m = OC_DIFF_TIME; m <= OC_DIFF_ROOFLINE; m++) {
        bool time = m == OC_DIFF_TIME;
        field_time(o, time ? "time_a_ns" : "roofline_a_ns", time ? r->side[0].time_ns : r->side[0].roof_ns);
        field_time(o, time ? "time_b_ns" : "roofline_b_ns", time ? r->side[1].time_ns : r->side[1].roof_ns);
        field_time(o, time ? "time_delta_ns" : "roofline_delta_ns", oc_diff_delta(r, m));
    }
    bool judged = r->verdict != OC_COMPARED_INCONCLUSIVE;
    oc_field_double(o, "ratio", judged ? r->ratio : NAN);
    oc_field_text(o, "verdict", judged ? oc_compared_name(r->verdict) : NULL);
    oc_field_text(o, "what", r->what);
}

void oc_diff_row_fields(struct oc_fields *o, const void *view, size_t i)
{
    static const struct oc_diff_row none = {
        .name = "", .name_b = "", .type = "", .type_b = "", .verdict = OC_COMPARED_INCONCLUSIVE};
    const struct oc_diff_view *v = view;
    row_fields(o, i < v->n_row ? &v->d->row[v->row[i]] : &none);
}

static void beside_fields(struct oc_fields *o, const void *diff, size_t i)
{
    row_fields(o, &((const struct oc_diff *)diff)->beside[i]);
}

void oc_diff_csv(struct oc_diff_view *v, FILE *f)
{
    oc_row_list_csv(&OC_HEADED_ROWS(v->n_row, v, oc_diff_row_fields), f);
}

/* ---- JSON ------------------------------------------------------------------------------------------- */

static void side_json(struct oc_json_out *w, const struct oc_diff *d, unsigned s)
{
    const struct oc_report_in *in = &d->in[s];
    oc_key_object(w, s ? "b" : "a");
    oc_key_text(w, "model", in->model && *in->model->path ? in->model->path : NULL);
    oc_key_text(w, "profile", in->profile ? in->profile->path : NULL);
    oc_key_text(w, "hardware", in->device ? oc_device_info(in->device)->id : NULL);
    oc_key_u64_if(w, "nodes", in->model, in->model ? in->analysis->total->nodes : 0);
    oc_key_u64_if(w, "unknown_nodes", in->model, in->model ? in->analysis->total->unknown_nodes : 0);
    oc_key_time(w, "run_time_ns", d->total[OC_DIFF_LATENCY].v[s]);
    oc_key_text(w, "statistic", in->profile ? oc_stat_name(in->profile->stat) : NULL);
    oc_key_u64_if(w, "runs", in->profile, in->profile ? in->profile->runs_used : 0);
    oc_key_array(w, "recordings");
    for (size_t k = 0; in->profile && k < d->n_of[s]; k++)
        oc_jw_string(w, d->of[s][k].in.profile->path);
    oc_jw_end_array(w);
    oc_jw_end_object(w);
}

/* What the latencies of the two sides show. */
static void comparison_json(struct oc_json_out *w, const struct oc_comparison *c)
{
    bool known = !isnan(c->ratio);
    oc_key_double(w, "ratio", c->ratio);
    if (oc_key_array_if(w, "ratio_interval", known)) {
        oc_jw_double(w, c->low);
        oc_jw_double(w, c->high);
        oc_jw_end_array(w);
    }
    oc_key_double(w, "level", known ? OC_COMPARISON_LEVEL : NAN);
    oc_key_text(w, "verdict", known ? oc_compared_name(c->verdict) : NULL);
    oc_key_text(w, "order", known ? oc_recorded_order_name(c->order) : NULL);
    oc_key_double(w, "smallest_difference", c->smallest);
    oc_key_u64_if(w, "recordings_for_3_percent", known && c->needed, c->needed);
    oc_key_u64_if(w, "disturbed_recordings", known, c->disturbed);
    oc_key_u64_if(w, "short_recordings", known, c->brief);
}

/* The parts of the change: their sum is that of totals.latency, or of totals.time. */
static void parts_json(struct oc_json_out *w, const struct oc_decomposition *parts)
{
    const char *of = oc_diff_metric_names[parts->of].key;
    oc_key_text(w, "decomposition_of", parts->missing ? NULL : of);
    oc_key_text(w, "decomposition_missing", parts->missing);
    oc_key_array(w, "decomposition");
    for (uint32_t i = 0; i < parts->n; i++) {
        const struct oc_diff_part *p = &parts->part[i];
        oc_jw_begin_object(w);
        oc_key_text(w, "part", oc_diff_cause_name(p->cause));
        oc_key_text(w, "place", p->place);
        oc_key_time(w, "delta_ns", p->delta_ns);
        oc_key_u64(w, "rows", p->rows);
        oc_jw_end_object(w);
    }
    oc_jw_end_array(w);
}

/* The creation of the session or its first run; null where a recording has none. */
static void start_json(struct oc_json_out *w, const char *key, const struct oc_diff_start *x)
{
    if (!oc_key_object_if(w, key, !isnan(x->c.ratio)))
        return;
    oc_key_text(w, "unit", "ns");
    oc_key_time(w, "a", x->ns[0]);
    oc_key_time(w, "b", x->ns[1]);
    comparison_json(w, &x->c);
    oc_jw_end_object(w);
}

static void diff_data_total_json(struct oc_fields *o, const struct oc_diff *d, unsigned m)
{
    const struct oc_diff_total *t = &d->total[m];
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
    if (m == OC_DIFF_LATENCY)
        comparison_json(o->json, &d->latency);
    oc_fields_end(o);
}

void oc_diff_type_fields(struct oc_fields *o, const void *diff, size_t i)
{
    const struct oc_diff_type *t = &((const struct oc_diff *)diff)->type[i];
    oc_field_text(o, "op_type", t->bucket ? NULL : t->name);
    oc_field_text(o, "bucket", t->bucket ? t->name : NULL);
    oc_field_u64(o, "nodes_a", t->nodes[0]);
    oc_field_u64(o, "nodes_b", t->nodes[1]);
    for (unsigned m = 0; m < OC_DIFF_COUNTS; m++) {
        bool known = !t->unknown[0][m] && !t->unknown[1][m];
        field_delta(o, suffixed(o, oc_diff_metric_names[m].key, "delta"), known, t->count[0][m],
                    t->count[1][m]);
    }
    field_time(o, "time_a_ns", t->time_ns[0]);
    field_time(o, "time_b_ns", t->time_ns[1]);
    field_time(o, "time_delta_ns", oc_diff_type_delta(t, OC_DIFF_TIME));
    field_time(o, "roofline_a_ns", t->roof_ns[0]);
    field_time(o, "roofline_b_ns", t->roof_ns[1]);
    field_time(o, "roofline_delta_ns", oc_diff_type_delta(t, OC_DIFF_ROOFLINE));
}

void oc_diff_json(struct oc_diff_view *v, FILE *f)
{
    const struct oc_diff *d = v->d;
    struct oc_json_out w;
    struct oc_fields o = {.json = &w};
    oc_json_begin(&w, f, "onnxcost.diff", 1, NULL);
    side_json(&w, d, 0);
    side_json(&w, d, 1);
    oc_key_bool(&w, "different", d->info.different);
    oc_key_object(&w, "rows_by_status");
    oc_key_u64(&w, "same", d->info.same);
    oc_key_u64(&w, "renamed", d->info.renamed);
    oc_key_u64(&w, "changed", d->info.changed);
    oc_key_u64(&w, "added", d->info.added);
    oc_key_u64(&w, "removed", d->info.removed);
    oc_jw_end_object(&w);
    oc_key_object(&w, "totals");
    for (unsigned m = 0; m < OC_DIFF_METRICS; m++)
        diff_data_total_json(&o, d, m);
    oc_jw_end_object(&w);
    start_json(&w, "session", &d->start[OC_DIFF_SESSION]);
    start_json(&w, "first_run", &d->start[OC_DIFF_FIRST_RUN]);
    parts_json(&w, &d->parts);
    oc_row_list_json(&OC_ROWS(d->n_type, d, oc_diff_type_fields), "types", &w);
    oc_row_list_json(&OC_ROWS(v->n_row, v, oc_diff_row_fields), "rows", &w);
    oc_row_list_json(&OC_ROWS(d->n_beside, d, beside_fields), "beside_the_runs", &w);
    oc_json_end(&w);
    oc_fields_free(&o);
}

/* ---- selection -------------------------------------------------------------------------------------- */

enum { TOP = 20 };

const struct oc_metric_name oc_diff_metric_names[OC_DIFF_METRICS] = {
    [OC_DIFF_MACS] = {"macs", "MACs", false, false},
    [OC_DIFF_FLOPS] = {"flops", "FLOPs", false, false},
    [OC_DIFF_OPS] = {"ops", "int OPs", false, false},
    [OC_DIFF_BYTES] = {"bytes", "bytes", true, false},
    [OC_DIFF_PARAMS] = {"params", "parameters", false, false},
    [OC_DIFF_TIME] = {"time", "time", false, true},
    [OC_DIFF_ROOFLINE] = {"roofline", "roofline", false, true},
    [OC_DIFF_PEAK] = {"peak_activation_bytes", "peak memory, B", true, false},
    [OC_DIFF_WEIGHT_BYTES] = {"const_bytes", "weights, B", true, false},
    [OC_DIFF_LATENCY] = {"latency", "latency", false, true},
};

/* ---- selection: metrics ----------------------------------------------------------------------------- */

static bool differs(const struct oc_diff *d, unsigned m)
{
    const struct oc_diff_total *t = &d->total[m];
    return t->known[0] && t->known[1] &&
           (t->is_time ? t->v[0] != t->v[1] : t->n[0] != t->n[1] || t->rows_delta);
}

static bool somewhere(const struct oc_diff *d, unsigned m)
{
    const struct oc_diff_total *t = &d->total[m];
    if (t->is_time)
        return t->known[0] || t->known[1];
    /* integer operations are rare: unknown counts are visible in the other metrics */
    return t->n[0] || t->n[1] || !t->known[0] || (t->unknown_rows && m != OC_DIFF_OPS);
}

static bool has_rows(const struct oc_diff *d, unsigned m)
{
    bool any = false;
    for (uint32_t i = 0; i < d->n_row && !any; i++)
        any = oc_diff_delta(&d->row[i], m) != 0; /* or unknown */
    return any;
}

/* ---- selection: order ------------------------------------------------------------------------------- */

struct placed {
    double size;
    uint32_t i;
};

static int diff_data_largest_first(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    if (x->size != y->size)
        return x->size > y->size ? -1 : 1;
    return (x->i > y->i) - (x->i < y->i);
}

/* Unknown differences sort before known ones. */
static double diff_data_size_of(const struct oc_diff_row *r, unsigned metric)
{
    double delta = oc_diff_delta(r, metric);
    bool asked = metric < OC_DIFF_COUNTS || !isnan(r->side[0].time_ns) || !isnan(r->side[0].roof_ns);
    return isnan(delta) ? (asked ? INFINITY : 0) : fabs(delta);
}

static void diff_data_sort_rows(struct oc_diff_view *v, unsigned metric)
{
    struct placed *p = oc_xmalloc(((size_t)v->n_row + 1) * sizeof(*p));
    for (uint32_t i = 0; i < v->n_row; i++)
        p[i] = (struct placed){diff_data_size_of(&v->d->row[v->row[i]], metric), v->row[i]};
    qsort(p, v->n_row, sizeof(*p), diff_data_largest_first);
    for (uint32_t i = 0; i < v->n_row; i++)
        v->row[i] = p[i].i;
    free(p);
}

static int unknown_order(const char *sort, struct oc_err *err)
{
    const char *names[OC_DIFF_ROOFLINE + 2];
    for (unsigned m = 0; m <= OC_DIFF_ROOFLINE; m++)
        names[m] = oc_diff_metric_names[m].key;
    names[OC_DIFF_ROOFLINE + 1] = "order";
    return oc_fail_unknown(
        err, OC_EARG,
        &(struct oc_unknown){
            .what = "key", .where = "for --order-by", .given = sort, .valid = names, .n = OC_COUNT(names)});
}

static int diff_data_find_order(const struct oc_diff_view *v, bool whole, unsigned *metric,
                                struct oc_err *err)
{
    static const unsigned usual[] = {OC_DIFF_TIME,  OC_DIFF_ROOFLINE, OC_DIFF_MACS,
                                     OC_DIFF_BYTES, OC_DIFF_FLOPS,    OC_DIFF_PARAMS};
    const char *sort = v->o->sort;
    *metric = OC_DIFF_METRICS;
    if (sort) {
        for (unsigned m = 0; m <= OC_DIFF_ROOFLINE; m++)
            if (strcmp(oc_diff_metric_names[m].key, sort) == 0)
                *metric = m;
        return *metric < OC_DIFF_METRICS || strcmp(sort, "order") == 0 ? 0 : unknown_order(sort, err);
    }
    for (size_t i = OC_COUNT(usual); i-- > 0 && !whole;)
        if (differs(v->d, usual[i]))
            *metric = usual[i];
    return 0;
}

/* ---- selection: rows -------------------------------------------------------------------------------- */

bool oc_diff_is_news(const struct oc_diff_row *r)
{
    for (unsigned m = 0; m <= OC_DIFF_ROOFLINE; m++) {
        double delta = oc_diff_delta(r, m);
        if (!isnan(delta) && delta != 0)
            return true;
    }
    return r->status != OC_DIFF_SAME && r->status != OC_DIFF_BUCKET;
}

static uint32_t top_of(const struct oc_diff_view *v, bool whole)
{
    bool page = v->o->format && (strcmp(v->o->format, "html") == 0 || oc_is_fragment(v->o->format));
    int64_t top = v->o->has_top ? v->o->top : whole || page ? 0 : TOP;
    uint32_t n = v->n_wanted;
    if (top == 0)
        return n;
    if (top < 0)
        return (uint64_t)-top < n ? n - (uint32_t)-top : 0;
    return (uint64_t)top < n ? (uint32_t)top : n;
}

int oc_diff_view_make(struct oc_diff_view *v, const struct oc_diff *d, const struct oc_diff_write_opts *o,
                      bool whole, struct oc_err *err)
{
    unsigned metric;
    *v = (struct oc_diff_view){.d = d, .o = o};
    if (diff_data_find_order(v, whole, &metric, err))
        return -1;
    for (unsigned m = 0; m < OC_DIFF_METRICS; m++)
        v->has[m] = somewhere(d, m) && (!d->by_name || d->total[m].known[0] || d->total[m].known[1]);
    for (unsigned m = 0; m <= OC_DIFF_ROOFLINE; m++)
        v->column[m] = v->has[m] && has_rows(d, m);
    const struct oc_diff_total *latency = &d->total[OC_DIFF_LATENCY];
    if (latency->known[0] && latency->known[1])
        v->has[OC_DIFF_TIME] = false; /* the rows add up to the latency, which has its own line */
    v->row = OC_NEW_ARRAY(&v->arena, (size_t)d->n_row + 1, uint32_t);
    for (uint32_t i = 0; i < d->n_row; i++) {
        bool structure = d->row[i].status != OC_DIFF_SAME && d->row[i].status != OC_DIFF_BUCKET;
        bool unshown = !whole && !structure && d->row[i].verdict == OC_COMPARED_SAME;
        v->n_unshown += unshown;
        if (whole || (!unshown && oc_diff_is_news(&d->row[i])))
            v->row[v->n_row++] = i;
    }
    v->n_wanted = v->n_row;
    if (metric < OC_DIFF_METRICS)
        diff_data_sort_rows(v, metric);
    v->n_row = top_of(v, whole);
    return 0;
}

void oc_diff_view_free(struct oc_diff_view *v)
{
    oc_arena_free(&v->arena);
}
