#include "join/group_cost.h"

#include "base/ck.h"

static bool add(uint64_t *sum, uint64_t v)
{
    return oc_add_u64(*sum, v, sum);
}

static bool value_bytes(const struct oc_analysis *a, uint32_t v, uint64_t *bytes)
{
    const struct oc_type *t = &a->type[v];
    uint64_t n = 1;
    if (t->kind != OC_T_TENSOR || !oc_shape_known(&t->shape))
        return false;
    for (unsigned i = 0; i < t->shape.rank; i++)
        if (t->shape.dim[i].v < 0 || !oc_mul_u64(n, (uint64_t)t->shape.dim[i].v, &n))
            return false;
    return oc_bytes_of(t->dtype, n, bytes);
}

struct border {
    const struct oc_analysis *a;
    const struct oc_model *m;
    struct oc_join_rec *r;
    const struct oc_graph_index *x;
    uint32_t *seen; /* by value: the last group that counted it */
    uint32_t mark;
};

/* The node that dequantizes or unpacks a constant and has no cost of its own, OC_NONE: none. */
static uint32_t dequantizer(const struct border *b, uint32_t v)
{
    for (int steps = 0; v != OC_NONE && steps < 8; steps++) {
        uint32_t from = b->m->value[v].producer;
        if (from == OC_NONE || b->a->cost[from].state == OC_NODE_ABSORBED)
            return from;
        if (b->a->cost[from].state != OC_NODE_FOLDED || !b->m->node[from].n_in)
            return OC_NONE;
        v = b->m->node[from].in[0];
    }
    return OC_NONE;
}

/* Bytes to read of a value; of a dequantized constant, those of its stored form, as for a single node. */
static bool read_bytes(const struct border *b, uint32_t v, uint64_t *bytes)
{
    uint32_t from = b->a->is_const[v] ? dequantizer(b, v) : OC_NONE;
    if (from == OC_NONE)
        return value_bytes(b->a, v, bytes);
    const struct oc_node *n = &b->m->node[from];
    *bytes = 0;
    for (uint32_t i = 0; i < n->n_in; i++) {
        uint64_t part;
        if (n->in[i] != OC_NONE && (!value_bytes(b->a, n->in[i], &part) || !add(bytes, part)))
            return false;
    }
    return true;
}

static bool in_group(const struct oc_join_rec *r, uint32_t node)
{
    for (uint32_t i = 0; i < r->n_node; i++)
        if (r->node[i] == node)
            return true;
    return false;
}

/* Metadata inputs are read on the host and move no bytes. */
static bool is_metadata(const struct oc_analysis *a, uint32_t node, uint32_t slot)
{
    const struct oc_op *op = a->op[node];
    return oc_op_slot(op, slot) == 'm';
}

static bool count_input(struct border *b, uint32_t node, uint32_t slot)
{
    const struct oc_analysis *a = b->a;
    uint32_t v = b->m->node[node].in[slot];
    if (v == OC_NONE || b->seen[v] == b->mark || is_metadata(a, node, slot))
        return true;
    uint32_t from = b->m->value[v].producer;
    if (from != OC_NONE && in_group(b->r, from))
        return true;
    uint64_t bytes;
    b->seen[v] = b->mark;
    return read_bytes(b, v, &bytes) && add(a->is_const[v] ? &b->r->rd_wt : &b->r->rd_act, bytes);
}

static bool leaves_group(const struct border *b, uint32_t v)
{
    if (b->m->value[v].graph_output)
        return true;
    for (uint32_t i = b->x->use_first[v]; i < b->x->use_first[v + 1]; i++)
        if (!in_group(b->r, b->x->use[i]))
            return true;
    return false;
}

/* Bytes that cross the border of the group, for one execution of its nodes. */
static bool count_border(struct border *b)
{
    const struct oc_model *m = b->m;
    for (uint32_t i = 0; i < b->r->n_node; i++) {
        const struct oc_node *n = &m->node[b->r->node[i]];
        for (uint32_t k = 0; k < n->n_in; k++)
            if (!count_input(b, b->r->node[i], k))
                return false;
        for (uint32_t k = 0; k < n->n_out; k++) {
            uint64_t bytes;
            if (n->out[k] != OC_NONE && leaves_group(b, n->out[k]) &&
                (!value_bytes(b->a, n->out[k], &bytes) || !add(&b->r->wr, bytes)))
                return false;
        }
    }
    uint64_t trips = b->a->cost[b->r->node[0]].trips;
    return oc_mul_u64(b->r->rd_act, trips, &b->r->rd_act) && oc_mul_u64(b->r->rd_wt, trips, &b->r->rd_wt) &&
           oc_mul_u64(b->r->wr, trips, &b->r->wr);
}

