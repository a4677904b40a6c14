/* What the formula language says of a node: the leaves of expressions (sizes, values, attributes) for the evaluator of
 * dimensions, and the shapes and types of user rules. Sizes stay oc_dim, so that unknown ones give expressions and
 * bounds. */
#include <string.h>

#include "ops/user_rules.h"
#include "ops/shared_rules.h"

static struct oc_op_ctx *ctx(const struct oc_dim_env *env)
{
    return env->of;
}

/* ---- tensors ------------------------------------------------------------------------------------------ */

static const struct oc_type *rule_eval_tensor(const struct oc_dim_env *env, const struct oc_expr *e)
{
    return e->is_out ? oc_out(ctx(env), e->slot) : oc_in(ctx(env), e->slot);
}

static const char *tensor_name(const struct oc_dim_env *env, const struct oc_expr *e)
{
    return oc_printf(ctx(env)->arena, "%s%u", e->is_out ? "out" : "in", e->slot);
}

/* The shape, or NULL if the rank is unknown. */
static const struct oc_shape *ranked(const struct oc_type *t)
{
    return t && (t->kind == OC_T_TENSOR || t->kind == OC_T_SPARSE) && t->shape.ranked ? &t->shape : NULL;
}

static int require_known(const struct oc_dim_env *env, const struct oc_expr *e)
{
    return rule_eval_tensor(env, e) ? 0 : oc_op_fail(ctx(env), "%s is absent", tensor_name(env, e));
}

/* A number that must be known: an index. Returns 0 and sets *known, or -1. */
static int rule_eval_index_of(struct oc_dim_env *env, const struct oc_expr *e, int64_t *v, bool *known)
{
    struct oc_dim d;
    if (oc_expr_dim(env, e, &d))
        return -1;
    *known = oc_is_known(d);
    *v = d.v;
    return 0;
}

static int rule_eval_size(struct oc_dim_env *env, const struct oc_expr *e, struct oc_dim *out)
{
    int64_t at;
    bool known;
    unsigned axis;
    if (require_known(env, e) || rule_eval_index_of(env, e->a, &at, &known))
        return -1;
    const struct oc_shape *s = ranked(rule_eval_tensor(env, e));
    if (!s || !known) {
        *out = oc_expr_fresh(env, e, -1);
        return 0;
    }
    if (!oc_axis(at, s->rank, &axis))
        return oc_op_fail(ctx(env), "%s has no axis %lld: its rank is %u", tensor_name(env, e), (long long)at,
                          s->rank);
    *out = s->dim[axis];
    return 0;
}

/* The axes in[a:b]. 1: known, 0: unknown, -1: out of range. */
static int rule_eval_range(struct oc_dim_env *env, const struct oc_expr *e, unsigned *first, unsigned *last)
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
        return oc_op_fail(ctx(env), "%s has no axes %lld to %lld: its rank is %u", tensor_name(env, e),
                          (long long)from, (long long)(e->b ? to : n), s->rank);
    *first = (unsigned)begin;
    *last = (unsigned)end;
    return 1;
}

static int rule_eval_product(struct oc_dim_env *env, const struct oc_expr *e, struct oc_dim *out)
{
    unsigned first = 0, last = 0;
    int known = rule_eval_range(env, e, &first, &last);
    if (known < 0)
        return -1;
    *out = known ? oc_shape_count_range(env->exprs, ranked(rule_eval_tensor(env, e)), first, last)
                 : oc_expr_fresh(env, e, -1);
    return 0;
}

static int rule_eval_rank(struct oc_dim_env *env, const struct oc_expr *e, struct oc_dim *out)
{
    if (require_known(env, e))
        return -1;
    const struct oc_shape *s = ranked(rule_eval_tensor(env, e));
    *out = s ? oc_known(s->rank) : oc_expr_fresh(env, e, OC_MAX_RANK);
    return 0;
}

static int rule_eval_elements(struct oc_dim_env *env, const struct oc_expr *e, struct oc_dim *out)
{
    const struct oc_type *t = rule_eval_tensor(env, e);
    const struct oc_shape *s = ranked(t);
    *out = s ? oc_shape_count(env->exprs, s) : t ? oc_expr_fresh(env, e, -1) : oc_known(0);
    return 0;
}

