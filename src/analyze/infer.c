/* The forward pass: types and small values of every value, in node order (shape-inference.md); root causes of
 * what stays unknown. */
#include <string.h>

#include "analyze/engine.h"
#include "base/diag.h"
#include "base/str.h"
#include "onnxcost.h"
#include "ops/user_rules.h"

/* ---- state of a pass ---------------------------------------------------------------------------------- */

/* Stores types, reads small constants on demand, fills the context of a rule, records assumptions. */

void oc_assume(struct oc_engine *e, const char *what, const char *name, const char *value, const char *reason)
{
    enum { RECENT = 64 }; /* bodies are analysed repeatedly */
    for (uint32_t i = e->n_assumption; i-- > 0 && e->n_assumption - i <= RECENT;) {
        struct oc_assumption *q = &e->assumption[i];
        if (strcmp(q->what, what) == 0 && strcmp(q->name, name) == 0) {
            if (strcmp(q->value, value) != 0)
                q->value = oc_strdup(&e->a->arena, value);
            q->reason = reason;
            return;
        }
    }
    OC_GROW(e->assumption, e->n_assumption, e->cap_assumption);
    e->assumption[e->n_assumption++] = (struct oc_assumption){.what = what,
                                                              .name = oc_strdup(&e->a->arena, name),
                                                              .value = oc_strdup(&e->a->arena, value),
                                                              .reason = reason};
}

/* "; assumed: input.1 = 1 (--dim input.1=N)": dimensions that have a default, the batch last; "" if none has.
 */
static const char *assumed_dims_text(struct oc_engine *e)
{
    enum { MOST = 3 };
    const char *text = "";
    unsigned n = 0;
    for (uint32_t i = e->n_assumption; i-- > 0 && n < MOST;) {
        const struct oc_assumption *q = &e->assumption[i];
        if (strcmp(q->what, "dim") != 0)
            continue;
        text = oc_printf(&e->a->arena, "%s%s%s is assumed to be %s (--dim %s=N)", text,
                         n ? ", " : "; perhaps because ", q->name, q->value, q->name);
        n++;
    }
    return text;
}

void oc_set_value(struct oc_engine *e, uint32_t value, const struct oc_type *t)
{
    e->a->type[value] = *t;
    uint8_t *state = &e->a->value_state[value];
    if (t->kind == OC_T_NONE || (t->kind <= OC_T_SPARSE && !t->shape.ranked)) {
        *state = OC_V_UNKNOWN;
        return;
    }
    *state = OC_V_STATIC;
    for (unsigned i = 0; t->shape.ranked && i < t->shape.rank; i++)
        if (!oc_is_known(t->shape.dim[i]))
            *state = oc_dim_max_value(e->a->exprs, t->shape.dim[i]) >= 0 && *state != OC_V_RANK_ONLY
                         ? OC_V_BOUNDED
                         : OC_V_RANK_ONLY;
}

bool oc_data_fully_known(const struct oc_data *d)
{
    for (uint32_t i = 0; i < d->n; i++)
        if (d->e[i].kind == OC_E_UNKNOWN || d->e[i].kind == OC_E_RATIO ||
            (d->e[i].kind == OC_E_INT && !oc_is_known(d->e[i].i)))
            return false;
    return true;
}

/* Reads a constant's elements; the result is cached. */
static const struct oc_data *read_constant(struct oc_engine *e, uint32_t value)
{
    if (e->tried[value])
        return e->a->data[value];
    e->tried[value] = true;
    const struct oc_tensor *t = oc_analysis_constant(e->a, value);
    if (!t || !e->a->is_const[value] || t->elements > OC_MAX_DATA)
        return NULL;
    struct oc_elem *elem = OC_NEW_ARRAY(&e->a->arena, t->elements, struct oc_elem);
    if (!oc_tensor_elems(e->m, t, (uint32_t)t->elements, elem, &e->a->arena))
        return NULL;
    struct oc_data *d = OC_NEW(&e->a->arena, struct oc_data);
    *d = (struct oc_data){.n = (uint32_t)t->elements, .e = elem};
    e->folded_bytes += t->elements * sizeof(*elem);
    return e->a->data[value] = d;
}

