/* The report as text. Terminal: the summary, then the default tables (screen.c), one line per row, or
 * MegEngine's table. Markdown, GitHub-flavoured, for a pull request or an issue: a short summary table,
 * the rows, and the remaining lines folded. */
#include "write/report_write.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/analysis.h"
#include "base/str.h"
#include "base/unicode.h"
#include "base/units.h"
#include "hw/hwdb.h"
#include "join/join.h"
#include "onnxcost.h"
#include "onnxcost/hardware.h"
#include "onnxcost/report.h"
#include "report/columns.h"
#include "report/headline.h"
#include "report/report.h"
#include "write/tables/table.h"

static void write_out(struct oc_buf *b, FILE *f)
{
    if (b->n)
        fwrite(b->data, 1, b->n, f);
    oc_buf_clear(b);
}

static bool wants_part(const struct oc_report *r, const char *part)
{
    return !r->o->print_only || !strcmp(r->o->print_only, part);
}

/* ---- terminal: table with one line per row ---------------------------------------------------------- */

/* Keeps the sort column; "gap" is the title of the column wasted_ns. */
static bool is_order(const char *order, const struct oc_column *c)
{
    size_t n = strcspn(c->key, "_");
    for (const char *at = order; at && n; at = strchr(at, ','), at = at ? at + 1 : NULL) {
        at += *at == '+';
        if ((strncmp(at, c->key, n) == 0 && (!at[n] || strchr(",_", at[n]))) ||
            (c->title && strncmp(at, c->title, strlen(c->title)) == 0))
            return true;
    }
    return false;
}

static void compact_table(struct oc_report *r, FILE *f)
{
    const struct oc_column *column[OC_MAX_COLUMNS];
    const char *cell[OC_MAX_COLUMNS];
    uint8_t drop[OC_MAX_COLUMNS], min_width[OC_MAX_COLUMNS];
    char kinds[OC_MAX_COLUMNS + 1] = "";
    size_t n = oc_columns_for(r, OC_COL_COMPACT, column);
    struct oc_table t = {.kinds = kinds,
                         .drop = drop,
                         .min_width = min_width,
                         .width_chars = r->o->width_chars,
                         .color = r->o->color,
                         .empty = "(no rows)\n"};
    for (size_t c = 0; c < n; c++) {
        cell[c] = oc_work_words(r, column[c]->title);
        kinds[c] = column[c]->left ? 't' : 'n';
        min_width[c] = column[c]->min_width;
        drop[c] = is_order(r->o->order_by, column[c]) ? 0 : column[c]->drop;
    }
    oc_table_cells(&t, cell, n);
    struct oc_line l = {.r = r, .arena = &r->arena};
    while (oc_line_next(&l)) {
        for (size_t c = 0; c < n; c++)
            cell[c] = oc_field_human(column[c], &l);
        oc_table_row(&t, cell);
    }
    oc_table_print(&t, f);
    const char *total = oc_total_text(r, &r->arena);
    if (total)
        oc_plain_wrap(0, r->o->width_chars, total, f);
}

/* Names come from files: control characters could move the cursor. */
static const char *safe_text(struct oc_arena *arena, const char *s)
{
    return oc_make_visible(oc_strdup(arena, s));
}

/* ---- terminal: summary ------------------------------------------------------------------------------ */

static bool is_printed(const struct oc_report *r, const struct oc_summary_line *line)
{
    return r->o->verbose || !line->detail;
}

/* All lines with -v, otherwise the main lines and the warnings. */
static void print_summary_lines(struct oc_report *r, FILE *f)
{
    struct oc_summary s = {0};
    const char *before = "";
    size_t width = 0;
    oc_report_summary(r, &s);
    for (uint32_t i = 0; i < s.n; i++)
        if (is_printed(r, &s.line[i]) && strlen(s.line[i].label) > width)
            width = strlen(s.line[i].label);
    for (uint32_t i = 0; i < s.n; i++) {
        if (!is_printed(r, &s.line[i]))
            continue;
        const char *label = strcmp(before, s.line[i].label) ? s.line[i].label : "";
        fprintf(f, "%s%-*s%s  ", r->o->color ? "\033[1m" : "", (int)width, label,
                r->o->color ? "\033[0m" : "");
        oc_plain_wrap(width + 2, r->o->width_chars, s.line[i].text, f);
        before = s.line[i].label;
    }
    free(s.line);
}

