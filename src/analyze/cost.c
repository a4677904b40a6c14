/* The cost pass (cost-semantics.md): default bytes, the operator's cost rule, weights of primitives, trips.
 */
#include <string.h>

#include "analyze/convention.h"
#include "analyze/engine.h"
#include "base/ck.h"
#include "onnxcost.h"

static bool transcendental(unsigned prim)
{
    return prim == OC_SQRT || (prim >= OC_EXP && prim <= OC_POW);
}

uint32_t oc_weight_dequantizer(const struct oc_engine *e, uint32_t value)
{
    for (int steps = 0; value != OC_NONE && steps < 8; steps++) {
        uint32_t p = e->m->value[value].producer;
        if (p == OC_NONE)
            return OC_NONE;
        if (e->a->cost[p].state == OC_NODE_ABSORBED)
            return p;
        if (e->a->cost[p].state != OC_NODE_FOLDED || !e->m->node[p].n_in)
            return OC_NONE;
        value = e->m->node[p].in[0];
    }
    return OC_NONE;
}

static uint64_t cost_type_bytes(struct oc_op_ctx *c, const struct oc_type *t)
{
    if (!t || t->kind == OC_T_SEQUENCE || t->kind == OC_T_OPTIONAL || t->kind == OC_T_MAP)
        return 0;
    if (t->kind == OC_T_TENSOR && t->dtype == OC_DT_STRING)
        return 0; /* any number of inputs */
    if (t->kind == OC_T_NONE || t->dtype == OC_DT_UNDEFINED || !t->shape.ranked) {
        c->unknown = true;
        return 0;
    }
    return oc_c_bytes(c, t->dtype, oc_c_elems(c, t));
}

/* Whether an earlier input of the node is the same value. */
static bool repeated(struct oc_engine *e, const struct oc_node *n, const struct oc_op *op, uint32_t input)
{
    uint32_t value = n->in[input];
    if (n->n_in > OC_FEW_INPUTS) {
        bool again = e->seen[value];
        e->seen[value] = true;
        return again;
    }
    for (uint32_t i = 0; i < input; i++)
        if (n->in[i] == value && oc_op_slot(op, i) != 'm')
            return true;
    return false;
}

static void forget_seen(struct oc_engine *e, const struct oc_node *n)
{
    for (uint32_t i = 0; n->n_in > OC_FEW_INPUTS && i < n->n_in; i++)
        if (n->in[i] != OC_NONE)
            e->seen[n->in[i]] = false;
}

/* A constant read by a dequantizer is read in its stored form; each element costs one DEQ. */
static uint64_t dequantized_bytes(struct oc_engine *e, struct oc_op_ctx *c, struct oc_cost *k, uint32_t value,
                                  uint32_t dq)
{
    const struct oc_node *n = &e->m->node[dq];
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < n->n_in; i++)
        if (n->in[i] != OC_NONE)
            bytes = oc_c_add(c, bytes, cost_type_bytes(c, &e->a->type[n->in[i]]));
    oc_add_float(c, k, OC_DEQ, oc_c_elems(c, &e->a->type[value]));
    return bytes;
}

static void default_bytes(struct oc_engine *e, const struct oc_node *n, const struct oc_op *op,
                          struct oc_op_ctx *c, struct oc_cost *k)
{
    for (uint32_t i = 0; i < n->n_in; i++) {
        k->rd[i] = 0;
        bool skip = n->in[i] == OC_NONE || oc_op_slot(op, i) == 'm' || repeated(e, n, op, i);
        if (n->in[i] == OC_NONE || (skip && !e->o->naive_bytes))
            continue;
        uint32_t dq = oc_weight_dequantizer(e, n->in[i]);
        k->rd[i] = dq != OC_NONE && !e->o->naive_bytes ? dequantized_bytes(e, c, k, n->in[i], dq)
                                                       : cost_type_bytes(c, c->in[i]);
    }
    forget_seen(e, n);
    for (uint32_t i = 0; i < n->n_out; i++)
        k->wr[i] = n->out[i] != OC_NONE && (e->out_used[i] || e->o->naive_bytes)
                       ? cost_type_bytes(c, &c->out[i])
                       : 0;
}

static bool cost_is_float(unsigned dtype)
{
    unsigned kind = oc_dtype_info(dtype)->kind;
    return kind == OC_KIND_FLOAT || kind == OC_KIND_COMPLEX;
}

static void default_classes(struct oc_op_ctx *c, const struct oc_op *op, struct oc_cost *k)
{
    k->mac_class = oc_dtype_info(oc_in_dtype(c, 0))->cls;
    k->rest_class = c->n_out ? oc_dtype_info(c->out[0].dtype)->cls : OC_CLASS_NONE;
    for (uint32_t i = 0; i < c->n_in; i++)
        if (oc_op_slot(op, i) != 'm' && cost_is_float(oc_in_dtype(c, i))) {
            k->rest_class = oc_dtype_info(oc_in_dtype(c, i))->cls;
            return;
        }
}

static bool add_checked(uint64_t *sum, uint64_t v)
{
    return oc_add_u64(*sum, v, sum);
}

