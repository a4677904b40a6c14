/* Layers of a TensorRT engine whose names are not those of the model (another export of the same network): a
 * layer with a main operator is matched to a node of the same type, shapes without batch, and multiply-adds.
 * Equal layers are matched in order if there are as many as equal nodes; otherwise a layer needs neighbours
 * that are matched, and must be the only one of its kind between them. */
#include <stdlib.h>
#include <string.h>

#include "join/engine_cost.h"
#include "join/match_engine.h"

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
