/* Cost of TensorRT's layers: those of the engine, which may have another batch, other element types and other
 * fusions than the model. */
#include "join/expansion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ck.h"

/* Layers of a TensorRT engine whose names are not those of the model (another export of the same network): a
 * layer with a main operator is matched to a node of the same type, shapes without batch, and multiply-adds.
 * Equal layers are matched in order if there are as many as equal nodes; otherwise a layer needs neighbours
 * that are matched, and must be the only one of its kind between them. */

enum { MAX_ROUNDS = 8 };

/* Types that the engine does not split or merge. Layers of one row are interchangeable. */
static const char *const kinds[] = {
    " Conv QLinearConv ConvInteger ",
    " ConvTranspose ",
    " Gemm MatMul QLinearMatMul MatMulInteger FusedMatMul ",
    " MaxPool GlobalMaxPool ",
    " AveragePool GlobalAveragePool ReduceMean ",
    " Softmax LogSoftmax ",
    " LSTM GRU RNN ",
    " QuantizeLinear ",
    " DequantizeLinear ",
};

struct anchor {
    uint32_t id; /* record or node */
    uint32_t signature;
    uint32_t pair; /* index in the other sequence, OC_NONE */
};

struct sequence {
    struct anchor *item;
    uint32_t n;
    uint32_t *count; /* by signature */
};

struct engine {
    struct oc_matcher *x;
    struct oc_arena arena;
    struct oc_map signatures;
    uint32_t n_signature;
    struct sequence layer, node;
};

