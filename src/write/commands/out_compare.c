/* Several profiles of one model, joined: text, CSV, Markdown, JSON, page. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/units.h"
#include "estimate/predict.h"
#include "report/columns.h"
#include "report/report.h"
#include "report/select.h"
#include "write/commands/page_views.h"
#include "write/tables/html_page.h"
#include "write/tables/json_keys.h"
#include "write/tables/table.h"

/* A report under construction: `rows` are the selected ones, row.record is the index of the set in `c`. */
struct comparing {
    struct oc_compare c;
    const struct oc_model *model;
    const struct oc_device *device;
    const struct oc_report_opts *o;
    struct oc_arena arena;
    struct oc_rows rows;
    bool combine; /* adds the shortest time of each row to the times of the sources */
};

enum { MAX_PAGE_SOURCES = 10 };

/* ---- one row ---------------------------------------------------------------------------------------- */

static void compare_set_roof(struct comparing *x, const struct oc_analysis *a, struct oc_row *row,
                             const struct oc_join_rec *r)
{
    struct oc_work work = {0};
    struct oc_roof roof;
    if (!x->device)
        return;
    for (uint32_t i = 0; i < r->n_node; i++)
        oc_work_add(&work, &a->cost[r->node[i]]);
    work.bytes = r->rd_act + r->rd_wt + r->wr;
    work.weight_bytes = r->rd_wt;
    work.written = r->wr;
    work.launches = 1;
    work.unknown = work.unknown || !r->bytes_known || r->quality == OC_UNKNOWN;
    struct oc_roof_opts opts = oc_report_roof_opts(x->o, a);
    oc_roofline_of(x->device, &work, &opts, oc_row_rate_time_s(row), &roof);
    row->bound_by = roof.bound_name;
    oc_row_set_roof(row, roof.roof_s, roof.missing[0]);
}

static uint8_t compare_rates(const struct comparing *x, const struct oc_compare_cell *cell, uint32_t source)
{
    return cell->is_launch                                      ? OC_RATES_LAUNCH
           : oc_profile_runs_known(x->c.source[source].profile) ? OC_RATES_TIMED
                                                                : OC_RATES_UNKNOWN;
}

static struct oc_row compare_timed(const struct comparing *x, const struct oc_row *row,
                                   const struct oc_compare_cell *cell, uint32_t source)
{
    struct oc_row timed = *row;
    timed.time_s = cell->time_ns * 1e-9;
    timed.rates = compare_rates(x, cell, source);
    oc_row_set_roof(&timed, row->roofline_s, row->roof_partial);
    return timed;
}

/* Rows are filtered and sorted by the chosen time, or the longest of all sources. */
static double compare_time_of(const struct comparing *x, const struct oc_compare_row *r)
{
    double best = x->combine && r->chosen != OC_NONE ? r->cell[r->chosen].time_ns : NAN;
    for (uint32_t s = 0; s < x->c.n_source && !x->combine; s++)
        if (!(best >= r->cell[s].time_ns))
            best = isnan(r->cell[s].time_ns) ? best : r->cell[s].time_ns;
    return best * 1e-9;
}

static void make_row(struct comparing *x, const struct oc_analysis *a, uint32_t i, struct oc_row *row)
{
    const struct oc_compare_row *r = &x->c.row[i];
    *row = oc_row_blank();
    row->name = oc_nodes_name(x->model, a, &r->cost, &x->arena);
    row->type = x->model->node[oc_row_main_node(a, &r->cost)].op_type;
    row->record = i;
    row->id_number = r->cost.node[0];
    row->count = r->cost.n_node;
    row->quality = r->cost.quality;
    row->time_s = compare_time_of(x, r);
    for (uint32_t s = 0; s < x->c.n_source; s++)
        if ((!x->combine || s == r->chosen) && row->rates == OC_RATES_TIMED)
            row->rates = compare_rates(x, &r->cell[s], s);
    if (r->cost.quality != OC_UNKNOWN) {
        row->computation = (double)r->cost.flops + (double)r->cost.ops;
        row->macs = (double)r->cost.macs;
        row->params = (double)r->cost.params;
    }
    if (r->cost.bytes_known)
        row->memory = (double)r->cost.rd_act + (double)r->cost.rd_wt + (double)r->cost.wr;
    row->intensity = row->memory > 0 ? row->computation / row->memory : NAN;
    compare_set_roof(x, a, row, &r->cost);
}

