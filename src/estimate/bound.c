/* estimate/: Time where nothing was measured: roofline, lower bound, kernels of a runtime after fusion,
 * calibrated cost curves, ranking of devices. One planner and one bound: every command uses predict.h and
 * bound.h. A constant names its source; tests compare with published and recorded times.
 * Private to the folder: bound_tensors.h cal_fit.h curve.h. */

/* Lower bound of a run on a device: products in sequence, the rest at the rate of memory. */
#include "estimate/bound.h"

#include <math.h>
#include <string.h>

#include "estimate/bound_tensors.h"
#include "onnxcost.h"

#define TILE 8 /* of Winograd's algorithm; larger ones are not accurate */

/* The work of a node and its twins in one type, with all multiplications and without spare weights. */
struct oc_node_work {
    uint32_t key;     /* 1 + the node; 0: none */
    uint32_t classes; /* 1 << class, of those with operations */
    double by;        /* what Winograd's algorithm divides the multiplications by */
    struct oc_work w;
};
enum { RECENT = 128 };

static uint64_t at_most(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* ---- Winograd ----------------------------------------------------------------------------------------- */

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

static double winograd_of(const struct oc_bound_maker *k, uint32_t node)
{
    struct oc_kernel dims;
    if (k->a->cost[node].op_class != OC_OP_CONV)
        return 1;
    oc_bound_dims(k, node, &dims);
    return dims.stride > 1 || dims.dilation > 1 ? 1 : winograd(dims.kernel_h) * winograd(dims.kernel_w);
}

enum { WINOGRAD_CLASSES = 1 << OC_CLASS_F64 | 1 << OC_CLASS_F32 | 1 << OC_CLASS_F16 | 1 << OC_CLASS_BF16 };

/* The smallest number of multiplications of a node in a class. */
static uint64_t fewest_macs(const struct oc_node_work *n, unsigned cls)
{
    return WINOGRAD_CLASSES >> cls & 1 ? oc_bound_fewer_macs(n->w.macs[cls], n->by) : n->w.macs[cls];
}

/* ---- work ------------------------------------------------------------------------------------------- */

/* Adds the operations of a node, in the smallest number of multiplications; macs: false: without them. */
static void bound_add_counts(struct oc_work *sum, const struct oc_node_work *n, bool macs)
{
    for (unsigned left = n->classes, c = 0; left; left >>= 1, c++) {
        if (!(left & 1))
            continue;
        if (macs)
            oc_bound_add(&sum->macs[c], fewest_macs(n, c));
        oc_bound_add(&sum->flops[c], n->w.flops[c]);
        oc_bound_add(&sum->special[c], n->w.special[c]);
        oc_bound_add(&sum->special_flops[c], n->w.special_flops[c]);
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
static bool expands(const struct oc_bound_maker *k, uint32_t node)
{
    if (!k->latent[node])
        return false;
    uint32_t queries = k->m->node[node].in[0];
    const struct oc_shape *s = &k->a->type[queries].shape;
    return s->rank < 2 || dims_of(k->a, queries, s->rank - 2U, s->rank - 1U) != 1;
}

static bool has_work(const struct oc_work *w, unsigned cls)
{
    return w->macs[cls] || w->flops[cls] || w->special[cls] || w->special_flops[cls];
}

/* Counts of an operator, converted to the other type; its bytes as they are in that type. */
static void count_node(const struct oc_bound_maker *k, uint32_t node, struct oc_node_work *out)
{
    const struct oc_node_cost *c = &k->a->cost[node];
    struct oc_work *w = &out->w;
    *w = (struct oc_work){0};
    oc_work_add(w, c);
    if (k->as && !w->unknown && oc_recast_changes(k->as, c)) {
        struct oc_recasting sum = {0};
        oc_recast_add(k->as, k->a, &node, 1, &sum);
        oc_recast_finish(&sum, w);
    }
    if (w->unknown)
        return;
    uint64_t spare = bound_share(w->weight_bytes, oc_bound_spare_weights(k->a, node), c->rd_wt);
    w->weight_bytes -= spare;
    w->bytes -= spare;
    out->classes = 0;
    for (unsigned cls = 0; cls < OC_CLASS_COUNT; cls++)
        out->classes |= (has_work(w, cls) ? 1U : 0U) << cls;
    out->by = winograd_of(k, node);
}

/* Valid until the next call. */
static const struct oc_node_work *work_of_node(const struct oc_bound_maker *k, uint32_t node)
{
    uint32_t twin = k->a->twin[node];
    struct oc_node_work *n = &k->recent[twin % RECENT];
    if (n->key != twin + 1)
        count_node(k, node, n);
    n->key = twin + 1;
    return n;
}

/* Type of the numbers that a DequantizeLinear converted; OC_DT_UNDEFINED: none did. */
static unsigned dequantized_type(const struct oc_bound_maker *k, uint32_t value)
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

static uint8_t also_for(const struct oc_bound_maker *k, uint32_t node)
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

/* A product, and what is the same in all types: bytes that cannot be fused away. */
struct product {
    uint64_t read, written, weights;
    uint32_t node, next; /* the next product of its part; OC_NONE: the last one */
    uint8_t also;
};

/* Bytes of a part: each tensor once, each weight at its first reader. */
struct part_maker {
    const struct oc_bound_maker *k;
    uint32_t n_part;
    uint32_t *of_root;    /* by node: index of the part */
    uint32_t *seen;       /* by value: 1 + the last part that read what is computed from it, */
    uint64_t *seen_bytes; /* and how much: at most all of it */
    bool *weight_is_read; /* by value */
    struct product *product;
    uint32_t n_product;
    uint32_t *first, *last; /* by part: products */
};

static uint64_t least_read(struct part_maker *p, uint32_t node, uint32_t part)
{
    const struct oc_bound_maker *k = p->k;
    const struct oc_node *n = &k->m->node[node];
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n->n_in; i++) {
        if (!oc_bound_reads(k, node, i))
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
        oc_bound_add(&sum, more);
    }
    return sum;
}

/* A weight that another product has read may still be in a cache. */
static uint64_t first_weights(struct part_maker *p, uint32_t node)
{
    const struct oc_bound_maker *k = p->k;
    const struct oc_node *n = &k->m->node[node];
    uint64_t sum = 0, bytes;
    bool again = false;
    for (uint32_t i = 0; i < n->n_in; i++) {
        uint32_t v = n->in[i];
        if (v == OC_NONE || !k->a->is_const[v] || oc_op_slot(k->a->op[node], i) == 'm')
            continue;
        again |= p->weight_is_read[v];
        if (!p->weight_is_read[v] && oc_type_bytes(&k->a->type[v], &bytes))
            oc_bound_add(&sum, bytes);
        p->weight_is_read[v] = true;
    }
    return again ? sum : UINT64_MAX;
}

static uint64_t times(uint64_t n, uint64_t trips)
{
    uint64_t all;
    return oc_mul_u64(n, trips, &all) ? all : UINT64_MAX;
}

static void add_product(struct part_maker *p, uint32_t node)
{
    const struct oc_bound_maker *k = p->k;
    const struct oc_node *n = &k->m->node[node];
    const struct oc_node_cost *c = &k->a->cost[node];
    uint32_t part = p->of_root[oc_set_root(k->root, node)];
    uint64_t trips = c->trips ? c->trips : 1, read = least_read(p, node, part), written = 0;
    struct oc_work own = {0};
    oc_work_add(&own, c);
    if (own.unknown)
        return;
    for (uint32_t i = 0; i < n->n_out; i++)
        if (n->out[i] != OC_NONE)
            oc_bound_add(&written, k->written[n->out[i]]);
    uint32_t at = p->n_product++;
    p->product[at] = (struct product){.read = at_most(times(read, trips), c->rd_act),
                                      .written = at_most(times(written, trips), c->wr),
                                      .weights = first_weights(p, node),
                                      .node = node,
                                      .next = OC_NONE,
                                      .also = also_for(k, node)};
    if (p->first[part] == OC_NONE)
        p->first[part] = at;
    else
        p->product[p->last[part]].next = at;
    p->last[part] = at;
}

static void find_products(const struct oc_bound_maker *k, struct part_maker *p)
{
    uint32_t n_node = k->m->n_node, n_product = 0;
    size_t values = (size_t)k->m->n_value + 1;
    *p = (struct part_maker){.k = k,
                             .of_root = OC_NEW_ARRAY(k->arena, (size_t)n_node + 1, uint32_t),
                             .seen = OC_NEW_ARRAY(k->arena, values, uint32_t),
                             .seen_bytes = OC_NEW_ARRAY(k->arena, values, uint64_t),
                             .weight_is_read = OC_NEW_ARRAY(k->arena, values, bool)};
    for (uint32_t i = 0; i < n_node; i++) {
        bool root = k->root[i] != OC_NONE && oc_set_root(k->root, i) == i;
        n_product += k->root[i] != OC_NONE;
        p->of_root[i] = root ? p->n_part++ : OC_NONE;
    }
    p->product = OC_NEW_ARRAY(k->arena, (size_t)n_product + 1, struct product);
    p->first = OC_NEW_ARRAY(k->arena, 2 * (size_t)p->n_part + 1, uint32_t);
    p->last = p->first + p->n_part;
    for (uint32_t i = 0; i < p->n_part; i++)
        p->first[i] = OC_NONE;
    for (uint32_t i = 0; i < n_node; i++)
        if (k->root[i] != OC_NONE)
            add_product(p, i);
}

/* Of the product's bytes, in the type, the part that cannot be fused away. Returns its classes, 1 << class. */
static unsigned add_to_part(const struct oc_bound_maker *k, const struct product *x, struct oc_work *sum)
{
    const struct oc_node_cost *c = &k->a->cost[x->node];
    const struct oc_node_work *n = work_of_node(k, x->node);
    if (n->w.unknown)
        return 0;
    bound_add_counts(sum, n, !expands(k, x->node));
    uint64_t act = n->w.bytes - n->w.weight_bytes - n->w.written,
             weight = at_most(n->w.weight_bytes, x->weights),
             written = bound_share(n->w.written, x->written, c->wr);
    oc_bound_add(&sum->weight_bytes, weight);
    oc_bound_add(&sum->written, written);
    oc_bound_add(&sum->bytes, weight);
    oc_bound_add(&sum->bytes, written);
    oc_bound_add(&sum->bytes, bound_share(act, x->read, c->rd_act));
    sum->launches = n->w.launches > sum->launches ? n->w.launches : sum->launches;
    return n->classes;
}

/* set: classes that may have work, 1 << class */
static unsigned list_classes(const struct oc_work *w, unsigned set, struct oc_class_work *out)
{
    unsigned n = 0;
    for (unsigned c = 0; set >> c; c++)
        if ((set >> c & 1) && has_work(w, c))
            out[n++] = (struct oc_class_work){w->macs[c], w->flops[c], w->special[c], w->special_flops[c],
                                              (uint8_t)c};
    return n;
}

unsigned oc_class_works(const struct oc_work *w, struct oc_class_work out[OC_CLASS_COUNT])
{
    return list_classes(w, (1U << OC_CLASS_COUNT) - 1, out);
}

static void make_part(const struct oc_bound_maker *k, const struct part_maker *p, uint32_t part,
                      struct oc_bound_part *out)
{
    struct oc_work sum = {0};
    struct oc_class_work ops[OC_CLASS_COUNT];
    unsigned classes = 0;
    for (uint32_t i = p->first[part]; i != OC_NONE; i = p->product[i].next) {
        classes |= add_to_part(k, &p->product[i], &sum);
        out->also |= p->product[i].also;
    }
    out->bytes = (struct oc_roof_traffic){sum.bytes, sum.weight_bytes, sum.written, sum.launches};
    out->n_ops = (uint8_t)list_classes(&sum, classes, ops);
    out->ops = OC_COPY_ARRAY(k->arena, ops, out->n_ops);
}

static void make_parts(const struct oc_bound_maker *k, const struct part_maker *p, struct oc_bound_load *out)
{
    struct oc_bound_part *part = OC_NEW_ARRAY(k->arena, (size_t)p->n_part + 1, struct oc_bound_part);
    for (uint32_t i = 0; i < p->n_part; i++)
        make_part(k, p, i, &part[i]);
    out->part = part;
    out->n_part = p->n_part;
    out->part_of_root = p->of_root;
}

/* ---- second bound ----------------------------------------------------------------------------------- */

/* What operators read of the model's inputs, each once. */
static void add_inputs_read(struct oc_bound_maker *k, struct oc_work *all)
{
    uint64_t *most = OC_NEW_ARRAY(k->arena, (size_t)k->m->n_value + 1, uint64_t);
    for (uint32_t i = 0; i < k->m->n_node; i++) {
        const struct oc_node *n = &k->m->node[i];
        for (uint32_t s = 0; s < n->n_in; s++) {
            if (!oc_bound_has_cost(&k->a->cost[i]) || !oc_bound_reads(k, i, s))
                continue;
            uint32_t v = k->source[n->in[s]];
            uint64_t part = at_most(k->size[v], k->a->cost[i].rd_act);
            most[v] = part > most[v] ? part : most[v];
        }
    }
    for (uint32_t v = 0; v < k->m->n_value; v++)
        if (k->m->value[v].graph == 0 && k->m->value[v].producer == OC_NONE)
            oc_bound_add(&all->bytes, most[v]);
}

/* An output that continues an input, such as a cache, may be written in place: only what is new counts. */
static void add_outputs_written(const struct oc_bound_maker *k, struct oc_work *all)
{
    for (uint32_t i = 0; i < k->m->graph[0].n_output; i++) {
        uint32_t v = k->source[k->m->graph[0].output[i]], from = k->m->value[v].producer;
        if (from == OC_NONE || !oc_bound_has_cost(&k->a->cost[from]))
            continue;
        const struct oc_node *n = &k->m->node[from];
        uint64_t bytes = at_most(k->size[v], k->a->cost[from].wr), old = 0;
        for (uint32_t s = 0; s < n->n_in && oc_bound_joins(n); s++)
            old = n->in[s] != OC_NONE && k->size[n->in[s]] > old ? k->size[n->in[s]] : old;
        bytes -= at_most(bytes, old);
        oc_bound_add(&all->bytes, bytes);
        oc_bound_add(&all->written, bytes);
    }
}

static void note_fewer(const struct oc_bound_maker *k, uint32_t node, const struct oc_node_work *n,
                       struct oc_bound_load *out)
{
    for (unsigned c = 0; c < OC_CLASS_COUNT && n->by > 1; c++)
        if ((WINOGRAD_CLASSES >> c & 1) && n->w.macs[c])
            out->fewer[out->n_fewer++] = (struct oc_bound_fewer){
                .part = k->root[node] == OC_NONE ? OC_NONE : out->part_of_root[oc_set_root(k->root, node)],
                .cls = (uint8_t)c,
                .macs = n->w.macs[c],
                .by = n->by};
}

/* Only these may need fewer multiplications, each in one class. */
static size_t count_convolutions(const struct oc_analysis *a)
{
    size_t n = 0;
    for (uint32_t i = 0; i < a->model->n_node; i++)
        n += a->cost[i].op_class == OC_OP_CONV;
    return n;
}

static void add_everything(struct oc_bound_maker *k, struct oc_bound_load *out)
{
    struct oc_work *all = &out->all;
    uint64_t before = 0;
    out->fewer = OC_NEW_ARRAY(k->arena, count_convolutions(k->a), struct oc_bound_fewer);
    for (uint32_t i = 0; i < k->m->n_node; i++) {
        const struct oc_node_cost *c = &k->a->cost[i];
        if (!oc_is_launched(c) && !c->n_hist && !(c->rd_act | c->rd_wt | c->wr))
            continue; /* most nodes of exported models: they compute shapes, or are views */
        const struct oc_node_work *n = work_of_node(k, i);
        if (n->w.unknown)
            continue;
        oc_bound_add(&all->launches, n->w.launches);
        if (!n->w.bytes && !c->n_hist)
            continue;
        note_fewer(k, i, n, out);
        bound_add_counts(all, n, !expands(k, i));
        oc_bound_add(&all->weight_bytes, n->w.weight_bytes);
        uint64_t spare = oc_bound_spare_weights(k->a, i);
        oc_bound_add(&before, c->rd_wt - spare);
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
    struct oc_bound_maker k = {
        .m = a->model, .a = a, .arena = arena, .recent = OC_NEW_ARRAY(arena, RECENT, struct oc_node_work)};
    struct part_maker parts;
    oc_bound_tensors_make(&k);
    find_products(&k, &parts);
    for (size_t i = 0; i < n; i++) {
        k.as = as[i];
        out[i] = (struct oc_bound_load){0};
        for (size_t j = 0; j < RECENT; j++)
            k.recent[j].key = 0;
        make_parts(&k, &parts, &out[i]);
        add_everything(&k, &out[i]);
    }
}

void oc_bound_load_make(const struct oc_analysis *a, const struct oc_recast *as, struct oc_arena *arena,
                        struct oc_bound_load *out)
{
    oc_bound_loads_make(a, &as, 1, arena, out);
}