const struct oc_data *oc_known_data(struct oc_engine *e, uint32_t value)
{
    return e->a->data[value] ? e->a->data[value] : read_constant(e, value);
}

bool oc_spend(struct oc_engine *e, uint64_t n)
{
    bool enough = n <= e->spare;
    e->spare -= enough ? n : 0;
    return enough;
}

/* Called when a rule requests a value that is not computed yet. */
static const struct oc_data *load_data(const struct oc_op_ctx *c, unsigned slot)
{
    struct oc_engine *e = c->engine;
    const struct oc_data *d = read_constant(e, c->node->in[slot]);
    e->n_loaded++;
    if (!d && e->missed == OC_NONE)
        e->missed = slot;
    return d;
}

static struct oc_counting counting_of(const struct oc_analyze_opts *o)
{
    return (struct oc_counting){.taps_valid = o->taps_valid,
                                .strict_reduce = o->strict_reduce,
                                .literal_ceil_mode = o->literal_ceil_mode,
                                .attention_full = o->attention_full,
                                .einsum_optimal = o->einsum_optimal,
                                .trees_max = o->trees_max,
                                .moe_expected = o->moe_expected,
                                .lut = o->lut,
                                .inplace = o->inplace,
                                .rnn_reload = o->rnn_reload,
                                .kv_share = (uint8_t)o->kv_share};
}

void oc_blank_ctx(struct oc_engine *e)
{
    if (!e->formulas)
        e->formulas = OC_NEW(&e->a->arena, struct oc_formula_cache);
    e->blank = (struct oc_op_ctx){.arena = &e->a->arena,
                                  .exprs = e->a->exprs,
                                  .model = e->m,
                                  .in = e->in,
                                  .in_data = e->in_data,
                                  .in_const = e->in_const,
                                  .load_data = load_data,
                                  .out = e->out,
                                  .out_data = e->out_data,
                                  .out_used = e->out_used,
                                  .err = e->err,
                                  .engine = e,
                                  .unknown_elems = &e->unknown_elems,
                                  .opt = counting_of(e->o),
                                  .values = e->values,
                                  .formulas = e->formulas};
}

struct oc_err *oc_rule_error(struct oc_engine *e)
{
    struct oc_err *why = &e->why; /* clearing all of it would take longer than most rules */
    why->code = OC_OK;
    why->line = 0;
    why->offset_bytes = 0;
    why->file[0] = why->msg[0] = '\0';
    return why;
}

void oc_fill_ctx(struct oc_engine *e, const struct oc_node *n, const struct oc_op *op, struct oc_op_ctx *c)
{
    *c = e->blank;
    c->node = n;
    c->op = op;
    c->opset = n->opset > 0 ? n->opset : OC_NEWEST_OPSET;
    c->n_in = n->n_in;
    c->n_out = n->n_out;
    e->missed = OC_NONE;
    for (uint32_t i = 0; i < n->n_in; i++) {
        uint32_t v = n->in[i];
        e->in[i] = v == OC_NONE ? NULL : &e->a->type[v];
        e->in_data[i] = v == OC_NONE ? NULL : e->a->data[v];
        e->in_const[i] = v != OC_NONE && e->a->is_const[v];
    }
    for (uint32_t i = 0; i < n->n_out; i++) {
        uint32_t v = n->out[i];
        e->out[i] = (struct oc_type){.kind = OC_T_NONE};
        e->out_data[i] = NULL;
        e->out_used[i] = v != OC_NONE && (e->m->value[v].n_use || e->m->value[v].graph_output || i == 0);
    }
}

/* ---- root causes -------------------------------------------------------------------------------------- */

/* Root cause of unknown sizes: the value of the model whose information is missing. For a data-dependent size
 * (the shape operand of a Reshape, the count of a NonZero), that is the graph input the value is computed
 * from. */

