/* Tables of text for several outputs: sheets (terminal, Markdown), plain tables (aligned, CSV), grids in
 * the forms of Python's tabulate. */
#include "write/tables/plain_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/unicode.h"
#include "report/columns.h"
#include "report/python.h"

static size_t plain_table_columns(const struct oc_sheet *s)
{
    return strlen(s->kinds);
}

void oc_sheet_row(struct oc_sheet *s, const char *const *cells)
{
    size_t n = plain_table_columns(s);
    if (s->n_row == s->cap_row) {
        s->cap_row = s->cap_row ? s->cap_row * 2 : 16;
        s->cell = oc_xrealloc(s->cell, s->cap_row * n * sizeof(*s->cell));
    }
    memcpy(s->cell + s->n_row++ * n, cells, n * sizeof(*cells));
}

void oc_sheet_free(struct oc_sheet *s)
{
    free(s->cell);
    *s = (struct oc_sheet){0};
}

/* ---- sheets: terminal ------------------------------------------------------------------------------- */

/* Leading text columns are left-aligned. */
static size_t left_in_front(const struct oc_sheet *s)
{
    return strcspn(s->kinds, "n");
}

static size_t left_behind(const struct oc_sheet *s)
{
    const char *last = strrchr(s->kinds, 'n');
    return last ? strlen(last + 1) : 0;
}

void oc_sheet_plain(const struct oc_sheet *s, unsigned width_chars, bool color, FILE *f)
{
    size_t n = plain_table_columns(s);
    struct oc_arena arena = {0};
    struct oc_plain_table t = {.n_col = n,
                               .width_chars = width_chars,
                               .bold_head = color && s->head,
                               .headless = !s->head,
                               .changes = s->changes};
    if (s->head)
        oc_plain_row(&t, s->head);
    for (size_t i = 0; i < s->n_row; i++)
        oc_plain_row(&t, s->cell + i * n);
    if (left_behind(s) < n)
        oc_plain_left(&t, left_in_front(s), &arena);
    if (s->title)
        oc_print_line(f, "%s", s->title);
    oc_plain_print(&t, left_in_front(s) == n ? n : left_behind(s), f);
    oc_arena_free(&arena);
}

/* ---- sheets: Markdown ------------------------------------------------------------------------------- */

static void plain_table_put(struct oc_buf *b, FILE *f)
{
    if (b->n)
        fwrite(b->data, 1, b->n, f);
    oc_buf_clear(b);
}

static void md_line(struct oc_buf *b, const struct oc_sheet *s, const char *const *cells, bool head)
{
    oc_buf_char(b, '|');
    for (size_t c = 0; c < plain_table_columns(s); c++) {
        const char *text = cells ? cells[c] : "";
        oc_buf_char(b, ' ');
        if (head || s->kinds[c] == 'n')
            oc_buf_str(b, text);
        else if (s->kinds[c] == 'c' && *text && strcmp(text, "-") != 0)
            oc_md_code(b, text);
        else
            oc_md_text(b, text);
        oc_buf_str(b, " |");
    }
    oc_buf_char(b, '\n');
}

void oc_sheet_markdown(const struct oc_sheet *s, FILE *f)
{
    struct oc_buf b = {0};
    if (s->title)
        oc_buf_printf(&b, "#### %s\n\n", s->title);
    md_line(&b, s, s->head, true);
    oc_buf_char(&b, '|');
    for (const char *k = s->kinds; *k; k++)
        oc_buf_str(&b, *k == 'n' ? " ---: |" : " --- |");
    oc_buf_char(&b, '\n');
    for (size_t i = 0; i < s->n_row; i++)
        md_line(&b, s, s->cell + i * plain_table_columns(s), false);
    oc_buf_char(&b, '\n');
    plain_table_put(&b, f);
    oc_buf_free(&b);
}

/* ---- plain tables ----------------------------------------------------------------------------------- */

enum { GAP = 2 };

