/* Mixers of tokens in the graph of a decoder: attention in its forms, linear attention, state space,
 * convolutions. Names of modules are those of transformers. */
#include <string.h>

#include "base/ck.h"
#include "model/decoder_graph.h"

/* Removes trailing inputs that are absent. */
static const char *node(struct decoder_graph *g, const char *domain, const char *type, const char **in,
                        size_t n, const char *const *out)
{
    while (n > 0 && !(in[n - 1] && *in[n - 1]))
        in[--n] = NULL;
    return oc_gw_node(&g->w, domain, type, in, out);
}

/* ---- attention -------------------------------------------------------------------------------------- */

/* A norm of the given width; its weight alone where the attention operator computes it. */
static const char *norm_weight(struct decoder_graph *g, const char *module, int64_t width)
{
    struct oc_gw_place p = oc_gw_enter(&g->w, module);
    const char *w = WEIGHT(g, "weight", width);
    oc_gw_leave(&g->w, p);
    return w;
}

static bool is_norm(const struct decoder_graph *g, int64_t kind)
{
    return IS(g, qk_norm) && oc_dec_field(&g->d->f, OC_F_qk_norm_kind, OC_W_head) == kind;
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
        x = OP(g, "Mul", x, OP(g, "Sigmoid", gate));
    return linear(g, "o_proj", x, from, g->d->width, IS(g, out_bias));
}

/* Queries and keys of an indexer that selects keys: after the inputs of attention. */
static void indexer(struct decoder_graph *g, int64_t layer, const char *x, const char *latent,
                    const char **in)
{
    const struct oc_decoder *d = g->d;
    int64_t heads = oc_dec_field(&d->f, OC_F_index_heads, 0), head = oc_dec_field(&d->f, OC_F_index_head, 0),
            rank = latent ? d->q_rank : d->width;
    struct oc_gw_place p = oc_gw_enter(&g->w, "indexer");
    if (latent) {
        in[0] = linear(g, "wq_b", latent, rank, heads * head, false);
        in[1] = linear(g, "wk", x, d->width, head, false);
        oc_gw_attr_i(&g->w, "axis", -1);
        in[1] = OP(g, "LayerNormalization", in[1], WEIGHT(g, "k_norm.weight", head),
                   WEIGHT(g, "k_norm.bias", head));
        const char *w = oc_dec_product(g, "weights_proj", x, d->width, heads, false, false);
        in[0] = OP(g, "Mul", RESHAPE(g, in[0], 0, 0, heads, head), RESHAPE(g, w, 0, 0, heads, 1));
        in[0] = RESHAPE(g, in[0], 0, 0, heads * head);
    } else {
        in[0] = linear(g, "index_q_proj", x, d->width, heads * head, false);
        in[1] = linear(g, "index_k_proj", x, d->width, head, false);
        if (IS(g, index_norm)) {
            in[0] = head_norm(g, "index_q_norm", in[0], heads, head);
            in[1] = oc_dec_rms(g, "index_k_norm", in[1], head);
        }
    }
    in[2] = oc_dec_cache(g, "past_index", layer, "key");
    oc_gw_leave(&g->w, p);
}

/* Attributes of CachedAttention. */
static void cached_attributes(struct decoder_graph *g, const struct oc_dec_layer *l, int64_t kv_heads,
                              int64_t v_head, int64_t rotated)
{
    oc_gw_attr_i(&g->w, "num_heads", l->heads);
    oc_gw_attr_i(&g->w, "kv_num_heads", kv_heads);
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
        oc_gw_attr_i(&g->w, "index_heads", oc_dec_field(&g->d->f, OC_F_index_heads, 0));
}

/* Keys and values as the query heads see them: projections, norms. */
struct heads {
    const char *q, *k, *v, *gate, *q_norm, *k_norm;
};

