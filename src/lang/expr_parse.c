/* Parser of the formula language: texts to trees. The grammar is in expr.h. A failure leaves the first error in
 * scope->why; the depth of every tree is limited, because evaluation recurses. */
#include "lang/expr.h"

#include <ctype.h>
#include <stdarg.h>
#include <string.h>

#include "base/units.h"

#define MAX_NESTING 32
#define MAX_ITEMS   64
#define MAX_SLOT    4095
#define NO_SLOT     UINT16_MAX /* of no node: the input is absent */

struct parser {
    struct oc_expr_scope *scope;
    const char *p;
    unsigned depth;
    bool bad;
};

static struct oc_expr *number(struct parser *p);

/* ---- errors and words --------------------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void complain(struct parser *p, const char *fmt, ...)
{
    if (p->bad) /* keep the first error: it is the cause */
        return;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(p->scope->why, sizeof(p->scope->why), fmt, ap);
    va_end(ap);
    p->bad = true;
}

static void blanks(struct parser *p)
{
    while (*p->p == ' ')
        p->p++;
}

static bool take(struct parser *p, const char *sign)
{
    blanks(p);
    size_t n = strlen(sign);
    if (strncmp(p->p, sign, n) != 0)
        return false;
    p->p += n;
    return true;
}

static void expect_sign(struct parser *p, const char *sign)
{
    if (take(p, sign))
        return;
    if (*p->p)
        complain(p, "'%s' is expected before '%.20s'", sign, p->p);
    else
        complain(p, "'%s' is missing at the end", sign);
}

static struct oc_str word(struct parser *p)
{
    blanks(p);
    struct oc_str s = {p->p, 0};
    while (oc_is_alnum((unsigned char)*p->p) || *p->p == '_' ||
           (*p->p == '.' && p->scope->use == OC_EXPR_SIZE))
        p->p++;
    s.n = (size_t)(p->p - s.s);
    return s;
}

static const char *copy_span(struct parser *p, struct oc_str s)
{
    return oc_strndup(p->scope->arena, s.s, s.n);
}

static struct oc_expr *node(struct parser *p, enum oc_expr_kind kind)
{
    struct oc_expr *e = OC_NEW(p->scope->arena, struct oc_expr);
    e->kind = (uint8_t)kind;
    return e;
}

static struct oc_expr *make_binary(struct parser *p, enum oc_expr_kind kind, struct oc_expr *a,
                                   struct oc_expr *b)
{
    struct oc_expr *e = node(p, kind);
    e->a = a;
    e->b = b;
    return e;
}

/* ---- tensors ------------------------------------------------------------------------------------------ */

/* "in0", "out12"; in costs "x", "w", "o" and "B" */
static bool is_tensor(const struct parser *p, struct oc_str s, bool *is_out, uint16_t *slot)
{
    size_t at = s.n > 3 && memcmp(s.s, "out", 3) == 0 ? 3 : s.n > 2 && memcmp(s.s, "in", 2) == 0 ? 2 : 0;
    int64_t v;
    if (p->scope->use == OC_EXPR_COST && s.n == 1 && strchr("xwoB", *s.s)) {
        const char *slots = p->scope->slots, *bias = slots ? strchr(slots, 'b') : NULL;
        *is_out = *s.s == 'o';
        *slot = *s.s != 'B' ? *s.s == 'w' : bias ? (uint16_t)(bias - slots) : NO_SLOT;
        return true;
    }
    if (!at || s.n - at > 4 || !isdigit((unsigned char)s.s[at]) || !oc_parse_i64(s.s + at, s.n - at, &v) ||
        v > MAX_SLOT)
        return false;
    *is_out = at == 3;
    *slot = (uint16_t)v;
    return true;
}

