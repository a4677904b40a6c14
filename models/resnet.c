/* ResNet-18 and ResNet-50 v1.5 (stride in the 3x3 convolution): He et al. 2015, as in torchvision. */
#include "zoo.h"

struct variant {
    int blocks[4];
    bool bottleneck;
};

static const char *conv_bn(struct zoo *z, const char *x, int index, const struct zoo_conv *c)
{
    struct zoo_place p = zoo_enter(z, zoo_text(z, "conv%d", index));
    x = zoo_conv(z, x, c);
    zoo_leave(z, p);
    p = zoo_enter(z, zoo_text(z, "bn%d", index));
    x = zoo_batch_norm(z, x, c->out);
    zoo_leave(z, p);
    return x;
}

/* One module, used several times: /relu/Relu, /relu_1/Relu. */
static const char *relu(struct zoo *z, const char *x, int use)
{
    struct zoo_place p = zoo_enter(z, use ? zoo_text(z, "relu_%d", use) : "relu");
    x = zoo_op(z, "Relu", x, "");
    zoo_leave(z, p);
    return x;
}

static const char *downsample(struct zoo *z, const char *x, int in, int out, int stride)
{
    struct zoo_place p = zoo_enter(z, "downsample"), q = zoo_child(z, 0);
    x = zoo_conv(z, x, &(struct zoo_conv){in, out, 1, stride, 0, 1, false});
    zoo_leave(z, q);
    q = zoo_child(z, 1);
    x = zoo_batch_norm(z, x, out);
    zoo_leave(z, q);
    zoo_leave(z, p);
    return x;
}

static const char *block(struct zoo *z, const char *x, int in, int width, int stride, bool bottleneck)
{
    int out = bottleneck ? width * 4 : width;
    const char *y;
    if (bottleneck) {
        y = relu(z, conv_bn(z, x, 1, &(struct zoo_conv){in, width, 1, 1, 0, 1, false}), 0);
        y = relu(z, conv_bn(z, y, 2, &(struct zoo_conv){width, width, 3, stride, 1, 1, false}), 1);
        y = conv_bn(z, y, 3, &(struct zoo_conv){width, out, 1, 1, 0, 1, false});
    } else {
        y = relu(z, conv_bn(z, x, 1, &(struct zoo_conv){in, width, 3, stride, 1, 1, false}), 0);
        y = conv_bn(z, y, 2, &(struct zoo_conv){width, width, 3, 1, 1, 1, false});
    }
    if (stride != 1 || in != out)
        x = downsample(z, x, in, out, stride);
    return relu(z, zoo_op2(z, "Add", y, x, ""), bottleneck ? 2 : 1);
}

static const char *stage(struct zoo *z, const char *x, int index, int in, const struct variant *v)
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

static const char *in_module(struct zoo *z, const char *module, const char *op_type, const char *x,
                             const char *attributes)
{
    struct zoo_place p = zoo_enter(z, module);
    x = zoo_op(z, op_type, x, attributes);
    zoo_leave(z, p);
    return x;
}

static void resnet(struct zoo *z, const struct variant *v)
{
    zoo_image_input(z);
    const char *x = relu(z, conv_bn(z, "input", 1, &(struct zoo_conv){3, 64, 7, 2, 3, 1, false}), 0);
    x = in_module(z, "maxpool", "MaxPool", x,
                  "ceil_mode=0 dilations=1,1 kernel_shape=3,3 pads=1,1,1,1 strides=2,2");
    int in = 64;
    for (int i = 0; i < 4; i++) {
        x = stage(z, x, i, in, v);
        in = (v->bottleneck ? 256 : 64) << i;
    }
    x = in_module(z, "avgpool", "GlobalAveragePool", x, "");
    x = zoo_op(z, "Flatten", x, "axis=1");
    struct zoo_place p = zoo_enter(z, "fc");
    zoo_gemm(z, x, "output", in, 1000);
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
