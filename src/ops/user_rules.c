/* Reads files of user rules. The layout is in user_rules.h; unknown elements and attributes are errors. */
#include "ops/user_rules.h"

#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/diag.h"
#include "base/file.h"
#include "base/units.h"
#include "base/xml_read.h"
#include "onnxcost.h"

#define MAX_RULES   10000
#define MAX_OUTPUTS 64
#define MAX_AMOUNTS 128
#define MAX_SLOT    4095
#define MAX_VERSION 32767
#define MAX_NAME    40

enum { E_RULES, E_OP, E_LET, E_OUTPUT, E_COUNT, E_READ, E_WRITE, E_KINDS };

struct reader {
    const struct oc_xml *xml;
    struct oc_op_rules *rules;
    const char *path;
    struct oc_user_rule *rule; /* being read */
    struct oc_rule_output output[MAX_OUTPUTS];
    struct oc_rule_amount amount[MAX_AMOUNTS];
    struct oc_buf formula;
};

/* ---- attributes --------------------------------------------------------------------------------------- */

static struct oc_arena *arena(struct reader *r)
{
    return &r->rules->arena;
}

/* A number up to max; absent: `otherwise`. */
static int get_number(struct reader *r, const struct oc_xml_elem *e, const char *name, int64_t min,
                      int64_t max, int64_t otherwise, int64_t *out)
{
    const char *text = oc_xml_get(e, name);
    *out = otherwise;
    if (!text)
        return 0;
    if (!oc_parse_i64(text, strlen(text), out) || *out < min || *out > max)
        return oc_xml_fail(r->xml, "%s '%.40s' is not a number from %lld to %lld", name, text, (long long)min,
                           (long long)max);
    return 0;
}

static int get_flag(struct reader *r, const struct oc_xml_elem *e, const char *name, bool otherwise,
                    bool *out)
{
    const char *text = oc_xml_get(e, name);
    *out = text ? strcmp(text, "yes") == 0 : otherwise;
    if (text && !*out && strcmp(text, "no") != 0)
        return oc_xml_fail(r->xml, "%s '%.20s': expected yes or no", name, text);
    return 0;
}

static struct oc_expr_scope scope(struct reader *r, unsigned outputs)
{
    return (struct oc_expr_scope){
        .arena = arena(r), .name = r->rule->let, .n_name = r->rule->n_let, .outputs = outputs};
}

/* The message names the attribute, except where an element has only one expression. */
static int bad_expression(struct reader *r, const char *attribute, const struct oc_expr_scope *s)
{
    return oc_xml_fail(r->xml, "%s%s%s", attribute, *attribute ? ": " : "", s->why);
}

/* ---- op ----------------------------------------------------------------------------------------------- */

static int user_rules_get_class(struct reader *r, const struct oc_xml_elem *e, uint8_t *out)
{
    const char *name = oc_xml_get(e, "class");
    *out = OC_OP_OTHER;
    if (!name)
        return 0;
    for (unsigned i = OC_OP_OTHER; i < OC_OP_CLASS_COUNT; i++)
        if (i != OC_OP_CONTROL && strcmp(oc_op_class_name(i), name) == 0) {
            *out = (uint8_t)i;
            return 0;
        }
    return oc_xml_fail(r->xml, "class '%.40s' is not a class of 'onnxcost ops' (control is not allowed)",
                       name);
}

static int get_slots(struct reader *r, const struct oc_xml_elem *e, const char **out)
{
    *out = oc_xml_get(e, "slots");
    const char *text = *out ? *out : "";
    size_t n = strspn(text, ".mqbnset");
    return text[n] ? oc_xml_fail(r->xml, "slots: '%c' is not one of . m q b n s e t", text[n]) : 0;
}

static int get_versions(struct reader *r, const struct oc_xml_elem *e, struct oc_op *op)
{
    int64_t since, until;
    if (get_number(r, e, "since", 1, MAX_VERSION, 1, &since) ||
        get_number(r, e, "until", 1, MAX_VERSION, 0, &until))
        return -1;
    if (until && until < since)
        return oc_xml_fail(r->xml, "until %lld is lower than since %lld", (long long)until, (long long)since);
    op->since = (int16_t)since;
    op->until = (int16_t)until;
    return 0;
}

