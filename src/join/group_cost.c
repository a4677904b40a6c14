/* Cost of groups of nodes: bytes that cross their borders, and the data types that they ran in. Cost of TensorRT's
 * layers: those of the engine, which may have another batch, other element types and other fusions than the model. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ck.h"
#include "join/expansion.h"
#include "join/join.h"

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
    uint64_t sum[3];  /* bytes: activations read, constants read, written */
    bool without_f32; /* only tensors of other types */
    bool has_parts;   /* a node reads parts of its inputs */
};

/* Bytes to read of a value; of a dequantized constant, those of its stored form, as for a single node. */
static bool read_bytes(const struct border *b, uint32_t v, uint64_t *bytes)
{
    uint32_t from = b->a->is_const[v] ? oc_weight_dequantizer(b->a, v) : OC_NONE;
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

static bool is_left_out(const struct border *b, uint32_t v)
{
    const struct oc_type *t = &b->a->type[v];
    return b->without_f32 && t->kind == OC_T_TENSOR && t->dtype == OC_DT_FLOAT &&
           (!b->a->is_const[v] || oc_weight_dequantizer(b->a, v) == OC_NONE);
}

/* Metadata inputs are read on the host and move no bytes. */
static bool is_metadata(const struct oc_analysis *a, uint32_t node, uint32_t slot)
{
    const struct oc_op *op = a->op[node];
    return oc_op_slot(op, slot) == 'm';
}

/* A node that alone reads less than its inputs: rows of an embedding, a slice. Not a view, which moves nothing
 * itself. */
static bool reads_parts(const struct border *b, uint32_t node)
{
    const struct oc_node_cost *c = &b->a->cost[node];
    const struct oc_node *n = &b->m->node[node];
    uint64_t whole = 0, bytes;
    if (c->alias || c->trips != 1 || c->quality == OC_UNKNOWN || c->state != OC_NODE_NORMAL)
        return false;
    for (uint32_t k = 0; k < n->n_in; k++)
        if (n->in[k] != OC_NONE && !is_metadata(b->a, node, k) &&
            (!read_bytes(b, n->in[k], &bytes) || !add(&whole, bytes)))
            return false;
    return c->rd_act + c->rd_wt < whole;
}

static bool count_input(struct border *b, uint32_t node, uint32_t slot, bool parts)
{
    const struct oc_analysis *a = b->a;
    uint32_t v = b->m->node[node].in[slot];
    if (v == OC_NONE || b->seen[v] == b->mark || is_metadata(a, node, slot))
        return true;
    uint32_t from = b->m->value[v].producer;
    if (from != OC_NONE && oc_ids_have(b->r->node, b->r->n_node, from))
        return true;
    uint64_t bytes;
    b->seen[v] = parts ? b->seen[v] : b->mark; /* each node reads parts of its own */
    return is_left_out(b, v) || (read_bytes(b, v, &bytes) && add(&b->sum[a->is_const[v]], bytes));
}

static bool leaves_group(const struct border *b, uint32_t v)
{
    if (b->m->value[v].graph_output)
        return true;
    for (uint32_t i = b->x->use_first[v]; i < b->x->use_first[v + 1]; i++)
        if (!oc_ids_have(b->r->node, b->r->n_node, b->x->use[i]))
            return true;
    return false;
}

/* Inputs of the nodes that read parts of them (which are no more than the node reads alone), or of the others. */
static bool count_inputs(struct border *b, bool parts)
{
    for (uint32_t i = 0; i < b->r->n_node; i++) {
        uint32_t node = b->r->node[i];
        const struct oc_node_cost *c = &b->a->cost[node];
        const uint64_t before[2] = {b->sum[0], b->sum[1]}, most[2] = {c->rd_act, c->rd_wt};
        if (reads_parts(b, node) != parts) {
            b->has_parts = true;
            continue;
        }
        for (uint32_t k = 0; k < b->m->node[node].n_in; k++)
            if (!count_input(b, node, k, parts))
                return false;
        for (unsigned k = 0; k < 2 && parts; k++)
            if (b->sum[k] - before[k] > most[k])
                b->sum[k] = before[k] + most[k];
    }
    return true;
}

/* Bytes that cross the border of the group, for one execution of its nodes. */
static bool count_border(struct border *b)
{
    const struct oc_model *m = b->m;
    if (!count_inputs(b, false) || (b->has_parts && !count_inputs(b, true)))
        return false;
    for (uint32_t i = 0; i < b->r->n_node; i++) {
        const struct oc_node *n = &m->node[b->r->node[i]];
        for (uint32_t k = 0; k < n->n_out; k++) {
            uint64_t bytes;
            if (n->out[k] != OC_NONE && leaves_group(b, n->out[k]) && !is_left_out(b, n->out[k]) &&
                (!value_bytes(b->a, n->out[k], &bytes) || !add(&b->sum[2], bytes)))
                return false;
        }
    }
    uint64_t trips = b->a->cost[b->r->node[0]].trips;
    return oc_mul_u64(b->sum[0], trips, &b->sum[0]) && oc_mul_u64(b->sum[1], trips, &b->sum[1]) &&
           oc_mul_u64(b->sum[2], trips, &b->sum[2]);
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
    r->rd_act = b->sum[0];
    r->rd_wt = b->sum[1];
    r->wr = b->sum[2];
}

void oc_group_costs_init(struct oc_group_costs *c, const struct oc_model *m, const struct oc_analysis *a,
                         const struct oc_graph_index *x, struct oc_arena *arena)
{
    *c = (struct oc_group_costs){
        .m = m, .a = a, .x = x, .seen = OC_NEW_ARRAY(arena, (size_t)m->n_value + 1, uint32_t)};
}

static struct border border_of(struct oc_group_costs *c, struct oc_join_rec *r)
{
    return (struct border){.a = c->a, .m = c->m, .r = r, .x = c->x, .seen = c->seen, .mark = ++c->mark};
}

void oc_group_cost(struct oc_group_costs *c, struct oc_join_rec *r)
{
    struct border b = border_of(c, r);
    cost_of_group(&b);
}

void oc_group_halve(struct oc_group_costs *c, struct oc_join_rec *r)
{
    struct border b = border_of(c, r);
    uint64_t *const part[] = {&r->rd_act, &r->rd_wt, &r->wr};
    b.without_f32 = true;
    r->bytes_known = r->bytes_known && count_border(&b);
    for (unsigned i = 0; i < OC_COUNT(part) && r->bytes_known; i++)
        if (*part[i] > b.sum[i])
            *part[i] -= (*part[i] - b.sum[i]) / 2;
}

/* ---- types of a run --------------------------------------------------------------------------------- */

/* Models of 32-bit floating-point tensors that ran in 16 bits: model.half(), autocast, a builder that lowers the
 * precision. The evidence are the recorded types of inputs. */

#define NEARLY_ALL 0.95 /* of the time of records with floating-point inputs */

/* Class of the first recorded floating-point input, OC_CLASS_NONE. */
static uint8_t recorded_class(const struct oc_prof_rec *r)
{
    for (uint32_t i = 0; i < r->n_in; i++) {
        uint8_t cls = oc_dtype_info(r->in[i].dtype)->cls;
        if (cls != OC_CLASS_NONE && !oc_class_is_int(cls))
            return cls;
    }
    return OC_CLASS_NONE;
}

static bool is_half(uint8_t cls)
{
    return cls == OC_CLASS_F16 || cls == OC_CLASS_BF16;
}

/* Set of the classes of the tensors that the nodes read or write. */
static uint32_t tensor_classes(const struct oc_matcher *x, const struct oc_match *m)
{
    uint32_t set = 0;
    for (uint32_t i = 0; i < m->n_node; i++) {
        const struct oc_node *n = &x->m->node[m->node[i]];
        for (uint32_t k = 0; k < n->n_in + n->n_out; k++) {
            uint32_t v = k < n->n_in ? n->in[k] : n->out[k - n->n_in];
            unsigned cls = v == OC_NONE ? OC_CLASS_NONE : oc_dtype_info(x->a->type[v].dtype)->cls;
            set |= cls < OC_CLASS_COUNT ? 1u << cls : 0;
        }
    }
    return set;
}

/* Whether the nodes have 32-bit floating-point tensors, and none of 16 bits. */
static bool is_single(const struct oc_matcher *x, const struct oc_match *m)
{
    uint32_t set = tensor_classes(x, m);
    return (set & 1u << OC_CLASS_F32) && !(set & (1u << OC_CLASS_F16 | 1u << OC_CLASS_BF16));
}

bool oc_ran_quantized(const struct oc_matcher *x, uint32_t rec)
{
    const struct oc_prof_rec *r = &x->p->rec[rec];
    const struct oc_match *m = &x->match[rec];
    return x->a && r->n_in && !r->in[0].shape.ranked && oc_dtype_info(r->in[0].dtype)->cls == OC_CLASS_I8 &&
           is_single(x, m) && !(tensor_classes(x, m) & 1u << OC_CLASS_I8);
}

uint8_t oc_ran_all(const struct oc_matcher *x)
{
    uint8_t all = OC_CLASS_NONE;
    double all_ns = 0, ns[OC_CLASS_COUNT] = {0};
    for (uint32_t i = 0; i < x->p->n_rec; i++) {
        const struct oc_prof_rec *r = &x->p->rec[i];
        uint8_t cls = r->bucket ? OC_CLASS_NONE : recorded_class(r);
        double own_ns = oc_prof_own_ns(r);
        if (cls == OC_CLASS_NONE)
            continue;
        all_ns += own_ns;
        ns[cls] += own_ns;
    }
    for (unsigned c = 0; c < OC_CLASS_COUNT; c++)
        if (is_half((uint8_t)c) && ns[c] > 0 && ns[c] >= NEARLY_ALL * all_ns)
            all = (uint8_t)c;
    return all;
}

uint8_t oc_ran_class(const struct oc_matcher *x, uint32_t rec, uint8_t all, bool *assumed)
{
    uint8_t cls = recorded_class(&x->p->rec[rec]);
    *assumed = cls == OC_CLASS_NONE;
    cls = *assumed ? all : cls;
    return x->a && is_half(cls) && is_single(x, &x->match[rec]) ? cls : OC_CLASS_NONE;
}

/* ---- layers of an engine ---------------------------------------------------------------------------- */

bool oc_engine_has_layers(const struct oc_profile *p, const struct oc_prof_rec *rec)
{
    return strcmp(p->format, "tensorrt") == 0 && rec->has_in && rec->has_out;
}

bool oc_engine_is_detailed(const struct oc_profile *p)
{
    for (uint32_t i = 0; i < p->n_rec; i++)
        if (oc_engine_has_layers(p, &p->rec[i]))
            return true;
    return false;
}

bool oc_other_batch(const struct oc_type *recorded, const struct oc_type *model, int64_t batch[2])
{
    const struct oc_shape *a = &recorded->shape, *b = &model->shape;
    if (recorded->kind != OC_T_TENSOR || model->kind != OC_T_TENSOR || !oc_shape_known(a) ||
        !oc_shape_known(b) || a->rank != b->rank || !a->rank)
        return false;
    for (unsigned i = 1; i < a->rank; i++)
        if (a->dim[i].v != b->dim[i].v)
            return false;
    batch[0] = a->dim[0].v;
    batch[1] = b->dim[0].v;
    return batch[0] > 0 && batch[1] > 0 && batch[0] != batch[1];
}

/* How often the model's work is done in the engine: by the elements of the last output. 0: unknown. */
static uint64_t times_of_model(const struct oc_join *j, const struct oc_prof_rec *rec,
                               const struct oc_join_rec *r)
{
    uint64_t recorded, model;
    const struct oc_node *last = &j->model->node[r->node[r->n_node - 1]];
    if (!rec->n_out || !last->n_out || last->out[0] == OC_NONE ||
        !oc_type_elements(&rec->out[0], &recorded) ||
        !oc_type_elements(&j->analysis->type[last->out[0]], &model) || !recorded || !model ||
        recorded % model)
        return 0;
    return recorded / model;
}

/* Operations that the layer information does not determine are the model's, for the engine's batch. */
static void scale_model(const struct oc_join *j, const struct oc_prof_rec *rec, struct oc_join_rec *r)
{
    uint64_t times = r->n_node && j->analysis && r->quality != OC_UNKNOWN ? times_of_model(j, rec, r) : 0;
    if (times == 1)
        return;
    if (!times || !oc_mul_u64(r->macs, times, &r->macs) || !oc_mul_u64(r->flops, times, &r->flops) ||
        !oc_mul_u64(r->ops, times, &r->ops)) {
        r->quality = OC_UNKNOWN;
        return;
    }
    r->quality = r->quality == OC_EXACT ? OC_EST : r->quality;
    r->note = "the model's count for the engine's batch";
}

static void set_operations(const struct oc_prof_rec *rec, struct oc_join_rec *r)
{
    bool integer = oc_record_is_integer(rec);
    uint64_t flop = rec->flop < 0x1p63 ? (uint64_t)rec->flop : UINT64_MAX;
    r->macs = rec->has_macs ? rec->macs : 0;
    r->flops = integer ? 0 : flop;
    r->ops = integer ? flop : 0;
    r->quality = flop == UINT64_MAX ? OC_UNKNOWN : rec->quality;
    r->note = "from the engine's layer information";
}

/* Reads are all bytes but those of the weights and of the outputs. */
static void set_bytes(const struct oc_prof_rec *rec, struct oc_join_rec *r)
{
    uint64_t all = rec->bytes < 0x1p63 ? (uint64_t)rec->bytes : 0, one;
    uint64_t params = rec->param_bytes != UINT64_MAX && rec->param_bytes <= all ? rec->param_bytes : 0;
    r->wr = 0;
    for (uint32_t i = 0; i < rec->n_out; i++)
        if (oc_type_bytes(&rec->out[i], &one) && !oc_add_u64(r->wr, one, &r->wr))
            r->wr = UINT64_MAX;
    r->wr = r->wr <= all - params ? r->wr : all - params;
    r->rd_wt = params;
    r->rd_act = all - params - r->wr;
    r->bytes_known = !isnan(rec->bytes);
}

/* Engines with dynamic shapes have dimensions of -1. */
static bool are_shapes_known(const struct oc_type *t, uint32_t n)
{
    uint64_t count;
    for (uint32_t i = 0; i < n; i++)
        if (!oc_type_elements(&t[i], &count) || !count)
            return false;
    return true;
}

bool oc_engine_cost(const struct oc_join *j, const struct oc_prof_rec *rec, struct oc_join_rec *r)
{
    if (!oc_engine_has_layers(j->profile, rec) || !are_shapes_known(rec->in, rec->n_in) ||
        !are_shapes_known(rec->out, rec->n_out))
        return false;
    if (!isnan(rec->flop))
        set_operations(rec, r);
    else
        scale_model(j, rec, r);
    set_bytes(rec, r);
    r->from_profile = true;
    return true;
}