/* ---- terminal: MegEngine's table -------------------------------------------------------------------- */

static const char *bound_cell(struct oc_arena *a, const struct oc_row *row)
{
    (void)a;
    return row->bound_by ? row->bound_by : "N/A";
}

static const char *roofline_cell(struct oc_arena *a, const struct oc_row *row)
{
    char buf[48];
    return isnan(row->roofline_s) ? "N/A"
                                  : oc_strdup(a, oc_format_time_ns(row->roofline_s * 1e9, buf, sizeof(buf)));
}

static const char *efficiency_cell(struct oc_arena *a, const struct oc_row *row)
{
    return isnan(row->efficiency) ? "N/A" : oc_printf(a, "%.1f%%", row->efficiency * 100);
}

enum { MAX_SHAPES = 64 };

static const struct oc_details_column hardware_columns[] = {
    {"bound by", bound_cell},
    {"roofline", roofline_cell},
    {"efficiency", efficiency_cell},
};

/* The "operator info" cells: those of groups are their own. */
static void make_info(struct oc_report *r)
{
    for (uint32_t i = 0; i < r->shown.n; i++) {
        struct oc_row *row = &r->shown.row[i];
        const char *const own[] = {row->name, row->type, row->id};
        const char **info = OC_NEW_ARRAY(&r->arena, OC_COUNT(own), const char *);
        for (uint32_t k = 0; k < OC_COUNT(own); k++) {
            const char *text = row->info ? row->info[k] : own[k];
            info[k] = safe_text(&r->arena, text ? text : "N/A");
        }
        row->info = info;
        row->n_info = OC_COUNT(own);
    }
}

static void grid_table(struct oc_report *r, FILE *f)
{
    make_info(r);
    struct oc_details d = {.time_title = r->has_time ? "self time" : NULL,
                           .total_s = r->total_s,
                           .max_shapes = MAX_SHAPES,
                           .extra = hardware_columns,
                           .n_extra = !r->in->device ? 0
                                      : r->has_time  ? 3
                                                     : 2};
    struct oc_buf b = {0};
    if (r->o->dump_only_opr)
        oc_details_names(&r->shown, &b);
    else if (r->o->confluence)
        oc_details_wiki(&r->shown, &d, &b);
    else
        oc_details_grid(&r->shown, &d, &b);
    write_out(&b, f);
    oc_buf_free(&b);
}

static bool as_grid(const struct oc_report *r)
{
    return r->o->dump_only_opr || r->o->confluence || (r->o->style && !strcmp(r->o->style, "grid"));
}

/* What is above the table. */
static void print_first_part(void *of, FILE *f)
{
    struct oc_report *r = of;
    if (wants_part(r, "summary"))
        print_summary_lines(r, f);
    if (!r->o->print_only)
        fputc('\n', f);
    if (!r->o->print_only && !as_grid(r))
        oc_out_sizes(r, false, f);
}

void oc_out_term(struct oc_report *r, FILE *f)
{
    size_t lines = oc_print_counted(print_first_part, r, f);
    if (!as_grid(r) && oc_screen_is_default(r->o))
        oc_screen_print(r, lines, f);
    else if (!r->o->print_only || !wants_part(r, "summary"))
        (as_grid(r) ? grid_table : compact_table)(r, f);
    if (r->what_if && !r->o->confluence && !r->o->dump_only_opr)
        oc_what_if_text(r->what_if, &r->arena, f);
}

/* ---- Markdown: summary ------------------------------------------------------------------------------ */

/* Lines whose complete lists are printed elsewhere. */
static bool md_is_listed(const char *label)
{
    return !strcmp(label, "assumptions") || !strcmp(label, "warnings") || !strcmp(label, "mismatch");
}

static void md_pair(struct oc_buf *b, const char *label, const char *text)
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

static void md_summary_rows(const struct oc_summary *s, bool detail, struct oc_buf *b)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (s->line[i].detail == detail && !md_is_listed(s->line[i].label))
            md_pair(b, s->line[i].label, s->line[i].text);
}

static void md_mismatches(const struct oc_report *r, struct oc_buf *b)
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
    oc_buf_str(b, "### onnxcost: ");
    oc_md_code(b, oc_base_name(path));
    oc_buf_str(b, "\n\n");
}