/* Control-flow operators are run by the engine and cannot have a rule. */
static bool is_control(const struct oc_op *op)
{
    const struct oc_op *known = oc_op_find(op->domain, op->name, 0);
    return known && known->flags & OC_F_CONTROL;
}

/* The key of an operator in by_name; 0: too long. */
static size_t rule_key(const char *domain, const char *name, char key[OC_RULE_KEY_BYTES])
{
    if (strcmp(domain, "ai.onnx") == 0)
        domain = "";
    int n = snprintf(key, OC_RULE_KEY_BYTES, "%s:%s", domain, name);
    return n > 0 && n < OC_RULE_KEY_BYTES ? (size_t)n : 0;
}

static bool versions_overlap(const struct oc_op *a, const struct oc_op *b)
{
    return (!a->until || b->since <= a->until) && (!b->until || a->since <= b->until);
}

/* Inserts the rule into the list of its operator. */
static int link_rule(struct reader *r)
{
    struct oc_op_rules *all = r->rules;
    struct oc_user_rule *own = r->rule;
    char key[OC_RULE_KEY_BYTES];
    size_t n = rule_key(own->op.domain, own->op.name, key);
    if (!n)
        return oc_xml_fail(r->xml, "domain and name have more than %d bytes", OC_RULE_KEY_BYTES - 2);
    own->next = oc_map_get(&all->by_name, key, n);
    for (uint32_t i = own->next; i != OC_NONE; i = all->rule[i]->next)
        if (versions_overlap(&all->rule[i]->op, &own->op))
            return oc_xml_fail(r->xml, "its versions overlap those of the rule in line %u",
                               all->rule[i]->line);
    if (all->n == MAX_RULES)
        return oc_xml_fail(r->xml, "more than %d operators", MAX_RULES);
    oc_map_set(&all->by_name, key, n, all->n);
    OC_GROW(all->rule, all->n, all->cap);
    all->rule[all->n++] = own;
    return 0;
}

static int user_shape(struct oc_op_ctx *c);

static int user_cost(struct oc_op_ctx *c, struct oc_cost *k);

/* A rule changes shapes and costs; what runtimes do with the operator stays. */
static void take_traits(struct oc_op *op)
{
    const struct oc_op *known = oc_op_find(op->domain, op->name, 0);
    if (!known)
        return;
    op->flags = known->flags & (uint16_t) ~(OC_F_VIEW | OC_F_NO_FOLD | OC_F_LOW_CONFIDENCE);
    op->kernel = known->kernel;
    op->in_place = known->in_place;
    op->n_required = known->n_required;
    op->kv = known->kv;
}

static int start_op(void *user, const struct oc_xml_elem *e)
{
    struct reader *r = user;
    struct oc_user_rule *own = r->rule = OC_NEW(arena(r), struct oc_user_rule);
    bool fold;
    own->file = r->path;
    own->line = e->line;
    own->place = oc_printf(arena(r), "%s:%u", r->path, e->line);
    own->estimate = oc_xml_get(e, "estimate");
    own->op = (struct oc_op){.domain = oc_xml_get(e, "domain"),
                             .name = oc_xml_get(e, "name"),
                             .shape = user_shape,
                             .cost = user_cost,
                             .param = own};
    if (strcmp(own->op.domain, "ai.onnx") == 0)
        own->op.domain = "";
    if (get_versions(r, e, &own->op) || user_rules_get_class(r, e, &own->op.op_class) ||
        get_slots(r, e, &own->op.slots) || get_flag(r, e, "override", false, &own->overrides) ||
        get_flag(r, e, "fold", true, &fold) || get_flag(r, e, "upper", false, &own->upper))
        return -1;
    if (is_control(&own->op))
        return oc_xml_fail(r->xml, "control flow cannot have a rule of its own");
    take_traits(&own->op);
    own->op.flags |= (uint16_t)((own->op.op_class == OC_OP_VIEW ? OC_F_VIEW : 0) | (fold ? 0 : OC_F_NO_FOLD));
    oc_buf_clear(&r->formula);
    return link_rule(r);
}

