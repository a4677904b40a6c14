/* Formulas of cost rules: compiled once per row to a tree, evaluated in checked 64-bit integers as the rule of the
 * operator (oc_cost_text), and printed with its numbers for people (oc_formula_read). The notation is in op.h.
 *
 * Both uses walk the same tree. They differ in what they do where a number cannot be had: the rule marks the
 * context (unknown, overflow), the text prints '?'. */
#include "ops/op.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/ck.h"
#include "base/str.h"
#include "ops/shared_rules.h"
#include "ops/user_rules.h"

#define MAX_NESTING 12

enum kind {
    F_NUMBER,
    F_NAME,     /* from: index of the name */
    F_ELEMENTS, /* of a tensor */
    F_RANGE,    /* of a tensor: [from:to], or [from] */
    F_PRESENT,  /* of a tensor */
    F_ATTR,     /* attribute `name` (default `otherwise`) is, or is not, `text` */
    F_STRICT,
    F_INPUTS,
    F_CLOG2,
    F_MAX,
    F_MIN,
    F_CEIL,
    F_NESTED,
    F_MUL,
    F_DIV,
    F_ADD,
    F_SUB
};

struct node {
    uint8_t kind;
    bool is_out, absent; /* tensor: of no row; out<slot>, else in<slot> */
    bool single, to_end, differs;
    uint16_t slot;
    int64_t from, to;
    const char *name, *otherwise, *text;
    const struct node *a, *b;
};

enum left { L_PRIM, L_LIST, L_ACTIVATION, L_FUNCTIONS };

struct amount {
    uint8_t left, prim, times;
    const struct oc_prims *list;
    const struct node *n;
    struct oc_str text;
};

struct name {
    const char *name, *text; /* text NULL: only the rule reports it */
    const struct node *n;
};

struct oc_formula_code {
    struct amount amount[OC_FORMULA_TERMS];
    struct name name[OC_FORMULA_NAMES];
    unsigned n_amount, n_name;
    bool bad;
};

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

struct parser {
    struct oc_arena *arena;
    const struct oc_op *op;
    struct oc_formula_code *code;
    const char *p, *end;
    unsigned depth;
    bool bad;
};

static const struct node *expression(struct parser *r);

static void blanks(struct parser *r)
{
    while (r->p < r->end && *r->p == ' ')
        r->p++;
}

static bool take(struct parser *r, char c)
{
    blanks(r);
    if (r->p >= r->end || *r->p != c)
        return false;
    r->p++;
    return true;
}

static void expect(struct parser *r, char c)
{
    r->bad |= !take(r, c);
}

static struct oc_str word(struct parser *r)
{
    blanks(r);
    const char *from = r->p;
    while (r->p < r->end && (oc_is_alnum((unsigned char)*r->p) || *r->p == '_'))
        r->p++;
    return (struct oc_str){from, (size_t)(r->p - from)};
}