#define NOT_LOOKED  OC_NONE
#define MAX_FORMALS 256 /* number of body inputs examined */

static bool is_open_cause(const struct oc_engine *e, uint32_t v)
{
    return e->a->value_state[v] != OC_V_STATIC && e->a->value_state[v] != OC_V_DECLARED;
}

static bool is_known_cause(const struct oc_engine *e, uint32_t v)
{
    return e->a->is_const[v] || e->m->value[v].constant ||
           (e->a->data[v] && oc_data_fully_known(e->a->data[v]));
}

/* The value that the owner of a body passes for its i-th input: a Loop passes the trip number first, others
 * pass all inputs in order. */
static uint32_t operand_of(const struct oc_engine *e, uint32_t v)
{
    const struct oc_graph *g = &e->m->graph[e->m->value[v].graph];
    if (g->parent_node == OC_NONE)
        return OC_NONE;
    const struct oc_node *n = &e->m->node[g->parent_node];
    uint32_t i = 0;
    while (i < g->n_input && i < MAX_FORMALS && g->input[i] != v)
        i++;
    return i < g->n_input && i < MAX_FORMALS && i < n->n_in ? n->in[i] : OC_NONE;
}

/* Root cause of the unknown type of v, OC_NONE if it is known. */
static uint32_t lost_type(const struct oc_engine *e, uint32_t v)
{
    for (uint32_t outer; is_open_cause(e, v); v = outer) {
        if (e->a->root_cause[v] != OC_NONE)
            return e->a->root_cause[v];
        outer = e->m->value[v].producer == OC_NONE ? operand_of(e, v) : OC_NONE;
        if (outer == OC_NONE)
            return v;
    }
    return OC_NONE;
}

static uint32_t first_unknown(const struct oc_engine *e, const struct oc_node *n)
{
    for (uint32_t i = 0; i < n->n_in; i++)
        if (n->in[i] != OC_NONE && !is_known_cause(e, n->in[i]))
            return n->in[i];
    return OC_NONE;
}

/* One step from a value towards its source; OC_NONE: there is none. */
static uint32_t step_back(const struct oc_engine *e, uint32_t v)
{
    uint32_t producer = e->m->value[v].producer;
    if (producer == OC_NONE)
        return operand_of(e, v);
    const struct oc_node *n = &e->m->node[producer];
    if (n->n_in && n->in[0] != OC_NONE && oc_op_is(e->a->op[producer], OC_F_TYPE_ONLY)) {
        uint32_t lost = lost_type(e, n->in[0]);
        return lost == v ? OC_NONE : lost;
    }
    return first_unknown(e, n);
}

/* The graph input, or else the value, that determines the unknown value v. Results are memoised in every
 * value on the path: operands precede their nodes, so each walk ends, and all walks together visit each value
 * once. */
static uint32_t find_root_cause(struct oc_engine *e, uint32_t v)
{
    uint32_t end = v, next;
    if (!e->decider) {
        e->decider = OC_NEW_ARRAY(&e->a->arena, e->m->n_value, uint32_t);
        memset(e->decider, 0xff, e->m->n_value * sizeof(*e->decider));
    }
    for (uint32_t steps = 0; steps <= e->m->n_value && e->decider[end] == NOT_LOOKED; end = next, steps++)
        if ((next = step_back(e, end)) == OC_NONE)
            break;
    if (e->decider[end] != NOT_LOOKED)
        end = e->decider[end];
    for (uint32_t at = v; at != OC_NONE && e->decider[at] == NOT_LOOKED; at = next) {
        next = at == end ? OC_NONE : step_back(e, at);
        e->decider[at] = end;
    }
    return end;
}

/* Slots of metadata, read on the host. */
static bool is_metadata_cause(const struct oc_op *op, uint32_t slot)
{
    size_t n = op && op->slots ? strlen(op->slots) : 0;
    return n && op->slots[slot < n ? slot : n - 1] == 'm';
}

