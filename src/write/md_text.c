#include "write/tables/grid.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/analysis.h"
#include "base/unicode.h"
#include "hw/hwdb.h"
#include "join/join.h"
#include "onnxcost.h"
#include "onnxcost/hardware.h"
#include "onnxcost/report.h"
#include "report/columns.h"
#include "report/headline.h"
#include "report/what_if.h"
#include "write/report_write.h"

enum { MAX_COLUMNS = 160, HEAD = MAX_COLUMNS / 3 };

static bool is_alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* Characters without a special meaning in a table cell: an underscore inside a word has none. */
static bool is_harmless(const char *s)
{
    for (const char *p = s; *p; p++)
        if (!is_alnum(*p) && !strchr(" ,.()%:;/+-=?'", *p) &&
            !(*p == '_' && p > s && is_alnum(p[-1]) && is_alnum(p[1])))
            return false;
    return *s && !strstr(s, "://") && !strstr(s, "www.");
}

static void md_text_put(struct oc_buf *b, const char *p, const char *end)
{
    while (p < end) {
        const char *from = p;
        if (oc_uni_is_hidden(oc_utf8_next(&p, end)))
            oc_buf_char(b, '?');
        else
            oc_buf_add(b, from, (size_t)(p - from));
    }
}

/* The end of the first `columns` columns of the text. */
static const char *after(const char *p, const char *end, size_t columns)
{
    size_t n = 0;
    while (p < end) {
        const char *next = p;
        n += oc_uni_columns(oc_utf8_next(&next, end));
        if (n > columns)
            break;
        p = next;
    }
    return p;
}

/* The text without control characters, shortened in the middle when it is long. */
static void clean(struct oc_buf *b, const char *s, bool cut)
{
    const char *end = s + strlen(s);
    size_t columns = cut ? oc_utf8_columns(s, strlen(s)) : 0;
    if (columns <= MAX_COLUMNS) {
        md_text_put(b, s, end);
        return;
    }
    md_text_put(b, s, after(s, end, HEAD));
    oc_buf_str(b, "…");
    md_text_put(b, after(s, end, columns - (MAX_COLUMNS - HEAD - 1)), end);
}

/* A code span cannot contain its own fence, and tables split cells at bars before they parse code. A
 * <code> element with character references for all punctuation can contain anything and never forms a link
 * or mention. */
static void md_text_element(struct oc_buf *b, const char *s)
{
    oc_buf_str(b, "<code>");
    for (; *s; s++) {
        if (is_alnum(*s) || (unsigned char)*s >= 0x80)
            oc_buf_char(b, *s);
        else
            oc_buf_printf(b, "&#%u;", (unsigned char)*s);
    }
    oc_buf_str(b, "</code>");
}

static void code(struct oc_buf *b, const char *s, bool cut)
{
    struct oc_buf text = {0};
    clean(&text, s, cut);
    bool span = text.n && !strpbrk(text.data, "`|\\") && text.data[0] != ' ' && text.data[text.n - 1] != ' ';
    if (span)
        oc_buf_printf(b, "`%s`", text.data);
    else if (text.n)
        md_text_element(b, text.data);
    else
        oc_buf_char(b, '-');
    oc_buf_free(&text);
}

void oc_md_code(struct oc_buf *b, const char *s)
{
    code(b, s, true);
}

void oc_md_text(struct oc_buf *b, const char *s)
{
    if (is_harmless(s))
        oc_buf_str(b, s);
    else
        code(b, s, false);
}

/* ---- out markdown ----------------------------------------------------------------------------------- */

/* A report for a pull request or an issue in GitHub-flavoured Markdown: a short summary table, the rows,
 * and the remaining lines folded. */

static void put_plain(struct oc_buf *b, FILE *f)
{
    if (b->n)
        fwrite(b->data, 1, b->n, f);
    oc_buf_clear(b);
}

static bool md_text_wants(const struct oc_report *r, const char *part)
{
    return !r->o->print_only || !strcmp(r->o->print_only, part);
}

/* ---- the summary ------------------------------------------------------------------------------------ */

/* Lines whose complete lists are printed elsewhere. */
static bool md_text_is_listed(const char *label)
{
    return !strcmp(label, "assumptions") || !strcmp(label, "warnings") || !strcmp(label, "mismatch");
}

