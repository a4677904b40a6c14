#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "report/columns.h"
#include "report/row_label.h"
#include "write/details.h"
#include "write/out_sizes.h"
#include "write/plain_table.h"
#include "write/screen.h"
#include "write/term_table.h"
#include "base/unicode.h"
#include "report/what_if.h"

/* ---- compact table: one line per row ----------------------------------------------------------------- */

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
    struct oc_term_table t = {.arena = &r->arena,
                              .n_column = oc_columns_for(r, OC_COL_COMPACT, column),
                              .n_row = r->shown.n,
                              .width_chars = r->o->width_chars,
                              .color = r->o->color};
    for (size_t c = 0; c < t.n_column; c++)
        t.column[c] = (struct oc_term_column){
            .title = column[c]->title,
            .left = column[c]->left,
            .min_width = column[c]->min_width,
            .drop = is_order(r->o->order_by, column[c]) ? 0 : column[c]->drop,
        };
    t.cell = OC_NEW_ARRAY(&r->arena, (size_t)t.n_row * t.n_column, const char *);
    struct oc_line l = {.r = r, .arena = &r->arena};
    while (oc_line_next(&l))
        for (size_t c = 0; c < t.n_column; c++)
            t.cell[l.rank * t.n_column + c] =
                strcmp(column[c]->key, "name") == 0 ? oc_row_label(r, l.row) : oc_field_human(column[c], &l);
    oc_term_table_print(&t, f);
}

static void put(struct oc_buf *b, FILE *f)
{
    fwrite(b->data, 1, b->n, f);
    oc_buf_clear(b);
}

/* Names come from files: control characters could move the cursor. */
static const char *safe_text(struct oc_arena *arena, const char *s)
{
    return oc_make_visible(oc_strdup(arena, s));
}

/* ---- the summary -----------------------------------------------------------------------------------------
 */

static bool is_printed(const struct oc_report *r, const struct oc_summary_line *line)
{
    return r->o->verbose || !line->detail;
}

/* All lines with -v, otherwise the main lines and the warnings. */
static void print_summary(struct oc_report *r, FILE *f)
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

static bool wants(const struct oc_report *r, const char *part)
{
    return !r->o->print_only || !strcmp(r->o->print_only, part);
}

/* ---- MegEngine's forms ------------------------------------------------------------------------------------
 */

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

static void make_info_safe(struct oc_report *r)
{
    for (uint32_t i = 0; i < r->shown.n; i++) {
        struct oc_row *row = &r->shown.row[i];
        const char **info = OC_NEW_ARRAY(&r->arena, row->n_info, const char *);
        for (uint32_t k = 0; k < row->n_info; k++)
            info[k] = safe_text(&r->arena, row->info[k]);
        row->info = info;
    }
}

static void grid_table(struct oc_report *r, FILE *f)
{
    make_info_safe(r);
    struct oc_details d = {.time_title = r->has_time ? "self time" : NULL,
                           .total_s = r->total_s,
                           .max_shapes = MAX_SHAPES,
                           .ascii = r->o->style && !strcmp(r->o->style, "ascii"),
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
    put(&b, f);
    oc_buf_free(&b);
}

static bool as_grid(const struct oc_report *r)
{
    return r->o->dump_only_opr || r->o->confluence ||
           (r->o->style && (!strcmp(r->o->style, "grid") || !strcmp(r->o->style, "ascii")));
}

void oc_out_term(struct oc_report *r, FILE *f)
{
    if (wants(r, "summary"))
        print_summary(r, f);
    if (!r->o->print_only)
        fputc('\n', f);
    if (!r->o->print_only && !as_grid(r))
        oc_out_sizes(r, false, f);
    if (!r->o->print_only || !wants(r, "summary"))
        (as_grid(r) ? grid_table : oc_screen_is_default(r->o) ? oc_screen_print : compact_table)(r, f);
    if (r->what_if && !r->o->confluence && !r->o->dump_only_opr)
        oc_what_if_text(r->what_if, &r->arena, f);
}
