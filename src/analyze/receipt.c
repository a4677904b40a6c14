#include "analyze/receipt.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/engine.h"
#include "base/ck.h"
#include "base/units.h"
#include "onnxcost.h"

struct oc_recount {
    struct oc_engine e;
    struct oc_analysis view; /* the analysis with its own arena and small values */
    struct oc_formula_values values;
    struct oc_err err;
    struct oc_slot_bytes *in, *out;
};

struct oc_recount *oc_recount_new(const struct oc_analysis *a)
{
    struct oc_recount *r = oc_xmalloc(sizeof(*r));
    *r = (struct oc_recount){.view = *a};
    struct oc_arena *arena = &r->view.arena;
    *arena = (struct oc_arena){0};
    r->view.diags = (struct oc_diags){.arena = arena};
    r->view.data = OC_NEW_ARRAY(arena, a->model->n_value, const struct oc_data *);
    if (a->model->n_value)
        memcpy(r->view.data, a->data, a->model->n_value * sizeof(*a->data));
    r->e = (struct oc_engine){.a = &r->view,
                              .m = a->model,
                              .o = r->view.counting,
                              .err = &r->err,
                              .values = &r->values,
                              .cached_trips = 1};
    oc_convention_set(a->counting->convention, &r->e.convention);
    oc_engine_scratch(&r->e);
    r->in = OC_NEW_ARRAY(arena, a->model->most_in, struct oc_slot_bytes);
    r->out = OC_NEW_ARRAY(arena, a->model->most_out, struct oc_slot_bytes);
    return r;
}

void oc_recount_free(struct oc_recount *r)
{
    if (!r)
        return;
    oc_map_free(&r->e.symbol_ids);
    oc_arena_free(&r->view.arena);
    free(r);
}

/* ---- bytes ------------------------------------------------------------------------------------------ */

static uint64_t receipt_whole_bytes(const struct oc_op_ctx *c, const struct oc_type *t)
{
    struct oc_op_ctx own = *c; /* an unknown size marks the copy */
    if (!t || !t->shape.ranked || t->dtype == OC_DT_UNDEFINED || t->kind > OC_T_SPARSE)
        return 0;
    return oc_c_bytes(&own, t->dtype, oc_c_elems(&own, t));
}

static bool is_alias(const struct oc_engine *e, const struct oc_cost *k)
{
    return k->alias && !e->o->alias_off && !e->o->naive_bytes;
}

static const char *why_read(struct oc_recount *r, const struct oc_node *n, uint32_t slot,
                            const struct oc_op *op, const struct oc_slot_bytes *b)
{
    char label[256];
    struct oc_arena *arena = &r->view.arena;
    uint32_t dq = oc_weight_dequantizer(&r->e, n->in[slot]);
    if (dq != OC_NONE && b->moved)
        return oc_printf(arena, "in its stored form, before %s",
                         oc_node_label(r->e.m, &r->e.m->node[dq], label, sizeof(label)));
    if (b->moved)
        return b->moved < b->whole ? "a part of it" : "more than once";
    if (oc_op_slot(op, slot) == 'm')
        return "metadata: read on the host";
    for (uint32_t i = 0; i < slot; i++)
        if (n->in[i] == n->in[slot])
            return oc_printf(arena, "the same tensor as input %u", i);
    return "not read";
}

/* Why no bytes of a node move, though it counts: NULL if they do. */
static const char *why_still(const struct oc_engine *e, const struct oc_node_cost *cost,
                             const struct oc_cost *k)
{
    return cost->state != OC_NODE_NORMAL ? "folded: the node does not run"
           : is_alias(e, k)              ? "a view: no bytes move"
                                         : NULL;
}

static void slots(struct oc_recount *r, const struct oc_op_ctx *c, const struct oc_node_cost *cost,
                  const struct oc_cost *k, struct oc_receipt *out)
{
    const struct oc_node *n = c->node;
    const char *still = why_still(&r->e, cost, k);
    for (uint32_t i = 0; i < n->n_in; i++) {
        struct oc_slot_bytes *b = &r->in[i];
        *b = (struct oc_slot_bytes){.moved = still ? 0 : k->rd[i], .whole = receipt_whole_bytes(c, c->in[i])};
        if (n->in[i] != OC_NONE && b->moved != b->whole)
            b->why = still ? still : why_read(r, n, i, c->op, b);
    }
    for (uint32_t i = 0; i < n->n_out; i++) {
        struct oc_slot_bytes *b = &r->out[i];
        *b = (struct oc_slot_bytes){.moved = still ? 0 : k->wr[i],
                                    .whole = receipt_whole_bytes(c, &c->out[i])};
        if (n->out[i] == OC_NONE || b->moved == b->whole)
            continue;
        b->why = still                 ? still
                 : !c->out_used[i]     ? "no node reads it"
                 : b->moved < b->whole ? "a part of it"
                                       : "more than once";
    }
    out->in = r->in;
    out->out = r->out;
}

