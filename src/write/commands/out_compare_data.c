/* Several profiles of one model as JSON and as a page. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "write/commands/page_views.h"
#include "write/tables/html_page.h"
#include "write/tables/json_keys.h"

/* ---- json ------------------------------------------------------------------------------------------- */

static void json_sources(struct oc_json_out *w, struct oc_comparing *x)
{
    oc_key_array(w, "sources");
    for (uint32_t s = 0; s < x->c.n_source; s++) {
        const struct oc_profile *p = x->c.source[s].profile;
        oc_jw_begin_object(w);
        oc_key_text(w, "id", oc_compare_letter(&x->arena, s));
        oc_key_text(w, "path", p->path);
        oc_key_text(w, "format", p->format);
        oc_key_text(w, "producer", *p->producer ? p->producer : NULL);
        oc_key_text(w, "device", *p->device ? p->device : NULL);
        oc_key_text(w, "statistic", oc_compare_stat(p));
        oc_key_u64(w, "runs_total", p->runs_total);
        oc_key_u64(w, "runs_used", p->runs_used);
        oc_key_time(w, "run_time_ns", p->run_ns / oc_profile_summed_runs(p));
        oc_key_time(w, "time_on_nodes_ns", x->c.total_ns[s]);
        oc_key_time(w, "time_beside_nodes_ns", x->c.beside_ns[s]);
        oc_key_double(w, "time_matched_fraction", x->c.source[s].join->time_matched_fraction);
        oc_jw_end_object(w);
    }
    oc_jw_end_array(w);
}

static void json_cell(struct oc_json_out *w, struct oc_comparing *x, const struct oc_row *row, uint32_t s)
{
    const struct oc_compare_row *r = &x->c.row[row->record];
    const struct oc_compare_cell *c = &r->cell[s];
    struct oc_row timed = oc_compare_timed(x, row, c, s);
    oc_jw_begin_object(w);
    oc_key_text(w, "id", oc_compare_letter(&x->arena, s));
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

static void compare_json_row(struct oc_json_out *w, struct oc_comparing *x, const struct oc_row *row)
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
        oc_key_text(w, "time_from", r->chosen == OC_NONE ? NULL : oc_compare_letter(&x->arena, r->chosen));
        oc_key_count(w, "measured_flops", oc_compare_measured(x, r, false));
        oc_key_count(w, "measured_bytes", oc_compare_measured(x, r, true));
    }
    oc_key_array(w, "sources");
    for (uint32_t s = 0; s < x->c.n_source; s++)
        json_cell(w, x, row, s);
    oc_jw_end_array(w);
    oc_jw_end_object(w);
}

void oc_compare_json(struct oc_comparing *x, FILE *f)
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

enum { MOST = 6 + 6 * OC_COMPARE_PAGE_SOURCES };

struct compare_columns {
    struct oc_html_column item[MOST];
    size_t n;
};

/* ---- page: fields ----------------------------------------------------------------------------------- */

/* "sources_A_time_ns": the member "time_ns" of the source "A". */
static const char *source_field(struct oc_comparing *x, uint32_t s, const char *member)
{
    return oc_printf(&x->arena, "sources_%s_%s", oc_compare_letter(&x->arena, s), member);
}

static void source_fields(struct oc_fields *o, struct oc_comparing *x, const struct oc_row *row, uint32_t s)
{
    const struct oc_compare_row *r = &x->c.row[row->record];
    const struct oc_compare_cell *c = &r->cell[s];
    struct oc_row timed = oc_compare_timed(x, row, c, s);
    oc_field_time(o, source_field(x, s, "time_ns"), c->time_ns);
    oc_field_double(o, source_field(x, s, "time_fraction"), c->time_ns / x->c.total_ns[s]);
    oc_field_double(o, source_field(x, s, "ratio"), c->time_ns / r->cell[0].time_ns);
    oc_field_double(o, source_field(x, s, "achieved_flops_per_s"), oc_row_flops(&timed));
    oc_field_double(o, source_field(x, s, "roofline_efficiency"), timed.efficiency);
    oc_field_text(o, source_field(x, s, "record"),
                  c->first == OC_NONE ? NULL : x->c.source[s].profile->rec[c->first].name);
}

static void compare_row_fields(struct oc_fields *o, struct oc_comparing *x, const struct oc_row *row)
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

static void source_columns(struct oc_comparing *x, struct compare_columns *c, uint32_t s)
{
    const char *letter = oc_compare_letter(&x->arena, s);
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

static void compare_facts(struct oc_html *h, struct oc_comparing *x)
{
    oc_html_facts_begin(h);
    for (uint32_t s = 0; s < x->c.n_source; s++) {
        const struct oc_profile *p = x->c.source[s].profile;
        double ratio = (x->c.total_ns[s] + x->c.beside_ns[s]) / (x->c.total_ns[0] + x->c.beside_ns[0]);
        const char *note = oc_printf(
            &h->arena, "%s; %s of %u of %u runs; %.1f %% attributed; other time %s%s", p->path,
            oc_compare_stat(p), p->runs_used, p->runs_total, 100 * x->c.source[s].join->time_matched_fraction,
            oc_time_text(&h->arena, x->c.beside_ns[s], "-"),
            s && isfinite(ratio) ? oc_printf(&h->arena, "; %.2f times A", ratio) : "");
        oc_html_fact_double(
            h,
            oc_printf(&h->arena, "%s: %s%s%s", oc_compare_letter(&h->arena, s),
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

static void compare_rows(struct oc_html *h, struct oc_comparing *x)
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

void oc_compare_page(struct oc_comparing *x, FILE *f)
{
    struct oc_html h = {.fragment = oc_is_fragment(x->o->format)};
    uint32_t fast = 0;
    for (uint32_t s = 1; s < x->c.n_source; s++)
        fast = x->c.total_ns[s] < x->c.total_ns[fast] ? s : fast;
    oc_html_sentence(&h, oc_printf(&h.arena, "%u profiles; the operators are fastest in %s: %s.",
                                   x->c.n_source, oc_compare_letter(&h.arena, fast),
                                   oc_time_text(&h.arena, x->c.total_ns[fast], "-")));
    compare_facts(&h, x);
    compare_rows(&h, x);
    oc_html_write(&h, x->model->path, "profiles", x->o->made, f);
}
