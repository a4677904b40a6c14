/* Builds the ONNX graph of a decoder: one attention operator with a cache per layer, products, norms. Names
 * of modules and weights are those of transformers. */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "model/decoder.h"
#include "onnx_header.pb-c.h"

enum { FLOAT = 1, UINT8 = 2, INT32 = 6, INT64 = 7, EXTERNAL = 1, OPSET = 20 };
enum { ATTR_FLOAT = 1, ATTR_INT = 2, ATTR_STRING = 3, ATTR_INTS = 7 }; /* AttributeProto.AttributeType */

struct messages { /* packed, on the heap */
    ProtobufCBinaryData *item;
    size_t n, cap;
};

struct decoder_graph {
    const struct oc_decoder *d;
    struct oc_arena arena;
    struct messages node, weight, input, output;
    struct messages attribute;   /* of the next node */
    struct oc_map names;         /* of nodes, to make them unique */
    char scope[96];              /* module of the next nodes: "model.layers.0.mlp" */
    const char *seqlens, *total; /* inputs of GroupQueryAttention */
    const char *mask;            /* added to the scores of latent attention */
};

#define TEXT(g, ...) oc_printf(&(g)->arena, __VA_ARGS__)

/* ---- messages --------------------------------------------------------------------------------------- */

static ProtobufCBinaryData pack(struct decoder_graph *g, const ProtobufCMessage *m)
{
    size_t n = protobuf_c_message_get_packed_size(m);
    ProtobufCBinaryData out = {n, oc_alloc(&g->arena, n + 1)};
    protobuf_c_message_pack(m, out.data);
    return out;
}

static void append(struct decoder_graph *g, struct messages *list, const ProtobufCMessage *m)
{
    OC_GROW(list->item, list->n, list->cap);
    list->item[list->n++] = pack(g, m);
}

static void add_attribute(struct decoder_graph *g, const char *name, int type, Oc__Attribute *a)
{
    a->name = (char *)(uintptr_t)name;
    a->has_type = true;
    a->type = type;
    append(g, &g->attribute, &a->base);
}

static void attr_i(struct decoder_graph *g, const char *name, int64_t v)
{
    Oc__Attribute a;
    oc__attribute__init(&a);
    a.has_i = true;
    a.i = v;
    add_attribute(g, name, ATTR_INT, &a);
}

static void attr_f(struct decoder_graph *g, const char *name, float v)
{
    Oc__Attribute a;
    oc__attribute__init(&a);
    a.has_f = true;
    a.f = v;
    add_attribute(g, name, ATTR_FLOAT, &a);
}

static void attr_s(struct decoder_graph *g, const char *name, const char *v)
{
    Oc__Attribute a;
    oc__attribute__init(&a);
    a.has_s = true;
    a.s = (ProtobufCBinaryData){strlen(v), (uint8_t *)(uintptr_t)v};
    add_attribute(g, name, ATTR_STRING, &a);
}

static void attr_ints(struct decoder_graph *g, const char *name, const int64_t *v, size_t n)
{
    Oc__Attribute a;
    oc__attribute__init(&a);
    a.n_ints = n;
    a.ints = (int64_t *)(uintptr_t)v;
    add_attribute(g, name, ATTR_INTS, &a);
}

/* ---- nodes ------------------------------------------------------------------------------------------ */

struct place {
    size_t n;
};

static struct place enter(struct decoder_graph *g, const char *module)
{
    size_t n = strlen(g->scope);
    snprintf(g->scope + n, sizeof(g->scope) - n, "%s%s", n ? "." : "", module);
    return (struct place){n};
}

static void leave(struct decoder_graph *g, struct place p)
{
    g->scope[p.n] = '\0';
}

/* "/model/layers.0/mlp/Mul", with a number after it if the name is taken */
static const char *node_name(struct decoder_graph *g, const char *type)
{
    char path[sizeof(g->scope)];
    size_t n = strlen(g->scope);
    memcpy(path, g->scope, n + 1);
    for (size_t i = 0; i < n; i++)
        if (path[i] == '.' && (path[i + 1] < '0' || path[i + 1] > '9'))
            path[i] = '/';
    const char *base = TEXT(g, "%s%s/%s", n ? "/" : "", path, type), *name = base;
    for (uint32_t used = 1; !oc_map_add(&g->names, name, strlen(name), &used, NULL); used = 1) {
        uint32_t count = oc_map_get(&g->names, base, strlen(base));
        oc_map_set(&g->names, base, strlen(base), count + 1);
        name = TEXT(g, "%s_%u", base, count);
    }
    return name;
}