void oc_plain_row(struct oc_plain_table *t, const char *const *cell)
{
    if (t->n_row == t->cap_row) {
        t->cap_row = t->cap_row ? t->cap_row * 2 : 16;
        t->cell = oc_xrealloc(t->cell, t->cap_row * t->n_col * sizeof(*t->cell));
    }
    memcpy(t->cell + t->n_row++ * t->n_col, cell, t->n_col * sizeof(*cell));
}

void oc_plain_cells(struct oc_plain_table *t, const char *const *cell, size_t n)
{
    if (!t->n_row)
        t->n_col = n;
    oc_plain_row(t, cell);
}

void oc_plain_free(struct oc_plain_table *t)
{
    free(t->cell);
    t->cell = NULL;
    t->n_row = t->cap_row = 0;
}

void oc_plain_left(struct oc_plain_table *t, size_t n_first, struct oc_arena *arena)
{
    for (size_t c = 0; c < n_first; c++) {
        size_t width = 0;
        for (size_t r = 0; r < t->n_row; r++) {
            size_t n = strlen(t->cell[r * t->n_col + c]);
            width = n > width ? n : width;
        }
        for (size_t r = 0; r < t->n_row; r++)
            t->cell[r * t->n_col + c] = oc_printf(arena, "%-*s", (int)width, t->cell[r * t->n_col + c]);
    }
}

static size_t plain_table_width_of(const struct oc_plain_table *t, size_t c)
{
    size_t width = 0;
    for (size_t r = 0; r < t->n_row; r++) {
        const char *s = t->cell[r * t->n_col + c];
        size_t n = oc_utf8_count(s, strlen(s));
        width = n > width ? n : width;
    }
    return width;
}

/* Number of columns that fit; at least one. */
static size_t plain_table_fitting(const struct oc_plain_table *t, const size_t *width)
{
    size_t all = 0;
    for (size_t c = 0; c < t->n_col; c++) {
        all += (c && width[c] ? GAP : 0) + width[c];
        if (c && t->width_chars && all > t->width_chars)
            return c;
    }
    return t->n_col;
}

static size_t plain_table_total_width(const struct oc_plain_table *t, const size_t *width)
{
    size_t all = 0;
    for (size_t c = 0; c < t->n_col; c++)
        all += (c && width[c] ? GAP : 0) + width[c];
    return all;
}

/* Without the blanks that oc_plain_left adds; *left: there were some. */
static const char *without_padding(struct oc_arena *arena, const char *s, bool *left)
{
    size_t n = strlen(s);
    while (n && s[n - 1] == ' ')
        n--;
    *left = *left || s[n];
    return s[n] ? oc_strndup(arena, s, n) : s;
}

enum { SHORTEST_TEXT = 14 };

static void print_fitted(const struct oc_plain_table *t, size_t n_left, FILE *f)
{
    struct oc_arena arena = {0};
    struct oc_term_table fitted = {.arena = &arena,
                                   .n_column = t->n_col,
                                   .n_row = (uint32_t)t->n_row - 1,
                                   .width_chars = (unsigned)t->width_chars,
                                   .color = t->bold_head,
                                   .changes = t->changes};
    fitted.cell = OC_NEW_ARRAY(&arena, (t->n_row - 1) * t->n_col, const char *);
    for (size_t c = 0; c < t->n_col; c++) {
        struct oc_term_column *out = &fitted.column[c];
        out->left = c + n_left >= t->n_col;
        out->title = without_padding(&arena, t->cell[c], &out->left);
        for (size_t r = 1; r < t->n_row; r++)
            fitted.cell[(r - 1) * t->n_col + c] =
                without_padding(&arena, t->cell[r * t->n_col + c], &out->left);
        out->min_width = !out->left ? 0 : t->min_text ? t->min_text : SHORTEST_TEXT;
        out->drop = t->drop ? t->drop[c] : (uint8_t)c;
    }
    oc_term_table_print(&fitted, f);
    oc_arena_free(&arena);
}