static int rule_eval_bytes(struct oc_dim_env *env, const struct oc_expr *e, struct oc_dim *out)
{
    const struct oc_type *t = rule_eval_tensor(env, e);
    if (t && (!ranked(t) || t->dtype == OC_DT_UNDEFINED)) {
        *out = oc_expr_fresh(env, e, -1);
        return 0;
    }
    rule_eval_elements(env, e, out);
    if (!t)
        return 0;
    struct oc_dim bits = oc_dim_mul(env->exprs, *out, oc_known(oc_dtype_info(t->dtype)->bits));
    *out = oc_dim_ceildiv(env->exprs, bits, oc_known(8));
    return 0;
}

static int rule_eval_has(struct oc_dim_env *env, const struct oc_expr *e, struct oc_dim *out)
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

static int rule_eval_value(struct oc_dim_env *env, const struct oc_expr *e, struct oc_dim *out)
{
    int64_t at = 0;
    bool known = true;
    if (require_known(env, e) || (e->a && rule_eval_index_of(env, e->a, &at, &known)))
        return -1;
    const struct oc_data *d = oc_in_value(ctx(env), e->slot);
    if (d && !e->a && d->n != 1)
        return oc_op_fail(ctx(env), "%s has %u elements, expected one", tensor_name(env, e), d->n);
    if (d && known && (at < 0 || at >= d->n))
        return oc_op_fail(ctx(env), "%s: element %lld is out of range, it has %u", tensor_name(env, e),
                          (long long)at, d->n);
    if (!d || !known || !rule_eval_element(&d->e[at], out))
        *out = oc_expr_fresh(env, e, -1);
    return 0;
}

/* ---- attributes --------------------------------------------------------------------------------------- */

static const struct oc_attr *rule_eval_attribute(const struct oc_dim_env *env, const char *name)
{
    const struct oc_attr *a = oc_node_attr(ctx(env)->node, name);
    if (ctx(env)->reads_more)
        *ctx(env)->reads_more = true;
    return a && a->type != OC_ATTR_NONE ? a : NULL;
}

static int rule_eval_to_integer(const struct oc_dim_env *env, const char *name, double v, struct oc_dim *out)
{
    if (!(v >= -9e15 && v <= 9e15) || (double)(int64_t)v != v)
        return oc_op_fail(ctx(env), "attribute '%.60s' is %g, not a whole number", name, v);
    *out = oc_known((int64_t)v);
    return 0;
}

static int absent(struct oc_dim_env *env, const struct oc_expr *e, struct oc_dim *out)
{
    return e->b ? oc_expr_dim(env, e->b, out)
                : oc_op_fail(ctx(env), "the node has no attribute '%.60s'", e->text);
}

static int attr(struct oc_dim_env *env, const struct oc_expr *e, struct oc_dim *out)
{
    const struct oc_attr *a = rule_eval_attribute(env, e->text);
    if (!a)
        return absent(env, e, out);
    if (a->type == OC_ATTR_FLOAT)
        return rule_eval_to_integer(env, e->text, (double)a->f, out);
    if (a->type != OC_ATTR_INT)
        return oc_op_fail(ctx(env), "attribute '%.60s' is not an integer", e->text);
    *out = oc_known(a->i);
    return 0;
}

static bool is_list(const struct oc_attr *a)
{
    return a->type == OC_ATTR_INTS || a->type == OC_ATTR_FLOATS;
}

static int rule_eval_attr_item(struct oc_dim_env *env, const struct oc_expr *e, struct oc_dim *out)
{
    const struct oc_attr *a = rule_eval_attribute(env, e->text);
    int64_t at;
    bool known;
    if (!a)
        return absent(env, e, out);
    if (!is_list(a))
        return oc_op_fail(ctx(env), "attribute '%.60s' is not a list of numbers", e->text);
    if (rule_eval_index_of(env, e->a, &at, &known))
        return -1;
    if (!known) {
        *out = oc_expr_fresh(env, e, -1);
        return 0;
    }
    at += at < 0 ? (int64_t)a->n : 0;
    if (at < 0 || at >= a->n)
        return oc_op_fail(ctx(env), "attribute '%.60s' has %u elements", e->text, a->n);
    if (a->type == OC_ATTR_FLOATS)
        return rule_eval_to_integer(env, e->text, (double)a->floats[at], out);
    *out = oc_known(a->ints[at]);
    return 0;
}

static int attr_len(struct oc_dim_env *env, const struct oc_expr *e, struct oc_dim *out)
{
    const struct oc_attr *a = rule_eval_attribute(env, e->text);
    *out = oc_known(a ? a->n : 0);
    return a && !is_list(a) && a->type != OC_ATTR_STRINGS
               ? oc_op_fail(ctx(env), "attribute '%.60s' is not a list", e->text)
               : 0;
}

