/* Exporters write arithmetic into dim_param ("past_sequence_length + sequence_length", "2*height",
 * "floor(s0/2)"). It is evaluated only if every identifier is a bound symbol; anything else stays an opaque
 * name. */
#include <ctype.h>
#include <string.h>

#include "base/str.h"
#include "analyze/engine.h"

struct parser {
    struct oc_engine *e;
    const char *p;
    unsigned depth;
    bool ok, compound; /* compound: contains more than one identifier */
};

static struct oc_dim dim_eval_sum(struct parser *s);

static char peek(struct parser *s)
{
    while (*s->p == ' ')
        s->p++;
    return *s->p;
}

static struct oc_dim dim_eval_fail(struct parser *s)
{
    s->ok = false;
    return oc_known(0);
}

static struct oc_dim dim_eval_group(struct parser *s)
{
    s->p++;
    if (++s->depth > 32)
        return dim_eval_fail(s);
    struct oc_dim v = dim_eval_sum(s);
    s->depth--;
    if (!s->ok || peek(s) != ')')
        return dim_eval_fail(s);
    s->p++;
    return v;
}

static struct oc_dim dim_eval_number(struct parser *s)
{
    int64_t v = 0;
    s->compound = true;
    for (; isdigit((unsigned char)*s->p); s->p++)
        if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, *s->p - '0', &v))
            return dim_eval_fail(s);
    return oc_known(v);
}

static struct oc_dim name(struct parser *s)
{
    const char *start = s->p;
    while (oc_is_alnum((unsigned char)*s->p) || *s->p == '_' || *s->p == '.')
        s->p++;
    size_t n = (size_t)(s->p - start);
    if (n == 5 && memcmp(start, "floor", 5) == 0 && peek(s) == '(') {
        s->compound = true;
        return dim_eval_group(s);
    }
    uint32_t id = oc_map_get(&s->e->symbol_ids, start, n);
    if (id == OC_NONE || !s->e->symbol[id].bound)
        return dim_eval_fail(s);
    return s->e->symbol[id].value;
}

static struct oc_dim atom(struct parser *s)
{
    char c = peek(s);
    if (c == '(') {
        s->compound = true;
        return dim_eval_group(s);
    }
    if (isdigit((unsigned char)c))
        return dim_eval_number(s);
    if (oc_is_alpha((unsigned char)c) || c == '_')
        return name(s);
    return dim_eval_fail(s);
}

static struct oc_dim dim_eval_product(struct parser *s)
{
    struct oc_exprs *x = s->e->a->exprs;
    struct oc_dim v = atom(s);
    while (s->ok) {
        char c = peek(s);
        if (c != '*' && c != '/')
            break;
        s->p += 1 + (s->p[1] == c && c == '/');
        s->compound = true;
        struct oc_dim w = atom(s);
        if (!s->ok || (c == '/' && (!oc_is_known(w) || w.v <= 0)))
            return dim_eval_fail(s);
        v = c == '*' ? oc_dim_mul(x, v, w) : oc_dim_floordiv(x, v, w);
    }
    return v;
}

static struct oc_dim dim_eval_sum(struct parser *s)
{
    struct oc_exprs *x = s->e->a->exprs;
    struct oc_dim v = dim_eval_product(s);
    while (s->ok) {
        char c = peek(s);
        if (c != '+' && c != '-')
            break;
        s->p++;
        s->compound = true;
        struct oc_dim w = dim_eval_product(s);
        v = c == '+' ? oc_dim_add(x, v, w) : oc_dim_sub(x, v, w);
    }
    return v;
}

bool oc_dim_eval(struct oc_engine *e, const char *text, struct oc_dim *out)
{
    struct parser s = {.e = e, .p = text, .ok = true};
    struct oc_dim v = dim_eval_sum(&s);
    if (!s.ok || peek(&s) != '\0' || !s.compound || (oc_is_known(v) && v.v < 0))
        return false;
    *out = v;
    return true;
}