static uint32_t kind_of(const char *type)
{
    char word[48];
    int n = snprintf(word, sizeof(word), " %s ", type);
    uint32_t k = 0;
    while (k < OC_COUNT(kinds) && (!*type || n >= (int)sizeof(word) || !strstr(kinds[k], word)))
        k++;
    return k;
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Dimensions after the first that are not 1, sorted: layouts and flattened axes do not count. */
static bool put_dims(const struct oc_type *t, int64_t *key, uint32_t *n)
{
    uint32_t first = *n + 1;
    if (!t || t->kind != OC_T_TENSOR || !oc_shape_known(&t->shape) || !t->shape.rank || t->shape.dim[0].v < 1)
        return false;
    *n = first;
    for (unsigned i = 1; i < t->shape.rank; i++)
        if (t->shape.dim[i].v != 1)
            key[(*n)++] = t->shape.dim[i].v;
    key[first - 1] = *n - first;
    qsort(key + first, *n - first, sizeof(*key), by_size);
    return true;
}

/* Number of the signature: kind, multiply-adds of one batch element, shapes of the first input and, without
 * multiply-adds, of the first output. OC_NONE: no main operator, or unknown. */
static uint32_t signature_of(struct engine *e, const char *type, uint64_t macs, const struct oc_type *in,
                             const struct oc_type *out)
{
    int64_t key[2 + 2 * (OC_MAX_RANK + 1)] = {kind_of(type)};
    uint32_t n = 2, at = e->n_signature;
    if (key[0] == (int64_t)OC_COUNT(kinds) || !put_dims(in, key, &n) || (!macs && !put_dims(out, key, &n)) ||
        macs % (uint64_t)in->shape.dim[0].v || macs > INT64_MAX)
        return OC_NONE;
    key[1] = (int64_t)macs / in->shape.dim[0].v;
    e->n_signature += oc_map_add(&e->signatures, (const char *)key, n * sizeof(*key), &at, NULL);
    return at;
}

static uint32_t signature_of_layer(struct engine *e, uint32_t rec)
{
    const struct oc_prof_rec *r = &e->x->p->rec[rec];
    const struct oc_match *m = &e->x->match[rec];
    if (r->bucket || r->overhead || m->n_node || m->inner_of != OC_NONE ||
        !oc_engine_has_layers(e->x->p, r) || !r->n_in || !r->n_out)
        return OC_NONE;
    return signature_of(e, r->op_type, r->has_macs ? r->macs : 0, &r->in[0], &r->out[0]);
}

static uint32_t signature_of_node(struct engine *e, uint32_t node)
{
    const struct oc_matcher *x = e->x;
    const struct oc_node *n = &x->m->node[node];
    const struct oc_node_cost *k = &x->a->cost[node];
    if (x->owner[node] != OC_NONE || !oc_match_runs(x, node) || k->quality == OC_UNKNOWN || !n->n_in ||
        !n->n_out || n->in[0] == OC_NONE || n->out[0] == OC_NONE)
        return OC_NONE;
    return signature_of(e, n->op_type, k->macs, &x->a->type[n->in[0]], &x->a->type[n->out[0]]);
}

static void add_anchor(struct sequence *s, uint32_t id, uint32_t signature)
{
    if (signature != OC_NONE)
        s->item[s->n++] = (struct anchor){id, signature, OC_NONE};
}

static void count_signatures(struct engine *e, struct sequence *s)
{
    s->count = OC_NEW_ARRAY(&e->arena, (size_t)e->n_signature + 1, uint32_t);
    for (uint32_t i = 0; i < s->n; i++)
        s->count[s->item[i].signature]++;
}

static void collect(struct engine *e)
{
    const struct oc_matcher *x = e->x;
    e->layer.item = OC_NEW_ARRAY(&e->arena, (size_t)x->p->n_rec + 1, struct anchor);
    e->node.item = OC_NEW_ARRAY(&e->arena, (size_t)x->m->n_node + 1, struct anchor);
    for (uint32_t i = 0; i < x->p->n_rec; i++)
        add_anchor(&e->layer, i, signature_of_layer(e, i));
    for (uint32_t i = 0; i < x->m->n_node; i++)
        add_anchor(&e->node, i, signature_of_node(e, i));
    count_signatures(e, &e->layer);
    count_signatures(e, &e->node);
}

static void pair(struct engine *e, uint32_t layer, uint32_t node, double confidence)
{
    struct anchor *l = &e->layer.item[layer], *n = &e->node.item[node];
    l->pair = node;
    n->pair = layer;
    e->x->match[l->id].bucket = NULL;
    oc_match_core(e->x, l->id, n->id, "type and shape", confidence);
}

/* As many layers as nodes: the k-th layer is the k-th node. */
static void pair_equal_counts(struct engine *e)
{
    uint32_t *next = OC_NEW_ARRAY(&e->arena, (size_t)e->n_signature + 1, uint32_t);
    for (uint32_t i = 0; i < e->layer.n; i++) {
        uint32_t s = e->layer.item[i].signature;
        if (e->layer.count[s] != e->node.count[s])
            continue;
        while (e->node.item[next[s]].signature != s)
            next[s]++;
        pair(e, i, next[s]++, e->layer.count[s] == 1 ? 0.9 : 0.8);
    }
}

/* The only unmatched anchor with the signature in [from, to); OC_NONE: none or several. */
static uint32_t only_one(const struct sequence *s, uint32_t from, uint32_t to, uint32_t signature)
{
    uint32_t found = OC_NONE;
    for (uint32_t i = from; i < to; i++) {
        if (s->item[i].pair != OC_NONE || s->item[i].signature != signature)
            continue;
        if (found != OC_NONE)
            return OC_NONE;
        found = i;
    }
    return found;
}

/* Layers between two matched ones, and the nodes between theirs. */
static bool pair_between(struct engine *e, uint32_t from, uint32_t to, uint32_t node_from, uint32_t node_to)
{
    bool any = false;
    for (uint32_t i = from; i < to && node_from <= node_to; i++) {
        uint32_t s = e->layer.item[i].signature;
        if (e->layer.item[i].pair != OC_NONE || only_one(&e->layer, from, to, s) != i)
            continue;
        uint32_t node = only_one(&e->node, node_from, node_to, s);
        if (node != OC_NONE)
            pair(e, i, node, 0.6);
        any |= node != OC_NONE;
    }
    return any;
}

static bool pair_by_neighbours(struct engine *e)
{
    bool any = false;
    uint32_t from = 0, node_from = 0;
    for (uint32_t i = 0; i < e->layer.n; i++) {
        uint32_t node = e->layer.item[i].pair;
        if (node == OC_NONE)
            continue;
        any |= pair_between(e, from, i, node_from, node);
        from = i + 1;
        node_from = node + 1;
    }
    return pair_between(e, from, e->layer.n, node_from, e->node.n) || any;
}

void oc_match_engine(struct oc_matcher *x)
{
    struct engine e = {.x = x};
    if (!x->a)
        return;
    e.signatures.arena = &e.arena;
    collect(&e);
    pair_equal_counts(&e);
    for (unsigned round = 0; round < MAX_ROUNDS && pair_by_neighbours(&e); round++)
        ;
    oc_map_free(&e.signatures);
    oc_arena_free(&e.arena);
}

static bool elements(const struct oc_type *t, uint64_t *n)
{
    *n = 1;
    if (t->kind != OC_T_TENSOR || !oc_shape_known(&t->shape))
        return false;
    for (unsigned i = 0; i < t->shape.rank; i++)
        if (!oc_mul_u64(*n, (uint64_t)t->shape.dim[i].v, n))
            return false;
    return *n > 0;
}

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
    if (!rec->n_out || !last->n_out || last->out[0] == OC_NONE || !elements(&rec->out[0], &recorded) ||
        !elements(&j->analysis->type[last->out[0]], &model) || recorded % model)
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
        if (!elements(&t[i], &count))
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
