/* Costs of operators as text (the notation is in op.h, the expressions in lang/expr.h). A text is compiled once per row
 * and analysis. The rule of the operator (oc_cost_text) and the explanation for people (oc_formula_read) evaluate the
 * same trees, so that what is printed is what was counted. */
#include "ops/op.h"

#include <string.h>

#include "base/ck.h"
#include "lang/expr.h"
#include "ops/shared_rules.h"
#include "ops/user_rules.h"

enum left { L_PRIM, L_LIST, L_ACTIVATION, L_FUNCTIONS };

/* The type of the work: that of the row's class, or what the left side says after a colon. */
enum work { BY_CLASS, INT, FLOAT, OF_X, UNKNOWN_TYPE };

/* One statement "left = expr". */
struct amount {
    uint8_t left, prim, times; /* times: primitives per unit of the expression */
    uint8_t work;              /* enum work */
    const struct oc_prims *list;
    const struct oc_expr *n;
    const char *text;
};

struct oc_formula_code {
    struct amount amount[OC_FORMULA_TERMS];
    struct oc_expr_name name[OC_EXPR_NAMES];
    unsigned n_amount, n_name;
    bool bad;
};

/* ---- compiling ---------------------------------------------------------------------------------------- */

static bool prim_of(struct oc_str s, unsigned *prim)
{
    for (unsigned p = 0; p < OC_PRIM_COUNT; p++)
        if (oc_str_eq(s, oc_prim_name(p))) {
            *prim = p;
            return true;
        }
    return false;
}

/* The histogram that a left side names. */
static const struct oc_prims *list_of(struct oc_arena *arena, const struct oc_op *op, struct oc_str s)
{
    if (oc_str_eq(s, "requantize"))
        return oc_prims_requantize;
    if (oc_str_eq(s, "dequantize"))
        return oc_prims_dequantize;
    if (oc_str_eq(s, "dynamic_quantize"))
        return oc_prims_dynamic_quantize;
    if (oc_str_eq(s, "this") && op->param)
        return op->param;
    if (oc_str_eq(s, "function"))
        return oc_activation_prims(op->param);
    return oc_activation_prims(oc_str_eq(s, "this") ? op->name : oc_strndup(arena, s.s, s.n));
}

/* False: no such left side. */
static bool set_left(struct oc_arena *arena, const struct oc_op *op, struct oc_str s, struct amount *a)
{
    unsigned prim = op->prim;
    struct oc_str type = oc_str_after(s, ":");
    bool own = oc_str_eq(s, "this") && op->prim && !op->param;
    a->work = !type.n                    ? BY_CLASS
              : oc_str_eq(type, "int")   ? INT
              : oc_str_eq(type, "float") ? FLOAT
              : oc_str_eq(type, "x")     ? OF_X
                                         : UNKNOWN_TYPE;
    a->times = own && op->n_prim ? op->n_prim : 1;
    s = type.n ? oc_str(s.s, s.n - type.n - 1) : s;
    if (prim_of(s, &prim) || oc_str_eq(s, "prim") || own || (oc_str_eq(s, "function") && !op->param))
        a->left = L_PRIM;
    else if (oc_str_eq(s, "functions"))
        a->left = L_FUNCTIONS;
    else if (oc_str_eq(s, "activation"))
        a->left = L_ACTIVATION;
    else
        a->left = L_LIST;
    a->prim = (uint8_t)prim;
    a->list = a->left == L_LIST ? list_of(arena, op, s) : NULL;
    return a->left == L_PRIM ? a->work != UNKNOWN_TYPE : !a->work && (a->left != L_LIST || a->list);
}

static bool compile_amount(struct oc_expr_scope *scope, const struct oc_op *op,
                           const struct oc_expr_statement *s, struct oc_formula_code *code)
{
    struct amount *a = &code->amount[code->n_amount];
    if (code->n_amount == OC_FORMULA_TERMS || !s->left.n || !set_left(scope->arena, op, s->left, a))
        return false;
    a->text = oc_strndup(scope->arena, s->right.s, s->right.n);
    a->n = oc_expr_parse_number(scope, a->text);
    code->n_amount++;
    return a->n != NULL;
}