static struct heads project(struct decoder_graph *g, const struct oc_dec_layer *l, const char *x)
{
    const struct oc_decoder *d = g->d;
    int64_t q_width = l->heads * l->head, k_width = l->kv_heads * l->head, v_width = l->kv_heads * l->v_head;
    bool bias = IS(g, qkv_bias), gated = IS(g, gate);
    const char *half[2] = {NULL, NULL};
    struct heads h = {.q_norm = "", .k_norm = ""};
    h.q = linear(g, "q_proj", x, d->width, gated ? 2 * q_width : q_width, bias);
    if (!l->shared_kv)
        h.k = linear(g, "k_proj", x, d->width, k_width, bias);
    if (!l->shared_kv)
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
    } else if (is_norm(g, OC_W_head) && oc_dec_field(&d->f, OC_F_norm, OC_W_rms) != OC_W_rms) {
        h.q = head_norm(g, "q_norm", h.q, l->heads, l->head);
        h.k = h.k ? head_norm(g, "k_norm", h.k, l->kv_heads, l->head) : NULL;
    } else if (is_norm(g, OC_W_head)) {
        h.q_norm = norm_weight(g, "q_norm", l->head);
        h.k_norm = h.k ? norm_weight(g, "k_norm", l->head) : h.q_norm;
    }
    return h;
}

/* Keys and values of a layer before, of the same kind. */
static void share(struct decoder_graph *g, const struct oc_dec_layer *l, struct heads *h)
{
    const char **key = &g->shared_key[l->window > 0], **value = &g->shared_value[l->window > 0];
    if (l->shared_kv && *key) {
        h->k = *key;
        h->v = *value;
    } else {
        *key = h->k;
        *value = h->v;
    }
}

static const char *grouped_attention(struct decoder_graph *g, int64_t layer, const char *x)
{
    const struct oc_dec_layer *l = &g->d->layer[layer];
    struct heads h = project(g, l, x);
    bool own = !l->shared_kv || !g->shared_key[l->window > 0];
    if (own && !h.k) { /* a first layer without keys of its own */
        h.k = linear(g, "k_proj", x, g->d->width, l->kv_heads * l->head, false);
        h.v = linear(g, "v_proj", x, g->d->width, l->kv_heads * l->v_head, false);
    }
    share(g, l, &h);
    const char *sinks = l->sinks ? WEIGHT(g, "sinks", l->heads) : "";
    bool special = l->v_head != l->head || l->chunk || l->selected || !own;
    const char *past[2] = {oc_dec_cache(g, "past_key_values", layer, "key"),
                           oc_dec_cache(g, "past_key_values", layer, "value")};
    const char *out[] = {TEXT(g, "%s.attention", g->w.scope), oc_dec_cache(g, "present", layer, "key"),
                         oc_dec_cache(g, "present", layer, "value"), "", NULL};
    const char *index[3] = {"", "", ""};
    if (special && l->own_index) {
        indexer(g, layer, x, NULL, index);
        out[3] = oc_dec_cache(g, "present_index", layer, "key");
    }
    if (!*out[3])
        out[3] = NULL;
    if (!own)
        past[0] = past[1] = "", out[1] = NULL;
    if (special) {
        cached_attributes(g, l, l->kv_heads, l->v_head, l->rotated);
        const char *in[] = {h.q,      h.k,      h.v,      past[0],  past[1], sinks,
                            index[0], index[1], index[2], g->total, NULL};
        x = node(g, "com.onnxcost", "CachedAttention", in, OC_COUNT(in) - 1, out);
    } else {
        oc_gw_attr_i(&g->w, "num_heads", l->heads);
        oc_gw_attr_i(&g->w, "kv_num_heads", l->kv_heads);
        oc_gw_attr_i(&g->w, "do_rotary", l->rotary);
        if (l->rotary && l->rotated != l->head)
            oc_gw_attr_i(&g->w, "rotary_embedding_dim", l->rotated);
        if (l->window)
            oc_gw_attr_i(&g->w, "local_window_size", l->window);
        const char *in[] = {h.q, h.k, h.v,   past[0], past[1], g->seqlens, g->total, "",  "",
                            "",  "",  sinks, "",      "",      h.q_norm,   h.k_norm, NULL};
        x = node(g, "com.microsoft", "GroupQueryAttention", in, OC_COUNT(in) - 1, out);
    }
    int64_t width = l->heads * l->v_head;
    if (h.gate && IS(g, head_gate)) {
        x = OP(g, "Mul", RESHAPE(g, x, 0, 0, l->heads, l->v_head),
               RESHAPE(g, OP(g, "Sigmoid", h.gate), 0, 0, l->heads, 1));
        x = RESHAPE(g, x, 0, 0, width);
        h.gate = NULL;
    }
    return output(g, x, h.gate, width);
}

