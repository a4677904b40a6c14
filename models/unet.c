/* U-Net: Ronneberger et al. 2015, in the form with padding and batch norms that segments brain scans
 * (Buda et al. 2019; 3 channels in, 1 class, 32 features at full size). */
#include "zoo.h"

enum { FEATURES = 32, LEVELS = 4 };

static const char *conv_norm_relu(struct zoo *z, const char *x, const char *part, int index, int in, int out)
{
    x = zoo_conv_in(z, zoo_text(z, "%sconv%d", part, index), x,
                    &(struct zoo_conv){in, out, 3, 1, 1, 1, false});
    x = zoo_norm_in(z, zoo_text(z, "%snorm%d", part, index), x, out);
    return zoo_act_in(z, zoo_text(z, "%srelu%d", part, index), x, ZOO_RELU);
}

static const char *block(struct zoo *z, const char *module, const char *part, const char *x, int in, int out)
{
    struct zoo_place p = zoo_enter(z, module);
    x = conv_norm_relu(z, x, part, 1, in, out);
    x = conv_norm_relu(z, x, part, 2, out, out);
    zoo_leave(z, p);
    return x;
}

static const char *up_conv(struct zoo *z, const char *module, const char *x, int in, int out)
{
    struct zoo_place p = zoo_enter(z, module);
    const char *w = zoo_param(z, "weight", zoo_text(z, "float[%d,%d,2,2]", in, out), ZOO_WEIGHT, in);
    const char *bias = zoo_param(z, "bias", zoo_text(z, "float[%d]", out), ZOO_SMALL, 0);
    x = zoo_op(z, "ConvTranspose", zoo_text(z, "%s,%s,%s", x, w, bias),
               "dilations=1,1 group=1 kernel_shape=2,2 pads=0,0,0,0 strides=2,2");
    zoo_leave(z, p);
    return x;
}

static const char *decode(struct zoo *z, const char *x, const char *skip, int level)
{
    int width = FEATURES << (level - 1);
    x = up_conv(z, zoo_text(z, "upconv%d", level), x, 2 * width, width);
    x = zoo_op2(z, "Concat", x, skip, "axis=1");
    return block(z, zoo_text(z, "decoder%d", level), zoo_text(z, "dec%d", level), x, 2 * width, width);
}

void zoo_unet(struct zoo *z)
{
    const char *x = "input", *skip[LEVELS];
    int in = 3;
    oc_b_input(z->b, "input", "float[batch,3,256,256]");
    for (int i = 0; i < LEVELS; i++) {
        int width = FEATURES << i;
        skip[i] = block(z, zoo_text(z, "encoder%d", i + 1), zoo_text(z, "enc%d", i + 1), x, in, width);
        x = zoo_op_in(z, zoo_text(z, "pool%d", i + 1), "MaxPool", skip[i],
                      "ceil_mode=0 dilations=1,1 kernel_shape=2,2 pads=0,0,0,0 strides=2,2");
        in = width;
    }
    x = block(z, "bottleneck", "bottleneck", x, in, 2 * in);
    for (int i = LEVELS; i > 0; i--)
        x = decode(z, x, skip[i - 1], i);
    x = zoo_conv_in(z, "conv", x, &(struct zoo_conv){FEATURES, 1, 1, 1, 0, 1, true});
    zoo_op_to(z, "Sigmoid", x, "output", "");
    oc_b_output(z->b, "output", "float[batch,1,256,256]");
}
