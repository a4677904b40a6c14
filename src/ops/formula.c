/* Formulas of cost rules: parsing, printing with values. */
#include "ops/op.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/arena.h"
#include "base/ck.h"
#include "ops/shared_rules.h"
#include "ops/user_rules.h"

#define MAX_NESTING 12

/* One expression being evaluated: its value, and its text with numbers substituted for names. */
struct reader {
    struct oc_op_ctx *c;
    struct oc_formula *f;
    const char *formula, *p, *end;
    struct oc_buf numbers;
    unsigned depth;
    bool known, bad;
};

static uint64_t expression(struct reader *r);

/* ---- texts -------------------------------------------------------------------------------------------- */

static struct oc_str trimmed(const char *from, const char *to)
{
    while (from < to && *from == ' ')
        from++;
    while (to > from && to[-1] == ' ')
        to--;
    return (struct oc_str){from, (size_t)(to - from)};
}

struct statement {
    struct oc_str left, right;
    bool defines;
};

/* Returns the next statement of *p and advances *p; false at the end. */
static bool next_statement(const char **p, struct statement *s)
{
    const char *at = *p + strspn(*p, " ;");
    if (!*at)
        return false;
    const char *end = at + strcspn(at, ";");
    const char *eq = memchr(at, '=', (size_t)(end - at));
    *p = end;
    if (!eq) {
        *s = (struct statement){.left = trimmed(at, end)};
        return true;
    }
    s->defines = eq > at && eq[-1] == ':';
    s->left = trimmed(at, eq - (s->defines ? 1 : 0));
    s->right = trimmed(eq + 1, end);
    return true;
}

static void formula_skip_blanks(struct reader *r)
{
    while (r->p < r->end && *r->p == ' ')
        r->p++;
}

static bool formula_take(struct reader *r, char c)
{
    formula_skip_blanks(r);
    if (r->p >= r->end || *r->p != c)
        return false;
    r->p++;
    return true;
}

static void expect_char(struct reader *r, char c)
{
    if (!formula_take(r, c))
        r->bad = true;
}

static struct oc_str formula_word(struct reader *r)
{
    formula_skip_blanks(r);
    const char *from = r->p;
    while (r->p < r->end && (oc_is_alnum((unsigned char)*r->p) || *r->p == '_'))
        r->p++;
    return (struct oc_str){from, (size_t)(r->p - from)};
}

static bool formula_number_at(struct reader *r, int64_t *v)
{
    formula_skip_blanks(r);
    bool minus = r->p < r->end && *r->p == '-';
    const char *digits = r->p + (minus ? 1 : 0), *at = digits;
    int64_t n = 0;
    while (at < r->end && isdigit((unsigned char)*at) && at - digits < 18)
        n = n * 10 + (*at++ - '0');
    if (at == digits)
        return false;
    r->p = at;
    *v = minus ? -n : n;
    return true;
}

static uint64_t formula_number(struct reader *r, uint64_t v)
{
    if (r->known)
        oc_buf_printf(&r->numbers, "%llu", (unsigned long long)v);
    else
        oc_buf_char(&r->numbers, '?');
    return v;
}

static uint64_t mark_unknown(struct reader *r)
{
    r->known = false;
    return 0;
}

/* ---- tensors ------------------------------------------------------------------------------------------ */

/* A tensor by its name. False: no such name. *t is NULL if it is absent. */
static bool formula_tensor(struct reader *r, struct oc_str s, const struct oc_type **t)
{
    char digits[8] = "";
    size_t at = s.n > 3 && memcmp(s.s, "out", 3) == 0 ? 3 : s.n > 2 && memcmp(s.s, "in", 2) == 0 ? 2 : 0;
    if (oc_str_eq(s, "x") || oc_str_eq(s, "w")) {
        *t = oc_in(r->c, s.s[0] == 'w');
        return true;
    }
    if (oc_str_eq(s, "o")) {
        *t = oc_out(r->c, 0);
        return true;
    }
    if (oc_str_eq(s, "B")) {
        const char *slots = r->c->op->slots, *b = slots ? strchr(slots, 'b') : NULL;
        *t = b ? oc_in(r->c, (unsigned)(b - slots)) : NULL;
        return b != NULL;
    }
    if (!at || s.n - at >= sizeof(digits) || strspn(s.s + at, "0123456789") < s.n - at)
        return false;
    memcpy(digits, s.s + at, s.n - at);
    unsigned slot = (unsigned)strtoul(digits, NULL, 10);
    *t = at == 3 ? oc_out(r->c, slot) : oc_in(r->c, slot);
    return true;
}

