/* Mixers of tokens in the graph of a decoder: attention in its forms, linear attention, state space,
 * convolutions. Names of modules are those of transformers. */
#include <string.h>

#include "base/ck.h"
#include "model/decoder_graph.h"

/* ---- caches and states ------------------------------------------------------------------------------ */

enum { LENGTH = -1 }; /* a dimension: the number of tokens */
struct kept {
    const char *past, *present; /* "": none */
};
static const struct kept nothing = {"", ""};

/* An input and an output with what a layer keeps of earlier tokens of each sequence. to: g->cache or g->state */
static struct kept keep(struct decoder_graph *g, struct oc_messages to[2], const char *kind, int64_t layer,
                        const char *name, int dtype, size_t rank, const int64_t *dim)
{
    static const char *const length[] = {"past_sequence_length", "total_sequence_length"};
    const char *own = strcmp(kind, "_key_values") == 0 ? "" : kind;
    const char *full[] = {TEXT(g, "past%s.%lld.%s", kind, (long long)layer, name),
                          TEXT(g, "present%s.%lld.%s", own, (long long)layer, name)};
    for (int i = 0; i < 2; i++) {
        const char *text[5] = {"batch_size"};
        for (size_t k = 0; k < rank; k++)
            text[k + 1] = dim[k] == LENGTH ? length[i] : TEXT(g, "%lld", (long long)dim[k]);
        oc_gw_value_info(&g->w, &to[i], full[i], dtype, text);
    }
    return (struct kept){full[0], full[1]};
}
#define KEEP(g, to, kind, layer, name, dtype, ...)                                                           \
    keep((g), (to), (kind), (layer), (name), (dtype),                                                        \
         sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (const int64_t[]){__VA_ARGS__})

/* The type of the cache. */
static int cache_type(const struct oc_decoder *d)
{
    return d->quant.cache == OC_DT_NVFP4 ? UINT8 : d->quant.cache ? d->quant.cache : d->dtype;
}

/* Keys, values or a latent of all tokens. heads 0: without an axis of them. NVFP4 stores 16 numbers in 9 bytes. */
static struct kept keep_tokens(struct decoder_graph *g, int64_t layer, const char *name, int64_t heads,
                               int64_t size)
{
    size = g->d->quant.cache == OC_DT_NVFP4 ? oc_ceil_div(size * 9, 16) : size;
    return heads ? KEEP(g, g->cache, "_key_values", layer, name, cache_type(g->d), heads, LENGTH, size)
                 : KEEP(g, g->cache, "_key_values", layer, name, cache_type(g->d), LENGTH, size);
}

/* ---- attention -------------------------------------------------------------------------------------- */

static bool is_norm(const struct decoder_graph *g, int64_t kind)
{
    return IS(g, qk_norm) && FIELD(g, qk_norm_kind, OC_W_head) == kind;
}

/* Heads normalised one by one, with a bias if norms have one. */
static const char *head_norm(struct decoder_graph *g, const char *module, const char *x, int64_t heads,
                             int64_t head)
{
    return RESHAPE(g, oc_dec_norm(g, module, RESHAPE(g, x, 0, 0, heads, head), head), 0, 0, heads * head);
}

static const char *output(struct decoder_graph *g, const char *x, const char *gate, int64_t from)
{
    if (gate)
        x = oc_dec_gate(g, x, gate);
    return linear(g, "o_proj", x, from, g->d->width, IS(g, out_bias));
}

/* Queries and keys of an indexer that selects keys, and what it keeps. */
struct index {
    const char *q, *k;
    struct kept kept;
};

static struct kept keep_index(struct decoder_graph *g, int64_t layer)
{
    const int64_t ratio = g->d->layer[layer].ratio, size = FIELD(g, index_head, 0) / (ratio ? ratio : 1);
    return KEEP(g, g->cache, "_index", layer, "key", g->d->dtype, LENGTH, size > 0 ? size : 1);
}

/* Queries of an indexer times a number for each head. */
static const char *weighted(struct decoder_graph *g, const char *q, const char *w)
{
    const int64_t heads = FIELD(g, index_heads, 0), head = FIELD(g, index_head, 0);
    q = OP(g, "Mul", RESHAPE(g, q, 0, 0, heads, head), RESHAPE(g, w, 0, 0, heads, 1));
    return RESHAPE(g, q, 0, 0, heads * head);
}