/* Weighted sums of one side of the histogram, and its list of non-zero primitives. */
static bool sum_weighted(const uint64_t *hist, const uint32_t *w, uint64_t trips, bool is_int, uint64_t *sum,
                         struct oc_node_cost *out, struct oc_prim_count *list)
{
    uint64_t any = 0;
    for (unsigned p = 0; p < OC_PRIM_COUNT; p++)
        any |= hist[p];
    for (unsigned p = 0; any && p < OC_PRIM_COUNT; p++) {
        uint64_t n, weighted;
        if (!hist[p])
            continue;
        if (!oc_mul_u64(hist[p], trips, &n) || !oc_mul_u64(n, w[p], &weighted) || !add_checked(sum, weighted))
            return false;
        list[out->n_hist++] = (struct oc_prim_count){.n = n, .prim = (uint8_t)p, .is_int = is_int};
        if (p == OC_MAC && !add_checked(&out->macs, n))
            return false;
        if (transcendental(p) && !add_checked(&out->transcendentals, n))
            return false;
    }
    return true;
}

static bool cost_sum_bytes(struct oc_engine *e, const struct oc_node *n, const struct oc_cost *k,
                           uint64_t trips, struct oc_node_cost *out)
{
    if (out->alias && !e->o->alias_off && !e->o->naive_bytes)
        return true;
    bool ok = true;
    for (uint32_t i = 0; i < n->n_in; i++)
        if (n->in[i] != OC_NONE)
            ok &= add_checked(e->a->is_const[n->in[i]] ? &out->rd_wt : &out->rd_act, k->rd[i]);
    for (uint32_t i = 0; i < n->n_out; i++)
        ok &= add_checked(&out->wr, k->wr[i]);
    uint64_t reads = trips ? trips / e->cached_trips : 0; /* inputs that are constants */
    return ok && oc_mul_u64(out->rd_act, trips, &out->rd_act) && oc_mul_u64(out->rd_wt, reads, &out->rd_wt) &&
           oc_mul_u64(out->wr, trips, &out->wr);
}

/* Replaces the weighted sums by the count of another tool. */
static bool recount(struct oc_engine *e, struct oc_op_ctx *c, const struct oc_cost *k, uint64_t trips,
                    struct oc_node_cost *out)
{
    uint64_t n = oc_convention_count(e->convention, c, k);
    bool is_int = oc_class_is_int(out->macs ? k->mac_class : k->rest_class);
    out->flops = out->ops = 0;
    return !c->overflow && oc_mul_u64(n, trips, is_int ? &out->ops : &out->flops);
}

/* Many nodes of a model have identical lists: store them once. */
static const struct oc_prim_count *keep_hist(struct oc_engine *e, const struct oc_prim_count *list, uint8_t n)
{
    struct oc_hist_memory *last = &e->hist[n ? (list[0].n * 31 + list[0].prim + n) % OC_COUNT(e->hist) : 0];
    bool same = n == last->n;
    for (uint8_t i = 0; same && i < n; i++)
        same = list[i].n == last->list[i].n && list[i].prim == last->list[i].prim &&
               list[i].is_int == last->list[i].is_int;
    if (!same || !last->list) {
        struct oc_prim_count *kept = OC_NEW_ARRAY(&e->a->arena, n, struct oc_prim_count);
        memcpy(kept, list, n * sizeof(*kept));
        *last = (struct oc_hist_memory){.list = kept, .n = n};
    }
    return last->list;
}

static bool cost_store(struct oc_engine *e, struct oc_op_ctx *c, const struct oc_cost *k, uint64_t trips,
                       struct oc_node_cost *out)
{
    const struct oc_node *n = c->node;
    const uint32_t *w = e->a->weights.w;
    struct oc_prim_count list[2 * OC_PRIM_COUNT];
    out->n_hist = 0;
    if (!sum_weighted(k->hist_f, w, trips, false, &out->flops, out, list) ||
        !sum_weighted(k->hist_i, w, trips, true, &out->ops, out, list) ||
        !cost_sum_bytes(e, n, k, trips, out))
        return false;
    out->hist = keep_hist(e, list, out->n_hist);
    out->mac_class = out->macs ? k->mac_class : OC_CLASS_NONE;
    out->rest_class = k->rest_class;
    return !e->convention || recount(e, c, k, trips, out);
}

static const char *unknown_reason(struct oc_engine *e, const struct oc_node *n, const struct oc_op_ctx *c)
{
    if (c->err->msg[0])
        return oc_strdup(&e->a->arena, c->err->msg);
    if (c->assumption)
        return c->assumption;
    for (uint32_t i = 0; i < n->n_in; i++) {
        uint32_t v = n->in[i];
        if (v == OC_NONE || e->a->value_state[v] == OC_V_STATIC || e->a->root_cause[v] == OC_NONE)
            continue;
        return oc_cause_text(e, v);
    }
    return "a size is unknown";
}