static int end_op(void *user, const struct oc_xml_elem *e)
{
    struct reader *r = user;
    struct oc_user_rule *own = r->rule;
    struct oc_rule_output *output = OC_NEW_ARRAY(arena(r), own->n_output, struct oc_rule_output);
    struct oc_rule_amount *amount = OC_NEW_ARRAY(arena(r), own->n_amount, struct oc_rule_amount);
    (void)e;
    for (uint32_t i = 0; i < own->n_output; i++)
        output[i] = r->output[i];
    for (uint32_t i = 0; i < own->n_amount; i++)
        amount[i] = r->amount[i];
    own->output = output;
    own->amount = amount;
    own->op.formula = oc_strdup(arena(r), r->formula.n ? r->formula.data : "");
    return 0;
}

/* ---- children of an op -------------------------------------------------------------------------------- */

/* Letters, digits and _, not starting with a digit, and not a tensor name. */
static bool user_rules_is_name(const char *s)
{
    static const char digits[] = "0123456789";
    static const char word[] = "_ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    size_t n = strlen(s), start = strncmp(s, "in", 2) == 0 ? 2 : strncmp(s, "out", 3) == 0 ? 3 : 0;
    bool tensor = start && s[start] && strspn(s + start, digits) == n - start;
    return n <= MAX_NAME && strspn(s, word) == n && !strchr(digits, s[0]) && !tensor &&
           strcmp(s, "attr") != 0;
}

static int start_let(void *user, const struct oc_xml_elem *e)
{
    struct reader *r = user;
    struct oc_user_rule *own = r->rule;
    const char *name = oc_xml_get(e, "name"), *text = oc_xml_get(e, "value");
    if (!user_rules_is_name(name))
        return oc_xml_fail(r->xml, "a name consists of letters, digits and _, and is not a tensor name");
    for (unsigned i = 0; i < own->n_let; i++)
        if (strcmp(own->let[i].name, name) == 0)
            return oc_xml_fail(r->xml, "given twice");
    if (own->n_let == OC_EXPR_NAMES)
        return oc_xml_fail(r->xml, "more than %d names", OC_EXPR_NAMES);
    struct oc_expr_scope s = scope(r, MAX_SLOT + 1);
    const struct oc_expr *expr = oc_expr_parse_number(&s, text);
    if (!expr)
        return bad_expression(r, "", &s);
    own->let[own->n_let++] = (struct oc_expr_name){
        .name = name, .text = text, .expr = expr, .outputs = s.used_out, .depth = s.depth};
    return 0;
}

static int start_output(void *user, const struct oc_xml_elem *e)
{
    struct reader *r = user;
    struct oc_user_rule *own = r->rule;
    const char *dtype = oc_xml_get(e, "dtype"), *shape = oc_xml_get(e, "shape");
    int64_t index, least = own->n_output ? r->output[own->n_output - 1].index + 1 : 0;
    if (get_number(r, e, "index", 0, MAX_SLOT, least, &index))
        return -1;
    if (index < least)
        return oc_xml_fail(r->xml, "outputs must be in order");
    if (own->n_output == MAX_OUTPUTS)
        return oc_xml_fail(r->xml, "more than %d outputs", MAX_OUTPUTS);
    struct oc_rule_output *o = &r->output[own->n_output];
    struct oc_expr_scope s = scope(r, (unsigned)index);
    *o = (struct oc_rule_output){.index = (uint16_t)index, .line = e->line};
    if (!(o->dtype = oc_expr_parse_dtype(&s, dtype ? dtype : "in0")))
        return bad_expression(r, "dtype", &s);
    if (shape && !(o->shape = oc_expr_parse_shape(&s, shape)))
        return bad_expression(r, "shape", &s);
    own->n_output++;
    return 0;
}

