/* Data of the page about the whole report: totals, profile, hardware, coverage, assumptions, warnings. */
#include "write/out_html.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/str.h"
#include "hw/hwdb.h"
#include "onnxcost.h"
#include "onnxcost/hardware.h"
#include "onnxcost/report.h"
#include "report/headline.h"
#include "report/report.h"
#include "write/report_write.h"
#include "write/tables/html_page.h"

static void sum_of_model(struct oc_json_out *w, const struct oc_analysis *a)
{
    const struct oc_totals *t = a->total;
    oc_page_key_u64(w, "nodes", true, t->nodes);
    oc_page_key_u64(w, "unknown_nodes", true, t->unknown_nodes);
    oc_page_key_u64(w, "macs", oc_sum_known(t, t->macs, t->macs_exact), t->macs);
    oc_page_key_u64(w, "flops", oc_sum_known(t, t->flops, t->work_exact), t->flops);
    oc_page_key_u64(w, "ops", oc_sum_known(t, t->ops, t->work_exact), t->ops);
    oc_page_key_u64(w, "params", true, t->params);
    oc_page_key_u64(w, "const_bytes", true, t->const_bytes);
    oc_page_key_u64(w, "bytes_read_act", oc_sum_known(t, t->bytes_read_act, false), t->bytes_read_act);
    oc_page_key_u64(w, "bytes_read_weight", oc_sum_known(t, t->bytes_read_weight, false),
                    t->bytes_read_weight);
    oc_page_key_u64(w, "bytes_written", oc_sum_known(t, t->bytes_written, false), t->bytes_written);
    oc_key_quality(w, t->quality);
    oc_key_bool(w, "macs_exact", t->macs_exact);
    oc_key_bool(w, "work_exact", t->work_exact);
    oc_page_key_u64(w, "not_exact_nodes", true, t->not_exact.nodes);
}

static void constants_by_class(struct oc_json_out *w, const struct oc_analysis *a)
{
    oc_key_object(w, "constants");
    for (unsigned c = OC_PC_COUNT; c-- > 0;)
        if (a->class_bytes[c])
            oc_page_key_u64(w, oc_param_class_name(c), true, a->class_bytes[c]);
    oc_jw_end_object(w);
}

static void html_profile(struct oc_json_out *w, struct oc_report *r)
{
    const struct oc_profile *p = r->in->profile;
    if (!oc_key_object_if(w, "profile", p != NULL) || !p)
        return;
    oc_key_text(w, "path", p->path);
    oc_key_text(w, "format", p->format);
    oc_key_text(w, "producer", p->producer);
    oc_key_text(w, "device", p->device);
    oc_key_text(w, "time_kind", p->time_kind);
    oc_key_text(w, "statistic", oc_stat_name(p->stat));
    oc_key_u64(w, "runs_total", p->runs_total);
    oc_key_u64(w, "runs_used", p->runs_used);
    oc_key_text(w, "runs_text", oc_headline_runs_text(p, &r->arena));
    struct oc_headline h;
    oc_headline_of(r, &h);
    oc_key_time(w, "total_ns", h.total_ns);
    oc_key_time(w, "run_ns", h.run_ns);
    oc_key_time(w, "busy_ns", h.busy_ns);
    oc_key_double(w, "inferences_per_s", h.inferences_per_s);
    oc_key_double(w, "flops_per_s", h.flops_per_s);
    oc_key_double(w, "ops_per_s", h.ops_per_s);
    oc_key_double(w, "bytes_per_s", h.bytes_per_s);
    oc_key_quality_of(w, "flops_quality", h.flops_quality);
    oc_key_quality_of(w, "bytes_quality", h.bytes_quality);
    oc_json_run_times(w, &p->spread);
    oc_key_bool(w, "functions", p->functions);
    oc_jw_end_object(w);
}

/* "totals", "profile" */
static void page_totals(struct oc_json_out *w, struct oc_report *r)
{
    oc_key_object(w, "totals");
    oc_key_double(w, "rows_time_ns", oc_ns_of(r->total_s));
    oc_key_u64(w, "runs", (uint64_t)r->m.runs);
    oc_key_bool(w, "model", r->in->analysis != NULL);
    if (r->in->analysis) {
        sum_of_model(w, r->in->analysis);
        constants_by_class(w, r->in->analysis);
    }
    oc_jw_end_object(w);
    html_profile(w, r);
}

/* ---- hardware --------------------------------------------------------------------------------------- */

struct used { /* operations of the rows by unit and class */
    double operations[OC_HW_UNIT_COUNT][OC_CLASS_COUNT];
};

