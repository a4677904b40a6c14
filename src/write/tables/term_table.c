/* Tables that fit the terminal: columns that wrap as Python's textwrap does. */
#include "write/tables/plain_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/unicode.h"

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

static void term_table_split(struct chunks *t)
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
static size_t term_table_cut(const struct chunks *t, struct chunk k, size_t room)
{
    size_t hyphen = k.from + room;
    while (hyphen > k.from && t->c[hyphen - 1] != '-')
        hyphen--;
    for (size_t i = k.from; i + 1 < hyphen; i++)
        if (t->c[i] != '-')
            return hyphen;
    return k.from + room;
}

static void term_table_put_line(const struct chunks *t, size_t from, size_t to, const char *joint, bool first,
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
            to = term_table_cut(t, t->item[k], width - (to - from));
            t->item[k].from = to;
        }
        if (blank(t, (struct chunk){last, to}))
            to = last;
        if (to > from) {
            term_table_put_line(t, from, to, joint, first, out);
            first = false;
        }
    }
}

void oc_wrap(const char *text, size_t width, const char *joint, struct oc_buf *out)
{
    struct chunks t = {0};
    uint32_t *c = munge(text, &t.length);
    t.c = c;
    term_table_split(&t);
    put_lines(&t, width, joint, out);
    free(t.item);
    free(c);
}

/* ---- short names ------------------------------------------------------------------------------------ */

#define ELLIPSIS "…"
enum { MOST_PARTS = 4 };

static size_t term_table_width_of(const char *s)
{
    return oc_utf8_columns(s, strlen(s));
}

/* Length of the prefix of `s` that fits in `width` columns; *used: its columns. */
static size_t head_bytes(const char *s, size_t width, size_t *used)
{
    const char *p = s, *end = s + strlen(s);
    *used = 0;
    while (p < end) {
        const char *next = p;
        size_t w = oc_uni_columns(oc_utf8_next(&next, end));
        if (*used + w > width)
            break;
        *used += w;
        p = next;
    }
    return (size_t)(p - s);
}

/* The longest suffix of `s` that fits in `width` columns. */
static const char *tail_of(const char *s, size_t width)
{
    const char *p = s, *end = s + strlen(s);
    for (size_t rest = term_table_width_of(s); p < end && rest > width;)
        rest -= oc_uni_columns(oc_utf8_next(&p, end));
    return p;
}

/* "/layer3…relu/Relu": a third from the start, the rest from the end. */
static const char *cut_middle(struct oc_arena *arena, const char *s, size_t width)
{
    size_t used;
    if (term_table_width_of(s) <= width)
        return s;
    size_t head = head_bytes(s, (width - 1) / 3, &used);
    return oc_printf(arena, "%.*s" ELLIPSIS "%s", (int)head, s, tail_of(s + head, width - 1 - used));
}

/* The end of a path, both ends of other texts. The first `prefix` bytes may be dropped. */
static const char *cut_name(struct oc_arena *arena, const char *s, size_t prefix, size_t width)
{
    if (term_table_width_of(s) <= width)
        return s;
    if (strchr(s, '/') ? !prefix || term_table_width_of(s + prefix) < width
                       : prefix && term_table_width_of(s + prefix) < width)
        return oc_printf(arena, ELLIPSIS "%s", tail_of(s, width - 1));
    return prefix ? oc_printf(arena, ELLIPSIS "%s", cut_middle(arena, s + prefix, width - 1))
                  : cut_middle(arena, s, width);
}

static size_t common_prefix(const char *a, const char *b, size_t most)
{
    size_t n = 0;
    while (n < most && a[n] && a[n] == b[n])
        n++;
    return n;
}

/* Moves back to the start of a path component, which is easier to read; inside one, to the start of a
 * character. */
static size_t component_start(const char *s, size_t prefix)
{
    size_t at = prefix;
    while (at && !strchr("/.:", s[at - 1]))
        at--;
    if (prefix - at > 12)
        for (at = prefix; at && ((unsigned char)s[at] & 0xC0) == 0x80;)
            at--;
    return at;
}

