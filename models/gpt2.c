/* GPT-2 (124M) with the logits of every position, without key-value cache: Radford et al. 2019, as in the
 * transformers library. The output embedding is a transposed copy of the input embedding, as the exporter's
 * constant folding leaves it. */
#include "zoo.h"

enum { WIDTH = 768, HEADS = 12, HEAD = 64, MLP = 3072, LAYERS = 12, VOCABULARY = 50257, POSITIONS = 1024 };

/* The library's Conv1D: a Gemm over all rows with the weight as [in, out]. */
static const char *conv1d(struct zoo *z, const char *module, const char *x, int in, int out)
{
    struct zoo_place p = zoo_enter(z, module);
    const char *w = zoo_param(z, "weight", zoo_text(z, "float[%d,%d]", in, out), ZOO_WEIGHT, in);
    const char *bias = zoo_param(z, "bias", zoo_text(z, "float[%d]", out), ZOO_SMALL, 0);
    const char *batch = zoo_size(z, x, 0), *seq = zoo_size(z, x, 1);
    const char *flat =
        zoo_op2(z, "Reshape", x, zoo_const(z, zoo_text(z, "int64[2]{-1,%d}", in)), "allowzero=0");
    const char *y = zoo_op(z, "Gemm", zoo_text(z, "%s,%s,%s", flat, w, bias), "alpha=1.0 beta=1.0");
    y = ZOO_VIEW(z, y, {batch, 0}, {seq, 0}, {NULL, out});
    zoo_leave(z, p);
    return y;
}

static const char *norm(struct zoo *z, const char *module, const char *x)
{
    struct zoo_place p = zoo_enter(z, module);
    x = zoo_layer_norm(z, x, WIDTH, "1e-5");
    zoo_leave(z, p);
    return x;
}

static const char *split_heads(struct zoo *z, const char *x, const char *perm)
{
    const char *batch = zoo_size(z, x, 0), *seq = zoo_size(z, x, 1);
    return zoo_transpose(z, ZOO_VIEW(z, x, {batch, 0}, {seq, 0}, {NULL, HEADS}, {NULL, HEAD}), perm);
}

/* mask[:, :, keys - queries : keys, :keys] of the lower triangle */
static const char *causal_mask(struct zoo *z, const char *q, const char *k)
{
    const char *mask =
        zoo_param(z, "bias", zoo_text(z, "bool[1,1,%d,%d]", POSITIONS, POSITIONS), ZOO_TRIL, 0);
    const char *queries = zoo_size(z, q, 2), *keys = zoo_size(z, k, 3);
    const char *from = zoo_unsqueeze(z, zoo_op2(z, "Sub", keys, queries, ""), 0);
    const char *to = zoo_unsqueeze(z, keys, 0);
    mask = zoo_slice(z, mask, from, to, 2);
    return zoo_slice(z, mask, zoo_const(z, "int64[1]{0}"), to, 3);
}

static const char *attention(struct zoo *z, const char *x)
{
    struct zoo_place p = zoo_enter(z, "attn");
    x = conv1d(z, "c_attn", x, WIDTH, 3 * WIDTH);
    const char *out[3];
    for (int i = 0; i < 3; i++)
        out[i] = zoo_text(z, "%s/Split_output_%d", z->scope, i);
    const char *parts = zoo_const(z, zoo_text(z, "int64[3]{%d,%d,%d}", WIDTH, WIDTH, WIDTH));
    zoo_op_to(z, "Split", zoo_text(z, "%s,%s", x, parts), zoo_text(z, "%s,%s,%s", out[0], out[1], out[2]),
              "axis=2");
    const char *q = split_heads(z, out[0], "0,2,1,3"), *k = split_heads(z, out[1], "0,2,3,1");
    const char *v = split_heads(z, out[2], "0,2,1,3");
    const char *s = zoo_op2(z, "MatMul", q, k, "");
    s = zoo_op2(z, "Div", s, zoo_const(z, "float[]{8}"), "");
    const char *mask = causal_mask(z, q, k), *low = zoo_const(z, "float[]{-3.4028234663852886e38}");
    s = zoo_op(z, "Where", zoo_text(z, "%s,%s,%s", mask, s, low), "");
    const char *y = zoo_op2(z, "MatMul", zoo_op(z, "Softmax", s, "axis=-1"), v, "");
    y = zoo_transpose(z, y, "0,2,1,3");
    const char *batch = zoo_size(z, y, 0), *seq = zoo_size(z, y, 1);
    y = conv1d(z, "c_proj", ZOO_VIEW(z, y, {batch, 0}, {seq, 0}, {NULL, WIDTH}), WIDTH, WIDTH);
    zoo_leave(z, p);
    return y;
}