static void add_used(void *user, unsigned unit, unsigned cls, double operations)
{
    struct used *u = user;
    u->operations[unit][cls] += operations;
}

/* Basis and source of a figure of the device. */
static void figure(struct oc_json_out *w, const char *key, const struct oc_hw_figure *f)
{
    if (!f) {
        oc_key_null(w, key);
        return;
    }
    oc_key_array(w, key);
    oc_jw_string(w, f->text);
    oc_jw_string(w, oc_basis_name(f->basis));
    oc_jw_string(w, f->source[0] ? f->source[0]->title : NULL);
    oc_jw_string(w, f->formula ? f->formula : f->note);
    oc_jw_end_array(w);
}

static void peaks(struct oc_json_out *w, const struct oc_report *r)
{
    const struct oc_device *d = r->in->device;
    struct used u = {0};
    for (uint32_t i = 0; i < r->all.n; i++)
        if (r->all.row[i].work && !r->all.row[i].work->unknown)
            oc_unit_work(d, r->all.row[i].work, add_used, &u);
    oc_key_array(w, "peaks");
    for (unsigned unit = 0; unit <= OC_HW_MATRIX; unit++)
        for (unsigned c = 0; c < OC_CLASS_COUNT; c++) {
            bool fallback = false;
            const struct oc_hw_figure *peak = oc_roof_peak(d, unit, c, &fallback);
            if (!peak && !(u.operations[unit][c] > 0))
                continue;
            oc_jw_begin_object(w);
            oc_key_text(w, "unit", oc_hw_unit_name(unit));
            oc_key_text(w, "class", oc_class_name(c));
            oc_key_double(w, "value", peak ? peak->value : NAN);
            figure(w, "figure", peak);
            oc_key_bool(w, "fallback", fallback);
            oc_key_count(w, "operations", u.operations[unit][c]);
            oc_jw_end_object(w);
        }
    oc_jw_end_array(w);
}

static void html_levels(struct oc_json_out *w, const struct oc_device *d)
{
    oc_key_array(w, "levels");
    for (unsigned i = 0; i < oc_roof_levels(d); i++) {
        const struct oc_hw_level *level = oc_roof_level(d, i);
        oc_jw_begin_object(w);
        oc_key_text(w, "name", level->name);
        oc_key_text(w, "type", level->type);
        oc_key_double(w, "size", level->size ? level->size->value : NAN);
        oc_key_double(w, "bandwidth", level->bandwidth ? level->bandwidth->value : NAN);
        figure(w, "figure", level->bandwidth);
        oc_jw_end_object(w);
    }
    oc_jw_end_array(w);
}

static void bounds(struct oc_json_out *w, struct oc_report *r)
{
    struct oc_row_bounds b;
    oc_bounds_of(r, &b);
    oc_key_u64(w, "rows", b.rows);
    oc_key_u64(w, "rows_without_limit", b.missing);
    oc_key_u64(w, "rows_above_roofline", r->n_too_fast);
    oc_key_double(w, "time_ns", b.rows ? oc_ns_of(b.time_s) : NAN);
    oc_key_double(w, "roofline_ns", b.rows ? oc_ns_of(b.roof_s) : NAN);
    oc_key_double(w, "wasted_ns", b.rows ? oc_ns_of(b.wasted_s) : NAN);
    oc_key_array(w, "bounds");
    for (uint32_t i = 0; i < b.n_share; i++) {
        oc_jw_begin_object(w);
        oc_key_text(w, "name", b.share[i].name);
        oc_key_u64(w, "rows", b.share[i].rows);
        oc_key_double(w, "fraction", oc_bound_fraction(&b, &b.share[i]));
        oc_jw_end_object(w);
    }
    oc_jw_end_array(w);
}

/* "hardware" */
static void page_hardware(struct oc_json_out *w, struct oc_report *r)
{
    const struct oc_device *d = r->in->device;
    if (!oc_key_object_if(w, "hardware", d != NULL))
        return;
    oc_key_text(w, "id", d->info->id);
    oc_key_text(w, "name", d->info->name);
    oc_key_text(w, "file", d->info->file);
    oc_key_bool(w, "cache", r->o->cache);
    oc_key_time(w, "overhead_ns", d->overhead ? d->overhead->value * 1e9 : NAN);
    figure(w, "overhead", d->overhead);
    peaks(w, r);
    html_levels(w, d);
    bounds(w, r);
    oc_jw_end_object(w);
}

/* ---- coverage, assumptions, warnings ---------------------------------------------------------------- */

