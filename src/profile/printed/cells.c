/* Cutting lines of printed tables. Columns of text count characters, not bytes. */
#include "profile/printed/cells.h"

#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Removes one character of these from the start of the text. */
static bool skip_one_of(struct oc_str *s, const char *const *known, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (oc_str_starts(*s, known[i])) {
            *s = oc_str_skip(*s, strlen(known[i]));
            return true;
        }
    return false;
}

/* ---- frames ----------------------------------------------------------------------------------------- */

size_t oc_cells_rule(struct oc_str line, struct oc_text_column *out)
{
    size_t n = 0, i = 0;
    while (i < line.n) {
        if (is_blank(line.s[i])) {
            i++;
            continue;
        }
        size_t from = i;
        while (i < line.n && (line.s[i] == '-' || line.s[i] == '='))
            i++;
        if (i < from + 2 || n == OC_PRINTED_CELLS)
            return 0;
        out[n++] = (struct oc_text_column){from, i};
    }
    return n >= 2 ? n : 0;
}

bool oc_cells_is_frame(struct oc_str line)
{
    static const char *const corner[] = {"\u2552", "\u255e", "\u251c",
                                         "\u2558", "\u250c", "\u2514"}; /* those of tabulate */
    static const char *const part[] = {"-", "=", "\u2500", "\u2550", "|", "+", " ", "\t", ":", "\r"};
    struct oc_str s = oc_csv_trim(line);
    size_t n = 0;
    if (skip_one_of(&s, corner, OC_COUNT(corner)))
        return true;
    for (struct oc_str before = s; skip_one_of(&s, part, OC_COUNT(part)); before = s)
        n += !oc_str_starts(before, "|") && !oc_str_starts(before, "+") && !oc_str_starts(before, ":") &&
             !oc_str_starts(before, " ");
    return !s.n && n >= 2;
}

bool oc_cells_is_empty(struct oc_str line)
{
    static const char *const part[] = {"|", "\u2502", " ", "\t", "\r"};
    while (skip_one_of(&line, part, OC_COUNT(part)))
        ;
    return !line.n;
}

/* ---- cells ------------------------------------------------------------------------------------------ */

size_t oc_cells_gaps(struct oc_str line, struct oc_str *out)
{
    size_t n = 0;
    for (line = oc_csv_trim(line); line.n && n < OC_PRINTED_CELLS; line = oc_csv_trim(line)) {
        size_t k = 0;
        while (k < line.n && line.s[k] != '\t' &&
               !(line.s[k] == ' ' && k + 1 < line.n && is_blank(line.s[k + 1])))
            k++;
        out[n++] = oc_csv_trim((struct oc_str){line.s, k});
        line = oc_str_skip(line, k);
    }
    return n;
}

size_t oc_cells_words(struct oc_str line, struct oc_str *out)
{
    size_t n = 0;
    for (line = oc_csv_trim(line); line.n && n < OC_PRINTED_CELLS;)
        out[n++] = oc_csv_word(&line);
    return n;
}

size_t oc_cells_bars(struct oc_str line, struct oc_str *out)
{
    static const char *const bar[] = {"|", "\u2502"};
    size_t n = 0;
    bool any = false;
    struct oc_str from = {line.s, 0};
    while (line.n) {
        struct oc_str before = line;
        if (!skip_one_of(&line, bar, OC_COUNT(bar))) {
            line = oc_str_skip(line, 1);
            from.n += any;
            continue;
        }
        if (any && n < OC_PRINTED_CELLS)
            out[n++] = oc_csv_trim(oc_str_before(from, before.s));
        from = line;
        any = true;
    }
    return n;
}

static bool same_letters(const char *a, const char *b, size_t n)
{
    return oc_ncasecmp(a, b, n) == 0;
}

/* The longest title at the start of the line, which ends there or goes on with a blank or a unit. */
static size_t title_at(const struct oc_printed_table *t, struct oc_str s)
{
    size_t best = 0;
    for (const struct oc_printed_column *c = t->column; c; c = c->next)
        for (size_t i = 0; i < c->header.n; i++) {
            struct oc_str h = c->header.word[i];
            h.n -= h.n && h.s[h.n - 1] == '*';
            if (h.n > best && h.n <= s.n && same_letters(h.s, s.s, h.n) &&
                (h.n == s.n || is_blank(s.s[h.n]) || s.s[h.n] == '('))
                best = h.n;
        }
    return best;
}

size_t oc_cells_titles(const struct oc_printed_table *t, struct oc_str line, struct oc_str *out)
{
    size_t n = 0;
    for (line = oc_csv_trim(line); line.n && n < OC_PRINTED_CELLS; line = oc_csv_trim(line)) {
        size_t k = title_at(t, line);
        if (!k)
            while (k < line.n && !is_blank(line.s[k]) && (line.s[k] != '(' || !k))
                k++;
        size_t open = k + (k + 1 < line.n && line.s[k] == ' ' && line.s[k + 1] == '(');
        const char *close =
            open < line.n && line.s[open] == '(' ? oc_str_chr(oc_str_skip(line, open), ')') : NULL;
        if (close)
            k = (size_t)(close - line.s) + 1;
        while (close && k < line.n &&
               (line.s[k] == '-' || line.s[k - 1] == '-' || (line.s[k - 1] != ')' && !is_blank(line.s[k]))))
            k++; /* "WorkLoad(0/1/2)-ImproveTherical" */
        out[n++] = (struct oc_str){line.s, k};
        line = oc_str_skip(line, k);
    }
    return n;
}

