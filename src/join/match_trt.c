/* Layers of TensorRT engines (profile-formats 3.4), and names in timelines that list nodes likewise. In
 * order: the nodes that the layer information lists, the whole name, the grammar of fused names (layer_names.c),
 * ranges of opaque regions. Nodes that the builder fused without reporting it (BatchNormalization into
 * weights, quantizers, reshapes) then go to the adjacent layer. Layers with other names are matched by type
 * and shape. */
#include <stdlib.h>
#include <string.h>

#include "base/ck.h"
#include "join/expansion.h"
#include "join/join.h"
#include "profile/core/kernel_names.h"

#define MAX_LAYER_PARTS 1024
#define MAX_NAME        16384 /* of a name in a timeline */
#define MAX_RANGES      256
#define MAX_ROUNDS      8

struct trt {
    struct oc_matcher *x;
    bool *region; /* by record: an opaque region, which may contain any node */
    uint32_t n_range;
    struct trt_part *part; /* MAX_LAYER_PARTS */
};

enum found { NOTHING, WEIGHT, NODE };

struct tally {
    unsigned known, unknown, made, generated;
    uint32_t shared; /* record that already has the nodes, OC_NONE */
    bool plain;      /* a name matched in its plain form only */
};

/* ---- one name --------------------------------------------------------------------------------------- */

static enum found find_exact(const struct trt *t, uint32_t rec, const char *s, size_t n, uint32_t *node)
{
    const struct oc_matcher *x = t->x;
    if ((*node = oc_match_node_named(x, rec, s, n)) != OC_NONE)
        return NODE;
    uint32_t v = oc_map_get(&x->x.values, s, n);
    if (v == OC_NONE)
        return NOTHING;
    *node = x->m->value[v].producer;
    return *node != OC_NONE ? NODE : WEIGHT;
}

static enum found find(const struct trt *t, uint32_t rec, const char *s, size_t n, uint32_t *node,
                       bool *plain)
{
    size_t stem = oc_trt_stem(s, n);
    enum found f = find_exact(t, rec, s, n, node);
    if (f == NOTHING && stem < n)
        f = find_exact(t, rec, s, stem, node);
    if (f != NOTHING)
        return f;
    *node = oc_match_plain_name(t->x, s, stem);
    *plain |= *node != OC_NONE;
    return *node != OC_NONE ? NODE : NOTHING;
}

struct asked {
    const struct trt *t;
    uint32_t rec;
};

static bool is_name(const void *ctx, const char *s, size_t n)
{
    const struct asked *a = ctx;
    uint32_t node;
    return find_exact(a->t, a->rec, s, n, &node) != NOTHING;
}

/* A node that already belongs to another layer makes this record a part of that one. */
static void take(struct trt *t, uint32_t rec, uint32_t node, struct tally *n)
{
    uint32_t owner = t->x->owner[node];
    n->known++;
    if (owner != OC_NONE && owner != rec)
        n->shared = owner;
    else
        oc_match_add(t->x, rec, node);
}

static void take_name(struct trt *t, uint32_t rec, const char *s, size_t len, struct tally *n)
{
    uint32_t node;
    enum found f = find(t, rec, s, len, &node, &n->plain);
    if (f == NODE)
        take(t, rec, node, n);
    n->unknown += f == NOTHING;
}

static double share(const struct tally *n)
{
    return (double)n->known / (n->known + n->unknown);
}

/* True: the record is matched to nodes, its own or those of another record. */
static bool assign_layer(struct trt *t, uint32_t rec, const struct tally *n, const char *rule,
                         double confidence)
{
    struct oc_match *m = &t->x->match[rec];
    if (m->n_node) {
        oc_match_core(t->x, rec, m->node[0], rule, confidence * share(n) * (n->plain ? 0.9 : 1));
        return true;
    }
    if (n->shared == OC_NONE)
        return false;
    m->inner_of = n->shared;
    m->rule = rule;
    return true;
}

/* ---- nodes listed in the layer information ---------------------------------------------------------- */

static void match_by_markers(struct trt *t, uint32_t rec)
{
    const struct oc_prof_rec *r = &t->x->p->rec[rec];
    struct tally n = {.shared = OC_NONE};
    for (uint32_t i = 0; i < r->n_node_name; i++)
        take_name(t, rec, r->node_name[i], strlen(r->node_name[i]), &n);
    if (n.known)
        assign_layer(t, rec, &n, "marker", 1);
}