/* Multi-head latent attention (DeepSeek-V2, section 2.1). kv_b_proj is a product over the new tokens in both forms:
 * it expands their latent, or projects queries to the latent and outputs from it. */
static const char *latent_attention(struct decoder_graph *g, int64_t layer, const char *x)
{
    const struct oc_decoder *d = g->d;
    const struct oc_dec_layer *l = &d->layer[layer];
    int64_t width = l->heads * (d->nope + d->rope), latent = d->kv_rank + d->rope;
    const char *q, *q_latent = x, *part[2], *index[3] = {"", "", ""};
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
    const char *fresh = OP(g, "Concat", part[0], part[1]), *gate = NULL;
    if (l->own_index)
        indexer(g, layer, x, q_latent, index);
    if (IS(g, gate))
        gate = linear(g, "g_proj", x, d->width, l->heads * d->v_head, false);
    cached_attributes(g, l, 1, d->v_head, oc_dec_field(&d->f, OC_F_latent_rope, 1) ? d->rope : 0);
    oc_gw_attr_i(&g->w, "latent_rank", d->kv_rank);
    oc_gw_attr_i(&g->w, "rope_head_size", d->rope);
    const char *in[] = {q,        fresh,    kv,       oc_dec_cache(g, "past_key_values", layer, "latent"),
                        "",       "",       index[0], index[1],
                        index[2], g->total, NULL};
    const char *out[] = {TEXT(g, "%s.attention", g->w.scope), oc_dec_cache(g, "present", layer, "latent"),
                         l->own_index ? "" : NULL, oc_dec_cache(g, "present_index", layer, "key"), NULL};
    x = node(g, "com.onnxcost", "CachedAttention", in, OC_COUNT(in) - 1, out);
    return output(g, x, gate, l->heads * d->v_head);
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
    int64_t groups = oc_dec_field(&g->d->f, OC_F_o_groups, 1), rank = oc_dec_field(&g->d->f, OC_F_o_rank, 1);
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
    int64_t width = l->heads * l->head, heads = oc_dec_field(&d->f, OC_F_index_heads, 0),
            head = oc_dec_field(&d->f, OC_F_index_head, 0);
    const char *q_latent =
        oc_dec_norm(g, "q_norm", linear(g, "wq_a", x, d->width, d->q_rank, false), d->q_rank);
    const char *q = linear(g, "wq_b", q_latent, d->q_rank, width, false);
    const char *kv = oc_dec_norm(g, "kv_norm", linear(g, "wkv", x, d->width, l->head, false), l->head);
    const char *sinks = l->sinks ? WEIGHT(g, "attn_sink", l->heads) : "", *index[3] = {"", "", ""};
    const char *groups = l->ratio ? compressor(g, x, l->head, l->ratio) : "";
    if (l->own_index) {
        struct oc_gw_place p = oc_gw_enter(&g->w, "indexer");
        const char *w = oc_dec_product(g, "weights_proj", x, d->width, heads, false, false);
        index[0] = RESHAPE(g, linear(g, "wq_b", q_latent, d->q_rank, heads * head, false), 0, 0, heads, head);
        index[0] = RESHAPE(g, OP(g, "Mul", index[0], RESHAPE(g, w, 0, 0, heads, 1)), 0, 0, heads * head);
        index[1] = compressor(g, x, head, l->ratio);
        index[2] = oc_dec_cache(g, "past_index", layer, "key");
        oc_gw_leave(&g->w, p);
    }
    cached_attributes(g, l, 1, l->head, d->rope);
    oc_gw_attr_i(&g->w, "shared_key_value", 1);
    if (l->ratio)
        oc_gw_attr_i(&g->w, "compress_ratio", l->ratio);
    const char *past = l->ratio ? oc_dec_cache(g, "past_key_values", layer, "latent") : "",
               *present = l->ratio ? oc_dec_cache(g, "present", layer, "latent") : "";
    const char *in[] = {q,     kv,       groups,   past,     oc_dec_cache(g, "past_window", layer, "state"),
                        sinks, index[0], index[1], index[2], g->total,
                        NULL};
    const char *out[] = {TEXT(g, "%s.attention", g->w.scope), present,
                         oc_dec_cache(g, "present_window", layer, "state"),
                         l->own_index ? oc_dec_cache(g, "present_index", layer, "key") : NULL, NULL};
    x = node(g, "com.onnxcost", "CachedAttention", in, OC_COUNT(in) - 1, out);
    return grouped_output(g, x, width);
}

