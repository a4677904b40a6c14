#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "report/columns.h"
#include "write/details.h"
#include "base/unicode.h"
#include "report/what_if.h"

/* ---- the compact table: one line a row -------------------------------------------------------------------
 */

struct table {
    const char *order; /* --order-by, NULL */
    const struct oc_column *column[OC_MAX_COLUMNS];
    size_t width[OC_MAX_COLUMNS];
    size_t n_column;
    const char **cell; /* row-major, n_column a row */
    uint32_t n_row;
};

enum { GAP = 2 };

static size_t text_width(const char *s)
{
    return oc_utf8_columns(s, strlen(s));
}

static void fill(struct oc_report *r, struct table *t)
{
    t->n_column = oc_columns_for(r, OC_COL_COMPACT, t->column);
    t->order = r->o->order_by;
    t->n_row = r->shown.n;
    t->cell = OC_NEW_ARRAY(&r->arena, (size_t)t->n_row * t->n_column, const char *);
    for (size_t c = 0; c < t->n_column; c++)
        t->width[c] = text_width(t->column[c]->title);
    struct oc_line l = {.r = r, .arena = &r->arena};
    while (oc_line_next(&l)) {
        for (size_t c = 0; c < t->n_column; c++) {
            const char *text = oc_field_human(t->column[c], &l);
            t->cell[l.rank * t->n_column + c] = text;
            size_t w = text_width(text);
            t->width[c] = w > t->width[c] ? w : t->width[c];
        }
    }
}

static size_t total_width(const struct table *t)
{
    size_t sum = 0;
    for (size_t c = 0; c < t->n_column; c++)
        if (t->width[c])
            sum += t->width[c] + (sum ? GAP : 0);
    return sum;
}

static size_t least_width(const struct table *t, size_t c)
{
    size_t least = t->column[c]->min_width, title = text_width(t->column[c]->title);
    return !least ? t->width[c] : least > title ? least : title;
}

/* The widest column that can still give something; n_column: none. */
static size_t widest_shrinkable(const struct table *t)
{
    size_t best = t->n_column, best_spare = 0;
    for (size_t c = 0; c < t->n_column; c++) {
        size_t least = least_width(t, c);
        size_t spare = t->width[c] > least ? t->width[c] - least : 0;
        if (spare && (best == t->n_column || t->width[c] > t->width[best])) {
            best = c;
            best_spare = spare;
        }
    }
    return best_spare ? best : t->n_column;
}

/* What the rows are ordered by stays: "wasted" is the column wasted_ns. */
static bool is_order(const struct table *t, const struct oc_column *c)
{
    const char *order = t->order;
    size_t n = c->title ? strlen(c->title) : 0;
    const char *at = order && n ? strstr(order, c->title) : NULL;
    return at && (at == order || strchr("+,", at[-1])) && (at[n] == '\0' || strchr(",_", at[n]));
}

static size_t next_to_drop(const struct table *t)
{
    size_t best = t->n_column;
    for (size_t c = 0; c < t->n_column; c++)
        if (t->width[c] && t->column[c]->drop && !is_order(t, t->column[c]) &&
            (best == t->n_column || t->column[c]->drop > t->column[best]->drop))
            best = c;
    return best;
}

/* First columns that matter least go when even the least widths do not fit, then long texts are cut. A width
 * of 0 marks a column that is gone. */
static void fit(struct table *t, unsigned limit)
{
    if (!limit)
        return;
    for (;;) {
        size_t need = 0;
        for (size_t c = 0; c < t->n_column; c++) {
            size_t least = least_width(t, c);
            size_t w = t->width[c] < least ? t->width[c] : least;
            need += w ? w + (need ? GAP : 0) : 0;
        }
        size_t gone = next_to_drop(t);
        if (need <= limit || gone == t->n_column)
            break;
        t->width[gone] = 0;
    }
    for (size_t c; total_width(t) > limit && (c = widest_shrinkable(t)) < t->n_column;)
        t->width[c]--;
}