/* ---- the rule --------------------------------------------------------------------------------------- */

static uint64_t receipt_sum(const uint64_t *hist, const uint32_t *weight, uint64_t *total)
{
    for (unsigned p = 0; p < OC_PRIM_COUNT; p++) {
        uint64_t n;
        if (oc_mul_u64(hist[p], weight[p], &n))
            oc_add_u64(*total, n, total);
    }
    return *total;
}

static uint64_t formula_deq(const struct oc_formula *f)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < f->n_term; i++)
        n += f->term[i].prim == OC_DEQ ? f->term[i].value : 0;
    return n;
}

/* A node in a body that never runs costs nothing even if its shape rule failed. */
static bool has_types(const struct oc_engine *e, const struct oc_node *n)
{
    for (uint32_t i = 0; i < n->n_out; i++)
        if (n->out[i] != OC_NONE && e->a->type[n->out[i]].kind == OC_T_NONE)
            return false;
    return true;
}

static bool is_counted(const struct oc_engine *e, const struct oc_node_cost *k)
{
    bool folded = k->state == OC_NODE_FOLDED || k->state == OC_NODE_ABSORBED;
    return k->quality != OC_UNKNOWN &&
           (k->state == OC_NODE_NORMAL || (folded && oc_convention_counts_folded(e->convention)));
}

bool oc_recount_rule(struct oc_recount *r, uint32_t node, struct oc_op_ctx *c, struct oc_cost *k)
{
    struct oc_engine *e = &r->e;
    const struct oc_op *op = e->a->op[node];
    if (!op || !is_counted(e, &e->a->cost[node]) || !has_types(e, &e->m->node[node]))
        return false;
    *c = (struct oc_op_ctx){.err = &r->err};
    r->values.n = 0;
    oc_cost_rule(e, node, op, c, k);
    return !c->unknown && !c->overflow;
}

bool oc_recount_node(struct oc_recount *r, uint32_t node, bool details, struct oc_receipt *out)
{
    struct oc_engine *e = &r->e;
    struct oc_op_ctx c;
    *out = (struct oc_receipt){.op = e->a->op[node]};
    if (!oc_recount_rule(r, node, &c, &out->cost))
        return false;
    if (details && oc_formula_read(&c, &out->formula) == 0) {
        slots(r, &c, &e->a->cost[node], &out->cost, out);
        out->dequantized = out->cost.hist_f[OC_DEQ] + out->cost.hist_i[OC_DEQ] - formula_deq(&out->formula);
    }
    out->weight = e->a->weights.w;
    if (e->convention) {
        out->flops = oc_convention_count(e->convention, &c, &out->cost);
    } else {
        receipt_sum(out->cost.hist_f, out->weight, &out->flops);
        receipt_sum(out->cost.hist_i, out->weight, &out->flops);
    }
    oc_convention_parts(e->convention, out->weight, &c, &out->cost, &out->parts);
    return true;
}

/* ---- sources ---------------------------------------------------------------------------------------- */

static const char *receipt_assumption(const struct oc_analysis *a, const char *name)
{
    for (uint32_t i = 0; i < a->n_assumption; i++)
        if (strcmp(a->assumption[i].what, "dim") == 0 && strcmp(a->assumption[i].name, name) == 0)
            return a->assumption[i].reason;
    return NULL;
}

static const char *symbol_source(const struct oc_analysis *a, struct oc_arena *arena, uint32_t symbol)
{
    const char *from = a->symbol_from[symbol];
    return oc_printf(arena, "%s: %s", a->model->symbol[symbol], from ? from : "computed");
}