/* Name of a source in titles and keys: "A", "B" ... "Z", "S27". */
static const char *compare_letter(struct oc_arena *a, uint32_t source)
{
    return source < 26 ? oc_printf(a, "%c", 'A' + (int)source) : oc_printf(a, "S%u", source + 1);
}

/* ---- cells ------------------------------------------------------------------------------------------ */

/* A row under construction: names of the columns and cells. */
struct line {
    struct comparing *x;
    bool csv;
    const char **name, **cell;
    size_t n;
    bool named; /* the names are known, from the first row */
};

/* A column has a key in CSV and a title in text; NULL: it is not in that format. */
static void compare_text(struct line *l, const char *key, const char *title, const char *s)
{
    const char *name = l->csv ? key : title;
    if (!name)
        return;
    if (!l->named)
        l->name[l->n] = name;
    l->cell[l->n++] = s ? s : l->csv ? "" : "-";
}

static const char *compare_exact(struct oc_arena *a, double v)
{
    char buf[64];
    if (!isfinite(v))
        return "";
    if (v == floor(v) && fabs(v) < 9e15)
        return oc_printf(a, "%" PRId64, (int64_t)v);
    oc_format_repr(v, buf, sizeof(buf));
    return oc_strdup(a, buf);
}

typedef const char *(*human_fn)(double v, char *buf, size_t n);

static void compare_number(struct line *l, const char *key, const char *title, double v, human_fn human)
{
    char buf[64];
    compare_text(l, key, title,
                 l->csv     ? compare_exact(&l->x->arena, v)
                 : isnan(v) ? NULL
                            : oc_strdup(&l->x->arena, human(v, buf, sizeof(buf))));
}

/* A figure that follows from the row's counts: bounds are marked in text, the CSV file has a column. */
static void compare_counted(struct line *l, const char *key, const char *title, const struct oc_row *row,
                            double v, human_fn human)
{
    compare_number(l, key, title, v, human);
    const char **cell = &l->cell[l->n - 1];
    if (!l->csv && !isnan(v))
        *cell = oc_printf(&l->x->arena, "%s%s", oc_quality_mark(row->quality), *cell);
}

static const char *as_si(double v, char *buf, size_t n)
{
    return oc_format_si(v, "", buf, n);
}

static const char *as_percent(double v, char *buf, size_t n)
{
    snprintf(buf, n, "%.1f", 100 * v);
    return buf;
}

static const char *as_ratio(double v, char *buf, size_t n)
{
    snprintf(buf, n, v < 10 ? "%.2f" : "%.1f", v);
    return buf;
}

static const char *as_count(double v, char *buf, size_t n)
{
    snprintf(buf, n, "%.0f", v);
    return buf;
}

/* ---- rows ------------------------------------------------------------------------------------------- */

/* "A_time_ns", "A time" */
static const char *of_source(struct line *l, uint32_t s, const char *name)
{
    return l->named ? "" : oc_printf(&l->x->arena, "%s%s", compare_letter(&l->x->arena, s), name);
}

