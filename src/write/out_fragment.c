/* The parts of the page that need no scripts: the verdict (the sentence, the bar of the time, the largest
 * rows, the first warnings), and the report as a fragment of another page: the verdict, figures, a bar of
 * the operator types, the rows. */
#include "write/out_html.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/analysis.h"
#include "base/map.h"
#include "base/unicode.h"
#include "base/units.h"
#include "onnxcost.h"
#include "onnxcost/report.h"
#include "report/columns.h"
#include "report/headline.h"
#include "report/names.h"
#include "report/report.h"
#include "write/tables/html_page.h"

/* ---- verdict ---------------------------------------------------------------------------------------- */

void oc_html_text(const char *s, FILE *f)
{
    for (const char *end = s + strlen(s); s < end;) {
        const char *from = s;
        uint32_t c = oc_utf8_next(&s, end);
        const char *as = c == '<'              ? "&lt;"
                         : c == '>'            ? "&gt;"
                         : c == '&'            ? "&amp;"
                         : c == '"'            ? "&quot;"
                         : oc_uni_is_hidden(c) ? "\xef\xbf\xbd" /* U+FFFD */
                                               : NULL;
        if (as)
            fputs(as, f);
        else
            fwrite(from, 1, (size_t)(s - from), f);
    }
}

static void part_text(const struct oc_verdict *v, const struct oc_time_part *p, FILE *f)
{
    char time[32];
    fprintf(f, "%s %s (%.1f %%)", p->name, oc_format_time_ns(p->ns, time, sizeof(time)),
            100 * p->ns / v->whole_ns);
}

static void time_bar(const struct oc_verdict *v, FILE *f)
{
    fputs("<div class=\"strip\" role=\"img\" aria-label=\"", f);
    for (unsigned i = 0, n = 0; i < OC_PART_COUNT; i++)
        if (v->part[i].ns > 0) {
            fputs(n++ ? ", " : "", f);
            part_text(v, &v->part[i], f);
        }
    fputs("\">", f);
    for (unsigned i = 0; i < OC_PART_COUNT; i++)
        if (v->part[i].ns > 0)
            fprintf(f, "<span class=\"part%u\" style=\"width:%.3f%%\"></span>", i,
                    100 * v->part[i].ns / v->whole_ns);
    fputs("</div>\n<div class=\"legend\">", f);
    for (unsigned i = 0; i < OC_PART_COUNT; i++)
        if (v->part[i].ns > 0) {
            fprintf(f, "<span><i class=\"part%u\"></i>", i);
            part_text(v, &v->part[i], f);
            fputs("</span>", f);
        }
    fputs("</div>\n", f);
}

/* A row in a list, with the link that opens it. */
static void begin_row_item(struct oc_report *r, const struct oc_row *row, FILE *f)
{
    fputs("<li><b>", f);
    oc_html_text(oc_row_type(r, row), f);
    fputs("</b> <span class=\"row\" data-row=\"", f);
    oc_html_text(row->name, f);
    fputs("\">", f);
    oc_html_text(row->name, f);
    fputs("</span>", f);
}

static void largest_rows(struct oc_report *r, const struct oc_verdict *v, FILE *f)
{
    fprintf(f, "<ol class=\"largest\" aria-label=\"%s\">\n",
            isnan(v->largest[0].gap_ns) ? "Rows with the most time"
                                        : "Rows with the largest gap to the roofline");
    for (uint32_t i = 0; i < v->n_largest; i++) {
        const struct oc_largest *l = &v->largest[i];
        char time[32];
        begin_row_item(r, l->row, f);
        fprintf(f, ": %s", oc_format_time_ns(l->time_ns, time, sizeof(time)));
        if (!isnan(l->gap_ns))
            fprintf(f, ", %s above its roofline time", oc_format_time_ns(l->gap_ns, time, sizeof(time)));
        fputs("</li>\n", f);
    }
    fputs("</ol>\n", f);
}

