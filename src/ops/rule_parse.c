/* Parser: texts of user rules to trees. The grammar is in user_rules.h. */
#include "base/str.h"
#include "ops/user_rules.h"

#include <ctype.h>
#include <stdarg.h>
#include <string.h>

#include "base/units.h"

#define MAX_NESTING 32
#define MAX_ITEMS   64
#define MAX_SLOT    4095
#define MAX_DEPTH   1000 /* maximum depth of trees, including lets: evaluation recurses */

struct parser {
    struct oc_rule_scope *scope;
    const char *p;
    unsigned depth;
    bool bad;
};

static struct oc_rule_expr *number(struct parser *p);

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

static bool word_char(char c)
{
    return oc_is_alnum((unsigned char)c) || c == '_';
}

static struct oc_str word(struct parser *p)
{
    blanks(p);
    struct oc_str s = {p->p, 0};
    while (word_char(p->p[0]))
        p->p++;
    s.n = (size_t)(p->p - s.s);
    return s;
}

static const char *copy_span(struct parser *p, struct oc_str s)
{
    return oc_strndup(p->scope->arena, s.s, s.n);
}

static struct oc_rule_expr *node(struct parser *p, enum rule_kind kind)
{
    struct oc_rule_expr *e = OC_NEW(p->scope->arena, struct oc_rule_expr);
    e->kind = (uint8_t)kind;
    return e;
}

static struct oc_rule_expr *make_binary(struct parser *p, enum rule_kind kind, struct oc_rule_expr *a,
                                        struct oc_rule_expr *b)
{
    struct oc_rule_expr *e = node(p, kind);
    e->a = a;
    e->b = b;
    return e;
}

/* ---- tensors ------------------------------------------------------------------------------------------ */

/* "in0", "out12" */
static bool is_tensor(struct oc_str s, bool *is_out, uint16_t *slot)
{
    size_t at = s.n > 3 && memcmp(s.s, "out", 3) == 0 ? 3 : s.n > 2 && memcmp(s.s, "in", 2) == 0 ? 2 : 0;
    int64_t v;
    if (!at || s.n - at > 4 || !isdigit((unsigned char)s.s[at]) || !oc_parse_i64(s.s + at, s.n - at, &v) ||
        v > MAX_SLOT)
        return false;
    *is_out = at == 3;
    *slot = (uint16_t)v;
    return true;
}

static void set_tensor(struct parser *p, struct oc_rule_expr *e, struct oc_str s)
{
    if (!is_tensor(s, &e->is_out, &e->slot)) {
        complain(p, "'%.*s' is not an input or output, such as in0", (int)(s.n < 40 ? s.n : 40), s.s);
        return;
    }
    unsigned need = e->is_out ? e->slot + 1u : 0;
    if (need > p->scope->outputs)
        complain(p, "%.*s is not available yet", (int)s.n, s.s);
    if (need > p->scope->used_out)
        p->scope->used_out = need;
}

static struct oc_rule_expr *of_tensor(struct parser *p, enum rule_kind kind)
{
    struct oc_rule_expr *e = node(p, kind);
    set_tensor(p, e, word(p));
    return e;
}