static uint32_t unknown_operand(const struct oc_engine *e, const struct oc_node *n, const struct oc_op *op)
{
    for (uint32_t i = 0; i < n->n_in; i++)
        if (n->in[i] != OC_NONE && is_metadata_cause(op, i) && !is_known_cause(e, n->in[i]))
            return n->in[i];
    return first_unknown(e, n);
}

/* Root cause common to all outputs of a node. */
static uint32_t lost_by_inputs(struct oc_engine *e, const struct oc_node *n, const struct oc_op *op,
                               uint32_t asked)
{
    for (uint32_t i = 0; i < n->n_in; i++) {
        uint32_t lost = n->in[i] == OC_NONE ? OC_NONE : lost_type(e, n->in[i]);
        if (lost != OC_NONE)
            return lost;
    }
    if (!op) /* without a rule, no value helps */
        return OC_NONE;
    uint32_t operand = asked < n->n_in ? n->in[asked] : unknown_operand(e, n, op);
    return operand == OC_NONE ? OC_NONE : find_root_cause(e, operand);
}

/* The output of an executed body may be the cause. */
static uint32_t lost_in(const struct oc_engine *e, uint32_t body, uint32_t output)
{
    if (body == OC_NONE || e->skip[body] || output >= e->m->graph[body].n_output ||
        e->m->graph[body].output[output] == OC_NONE)
        return OC_NONE;
    return lost_type(e, e->m->graph[body].output[output]);
}

static void mark_open_outputs(struct oc_engine *e, const struct oc_node *n, const struct oc_op *op,
                              uint32_t asked)
{
    const uint32_t body[] = {oc_body_of(n, "then_branch"), oc_body_of(n, "else_branch"),
                             oc_body_of(n, "body")};
    uint32_t common = lost_by_inputs(e, n, op, asked),
             first = op && op->body == OC_BODY_LOOP; /* the condition of the If */
    for (uint32_t i = 0; i < n->n_out; i++) {
        uint32_t cause = common;
        if (n->out[i] == OC_NONE || !is_open_cause(e, n->out[i]))
            continue;
        for (size_t k = 0; k < OC_COUNT(body) && cause == OC_NONE; k++)
            cause = lost_in(e, body[k], first + i);
        e->a->root_cause[n->out[i]] = cause == OC_NONE ? n->out[i] : cause;
    }
}

/* Sets root_cause of the outputs, whose types are final; `asked`: the slot whose value the shape
 * rule could not get, OC_NONE */
static void mark_root_cause(struct oc_engine *e, const struct oc_node *n, const struct oc_op *op,
                            uint32_t asked)
{
    bool open = false;
    for (uint32_t i = 0; i < n->n_out; i++)
        if (n->out[i] != OC_NONE) {
            e->a->root_cause[n->out[i]] = OC_NONE;
            open |= is_open_cause(e, n->out[i]);
        }
    if (open)
        mark_open_outputs(e, n, op, asked);
}

const char *oc_cause_text(const struct oc_engine *e, uint32_t v)
{
    uint32_t cause = e->a->root_cause[v];
    bool value = e->m->value[cause].producer == OC_NONE && !is_open_cause(e, cause);
    return oc_printf(&e->a->arena, "a size depends on %s'%s'", value ? "the value of " : "",
                     e->m->value[cause].name);
}

/* ---- nodes -------------------------------------------------------------------------------------------- */

static void set_constant_type(struct oc_engine *e, uint32_t value, const struct oc_tensor *t)
{
    struct oc_dim *dim = OC_NEW_ARRAY(&e->a->arena, t->rank, struct oc_dim);
    for (unsigned i = 0; i < t->rank; i++)
        dim[i] = oc_known(t->dim[i]);
    struct oc_type type = {
        .kind = OC_T_TENSOR, .dtype = t->dtype, .shape = {.dim = dim, .rank = t->rank, .ranked = true}};
    oc_set_value(e, value, &type);
    e->a->is_const[value] = true;
}

