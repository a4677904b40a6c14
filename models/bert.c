/* BERT-base (uncased vocabulary) with pooler: Devlin et al. 2018, as in the transformers library. */
#include "zoo.h"

#include "base/wire.h"

enum { WIDTH = 768, HEADS = 12, HEAD = 64, MLP = 3072, LAYERS = 12, VOCABULARY = 30522, POSITIONS = 512 };

static const char *norm(struct zoo *z, const char *x)
{
    struct zoo_place p = zoo_enter(z, "LayerNorm");
    x = zoo_layer_norm(z, x, WIDTH, "1e-12");
    zoo_leave(z, p);
    return x;
}

static const char *embeddings(struct zoo *z)
{
    uint8_t position[8 * POSITIONS];
    for (uint64_t i = 0; i < POSITIONS; i++)
        oc_store_le(position + 8 * i, i, 8);
    struct zoo_place p = zoo_enter(z, "embeddings");
    const char *ids = "embeddings.position_ids", *zero = zoo_const(z, "int64[1]{0}");
    oc_b_init_raw(z->b, ids, zoo_text(z, "int64[1,%d]", POSITIONS), position, sizeof(position));
    ids = zoo_slice(z, ids, zero, zoo_unsqueeze(z, zoo_size(z, "input_ids", 1), 0), 1);
    const char *x = zoo_embedding(z, "word_embeddings", VOCABULARY, WIDTH, "input_ids");
    x = zoo_op2(z, "Add", x, zoo_embedding(z, "token_type_embeddings", 2, WIDTH, "token_type_ids"), "");
    x = zoo_op2(z, "Add", x, zoo_embedding(z, "position_embeddings", POSITIONS, WIDTH, ids), "");
    x = norm(z, x);
    zoo_leave(z, p);
    return x;
}

/* 0 where attended, the lowest float elsewhere: [batch, 1, 1, seq] */
static const char *additive_mask(struct zoo *z)
{
    const char *x = zoo_unsqueeze(z, zoo_unsqueeze(z, "attention_mask", 1), 2);
    x = zoo_op(z, "Cast", x, "to=1");
    x = zoo_op2(z, "Sub", zoo_const(z, "float[]{1}"), x, "");
    return zoo_op2(z, "Mul", x, zoo_const(z, "float[]{-3.4028234663852886e38}"), "");
}

static const char *split_heads(struct zoo *z, const char *x, const char *perm)
{
    const char *batch = zoo_size(z, x, 0), *seq = zoo_size(z, x, 1);
    return zoo_transpose(z, ZOO_VIEW(z, x, {batch, 0}, {seq, 0}, {NULL, HEADS}, {NULL, HEAD}), perm);
}

static const char *self_attention(struct zoo *z, const char *x, const char *mask)
{
    struct zoo_place p = zoo_enter(z, "self");
    const char *q = zoo_linear_in(z, "query", x, WIDTH, WIDTH);
    const char *k = split_heads(z, zoo_linear_in(z, "key", x, WIDTH, WIDTH), "0,2,3,1");
    const char *v = split_heads(z, zoo_linear_in(z, "value", x, WIDTH, WIDTH), "0,2,1,3");
    const char *s = zoo_op2(z, "MatMul", split_heads(z, q, "0,2,1,3"), k, "");
    s = zoo_op2(z, "Add", zoo_op2(z, "Div", s, zoo_const(z, "float[]{8}"), ""), mask, "");
    const char *y = zoo_op2(z, "MatMul", zoo_op(z, "Softmax", s, "axis=-1"), v, "");
    y = zoo_transpose(z, y, "0,2,1,3");
    const char *batch = zoo_size(z, y, 0), *seq = zoo_size(z, y, 1);
    y = ZOO_VIEW(z, y, {batch, 0}, {seq, 0}, {NULL, WIDTH});
    zoo_leave(z, p);
    return y;
}

/* dense, residual sum, norm: ends both halves of a layer */
static const char *output(struct zoo *z, const char *x, const char *residual, int in)
{
    struct zoo_place p = zoo_enter(z, "output");
    x = norm(z, zoo_op2(z, "Add", zoo_linear_in(z, "dense", x, in, WIDTH), residual, ""));
    zoo_leave(z, p);
    return x;
}

static const char *intermediate(struct zoo *z, const char *x)
{
    struct zoo_place p = zoo_enter(z, "intermediate");
    x = zoo_linear_in(z, "dense", x, WIDTH, MLP);
    struct zoo_place q = zoo_enter(z, "intermediate_act_fn");
    x = zoo_gelu_erf(z, x);
    zoo_leave(z, q);
    zoo_leave(z, p);
    return x;
}

static const char *encoder(struct zoo *z, const char *x, const char *mask)
{
    struct zoo_place p = zoo_enter(z, "encoder");
    for (int i = 0; i < LAYERS; i++) {
        struct zoo_place q = zoo_enter(z, zoo_text(z, "layer.%d", i)), r = zoo_enter(z, "attention");
        x = output(z, self_attention(z, x, mask), x, WIDTH);
        zoo_leave(z, r);
        x = output(z, intermediate(z, x), x, MLP);
        zoo_leave(z, q);
    }
    zoo_leave(z, p);
    return x;
}

static void pooler(struct zoo *z, const char *x)
{
    struct zoo_place p = zoo_enter(z, "pooler");
    x = zoo_op2(z, "Gather", x, zoo_const(z, "int64[]{0}"), "axis=1");
    struct zoo_place q = zoo_enter(z, "dense");
    x = zoo_gemm(z, x, NULL, WIDTH, WIDTH);
    zoo_leave(z, q);
    q = zoo_enter(z, "activation");
    zoo_op_to(z, "Tanh", x, "pooler_output", "");
    zoo_leave(z, q);
    zoo_leave(z, p);
}

void zoo_bert_base(struct zoo *z)
{
    static const char *const inputs[] = {"input_ids", "attention_mask", "token_type_ids"};
    for (size_t i = 0; i < OC_COUNT(inputs); i++)
        oc_b_input(z->b, inputs[i], "int64[batch,sequence]");
    const char *mask = additive_mask(z);
    const char *x = encoder(z, embeddings(z), mask);
    pooler(z, x);
    zoo_op_to(z, "Identity", x, "last_hidden_state", "");
    oc_b_output(z->b, "last_hidden_state", "float[batch,sequence,768]");
    oc_b_output(z->b, "pooler_output", "float[batch,768]");
}
