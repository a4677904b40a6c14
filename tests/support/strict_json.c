#include "support/strict_json.h"

#include <string.h>

#include "base/unicode.h"

enum { MAX_DEPTH = 256 };

struct parser {
    const char *p, *end;
    size_t level;
    struct strict_json found;
};

static void blanks(struct parser *j)
{
    while (j->p < j->end && memchr(" \t\r\n", *j->p, 4))
        j->p++;
}

static bool take(struct parser *j, char c)
{
    if (j->p == j->end || *j->p != c)
        return false;
    j->p++;
    return true;
}

static bool word(struct parser *j, const char *text)
{
    size_t n = strlen(text);
    if ((size_t)(j->end - j->p) < n || memcmp(j->p, text, n) != 0)
        return false;
    j->p += n;
    return true;
}

static size_t digits(struct parser *j)
{
    const char *from = j->p;
    while (j->p < j->end && *j->p >= '0' && *j->p <= '9')
        j->p++;
    return (size_t)(j->p - from);
}

static bool number(struct parser *j)
{
    take(j, '-');
    if (!take(j, '0') && !digits(j))
        return false;
    if (take(j, '.') && !digits(j))
        return false;
    if (take(j, 'e') || take(j, 'E')) {
        if (!take(j, '+'))
            take(j, '-');
        return digits(j) > 0;
    }
    return true;
}

static bool hex4(struct parser *j)
{
    for (int i = 0; i < 4; i++, j->p++)
        if (j->p == j->end || !strchr("0123456789abcdefABCDEF", *j->p) || !*j->p)
            return false;
    return true;
}

static bool is_utf8(const char *s, const char *end)
{
    while (s < end)
        if (oc_utf8_next(&s, end) >= OC_BAD_BYTE)
            return false;
    return true;
}

static bool string(struct parser *j)
{
    const char *from = j->p;
    if (!take(j, '"'))
        return false;
    while (j->p < j->end && *j->p != '"') {
        unsigned char c = (unsigned char)*j->p++;
        if (c < ' ')
            return false;
        if (c != '\\')
            continue;
        if (j->p == j->end || !*j->p || !strchr("\"\\/bfnrtu", *j->p))
            return false;
        if (*j->p++ == 'u' && !hex4(j))
            return false;
    }
    return take(j, '"') && is_utf8(from, j->p);
}

static bool value(struct parser *j);

/* The elements between the brackets; the first one was taken. */
static bool elements(struct parser *j, char close)
{
    blanks(j);
    if (take(j, close))
        return true;
    do {
        blanks(j);
        if (close == '}') {
            j->found.members++;
            if (!string(j))
                return false;
            blanks(j);
            if (!take(j, ':'))
                return false;
        }
        if (!value(j))
            return false;
        blanks(j);
    } while (take(j, ','));
    return take(j, close);
}

static bool value(struct parser *j)
{
    bool good;
    blanks(j);
    j->found.values++;
    if (++j->level > MAX_DEPTH || j->p == j->end)
        return false;
    if (j->level > j->found.depth)
        j->found.depth = j->level;
    if (take(j, '{'))
        good = elements(j, '}');
    else if (take(j, '['))
        good = elements(j, ']');
    else if (*j->p == '"')
        good = string(j);
    else
        good = word(j, "true") || word(j, "false") || word(j, "null") || number(j);
    j->level--;
    return good;
}

bool strict_json(const char *text, size_t n, struct strict_json *found)
{
    struct parser j = {.p = text, .end = text + n};
    if (!value(&j))
        return false;
    blanks(&j);
    if (found)
        *found = j.found;
    return j.p == j.end;
}