static void md_text_line(struct oc_buf *b, const char *label, const char *text)
{
    oc_buf_printf(b, "| %s | ", label);
    oc_md_text(b, text);
    oc_buf_str(b, " |\n");
}

/* Quality of the sums, and the number of nodes that are not exact. */
static void quality_line(const struct oc_report *r, struct oc_buf *b)
{
    static const char *const name[] = {"exact", "upper bounds", "lower bounds", "estimates", "unknown"};
    const struct oc_totals *t = r->in->analysis ? r->in->analysis->total : NULL;
    if (!t)
        return;
    oc_buf_printf(b, "| counts are | %s", name[t->quality <= OC_UNKNOWN ? t->quality : OC_UNKNOWN]);
    if (t->not_exact.nodes)
        oc_buf_printf(b, ": %llu of %llu nodes are not exact", (unsigned long long)t->not_exact.nodes,
                      (unsigned long long)t->nodes);
    oc_buf_str(b, " |\n");
}

static void summary_rows(const struct oc_summary *s, bool detail, struct oc_buf *b)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (s->line[i].detail == detail && !md_text_is_listed(s->line[i].label))
            md_text_line(b, s->line[i].label, s->line[i].text);
}

static void md_text_mismatches(const struct oc_report *r, struct oc_buf *b)
{
    const char *text[OC_MAX_MISMATCHES];
    size_t n = oc_mismatches(r->in, text);
    for (size_t i = 0; i < n; i++) {
        oc_buf_str(b, "> **Warning:** ");
        oc_md_text(b, text[i]);
        oc_buf_str(b, "\n\n");
    }
}

static void title(const struct oc_report *r, struct oc_buf *b)
{
    const char *path = r->in->model ? r->in->model->path : r->in->profile->path;
    const char *slash = strrchr(path, '/');
    oc_buf_str(b, "### onnxcost: ");
    oc_md_code(b, slash ? slash + 1 : path);
    oc_buf_str(b, "\n\n");
}

/* ---- the rows --------------------------------------------------------------------------------------- */

static void md_text_cell(const struct oc_column *c, const struct oc_line *l, struct oc_buf *b)
{
    const char *text = oc_field_human(c, l);
    oc_buf_char(b, ' ');
    if (c->kind == OC_FIELD_TEXT && strcmp(text, "-"))
        oc_md_code(b, text);
    else if (text[0] == '<' || text[0] == '>')
        oc_buf_printf(b, "%s%s", text[0] == '<' ? "&lt;" : "&gt;", text + 1);
    else
        oc_buf_str(b, text);
    oc_buf_str(b, " |");
}

static void md_text_rows(struct oc_report *r, FILE *f)
{
    const struct oc_column *column[OC_MAX_COLUMNS];
    size_t n = oc_columns_for(r, OC_COL_COMPACT, column);
    struct oc_buf b = {0};
    oc_buf_str(&b, "|");
    for (size_t i = 0; i < n; i++)
        oc_buf_printf(&b, " %s |", column[i]->title);
    oc_buf_str(&b, "\n|");
    for (size_t i = 0; i < n; i++)
        oc_buf_str(&b, column[i]->left ? " --- |" : " ---: |");
    oc_buf_char(&b, '\n');
    struct oc_line l = {.r = r, .arena = &r->arena};
    while (oc_line_next(&l)) {
        oc_buf_char(&b, '|');
        for (size_t i = 0; i < n; i++)
            md_text_cell(column[i], &l, &b);
        oc_buf_char(&b, '\n');
        put_plain(&b, f);
    }
    put_plain(&b, f);
    if (!r->shown.n)
        fputs("\n(no rows)\n", f);
    else if (r->shown.n < r->all.n && !oc_report_grouped(r->o))
        fprintf(f, "\n%u of %u rows\n", r->shown.n, r->all.n);
    oc_buf_free(&b);
}

