/* Properties of the model from its graph: roles of the inputs' dimensions, heads, sizes, window, vocabulary,
 * weight formats. */
#include <stdlib.h>
#include <string.h>

#include "base/ck.h"
#include "base/map.h"
#include "base/str.h"
#include "llm/llm.h"
#include "onnxcost.h"

/* ---- roles of dimensions ------------------------------------------------------------------------- */

/* Sequences, new tokens, cached tokens, or their sum. The cache determines the first and third, the token input
 * the second, names the rest. */

const char *const oc_llm_role_name[OC_LLM_ROLES] = {
    [OC_LLM_BATCH] = "sequences",
    [OC_LLM_NEW] = "new tokens",
    [OC_LLM_PAST] = "tokens in the cache",
    [OC_LLM_TOTAL] = "tokens in the cache and new ones",
};

struct roles {
    const struct oc_model *m;
    const struct oc_analyze_opts *opts;
    struct oc_arena *arena;
    struct oc_llm_sizes *out;
    struct oc_map by_symbol; /* to its index in out->size */
    uint32_t cap;
    struct oc_err *err;
};

/* The name of an open dimension, as in --dim; NULL: it is a number. */
static const char *symbol_at(const struct roles *r, uint32_t value, unsigned axis)
{
    const struct oc_value *v = &r->m->value[value];
    if (!v->declared->shape.ranked || axis >= v->declared->shape.rank)
        return NULL;
    struct oc_dim d = v->declared->shape.dim[axis];
    if (d.expr)
        return r->m->symbol[d.expr - 1];
    return d.v < 0 ? oc_printf(r->arena, "%s.%u", v->name, axis) : NULL;
}

static int assign_role(struct roles *r, const char *symbol, unsigned role)
{
    uint32_t at = oc_map_get(&r->by_symbol, symbol, strlen(symbol));
    if (at != OC_NONE)
        return r->out->size[at].role == role
                   ? 0
                   : oc_fail(r->err, OC_EUNSUPPORTED, "dimension '%s' has two roles: %s and %s", symbol,
                             oc_llm_role_name[r->out->size[at].role], oc_llm_role_name[role]);
    if (r->out->n_size == r->cap)
        return oc_fail(r->err, OC_ELIMIT, "too many dimensions");
    const char *kept = oc_map_set(&r->by_symbol, symbol, strlen(symbol), r->out->n_size);
    r->out->size[r->out->n_size++] = (struct oc_llm_size){kept, (uint8_t)role};
    return 0;
}

/* Assigns the role to the dimension: to its symbol, or to its fixed number. */
static int give_axis(struct roles *r, uint32_t value, unsigned axis, unsigned role)
{
    const char *symbol = symbol_at(r, value, axis);
    if (symbol && oc_is_arithmetic(symbol))
        return 0;
    if (symbol)
        return assign_role(r, symbol, role);
    const struct oc_shape *s = &r->m->value[value].declared->shape;
    if (s->ranked && axis < s->rank && r->out->fixed[role] < 0)
        r->out->fixed[role] = s->dim[axis].v;
    return 0;
}

/* Assigns the role to a symbol that has none yet and is not computed from others. */
static int offer_role(struct roles *r, const char *symbol, unsigned role)
{
    bool taken = !symbol || role == OC_LLM_ROLES || oc_is_arithmetic(symbol) ||
                 oc_map_get(&r->by_symbol, symbol, strlen(symbol)) != OC_NONE;
    return taken ? 0 : assign_role(r, symbol, role);
}

/* ---- the input with the new tokens ------------------------------------------------------------------ */

static const struct oc_value *input_at(const struct roles *r, uint32_t i)
{
    uint32_t v = r->m->graph[0].input[i];
    return v == OC_NONE || r->m->value[v].constant ? NULL : &r->m->value[v];
}

static bool is_integer(const struct oc_type *t)
{
    return t->dtype == OC_DT_INT64 || t->dtype == OC_DT_INT32;
}