size_t oc_cells_csv(struct oc_str line, char delimiter, struct oc_str *out)
{
    size_t n = 0;
    for (bool more = true; more && n < OC_PRINTED_CSV_CELLS;) {
        struct oc_str s = oc_csv_trim(line);
        const char *quote = s.n && s.s[0] == '"' ? oc_str_chr(oc_str_skip(s, 1), '"') : NULL;
        if (quote) {
            out[n++] = oc_csv_trim(oc_str_before(oc_str_skip(s, 1), quote));
            line = oc_str_from(line, quote + 1);
            more = oc_str_chr(line, delimiter) != NULL;
            oc_str_take(&line, delimiter);
        } else {
            more = oc_str_chr(line, delimiter) != NULL;
            out[n++] = oc_csv_trim(oc_str_take(&line, delimiter));
        }
    }
    return n;
}

size_t oc_cells_join(struct oc_str *cell, size_t n_cell, size_t n, size_t wide)
{
    if (n_cell <= n)
        return n_cell;
    size_t last = wide + n_cell - n;
    cell[wide].n = (size_t)(cell[last].s + cell[last].n - cell[wide].s);
    memmove(cell + wide + 1, cell + last + 1, (n_cell - last - 1) * sizeof(*cell));
    return n;
}

/* ---- titles ----------------------------------------------------------------------------------------- */

/* Without quotes, stars and brackets around it, and a '#' before it. */
static struct oc_str bare_title(struct oc_str s)
{
    s = oc_csv_trim(s);
    while (s.n && strchr("\"*", s.s[0]))
        s = oc_csv_trim(oc_str_skip(s, 1));
    while (s.n && strchr("\"*", s.s[s.n - 1]))
        s = oc_csv_trim((struct oc_str){s.s, s.n - 1});
    while (s.n && s.s[0] == '#')
        s = oc_csv_trim(oc_str_skip(s, 1));
    if (s.n > 1 && s.s[0] == '[' && s.s[s.n - 1] == ']')
        s = oc_csv_trim((struct oc_str){s.s + 1, s.n - 2});
    return s;
}

/* Of equal letters but for case and blanks: the length of the text that was compared; `whole`: both end there. */
static bool same_title(struct oc_str a, struct oc_str b, bool whole)
{
    size_t i = 0, k = 0;
    for (;; i++, k++) {
        while (i < a.n && is_blank(a.s[i]))
            i++;
        while (k < b.n && is_blank(b.s[k]))
            k++;
        if (k == b.n || i == a.n)
            return k == b.n && (!whole || i == a.n);
        if (!same_letters(a.s + i, b.s + k, 1))
            return false;
    }
}

struct oc_str oc_title_unit(struct oc_str cell)
{
    struct oc_str unit;
    oc_csv_split_unit(bare_title(cell), &unit);
    return unit;
}

bool oc_title_fits(const struct oc_printed_column *c, struct oc_str cell)
{
    struct oc_str full = bare_title(cell), unit, name = oc_csv_split_unit(full, &unit);
    bool plain = !oc_str_eq(unit, "%") && !oc_str_chr(unit, ' ');
    for (size_t i = 0; i < c->header.n; i++) {
        struct oc_str h = c->header.word[i];
        while (h.n && h.s[0] == '#')
            h = oc_csv_trim(oc_str_skip(h, 1));
        bool begin = h.n > 1 && h.s[h.n - 1] == '*', end = h.n > 1 && h.s[0] == '*';
        if (oc_str_eq(h, "(none)") ? !full.n
            : begin                ? same_title(full, oc_str(h.s, h.n - 1), false)
            : end ? name.n >= h.n - 1 && same_letters(name.s + name.n - (h.n - 1), h.s + 1, h.n - 1)
            : oc_str_chr(h, '(') ? same_title(full, h, true)
                                 : full.n && (same_title(name, h, true) ? plain : same_title(full, h, true)))
            return true;
    }
    return false;
}

bool oc_has_title(struct oc_str line, struct oc_str title)
{
    if (oc_str_eq(title, "(none)"))
        return true;
    if (title.n && (title.s[title.n - 1] == '*'))
        title.n--;
    if (title.n && title.s[0] == '*')
        title = oc_str_skip(title, 1);
    while (title.n && (title.s[0] == '#' || title.s[0] == ' '))
        title = oc_str_skip(title, 1);
    const char *blank = oc_str_chr(title, ' '), *open = oc_str_chr(title, '(');
    const char *stop = open && (!blank || open < blank) ? open : blank;
    if (stop && stop > title.s)
        title = oc_str_before(title, stop); /* blanks of titles may differ */
    unsigned char first = title.n ? (unsigned char)title.s[0] : 0,
                  other = first ^ 32; /* lines may be very long */
    for (size_t i = 0; title.n && i + title.n <= line.n; i++)
        if (((unsigned char)line.s[i] == first || (unsigned char)line.s[i] == other) &&
            same_letters(line.s + i, title.s, title.n))
            return true;
    return false;
}