/* ---- linear attention ------------------------------------------------------------------------------- */

static const char *silu(struct decoder_graph *g, const char *x)
{
    return OP(g, "Mul", x, OP(g, "Sigmoid", x));
}

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
    struct oc_gw_place p = oc_gw_enter(&g->w, module);
    oc_gw_attr_ints(&g->w, "perm", (const int64_t[]){0, 2, 1}, 3);
    x = OP(g, "Transpose", x);
    oc_gw_attr_s(&g->w, "activation", "silu");
    const char *w = WEIGHT(g, "weight", channels, 1, kernel), *b = bias ? WEIGHT(g, "bias", channels) : "";
    x = oc_gw_node(&g->w, "com.microsoft", "CausalConvWithState",
                   IN(x, w, b, oc_dec_cache(g, "past_conv", layer, state)),
                   IN(TEXT(g, "%s.output", g->w.scope), oc_dec_cache(g, "present_conv", layer, state)));
    oc_gw_attr_ints(&g->w, "perm", (const int64_t[]){0, 2, 1}, 3);
    x = OP(g, "Transpose", x);
    oc_gw_leave(&g->w, p);
    return x;
}

/* A state of key by value elements for each head of values. */
static const char *recurrence(struct decoder_graph *g, int64_t layer, const char *rule, int64_t q_heads,
                              int64_t heads, const char *const *in)
{
    oc_gw_attr_i(&g->w, "q_num_heads", q_heads);
    oc_gw_attr_i(&g->w, "kv_num_heads", heads);
    oc_gw_attr_s(&g->w, "update_rule", rule);
    return oc_gw_node(
        &g->w, "com.microsoft", "LinearAttention", in,
        IN(TEXT(g, "%s.output", g->w.scope), oc_dec_cache(g, "present_recurrent", layer, "state")));
}
#define STATE(g, layer) oc_dec_cache((g), "past_recurrent", (layer), "state")

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
    const char *z = silu(g, linear(g, "in_proj_z", x, d->width, values, false));
    const char *beta = OP(g, "Sigmoid", linear(g, "in_proj_b", x, d->width, d->value_heads, false));
    oc_dec_split(g, short_convolution(g, layer, "conv1d", qkv, 2 * keys + values, d->kernel, false, "state"),
                 2 * keys, values, qk_v);
    oc_dec_split(g, qk_v[0], keys, keys, q_k);
    const char *q = unit_heads(g, q_k[0], d->key_heads, d->key_head),
               *k = unit_heads(g, q_k[1], d->key_heads, d->key_head),
               *decays = decay(g, linear(g, "in_proj_a", x, d->width, d->value_heads, false), d->value_heads,
                               d->value_heads);
    const char *y = recurrence(g, layer, "gated_delta", d->key_heads, d->value_heads,
                               IN(q, k, qk_v[1], STATE(g, layer), decays, beta));
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
    const char *y = recurrence(g, layer, "gated_delta", d->key_heads, d->value_heads,
                               IN(unit_heads(g, part[0], d->key_heads, d->key_head),
                                  unit_heads(g, part[1], d->key_heads, d->key_head), part[2], STATE(g, layer),
                                  decays, beta));
    y = oc_dec_rms(g, "o_norm", RESHAPE(g, y, 0, 0, d->value_heads, d->value_head), d->value_head);
    return output(g, RESHAPE(g, y, 0, 0, values), gate, values);
}

/* Lightning Attention (MiniMax-01): a fixed decay for each head. */
static const char *lightning(struct decoder_graph *g, int64_t layer, const char *x)
{
    const struct oc_decoder *d = g->d;
    int64_t heads = oc_dec_field(&d->f, OC_F_heads, 1),
            head = oc_dec_field(&d->f, OC_F_head, d->width / heads), n = heads * head;
    const char *qkv = silu(g, linear(g, "qkv_proj", x, d->width, 3 * n, false)), *q_kv[2], *k_v[2];
    oc_dec_split(g, qkv, n, 2 * n, q_kv);
    oc_dec_split(g, q_kv[1], n, n, k_v);
    const char *gate = linear(g, "output_gate", x, d->width, n, false);
    const char *y =
        recurrence(g, layer, "linear", heads, heads, IN(q_kv[0], k_v[0], k_v[1], STATE(g, layer)));
    y = oc_dec_rms(g, "norm", y, n);
    y = OP(g, "Mul", y, OP(g, "Sigmoid", gate));
    return linear(g, "out_proj", y, n, d->width, false);
}

