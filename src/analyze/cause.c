/* Root cause of unknown sizes: the value of the model whose information is missing. For a data-dependent size
 * (the shape operand of a Reshape, the count of a NonZero), that is the graph input the value is computed
 * from. */
#include <string.h>

#include "analyze/engine.h"

#define NOT_LOOKED  OC_NONE
#define MAX_FORMALS 256 /* number of body inputs examined */

static bool cause_is_open(const struct oc_engine *e, uint32_t v)
{
    return e->a->value_state[v] != OC_V_STATIC && e->a->value_state[v] != OC_V_DECLARED;
}

static bool is_value_known(const struct oc_engine *e, uint32_t v)
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
    for (uint32_t outer; cause_is_open(e, v); v = outer) {
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
        if (n->in[i] != OC_NONE && !is_value_known(e, n->in[i]))
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
static bool cause_is_metadata(const struct oc_op *op, uint32_t slot)
{
    size_t n = op && op->slots ? strlen(op->slots) : 0;
    return n && op->slots[slot < n ? slot : n - 1] == 'm';
}

static uint32_t unknown_operand(const struct oc_engine *e, const struct oc_node *n, const struct oc_op *op)
{
    for (uint32_t i = 0; i < n->n_in; i++)
        if (n->in[i] != OC_NONE && cause_is_metadata(op, i) && !is_value_known(e, n->in[i]))
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
        if (n->out[i] == OC_NONE || !cause_is_open(e, n->out[i]))
            continue;
        for (size_t k = 0; k < OC_COUNT(body) && cause == OC_NONE; k++)
            cause = lost_in(e, body[k], first + i);
        e->a->root_cause[n->out[i]] = cause == OC_NONE ? n->out[i] : cause;
    }
}

void oc_mark_root_cause(struct oc_engine *e, const struct oc_node *n, const struct oc_op *op, uint32_t asked)
{
    bool open = false;
    for (uint32_t i = 0; i < n->n_out; i++)
        if (n->out[i] != OC_NONE) {
            e->a->root_cause[n->out[i]] = OC_NONE;
            open |= cause_is_open(e, n->out[i]);
        }
    if (open)
        mark_open_outputs(e, n, op, asked);
}

const char *oc_cause_text(const struct oc_engine *e, uint32_t v)
{
    uint32_t cause = e->a->root_cause[v];
    bool value = e->m->value[cause].producer == OC_NONE && !cause_is_open(e, cause);
    return oc_printf(&e->a->arena, "a size depends on %s'%s'", value ? "the value of " : "",
                     e->m->value[cause].name);
}
