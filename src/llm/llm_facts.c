/* Properties of the model from its graph: heads, sizes, window, vocabulary, weight formats. */
#include <stdlib.h>
#include <string.h>

#include "base/ck.h"
#include "base/map.h"
#include "llm/llm.h"
#include "onnxcost.h"

/* ---- the cache -------------------------------------------------------------------------------------- */

static int64_t llm_facts_dim_of(const struct oc_analysis *a, uint32_t value, unsigned axis)
{
    const struct oc_shape *s = &a->type[value].shape;
    return s->ranked && axis < s->rank && oc_is_known(s->dim[axis]) && s->dim[axis].v >= 0 ? s->dim[axis].v
                                                                                           : -1;
}

/* Bytes per token and sequence: product of all other dimensions. */
static bool token_bytes(const struct oc_analysis *a, const struct oc_kv_pair *p, uint64_t *bytes)
{
    const struct oc_type *t = &a->type[p->past];
    uint64_t n = 1;
    for (unsigned i = 0; i < t->shape.rank; i++) {
        int64_t d = llm_facts_dim_of(a, p->past, i);
        if (i == p->batch_axis || i == p->length_axis)
            continue;
        if (d < 0 || !oc_mul_u64(n, (uint64_t)d, &n))
            return false;
    }
    return oc_bytes_of(t->dtype, n, bytes);
}

static void cache_facts(struct oc_llm *l, const struct oc_analysis *a)
{
    const struct oc_kv_pair *p = &l->kv.pair[0];
    struct oc_llm_facts *f = &l->facts;
    f->layers = l->kv.layers;
    f->kv_pairs = l->kv.n_self;
    f->cross_pairs = l->kv.n_pair - l->kv.n_self;
    f->kv_heads = llm_facts_dim_of(a, p->past, p->head_axis);
    f->head_size = llm_facts_dim_of(a, p->past, p->size_axis);
    if (p->head_axis == UINT8_MAX) { /* a single head; keys and values next to each other, or a latent */
        f->kv_heads = 1;
        if (f->head_size >= 0 && p->name->part == OC_KV_BOTH)
            f->head_size /= 2;
    }
    f->kv_dtype = oc_dtype_info(a->type[p->past].dtype)->name;
    l->element_bytes = oc_dtype_info(a->type[p->past].dtype)->bits / 8.0;
    f->naming = p->name->writer;
    f->kv_bytes_known = true;
    for (uint32_t i = 0; i < l->kv.n_pair; i++) {
        uint64_t bytes, *sum = i < l->kv.n_self ? &f->kv_bytes_per_token : &f->cross_bytes_per_token;
        if (!token_bytes(a, &l->kv.pair[i], &bytes) || !oc_add_u64(*sum, bytes, sum))
            f->kv_bytes_known = false;
        const struct oc_kv_pair *q = &l->kv.pair[i];
        if (i < l->kv.n_self &&
            (llm_facts_dim_of(a, q->past, q->head_axis) != llm_facts_dim_of(a, p->past, p->head_axis) ||
             llm_facts_dim_of(a, q->past, q->size_axis) != llm_facts_dim_of(a, p->past, p->size_axis)))
            f->uneven = true;
    }
}

/* ---- heads and windows ------------------------------------------------------------------------------ */

static int64_t attr_of(const struct oc_node *n, const char *name)
{
    const struct oc_attr *a = oc_node_attr(n, name);
    return a && a->type == OC_ATTR_INT ? a->i : -1;
}

/* Query heads of one node: of an attention operator, or axis 1 of the scores in a Softmax. */
static int64_t llm_facts_heads_of(const struct oc_analysis *a, uint32_t node, struct oc_llm_at at)
{
    const struct oc_node *n = &a->model->node[node];
    if (strcmp(n->op_type, "LinearAttention") == 0) /* no cache */
        return -1;
    if (a->cost[node].op_class == OC_OP_ATTENTION && n->n_in && n->in[0] != OC_NONE) {
        int64_t heads = attr_of(n, "num_heads");
        heads = heads > 0 ? heads : attr_of(n, "q_num_heads");
        return heads > 0 ? heads : a->type[n->in[0]].shape.rank == 4 ? llm_facts_dim_of(a, n->in[0], 1) : -1;
    }
    if (a->cost[node].op_class != OC_OP_SOFTMAX || !n->n_in || n->in[0] == OC_NONE)
        return -1;
    uint32_t v = n->in[0];
    bool scores = a->type[v].shape.ranked && a->type[v].shape.rank == 4 &&
                  llm_facts_dim_of(a, v, 0) == at.batch && llm_facts_dim_of(a, v, 2) == at.fresh &&
                  llm_facts_dim_of(a, v, 3) == at.past + at.fresh;
    return scores ? llm_facts_dim_of(a, v, 1) : -1;
}