static void plain_table_print_row(const struct oc_plain_table *t, size_t r, const size_t *width, size_t n,
                                  size_t n_left, struct oc_buf *b)
{
    bool bold = t->bold_head && !r;
    oc_buf_str(b, bold ? "\033[1m" : "");
    for (size_t c = 0; c < n; c++) {
        const char *s = t->cell[r * t->n_col + c];
        bool left = c + n_left >= t->n_col;
        size_t pad = width[c] - oc_utf8_count(s, strlen(s));
        oc_buf_pad(b, ' ', (c && width[c] ? GAP : 0) + (left ? 0 : pad));
        oc_put_change(b, s, t->bold_head && t->changes && !left);
        oc_buf_pad(b, ' ', left ? pad : 0);
    }
    while (b->n && b->data[b->n - 1] == ' ')
        b->n--;
    oc_buf_str(b, bold ? "\033[0m" : "");
    oc_buf_char(b, '\n');
}

size_t oc_plain_print(struct oc_plain_table *t, size_t n_left, FILE *f)
{
    struct oc_buf b = {0};
    size_t *width = oc_xmalloc((t->n_col + 1) * sizeof(*width));
    for (size_t c = 0; c < t->n_col; c++)
        width[c] = plain_table_width_of(t, c);
    size_t shown = t->headless ? plain_table_fitting(t, width) : t->n_col;
    bool fitted = t->width_chars && !t->headless && t->n_row && t->n_col <= OC_TERM_COLUMNS;
    if (fitted && plain_table_total_width(t, width) > t->width_chars) {
        print_fitted(t, n_left, f);
    } else {
        for (size_t r = 0; r < t->n_row; r++) {
            plain_table_print_row(t, r, width, shown, n_left, &b);
            plain_table_put(&b, f);
        }
    }
    oc_buf_free(&b);
    free(width);
    oc_plain_free(t);
    return shown;
}

static void csv_rows(struct oc_plain_table *t, const char *head, const char *version, FILE *f)
{
    struct oc_buf b = {0};
    for (size_t i = 0; i < t->n_row * t->n_col; i++) {
        oc_csv_text(&b, t->cell[i]);
        oc_buf_char(&b, ',');
        /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): a table has columns where it has cells */
        if ((i + 1) % t->n_col == 0)
            oc_buf_printf(&b, "%s\r\n", i < t->n_col ? head : version);
    }
    plain_table_put(&b, f);
    oc_buf_free(&b);
    oc_plain_free(t);
}

void oc_plain_csv(struct oc_plain_table *t, const char *version, FILE *f)
{
    csv_rows(t, "csv_version", version, f);
}

void oc_plain_csv_rows(struct oc_plain_table *t, const char *last, FILE *f)
{
    csv_rows(t, last, last, f);
}

int oc_format_of(const char *what, const char *format, const char *valid, struct oc_err *err)
{
    int index = 0;
    for (const char *p = valid; format && *p; index++) {
        size_t n = strcspn(p, ",");
        if (strlen(format) == n && !memcmp(p, format, n))
            return index;
        p += n + strspn(p + n, ", ");
    }
    return format ? oc_fail(err, OC_EARG, "%s has no format '%s'; valid: %s", what, format, valid) : 0;
}

/* ---- grids ------------------------------------------------------------------------------------------ */

#define MIN_PADDING 2 /* minimum width of a column in addition to its header */

struct line {
    const char *begin, *fill, *sep, *end; /* begin NULL: no such line */
};

struct style {
    struct line above, below_header, between, below;
    const char *begin, *sep, *end; /* of a row */
    unsigned padding;
    bool open_with_header; /* `above` and `below` are omitted if there is a header */
};

