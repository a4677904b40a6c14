#include "fleet/scan.h"

#include <math.h>
#include <string.h>

#include "analyze/analysis.h"
#include "base/map.h"
#include "base/units.h"
#include "hw/hwdb.h"
#include "join/join.h"
#include "onnxcost/report.h"
#include "profile/profile.h"
#include "report/columns.h"
#include "report/headline.h"
#include "report/report.h"

static void make_report(const struct oc_report_in *in, const struct oc_report_opts *opts, struct oc_report *r)
{
    *r = (struct oc_report){
        .in = in, .o = opts, .runs = in->profile ? oc_profile_summed_runs(in->profile) : 1};
    oc_report_rows(r);
    oc_report_roofs(r);
    oc_report_count_runs(r);
    r->shown = r->all;
    oc_report_finish(r);
}

static const char *device_name(const struct oc_report_in *in)
{
    return in->device ? oc_device_info(in->device)->id : NULL;
}

static const char *text_or_null(const char *s)
{
    return s && *s ? s : NULL;
}

/* Names a cell of a packed row and sets it. */
struct row_cells {
    const struct oc_cell_table *table;
    struct oc_datum cell[OC_SCAN_COLUMNS];
};

static void set(struct row_cells *c, const char *name, struct oc_datum value)
{
    for (size_t i = 0; i < c->table->n; i++)
        if (!strcmp(c->table->column[i].name, name))
            c->cell[i] = value;
}

static void set_text(struct row_cells *c, const char *name, const char *s)
{
    set(c, name, oc_datum_text(text_or_null(s)));
}

static void set_number(struct row_cells *c, const char *name, double v)
{
    set(c, name, oc_datum_number(v));
}

static void set_ns(struct row_cells *c, const char *name, double ns)
{
    set(c, name, oc_datum_number(oc_rounded_ns(ns)));
}

static void set_u64(struct row_cells *c, const char *name, uint64_t v)
{
    set(c, name, oc_datum_u64(v));
}

/* ---- operators -------------------------------------------------------------------------------------- */

/* The column of reports for each packed cell; NULL: none. */
static void find_columns(const struct oc_cell_table *t, const struct oc_column **column)
{
    for (size_t i = 0; i < t->n; i++) {
        const char *key = strcmp(t->column[i].name, "gap_ns") ? t->column[i].name : "wasted_ns";
        column[i] = NULL;
        for (size_t k = 0; k < oc_n_columns && !column[i]; k++)
            if ((oc_columns[k].use & OC_COL_CSV) && !strcmp(oc_columns[k].key, key))
                column[i] = &oc_columns[k];
    }
}

/* A count that is not whole, such as a mean over runs of different sizes, is unknown as an integer. */
static struct oc_datum cell_of(unsigned kind, const struct oc_column *column, const struct oc_line *line)
{
    struct oc_field f = oc_field_of(column, line);
    if (kind == OC_DATUM_TEXT)
        return oc_datum_text(text_or_null(f.text));
    double v = column->kind == OC_FIELD_TIME ? oc_ns_of(f.number) : f.number;
    if (kind == OC_DATUM_DOUBLE)
        return oc_datum_number(f.whole ? (double)f.whole : v);
    if (f.whole)
        return oc_datum_u64(f.whole);
    bool whole = v >= 0 && v < 0x1p53 && v == floor(v);
    return whole ? oc_datum_u64((uint64_t)v) : (struct oc_datum){.known = false};
}

void oc_scan_pack_nodes(const struct oc_scan_source *source, struct oc_buf *out)
{
    const struct oc_report_opts opts = {.cache = true};
    const struct oc_column *column[OC_SCAN_COLUMNS] = {NULL};
    struct row_cells c = {.table = &oc_scan_nodes.packed};
    struct oc_report r;
    struct oc_arena scratch = {0};
    make_report(&source->in, &opts, &r);
    find_columns(c.table, column);
    set_text(&c, "model", source->model);
    set_text(&c, "device", device_name(&source->in));
    for (struct oc_line l = {.r = &r, .arena = &scratch}; oc_line_next(&l);) {
        uint32_t node = oc_row_node(&r, l.row);
        for (size_t i = 0; i < c.table->n; i++)
            if (column[i])
                c.cell[i] = cell_of(c.table->column[i].kind, column[i], &l);
        set(&c, "node", (struct oc_datum){.known = node != OC_NONE, .as.u64 = node});
        oc_cells_pack(c.table, c.cell, out);
        oc_arena_free(&scratch);
    }
    oc_arena_free(&r.arena);
}

/* ---- profiles --------------------------------------------------------------------------------------- */

enum { TOP_TYPES = 3 };

struct type_times {
    struct oc_arena arena;
    struct oc_map of;
    struct type_time {
        const char *type;
        double part; /* of the time, or of the samples, of all rows */
    } * item;
};