static const struct oc_formula_code *compile(struct oc_arena *arena, const struct oc_op *op)
{
    struct oc_formula_code *code = OC_NEW(arena, struct oc_formula_code);
    struct oc_expr_scope scope = {.arena = arena,
                                  .use = OC_EXPR_COST,
                                  .slots = op->slots,
                                  .name = code->name,
                                  .outputs = UINT16_MAX + 1};
    const char *text = oc_formula_text(op);
    struct oc_expr_statement s;
    for (const char *p = text; p && !code->bad && oc_expr_statement(&p, &s);)
        code->bad = !s.defines && !compile_amount(&scope, op, &s, code);
    code->bad = code->bad || (text && !oc_expr_define(&scope, text));
    code->n_name = scope.n_name;
    return code;
}

static const struct oc_formula_code *code_of(const struct oc_op_ctx *c)
{
    struct oc_formula_cache *cache = c->formulas;
    if (!cache)
        return compile(c->arena, c->op);
    size_t at = ((uintptr_t)c->op / sizeof(*c->op)) % OC_COUNT(cache->op), tried = 0;
    while (cache->op[at] && cache->op[at] != c->op && tried++ < OC_COUNT(cache->op))
        at = (at + 1) % OC_COUNT(cache->op);
    if (cache->op[at] && cache->op[at] != c->op) /* full */
        return compile(c->arena, c->op);
    if (!cache->op[at]) {
        cache->op[at] = c->op;
        cache->code[at] = compile(c->arena, c->op);
    }
    return cache->code[at];
}

/* ---- evaluation --------------------------------------------------------------------------------------- */

/* Sizes of a tensor, the leaves that nearly all texts have: without a symbolic dimension in between. */
static uint64_t count_sizes(struct oc_op_ctx *c, const struct oc_expr *e)
{
    const struct oc_type *t = e->is_out ? oc_out(c, e->slot) : oc_in(c, e->slot);
    if (e->kind == OC_X_ELEMENTS)
        return oc_c_elems(c, t);
    int64_t rank = t && t->shape.ranked ? t->shape.rank : -1;
    int64_t from = e->a ? e->a->number : 0, to = e->b ? e->b->number : rank;
    from += from < 0 ? rank : 0;
    to = e->kind == OC_X_SIZE ? from + 1 : to + (to < 0 ? rank : 0);
    c->unknown |= rank < 0 || from < 0 || to > rank;
    return c->unknown ? 0 : from < to ? oc_c_range(c, &t->shape, (unsigned)from, (unsigned)to) : 1;
}

static uint64_t count_leaf(struct oc_count_env *env, const struct oc_expr *e)
{
    struct oc_op_ctx *c = env->of;
    struct oc_dim d;
    uint64_t v = 0;
    bool before = c->unknown,
         fixed = (!e->a || e->a->kind == OC_X_NUMBER) && (!e->b || e->b->kind == OC_X_NUMBER);
    c->unknown = false;
    if (e->kind == OC_X_HAS) {
        v = (e->is_out ? oc_out(c, e->slot) : oc_in(c, e->slot)) != NULL;
    } else if (e->kind == OC_X_ELEMENTS || (fixed && (e->kind == OC_X_SIZE || e->kind == OC_X_PRODUCT))) {
        v = count_sizes(c, e);
    } else {
        struct oc_dim_env dims = oc_rule_env(c, env->name);
        if (oc_rule_leaf(&dims, e, &d))
            c->unknown = true;
        else
            v = oc_c_dim(c, d);
    }
    env->unknown |= c->unknown;
    c->unknown = before;
    return v;
}

static bool given(const struct oc_count_env *env, const char *name, uint64_t *out)
{
    const struct oc_op_ctx *c = env->of;
    for (unsigned i = 0; c->values && i < c->values->n; i++)
        if (strcmp(c->values->item[i].name, name) == 0) {
            *out = c->values->item[i].v;
            return true;
        }
    return false;
}

