/* Builds the ONNX graph of a decoder: embeddings, layers of a mixer of tokens and an MLP or experts, norms, the
 * last layer. Names of modules and weights are those of transformers. */
#include <stdlib.h>
#include <string.h>

#include "base/ck.h"
#include "model/decoder_graph.h"

const char *oc_dec_norm_of(struct decoder_graph *g, int64_t kind, const char *module, const char *x,
                           int64_t width)
{
    struct oc_gw_place p = oc_gw_enter(&g->w, module);
    if (kind == OC_W_no_weights) {
        oc_gw_attr_ints(&g->w, "axes", (const int64_t[]){-1}, 1);
        x = OP(g, "MeanVarianceNormalization", x);
        oc_gw_leave(&g->w, p);
        return x;
    }
    oc_gw_attr_i(&g->w, "axis", -1);
    oc_gw_attr_f(&g->w, "epsilon", 1e-5F);
    x = OP(g, kind == OC_W_rms ? "SimplifiedLayerNormalization" : "LayerNormalization", x,
           WEIGHT(g, "weight", width), kind == OC_W_layer ? WEIGHT(g, "bias", width) : NULL);
    oc_gw_leave(&g->w, p);
    return x;
}

const char *oc_dec_gate(struct decoder_graph *g, const char *x, const char *gate)
{
    return OP(g, "Mul", x, OP(g, "Sigmoid", gate));
}

const char *oc_dec_reshape(struct decoder_graph *g, const char *x, const int64_t *dim, size_t n)
{
    oc_gw_attr_ints(&g->w, "value_ints", dim, n);
    const char *shape = oc_gw_node(&g->w, "", "Constant", NOTHING, NULL);
    return OP(g, "Reshape", x, shape);
}

void oc_dec_split(struct decoder_graph *g, const char *x, int64_t at, int64_t rest, const char *part[2])
{
    oc_gw_attr_ints(&g->w, "value_ints", (const int64_t[]){at, rest}, 2);
    const char *sizes = oc_gw_node(&g->w, "", "Constant", NOTHING, NULL);
    part[0] = TEXT(g, "%s.first", x);
    part[1] = TEXT(g, "%s.rest", x);
    oc_gw_attr_i(&g->w, "axis", -1);
    oc_gw_node(&g->w, "", "Split", IN(x, sizes), (const char *const[]){part[0], part[1], NULL});
}

/* Of encoders: every token sees every other one that is not padding. */
static const char *full_attention(struct decoder_graph *g, const char *x)
{
    const struct oc_decoder *d = g->d;
    struct oc_gw_place p = oc_gw_enter(&g->w, "self_attn");
    const char *q = linear(g, "q_proj", x, d->width, d->width, true);
    const char *k = linear(g, "k_proj", x, d->width, d->width, true);
    const char *v = linear(g, "v_proj", x, d->width, d->width, true);
    oc_gw_attr_i(&g->w, "num_heads", d->layer[0].heads);
    x = CONTRIB_OP(g, "MultiHeadAttention", q, k, v, "", g->mask);
    x = linear(g, "o_proj", x, d->width, d->width, true);
    oc_gw_leave(&g->w, p);
    return x;
}

/* ---- MLP -------------------------------------------------------------------------------------------- */

static const char *activation(struct decoder_graph *g, const char *x, bool gated)
{
    struct oc_gw_place p = oc_gw_enter(&g->w, "act_fn");
    if (gated && FIELD(g, act, 0) != OC_W_gelu)
        x = oc_dec_gate(g, x, x);
    else
        x = OP(g, !gated && FIELD(g, act, 0) == OC_W_relu ? "Relu" : "Gelu", x);
    oc_gw_leave(&g->w, p);
    return x;
}

