/* Decoders of the Llama family with a key-value cache: Touvron et al. 2023 and, with fewer key heads than
 * query heads, Ainslie et al. 2023 (GQA). Names, shapes and the order of the nodes follow what optimum and
 * the model builder of onnxruntime-genai write. */
#include "zoo.h"

#include <string.h>

const struct zoo_llama_size zoo_llama_sizes[] = {
    {"1b", "TinyLlama 1.1B", 2048, 22, 32, 4, 64, 5632, 32000, 2048},
    {"7b", "Llama 2 7B", 4096, 32, 32, 32, 128, 11008, 32000, 4096},
    {"70b", "Llama 2 70B", 8192, 80, 64, 8, 128, 28672, 32000, 4096},
    {"toy", "two layers for tests", 64, 2, 4, 2, 16, 160, 256, 128},
};
const size_t zoo_llama_size_count = OC_COUNT(zoo_llama_sizes);

enum { BLOCK = 32 };

struct llama {
    struct zoo *z;
    const struct zoo_llama_size *s;
    int bits;
    bool genai;
    /* computed once for all layers */
    const char *cos, *sin, *mask;           /* optimum */
    const char *seqlens, *total, *residual; /* genai; residual: the sum before the last norm */
};

/* ---- pieces -------------------------------------------------------------------------------------------- */

static const char *weight_nbits(struct llama *l, const char *x, int in, int out)
{
    struct zoo *z = l->z;
    int blocks = in / BLOCK;
    const char *b =
        zoo_param(z, "MatMulNBits.qweight", zoo_text(z, "uint8[%d,%d,%d]", out, blocks, BLOCK * l->bits / 8),
                  ZOO_WEIGHT, in);
    const char *scales =
        zoo_param(z, "MatMulNBits.scales", zoo_text(z, "float16[%d]", out * blocks), ZOO_ONE, 0);
    return zoo_op(z, "com.microsoft::MatMulNBits", zoo_text(z, "%s,%s,%s", x, b, scales),
                  zoo_text(z, "K=%d N=%d accuracy_level=0 bits=%d block_size=%d", in, out, l->bits, BLOCK));
}

static const char *linear(struct llama *l, const char *module, const char *x, int in, int out)
{
    struct zoo *z = l->z;
    struct zoo_place p = zoo_enter(z, module);
    const char *type = zoo_text(z, "float16[%d,%d]", in, out);
    if (l->bits == 4)
        x = weight_nbits(l, x, in, out);
    else if (l->genai)
        x = zoo_op2(z, "MatMul", x, zoo_param(z, "MatMul.weight", type, ZOO_WEIGHT, in), "");
    else
        x = zoo_op2(z, "MatMul", x,
                    zoo_param_named(z, zoo_text(z, "onnx::MatMul_%u", z->next_id++), type, ZOO_WEIGHT, in),
                    "");
    zoo_leave(z, p);
    return x;
}

static const char *embedding(struct llama *l)
{
    struct zoo *z = l->z;
    struct zoo_place p = zoo_enter(z, "embed_tokens");
    const char *type = zoo_text(z, "float16[%d,%d]", l->s->vocabulary, l->s->width);
    const char *x = zoo_op2(z, "Gather", zoo_param(z, "weight", type, ZOO_SMALL, 0), "input_ids", "");
    zoo_leave(z, p);
    return x;
}

static const char *norm_weight(struct llama *l)
{
    return zoo_param(l->z, "weight", zoo_text(l->z, "float16[%d]", l->s->width), ZOO_ONE, 0);
}

static const char *kv_name(struct llama *l, const char *prefix, int layer, const char *part)
{
    return zoo_text(l->z, "%s.%d.%s", prefix, layer, part);
}

/* ---- optimum: primitives ------------------------------------------------------------------------------- */