static void start(struct oc_count_env *env, struct oc_op_ctx *c, const struct oc_formula_code *code)
{
    env->name = code->name;
    env->of = c;
    env->leaf = count_leaf;
    env->given = given;
    memset(env->state, OC_COUNT_OPEN, code->n_name);
}

/* The number of an expression; false: it has none. */
static bool evaluate(struct oc_count_env *env, const struct oc_expr *e, uint64_t *out)
{
    env->unknown = env->overflow = false;
    *out = oc_expr_count(env, e);
    return !env->unknown && !env->overflow;
}

/* ---- the rule ----------------------------------------------------------------------------------------- */

/* Adds what the rule itself reports as numbers of primitives. */
static void add_functions(struct oc_op_ctx *c, struct oc_cost *k)
{
    unsigned prim;
    for (unsigned i = 0; c->values && i < c->values->n; i++)
        if (prim_of(oc_str(c->values->item[i].name, strlen(c->values->item[i].name)), &prim))
            oc_add(c, k, (enum oc_prim)prim, c->values->item[i].v);
}

static void add_prim(struct oc_op_ctx *c, struct oc_cost *k, const struct amount *a, uint64_t n)
{
    unsigned kind = a->work == OF_X ? oc_dtype_info(oc_in_dtype(c, 0))->kind : OC_KIND_NONE;
    if (a->work == BY_CLASS)
        oc_add(c, k, (enum oc_prim)a->prim, n);
    else if (a->work == FLOAT || kind == OC_KIND_FLOAT)
        oc_add_float(c, k, (enum oc_prim)a->prim, n);
    else
        oc_add_int(c, k, (enum oc_prim)a->prim, n);
}

static void count_amount(struct oc_count_env *env, struct oc_cost *k, const struct amount *a)
{
    struct oc_op_ctx *c = env->of;
    uint64_t n;
    if (a->left == L_FUNCTIONS) {
        add_functions(c, k);
        return;
    }
    bool known = evaluate(env, a->n, &n);
    c->overflow |= env->overflow;
    c->unknown |= !known && !env->overflow;
    if (a->left == L_LIST)
        oc_add_prims(c, k, a->list, n);
    else if (a->left == L_ACTIVATION)
        oc_add_activation(c, k, "activation", n);
    else
        add_prim(c, k, a, oc_c_mul(c, a->times, n));
}

int oc_cost_text(struct oc_op_ctx *c, struct oc_cost *k)
{
    const struct oc_formula_code *code = code_of(c);
    struct oc_formula_values *asked = c->values, own;
    struct oc_count_env env;
    own.n = 0;
    if (!asked)
        c->values = &own;
    if (c->op->assumption)
        c->assumption = c->op->assumption;
    int rc = c->op->values ? c->op->values(c, k) : 0;
    start(&env, c, code);
    for (unsigned i = 0; !rc && i < code->n_amount; i++)
        count_amount(&env, k, &code->amount[i]);
    c->values = asked;
    return rc;
}

/* ---- the text ----------------------------------------------------------------------------------------- */

static void print_count(void *of, const struct oc_expr *e, struct oc_buf *out)
{
    uint64_t v;
    if (evaluate(of, e, &v))
        oc_buf_printf(out, "%llu", (unsigned long long)v);
    else
        oc_buf_char(out, '?');
}

static struct oc_formula_term *new_term(struct oc_formula *f, unsigned prim)
{
    struct oc_formula_term *t = &f->term[f->n_term < OC_FORMULA_TERMS ? f->n_term++ : OC_FORMULA_TERMS - 1];
    *t = (struct oc_formula_term){.prim = (uint8_t)prim};
    return t;
}