static struct index indexer(struct decoder_graph *g, int64_t layer, const char *x, const char *latent)
{
    const struct oc_decoder *d = g->d;
    const int64_t heads = FIELD(g, index_heads, 0), head = FIELD(g, index_head, 0);
    struct index i = {.kept = keep_index(g, layer)};
    struct oc_gw_place p = oc_gw_enter(&g->w, "indexer");
    if (latent) {
        i.q = linear(g, "wq_b", latent, d->q_rank > 0 ? d->q_rank : d->width, heads * head, false);
        i.k = linear(g, "wk", x, d->width, head, false);
        oc_gw_attr_i(&g->w, "axis", -1);
        i.k = OP(g, "LayerNormalization", i.k, WEIGHT(g, "k_norm.weight", head),
                 WEIGHT(g, "k_norm.bias", head));
        i.q = weighted(g, i.q, oc_dec_product(g, "weights_proj", x, d->width, heads, false, false));
    } else {
        i.q = linear(g, "index_q_proj", x, d->width, heads * head, false);
        i.k = linear(g, "index_k_proj", x, d->width, head, false);
    }
    if (!latent && IS(g, index_norm)) {
        i.q = head_norm(g, "index_q_norm", i.q, heads, head);
        i.k = oc_dec_rms(g, "index_k_norm", i.k, head);
    }
    oc_gw_leave(&g->w, p);
    return i;
}

/* Attributes of GroupQueryAttention (v_head 0) and of CachedAttention. */
static void attention_attributes(struct decoder_graph *g, const struct oc_dec_layer *l, int64_t kv_heads,
                                 int64_t v_head, int64_t rotated)
{
    oc_gw_attr_i(&g->w, "num_heads", l->heads);
    oc_gw_attr_i(&g->w, "kv_num_heads", kv_heads);
    if (v_head)
        oc_gw_attr_i(&g->w, "v_head_size", v_head);
    if (rotated)
        oc_gw_attr_i(&g->w, "rotary_embedding_dim", rotated);
    if (l->window)
        oc_gw_attr_i(&g->w, "local_window_size", l->window);
    if (l->chunk)
        oc_gw_attr_i(&g->w, "chunk_size", l->chunk);
    if (l->selected)
        oc_gw_attr_i(&g->w, "selected_keys", l->selected);
    if (l->own_index)
        oc_gw_attr_i(&g->w, "index_heads", FIELD(g, index_heads, 0));
}

/* own: keys and values, too */
static struct heads project(struct decoder_graph *g, const struct oc_dec_layer *l, const char *x, bool own)
{
    const struct oc_decoder *d = g->d;
    int64_t q_width = l->heads * l->head, k_width = l->kv_heads * l->head, v_width = l->kv_heads * l->v_head;
    bool bias = IS(g, qkv_bias), gated = IS(g, gate);
    const char *half[2] = {NULL, NULL};
    struct heads h = {.q_norm = "", .k_norm = ""};
    h.q = linear(g, "q_proj", x, d->width, gated ? 2 * q_width : q_width, bias);
    if (own)
        h.k = linear(g, "k_proj", x, d->width, k_width, bias);
    if (own)
        h.v = l->no_value ? h.k : linear(g, "v_proj", x, d->width, v_width, bias);
    if (gated) {
        oc_dec_split(g, h.q, q_width, q_width, half);
        h.q = half[0];
        h.gate = half[1];
    }
    if (IS(g, head_gate)) /* a number for each head */
        h.gate = linear(g, "g_proj", x, d->width, l->heads, false);
    if (is_norm(g, OC_W_wide)) {
        h.q = oc_dec_norm(g, "q_norm", h.q, q_width);
        h.k = h.k ? oc_dec_norm(g, "k_norm", h.k, k_width) : NULL;
    } else if (is_norm(g, OC_W_head) && FIELD(g, norm, OC_W_rms) != OC_W_rms) {
        h.q = head_norm(g, "q_norm", h.q, l->heads, l->head);
        h.k = h.k ? head_norm(g, "k_norm", h.k, l->kv_heads, l->head) : NULL;
    } else if (is_norm(g, OC_W_head)) {
        h.q_norm = WEIGHT(g, "q_norm.weight", l->head);
        h.k_norm = h.k ? WEIGHT(g, "k_norm.weight", l->head) : h.q_norm;
    }
    return h;
}