static void set_tensor(struct parser *p, struct oc_expr *e, struct oc_str s)
{
    if (p->scope->use == OC_EXPR_SIZE || !is_tensor(p, s, &e->is_out, &e->slot)) {
        complain(p, "'%.*s' is not an input or output, such as in0", (int)(s.n < 40 ? s.n : 40), s.s);
        return;
    }
    unsigned need = e->is_out ? e->slot + 1u : 0;
    if (need > p->scope->outputs)
        complain(p, "%.*s is not available yet", (int)s.n, s.s);
    if (need > p->scope->used_out)
        p->scope->used_out = need;
}

static struct oc_expr *of_tensor(struct parser *p, enum oc_expr_kind kind)
{
    struct oc_expr *e = node(p, kind);
    set_tensor(p, e, word(p));
    return e;
}

/* Parses 1, 1:, :-1 or 1:2 and the closing bracket. Returns true for a range. */
static bool range(struct parser *p, struct oc_expr *e)
{
    bool from_first = take(p, ":");
    if (!from_first)
        e->a = number(p);
    bool is_range = from_first || take(p, ":");
    if (is_range && !take(p, "]")) {
        e->b = number(p);
        expect_sign(p, "]");
    } else if (!is_range) {
        expect_sign(p, "]");
    }
    return is_range;
}

/* in0[1], in0.1, in0[1:] after the name */
static struct oc_expr *size(struct parser *p, struct oc_str name)
{
    struct oc_expr *e = node(p, OC_X_SIZE);
    set_tensor(p, e, name);
    if (*p->p == '.') {
        p->p++;
        struct oc_expr *axis = node(p, OC_X_NUMBER);
        struct oc_str digits = word(p);
        if (!oc_parse_i64(digits.s, digits.n, &axis->number))
            complain(p, "expected an axis after '%.*s.'", (int)name.n, name.s);
        e->a = axis;
    } else if (take(p, "[")) {
        e->kind = range(p, e) ? OC_X_PRODUCT : OC_X_SIZE;
    } else {
        complain(p, "%.*s is a shape; write %.*s[0] for one of its sizes", (int)name.n, name.s, (int)name.n,
                 name.s);
    }
    return e;
}

/* ---- attributes --------------------------------------------------------------------------------------- */

static const char *quoted(struct parser *p)
{
    if (!take(p, "'"))
        return NULL;
    struct oc_str s = {p->p, strcspn(p->p, "'")};
    p->p += s.n;
    expect_sign(p, "'");
    return copy_span(p, s);
}

static const char *attr_name(struct parser *p)
{
    expect_sign(p, ".");
    struct oc_str s = word(p);
    if (s.n == 0)
        complain(p, "expected an attribute name after 'attr.'");
    return copy_span(p, s);
}

static struct oc_expr *factor(struct parser *p);

/* ... == 'text' after an attribute */
static struct oc_expr *comparison_of_words(struct parser *p, struct oc_expr *e)
{
    const char *before = p->p;
    bool differs = take(p, "!=");
    if ((differs || take(p, "==")) && (e->word = quoted(p)) != NULL) {
        e->kind = OC_X_ATTR_IS;
        e->number = differs;
        if (e->a || e->b)
            complain(p, "attribute '%.40s' is compared with a string: its default must be a string, too",
                     e->text);
        return e;
    }
    p->p = before;
    if (e->otherwise)
        complain(p, "attribute '%.40s' is a string: it can only be compared with a string", e->text);
    return e;
}

static struct oc_expr *attribute(struct parser *p)
{
    struct oc_expr *e = node(p, OC_X_ATTR);
    e->text = attr_name(p);
    if (take(p, "[")) {
        e->kind = OC_X_ATTR_ITEM;
        e->a = number(p);
        expect_sign(p, "]");
    }
    if (take(p, "|") && (e->otherwise = quoted(p)) == NULL)
        e->b = factor(p);
    return comparison_of_words(p, e);
}

