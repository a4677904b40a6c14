#include "write/short_names.h"

#include <string.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/unicode.h"

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
static const char *cut(struct oc_arena *arena, const char *s, size_t prefix, size_t width)
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
static void part(struct oc_arena *arena, struct name *name, uint32_t n, size_t width)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct name *first = &name[name[i].alike];
        if (first->n_alike > 1 && is_wide(&name[i], width))
            name[i].text = cut(arena, name[i].full, component_start(name[i].full, first->prefix), width);
    }
}

/* Numbers the names that are still equal. */
static void number(struct oc_arena *arena, struct name *name, uint32_t n, size_t width)
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

static void shorten(struct oc_arena *arena, struct name *name, uint32_t n, size_t width)
{
    for (uint32_t i = 0; i < n; i++)
        name[i].text = cut(arena, name[i].full, 0, width);
    bool alike = find_alike(arena, name, n);
    for (unsigned i = 0; alike && i < MOST_PARTS; i++) { /* each pass drops a longer common prefix */
        part(arena, name, n, width);
        alike = find_alike(arena, name, n);
    }
    if (alike)
        number(arena, name, n, width);
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
    shorten(arena, name, n_name, width);
    for (size_t i = 0; i < n; i++)
        text[i * stride] = name[of[i]].text;
}