/* The text multiplied by a number, in brackets where the expression is more than a name. */
static const char *with_times(struct oc_arena *arena, unsigned times, const struct amount *a,
                              const char *text)
{
    bool simple = !a->text[strcspn(a->text, "+-*/ ")];
    return times == 1 ? oc_strdup(arena, text) : oc_printf(arena, simple ? "%u*%s" : "%u*(%s)", times, text);
}

static void add_term(struct oc_count_env *env, struct oc_formula *f, unsigned prim, unsigned times,
                     const struct amount *a)
{
    struct oc_op_ctx *c = env->of;
    struct oc_buf numbers = {0};
    struct oc_formula_term *t = new_term(f, prim);
    t->known = evaluate(env, a->n, &t->value);
    oc_expr_print_numbers(a->n, print_count, env, &numbers);
    t->expr = with_times(c->arena, times, a, a->text);
    t->numbers = with_times(c->arena, times, a, numbers.data ? numbers.data : "");
    t->known = t->known && oc_mul_u64(t->value, times, &t->value);
    oc_buf_free(&numbers);
}

/* Amounts of primitives reported by the rule itself. */
static void add_reported(const struct oc_op_ctx *c, struct oc_formula *f, const struct amount *a)
{
    unsigned prim;
    for (unsigned i = 0; c->values && i < c->values->n; i++) {
        const char *name = c->values->item[i].name;
        if (!prim_of(oc_str(name, strlen(name)), &prim))
            continue;
        struct oc_formula_term *t = new_term(f, prim);
        t->expr = oc_printf(c->arena, "functions of %s", a->text);
        t->value = c->values->item[i].v;
        t->numbers = oc_printf(c->arena, "%llu", (unsigned long long)t->value);
        t->known = true;
    }
}

static void add_terms(struct oc_count_env *env, struct oc_formula *f, const struct amount *a)
{
    const struct oc_op_ctx *c = env->of;
    const struct oc_prims *list =
        a->left == L_ACTIVATION ? oc_activation_prims(oc_attr_s(c, "activation", "")) : a->list;
    if (a->left == L_PRIM)
        add_term(env, f, a->prim, a->times, a);
    else if (a->left == L_FUNCTIONS)
        add_reported(c, f, a);
    else
        for (; list && list->n; list++)
            add_term(env, f, list->prim, list->n, a);
}

/* Lists the names of an expression, each after those that it is defined by. */
static void list_names(struct oc_count_env *env, struct oc_formula *f, const struct oc_expr *e)
{
    if (!e)
        return;
    list_names(env, f, e->a);
    list_names(env, f, e->b);
    list_names(env, f, e->c);
    if (e->kind != OC_X_NAME)
        return;
    const struct oc_expr_name *name = &env->name[e->number];
    unsigned prim;
    uint64_t v;
    bool known = evaluate(env, e, &v), is_given = env->state[e->number] == OC_COUNT_GIVEN;
    if (!is_given)
        list_names(env, f, name->expr);
    for (uint32_t i = 0; i < f->n_name; i++)
        if (f->name[i].name == name->name)
            return;
    if (f->n_name < OC_FORMULA_NAMES && !prim_of(oc_str(name->name, strlen(name->name)), &prim))
        f->name[f->n_name++] = (struct oc_formula_name){
            .name = name->name, .expr = is_given ? NULL : name->text, .value = v, .known = known};
}

const char *oc_formula_text(const struct oc_op *op)
{
    return op->formula;
}

int oc_formula_read(struct oc_op_ctx *c, struct oc_formula *out)
{
    if (oc_is_user_op(c->op))
        return oc_user_formula_read(c, out);
    struct oc_op_ctx own = *c; /* the marks of the cost stage are unchanged */
    struct oc_err unused = {0};
    const struct oc_formula_code *code = code_of(c);
    struct oc_count_env env;
    own.err = &unused;
    start(&env, &own, code);
    out->n_term = out->n_name = 0;
    for (unsigned i = 0; !code->bad && i < code->n_amount; i++) {
        add_terms(&env, out, &code->amount[i]);
        list_names(&env, out, code->amount[i].n);
    }
    return code->bad ? -1 : 0;
}