static void set_quality(struct oc_engine *e, const struct oc_node *n, const struct oc_op_ctx *c,
                        struct oc_node_cost *out)
{
    if (c->unknown) {
        *out = (struct oc_node_cost){.state = OC_NODE_NO_SHAPE,
                                     .op_class = out->op_class,
                                     .trips = out->trips,
                                     .params = out->params,
                                     .quality = OC_UNKNOWN,
                                     .note = unknown_reason(e, n, c)};
    } else if (c->assumption) {
        out->quality = OC_EST;
        out->note = c->assumption;
    } else if (c->upper) {
        out->quality = OC_UPPER;
        out->note = "counted at the upper bound of a size";
    }
}

static int cost_overflow(struct oc_engine *e, const struct oc_node *n)
{
    char buf[256];
    return oc_fail(e->err, OC_ELIMIT, "node '%s' (%s): its counts overflow 64 bits",
                   oc_node_label(e->m, n, buf, sizeof(buf)), n->op_type);
}

void oc_cost_rule(struct oc_engine *e, uint32_t node, const struct oc_op *op, struct oc_op_ctx *c,
                  struct oc_cost *k)
{
    const struct oc_node *n = &e->m->node[node];
    struct oc_err *why = c->err;
    oc_fill_ctx(e, n, op, c);
    c->err = why;
    for (uint32_t i = 0; i < n->n_out; i++)
        if (n->out[i] != OC_NONE)
            e->out[i] = e->a->type[n->out[i]];
    if (e->convention)
        oc_convention_options(e->convention, c);
    *k = (struct oc_cost){.rd = e->rd, .wr = e->wr, .n_in = n->n_in, .n_out = n->n_out};
    k->alias = op->flags & OC_F_VIEW;
    default_classes(c, op, k);
    default_bytes(e, n, op, c, k);
    if (op->cost && op->cost(c, k))
        c->unknown = true;
    if (e->o->naive_bytes) /* default values; the operator's rule overrides them */
        default_bytes(e, n, op, c, k);
}

static int cost_rules(struct oc_engine *e, uint32_t node, const struct oc_op *op, uint64_t trips)
{
    const struct oc_node *n = &e->m->node[node];
    struct oc_node_cost *out = &e->a->cost[node];
    struct oc_err why = {0};
    struct oc_op_ctx c = {.err = &why};
    struct oc_cost k;
    oc_cost_rule(e, node, op, &c, &k);
    if (c.overflow || oc_exprs_overflowed(e->a->exprs))
        return cost_overflow(e, n);
    out->alias = k.alias;
    if (!c.unknown && !cost_store(e, &c, &k, trips, out))
        return cost_overflow(e, n);
    out->params += k.attr_params;
    e->a->class_elems[OC_PC_WEIGHT] += k.attr_params;
    set_quality(e, n, &c, out);
    return 0;
}

/* The count of a tool that does not fold: FLOPs and OPs alone, the node does not run. */
static int cost_folded(struct oc_engine *e, uint32_t node, const struct oc_op *op, uint64_t trips)
{
    struct oc_err why = {0};
    struct oc_op_ctx c = {.err = &why};
    struct oc_cost k;
    oc_cost_rule(e, node, op, &c, &k);
    if (!c.unknown && (c.overflow || !recount(e, &c, &k, trips, &e->a->cost[node])))
        return cost_overflow(e, &e->m->node[node]);
    return 0;
}

/* A node that never runs costs exactly nothing. */
static void cost_never_runs(struct oc_node_cost *k)
{
    k->quality = OC_EXACT;
    k->note = NULL;
    if (k->state == OC_NODE_NO_SHAPE)
        k->state = OC_NODE_NORMAL;
}

static int cost_node(struct oc_engine *e, uint32_t node, uint64_t trips)
{
    const struct oc_node *n = &e->m->node[node];
    struct oc_node_cost *k = &e->a->cost[node];
    k->trips = trips;
    switch (k->state) {
    case OC_NODE_NORMAL:
        return cost_rules(e, node, e->a->op[node], trips);
    case OC_NODE_CONTAINER:
        if (n->kind == OC_NODE_CALL && n->body != OC_NONE && e->graph_use[n->body] == OC_G_RUN)
            return oc_cost_graph(e, n->body, trips);
        return oc_cost_control(e, node, trips) < 0 ? -1 : 0;
    case OC_NODE_FOLDED:
    case OC_NODE_ABSORBED:
        return oc_convention_counts_folded(e->convention) ? cost_folded(e, node, e->a->op[node], trips) : 0;
    case OC_NODE_UNKNOWN_OP:
    case OC_NODE_NO_SHAPE:
        k->quality = OC_UNKNOWN;
        return 0;
    default:
        return 0;
    }
}

int oc_cost_graph(struct oc_engine *e, uint32_t graph, uint64_t trips)
{
    const struct oc_graph *g = &e->m->graph[graph];
    for (uint32_t i = 0; i < g->n_node; i++) {
        if (cost_node(e, g->node[i], trips))
            return -1;
        if (trips == 0)
            cost_never_runs(&e->a->cost[g->node[i]]);
    }
    return 0;
}