/* x / sqrt(mean(x^2) + epsilon) in float, times the weight */
static const char *rms_norm(struct llama *l, const char *module, const char *x)
{
    struct zoo *z = l->z;
    struct zoo_place p = zoo_enter(z, module);
    x = zoo_op(z, "Cast", x, "to=1");
    const char *square = zoo_op2(z, "Pow", x, zoo_const(z, "float[]{2}"), "");
    const char *mean = zoo_op(z, "ReduceMean", square, "axes=[-1] keepdims=1");
    mean = zoo_op2(z, "Add", mean, zoo_const(z, "float[]{0.00001}"), "");
    const char *root = zoo_op(z, "Sqrt", mean, "");
    const char *scale = zoo_op2(z, "Div", zoo_const(z, "float[]{1}"), root, "");
    x = zoo_op(z, "Cast", zoo_op2(z, "Mul", x, scale, ""), "to=10");
    x = zoo_op2(z, "Mul", norm_weight(l), x, "");
    zoo_leave(z, p);
    return x;
}

/* Angles: position times 10000^(-2i/head). The frequencies are computed from a Range, which is constant
 * folded, so they are not parameters. */
static void rotary_tables(struct llama *l)
{
    struct zoo *z = l->z;
    struct zoo_place p = zoo_enter(z, "rotary_emb");
    const char *from = zoo_const(z, "int64[]{0}"), *step = zoo_const(z, "int64[]{2}");
    const char *to = zoo_const(z, zoo_text(z, "int64[]{%d}", l->s->head));
    const char *i = zoo_op(z, "Range", zoo_text(z, "%s,%s,%s", from, to, step), "");
    const char *head = zoo_const(z, zoo_text(z, "float[]{%d}", l->s->head));
    i = zoo_op2(z, "Div", zoo_op(z, "Cast", i, "to=1"), head, "");
    const char *frequency =
        zoo_op(z, "Reciprocal", zoo_op2(z, "Pow", zoo_const(z, "float[]{10000}"), i, ""), "");
    const char *position = zoo_op(z, "Cast", zoo_unsqueeze(z, "position_ids", 2), "to=1");
    const char *angle = zoo_op2(z, "Mul", position, frequency, "");
    angle = zoo_op2(z, "Concat", angle, angle, "axis=-1");
    l->cos = zoo_unsqueeze(z, zoo_op(z, "Cast", zoo_op(z, "Cos", angle, ""), "to=10"), 1);
    l->sin = zoo_unsqueeze(z, zoo_op(z, "Cast", zoo_op(z, "Sin", angle, ""), "to=10"), 1);
    zoo_leave(z, p);
}

/* 0 where attended, the lowest float16 elsewhere: future keys and padding, [batch, 1, queries, keys] */
static void additive_mask(struct llama *l)
{
    struct zoo *z = l->z;
    const char *seq = zoo_size(z, "input_ids", 1), *past = zoo_size(z, "past_key_values.0.key", 2);
    const char *total = zoo_op2(z, "Add", past, seq, ""), *one = zoo_const(z, "int64[]{1}");
    const char *keys =
        zoo_op(z, "Range", zoo_text(z, "%s,%s,%s", zoo_const(z, "int64[]{0}"), total, one), "");
    const char *queries = zoo_op(z, "Range", zoo_text(z, "%s,%s,%s", past, total, one), "");
    const char *behind = zoo_op2(z, "Greater", keys, zoo_unsqueeze(z, queries, 1), "");
    const char *padding = zoo_op(z, "Not", zoo_op(z, "Cast", "attention_mask", "to=9"), "");
    padding = zoo_unsqueeze(z, zoo_unsqueeze(z, padding, 1), 2);
    const char *hidden = zoo_op2(z, "Or", behind, padding, "");
    const char *low = zoo_const(z, "float16[]{-65504}"), *zero = zoo_const(z, "float16[]{0}");
    l->mask = zoo_op(z, "Where", zoo_text(z, "%s,%s,%s", hidden, low, zero), "");
}

static const char *split_heads(struct llama *l, const char *x, int heads)
{
    struct zoo *z = l->z;
    const char *batch = zoo_size(z, x, 0), *seq = zoo_size(z, x, 1);
    return zoo_transpose(z, ZOO_VIEW(z, x, {batch, 0}, {seq, 0}, {NULL, heads}, {NULL, l->s->head}),
                         "0,2,1,3");
}

