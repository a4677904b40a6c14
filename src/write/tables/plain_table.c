#include "write/tables/plain_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/unicode.h"
#include "report/columns.h"
#include "write/tables/grid.h"

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

/* ---- terminal --------------------------------------------------------------------------------------- */

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

/* ---- Markdown --------------------------------------------------------------------------------------- */

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

/* ---- plain table ------------------------------------------------------------------------------------ */

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
