#include "analyze/analysis.h"

#include <stdlib.h>
#include <string.h>

#define MAX_FILE_BYTES (1U << 20)
#define MAX_WEIGHT     1000000U

static const struct {
    const char *name;
    struct oc_weights set;
} sets[] = {
    {"unit",
     {{[OC_MAC] = 2,
       [OC_ADD] = 1,
       [OC_MUL] = 1,
       [OC_CMP] = 1,
       [OC_DIV] = 1,
       [OC_RND] = 1,
       [OC_SQRT] = 1,
       [OC_EXP] = 1,
       [OC_LOG] = 1,
       [OC_SIN] = 1,
       [OC_TAN] = 1,
       [OC_TANH] = 1,
       [OC_SIG] = 1,
       [OC_ERF] = 1,
       [OC_POW] = 1,
       [OC_RNG] = 1,
       [OC_BIT] = 1,
       [OC_CVT] = 0,
       [OC_DEQ] = 0}}},
    {"hw",
     {{[OC_MAC] = 2,
       [OC_ADD] = 1,
       [OC_MUL] = 1,
       [OC_CMP] = 1,
       [OC_DIV] = 8,
       [OC_RND] = 1,
       [OC_SQRT] = 8,
       [OC_EXP] = 16,
       [OC_LOG] = 20,
       [OC_SIN] = 20,
       [OC_TAN] = 28,
       [OC_TANH] = 26,
       [OC_SIG] = 26,
       [OC_ERF] = 24,
       [OC_POW] = 37,
       [OC_RNG] = 10,
       [OC_BIT] = 1,
       [OC_CVT] = 1,
       [OC_DEQ] = 2}}},
    {"mac", {{[OC_MAC] = 1}}},
};

struct word {
    const char *s;
    size_t n;
};

/* The next word of a line; n is 0 at the end or at a comment. */
static struct word weights_next_word(const char **p, const char *end)
{
    while (*p < end && (**p == ' ' || **p == '\t' || **p == '\r'))
        ++*p;
    const char *s = *p;
    while (*p < end && !strchr(" \t\r#", **p))
        ++*p;
    return (struct word){s, (size_t)(*p - s)};
}

static unsigned weights_prim_of(struct word w)
{
    unsigned p = 0;
    while (p < OC_PRIM_COUNT && (strlen(oc_prim_name(p)) != w.n || memcmp(oc_prim_name(p), w.s, w.n) != 0))
        p++;
    return p;
}

static bool parse_weight(struct word w, uint32_t *out)
{
    uint32_t v = 0;
    for (size_t i = 0; i < w.n; i++) {
        if (w.s[i] < '0' || w.s[i] > '9' || v > MAX_WEIGHT)
            return false;
        v = v * 10 + (uint32_t)(w.s[i] - '0');
    }
    *out = v;
    return w.n && v <= MAX_WEIGHT;
}

/* Maximum length shown in messages. */
static int shown_length(struct word w)
{
    return w.n < 40 ? (int)w.n : 40;
}

static int weights_read_line(const char *p, const char *end, struct oc_weights *out, bool *given,
                             struct oc_err *err)
{
    struct word key = weights_next_word(&p, end), value = weights_next_word(&p, end),
                more = weights_next_word(&p, end);
    unsigned prim = weights_prim_of(key);
    if (!key.n)
        return 0;
    if (prim == OC_PRIM_COUNT)
        return oc_fail(err, OC_EFORMAT,
                       "unknown primitive '%.*s'; primitives: MAC ADD MUL CMP DIV RND SQRT EXP LOG "
                       "SIN TAN TANH SIG ERF POW RNG BIT CVT DEQ",
                       shown_length(key), key.s);
    if (given[prim])
        return oc_fail(err, OC_EFORMAT, "duplicate weight for %s", oc_prim_name(prim));
    if (!parse_weight(value, &out->w[prim]) || more.n)
        return oc_fail(err, OC_EFORMAT, "%s needs an integer from 0 to %u, not '%.*s'", oc_prim_name(prim),
                       MAX_WEIGHT,
                       more.n ? shown_length((struct word){value.s, (size_t)(more.s + more.n - value.s)})
                              : shown_length(value),
                       value.s);
    given[prim] = true;
    return 0;
}

int oc_weights_read(const char *data, size_t n, const char *file, struct oc_weights *out, struct oc_err *err)
{
    bool given[OC_PRIM_COUNT] = {false};
    uint32_t line = 1;
    *out = sets[0].set;
    if (!n) /* data may be NULL */
        return 0;
    for (const char *p = data, *end = data + n; p < end; line++) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        stop = stop ? stop : end;
        if (weights_read_line(p, stop, out, given, err)) {
            oc_err_prefix(err, "cannot read '%s': line %u", file, line);
            return oc_err_at(err, file, line, 0);
        }
        p = stop < end ? stop + 1 : end;
    }
    return 0;
}

int oc_weights_get(const char *name_or_file, struct oc_weights *out, struct oc_err *err)
{
    struct oc_file f;
    for (size_t i = 0; i < OC_COUNT(sets); i++)
        if (!name_or_file || strcmp(name_or_file, sets[i].name) == 0) {
            *out = sets[i].set;
            return 0;
        }
    if (oc_file_map(name_or_file, MAX_FILE_BYTES, &f, err))
        return oc_err_prefix(err, "--weights takes unit, hw, mac or a file");
    int rc = oc_weights_read((const char *)f.data, (size_t)f.size_bytes, name_or_file, out, err);
    oc_file_unmap(&f);
    return rc;
}
