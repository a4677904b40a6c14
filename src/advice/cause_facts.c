/* Facts of nodes for the conditions of causes, and the evaluation of a condition: cause_facts.h lists the words. Conditions
 * are parsed once for each report; a fact that is not known makes its condition false, never true. */
#include "advice/cause_facts.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/os.h"
#include "base/str.h"
#include "base/units.h"
#include "estimate/kernels.h"
#include "lang/expr.h"
#include "ops/op.h"
#include "ops/user_rules.h"

enum { MOST_CONDITIONS = 8, MOST_OUTPUTS = 16 };
#define NOT_KNOWN INT64_MIN

struct condition {
    const struct oc_expr *expr;
    struct oc_expr_name *name;
    unsigned n_name;
};

struct parsed { /* of a cause */
    struct condition condition[MOST_CONDITIONS];
    unsigned n;
    bool done;
    char why[200];
};

struct oc_cause_facts {
    struct oc_advisor *x;
    struct parsed *parsed;    /* by cause */
    uint32_t *first_like;     /* by node: the earlier node of the same type with the same inputs; OC_NONE */
    const struct oc_node *of; /* the node of the context */
    struct oc_op_ctx ctx;
    const struct oc_type **in; /* of the context, as the next three: for the largest node */
    struct oc_type *out;
    const struct oc_data **data;
    bool *is_const;
    struct oc_err err;
};

/* ---- parsing ------------------------------------------------------------------------------------------ */

static void parse_condition(struct oc_arena *a, struct parsed *p, const char *text, size_t n)
{
    struct condition *c = &p->condition[p->n];
    struct oc_expr_scope scope = {.arena = a,
                                  .use = OC_EXPR_COST,
                                  .name = OC_NEW_ARRAY(a, OC_EXPR_NAMES, struct oc_expr_name),
                                  .outputs = MOST_OUTPUTS};
    c->expr = oc_expr_parse_number(&scope, oc_strndup(a, text, n));
    c->name = scope.name;
    c->n_name = scope.n_name;
    p->n++;
    if (!c->expr && !*p->why)
        snprintf(p->why, sizeof(p->why), "%s", scope.why);
}

static void parse_cause(struct oc_arena *a, struct parsed *p, const char *text)
{
    for (p->done = true; *text; text += *text == ';') {
        size_t n = strcspn(text, ";");
        if (p->n < MOST_CONDITIONS)
            parse_condition(a, p, text, n);
        text += n;
    }
}

/* ---- facts of a node ---------------------------------------------------------------------------------- */

typedef int64_t fact(struct oc_cause_facts *f, uint32_t node, unsigned slot);

static const struct oc_node *node_of(const struct oc_cause_facts *f, uint32_t node)
{
    return &f->x->m->node[node];
}

static uint32_t input_of(const struct oc_cause_facts *f, uint32_t node, unsigned slot)
{
    return slot < node_of(f, node)->n_in ? node_of(f, node)->in[slot] : OC_NONE;
}

static uint32_t output_of(const struct oc_cause_facts *f, uint32_t node)
{
    return node_of(f, node)->n_out ? node_of(f, node)->out[0] : OC_NONE;
}

static int64_t fact_const(struct oc_cause_facts *f, uint32_t node, unsigned slot)
{
    uint32_t v = input_of(f, node, slot);
    return v != OC_NONE && f->x->a->is_const[v];
}

static int64_t fact_type(struct oc_cause_facts *f, uint32_t node, unsigned slot)
{
    uint32_t v = input_of(f, node, slot);
    return v == OC_NONE ? OC_DT_UNDEFINED : f->x->a->type[v].dtype;
}

static int64_t fact_typeout(struct oc_cause_facts *f, uint32_t node, unsigned slot)
{
    uint32_t v = output_of(f, node);
    (void)slot;
    return v == OC_NONE ? OC_DT_UNDEFINED : f->x->a->type[v].dtype;
}

static int64_t fact_size(struct oc_cause_facts *f, uint32_t node, unsigned slot)
{
    uint32_t v = input_of(f, node, slot);
    uint64_t n;
    return v == OC_NONE                                               ? 0
           : oc_type_elements(&f->x->a->type[v], &n) && n < INT64_MAX ? (int64_t)n
                                                                      : NOT_KNOWN;
}

