/* What a lower bound (bound.h) needs of each tensor: the smallest number of bytes to read and to write, and which products
 * may be one kernel. All of it is the same for every type of the work. */
#include "estimate/bound_tensors.h"

#include <string.h>

/* ---- products --------------------------------------------------------------------------------------- */

bool oc_bound_has_cost(const struct oc_node_cost *c)
{
    return c->state == OC_NODE_NORMAL && c->quality != OC_UNKNOWN;
}

void oc_bound_dims(const struct oc_bound_maker *k, uint32_t node, struct oc_kernel *out)
{
    *out = (struct oc_kernel){.node = node, .cls = (uint8_t)oc_kernel_class_of_op(k->a->op[node])};
    oc_kernel_dims(k->m, k->a, node, out);
}

static bool is_product(const struct oc_bound_maker *k, uint32_t node)
{
    const struct oc_node_cost *c = &k->a->cost[node];
    struct oc_kernel dims;
    if (!oc_bound_has_cost(c))
        return false;
    if (c->op_class == OC_OP_GEMM || c->op_class == OC_OP_ATTENTION || c->op_class == OC_OP_RNN)
        return true;
    if (c->op_class != OC_OP_CONV)
        return false;
    oc_bound_dims(k, node, &dims);
    return dims.cls != OC_KC_CONV_DEPTHWISE;
}

static uint32_t bound_unite(const struct oc_bound_maker *k, uint32_t a, uint32_t b)
{
    if (a == OC_NONE || b == OC_NONE)
        return a == OC_NONE ? b : a;
    return oc_set_unite(k->root, a, b);
}

/* ---- tensors ---------------------------------------------------------------------------------------- */

bool oc_bound_reads(const struct oc_bound_maker *k, uint32_t node, uint32_t slot)
{
    uint32_t v = k->m->node[node].in[slot];
    return v != OC_NONE && !k->a->is_const[v] && oc_op_slot(k->a->op[node], slot) != 'm';
}

bool oc_bound_joins(const struct oc_node *n)
{
    return !strcmp(n->op_type, "Concat") && !*n->domain;
}

/* Smallest number of bytes to read for an output of an operator between products: one of the tensors from
 * which it is computed, or the output itself. */
static uint64_t least_inputs(const struct oc_bound_maker *k, uint32_t node, uint32_t *origin)
{
    const struct oc_node *n = &k->m->node[node];
    bool all = oc_bound_joins(n);
    uint64_t most = 0, sum = 0;
    *origin = OC_NONE;
    for (uint32_t i = 0; i < n->n_in; i++) {
        if (!oc_bound_reads(k, node, i))
            continue;
        uint64_t part = k->read[n->in[i]];
        if (!all && part >= most)
            *origin = k->origin[n->in[i]];
        most = part > most ? part : most;
        oc_bound_add(&sum, part);
    }
    return all ? sum : most;
}

/* Scores of attention pass through operators between products. */
static uint32_t scores_of_inputs(const struct oc_bound_maker *k, uint32_t node)
{
    const struct oc_node *n = &k->m->node[node];
    uint32_t scores = OC_NONE;
    for (uint32_t i = 0; i < n->n_in; i++)
        if (oc_bound_reads(k, node, i))
            scores = bound_unite(k, scores, k->scores[n->in[i]]);
    return scores;
}

static bool of_two_activations(const struct oc_bound_maker *k, uint32_t node)
{
    return k->a->cost[node].op_class == OC_OP_GEMM && k->m->node[node].n_in >= 2 &&
           oc_bound_reads(k, node, 0) && oc_bound_reads(k, node, 1);
}

/* The product of two activations before a node, other products in between end it. */
static uint32_t product_before(const struct oc_bound_maker *k, uint32_t node)
{
    const struct oc_node *n = &k->m->node[node];
    for (uint32_t i = 0; i < n->n_in; i++)
        if (oc_bound_reads(k, node, i) && k->after[n->in[i]] != OC_NONE)
            return k->after[n->in[i]];
    return OC_NONE;
}

/* Keys that are all of a tensor, not its third as in packed queries, keys and values. */
static void note_latent(struct oc_bound_maker *k, uint32_t node)
{
    uint32_t before = k->after[k->m->node[node].in[0]];
    if (before == OC_NONE)
        return;
    uint32_t keys = k->m->node[before].in[1], tensor = k->origin[keys];
    if (k->size[keys] == k->size[tensor] && k->origin[k->m->node[node].in[1]] == tensor)
        k->latent[before] = k->latent[node] = true;
}