/* A number for each head. */
static const char *gate_heads(struct decoder_graph *g, const struct oc_dec_layer *l, const char *x,
                              const char *gate)
{
    x = OP(g, "Mul", RESHAPE(g, x, 0, 0, l->heads, l->v_head),
           RESHAPE(g, OP(g, "Sigmoid", gate), 0, 0, l->heads, 1));
    return RESHAPE(g, x, 0, 0, l->heads * l->v_head);
}

/* Keys and values may be those of a layer before, of the same kind. */
static const char *grouped_attention(struct decoder_graph *g, int64_t layer, const char *x)
{
    const struct oc_dec_layer *l = &g->d->layer[layer];
    struct heads *shared = &g->shared[l->window > 0];
    const char *y = TEXT(g, "%s.attention", g->w.scope), *sinks;
    struct kept key = nothing, value = nothing;
    struct index i = {"", "", nothing};
    bool own = !l->shared_kv || !shared->k; /* a first layer has keys of its own */
    struct heads h = project(g, l, x, own);
    if (own) {
        *shared = h;
        key = keep_tokens(g, layer, "key", l->kv_heads, l->head);
        value = keep_tokens(g, layer, "value", l->kv_heads, l->v_head);
    }
    h.k = shared->k;
    h.v = shared->v;
    sinks = l->sinks ? WEIGHT(g, "sinks", l->heads) : "";
    if (l->own_index)
        i = indexer(g, layer, x, NULL);
    if (l->v_head != l->head || l->chunk || l->selected || !own) {
        attention_attributes(g, l, l->kv_heads, l->v_head, l->rotated);
        oc_gw_node(&g->w, "com.onnxcost", "CachedAttention",
                   IN(h.q, h.k, h.v, key.past, value.past, sinks, i.q, i.k, i.kept.past, g->total),
                   IN(y, key.present, value.present, i.kept.present));
    } else {
        attention_attributes(g, l, l->kv_heads, 0, l->rotated != l->head ? l->rotated : 0);
        oc_gw_attr_i(&g->w, "do_rotary", l->rotary);
        oc_gw_node(&g->w, "com.microsoft", "GroupQueryAttention",
                   IN(h.q, h.k, h.v, key.past, value.past, g->seqlens, g->total, "", "", "", "", sinks, "",
                      "", h.q_norm, h.k_norm),
                   IN(y, key.present, value.present));
    }
    if (IS(g, head_gate))
        return output(g, gate_heads(g, l, y, h.gate), NULL, l->heads * l->v_head);
    return output(g, y, h.gate, l->heads * l->v_head);
}

/* Multi-head latent attention (DeepSeek-V2, section 2.1). kv_b_proj is a product over the new tokens in both forms:
 * it expands their latent, or projects queries to the latent and outputs from it. */
static const char *latent_attention(struct decoder_graph *g, int64_t layer, const char *x)
{
    const struct oc_decoder *d = g->d;
    const struct oc_dec_layer *l = &d->layer[layer];
    const int64_t width = l->heads * (d->nope + d->rope), latent = d->kv_rank + d->rope;
    const char *q, *q_latent = x, *part[2], *gate = NULL, *y = TEXT(g, "%s.attention", g->w.scope);
    const struct kept kept = keep_tokens(g, layer, "latent", 0, latent);
    struct index i = {"", "", nothing};
    if (d->q_rank > 0) {
        q_latent =
            oc_dec_norm(g, "q_a_layernorm", linear(g, "q_a_proj", x, d->width, d->q_rank, false), d->q_rank);
        q = linear(g, "q_b_proj", q_latent, d->q_rank, width, false);
    } else {
        q = linear(g, "q_proj", x, d->width, width, false);
    }
    oc_dec_split(g, linear(g, "kv_a_proj_with_mqa", x, d->width, latent, false), d->kv_rank, d->rope, part);
    part[0] = oc_dec_norm(g, "kv_a_layernorm", part[0], d->kv_rank);
    const char *kv = linear(g, "kv_b_proj", part[0], d->kv_rank, l->heads * (d->nope + d->v_head), false);
    oc_gw_attr_i(&g->w, "axis", -1);
    const char *fresh = OP(g, "Concat", part[0], part[1]);
    if (l->own_index)
        i = indexer(g, layer, x, q_latent);
    if (IS(g, gate))
        gate = linear(g, "g_proj", x, d->width, l->heads * d->v_head, false);
    attention_attributes(g, l, 1, d->v_head, FIELD(g, latent_rope, 1) ? d->rope : 0);
    oc_gw_attr_i(&g->w, "latent_rank", d->kv_rank);
    oc_gw_attr_i(&g->w, "rope_head_size", d->rope);
    oc_gw_node(&g->w, "com.onnxcost", "CachedAttention",
               IN(q, fresh, kv, kept.past, "", "", i.q, i.k, i.kept.past, g->total),
               IN(y, kept.present, "", i.kept.present));
    return output(g, y, gate, l->heads * d->v_head);
}