/* Both ends of a long name say something, the last part more: "/layer3…relu/Relu". */
static void cut_middle(struct oc_buf *b, const char *text, size_t width)
{
    const char *p = text, *end = text + strlen(text), *tail;
    size_t head = 0, rest = text_width(text);
    while (p < end) {
        const char *next = p;
        size_t w = oc_uni_columns(oc_utf8_next(&next, end));
        if (head + w > width / 3)
            break;
        head += w;
        p = next;
    }
    for (tail = text; tail < end && rest > width - 1 - head;)
        rest -= oc_uni_columns(oc_utf8_next(&tail, end));
    oc_buf_add(b, text, (size_t)(p - text));
    oc_buf_str(b, "…");
    oc_buf_add(b, tail, (size_t)(end - tail));
    oc_buf_pad(b, ' ', width - head - 1 - rest); /* half of a wide character */
}

static void put_cell(struct oc_buf *b, const char *text, size_t width, bool left, bool last)
{
    size_t n = text_width(text);
    if (n > width) {
        cut_middle(b, text, width);
        return;
    }
    if (!left)
        oc_buf_pad(b, ' ', width - n);
    oc_buf_str(b, text);
    if (left && !last)
        oc_buf_pad(b, ' ', width - n);
}

static void put(struct oc_buf *b, FILE *f)
{
    fwrite(b->data, 1, b->n, f);
    oc_buf_clear(b);
}

/* Names come from files: control characters would move the cursor. */
static const char *safe_text(struct oc_arena *arena, const char *s)
{
    return oc_make_visible(oc_strdup(arena, s));
}

static void print_line(struct oc_report *r, const struct table *t, const char *const *cell, struct oc_buf *b)
{
    size_t last = 0;
    for (size_t c = 0; c < t->n_column; c++)
        if (t->width[c])
            last = c;
    bool first = true;
    for (size_t c = 0; c < t->n_column; c++) {
        if (!t->width[c])
            continue;
        if (!first)
            oc_buf_pad(b, ' ', GAP);
        first = false;
        const char *text = cell ? safe_text(&r->arena, cell[c]) : t->column[c]->title;
        put_cell(b, text, t->width[c], t->column[c]->left, c == last);
    }
}

static void compact_table(struct oc_report *r, FILE *f)
{
    struct table t;
    fill(r, &t);
    fit(&t, r->o->width_chars);
    struct oc_buf b = {0};
    oc_buf_str(&b, r->o->color ? "\033[1m" : "");
    print_line(r, &t, NULL, &b);
    oc_buf_str(&b, r->o->color ? "\033[0m\n" : "\n");
    put(&b, f);
    for (uint32_t i = 0; i < t.n_row; i++) {
        print_line(r, &t, t.cell + (size_t)i * t.n_column, &b);
        oc_buf_char(&b, '\n');
        put(&b, f);
    }
    oc_buf_free(&b);
    if (!t.n_row)
        fputs("(no rows)\n", f);
}

/* ---- the summary -----------------------------------------------------------------------------------------
 */

static void print_summary(struct oc_report *r, FILE *f)
{
    struct oc_summary s = {0};
    oc_report_summary(r, &s);
    const char *before = "";
    for (uint32_t i = 0; i < s.n; i++) {
        const char *label = strcmp(before, s.line[i].label) ? s.line[i].label : "";
        fprintf(f, "%s%-11s%s %s\n", r->o->color ? "\033[1m" : "", label, r->o->color ? "\033[0m" : "",
                safe_text(&r->arena, s.line[i].text));
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
    if (!r->o->print_only || !wants(r, "summary"))
        (as_grid(r) ? grid_table : compact_table)(r, f);
    if (r->what_if && !r->o->confluence && !r->o->dump_only_opr)
        oc_what_if_text(r->what_if, &r->arena, f);
}