struct name {
    const char *full, *text; /* text: the shortened name */
    uint32_t alike;          /* first name with the same text */
    size_t prefix;           /* common prefix of all names with this text, in bytes; only in the first one */
    uint32_t n_alike;
};

static bool is_wide(const struct name *name, size_t width)
{
    return term_table_width_of(name->full) > width;
}

/* Finds different names with equal texts; returns whether there are any. */
static bool find_alike(struct oc_arena *arena, struct name *name, uint32_t n)
{
    struct oc_map seen = {.arena = arena};
    bool any = false;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = i;
        name[i].prefix = strlen(name[i].full);
        name[i].n_alike = 1;
        if (!oc_map_add_kept(&seen, name[i].text, strlen(name[i].text), &at)) {
            name[at].prefix = common_prefix(name[at].full, name[i].full, name[at].prefix);
            name[at].n_alike++;
            any = true;
        }
        name[i].alike = at;
    }
    oc_map_free(&seen);
    return any;
}

/* Shortens names with equal texts again, from where they start to differ. */
static void term_table_part(struct oc_arena *arena, struct name *name, uint32_t n, size_t width)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct name *first = &name[name[i].alike];
        if (first->n_alike > 1 && is_wide(&name[i], width))
            name[i].text = cut_name(arena, name[i].full, component_start(name[i].full, first->prefix), width);
    }
}

/* Numbers the names that are still equal. */
static void term_table_number(struct oc_arena *arena, struct name *name, uint32_t n, size_t width)
{
    struct oc_map used = {.arena = arena};
    uint32_t at, next = 1;
    for (uint32_t i = 0; i < n; i++)
        if (name[i].alike == i)
            oc_map_add_kept(&used, name[i].text, strlen(name[i].text), &at);
    for (uint32_t i = 0; i < n; i++) {
        const char *text = name[i].text;
        while (name[i].alike != i && !oc_map_add_kept(&used, text, strlen(text), &at)) {
            const char *mark = oc_printf(arena, "~%u", ++next);
            size_t room = width > strlen(mark) + 1 ? width - strlen(mark) : 1;
            text = oc_printf(arena, "%s%s", cut_middle(arena, name[i].full, room), mark);
        }
        name[i].text = text;
    }
    oc_map_free(&used);
}

static void term_table_shorten(struct oc_arena *arena, struct name *name, uint32_t n, size_t width)
{
    for (uint32_t i = 0; i < n; i++)
        name[i].text = cut_name(arena, name[i].full, 0, width);
    bool alike = find_alike(arena, name, n);
    for (unsigned i = 0; alike && i < MOST_PARTS; i++) { /* each pass drops a longer common prefix */
        term_table_part(arena, name, n, width);
        alike = find_alike(arena, name, n);
    }
    if (alike)
        term_table_number(arena, name, n, width);
}

void oc_short_names(struct oc_arena *arena, const char **text, size_t stride, size_t n, size_t width)
{
    struct oc_map seen = {.arena = arena};
    struct name *name = OC_NEW_ARRAY(arena, n, struct name);
    uint32_t *of = OC_NEW_ARRAY(arena, n, uint32_t), n_name = 0;
    for (size_t i = 0; i < n; i++) {
        of[i] = n_name;
        if (oc_map_add_kept(&seen, text[i * stride], strlen(text[i * stride]), &of[i]))
            name[n_name++].full = text[i * stride];
    }
    oc_map_free(&seen);
    term_table_shorten(arena, name, n_name, width);
    for (size_t i = 0; i < n; i++)
        text[i * stride] = name[of[i]].text;
}

/* ---- term table ------------------------------------------------------------------------------------- */

enum { GAP = 2 };

static size_t term_table_text_width(const char *s)
{
    return oc_utf8_columns(s, strlen(s));
}

