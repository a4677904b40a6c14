/* Tables of texts: rows, aligned for a terminal, as Markdown, as CSV. */
#include "write/tables/table.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/unicode.h"
#include "report/columns.h"

void oc_table_row(struct oc_table *t, const char *const *cell)
{
    t->n_col = t->n_col ? t->n_col : strlen(t->kinds);
    if (t->n_row == t->cap_row) {
        t->cap_row = t->cap_row ? t->cap_row * 2 : 16;
        t->cell = oc_xrealloc(t->cell, t->cap_row * t->n_col * sizeof(*t->cell));
    }
    memcpy(t->cell + t->n_row++ * t->n_col, cell, t->n_col * sizeof(*cell));
}

void oc_table_cells(struct oc_table *t, const char *const *cell, size_t n)
{
    if (!t->n_row)
        t->n_col = n;
    oc_table_row(t, cell);
}

const char *oc_table_kinds(struct oc_arena *arena, size_t n_numbers, size_t n_texts)
{
    char *kinds = OC_NEW_ARRAY(arena, n_numbers + n_texts + 1, char);
    memset(kinds, 'n', n_numbers);
    memset(kinds + n_numbers, 'c', n_texts);
    return kinds;
}

void oc_table_free(struct oc_table *t)
{
    free(t->cell);
    t->cell = NULL;
    t->n_row = t->cap_row = 0;
}

/* ---- short names ------------------------------------------------------------------------------------ */

#define ELLIPSIS "…"
enum { MOST_PARTS = 4 };

static size_t width_of(const char *s)
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
    for (size_t rest = width_of(s); p < end && rest > width;)
        rest -= oc_uni_columns(oc_utf8_next(&p, end));
    return p;
}

/* "/layer3…relu/Relu": a third from the start, the rest from the end. */
static const char *cut_middle(struct oc_arena *arena, const char *s, size_t width)
{
    size_t used;
    if (width_of(s) <= width)
        return s;
    size_t head = head_bytes(s, (width - 1) / 3, &used);
    return oc_printf(arena, "%.*s" ELLIPSIS "%s", (int)head, s, tail_of(s + head, width - 1 - used));
}

/* The end of a path, both ends of other texts. The first `prefix` bytes may be dropped. */
static const char *cut_name(struct oc_arena *arena, const char *s, size_t prefix, size_t width)
{
    if (width_of(s) <= width)
        return s;
    if (strchr(s, '/') ? !prefix || width_of(s + prefix) < width : prefix && width_of(s + prefix) < width)
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
    return width_of(name->full) > width;
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
static void part_names(struct oc_arena *arena, struct name *name, uint32_t n, size_t width)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct name *first = &name[name[i].alike];
        if (first->n_alike > 1 && is_wide(&name[i], width))
            name[i].text = cut_name(arena, name[i].full, component_start(name[i].full, first->prefix), width);
    }
}

/* Numbers the names that are still equal. */
static void number_names(struct oc_arena *arena, struct name *name, uint32_t n, size_t width)
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

static void shorten_names(struct oc_arena *arena, struct name *name, uint32_t n, size_t width)
{
    for (uint32_t i = 0; i < n; i++)
        name[i].text = cut_name(arena, name[i].full, 0, width);
    bool alike = find_alike(arena, name, n);
    for (unsigned i = 0; alike && i < MOST_PARTS; i++) { /* each pass drops a longer common prefix */
        part_names(arena, name, n, width);
        alike = find_alike(arena, name, n);
    }
    if (alike)
        number_names(arena, name, n, width);
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
    shorten_names(arena, name, n_name, width);
    for (size_t i = 0; i < n; i++)
        text[i * stride] = name[of[i]].text;
}

/* ---- terminal: layout ------------------------------------------------------------------------------- */

enum { GAP = 2, SHORTEST_TEXT = 14, SHORTEST = 6 /* where even the minimum widths do not fit */ };

struct column {
    size_t width, title; /* width 0: dropped, or empty */
    size_t min_width;    /* > 0: texts may be shortened to this many characters */
    unsigned drop;       /* > 0: dropped if the table is too wide, largest value first */
    bool left;
};

struct layout {
    struct oc_table *t;
    struct oc_arena arena;
    struct column *column;
};

/* Texts from files: control characters could move the cursor. */
static const char *visible(struct oc_arena *arena, const char *s)
{
    const char *p = s;
    while (*p >= ' ' && *p <= '~')
        p++;
    return *p ? oc_make_visible(oc_strdup(arena, s)) : s;
}

