#include "cli/sizes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/xmem.h"

enum { MAX_SIZES = 10000 };

static bool add_size(struct cli_sizes *s, int64_t v)
{
    if (s->n == MAX_SIZES)
        return false;
    if (s->n == s->cap) {
        s->cap = s->cap ? s->cap * 2 : 16;
        s->v = cli_xrealloc(s->v, s->cap * sizeof(*s->v));
    }
    s->v[s->n++] = v;
    return true;
}

static bool take_size(const char **p, int64_t *out)
{
    char *end;
    errno = 0;
    if (**p < '0' || **p > '9')
        return false;
    long long v = strtoll(*p, &end, 10);
    *out = v;
    *p = end;
    return !errno;
}

/* One entry: a size, or a range with its last size and what leads from one to the next. */
static bool take_entry(const char **p, struct cli_sizes *s)
{
    int64_t first, last, by = 1;
    char how = '+';
    if (!take_size(p, &first))
        return false;
    if (strncmp(*p, "..", 2))
        return add_size(s, first);
    *p += 2;
    if (!take_size(p, &last) || last < first)
        return false;
    if (**p == '+' || **p == '*') {
        how = *(*p)++;
        if (!take_size(p, &by))
            return false;
    }
    if (by < (how == '*' ? 2 : 1) || (how == '*' && first < 1))
        return false;
    for (int64_t v = first; v <= last;) {
        if (!add_size(s, v))
            return false;
        if (how == '*' ? __builtin_mul_overflow(v, by, &v) : __builtin_add_overflow(v, by, &v))
            break;
    }
    return true;
}

bool cli_sizes_parse(const char *text, struct cli_sizes *out)
{
    bool ok = take_entry(&text, out);
    while (ok && *text == ',') {
        text++;
        ok = take_entry(&text, out);
    }
    return ok && !*text;
}
