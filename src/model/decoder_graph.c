/* Builds the ONNX graph of a decoder: one attention operator with a cache per layer, products, norms. Names
 * of modules and weights are those of transformers. */
#include <stdlib.h>
#include <string.h>

#include "base/ck.h"
#include "model/decoder_graph.h"

static const char *linear(struct decoder_graph *g, const char *module, const char *x, int64_t in, int64_t out,
                          bool bias)
{
    return oc_dec_product(g, module, x, in, out, bias, true);
}

static const char *norm(struct decoder_graph *g, const char *module, const char *x, int64_t width)
{
    unsigned traits = g->d->traits;
    struct oc_gw_place p = oc_gw_enter(&g->w, module);
    oc_gw_attr_i(&g->w, "axis", -1);
    oc_gw_attr_f(&g->w, "epsilon", 1e-5F);
    if (traits & OC_DEC_LAYER_NORM)
        x = OP(g, "LayerNormalization", x, WEIGHT(g, "weight", width), WEIGHT(g, "bias", width));
    else
        x = OP(g, traits & OC_DEC_NORM_NO_BIAS ? "LayerNormalization" : "SimplifiedLayerNormalization", x,
               WEIGHT(g, "weight", width));
    oc_gw_leave(&g->w, p);
    return x;
}

/* ---- shapes ------------------------------------------------------------------------------------------ */