/* Keys of groups of tokens: a weighted sum, with overlap if a group has 4. */
static const char *compressor(struct decoder_graph *g, const char *x, int64_t head, int64_t ratio)
{
    int64_t wide = (ratio == 4 ? 2 : 1) * head;
    const char *part[2];
    struct oc_gw_place p = oc_gw_enter(&g->w, "compressor");
    const char *kv = oc_dec_product(g, "wkv", x, g->d->width, wide, false, false),
               *gate = oc_dec_product(g, "wgate", x, g->d->width, wide, false, false);
    gate = OP(g, "Add", gate, OP(g, "Gather", WEIGHT(g, "ape", ratio, wide), "input_ids"));
    oc_gw_attr_i(&g->w, "axis", -1);
    kv = OP(g, "Mul", kv, OP(g, "Softmax", gate));
    if (wide > head) {
        oc_dec_split(g, kv, head, head, part);
        kv = OP(g, "Add", part[0], part[1]);
    }
    kv = oc_dec_rms(g, "norm", kv, head);
    oc_gw_leave(&g->w, p);
    return kv;
}

/* A projection of groups of heads, and one of all of them. */
static const char *grouped_output(struct decoder_graph *g, const char *x, int64_t width)
{
    int64_t groups = FIELD(g, o_groups, 1), rank = FIELD(g, o_rank, 1);
    struct oc_gw_place p = oc_gw_enter(&g->w, "wo_a");
    struct oc_packing as = oc_packing_of(&g->d->quant, g->w.scope, true);
    int dtype = as.kind == OC_PACK_TYPE || as.kind == OC_PACK_SCALED ? as.dtype : g->d->dtype;
    const char *w =
        oc_dec_weight(g, "weight", (unsigned)dtype, 3, (const int64_t[]){groups, width / groups, rank});
    x = OP(g, "MatMul", RESHAPE(g, x, 0, 0, groups, 1, width / groups), w);
    oc_gw_leave(&g->w, p);
    return linear(g, "wo_b", RESHAPE(g, x, 0, 0, groups * rank), groups * rank, g->d->width, false);
}

/* DeepSeek-V4: one shared key and value, of the last tokens as they are, of all others compressed. */
static const char *compressed_attention(struct decoder_graph *g, int64_t layer, const char *x)
{
    const struct oc_decoder *d = g->d;
    const struct oc_dec_layer *l = &d->layer[layer];
    const int64_t width = l->heads * l->head, heads = FIELD(g, index_heads, 0),
                  head = FIELD(g, index_head, 0);
    const struct kept kept = l->ratio ? keep_tokens(g, layer, "latent", 0, l->head / l->ratio) : nothing;
    const struct kept window =
        KEEP(g, g->cache, "_window", layer, "state", cache_type(d), l->window ? l->window : 1, l->head);
    const char *y = TEXT(g, "%s.attention", g->w.scope);
    struct index i = {"", "", l->own_index ? keep_index(g, layer) : nothing};
    const char *q_latent =
        oc_dec_norm(g, "q_norm", linear(g, "wq_a", x, d->width, d->q_rank, false), d->q_rank);
    const char *q = linear(g, "wq_b", q_latent, d->q_rank, width, false);
    const char *kv = oc_dec_norm(g, "kv_norm", linear(g, "wkv", x, d->width, l->head, false), l->head);
    const char *sinks = l->sinks ? WEIGHT(g, "attn_sink", l->heads) : "";
    const char *groups = l->ratio ? compressor(g, x, l->head, l->ratio) : "";
    if (l->own_index) {
        struct oc_gw_place p = oc_gw_enter(&g->w, "indexer");
        const char *w = oc_dec_product(g, "weights_proj", x, d->width, heads, false, false);
        i.q = weighted(g, linear(g, "wq_b", q_latent, d->q_rank, heads * head, false), w);
        i.k = compressor(g, x, head, l->ratio);
        oc_gw_leave(&g->w, p);
    }
    attention_attributes(g, l, 1, l->head, d->rope);
    oc_gw_attr_i(&g->w, "shared_key_value", 1);
    if (l->ratio)
        oc_gw_attr_i(&g->w, "compress_ratio", l->ratio);
    oc_gw_node(&g->w, "com.onnxcost", "CachedAttention",
               IN(q, kv, groups, kept.past, window.past, sinks, i.q, i.k, i.kept.past, g->total),
               IN(y, kept.present, window.present, i.kept.present));
    return grouped_output(g, y, width);
}