/* Name of a node in messages. */
static const char *infer_label(struct oc_engine *e, const struct oc_node *n)
{
    char buf[256];
    return oc_strdup(&e->a->arena, oc_node_label(e->m, n, buf, sizeof(buf)));
}

static bool any_conflict(const struct oc_type *c, const struct oc_type *d)
{
    if (c->shape.rank != d->shape.rank)
        return true;
    for (unsigned i = 0; i < c->shape.rank; i++) {
        struct oc_dim x = c->shape.dim[i], y = d->shape.dim[i];
        if (oc_is_known(x) && oc_is_known(y) && y.v >= 0 && x.v != y.v)
            return true;
    }
    return false;
}

/* Known dims of the declaration replace unknown ones. */
static void fill_dims(struct oc_engine *e, struct oc_type *c, const struct oc_type *d)
{
    struct oc_dim *dim = OC_NEW_ARRAY(&e->a->arena, c->shape.rank, struct oc_dim);
    for (unsigned i = 0; i < c->shape.rank; i++) {
        struct oc_dim y = d->shape.dim[i];
        bool take = !oc_is_known(c->shape.dim[i]) && oc_is_known(y) && y.v >= 0;
        dim[i] = take ? y : c->shape.dim[i];
    }
    c->shape.dim = dim;
}

/* Unknown dims of a declared shape become unknowns of this value. */
static struct oc_type declared_alone(struct oc_engine *e, uint32_t value, struct oc_type t)
{
    if (!t.shape.ranked)
        return t;
    struct oc_dim *dim = OC_NEW_ARRAY(&e->a->arena, t.shape.rank, struct oc_dim);
    for (unsigned i = 0; i < t.shape.rank; i++) {
        dim[i] = t.shape.dim[i];
        if (oc_is_known(dim[i]) && dim[i].v < 0)
            dim[i] =
                oc_dim_symbol(e->a->exprs, oc_printf(&e->a->arena, "%s.%u", e->m->value[value].name, i), -1);
    }
    t.shape.dim = dim;
    return t;
}

static void conflict(struct oc_engine *e, const struct oc_node *n, uint32_t value, const struct oc_type *c,
                     const struct oc_type *d)
{
    const char *computed = oc_type_text(&e->a->arena, e->a->exprs, c);
    const char *declared = oc_type_text(&e->a->arena, e->a->exprs, d);
    if (e->o->strict || !e->o->force_shapes)
        oc_diag_add(&e->a->diags, e->o->strict ? OC_ERROR : OC_WARNING, "W-shape-conflict", infer_label(e, n),
                    "'%s': inferred %s from its inputs, declared %s", e->m->value[value].name, computed,
                    declared);
}

/* Merges the rule's result with the declaration in the file, and stores it. */
static void store_output(struct oc_engine *e, const struct oc_node *n, const struct oc_op *op, uint32_t slot)
{
    uint32_t value = n->out[slot];
    const struct oc_type *raw = e->m->value[value].declared;
    struct oc_type c = e->out[slot];
    bool tensor = c.kind == OC_T_TENSOR || c.kind == OC_T_NONE;
    if (raw->kind != OC_T_TENSOR || !tensor) {
        if (c.kind == OC_T_NONE && raw->kind != OC_T_NONE)
            c = declared_alone(e, value, oc_bind_type(e, raw));
        oc_set_value(e, value, &c);
        return;
    }
    struct oc_type d = oc_bind_type(e, raw);
    if (c.kind == OC_T_NONE || !c.shape.ranked || (op && op->flags & OC_F_LOW_CONFIDENCE)) {
        struct oc_type t = declared_alone(e, value, d);
        if (c.kind != OC_T_NONE && c.dtype)
            t.dtype = c.dtype;
        if (!t.shape.ranked && c.kind != OC_T_NONE)
            t = c;
        oc_set_value(e, value, &t);
        if (e->a->value_state[value] == OC_V_STATIC)
            e->a->value_state[value] = OC_V_DECLARED;
        return;
    }
    oc_bind_learn(e, raw, &c);
    if (c.dtype == OC_DT_UNDEFINED)
        c.dtype = d.dtype;
    if (d.shape.ranked && any_conflict(&c, &d))
        conflict(e, n, value, &c, &d);
    else if (d.shape.ranked && !oc_shape_known(&c.shape))
        fill_dims(e, &c, &d);
    oc_set_value(e, value, &c);
}

