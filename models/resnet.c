/* ResNet-18 and ResNet-50 v1.5 (stride in the 3x3 convolution): He et al. 2015, as in torchvision; also in
 * QDQ form. */
#include "zoo.h"

struct variant {
    int blocks[4];
    bool bottleneck;
};

static struct zoo_value conv_bn(struct zoo *z, struct zoo_value x, int index, const struct zoo_conv *c,
                                enum zoo_range range)
{
    struct zoo_place p = zoo_enter(z, zoo_text(z, "conv%d", index));
    x = z->net->conv(z, x, c, range);
    zoo_leave(z, p);
    p = zoo_enter(z, zoo_text(z, "bn%d", index));
    x = z->net->norm(z, x, c->out);
    zoo_leave(z, p);
    return x;
}

/* One module, used several times: /relu/Relu, /relu_1/Relu. */
static struct zoo_value relu(struct zoo *z, struct zoo_value x, int use)
{
    struct zoo_place p = zoo_enter(z, use ? zoo_text(z, "relu_%d", use) : "relu");
    x = z->net->relu(z, x);
    zoo_leave(z, p);
    return x;
}

static struct zoo_value conv_relu(struct zoo *z, struct zoo_value x, int index, const struct zoo_conv *c)
{
    return relu(z, conv_bn(z, x, index, c, ZOO_RANGE_RELU), index - 1);
}

static struct zoo_value downsample(struct zoo *z, struct zoo_value x, int in, int out, int stride)
{
    struct zoo_place p = zoo_enter(z, "downsample"), q = zoo_child(z, 0);
    x = z->net->conv(z, x, &(struct zoo_conv){in, out, 1, stride, 0, 1, false}, ZOO_RANGE_LINEAR);
    zoo_leave(z, q);
    q = zoo_child(z, 1);
    x = z->net->norm(z, x, out);
    zoo_leave(z, q);
    zoo_leave(z, p);
    return x;
}

static struct zoo_value block(struct zoo *z, struct zoo_value x, int in, int width, int stride,
                              bool bottleneck)
{
    int out = bottleneck ? width * 4 : width;
    struct zoo_value y;
    if (bottleneck) {
        y = conv_relu(z, x, 1, &(struct zoo_conv){in, width, 1, 1, 0, 1, false});
        y = conv_relu(z, y, 2, &(struct zoo_conv){width, width, 3, stride, 1, 1, false});
        y = conv_bn(z, y, 3, &(struct zoo_conv){width, out, 1, 1, 0, 1, false}, ZOO_RANGE_LINEAR);
    } else {
        y = conv_relu(z, x, 1, &(struct zoo_conv){in, width, 3, stride, 1, 1, false});
        y = conv_bn(z, y, 2, &(struct zoo_conv){width, width, 3, 1, 1, 1, false}, ZOO_RANGE_LINEAR);
    }
    if (stride != 1 || in != out)
        x = downsample(z, x, in, out, stride);
    return relu(z, z->net->add(z, y, x, ZOO_RANGE_SUM_RELU), bottleneck ? 2 : 1);
}

static struct zoo_value stage(struct zoo *z, struct zoo_value x, int index, int in, const struct variant *v)
{
    int width = 64 << index, out = v->bottleneck ? width * 4 : width;
    struct zoo_place p = zoo_enter(z, zoo_text(z, "layer%d", index + 1));
    for (int i = 0; i < v->blocks[index]; i++) {
        struct zoo_place q = zoo_child(z, i);
        x = block(z, x, i ? out : in, width, i || !index ? 1 : 2, v->bottleneck);
        zoo_leave(z, q);
    }
    zoo_leave(z, p);
    return x;
}

static void resnet(struct zoo *z, const struct variant *v)
{
    zoo_image_input(z);
    struct zoo_value x = z->net->input(z, "input");
    x = conv_relu(z, x, 1, &(struct zoo_conv){3, 64, 7, 2, 3, 1, false});
    struct zoo_place p = zoo_enter(z, "maxpool");
    x = z->net->moved(z, "MaxPool", x, "ceil_mode=0 dilations=1,1 kernel_shape=3,3 pads=1,1,1,1 strides=2,2");
    zoo_leave(z, p);
    int in = 64;
    for (int i = 0; i < 4; i++) {
        x = stage(z, x, i, in, v);
        in = (v->bottleneck ? 256 : 64) << i;
    }
    p = zoo_enter(z, "avgpool");
    x = z->net->mean(z, x);
    zoo_leave(z, p);
    x = z->net->moved(z, "Flatten", x, "axis=1");
    p = zoo_enter(z, "fc");
    z->net->gemm(z, x, "output", in, 1000);
    zoo_leave(z, p);
    oc_b_output(z->b, "output", "float[batch,1000]");
}

void zoo_resnet18(struct zoo *z)
{
    resnet(z, &(struct variant){{2, 2, 2, 2}, false});
}

void zoo_resnet50(struct zoo *z)
{
    resnet(z, &(struct variant){{3, 4, 6, 3}, true});
}

void zoo_resnet18_qdq(struct zoo *z)
{
    z->net = &zoo_qdq_net;
    zoo_resnet18(z);
}

void zoo_resnet50_qdq(struct zoo *z)
{
    z->net = &zoo_qdq_net;
    zoo_resnet50(z);
}

void zoo_resnet18_dynamic(struct zoo *z)
{
    z->net = &zoo_dynamic_net;
    zoo_resnet18(z);
}
