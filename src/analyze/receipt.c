/* Cost breakdown of single nodes, and the difference between two counting conventions. */
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
    uint32_t dq = oc_weight_dequantizer(r->e.a, n->in[slot]);
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

bool oc_recount_bytes(struct oc_recount *r, uint32_t node, bool output, uint32_t slot, uint64_t *bytes)
{
    struct oc_op_ctx c;
    struct oc_cost k;
    if (!oc_recount_rule(r, node, &c, &k))
        return false;
    *bytes = why_still(&r->e, &r->e.a->cost[node], &k) ? 0 : output ? k.wr[slot] : k.rd[slot];
    return true;
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

/* ---- differences between conventions ------------------------------------------------------------------ */

struct pass {
    struct oc_explanation *x;
    const struct oc_analysis *const *a;
    struct oc_recount *recount[2];
    struct oc_map index; /* of types */
    bool overflow;
};

/* ---- sums ------------------------------------------------------------------------------------------- */

static int64_t minus(struct pass *p, uint64_t a, uint64_t b)
{
    if (a > INT64_MAX || b > INT64_MAX) {
        p->overflow = true;
        return 0;
    }
    return (int64_t)a - (int64_t)b;
}

static uint64_t multiply(struct pass *p, uint64_t a, uint64_t b)
{
    uint64_t v = 0;
    if (!oc_mul_u64(a, b, &v))
        p->overflow = true;
    return v;
}

static void add_term_of(struct pass *p, struct oc_explain_type *t, const char *reason, int64_t difference)
{
    uint32_t i = 0;
    if (difference == 0)
        return;
    while (i < t->n_term && strcmp(t->term[i].reason, reason))
        i++;
    if (i == t->n_term) {
        OC_GROW(t->term, t->n_term, t->cap_term);
        t->term[t->n_term++] = (struct oc_explain_term){.reason = oc_strdup(&p->x->arena, reason)};
    }
    if (!oc_add_i64(t->term[i].difference, difference, &t->term[i].difference))
        p->overflow = true;
}

static struct oc_explain_type *type_of(struct pass *p, const struct oc_node *n)
{
    const char *key = oc_printf(&p->x->arena, "%s\x1f%s", n->domain, n->op_type);
    uint32_t i = p->x->n_type;
    if (oc_map_add(&p->index, key, strlen(key), &i, NULL)) {
        OC_GROW(p->x->type, p->x->n_type, p->x->cap_type);
        p->x->type[p->x->n_type++] = (struct oc_explain_type){.domain = n->domain, .op_type = n->op_type};
    }
    return &p->x->type[i];
}

/* ---- reasons ---------------------------------------------------------------------------------------- */

/* Name of the non-MAC work of an operator class. */
static const char *rest_name(const struct oc_op *op)
{
    static const char *const name[OC_OP_CLASS_COUNT] = {
        [OC_OP_ELEMENTWISE] = "element-wise work",
        [OC_OP_REDUCE] = "reductions",
        [OC_OP_GEMM] = "bias and scales",
        [OC_OP_CONV] = "bias",
        [OC_OP_POOL] = "pooling windows",
        [OC_OP_NORM] = "normalisations",
        [OC_OP_SOFTMAX] = "softmax",
        [OC_OP_ATTENTION] = "scale, mask and softmax",
        [OC_OP_RNN] = "gates",
        [OC_OP_RESIZE] = "resampling",
        [OC_OP_QUANTIZE] = "quantization",
        [OC_OP_COPY] = "data movement",
        [OC_OP_LAYOUT] = "data movement",
        [OC_OP_GATHER] = "data movement",
    };
    return op->op_class < OC_OP_CLASS_COUNT && name[op->op_class] ? name[op->op_class] : "other work";
}

static const char *option_name(const struct oc_op *op)
{
    return op->op_class == OC_OP_CONV        ? "taps on padding"
           : op->op_class == OC_OP_ATTENTION ? "pairs hidden by causal masks and windows"
                                             : "counting options";
}

/* mac_part = unit*macs + special, and rest: the differences term by term. */
static void compare_receipts(struct pass *p, struct oc_explain_type *t, const struct oc_receipt r[2],
                             uint64_t trips)
{
    const struct oc_count_parts *a = &r[0].parts, *b = &r[1].parts;
    struct oc_arena *arena = &p->x->arena;
    uint64_t seen_a = multiply(p, multiply(p, a->unit, a->macs), trips),
             seen_b = multiply(p, multiply(p, b->unit, b->macs), trips);
    uint64_t middle = multiply(p, multiply(p, a->unit, b->macs), trips); /* A's weight, B's MACs */
    add_term_of(p, t, option_name(r[0].op), minus(p, middle, seen_a));
    add_term_of(p, t, oc_printf(arena, "one MAC counts %u -> %u", (unsigned)a->unit, (unsigned)b->unit),
                minus(p, seen_b, middle));
    if (a->mac_text)
        add_term_of(p, t, oc_printf(arena, "%s: %s", p->x->name[0], a->mac_text),
                    minus(p, seen_a, multiply(p, a->mac_part, trips)));
    if (b->mac_text)
        add_term_of(p, t, oc_printf(arena, "%s: %s", p->x->name[1], b->mac_text),
                    minus(p, multiply(p, b->mac_part, trips), seen_b));
    add_term_of(p, t, oc_printf(arena, "%s: %s -> %s", rest_name(r[0].op), a->rest_text, b->rest_text),
                minus(p, multiply(p, b->rest, trips), multiply(p, a->rest, trips)));
}

static uint64_t counted_by_convention(const struct oc_analysis *a, uint32_t node)
{
    return a->cost[node].quality == OC_UNKNOWN ? 0 : a->cost[node].flops + a->cost[node].ops;
}

/* Why only one convention counts the node. */
static const char *one_sided(const struct oc_node_cost *k)
{
    return k->state == OC_NODE_FOLDED || k->state == OC_NODE_ABSORBED ? "nodes of constants"
                                                                      : "another branch is counted";
}

static void compare_node(struct pass *p, uint32_t node)
{
    const struct oc_analysis *const *a = p->a;
    uint64_t count[2] = {counted_by_convention(a[0], node), counted_by_convention(a[1], node)};
    struct oc_receipt r[2];
    bool known[2];
    for (int i = 0; i < 2; i++)
        known[i] = oc_recount_node(p->recount[i], node, false, &r[i]);
    if (!known[0] && !known[1])
        return;
    struct oc_explain_type *t = type_of(p, &a[0]->model->node[node]);
    t->nodes++;
    for (int i = 0; i < 2; i++)
        if (!oc_add_u64(t->count[i], count[i], &t->count[i]))
            p->overflow = true;
    if (!known[0] || !known[1]) {
        add_term_of(p, t, one_sided(&a[known[0] ? 0 : 1]->cost[node]), minus(p, count[1], count[0]));
        return;
    }
    uint64_t trips[2] = {a[0]->cost[node].trips, a[1]->cost[node].trips};
    add_term_of(p, t, "executions", minus(p, multiply(p, r[0].flops, trips[1]), count[0]));
    compare_receipts(p, t, r, trips[1]);
    add_term_of(p, t, "executions",
                minus(p, count[1], multiply(p, r[1].flops, trips[1]))); /* --count if=avg counts half */
}

/* ---- order ------------------------------------------------------------------------------------------ */

static uint64_t size_of(int64_t v)
{
    return v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
}

static int by_difference(const void *a, const void *b)
{
    const struct oc_explain_term *x = a, *y = b;
    uint64_t p = size_of(x->difference), q = size_of(y->difference);
    return p != q ? (p < q ? 1 : -1) : strcmp(x->reason, y->reason);
}

static int by_type_difference(const void *a, const void *b)
{
    const struct oc_explain_type *x = a, *y = b;
    uint64_t p = x->count[1] > x->count[0] ? x->count[1] - x->count[0] : x->count[0] - x->count[1];
    uint64_t q = y->count[1] > y->count[0] ? y->count[1] - y->count[0] : y->count[0] - y->count[1];
    if (p != q)
        return p < q ? 1 : -1;
    if (x->count[0] != y->count[0])
        return x->count[0] < y->count[0] ? 1 : -1;
    int names = strcmp(x->op_type, y->op_type);
    return names ? names : strcmp(x->domain, y->domain);
}

static void order_types(struct oc_explanation *x)
{
    for (uint32_t i = 0; i < x->n_type; i++)
        if (x->type[i].n_term)
            qsort(x->type[i].term, x->type[i].n_term, sizeof(*x->type[i].term), by_difference);
    if (x->n_type)
        qsort(x->type, x->n_type, sizeof(*x->type), by_type_difference);
}

int oc_explain(const struct oc_analysis *const a[2], struct oc_explanation *out, struct oc_err *err)
{
    *out = (struct oc_explanation){.name = {"onnxcost", "onnxcost"}};
    struct pass p = {.x = out, .a = a, .index = {.arena = &out->arena}};
    for (int i = 0; i < 2; i++) {
        if (a[i]->counting->convention)
            out->name[i] = oc_strdup(&out->arena, a[i]->counting->convention);
        if (!oc_add_u64(a[i]->total->flops, a[i]->total->ops, &out->count[i]))
            p.overflow = true;
        p.recount[i] = oc_recount_new(a[i]);
    }
    for (uint32_t i = 0; i < a[0]->model->n_node && !p.overflow; i++)
        compare_node(&p, i);
    for (int i = 0; i < 2; i++)
        oc_recount_free(p.recount[i]);
    oc_map_free(&p.index);
    order_types(out);
    if (!p.overflow)
        return 0;
    oc_explanation_free(out);
    return oc_fail(err, OC_ELIMIT, "the differences overflow 64 bits");
}

void oc_explanation_free(struct oc_explanation *x)
{
    for (uint32_t i = 0; i < x->n_type; i++)
        free(x->type[i].term);
    free(x->type);
    oc_arena_free(&x->arena);
    *x = (struct oc_explanation){0};
}