static bool number_at(struct parser *r, int64_t *v)
{
    blanks(r);
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

static struct node *make(struct parser *r, enum kind kind)
{
    struct node *e = OC_NEW(r->arena, struct node);
    e->kind = (uint8_t)kind;
    return e;
}

static struct node *make_two(struct parser *r, enum kind kind, const struct node *a, const struct node *b)
{
    struct node *e = make(r, kind);
    e->a = a;
    e->b = b;
    return e;
}

static const char *kept(struct parser *r, struct oc_str s)
{
    return oc_strndup(r->arena, s.s, s.n);
}

/* ---- compiling: tensors, conditions ------------------------------------------------------------------- */

/* A tensor by its name; false: no such name. */
static bool tensor(struct parser *r, struct oc_str s, struct node *e)
{
    char digits[8] = "";
    size_t at = s.n > 3 && memcmp(s.s, "out", 3) == 0 ? 3 : s.n > 2 && memcmp(s.s, "in", 2) == 0 ? 2 : 0;
    if (oc_str_eq(s, "x") || oc_str_eq(s, "w") || oc_str_eq(s, "o")) {
        e->slot = *s.s == 'w';
        e->is_out = *s.s == 'o';
        return true;
    }
    if (oc_str_eq(s, "B")) {
        const char *slots = r->op->slots, *b = slots ? strchr(slots, 'b') : NULL;
        e->absent = !b;
        e->slot = (uint16_t)(b ? b - slots : 0);
        return b != NULL;
    }
    if (!at || s.n - at >= sizeof(digits) || strspn(s.s + at, "0123456789") < s.n - at)
        return false;
    memcpy(digits, s.s + at, s.n - at);
    e->slot = (uint16_t)strtoul(digits, NULL, 10);
    e->is_out = at == 3;
    return true;
}

static const struct node *elements(struct parser *r)
{
    struct node *e = make(r, F_ELEMENTS);
    r->bad |= !tensor(r, word(r), e);
    expect(r, ')');
    return e;
}

/* x[1], x[2:] after the bracket */
static const struct node *dimensions(struct parser *r, struct node *e)
{
    bool from = number_at(r, &e->from), range = take(r, ':');
    e->to_end = !range || !number_at(r, &e->to);
    e->single = !range;
    expect(r, ']');
    r->bad |= !from && !range;
    return e;
}

/* [B], [strict], [alpha:1 != 1] after the opening bracket */
static const struct node *condition(struct parser *r)
{
    struct node *e = make(r, F_PRESENT);
    struct oc_str left = word(r);
    if (take(r, ']')) {
        if (oc_str_eq(left, "strict"))
            e->kind = F_STRICT;
        else if (!tensor(r, left, e))
            r->bad |= !e->absent;
        return e;
    }
    e->kind = F_ATTR;
    e->name = kept(r, left);
    e->otherwise = take(r, ':') ? kept(r, word(r)) : "";
    e->differs = take(r, '!');
    expect(r, '=');
    if (!e->differs)
        expect(r, '=');
    e->text = kept(r, word(r));
    char *end;
    e->from = strtoll(e->text, &end, 10);
    e->single = !*end && *e->text; /* a number */
    expect(r, ']');
    return e;
}

/* ---- compiling: names, functions, expressions --------------------------------------------------------- */

static bool prim_of(struct oc_str s, unsigned *prim)
{
    for (unsigned p = 0; p < OC_PRIM_COUNT; p++)
        if (oc_str_eq(s, oc_prim_name(p))) {
            *prim = p;
            return true;
        }
    return false;
}

static const struct node *use_name(struct parser *r, struct oc_str s)
{
    struct oc_formula_code *code = r->code;
    struct node *e = make(r, oc_str_eq(s, "inputs") ? F_INPUTS : F_NAME);
    unsigned i = 0;
    while (i < code->n_name && !oc_str_eq(s, code->name[i].name))
        i++;
    e->from = i;
    if (e->kind == F_INPUTS || i < code->n_name)
        return e;
    if (i == OC_FORMULA_NAMES) {
        r->bad = true;
        return e;
    }
    code->name[code->n_name++].name = kept(r, s);
    return e;
}

static const struct node *function(struct parser *r, struct oc_str name)
{
    static const char *const names[] = {"clog2", "max", "min", "ceil"};
    size_t which = 0;
    while (which < OC_COUNT(names) && !oc_str_eq(name, names[which]))
        which++;
    if (which == OC_COUNT(names)) {
        r->bad = true;
        return make(r, F_NUMBER);
    }
    struct node *e = make(r, F_CLOG2 + which);
    e->name = names[which];
    e->a = expression(r);
    if (which > 0) {
        expect(r, ',');
        e->b = expression(r);
    }
    expect(r, ')');
    return e;
}

static const struct node *factor(struct parser *r)
{
    struct node t = {.kind = F_RANGE};
    if (take(r, '(')) {
        struct node *e = make(r, F_NESTED);
        r->bad |= ++r->depth >= MAX_NESTING;
        e->a = r->bad ? make(r, F_NUMBER) : expression(r);
        r->depth--;
        expect(r, ')');
        return e;
    }
    if (take(r, '['))
        return condition(r);
    struct oc_str s = word(r);
    r->bad |= !s.n;
    if (s.n && isdigit((unsigned char)*s.s)) {
        struct node *e = make(r, F_NUMBER);
        r->p = s.s;
        number_at(r, &e->from);
        return e;
    }
    if (s.n && r->p < r->end && *r->p == '(') {
        r->p++;
        return oc_str_eq(s, "N") ? elements(r) : function(r, s);
    }
    if (s.n && r->p < r->end && *r->p == '[' && tensor(r, s, &t)) {
        struct node *e = make(r, F_RANGE);
        r->p++;
        *e = t;
        return dimensions(r, e);
    }
    return use_name(r, s);
}

static const struct node *product(struct parser *r)
{
    const struct node *e = factor(r);
    for (;;) {
        bool times = take(r, '*'), over = !times && take(r, '/');
        if ((!times && !over) || r->bad)
            return e;
        e = make_two(r, times ? F_MUL : F_DIV, e, factor(r));
    }
}

static const struct node *expression(struct parser *r)
{
    const struct node *e = product(r);
    for (;;) {
        bool plus = take(r, '+'), minus = !plus && take(r, '-');
        if ((!plus && !minus) || r->bad)
            return e;
        e = make_two(r, plus ? F_ADD : F_SUB, e, product(r));
    }
}

static const struct node *compile_text(struct parser *r, struct oc_str text)
{
    r->p = text.s;
    r->end = text.s + text.n;
    const struct node *e = expression(r);
    blanks(r);
    r->bad |= r->p != r->end;
    return e;
}

/* ---- compiling: statements ---------------------------------------------------------------------------- */

/* The histogram that a left side names. */
static const struct oc_prims *list_of(struct parser *r, struct oc_str s)
{
    const struct oc_op *op = r->op;
    if (oc_str_eq(s, "requantize"))
        return oc_prims_requantize;
    if (oc_str_eq(s, "dequantize"))
        return oc_prims_dequantize;
    if (oc_str_eq(s, "dynamic_quantize"))
        return oc_prims_dynamic_quantize;
    if (oc_str_eq(s, "this") && op->cost == oc_cost_elementwise)
        return op->param;
    if (oc_str_eq(s, "function"))
        return oc_activation_prims(op->param);
    return oc_activation_prims(oc_str_eq(s, "this") ? op->name : kept(r, s));
}

static void add_amount(struct parser *r, struct amount a)
{
    if (r->code->n_amount == OC_FORMULA_TERMS)
        r->bad = true;
    else
        r->code->amount[r->code->n_amount++] = a;
}

static void compile_amount(struct parser *r, const struct statement *s)
{
    const struct oc_op *op = r->op;
    unsigned prim = op->prim;
    struct amount a = {.left = L_PRIM, .times = 1, .text = s->right, .n = compile_text(r, s->right)};
    bool own = oc_str_eq(s->left, "this") && op->cost == oc_cost_elementwise && !op->param;
    if (prim_of(s->left, &prim) || oc_str_eq(s->left, "prim") || own ||
        (oc_str_eq(s->left, "function") && !op->param)) {
        a.times = own && op->n_prim ? op->n_prim : 1;
    } else if (oc_str_eq(s->left, "functions")) {
        a.left = L_FUNCTIONS;
    } else if (oc_str_eq(s->left, "activation")) {
        a.left = L_ACTIVATION;
    } else {
        a.left = L_LIST;
        a.list = list_of(r, s->left);
        r->bad |= !a.list;
    }
    a.prim = (uint8_t)prim;
    add_amount(r, a);
}

static void compile_names(struct parser *r, const char *formula)
{
    struct statement s;
    for (unsigned i = 0; i < r->code->n_name && !r->bad; i++) /* grows: names in definitions */
        for (const char *p = formula; next_statement(&p, &s);) {
            struct name *name = &r->code->name[i];
            if (!s.defines || name->n || !oc_str_eq(s.left, name->name))
                continue;
            name->text = kept(r, s.right);
            r->code->name[i].n = compile_text(r, s.right);
        }
}

/* Names are defined by others, never by themselves: a formula has an end. */
static bool has_end(const struct oc_formula_code *code, const struct node *e, unsigned depth)
{
    if (!e)
        return true;
    if (depth > OC_FORMULA_NAMES * MAX_NESTING)
        return false;
    if (e->kind == F_NAME)
        return has_end(code, code->name[e->from].n, depth + MAX_NESTING);
    return has_end(code, e->a, depth) && has_end(code, e->b, depth);
}

static const struct oc_formula_code *compile(struct oc_arena *arena, const struct oc_op *op)
{
    struct oc_formula_code *code = OC_NEW(arena, struct oc_formula_code);
    struct parser r = {.arena = arena, .op = op, .code = code};
    const char *formula = oc_formula_text(op);
    struct statement s;
    for (const char *p = formula; p && next_statement(&p, &s) && !r.bad;) {
        r.bad |= s.left.n == 0 || s.right.n == 0;
        if (!s.defines && !r.bad)
            compile_amount(&r, &s);
    }
    if (formula)
        compile_names(&r, formula);
    for (unsigned i = 0; i < code->n_name && !r.bad; i++)
        r.bad |= !has_end(code, code->name[i].n, 0);
    code->bad = r.bad;
    return code;
}

static const struct oc_formula_code *code_of(const struct oc_op_ctx *c)
{
    struct oc_formula_cache *cache = c->formulas;
    if (!cache)
        return compile(c->arena, c->op);
    size_t at = ((uintptr_t)c->op / sizeof(void *)) % OC_COUNT(cache->op);
    if (cache->op[at] != c->op) {
        cache->op[at] = c->op;
        cache->code[at] = compile(c->arena, c->op);
    }
    return cache->code[at];
}

/* ---- evaluation --------------------------------------------------------------------------------------- */

/* An evaluation of one formula for one node. */
struct run {
    struct oc_op_ctx *c;
    const struct oc_formula_code *code;
    struct oc_formula *f;   /* records the names that are used; NULL: it is the rule */
    struct oc_buf *numbers; /* the text with numbers for names; NULL: not wanted */
    bool known;
    uint64_t value[OC_FORMULA_NAMES];
    uint8_t state[OC_FORMULA_NAMES]; /* 0: not evaluated, 1: known, 2: unknown */
};

static uint64_t eval(struct run *r, const struct node *e);

static uint64_t put_number(struct run *r, uint64_t v)
{
    if (r->numbers && r->known)
        oc_buf_printf(r->numbers, "%llu", (unsigned long long)v);
    else if (r->numbers)
        oc_buf_char(r->numbers, '?');
    return v;
}

static void put_text(struct run *r, const char *s)
{
    if (r->numbers)
        oc_buf_str(r->numbers, s);
}

static uint64_t mark_unknown(struct run *r)
{
    r->known = false;
    return 0;
}

static uint64_t mark_overflow(struct run *r)
{
    r->c->overflow |= !r->f;
    return mark_unknown(r);
}

static const struct oc_type *type_of(const struct run *r, const struct node *e)
{
    return e->absent ? NULL : e->is_out ? oc_out(r->c, e->slot) : oc_in(r->c, e->slot);
}

static uint64_t eval_range(struct run *r, const struct node *e)
{
    const struct oc_type *t = type_of(r, e);
    if (!t || !t->shape.ranked)
        return mark_unknown(r);
    int64_t rank = t->shape.rank, from = e->from + (e->from < 0 ? rank : 0);
    int64_t to = e->single ? from + 1 : e->to_end ? rank : e->to + (e->to < 0 ? rank : 0);
    if (from < 0 || to > rank || (e->single && from >= rank))
        return mark_unknown(r);
    return from < to ? oc_c_range(r->c, &t->shape, (unsigned)from, (unsigned)to) : 1;
}

static bool eval_attr(struct run *r, const struct node *e)
{
    size_t n = strlen(e->text);
    const struct oc_attr *a = oc_node_attr(r->c->node, e->name);
    if (r->c->reads_more)
        *r->c->reads_more = true;
    if (!a)
        return !strcmp(e->otherwise, e->text);
    if (a->type == OC_ATTR_STRING)
        return a->s.n == n && memcmp(a->s.s, e->text, n) == 0;
    if (!e->single)
        return false;
    return a->type == OC_ATTR_FLOAT ? a->f == (float)e->from : a->type == OC_ATTR_INT && a->i == e->from;
}

static bool reported(const struct oc_op_ctx *c, const char *name, uint64_t *v)
{
    for (unsigned i = 0; c->values && i < c->values->n; i++)
        if (strcmp(c->values->item[i].name, name) == 0) {
            *v = c->values->item[i].v;
            return true;
        }
    return false;
}

static void record_name(struct run *r, const struct name *name, bool defined, uint64_t v, bool known)
{
    unsigned prim;
    if (r->f && r->f->n_name < OC_FORMULA_NAMES &&
        !prim_of((struct oc_str){name->name, strlen(name->name)}, &prim))
        r->f->name[r->f->n_name++] = (struct oc_formula_name){
            .name = name->name, .expr = defined ? name->text : NULL, .value = v, .known = known};
}

/* Evaluated once; what the rule reports takes precedence over a definition. */
static uint64_t eval_name(struct run *r, unsigned i)
{
    const struct name *name = &r->code->name[i];
    if (!r->state[i]) {
        uint64_t v = 0;
        bool told = reported(r->c, name->name, &v), known = r->known;
        struct oc_buf *numbers = r->numbers;
        if (!told && name->n && !r->code->bad) {
            r->numbers = NULL;
            r->known = true;
            v = eval(r, name->n);
            told = r->known;
            r->numbers = numbers;
            r->known = known;
            record_name(r, name, true, v, told);
        } else {
            record_name(r, name, false, v, told);
        }
        r->value[i] = v;
        r->state[i] = told ? 1 : 2;
    }
    r->known &= r->state[i] == 1;
    return r->value[i];
}

static uint64_t eval_function(struct run *r, const struct node *e)
{
    put_text(r, e->name);
    put_text(r, "(");
    uint64_t a = eval(r, e->a), b = 0;
    if (e->b) {
        put_text(r, ", ");
        b = eval(r, e->b);
    }
    put_text(r, ")");
    switch (e->kind) {
    case F_CLOG2:
        return oc_clog2(a);
    case F_MAX:
        return a > b ? a : b;
    case F_MIN:
        return a < b ? a : b;
    default:
        return b ? a / b + (a % b ? 1 : 0) : mark_unknown(r);
    }
}

static uint64_t eval_two(struct run *r, const struct node *e)
{
    static const char *const sign[] = {[F_MUL] = "*", [F_DIV] = "/", [F_ADD] = " + ", [F_SUB] = " - "};
    uint64_t a = eval(r, e->a), v = 0;
    if (!r->f && e->kind == F_MUL && !a &&
        r->known) /* what is multiplied by a false condition may be unknown */
        return 0;
    put_text(r, sign[e->kind]);
    uint64_t b = eval(r, e->b);
    switch (e->kind) {
    case F_MUL:
        return oc_mul_u64(a, b, &v) ? v : mark_overflow(r);
    case F_DIV:
        return b ? a / b : mark_unknown(r);
    case F_ADD:
        return oc_add_u64(a, b, &v) ? v : mark_overflow(r);
    default:
        return a >= b ? a - b : mark_unknown(r);
    }
}

static uint64_t eval(struct run *r, const struct node *e)
{
    uint64_t v;
    switch (e->kind) {
    case F_NUMBER:
        if (r->numbers)
            oc_buf_printf(r->numbers, "%lld", (long long)e->from);
        return (uint64_t)e->from;
    case F_NAME:
        v = eval_name(r, (unsigned)e->from);
        return put_number(r, v);
    case F_ELEMENTS:
        return put_number(r, oc_c_elems(r->c, type_of(r, e)));
    case F_RANGE:
        v = eval_range(r, e);
        return put_number(r, v);
    case F_PRESENT:
        return put_number(r, type_of(r, e) != NULL);
    case F_ATTR:
        return put_number(r, eval_attr(r, e) != e->differs);
    case F_STRICT:
        return put_number(r, r->c->opt.strict_reduce);
    case F_INPUTS:
        return put_number(r, r->c->n_in);
    case F_NESTED:
        put_text(r, "(");
        v = eval(r, e->a);
        put_text(r, ")");
        return v;
    case F_MUL:
    case F_DIV:
    case F_ADD:
    case F_SUB:
        return eval_two(r, e);
    default:
        return eval_function(r, e);
    }
}

/* ---- the rule ----------------------------------------------------------------------------------------- */

static void count_amount(struct run *r, struct oc_cost *k, const struct amount *a)
{
    struct oc_op_ctx *c = r->c;
    r->known = true;
    uint64_t n = eval(r, a->n);
    c->unknown |= !r->known && !c->overflow;
    if (a->left == L_PRIM && a->prim == OC_ADD && c->op->int_add)
        oc_add_int(c, k, OC_ADD, n);
    else if (a->left == L_PRIM)
        oc_add(c, k, (enum oc_prim)a->prim, oc_c_mul(c, a->times, n));
    else if (a->left == L_LIST)
        oc_add_prims(c, k, a->list, n);
    else if (a->left == L_ACTIVATION)
        oc_add_activation(c, k, "activation", n);
}

int oc_cost_text(struct oc_op_ctx *c, struct oc_cost *k)
{
    struct oc_formula_values *asked = c->values, own;
    struct run r = {.c = c, .code = code_of(c)};
    if (c->op->values && !asked) {
        own.n = 0;
        c->values = &own;
    }
    int rc = c->op->values ? c->op->values(c, k) : 0;
    for (unsigned i = 0; !rc && i < r.code->n_amount; i++)
        count_amount(&r, k, &r.code->amount[i]);
    c->values = asked;
    return rc;
}

/* ---- the text ----------------------------------------------------------------------------------------- */

static void add_term(struct run *r, unsigned prim, unsigned times, const struct amount *a)
{
    struct oc_arena *arena = r->c->arena;
    struct oc_buf numbers = {0};
    if (r->f->n_term == OC_FORMULA_TERMS)
        return;
    struct oc_formula_term *t = &r->f->term[r->f->n_term++];
    *t = (struct oc_formula_term){.prim = (uint8_t)prim, .expr = oc_strndup(arena, a->text.s, a->text.n)};
    r->numbers = &numbers;
    r->known = true;
    t->value = eval(r, a->n);
    t->known = r->known;
    const char *text = oc_strdup(arena, numbers.data ? numbers.data : "");
    oc_buf_free(&numbers);
    t->numbers = text;
    if (times == 1)
        return;
    bool simple = strcspn(t->expr, "+-*/ ") == a->text.n;
    t->expr = oc_printf(arena, simple ? "%u*%s" : "%u*(%s)", times, t->expr);
    t->numbers = oc_printf(arena, simple ? "%u*%s" : "%u*(%s)", times, text);
    t->known = t->known && oc_mul_u64(t->value, times, &t->value);
}

/* Amounts of primitives reported by the rule itself. */
static void add_told(struct run *r, const struct amount *a)
{
    const struct oc_formula_values *values = r->c->values;
    unsigned prim;
    for (unsigned i = 0; values && i < values->n && r->f->n_term < OC_FORMULA_TERMS; i++) {
        const char *name = values->item[i].name;
        if (!prim_of((struct oc_str){name, strlen(name)}, &prim))
            continue;
        struct oc_formula_term *t = &r->f->term[r->f->n_term++];
        *t = (struct oc_formula_term){
            .prim = (uint8_t)prim,
            .expr = oc_printf(r->c->arena, "functions of %.*s", (int)a->text.n, a->text.s),
            .numbers = oc_printf(r->c->arena, "%llu", (unsigned long long)values->item[i].v),
            .value = values->item[i].v,
            .known = true};
    }
}

static void add_terms(struct run *r, const struct amount *a)
{
    const struct oc_prims *list =
        a->left == L_ACTIVATION ? oc_activation_prims(oc_attr_s(r->c, "activation", "")) : a->list;
    if (a->left == L_PRIM)
        add_term(r, a->prim, a->times, a);
    else if (a->left == L_FUNCTIONS)
        add_told(r, a);
    else
        for (; list && list->n; list++)
            add_term(r, list->prim, list->n, a);
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
    struct run r = {.c = &own, .code = code_of(c), .f = out};
    out->n_term = out->n_name = 0;
    for (unsigned i = 0; i < r.code->n_amount; i++)
        add_terms(&r, &r.code->amount[i]);
    for (uint32_t i = 0; own.overflow && i < out->n_term; i++)
        out->term[i].known = false;
    return r.code->bad ? -1 : 0;
}