/* ---- state space ------------------------------------------------------------------------------------ */

/* Channels of the convolution of Mamba-2: x, B and C. */
static int64_t ssm_channels(const struct oc_decoder *d)
{
    return d->ssm_width + (d->ssm_heads ? 2 * d->ssm_groups * d->ssm_state : 0);
}

/* Mamba-2: queries are C, keys B, values x; B and C are shared by groups of heads. */
static const char *mamba2(struct decoder_graph *g, int64_t layer, const char *x)
{
    const struct oc_decoder *d = g->d;
    int64_t channels = ssm_channels(d), keys = d->ssm_groups * d->ssm_state;
    bool bias = IS(g, ssm_bias);
    const char *in = linear(g, "in_proj", x, d->width, d->ssm_width + channels + d->ssm_heads, bias), *z[2],
               *c[2], *v[2], *bc[2];
    oc_dec_split(g, in, d->ssm_width, channels + d->ssm_heads, z);
    oc_dec_split(g, z[1], channels, d->ssm_heads, c);
    const char *rates = decay(g, c[1], d->ssm_heads, d->ssm_heads);
    oc_dec_split(g,
                 short_convolution(g, layer, "conv1d", c[0], channels, d->ssm_kernel,
                                   oc_dec_field(&d->f, OC_F_conv_bias, 1), "state"),
                 d->ssm_width, 2 * keys, v);
    oc_dec_split(g, v[1], keys, keys, bc);
    const char *y = recurrence(g, layer, "gated", d->ssm_groups, d->ssm_heads,
                               IN(bc[1], bc[0], v[0], STATE(g, layer), rates));
    const char *skip = OP(g, "Mul", RESHAPE(g, v[0], 0, 0, d->ssm_heads, d->ssm_width / d->ssm_heads),
                          RESHAPE(g, WEIGHT(g, "D", d->ssm_heads), d->ssm_heads, 1));
    y = OP(g, "Mul", OP(g, "Add", y, RESHAPE(g, skip, 0, 0, d->ssm_width)), silu(g, z[0]));
    if (oc_dec_field(&d->f, OC_F_ssm_norm, 1))
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
    const char *v = short_convolution(g, layer, "conv1d", v_z[0], n, d->ssm_kernel,
                                      oc_dec_field(&d->f, OC_F_conv_bias, 1), "state");
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
    const char *y =
        recurrence(g, layer, "gated", 1, 1, IN(bc[1], bc[0], OP(g, "Mul", v, step), STATE(g, layer), rates));
    y = OP(g, "Add", y, OP(g, "Mul", v, WEIGHT(g, "D", n)));
    return linear(g, "out_proj", OP(g, "Mul", y, silu(g, v_z[1])), n, d->width, IS(g, ssm_bias));
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

/* ---- caches and states ------------------------------------------------------------------------------ */

static const char *number(struct decoder_graph *g, int64_t n)
{
    return TEXT(g, "%lld", (long long)n);
}

struct list { /* of inputs or outputs */
    struct decoder_graph *g;
    struct oc_messages *to;
    bool past;
};

static void info(const struct list *s, const char *prefix, const char *name, int64_t layer, int dtype,
                 const char *const *dim)
{
    const char *full = TEXT(s->g, "%s%s", s->past ? "past" : "present", prefix);
    oc_gw_value_info(&s->g->w, s->to, oc_dec_cache(s->g, full, layer, name), dtype, dim);
}

/* Elements of a cache. */
static int64_t stored(int64_t n, bool four)
{
    return four ? oc_ceil_div(n * 9, 16) : n;
}

static void cache_of(const struct list *s, int64_t i)
{
    struct decoder_graph *g = s->g;
    const struct oc_decoder *d = g->d;
    const struct oc_dec_layer *l = &d->layer[i];
    const char *length = s->past ? "past_sequence_length" : "total_sequence_length",
               *prefix = s->past ? "_key_values" : "";
    bool four = d->quant.cache == OC_DT_NVFP4; /* 9 bytes for 16 numbers, as bytes */
    int dtype = four ? UINT8 : d->quant.cache ? d->quant.cache : d->dtype;
    int64_t latent = l->mixers & OC_MIX_LATENT ? d->kv_rank + d->rope
                     : l->ratio                ? l->head / l->ratio
                                               : 0,
            index = oc_dec_field(&d->f, OC_F_index_head, 0) / (l->ratio ? l->ratio : 1);
    if (latent)
        info(s, prefix, "latent", i, dtype, IN("batch_size", length, number(g, stored(latent, four))));
    if (l->mixers & OC_MIX_GROUPED && !(l->shared_kv && i))
        for (int part = 0; part < 2; part++)
            info(s, prefix, part ? "value" : "key", i, dtype,
                 IN("batch_size", number(g, l->kv_heads), length,
                    number(g, stored(part ? l->v_head : l->head, four))));
    if (l->mixers & OC_MIX_COMPRESSED)
        info(s, "_window", "state", i, dtype,
             IN("batch_size", number(g, l->window ? l->window : 1), number(g, l->head)));
    if (l->own_index)
        info(s, "_index", "key", i, d->dtype, IN("batch_size", length, number(g, index > 0 ? index : 1)));
}

static void state_of(const struct list *s, const char *name, int64_t i, int64_t channels, int64_t kernel)
{
    info(s, "_conv", name, i, s->g->d->dtype,
         IN("batch_size", number(s->g, channels), number(s->g, kernel - 1)));
}

static void states_of(const struct list *s, int64_t i)
{
    struct decoder_graph *g = s->g;
    const struct oc_decoder *d = g->d;
    uint16_t m = d->layer[i].mixers;
    int64_t keys = d->key_heads * d->key_head, values = d->value_heads * d->value_head,
            heads = d->value_heads, k = d->key_head, v = d->value_head;
    if (m & OC_MIX_DELTA)
        state_of(s, "state", i, 2 * keys + values, d->kernel);
    if (m & OC_MIX_KDA) {
        state_of(s, "q", i, keys, d->kernel);
        state_of(s, "k", i, keys, d->kernel);
        state_of(s, "v", i, values, d->kernel);
    }
    if (m & OC_MIX_CONV)
        state_of(s, "state", i, d->width, d->ssm_kernel);
    if (m & OC_MIX_MAMBA) {
        state_of(s, "state", i, ssm_channels(d), d->ssm_kernel);
        heads = d->ssm_heads ? d->ssm_heads : 1;
        k = d->ssm_state;
        v = d->ssm_width / heads;
    }
    if (m & OC_MIX_LINEAR) {
        heads = oc_dec_field(&d->f, OC_F_heads, 1);
        k = v = oc_dec_field(&d->f, OC_F_head, d->width / heads);
    }
    if (m & (OC_MIX_DELTA | OC_MIX_KDA | OC_MIX_MAMBA | OC_MIX_LINEAR))
        info(s, "_recurrent", "state", i, FLOAT,
             IN("batch_size", number(g, heads), number(g, k), number(g, v)));
}

void oc_dec_states(struct decoder_graph *g, struct oc_messages *to, bool past)
{
    const struct list s = {g, to, past};
    for (int64_t i = 0; i < g->d->layers; i++)
        cache_of(&s, i);
    for (int64_t i = 0; i < g->d->layers; i++)
        states_of(&s, i);
}

/* ---- streams ---------------------------------------------------------------------------------------- */

/* Numbers that mix the streams, from all of them; a scale for each kind. */
static const char *mixing(struct decoder_graph *g, const char *module, const char *streams, int64_t n,
                          int64_t kinds)
{
    int64_t s = oc_dec_field(&g->d->f, OC_F_streams, 1), width = s * g->d->width;
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
    int64_t s = oc_dec_field(&g->d->f, OC_F_streams, 1);
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
    int64_t s = oc_dec_field(&g->d->f, OC_F_streams, 1);
    const char *mix = mixing(g, "hc_head", streams, s, 1);
    return RESHAPE(g, OP(g, "MatMul", RESHAPE(g, mix, 0, 0, 1, s), streams), 0, 0, g->d->width);
}