const char *oc_dim_source(const struct oc_analysis *a, struct oc_arena *arena, uint32_t value, unsigned axis)
{
    const struct oc_model *m = a->model;
    const struct oc_value *v = &m->value[value];
    const struct oc_shape *d = &v->declared->shape;
    char label[256];
    if (v->producer != OC_NONE)
        return oc_printf(arena, "inferred by %s",
                         oc_node_label(m, &m->node[v->producer], label, sizeof(label)));
    for (uint32_t i = 0; i < a->n_given_input; i++)
        if (a->given_input[i].value == value)
            return a->given_input[i].from;
    if (v->constant)
        return "of the initializer";
    if (!v->graph_input || v->graph != 0 || !d->ranked || axis >= d->rank)
        return "of the surrounding node";
    if (d->dim[axis].expr)
        return symbol_source(a, arena, d->dim[axis].expr - 1);
    if (d->dim[axis].v >= 0)
        return "declared";
    const char *name = oc_printf(arena, "%s.%u", v->name, axis), *reason = receipt_assumption(a, name);
    return oc_printf(arena, "%s: %s", name, reason ? reason : "--dim");
}

const char *oc_value_source(const struct oc_analysis *a, struct oc_arena *arena, uint32_t value)
{
    const struct oc_value *v = &a->model->value[value];
    char label[256];
    if (v->producer != OC_NONE)
        return oc_printf(arena, "%s %s", a->is_const[value] ? "constant of" : "output of",
                         oc_node_label(a->model, &a->model->node[v->producer], label, sizeof(label)));
    return v->constant                       ? "initializer"
           : v->graph_input && v->graph == 0 ? "graph input"
                                             : "input of the body";
}

const char *oc_node_reason(const struct oc_node_cost *k)
{
    static const char *const text[] = {
        [OC_NODE_FOLDED] = "folded: its value is computed before the run, so the node does not run",
        [OC_NODE_ABSORBED] = "weights are dequantized by their consumers",
        [OC_NODE_NOT_TAKEN] = "in a branch that is not counted",
        [OC_NODE_UNKNOWN_OP] = "no rule for this operator",
        [OC_NODE_NO_SHAPE] = "a shape is unknown",
        [OC_NODE_CONTAINER] = "its cost is that of its body",
    };
    const char *own = k->state < OC_COUNT(text) ? text[k->state] : NULL;
    return own && k->note ? k->note : own;
}

/* ---- names ------------------------------------------------------------------------------------------ */

static const char *nearest_node(const struct oc_model *m, const char *text, struct oc_arena *arena)
{
    const char **name = OC_NEW_ARRAY(arena, m->n_node, const char *);
    char label[256];
    for (uint32_t i = 0; i < m->n_node; i++)
        name[i] = oc_strdup(arena, oc_node_label(m, &m->node[i], label, sizeof(label)));
    return oc_nearest_name(text, name, m->n_node);
}

static int receipt_not_found(const struct oc_model *m, const char *text, struct oc_err *err)
{
    unsigned n = 0;
    char label[256];
    struct oc_arena arena = {0};
    oc_fail(err, OC_ENOTFOUND, "no node is named '%s'", text);
    for (uint32_t i = 0; i < m->n_node && n < 5; i++) {
        const char *name = oc_node_label(m, &m->node[i], label, sizeof(label));
        size_t used = strlen(err->msg);
        if (*text && strstr(name, text))
            snprintf(err->msg + used, sizeof(err->msg) - used, "%s '%s'",
                     n++ ? "," : "; similar names:", name);
    }
    const char *near = n ? NULL : nearest_node(m, text, &arena);
    if (near)
        oc_fail(err, OC_ENOTFOUND, "no node is named '%s'; did you mean '%.200s'?", text, near);
    else if (!n)
        oc_fail(err, OC_ENOTFOUND, "no node is named '%s'; --format csv lists the names", text);
    oc_arena_free(&arena);
    return -1;
}

int oc_find_node(const struct oc_model *m, const char *text, uint32_t *node, struct oc_err *err)
{
    uint64_t index;
    uint32_t found = OC_NONE;
    char label[256], by_type[256];
    for (uint32_t i = 0; i < m->n_node; i++) {
        snprintf(by_type, sizeof(by_type), "%s_%u", m->node[i].op_type, m->node[i].file_index);
        const char *name = oc_node_label(m, &m->node[i], label, sizeof(label));
        if (strcmp(name, text) && (m->node[i].graph || strcmp(by_type, text)))
            continue;
        if (found != OC_NONE)
            return oc_fail(err, OC_EARG, "several nodes are named '%s': use the index, such as %u or %u",
                           text, found, i);
        found = i;
    }
    if (found == OC_NONE && oc_parse_u64(text, strlen(text), &index) && index < m->n_node)
        found = (uint32_t)index;
    *node = found;
    return found == OC_NONE ? receipt_not_found(m, text, err) : 0;
}