static int64_t fact_zero(struct oc_cause_facts *f, uint32_t node, unsigned slot)
{
    uint32_t v = input_of(f, node, slot);
    const struct oc_tensor *t = v == OC_NONE ? NULL : oc_analysis_constant(f->x->a, v);
    struct oc_tensor_bytes bytes;
    int64_t zero = 1;
    if (v == OC_NONE)
        return 1;
    if (!t || !oc_tensor_bytes_open(f->x->m, t, &bytes))
        return NOT_KNOWN;
    oc_os_need(bytes.data, bytes.size_bytes);
    for (size_t i = 0; i < bytes.size_bytes && zero; i++)
        zero = bytes.data[i] == 0;
    oc_tensor_bytes_close(&bytes);
    return zero;
}

static int64_t fact_users(struct oc_cause_facts *f, uint32_t node, unsigned slot)
{
    uint32_t v = output_of(f, node);
    (void)slot;
    return v == OC_NONE
               ? 0
               : f->x->m->value[v].n_use - (int64_t)f->x->m->value[v].graph_output; /* one of the reads */
}

static int64_t fact_output(struct oc_cause_facts *f, uint32_t node, unsigned slot)
{
    uint32_t v = output_of(f, node);
    (void)slot;
    return v != OC_NONE && f->x->m->value[v].graph_output;
}

static int64_t fact_outputs(struct oc_cause_facts *f, uint32_t node, unsigned slot)
{
    int64_t n = 0;
    (void)slot;
    for (uint32_t i = 0; i < node_of(f, node)->n_out; i++)
        n += node_of(f, node)->out[i] != OC_NONE;
    return n;
}

static int64_t fact_opset(struct oc_cause_facts *f, uint32_t node, unsigned slot)
{
    (void)slot;
    return node_of(f, node)->opset;
}

/* ---- axes --------------------------------------------------------------------------------------------- */

static const struct oc_shape *shape_of(const struct oc_cause_facts *f, uint32_t node)
{
    uint32_t v = input_of(f, node, 0);
    const struct oc_shape *s = v == OC_NONE ? NULL : &f->x->a->type[v].shape;
    return s && s->ranked && oc_shape_known(s) ? s : NULL;
}

/* Attribute axis, not negative; -1: not known. */
static int64_t axis_of(const struct oc_cause_facts *f, uint32_t node, const struct oc_shape *s)
{
    const struct oc_node *n = node_of(f, node);
    const struct oc_attr *a = oc_node_attr(n, "axis");
    bool softmax = oc_type_in(n->op_type, " Softmax LogSoftmax Hardmax ");
    int64_t axis = a && a->type == OC_ATTR_INT        ? a->i
                   : softmax                          ? (n->opset >= 13 ? -1 : 1)
                   : oc_type_in(n->op_type, " TopK ") ? -1
                                                      : 0;
    axis += axis < 0 && s ? s->rank : 0;
    return s && axis >= 0 && axis < s->rank ? axis : -1;
}

static int64_t fact_after_axis(struct oc_cause_facts *f, uint32_t node, unsigned slot)
{
    const struct oc_shape *s = shape_of(f, node);
    int64_t axis = axis_of(f, node, s), n = 1;
    (void)slot;
    for (int64_t i = axis + 1; axis >= 0 && i < s->rank && n < INT32_MAX; i++)
        n *= s->dim[i].v;
    return axis < 0 ? NOT_KNOWN : n;
}

static int64_t fact_on_axis(struct oc_cause_facts *f, uint32_t node, unsigned slot)
{
    const struct oc_shape *s = shape_of(f, node);
    int64_t axis = axis_of(f, node, s);
    (void)slot;
    return axis < 0 ? NOT_KNOWN : s->dim[axis].v;
}

/* The axes of a reduction as bits; false: not known. */
static bool reduced_axes(const struct oc_cause_facts *f, uint32_t node, const struct oc_shape *s,
                         uint64_t *bits)
{
    const struct oc_attr *a = oc_node_attr(node_of(f, node), "axes");
    uint32_t v = input_of(f, node, 1);
    const struct oc_data *d = v == OC_NONE ? NULL : f->x->a->data[v];
    uint32_t n = a && a->type == OC_ATTR_INTS ? a->n : d ? d->n : 0;
    *bits = 0;
    if (!s || s->rank > 63 || (!a && v != OC_NONE && !d))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        int64_t axis = a ? a->ints[i] : d->e[i].kind == OC_E_INT ? d->e[i].i.v : INT64_MAX;
        axis += axis < 0 ? s->rank : 0;
        if (axis < 0 || axis >= s->rank)
            return false;
        *bits |= UINT64_C(1) << axis;
    }
    if (!n)
        *bits = (UINT64_C(1) << s->rank) - 1;
    return true;
}

