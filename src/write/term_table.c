#include "write/term_table.h"

#include <string.h>

#include "base/buf.h"
#include "base/unicode.h"
#include "write/plain_table.h"
#include "write/short_names.h"

enum { GAP = 2 };

static size_t text_width(const char *s)
{
    return oc_utf8_columns(s, strlen(s));
}

static void measure(struct oc_term_table *t)
{
    for (size_t c = 0; c < t->n_column; c++)
        t->column[c].width = text_width(t->column[c].title);
    for (size_t i = 0; i < t->n_row * t->n_column; i++) {
        struct oc_term_column *c = &t->column[i % t->n_column];
        t->cell[i] = oc_make_visible(oc_strdup(t->arena, t->cell[i]));
        size_t w = text_width(t->cell[i]);
        c->width = w > c->width ? w : c->width;
    }
}

/* The minimum width of a column when shrinking. */
static size_t floor_width(const struct oc_term_column *c)
{
    size_t least = c->min_width, title = text_width(c->title);
    least = !c->min_width ? c->width : least > title ? least : title;
    return least < c->width ? least : c->width;
}

static size_t total_width(const struct oc_term_table *t, size_t (*width)(const struct oc_term_column *))
{
    size_t sum = 0;
    for (size_t c = 0; c < t->n_column; c++)
        if (t->column[c].width)
            sum += width(&t->column[c]) + (sum ? GAP : 0);
    return sum;
}

static size_t full_width(const struct oc_term_column *c)
{
    return c->width;
}

static struct oc_term_column *next_to_drop(struct oc_term_table *t)
{
    struct oc_term_column *best = NULL;
    for (size_t i = 0; i < t->n_column; i++) {
        struct oc_term_column *c = &t->column[i];
        if (c->width && c->drop && (!best || c->drop > best->drop))
            best = c;
    }
    return best;
}

/* The widest column that can shrink. */
enum { SHORTEST = 6 }; /* where even the minimum widths do not fit */

static struct oc_term_column *widest_shrinkable(struct oc_term_table *t, bool all)
{
    struct oc_term_column *best = NULL;
    for (size_t i = 0; i < t->n_column; i++) {
        struct oc_term_column *c = &t->column[i];
        size_t title = text_width(c->title), least = title > SHORTEST ? title : SHORTEST;
        if (c->width > (all && c->min_width ? least : floor_width(c)) && (!best || c->width > best->width))
            best = c;
    }
    return best;
}

static void fit(struct oc_term_table *t)
{
    struct oc_term_column *c;
    while (total_width(t, floor_width) > t->width_chars && (c = next_to_drop(t)))
        c->width = 0;
    for (unsigned all = 0; all < 2; all++)
        while (total_width(t, full_width) > t->width_chars && (c = widest_shrinkable(t, all)))
            c->width--;
    for (size_t i = 0; i < t->n_column; i++)
        if (t->column[i].width && t->column[i].min_width)
            oc_short_names(t->arena, t->cell + i, t->n_column, t->n_row, t->column[i].width);
}

/* Draws the part of the column given by `share` with another background. */
static void put_bar(struct oc_buf *b, const char *text, size_t width, double share)
{
    size_t covered = share > 0 ? (size_t)(share * (double)width + 0.5) : 0, used = 0, n = text_width(text);
    const char *p = text, *end = text + strlen(text), *next = p;
    for (; p < end; p = next) {
        size_t w = oc_uni_columns(oc_utf8_next(&next, end));
        if (used + w > covered)
            break;
        used += w;
    }
    size_t behind = p == end && covered > n ? covered - n : 0;
    if (covered)
        oc_buf_printf(b, "\033[44m%.*s%*s\033[49m", (int)(p - text), text, (int)behind, "");
    oc_buf_str(b, p);
    oc_buf_pad(b, ' ', width > n + behind ? width - n - behind : 0);
}

void oc_put_change(struct oc_buf *b, const char *text, bool changes)
{
    const char *sign = text + strspn(text, "<> ");
    bool change = changes && (*sign == '+' || *sign == '-') && sign[1] >= '0' && sign[1] <= '9';
    oc_buf_str(b, !change ? "" : *sign == '+' ? "\033[31m" : "\033[32m");
    oc_plain_text(b, text);
    oc_buf_str(b, change ? "\033[39m" : "");
}

static void put_cell(struct oc_buf *b, const struct oc_term_column *c, const char *text, bool last,
                     bool changes)
{
    size_t n = text_width(text), pad = n < c->width ? c->width - n : 0;
    oc_buf_pad(b, ' ', c->left ? 0 : pad);
    oc_put_change(b, text, changes && !c->left);
    oc_buf_pad(b, ' ', c->left && !last ? pad : 0);
}

static void put_row(const struct oc_term_table *t, const char *const *cell, const double *share,
                    struct oc_buf *b)
{
    size_t first = 0, last = 0;
    for (size_t c = t->n_column; c-- > 0;)
        first = t->column[c].width ? c : first;
    for (size_t c = 0; c < t->n_column; c++)
        last = t->column[c].width ? c : last;
    for (size_t c = first; c < t->n_column; c++) {
        const char *text = cell ? cell[c] : t->column[c].title;
        if (!t->column[c].width)
            continue;
        oc_buf_pad(b, ' ', c > first ? GAP : 0);
        if (c == first && share && t->color && t->column[c].left)
            put_bar(b, text, t->column[c].width, *share);
        else
            put_cell(b, &t->column[c], text, c == last, t->color && t->changes);
    }
}

static void put(struct oc_buf *b, FILE *f)
{
    while (b->n && b->data[b->n - 1] == ' ')
        b->n--;
    oc_buf_char(b, '\n');
    fwrite(b->data, 1, b->n, f);
    oc_buf_clear(b);
}

static void print_not_shown(const struct oc_term_table *t, struct oc_buf *b, FILE *f)
{
    size_t n = 0;
    oc_buf_printf(b, "(not shown at %u columns: ", t->width_chars);
    for (size_t c = 0; c < t->n_column; c++)
        if (!t->column[c].width && *t->column[c].title)
            oc_buf_printf(b, "%s%s", n++ ? ", " : "", t->column[c].title);
    oc_buf_str(b, "; use --width or -f csv)");
    if (n)
        oc_plain_say("", 0, t->width_chars, b->data, f);
    oc_buf_clear(b);
}

void oc_term_table_print(struct oc_term_table *t, FILE *f)
{
    struct oc_buf b = {0};
    measure(t);
    if (t->width_chars)
        fit(t);
    oc_buf_str(&b, t->color ? "\033[1m" : "");
    put_row(t, NULL, NULL, &b);
    oc_buf_str(&b, t->color ? "\033[0m" : "");
    put(&b, f);
    for (uint32_t i = 0; i < t->n_row; i++) {
        put_row(t, t->cell + (size_t)i * t->n_column, t->share ? &t->share[i] : NULL, &b);
        put(&b, f);
    }
    if (!t->n_row)
        fputs("(no rows)\n", f);
    if (t->width_chars)
        print_not_shown(t, &b, f);
    oc_buf_free(&b);
}
