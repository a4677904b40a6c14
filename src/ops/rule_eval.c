/* Evaluates expression trees of user rules for a node. Sizes stay oc_dim, so that unknown ones give
 * expressions and bounds. */
#include <string.h>

#include "ops/user_rules.h"
#include "ops/shared_rules.h"

static int rule_eval_number(struct oc_rule_env *env, const struct oc_rule_expr *e, struct oc_dim *out);

/* ---- tensors ------------------------------------------------------------------------------------------ */

static const struct oc_type *rule_eval_tensor(const struct oc_rule_env *env, const struct oc_rule_expr *e)
{
    return e->is_out ? oc_out(env->c, e->slot) : oc_in(env->c, e->slot);
}

static const char *tensor_name(const struct oc_rule_env *env, const struct oc_rule_expr *e)
{
    return oc_printf(env->c->arena, "%s%u", e->is_out ? "out" : "in", e->slot);
}

/* The shape, or NULL if the rank is unknown. */
static const struct oc_shape *ranked(const struct oc_type *t)
{
    return t && (t->kind == OC_T_TENSOR || t->kind == OC_T_SPARSE) && t->shape.ranked ? &t->shape : NULL;
}

static int require_known(const struct oc_rule_env *env, const struct oc_rule_expr *e)
{
    return rule_eval_tensor(env, e) ? 0 : oc_op_fail(env->c, "%s is absent", tensor_name(env, e));
}

/* An unknown number, printed as its expression. */
static struct oc_dim fresh_dim(struct oc_rule_env *env, const struct oc_rule_expr *e, int64_t max)
{
    struct oc_buf text = {.max = 4096};
    oc_rule_print_names(e, &text);
    struct oc_dim d = oc_op_fresh_dim(env->c, text.data ? text.data : "?", max);
    oc_buf_free(&text);
    return d;
}

/* A number that must be known: an index. Returns 0 and sets *known, or -1. */
static int rule_eval_index_of(struct oc_rule_env *env, const struct oc_rule_expr *e, int64_t *v, bool *known)
{
    struct oc_dim d;
    if (rule_eval_number(env, e, &d))
        return -1;
    *known = oc_is_known(d);
    *v = d.v;
    return 0;
}

static int rule_eval_size(struct oc_rule_env *env, const struct oc_rule_expr *e, struct oc_dim *out)
{
    int64_t at;
    bool known;
    unsigned axis;
    if (require_known(env, e) || rule_eval_index_of(env, e->a, &at, &known))
        return -1;
    const struct oc_shape *s = ranked(rule_eval_tensor(env, e));
    if (!s || !known) {
        *out = fresh_dim(env, e, -1);
        return 0;
    }
    if (!oc_axis(at, s->rank, &axis))
        return oc_op_fail(env->c, "%s has no axis %lld: its rank is %u", tensor_name(env, e), (long long)at,
                          s->rank);
    *out = s->dim[axis];
    return 0;
}

/* The axes in[a:b]. 1: known, 0: unknown, -1: out of range. */
static int rule_eval_range(struct oc_rule_env *env, const struct oc_rule_expr *e, unsigned *first,
                           unsigned *last)
{
    int64_t from = 0, to = 0;
    bool from_known = true, to_known = true;
    if (require_known(env, e) || (e->a && rule_eval_index_of(env, e->a, &from, &from_known)) ||
        (e->b && rule_eval_index_of(env, e->b, &to, &to_known)))
        return -1;
    const struct oc_shape *s = ranked(rule_eval_tensor(env, e));
    if (!s || !from_known || !to_known)
        return 0;
    int64_t n = s->rank, begin = from < 0 ? from + n : from, end = !e->b ? n : to < 0 ? to + n : to;
    if (begin < 0 || end > n || begin > end)
        return oc_op_fail(env->c, "%s has no axes %lld to %lld: its rank is %u", tensor_name(env, e),
                          (long long)from, (long long)(e->b ? to : n), s->rank);
    *first = (unsigned)begin;
    *last = (unsigned)end;
    return 1;
}

static int rule_eval_product(struct oc_rule_env *env, const struct oc_rule_expr *e, struct oc_dim *out)
{
    unsigned first = 0, last = 0;
    int known = rule_eval_range(env, e, &first, &last);
    if (known < 0)
        return -1;
    *out = known ? oc_shape_count_range(env->c->exprs, ranked(rule_eval_tensor(env, e)), first, last)
                 : fresh_dim(env, e, -1);
    return 0;
}

