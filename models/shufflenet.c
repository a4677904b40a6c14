/* ShuffleNetV2 1.0x: Ma et al. 2018, as in torchvision. */
#include "zoo.h"

/* The sizes that the exporter writes as numbers when they are known. */
static struct zoo_dim side(struct zoo *z, const char *x, int axis, int number)
{
    return z->symbolic_hw ? (struct zoo_dim){zoo_size(z, x, axis), 0} : (struct zoo_dim){NULL, number};
}

/* [N, 2, C/2, H, W] with the first two channel axes exchanged. */
static const char *channel_shuffle(struct zoo *z, const char *x, int channels, int pixels)
{
    const char *batch = zoo_size(z, x, 0);
    struct zoo_dim h = side(z, x, 2, pixels), w = side(z, x, 3, pixels);
    x = ZOO_VIEW(z, x, {batch, 0}, {NULL, 2}, {NULL, channels / 2}, h, w);
    x = zoo_transpose(z, x, "0,2,1,3,4");
    return ZOO_VIEW(z, x, {batch, 0}, {NULL, channels}, h, w);
}

static const char *branch1(struct zoo *z, const char *x, int in, int half)
{
    struct zoo_place p = zoo_enter(z, "branch1");
    x = zoo_conv_norm_act(z, 0, x, &(struct zoo_conv){in, in, 3, 2, 1, in, false}, ZOO_LINEAR);
    x = zoo_conv_norm_act(z, 2, x, &(struct zoo_conv){in, half, 1, 1, 0, 1, false}, ZOO_RELU);
    zoo_leave(z, p);
    return x;
}

static const char *branch2(struct zoo *z, const char *x, int in, int half, int stride)
{
    struct zoo_place p = zoo_enter(z, "branch2");
    x = zoo_conv_norm_act(z, 0, x, &(struct zoo_conv){in, half, 1, 1, 0, 1, false}, ZOO_RELU);
    x = zoo_conv_norm_act(z, 3, x, &(struct zoo_conv){half, half, 3, stride, 1, half, false}, ZOO_LINEAR);
    x = zoo_conv_norm_act(z, 5, x, &(struct zoo_conv){half, half, 1, 1, 0, 1, false}, ZOO_RELU);
    zoo_leave(z, p);
    return x;
}

static const char *unit(struct zoo *z, const char *x, int channels, int pixels)
{
    int half = channels / 2;
    const char *sizes = zoo_const(z, zoo_text(z, "int64[2]{%d,%d}", half, half));
    const char *kept = zoo_text(z, "%s/Split_output_0", z->scope);
    const char *rest = zoo_text(z, "%s/Split_output_1", z->scope);
    zoo_op_to(z, "Split", zoo_text(z, "%s,%s", x, sizes), zoo_text(z, "%s,%s", kept, rest), "axis=1");
    x = zoo_op2(z, "Concat", kept, branch2(z, rest, half, half, 1), "axis=1");
    return channel_shuffle(z, x, channels, pixels);
}

/* Halves height and width; both branches read all channels. */
static const char *downsample(struct zoo *z, const char *x, int in, int channels, int pixels)
{
    const char *a = branch1(z, x, in, channels / 2);
    x = zoo_op2(z, "Concat", a, branch2(z, x, in, channels / 2, 2), "axis=1");
    return channel_shuffle(z, x, channels, pixels);
}

static const char *stages(struct zoo *z, const char *x)
{
    static const struct {
        int units, channels;
    } rows[] = {{4, 116}, {8, 232}, {4, 464}};
    int in = 24, pixels = 28;
    for (size_t s = 0; s < OC_COUNT(rows); s++, pixels /= 2) {
        struct zoo_place p = zoo_enter(z, zoo_text(z, "stage%zu", s + 2));
        for (int i = 0; i < rows[s].units; i++) {
            struct zoo_place q = zoo_child(z, i);
            x = i ? unit(z, x, rows[s].channels, pixels) : downsample(z, x, in, rows[s].channels, pixels);
            zoo_leave(z, q);
        }
        in = rows[s].channels;
        zoo_leave(z, p);
    }
    return x;
}

void zoo_shufflenetv2(struct zoo *z)
{
    zoo_image_input(z);
    struct zoo_place p = zoo_enter(z, "conv1");
    const char *x = zoo_conv_norm_act(z, 0, "input", &(struct zoo_conv){3, 24, 3, 2, 1, 1, false}, ZOO_RELU);
    zoo_leave(z, p);
    x = zoo_op_in(z, "maxpool", "MaxPool", x,
                  "ceil_mode=0 dilations=1,1 kernel_shape=3,3 pads=1,1,1,1 strides=2,2");
    x = stages(z, x);
    p = zoo_enter(z, "conv5");
    x = zoo_conv_norm_act(z, 0, x, &(struct zoo_conv){464, 1024, 1, 1, 0, 1, false}, ZOO_RELU);
    zoo_leave(z, p);
    x = zoo_op(z, "ReduceMean", x, "axes=2,3 keepdims=0");
    p = zoo_enter(z, "fc");
    zoo_gemm(z, x, "output", 1024, 1000);
    zoo_leave(z, p);
    oc_b_output(z->b, "output", "float[batch,1000]");
}
