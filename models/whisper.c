/* The encoder of Whisper tiny: Radford et al. 2022, as in the transformers library. 30 seconds of audio are
 * 3000 columns of 80 log-mel bins; the second convolution halves them. */
#include "zoo.h"

enum { BANDS = 80, COLUMNS = 3000, WIDTH = 384, HEADS = 6, HEAD = 64, MLP = 1536, LAYERS = 4 };
enum { STEPS = COLUMNS / 2 };

static const char *norm(struct zoo *z, const char *module, const char *x)
{
    struct zoo_place p = zoo_enter(z, module);
    x = zoo_layer_norm(z, x, WIDTH, "1e-5");
    zoo_leave(z, p);
    return x;
}

static const char *conv_gelu(struct zoo *z, const char *module, const char *x, int in, int stride)
{
    struct zoo_place p = zoo_enter(z, module);
    x = zoo_conv_window(
        z, x, in, WIDTH,
        &(struct zoo_window){.rank = 1, .kernel = {3}, .stride = {stride}, .before = {1}, .after = {1}});
    zoo_leave(z, p);
    return zoo_gelu_erf(z, x);
}

static const char *split_heads(struct zoo *z, const char *x, const char *batch, const char *steps,
                               const char *perm)
{
    return zoo_transpose(z, ZOO_VIEW(z, x, {batch, 0}, {steps, 0}, {NULL, HEADS}, {NULL, HEAD}), perm);
}

static const char *attention(struct zoo *z, const char *x)
{
    struct zoo_place p = zoo_enter(z, "self_attn");
    const char *batch = zoo_size(z, x, 0), *steps = zoo_size(z, x, 1);
    const char *q = zoo_linear_in(z, "q_proj", x, WIDTH, WIDTH);
    q = split_heads(z, zoo_op2(z, "Mul", q, zoo_const(z, "float[]{0.125}"), ""), batch, steps, "0,2,1,3");
    const char *k = zoo_linear_bare(z, "k_proj", x, WIDTH, WIDTH, WIDTH);
    k = split_heads(z, k, batch, steps, "0,2,3,1");
    const char *v = split_heads(z, zoo_linear_in(z, "v_proj", x, WIDTH, WIDTH), batch, steps, "0,2,1,3");
    const char *scores = zoo_op(z, "Softmax", zoo_op2(z, "MatMul", q, k, ""), "axis=-1");
    const char *y = zoo_transpose(z, zoo_op2(z, "MatMul", scores, v, ""), "0,2,1,3");
    y = ZOO_VIEW(z, y, {batch, 0}, {steps, 0}, {NULL, WIDTH});
    y = zoo_linear_in(z, "out_proj", y, WIDTH, WIDTH);
    zoo_leave(z, p);
    return y;
}

static const char *layer(struct zoo *z, const char *x)
{
    x = zoo_op2(z, "Add", x, attention(z, norm(z, "self_attn_layer_norm", x)), "");
    const char *y = zoo_linear_in(z, "fc1", norm(z, "final_layer_norm", x), WIDTH, MLP);
    struct zoo_place p = zoo_enter(z, "activation_fn");
    y = zoo_gelu_erf(z, y);
    zoo_leave(z, p);
    return zoo_op2(z, "Add", x, zoo_linear_in(z, "fc2", y, MLP, WIDTH), "");
}

void zoo_whisper_encoder(struct zoo *z)
{
    oc_b_input(z->b, "input_features", zoo_text(z, "float[batch,%d,%d]", BANDS, COLUMNS));
    const char *x = conv_gelu(z, "conv2", conv_gelu(z, "conv1", "input_features", BANDS, 1), WIDTH, 2);
    const char *type = zoo_text(z, "float[%d,%d]", STEPS, WIDTH);
    x = zoo_op2(z, "Add", zoo_transpose(z, x, "0,2,1"),
                zoo_param(z, "embed_positions.weight", type, ZOO_SMALL, 0), "");
    for (int i = 0; i < LAYERS; i++) {
        struct zoo_place p = zoo_enter(z, zoo_text(z, "layers.%d", i));
        x = layer(z, x);
        zoo_leave(z, p);
    }
    zoo_op_to(z, "Identity", norm(z, "layer_norm", x), "last_hidden_state", "");
    oc_b_output(z->b, "last_hidden_state", zoo_text(z, "float[batch,%d,%d]", STEPS, WIDTH));
}