static int64_t fact_reduce_blocks(struct oc_cause_facts *f, uint32_t node, unsigned slot)
{
    const struct oc_shape *s = shape_of(f, node);
    uint64_t bits;
    int64_t n = 0, before = -1;
    (void)slot;
    if (!reduced_axes(f, node, s, &bits))
        return NOT_KNOWN;
    for (unsigned i = 0; i < s->rank; i++) {
        int64_t reduced = (int64_t)(bits >> i & 1);
        if (s->dim[i].v == 1)
            continue;
        n += reduced != before;
        before = reduced;
    }
    return n;
}

static int64_t fact_reduce_last(struct oc_cause_facts *f, uint32_t node, unsigned slot)
{
    const struct oc_shape *s = shape_of(f, node);
    uint64_t bits;
    (void)slot;
    return reduced_axes(f, node, s, &bits) && s->rank ? (int64_t)(bits >> (s->rank - 1u) & 1) : NOT_KNOWN;
}

static int64_t fact_swaps_last(struct oc_cause_facts *f, uint32_t node, unsigned slot)
{
    const struct oc_attr *perm = oc_node_attr(node_of(f, node), "perm");
    bool swaps = perm && perm->type == OC_ATTR_INTS && perm->n > 1;
    (void)slot;
    for (uint32_t i = 0; swaps && i < perm->n; i++)
        swaps = perm->ints[i] == (i + 1 == perm->n ? i - 1 : i + 2 == perm->n ? i + 1 : i);
    return swaps;
}

/* ---- what is around a node ---------------------------------------------------------------------------- */

static int64_t fact_trips(struct oc_cause_facts *f, uint32_t node, unsigned slot)
{
    uint64_t trips = f->x->a->cost[node].trips;
    (void)slot;
    return trips < INT64_MAX ? (int64_t)trips : NOT_KNOWN;
}

static int64_t fact_body_trips(struct oc_cause_facts *f, uint32_t node, unsigned slot)
{
    const struct oc_model *m = f->x->m;
    const struct oc_attr *body = oc_node_attr(node_of(f, node), "body");
    uint64_t own = f->x->a->cost[node].trips;
    (void)slot;
    if (body && body->graph && own && m->graph[*body->graph].n_node)
        return (int64_t)(f->x->a->cost[m->graph[*body->graph].node[0]].trips / own);
    return NOT_KNOWN;
}

static int64_t fact_folded(struct oc_cause_facts *f, uint32_t node, unsigned slot)
{
    (void)slot;
    return f->x->a->cost[node].state == OC_NODE_FOLDED && !oc_advise_is_shape_work(f->x, node);
}

static void find_duplicates(struct oc_cause_facts *f)
{
    const struct oc_model *m = f->x->m;
    struct oc_map seen = {.arena = &f->x->scratch};
    struct oc_buf key = {0};
    f->first_like = OC_NEW_ARRAY(&f->x->scratch, (size_t)m->n_node + 1, uint32_t);
    for (uint32_t i = 0; i < m->n_node; i++) {
        const struct oc_node *n = &m->node[i];
        uint32_t first = i;
        f->first_like[i] = OC_NONE;
        if (!n->n_in || n->kind != OC_NODE_OP || strstr(n->op_type, "Random") ||
            oc_type_in(n->op_type, " Bernoulli Multinomial Dropout "))
            continue;
        oc_buf_clear(&key);
        oc_buf_printf(&key, "%s %s %u", n->domain, n->op_type, n->n_out);
        for (uint32_t k = 0; k < n->n_in; k++)
            oc_buf_printf(&key, " %u", n->in[k]);
        if (!oc_map_add(&seen, key.data, key.n, &first, NULL))
            f->first_like[i] = first;
    }
    oc_buf_free(&key);
    oc_map_free(&seen);
}

static int64_t fact_duplicate(struct oc_cause_facts *f, uint32_t node, unsigned slot)
{
    (void)slot;
    if (!f->first_like)
        find_duplicates(f);
    uint32_t first = f->first_like[node];
    return first != OC_NONE && oc_same_attributes(node_of(f, node), node_of(f, first));
}