static int rule_eval_rank(struct oc_rule_env *env, const struct oc_rule_expr *e, struct oc_dim *out)
{
    if (require_known(env, e))
        return -1;
    const struct oc_shape *s = ranked(rule_eval_tensor(env, e));
    *out = s ? oc_known(s->rank) : fresh_dim(env, e, OC_MAX_RANK);
    return 0;
}

static int rule_eval_elements(struct oc_rule_env *env, const struct oc_rule_expr *e, struct oc_dim *out)
{
    const struct oc_type *t = rule_eval_tensor(env, e);
    const struct oc_shape *s = ranked(t);
    *out = s ? oc_shape_count(env->c->exprs, s) : t ? fresh_dim(env, e, -1) : oc_known(0);
    return 0;
}

static int rule_eval_bytes(struct oc_rule_env *env, const struct oc_rule_expr *e, struct oc_dim *out)
{
    const struct oc_type *t = rule_eval_tensor(env, e);
    if (t && (!ranked(t) || t->dtype == OC_DT_UNDEFINED)) {
        *out = fresh_dim(env, e, -1);
        return 0;
    }
    rule_eval_elements(env, e, out);
    if (!t)
        return 0;
    struct oc_dim bits = oc_dim_mul(env->c->exprs, *out, oc_known(oc_dtype_info(t->dtype)->bits));
    *out = oc_dim_ceildiv(env->c->exprs, bits, oc_known(8));
    return 0;
}

static int rule_eval_has(struct oc_rule_env *env, const struct oc_rule_expr *e, struct oc_dim *out)
{
    *out = oc_known(rule_eval_tensor(env, e) != NULL);
    return 0;
}

/* ---- values ------------------------------------------------------------------------------------------- */

static bool rule_eval_element(const struct oc_elem *e, struct oc_dim *out)
{
    bool whole = e->kind == OC_E_REAL && e->r >= -9e15 && e->r <= 9e15 && (double)(int64_t)e->r == e->r;
    if (whole)
        *out = oc_known((int64_t)e->r);
    else if (e->kind == OC_E_INT)
        *out = e->i;
    return whole || e->kind == OC_E_INT;
}

static int rule_eval_value(struct oc_rule_env *env, const struct oc_rule_expr *e, struct oc_dim *out)
{
    int64_t at = 0;
    bool known = true;
    if (require_known(env, e) || (e->a && rule_eval_index_of(env, e->a, &at, &known)))
        return -1;
    const struct oc_data *d = oc_in_value(env->c, e->slot);
    if (d && !e->a && d->n != 1)
        return oc_op_fail(env->c, "%s has %u elements, expected one", tensor_name(env, e), d->n);
    if (d && known && (at < 0 || at >= d->n))
        return oc_op_fail(env->c, "%s: element %lld is out of range, it has %u", tensor_name(env, e),
                          (long long)at, d->n);
    if (!d || !known || !rule_eval_element(&d->e[at], out))
        *out = fresh_dim(env, e, -1);
    return 0;
}

/* ---- attributes --------------------------------------------------------------------------------------- */

static const struct oc_attr *rule_eval_attribute(const struct oc_rule_env *env, const char *name)
{
    const struct oc_attr *a = oc_node_attr(env->c->node, name);
    return a && a->type != OC_ATTR_NONE ? a : NULL;
}

static int rule_eval_to_integer(const struct oc_rule_env *env, const char *name, double v, struct oc_dim *out)
{
    if (!(v >= -9e15 && v <= 9e15) || (double)(int64_t)v != v)
        return oc_op_fail(env->c, "attribute '%.60s' is %g, not a whole number", name, v);
    *out = oc_known((int64_t)v);
    return 0;
}

static int absent(struct oc_rule_env *env, const struct oc_rule_expr *e, struct oc_dim *out)
{
    return e->b ? rule_eval_number(env, e->b, out)
                : oc_op_fail(env->c, "the node has no attribute '%.60s'", e->text);
}

static int attr(struct oc_rule_env *env, const struct oc_rule_expr *e, struct oc_dim *out)
{
    const struct oc_attr *a = rule_eval_attribute(env, e->text);
    if (!a)
        return absent(env, e, out);
    if (a->type == OC_ATTR_FLOAT)
        return rule_eval_to_integer(env, e->text, (double)a->f, out);
    if (a->type != OC_ATTR_INT)
        return oc_op_fail(env->c, "attribute '%.60s' is not an integer", e->text);
    *out = oc_known(a->i);
    return 0;
}

