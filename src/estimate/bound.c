/* estimate/: Time where nothing was measured: roofline, lower bound, kernels of a runtime after fusion,
 * calibrated cost curves, ranking of devices. One planner and one bound: every command uses predict.h and
 * bound.h. A constant names its source; tests compare with published and recorded times.
 * Private to the folder: cal_fit.h curve.h. */

/* Lower bound of a run on a device: products in sequence, the rest at the rate of memory. */
#include "estimate/bound.h"

#include <math.h>
#include <string.h>

#include "base/ck.h"
#include "estimate/kernels.h"
#include "onnxcost.h"

#define TILE 8 /* of Winograd's algorithm; larger ones are not accurate */

struct maker {
    const struct oc_model *m;
    const struct oc_analysis *a;
    const struct oc_recast *as; /* NULL: none */
    struct oc_arena *arena;
    uint32_t *source;  /* by value: the tensor that a view shows */
    uint32_t *origin;  /* by value: a product's output or an input that it is computed from */
    uint64_t *size;    /* by value, bytes; 0: unknown, or in a constant */
    uint64_t *read;    /* by value: smallest number of bytes to read to have it */
    uint64_t *written; /* by value: smallest number to write for its readers */
    uint32_t *scores;  /* by value: product of two activations that it is computed from, OC_NONE */
    uint32_t *root;    /* by node: union-find of products that may be one kernel; OC_NONE: not a product */
    uint32_t *after;   /* by value: the last product of two activations that it is computed from, OC_NONE */
    bool *latent;      /* by node, products of two activations: the same tensor is keys and values */
};