/* [in2], [strict], [alpha:1 != 1] after the opening bracket */
static struct oc_expr *condition(struct parser *p)
{
    struct oc_expr *e = node(p, OC_X_HAS);
    struct oc_str left = word(p);
    if (take(p, "]")) {
        if (oc_str_eq(left, "strict"))
            e->kind = OC_X_STRICT;
        else
            set_tensor(p, e, left);
        return e;
    }
    e->kind = OC_X_ATTR_TEST;
    e->text = copy_span(p, left);
    e->otherwise = take(p, ":") ? copy_span(p, word(p)) : "";
    e->number = take(p, "!=");
    if (!e->number)
        expect_sign(p, "==");
    struct oc_str right = word(p);
    e->word = copy_span(p, right);
    e->word_is_whole = oc_parse_i64(right.s, right.n, &e->value);
    expect_sign(p, "]");
    return e;
}

/* ---- functions ---------------------------------------------------------------------------------------- */

static struct oc_expr *value(struct parser *p)
{
    struct oc_expr *e = of_tensor(p, OC_X_VALUE);
    if (e->is_out)
        complain(p, "value() takes an input");
    if (take(p, ","))
        e->a = number(p);
    return e;
}

static struct oc_expr *length(struct parser *p)
{
    struct oc_expr *e = node(p, OC_X_ATTR_LEN);
    expect_sign(p, "attr");
    e->text = attr_name(p);
    return e;
}

/* floor(a/b), ceil(a/b), ceil(a, b) */
static struct oc_expr *parse_rounded(struct parser *p, bool up)
{
    struct oc_expr *a = number(p);
    if (up && take(p, ","))
        return make_binary(p, OC_X_CEIL, a, number(p));
    if (a->kind != OC_X_DIV && p->scope->use != OC_EXPR_SIZE)
        complain(p, "%s needs a quotient, such as %s(in0[2]/2)", up ? "ceil" : "floor",
                 up ? "ceil" : "floor");
    else if (up && a->kind == OC_X_DIV)
        a->kind = OC_X_CEIL;
    return a;
}

static struct oc_expr *pair(struct parser *p, enum oc_expr_kind kind)
{
    struct oc_expr *a = number(p);
    expect_sign(p, ",");
    return make_binary(p, kind, a, number(p));
}

static struct oc_expr *parse_if(struct parser *p)
{
    struct oc_expr *e = node(p, OC_X_IF);
    e->a = number(p);
    expect_sign(p, ",");
    e->b = number(p);
    expect_sign(p, ",");
    e->c = number(p);
    return e;
}

enum { ARITHMETIC = 6 }; /* the first function that is not about a node */
enum form { F_TENSOR, F_ONE, F_PAIR, F_VALUE, F_LENGTH, F_FLOOR, F_CEIL, F_IF };

static const struct function {
    const char *name;
    uint8_t form, kind;
} functions[] = {
    {"N", F_TENSOR, OC_X_ELEMENTS},
    {"rank", F_TENSOR, OC_X_RANK},
    {"bytes", F_TENSOR, OC_X_BYTES},
    {"has", F_TENSOR, OC_X_HAS},
    {"value", F_VALUE, 0},
    {"len", F_LENGTH, 0},
    {"min", F_PAIR, OC_X_MIN},
    {"max", F_PAIR, OC_X_MAX},
    {"mod", F_PAIR, OC_X_MOD},
    {"clog2", F_ONE, OC_X_CLOG2},
    {"floor", F_FLOOR, 0},
    {"ceil", F_CEIL, 0},
    {"if", F_IF, 0},
};

static struct oc_expr *arguments(struct parser *p, const struct function *f)
{
    switch (f->form) {
    case F_TENSOR:
        return of_tensor(p, f->kind);
    case F_ONE:
        return make_binary(p, f->kind, number(p), NULL);
    case F_PAIR:
        return pair(p, f->kind);
    case F_VALUE:
        return value(p);
    case F_LENGTH:
        return length(p);
    case F_FLOOR:
        return parse_rounded(p, false);
    case F_CEIL:
        return parse_rounded(p, true);
    default:
        return parse_if(p);
    }
}