static void measure(struct layout *l)
{
    const struct oc_table *t = l->t;
    for (size_t c = 0; c < t->n_col; c++) {
        struct column *k = &l->column[c];
        k->left = t->kinds && t->kinds[c] != 'n';
        k->drop = t->drop ? t->drop[c] : (unsigned)c;
        k->min_width = t->min_width              ? t->min_width[c]
                       : t->headless || !k->left ? 0
                       : t->min_text             ? t->min_text
                                                 : SHORTEST_TEXT;
    }
    for (size_t i = 0; i < t->n_row * t->n_col; i++) {
        struct column *k = &l->column[i % t->n_col];
        t->cell[i] = visible(&l->arena, t->cell[i]);
        size_t w = width_of(t->cell[i]);
        k->title = i < t->n_col ? w : k->title;
        k->width = w > k->width ? w : k->width;
    }
}

/* The minimum width of a column when shrinking. */
static size_t floor_width(const struct column *c)
{
    size_t least = !c->min_width ? c->width : c->min_width > c->title ? c->min_width : c->title;
    return least < c->width ? least : c->width;
}

static size_t full_width(const struct column *c)
{
    return c->width;
}

static bool fits(const struct layout *l, size_t (*width)(const struct column *))
{
    size_t sum = 0;
    for (size_t c = 0; c < l->t->n_col; c++)
        if (l->column[c].width)
            sum += width(&l->column[c]) + (sum ? GAP : 0);
    return sum <= l->t->width_chars;
}

static struct column *next_to_drop(const struct layout *l)
{
    struct column *best = NULL;
    for (size_t i = 0; i < l->t->n_col; i++) {
        struct column *c = &l->column[i];
        if (c->width && c->drop && (!best || c->drop > best->drop))
            best = c;
    }
    return best;
}

/* The widest column that can shrink. */
static struct column *widest_shrinkable(const struct layout *l, bool all)
{
    struct column *best = NULL;
    for (size_t i = 0; i < l->t->n_col; i++) {
        struct column *c = &l->column[i];
        size_t least = c->title > SHORTEST ? c->title : SHORTEST;
        if (c->width > (all && c->min_width ? least : floor_width(c)) && (!best || c->width > best->width))
            best = c;
    }
    return best;
}

static void fit(struct layout *l)
{
    const struct oc_table *t = l->t;
    struct column *c;
    while (!fits(l, floor_width) && (c = next_to_drop(l)))
        c->width = 0;
    for (unsigned all = 0; all < 2; all++)
        while (!fits(l, full_width) && (c = widest_shrinkable(l, all)))
            c->width--;
    for (size_t i = 0; i < t->n_col; i++)
        if (l->column[i].width && l->column[i].min_width)
            oc_short_names(&l->arena, t->cell + t->n_col + i, t->n_col, t->n_row - 1, l->column[i].width);
}

/* ---- terminal: printing ----------------------------------------------------------------------------- */