static int add_amount(struct reader *r, const struct oc_xml_elem *e, unsigned kind, unsigned what,
                      const char *text)
{
    struct oc_user_rule *own = r->rule;
    struct oc_expr_scope s = scope(r, MAX_SLOT + 1);
    if (own->n_amount == MAX_AMOUNTS)
        return oc_xml_fail(r->xml, "more than %d counts", MAX_AMOUNTS);
    struct oc_rule_amount *a = &r->amount[own->n_amount];
    *a =
        (struct oc_rule_amount){.kind = (uint8_t)kind, .what = (uint16_t)what, .line = e->line, .text = text};
    if (!(a->n = oc_expr_parse_number(&s, text)))
        return bad_expression(r, "", &s);
    own->n_amount++;
    return 0;
}

static int user_rules_start_count(void *user, const struct oc_xml_elem *e)
{
    struct reader *r = user;
    const char *name = oc_xml_get(e, "prim"), *text = oc_xml_get(e, "n");
    unsigned prim = 0;
    while (prim < OC_PRIM_COUNT && strcmp(oc_prim_name(prim), name) != 0)
        prim++;
    if (prim == OC_PRIM_COUNT)
        return oc_xml_fail(r->xml, "unknown primitive (MAC, ADD, MUL, CMP, DIV ...)");
    if (add_amount(r, e, OC_RULE_COUNT, prim, text))
        return -1;
    oc_buf_printf(&r->formula, "%s%s = %s", r->formula.n ? "; " : "", name, text);
    return 0;
}

static int start_bytes(void *user, const struct oc_xml_elem *e)
{
    struct reader *r = user;
    unsigned kind = e->kind == E_READ ? OC_RULE_READ : OC_RULE_WRITE;
    int64_t index;
    if (get_number(r, e, "index", 0, MAX_SLOT, 0, &index))
        return -1;
    for (uint32_t i = 0; i < r->rule->n_amount; i++)
        if (r->amount[i].kind == kind && r->amount[i].what == index)
            return oc_xml_fail(r->xml, "given twice");
    return add_amount(r, e, kind, (unsigned)index, oc_xml_get(e, "bytes"));
}

/* ---- files -------------------------------------------------------------------------------------------- */

static const struct oc_xml_spec specs[E_KINDS] = {
    [E_RULES] = {"op-rules", OC_XML_ROOT, NULL, false, "version", "", NULL, NULL},
    [E_OP] = {"op", E_RULES, "domain name", false, "domain name since",
              "until class slots override fold upper estimate", start_op, end_op},
    [E_LET] = {"let", E_OP, "name", false, "name value", "", start_let, NULL},
    [E_OUTPUT] = {"output", E_OP, "index", false, "", "index dtype shape", start_output, NULL},
    [E_COUNT] = {"count", E_OP, "prim", false, "prim n", "", user_rules_start_count, NULL},
    [E_READ] = {"read", E_OP, "index", false, "index bytes", "", start_bytes, NULL},
    [E_WRITE] = {"write", E_OP, "index", false, "index bytes", "", start_bytes, NULL},
};
static const struct oc_xml_format format = {specs, E_KINDS, "1", OC_RULES_MAX_FILE_BYTES};

int oc_op_rules_read_mem(const char *name, const void *data, size_t n, struct oc_op_rules **out,
                         struct oc_err *err)
{
    struct oc_op_rules *rules = oc_xmalloc(sizeof(*rules));
    *rules = (struct oc_op_rules){.n = 0};
    rules->by_name.arena = &rules->arena;
    struct reader *r = OC_NEW(&rules->arena, struct reader);
    r->rules = rules;
    r->path = oc_strdup(&rules->arena, name);
    int rc = oc_xml_read(&format, name, data, n, &rules->arena, r, &r->xml, err);
    oc_buf_free(&r->formula);
    if (rc)
        oc_op_rules_free(rules);
    *out = rc ? NULL : rules;
    return rc;
}

int oc_op_rules_load(const char *path, struct oc_op_rules **out, struct oc_err *err)
{
    OC_ENTRY(err);
    struct oc_file file;
    *out = NULL;
    if (oc_file_map(path, OC_RULES_MAX_FILE_BYTES, &file, err))
        return -1;
    int rc = oc_op_rules_read_mem(path, file.data, (size_t)file.size_bytes, out, err);
    oc_file_unmap(&file);
    return rc;
}