static int longer(const void *a, const void *b, void *profile)
{
    const struct oc_profile *p = profile;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    const struct oc_prof_rec *x = &p->rec[i], *y = &p->rec[k];
    bool heavy = x->has_macs && x->macs, other = y->has_macs && y->macs;
    if (heavy != other)
        return heavy ? -1 : 1;
    if (x->self_ns > y->self_ns || x->self_ns < y->self_ns)
        return x->self_ns > y->self_ns ? -1 : 1;
    return (i > k) - (i < k);
}

/* A node may be split over several layers: it is matched to the one that multiplies, or to the longest. */
static void all_markers(struct trt *t)
{
    const struct oc_profile *p = t->x->p;
    uint32_t *order = oc_xmalloc(((size_t)p->n_rec + 1) * sizeof(*order)), n = 0;
    for (uint32_t i = 0; i < p->n_rec; i++)
        if (p->rec[i].n_node_name && !p->rec[i].bucket && !t->x->match[i].n_node)
            order[n++] = i;
    if (n)
        qsort_r(order, n, sizeof(*order), longer, (void *)(uintptr_t)p);
    for (uint32_t i = 0; i < n; i++)
        match_by_markers(t, order[i]);
    free(order);
}

/* ---- names ------------------------------------------------------------------------------------------ */

static void take_part(struct trt *t, uint32_t rec, const struct trt_part *p, struct tally *n)
{
    if (p->kind == TRT_NODE || p->kind == TRT_TENSOR)
        take_name(t, rec, p->s, p->n, n);
    n->made += p->kind == TRT_ADDED || p->kind == TRT_UNNAMED;
    n->generated += p->kind == TRT_GENERATED;
}

static size_t split(struct trt *t, uint32_t rec)
{
    const char *name = t->x->p->rec[rec].name;
    struct asked a = {t, rec};
    struct trt_known known = {is_name, &a};
    size_t n = oc_trt_split(name, oc_trt_stem(name, strlen(name)), &known, t->part, MAX_LAYER_PARTS);
    return n < MAX_LAYER_PARTS ? n : MAX_LAYER_PARTS;
}

static bool has_range(const struct trt *t, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (t->part[i].kind == TRT_RANGE)
            return true;
    return false;
}

static bool match_by_whole_name(struct trt *t, uint32_t rec)
{
    const char *name = t->x->p->rec[rec].name;
    struct tally n = {.shared = OC_NONE};
    uint32_t node = oc_match_node_named(t->x, rec, name, strlen(name));
    bool is_node = node != OC_NONE;
    if (!is_node && find_exact(t, rec, name, strlen(name), &node) != NODE)
        return false;
    take(t, rec, node, &n);
    return assign_layer(t, rec, &n, is_node ? "name" : "tensor name", is_node ? 1 : 0.95);
}

/* The bucket for a name that matches no node. */
static const char *bucket_of(const struct oc_prof_rec *r, const struct tally *n)
{
    if (n->unknown)
        return r->source_type && oc_equal(r->source_type, "Reformat") ? "reformat" : "unmatched";
    return n->generated ? "generated kernels" : "inserted";
}

static void match_by_name(struct trt *t, uint32_t rec)
{
    struct oc_match *m = &t->x->match[rec];
    struct tally n = {.shared = OC_NONE};
    if (match_by_whole_name(t, rec))
        return;
    m->bucket = t->x->p->rec[rec].overhead;
    if (m->bucket)
        return;
    size_t parts = split(t, rec);
    if (has_range(t, parts))
        return; /* when all names are resolved */
    for (size_t i = 0; i < parts; i++)
        take_part(t, rec, &t->part[i], &n);
    if (!n.known || !assign_layer(t, rec, &n, n.plain && n.known == 1 ? "plain name" : "name parts", 0.95))
        m->bucket = bucket_of(&t->x->p->rec[rec], &n);
}

/* ---- regions ---------------------------------------------------------------------------------------- */

/* Marks with `bit` the nodes that are reachable from the node, along the tensors or against them. */
static void reach(struct oc_matcher *x, uint8_t *mark, uint8_t bit, uint32_t from, bool forward,
                  uint32_t *todo)
{
    uint32_t n = 0;
    mark[from] |= bit;
    todo[n++] = from;
    while (n) {
        const struct oc_node *node = &x->m->node[todo[--n]];
        for (uint32_t k = 0; k < (forward ? node->n_out : node->n_in); k++) {
            uint32_t v = forward ? node->out[k] : node->in[k];
            uint32_t first = v == OC_NONE || !forward ? 0 : x->x.use_first[v];
            uint32_t end = v == OC_NONE ? 0 : forward ? x->x.use_first[v + 1] : 1;
            for (uint32_t i = first; i < end; i++) {
                uint32_t next = forward ? x->x.use[i] : x->m->value[v].producer;
                if (next == OC_NONE || mark[next] & bit)
                    continue;
                mark[next] |= bit;
                todo[n++] = next;
            }
        }
    }
}