/* x cos + (-x[half:], x[:half]) sin */
static const char *rotated(struct llama *l, const char *x)
{
    struct zoo *z = l->z;
    const char *zero = zoo_const(z, "int64[1]{0}"), *end = zoo_const(z, "int64[1]{9223372036854775807}");
    const char *half = zoo_const(z, zoo_text(z, "int64[1]{%d}", l->s->head / 2));
    const char *turned = zoo_op(z, "Neg", zoo_slice(z, x, half, end, 3), "");
    turned = zoo_op2(z, "Concat", turned, zoo_slice(z, x, zero, half, 3), "axis=-1");
    turned = zoo_op2(z, "Mul", turned, l->sin, "");
    return zoo_op2(z, "Add", zoo_op2(z, "Mul", x, l->cos, ""), turned, "");
}

/* Each key head is repeated for the query heads that share it. */
static const char *repeated(struct llama *l, const char *x)
{
    struct zoo *z = l->z;
    int times = l->s->heads / l->s->kv_heads;
    if (times == 1)
        return x;
    const char *batch = zoo_unsqueeze(z, zoo_size(z, x, 0), 0),
               *keys = zoo_unsqueeze(z, zoo_size(z, x, 2), 0);
    const char *heads = zoo_const(z, zoo_text(z, "int64[1]{%d}", l->s->kv_heads));
    const char *copies = zoo_const(z, zoo_text(z, "int64[1]{%d}", times));
    const char *size = zoo_const(z, zoo_text(z, "int64[1]{%d}", l->s->head));
    const char *all = zoo_const(z, zoo_text(z, "int64[1]{%d}", l->s->heads));
    const char *wide =
        zoo_op(z, "Concat", zoo_text(z, "%s,%s,%s,%s,%s", batch, heads, copies, keys, size), "axis=0");
    x = zoo_op2(z, "Expand", zoo_unsqueeze(z, x, 2), wide, "");
    const char *flat = zoo_op(z, "Concat", zoo_text(z, "%s,%s,%s,%s", batch, all, keys, size), "axis=0");
    return zoo_op2(z, "Reshape", x, flat, "allowzero=0");
}

static const char *longer(struct llama *l, int layer, const char *part, const char *x)
{
    struct zoo *z = l->z;
    return zoo_op_to(z, "Concat", zoo_text(z, "%s,%s", kv_name(l, "past_key_values", layer, part), x),
                     kv_name(l, "present", layer, part), "axis=2");
}

static const char *attention(struct llama *l, int layer, const char *x)
{
    const struct zoo_llama_size *s = l->s;
    struct zoo *z = l->z;
    struct zoo_place p = zoo_enter(z, "self_attn");
    const char *q = split_heads(l, linear(l, "q_proj", x, s->width, s->heads * s->head), s->heads);
    const char *k = split_heads(l, linear(l, "k_proj", x, s->width, s->kv_heads * s->head), s->kv_heads);
    const char *v = split_heads(l, linear(l, "v_proj", x, s->width, s->kv_heads * s->head), s->kv_heads);
    q = rotated(l, q);
    k = repeated(l, longer(l, layer, "key", rotated(l, k)));
    v = repeated(l, longer(l, layer, "value", v));
    const char *score = zoo_op2(z, "MatMul", q, zoo_transpose(z, k, "0,1,3,2"), "");
    score =
        zoo_op2(z, "Mul", score, zoo_const(z, s->head == 64 ? "float16[]{0.125}" : "float16[]{0.08838}"), "");
    score = zoo_op(z, "Cast", zoo_op2(z, "Add", score, l->mask, ""), "to=1");
    score = zoo_op(z, "Cast", zoo_op(z, "Softmax", score, "axis=-1"), "to=10");
    const char *y = zoo_transpose(z, zoo_op2(z, "MatMul", score, v, ""), "0,2,1,3");
    const char *batch = zoo_size(z, y, 0), *seq = zoo_size(z, y, 1);
    y = ZOO_VIEW(z, y, {batch, 0}, {seq, 0}, {NULL, s->heads * s->head});
    y = linear(l, "o_proj", y, s->heads * s->head, s->width);
    zoo_leave(z, p);
    return y;
}