/* ---- running a rule ----------------------------------------------------------------------------------- */

static const struct oc_user_rule *user_rules_rule_of(const struct oc_op *op)
{
    return op->param;
}

/* Adds the file position of the failing part to the error. */
static int failed(const struct oc_op_ctx *c, uint32_t line, const char *what)
{
    return oc_err_prefix(c->err, "%s:%u: %s", user_rules_rule_of(c->op)->file, line, what);
}

static int user_shape(struct oc_op_ctx *c)
{
    const struct oc_user_rule *r = user_rules_rule_of(c->op);
    struct oc_dim_env env = oc_rule_env(c, r->let);
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
static int user_rules_amount(struct oc_dim_env *env, const struct oc_rule_amount *a, uint64_t *out)
{
    struct oc_op_ctx *c = env->of;
    struct oc_dim d;
    if (oc_expr_dim(env, a->n, &d))
        return -1;
    if (oc_is_known(d) && d.v < 0)
        return oc_op_fail(c, "%lld is negative", (long long)d.v);
    *out = oc_c_dim(c, d);
    return 0;
}

static int change_bytes(struct oc_dim_env *env, const struct oc_rule_amount *a, uint64_t *bytes)
{
    struct oc_op_ctx *c = env->of;
    bool reads = a->kind == OC_RULE_READ;
    if (reads ? !oc_in(c, a->what) : !oc_out(c, a->what))
        return 0;
    return user_rules_amount(env, a, &bytes[a->what])
               ? failed(c, a->line, oc_printf(c->arena, "%s %u", reads ? "read" : "write", a->what))
               : 0;
}

/* The rules shared by all rows of a user's file. */
static int user_cost(struct oc_op_ctx *c, struct oc_cost *k)
{
    const struct oc_user_rule *r = user_rules_rule_of(c->op);
    struct oc_dim_env env = oc_rule_env(c, r->let);
    for (uint32_t i = 0; i < r->n_amount; i++) {
        const struct oc_rule_amount *a = &r->amount[i];
        uint64_t n;
        if (a->kind != OC_RULE_COUNT) {
            if (change_bytes(&env, a, a->kind == OC_RULE_READ ? k->rd : k->wr))
                return -1;
            continue;
        }
        if (user_rules_amount(&env, a, &n))
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
    return op->shape == user_shape;
}

const char *oc_user_op_place(const struct oc_op *op)
{
    return user_rules_rule_of(op)->place;
}

int oc_user_formula_read(struct oc_op_ctx *c, struct oc_formula *out)
{
    const struct oc_user_rule *r = user_rules_rule_of(c->op);
    struct oc_op_ctx own = *c; /* the marks of the cost stage are unchanged */
    struct oc_err unused = {0};
    own.err = &unused;
    struct oc_dim_env env = oc_rule_env(&own, r->let);
    out->n_term = out->n_name = 0;
    for (uint32_t i = 0; i < r->n_amount && out->n_term < OC_FORMULA_TERMS; i++) {
        const struct oc_rule_amount *a = &r->amount[i];
        struct oc_buf text = {.max = 4096};
        if (a->kind != OC_RULE_COUNT)
            continue;
        struct oc_formula_term *t = &out->term[out->n_term++];
        own.unknown = false;
        *t = (struct oc_formula_term){.prim = (uint8_t)a->what, .expr = a->text};
        t->known = user_rules_amount(&env, a, &t->value) == 0 && !own.unknown;
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
                                     .expr = r->let[i].text,
                                     .value = max > 0 ? (uint64_t)max : 0,
                                     .known = oc_is_known(env.value[i]) && env.value[i].v >= 0};
    }
    return 0;
}

/* ---- lookup ------------------------------------------------------------------------------------------- */

uint32_t oc_op_rules_count(const struct oc_op_rules *rules)
{
    return rules->n;
}

bool oc_op_rules_find(const struct oc_op_rules *rules, const char *domain, const char *name, int32_t opset,
                      struct oc_user_rule_info *out)
{
    char key[OC_RULE_KEY_BYTES];
    size_t n = rule_key(domain, name, key);
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