/* A node; `in` ends with NULL. output NULL: one output with a name of its own. */
static const char *node(struct decoder_graph *g, const char *domain, const char *type, const char *const *in,
                        const char *const *output)
{
    Oc__Node node;
    oc__node__init(&node);
    const char *name = node_name(g, type), *only[2] = {TEXT(g, "%s_output_0", name), NULL};
    output = output ? output : only;
    node.name = (char *)(uintptr_t)name;
    node.op_type = (char *)(uintptr_t)type;
    node.domain = (char *)(uintptr_t)domain;
    node.input = (char **)(uintptr_t)in;
    node.output = (char **)(uintptr_t)output;
    while (in[node.n_input])
        node.n_input++;
    while (output[node.n_output])
        node.n_output++;
    node.attribute = g->attribute.item;
    node.n_attribute = g->attribute.n;
    append(g, &g->node, &node.base);
    g->attribute.n = 0;
    return output[0];
}

#define IN(...)                  ((const char *const[]){__VA_ARGS__, NULL})
#define OP(g, type, ...)         node((g), "", (type), IN(__VA_ARGS__), NULL)
#define CONTRIB_OP(g, type, ...) node((g), "com.microsoft", (type), IN(__VA_ARGS__), NULL)

static const char *constant(struct decoder_graph *g, int64_t v)
{
    attr_ints(g, "value_ints", &v, 1);
    return node(g, "", "Constant", (const char *const[]){NULL}, NULL);
}

static const char *cast(struct decoder_graph *g, const char *x, int dtype)
{
    attr_i(g, "to", dtype);
    return OP(g, "Cast", x);
}

/* ---- weights ---------------------------------------------------------------------------------------- */

/* "<module>.<name>", or the name alone in no module */
static const char *weight_of(struct decoder_graph *g, const char *name, int dtype, size_t rank,
                             const int64_t *dim)
{
    char location[] = "location", file[] = "weights";
    Oc__Pair where;
    Oc__Pair *wheres = &where;
    Oc__Tensor t;
    oc__pair__init(&where);
    where.key = location;
    where.value = file;
    oc__tensor__init(&t);
    const char *full = TEXT(g, "%s%s%s", g->scope, *g->scope ? "." : "", name);
    t.name = (char *)(uintptr_t)full;
    t.n_dims = rank;
    t.dims = (int64_t *)(uintptr_t)dim;
    t.has_data_type = true;
    t.data_type = dtype;
    t.n_external_data = 1;
    t.external_data = &wheres;
    t.has_data_location = true;
    t.data_location = EXTERNAL;
    append(g, &g->weight, &t.base);
    return full;
}

#define WEIGHT(g, name, ...)                                                                                 \
    weight_of((g), (name), (g)->d->dtype, sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t),          \
              (const int64_t[]){__VA_ARGS__})

/* x times a matrix of `out` rows packed in blocks of `in` */
static const char *packed_product(struct decoder_graph *g, const char *x, int64_t in, int64_t out)
{
    const struct oc_decoder *d = g->d;
    int64_t blocks = (in + d->block - 1) / d->block;
    const char *w = weight_of(g, "qweight", UINT8, 3, (const int64_t[]){out, blocks, d->block * d->bits / 8});
    const char *scales = weight_of(g, "scales", d->dtype, 1, (const int64_t[]){out * blocks});
    attr_i(g, "K", in);
    attr_i(g, "N", out);
    attr_i(g, "bits", d->bits);
    attr_i(g, "block_size", d->block);
    return CONTRIB_OP(g, "MatMulNBits", x, w, scales);
}

static const char *linear(struct decoder_graph *g, const char *module, const char *x, int64_t in, int64_t out,
                          bool bias)
{
    struct place p = enter(g, module);
    x = g->d->bits ? packed_product(g, x, in, out) : OP(g, "MatMul", x, WEIGHT(g, "weight", in, out));
    if (bias)
        x = OP(g, "Add", x, WEIGHT(g, "bias", out));
    leave(g, p);
    return x;
}

static const char *norm(struct decoder_graph *g, const char *module, const char *x, int64_t width)
{
    unsigned traits = g->d->traits;
    struct place p = enter(g, module);
    attr_i(g, "axis", -1);
    attr_f(g, "epsilon", 1e-5F);
    if (traits & OC_DEC_LAYER_NORM)
        x = OP(g, "LayerNormalization", x, WEIGHT(g, "weight", width), WEIGHT(g, "bias", width));
    else
        x = OP(g, traits & OC_DEC_NORM_NO_BIAS ? "LayerNormalization" : "SimplifiedLayerNormalization", x,
               WEIGHT(g, "weight", width));
    leave(g, p);
    return x;
}