/* ---- shared ---- */

/* down(silu(gate(x)) * up(x)) */
static const char *mlp(struct llama *l, const char *x)
{
    const struct zoo_llama_size *s = l->s;
    struct zoo *z = l->z;
    struct zoo_place p = zoo_enter(z, "mlp");
    const char *gate = linear(l, "gate_proj", x, s->width, s->mlp);
    struct zoo_place q = zoo_enter(z, "act_fn");
    gate = zoo_op2(z, "Mul", gate, zoo_op(z, "Sigmoid", gate, ""), "");
    zoo_leave(z, q);
    const char *up = linear(l, "up_proj", x, s->width, s->mlp);
    x = linear(l, "down_proj", zoo_op2(z, "Mul", gate, up, ""), s->mlp, s->width);
    zoo_leave(z, p);
    return x;
}

static void optimum_layers(struct llama *l)
{
    struct zoo *z = l->z;
    struct zoo_place p = zoo_enter(z, "model");
    const char *x = embedding(l);
    additive_mask(l);
    rotary_tables(l);
    for (int i = 0; i < l->s->layers; i++) {
        struct zoo_place q = zoo_enter(z, zoo_text(z, "layers.%d", i));
        x = zoo_op2(z, "Add", x, attention(l, i, rms_norm(l, "input_layernorm", x)), "");
        x = zoo_op2(z, "Add", x, mlp(l, rms_norm(l, "post_attention_layernorm", x)), "");
        zoo_leave(z, q);
    }
    x = rms_norm(l, "norm", x);
    zoo_leave(z, p);
    zoo_op_to(z, "Identity", linear(l, "lm_head", x, l->s->width, l->s->vocabulary), "logits", "");
}

/* ---- onnxruntime-genai --------------------------------------------------------------------------------- */

/* Number of keys of each sequence minus one, and of the longest sequence: inputs of GroupQueryAttention. */
static void lengths(struct llama *l)
{
    struct zoo *z = l->z;
    struct zoo_place p = zoo_enter(z, "attn_mask_reformat");
    const char *sum = zoo_op2(z, "ReduceSum", "attention_mask", zoo_const(z, "int64[1]{1}"), "keepdims=0");
    l->seqlens = zoo_op(z, "Cast", zoo_op2(z, "Sub", sum, zoo_const(z, "int64[1]{1}"), ""), "to=6");
    l->total = zoo_op(z, "Cast", zoo_size(z, "attention_mask", 1), "to=6");
    zoo_leave(z, p);
}

/* The first norm has no residual to add. */
static const char *skip_norm(struct llama *l, const char *module, const char *x)
{
    struct zoo *z = l->z;
    struct zoo_place p = zoo_enter(z, module);
    const char *attributes = "epsilon=0.00001", *weight = norm_weight(l);
    if (!l->residual) {
        l->residual = x;
        x = zoo_op2(z, "SimplifiedLayerNormalization", x, weight, "axis=-1 epsilon=0.00001 stash_type=1");
    } else {
        const char *out = zoo_text(z, "%s/output_0", z->scope), *sum = zoo_text(z, "%s/output_3", z->scope);
        zoo_op_to(z, "com.microsoft::SkipSimplifiedLayerNormalization",
                  zoo_text(z, "%s,%s,%s", l->residual, x, weight), zoo_text(z, "%s,,,%s", out, sum),
                  attributes);
        l->residual = sum;
        x = out;
    }
    zoo_leave(z, p);
    return x;
}