/* Rows that take far longer than their class: the first ones by time lost. */
static void anomalies(struct oc_report *r, const struct oc_verdict *v, FILE *f)
{
    enum { SHOWN = 3 };
    char time[32], expected[32];
    if (!v->n_anomaly)
        return;
    fputs("<ul class=\"largest\" aria-label=\"Rows that take far longer than their class\">\n", f);
    for (uint32_t i = 0; i < v->n_anomaly && i < SHOWN; i++) {
        const struct oc_anomaly *a = &v->anomaly[i];
        begin_row_item(r, a->row, f);
        fprintf(f, ": %s, expected %s from %u rows of its class (",
                oc_format_time_ns(a->time_ns, time, sizeof(time)),
                oc_format_time_ns(a->expected_ns, expected, sizeof(expected)), a->peers);
        oc_html_text(a->class_name, f);
        fputs(a->cause ? "): " : ")", f);
        oc_html_text(a->cause ? a->cause : "", f);
        fputs("</li>\n", f);
    }
    fputs("</ul>\n", f);
}

/* The first warnings; mismatches are above the section, the whole list is in the data. */
static size_t first_warnings(const struct oc_report_in *in, FILE *f)
{
    enum { SHOWN = 4 };
    size_t found = 0;
    for (unsigned source = 0; source < OC_FINDING_SOURCES; source++) {
        const struct oc_diag *d = NULL;
        size_t n = oc_findings_of(in, source, &d);
        for (size_t i = 0; i < n; i++) {
            if (d[i].severity < OC_WARNING || oc_is_mismatch(&d[i]) || ++found > SHOWN || !f)
                continue;
            fputs("<p class=\"note\">Warning: ", f);
            oc_html_text(d[i].text, f);
            fputs("</p>\n", f);
        }
    }
    if (f && found > SHOWN)
        fprintf(f, "<p class=\"note\">%zu more warnings.</p>\n", found - SHOWN);
    return found;
}

static void html_verdict_parts(struct oc_report *r, const struct oc_verdict *v, FILE *f)
{
    if (v->text) {
        fputs("<p class=\"verdict\">", f);
        oc_html_text(v->text, f);
        fputs(".</p>\n", f);
    }
    if (v->whole_ns > 0)
        time_bar(v, f);
    if (v->n_largest)
        largest_rows(r, v, f);
    anomalies(r, v, f);
    first_warnings(r->in, f);
}

void oc_html_verdict(struct oc_report *r, FILE *f)
{
    struct oc_verdict v;
    oc_verdict_of(r, &v);
    if (!v.text && !r->o->made && !first_warnings(r->in, NULL))
        return;
    fputs("<section id=\"verdict\" class=\"wide\">\n", f);
    html_verdict_parts(r, &v, f);
    if (r->o->made) {
        fputs("<p class=\"note made\">", f);
        oc_html_text(r->o->made, f);
        fputs("</p>\n", f);
    }
    fputs("</section>\n", f);
}

/* ---- fragment: figures ------------------------------------------------------------------------------ */

static const char *mark_of(const struct oc_totals *t, bool exact)
{
    return exact ? NULL : t->unknown_nodes ? oc_quality_mark(OC_LOWER) : oc_quality_mark(t->quality);
}

static void count_facts(struct oc_html *h, struct oc_report *r)
{
    const struct oc_analysis *a = r->in->analysis;
    const struct oc_totals *t = a->total;
    const struct {
        const char *title, *key;
        enum oc_html_kind kind;
        uint64_t v;
        bool wanted, exact;
    } fact[] = {
        {"MACs", "totals.macs", OC_HTML_SI, t->macs, oc_sum_known(t, t->macs, t->macs_exact), t->macs_exact},
        {oc_work_words(r, "FLOPs"), "totals.flops", OC_HTML_SI, t->flops,
         oc_sum_known(t, t->flops, t->work_exact), t->work_exact},
        {"Integer operations", "totals.ops", OC_HTML_SI, t->ops, t->ops > 0, t->work_exact},
        {"Parameters", "totals.params", OC_HTML_SI, t->params, true, true},
        {"Constants", "totals.const_bytes", OC_HTML_BYTES, t->const_bytes, true, true}};
    for (size_t i = 0; i < OC_COUNT(fact); i++)
        if (fact[i].wanted)
            oc_html_fact_u64(h, fact[i].title, fact[i].key, fact[i].kind, fact[i].v,
                             mark_of(t, fact[i].exact), NULL);
    if (a->peak.quality != OC_UNKNOWN && a->peak.node != OC_NONE)
        oc_html_fact_u64(h, "Peak activation memory", "totals.peak_activation_bytes", OC_HTML_BYTES,
                         a->peak.bytes, oc_quality_mark(a->peak.quality), NULL);
}