static int attr_is(struct oc_dim_env *env, const struct oc_expr *e, struct oc_dim *out)
{
    const struct oc_attr *a = rule_eval_attribute(env, e->text);
    if (a && a->type != OC_ATTR_STRING)
        return oc_op_fail(ctx(env), "attribute '%.60s' is not a string", e->text);
    if (!a && !e->otherwise)
        return oc_op_fail(ctx(env), "the node has no attribute '%.60s'", e->text);
    size_t n = strlen(e->word);
    bool same = a ? a->s.n == n && memcmp(a->s.s, e->word, n) == 0 : strcmp(e->otherwise, e->word) == 0;
    *out = oc_known(same != (e->number != 0));
    return 0;
}

/* [alpha:1 != 1]: whatever the type of the attribute. */
static int attr_test(struct oc_dim_env *env, const struct oc_expr *e, struct oc_dim *out)
{
    const struct oc_attr *a = rule_eval_attribute(env, e->text);
    size_t n = strlen(e->word);
    bool same = !a                          ? strcmp(e->otherwise, e->word) == 0
                : a->type == OC_ATTR_STRING ? a->s.n == n && memcmp(a->s.s, e->word, n) == 0
                : !e->word_is_whole         ? false
                : a->type == OC_ATTR_FLOAT  ? a->f == (float)e->value
                                            : a->type == OC_ATTR_INT && a->i == e->value;
    *out = oc_known(same != (e->number != 0));
    return 0;
}

static int of_context(struct oc_dim_env *env, const struct oc_expr *e, struct oc_dim *out)
{
    *out = oc_known(e->kind == OC_X_STRICT ? ctx(env)->opt.strict_reduce : ctx(env)->n_in);
    return 0;
}

int oc_rule_leaf(struct oc_dim_env *env, const struct oc_expr *e, struct oc_dim *out)
{
    static int (*const leaf[])(struct oc_dim_env *, const struct oc_expr *, struct oc_dim *) = {
        [OC_X_SIZE] = rule_eval_size,
        [OC_X_PRODUCT] = rule_eval_product,
        [OC_X_ELEMENTS] = rule_eval_elements,
        [OC_X_RANK] = rule_eval_rank,
        [OC_X_BYTES] = rule_eval_bytes,
        [OC_X_HAS] = rule_eval_has,
        [OC_X_VALUE] = rule_eval_value,
        [OC_X_ATTR] = attr,
        [OC_X_ATTR_ITEM] = rule_eval_attr_item,
        [OC_X_ATTR_LEN] = attr_len,
        [OC_X_ATTR_IS] = attr_is,
        [OC_X_ATTR_TEST] = attr_test,
        [OC_X_STRICT] = of_context,
        [OC_X_INPUTS] = of_context,
    };
    return leaf[e->kind](env, e, out);
}

static struct oc_dim fresh_of_node(struct oc_dim_env *env, const char *text, int64_t max)
{
    return oc_op_fresh_dim(ctx(env), text, max);
}

struct oc_dim_env oc_rule_env(struct oc_op_ctx *c, const struct oc_expr_name *name)
{
    return (struct oc_dim_env){.exprs = c->exprs,
                               .err = c->err,
                               .name = name,
                               .of = c,
                               .leaf = oc_rule_leaf,
                               .fresh = fresh_of_node};
}

/* The value of a name; failures print as unknown, the rule itself has reported them. */
static void print_value(void *of, const struct oc_expr *e, struct oc_buf *out)
{
    struct oc_dim d;
    if (oc_expr_dim(of, e, &d) || !oc_is_known(d))
        oc_buf_char(out, '?');
    else
        oc_buf_printf(out, "%lld", (long long)d.v);
}

void oc_rule_print_numbers(struct oc_dim_env *env, const struct oc_expr *e, struct oc_buf *out)
{
    struct oc_op_ctx *c = ctx(env);
    struct oc_err *err = c->err, unused = {0};
    env->err = c->err = &unused;
    oc_expr_print_numbers(e, print_value, env, out);
    env->err = c->err = err;
}

/* ---- shapes ------------------------------------------------------------------------------------------- */

/* A shape under construction. */
struct builder {
    struct oc_dim dim[OC_MAX_RANK];
    unsigned rank;
    bool unranked;
};