static const struct style styles[] = {
    [OC_GRID_FANCY] = {.above = {"╒", "═", "╤", "╕"},
                       .below_header = {"╞", "═", "╪", "╡"},
                       .between = {"├", "─", "┼", "┤"},
                       .below = {"╘", "═", "╧", "╛"},
                       .begin = "│",
                       .sep = "│",
                       .end = "│",
                       .padding = 1},
    [OC_GRID_ASCII] = {.above = {"+", "-", "+", "+"},
                       .below_header = {"+", "=", "+", "+"},
                       .between = {"+", "-", "+", "+"},
                       .below = {"+", "-", "+", "+"},
                       .begin = "|",
                       .sep = "|",
                       .end = "|",
                       .padding = 1},
    [OC_GRID_SIMPLE] = {.above = {"", "-", "  ", ""},
                        .below_header = {"", "-", "  ", ""},
                        .below = {"", "-", "  ", ""},
                        .begin = "",
                        .sep = "  ",
                        .end = "",
                        .open_with_header = true},
    [OC_GRID_ORG] = {.above = {"|", "-", "|", "|"},
                     .below_header = {"|", "-", "|", "|"},
                     .begin = "|",
                     .sep = "|",
                     .end = "|",
                     .padding = 1,
                     .open_with_header = true},
};

/* ---- grids: filling --------------------------------------------------------------------------------- */

void oc_grid_init(struct oc_grid *g, struct oc_arena *arena, uint32_t n_col, const char *const *header)
{
    *g = (struct oc_grid){.arena = arena, .n_col = n_col, .header = header};
}

static struct oc_cell *grid_new_row(struct oc_grid *g, bool continues)
{
    if (g->n_row == g->cap_row) {
        g->cap_row = g->cap_row ? g->cap_row * 2 : 16;
        g->cell = oc_xrealloc(g->cell, g->cap_row * g->n_col * sizeof(*g->cell));
        g->continues = oc_xrealloc(g->continues, g->cap_row * sizeof(*g->continues));
    }
    g->continues[g->n_row] = continues;
    return &g->cell[g->n_row++ * g->n_col];
}

void oc_grid_row(struct oc_grid *g, const struct oc_cell *cells)
{
    memcpy(grid_new_row(g, false), cells, g->n_col * sizeof(*cells));
}

void oc_grid_record(struct oc_grid *g, const char *const *cells)
{
    const char **rest = OC_NEW_ARRAY(g->arena, g->n_col, const char *);
    memcpy(rest, cells, g->n_col * sizeof(*rest));
    bool more = true;
    for (bool first = true; more; first = false) {
        struct oc_cell *row = grid_new_row(g, !first);
        more = false;
        for (uint32_t c = 0; c < g->n_col; c++) {
            const char *text = rest[c] ? rest[c] : "", *end = strchrnul(text, '\n');
            row[c] = (struct oc_cell){.text = oc_strndup(g->arena, text, (size_t)(end - text))};
            rest[c] = *end ? end + 1 : NULL;
            more = more || rest[c];
        }
    }
}

/* ---- grids: types of cells and columns -------------------------------------------------------------- */

enum type { T_BOOL, T_INT, T_FLOAT, T_TEXT }; /* from special to general */

static enum type cell_type(const struct oc_cell *c)
{
    if (c->kind == OC_GRID_FLOAT)
        return T_FLOAT;
    size_t n = strlen(c->text);
    if (strcmp(c->text, "True") == 0 || strcmp(c->text, "False") == 0)
        return T_BOOL;
    return oc_py_is_int(c->text, n) ? T_INT : oc_py_is_number(c->text, n) ? T_FLOAT : T_TEXT;
}

static enum type column_type(const struct oc_grid *g, uint32_t col)
{
    enum type type = T_BOOL;
    bool truth = false;
    for (size_t r = 0; r < g->n_row && type != T_TEXT; r++) {
        enum type t = cell_type(&g->cell[r * g->n_col + col]);
        type = t > type ? t : type;
        truth = truth || t == T_BOOL;
    }
    return truth && type == T_FLOAT ? T_TEXT : type; /* the original fails on True among floats */
}

