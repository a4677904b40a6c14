/* Printer of the formula language: an expression as text, with its names or with the numbers that they stand for. */
#include "lang/expr.h"

static const struct {
    const char *text;
    uint8_t level; /* operator precedence; 0: a function */
} signs[] = {
    [OC_X_ADD] = {" + ", 2},   [OC_X_SUB] = {" - ", 2}, [OC_X_MUL] = {"*", 3},   [OC_X_DIV] = {"/", 3},
    [OC_X_CEIL] = {"ceil", 0}, [OC_X_MOD] = {"mod", 0}, [OC_X_MIN] = {"min", 0}, [OC_X_MAX] = {"max", 0},
    [OC_X_EQ] = {" == ", 1},   [OC_X_NE] = {" != ", 1}, [OC_X_LT] = {" < ", 1},  [OC_X_LE] = {" <= ", 1},
    [OC_X_GT] = {" > ", 1},    [OC_X_GE] = {" >= ", 1},
};

struct printer {
    void (*value)(void *, const struct oc_expr *, struct oc_buf *); /* NULL: names, not numbers */
    void *of;
    struct oc_buf *out;
};

static void print_expr(struct printer *p, const struct oc_expr *e, unsigned level);

static void print_call(struct printer *p, const char *name, const struct oc_expr *a, const struct oc_expr *b,
                       const struct oc_expr *c)
{
    const struct oc_expr *list[] = {a, b, c};
    oc_buf_printf(p->out, "%s(", name);
    for (unsigned i = 0; i < OC_COUNT(list) && list[i]; i++) {
        oc_buf_str(p->out, i ? ", " : "");
        print_expr(p, list[i], 0);
    }
    oc_buf_char(p->out, ')');
}

static void print_name(struct printer *p, const struct oc_expr *e)
{
    static const char *const functions[] = {[OC_X_ELEMENTS] = "N",
                                            [OC_X_RANK] = "rank",
                                            [OC_X_BYTES] = "bytes",
                                            [OC_X_HAS] = "has",
                                            [OC_X_VALUE] = "value"};
    const char *tensor = e->is_out ? "out" : "in";
    switch (e->kind) {
    case OC_X_NAME:
        oc_buf_str(p->out, e->text);
        break;
    case OC_X_SIZE:
        oc_buf_printf(p->out, "%s%u[", tensor, e->slot);
        print_expr(p, e->a, 0);
        oc_buf_char(p->out, ']');
        break;
    case OC_X_PRODUCT:
        oc_buf_printf(p->out, "%s%u[", tensor, e->slot);
        if (e->a)
            print_expr(p, e->a, 0);
        oc_buf_char(p->out, ':');
        if (e->b)
            print_expr(p, e->b, 0);
        oc_buf_char(p->out, ']');
        break;
    case OC_X_ATTR:
    case OC_X_ATTR_ITEM:
        oc_buf_printf(p->out, "attr.%s", e->text);
        if (e->kind == OC_X_ATTR_ITEM) {
            oc_buf_char(p->out, '[');
            print_expr(p, e->a, 0);
            oc_buf_char(p->out, ']');
        }
        if (e->b) { /* the default */
            oc_buf_char(p->out, '|');
            print_expr(p, e->b, 5);
        }
        break;
    case OC_X_ATTR_LEN:
        oc_buf_printf(p->out, "len(attr.%s)", e->text);
        break;
    case OC_X_ATTR_IS:
        oc_buf_printf(p->out, "(attr.%s", e->text);
        if (e->otherwise)
            oc_buf_printf(p->out, "|'%s'", e->otherwise);
        oc_buf_printf(p->out, " %s '%s')", e->number ? "!=" : "==", e->word);
        break;
    case OC_X_ATTR_TEST:
        oc_buf_printf(p->out, "[%s%s%s %s %s]", e->text, *e->otherwise ? ":" : "", e->otherwise,
                      e->number ? "!=" : "==", e->word);
        break;
    case OC_X_STRICT:
        oc_buf_str(p->out, "[strict]");
        break;
    case OC_X_INPUTS:
        oc_buf_str(p->out, "inputs");
        break;
    default:
        oc_buf_printf(p->out, "%s(%s%u", functions[e->kind], tensor, e->slot);
        if (e->a) {
            oc_buf_str(p->out, ", ");
            print_expr(p, e->a, 0);
        }
        oc_buf_char(p->out, ')');
    }
}

static void print_sign(struct printer *p, const struct oc_expr *e, unsigned level)
{
    unsigned own = signs[e->kind].level;
    if (own == 0) {
        print_call(p, signs[e->kind].text, e->a, e->b, NULL);
        return;
    }
    oc_buf_str(p->out, own < level ? "(" : "");
    print_expr(p, e->a, own);
    oc_buf_str(p->out, signs[e->kind].text);
    print_expr(p, e->b, own + 1);
    oc_buf_str(p->out, own < level ? ")" : "");
}

static void print_expr(struct printer *p, const struct oc_expr *e, unsigned level)
{
    switch (e->kind) { /* NOLINT(clang-analyzer-core.NullDereference): operators have their operands */
    case OC_X_NUMBER:
        oc_buf_printf(p->out, "%lld", (long long)e->number);
        break;
    case OC_X_NEG:
        oc_buf_char(p->out, '-');
        print_expr(p, e->a, 4);
        break;
    case OC_X_CLOG2:
        print_call(p, "clog2", e->a, NULL, NULL);
        break;
    case OC_X_IF:
        print_call(p, "if", e->a, e->b, e->c);
        break;
    default:
        if (e->kind >= OC_X_ADD && e->kind <= OC_X_GE)
            print_sign(p, e, level);
        else if (p->value)
            p->value(p->of, e, p->out);
        else
            print_name(p, e);
    }
}

void oc_expr_print(const struct oc_expr *e, struct oc_buf *out)
{
    print_expr(&(struct printer){.out = out}, e, 0);
}

void oc_expr_print_numbers(const struct oc_expr *e,
                           void (*value)(void *, const struct oc_expr *, struct oc_buf *), void *of,
                           struct oc_buf *out)
{
    print_expr(&(struct printer){value, of, out}, e, 0);
}
