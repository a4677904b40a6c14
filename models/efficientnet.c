/* EfficientNet-B0: Tan and Le 2019, as in torchvision. */
#include "zoo.h"

struct stage {
    int expand, kernel, stride, out, blocks;
};

/* Squeezed to a quarter of the input width of the block, not of its expanded width. */
static const char *squeeze_excite(struct zoo *z, int index, const char *x, int wide, int in)
{
    struct zoo_place p = zoo_child(z, index);
    x = zoo_squeeze_excite(z, x, wide, in / 4, ZOO_SILU, ZOO_SIGMOID);
    zoo_leave(z, p);
    return x;
}

static const char *conv_norm(struct zoo *z, int index, const char *x, const struct zoo_conv *c,
                             enum zoo_act act)
{
    struct zoo_place p = zoo_child(z, index);
    x = zoo_conv_norm_act(z, 0, x, c, act);
    zoo_leave(z, p);
    return x;
}

static const char *mb_conv(struct zoo *z, const char *x, const struct stage *s, int in, int stride)
{
    const char *y = x;
    int wide = in * s->expand, step = 0;
    struct zoo_place p = zoo_enter(z, "block");
    if (s->expand != 1)
        y = conv_norm(z, step++, y, &(struct zoo_conv){in, wide, 1, 1, 0, 1, false}, ZOO_SILU);
    const struct zoo_conv depthwise = {wide, wide, s->kernel, stride, s->kernel / 2, wide, false};
    y = conv_norm(z, step++, y, &depthwise, ZOO_SILU);
    y = squeeze_excite(z, step++, y, wide, in);
    y = conv_norm(z, step, y, &(struct zoo_conv){wide, s->out, 1, 1, 0, 1, false}, ZOO_LINEAR);
    zoo_leave(z, p);
    return stride == 1 && in == s->out ? zoo_op2(z, "Add", y, x, "") : y;
}

static const char *features(struct zoo *z, const char *x)
{
    static const struct stage stages[] = {{1, 3, 1, 16, 1}, {6, 3, 2, 24, 2},  {6, 5, 2, 40, 2},
                                          {6, 3, 2, 80, 3}, {6, 5, 1, 112, 3}, {6, 5, 2, 192, 4},
                                          {6, 3, 1, 320, 1}};
    int in = 32, index = 1;
    struct zoo_place p = zoo_enter(z, "features");
    x = conv_norm(z, 0, x, &(struct zoo_conv){3, 32, 3, 2, 1, 1, false}, ZOO_SILU);
    for (size_t s = 0; s < OC_COUNT(stages); s++) {
        struct zoo_place q = zoo_child(z, index++);
        for (int i = 0; i < stages[s].blocks; i++) {
            struct zoo_place r = zoo_child(z, i);
            x = mb_conv(z, x, &stages[s], in, i ? 1 : stages[s].stride);
            in = stages[s].out;
            zoo_leave(z, r);
        }
        zoo_leave(z, q);
    }
    x = conv_norm(z, index, x, &(struct zoo_conv){in, 1280, 1, 1, 0, 1, false}, ZOO_SILU);
    zoo_leave(z, p);
    return x;
}

void zoo_efficientnet_b0(struct zoo *z)
{
    zoo_image_input(z);
    const char *x = zoo_op_in(z, "avgpool", "GlobalAveragePool", features(z, "input"), "");
    x = zoo_op(z, "Flatten", x, "axis=1");
    struct zoo_place p = zoo_enter(z, "classifier"), q = zoo_child(z, 1);
    zoo_gemm(z, x, "output", 1280, 1000);
    zoo_leave(z, q);
    zoo_leave(z, p);
    oc_b_output(z->b, "output", "float[batch,1000]");
}