/* ---- attention -------------------------------------------------------------------------------------- */

static const char *cache_name(struct decoder_graph *g, const char *prefix, int64_t layer, const char *part)
{
    return TEXT(g, "%s.%lld.%s", prefix, (long long)layer, part);
}

/* A norm of the given width; its weight alone where the attention operator computes it. */
static const char *norm_weight(struct decoder_graph *g, const char *module)
{
    struct place p = enter(g, module);
    const char *w = WEIGHT(g, "weight", g->d->head);
    leave(g, p);
    return w;
}

static const char *grouped_attention(struct decoder_graph *g, int64_t layer, const char *x)
{
    const struct oc_decoder *d = g->d;
    int64_t q_width = d->heads * d->head, kv_width = d->kv_heads * d->head;
    bool bias = d->traits & OC_DEC_QKV_BIAS, rotary = !(d->traits & OC_DEC_LEARNED);
    const char *q = linear(g, "q_proj", x, d->width, q_width, bias);
    const char *k = linear(g, "k_proj", x, d->width, kv_width, bias);
    const char *v = linear(g, "v_proj", x, d->width, kv_width, bias);
    if (d->traits & OC_DEC_QK_NORM_WIDE) {
        q = norm(g, "q_norm", q, q_width);
        k = norm(g, "k_norm", k, kv_width);
    }
    bool head_norm = d->traits & OC_DEC_QK_NORM;
    const char *sinks = d->traits & OC_DEC_SINKS ? WEIGHT(g, "sinks", d->heads) : "";
    const char *q_norm = head_norm ? norm_weight(g, "q_norm") : "",
               *k_norm = head_norm ? norm_weight(g, "k_norm") : "";
    attr_i(g, "num_heads", d->heads);
    attr_i(g, "kv_num_heads", d->kv_heads);
    attr_i(g, "do_rotary", rotary);
    if (d->windowed[layer])
        attr_i(g, "local_window_size", d->window);
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
    const char *out[] = {TEXT(g, "%s.attention", g->scope), cache_name(g, "present", layer, "key"),
                         cache_name(g, "present", layer, "value"), NULL};
    x = node(g, "com.microsoft", "GroupQueryAttention", in, out);
    return linear(g, "o_proj", x, q_width, d->width, d->traits & OC_DEC_OUT_BIAS);
}

