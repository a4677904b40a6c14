/* MobileNetV2 with width 1.0: Sandler et al. 2018, as in torchvision, and quantized in QOperator form. */
#include "zoo.h"

static struct zoo_value conv_bn(struct zoo *z, struct zoo_value x, int first, const struct zoo_conv *c,
                                enum zoo_range range)
{
    struct zoo_place p = zoo_child(z, first);
    x = z->net->conv(z, x, c, range);
    zoo_leave(z, p);
    p = zoo_child(z, first + 1);
    x = z->net->norm(z, x, c->out);
    zoo_leave(z, p);
    return x;
}

static struct zoo_value conv_bn_relu6(struct zoo *z, struct zoo_value x, int index, const struct zoo_conv *c)
{
    struct zoo_place p = zoo_child(z, index);
    x = conv_bn(z, x, 0, c, ZOO_RANGE_RELU6);
    struct zoo_place q = zoo_child(z, 2);
    x = z->net->relu6(z, x);
    zoo_leave(z, q);
    zoo_leave(z, p);
    return x;
}

static struct zoo_value inverted_residual(struct zoo *z, struct zoo_value x, int in, int out, int stride,
                                          int expand)
{
    struct zoo_value y = x;
    int wide = in * expand, step = 0;
    struct zoo_place p = zoo_enter(z, "conv");
    if (expand != 1)
        y = conv_bn_relu6(z, y, step++, &(struct zoo_conv){in, wide, 1, 1, 0, 1, false});
    y = conv_bn_relu6(z, y, step++, &(struct zoo_conv){wide, wide, 3, stride, 1, wide, false});
    y = conv_bn(z, y, step, &(struct zoo_conv){wide, out, 1, 1, 0, 1, false}, ZOO_RANGE_LINEAR);
    zoo_leave(z, p);
    return stride == 1 && in == out ? z->net->add(z, x, y, ZOO_RANGE_SUM) : y;
}

static struct zoo_value features(struct zoo *z, struct zoo_value x)
{
    static const struct {
        int expand, out, repeat, stride;
    } rows[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
    struct zoo_place p = zoo_enter(z, "features");
    int in = 32, index = 1;
    x = conv_bn_relu6(z, x, 0, &(struct zoo_conv){3, 32, 3, 2, 1, 1, false});
    for (size_t r = 0; r < OC_COUNT(rows); r++)
        for (int i = 0; i < rows[r].repeat; i++) {
            struct zoo_place q = zoo_child(z, index++);
            x = inverted_residual(z, x, in, rows[r].out, i ? 1 : rows[r].stride, rows[r].expand);
            in = rows[r].out;
            zoo_leave(z, q);
        }
    x = conv_bn_relu6(z, x, index, &(struct zoo_conv){in, 1280, 1, 1, 0, 1, false});
    zoo_leave(z, p);
    return x;
}

void zoo_mobilenetv2(struct zoo *z)
{
    zoo_image_input(z);
    struct zoo_value x = features(z, z->net->input(z, "input"));
    x = z->net->moved(z, "Flatten", z->net->mean(z, x), "axis=1");
    struct zoo_place p = zoo_enter(z, "classifier"), q = zoo_child(z, 1);
    z->net->gemm(z, x, "output", 1280, 1000);
    zoo_leave(z, q);
    zoo_leave(z, p);
    oc_b_output(z->b, "output", "float[batch,1000]");
}

void zoo_mobilenetv2_qoperator(struct zoo *z)
{
    z->net = &zoo_qoperator_net;
    zoo_mobilenetv2(z);
}

void zoo_mobilenetv2_dynamic(struct zoo *z)
{
    z->net = &zoo_dynamic_net;
    zoo_mobilenetv2(z);
}
