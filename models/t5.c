/* T5-small: Raffel et al. 2019, as in the transformers library, in two files as optimum writes them: the
 * encoder, and the decoder without cache with the logits of every position. No layer has a bias; positions
 * are encoded by a table of distance buckets. Scores are not scaled: the weights of q are smaller instead. */
#include "zoo.h"

enum { WIDTH = 512, HEADS = 8, HEAD = 64, MLP = 2048, LAYERS = 6, VOCABULARY = 32128, BUCKETS = 32 };

/* Computed once for all layers. bias: distances and mask, {batch, heads, queries, keys} */
struct stack {
    struct zoo *z;
    bool decoder;
    const char *mask, *bias, *memory, *memory_mask;
};

/* weight * x / sqrt(mean(x^2) + epsilon) */
static const char *norm(struct zoo *z, const char *module, const char *x)
{
    struct zoo_place p = zoo_enter(z, module);
    const char *weight = zoo_param(z, "weight", zoo_text(z, "float[%d]", WIDTH), ZOO_ONE, 0);
    const char *square = zoo_op2(z, "Pow", x, zoo_const(z, "float[]{2}"), "");
    const char *mean = zoo_op(z, "ReduceMean", square, "axes=[-1] keepdims=1");
    mean = zoo_op2(z, "Add", mean, zoo_const(z, "float[]{1e-6}"), "");
    const char *root = zoo_op(z, "Sqrt", mean, "");
    const char *scale = zoo_op2(z, "Div", zoo_const(z, "float[]{1}"), root, "");
    x = zoo_op2(z, "Mul", weight, zoo_op2(z, "Mul", x, scale, ""), "");
    zoo_leave(z, p);
    return x;
}

/* ---- masks and distances ------------------------------------------------------------------------------- */

/* 0 where attended, the lowest float elsewhere. mask: float, 1 or 0 */
static const char *additive(struct zoo *z, const char *mask)
{
    mask = zoo_op2(z, "Sub", zoo_const(z, "float[]{1}"), mask, "");
    return zoo_op2(z, "Mul", mask, zoo_const(z, "float[]{-3.4028234663852886e38}"), "");
}

/* {batch, 1, 1, keys} */
static const char *padding(struct zoo *z, const char *mask)
{
    mask = zoo_unsqueeze(z, zoo_unsqueeze(z, mask, 1), 2);
    return additive(z, zoo_op(z, "Cast", mask, "to=1"));
}

static const char *count_up(struct zoo *z, const char *n)
{
    const char *zero = zoo_const(z, "int64[]{0}"), *one = zoo_const(z, "int64[]{1}");
    return zoo_op(z, "Range", zoo_text(z, "%s,%s,%s", zero, n, one), "");
}

/* Keys up to the query: {batch, 1, queries, keys} */
static const char *causal(struct zoo *z)
{
    const char *batch = zoo_size(z, "input_ids", 0), *seq = zoo_size(z, "input_ids", 1);
    const char *at = count_up(z, seq), *keys = zoo_unsqueeze(z, zoo_unsqueeze(z, at, 0), 0);
    const char *one = zoo_const(z, "int64[1]{1}"), *columns = zoo_unsqueeze(z, seq, 0);
    const char *times =
        zoo_op(z, "Concat", zoo_text(z, "%s,%s,%s", zoo_unsqueeze(z, batch, 0), columns, one), "axis=0");
    keys = zoo_op2(z, "Tile", keys, times, "");
    const char *queries = zoo_unsqueeze(z, zoo_unsqueeze(z, at, 0), 2);
    const char *seen = zoo_op(z, "Cast", zoo_op2(z, "LessOrEqual", keys, queries, ""), "to=1");
    return additive(z, zoo_unsqueeze(z, seen, 1));
}

/* The bucket of a non-negative distance: each of the first `exact` distances has its own, the same number of
 * buckets cover increasing ranges up to distance 128. log_rest: log(128 / exact) */