static int rule_eval_add_dims(struct oc_dim_env *env, struct builder *b, const struct oc_dim *dim, unsigned n)
{
    if (b->rank + n > OC_MAX_RANK)
        return oc_op_fail(ctx(env), "a shape of more than %d axes", OC_MAX_RANK);
    for (unsigned i = 0; i < n; i++)
        b->dim[b->rank++] = dim[i];
    return 0;
}

static int rule_eval_add_list(struct oc_dim_env *env, const struct oc_expr *e, struct builder *b)
{
    for (unsigned i = 0; i < e->n_item; i++) {
        struct oc_dim d;
        if (oc_expr_dim(env, e->item[i], &d) || rule_eval_add_dims(env, b, &d, 1))
            return -1;
    }
    return 0;
}

static int add_axes(struct oc_dim_env *env, const struct oc_expr *e, struct builder *b)
{
    unsigned first = 0, last = 0;
    int known = rule_eval_range(env, e, &first, &last);
    if (known == 0)
        b->unranked = true;
    return known <= 0
               ? known
               : rule_eval_add_dims(env, b, ranked(rule_eval_tensor(env, e))->dim + first, last - first);
}

static int rule_eval_add_values(struct oc_dim_env *env, const struct oc_expr *e, struct builder *b)
{
    if (require_known(env, e))
        return -1;
    const struct oc_shape *s = ranked(rule_eval_tensor(env, e));
    const struct oc_data *d = oc_in_value(ctx(env), e->slot);
    if (s && s->rank > 1)
        return oc_op_fail(ctx(env), "%s is not one-dimensional", tensor_name(env, e));
    bool counted = s && (s->rank == 0 || oc_is_known(s->dim[0]));
    if (!d && !counted) {
        b->unranked = true;
        return 0;
    }
    int64_t n = d ? d->n : s->rank ? s->dim[0].v : 1;
    if (n < 0 || n > OC_MAX_RANK)
        return oc_op_fail(ctx(env), "a shape of more than %d axes", OC_MAX_RANK);
    for (unsigned i = 0; i < (unsigned)n; i++) {
        struct oc_dim v;
        if (!d || !rule_eval_element(&d->e[i], &v))
            v = oc_op_fresh_dim(ctx(env), oc_printf(ctx(env)->arena, "value(%s, %u)", tensor_name(env, e), i),
                                -1);
        if (rule_eval_add_dims(env, b, &v, 1))
            return -1;
    }
    return 0;
}

static int add_broadcast(struct oc_dim_env *env, const struct oc_expr *e, struct builder *b)
{
    struct oc_op_ctx *c = ctx(env);
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

int oc_rule_shape(struct oc_dim_env *env, const struct oc_expr *e, struct oc_shape *out)
{
    struct builder b = {.rank = 0};
    for (unsigned i = 0; i < e->n_item; i++) {
        const struct oc_expr *part = e->item[i];
        int rc = part->kind == OC_X_LIST        ? rule_eval_add_list(env, part, &b)
                 : part->kind == OC_X_AXES      ? add_axes(env, part, &b)
                 : part->kind == OC_X_VALUES    ? rule_eval_add_values(env, part, &b)
                 : part->kind == OC_X_BROADCAST ? add_broadcast(env, part, &b)
                                                : oc_op_fail(ctx(env), "not a shape");
        if (rc)
            return -1;
    }
    *out = b.unranked ? oc_shape_unranked() : oc_shape_of(ctx(env)->arena, b.rank, b.dim);
    return 0;
}

/* ---- types -------------------------------------------------------------------------------------------- */

int oc_rule_dtype(struct oc_dim_env *env, const struct oc_expr *e, unsigned *out)
{
    if (e->kind == OC_X_DTYPE_OF) {
        const struct oc_type *t = rule_eval_tensor(env, e);
        *out = t && (t->kind == OC_T_TENSOR || t->kind == OC_T_SPARSE) ? t->dtype : OC_DT_UNDEFINED;
        return require_known(env, e);
    }
    int64_t code = e->number;
    const struct oc_attr *a = e->kind == OC_X_DTYPE_ATTR ? rule_eval_attribute(env, e->text) : NULL;
    if (a && a->type != OC_ATTR_INT)
        return oc_op_fail(ctx(env), "attribute '%.60s' is not an integer", e->text);
    code = a ? a->i : code;
    if (code < 0 && !a)
        return oc_op_fail(ctx(env), "the node has no attribute '%.60s'", e->text);
    if (code <= OC_DT_UNDEFINED || code >= OC_DT_COUNT)
        return oc_op_fail(ctx(env), "%lld is not an element type", (long long)code);
    *out = (unsigned)code;
    return 0;
}