/* ---- linear attention ------------------------------------------------------------------------------- */

/* Queries or keys, each head divided by its length. */
static const char *unit_heads(struct decoder_graph *g, const char *x, int64_t heads, int64_t size)
{
    x = RESHAPE(g, x, 0, 0, heads, size);
    oc_gw_attr_i(&g->w, "axis", -1);
    oc_gw_attr_i(&g->w, "p", 2);
    return RESHAPE(g, OP(g, "LpNormalization", x), 0, 0, heads * size);
}

/* A causal convolution of each channel; its state are the last tokens. */
static const char *short_convolution(struct decoder_graph *g, int64_t layer, const char *module,
                                     const char *x, int64_t channels, int64_t kernel, bool bias,
                                     const char *state)
{
    const struct kept last = KEEP(g, g->state, "_conv", layer, state, g->d->dtype, channels, kernel - 1);
    struct oc_gw_place p = oc_gw_enter(&g->w, module);
    oc_gw_attr_ints(&g->w, "perm", (const int64_t[]){0, 2, 1}, 3);
    x = OP(g, "Transpose", x);
    oc_gw_attr_s(&g->w, "activation", "silu");
    const char *w = WEIGHT(g, "weight", channels, 1, kernel), *b = bias ? WEIGHT(g, "bias", channels) : "";
    x = oc_gw_node(&g->w, "com.microsoft", "CausalConvWithState", IN(x, w, b, last.past),
                   IN(TEXT(g, "%s.output", g->w.scope), last.present));
    oc_gw_attr_ints(&g->w, "perm", (const int64_t[]){0, 2, 1}, 3);
    x = OP(g, "Transpose", x);
    oc_gw_leave(&g->w, p);
    return x;
}

struct recurrence { /* how a linear attention updates its state */
    const char *rule;
    int64_t q_heads, heads, k_size, v_size;
};

/* A state of k_size by v_size elements for each head of values, float32. decays, beta: "" none */
static const char *recurrent(struct decoder_graph *g, int64_t layer, struct recurrence r, const char *q,
                             const char *k, const char *v, const char *decays, const char *beta)
{
    const struct kept state =
        KEEP(g, g->state, "_recurrent", layer, "state", FLOAT, r.heads, r.k_size, r.v_size);
    oc_gw_attr_i(&g->w, "q_num_heads", r.q_heads);
    oc_gw_attr_i(&g->w, "kv_num_heads", r.heads);
    oc_gw_attr_s(&g->w, "update_rule", r.rule);
    return oc_gw_node(&g->w, "com.microsoft", "LinearAttention", IN(q, k, v, state.past, decays, beta),
                      IN(TEXT(g, "%s.output", g->w.scope), state.present));
}

/* Decay of the state: -exp(A_log) * softplus(a + dt_bias). n: decays of a token; heads: numbers of A_log */
static const char *decay(struct decoder_graph *g, const char *a, int64_t n, int64_t heads)
{
    a = OP(g, "Softplus", OP(g, "Add", a, WEIGHT(g, "dt_bias", n)));
    const char *rate = OP(g, "Neg", OP(g, "Exp", WEIGHT(g, "A_log", heads)));
    if (n == heads)
        return OP(g, "Mul", a, rate);
    a = OP(g, "Mul", RESHAPE(g, a, 0, 0, heads, n / heads), RESHAPE(g, rate, heads, 1));
    return RESHAPE(g, a, 0, 0, n);
}