static uint64_t formula_elements(struct reader *r)
{
    const struct oc_type *t = NULL;
    if (!formula_tensor(r, formula_word(r), &t))
        r->bad = true;
    expect_char(r, ')');
    return formula_number(r, oc_c_elems(r->c, t));
}

/* x[1], x[2:] after the bracket */
static uint64_t formula_dimensions(struct reader *r, const struct oc_type *t)
{
    int64_t from = 0, to = 0;
    bool has_from = formula_number_at(r, &from), range = formula_take(r, ':'),
         has_to = range && formula_number_at(r, &to);
    expect_char(r, ']');
    if (!has_from && !range)
        r->bad = true;
    if (!t || !t->shape.ranked)
        return formula_number(r, mark_unknown(r));
    int64_t rank = t->shape.rank;
    from += from < 0 ? rank : 0;
    to = !range ? from + 1 : has_to ? to + (to < 0 ? rank : 0) : rank;
    if (from < 0 || to > rank || (!range && from >= rank))
        return formula_number(r, mark_unknown(r));
    return formula_number(r, from < to ? oc_c_range(r->c, &t->shape, (unsigned)from, (unsigned)to) : 1);
}

/* ---- conditions --------------------------------------------------------------------------------------- */

static bool equals(struct reader *r, const char *name, struct oc_str otherwise, struct oc_str value)
{
    char text[64], *end;
    const struct oc_attr *a = oc_node_attr(r->c->node, name);
    if (!a)
        return otherwise.n == value.n && memcmp(otherwise.s, value.s, value.n) == 0;
    if (a->type == OC_ATTR_STRING)
        return a->s.n == value.n && memcmp(a->s.s, value.s, value.n) == 0;
    snprintf(text, sizeof(text), "%.*s", (int)value.n, value.s);
    long long v = strtoll(text, &end, 10);
    if (*end)
        return false;
    return a->type == OC_ATTR_FLOAT ? a->f == (float)v : a->type == OC_ATTR_INT && a->i == v;
}

/* [B], [strict], [alpha:1 != 1] after the opening bracket */
static uint64_t formula_condition(struct reader *r)
{
    char name[64];
    const struct oc_type *t = NULL;
    struct oc_str left = formula_word(r), otherwise = {"", 0};
    if (formula_take(r, ']')) {
        if (oc_str_eq(left, "strict"))
            return formula_number(r, r->c->opt.strict_reduce);
        if (!formula_tensor(r, left, &t))
            r->bad = true;
        return formula_number(r, t != NULL);
    }
    if (formula_take(r, ':'))
        otherwise = formula_word(r);
    bool differs = formula_take(r, '!');
    expect_char(r, '=');
    if (!differs)
        expect_char(r, '=');
    struct oc_str value = formula_word(r);
    expect_char(r, ']');
    snprintf(name, sizeof(name), "%.*s", (int)left.n, left.s);
    return formula_number(r, equals(r, name, otherwise, value) != differs);
}

/* ---- names -------------------------------------------------------------------------------------------- */

static bool formula_prim_of(struct oc_str s, unsigned *prim)
{
    for (unsigned p = 0; p < OC_PRIM_COUNT; p++)
        if (oc_str_eq(s, oc_prim_name(p))) {
            *prim = p;
            return true;
        }
    return false;
}

static void record_name(struct reader *r, const char *name, const char *expr, uint64_t v, bool known)
{
    unsigned prim;
    if (formula_prim_of((struct oc_str){name, strlen(name)}, &prim))
        return;
    for (uint32_t i = 0; i < r->f->n_name; i++)
        if (strcmp(r->f->name[i].name, name) == 0)
            return;
    if (r->f->n_name < OC_FORMULA_NAMES)
        r->f->name[r->f->n_name++] =
            (struct oc_formula_name){.name = name, .expr = expr, .value = v, .known = known};
}

static bool find_reported(const struct oc_op_ctx *c, const char *name, uint64_t *v)
{
    for (unsigned i = 0; c->values && i < c->values->n; i++)
        if (strcmp(c->values->item[i].name, name) == 0) {
            *v = c->values->item[i].v;
            return true;
        }
    return false;
}

static bool definition(const char *formula, const char *name, struct oc_str *out)
{
    struct statement s;
    for (const char *p = formula; next_statement(&p, &s);)
        if (s.defines && oc_str_eq(s.left, name)) {
            *out = s.right;
            return true;
        }
    return false;
}