static struct oc_expr *function(struct parser *p, struct oc_str name)
{
    size_t first = p->scope->use == OC_EXPR_SIZE ? ARITHMETIC : 0;
    for (size_t i = first; i < OC_COUNT(functions); i++)
        if (oc_str_eq(name, functions[i].name)) {
            struct oc_expr *e = arguments(p, &functions[i]);
            expect_sign(p, ")");
            return e;
        }
    complain(p, "unknown function '%.*s'", (int)(name.n < 40 ? name.n : 40), name.s);
    return node(p, OC_X_NUMBER);
}

/* ---- numbers ------------------------------------------------------------------------------------------ */

/* A name of costs and sizes: the caller defines it afterwards. */
static void add_name(struct parser *p, struct oc_str name)
{
    struct oc_expr_scope *scope = p->scope;
    if (scope->n_name == OC_EXPR_NAMES)
        complain(p, "more than %d names", OC_EXPR_NAMES);
    else
        scope->name[scope->n_name++] = (struct oc_expr_name){.name = copy_span(p, name)};
}

static struct oc_expr *use_name(struct parser *p, struct oc_str name)
{
    struct oc_expr_scope *scope = p->scope;
    struct oc_expr *e = node(p, OC_X_NAME);
    unsigned i = 0;
    while (i < scope->n_name && !oc_str_eq(name, scope->name[i].name))
        i++;
    if (i == scope->n_name && scope->use != OC_EXPR_RULE)
        add_name(p, name);
    if (i == scope->n_name || p->bad) {
        complain(p, "unknown name '%.*s'", (int)(name.n < 40 ? name.n : 40), name.s);
        return e;
    }
    const struct oc_expr_name *known = &scope->name[i];
    e->number = i;
    e->text = known->name;
    if (known->outputs > scope->outputs)
        complain(p, "'%s' uses out%u, which is not available yet", known->name, known->outputs - 1);
    if (known->outputs > scope->used_out)
        scope->used_out = known->outputs;
    return e;
}

static struct oc_expr *parse_name(struct parser *p, struct oc_str name)
{
    bool is_out, size_only = p->scope->use == OC_EXPR_SIZE;
    uint16_t slot;
    if (!size_only && is_tensor(p, name, &is_out, &slot) && (name.n > 1 || *p->p == '['))
        return size(p, name);
    if (!size_only && oc_str_eq(name, "attr") && *p->p == '.')
        return attribute(p);
    if (take(p, "("))
        return function(p, name);
    if (p->scope->use == OC_EXPR_COST && oc_str_eq(name, "inputs"))
        return node(p, OC_X_INPUTS);
    return use_name(p, name);
}

static struct oc_expr *literal(struct parser *p, struct oc_str digits)
{
    struct oc_expr *e = node(p, OC_X_NUMBER);
    if (!oc_parse_i64(digits.s, digits.n, &e->number))
        complain(p, "'%.*s' is not a whole number below 2^63", (int)(digits.n < 40 ? digits.n : 40),
                 digits.s);
    return e;
}

static struct oc_expr *parse_primary(struct parser *p)
{
    if (take(p, "-")) {
        struct oc_expr *e = factor(p);
        if (e->kind != OC_X_NUMBER)
            return make_binary(p, OC_X_NEG, e, NULL);
        e->number = -e->number;
        return e;
    }
    if (take(p, "(")) {
        struct oc_expr *e = number(p);
        expect_sign(p, ")");
        return e;
    }
    if (p->scope->use == OC_EXPR_COST && take(p, "["))
        return condition(p);
    struct oc_str s = word(p);
    if (s.n == 0) {
        if (*p->p)
            complain(p, "expected a number before '%.20s'", p->p);
        else
            complain(p, "a number is missing at the end");
        return node(p, OC_X_NUMBER);
    }
    return isdigit((unsigned char)*s.s) ? literal(p, s) : parse_name(p, s);
}