/* Parses 1, 1:, :-1 or 1:2 and the closing bracket. Returns true for a range. */
static bool range(struct parser *p, struct oc_rule_expr *e)
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
static struct oc_rule_expr *size(struct parser *p, struct oc_str name)
{
    struct oc_rule_expr *e = node(p, R_SIZE);
    set_tensor(p, e, name);
    if (*p->p == '.') {
        p->p++;
        struct oc_rule_expr *axis = node(p, R_NUMBER);
        struct oc_str digits = word(p);
        if (!oc_parse_i64(digits.s, digits.n, &axis->number))
            complain(p, "expected an axis after '%.*s.'", (int)name.n, name.s);
        e->a = axis;
    } else if (take(p, "[")) {
        e->kind = range(p, e) ? R_PRODUCT : R_SIZE;
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

static struct oc_rule_expr *factor(struct parser *p);

/* ... == 'text' after an attribute */
static struct oc_rule_expr *comparison_of_words(struct parser *p, struct oc_rule_expr *e)
{
    const char *before = p->p;
    bool differs = take(p, "!=");
    if ((differs || take(p, "==")) && (e->word = quoted(p)) != NULL) {
        e->kind = R_ATTR_IS;
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

static struct oc_rule_expr *attribute(struct parser *p)
{
    struct oc_rule_expr *e = node(p, R_ATTR);
    e->text = attr_name(p);
    if (take(p, "[")) {
        e->kind = R_ATTR_ITEM;
        e->a = number(p);
        expect_sign(p, "]");
    }
    if (take(p, "|") && (e->otherwise = quoted(p)) == NULL)
        e->b = factor(p);
    return comparison_of_words(p, e);
}

/* ---- functions ---------------------------------------------------------------------------------------- */

static struct oc_rule_expr *value(struct parser *p)
{
    struct oc_rule_expr *e = of_tensor(p, R_VALUE);
    if (e->is_out)
        complain(p, "value() takes an input");
    if (take(p, ","))
        e->a = number(p);
    return e;
}

static struct oc_rule_expr *length(struct parser *p)
{
    struct oc_rule_expr *e = node(p, R_ATTR_LEN);
    expect_sign(p, "attr");
    e->text = attr_name(p);
    return e;
}

/* floor(a/b), ceil(a/b), ceil(a, b) */
static struct oc_rule_expr *parse_rounded(struct parser *p, bool up)
{
    struct oc_rule_expr *a = number(p);
    if (up && take(p, ","))
        return make_binary(p, R_CEIL, a, number(p));
    if (a->kind != R_DIV)
        complain(p, "%s needs a quotient, such as %s(in0[2]/2)", up ? "ceil" : "floor",
                 up ? "ceil" : "floor");
    else if (up)
        a->kind = R_CEIL;
    return a;
}

static struct oc_rule_expr *pair(struct parser *p, enum rule_kind kind)
{
    struct oc_rule_expr *a = number(p);
    expect_sign(p, ",");
    return make_binary(p, kind, a, number(p));
}

static struct oc_rule_expr *parse_if(struct parser *p)
{
    struct oc_rule_expr *e = node(p, R_IF);
    e->a = number(p);
    expect_sign(p, ",");
    e->b = number(p);
    expect_sign(p, ",");
    e->c = number(p);
    return e;
}

enum form { F_TENSOR, F_ONE, F_PAIR, F_VALUE, F_LENGTH, F_FLOOR, F_CEIL, F_IF };

static const struct function {
    const char *name;
    uint8_t form, kind;
} functions[] = {
    {"N", F_TENSOR, R_ELEMENTS},
    {"rank", F_TENSOR, R_RANK},
    {"bytes", F_TENSOR, R_BYTES},
    {"has", F_TENSOR, R_HAS},
    {"value", F_VALUE, 0},
    {"len", F_LENGTH, 0},
    {"min", F_PAIR, R_MIN},
    {"max", F_PAIR, R_MAX},
    {"mod", F_PAIR, R_MOD},
    {"clog2", F_ONE, R_CLOG2},
    {"floor", F_FLOOR, 0},
    {"ceil", F_CEIL, 0},
    {"if", F_IF, 0},
};

static struct oc_rule_expr *arguments(struct parser *p, const struct function *f)
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

static struct oc_rule_expr *function(struct parser *p, struct oc_str name)
{
    for (size_t i = 0; i < OC_COUNT(functions); i++)
        if (oc_str_eq(name, functions[i].name)) {
            struct oc_rule_expr *e = arguments(p, &functions[i]);
            expect_sign(p, ")");
            return e;
        }
    complain(p, "unknown function '%.*s'", (int)(name.n < 40 ? name.n : 40), name.s);
    return node(p, R_NUMBER);
}

/* ---- numbers ------------------------------------------------------------------------------------------ */

static struct oc_rule_expr *find_let(struct parser *p, struct oc_str name)
{
    struct oc_rule_expr *e = node(p, R_LET);
    for (unsigned i = 0; i < p->scope->n_let; i++) {
        const struct oc_rule_let *l = &p->scope->let[i];
        if (!oc_str_eq(name, l->name))
            continue;
        e->number = i;
        e->text = l->name;
        if (l->outputs > p->scope->outputs)
            complain(p, "'%s' uses out%u, which is not available yet", l->name, l->outputs - 1);
        if (l->outputs > p->scope->used_out)
            p->scope->used_out = l->outputs;
        return e;
    }
    complain(p, "unknown name '%.*s'", (int)(name.n < 40 ? name.n : 40), name.s);
    return e;
}

static struct oc_rule_expr *parse_name(struct parser *p, struct oc_str name)
{
    bool is_out;
    uint16_t slot;
    if (is_tensor(name, &is_out, &slot))
        return size(p, name);
    if (oc_str_eq(name, "attr") && *p->p == '.')
        return attribute(p);
    if (take(p, "("))
        return function(p, name);
    return find_let(p, name);
}

static struct oc_rule_expr *literal(struct parser *p, struct oc_str digits)
{
    struct oc_rule_expr *e = node(p, R_NUMBER);
    if (!oc_parse_i64(digits.s, digits.n, &e->number))
        complain(p, "'%.*s' is not a whole number below 2^63", (int)(digits.n < 40 ? digits.n : 40),
                 digits.s);
    return e;
}

static struct oc_rule_expr *parse_primary(struct parser *p)
{
    if (take(p, "-"))
        return make_binary(p, R_NEG, factor(p), NULL);
    if (take(p, "(")) {
        struct oc_rule_expr *e = number(p);
        expect_sign(p, ")");
        return e;
    }
    struct oc_str s = word(p);
    if (s.n == 0) {
        if (*p->p)
            complain(p, "expected a number before '%.20s'", p->p);
        else
            complain(p, "a number is missing at the end");
        return node(p, R_NUMBER);
    }
    return isdigit((unsigned char)*s.s) ? literal(p, s) : parse_name(p, s);
}

/* Limits the recursion: every recursive call passes here. */
static struct oc_rule_expr *factor(struct parser *p)
{
    if (p->bad || ++p->depth > MAX_NESTING) {
        complain(p, "nested deeper than %d levels", MAX_NESTING);
        return node(p, R_NUMBER);
    }
    struct oc_rule_expr *e = parse_primary(p);
    p->depth--;
    return e;
}

static struct oc_rule_expr *product(struct parser *p)
{
    struct oc_rule_expr *e = factor(p);
    while (!p->bad) {
        if (take(p, "*"))
            e = make_binary(p, R_MUL, e, factor(p));
        else if (take(p, "/"))
            e = make_binary(p, R_DIV, e, factor(p));
        else
            break;
    }
    return e;
}

static struct oc_rule_expr *sum(struct parser *p)
{
    struct oc_rule_expr *e = product(p);
    while (!p->bad) {
        if (take(p, "+"))
            e = make_binary(p, R_ADD, e, product(p));
        else if (take(p, "-"))
            e = make_binary(p, R_SUB, e, product(p));
        else
            break;
    }
    return e;
}

static struct oc_rule_expr *number(struct parser *p)
{
    static const struct {
        const char *sign;
        enum rule_kind kind;
    } compare[] = {{"==", R_EQ}, {"!=", R_NE}, {"<=", R_LE}, {">=", R_GE}, {"<", R_LT}, {">", R_GT}};
    struct oc_rule_expr *e = sum(p);
    for (size_t i = 0; i < OC_COUNT(compare) && !p->bad; i++)
        if (take(p, compare[i].sign))
            return make_binary(p, compare[i].kind, e, sum(p));
    return e;
}

/* ---- shapes ------------------------------------------------------------------------------------------- */

struct items {
    const struct oc_rule_expr *list[MAX_ITEMS];
};

static void add_item(struct parser *p, struct oc_rule_expr *e, struct items *all, struct oc_rule_expr *one)
{
    if (e->n_item == MAX_ITEMS)
        complain(p, "more than %d sizes or parts", MAX_ITEMS);
    else
        all->list[e->n_item++] = one;
}

static void keep_items(struct parser *p, struct oc_rule_expr *e, const struct items *all)
{
    const struct oc_rule_expr **kept = OC_NEW_ARRAY(p->scope->arena, e->n_item, const struct oc_rule_expr *);
    for (unsigned i = 0; i < e->n_item; i++)
        kept[i] = all->list[i];
    e->item = kept;
}

/* Parses the list between "(" or "[" and its end, separated by commas. */
static void items(struct parser *p, struct oc_rule_expr *e, struct oc_rule_expr *(*one)(struct parser *),
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

static struct oc_rule_expr *tensor(struct parser *p)
{
    return of_tensor(p, R_AXES);
}

/* in0, in0[1:], in0[:-1] after the name */
static struct oc_rule_expr *axes(struct parser *p, struct oc_str name)
{
    struct oc_rule_expr *e = node(p, R_AXES);
    set_tensor(p, e, name);
    if (take(p, "[") && !range(p, e))
        complain(p, "write a size inside a shape in brackets: [%.*s[...]]", (int)name.n, name.s);
    return e;
}

static struct oc_rule_expr *shape_part(struct parser *p)
{
    bool is_out;
    uint16_t slot;
    struct oc_rule_expr *e = node(p, R_LIST);
    if (take(p, "[")) {
        items(p, e, number, "]");
        return e;
    }
    struct oc_str name = word(p);
    if (is_tensor(name, &is_out, &slot))
        return axes(p, name);
    if (oc_str_eq(name, "value") && take(p, "(")) {
        e = of_tensor(p, R_VALUES);
        if (e->is_out)
            complain(p, "value() takes an input");
        expect_sign(p, ")");
        return e;
    }
    if (oc_str_eq(name, "broadcast") && take(p, "(")) {
        e->kind = R_BROADCAST;
        items(p, e, tensor, ")");
        if (!e->n_item)
            complain(p, "broadcast() needs an argument");
        return e;
    }
    complain(p, "expected a shape, such as [in0[0], 64] or in0[:-1] + [64]");
    return e;
}

static struct oc_rule_expr *shape(struct parser *p)
{
    struct items all = {{NULL}};
    struct oc_rule_expr *e = node(p, R_JOIN);
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

static struct oc_rule_expr *dtype(struct parser *p)
{
    struct oc_rule_expr *e = node(p, R_DTYPE);
    const char *start = p->p;
    struct oc_str s = word(p);
    if (oc_str_eq(s, "attr") && *p->p == '.') {
        e->kind = R_DTYPE_ATTR;
        e->text = attr_name(p);
        e->number = take(p, "|") ? (int64_t)dtype_name(p) : -1;
    } else if (is_tensor(s, &e->is_out, &e->slot)) {
        e->kind = R_DTYPE_OF;
        set_tensor(p, e, s);
    } else {
        p->p = start;
        e->number = dtype_name(p);
    }
    return e;
}

/* ---- whole texts -------------------------------------------------------------------------------------- */

static unsigned depth_of(const struct oc_rule_scope *scope, const struct oc_rule_expr *e)
{
    const struct oc_rule_expr *part[] = {e->a, e->b, e->c};
    unsigned deepest = e->kind == R_LET ? scope->let[e->number].depth : 0;
    for (unsigned i = 0; i < OC_COUNT(part) + e->n_item; i++) {
        const struct oc_rule_expr *inner = i < OC_COUNT(part) ? part[i] : e->item[i - OC_COUNT(part)];
        unsigned n = inner ? depth_of(scope, inner) : 0;
        deepest = n > deepest ? n : deepest;
    }
    return deepest + 1;
}

static const struct oc_rule_expr *parse(struct oc_rule_scope *scope, const char *text,
                                        struct oc_rule_expr *(*what)(struct parser *))
{
    struct parser p = {.scope = scope, .p = text};
    scope->used_out = 0;
    const struct oc_rule_expr *e = what(&p);
    blanks(&p);
    if (*p.p)
        complain(&p, "syntax error at '%.20s'", p.p);
    if (!p.bad && (scope->depth = depth_of(scope, e)) > MAX_DEPTH)
        complain(&p, "nested too deeply, including the names it uses");
    return p.bad ? NULL : e;
}

const struct oc_rule_expr *oc_rule_parse_number(struct oc_rule_scope *scope, const char *text)
{
    return parse(scope, text, number);
}

const struct oc_rule_expr *oc_rule_parse_shape(struct oc_rule_scope *scope, const char *text)
{
    return parse(scope, text, shape);
}

const struct oc_rule_expr *oc_rule_parse_dtype(struct oc_rule_scope *scope, const char *text)
{
    return parse(scope, text, dtype);
}