static const char *bucket(struct zoo *z, const char *distance, int exact, const char *log_rest)
{
    const char *first = zoo_const(z, zoo_text(z, "int64[]{%d}", exact));
    const char *near = zoo_op2(z, "Less", distance, first, "");
    const char *last = zoo_const(z, zoo_text(z, "float[]{%d}", exact));
    const char *x = zoo_op2(z, "Div", zoo_op(z, "Cast", distance, "to=1"), last, "");
    const char *rest = zoo_const(z, log_rest);
    x = zoo_op2(z, "Div", zoo_op(z, "Log", x, ""), rest, "");
    x = zoo_op2(z, "Mul", x, zoo_const(z, zoo_text(z, "float[]{%d}", exact)), "");
    x = zoo_op2(z, "Add", zoo_op(z, "Cast", x, "to=7"), first, "");
    x = zoo_op2(z, "Min", x, zoo_const(z, zoo_text(z, "int64[]{%d}", 2 * exact - 1)), "");
    return zoo_op(z, "Where", zoo_text(z, "%s,%s,%s", near, distance, x), "");
}

/* {1, heads, queries, keys}. Encoder: half of the buckets for each direction. */
static const char *distances(const struct stack *s, const char *x)
{
    struct zoo *z = s->z;
    const char *at = count_up(z, zoo_size(z, x, 1));
    const char *queries = zoo_unsqueeze(z, at, 1);
    const char *apart = zoo_op2(z, "Sub", zoo_unsqueeze(z, at, 0), queries, "");
    const char *index;
    if (s->decoder) {
        apart = zoo_op(z, "Neg", zoo_op2(z, "Min", apart, zoo_const(z, "int64[]{0}"), ""), "");
        index = bucket(z, apart, 16, "float[]{2.0794415416798357}");
    } else {
        const char *later = zoo_op2(z, "Greater", apart, zoo_const(z, "int64[]{0}"), "");
        const char *half = zoo_const(z, "int64[]{16}");
        later = zoo_op2(z, "Mul", zoo_op(z, "Cast", later, "to=7"), half, "");
        index = bucket(z, zoo_op(z, "Abs", apart, ""), 8, "float[]{2.772588722239781}");
        index = zoo_op2(z, "Add", later, index, "");
    }
    index = zoo_embedding(z, "relative_attention_bias", BUCKETS, HEADS, index);
    return zoo_unsqueeze(z, zoo_transpose(z, index, "2,0,1"), 0);
}

/* ---- layers -------------------------------------------------------------------------------------------- */

static const char *heads(struct zoo *z, const char *module, const char *x, const char *batch, int64_t fan_in,
                         const char *perm)
{
    x = zoo_linear_bare(z, module, x, WIDTH, WIDTH, fan_in);
    return zoo_transpose(z, ZOO_VIEW(z, x, {batch, 0}, {NULL, -1}, {NULL, HEADS}, {NULL, HEAD}), perm);
}

/* q of x, k and v of `memory` */
static const char *attention(struct zoo *z, const char *x, const char *memory, const char *bias)
{
    const char *batch = zoo_size(z, x, 0);
    const char *q = heads(z, "q", x, batch, (int64_t)WIDTH * HEAD, "0,2,1,3");
    const char *k = heads(z, "k", memory, batch, WIDTH, "0,2,3,1");
    const char *v = heads(z, "v", memory, batch, WIDTH, "0,2,1,3");
    const char *score = zoo_op2(z, "Add", zoo_op2(z, "MatMul", q, k, ""), bias, "");
    const char *y = zoo_op2(z, "MatMul", zoo_op(z, "Softmax", score, "axis=-1"), v, "");
    y = ZOO_VIEW(z, zoo_transpose(z, y, "0,2,1,3"), {batch, 0}, {NULL, -1}, {NULL, WIDTH});
    return zoo_linear_bare(z, "o", y, WIDTH, WIDTH, WIDTH);
}

/* The first layer computes the bias for all layers. */
static const char *self_attention(struct stack *s, const char *x)
{
    struct zoo *z = s->z;
    const char *y = norm(z, "layer_norm", x);
    struct zoo_place p = zoo_enter(z, "SelfAttention");
    if (!s->bias)
        s->bias = zoo_op2(z, "Add", distances(s, y), s->mask, "");
    y = attention(z, y, y, s->bias);
    zoo_leave(z, p);
    return zoo_op2(z, "Add", x, y, "");
}