/* Number of characters after the point (or the exponent's letter); -1 for integers and non-numbers. */
static int after_point(const char *s)
{
    size_t n = strlen(s);
    if (!oc_py_is_number(s, n) || oc_py_is_int(s, n))
        return -1;
    const char *pos = strrchr(s, '.');
    if (!pos)
        for (const char *p = s; *p; p++)
            if (*p == 'e' || *p == 'E')
                pos = p;
    return pos ? (int)oc_utf8_count(pos + 1, strlen(pos + 1)) : -1;
}

/* ---- grids: layout ---------------------------------------------------------------------------------- */

struct column {
    bool decimal;
    size_t width; /* in characters, without padding */
    const char **text;
};

static const char *as_float(struct oc_grid *g, const struct oc_cell *c)
{
    char buf[OC_PY_NUM];
    double v = c->number;
    if (c->kind == OC_GRID_TEXT && !oc_py_float(c->text, strlen(c->text), &v))
        return c->text;
    return oc_strdup(g->arena, oc_py_g(v, buf));
}

static const char *grid_cell_text(struct oc_grid *g, const struct oc_cell *c, enum type type)
{
    if (type == T_FLOAT)
        return as_float(g, c);
    if (type == T_INT)
        return c->text;
    size_t n = strlen(c->text);
    const char *s = oc_utf8_strip(c->text, &n);
    return oc_strndup(g->arena, s, n);
}

/* Appends blanks so that the decimal points line up after right alignment. */
static void align_points(struct oc_grid *g, struct column *col)
{
    int most = -1;
    for (size_t r = 0; r < g->n_row; r++) {
        int n = after_point(col->text[r]);
        most = n > most ? n : most;
    }
    for (size_t r = 0; r < g->n_row; r++) {
        int n = after_point(col->text[r]);
        if (n < most)
            col->text[r] = oc_printf(g->arena, "%s%*s", col->text[r], most - n, "");
    }
}

/* End of the first line of the text: at \n or \r. Width measurement uses the same rule. */
static const char *measured_line_end(const char *s)
{
    return s + strcspn(s, "\r\n");
}

static size_t grid_text_width(const char *s, bool multiline)
{
    if (!multiline)
        return oc_utf8_count(s, strlen(s));
    size_t width = 0;
    for (;; s++) {
        const char *end = measured_line_end(s);
        size_t n = oc_utf8_count(s, (size_t)(end - s));
        width = n > width ? n : width;
        if (!*end)
            return width;
        s = end;
    }
}

static void lay_out(struct oc_grid *g, uint32_t index, bool multiline, struct column *col)
{
    enum type type = column_type(g, index);
    *col = (struct column){.decimal = g->n_row && (type == T_INT || type == T_FLOAT),
                           .text = OC_NEW_ARRAY(g->arena, g->n_row, const char *)};
    for (size_t r = 0; r < g->n_row; r++)
        col->text[r] = grid_cell_text(g, &g->cell[r * g->n_col + index], type);
    if (col->decimal)
        align_points(g, col);
    if (g->header)
        col->width = grid_text_width(g->header[index], false) + MIN_PADDING;
    for (size_t r = 0; r < g->n_row; r++) {
        size_t w = grid_text_width(col->text[r], multiline);
        col->width = w > col->width ? w : col->width;
    }
}

/* ---- grids: printing -------------------------------------------------------------------------------- */

static void cut_back(struct oc_buf *out, size_t n)
{
    out->n = n;
    out->data[n] = '\0';
}

/* Printed lines have no trailing blanks. */
static void grid_end_line(struct oc_buf *out, size_t from)
{
    const char *line = out->data + from;
    size_t n = out->n - from, kept = n;
    const char *start = oc_utf8_strip(line, &kept);
    cut_back(out, kept ? from + (size_t)(start - line) + kept : from);
    oc_buf_char(out, '\n');
}

static void put_rule(const struct oc_grid *g, const struct style *st, const struct line *l,
                     const struct column *col, struct oc_buf *out)
{
    if (!l->begin)
        return;
    size_t from = out->n;
    oc_buf_str(out, l->begin);
    for (uint32_t c = 0; c < g->n_col; c++) {
        if (c)
            oc_buf_str(out, l->sep);
        for (size_t i = 0; i < col[c].width + (size_t)2 * st->padding; i++)
            oc_buf_str(out, l->fill);
    }
    oc_buf_str(out, l->end);
    grid_end_line(out, from);
}