/* For lower bounds over ranges, a value that follows from the ranges counts as known: at each size it is. */
static bool is_value_known(const struct oc_engine *e, const struct oc_data *d)
{
    if (!d || !e->o->least)
        return d && oc_data_fully_known(d);
    for (uint32_t i = 0; i < d->n; i++)
        if (d->e[i].kind == OC_E_UNKNOWN)
            return false;
    return true;
}

/* Why what the node computes is not known before the run: what is computed from the value of an input is work, but
 * not its shape. */
static uint8_t infer_varies(const struct oc_engine *e, const struct oc_node *n)
{
    uint8_t varies = 0;
    if (!e->any_varies)
        return 0;
    for (uint32_t i = 0; i < n->n_in; i++)
        varies |= n->in[i] != OC_NONE ? e->varies[n->in[i]] : 0;
    bool of_shape = oc_equal(n->op_type, "Shape") || oc_equal(n->op_type, "Size");
    return of_shape ? varies & OC_VARIES_TRIP : varies;
}

/* A node is folded when its inputs are constant or its values are known anyway. */
static bool infer_is_folded(struct oc_engine *e, const struct oc_node *n, const struct oc_op *op)
{
    if (op->flags & (OC_F_NO_FOLD | OC_F_CONTROL) || e->o->no_fold)
        return n->n_in == 0 && oc_node_is_constant(n);
    bool all = true, known = n->n_out > 0 && !infer_varies(e, n);
    for (uint32_t i = 0; i < n->n_in; i++)
        all &= n->in[i] == OC_NONE || e->in_const[i];
    for (uint32_t i = 0; i < n->n_out; i++)
        known &= n->out[i] == OC_NONE || is_value_known(e, e->out_data[i]);
    return all || known;
}

/* QuantizeLinear of a constant is folded too, but DequantizeLinear belongs to its consumers. */
static bool is_weight_dequantizer(struct oc_engine *e, const struct oc_node *n)
{
    return !e->o->keep_qdq && oc_equal(n->op_type, "DequantizeLinear") && n->n_in && n->in[0] != OC_NONE &&
           e->a->is_const[n->in[0]];
}

/* What is computed from a value of one trip is a value of this trip. */
static void spread_varies(struct oc_engine *e, const struct oc_node *n)
{
    uint8_t varies = infer_varies(e, n);
    for (uint32_t i = 0; e->any_varies && i < n->n_out; i++)
        if (n->out[i] != OC_NONE)
            e->varies[n->out[i]] = varies;
}

static void finish_outputs(struct oc_engine *e, const struct oc_node *n, const struct oc_op *op,
                           uint32_t asked)
{
    spread_varies(e, n);
    if (e->see)
        e->see(e->see_ctx, e->a, (uint32_t)(n - e->m->node), e->out, e->out_data);
    for (uint32_t i = 0; i < n->n_out; i++) {
        if (n->out[i] == OC_NONE)
            continue;
        store_output(e, n, op, i);
        if (e->a->data[n->out[i]] != e->out_data[i]) { /* most are unknown: their pages stay untouched */
            e->a->data[n->out[i]] = e->out_data[i];
            e->tried[n->out[i]] = false; /* the constant of a body that is inferred again */
        }
    }
    mark_root_cause(e, n, op, asked);
}

bool oc_has_warned(const struct oc_engine *e, const char *code, const char *where)
{
    bool found = e->a->diags.dropped > 0; /* no room for another one */
    for (size_t i = 0; i < e->a->diags.n && !found; i++)
        found = !strcmp(e->a->diags.item[i].code, code) && !strcmp(e->a->diags.item[i].where, where);
    return found;
}

