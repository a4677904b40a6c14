/* write/tables/: Tables for a terminal, in plain text and as grids, parts of HTML pages, members of JSON. A
 * table is described once; its writers do not depend on its contents. */

#include "write/tables/grid.h"

#include <stdlib.h>
#include <string.h>

#include "report/pyfmt.h"
#include "base/unicode.h"

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

/* ---- filling ---------------------------------------------------------------------------------------- */

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

/* ---- types of cells and columns --------------------------------------------------------------------- */

enum type { T_BOOL, T_INT, T_FLOAT, T_TEXT }; /* from special to general */

static enum type cell_type(const struct oc_cell *c)
{
    if (c->kind == OC_CELL_FLOAT)
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

/* ---- laying out ------------------------------------------------------------------------------------- */

struct column {
    bool decimal;
    size_t width; /* in characters, without padding */
    const char **text;
};

static const char *as_float(struct oc_grid *g, const struct oc_cell *c)
{
    char buf[OC_PY_NUM];
    double v = c->number;
    if (c->kind == OC_CELL_TEXT && !oc_py_float(c->text, strlen(c->text), &v))
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

/* ---- printing --------------------------------------------------------------------------------------- */

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