static int64_t fact_same_inputs(struct oc_cause_facts *f, uint32_t node, unsigned slot)
{
    uint32_t a = input_of(f, node, 0), b = input_of(f, node, 1);
    (void)slot;
    return a != OC_NONE && b != OC_NONE && oc_shape_equal(&f->x->a->type[a].shape, &f->x->a->type[b].shape);
}

static int64_t fact_subnormal(struct oc_cause_facts *f, uint32_t node, unsigned slot)
{
    (void)slot;
    return (int64_t)(1000 * oc_subnormal_share(f->x->m, &node, 1));
}

static int64_t fact_micros(struct oc_cause_facts *f, uint32_t node, unsigned slot)
{
    uint32_t piece = f->x->piece_of[node];
    double ns = piece == OC_NONE ? (double)NAN : f->x->piece[piece].time_ns;
    (void)slot;
    return ns >= 0 && ns < 1e15 ? (int64_t)(ns / 1000) : NOT_KNOWN;
}

/* Per mille. */
static int64_t fact_waits(struct oc_cause_facts *f, uint32_t node, unsigned slot)
{
    uint32_t piece = f->x->piece_of[node];
    const struct oc_prof_rec *rec = piece == OC_NONE ? NULL : f->x->piece[piece].rec;
    (void)slot;
    return rec && rec->waits >= 0 ? (int64_t)(1000 * rec->waits) : NOT_KNOWN;
}

/* ---- words -------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    fact *of;
    bool has_slot;
} facts[] = {
    {"const", fact_const, true},
    {"type", fact_type, true},
    {"size", fact_size, true},
    {"zero", fact_zero, true},
    {"typeout", fact_typeout, false},
    {"users", fact_users, false},
    {"output", fact_output, false},
    {"outputs", fact_outputs, false},
    {"opset", fact_opset, false},
    {"after_axis", fact_after_axis, false},
    {"on_axis", fact_on_axis, false},
    {"reduce_blocks", fact_reduce_blocks, false},
    {"reduce_last", fact_reduce_last, false},
    {"swaps_last", fact_swaps_last, false},
    {"trips", fact_trips, false},
    {"body_trips", fact_body_trips, false},
    {"folded", fact_folded, false},
    {"duplicate", fact_duplicate, false},
    {"same_inputs", fact_same_inputs, false},
    {"subnormal", fact_subnormal, false},
    {"micros", fact_micros, false},
    {"waits", fact_waits, false},
};

/* The place of a fact in the table, and its slot; facts without one: OC_COUNT(facts) for another word. */
static size_t find_fact(const char *word, unsigned *slot)
{
    size_t n = strlen(word), digit = n && oc_is_digit((unsigned char)word[n - 1]) ? 1 : 0;
    *slot = digit ? (unsigned)(word[n - 1] - '0') : 0;
    for (size_t i = 0; i < OC_COUNT(facts); i++)
        if (strlen(facts[i].name) == n - (facts[i].has_slot ? digit : 0) &&
            facts[i].has_slot == (digit > 0) && !strncmp(facts[i].name, word, strlen(facts[i].name)))
            return i;
    return OC_COUNT(facts);
}

/* Follows "from1_" and "to_"; OC_NONE: there is no such node. */
static uint32_t follow(const struct oc_cause_facts *f, uint32_t node, const char **word)
{
    for (;;) {
        const char *w = *word;
        bool from = !strncmp(w, "from", 4) && oc_is_digit((unsigned char)w[4]) && w[5] == '_',
             to = !strncmp(w, "to_", 3);
        if (!from && !to)
            return node;
        *word = w + (from ? 6 : 3);
        uint32_t v = node == OC_NONE ? OC_NONE
                     : from          ? input_of(f, node, (unsigned)(w[4] - '0'))
                                     : output_of(f, node);
        node = v == OC_NONE ? OC_NONE : from ? f->x->m->value[v].producer : f->x->user[v];
    }
}

static int64_t word_value(struct oc_cause_facts *f, uint32_t node, const char *word)
{
    unsigned slot, dtype = oc_dtype_by_name(word, strlen(word));
    node = follow(f, node, &word);
    if (dtype != OC_DT_UNDEFINED)
        return dtype;
    if (*word >= 'A' && *word <= 'Z')
        return node != OC_NONE && !strcmp(node_of(f, node)->op_type, word);
    size_t i = find_fact(word, &slot);
    return node == OC_NONE || i == OC_COUNT(facts) ? NOT_KNOWN : facts[i].of(f, node, slot);
}

