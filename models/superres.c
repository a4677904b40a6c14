/* Super-resolution: the sub-pixel network of Shi et al. 2016 (three times as large; as in PyTorch's tutorial
 * on its exporter, one channel), and EDSR in the size of its baseline (Lim et al. 2017, twice as large). */
#include "zoo.h"

static void image(struct zoo *z, int channels, int side)
{
    oc_b_input(z->b, "input",
               z->symbolic_hw ? zoo_text(z, "float[batch,%d,height,width]", channels)
                              : zoo_text(z, "float[batch,%d,%d,%d]", channels, side, side));
}

static void larger_image(struct zoo *z, int channels, int side)
{
    oc_b_output(z->b, "output",
                z->symbolic_hw ? zoo_text(z, "float[batch,%d,?,?]", channels)
                               : zoo_text(z, "float[batch,%d,%d,%d]", channels, side, side));
}

/* One module, used several times: /relu/Relu, /relu_1/Relu. */
static const char *conv_relu(struct zoo *z, const char *x, int index, const struct zoo_conv *c)
{
    x = zoo_conv_in(z, zoo_text(z, "conv%d", index + 1), x, c);
    return zoo_act_in(z, index ? zoo_text(z, "relu_%d", index) : "relu", x, ZOO_RELU);
}

void zoo_espcn(struct zoo *z)
{
    image(z, 1, 224);
    const char *x = conv_relu(z, "input", 0, &(struct zoo_conv){1, 64, 5, 1, 2, 1, true});
    x = conv_relu(z, x, 1, &(struct zoo_conv){64, 64, 3, 1, 1, 1, true});
    x = conv_relu(z, x, 2, &(struct zoo_conv){64, 32, 3, 1, 1, 1, true});
    x = zoo_conv_in(z, "conv4", x, &(struct zoo_conv){32, 9, 3, 1, 1, 1, true});
    struct zoo_place p = zoo_enter(z, "pixel_shuffle");
    zoo_op_to(z, "DepthToSpace", x, "output", "blocksize=3 mode='CRD'");
    zoo_leave(z, p);
    larger_image(z, 1, 672);
}

/* ---- EDSR ---------------------------------------------------------------------------------------------- */

enum { WIDTH = 64, BLOCKS = 16 };

static const char *res_block(struct zoo *z, const char *x)
{
    const struct zoo_conv c = {WIDTH, WIDTH, 3, 1, 1, 1, true};
    struct zoo_place p = zoo_enter(z, "body");
    const char *y = zoo_act_at(z, 1, zoo_conv_at(z, 0, x, &c), ZOO_RELU);
    y = zoo_conv_at(z, 2, y, &c);
    zoo_leave(z, p);
    return zoo_op2(z, "Add", y, x, "");
}

static const char *body(struct zoo *z, const char *x)
{
    struct zoo_place p = zoo_enter(z, "body");
    for (int i = 0; i < BLOCKS; i++) {
        struct zoo_place q = zoo_child(z, i);
        x = res_block(z, x);
        zoo_leave(z, q);
    }
    x = zoo_conv_at(z, BLOCKS, x, &(struct zoo_conv){WIDTH, WIDTH, 3, 1, 1, 1, true});
    zoo_leave(z, p);
    return x;
}

static const char *tail(struct zoo *z, const char *x)
{
    struct zoo_place p = zoo_enter(z, "tail"), q = zoo_child(z, 0);
    x = zoo_conv_at(z, 0, x, &(struct zoo_conv){WIDTH, 4 * WIDTH, 3, 1, 1, 1, true});
    struct zoo_place r = zoo_child(z, 1);
    x = zoo_op(z, "DepthToSpace", x, "blocksize=2 mode='CRD'");
    zoo_leave(z, r);
    zoo_leave(z, q);
    x = zoo_conv_at(z, 1, x, &(struct zoo_conv){WIDTH, 3, 3, 1, 1, 1, true});
    zoo_leave(z, p);
    return x;
}

/* 1x1 convolutions subtract and add the mean colours. */
void zoo_edsr(struct zoo *z)
{
    const struct zoo_conv mean = {3, 3, 1, 1, 0, 1, true};
    image(z, 3, 128);
    const char *x = zoo_conv_in(z, "sub_mean", "input", &mean);
    struct zoo_place p = zoo_enter(z, "head");
    x = zoo_conv_at(z, 0, x, &(struct zoo_conv){3, WIDTH, 3, 1, 1, 1, true});
    zoo_leave(z, p);
    x = tail(z, zoo_op2(z, "Add", body(z, x), x, ""));
    p = zoo_enter(z, "add_mean");
    const char *w = zoo_param(z, "weight", "float[3,3,1,1]", ZOO_WEIGHT, 3);
    const char *bias = zoo_param(z, "bias", "float[3]", ZOO_SMALL, 0);
    zoo_op_to(z, "Conv", zoo_text(z, "%s,%s,%s", x, w, bias), "output",
              "dilations=1,1 group=1 kernel_shape=1,1 pads=0,0,0,0 strides=1,1");
    zoo_leave(z, p);
    larger_image(z, 3, 256);
}