/* input_ids[batch, tokens] or inputs_embeds[batch, tokens, width] by name; else the only one of that kind. */
static uint32_t find_tokens(const struct roles *r)
{
    static const char *const names[] = {"input_ids", "decoder_input_ids", "inputs_embeds", "tokens", "input"};
    const struct oc_graph *g = &r->m->graph[0];
    for (size_t k = 0; k < OC_COUNT(names); k++)
        for (uint32_t i = 0; i < g->n_input; i++) {
            const struct oc_value *v = input_at(r, i);
            unsigned rank = v && v->declared->shape.ranked ? v->declared->shape.rank : 0;
            if (v && !strcmp(v->name, names[k]) && (rank == 2 || rank == 3))
                return g->input[i];
        }
    for (uint32_t i = 0; i < g->n_input; i++) {
        const struct oc_value *v = input_at(r, i);
        if (v && v->declared->shape.ranked && v->declared->shape.rank == 2 && is_integer(v->declared) &&
            oc_has_nocase(v->name, "ids") && !oc_has_nocase(v->name, "position"))
            return g->input[i];
    }
    return OC_NONE;
}

/* ---- the other inputs ------------------------------------------------------------------------------- */

/* Role by the name of the symbol; OC_LLM_ROLES: none. */
static unsigned role_of_name(const char *symbol)
{
    if (oc_has_nocase(symbol, "encoder") && !oc_has_nocase(symbol, "decoder"))
        return OC_LLM_ROLES;
    return oc_has_nocase(symbol, "total")   ? OC_LLM_TOTAL
           : oc_has_nocase(symbol, "past")  ? OC_LLM_PAST
           : oc_has_nocase(symbol, "batch") ? OC_LLM_BATCH
                                            : OC_LLM_ROLES;
}

/* attention_mask[batch, total] or [batch, 1, new, total]; position_ids[batch, new], or with a leading axis of three
 * kinds; any other input by the names of its dimensions. */
static int other_roles(struct roles *r, uint32_t value)
{
    const struct oc_value *v = &r->m->value[value];
    unsigned rank = v->declared->shape.ranked ? v->declared->shape.rank : 0;
    bool mask = rank >= 2 && rank <= 4 && oc_has_nocase(v->name, "attention_mask") &&
                !oc_has_nocase(v->name, "encoder"),
         positions = rank >= 2 && rank <= 3 && oc_has_nocase(v->name, "position_ids");
    const char *last = mask || positions ? symbol_at(r, value, rank - 1) : NULL;
    if (mask && last && oc_is_arithmetic(last) && rank == 2)
        r->out->mask = value;
    if (offer_role(r, last, mask ? OC_LLM_TOTAL : OC_LLM_NEW) ||
        (mask && rank == 4 && offer_role(r, symbol_at(r, value, 2), OC_LLM_NEW)))
        return -1;
    for (unsigned axis = 0; axis < rank; axis++) {
        const char *symbol = symbol_at(r, value, axis);
        unsigned role = symbol && v->declared->shape.dim[axis].expr ? role_of_name(symbol) : OC_LLM_ROLES;
        if (role == OC_LLM_ROLES && axis == 0 && rank == 2 && (mask || positions))
            role = OC_LLM_BATCH;
        if (offer_role(r, symbol, role))
            return -1;
    }
    return 0;
}

/* Scalar inputs with a length. */
static void scalar_roles(struct roles *r)
{
    static const struct oc_llm_size names[] = {
        {"total_sequence_length", OC_LLM_TOTAL}, {"total_seq_len", OC_LLM_TOTAL},
        {"past_seq_len", OC_LLM_PAST},           {"past_sequence_length", OC_LLM_PAST},
        {"past_key_values_length", OC_LLM_PAST},
    };
    r->out->scalar = OC_NEW_ARRAY(r->arena, OC_COUNT(names), struct oc_llm_size);
    for (uint32_t i = 0; i < r->m->graph[0].n_input; i++) {
        const struct oc_value *v = input_at(r, i);
        const struct oc_shape *s = v ? &v->declared->shape : NULL;
        if (!v || !is_integer(v->declared) || !s->ranked || s->rank > 1 ||
            (s->rank == 1 && !oc_is(s->dim[0], 1)))
            continue;
        for (size_t k = 0; k < OC_COUNT(names) && r->out->n_scalar < OC_COUNT(names); k++)
            if (!strcmp(v->name, names[k].symbol))
                r->out->scalar[r->out->n_scalar++] = (struct oc_llm_size){v->name, names[k].role};
    }
}

