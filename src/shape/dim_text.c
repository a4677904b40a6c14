#include "shape/dim_poly.h"

#include <inttypes.h>
#include <string.h>

#include "base/buf.h"

const char *oc_cut_text(struct oc_arena *a, const char *s, size_t n)
{
    if (n <= OC_MAX_TEXT)
        return oc_strndup(a, s, n);
    size_t head = OC_MAX_TEXT - 3;
    while (head && ((unsigned char)s[head] & 0xc0) == 0x80) /* never inside a UTF-8 character */
        head--;
    return oc_printf(a, "%.*s...", (int)head, s);
}

static const char *dim_text_finish_text(struct oc_exprs *x, struct oc_buf *b)
{
    const char *s = oc_cut_text(x->arena, b->data ? b->data : "", b->n);
    oc_buf_free(b);
    return s;
}

static bool dim_text_is_plain(const char *s)
{
    if (strpbrk(s, " +-*/,") == NULL)
        return true;
    /* a single call such as floor(...) needs no brackets */
    static const char *const call[] = {"floor(", "ceil(", "min(", "max(", "mod("};
    bool starts = false;
    for (unsigned i = 0; i < OC_COUNT(call); i++)
        starts = starts || strncmp(s, call[i], strlen(call[i])) == 0;
    int depth = 0;
    const char *p = strchr(s, '(');
    for (; starts && p && *p; p++) {
        depth += (*p == '(') - (*p == ')');
        if (depth == 0)
            return p[1] == '\0';
    }
    return false;
}

static void add_factor(struct oc_buf *b, const char *text, uint32_t power, bool alone)
{
    bool bare = (alone && power == 1) || dim_text_is_plain(text);
    oc_buf_printf(b, bare ? "%s" : "(%s)", text);
    if (power > 1)
        oc_buf_printf(b, "^%" PRIu32, power);
}

static void dim_text_add_term(struct oc_buf *b, const struct oc_exprs *x, const struct term *t, bool only)
{
    int64_t size = t->coef < 0 ? -t->coef : t->coef; /* never INT64_MIN */
    if (b->n)
        oc_buf_str(b, t->coef < 0 ? " - " : " + ");
    else if (t->coef < 0)
        oc_buf_char(b, '-');
    if (size != 1 || t->degree == 0)
        oc_buf_printf(b, "%" PRId64 "%s", size, t->degree ? "*" : "");
    for (uint32_t i = 0, power; i < t->degree; i += power) {
        power = 1;
        while (i + power < t->degree && t->atom[i + power] == t->atom[i])
            power++;
        if (i)
            oc_buf_char(b, '*');
        add_factor(b, x->atom[t->atom[i]].text, power, only && t->coef == 1 && t->degree == 1);
    }
}

/* Positive terms first; a positive constant goes before negative terms if no other term is positive. */
static const char *poly_text(struct oc_exprs *x, const struct term *t, uint32_t n)
{
    struct oc_buf b = {0};
    for (uint32_t i = 0; i < n; i++)
        if (t[i].coef > 0 && t[i].degree)
            dim_text_add_term(&b, x, &t[i], n == 1);
    bool lead = b.n == 0 && n && t[n - 1].degree == 0 && t[n - 1].coef > 0;
    if (lead)
        dim_text_add_term(&b, x, &t[n - 1], false);
    for (uint32_t i = 0; i < n; i++)
        if (t[i].coef < 0 && t[i].degree)
            dim_text_add_term(&b, x, &t[i], false);
    if (!lead && n && t[n - 1].degree == 0)
        dim_text_add_term(&b, x, &t[n - 1], false);
    return dim_text_finish_text(x, &b);
}

static void add_operand(struct oc_buf *b, const char *text)
{
    oc_buf_printf(b, dim_text_is_plain(text) ? "%s" : "(%s)", text);
}

const char *oc_atom_text(struct oc_exprs *x, unsigned kind, struct oc_dim da, struct oc_dim db)
{
    static const char *const head[] = {
        [ATOM_FLOOR] = "floor(", [ATOM_CEIL] = "ceil(", [ATOM_MOD] = "mod(", [ATOM_MIN] = "min(",
        [ATOM_MAX] = "max(",     [ATOM_SUM] = "",       [ATOM_PRODUCT] = ""};
    struct oc_buf b = {0};
    const char *s = oc_dim_text(x, da), *t = oc_dim_text(x, db);
    bool infix = kind == ATOM_FLOOR || kind == ATOM_CEIL || kind == ATOM_PRODUCT;
    oc_buf_str(&b, head[kind]);
    if (infix) {
        add_operand(&b, s);
        oc_buf_char(&b, kind == ATOM_PRODUCT ? '*' : '/');
        add_operand(&b, t);
    } else {
        oc_buf_printf(&b, kind == ATOM_SUM ? "%s + %s" : "%s, %s", s, t);
    }
    if (kind != ATOM_SUM && kind != ATOM_PRODUCT)
        oc_buf_char(&b, ')');
    return dim_text_finish_text(x, &b);
}

const char *oc_dim_text(struct oc_exprs *x, struct oc_dim d)
{
    if (oc_is_known(d))
        return oc_printf(x->arena, "%" PRId64, d.v);
    if (d.expr >= OC_MAX_EXPRS)
        return "?";
    struct expr *e = &x->expr[d.expr];
    if (!e->text) {
        const char *text = poly_text(x, e->t, e->n);
        x->expr[d.expr].text = text;
    }
    return x->expr[d.expr].text;
}