static void term_table_measure(struct oc_term_table *t)
{
    for (size_t c = 0; c < t->n_column; c++)
        t->column[c].width = term_table_text_width(t->column[c].title);
    for (size_t i = 0; i < t->n_row * t->n_column; i++) {
        struct oc_term_column *c = &t->column[i % t->n_column];
        t->cell[i] = oc_make_visible(oc_strdup(t->arena, t->cell[i]));
        size_t w = term_table_text_width(t->cell[i]);
        c->width = w > c->width ? w : c->width;
    }
}

/* The minimum width of a column when shrinking. */
static size_t floor_width(const struct oc_term_column *c)
{
    size_t least = c->min_width, title = term_table_text_width(c->title);
    least = !c->min_width ? c->width : least > title ? least : title;
    return least < c->width ? least : c->width;
}

static size_t term_table_total_width(const struct oc_term_table *t,
                                     size_t (*width)(const struct oc_term_column *))
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
        size_t title = term_table_text_width(c->title), least = title > SHORTEST ? title : SHORTEST;
        if (c->width > (all && c->min_width ? least : floor_width(c)) && (!best || c->width > best->width))
            best = c;
    }
    return best;
}

static void term_table_fit(struct oc_term_table *t)
{
    struct oc_term_column *c;
    while (term_table_total_width(t, floor_width) > t->width_chars && (c = next_to_drop(t)))
        c->width = 0;
    for (unsigned all = 0; all < 2; all++)
        while (term_table_total_width(t, full_width) > t->width_chars && (c = widest_shrinkable(t, all)))
            c->width--;
    for (size_t i = 0; i < t->n_column; i++)
        if (t->column[i].width && t->column[i].min_width)
            oc_short_names(t->arena, t->cell + i, t->n_column, t->n_row, t->column[i].width);
}

/* Draws the part of the column given by `share` with another background. */
static void term_table_put_bar(struct oc_buf *b, const char *text, size_t width, double share)
{
    size_t covered = share > 0 ? (size_t)(share * (double)width + 0.5) : 0, used = 0,
           n = term_table_text_width(text);
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

static void term_table_put_cell(struct oc_buf *b, const struct oc_term_column *c, const char *text, bool last,
                                bool changes)
{
    size_t n = term_table_text_width(text), pad = n < c->width ? c->width - n : 0;
    oc_buf_pad(b, ' ', c->left ? 0 : pad);
    oc_put_change(b, text, changes && !c->left);
    oc_buf_pad(b, ' ', c->left && !last ? pad : 0);
}

static void term_table_put_row(const struct oc_term_table *t, const char *const *cell, const double *share,
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
            term_table_put_bar(b, text, t->column[c].width, *share);
        else
            term_table_put_cell(b, &t->column[c], text, c == last, t->color && t->changes);
    }
}

static void term_table_put(struct oc_buf *b, FILE *f)
{
    while (b->n && b->data[b->n - 1] == ' ')
        b->n--;
    oc_buf_char(b, '\n');
    fwrite(b->data, 1, b->n, f);
    oc_buf_clear(b);
}

static void term_table_print_not_shown(const struct oc_term_table *t, struct oc_buf *b, FILE *f)
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
    term_table_measure(t);
    if (t->width_chars)
        term_table_fit(t);
    oc_buf_str(&b, t->color ? "\033[1m" : "");
    term_table_put_row(t, NULL, NULL, &b);
    oc_buf_str(&b, t->color ? "\033[0m" : "");
    term_table_put(&b, f);
    for (uint32_t i = 0; i < t->n_row; i++) {
        term_table_put_row(t, t->cell + (size_t)i * t->n_column, t->share ? &t->share[i] : NULL, &b);
        term_table_put(&b, f);
    }
    if (!t->n_row)
        fputs("(no rows)\n", f);
    if (t->width_chars)
        term_table_print_not_shown(t, &b, f);
    oc_buf_free(&b);
}