/* The what-if table is the terminal's, in a code fence that no content can close. */
static void what_if(struct oc_report *r, FILE *f)
{
    struct oc_buf text = {0};
    FILE *memory = oc_buf_stream(&text);
    oc_what_if_text(r->what_if, &r->arena, memory);
    fclose(memory);
    size_t longest = 2, run = 0;
    for (size_t i = 0; i < text.n; i++) {
        run = text.data[i] == '`' ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    struct oc_buf b = {0};
    oc_buf_char(&b, '\n');
    oc_buf_pad(&b, '`', longest + 1);
    oc_buf_add(&b, text.data, text.n);
    oc_buf_pad(&b, '`', longest + 1);
    oc_buf_char(&b, '\n');
    put_plain(&b, f);
    oc_buf_free(&b);
    oc_buf_free(&text);
}

/* ---- the folded part -------------------------------------------------------------------------------- */

static void md_text_assumption(struct oc_buf *b, const char *what, const char *name, const char *value,
                               const char *reason)
{
    const char *part[] = {what, name, value, reason};
    oc_buf_char(b, '|');
    for (size_t i = 0; i < OC_COUNT(part); i++) {
        oc_buf_char(b, ' ');
        oc_md_text(b, part[i] ? part[i] : "");
        oc_buf_str(b, " |");
    }
    oc_buf_char(b, '\n');
}

static size_t n_assumptions(const struct oc_report_in *in)
{
    return (in->analysis ? in->analysis->n_assumption : 0) +
           (in->device ? oc_device_info(in->device)->n_set : 0);
}

static void md_text_assumptions(const struct oc_report_in *in, struct oc_buf *b)
{
    if (!n_assumptions(in))
        return;
    oc_buf_str(b, "\n| assumption | of | value | why |\n| --- | --- | --- | --- |\n");
    for (uint32_t i = 0; in->analysis && i < in->analysis->n_assumption; i++) {
        const struct oc_assumption *q = &in->analysis->assumption[i];
        md_text_assumption(b, q->what, q->name, q->value, q->reason);
    }
    const struct oc_device_info *d = in->device ? oc_device_info(in->device) : NULL;
    for (size_t i = 0; d && i < d->n_set; i++)
        md_text_assumption(b, "hardware", d->set[i].key, d->set[i].value, "set by --hw-set");
}

static size_t n_findings(const struct oc_report_in *in)
{
    const struct oc_diag *d;
    size_t n = 0;
    for (unsigned s = 0; s < OC_FINDING_SOURCES; s++)
        n += oc_findings_of(in, s, &d);
    return n;
}

static void md_text_findings(const struct oc_report_in *in, struct oc_buf *b)
{
    const struct oc_diag *d = NULL;
    if (n_findings(in))
        oc_buf_str(b, "\n| severity | where | what | code |\n| --- | --- | --- | --- |\n");
    for (unsigned s = 0; s < OC_FINDING_SOURCES; s++) {
        size_t n = oc_findings_of(in, s, &d);
        for (size_t i = 0; i < n; i++) {
            oc_buf_printf(b, "| %s | ", oc_severity_name(&d[i]));
            oc_md_code(b, d[i].where ? d[i].where : "");
            oc_buf_str(b, " | ");
            oc_md_text(b, d[i].text);
            oc_buf_printf(b, " | %s |\n", d[i].code);
        }
    }
}

static void details(const struct oc_report *r, const struct oc_summary *s, struct oc_buf *b)
{
    oc_buf_printf(b, "\n<details>\n<summary>Assumptions: %zu, warnings: %zu, details</summary>\n\n",
                  n_assumptions(r->in), n_findings(r->in));
    oc_buf_str(b, "| | |\n| --- | --- |\n");
    summary_rows(s, true, b);
    md_text_assumptions(r->in, b);
    md_text_findings(r->in, b);
    oc_buf_str(b, "\nby onnxcost " ONNXCOST_VERSION "\n\n</details>\n");
}

void oc_out_markdown(struct oc_report *r, FILE *f)
{
    struct oc_summary s = {0};
    struct oc_buf b = {0};
    oc_report_summary(r, &s);
    md_text_mismatches(r, &b);
    put_plain(&b, f);
    if (md_text_wants(r, "summary")) {
        title(r, &b);
        oc_buf_str(&b, "| | |\n| --- | --- |\n");
        summary_rows(&s, false, &b);
        quality_line(r, &b);
        put_plain(&b, f);
    }
    if (!r->o->print_only) {
        fputc('\n', f);
        oc_out_sizes(r, true, f);
    }
    if (md_text_wants(r, "device") || md_text_wants(r, "host"))
        md_text_rows(r, f);
    if (r->what_if)
        what_if(r, f);
    if (r->advice) {
        oc_advice_markdown(r->advice, &r->arena, &b);
        put_plain(&b, f);
    }
    if (md_text_wants(r, "summary")) {
        details(r, &s, &b);
        put_plain(&b, f);
    }
    oc_buf_free(&b);
    free(s.line);
}