static int unknown_op(struct oc_engine *e, uint32_t node)
{
    const struct oc_node *n = &e->m->node[node];
    struct oc_op_ctx c;
    oc_fill_ctx(e, n, NULL, &c);
    e->a->cost[node].state = OC_NODE_UNKNOWN_OP;
    e->a->cost[node].note = "no rule for this operator";
    oc_diag_add(&e->a->diags, OC_WARNING, "W-unknown-op", infer_label(e, n),
                "operator '%s%s%s' (opset %d) is not supported", n->domain, n->domain[0] ? ":" : "",
                n->op_type, n->opset);
    finish_outputs(e, n, NULL, OC_NONE);
    return 0;
}

static int infer_call(struct oc_engine *e, uint32_t node)
{
    const struct oc_node *n = &e->m->node[node];
    const struct oc_graph *g = &e->m->graph[n->body];
    e->a->cost[node].state = OC_NODE_CONTAINER;
    if (oc_infer_graph(e, n->body))
        return -1;
    for (uint32_t i = 0; i < n->n_out && i < g->n_output; i++) {
        uint32_t to = n->out[i], from = g->output[i];
        if (to == OC_NONE || from == OC_NONE || to == from)
            continue;
        e->a->type[to] = e->a->type[from];
        e->a->data[to] = e->a->data[from];
        e->a->is_const[to] = e->a->is_const[from];
        e->varies[to] = e->varies[from];
        e->a->value_state[to] = e->a->value_state[from];
        e->a->root_cause[to] = e->a->root_cause[from];
    }
    return 0;
}

enum { MANY_BYTES = 64 << 10 }; /* a shape rule that takes more has copied lists of values */

static int run_rules(struct oc_engine *e, uint32_t node, const struct oc_op *op)
{
    const struct oc_node *n = &e->m->node[node];
    struct oc_node_cost *k = &e->a->cost[node];
    struct oc_op_ctx c;
    oc_fill_ctx(e, n, op, &c);
    const struct oc_err *why = c.err = oc_rule_error(e);
    size_t before = e->a->arena.used_bytes;
    int rc = oc_op_infer(&c);
    size_t list_bytes = e->a->arena.used_bytes - before;
    e->folded_bytes += list_bytes > MANY_BYTES ? list_bytes : 0;
    if (rc) {
        if (why->code == OC_ELIMIT)
            return oc_fail(e->err, OC_ELIMIT, "node '%s' (%s): %s", infer_label(e, n), n->op_type, why->msg);
        e->n_failed++;
        k->state = OC_NODE_NO_SHAPE;
        k->note = oc_strdup(&e->a->arena, why->msg);
        oc_diag_add(&e->a->diags, OC_ERROR, "E-shape", infer_label(e, n), "%s: %s%s", n->op_type, why->msg,
                    assumed_dims_text(e));
        for (uint32_t i = 0; i < n->n_out; i++)
            e->out[i] = (struct oc_type){.kind = OC_T_NONE};
        finish_outputs(e, n, op, OC_NONE);
        return 0;
    }
    if (oc_exprs_overflowed(e->a->exprs))
        return oc_fail(e->err, OC_ELIMIT, "node '%s' (%s): its shape overflows 64 bits", infer_label(e, n),
                       n->op_type);
    uint32_t asked = e->missed;
    before = e->a->arena.used_bytes;
    if (op->fold)
        op->fold(&c);
    e->folded_bytes += e->a->arena.used_bytes - before;
    bool folded = infer_is_folded(e, n, op), absorbed = is_weight_dequantizer(e, n);
    finish_outputs(e, n, op, asked);
    if (folded || absorbed)
        k->state = absorbed ? OC_NODE_ABSORBED : OC_NODE_FOLDED;
    for (uint32_t i = 0; i < n->n_out; i++) /* a body may be inferred again with other types */
        if (n->out[i] != OC_NONE)
            e->a->is_const[n->out[i]] = folded || absorbed;
    return 0;
}