/* Limits the recursion: every recursive call passes here. */
static struct oc_expr *factor(struct parser *p)
{
    if (p->bad || ++p->depth > MAX_NESTING) {
        complain(p, "nested deeper than %d levels", MAX_NESTING);
        return node(p, OC_X_NUMBER);
    }
    struct oc_expr *e = parse_primary(p);
    p->depth--;
    return e;
}

static struct oc_expr *product(struct parser *p)
{
    struct oc_expr *e = factor(p);
    while (!p->bad) {
        if (take(p, "*"))
            e = make_binary(p, OC_X_MUL, e, factor(p));
        else if ((p->scope->use == OC_EXPR_SIZE && take(p, "//")) || take(p, "/"))
            e = make_binary(p, OC_X_DIV, e, factor(p));
        else
            break;
    }
    return e;
}

static struct oc_expr *sum(struct parser *p)
{
    struct oc_expr *e = product(p);
    while (!p->bad) {
        if (take(p, "+"))
            e = make_binary(p, OC_X_ADD, e, product(p));
        else if (take(p, "-"))
            e = make_binary(p, OC_X_SUB, e, product(p));
        else
            break;
    }
    return e;
}

static struct oc_expr *number(struct parser *p)
{
    static const struct {
        const char *sign;
        enum oc_expr_kind kind;
    } compare[] = {{"==", OC_X_EQ}, {"!=", OC_X_NE}, {"<=", OC_X_LE},
                   {">=", OC_X_GE}, {"<", OC_X_LT},  {">", OC_X_GT}};
    struct oc_expr *e = sum(p);
    for (size_t i = 0; i < OC_COUNT(compare) && !p->bad; i++)
        if (take(p, compare[i].sign))
            return make_binary(p, compare[i].kind, e, sum(p));
    return e;
}

/* ---- shapes ------------------------------------------------------------------------------------------- */

struct items {
    const struct oc_expr *list[MAX_ITEMS];
};

static void add_item(struct parser *p, struct oc_expr *e, struct items *all, struct oc_expr *one)
{
    if (e->n_item == MAX_ITEMS)
        complain(p, "more than %d sizes or parts", MAX_ITEMS);
    else
        all->list[e->n_item++] = one;
}

static void keep_items(struct parser *p, struct oc_expr *e, const struct items *all)
{
    const struct oc_expr **kept = OC_NEW_ARRAY(p->scope->arena, e->n_item, const struct oc_expr *);
    for (unsigned i = 0; i < e->n_item; i++)
        kept[i] = all->list[i];
    e->item = kept;
}

/* Parses the list between "(" or "[" and its end, separated by commas. */
static void items(struct parser *p, struct oc_expr *e, struct oc_expr *(*one)(struct parser *),
                  const char *end)
{
    struct items all = {{NULL}};
    if (take(p, end))
        return;
    do
        add_item(p, e, &all, one(p));
    while (!p->bad && take(p, ","));
    expect_sign(p, end);
    keep_items(p, e, &all);
}

static struct oc_expr *tensor(struct parser *p)
{
    return of_tensor(p, OC_X_AXES);
}

/* in0, in0[1:], in0[:-1] after the name */
static struct oc_expr *axes(struct parser *p, struct oc_str name)
{
    struct oc_expr *e = node(p, OC_X_AXES);
    set_tensor(p, e, name);
    if (take(p, "[") && !range(p, e))
        complain(p, "write a size inside a shape in brackets: [%.*s[...]]", (int)name.n, name.s);
    return e;
}