static void unmatched(struct oc_json_out *w, const struct oc_join *j)
{
    enum { SHOWN = 200 };
    oc_key_u64(w, "n_unmatched", j->n_unmatched);
    oc_key_array(w, "unmatched");
    for (uint32_t i = 0; i < j->n_unmatched && i < SHOWN; i++) {
        const struct oc_prof_rec *rec = &j->profile->rec[j->unmatched[i]];
        oc_jw_begin_object(w);
        oc_key_text(w, "name", rec->name);
        oc_key_text(w, "type", rec->op_type);
        oc_key_time(w, "time_ns", isnan(rec->kernel_ns) ? rec->self_ns : rec->kernel_ns);
        oc_jw_end_object(w);
    }
    oc_jw_end_array(w);
}

static void coverage(struct oc_json_out *w, struct oc_report *r)
{
    const struct oc_join *j = r->in->join;
    if (!oc_key_object_if(w, "coverage", r->in->profile != NULL))
        return;
    oc_json_conserved(w, r, false);
    oc_json_conserved(w, r, true);
    oc_json_buckets(w, r);
    oc_key_double(w, "time_fraction", j ? j->time_matched_fraction : NAN);
    oc_key_double(w, "flops_fraction", j ? j->flops_matched_fraction : NAN);
    oc_key_time(w, "mapped_ns", j ? j->mapped_ns : NAN);
    oc_key_time(w, "overhead_ns", j ? j->overhead_ns : NAN);
    oc_key_time(w, "unmatched_ns", j ? j->unmatched_ns : NAN);
    if (j) {
        oc_key_u64(w, "nodes_without_time", j->nodes_without_time);
        unmatched(w, j);
    }
    oc_jw_end_object(w);
}

static void html_assumption(struct oc_json_out *w, const char *what, const char *name, const char *value,
                            const char *reason)
{
    const char *const text[] = {what, name, value, reason};
    oc_jw_begin_array(w);
    for (unsigned i = 0; i < OC_COUNT(text); i++)
        oc_jw_string(w, text[i]);
    oc_jw_end_array(w);
}

static void html_assumptions(struct oc_json_out *w, struct oc_report *r)
{
    const struct oc_analysis *a = r->in->analysis;
    const struct oc_device *d = r->in->device;
    oc_key_array(w, "assumptions");
    for (uint32_t i = 0; a && i < a->n_assumption; i++)
        html_assumption(w, a->assumption[i].what, a->assumption[i].name, a->assumption[i].value,
                        a->assumption[i].reason);
    for (size_t i = 0; d && i < d->info->n_set; i++)
        html_assumption(w, "hardware", d->info->set[i].key, d->info->set[i].value,
                        d->info->set[i].before
                            ? oc_printf(&r->arena, "--hw-set (hardware file: %s)", d->info->set[i].before)
                            : "--hw-set (not in the hardware file)");
    oc_jw_end_array(w);
}

static void html_findings(struct oc_json_out *w, const struct oc_report_in *in, unsigned source)
{
    const struct oc_diag *d = NULL;
    size_t n = oc_findings_of(in, source, &d);
    for (size_t i = 0; i < n; i++) {
        oc_jw_begin_array(w);
        oc_jw_string(w, oc_severity_name(&d[i]));
        oc_jw_string(w, d[i].code);
        oc_jw_string(w, d[i].where);
        oc_jw_string(w, d[i].text);
        oc_jw_end_array(w);
    }
}

/* "coverage", "assumptions", "findings" */
static void page_coverage(struct oc_json_out *w, struct oc_report *r)
{
    const struct oc_report_in *in = r->in;
    coverage(w, r);
    html_assumptions(w, r);
    oc_key_array(w, "findings");
    for (unsigned source = 0; source < OC_FINDING_SOURCES; source++)
        html_findings(w, in, source);
    oc_jw_end_array(w);
}

/* ---- out html --------------------------------------------------------------------------------------- */

/* Writes the report as one HTML file: the built-in page with the data. */

/* Text that would end the script element or start markup occurs only inside JSON strings, where it is
 * written as an escape. */
static void write_escaped(const char *json, size_t n, FILE *f)
{
    size_t done = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)json[i];
        bool markup = c == '<' || c == '>' || c == '&';
        bool line_end = c == 0xe2 && i + 2 < n && (unsigned char)json[i + 1] == 0x80 &&
                        ((unsigned char)json[i + 2] & 0xfe) == 0xa8;
        if (!markup && !line_end)
            continue;
        fwrite(json + done, 1, i - done, f);
        fprintf(f, "\\u%04x", markup ? c : 0x2000u + ((unsigned char)json[i + 2] & 0x3fu));
        i += line_end ? 2 : 0;
        done = i + 1;
    }
    fwrite(json + done, 1, n - done, f);
}