static const char *reshape(struct decoder_graph *g, const char *x, const int64_t *dim, size_t n)
{
    oc_gw_attr_ints(&g->w, "value_ints", dim, n);
    const char *shape = oc_gw_node(&g->w, "", "Constant", NOTHING, NULL);
    return OP(g, "Reshape", x, shape);
}
#define RESHAPE(g, x, ...)                                                                                   \
    reshape((g), (x), (const int64_t[]){__VA_ARGS__},                                                        \
            sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

static const char *transpose(struct decoder_graph *g, const char *x, int64_t a, int64_t b, int64_t c,
                             int64_t d)
{
    oc_gw_attr_ints(&g->w, "perm", (const int64_t[]){a, b, c, d}, 4);
    return OP(g, "Transpose", x);
}

/* The first `at` elements of the last axis and the rest. */
static void split(struct decoder_graph *g, const char *x, int64_t at, int64_t rest, const char *part[2])
{
    oc_gw_attr_ints(&g->w, "value_ints", (const int64_t[]){at, rest}, 2);
    const char *sizes = oc_gw_node(&g->w, "", "Constant", NOTHING, NULL);
    part[0] = TEXT(g, "%s.first", x);
    part[1] = TEXT(g, "%s.rest", x);
    oc_gw_attr_i(&g->w, "axis", -1);
    oc_gw_node(&g->w, "", "Split", IN(x, sizes), (const char *const[]){part[0], part[1], NULL});
}

/* ---- attention -------------------------------------------------------------------------------------- */

static const char *cache_name(struct decoder_graph *g, const char *prefix, int64_t layer, const char *part)
{
    return TEXT(g, "%s.%lld.%s", prefix, (long long)layer, part);
}

/* A norm of the given width; its weight alone where the attention operator computes it. */
static const char *norm_weight(struct decoder_graph *g, const char *module)
{
    struct oc_gw_place p = oc_gw_enter(&g->w, module);
    const char *w = WEIGHT(g, "weight", g->d->head);
    oc_gw_leave(&g->w, p);
    return w;
}

static const char *grouped_attention(struct decoder_graph *g, int64_t layer, const char *x)
{
    const struct oc_decoder *d = g->d;
    int64_t q_width = d->heads * d->head, kv_width = d->kv_heads * d->head;
    bool bias = d->traits & OC_DEC_QKV_BIAS, rotary = !(d->traits & OC_DEC_LEARNED) && !d->unrotated[layer];
    const char *q = linear(g, "q_proj", x, d->width, d->traits & OC_DEC_GATED ? 2 * q_width : q_width, bias);
    const char *k = linear(g, "k_proj", x, d->width, kv_width, bias);
    const char *v = linear(g, "v_proj", x, d->width, kv_width, bias);
    const char *half[2] = {q, NULL}, *gate;
    if (d->traits & OC_DEC_GATED)
        split(g, q, q_width, q_width, half);
    q = half[0];
    gate = half[1];
    if (d->traits & OC_DEC_QK_NORM_WIDE) {
        q = norm(g, "q_norm", q, q_width);
        k = norm(g, "k_norm", k, kv_width);
    }
    bool head_norm = d->traits & OC_DEC_QK_NORM;
    const char *sinks = d->traits & OC_DEC_SINKS ? WEIGHT(g, "sinks", d->heads) : "";
    const char *q_norm = head_norm ? norm_weight(g, "q_norm") : "",
               *k_norm = head_norm ? norm_weight(g, "k_norm") : "";
    oc_gw_attr_i(&g->w, "num_heads", d->heads);
    oc_gw_attr_i(&g->w, "kv_num_heads", d->kv_heads);
    oc_gw_attr_i(&g->w, "do_rotary", rotary);
    if (d->windowed[layer])
        oc_gw_attr_i(&g->w, "local_window_size", d->window);
    const char *cos = rotary ? "cos_cache" : "", *sin = rotary ? "sin_cache" : "";
    const char *in[] = {q,
                        k,
                        v,
                        cache_name(g, "past_key_values", layer, "key"),
                        cache_name(g, "past_key_values", layer, "value"),
                        g->seqlens,
                        g->total,
                        cos,
                        sin,
                        "",
                        "",
                        sinks,
                        "",
                        "",
                        q_norm,
                        k_norm,
                        NULL};
    size_t last = OC_COUNT(in) - 2;
    while (last > 6 && !*in[last]) /* trailing inputs that are absent */
        in[last--] = NULL;
    const char *out[] = {TEXT(g, "%s.attention", g->w.scope), cache_name(g, "present", layer, "key"),
                         cache_name(g, "present", layer, "value"), NULL};
    x = oc_gw_node(&g->w, "com.microsoft", "GroupQueryAttention", in, out);
    if (d->traits & OC_DEC_GATED)
        x = OP(g, "Mul", x, OP(g, "Sigmoid", gate));
    return linear(g, "o_proj", x, q_width, d->width, d->traits & OC_DEC_OUT_BIAS);
}

static const char *rotated(struct decoder_graph *g, const char *x)
{
    return CONTRIB_OP(g, "RotaryEmbedding", x, "position_ids", "cos_cache", "sin_cache");
}

static const char *join_last(struct decoder_graph *g, const char *a, const char *b, int64_t axis)
{
    oc_gw_attr_i(&g->w, "axis", axis);
    return OP(g, "Concat", a, b);
}

/* Queries against the latent of keys and values (DeepSeek-V2, section 2.1, with the projections of keys and
 * values absorbed into those of queries and outputs): [batch, heads, new, kv_rank + rope]. */
static const char *latent_queries(struct decoder_graph *g, const char *x)
{
    const struct oc_decoder *d = g->d;
    int64_t width = d->heads * (d->nope + d->rope);
    const char *part[2];
    if (d->q_rank > 0) {
        x = norm(g, "q_a_layernorm", linear(g, "q_a_proj", x, d->width, d->q_rank, false), d->q_rank);
        x = linear(g, "q_b_proj", x, d->q_rank, width, false);
    } else {
        x = linear(g, "q_proj", x, d->width, width, false);
    }
    x = transpose(g, RESHAPE(g, x, 0, 0, d->heads, d->nope + d->rope), 0, 2, 1, 3);
    split(g, x, d->nope, d->rope, part);
    struct oc_gw_place p = oc_gw_enter(&g->w, "kv_b_proj");
    const char *latent = OP(g, "MatMul", part[0], EXPERT(g, "key.weight", d->heads, d->nope, d->kv_rank));
    oc_gw_leave(&g->w, p);
    return join_last(g, latent, rotated(g, part[1]), -1);
}

static const char *latent_attention(struct decoder_graph *g, int64_t layer, const char *x)
{
    const struct oc_decoder *d = g->d;
    const char *part[2], *q = latent_queries(g, x);
    split(g, linear(g, "kv_a_proj_with_mqa", x, d->width, d->kv_rank + d->rope, false), d->kv_rank, d->rope,
          part);
    const char *rope = rotated(g, part[1]), *latent = norm(g, "kv_a_layernorm", part[0], d->kv_rank);
    const char *fresh = join_last(g, latent, rope, -1);
    oc_gw_attr_i(&g->w, "axis", 1);
    const char *all =
        oc_gw_node(&g->w, "", "Concat", IN(cache_name(g, "past_key_values", layer, "latent"), fresh),
                   IN(cache_name(g, "present", layer, "latent")));
    all = OP(g, "Unsqueeze", all, oc_gw_constant(&g->w, 1)); /* one head of keys */
    const char *score = OP(g, "MatMul", q, transpose(g, all, 0, 1, 3, 2));
    oc_gw_attr_i(&g->w, "axis", -1);
    score = OP(g, "Softmax", OP(g, "Add", score, g->mask));
    split(g, all, d->kv_rank, d->rope, part);
    const char *y = OP(g, "MatMul", score, part[0]);
    struct oc_gw_place p = oc_gw_enter(&g->w, "kv_b_proj");
    y = OP(g, "MatMul", y, EXPERT(g, "value.weight", d->heads, d->kv_rank, d->v_head));
    oc_gw_leave(&g->w, p);
    y = RESHAPE(g, transpose(g, y, 0, 2, 1, 3), 0, 0, d->heads * d->v_head);
    return linear(g, "o_proj", y, d->heads * d->v_head, d->width, false);
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
static const char *short_convolution(struct decoder_graph *g, int64_t layer, const char *x, int64_t channels)
{
    struct oc_gw_place p = oc_gw_enter(&g->w, "conv1d");
    oc_gw_attr_ints(&g->w, "perm", (const int64_t[]){0, 2, 1}, 3);
    x = OP(g, "Transpose", x);
    oc_gw_attr_s(&g->w, "activation", "silu");
    const char *w = WEIGHT(g, "weight", channels, 1, g->d->kernel);
    x = oc_gw_node(&g->w, "com.microsoft", "CausalConvWithState",
                   IN(x, w, "", cache_name(g, "past_conv", layer, "state")),
                   IN(TEXT(g, "%s.output", g->w.scope), cache_name(g, "present_conv", layer, "state")));
    oc_gw_attr_ints(&g->w, "perm", (const int64_t[]){0, 2, 1}, 3);
    x = OP(g, "Transpose", x);
    oc_gw_leave(&g->w, p);
    return x;
}

/* Decay of the state for each token and head: -exp(A_log) * softplus(a + dt_bias). */
static const char *decay(struct decoder_graph *g, const char *x)
{
    const struct oc_decoder *d = g->d;
    const char *a = linear(g, "in_proj_a", x, d->width, d->value_heads, false);
    a = OP(g, "Softplus", OP(g, "Add", a, WEIGHT(g, "dt_bias", d->value_heads)));
    return OP(g, "Mul", a, OP(g, "Neg", OP(g, "Exp", WEIGHT(g, "A_log", d->value_heads))));
}

/* Gated DeltaNet: a state of key by value elements for each head, no cache. */
static const char *linear_attention(struct decoder_graph *g, int64_t layer, const char *x)
{
    const struct oc_decoder *d = g->d;
    int64_t keys = d->key_heads * d->key_head, values = d->value_heads * d->value_head;
    const char *qkv = linear(g, "in_proj_qkv", x, d->width, 2 * keys + values, false), *qk_v[2], *q_k[2];
    const char *z = silu(g, linear(g, "in_proj_z", x, d->width, values, false));
    const char *beta = OP(g, "Sigmoid", linear(g, "in_proj_b", x, d->width, d->value_heads, false));
    split(g, short_convolution(g, layer, qkv, 2 * keys + values), 2 * keys, values, qk_v);
    split(g, qk_v[0], keys, keys, q_k);
    const char *q = unit_heads(g, q_k[0], d->key_heads, d->key_head),
               *k = unit_heads(g, q_k[1], d->key_heads, d->key_head), *decays = decay(g, x);
    oc_gw_attr_i(&g->w, "q_num_heads", d->key_heads);
    oc_gw_attr_i(&g->w, "kv_num_heads", d->value_heads);
    oc_gw_attr_s(&g->w, "update_rule", "gated_delta");
    const char *y =
        oc_gw_node(&g->w, "com.microsoft", "LinearAttention",
                   IN(q, k, qk_v[1], cache_name(g, "past_recurrent", layer, "state"), decays, beta),
                   IN(TEXT(g, "%s.output", g->w.scope), cache_name(g, "present_recurrent", layer, "state")));
    y = norm(g, "norm", RESHAPE(g, y, 0, 0, d->value_heads, d->value_head), d->value_head);
    y = OP(g, "Mul", RESHAPE(g, y, 0, 0, values), z);
    return linear(g, "out_proj", y, values, d->width, false);
}

/* Of encoders: every token sees every other one that is not padding. */
static const char *full_attention(struct decoder_graph *g, const char *x)
{
    const struct oc_decoder *d = g->d;
    const char *q = linear(g, "q_proj", x, d->width, d->width, true);
    const char *k = linear(g, "k_proj", x, d->width, d->width, true);
    const char *v = linear(g, "v_proj", x, d->width, d->width, true);
    oc_gw_attr_i(&g->w, "num_heads", d->heads);
    x = CONTRIB_OP(g, "MultiHeadAttention", q, k, v, "", g->mask);
    return linear(g, "o_proj", x, d->width, d->width, true);
}

static const char *attention(struct decoder_graph *g, int64_t layer, const char *x)
{
    bool state = g->d->linear && g->d->linear[layer];
    struct oc_gw_place p = oc_gw_enter(&g->w, state ? "linear_attn" : "self_attn");
    x = state                          ? linear_attention(g, layer, x)
        : g->d->traits & OC_DEC_LATENT ? latent_attention(g, layer, x)
                                       : grouped_attention(g, layer, x);
    oc_gw_leave(&g->w, p);
    return x;
}

/* ---- MLP -------------------------------------------------------------------------------------------- */

static const char *activation(struct decoder_graph *g, const char *x, bool gated)
{
    struct oc_gw_place p = oc_gw_enter(&g->w, "act_fn");
    if (gated && !g->d->gelu)
        x = OP(g, "Mul", x, OP(g, "Sigmoid", x));
    else
        x = OP(g, !gated && g->d->relu ? "Relu" : "Gelu", x);
    oc_gw_leave(&g->w, p);
    return x;
}

static const char *gated_mlp(struct decoder_graph *g, const char *module, const char *x, int64_t inner)
{
    const struct oc_decoder *d = g->d;
    bool bias = d->traits & OC_DEC_MLP_BIAS;
    struct oc_gw_place p = oc_gw_enter(&g->w, module);
    if (d->traits & OC_DEC_PLAIN_MLP) {
        x = activation(g, linear(g, "fc1", x, d->width, inner, bias), false);
        x = linear(g, "fc2", x, inner, d->width, bias);
    } else {
        const char *gate = activation(g, linear(g, "gate_proj", x, d->width, inner, bias), true);
        x = OP(g, "Mul", gate, linear(g, "up_proj", x, d->width, inner, bias));
        x = linear(g, "down_proj", x, inner, d->width, bias);
    }
    oc_gw_leave(&g->w, p);
    return x;
}

/* A layer of all experts, [rows, columns] each: weights, scales if they are packed, and bias. */
static void expert_layer(struct decoder_graph *g, const char *module, int64_t rows, int64_t columns,
                         const char **in)
{
    const struct oc_decoder *d = g->d;
    int64_t e = d->experts, block = d->block ? d->block : columns, blocks = oc_ceil_div(columns, block);
    bool bias = d->traits & OC_DEC_EXPERT_BIAS;
    struct oc_gw_place p = oc_gw_enter(&g->w, module);
    if (d->bits) {
        *in++ = oc_dec_weight(g, "weight", UINT8, 3,
                              (const int64_t[]){e, rows, blocks * oc_ceil_div(block * d->bits, 8)});
        *in++ = oc_dec_weight(g, "scales", (unsigned)d->scale_dtype, 3, (const int64_t[]){e, rows, blocks});
    } else {
        *in++ = EXPERT(g, "weight", e, rows, columns);
    }
    *in = bias ? WEIGHT(g, "bias", e, rows) : "";
    oc_gw_leave(&g->w, p);
}

static const char *expert_layers(struct decoder_graph *g, const char *x)
{
    const struct oc_decoder *d = g->d;
    int64_t e = d->experts, inner = d->expert_mlp;
    size_t step = d->bits ? 3 : 2;
    const char *score = oc_dec_product(g, "gate", x, d->width, e, d->traits & OC_DEC_ROUTER_BIAS, false);
    if (d->traits & OC_DEC_CORRECTION)
        score = OP(g, "Add", score, WEIGHT(g, "gate.e_score_correction_bias", e));
    score = RESHAPE(g, score, -1, e);
    struct oc_gw_place p = oc_gw_enter(&g->w, "experts");
    const char *in[2 + 3 * 3 + 1] = {x, score};
    expert_layer(g, "gate_proj", inner, d->width, in + 2);
    expert_layer(g, "down_proj", d->width, inner, in + 2 + step);
    expert_layer(g, "up_proj", inner, d->width, in + 2 + 2 * step);
    if (!*in[1 + 3 * step]) /* the last bias */
        in[1 + 3 * step] = NULL;
    oc_gw_attr_i(&g->w, "k", d->active);
    oc_gw_attr_i(&g->w, "normalize_routing_weights", 1);
    oc_gw_attr_s(&g->w, "activation_type", "silu");
    if (d->bits) {
        oc_gw_attr_i(&g->w, "expert_weight_bits", d->bits);
        oc_gw_attr_i(&g->w, "block_size", d->block ? d->block : d->width);
    }
    const char *y = oc_gw_node(&g->w, "com.microsoft", d->bits ? "QMoE" : "MoE", in, NULL);
    oc_gw_leave(&g->w, p);
    return y;
}

static const char *shared_expert(struct decoder_graph *g, const char *x)
{
    const char *y = gated_mlp(g, "shared_experts", x, g->d->shared_mlp);
    if (g->d->traits & OC_DEC_SHARED_GATE)
        y = OP(g, "Mul", y,
               OP(g, "Sigmoid", oc_dec_product(g, "shared_expert_gate", x, g->d->width, 1, false, false)));
    return y;
}

static const char *feed_forward(struct decoder_graph *g, int64_t layer, const char *x)
{
    const struct oc_decoder *d = g->d;
    bool experts = d->experts && layer >= d->dense && (layer + 1) % d->expert_step == 0;
    if (!experts)
        return gated_mlp(g, "mlp", x, d->mlp);
    struct oc_gw_place p = oc_gw_enter(&g->w, "mlp");
    const char *y = expert_layers(g, x);
    if (d->shared_mlp)
        y = OP(g, "Add", y, shared_expert(g, x));
    oc_gw_leave(&g->w, p);
    return y;
}

/* ---- layers ----------------------------------------------------------------------------------------- */

static const char *parallel_layer(struct decoder_graph *g, int64_t i, const char *x)
{
    const char *a = norm(g, "input_layernorm", x, g->d->width), *b = a;
    if (g->d->traits & OC_DEC_TWO_NORMS)
        b = norm(g, "post_attention_layernorm", x, g->d->width);
    const char *sum = OP(g, "Add", attention(g, i, a), feed_forward(g, i, b));
    return OP(g, "Add", sum, x);
}

/* Norms after the sums. */
static const char *encoder_layer(struct decoder_graph *g, int64_t i, const char *x)
{
    struct oc_gw_place p = oc_gw_enter(&g->w, "self_attn");
    const char *y = full_attention(g, x);
    oc_gw_leave(&g->w, p);
    x = norm(g, "post_attention_layernorm", OP(g, "Add", y, x), g->d->width);
    y = feed_forward(g, i, x);
    return norm(g, "post_feedforward_layernorm", OP(g, "Add", y, x), g->d->width);
}

static const char *layer(struct decoder_graph *g, int64_t i, const char *x)
{
    if (g->d->traits & OC_DEC_ENCODER)
        return encoder_layer(g, i, x);
    int64_t width = g->d->width;
    bool pre = !(g->d->traits & OC_DEC_NO_PRE_NORM), post = g->d->traits & OC_DEC_POST_NORM;
    const char *y = attention(g, i, pre ? norm(g, "input_layernorm", x, width) : x);
    if (post)
        y = norm(g, "post_attention_layernorm", y, width);
    x = OP(g, "Add", x, y);
    const char *before = post ? "pre_feedforward_layernorm" : "post_attention_layernorm";
    y = feed_forward(g, i, pre ? norm(g, before, x, width) : x);
    if (post)
        y = norm(g, "post_feedforward_layernorm", y, width);
    return OP(g, "Add", x, y);
}

/* Inputs of attention from the mask: for latent attention a number for each key, else the number of
 * keys of each sequence minus one, and of the longest sequence. */
static void read_mask(struct decoder_graph *g)
{
    struct oc_gw_place p = oc_gw_enter(&g->w, "attention_mask");
    if (g->d->traits & OC_DEC_ENCODER) {
        g->mask = oc_gw_cast(&g->w, "attention_mask", INT32);
        oc_gw_leave(&g->w, p);
        return;
    }
    if (g->d->traits & OC_DEC_LATENT) {
        oc_gw_attr_ints(&g->w, "value_ints", (const int64_t[]){1, 2}, 2);
        const char *axes = oc_gw_node(&g->w, "", "Constant", NOTHING, NULL);
        g->mask = OP(g, "Unsqueeze", oc_gw_cast(&g->w, "attention_mask", g->d->dtype), axes);
        oc_gw_leave(&g->w, p);
        return;
    }
    oc_gw_attr_i(&g->w, "keepdims", 0);
    const char *sum = OP(g, "ReduceSum", "attention_mask", oc_gw_constant(&g->w, 1));
    g->seqlens = oc_gw_cast(&g->w, OP(g, "Sub", sum, oc_gw_constant(&g->w, 1)), INT32);
    oc_gw_attr_i(&g->w, "start", 1);
    oc_gw_attr_i(&g->w, "end", 2);
    g->total = oc_gw_cast(&g->w, OP(g, "Shape", "attention_mask"), INT32);
    oc_gw_leave(&g->w, p);
}

/* Types of tokens and the norm of the sum. */
static const char *segments(struct decoder_graph *g, const char *x)
{
    if (g->d->segments) {
        struct oc_gw_place p = oc_gw_enter(&g->w, "token_type_embeddings");
        const char *y = OP(g, "Gather", WEIGHT(g, "weight", g->d->segments, g->d->width), "token_type_ids");
        x = OP(g, "Add", x, y);
        oc_gw_leave(&g->w, p);
    }
    return norm(g, "embed_layernorm", x, g->d->width);
}

static const char *embeddings(struct decoder_graph *g, struct oc_dec_packed *table)
{
    const struct oc_decoder *d = g->d;
    struct oc_dec_packed positions;
    struct oc_gw_place p = oc_gw_enter(&g->w, "embed_tokens");
    const char *x = oc_dec_rows(g, d->vocabulary, "input_ids", table);
    if (g->stored)
        x = oc_gw_cast(&g->w, x, d->dtype); /* from the type of the file */
    if (d->traits & OC_DEC_SCALED) {
        oc_gw_attr_f(&g->w, "value_float", __builtin_sqrtf((float)d->width));
        x = OP(g, "Mul", x, oc_gw_cast(&g->w, oc_gw_node(&g->w, "", "Constant", NOTHING, NULL), d->dtype));
    }
    oc_gw_leave(&g->w, p);
    if (!(d->traits & OC_DEC_LEARNED))
        return x;
    p = oc_gw_enter(&g->w, "embed_positions");
    x = OP(g, "Add", x, oc_dec_rows(g, d->positions, "position_ids", &positions));
    oc_gw_leave(&g->w, p);
    return d->traits & OC_DEC_ENCODER ? segments(g, x) : x;
}

static void encoder_outputs(struct decoder_graph *g, const char *x)
{
    int64_t width = g->d->width;
    oc_gw_node(&g->w, "", "Identity", IN(x), IN("last_hidden_state"));
    if (!(g->d->traits & OC_DEC_POOLER))
        return;
    const char *first = oc_gw_constant(&g->w, 0);
    oc_gw_attr_i(&g->w, "axis", 1);
    x = linear(g, "pooler", RESHAPE(g, OP(g, "Gather", x, first), -1, width), width, width, true);
    oc_gw_node(&g->w, "", "Tanh", IN(x), IN("pooler_output"));
}

static void last_layer(struct decoder_graph *g, const char *x, const struct oc_dec_packed *table)
{
    const struct oc_decoder *d = g->d;
    if (d->traits & OC_DEC_TIED) {
        struct oc_gw_place p = oc_gw_enter(&g->w, "lm_head");
        if (table->as.bits) {
            x = oc_dec_packed_product(g, x, table, d->width, d->vocabulary);
        } else {
            oc_gw_attr_i(&g->w, "transB", 1);
            x = CONTRIB_OP(g, "FusedMatMul", x, table->weight);
        }
        oc_gw_leave(&g->w, p);
    } else {
        x = oc_dec_product(g, "lm_head", x, d->width, d->vocabulary, d->traits & OC_DEC_HEAD_BIAS, false);
    }
    oc_gw_node(&g->w, "", "Identity", IN(x), IN("logits"));
}

static void all_layers(struct decoder_graph *g)
{
    struct oc_dec_packed table;
    struct oc_gw_place p = oc_gw_enter(&g->w, "model");
    const char *x = embeddings(g, &table);
    read_mask(g);
    for (int64_t i = 0; i < g->d->layers; i++) {
        struct oc_gw_place q = oc_gw_enter(&g->w, TEXT(g, "layers.%lld", (long long)i));
        x = g->d->traits & OC_DEC_PARALLEL ? parallel_layer(g, i, x) : layer(g, i, x);
        oc_gw_leave(&g->w, q);
    }
    if (g->d->traits & OC_DEC_ENCODER) {
        encoder_outputs(g, x);
        oc_gw_leave(&g->w, p);
        return;
    }
    x = norm(g, "norm", x, g->d->width);
    oc_gw_leave(&g->w, p);
    last_layer(g, x, &table);
}

/* ---- inputs and outputs ----------------------------------------------------------------------------- */

static void caches(struct decoder_graph *g, struct oc_messages *list, const char *prefix, const char *length)
{
    const struct oc_decoder *d = g->d;
    bool latent = d->traits & OC_DEC_LATENT;
    const char *heads = TEXT(g, "%lld", (long long)d->kv_heads);
    const char *size = TEXT(g, "%lld", (long long)(latent ? d->kv_rank + d->rope : d->head));
    const char *const *dim = latent ? IN("batch_size", length, size) : IN("batch_size", heads, length, size);
    for (int64_t i = 0; i < d->layers; i++)
        for (int part = 0; part < (latent ? 1 : 2) && !(d->linear && d->linear[i]); part++)
            oc_gw_value_info(&g->w, list,
                             cache_name(g, prefix, i,
                                        latent ? "latent"
                                        : part ? "value"
                                               : "key"),
                             d->cache_dtype ? d->cache_dtype : d->dtype, dim);
}

/* States of linear attention: of a fixed size. */
static void states(struct decoder_graph *g, struct oc_messages *list, const char *when)
{
    const struct oc_decoder *d = g->d;
    int64_t channels = 2 * d->key_heads * d->key_head + d->value_heads * d->value_head;
    const char *rows = TEXT(g, "%lld", (long long)channels),
               *kept = TEXT(g, "%lld", (long long)d->kernel - 1);
    const char *heads = TEXT(g, "%lld", (long long)d->value_heads),
               *k = TEXT(g, "%lld", (long long)d->key_head), *v = TEXT(g, "%lld", (long long)d->value_head);
    for (int64_t i = 0; d->linear && i < d->layers; i++) {
        if (!d->linear[i])
            continue;
        oc_gw_value_info(&g->w, list, cache_name(g, TEXT(g, "%s_conv", when), i, "state"), d->dtype,
                         IN("batch_size", rows, kept));
        oc_gw_value_info(&g->w, list, cache_name(g, TEXT(g, "%s_recurrent", when), i, "state"), FLOAT,
                         IN("batch_size", heads, k, v));
    }
}

static void encoder_inputs_and_outputs(struct decoder_graph *g)
{
    const struct oc_decoder *d = g->d;
    const char *width = TEXT(g, "%lld", (long long)d->width);
    static const char *const input[] = {"input_ids", "attention_mask", "position_ids", "token_type_ids"};
    for (size_t i = 0; i < OC_COUNT(input) - (d->segments ? 0 : 1); i++)
        oc_gw_value_info(&g->w, &g->w.input, input[i], INT64, IN("batch_size", "sequence_length"));
    oc_gw_value_info(&g->w, &g->w.output, "last_hidden_state", d->dtype,
                     IN("batch_size", "sequence_length", width));
    if (d->traits & OC_DEC_POOLER)
        oc_gw_value_info(&g->w, &g->w.output, "pooler_output", d->dtype, IN("batch_size", width));
}

static void inputs_and_outputs(struct decoder_graph *g)
{
    const struct oc_decoder *d = g->d;
    bool latent = d->traits & OC_DEC_LATENT;
    oc_gw_value_info(&g->w, &g->w.input, "input_ids", INT64, IN("batch_size", "sequence_length"));
    oc_gw_value_info(&g->w, &g->w.input, "attention_mask", INT64, IN("batch_size", "total_sequence_length"));
    if (latent || d->traits & OC_DEC_LEARNED)
        oc_gw_value_info(&g->w, &g->w.input, "position_ids", INT64, IN("batch_size", "sequence_length"));
    caches(g, &g->w.input, "past_key_values", "past_sequence_length");
    states(g, &g->w.input, "past");
    oc_gw_value_info(&g->w, &g->w.output, "logits", d->dtype,
                     IN("batch_size", "sequence_length", TEXT(g, "%lld", (long long)d->vocabulary)));
    caches(g, &g->w.output, "present", "total_sequence_length");
    states(g, &g->w.output, "present");
    if (d->traits & OC_DEC_LEARNED)
        return;
    int64_t half = (latent ? d->rope : d->rotary) / 2;
    WEIGHT(g, "cos_cache", d->positions, half);
    WEIGHT(g, "sin_cache", d->positions, half);
}

struct oc_stored_sum oc_decoder_build(const struct oc_decoder *d, const struct oc_stored_list *stored,
                                      struct oc_buf *out)
{
    struct decoder_graph g = {.d = d, .stored = stored};
    g.w.names.arena = &g.w.arena;
    if (d->traits & OC_DEC_ENCODER)
        encoder_inputs_and_outputs(&g);
    else
        inputs_and_outputs(&g);
    all_layers(&g);
    oc_gw_write(&g.w, "config.json", out);
    oc_gw_free(&g.w);
    return g.sum;
}