static uint64_t at_most(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static void bound_add(uint64_t *sum, uint64_t n)
{
    if (!oc_add_u64(*sum, n, sum))
        *sum = UINT64_MAX;
}

/* ---- products --------------------------------------------------------------------------------------- */

static bool has_cost(const struct oc_node_cost *c)
{
    return c->state == OC_NODE_NORMAL && c->quality != OC_UNKNOWN;
}

static void bound_dims(const struct maker *k, uint32_t node, struct oc_kernel *out)
{
    *out = (struct oc_kernel){.node = node, .cls = (uint8_t)oc_kernel_class_of_op(k->a->op[node])};
    oc_kernel_dims(k->m, k->a, node, out);
}

static bool is_product(const struct maker *k, uint32_t node)
{
    const struct oc_node_cost *c = &k->a->cost[node];
    struct oc_kernel dims;
    if (!has_cost(c))
        return false;
    if (c->op_class == OC_OP_GEMM || c->op_class == OC_OP_ATTENTION || c->op_class == OC_OP_RNN)
        return true;
    if (c->op_class != OC_OP_CONV)
        return false;
    bound_dims(k, node, &dims);
    return dims.cls != OC_KC_CONV_DEPTHWISE;
}

static uint32_t bound_unite(const struct maker *k, uint32_t a, uint32_t b)
{
    if (a == OC_NONE || b == OC_NONE)
        return a == OC_NONE ? b : a;
    return oc_set_unite(k->root, a, b);
}

uint64_t oc_bound_fewer_macs(uint64_t macs, double by)
{
    return by > 1 ? (uint64_t)((double)macs / by) : macs;
}

/* Largest reduction of the multiplications in one dimension: F(m, taps) with m + taps - 1 = TILE. */
static double winograd(double taps)
{
    double m = TILE + 1 - taps;
    return m > 1 && taps > 1 ? taps * m / TILE : 1;
}

static double winograd_of(const struct maker *k, uint32_t node)
{
    struct oc_kernel dims;
    if (k->a->cost[node].op_class != OC_OP_CONV)
        return 1;
    bound_dims(k, node, &dims);
    return dims.stride > 1 || dims.dilation > 1 ? 1 : winograd(dims.kernel_h) * winograd(dims.kernel_w);
}

static const uint8_t winograd_class[] = {OC_CLASS_F64, OC_CLASS_F32, OC_CLASS_F16, OC_CLASS_BF16};

static void fewer_multiplications(const struct maker *k, uint32_t node, struct oc_work *w)
{
    double by = winograd_of(k, node);
    for (size_t i = 0; i < OC_COUNT(winograd_class); i++)
        w->macs[winograd_class[i]] = oc_bound_fewer_macs(w->macs[winograd_class[i]], by);
}

/* ---- tensors ---------------------------------------------------------------------------------------- */

static bool reads_data(const struct maker *k, uint32_t node, uint32_t slot)
{
    uint32_t v = k->m->node[node].in[slot];
    return v != OC_NONE && !k->a->is_const[v] && oc_op_slot(k->a->op[node], slot) != 'm';
}

static bool joins_tensors(const struct oc_node *n)
{
    return !strcmp(n->op_type, "Concat") && !*n->domain;
}

/* Smallest number of bytes to read for an output of an operator between products: one of the tensors from
 * which it is computed, or the output itself. */
static uint64_t least_inputs(const struct maker *k, uint32_t node, uint32_t *origin)
{
    const struct oc_node *n = &k->m->node[node];
    bool all = joins_tensors(n);
    uint64_t most = 0, sum = 0;
    *origin = OC_NONE;
    for (uint32_t i = 0; i < n->n_in; i++) {
        if (!reads_data(k, node, i))
            continue;
        uint64_t part = k->read[n->in[i]];
        if (!all && part >= most)
            *origin = k->origin[n->in[i]];
        most = part > most ? part : most;
        bound_add(&sum, part);
    }
    return all ? sum : most;
}

/* Scores of attention pass through operators between products. */
static uint32_t scores_of_inputs(const struct maker *k, uint32_t node)
{
    const struct oc_node *n = &k->m->node[node];
    uint32_t scores = OC_NONE;
    for (uint32_t i = 0; i < n->n_in; i++)
        if (reads_data(k, node, i))
            scores = bound_unite(k, scores, k->scores[n->in[i]]);
    return scores;
}

static bool of_two_activations(const struct maker *k, uint32_t node)
{
    return k->a->cost[node].op_class == OC_OP_GEMM && k->m->node[node].n_in >= 2 && reads_data(k, node, 0) &&
           reads_data(k, node, 1);
}

/* The product of two activations before a node, other products in between end it. */
static uint32_t product_before(const struct maker *k, uint32_t node)
{
    const struct oc_node *n = &k->m->node[node];
    for (uint32_t i = 0; i < n->n_in; i++)
        if (reads_data(k, node, i) && k->after[n->in[i]] != OC_NONE)
            return k->after[n->in[i]];
    return OC_NONE;
}

/* Keys that are all of a tensor, not its third as in packed queries, keys and values. */
static void note_latent(struct maker *k, uint32_t node)
{
    uint32_t before = k->after[k->m->node[node].in[0]];
    if (before == OC_NONE)
        return;
    uint32_t keys = k->m->node[before].in[1], tensor = k->origin[keys];
    if (k->size[keys] == k->size[tensor] && k->origin[k->m->node[node].in[1]] == tensor)
        k->latent[before] = k->latent[node] = true;
}

static void visit_forward(struct maker *k, uint32_t node)
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
    bool known = has_cost(c) || c->state == OC_NODE_FOLDED || c->state == OC_NODE_ABSORBED;
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
static uint64_t needed_by(const struct maker *k, uint32_t reader, uint32_t value)
{
    const struct oc_node *n = &k->m->node[reader];
    uint64_t most = 0;
    if (k->root[reader] != OC_NONE) {
        bool inside = k->scores[value] != OC_NONE &&
                      oc_set_root(k->root, reader) == oc_set_root(k->root, k->scores[value]);
        return inside ? 0 : k->size[value];
    }
    for (uint32_t i = 0; i < n->n_out && has_cost(&k->a->cost[reader]); i++)
        if (n->out[i] != OC_NONE && k->written[n->out[i]] > most)
            most = k->written[n->out[i]];
    return most;
}

static void visit_backward(struct maker *k, uint32_t node)
{
    const struct oc_node *n = &k->m->node[node];
    for (uint32_t i = 0; i < n->n_in; i++) {
        if (!reads_data(k, node, i) || k->m->value[n->in[i]].graph != n->graph)
            continue;
        uint32_t v = n->in[i];
        uint64_t need = needed_by(k, node, v);
        need = need < k->size[v] ? need : k->size[v];
        k->written[v] = need > k->written[v] ? need : k->written[v];
    }
}

static void visit_tensors(struct maker *k)
{
    const struct oc_model *m = k->m;
    for (uint32_t g = 0; g < m->n_graph; g++)
        for (uint32_t i = 0; i < m->graph[g].n_node; i++)
            visit_forward(k, m->graph[g].node[i]);
    for (uint32_t g = 0; g < m->n_graph; g++)
        for (uint32_t i = m->graph[g].n_node; i-- > 0;)
            visit_backward(k, m->graph[g].node[i]);
}

static void open_tensors(struct maker *k)
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
static void unite_readers(struct maker *k)
{
    uint32_t *reader = OC_NEW_ARRAY(k->arena, (size_t)k->m->n_value + 1, uint32_t);
    for (uint32_t v = 0; v < k->m->n_value; v++)
        reader[v] = OC_NONE;
    for (uint32_t i = 0; i < k->m->n_node; i++) {
        const struct oc_node *n = &k->m->node[i];
        for (uint32_t s = 0; s < n->n_in && k->root[i] != OC_NONE; s++) {
            if (!reads_data(k, i, s))
                continue;
            uint32_t v = k->source[n->in[s]];
            if (reader[v] != OC_NONE && k->m->node[reader[v]].graph == n->graph)
                bound_unite(k, reader[v], i);
            reader[v] = i;
        }
    }
}

/* ---- work ------------------------------------------------------------------------------------------- */

static void bound_add_counts(struct oc_work *sum, const struct oc_work *w)
{
    for (unsigned c = 0; c < OC_CLASS_COUNT; c++) {
        bound_add(&sum->macs[c], w->macs[c]);
        bound_add(&sum->flops[c], w->flops[c]);
        bound_add(&sum->special[c], w->special[c]);
        bound_add(&sum->special_flops[c], w->special_flops[c]);
    }
}

/* bytes x part / all, rounded down. part <= all */
static uint64_t bound_share(uint64_t bytes, uint64_t part, uint64_t all)
{
    return all ? (uint64_t)((__extension__(unsigned __int128) bytes) * part / all) : 0;
}

/* 0: unknown */
static uint64_t dims_of(const struct oc_analysis *a, uint32_t value, unsigned from, unsigned to)
{
    const struct oc_shape *s = &a->type[value].shape;
    if (!s->ranked || to > s->rank)
        return 0;
    struct oc_dim n = oc_shape_count_range(a->exprs, s, from, to);
    return oc_is_known(n) && n.v > 0 ? (uint64_t)n.v : 0;
}

/* Of the experts that the count reads for all tokens, all but those of one token. */
uint64_t oc_bound_spare_weights(const struct oc_analysis *a, uint32_t node)
{
    const struct oc_node *n = &a->model->node[node];
    if (a->model->unknown_weights)
        return a->cost[node].rd_wt;
    if (!oc_op_is(a->op[node], OC_F_EXPERTS) || a->counting->moe_expected || n->n_in < 3 ||
        n->in[0] == OC_NONE || n->in[2] == OC_NONE)
        return 0;
    const struct oc_shape *x = &a->type[n->in[0]].shape;
    int64_t chosen = oc_node_int(n, "k", 1);
    uint64_t k = chosen > 1 ? (uint64_t)chosen : 1, all = dims_of(a, n->in[2], 0, 1),
             tokens = x->ranked && x->rank ? dims_of(a, n->in[0], 0, x->rank - 1U) : 0, used;
    used = oc_mul_u64(tokens, k, &used) ? at_most(used, all) : all;
    uint64_t read = a->cost[node].rd_wt;
    return used > k ? read - bound_share(read, k, used) : 0;
}

/* Attention of several queries, in fewer multiplications than it has in the graph. */
static bool expands(const struct maker *k, uint32_t node)
{
    if (!k->latent[node])
        return false;
    uint32_t queries = k->m->node[node].in[0];
    const struct oc_shape *s = &k->a->type[queries].shape;
    return s->rank < 2 || dims_of(k->a, queries, s->rank - 2U, s->rank - 1U) != 1;
}

/* Counts of an operator, converted to the other type, all multiplications; its bytes as they are in that
 * type. */
static struct oc_work whole_work_of_node(const struct maker *k, uint32_t node)
{
    struct oc_work w = {0};
    const struct oc_node_cost *c = &k->a->cost[node];
    oc_work_add(&w, c);
    if (k->as && !w.unknown && oc_recast_changes(k->as, c)) {
        struct oc_recasting sum = {0};
        oc_recast_add(k->as, k->a, &node, 1, &sum);
        oc_recast_finish(&sum, &w);
    }
    if (w.unknown)
        return w;
    uint64_t spare = bound_share(w.weight_bytes, oc_bound_spare_weights(k->a, node), c->rd_wt);
    w.weight_bytes -= spare;
    w.bytes -= spare;
    if (expands(k, node))
        memset(w.macs, 0, sizeof(w.macs));
    return w;
}

static struct oc_work work_of_node(const struct maker *k, uint32_t node)
{
    struct oc_work w = whole_work_of_node(k, node);
    if (!w.unknown)
        fewer_multiplications(k, node, &w);
    return w;
}

/* Type of the numbers that a DequantizeLinear converted; OC_DT_UNDEFINED: none did. */
static unsigned dequantized_type(const struct maker *k, uint32_t value)
{
    for (int steps = 0; value != OC_NONE && steps < 8; steps++) {
        uint32_t from = k->m->value[value].producer;
        if (from == OC_NONE || !k->m->node[from].n_in)
            break;
        if (!strcmp(k->m->node[from].op_type, "DequantizeLinear"))
            return k->a->type[k->m->node[from].in[0]].dtype;
        if (!k->a->cost[from].alias && !oc_op_is(k->a->op[from], OC_F_VIEW))
            break;
        value = k->m->node[from].in[0];
    }
    return OC_DT_UNDEFINED;
}

/* Runtimes also convert the other operand of weights in floats of 8 bits or less and in the blocks of GGUF. */
static uint8_t also_for_weight(unsigned dtype)
{
    const struct oc_dtype_info *info = oc_dtype_info(dtype);
    bool narrow = oc_dtype_block(dtype) > 1 || (info->kind == OC_KIND_FLOAT && info->bits <= 8),
         four = dtype == OC_DT_MXFP4 || dtype == OC_DT_NVFP4 || dtype == OC_DT_FLOAT4E2M1;
    return (uint8_t)((narrow ? OC_ALSO_I8 | OC_ALSO_F8 : 0) | (four ? OC_ALSO_F4 : 0));
}

static uint8_t also_for(const struct maker *k, uint32_t node)
{
    const struct oc_node *n = &k->m->node[node];
    unsigned from[2] = {OC_DT_UNDEFINED, OC_DT_UNDEFINED};
    uint8_t also = k->m->unknown_weights ? OC_ALSO_I8 | OC_ALSO_F8 | OC_ALSO_F4 : 0;
    for (uint32_t i = 0; i < n->n_in; i++)
        if (n->in[i] != OC_NONE && k->a->is_const[n->in[i]])
            also |= also_for_weight(k->a->type[n->in[i]].dtype);
    for (uint32_t i = 0; i < 2 && i < n->n_in; i++)
        from[i] = dequantized_type(k, n->in[i]);
    if (from[0] && from[1])
        also |= oc_dtype_info(from[0])->cls == OC_CLASS_F8 ? OC_ALSO_F8 : OC_ALSO_I8;
    return also;
}

/* Bytes of a part: each tensor once, each weight at its first reader. */
struct part_maker {
    struct maker *k;
    struct oc_bound_part *part;
    uint32_t *of_root;    /* by node: index of the part */
    uint32_t *seen;       /* by value: 1 + the last part that read what is computed from it, */
    uint64_t *seen_bytes; /* and how much: at most all of it */
    bool *weight_is_read; /* by value */
};

static uint64_t least_read(struct part_maker *p, uint32_t node, uint32_t part)
{
    const struct maker *k = p->k;
    const struct oc_node *n = &k->m->node[node];
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n->n_in; i++) {
        if (!reads_data(k, node, i))
            continue;
        uint32_t v = n->in[i], from = k->origin[v];
        bool inside =
            k->scores[v] != OC_NONE && oc_set_root(k->root, k->scores[v]) == oc_set_root(k->root, node);
        if (inside)
            continue;
        if (p->seen[from] != part + 1)
            p->seen_bytes[from] = 0;
        p->seen[from] = part + 1;
        uint64_t more = at_most(k->read[v], k->size[from] - p->seen_bytes[from]);
        p->seen_bytes[from] += more;
        bound_add(&sum, more);
    }
    return sum;
}