static void time_facts(struct oc_html *h, struct oc_report *r, const struct oc_verdict *v)
{
    struct oc_headline line;
    struct oc_row_bounds b;
    oc_headline_of(r, &line);
    if (v->text && !isnan(v->run_ns))
        oc_html_fact_double(h, isnan(line.run_ns) ? "Total time" : "Latency", "verdict.run_ns", OC_HTML_NS,
                            v->run_ns, oc_headline_runs_text(r->in->profile, &h->arena));
    if (!isnan(line.inferences_per_s))
        oc_html_fact_double(h, "Inferences per second", "totals.inferences_per_s", OC_HTML_NUMBER,
                            line.inferences_per_s, NULL);
    if (!isnan(line.flops_per_s))
        oc_html_fact_double(h, oc_work_words(r, "Achieved FLOP/s"), "totals.achieved_flops_per_s", OC_HTML_SI,
                            line.flops_per_s, NULL);
    if (!r->in->device)
        return;
    oc_bounds_of(r, &b);
    if (b.rows)
        oc_html_fact_double(h, "Roofline time", "hardware.roofline.roofline_time_ns", OC_HTML_NS,
                            oc_ns_of(b.roof_s), oc_device_info(r->in->device)->name);
}

/* ---- fragment: operator types ----------------------------------------------------------------------- */

static int by_value(const void *pa, const void *pb)
{
    const struct oc_html_part *a = pa, *b = pb;
    return a->value != b->value ? (a->value < b->value) - (a->value > b->value) : strcmp(a->name, b->name);
}

/* The types with the most time, or without times the most operations; the last part has all others. */
static void type_bar(struct oc_html *h, struct oc_report *r)
{
    enum { SHOWN = 5 };
    uint32_t n_row = OC_ALL_ROWS(r);
    struct oc_html_part *part = OC_NEW_ARRAY(&h->arena, (size_t)n_row + 1, struct oc_html_part);
    struct oc_map seen = {.arena = &h->arena};
    uint32_t n = 0;
    double whole = 0;
    for (uint32_t i = 0; i < n_row; i++) {
        const struct oc_row *row = &r->all.row[i];
        double v = r->has_time ? oc_ns_of(row->time_s) : row->computation;
        const char *type = row->remainder ? row->name : row->type ? row->type : "(no type)";
        uint32_t at = n;
        if (!(v > 0))
            continue;
        if (oc_map_add(&seen, type, strlen(type), &at, NULL))
            part[n++] = (struct oc_html_part){.name = type};
        part[at].value += v;
        whole += v;
    }
    oc_map_free(&seen);
    if (n < 2)
        return;
    qsort(part, n, sizeof(*part), by_value);
    for (uint32_t i = SHOWN + 1; i < n; i++)
        part[SHOWN].value += part[i].value;
    if (n > SHOWN + 1) {
        part[SHOWN].name = oc_printf(&h->arena, "%u other types", n - SHOWN);
        n = SHOWN + 1;
    }
    for (uint32_t i = 0; i < n; i++)
        part[i].color = i;
    const char *title = r->has_time ? "Time by operator type" : "Operations by operator type";
    oc_html_begin(h, "types", title);
    oc_html_strip(h, title, r->has_time ? OC_HTML_NS : OC_HTML_SI, part, n, whole);
    oc_html_end(h);
}