static uint64_t formula_run(struct reader *r, struct oc_str text, bool *known, char **numbers)
{
    struct reader sub = {.c = r->c,
                         .f = r->f,
                         .formula = r->formula,
                         .p = text.s,
                         .end = text.s + text.n,
                         .depth = r->depth + 1,
                         .known = true};
    uint64_t v = sub.depth < MAX_NESTING ? expression(&sub) : 0;
    formula_skip_blanks(&sub);
    r->bad |= sub.bad || sub.p != sub.end || sub.depth >= MAX_NESTING;
    *known = sub.known;
    if (numbers)
        *numbers = oc_strdup(r->c->arena, sub.numbers.data ? sub.numbers.data : "");
    oc_buf_free(&sub.numbers);
    return v;
}

static uint64_t eval_name(struct reader *r, struct oc_str s)
{
    struct oc_str text;
    uint64_t v = 0;
    bool known = true;
    const char *name = oc_strndup(r->c->arena, s.s, s.n);
    bool defined = definition(r->formula, name, &text);
    if (strcmp(name, "inputs") == 0) {
        for (unsigned i = 0; i < r->c->n_in; i++)
            v += oc_in(r->c, i) != NULL;
        return formula_number(r, v);
    }
    if (find_reported(r->c, name, &v)) {
        record_name(r, name, NULL, v, true);
        return formula_number(r, v);
    }
    if (defined)
        v = formula_run(r, text, &known, NULL);
    known &= defined;
    record_name(r, name, defined ? oc_strndup(r->c->arena, text.s, text.n) : NULL, v, known);
    r->known &= known;
    return formula_number(r, v);
}

/* ---- functions, expressions --------------------------------------------------------------------------- */

static uint64_t formula_function(struct reader *r, struct oc_str name)
{
    static const char *const names[] = {"clog2", "max", "min", "ceil"};
    size_t which = 0;
    while (which < OC_COUNT(names) && !oc_str_eq(name, names[which]))
        which++;
    if (which == OC_COUNT(names)) {
        r->bad = true;
        return 0;
    }
    oc_buf_printf(&r->numbers, "%s(", names[which]);
    uint64_t a = expression(r), b = 0;
    if (which > 0) {
        expect_char(r, ',');
        oc_buf_str(&r->numbers, ", ");
        b = expression(r);
    }
    expect_char(r, ')');
    oc_buf_char(&r->numbers, ')');
    switch (which) {
    case 0:
        return oc_clog2(a);
    case 1:
        return a > b ? a : b;
    case 2:
        return a < b ? a : b;
    default:
        return b ? a / b + (a % b ? 1 : 0) : mark_unknown(r);
    }
}

static uint64_t nested(struct reader *r)
{
    if (++r->depth >= MAX_NESTING) {
        r->bad = true;
        return 0;
    }
    oc_buf_char(&r->numbers, '(');
    uint64_t v = expression(r);
    expect_char(r, ')');
    oc_buf_char(&r->numbers, ')');
    r->depth--;
    return v;
}

static uint64_t formula_factor(struct reader *r)
{
    const struct oc_type *t;
    if (formula_take(r, '('))
        return nested(r);
    if (formula_take(r, '['))
        return formula_condition(r);
    struct oc_str s = formula_word(r);
    int64_t v = 0;
    if (s.n == 0) {
        r->bad = true;
        return 0;
    }
    if (isdigit((unsigned char)*s.s)) {
        r->p = s.s;
        formula_number_at(r, &v);
        oc_buf_printf(&r->numbers, "%lld", (long long)v);
        return (uint64_t)v;
    }
    if (r->p < r->end && *r->p == '(') {
        r->p++;
        return oc_str_eq(s, "N") ? formula_elements(r) : formula_function(r, s);
    }
    if (r->p < r->end && *r->p == '[' && formula_tensor(r, s, &t)) {
        r->p++;
        return formula_dimensions(r, t);
    }
    return eval_name(r, s);
}

static uint64_t formula_product(struct reader *r)
{
    uint64_t v = formula_factor(r), next;
    for (;;) {
        bool times = formula_take(r, '*'), over = !times && formula_take(r, '/');
        if (!times && !over)
            return v;
        oc_buf_char(&r->numbers, times ? '*' : '/');
        next = formula_factor(r);
        if (times)
            v = oc_mul_u64(v, next, &v) ? v : mark_unknown(r);
        else
            v = next ? v / next : mark_unknown(r);
    }
}

static uint64_t expression(struct reader *r)
{
    uint64_t v = formula_product(r), next;
    for (;;) {
        bool plus = formula_take(r, '+'), minus = !plus && formula_take(r, '-');
        if (!plus && !minus)
            return v;
        oc_buf_str(&r->numbers, plus ? " + " : " - ");
        next = formula_product(r);
        if (plus)
            v = oc_add_u64(v, next, &v) ? v : mark_unknown(r);
        else
            v = v >= next ? v - next : mark_unknown(r);
    }
}

