/* MLP-Mixer B/16 at 224x224: Tolstikhin et al. 2021, as in timm. */
#include "zoo.h"

enum { WIDTH = 768, TOKENS = 196, TOKEN_MLP = 384, CHANNEL_MLP = 3072, BLOCKS = 12 };

static const char *norm(struct zoo *z, const char *module, const char *x)
{
    struct zoo_place p = zoo_enter(z, module);
    x = zoo_layer_norm(z, x, WIDTH, "1e-6");
    zoo_leave(z, p);
    return x;
}

static const char *mlp(struct zoo *z, const char *module, const char *x, int width, int hidden)
{
    struct zoo_place p = zoo_enter(z, module);
    x = zoo_act_in(z, "act", zoo_linear_in(z, "fc1", x, width, hidden), ZOO_GELU);
    x = zoo_linear_in(z, "fc2", x, hidden, width);
    zoo_leave(z, p);
    return x;
}

static const char *block(struct zoo *z, const char *x)
{
    const char *y = zoo_transpose(z, norm(z, "norm1", x), "0,2,1");
    y = zoo_transpose(z, mlp(z, "mlp_tokens", y, TOKENS, TOKEN_MLP), "0,2,1");
    x = zoo_op2(z, "Add", x, y, "");
    return zoo_op2(z, "Add", x, mlp(z, "mlp_channels", norm(z, "norm2", x), WIDTH, CHANNEL_MLP), "");
}

/* Flattening from axis 2 on: the first two sizes of the shape and -1. */
static const char *patches(struct zoo *z, const char *image)
{
    struct zoo_place p = zoo_enter(z, "stem");
    const char *x = zoo_conv_in(z, "proj", image, &(struct zoo_conv){3, WIDTH, 16, 16, 0, 1, true});
    const char *shape = zoo_op(z, "Shape", x, ""), *start = zoo_const(z, "int64[1]{0}");
    const char *kept = zoo_slice(z, shape, start, zoo_const(z, "int64[1]{2}"), 0);
    shape = zoo_op2(z, "Concat", kept, zoo_const(z, "int64[1]{-1}"), "axis=0");
    x = zoo_transpose(z, zoo_op2(z, "Reshape", x, shape, "allowzero=0"), "0,2,1");
    zoo_leave(z, p);
    return x;
}

void zoo_mixer_b_16(struct zoo *z)
{
    oc_b_input(z->b, "input", "float[batch,3,224,224]");
    const char *x = patches(z, "input");
    struct zoo_place p = zoo_enter(z, "blocks");
    for (int i = 0; i < BLOCKS; i++) {
        struct zoo_place q = zoo_child(z, i);
        x = block(z, x);
        zoo_leave(z, q);
    }
    zoo_leave(z, p);
    x = zoo_op(z, "ReduceMean", norm(z, "norm", x), "axes=[1] keepdims=0");
    p = zoo_enter(z, "head");
    zoo_gemm(z, x, "output", WIDTH, 1000);
    zoo_leave(z, p);
    oc_b_output(z->b, "output", "float[batch,1000]");
}