/* Time, share, achieved rates, ratio to the first source. */
static void source_cells(struct line *l, const struct oc_row *row, const struct oc_compare_row *r, uint32_t s)
{
    const struct oc_compare_cell *c = &r->cell[s];
    struct oc_row timed = compare_timed(l->x, row, c, s);
    compare_number(l, of_source(l, s, "_time_ns"), of_source(l, s, " time"), c->time_ns, oc_format_time_ns);
    compare_number(l, of_source(l, s, "_time_fraction"), of_source(l, s, " %"),
                   c->time_ns / l->x->c.total_ns[s], as_percent);
    compare_counted(l, of_source(l, s, "_flop_per_s"), of_source(l, s, " FLOP/s"), row, oc_row_flops(&timed),
                    as_si);
    compare_number(l, of_source(l, s, "_bytes_per_s"), NULL, oc_row_bandwidth(&timed), oc_format_bytes);
    compare_number(l, of_source(l, s, "_host_time_ns"), NULL, c->host_ns, oc_format_time_ns);
    compare_number(l, of_source(l, s, "_records"), NULL, c->records, as_count);
    if (l->x->device)
        compare_number(l, of_source(l, s, "_roofline_efficiency"), of_source(l, s, " eff %"),
                       timed.efficiency, as_percent);
    if (s)
        compare_number(l, of_source(l, s, "_ratio"), of_source(l, s, "/A"), c->time_ns / r->cell[0].time_ns,
                       as_ratio);
}

static const char *compare_node_names(struct comparing *x, const struct oc_join_rec *r)
{
    struct oc_buf b = {0};
    char label[512];
    for (uint32_t i = 0; i < r->n_node; i++)
        oc_buf_printf(&b, "%s%s", i ? ";" : "",
                      oc_node_label(x->model, &x->model->node[r->node[i]], label, sizeof(label)));
    const char *s = oc_strndup(&x->arena, b.data, b.n);
    oc_buf_free(&b);
    return s;
}

static double compare_measured(const struct comparing *x, const struct oc_compare_row *r, bool bytes)
{
    double v = NAN;
    for (uint32_t s = 0; s < x->c.n_source && isnan(v); s++)
        v = bytes ? r->cell[s].bytes : r->cell[s].flop;
    return v;
}

static void compare_row_cells(struct line *l, const struct oc_row *row, const struct oc_compare_row *r,
                              uint32_t rank)
{
    struct comparing *x = l->x;
    compare_number(l, "rank", "#", rank, as_count);
    compare_text(l, "name", NULL, row->name);
    compare_text(l, "type", NULL, row->type);
    compare_number(l, "count", "nodes", (double)row->count, as_count);
    compare_counted(l, "flo", "FLOPs", row, row->computation, as_si);
    compare_counted(l, "bytes", "moved", row, row->memory, oc_format_bytes);
    if (x->combine) {
        compare_number(l, "time_ns", "time", row->time_s * 1e9, oc_format_time_ns);
        compare_text(l, "time_from", "from",
                     r->chosen == OC_NONE ? NULL : compare_letter(&x->arena, r->chosen));
        compare_counted(l, "flop_per_s", "FLOP/s", row, oc_row_flops(row), as_si);
        compare_number(l, "measured_flo", "measured FLOPs", compare_measured(x, r, false), as_si);
        compare_number(l, "measured_bytes", "measured moved", compare_measured(x, r, true), oc_format_bytes);
    }
    for (uint32_t s = 0; s < x->c.n_source; s++)
        source_cells(l, row, r, s);
    compare_text(l, "quality", NULL, oc_quality_name(row->quality));
    compare_text(l, "nodes", NULL, l->csv && r->cost.n_node ? compare_node_names(x, &r->cost) : NULL);
    compare_text(l, NULL, "type", row->type);
    compare_text(l, NULL, "operator", row->name);
}

/* ---- legend ----------------------------------------------------------------------------------------- */

static void legend(struct comparing *x, FILE *f)
{
    char a[64], b[64];
    for (uint32_t s = 0; s < x->c.n_source; s++) {
        const struct oc_profile *p = x->c.source[s].profile;
        const struct oc_join *j = x->c.source[s].join;
        oc_print_line(f, "%-3s %s  (%s%s%s; %s; %s of %u of %u runs)", compare_letter(&x->arena, s), p->path,
                      *p->producer ? p->producer : p->format, *p->device ? ", " : "", p->device,
                      p->time_kind ? p->time_kind : "time", oc_stat_name(p->stat), p->runs_used,
                      p->runs_total);
        fprintf(f, "    %s attributed to nodes (%.1f %% of operator time), %s other time",
                oc_format_time_ns(x->c.total_ns[s], a, sizeof(a)), 100 * j->time_matched_fraction,
                oc_format_time_ns(x->c.beside_ns[s], b, sizeof(b)));
        if (s && x->c.total_ns[0] > 0)
            fprintf(f, "; %.2f times A",
                    (x->c.total_ns[s] + x->c.beside_ns[s]) / (x->c.total_ns[0] + x->c.beside_ns[0]));
        fputc('\n', f);
    }
    fputc('\n', f);
}