static bool is_list(const struct oc_attr *a)
{
    return a->type == OC_ATTR_INTS || a->type == OC_ATTR_FLOATS;
}

static int rule_eval_attr_item(struct oc_rule_env *env, const struct oc_rule_expr *e, struct oc_dim *out)
{
    const struct oc_attr *a = rule_eval_attribute(env, e->text);
    int64_t at;
    bool known;
    if (!a)
        return absent(env, e, out);
    if (!is_list(a))
        return oc_op_fail(env->c, "attribute '%.60s' is not a list of numbers", e->text);
    if (rule_eval_index_of(env, e->a, &at, &known))
        return -1;
    if (!known) {
        *out = fresh_dim(env, e, -1);
        return 0;
    }
    at += at < 0 ? (int64_t)a->n : 0;
    if (at < 0 || at >= a->n)
        return oc_op_fail(env->c, "attribute '%.60s' has %u elements", e->text, a->n);
    if (a->type == OC_ATTR_FLOATS)
        return rule_eval_to_integer(env, e->text, (double)a->floats[at], out);
    *out = oc_known(a->ints[at]);
    return 0;
}

static int attr_len(struct oc_rule_env *env, const struct oc_rule_expr *e, struct oc_dim *out)
{
    const struct oc_attr *a = rule_eval_attribute(env, e->text);
    *out = oc_known(a ? a->n : 0);
    return a && !is_list(a) && a->type != OC_ATTR_STRINGS
               ? oc_op_fail(env->c, "attribute '%.60s' is not a list", e->text)
               : 0;
}

static int attr_is(struct oc_rule_env *env, const struct oc_rule_expr *e, struct oc_dim *out)
{
    const struct oc_attr *a = rule_eval_attribute(env, e->text);
    if (a && a->type != OC_ATTR_STRING)
        return oc_op_fail(env->c, "attribute '%.60s' is not a string", e->text);
    if (!a && !e->otherwise)
        return oc_op_fail(env->c, "the node has no attribute '%.60s'", e->text);
    size_t n = strlen(e->word);
    bool same = a ? a->s.n == n && memcmp(a->s.s, e->word, n) == 0 : strcmp(e->otherwise, e->word) == 0;
    *out = oc_known(same != (e->number != 0));
    return 0;
}

/* ---- arithmetic --------------------------------------------------------------------------------------- */

static int eval_let(struct oc_rule_env *env, const struct oc_rule_expr *e, struct oc_dim *out)
{
    size_t i = (size_t)e->number;
    if (!env->done[i] && rule_eval_number(env, env->let[i].expr, &env->value[i]))
        return -1;
    env->done[i] = true;
    *out = env->value[i];
    return 0;
}

static int logarithm(struct oc_rule_env *env, const struct oc_rule_expr *e, struct oc_dim *out)
{
    struct oc_dim a;
    if (rule_eval_number(env, e->a, &a))
        return -1;
    int64_t max = oc_dim_max_value(env->c->exprs, a);
    if (oc_is_known(a))
        *out = oc_known(oc_clog2(a.v > 0 ? (uint64_t)a.v : 0));
    else
        *out = fresh_dim(env, e, max < 0 ? 63 : (int64_t)oc_clog2((uint64_t)max));
    return 0;
}

typedef struct oc_dim operation(struct oc_exprs *, struct oc_dim, struct oc_dim);

static operation *const operations[] = {
    [R_ADD] = oc_dim_add,      [R_SUB] = oc_dim_sub, [R_MUL] = oc_dim_mul, [R_DIV] = oc_dim_floordiv,
    [R_CEIL] = oc_dim_ceildiv, [R_MOD] = oc_dim_mod, [R_MIN] = oc_dim_min, [R_MAX] = oc_dim_max,
};

static int rule_eval_binary(struct oc_rule_env *env, const struct oc_rule_expr *e, struct oc_dim *out)
{
    struct oc_dim a, b;
    if (rule_eval_number(env, e->a, &a) || rule_eval_number(env, e->b, &b))
        return -1;
    bool divides = e->kind == R_DIV || e->kind == R_CEIL || e->kind == R_MOD;
    if (divides && oc_is_known(b) && b.v <= 0)
        return oc_op_fail(env->c, "division by %lld", (long long)b.v);
    *out = operations[e->kind](env->c->exprs, a, b);
    return 0;
}

