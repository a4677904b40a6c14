#include "write/textwrap.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
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

/* ---- the text: tabs expanded, white space made blanks -------------------------------------------------- */

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

/* ---- chunks -------------------------------------------------------------------------------------------- */

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

static void split(struct chunks *t)
{
    for (size_t from = 0; from < t->length;) {
        size_t to = chunk_end(t, from);
        OC_GROW(t->item, t->n, t->cap);
        t->item[t->n++] = (struct chunk){from, to};
        from = to;
    }
}

/* ---- lines --------------------------------------------------------------------------------------------- */

static bool blank(const struct chunks *t, struct chunk k)
{
    for (size_t i = k.from; i < k.to; i++)
        if (!oc_uni_is_space(t->c[i]))
            return false;
    return true;
}

/* Where to break a chunk with `room` characters left: after its last hyphen in that range that is preceded
 * by another character, or at the end of the range. */
static size_t cut(const struct chunks *t, struct chunk k, size_t room)
{
    size_t hyphen = k.from + room;
    while (hyphen > k.from && t->c[hyphen - 1] != '-')
        hyphen--;
    for (size_t i = k.from; i + 1 < hyphen; i++)
        if (t->c[i] != '-')
            return hyphen;
    return k.from + room;
}

static void put_line(const struct chunks *t, size_t from, size_t to, const char *joint, bool first,
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
            to = cut(t, t->item[k], width - (to - from));
            t->item[k].from = to;
        }
        if (blank(t, (struct chunk){last, to}))
            to = last;
        if (to > from) {
            put_line(t, from, to, joint, first, out);
            first = false;
        }
    }
}

void oc_wrap(const char *text, size_t width, const char *joint, struct oc_buf *out)
{
    struct chunks t = {0};
    uint32_t *c = munge(text, &t.length);
    t.c = c;
    split(&t);
    put_lines(&t, width, joint, out);
    free(t.item);
    free(c);
}