/* ---- branches --------------------------------------------------------------------------------------- */

/* If nodes with a condition input such as use_cache_branch. */
static void find_branches(struct roles *r)
{
    const struct oc_graph *g = &r->m->graph[0];
    r->out->branch = OC_NEW_ARRAY(r->arena, g->n_node, uint32_t);
    for (uint32_t i = 0; i < g->n_node; i++) {
        const struct oc_node *n = &r->m->node[g->node[i]];
        uint32_t v = n->n_in && !strcmp(n->op_type, "If") ? n->in[0] : OC_NONE;
        for (int k = 0; k < 8 && v != OC_NONE && r->m->value[v].producer != OC_NONE; k++) {
            const struct oc_node *p = &r->m->node[r->m->value[v].producer];
            v = p->n_in == 1 ? p->in[0] : OC_NONE;
        }
        if (v != OC_NONE && r->m->value[v].graph_input && oc_has_nocase(r->m->value[v].name, "cache"))
            r->out->branch[r->out->n_branch++] = g->node[i];
    }
}

/* ---- all roles -------------------------------------------------------------------------------------- */

static int cache_roles(struct roles *r, const struct oc_kv_cache_info *kv)
{
    for (uint32_t i = 0; i < kv->n_pair; i++) {
        const struct oc_kv_pair *p = &kv->pair[i];
        if (give_axis(r, p->past, p->batch_axis, OC_LLM_BATCH) ||
            (i < kv->n_self && give_axis(r, p->past, p->length_axis, OC_LLM_PAST)))
            return -1;
    }
    return 0;
}

static int own_numbers(struct roles *r)
{
    static const char *const option[] = {"--batch", "--prompt", "--prompt and --generate",
                                         "--prompt and --generate"};
    for (size_t i = 0; i < r->opts->n_bind; i++) {
        const char *name = r->opts->bind[i].symbol;
        uint32_t at = oc_map_get(&r->by_symbol, name, strlen(name));
        if (at != OC_NONE)
            return oc_fail(r->err, OC_EARG, "dimension '%.60s' counts %s: set it with %s", name,
                           oc_llm_role_name[r->out->size[at].role], option[r->out->size[at].role]);
    }
    return 0;
}

static int find_all(struct roles *r, const struct oc_kv_cache_info *kv)
{
    const struct oc_graph *g = &r->m->graph[0];
    if (cache_roles(r, kv))
        return -1;
    r->out->tokens = find_tokens(r);
    if (r->out->tokens == OC_NONE)
        return oc_fail(r->err, OC_EUNSUPPORTED, "no input for the new tokens: none is named input_ids");
    if (give_axis(r, r->out->tokens, 0, OC_LLM_BATCH) || give_axis(r, r->out->tokens, 1, OC_LLM_NEW))
        return -1;
    for (uint32_t i = 0; i < g->n_input; i++)
        if (input_at(r, i) && other_roles(r, g->input[i]))
            return -1;
    scalar_roles(r);
    find_branches(r);
    return own_numbers(r);
}

int oc_llm_find_sizes(const struct oc_model *m, const struct oc_kv_cache_info *kv,
                      const struct oc_analyze_opts *opts, struct oc_arena *arena, struct oc_llm_sizes *out,
                      struct oc_err *err)
{
    struct roles r = {.m = m, .opts = opts, .arena = arena, .out = out, .err = err};
    size_t dims = 1;
    for (uint32_t i = 0; i < m->graph[0].n_input; i++)
        if (input_at(&r, i) && input_at(&r, i)->declared->shape.ranked)
            dims += input_at(&r, i)->declared->shape.rank;
    *out = (struct oc_llm_sizes){.size = OC_NEW_ARRAY(arena, dims, struct oc_llm_size), .mask = OC_NONE};
    for (unsigned i = 0; i < OC_LLM_ROLES; i++)
        out->fixed[i] = -1;
    r.cap = (uint32_t)dims;
    r.by_symbol.arena = arena;
    int rc = find_all(&r, kv);
    oc_map_free(&r.by_symbol);
    return rc;
}