/* A weight that another product has read may still be in a cache. */
static uint64_t first_weights(struct part_maker *p, uint32_t node)
{
    const struct maker *k = p->k;
    const struct oc_node *n = &k->m->node[node];
    uint64_t sum = 0, bytes;
    bool again = false;
    for (uint32_t i = 0; i < n->n_in; i++) {
        uint32_t v = n->in[i];
        if (v == OC_NONE || !k->a->is_const[v] || oc_op_slot(k->a->op[node], i) == 'm')
            continue;
        again |= p->weight_is_read[v];
        if (!p->weight_is_read[v] && oc_type_bytes(&k->a->type[v], &bytes))
            bound_add(&sum, bytes);
        p->weight_is_read[v] = true;
    }
    return again ? sum : UINT64_MAX;
}

static void add_product(struct part_maker *p, uint32_t node)
{
    const struct maker *k = p->k;
    const struct oc_node *n = &k->m->node[node];
    const struct oc_node_cost *c = &k->a->cost[node];
    uint32_t at = p->of_root[oc_set_root(k->root, node)];
    struct oc_work w = work_of_node(k, node), *sum = &p->part[at].work;
    uint64_t trips = c->trips ? c->trips : 1, read = least_read(p, node, at), written = 0, all;
    if (w.unknown)
        return;
    bound_add_counts(sum, &w);
    for (uint32_t i = 0; i < n->n_out; i++)
        if (n->out[i] != OC_NONE)
            bound_add(&written, k->written[n->out[i]]);
    read = oc_mul_u64(read, trips, &all) ? all : UINT64_MAX;
    written = oc_mul_u64(written, trips, &all) ? all : UINT64_MAX;
    /* of the node's bytes, in the other type, the part that cannot be fused away */
    uint64_t act = w.bytes - w.weight_bytes - w.written,
             weight = at_most(w.weight_bytes, first_weights(p, node));
    written = bound_share(w.written, at_most(written, c->wr), c->wr);
    bound_add(&sum->weight_bytes, weight);
    bound_add(&sum->written, written);
    bound_add(&sum->bytes, weight);
    bound_add(&sum->bytes, written);
    bound_add(&sum->bytes, bound_share(act, at_most(read, c->rd_act), c->rd_act));
    sum->launches = w.launches > sum->launches ? w.launches : sum->launches;
    p->part[at].also |= also_for(k, node);
}