static const char *cross_attention(struct stack *s, const char *x)
{
    struct zoo *z = s->z;
    const char *y = norm(z, "layer_norm", x);
    struct zoo_place p = zoo_enter(z, "EncDecAttention");
    y = attention(z, y, s->memory, s->memory_mask);
    zoo_leave(z, p);
    return zoo_op2(z, "Add", x, y, "");
}

static const char *feed_forward(struct stack *s, const char *x)
{
    struct zoo *z = s->z;
    const char *y = norm(z, "layer_norm", x);
    struct zoo_place p = zoo_enter(z, "DenseReluDense");
    y = zoo_linear_bare(z, "wi", y, WIDTH, MLP, WIDTH);
    struct zoo_place q = zoo_enter(z, "act");
    y = zoo_op(z, "Relu", y, "");
    zoo_leave(z, q);
    y = zoo_linear_bare(z, "wo", y, MLP, WIDTH, MLP);
    zoo_leave(z, p);
    return zoo_op2(z, "Add", x, y, "");
}

static const char *block(struct stack *s, const char *x)
{
    typedef const char *part(struct stack *, const char *);
    static part *const encoder[] = {self_attention, feed_forward, NULL}, *const decoder[] = {
                                                                             self_attention, cross_attention,
                                                                             feed_forward, NULL};
    part *const *parts = s->decoder ? decoder : encoder;
    for (int i = 0; parts[i]; i++) {
        struct zoo_place p = zoo_enter(s->z, zoo_text(s->z, "layer.%d", i));
        x = parts[i](s, x);
        zoo_leave(s->z, p);
    }
    return x;
}

static const char *stack(struct stack *s)
{
    struct zoo *z = s->z;
    const char *x = zoo_embedding(z, "embed_tokens", VOCABULARY, WIDTH, "input_ids");
    for (int i = 0; i < LAYERS; i++) {
        struct zoo_place p = zoo_enter(z, zoo_text(z, "block.%d", i));
        x = block(s, x);
        zoo_leave(z, p);
    }
    return norm(z, "final_layer_norm", x);
}

/* ---- the two files ------------------------------------------------------------------------------------- */

void zoo_t5_encoder(struct zoo *z)
{
    oc_b_input(z->b, "input_ids", "int64[batch,sequence]");
    oc_b_input(z->b, "attention_mask", "int64[batch,sequence]");
    struct stack s = {.z = z, .mask = padding(z, "attention_mask")};
    zoo_op_to(z, "Identity", stack(&s), "last_hidden_state", "");
    oc_b_output(z->b, "last_hidden_state", zoo_text(z, "float[batch,sequence,%d]", WIDTH));
}

/* The head is a transposed copy of the table, as constant folding leaves it. */
void zoo_t5_decoder(struct zoo *z)
{
    oc_b_input(z->b, "encoder_attention_mask", "int64[batch,encoder_sequence]");
    oc_b_input(z->b, "input_ids", "int64[batch,decoder_sequence]");
    oc_b_input(z->b, "encoder_hidden_states", zoo_text(z, "float[batch,encoder_sequence,%d]", WIDTH));
    struct zoo_place p = zoo_enter(z, "decoder");
    struct stack s = {.z = z, .decoder = true, .memory = "encoder_hidden_states", .mask = causal(z)};
    s.memory_mask = padding(z, "encoder_attention_mask");
    const char *x = stack(&s);
    zoo_leave(z, p);
    x = zoo_op2(z, "Mul", x, zoo_const(z, "float[]{0.04419417382415922}"), "");
    x = zoo_linear_bare(z, "lm_head", x, WIDTH, VOCABULARY, WIDTH);
    zoo_op_to(z, "Identity", x, "logits", "");
    oc_b_output(z->b, "logits", zoo_text(z, "float[batch,decoder_sequence,%d]", VOCABULARY));
}