/* ---- heads of the cache -------------------------------------------------------------------------- */

/* -1: unknown, or there is no such value or axis */
static int64_t dim_of(const struct oc_analysis *a, uint32_t value, unsigned axis)
{
    if (value == OC_NONE)
        return -1;
    const struct oc_shape *s = &a->type[value].shape;
    return s->ranked && axis < s->rank && oc_is_known(s->dim[axis]) && s->dim[axis].v >= 0 ? s->dim[axis].v
                                                                                           : -1;
}

/* Bytes per token and sequence: of a single one of each. */
static bool token_bytes(const struct oc_analysis *a, const struct oc_kv_pair *p, uint64_t *bytes)
{
    struct oc_dim dim[OC_MAX_RANK];
    struct oc_type t = a->type[p->past];
    for (unsigned i = 0; i < t.shape.rank; i++)
        dim[i] = i == p->batch_axis || i == p->length_axis ? oc_known(1) : t.shape.dim[i];
    t.shape.dim = dim;
    return oc_type_bytes(&t, bytes);
}

static void cache_facts(struct oc_llm *l, const struct oc_analysis *a)
{
    const struct oc_kv_pair *p = &l->kv.pair[0];
    struct oc_llm_facts *f = &l->facts;
    f->kv_heads = f->head_size = -1;
    f->kv_bytes_known = true;
    f->kv_dtype = f->naming = "none";
    l->element_bytes = 2;
    if (!l->kv.n_pair)
        return; /* states only */
    f->layers = l->kv.layers;
    f->kv_pairs = l->kv.n_self;
    f->cross_pairs = l->kv.n_pair - l->kv.n_self;
    f->kv_heads = dim_of(a, p->past, p->head_axis);
    f->head_size = dim_of(a, p->past, p->size_axis);
    if (p->head_axis == UINT8_MAX) { /* a single head; keys and values next to each other, or a latent */
        f->kv_heads = 1;
        if (f->head_size >= 0 && p->part == OC_KV_BOTH)
            f->head_size /= 2;
    }
    f->kv_dtype = oc_dtype_info(a->type[p->past].dtype)->name;
    l->element_bytes = oc_dtype_info(a->type[p->past].dtype)->bits / 8.0;
    f->naming = p->name->writer;
    for (uint32_t i = 0; i < l->kv.n_pair; i++) {
        uint64_t bytes, *sum = i < l->kv.n_self ? &f->kv_bytes_per_token : &f->cross_bytes_per_token;
        if (!token_bytes(a, &l->kv.pair[i], &bytes) || !oc_add_u64(*sum, bytes, sum))
            f->kv_bytes_known = false;
        const struct oc_kv_pair *q = &l->kv.pair[i];
        if (i < l->kv.n_self && (dim_of(a, q->past, q->head_axis) != dim_of(a, p->past, p->head_axis) ||
                                 dim_of(a, q->past, q->size_axis) != dim_of(a, p->past, p->size_axis)))
            f->uneven = true;
    }
}

/* ---- heads and windows ------------------------------------------------------------------------------ */