/* ---- evaluation --------------------------------------------------------------------------------------- */

/* The context of a rule of an operator, for the leaves of the formula language. */
static void set_context(struct oc_cause_facts *f, uint32_t node)
{
    const struct oc_node *n = node_of(f, node);
    if (f->of == n)
        return;
    f->of = n;
    for (uint32_t i = 0; i < n->n_in; i++) {
        uint32_t v = n->in[i];
        f->in[i] = v == OC_NONE ? NULL : &f->x->a->type[v];
        f->data[i] = v == OC_NONE ? NULL : f->x->a->data[v];
        f->is_const[i] = v != OC_NONE && f->x->a->is_const[v];
    }
    for (uint32_t i = 0; i < n->n_out; i++) {
        f->out[i] = (struct oc_type){0};
        if (n->out[i] != OC_NONE)
            f->out[i] = f->x->a->type[n->out[i]];
    }
    f->ctx = (struct oc_op_ctx){.node = n,
                                .op = f->x->a->op[node],
                                .opset = n->opset,
                                .arena = &f->x->scratch,
                                .exprs = f->x->a->exprs,
                                .model = f->x->m,
                                .in = f->in,
                                .in_data = f->data,
                                .in_const = f->is_const,
                                .n_in = n->n_in,
                                .n_out = n->n_out,
                                .out = f->out,
                                .err = &f->err};
}

static bool condition_holds(struct oc_cause_facts *f, const struct condition *c, uint32_t node)
{
    struct oc_dim_env env = oc_rule_env(&f->ctx, c->name);
    struct oc_dim v;
    for (unsigned i = 0; i < c->n_name; i++) {
        int64_t known = word_value(f, node, c->name[i].name);
        if (known == NOT_KNOWN)
            return false;
        env.done[i] = true;
        env.value[i] = oc_known(known);
    }
    return c->expr && !oc_expr_dim(&env, c->expr, &v) && oc_is_known(v) && v.v != 0;
}

bool oc_cause_holds(struct oc_cause_facts *f, const struct oc_cause *c, uint32_t node)
{
    struct parsed *p = &f->parsed[c - oc_cause_table];
    if (!p->done)
        parse_cause(&f->x->scratch, p, c->when);
    set_context(f, node);
    bool holds = true;
    for (unsigned i = 0; i < p->n && holds; i++)
        holds = condition_holds(f, &p->condition[i], node);
    return holds;
}

struct oc_cause_facts *oc_cause_facts_new(struct oc_advisor *x)
{
    struct oc_arena *a = &x->scratch;
    struct oc_cause_facts *f = OC_NEW(a, struct oc_cause_facts);
    f->x = x;
    f->parsed = OC_NEW_ARRAY(a, oc_causes, struct parsed);
    f->in = OC_NEW_ARRAY(a, x->m->most_in, const struct oc_type *);
    f->data = OC_NEW_ARRAY(a, x->m->most_in, const struct oc_data *);
    f->is_const = OC_NEW_ARRAY(a, x->m->most_in, bool);
    f->out = OC_NEW_ARRAY(a, x->m->most_out, struct oc_type);
    return f;
}

/* ---- checks ------------------------------------------------------------------------------------------- */

static bool is_word(const char *word)
{
    unsigned slot;
    while ((!strncmp(word, "from", 4) && oc_is_digit((unsigned char)word[4]) && word[5] == '_') ||
           !strncmp(word, "to_", 3))
        word += *word == 'f' ? 6 : 3;
    return (*word >= 'A' && *word <= 'Z') || find_fact(word, &slot) < OC_COUNT(facts) ||
           oc_dtype_by_name(word, strlen(word)) != OC_DT_UNDEFINED;
}

const char *oc_cause_error(const struct oc_cause *c, char *why, size_t cap)
{
    struct oc_arena a = {0};
    struct parsed p = {.n = 0};
    parse_cause(&a, &p, c->when);
    snprintf(why, cap, "%s", p.why);
    for (unsigned i = 0; i < p.n && !*why; i++)
        for (unsigned k = 0; k < p.condition[i].n_name; k++)
            if (!is_word(p.condition[i].name[k].name))
                snprintf(why, cap, "unknown word '%s'", p.condition[i].name[k].name);
    oc_arena_free(&a);
    return *why ? why : NULL;
}