/* Nodes of the range that no layer names. Without a path between its ends: the nodes between them in
 * order. */
static bool take_range(struct trt *t, uint32_t rec, uint32_t first, uint32_t last)
{
    struct oc_matcher *x = t->x;
    uint32_t n = x->m->n_node, *todo = oc_xmalloc(((size_t)n + 1) * sizeof(*todo));
    uint8_t *mark = oc_xmalloc((size_t)n + 1);
    memset(mark, 0, (size_t)n + 1);
    reach(x, mark, 1, first, true, todo);
    reach(x, mark, 2, last, false, todo);
    bool path = mark[last] & 1;
    for (uint32_t i = 0; i < n; i++) {
        bool between =
            path ? mark[i] == 3 : i >= first && i <= last && x->m->node[i].graph == x->m->node[first].graph;
        if (between && x->owner[i] == OC_NONE && oc_match_runs(x, i))
            oc_match_add(x, rec, i);
    }
    free(todo);
    free(mark);
    return path;
}

static void match_by_range(struct trt *t, uint32_t rec)
{
    struct oc_match *m = &t->x->match[rec];
    struct tally n = {.shared = OC_NONE};
    bool path = true;
    size_t parts = split(t, rec);
    for (size_t i = 0; i < parts; i++) {
        const struct trt_part *p = &t->part[i];
        uint32_t first, last;
        take_part(t, rec, p, &n);
        if (p->kind != TRT_RANGE)
            continue;
        if (t->n_range++ < MAX_RANGES && find(t, rec, p->s, p->n, &first, &n.plain) == NODE &&
            find(t, rec, p->last, p->n_last, &last, &n.plain) == NODE) {
            path = take_range(t, rec, first, last) && path;
            n.known++;
        } else {
            n.unknown++;
        }
    }
    if (t->region)
        t->region[rec] = true;
    if (!n.known || !assign_layer(t, rec, &n, "range", path ? 0.9 : 0.5))
        m->bucket = "unmatched";
}

/* ---- nodes fused without a record ------------------------------------------------------------------- */

static bool may_fuse_silently(const char *type, bool ahead)
{
    static const char
        behind[] = " BatchNormalization Relu LeakyRelu Clip Sigmoid Tanh HardSigmoid HardSwish Elu Selu "
                   "Softplus Gelu Add Mul Sub Div Pad ",
        both[] = " QuantizeLinear DequantizeLinear Cast Identity Dropout Reshape Flatten Squeeze "
                 "Unsqueeze Transpose Expand Slice Concat Split Constant Shape Gather Pad Where Equal "
                 "ConstantOfShape Range ";
    char word[48];
    int n = snprintf(word, sizeof(word), " %s ", type);
    return n < (int)sizeof(word) && (strstr(both, word) || (!ahead && strstr(behind, word)));
}

/* The last layer in execution order that produces an input of the node; OC_NONE: one producer has no layer
 * yet. */
static uint32_t maker(const struct trt *t, uint32_t node)
{
    const struct oc_matcher *x = t->x;
    const struct oc_node *n = &x->m->node[node];
    uint32_t best = OC_NONE;
    for (uint32_t k = 0; k < n->n_in; k++) {
        uint32_t from = n->in[k] == OC_NONE ? OC_NONE : x->m->value[n->in[k]].producer;
        if (from == OC_NONE || !oc_match_runs(x, from))
            continue;
        if (x->owner[from] == OC_NONE)
            return OC_NONE;
        if (best == OC_NONE || x->owner[from] > best)
            best = x->owner[from];
    }
    return best;
}

static bool absorb(struct trt *t, uint32_t node, bool ahead)
{
    if (!oc_match_open(t->x, node))
        return false;
    uint32_t rec = ahead ? oc_match_reading_record(t->x, node, NULL) : maker(t, node);
    if (rec == OC_NONE || !(t->region[rec] || may_fuse_silently(t->x->m->node[node].op_type, ahead)))
        return false;
    oc_match_add(t->x, rec, node);
    return true;
}

static void absorb_all(struct trt *t)
{
    uint32_t n = t->x->m->n_node;
    bool more = true;
    for (unsigned round = 0; more && round < MAX_ROUNDS; round++) {
        more = false;
        for (uint32_t i = 0; i < n; i++)
            more |= absorb(t, i, false);
        for (uint32_t i = n; i-- > 0;)
            more |= absorb(t, i, true);
    }
}