/* 1, 0, or -1 where the ranges do not decide. */
static int compare_less(struct oc_exprs *x, struct oc_dim a, struct oc_dim b)
{
    struct oc_dim d = oc_dim_sub(x, a, b);
    if (oc_is_known(d))
        return d.v < 0;
    int64_t max = oc_dim_max_value(x, a);
    if (oc_dim_min_value(x, d) >= 0)
        return 0;
    return max >= 0 && max < oc_dim_min_value(x, b) ? 1 : -1;
}

static int rule_eval_equal(struct oc_exprs *x, struct oc_dim a, struct oc_dim b)
{
    struct oc_dim d = oc_dim_sub(x, a, b);
    if (oc_is_known(d))
        return d.v == 0;
    return compare_less(x, a, b) == 1 || compare_less(x, b, a) == 1 ? 0 : -1;
}

static int opposite(int answer)
{
    return answer < 0 ? answer : !answer;
}

static int rule_eval_compare(struct oc_rule_env *env, const struct oc_rule_expr *e, struct oc_dim *out)
{
    struct oc_exprs *x = env->c->exprs;
    struct oc_dim a, b;
    if (rule_eval_number(env, e->a, &a) || rule_eval_number(env, e->b, &b))
        return -1;
    int answer = e->kind == R_EQ   ? rule_eval_equal(x, a, b)
                 : e->kind == R_NE ? opposite(rule_eval_equal(x, a, b))
                 : e->kind == R_LT ? compare_less(x, a, b)
                 : e->kind == R_GT ? compare_less(x, b, a)
                 : e->kind == R_LE ? opposite(compare_less(x, b, a))
                                   : opposite(compare_less(x, a, b));
    *out = answer < 0 ? fresh_dim(env, e, 1) : oc_known(answer);
    return 0;
}

static int eval_either(struct oc_rule_env *env, const struct oc_rule_expr *e, struct oc_dim *out)
{
    struct oc_dim when, b, c;
    if (rule_eval_number(env, e->a, &when))
        return -1;
    if (oc_is_known(when))
        return rule_eval_number(env, when.v ? e->b : e->c, out);
    if (rule_eval_number(env, e->b, &b) || rule_eval_number(env, e->c, &c))
        return -1;
    int64_t max_b = oc_dim_max_value(env->c->exprs, b), max_c = oc_dim_max_value(env->c->exprs, c);
    int64_t max = max_b < 0 || max_c < 0 ? -1 : max_b > max_c ? max_b : max_c;
    *out = oc_same_dim(b, c) ? b : fresh_dim(env, e, max);
    return 0;
}

static int negative(struct oc_rule_env *env, const struct oc_rule_expr *e, struct oc_dim *out)
{
    struct oc_dim a;
    if (rule_eval_number(env, e->a, &a))
        return -1;
    *out = oc_dim_sub(env->c->exprs, oc_known(0), a);
    return 0;
}

static int constant(struct oc_rule_env *env, const struct oc_rule_expr *e, struct oc_dim *out)
{
    (void)env;
    *out = oc_known(e->number);
    return 0;
}

typedef int rule_fn(struct oc_rule_env *, const struct oc_rule_expr *, struct oc_dim *);

static rule_fn *const rules[] = {
    [R_NUMBER] = constant,
    [R_PRODUCT] = rule_eval_product,
    [R_LET] = eval_let,
    [R_SIZE] = rule_eval_size,
    [R_ELEMENTS] = rule_eval_elements,
    [R_RANK] = rule_eval_rank,
    [R_BYTES] = rule_eval_bytes,
    [R_HAS] = rule_eval_has,
    [R_VALUE] = rule_eval_value,
    [R_ATTR] = attr,
    [R_ATTR_IS] = attr_is,
    [R_ATTR_ITEM] = rule_eval_attr_item,
    [R_ATTR_LEN] = attr_len,
    [R_NEG] = negative,
    [R_CLOG2] = logarithm,
    [R_ADD] = rule_eval_binary,
    [R_SUB] = rule_eval_binary,
    [R_MUL] = rule_eval_binary,
    [R_DIV] = rule_eval_binary,
    [R_CEIL] = rule_eval_binary,
    [R_MOD] = rule_eval_binary,
    [R_MIN] = rule_eval_binary,
    [R_MAX] = rule_eval_binary,
    [R_EQ] = rule_eval_compare,
    [R_NE] = rule_eval_compare,
    [R_LT] = rule_eval_compare,
    [R_LE] = rule_eval_compare,
    [R_GT] = rule_eval_compare,
    [R_GE] = rule_eval_compare,
    [R_IF] = eval_either,
};