/* Gated DeltaNet. */
static const char *delta(struct decoder_graph *g, int64_t layer, const char *x)
{
    const struct oc_decoder *d = g->d;
    int64_t keys = d->key_heads * d->key_head, values = d->value_heads * d->value_head;
    const char *qkv = linear(g, "in_proj_qkv", x, d->width, 2 * keys + values, false), *qk_v[2], *q_k[2];
    const char *z = linear(g, "in_proj_z", x, d->width, values, false);
    z = oc_dec_gate(g, z, z);
    const char *beta = OP(g, "Sigmoid", linear(g, "in_proj_b", x, d->width, d->value_heads, false));
    oc_dec_split(g, short_convolution(g, layer, "conv1d", qkv, 2 * keys + values, d->kernel, false, "state"),
                 2 * keys, values, qk_v);
    oc_dec_split(g, qk_v[0], keys, keys, q_k);
    const char *q = unit_heads(g, q_k[0], d->key_heads, d->key_head),
               *k = unit_heads(g, q_k[1], d->key_heads, d->key_head),
               *decays = decay(g, linear(g, "in_proj_a", x, d->width, d->value_heads, false), d->value_heads,
                               d->value_heads);
    const struct recurrence r = {"gated_delta", d->key_heads, d->value_heads, d->key_head, d->value_head};
    const char *y = recurrent(g, layer, r, q, k, qk_v[1], decays, beta);
    y = oc_dec_norm(g, "norm", RESHAPE(g, y, 0, 0, d->value_heads, d->value_head), d->value_head);
    y = OP(g, "Mul", RESHAPE(g, y, 0, 0, values), z);
    return linear(g, "out_proj", y, values, d->width, false);
}

/* A projection through a vector of one head, or a matrix. */
static const char *low_rank(struct decoder_graph *g, const char *name, const char *x, int64_t head,
                            int64_t out, bool full)
{
    if (full)
        return linear(g, TEXT(g, "%s_proj", name), x, g->d->width, out, false);
    x = linear(g, TEXT(g, "%s_a_proj", name), x, g->d->width, head, false);
    return linear(g, TEXT(g, "%s_b_proj", name), x, head, out, false);
}

/* Kimi Delta Attention: a decay for each channel of the keys. */
static const char *kda(struct decoder_graph *g, int64_t layer, const char *x)
{
    const struct oc_decoder *d = g->d;
    int64_t keys = d->key_heads * d->key_head, values = d->value_heads * d->value_head;
    const char *part[3];
    static const char *const name[] = {"q", "k", "v"};
    for (int i = 0; i < 3; i++) {
        int64_t n = i < 2 ? keys : values;
        part[i] = linear(g, TEXT(g, "%s_proj", name[i]), x, d->width, n, false);
        part[i] =
            short_convolution(g, layer, TEXT(g, "%s_conv1d", name[i]), part[i], n, d->kernel, false, name[i]);
    }
    const char *decays = decay(g, low_rank(g, "f", x, d->key_head, keys, false), keys, d->key_heads);
    const char *beta = OP(g, "Sigmoid", linear(g, "b_proj", x, d->width, d->value_heads, false));
    const char *gate = low_rank(g, "g", x, d->value_head, values, IS(g, full_gate));
    for (int i = 0; i < 2; i++)
        part[i] = unit_heads(g, part[i], d->key_heads, d->key_head);
    const struct recurrence r = {"gated_delta", d->key_heads, d->value_heads, d->key_head, d->value_head};
    const char *y = recurrent(g, layer, r, part[0], part[1], part[2], decays, beta);
    y = oc_dec_rms(g, "o_norm", RESHAPE(g, y, 0, 0, d->value_heads, d->value_head), d->value_head);
    return output(g, RESHAPE(g, y, 0, 0, values), gate, values);
}

/* Lightning Attention (MiniMax-01): a fixed decay for each head. */
static const char *lightning(struct decoder_graph *g, int64_t layer, const char *x)
{
    const struct oc_decoder *d = g->d;
    int64_t heads = FIELD(g, heads, 1), head = FIELD(g, head, d->width / heads), n = heads * head;
    const char *qkv = linear(g, "qkv_proj", x, d->width, 3 * n, false), *q_kv[2], *k_v[2];
    oc_dec_split(g, oc_dec_gate(g, qkv, qkv), n, 2 * n, q_kv);
    oc_dec_split(g, q_kv[1], n, n, k_v);
    const char *gate = linear(g, "output_gate", x, d->width, n, false);
    const char *y = recurrent(g, layer, (struct recurrence){"linear", heads, heads, head, head}, q_kv[0],
                              k_v[0], k_v[1], "", "");
    y = oc_dec_gate(g, oc_dec_rms(g, "norm", y, n), gate);
    return linear(g, "out_proj", y, n, d->width, false);
}

/* ---- state space ------------------------------------------------------------------------------------ */