/* ---- single names ----------------------------------------------------------------------------------- */

/* "[ONNX Layer: conv1]": several in one name. */
static bool take_markers(struct trt *t, uint32_t rec, struct tally *n)
{
    static const char mark[] = "[ONNX Layer: ";
    const char *at = strstr(t->x->p->rec[rec].name, mark);
    bool any = at != NULL;
    for (; at; at = strstr(at, mark)) {
        at += sizeof(mark) - 1;
        take_name(t, rec, at, strcspn(at, "]\x1e\x1f"), n);
    }
    return any;
}

/* "Conv.3(conv1)": NVTX ranges of ONNX Runtime; type, index, name of a node. */
static bool take_range_name(struct trt *t, uint32_t rec, struct tally *n)
{
    const char *name = t->x->p->rec[rec].name;
    size_t type = strcspn(name, "."), digits, len = strlen(name);
    uint32_t node;
    if (!type || !name[type] || !(digits = strspn(name + type + 1, "0123456789")))
        return false;
    size_t open = type + 1 + digits;
    if (name[open] != '(' || name[len - 1] != ')' || len <= open + 2 ||
        find(t, rec, name + open + 1, len - open - 2, &node, &n->plain) != NODE)
        return false;
    take(t, rec, node, n);
    return true;
}

/* The parts of a name, and ranges; unlike a layer of an engine, one without a match stays open. */
static void match_open_name(struct trt *t, uint32_t rec)
{
    struct oc_match *m = &t->x->match[rec];
    struct tally n = {.shared = OC_NONE};
    size_t parts = split(t, rec);
    if (has_range(t, parts)) {
        match_by_range(t, rec);
        m->bucket = NULL;
        return;
    }
    for (size_t i = 0; i < parts; i++)
        take_part(t, rec, &t->part[i], &n);
    if (!n.known || !assign_layer(t, rec, &n, n.plain && n.known == 1 ? "plain name" : "name parts", 0.95))
        m->bucket = n.unknown ? NULL : n.generated ? "generated kernels" : n.made ? "inserted" : NULL;
}

void oc_match_by_parts(struct oc_matcher *x, uint32_t rec)
{
    struct trt t = {.x = x};
    struct tally n = {.shared = OC_NONE};
    const char *name = x->p->rec[rec].name;
    size_t len = strlen(name);
    if (take_markers(&t, rec, &n) || take_range_name(&t, rec, &n)) {
        if (n.known)
            assign_layer(&t, rec, &n, "marker", 1);
        return;
    }
    x->match[rec].bucket = oc_trt_overhead(name, len);
    if (x->match[rec].bucket || len >= MAX_NAME)
        return;
    t.part = oc_xmalloc(MAX_LAYER_PARTS * sizeof(*t.part));
    match_open_name(&t, rec);
    free(t.part);
}

/* ---- layers with other names ------------------------------------------------------------------------ */

/* Layers of a TensorRT engine whose names are not those of the model (another export of the same network): a
 * layer with a main operator is matched to a node of the same type, shapes without batch, and multiply-adds.
 * Equal layers are matched in order if there are as many as equal nodes; otherwise a layer needs neighbours
 * that are matched, and must be the only one of its kind between them. */

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
    qsort(key + first, *n - first, sizeof(*key), oc_by_i64);
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

/* Matches the unmatched layers of a TensorRT engine by type, shapes and neighbours. */
static void match_engine(struct oc_matcher *x)
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

/* ---- public ----------------------------------------------------------------------------------------- */

static bool is_open(const struct oc_matcher *x, uint32_t rec)
{
    const struct oc_match *m = &x->match[rec];
    return !x->p->rec[rec].bucket && !m->n_node && !m->bucket && m->inner_of == OC_NONE;
}

void oc_match_tensorrt(struct oc_matcher *x)
{
    struct trt t = {.x = x};
    if (strcmp(x->p->format, "tensorrt") != 0)
        return;
    t.region = OC_NEW_ARRAY(x->arena, (size_t)x->p->n_rec + 1, bool);
    t.part = oc_xmalloc(MAX_LAYER_PARTS * sizeof(*t.part));
    all_markers(&t);
    for (uint32_t i = 0; i < x->p->n_rec; i++)
        if (is_open(x, i))
            match_by_name(&t, i);
    for (uint32_t i = 0; i < x->p->n_rec; i++)
        if (is_open(x, i))
            match_by_range(&t, i);
    match_engine(x);
    absorb_all(&t);
    free(t.part);
}
