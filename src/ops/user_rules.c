#include "ops/user_rules.h"

#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "ops/rule_expr.h"
#include "ops/user_rule_file.h"

/* ---- running a rule --------------------------------------------------------------------------------------
 */

static const struct oc_user_rule *rule_of(const struct oc_op *op)
{
    return op->param;
}

static struct oc_rule_env env_of(struct oc_op_ctx *c)
{
    const struct oc_user_rule *r = rule_of(c->op);
    return (struct oc_rule_env){.c = c, .let = r->let, .n_let = r->n_let};
}

/* Adds the file position of the failing part to the error. */
static int failed(const struct oc_op_ctx *c, uint32_t line, const char *what)
{
    return oc_err_prefix(c->err, "%s:%u: %s", rule_of(c->op)->file, line, what);
}

int oc_user_shape(struct oc_op_ctx *c)
{
    const struct oc_user_rule *r = rule_of(c->op);
    struct oc_rule_env env = env_of(c);
    for (uint32_t i = 0; i < r->n_output; i++) {
        const struct oc_rule_output *o = &r->output[i];
        struct oc_shape s = oc_shape_unranked();
        unsigned dtype;
        if (!oc_out(c, o->index)) /* later expressions cannot use it */
            continue;
        if (oc_rule_dtype(&env, o->dtype, &dtype) || (o->shape && oc_rule_shape(&env, o->shape, &s)))
            return failed(c, o->line, oc_printf(c->arena, "output %u", o->index));
        oc_set_out(c, o->index, dtype, s);
    }
    return 0;
}

/* An amount: never negative, and unknown only with a mark. */
static int amount(struct oc_rule_env *env, const struct oc_rule_amount *a, uint64_t *out)
{
    struct oc_dim d;
    if (oc_rule_number(env, a->n, &d))
        return -1;
    if (oc_is_known(d) && d.v < 0)
        return oc_op_fail(env->c, "%lld is negative", (long long)d.v);
    *out = oc_c_dim(env->c, d);
    return 0;
}

static int change_bytes(struct oc_rule_env *env, const struct oc_rule_amount *a, uint64_t *bytes)
{
    struct oc_op_ctx *c = env->c;
    bool reads = a->kind == OC_RULE_READ;
    if (reads ? !oc_in(c, a->what) : !oc_out(c, a->what))
        return 0;
    return amount(env, a, &bytes[a->what])
               ? failed(c, a->line, oc_printf(c->arena, "%s %u", reads ? "read" : "write", a->what))
               : 0;
}

int oc_user_cost(struct oc_op_ctx *c, struct oc_cost *k)
{
    const struct oc_user_rule *r = rule_of(c->op);
    struct oc_rule_env env = env_of(c);
    for (uint32_t i = 0; i < r->n_amount; i++) {
        const struct oc_rule_amount *a = &r->amount[i];
        uint64_t n;
        if (a->kind != OC_RULE_COUNT) {
            if (change_bytes(&env, a, a->kind == OC_RULE_READ ? k->rd : k->wr))
                return -1;
            continue;
        }
        if (amount(&env, a, &n))
            return failed(c, a->line, oc_printf(c->arena, "count %s", oc_prim_name(a->what)));
        oc_add(c, k, (enum oc_prim)a->what, n);
    }
    c->upper |= r->upper;
    if (r->estimate)
        c->assumption = r->estimate;
    return 0;
}

bool oc_is_user_op(const struct oc_op *op)
{
    return op->shape == oc_user_shape;
}

const char *oc_user_op_place(const struct oc_op *op)
{
    return rule_of(op)->place;
}

int oc_user_formula_read(struct oc_op_ctx *c, struct oc_formula *out)
{
    const struct oc_user_rule *r = rule_of(c->op);
    struct oc_op_ctx own = *c; /* the marks of the cost stage are unchanged */
    struct oc_err unused = {0};
    struct oc_rule_env env = env_of(&own);
    own.err = &unused;
    out->n_term = out->n_name = 0;
    for (uint32_t i = 0; i < r->n_amount && out->n_term < OC_FORMULA_TERMS; i++) {
        const struct oc_rule_amount *a = &r->amount[i];
        struct oc_buf text = {.max = 4096};
        if (a->kind != OC_RULE_COUNT)
            continue;
        struct oc_formula_term *t = &out->term[out->n_term++];
        own.unknown = false;
        *t = (struct oc_formula_term){.prim = (uint8_t)a->what, .expr = a->text};
        t->known = amount(&env, a, &t->value) == 0 && !own.unknown;
        oc_rule_print_numbers(&env, a->n, &text);
        t->numbers = oc_strdup(c->arena, text.data ? text.data : "");
        oc_buf_free(&text);
    }
    for (unsigned i = 0; i < r->n_let && out->n_name < OC_FORMULA_NAMES; i++) {
        if (!env.done[i]) /* unused by any amount */
            continue;
        int64_t max = oc_dim_max_value(c->exprs, env.value[i]);
        out->name[out->n_name++] =
            (struct oc_formula_name){.name = r->let[i].name,
                                     .expr = r->let_text[i],
                                     .value = max > 0 ? (uint64_t)max : 0,
                                     .known = oc_is_known(env.value[i]) && env.value[i].v >= 0};
    }
    return 0;
}

/* ---- lookup -----------------------------------------------------------------------------------------------
 */

uint32_t oc_op_rules_count(const struct oc_op_rules *rules)
{
    return rules->n;
}

bool oc_op_rules_find(const struct oc_op_rules *rules, const char *domain, const char *name, int32_t opset,
                      struct oc_user_rule_info *out)
{
    char key[OC_RULE_KEY_BYTES];
    size_t n = oc_rule_key(domain, name, key);
    uint32_t at = n ? oc_map_get(&rules->by_name, key, n) : OC_NONE;
    for (; at != OC_NONE; at = rules->rule[at]->next) {
        const struct oc_user_rule *r = rules->rule[at];
        if (opset <= 0 ? r->op.until != 0 : r->op.since > opset || (r->op.until && opset > r->op.until))
            continue;
        *out = (struct oc_user_rule_info){&r->op, r->overrides, at};
        return true;
    }
    return false;
}

void oc_op_rules_free(struct oc_op_rules *rules)
{
    if (!rules)
        return;
    oc_map_free(&rules->by_name);
    free(rules->rule);
    oc_arena_free(&rules->arena);
    free(rules);
}