static void add_types(const struct oc_report *r, struct type_times *t)
{
    t->of.arena = &t->arena;
    t->item = OC_NEW_ARRAY(&t->arena, r->all.n + 1, struct type_time);
    for (uint32_t i = 0; i < r->all.n; i++) {
        const struct oc_row *row = &r->all.row[i];
        double part = r->has_share ? row->share : row->time_s / r->total_s;
        uint32_t id = t->of.n;
        if (isnan(part) || !row->type || !*row->type)
            continue;
        if (oc_map_add(&t->of, row->type, strlen(row->type), &id, NULL))
            t->item[id] = (struct type_time){.type = row->type};
        t->item[id].part += part;
    }
}

static void set_top_types(struct row_cells *c, const struct oc_report *r)
{
    struct type_times t = {.item = NULL};
    char name[32];
    add_types(r, &t);
    for (unsigned rank = 1; rank <= TOP_TYPES; rank++) {
        struct type_time *best = NULL;
        for (uint32_t i = 0; i < t.of.n; i++)
            if (t.item[i].part > 0 && (!best || t.item[i].part > best->part))
                best = &t.item[i];
        if (!best)
            break;
        snprintf(name, sizeof(name), "top_type_%u", rank);
        set_text(c, name, best->type);
        snprintf(name, sizeof(name), "top_fraction_%u", rank);
        set_number(c, name, best->part);
        best->part = 0;
    }
    oc_map_free(&t.of);
    oc_arena_free(&t.arena);
}

static void set_runs(struct row_cells *c, const struct oc_profile *p)
{
    const struct oc_run_spread *s = &p->spread;
    set_text(c, "format", p->format);
    set_text(c, "device_name", p->device);
    set_text(c, "event", p->event);
    set_u64(c, "runs", p->runs_used);
    if (p->runs_total)
        set_u64(c, "runs_total", p->runs_total);
    set_text(c, "stat", oc_stat_name(p->stat));
    set_text(c, "time_kind", p->time_kind);
    if (!s->n)
        return;
    set_ns(c, "run_min_ns", s->min_ns);
    set_ns(c, "run_p25_ns", s->p25_ns);
    set_ns(c, "run_median_ns", s->median_ns);
    set_ns(c, "run_p75_ns", s->p75_ns);
    set_ns(c, "run_max_ns", s->max_ns);
}

static void set_model(struct row_cells *c, const struct oc_report_in *in)
{
    const char *text[OC_MAX_MISMATCHES];
    if (oc_mismatches(in, text))
        set_text(c, "mismatch", text[0]);
    if (!in->join)
        return;
    const struct oc_totals *t = in->analysis->total;
    set_number(c, "attributed_fraction", in->join->time_matched_fraction);
    set_text(c, "quality", oc_quality_name(t->quality));
    if (t->nodes && t->unknown_nodes == t->nodes)
        return;
    set_u64(c, "macs", t->macs);
    set_u64(c, "flops", t->flops);
    set_u64(c, "ops", t->ops);
}

static void set_roofline(struct row_cells *c, struct oc_report *r)
{
    struct oc_row_bounds b;
    if (!r->in->device)
        return;
    oc_bounds_of(r, &b);
    set_text(c, "device", device_name(r->in));
    set_ns(c, "roofline_ns", oc_ns_of(b.roof_s));
    set_number(c, "roofline_efficiency", b.roof_s / b.time_s);
    set_ns(c, "gap_ns", oc_ns_of(b.wasted_s));
    set_ns(c, "at_least_ns", oc_ns_of(r->bound_s));
}

static uint64_t count_warnings(const struct oc_report_in *in)
{
    uint64_t n = 0;
    for (unsigned source = 0; source < OC_FINDING_SOURCES; source++) {
        const struct oc_diag *d = NULL;
        size_t count = oc_findings_of(in, source, &d);
        for (size_t i = 0; i < count; i++)
            n += d[i].severity != OC_INFO;
    }
    return n;
}

void oc_scan_pack_profile(const struct oc_scan_source *source, struct oc_buf *out)
{
    const struct oc_report_opts opts = {.cache = true};
    struct row_cells c = {.table = &oc_scan_profiles.packed};
    struct oc_headline h;
    struct oc_report r;
    make_report(&source->in, &opts, &r);
    oc_headline_of(&r, &h);
    set_runs(&c, source->in.profile);
    set_ns(&c, "latency_ns", h.run_ns);
    set_ns(&c, "total_ns", h.total_ns);
    set_ns(&c, "busy_ns", h.busy_ns);
    set_u64(&c, "operators", r.all.n);
    set_top_types(&c, &r);
    set_text(&c, "model", source->model);
    set_model(&c, &source->in);
    set_roofline(&c, &r);
    set_u64(&c, "warnings", count_warnings(&source->in));
    oc_cells_pack(c.table, c.cell, out);
    oc_arena_free(&r.arena);
}
