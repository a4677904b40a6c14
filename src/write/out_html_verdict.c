/* The part of the page that needs no scripts: the sentence, the bar of the time, the largest rows, the
 * first warnings. */
#include "write/out_html.h"

#include <string.h>

#include "base/unicode.h"
#include "base/units.h"
#include "onnxcost.h"
#include "onnxcost/report.h"
#include "report/columns.h"
#include "report/headline.h"

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

static void largest_rows(struct oc_report *r, const struct oc_verdict *v, FILE *f)
{
    fprintf(f, "<ol class=\"largest\" aria-label=\"%s\">\n",
            isnan(v->largest[0].gap_ns) ? "Rows with the most time"
                                        : "Rows with the largest gap to the roofline");
    for (uint32_t i = 0; i < v->n_largest; i++) {
        const struct oc_largest *l = &v->largest[i];
        char time[32];
        fputs("<li><b>", f);
        oc_html_text(oc_row_type(r, l->row), f);
        fputs("</b> <span class=\"row\" data-row=\"", f);
        oc_html_text(l->label, f);
        fputs("\">", f);
        oc_html_text(l->label, f);
        fprintf(f, "</span>: %s", oc_format_time_ns(l->time_ns, time, sizeof(time)));
        if (!isnan(l->gap_ns))
            fprintf(f, ", %s above its roofline time", oc_format_time_ns(l->gap_ns, time, sizeof(time)));
        fputs("</li>\n", f);
    }
    fputs("</ol>\n", f);
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

void oc_html_verdict_parts(struct oc_report *r, const struct oc_verdict *v, FILE *f)
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
    first_warnings(r->in, f);
}

void oc_html_verdict(struct oc_report *r, FILE *f)
{
    struct oc_verdict v;
    oc_verdict_of(r, &v);
    if (!v.text && !r->o->made && !first_warnings(r->in, NULL))
        return;
    fputs("<section id=\"verdict\" class=\"wide\">\n", f);
    oc_html_verdict_parts(r, &v, f);
    if (r->o->made) {
        fputs("<p class=\"note made\">", f);
        oc_html_text(r->o->made, f);
        fputs("</p>\n", f);
    }
    fputs("</section>\n", f);
}