static int rule_eval_number(struct oc_rule_env *env, const struct oc_rule_expr *e, struct oc_dim *out)
{
    return rules[e->kind](env, e, out);
}

int oc_rule_number(struct oc_rule_env *env, const struct oc_rule_expr *e, struct oc_dim *out)
{
    return rule_eval_number(env, e, out);
}

/* ---- shapes ------------------------------------------------------------------------------------------- */

/* A shape under construction. */
struct builder {
    struct oc_dim dim[OC_MAX_RANK];
    unsigned rank;
    bool unranked;
};

static int rule_eval_add_dims(struct oc_rule_env *env, struct builder *b, const struct oc_dim *dim,
                              unsigned n)
{
    if (b->rank + n > OC_MAX_RANK)
        return oc_op_fail(env->c, "a shape of more than %d axes", OC_MAX_RANK);
    for (unsigned i = 0; i < n; i++)
        b->dim[b->rank++] = dim[i];
    return 0;
}

static int rule_eval_add_list(struct oc_rule_env *env, const struct oc_rule_expr *e, struct builder *b)
{
    for (unsigned i = 0; i < e->n_item; i++) {
        struct oc_dim d;
        if (rule_eval_number(env, e->item[i], &d) || rule_eval_add_dims(env, b, &d, 1))
            return -1;
    }
    return 0;
}

static int add_axes(struct oc_rule_env *env, const struct oc_rule_expr *e, struct builder *b)
{
    unsigned first = 0, last = 0;
    int known = rule_eval_range(env, e, &first, &last);
    if (known == 0)
        b->unranked = true;
    return known <= 0
               ? known
               : rule_eval_add_dims(env, b, ranked(rule_eval_tensor(env, e))->dim + first, last - first);
}

static int rule_eval_add_values(struct oc_rule_env *env, const struct oc_rule_expr *e, struct builder *b)
{
    if (require_known(env, e))
        return -1;
    const struct oc_shape *s = ranked(rule_eval_tensor(env, e));
    const struct oc_data *d = oc_in_value(env->c, e->slot);
    if (s && s->rank > 1)
        return oc_op_fail(env->c, "%s is not one-dimensional", tensor_name(env, e));
    bool counted = s && (s->rank == 0 || oc_is_known(s->dim[0]));
    if (!d && !counted) {
        b->unranked = true;
        return 0;
    }
    int64_t n = d ? d->n : s->rank ? s->dim[0].v : 1;
    if (n < 0 || n > OC_MAX_RANK)
        return oc_op_fail(env->c, "a shape of more than %d axes", OC_MAX_RANK);
    for (unsigned i = 0; i < (unsigned)n; i++) {
        struct oc_dim v;
        if (!d || !rule_eval_element(&d->e[i], &v))
            v = oc_op_fresh_dim(env->c, oc_printf(env->c->arena, "value(%s, %u)", tensor_name(env, e), i),
                                -1);
        if (rule_eval_add_dims(env, b, &v, 1))
            return -1;
    }
    return 0;
}

static int add_broadcast(struct oc_rule_env *env, const struct oc_rule_expr *e, struct builder *b)
{
    struct oc_op_ctx *c = env->c;
    struct oc_shape all = oc_shape_scalar(), both;
    for (unsigned i = 0; i < e->n_item; i++) {
        const struct oc_type *t = rule_eval_tensor(env, e->item[i]);
        if (!t)
            continue;
        const struct oc_shape *s = ranked(t);
        if (!s) {
            b->unranked = true;
            return 0;
        }
        if (oc_broadcast(c->arena, c->exprs, &all, s, &both, NULL))
            return oc_op_fail(c, "shapes {%s} and {%s} do not broadcast", oc_text_of(c, &all),
                              oc_text_of(c, s));
        all = both;
    }
    return rule_eval_add_dims(env, b, all.dim, all.rank);
}