/* 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) */
static const char *gelu_tanh(struct zoo *z, const char *x)
{
    struct zoo_place p = zoo_enter(z, "act");
    const char *half = zoo_op2(z, "Mul", x, zoo_const(z, "float[]{0.5}"), "");
    const char *cube = zoo_op2(z, "Pow", x, zoo_const(z, "float[]{3}"), "");
    const char *sum =
        zoo_op2(z, "Add", x, zoo_op2(z, "Mul", cube, zoo_const(z, "float[]{0.044715}"), ""), "");
    const char *tanh =
        zoo_op(z, "Tanh", zoo_op2(z, "Mul", sum, zoo_const(z, "float[]{0.7978845608028654}"), ""), "");
    const char *y = zoo_op2(z, "Mul", half, zoo_op2(z, "Add", tanh, zoo_const(z, "float[]{1}"), ""), "");
    zoo_leave(z, p);
    return y;
}

static const char *mlp(struct zoo *z, const char *x)
{
    struct zoo_place p = zoo_enter(z, "mlp");
    x = conv1d(z, "c_proj", gelu_tanh(z, conv1d(z, "c_fc", x, WIDTH, MLP)), MLP, WIDTH);
    zoo_leave(z, p);
    return x;
}

static const char *embeddings(struct zoo *z, const char *seq)
{
    const char *ids = ZOO_VIEW(z, "input_ids", {NULL, -1}, {seq, 0});
    const char *zero = zoo_const(z, "int64[]{0}"), *one = zoo_const(z, "int64[]{1}");
    const char *positions = zoo_op(z, "Range", zoo_text(z, "%s,%s,%s", zero, seq, one), "");
    positions = ZOO_VIEW(z, zoo_unsqueeze(z, positions, 0), {NULL, -1}, {seq, 0});
    const char *words = zoo_embedding(z, "wte", VOCABULARY, WIDTH, ids);
    return zoo_op2(z, "Add", words, zoo_embedding(z, "wpe", POSITIONS, WIDTH, positions), "");
}

static const char *transformer(struct zoo *z)
{
    struct zoo_place p = zoo_enter(z, "transformer");
    const char *seq = zoo_size(z, "input_ids", 1), *x = embeddings(z, seq);
    for (int i = 0; i < LAYERS; i++) {
        struct zoo_place q = zoo_enter(z, zoo_text(z, "h.%d", i));
        x = zoo_op2(z, "Add", attention(z, norm(z, "ln_1", x)), x, "");
        x = zoo_op2(z, "Add", x, mlp(z, norm(z, "ln_2", x)), "");
        zoo_leave(z, q);
    }
    x = norm(z, "ln_f", x);
    x = ZOO_VIEW(z, x, {NULL, -1}, {seq, 0}, {NULL, WIDTH});
    zoo_leave(z, p);
    return x;
}

void zoo_gpt2(struct zoo *z)
{
    oc_b_input(z->b, "input_ids", "int64[batch,sequence]");
    const char *x = transformer(z);
    const char *w = zoo_param_named(z, zoo_text(z, "onnx::MatMul_%u", z->next_id++),
                                    zoo_text(z, "float[%d,%d]", WIDTH, VOCABULARY), ZOO_WEIGHT, WIDTH);
    struct zoo_place p = zoo_enter(z, "lm_head");
    zoo_op_to(z, "MatMul", zoo_text(z, "%s,%s", x, w), "logits", "");
    zoo_leave(z, p);
    oc_b_output(z->b, "logits", "float[batch,sequence,50257]");
}