/* Mamba-2: queries are C, keys B, values x; B and C are shared by groups of heads. */
static const char *mamba2(struct decoder_graph *g, int64_t layer, const char *x)
{
    const struct oc_decoder *d = g->d;
    int64_t keys = d->ssm_groups * d->ssm_state, channels = d->ssm_width + 2 * keys; /* x, B and C */
    bool bias = IS(g, ssm_bias);
    const char *in = linear(g, "in_proj", x, d->width, d->ssm_width + channels + d->ssm_heads, bias), *z[2],
               *c[2], *v[2], *bc[2];
    oc_dec_split(g, in, d->ssm_width, channels + d->ssm_heads, z);
    oc_dec_split(g, z[1], channels, d->ssm_heads, c);
    const char *rates = decay(g, c[1], d->ssm_heads, d->ssm_heads);
    oc_dec_split(
        g,
        short_convolution(g, layer, "conv1d", c[0], channels, d->ssm_kernel, FIELD(g, conv_bias, 1), "state"),
        d->ssm_width, 2 * keys, v);
    oc_dec_split(g, v[1], keys, keys, bc);
    const struct recurrence r = {"gated", d->ssm_groups, d->ssm_heads, d->ssm_state,
                                 d->ssm_width / d->ssm_heads};
    const char *y = recurrent(g, layer, r, bc[1], bc[0], v[0], rates, "");
    const char *skip = OP(g, "Mul", RESHAPE(g, v[0], 0, 0, d->ssm_heads, d->ssm_width / d->ssm_heads),
                          RESHAPE(g, WEIGHT(g, "D", d->ssm_heads), d->ssm_heads, 1));
    y = OP(g, "Mul", OP(g, "Add", y, RESHAPE(g, skip, 0, 0, d->ssm_width)), oc_dec_gate(g, z[0], z[0]));
    if (FIELD(g, ssm_norm, 1))
        y = oc_dec_rms(g, "norm", y, d->ssm_width);
    return linear(g, "out_proj", y, d->ssm_width, d->width, bias);
}

/* Mamba-1: each channel has a state and a decay of its own. */
static const char *mamba1(struct decoder_graph *g, int64_t layer, const char *x)
{
    const struct oc_decoder *d = g->d;
    int64_t n = d->ssm_width, rank = d->ssm_rank, state = d->ssm_state;
    const char *v_z[2], *t_bc[2], *bc[2];
    oc_dec_split(g, linear(g, "in_proj", x, d->width, 2 * n, IS(g, ssm_bias)), n, n, v_z);
    const char *v =
        short_convolution(g, layer, "conv1d", v_z[0], n, d->ssm_kernel, FIELD(g, conv_bias, 1), "state");
    oc_dec_split(g, linear(g, "x_proj", v, n, rank + 2 * state, false), rank, 2 * state, t_bc);
    oc_dec_split(g, t_bc[1], state, state, bc);
    if (IS(g, ssm_norms)) {
        t_bc[0] = oc_dec_rms(g, "dt_layernorm", t_bc[0], rank);
        bc[0] = oc_dec_rms(g, "b_layernorm", bc[0], state);
        bc[1] = oc_dec_rms(g, "c_layernorm", bc[1], state);
    }
    const char *step = OP(g, "Softplus", linear(g, "dt_proj", t_bc[0], rank, n, true));
    const char *rates = OP(
        g, "Exp",
        OP(g, "Mul", RESHAPE(g, step, 0, 0, n, 1), OP(g, "Neg", OP(g, "Exp", WEIGHT(g, "A_log", n, state)))));
    const char *y = recurrent(g, layer, (struct recurrence){"gated", 1, 1, state, n}, bc[1], bc[0],
                              OP(g, "Mul", v, step), rates, "");
    y = OP(g, "Add", y, OP(g, "Mul", v, WEIGHT(g, "D", n)));
    return linear(g, "out_proj", OP(g, "Mul", y, oc_dec_gate(g, v_z[1], v_z[1])), n, d->width,
                  IS(g, ssm_bias));
}

/* LFM2: gates before and after a short convolution. */
static const char *convolution(struct decoder_graph *g, int64_t layer, const char *x)
{
    int64_t n = g->d->width;
    bool bias = IS(g, conv_bias);
    const char *b_rest[2], *c_x[2];
    oc_dec_split(g, linear(g, "in_proj", x, n, 3 * n, bias), n, 2 * n, b_rest);
    oc_dec_split(g, b_rest[1], n, n, c_x);
    x = short_convolution(g, layer, "conv", OP(g, "Mul", b_rest[0], c_x[1]), n, g->d->ssm_kernel, bias,
                          "state");
    return linear(g, "out_proj", OP(g, "Mul", c_x[0], x), n, n, bias);
}

