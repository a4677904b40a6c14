/* SqueezeNet 1.1: Iandola et al. 2016 with the cheaper first layers of its release 1.1, as in torchvision. */
#include "zoo.h"

static const char *fire(struct zoo *z, const char *x, int in, int squeeze, int expand)
{
    x = zoo_conv_in(z, "squeeze", x, &(struct zoo_conv){in, squeeze, 1, 1, 0, 1, true});
    x = zoo_act_in(z, "squeeze_activation", x, ZOO_RELU);
    const char *a = zoo_conv_in(z, "expand1x1", x, &(struct zoo_conv){squeeze, expand, 1, 1, 0, 1, true});
    a = zoo_act_in(z, "expand1x1_activation", a, ZOO_RELU);
    const char *b = zoo_conv_in(z, "expand3x3", x, &(struct zoo_conv){squeeze, expand, 3, 1, 1, 1, true});
    b = zoo_act_in(z, "expand3x3_activation", b, ZOO_RELU);
    return zoo_op2(z, "Concat", a, b, "axis=1");
}

/* squeeze of 0: the image is halved instead. */
static const char *features(struct zoo *z, const char *x)
{
    static const struct {
        int in, squeeze, expand;
    } rows[] = {{0, 0, 0}, {64, 16, 64},   {128, 16, 64},  {0, 0, 0},      {128, 32, 128}, {256, 32, 128},
                {0, 0, 0}, {256, 48, 192}, {384, 48, 192}, {384, 64, 256}, {512, 64, 256}};
    struct zoo_place p = zoo_enter(z, "features");
    x = zoo_conv_at(z, 0, x, &(struct zoo_conv){3, 64, 3, 2, 0, 1, true});
    x = zoo_act_at(z, 1, x, ZOO_RELU);
    for (size_t i = 0; i < OC_COUNT(rows); i++) {
        struct zoo_place q = zoo_child(z, (int)i + 2);
        x = rows[i].squeeze ? fire(z, x, rows[i].in, rows[i].squeeze, rows[i].expand)
                            : zoo_op(z, "MaxPool", x,
                                     "ceil_mode=1 dilations=1,1 kernel_shape=3,3 pads=0,0,0,0 strides=2,2");
        zoo_leave(z, q);
    }
    zoo_leave(z, p);
    return x;
}

/* Child 0 is dropout, absent at inference. */
void zoo_squeezenet1_1(struct zoo *z)
{
    zoo_image_input(z);
    const char *x = features(z, "input");
    struct zoo_place p = zoo_enter(z, "classifier");
    x = zoo_conv_at(z, 1, x, &(struct zoo_conv){512, 1000, 1, 1, 0, 1, true});
    x = zoo_act_at(z, 2, x, ZOO_RELU);
    struct zoo_place q = zoo_child(z, 3);
    x = zoo_op(z, "GlobalAveragePool", x, "");
    zoo_leave(z, q);
    zoo_leave(z, p);
    zoo_op_to(z, "Flatten", x, "output", "axis=1");
    oc_b_output(z->b, "output", "float[batch,1000]");
}