/* Windows may differ between layers: the smallest one, and the number of layers with a window. */
static void attention_facts(struct oc_llm *l, const struct oc_analysis *a, struct oc_llm_at at)
{
    l->facts.heads = -1;
    l->facts.window = -1;
    for (uint32_t i = 0; i < a->model->n_node; i++) {
        if (a->cost[i].state != OC_NODE_NORMAL)
            continue;
        int64_t heads = l->facts.heads < 0 ? llm_facts_heads_of(a, i, at) : -1;
        l->facts.heads = heads > 0 ? heads : l->facts.heads;
        int64_t window =
            a->cost[i].op_class == OC_OP_ATTENTION ? attr_of(&a->model->node[i], "local_window_size") : -1;
        if (window <= 0)
            continue;
        l->facts.windowed_layers++;
        if (l->facts.window < 0 || window < l->facts.window)
            l->facts.window = window;
    }
}

/* ---- vocabulary ------------------------------------------------------------------------------------- */

static bool is_cache(const struct oc_llm *l, uint32_t value)
{
    for (uint32_t i = 0; i < l->kv.n_pair; i++)
        if (l->kv.pair[i].present == value)
            return true;
    return false;
}

/* The width of the product that computes the logits. */
static int64_t width_of(const struct oc_llm *l, const struct oc_analysis *a, uint32_t value)
{
    enum { STEPS = 8 }; /* Identity, Cast, Slice between them */
    for (int i = 0; i < STEPS; i++) {
        uint32_t producer = l->model->value[value].producer;
        const struct oc_node *n = producer == OC_NONE ? NULL : &l->model->node[producer];
        if (!n || !n->n_in || n->in[0] == OC_NONE)
            return -1;
        const struct oc_shape *s = &a->type[n->in[0]].shape;
        if (a->cost[producer].op_class == OC_OP_GEMM)
            return s->ranked && s->rank ? llm_facts_dim_of(a, n->in[0], s->rank - 1U) : -1;
        value = n->in[0];
    }
    return -1;
}

static void vocabulary(struct oc_llm *l, const struct oc_analysis *a)
{
    const struct oc_graph *g = &l->model->graph[0];
    l->facts.vocabulary = -1;
    l->facts.width = -1;
    for (uint32_t i = 0; i < g->n_output && i < 64; i++) {
        uint32_t v = g->output[i];
        if (v == OC_NONE || is_cache(l, v) || !strstr(l->model->value[v].name, "logits"))
            continue;
        const struct oc_shape *s = &a->type[v].shape;
        l->facts.vocabulary = s->ranked && s->rank >= 2 ? llm_facts_dim_of(a, v, s->rank - 1U) : -1;
        l->facts.width = width_of(l, a, v);
        return;
    }
}

/* ---- weights ---------------------------------------------------------------------------------------- */

struct groups {
    struct oc_llm *l;
    const struct oc_analysis *a;
    struct oc_map by_label;
    const char **label; /* by value: the format of packed constants, NULL */
    uint64_t *elements; /* by value: elements that such a constant represents */
};

static void add_constant(struct groups *g, uint32_t value, unsigned dtype, uint64_t elements, uint64_t bytes)
{
    unsigned cls = g->a->param_class[value];
    if (cls == OC_PC_UNUSED || cls == OC_PC_META || cls == OC_PC_CONST)
        return;
    const char *label = g->label[value]      ? g->label[value]
                        : cls == OC_PC_QUANT ? "scales, zero points"
                                             : oc_dtype_info(dtype)->name;
    uint32_t at = oc_map_get(&g->by_label, label, strlen(label));
    if (at == OC_NONE) {
        at = g->l->n_weights++;
        oc_map_set(&g->by_label, label, strlen(label), at);
        g->l->weights = oc_xrealloc(g->l->weights, g->l->n_weights * sizeof(*g->l->weights));
        g->l->weights[at] = (struct oc_llm_weights){.label = oc_strdup(&g->l->arena, label)};
    }
    g->l->weights[at].elements += g->elements[value] ? g->elements[value] : elements;
    g->l->weights[at].bytes += bytes;
}