static uint32_t count_parts(struct part_maker *p)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->k->m->n_node; i++) {
        bool root = p->k->root[i] != OC_NONE && oc_set_root(p->k->root, i) == i;
        p->of_root[i] = root ? n++ : OC_NONE;
    }
    return n;
}

static void make_parts(struct maker *k, struct oc_bound_load *out)
{
    struct part_maker p = {.k = k,
                           .of_root = OC_NEW_ARRAY(k->arena, (size_t)k->m->n_node + 1, uint32_t),
                           .seen = OC_NEW_ARRAY(k->arena, (size_t)k->m->n_value + 1, uint32_t),
                           .seen_bytes = OC_NEW_ARRAY(k->arena, (size_t)k->m->n_value + 1, uint64_t),
                           .weight_is_read = OC_NEW_ARRAY(k->arena, (size_t)k->m->n_value + 1, bool)};
    out->n_part = count_parts(&p);
    p.part = OC_NEW_ARRAY(k->arena, (size_t)out->n_part + 1, struct oc_bound_part);
    for (uint32_t i = 0; i < k->m->n_node; i++)
        if (k->root[i] != OC_NONE)
            add_product(&p, i);
    out->part = p.part;
    out->part_of_root = p.of_root;
}

/* ---- second bound ----------------------------------------------------------------------------------- */

