/* DistilBERT-base (uncased vocabulary): Sanh et al. 2019, as in the transformers library. Six layers of
 * BERT's size, no token types, no pooler. */
#include "zoo.h"

#include "base/wire.h"

enum { WIDTH = 768, HEADS = 12, HEAD = 64, MLP = 3072, LAYERS = 6, VOCABULARY = 30522, POSITIONS = 512 };

static const char *norm(struct zoo *z, const char *module, const char *x)
{
    struct zoo_place p = zoo_enter(z, module);
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
    const char *x = zoo_embedding(z, "word_embeddings", VOCABULARY, WIDTH, "input_ids");
    ids = zoo_slice(z, ids, zero, zoo_unsqueeze(z, zoo_size(z, "input_ids", 1), 0), 1);
    x = zoo_op2(z, "Add", x, zoo_embedding(z, "position_embeddings", POSITIONS, WIDTH, ids), "");
    x = norm(z, "LayerNorm", x);
    zoo_leave(z, p);
    return x;
}

static const char *projected(struct zoo *z, const char *module, const char *x, const char *batch)
{
    x = zoo_linear_in(z, module, x, WIDTH, WIDTH);
    x = ZOO_VIEW(z, x, {batch, 0}, {NULL, -1}, {NULL, HEADS}, {NULL, HEAD});
    return zoo_transpose(z, x, "0,2,1,3");
}

/* Scores of masked keys become the lowest float. */
static const char *masked(struct zoo *z, const char *scores, const char *batch, const char *keys)
{
    const char *out = zoo_op2(z, "Equal", "attention_mask", zoo_const(z, "int64[]{0}"), "");
    out = ZOO_VIEW(z, out, {batch, 0}, {NULL, 1}, {NULL, 1}, {keys, 0});
    out = zoo_op2(z, "Expand", out, zoo_op(z, "Shape", scores, ""), "");
    const char *low = zoo_const(z, "float[]{-3.4028234663852886e38}");
    return zoo_op(z, "Where", zoo_text(z, "%s,%s,%s", out, low, scores), "");
}

static const char *attention(struct zoo *z, const char *x)
{
    struct zoo_place p = zoo_enter(z, "attention");
    const char *batch = zoo_size(z, x, 0), *keys = zoo_size(z, x, 1);
    const char *q = projected(z, "q_lin", x, batch), *k = projected(z, "k_lin", x, batch);
    const char *v = projected(z, "v_lin", x, batch);
    q = zoo_op2(z, "Div", q, zoo_const(z, "float[]{8}"), "");
    const char *scores = zoo_op2(z, "MatMul", q, zoo_transpose(z, k, "0,1,3,2"), "");
    scores = masked(z, scores, batch, keys);
    x = zoo_op2(z, "MatMul", zoo_op(z, "Softmax", scores, "axis=-1"), v, "");
    x = ZOO_VIEW(z, zoo_transpose(z, x, "0,2,1,3"), {batch, 0}, {NULL, -1}, {NULL, WIDTH});
    x = zoo_linear_in(z, "out_lin", x, WIDTH, WIDTH);
    zoo_leave(z, p);
    return x;
}

static const char *ffn(struct zoo *z, const char *x)
{
    struct zoo_place p = zoo_enter(z, "ffn");
    x = zoo_linear_in(z, "lin1", x, WIDTH, MLP);
    struct zoo_place q = zoo_enter(z, "activation");
    x = zoo_gelu_erf(z, x);
    zoo_leave(z, q);
    x = zoo_linear_in(z, "lin2", x, MLP, WIDTH);
    zoo_leave(z, p);
    return x;
}

void zoo_distilbert(struct zoo *z)
{
    oc_b_input(z->b, "input_ids", "int64[batch,sequence]");
    oc_b_input(z->b, "attention_mask", "int64[batch,sequence]");
    const char *x = embeddings(z);
    struct zoo_place p = zoo_enter(z, "transformer");
    for (int i = 0; i < LAYERS; i++) {
        struct zoo_place q = zoo_enter(z, zoo_text(z, "layer.%d", i));
        x = norm(z, "sa_layer_norm", zoo_op2(z, "Add", attention(z, x), x, ""));
        x = norm(z, "output_layer_norm", zoo_op2(z, "Add", ffn(z, x), x, ""));
        zoo_leave(z, q);
    }
    zoo_leave(z, p);
    zoo_op_to(z, "Identity", x, "last_hidden_state", "");
    oc_b_output(z->b, "last_hidden_state", "float[batch,sequence,768]");
}
