#include "write/sheet.h"

#include <stdlib.h>
#include <string.h>

#include "base/unicode.h"
#include "write/md_text.h"
#include "write/plain_table.h"
#include "write/xml_text.h"

static size_t columns(const struct oc_sheet *s)
{
    return strlen(s->kinds);
}

static const char *cell(const struct oc_sheet *s, size_t row, size_t col)
{
    return s->cell[row * columns(s) + col];
}

void oc_sheet_row(struct oc_sheet *s, const char *const *cells)
{
    size_t n = columns(s);
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

/* ---- terminal ------------------------------------------------------------------------------------------ */

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
    size_t n = columns(s);
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
    oc_plain_free(&t);
    oc_arena_free(&arena);
}

/* ---- Markdown ------------------------------------------------------------------------------------------ */

static void put(struct oc_buf *b, FILE *f)
{
    if (b->n)
        fwrite(b->data, 1, b->n, f);
    oc_buf_clear(b);
}

static void md_line(struct oc_buf *b, const struct oc_sheet *s, const char *const *cells, bool head)
{
    oc_buf_char(b, '|');
    for (size_t c = 0; c < columns(s); c++) {
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
        md_line(&b, s, s->cell + i * columns(s), false);
    oc_buf_char(&b, '\n');
    put(&b, f);
    oc_buf_free(&b);
}

/* ---- HTML ---------------------------------------------------------------------------------------------- */

static const char *mark_of(const char *text, const char *marks, size_t *n)
{
    for (const char *p = marks; p && *p; p += strspn(p, " ")) {
        *n = strcspn(p, " ");
        if (strncmp(text, p, *n) == 0 && !text[*n])
            return p;
        p += *n;
    }
    return NULL;
}

static void html_cell(struct oc_buf *b, char kind, const char *tag, const char *text)
{
    oc_buf_printf(b, "<%s%s%s>", tag, strcmp(tag, "th") == 0 ? " scope=\"col\"" : "",
                  kind == 'n'   ? " class=\"n\""
                  : kind == 'c' ? " class=\"c\""
                                : "");
    oc_xml_text(b, text);
    oc_buf_printf(b, "</%s>", tag);
}

void oc_sheet_html(const struct oc_sheet *s, const char *marks, struct oc_buf *b)
{
    oc_buf_str(b, "<section>\n");
    if (s->title) {
        oc_buf_str(b, "<h2>");
        oc_xml_text(b, s->title);
        oc_buf_str(b, "</h2>\n");
    }
    oc_buf_str(b, "<div class=\"panel\"><table>\n");
    if (s->head) {
        oc_buf_str(b, "<thead><tr>");
        for (size_t c = 0; c < columns(s); c++)
            html_cell(b, s->kinds[c], "th", s->head[c]);
        oc_buf_str(b, "</tr></thead>\n");
    }
    oc_buf_str(b, "<tbody>\n");
    for (size_t i = 0; i < s->n_row; i++) {
        size_t n = 0;
        const char *mark = mark_of(cell(s, i, 0), marks, &n);
        if (mark)
            oc_buf_printf(b, "<tr class=\"%.*s\">", (int)n, mark);
        else
            oc_buf_str(b, "<tr>");
        for (size_t c = 0; c < columns(s); c++)
            html_cell(b, s->kinds[c], "td", cell(s, i, c));
        oc_buf_str(b, "</tr>\n");
    }
    oc_buf_str(b, "</tbody>\n</table></div>\n</section>\n");
}
