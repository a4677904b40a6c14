/* Prints expression trees of user rules: with names, or with the numbers of a node. */
#include "ops/rule_tree.h"

static const struct {
    const char *text;
    uint8_t level; /* operator precedence; 0: a function */
} signs[] = {
    [R_ADD] = {" + ", 2},   [R_SUB] = {" - ", 2}, [R_MUL] = {"*", 3},   [R_DIV] = {"/", 3},
    [R_CEIL] = {"ceil", 0}, [R_MOD] = {"mod", 0}, [R_MIN] = {"min", 0}, [R_MAX] = {"max", 0},
    [R_EQ] = {" == ", 1},   [R_NE] = {" != ", 1}, [R_LT] = {" < ", 1},  [R_LE] = {" <= ", 1},
    [R_GT] = {" > ", 1},    [R_GE] = {" >= ", 1},
};

/* env NULL: names, not numbers. */
struct printer {
    struct oc_rule_env *env;
    struct oc_buf *out;
};

static void rule_print_print(struct printer *p, const struct oc_rule_expr *e, unsigned level);

static void print_call(struct printer *p, const char *name, const struct oc_rule_expr *a,
                       const struct oc_rule_expr *b, const struct oc_rule_expr *c)
{
    const struct oc_rule_expr *list[] = {a, b, c};
    oc_buf_printf(p->out, "%s(", name);
    for (unsigned i = 0; i < OC_COUNT(list) && list[i]; i++) {
        oc_buf_str(p->out, i ? ", " : "");
        rule_print_print(p, list[i], 0);
    }
    oc_buf_char(p->out, ')');
}

static void print_default(struct printer *p, const struct oc_rule_expr *e)
{
    if (e->b) {
        oc_buf_char(p->out, '|');
        rule_print_print(p, e->b, 5);
    }
}

static void print_name(struct printer *p, const struct oc_rule_expr *e)
{
    static const char *const functions[] = {
        [R_ELEMENTS] = "N", [R_RANK] = "rank", [R_BYTES] = "bytes", [R_HAS] = "has", [R_VALUE] = "value"};
    const char *tensor = e->is_out ? "out" : "in";
    switch (e->kind) {
    case R_LET:
        oc_buf_str(p->out, e->text);
        break;
    case R_SIZE:
        oc_buf_printf(p->out, "%s%u[", tensor, e->slot);
        rule_print_print(p, e->a, 0);
        oc_buf_char(p->out, ']');
        break;
    case R_PRODUCT:
        oc_buf_printf(p->out, "%s%u[", tensor, e->slot);
        if (e->a)
            rule_print_print(p, e->a, 0);
        oc_buf_char(p->out, ':');
        if (e->b)
            rule_print_print(p, e->b, 0);
        oc_buf_char(p->out, ']');
        break;
    case R_ATTR:
        oc_buf_printf(p->out, "attr.%s", e->text);
        print_default(p, e);
        break;
    case R_ATTR_ITEM:
        oc_buf_printf(p->out, "attr.%s[", e->text);
        rule_print_print(p, e->a, 0);
        oc_buf_char(p->out, ']');
        print_default(p, e);
        break;
    case R_ATTR_LEN:
        oc_buf_printf(p->out, "len(attr.%s)", e->text);
        break;
    case R_ATTR_IS:
        oc_buf_printf(p->out, "(attr.%s", e->text);
        if (e->otherwise)
            oc_buf_printf(p->out, "|'%s'", e->otherwise);
        oc_buf_printf(p->out, " %s '%s')", e->number ? "!=" : "==", e->word);
        break;
    default:
        oc_buf_printf(p->out, "%s(%s%u", functions[e->kind], tensor, e->slot);
        if (e->a) {
            oc_buf_str(p->out, ", ");
            rule_print_print(p, e->a, 0);
        }
        oc_buf_char(p->out, ')');
    }
}

/* The value of a name; failures print as unknown, the rule itself has reported them. */
static void print_value(struct printer *p, const struct oc_rule_expr *e)
{
    struct oc_err *err = p->env->c->err, unused = {0};
    struct oc_dim d;
    p->env->c->err = &unused;
    if (oc_rule_number(p->env, e, &d) || !oc_is_known(d))
        oc_buf_char(p->out, '?');
    else
        oc_buf_printf(p->out, "%lld", (long long)d.v);
    p->env->c->err = err;
}

static void print_sign(struct printer *p, const struct oc_rule_expr *e, unsigned level)
{
    unsigned own = signs[e->kind].level;
    if (own == 0) {
        print_call(p, signs[e->kind].text, e->a, e->b, NULL);
        return;
    }
    oc_buf_str(p->out, own < level ? "(" : "");
    rule_print_print(p, e->a, own);
    oc_buf_str(p->out, signs[e->kind].text);
    rule_print_print(p, e->b, own + 1);
    oc_buf_str(p->out, own < level ? ")" : "");
}

static void rule_print_print(struct printer *p, const struct oc_rule_expr *e, unsigned level)
{
    switch (e->kind) {
    case R_NUMBER:
        oc_buf_printf(p->out, "%lld", (long long)e->number);
        break;
    case R_NEG:
        oc_buf_char(p->out, '-');
        rule_print_print(p, e->a, 4);
        break;
    case R_CLOG2:
        print_call(p, "clog2", e->a, NULL, NULL);
        break;
    case R_IF:
        print_call(p, "if", e->a, e->b, e->c);
        break;
    default:
        if (e->kind >= R_ADD && e->kind <= R_GE)
            print_sign(p, e, level);
        else if (p->env)
            print_value(p, e);
        else
            print_name(p, e);
    }
}

void oc_rule_print_numbers(struct oc_rule_env *env, const struct oc_rule_expr *e, struct oc_buf *out)
{
    struct printer p = {.env = env, .out = out};
    rule_print_print(&p, e, 0);
}

void oc_rule_print_names(const struct oc_rule_expr *e, struct oc_buf *out)
{
    struct printer p = {.out = out};
    rule_print_print(&p, e, 0);
}
