/* ConvNeXt-T: Liu et al. 2022, as in torchvision: norms and linear layers work on [N,H,W,C]. */
#include "zoo.h"

static const char *layer_norm_at(struct zoo *z, int index, const char *x, int width)
{
    struct zoo_place p = zoo_child(z, index);
    x = zoo_layer_norm(z, x, width, "1e-6");
    zoo_leave(z, p);
    return x;
}

static const char *layer_norm_2d_at(struct zoo *z, int index, const char *x, int width)
{
    struct zoo_place p = zoo_child(z, index);
    x = zoo_layer_norm_2d(z, x, width, "1e-6");
    zoo_leave(z, p);
    return x;
}

static const char *linear_at(struct zoo *z, int index, const char *x, int in, int out)
{
    struct zoo_place p = zoo_child(z, index);
    x = zoo_linear(z, x, in, out);
    zoo_leave(z, p);
    return x;
}

static const char *transpose_at(struct zoo *z, int index, const char *x, const char *perm)
{
    struct zoo_place p = zoo_child(z, index);
    x = zoo_transpose(z, x, perm);
    zoo_leave(z, p);
    return x;
}

static const char *block(struct zoo *z, const char *x, int width)
{
    const char *scale = zoo_param(z, "layer_scale", zoo_text(z, "float[%d,1,1]", width), ZOO_SMALL, 0);
    struct zoo_place p = zoo_enter(z, "block");
    const char *y = zoo_conv_at(z, 0, x, &(struct zoo_conv){width, width, 7, 1, 3, width, true});
    y = layer_norm_at(z, 2, transpose_at(z, 1, y, "0,2,3,1"), width);
    y = zoo_act_at(z, 4, linear_at(z, 3, y, width, 4 * width), ZOO_GELU);
    y = transpose_at(z, 6, linear_at(z, 5, y, 4 * width, width), "0,3,1,2");
    zoo_leave(z, p);
    return zoo_op2(z, "Add", zoo_op2(z, "Mul", scale, y, ""), x, "");
}

static const char *downsample(struct zoo *z, int index, const char *x, int in, int out)
{
    struct zoo_place p = zoo_child(z, index);
    x = layer_norm_2d_at(z, 0, x, in);
    x = zoo_conv_at(z, 1, x, &(struct zoo_conv){in, out, 2, 2, 0, 1, true});
    zoo_leave(z, p);
    return x;
}

static const char *stage(struct zoo *z, int index, const char *x, int width, int blocks)
{
    struct zoo_place p = zoo_child(z, index);
    for (int i = 0; i < blocks; i++) {
        struct zoo_place q = zoo_child(z, i);
        x = block(z, x, width);
        zoo_leave(z, q);
    }
    zoo_leave(z, p);
    return x;
}

static const char *features(struct zoo *z, const char *x)
{
    static const int blocks[] = {3, 3, 9, 3};
    struct zoo_place p = zoo_enter(z, "features"), q = zoo_child(z, 0);
    x = zoo_conv_at(z, 0, x, &(struct zoo_conv){3, 96, 4, 4, 0, 1, true});
    x = layer_norm_2d_at(z, 1, x, 96);
    zoo_leave(z, q);
    for (int i = 0; i < 4; i++) {
        if (i)
            x = downsample(z, 2 * i, x, 48 << i, 96 << i);
        x = stage(z, 2 * i + 1, x, 96 << i, blocks[i]);
    }
    zoo_leave(z, p);
    return x;
}

void zoo_convnext_tiny(struct zoo *z)
{
    zoo_image_input(z);
    const char *x = zoo_op_in(z, "avgpool", "GlobalAveragePool", features(z, "input"), "");
    struct zoo_place p = zoo_enter(z, "classifier");
    x = layer_norm_2d_at(z, 0, x, 768);
    struct zoo_place q = zoo_child(z, 1);
    x = zoo_op(z, "Flatten", x, "axis=1");
    zoo_leave(z, q);
    q = zoo_child(z, 2);
    zoo_gemm(z, x, "output", 768, 1000);
    zoo_leave(z, q);
    zoo_leave(z, p);
    oc_b_output(z->b, "output", "float[batch,1000]");
}