static struct oc_expr *shape_part(struct parser *p)
{
    bool is_out;
    uint16_t slot;
    struct oc_expr *e = node(p, OC_X_LIST);
    if (take(p, "[")) {
        items(p, e, number, "]");
        return e;
    }
    struct oc_str name = word(p);
    if (is_tensor(p, name, &is_out, &slot))
        return axes(p, name);
    if (oc_str_eq(name, "value") && take(p, "(")) {
        e = of_tensor(p, OC_X_VALUES);
        if (e->is_out)
            complain(p, "value() takes an input");
        expect_sign(p, ")");
        return e;
    }
    if (oc_str_eq(name, "broadcast") && take(p, "(")) {
        e->kind = OC_X_BROADCAST;
        items(p, e, tensor, ")");
        if (!e->n_item)
            complain(p, "broadcast() needs an argument");
        return e;
    }
    complain(p, "expected a shape, such as [in0[0], 64] or in0[:-1] + [64]");
    return e;
}

static struct oc_expr *shape(struct parser *p)
{
    struct items all = {{NULL}};
    struct oc_expr *e = node(p, OC_X_JOIN);
    do
        add_item(p, e, &all, shape_part(p));
    while (!p->bad && take(p, "+"));
    keep_items(p, e, &all);
    return e;
}

/* ---- types -------------------------------------------------------------------------------------------- */

static unsigned dtype_name(struct parser *p)
{
    struct oc_str s = word(p);
    unsigned dtype = oc_dtype_by_name(s.s, s.n);
    if (dtype == OC_DT_UNDEFINED)
        complain(p, "unknown element type '%.*s'", (int)(s.n < 40 ? s.n : 40), s.s);
    return dtype;
}

static struct oc_expr *dtype(struct parser *p)
{
    struct oc_expr *e = node(p, OC_X_DTYPE);
    const char *start = p->p;
    struct oc_str s = word(p);
    if (oc_str_eq(s, "attr") && *p->p == '.') {
        e->kind = OC_X_DTYPE_ATTR;
        e->text = attr_name(p);
        e->number = take(p, "|") ? (int64_t)dtype_name(p) : -1;
    } else if (is_tensor(p, s, &e->is_out, &e->slot)) {
        e->kind = OC_X_DTYPE_OF;
        set_tensor(p, e, s);
    } else {
        p->p = start;
        e->number = dtype_name(p);
    }
    return e;
}

/* ---- whole texts -------------------------------------------------------------------------------------- */

static unsigned depth_of(const struct oc_expr_scope *scope, const struct oc_expr *e)
{
    const struct oc_expr *part[] = {e->a, e->b, e->c};
    unsigned deepest = e->kind == OC_X_NAME ? scope->name[e->number].depth : 0;
    for (unsigned i = 0; i < OC_COUNT(part) + e->n_item; i++) {
        const struct oc_expr *inner = i < OC_COUNT(part) ? part[i] : e->item[i - OC_COUNT(part)];
        unsigned n = inner ? depth_of(scope, inner) : 0;
        deepest = n > deepest ? n : deepest;
    }
    return deepest + 1;
}

static const struct oc_expr *parse(struct oc_expr_scope *scope, const char *text,
                                   struct oc_expr *(*what)(struct parser *))
{
    struct parser p = {.scope = scope, .p = text};
    scope->used_out = 0;
    const struct oc_expr *e = what(&p);
    blanks(&p);
    if (*p.p)
        complain(&p, "syntax error at '%.20s'", p.p);
    if (!p.bad && (scope->depth = depth_of(scope, e)) > OC_EXPR_DEPTH)
        complain(&p, "nested too deeply, including the names it uses");
    return p.bad ? NULL : e;
}

const struct oc_expr *oc_expr_parse_number(struct oc_expr_scope *scope, const char *text)
{
    return parse(scope, text, number);
}

const struct oc_expr *oc_expr_parse_shape(struct oc_expr_scope *scope, const char *text)
{
    return parse(scope, text, shape);
}

const struct oc_expr *oc_expr_parse_dtype(struct oc_expr_scope *scope, const char *text)
{
    return parse(scope, text, dtype);
}