static void add_line(struct line *l, const struct oc_row *row, const struct oc_compare_row *r, uint32_t rank)
{
    l->cell = OC_NEW_ARRAY(&l->x->arena, 24 + 8 * (size_t)l->x->c.n_source, const char *);
    l->n = 0;
    compare_row_cells(l, row, r, rank);
}

/* Header and rows. */
static void compare_fill(struct comparing *x, bool csv, struct oc_table *t)
{
    const struct oc_row blank = oc_row_blank();
    const struct oc_compare_row none = {
        .cell = OC_NEW_ARRAY(&x->arena, x->c.n_source, struct oc_compare_cell), .chosen = OC_NONE};
    struct line l = {
        .x = x, .csv = csv, .name = OC_NEW_ARRAY(&x->arena, 24 + 8 * (size_t)x->c.n_source, const char *)};
    *t = (struct oc_table){0};
    add_line(&l, &blank, &none, 0);                   /* for the names */
    t->kinds = oc_table_kinds(&x->arena, l.n - 2, 2); /* the type and the name are texts */
    oc_table_cells(t, l.name, l.n);
    l.named = true;
    for (uint32_t i = 0; i < x->rows.n; i++) {
        add_line(&l, &x->rows.row[i], &x->c.row[x->rows.row[i].record], i + 1);
        oc_table_row(t, l.cell);
    }
}

/* csv: full precision; otherwise rounded text */
static void compare_table(struct comparing *x, FILE *f, bool csv)
{
    struct oc_table t;
    compare_fill(x, csv, &t);
    if (csv) {
        oc_table_csv(&t, "1", f);
    } else {
        legend(x, f);
        oc_table_print(&t, f);
    }
}

/* ---- markdown --------------------------------------------------------------------------------------- */

static void source_sheet(struct comparing *x, FILE *f)
{
    struct oc_table t = {.kinds = "tctnnnn"};
    OC_ROW(&t, "", "profile", "measured by", "runs", "attributed", "other", "/A");
    for (uint32_t i = 0; i < x->c.n_source; i++) {
        const struct oc_profile *p = x->c.source[i].profile;
        double ratio = (x->c.total_ns[i] + x->c.beside_ns[i]) / (x->c.total_ns[0] + x->c.beside_ns[0]);
        OC_ROW(&t, compare_letter(&x->arena, i), p->path, *p->producer ? p->producer : p->format,
               oc_printf(&x->arena, "%s of %u of %u", oc_stat_name(p->stat), p->runs_used, p->runs_total),
               oc_time_text(&x->arena, x->c.total_ns[i], "unknown"),
               oc_time_text(&x->arena, x->c.beside_ns[i], "unknown"),
               isfinite(ratio) ? oc_printf(&x->arena, "%.2f", ratio) : "-");
    }
    oc_table_markdown(&t, f);
}

static void compare_markdown(struct comparing *x, FILE *f)
{
    struct oc_table t;
    source_sheet(x, f);
    compare_fill(x, false, &t);
    oc_table_markdown(&t, f);
}

/* ---- json ------------------------------------------------------------------------------------------- */