static const char *reshape(struct decoder_graph *g, const char *x, const int64_t *dim, size_t n)
{
    attr_ints(g, "value_ints", dim, n);
    const char *shape = node(g, "", "Constant", (const char *const[]){NULL}, NULL);
    return OP(g, "Reshape", x, shape);
}
#define RESHAPE(g, x, ...)                                                                                   \
    reshape((g), (x), (const int64_t[]){__VA_ARGS__},                                                        \
            sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

static const char *transpose(struct decoder_graph *g, const char *x, int64_t a, int64_t b, int64_t c,
                             int64_t d)
{
    attr_ints(g, "perm", (const int64_t[]){a, b, c, d}, 4);
    return OP(g, "Transpose", x);
}

/* The first `at` elements of the last axis and the rest. */
static void split(struct decoder_graph *g, const char *x, int64_t at, int64_t rest, const char *part[2])
{
    attr_ints(g, "value_ints", (const int64_t[]){at, rest}, 2);
    const char *sizes = node(g, "", "Constant", (const char *const[]){NULL}, NULL);
    part[0] = TEXT(g, "%s.first", x);
    part[1] = TEXT(g, "%s.rest", x);
    attr_i(g, "axis", -1);
    node(g, "", "Split", IN(x, sizes), (const char *const[]){part[0], part[1], NULL});
}

static const char *rotated(struct decoder_graph *g, const char *x)
{
    return CONTRIB_OP(g, "RotaryEmbedding", x, "position_ids", "cos_cache", "sin_cache");
}

static const char *join_last(struct decoder_graph *g, const char *a, const char *b, int64_t axis)
{
    attr_i(g, "axis", axis);
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
    struct place p = enter(g, "kv_b_proj");
    const char *latent = OP(g, "MatMul", part[0], WEIGHT(g, "key.weight", d->heads, d->nope, d->kv_rank));
    leave(g, p);
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
    attr_i(g, "axis", 1);
    const char *all = node(g, "", "Concat", IN(cache_name(g, "past_key_values", layer, "latent"), fresh),
                           IN(cache_name(g, "present", layer, "latent")));
    all = OP(g, "Unsqueeze", all, constant(g, 1)); /* one head of keys */
    const char *score = OP(g, "MatMul", q, transpose(g, all, 0, 1, 3, 2));
    attr_i(g, "axis", -1);
    score = OP(g, "Softmax", OP(g, "Add", score, g->mask));
    split(g, all, d->kv_rank, d->rope, part);
    const char *y = OP(g, "MatMul", score, part[0]);
    struct place p = enter(g, "kv_b_proj");
    y = OP(g, "MatMul", y, WEIGHT(g, "value.weight", d->heads, d->kv_rank, d->v_head));
    leave(g, p);
    y = RESHAPE(g, transpose(g, y, 0, 2, 1, 3), 0, 0, d->heads * d->v_head);
    return linear(g, "o_proj", y, d->heads * d->v_head, d->width, false);
}

static const char *attention(struct decoder_graph *g, int64_t layer, const char *x)
{
    struct place p = enter(g, "self_attn");
    x = g->d->traits & OC_DEC_LATENT ? latent_attention(g, layer, x) : grouped_attention(g, layer, x);
    leave(g, p);
    return x;
}

/* ---- MLP -------------------------------------------------------------------------------------------- */

static const char *activation(struct decoder_graph *g, const char *x, bool gated)
{
    struct place p = enter(g, "act_fn");
    if (gated && !g->d->gelu)
        x = OP(g, "Mul", x, OP(g, "Sigmoid", x));
    else
        x = OP(g, !gated && g->d->relu ? "Relu" : "Gelu", x);
    leave(g, p);
    return x;
}

static const char *gated_mlp(struct decoder_graph *g, const char *module, const char *x, int64_t inner)
{
    const struct oc_decoder *d = g->d;
    bool bias = d->traits & OC_DEC_MLP_BIAS;
    struct place p = enter(g, module);
    if (d->traits & OC_DEC_PLAIN_MLP) {
        x = activation(g, linear(g, "fc1", x, d->width, inner, bias), false);
        x = linear(g, "fc2", x, inner, d->width, bias);
    } else {
        const char *gate = activation(g, linear(g, "gate_proj", x, d->width, inner, bias), true);
        x = OP(g, "Mul", gate, linear(g, "up_proj", x, d->width, inner, bias));
        x = linear(g, "down_proj", x, inner, d->width, bias);
    }
    leave(g, p);
    return x;
}

static const char *expert_layers(struct decoder_graph *g, const char *x)
{
    const struct oc_decoder *d = g->d;
    bool bias = d->traits & OC_DEC_EXPERT_BIAS;
    int64_t e = d->experts, inner = d->expert_mlp;
    const char *score = linear(g, "gate", x, d->width, e, d->traits & OC_DEC_ROUTER_BIAS);
    if (d->traits & OC_DEC_CORRECTION)
        score = OP(g, "Add", score, WEIGHT(g, "gate.e_score_correction_bias", e));
    score = RESHAPE(g, score, -1, e);
    struct place p = enter(g, "experts");
    const char *in[] = {x,
                        score,
                        WEIGHT(g, "gate_proj.weight", e, inner, d->width),
                        bias ? WEIGHT(g, "gate_proj.bias", e, inner) : "",
                        WEIGHT(g, "down_proj.weight", e, d->width, inner),
                        bias ? WEIGHT(g, "down_proj.bias", e, d->width) : "",
                        WEIGHT(g, "up_proj.weight", e, inner, d->width),
                        bias ? WEIGHT(g, "up_proj.bias", e, inner) : NULL,
                        NULL};
    attr_i(g, "k", d->active);
    attr_i(g, "normalize_routing_weights", 1);
    attr_s(g, "activation_type", "silu");
    const char *y = node(g, "com.microsoft", "MoE", in, NULL);
    leave(g, p);
    return y;
}

static const char *shared_expert(struct decoder_graph *g, const char *x)
{
    const char *y = gated_mlp(g, "shared_experts", x, g->d->shared_mlp);
    if (g->d->traits & OC_DEC_SHARED_GATE)
        y = OP(g, "Mul", y, OP(g, "Sigmoid", linear(g, "shared_expert_gate", x, g->d->width, 1, false)));
    return y;
}

static const char *feed_forward(struct decoder_graph *g, int64_t layer, const char *x)
{
    const struct oc_decoder *d = g->d;
    bool experts = d->experts && layer >= d->dense && (layer + 1) % d->expert_step == 0;
    if (!experts)
        return gated_mlp(g, "mlp", x, d->mlp);
    struct place p = enter(g, "mlp");
    const char *y = expert_layers(g, x);
    if (d->shared_mlp)
        y = OP(g, "Add", y, shared_expert(g, x));
    leave(g, p);
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

static const char *layer(struct decoder_graph *g, int64_t i, const char *x)
{
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
    struct place p = enter(g, "attention_mask");
    if (g->d->traits & OC_DEC_LATENT) {
        attr_ints(g, "value_ints", (const int64_t[]){1, 2}, 2);
        const char *axes = node(g, "", "Constant", (const char *const[]){NULL}, NULL);
        g->mask = OP(g, "Unsqueeze", cast(g, "attention_mask", g->d->dtype), axes);
        leave(g, p);
        return;
    }
    attr_i(g, "keepdims", 0);
    const char *sum = OP(g, "ReduceSum", "attention_mask", constant(g, 1));
    g->seqlens = cast(g, OP(g, "Sub", sum, constant(g, 1)), INT32);
    attr_i(g, "start", 1);
    attr_i(g, "end", 2);
    g->total = cast(g, OP(g, "Shape", "attention_mask"), INT32);
    leave(g, p);
}

static const char *embeddings(struct decoder_graph *g, const char **table)
{
    const struct oc_decoder *d = g->d;
    struct place p = enter(g, "embed_tokens");
    *table = WEIGHT(g, "weight", d->vocabulary, d->width);
    const char *x = OP(g, "Gather", *table, "input_ids");
    if (d->traits & OC_DEC_SCALED) {
        attr_f(g, "value_float", __builtin_sqrtf((float)d->width));
        x = OP(g, "Mul", x, cast(g, node(g, "", "Constant", (const char *const[]){NULL}, NULL), d->dtype));
    }
    leave(g, p);
    if (!(d->traits & OC_DEC_LEARNED))
        return x;
    p = enter(g, "embed_positions");
    const char *at = OP(g, "Gather", WEIGHT(g, "weight", d->positions, d->width), "position_ids");
    x = OP(g, "Add", x, at);
    leave(g, p);
    return x;
}

static void last_layer(struct decoder_graph *g, const char *x, const char *table)
{
    const struct oc_decoder *d = g->d;
    if (d->traits & OC_DEC_TIED) {
        struct place p = enter(g, "lm_head");
        attr_i(g, "transB", 1);
        x = CONTRIB_OP(g, "FusedMatMul", x, table);
        leave(g, p);
    } else {
        struct oc_decoder plain = *d; /* the last layer is not packed */
        plain.bits = 0;
        g->d = &plain;
        x = linear(g, "lm_head", x, d->width, d->vocabulary, d->traits & OC_DEC_HEAD_BIAS);
        g->d = d;
    }
    node(g, "", "Identity", IN(x), IN("logits"));
}

static void all_layers(struct decoder_graph *g)
{
    const char *table;
    struct place p = enter(g, "model");
    const char *x = embeddings(g, &table);
    read_mask(g);
    for (int64_t i = 0; i < g->d->layers; i++) {
        struct place q = enter(g, TEXT(g, "layers.%lld", (long long)i));
        x = g->d->traits & OC_DEC_PARALLEL ? parallel_layer(g, i, x) : layer(g, i, x);
        leave(g, q);
    }
    x = norm(g, "norm", x, g->d->width);
    leave(g, p);
    last_layer(g, x, table);
}

/* ---- inputs and outputs ----------------------------------------------------------------------------- */

/* dim: symbols, or numbers */
static void value_info(struct decoder_graph *g, struct messages *list, const char *name, int dtype,
                       const char *const *dim)
{
    enum { MOST = 4 };
    Oc__ValueInfo v;
    Oc__Type type;
    Oc__Type__Tensor tensor;
    Oc__Shape shape;
    Oc__Shape__Dimension item[MOST], *items[MOST];
    oc__value_info__init(&v);
    oc__type__init(&type);
    oc__type__tensor__init(&tensor);
    oc__shape__init(&shape);
    for (; dim[shape.n_dim]; shape.n_dim++) {
        Oc__Shape__Dimension *d = items[shape.n_dim] = &item[shape.n_dim];
        const char *text = dim[shape.n_dim];
        oc__shape__dimension__init(d);
        bool number = text[0] >= '0' && text[0] <= '9';
        d->value_case =
            number ? OC__SHAPE__DIMENSION__VALUE_DIM_VALUE : OC__SHAPE__DIMENSION__VALUE_DIM_PARAM;
        if (number)
            d->dim_value = strtoll(text, NULL, 10);
        else
            d->dim_param = (char *)(uintptr_t)text;
    }
    shape.dim = items;
    tensor.has_elem_type = true;
    tensor.elem_type = dtype;
    tensor.shape = &shape;
    type.value_case = OC__TYPE__VALUE_TENSOR_TYPE;
    type.tensor_type = &tensor;
    v.name = (char *)(uintptr_t)name;
    v.type = &type;
    append(g, list, &v.base);
}

static void caches(struct decoder_graph *g, struct messages *list, const char *prefix, const char *length)
{
    const struct oc_decoder *d = g->d;
    bool latent = d->traits & OC_DEC_LATENT;
    const char *heads = TEXT(g, "%lld", (long long)d->kv_heads);
    const char *size = TEXT(g, "%lld", (long long)(latent ? d->kv_rank + d->rope : d->head));
    const char *const *dim = latent ? IN("batch_size", length, size) : IN("batch_size", heads, length, size);
    for (int64_t i = 0; i < d->layers; i++)
        for (int part = 0; part < (latent ? 1 : 2); part++)
            value_info(g, list,
                       cache_name(g, prefix, i,
                                  latent ? "latent"
                                  : part ? "value"
                                         : "key"),
                       d->dtype, dim);
}

static void inputs_and_outputs(struct decoder_graph *g)
{
    const struct oc_decoder *d = g->d;
    bool latent = d->traits & OC_DEC_LATENT;
    value_info(g, &g->input, "input_ids", INT64, IN("batch_size", "sequence_length"));
    value_info(g, &g->input, "attention_mask", INT64, IN("batch_size", "total_sequence_length"));
    if (latent || d->traits & OC_DEC_LEARNED)
        value_info(g, &g->input, "position_ids", INT64, IN("batch_size", "sequence_length"));
    caches(g, &g->input, "past_key_values", "past_sequence_length");
    value_info(g, &g->output, "logits", d->dtype,
               IN("batch_size", "sequence_length", TEXT(g, "%lld", (long long)d->vocabulary)));
    caches(g, &g->output, "present", "total_sequence_length");
    if (d->traits & OC_DEC_LEARNED)
        return;
    int64_t half = (latent ? d->rope : d->rotary) / 2;
    WEIGHT(g, "cos_cache", d->positions, half);
    WEIGHT(g, "sin_cache", d->positions, half);
}

/* ---- whole model ------------------------------------------------------------------------------------ */

static void write_model(struct decoder_graph *g, struct oc_buf *out)
{
    char onnx[] = "", contrib[] = "com.microsoft", producer[] = "config.json";
    Oc__Opset set[2], *sets[2] = {&set[0], &set[1]};
    Oc__Graph graph;
    Oc__Model model;
    for (int i = 0; i < 2; i++) {
        oc__opset__init(&set[i]);
        set[i].domain = i ? contrib : onnx;
        set[i].has_version = true;
        set[i].version = i ? 1 : OPSET;
    }
    oc__graph__init(&graph);
    graph.node = g->node.item;
    graph.n_node = g->node.n;
    graph.initializer = g->weight.item;
    graph.n_initializer = g->weight.n;
    graph.input = g->input.item;
    graph.n_input = g->input.n;
    graph.output = g->output.item;
    graph.n_output = g->output.n;
    oc__model__init(&model);
    model.has_ir_version = true;
    model.ir_version = 9;
    model.producer_name = producer;
    model.has_graph = true;
    model.graph = pack(g, &graph.base);
    model.n_opset_import = 2;
    model.opset_import = sets;
    ProtobufCBinaryData all = pack(g, &model.base);
    oc_buf_add(out, all.data, all.len);
}

void oc_decoder_build(const struct oc_decoder *d, struct oc_buf *out)
{
    struct decoder_graph g = {.d = d};
    g.names.arena = &g.arena;
    inputs_and_outputs(&g);
    all_layers(&g);
    write_model(&g, out);
    struct messages *list[] = {&g.node, &g.weight, &g.input, &g.output, &g.attribute};
    for (size_t i = 0; i < OC_COUNT(list); i++)
        free(list[i]->item);
    oc_map_free(&g.names);
    oc_arena_free(&g.arena);
}