/* ---- fragment: rows --------------------------------------------------------------------------------- */

static void column_field(struct oc_fields *o, const struct oc_column *c, struct oc_line *line)
{
    struct oc_field v = {.number = NAN};
    line->column = c;
    c->get(line, &v);
    if (c->kind == OC_FIELD_TEXT)
        oc_field_text(o, c->key, v.text);
    else if (v.whole)
        oc_field_u64(o, c->key, v.whole);
    else if (c->kind == OC_FIELD_TIME)
        oc_field_time(o, c->key, oc_ns_of(v.number));
    else
        oc_field_double(o, c->key, v.number);
}

static void shown_rows(struct oc_html *h, struct oc_report *r)
{
    bool time = r->has_time;
    const struct oc_html_column column[] = {
        {.field = "name", .title = "Operator", .kind = OC_HTML_CODE},
        {.field = "type", .title = "Type", .kind = OC_HTML_CODE, .unlike = "name"},
        {.field = "count", .title = "Operators", .kind = OC_HTML_COUNT},
        {.field = "time_ns", .title = "Time", .kind = OC_HTML_NS, .bar = true},
        {.field = "time_fraction", .title = "Share", .kind = OC_HTML_PERCENT},
        {.field = "flo",
         .title = oc_work_words(r, "FLOPs"),
         .kind = OC_HTML_SI,
         .bar = !time,
         .quality = "quality"},
        {.field = "flop_per_s", .title = oc_work_words(r, "FLOP/s"), .kind = OC_HTML_SI},
        {.field = "bytes", .title = "Moved", .kind = OC_HTML_BYTES, .quality = "quality"},
        {.field = "roofline_ns", .title = "Roofline", .kind = OC_HTML_NS},
        {.field = "wasted_ns", .title = "Gap", .kind = OC_HTML_NS},
        {.field = "bound_by", .title = "Bound by"},
        {.field = "runtime_name", .title = "Name in the profile", .kind = OC_HTML_CODE},
    };
    const struct oc_column *all[OC_MAX_COLUMNS];
    size_t n = oc_columns_for(r, OC_COL_CSV, all);
    struct oc_fields o = {0};
    struct oc_line line = {.r = r, .arena = &h->arena};
    while (oc_line_next(&line)) {
        oc_fields_begin(&o);
        for (size_t i = 0; i < n; i++)
            column_field(&o, all[i], &line);
        oc_fields_end(&o);
    }
    const char *title = r->shown.n < r->all.n && !oc_report_grouped(r->o)
                            ? oc_printf(&h->arena, "%u of %u rows", r->shown.n, r->all.n)
                            : "Rows";
    oc_html_table(
        h,
        &(struct oc_html_table){.id = "rows", .title = title, .column = column, .n_column = OC_COUNT(column)},
        &o);
    oc_fields_free(&o);
}

/* ---- fragment: all ---------------------------------------------------------------------------------- */

void oc_out_fragment(struct oc_report *r, FILE *f)
{
    struct oc_html h = {.fragment = true};
    const char *text[OC_MAX_MISMATCHES];
    size_t n = oc_mismatches(r->in, text);
    struct oc_verdict v;
    for (size_t i = 0; i < n; i++) {
        oc_buf_str(&h.b, "<p class=\"mismatch\" role=\"alert\">");
        oc_html_escaped(&h, text[i]);
        oc_buf_str(&h.b, "</p>\n");
    }
    oc_verdict_of(r, &v);
    FILE *part = oc_buf_stream(&h.b);
    html_verdict_parts(r, &v, part);
    fclose(part);
    oc_html_facts_begin(&h);
    time_facts(&h, r, &v);
    if (r->in->analysis)
        count_facts(&h, r);
    oc_html_facts_end(&h);
    type_bar(&h, r);
    shown_rows(&h, r);
    oc_html_write(&h, r->in->model ? r->in->model->path : r->in->profile->path, "costs", r->o->made, f);
}