static void json_sources(struct oc_json_out *w, struct comparing *x)
{
    oc_key_array(w, "sources");
    for (uint32_t s = 0; s < x->c.n_source; s++) {
        const struct oc_profile *p = x->c.source[s].profile;
        oc_jw_begin_object(w);
        oc_key_text(w, "id", compare_letter(&x->arena, s));
        oc_key_text(w, "path", p->path);
        oc_key_text(w, "format", p->format);
        oc_key_text(w, "producer", *p->producer ? p->producer : NULL);
        oc_key_text(w, "device", *p->device ? p->device : NULL);
        oc_key_text(w, "statistic", oc_stat_name(p->stat));
        oc_key_u64(w, "runs_total", p->runs_total);
        oc_key_u64(w, "runs_used", p->runs_used);
        oc_key_time(w, "run_time_ns", p->run_ns);
        oc_key_time(w, "time_on_nodes_ns", x->c.total_ns[s]);
        oc_key_time(w, "time_beside_nodes_ns", x->c.beside_ns[s]);
        oc_key_double(w, "time_matched_fraction", x->c.source[s].join->time_matched_fraction);
        oc_jw_end_object(w);
    }
    oc_jw_end_array(w);
}

static void json_cell(struct oc_json_out *w, struct comparing *x, const struct oc_row *row, uint32_t s)
{
    const struct oc_compare_row *r = &x->c.row[row->record];
    const struct oc_compare_cell *c = &r->cell[s];
    struct oc_row timed = compare_timed(x, row, c, s);
    oc_jw_begin_object(w);
    oc_key_text(w, "id", compare_letter(&x->arena, s));
    oc_key_time(w, "time_ns", c->time_ns);
    oc_key_text(w, "clock", isnan(c->time_ns) ? NULL : c->device ? "device" : "host");
    oc_key_time(w, "host_time_ns", c->host_ns);
    oc_key_double(w, "time_fraction", c->time_ns / x->c.total_ns[s]);
    oc_key_double(w, "ratio", c->time_ns / r->cell[0].time_ns);
    oc_key_u64(w, "records", c->records);
    oc_key_text(w, "record", c->first == OC_NONE ? NULL : x->c.source[s].profile->rec[c->first].name);
    oc_key_double(w, "achieved_flops_per_s", oc_row_flops(&timed));
    oc_key_double(w, "achieved_bytes_per_s", oc_row_bandwidth(&timed));
    oc_key_double(w, "roofline_efficiency", timed.efficiency);
    oc_key_count(w, "measured_flops", c->flop);
    oc_key_count(w, "measured_bytes", c->bytes);
    oc_jw_end_object(w);
}

static void compare_json_row(struct oc_json_out *w, struct comparing *x, const struct oc_row *row)
{
    const struct oc_compare_row *r = &x->c.row[row->record];
    oc_jw_begin_object(w);
    oc_key_text(w, "name", row->name);
    oc_key_text(w, "op_type", row->type);
    oc_key_array(w, "nodes");
    for (uint32_t i = 0; i < r->cost.n_node; i++)
        oc_jw_u64(w, r->cost.node[i]);
    oc_jw_end_array(w);
    oc_key_u64_if(w, "macs", r->cost.quality != OC_UNKNOWN, r->cost.macs);
    oc_key_u64_if(w, "flops", r->cost.quality != OC_UNKNOWN, r->cost.flops);
    oc_key_u64_if(w, "ops", r->cost.quality != OC_UNKNOWN, r->cost.ops);
    oc_key_count(w, "bytes", row->memory);
    oc_key_quality(w, row->quality);
    oc_key_time(w, "roofline_time_ns", row->roofline_s * 1e9);
    if (x->combine) {
        oc_key_time(w, "time_ns", row->time_s * 1e9);
        oc_key_text(w, "time_from", r->chosen == OC_NONE ? NULL : compare_letter(&x->arena, r->chosen));
        oc_key_count(w, "measured_flops", compare_measured(x, r, false));
        oc_key_count(w, "measured_bytes", compare_measured(x, r, true));
    }
    oc_key_array(w, "sources");
    for (uint32_t s = 0; s < x->c.n_source; s++)
        json_cell(w, x, row, s);
    oc_jw_end_array(w);
    oc_jw_end_object(w);
}

