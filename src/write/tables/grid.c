/* write/tables/: Tables for a terminal, as Markdown, CSV and grids, parts of HTML pages, members of JSON. A
 * table is described once; its writers do not depend on its contents. */

/* Grids in the forms of Python's tabulate, with lines that break as its textwrap does. */
#include "write/tables/table.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/unicode.h"
#include "report/python.h"

/* A chunk that is not broken unless it is longer than a line: characters [from, to). */
struct chunk {
    size_t from, to;
};

struct chunks {
    const uint32_t *c; /* the text */
    size_t length;
    struct chunk *item;
    size_t n, cap;
};

/* ---- the text: tabs expanded, white space made blanks ----------------------------------------------- */

static uint32_t *munge(const char *text, size_t *length)
{
    size_t bytes = strlen(text), n = 0, cap = 0, column = 0;
    uint32_t *c = NULL;
    for (const char *p = text, *end = text + bytes; p < end;) {
        uint32_t cp = oc_utf8_next(&p, end);
        size_t times = cp == '\t' ? 8 - column % 8 : 1;
        column = cp == '\n' || cp == '\r' ? 0 : column + times;
        for (; times > 0; times--) {
            OC_GROW(c, n, cap);
            c[n++] = cp >= 9 && cp <= 13 ? ' ' : cp;
        }
    }
    *length = n;
    return c;
}

/* ---- chunks ----------------------------------------------------------------------------------------- */

static bool letter(const struct chunks *t, size_t i)
{
    return i < t->length && oc_uni_is_word(t->c[i]) && oc_uni_digit(t->c[i]) < 0;
}

static bool is_char(const struct chunks *t, size_t i, uint32_t c)
{
    return i < t->length && t->c[i] == c;
}

static bool word_or_punctuation(uint32_t c)
{
    return oc_uni_is_word(c) || (c < 0x80 && c && strchr("!\"'&.,?", (int)c));
}

/* Length of a run of two or more hyphens at i between words ("em dash"); 0 if there is none. */
static size_t dash_at(const struct chunks *t, size_t i)
{
    if (i == 0 || !word_or_punctuation(t->c[i - 1]))
        return 0;
    size_t end = i;
    while (is_char(t, end, '-'))
        end++;
    return end - i >= 2 && end < t->length && oc_uni_is_word(t->c[end]) ? end - i : 0;
}

/* A hyphen at i inside a word: preceded by two letters (or letter, hyphen, letter), followed by a letter,
 * an optional hyphen and a letter. */
static bool hyphen_at(const struct chunks *t, size_t i)
{
    if (!is_char(t, i, '-') || i < 2 || !letter(t, i - 1))
        return false;
    bool before = letter(t, i - 2) || (i >= 3 && t->c[i - 2] == '-' && letter(t, i - 3));
    bool behind = letter(t, i + 1) && (letter(t, i + 2) || (is_char(t, i + 2, '-') && letter(t, i + 3)));
    return before && behind;
}

static size_t chunk_end(const struct chunks *t, size_t from)
{
    size_t i = from;
    if (t->c[i] == ' ') {
        while (is_char(t, i, ' '))
            i++;
        return i;
    }
    size_t dash = dash_at(t, from);
    if (dash)
        return from + dash;
    for (i = from + 1; i < t->length; i++) {
        if (hyphen_at(t, i))
            return i + 1;
        if (t->c[i] == ' ' || dash_at(t, i))
            return i;
    }
    return t->length;
}

static void split_chunks(struct chunks *t)
{
    for (size_t from = 0; from < t->length;) {
        size_t to = chunk_end(t, from);
        OC_GROW(t->item, t->n, t->cap);
        t->item[t->n++] = (struct chunk){from, to};
        from = to;
    }
}

/* ---- lines ------------------------------------------------------------------------------------------ */

static bool blank(const struct chunks *t, struct chunk k)
{
    for (size_t i = k.from; i < k.to; i++)
        if (!oc_uni_is_space(t->c[i]))
            return false;
    return true;
}

/* Where to break a chunk with `room` characters left: after its last hyphen in that range that is preceded
 * by another character, or at the end of the range. */
static size_t cut_chunk(const struct chunks *t, struct chunk k, size_t room)
{
    size_t hyphen = k.from + room;
    while (hyphen > k.from && t->c[hyphen - 1] != '-')
        hyphen--;
    for (size_t i = k.from; i + 1 < hyphen; i++)
        if (t->c[i] != '-')
            return hyphen;
    return k.from + room;
}

static void put_wrapped_line(const struct chunks *t, size_t from, size_t to, const char *joint, bool first,
                             struct oc_buf *out)
{
    if (!first)
        oc_buf_str(out, joint);
    for (size_t i = from; i < to; i++) {
        char utf8[4];
        oc_buf_add(out, utf8, oc_utf8_put(utf8, t->c[i]));
    }
}

static void put_lines(struct chunks *t, size_t width, const char *joint, struct oc_buf *out)
{
    bool first = true;
    for (size_t k = 0; k < t->n;) {
        if (!first && blank(t, t->item[k]))
            k++;
        if (k == t->n)
            break;
        size_t from = t->item[k].from, to = from,
               last = from; /* `last`: start of the last chunk on the line */
        for (; k < t->n && t->item[k].to - from <= width; k++) {
            last = t->item[k].from;
            to = t->item[k].to;
        }
        if (k < t->n && t->item[k].to - t->item[k].from > width) {
            last = to;
            to = cut_chunk(t, t->item[k], width - (to - from));
            t->item[k].from = to;
        }
        if (blank(t, (struct chunk){last, to}))
            to = last;
        if (to > from) {
            put_wrapped_line(t, from, to, joint, first, out);
            first = false;
        }
    }
}

void oc_wrap(const char *text, size_t width, const char *joint, struct oc_buf *out)
{
    struct chunks t = {0};
    uint32_t *c = munge(text, &t.length);
    t.c = c;
    split_chunks(&t);
    put_lines(&t, width, joint, out);
    free(t.item);
    free(c);
}

/* ---- grids: styles ---------------------------------------------------------------------------------- */

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