/* ---- terms -------------------------------------------------------------------------------------------- */

static void formula_add_term(struct reader *r, unsigned prim, unsigned times, struct oc_str text)
{
    struct oc_arena *a = r->c->arena;
    if (r->f->n_term == OC_FORMULA_TERMS) {
        r->bad = true;
        return;
    }
    struct oc_formula_term *t = &r->f->term[r->f->n_term++];
    char *numbers;
    *t = (struct oc_formula_term){.prim = (uint8_t)prim, .expr = oc_strndup(a, text.s, text.n)};
    t->value = formula_run(r, text, &t->known, &numbers);
    t->numbers = numbers;
    if (times == 1)
        return;
    bool simple = strcspn(t->expr, "+-*/ ") == text.n;
    t->expr = oc_printf(a, simple ? "%u*%s" : "%u*(%s)", times, t->expr);
    t->numbers = oc_printf(a, simple ? "%u*%s" : "%u*(%s)", times, numbers);
    t->known = t->known && oc_mul_u64(t->value, times, &t->value);
}

/* The histogram named on a left side. *none: an absent activation. */
static const struct oc_prims *formula_list_of(struct reader *r, struct oc_str s, bool *none)
{
    const struct oc_op *op = r->c->op;
    *none = false;
    if (oc_str_eq(s, "requantize"))
        return oc_prims_requantize;
    if (oc_str_eq(s, "dequantize"))
        return oc_prims_dequantize;
    if (oc_str_eq(s, "dynamic_quantize"))
        return oc_prims_dynamic_quantize;
    if (oc_str_eq(s, "activation")) {
        const struct oc_prims *list = oc_activation_prims(oc_attr_s(r->c, "activation", ""));
        *none = !list;
        return list;
    }
    if (oc_str_eq(s, "this") && op->cost == oc_cost_elementwise)
        return op->param;
    if (oc_str_eq(s, "function"))
        return oc_activation_prims(op->param);
    const char *name = oc_str_eq(s, "this") ? op->name : oc_strndup(r->c->arena, s.s, s.n);
    return oc_activation_prims(name);
}

/* Amounts of primitives reported by the rule itself. */
static void told_prims(struct reader *r, struct oc_str text)
{
    unsigned prim;
    for (unsigned i = 0; r->c->values && i < r->c->values->n; i++) {
        const char *name = r->c->values->item[i].name;
        if (!formula_prim_of((struct oc_str){name, strlen(name)}, &prim))
            continue;
        formula_add_term(r, prim, 1, (struct oc_str){name, strlen(name)});
        r->f->term[r->f->n_term - 1].expr = oc_printf(r->c->arena, "functions of %.*s", (int)text.n, text.s);
    }
}

static void amounts(struct reader *r, const struct statement *s)
{
    const struct oc_op *op = r->c->op;
    unsigned prim;
    bool none;
    if (formula_prim_of(s->left, &prim)) {
        formula_add_term(r, prim, 1, s->right);
        return;
    }
    bool function = oc_str_eq(s->left, "function") && !op->param;
    if (function || oc_str_eq(s->left, "prim") ||
        (oc_str_eq(s->left, "this") && op->cost == oc_cost_elementwise && !op->param)) {
        formula_add_term(r, op->prim, op->n_prim && oc_str_eq(s->left, "this") ? op->n_prim : 1, s->right);
        return;
    }
    if (oc_str_eq(s->left, "functions")) {
        told_prims(r, s->right);
        return;
    }
    const struct oc_prims *list = formula_list_of(r, s->left, &none);
    r->bad |= !list && !none;
    for (; list && list->n; list++)
        formula_add_term(r, list->prim, list->n, s->right);
}

const char *oc_formula_text(const struct oc_op *op)
{
    return op->formula ? op->formula : op->cost == oc_cost_elementwise ? "this = N(o)" : NULL;
}

int oc_formula_read(struct oc_op_ctx *c, struct oc_formula *out)
{
    if (oc_is_user_op(c->op))
        return oc_user_formula_read(c, out);
    struct oc_op_ctx own = *c; /* the marks of the cost stage are unchanged */
    struct reader r = {.c = &own, .f = out, .formula = oc_formula_text(c->op), .known = true};
    struct statement s;
    out->n_term = out->n_name = 0;
    for (const char *p = r.formula; p && next_statement(&p, &s);) {
        r.bad |= s.left.n == 0 || s.right.n == 0;
        if (!s.defines && !r.bad)
            amounts(&r, &s);
    }
    if (own.overflow)
        for (uint32_t i = 0; i < out->n_term; i++)
            out->term[i].known = false;
    return r.bad ? -1 : 0;
}