/* ---- tensors that ran in 16 bits -------------------------------------------------------------------- */

/* Bytes of the border that stay as they are, and whether the rest is 32-bit floating-point. */
struct halving {
    uint64_t stays[3]; /* activations read, constants read, written */
    bool known;
};

static void halving_add(struct border *b, struct halving *h, unsigned part, uint32_t v)
{
    uint64_t bytes;
    unsigned dtype = b->a->type[v].dtype;
    if (b->a->type[v].kind == OC_T_TENSOR && dtype == OC_DT_FLOAT)
        return;
    h->known = h->known && value_bytes(b->a, v, &bytes) && add(&h->stays[part], bytes);
}

static void halving_add_node(struct border *b, struct halving *h, uint32_t node)
{
    const struct oc_node *n = &b->m->node[node];
    for (uint32_t k = 0; k < n->n_in; k++) {
        uint32_t v = n->in[k], from = v == OC_NONE ? OC_NONE : b->m->value[v].producer;
        if (v == OC_NONE || b->seen[v] == b->mark || is_metadata(b->a, node, k) ||
            (from != OC_NONE && in_group(b->r, from)))
            continue;
        b->seen[v] = b->mark;
        halving_add(b, h, b->a->is_const[v], v);
    }
    for (uint32_t k = 0; k < n->n_out; k++)
        if (n->out[k] != OC_NONE && leaves_group(b, n->out[k]))
            halving_add(b, h, 2, n->out[k]);
}

void oc_group_halve(struct oc_group_costs *c, struct oc_join_rec *r)
{
    struct border b = {.a = c->a, .m = c->m, .r = r, .x = c->x, .seen = c->seen, .mark = ++c->mark};
    uint64_t *const part[] = {&r->rd_act, &r->rd_wt, &r->wr}, trips = c->a->cost[r->node[0]].trips;
    struct halving h = {.known = true};
    for (uint32_t i = 0; i < r->n_node && h.known; i++)
        halving_add_node(&b, &h, r->node[i]);
    for (unsigned i = 0; i < OC_COUNT(part) && h.known; i++)
        h.known = oc_mul_u64(h.stays[i], trips, &h.stays[i]);
    for (unsigned i = 0; i < OC_COUNT(part) && h.known; i++)
        if (*part[i] > h.stays[i])
            *part[i] -= (*part[i] - h.stays[i]) / 2;
    r->bytes_known = r->bytes_known && h.known;
}

bool oc_carries_cost(const struct oc_node_cost *c)
{
    return c->state != OC_NODE_CONTAINER && c->state != OC_NODE_NOT_TAKEN;
}

static void cost_of_group(struct border *b)
{
    const struct oc_analysis *a = b->a;
    struct oc_join_rec *r = b->r;
    for (uint32_t i = 0; i < r->n_node; i++) {
        const struct oc_node_cost *c = &a->cost[r->node[i]];
        if (c->state == OC_NODE_NOT_TAKEN) {
            r->quality = OC_UNKNOWN;
            r->note = "the analysis took the other branch";
        }
        if (!oc_carries_cost(c))
            continue;
        r->quality = oc_worse_quality(r->quality, c->quality);
        if (c->quality == OC_UNKNOWN)
            r->note = c->note ? c->note : "an operator of the group has no cost";
        else if (!add(&r->macs, c->macs) || !add(&r->flops, c->flops) || !add(&r->ops, c->ops) ||
                 !add(&r->params, c->params))
            r->quality = OC_UNKNOWN;
    }
    if (r->n_node == 1) {
        const struct oc_node_cost *c = &a->cost[r->node[0]];
        r->bytes_known = c->quality != OC_UNKNOWN && c->state != OC_NODE_NOT_TAKEN;
        r->rd_act = c->rd_act;
        r->rd_wt = c->rd_wt;
        r->wr = c->wr;
        return;
    }
    r->bytes_known = count_border(b);
}

void oc_group_costs_init(struct oc_group_costs *c, const struct oc_model *m, const struct oc_analysis *a,
                         const struct oc_graph_index *x, struct oc_arena *arena)
{
    *c = (struct oc_group_costs){
        .m = m, .a = a, .x = x, .seen = OC_NEW_ARRAY(arena, (size_t)m->n_value + 1, uint32_t)};
}

void oc_group_cost(struct oc_group_costs *c, struct oc_join_rec *r)
{
    struct border b = {.a = c->a, .m = c->m, .r = r, .x = c->x, .seen = c->seen, .mark = ++c->mark};
    cost_of_group(&b);
}