int oc_rule_shape(struct oc_rule_env *env, const struct oc_rule_expr *e, struct oc_shape *out)
{
    struct builder b = {.rank = 0};
    for (unsigned i = 0; i < e->n_item; i++) {
        const struct oc_rule_expr *part = e->item[i];
        int rc = part->kind == R_LIST        ? rule_eval_add_list(env, part, &b)
                 : part->kind == R_AXES      ? add_axes(env, part, &b)
                 : part->kind == R_VALUES    ? rule_eval_add_values(env, part, &b)
                 : part->kind == R_BROADCAST ? add_broadcast(env, part, &b)
                                             : oc_op_fail(env->c, "not a shape");
        if (rc)
            return -1;
    }
    *out = b.unranked ? oc_shape_unranked() : oc_shape_of(env->c->arena, b.rank, b.dim);
    return 0;
}

/* ---- types -------------------------------------------------------------------------------------------- */

int oc_rule_dtype(struct oc_rule_env *env, const struct oc_rule_expr *e, unsigned *out)
{
    if (e->kind == R_DTYPE_OF) {
        const struct oc_type *t = rule_eval_tensor(env, e);
        *out = t && (t->kind == OC_T_TENSOR || t->kind == OC_T_SPARSE) ? t->dtype : OC_DT_UNDEFINED;
        return require_known(env, e);
    }
    int64_t code = e->number;
    const struct oc_attr *a = e->kind == R_DTYPE_ATTR ? rule_eval_attribute(env, e->text) : NULL;
    if (a && a->type != OC_ATTR_INT)
        return oc_op_fail(env->c, "attribute '%.60s' is not an integer", e->text);
    code = a ? a->i : code;
    if (code < 0 && !a)
        return oc_op_fail(env->c, "the node has no attribute '%.60s'", e->text);
    if (code <= OC_DT_UNDEFINED || code >= OC_DT_COUNT)
        return oc_op_fail(env->c, "%lld is not an element type", (long long)code);
    *out = (unsigned)code;
    return 0;
}

/* ---- printing ----------------------------------------------------------------------------------------- */

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

static void rule_eval_print(struct printer *p, const struct oc_rule_expr *e, unsigned level);

static void print_call(struct printer *p, const char *name, const struct oc_rule_expr *a,
                       const struct oc_rule_expr *b, const struct oc_rule_expr *c)
{
    const struct oc_rule_expr *list[] = {a, b, c};
    oc_buf_printf(p->out, "%s(", name);
    for (unsigned i = 0; i < OC_COUNT(list) && list[i]; i++) {
        oc_buf_str(p->out, i ? ", " : "");
        rule_eval_print(p, list[i], 0);
    }
    oc_buf_char(p->out, ')');
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
        rule_eval_print(p, e->a, 0);
        oc_buf_char(p->out, ']');
        break;
    case R_PRODUCT:
        oc_buf_printf(p->out, "%s%u[", tensor, e->slot);
        if (e->a)
            rule_eval_print(p, e->a, 0);
        oc_buf_char(p->out, ':');
        if (e->b)
            rule_eval_print(p, e->b, 0);
        oc_buf_char(p->out, ']');
        break;
    case R_ATTR:
    case R_ATTR_ITEM:
        oc_buf_printf(p->out, "attr.%s", e->text);
        if (e->kind == R_ATTR_ITEM) {
            oc_buf_char(p->out, '[');
            rule_eval_print(p, e->a, 0);
            oc_buf_char(p->out, ']');
        }
        if (e->b) { /* the default */
            oc_buf_char(p->out, '|');
            rule_eval_print(p, e->b, 5);
        }
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
            rule_eval_print(p, e->a, 0);
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
    rule_eval_print(p, e->a, own);
    oc_buf_str(p->out, signs[e->kind].text);
    rule_eval_print(p, e->b, own + 1);
    oc_buf_str(p->out, own < level ? ")" : "");
}

static void rule_eval_print(struct printer *p, const struct oc_rule_expr *e, unsigned level)
{
    switch (e->kind) { /* NOLINT(clang-analyzer-core.NullDereference): operators have their operands */
    case R_NUMBER:
        oc_buf_printf(p->out, "%lld", (long long)e->number);
        break;
    case R_NEG:
        oc_buf_char(p->out, '-');
        rule_eval_print(p, e->a, 4);
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
    rule_eval_print(&(struct printer){.env = env, .out = out}, e, 0);
}

void oc_rule_print_names(const struct oc_rule_expr *e, struct oc_buf *out)
{
    rule_eval_print(&(struct printer){.out = out}, e, 0);
}
