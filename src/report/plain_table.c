#include "report/plain_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "report/unicode.h"

enum { GAP = 2 };

void oc_plain_row(struct oc_plain_table *t, const char *const *cell)
{
    if (t->n_row == t->cap_row) {
        t->cap_row = t->cap_row ? t->cap_row * 2 : 16;
        t->cell = oc_xrealloc(t->cell, t->cap_row * t->n_col * sizeof(*t->cell));
    }
    memcpy(t->cell + t->n_row++ * t->n_col, cell, t->n_col * sizeof(*cell));
}

void oc_plain_free(struct oc_plain_table *t)
{
    free(t->cell);
    *t = (struct oc_plain_table){0};
}

void oc_plain_text(struct oc_buf *b, const char *s)
{
    for (; *s; s++)
        oc_buf_char(b, (unsigned char)*s < 0x20 || *s == 0x7f ? '?' : *s);
}

static void put(struct oc_buf *b, FILE *f)
{
    fwrite(b->data, 1, b->n, f);
    oc_buf_clear(b);
}

static size_t width_of(const struct oc_plain_table *t, size_t c)
{
    size_t width = 0;
    for (size_t r = 0; r < t->n_row; r++) {
        const char *s = t->cell[r * t->n_col + c];
        size_t n = oc_utf8_count(s, strlen(s));
        width = n > width ? n : width;
    }
    return width;
}

void oc_plain_print(const struct oc_plain_table *t, size_t n_left, FILE *f)
{
    struct oc_buf b = {0};
    size_t *width = oc_xmalloc((t->n_col + 1) * sizeof(*width));
    for (size_t c = 0; c < t->n_col; c++)
        width[c] = width_of(t, c);
    for (size_t r = 0; r < t->n_row; r++) {
        for (size_t c = 0; c < t->n_col; c++) {
            const char *s = t->cell[r * t->n_col + c];
            bool left = c + n_left >= t->n_col;
            size_t pad = width[c] - oc_utf8_count(s, strlen(s));
            oc_buf_pad(&b, ' ', (c && width[c] ? GAP : 0) + (left ? 0 : pad));
            oc_plain_text(&b, s);
            oc_buf_pad(&b, ' ', left ? pad : 0);
        }
        while (b.n && b.data[b.n - 1] == ' ')
            b.n--;
        oc_buf_char(&b, '\n');
        put(&b, f);
    }
    oc_buf_free(&b);
    free(width);
}

static void csv_cell(struct oc_buf *b, const char *s)
{
    if (!strpbrk(s, ",\"\r\n")) {
        oc_buf_str(b, s);
        return;
    }
    oc_buf_char(b, '"');
    for (; *s; s++)
        oc_buf_str(b, *s == '"' ? "\"\"" : (char[]){*s, 0});
    oc_buf_char(b, '"');
}

void oc_plain_csv(const struct oc_plain_table *t, const char *version, FILE *f)
{
    struct oc_buf b = {0};
    for (size_t i = 0; i < t->n_row * t->n_col; i++) {
        csv_cell(&b, t->cell[i]);
        oc_buf_char(&b, ',');
        if ((i + 1) % t->n_col == 0)
            oc_buf_printf(&b, "%s\r\n", i < t->n_col ? "csv_version" : version);
    }
    put(&b, f);
    oc_buf_free(&b);
}