static const char *grouped_attention(struct llama *l, int layer, const char *x)
{
    const struct zoo_llama_size *s = l->s;
    struct zoo *z = l->z;
    struct zoo_place p = zoo_enter(z, "attn");
    const char *q = linear(l, "q_proj", x, s->width, s->heads * s->head);
    const char *k = linear(l, "k_proj", x, s->width, s->kv_heads * s->head);
    const char *v = linear(l, "v_proj", x, s->width, s->kv_heads * s->head);
    const char *out = zoo_text(z, "%s/GroupQueryAttention/output_0", z->scope);
    const char *past = zoo_text(z, "%s,%s", kv_name(l, "past_key_values", layer, "key"),
                                kv_name(l, "past_key_values", layer, "value"));
    zoo_op_to(z, "com.microsoft::GroupQueryAttention",
              zoo_text(z, "%s,%s,%s,%s,%s,%s,cos_cache,sin_cache", q, k, v, past, l->seqlens, l->total),
              zoo_text(z, "%s,%s,%s", out, kv_name(l, "present", layer, "key"),
                       kv_name(l, "present", layer, "value")),
              zoo_text(z,
                       "num_heads=%d kv_num_heads=%d do_rotary=1 rotary_interleaved=0 local_window_size=-1",
                       s->heads, s->kv_heads));
    x = linear(l, "o_proj", out, s->heads * s->head, s->width);
    zoo_leave(z, p);
    return x;
}

static void genai_layers(struct llama *l)
{
    struct zoo *z = l->z;
    const char *table = zoo_text(z, "float16[%d,%d]", l->s->positions, l->s->head / 2);
    zoo_param_named(z, "cos_cache", table, ZOO_SMALL, 0);
    zoo_param_named(z, "sin_cache", table, ZOO_SMALL, 0);
    struct zoo_place p = zoo_enter(z, "model");
    lengths(l);
    const char *x = embedding(l);
    for (int i = 0; i < l->s->layers; i++) {
        struct zoo_place q = zoo_enter(z, zoo_text(z, "layers.%d", i));
        x = grouped_attention(l, i, skip_norm(l, "input_layernorm", x));
        x = mlp(l, skip_norm(l, "post_attention_layernorm", x));
        zoo_leave(z, q);
    }
    x = skip_norm(l, "norm", x);
    zoo_leave(z, p);
    zoo_op_to(z, "Identity", linear(l, "lm_head", x, l->s->width, l->s->vocabulary), "logits", "");
}

/* ---- whole model ---- */

static void inputs(struct llama *l)
{
    struct oc_builder *b = l->z->b;
    oc_b_input(b, "input_ids", "int64[batch_size,sequence_length]");
    oc_b_input(b, "attention_mask",
               l->genai ? "int64[batch_size,total_sequence_length]"
                        : "int64[batch_size,past_sequence_length + sequence_length]");
    if (!l->genai)
        oc_b_input(b, "position_ids", "int64[batch_size,sequence_length]");
    const char *past =
        zoo_text(l->z, "float16[batch_size,%d,past_sequence_length,%d]", l->s->kv_heads, l->s->head);
    for (int i = 0; i < l->s->layers; i++) {
        oc_b_input(b, kv_name(l, "past_key_values", i, "key"), past);
        oc_b_input(b, kv_name(l, "past_key_values", i, "value"), past);
    }
}

static void outputs(struct llama *l)
{
    struct oc_builder *b = l->z->b;
    const char *length = l->genai ? "total_sequence_length" : "past_sequence_length + sequence_length";
    const char *present = zoo_text(l->z, "float16[batch_size,%d,%s,%d]", l->s->kv_heads, length, l->s->head);
    oc_b_output(b, "logits", zoo_text(l->z, "float16[batch_size,sequence_length,%d]", l->s->vocabulary));
    for (int i = 0; i < l->s->layers; i++) {
        oc_b_output(b, kv_name(l, "present", i, "key"), present);
        oc_b_output(b, kv_name(l, "present", i, "value"), present);
    }
}

int zoo_llama(struct zoo *z, const char *size, enum zoo_llama_layout layout, int bits)
{
    struct llama l = {.z = z, .bits = bits, .genai = layout == ZOO_LLAMA_GENAI};
    for (size_t i = 0; i < zoo_llama_size_count; i++)
        if (!strcmp(zoo_llama_sizes[i].name, size))
            l.s = &zoo_llama_sizes[i];
    if (!l.s || (bits != 16 && bits != 4))
        return -1;
    oc_b_opset(z->b, "com.microsoft", 1);
    inputs(&l);
    if (l.genai)
        genai_layers(&l);
    else
        optimum_layers(&l);
    outputs(&l);
    return 0;
}
