/* Patterns for names. */
#include "base/pattern.h"

#include <stdio.h>
#include <string.h>

#include "base/ck.h"
#include "base/str.h"

enum { MAX_PATTERN = 200, MAX_STEPS = 20000 };

bool oc_glob(const char *p, const char *text)
{
    const char *star = NULL, *from = NULL;
    while (*text) {
        if (*p == '*') {
            star = ++p;
            from = text;
        } else if (*p == '?' || *p == *text) {
            p++;
            text++;
        } else if (star) {
            p = star;
            text = ++from;
        } else {
            return false;
        }
    }
    while (*p == '*')
        p++;
    return !*p;
}

/* One character of a regular expression: sets *end after it. */
static bool regex_char(const char *p, char c, const char **end)
{
    bool found = false, negated;
    if (*p == '\\' && p[1]) {
        *end = p + 2;
        return p[1] == 'd'   ? oc_is_digit(c)
               : p[1] == 'w' ? oc_is_digit(c) || c == '_' || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z')
                             : c == p[1];
    }
    if (*p != '[') {
        *end = p + 1;
        return *p == '.' || *p == c;
    }
    negated = p[1] == '^';
    for (p += 1 + negated; *p && *p != ']'; p++) {
        bool range = p[1] == '-' && p[2] && p[2] != ']';
        found |= range ? c >= *p && c <= p[2] : c == *p;
        p += range ? 2 : 0;
    }
    *end = *p ? p + 1 : p;
    return found != negated;
}

static const char *regex_skip(const char *p)
{
    const char *end;
    regex_char(p, 'x', &end);
    return end;
}

/* Without groups: a pattern from its start. steps: what may still be tried. */
static bool regex_here(const char *p, const char *text, int *steps)
{
    while (*p && !(*p == '$' && !p[1])) {
        const char *next = regex_skip(p), *after = next, *unused;
        if (--*steps < 0)
            return false;
        if (*next != '*' && *next != '+' && *next != '?') {
            if (!*text || !regex_char(p, *text, &unused))
                return false;
            p = next;
            text++;
            continue;
        }
        after++;
        if (*next != '+' && regex_here(after, text, steps))
            return true;
        for (size_t n = 0; text[n] && regex_char(p, text[n], &unused) && (*next != '?' || n == 0); n++)
            if (regex_here(after, text + n + 1, steps))
                return true;
        return false;
    }
    return !*p || !*text;
}

/* Groups are written out, one alternative after the other. */
static bool regex_any(const char *p, const char *text, int *steps)
{
    const char *open = p, *close, *end;
    char one[256];
    while (*open && *open != '(')
        open = regex_skip(open);
    if (!*open) {
        for (bool start = *p == '^'; *text || start || *p; text++) {
            if (regex_here(start ? p + 1 : p, text, steps))
                return true;
            if (start || !*text)
                return false;
        }
        return false;
    }
    for (close = open + 1; *close && *close != ')' && *close != '('; close = regex_skip(close))
        continue;
    const char *inside = open + 1 + (open[1] == '?' && open[2] == ':' ? 2 : 0);
    if (*close != ')' || *inside == '?' || strchr("*+?{", close[1] ? close[1] : ' '))
        return false; /* see oc_regex_is_simple */
    for (; inside <= close; inside = end + 1) {
        for (end = inside; end < close && *end != '|'; end = regex_skip(end))
            continue;
        int n = snprintf(one, sizeof(one), "%.*s%.*s%s", (int)(open - p), p, (int)(end - inside), inside,
                         close + 1);
        if (n < (int)sizeof(one) && --*steps >= 0 && regex_any(one, text, steps))
            return true;
    }
    return false;
}

/* Nested and repeated groups, and look-ahead, are not. */
bool oc_regex_is_simple(const char *p)
{
    int depth = 0;
    if (strlen(p) > MAX_PATTERN || strchr(p, '{'))
        return false;
    for (; *p; p = regex_skip(p)) {
        depth += *p == '(';
        if (depth > 1 || (*p == '|' && !depth) || (*p == '(' && p[1] == '?' && p[2] != ':') ||
            (*p == ')' && strchr("*+?", p[1] ? p[1] : ' ')))
            return false;
        depth -= *p == ')' && depth > 0;
    }
    return depth == 0;
}

bool oc_regex_find(const char *pattern, const char *text)
{
    int steps = MAX_STEPS;
    return oc_regex_is_simple(pattern) && regex_any(pattern, text, &steps);
}