/* A MatMulNBits packs N x K weights in a tensor of bytes. */
static void unpack_labels(struct groups *g)
{
    const struct oc_model *m = g->l->model;
    for (uint32_t i = 0; i < m->n_node; i++) {
        const struct oc_node *n = &m->node[i];
        if (strcmp(n->op_type, "MatMulNBits") || n->n_in < 2 || n->in[1] == OC_NONE)
            continue;
        int64_t bits = attr_of(n, "bits"), block = attr_of(n, "block_size"), rows = attr_of(n, "N"),
                columns = attr_of(n, "K");
        uint64_t elements;
        if (rows > 0 && columns > 0 && oc_mul_u64((uint64_t)rows, (uint64_t)columns, &elements))
            g->elements[n->in[1]] = elements;
        g->label[n->in[1]] = oc_printf(&g->l->arena, "%lld bits in blocks of %lld",
                                       (long long)(bits > 0 ? bits : 4), (long long)block);
    }
}

static int llm_facts_by_bytes(const void *a, const void *b)
{
    const struct oc_llm_weights *x = a, *y = b;
    return x->bytes != y->bytes ? (x->bytes < y->bytes ? 1 : -1) : strcmp(x->label, y->label);
}

static void find_weights(struct oc_llm *l, const struct oc_analysis *a)
{
    const struct oc_model *m = l->model;
    struct oc_arena scratch = {0};
    struct groups g = {.l = l, .a = a, .by_label = {.arena = &scratch}};
    g.label = OC_NEW_ARRAY(&scratch, m->n_value, const char *);
    g.elements = OC_NEW_ARRAY(&scratch, m->n_value, uint64_t);
    unpack_labels(&g);
    for (uint32_t v = 0; v < m->n_value; v++) {
        const struct oc_tensor *t = m->value[v].constant;
        if (t)
            add_constant(&g, v, t->dtype, t->elements, t->size_bytes);
    }
    for (uint32_t i = 0; i < m->n_node; i++) {
        const struct oc_node *n = &m->node[i];
        uint64_t bytes = 0;
        if (!oc_node_is_constant(n) || !n->n_out || n->out[0] == OC_NONE)
            continue;
        struct oc_dim count = oc_shape_count(a->exprs, &a->type[n->out[0]].shape);
        if (oc_is_known(count) && count.v >= 0 &&
            oc_bytes_of(a->type[n->out[0]].dtype, (uint64_t)count.v, &bytes))
            add_constant(&g, n->out[0], a->type[n->out[0]].dtype, (uint64_t)count.v, bytes);
    }
    if (l->n_weights)
        qsort(l->weights, l->n_weights, sizeof(*l->weights), llm_facts_by_bytes);
    oc_map_free(&g.by_label);
    oc_arena_free(&scratch);
}

/* ---- public functions ------------------------------------------------------------------------------- */

static void keep_assumptions(struct oc_llm *l, const struct oc_analysis *a)
{
    struct oc_assumption *kept = OC_NEW_ARRAY(&l->arena, a->n_assumption, struct oc_assumption);
    for (uint32_t i = 0; i < a->n_assumption; i++) {
        const struct oc_assumption *s = &a->assumption[i];
        kept[i] = (struct oc_assumption){oc_strdup(&l->arena, s->what), oc_strdup(&l->arena, s->name),
                                         oc_strdup(&l->arena, s->value), oc_strdup(&l->arena, s->reason)};
    }
    l->assumption = kept;
    l->n_assumption = a->n_assumption;
}

int oc_llm_find_facts(struct oc_llm *l, struct oc_err *err)
{
    struct oc_analysis *a = NULL;
    const int64_t *fixed = l->sizes.fixed;
    /* distinct sizes, so that dimensions cannot be confused */
    struct oc_llm_at at = {.batch = fixed[OC_LLM_BATCH] >= 0 ? fixed[OC_LLM_BATCH] : 2,
                           .fresh = fixed[OC_LLM_NEW] >= 0 ? fixed[OC_LLM_NEW] : 3,
                           .past = fixed[OC_LLM_PAST] >= 0 ? fixed[OC_LLM_PAST] : 11};
    if (oc_llm_analyze(l, at, &a, err)) {
        at.fresh = 1; /* some decoders accept only one token */
        if (oc_llm_analyze(l, at, &a, err))
            return -1;
    }
    cache_facts(l, a);
    attention_facts(l, a, at);
    vocabulary(l, a);
    find_weights(l, a);
    keep_assumptions(l, a);
    l->facts.params = a->total->params;
    l->facts.const_bytes = a->total->const_bytes;
    oc_analysis_free(a);
    return 0;
}