static const char *gated_mlp(struct decoder_graph *g, const char *module, const char *x, int64_t inner)
{
    const struct oc_decoder *d = g->d;
    bool bias = IS(g, mlp_bias);
    struct oc_gw_place p = oc_gw_enter(&g->w, module);
    if (IS(g, plain_mlp)) {
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

/* Matrices of all experts: gate (or up), down, up. MoE, or QMoE if scales are tensors of their own. */
static const char *expert_node(struct decoder_graph *g, const char *x, const char *score, int64_t width)
{
    const struct oc_decoder *d = g->d;
    const int64_t inner = d->expert_mlp;
    const bool plain = IS(g, plain_mlp);
    const char *const module[] = {plain ? "up_proj" : "gate_proj", "down_proj", "up_proj"};
    const char *weight[3] = {"", "", ""}, *scale[3] = {"", "", ""}, *zeros[3] = {"", "", ""},
               *bias[3] = {"", "", ""};
    struct oc_packing as = {.kind = OC_PACK_NOT};
    for (int i = 0; i < (plain ? 2 : 3); i++) {
        struct oc_gw_place p = oc_gw_enter(&g->w, module[i]);
        struct oc_dec_packed w =
            oc_dec_matrix(g, d->experts, i == 1 ? width : inner, i == 1 ? inner : width, true);
        weight[i] = w.weight;
        scale[i] = w.scales;
        zeros[i] = w.zeros;
        as = i ? as : w.as;
        if (IS(g, expert_bias))
            bias[i] = WEIGHT(g, "bias", d->experts, i == 1 ? width : inner);
        oc_gw_leave(&g->w, p);
    }
    oc_gw_attr_i(&g->w, "k", d->active);
    oc_gw_attr_i(&g->w, "normalize_routing_weights", 1);
    oc_gw_attr_s(&g->w, "activation_type", !plain ? "silu" : FIELD(g, act, 0) == OC_W_relu ? "relu" : "gelu");
    if (!*scale[0] && !*scale[1] && !*scale[2])
        return CONTRIB_OP(g, "MoE", x, score, weight[0], bias[0], weight[1], bias[1], weight[2], bias[2]);
    oc_gw_attr_i(&g->w, "expert_weight_bits", as.kind == OC_PACK_BLOCKS ? as.bits : 8);
    oc_gw_attr_i(&g->w, "block_size", as.block ? as.block : d->width);
    return CONTRIB_OP(g, "QMoE", x, score, weight[0], scale[0], bias[0], weight[1], scale[1], bias[1],
                      weight[2], scale[2], bias[2], zeros[0], zeros[1], zeros[2]);
}

static const char *router(struct decoder_graph *g, const struct oc_dec_layer *l, const char *x)
{
    int64_t e = g->d->experts;
    const char *score;
    if (IS(g, layer_scale)) { /* Gemma 4: scales of the input and of each expert */
        x = OP(g, "Mul", x, WEIGHT(g, "router.scale", g->d->width));
        score = OP(g, "Mul", oc_dec_product(g, "gate", x, g->d->width, e, false, false),
                   WEIGHT(g, "router.per_expert_scale", e));
    } else {
        score = oc_dec_product(g, "gate", x, g->d->width, e, IS(g, router_bias), false);
    }
    if (l->correction)
        score = OP(g, "Add", score, WEIGHT(g, "gate.e_score_correction_bias", e));
    return RESHAPE(g, score, -1, e);
}

/* Experts may work in a narrower space than the model. */
static const char *expert_layers(struct decoder_graph *g, const struct oc_dec_layer *l, const char *x)
{
    const struct oc_decoder *d = g->d;
    const int64_t width = d->expert_width ? d->expert_width : d->width;
    const bool narrow = d->expert_width > 0;
    const char *score = router(g, l, x);
    if (narrow)
        x = linear(g, "fc1_latent_proj", x, d->width, width, false);
    if (narrow && IS(g, latent_norm))
        x = oc_dec_rms(g, "latent_norm", x, width);
    struct oc_gw_place p = oc_gw_enter(&g->w, "experts");
    x = expert_node(g, x, score, width);
    oc_gw_leave(&g->w, p);
    return narrow ? linear(g, "fc2_latent_proj", x, width, d->width, false) : x;
}

static const char *shared_expert(struct decoder_graph *g, const char *x)
{
    const char *y = gated_mlp(g, "shared_experts", x, g->d->shared_mlp);
    if (IS(g, shared_gate))
        y = oc_dec_gate(g, y, oc_dec_product(g, "shared_expert_gate", x, g->d->width, 1, false, false));
    return y;
}

static const char *feed_forward(struct decoder_graph *g, int64_t layer, const char *x)
{
    const struct oc_decoder *d = g->d;
    const struct oc_dec_layer *l = &d->layer[layer];
    bool both = IS(g, both_norms) && l->ffn == (OC_FFN_DENSE | OC_FFN_EXPERTS);
    const char *dense = NULL, *from = x;
    if (l->ffn & OC_FFN_PRODUCT)
        return linear(g, "mlp", x, d->width, d->width, false);
    if (l->ffn & OC_FFN_DENSE)
        dense = gated_mlp(g, "mlp", x, l->mlp);
    if (!(l->ffn & OC_FFN_EXPERTS))
        return dense;
    if (both) {
        dense = oc_dec_norm(g, "post_feedforward_layernorm_1", dense, d->width);
        from = oc_dec_norm(g, "pre_feedforward_layernorm_2", x, d->width);
    }
    struct oc_gw_place p = oc_gw_enter(&g->w, dense ? "moe" : "mlp");
    const char *y = expert_layers(g, l, from);
    if (d->shared_mlp)
        y = OP(g, "Add", y, shared_expert(g, x));
    oc_gw_leave(&g->w, p);
    if (both)
        y = oc_dec_norm(g, "post_feedforward_layernorm_2", y, d->width);
    return dense ? OP(g, "Add", dense, y) : y;
}

/* ---- layers ----------------------------------------------------------------------------------------- */

static const char *parallel_layer(struct decoder_graph *g, int64_t i, const char *x)
{
    const char *a = oc_dec_norm(g, "input_layernorm", x, g->d->width), *b = a;
    if (IS(g, two_norms))
        b = oc_dec_norm(g, "post_attention_layernorm", x, g->d->width);
    const char *sum = OP(g, "Add", oc_dec_mix(g, i, a), feed_forward(g, i, b));
    return OP(g, "Add", sum, x);
}

/* Norms after the sums. */
static const char *post_norm_layer(struct decoder_graph *g, int64_t i, const char *x)
{
    const char *y = IS(g, encoder) ? full_attention(g, x) : oc_dec_mix(g, i, x);
    x = oc_dec_norm(g, "post_attention_layernorm", OP(g, "Add", y, x), g->d->width);
    y = feed_forward(g, i, x);
    return oc_dec_norm(g, "post_feedforward_layernorm", OP(g, "Add", y, x), g->d->width);
}

/* A vector for each token and layer, gated by the layer's output (Gemma 3n). */
static const char *layer_input(struct decoder_graph *g, int64_t i, const char *x)
{
    int64_t n = FIELD(g, layer_input, 0), rows = FIELD(g, layer_words, g->d->vocabulary);
    if (n <= 0 || n > g->d->width || rows < 1)
        return x;
    struct oc_dec_packed table;
    struct oc_gw_place p = oc_gw_enter(&g->w, "embed_tokens_per_layer");
    const char *own = oc_dec_rows(g, rows, n, "input_ids", &table);
    oc_gw_leave(&g->w, p);
    own = OP(g, "Add", own, oc_dec_product(g, "per_layer_model_projection", x, g->d->width, n, false, false));
    if (i == 0)
        own = oc_dec_norm(g, "per_layer_projection_norm", own, n);
    const char *y = activation(g, linear(g, "per_layer_input_gate", x, g->d->width, n, false), true);
    y = linear(g, "per_layer_projection", OP(g, "Mul", y, own), n, g->d->width, false);
    return OP(g, "Add", x, oc_dec_norm(g, "post_per_layer_input_norm", y, g->d->width));
}

static const char *mix_of(struct decoder_graph *g, int64_t i, const char *x, bool pre)
{
    const char *y = oc_dec_mix(g, i, pre ? oc_dec_norm(g, "input_layernorm", x, g->d->width) : x);
    return IS(g, post_norm) ? oc_dec_norm(g, "post_attention_layernorm", y, g->d->width) : y;
}

static const char *ffn_of(struct decoder_graph *g, int64_t i, const char *x, bool pre)
{
    bool post = IS(g, post_norm);
    const char *before = post ? "pre_feedforward_layernorm" : "post_attention_layernorm";
    const char *y = feed_forward(g, i, pre ? oc_dec_norm(g, before, x, g->d->width) : x);
    return post ? oc_dec_norm(g, "post_feedforward_layernorm", y, g->d->width) : y;
}

/* Between the streams of the residual (DeepSeek-V4). */
static const char *stream_layer(struct decoder_graph *g, int64_t i, const char *streams)
{
    const char *mix[2], *x = oc_dec_from_streams(g, "hc_attn", streams, mix);
    streams = oc_dec_to_streams(g, streams, mix_of(g, i, x, true), mix);
    x = oc_dec_from_streams(g, "hc_ffn", streams, mix);
    return oc_dec_to_streams(g, streams, ffn_of(g, i, x, true), mix);
}

static const char *layer(struct decoder_graph *g, int64_t i, const char *x)
{
    const struct oc_dec_layer *l = &g->d->layer[i];
    bool pre = !IS(g, no_pre_norm);
    if (IS(g, encoder) || !FIELD(g, norm_first, 1))
        return post_norm_layer(g, i, x);
    if (IS(g, compressed))
        return stream_layer(g, i, x);
    if (IS(g, parallel) && l->mixers && l->ffn)
        return parallel_layer(g, i, x);
    if (l->mixers)
        x = OP(g, "Add", x, mix_of(g, i, x, pre));
    if (l->ffn)
        x = OP(g, "Add", x, ffn_of(g, i, x, pre));
    return layer_input(g, i, x);
}

/* Inputs of attention from the mask: the number of keys of each sequence minus one, and of the longest sequence. */
static void read_mask(struct decoder_graph *g)
{
    struct oc_gw_place p = oc_gw_enter(&g->w, "attention_mask");
    if (IS(g, encoder)) {
        g->mask = oc_gw_cast(&g->w, "attention_mask", INT32);
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
    return oc_dec_norm(g, "embed_layernorm", x, g->d->width);
}

static const char *embeddings(struct decoder_graph *g, struct oc_dec_packed *table)
{
    const struct oc_decoder *d = g->d;
    struct oc_dec_packed positions;
    struct oc_gw_place p = oc_gw_enter(&g->w, "embed_tokens");
    const char *x = oc_dec_rows(g, d->vocabulary, d->embedding, "input_ids", table);
    if (g->stored)
        x = oc_gw_cast(&g->w, x, d->dtype); /* from the type of the file */
    if (IS(g, scaled)) {
        oc_gw_attr_f(&g->w, "value_float", __builtin_sqrtf((float)d->width));
        x = OP(g, "Mul", x, oc_gw_cast(&g->w, oc_gw_node(&g->w, "", "Constant", NOTHING, NULL), d->dtype));
    }
    oc_gw_leave(&g->w, p);
    if (d->embedding != d->width)
        x = oc_dec_product(g, "project_in", x, d->embedding, d->width, false, false);
    if (IS(g, embed_norm))
        x = oc_dec_norm(g, "embed_layernorm", x, d->width);
    if (IS(g, compressed)) { /* a copy for each stream */
        oc_gw_attr_ints(&g->w, "value_ints", (const int64_t[]){1, 1, FIELD(g, streams, 1), 1}, 4);
        const char *copies = oc_gw_node(&g->w, "", "Constant", NOTHING, NULL);
        x = OP(g, "Expand", RESHAPE(g, x, 0, 0, 1, d->width), copies);
    }
    if (!IS(g, learned))
        return x;
    p = oc_gw_enter(&g->w, "embed_positions");
    x = OP(g, "Add", x, oc_dec_rows(g, d->positions, d->width, "position_ids", &positions));
    oc_gw_leave(&g->w, p);
    return IS(g, encoder) ? segments(g, x) : x;
}

static void encoder_outputs(struct decoder_graph *g, const char *x)
{
    int64_t width = g->d->width;
    oc_gw_node(&g->w, "", "Identity", IN(x), IN("last_hidden_state"));
    if (!IS(g, pooler))
        return;
    const char *first = oc_gw_constant(&g->w, 0);
    oc_gw_attr_i(&g->w, "axis", 1);
    x = linear(g, "pooler", RESHAPE(g, OP(g, "Gather", x, first), -1, width), width, width, true);
    oc_gw_node(&g->w, "", "Tanh", IN(x), IN("pooler_output"));
}

static void last_layer(struct decoder_graph *g, const char *x, const struct oc_dec_packed *table)
{
    const struct oc_decoder *d = g->d;
    if (d->embedding != d->width)
        x = oc_dec_product(g, "project_out", x, d->width, d->embedding, false, false);
    if (d->tied) {
        struct oc_gw_place p = oc_gw_enter(&g->w, "lm_head");
        if (table->as.kind == OC_PACK_BLOCKS) {
            x = oc_dec_packed_product(g, x, table, d->embedding, d->vocabulary);
        } else {
            oc_gw_attr_i(&g->w, "transB", 1);
            x = CONTRIB_OP(g, "FusedMatMul", x, table->weight);
        }
        oc_gw_leave(&g->w, p);
    } else {
        x = oc_dec_product(g, "lm_head", x, d->embedding, d->vocabulary, IS(g, head_bias), false);
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
        x = layer(g, i, x);
        oc_gw_leave(&g->w, q);
    }
    if (IS(g, encoder)) {
        encoder_outputs(g, x);
        oc_gw_leave(&g->w, p);
        return;
    }
    if (IS(g, compressed))
        x = oc_dec_head_of_streams(g, x);
    if (FIELD(g, norm_first, 1))
        x = oc_dec_norm(g, "norm", x, g->d->width);
    oc_gw_leave(&g->w, p);
    last_layer(g, x, &table);
}

/* ---- inputs and outputs ----------------------------------------------------------------------------- */

/* Encoders have no cache. */
static void inputs_and_outputs(struct decoder_graph *g)
{
    static const char *const input[] = {"input_ids", "attention_mask", "position_ids", "token_type_ids"};
    const struct oc_decoder *d = g->d;
    const char *width = TEXT(g, "%lld", (long long)d->width),
               *words = TEXT(g, "%lld", (long long)d->vocabulary);
    bool encoder = IS(g, encoder);
    for (size_t i = 0; i < (IS(g, learned) || encoder ? 3U : 2U) + (encoder && d->segments); i++)
        oc_gw_value_info(&g->w, &g->w.input, input[i], INT64,
                         IN("batch_size", i == 1 && !encoder ? "total_sequence_length" : "sequence_length"));
    oc_gw_value_info(&g->w, &g->w.output, encoder ? "last_hidden_state" : "logits", d->dtype,
                     IN("batch_size", "sequence_length", encoder ? width : words));
    if (encoder && IS(g, pooler))
        oc_gw_value_info(&g->w, &g->w.output, "pooler_output", d->dtype, IN("batch_size", width));
}

struct oc_stored_sum oc_decoder_build(const struct oc_decoder *d, const struct oc_stored_list *stored,
                                      struct oc_buf *out)
{
    struct decoder_graph g = {.d = d, .stored = stored};
    g.w.names.arena = &g.w.arena;
    inputs_and_outputs(&g);
    all_layers(&g);
    oc_gw_move(&g.w.input, &g.cache[0]);
    oc_gw_move(&g.w.input, &g.state[0]);
    oc_gw_move(&g.w.output, &g.cache[1]);
    oc_gw_move(&g.w.output, &g.state[1]);
    oc_gw_write(&g.w, "config.json", out);
    oc_gw_free(&g.w);
    return g.sum;
}