/* Query heads of one node: of an attention operator, or axis 1 of the scores in a Softmax. */
static int64_t heads_of(const struct oc_analysis *a, uint32_t node, struct oc_llm_at at)
{
    const struct oc_node *n = &a->model->node[node];
    if (strcmp(n->op_type, "LinearAttention") == 0) /* no cache */
        return -1;
    if (a->cost[node].op_class == OC_OP_ATTENTION && n->n_in && n->in[0] != OC_NONE) {
        int64_t heads = oc_node_int(n, "num_heads", -1);
        heads = heads > 0 ? heads : oc_node_int(n, "q_num_heads", -1);
        return heads > 0 ? heads : a->type[n->in[0]].shape.rank == 4 ? dim_of(a, n->in[0], 1) : -1;
    }
    if (a->cost[node].op_class != OC_OP_SOFTMAX || !n->n_in || n->in[0] == OC_NONE)
        return -1;
    uint32_t v = n->in[0];
    bool scores = a->type[v].shape.ranked && a->type[v].shape.rank == 4 && dim_of(a, v, 0) == at.batch &&
                  dim_of(a, v, 2) == at.fresh && dim_of(a, v, 3) == at.past + at.fresh;
    return scores ? dim_of(a, v, 1) : -1;
}

/* Windows may differ between layers: the smallest one, and the number of layers with a window. */
static void attention_facts(struct oc_llm *l, const struct oc_analysis *a, struct oc_llm_at at)
{
    l->facts.heads = -1;
    l->facts.window = -1;
    for (uint32_t i = 0; i < a->model->n_node; i++) {
        if (a->cost[i].state != OC_NODE_NORMAL)
            continue;
        int64_t heads = l->facts.heads < 0 ? heads_of(a, i, at) : -1;
        l->facts.heads = heads > 0 ? heads : l->facts.heads;
        int64_t window = a->cost[i].op_class == OC_OP_ATTENTION
                             ? oc_node_int(&a->model->node[i], "local_window_size", -1)
                             : -1;
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
            return s->ranked && s->rank ? dim_of(a, n->in[0], s->rank - 1U) : -1;
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
        l->facts.vocabulary = s->ranked && s->rank >= 2 ? dim_of(a, v, s->rank - 1U) : -1;
        l->facts.width = width_of(l, a, v);
        return;
    }
}

/* ---- weights ---------------------------------------------------------------------------------------- */

static void add_weights(struct oc_llm *l, const char *label, uint64_t elements, uint64_t bytes)
{
    uint32_t at = 0;
    while (at < l->n_weights && strcmp(l->weights[at].label, label) != 0)
        at++;
    if (at == l->n_weights) {
        l->weights = oc_xrealloc(l->weights, ++l->n_weights * sizeof(*l->weights));
        l->weights[at] = (struct oc_llm_weights){.label = label};
    }
    l->weights[at].elements += elements;
    l->weights[at].bytes += bytes;
}

/* Tensors of bytes with packed weights: by value, what they represent. */
static struct oc_llm_weights *unpack(struct oc_llm *l, struct oc_arena *scratch)
{
    const struct oc_model *m = l->model;
    struct oc_llm_weights *packed = OC_NEW_ARRAY(scratch, m->n_value, struct oc_llm_weights);
    for (uint32_t i = 0; i < m->n_node; i++) {
        const struct oc_node *n = &m->node[i];
        for (uint32_t k = 0; k < n->n_in; k++) {
            uint64_t elements = oc_packed_elements(m, n, k);
            if (!elements)
                continue;
            int64_t bits = oc_node_int(n, k >= 2 ? "expert_weight_bits" : "bits", -1),
                    block = oc_node_int(n, "block_size", -1);
            packed[n->in[k]].elements = elements;
            packed[n->in[k]].label = oc_printf(&l->arena, "%lld bits in blocks of %lld",
                                               (long long)(bits > 0 ? bits : 4), (long long)block);
        }
    }
    return packed;
}

static int by_bytes(const void *a, const void *b)
{
    const struct oc_llm_weights *x = a, *y = b;
    return x->bytes != y->bytes ? (x->bytes < y->bytes ? 1 : -1) : strcmp(x->label, y->label);
}