static void compare_json(struct comparing *x, FILE *f)
{
    struct oc_json_out w;
    oc_json_begin(&w, f, "onnxcost.compare", 1, x->model->path);
    json_sources(&w, x);
    oc_key_array(&w, "rows");
    for (uint32_t i = 0; i < x->rows.n; i++)
        compare_json_row(&w, x, &x->rows.row[i]);
    oc_jw_end_array(&w);
    oc_json_end(&w);
}

/* ---- page ------------------------------------------------------------------------------------------- */

/* Several profiles of one model as a page: a figure for each, rows with a bar for each that sort. */

enum { MOST = 6 + 6 * MAX_PAGE_SOURCES };

struct compare_columns {
    struct oc_html_column item[MOST];
    size_t n;
};

/* ---- page: fields ----------------------------------------------------------------------------------- */

/* "sources_A_time_ns": the member "time_ns" of the source "A". */
static const char *source_field(struct comparing *x, uint32_t s, const char *member)
{
    return oc_printf(&x->arena, "sources_%s_%s", compare_letter(&x->arena, s), member);
}

static void source_fields(struct oc_fields *o, struct comparing *x, const struct oc_row *row, uint32_t s)
{
    const struct oc_compare_row *r = &x->c.row[row->record];
    const struct oc_compare_cell *c = &r->cell[s];
    struct oc_row timed = compare_timed(x, row, c, s);
    oc_field_time(o, source_field(x, s, "time_ns"), c->time_ns);
    oc_field_double(o, source_field(x, s, "time_fraction"), c->time_ns / x->c.total_ns[s]);
    oc_field_double(o, source_field(x, s, "ratio"), c->time_ns / r->cell[0].time_ns);
    oc_field_double(o, source_field(x, s, "achieved_flops_per_s"), oc_row_flops(&timed));
    oc_field_double(o, source_field(x, s, "roofline_efficiency"), timed.efficiency);
    oc_field_text(o, source_field(x, s, "record"),
                  c->first == OC_NONE ? NULL : x->c.source[s].profile->rec[c->first].name);
}

static void compare_row_fields(struct oc_fields *o, struct comparing *x, const struct oc_row *row)
{
    const struct oc_compare_row *r = &x->c.row[row->record];
    oc_fields_begin(o);
    oc_field_text(o, "name", row->name);
    oc_field_text(o, "op_type", row->type);
    oc_field_u64_if(o, "flops", r->cost.quality != OC_UNKNOWN, r->cost.flops);
    oc_field_double(o, "bytes", row->memory);
    oc_field_text(o, "quality", oc_quality_name(row->quality));
    oc_field_time(o, "roofline_time_ns", row->roofline_s * 1e9);
    for (uint32_t s = 0; s < x->c.n_source; s++)
        source_fields(o, x, row, s);
    oc_fields_end(o);
}

static void source_columns(struct comparing *x, struct compare_columns *c, uint32_t s)
{
    const char *letter = compare_letter(&x->arena, s);
    const struct oc_html_column more[] = {
        {.field = source_field(x, s, "time_ns"), .title = "time", .kind = OC_HTML_NS, .bar = true},
        {.field = source_field(x, s, "time_fraction"), .title = "share", .kind = OC_HTML_PERCENT},
        {.field = source_field(x, s, "achieved_flops_per_s"), .title = "FLOP/s", .kind = OC_HTML_SI},
        {.field = source_field(x, s, "roofline_efficiency"), .title = "efficiency", .kind = OC_HTML_PERCENT},
        {.field = source_field(x, s, "ratio"), .title = "/ A", .kind = OC_HTML_NUMBER},
    };
    for (size_t i = 0; i < OC_COUNT(more) - (s == 0); i++) {
        c->item[c->n] = more[i];
        c->item[c->n++].title = oc_printf(&x->arena, "%s %s", letter, more[i].title);
    }
}

/* ---- page: parts ------------------------------------------------------------------------------------ */

