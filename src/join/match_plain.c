#include <string.h>

#include "base/buf.h"
#include "join/join.h"

/* Tools change names: a kernel's suffix (_myl109_2), an event's suffix (_kernel_time), the index of a
 * shape profile, a domain prefix, and '.' or '/' replaced by '_'. */
enum { AMBIGUOUS = OC_NONE - 1 };

static size_t digits_back(const char *s, size_t n)
{
    size_t k = 0;
    while (k < n && s[n - 1 - k] >= '0' && s[n - 1 - k] <= '9')
        k++;
    return k;
}

/* Length without "_myl<digits>_<digits>". */
static size_t without_region(const char *s, size_t n)
{
    size_t a = digits_back(s, n);
    if (!a || a + 1 > n || s[n - a - 1] != '_')
        return n;
    size_t b = digits_back(s, n - a - 1), left = n - a - 1 - b;
    return b && left >= 4 && memcmp(s + left - 4, "_myl", 4) == 0 ? left - 4 : n;
}

static size_t without_ending(const char *s, size_t n)
{
    static const char event[] = "_kernel_time";
    if (n > sizeof(event) - 1 && memcmp(s + n - (sizeof(event) - 1), event, sizeof(event) - 1) == 0)
        n -= sizeof(event) - 1;
    const char *profile = n && s[n - 1] == ']' ? memmem(s, n, " [profile ", 10) : NULL;
    return without_region(s, profile ? (size_t)(profile - s) : n);
}

static void plain_form(struct oc_buf *out, const char *s, size_t n)
{
    oc_buf_clear(out);
    n = without_ending(s, n);
    const char *colon = memchr(s, ':', n);
    if (colon && colon > s && (size_t)(colon - s) + 1 < n && colon[1] != ':' && colon[1] != '/') {
        n -= (size_t)(colon + 1 - s);
        s = colon + 1;
    }
    for (size_t i = 0; i < n; i++) {
        char c = s[i];
        if (c == '.' || c == '/' || c == ':')
            c = '_';
        if (c != '_' || out->n)
            oc_buf_char(out, c);
    }
}

static void index_names(struct oc_matcher *x)
{
    struct oc_buf b = {0};
    x->plain.arena = x->arena;
    x->has_plain = true;
    for (uint32_t i = 0; i < x->m->n_node; i++) {
        uint32_t at = i;
        const char *name = x->m->node[i].name;
        plain_form(&b, name, strlen(name));
        if (b.n && !oc_map_add(&x->plain, b.data, b.n, &at, NULL))
            oc_map_set(&x->plain, b.data, b.n, AMBIGUOUS);
    }
    oc_buf_free(&b);
}

uint32_t oc_match_plain_name(struct oc_matcher *x, const char *name, size_t len)
{
    struct oc_buf b = {0};
    if (!x->has_plain)
        index_names(x);
    plain_form(&b, name, len);
    uint32_t node = b.n ? oc_map_get(&x->plain, b.data, b.n) : OC_NONE;
    oc_buf_free(&b);
    return node == AMBIGUOUS ? OC_NONE : node;
}