static void find_weights(struct oc_llm *l, const struct oc_analysis *a)
{
    const struct oc_model *m = l->model;
    struct oc_arena scratch = {0};
    const struct oc_llm_weights *packed = unpack(l, &scratch);
    for (uint32_t v = 0; v < m->n_value; v++) {
        const struct oc_tensor *t = m->value[v].constant;
        uint32_t node = m->value[v].producer;
        unsigned cls = a->param_class[v], dtype = t ? t->dtype : a->type[v].dtype;
        uint64_t elements, bytes;
        bool made = node != OC_NONE && oc_node_is_constant(&m->node[node]) && m->node[node].out[0] == v;
        if (cls == OC_PC_UNUSED || cls == OC_PC_META || cls == OC_PC_CONST)
            continue;
        if (!t && !(made && oc_type_elements(&a->type[v], &elements) && oc_type_bytes(&a->type[v], &bytes)))
            continue;
        add_weights(l,
                    packed[v].label      ? packed[v].label
                    : cls == OC_PC_QUANT ? "scales, zero points"
                                         : oc_dtype_info(dtype)->name,
                    packed[v].label ? packed[v].elements
                    : t             ? t->elements
                                    : elements,
                    t ? t->size_bytes : bytes);
    }
    if (l->n_weights)
        qsort(l->weights, l->n_weights, sizeof(*l->weights), by_bytes);
    oc_arena_free(&scratch);
}

static void find_experts(struct oc_llm *l, const struct oc_analysis *a)
{
    for (uint32_t i = 0; i < a->model->n_node; i++) {
        const struct oc_node *n = &a->model->node[i];
        uint64_t bytes;
        if (!oc_op_is(a->op[i], OC_F_EXPERTS) || n->n_in < 3)
            continue;
        for (uint32_t k = 2; k < n->n_in; k++)
            if (n->in[k] != OC_NONE && a->is_const[n->in[k]] && oc_type_bytes(&a->type[n->in[k]], &bytes))
                l->experts.bytes += bytes;
        l->experts.layers++;
        l->experts.active = oc_node_int(n, "k", 1);
        l->experts.n = dim_of(a, n->in[2], 0);
    }
}

static uint64_t recast_bytes(const struct oc_analysis *a, const struct oc_recast *as)
{
    bool *seen = oc_xcalloc(a->model->n_value + 1, sizeof(*seen));
    uint64_t stored = 0, less = 0, bytes;
    for (uint32_t i = 0; as && i < a->model->n_node; i++) {
        const struct oc_node *n = &a->model->node[i];
        struct oc_recasting r = {0};
        if (oc_recast_changes(as, &a->cost[i]))
            oc_recast_add(as, a, &i, 1, &r);
        for (uint32_t k = 0; k < n->n_in; k++) {
            uint32_t v = n->in[k];
            if (v == OC_NONE || seen[v] || !a->is_const[v] || !oc_type_bytes(&a->type[v], &bytes))
                continue;
            seen[v] = true;
            stored += r.before[1] ? bytes : 0;
            less += r.before[1] ? (uint64_t)((double)bytes * ((double)r.after[1] / (double)r.before[1])) : 0;
        }
    }
    free(seen);
    return a->total->const_bytes > stored ? a->total->const_bytes - stored + less : less;
}

/* ---- public functions ------------------------------------------------------------------------------- */

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
    find_experts(l, a);
    l->assumption = oc_assumptions_copy(a, &l->arena);
    l->n_assumption = a->n_assumption;
    l->facts.params = a->total->params;
    const struct oc_file_sum *files = &l->model->files; /* headers of files take precedence */
    l->facts.const_bytes = files->tensors ? files->part[OC_FILE_LANGUAGE] : a->total->const_bytes;
    size_t n = 0;
    while (oc_recast_name(n))
        n++;
    l->weight_bytes = l->facts.const_bytes;
    l->weight_bytes_as = OC_NEW_ARRAY(&l->arena, n, uint64_t);
    for (size_t i = 0; i < n; i++) {
        const struct oc_recast *as = oc_recast_by_name(oc_recast_name(i));
        l->weight_bytes_as[i] = recast_bytes(a, as);
        l->weight_bytes = l->as == as ? l->weight_bytes_as[i] : l->weight_bytes;
    }
    oc_analysis_free(a);
    return 0;
}