/* What operators read of the model's inputs, each once. */
static void add_inputs_read(struct maker *k, struct oc_work *all)
{
    uint64_t *most = OC_NEW_ARRAY(k->arena, (size_t)k->m->n_value + 1, uint64_t);
    for (uint32_t i = 0; i < k->m->n_node; i++) {
        const struct oc_node *n = &k->m->node[i];
        for (uint32_t s = 0; s < n->n_in; s++) {
            if (!has_cost(&k->a->cost[i]) || !reads_data(k, i, s))
                continue;
            uint32_t v = k->source[n->in[s]];
            uint64_t part = at_most(k->size[v], k->a->cost[i].rd_act);
            most[v] = part > most[v] ? part : most[v];
        }
    }
    for (uint32_t v = 0; v < k->m->n_value; v++)
        if (k->m->value[v].graph == 0 && k->m->value[v].producer == OC_NONE)
            bound_add(&all->bytes, most[v]);
}

/* An output that continues an input, such as a cache, may be written in place: only what is new counts. */
static void add_outputs_written(const struct maker *k, struct oc_work *all)
{
    for (uint32_t i = 0; i < k->m->graph[0].n_output; i++) {
        uint32_t v = k->source[k->m->graph[0].output[i]], from = k->m->value[v].producer;
        if (from == OC_NONE || !has_cost(&k->a->cost[from]))
            continue;
        const struct oc_node *n = &k->m->node[from];
        uint64_t bytes = at_most(k->size[v], k->a->cost[from].wr), old = 0;
        for (uint32_t s = 0; s < n->n_in && joins_tensors(n); s++)
            old = k->size[n->in[s]] > old ? k->size[n->in[s]] : old;
        bytes -= at_most(bytes, old);
        bound_add(&all->bytes, bytes);
        bound_add(&all->written, bytes);
    }
}