static void compare_facts(struct oc_html *h, struct comparing *x)
{
    oc_html_facts_begin(h);
    for (uint32_t s = 0; s < x->c.n_source; s++) {
        const struct oc_profile *p = x->c.source[s].profile;
        double ratio = (x->c.total_ns[s] + x->c.beside_ns[s]) / (x->c.total_ns[0] + x->c.beside_ns[0]);
        const char *note = oc_printf(
            &h->arena, "%s; %s of %u of %u runs; %.1f %% attributed; other time %s%s", p->path,
            oc_stat_name(p->stat), p->runs_used, p->runs_total,
            100 * x->c.source[s].join->time_matched_fraction, oc_time_text(&h->arena, x->c.beside_ns[s], "-"),
            s && isfinite(ratio) ? oc_printf(&h->arena, "; %.2f times A", ratio) : "");
        oc_html_fact_double(
            h,
            oc_printf(&h->arena, "%s: %s%s%s", compare_letter(&h->arena, s),
                      *p->producer ? p->producer : p->format, *p->device ? ", " : "", p->device),
            oc_printf(&h->arena, "sources.%u.time_on_nodes_ns", s), OC_HTML_NS, x->c.total_ns[s], note);
    }
    oc_html_facts_end(h);
}

/* Indices of the rows, the longest time first. */
struct placed {
    double time_s;
    uint32_t at;
};

static int by_longest(const void *pa, const void *pb)
{
    const struct placed *a = pa, *b = pb;
    double x = isnan(a->time_s) ? -1 : a->time_s, y = isnan(b->time_s) ? -1 : b->time_s;
    return x < y ? 1 : x > y ? -1 : a->at < b->at ? -1 : a->at > b->at;
}

static void compare_rows(struct oc_html *h, struct comparing *x)
{
    static const struct oc_html_column first[] = {
        {.field = "name", .title = "Operator", .kind = OC_HTML_CODE},
        {.field = "op_type", .title = "Type", .kind = OC_HTML_CODE},
        {.field = "flops", .title = "FLOPs", .kind = OC_HTML_SI, .quality = "quality"},
        {.field = "bytes", .title = "Moved", .kind = OC_HTML_BYTES, .quality = "quality"},
        {.field = "roofline_time_ns", .title = "Roofline", .kind = OC_HTML_NS},
    };
    struct compare_columns c = {.n = OC_COUNT(first)};
    struct oc_fields o = {0};
    struct placed *place = OC_NEW_ARRAY(&h->arena, (size_t)x->rows.n + 1, struct placed);
    uint32_t *at = OC_NEW_ARRAY(&h->arena, (size_t)x->rows.n + 1, uint32_t);
    memcpy(c.item, first, sizeof(first));
    for (uint32_t s = 0; s < x->c.n_source; s++)
        source_columns(x, &c, s);
    for (uint32_t i = 0; i < x->rows.n; i++)
        place[i] = (struct placed){x->rows.row[i].time_s, i};
    if (x->rows.n > 1)
        qsort(place, x->rows.n, sizeof(*place), by_longest);
    for (uint32_t i = 0; i < x->rows.n; i++) {
        at[i] = place[i].at;
        compare_row_fields(&o, x, &x->rows.row[at[i]]);
    }
    oc_html_table(h,
                  &(struct oc_html_table){.id = "operators",
                                          .title = "Operators",
                                          .json = "rows",
                                          .at = at,
                                          .column = c.item,
                                          .n_column = c.n},
                  &o);
    oc_fields_free(&o);
}

static void compare_page(struct comparing *x, FILE *f)
{
    struct oc_html h = {.fragment = oc_is_fragment(x->o->format)};
    uint32_t fast = 0;
    for (uint32_t s = 1; s < x->c.n_source; s++)
        fast = x->c.total_ns[s] < x->c.total_ns[fast] ? s : fast;
    oc_html_sentence(&h, oc_printf(&h.arena, "%u profiles; the operators are fastest in %s: %s.",
                                   x->c.n_source, compare_letter(&h.arena, fast),
                                   oc_time_text(&h.arena, x->c.total_ns[fast], "-")));
    compare_facts(&h, x);
    compare_rows(&h, x);
    oc_html_write(&h, x->model->path, "profiles", x->o->made, f);
}