static void grid_put_cell(const char *s, size_t n, const struct column *col, struct oc_buf *out)
{
    size_t width = oc_utf8_count(s, n), blanks = width < col->width ? col->width - width : 0;
    if (col->decimal)
        oc_buf_pad(out, ' ', blanks);
    oc_buf_add(out, s, n);
    if (!col->decimal)
        oc_buf_pad(out, ' ', blanks);
}

/* The next line of a cell by the rules of str.splitlines; false: no more. */
static bool next_line(const char **s, size_t *n, bool multiline, const char **line)
{
    const char *p = *s, *end = p + strlen(p);
    if (!*p)
        return false;
    *line = p;
    *n = (size_t)(end - p);
    *s = end;
    while (multiline && p < end) {
        const char *at = p;
        uint32_t cp = oc_utf8_next(&p, end);
        if (!oc_uni_is_line_break(cp))
            continue;
        *n = (size_t)(at - *line);
        *s = p + (cp == '\r' && *p == '\n');
        break;
    }
    return true;
}

/* One row of cells: as many lines as the tallest cell. */
static void grid_put_row(const struct oc_grid *g, const struct style *st, const struct column *col,
                         const char **cells, bool multiline, struct oc_buf *out)
{
    bool more = true;
    for (bool first = true; more; first = false) {
        size_t from = out->n;
        more = false;
        bool any = first && !multiline;
        for (uint32_t c = 0; c < g->n_col; c++) {
            const char *line = "";
            size_t n = 0;
            any = next_line(&cells[c], &n, multiline, &line) || any;
            more = more || (multiline && *cells[c]);
            oc_buf_str(out, c ? st->sep : st->begin);
            oc_buf_pad(out, ' ', st->padding);
            grid_put_cell(line, n, &col[c], out);
            oc_buf_pad(out, ' ', st->padding);
        }
        oc_buf_str(out, st->end);
        if (any)
            grid_end_line(out, from);
        else
            cut_back(out, from);
    }
}

static bool has_line_breaks(const struct oc_grid *g)
{
    for (size_t i = 0; i < g->n_row * g->n_col; i++)
        if (*measured_line_end(g->cell[i].text))
            return true;
    return false;
}

static void put_header(const struct oc_grid *g, const struct style *st, const struct column *col,
                       const char **cells, struct oc_buf *out)
{
    for (uint32_t c = 0; c < g->n_col; c++)
        cells[c] = g->header[c];
    grid_put_row(g, st, col, cells, false, out);
    put_rule(g, st, &st->below_header, col, out);
}

void oc_grid_print(struct oc_grid *g, enum oc_grid_style style, struct oc_buf *out)
{
    const struct style *st = &styles[style];
    struct column *col = OC_NEW_ARRAY(g->arena, g->n_col, struct column);
    const char **cells = OC_NEW_ARRAY(g->arena, g->n_col, const char *);
    bool multiline = has_line_breaks(g), closed = !(g->header && st->open_with_header);
    for (uint32_t c = 0; c < g->n_col; c++)
        lay_out(g, c, multiline, &col[c]);
    if (closed)
        put_rule(g, st, &st->above, col, out);
    if (g->header)
        put_header(g, st, col, cells, out);
    for (size_t r = 0; r < g->n_row; r++) {
        if (r && !g->continues[r])
            put_rule(g, st, &st->between, col, out);
        for (uint32_t c = 0; c < g->n_col; c++)
            cells[c] = col[c].text[r];
        grid_put_row(g, st, col, cells, multiline, out);
    }
    if (closed)
        put_rule(g, st, &st->below, col, out);
    free(g->cell);
    free(g->continues);
    *g = (struct oc_grid){.arena = g->arena, .n_col = g->n_col, .header = g->header};
}