/* ---- Markdown: rows --------------------------------------------------------------------------------- */

static void md_cell(const struct oc_column *c, const struct oc_line *l, struct oc_buf *b)
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

static void md_rows(struct oc_report *r, FILE *f)
{
    const struct oc_column *column[OC_MAX_COLUMNS];
    size_t n = oc_columns_for(r, OC_COL_COMPACT, column);
    struct oc_buf b = {0};
    oc_buf_str(&b, "|");
    for (size_t i = 0; i < n; i++)
        oc_buf_printf(&b, " %s |", oc_work_words(r, column[i]->title));
    oc_buf_str(&b, "\n|");
    for (size_t i = 0; i < n; i++)
        oc_buf_str(&b, column[i]->left ? " --- |" : " ---: |");
    oc_buf_char(&b, '\n');
    struct oc_line l = {.r = r, .arena = &r->arena};
    while (oc_line_next(&l)) {
        oc_buf_char(&b, '|');
        for (size_t i = 0; i < n; i++)
            md_cell(column[i], &l, &b);
        oc_buf_char(&b, '\n');
        write_out(&b, f);
    }
    write_out(&b, f);
    if (!r->shown.n)
        fputs("\n(no rows)\n", f);
    else if (r->has_time)
        fprintf(f, "\n%s\n", oc_total_text(r, &r->arena));
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
    write_out(&b, f);
    oc_buf_free(&b);
    oc_buf_free(&text);
}

/* ---- Markdown: folded part -------------------------------------------------------------------------- */

static void md_assumption(struct oc_buf *b, const char *what, const char *name, const char *value,
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

static void md_assumptions(const struct oc_report_in *in, struct oc_buf *b)
{
    if (!n_assumptions(in))
        return;
    oc_buf_str(b, "\n| assumption | of | value | why |\n| --- | --- | --- | --- |\n");
    for (uint32_t i = 0; in->analysis && i < in->analysis->n_assumption; i++) {
        const struct oc_assumption *q = &in->analysis->assumption[i];
        md_assumption(b, q->what, q->name, q->value, q->reason);
    }
    const struct oc_device_info *d = in->device ? oc_device_info(in->device) : NULL;
    for (size_t i = 0; d && i < d->n_set; i++)
        md_assumption(b, "hardware", d->set[i].key, d->set[i].value, "set by --hw-set");
}

static size_t n_findings(const struct oc_report_in *in)
{
    const struct oc_diag *d;
    size_t n = 0;
    for (unsigned s = 0; s < OC_FINDING_SOURCES; s++)
        n += oc_findings_of(in, s, &d);
    return n;
}

static void md_findings(const struct oc_report_in *in, struct oc_buf *b)
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

static void md_folded(const struct oc_report *r, const struct oc_summary *s, struct oc_buf *b)
{
    oc_buf_printf(b, "\n<details>\n<summary>Assumptions: %zu, warnings: %zu, details</summary>\n\n",
                  n_assumptions(r->in), n_findings(r->in));
    oc_buf_str(b, "| | |\n| --- | --- |\n");
    md_summary_rows(s, true, b);
    md_assumptions(r->in, b);
    md_findings(r->in, b);
    oc_buf_str(b, "\nby onnxcost " ONNXCOST_VERSION "\n\n</details>\n");
}

void oc_out_markdown(struct oc_report *r, FILE *f)
{
    struct oc_summary s = {0};
    struct oc_buf b = {0};
    oc_report_summary(r, &s);
    md_mismatches(r, &b);
    write_out(&b, f);
    if (wants_part(r, "summary")) {
        title(r, &b);
        oc_buf_str(&b, "| | |\n| --- | --- |\n");
        md_summary_rows(&s, false, &b);
        quality_line(r, &b);
        write_out(&b, f);
    }
    if (!r->o->print_only) {
        fputc('\n', f);
        oc_out_sizes(r, true, f);
    }
    if (wants_part(r, "device") || wants_part(r, "host"))
        md_rows(r, f);
    if (r->what_if)
        what_if(r, f);
    if (r->advice) {
        oc_advice_markdown(r->advice, &r->arena, &b);
        write_out(&b, f);
    }
    if (wants_part(r, "summary")) {
        md_folded(r, &s, &b);
        write_out(&b, f);
    }
    oc_buf_free(&b);
    free(s.line);
}
