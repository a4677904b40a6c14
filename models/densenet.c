/* DenseNet-121: Huang et al. 2016, as in torchvision: every layer concatenates all features of its block
 * again. */
#include "zoo.h"

enum { GROWTH = 32, BOTTLENECK = 4 * GROWTH, MAX_LAYERS = 24 };

struct features {
    const char *part[MAX_LAYERS + 1];
    size_t n;
};

static const char *join(struct zoo *z, const struct features *f)
{
    const char *all = f->part[0];
    for (size_t i = 1; i < f->n; i++)
        all = zoo_text(z, "%s,%s", all, f->part[i]);
    return zoo_op(z, "Concat", all, "axis=1");
}

static const char *layer(struct zoo *z, const struct features *f, int in)
{
    const char *x = join(z, f);
    x = zoo_act_in(z, "relu1", zoo_norm_in(z, "norm1", x, in), ZOO_RELU);
    x = zoo_conv_in(z, "conv1", x, &(struct zoo_conv){in, BOTTLENECK, 1, 1, 0, 1, false});
    x = zoo_act_in(z, "relu2", zoo_norm_in(z, "norm2", x, BOTTLENECK), ZOO_RELU);
    return zoo_conv_in(z, "conv2", x, &(struct zoo_conv){BOTTLENECK, GROWTH, 3, 1, 1, 1, false});
}

static const char *block(struct zoo *z, const char *x, int index, int layers, int *channels)
{
    struct features f = {{x}, 1};
    struct zoo_place p = zoo_enter(z, zoo_text(z, "denseblock%d", index));
    for (int i = 0; i < layers; i++) {
        struct zoo_place q = zoo_enter(z, zoo_text(z, "denselayer%d", i + 1));
        f.part[f.n] = layer(z, &f, *channels);
        f.n++;
        *channels += GROWTH;
        zoo_leave(z, q);
    }
    x = join(z, &f);
    zoo_leave(z, p);
    return x;
}

static const char *transition(struct zoo *z, const char *x, int index, int *channels)
{
    struct zoo_place p = zoo_enter(z, zoo_text(z, "transition%d", index));
    x = zoo_act_in(z, "relu", zoo_norm_in(z, "norm", x, *channels), ZOO_RELU);
    x = zoo_conv_in(z, "conv", x, &(struct zoo_conv){*channels, *channels / 2, 1, 1, 0, 1, false});
    *channels /= 2;
    x = zoo_op_in(z, "pool", "AveragePool", x,
                  "ceil_mode=0 count_include_pad=1 kernel_shape=2,2 pads=0,0,0,0 strides=2,2");
    zoo_leave(z, p);
    return x;
}

static const char *stem(struct zoo *z, const char *x)
{
    x = zoo_conv_in(z, "conv0", x, &(struct zoo_conv){3, 64, 7, 2, 3, 1, false});
    x = zoo_act_in(z, "relu0", zoo_norm_in(z, "norm0", x, 64), ZOO_RELU);
    return zoo_op_in(z, "pool0", "MaxPool", x,
                     "ceil_mode=0 dilations=1,1 kernel_shape=3,3 pads=1,1,1,1 strides=2,2");
}

void zoo_densenet121(struct zoo *z)
{
    static const int layers[] = {6, 12, MAX_LAYERS, 16};
    int channels = 64;
    zoo_image_input(z);
    struct zoo_place p = zoo_enter(z, "features");
    const char *x = stem(z, "input");
    for (int i = 0; i < 4; i++) {
        x = block(z, x, i + 1, layers[i], &channels);
        x = i < 3 ? transition(z, x, i + 1, &channels) : zoo_norm_in(z, "norm5", x, channels);
    }
    zoo_leave(z, p);
    x = zoo_op(z, "GlobalAveragePool", zoo_op(z, "Relu", x, ""), "");
    x = zoo_op(z, "Flatten", x, "axis=1");
    p = zoo_enter(z, "classifier");
    zoo_gemm(z, x, "output", channels, 1000);
    zoo_leave(z, p);
    oc_b_output(z->b, "output", "float[batch,1000]");
}