static const char *product(struct decoder_graph *g, int64_t layer, const char *x)
{
    (void)layer;
    return linear(g, "linear_attn", x, g->d->width, g->d->width, false);
}

static const char *mamba(struct decoder_graph *g, int64_t layer, const char *x)
{
    return g->d->ssm_heads ? mamba2(g, layer, x) : mamba1(g, layer, x);
}

static const struct {
    uint16_t mixer;
    const char *module;
    const char *(*build)(struct decoder_graph *g, int64_t layer, const char *x);
} mixers[] = {{OC_MIX_GROUPED, "self_attn", grouped_attention},
              {OC_MIX_LATENT, "self_attn", latent_attention},
              {OC_MIX_COMPRESSED, "attn", compressed_attention},
              {OC_MIX_DELTA, "linear_attn", delta},
              {OC_MIX_KDA, "self_attn", kda},
              {OC_MIX_MAMBA, "mamba", mamba},
              {OC_MIX_CONV, "conv", convolution},
              {OC_MIX_LINEAR, "self_attn", lightning},
              {OC_MIX_PRODUCT, "self_attn", product}};

const char *oc_dec_mix(struct decoder_graph *g, int64_t layer, const char *x)
{
    const char *sum = NULL;
    for (size_t i = 0; i < OC_COUNT(mixers); i++) {
        if (!(g->d->layer[layer].mixers & mixers[i].mixer))
            continue;
        struct oc_gw_place p = oc_gw_enter(&g->w, mixers[i].module);
        const char *y = mixers[i].build(g, layer, x);
        oc_gw_leave(&g->w, p);
        sum = sum ? OP(g, "Add", sum, y) : y;
    }
    return sum;
}

/* ---- streams ---------------------------------------------------------------------------------------- */

/* Numbers that mix the streams, from all of them; a scale for each kind. */
static const char *mixing(struct decoder_graph *g, const char *module, const char *streams, int64_t n,
                          int64_t kinds)
{
    int64_t s = FIELD(g, streams, 1), width = s * g->d->width;
    struct oc_gw_place p = oc_gw_enter(&g->w, module);
    const char *x = oc_dec_product(g, "fn", RESHAPE(g, streams, 0, 0, width), width, n, false, false);
    int64_t *kind = OC_NEW_ARRAY(&g->w.arena, (size_t)n, int64_t);
    for (int64_t i = 0; i < n; i++)
        kind[i] = i / s < kinds ? i / s : kinds - 1;
    oc_gw_attr_ints(&g->w, "value_ints", kind, (size_t)n);
    const char *index = oc_gw_node(&g->w, "", "Constant", NOTHING, NULL);
    x = OP(g, "Mul", x, OP(g, "Gather", WEIGHT(g, "scale", kinds), index));
    x = OP(g, "Sigmoid", OP(g, "Add", x, WEIGHT(g, "base", n)));
    oc_gw_leave(&g->w, p);
    return x;
}

const char *oc_dec_from_streams(struct decoder_graph *g, const char *module, const char *streams,
                                const char *mix[2])
{
    int64_t s = FIELD(g, streams, 1);
    const char *part[2], *rest[2], *all = mixing(g, module, streams, (2 + s) * s, 3);
    oc_dec_split(g, all, s, (1 + s) * s, part);
    oc_dec_split(g, part[1], s, s * s, rest);
    mix[0] = RESHAPE(g, rest[0], 0, 0, s, 1);
    mix[1] = RESHAPE(g, rest[1], 0, 0, s, s);
    return RESHAPE(g, OP(g, "MatMul", RESHAPE(g, part[0], 0, 0, 1, s), streams), 0, 0, g->d->width);
}

const char *oc_dec_to_streams(struct decoder_graph *g, const char *streams, const char *y,
                              const char *const mix[2])
{
    const char *fresh = OP(g, "MatMul", mix[0], RESHAPE(g, y, 0, 0, 1, g->d->width));
    return OP(g, "Add", fresh, OP(g, "MatMul", mix[1], streams));
}

const char *oc_dec_head_of_streams(struct decoder_graph *g, const char *streams)
{
    int64_t s = FIELD(g, streams, 1);
    const char *mix = mixing(g, "hc_head", streams, s, 1);
    return RESHAPE(g, OP(g, "MatMul", RESHAPE(g, mix, 0, 0, 1, s), streams), 0, 0, g->d->width);
}