/* ---- the report ------------------------------------------------------------------------------------- */

static bool is_format(const struct oc_report_opts *o, const char *name)
{
    return o->format && strcmp(o->format, name) == 0;
}

static bool is_page(const struct oc_report_opts *o)
{
    return is_format(o, "html") || oc_is_fragment(o->format);
}

static int compare_check(const struct oc_compare_source *source, size_t n, const struct oc_report_opts *o,
                         struct oc_err *err)
{
    static const char *const formats[] = {"table", "csv", "json", "markdown", "md", "html", "fragment"};
    size_t i = 0;
    if (n < 1 || n > 256)
        return oc_fail(err, OC_EARG, "a comparison takes 1 to 256 profiles, not %zu", n);
    for (size_t k = 0; k < n; k++)
        if (!source[k].profile || !source[k].join)
            return oc_fail(err, OC_EARG, "a comparison of profiles needs their model");
    while (o->format && i < OC_COUNT(formats) && strcmp(formats[i], o->format) != 0)
        i++;
    if (i == OC_COUNT(formats))
        return oc_fail(err, OC_EARG,
                       "several profiles have no format '%s'; valid: table, csv, json, markdown, html",
                       o->format);
    if (is_page(o) && n > MAX_PAGE_SOURCES)
        return oc_fail(err, OC_EARG, "a page has at most %d profiles", MAX_PAGE_SOURCES);
    if (o->aggregate || o->group_by || o->aggregate_by)
        return oc_fail(err, OC_EARG, "grouping needs a single profile");
    if (oc_what_if_asked(o))
        return oc_fail(err, OC_EARG, "--what-if, --as and --fuse need a single profile");
    if (o->n_why || o->n_explain_match)
        return oc_fail(err, OC_EARG, "--why and --explain-match need a single profile");
    return 0;
}

static int compare_choose_rows(struct comparing *x, const struct oc_rows *all, struct oc_err *err)
{
    struct oc_select s;
    bool whole = is_format(x->o, "csv") || is_format(x->o, "json") || is_page(x->o);
    int rc = oc_select_init(&s, x->o, NULL, whole ? 0 : 20, whole && !x->o->has_top ? NULL : "time", err);
    if (rc == 0)
        rc = oc_select_rows(&s, all, OC_TIME_DEVICE, &x->rows, err);
    return rc;
}

int oc_compare_write(const struct oc_model *model, const struct oc_analysis *a,
                     const struct oc_device *device, const struct oc_compare_source *source, size_t n,
                     bool combine, const struct oc_report_opts *given, FILE *f, struct oc_err *err)
{
    OC_ENTRY(err);
    struct oc_report_opts full, *const o = &full;
    if (OC_OPTIONS(&full, given, err))
        return -1;
    if (compare_check(source, n, o, err) != 0)
        return -1;
    struct comparing x = {.model = model, .device = device, .o = o, .combine = combine};
    oc_compare_make(model, a, source, (uint32_t)n, &x.c);
    struct oc_rows all = {.arena = &x.arena, .row = OC_NEW_ARRAY(&x.arena, (size_t)x.c.n + 1, struct oc_row)};
    for (; all.n < x.c.n; all.n++)
        make_row(&x, a, all.n, &all.row[all.n]);
    x.rows.arena = &x.arena;
    int rc = compare_choose_rows(&x, &all, err);
    if (rc == 0 && is_format(o, "json"))
        compare_json(&x, f);
    else if (rc == 0 && is_page(o))
        compare_page(&x, f);
    else if (rc == 0 && (is_format(o, "markdown") || is_format(o, "md")))
        compare_markdown(&x, f);
    else if (rc == 0)
        compare_table(&x, f, is_format(o, "csv"));
    oc_compare_free(&x.c);
    oc_arena_free(&x.arena);
    return rc;
}