/* Reports once that a rule of the user's file is used, or why it is not. */
static void report_rule(struct oc_engine *e, const struct oc_node *n, const struct oc_user_rule_info *rule,
                        bool used)
{
    if (e->rule_seen[rule->index])
        return;
    e->rule_seen[rule->index] = true;
    const char *name = oc_printf(&e->a->arena, "%s%s%s", n->domain, n->domain[0] ? ":" : "", n->op_type);
    if (used)
        oc_assume(e, "operator", name, "user rule", oc_user_op_place(rule->op));
    else
        oc_diag_add(&e->a->diags, OC_INFO, "I-rule-unused", infer_label(e, n),
                    "the rule for '%s' (%s) is not "
                    "used: %s; override=\"yes\" lets it win",
                    name, oc_user_op_place(rule->op),
                    n->kind == OC_NODE_CALL ? "the model defines this function" : "the operator is built in");
}

/* The rule of a node. Built-in rules and the model's own functions take precedence over a user rule unless it
 * has override="yes". */
static const struct oc_op *infer_find_op(struct oc_engine *e, const struct oc_node *n)
{
    bool by_body = n->kind == OC_NODE_CALL && e->o->prefer_functions;
    const struct oc_op *op = by_body ? NULL : oc_op_find_cached(&e->ops, n->domain, n->op_type, n->opset);
    struct oc_user_rule_info rule;
    if (!e->o->rules || !oc_op_rules_find(e->o->rules, n->domain, n->op_type, n->opset, &rule))
        return op;
    bool use = rule.overrides || (!op && n->kind != OC_NODE_CALL);
    report_rule(e, n, &rule, use);
    return use ? rule.op : op;
}

/* Bodies may be analysed many times, nested ones once per iteration. */
static int check_work(struct oc_engine *e)
{
    const struct oc_input_limits *limits = &e->m->limits;
    uint64_t again = ++e->n_looked > e->m->n_node ? e->n_looked - e->m->n_node : 0;
    if (again > e->most_repeats)
        return oc_input_limit_fail(limits, OC_LIMIT_REPEATS, 0, e->err);
    if (e->folded_bytes > e->most_folded_bytes)
        return oc_input_limit_fail(limits, OC_LIMIT_FOLDED_BYTES, 0, e->err);
    if (e->a->arena.used_bytes > e->most_bytes)
        return oc_input_limit_fail(limits, OC_LIMIT_ANALYSIS_MEMORY, 0, e->err);
    return 0;
}

int oc_infer_node(struct oc_engine *e, uint32_t node)
{
    const struct oc_node *n = &e->m->node[node];
    if (check_work(e))
        return -1;
    const struct oc_op *op = infer_find_op(e, n);
    e->a->op[node] = op;
    e->a->cost[node] = (struct oc_node_cost){.op_class = op ? op->op_class : OC_OP_OTHER, .trips = 1};
    if (n->kind == OC_NODE_CALL && !op)
        return infer_call(e, node);
    int rc = oc_infer_control(e, node);
    if (rc == 0)
        mark_root_cause(e, n, op, OC_NONE);
    if (rc <= 0)
        return rc;
    return op ? run_rules(e, node, op) : unknown_op(e, node);
}

int oc_infer_graph(struct oc_engine *e, uint32_t graph)
{
    const struct oc_graph *g = &e->m->graph[graph];
    e->graph_use[graph] = OC_G_RUN;
    for (uint32_t i = 0; i < g->n_init; i++) {
        const struct oc_tensor *t = e->m->value[g->init[i]].constant;
        if (e->a->type[g->init[i]].kind == OC_T_NONE) /* not replaced by --shape */
            set_constant_type(e, g->init[i], t);
    }
    for (uint32_t i = 0; i < g->n_node; i++)
        if (oc_infer_node(e, g->node[i]))
            return -1;
    return 0;
}