static void visit_forward(struct oc_bound_maker *k, uint32_t node)
{
    const struct oc_node *n = &k->m->node[node];
    const struct oc_node_cost *c = &k->a->cost[node];
    bool product = k->root[node] != OC_NONE, attention = product && of_two_activations(k, node);
    uint32_t scores = product && !attention ? OC_NONE : scores_of_inputs(k, node);
    if (attention) {
        note_latent(k, node);
        scores = bound_unite(k, node, scores);
    }
    uint32_t after = attention ? node : product ? OC_NONE : product_before(k, node);
    bool known = oc_bound_has_cost(c) || c->state == OC_NODE_FOLDED || c->state == OC_NODE_ABSORBED;
    uint32_t origin = OC_NONE;
    uint64_t least = known && !product ? least_inputs(k, node, &origin) : 0;
    for (uint32_t i = 0; i < n->n_out; i++) {
        uint32_t v = n->out[i];
        if (v == OC_NONE)
            continue;
        k->scores[v] = scores;
        k->after[v] = after;
        k->origin[v] = origin == OC_NONE ? v : origin;
        k->source[v] = c->alias && n->n_in && n->in[0] != OC_NONE ? k->source[n->in[0]] : v;
        k->read[v] = product ? k->size[v] : k->size[v] < least ? k->size[v] : least;
    }
}

/* What one reader of a tensor needs written of it. */
static uint64_t needed_by(const struct oc_bound_maker *k, uint32_t reader, uint32_t value)
{
    const struct oc_node *n = &k->m->node[reader];
    uint64_t most = 0;
    if (k->root[reader] != OC_NONE) {
        bool inside = k->scores[value] != OC_NONE &&
                      oc_set_root(k->root, reader) == oc_set_root(k->root, k->scores[value]);
        return inside ? 0 : k->size[value];
    }
    for (uint32_t i = 0; i < n->n_out && oc_bound_has_cost(&k->a->cost[reader]); i++)
        if (n->out[i] != OC_NONE && k->written[n->out[i]] > most)
            most = k->written[n->out[i]];
    return most;
}

static void visit_backward(struct oc_bound_maker *k, uint32_t node)
{
    const struct oc_node *n = &k->m->node[node];
    for (uint32_t i = 0; i < n->n_in; i++) {
        if (!oc_bound_reads(k, node, i) || k->m->value[n->in[i]].graph != n->graph)
            continue;
        uint32_t v = n->in[i];
        uint64_t need = needed_by(k, node, v);
        need = need < k->size[v] ? need : k->size[v];
        k->written[v] = need > k->written[v] ? need : k->written[v];
    }
}

static void visit_tensors(struct oc_bound_maker *k)
{
    const struct oc_model *m = k->m;
    for (uint32_t g = 0; g < m->n_graph; g++)
        for (uint32_t i = 0; i < m->graph[g].n_node; i++)
            visit_forward(k, m->graph[g].node[i]);
    for (uint32_t g = 0; g < m->n_graph; g++)
        for (uint32_t i = m->graph[g].n_node; i-- > 0;)
            visit_backward(k, m->graph[g].node[i]);
}

static void open_tensors(struct oc_bound_maker *k)
{
    const struct oc_model *m = k->m;
    for (uint32_t v = 0; v < m->n_value; v++) {
        bool known = !k->a->is_const[v] && oc_type_bytes(&k->a->type[v], &k->size[v]);
        k->size[v] = known ? k->size[v] : 0;
        k->source[v] = k->origin[v] = v;
        k->scores[v] = k->after[v] = OC_NONE;
        bool main = m->value[v].graph == 0;
        k->read[v] = main && m->value[v].producer == OC_NONE ? k->size[v] : 0;
        k->written[v] = main && m->value[v].graph_output ? k->size[v] : 0;
    }
    for (uint32_t i = 0; i < m->n_node; i++)
        k->root[i] = is_product(k, i) ? i : OC_NONE;
}

/* Products that read the same tensor are one kernel. */
static void unite_readers(struct oc_bound_maker *k)
{
    uint32_t *reader = OC_NEW_ARRAY(k->arena, (size_t)k->m->n_value + 1, uint32_t);
    for (uint32_t v = 0; v < k->m->n_value; v++)
        reader[v] = OC_NONE;
    for (uint32_t i = 0; i < k->m->n_node; i++) {
        const struct oc_node *n = &k->m->node[i];
        for (uint32_t s = 0; s < n->n_in && k->root[i] != OC_NONE; s++) {
            if (!oc_bound_reads(k, i, s))
                continue;
            uint32_t v = k->source[n->in[s]];
            if (reader[v] != OC_NONE && k->m->node[reader[v]].graph == n->graph)
                bound_unite(k, reader[v], i);
            reader[v] = i;
        }
    }
}

void oc_bound_tensors_make(struct oc_bound_maker *k)
{
    size_t values = (size_t)k->m->n_value + 1, nodes = (size_t)k->m->n_node + 1;
    k->source = OC_NEW_ARRAY(k->arena, values, uint32_t);
    k->origin = OC_NEW_ARRAY(k->arena, values, uint32_t);
    k->size = OC_NEW_ARRAY(k->arena, values, uint64_t);
    k->read = OC_NEW_ARRAY(k->arena, values, uint64_t);
    k->written = OC_NEW_ARRAY(k->arena, values, uint64_t);
    k->scores = OC_NEW_ARRAY(k->arena, values, uint32_t);
    k->root = OC_NEW_ARRAY(k->arena, nodes, uint32_t);
    k->after = OC_NEW_ARRAY(k->arena, values, uint32_t);
    k->latent = OC_NEW_ARRAY(k->arena, nodes, bool);
    open_tensors(k);
    visit_tensors(k);
    unite_readers(k);
}