/* Draws the part of the column given by `share` with another background. */
static void put_bar(struct oc_buf *b, const char *text, size_t width, double share)
{
    size_t covered = share > 0 ? (size_t)(share * (double)width + 0.5) : 0, used = 0, n = width_of(text);
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

/* "+1.2 MB", "< +0.1 %" are red, "-3 us", "> -0.1 %" green if `changes`. */
static void put_text(struct oc_buf *b, const char *text, bool changes)
{
    const char *sign = text + strspn(text, "<> ");
    bool change = changes && (*sign == '+' || *sign == '-') && sign[1] >= '0' && sign[1] <= '9';
    oc_buf_str(b, !change ? "" : *sign == '+' ? "\033[31m" : "\033[32m");
    oc_plain_text(b, text);
    oc_buf_str(b, change ? "\033[39m" : "");
}

static void put_row(const struct layout *l, size_t row, struct oc_buf *b)
{
    const struct oc_table *t = l->t;
    bool titles = !row && !t->headless;
    oc_buf_str(b, titles && t->color ? "\033[1m" : "");
    size_t start = b->n;
    for (size_t c = 0; c < t->n_col; c++) {
        const struct column *k = &l->column[c];
        const char *text = t->cell[row * t->n_col + c];
        if (!k->width)
            continue;
        size_t n = width_of(text), pad = n < k->width ? k->width - n : 0;
        bool bar = b->n == start && !titles && t->share && t->color && k->left;
        oc_buf_pad(b, ' ', (b->n > start ? GAP : 0) + (k->left ? 0 : pad));
        if (bar)
            put_bar(b, text, k->width, t->share[row - 1]);
        else
            put_text(b, text, t->color && t->changes && !k->left);
        oc_buf_pad(b, ' ', k->left && !bar ? pad : 0);
    }
    while (b->n && b->data[b->n - 1] == ' ')
        b->n--;
    oc_buf_str(b, titles && t->color ? "\033[0m\n" : "\n");
}

static void print_not_shown(const struct layout *l, FILE *f)
{
    struct oc_buf b = {0};
    size_t n = 0;
    oc_buf_printf(&b, "(not shown at %zu columns: ", l->t->width_chars);
    for (size_t c = 0; c < l->t->n_col; c++)
        if (!l->column[c].width && *l->t->cell[c])
            oc_buf_printf(&b, "%s%s", n++ ? ", " : "", l->t->cell[c]);
    oc_buf_str(&b, "; use --width or -f csv)");
    if (n)
        oc_plain_say("", 0, l->t->width_chars, b.data, f);
    oc_buf_free(&b);
}

static void write_out(struct oc_buf *b, FILE *f)
{
    if (b->n)
        fwrite(b->data, 1, b->n, f);
    oc_buf_clear(b);
}

size_t oc_table_print(struct oc_table *t, FILE *f)
{
    struct layout l = {.t = t};
    struct oc_buf b = {0};
    size_t shown = 0;
    l.column = OC_NEW_ARRAY(&l.arena, t->n_col, struct column);
    measure(&l);
    bool wide = t->width_chars && !fits(&l, full_width);
    if (wide)
        fit(&l);
    for (size_t r = 0; r < t->n_row; r++) {
        put_row(&l, r, &b);
        write_out(&b, f);
    }
    if (t->n_row == 1 && t->empty)
        fputs(t->empty, f);
    if (wide && !t->headless)
        print_not_shown(&l, f);
    while (shown < t->n_col && l.column[shown].width)
        shown++;
    oc_buf_free(&b);
    oc_arena_free(&l.arena);
    oc_table_free(t);
    return shown;
}

size_t oc_print_counted(void (*print)(void *of, FILE *f), void *of, FILE *f)
{
    struct oc_buf text = {0};
    FILE *memory = oc_buf_stream(&text);
    size_t n = 0;
    print(of, memory);
    fclose(memory);
    for (size_t i = 0; i < text.n; i++)
        n += text.data[i] == '\n';
    write_out(&text, f);
    oc_buf_free(&text);
    return n;
}

size_t oc_rows_left(size_t lines)
{
    return lines + OC_LEAST_ROWS < OC_SCREEN_LINES ? OC_SCREEN_LINES - lines : OC_LEAST_ROWS;
}

size_t oc_top_rows(size_t top, size_t lines)
{
    return top == OC_TOP_SCREEN ? oc_rows_left(lines) : top;
}

/* ---- Markdown --------------------------------------------------------------------------------------- */

static void md_line(struct oc_buf *b, const struct oc_table *t, size_t row)
{
    oc_buf_char(b, '|');
    for (size_t c = 0; c < t->n_col; c++) {
        const char *text = t->cell[row * t->n_col + c];
        oc_buf_char(b, ' ');
        if (!row || t->kinds[c] == 'n')
            oc_buf_str(b, text);
        else if (t->kinds[c] == 'c' && *text && strcmp(text, "-") != 0)
            oc_md_code(b, text);
        else
            oc_md_text(b, text);
        oc_buf_str(b, " |");
    }
    oc_buf_char(b, '\n');
}

void oc_table_markdown(struct oc_table *t, FILE *f)
{
    struct oc_buf b = {0};
    for (size_t r = 0; r < t->n_row; r++) {
        md_line(&b, t, r);
        if (r)
            continue;
        oc_buf_char(&b, '|');
        for (size_t c = 0; c < t->n_col; c++)
            oc_buf_str(&b, t->kinds[c] == 'n' ? " ---: |" : " --- |");
        oc_buf_char(&b, '\n');
    }
    oc_buf_char(&b, '\n');
    write_out(&b, f);
    oc_buf_free(&b);
    oc_table_free(t);
}

/* ---- CSV -------------------------------------------------------------------------------------------- */

static void csv_rows(struct oc_table *t, const char *head, const char *version, FILE *f)
{
    struct oc_buf b = {0};
    for (size_t i = 0; i < t->n_row * t->n_col; i++) {
        oc_csv_text(&b, t->cell[i]);
        oc_buf_char(&b, ',');
        /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): a table has columns where it has cells */
        if ((i + 1) % t->n_col == 0)
            oc_buf_printf(&b, "%s\r\n", i < t->n_col ? head : version);
    }
    write_out(&b, f);
    oc_buf_free(&b);
    oc_table_free(t);
}

void oc_table_csv(struct oc_table *t, const char *version, FILE *f)
{
    csv_rows(t, "csv_version", version, f);
}

void oc_table_csv_rows(struct oc_table *t, const char *last, FILE *f)
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