static void note_fewer(const struct maker *k, uint32_t node, const struct oc_work *w,
                       struct oc_bound_load *out)
{
    double by = winograd_of(k, node);
    for (size_t i = 0; i < OC_COUNT(winograd_class) && by > 1; i++)
        if (w->macs[winograd_class[i]])
            out->fewer[out->n_fewer++] = (struct oc_bound_fewer){
                .part = k->root[node] == OC_NONE ? OC_NONE : out->part_of_root[oc_set_root(k->root, node)],
                .cls = winograd_class[i],
                .macs = w->macs[winograd_class[i]],
                .by = by};
}

static void add_everything(struct maker *k, struct oc_bound_load *out)
{
    struct oc_work *all = &out->all;
    uint64_t before = 0;
    out->fewer = OC_NEW_ARRAY(k->arena, (size_t)k->m->n_node + 1, struct oc_bound_fewer);
    for (uint32_t i = 0; i < k->m->n_node; i++) {
        const struct oc_node_cost *c = &k->a->cost[i];
        if (!oc_is_launched(c) && !c->n_hist && !(c->rd_act | c->rd_wt | c->wr))
            continue; /* most nodes of exported models: they compute shapes, or are views */
        struct oc_work w = whole_work_of_node(k, i);
        if (w.unknown)
            continue;
        bound_add(&all->launches, w.launches);
        if (!w.bytes && !c->n_hist)
            continue;
        note_fewer(k, i, &w, out);
        fewer_multiplications(k, i, &w);
        bound_add_counts(all, &w);
        bound_add(&all->weight_bytes, w.weight_bytes);
        uint64_t spare = oc_bound_spare_weights(k->a, i);
        bound_add(&before, c->rd_wt - spare);
        out->fewest_experts |= spare > 0 && !k->m->unknown_weights;
    }
    out->weights_stored = k->a->total->const_bytes;
    out->weights_before = before;
    out->weights_after = all->weight_bytes;
    all->weight_bytes = all->bytes = out->const_bytes =
        oc_bound_weights(out->weights_stored, before, out->weights_after);
    if (k->as)
        return; /* the model's inputs and outputs may be narrower too */
    add_inputs_read(k, all);
    add_outputs_written(k, all);
}

void oc_bound_loads_make(const struct oc_analysis *a, const struct oc_recast *const *as, size_t n,
                         struct oc_arena *arena, struct oc_bound_load *out)
{
    size_t values = (size_t)a->model->n_value + 1;
    struct maker k = {.m = a->model,
                      .a = a,
                      .arena = arena,
                      .source = OC_NEW_ARRAY(arena, values, uint32_t),
                      .origin = OC_NEW_ARRAY(arena, values, uint32_t),
                      .size = OC_NEW_ARRAY(arena, values, uint64_t),
                      .read = OC_NEW_ARRAY(arena, values, uint64_t),
                      .written = OC_NEW_ARRAY(arena, values, uint64_t),
                      .scores = OC_NEW_ARRAY(arena, values, uint32_t),
                      .root = OC_NEW_ARRAY(arena, (size_t)a->model->n_node + 1, uint32_t),
                      .after = OC_NEW_ARRAY(arena, values, uint32_t),
                      .latent = OC_NEW_ARRAY(arena, (size_t)a->model->n_node + 1, bool)};
    open_tensors(&k);
    visit_tensors(&k);
    unite_readers(&k);
    for (size_t i = 0; i < n; i++) {
        k.as = as[i];
        out[i] = (struct oc_bound_load){0};
        make_parts(&k, &out[i]);
        add_everything(&k, &out[i]);
    }
}

void oc_bound_load_make(const struct oc_analysis *a, const struct oc_recast *as, struct oc_arena *arena,
                        struct oc_bound_load *out)
{
    oc_bound_loads_make(a, &as, 1, arena, out);
}