/* "resnet50.onnx", or the profile's file. */
static const char *html_title_of(const struct oc_report *r)
{
    const char *path = r->in->model ? r->in->model->path : r->in->profile->path;
    return path ? oc_base_name(path) : "model";
}

static void html_about(struct oc_json_out *w, struct oc_report *r)
{
    struct oc_summary s = {0};
    oc_report_summary(r, &s);
    oc_key_array(w, "about");
    for (uint32_t i = 0; i < s.n; i++) {
        oc_jw_begin_array(w);
        oc_jw_string(w, s.line[i].label);
        oc_jw_string(w, s.line[i].text);
        oc_jw_end_array(w);
    }
    oc_jw_end_array(w);
    free(s.line);
}

static void document(struct oc_json_out *w, struct oc_report *r)
{
    oc_jw_begin_object(w);
    oc_key_text(w, "schema", "onnxcost.page");
    oc_key_u64(w, "version", 2);
    oc_key_text(w, "tool", ONNXCOST_VERSION);
    oc_key_text(w, "title", html_title_of(r));
    html_about(w, r);
    page_totals(w, r);
    oc_jw_key(w, "sizes");
    if (oc_report_sizes(r))
        oc_json_sizes(w, oc_report_sizes(r));
    else
        oc_jw_null(w);
    page_hardware(w, r);
    page_coverage(w, r);
    if (r->what_if) {
        oc_jw_key(w, "what_if");
        oc_what_if_json(r->what_if, w);
    }
    if (r->advice) {
        enum { SHOWN = 100 };
        oc_jw_key(w, "advice");
        oc_advice_json_cut(r->advice, SHOWN, w);
    }
    oc_page_rows(w, r);
    oc_page_edges(w, r);
    oc_page_memory(w, r);
    oc_page_kernels(w, r);
    oc_page_timeline(w, r);
    oc_page_live(w, r);
    oc_jw_end_object(w);
}

static void write_base64(const uint8_t *p, size_t n, FILE *f)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=";
    enum { PAD = 64 };
    for (size_t i = 0; i < n; i += 3) {
        uint32_t three = (uint32_t)p[i] << 16;
        three |= i + 1 < n ? (uint32_t)p[i + 1] << 8 : 0;
        three |= i + 2 < n ? (uint32_t)p[i + 2] : 0;
        const char four[] = {digit[three >> 18], digit[three >> 12 & 63],
                             digit[i + 1 < n ? three >> 6 & 63 : PAD], digit[i + 2 < n ? three & 63 : PAD]};
        fwrite(four, 1, sizeof(four), f);
    }
}

static void html_write_data(struct oc_report *r, const char *id,
                            void (*document_of)(struct oc_json_out *w, struct oc_report *r), FILE *f)
{
    enum { PLAIN = 100000 }; /* bytes: what is smaller stays readable */
    struct oc_buf json = {0};
    struct oc_json_out w = {.f = oc_buf_stream(&json)};
    document_of(&w, r);
    fclose(w.f);
    struct oc_buf packed = {0};
    bool small = json.n > PLAIN && oc_gz_pack(json.data, json.n, &packed);
    fprintf(f, "<script type=\"application/%s\" id=\"%s\">", small ? "gzip" : "json", id);
    if (small)
        write_base64((const uint8_t *)packed.data, packed.n, f);
    else
        write_escaped(json.data, json.n, f);
    fputs("</script>\n", f);
    oc_buf_free(&packed);
    oc_buf_free(&json);
}

void oc_out_html(struct oc_report *r, FILE *f)
{
    const char *end = (const char *)oc_page + oc_page_bytes, *text[OC_MAX_MISMATCHES];
    const char *at = oc_page_until((const char *)oc_page, end, "@title@", f);
    size_t n = oc_mismatches(r->in, text);
    oc_html_text(html_title_of(r), f);
    at = oc_page_until(at, end, "@mismatch@", f);
    for (size_t i = 0; i < n; i++) {
        fputs("<p class=\"mismatch\" role=\"alert\">", f);
        oc_html_text(text[i], f);
        fputs("</p>\n", f);
    }
    at = oc_page_until(at, end, "@verdict@", f);
    oc_html_verdict(r, f);
    at = oc_page_until(at, end, "@data@", f);
    html_write_data(r, "data", document, f);
    html_write_data(r, "receipts", oc_page_receipts, f); /* read at the first use */
    oc_page_until(at, end, "@end@", f);
}
